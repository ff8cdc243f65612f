/* SPDX-License-Identifier: BSD-3-Clause */

/* Two workers, of which one needs twice as long for each event, as if its core were shared: what comes of it if flows are moved to the other one? */

#include <stdio.h>

#include "sched_bench.h"

#define SLICE_NS   20000000
#define ROUNDS_MIN 9
#define WORKERS    2
#define WORK_STEPS 150 /* each the time of a multiplication and an addition */
#define SLOWER     2   /* times as long */

static const struct {
	const char *name, *what;
	bool priorities;
	unsigned int slack_ns;
} cases[] = {
	{"uneven", "two queues", false, 0},
	{"uneven-priorities", "two queues of two priorities, ours with a slack of 5 us", true,
		SCHED_SLACK_NS},
	{"uneven-strict", "two queues of two priorities, ours with strict ones", true, 0},
};

#define NB_CASES (sizeof(cases) / sizeof(cases[0]))

/* What the machine allows is the second one. */
static const enum sched_kind kinds[] = {SCHED_OURS, SCHED_APART, SCHED_DSW, SCHED_SW};

void
sched_uneven_list(void)
{
	if (sched_nb_workers >= WORKERS)
		BENCH_LIST(cases);
}

bool
sched_uneven_wanted(const struct bench_options *options)
{
	return sched_nb_workers >= WORKERS && BENCH_ANY_WANTED(options, cases);
}

static void
report_side(struct sched_turns *turns, unsigned int s, double allowed, json_t *sides)
{
	const struct sched_side *side = turns->sides[s];
	const double rate = SCHED_MEDIAN(turns, s, rate);

	bench_say(turns->report, "  %-12s%8.2f%10.2f", side->name, rate / 1e6, rate / allowed);
	if (side->kind == SCHED_APART)
		bench_say(turns->report, "  a scheduler for each: what the machine allows");
	if (side->service[0] != '\0')
		bench_say(turns->report, "  %s", side->service);
	bench_say(turns->report, "\n");
	json_array_append_new(sides, json_pack("{s:s, s:f, s:f}", "name", side->name, "mev_per_s",
					     rate / 1e6, "share", rate / allowed));
}

static void
report_case(struct sched_turns *turns, size_t number)
{
	const double allowed = SCHED_MEDIAN(turns, 1, rate), work_ns = sched_work_ns(WORK_STEPS);
	const unsigned int fit = sched_threads_cpus(SCHED_OWN);
	json_t *sides = json_array();

	bench_say(turns->report,
		"\n%s: two workers produce an event for each that leaves, %.0f ns of computing for "
		"each in each of %s, twice as much by one of them; bursts of 16, atomic\n\n"
		"  %-12s%8s%10s\n",
		cases[number].name, work_ns, cases[number].what, "", "Mev/s", "share");
	for (unsigned int s = 0; s < turns->nb_sides; s++)
		report_side(turns, s, allowed, sides);
	if (fit < WORKERS)
		bench_say(turns->report, "  not each of them has a CPU: that does not count\n");
	bench_report_array(turns->report, "uneven");
	json_array_append_new(turns->report->cases,
		json_pack("{s:s, s:f, s:b, s:o}", "name", cases[number].name, "work_ns", work_ns,
			"has_cpus", fit >= WORKERS, "sides", sides));
	turns->report->nb_rows++;
	fflush(stdout);
}

static bool
add_sides(struct sched_turns *turns, size_t number)
{
	const struct sched_shape shape = {.nb_workers = WORKERS,
		.burst = 16,
		.nb_queues = 2,
		.types = {RTE_SCHED_TYPE_ATOMIC, RTE_SCHED_TYPE_ATOMIC},
		.priorities = cases[number].priorities,
		.slack_ns = cases[number].slack_ns,
		.mode = SCHED_OWN,
		.work_steps = WORK_STEPS,
		.slower = SLOWER};
	const unsigned int nb_kinds = turns->options->ours ? 2 : RTE_DIM(kinds);

	for (unsigned int k = 0; k < nb_kinds; k++)
		if (sched_turns_add(turns, kinds[k], &shape) < 0)
			return false;
	return true;
}

void
sched_uneven_run(const struct bench_options *options, struct bench_report *report)
{
	static const struct sched_plan plan = {add_sides, report_case, SLICE_NS, ROUNDS_MIN};

	for (size_t i = 0; i < NB_CASES && sched_nb_workers >= WORKERS; i++)
		sched_turns_case(options, report, &plan, cases[i].name, i);
}
