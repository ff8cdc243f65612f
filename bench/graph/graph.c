/* SPDX-License-Identifier: BSD-3-Clause */

/* `weir bench graph`: lib/graph beside the installed librte_graph. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_version.h>

#include "graph_bench.h"
#include "harness.h"

#define CLOCK_SAMPLED 0 /* one walk in 64: the library's default */
#define CLOCK_ALWAYS  1
#define CLOCK_NEVER   UINT16_MAX

/* Walks in which sinks look at each object: enough to use every decision once. */
#define CHECK_WALKS (NB_DECISIONS / 128)

struct graph_case {
	const char *name;
	unsigned int burst; /* 0: as asked for */
	unsigned int skew;  /* percent of the objects that take edge 0; 0: as many as the others */
	double target;      /* ratio to reach */
	double most_per_object; /* cycles, at a burst of 256 */
};

static const struct graph_case cases[] = {
	{"home-run-256", 0, 0, 3.0, 0},
	{"home-run-1", 1, 0, 1.0, 0},
	{"two-sources", 0, 0, 1.0, 0},
	{"two-sinks", 0, 0, 1.0, 0},
	{"tree", 0, 0, 1.0, 0},
	{"reverse-tree", 0, 0, 1.5, 0},
	{"parallel-tree", 0, 0, 1.0, 0},
	{"diamond", 0, 0, 1.0, 0},
	{"scatter-2", 0, 0, 4.0, 2.0},
	{"scatter-4", 0, 0, 3.0, 2.0},
	{"scatter-8", 0, 0, 1.7, 2.0},
	{"scatter-16", 0, 0, 1.5, 2.0},
	{"skewed-90", 0, 90, 1.0, 0},
	{"skewed-100", 0, 100, 1.0, 0},
};

#define NB_CASES (sizeof(cases) / sizeof(cases[0]))

/* Everything that one case needs. */
struct graph_run {
	struct topology topology;
	struct side_graph ours, peer;
	unsigned int nb_sources;
	unsigned int burst;
	uint8_t *decisions;
	void **objs;
};

static void
fill_decisions(uint8_t *decisions, unsigned int nb_edges, unsigned int skew)
{
	uint64_t state = 20240611;

	for (uint32_t i = 0; i < NB_DECISIONS; i++) {
		uint64_t r = bench_random(&state);

		if (skew == 0)
			decisions[i] = (uint8_t)((r >> 32) % nb_edges);
		else if ((uint32_t)r % 100 < skew)
			decisions[i] = 0;
		else
			decisions[i] = (uint8_t)(1 + (r >> 32) % (nb_edges - 1));
	}
}

static void
fill_plans(struct graph_run *run, struct side_graph *side)
{
	side->topology = &run->topology;
	for (unsigned int i = 0; i < run->topology.nb_nodes; i++) {
		const struct topology_node *node = &run->topology.nodes[i];
		struct node_plan *plan = &side->plans[i];

		*plan = (struct node_plan){
			.nb_edges = node->nb_edges,
			.burst = (uint16_t)run->burst,
			.decisions = run->decisions,
			.objs = run->objs,
		};
		memcpy(plan->percent, node->percent, sizeof(plan->percent));
	}
}

static void
run_fini(struct graph_run *run)
{
	if (run->ours.graph != NULL)
		graph_ours_destroy(&run->ours);
	if (run->peer.graph != NULL)
		graph_peer_destroy(&run->peer);
	free(run->decisions);
}

