/* SPDX-License-Identifier: BSD-3-Clause */

/* What an idle port takes over from another one, by what it sees of it and when: times are arguments, nothing waits. */

#include "sched_test.h"

#include "../../lib/sched/help.c"
#include "../../lib/sched/steal.c"

#define OWNER  0
#define HELPER 1
#define LONG   1000000 /* cycles: after all that was before */

static struct weir_sched *sched;
static struct builtin *builtin;
static struct builtin_port *helper;
static struct shard *shard; /* the owner's */
static struct seen *seen;   /* of it, by the helper */

static int
setup(void **state)
{
	const struct weir_sched_config config = {
		.nb_ports = 2, .nb_queues = 1, .nb_flows = 256, .nb_events = 64};

	sched = weir_sched_create("help", &config);
	assert_non_null(sched);
	assert_int_equal(weir_sched_start(sched), 0);
	builtin = sched->own;
	helper = (struct builtin_port *)weir_sched_port(sched, HELPER);
	shard = ((struct builtin_port *)weir_sched_port(sched, OWNER))->home;
	seen = &helper->seen[shard->id];
	return 0;
}

static int
teardown(void **state)
{
	weir_sched_stop(sched, NULL, NULL);
	weir_sched_destroy(sched);
	return 0;
}

/* So many events are ready. */
static void
set_ready(uint32_t nb)
{
	shard->nb_hint = nb;
	shard->priorities_hint = nb > 0;
}

/* The owner came, and took so many events, in so many cycles since the helper looked last: what does the helper do? */
static enum help
after_events(uint32_t nb, uint64_t cycles, bool idle)
{
	seen->at = LONG;
	shard->nb_polls++;
	shard->nb_taken += nb;
	return wants_help(helper, shard, LONG + cycles, idle);
}

/* It has not come for so long. */
static enum help
after_silence(uint64_t cycles)
{
	seen->at = LONG;
	seen->nb_polls = shard->nb_polls;
	return wants_help(helper, shard, LONG + cycles, true);
}

static void
test_long_events_have_help(void **state)
{
	set_ready(1);
	assert_int_equal(after_events(1, builtin->slow, true), HELP_NOT);
	assert_false(seen->is_slow);
	assert_int_equal(after_events(1, builtin->slow + 1, true), HELP_SOME);
	assert_true(seen->is_slow);
	assert_int_equal(after_events(2, builtin->slow + 1, true), HELP_NOT);
	assert_int_equal(after_events(1, builtin->slow + 1, false), HELP_NOT);
	set_ready(0);
	assert_int_equal(after_events(1, builtin->slow + 1, true), HELP_NOT);
	assert_true(seen->is_slow);
	/* It comes, and finds nothing. */
	after_events(0, builtin->slow + 1, true);
	assert_false(seen->is_slow);
}

static void
test_many_short_events_have_help(void **state)
{
	set_ready(64);
	assert_int_equal(after_events(16, builtin->away / 4, true), HELP_NOT);
	assert_int_equal(after_events(16, builtin->away / 4 + 1, true), HELP_SOME);
	assert_false(seen->is_slow);
}

/* What its owner will go on with stays with it until it is away. */
static void
test_silence(void **state)
{
	set_ready(1);
	assert_int_equal(after_silence(builtin->slow), HELP_NOT);
	assert_int_equal(after_silence(builtin->slow + 1), HELP_SOME);
	assert_int_equal(after_silence(builtin->away), HELP_SOME);
	assert_int_equal(after_silence(builtin->away + 1), HELP_ALL);
	set_ready(0);
	assert_int_equal(after_silence(2 * (uint64_t)builtin->away), HELP_NOT);
	assert_int_equal(after_silence(2 * (uint64_t)builtin->away + 1), HELP_ALL);
}

