/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A port is taken out of a group while it takes: in every order of steps, it gets nothing of the group once weir_sched_group_set() has
 * returned, from the lists and from the rings, and nothing is lost. A group gets ports while one of them looks at a part of what waits: what it
 * sends on comes behind all that was enqueued before weir_sched_group_set() was called.
 */

#include "sched_test.h"

#include "../base/interleave.h"

#include "../../lib/sched/builtin.c"
#include "../../lib/sched/short_way.c"
#include "../../lib/sched/take.c"

#include "../../lib/sched/places.c"
#include "../../lib/sched/bias.c"
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
	else if (shard->in_rings[0] > 0)
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

/* Like a dequeue and an enqueue: what it gets first it sends on, to come as the last one. @return was there one? */
static bool
take_and_send_on(struct builtin_port *port)
{
	struct rte_event event;
	uint16_t got = 0;

	shard_lock(shard);
	shard_take_back(shard, false);
	shard_look(shard);
	if (shard->nb_ready == 0)
		shard_drain(shard, UINT32_MAX);
	if (shard->nb_ready > 0)
		got = shard_take(shard, port, &event, 1, UINT32_MAX);
	shard_unlock(shard);
	if (got == 0)
		return false;
	CHECK(event.u64 == nb_seen);
	event.op = nb_seen == 0 ? RTE_EVENT_OP_FORWARD : RTE_EVENT_OP_RELEASE;
	event.u64 = NB_EVENTS;
	nb_seen++;
	CHECK(weir_sched_enqueue(&port->base, &event, 1) == 1);
	return true;
}

static struct rte_event next_new;

static void
init_empty(void)
{
	nb_seen = 0;
	stand_start(0);
	shard = ports[LEAVES]->own;
	next_new = (struct rte_event){
		.op = RTE_EVENT_OP_NEW, .flow_id = stand_flow_in(0, shard->id) & 0xfffff};
	for (; next_new.u64 + 1 < NB_EVENTS; next_new.u64++)
		CHECK(weir_sched_enqueue(&ports[STAYS]->base, &next_new, 1) == 1);
}

static void
sends_on(void)
{
	take_and_send_on(ports[LEAVES]);
}

static void
gets_ports(void)
{
	CHECK(weir_sched_enqueue(&ports[STAYS]->base, &next_new, 1) == 1);
	CHECK(weir_sched_group_set(sched, 1, 1u << LEAVES | 1u << STAYS) == 0);
}

static void
check_order(void)
{
	while (nb_seen < NB_EVENTS + 1)
		CHECK(take_and_send_on(ports[LEAVES]));
	CHECK(!take_and_send_on(ports[LEAVES]));
}

static void
gets_ports_while_one_looks(void **state)
{
	const struct interleave interleave = {.init = init_empty,
		.nb_actors = 2,
		.actors = {sends_on, gets_ports},
		.check = check_order,
		.most_interruptions = 3,
		.least = 50};

	interleave_all(&interleave);
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
	const struct CMUnitTest tests[] = {cmocka_unit_test(from_lists),
		cmocka_unit_test(from_rings), cmocka_unit_test(gets_ports_while_one_looks)};

	return cmocka_run_group_tests_name("sched-interleave-group", tests, setup, stand_teardown);
}
