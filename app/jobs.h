/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_JOBS_H
#define WEIR_APP_JOBS_H

/**
 * @file
 * Jobs of a run: where they run, and the nodes that hand packets to them.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <weir_bridge_job.h>

struct config;
struct config_sched_node;
struct em_run;

/** Queues of the event machine that a node has at most. */
#define JOBS_QUEUES 17

/** All zero where the description has no nodes with jobs. */
struct jobs {
	struct weir_job_service *service;
	bool coroutines;            /**< were initialised here */
	bool given_up;              /**< some did not end: nobody resumes them any more */
	uint64_t nb_in, nb_spawned; /**< at the last look */
};

/** Sums over all nodes. */
struct jobs_sums {
	uint64_t in, passed, dropped, inside;
};

/**
 * Make it ready, before nodes are made.
 *
 * @return 0, or a negative errno with the reason in the document
 */
int jobs_run_open(struct em_run *run, struct config *config);

/** Make a node. @return its id, or WEIR_GRAPH_NODE_INVALID with rte_errno, and maybe an error in the document */
uint32_t jobs_run_make_node(struct em_run *run, struct config *config,
	const struct config_sched_node *node, bool stand_ins);

/** Jobs may begin. @return 0 or a negative errno */
int jobs_run_start(struct em_run *run);

/** Have there been none since the last look? */
bool jobs_run_are_idle(struct em_run *run, const struct config *config);

/**
 * Cancel what is left, when workers are gone; before the event machine's objects are stopped. Those that do not end stay where they are: what they
 * use may go.
 */
void jobs_run_stop(struct em_run *run);

/** Give all back; when nodes are gone. */
void jobs_run_close(struct em_run *run);

/** What became of packets that nodes handed to jobs: "jobs" of a report, and reasons to drop. */
void jobs_run_report(const struct em_run *run, const struct config *config, json_t *report,
	struct jobs_sums *sums);

#endif
