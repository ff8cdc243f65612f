/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Flows of ports that do not come go where they are served, with what waits for them, and back when these ports come again: nothing is lost or
 * passed by others, however often that happens.
 */

#include <unistd.h>

#include "attack.h"

#include "../../lib/sched/move.h"
#include "../../lib/sched/owner.h"

#define NB_FLOWS    64
#define PATIENCE_NS 30000000000

static struct builtin *builtin;
static uint64_t next_number[2][NB_FLOWS], next_wanted[2][NB_FLOWS]; /* by queue */
static unsigned int nb_inside;

static void
begin(void)
{
	builtin = st_sched->own;
	builtin->gather_after = weir_base_ns_to_cycles(100000);
	memset(next_number, 0, sizeof(next_number));
	memset(next_wanted, 0, sizeof(next_wanted));
	nb_inside = 0;
}

static void
make_with(uint8_t priority, unsigned int nb_ports, uint8_t first, uint8_t second)
{
	st_make(st_config(nb_ports, 2));
	st_queue(0, first, priority, 0);
	st_queue(1, second, 0, 0);
	st_keep_all();
	st_start();
	begin();
}

static void
make(unsigned int nb_ports, uint8_t first, uint8_t second)
{
	make_with(0, nb_ports, first, second);
}

static void
send(unsigned int port, uint8_t queue, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		const uint32_t flow = i % NB_FLOWS;

		st_new(port, queue, flow, next_number[queue][flow]++);
		nb_inside++;
	}
}

/* What a port gets is the next one of its flow, and leaves. */
static void
take(unsigned int port)
{
	struct rte_event events[4];
	const uint16_t nb = weir_sched_dequeue(st_port(port), events, RTE_DIM(events));

	for (uint16_t i = 0; i < nb; i++) {
		const uint8_t queue = events[i].queue_id;

		if (builtin->queues[queue].type != PARALLEL)
			assert_int_equal(events[i].u64, next_wanted[queue][events[i].flow_id]++);
		st_release(port, events[i]);
	}
	nb_inside -= nb;
}

/* Where the first queue's classes are: how many at a port's. */
static unsigned int
nb_classes_at(unsigned int port)
{
	unsigned int nb = 0;

	for (uint32_t class = 0; class <= builtin->class_mask; class ++)
		nb += builtin->shard_of[0][class] == builtin->ports[port].home->id;
	return nb;
}

/* Some ports are called until one of them has so many classes. */
static void
call_until(uint64_t ports, unsigned int port, unsigned int wanted, bool working)
{
	const uint64_t end = weir_base_time_ns() + PATIENCE_NS;

	while (nb_classes_at(port) != wanted) {
		if (weir_base_time_ns() > end)
			fail_msg("port %u has %u classes, not %u", port, nb_classes_at(port),
				wanted);
		for (unsigned int i = 0; i < 64; i++) {
			if ((ports >> i & 1) == 0)
				continue;
			take(i);
			if (working && i == 0 && nb_inside < NB_FLOWS)
				send(0, 0,
					16); /* all by one port: between several there is no order */
		}
	}
}

static void
take_all(unsigned int port)
{
	const uint64_t end = weir_base_time_ns() + PATIENCE_NS;

	while (nb_inside > 0) {
		take(port);
		if (weir_base_time_ns() > end)
			fail_msg("%u events do not come", nb_inside);
	}
}

/* Also while there is always something in all flows. */
static void
those_of_idle_ports_come_together(void **state)
{
	static const uint8_t types[] = {ATOMIC, ORDERED, WEIR_SCHED_TYPE_BY_EVENT};

	for (unsigned int i = 0; i < 4 * RTE_DIM(types); i++)
		for (unsigned int nb_ports = 2; nb_ports <= 64; nb_ports *= 4) {
			make_with(i / 2 % 2 * 3, nb_ports, types[i / 4], ATOMIC);
			send(0, 1, NB_FLOWS); /* of the higher priority, if there are two */
			send(0, 0, 2 * NB_FLOWS);
			call_until(1, 0, builtin->class_mask + 1, i % 2 > 0);
			send(0, 0, NB_FLOWS);
			take_all(0);
			st_teardown(NULL);
		}
}

/* What waited there goes along, in its order, and before what comes meanwhile. */
static void
what_waits_goes_along(void **state)
{
	struct rte_event events[NB_FLOWS];
	unsigned int nb = 0;

	make(4, ATOMIC, ATOMIC);
	send(0, 0, 4 * NB_FLOWS);
	/* In lists, as others hold what is before it. */
	while (nb < NB_FLOWS / 2)
		nb += weir_sched_dequeue(st_port(1 + nb % 3), &events[nb], 1);
	for (unsigned int i = 0; i < nb; i++) {
		assert_int_equal(events[i].u64, next_wanted[0][events[i].flow_id]++);
		st_release(1 + i % 3, events[i]);
	}
	nb_inside -= nb;
	call_until(1, 0, builtin->class_mask + 1, true);
	take_all(0);
}

