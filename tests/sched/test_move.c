/* SPDX-License-Identifier: BSD-3-Clause */

/* Classes of flows go from one port's shard to another's: when, whom that waits for, and while everything else happens, too. */

#include "attack.h"

#include "../../lib/sched/move.h"

#define PRODUCER 2
#define FLOW     5
#define TRIES    100 /* more than a move takes, or is tried */

static struct builtin *builtin;
static struct builtin_port *ports[3];

/* Two workers and a producer; a flow of the first one's. */
static uint32_t
make(uint8_t type)
{
	const struct weir_sched_port_config producer = {.producer = true};
	struct rte_event event = {.flow_id = FLOW};

	st_make(st_config(3, 2));
	st_queue(0, ATOMIC, 0, 0);
	st_queue(1, type, 0, 0);
	assert_int_equal(weir_sched_port_setup(st_sched, PRODUCER, &producer), 0);
	st_start();
	builtin = st_sched->own;
	for (unsigned int i = 0; i < RTE_DIM(ports); i++)
		ports[i] = &builtin->ports[i];
	builtin->move_patience = INT64_MAX / 4; /* however busy the machine is */
	builtin->may_fence = false;             /* all have to answer */
	while (event_shard(builtin, event.event) != ports[0]->home->id)
		event.flow_id++;
	return event.flow_id;
}

static unsigned int
shard_of(uint32_t flow)
{
	struct rte_event event = {.flow_id = flow & 0xfffff};

	return event_shard(builtin, event.event);
}

/* The second port asks for a flow of the first one's. */
static bool
ask(uint32_t flow)
{
	const struct move_flows flows = {(uint8_t)flow_class(builtin, flow & builtin->flow_mask),
		(uint8_t)ports[0]->home->id, MOVE_OF_ANY};

	return move_ask(ports[1], flows);
}

/* It goes on with that, whatever it finds. */
static void
go_on(void)
{
	for (unsigned int i = 0; i < TRIES && ports[1]->move.own != 0; i++)
		move_go_on(ports[1]);
}

static uint64_t
nb_moved(void)
{
	return st_xstat(WEIR_SCHED_PART_PORT, 1, "classes_moved");
}

static uint64_t
longest_move(void)
{
	return st_xstat(WEIR_SCHED_PART_PORT, 1, "longest_move_ns");
}

/* Events of a flow, by their numbers, come at the second port only, which does not wait for who is away. */
static void
come_there(uint32_t first, uint32_t nb)
{
	for (uint32_t i = 0; i < nb; i++) {
		struct rte_event event;

		assert_int_equal(weir_sched_dequeue(st_port(1), &event, 1), 1);
		assert_int_equal(event.u64, first + i);
		st_release(1, event);
	}
}

static void
waits_for_who_enqueued(void **state)
{
	const uint32_t flow = make(ATOMIC);

	st_new(PRODUCER, 0, flow, 0);
	st_release(0, st_get_one(0));
	assert_true(ask(flow));
	assert_false(ask(flow)); /* one at a time */
	go_on();
	assert_int_equal(nb_moved(), 0);
	assert_int_equal(longest_move(), 0);
	assert_int_equal(shard_of(flow), ports[0]->home->id);
	/* It knows with this one, which goes in under the lock, and so do the workers, who enqueued, too. */
	st_new(PRODUCER, 0, flow, 1);
	st_release(0, st_get_one(0));
	st_idle(0);
	go_on();
	assert_int_equal(nb_moved(), 1);
	assert_true(longest_move() > 0);
	assert_int_equal(shard_of(flow), ports[1]->home->id);
	for (uint32_t i = 2; i < 40; i++)
		st_new(PRODUCER, 0, flow, i);
	come_there(2, 38);
}

static void
waits_for_what_is_there(void **state)
{
	const uint32_t flow = make(ATOMIC);
	struct rte_event held;

	st_new(PRODUCER, 0, flow, 0);
	held = st_get_one(0);
	assert_true(ask(flow));
	st_new(PRODUCER, 0, flow, 1);
	go_on();
	assert_int_equal(ports[1]->move.own, 0); /* given up */
	assert_int_equal(nb_moved(), 0);
	st_release(0, held);
	held = st_get_one(0);
	assert_int_equal(held.u64, 1);
	st_release(0, held);
}