/* Bursts of short events take their time, which is not taken for an absence; up to a bound. */
static void
test_silence_of_bursts(void **state)
{
	const uint64_t away = builtin->away;

	set_ready(64);
	after_events(16, away + 10, true);
	assert_int_equal(after_silence(2 * away + 20), HELP_SOME);
	assert_int_equal(after_silence(2 * away + 21), HELP_ALL);
	after_events(400, 50 * away, true);
	assert_false(seen->is_slow);
	assert_int_equal(after_silence(4 * away), HELP_SOME);
	assert_int_equal(after_silence(4 * away + 1), HELP_ALL);
	/* Of long ones nobody waits for so many. */
	after_events(1, 50 * away, true);
	assert_int_equal(after_silence(away + 1), HELP_ALL);
}

/* Who had something of its own just now waits for more of that rather than for a burst of another one's. */
static void
test_short_ones_for_who_is_idle_only(void **state)
{
	set_ready(64);
	helper->counts.nb_dequeued = 1;
	note_idle(helper, LONG);
	/* Nothing is known of them yet, or they were of no flows. */
	assert_int_equal(after_silence(builtin->gap - 1), HELP_SOME);
	seen->of_flows = true;
	assert_int_equal(after_silence(builtin->gap - 1), HELP_NOT);
	assert_int_equal(after_silence(builtin->gap), HELP_SOME);
	/* What it took over is not its own. */
	helper->counts.nb_dequeued = helper->counts.nb_stolen = 16;
	helper->counts.nb_dequeued++;
	note_idle(helper, LONG + builtin->gap);
	assert_int_equal(after_silence(builtin->gap), HELP_SOME);
	/* Long ones it takes at once. */
	helper->counts.nb_dequeued++;
	note_idle(helper, LONG);
	assert_int_equal(after_events(1, builtin->slow + 1, true), HELP_SOME);
}

/* Where there are several priorities a single event may be of the lowest one. */
static void
test_single_one_of_several_priorities(void **state)
{
	builtin->priorities_used = USED_SEVERAL | 3;
	set_ready(1);
	assert_int_equal(after_events(1, builtin->slow + 1, true), HELP_NOT);
	assert_int_equal(after_silence(builtin->slow + 1), HELP_NOT);
	set_ready(2);
	assert_int_equal(after_events(1, builtin->slow + 1, true), HELP_SOME);
	assert_int_equal(after_silence(builtin->slow + 1), HELP_SOME);
}

/* A look that found nothing: how long is it until the next one? Between what is possible by the clock before and after. */
static void
check_gap(bool idle, uint64_t gap)
{
	uint64_t before, after;
	struct rte_event event;

	builtin->waiting = (uint64_t)1 << shard->id;
	helper->unasked_at = UINT64_MAX;
	seen->look_at = 0;
	before = weir_base_cycles();
	assert_int_equal(look_elsewhere(helper, &event, 1, idle), 0);
	after = weir_base_cycles();
	assert_in_range(seen->look_at, before + gap, after + gap);
}

static void
test_looks_are_as_far_apart_as_events_are_short(void **state)
{
	seen->is_slow = false;
	check_gap(true, builtin->gap);
	seen->is_slow = true;
	check_gap(true, builtin->slow);
	check_gap(false, builtin->gap);
}

/* Of a flow of the owner's, into a ring there. */
static void
send(uint32_t flow, unsigned int nb)
{
	const struct rte_event event = st_event(RTE_EVENT_OP_NEW, 0, flow, 0);

	for (unsigned int i = 0; i < nb; i++)
		assert_int_equal(weir_sched_enqueue(weir_sched_port(sched, HELPER), &event, 1), 1);
}

/* Of events of so many flows in a ring the helper wants two. @return how many it gets */
static uint16_t
take_two(unsigned int nb_flows)
{
	struct rte_event events[2];
	uint16_t got;

	for (uint32_t i = 1; i <= nb_flows; i++)
		send(2 * i, 1);
	shard_lock(shard);
	got = take_half_of_all(helper, shard, events, RTE_DIM(events));
	shard_unlock(shard);
	return got;
}

/* No more leaves the rings than is worth it: who takes half of it gets what it wants. */
static void
test_rings_are_left_to_the_owner(void **state)
{
	assert_int_equal(take_two(15), 2);
	assert_int_equal(shard->nb_ready, 2);
	assert_int_equal(shard_nb_in_rings(shard), 11);
}

