/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Windows of time looked up: the frames of a link that begin in one, where they lie, so that they stay until they are released. Ours finds
 * them by their time, and pins the range of it; the peer searches its ring of frames by halves, and holds a reader's lock.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include <weir_readout_buffer.h>

#include "readout_peer.h"

#define FRAMES_MAX 64

struct lookup_case {
	const char *name;
	uint32_t nb_frames; /* of each window */
};

static const struct lookup_case cases[] = {
	{"lookup-1", 1},
	{"lookup-32", 32},
};

/* One side's windows: both see the same ones. */
struct lookup {
	const struct readout_traffic *traffic;
	uint32_t nb_frames;
	uint64_t first, nb; /* numbers of the frames that both have */
	uint64_t random;
	uint64_t nb_found,
		words; /* frames, and the sum of their timestamps and places in their windows */
	const struct weir_readout_buffer *buffer;
	struct weir_readout_window *window;
	struct readout_ring_buffer *ring;
	struct iovec frames[FRAMES_MAX];
	uint64_t timestamps[FRAMES_MAX];
};

static uint64_t
next_begin(struct lookup *lookup)
{
	const uint64_t places = lookup->nb - lookup->nb_frames + 1;

	return readout_timestamp(
		lookup->traffic, lookup->first + bench_random(&lookup->random) % places);
}

static void
found(struct lookup *lookup, const uint64_t *timestamps, const struct iovec *frames, uint32_t nb)
{
	lookup->nb_found += nb;
	if (nb > 0)
		lookup->words +=
			timestamps[0] * 3 + timestamps[nb - 1] * 5 + frames[nb - 1].iov_len;
}

static void
slice_ours(void *arg, uint64_t nb)
{
	struct lookup *lookup = arg;
	const uint64_t ticks = lookup->nb_frames * lookup->traffic->format.step_ticks;

	for (uint64_t i = 0; i < nb; i++) {
		const uint64_t begin = next_begin(lookup);
		struct weir_readout_window *window = lookup->window;

		if (weir_readout_window_find(lookup->buffer, begin, begin + ticks, window) < 0)
			continue;
		found(lookup, window->timestamps, window->frames, window->nb_frames);
		weir_readout_window_release(window);
	}
}

static uint64_t
timestamp_of(const struct readout_ring_buffer *ring, uint64_t number)
{
	uint64_t timestamp;

	memcpy(&timestamp, readout_ring_buffer_at(ring, number) + sizeof(uint64_t),
		sizeof(timestamp));
	return timestamp;
}

/* Number of the first frame at @p begin or after it. */
static uint64_t
search(const struct readout_ring_buffer *ring, uint64_t begin)
{
	uint64_t low = ring->nb > ring->nb_cells ? ring->nb - ring->nb_cells : 0, high = ring->nb;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (timestamp_of(ring, middle) < begin)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t
collect(struct lookup *lookup, uint64_t begin, uint64_t end)
{
	const struct readout_ring_buffer *ring = lookup->ring;
	uint32_t nb = 0;

	for (uint64_t n = search(ring, begin); n < ring->nb && nb < FRAMES_MAX; n++, nb++) {
		lookup->timestamps[nb] = timestamp_of(ring, n);
		if (lookup->timestamps[nb] >= end)
			break;
		lookup->frames[nb] = (struct iovec){.iov_base = readout_ring_buffer_at(ring, n),
			.iov_len = lookup->traffic->frame_bytes};
	}
	return nb;
}

static void
slice_peer(void *arg, uint64_t nb)
{
	struct lookup *lookup = arg;
	const uint64_t ticks = lookup->nb_frames * lookup->traffic->format.step_ticks;

	for (uint64_t i = 0; i < nb; i++) {
		const uint64_t begin = next_begin(lookup);
		uint32_t nb_frames;

		rte_rwlock_read_lock(&lookup->ring->lock);
		nb_frames = collect(lookup, begin, begin + ticks);
		found(lookup, lookup->timestamps, lookup->frames, nb_frames);
		rte_rwlock_read_unlock(&lookup->ring->lock);
	}
}

static void
compare(const struct bench_options *options, struct bench_report *report,
	const struct lookup_case *what, struct lookup *ours, struct lookup *peer)
{
	const struct bench_side sides[2] = {
		{.name = "ours", .slice = slice_ours, .arg = ours},
		{.name = "binary search", .slice = slice_peer, .arg = peer},
	};
	struct bench_row row = {.name = what->name, .objects = what->nb_frames, .target = 1.0};
	struct bench_figure figures[2];
	uint64_t total;

	ours->nb_frames = peer->nb_frames = what->nb_frames;
	ours->random = peer->random = ours->nb_found = peer->nb_found = ours->words = peer->words =
		0;
	if (bench_compare(options, sides, 2, 0, figures, &total) < 0) {
		bench_report_failure(report, what->name, "not enough memory");
		return;
	}
	if (ours->nb_found != total * what->nb_frames || peer->nb_found != ours->nb_found ||
		peer->words != ours->words) {
		bench_report_failure(report, what->name,
			"of %lu frames ours found %lu, the peer %lu", total * what->nb_frames,
			ours->nb_found, peer->nb_found);
		return;
	}
	row.ours = figures[0];
	row.theirs = figures[1];
	row.extra = json_pack("{s:i, s:i}", "frames_in_window", (int)what->nb_frames,
		"frames_in_buffer", (int)ours->nb);
	bench_report_row(report, &row);
}

void
readout_lookup_list(void)
{
	BENCH_LIST(cases);
}

bool
readout_lookup_wanted(const struct bench_options *options)
{
	return BENCH_ANY_WANTED(options, cases);
}

void
readout_lookup_run(const struct bench_options *options, struct bench_report *report,
	const struct readout_pair *pair)
{
	static struct lookup ours, peer;
	const uint64_t nb = readout_ours_history(pair->ours) / 2;

	ours = peer = (struct lookup){
		.traffic = pair->ours->traffic, .first = pair->ours->nb_frames - nb, .nb = nb};
	ours.buffer = readout_ours_buffer(pair->ours, 0);
	ours.window = weir_readout_window_create(FRAMES_MAX, 2);
	peer.ring = readout_peer_buffer(pair->peer, 0);
	report->work = "window";
	report->object = "frame";
	report->peer = "binary search";
	bench_report_table(
		report, "lookup", "A window of time of one link's frames, looked up and released");
	for (size_t i = 0; i < RTE_DIM(cases); i++)
		if (ours.window == NULL)
			bench_report_failure(report, cases[i].name, "not enough memory");
		else if (bench_wanted(options, cases[i].name))
			compare(options, report, &cases[i], &ours, &peer);
	weir_readout_window_free(ours.window);
}