static int
run_init(struct graph_run *run, const struct graph_case *gc, unsigned int burst,
	uint16_t clock_period, bool one_by_one)
{
	static unsigned int nb_runs;
	static uint64_t objects[BURST_MAX];
	static void *objs[BURST_MAX] __rte_cache_aligned;
	char name[32];
	int rc;

	memset(run, 0, sizeof(*run));
	run->burst = gc->burst != 0 ? gc->burst : burst;
	if (topology_make(&run->topology, gc->name) < 0)
		return -ENOENT;
	run->decisions = malloc(NB_DECISIONS);
	if (run->decisions == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < run->topology.nb_nodes; i++) {
		run->nb_sources += run->topology.nodes[i].kind == TOPOLOGY_SOURCE;
		if (run->topology.nodes[i].kind == TOPOLOGY_SCATTER)
			fill_decisions(run->decisions, run->topology.nodes[i].nb_edges, gc->skew);
	}
	for (unsigned int i = 0; i < BURST_MAX; i++)
		objs[i] = &objects[i];
	run->objs = objs;
	fill_plans(run, &run->ours);
	fill_plans(run, &run->peer);
	snprintf(name, sizeof(name), "g%u", nb_runs++);
	rc = graph_ours_create(&run->ours, name, clock_period);
	if (rc == 0)
		rc = graph_peer_create(&run->peer, name, one_by_one);
	if (rc < 0)
		run_fini(run);
	return rc;
}

/* Walk both sides with sinks that look at every object: the same ones must arrive in the same places. */
static int
check_objects(struct graph_run *run, struct bench_report *report, const char *name)
{
	const uint64_t expected = (uint64_t)CHECK_WALKS * run->nb_sources * run->burst;
	uint64_t total = 0;

	graph_ours_check(&run->ours, true);
	graph_peer_check(&run->peer, true);
	graph_ours_walk(&run->ours, CHECK_WALKS);
	graph_peer_walk(&run->peer, CHECK_WALKS);
	graph_ours_check(&run->ours, false);
	graph_peer_check(&run->peer, false);
	for (unsigned int i = 0; i < run->topology.nb_nodes; i++) {
		const struct node_plan *ours = &run->ours.plans[i], *peer = &run->peer.plans[i];

		total += ours->nb_seen;
		if (ours->nb_seen != peer->nb_seen || ours->sum_seen != peer->sum_seen) {
			bench_report_failure(report, name,
				"%s got %lu objects from us and %lu from %s, or not the same ones",
				run->topology.nodes[i].name, ours->nb_seen, peer->nb_seen,
				report->peer);
			return -EBADMSG;
		}
	}
	if (total != expected) {
		bench_report_failure(report, name, "%lu of %lu objects arrived", total, expected);
		return -EBADMSG;
	}
	return 0;
}

/* By the statistics of both sides: every node had the same number of objects, sinks had all of them. */
static int
check_counts(struct graph_run *run, struct bench_report *report, const char *name, uint64_t walks)
{
	const uint64_t expected = walks * run->nb_sources * run->burst;
	uint64_t total = 0;

	for (unsigned int i = 0; i < run->topology.nb_nodes; i++) {
		uint64_t ours = graph_ours_objs(&run->ours, i);
		uint64_t peer = graph_peer_objs(&run->peer, i);

		if (run->topology.nodes[i].kind == TOPOLOGY_SINK)
			total += ours;
		if (ours != peer) {
			bench_report_failure(report, name, "%s had %lu objects in ours, %lu in %s",
				run->topology.nodes[i].name, ours, peer, report->peer);
			return -EBADMSG;
		}
	}
	if (total != expected) {
		bench_report_failure(report, name, "%lu of %lu objects arrived", total, expected);
		return -EBADMSG;
	}
	return 0;
}

static int
measure(const struct bench_options *options, struct bench_report *report,
	const struct graph_case *gc, unsigned int burst, uint16_t clock_period, bool one_by_one,
	const char *name, struct graph_run *run, struct bench_figure figures[2])
{
	struct bench_side sides[] = {
		{.name = "ours", .slice = graph_ours_walk, .arg = &run->ours},
		{.name = "peer", .slice = graph_peer_walk, .arg = &run->peer},
	};
	uint64_t walks;
	int rc;

	rc = run_init(run, gc, burst, clock_period, one_by_one);
	if (rc < 0) {
		bench_report_failure(report, name, "cannot be built: %s", strerror(-rc));
		return rc;
	}
	rc = check_objects(run, report, name);
	if (rc == 0)
		rc = bench_compare(options, sides, 2, 0, figures, &walks);
	if (rc == 0)
		rc = check_counts(run, report, name, walks + CHECK_WALKS);
	run_fini(run);
	return rc;
}

