/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events that come at times of their own, at 80 % of what workers could serve if scheduling cost nothing, and take their time: how
 * long do they wait?
 *
 * The wait is from when an event was to be sent, whether it could be or not, until a worker begins with it. Beside what schedulers
 * achieve is said how long the wait would be if scheduling cost nothing: that tells what there is to be had.
 */

#include <stdio.h>
#include <string.h>

#include "sched_bench.h"

#define SLICE_NS   20000000 /* short: most are not hit by what the machine does besides */
#define ROUNDS_MIN 15
#define LOAD       0.8
#define SHARE      (1.0 / SCHED_CLASSES)
#define BEHIND_NS  1000000 /* a producer that is late by so much: more comes than is served */

#define A RTE_SCHED_TYPE_ATOMIC

struct open_case {
	const char *name, *what;
	struct sched_shape shape;
	unsigned int nb_classes;
	const char *class_names[SCHED_CLASSES];
	double target;     /* ratio of p99 to the best peer's */
	double target_dsw; /* to event_dsw's, of class 0 */
};

static const struct open_case cases[] = {
	{.name = "hot-flow",
		.what = "half of the events are of one atomic flow; each takes 2 us",
		.shape = {.burst = 1,
			.nb_queues = 1,
			.types = {A},
			.mode = SCHED_OPEN,
			.hot_share = 0.5,
			.class_share = {1},
			.class_ns = {2000}},
		.nb_classes = 1,
		.class_names = {"all"},
		.target = 2},
	{.name = "mixed-service",
		.what = "nine of ten events take 200 ns, the others 20 us; atomic flows",
		.shape = {.burst = 1,
			.nb_queues = 1,
			.types = {A},
			.mode = SCHED_OPEN,
			.class_share = {0.9, 0.1},
			.class_ns = {200, 20000}},
		.nb_classes = 2,
		.class_names = {"200 ns", "20 us"},
		.target = 2},
	{.name = "latency-high",
		.what = "a queue for each priority, with an eighth of the events each; each takes "
			"1 us; atomic flows; ours with a slack of 5 us",
		.shape = {.burst = 1,
			.nb_queues = SCHED_CLASSES,
			.types = {A, A, A, A, A, A, A, A},
			.priorities = true,
			.slack_ns = SCHED_SLACK_NS,
			.mode = SCHED_OPEN,
			.class_share = {SHARE, SHARE, SHARE, SHARE, SHARE, SHARE, SHARE, SHARE},
			.class_ns = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000},
			.class_queues = true},
		.nb_classes = SCHED_CLASSES,
		.class_names = {"0 highest", "1", "2", "3", "4", "5", "6", "7 lowest"},
		.target_dsw = 10},
};

#define NB_CASES (sizeof(cases) / sizeof(cases[0]))

/* What workers could serve at most; of one atomic flow it is what one of them could. */
static double
capacity(const struct sched_shape *shape)
{
	double mean_ns = 0, most = shape->nb_workers;

	for (unsigned int c = 0; c < SCHED_CLASSES; c++)
		mean_ns += shape->class_share[c] * shape->class_ns[c];
	if (shape->hot_share > 0 && 1 / shape->hot_share < most)
		most = 1 / shape->hot_share;
	return most * 1e9 / mean_ns;
}

/* With what comes. */
static struct sched_shape
offered(const struct open_case *oc)
{
	struct sched_shape shape = oc->shape;

	shape.nb_workers = sched_nb_workers;
	shape.events_per_s = LOAD * capacity(&shape);
	return shape;
}

static double
us(double cycles)
{
	return cycles * 1e6 / (double)weir_base_cycles_hz();
}

struct wait {
	double p50, p99, p999; /* cycles */
};

/* Of a class; after the last one: of all events. */
static struct wait
wait_of(const struct sched_turns *turns, unsigned int side, unsigned int class)
{
	return (struct wait){SCHED_MEDIAN(turns, side, p50[class]),
		SCHED_MEDIAN(turns, side, p99[class]), SCHED_MEDIAN(turns, side, p999[class])};
}

static json_t *
wait_json(const char *name, struct wait wait)
{
	return json_pack("{s:s, s:f, s:f, s:f}", "name", name, "p50_ns", 1e3 * us(wait.p50),
		"p99_ns", 1e3 * us(wait.p99), "p999_ns", 1e3 * us(wait.p999));
}

static json_t *
side_json(const struct sched_turns *turns, unsigned int s, const struct open_case *oc)
{
	json_t *classes = json_array(), *json;

	for (unsigned int c = 0; c < oc->nb_classes; c++)
		json_array_append_new(classes, wait_json(oc->class_names[c], wait_of(turns, s, c)));
	json = json_pack("{s:o, s:o, s:f, s:f}", "classes", classes, "all",
		wait_json("all", wait_of(turns, s, SCHED_CLASSES)), "mev_per_s",
		SCHED_MEDIAN(turns, s, rate) / 1e6, "producer_behind_ns",
		SCHED_MEDIAN(turns, s, behind_ns));
	if (turns->sides[s]->service[0] != '\0')
		json_object_set_new(json, "service", json_string(turns->sides[s]->service));
	return json;
}

