/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What copies take of the memory's bandwidth: the same frames by callback without a copy, by callback and by queue with one, by the published
 * starting point with two, and one thread's memcpy of as many. Bytes are those that copies read and write, as each side counts them;
 * how many of them a cache has is not known here.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "readout_bench.h"

#define NB_LINKS    8
#define FRAME_BYTES 7200
#define SLICE       1024
/* A packet and a buffer's cell, as they lie in memory: copies are slower where bytes do not begin at cache lines. */
#define PACKET_BYTES                                                                               \
	RTE_ALIGN_CEIL(RTE_PKTMBUF_HEADROOM + READOUT_HEADER + FRAME_BYTES, RTE_CACHE_LINE_SIZE)
#define FRAME_OFFSET (RTE_PKTMBUF_HEADROOM + READOUT_HEADER)
#define CELL_BYTES   RTE_ALIGN_CEIL(FRAME_BYTES, RTE_CACHE_LINE_SIZE)

static const char *const case_name = "copies-8";

enum { RELEASED, CALLBACK, QUEUE, PEER, COPY, NB_WAYS };

/* memcpy alone: a slice's frames into one buffer after the other. */
struct copy {
	uint8_t *from, *to;
	uint32_t nb_cells, next;
};

struct copies {
	struct readout_traffic traffic;
	struct readout_side *sides[COPY];
	struct copy copy;
};

/* Of a way, for the report. */
struct way {
	const char *name;
	double cycles;       /* of a frame, all threads */
	double frames_per_s; /* while it runs */
	double bytes;        /* that copies read and write of a frame */
};

static void
copy_slice(void *arg, uint64_t nb)
{
	struct copy *copy = arg;

	for (uint64_t i = 0; i < nb; i++) {
		memcpy(copy->to + (size_t)copy->next * CELL_BYTES,
			copy->from + i * PACKET_BYTES + FRAME_OFFSET, FRAME_BYTES);
		copy->next = copy->next + 1 < copy->nb_cells ? copy->next + 1 : 0;
	}
}

static int
make_copy(struct copy *copy, uint64_t buffer_bytes, int socket)
{
	copy->nb_cells = (uint32_t)(buffer_bytes / CELL_BYTES);
	copy->from =
		rte_malloc_socket(NULL, (size_t)SLICE * PACKET_BYTES, RTE_CACHE_LINE_SIZE, socket);
	copy->to = rte_malloc_socket(NULL, buffer_bytes, RTE_CACHE_LINE_SIZE, socket);
	if (copy->from == NULL || copy->to == NULL)
		return -ENOMEM;
	memset(copy->from, 1, (size_t)SLICE * PACKET_BYTES);
	memset(copy->to, 1, buffer_bytes);
	return 0;
}

static void
close_copies(struct copies *copies)
{
	for (unsigned int i = RELEASED; i < PEER; i++)
		readout_ours_free(copies->sides[i]);
	readout_peer_free(copies->sides[PEER]);
	rte_free(copies->copy.from);
	rte_free(copies->copy.to);
	readout_traffic_free(&copies->traffic);
}

static int
open_copies(struct copies *copies, uint64_t buffer_bytes, int socket)
{
	static const enum readout_way ways[PEER] = {
		READOUT_RELEASED, READOUT_CALLBACK, READOUT_QUEUE};
	int rc = readout_traffic_init(&copies->traffic, NB_LINKS, FRAME_BYTES, SLICE, socket);

	if (rc == 0)
		rc = make_copy(&copies->copy, buffer_bytes, socket);
	if (rc < 0)
		return rc;
	for (unsigned int i = RELEASED; i < PEER; i++) {
		copies->sides[i] = readout_ours_create(&copies->traffic, ways[i], buffer_bytes);
		if (copies->sides[i] == NULL)
			return -rte_errno;
	}
	copies->sides[PEER] =
		readout_peer_create(&copies->traffic, readout_ours_cells(copies->sides[CALLBACK]));
	if (copies->sides[PEER] == NULL)
		return -rte_errno;
	for (unsigned int i = RELEASED; i < COPY; i++)
		readout_fill(copies->sides[i], readout_ours_cells(copies->sides[CALLBACK]));
	return 0;
}

static struct way
way_of(const struct copies *copies, unsigned int number, const struct bench_figure *figures)
{
	static const char *const names[NB_WAYS] = {
		"callback, no copy", "callback", "queue", "copy and queue", "memcpy alone"};
	struct way way = {.name = names[number], .cycles = figures[number].median};

	if (number == COPY) {
		way.frames_per_s = (double)weir_base_cycles_hz() / way.cycles;
		way.bytes = 2.0 * FRAME_BYTES;
	} else {
		way.frames_per_s = readout_frames_per_s(copies->sides[number]);
		way.bytes = 2 * readout_bytes_copied(copies->sides[number]);
	}
	return way;
}

