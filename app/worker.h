/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_WORKER_H
#define WEIR_APP_WORKER_H

/**
 * @file
 * A worker: a thread that walks its graph and serves its queues of events, until it is told to stop, or until
 * nothing can come any more.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "schema.h"

struct weir_em;
struct weir_em_core;
struct weir_graph;

/** A worker. The control thread fills it before worker_start() and reads it after worker_join(). */
struct worker {
	struct weir_graph *graph;       /**< of its ports, to walk; NULL: it has none */
	struct weir_graph *event_graph; /**< walked by the event machine; NULL: none */
	struct weir_em *em;             /**< NULL: there is none */
	int em_core;                    /**< its number there; -1: it only sends */
	uint16_t burst;                 /**< most events that it takes at once */
	const uint16_t *rx_ports;       /**< ports of the files it reads */
	unsigned int nb_rx_ports;       /**< entries in rx_ports */
	bool ends;                      /**< receive no more when all of rx_ports have ended */
	bool crowded;                   /**< others wait for this CPU: give way when idle */
	enum schema_idle idle;          /**< what to do when there is nothing to do */
	unsigned int lcore;             /**< where it runs */
	uint64_t start_ns;              /**< first walk */
	uint64_t end_ns;                /**< after the last walk */
	bool stop __rte_cache_aligned;  /**< set by the control thread */
	bool quiet;                     /**< likewise: receive no more, but serve events */
	bool received;                  /**< set by the worker: it receives no more */
	bool finished;                  /**< likewise */
	bool failed; /**< likewise: it could not begin; then it is finished, too */
} __rte_cache_aligned;

/** Begin to walk. @return 0 or a negative errno */
int worker_start(struct worker *worker);

/** Ask it to receive no more; events it goes on to serve, and without an event machine it stops. */
void worker_quiet(struct worker *worker);

/** Does it receive no more? */
bool worker_has_received(const struct worker *worker);

/** Ask it to stop after the walk that is under way. */
void worker_stop(struct worker *worker);

/** Has it stopped? */
bool worker_is_finished(const struct worker *worker);

/** Wait until it has stopped. */
void worker_join(struct worker *worker);

#endif