static void
is_given_up(void **state)
{
	const uint32_t flow = make(ATOMIC);

	st_new(PRODUCER, 0, flow, 0);
	st_release(0, st_get_one(0));
	/* By who asked: somebody does not answer. */
	builtin->move_patience = 1;
	assert_true(ask(flow));
	go_on();
	assert_int_equal(ports[1]->move.own, 0);
	/* Not again for a while, which would be longer the next time. */
	assert_int_equal(builtin->move_pause, 1);
	assert_true(builtin->move_not_before > 0);
	builtin->move_not_before = UINT64_MAX;
	assert_false(ask(flow));
	builtin->move_not_before = 0;
	/* By others: who asked does not come any more. */
	assert_true(ask(flow));
	st_new(PRODUCER, 0, flow, 1);
	st_new(PRODUCER, 0, flow, 2);
	assert_false(move_is_news(ports[PRODUCER]));
	go_on();
	assert_int_equal(ports[1]->move.own, 0);
	assert_int_equal(builtin->move_pause, 2);
	assert_int_equal(nb_moved(), 0);
	for (uint32_t i = 1; i <= 2; i++) {
		struct rte_event event = st_get_one(0);

		assert_int_equal(event.u64, i);
		st_release(0, event);
	}
}

/* What waits of an ordered flow, and of an atomic one of its class, goes along; what is sent to them comes behind that. */
static void
ordered_flows_go_along(void **state)
{
	const uint32_t flow = make(ORDERED);
	uint64_t next[2] = {0};
	struct rte_event event;

	for (uint32_t i = 0; i < 40; i++)
		st_new(PRODUCER, i % 2, flow, i / 2);
	assert_true(ask(flow));
	st_new(PRODUCER, 0, flow, 20);
	go_on();
	assert_int_equal(nb_moved(), 1);
	assert_int_equal(shard_of(flow), ports[1]->home->id);
	st_new(PRODUCER, 1, flow, 20);
	while (next[0] + next[1] < 42) {
		assert_int_equal(weir_sched_dequeue(st_port(1), &event, 1), 1);
		assert_int_equal(event.u64, next[event.queue_id]++);
		st_release(1, event);
	}
}

/* Where an ordered event is out its place is there, and what becomes of it goes on from there. */
static void
waits_for_what_is_out(void **state)
{
	const uint32_t flow = make(ORDERED);
	struct rte_event held[2];

	st_new(PRODUCER, 1, flow, 1);
	st_new(PRODUCER, 1, flow, 2);
	assert_int_equal(weir_sched_dequeue(st_port(0), held, 2), 2);
	assert_true(ask(flow));
	st_new(PRODUCER, 0, flow, 0); /* it answers */
	st_forward(0, held[1], 0);
	go_on();
	assert_int_equal(nb_moved(), 0);
	st_forward(0, held[0], 0);
	assert_true(ask(flow));
	st_new(PRODUCER, 0, flow, 3);
	st_new(0, 0, flow, 4);
	go_on();
	assert_int_equal(nb_moved(), 1);
	come_there(0, 5);
}

/* Somebody has lost its CPU under a lock: it is tried again. */
static void
waits_for_who_may_send(void **state)
{
	const uint32_t flow = make(ORDERED);

	st_new(PRODUCER, 1, flow, 0);
	assert_true(ask(flow));
	st_new(PRODUCER, 1, flow, 1);
	shard_lock(ports[1]->home);
	move_go_on(ports[1]);
	assert_int_equal(nb_moved(), 0);
	assert_int_not_equal(ports[1]->move.own, 0);
	shard_unlock(ports[1]->home);
	move_go_on(ports[1]);
	assert_int_equal(nb_moved(), 1);
	come_there(0, 2);
}

/* What has passed an event that waits, as far as a bound allows, has done so also when that goes to another port. */
static void
what_has_passed_goes_along(void **state)
{
	uint32_t flow;

	flow = make(ATOMIC);
	st_new(PRODUCER, 0, flow, 0);
	assert_true(ask(flow));
	st_new(PRODUCER, 0, flow, 1);
	shard_lock(ports[0]->home);
	shard_drain_all(ports[0]->home);
	ports[0]->home->nb_passed[0] = 3;
	shard_unlock(ports[0]->home);
	go_on();
	assert_int_equal(nb_moved(), 1);
	assert_int_equal(ports[1]->home->nb_passed[0], 3);
	assert_int_equal(ports[0]->home->nb_passed[0], 0);
}

static void
do_bursts(unsigned int nb)
{
	struct rte_event events[8];

	while (nb-- > 0) {
		assert_int_equal(
			weir_sched_dequeue(st_port(1), events, RTE_DIM(events)), RTE_DIM(events));
		for (unsigned int i = 0; i < RTE_DIM(events); i++)
			st_release(1, events[i]);
	}
}

/* A port that has much to do goes on with it between its bursts. */
static void
goes_on_between_bursts(void **state)
{
	const uint32_t flow = make(ATOMIC);
	uint32_t own = 0;

	while (shard_of(own) != ports[1]->home->id)
		own++;
	for (unsigned int i = 0; i < 100; i++)
		st_new(PRODUCER, 0, own, 0);
	st_new(PRODUCER, 0, flow, 0);
	st_release(0, st_get_one(0));
	do_bursts(4);
	assert_true(ask(flow));
	st_new(PRODUCER, 0, flow, 1);
	st_release(0, st_get_one(0));
	do_bursts(4);
	assert_int_equal(nb_moved(), 1);
}

