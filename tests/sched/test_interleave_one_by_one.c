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

/* Where its events go on to, if they do, in order. */
#define LAST 1

static struct shard *shard;
static unsigned int nb_seen[LAST + 1]; /* by queue */
static unsigned int last;              /* queue */
static bool is_out;                    /* the owner, of the group */
static bool may_bias;
static unsigned int nb_before; /* events that the owner has had when others come */

/* It is the next one of its flow, which this port has, and no other one: the lane tells, unless the owner has it without a mark. */
static void
see(const struct builtin_port *port, const struct rte_event *event)
{
	const struct lane *lane = event_lane(builtin, event->event, RTE_SCHED_TYPE_ATOMIC);

	CHECK(event->u64 == nb_seen[event->queue_id]);
	nb_seen[event->queue_id]++;
	if (shard->nb_unmarked > 0)
		CHECK(port == ports[OWNER] && lane->state == LANE_IDLE);
	else
		CHECK(lane->state == lane_held_by(port->base.id) && lane->nb_held == 1);
}

/* It was taken out of a queue: it goes on to the next one, or is at its end. */
static void
go_on(const struct builtin_port *port, struct rte_event event)
{
	if (event.queue_id == last) {
		event.op = RTE_EVENT_OP_RELEASE;
	} else {
		event.op = RTE_EVENT_OP_FORWARD;
		event.queue_id++;
	}
	CHECK(weir_sched_enqueue((struct weir_sched_port *)&port->base, &event, 1) == 1);
}

/* What it had before is released; what is to go on does so. @return did it get one? */
static bool
dequeue(struct builtin_port *port)
{
	const bool was_out = is_out;
	struct rte_event event;

	if (weir_sched_dequeue(&port->base, &event, 1) == 0)
		return false;
	CHECK(port != ports[OWNER] || !was_out);
	see(port, &event);
	if (event.queue_id != last)
		go_on(port, event);
	return true;
}

/* By an event of this flow: from then on the last queue is in use. */
static void
use_last(struct rte_event event)
{
	event.queue_id = last;
	CHECK(weir_sched_enqueue(&ports[OWNER]->base, &event, 1) == 1);
	CHECK(weir_sched_dequeue(&ports[OWNER]->base, &event, 1) == 1);
	event.op = RTE_EVENT_OP_RELEASE;
	CHECK(weir_sched_enqueue(&ports[OWNER]->base, &event, 1) == 1);
}

/* The owner has the first one, or some, and knows what comes next. */
static void
init(void)
{
	struct rte_event event = {.op = RTE_EVENT_OP_NEW};

	memset(nb_seen, 0, sizeof(nb_seen));
	is_out = false;
	stand_start(3);
	stand_has_time();
	shard = ports[OWNER]->own;
	event.flow_id = stand_flow_in(0, shard->id) & 0xfffff;
	use_last(event);
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
	go_on(port, event);
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
	for (unsigned int i = 0; i < 8 * NB_EVENTS && nb_seen[last] < NB_EVENTS; i++) {
		if (!is_out)
			dequeue(ports[OWNER]);
		else
			CHECK(!dequeue(ports[OWNER]));
		while (take(ports[OTHER]))
			;
		if (ports[OTHER]->nb_held > 0)
			dequeue(ports[OTHER]);
	}
	CHECK(nb_seen[0] == NB_EVENTS && nb_seen[last] == NB_EVENTS);
}

static void
run(void (*other)(void), unsigned int before)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {owner, other},
		.check = check,
		.most_interruptions = (before == 1 ? 4 : 3) - (last == LAST),
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
somebody_steals_what_goes_on(void **state)
{
	last = LAST;
	run_each(thief, true);
	last = 0;
}

static void
somebody_steals_what_goes_on_by_lock(void **state)
{
	last = LAST;
	run_each(thief, false);
	last = 0;
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
	stand_make(2, 2, 0);
	assert_int_equal(weir_sched_queue_setup(sched, LAST,
				 &(struct weir_sched_queue_config){
					 .type = RTE_SCHED_TYPE_ATOMIC, .group = 1}),
		0);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(somebody_steals),
		cmocka_unit_test(somebody_steals_by_lock),
		cmocka_unit_test(somebody_steals_what_goes_on),
		cmocka_unit_test(somebody_steals_what_goes_on_by_lock),
		cmocka_unit_test(group_changes),
		cmocka_unit_test(group_changes_by_lock),
	};

	return cmocka_run_group_tests_name(
		"sched-interleave-one-by-one", tests, setup, stand_teardown);
}
