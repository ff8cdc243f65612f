/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a format as data costs: the fields of frames as links read them, a batch at once by the compiled format, and by code written for that format
 * alone, which is part of the loop that uses them. Both look first whether a frame is long enough. The frames' first lines are in the cache:
 * what it takes to bring them there is the same for both.
 */

#include <stdio.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include <weir_readout_link.h>

#include "readout_bench.h"

#define NB_FRAMES   256u /* a multiple of BATCH */
#define BATCH       64u  /* frames, as a dispatch gives them to a link */
#define LINE        64u
#define FRAME_BYTES 7200u
#define NB_FIELDS   4

/* What a side reads. Neither the compiler nor a side knows what is in it. */
struct accessors {
	const struct weir_readout_format *format;
	uint64_t nb_read, sum; /* of all fields, modulo 2^64 */
	struct weir_readout_item items[NB_FRAMES];
	uint8_t frames[NB_FRAMES][LINE];
};

typedef bool (*read_by_hand)(
	const uint8_t *frame, uint32_t size_bytes, struct weir_readout_header *header);

static inline bool
wibeth_by_hand(const uint8_t *frame, uint32_t size_bytes, struct weir_readout_header *header)
{
	uint64_t words[2];

	if (unlikely(size_bytes < sizeof(words)))
		return false;
	memcpy(words, frame, sizeof(words));
	words[0] = rte_le_to_cpu_64(words[0]);
	header->stream = words[0] >> 6 & 0xfffffff;
	header->sequence = words[0] >> 40 & 0xfff;
	header->timestamp = rte_le_to_cpu_64(words[1]);
	header->length = words[0] >> 52;
	return true;
}

static inline bool
srs_by_hand(const uint8_t *frame, uint32_t size_bytes, struct weir_readout_header *header)
{
	uint32_t sequence, timestamp;

	if (unlikely(size_bytes < 8 + sizeof(timestamp)))
		return false;
	memcpy(&sequence, frame, sizeof(sequence));
	memcpy(&timestamp, frame + 8, sizeof(timestamp));
	header->stream = frame[7] >> 4;
	header->sequence = rte_be_to_cpu_32(sequence);
	header->timestamp = rte_be_to_cpu_32(timestamp);
	header->length = 0;
	return true;
}

static inline uint64_t
sum_of(const struct weir_readout_header *header)
{
	return header->stream + header->sequence + header->timestamp + header->length;
}

/* Between two frames a receiver writes much: what is in memory is loaded again. */
static void
slice_ours(void *arg, uint64_t nb)
{
	struct weir_readout_header headers[BATCH];
	struct accessors *accessors = arg;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < nb; i += BATCH) {
		const uint32_t nb_here = (uint32_t)RTE_MIN(nb - i, BATCH);

		weir_readout_item_headers(
			accessors->format, &accessors->items[i % NB_FRAMES], nb_here, headers);
		for (uint32_t j = 0; j < nb_here; j++) {
			sum += sum_of(&headers[j]);
			rte_compiler_barrier();
		}
	}
	accessors->sum += sum;
	accessors->nb_read += nb;
}

static __rte_always_inline void
slice_by_hand(struct accessors *accessors, uint64_t nb, read_by_hand read)
{
	struct weir_readout_header header;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < nb; i++) {
		const struct weir_readout_item *item = &accessors->items[i % NB_FRAMES];

		if (read(item->data, item->data_bytes, &header))
			sum += sum_of(&header);
		rte_compiler_barrier();
	}
	accessors->sum += sum;
	accessors->nb_read += nb;
}

static void
slice_wibeth(void *arg, uint64_t nb)
{
	slice_by_hand(arg, nb, wibeth_by_hand);
}

static void
slice_srs(void *arg, uint64_t nb)
{
	slice_by_hand(arg, nb, srs_by_hand);
}

static const struct accessors_case {
	const char *name, *format;
	read_by_hand read;
	void (*slice)(void *arg, uint64_t nb);
} cases[] = {
	{"accessors-wibeth", "wibeth", wibeth_by_hand, slice_wibeth},
	{"accessors-srs", "srs-vmm3a", srs_by_hand, slice_srs},
};

static void
init(struct accessors *accessors, const struct accessors_case *what)
{
	uint64_t random = 1;

	*accessors = (struct accessors){.format = weir_readout_format_builtin(what->format)};
	for (uint32_t i = 0; i < NB_FRAMES; i++) {
		accessors->items[i] = (struct weir_readout_item){
			.data = accessors->frames[i], .data_bytes = FRAME_BYTES};
		for (uint32_t j = 0; j < LINE; j++)
			accessors->frames[i][j] = (uint8_t)bench_random(&random);
	}
}

/* Do both say the same of each field of each frame? */
static bool
agree(const struct accessors *accessors, read_by_hand read)
{
	struct weir_readout_header ours[NB_FRAMES], hand;

	weir_readout_item_headers(accessors->format, accessors->items, NB_FRAMES, ours);
	for (uint32_t i = 0; i < NB_FRAMES; i++)
		if (!read(accessors->frames[i], FRAME_BYTES, &hand) ||
			memcmp(&ours[i], &hand, sizeof(hand)) != 0)
			return false;
	return true;
}

static void
compare(const struct bench_options *options, struct bench_report *report,
	const struct accessors_case *what)
{
	static struct accessors ours, hand;
	const struct bench_side sides[2] = {
		{.name = "ours", .slice = slice_ours, .arg = &ours},
		{.name = "by hand", .slice = what->slice, .arg = &hand},
	};
	struct bench_row row = {.name = what->name, .objects = NB_FIELDS};
	struct bench_figure figures[2];
	uint64_t total;

	init(&ours, what);
	init(&hand, what);
	if (bench_compare(options, sides, 2, 0, figures, &total) < 0) {
		bench_report_failure(report, what->name, "not enough memory");
		return;
	}
	if (!agree(&ours, what->read) || ours.nb_read != total || ours.sum != hand.sum) {
		bench_report_failure(
			report, what->name, "the format and the code by hand do not agree");
		return;
	}
	row.ours = figures[0];
	row.theirs = figures[1];
	row.extra = json_pack("{s:s, s:i, s:f}", "format", what->format, "fields", NB_FIELDS,
		"more_cycles_per_frame", figures[0].median - figures[1].median);
	bench_report_row(report, &row);
}

void
readout_accessors_list(void)
{
	BENCH_LIST(cases);
}

bool
readout_accessors_wanted(const struct bench_options *options)
{
	return BENCH_ANY_WANTED(options, cases);
}

void
readout_accessors_run(const struct bench_options *options, struct bench_report *report)
{
	report->work = "frame";
	report->object = "field";
	report->peer = "by hand";
	bench_report_table(report, "accessors",
		"Stream, sequence number, timestamp and length of a frame whose first line is in "
		"the cache");
	for (size_t i = 0; i < RTE_DIM(cases); i++)
		if (bench_wanted(options, cases[i].name))
			compare(options, report, &cases[i]);
}
