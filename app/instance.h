/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_INSTANCE_H
#define WEIR_APP_INSTANCE_H

/**
 * @file
 * A running description: ports, tables, graphs, workers, control socket.
 */

#include <pthread.h>

#include <weir_base_ctl.h>
#include <weir_graph.h>
#include <weir_node.h>

#include "config.h"
#include "eal.h"
#include "em_run.h"
#include "links_run.h"
#include "links_share.h"
#include "routes.h"
#include "worker.h"

/** What `weir run` and `weir graph` set up. */
struct instance {
	struct config *config;       /**< owned by the caller */
	struct eal eal;              /**< DPDK's environment */
	struct rte_mempool *pool;    /**< mbufs */
	uint16_t *port_ids;          /**< per port of config */
	uint32_t *graph_ids;         /**< per worker: of its ports; or WEIR_GRAPH_ID_INVALID */
	uint32_t *event_graph_ids;   /**< per worker: of its events; or WEIR_GRAPH_ID_INVALID */
	struct em_run em;            /**< the event machine, if there is one */
	struct links_run links;      /**< the readout, if there is one */
	struct links_share share;    /**< ports that it has in common with graphs */
	struct worker *workers;      /**< per worker of config */
	unsigned int nb_started;     /**< workers that were started */
	struct routes_loaded routes; /**< what was loaded */
	struct weir_base_ctl *ctl;   /**< control socket; NULL: none */
	struct weir_graph_cluster *cluster; /**< all graphs; NULL: there are none */
	pthread_mutex_t
		look_lock; /**< of cluster and links: the control thread and the socket's both look */
	bool quiet;        /**< told workers to receive no more */
	bool stop_asked;   /**< over the control socket; atomic */
	const char *state; /**< "starting", "running", "stopping", "finished" */
	uint64_t
		start_ns; /**< when the workers were started; atomic: the socket's thread reads it */
	uint64_t end_ns;  /**< when the last one stopped; 0: not yet; atomic */
};

/** How to set up an instance. */
struct instance_options {
	bool stand_ins; /**< for a look at the graph: no device, no file written, no routes, no control socket */
	bool verbose;  /**< show what DPDK says */
	bool progress; /**< say on standard error what takes long */
};

/**
 * Set up everything up to, but not including, the start of the workers.
 *
 * @return 0, or a negative errno with the reason in the document or printed
 */
int instance_open(
	struct instance *instance, struct config *config, const struct instance_options *options);

/** Start the workers. @return 0 or a negative errno */
int instance_start(struct instance *instance);

/** Have all workers stopped? Those that serve events are told to here, once nothing comes any more and nothing is inside. */
bool instance_is_finished(struct instance *instance);

/** Ask the workers to stop after what they have received. */
void instance_stop(struct instance *instance);

/** Likewise, but events that are inside stay there. */
void instance_stop_workers(struct instance *instance);

/** Likewise, and fragments of links that are not sent yet never will be. */
void instance_stop_now(struct instance *instance);

/** Wait for the workers, and write out the files. @return 0, or -EIO when a file could not be written */
int instance_join(struct instance *instance);

/** Take everything down; also after a failure of instance_open(). @return 0, or -EIO when a file could not be written */
int instance_close(struct instance *instance);

/** Offer what this program answers on the control socket. @return 0 or a negative errno */
int control_register(struct instance *instance);

/**
 * Open the control socket under the instance's name. It stays open until the program has ended: DPDK's
 * telemetry socket, which bears the same name, is removed only then.
 *
 * @return as weir_base_ctl_open()
 */
struct weir_base_ctl *control_open(const char *name);

/** Answer nothing any more: the instance is being taken down. */
void control_silence(struct instance *instance);

#endif
