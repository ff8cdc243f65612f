/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * pi, as the rte_coro prototype's benchmark had it: computed many times, with plain calls and with one coroutine per
 * calculation, on one lcore. Here the two take turns, so that what disturbs the machine disturbs both.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <weir_coro.h>

#include "coro_bench.h"
#include "pi.h"

#define NB_CALLS       10000
#define SECONDS_FACTOR 40 /* takes so many times as long as other cases, at most */
#define NB_CALLS_MIN   10
#define NB_PIECES      300 /* after each the coroutine considers a switch */
#define CALL_NS        1000000
#define CLOCK_PERIOD   4 /* calls between measurements of the clock */
#define WARM_UP_CALLS  5

/* To reach: a switch with everything that it brings about, and all of it together. */
#define SWITCH_NS_OVER_CLOCK 12.0
#define MOST_PERCENT         0.3

/* Everything about a run. */
struct pi_run {
	uint64_t terms; /* of one piece */
	unsigned int nb_calls;
	double pi;            /* what every call must find */
	double *plain, *coro; /* cycles of each call */
	double *differences;  /* of neighbours */
	/* cycles of a read of the clock: many in a row; between pieces of this work */
	double *clocks, *clocks_between;
	double plain_sum, coro_sum; /* of all calls */
	unsigned int nb_clocks;
	uint64_t resumes, checks;
	unsigned int nb_wrong; /* calls that found something else than pi */
};

static __attribute__((noinline)) double
pi_plainly(uint64_t terms)
{
	double width = 1 / (double)(terms * NB_PIECES), sum = 0;

	for (uint64_t piece = 0; piece < NB_PIECES; piece++)
		sum += bench_pi_piece(piece * terms, terms, width);
	return sum * width;
}

static uint64_t last_read;

static __attribute__((noinline)) double
pi_with_clock(uint64_t terms)
{
	double width = 1 / (double)(terms * NB_PIECES), sum = 0;

	for (uint64_t piece = 0; piece < NB_PIECES; piece++) {
		sum += bench_pi_piece(piece * terms, terms, width);
		last_read = weir_base_cycles();
	}
	return sum * width;
}

static void
pi_coroutine(void)
{
	uint64_t terms = *(uint64_t *)weir_coro_self_in_param(sizeof(terms));
	double width = 1 / (double)(terms * NB_PIECES), sum = 0;

	for (uint64_t piece = 0; piece < NB_PIECES; piece++) {
		sum += bench_pi_piece(piece * terms, terms, width);
		weir_coro_maybe_yield();
	}
	*(double *)weir_coro_self_out_param(sizeof(sum)) = sum * width;
}

static double
call_plainly(struct pi_run *run, double (*compute)(uint64_t terms))
{
	uint64_t begin = weir_base_cycles(), end;
	double pi = compute(run->terms);

	end = weir_base_cycles();
	run->nb_wrong += pi != run->pi;
	return (double)(end - begin);
}

/* All that a caller does is timed, but not the questions that only this benchmark has. */
static double
call_coroutine(struct pi_run *run)
{
	uint64_t begin = weir_base_cycles(), cycles;
	struct weir_coro *coro = weir_coro_create(pi_coroutine);
	double pi;

	if (coro == NULL) {
		run->nb_wrong++;
		return 0;
	}
	*(uint64_t *)weir_coro_in_param(coro, sizeof(run->terms)) = run->terms;
	do
		weir_coro_resume(coro);
	while (!weir_coro_has_exited(coro));
	pi = *(double *)weir_coro_out_param(coro, sizeof(pi));
	cycles = weir_base_cycles() - begin;

	run->resumes += weir_coro_resume_count(coro);
	run->checks += weir_coro_maybe_yield_count(coro);
	run->nb_wrong += pi != run->pi;

	begin = weir_base_cycles();
	weir_coro_destroy(coro);
	return (double)(cycles + (weir_base_cycles() - begin));
}

/* How many terms take a millisecond? The quickest of some calls tells. */
static void
calibrate(struct pi_run *run)
{
	uint64_t best, took;

	run->terms = 500;
	for (unsigned int round = 0; round < 3; round++) {
		best = UINT64_MAX;
		for (unsigned int i = 0; i < WARM_UP_CALLS; i++) {
			took = (uint64_t)call_plainly(run, pi_plainly);
			best = took < best ? took : best;
		}
		run->terms = run->terms * weir_base_ns_to_cycles(CALL_NS) / best;
		if (run->terms == 0)
			run->terms = 1;
	}
	run->pi = pi_plainly(run->terms);
}

