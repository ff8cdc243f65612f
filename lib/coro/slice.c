/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When is a time slice over? A look at the clock costs as much as several switches, so checks are counted, and the clock is looked at as
 * rarely as what is known of their spacing allows: see pace.c. A check that has been counted to is the unexpected one, though: that costs as
 * much again. Where there are few checks in a slice, or counting would save few looks, each check of a slice looks, expects to find that there
 * is time left, and does nothing else: weir_coro_slice_check(). Slices are of one kind or the other as a whole: a CPU that has to foresee in
 * each check of which kind it is mostly fails. Where slices came out as expected several times in a row, checks are taken to be regular, and
 * their number alone ends the next 1, 3, 7 and at last 15 slices or so; then the clock is looked at again. Who resumes another coroutine in
 * such a slice ends that, as its time runs on meanwhile.
 *
 * Where a ticker tells when a slice is over, more checks are given than come in one; where they do not do, as a rule it is late.
 * From then on slices end as they do without one, until it tells again. How many checks come in a slice is known from slices that were measured
 * alone: one that a ticker was late for has more of them, and would let the next one be longer still.
 *
 * Time in which a coroutine does not run is not in any of this: both looks that learn are in the same resumption.
 */

#include <math.h>

#include "coro_private.h"

#define EARLY   8   /* part of a slice: so much may be missing where checks are irregular */
#define SURVEY  256 /* slices that begin with a look: in one each check is looked at */
#define FIRST   64  /* checks, at most, each of which is looked at, where nothing is known */
#define LOOKING (UINT32_MAX - 1) /* checks that are given where each of them looks */
#define LESSON  16 /* slices that come out as expected: one is learned from, else so many */
#define LESSONS 64 /* a new coroutine's first ones, from all of which is learned */
#define SAMPLE  16 /* slices that a ticker ends: one is measured */
#define FEW     8  /* times as many checks as were seen are taken to come in a slice, at most */

/* Looks at the clock in a slice. */
enum {
	LOOKS_ONE = 1, /* the next one learns */
	LOOKS_SOME,
	LOOKS_ALL, /* at each check from now on */
};

static void
set_slice(struct weir_coro_block *block, uint64_t slice)
{
	__atomic_store_n(
		&block->slice, slice < CORO_SLICE_MAX ? slice : CORO_SLICE_MAX, __ATOMIC_RELAXED);
}

static void
give(struct weir_coro_block *block, uint32_t nb)
{
	block->checks_given = block->checks_begin = block->checks_left = nb;
}

/* Before it runs: is it shown to a ticker from now on? */
static void
show(struct weir_coro_block *block, bool shown)
{
	block->extra &= (uint8_t)~WEIR_CORO_EXTRA_SHOWN;
	if (shown)
		block->extra |= WEIR_CORO_EXTRA_SHOWN;
}

void
coro_slice_reset(struct weir_coro_block *block, uint64_t slice)
{
	bool silent;

	set_slice(block, slice);
	silent = coro_pace_recall(block);
	block->lessons = LESSONS;
	block->guessed = false;
	block->by_clock = false;
	block->changed_in = 0;
	block->enough = 0;
	block->checks = 0;
	block->blind = 0;     /* its first slice has looks of its own, in any case */
	block->looked_in = 0; /* resumptions count from 1 */
	show(block, false);
	/* Who never checks has no use for looks; who is not known may check for the first time when its slice is long over. */
	give(block, silent ? 1 : WEIR_CORO_LOOK);
}

/* The ticker knows the end of a slice, and in this resumption another one takes its place, of which it learns late: the clock decides. */
static void
begin_anew(struct weir_coro_block *block)
{
	block->by_clock = true;
	block->changed_in = (uint8_t)block->resumes;
	block->looked_in = 0; /* what was looked at was the old one */
	block->enough = 0;
	coro_pace_draw(block);
}

/* Did it in this resumption? What the ticker says may be of the old one then. (By chance also long after, if no ticker has told since.) */
static bool
began_anew(const struct weir_coro_block *block)
{
	return block->by_clock && block->changed_in == (uint8_t)block->resumes;
}

