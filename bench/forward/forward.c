/* SPDX-License-Identifier: BSD-3-Clause */

/* `weir bench forward`: the modular forwarder beside a static loop and beside librte_pipeline. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_fib.h>
#include <rte_version.h>

#include <weir_base.h>
#include <weir_graph.h>

#include "forward_bench.h"
#include "harness.h"

#define ROUTES_DEFAULT "examples/data/ipv4-bgp.txt.gz"
#define MEGABYTES      1024 /* of address space; what is used is less */
#define LOOKUPS_MAX    8
#define LOOPS_MAX      (FORWARD_BURSTS * FORWARD_NB_PREFETCHES * LOOKUPS_MAX)
#define PIPELINES      2

static const uint16_t bursts[FORWARD_BURSTS] = {32, 64, 128, 256};
static const char *const prefetches[FORWARD_NB_PREFETCHES] = {
	[FORWARD_PREFETCH_PASS] = "a pass that prefetches",
	[FORWARD_PREFETCH_AHEAD] = "prefetching ahead",
};

enum peer {
	PEER_LOOP,
	PEER_PIPELINE,
};

struct forward_case {
	const char *name;
	unsigned int percent_hop_0;
	enum peer peer;
};

static const struct forward_case cases[] = {
	{"full-table", 0, PEER_LOOP},
	{"one-hop-90", 90, PEER_LOOP},
	{"full-table-pipeline", 0, PEER_PIPELINE},
};

#define NB_CASES (sizeof(cases) / sizeof(cases[0]))

/* All that the cases share. */
struct forward_run {
	const struct bench_options *options;
	struct bench_report *report;
	struct forward forward;
	struct rte_fib *fib;
	struct forward_loop loops[LOOPS_MAX];
	unsigned int nb_loops;
	struct forward_pipeline pipelines[PIPELINES];
	bool have_pipelines;
	struct forward_graph graph;
	struct forward_result results[2];
	uint32_t *destinations;
};

static void
prepare_loop(void *arg)
{
	struct forward_loop *loop = arg;

	forward_prepare(&loop->traffic);
	forward_fib_lookup_select(loop->fib, loop->lookup);
}

/* Every way to run the loop that is worth trying on this CPU. */
static void
list_loops(struct forward_run *run)
{
	for (int lookup = 0; lookup < forward_fib_lookups(); lookup++) {
		if (forward_fib_lookup_select(run->fib, lookup) == NULL)
			continue;
		for (unsigned int b = 0; b < FORWARD_BURSTS; b++) {
			for (unsigned int p = 0; p < FORWARD_NB_PREFETCHES; p++) {
				struct forward_loop *loop = &run->loops[run->nb_loops++];

				forward_loop_init(loop, &run->forward, run->fib);
				loop->burst = bursts[b];
				loop->prefetch = p;
				loop->lookup = lookup;
			}
		}
	}
}

static void
describe_loop(const struct forward_loop *loop, char *text, size_t size)
{
	snprintf(text, size, "static loop, bursts of %u, %s, rte_fib %s", loop->burst,
		prefetches[loop->prefetch], forward_fib_lookup_select(loop->fib, loop->lookup));
}

#define FINALISTS 4

/* Run some loops in turns and put those with the best medians first. */
static void
rank_loops(struct forward_run *run, struct forward_loop **loops, unsigned int nb)
{
	struct bench_side sides[LOOPS_MAX] = {0};
	struct bench_figure figures[LOOPS_MAX] = {0};
	uint64_t total;

	for (unsigned int i = 0; i < nb; i++)
		sides[i] = (struct bench_side){
			.prepare = prepare_loop, .slice = forward_loop_slice, .arg = loops[i]};
	if (bench_compare(run->options, sides, nb, FORWARD_SLICE, figures, &total) < 0)
		return;
	for (unsigned int i = 1; i < nb; i++) {
		for (unsigned int j = i; j > 0 && figures[j].median < figures[j - 1].median; j--) {
			struct bench_figure figure = figures[j];
			struct forward_loop *loop = loops[j];

			figures[j] = figures[j - 1];
			figures[j - 1] = figure;
			loops[j] = loops[j - 1];
			loops[j - 1] = loop;
		}
	}
}

