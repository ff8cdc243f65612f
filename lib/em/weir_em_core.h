/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_EM_CORE_H
#define WEIR_EM_CORE_H

/**
 * @file
 * The threads of an event machine (weir_em.h): cores, which dispatch, and producers, which only send. Threads and errors are as there.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An instance. */
struct weir_em;

/** A thread's own part of an instance. */
struct weir_em_core;

/**
 * Be one of the cores: the calling thread, until weir_em_core_detach(). Runs core_start of the objects that run; after that, queue groups with
 * this core in their masks get it. Not within a core's receive function or callback: it may wait for a thread that waits for that core.
 *
 * @param id  0 up to nb_cores - 1; bit @p id of core masks
 * @return NULL with rte_errno: EINVAL; EBUSY: it is attached; what the first core_start that failed returned: those before it were followed by
 *   core_stop, and nothing came to the core; what the scheduler says to another core in its groups
 */
struct weir_em_core *weir_em_core_attach(struct weir_em *em, unsigned int id);

/**
 * Be a producer: a thread that sends, and does not dispatch. It sends often, or calls weir_em_producer_tend(), or is detached. Not
 * within a core's receive function or callback, as above.
 *
 * @return NULL with rte_errno: ENOSPC: there are nb_producers already
 */
struct weir_em_core *weir_em_producer_attach(struct weir_em *em);

/**
 * For a producer's thread that goes on without sending: some event devices (event_dsw) move flows only when the ports of all have been called,
 * and keep the events of these flows until then. Nothing is received. With the builtin scheduler nothing is to be done. Not in a receive function.
 *
 * @return 0; -EINVAL: no producer
 */
int weir_em_producer_tend(struct weir_em_core *producer);

/**
 * No more of it: not from within dispatch. Runs core_stop of objects that run; what is in its local queues is dispatched first;
 * what waits for it in the scheduler, others get.
 *
 * @return 0; -EBUSY from within dispatch, and while it is held; -EINVAL
 */
int weir_em_core_detach(struct weir_em_core *core);

/**
 * For those who run functions of others on a core, outside of dispatch too, and want it as it is when these return: how many hold it.
 * While there are any it is neither detached (-EBUSY) nor dispatched (EINVAL). To hold it is to add 1, on its own thread, and later to take that off.
 *
 * @param core  not NULL
 * @return valid until the instance ends
 */
uint32_t *weir_em_core_holds(struct weir_em_core *core);

/** Its number; producers have those after the cores'. UINT_MAX of none. */
unsigned int weir_em_core_id(const struct weir_em_core *core);

/** Whose it is; NULL of none. */
struct weir_em *weir_em_core_em(const struct weir_em_core *core);

/** Bits of the cores that are attached. */
uint64_t weir_em_core_mask(const struct weir_em *em);

/** One core's weir_em_dispatch() returns soon: the one that runs, or the next one. Any thread, while the core is attached. */
void weir_em_core_stop(struct weir_em_core *core);

#ifdef __cplusplus
}
#endif

#endif