/*
 * What was given was for the old one. What is its own while it runs others do not touch: any of them may be resuming it just now. It
 * finds out at its next check.
 */
void
coro_slice_change(struct weir_coro_block *block, uint64_t slice)
{
	set_slice(block, slice);
	if (block != weir_coro_thread_now()->current) {
		__atomic_store_n(&block->attention, CORO_SLICE_CHANGED, __ATOMIC_RELEASE);
		return;
	}
	block->checks += block->checks_given - block->checks_left;
	block->blind = 0;
	begin_anew(block);
	give(block, 1);
}

static bool
is_ticking(void)
{
	return __atomic_load_n(&weir_coro_thread_now()->ticked, __ATOMIC_RELAXED);
}

/* Is there a ticker, as far as it is concerned? One that came since its slices begin without a look does not see it. */
static bool
has_ticker(const struct weir_coro_block *block)
{
	return weir_coro_is_shown(block) && is_ticking();
}

/* Is it left to a ticker to tell when the slice is over? */
static bool
is_told(const struct weir_coro_block *block)
{
	return has_ticker(block) && !block->by_clock;
}

/* @nb as a number of checks. */
static uint32_t
count_of(float nb)
{
	return 1 + (uint32_t)fminf(nb, CORO_PACE_CHECKS_MAX);
}

/* So many checks come in a slice, as was measured. Slices differ, and few are: the most count, and are forgotten slowly. */
static void
note_enough(struct weir_coro_block *block, float nb)
{
	const uint32_t enough = 2 * count_of(nb) + 6;

	block->enough -= block->enough / 4;
	if (block->enough < enough)
		block->enough = enough;
}

/* So little may be missing. */
static int64_t
early(const struct weir_coro_block *block)
{
	/* It would never be seen that a ticker is in time again, as it tells of the end just before that. */
	if (has_ticker(block))
		return 0;
	/* The deadline is nearer to this check than to the next one. */
	if (coro_pace_is_regular(block))
		return (int64_t)(0.5f * block->spacing);
	return (int64_t)(coro_slice_of(block) / EARLY);
}

/* Each check looks at the clock from now on. */
static void
look_each(struct weir_coro_block *block)
{
	/* As early() is, of irregular checks. */
	block->soon = block->deadline - (has_ticker(block) ? 0 : coro_slice_of(block) / EARLY);
	give(block, LOOKING);
}

/* To the next look, when so much is left to the deadline. */
static void
plan(struct weir_coro_block *block, float left, uint32_t most)
{
	const uint32_t nb = coro_pace_skip(block, left);
	/* What few checks have told is not to be relied on for more of them. */
	const uint64_t known = block->checks > block->learned ? block->checks : block->learned;

	if (known < most)
		most = known > 0 ? (uint32_t)known : 1;
	give(block, nb < most ? nb : most);
	/* Nothing more is learned in this slice, and less is left at each look: each check will be one. */
	if (nb == 1 && block->looks == LOOKS_SOME && !coro_pace_is_regular(block))
		block->looks = LOOKS_ALL;
}

/* Another one will tell when the slice is over, or is late. */
static void
plan_told(struct weir_coro_block *block)
{
	if (block->enough == 0)
		note_enough(block, (float)coro_pace_skip(block, (float)coro_slice_of(block)));
	give(block, block->enough);
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

	/* Less than nothing: somebody gave it another slice since its end was decided. */
	if (cache != NULL && (int64_t)cycles >= 0)
		coro_counts_slice(&cache->counts, cycles, coro_slice_of(block));
}

/* A guess ended the slice before. Who yields by itself might never come to another look, and guess on: the first check tells. */
static void
learn_next(struct weir_coro_block *block)
{
	block->guessed = false;
	block->lessons += block->lessons == 0;
	give(block, 1);
}

/* Each check looks at the clock, and tells how long it took to it. */
static void
look_at_all(struct weir_coro_block *block)
{
	block->looks = LOOKS_ALL;
	give(block, 1);
}

