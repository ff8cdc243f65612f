/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_ATTACK_H
#define SCHED_ATTACK_H

/*
 * The promises under attack: threads that are slow, stop and come back, in all mixes. Every event is known by number:
 *
 *   exactly once    at each stage, and out
 *   atomic          who has a flow's events has the flow's word, in which no one else may be. What a flow has beside it is not
 *                   atomic: the thread sanitizer sees when its last holder did not happen before the next one
 *   order           a flow's numbers rise at each atomic stage; by one, where nothing was dropped before
 *   no deadlock     something happens each 10 s, or the scheduler is dumped, and the program aborts
 *
 *   attack.c         what is known of events and flows, and checked
 *   attack_worker.c  threads that produce and work
 *   attack_run.c     the scheduler is made, watched, stopped, and the sums must be right
 */

#include <pthread.h>

#include "sched_test.h"

#define ATTACK_EVENTS_MAX (1u << 22)
#define ATTACK_STAGES_MAX 6
#define ATTACK_PORTS_MAX  12
#define ATTACK_SENDERS    2

struct attack_worker;

struct attack_stage {
	uint8_t type; /* WEIR_SCHED_TYPE_BY_EVENT: each flow has one */
	uint8_t priority;
	uint8_t group;
};

/* Stages: of what type; then priority and group. */
#define A(...)                                                                                     \
	{                                                                                          \
		ATOMIC, __VA_ARGS__                                                                \
	}
#define O(...)                                                                                     \
	{                                                                                          \
		ORDERED, __VA_ARGS__                                                               \
	}
#define P(...)                                                                                     \
	{                                                                                          \
		PARALLEL, __VA_ARGS__                                                              \
	}
#define E(...)                                                                                     \
	{                                                                                          \
		WEIR_SCHED_TYPE_BY_EVENT, __VA_ARGS__                                              \
	}

struct attack {
	const char *name;
	unsigned int nb_workers, nb_producers; /* ports from 0 on, and after these */
	unsigned int nb_flows, flows_configured;
	unsigned int nb_stages;
	struct attack_stage stages[ATTACK_STAGES_MAX];
	uint32_t nb_events, threshold;
	unsigned int burst;
	unsigned int bound;
	bool workers_produce;
	bool drops;         /* some are released on their way */
	bool keep;          /* ports do not release implicitly, and hold on over dequeues */
	bool group_changes; /* of group 1 and 2 */
	bool restarts;
	bool stalls;   /* worker 0 sleeps with what it holds */
	bool reserved; /* threads without a port send, too */
	bool switches; /* every other flow's events are switched to a flow beside it, at each stage */
	void (*interfere)(struct attack_worker *worker); /* by who works, now and then; NULL */
};

enum attack_order { ATTACK_RUN, ATTACK_PAUSE, ATTACK_QUIT };

struct attack_worker {
	pthread_t thread;
	unsigned int port;
	bool produces, works;
	uint64_t random;
	uint32_t first_flow, flow_step; /* which flows it produces: each is one's own */
	struct rte_event held[256];
	unsigned int nb_held;
	uint64_t nb_new, nb_released, nb_forwarded, nb_abandoned;
};

/* The one that runs, as far as the backend can do it. */
extern struct attack attack;
extern enum attack_order attack_order;
extern bool attack_producing;
extern unsigned int attack_nb_paused;
extern uint32_t attack_nb_made, attack_nb_out; /* events' numbers given; events that are out */
extern uint64_t attack_progress;
/* Masks by group, as they are for sure while the epoch is even and stays. */
extern uint64_t attack_group_mask[3];
extern uint32_t attack_group_epoch;

/* attack.c */
void attack_forget(bool first);
void attack_moved(void);
uint32_t attack_roll(struct attack_worker *worker, uint32_t sides);
uint32_t attack_flow_of(const struct rte_event *event);
uint8_t attack_type_at(uint32_t flow, unsigned int stage);
/* Numbers for events, from the one that is returned on; UINT32_MAX: there are no more. */
uint32_t attack_take_numbers(uint32_t nb);
/* It is the next of its flow, by its producer. */
void attack_name(uint32_t number, uint32_t flow);
/* It was not taken; the last one of its flow that was named. */
void attack_unname(uint32_t number);
struct rte_event attack_event_at(uint32_t number, unsigned int stage, uint8_t op);
void attack_came(struct attack_worker *worker, const struct rte_event *event);
/* It is about to be given up. */
void attack_leaves(struct attack_worker *worker, const struct rte_event *event);
void attack_out(uint32_t number);
/* Is it to be switched? Then @to is as it is to be. */
bool attack_switches(const struct rte_event *event, struct rte_event *to);
/* It is held, switched. */
void attack_switched(struct attack_worker *worker, const struct rte_event *event);
/* Stop; everything inside is out. @return how many that were */
uint64_t attack_stop(void);

/* attack_worker.c; arg: struct attack_worker */
void *attack_work(void *arg);
void *attack_send_reserved(void *arg);

/* attack_run.c: a case of cmocka's, of the attack that is its state. */
void attack_case(void **state);
/* Such attacks, beside what workers do now and then, until that has made something happen: on a busy machine it may not at first. */
void attack_until(const struct attack *like, void (*interfere)(struct attack_worker *worker),
	bool *has_happened);

#endif
