/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How far apart are checks, and how many may be counted before the clock must be looked at again?
 *
 * Who looks each time overshoots by one spacing at most, up to the longest one, L. The same is aimed at here, with as few
 * looks as it allows: with R left the next look is so many checks ahead that it nearly always comes before R + L.
 *
 *     resumed, look               look      look  deadline
 *       |--------------------------|---------|---|.........| L
 *                 n checks
 *
 * Two reasons to believe that of n checks, and the one that allows more of them counts:
 *
 *     n L <= R + L                   however they are spaced
 *     n m + 3 s sqrt(n) <= R + A     with their mean m and standard deviation s
 *
 * where A is less than L, because sums of a few spacings are further off than 3 s sqrt(n) more often than those of many: 2/3 of it;
 * and no more than twice m + s^2/m, the spacing in which a moment is on average, as L may be known too long for a while.
 *
 * The first is a line over R, n = 1 + R/L. The second bends upwards, and is replaced by its tangent at half a slice, which is
 * nowhere more. So a look has one multiplication to do. Of regular checks s = 0, and the end is the check next to the deadline.
 *
 * Where nothing is known each check of the first slice is looked at, or of the first ones: then L is the longest of them, and s as large as
 * it may be with that.
 *
 * L is learned from slices in which each check is looked at, one of many, and forgotten slowly; m and s from the first two
 * looks of slices that have them, one of several where nothing is new. That s is of means of several checks: where long ones come in rows it is large, and it is
 * the first reason that holds. A look that something disturbed tells nothing: tells_nothing().
 */

#include <math.h>

#include "coro_private.h"

#define WEIGHT           0.25f         /* of the newest look in the mean */
#define VARIANCE_WEIGHT  0.0625f       /* and in the variance, of which one look tells less */
#define FORGET           (1 / 1024.0f) /* of the longest, at each look that learns */
#define DEVIATIONS       3.0f
#define OUTLIER          16.0f  /* times the mean: as much more than it at most */
#define AGREES           0.025f /* of the mean: what was seen confirms it; or half a check */
#define DISTURBED        0.5f   /* of a slice: so much interrupts take, */
#define DISTURBED_NS     20000  /* and no more than this */
#define DISTURBANCE      4      /* looks that have to fit for each one that tells nothing, */
#define DISTURBANCES_MAX 12     /* which may come so much sooner */
#define FORGIVEN         2 /* slices that came out as expected before one that was disturbed, at least */

/*
 * Where each check of a slice looks at the clock: with so few checks in it, or so few of the longest spacings where n L tells when to
 * look. A look by a check that nothing was counted for costs a part of another one, which the CPU did not foresee, unless the clock is a function.
 */
#if defined(__x86_64__) || defined(__aarch64__)
#define SPARSE 19.0f
#define FAR    6.0f
#else
#define SPARSE 3.0f
#define FAR    1.0f
#endif
#define SPARSE_SLICE_MAX 4e9f /* cycles: such checks are counted in 31 bits */

#define FEWEST    3    /* checks that a first slice has to have to tell anything of them, */
#define FIRSTS    4    /* before the fourth resumption */
#define LITTLE    8    /* checks: what fewer have told is not kept */
#define APART     4.0f /* times as long as any other one: it is no spacing */
#define TRUST_MAX (CORO_PACE_REGULAR + 4)

#define SILENT                                                                                     \
	16 /* ended without a check, and none had one: the next one will not have any either */

/* Coroutines that run the same function, one after the other, are taken to be alike: what was learned last. */
struct pace {
	weir_coro_run_t run;
	float spacing, variance, longest;
	uint32_t learned;
	uint8_t trust;
	uint8_t silent; /* so many in a row ended without a check, SILENT at most */
};

#define PACES 8 /* of which a thread keeps note */

static __thread struct pace paces[PACES];

static struct pace *
pace_of(weir_coro_run_t run)
{
	return &paces[(uintptr_t)run / 16 % PACES];
}

bool
coro_pace_recall(struct weir_coro_block *block)
{
	const struct pace *pace = pace_of(block->run);
	const bool same = pace->run == block->run, known = same && pace->learned >= LITTLE;

	block->spacing = known ? pace->spacing : 0;
	block->variance = known ? pace->variance : 0;
	block->longest = known ? pace->longest : 0;
	block->learned = known ? pace->learned : 0;
	block->trust = known ? pace->trust : 0;
	block->surprised = false;
	block->disturbances = 0;
	coro_pace_draw(block);
	return same && pace->silent == SILENT;
}

static bool
never_checked(const struct weir_coro_block *block)
{
	return block->checks == 0 && block->checks_left == block->checks_given;
}

