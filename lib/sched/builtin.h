/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_BUILTIN_H
#define SCHED_BUILTIN_H

/*
 * The builtin scheduler: no central core.
 *
 *      port 0 --ring--\                /--> lane (queue, flow) --\
 *      port 1 --ring---> shard 0 -----+---> lane                  +--> ready, by priority and group --> port 0
 *      shard 1 -ring--/   lock         \--> lane                 /                                      (or a thief)
 *
 * Flows are divided among shards for good; each consuming port owns one. Who has a shard's lock is its scheduler: its owner as a rule,
 * idle ports when it is busy. Events come to a shard by rings, one for each port and for each shard: nobody waits to enqueue. The
 * rings hold as many events as may be inside, so they are never full.
 *
 * A lane is what is known of a flow in a queue. Atomic: idle, ready (its first event is in a ready list), or held by a port; further
 * events wait in it. Ordered: a list of places in the order of dispatch; who completes the first one sends on all that are complete, by
 * the shard's own rings, so their order is that of one ring.
 *
 * Order between rings. Events of a flow may come by several rings only if the flow before was held by several ports: by its
 * owner, which uses its ring, and by thieves. A thief's events are put into the shard of their flow under its lock, after all that
 * its rings hold: what the owner had sent before is there by then, and what it will send comes later.
 *
 * Locks never nest.
 */

#include "sched_private.h"

#define NONE UINT32_MAX

/* One producer, one consumer at a time (who has the shard's lock). */
struct ring {
	uint32_t tail __attribute__((aligned(64))); /* the producer's: published */
	uint32_t fill;                              /* the producer's own: not published yet */
	uint32_t head __attribute__((aligned(64))); /* the consumer's */
	struct rte_event *slots __attribute__((aligned(64)));
};

enum lane_state { LANE_IDLE, LANE_READY, LANE_HELD };

struct lane {
	uint32_t first, last; /* events that wait; ordered: places */
	uint16_t nb_held;
	uint8_t state;
	uint8_t port; /* that holds it */
};

enum place_state { PLACE_OUT, PLACE_FORWARDED, PLACE_RELEASED };

/* An ordered event's place among those of its flow. */
struct place {
	struct rte_event event; /* what it became */
	uint32_t next;
	uint32_t state;
};

/* Events of a priority and group that could go to a port now. */
struct ready {
	uint32_t first, last;
};

struct shard {
	uint32_t lock __attribute__((aligned(64)));
	/* What others may know without the lock: priorities that are ready, how many events. */
	uint32_t hint __attribute__((aligned(64)));
	uint32_t served; /* how often its owner came and took some */
	uint32_t
		arrived; /* priorities that were sent since it was drained: where there are several */

	struct builtin *builtin __attribute__((aligned(64)));
	unsigned int id;
	struct ring *rings; /* nb_ports + nb_shards: in */
	unsigned int nb_rings;
	struct rte_event *events; /* nodes of lists */
	uint32_t *next;
	uint32_t free, nb_used; /* nodes given back; ever taken */
	uint32_t nb_ready;
	struct place *places;
	uint32_t free_place, nb_places;
	uint32_t ready_priorities;
	uint32_t nb_passed; /* events since one of lower priority was taken */
	uint64_t ready_groups[WEIR_SCHED_PRIORITIES];
	struct ready ready[WEIR_SCHED_PRIORITIES][WEIR_SCHED_GROUPS_MAX];
};

enum held_kind { HELD_NOT, HELD_PARALLEL, HELD_ATOMIC, HELD_ORDERED };

/* What a port holds. */
struct held {
	uint8_t kind;
	uint8_t shard;
	bool reserved; /* its credit is */
	bool foreign;  /* atomic, of another one's shard */
	uint32_t place;
	struct lane *lane;
};

struct builtin_port {
	struct weir_sched_port base;
	struct builtin *builtin;
	struct shard *own; /* NULL: a producer */
	int32_t credits;
	uint16_t nb_held, nb_max;
	uint16_t nb_free; /* numbers in free[] */
	bool implicit;
	uint32_t calls; /* of dequeue */
	uint32_t idle;  /* dequeues that got nothing, in a row */
	unsigned int victim;
	uint32_t served, unserved; /* of the victim: its count; looks since it changed */
	uint8_t free[256];
	struct held held[256];
	struct weir_sched_stats stats __attribute__((aligned(64)));
} __attribute__((aligned(64)));

