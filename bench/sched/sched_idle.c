/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What ports that nobody calls cost those that work: two workers, without any such port, and beside some, all in turns. Their flows move; all
 * ports wait while that is done.
 */

#include <stdio.h>

#include "sched_bench.h"

#define SLICE_NS   10000000
#define ROUNDS_MIN 9
#define WORKERS    2
#define LEAST      0.9 /* of what they do without such ports */

static const struct {
	const char *name;
	const char *kind;
	uint8_t type; /* of the first queue: the other one is atomic */
	bool priorities;
	unsigned int slack_ns;
	unsigned int burst;
} cases[] = {
	{"idle-ports-b1", "two atomic queues", RTE_SCHED_TYPE_ATOMIC, false, 0, 1},
	{"idle-ports-b16", "two atomic queues", RTE_SCHED_TYPE_ATOMIC, false, 0, 16},
	{"idle-ports-ordered-b1", "an ordered and an atomic queue", RTE_SCHED_TYPE_ORDERED, false,
		0, 1},
	{"idle-ports-ordered-b16", "an ordered and an atomic queue", RTE_SCHED_TYPE_ORDERED, false,
		0, 16},
	{"idle-ports-priorities-b1", "two atomic queues of two priorities, slack 5 us",
		RTE_SCHED_TYPE_ATOMIC, true, SCHED_SLACK_NS, 1},
	{"idle-ports-priorities-b16", "two atomic queues of two priorities, slack 5 us",
		RTE_SCHED_TYPE_ATOMIC, true, SCHED_SLACK_NS, 16},
	{"idle-ports-strict-b1", "two atomic queues of two strict priorities",
		RTE_SCHED_TYPE_ATOMIC, true, 0, 1},
	{"idle-ports-strict-b16", "two atomic queues of two strict priorities",
		RTE_SCHED_TYPE_ATOMIC, true, 0, 16},
};

#define NB_CASES (sizeof(cases) / sizeof(cases[0]))

static const unsigned int nb_idle[] = {0, 2, 30};

void
sched_idle_list(void)
{
	if (sched_nb_workers >= WORKERS)
		BENCH_LIST(cases);
}

bool
sched_idle_wanted(const struct bench_options *options)
{
	return sched_nb_workers >= WORKERS && BENCH_ANY_WANTED(options, cases);
}

/* So long all ports waited at most while flows moved, since the side was made. */
static double
longest_move_us(const struct sched_side *side)
{
	uint64_t ns, longest = 0;

	for (unsigned int port = 0; port < WORKERS + side->shape.nb_idle; port++)
		if (weir_sched_xstat_by_name(
			    side->sched, WEIR_SCHED_PART_PORT, port, "longest_move_ns", &ns) == 0)
			longest = RTE_MAX(longest, ns);
	return (double)longest / 1e3;
}

static void
report_case(struct sched_turns *turns, size_t number)
{
	const double alone = SCHED_MEDIAN(turns, 0, rate);
	json_t *sides = json_array();
	double least = 1e9;

	bench_say(turns->report,
		"\n%s: two workers, %s, bursts of %u, beside ports that nobody calls\n\n"
		"  %12s%12s%12s%20s\n",
		cases[number].name, cases[number].kind, cases[number].burst, "idle ports", "Mev/s",
		"ratio", "longest move, us");
	for (unsigned int s = 0; s < turns->nb_sides; s++) {
		const double rate = SCHED_MEDIAN(turns, s, rate), ratio = rate / alone;
		const double longest = longest_move_us(turns->sides[s]);

		least = RTE_MIN(least, ratio);
		bench_say(turns->report, "  %12u%12.2f%12.2f%20.1f\n", nb_idle[s], rate / 1e6,
			ratio, longest);
		json_array_append_new(sides, json_pack("{s:i, s:f, s:f, s:f}", "idle_ports",
						     (int)nb_idle[s], "mev_per_s", rate / 1e6,
						     "ratio", ratio, "longest_move_us", longest));
	}
	bench_say(turns->report, "  to reach: %.2f  %s\n", LEAST,
		least >= LEAST ? "reached" : "short");
	bench_report_array(turns->report, "idle_ports");
	json_array_append_new(turns->report->cases,
		json_pack("{s:s, s:o, s:f, s:f, s:b}", "name", cases[number].name, "sides", sides,
			"least_ratio", least, "target", LEAST, "reached", least >= LEAST));
	turns->report->nb_targets++;
	turns->report->nb_missed += least < LEAST;
	turns->report->nb_rows++;
	fflush(stdout);
}

static bool
add_sides(struct sched_turns *turns, size_t number)
{
	for (size_t i = 0; i < RTE_DIM(nb_idle); i++) {
		const struct sched_shape shape = {.nb_workers = WORKERS,
			.nb_idle = nb_idle[i],
			.burst = cases[number].burst,
			.nb_queues = 2,
			.priorities = cases[number].priorities,
			.slack_ns = cases[number].slack_ns,
			.types = {cases[number].type, RTE_SCHED_TYPE_ATOMIC},
			.mode = SCHED_PRODUCED};

		if (sched_turns_add(turns, SCHED_OURS, &shape) < 0)
			return false;
	}
	return true;
}

void
sched_idle_run(const struct bench_options *options, struct bench_report *report)
{
	static const struct sched_plan plan = {add_sides, report_case, SLICE_NS, ROUNDS_MIN};

	for (size_t i = 0; i < NB_CASES && sched_nb_workers >= WORKERS; i++)
		sched_turns_case(options, report, &plan, cases[i].name, i);
}