/* One may have returned early: several tell that the function has no checks. */
static void
remember_silence(struct pace *pace, weir_coro_run_t run)
{
	if (pace->run != run)
		*pace = (struct pace){.run = run};
	if (pace->spacing == 0 && pace->silent < SILENT)
		pace->silent++;
}

/* It checks. */
static void
forget_silence(const struct weir_coro_block *block)
{
	struct pace *pace = pace_of(block->run);

	if (pace->run == block->run)
		pace->silent = 0;
}

/* Who knows less than what is known, as it ended soon, does not replace that. */
static void
remember_spacing(struct pace *pace, const struct weir_coro_block *block)
{
	if (pace->run != block->run || pace->learned <= block->learned)
		*pace = (struct pace){block->run, block->spacing, block->variance, block->longest,
			block->learned, block->trust, 0};
}

void
coro_pace_remember(struct weir_coro_block *block)
{
	coro_pace_survey(block, block->checks);
	if (block->spacing > 0)
		remember_spacing(pace_of(block->run), block);
	else if (!never_checked(block))
		forget_silence(block);
	/* Who was cancelled may not have run at all. */
	else if (!__atomic_load_n(&block->cancelled, __ATOMIC_RELAXED))
		remember_silence(pace_of(block->run), block->run);
}

/* The line that tells how many checks may be skipped. */
void
coro_pace_draw(struct weir_coro_block *block)
{
	const float half = 0.5f * (float)coro_slice_of(block), m = block->spacing;
	float c, root, nb, over;
	bool often = false; /* to be looked */

	block->sparse = false;
	if (m <= 0) { /* nothing is known: each check */
		block->skip_least = 1;
		block->skip_rate = 0;
		return;
	}
	if (coro_pace_is_regular(block)) { /* to the check next to the deadline */
		block->skip_least = 0.5f;
		block->skip_rate = 1 / m;
		return;
	}
	/* n m + 2 c sqrt(n) = half + over */
	c = 0.5f * DEVIATIONS * sqrtf(block->variance);
	over = fminf(2 / 3.0f * block->longest, 2 * (m + block->variance / m));
	root = (sqrtf(c * c + m * (half + over)) - c) / m;
	nb = root * root;
	if (nb * block->longest > half + block->longest) {
		block->skip_rate = root / (m * root + c);
		block->skip_least = nb - block->skip_rate * half;
	} else {
		block->skip_rate = 1 / block->longest;
		block->skip_least = 1;
		often = block->longest * FAR > 2 * half;
	}
	block->sparse = (often || m * SPARSE > 2 * half) && 2 * half < SPARSE_SLICE_MAX;
}

/* Would a slice have ended well by count, if checks took @observed instead of what was expected? */
static bool
agrees(const struct weir_coro_block *block, float observed)
{
	float off = fabsf(observed - block->spacing);
	float least = observed < block->spacing ? observed : block->spacing;
	float slice = (float)coro_slice_of(block);

	return off <= AGREES * least || off * slice <= 0.5f * least * least;
}

/* Is the deviation of a slice of as many checks as expected no more than that? */
static bool
varies_little(const struct weir_coro_block *block)
{
	float slice = (float)coro_slice_of(block), m = block->spacing;
	float variance = block->variance * slice; /* by m, as the limits are */

	return variance <= AGREES * AGREES * slice * slice * m || variance <= 0.25f * m * m * m;
}

/* No more than that is no surprise where checks are irregular. */
static float
usual_square(const struct weir_coro_block *block)
{
	return CORO_PACE_SURPRISE * CORO_PACE_SURPRISE * block->variance;
}

/*
 * @square: of what a look is off, as the variance has it. One that is far off is the kernel's, which ran something else, as a rule: only
 * the next one tells if it is to last. That it may be is allowed for.
 */
static bool
is_surprise(struct weir_coro_block *block, float *square)
{
	const float most = OUTLIER * OUTLIER * block->spacing * block->spacing;
	const float usual = usual_square(block);

	block->surprised = !block->surprised && *square > usual;
	*square = fminf(*square, block->surprised ? usual : most);
	return block->surprised;
}

/* Is it longer than expected by as much as an interrupt takes, or another machine on the same CPU that has its turn? */
static bool
is_little_longer(const struct weir_coro_block *block, float nb, float cycles)
{
	const float off = cycles - nb * block->spacing,
		    most = DISTURBED * (float)coro_slice_of(block);

	return off > 0 && off <= fminf(most, (float)weir_base_ns_to_cycles(DISTURBED_NS));
}