static bool has_moved;

/* Any class of any shard's. */
static void
ask_for_any(struct attack_worker *worker)
{
	struct builtin *any = st_sched->own;
	struct builtin_port *port = &any->ports[worker->port];
	const struct queue_info *queue;
	uint32_t class;
	uint8_t shard;

	if (port->nb_moved > 0)
		__atomic_store_n(&has_moved, true, __ATOMIC_RELAXED);
	queue = &any->queues[attack_roll(worker, attack.nb_stages)];
	if (__atomic_load_n(&queue->state, __ATOMIC_ACQUIRE) != QUEUE_USED)
		return; /* its flows may be divided just now */
	class = attack_roll(worker, any->class_mask + 1);
	shard = __atomic_load_n(&queue->shard_of[class], __ATOMIC_RELAXED);
	move_ask(port, (struct move_flows){(uint8_t) class, shard, MOVE_OF_ANY});
}

static const struct attack attacks[] = {
	{.name = "all-the-time",
		.nb_workers = 3,
		.nb_producers = 2,
		.nb_flows = 60,
		.flows_configured = 64,
		.nb_stages = 4,
		.stages = {A(0, 0), A(0, 0), {PARALLEL, 0, 0}, A(0, 0)},
		.nb_events = 512,
		.burst = 16,
		.workers_produce = true,
		.drops = true},
	{.name = "one-by-one",
		.nb_workers = 3,
		.nb_producers = 1,
		.nb_flows = 20,
		.flows_configured = 16,
		.nb_stages = 2,
		.stages = {A(0, 0), A(0, 0)},
		.nb_events = 64,
		.burst = 1,
		.reserved = true},
	{.name = "while-all-changes",
		.nb_workers = 4,
		.nb_producers = 1,
		.nb_flows = 60,
		.flows_configured = 256,
		.nb_stages = 4,
		.stages = {A(0, 1), A(0, 2), A(0, 0), A(0, 1)},
		.nb_events = 256,
		.burst = 16,
		.workers_produce = true,
		.keep = true,
		.group_changes = true,
		.restarts = true,
		.stalls = true,
		.reserved = true,
		.switches = true},
	{.name = "priorities",
		.nb_workers = 3,
		.nb_producers = 1,
		.nb_flows = 60,
		.flows_configured = 64,
		.nb_stages = 3,
		.stages = {A(2, 0), A(0, 0), A(5, 0)},
		.nb_events = 32,
		.burst = 8,
		.bound = 10,
		.stalls = true},
	{.name = "ordered",
		.nb_workers = 3,
		.nb_producers = 1,
		.nb_flows = 60,
		.flows_configured = 64,
		.nb_stages = 4,
		.stages = {O(0, 0), A(0, 0), E(0, 0), A(0, 0)},
		.nb_events = 256,
		.burst = 8,
		.stalls = true,
		.drops = true},
	{.name = "many-flows",
		.nb_workers = 3,
		.nb_producers = 1,
		.nb_flows = 60000,
		.flows_configured = 65536,
		.nb_stages = 2,
		.stages = {A(0, 0), A(0, 0)},
		.nb_events = 1024,
		.burst = 32,
		.drops = true},
};

static void
attack_moving(void **state)
{
	attack_until(*state, ask_for_any, &has_moved);
}

int
main(void)
{
	struct CMUnitTest tests[8 + RTE_DIM(attacks)] = {
		cmocka_unit_test_teardown(waits_for_who_enqueued, st_teardown),
		cmocka_unit_test_teardown(waits_for_what_is_there, st_teardown),
		cmocka_unit_test_teardown(is_given_up, st_teardown),
		cmocka_unit_test_teardown(ordered_flows_go_along, st_teardown),
		cmocka_unit_test_teardown(waits_for_what_is_out, st_teardown),
		cmocka_unit_test_teardown(waits_for_who_may_send, st_teardown),
		cmocka_unit_test_teardown(what_has_passed_goes_along, st_teardown),
		cmocka_unit_test_teardown(goes_on_between_bursts, st_teardown),
	};

	for (unsigned int i = 0; i < RTE_DIM(attacks); i++)
		tests[8 + i] = (struct CMUnitTest){.name = attacks[i].name,
			.test_func = attack_moving,
			.teardown_func = st_teardown,
			.initial_state = (void *)(uintptr_t)&attacks[i]};
	return ST_RUN("sched-move", tests);
}
