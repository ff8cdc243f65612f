/* SPDX-License-Identifier: BSD-3-Clause */

/* `weir bench readout`: frames from a port to latency buffers, beside the published starting point. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "readout_bench.h"

#define SECONDS   1.0
#define MEGABYTES 64  /* of DPDK's own memory: pools of ports */
#define HEAP      512 /* megabytes of address space for the rest; what is used is less */
#define BUFFER_BYTES                                                                               \
	(UINT64_C(96) << 20) /* of a side's latency buffers together: more than caches have */
#define BURST        256     /* of the published starting point */
#define WIBETH_BYTES 7200
#define SMALL_BYTES  512

struct readout_case {
	const char *name;
	uint32_t nb_links, frame_bytes;
	uint32_t slice; /* frames of a turn */
	enum readout_way way;
};

static const struct readout_case cases[] = {
	{"callback-1", 1, WIBETH_BYTES, 1024, READOUT_CALLBACK},
	{"callback-8", 8, WIBETH_BYTES, 1024, READOUT_CALLBACK},
	{"callback-32", 32, WIBETH_BYTES, 1024, READOUT_CALLBACK},
	{"queue-8", 8, WIBETH_BYTES, 1024, READOUT_QUEUE},
	{"callback-8-small", 8, SMALL_BYTES, 4096, READOUT_CALLBACK},
	{"queue-8-small", 8, SMALL_BYTES, 4096, READOUT_QUEUE},
};

/* The case whose buffers are looked into for windows. */
static const struct readout_case lookup_case = {"lookup", 1, WIBETH_BYTES, 1024, READOUT_CALLBACK};

/* ---- both sides of a case ---- */

static void
close_pair(struct readout_pair *pair)
{
	readout_ours_free(pair->ours);
	readout_peer_free(pair->peer);
	readout_traffic_free(&pair->traffic);
}

/* @return false: failed, told */
static bool
open_pair(struct readout_pair *pair, const struct bench_options *options,
	struct bench_report *report, const struct readout_case *what, int socket)
{
	int rc;

	*pair = (struct readout_pair){
		.traffic.burst = options->burst != 0 ? options->burst : BURST};
	rc = readout_traffic_init(
		&pair->traffic, what->nb_links, what->frame_bytes, what->slice, socket);
	if (rc == 0) {
		pair->ours = readout_ours_create(&pair->traffic, what->way, BUFFER_BYTES);
		if (pair->ours != NULL)
			pair->peer =
				readout_peer_create(&pair->traffic, readout_ours_cells(pair->ours));
		rc = pair->peer == NULL ? -rte_errno : 0;
	}
	if (rc < 0) {
		bench_report_failure(report, what->name, "cannot be set up: %s", strerror(-rc));
		return false;
	}
	readout_fill(pair->ours, readout_ours_cells(pair->ours));
	readout_fill(pair->peer, readout_ours_cells(pair->ours));
	return true;
}

/* Did either side lose or spoil a frame? */
static bool
all_well(const struct readout_pair *pair, struct bench_report *report, const char *name)
{
	if (pair->traffic.why[0] == '\0')
		return true;
	bench_report_failure(report, name, "%s", pair->traffic.why);
	return false;
}

/* ---- cases ---- */

static void
report_pair(struct bench_report *report, const struct readout_pair *pair, const char *name,
	const struct bench_figure *figures)
{
	const struct readout_summary ours = readout_summarize(pair->ours),
				     peer = readout_summarize(pair->peer);
	const struct bench_row row = {
		.name = name,
		.ours = figures[0],
		.theirs = figures[1],
		.objects = pair->traffic.frame_bytes,
		.target = 1.0,
		.ours_extra = readout_summary_json(pair->ours, &ours),
		.peer_extra = readout_summary_json(pair->peer, &peer),
		.extra = json_pack("{s:i, s:i, s:i}", "links", (int)pair->traffic.nb_links,
			"frame_bytes", (int)pair->traffic.frame_bytes, "burst",
			(int)pair->traffic.burst),
	};

	bench_report_row(report, &row);
	readout_summary_say(report, pair->ours, &ours);
	readout_summary_say(report, pair->peer, &peer);
}

