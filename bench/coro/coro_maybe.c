/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What weir_coro_maybe_yield() costs, and how long time slices become by it.
 *
 * Pieces of work with spacings as wished, one after the other, in coroutines that differ in what comes between them:
 *
 *   plain   nothing; it yields after as many pieces as the one with checks did on average
 *   checks  weir_coro_maybe_yield()
 *   clock   a look at the clock each time, as the rte_coro prototype does it
 *
 * They take turns. What checks cost is the difference to plain in neighbouring turns: the work
 * and the switches are the same. See do_piece() for what of a check that is.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <rte_common.h>

#include <weir_coro.h>

#include "coro_maybe.h"

#define NB_SPACINGS  8192
#define TURN_NS      500000
#define ROUNDS_MIN   12
#define ROUNDS_MAX   4000
#define SLICES_MAX   20000
#define TURN_SLICES  50   /* of a side, one after the other */
#define TICKER_TURNS 1000 /* short ones, until a ticker tells something */
#define MARGIN_NS    50   /* by which times read in different places may differ */

/* A coroutine that does pieces of work for ever. */
struct side {
	struct weir_coro *coro;
	uint64_t pieces;
	uint64_t slices;
	uint32_t at, next;  /* spacing, and what it is */
	uint32_t run, rest; /* plain: pieces in a slice, in 1/65536 */
	uint64_t last,
		before_last; /* recorder: cycles at the last two checks, or where the slice began */
	uint64_t longest;    /* recorder: cycles between two of them in this slice */
};

enum {
	SIDE_PLAIN,
	SIDE_CHECKS,
	SIDE_CLOCK,
	SIDE_RECORDER,       /* like checks, but notes when they were */
	SIDE_RECORDER_CLOCK, /* likewise, of clock */
	NB_SIDES
};

/* Slices of a side while they are measured. */
struct counted {
	double *over; /* how much too long each was, ns */
	unsigned int nb, within, within_longest, first;
};

/* A kind of spacing, who works with it, and what was found of it. */
struct maybe_run {
	const struct weir_coro_ticker_param *ticker; /* NULL: none */
	bool ticker_lost;                            /* it did not start again */
	struct coro_maybe found;
	struct side sides[NB_SIDES];
};

static uint32_t table[NB_SPACINGS]; /* spacings, in steps of work */

static inline void
go_to(struct side *side, uint32_t at)
{
	side->at = at;
	side->next = table[at];
}

/* Nothing that follows begins before what came before is done. */
static inline void
wait_until_done(void)
{
#if defined(RTE_ARCH_X86)
	__asm__ volatile("lfence" ::: "memory");
#elif defined(RTE_ARCH_ARM64)
	__asm__ volatile("isb" ::: "memory");
#else
	__asm__ volatile("" ::: "memory"); /* some of a check may hide beside the end of the work */
#endif
}

/*
 * A core looks hundreds of instructions ahead: what follows a piece would be done long before its end, and cost nothing. So the end is waited for. What
 * comes then, a check, takes its place in the row before the next piece, of which all is known by then, and what the CPU did not foresee of it
 * holds that up. What it waits for itself, its data or the clock, the next piece does not wait for, as in any program. Work that keeps a core
 * busy with bringing in instructions would show the same without, but goes by a tenth faster or slower on some, as it happens to begin.
 */
static inline void
do_piece(struct side *side)
{
	coro_work(side->next);
	go_to(side, side->at + 1 == NB_SPACINGS ? 0 : side->at + 1);
	side->pieces++;
	wait_until_done();
}

static struct side *
own_side(void)
{
	return *(struct side **)weir_coro_self_in_param(sizeof(struct side *));
}

static void
run_plain(void)
{
	struct side *side = own_side();

	for (;;) {
		uint64_t goal = side->rest + (uint64_t)side->run;
		uint64_t left = goal >> 16;

		side->rest = goal & 0xffff;
		do {
			do_piece(side);
			/* As seldom taken as a check's, and as hard to foresee: not to be unrolled, nor turned into two loops. */
			__asm__ volatile("" : "+r"(left));
		} while (--left > 0);
		weir_coro_yield();
	}
}

