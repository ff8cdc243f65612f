/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ordered events that a shard's owner has without places: they go on as they were handed out; what is otherwise gets them their places first. What became
 * of each flow's events comes in the order of these, whatever was done in between. One thread.
 */

#include "sched_test.h"

#include "../../lib/sched/short_way.c"

#include "unmarked_stand.h"

static void
begin(unsigned int nb_flows)
{
	weir_sched_stop(st_sched, NULL, NULL); /* it may have been used before */
	start();
	use_next_queues();
	begin_with(OF_ORDERED, nb_flows);
	assert_int_equal(shard->nb_unmarked, BURST);
	assert_int_equal(shard->nb_placed, 0);
	for (unsigned int i = 0; i < BURST; i++)
		assert_int_equal(port->held[events[i].impl_opaque].how,
			held_how(HELD_ORDERED, shard->id, HELD_BY_WORD));
}

/* Of these, in this order, so many with a call. */
static void
forward(const unsigned int *order, unsigned int nb, unsigned int at_once)
{
	struct rte_event sent[BURST];

	for (unsigned int i = 0; i < nb; i++) {
		sent[i] = events[order[i]];
		sent[i].op = RTE_EVENT_OP_FORWARD;
		sent[i].queue_id = OF_ALL;
	}
	for (unsigned int i = 0; i < nb; i += at_once) {
		const uint16_t now = (uint16_t)RTE_MIN(at_once, nb - i);

		assert_int_equal(weir_sched_enqueue(st_port(WORKER), &sent[i], now), now);
	}
}

static void
forward_all(void)
{
	forward((unsigned int[]){0, 1, 2, 3}, BURST, BURST);
}

/* All that is left of OF_ORDERED goes on, and all that went on comes, of each flow in order. */
static void
check_order(unsigned int nb_forwarded)
{
	uint64_t last[OF_ANY][256] = {0};
	unsigned int nb = 0;

	while (nb < nb_forwarded) {
		const uint16_t got = weir_sched_dequeue(st_port(WORKER), events, BURST);

		assert_true(got > 0);
		for (uint16_t i = 0; i < got; i++) {
			uint64_t *of_flow =
				&last[events[i].queue_id % OF_ANY][events[i].flow_id % 256];

			if (events[i].queue_id == OF_ORDERED) {
				st_forward(WORKER, events[i], OF_ALL);
				continue;
			}
			assert_true(events[i].u64 + 1 > *of_flow);
			*of_flow = events[i].u64 + 1;
			nb++;
			st_release(WORKER, events[i]);
		}
	}
	assert_int_equal(nb, nb_forwarded);
	st_get_none(WORKER);
	check_numbers();
	assert_int_equal(shard->nb_unmarked, 0);
	assert_int_equal(shard->nb_marked, 0);
	assert_int_equal(shard->nb_placed, 0);
}

/* What is left to come, after the burst that was released at first. */
#define ALL (MANY - BURST)

/* Burst after burst no place is taken. */
static void
no_places(void **state)
{
	begin(NB_EVENTS);
	for (unsigned int i = 2; i < MANY / BURST; i++) {
		forward_all();
		assert_int_equal(shard->nb_unmarked, 0);
		assert_int_equal(port->nb_held, 0);
		burst(BURST);
		assert_int_equal(shard->nb_unmarked, BURST);
	}
	forward_all();
	assert_int_equal(shard->nb_places, BURST); /* of the first burst */
	assert_int_equal(port->unmarked_after, 0);
	check_order(ALL);
}

/* One call for each: they are in order. */
static void
one_by_one(void **state)
{
	begin(1);
	for (unsigned int i = 0; i < 4; i++) {
		forward((unsigned int[]){0, 1, 2, 3}, BURST, 1);
		assert_int_equal(shard->nb_unmarked, 0);
		burst(BURST);
		assert_int_equal(shard->nb_unmarked, BURST);
	}
	assert_int_equal(shard->nb_places, BURST);
	forward_all();
	check_order(ALL);
}

