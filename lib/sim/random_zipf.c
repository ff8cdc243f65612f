/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Zipf's distribution by rejection-inversion (Hoermann, Derflinger, 1996).
 *
 * With ranks from 1 on, h(x) = x^-skew, and H an integral of h: a number u, uniform between two values of H, is inverted to
 * x, and x is rounded to a rank k. The part of the range of u that is rounded to k is as long as the area below h from
 * k - 1/2 to k + 1/2, which is h(k) or more as h is convex; only the part of length h(k) at its upper end is taken. The range
 * begins where that part of rank 1 does, so that of rank 1 nothing is drawn again; `always` is how far below k that is
 * certain for each k, without looking at H again.
 */
#include "weir_sim_random.h"

/* (e^t - 1) / t, to 8 digits also where t is next to nothing. */
static inline double
exp_ratio(double t)
{
	return t > -1e-8 && t < 1e-8 ? 1 : (weir_sim_exp(t) - 1) / t;
}

/* log(1 + t) / t, likewise. */
static inline double
log_ratio(double t)
{
	return t > -1e-8 && t < 1e-8 ? 1 : weir_sim_log(1 + t) / t;
}

/* (x^(1 - skew) - 1) / (1 - skew), which is log x where skew is 1. */
static inline double
integral(double x, double skew)
{
	const double log_x = weir_sim_log(x);

	return exp_ratio((1 - skew) * log_x) * log_x;
}

static inline double
inverse(double u, double skew)
{
	double t = u * (1 - skew);

	if (t < -1) /* by rounding: x is beyond all ranks */
		t = -1;
	return weir_sim_exp(log_ratio(t) * u);
}

void
weir_sim_zipf_init(struct weir_sim_zipf *zipf, uint64_t nb, double skew)
{
	*zipf = (struct weir_sim_zipf){
		.nb = nb,
		.skew = skew,
		.from = integral(1.5, skew) - 1,
		.to = integral((double)nb + 0.5, skew),
		.always = 2 - inverse(integral(2.5, skew) - weir_sim_pow(2, -skew), skew),
	};
}

uint64_t
weir_sim_zipf_draw(const struct weir_sim_zipf *zipf, struct weir_sim_random *random)
{
	double u, x, k;

	for (;;) {
		u = zipf->to + weir_sim_random_open(random) * (zipf->from - zipf->to);
		x = inverse(u, zipf->skew);
		k = x < 1                  ? 1
		    : x > (double)zipf->nb ? (double)zipf->nb
					   : (double)(uint64_t)(x + 0.5);
		if (k - x <= zipf->always ||
			u >= integral(k + 0.5, zipf->skew) - weir_sim_pow(k, -zipf->skew))
			return (uint64_t)k - 1;
	}
}
