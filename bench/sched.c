/* SPDX-License-Identifier: BSD-3-Clause */

/* `weir bench sched`: lib/sched's builtin scheduler beside DPDK's software event devices. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched_bench.h"

#define SLICE_NS   10000000
#define ROUNDS_MIN 9
#define ROUNDS_MAX 10000
#define SECONDS    1.0
#define MEGABYTES  512

#define A RTE_SCHED_TYPE_ATOMIC
#define O RTE_SCHED_TYPE_ORDERED
#define P RTE_SCHED_TYPE_PARALLEL

/* An array of "inside" has the same shape as the one before it. */
struct sched_case {
	const char *name;
	struct sched_shape shape;
	double target_dsw, target_sw; /* ratios to reach; 0: any */
	bool layer;                   /* our layer over event_dsw, too */
};

#define SHAPE(burst_, mode_, nb_queues_, ...)                                                      \
	{                                                                                          \
		.nb_workers = SCHED_WORKERS, .burst = burst_, .nb_queues = nb_queues_,             \
		.types = {__VA_ARGS__}, .mode = mode_                                              \
	}

static const struct sched_case cases[] = {
	{"atomic-b1", SHAPE(1, SCHED_PRODUCED, 2, A, A), 1.2, 0, true},
	{"atomic-b1-inside", SHAPE(1, SCHED_INSIDE, 2, A, A), 1.2, 0, true},
	{"atomic-b16", SHAPE(16, SCHED_PRODUCED, 2, A, A), 1.2, 0, true},
	{"atomic-b16-inside", SHAPE(16, SCHED_INSIDE, 2, A, A), 1.2, 0, true},
	{"parallel-b1", SHAPE(1, SCHED_PRODUCED, 2, P, P), 1.2, 0, false},
	{"parallel-b1-inside", SHAPE(1, SCHED_INSIDE, 2, P, P), 1.2, 0, false},
	{"parallel-b16", SHAPE(16, SCHED_PRODUCED, 2, P, P), 1.2, 0, false},
	{"parallel-b16-inside", SHAPE(16, SCHED_INSIDE, 2, P, P), 1.2, 0, false},
	{"ordered-b1", SHAPE(1, SCHED_PRODUCED, 2, O, A), 0, 5, false},
	{"ordered-b1-inside", SHAPE(1, SCHED_INSIDE, 2, O, A), 0, 5, false},
	{"ordered-b16", SHAPE(16, SCHED_PRODUCED, 2, O, A), 0, 2, false},
	{"ordered-b16-inside", SHAPE(16, SCHED_INSIDE, 2, O, A), 0, 2, false},
	{"stages-4", SHAPE(16, SCHED_PRODUCED, 4, A, A, A, A), 0, 0, false},
	{"stages-4-inside", SHAPE(16, SCHED_INSIDE, 4, A, A, A, A), 0, 0, false},
};

#define NB_CASES (sizeof(cases) / sizeof(cases[0]))

int
sched_turns_add(struct sched_turns *turns, enum sched_kind kind, const struct sched_shape *shape)
{
	struct sched_side *side = aligned_alloc(64, sizeof(*side));
	struct sched_slice *slices = calloc(ROUNDS_MAX, sizeof(*slices));
	int rc = -ENOMEM;

	if (side != NULL && slices != NULL)
		rc = sched_side_create(side, kind, shape);
	if (rc < 0) {
		free(side);
		free(slices);
		if (rc != -ENOTSUP)
			bench_report_failure(turns->report, turns->name, "%s: %s",
				sched_kind_name(kind), strerror(-rc));
		return rc;
	}
	turns->sides[turns->nb_sides] = side;
	turns->slices[turns->nb_sides] = slices;
	return (int)turns->nb_sides++;
}

void
sched_turns_end(struct sched_turns *turns)
{
	for (unsigned int s = 0; s < turns->nb_sides; s++) {
		sched_side_destroy(turns->sides[s]);
		free(turns->sides[s]);
		free(turns->slices[s]);
	}
}

double
sched_turns_median(const struct sched_turns *turns, unsigned int side, size_t offset)
{
	static double samples[ROUNDS_MAX];

	for (unsigned int r = 0; r < turns->nb_rounds; r++)
		samples[r] = *(const double *)((const char *)&turns->slices[side][r] + offset);
	return bench_figure_of(samples, turns->nb_rounds).median;
}

