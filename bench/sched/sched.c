/* SPDX-License-Identifier: BSD-3-Clause */

/* `weir bench sched`: lib/sched's builtin scheduler beside DPDK's software event devices. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched_bench.h"

#define SLICE_NS        10000000
#define ROUNDS_MIN      9
#define SECONDS         1.0
#define LEAST_OF_ATOMIC 0.7
#define MEGABYTES       512
#define MEGABYTES_EACH  128 /* of each worker but two: scaling has devices for each number */

#define A RTE_SCHED_TYPE_ATOMIC
#define O RTE_SCHED_TYPE_ORDERED
#define P RTE_SCHED_TYPE_PARALLEL

/* With "inside" a fixed number of events goes round for ever: it is the workers' speed, whatever a producer can do. */
struct sched_case {
	const char *name;
	struct sched_shape shape;
	double target_dsw, target_sw; /* ratios to reach; 0: any */
	bool layer;                   /* our layer over event_dsw, too */
};

#define SHAPE(burst_, mode_, nb_queues_, ...)                                                      \
	{                                                                                          \
		.burst = burst_, .nb_queues = nb_queues_, .types = {__VA_ARGS__}, .mode = mode_    \
	}

static const struct sched_case cases[] = {
	{"atomic-b1", SHAPE(1, SCHED_PRODUCED, 1, A), 1.2, 0, true},
	{"atomic-b1-inside", SHAPE(1, SCHED_INSIDE, 2, A, A), 1.2, 0, true},
	{"atomic-b16", SHAPE(16, SCHED_PRODUCED, 1, A), 1.2, 0, true},
	{"atomic-b16-inside", SHAPE(16, SCHED_INSIDE, 2, A, A), 1.2, 0, true},
	{"parallel-b1", SHAPE(1, SCHED_PRODUCED, 1, P), 1.2, 0, false},
	{"parallel-b1-inside", SHAPE(1, SCHED_INSIDE, 2, P, P), 1.2, 0, false},
	{"parallel-b16", SHAPE(16, SCHED_PRODUCED, 1, P), 1.2, 0, false},
	{"parallel-b16-inside", SHAPE(16, SCHED_INSIDE, 2, P, P), 1.2, 0, false},
	{"ordered-b1", SHAPE(1, SCHED_PRODUCED, 2, O, A), 0, 5, false},
	{"ordered-b1-inside", SHAPE(1, SCHED_INSIDE, 2, O, A), 0, 5, false},
	{"ordered-b16", SHAPE(16, SCHED_PRODUCED, 2, O, A), 0, 2, false},
	{"ordered-b16-inside", SHAPE(16, SCHED_INSIDE, 2, O, A), 0, 2, false},
	{"stages-2-b1", SHAPE(1, SCHED_PRODUCED, 2, A, A), 0, 0, false},
	{"stages-2-b16", SHAPE(16, SCHED_PRODUCED, 2, A, A), 0, 0, false},
	{"stages-4", SHAPE(16, SCHED_PRODUCED, 4, A, A, A, A), 0, 0, false},
	{"stages-4-inside", SHAPE(16, SCHED_INSIDE, 4, A, A, A, A), 0, 0, false},
};

#define NB_CASES (sizeof(cases) / sizeof(cases[0]))

static json_t *
side_json(const struct sched_turns *turns, unsigned int s)
{
	json_t *json = json_pack("{s:f, s:f, s:f, s:i}", "mev_per_s",
		SCHED_MEDIAN(turns, s, rate) / 1e6, "empty_share", SCHED_MEDIAN(turns, s, empty),
		"refused_per_event", SCHED_MEDIAN(turns, s, refused), "worker_cpus",
		(int)turns->sides[s]->nb_cpus);

	if (turns->sides[s]->service[0] != '\0')
		json_object_set_new(json, "service", json_string(turns->sides[s]->service));
	return json;
}

static void
say_head(const struct bench_report *report)
{
	bench_say(report, "\n%-20s |%27s |%45s |\n", "", "ours", "peer");
	bench_say(report, "%-20s |%8s%12s%7s |%-20s%7s%11s%7s |%6s  %s\n", "case", "Mev/s",
		"cycles/ev", "empty", " ", "Mev/s", "cycles/ev", "empty", "ratio", "to reach");
}

