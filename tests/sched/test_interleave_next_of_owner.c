/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The flow that a shard's owner had last, with which it goes on, and those who come between: in every order of their steps. What runs
 * under the lock is one step; locks and what others see without them are points. Of orders with up to six interruptions, as
 * of more there are millions.
 */

#include "sched_test.h"

#include "shard.h"

#include "../../lib/sched/short_way.c"
#include "../../lib/sched/take.c"

#include "../base/interleave.h"

#include "../../lib/sched/places.c"
#include "../../lib/sched/bias.c"
#include "../../lib/sched/shard.c"

#include "interleave_stand.h"

#define NB_EVENTS 3
#define OWNER     0
#define THIEF     1

static struct shard *shard;
static struct lane *lane;
static unsigned int nb_holders, nb_seen;
static bool is_out; /* the owner, of the group */

/* It is the next one of its flow, which nobody else has. */
static void
see(const struct rte_event *event)
{
	CHECK(nb_holders == 0);
	nb_holders++;
	CHECK(event->u64 == nb_seen);
	nb_seen++;
}

/* Under the lock. */
static void
release(struct builtin_port *port, uint8_t number)
{
	CHECK(nb_holders == 1);
	nb_holders--;
	shard_release(shard, port->held[number].lane, port == ports[OWNER]);
	port_forget(port, number);
}

/* As take_ready() does. */
static bool
take(struct builtin_port *port, struct rte_event *event)
{
	uint16_t got = 0;

	if (port == ports[OWNER] && shard->next_of_owner != NONE)
		got = take_next_of_owner(shard, port, event, 1);
	if (got == 0 && shard->nb_ready > 0)
		got = shard_take(shard, port, event, 1, UINT32_MAX);
	if (got == 1) {
		CHECK(port != ports[OWNER] || !is_out);
		see(event);
	}
	return got == 1;
}

/* The owner holds the first event of a flow, the others wait. */
static void
init(void)
{
	struct rte_event event = {.op = RTE_EVENT_OP_NEW};

	nb_holders = nb_seen = 0;
	is_out = false;
	stand_start(3);
	shard = ports[OWNER]->own;
	event.flow_id = stand_flow_in(0, shard->id) & 0xfffff;
	for (event.u64 = 0; event.u64 < NB_EVENTS; event.u64++)
		CHECK(weir_sched_enqueue(&ports[THIEF]->base, &event, 1) == 1);
	lane = event_lane(builtin, event.event, RTE_SCHED_TYPE_ATOMIC);
	shard_lock(shard);
	shard_drain_all(shard);
	CHECK(take(ports[OWNER], &event));
	shard_unlock(shard);
	CHECK(event.impl_opaque == 0);
}

/* It goes on with the flow, if it may. */
static void
owner(void)
{
	struct rte_event event = {0};

	for (unsigned int i = 1;; i++) {
		bool got;

		shard_lock(shard);
		release(ports[OWNER], event.impl_opaque);
		shard_unlock(shard);
		if (i == NB_EVENTS - 1) /* it does not come for the last one */
			return;
		shard_lock(shard);
		got = take(ports[OWNER], &event);
		shard_unlock(shard);
		if (!got)
			return;
	}
}

/* It takes what is ready, and what is the owner's next, too, if it sees that there is something. */
static void
thief(void)
{
	struct rte_event event;
	bool got;

	if (__atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) == 0 || !shard_trylock(shard))
		return;
	shard_share_next(shard);
	got = take(ports[THIEF], &event);
	shard_unlock(shard);
	if (!got)
		return;
	shard_lock(shard);
	release(ports[THIEF], event.impl_opaque);
	shard_unlock(shard);
}

/* The owner is not of the group any more: when this has returned it gets nothing. */
static void
take_owner_out(void)
{
	CHECK(weir_sched_group_set(sched, 1, 1u << THIEF) == 0);
	is_out = true;
}

/* What is left comes out, in order, and can be seen. */
static void
check(void)
{
	struct rte_event event;

	for (unsigned int i = 0; i < 2; i++)
		while (ports[i]->nb_held > 0)
			for (unsigned int number = 0; number < 8; number++)
				if (ports[i]->held[number].kind != HELD_NOT)
					release(ports[i], (uint8_t)number);
	shard_lock(shard);
	shard_unlock(shard);
	CHECK((shard->nb_hint > 0) == (nb_seen < NB_EVENTS));
	shard_share_next(shard);
	while (take(ports[THIEF], &event))
		release(ports[THIEF], event.impl_opaque);
	shard_lock(shard);
	shard_unlock(shard);
	CHECK(nb_seen == NB_EVENTS && lane->state == LANE_IDLE && lane->nb_held == 0);
	CHECK(shard->nb_hint == 0 && shard->next_of_owner == NONE);
}

static void
run(void (*other)(void))
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {owner, other},
		.check = check,
		.most_interruptions = 6,
		.least = 50};

	interleave_all(&interleave);
}

static void
somebody_steals(void **state)
{
	run(thief);
}

static void
group_changes(void **state)
{
	run(take_owner_out);
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
		cmocka_unit_test(somebody_steals), cmocka_unit_test(group_changes)};

	return cmocka_run_group_tests_name(
		"sched-interleave-next-of-owner", tests, setup, stand_teardown);
}
