/* SPDX-License-Identifier: BSD-3-Clause */

/* Sides of a case, and their slices in turns. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched_bench.h"

#define ROUNDS_MAX 10000

int
sched_turns_add(struct sched_turns *turns, enum sched_kind kind, const struct sched_shape *shape)
{
	struct sched_side *side = aligned_alloc(64, sizeof(*side));
	struct sched_slice *slices = calloc(ROUNDS_MAX, sizeof(*slices));
	int rc = -ENOMEM;

	if (side != NULL && slices != NULL)
		rc = sched_side_create(side, kind, shape);
	if (rc < 0) {
		free(side);
		free(slices);
		if (rc != -ENOTSUP)
			bench_report_failure(turns->report, turns->name, "%s: %s",
				sched_kind_name(kind), strerror(-rc));
		return rc;
	}
	turns->sides[turns->nb_sides] = side;
	turns->slices[turns->nb_sides] = slices;
	return (int)turns->nb_sides++;
}

void
sched_turns_end(struct sched_turns *turns)
{
	for (unsigned int s = 0; s < turns->nb_sides; s++) {
		sched_side_destroy(turns->sides[s]);
		free(turns->sides[s]);
		free(turns->slices[s]);
	}
}

double
sched_turns_median(const struct sched_turns *turns, unsigned int side, size_t offset)
{
	static double samples[ROUNDS_MAX];

	for (unsigned int r = 0; r < turns->nb_rounds; r++)
		memcpy(&samples[r], (const char *)&turns->slices[side][r] + offset,
			sizeof(samples[r]));
	return bench_figure_of(samples, turns->nb_rounds).median;
}

static void
take_figures(struct sched_turns *turns)
{
	static double samples[ROUNDS_MAX];

	for (unsigned int s = 0; s < turns->nb_sides; s++) {
		for (unsigned int r = 0; r < turns->nb_rounds; r++)
			samples[r] = turns->slices[s][r].cycles;
		turns->figures[s] = bench_figure_of(samples, turns->nb_rounds);
	}
}

bool
sched_turns_run(struct sched_turns *turns, uint64_t slice_ns, unsigned int rounds_min)
{
	const struct bench_options *options = turns->options;
	const uint64_t limit_ns = (uint64_t)(options->seconds * 1e9);
	const unsigned int warm_up = 2;
	uint64_t start_ns = 0;
	unsigned int rounds_max = options->rounds != 0
					  ? RTE_MIN(options->rounds, ROUNDS_MAX - warm_up)
					  : ROUNDS_MAX - warm_up;
	char why[256];

	for (unsigned int r = 0; r < rounds_max + warm_up; r++) {
		unsigned int at = r < warm_up ? 0 : r - warm_up;

		if (r == warm_up)
			start_ns = weir_base_time_ns();
		if (options->rounds == 0 && at >= rounds_min &&
			weir_base_time_ns() - start_ns >= limit_ns)
			break;
		sched_lines_look();
		for (unsigned int i = 0; i < turns->nb_sides; i++) {
			unsigned int s = r % 2 == 0 ? i : turns->nb_sides - 1 - i;

			if (!sched_slice_run(turns->sides[s], slice_ns, &turns->slices[s][at], why,
				    sizeof(why))) {
				bench_report_failure(turns->report, turns->name, "%s", why);
				return false;
			}
		}
		turns->nb_rounds = at + 1;
	}
	take_figures(turns);
	return true;
}

bool
sched_turns_add_all(struct sched_turns *turns, const struct sched_shape *shape)
{
	bool ok = sched_turns_add(turns, SCHED_OURS, shape) >= 0;

	for (enum sched_kind kind = SCHED_DSW; kind <= SCHED_OPDL && ok && !turns->options->ours;
		kind++) {
		int rc = sched_turns_add(turns, kind, shape);

		ok = rc >= 0 || rc == -ENOTSUP;
	}
	return ok;
}

void
sched_turns_case(const struct bench_options *options, struct bench_report *report,
	const struct sched_plan *plan, const char *name, size_t number)
{
	struct sched_turns turns = {.options = options, .report = report, .name = name};

	if (!bench_wanted(options, name))
		return;
	if (plan->add_sides(&turns, number) &&
		sched_turns_run(&turns, plan->slice_ns, plan->rounds_min))
		plan->report(&turns, number);
	sched_turns_end(&turns);
}
