/* SPDX-License-Identifier: BSD-3-Clause */

/* Slices in turns, and their medians. */

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include <rte_common.h>

#include <weir_base.h>

#include "harness.h"

#define SLICE_NS           1000000
#define ROUNDS_MIN         9
#define ROUNDS_MAX         100000
#define WARM_UP_SLICES     3
#define CALIBRATION_SLICES 3

bool
bench_wanted(const struct bench_options *options, const char *name)
{
	return options->case_pattern == NULL || fnmatch(options->case_pattern, name, 0) == 0;
}

static const char *
name_at(const char *const *first, size_t size, size_t i)
{
	return *(const char *const *)((uintptr_t)first + i * size);
}

bool
bench_any_wanted(
	const struct bench_options *options, const char *const *first, size_t size, size_t nb)
{
	for (size_t i = 0; i < nb; i++)
		if (bench_wanted(options, name_at(first, size, i)))
			return true;
	return false;
}

void
bench_list(const char *const *first, size_t size, size_t nb)
{
	for (size_t i = 0; i < nb; i++)
		printf("%s\n", name_at(first, size, i));
}

int
bench_no_case(const struct bench *bench, const struct bench_options *options)
{
	fprintf(stderr, "weir bench %s: no case matches '%s'; `weir bench %s --list` names them\n",
		bench->name, options->case_pattern, bench->name);
	return 2;
}

static uint64_t
run_slice(const struct bench_side *side, uint64_t nb)
{
	uint64_t start, passed;

	if (side->prepare != NULL)
		side->prepare(side->arg);
	start = weir_base_cycles();
	side->slice(side->arg, nb);
	passed = weir_base_cycles() - start;
	return side->cycles != NULL ? side->cycles(side->arg) : passed;
}

/*
 * The quickest of some slices, in cycles. A thread that loses its CPU once, while one call is measured, would make that call's slice look
 * full, and all figures would be of slices of one call.
 */
static uint64_t
quickest_slice(const struct bench_side *side, uint64_t nb)
{
	uint64_t quickest = UINT64_MAX;

	for (unsigned int i = 0; i < CALIBRATION_SLICES; i++)
		quickest = RTE_MIN(quickest, run_slice(side, nb));
	return quickest;
}

/* How much work fills a slice of the slowest side? All sides do the same work meanwhile. */
static uint64_t
calibrate(const struct bench_side *sides, unsigned int nb_sides, uint64_t *total)
{
	const uint64_t slice = weir_base_ns_to_cycles(SLICE_NS);
	uint64_t nb, slowest;

	for (nb = 1;; nb *= 2) {
		slowest = 0;
		for (unsigned int s = 0; s < nb_sides; s++)
			slowest = RTE_MAX(slowest, quickest_slice(&sides[s], nb));
		*total += nb * CALIBRATION_SLICES;
		if (slowest >= slice / 2 || nb > UINT64_MAX / 4)
			break;
	}
	return nb * slice / slowest > 0 ? nb * slice / slowest : 1;
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct bench_figure
bench_figure_of(double *samples, unsigned int nb)
{
	struct bench_figure figure;

	qsort(samples, nb, sizeof(*samples), compare_doubles);
	figure.median = nb % 2 != 0 ? samples[nb / 2] : (samples[nb / 2 - 1] + samples[nb / 2]) / 2;
	figure.low = samples[nb / 10];
	figure.high = samples[nb - 1 - nb / 10];
	return figure;
}

int
bench_compare(const struct bench_options *options, const struct bench_side *sides,
	unsigned int nb_sides, uint64_t nb, struct bench_figure *figures, uint64_t *total)
{
	const uint64_t limit_ns = (uint64_t)(options->seconds * 1e9);
	const unsigned int rounds_max = options->rounds != 0 ? options->rounds : ROUNDS_MAX;
	uint64_t start_ns;
	unsigned int rounds;
	double *samples;

	samples = calloc((size_t)nb_sides * rounds_max, sizeof(*samples));
	if (samples == NULL)
		return -ENOMEM;
	*total = 0;
	if (nb == 0)
		nb = calibrate(sides, nb_sides, total);
	for (unsigned int i = 0; i < WARM_UP_SLICES; i++, *total += nb)
		for (unsigned int s = 0; s < nb_sides; s++)
			run_slice(&sides[s], nb);
	start_ns = weir_base_time_ns();
	for (rounds = 0; rounds < rounds_max; rounds++, *total += nb) {
		if (options->rounds == 0 && rounds >= ROUNDS_MIN &&
			weir_base_time_ns() - start_ns >= limit_ns)
			break;
		for (unsigned int i = 0; i < nb_sides; i++) {
			unsigned int s = rounds % 2 == 0 ? i : nb_sides - 1 - i;

			samples[(size_t)s * rounds_max + rounds] =
				(double)run_slice(&sides[s], nb) / (double)nb;
		}
	}
	for (unsigned int s = 0; s < nb_sides; s++)
		figures[s] = bench_figure_of(&samples[(size_t)s * rounds_max], rounds);
	free(samples);
	return 0;
}
