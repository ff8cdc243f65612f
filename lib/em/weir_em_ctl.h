/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_EM_CTL_H
#define WEIR_EM_CTL_H

/**
 * @file
 * An event machine over the control socket.
 */

#ifdef __cplusplus
extern "C" {
#endif

struct weir_base_ctl;
struct weir_em;

/**
 * Offer an instance's commands, all of them read-only:
 *
 *  - "em/stats": counters of all cores, by type of queue, and of the scheduler
 *  - "em/cores": each core's counters, what it is doing
 *  - "em/objects": each object's state, queues, counters
 *  - "em/queues": each queue; {"object": NAME} or {"name": NAME}: of that object only; {"first": N, "max": N}: a part
 *  - "em/groups": queue groups, and their cores
 *  - "em/pools": pools of buffers
 *  - "em/event_groups": each event group's cycle, and totals; {"first": N, "max": N}: a part
 *  - "em/timers": each timer's timeouts: armed, fired, cancelled, how late
 *
 * @return 0; -EEXIST: another instance has them; -EINVAL, -ENOMEM
 */
int weir_em_ctl_register(struct weir_em *em, struct weir_base_ctl *ctl);

/** Take the commands back; before the instance is destroyed. */
void weir_em_ctl_unregister(struct weir_em *em, struct weir_base_ctl *ctl);

#ifdef __cplusplus
}
#endif

#endif