static void
run_case(const struct bench_options *options, struct bench_report *report,
	const struct graph_case *gc, const char *name, unsigned int burst, uint16_t clock_period,
	bool one_by_one)
{
	struct graph_run *run = calloc(1, sizeof(*run));
	struct bench_figure figures[2];
	struct bench_row row = {
		.name = name, .target = gc->target, .most_per_object = gc->most_per_object};

	if (run == NULL || measure(options, report, gc, burst, clock_period, one_by_one, name, run,
				   figures) < 0) {
		free(run);
		return;
	}
	row.ours = figures[0];
	row.theirs = figures[1];
	row.objects = run->nb_sources * run->burst;
	row.extra = json_pack("{s:i}", "burst", (int)run->burst);
	bench_report_row(report, &row);
	free(run);
}

/* A case with another burst than 256: only "not slower" is asked of it. */
static struct graph_case
other_burst(const struct graph_case *full, unsigned int burst, char *name, size_t size)
{
	struct graph_case gc = *full;

	gc.target = 1.0;
	gc.most_per_object = 0;
	snprintf(name, size, "%s @%u", strcmp(gc.name, "home-run-256") == 0 ? "home-run" : gc.name,
		burst);
	return gc;
}

static void
run_topologies(const struct bench_options *options, struct bench_report *report, unsigned int burst)
{
	struct graph_case gc;
	char name[64];

	bench_report_table(report, "cases", "Topologies");
	for (size_t i = 0; i < NB_CASES; i++) {
		if (!bench_wanted(options, cases[i].name))
			continue;
		if (burst == BURST_MAX || cases[i].burst != 0) {
			run_case(options, report, &cases[i], cases[i].name, burst, CLOCK_SAMPLED,
				false);
		} else {
			gc = other_burst(&cases[i], burst, name, sizeof(name));
			run_case(options, report, &gc, name, burst, CLOCK_SAMPLED, false);
		}
	}
}

static void
run_sweep(const struct bench_options *options, struct bench_report *report)
{
	static const unsigned int bursts[] = {32, 64, 128, 256};
	struct bench_options shorter = *options;
	struct graph_case gc;
	char name[64];

	shorter.seconds = options->seconds / 3;
	bench_report_table(report, "sweep", "Bursts of 32 to 256 objects (to reach: not slower)");
	for (size_t i = 0; i < NB_CASES; i++) {
		if (cases[i].burst != 0 || !bench_wanted(options, cases[i].name))
			continue;
		for (size_t b = 0; b < sizeof(bursts) / sizeof(bursts[0]); b++) {
			gc = other_burst(&cases[i], bursts[b], name, sizeof(name));
			run_case(&shorter, report, &gc, name, bursts[b], CLOCK_SAMPLED, false);
		}
	}
}

static const struct {
	const char *name;
	uint16_t period;
} clocks[] = {
	{"every walk timed", CLOCK_ALWAYS},
	{"1 in 64 (default)", CLOCK_SAMPLED},
	{"none timed", CLOCK_NEVER},
};

#define NB_CLOCKS (sizeof(clocks) / sizeof(clocks[0]))

