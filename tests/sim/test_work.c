/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A million packets queued cost no more per event than a thousand, but for the logarithm: what the simulator itself does is
 * counted, not timed.
 */
#include "sim_util.h"

#include "sim.h"

/* So many packets come at once, those of a stream each of some flow, and are then served while as many others come. */
#define MODEL                                                                                      \
	"traffic:\n"                                                                               \
	"  streams:\n"                                                                             \
	"    fill: {to: q, arrivals: deterministic, interval: 1ps, count: %u, flows: 1000000}\n"   \
	"    more: {to: q, rate: 6Mpps, flows: 1000000}\n"                                         \
	"application:\n"                                                                           \
	"  queues: {q: {%s}}\n"                                                                    \
	"  objects: {o: {queues: [q], steps: [{cpu: 1000cycles, distribution: exponential}]}}\n"   \
	"platform: {cores: {c: {clock: 1GHz, count: 4}}}\n"

#define SETTLE                                                                                     \
	500 /* a heap is put in order by what is taken first: that is the cost of the filling */
#define EVENTS 300

/* Work per event while `nb` packets are queued. */
static double
work_per_event(unsigned int nb, const char *queue)
{
	char text[1024];
	struct given given;
	struct sim *sim;
	double work;

	snprintf(text, sizeof(text), MODEL, nb, queue);
	given = given_model(text);
	sim = sim_new(given.model, 1, 0);
	assert_non_null(sim);
	sim_engine_run(sim, nb + 1, UINT64_MAX / 2);
	assert_true(sim->queues[0].length.value > nb - nb / 4);
	assert_true(sim_engine_run(sim, UINT64_C(1) << 60, SETTLE));
	sim->work = sim->events.work = 0;
	sim->nb_events = 0;
	assert_true(sim_engine_run(sim, UINT64_C(1) << 60, EVENTS));
	assert_int_equal(sim->nb_events, EVENTS);
	assert_int_equal(sim->error, 0);
	assert_true(sim->queues[0].length.value > nb / 2 && sim->queues[0].length.value < 2 * nb);
	work = (double)(sim->work + sim->events.work) / EVENTS;
	/* What is counted is there. */
	assert_true(sim->events.work > EVENTS / 4);
	assert_true(sim->work > EVENTS / 4);
	sim_free(sim);
	given_free(&given);
	return work;
}

/* At most the logarithm of a million comes on top. */
static void
a_million(const char *queue)
{
	const double thousand = work_per_event(1000, queue),
		     million = work_per_event(1000000, queue);

	print_message("%s: %.1f and %.1f\n", queue, thousand, million);
	assert_true(million <= thousand + 20);
	assert_true(million < 50);
}

static void
one_flow(void **state)
{
	a_million("type: parallel");
}

static void
many_flows(void **state)
{
	a_million("type: atomic, flows: 65535");
}

static void
many_flows_in_order(void **state)
{
	a_million("type: ordered, flows: 65535");
}

static void
shortest_first(void **state)
{
	a_million("type: parallel, discipline: shortest");
}

/* Work per event that is taken and followed by another one, while `nb` are to come. */
static double
work_of_list(unsigned int nb)
{
	struct event_list list = {0};
	struct weir_sim_random random;
	double work;
	unsigned int i;

	weir_sim_random_init(&random, 1, 0, "work");
	for (i = 0; i < nb; i++)
		event_list_push(&list, weir_sim_random_below(&random, nb), EVENT_PRIORITY_DONE, i);
	list.work = 0;
	for (i = 0; i < EVENTS; i++) {
		const uint64_t now_ps = event_list_pop(&list).time_ps;

		event_list_push(
			&list, now_ps + weir_sim_random_below(&random, nb), EVENT_PRIORITY_DONE, i);
	}
	work = (double)list.work / EVENTS;
	assert_int_equal(list.nb, nb);
	sim_event_list_free(&list);
	return work;
}

static void
many_events(void **state)
{
	const double thousand = work_of_list(1000), million = work_of_list(1000000);

	print_message("events: %.1f and %.1f\n", thousand, million);
	assert_true(thousand > 1 && million > thousand);
	assert_true(million <= thousand + 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_flow),
		cmocka_unit_test(many_flows),
		cmocka_unit_test(many_flows_in_order),
		cmocka_unit_test(shortest_first),
		cmocka_unit_test(many_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
