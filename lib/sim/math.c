/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logarithm and exponential by basic operations alone, so that their bits are the same everywhere.
 *
 * Sums are written in the order in which they are to be added: pairs first, so that a processor can work on several
 * at a time. A compiler may not change it, as lib/sim is compiled without -ffast-math and without contraction.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "log_table.h"
#include "weir_sim_random.h"

#if FLT_EVAL_METHOD != 0
#error "doubles are not computed as doubles: results would differ from those of other machines"
#endif

/* ln 2 in two parts; the first has so few bits that its product with an exponent is exact. */
#define LN2_HIGH 0x1.62e42fefap-1
#define LN2_LOW  0x1.cf79abc9e3b39p-40

static inline uint64_t
bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline double
double_of(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/*
 * x = 2^k m with m from 0.6875 to 1.375. Of the piece of these that m is in, the table knows c and log c; with r = (m - c) / c,
 * log m = log c + r - r^2/2 + r^3/3 - ... |r| < 0.0079, so the term of r^9 is below 2^-58 of the first. In the two pieces that meet at
 * 1, c is 1: where the logarithm is small, r is exact.
 */
double
weir_sim_log(double x)
{
	uint64_t bits = bits_of(x), offset;
	double k = 0, m, r, r2, r4, low, high, log_c;
	unsigned int piece;

	if (!(x >= DBL_MIN) || x > DBL_MAX) { /* subnormal, 0, negative, infinite or no number */
		if (x == 0)
			return -INFINITY;
		if (!(x > 0))
			return NAN;
		if (x > DBL_MAX)
			return x;
		k = -54;
		bits = bits_of(x * 0x1p54);
	}
	offset = bits - 0x3fe6000000000000ull; /* 0.6875: the exponent changes there */
	piece = (unsigned int)(offset >> 45) % 128;
	k += (double)((int64_t)offset >> 52);
	m = double_of(bits - (offset & 0xfff0000000000000ull));
	r = (m - log_table[piece].middle) *
	    log_table[piece].reciprocal; /* the difference is exact */
	r2 = r * r;
	r4 = r2 * r2;
	low = (r * (1.0 / 3) - 1.0 / 2) + r2 * (r * (1.0 / 5) - 1.0 / 4);
	high = (r * (1.0 / 7) - 1.0 / 6) - r2 * (1.0 / 8);
	log_c = k * LN2_HIGH + log_table[piece].log; /* the product is exact */
	return log_c + (r + (k * LN2_LOW + r2 * (low + r4 * high)));
}

/* x = k ln 2 + r with |r| <= ln 2 / 2; then 2^k e^r, by the series. The term of r^15 is below 2^-62. */
double
weir_sim_exp(double x)
{
	double k, r, r2, r4, r8, a, b, c, sum;

	if (!(x <= 709.7))
		return x > 0 ? INFINITY : NAN;
	if (x < -708)
		return 0;
	k = x * 0x1.71547652b82fep+0; /* 1 / ln 2 */
	k = (double)(int64_t)(k + (k < 0 ? -0.5 : 0.5));
	r = (x - k * LN2_HIGH) - k * LN2_LOW;
	r2 = r * r;
	r4 = r2 * r2;
	r8 = r4 * r4;
	a = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
	b = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
	c = (1.0 / 3628800 + r * (1.0 / 39916800)) +
	    r2 * (1.0 / 479001600 + r * (1.0 / 6227020800 + r * (1.0 / 87178291200)));
	sum = 1 + (r + r2 * ((a + r4 * b) + r8 * c));
	return sum * double_of((uint64_t)(1023 + (int64_t)k) << 52);
}

double
weir_sim_pow(double x, double y)
{
	if (y == 0 || x == 1)
		return 1;
	if (x == 0)
		return y > 0 ? 0 : INFINITY;
	return weir_sim_exp(y * weir_sim_log(x));
}
