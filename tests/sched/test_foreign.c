/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One thread: a port that has atomic events of another one's flows, which it was not given for good. What follows from these is put in where it
 * goes, past the rings.
 */

#include "sched_test.h"

#include "look.h"

#define OWNER    0 /* of even flows */
#define HELPER   1 /* of odd ones; gets all events of queue 0 */
#define PRODUCER 2

#define TRIES 20

/* Some 10 ms have to pass until the owner is away: all that is done here takes less, if the machine runs at all. */
static void
be_patient(void)
{
	struct builtin *builtin = st_sched->own;

	builtin->away = UINT32_MAX / 128;
}

/* A new event of queue 0 goes to the helper. The owner comes before, until it has looked at its rings, as it does now and then. */
static struct rte_event
take_new(uint32_t flow)
{
	const struct builtin *builtin = st_sched->own;

	st_new(PRODUCER, 0, flow, 0);
	do
		st_idle(OWNER);
	while (!rings_seem_empty(builtin->ports[OWNER].home));
	return st_get_one(HELPER);
}

/* Queue 0's flows are both ports', but only the helper may have them by now; queue 1's are the owner's. */
static void
make(bool keeps)
{
	const struct weir_sched_port_config helper = {.no_implicit_release = keeps, .nb_held = 255};
	const struct weir_sched_port_config producer = {.producer = true};
	struct weir_sched_config config = st_config(3, 2);

	st_builtin_only();
	config.nb_flows = 1024;
	st_make(config);
	st_queue(0, ATOMIC, 0, 1);
	st_queue(1, ATOMIC, 0, 2);
	st_group(1, 1u << OWNER | 1u << HELPER);
	st_group(2, 1u << OWNER);
	st_keep(OWNER);
	assert_int_equal(weir_sched_port_setup(st_sched, HELPER, &helper), 0);
	assert_int_equal(weir_sched_port_setup(st_sched, PRODUCER, &producer), 0);
	st_start();
	be_patient();
	/* One event in each is enough that its flows stay where they are. */
	for (unsigned int queue = 0; queue < 2; queue++)
		st_new(PRODUCER, (uint8_t)queue, 0, 0);
	st_group(1, 1u << HELPER);
	st_release(OWNER, st_get_one(OWNER));
	st_release(HELPER, st_get_one(HELPER));
}

/*
 * One of each flow, one after the other, to be held by the helper. The owner comes all the while.
 * @return whether the helper helped out, and that is all: while the machine stands still the owner does not come, and loses its flows
 */
static bool
hold(struct rte_event *events, unsigned int nb, uint32_t first_flow)
{
	for (unsigned int i = 0; i < nb; i++)
		events[i] = take_new(first_flow + 2 * i);
	st_idle(OWNER);
	return st_xstat(WEIR_SCHED_PART_PORT, HELPER, "shards_taken_over") == 0;
}

/* A try that says nothing. */
static bool
give_up(const struct rte_event *events, unsigned int nb, const struct rte_event *more,
	unsigned int nb_more)
{
	for (unsigned int i = 0; i < nb; i++)
		st_release(HELPER, events[i]);
	for (unsigned int i = 0; i < nb_more; i++)
		st_release(HELPER, more[i]);
	st_teardown(NULL);
	return false;
}

/* It goes on to queue 1. */
static struct rte_event
onward(struct rte_event event, uint32_t flow, uint64_t value)
{
	event.op = RTE_EVENT_OP_FORWARD;
	event.queue_id = 1;
	event.flow_id = flow & 0xfffff;
	event.u64 = value;
	return event;
}

