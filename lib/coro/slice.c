/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When is a time slice over? A look at the clock costs as much as several switches, so checks are counted, and the clock is
 * looked at as rarely as what is known of their spacing allows: its mean m and its standard deviation s.
 *
 *     resumed  look                      look  look  deadline
 *       |-------|-------------------------|-----|--|--|
 *        1 check        n checks
 *
 * The first check of a slice looks: the slice began one spacing ago. With n = left / m checks from there the
 * deadline would be met on average, but missed by s sqrt(n) as a rule. So the next look is as many checks ahead as come
 * before it nearly always: two such deviations less. Regular checks have s = 0: the next look is the end.
 * Near the end, half of what is left at a time, and at last each check.
 *
 * Where slices came out as expected several times in a row, checks are taken to be regular, and their number alone ends
 * the next 1, 3, 7 and at last BLIND_MAX slices; then the clock is looked at twice in one again.
 *
 * Time in which a coroutine does not run is not in any of this: both looks that learn are in the same resumption.
 */

#include <math.h>
#include <stdlib.h>

#include "coro_private.h"

#define WEIGHT     0.25f /* of the newest look in mean and variance */
#define DEVIATIONS 2.0f
#define OUTLIER    16.0f  /* times the mean: as much more than it at most */
#define AGREES     0.025f /* of the mean: what was seen confirms it; or half a check */
#define REGULAR    3      /* confirmed so often in a row: regular */
#define TRUST_MAX  (REGULAR + 4)
#define BLIND_MAX  15 /* slices */

#define SLICE_MAX ((uint64_t)INT64_MAX / 2) /* cycles: times are compared by their difference */

/* Checks are counted in 32 bits. */
#define CHECKS_MAX 1000000000.0f

/* Coroutines that run the same function, one after the other, are taken to be alike: what was learned last. */
struct pace {
	weir_coro_run_t run;
	float spacing, variance;
	uint8_t trust;
};

#define PACES 8 /* of which a thread keeps note */

static __thread struct pace paces[PACES];

static bool always;

void
weir_coro_always_yield(bool yield)
{
	__atomic_store_n(&always, yield, __ATOMIC_RELAXED);
}

void
coro_slice_init(void)
{
	const char *wish = getenv("WEIR_CORO_ALWAYS_YIELD");

	weir_coro_always_yield(wish != NULL && wish[0] == '1');
}

static void
give(struct weir_coro_block *block, uint32_t nb)
{
	block->checks_given = block->checks_begin = block->checks_left = nb;
}

static struct pace *
pace_of(weir_coro_run_t run)
{
	return &paces[(uintptr_t)run / 16 % PACES];
}

void
coro_slice_reset(struct weir_coro_block *block, uint64_t slice)
{
	const struct pace *pace = pace_of(block->run);
	bool known = pace->run == block->run;

	block->slice = slice < SLICE_MAX ? slice : SLICE_MAX;
	block->checks = 0;
	block->spacing = known ? pace->spacing : 0;
	block->variance = known ? pace->variance : 0;
	block->trust = known ? pace->trust : 0;
	block->blind = 0;     /* its first slice has looks of its own, in any case */
	block->looked_in = 0; /* resumptions count from 1 */
	give(block, 1);
}

void
coro_slice_end(const struct weir_coro_block *block)
{
	if (block->spacing > 0)
		*pace_of(block->run) =
			(struct pace){block->run, block->spacing, block->variance, block->trust};
}

void
coro_slice_change(struct weir_coro_block *block, uint64_t slice)
{
	block->slice = slice < SLICE_MAX ? slice : SLICE_MAX;
	block->checks += block->checks_given - block->checks_left;
	block->blind = 0;
	give(block, 1); /* what was given was for the old one */
}

/* Would a slice have ended well by count, if checks took @observed instead of what was expected? */
static bool
agrees(const struct weir_coro_block *block, float observed)
{
	float off = fabsf(observed - block->spacing);
	float least = observed < block->spacing ? observed : block->spacing;

	return off <= AGREES * least || off * (float)block->slice <= 0.5f * least * least;
}

/* @nb checks took @cycles. */
static void
learn(struct weir_coro_block *block, float nb, float cycles)
{
	float observed = cycles / nb, off = observed - block->spacing;

	if (block->spacing == 0) {
		block->spacing = observed;
		block->variance = 0;
		return;
	}
	if (!agrees(block, observed)) {
		/* The kernel ran something else, as a rule: only the next look tells if it is to last. */
		if (block->trust > 0) {
			block->trust = 0;
			return;
		}
	} else if (block->trust < TRUST_MAX && 4 * cycles > (float)block->slice) {
		block->trust++; /* few checks do not tell */
	}
	off = off < OUTLIER * block->spacing ? off : OUTLIER * block->spacing;
	/* The mean of nb of them varies nb times less than one. */
	block->variance += WEIGHT * (off * off * nb - block->variance);
	block->spacing += WEIGHT * off;
}

/* How many slices may end by count? */
static uint8_t
blind_slices(const struct weir_coro_block *block)
{
	return block->trust > REGULAR ? (uint8_t)((1u << (block->trust - REGULAR)) - 1) : 0;
}

