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
 * Flows are divided among shards for good; each port that dequeues owns one. Who has a shard's lock is its scheduler: its owner as a
 * rule, idle ports when it is busy. Events come to a shard by rings, one for each port and for each shard: nobody waits to
 * enqueue. Each ring has room for as many events as may be inside: it is never full.
 *
 * A line that two cores use costs 100 ns and more each time it changes hands. So rings are looked at seldom while they are busy
 * (look.c): events that come one by one, close together, are taken in bunches.
 *
 * A lane is what is known of a flow in a queue. Atomic: idle, ready (its first event is in a ready list), or held by a port;
 * further events wait in it. Ordered: a list of places in the order of dispatch; who completes the first one sends on all that are
 * complete, by the shard's own rings, so their order is that of one ring.
 *
 * Order between rings. Events of a flow come by several rings only if the flow before was held by several ports: by its
 * owner, which uses its ring, and by thieves. A thief's events are put into the shard of their flow under its lock, after all
 * that its rings hold: what the owner had sent before is there by then, and what it will send comes later.
 *
 * Locks never nest.
 *
 *      builtin.c  made, started, stopped      shard.c  lanes, ready lists, places      port.c  enqueue, dequeue
 *      look.c     when to look where          credit.c                                 switch.c, builtin_stats.c
 */

#include "ring.h"
#include "sched_private.h"

/* Numbers of list nodes and places begin at 1: memory that was never touched is an empty lane. */
#define NONE 0

enum lane_state { LANE_IDLE, LANE_READY, LANE_HELD };

struct lane {
	uint32_t first, last; /* events that wait; ordered: places */
	uint32_t nb_held;
	uint16_t state;
	uint16_t port; /* that holds it */
};

enum place_state { PLACE_OUT, PLACE_FORWARDED };

/* An ordered event's place among those of its flow. */
struct place {
	struct rte_event event; /* what it became */
	uint32_t next, previous;
	uint32_t state;
};

/* Events of a priority and group that could go to a port now. */
struct ready {
	uint32_t first, last;
};

struct shard {
	uint32_t lock __attribute__((aligned(64)));

	/* What others may know without the lock, and priorities that were sent since it was looked at, where there are several. */
	uint32_t arrived __attribute__((aligned(64)));
	uint32_t nb_hint;         /* events that are ready, or in its rings when it looked last */
	uint32_t priorities_hint; /* that are ready */
	uint64_t groups_hint;     /* that are ready */

	/* What its owner did: for who has nothing to do. */
	uint32_t nb_polls __attribute__((aligned(64))); /* how often it came */
	uint32_t nb_taken;                              /* events that it took */

	struct builtin *builtin __attribute__((aligned(64)));
	struct ring *rings; /* nb_ports + nb_shards: in */
	unsigned int nb_rings;
	unsigned int id;
	unsigned int owner;       /* port */
	struct rte_event *events; /* nodes of lists */
	uint32_t *next;
	uint32_t free, nb_used; /* nodes given back; ever taken */
	uint32_t nb_ready;
	uint32_t nb_in_rings; /* when they were looked at last */
	unsigned int ring;    /* that is taken from */
	uint32_t ready_priorities;
	uint32_t
		next_of_owner; /* event of the flow that the owner had last, whose lines are in its cache */
	uint32_t nb_next;       /* events that it got so, in a row */
	uint64_t now;           /* cycles: when the clock was read last */
	uint64_t look_at;       /* cycles: not before */
	uint64_t found_at;      /* cycles: when the rings gave something */
	bool is_busy;           /* they give more often than they are looked at */
	uint32_t nb_since_look; /* events taken */
	uint64_t sent_to;       /* shards whose rings got events that are not published yet */
	uint32_t sent_priorities;
	struct place *places;
	uint32_t free_place, nb_places;
	uint32_t nb_passed
		[WEIR_SCHED_PRIORITIES]; /* events of higher priority since one of this was taken */
	uint8_t last_group[WEIR_SCHED_PRIORITIES];    /* groups take turns */
	struct ring *rings_out[WEIR_SCHED_PORTS_MAX]; /* its own one in each shard */
	uint64_t ready_groups[WEIR_SCHED_PRIORITIES];
	struct ready ready[WEIR_SCHED_PRIORITIES][WEIR_SCHED_GROUPS_MAX];
};