/* So many in one call come in the order in which they were sent: more than are put in at a time, with some of its own flows among them. @return whether it was tried */
static bool
in_one_burst(unsigned int nb, unsigned int nb_own)
{
	struct rte_event events[255], own[255];

	bool helps;

	make(true);
	helps = hold(events, nb, 0);
	if (!hold(own, nb_own, 1) || !helps)
		return give_up(events, nb, own, nb_own);
	/* One of its own after each few of the others. */
	for (unsigned int i = 0; i < nb_own; i++) {
		const unsigned int at = i * (nb / nb_own + 1);

		memmove(&events[at + 1], &events[at], (nb + i - at) * sizeof(events[0]));
		events[at] = own[i];
	}
	for (unsigned int i = 0; i < nb + nb_own; i++)
		events[i] = onward(events[i], 2, i);
	assert_int_equal(
		weir_sched_enqueue(st_port(HELPER), events, (uint16_t)(nb + nb_own)), nb + nb_own);
	for (unsigned int i = 0; i < nb + nb_own; i++) {
		struct rte_event event = st_get_one(OWNER);

		assert_int_equal(event.u64, i);
		st_release(OWNER, event);
	}
	st_get_none(OWNER);
	/* Nothing is held any more: its flows are free. */
	for (uint32_t flow = 0; flow < 240; flow++)
		st_release(HELPER, take_new(flow));
	st_teardown(NULL);
	return true;
}

static void
try_in_one_burst(unsigned int nb, unsigned int nb_own)
{
	unsigned int tries = 0;

	while (!in_one_burst(nb, nb_own))
		if (++tries == TRIES)
			fail_msg("the owner was away in each of %u tries", TRIES);
}

static void
many_in_one_burst(void **state)
{
	const unsigned int nbs[] = {1, 31, 32, 33, 64, 65, 120};

	for (unsigned int i = 0; i < RTE_DIM(nbs); i++) {
		try_in_one_burst(nbs[i], 0);
		try_in_one_burst(nbs[i], 1);
		try_in_one_burst(nbs[i], RTE_MIN(nbs[i], 50u));
	}
}

/* The helper sends new events to the owner's queue 1: those of flow 4, but for the one at @at, which is of flow 2; NONE_SENT: none is. */
#define NONE_SENT UINT_MAX

static void
send_new(unsigned int nb, unsigned int at)
{
	for (unsigned int i = 0; i < nb; i++)
		st_new(HELPER, 1, i == at ? 2 : 4, i);
}

/*
 * In a ring there are so many events, when one that goes past the rings follows to flow 2: behind what its port sent of that flow before. What
 * comes later there, and is of other flows, stays where it is.
 * @return whether it was tried
 */
static bool
past_ring(unsigned int nb, unsigned int at, unsigned int nb_left)
{
	const struct builtin *builtin;
	const struct ring *ring;
	struct rte_event event;
	bool seen_before = at == NONE_SENT;

	make(true);
	builtin = st_sched->own;
	ring = ((struct builtin_port *)st_port(HELPER))->rings[0][builtin->ports[OWNER].home->id];
	if (!hold(&event, 1, 0))
		return give_up(&event, 1, NULL, 0);
	send_new(nb, at);
	event = onward(event, 2, nb);
	assert_int_equal(weir_sched_enqueue(st_port(HELPER), &event, 1), 1);
	assert_int_equal(ring->tail - ring->head, nb_left);
	for (unsigned int i = 0; i <= nb; i++) {
		event = st_get_one(OWNER);
		if (event.u64 == nb)
			assert_true(seen_before);
		seen_before |= event.u64 == at;
		st_release(OWNER, event);
	}
	st_get_none(OWNER);
	st_teardown(NULL);
	return true;
}

static void
only_its_flow_has_to_be_there(void **state)
{
	static const struct {
		unsigned int nb, at, nb_left;
	} cases[] = {
		{0, NONE_SENT, 0},
		{16, NONE_SENT, 16},
		{16, 0, 15},
		{16, 9, 6},
		{16, 15, 0},
		{1024, NONE_SENT, 1024},
		{1024, 1000, 23},
		/* so many are not looked through */
		{1025, NONE_SENT, 0},
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		unsigned int tries = 0;

		while (!past_ring(cases[i].nb, cases[i].at, cases[i].nb_left))
			if (++tries == TRIES)
				fail_msg("the owner was away in each of %u tries", TRIES);
	}
}

#define NB_FED 120

