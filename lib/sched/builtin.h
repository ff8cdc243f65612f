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
 * Flows are divided among shards; they change to another one where a shard's owner does not get through what it has, or does not come (move.c).
 * Each port that dequeues owns a shard, and those of ports that do not come (owner.c). Who has a shard's lock is its scheduler: its
 * owner as a rule, idle ports when it is busy. Events come to a shard by rings, one for each port and for each shard, and of these one for
 * each priority that queues have: nobody waits to enqueue. Each ring has room for as many events as may be inside: it is never full.
 *
 * A line that two cores use costs 100 ns and more each time it changes hands. So rings are looked at seldom while they are busy
 * (look.c): events that come one by one, close together, are taken in bunches.
 *
 * A lane is what is known of a flow in a queue. Atomic: idle, ready (its first event is in a ready list), or held by a port;
 * further events wait in it. Ordered: a list of places in the order of dispatch; who completes the first one sends on all that are
 * complete, by the shard's own rings, so their order is that of one ring.
 *
 * Order between rings. Events of a flow come by several rings only if the flow before was held by several ports: by its shard's
 * sender, who is its owner and uses its ring, and by others. Their events are put into the shard of their flow under its lock, after all
 * of that flow that the rings of ports hold there which may be senders: what the sender had sent before is there by then, and what it will send
 * comes later. How another port becomes the sender: owner.c.
 *
 * While nobody but a shard's owner has any of its flows, which these are need not be in their lanes: unmarked.h. One that has a mark, and that the port at
 * home there gives back by a forward alone, is written into another ring of the shard (returned.h); who has the lock next takes it back, before all else.
 *
 * Locks never nest, but for those of a port that moves flows: move_flows.c.
 *
 *      builtin.c   made, started, stopped      shard.c, shard.h  lanes, ready lists; places.c: order
 *      single.c, burst.c, enqueue.c, with      one_by_one.h, as_before.h, short_way.c, dequeue.c, take.c,
 *                  alike.h, plain.h, foreign.c look.c: when to look where, higher.c, help.c, steal.c (other shards)
 *      owner.c     who serves which shard      held.h, unmarked.h, ending.c: what ports hold
 *      move.c      flows that change shards,   balance.c         when one port has more to do than others
 *                  with move_flows.c,          gather.c          and when ports do not come
 *                  move_waiting.c
 *      tell.h      what others are told of a shard; priority.h: which priorities are used
 *      bias.h      a shard's lock, by its owner, without atomic instructions; own_lock.h: where
 *      level.c     which rings a queue's events go by; take_levels.c: what is taken of them where there are several priorities
 *      credit.c, switch.c, sleep.c, builtin_stats.c
 */

#include "bias.h"
#include "port_ending.h"
#include "port_move.h"
#include "returned.h"
#include "ring.h"
#include "sched_private.h"
#include "weir_base_nodes.h"

/*
 * Senders have a ring in a shard for each priority that queues have, so that what is urgent is not behind what is not; and one for what queues
 * leave to their events. These levels are numbered as they come into use: mostly there is only the first one.
 */
#define LEVELS_MAX  (WEIR_SCHED_PRIORITIES + 1)
#define SENDERS_MAX (2 * WEIR_SCHED_PORTS_MAX)

/* Numbers of list nodes and places begin at 1: memory that was never touched is an empty lane. */
#define NONE 0

/* What becomes of a lane's next event. LANE_HELD and more: it waits for the port of that number, from LANE_HELD on. */
enum lane_state {
	LANE_IDLE,
	LANE_READY, /* in a list */
	LANE_HELD,
};

struct lane {
	uint32_t first; /* event that waits; ordered: place */
	uint32_t last;  /* if there is a first one */
	uint32_t nb_held;
	uint32_t state;
};

static inline uint32_t
lane_held_by(unsigned int port)
{
	return LANE_HELD + port;
}

enum place_state { PLACE_OUT, PLACE_FORWARDED };

/* An ordered event's place among those of its flow. */
struct place {
	struct rte_event event; /* what it became */
	uint32_t next;
	uint32_t state;
	uint32_t previous; /* unless it is the first one */
};

/* Of the events that an owner has by a look at its rings so many are remembered, one of so many looks. */
#define LATELY      32
#define LATELY_PART 8

/* Events of a priority and group that could go to a port now. */
struct ready {
	uint32_t first, last;
};

struct shard {
	uint32_t lock __attribute__((aligned(64)));
	/* Under it: events of the ring whose turn it is that its owner can have one by one with nothing else asked (one_by_one.h), 0 when others had it. */
	uint32_t at_once;
	struct bias bias;

