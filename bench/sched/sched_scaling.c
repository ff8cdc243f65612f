/* SPDX-License-Identifier: BSD-3-Clause */

/* What another worker adds: up to as many as there are, all in turns; it counts as far as each has a CPU. */

#include <stdio.h>

#include "sched_bench.h"

#define SLICE_NS    10000000
#define ROUNDS_MIN  9
#define WORK_STEPS  150  /* each the time of a multiplication and an addition */
#define LEAST_ADDED 0.85 /* of what one worker does alone */

/* Without work it is the scheduler's own cost that is seen: a single worker has all lines in its cache, several hand them over. */
static const struct {
	const char *name, *what;
	enum sched_mode mode;
	uint32_t work_steps;
	double target; /* to reach; 0: any */
} cases[] = {
	{"scaling", "a fixed number of events goes round", SCHED_INSIDE, WORK_STEPS, LEAST_ADDED},
	{"scaling-own", "workers produce an event for each that leaves", SCHED_OWN, WORK_STEPS,
		LEAST_ADDED},
	{"scaling-bare", "a fixed number of events goes round", SCHED_INSIDE, 0, 0},
	{"scaling-own-bare", "workers produce an event for each that leaves", SCHED_OWN, 0, 0},
};

#define NB_CASES (sizeof(cases) / sizeof(cases[0]))

static const enum sched_kind kinds[] = {SCHED_OURS, SCHED_APART, SCHED_DSW, SCHED_SW};

void
sched_scaling_list(void)
{
	BENCH_LIST(cases);
}

bool
sched_scaling_wanted(const struct bench_options *options)
{
	return BENCH_ANY_WANTED(options, cases);
}

/* So many of a case's workers have a CPU each. */
static unsigned int
nb_fitting(size_t number)
{
	return sched_threads_cpus(cases[number].mode);
}

/* One kind with one worker, two, and so on, which are neighbouring sides. Returns the least that a worker added of those that fit; without a second one, 0. */
static double
report_kind(struct sched_turns *turns, unsigned int first, unsigned int fit, json_t **json)
{
	double alone = SCHED_MEDIAN(turns, first, rate), before = alone, least = 1e9;
	json_t *rates = json_array();

	bench_say(turns->report, "  %-12s", turns->sides[first]->name);
	for (unsigned int n = 0; n < sched_nb_workers; n++) {
		double rate = SCHED_MEDIAN(turns, first + n, rate);

		bench_say(turns->report, "%8.2f%c", rate / 1e6, n < fit ? ' ' : '*');
		json_array_append_new(rates, json_real(rate / 1e6));
		if (n > 0 && n < fit && (rate - before) / alone < least)
			least = (rate - before) / alone;
		before = rate;
	}
	least = fit > 1 ? least : 0;
	bench_say(turns->report, "%11.2f", least);
	*json = json_pack("{s:s, s:o, s:f}", "name", turns->sides[first]->name, "mev_per_s", rates,
		"least_added", least);
	return least;
}

static void
say_case(struct sched_turns *turns, size_t number, double work_ns)
{
	char work[64] = "no work";

	if (cases[number].work_steps > 0)
		snprintf(work, sizeof(work), "%.0f ns of computing for each in each of two queues",
			work_ns);
	bench_say(turns->report,
		"\n%s: %s, %s; bursts of 16, atomic; Mev/s with so many workers\n\n",
		cases[number].name, cases[number].what, work);
	bench_say(turns->report, "  %-12s", "");
	for (unsigned int n = 1; n <= sched_nb_workers; n++)
		bench_say(turns->report, "%8u ", n);
	bench_say(turns->report, "%11s\n", "least added");
}

static void
report_case(struct sched_turns *turns, size_t number)
{
	const double target = sched_nb_workers > 1 ? cases[number].target : 0,
		     work_ns = sched_work_ns(cases[number].work_steps);
	const unsigned int fit = nb_fitting(number);
	json_t *sides = json_array(), *json, *row;
	bool reached = false;

	say_case(turns, number, work_ns);
	for (unsigned int s = 0; s < turns->nb_sides; s += sched_nb_workers) {
		double least = report_kind(turns, s, fit, &json);

		if (s == 0 && target > 0) {
			reached = least >= target && fit >= sched_nb_workers;
			bench_say(turns->report, "  to reach: %.2f  %s", target,
				reached                   ? "reached"
				: fit >= sched_nb_workers ? "short"
							  : "there are too few CPUs");
		}
		if (turns->sides[s]->kind == SCHED_APART)
			bench_say(turns->report, "  a scheduler for each: what the machine allows");
		if (turns->sides[s]->service[0] != '\0')
			bench_say(turns->report, "  %s",
				turns->sides[s + sched_nb_workers - 1]->service);
		bench_say(turns->report, "\n");
		json_array_append_new(sides, json);
	}
	if (fit < sched_nb_workers)
		bench_say(turns->report, "  * not each of them has a CPU: that does not count\n");
	bench_report_array(turns->report, "scaling");
	row = json_pack("{s:s, s:f, s:i, s:o}", "name", cases[number].name, "work_ns", work_ns,
		"workers_with_cpu", (int)fit, "sides", sides);
	if (target > 0) {
		json_object_set_new(row, "target", json_real(target));
		json_object_set_new(row, "reached", json_boolean(reached));
		turns->report->nb_targets++;
		turns->report->nb_missed += !reached;
	}
	json_array_append_new(turns->report->cases, row);
	turns->report->nb_rows++;
	fflush(stdout);
}

static bool
add_sides(struct sched_turns *turns, size_t number)
{
	/* ours, and what the machine allows */
	const unsigned int nb_kinds = turns->options->ours ? 2 : RTE_DIM(kinds);

	for (unsigned int k = 0; k < nb_kinds; k++) {
		for (unsigned int n = 1; n <= sched_nb_workers; n++) {
			const struct sched_shape shape = {.nb_workers = n,
				.burst = 16,
				.nb_queues = 2,
				.types = {RTE_SCHED_TYPE_ATOMIC, RTE_SCHED_TYPE_ATOMIC},
				.mode = cases[number].mode,
				.work_steps = cases[number].work_steps};

			if (sched_turns_add(turns, kinds[k], &shape) < 0)
				return false;
		}
	}
	return true;
}

void
sched_scaling_run(const struct bench_options *options, struct bench_report *report)
{
	static const struct sched_plan plan = {add_sides, report_case, SLICE_NS, ROUNDS_MIN};

	for (size_t i = 0; i < NB_CASES; i++)
		sched_turns_case(options, report, &plan, cases[i].name, i);
}