void
weir_coro_slice_begin(struct weir_coro_block *block)
{
	uint64_t now;

	/* Those of a slice that it ended by itself, where each looked. */
	block->checks += block->checks_given - block->checks_left;
	block->checks_given = block->checks_left;
	if (coro_each_yields(block)) {
		give(block, 1);
		return;
	}
	show(block, is_ticking());
	now = weir_base_cycles();
	block->blind = 0;
	block->deadline = now + coro_slice_of(block);
	note_look(block, now, LOOKS_ONE);
	if (is_told(block)) {
		plan_told(block);
	} else if (coro_pace_is_regular(block)) {
		plan(block, (float)coro_slice_of(block), UINT32_MAX);
	} else if (block->guessed) {
		learn_next(block);
	} else if (coro_pace_surveys(block, block->resumes)) {
		coro_pace_survey_anew(block, block->checks);
		look_at_all(block);
	} else if (block->resumes % (block->lessons > LESSON ? LESSON : SURVEY) == 0) {
		look_at_all(block);
	} else if (block->trust == 0 && block->sparse) {
		look_each(block);
	} else {
		plan(block, (float)coro_slice_of(block), UINT32_MAX);
	}
}

/* Nobody has told in so many checks: if there is a ticker it is late, as far as is known. How many are enough is to be known anew. */
static void
miss_ticker(struct weir_coro_block *block)
{
	block->by_clock = has_ticker(block);
	block->enough = 0;
}

/* It was looked at the clock. Is the slice over? */
static bool
decide(struct weir_coro_block *block, uint64_t now, uint32_t most)
{
	int64_t left = (int64_t)(block->deadline - now);

	if (left > early(block)) {
		plan(block, (float)left, most);
		return false;
	}
	/* Who is to come to know of a ticker, or that it is gone, does so with the next one. */
	block->blind = weir_coro_is_shown(block) == is_ticking() ? coro_pace_blind(block) : 0;
	count_slice(block, coro_slice_of(block) - (uint64_t)left);
	/* The next one ends by count, or begins with a look. */
	give(block, block->blind > 0 ? coro_pace_skip(block, (float)coro_slice_of(block))
				     : WEIR_CORO_LOOK);
	return true;
}

/* The first look in this slice, @nb checks after it began: when that was nobody knows, as it ended by itself before. */
static bool
look_first(struct weir_coro_block *block, uint32_t nb)
{
	uint64_t now = weir_base_cycles();

	coro_pace_survey(block, block->checks - nb);
	block->blind = 0;
	block->deadline = now + coro_slice_of(block);
	/* That there was no ticker in time is no reason for a guess. */
	if (!has_ticker(block))
		block->deadline -= (uint64_t)((float)nb * block->spacing);
	note_look(block, now, LOOKS_ONE);
	miss_ticker(block);
	/* Who yields by itself may never come to the second look, which learns: soon, and not at the same check each time. */
	block->guessed = decide(block, now, (nb + 1) / 2);
	return block->guessed;
}

/*
 * Is the look at @now, @nb checks after the one before, to be learned from? Later ones are near each other: what they take themselves
 * would be taken for spacing. To learn costs more than several looks: where nothing is new, it is done now and then. A surprise has
 * the next ones learned from, not itself: those would have too many surprises among them.
 */
static inline bool
teaches(struct weir_coro_block *block, uint32_t nb, uint64_t now)
{
	if (block->looks != LOOKS_ONE)
		return false;
	if (block->lessons > 0 || block->trust > 0 || block->resumes % LESSON == 0)
		return true;
	if (!coro_pace_expects(block, (float)nb, (float)(now - block->looked)))
		block->lessons = LESSON;
	return false;
}

/* @nb checks after the last look nobody has told the slice's end: is that still to come? Few do not tell well how many there are to be. */
static bool
were_too_few(struct weir_coro_block *block, uint32_t nb, uint64_t now)
{
	const float per_cycle = (float)nb / (float)(now - block->looked);
	const float slice = (float)coro_slice_of(block), most = FEW * (float)nb;
	const int64_t left = (int64_t)(block->deadline - now);

	if (!is_told(block) || left <= 0)
		return false;
	note_enough(block, fminf(per_cycle * slice, most));
	note_look(block, now, LOOKS_SOME);
	/* When the clock is looked at already, it is known sooner that nobody tells. */
	give(block, count_of(fminf(per_cycle * ((float)left + slice / 4), most)));
	return true;
}

