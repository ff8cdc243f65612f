/* SPDX-License-Identifier: BSD-3-Clause */
/* The readers' side of tallies, levels and replications. */
#include <math.h>
#include <stddef.h>

#include "weir_sim_stats.h"

double
weir_sim_tally_mean(const struct weir_sim_tally *tally)
{
	return tally->count == 0 ? 0 : (double)tally->sum / (double)tally->count;
}

double
weir_sim_tally_sd(const struct weir_sim_tally *tally)
{
	weir_sim_u128 mean, rest, around;
	double n = (double)tally->count, left;

	if (tally->count < 2)
		return 0;
	left = ldexp((double)tally->squares_high, 128) + (double)tally->squares -
	       (double)tally->sum * ((double)tally->sum / n);
	if (left > 0x1p127)
		return sqrt(left / (n - 1));
	/*
	 * About the mean rounded down, in integers: nothing is lost where the spread is small beside the mean. Sums that went
	 * round at 2^128 come back, as their difference is below that.
	 */
	mean = tally->sum / tally->count;
	rest = tally->sum - mean * tally->count;
	around = tally->squares - mean * (tally->sum + rest);
	left = (double)around - (double)rest * (double)rest / n;
	return left > 0 ? sqrt(left / (n - 1)) : 0;
}

double
weir_sim_level_mean(const struct weir_sim_level *level, uint64_t span_ps)
{
	return span_ps == 0 ? 0 : (double)level->area / (double)span_ps;
}

/*
 * P(|T| < t). With theta = atan(t / sqrt(n)) it is a finite sum of powers of cos^2 theta:
 * n even: sin (1 + 1/2 cos^2 + 1*3/(2*4) cos^4 + ... to cos^(n-2));
 * n odd:  2/pi (theta + sin cos (1 + 2/3 cos^2 + 2*4/(3*5) cos^4 + ... to cos^(n-3))).
 * (Abramowitz, Stegun, 26.7.3 and 26.7.4.)
 */
static double
student_within(double t, unsigned int n)
{
	const double cos2 = n / (n + t * t), sine = t / sqrt(n + t * t);
	double term = 1, sum = n > 1 ? 1 : 0;
	unsigned int i;

	for (i = n % 2 == 0 ? 2 : 3; i < n; i += 2) {
		term *= cos2 * (i - 1) / i;
		sum += term;
	}
	if (n % 2 == 0)
		return sine * sum;
	return M_2_PI * (atan(t / sqrt(n)) + sine * sqrt(cos2) * sum);
}

double
weir_sim_student(double confidence, unsigned int freedom)
{
	double low = 0, high = 1, middle;
	unsigned int i;

	while (student_within(high, freedom) < confidence && high < 1e15)
		high *= 2;
	for (i = 0; i < 100; i++) {
		middle = (low + high) / 2;
		if (student_within(middle, freedom) < confidence)
			low = middle;
		else
			high = middle;
	}
	return high;
}

struct weir_sim_estimate
weir_sim_estimate(const double *values, unsigned int stride, unsigned int nb, double confidence)
{
	struct weir_sim_estimate estimate = {.half_width = INFINITY};
	double squares = 0, beyond = 0, first = NAN, distance;
	unsigned int i, there = 0;

	for (i = 0; i < nb; i++)
		if (!isnan(values[(size_t)i * stride]) && there++ == 0)
			first = values[(size_t)i * stride];
	/* From the first one on: of samples that are all the same the mean is that, to the last bit. */
	for (i = 0; i < nb; i++)
		if (!isnan(values[(size_t)i * stride]))
			beyond += (values[(size_t)i * stride] - first) / there;
	estimate.mean = first + beyond;
	if (there < 2)
		return estimate;
	for (i = 0; i < nb; i++) {
		distance = values[(size_t)i * stride] - estimate.mean;
		squares += isnan(distance) ? 0 : distance * distance;
	}
	estimate.sd = sqrt(squares / (there - 1));
	estimate.half_width = weir_sim_student(confidence, there - 1) * estimate.sd / sqrt(there);
	return estimate;
}