static void
run_checks(void)
{
	struct side *side = own_side();

	for (;;) {
		do_piece(side);
		weir_coro_maybe_yield();
	}
}

static void
run_clock(void)
{
	const uint64_t slice = weir_base_ns_to_cycles(CORO_SLICE_NS);
	struct side *side = own_side();

	for (;;) {
		uint64_t begin = weir_base_cycles();

		do
			do_piece(side);
		while (weir_base_cycles() - begin < slice);
		weir_coro_yield();
	}
}

static inline void
record(struct side *side)
{
	side->before_last = side->last;
	side->last = weir_base_cycles();
	side->longest = RTE_MAX(side->longest, side->last - side->before_last);
}

static void
run_recorder(void)
{
	struct side *side = own_side();

	for (;;) {
		do_piece(side);
		record(side);
		weir_coro_maybe_yield();
	}
}

/* The most that looks can do: all checks are looked at, and the first one after the end of the slice ends it. */
static void
run_recorder_clock(void)
{
	const uint64_t slice = weir_base_ns_to_cycles(CORO_SLICE_NS);
	struct side *side = own_side();

	for (;;) {
		uint64_t begin = weir_base_cycles();

		do {
			do_piece(side);
			record(side);
		} while (weir_base_cycles() - begin < slice);
		weir_coro_yield();
	}
}

/* Let a side work until it has done so many pieces more, and yielded. */
static double
run_turn(struct side *side, uint64_t nb)
{
	uint64_t goal = side->pieces + nb, begin = weir_base_cycles();

	while (side->pieces < goal) {
		weir_coro_resume(side->coro);
		side->slices++;
	}
	return (double)(weir_base_cycles() - begin);
}

/* Of a piece of so many steps, with all that is around it. */
static double
time_of_piece(uint32_t steps)
{
	struct side side = {0};
	double samples[21];

	for (uint32_t i = 0; i < NB_SPACINGS; i++)
		table[i] = steps;
	go_to(&side, 0);
	for (unsigned int i = 0; i < RTE_DIM(samples); i++) {
		uint64_t begin = weir_base_cycles();

		for (unsigned int n = 0; n < 200; n++)
			do_piece(&side);
		samples[i] = coro_ns((double)(weir_base_cycles() - begin)) / 200;
	}
	return bench_figure_of(samples, RTE_DIM(samples)).median;
}

static void
fill_table(struct maybe_run *run)
{
	const double few = time_of_piece(20), many = time_of_piece(1000);
	const double per_step = (many - few) / 980;
	const double fixed = few - 20 * per_step;
	uint64_t state = 20241107;
	double ns, longest = 0;

	for (uint32_t i = 0; i < NB_SPACINGS; i++) {
		ns = coro_spacing_next(run->found.spacing, i, &state);
		longest = RTE_MAX(longest, ns);
		table[i] = (uint32_t)RTE_MAX(0.0, (ns - fixed) / per_step + 0.5);
	}
	run->found.longest_ns = longest;
}

static bool
make_sides(struct maybe_run *run)
{
	static const weir_coro_run_t runs[NB_SIDES] = {
		run_plain, run_checks, run_clock, run_recorder, run_recorder_clock};

	for (unsigned int s = 0; s < NB_SIDES; s++) {
		struct side *side = &run->sides[s];

		side->coro = weir_coro_create(runs[s]);
		if (side->coro == NULL)
			return false;
		*(struct side **)weir_coro_in_param(side->coro, sizeof(side)) = side;
		go_to(side, 0);
	}
	return true;
}

static void
remove_sides(struct maybe_run *run)
{
	for (unsigned int s = 0; s < NB_SIDES; s++)
		if (run->sides[s].coro != NULL)
			weir_coro_destroy(run->sides[s].coro);
}

/* Samples of a round, each by piece or slice of what was done in it. */
struct samples {
	double check[ROUNDS_MAX], clock[ROUNDS_MAX], plain[ROUNDS_MAX];
	double slice[ROUNDS_MAX], slice_clock[ROUNDS_MAX];
	double over[SLICES_MAX], over_clock[SLICES_MAX];
};