static void
call_all(struct pi_run *run, const struct bench_options *options)
{
	const uint64_t begin_ns = weir_base_time_ns();
	const unsigned int most = run->nb_calls;
	unsigned int i;

	for (i = 0; i < most; i++) {
		if (options->rounds == 0 && i >= NB_CALLS_MIN &&
			(double)(weir_base_time_ns() - begin_ns) >
				options->seconds * SECONDS_FACTOR * 1e9)
			break;
		if (i % 2 == 0)
			run->plain[i] = call_plainly(run, pi_plainly);
		run->coro[i] = call_coroutine(run);
		if (i % 2 != 0)
			run->plain[i] = call_plainly(run, pi_plainly);
		if (i % CLOCK_PERIOD == 0) {
			run->clocks[run->nb_clocks] = coro_clock_read();
			run->clocks_between[run->nb_clocks++] =
				(call_plainly(run, pi_with_clock) - run->plain[i]) / NB_PIECES;
		}
		run->differences[i] = run->coro[i] - run->plain[i];
		run->plain_sum += run->plain[i];
		run->coro_sum += run->coro[i];
	}
	run->nb_calls = i;
}

/* Was all the work done, and rightly? */
static bool
check(const struct pi_run *run, struct bench_report *report,
	const struct weir_coro_class_stats *before)
{
	struct weir_coro_class_stats after = {0};

	weir_coro_class_look(0, &after);
	if (fabs(run->pi - M_PI) > 1e-9 || run->nb_wrong > 0) {
		bench_report_failure(report, "pi", "%u calls did not find %.12f, and pi is %.12f",
			run->nb_wrong, run->pi, M_PI);
		return false;
	}
	if (run->checks != (uint64_t)run->nb_calls * NB_PIECES ||
		after.exited - before->exited != run->nb_calls ||
		after.switches - before->switches != run->resumes) {
		bench_report_failure(report, "pi",
			"of %u calls in coroutines %" PRIu64 " came to their end, in %" PRIu64
			" (%" PRIu64 ") switches with %" PRIu64 " considerations",
			run->nb_calls, after.exited - before->exited, run->resumes,
			after.switches - before->switches, run->checks);
		return false;
	}
	return true;
}

/* What is told of a run. Latencies are medians. */
struct pi_figures {
	struct bench_figure plain, coro;
	double plain_us, coro_us, plain_total_s, coro_total_s; /* totals are of all calls */
	double overhead_us, overhead_totals_us; /* median of neighbours' differences; by totals */
	double switches, per_switch_ns, most_ns;
	double checks, slice_us, percent;
	double clock_ns, clock_between_ns;
	bool switch_reached, percent_reached;
};

static struct pi_figures
work_out(struct pi_run *run)
{
	const double calls = run->nb_calls;
	struct pi_figures f = {
		.plain = bench_figure_of(run->plain, run->nb_calls),
		.coro = bench_figure_of(run->coro, run->nb_calls),
		.plain_total_s = coro_ns(run->plain_sum) / 1e9,
		.coro_total_s = coro_ns(run->coro_sum) / 1e9,
		.switches = (double)run->resumes / calls,
		.checks = (double)run->checks / calls,
	};
	double difference = bench_figure_of(run->differences, run->nb_calls).median;

	f.plain_us = coro_ns(f.plain.median) / 1e3;
	f.coro_us = coro_ns(f.coro.median) / 1e3;
	f.overhead_us = coro_ns(difference) / 1e3;
	f.overhead_totals_us = (f.coro_total_s - f.plain_total_s) / calls * 1e6;
	f.per_switch_ns = coro_ns(difference) / f.switches;
	f.slice_us = f.coro_us / f.switches;
	f.percent = difference / f.plain.median * 100;
	f.clock_ns = coro_ns(bench_figure_of(run->clocks, run->nb_clocks).median);
	f.clock_between_ns = coro_ns(bench_figure_of(run->clocks_between, run->nb_clocks).median);
	f.most_ns = f.clock_ns + SWITCH_NS_OVER_CLOCK;
	f.switch_reached = f.per_switch_ns < f.most_ns;
	f.percent_reached = f.percent < MOST_PERCENT;
	return f;
}

