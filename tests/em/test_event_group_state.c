/* SPDX-License-Identifier: BSD-3-Clause */

/* An event group's word: every interleaving of a few threads at once, and threads that run. */

#include "../base/cmocka_all.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* Of what is copied, all fields at once. */
#define INTERLEAVE_BY_HAND
#include "../base/interleave.h"
#define EM_STEP() interleave_point()
#define EM_WAIT() interleave_pause()

#include "event_group_state.h"

#define HANDLE 7

static struct event_group group;
static uint64_t first_cycle;

/* How often each notification, 1 up to 3, was sent, and handed back by an abort. */
static unsigned int sent[4], back[4];
static int apply_rc[2], abort_rc, delete_rc;
static unsigned int counted, stale, excess;

static struct weir_em_notification
notification(uint64_t value)
{
	return (struct weir_em_notification){
		.queue = value, .event.event = value, .event.u64 = value};
}

static void
take(unsigned int *where, const struct event_group_end *end)
{
	for (uint32_t i = 0; i < end->nb; i++) {
		uint64_t value = end->notifications[i].queue;

		assert_in_range(value, 1, 3);
		assert_int_equal(end->notifications[i].event.event, value);
		assert_int_equal(end->notifications[i].event.u64, value);
		where[value]++;
	}
}

static void
process(uint64_t cycle, uint32_t nb)
{
	struct event_group_end end;
	int rc = event_group_processed(&group, cycle, nb, &end);

	if (rc == 1)
		take(sent, &end);
	assert_int_equal(end.nb_counted > 0, rc >= 0);
	counted += end.nb_counted;
	stale += rc == -ESTALE;
	excess += rc == -EALREADY;
}

/* A new group, its first cycle of @count events, which ends with notification 1. */
static void
begin(uint64_t count)
{
	struct weir_em_notification one = notification(1);

	/* cycles wrap early in these tests */
	group = (struct event_group){.handle = HANDLE,
		.word = event_group_word(UINT64_MAX >> EVENT_GROUP_COUNT_BITS, 0)};
	memset(sent, 0, sizeof(sent));
	memset(back, 0, sizeof(back));
	apply_rc[0] = apply_rc[1] = abort_rc = delete_rc = 1;
	counted = stale = excess = 0;
	assert_int_equal(event_group_apply(&group, HANDLE, count, &one, 1), 0);
	assert_int_equal(event_group_running(&group, HANDLE, &first_cycle), 0);
	assert_int_equal(first_cycle, 0);
}

static void
begin_two(void)
{
	begin(2);
}

static void
begin_one(void)
{
	begin(1);
}

static void
an_event(void)
{
	process(first_cycle, 1);
}

static void
an_abort(void)
{
	struct event_group_end end;

	abort_rc = event_group_abort(&group, HANDLE, 1, &end);
	if (abort_rc == 0)
		take(back, &end);
}

static void
an_apply(void)
{
	struct weir_em_notification two = notification(2);

	apply_rc[0] = event_group_apply(&group, HANDLE, 1, &two, 1);
}

static void
another_apply(void)
{
	struct weir_em_notification three = notification(3);

	apply_rc[1] = event_group_apply(&group, HANDLE, 1, &three, 1);
}

static void
an_increment(void)
{
	/* of an event that is being processed: it counts after that */
	assert_int_equal(event_group_increment(&group, first_cycle, 1), 0);
	process(first_cycle, 1);
}

static void
a_deletion(void)
{
	uint64_t cycle;

	delete_rc = event_group_claim(&group, HANDLE, &cycle);
	if (delete_rc == 0) {
		EM_STEP();
		__atomic_store_n(&group.handle, 0, __ATOMIC_RELEASE);
		/* and created anew in the same place */
		event_group_publish(&group, cycle, 0);
		EM_STEP();
		__atomic_store_n(&group.handle, HANDLE + 1, __ATOMIC_RELEASE);
	}
}

static void
explore(uint64_t least, void (*start)(void), void (*end)(void), unsigned int nb,
	void (*const *threads)(void))
{
	struct interleave interleave = {
		.nb_actors = nb, .init = start, .check = end, .least = least};

	memcpy(interleave.actors, threads, nb * sizeof(*threads));
	interleave_all(&interleave);
}

#define EXPLORE(least, begin, end, ...)                                                            \
	explore(least, begin, end,                                                                 \
		sizeof((void (*[])(void)){__VA_ARGS__}) / sizeof(void (*)(void)),                  \
		(void (*[])(void)){__VA_ARGS__})

