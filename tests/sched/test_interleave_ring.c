/* SPDX-License-Identifier: BSD-3-Clause */

/* The builtin scheduler's ring of events, with a tail that is published when a burst is complete: in every order of its steps. */

#include "sched_test.h"

#include "../base/interleave.h"

#include "event.h"

/* Between what is written and what is published others may come, too: where that is tried, not in all orders, as there are too many. */
static bool is_seen_writing;

static void
write_seen(struct rte_event *to, struct rte_event event)
{
	if (is_seen_writing)
		interleave_point();
	event_write(to, event);
}

#define event_write write_seen

#include "ring.h"

#define NB_SLOTS 4

static struct rte_event slots[NB_SLOTS];
static struct ring ring;
static uint64_t nb_sent, nb_got;
static uint32_t start; /* of the ring's counters: they wrap */

static void
init(void)
{
	memset(slots, 0xff, sizeof(slots));
	ring_init(&ring, slots, NB_SLOTS);
	ring.tail = ring.fill = ring.head = ring.seen = start;
	nb_sent = nb_got = 0;
}

static void
send(unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		ring_put(&ring, st_event(RTE_EVENT_OP_NEW, 0, 0, nb_sent++));
	}
	ring_publish(&ring);
}

/* Bursts of 2, 1 and 1: as many as there is room for. */
static void
produce(void)
{
	send(2);
	send(1);
	send(1);
}

/* Some of what is there, or all. */
static void
take(unsigned int most)
{
	uint32_t n = 0;

	ring_look(&ring);
	for (; n < ring_count(&ring) && n < most; n++)
		CHECK(ring_peek(&ring, n)->u64 == nb_got++);
	CHECK(nb_got <= nb_sent);
	ring_take(&ring, n);
}

static void
produce_twice(void)
{
	send(3);
	send(1);
}

static void
consume_quickly(void)
{
	for (take(2); nb_got < 4; take(4))
		rte_pause();
}

static void
consume(void)
{
	take(1);
	take(4);
	take(2);
	for (take(4); nb_got < 4; take(4))
		rte_pause();
}

/* Who looks from outside how many there are: at two moments, so it may be fewer than none. */
static void
watch(void)
{
	uint32_t tail = __atomic_load_n(&ring.tail, __ATOMIC_RELAXED);
	uint32_t head = __atomic_load_n(&ring.head, __ATOMIC_RELAXED);

	CHECK((int32_t)(tail - head) <= NB_SLOTS && (int32_t)(tail - head) >= -NB_SLOTS);
}

static void
check(void)
{
	CHECK(nb_got == 4);
	CHECK(ring.head == start + 4 && ring.tail == start + 4);
}

static void
two(void **state)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {produce, consume},
		.check = check,
		.most_interruptions = is_seen_writing ? 4 : 0,
		.least = 21};

	for (unsigned int i = 0; i < 2; i++) {
		start = i == 0 ? 0 : UINT32_MAX - 1;
		interleave_all(&interleave);
	}
}

static void
three(void **state)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 3,
		.actors = {produce_twice, consume_quickly, watch},
		.check = check,
		.most_interruptions = is_seen_writing ? 4 : 0,
		.least = 1001};

	start = UINT32_MAX - 2;
	interleave_all(&interleave);
}

static void
two_seen_writing(void **state)
{
	is_seen_writing = true;
	two(state);
	is_seen_writing = false;
}

static void
three_seen_writing(void **state)
{
	is_seen_writing = true;
	three(state);
	is_seen_writing = false;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(two_seen_writing),
		cmocka_unit_test(three_seen_writing), cmocka_unit_test(two),
		cmocka_unit_test(three)};

	return cmocka_run_group_tests_name("sched-interleave-ring", tests, NULL, NULL);
}