/* How many pieces take a turn? From then on, plain yields as often as checks did. */
static uint64_t
warm_up(struct maybe_run *run)
{
	struct side *checks = &run->sides[SIDE_CHECKS];
	uint64_t nb = 1, pieces, slices;
	double took, per_slice;

	while ((took = coro_ns(run_turn(checks, nb))) < TURN_NS / 2.0)
		nb *= 2;
	nb = (uint64_t)RTE_MAX(1.0, (double)nb * TURN_NS / took);
	pieces = checks->pieces;
	slices = checks->slices;
	for (unsigned int i = 0; i < 10; i++)
		run_turn(checks, nb);
	per_slice = (double)(checks->pieces - pieces) / (double)(checks->slices - slices);
	run->sides[SIDE_PLAIN].run = (uint32_t)RTE_MIN(RTE_MAX(per_slice, 1.0) * 65536, 4e9);
	return nb;
}

/*
 * The ticker watches checks, and nobody else: what it takes from the worker's core is part of what they cost. A turn begins when it has
 * told the end of a slice.
 */
static void
begin_turn(struct maybe_run *run, struct side *side, uint64_t nb)
{
	const uint64_t told = weir_coro_ticker_told();

	if (run->ticker == NULL || side != &run->sides[SIDE_CHECKS])
		return;
	run->ticker_lost |= weir_coro_ticker_start(run->ticker) < 0;
	for (unsigned int i = 0; i < TICKER_TURNS && weir_coro_ticker_told() == told; i++)
		run_turn(side, nb / 16 + 1);
}

static void
end_turn(const struct maybe_run *run, const struct side *side)
{
	if (run->ticker != NULL && side == &run->sides[SIDE_CHECKS])
		weir_coro_ticker_stop();
}

/* Each of three sides comes first, second and last, and after each of the others, also of the round before, equally often. */
static const uint8_t turns[6][3] = {
	{0, 1, 2}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}};

static void
measure_costs(const struct bench_options *options, struct maybe_run *run, struct samples *samples)
{
	const unsigned int most =
		options->rounds != 0 ? RTE_MIN(options->rounds, ROUNDS_MAX) : ROUNDS_MAX;
	const uint64_t nb = warm_up(run);
	const uint64_t begin_ns = weir_base_time_ns();
	unsigned int rounds;

	if (run->ticker != NULL)
		weir_coro_ticker_stop();
	for (rounds = 0; rounds < most; rounds++) {
		double cycles[3], pieces[3], slices[3];

		if (options->rounds == 0 && rounds >= ROUNDS_MIN &&
			(double)(weir_base_time_ns() - begin_ns) > options->seconds * 1e9)
			break;
		for (unsigned int i = 0; i < 3; i++) {
			const unsigned int s = turns[rounds % RTE_DIM(turns)][i];
			struct side *side = &run->sides[s];
			uint64_t pieces_before, slices_before;

			begin_turn(run, side, nb);
			pieces_before = side->pieces;
			slices_before = side->slices;
			/* All get the same pieces: sums of random ones differ by far more than what checks cost. */
			go_to(side, (uint32_t)(rounds * nb % NB_SPACINGS));
			cycles[s] = run_turn(side, nb);
			end_turn(run, side);
			pieces[s] = (double)(side->pieces - pieces_before);
			slices[s] = (double)(side->slices - slices_before);
		}
		samples->plain[rounds] = cycles[SIDE_PLAIN] / pieces[SIDE_PLAIN];
		samples->check[rounds] =
			cycles[SIDE_CHECKS] / pieces[SIDE_CHECKS] - samples->plain[rounds];
		samples->clock[rounds] =
			cycles[SIDE_CLOCK] / pieces[SIDE_CLOCK] - samples->plain[rounds];
		samples->slice[rounds] = cycles[SIDE_CHECKS] / slices[SIDE_CHECKS];
		samples->slice_clock[rounds] = cycles[SIDE_CLOCK] / slices[SIDE_CLOCK];
	}
	if (run->ticker != NULL)
		run->ticker_lost |= weir_coro_ticker_start(run->ticker) < 0;
	run->found.check = bench_figure_of(samples->check, rounds);
	run->found.clock = bench_figure_of(samples->clock, rounds);
	run->found.mean_ns = coro_ns(bench_figure_of(samples->plain, rounds).median);
	run->found.time_percent = coro_ns(run->found.check.median) / run->found.mean_ns * 100;
	run->found.slice_us = coro_ns(bench_figure_of(samples->slice, rounds).median) / 1e3;
	run->found.slice_clock_us =
		coro_ns(bench_figure_of(samples->slice_clock, rounds).median) / 1e3;
}