static void
who_comes_again_has_its_own(void **state)
{
	unsigned int all;

	make(4, ATOMIC, ATOMIC);
	all = builtin->class_mask + 1;
	send(0, 0, NB_FLOWS);
	call_until(1, 0, all, true);
	call_until(1 | 1 << 2, 2, all / 2, true);
	call_until(0xf, 3, all / 4, true);
	call_until(0xf, 2, all / 4, true);
	call_until(0xf, 0, all / 4, true);
	take_all(1);
}

/* Who worked, and is not called any more, need not answer. */
static void
waits_for_nobody_who_is_away(void **state)
{
	unsigned int all;

	make(4, ATOMIC, PARALLEL);
	if (!builtin->may_fence)
		st_skip("the kernel has no membarrier");
	all = builtin->class_mask + 1;
	for (unsigned int port = 0; port < 4; port++)
		send(port, 1, NB_FLOWS);
	call_until(0xf, 0, all / 4, true);
	call_until(1, 0, all, true);
	take_all(0);
}

/* Who is in the middle of a call is waited for. */
static void
waits_for_who_puts_something_in(void **state)
{
	make(2, ATOMIC, ATOMIC);
	send(1, 0, NB_FLOWS);
	builtin->ports[1].move.is_inside = 1;
	for (unsigned int i = 0; i < 1000; i++) {
		usleep(10);
		take(0);
	}
	assert_int_equal(nb_classes_at(0), (builtin->class_mask + 1) / 2);
	assert_int_equal(builtin->ports[0].nb_moved, 0);
	builtin->ports[1].move.is_inside = 0;
	call_until(1, 0, builtin->class_mask + 1, false);
	take_all(0);
}

/* A queue that was not in use when others' flows went has its own there yet. */
static void
another_queue_is_served(void **state)
{
	make(8, ATOMIC, PARALLEL);
	send(0, 0, NB_FLOWS);
	call_until(1, 0, builtin->class_mask + 1, false);
	take_all(0);
	for (unsigned int i = 0; i < 4; i++) {
		send(0, 1, 2 * NB_FLOWS);
		take_all(0);
		send(0, 0, NB_FLOWS);
		take_all(0);
	}
}

/* A flow that is held for long keeps its class there, and nothing else. */
static void
what_is_held_keeps_nothing_else(void **state)
{
	struct rte_event held;
	unsigned int all;

	make(4, ATOMIC, ATOMIC);
	all = builtin->class_mask + 1;
	send(0, 0, NB_FLOWS);
	held = st_get_one(1);
	assert_int_equal(held.u64, next_wanted[0][held.flow_id]++);
	call_until(1, 0, all - 1, true);
	st_release(1, held);
	nb_inside--;
	call_until(0xf, 1, all / 4, true);
	take_all(0);
}

/* When its flows were asked for, and nobody has answered yet. */
static void
who_comes_again_then_has_its_own(void **state)
{
	const uint64_t end = weir_base_time_ns() + PATIENCE_NS;

	make(3, ATOMIC, ATOMIC);
	builtin->may_fence = false;
	builtin->move_patience = INT64_MAX / 4;
	send(2, 0, 1);
	while (builtin->ports[0].move.own == 0 && weir_base_time_ns() < end)
		take(0);
	assert_int_not_equal(builtin->ports[0].move.own, 0);
	take(1);
	send(2, 0, 1); /* it answers */
	call_until(7, 0, (builtin->class_mask + 3) / 3, false);
	take(0);
	call_until(7, 1, (builtin->class_mask + 1) / 3, false);
	call_until(7, 2, (builtin->class_mask + 1) / 3, false);
	take_all(0);
}

/* Two ports; queues of many flows, of which the first two have something. */
static void
make_large(unsigned int nb_queues)
{
	struct weir_sched_config config = st_config(2, nb_queues);

	config.nb_flows = 131072;
	st_make(config);
	st_keep_all();
	st_start();
	begin();
	send(0, 0, NB_FLOWS);
	send(0, 1, NB_FLOWS);
}

/* As many as go at a time: also back, when all queues are in use. */
static void
so_many_flows_go(void **state)
{
	make_large(8);
	call_until(1, 0, builtin->class_mask + 1, true);
	take_all(0);
	for (uint8_t queue = 2; queue < 8; queue++) {
		st_new(0, queue, 0, 0);
		st_release(0, st_get_one(0));
	}
	call_until(3, 1, (builtin->class_mask + 1) / 2, true);
	take_all(0);
}

static void
more_flows_stay(void **state)
{
	uint64_t end;

	make_large(9);
	for (end = weir_base_time_ns() + 20000000; weir_base_time_ns() < end;)
		take(0);
	take_all(0);
	assert_int_equal(nb_classes_at(0), (builtin->class_mask + 1) / 2);
}

