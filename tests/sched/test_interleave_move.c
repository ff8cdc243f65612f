/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A class of flows goes from one shard to another while events of it come, and are sent on by both ports: in every order of their steps
 * they come out in the order of the flow. What follows is read in the order of ports: the one that has the flow later has the lower
 * number, so that what is not waited for comes too early.
 *
 * The flow is an atomic one, or an ordered one: then what follows is sent by shards. It may be sent to the flow that goes.
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
#include "../../lib/sched/move.c"
#include "../../lib/sched/move_flows.c"
#include "../../lib/sched/move_waiting.c"
#include "../../lib/sched/places.c"
#include "../../lib/sched/bias.c"
#include "../../lib/sched/shard.c"

#include "interleave_stand.h"

#include "interleave_follow.h"

/* Ports, and their shards: what follows goes to that of the sender, where nobody takes it before all is done. */
enum { MOVER, SENDER, OWNER };

static uint32_t flow;
static bool goes_to_it; /* it is the flow that follows which goes to another shard */
static unsigned int nb_first, nb_sent;
static unsigned int nb_moved, nb_not_moved;

static void
send_new(void)
{
	struct rte_event event = {
		.op = RTE_EVENT_OP_NEW, .flow_id = flow & 0xfffff, .u64 = nb_sent++};

	CHECK(weir_sched_enqueue(&ports[SENDER]->base, &event, 1) == 1);
}

/* Some have come by the old way. */
static void
init(void)
{
	stand_start((1u << STAND_PORTS) - 1);
	builtin->move_patience = INT64_MAX / 4;
	builtin->may_fence = false; /* each step is made by who answers, or waits */
	flow = stand_flow_in(0, ports[OWNER]->home->id);
	to_flow = stand_flow_in(1, ports[SENDER]->home->id);
	CHECK(queue_use(builtin, 0));
	nb_sent = 0;
	for (unsigned int i = 0; i < nb_first; i++)
		send_new();
}

static void
sender(void)
{
	send_new();
	send_new();
}

/* What has come to its shard goes on. */
static void
work_once(struct builtin_port *port)
{
	struct rte_event event;

	shard_lock(port->home);
	shard_drain_all(port->home);
	shard_unlock(port->home);
	if (take_from(port->home, port, &event))
		send_on(port, event);
}

static void
owner(void)
{
	work_once(ports[OWNER]);
	work_once(ports[OWNER]);
}

static void
ask(void)
{
	const struct move_flows flows = {
		.class = (uint8_t)flow_class(builtin, goes_to_it ? to_flow : flow),
		.from = (uint8_t)ports[goes_to_it ? SENDER : OWNER]->home->id,
		.of = MOVE_OF_ANY};

	CHECK(move_ask(ports[MOVER], flows));
}

static void
go_on_moving(void)
{
	for (unsigned int i = 0; i < 2 && ports[MOVER]->move.own != 0; i++)
		move_go_on(ports[MOVER]);
}

static void
mover_that_asked(void)
{
	go_on_moving();
	work_once(ports[MOVER]);
}

static void
mover(void)
{
	ask();
	mover_that_asked();
}

static void
mover_after_answer(void)
{
	ask();
	move_answer(ports[OWNER]);
	move_answer(ports[SENDER]);
	go_on_moving();
}

/* What was there has gone on before. */
static void
mover_after_owner(void)
{
	work_once(ports[OWNER]);
	ask();
	move_answer(ports[OWNER]);
	go_on_moving();
	work_once(ports[MOVER]);
}

/* The sender answers, and sends by the new way if there is one. */
static void
mover_and_sender(void)
{
	ask();
	move_answer(ports[SENDER]);
	go_on_moving();
	send_new();
	work_once(ports[MOVER]);
}

static void
init_asked(void)
{
	init();
	ask();
}

/* All have answered, and what there was has been sent on, which nobody has seen yet. */
static void
init_sent(void)
{
	init();
	owner();
	ask();
	for (unsigned int i = 0; i < STAND_PORTS; i++)
		move_answer(ports[i]);
}

