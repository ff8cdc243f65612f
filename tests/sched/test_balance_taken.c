/* SPDX-License-Identifier: BSD-3-Clause */

/* Which flows go to a port that takes events over: times are arguments, nothing waits. (To one that finds nothing: test_balance.c) */

#include "sched_test.h"

#include "../../lib/sched/balance.c"

#include "balance_stand.h"

/* In a period, events of so many of the owner's flows, one after the other, are taken over so many times. */
static void
take_over(const struct period *period, unsigned int nb, unsigned int nb_flows)
{
	struct rte_event event = {.event = 0};
	uint32_t flow = 0;

	now = work(period);
	for (unsigned int i = 0; i < nb; i++) {
		flow = flow_after(i % nb_flows == 0 ? 0 : flow, shard);
		event.flow_id = flow & 0xfffff;
		shard->nb_stolen++;
		if (i + 1 == nb)
			took_at(idle, shard, event.event, now);
	}
}

/* Who takes events over all the time asks for the class of the one that it took just then, with others its own to do or without. */
static void
as_events_are_taken_over(void **state)
{
	static const struct {
		struct period period;
		unsigned int nb; /* taken over */
		bool is;
	} cases[] = {
		{{.taken = 1000, .own = 500, .stolen = 500}, HELPED, true},
		{{.taken = 1000, .own = 990, .stolen = 10}, HELPED, false},
		{{.taken = 1000, .own = 500, .stolen = 500}, HELPED - 1, false},
		/* that may be by chance */
		{{.taken = 16, .own = 10, .stolen = 6}, HELPED, false},
		{{.taken = 1000, .own = 600, .stolen = 360}, HELPED, true},
	};
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		assert_int_equal(setup(state), 0);
		for (unsigned int n = 0; n < PERIODS + 1; n++)
			take_over(&cases[i].period, cases[i].nb, HELPED);
		if ((idle->move.own != 0) != cases[i].is)
			fail_msg("case %u", i);
		assert_int_equal(shard->nb_ready, 0); /* nothing else was taken for that */
		teardown(state);
	}
}

/* Whoever has nothing to do takes what its owner does not get to, and that is told; */
static void
help_is_told(void **state)
{
	struct rte_event event;

	send(20);
	builtin->away = UINT32_MAX; /* its owner comes, as far as anybody knows */
	while (weir_sched_dequeue(st_port(IDLE), &event, 1) == 0)
		;
	st_release(IDLE, event);
	assert_int_equal(shard->nb_stolen, 1);
	assert_int_equal(idle->seen[shard->id].nb_helped, 1);
}

/* as is what is of higher priority. */
static void
what_is_higher_is_told(void **state)
{
	struct rte_event event;

	priority_use(builtin, 3);
	st_new(OTHER, 0, flow_after(0, shard), 0);
	assert_int_equal(weir_sched_dequeue(st_port(IDLE), &event, 1), 1);
	st_release(IDLE, event);
	assert_int_equal(shard->nb_stolen, 1);
	assert_int_equal(idle->seen[shard->id].nb_helped, 1);
}

/* What its owner has often is more than may go; what else is taken over then goes. */
static void
not_what_its_owner_has_often(void **state)
{
	static const struct period helped = {.taken = 1000, .own = 700, .stolen = 300};
	const uint32_t flow = flow_after(0, shard);
	struct rte_event event = {.flow_id = flow & 0xfffff};

	while (shard->nb_noted < OFTEN * LATELY_PART) {
		st_new(OTHER, 0, flow, 0);
		st_release(OWNER, st_get_one(OWNER));
	}
	assert_float_equal(part_of_lately(shard, event_class(builtin, event.event)), 1, 1e-9);
	assert_float_equal(part_of_lately(shard, 1 ^ event_class(builtin, event.event)), 0, 1e-9);
	for (unsigned int n = 0; n < PERIODS + 2; n++) {
		take_over(&helped, HELPED, 1);
		assert_int_equal(idle->move.own, 0);
	}
	take_over(&helped, HELPED, HELPED);
	assert_int_not_equal(idle->move.own, 0);
}

/* Whatever way they were taken: with each look. */
static void
what_it_has_in_bursts(void **state)
{
	struct rte_event events[EVENTS_PER_LOOK];
	uint32_t nb;

	st_new(IDLE, 0, flow_after(0, shard), 0); /* there are several rings */
	st_release(OWNER, st_get_one(OWNER));
	send(EVENTS_PER_LOOK * LATELY_PART);
	shard->nb_since_look = 0; /* it has just looked */
	nb = shard->nb_noted;
	for (unsigned int i = 0; i < LATELY_PART - 1; i++) {
		assert_int_equal(weir_sched_dequeue(st_port(OWNER), events, RTE_DIM(events)),
			RTE_DIM(events));
		for (unsigned int e = 0; e < RTE_DIM(events); e++)
			st_release(OWNER, events[e]);
	}
	assert_int_equal(shard->nb_noted, nb + LATELY_PART - 1);
}