	/* What others may know without the lock, and priorities that were sent since it was looked at, where there are several. */
	uint32_t arrived __attribute__((aligned(64)));
	uint32_t nb_hint; /* about how many are ready, or in its rings when it looked last */
	uint32_t priorities_hint; /* that are ready */
	uint32_t next_hint;       /* is there an event of the flow that the owner had last? */
	uint32_t being_taken; /* are in rings, or had arrived: maybe not in priorities_hint yet */
	uint32_t nb_stolen;   /* so often did other ports take events over */

	/* What its owner did: for who has nothing to do. */
	uint32_t nb_polls __attribute__((aligned(64))); /* how often it came */
	uint32_t nb_taken;                              /* events that it took; */
	uint32_t nb_noted;      /* for so many looks it was noted what that was, */
	uint8_t lately[LATELY]; /* classes of some of the last ones of these */

	struct returned
		returned; /* lanes that its home port gave back, for who has the lock next */

	/* What changes seldom, if ever: who looks at the shard reads this line each time, and who serves it, too. */
	uint64_t groups __attribute__((aligned(64))); /* of queues that have flows here */
	uint64_t all_groups;                          /* of all queues */
	struct builtin *builtin;
	struct ring *rings; /* [level][nb_senders]: in */
	uint16_t nb_rings;  /* of all levels */
	uint8_t nb_senders, sender_id;
	uint16_t id;
	uint16_t home;                                /* port that owns it if that comes */
	uint32_t owner;                               /* port that serves it; others read it */
	uint64_t used[LEVELS_MAX * SENDERS_MAX / 64]; /* rings that ever got an event */
	uint64_t
		deserted_at; /* cycles: since when who adopted it has it, as its home port does not come; 0: that comes */
	bool is_gathered; /* its flows may have gone elsewhere meanwhile */

	/* Of who has the lock; this and the lines that follow are in its cache, but for what thieves do. */
	uint32_t sender __attribute__((
		aligned(64))); /* port by whose rings goes what follows from its atomic events */
	uint32_t nb_marked;    /* atomic events that are held, as their lanes have it, */
	uint32_t
		nb_unmarked; /* and so many more, by its owner alone, and ordered ones: unmarked.h */
	uint32_t nb_ready;
	struct rte_event *events; /* nodes of lists */
	uint32_t *next;
	uint32_t free, nb_used; /* nodes given back; ever taken */
	struct ring *turn;      /* that is taken from, */
	uint32_t turn_left;     /* so many more, before others have their turn */
	bool turn_is_own;       /* its owner sent it to itself, or the shard did; */
	bool turn_is_long;      /* or there is no other one */
	uint32_t ready_priorities;
	uint32_t next_of_owner; /* event of the flow that the owner had last: in its cache */
	uint32_t nb_next;       /* events that it got so, in a row */
	uint64_t now;           /* cycles: when the clock was read last */
	uint64_t look_at;       /* cycles: not before */
	uint64_t found_at;      /* cycles: when the rings gave something */
	uint64_t sent_to;       /* shards whose rings got events that are not published yet, */
	uint32_t sent;          /* which are of these: SENT_LEVELS */
	bool is_busy;           /* rings give more often than they are looked at */
	uint32_t nb_since_look; /* events taken */
	uint32_t gave;          /* ring that gave something when they were looked at last */
	uint32_t
		more_levels; /* level_bits() of those but for the first one that have something in rings, */
	uint32_t in_more_levels; /* so many, */
	uint32_t in_rings
		[LEVELS_MAX]; /* and of each, when they were looked at last: mostly the first one only */
	struct place *places;
	uint32_t free_place, nb_places, nb_placed; /* given back; ever taken; taken now */
	uint64_t known[LEVELS_MAX];                /* shards that know of its ring there */
	uint32_t nb_passed
		[WEIR_SCHED_PRIORITIES]; /* events of higher priority since one of this was taken */
	uint8_t last_group[WEIR_SCHED_PRIORITIES];                /* groups take turns */
	uint16_t next_ring[LEVELS_MAX];                           /* of each level rings do */
	struct ring *rings_out[LEVELS_MAX][WEIR_SCHED_PORTS_MAX]; /* its own one in each shard */
	/* Groups that have something ready of a priority. Others read it. */
	uint64_t ready_groups[WEIR_SCHED_PRIORITIES] __attribute__((aligned(64)));
	struct ready ready[WEIR_SCHED_PRIORITIES][WEIR_SCHED_GROUPS_MAX];
};

