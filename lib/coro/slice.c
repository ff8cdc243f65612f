/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When is a time slice over? A look at the clock costs as much as several switches, so checks are counted, and the clock is
 * looked at as rarely as what is known of their spacing allows: its mean m and its standard deviation s.
 *
 *     resumed, look                     look  look  deadline
 *       |--------------------------------|-----|--|--|
 *                   n checks
 *
 * With n = slice / m checks the deadline would be met on average, but missed by s sqrt(n) as a rule. So the next look is as
 * many checks ahead as come before it nearly always: n m + DEVIATIONS s sqrt(n) = slice. Regular checks have s = 0: the
 * next look is the end. Where spacings vary the next look comes at a part of what is left, and so on, and at last each check is
 * one. A slice that ends at the first check after the deadline is too long by what is left of a spacing at a moment,
 * (m + s^2 / m) / 2 on average; so where no more than that is missing it ends, a bit early, and the last looks are not made.
 *
 * Where slices came out as expected several times in a row, checks are taken to be regular, and their number alone ends
 * the next 1, 3, 7 and at last 15 slices; then the clock is looked at again. Who resumes another coroutine in such
 * a slice ends that, as its time runs on meanwhile.
 *
 * Time in which a coroutine does not run is not in any of this: both looks that learn are in the same resumption.
 */

#include <math.h>
#include <stdlib.h>

#include "coro_private.h"

#define WEIGHT          0.25f   /* of the newest look in the mean */
#define VARIANCE_WEIGHT 0.0625f /* and in the variance, of which one look tells less */
#define DEVIATIONS      2.25f
#define EARLY_LEAST     16 /* part of a slice: so much may be missing where checks are irregular */
#define EARLY_MOST      8
#define OUTLIER         16.0f  /* times the mean: as much more than it at most */
#define AGREES          0.025f /* of the mean: what was seen confirms it; or half a check */
#define REGULAR         3      /* confirmed so often in a row: regular */
#define TRUST_MAX       (REGULAR + 4)
#define SAMPLE          16 /* slices that a ticker ends: one is measured */

/* Looks at the clock in a slice. */
enum {
	LOOKS_ONE = 1, /* the next one learns */
	LOOKS_SOME,
	LOOKS_ALL, /* at each check from now on */
};

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

/* Others may change it. */
static uint64_t
slice_of(const struct weir_coro_block *block)
{
	return __atomic_load_n(&block->slice, __ATOMIC_RELAXED);
}

static void
set_slice(struct weir_coro_block *block, uint64_t slice)
{
	__atomic_store_n(&block->slice, slice < SLICE_MAX ? slice : SLICE_MAX, __ATOMIC_RELAXED);
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

	set_slice(block, slice);
	block->checks = 0;
	block->spacing = known ? pace->spacing : 0;
	block->variance = known ? pace->variance : 0;
	block->trust = known ? pace->trust : 0;
	block->blind = 0;     /* its first slice has looks of its own, in any case */
	block->looked_in = 0; /* resumptions count from 1 */
	/* Who never checks has no use for looks. */
	give(block, known ? WEIR_CORO_LOOK : 1);
}

void
coro_slice_end(const struct weir_coro_block *block)
{
	if (block->spacing > 0)
		*pace_of(block->run) =
			(struct pace){block->run, block->spacing, block->variance, block->trust};
}

/* What was given was for the old one. If it runs on another thread, that one learns of it at its next look. */
void
coro_slice_change(struct weir_coro_block *block, uint64_t slice)
{
	uint32_t word = __atomic_load_n(&block->word, __ATOMIC_ACQUIRE);

	set_slice(block, slice);
	if ((word & 0xffff) == WEIR_CORO_STATE_RUNNING && block != weir_coro_thread_now()->current)
		return;
	block->checks += block->checks_given - block->checks_left;
	block->blind = 0;
	block->looked_in = 0;
	give(block, 1);
}

/* Would a slice have ended well by count, if checks took @observed instead of what was expected? */
static bool
agrees(const struct weir_coro_block *block, float observed)
{
	float off = fabsf(observed - block->spacing);
	float least = observed < block->spacing ? observed : block->spacing;

	return off <= AGREES * least || off * (float)slice_of(block) <= 0.5f * least * least;
}

/* @nb checks took @cycles. */
static void
learn(struct weir_coro_block *block, float nb, float cycles)
{
	float observed = cycles / nb, off = observed - block->spacing, square;

	if (block->spacing == 0) {
		block->spacing = observed;
		block->variance = observed * observed;
		return;
	}
	if (!agrees(block, observed)) {
		/* The kernel ran something else, as a rule: only the next look tells if it is to last. */
		if (block->trust > 0) {
			block->trust = 0;
			return;
		}
	} else if (block->trust < TRUST_MAX && 4 * cycles > (float)slice_of(block)) {
		block->trust++; /* few checks do not tell */
	}
	off = fminf(off, OUTLIER * block->spacing);
	/* The mean of nb of them varies nb times less than one. */
	square = fminf(off * off * nb, OUTLIER * OUTLIER * block->spacing * block->spacing);
	block->variance += VARIANCE_WEIGHT * (square - block->variance);
	block->spacing += WEIGHT * off;
}

