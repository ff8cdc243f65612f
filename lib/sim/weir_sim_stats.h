/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_SIM_STATS_H
#define WEIR_SIM_STATS_H

/**
 * @file
 * What a simulation counts: tallies of values, levels over time, estimates over replications.
 *
 * Sums are integers of 128 bits: exact, the same in any order, and no division per value.
 *
 * Threads: one writer; readers when it rests. Needs no DPDK.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A sum of products of 64-bit numbers. */
__extension__ typedef unsigned __int128 weir_sim_u128;

/** Values: how many, their mean, spread and ends. All zero is a valid empty one. */
struct weir_sim_tally {
	uint64_t count;        /**< values */
	uint64_t min;          /**< smallest; meaningless when count is 0 */
	uint64_t max;          /**< largest; 0 when count is 0 */
	uint64_t squares_high; /**< bits of the sum of squares from the 128th on */
	weir_sim_u128 sum;     /**< of the values */
	weir_sim_u128 squares; /**< of their squares: its lower 128 bits */
};

/** Add a value. */
static inline void
weir_sim_tally_add(struct weir_sim_tally *tally, uint64_t value)
{
	if (tally->count == 0 || value < tally->min)
		tally->min = value;
	if (value > tally->max)
		tally->max = value;
	tally->count++;
	tally->sum += value;
	tally->squares_high += __builtin_add_overflow(
		tally->squares, (weir_sim_u128)value * value, &tally->squares);
}

/** Mean; 0 when empty. */
double weir_sim_tally_mean(const struct weir_sim_tally *tally);

/** Standard deviation of the values as a sample (divisor count - 1); 0 for less than two. */
double weir_sim_tally_sd(const struct weir_sim_tally *tally);

/** A level that changes by jumps: how many wait, how many are busy. All zero is a valid one, at level 0 since time 0. */
struct weir_sim_level {
	uint64_t value;     /**< now */
	uint64_t max;       /**< most so far */
	uint64_t since_ps;  /**< of its last change */
	weir_sim_u128 area; /**< its integral over time up to then, in units times ps */
};

/** Account for the time up to @p now_ps, which is not before the last change. */
static inline void
weir_sim_level_advance(struct weir_sim_level *level, uint64_t now_ps)
{
	level->area += (weir_sim_u128)level->value * (now_ps - level->since_ps);
	level->since_ps = now_ps;
}

/** It is @p value from now on. */
static inline void
weir_sim_level_set(struct weir_sim_level *level, uint64_t now_ps, uint64_t value)
{
	weir_sim_level_advance(level, now_ps);
	level->value = value;
	if (value > level->max)
		level->max = value;
}

/** Forget what was up to now; the level stays. */
static inline void
weir_sim_level_restart(struct weir_sim_level *level, uint64_t now_ps)
{
	level->since_ps = now_ps;
	level->max = level->value;
	level->area = 0;
}

/** Mean over @p span_ps, which is the time since the beginning or the restart; 0 when that is 0. */
double weir_sim_level_mean(const struct weir_sim_level *level, uint64_t span_ps);

/** What replications tell of a quantity: independent, alike, and taken for normal. */
struct weir_sim_estimate {
	double mean;       /**< over replications; NaN: there is none in which it was measured */
	double sd;         /**< standard deviation of one replication; 0 for less than two */
	double half_width; /**< the confidence interval is mean +- this; infinite for less than two */
};

/**
 * Estimate the mean of what @p values are samples of.
 *
 * @param values      one a replication; those that are NaN do not count: there was nothing to measure
 * @param stride      distance between them, in doubles
 * @param nb          how many
 * @param confidence  such as 0.95: how probable it is that the interval holds the true mean
 */
struct weir_sim_estimate weir_sim_estimate(
	const double *values, unsigned int stride, unsigned int nb, double confidence);

/**
 * Quantile of Student's t distribution with @p freedom degrees of freedom (1 or more): |T| is below it with
 * probability @p confidence (above 0, below 1). For reports: by libm, to 10 digits.
 */
double weir_sim_student(double confidence, unsigned int freedom);

#ifdef __cplusplus
}
#endif

#endif
