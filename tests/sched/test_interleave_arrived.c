/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What is sent of a priority and what its shard's word says of that (shard->arrived), in every order of their steps: once several
 * priorities are used, an event that nobody has seen yet is announced.
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

enum { QUEUE_LOW, QUEUE_HIGH };
enum { LOW = 5, HIGH = 0 };

static struct shard *shard;
static uint16_t burst;

static void
bring(unsigned int port, uint8_t queue)
{
	struct rte_event events[2];

	for (unsigned int i = 0; i < burst; i++)
		events[i] = (struct rte_event){.op = RTE_EVENT_OP_NEW,
			.queue_id = queue,
			.flow_id = stand_flow_in(queue, shard->id) & 0xfffff};
	CHECK(weir_sched_enqueue(&ports[port]->base, events, burst) == burst);
}

static void
look(void)
{
	shard_lock(shard);
	shard_look(shard);
	shard_unlock(shard);
}

/* Only the low priority was ever used. */
static void
init_one(void)
{
	stand_start(1);
	shard = ports[0]->home;
	bring(1, QUEUE_LOW);
}

/* Both were, and are announced. */
static void
init_both(void)
{
	init_one();
	bring(2, QUEUE_HIGH);
	look();
	bring(2, QUEUE_HIGH);
	bring(1, QUEUE_LOW);
	CHECK(shard->arrived == (1u << LOW | 1u << HIGH));
}

static void
send_low(void)
{
	bring(1, QUEUE_LOW);
}

static void
send_high(void)
{
	bring(2, QUEUE_HIGH);
}

static void
check_ring(unsigned int port, uint32_t priority)
{
	const struct ring *ring = &shard->rings[port];

	CHECK(ring->tail == ring->seen || (shard->arrived >> priority & 1) != 0);
}

static void
check(void)
{
	check_ring(1, LOW);
	check_ring(2, HIGH);
}

static void
run(void (*init)(void))
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 3,
		.actors = {send_low, send_high, look},
		.check = check,
		.most_interruptions = getenv("WEIR_TEST_LONG") != NULL ? 2 : 1,
		.least = 50};

	interleave_all(&interleave);
}

static void
single_events(void **state)
{
	burst = 1;
	run(init_both);
}

static void
single_events_of_a_new_priority(void **state)
{
	burst = 1;
	run(init_one);
}

static void
bursts(void **state)
{
	burst = 2;
	run(init_both);
}

static void
bursts_of_a_new_priority(void **state)
{
	burst = 2;
	run(init_one);
}

static int
setup(void **state)
{
	const struct weir_sched_queue_config low = {.type = RTE_SCHED_TYPE_ATOMIC, .priority = LOW};

	stand_make(STAND_PORTS, 2, QUEUE_HIGH);
	return weir_sched_queue_setup(sched, QUEUE_LOW, &low);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(single_events),
		cmocka_unit_test(single_events_of_a_new_priority), cmocka_unit_test(bursts),
		cmocka_unit_test(bursts_of_a_new_priority)};

	return cmocka_run_group_tests_name(
		"sched-interleave-arrived", tests, setup, stand_teardown);
}
