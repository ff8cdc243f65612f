/* SPDX-License-Identifier: BSD-3-Clause */

/* Which flows go to a port that finds nothing, by what it sees of others and when: times are arguments, nothing waits. */

#include "sched_test.h"

#include "../../lib/sched/balance.c"

#include "balance_stand.h"

static struct rte_event taken_over;

/* It finds nothing, at some time. @return events taken over then */
static uint16_t
find_nothing(uint64_t at)
{
	uint16_t got = 0;

	now = idle->home->now = at;
	/* That it found nothing just before does not count here. */
	idle->balance.nb_dequeued = UINT64_MAX;
	if (balance_is_due(idle))
		got = balance(idle, &taken_over);
	idle->counts.nb_dequeued += got;
	if (got > 0)
		st_release(IDLE, taken_over);
	return got;
}

static uint16_t
pass(const struct period *period)
{
	return find_nothing(work(period));
}

/* @return is a class asked for, after so many periods? */
static bool
is_asked_for(const struct period *period, unsigned int nb)
{
	/* The first one tells nothing: it is not known what was before. */
	for (unsigned int i = 0; i < nb + 1; i++)
		pass(period);
	return idle->move.own != 0;
}

static const struct period busier = {.idle = 30, .taken = 100, .own = 100};

static void
after_some_periods(void **state)
{
	send(200);
	assert_false(is_asked_for(&busier, PERIODS - 1));
	assert_int_equal(pass(&busier), 1);
	assert_int_not_equal(idle->move.own, 0);
	assert_int_equal(idle->move.flows.from, shard->id);
	assert_int_equal(idle->move.flows.of, MOVE_OF_ANY);
}

static void
only_in_a_row(void **state)
{
	static const struct period quiet = {.idle = 1, .taken = 100, .own = 100};

	send(200);
	for (unsigned int i = 0; i < 6 * PERIODS; i++)
		assert_int_equal(pass(i % PERIODS == PERIODS - 1 ? &quiet : &busier), 0);
}

static void
as_one_is_busier(void **state)
{
	static const struct {
		struct period period;
		bool is;
	} cases[] = {
		{{.idle = 100 / IDLE_PART + 1, .taken = 1, .own = 1}, true},
		{{.idle = 100 / IDLE_PART - 1, .taken = 1, .own = 1}, false},
		/* both have time left */
		{{.idle = 50, .owner_idle = 30, .taken = 1, .own = 1}, true},
		{{.idle = 50, .owner_idle = 45, .taken = 1, .own = 1}, false},
		{{.idle = 10, .owner_idle = 50, .taken = 1, .own = 1}, false},
		/* the time is not its own that the owner spends on others' events */
		{{.idle = 50, .taken = 60, .its_stolen = 40, .own = 50}, true},
		{{.idle = 50, .taken = 50, .its_stolen = 50, .own = 50}, false},
		/* it does not come: others have all of it anyway */
		{{.idle = 100}, false},
		/* nor that which who compares does */
		{{.taken = 80, .own = 80, .stolen = 20}, true},
		{{.taken = 80, .own = 96, .stolen = 4}, false},
	};
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		assert_int_equal(setup(state), 0);
		send(200);
		if (is_asked_for(&cases[i].period, PERIODS) != cases[i].is)
			fail_msg("case %u", i);
		teardown(state);
	}
}

static void
only_if_much_waits(void **state)
{
	send(20);
	assert_false(is_asked_for(&busier, 2 * PERIODS));
}

/* Of events that are very short. */
static void
not_if_it_costs_more(void **state)
{
	const unsigned int most = (unsigned int)(SHORTEST_PART * length / builtin->slow);
	const struct period fast = {.idle = 30, .taken = 2 * most, .own = most};
	const struct period slow = {.idle = 30, .taken = most / 2, .own = most};

	send(200);
	assert_false(is_asked_for(&fast, 2 * PERIODS));
	assert_true(is_asked_for(&slow, PERIODS));
}

static void
with_priorities(void **state)
{
	send(200);
	priority_use(builtin, 3);
	assert_true(is_asked_for(&busier, PERIODS));
}

/* Of what waits there, nothing is for this port. */
static void
not_of_other_groups(void **state)
{
	send(200);
	builtin->port_groups[IDLE] = 2;
	assert_false(is_asked_for(&busier, 2 * PERIODS));
	assert_int_equal(shard->nb_ready, 0); /* it was left alone */
}

