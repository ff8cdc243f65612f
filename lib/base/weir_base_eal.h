/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_EAL_H
#define WEIR_BASE_EAL_H

/**
 * @file
 * What DPDK's environment (EAL) leaves behind. Needs DPDK; EAL is started by the program, never by the library.
 */

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Have EAL's run-time directory removed when the program ends: by return from main() or exit(), whether or not it called
 * rte_eal_cleanup(). EAL makes one for each file prefix (/var/run/dpdk/PREFIX), even when it shares nothing, and leaves it there.
 *
 * To be called before rte_eal_init(): what EAL itself takes away at the end is taken away first. A directory that still holds
 * something then stays, such as what secondary processes need: --no-shconf or --in-memory have EAL put nothing there.
 * A signal that ends the program leaves the directory: programs that run for long catch it, stop, and return.
 */
void weir_base_eal_clean_up_at_exit(void);

#ifdef __cplusplus
}
#endif

#endif
