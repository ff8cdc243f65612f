/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_SIM_RANDOM_H
#define WEIR_SIM_RANDOM_H

/**
 * @file
 * Random numbers that are the same on every machine: named streams, elementary functions, distributions.
 *
 * Each source of chance in a model draws from a stream of its own, seeded by the run's seed, the replication and the
 * stream's *name*. A variant of a model that has a source of the same name draws the same numbers there, whatever else
 * it has (common random numbers).
 *
 * The functions use the basic operations and the square root of IEEE 754 doubles only, in a fixed order; lib/sim is
 * compiled without contraction. So their results have the same bits on every machine, which those of libm have not.
 *
 * Threads: a stream belongs to one thread at a time; all else may be called by any. Needs no DPDK.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A stream of random numbers: xoshiro256** (Blackman, Vigna, 2018), period 2^256 - 1. */
struct weir_sim_random {
	uint64_t state[4]; /**< not all zero */
};

/**
 * Begin a stream.
 *
 * @param seed         of the run
 * @param replication  from 0
 * @param name         of the source of chance; only its bytes count
 */
void weir_sim_random_init(
	struct weir_sim_random *random, uint64_t seed, uint64_t replication, const char *name);

/** 64 random bits. */
static inline uint64_t
weir_sim_random_u64(struct weir_sim_random *random)
{
	uint64_t *const s = random->state;
	const uint64_t five = s[1] * 5, out = ((five << 7) | (five >> 57)) * 9,
		       shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = (s[3] << 45) | (s[3] >> 19);
	return out;
}

/** Uniform in (0, 1), neither end: an odd multiple of 2^-53. */
static inline double
weir_sim_random_open(struct weir_sim_random *random)
{
	return ((double)(weir_sim_random_u64(random) >> 12) + 0.5) * 0x1p-52;
}

/** Uniform among 0 ... @p bound - 1, each exactly as likely. @p bound is not 0. */
uint64_t weir_sim_random_below(struct weir_sim_random *random, uint64_t bound);

/** Natural logarithm, within 2 units in the last place. Of 0: -infinity; of what is below, or no number: NaN. */
double weir_sim_log(double x);

/** e to the power of @p x, within 2 units in the last place; infinity above 709.7, 0 below -708 (no subnormal results). */
double weir_sim_exp(double x);

/** @p x to the power of @p y, for x >= 0: by weir_sim_exp() and weir_sim_log(), with a relative error of up to |y log x| 2^-52. */
double weir_sim_pow(double x, double y);

/** Kinds of distributions, each with its parametrisation. */
enum weir_sim_dist_kind {
	WEIR_SIM_DIST_CONSTANT,    /**< always a */
	WEIR_SIM_DIST_UNIFORM,     /**< continuous from a to b; mean (a + b) / 2 */
	WEIR_SIM_DIST_EXPONENTIAL, /**< mean a (rate 1 / a) */
	WEIR_SIM_DIST_LOGNORMAL, /**< exp(N), N normal with mean a = mu and standard deviation b = sigma */
};

/** A distribution of numbers that are not negative. */
struct weir_sim_dist {
	enum weir_sim_dist_kind kind; /**< which */
	double a;                     /**< see there */
	double b;                     /**< see there */
};

/** The lognormal distribution of that mean: mu = log(mean) - sigma^2 / 2. */
struct weir_sim_dist weir_sim_dist_lognormal(double mean, double sigma);

/** One number. Draws nothing from @p random if it is constant. */
double weir_sim_dist_draw(const struct weir_sim_dist *dist, struct weir_sim_random *random);

/** Its mean. */
double weir_sim_dist_mean(const struct weir_sim_dist *dist);

/**
 * An empirical distribution: value i with probability weight i / sum of the weights; nothing between the values.
 * Immutable once made: any number of threads may draw from it.
 */
struct weir_sim_table {
	uint32_t nb;    /**< values; 0: an empty one, of which nothing is drawn */
	double *values; /**< none of them negative */
	double *upto;   /**< sum of the weights up to and with each */
};

/**
 * Make one.
 *
 * @param weights  one per value, not negative, not all 0; NULL: each is as likely
 * @param nb       1 or more
 * @return 0; -ENOMEM
 */
int weir_sim_table_init(
	struct weir_sim_table *table, const double *values, const double *weights, uint32_t nb);

/** Free what it has. It is empty then. */
void weir_sim_table_free(struct weir_sim_table *table);

/** One value; log2(nb) comparisons. The table is not empty. */
double weir_sim_table_draw(const struct weir_sim_table *table, struct weir_sim_random *random);

/** Mean; 0 when empty. */
double weir_sim_table_mean(const struct weir_sim_table *table);

/**
 * Zipf's distribution of ranks 0 ... nb - 1: rank k has a probability proportional to 1 / (k + 1)^skew.
 * With skew 0 each is as likely.
 */
struct weir_sim_zipf {
	uint64_t nb;   /**< ranks */
	double skew;   /**< exponent */
	double from;   /**< where what it inverts begins: see random_zipf.c */
	double to;     /**< and where it ends */
	double always; /**< as far from a rank nothing is drawn again */
};

/** Make one of @p nb ranks (1 or more) and an exponent that is not negative. */
void weir_sim_zipf_init(struct weir_sim_zipf *zipf, uint64_t nb, double skew);

/** One rank, in a time that does not depend on their number: less than two tries in the mean. */
uint64_t weir_sim_zipf_draw(const struct weir_sim_zipf *zipf, struct weir_sim_random *random);

#ifdef __cplusplus
}
#endif

#endif