/* All orders of them: those of one flow come in theirs. By calls for one, two, three or all. */
static void
permuted(unsigned int nb_flows, unsigned int at_once)
{
	for (unsigned int code = 0; code < 256; code++) {
		const unsigned int order[BURST] = {
			code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3};
		unsigned int seen = 0;

		for (unsigned int i = 0; i < BURST; i++)
			seen |= 1u << order[i];
		if (seen != 15)
			continue;
		begin(nb_flows);
		forward(order, BURST, at_once);
		check_order(ALL);
	}
}

static void
other_orders(void **state)
{
	for (unsigned int at_once = 1; at_once <= BURST; at_once++) {
		permuted(1, at_once);
		permuted(2, at_once);
		permuted(NB_EVENTS, at_once);
	}
}

/* Others come before any of them, or after some of them have gone on. */
static void
others_see(void **state)
{
	for (unsigned int before = 0; before <= BURST; before++) {
		begin(2);
		forward((unsigned int[]){0, 1, 2, 3}, before, before);
		others_come();
		assert_int_equal(shard->nb_placed, BURST - before);
		for (unsigned int i = BURST; i > before; i--)
			forward((unsigned int[]){i - 1}, 1, 1);
		check_order(ALL);
	}
}

/* and for a while those that come then have places. */
static void
placed_for_a_while(void **state)
{
	begin(1);
	others_come();
	forward_all();
	assert_int_equal(port->unmarked_after, MARKED_FOR);
	for (unsigned int i = 0; i < MARKED_FOR; i++) {
		for (unsigned int n = 0; n < BURST; n++)
			st_new(WORKER, OF_ORDERED, own_flow(0), 1000 + i * BURST + n);
		assert_int_equal(weir_sched_dequeue(st_port(WORKER), events, BURST), BURST);
		if (events[0].queue_id == OF_ORDERED)
			assert_int_equal(shard->nb_placed, BURST);
		release_burst_of(BURST);
	}
	assert_int_equal(port->unmarked_after, 0);
}

/* Those that are released fill their places, in any order: the others need not wait. */
static void
some_are_released(void **state)
{
	for (unsigned int i = 0; i < BURST; i++) {
		unsigned int rest[BURST - 1], nb = 0;

		begin(1);
		release_from(i, 1);
		assert_int_equal(shard->nb_unmarked, BURST - 1);
		for (unsigned int n = 0; n < BURST; n++)
			if (n != i)
				rest[nb++] = n;
		forward(rest, nb, nb);
		assert_int_equal(port->unmarked_after, 0);
		check_order(ALL - 1);
	}
}

/* Some go on, to one queue or the other, and some are released, with one call. */
static void
mixed(void **state)
{
	for (unsigned int ways = 0; ways < 256; ways++) {
		unsigned int nb_forwarded;

		begin(1);
		nb_forwarded = end_mixed(ways);
		assert_int_equal(port->nb_held, 0);
		assert_int_equal(shard->nb_placed + shard->nb_unmarked, 0);
		check_order(ALL - BURST + nb_forwarded);
	}
}

/* Those that are given back twice, or were not had, are refused; the others go on. */
static void
twice(void **state)
{
	struct rte_event again;

	begin(1);
	again = events[1];
	again.op = RTE_EVENT_OP_FORWARD;
	forward((unsigned int[]){0, 1}, 2, 2);
	assert_int_equal(weir_sched_enqueue(st_port(WORKER), &again, 1), 0);
	again.op = RTE_EVENT_OP_RELEASE;
	assert_int_equal(weir_sched_enqueue(st_port(WORKER), &again, 1), 0);
	assert_int_equal(st_stats().nb_invalid, 2);
	forward((unsigned int[]){3, 2}, 2, 2);
	check_order(ALL);
}

