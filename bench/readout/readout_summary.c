/* SPDX-License-Identifier: BSD-3-Clause */

/* What a side's turns were like. */

#include "readout_bench.h"

void
readout_fill(struct readout_side *side, uint32_t nb_frames)
{
	while (side->nb_frames < nb_frames && side->traffic->why[0] == '\0') {
		readout_prepare(side);
		readout_slice(side, side->traffic->slice);
		readout_cycles(side);
	}
	side->nb_turns = 0;
}

static double
median_of(const struct readout_side *side, double (*of)(const struct readout_turn *turn))
{
	static double samples[READOUT_TURNS_MAX];
	const unsigned int nb = (unsigned int)RTE_MIN(side->nb_turns, READOUT_TURNS_MAX);

	for (unsigned int i = 0; i < nb; i++)
		samples[i] = of(&side->turns[i]);
	return bench_figure_of(samples, nb).median;
}

static double
passed_of(const struct readout_turn *turn)
{
	return (double)turn->passed;
}

static double
receive_of(const struct readout_turn *turn)
{
	return (double)turn->receive;
}

static double
consume_of(const struct readout_turn *turn)
{
	return (double)turn->consume;
}

double
readout_frames_per_s(const struct readout_side *side)
{
	return side->traffic->slice * (double)weir_base_cycles_hz() / median_of(side, passed_of);
}

double
readout_bytes_copied(const struct readout_side *side)
{
	return (double)side->bytes_copied / (double)(side->nb_frames * side->traffic->nb_links);
}

struct readout_summary
readout_summarize(const struct readout_side *side)
{
	const double frames = side->traffic->slice;
	const double passed = median_of(side, passed_of);
	struct readout_summary summary = {
		.frames_per_s = readout_frames_per_s(side),
		.receive = median_of(side, receive_of) / frames,
		.consume = median_of(side, consume_of) / frames,
		.bytes_copied = readout_bytes_copied(side),
	};

	summary.waiting =
		1 - (summary.receive + summary.consume) * frames / passed / side->nb_threads;
	return summary;
}

json_t *
readout_summary_json(const struct readout_side *side, const struct readout_summary *summary)
{
	return json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:I}", "threads", (int)side->nb_threads,
		"frames_per_s", summary->frames_per_s, "receiver_cycles_per_frame",
		summary->receive, "consumer_cycles_per_frame", summary->consume, "waiting_share",
		summary->waiting, "bytes_copied_per_frame", summary->bytes_copied, "frames",
		(json_int_t)(side->nb_frames * side->traffic->nb_links));
}

void
readout_summary_say(struct bench_report *report, const struct readout_side *side,
	const struct readout_summary *summary)
{
	bench_say(report, "  %-16s %7.3f M frames/s, %.0f bytes copied a frame; receiver %.1f",
		side->name, summary->frames_per_s / 1e6, summary->bytes_copied, summary->receive);
	if (side->nb_threads > 1)
		bench_say(report, " + consumer %.1f cycles/frame, waiting %.0f %%",
			summary->consume, 100 * summary->waiting);
	else
		bench_say(report, " cycles/frame, one thread");
	bench_say(report, "\n");
}