/* Instead of a shard's number. */
#define NO_SHARD UINT8_MAX

/* Instead of a port: what follows from a shard's atomic events goes to where it is for under the lock. */
#define NO_SENDER UINT32_MAX

enum held_kind { HELD_NOT, HELD_PARALLEL, HELD_ATOMIC, HELD_ORDERED };

enum held_flag {
	HELD_RESERVED = 1,  /* its credit is */
	HELD_FOREIGN = 2,   /* atomic, of a shard whose sender is another one */
	HELD_FORWARDED = 4, /* of those that end (ending.h): it goes on, and was not released */
	HELD_BY_WORD = 8,   /* its flow is that of this word, instead of a lane (unmarked.h) */
};

/* What a port holds. */
struct held {
	union {
		struct lane *lane;
		uint64_t word; /* parallel; or HELD_BY_WORD, until an ordered one is marked */
	};
	uint32_t place;
	union {
		struct {
			uint8_t kind;
			uint8_t shard;
			uint8_t flags;
			uint8_t unused;
		};
		uint32_t how; /* all of these */
	};
};

static inline uint32_t
held_how(uint8_t kind, unsigned int shard, uint8_t flags)
{
	return kind | shard << 8 | (uint32_t)flags << 16;
}

/* By its port: it is not held any more. Who marks what is held so (unmarked.h) may look at it just then. */
static inline void
held_end(struct held *held)
{
	__atomic_store_n(&held->how, held_how(HELD_NOT, 0, 0), __ATOMIC_RELAXED);
}

/* Events that a port puts in under a lock, at a time. */
#define FOREIGN_MAX 32

/*
 * Also when there is work, so rarely a port looks elsewhere, where nobody else may come; every other call if they take long. While all of them take less than
 * a gap (builtin->gap), not even then; so they are more than those of a long turn, after which the clock is read.
 */
#define CALLS_PER_LOOK 128

/* What comes next is known to who takes single events, or to who takes bursts. */
enum knows { KNOWS_NOT, KNOWS_SINGLE, KNOWS_BURST };

/* No event's type. */
#define NO_TYPE (UINT8_MAX - 1)

/* How the next events may be held that are as the last one, while the port has its shard by bias: as_before.h */
struct port_before {
	uint32_t how;
	uint8_t type;   /* NO_TYPE: they may not, or it has it not by bias */
	uint64_t stamp; /* word_stamp() */
};

