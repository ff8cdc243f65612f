/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A shard's owner has bursts of an ordered flow without places, which go on, in order or not, while another port has one now and then, which goes on, too:
 * in every order of their steps, what became of the events comes in their order, each once. With real calls of the owner.
 */

#include "sched_test.h"

#include "../base/interleave.h"

#include "../../lib/sched/short_way.c"
#include "../../lib/sched/take.c"

#include "../../lib/sched/owner.c"
#include "../../lib/sched/foreign.c"
#include "../../lib/sched/dequeue.c"
#include "../../lib/sched/ending.c"
#include "../../lib/sched/enqueue.c"
#include "../../lib/sched/burst.c"
#include "../../lib/sched/single.c"
#include "../../lib/sched/places.c"
#include "../../lib/sched/bias.c"
#include "../../lib/sched/shard.c"

#include "interleave_stand.h"

#define NB_EVENTS  10
#define BURST      2
#define OWNER      0
#define OTHER      1
#define OF_ORDERED 0
#define OF_NEXT    1

static struct shard *shard;
static uint32_t flow;
static unsigned int nb_seen; /* of the next queue, */
static unsigned int nb_sent; /* to which so many went on */
static unsigned int nb_had;  /* the owner has so many */
static bool may_bias;
static bool by_singles; /* or by bursts */
static struct rte_event burst[BURST];

/* It has gone on: it is the next one of its flow. */
static void
see(const struct rte_event *event)
{
	CHECK(event->u64 == nb_seen);
	nb_seen++;
}

static struct rte_event
sent(struct rte_event event)
{
	event.op = RTE_EVENT_OP_FORWARD;
	event.queue_id = OF_NEXT;
	return event;
}

/* What went on already is released. */
static void
owner_dequeues(void)
{
	const uint16_t got = weir_sched_dequeue(&ports[OWNER]->base, burst, by_singles ? 1 : BURST);

	nb_had = 0;
	for (uint16_t i = 0; i < got; i++)
		if (burst[i].queue_id == OF_NEXT)
			see(&burst[i]);
		else
			burst[nb_had++] = sent(burst[i]);
}

/* What it holds goes on, all at once or one after the other. */
static void
owner_forwards(unsigned int at_once)
{
	for (unsigned int i = 0; i < nb_had; i += at_once) {
		const unsigned int nb = RTE_MIN(at_once, nb_had - i);

		CHECK(weir_sched_enqueue(&ports[OWNER]->base, &burst[i], (uint16_t)nb) == nb);
	}
	nb_sent += nb_had;
	nb_had = 0;
}

static void
turn_round(void)
{
	if (nb_had == BURST)
		RTE_SWAP(burst[0], burst[1]);
}

/* No order depends on the clock, or on the ones before: it looks at its rings whenever it may, and never elsewhere; bursts end at the same ones of a circle. */
static void
as_at_first(void)
{
	builtin->gap = 0;
	ports[OWNER]->nb_calls = ports[OTHER]->nb_calls = 0;
	for (unsigned int s = 0; s < builtin->nb_shards; s++)
		for (unsigned int i = 0; i < builtin->shards[s].nb_rings; i++) {
			struct ring *ring = &builtin->shards[s].rings[i];

			ring_init(ring, ring->slots, ring->mask + 1);
		}
}

/* The owner had one burst, or as many singles, and knows what comes next. */
static void
init(void)
{
	struct rte_event event = {.op = RTE_EVENT_OP_NEW, .queue_id = OF_NEXT};

	nb_seen = nb_sent = 0;
	stand_start(3);
	stand_has_time();
	as_at_first();
	shard = ports[OWNER]->own;
	event.flow_id = flow = stand_flow_in(OF_ORDERED, shard->id) & 0xfffff;
	CHECK(weir_sched_enqueue(&ports[OWNER]->base, &event, 1) == 1); /* it is in use then */
	owner_dequeues();
	CHECK(nb_seen == 1);
	nb_seen = 0;
	event.queue_id = OF_ORDERED;
	for (event.u64 = 0; event.u64 < NB_EVENTS; event.u64++)
		CHECK(weir_sched_enqueue(&ports[OWNER]->base, &event, 1) == 1);
	builtin->may_fence = may_bias;
	while (nb_sent < BURST) {
		owner_dequeues();
		owner_forwards(BURST);
	}
	CHECK((bias_holder(&shard->bias) != 0) == may_bias);
	CHECK(shard->at_once == NB_EVENTS - BURST);
	CHECK(ports[OWNER]->before.type ==
		(may_bias && by_singles ? RTE_SCHED_TYPE_ORDERED : NO_TYPE));
}