struct builtin {
	struct weir_sched *sched;
	struct builtin_port *ports; /* nb_ports */
	struct shard *shards;
	unsigned int nb_shards;
	uint8_t *shard_of;     /* [queue][flow] */
	struct lane *lanes;    /* [queue][atomic, ordered][flow] */
	uint64_t *port_groups; /* by port: groups that it serves */
	uint32_t flow_mask, event_mask;
	bool several_priorities;
	int32_t quantum;                               /* credits that a port takes at a time */
	int32_t inside __attribute__((aligned(64)));   /* credits taken, ports' own included */
	int32_t reserved __attribute__((aligned(64))); /* reserved credits that are left */
	uint64_t nb_new __attribute__((aligned(64)));  /* by threads without a port */
};

static inline uint8_t
event_priority(const struct builtin *builtin, const struct rte_event *event)
{
	uint8_t priority = builtin->sched->queues[event->queue_id].priority;

	return priority == WEIR_SCHED_PRIORITY_BY_EVENT ? event->priority / 32 : priority;
}

static inline uint8_t
event_type(const struct builtin *builtin, const struct rte_event *event)
{
	uint8_t type = builtin->sched->queues[event->queue_id].type;

	return type == WEIR_SCHED_TYPE_BY_EVENT ? event->sched_type : type;
}

static inline struct lane *
event_lane(struct builtin *builtin, const struct rte_event *event, uint8_t type)
{
	size_t set = (size_t)event->queue_id * 2 + (type == RTE_SCHED_TYPE_ORDERED);

	return &builtin->lanes[set * (builtin->flow_mask + 1) +
			       (event->flow_id & builtin->flow_mask)];
}

static inline struct shard *
event_shard(struct builtin *builtin, const struct rte_event *event)
{
	size_t flow = (size_t)event->queue_id * (builtin->flow_mask + 1) +
		      (event->flow_id & builtin->flow_mask);

	return &builtin->shards[builtin->shard_of[flow]];
}

/* rte_event::rsvd, while an event is inside: its credit is a reserved one. */
#define RESERVED_MARK 1

/* shard.c, all but the first two under the lock */
void shard_lock(struct shard *shard);
bool shard_trylock(struct shard *shard);
void shard_unlock(struct shard *shard);
void shard_arrive(struct shard *shard, const struct rte_event *event);
void shard_drain(struct shard *shard); /* all that its rings hold */
uint16_t shard_take(
	struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb);
uint16_t shard_take_from_rings(
	struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb);
void shard_release(struct shard *shard, struct held *held);
void shard_complete(
	struct shard *shard, struct held *held, const struct rte_event *event); /* NULL: released */
bool shard_rings_empty(const struct shard *shard);
void shard_empty(
	struct shard *shard, void (*drain)(void *arg, const struct rte_event *event), void *arg);

/* port.c */
extern const struct weir_sched_port_ops builtin_ops;
uint8_t port_hold(struct builtin_port *port, struct held held);

/* Without the lock: by a ring's producer. */
static inline void
ring_put(const struct builtin *builtin, struct ring *ring, const struct rte_event *event)
{
	ring->slots[ring->fill++ & builtin->event_mask] = *event;
}

static inline void
ring_publish(struct ring *ring)
{
	__atomic_store_n(&ring->tail, ring->fill, __ATOMIC_RELEASE);
}

/* By who has the shard's lock; others may look. */
static inline void
ring_advance(struct ring *ring, uint32_t head)
{
	if (ring->head != head)
		__atomic_store_n(&ring->head, head, __ATOMIC_RELAXED);
}

/* Only one thread writes: no need of an instruction that locks. */
static inline void
count(uint64_t *counter, uint64_t more)
{
	__atomic_store_n(
		counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + more, __ATOMIC_RELAXED);
}

#endif