static void
say_side(struct sched_turns *turns, unsigned int s, const struct open_case *oc)
{
	const struct sched_side *side = turns->sides[s];
	double behind = SCHED_MEDIAN(turns, s, behind_ns);

	for (unsigned int c = 0; c < oc->nb_classes; c++) {
		struct wait wait = wait_of(turns, s, c);

		bench_say(turns->report, "  %-16s %-10s%10.2f%10.2f%10.2f",
			c == 0 ? side->name : "", oc->class_names[c], us(wait.p50), us(wait.p99),
			us(wait.p999));
		if (c == 0 && behind > BEHIND_NS)
			bench_say(
				turns->report, "  does not keep up: %.1f ms behind", behind / 1e6);
		if (c == 0 && side->service[0] != '\0')
			bench_say(turns->report, "  %s", side->service);
		bench_say(turns->report, "\n");
	}
	if (oc->nb_classes > 1) {
		struct wait wait = wait_of(turns, s, SCHED_CLASSES);

		bench_say(turns->report, "  %-16s %-10s%10.2f%10.2f%10.2f\n", "", "all",
			us(wait.p50), us(wait.p99), us(wait.p999));
	}
}

/* SCHED_FREE is the last side. */
static unsigned int
free_side(const struct sched_turns *turns)
{
	return turns->nb_sides - 1;
}

/* p99 beside a peer's: of the highest priority, or of all. */
static void
report_pair(struct sched_turns *turns, const struct open_case *oc, unsigned int peer, double target,
	bool first)
{
	const unsigned int class = oc->shape.class_queues ? 0 : SCHED_CLASSES;
	const struct wait ours = wait_of(turns, 0, class), theirs = wait_of(turns, peer, class),
			  free = wait_of(turns, free_side(turns), class);
	struct bench_row row = {
		.name = oc->name,
		.peer = turns->sides[peer]->name,
		.ours = {ours.p99, ours.p99, ours.p99},
		.theirs = {theirs.p99, theirs.p99, theirs.p99},
		.objects = 1,
		.target = target,
		.quiet = true,
		.ours_extra = side_json(turns, 0, oc),
		.peer_extra = side_json(turns, peer, oc),
		.extra =
			json_pack("{s:f, s:o}", "offered_mev_per_s", offered(oc).events_per_s / 1e6,
				"at_no_cost", side_json(turns, free_side(turns), oc)),
	};
	double ratio = theirs.p99 / ours.p99;

	bench_report_array(turns->report, first ? "latency" : "other_latency");
	bench_report_row(turns->report, &row);
	if (target > 0)
		bench_say(turns->report,
			"  p99%s: %.2f times as short as %s's; to reach: %.1f  %s; at no cost: "
			"%.2f\n",
			class == 0 ? " of the highest priority" : "", ratio, row.peer, target,
			ratio >= target ? "reached" : "short", theirs.p99 / free.p99);
}

static void
report_case(struct sched_turns *turns, size_t number)
{
	const struct open_case *oc = &cases[number];
	const unsigned int class = oc->shape.class_queues ? 0 : SCHED_CLASSES;
	unsigned int best = 0;

	turns->report->work = turns->report->object = "p99";
	bench_say(turns->report,
		"\n%s: %s; %.3f Mev/s are offered, 80 %% of what can be served\n\n", oc->name,
		oc->what, offered(oc).events_per_s / 1e6);
	bench_say(turns->report, "  %-16s %-10s%10s%10s%10s\n", "wait, us", "", "p50", "p99",
		"p99.9");
	for (unsigned int s = 0; s < turns->nb_sides; s++) {
		say_side(turns, s, oc);
		if (s > 0 && s < free_side(turns) &&
			(best == 0 ||
				wait_of(turns, s, class).p99 < wait_of(turns, best, class).p99))
			best = s;
	}
	if (best > 0)
		report_pair(turns, oc, best,
			turns->sides[best]->kind == SCHED_DSW && oc->target_dsw > 0 ? oc->target_dsw
										    : oc->target,
			true);
	for (unsigned int s = 1; s < free_side(turns); s++)
		if (s != best)
			report_pair(turns, oc, s,
				turns->sides[s]->kind == SCHED_DSW ? oc->target_dsw : 0, false);
	if (best == 0) {
		bench_report_array(turns->report, "latency");
		json_array_append_new(
			turns->report->cases, json_pack("{s:s, s:o, s:o}", "name", oc->name, "ours",
						      side_json(turns, 0, oc), "at_no_cost",
						      side_json(turns, free_side(turns), oc)));
		turns->report->nb_rows++;
	}
	fflush(stdout);
}

void
sched_open_list(void)
{
	BENCH_LIST(cases);
}

bool
sched_open_wanted(const struct bench_options *options)
{
	return BENCH_ANY_WANTED(options, cases);
}

static bool
add_sides(struct sched_turns *turns, size_t number)
{
	const struct sched_shape shape = offered(&cases[number]);

	return sched_turns_add_all(turns, &shape) &&
	       sched_turns_add(turns, SCHED_FREE, &shape) >= 0;
}

void
sched_open_run(const struct bench_options *options, struct bench_report *report)
{
	static const struct sched_plan plan = {add_sides, report_case, SLICE_NS, ROUNDS_MIN};

	for (size_t i = 0; i < NB_CASES; i++)
		sched_turns_case(options, report, &plan, cases[i].name, i);
}
