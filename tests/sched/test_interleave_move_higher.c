/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A flow with something of high priority goes from one shard to another, which are looked at the other way round by a port with something of
 * low priority: in every order of their steps it does not take that first, nor something in between from elsewhere. And something of high
 * priority comes to a shard where nobody looks any more as it was empty (builtin->announced), or is about to be forgotten: likewise.
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
#include "../../lib/sched/move.c"
#include "../../lib/sched/move_flows.c"
#include "../../lib/sched/move_waiting.c"
#include "../../lib/sched/places.c"
#include "../../lib/sched/bias.c"
#include "../../lib/sched/shard.c"

#include "interleave_stand.h"

enum { QUEUE_LOW, QUEUE_HIGH, QUEUE_BETWEEN };
enum { HIGH = 0, BETWEEN = 3, LOW = 5 };
enum { MOVER, LOOKER, OWNER };

static bool is_something_between, is_in_ring, comes_late, has_come, are_other_groups;
static unsigned int looking = LOOKER; /* port */
static unsigned int nb_nothing, nb_moved, nb_late;

/* It is in the lists of a port's shard; or, of high priority, in a ring, so that who moves it takes it from there. */
static void
bring(uint8_t queue, unsigned int to)
{
	struct shard *shard = ports[to]->home;
	struct rte_event event = {.op = RTE_EVENT_OP_NEW,
		.queue_id = queue,
		.flow_id = stand_flow_in(queue, shard->id) & 0xfffff};

	CHECK(weir_sched_enqueue(&ports[OWNER]->base, &event, 1) == 1);
	if (queue == QUEUE_HIGH && is_in_ring)
		return;
	shard_lock(shard);
	shard_drain_all(shard);
	shard_unlock(shard);
}

/* All priorities were used, and, as after a move, no shard is known to have anything. */
static void
forget_all(void)
{
	note_priority(builtin, LOW);
	note_priority(builtin, HIGH);
	for (unsigned int i = 0; i < builtin->nb_shards; i++) {
		shard_lock(&builtin->shards[i]);
		shard_drain_all(&builtin->shards[i]);
		shard_unlock(&builtin->shards[i]);
		CHECK(!has_something(&builtin->shards[i]));
	}
	builtin->announced = 0;
}

static struct move_flows flows;

/* What there is; and which flows are to go. */
static void
init_events(void)
{
	stand_start((1u << STAND_PORTS) - 1);
	builtin->move_patience = INT64_MAX / 4;
	builtin->may_fence = false;
	/* Whose own shard it leaves, takes what is left there only if that is not below what went, unless a bound may have it so. */
	sched->config.starvation_bound = looking == OWNER ? 1000 : 0;
	/* Of queues that these ports do not serve: they ask for which groups there is something. */
	for (unsigned int i = 0; are_other_groups && i < builtin->nb_shards; i++)
		builtin->shards[i].all_groups |= 4;
	forget_all();
	if (looking == LOOKER)
		bring(QUEUE_LOW, LOOKER);
	if (is_something_between)
		bring(QUEUE_BETWEEN, OWNER);
	has_come = false;
	if (!comes_late)
		bring(QUEUE_HIGH, OWNER);
	flows.of = MOVE_OF_ANY;
	flows.from = (uint8_t)ports[OWNER]->home->id;
	flows.class = (uint8_t)flow_class(builtin, stand_flow_in(QUEUE_HIGH, flows.from));
}

static void
init(void)
{
	init_events();
	CHECK(move_ask(ports[MOVER], flows));
	move_answer(ports[OWNER]);
}

static void
mover(void)
{
	for (unsigned int i = 0; i < 2 && ports[MOVER]->move.own != 0; i++)
		move_go_on(ports[MOVER]);
}

static struct moving handed_over;

/* All that is done under all locks is done, and the locks of both shards are had. */
static void
init_handed_over(void)
{
	init_events();
	handed_over = (struct moving){.builtin = builtin,
		.port = ports[MOVER],
		.flows = &flows,
		.groups = groups_of(ports[MOVER]),
		.from = ports[OWNER]->home};
	shard_lock(handed_over.from);
	shard_drain_rings(handed_over.from);
	CHECK(choose(&handed_over) == 1);
	move_set_aside(&handed_over);
	CHECK(hand_over_soon(&handed_over));
}

