/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How long does a cache line take from one of these CPUs to another? Figures of schedulers hang on that, and in a virtual machine it is another
 * one when its CPUs are moved: so it is looked at between slices.
 *
 * Two threads pass a line to and fro; half of the least time of some rounds is one way.
 */

#include <rte_pause.h>

#include "sched_bench.h"

#define MAIN      sched_nb_workers /* the producer, beside the workers' numbers */
#define NB_CPUS   (sched_nb_workers + 1)
#define EXCHANGES 50 /* of a line, in a look */

static struct {
	uint32_t line __attribute__((aligned(64)));
	unsigned int from __attribute__((aligned(64))), to;
	uint64_t cycles; /* to and fro */
} exchange;

static struct weir_base_hist seen[SCHED_WORKERS_MAX + 1]
				 [SCHED_WORKERS_MAX + 1]; /* 1/100 ns, one way */

static void
wait_for(uint32_t value)
{
	while (__atomic_load_n(&exchange.line, __ATOMIC_ACQUIRE) != value)
		rte_pause();
}

static void
send(void)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < EXCHANGES; i++) {
		const uint64_t begin = weir_base_cycles();

		__atomic_store_n(&exchange.line, 2 * i + 1, __ATOMIC_RELEASE);
		wait_for(2 * i + 2);
		least = RTE_MIN(least, weir_base_cycles() - begin);
	}
	exchange.cycles = least;
}

static void
send_back(void)
{
	for (uint32_t i = 0; i < EXCHANGES; i++) {
		wait_for(2 * i + 1);
		__atomic_store_n(&exchange.line, 2 * i + 2, __ATOMIC_RELEASE);
	}
}

static void
take_part(unsigned int id)
{
	if (id == exchange.from)
		send();
	else if (id == exchange.to)
		send_back();
}

/* Of a device's service there may be a thread besides, which is none of those looked at. */
static void
thread_takes_part(unsigned int id)
{
	if (id < sched_nb_workers)
		take_part(id);
}

void
sched_lines_look(void)
{
	if (sched_crowded)
		return;
	for (unsigned int from = 0; from < NB_CPUS; from++)
		for (unsigned int to = 0; to < from; to++) {
			exchange.line = 0;
			exchange.from = from;
			exchange.to = to;
			sched_threads_begin(thread_takes_part);
			take_part(MAIN);
			sched_threads_join();
			weir_base_hist_add(
				&seen[from][to], weir_base_cycles_to_ns(100 * exchange.cycles / 2));
		}
}

static double
line_ns(unsigned int from, unsigned int to, double percent)
{
	return (double)weir_base_hist_percentile(&seen[from][to], percent) / 100;
}

static json_t *
pair_json(unsigned int from, unsigned int to)
{
	json_t *json = json_pack("{s:f, s:f, s:f}", "median", line_ns(from, to, 50), "p10",
		line_ns(from, to, 10), "p90", line_ns(from, to, 90));

	if (from == MAIN)
		json_object_set_new(json, "producer_and_worker", json_integer(to));
	else
		json_object_set_new(json, "workers", json_pack("[i, i]", to, from));
	return json;
}

static void
say_pair(struct bench_report *report, unsigned int from, unsigned int to)
{
	const char *before = to > 0             ? ","
			     : from == MAIN     ? " producer to workers"
			     : from + 1 == MAIN ? "; between workers"
						: ",";

	bench_say(report, "%s %.0f (%.0f to %.0f)", before, line_ns(from, to, 50),
		line_ns(from, to, 10), line_ns(from, to, 90));
}

void
sched_lines_report(struct bench_report *report)
{
	json_t *pairs;

	if (seen[MAIN][0].count == 0)
		return;
	pairs = json_array();
	bench_say(report,
		"\nA cache line from CPU to CPU, ns, medians of %u looks (10th to 90th "
		"percentile):\n ",
		(unsigned int)seen[MAIN][0].count);
	for (unsigned int from = MAIN; from > 0; from--)
		for (unsigned int to = 0; to < from; to++) {
			say_pair(report, from, to);
			json_array_append_new(pairs, pair_json(from, to));
		}
	bench_say(report, "\n");
	json_object_set_new(report->root, "line_ns", pairs);
}
