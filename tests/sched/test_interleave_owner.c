/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A shard goes from one port to another while what follows from a flow of it is sent on by both: in every order of their
 * steps it comes in the order of the flow. Rings are read in the order of their ports: those that have the shard later have the lower numbers, so that what is not
 * waited for comes too early.
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

#include "interleave_follow.h"

#define NB_EVENTS 4
#define NB_PORTS  STAND_PORTS
#define FIRST     2 /* port that has the shard at first */

static struct shard *shard;
static unsigned int to_shard; /* where what follows is for */
static bool is_interrupted;
static struct rte_event held; /* by the first port */

/* The first port holds the first event of a flow, the others wait in it. */
static void
init(void)
{
	struct rte_event event = {.op = RTE_EVENT_OP_NEW};

	stand_start(0);
	shard = ports[FIRST]->home;
	event.flow_id = stand_flow_in(0, shard->id) & 0xfffff;
	to_flow = stand_flow_in(1, to_shard);
	for (event.u64 = 0; event.u64 < NB_EVENTS; event.u64++)
		CHECK(weir_sched_enqueue(&ports[0]->base, &event, 1) == 1);
	shard_lock(shard);
	shard_drain_all(shard);
	shard_unlock(shard);
	CHECK(take_from(shard, ports[FIRST], &held));
	CHECK((ports[FIRST]->held[held.impl_opaque].flags & HELD_FOREIGN) == 0);
	if (!is_interrupted)
		return;
	/* What it sent lies in its ring, and the second port has begun to take over, no more. */
	send_on(ports[FIRST], held);
	shard_lock(shard);
	shard_share_next(shard);
	shard->owner = 1;
	shard->sender = NO_SENDER;
	shard_unlock(shard);
}

/* It sends on what it has, and does not know yet that the shard is another one's. */
static void
first(void)
{
	struct rte_event event;

	if (!is_interrupted)
		send_on(ports[FIRST], held);
	if (take_from(shard, ports[FIRST], &event))
		send_on(ports[FIRST], event);
}

/* Another one takes over before. */
static void
middle(void)
{
	take_over(ports[1], shard, FIRST, false);
}

static void
last(void)
{
	struct rte_event event;

	take_over(ports[0], shard, shard_owner(shard), false);
	if (take_from(shard, ports[0], &event))
		send_on(ports[0], event);
}

/* A port that does not serve the shard takes two events, and sends them on at once, while the owner goes on. */
static void
thief(void)
{
	struct rte_event events[2];
	uint16_t nb = 0;

	shard_lock(shard);
	shard_share_next(shard);
	if (shard->nb_ready > 0)
		nb = shard_take(shard, ports[0], events, 2, UINT32_MAX);
	shard_unlock(shard);
	for (uint16_t i = 0; i < nb; i++) {
		CHECK((ports[0]->held[events[i].impl_opaque].flags & HELD_FOREIGN) != 0);
		events[i].op = RTE_EVENT_OP_FORWARD;
		events[i].queue_id = 1;
		events[i].flow_id = to_flow & 0xfffff;
	}
	if (nb > 0)
		CHECK(weir_sched_enqueue(&ports[0]->base, events, nb) == nb);
}

/* What is left goes the same way. */
static void
check(void)
{
	unsigned int nb_out = 0;

	for (unsigned int i = 0; i < NB_PORTS; i++)
		CHECK(ports[i]->nb_held == 0);
	CHECK(shard_owner(shard) == shard->sender || is_interrupted);
	CHECK(weir_sched_group_set(sched, 1, (1u << NB_PORTS) - 1) == 0);
	for (unsigned int i = 0; i < 4 * NB_EVENTS; i++)
		nb_out = go_on(i % 2 == 0 ? shard : &builtin->shards[to_shard], nb_out);
	CHECK(nb_out == NB_EVENTS);
}

static void
run_with(void (*second)(void), unsigned int to, bool interrupted)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {first, second},
		.check = check,
		.most_interruptions = 2,
		.least = 50};

	is_interrupted = interrupted;
	to_shard = to;
	interleave_all(&interleave);
}

/* Two take over, one from the other, who may not be through with that: what the first one sent lies in its ring. */
static void
init_sent(void)
{
	init();
	send_on(ports[FIRST], held);
}