static void
in_bursts(void)
{
	owner_dequeues();
	owner_forwards(BURST);
	owner_dequeues();
}

static void
one_by_one(void)
{
	owner_dequeues();
	owner_forwards(1);
	owner_dequeues();
}

static void
the_last_one_first(void)
{
	owner_dequeues();
	turn_round();
	owner_forwards(BURST);
	owner_dequeues();
}

static void
each_the_last_one_first(void)
{
	owner_dequeues();
	turn_round();
	owner_forwards(1);
	owner_dequeues();
}

/* As steal() does, of what it may have. */
static bool
take(struct rte_event *event)
{
	uint16_t got = 0;

	shard_lock(shard);
	shard_drain_all(shard);
	shard_share_next(shard);
	CHECK(shard->nb_unmarked == 0);
	if (shard->nb_ready > 0)
		got = shard_take(shard, ports[OTHER], event, 1, UINT32_MAX);
	shard_unlock(shard);
	return got == 1;
}

/* It is the only one that has it, of the next queue. */
static void
goes_on(struct rte_event event)
{
	if (event.queue_id == OF_ORDERED) {
		event = sent(event);
		nb_sent++;
	} else {
		see(&event);
		event.op = RTE_EVENT_OP_RELEASE;
	}
	CHECK(weir_sched_enqueue(&ports[OTHER]->base, &event, 1) == 1);
}

static void
thief(void)
{
	struct rte_event event;

	if (take(&event))
		goes_on(event);
}

/* What is left comes, in order, and goes on. */
static void
check(void)
{
	struct rte_event event;

	owner_forwards(1);
	for (unsigned int i = 0; i < 8 * NB_EVENTS && nb_seen < NB_EVENTS; i++) {
		owner_dequeues();
		owner_forwards(BURST);
		while (take(&event))
			goes_on(event);
	}
	CHECK(nb_seen == NB_EVENTS && nb_sent == NB_EVENTS);
	owner_dequeues();
	shard_lock(shard);
	shard_take_back(shard, false);
	shard_unlock(shard);
	CHECK(shard->nb_marked == 0 && shard->nb_unmarked == 0 && shard->nb_placed == 0);
}

static void
run(void (*owner)(void), unsigned int most)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {owner, thief},
		.check = check,
		.most_interruptions = most,
		.least = 50};

	stand_run(&interleave, &may_bias);
}

static void
of_bursts(void **state)
{
	run(in_bursts, 3);
}

static void
of_single_ones(void **state)
{
	run(one_by_one, 3);
}

static void
of_those_as_before(void **state)
{
	by_singles = true;
	run(one_by_one, 3);
	by_singles = false;
}

static void
of_bursts_otherwise(void **state)
{
	run(the_last_one_first, 2);
}

static void
of_single_ones_otherwise(void **state)
{
	run(each_the_last_one_first, 2);
}

static int
setup(void **state)
{
	stand_make(2, 2, OF_NEXT);
	assert_int_equal(weir_sched_queue_setup(sched, OF_ORDERED,
				 &(struct weir_sched_queue_config){
					 .type = RTE_SCHED_TYPE_ORDERED, .group = 1}),
		0);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(of_bursts),
		cmocka_unit_test(of_single_ones), cmocka_unit_test(of_those_as_before),
		cmocka_unit_test(of_bursts_otherwise), cmocka_unit_test(of_single_ones_otherwise)};

	return cmocka_run_group_tests_name(
		"sched-interleave-in-order", tests, setup, stand_teardown);
}