/* Another one has an event of their flow, which has its place: they have theirs behind it, and wait for it. */
static void
behind_a_place(void **state)
{
	struct builtin_port *other = &port->builtin->ports[OTHER];
	struct rte_event stolen;

	use_next_queues();
	st_new(WORKER, OF_ORDERED, own_flow(0), 0);
	shard_lock(shard);
	shard_drain_all(shard);
	assert_int_equal(shard_take(shard, other, &stolen, 1, UINT32_MAX), 1);
	shard_unlock(shard);
	for (unsigned int i = 1; i < MANY; i++)
		st_new(WORKER, OF_ORDERED, own_flow(0), i);
	for (next_number = 1; next_number < 1 + 8 * BURST;) {
		burst(BURST);
		assert_int_equal(shard->nb_unmarked, 0);
		assert_true(next_number == 1 + BURST || port->bias.mine != NULL);
		assert_int_equal(port->unmarked_after, 0);
		forward_all();
		assert_int_equal(shard->nb_placed, next_number);
	}
	st_forward(OTHER, stolen, OF_ALL);
	assert_int_equal(shard->nb_placed, 0);
	check_order(MANY);
}

/* With others among them, which are held otherwise. */
static void
beside(uint8_t queue, unsigned int nth)
{
	unsigned int nb_ordered = 0;

	use_next_queues();
	next_number = 0;
	for (unsigned int i = 0; i < MANY; i++)
		st_new(WORKER, i >= 2 * BURST && i % 3 == nth ? queue : OF_ORDERED, own_flow(0), i);
	for (unsigned int i = 0; i < 2; i++) {
		burst(BURST);
		release_burst_of(BURST);
	}
	while (next_number < MANY) {
		burst(BURST);
		for (unsigned int i = BURST; i-- > 0;) {
			if (events[i].queue_id == OF_ORDERED) {
				forward(&i, 1, 1);
				nb_ordered++;
			} else {
				release_from(i, 1);
			}
		}
	}
	check_order(nb_ordered);
}

static void
beside_others(void **state)
{
	for (unsigned int nth = 0; nth < 3; nth++) {
		port->unmarked_after = 0;
		beside(OF_PARALLEL, nth);
		port->unmarked_after = 0;
		beside(OF_GROUP, nth);
	}
}

/* One whose credit is a reserved one comes by another way: it has its place behind those that were handed out before it, and all after it is marked. */
static void
reserved(void **state)
{
	struct rte_event event = st_event(RTE_EVENT_OP_NEW, OF_PARALLEL, own_flow(0), 0);

	use_next_queues();
	assert_int_equal(weir_sched_reserve(st_sched, 1), 1);
	assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), 0);
	event = st_get_one(WORKER);
	next_number = 0;
	for (unsigned int i = 0; i < MANY; i++)
		if (i == 2 * BURST + 2) {
			event.u64 = i;
			st_forward(WORKER, event, OF_ORDERED);
		} else if (i == 2 * BURST + 3) {
			st_new(WORKER, OF_GROUP, own_flow(1), i);
		} else {
			st_new(WORKER, OF_ORDERED, own_flow(0), i);
		}
	for (unsigned int i = 0; i < 2; i++) {
		burst(BURST);
		release_burst_of(BURST);
	}
	assert_int_not_equal(shard->at_once, 0);
	burst(BURST);
	assert_int_equal(shard->nb_unmarked, 0);
	assert_int_equal(shard->nb_placed, BURST - 1);
	assert_int_equal(shard->nb_marked, 1);
	forward((unsigned int[]){2, 3, 1, 0}, BURST, 1);
	check_order(MANY - 2 * BURST);
}

/* They are released with the next dequeue. */
static void
next_dequeue(void **state)
{
	next_number = 0;
	send_many(OF_ORDERED, MANY, 2);
	for (unsigned int i = 0; i < MANY / BURST; i++)
		burst(BURST);
	st_idle(WORKER);
	assert_int_equal(st_stats().nb_released, MANY);
	assert_int_equal(shard->nb_placed, 0);
	assert_int_equal(shard->nb_unmarked, 0);
	assert_int_equal(port->nb_held, 0);
}

/* It changes its type while it has it, which an ordered one does by going on: after those before it. */
static void
switched(void **state)
{
	begin(1);
	assert_int_equal(
		weir_sched_switch(st_port(WORKER), &events[1], own_flow(0), ORDERED), -EINPROGRESS);
	assert_int_equal(shard->nb_placed, BURST);
	forward((unsigned int[]){2, 3, 0}, 3, 1);
	assert_int_equal(shard->nb_placed, 0);
	do {
		burst(1);
		release_burst_of(1);
	} while (next_number < MANY);
	assert_int_equal(weir_sched_dequeue(st_port(WORKER), events, BURST), BURST);
	assert_int_equal(events[0].u64, BURST);
	assert_int_equal(events[1].u64, BURST + 1);
	assert_int_equal(events[1].queue_id, OF_ORDERED);
	assert_int_equal(events[2].u64, BURST + 2);
}

