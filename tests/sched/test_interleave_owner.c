/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A shard goes from one port to another while what follows from a flow of it is sent on by both: in every order of their
 * steps it comes in the order of the flow. Rings are read in the order of their ports: those that have the shard later have the lower numbers, so that what is not
 * waited for comes too early.
 */

#include "sched_test.h"

#include "../base/interleave.h"

#include "../../lib/sched/take.c"

#include "../../lib/sched/owner.c"
#include "../../lib/sched/port.c"
#include "../../lib/sched/shard.c"

#define NB_EVENTS 4
#define NB_PORTS  3
#define FIRST     2 /* port that has the shard at first */

static struct weir_sched *sched;
static struct builtin *builtin;
static struct shard *shard;
static struct builtin_port *ports[NB_PORTS];
static unsigned int to_shard; /* where what follows is for */
static uint32_t to_flow;
static bool is_interrupted;
static struct rte_event held; /* by the first port */

static void
drop(void *arg, const struct rte_event *event)
{
}

static uint32_t
flow_in(uint8_t queue, unsigned int wanted)
{
	struct rte_event event = {.queue_id = queue};

	while (event_shard(builtin, event.event) != wanted)
		event.flow_id++;
	return event.flow_id;
}

static bool
take_from(struct shard *from, struct builtin_port *port, struct rte_event *event)
{
	uint16_t got = 0;

	shard_lock(from);
	shard_share_next(from);
	if (from->nb_ready > 0)
		got = shard_take(from, port, event, 1, UINT32_MAX);
	shard_unlock(from);
	return got == 1;
}

static void
send_on(struct builtin_port *port, struct rte_event event)
{
	event.op = RTE_EVENT_OP_FORWARD;
	event.queue_id = 1;
	event.flow_id = to_flow & 0xfffff;
	CHECK(weir_sched_enqueue(&port->base, &event, 1) == 1);
}

/* The first port holds the first event of a flow, the others wait in it. */
static void
init(void)
{
	struct rte_event event = {.op = RTE_EVENT_OP_NEW};

	if (sched->running)
		weir_sched_stop(sched, drop, NULL);
	CHECK(weir_sched_group_set(sched, 1, 0) == 0);
	CHECK(weir_sched_start(sched) == 0);
	for (unsigned int i = 0; i < builtin->nb_shards; i++)
		builtin->shards[i].nb_next = 0; /* every run is the same */
	shard = ports[FIRST]->home;
	event.flow_id = flow_in(0, shard->id) & 0xfffff;
	to_flow = flow_in(1, to_shard);
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

static void
last(void)
{
	struct rte_event event;

	take_over(ports[0], shard, shard_owner(shard));
	if (take_from(shard, ports[0], &event))
		send_on(ports[0], event);
}

/* One event that is ready goes on, or out. @return how many came out before it, or with it */
static unsigned int
go_on(struct shard *from, unsigned int nb_out)
{
	struct rte_event event;

	shard_lock(from);
	shard_drain_all(from);
	shard_unlock(from);
	if (!take_from(from, ports[0], &event))
		return nb_out;
	if (event.queue_id == 0) {
		send_on(ports[0], event);
		return nb_out;
	}
	CHECK(event.u64 == nb_out);
	event.op = RTE_EVENT_OP_RELEASE;
	CHECK(weir_sched_enqueue(&ports[0]->base, &event, 1) == 1);
	return nb_out + 1;
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
run(unsigned int to, bool interrupted)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {first, last},
		.check = check,
		.most_interruptions = 2,
		.least = 50};

	is_interrupted = interrupted;
	to_shard = to;
	interleave_all(&interleave);
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

static int
setup(void **state)
{
	const struct weir_sched_config config = {
		.nb_ports = NB_PORTS, .nb_queues = 2, .nb_flows = 16, .nb_events = 16};
	/* What came there nobody has before all is done. */
	const struct weir_sched_queue_config queue = {.type = RTE_SCHED_TYPE_ATOMIC, .group = 1};

	sched = weir_sched_create("owner", &config);
	assert_non_null(sched);
	assert_int_equal(weir_sched_queue_setup(sched, 1, &queue), 0);
	builtin = sched->own;
	for (unsigned int i = 0; i < NB_PORTS; i++)
		ports[i] = (struct builtin_port *)weir_sched_port(sched, i);
	return 0;
}

static int
teardown(void **state)
{
	weir_sched_stop(sched, drop, NULL);
	weir_sched_destroy(sched);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(to_another),
		cmocka_unit_test(to_itself), cmocka_unit_test(after_another)};

	return cmocka_run_group_tests_name("sched-interleave-owner", tests, setup, teardown);
}