/*
 * Such a look tells nothing of checks, unless there are too many of them: then it is these that are so. Where checks have been regular for
 * some slices they stay so, and the next ones end with a look each; else they have to be anew, and none disturbed for as long.
 *
 * @fits: it came out as expected
 */
static bool
tells_nothing(struct weir_coro_block *block, float nb, float cycles, bool fits)
{
	const bool stays = block->trust >= CORO_PACE_REGULAR + FORGIVEN;

	if (fits) {
		block->disturbances -= block->disturbances > 0;
		return false;
	}
	if (block->disturbances > DISTURBANCES_MAX - DISTURBANCE ||
		!is_little_longer(block, nb, cycles))
		return false;
	if (stays || block->trust == 0)
		block->disturbances += DISTURBANCE;
	block->trust = stays ? CORO_PACE_REGULAR : 0;
	return true;
}

/* Of what lies between 0 and the longest, with this mean, no more can be the variance (Bhatia and Davis, 2000). */
static float
most_variance(float mean, float longest)
{
	return mean * (longest - mean);
}

/*
 * None was looked at. Or a first slice was over after a check or two, as memory is touched for the first time, which takes long: that tells
 * nothing of checks, and each one of the next slice that begins with a look is looked at, too. Not for ever: they may be as far apart as that.
 */
static bool
tells_too_little(const struct weir_coro_block *block, uint64_t nb)
{
	return block->longest == 0 || (nb < FEWEST && block->looked_in < FIRSTS);
}

/*
 * block->longest and block->variance are the longest and the second longest of them. One that is much longer than all others was the kernel's, as a rule,
 * or the first one to touch something: it is left out.
 */
static void
survey(struct weir_coro_block *block, uint32_t nb, uint64_t cycles)
{
	const float longest = block->longest, second = block->variance;
	const bool left_out = nb > 2 && longest > APART * second;
	/* More than the longest: others ran meanwhile, or it was just given another slice. */
	float mean = fminf((float)cycles / (float)nb, longest);

	if (left_out)
		mean = fminf(fmaxf((float)cycles - longest, 0) / (float)(nb - 1), second);
	block->spacing = mean;
	block->longest = left_out ? second : longest;
	block->variance = fmaxf(most_variance(mean, block->longest), mean * mean / 16);
	coro_pace_draw(block);
}

void
coro_pace_survey_anew(struct weir_coro_block *block, uint64_t checks)
{
	block->learned = (uint32_t)checks;
	block->longest = block->variance = 0;
}

void
coro_pace_survey(struct weir_coro_block *block, uint64_t checks)
{
	const uint64_t begin = block->deadline - coro_slice_of(block);
	const uint64_t nb = checks - block->learned;

	if (!coro_pace_surveys(block, block->looked_in) || nb == 0)
		return;
	forget_silence(block);
	if (tells_too_little(block, nb)) {
		coro_pace_survey_anew(block, checks);
		return;
	}
	block->learned = (uint32_t)checks;
	survey(block, (uint32_t)nb, block->looked - begin);
}

static void
learn(struct weir_coro_block *block, float nb, float cycles)
{
	float observed = cycles / nb, off = observed - block->spacing;
	float square = off * off * nb; /* the mean of nb of them varies nb times less than one */
	bool fits;

	if (block->spacing == 0) {
		forget_silence(block);
		block->spacing = observed;
		block->longest = fmaxf(block->longest, observed);
		block->variance = observed * observed / 16;
		return;
	}
	fits = agrees(block, observed);
	if (tells_nothing(block, nb, cycles,
		    fits || (block->trust == 0 && square <= usual_square(block))))
		return;
	if (!fits) {
		if (block->trust > 0) { /* likewise: it is not to last, as a rule */
			block->trust = 0;
			block->surprised = true;
			return;
		}
	} else if (block->trust < TRUST_MAX && block->disturbances == 0 && varies_little(block) &&
		   4 * cycles > (float)coro_slice_of(block)) {
		block->trust++; /* few checks do not tell */
	}
	block->longest -= FORGET * block->longest;
	if (!is_surprise(block, &square)) {
		block->longest = fmaxf(block->longest, fminf(observed, OUTLIER * block->spacing));
		block->spacing += WEIGHT * fminf(off, OUTLIER * block->spacing);
	}
	block->variance += VARIANCE_WEIGHT * (square - block->variance);
}

void
coro_pace_learn(struct weir_coro_block *block, uint32_t nb, uint64_t cycles)
{
	if (block->spacing == 0 && cycles == 0) /* a coarse clock: still nothing is known */
		return;
	block->learned = nb < UINT32_MAX - block->learned ? block->learned + nb : UINT32_MAX;
	learn(block, (float)nb, (float)cycles);
	coro_pace_draw(block);
}