/*
 * The owner works on one flow, whose events the helper puts in as fast as it takes them. What a producer sends to another flow is not kept
 * waiting. @first: others that it had before, so that what it does now and then does not always fall together
 * @return whether it was tried
 */
static bool
beside_flow(unsigned int first)
{
	struct rte_event held[NB_FED], event;
	unsigned int nb = 0;

	make(true);
	for (unsigned int i = 0; i < first; i++) {
		st_new(PRODUCER, 1, 4, 0);
		st_release(OWNER, st_get_one(OWNER));
		st_idle(HELPER);
	}
	if (!hold(held, NB_FED, 0))
		return give_up(held, NB_FED, NULL, 0);
	/* There is always another one of the flow. */
	for (; nb < 2; nb++) {
		event = onward(held[nb], 2, 0);
		assert_int_equal(weir_sched_enqueue(st_port(HELPER), &event, 1), 1);
	}
	st_new(PRODUCER, 1, 4, 1);
	for (; nb < NB_FED; nb++) {
		assert_int_equal(weir_sched_dequeue(st_port(OWNER), &event, 1), 1);
		if (event.u64 == 1)
			break;
		held[nb] = onward(held[nb], 2, 0);
		assert_int_equal(weir_sched_enqueue(st_port(HELPER), &held[nb], 1), 1);
		st_release(OWNER, event);
	}
	/* Looks at rings are at most 16 events apart, and so many of a flow come in a row. */
	if (nb > 2 + 16 + 64)
		fail_msg(
			"after %u others: %u of a flow came before one of another flow", first, nb);
	st_teardown(NULL);
	return true;
}

static void
one_flow_keeps_none_out(void **state)
{
	unsigned int tries = 0;

	for (unsigned int first = 0; first < 64; first++)
		while (!beside_flow(first))
			if (++tries == TRIES)
				fail_msg("the owner was away in each of %u tries", TRIES);
}

/* One at a time of flows of both: what it has of the owner's it gives back there, also with a dequeue of its own. */
static void
gives_up_anothers(void **state)
{
	const unsigned int nb_flows = 6, nb_all = 240;
	unsigned int next[6] = {0}, done = 0;
	struct rte_event event;

	make(false);
	for (uint32_t i = 0; i < nb_all; i++)
		st_new(PRODUCER, 0, i % nb_flows, i / nb_flows);
	for (unsigned int tries = 0; done < nb_all; tries++) {
		if (tries > 100000)
			fail_msg("%u of %u came", done, nb_all);
		st_idle(OWNER);
		if (weir_sched_dequeue(st_port(HELPER), &event, 1) == 0)
			continue;
		assert_int_equal(event.u64, next[event.flow_id]++);
		done++;
	}
	st_get_none(HELPER);
	/* with the first two */
	assert_int_equal(st_stats().nb_released, nb_all + 2);
}

/* What came past all rings is held when the next one is asked for: none of the rings was ever used, and none has a turn. */
static void
no_ring_was_used(void **state)
{
	const struct rte_event event = st_event(RTE_EVENT_OP_NEW, 0, 0, 0);
	struct weir_sched_config config = st_config(1, 1);
	const struct builtin *builtin;

	st_builtin_only();
	config.nb_reserved = 4;
	st_make(config);
	st_queue(0, ATOMIC, 0, 0);
	st_start();
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(weir_sched_reserve(st_sched, 1), 1);
		assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), 0);
		assert_int_equal(st_get_one(0).u64, 0);
		st_get_none(0);
		/* What lies behind the last ring may be taken for an empty one, and nobody sees that from outside. */
		builtin = st_sched->own;
		assert_in_range(builtin->shards[0].turn - builtin->shards[0].rings, 0,
			builtin->shards[0].nb_rings - 1);
	}
	st_teardown(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(many_in_one_burst),
		TEST(only_its_flow_has_to_be_there),
		TEST(one_flow_keeps_none_out),
		TEST(gives_up_anothers),
		TEST(no_ring_was_used),
	};

	return ST_RUN("sched-foreign", tests);
}