enum held_kind { HELD_NOT, HELD_PARALLEL, HELD_ATOMIC, HELD_ORDERED };

/* What a port holds. */
struct held {
	uint8_t kind;
	uint8_t shard;
	bool reserved;  /* its credit is */
	bool foreign;   /* atomic, of another one's shard */
	bool ending;    /* it is in the list of those that are given up */
	bool forwarded; /* ordered: its place has what it became */
	uint32_t place;
	struct lane *lane;
};

/* What an idle port saw of another one's shard. */
struct seen {
	uint64_t at; /* cycles: since when it has not been polled */
	uint32_t nb_polls, nb_taken;
};

struct builtin_port {
	struct weir_sched_port base;
	struct builtin *builtin;
	struct shard *own; /* NULL: a producer */
	unsigned int own_id;
	int32_t credits;
	uint16_t nb_held, nb_max;
	uint16_t nb_free; /* numbers in free[] */
	uint16_t nb_ending;
	bool implicit;
	uint32_t nb_calls; /* of dequeue */
	uint32_t nb_idle;  /* dequeues that got nothing, in a row */
	uint32_t
		nb_elsewhere; /* events taken elsewhere since the last ones of its own, for their priority */
	const struct shard *higher;  /* that has something of higher priority than its own, */
	uint32_t higher_polls;       /* had been polled so often */
	uint64_t look_for_higher_at; /* cycles: not before, where there is slack */
	unsigned int victim;         /* shard that is looked at next */
	uint64_t look_at;            /* cycles: not before */
	uint64_t touched;            /* shards whose rings got events that are not published yet */
	uint64_t groups;             /* that it serves, read under the lock it takes events under */
	struct weir_sched_stats counts __attribute__((aligned(64))); /* its thread writes */
	uint64_t nb_looks, nb_sleeps;
	uint32_t asleep __attribute__((aligned(64))); /* others wake it */
	uint8_t free[256] __attribute__((aligned(64)));
	uint8_t ending[256]; /* held numbers that are given up at the end of this call */
	struct held held[256];
	struct ring *rings[WEIR_SCHED_PORTS_MAX]; /* its own one in each shard */
	struct seen seen[WEIR_SCHED_PORTS_MAX];
	uint8_t sent_priorities[WEIR_SCHED_PORTS_MAX]; /* by shard: of what is not published yet */
} __attribute__((aligned(64)));

/*
 * Flows are divided among shards by their class, the lowest bits (with the next ones mixed in, as flows may all be multiples of something).
 * Lanes of a class lie together, so that no two shards use one line.
 */
#define NB_CLASSES      256
#define LANES_PER_CLASS 4 /* at least: a line */

/* Its flows are divided anew when its group changes, until there was an event in it. */
enum queue_state { QUEUE_NONE, QUEUE_UNUSED, QUEUE_DIVIDED, QUEUE_USED };

/* What has to be known of a queue for each event. */
struct queue_info {
	uint8_t type;
	uint8_t priority;
	uint8_t group;
	uint8_t state;
};

struct builtin {
	struct weir_sched *sched;
	struct builtin_port *ports; /* nb_ports */
	struct shard *shards;
	unsigned int nb_shards;
	uint8_t (*shard_of)[NB_CLASSES]; /* [queue] */
	struct lane *lanes;              /* [queue][atomic, ordered][flow] */
	uint64_t *port_groups;           /* by port: groups that it serves */
	uint32_t flow_mask;
	uint32_t class_mask;
	uint32_t class_bits;    /* of a flow */
	uint32_t in_class_bits; /* of a flow: the rest */
	int32_t quantum;        /* credits that a port takes at a time */
	uint32_t gap;           /* cycles between looks at rings that give much */
	uint32_t away; /* cycles without a poll after which a port's events are taken over */
	uint64_t
		slack; /* cycles that a shard's owner has for what is of higher priority than others' */
	uint32_t priorities_used; /* ever, since it was started */
	struct queue_info queues[256];
	int32_t inside __attribute__((aligned(64)));   /* credits taken, ports' own included */
	int32_t reserved __attribute__((aligned(64))); /* reserved credits that are left */
	int32_t granted; /* reserved credits that were given out, and not used */
	uint64_t nb_new __attribute__((aligned(64))); /* by threads without a port */
	uint64_t asleep __attribute__((aligned(64))); /* ports that are, about so */
};