/* The published program's words, in its order. */
static void
print_figures(const struct bench_report *report, const struct pi_figures *f, unsigned int nb_calls)
{
	bench_say(report,
		"\npi, with plain calls and with one coroutine per calculation, in turns\n\n");
	bench_say(report, "Calls: %u\n", nb_calls);
	bench_say(report, "Without coroutines:\n  Total latency: %.3f s\n", f->plain_total_s);
	bench_say(report, "  Latency per call: %.3f us (median %.3f)\n",
		f->plain_total_s / nb_calls * 1e6, f->plain_us);
	bench_say(report, "Coroutines:\n  Total latency: %.3f s\n", f->coro_total_s);
	bench_say(report, "  Latency per call (coroutine): %.3f us (median %.3f)\n",
		f->coro_total_s / nb_calls * 1e6, f->coro_us);
	bench_say(report,
		"  Coroutine overhead per call: %.3f us (median of neighbours' differences; of the "
		"totals %.3f)\n",
		f->overhead_us, f->overhead_totals_us);
	bench_say(report, "  Switches per call: %.1f\n", f->switches);
	bench_say(report, "  Overhead per switch: %.4f us (to reach: %.4f)%s\n",
		f->per_switch_ns / 1e3, f->most_ns / 1e3, f->switch_reached ? "" : "  not reached");
	bench_say(report,
		"  A read of the clock: %.4f us in a row of them, %.4f us between pieces of this "
		"work\n",
		f->clock_ns / 1e3, f->clock_between_ns / 1e3);
	bench_say(report, "  Switch considerations per call: %.1f\n", f->checks);
	bench_say(report, "  Configured time slice: %.3f us\n", CORO_SLICE_NS / 1e3);
	bench_say(report, "  Actual time slice: %.3f us\n", f->slice_us);
	bench_say(report, "  Coroutine overhead: %.3f%% (to reach: %.1f%%)%s\n", f->percent,
		MOST_PERCENT, f->percent_reached ? "" : "  not reached");
}

static void
set_number(json_t *json, const char *key, double value)
{
	json_object_set_new(json, key, json_real(value));
}

static void
tell(struct pi_run *run, struct bench_report *report)
{
	const struct pi_figures f = work_out(run);
	struct bench_row row = {
		.name = "pi",
		.peer = "plain calls",
		.objects = 1,
		.quiet = true,
		.ours = f.coro,
		.theirs = f.plain,
		.others = f.switch_reached && f.percent_reached ? BENCH_VERDICT_REACHED
								: BENCH_VERDICT_MISSED,
		.extra = json_pack("{s:i}", "calls", (int)run->nb_calls),
	};

	print_figures(report, &f, run->nb_calls);
	set_number(row.extra, "total_s_plain", f.plain_total_s);
	set_number(row.extra, "total_s_coro", f.coro_total_s);
	set_number(row.extra, "overhead_us_per_call", f.overhead_us);
	set_number(row.extra, "overhead_us_per_call_of_totals", f.overhead_totals_us);
	set_number(row.extra, "switches_per_call", f.switches);
	set_number(row.extra, "overhead_ns_per_switch", f.per_switch_ns);
	set_number(row.extra, "target_ns_per_switch", f.most_ns);
	set_number(row.extra, "clock_read_ns", f.clock_ns);
	set_number(row.extra, "clock_read_between_ns", f.clock_between_ns);
	set_number(row.extra, "considerations_per_call", f.checks);
	set_number(row.extra, "slice_us", CORO_SLICE_NS / 1e3);
	set_number(row.extra, "actual_slice_us", f.slice_us);
	set_number(row.extra, "overhead_percent", f.percent);
	set_number(row.extra, "target_percent", MOST_PERCENT);
	bench_report_row(report, &row);
}

void
coro_pi_run(const struct bench_options *options, struct bench_report *report)
{
	struct pi_run run = {.nb_calls = options->rounds != 0 ? options->rounds : NB_CALLS};
	struct weir_coro_class_stats before;
	double *samples = calloc((size_t)run.nb_calls * 5, sizeof(*samples));

	bench_report_array(report, "cases");
	report->work = report->object = "call";
	if (samples == NULL) {
		bench_report_failure(report, "pi", "not enough memory");
		return;
	}
	run.plain = samples;
	run.coro = samples + run.nb_calls;
	run.differences = samples + (size_t)run.nb_calls * 2;
	run.clocks = samples + (size_t)run.nb_calls * 3;
	run.clocks_between = samples + (size_t)run.nb_calls * 4;
	calibrate(&run);
	for (unsigned int i = 0; i < WARM_UP_CALLS; i++)
		call_coroutine(&run);
	run.resumes = run.checks = run.nb_wrong = 0;
	weir_coro_class_look(0, &before);
	call_all(&run, options);
	if (check(&run, report, &before))
		tell(&run, report);
	free(samples);
}
