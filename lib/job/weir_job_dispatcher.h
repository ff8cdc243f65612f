/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_JOB_DISPATCHER_H
#define WEIR_JOB_DISPATCHER_H

/**
 * @file
 * Jobs as a handler of DPDK's event dispatcher (rte_dispatcher, from DPDK 23.11 on): each event that matches begins a job.
 *
 *     rte_dispatcher_register(dispatcher, match, match_data, weir_job_dispatcher_process, &handler);
 *
 * The dispatcher has its own event device and lcores, jobs run on the cores of their service's event machine. So the dispatcher's lcore does no
 * more than to begin them: events are given back to their device when it dequeues next, whatever becomes of their jobs. Who needs
 * the jobs of a flow one after the other says so (by_flow).
 *
 * Nothing here is DPDK's but the type of the function, so it is there with any DPDK: an application that dispatches events by itself may call
 * it, too.
 */

#include <rte_eventdev.h>

#include "weir_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is done to events. To be kept until the dispatcher does not call any more; @p service as long. */
struct weir_job_dispatcher_handler {
	struct weir_job_service *service; /**< whose jobs they become */
	weir_job_fn_t fn; /**< what each does; its input parameters are a struct rte_event */
	struct weir_job_options options; /**< of each */
	bool by_flow; /**< their key is queue and flow of the event, instead of options.key: one of them runs at a time */
	/**
	 * Called in the dispatcher's thread for an event whose job was not begun, with rte_errno as weir_job_spawn() left it; NULL: it is
	 * counted only. What the event refers to is the application's.
	 */
	void (*refused)(void *arg, const struct rte_event *event);
	void *refused_arg;   /**< its first argument */
	uint64_t nb_begun;   /**< jobs; any thread may read, atomically */
	uint64_t nb_refused; /**< events without; likewise */
};

/**
 * Begin a job for each event: rte_dispatcher_process_t.
 *
 * Threads: any, several at a time.
 *
 * @param device   not looked at
 * @param port     not looked at
 * @param handler  struct weir_job_dispatcher_handler. NULL of it or of @p events is allowed: nothing is done
 */
void weir_job_dispatcher_process(
	uint8_t device, uint8_t port, struct rte_event *events, uint16_t nb, void *handler);

#ifdef __cplusplus
}
#endif

#endif
