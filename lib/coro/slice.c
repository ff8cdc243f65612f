/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When is a time slice over? A look at the clock costs as much as several switches, so it is looked at as rarely
 * as what is known of the spacing of checks allows: their mean m and their standard deviation s.
 *
 *     begin          look        look  look  deadline
 *       |-------------|-----------|-----|--|--|
 *          n checks
 *
 * With n = left / m checks the deadline would be met on average, but missed by s sqrt(n) as a rule. So the next look is as
 * many checks ahead as come before it nearly always: two such deviations less. Regular checks have s = 0: one look
 * per slice, at its end. Near the end, half of what is left at a time, and at last each check.
 *
 * Where checks are so regular that the count alone meets the deadline, every second slice ends by count, without a look.
 *
 * When a slice begins nobody looks: it is taken to begin when this thread looked last, which is when the
 * slice before it ended. If another time has passed since than the checks explain, the thread did something else
 * between, or they have changed: for now they are believed, and in the next slice the clock is looked at twice.
 */

#include <math.h>
#include <stdlib.h>

#include "coro_private.h"

#define WEIGHT      0.25f /* of the newest look in mean and variance */
#define DEVIATIONS  2.0f
#define OUTLIER     16.0f /* times the mean: as much more than it at most */
#define NEAR        0.05f /* of what the checks explain: the time since the last look is theirs */
#define NEAR_CYCLES 100   /* and what a resumption takes besides */
#define TRUST       15    /* slices, then two looks; odd, as every second one may be blind */

/* Checks are counted in 32 bits. */
#define CHECKS_MAX 1000000000.0f

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

/* What @nb checks took tells of the next ones. */
static void
learn(struct weir_coro_block *block, float nb, float cycles)
{
	float observed = cycles / nb, off = observed - block->spacing;

	if (block->spacing == 0) {
		block->spacing = observed;
		block->variance = 0;
		return;
	}
	/* The kernel ran something else: that is not to be believed for many slices. */
	off = off < OUTLIER * block->spacing ? off : OUTLIER * block->spacing;
	/* The mean of nb of them varies nb times less than one. */
	block->variance += WEIGHT * (off * off * nb - block->variance);
	block->spacing += WEIGHT * off;
}

/* May it be missed by more than half a check, or 2.5 % of a slice? Of what is left to the deadline, in cycles. */
static bool
is_regular(const struct weir_coro_block *block, float left)
{
	float off = DEVIATIONS * DEVIATIONS * block->variance * left; /* times spacing: squared */

	return off < 0.25f * block->spacing * block->spacing * block->spacing ||
	       off < 0.000625f * left * left * block->spacing;
}

/* Checks until the next look, when @left cycles are left. */
static uint32_t
checks_for(const struct weir_coro_block *block, float left)
{
	float nb, back;

	if (block->spacing <= 0)
		return 1;
	nb = left / block->spacing;
	if (is_regular(block, left)) {
		nb += 0.5f; /* to the check next to the deadline */
	} else {
		back = DEVIATIONS * sqrtf(block->variance * nb) / block->spacing;
		nb = nb > 2 * back ? nb - back : nb / 2;
	}
	if (!(nb >= 1))
		return 1;
	return nb < CHECKS_MAX ? (uint32_t)nb : (uint32_t)CHECKS_MAX;
}

static void
give(struct weir_coro_block *block, uint32_t nb)
{
	block->checks_given = block->checks_left = nb;
	block->carried = 0;
}

/*
 * Cycles since the last look that the coroutine knows of: its own, or the thread's when it was resumed. The thread's
 * clock is that of coroutines it has resumed since, if there are any.
 */
static uint64_t
since_look(const struct weir_coro_block *block, uint64_t now)
{
	uint64_t last = weir_coro_thread_now()->clock;

	return block->looked == (uint32_t)last ? now - last : (uint32_t)now - block->looked;
}

/* The first look in this slice, after @nb checks: when did it begin? */
static uint64_t
slice_begin(struct weir_coro_block *block, uint64_t now, float nb)
{
	uint64_t passed = since_look(block, now);
	float all = nb + (float)block->unseen, explained = all * block->spacing;

	block->unseen = 0;
	if (fabsf((float)passed - explained) <= NEAR * explained + NEAR_CYCLES) {
		learn(block, all, (float)passed);
		return now - (uint64_t)((float)passed * nb / all);
	}
	/* It began after that look: these checks took no longer, whatever was thought. */
	if ((float)passed <= (1 + NEAR) * nb * block->spacing + NEAR_CYCLES) {
		learn(block, nb, (float)passed);
		return now - passed;
	}
	block->doubt = true;
	return now - (uint64_t)(nb * block->spacing);
}

/*
 * Time that others take between slices may be taken for its own, and a spacing that is far too long then explains
 * it each time. So now and then a slice has two looks of its own.
 */
static bool
is_trial(uint64_t resumes)
{
	return resumes % TRUST == 0;
}

/* The slice is over: give checks for the next one; after a doubt, or in a trial, a look at its beginning. */
static bool
end_slice(struct weir_coro_block *block)
{
	if (is_trial(block->resumes + 1))
		block->doubt = true;
	if (block->doubt)
		block->blind = false;
	give(block, block->doubt ? 1 : checks_for(block, (float)block->slice));
	block->doubt = false;
	block->deadline = 0;
	return true;
}

bool
weir_coro_slice_over(struct weir_coro_block *block)
{
	uint32_t nb = block->checks_given - block->checks_left, carried = block->carried, next;
	bool first = block->deadline == 0;
	int64_t left;
	uint64_t now;

	block->checks += nb;
	if (__atomic_load_n(&block->cancelled, __ATOMIC_RELAXED) || block->slice == 0 ||
		__atomic_load_n(&always, __ATOMIC_RELAXED)) {
		give(block, 1);
		block->deadline = 0;
		return true;
	}
	nb -= carried;
	if (block->blind && carried == 0) {
		block->blind = false;
		block->unseen = nb;
		return end_slice(block);
	}
	block->blind = false;
	now = weir_base_cycles();
	if (first)
		block->deadline = slice_begin(block, now, (float)nb) + block->slice;
	else
		learn(block, (float)nb, (float)since_look(block, now));
	weir_coro_thread_now()->clock = now;
	block->looked = (uint32_t)now;
	left = (int64_t)(block->deadline - now);
	if ((float)left > block->spacing * 0.5f) {
		next = checks_for(block, (float)left);
		/* Who yields by itself may never come to the second look, which learns: soon. */
		give(block, carried > 0 && next > nb ? nb : next);
		return false;
	}
	/* Also when the first look says that it is over: a spacing of more than a slice would stay so. */
	if (first && nb == 1 && is_trial(block->resumes)) {
		give(block, 1);
		return false;
	}
	block->blind = is_regular(block, (float)block->slice);
	return end_slice(block);
}
