/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A shard's owner has bursts of a flow without marks, and gives them back, as a burst or one by one, while others take some: in every order of
 * their steps, each event comes once, in its order, and nobody has it while another one has the flow. With real calls of the owner.
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

#define NB_EVENTS 10
#define BURST     2
#define OWNER     0
#define OTHER     1
#define NOBODY    2

static struct shard *shard;
static struct lane *lane;
static unsigned int nb_seen, nb_had; /* events; that the owner has, of these */
static unsigned int has;             /* who does, as far as it is known here */
static bool may_bias;
static struct rte_event burst[BURST];

/* It is the next one of its flow, which this port has. */
static void
see(unsigned int port, const struct rte_event *event)
{
	CHECK(event->u64 == nb_seen);
	nb_seen++;
	CHECK(has == NOBODY || has == port);
	has = port;
}

static void
owner_dequeues(void)
{
	const uint16_t got = weir_sched_dequeue(&ports[OWNER]->base, burst, BURST);

	for (uint16_t i = 0; i < got; i++)
		see(OWNER, &burst[i]);
	nb_had = got;
}

/* What it holds, all at once or one after the other. */
static void
owner_releases(unsigned int at_once)
{
	for (unsigned int i = 0; i < nb_had; i++)
		burst[i].op = RTE_EVENT_OP_RELEASE;
	for (unsigned int i = 0; i < nb_had; i += at_once) {
		const unsigned int nb = RTE_MIN(at_once, nb_had - i);

		if (i + nb == nb_had)
			has = NOBODY; /* others may have it from somewhere in this call on */
		CHECK(weir_sched_enqueue(&ports[OWNER]->base, &burst[i], (uint16_t)nb) == nb);
	}
	nb_had = 0;
}

/* The owner had one burst, and knows what comes next. */
static void
init(void)
{
	struct rte_event event = {.op = RTE_EVENT_OP_NEW};

	nb_seen = 0;
	has = NOBODY;
	stand_start(3);
	stand_has_time();
	shard = ports[OWNER]->own;
	event.flow_id = stand_flow_in(0, shard->id) & 0xfffff;
	lane = event_lane(builtin, event.event, RTE_SCHED_TYPE_ATOMIC);
	for (event.u64 = 0; event.u64 < NB_EVENTS; event.u64++)
		CHECK(weir_sched_enqueue(&ports[OWNER]->base, &event, 1) == 1);
	builtin->may_fence = may_bias;
	owner_dequeues();
	owner_releases(BURST);
	CHECK((bias_holder(&shard->bias) != 0) == may_bias);
	CHECK(shard->at_once == NB_EVENTS - BURST && ports[OWNER]->knows_next == KNOWS_BURST);
}

static void
owner_in_bursts(void)
{
	owner_dequeues();
	owner_releases(BURST);
	owner_dequeues();
}

static void
owner_one_by_one(void)
{
	owner_dequeues();
	owner_releases(1);
	owner_dequeues();
}

/* As steal() does. @return did it get one? */
static bool
take(void)
{
	struct builtin_port *port = ports[OTHER];
	struct rte_event event;
	uint16_t got = 0;

	shard_lock(shard);
	shard_drain_all(shard);
	shard_share_next(shard);
	CHECK(shard->nb_unmarked == 0);
	if (shard->nb_ready > 0)
		got = shard_take(shard, port, &event, 1, UINT32_MAX);
	if (got == 1)
		see(OTHER, &event);
	shard_unlock(shard);
	if (got == 0)
		return false;
	event.op = RTE_EVENT_OP_RELEASE;
	has = NOBODY;
	CHECK(weir_sched_enqueue(&port->base, &event, 1) == 1);
	return true;
}

static void
thief(void)
{
	take();
	take();
}

static void
switches(void)
{
	struct rte_event event;

	owner_dequeues();
	event = burst[0];
	if (nb_had == 0)
		return;
	CHECK(weir_sched_switch(
		      &ports[OWNER]->base, &event, event.flow_id, RTE_SCHED_TYPE_ATOMIC) == 0);
	burst[0] = event;
	owner_releases(BURST);
	owner_dequeues();
}

/* What is left comes, in order; nobody has the flow. */
static void
check(void)
{
	owner_releases(BURST);
	for (unsigned int i = 0; i < 8 * NB_EVENTS && nb_seen < NB_EVENTS; i++) {
		owner_dequeues();
		owner_releases(BURST);
		while (take())
			;
	}
	CHECK(nb_seen == NB_EVENTS);
	shard_lock(shard);
	shard_take_back(shard, false);
	shard_unlock(shard);
	CHECK(shard->nb_marked == 0 && shard->nb_unmarked == 0);
	CHECK(lane->state == LANE_IDLE && lane->nb_held == 0);
}

static void
run(void (*owner)(void))
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {owner, thief},
		.check = check,
		.most_interruptions = 3,
		.least = 50};

	stand_run(&interleave, &may_bias);
}

static void
in_bursts(void **state)
{
	run(owner_in_bursts);
}

static void
one_by_one(void **state)
{
	run(owner_one_by_one);
}

static void
switched(void **state)
{
	run(switches);
}

static int
setup(void **state)
{
	stand_make(2, 1, 0);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(in_bursts),
		cmocka_unit_test(one_by_one), cmocka_unit_test(switched)};

	return cmocka_run_group_tests_name(
		"sched-interleave-unmarked", tests, setup, stand_teardown);
}
