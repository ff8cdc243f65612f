/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_EM_RUN_H
#define WEIR_APP_EM_RUN_H

/**
 * @file
 * The event machine of a run: made, watched, ended.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <weir_bridge_object.h>

#include "jobs.h"

struct config;
struct report_counts;
struct rte_mempool;

/** It. All zero where the description has no queues. */
struct em_run {
	struct weir_em *em;
	weir_em_queue *flows;                /**< of all queues, one after the other */
	unsigned int *first_flow;            /**< per queue: index into flows; and one more */
	weir_em_queue_group *groups;         /**< per group */
	struct weir_bridge_object **objects; /**< per object */
	uint32_t *nodes;              /**< per node of the configuration: id of the graph's */
	int *cores;                   /**< per worker: core number, or -1: it only sends */
	struct jobs jobs;             /**< where nodes hand packets to them */
	uint64_t nb_new, nb_released; /**< at the last look */
};

/**
 * Make it, with nodes and objects, and packets of @p pool; before the graph is wired. For a look at the graph (@p stand_ins) without devices and plug-ins.
 *
 * @return 0, or a negative errno with the reason in the document or printed
 */
int em_run_open(
	struct em_run *run, struct config *config, struct rte_mempool *pool, bool stand_ins);

/** Has it been empty since the last look? By one thread, when nothing new comes from ports any more. */
bool em_run_is_empty(struct em_run *run, const struct config *config);

/** Stop objects; when workers are gone. */
void em_run_stop(struct em_run *run, const struct config *config);

/** Free everything; when graphs are gone. */
void em_run_close(struct em_run *run, const struct config *config);

/**
 * Add what happened between sending to queues and receiving from them to a report, whose packets are those of graphs so far.
 *
 * @param finished  nothing moves any more: all sums must agree
 */
void em_report_add(const struct em_run *run, const struct config *config,
	const struct report_counts *counts, bool finished, json_t *report);

#endif