static void
run_case(const struct bench_options *options, struct bench_report *report,
	const struct readout_case *what, int socket)
{
	struct readout_pair pair;
	struct bench_figure figures[2];
	uint64_t total;

	if (open_pair(&pair, options, report, what, socket)) {
		const struct bench_side sides[2] = {
			{.prepare = readout_prepare,
				.slice = readout_slice,
				.cycles = readout_cycles,
				.arg = pair.ours},
			{.prepare = readout_prepare,
				.slice = readout_slice,
				.cycles = readout_cycles,
				.arg = pair.peer},
		};

		if (bench_compare(options, sides, 2, what->slice, figures, &total) < 0)
			bench_report_failure(report, what->name, "not enough memory");
		else if (all_well(&pair, report, what->name))
			report_pair(report, &pair, what->name, figures);
	}
	close_pair(&pair);
}

static void
run_lookup(const struct bench_options *options, struct bench_report *report, int socket)
{
	struct readout_pair pair;

	if (open_pair(&pair, options, report, &lookup_case, socket) &&
		all_well(&pair, report, lookup_case.name))
		readout_lookup_run(options, report, &pair);
	close_pair(&pair);
}

static void
run_cases(const struct bench_options *options, struct bench_report *report, int socket)
{
	bench_report_array(report, "cases");
	json_object_set_new(report->root, "crowded", json_boolean(readout_crowded));
	if (readout_crowded)
		bench_say(report, "There are fewer CPUs than threads: the figures mean little.\n");
	if (BENCH_ANY_WANTED(options, cases))
		bench_report_table(report, "cases",
			"A frame from the port into its link's latency buffer: cycles of all "
			"threads together, waiting not counted");
	for (size_t i = 0; i < RTE_DIM(cases); i++)
		if (bench_wanted(options, cases[i].name))
			run_case(options, report, &cases[i], socket);
	if (readout_copies_wanted(options))
		readout_copies_run(options, report, options->burst != 0 ? options->burst : BURST,
			BUFFER_BYTES, socket);
	if (readout_lookup_wanted(options))
		run_lookup(options, report, socket);
	if (readout_accessors_wanted(options))
		readout_accessors_run(options, report);
}

static int
run_readout(const struct bench *bench, const struct bench_options *options)
{
	struct bench_report report;
	cpu_set_t allowed;
	int socket;

	if (options->list) {
		BENCH_LIST(cases);
		readout_copies_list();
		readout_lookup_list();
		readout_accessors_list();
		return 0;
	}
	if (!BENCH_ANY_WANTED(options, cases) && !readout_copies_wanted(options) &&
		!readout_lookup_wanted(options) && !readout_accessors_wanted(options))
		return bench_no_case(bench, options);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	if (bench_eal_start(options, MEGABYTES, HEAP) < 0 || readout_consumer_start(&allowed) < 0)
		return 1;
	socket = bench_memory_socket(HEAP);
	if (socket < 0)
		return 1;
	weir_base_log_set_level(WEIR_BASE_LOG_WARNING);
	bench_report_begin(&report, bench, options, "frame", "byte", "copy and queue");
	report.cores = "two cores";
	bench_report_machine(&report);
	run_cases(options, &report, socket);
	readout_consumer_stop();
	return bench_report_end(&report);
}

const struct bench bench_readout = {
	.name = "readout",
	.summary = "Frames of detector links into latency buffers, beside copies and queues",
	.help = "Frames of 1, 8 or 32 links, 7200 bytes each (WIBEth) or 512 (small), wait in a "
		"port "
		"that is a ring. Ours: the library's\n"
		"receiver, links with all checks and counters, and latency buffers, by callback in "
		"the receiver's thread or by queues\n"
		"to a consumer's. The peer is the published starting point: the receiver copies a "
		"frame into a message, and a\n"
		"bounded queue (rte_ring) takes this to a consumer's thread, which copies it into "
		"a "
		"ring of frames. Cycles are\n"
		"those of both threads, without their waiting. The case called copies: bytes "
		"that are moved, beside memcpy; those called lookup: windows of "
		"time, beside a binary search;\n"
		"those called accessors: fields of frames, beside C written for their format.\n"
		"What the buffers have after each turn is compared with what was sent, on both "
		"sides.\n",
	.seconds = SECONDS,
	.no_routes = "it forwards nothing by routes; forward does",
	.no_ours = "its peer runs in turns with it, always",
	.run = run_readout,
};