static bool
is_regular(const struct weir_coro_block *block)
{
	return block->trust >= REGULAR;
}

/* How many slices may end by count? */
static uint8_t
blind_slices(const struct weir_coro_block *block)
{
	return is_regular(block) ? (uint8_t)((1u << (block->trust - REGULAR)) - 1) : 0;
}

/* Checks until the next look, when @left cycles are left. */
static uint32_t
checks_for(const struct weir_coro_block *block, float left)
{
	float nb, back;

	if (block->spacing <= 0)
		return 1;
	if (is_regular(block)) {
		nb = left / block->spacing + 0.5f; /* to the check next to the deadline */
	} else {
		/* n m + DEVIATIONS s sqrt(n) = left: for two at least? Near the end that is asked again and again. */
		back = left - 2 * block->spacing;
		if (back <= 0 || back * back < 2 * DEVIATIONS * DEVIATIONS * block->variance)
			return 1;
		back = 0.5f * DEVIATIONS * sqrtf(block->variance);
		nb = sqrtf(back * back + block->spacing * left) - back;
		nb = nb * nb / (block->spacing * block->spacing);
	}
	if (!(nb >= 1))
		return 1;
	return nb < CHECKS_MAX ? (uint32_t)nb : (uint32_t)CHECKS_MAX;
}

/* In case that the ticker is late: more checks than it lets come, unless they have become many more of late. */
static uint32_t
checks_if_late(const struct weir_coro_block *block, uint32_t nb)
{
	uint32_t before = block->checks_given != WEIR_CORO_LOOK ? block->checks_given : 0;

	before -= before / 8;
	nb = nb < UINT32_MAX / 8 ? 2 * nb + 8 : nb;
	return nb > before ? nb : before;
}

static bool
is_ticking(void)
{
	return __atomic_load_n(&weir_coro_thread_now()->ticked, __ATOMIC_RELAXED);
}

/* To the next look, when so much is left to the deadline. */
static void
plan(struct weir_coro_block *block, float left, uint32_t most)
{
	uint32_t nb = checks_for(block, left);

	if (!is_ticking()) {
		give(block, nb < most ? nb : most);
		/* Nothing more is learned in this slice, and less is left at each look: each check will be one. */
		if (nb == 1 && block->looks == LOOKS_SOME && !is_regular(block))
			block->looks = LOOKS_ALL;
	} else if (block->checks_left == 0) /* they were too few */
		give(block, checks_if_late(block, block->checks_given));
	else
		give(block, checks_if_late(block, nb));
}

/* The clock shows @now. */
static void
note_look(struct weir_coro_block *block, uint64_t now, uint8_t looks)
{
	block->looked = now;
	block->looked_in = (uint32_t)block->resumes;
	block->looks = looks;
}

static void
count_slice(const struct weir_coro_block *block, uint64_t cycles)
{
	struct coro_cache *cache = coro_cache_of(&coro_classes[block->class_id]);

	if (cache != NULL)
		coro_counts_slice(&cache->counts, cycles, slice_of(block));
}

void
weir_coro_slice_begin(struct weir_coro_block *block)
{
	uint64_t now;

	if (slice_of(block) == 0 || __atomic_load_n(&always, __ATOMIC_RELAXED)) {
		give(block, 1);
		return;
	}
	now = weir_base_cycles();
	block->blind = 0;
	block->deadline = now + slice_of(block);
	note_look(block, now, LOOKS_ONE);
	plan(block, (float)slice_of(block), UINT32_MAX);
}

/*
 * Is the deadline nearer to the next check than to this one? Half a spacing to that one is left on average; more where they vary, as a
 * moment is more likely to be in a long one than in a short one.
 */
static bool
is_worth_it(const struct weir_coro_block *block, int64_t left)
{
	const int64_t slice = (int64_t)slice_of(block);

	if (block->spacing <= 0 || is_regular(block))
		return (float)left > 0.5f * block->spacing;
	if (left <= slice / EARLY_LEAST || left > slice / EARLY_MOST)
		return left > slice / EARLY_LEAST;
	return 2 * (float)left * block->spacing > block->spacing * block->spacing + block->variance;
}