static void
sent_once(void)
{
	assert_int_equal(counted, 2);
	assert_int_equal(sent[1], 1);
	assert_int_equal(event_group_count(group.word), 0);
}

static void
events_test(void **state)
{
	EXPLORE(10, begin_two, sent_once, an_event, an_event);
}

static void
one_of_too_many(void)
{
	assert_int_equal(counted, 2);
	assert_int_equal(excess, 1);
	assert_int_equal(sent[1], 1);
	assert_int_equal(event_group_count(group.word), 0);
}

static void
excess_test(void **state)
{
	EXPLORE(1000, begin_two, one_of_too_many, an_event, an_event, an_event);
}

static void
not_before_all(void)
{
	/* three were to come, two did */
	assert_int_equal(sent[1], 0);
	assert_int_equal(event_group_count(group.word), 1);
	process(first_cycle, 1);
	assert_int_equal(sent[1], 1);
}

static void
increment_test(void **state)
{
	EXPLORE(50, begin_two, not_before_all, an_increment, an_event);
}

static void
either_way(void)
{
	assert_int_equal(sent[1] + back[1], 1);
	assert_int_equal(abort_rc, back[1] ? 0 : -EALREADY);
	assert_int_equal(counted, sent[1]);
	assert_int_equal(stale, back[1]);
	assert_int_equal(event_group_count(group.word), 0);
}

static void
abort_test(void **state)
{
	EXPLORE(50, begin_one, either_way, an_event, an_abort);
}

static void
successor_unharmed(void)
{
	assert_int_equal(sent[1] + back[1], 1);
	assert_int_equal(counted, sent[1]);
	assert_int_equal(stale, back[1] && sent[1] == 0 ? 1 : 0);
	/* the abort may have met either cycle, or none */
	assert_int_equal(abort_rc, back[1] + back[2] > 0 ? 0 : -EALREADY);
	assert_true(back[1] + back[2] <= 1);
	assert_true(apply_rc[0] == 0 || apply_rc[0] == -EBUSY);
	if (apply_rc[0] != 0)
		assert_int_equal(back[2], 0);
	/* no event of the first cycle counted in the second */
	assert_int_equal(sent[2], 0);
	assert_int_equal(event_group_count(group.word), apply_rc[0] == 0 && !back[2] ? 1 : 0);
	if (event_group_count(group.word) == 1) {
		process(event_group_cycle(group.word), 1);
		assert_int_equal(sent[2], 1);
	}
}

static void
successor_test(void **state)
{
	EXPLORE(10000, begin_one, successor_unharmed, an_event, an_abort, an_apply);
}

static void
one_apply_at_most(void)
{
	assert_int_equal(sent[1], 1);
	assert_true(apply_rc[0] == 0 || apply_rc[0] == -EBUSY);
	assert_true(apply_rc[1] == 0 || apply_rc[1] == -EBUSY);
	assert_false(apply_rc[0] == 0 && apply_rc[1] == 0);
	if (apply_rc[0] == 0 || apply_rc[1] == 0) {
		process(event_group_cycle(group.word), 1);
		assert_int_equal(sent[2], apply_rc[0] == 0);
		assert_int_equal(sent[3], apply_rc[1] == 0);
	}
}

static void
two_applies_test(void **state)
{
	EXPLORE(1000, begin_one, one_apply_at_most, an_event, an_apply, another_apply);
}

static void
begin_idle(void)
{
	begin(1);
	process(first_cycle, 1);
}

static void
applied_or_deleted(void)
{
	assert_int_equal(sent[1], 1);
	assert_int_equal(apply_rc[0] == 0, delete_rc == -EBUSY);
	assert_int_equal(apply_rc[0] == 0, event_group_count(group.word) == 1);
	if (apply_rc[0] != 0) {
		assert_true(apply_rc[0] == -ESTALE || apply_rc[0] == -EBUSY);
		assert_int_equal(delete_rc, 0);
	}
	/* an abort of the old one does nothing to the new one */
	assert_true(abort_rc == -EALREADY || abort_rc == -ESTALE || abort_rc == 0);
	assert_int_equal(back[2], abort_rc == 0);
}

static void
applied_aborted_or_deleted(void)
{
	assert_int_equal(sent[1], 1);
	assert_int_equal(back[2], abort_rc == 0);
	if (abort_rc == 0)
		assert_int_equal(apply_rc[0], 0);
	assert_int_equal(event_group_count(group.word), apply_rc[0] == 0 && abort_rc != 0 ? 1 : 0);
	if (delete_rc == 0)
		assert_int_equal(event_group_count(group.word), 0);
}

static void
no_abort_here(void)
{
	abort_rc = -EALREADY;
	applied_or_deleted();
}