/* Who moves does not come for long: another one takes its shard over, and has what it brought there. */
static void
sender_takes_over(void)
{
	struct rte_event event;

	send_new();
	take_over(ports[SENDER], ports[MOVER]->home, MOVER, false);
	if (take_from(ports[MOVER]->home, ports[SENDER], &event))
		send_on(ports[SENDER], event);
}

/* What is left goes the same way. */
static void
check(void)
{
	unsigned int nb_out = 0;

	nb_moved += ports[MOVER]->nb_moved;
	nb_not_moved += ports[MOVER]->nb_moved == 0;
	for (unsigned int i = 0; i < 4 * STAND_PORTS * nb_sent; i++) {
		struct builtin_port *port = ports[i % STAND_PORTS];

		CHECK(port->nb_held == 0);
		if (move_is_news(port))
			move_answer(port);
		if (port->move.own != 0)
			move_go_on(port);
		nb_out = go_on(port->home, nb_out);
	}
	CHECK(nb_out == nb_sent);
	CHECK((builtin->move & MOVE_ASKED) == 0);
	ports[MOVER]->nb_moved = 0;
}

/* Some events come first. In some orders it moves meanwhile. */
static void
run_of(uint8_t type, void (*from)(void), unsigned int nb, unsigned int interruptions,
	void (*first)(void), void (*second)(void), void (*third)(void))
{
	const struct interleave interleave = {.init = from,
		.nb_actors = third != NULL ? 3 : 2,
		.actors = {first, second, third},
		.check = check,
		.most_interruptions = interruptions,
		.least = 50};

	stand_make_as(type, STAND_PORTS, 2, 1);
	nb_first = nb;
	nb_moved = nb_not_moved = 0;
	interleave_all(&interleave);
	printf("  it moves meanwhile in %u of them\n", nb_moved);
	assert_true(nb_moved > 0 && (nb_not_moved > 0 || goes_to_it));
	stand_teardown(NULL);
}

static void
run(void (*from)(void), unsigned int nb, unsigned int interruptions, void (*first)(void),
	void (*second)(void), void (*third)(void))
{
	run_of(RTE_SCHED_TYPE_ATOMIC, from, nb, interruptions, first, second, third);
	run_of(RTE_SCHED_TYPE_ORDERED, from, nb, interruptions, first, second, third);
}

/* Who sends has not done so before. */
static void
while_the_first_ones_come(void **state)
{
	run(init, 0, 2, sender, mover, NULL);
}

static void
while_others_come(void **state)
{
	run(init, 1, 2, sender, mover_after_owner, NULL);
}

/* One comes by the old way, the next one by the new way. */
static void
while_it_was_asked_before(void **state)
{
	run(init_asked, 1, 2, sender, mover_that_asked, NULL);
}

static void
while_events_go_on(void **state)
{
	run(init, 2, 2, owner, mover_and_sender, NULL);
}

static void
while_all_work(void **state)
{
	run(init_asked, 1, 1, sender, owner, mover_that_asked);
}

static void
while_it_is_taken_over(void **state)
{
	run(init_sent, 2, 2, sender_takes_over, go_on_moving, NULL);
}

/* By their shard, which asks nobody where that flow is; its owner answers before. */
static void
while_events_are_sent_there(void **state)
{
	goes_to_it = true;
	run_of(RTE_SCHED_TYPE_ORDERED, init, 2, 2, owner, mover_after_answer, NULL);
	goes_to_it = false;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(while_the_first_ones_come),
		cmocka_unit_test(while_others_come), cmocka_unit_test(while_it_was_asked_before),
		cmocka_unit_test(while_events_go_on), cmocka_unit_test(while_it_is_taken_over),
		cmocka_unit_test(while_all_work), cmocka_unit_test(while_events_are_sent_there)};

	return cmocka_run_group_tests_name("sched-interleave-move", tests, NULL, NULL);
}