/* While another one's shard is laid to rest the home one is lost, and is taken back. */
static void
home_is_served_again(void **state)
{
	struct builtin_port *port;
	unsigned int other;

	make(2, ATOMIC, ATOMIC);
	builtin->gather_after = INT64_MAX / 4;
	port = &builtin->ports[0];
	other = builtin->ports[1].home->id;
	for (unsigned int i = 0; (port->served >> other & 1) == 0; i++) {
		take(0);
		assert_true(i < 100000000);
	}
	port->own_id = (uint8_t)other;
	port->own = &builtin->shards[other];
	port->home->owner = 1;
	owner_rest(port, other);
	for (uint32_t flow = 0; flow < NB_FLOWS; flow++) {
		if (builtin->shard_of[0][flow_class(builtin, flow)] != port->home->id)
			continue;
		st_new(1, 0, flow, next_number[0][flow]++);
		nb_inside++;
	}
	take_all(0);
}

static bool has_moved;

/* In order that all happens often, they are away sooner. */
static void
be_away(struct attack_worker *worker)
{
	struct builtin *attacked = st_sched->own;

	if (attacked->ports[worker->port].nb_moved > 0)
		__atomic_store_n(&has_moved, true, __ATOMIC_RELAXED);
	__atomic_store_n(&attacked->gather_after, weir_base_ns_to_cycles(100000), __ATOMIC_RELAXED);
	if (attack_roll(worker, 16) == 0)
		usleep(1 + attack_roll(worker, 1000));
}

static const struct attack attacks[] = {
	{.name = "come-and-go",
		.nb_workers = 4,
		.nb_producers = 1,
		.nb_flows = 60,
		.flows_configured = 64,
		.nb_stages = 3,
		.stages = {A(0, 0), {PARALLEL, 0, 0}, A(0, 0)},
		.nb_events = 256,
		.burst = 8,
		.workers_produce = true,
		.reserved = true,
		.drops = true},
	{.name = "come-and-go-one-by-one",
		.nb_workers = 8,
		.nb_producers = 1,
		.nb_flows = 60,
		.flows_configured = 32,
		.nb_stages = 2,
		.stages = {A(0, 0), A(0, 0)},
		.nb_events = 128,
		.burst = 1},
	{.name = "come-and-go-beside-ordered",
		.nb_workers = 4,
		.nb_producers = 1,
		.nb_flows = 60,
		.flows_configured = 64,
		.nb_stages = 5,
		.stages = {O(0, 0), A(0, 0), E(0, 0), O(0, 0), A(0, 0)},
		.nb_events = 256,
		.burst = 8,
		.workers_produce = true,
		.reserved = true,
		.drops = true},
	{.name = "come-and-go-ordered-one-by-one",
		.nb_workers = 8,
		.nb_producers = 1,
		.nb_flows = 60,
		.flows_configured = 32,
		.nb_stages = 3,
		.stages = {O(0, 0), A(0, 0), O(0, 0)},
		.nb_events = 128,
		.burst = 1,
		.stalls = true},
	{.name = "come-and-go-priorities",
		.nb_workers = 4,
		.nb_producers = 1,
		.nb_flows = 60,
		.flows_configured = 64,
		.nb_stages = 4,
		.stages = {A(2, 0), O(0, 0), {PARALLEL, 5, 0}, A(7, 0)},
		.nb_events = 256,
		.burst = 8,
		.bound = 10,
		.workers_produce = true},
	{.name = "come-and-go-while-all-changes",
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
};

static void
attack_away(void **state)
{
	attack_until(*state, be_away, &has_moved);
}

int
main(void)
{
	struct CMUnitTest tests[11 + RTE_DIM(attacks)] = {
		cmocka_unit_test_teardown(those_of_idle_ports_come_together, st_teardown),
		cmocka_unit_test_teardown(what_waits_goes_along, st_teardown),
		cmocka_unit_test_teardown(who_comes_again_has_its_own, st_teardown),
		cmocka_unit_test_teardown(waits_for_nobody_who_is_away, st_teardown),
		cmocka_unit_test_teardown(waits_for_who_puts_something_in, st_teardown),
		cmocka_unit_test_teardown(another_queue_is_served, st_teardown),
		cmocka_unit_test_teardown(what_is_held_keeps_nothing_else, st_teardown),
		cmocka_unit_test_teardown(who_comes_again_then_has_its_own, st_teardown),
		cmocka_unit_test_teardown(home_is_served_again, st_teardown),
		cmocka_unit_test_teardown(so_many_flows_go, st_teardown),
		cmocka_unit_test_teardown(more_flows_stay, st_teardown),
	};

	for (unsigned int i = 0; i < RTE_DIM(attacks); i++)
		tests[11 + i] = (struct CMUnitTest){.name = attacks[i].name,
			.test_func = attack_away,
			.teardown_func = st_teardown,
			.initial_state = (void *)(uintptr_t)&attacks[i]};
	return ST_RUN("sched-gather", tests);
}
