/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of random numbers, and distributions. */
#include <math.h>

#include "weir_sim_random.h"

/* SplitMix64 (Steele, Lea, Flood, 2014): what xoshiro's authors seed it with. */
static uint64_t
split(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

void
weir_sim_random_init(
	struct weir_sim_random *random, uint64_t seed, uint64_t replication, const char *name)
{
	uint64_t state = 0xcbf29ce484222325ull; /* FNV-1a of the name */
	unsigned int i;

	for (; *name != '\0'; name++)
		state = (state ^ (unsigned char)*name) * 0x100000001b3ull;
	/* Each part is mixed before the next one comes, so that no two of them can stand for each other. */
	state = split(&state) ^ seed;
	state = split(&state) ^ replication;
	for (i = 0; i < 4; i++)
		random->state[i] = split(&state);
}

uint64_t
weir_sim_random_below(struct weir_sim_random *random, uint64_t bound)
{
	/* The upper half of a product (Lemire, 2019): what is left over below the threshold is drawn again. */
	__extension__ unsigned __int128 product;
	const uint64_t threshold = (0 - bound) % bound;

	do
		product = (unsigned __int128)weir_sim_random_u64(random) * bound;
	while ((uint64_t)product < threshold);
	return (uint64_t)(product >> 64);
}

struct weir_sim_dist
weir_sim_dist_lognormal(double mean, double sigma)
{
	return (struct weir_sim_dist){WEIR_SIM_DIST_LOGNORMAL,
		mean > 0 ? weir_sim_log(mean) - sigma * sigma / 2 : -INFINITY, sigma};
}

/* A standard normal number by Marsaglia's polar method. The second one that comes with it is not kept: no hidden state. */
static double
normal(struct weir_sim_random *random)
{
	double u, v, s;

	do {
		u = 2 * weir_sim_random_open(random) - 1;
		v = 2 * weir_sim_random_open(random) - 1;
		s = u * u + v * v;
	} while (s >= 1 || s == 0);
	return u * sqrt(-2 * weir_sim_log(s) / s);
}

double
weir_sim_dist_draw(const struct weir_sim_dist *dist, struct weir_sim_random *random)
{
	switch (dist->kind) {
	case WEIR_SIM_DIST_UNIFORM:
		return dist->a + (dist->b - dist->a) * weir_sim_random_open(random);
	case WEIR_SIM_DIST_EXPONENTIAL:
		return -dist->a * weir_sim_log(weir_sim_random_open(random));
	case WEIR_SIM_DIST_LOGNORMAL:
		return isinf(dist->a) ? 0 : weir_sim_exp(dist->a + dist->b * normal(random));
	case WEIR_SIM_DIST_CONSTANT:
		break;
	}
	return dist->a;
}

double
weir_sim_dist_mean(const struct weir_sim_dist *dist)
{
	switch (dist->kind) {
	case WEIR_SIM_DIST_UNIFORM:
		return (dist->a + dist->b) / 2;
	case WEIR_SIM_DIST_LOGNORMAL:
		return isinf(dist->a) ? 0 : weir_sim_exp(dist->a + dist->b * dist->b / 2);
	case WEIR_SIM_DIST_EXPONENTIAL:
	case WEIR_SIM_DIST_CONSTANT:
		break;
	}
	return dist->a;
}