static void
deletion_test(void **state)
{
	EXPLORE(100, begin_idle, no_abort_here, an_apply, a_deletion);
	EXPLORE(10000, begin_idle, applied_aborted_or_deleted, an_apply, a_deletion, an_abort);
}

static void
arithmetic_test(void **state)
{
	struct event_group_end end;

	begin(5);
	process(first_cycle, 3);
	assert_int_equal(event_group_count(group.word), 2);
	assert_int_equal(event_group_increment(&group, first_cycle, 4), 0);
	assert_int_equal(event_group_count(group.word), 6);
	assert_int_equal(
		event_group_increment(&group, first_cycle, WEIR_EM_EVENT_GROUP_COUNT_MAX - 5),
		-ERANGE);
	assert_int_equal(
		event_group_increment(&group, first_cycle, WEIR_EM_EVENT_GROUP_COUNT_MAX - 6), 0);
	assert_int_equal(event_group_increment(&group, first_cycle, 1), -ERANGE);
	process(first_cycle, WEIR_EM_EVENT_GROUP_COUNT_MAX - 1);
	assert_int_equal(sent[1], 0);
	/* more than are left: those that are left count */
	process(first_cycle, 2);
	assert_int_equal(sent[1], 1);
	assert_int_equal(event_group_increment(&group, first_cycle, 1), -EALREADY);
	assert_int_equal(event_group_abort(&group, HANDLE, 8, &end), -EALREADY);
	assert_int_equal(event_group_abort(&group, HANDLE + 1, 8, &end), -ESTALE);
}

static void
room_test(void **state)
{
	struct event_group_end end;

	begin(1);
	assert_int_equal(event_group_abort(&group, HANDLE, 0, &end), -ENOSPC);
	assert_int_equal(event_group_count(group.word), 1);
	assert_int_equal(event_group_abort(&group, HANDLE, 1, &end), 0);
	assert_int_equal(end.nb, 1);
	assert_int_equal(event_group_increment(&group, first_cycle, 1), -ESTALE);
}

/* Threads for the sanitizer, and real machines' memory order. */

#define ROUNDS 20000

static uint64_t now_cycle; /* of the cycle under way, 1 more; 0: none was told */
static unsigned int nb_ends;
static bool stop;

static void *
counts(void *arg)
{
	unsigned int *ends = arg;
	unsigned int nb = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		struct event_group_end end;
		uint64_t cycle = __atomic_load_n(&now_cycle, __ATOMIC_ACQUIRE);

		if (cycle == 0 || event_group_processed(&group, cycle - 1, 1, &end) != 1) {
			if (++nb % 64 == 0)
				sched_yield();
			continue;
		}
		/* the notification of that cycle, whole, and of no other */
		if (end.nb != 1 || end.notifications[0].queue != cycle ||
			end.notifications[0].event.event != cycle ||
			end.notifications[0].event.u64 != cycle)
			abort();
		__atomic_fetch_add(ends, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void
threads_test(void **state)
{
	unsigned int aborted = 0;
	pthread_t threads[3];

	begin(1);
	process(first_cycle, 1);
	nb_ends = 0;
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, counts, &nb_ends), 0);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint64_t next = ((event_group_cycle(event_group_load(&group)) + 1) &
					(UINT64_MAX >> EVENT_GROUP_COUNT_BITS)) +
				1;
		struct weir_em_notification one = notification(next);
		struct event_group_end end;

		assert_int_equal(event_group_apply(&group, HANDLE, 1 + round % 4, &one, 1), 0);
		__atomic_store_n(&now_cycle, next, __ATOMIC_RELEASE);
		if (round % 3 == 0) {
			for (unsigned int i = 0; i < round % 100; i++)
				__asm__ volatile("" ::: "memory");
			if (event_group_abort(&group, HANDLE, 1, &end) == 0) {
				assert_int_equal(end.notifications[0].queue, next);
				aborted++;
			}
		}
		while (event_group_count(event_group_load(&group)) != 0)
			sched_yield();
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(nb_ends + aborted, ROUNDS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arithmetic_test),
		cmocka_unit_test(room_test),
		cmocka_unit_test(events_test),
		cmocka_unit_test(excess_test),
		cmocka_unit_test(increment_test),
		cmocka_unit_test(abort_test),
		cmocka_unit_test(successor_test),
		cmocka_unit_test(two_applies_test),
		cmocka_unit_test(deletion_test),
		cmocka_unit_test(threads_test),
	};

	return cmocka_run_group_tests_name("em-event_group_state", tests, NULL, NULL);
}