/* Another look, @nb checks after the last one. */
static bool
look_again(struct weir_coro_block *block, uint32_t nb)
{
	uint64_t now = weir_base_cycles();

	if (teaches(block, nb, now)) {
		coro_pace_learn(block, nb, now - block->looked);
		block->lessons -= block->lessons > 0;
	}
	if (were_too_few(block, nb, now))
		return false;
	miss_ticker(block);
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
		coro_pace_survey(block, block->checks - nb);
		note_look(block, weir_base_cycles(), LOOKS_SOME);
		block->deadline = block->looked - (uint64_t)((float)nb * block->spacing) +
				  coro_slice_of(block);
	}
	block->looks = LOOKS_SOME; /* what comes until the next one does not tell of spacing */
	block->by_clock = has_ticker(block);
	block->blind = 0;
	give(block, 1);
}

/* The ticker saw the slice end, after @nb checks. How long such ones are is measured now and then, and after it was late. */
static bool
end_ticked(struct weir_coro_block *block, uint32_t nb)
{
	bool measure = block->resumes % SAMPLE == 0 || block->enough == 0 || !has_ticker(block);
	uint64_t cycles;

	if (block->looked_in == (uint32_t)block->resumes && block->looks == LOOKS_ONE &&
		!block->by_clock) {
		cycles = weir_base_cycles() - block->looked;
		coro_pace_learn(block, nb, cycles);
		count_slice(block, cycles);
		/* Of one that is too long, those that came in time. */
		note_enough(
			block, (float)nb * fminf(1, (float)coro_slice_of(block) / (float)cycles));
		measure = false;
	}
	block->by_clock = false;
	block->blind = 0;
	give(block, measure ? WEIR_CORO_LOOK : block->enough);
	return true;
}

/* Somebody asked for attention. @return for what: the ticker, for this slice, if it is coro_slice_mark() */
static uint32_t
take_attention(struct weir_coro_block *block)
{
	const uint32_t mark = coro_slice_mark(block->word, block->resumes);

	if (__atomic_load_n(&block->attention, __ATOMIC_RELAXED) == mark) {
		/* It yields: should somebody else ask just now, that is seen when it is resumed. */
		__atomic_store_n(&block->attention, 0, __ATOMIC_RELAXED);
		return mark;
	}
	return __atomic_exchange_n(&block->attention, 0, __ATOMIC_SEQ_CST);
}