/* Our graph with each clock and the peer's, all in turns. */
static int
measure_clocks(const struct bench_options *options, struct bench_report *report,
	const struct graph_case *gc, struct graph_run *runs, struct bench_figure *figures)
{
	struct bench_side sides[NB_CLOCKS + 1];
	uint64_t walks;
	size_t made;
	int rc = 0;

	for (made = 0; made < NB_CLOCKS && rc == 0; made++) {
		rc = run_init(&runs[made], gc, BURST_MAX, clocks[made].period, false);
		if (rc == 0)
			rc = check_objects(&runs[made], report, clocks[made].name);
		sides[made] =
			(struct bench_side){.slice = graph_ours_walk, .arg = &runs[made].ours};
	}
	sides[NB_CLOCKS] = (struct bench_side){.slice = graph_peer_walk, .arg = &runs[0].peer};
	if (rc == 0)
		rc = bench_compare(options, sides, NB_CLOCKS + 1, 0, figures, &walks);
	if (rc == 0)
		rc = check_counts(&runs[0], report, clocks[0].name, walks + CHECK_WALKS);
	while (made > 0)
		run_fini(&runs[--made]);
	return rc;
}

static void
run_statistics(const struct bench_options *options, struct bench_report *report)
{
	struct graph_run *runs = calloc(NB_CLOCKS, sizeof(*runs));
	struct bench_figure figures[NB_CLOCKS + 1];

	if (runs == NULL || !bench_wanted(options, cases[0].name))
		goto out;
	bench_report_table(report, "statistics",
		"What statistics cost: home-run-256 with our clock read in some walks (the peer "
		"reads "
		"it at every node)");
	if (measure_clocks(options, report, &cases[0], runs, figures) < 0) {
		report->failed = true;
		goto out;
	}
	for (size_t i = 0; i < NB_CLOCKS; i++) {
		struct bench_row row = {
			.name = clocks[i].name,
			.ours = figures[i],
			.theirs = figures[NB_CLOCKS],
			.objects = BURST_MAX,
			.target = 1.0,
		};

		bench_report_row(report, &row);
	}
out:
	free(runs);
}

/* rte_graph's other way to pass single objects on, for comparison: not the one its in-tree nodes use. */
static void
run_one_by_one(const struct bench_options *options, struct bench_report *report, unsigned int burst)
{
	bool first = true;

	for (size_t i = 0; i < NB_CASES; i++) {
		struct graph_case gc = cases[i];

		if (!bench_wanted(options, gc.name) || (strncmp(gc.name, "scatter-", 8) != 0 &&
							       strncmp(gc.name, "skewed-", 7) != 0))
			continue;
		if (first)
			bench_report_table(report, "one_by_one",
				"The peer's nodes without speculation: rte_node_enqueue_x1() for "
				"each object");
		first = false;
		gc.target = 1.0;
		gc.most_per_object = 0;
		run_case(options, report, &gc, gc.name, burst, CLOCK_SAMPLED, true);
	}
}

static int
run_graph(const struct bench *bench, const struct bench_options *options)
{
	const unsigned int burst = options->burst != 0 ? options->burst : BURST_MAX;
	struct bench_report report;

	if (options->list) {
		BENCH_LIST(cases);
		return 0;
	}
	if (!BENCH_ANY_WANTED(options, cases))
		return bench_no_case(bench, options);
	if (bench_eal_start(options, 128, 0) < 0)
		return 1;
	bench_report_begin(&report, bench, options, "walk", "object", "rte_graph");
	bench_report_machine(&report);
	bench_say(&report,
		"Peer: librte_graph of %s, its statistics on; ours: on, clock read in 1 of 64 "
		"walks.\n",
		rte_version());
	run_topologies(options, &report, burst);
	if (report.nb_rows > 0) {
		run_one_by_one(options, &report, burst);
		if (options->burst == 0)
			run_sweep(options, &report);
		run_statistics(options, &report);
	}
	return bench_report_end(&report);
}

const struct bench bench_graph = {
	.name = "graph",
	.summary = "Graph walks beside librte_graph",
	.help = "Topologies of DPDK's graph performance test, and mixes of single decisions, on "
		"both libraries\n"
		"with statistics on: cycles of the time base per walk and per object.\n"
		"Both sides hand over the same objects; that both deliver the same ones to each "
		"sink is checked.\n",
	.seconds = 0.6,
	.no_routes = "it forwards nothing by routes; forward does",
	.no_ours = "its peer runs in turns with it, always",
	.run = run_graph,
};
