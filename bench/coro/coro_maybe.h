/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CORO_MAYBE_H
#define CORO_MAYBE_H

/* What weir_coro_maybe_yield() costs, and how long time slices become by it: between measuring and telling. */

#include "coro_bench.h"

#define CORO_GAP_NS 5000 /* what the resumer does between slices, in one of the measurements */

/* What comes between checks: so many steps of work. */
void coro_work(uint32_t nb_steps);

/* How slices ended. */
struct coro_ends {
	double within_share;  /* one spacing after their time at most, as long as it was */
	double longest_share; /* and no more than the longest that the work has */
	double first_share;   /* with the first check after it */
	double over_p99_ns, over_most_ns; /* how much later than that */
};

/* A kind of spacing and what was found of it. */
struct coro_maybe {
	const struct coro_spacing *spacing;
	double mean_ns, longest_ns;       /* spacings as they were */
	struct bench_figure check, clock; /* cycles of each */
	double time_percent;
	double slice_us, slice_gap_us, slice_clock_us;
	struct coro_ends ends, ends_clock;
};

/* A row of the table and the lines below it. What is too little to be seen becomes a little. */
void coro_maybe_tell(struct coro_maybe *run, struct bench_report *report);

#endif
