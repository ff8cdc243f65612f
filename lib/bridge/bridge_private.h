/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BRIDGE_PRIVATE_H
#define BRIDGE_PRIVATE_H

/* What the files of this library share. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "weir_base.h"
#include "weir_bridge.h"
#include "weir_em.h"
#include "weir_em_fast.h"
#include "weir_em_pool.h"
#include "weir_graph.h"
#include "weir_graph_fast.h"
#include "weir_node.h"
#include "weir_node_fast.h"

#define BRIDGE_LOG(level, ...) weir_base_log(WEIR_BASE_LOG_##level, "bridge", __VA_ARGS__)

struct bridge_rx;

/* A graph that is bound to a core. What is below is that core's own. */
struct bridge_graph {
	struct weir_graph *graph;
	struct weir_em *em;
	struct weir_em_core *core;
	bool serves;     /* it has sched_rx nodes */
	bool dispatches; /* the core does, it is no producer */
	/* The walk that a receive function makes. */
	const struct bridge_rx
		*source; /* whose events have not been brought in yet; NULL: there are none */
	uint16_t edge;   /* theirs */
	uint16_t nb;     /* held in this walk; 0 outside of one */
	struct rte_mbuf *held[WEIR_EM_BURST_MAX]; /* NULL: forwarded */
	uint8_t slots[WEIR_EM_BURST_MAX];         /* rte_event::impl_opaque of each */
};

/* A sched_tx node. */
struct bridge_tx {
	struct weir_em *em;
	enum weir_bridge_flow flow;
	bool wait;
	unsigned int nb_queues;
	weir_em_queue queues[];
};

/* A sched_rx node. */
struct bridge_rx {
	struct weir_em *em;
	weir_em_object object;
	uint64_t nb_unbound, nb_foreign;               /* any thread */
	struct bridge_graph *bound[WEIR_EM_CORES_MAX]; /* by core: its own thread */
};

/* Context memory of nodes. */
struct bridge_tx_ctx {
	const struct bridge_tx *tx; /* NULL: the node that others are clones of */
};
struct bridge_rx_ctx {
	struct bridge_rx *rx; /* likewise */
};

/* State of nodes. It begins like this in all. */
struct bridge_state {
	struct bridge_graph *bound;
};

/*
 * What a packet carries for this library. One field for both, as mbufs have room for few, and no packet needs both at a time: what waits
 * for a job, or was worked on by one, is in no walk.
 */
union bridge_mark {
	uint8_t place; /* in a walk: where in bridge_graph::held it may be: one that is there is */
	struct rte_mbuf *next; /* with a job: behind it in its list */
};

extern int bridge_mark_offset;
int bridge_mark_register(void);

static inline union bridge_mark *
bridge_mark(const struct rte_mbuf *m)
{
	return RTE_MBUF_DYNFIELD(m, bridge_mark_offset, union bridge_mark *);
}

/* wait.c: may this walk wait for others to make room? Then, for a moment. */
bool bridge_may_wait(const struct bridge_graph *bound);
void bridge_make_room(const struct bridge_graph *bound, uint32_t *spins);

/* flow.c: of all 32 bits, the upper ones first. */
uint32_t bridge_flow_hash(const struct rte_mbuf *m, enum weir_bridge_flow flow);

/* needed.c: does a shared object want a library whose name begins so, or is it one? False, too, where it cannot be read. */
bool bridge_file_needs(const char *path, const char *begin);

/* sched_rx.c, sched_tx.c, job_process.c */
uint16_t bridge_rx_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs);
uint16_t bridge_tx_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs);
uint16_t bridge_job_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs);
void bridge_rx_receive(struct weir_em_core *core, void *context, struct rte_event *events,
	uint16_t nb, weir_em_queue queue, void *queue_context);

#endif
