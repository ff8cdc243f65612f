/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_FENCE_H
#define SCHED_FENCE_H

/*
 * A fence in all threads of the process at once, by the kernel (membarrier(2), MEMBARRIER_CMD_PRIVATE_EXPEDITED): so that those who are fast
 * need none of their own, beside who is slow.
 *
 *     fast    writes A, then reads B, without a fence
 *     slow    writes B, fence_all(), then reads A: if it does not see what fast wrote, fast will see what slow wrote
 */

#include <stdbool.h>

/* Before the first fence_all() of the process, at least once. @return false: the kernel has none */
bool fence_prepare(void);
/* It takes microseconds, and interrupts threads that run. @return false: there was none */
bool fence_all(void);

#endif
