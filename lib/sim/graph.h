/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_GRAPH_H
#define SIM_GRAPH_H

/*
 * What changes of a graph while it runs.
 *
 *   worker.c   workers: idle, or on a walk
 *   port.c     rings, and the links behind those that packets leave by
 *
 * A walk looks at the rings that its worker polls, one after the other, and takes up to a burst of each: that is a visit
 * of the port's receive node. When about a burst is pending, and at the end, it visits nodes that packets wait for, in
 * their order, until there are none. A visit takes its time, then all packets of its vector go on:
 *
 *   look, receive, look, receive ... visit, visit, visit ... | the walk's own cycles | look ...
 *
 * Of a worker that finds nothing nothing is simulated. When something comes to one of its rings it is known when it will
 * look there next, and how often it has looked before that.
 */

#include <stdbool.h>

#include "packet_list.h"
#include "weir_sim_random.h"
#include "weir_sim_stats.h"

#pragma GCC visibility push(hidden)

struct sim;

/* Packets that are together: on their way to a node, or in a visit of it. */
struct sim_vector {
	struct packet_list list;
	uint32_t nb;
	uint64_t bytes;
};

enum worker_phase {
	WORKER_IDLE,     /* its next look that may find something is scheduled, if any */
	WORKER_LOOKS,    /* it comes to the next ring */
	WORKER_RECEIVES, /* a visit of a receive node */
	WORKER_VISITS,   /* of any other */
	WORKER_BLOCKED,  /* it waits for room in a transmit ring */
	WORKER_ENDS,     /* the walk's own cycles */
};

struct sim_worker {
	enum worker_phase phase;
	bool is_busy;     /* the walk has found something */
	uint32_t place;   /* of the ring that it looks at, among its own */
	uint32_t node;    /* that it visits */
	uint32_t pending; /* packets that were received since nodes were visited last */
	struct sim_vector vector;
	/* Idle: */
	uint64_t idle_ps; /* when the first walk began that found nothing */
	uint64_t told;    /* of those since then, how many are counted */
	uint64_t
		wake_ps; /* when it finds something, at ring wake_place, after so many walks that did not */
	uint32_t wake_place;
	uint64_t wake_walks;
	/* Counted: */
	uint64_t walks, empty_walks;
	uint64_t received;
};

/* A node, of all workers. */
struct sim_node {
	uint64_t vectors, packets;
	double cycles;
	uint64_t entered, left, held_at_start; /* packets */
};

struct sim_port {
	uint32_t packet; /* on the link, or SIM_NONE */
	uint32_t ring;   /* that it is of */
};

struct sim_graph {
	struct packet_list *rings; /* what is counted of them is behind that of queues */
	struct sim_port *ports;
	struct sim_worker *workers;
	struct sim_node *nodes;
	struct sim_vector *pending;          /* per worker and node */
	uint64_t *visits;                    /* bits of nodes that have some, per worker */
	struct weir_sim_random *next_random; /* per node: where packets go */
};

/* Take memory. @return false: there is none */
bool sim_graph_init(struct sim *sim, uint64_t seed, unsigned int replication);
void sim_graph_free(struct sim *sim);
/* Forget what was counted up to now. */
void sim_graph_restart(struct sim *sim);
/* Account for what is under way, and find the law that is broken. */
void sim_graph_check(struct sim *sim);

/* A worker's core comes to the end of what it does. */
void sim_worker_event(struct sim *sim, uint32_t worker);
/* A packet has come to an empty ring that a worker polls. */
void sim_worker_wake(struct sim *sim, uint32_t ring);
/* Count what an idle worker has done up to now. */
void sim_worker_account(struct sim *sim, uint32_t worker);
/* A worker that waits for room in a ring has some. */
void sim_worker_unblock(struct sim *sim, uint32_t worker);

/* A packet comes to a port, from its link. */
void sim_port_receive(struct sim *sim, uint32_t port, uint32_t packet);
/* The port's link has sent a packet. */
void sim_port_event(struct sim *sim, uint32_t port);
/* A worker takes up to nb packets out of a ring. */
void sim_ring_take(struct sim *sim, uint32_t ring, uint32_t nb, struct sim_vector *vector);
/* A worker sends a packet. @return false: there is no room in its ring */
bool sim_port_send(struct sim *sim, uint32_t port, uint32_t worker, uint32_t packet);

#pragma GCC visibility pop

#endif