struct builtin_port {
	struct weir_sched_port base;
	struct builtin *builtin;
	struct shard *own;   /* whose turn it is; NULL: a producer */
	uint8_t own_id;      /* NO_SHARD: none */
	uint32_t nb_of_turn; /* events, and some for each call */
	struct shard *home;  /* its own while it comes, */
	uint64_t home_bit;   /* as a bit */
	uint64_t served;     /* shards that are its own, but for those that others took since, */
	uint64_t resting;    /* but whose flows have all come to its home one: looked at seldom, */
	uint64_t rest_at;    /* cycles: not before */
	int32_t credits;
	int32_t most_credits; /* so many may lie with it at most, */
	bool takes_credits;   /* which is its part of builtin->may_lie if it does */
	uint16_t nb_held, nb_max;
	uint16_t nb_foreign;
	uint8_t holder;           /* in the events that it holds */
	uint8_t next_free;        /* in free[] */
	uint8_t first_handed_out; /* with the last dequeue, and may be held yet */
	bool implicit;
	uint8_t unmarked_after; /* so often flows are given back yet: unmarked.h */
	bool leaves_unmarked;   /* single ones, too, with what it knows of them */
	uint8_t knows_next;     /* enum knows: it noted shard::at_once, which may be 0 by now */
	struct port_bias bias;
	struct port_before before;
	uint32_t nb_calls;     /* of dequeue, until it looks elsewhere, */
	uint32_t nb_calls_max; /* of so many, */
	uint64_t calls_since;  /* cycles: which began then */
	uint32_t nb_idle;      /* dequeues that got nothing, in a row */
	uint32_t
		nb_elsewhere; /* events taken elsewhere for their priority since it took own ones */
	uint32_t
		own_passed; /* events that had passed what was left waiting of its own then, at most */
	uint32_t own_highest; /* of its own priorities when it looked, as a bit */
	uint32_t
		elsewhere_highest; /* likewise, of all other shards; beyond all: none, or not looked at */
	uint64_t look_for_higher_at; /* cycles: not before, where there is slack */
	unsigned int
		unasked_for_higher; /* shard that is looked at then although nobody told of it */
	unsigned int last_shard;    /* that it looked at */
	unsigned int unasked;       /* shard that is looked at next although nobody told of it, */
	uint64_t unasked_at;        /* cycles: not before */
	uint64_t claims;            /* claims_forwarded() of its holder */
	uint64_t touched;           /* shards whose rings got events that are not published yet */
	uint64_t groups;            /* that it served when it looked for what was ready */
	uint32_t moves_seen; /* builtin->nb_moves when it looked for what was of higher priority */
	struct port_move move;      /* classes of flows that go to other shards */
	uint64_t known[LEVELS_MAX]; /* shards that know of its ring there */
	struct port_gather gather;
	struct port_balance balance;
	struct weir_sched_stats counts __attribute__((aligned(64))); /* its thread writes */
	uint64_t nb_enqueued[WEIR_SCHED_QUEUES_MAX], nb_dequeued[WEIR_SCHED_QUEUES_MAX];
	uint64_t nb_looks, nb_sleeps, nb_taken_over, nb_moved;
	uint64_t idle_time;    /* cycles: it had nothing to do so long */
	uint64_t longest_move; /* cycles that all others may have waited */
	uint64_t idle_since;   /* cycles: it found nothing since */
	uint64_t idle_from;    /* cycles: it has had nothing of its own since, or nearly so, */
	uint64_t nb_own;       /* and so many before */
	uint32_t asleep __attribute__((aligned(64))); /* others wake it, */
	uint32_t is_wanted;                           /* or want it not to sleep next */
	uint64_t
		idle_at; /* cycles: found nothing, and goes on looking; 0: it is at work, or asleep */
	uint8_t free[256] __attribute__((aligned(64)));
	uint8_t handed_out[256];               /* held numbers, as free[] was */
	struct rte_event foreign[FOREIGN_MAX]; /* forwarded from HELD_FOREIGN; not put in yet */
	struct held held[256] __attribute__((aligned(64)));
	struct port_ending ending;
	struct ring *rings[LEVELS_MAX][WEIR_SCHED_PORTS_MAX]; /* its own one in each shard */
	struct seen seen[WEIR_SCHED_PORTS_MAX];
	uint32_t sent
		[WEIR_SCHED_PORTS_MAX]; /* by shard, of what is not published yet: SENT_LEVELS */
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
	uint8_t level;  /* of rings that its events go by */
	uint32_t sends; /* as far as all of its events do: SENT_LEVELS */
	uint8_t state;
	bool is_fixed;      /* events have no types and priorities of their own */
	bool is_plain;      /* it is in use, fixed, and its priority is known to be used */
	struct lane *lanes; /* atomic, ordered: of each flow */
	uint8_t *shard_of;  /* by class */
} __attribute__((aligned(32)));