static void
mover_after_that(void)
{
	bring_over(&handed_over);
	shard_unlock(handed_over.from);
	ports[MOVER]->nb_moved++;
}

/* All that is done under all locks, and nothing else. */
static void
mover_under_locks(void)
{
	struct moving moving = {
		.builtin = builtin, .port = ports[MOVER], .from = ports[OWNER]->home};

	shard_lock(moving.from);
	if (lock_others(&moving)) {
		hand_over_now(&moving);
		unlock(&moving, moving.others);
	}
	shard_unlock(moving.from);
}

/* @return did it get anything? Then it is of this queue. */
static bool
get(uint8_t queue)
{
	struct rte_event event;

	if (weir_sched_dequeue(&ports[looking]->base, &event, 1) == 0)
		return false;
	CHECK(event.queue_id == queue);
	return true;
}

static void
looker(void)
{
	nb_nothing += !get(QUEUE_HIGH);
}

/* What is left comes. */
static void
check(void)
{
	nb_moved += ports[MOVER]->nb_moved > 0;
	ports[MOVER]->nb_moved = 0;
	if (ports[looking]->nb_held == 0)
		CHECK(get(QUEUE_HIGH));
	if (is_something_between)
		CHECK(get(QUEUE_BETWEEN));
	if (looking == LOOKER)
		CHECK(get(QUEUE_LOW));
}

static void
run_from(void (*from)(void), void (*mover_from)(void), bool between, bool in_ring)
{
	const struct interleave interleave = {.init = from,
		.nb_actors = 2,
		.actors = {mover_from, looker},
		.check = check,
		.most_interruptions = 2,
		.least = 50};

	is_something_between = between;
	is_in_ring = in_ring;
	comes_late = false;
	nb_nothing = nb_moved = 0;
	interleave_all(&interleave);
	printf("  it moves in %u of them, and in %u nothing is found at first\n", nb_moved,
		nb_nothing);
	assert_true(nb_moved > 0);
}

static void
run_all(bool between)
{
	for (unsigned int i = 0; i < 4; i++) {
		are_other_groups = i / 2 == 1;
		run_from(init, mover, between, i % 2 == 1);
		run_from(init_handed_over, mover_after_that, between, i % 2 == 1);
	}
	are_other_groups = false;
}

static void
high_is_before_its_own(void **state)
{
	run_all(false);
}

static void
high_is_before_others(void **state)
{
	run_all(true);
}

/* The port looks whose own it was, and has something lower. */
static void
high_that_leaves_is_before_what_stays(void **state)
{
	looking = OWNER;
	run_all(true);
	looking = LOOKER;
}

static void
bringer(void)
{
	bring(QUEUE_HIGH, MOVER);
	has_come = true;
}

/* What has come by then is not missed. */
static void
late_looker(void)
{
	if (!has_come)
		return;
	nb_late++;
	nb_nothing += !get(QUEUE_HIGH);
}

static void
high_comes_where_nothing_was(void **state)
{
	const bool are_few = interleave_few() != 0; /* these are many */
	const struct interleave interleave = {.init = init,
		.nb_actors = 3,
		.actors = {mover_under_locks, bringer, late_looker},
		.check = check,
		.most_interruptions = are_few ? 1 : 2,
		.least = 1000};

	is_something_between = false;
	is_in_ring = comes_late = true;
	nb_nothing = nb_late = 0;
	interleave_all(&interleave);
	printf("  it is looked after it came in %u of them, and in %u nothing is found at first\n",
		nb_late, nb_nothing);
	assert_true(nb_late > 0 && (nb_nothing > 0 || are_few));
}

static int
setup(void **state)
{
	const struct weir_sched_queue_config low = {.type = RTE_SCHED_TYPE_ATOMIC, .priority = LOW},
					     between = {.type = RTE_SCHED_TYPE_PARALLEL,
						     .priority = BETWEEN};

	stand_make(STAND_PORTS, 3, QUEUE_HIGH);
	return weir_sched_queue_setup(sched, QUEUE_LOW, &low) +
	       weir_sched_queue_setup(sched, QUEUE_BETWEEN, &between);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(high_is_before_its_own),
		cmocka_unit_test(high_is_before_others),
		cmocka_unit_test(high_that_leaves_is_before_what_stays),
		cmocka_unit_test(high_comes_where_nothing_was)};

	return cmocka_run_group_tests_name(
		"sched-interleave-move-higher", tests, setup, stand_teardown);
}