/* What is known of a shard is of two comparisons in a row, */
static void
as_it_is_known(void **state)
{
	send(200);
	assert_false(is_asked_for(&busier, PERIODS - 1));
	builtin->waiting = 0; /* it is not looked at */
	pass(&busier);
	builtin->waiting = 1u << shard->id;
	for (unsigned int i = 0; i < PERIODS; i++)
		assert_int_equal(pass(&busier), 0);
	assert_int_equal(pass(&busier), 1);
}

/* and of who serves it, whoever is at home there. */
static void
as_who_serves_it(void **state)
{
	static const struct period idle_too = {
		.idle = 30, .owner_idle = 30, .taken = 100, .own = 100};

	send(200);
	shard->owner = OTHER;
	assert_false(is_asked_for(&idle_too, 2 * PERIODS));
	shard->owner = OWNER;
	builtin->ports[OWNER].idle_time = builtin->ports[OTHER].idle_time;
	for (unsigned int i = 0; i < PERIODS; i++)
		assert_int_equal(pass(&busier), 0);
	assert_int_equal(pass(&busier), 1);
}

/* Not with its own. */
static void
with_others(void **state)
{
	static const struct period helps = {.taken = 100, .own = 50, .stolen = 50};

	builtin->waiting = idle->home_bit;
	for (unsigned int i = 0; i < 3 * PERIODS; i++) {
		idle->home->nb_hint = 2 * WAITING_LEAST;
		pass(&helps);
		assert_null(idle->balance.from);
	}
}

/* A class that has much of what waits stays; other ones go. */
static void
not_what_is_much(void **state)
{
	send_hot(400, 3);
	/* The hot flow's is what is taken over first. */
	assert_false(is_asked_for(&busier, PERIODS));
	assert_int_equal(idle->balance.nb_refused, REFUSED_STOLEN);
	for (unsigned int i = 0; i < REFUSED_MAX && idle->move.own == 0; i++)
		assert_int_equal(find_nothing(now + GAPS * (uint64_t)builtin->gap), 1);
	assert_int_not_equal(idle->move.own, 0);
}