/* The best of all, in two rounds, so that noise picks none: the best ones once more among themselves. */
static struct forward_loop *
tune_loop(struct forward_run *run)
{
	struct forward_loop *loops[LOOPS_MAX];

	for (unsigned int i = 0; i < run->nb_loops; i++) {
		run->loops[i].traffic.destinations = run->destinations;
		loops[i] = &run->loops[i];
	}
	rank_loops(run, loops, run->nb_loops);
	rank_loops(run, loops, RTE_MIN(run->nb_loops, (unsigned int)FINALISTS));
	return loops[0];
}

static struct forward_pipeline *
tune_pipeline(struct forward_run *run)
{
	struct bench_side sides[PIPELINES];
	struct bench_figure figures[PIPELINES];
	uint64_t total;

	for (unsigned int i = 0; i < PIPELINES; i++) {
		run->pipelines[i].traffic.destinations = run->destinations;
		sides[i] = (struct bench_side){.prepare = forward_prepare,
			.slice = forward_pipeline_slice,
			.arg = &run->pipelines[i]};
	}
	if (bench_compare(run->options, sides, PIPELINES, FORWARD_SLICE, figures, &total) < 0)
		return &run->pipelines[0];
	return figures[0].median <= figures[1].median ? &run->pipelines[0] : &run->pipelines[1];
}

/* Good and bad frames through both: the same ones must come out, byte for byte. */
static int
check_same(struct forward_run *run, const char *name, const struct bench_side *ours,
	const struct bench_side *peer)
{
	struct forward_result *a = &run->results[0], *b = &run->results[1];
	int rc;

	ours->prepare(ours->arg);
	rc = forward_try(ours->arg, ours->slice, ours->arg, a);
	peer->prepare(peer->arg);
	if (rc == 0)
		rc = forward_try(peer->arg, peer->slice, peer->arg, b);
	if (rc < 0) {
		bench_report_failure(run->report, name, "frames were left unreceived");
		return rc;
	}
	for (unsigned int i = 0; i < FORWARD_SLICE; i++) {
		if (a->length[i] != b->length[i] ||
			memcmp(a->bytes[i], b->bytes[i], FORWARD_FRAME) != 0) {
			bench_report_failure(run->report, name,
				"frame %u comes out differently: %u bytes from ours, %u from the "
				"peer",
				i, a->length[i], b->length[i]);
			return -EBADMSG;
		}
	}
	if (a->nb_twice + b->nb_twice != 0 || a->nb_out < FORWARD_SLICE / 2) {
		bench_report_failure(run->report, name, "%u of %u frames come out, %u twice",
			a->nb_out, FORWARD_SLICE, a->nb_twice + b->nb_twice);
		return -EBADMSG;
	}
	return 0;
}

#define NODES_MAX    64
#define BLOCKS       101
#define BLOCK_SLICES 8 /* several walks of each block are timed, whatever the burst */

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Cycles of each node so far, by its place in the graph. */
static uint32_t
read_cycles(
	struct forward_run *run, const struct weir_graph_cluster_stats **stats, uint64_t *cycles)
{
	uint32_t nb;

	if (weir_graph_cluster_get(run->graph.cluster, stats) < 0)
		return 0;
	nb = RTE_MIN((*stats)->nb_nodes, (uint32_t)NODES_MAX);
	for (uint32_t i = 0; i < nb; i++)
		cycles[i] = (*stats)->nodes[i].cycles;
	return nb;
}

/*
 * Cycles per packet in each node that packets went through, by our own statistics: the median
 * of blocks of walks, for a timed walk that something interrupts counts for all that were not timed.
 */
static json_t *
node_cycles(struct forward_run *run)
{
	static double samples[NODES_MAX][BLOCKS];
	const struct weir_graph_cluster_stats *stats;
	uint64_t before[NODES_MAX], after[NODES_MAX];
	json_t *nodes = json_object();
	uint32_t nb;

	for (unsigned int block = 0; block < BLOCKS; block++) {
		read_cycles(run, &stats, before);
		for (unsigned int i = 0; i < BLOCK_SLICES; i++) {
			forward_prepare(&run->graph);
			forward_graph_slice(&run->graph, FORWARD_SLICE);
		}
		nb = read_cycles(run, &stats, after);
		for (uint32_t i = 0; i < nb; i++)
			samples[i][block] =
				(double)(after[i] - before[i]) / BLOCK_SLICES / FORWARD_SLICE;
	}
	forward_finish(&run->forward);
	for (uint32_t i = 0; i < nb; i++) {
		if (stats->nodes[i].objs < FORWARD_SLICE * BLOCKS)
			continue; /* only what the check sent there */
		qsort(samples[i], BLOCKS, sizeof(samples[i][0]), compare_doubles);
		json_object_set_new(nodes, stats->nodes[i].name, json_real(samples[i][BLOCKS / 2]));
	}
	return nodes;
}

