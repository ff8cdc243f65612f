/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_LINKS_RUN_H
#define WEIR_APP_LINKS_RUN_H

/**
 * @file
 * The readout of a run: links, what feeds them, and what they are asked for.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <weir_readout_ctl.h>
#include <weir_readout_handler.h>

#include "links_feed.h"
#include "links_feeder.h"
#include "links_process.h"
#include "links_requests.h"
#include "links_thread.h"

struct config;
struct em_run;
struct links_consumer;
struct links_share;
struct rte_mempool;

/** It. All zero where the description has no links. */
struct links_run {
	struct rte_mempool *pool;                 /**< of packets that are made */
	struct weir_readout_registry *registry;   /**< NULL: there is no readout */
	struct weir_readout_link **links;         /**< by number */
	struct weir_readout_handler **handlers;   /**< by number */
	struct weir_readout_handler_stats *stats; /**< by number, of the last look */
	struct weir_readout_buffer_info *buffers; /**< by number: what they came to */
	unsigned int nb;                          /**< links */
	struct links_processes processes;         /**< what looks at their frames */
	struct links_consumer *consumers;         /**< of queues that links have */
	unsigned int nb_consumers;
	struct links_feed *feeds;
	unsigned int nb_feeds;
	const struct links_share *share; /**< ports of a graph that feed links, too */
	struct links_requests requests;
	struct weir_readout_ctl *ctl; /**< NULL: nothing is registered */
	struct links_feeder *feeders; /**< poll the feeds */
	unsigned int nb_feeders;
	unsigned int *feeder_of; /**< by number of link: whose counters it belongs to */
	bool ends;               /**< when all feeds have */
	bool quiet;              /**< feed no more; atomic */
	bool fed;                /**< nothing is fed any more; atomic */
	uint64_t start_ns;       /**< when it began */
	uint64_t end_ns;         /**< when the feeds were polled last; of use when finished */
};

/** Make it; EAL is up. @param share, em  made from the same description. @return 0, or a negative errno with the reason in the document or printed */
int links_run_open(struct links_run *run, struct config *config, const struct links_share *share,
	const struct em_run *em);

/** Offer what it answers on the control socket; also of a run without a readout, which says so. @return 0 or a negative errno */
int links_run_register(struct links_run *run, struct weir_base_ctl *ctl);

/** Take that back; its threads have ended. */
void links_run_unregister(struct links_run *run);

/** Begin. @return 0 or a negative errno, with the reason in the log or the document */
int links_run_start(struct links_run *run, struct config *config);

/** Feed no more; what was asked for is answered, and sent. By who starts it; also of one that could not be started. */
void links_run_stop(struct links_run *run);

/** Likewise; what is not sent yet never will be. */
void links_run_stop_now(struct links_run *run);

/** Will no frame need a job any more? */
bool links_run_needs_no_jobs(const struct links_run *run);

/** There are none any more: their workers have ended. */
void links_run_without_jobs(struct links_run *run);

/** Has it come to its end? */
bool links_run_is_finished(const struct links_run *run);

/** Wait for its threads. */
void links_run_join(struct links_run *run);

/** Free everything; jobs are stopped. */
void links_run_close(struct links_run *run);

/** Are the buffers of links more than the system has free? @return 0, or -ENOMEM with the reason in the document */
int links_memory_check(struct config *config);

/**
 * The NUMA node where a link's frames belong: of the CPU that writes them, which is that of its queue's consumer, of its receiver's poller, or
 * of the thread that makes them, where it has one; else of its receiver's device.
 *
 * @param number  of the link, among those alike
 * @param sysfs   of the machine; NULL: "/sys"
 * @return -1: it is not known, or there is only one
 */
int links_memory_node(const struct config *config, const struct config_link *link,
	unsigned int number, const char *sysfs);

/** Bytes that it needs of DPDK's memory. */
uint64_t links_run_memory(const struct config *config);

/**
 * Add what was counted to a report, as "readout". One thread at a time.
 *
 * @param begun     links_run_start() was called, or is about to be: its threads are asked for their counters
 * @param finished  nothing moves any more: all sums must agree
 */
void links_report_add(struct links_run *run, const struct config *config, bool begun, bool finished,
	json_t *report);

#endif
