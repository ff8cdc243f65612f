/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_CORO_CTL_H
#define WEIR_CORO_CTL_H

/**
 * @file
 * Coroutines over the control socket. Needs jansson, no DPDK.
 */

#ifdef __cplusplus
extern "C" {
#endif

struct weir_base_ctl;

/**
 * Offer this library's commands. They may be asked at any time, also before weir_coro_init() and after
 * weir_coro_cleanup(): there are no classes then.
 *
 *  - "coro/stats": each class' counters, lengths of slices, use of stacks; misuse. {"class": N}, or {"name": "N"} as telemetry asks:
 *    that class only. Read-only.
 *  - "coro/trim": memory of idle stacks goes back to the kernel, of all classes or the one that is named.
 *
 * @return 0 or a negative errno
 */
int weir_coro_ctl_register(struct weir_base_ctl *ctl);

#ifdef __cplusplus
}
#endif

#endif