/* By the port's thread; others read both, to tell people. */
static inline void
port_set_held(struct builtin_port *port, unsigned int nb)
{
	__atomic_store_n(&port->nb_held, (uint16_t)nb, __ATOMIC_RELAXED);
}

static inline void
port_set_credits(struct builtin_port *port, int32_t nb)
{
	__atomic_store_n(&port->credits, nb, __ATOMIC_RELAXED);
}

/* A number to hold an event by. There is always one: dequeue asks for no more. */
static inline uint8_t
port_hold(struct builtin_port *port)
{
	port_set_held(port, port->nb_held + 1u);
	return port->free[--port->nb_free];
}

static inline uint8_t
event_priority(const struct builtin *builtin, const struct rte_event *event)
{
	uint8_t priority = builtin->queues[event->queue_id].priority;

	return priority == WEIR_SCHED_PRIORITY_BY_EVENT ? event->priority / 32 : priority;
}

static inline uint8_t
event_type(const struct builtin *builtin, const struct rte_event *event)
{
	uint8_t type = builtin->queues[event->queue_id].type;

	return type == WEIR_SCHED_TYPE_BY_EVENT ? event->sched_type : type;
}

static inline uint32_t
flow_class(const struct builtin *builtin, uint32_t flow)
{
	return (flow ^ flow >> builtin->class_bits) & builtin->class_mask;
}

static inline struct lane *
event_lane(struct builtin *builtin, const struct rte_event *event, uint8_t type)
{
	size_t set = (size_t)event->queue_id * 2 + (type == RTE_SCHED_TYPE_ORDERED);
	uint32_t flow = event->flow_id & builtin->flow_mask;

	return &builtin->lanes[set * (builtin->flow_mask + 1) +
			       ((flow_class(builtin, flow) << builtin->in_class_bits) |
				       flow >> builtin->class_bits)];
}

/* The number of its flow's shard. */
static inline unsigned int
event_shard(const struct builtin *builtin, const struct rte_event *event)
{
	return builtin->shard_of[event->queue_id]
				[flow_class(builtin, event->flow_id & builtin->flow_mask)];
}

/* builtin.c: from now on it is used. @return false: there is no such queue */
bool queue_use(struct builtin *builtin, uint8_t queue);

static inline bool
is_valid(struct builtin *builtin, const struct rte_event *event)
{
	const struct queue_info *queue = &builtin->queues[event->queue_id];

	if (unlikely(__atomic_load_n(&queue->state, __ATOMIC_ACQUIRE) != QUEUE_USED) &&
		!queue_use(builtin, event->queue_id))
		return false;
	return event_type(builtin, event) <= RTE_SCHED_TYPE_PARALLEL;
}

static inline bool
has_several_priorities(const struct builtin *builtin)
{
	uint32_t used = __atomic_load_n(&builtin->priorities_used, __ATOMIC_RELAXED);

	return (used & (used - 1)) != 0;
}

/* Who publishes tells of which priority it was: where these are strict, somebody may have to come for it at once. */
static inline bool
tells_priorities(const struct builtin *builtin)
{
	return has_several_priorities(builtin) && builtin->slack == 0;
}

/* rte_event::rsvd, while an event is inside: its credit is a reserved one. */
#define RESERVED_MARK 1