static void
one_after_another(void **state)
{
	const struct interleave interleave = {.init = init_sent,
		.nb_actors = 2,
		.actors = {middle, last},
		.check = check,
		.most_interruptions = 3,
		.least = 50};

	is_interrupted = false;
	for (to_shard = 0; to_shard < NB_PORTS; to_shard++)
		interleave_all(&interleave);
}

static void
run(unsigned int to, bool interrupted)
{
	run_with(last, to, interrupted);
}

static void
to_another(void **state)
{
	run(0, false);
}

static void
to_itself(void **state)
{
	run(FIRST, false);
}

/* Who takes over does so from one that was about to. */
static void
after_another(void **state)
{
	run(0, true);
}

static void
stolen_to_another(void **state)
{
	run_with(thief, 0, false);
}

static void
stolen_to_itself(void **state)
{
	run_with(thief, FIRST, false);
}

/* Events of one flow that a port holds: of some it was the sender when it took them, of others not. */
static void
one_burst(const bool *foreign, unsigned int nb)
{
	struct rte_event events[NB_EVENTS];
	unsigned int nb_out = 0;

	to_shard = 0;
	is_interrupted = false;
	init();
	send_on(ports[FIRST], held);
	for (unsigned int i = 0; i < nb; i++) {
		CHECK(take_from(shard, ports[FIRST], &events[i]));
		events[i].op = RTE_EVENT_OP_FORWARD;
		events[i].queue_id = 1;
		events[i].flow_id = to_flow & 0xfffff;
		ports[FIRST]->held[events[i].impl_opaque].flags = foreign[i] ? HELD_FOREIGN : 0;
		/* it keeps the flow, and has the next one */
		shard_lock(shard);
		if (i + 1 < nb) {
			struct lane *lane = ports[FIRST]->held[events[i].impl_opaque].lane;
			uint32_t node = lane->first;

			lane->first = shard->next[node];
			shard->next[node] = NONE;
			shard_make_ready(shard, node);
		}
		shard_unlock(shard);
	}
	CHECK(weir_sched_enqueue(&ports[FIRST]->base, events, (uint16_t)nb) == nb);
	CHECK(weir_sched_group_set(sched, 1, (1u << NB_PORTS) - 1) == 0);
	for (unsigned int i = 0; i < 4 * NB_EVENTS; i++)
		nb_out = go_on(i % 2 == 0 ? shard : &builtin->shards[to_shard], nb_out);
	CHECK(nb_out == NB_EVENTS);
}

static void
in_one_burst(void **state)
{
	one_burst((const bool[]){true, true, true}, 3);
	one_burst((const bool[]){true, false, true}, 3);
	one_burst((const bool[]){false, true, false}, 3);
	one_burst((const bool[]){true, false, false}, 3);
	one_burst((const bool[]){false, false, true}, 3);
	one_burst((const bool[]){true, true, false}, 3);
	one_burst((const bool[]){false, true, true}, 3);
}

/* What the first one gave back lies there, and nobody has taken it since another one has the shard. */
static void
stopped_before_it_is_taken_back(void **state)
{
	to_shard = 0;
	is_interrupted = false;
	init();
	CHECK(queue_use(builtin,
		1)); /* what goes to a queue that is in use is given back without the lock */
	send_on(ports[FIRST], held);
	CHECK(!returned_seems_empty(&shard->returned));
	take_over(ports[0], shard, shard_owner(shard), false);
	CHECK(!returned_seems_empty(&shard->returned));
	weir_sched_stop(sched, stand_drop, NULL);
	for (unsigned int i = 0; i < builtin->nb_shards; i++)
		CHECK(builtin->shards[i].lock == 0);
	CHECK(weir_sched_start(sched) == 0);
}

static int
setup(void **state)
{
	/* What came to the second queue nobody has before all is done. */
	stand_make(NB_PORTS, 2, 1);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(to_another),
		cmocka_unit_test(to_itself), cmocka_unit_test(after_another),
		cmocka_unit_test(one_after_another), cmocka_unit_test(stolen_to_another),
		cmocka_unit_test(stolen_to_itself), cmocka_unit_test(in_one_burst),
		cmocka_unit_test(stopped_before_it_is_taken_back)};

	return cmocka_run_group_tests_name("sched-interleave-owner", tests, setup, stand_teardown);
}
