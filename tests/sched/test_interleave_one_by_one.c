/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A shard's owner takes one event of a flow after the other, of which it knows that they come next, while others take some, or it is not of the group any
 * more: in every order of their steps, each event comes once, in its order, and to who may have it. With real dequeues of the owner.
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
#include "../../lib/sched/places.c"
#include "../../lib/sched/bias.c"
#include "../../lib/sched/shard.c"

#include "interleave_stand.h"

#define NB_EVENTS 6
#define OWNER     0
#define OTHER     1

static struct shard *shard;
static struct lane *lane;
static unsigned int nb_seen;
static bool is_out; /* the owner, of the group */
static bool may_bias;
static unsigned int nb_before; /* events that the owner has had when others come */

/* It is the next one of its flow, which this port has, and no other one: the lane tells, unless the owner has it without a mark. */
static void
see(const struct builtin_port *port, const struct rte_event *event)
{
	CHECK(event->u64 == nb_seen);
	nb_seen++;
	if (shard->nb_unmarked > 0)
		CHECK(port == ports[OWNER] && lane->state == LANE_IDLE);
	else
		CHECK(lane->state == lane_held_by(port->base.id) && lane->nb_held == 1);
}

/* What it had before is released. @return did it get one? */
static bool
dequeue(struct builtin_port *port)
{
	const bool was_out = is_out;
	struct rte_event event;

	if (weir_sched_dequeue(&port->base, &event, 1) == 0)
		return false;
	CHECK(port != ports[OWNER] || !was_out);
	see(port, &event);
	return true;
}

/* The owner has the first one, or some, and knows what comes next. */
static void
init(void)
{
	struct rte_event event = {.op = RTE_EVENT_OP_NEW};

	nb_seen = 0;
	is_out = false;
	stand_start(3);
	stand_has_time();
	shard = ports[OWNER]->own;
	event.flow_id = stand_flow_in(0, shard->id) & 0xfffff;
	lane = event_lane(builtin, event.event, RTE_SCHED_TYPE_ATOMIC);
	for (event.u64 = 0; event.u64 < NB_EVENTS; event.u64++)
		CHECK(weir_sched_enqueue(&ports[OWNER]->base, &event, 1) == 1);
	builtin->may_fence = may_bias;
	for (unsigned int i = 0; i < nb_before; i++)
		CHECK(dequeue(ports[OWNER]));
	CHECK(shard->at_once == NB_EVENTS - nb_before);
	CHECK((bias_holder(&shard->bias) != 0) == may_bias);
}

static void
owner(void)
{
	dequeue(ports[OWNER]);
	dequeue(ports[OWNER]);
}

/* As steal() does. @return did it get one? */
static bool
take(struct builtin_port *port)
{
	struct rte_event event;
	uint16_t got = 0;

	shard_lock(shard);
	shard_drain_all(shard);
	shard_share_next(shard);
	if (shard->nb_ready > 0)
		got = shard_take(shard, port, &event, 1, UINT32_MAX);
	if (got == 1)
		see(port, &event);
	shard_unlock(shard);
	if (got == 0)
		return false;
	event.op = RTE_EVENT_OP_RELEASE;
	CHECK(weir_sched_enqueue(&port->base, &event, 1) == 1);
	return true;
}

static void
thief(void)
{
	take(ports[OTHER]);
	take(ports[OTHER]);
}

static void
take_owner_out(void)
{
	CHECK(weir_sched_group_set(sched, 1, 1u << OTHER) == 0);
	is_out = true;
}

/* What is left comes, in order. */
static void
check(void)
{
	for (unsigned int i = 0; i < 8 * NB_EVENTS && nb_seen < NB_EVENTS; i++) {
		if (!is_out)
			dequeue(ports[OWNER]);
		else
			CHECK(!dequeue(ports[OWNER]));
		while (take(ports[OTHER]))
			;
		if (ports[OTHER]->nb_held > 0)
			dequeue(ports[OTHER]);
	}
	CHECK(nb_seen == NB_EVENTS);
}

static void
run(void (*other)(void), unsigned int before)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {owner, other},
		.check = check,
		.most_interruptions = before == 1 ? 4 : 3,
		.least = 50};

	nb_before = before;
	interleave_all(&interleave);
}

/* What it knows is in the middle of what comes next, and at its end. */
static void
run_each(void (*other)(void), bool by_bias)
{
	if (by_bias && !fence_prepare()) {
		print_message("the kernel has no fence for all threads\n");
		skip();
	}
	may_bias = by_bias;
	run(other, 1);
	run(other, NB_EVENTS - 2);
}

static void
somebody_steals(void **state)
{
	run_each(thief, true);
}

static void
somebody_steals_by_lock(void **state)
{
	run_each(thief, false);
}

static void
group_changes(void **state)
{
	run_each(take_owner_out, true);
}

static void
group_changes_by_lock(void **state)
{
	run_each(take_owner_out, false);
}

static int
setup(void **state)
{
	stand_make(2, 1, 0);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(somebody_steals),
		cmocka_unit_test(somebody_steals_by_lock),
		cmocka_unit_test(group_changes),
		cmocka_unit_test(group_changes_by_lock),
	};

	return cmocka_run_group_tests_name(
		"sched-interleave-one-by-one", tests, setup, stand_teardown);
}