/* It was looked at the clock. Is the slice over? */
static bool
decide(struct weir_coro_block *block, uint64_t now, uint32_t most)
{
	int64_t left = (int64_t)(block->deadline - now);

	if (is_worth_it(block, left)) {
		plan(block, (float)left, most);
		return false;
	}
	block->blind = blind_slices(block);
	count_slice(block, slice_of(block) - (uint64_t)left);
	/* The next one ends by count, or begins with a look. */
	give(block, block->blind > 0 ? checks_for(block, (float)slice_of(block)) : WEIR_CORO_LOOK);
	return true;
}

/* The first look in this slice, @nb checks after it began: when that was nobody knows, as it ended by itself before. */
static bool
look_first(struct weir_coro_block *block, uint32_t nb)
{
	uint64_t now = weir_base_cycles();

	block->blind = 0;
	block->deadline = now + slice_of(block);
	/* A ticker knows when it began, and is only late; not to be outrun by a guess. */
	if (!is_ticking())
		block->deadline -= (uint64_t)((float)nb * block->spacing);
	note_look(block, now, LOOKS_ONE);
	/* Who yields by itself may never come to the second look, which learns: soon, and not at the same check each time. */
	return decide(block, now, (nb + 1) / 2);
}

/* Another look, @nb checks after the last one. */
static bool
look_again(struct weir_coro_block *block, uint32_t nb)
{
	uint64_t now = weir_base_cycles();

	/* Later looks are near each other: what they take themselves would be taken for spacing. */
	if (block->looks == LOOKS_ONE)
		learn(block, (float)nb, (float)(now - block->looked));
	note_look(block, now, LOOKS_SOME);
	return decide(block, now, UINT32_MAX);
}

/* The slice is over, but it may not yield now: at the first check when it may. */
static bool
end_later(struct weir_coro_block *block)
{
	uint64_t now = weir_base_cycles();

	block->blind = 0;
	block->deadline = now;
	note_look(block, now, LOOKS_SOME);
	give(block, 1);
	return true;
}

/* In the middle of a slice others run, whose time is its own: it ends by the clock. Once in a slice that is read for it. */
void
weir_coro_slice_waits(struct weir_coro_block *block)
{
	uint32_t nb = block->checks_begin - block->checks_left;

	block->checks += block->checks_given - block->checks_left;
	if (block->looked_in != (uint32_t)block->resumes) {
		note_look(block, weir_base_cycles(), LOOKS_SOME);
		block->deadline =
			block->looked - (uint64_t)((float)nb * block->spacing) + slice_of(block);
	}
	block->looks = LOOKS_SOME; /* what comes until the next one does not tell of spacing */
	block->blind = 0;
	give(block, 1);
}

/* The ticker saw the slice end, after @nb checks. How long such ones are is measured now and then. */
static bool
end_ticked(struct weir_coro_block *block, uint32_t nb)
{
	if (block->looked_in != (uint32_t)block->resumes)
		learn(block, (float)nb, (float)slice_of(block));
	else if (block->looks == LOOKS_ONE)
		count_slice(block, weir_base_cycles() - block->looked);
	block->blind = 0;
	give(block, block->resumes % SAMPLE == 0 ? WEIR_CORO_LOOK : checks_if_late(block, nb));
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

static bool
is_over(struct weir_coro_block *block)
{
	/* since it was resumed, or looked */
	uint32_t nb = block->checks_begin - block->checks_left;

	block->checks += block->checks_given - block->checks_left;
	if (__atomic_load_n(&block->cancelled, __ATOMIC_RELAXED) || slice_of(block) == 0 ||
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
		give(block, --block->blind > 0 ? nb : WEIR_CORO_LOOK);
		return true;
	}
	return look_first(block, nb);
}

/* May the slice end where it is over? */
static bool
ends(struct weir_coro_block *block, bool over)
{
	if (!over)
		return false;
	return __builtin_expect(block->held == 0, 1) || end_later(block);
}

static __attribute__((noinline)) bool
ends_now(struct weir_coro_block *block)
{
	return ends(block, is_over(block));
}

static __attribute__((noinline)) bool
ends_at(struct weir_coro_block *block, uint64_t now)
{
	return ends(block, decide(block, now, UINT32_MAX));
}

/* Does this check look at the clock like the one before, and did nothing else happen? */
static inline bool
looks_on(const struct weir_coro_block *block)
{
	return block->looks == LOOKS_ALL && block->looked_in == (uint32_t)block->resumes &&
	       !__atomic_load_n(&block->attention, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&always, __ATOMIC_RELAXED) && slice_of(block) != 0;
}

/* Where all checks are looks, most find that much is left: that shall cost little more than the look itself. */
bool
weir_coro_slice_over(struct weir_coro_block *block)
{
	uint64_t now;

	if (!looks_on(block))
		return ends_now(block);
	now = weir_base_cycles();
	block->checks++;
	if ((int64_t)(block->deadline - now) <= (int64_t)(slice_of(block) / EARLY_MOST))
		return ends_at(block, now);
	block->checks_left = 1; /* as given before */
	return false;
}