static json_t *
say_way(struct bench_report *report, const struct way *way, const struct way *copy)
{
	const double bytes_per_s = way->bytes * way->frames_per_s;
	const double share = bytes_per_s / (copy->bytes * copy->frames_per_s);

	bench_say(report, "%-22s |%9.1f |%9.3f |%8.0f |%7.2f |%7.0f %%\n", way->name, way->cycles,
		way->frames_per_s / 1e6, way->bytes, bytes_per_s / 1e9, 100 * share);
	return json_pack("{s:s, s:f, s:f, s:f, s:f, s:f}", "way", way->name, "cycles_per_frame",
		way->cycles, "frames_per_s", way->frames_per_s, "bytes_moved_per_frame", way->bytes,
		"bytes_moved_per_s", bytes_per_s, "share_of_memcpy", share);
}

static void
report_copies(struct bench_report *report, const struct copies *copies,
	const struct bench_figure *figures)
{
	struct bench_row row = {.name = case_name,
		.ours = figures[CALLBACK],
		.theirs = figures[PEER],
		.objects = FRAME_BYTES,
		.quiet = true};
	const struct way copy = way_of(copies, COPY, figures);
	const struct way none = way_of(copies, RELEASED, figures);
	const struct way ours = way_of(copies, CALLBACK, figures);
	const struct way peer = way_of(copies, PEER, figures);
	const double of_cycles = 1 - none.cycles / ours.cycles;
	/* A NIC writes each frame once. */
	const double saved = 1 - (FRAME_BYTES + ours.bytes) / (FRAME_BYTES + peer.bytes);
	json_t *ways = json_array();

	bench_say(report,
		"\nWhat copies read and write of frames of %d links, beside one thread's memcpy of "
		"such frames\n\n%-22s |%9s |%9s |%8s |%7s |%9s\n%-22s |%9s |%9s |%8s |%7s |%9s\n",
		NB_LINKS, "", "cycles/", "M frames/", "bytes/", "", "of memcpy's", "way", "frame",
		"s", "frame", "GB/s", "bandwidth");
	for (unsigned int i = RELEASED; i < NB_WAYS; i++) {
		const struct way way = way_of(copies, i, figures);

		json_array_append_new(ways, say_way(report, &way, &copy));
	}
	bench_say(report,
		"The copy is %.0f %% of what a frame by callback takes. With the %d bytes that a "
		"NIC "
		"writes, a callback moves %.0f bytes of a frame,\ncopy and queue %.0f: %.0f %% "
		"less "
		"(published: about 37 %% of memory bandwidth).\n",
		100 * of_cycles, FRAME_BYTES, FRAME_BYTES + ours.bytes, FRAME_BYTES + peer.bytes,
		100 * saved);
	row.extra = json_pack("{s:o, s:f, s:f, s:i, s:i}", "ways", ways, "copy_share_of_cycles",
		of_cycles, "bytes_saved_share", saved, "links", NB_LINKS, "frame_bytes",
		FRAME_BYTES);
	bench_report_row(report, &row);
}

bool
readout_copies_wanted(const struct bench_options *options)
{
	return bench_wanted(options, case_name);
}

void
readout_copies_list(void)
{
	printf("%s\n", case_name);
}

void
readout_copies_run(const struct bench_options *options, struct bench_report *report, uint32_t burst,
	uint64_t buffer_bytes, int socket)
{
	struct copies copies = {.traffic.burst = burst};
	struct bench_side sides[NB_WAYS] = {[COPY] = {.slice = copy_slice, .arg = &copies.copy}};
	struct bench_figure figures[NB_WAYS];
	uint64_t total;
	int rc = open_copies(&copies, buffer_bytes, socket);

	for (unsigned int i = RELEASED; i < COPY; i++)
		sides[i] = (struct bench_side){.prepare = readout_prepare,
			.slice = readout_slice,
			.cycles = readout_cycles,
			.arg = copies.sides[i]};
	bench_report_array(report, "copies");
	if (rc < 0)
		bench_report_failure(report, case_name, "cannot be set up: %s", strerror(-rc));
	else if (bench_compare(options, sides, NB_WAYS, SLICE, figures, &total) < 0)
		bench_report_failure(report, case_name, "not enough memory");
	else if (copies.traffic.why[0] != '\0')
		bench_report_failure(report, case_name, "%s", copies.traffic.why);
	else
		report_copies(report, &copies, figures);
	close_copies(&copies);
}
