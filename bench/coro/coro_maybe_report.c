/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What was found of checks that are spaced in some way, told.
 */

#include <math.h>

#include <rte_common.h>

#include "coro_maybe.h"

/* To reach. */
#define MOST_CHECK_NS     2.0  /* regular */
#define MOST_OFF_PERCENT  10.0 /* regular */
#define MOST_TIME_PERCENT 1.0  /* irregular: of run time */
#define LEAST_WITHIN_SHARE                                                                         \
	0.999 /* irregular: of slices that are no more than one spacing too long; the rest is for interrupts */

static double
off_percent(double slice_us)
{
	return (slice_us * 1e3 / CORO_SLICE_NS - 1) * 100;
}

static bool
targets_reached(const struct coro_maybe *run)
{
	if (run->spacing->pattern == CORO_PATTERN_REGULAR)
		return fabs(off_percent(run->slice_us)) <= MOST_OFF_PERCENT &&
		       fabs(off_percent(run->slice_gap_us)) <= MOST_OFF_PERCENT;
	return run->time_percent <= MOST_TIME_PERCENT &&
	       run->ends.within_share >= LEAST_WITHIN_SHARE;
}

static double
peer_time_percent(const struct coro_maybe *run)
{
	return coro_ns(run->clock.median) / run->mean_ns * 100;
}

static json_t *
ends_json(const struct coro_ends *ends)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f}", "within_share", ends->within_share,
		"longest_share", ends->longest_share, "first_share", ends->first_share,
		"over_ns_p99", ends->over_p99_ns, "over_ns_most", ends->over_most_ns);
}

static void
say_ends(struct bench_report *report, const char *whose, double time_percent,
	const struct coro_ends *ends)
{
	bench_say(report,
		"  %s: %.2f %% of run time; overshoot at most one spacing in %.2f %% of slices "
		"(the "
		"work's longest: %.2f %%; first check after the end: %.2f %%), 99th percentile "
		"%.2f us, most %.2f\n",
		whose, time_percent, ends->within_share * 100, ends->longest_share * 100,
		ends->first_share * 100, ends->over_p99_ns / 1e3, ends->over_most_ns / 1e3);
}

void
coro_maybe_tell(struct coro_maybe *run, struct bench_report *report)
{
	const bool regular = run->spacing->pattern == CORO_PATTERN_REGULAR;
	struct bench_row row = {.name = run->spacing->name, .objects = 1};

	/* Less than can be seen is not less than nothing. */
	run->check.median = RTE_MAX(run->check.median, 0.1);
	run->clock.median = RTE_MAX(run->clock.median, 0.1);
	row.ours = run->check;
	row.theirs = run->clock;
	row.target = 1.0;
	if (regular)
		row.most_per_object = MOST_CHECK_NS * (double)weir_base_cycles_hz() / 1e9;
	row.others = targets_reached(run) ? BENCH_VERDICT_REACHED : BENCH_VERDICT_MISSED;
	row.extra = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o}",
		"spacing_ns", run->mean_ns, "longest_spacing_ns", run->longest_ns, "time_percent",
		run->time_percent, "peer_time_percent", peer_time_percent(run), "slice_us",
		CORO_SLICE_NS / 1e3, "actual_slice_us", run->slice_us, "actual_slice_us_with_gaps",
		run->slice_gap_us, "peer_slice_us", run->slice_clock_us, "off_percent",
		off_percent(run->slice_us), "ends", ends_json(&run->ends), "peer_ends",
		ends_json(&run->ends_clock));
	bench_report_row(report, &row);
	bench_say(report,
		"  every %.1f ns: %.2f %% of run time; slices %.3f us (%+.1f %%), after %.0f us of "
		"other work %.3f (%+.1f %%), peer's %.3f%s\n",
		run->mean_ns, run->time_percent, run->slice_us, off_percent(run->slice_us),
		CORO_GAP_NS / 1e3, run->slice_gap_us, off_percent(run->slice_gap_us),
		run->slice_clock_us, regular && !targets_reached(run) ? "  not reached" : "");
	if (regular)
		return;
	say_ends(report, "ours", run->time_percent, &run->ends);
	say_ends(report, "peer", peer_time_percent(run), &run->ends_clock);
	bench_say(report, "  the longest spacing is %.2f us%s\n", run->longest_ns / 1e3,
		targets_reached(run) ? "" : "  not reached");
}
