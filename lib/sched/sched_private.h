/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_PRIVATE_H
#define SCHED_PRIVATE_H

/*
 * What the files of this library share.
 *
 *   sched.c     configuration, checked once for all backends
 *   inspect.c   what is configured and counted
 *   resting.c   ports while it does not run
 *   builtin.c   our own scheduler                 eventdev.c  a device of DPDK's
 */

#include "weir_base.h"
#include "weir_sched.h"

#define SCHED_LOG(level, ...) weir_base_log(WEIR_BASE_LOG_##level, "sched", __VA_ARGS__)

/* Where xstats go. */
struct sched_xstats {
	struct weir_sched_xstat *xstats;
	unsigned int nb, room; /* nb: of those that there are, also beyond the room */
	const char *wanted;    /* this one goes there instead, of all; NULL: all go above */
	uint64_t *value;
};

void sched_xstats_put(struct sched_xstats *to, const char *name, uint64_t value);

/* A port's own, by the names that they have everywhere; read while its thread writes them. */
void sched_xstats_put_port(struct sched_xstats *to, const struct weir_sched_stats *stats);

/* What went into a queue and out of it. */
struct sched_queue_counts {
	uint64_t nb_enqueued, nb_dequeued;
};

/* Only one thread writes: no need of an instruction that locks. */
static inline void
count(uint64_t *counter, uint64_t more)
{
	__atomic_store_n(
		counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + more, __ATOMIC_RELAXED);
}

/* What a scheduler is made of. Its functions are called with arguments that sched.c has checked. */
struct sched_backend {
	const char *name; /* up to a colon, in weir_sched_config::backend */
	/* All ports and queues as configured by default; 0 or negative errno, with a log. */
	int (*create)(struct weir_sched *sched, const char *device);
	void (*destroy)(struct weir_sched *sched);
	/* sched->queues[queue], or ->ports_config[port], is as it is to be. Before the first start. */
	int (*queue_setup)(struct weir_sched *sched, unsigned int queue);
	int (*port_setup)(struct weir_sched *sched, unsigned int port);
	/* sched->groups[group] is what was asked for. */
	int (*group_set)(struct weir_sched *sched, unsigned int group);
	int (*start)(struct weir_sched *sched);
	void (*stop)(struct weir_sched *sched,
		void (*drain)(void *arg, const struct rte_event *event), void *arg);
	uint32_t (*reserve)(struct weir_sched *sched, uint32_t nb);
	void (*unreserve)(struct weir_sched *sched, uint32_t nb);
	int (*enqueue_reserved)(struct weir_sched *sched, const struct rte_event *event);
	void (*wake)(struct weir_sched *sched, uint64_t ports); /* NULL: they never sleep */
	void (*stats)(const struct weir_sched *sched, struct weir_sched_stats *stats);
	/* Of a queue that is there, over all ports and those who enqueue without one. */
	void (*queue_counts)(const struct weir_sched *sched, unsigned int queue,
		struct sched_queue_counts *counts);
	/* Of a part that is there; besides what stats() tells of all. May be NULL. */
	void (*xstats)(const struct weir_sched *sched, enum weir_sched_part part,
		unsigned int which, struct sched_xstats *to);
	void (*dump)(struct weir_sched *sched, FILE *file);
	/* What ports do while it runs. */
	const struct weir_sched_port_ops *port_ops;
};

extern const struct sched_backend sched_builtin, sched_eventdev;

struct weir_sched {
	char name[64], backend_name[64];
	struct weir_sched_config config; /* defaults filled in */
	const struct sched_backend *backend;
	void *own;             /* the backend's */
	bool running, started; /* now, ever */
	bool stopping;         /* what is inside is being drained */
	uint64_t nb_drained;
	uint64_t nb_drained_of[WEIR_SCHED_QUEUES_MAX];
	uint64_t nb_resting; /* events that ports were called with while it did not run */
	struct weir_sched_queue_config queues[WEIR_SCHED_QUEUES_MAX];
	struct weir_sched_port_config ports_config[WEIR_SCHED_PORTS_MAX];
	uint64_t groups[WEIR_SCHED_GROUPS_MAX]; /* masks of ports; group 0: all */
	struct weir_sched_port
		*ports[WEIR_SCHED_PORTS_MAX]; /* the backend makes them in create() */
	/* Calls that are under way, of threads that are to be at no port's. All of them write it: far from the configuration, which ports read. */
	uint32_t nb_without_port;
};

/* Also by threads that do not start and stop it: what was made ready before that can be seen. */
static inline bool
sched_is_running(const struct weir_sched *sched)
{
	return __atomic_load_n(&sched->running, __ATOMIC_ACQUIRE);
}

/* resting.c: ports have this while the scheduler does not run, and their backend's from start to stop. */
extern const struct weir_sched_port_ops sched_resting_ops;

/* Ports that a queue's events may go to. */
static inline uint64_t
sched_queue_ports(const struct weir_sched *sched, unsigned int queue)
{
	return __atomic_load_n(&sched->groups[sched->queues[queue].group], __ATOMIC_RELAXED);
}

#endif
