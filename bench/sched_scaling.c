/* SPDX-License-Identifier: BSD-3-Clause */

/* What another worker adds: one to three of them, all in turns. */

#include <stdio.h>

#include "sched_bench.h"

#define SLICE_NS    10000000
#define ROUNDS_MIN  9
#define LEAST_ADDED 0.85 /* of what one worker does alone */

static const struct {
	const char *name, *what;
	enum sched_mode mode;
} cases[] = {
	{"scaling", "a fixed number of events goes round", SCHED_INSIDE},
	{"scaling-own", "workers produce an event for each that leaves", SCHED_OWN},
};

#define NB_CASES (sizeof(cases) / sizeof(cases[0]))

static const enum sched_kind kinds[] = {SCHED_OURS, SCHED_DSW, SCHED_SW};

void
sched_scaling_list(void)
{
	for (size_t i = 0; i < NB_CASES; i++)
		printf("%s\n", cases[i].name);
}

bool
sched_scaling_wanted(const struct bench_options *options)
{
	for (size_t i = 0; i < NB_CASES; i++)
		if (bench_wanted(options, cases[i].name))
			return true;
	return false;
}

/* One kind with one to three workers, which are neighbouring sides. Returns the least that a worker added. */
static double
report_kind(struct sched_turns *turns, unsigned int first, json_t **json)
{
	double alone = SCHED_MEDIAN(turns, first, rate), before = alone, least = 1e9;
	json_t *rates = json_array();

	bench_say(turns->report, "  %-12s", turns->sides[first]->name);
	for (unsigned int n = 0; n < SCHED_WORKERS; n++) {
		double rate = SCHED_MEDIAN(turns, first + n, rate);

		bench_say(turns->report, "%9.2f", rate / 1e6);
		json_array_append_new(rates, json_real(rate / 1e6));
		if (n > 0 && (rate - before) / alone < least)
			least = (rate - before) / alone;
		before = rate;
	}
	bench_say(turns->report, "%12.2f", least);
	*json = json_pack("{s:s, s:o, s:f}", "name", turns->sides[first]->name, "mev_per_s", rates,
		"least_added", least);
	return least;
}

static void
report_case(struct sched_turns *turns, const char *name, const char *what)
{
	json_t *sides = json_array(), *json;
	bool reached = false;

	bench_say(turns->report, "\n%s: %s, bursts of 16, atomic; Mev/s with so many workers\n\n",
		name, what);
	bench_say(turns->report, "  %-12s%9u%9u%9u%12s\n", "", 1, 2, 3, "least added");
	for (unsigned int s = 0; s < turns->nb_sides; s += SCHED_WORKERS) {
		double least = report_kind(turns, s, &json);

		if (s == 0) {
			reached = least >= LEAST_ADDED;
			bench_say(turns->report, "  to reach: %.2f  %s", LEAST_ADDED,
				reached ? "reached" : "short");
		}
		if (turns->sides[s]->service[0] != '\0')
			bench_say(turns->report, "  %s",
				turns->sides[s + SCHED_WORKERS - 1]->service);
		bench_say(turns->report, "\n");
		json_array_append_new(sides, json);
	}
	bench_report_array(turns->report, "scaling");
	json_array_append_new(
		turns->report->cases, json_pack("{s:s, s:o, s:f, s:b}", "name", name, "sides",
					      sides, "target", LEAST_ADDED, "reached", reached));
	turns->report->nb_rows++;
	turns->report->nb_targets++;
	turns->report->nb_missed += !reached;
	fflush(stdout);
}

static bool
add_sides(struct sched_turns *turns, enum sched_mode mode)
{
	const unsigned int nb_kinds = turns->options->ours ? 1 : RTE_DIM(kinds);

	for (unsigned int k = 0; k < nb_kinds; k++) {
		for (unsigned int n = 1; n <= SCHED_WORKERS; n++) {
			const struct sched_shape shape = {.nb_workers = n,
				.burst = 16,
				.nb_queues = 2,
				.types = {RTE_SCHED_TYPE_ATOMIC, RTE_SCHED_TYPE_ATOMIC},
				.mode = mode};

			if (sched_turns_add(turns, kinds[k], &shape) < 0)
				return false;
		}
	}
	return true;
}

void
sched_scaling_run(const struct bench_options *options, struct bench_report *report)
{
	for (size_t i = 0; i < NB_CASES; i++) {
		struct sched_turns turns = {
			.options = options, .report = report, .name = cases[i].name};

		if (!bench_wanted(options, cases[i].name))
			continue;
		if (add_sides(&turns, cases[i].mode) &&
			sched_turns_run(&turns, SLICE_NS, ROUNDS_MIN))
			report_case(&turns, cases[i].name, cases[i].what);
		sched_turns_end(&turns);
	}
}