struct builtin {
	struct weir_sched *sched;
	struct builtin_port *ports; /* nb_ports */
	struct shard *shards;
	unsigned int nb_shards;
	unsigned int nb_levels; /* that may come into use */
	uint64_t levels;        /* that did; and what these are: level.c */
	uint16_t level_bits[LEVELS_MAX];
	uint8_t level_of[LEVELS_MAX];
	bool may_stay;
	uint8_t (*shard_of)[NB_CLASSES]; /* [queue] */
	uint8_t (*divided)
		[NB_CLASSES];  /* [queue]: as they were divided, wherever they have gone to since */
	struct lane *lanes;    /* [queue][atomic, ordered][flow] */
	uint64_t *port_groups; /* by port: groups that it serves */
	uint32_t flow_mask;    /* of an event's first word: no more than rte_event::flow_id has */
	uint32_t class_mask;
	uint32_t class_bits;    /* of a flow */
	uint32_t in_class_bits; /* of a flow: the rest */
	int32_t lie_least; /* credits that may lie with each port, of none of which there is an event, */
	int32_t may_lie; /* and besides with all together */
	uint32_t gap;    /* cycles between looks at rings that give much */
	uint32_t slow;   /* cycles for an event after which who is idle helps with the next ones */
	uint32_t away;   /* cycles without a poll after which a port's events are taken over, */
	uint64_t patience;                       /* and its shards */
	uint8_t nb_served[WEIR_SCHED_PORTS_MAX]; /* by port: shards, about so */
	uint64_t
		slack; /* cycles that a shard's owner has for what is of higher priority than others' */
	uint64_t senders;         /* ports that may be a shard's */
	uint32_t priorities_used; /* ever, since it was started; and more: priority.h */
	uint32_t move;            /* which flows are to go to another shard: move.c */
	bool may_move;
	bool may_fence;
	uint64_t askable;         /* ports that have to answer */
	uint64_t move_asked_at;   /* cycles */
	uint64_t move_patience;   /* cycles */
	uint64_t fence_after;     /* cycles */
	uint64_t gather_after;    /* cycles: who has not come for so long does not come soon */
	uint64_t move_pause;      /* cycles, since nobody answered last, */
	uint64_t move_not_before; /* cycles: until then */
	uint32_t nb_moves;        /* so often did flows change shards: move_flows.c */
	/* Where there are several priorities, and these are strict (tells_priorities()): shards that may have something. Set by who tells of it,
	 * cleared under all locks (move_flows.c), so that nobody looks for what is of higher priority where no flows are any more. */
	uint64_t announced;
	uint64_t balance_period; /* cycles: ports compare themselves with others as often */
	int socket_id;           /* of its memory; -1: any */
	struct queue_info queues[256];
	int32_t inside __attribute__((aligned(64))); /* credits taken, ports' own included */
	int32_t may_lie_left;                        /* of may_lie, what is no port's yet */
	uint32_t nb_takers;                          /* ports that ever took or gave any */
	uint64_t reserved __attribute__((aligned(
		64))); /* reserved credits: left; shifted by CREDITS_GRANTED: given out, and not used */
	uint64_t nb_invalid __attribute__((aligned(64))); /* by threads without a port */
	uint64_t nb_new[WEIR_SCHED_QUEUES_MAX];           /* likewise, by queue */
	uint64_t asleep __attribute__((aligned(64)));     /* ports that are, about so */
	uint64_t
		waiting; /* shards that may have something: set by who put it there, cleared by who found nothing for long */
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

static inline uint8_t
event_priority(const struct builtin *builtin, uint64_t word)
{
	uint8_t priority = builtin->queues[word_queue(word)].priority;

	return priority == WEIR_SCHED_PRIORITY_BY_EVENT ? word_priority(word) / 32 : priority;
}

static inline uint8_t
event_type(const struct builtin *builtin, uint64_t word)
{
	uint8_t type = builtin->queues[word_queue(word)].type;

	return unlikely(type == WEIR_SCHED_TYPE_BY_EVENT) ? word_type(word) : type;
}

/* As it is remembered of what was sent until that is published: of which priorities it was, and by the rings of which levels it goes. */
#define SENT_LEVELS WEIR_SCHED_PRIORITIES

/* With an event of a queue. */
static inline uint32_t
event_sent(const struct queue_info *queue, uint64_t word)
{
	const uint32_t sends = __atomic_load_n(&queue->sends, __ATOMIC_RELAXED);

	if (likely(queue->priority != WEIR_SCHED_PRIORITY_BY_EVENT))
		return sends;
	return sends | 1u << word_priority(word) / 32;
}

static inline uint32_t
flow_class(const struct builtin *builtin, uint32_t flow)
{
	return (flow ^ flow >> builtin->class_bits) & builtin->class_mask;
}

static inline uint32_t
event_class(const struct builtin *builtin, uint64_t word)
{
	return flow_class(builtin, (uint32_t)word & builtin->flow_mask);
}

/* A queue's lanes of a type: where that of a flow is. */
struct lanes {
	struct lane *first;
	uint32_t flow_mask, class_bits, class_mask, in_class_bits;
};

static inline struct lanes
queue_lanes(const struct builtin *builtin, const struct queue_info *queue, uint8_t type)
{
	return (struct lanes){
		.first = queue->lanes +
			 (type == RTE_SCHED_TYPE_ORDERED ? builtin->flow_mask + 1 : 0),
		.flow_mask = builtin->flow_mask,
		.class_bits = builtin->class_bits,
		.class_mask = builtin->class_mask,
		.in_class_bits = builtin->in_class_bits,
	};
}

static inline struct lane *
lane_of(const struct lanes *lanes, uint64_t word)
{
	const uint32_t flow = (uint32_t)word & lanes->flow_mask, rest = flow >> lanes->class_bits;

	return &lanes->first[((flow ^ rest) & lanes->class_mask) << lanes->in_class_bits | rest];
}

static inline struct lane *
event_lane(const struct builtin *builtin, uint64_t word, uint8_t type)
{
	const struct lanes lanes = queue_lanes(builtin, &builtin->queues[word_queue(word)], type);

	return lane_of(&lanes, word);
}

/* The number of its flow's shard; it stays so while that is locked, the flow, an atomic one, held, or an event of it, an ordered one, out. */
static inline unsigned int
queue_shard(const struct builtin *builtin, const struct queue_info *queue, uint64_t word)
{
	return __atomic_load_n(&queue->shard_of[event_class(builtin, word)], __ATOMIC_ACQUIRE);
}

static inline unsigned int
event_shard(const struct builtin *builtin, uint64_t word)
{
	return queue_shard(builtin, &builtin->queues[word_queue(word)], word);
}

/* builtin.c: from now on it is used. @return false: there is no such queue */
bool queue_use(struct builtin *builtin, uint8_t queue);
/* Its state, or what priorities are used, has changed: what becomes of queue_info::is_plain. */
void queue_note_plain(struct builtin *builtin, uint8_t queue);

static inline bool
is_valid(struct builtin *builtin, uint64_t word)
{
	const struct queue_info *queue = &builtin->queues[word_queue(word)];

	if (unlikely(__atomic_load_n(&queue->state, __ATOMIC_ACQUIRE) != QUEUE_USED) &&
		!queue_use(builtin, word_queue(word)))
		return false;
	return event_type(builtin, word) <= RTE_SCHED_TYPE_PARALLEL;
}

/* short_way.c */
extern const struct weir_sched_port_ops builtin_ops;

/* enqueue.c, switch.c */
uint16_t builtin_enqueue(struct weir_sched_port *base, const struct rte_event *events, uint16_t nb);
int builtin_switch(
	struct weir_sched_port *base, struct rte_event *event, uint32_t flow, uint8_t type);

/* foreign.c */
void builtin_insert(struct builtin *builtin, const struct rte_event *event);
void foreign_forward(struct builtin_port *port, struct rte_event event);
void foreign_insert(struct builtin_port *port);

/* look.c */
bool look_is_vain(struct builtin_port *port);
void look_soon(const struct shard *shard);
bool look_at_rings(struct shard *shard, uint16_t wanted); /* @return the clock was read */

/* higher.c */
uint16_t may_take_elsewhere(const struct builtin_port *port, uint16_t nb);
uint16_t look_for_higher(
	struct builtin_port *port, struct shard **locked, struct rte_event *events, uint16_t nb);

/* help.c */
bool look_is_due(struct builtin_port *port);
uint16_t look_elsewhere(
	struct builtin_port *port, struct rte_event *events, uint16_t nb, bool idle);

/* sleep.c */
bool port_may_sleep(struct builtin_port *port); /* @return it slept, and was woken */
void shard_wake(struct shard *shard);
void shard_wake_helper(struct shard *shard);
void wake_all(struct builtin *builtin);
void builtin_wake(struct weir_sched *sched, uint64_t ports);

/* credit.c */
void credit_reset(struct builtin *builtin);
bool credit_take(struct builtin_port *port);
void credit_put_back(struct builtin_port *port, int32_t nb, bool reserved);
void credit_flush(struct builtin_port *port);
uint32_t builtin_reserve(struct weir_sched *sched, uint32_t nb);
void builtin_unreserve(struct weir_sched *sched, uint32_t nb);
bool credit_use_reserved(struct builtin *builtin);
/* Nothing is inside any more: what was granted stays so, the others are left. Beside builtin_unreserve(). */
void credit_reset_reserved(struct builtin *builtin);

#define CREDITS_GRANTED 32

static inline uint32_t
credits_left(const struct builtin *builtin)
{
	return (uint32_t)__atomic_load_n(&builtin->reserved, __ATOMIC_RELAXED);
}

/* Events have left. Their credits stay with the port, up to some. */
static inline void
credits_put(struct builtin_port *port, int32_t nb, bool reserved)
{
	if (likely(!reserved && port->credits + nb < port->most_credits))
		port_set_credits(port, port->credits + nb);
	else if (nb > 0)
		credit_put_back(port, nb, reserved);
}

/* builtin_stats.c */
void builtin_queue_counts(
	const struct weir_sched *sched, unsigned int queue, struct sched_queue_counts *counts);
void builtin_stats(const struct weir_sched *sched, struct weir_sched_stats *stats);
void builtin_xstats(const struct weir_sched *sched, enum weir_sched_part part, unsigned int which,
	struct sched_xstats *to);
void builtin_dump(struct weir_sched *sched, FILE *file);

#endif