/* shard.c, all but the first two under the lock */
void shard_lock(struct shard *shard);
bool shard_trylock(struct shard *shard);
void shard_unlock(struct shard *shard);
void shard_arrive(struct shard *shard, const struct rte_event *event);
uint32_t shard_look_at_ring(struct shard *shard, unsigned int ring); /* how many more there are */
uint32_t shard_look(struct shard *shard);                            /* at all rings */
void shard_drain(struct shard *shard,
	uint32_t most);                    /* of each ring so many that were seen go to the lists */
void shard_drain_all(struct shard *shard); /* look, and drain */
void shard_release(struct shard *shard, struct lane *lane, bool by_owner);
void shard_share_next(struct shard *shard); /* it can go to others, too */
uint32_t shard_waiting(const struct shard *shard);
void shard_complete(struct shard *shard, const struct held *held);
void shard_empty_ready(
	struct shard *shard, void (*drain)(void *arg, const struct rte_event *event), void *arg);
void shard_empty_lane(struct shard *shard, struct lane *lane,
	void (*drain)(void *arg, const struct rte_event *event), void *arg);
void shard_empty_places(struct shard *shard, struct lane *lane,
	void (*drain)(void *arg, const struct rte_event *event), void *arg);
void shard_reset(struct shard *shard);

/* take.c, under the lock; of @priorities only */
uint16_t shard_take(struct shard *shard, struct builtin_port *port, struct rte_event *events,
	uint16_t nb, uint32_t priorities);

uint16_t take_next_of_owner(
	struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb);
uint16_t take_from_rings(
	struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb);

/* port.c */
extern const struct weir_sched_port_ops builtin_ops;
void port_forget(struct builtin_port *port, uint8_t number);
bool port_holds(const struct builtin_port *port, uint8_t number);
int builtin_switch(
	struct weir_sched_port *base, struct rte_event *event, uint32_t flow, uint8_t type);
void builtin_insert(struct builtin *builtin, const struct rte_event *event);

/* look.c */
bool look_is_vain(const struct shard *shard);
void look_if_due(struct shard *shard);
void look_at_rings(struct shard *shard, uint16_t wanted);
uint16_t look_for_higher(struct builtin_port *port, struct rte_event *events, uint16_t nb);
uint16_t look_elsewhere(
	struct builtin_port *port, struct rte_event *events, uint16_t nb, bool idle);

/* sleep.c */
void port_sleep(struct builtin_port *port);
void shard_wake(struct shard *shard);

/* credit.c */
bool credit_take(struct builtin_port *port);
void credit_put(struct builtin_port *port, bool reserved);
void credit_flush(struct builtin_port *port);
uint32_t builtin_reserve(struct weir_sched *sched, uint32_t nb);
void builtin_unreserve(struct weir_sched *sched, uint32_t nb);
bool credit_use_reserved(struct builtin *builtin);

/* builtin_stats.c */
void builtin_stats(const struct weir_sched *sched, struct weir_sched_stats *stats);
void builtin_xstats(const struct weir_sched *sched, enum weir_sched_part part, unsigned int which,
	struct sched_xstats *to);
void builtin_dump(struct weir_sched *sched, FILE *file);

/* Something was published for a shard: of which priorities. */
static inline void
announce(struct builtin *builtin, unsigned int shard, uint32_t priorities)
{
	if (tells_priorities(builtin)) {
		uint32_t *arrived = &builtin->shards[shard].arrived;

		/* Who clears the word looks at the rings then: what was published is there, or the word is set again. */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if ((__atomic_load_n(arrived, __ATOMIC_RELAXED) & priorities) != priorities)
			__atomic_fetch_or(arrived, priorities, __ATOMIC_SEQ_CST);
	}
	if (__atomic_load_n(&builtin->asleep, __ATOMIC_RELAXED) != 0)
		shard_wake(&builtin->shards[shard]);
}

/* Only one thread writes: no need of an instruction that locks. */
static inline void
count(uint64_t *counter, uint64_t more)
{
	__atomic_store_n(
		counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + more, __ATOMIC_RELAXED);
}

#endif