/* Nothing is hidden behind a flow that the owner has. */
static void
test_rings_are_emptied_for_what_is_behind(void **state)
{
	struct rte_event event;

	send(0, 1);
	assert_int_equal(weir_sched_dequeue(weir_sched_port(sched, OWNER), &event, 1), 1);
	send(0, 8);
	assert_int_equal(take_two(3), 2);
	assert_int_equal(shard->nb_ready, 1);
	assert_int_equal(shard_nb_in_rings(shard), 0);
}

/* Half at most, and all of a single one. */
static void
test_half_is_left_to_the_owner(void **state)
{
	assert_int_equal(take_two(1), 1);
	/* The flow that it has by now waits. */
	assert_int_equal(take_two(3), 1);
	assert_int_equal(shard->nb_ready, 1);
}

/* Events of some flows are there, of which the owner got through many while it was not looked at. @return taken over */
static uint16_t
help_at(uint64_t now, uint8_t type, uint32_t nb_taken)
{
	struct rte_event event;

	builtin->queues[0].type = type;
	set_ready(64);
	shard->nb_polls++;
	shard->nb_taken += nb_taken;
	seen->at = now - builtin->away;
	return look_at_shard(helper, shard, now, true, &event, 1);
}

static void
send_some(void)
{
	for (uint32_t i = 1; i <= 31; i++)
		send(2 * i, 1);
}

/* Who takes over some of a flow makes its owner fetch all that waits: that is seldom, the more so the more waits. */
static void
test_short_events_of_flows_have_help_seldom(void **state)
{
	const uint64_t pause = (uint64_t)64 * builtin->gap;

	send_some();
	assert_int_equal(help_at(LONG, RTE_SCHED_TYPE_ATOMIC, 16), 1);
	assert_int_equal(seen->help_at - LONG, (uint64_t)shard->nb_hint * builtin->gap);
	seen->help_at = LONG + pause;
	assert_int_equal(help_at(LONG + pause - 1, RTE_SCHED_TYPE_ATOMIC, 16), 0);
	assert_int_equal(help_at(LONG + pause, RTE_SCHED_TYPE_ATOMIC, 16), 1);
}

/* What takes long is worth that, and what is of no flow costs nothing. */
static void
test_others_have_help_at_once(void **state)
{
	send_some();
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(help_at(LONG + i, RTE_SCHED_TYPE_ATOMIC, 1), 1);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(help_at(LONG + 4 + i, RTE_SCHED_TYPE_PARALLEL, 16), 1);
}

/* Nobody waits for who is away, or behind events that have become long. */
static void
test_help_at_once_where_it_is_needed(void **state)
{
	struct rte_event event;
	uint64_t away;

	send_some();
	seen->of_flows = true;
	seen->help_at = UINT64_MAX;
	assert_int_equal(help_at(LONG, RTE_SCHED_TYPE_ATOMIC, 16), 0);
	away = seen->at + absence(builtin, seen) + 1;
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(look_at_shard(helper, shard, away, true, &event, 1), 1);
	seen->help_at = UINT64_MAX;
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(help_at(LONG, RTE_SCHED_TYPE_ATOMIC, 1), 1);
		seen->help_at = UINT64_MAX;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_long_events_have_help, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_short_events_have_help, setup, teardown),
		cmocka_unit_test_setup_teardown(test_silence, setup, teardown),
		cmocka_unit_test_setup_teardown(test_silence_of_bursts, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_short_ones_for_who_is_idle_only, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_single_one_of_several_priorities, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_looks_are_as_far_apart_as_events_are_short, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rings_are_left_to_the_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_rings_are_emptied_for_what_is_behind, setup, teardown),
		cmocka_unit_test_setup_teardown(test_half_is_left_to_the_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_short_events_of_flows_have_help_seldom, setup, teardown),
		cmocka_unit_test_setup_teardown(test_others_have_help_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_help_at_once_where_it_is_needed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