/* One peer's row; the first one has the case's name. */
static void
report_pair(struct sched_turns *turns, unsigned int ours, unsigned int peer, const char *name,
	double target, bool first)
{
	struct bench_row row = {
		.name = name,
		.peer = turns->sides[peer]->name,
		.ours = turns->figures[ours],
		.theirs = turns->figures[peer],
		.objects = turns->sides[ours]->shape.mode == SCHED_INSIDE
				   ? 1
				   : turns->sides[ours]->shape.nb_queues,
		.target = target,
		.quiet = true,
		.ours_extra = side_json(turns, ours),
		.peer_extra = side_json(turns, peer),
	};
	double ratio = row.theirs.median / row.ours.median;
	char wanted[16] = "-";

	if (target > 0)
		snprintf(wanted, sizeof(wanted), "%.1f", target);
	bench_report_array(turns->report, first ? "cases" : "other_peers");
	bench_report_row(turns->report, &row);
	if (first)
		bench_say(turns->report, "%-20s |%8.2f%12.1f%6.0f%% |", name,
			SCHED_MEDIAN(turns, ours, rate) / 1e6, row.ours.median,
			100 * SCHED_MEDIAN(turns, ours, empty));
	else
		bench_say(turns->report, "%-20s |%27s |", "", "");
	bench_say(turns->report, "%-20s%7.2f%11.1f%6.0f%% |%6.2f  %s%s\n", row.peer,
		SCHED_MEDIAN(turns, peer, rate) / 1e6, row.theirs.median,
		100 * SCHED_MEDIAN(turns, peer, empty), ratio, wanted,
		target <= 0       ? ""
		: ratio >= target ? "  reached"
				  : "  short");
	if (!turns->options->json)
		fflush(stdout);
}

static void
say_alone(struct sched_turns *turns, const char *name)
{
	bench_say(turns->report, "%-20s |%8.2f%12.1f%6.0f%% |\n", name,
		SCHED_MEDIAN(turns, 0, rate) / 1e6, turns->figures[0].median,
		100 * SCHED_MEDIAN(turns, 0, empty));
	bench_report_array(turns->report, "cases");
	json_array_append_new(turns->report->cases,
		json_pack("{s:s, s:{s:f, s:o}}", "name", name, "ours", "cycles_per_event",
			turns->figures[0].median, "more", side_json(turns, 0)));
	turns->report->nb_rows++;
}

/* The best first. */
static void
report_peers(struct sched_turns *turns, const struct sched_case *sc)
{
	bool told[SCHED_SIDES] = {false};

	for (unsigned int n = 1; n < turns->nb_sides; n++) {
		unsigned int best = 0;
		enum sched_kind kind;

		for (unsigned int s = 1; s < turns->nb_sides; s++)
			if (!told[s] && turns->sides[s]->kind >= SCHED_DSW &&
				(best == 0 ||
					turns->figures[s].median < turns->figures[best].median))
				best = s;
		if (best == 0)
			break;
		told[best] = true;
		kind = turns->sides[best]->kind;
		report_pair(turns, 0, best, sc->name,
			kind == SCHED_DSW  ? sc->target_dsw
			: kind == SCHED_SW ? sc->target_sw
					   : 0,
			n == 1);
	}
}

/* Ordered beside atomic, both ours. */
static void
report_order(struct sched_turns *turns, unsigned int atomic, const char *name)
{
	double share = turns->figures[atomic].median / turns->figures[0].median;
	bool reached = share >= LEAST_OF_ATOMIC;

	bench_say(turns->report, "%-20s   %.2f of what atomic does; to reach: %.2f  %s\n", "",
		share, LEAST_OF_ATOMIC, reached ? "reached" : "short");
	bench_report_array(turns->report, "ordered_beside_atomic");
	json_array_append_new(turns->report->cases,
		json_pack("{s:s, s:f, s:f, s:f, s:b}", "name", name, "cycles_per_event_atomic",
			turns->figures[atomic].median, "share", share, "target", LEAST_OF_ATOMIC,
			"reached", reached));
	turns->report->nb_targets++;
	turns->report->nb_missed += !reached;
}

/* Our layer over event_dsw beside the device itself. */
static void
report_layer(struct sched_turns *turns, unsigned int layer, const char *name)
{
	for (unsigned int s = 1; s < turns->nb_sides; s++) {
		double ratio = turns->figures[layer].median / turns->figures[s].median;

		if (turns->sides[s]->kind != SCHED_DSW)
			continue;
		bench_say(turns->report,
			"%-20s   eventdev:event_dsw by our API: %.1f cycles/ev, %.2f times "
			"event_dsw's\n",
			"", turns->figures[layer].median, ratio);
		bench_report_array(turns->report, "layer");
		json_array_append_new(turns->report->cases,
			json_pack("{s:s, s:f, s:f}", "name", name, "cycles_per_event",
				turns->figures[layer].median, "times_event_dsw", ratio));
	}
}