/* The same slices when their resumer does something else in between: mean of the middle half, in us. */
static double
measure_gaps(struct maybe_run *run, double *lengths, unsigned int nb)
{
	const uint64_t gap = weir_base_ns_to_cycles(CORO_GAP_NS);
	struct side *side = &run->sides[SIDE_CHECKS];
	double sum = 0;

	for (unsigned int i = 0; i < nb; i++) {
		uint64_t begin = weir_base_cycles(), end;

		while ((end = weir_base_cycles()) - begin < gap)
			;
		weir_coro_resume(side->coro);
		lengths[i] = coro_ns((double)(weir_base_cycles() - end));
	}
	side->slices += nb;
	bench_figure_of(lengths, nb); /* sorts them */
	for (unsigned int i = nb / 4; i < nb - nb / 4; i++)
		sum += lengths[i];
	return sum / (nb - nb / 4 - nb / 4) / 1e3;
}

/* A slice of a recorder: how much longer is it than configured, and did the check before the last one come in time? */
static bool
record_end(struct side *side, double *over)
{
	const uint64_t slice = weir_base_ns_to_cycles(CORO_SLICE_NS);
	const uint64_t margin = weir_base_ns_to_cycles(MARGIN_NS);
	const uint64_t begin = weir_base_cycles();

	side->last = begin;
	side->longest = 0;
	weir_coro_resume(side->coro);
	side->slices++;
	*over = coro_ns((double)(int64_t)(side->last - begin - slice));
	return side->before_last - begin <= slice + margin;
}

/* One slice more of a side. Where the kernel ran something else in a spacing, that one was longer than those of the work. */
static void
measure_end(struct side *side, struct counted *counted, double longest_ns)
{
	double *over = &counted->over[counted->nb++];

	counted->first += record_end(side, over);
	counted->within_longest += *over <= longest_ns + MARGIN_NS;
	longest_ns = RTE_MAX(longest_ns, coro_ns((double)side->longest));
	counted->within += *over <= longest_ns + MARGIN_NS;
}

static struct coro_ends
ends_of(const struct counted *counted)
{
	double *over = counted->over;
	const unsigned int nb = counted->nb;

	bench_figure_of(over, nb); /* sorts them */
	return (struct coro_ends){
		.within_share = (double)counted->within / nb,
		.longest_share = (double)counted->within_longest / nb,
		.first_share = (double)counted->first / nb,
		.over_p99_ns = over[nb - 1 - nb / 100],
		.over_most_ns = over[nb - 1],
	};
}

/* Ours and those that look at the clock each time, in turns: what else happens on this machine happens to both. */
static void
measure_ends(struct maybe_run *run, struct samples *samples, unsigned int nb)
{
	struct side *checks = &run->sides[SIDE_RECORDER], *clock = &run->sides[SIDE_RECORDER_CLOCK];
	struct counted ours = {.over = samples->over}, theirs = {.over = samples->over_clock};
	double over;

	/* Not measured: it learns. */
	for (unsigned int i = 0; i < nb / 10; i++)
		record_end(checks, &over);
	for (unsigned int i = 0; i < nb; i += TURN_SLICES) {
		const unsigned int end = RTE_MIN(nb, i + TURN_SLICES);

		for (unsigned int k = i; k < end; k++)
			measure_end(checks, &ours, run->found.longest_ns);
		for (unsigned int k = i; k < end; k++)
			measure_end(clock, &theirs, run->found.longest_ns);
	}
	run->found.ends = ends_of(&ours);
	run->found.ends_clock = ends_of(&theirs);
}

