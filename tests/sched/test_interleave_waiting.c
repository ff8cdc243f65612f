/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Who tells that there is something in a shard (builtin->waiting), and who found nothing there for long and clears that, in every order of
 * their steps: what is there is told of.
 */

#include "sched_test.h"

#include "../base/interleave.h"

#include "../../lib/sched/look.c"
#include "../../lib/sched/higher.c"
#include "../../lib/sched/help.c"
#include "../../lib/sched/steal.c"
#include "../../lib/sched/short_way.c"
#include "../../lib/sched/take.c"

#include "../../lib/sched/owner.c"
#include "../../lib/sched/foreign.c"
#include "../../lib/sched/dequeue.c"
#include "../../lib/sched/ending.c"
#include "../../lib/sched/enqueue.c"
#include "../../lib/sched/burst.c"
#include "../../lib/sched/single.c"
#include "../../lib/sched/places.c"
#include "../../lib/sched/bias.c"
#include "../../lib/sched/shard.c"

#include "interleave_stand.h"

static struct shard *shard;
static struct rte_event held; /* by its port */
static bool is_told;          /* at first */

static void
bring(unsigned int port)
{
	const struct rte_event event = {
		.op = RTE_EVENT_OP_NEW, .flow_id = stand_flow_in(0, shard->id) & 0xfffff};

	CHECK(weir_sched_enqueue(&ports[port]->base, &event, 1) == 1);
}

/* Nothing is there, and has not been for so long that the next look clears the word. The shard's port holds an event. */
static void
init(void)
{
	stand_start(1);
	shard = ports[0]->home;
	bring(1);
	CHECK(weir_sched_dequeue(&ports[0]->base, &held, 1) == 1);
	for (unsigned int i = 1; i < STAND_PORTS; i++)
		ports[i]->seen[shard->id] =
			(struct seen){.nb_quiet = LOOKS_QUIET - 1, .nb_taken = shard->nb_taken};
	builtin->waiting = is_told ? (uint64_t)1 << shard->id : 0;
}

static void
bring_one(void)
{
	bring(1);
}

/* Its flow comes back without the lock. */
static void
send_on(void)
{
	struct rte_event event = held;

	event.op = RTE_EVENT_OP_FORWARD;
	CHECK(weir_sched_enqueue(&ports[0]->base, &event, 1) == 1);
}

/* To the lists, for others. */
static void
drain(void)
{
	shard_lock(shard);
	shard_drain_all(shard);
	shard_unlock(shard);
}

static void
find_nothing(void)
{
	note_quiet(builtin, shard, &ports[2]->seen[shard->id]);
}

static void
check(void)
{
	CHECK((rings_seem_empty(shard) && shard->nb_hint == 0) ||
		(builtin->waiting >> shard->id & 1) != 0);
}

static void
run(void (*come)(void), void (*beside)(void), uint64_t least)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 3,
		.actors = {come, find_nothing, beside},
		.check = check,
		.most_interruptions = 3,
		.least = least};

	for (unsigned int told = 0; told < 2; told++) {
		is_told = told == 1;
		interleave_all(&interleave);
	}
}

static void
something_comes(void **state)
{
	run(bring_one, drain, 100);
}

static void
a_flow_comes_back(void **state)
{
	run(send_on, drain, 100);
}

static void
both_come(void **state)
{
	run(bring_one, send_on, 100);
}

static int
setup(void **state)
{
	stand_make(STAND_PORTS, 2, 1);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(something_comes),
		cmocka_unit_test(a_flow_comes_back), cmocka_unit_test(both_come)};

	return cmocka_run_group_tests_name(
		"sched-interleave-waiting", tests, setup, stand_teardown);
}
