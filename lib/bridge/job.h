/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BRIDGE_JOB_H
#define BRIDGE_JOB_H

/* A job node. */

#include "bridge_private.h"
#include "weir_bridge_job.h"

enum {
	BRIDGE_JOB_PACKETS, /* taken */
	BRIDGE_JOB_FULL,    /* refused */
	BRIDGE_JOB_NB_XSTATS,
};

#define BRIDGE_JOB_QUEUES 16 /* of a node's own, at most */

struct bridge_job;

/* Packets of a flow, in order: those that are to be worked on, and those that are done with. Linked by their marks. */
struct bridge_job_list {
	struct rte_mbuf *first, *last;
};

struct bridge_job_flow {
	uint32_t lock;
	weir_job job; /* that takes them; or WEIR_JOB_NONE */
	struct rte_mbuf
		*hand; /* what its work has now. Of the job, then of who is told of its end */
	struct bridge_job_list in, out;
	struct bridge_job *owner;
};

/* What one core counts. */
struct bridge_job_counts {
	uint64_t nb_passed, nb_blocked, nb_closed, nb_cancelled;
} __rte_cache_aligned;

struct bridge_job {
	struct weir_em *em;
	struct weir_job_service *service;
	const struct weir_bridge_job_type *type; /* of a plug-in, or built in */
	void *context;                           /* its own */
	enum weir_bridge_flow flow;
	bool wait;
	unsigned int nb_flows, nb_packets, nb_queues;
	struct bridge_job_flow *flows;
	weir_em_queue *queues;
	weir_em_object object; /* that sends on what is done with, flow by flow in order */
	unsigned int nb_own;
	weir_em_queue own[BRIDGE_JOB_QUEUES]; /* its queues, atomic */
	struct weir_job_options options;      /* of its jobs */
	struct weir_job_group group;          /* all of them */
	uint64_t time;                        /* built in: cycles, or ns, of a packet */
	uint64_t nb_in, nb_refused;           /* any thread */
	uint64_t nb_left[WEIR_JOB_CANCELLED +
			 1]; /* any thread: by jobs that ended so, before they were done */
	uint32_t nb_inside __rte_cache_aligned; /* any thread */
	struct bridge_job_counts counts[WEIR_EM_CORES_MAX];
};

struct bridge_job_ctx {
	struct bridge_job *job; /* NULL: the node that others are clones of */
};

/* job_process.c */
void bridge_job_receive(struct weir_em_core *core, void *context, struct rte_event *events,
	uint16_t nb, weir_em_queue queue, void *queue_context);
/* A job is over. */
void bridge_job_done(void *arg, weir_job job, enum weir_job_end end, void *out);
void bridge_job_free_packets(struct bridge_job *job);

/* job.c: free what it has. */
int bridge_job_free(struct bridge_job *job);
void bridge_job_look(const struct bridge_job *job, struct weir_bridge_job_stats *stats);

/* nodes.c: clone the node, whose context is the job. */
uint32_t bridge_make_job(const char *name, struct bridge_job *job);

#endif