static void
take_figures(struct sched_turns *turns)
{
	static double samples[ROUNDS_MAX];

	for (unsigned int s = 0; s < turns->nb_sides; s++) {
		for (unsigned int r = 0; r < turns->nb_rounds; r++)
			samples[r] = turns->slices[s][r].cycles;
		turns->figures[s] = bench_figure_of(samples, turns->nb_rounds);
	}
}

bool
sched_turns_run(struct sched_turns *turns, uint64_t slice_ns, unsigned int rounds_min)
{
	const struct bench_options *options = turns->options;
	const uint64_t limit_ns = (uint64_t)(options->seconds * 1e9);
	const unsigned int warm_up = 2;
	uint64_t start_ns = 0;
	unsigned int rounds_max = options->rounds != 0
					  ? RTE_MIN(options->rounds, ROUNDS_MAX - warm_up)
					  : ROUNDS_MAX - warm_up;
	char why[256];

	for (unsigned int r = 0; r < rounds_max + warm_up; r++) {
		unsigned int at = r < warm_up ? 0 : r - warm_up;

		if (r == warm_up)
			start_ns = weir_base_time_ns();
		if (options->rounds == 0 && at >= rounds_min &&
			weir_base_time_ns() - start_ns >= limit_ns)
			break;
		for (unsigned int i = 0; i < turns->nb_sides; i++) {
			unsigned int s = r % 2 == 0 ? i : turns->nb_sides - 1 - i;

			if (!sched_slice_run(turns->sides[s], slice_ns, &turns->slices[s][at], why,
				    sizeof(why))) {
				bench_report_failure(turns->report, turns->name, "%s", why);
				return false;
			}
		}
		turns->nb_rounds = at + 1;
	}
	take_figures(turns);
	return true;
}

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
		"cycles/ev", "idle", " ", "Mev/s", "cycles/ev", "idle", "ratio", "to reach");
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
			if (!told[s] && turns->sides[s]->kind > SCHED_LAYER &&
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

static void
run_case(const struct bench_options *options, struct bench_report *report,
	const struct sched_case *sc)
{
	struct sched_turns turns = {.options = options, .report = report, .name = sc->name};
	bool ok = sched_turns_add(&turns, SCHED_OURS, &sc->shape) == 0;
	int rc;

	for (enum sched_kind kind = SCHED_DSW; kind <= SCHED_OPDL && ok && !options->ours; kind++) {
		rc = sched_turns_add(&turns, kind, &sc->shape);
		ok = rc >= 0 || rc == -ENOTSUP;
	}
	if (ok && sched_turns_run(&turns, SLICE_NS, ROUNDS_MIN)) {
		if (options->ours)
			say_alone(&turns, sc->name);
		else
			report_peers(&turns, sc);
	}
	sched_turns_end(&turns);
}

static bool
any_wanted(const struct bench_options *options)
{
	for (size_t i = 0; i < NB_CASES; i++)
		if (bench_wanted(options, cases[i].name))
			return true;
	return false;
}

static int
run_sched(const struct bench *bench, const struct bench_options *options)
{
	struct bench_report report;
	cpu_set_t allowed;

	if (options->list) {
		for (size_t i = 0; i < NB_CASES; i++)
			printf("%s\n", cases[i].name);
		return 0;
	}
	if (!any_wanted(options))
		return bench_no_case(bench, options);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	if (bench_eal_start(options, MEGABYTES) < 0 || sched_threads_start(&allowed) < 0)
		return 1;
	weir_base_log_set_level(WEIR_BASE_LOG_WARNING);
	bench_report_begin(&report, bench, options, "event", "hop", "event devices");
	report.cores = "several cores";
	bench_report_array(&report, "cases");
	bench_report_machine(&report);
	say_head(&report);
	for (size_t i = 0; i < NB_CASES; i++)
		if (bench_wanted(options, cases[i].name))
			run_case(options, &report, &cases[i]);
	sched_threads_stop();
	return bench_report_end(&report);
}

const struct bench bench_sched = {
	.name = "sched",
	.summary = "The event scheduler beside DPDK's software event devices",
	.help = "One producer and three workers, each on a CPU.\n",
	.seconds = SECONDS,
	.run = run_sched,
};
