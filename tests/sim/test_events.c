/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of what is going to happen, against a sorted one. */
#include "sim_util.h"

#include <stdlib.h>

#include "event_list.h"
#include "weir_sim_random.h"

static int
compare(const void *a, const void *b)
{
	return event_before(a, b) ? -1 : event_before(b, a);
}

static void
earliest_first_then_priority_then_sequence(void **state)
{
	struct event_list list = {0};
	const uint32_t expected[] = {5, 3, 2, 4, 0, 1};
	unsigned int i;

	event_list_push(&list, 20, EVENT_PRIORITY_ARRIVAL, 0);
	event_list_push(&list, 20, EVENT_PRIORITY_ARRIVAL, 1);
	event_list_push(&list, 10, EVENT_PRIORITY_ARRIVAL, 2);
	event_list_push(&list, 10, EVENT_PRIORITY_DONE, 3);
	event_list_push(&list, 20, EVENT_PRIORITY_DONE, 4);
	event_list_push(&list, 0, EVENT_PRIORITY_ARRIVAL, 5);
	for (i = 0; i < 6; i++)
		assert_int_equal(event_list_pop(&list).target, expected[i]);
	assert_int_equal(list.nb, 0);
	sim_event_list_free(&list);
}

/* All pushed, then all popped, for every number of them up to 300: every shape of the heap's end. */
static void
sorts_any_number(void **state)
{
	struct weir_sim_random random;
	struct event_list list = {0};
	struct sim_event all[300];
	unsigned int nb, i;

	weir_sim_random_init(&random, 1, 0, "events");
	for (nb = 1; nb <= 300; nb++) {
		for (i = 0; i < nb; i++) {
			/* Few times, so that there are many of one. */
			const uint64_t time_ps = weir_sim_random_below(&random, 50);
			const enum event_priority priority =
				(enum event_priority)weir_sim_random_below(&random, 2);

			all[i] = (struct sim_event){time_ps,
				(uint64_t)priority << (64 - EVENT_PRIORITY_BITS) | list.sequence, i,
				0};
			event_list_push(&list, time_ps, priority, i);
		}
		qsort(all, nb, sizeof(all[0]), compare);
		for (i = 0; i < nb; i++)
			assert_int_equal(event_list_pop(&list).target, all[i].target);
	}
	sim_event_list_free(&list);
}

/* As a simulation does it: one out, one or two in, never earlier than what came out. */
static void
time_does_not_go_back(void **state)
{
	struct weir_sim_random random;
	struct event_list list = {0};
	struct sim_event before = {0}, event;
	unsigned int i;

	weir_sim_random_init(&random, 2, 0, "events");
	event_list_push(&list, 0, EVENT_PRIORITY_ARRIVAL, 0);
	for (i = 0; i < 200000; i++) {
		event = event_list_pop(&list);
		assert_true(event.time_ps >= before.time_ps);
		before = event;
		event_list_push(&list, event.time_ps + weir_sim_random_below(&random, 1000),
			EVENT_PRIORITY_ARRIVAL, i);
		if (i < 100000)
			event_list_push(&list,
				event.time_ps + weir_sim_random_below(&random, 100000),
				EVENT_PRIORITY_DONE, i);
	}
	assert_int_equal(list.nb, 100001);
	sim_event_list_free(&list);
}

/* The same with few of them, so that what is pushed often goes to the end. */
static void
few_events(void **state)
{
	struct weir_sim_random random;
	struct event_list list = {0};
	struct sim_event before = {0}, event;
	unsigned int nb, i;

	weir_sim_random_init(&random, 3, 0, "events");
	assert_null(event_list_first(&list));
	for (nb = 1; nb <= 30; nb++) {
		event_list_push(&list, before.time_ps, EVENT_PRIORITY_ARRIVAL, nb);
		for (i = 0; i < 1000; i++) {
			assert_int_equal(list.nb, nb);
			assert_true(event_list_first(&list)->time_ps >= before.time_ps);
			event = event_list_pop(&list);
			assert_true(event.time_ps >= before.time_ps);
			before = event;
			event_list_push(&list, event.time_ps + weir_sim_random_below(&random, 1000),
				EVENT_PRIORITY_ARRIVAL, i);
		}
	}
	sim_event_list_free(&list);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(earliest_first_then_priority_then_sequence),
		cmocka_unit_test(sorts_any_number),
		cmocka_unit_test(time_does_not_go_back),
		cmocka_unit_test(few_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