static bool
is_over(struct weir_coro_block *block)
{
	/* since it was resumed, or looked */
	uint32_t nb = block->checks_begin - block->checks_left, asked;
	bool told;

	block->checks += block->checks_given - block->checks_left;
	if (__atomic_load_n(&block->cancelled, __ATOMIC_RELAXED) || coro_each_yields(block)) {
		give(block, 1);
		return true;
	}
	if (__atomic_load_n(&block->attention, __ATOMIC_RELAXED)) {
		asked = take_attention(block);
		told = asked == coro_slice_mark(block->word, block->resumes);
		if (told &&
			!began_anew(block)) /* else the clock says whether it is for the old one */
			return end_ticked(block, nb);
		/* Cancelled since the question above: the notice of that is taken now. */
		if (__atomic_load_n(&block->cancelled, __ATOMIC_RELAXED)) {
			block->blind = 0; /* it is not asked where slices end by count */
			give(block, 1);
			return true;
		}
		if (asked == CORO_SLICE_CHANGED) { /* which begins with this check */
			begin_anew(block);
			return look_first(block, 1);
		}
		if (!told && block->checks_left > 0) { /* for a slice that was over already */
			block->checks_given = block->checks_left;
			return false;
		}
	}
	if (block->looked_in == (uint32_t)block->resumes)
		return look_again(block, nb);
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

/* The check is counted. */
static __attribute__((noinline)) bool
ends_now(struct weir_coro_block *block)
{
	return ends(block, is_over(block));
}

/* The check is still to be counted. */
static __attribute__((noinline)) bool
ends_next(struct weir_coro_block *block)
{
	block->checks_left--;
	return ends_now(block);
}

/* Each check looked at the clock: they need not any more, or the slice is over. */
static __attribute__((noinline)) bool
ends_at(struct weir_coro_block *block, uint64_t now)
{
	coro_pace_survey(block, block->checks);
	return ends(block, decide(block, now, UINT32_MAX));
}

/*
 * Does this check look at the clock like the one before, and did nothing else happen? (With a ticker there may be some between, if much was left at
 * a look.)
 */
static inline bool
looks_on(const struct weir_coro_block *block)
{
	return block->looks == LOOKS_ALL && block->checks_given == 1 &&
	       block->looked_in == (uint32_t)block->resumes &&
	       !__atomic_load_n(&block->attention, __ATOMIC_RELAXED) && !coro_each_yields(block);
}

/* Is there nothing else to attend to than the time? */
static inline bool
only_time_counts(const struct weir_coro_block *block)
{
	return block->looked_in == (uint32_t)block->resumes && block->held == 0 &&
	       !__atomic_load_n(&block->cancelled, __ATOMIC_RELAXED) && !coro_each_yields(block);
}

/* Checks are irregular, and the slice has ended with a look at the clock: so begins the next one. */
static inline bool
end_irregular(struct weir_coro_block *block, uint64_t now)
{
	count_slice(block, coro_slice_of(block) - (block->deadline - now));
	give(block, WEIR_CORO_LOOK);
	return true;
}

bool
weir_coro_slice_looked(struct weir_coro_block *block, uint64_t now)
{
	const uint32_t nb = block->checks_begin - block->checks_left;

	if (!only_time_counts(block) || teaches(block, nb, now) ||
		(int64_t)(block->deadline - now) > (int64_t)(coro_slice_of(block) / EARLY))
		return ends_now(block);
	block->checks += block->checks_given - block->checks_left;
	return end_irregular(block, now);
}

/* A look at the clock where checks are irregular, and nothing is to be learned. */
static inline bool
look_irregular(struct weir_coro_block *block, uint64_t now)
{
	const int64_t left = (int64_t)(block->deadline - now);

	block->checks += block->checks_given;
	block->looked = now;
	block->looks = LOOKS_SOME;
	if (left <= (int64_t)(coro_slice_of(block) / EARLY))
		return end_irregular(block, now);
	plan(block, (float)left, UINT32_MAX);
	return false;
}

/* Has it been counted to a look where checks are irregular, with nothing else to attend to? */
static inline bool
counts_to_look(const struct weir_coro_block *block)
{
	return block->checks_left == 1 && block->trust == 0 && !is_ticking() &&
	       block->looks != LOOKS_ALL && !__atomic_load_n(&block->attention, __ATOMIC_RELAXED) &&
	       only_time_counts(block);
}

/*
 * Those that come most often go by themselves: where all checks are looks, most find that much is left, which shall cost little more
 * than the look itself; and most others that are counted to have nothing to teach. (weir_coro_slice_counted() is before.)
 */
bool
weir_coro_slice_over(struct weir_coro_block *block)
{
	uint64_t now;

	if (looks_on(block)) {
		now = weir_base_cycles();
		block->checks++;
		coro_pace_was(block, (float)(now - block->looked));
		block->looked = now;
		if ((int64_t)(block->deadline - now) <= (int64_t)(coro_slice_of(block) / EARLY) ||
			(coro_pace_surveys(block, block->resumes) &&
				block->checks - block->learned >= FIRST))
			return ends_at(block, now);
		return false; /* one is left, as before */
	}
	if (!counts_to_look(block))
		return ends_next(block);
	now = weir_base_cycles();
	return teaches(block, block->checks_begin, now) ? ends_next(block)
							: look_irregular(block, now);
}