static void
run_case(const struct bench_options *options, struct bench_report *report,
	const struct sched_case *sc)
{
	struct sched_turns turns = {.options = options, .report = report, .name = sc->name};
	struct sched_shape shape = sc->shape, atomic;
	int beside = 0, layer = 0;
	bool ok;

	shape.nb_workers = sched_nb_workers;
	atomic = shape;
	atomic.types[0] = RTE_SCHED_TYPE_ATOMIC;
	ok = sched_turns_add_all(&turns, &shape);
	if (ok && shape.types[0] == RTE_SCHED_TYPE_ORDERED)
		beside = sched_turns_add(&turns, SCHED_ATOMIC, &atomic);
	if (ok && sc->layer && !options->ours)
		layer = sched_turns_add(&turns, SCHED_LAYER, &shape);
	if (ok && beside >= 0 && layer >= 0 && sched_turns_run(&turns, SLICE_NS, ROUNDS_MIN)) {
		report->work = "event";
		report->object = "hop";
		if (options->ours)
			say_alone(&turns, sc->name);
		else
			report_peers(&turns, sc);
		if (beside > 0)
			report_order(&turns, beside, sc->name);
		if (layer > 0)
			report_layer(&turns, layer, sc->name);
	}
	sched_turns_end(&turns);
}

static void
say_machine(struct bench_report *report)
{
	bench_say(report,
		"A producer and %u worker%s, bursts as named, %u flows, %u credits; peers by "
		"rte_event_* calls.\n",
		sched_nb_workers, sched_nb_workers == 1 ? "" : "s", SCHED_FLOWS, SCHED_EVENTS);
	json_object_set_new(report->root, "workers", json_integer(sched_nb_workers));
	json_object_set_new(report->root, "crowded", json_boolean(sched_crowded));
	if (sched_crowded)
		bench_say(report, "There are fewer CPUs than threads: the figures mean little, but "
				  "for those of scaling that have no asterisk, and uneven; "
				  "--workers asks for fewer.\n");
}

static unsigned int
megabytes(void)
{
	return MEGABYTES + MEGABYTES_EACH * (RTE_MAX(sched_nb_workers, 2u) - 2);
}

static int
run_sched(const struct bench *bench, const struct bench_options *options)
{
	struct bench_report report;
	cpu_set_t allowed;

	if (options->workers != 0)
		sched_nb_workers = options->workers;
	if (options->list) {
		BENCH_LIST(cases);
		sched_open_list();
		sched_scaling_list();
		sched_uneven_list();
		sched_idle_list();
		return 0;
	}
	if (!BENCH_ANY_WANTED(options, cases) && !sched_open_wanted(options) &&
		!sched_scaling_wanted(options) && !sched_uneven_wanted(options) &&
		!sched_idle_wanted(options))
		return bench_no_case(bench, options);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	if (bench_eal_start(options, megabytes(), 0) < 0 || sched_threads_start(&allowed) < 0)
		return 1;
	weir_base_log_set_level(WEIR_BASE_LOG_WARNING);
	bench_report_begin(&report, bench, options, "event", "hop", "event devices");
	report.cores = "several cores";
	bench_report_array(&report, "cases");
	bench_report_machine(&report);
	say_machine(&report);
	if (BENCH_ANY_WANTED(options, cases))
		say_head(&report);
	for (size_t i = 0; i < NB_CASES; i++)
		if (bench_wanted(options, cases[i].name))
			run_case(options, &report, &cases[i]);
	sched_open_run(options, &report);
	sched_scaling_run(options, &report);
	sched_uneven_run(options, &report);
	sched_idle_run(options, &report);
	sched_threads_stop();
	sched_lines_report(&report);
	return bench_report_end(&report);
}

const struct bench bench_sched = {
	.name = "sched",
	.summary = "The event scheduler beside DPDK's software event devices",
	.help = "A producer and three workers, or as many as --workers says, each on a CPU of its "
		"own,\n"
		"through one queue, two (ordered, stages-2) or four (stages-4), as DPDK's "
		"dpdk-test-eventdev\n"
		"has it, with lib/sched's builtin scheduler and with event_dsw, event_sw and "
		"event_opdl as they\n"
		"are; what cannot do a case is left out.\n"
		"Cases called idle-ports are ours only: two workers, beside ports that nobody "
		"calls. Cases\n"
		"called uneven have two workers, of which one needs twice as long. Neither are "
		"there with\n"
		"--workers 1.\n"
		"Cases called -inside have a fixed number of events go round instead. Cycles are "
		"those of all\n"
		"workers, and of the device's scheduler, per event that leaves, or that goes round "
		"by one queue.\n"
		"All events are counted in and out, and the order of some flows is looked at: a "
		"side that loses\n"
		"or swaps any fails.\n"
		"--ours runs ours only.\n",
	.seconds = SECONDS,
	.no_burst = "its cases have their own, b1 and b16 in their names",
	.no_routes = "it forwards nothing by routes; forward does",
	.has_workers = true,
	.run = run_sched,
};