static void
say_nodes(const struct forward_run *run, json_t *nodes)
{
	const char *name;
	json_t *cycles;

	bench_say(run->report, "  ours by node, cycles per packet (sampled):");
	json_object_foreach (nodes, name, cycles)
		bench_say(run->report, "  %s %.1f", name, json_real_value(cycles));
	bench_say(run->report, "\n");
}

/* One graph with the burst of that number, beside a peer. */
static void
run_pair(struct forward_run *run, const char *name, unsigned int burst,
	const struct bench_side *peer, bool show_nodes)
{
	struct bench_figure figures[2];
	struct bench_row row = {.name = name, .peer = peer->name, .objects = 1, .target = 1.0};
	struct bench_side sides[2] = {
		{.name = "ours",
			.prepare = forward_prepare,
			.slice = forward_graph_slice,
			.arg = &run->graph},
		*peer,
	};
	json_t *nodes = NULL;
	uint64_t total;
	int rc;

	rc = forward_graph_create(&run->graph, &run->forward, burst);
	if (rc < 0) {
		bench_report_failure(
			run->report, name, "the graph cannot be made: %s", strerror(-rc));
		return;
	}
	run->graph.traffic.destinations = run->destinations;
	run->graph.traffic.pos = 0;
	((struct forward_traffic *)peer->arg)->pos = 0;
	rc = check_same(run, name, &sides[0], &sides[1]);
	if (rc == 0)
		rc = bench_compare(run->options, sides, 2, FORWARD_SLICE, figures, &total);
	forward_finish(&run->forward);
	if (rc == 0 && run->forward.nb_lost > 0) {
		bench_report_failure(
			run->report, name, "%lu frames were lost", run->forward.nb_lost);
		rc = -EBADMSG;
	}
	run->forward.nb_lost = 0;
	if (rc == 0) {
		nodes = show_nodes ? node_cycles(run) : json_object();
		row.ours = figures[0];
		row.theirs = figures[1];
		row.ours_extra =
			json_pack("{s:i, s:O}", "burst", (int)run->graph.burst, "nodes", nodes);
		bench_report_row(run->report, &row);
		if (show_nodes)
			say_nodes(run, nodes);
		json_decref(nodes);
	}
	forward_graph_destroy(&run->graph);
}

/* The smallest that is no less, or FORWARD_BURSTS. */
static unsigned int
burst_from(unsigned int least)
{
	unsigned int b = 0;

	while (b < FORWARD_BURSTS && bursts[b] < least)
		b++;
	return b;
}

static unsigned int
default_burst(const struct forward_run *run)
{
	unsigned int wanted =
		run->options->burst != 0 ? run->options->burst : run->forward.burst_default;

	return RTE_MIN(burst_from(wanted), FORWARD_BURSTS - 1u);
}

/* Loops are made for some of them. */
static bool
is_burst(unsigned int burst)
{
	unsigned int b = burst_from(burst);

	return burst == 0 || (b < FORWARD_BURSTS && bursts[b] == burst);
}

static int
make_pipelines(struct forward_run *run, const char *name)
{
	static const char *const names[PIPELINES] = {"pipeline-32", "pipeline-64"};

	for (unsigned int i = 0; i < PIPELINES && !run->have_pipelines; i++) {
		if (forward_pipeline_create(
			    &run->pipelines[i], &run->forward, bursts[i], names[i]) < 0) {
			bench_report_failure(run->report, name, "librte_pipeline cannot be set up");
			return -EINVAL;
		}
	}
	run->have_pipelines = true;
	return 0;
}

/* Each receive burst of ours beside the best loop. */
static void
run_sweep(struct forward_run *run, const struct bench_side *peer)
{
	char name[32];

	bench_report_table(run->report, "sweep", "full-table with each receive burst of ours");
	for (unsigned int b = 0; b < FORWARD_BURSTS; b++) {
		snprintf(name, sizeof(name), "full-table @%u", bursts[b]);
		run_pair(run, name, b, peer, false);
	}
}

