/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BENCH_H
#define WEIR_BENCH_H

/**
 * @file
 * `weir bench`: Weir beside its peers, in one run.
 */

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Run a benchmark, print its table or its JSON.
 *
 * Starts DPDK's environment itself: to be called once per process, before
 * anything else does.
 *
 * @param argv  argv[0] is "bench", argv[1] the benchmark's name (without one, all of them), options follow
 * @return 0 done (whether the targets were reached or not), 1 failed, 2 wrong use
 */
int weir_bench_main(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