/* Checks until the next look, when @left cycles are left. */
static uint32_t
checks_for(const struct weir_coro_block *block, float left)
{
	float nb, back;

	if (block->spacing <= 0)
		return 1;
	nb = left / block->spacing;
	if (block->trust >= REGULAR) {
		nb += 0.5f; /* to the check next to the deadline */
	} else {
		back = DEVIATIONS * sqrtf(block->variance * nb) / block->spacing;
		nb = nb > 2 * back ? nb - back : nb / 2;
	}
	if (!(nb >= 1))
		return 1;
	return nb < CHECKS_MAX ? (uint32_t)nb : (uint32_t)CHECKS_MAX;
}

/*
 * Were a spacing of more than a slice always believed, nobody would see it become less: so the first look
 * is not always the last one.
 */
static bool
is_trial(const struct weir_coro_block *block)
{
	return block->trust >= REGULAR || block->resumes % 2 == 0;
}

/* In case that the ticker is late: more checks than it lets come, unless they have become many more of late. */
static uint32_t
checks_if_late(const struct weir_coro_block *block, uint32_t nb)
{
	uint32_t before = block->checks_given - block->checks_given / 8;

	nb = nb < UINT32_MAX / 8 ? 2 * nb + 8 : nb;
	return nb > before ? nb : before;
}

/* It was looked at the clock, which shows @now. */
static bool
decide(struct weir_coro_block *block, uint64_t now, uint32_t most, bool first)
{
	int64_t left = (int64_t)(block->deadline - now);
	struct coro_cache *cache;
	uint32_t next;

	block->looked = now;
	block->looked_in = (uint32_t)block->resumes;
	block->looks = first ? 1 : 2;
	if ((float)left > block->spacing * 0.5f || (first && is_trial(block))) {
		next = checks_for(block, (float)left);
		if (__atomic_load_n(&weir_coro_thread_now()->ticked, __ATOMIC_RELAXED))
			next = most = checks_if_late(block, next);
		give(block, next < most ? next : most);
		return false;
	}
	block->blind = blind_slices(block);
	cache = coro_cache_of(&coro_classes[block->class_id]);
	if (cache != NULL)
		coro_counts_slice(&cache->counts, block->slice - (uint64_t)left, block->slice);
	/* The next one ends by count, or has a look at its first check. */
	give(block, block->blind > 0 ? checks_for(block, (float)block->slice) : 1);
	return true;
}

/* The first look in this slice, @nb checks after it began. */
static bool
look_first(struct weir_coro_block *block, uint32_t nb)
{
	uint64_t now = weir_base_cycles();

	block->blind = 0;
	block->deadline = now - (uint64_t)((float)nb * block->spacing) + block->slice;
	/* Who yields by itself may never come to the second look, which learns: soon, and not at the same check each time. */
	return decide(block, now, block->checks_given == 1 ? UINT32_MAX : (nb + 1) / 2, true);
}

/* Another look, @nb checks after the last one. */
static bool
look_again(struct weir_coro_block *block, uint32_t nb)
{
	bool first = block->spacing == 0;
	uint64_t now = weir_base_cycles();

	/* Later looks are near each other: what they take themselves would be taken for spacing. */
	if (block->looks == 1)
		learn(block, (float)nb, (float)(now - block->looked));
	if (first) /* the check before the first look took as long, as is known only now */
		block->deadline -= (uint64_t)block->spacing;
	return decide(block, now, UINT32_MAX, false);
}

/* The ticker saw the slice end, after @nb checks. */
static bool
end_ticked(struct weir_coro_block *block, uint32_t nb)
{
	block->blind = 0;
	if (block->looked_in != (uint32_t)block->resumes)
		learn(block, (float)nb, (float)block->slice);
	give(block, checks_if_late(block, nb));
	return true;
}

/* Somebody asked for attention: was it the ticker, for this slice? */
static bool
is_ticked(struct weir_coro_block *block)
{
	if (__atomic_load_n(&block->attention, __ATOMIC_RELAXED) ==
		coro_slice_mark(block->resumes)) {
		/* It yields: should somebody else ask just now, that is seen when it is resumed. */
		__atomic_store_n(&block->attention, 0, __ATOMIC_RELAXED);
		return true;
	}
	(void)__atomic_exchange_n(&block->attention, 0, __ATOMIC_SEQ_CST);
	return false;
}

bool
weir_coro_slice_over(struct weir_coro_block *block)
{
	/* since it was resumed, or looked */
	uint32_t nb = block->checks_begin - block->checks_left;

	block->checks += block->checks_given - block->checks_left;
	if (__atomic_load_n(&block->cancelled, __ATOMIC_RELAXED) || block->slice == 0 ||
		__atomic_load_n(&always, __ATOMIC_RELAXED)) {
		give(block, 1);
		return true;
	}
	if (__atomic_load_n(&block->attention, __ATOMIC_RELAXED)) {
		if (is_ticked(block))
			return end_ticked(block, nb);
		if (block->checks_left > 0) { /* for a slice that was over already */
			block->checks_given = block->checks_left;
			return false;
		}
	}
	if (block->looked_in == (uint32_t)block->resumes)
		return look_again(block, nb);
	if (block->blind > 0 && nb == block->checks_given) {
		give(block, --block->blind > 0 ? nb : 1);
		return true;
	}
	return look_first(block, nb);
}
