/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_MODEL_GRAPH_H
#define SIM_MODEL_GRAPH_H

/*
 * A graph of nodes, and the workers that walk it: each all of it, over packets of the receive rings that it polls.
 *
 *   stream --> receive ring --> [ rx --> node --> node --> tx ] --> transmit ring --> link
 *
 *   doc_graph.c        ports, workers and rings
 *   doc_graph_plan.c   nodes and edges as they are described, with what they cost
 *   doc_graph_nodes.c  of these, the nodes that packets come to, in the order of walks
 */

#include <stdbool.h>
#include <stdint.h>

#include "weir_base_nodes.h"

struct weir_base_doc_value;

/* Descriptors of a queue of a port; packets are in it in the order in which they came. */
struct model_ring {
	char *name;
	uint32_t port;
	uint32_t capacity, reason;
	uint32_t worker; /* that polls it, or sends through it; SIM_NONE: none */
	uint32_t place;  /* among those that the worker polls */
};

struct model_port {
	const struct weir_base_doc_value *value;
	const char *name;
	char *made_name; /* of one that is not in the file; else NULL */
	bool is_device;
	bool receives, transmits;
	const struct weir_base_doc_value
		*shared; /* node that receives in place of its own, as links share it; or NULL */
	bool is_polled;  /* by a worker */
	uint32_t first_rx, nb_rx; /* rings; a packet's flow tells which one it comes to */
	uint32_t first_tx, nb_tx; /* rings, one for each worker; none where packets leave at once */
	uint32_t rx_burst, rx_ring, tx_ring;
	double per_byte;         /* ps, of the link */
	uint32_t overhead_bytes; /* of each packet on the link */
	bool is_receiver;        /* of links, whose frames stay */
	bool is_delivery;        /* of a link's queues, to the thread that empties them */
	bool is_of_hits;         /* of a queue of those that are found, for their link */
	bool has_functions;      /* that look at frames of links in the thread that polls it */
	bool adapts;             /* its bursts are as large as what comes needs, up to rx_burst */
	bool is_feed; /* of links, whose frames are made: who polls it rests when there are none */
	bool waits;   /* a worker waits for room in a transmit ring */
};

/* One way that a node's packets go. */
struct model_next {
	double sum; /* of the probabilities up to it: the last one's is 1 */
	uint32_t node;
};

struct model_node {
	char *name;         /* as in statistics */
	const char *called; /* in the file: its own name, its port's, or that of its type */
	bool is_own;        /* it stands in application.nodes */
	bool is_probed;     /* probes look at edges that begin here */
	enum weir_base_node_role role;
	uint32_t port;                   /* of one that receives or transmits */
	double vector, packet, per_byte; /* cycles */
	uint32_t first_next, nb_next;    /* of one that transmits: for what finds no room */
	uint32_t reason;                 /* of one that frees */
	uint32_t queue; /* that it sends to; of one that works, where its packets wait for that */
	uint32_t job;   /* of one that works, or SIM_NONE */
	bool waits;     /* a worker waits for the scheduler to take what it sends */
};

/* Work that is done on the packets of a queue in time slices. */
struct model_job {
	const char *name;
	uint32_t node; /* whose packets they are; SIM_NONE: of none */
	uint32_t
		follower; /* each packet is a job of it, with frames; SIM_NONE: packets of a node */
	uint32_t to;      /* queue that they go to then */
	uint64_t time_ps, wait_ps,
		slice_ps;  /* worked, then waited for somebody else without a core */
	bool is_in_cycles; /* the work of a plug-in, in place of time_ps: */
	double cycles, per_byte;
	uint32_t capacity; /* most packets in it */
	uint32_t reason;   /* of others */
};

/* As the choices of platform.idle. */
enum model_idle {
	MODEL_IDLE_POLL,
	MODEL_IDLE_PAUSE,
	MODEL_IDLE_SLEEP,
};

struct model_worker {
	const struct weir_base_doc_value *value;
	char *name;
	uint32_t core;
	uint32_t first_polled, nb_polled; /* of graph->polled */
	uint64_t walk_ps, poll_ps;
	uint64_t sleep_min_ps,
		sleep_max_ps; /* after walks that find nothing: twice as long each time */
	bool is_receiver;     /* of links: it sleeps after all walks in which no burst was full */
	uint32_t
		process; /* whose thread it is, which polls buffers in place of rings, or SIM_NONE */
	bool asks;       /* it serves queues of events */
	uint32_t round;  /* so many at once, at most */
	uint64_t dispatch_ps, switch_ps;
};

struct model_graph {
	struct model_port *ports;
	struct model_ring *rings; /* those to receive from are before those to transmit to */
	struct model_node *nodes; /* in the order of walks: edges lead forwards, where they can */
	struct model_next *nexts;
	struct model_worker *workers;
	struct model_job *jobs;
	uint32_t nb_jobs;
	uint32_t *polled;      /* rings, worker by worker */
	uint32_t nb_receivers; /* of ports, the last ones */
	uint32_t nb_threads;   /* of workers, that poll these, or buffers */
	uint32_t nb_ports, nb_rings, nb_nodes, nb_nexts, nb_workers, nb_polled;
	uint32_t node_words;
	uint32_t *rx_nodes; /* per port; SIM_NONE: nobody polls it */
	uint32_t burst;     /* largest vector */
	enum model_idle idle;
};

#endif
