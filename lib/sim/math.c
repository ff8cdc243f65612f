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
 * x = 2^k m with m from sqrt(1/2) to sqrt(2). With s = (m - 1) / (m + 1), log m = 2 artanh s = 2 (s + s^3/3 + s^5/5 + ...).
 * |s| < 0.172, so the term of s^23 is below 2^-60 of the first.
 */
double
weir_sim_log(double x)
{
	uint64_t bits = bits_of(x), offset;
	double k = 0, m, f, s, z, z2, z4, low, high, tail;

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
	offset = bits - 0x3fe6a09e667f3bcdull; /* sqrt(1/2): the exponent changes there */
	k += (double)((int64_t)offset >> 52);
	m = double_of(bits - (offset & 0xfff0000000000000ull));
	f = m - 1; /* exact */
	s = f / (2 + f);
	z = s * s;
	z2 = z * z;
	z4 = z2 * z2;
	low = (1.0 / 3 + z * (1.0 / 5)) + z2 * (1.0 / 7 + z * (1.0 / 9));
	high = (1.0 / 11 + z * (1.0 / 13)) + z2 * (1.0 / 15 + z * (1.0 / 17));
	tail = (1.0 / 19 + z * (1.0 / 21)) + z2 * (1.0 / 23);
	low = low + z4 * (high + z4 * tail);
	/* 2 s = f - s f, of which f is exact. */
	return k * LN2_HIGH + (f - (s * (f - 2 * (z * low)) - k * LN2_LOW));
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
