/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_LATENCY_H
#define SIM_LATENCY_H

/* Times that packets took, and how much of each they were worked on. */

#include "weir_base_hist.h"
#include "weir_sim_stats.h"

struct sim_times {
	struct weir_sim_tally ps;
	struct weir_base_hist hist; /* only its classes, until sim_times_complete() */
};

struct sim_latency {
	struct sim_times all;
	weir_sim_u128 service_ps;
	weir_sim_u128 service_of[WEIR_BASE_HIST_BUCKETS]; /* ps, of those in each class */
};

/* @return the class */
static inline unsigned int
sim_times_add(struct sim_times *times, uint64_t ps)
{
	const unsigned int class = weir_base_hist_index(ps);

	weir_sim_tally_add(&times->ps, ps);
	times->hist.bucket[class]++;
	return class;
}

/* What the tally knows anyway, before the histogram is asked. */
static inline void
sim_times_complete(struct sim_times *times)
{
	times->hist.count = times->ps.count;
	times->hist.min = times->ps.min;
	times->hist.max = times->ps.max;
}

static inline void
sim_latency_add(struct sim_latency *latency, uint64_t all_ps, uint64_t service_ps)
{
	latency->service_of[sim_times_add(&latency->all, all_ps)] += service_ps;
	latency->service_ps += service_ps;
}

#endif
