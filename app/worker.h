/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_WORKER_H
#define WEIR_APP_WORKER_H

/**
 * @file
 * A worker: a thread that walks its graph until it is told to stop, or until
 * nothing can come any more.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "schema.h"

struct weir_graph;

/** A worker. The control thread fills it before worker_start() and reads it after worker_join(). */
struct worker {
	struct weir_graph *graph;      /**< to walk */
	const uint16_t *rx_ports;      /**< ports of the files it reads */
	unsigned int nb_rx_ports;      /**< entries in rx_ports */
	bool ends;                     /**< stop when all of rx_ports have ended */
	bool crowded;                  /**< others wait for this CPU: give way when idle */
	enum schema_idle idle;         /**< what to do when there is nothing to do */
	unsigned int lcore;            /**< where it runs */
	uint64_t start_ns;             /**< first walk */
	uint64_t end_ns;               /**< after the last walk */
	bool stop __rte_cache_aligned; /**< set by the control thread */
	bool finished;                 /**< set by the worker */
} __rte_cache_aligned;

/** Begin to walk. @return 0 or a negative errno */
int worker_start(struct worker *worker);

/** Ask it to stop after the walk that is under way. */
void worker_stop(struct worker *worker);

/** Has it stopped? */
bool worker_is_finished(const struct worker *worker);

/** Wait until it has stopped. */
void worker_join(struct worker *worker);

#endif
