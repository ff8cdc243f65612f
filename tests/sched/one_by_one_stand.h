/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_SCHED_ONE_BY_ONE_STAND_H
#define TESTS_SCHED_ONE_BY_ONE_STAND_H

/* A worker that sends to itself, and takes that one by one. After what holds the library's file. */

#define WORKER      0
#define OTHER       1
#define NB_EVENTS   8
#define OF_ALL      0 /* atomic */
#define OF_PARALLEL 1
#define OF_ORDERED  2
#define OF_GROUP    3 /* atomic */
#define OF_ANY      4 /* as its events are */

static struct builtin_port *port;
static struct shard *shard; /* its own */

static inline void
make(void)
{
	struct weir_sched_config config = st_config(2, 5);

	config.nb_reserved = 1;
	st_make(config);
	st_queue(OF_ALL, ATOMIC, 0, 0);
	st_queue(OF_PARALLEL, PARALLEL, 0, 0);
	st_queue(OF_ORDERED, ORDERED, 0, 0);
	st_queue(OF_GROUP, ATOMIC, 0, 1);
	st_queue(OF_ANY, WEIR_SCHED_TYPE_BY_EVENT, 0, 0);
	st_group(1, 1 << WORKER | 1 << OTHER);
}

static inline void
start(void)
{
	st_start();
	port = &((struct builtin *)st_sched->own)->ports[WORKER];
	shard = port->home;
	/* However long calls take, as with sanitizers, or on a busy machine: none of them is long. */
	port->builtin->away = UINT32_MAX;
}

static inline int
setup(void **state)
{
	make();
	start();
	return 0;
}

/* It holds what it has until that is released, or goes on. */
static inline int
setup_keep(void **state)
{
	make();
	st_keep(WORKER);
	start();
	return 0;
}

/* The nth one of its flows. */
static inline uint32_t
own_flow(unsigned int nth)
{
	uint32_t flow = 0;

	for (;; flow++)
		if (event_shard(port->builtin, flow) == shard->id && nth-- == 0)
			return flow;
}

/* The lane of the nth one of its flows. */
static inline struct lane *
lane_at(unsigned int nth)
{
	return event_lane(port->builtin, own_flow(nth), ATOMIC);
}

/* For anything else than what comes next: what it has without a mark is marked then. */
static inline void
others_come(void)
{
	shard_lock(shard);
	shard_unlock(shard);
	assert_int_equal(shard->nb_unmarked, 0);
}

/* To itself, of flow after flow, numbered. */
static inline void
send(uint8_t queue)
{
	for (unsigned int i = 0; i < NB_EVENTS; i++)
		st_new(WORKER, queue, own_flow(i), i);
}

static inline struct rte_event
take(uint64_t number)
{
	struct rte_event event;

	assert_int_equal(weir_sched_dequeue(st_port(WORKER), &event, 1), 1);
	assert_int_equal(event.u64, number);
	return event;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, st_teardown)

#endif
