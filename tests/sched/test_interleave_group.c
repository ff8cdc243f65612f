/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A port is taken out of a group while it takes: in every order of steps, it gets nothing of the group once weir_sched_group_set() has
 * returned, from the lists and from the rings, and nothing is lost.
 */

#include "sched_test.h"

#include "../base/interleave.h"

#include "../../lib/sched/builtin.c"
#include "../../lib/sched/take.c"

#include "../../lib/sched/shard.c"

#include "interleave_stand.h"

#define NB_EVENTS 2
#define LEAVES    0
#define STAYS     1

static struct shard *shard;
static bool of_rings, is_out;
static unsigned int nb_seen;

/* @return was there one? */
static bool
take_one(struct builtin_port *port)
{
	struct rte_event event;
	uint16_t got = 0;

	shard_lock(shard);
	shard_look(shard);
	if (!of_rings)
		shard_drain(shard, UINT32_MAX);
	if (shard->nb_ready > 0)
		got = shard_take(shard, port, &event, 1, UINT32_MAX);
	else if (shard->nb_in_rings > 0)
		got = take_from_rings(shard, port, &event, 1);
	if (got == 1) {
		CHECK(port != ports[LEAVES] || !is_out);
		CHECK(event.u64 == nb_seen);
		nb_seen++;
		shard_release(shard, port->held[event.impl_opaque].lane, false);
		port_forget(port, event.impl_opaque);
	}
	shard_unlock(shard);
	return got == 1;
}

static void
init(void)
{
	struct rte_event event = {.op = RTE_EVENT_OP_NEW};

	nb_seen = 0;
	is_out = false;
	stand_start(3);
	shard = ports[LEAVES]->own;
	ports[LEAVES]->groups = ports[STAYS]->groups = UINT64_MAX; /* as they were before */
	event.flow_id = stand_flow_in(0, shard->id) & 0xfffff;
	for (event.u64 = 0; event.u64 < NB_EVENTS; event.u64++)
		CHECK(weir_sched_enqueue(&ports[STAYS]->base, &event, 1) == 1);
}

static void
takes(void)
{
	take_one(ports[LEAVES]);
}

static void
is_taken_out(void)
{
	CHECK(weir_sched_group_set(sched, 1, 1u << STAYS) == 0);
	is_out = true;
}

static void
check(void)
{
	while (nb_seen < NB_EVENTS)
		CHECK(take_one(ports[STAYS]));
	CHECK(!take_one(ports[LEAVES]) && !take_one(ports[STAYS]));
}

static void
run(void)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {takes, is_taken_out},
		.check = check,
		.most_interruptions = 3,
		.least = 50};

	interleave_all(&interleave);
}

static void
from_lists(void **state)
{
	of_rings = false;
	run();
}

static void
from_rings(void **state)
{
	of_rings = true;
	run();
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_lists), cmocka_unit_test(from_rings)};

	return cmocka_run_group_tests_name("sched-interleave-group", tests, setup, stand_teardown);
}
