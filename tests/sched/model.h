/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_MODEL_H
#define SCHED_MODEL_H

/*
 * An executable model of weir_sched.h: a scheduler of one lock and lists, in which every dequeue looks at all that waits. The
 * programs of this folder run on it too, in the builtin scheduler's place:
 *
 *   - they demand nothing that the header does not promise: so simple a scheduler does it all
 *   - they can fail: WEIR_SCHED_MODEL_BUG=name breaks the model in one way, which one of them must notice
 */

#include <pthread.h>
#include <sys/queue.h>

#include "event.h"
#include "sched_private.h"

enum bug {
	BUG_NONE,
	BUG_NO_EXCLUSION,
	BUG_NO_RESTORE,
	BUG_RELEASE_NO_FILL,
	BUG_FIFO_PRIORITY,
	BUG_NO_BOUND,
	BUG_NO_GROUP,
	BUG_LIFO,
	BUG_LOSE,
	BUG_TWICE,
	BUG_THRESHOLD,
	BUG_FORWARD_REFUSED,
	BUG_NOT_HELD,
	BUG_ANY_PORT,
	BUG_CREDIT_LEAK,
	BUG_RESERVE,
	BUG_SWITCH_JUMPS,
	BUG_DRAIN_REVERSED,
	BUG_DRAIN_LOSES,
	BUG_NO_IMPLICIT,
	BUG_RESTART_HELD,
	BUG_DEADLOCK,
	BUG_SWITCH_KEEPS,
	BUG_STATS,
	BUG_MAX_HELD,
	BUG_FLOW_MASK,
	NB_BUGS
};

struct lane;

struct item {
	TAILQ_ENTRY(item) next;
	struct rte_event event;
	struct lane *lane; /* atomic, ordered */
	uint8_t type, priority;
	bool reserved;
};

TAILQ_HEAD(items, item);

struct place {
	TAILQ_ENTRY(place) next;
	struct item *item; /* forwarded */
	bool out;
};

TAILQ_HEAD(places, place);

struct lane {
	unsigned int nb_waiting, nb_held, owner;
	struct places places;
	bool used;
};

struct held {
	struct item *item;
	struct place *place;
};

struct model_port {
	struct weir_sched_port base;
	unsigned int nb_held;
	struct held held[256];
	uint8_t next;
};

struct model {
	pthread_mutex_t lock;
	struct items waiting[WEIR_SCHED_PRIORITIES];
	uint64_t passed[WEIR_SCHED_PRIORITIES];
	struct lane *lanes;
	struct model_port ports[WEIR_SCHED_PORTS_MAX];
	uint32_t inside, granted, nb_reserved_inside;
	struct weir_sched_stats stats;
	struct sched_queue_counts queues[WEIR_SCHED_QUEUES_MAX];
	enum bug bug;
	uint64_t nb_taken;
	uint64_t groups[WEIR_SCHED_GROUPS_MAX]; /* as they were set: no dequeue sees two of them */
};

extern const struct weir_sched_port_ops model_ops;

static inline struct model *
model_of(struct weir_sched *sched)
{
	return sched->own;
}

/* Is it an event that may be inside? */
bool model_is_valid(struct weir_sched *sched, const struct rte_event *event);

/* A NEW event has a credit. Under the lock. */
void model_enter(struct weir_sched *sched, const struct rte_event *event, bool reserved);

#endif