/* It is not known what its owner has before that has come some times. */
static void
nobody_has_much_at_first(void **state)
{
	for (uint32_t class = 0; class <= builtin->class_mask; class ++)
		assert_float_equal(part_of_lately(shard, class), 0, 1e-9);
}

/* A shard of which nothing can be had is left alone for a while, and does not hide others. */
static void
of_others_then(void **state)
{
	static const struct period helped = {.taken = 1000, .own = 500, .stolen = 500};
	struct compared *compared = &idle->seen[shard->id].compared;
	struct shard *other = builtin->ports[OTHER].home;
	struct rte_event event = {.flow_id = flow_after(0, shard) & 0xfffff};

	builtin->waiting |= 1u << other->id;
	memset(shard->lately, event_class(builtin, event.event), LATELY);
	shard->nb_noted = LATELY * LATELY_PART;
	for (unsigned int n = 0; n < 2 * PERIODS + 1; n++) {
		do_work(&builtin->ports[OTHER], 0, 1000, 0);
		other->nb_stolen += HELPED;
		take_over(&helped, HELPED, 1);
		for (unsigned int i = 1; i < REFUSED_MAX; i++) {
			if (n <= PERIODS)
				assert_int_equal(idle->balance.part > 0, n == PERIODS);
			now += GAPS * (uint64_t)builtin->gap;
			took_at(idle, shard, event.event, now);
		}
		if (n == PERIODS) {
			assert_ptr_equal(idle->balance.from, shard);
			assert_true(idle->balance.part <= 0);
		}
	}
	assert_int_equal(compared->nb_vain, 1);
	assert_ptr_equal(idle->balance.from, other);
	assert_int_equal(idle->move.own, 0);
}

/* However many of one flow come by the first ring. */
static void
of_all_rings(void **state)
{
	const uint32_t many = flow_after(0, shard), few = flow_after(many, shard);
	double part;

	for (unsigned int i = 0; i < 2 * SAMPLE; i++)
		st_new(OWNER, 0, many, 0);
	for (unsigned int i = 0; i < SAMPLE; i++)
		st_new(OTHER, 0, few, 0);
	shard_lock(shard);
	shard_look(shard);
	part = part_of_rings(shard, flow_class(builtin, few & builtin->flow_mask));
	assert_float_equal(part, 1 / 3.0, 0.01);
	part = part_of_rings(shard, flow_class(builtin, many & builtin->flow_mask));
	assert_float_equal(part, 2 / 3.0, 0.01);
	shard_unlock(shard);
}

/* Only of the flows of who was the busiest; and these one after the other, as where nothing was found. */
static void
of_the_busiest_only(void **state)
{
	static const struct period helped = {.taken = 1000, .own = 500, .stolen = 500};
	const uint64_t gaps = GAPS * (uint64_t)builtin->gap;
	const struct shard *other = builtin->ports[OTHER].home;
	struct rte_event event = {.event = 0};
	uint32_t flow = 0;

	idle->balance.acted_at = UINT64_MAX / 2; /* later than any time here */
	for (unsigned int n = 0; n < PERIODS + 1; n++)
		take_over(&helped, HELPED, HELPED);
	assert_int_equal(idle->move.own, 0);
	assert_true(idle->balance.part > 0);
	idle->balance.acted_at = now;
	event.flow_id = flow_after(flow, other) & 0xfffff;
	took_at(idle, other, event.event, now + gaps);
	assert_int_equal(idle->move.own, 0);
	for (unsigned int n = 0; n < 2; n++) {
		flow = flow_after(flow, shard);
		event.flow_id = flow & 0xfffff;
		took_at(idle, shard, event.event, now + gaps - 1);
		assert_int_equal(idle->move.own, 0);
		now += gaps;
		took_at(idle, shard, event.event, now);
		assert_int_not_equal(idle->move.own, 0);
		while (idle->move.own != 0)
			move_go_on(idle);
	}
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_events_are_taken_over),
		CASE(help_is_told),
		CASE(what_is_higher_is_told),
		CASE(not_what_its_owner_has_often),
		CASE(what_it_has_in_bursts),
		CASE(nobody_has_much_at_first),
		CASE(of_others_then),
		CASE(of_all_rings),
		CASE(of_the_busiest_only),
	};

	return ST_RUN("sched-balance_taken", tests);
}