static void
run_case(struct forward_run *run, const struct forward_case *fc)
{
	struct bench_side peer = {.prepare = prepare_loop, .slice = forward_loop_slice};
	char text[128];

	run->destinations = forward_destinations(&run->forward, fc->percent_hop_0);
	if (run->destinations == NULL) {
		bench_report_failure(run->report, fc->name, "no memory");
		return;
	}
	if (fc->peer == PEER_LOOP) {
		struct forward_loop *best = tune_loop(run);

		describe_loop(best, text, sizeof(text));
		peer.arg = best;
	} else {
		struct forward_pipeline *best;

		if (make_pipelines(run, fc->name) < 0)
			goto out;
		best = tune_pipeline(run);
		snprintf(text, sizeof(text), "librte_pipeline, rte_table_lpm, bursts of %u",
			best->burst);
		peer = (struct bench_side){
			.prepare = forward_prepare, .slice = forward_pipeline_slice, .arg = best};
	}
	peer.name = text;
	forward_finish(&run->forward);
	run_pair(run, fc->name, default_burst(run), &peer, true);
	bench_say(run->report, "  peer: %s\n", text);
	if (fc == &cases[0])
		run_sweep(run, &peer);
out:
	free(run->destinations);
}

static int
set_up(struct forward_run *run)
{
	const char *path = run->options->routes != NULL ? run->options->routes : ROUTES_DEFAULT;
	int rc = bench_memory_socket(MEGABYTES);

	/* That rings keep no MAC address need not be told. */
	weir_base_log_set_level(WEIR_BASE_LOG_ERROR);

	if (rc < 0)
		return rc;
	rc = forward_init(&run->forward, rc);
	if (rc == 0)
		rc = forward_ports_add(&run->forward);
	if (rc == 0)
		rc = forward_routes_load(&run->forward, path);
	if (rc == -ENOENT && run->options->routes == NULL) {
		fprintf(stderr,
			"weir bench forward: no routing table at '%s', where the source tree has "
			"one; name another with --routes FILE\n",
			path);
		return rc;
	}
	if (rc < 0) {
		fprintf(stderr, "weir bench forward: cannot set up to forward by '%s': %s\n", path,
			strerror(-rc));
		return rc;
	}
	run->fib = forward_fib_create(&run->forward);
	if (run->fib == NULL) {
		fprintf(stderr, "weir bench forward: rte_fib does not take the routes\n");
		return -ENOMEM;
	}
	list_loops(run);
	return 0;
}

static int
run_forward(const struct bench *bench, const struct bench_options *options)
{
	struct bench_report report;
	struct forward_run *run;
	int code = 1;

	if (options->list) {
		for (size_t i = 0; i < NB_CASES; i++)
			printf("%s\n", cases[i].name);
		return 0;
	}
	if (!BENCH_ANY_WANTED(options, cases))
		return bench_no_case(bench, options);
	if (!is_burst(options->burst)) {
		fprintf(stderr, "weir bench forward: --burst takes 32, 64, 128 or 256, not '%u'\n",
			options->burst);
		return 2;
	}
	run = calloc(1, sizeof(*run));
	if (run == NULL || bench_eal_start(options, 128, MEGABYTES) < 0)
		goto out;
	run->options = options;
	run->report = &report;
	if (set_up(run) < 0)
		goto out;
	bench_report_begin(&report, bench, options, "packet", "packet", "peer");
	bench_report_machine(&report);
	bench_say(&report, "64-byte frames between two rings (net_ring), %u routes, %s.\n",
		run->forward.nb_routes, rte_version());
	bench_report_table(
		&report, "cases", "Cycles per packet: receive, check, look up, rewrite, send");
	for (size_t i = 0; i < NB_CASES; i++)
		if (bench_wanted(options, cases[i].name))
			run_case(run, &cases[i]);
	code = bench_report_end(&report);
out:
	if (run != NULL)
		free(run->forward.routes);
	free(run);
	return code;
}

const struct bench bench_forward = {
	.name = "forward",
	.summary = "The modular forwarder beside a static loop and librte_pipeline",
	.help = "64-byte frames to random destinations of a full routing table, through the nodes "
		"of lib/node, through a\n"
		"loop written by hand without a graph (every burst, way to prefetch and way to "
		"look up is tried, the best is the\n"
		"peer), and through librte_pipeline. That all forward the same frames, byte for "
		"byte, is checked.\n",
	.seconds = 1.0,
	.no_ours = "its peer runs in turns with it, always",
	.run = run_forward,
};