/* Numbers begin anew in the middle of a burst. */
static void
numbers_begin_anew(void **state)
{
	for (unsigned int i = 1; i < BURST; i++) {
		begin(1);
		release_burst_of(BURST);
		port->next_free = (uint8_t)(256 - i);
		burst(BURST);
		assert_int_equal(shard->nb_unmarked, BURST);
		forward_all();
		assert_int_equal(port->unmarked_after, 0);
		assert_int_equal(shard->nb_placed, 0);
		check_order(ALL - BURST);
	}
}

/* Nothing of it is left when it is stopped, and begins anew. */
static void
stopped(void **state)
{
	for (unsigned int marked = 0; marked < 2; marked++) {
		begin(2);
		if (marked)
			others_come();
		weir_sched_stop(st_sched, NULL, NULL);
		assert_int_equal(shard->nb_unmarked, 0);
		assert_int_equal(shard->nb_placed, 0);
		st_start();
		begin(2);
		forward_all();
		check_order(ALL);
	}
}

/* Something of another priority comes into use, for which the lists are to be in order: what was held so goes on, and what comes then does otherwise. */
static void
several_priorities(void **state)
{
	uint32_t elsewhere = 0;
	struct rte_event event;

	make();
	st_queue(OF_ORDERED, ORDERED, WEIR_SCHED_PRIORITY_BY_EVENT, 0);
	st_queue(OF_ALL, ATOMIC, WEIR_SCHED_PRIORITY_BY_EVENT, 0);
	start();
	while (event_shard(port->builtin, elsewhere) == shard->id)
		elsewhere++;
	for (unsigned int i = 0; i < MANY; i++)
		st_new(WORKER, i < MANY - NB_EVENTS ? OF_ORDERED : OF_ALL, own_flow(0), i);
	for (unsigned int i = 0; i < MANY - NB_EVENTS - 2; i++)
		event = take(i);
	assert_int_equal(shard->nb_unmarked, 1);
	st_new(OTHER, OF_GROUP, elsewhere, 0);
	assert_false(has_short_ways(port->builtin));
	assert_int_equal(shard->nb_unmarked, 1);
	st_forward(WORKER, event, OF_GROUP);
	assert_int_equal(shard->nb_unmarked + shard->nb_placed, 0);
	for (unsigned int nb = 0; nb < NB_EVENTS + 4; nb++) /* and the one that was sent before */
		assert_int_equal(weir_sched_dequeue(st_port(WORKER), &event, 1), 1);
	st_teardown(NULL);
}

/* Over and over: orders, calls and others as they come. */
static void
over_and_over(void **state)
{
	uint64_t random = 1;

	for (unsigned int round = 0; round < 300; round++) {
		unsigned int order[BURST] = {0, 1, 2, 3};

		begin(1 + round % 3);
		for (unsigned int i = 2; i < MANY / BURST; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			if (random >> 60 == 0)
				RTE_SWAP(order[random >> 33 & 3], order[random >> 40 & 3]);
			if ((random >> 56) % 16 == 1)
				others_come();
			forward(order, BURST, 1 + (random >> 50 & 3));
			burst(BURST);
		}
		forward_all();
		check_order(ALL);
		port->unmarked_after = 0;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		KEEP(no_places),
		KEEP(one_by_one),
		KEEP(other_orders),
		KEEP(others_see),
		KEEP(placed_for_a_while),
		KEEP(some_are_released),
		KEEP(mixed),
		KEEP(twice),
		KEEP(behind_a_place),
		KEEP(beside_others),
		KEEP(reserved),
		CASE(next_dequeue),
		KEEP(switched),
		KEEP(numbers_begin_anew),
		KEEP(stopped),
		cmocka_unit_test(several_priorities),
		KEEP(over_and_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
