/* SPDX-License-Identifier: BSD-3-Clause */

/* Which flows go to a port that has time for them, by what it sees of others and when: times are arguments, nothing waits. */

#include "sched_test.h"

#include "../../lib/sched/balance.c"

#define OWNER 0
#define IDLE  1
#define OTHER 2
#define FLOWS 1024

static struct builtin *builtin;
static struct builtin_port *idle;
static struct shard *shard; /* the owner's */
static uint64_t now;

static int
setup(void **state)
{
	struct weir_sched_config config = st_config(3, 2);

	config.nb_flows = FLOWS;
	st_make(config);
	st_start();
	builtin = st_sched->own;
	idle = &builtin->ports[IDLE];
	shard = builtin->ports[OWNER].home;
	builtin->waiting = 1u << shard->id;
	now = weir_base_cycles();
	idle->balance.at = now;
	return 0;
}

static int
teardown(void **state)
{
	return st_teardown(state);
}

/* Events of the owner's flows, one of each. It has taken one. */
static void
send(unsigned int nb)
{
	uint32_t flow = 0;

	for (unsigned int i = 0; i < nb; i++, flow++) {
		struct rte_event event = {.flow_id = 0};

		do
			event.flow_id = ++flow & 0xfffff;
		while (event_shard(builtin, event.event) != shard->id);
		st_new(OTHER, 0, flow, i);
	}
	st_release(OWNER, st_get_one(OWNER));
}

/* What happens in a period. */
struct period {
	unsigned int idle, owner_idle; /* percent of the time */
	unsigned int taken;            /* by the owner */
	unsigned int own, stolen;      /* by who is idle */
};

static uint64_t
percent(unsigned int nb)
{
	return builtin->move_period * nb / 100;
}

/* It finds nothing at its end. @return events that it takes over then */
static uint16_t
pass(const struct period *period)
{
	struct rte_event event;
	uint16_t got = 0;

	idle->home->idle_time += percent(period->idle);
	idle->counts.nb_dequeued += period->own + period->stolen;
	idle->counts.nb_stolen += period->stolen;
	shard->idle_time += percent(period->owner_idle);
	shard->nb_taken += period->taken;
	now += builtin->move_period;
	idle->home->now = now;
	if (balance_is_due(idle))
		got = balance(idle, &event);
	if (got > 0)
		idle->counts.nb_dequeued += got;
	return got;
}

/* @return were flows asked for, after so many periods? */
static bool
are_asked_for(const struct period *period, unsigned int nb)
{
	/* The first one tells nothing: it is not known what was before. */
	for (unsigned int i = 0; i < nb + 1; i++)
		if (pass(period) > 0)
			return idle->move.own != 0;
	return false;
}

static const struct period busier = {.idle = 30, .taken = 100, .own = 100};

static void
after_some_periods(void **state)
{
	send(200);
	assert_false(are_asked_for(&busier, PERIODS - 1));
	assert_int_equal(pass(&busier), 1);
	assert_int_not_equal(idle->move.own, 0);
	assert_int_equal(idle->move.flows.from, shard->id);
	assert_int_equal(idle->move.flows.of, MOVE_OF_ANY);
}

static void
only_in_a_row(void **state)
{
	static const struct period quiet = {.idle = 5, .taken = 100, .own = 100};

	send(200);
	for (unsigned int i = 0; i < 3 * PERIODS; i++)
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
		/* it does not come: others have all of it anyway */
		{{.idle = 100}, false},
		/* the time is not its own that it spends on others' events */
		{{.taken = 1, .own = 80, .stolen = 20}, true},
		{{.taken = 1, .own = 95, .stolen = 5}, false},
	};
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		assert_int_equal(setup(state), 0);
		send(200);
		if (are_asked_for(&cases[i].period, PERIODS) != cases[i].is)
			fail_msg("case %u", i);
		teardown(state);
	}
}

static void
only_if_much_waits(void **state)
{
	send(20);
	assert_false(are_asked_for(&busier, 2 * PERIODS));
}

/* Nobody's flows are where they are for long, otherwise: a priority is served at once, wherever it is. */
static void
not_with_priorities(void **state)
{
	send(200);
	priority_use(builtin, 3);
	assert_false(are_asked_for(&busier, 2 * PERIODS));
	assert_int_equal(idle->home->idle_time % percent(busier.idle), 0);
}

/* Half of what it has more time for, of both queues' classes. */
static void
as_many_as_fill_half(void **state)
{
	static const struct {
		unsigned int percent, run;
	} cases[] = {{13, 4}, {24, 4}, {26, 5}, {51, 6}, {100, 7}};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		assert_int_equal(run_for(builtin, 1000, 10 * cases[i].percent), cases[i].run);
}

/* All ports wait meanwhile. */
static void
no_more_than_go_at_once(void **state)
{
	const uint32_t bits = builtin->in_class_bits;

	builtin->in_class_bits = 8; /* 2 queues, 8 classes: 4096 lanes */
	assert_int_equal(run_for(builtin, 1000, 1000), 3);
	builtin->in_class_bits = 12;
	assert_int_equal(run_for(builtin, 1000, 1000), 0);
	builtin->in_class_bits = bits;
}

/* Between two polls that find nothing, and not while it has something; a thread that comes seldom has other things to do. */
static void
idle_time_is_counted(void **state)
{
	uint64_t before;

	note_idle_time(idle, now);
	before = idle->home->idle_time;
	note_idle_time(idle, now + 100);
	assert_int_equal(idle->home->idle_time - before, 100);
	idle->counts.nb_dequeued++;
	note_idle_time(idle, now + 300);
	assert_int_equal(idle->home->idle_time - before, 100);
	note_idle_time(idle, now + 310);
	assert_int_equal(idle->home->idle_time - before, 110);
	note_idle_time(idle, now + 300); /* another shard's clock */
	assert_int_equal(idle->home->idle_time - before, 110);
	note_idle_time(idle, now + 310 + 10 * builtin->gap);
	assert_int_equal(idle->home->idle_time - before, 110 + builtin->gap);
}

static uint64_t last[FLOWS]; /* of each flow, the number of the event that came last */
static unsigned int nb_inside;

/* @return did the port get one? */
static bool
take(unsigned int port)
{
	struct rte_event event;

	if (weir_sched_dequeue(st_port(port), &event, 1) == 0)
		return false;
	assert_true(event.u64 > last[event.flow_id]);
	last[event.flow_id] = event.u64;
	st_release(port, event);
	nb_inside--;
	return true;
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

	builtin->move_period = 1; /* it is compared at each poll that finds nothing */
	memset(last, 0, sizeof(last));
	for (unsigned int round = 0; round < 100000 && nb_moved() < 10; round++) {
		for (; nb_inside < 500; nb_inside++, number++)
			st_new(OTHER, 0, (uint32_t)(number % FLOWS), number + 1);
		while (take(IDLE))
			;
		take(OTHER);
		for (unsigned int i = 0; i < 2 * PERIODS; i++) {
			take(OWNER);
			take(IDLE);
		}
	}
	assert_true(nb_moved() >= 10);
	assert_true(st_xstat(WEIR_SCHED_PART_PORT, IDLE, "idle_ns") > 0);
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
		CASE(as_one_is_busier),
		CASE(only_if_much_waits),
		CASE(not_with_priorities),
		CASE(as_many_as_fill_half),
		CASE(no_more_than_go_at_once),
		CASE(idle_time_is_counted),
		CASE(they_come),
	};

	return ST_RUN("sched-balance", tests);
}