/* Every piece was followed by a check, and every slice was a switch. */
static bool
check_work(const struct maybe_run *run, struct bench_report *report)
{
	for (unsigned int s = 0; s < NB_SIDES; s++) {
		const struct side *side = &run->sides[s];
		uint64_t checks = weir_coro_maybe_yield_count(side->coro);
		uint64_t resumes = weir_coro_resume_count(side->coro);
		uint64_t expected = s == SIDE_CHECKS || s == SIDE_RECORDER ? side->pieces : 0;

		if (checks == expected && side->pieces > 0 && resumes == side->slices)
			continue;
		bench_report_failure(report, run->found.spacing->name,
			"%" PRIu64 " pieces of work, %" PRIu64 " checks, %" PRIu64 " of %" PRIu64
			" switches",
			side->pieces, checks, resumes, side->slices);
		return false;
	}
	return true;
}

static void
run_spacing(const struct bench_options *options, struct bench_report *report, struct maybe_run *run,
	struct samples *samples, double *lengths)
{
	const double fraction = options->rounds != 0 ? 0.01 : options->seconds / CORO_SECONDS;
	const unsigned int nb_slices =
		(unsigned int)RTE_MAX(100.0, RTE_MIN(1.0, fraction) * SLICES_MAX);

	fill_table(run);
	if (!make_sides(run)) {
		bench_report_failure(report, run->found.spacing->name, "cannot create coroutines");
	} else {
		measure_costs(options, run, samples);
		run->found.slice_gap_us = measure_gaps(run, lengths, nb_slices);
		measure_ends(run, samples, nb_slices);
		if (run->ticker_lost)
			bench_report_failure(
				report, run->found.spacing->name, "cannot start the ticker again");
		else if (check_work(run, report))
			coro_maybe_tell(&run->found, report);
	}
	remove_sides(run);
}

static void
run_spacings(const struct bench_options *options, struct bench_report *report,
	struct samples *samples, double *lengths, const struct weir_coro_ticker_param *ticker)
{
	for (size_t i = 0; i < coro_nb_spacings; i++) {
		struct maybe_run run = {.ticker = ticker, .found.spacing = &coro_spacings[i]};

		/* Regular ones have no need of it. */
		if (ticker == NULL || coro_spacings[i].pattern != CORO_PATTERN_REGULAR)
			run_spacing(options, report, &run, samples, lengths);
	}
}

static void
run_with_ticker(const struct bench_options *options, struct bench_report *report,
	struct samples *samples, double *lengths)
{
	const struct weir_coro_ticker_param param = {.cpu = coro_other_cpu()};
	uint64_t before = weir_coro_ticker_told();

	if (param.cpu < 0) {
		bench_say(report, "No other CPU for a ticker: not measured.\n");
		return;
	}
	if (weir_coro_ticker_start(&param) < 0) {
		bench_report_failure(report, "ticker", "cannot start");
		return;
	}
	bench_report_table(report, "maybe_yield_ticker", "The same with a ticker on another CPU");
	run_spacings(options, report, samples, lengths, &param);
	weir_coro_ticker_stop();
	if (weir_coro_ticker_told() == before)
		bench_report_failure(report, "ticker", "told the end of no slice");
}

void
coro_maybe_run(const struct bench_options *options, struct bench_report *report)
{
	struct samples *samples = calloc(1, sizeof(*samples));
	double *lengths = calloc(SLICES_MAX, sizeof(*lengths));
	double clock = coro_clock_read();

	report->peer = "clock read each time";
	report->work = report->object = "check";
	bench_report_table(report, "maybe_yield", "Checks whether a time slice of 10 us is over");
	json_object_set_new(report->root, "clock_read_ns", json_real(coro_ns(clock)));
	if (samples == NULL || lengths == NULL) {
		bench_report_failure(report, "maybe-yield", "not enough memory");
	} else {
		run_spacings(options, report, samples, lengths, NULL);
		run_with_ticker(options, report, samples, lengths);
	}
	bench_say(report, "A read of the clock takes %.1f cycles (%.1f ns).\n", clock,
		coro_ns(clock));
	free(samples);
	free(lengths);
}