/* So much of what the one does, at the pace of the other one, makes them even; half of it goes. */
static void
half_of_the_difference(void **state)
{
	static const struct {
		struct did its, own;
		double part;
	} cases[] = {
		{{100, 100, 100}, {50, 50, 50}, 0.125},
		{{100, 100, 100}, {50, 100, 50}, 1 / 6.0},
		{{100, 100, 100}, {50, 25, 50}, 1 / 12.0},
		{{100, 100, 100}, {0, 0, 0}, 0.25},
		{{100, 100, 100}, {60, 60, 20}, 0.2},
		{{100, 100, 80}, {60, 60, 40}, 0.125},
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		assert_float_equal(part_to_move(&cases[i].its, &cases[i].own), cases[i].part, 1e-9);
}

/* And no more, one after the other, until what is left is less than a class may have. */
static void
until_that_is_moved(void **state)
{
	const uint64_t gaps = GAPS * (uint64_t)builtin->gap;
	unsigned int nb = 0;

	send(200);
	assert_true(is_asked_for(&busier, PERIODS));
	for (unsigned int i = 0; i < 100; i++) {
		const double before = idle->balance.part;

		while (idle->move.own != 0)
			move_go_on(idle);
		assert_int_equal(find_nothing(now + gaps - 1), 0);
		find_nothing(now + 1);
		nb += idle->balance.part > 0 && idle->balance.part < before;
	}
	assert_true(nb >= 2);
	assert_true(idle->balance.part < part_of_any(shard, 0));
	assert_int_equal(idle->move.own, 0);
	pass(&busier);
	assert_int_equal(idle->seen[shard->id].compared.nb_vain, 0);
}

/* What was seen is not so any more. */
static void
not_after_others_have_moved(void **state)
{
	send(200);
	assert_true(is_asked_for(&busier, PERIODS));
	while (idle->move.own != 0)
		move_go_on(idle);
	builtin->nb_moves++;
	assert_int_equal(find_nothing(now + GAPS * (uint64_t)builtin->gap), 0);
	assert_int_equal(pass(&busier), 1);
}

/* Twice as seldom each time. */
static void
seldom_in_vain(void **state)
{
	unsigned int last = 0, nb = 0;

	send(200);
	for (unsigned int i = 1; i < 32 * PERIODS && nb < 4; i++) {
		if (pass(&busier) == 0)
			continue;
		/* Nobody answers, it is given up. */
		idle->move.own = 0;
		__atomic_store_n(&builtin->move, 0, __ATOMIC_RELAXED);
		idle->balance.part = 0;
		if (last > 0)
			assert_int_equal(i - last, (PERIODS << nb) + PERIODS);
		last = i;
		nb++;
	}
	assert_int_equal(nb, 4);
}

/* Between two polls that find nothing, and not while it has something; a thread that comes seldom has other things to do. */
static void
idle_time_is_counted(void **state)
{
	uint64_t before;

	note_idle_time(idle, now);
	before = idle->idle_time;
	note_idle_time(idle, now + 100);
	assert_int_equal(idle->idle_time - before, 100);
	idle->counts.nb_dequeued++;
	note_idle_time(idle, now + 300);
	assert_int_equal(idle->idle_time - before, 100);
	note_idle_time(idle, now + 310);
	assert_int_equal(idle->idle_time - before, 110);
	note_idle_time(idle, now + 300); /* another shard's clock */
	note_idle_time(idle, now + 320);
	assert_int_equal(idle->idle_time - before, 120);
	note_idle_time(idle, now + 320 + 10 * builtin->gap);
	assert_int_equal(idle->idle_time - before, 120 + builtin->gap);
}

/* Of one port, and of one that sleeps, where nothing can be moved. */
static void
idle_time_of_all(void **state)
{
	struct weir_sched_config config = st_config(1, 1);
	struct rte_event event;

	for (unsigned int sleep_us = 0; sleep_us <= 2000; sleep_us += 2000) {
		const uint64_t begin = weir_base_time_ns();
		uint64_t took, idle_ns;

		st_teardown(state);
		config.idle_sleep_us = sleep_us;
		st_make(config);
		st_start();
		for (unsigned int i = 0; i < 1000 && weir_base_time_ns() - begin < 50000000; i++)
			weir_sched_dequeue(st_port(0), &event, 1);
		took = weir_base_time_ns() - begin;
		idle_ns = st_xstat(WEIR_SCHED_PART_PORT, 0, "idle_ns");
		assert_true(idle_ns > 0 && idle_ns <= took + took / 10);
		if (sleep_us > 0)
			assert_true(idle_ns > 4000000);
	}
}

static uint64_t last[FLOWS]; /* of each flow, the number of the event that came last */
static unsigned int nb_inside;

static void
note(const struct rte_event *event)
{
	assert_true(event->u64 > last[event->flow_id]);
	last[event->flow_id] = event->u64;
	nb_inside--;
}

/* @return did the port get one? */
static bool
take(unsigned int port)
{
	struct rte_event event;

	if (weir_sched_dequeue(st_port(port), &event, 1) == 0)
		return false;
	note(&event);
	st_release(port, event);
	return true;
}

/* Without a look at others' shards, which might be taken over. */
static void
take_all_of_its_own(unsigned int port)
{
	while (!shard_seems_empty(builtin->ports[port].home))
		take(port);
}

static uint64_t
nb_moved(void)
{
	return st_xstat(WEIR_SCHED_PART_PORT, IDLE, "classes_moved");
}

/* The flows come with what waits for them, and all events of a flow in their order, wherever it is. */
static void
they_come(void **state)
{
	uint64_t number = 0;

	memset(last, 0, sizeof(last));
	for (unsigned int round = 0; round < 1000 && nb_moved() < 10; round++) {
		for (; nb_inside < 500; nb_inside++, number++)
			st_new(OTHER, 0, (uint32_t)(number % FLOWS), number + 1);
		take(OWNER);
		take_all_of_its_own(OTHER);
		take_all_of_its_own(IDLE);
		if (pass(&busier) > 0)
			note(&taken_over);
		while (idle->move.own != 0)
			move_go_on(idle);
	}
	assert_true(nb_moved() >= 10);
	while (nb_inside > 0)
		for (unsigned int port = OWNER; port <= OTHER; port++)
			take(port);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(after_some_periods),
		CASE(only_in_a_row),
		cmocka_unit_test(as_one_is_busier),
		CASE(only_if_much_waits),
		CASE(not_if_it_costs_more),
		CASE(with_priorities),
		CASE(not_of_other_groups),
		CASE(as_it_is_known),
		CASE(as_who_serves_it),
		CASE(with_others),
		CASE(not_what_is_much),
		CASE(half_of_the_difference),
		CASE(until_that_is_moved),
		CASE(not_after_others_have_moved),
		CASE(seldom_in_vain),
		CASE(idle_time_is_counted),
		CASE(idle_time_of_all),
		CASE(they_come),
	};

	return ST_RUN("sched-balance", tests);
}
