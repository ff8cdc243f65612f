/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_CORO_FAST_H
#define WEIR_CORO_FAST_H

/**
 * @file
 * Resuming and yielding, inline: to include weir_coro.h is to have these.
 *
 * Inline is what makes them fast. A switch by a function leaves the CPU's stack of return
 * addresses wrong, and both sides' returns are mispredicted; here nothing is
 * called and nothing returns. And the compiler saves only those registers that the place
 * of the switch has in use.
 */

#include "weir_base.h"
#include "weir_base_sanitizer.h"
#include "weir_coro.h"
#include "weir_coro_switch.h"

#if (defined(WEIR_BASE_ASAN) || defined(WEIR_BASE_TSAN)) && !defined(WEIR_CORO_CHECKS)
/** Sanitizers must be told of each switch: out of line, as in builds with checks. */
#define WEIR_CORO_CHECKS 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a coroutine is doing. */
enum weir_coro_state {
	WEIR_CORO_STATE_FREE,      /**< destroyed, or never created */
	WEIR_CORO_STATE_SUSPENDED, /**< may be resumed */
	WEIR_CORO_STATE_RUNNING,   /**< on some thread, itself or one that it resumed */
	WEIR_CORO_STATE_EXITED,    /**< came to its end */
};

/** What there is to look at when a coroutine is resumed and leaves, as a rule nothing. */
enum weir_coro_extra {
	WEIR_CORO_EXTRA_HELD = 1, /**< weir_coro_hold() without release */
	WEIR_CORO_EXTRA_FP = 2,   /**< FP control words belong to it */
	/** It is shown to a ticker; changes only when its slice begins, and not while it waits for others. */
	WEIR_CORO_EXTRA_SHOWN = 4,
};

/** What a handle stands for. All of it is the library's. */
struct weir_coro_block {
	/* written when it is resumed and when it leaves, and at no other time */
	struct weir_coro_contexts contexts; /**< the bottom of its stack refers to the resumer's */
	uint32_t word;                      /**< generation << 16 | enum weir_coro_state */
	uint32_t word_after;                /**< what word becomes when it has left its stack */
	uint64_t resumes;                   /**< resumptions */

	/* time slice: the line that weir_coro_maybe_yield() writes */
	uint32_t checks_left __attribute__((aligned(
		64))); /**< until the slice may be over; signed, less than 0: each looks at the clock */
	uint32_t checks_begin; /**< checks_left when it was resumed, or last given some */
	uint32_t checks_given; /**< checks_left when it was last given some */
	uint32_t looked_in;    /**< low bits of resumes: when the clock was last looked at */
	uint64_t looked;       /**< cycles: what it showed then */
	uint64_t deadline;     /**< cycles: the end of the slice in which it was looked at */
	struct weir_coro_block *outer; /**< the one that resumed it, or NULL */
	uint64_t
		soon; /**< cycles: the slice may be over from then on, where checks look at the clock */
	uint8_t held;   /**< weir_coro_hold() without release; the most stays */
	bool cancelled; /**< it is to end */
	uint8_t extra;  /**< enum weir_coro_extra, bits */
	uint8_t blind;  /**< slices to end by count, without a look at the clock */
	uint8_t trust;  /**< slices in a row that came out as expected */
	uint8_t looks;  /**< at the clock in the slice in which it was last looked at: 1, or more */
	bool by_clock;  /**< a ticker was late: slices end without one, until it tells again */
	uint8_t changed_in; /**< low bits of resumes: when it was given another slice in one; the ticker knows the old one's end */
	uint32_t
		enough; /**< checks: where a ticker tells, more than come in a slice; 0: not known */

	/* what seldom changes: a ticker reads slice */
	uint32_t class_id __attribute__((aligned(64))); /**< class of its stack */
	uint32_t id;                                    /**< its number */
	uint64_t slice;                                 /**< cycles that it may run */
	weir_coro_run_t run;                            /**< what it runs */
	char *params;                                   /**< parameter memory */
	char *stack;                                    /**< lowest usable byte */
	char *top;                                      /**< first byte above its stack */
	struct weir_coro_cleanup_entry *cleanups;       /**< last registered first */
	void *tool; /**< of sanitizers: a fiber, a fake stack; or valgrind's id */

	/* what slices are planned by */
	uint64_t checks __attribute__((aligned(64))); /**< all before it was last given some */
	float spacing; /**< cycles between checks, mean; 0: not known */
	float variance; /**< and their variance, cycles squared; while spacing is 0: the second longest of them, cycles */
	float longest;    /**< the longest of them, of late */
	float skip_least; /**< checks to the next look, at least */
	float skip_rate;  /**< and more of them, per cycle that is left */
	uint8_t lessons;  /**< slices in a row to learn from */
	bool sparse;      /**< each check is to look at the clock: that costs less than to count */
	bool guessed;     /**< a slice was over by a guess: one that is looked at has to tell */
	bool surprised;   /**< the last look did not fit: the next one tells if that is to last */
	struct weir_coro_fp fp_own;     /**< its, while it does not run */
	struct weir_coro_fp fp_resumer; /**< the resumer's, while it does */
	union {
		struct weir_coro_block *next_free; /**< in a list of free ones */
		void *base_resumer; /**< else: the resumer's register, see weir_coro_switch.h */
	};
	void *base_own; /**< as base_resumer, its own */
	void *locals[WEIR_CORO_LOCALS] __attribute__((aligned(64))); /**< local storage */

	/* what others write, now and then; its own thread reads it with each check */
	uint32_t attention __attribute__((aligned(
		64))); /**< somebody wants it to yield: see cancelled; odd: the ticker saw the slice end, of the generation and the low bits of resumes that it has */
	uint32_t
		learned; /**< its own: checks that its spacing was learned from; while that is 0, all that told nothing of it */
	uint8_t disturbances; /**< likewise: four for each look of late that told nothing of it, less those that fitted */
};

/**
 * Who runs on a thread, of those that are shown to a ticker, which looks at this all the time. The thread writes it, and never reads it: a line that
 * another core has looked at may be gone from this one.
 */
struct weir_coro_shown {
	struct weir_coro_block *current; /**< the innermost one, or NULL */
	struct weir_coro_block
		*outer;            /**< what waited for the one that was resumed last, or NULL */
	struct weir_coro *resumed; /**< that one */
	uint64_t resumes;          /**< its resumptions by then */
};

/** What a thread keeps. */
struct weir_coro_thread {
	struct weir_coro_block *current; /**< the coroutine that runs here, or NULL */
	bool ticked;                     /**< a ticker says when slices are over */
	struct weir_coro_context
		resumer; /**< where who resumed that one goes on; the next instruction is not looked at */
	struct weir_coro_shown shown __attribute__((aligned(64))); /**< in a line of its own */
};

/** The calling thread's; see weir_coro_thread_now(). */
extern __thread struct weir_coro_thread weir_coro_thread __attribute__((tls_model("initial-exec")));

/** Library internal: weir_coro_thread_now() of machines that have none of their own. */
struct weir_coro_thread *weir_coro_thread_address(void);

/**
 * What the calling thread keeps, asked for anew at each use: after a switch it may be another thread, and
 * compilers take what they know of a thread-local variable for true over a switch. To be used for one access; the address
 * is not to be kept.
 */
static inline __attribute__((always_inline)) struct weir_coro_thread *
weir_coro_thread_now(void)
{
#if defined(__x86_64__)
	/* With the initial-exec model each access is relative to the thread's segment: nothing to keep but an offset. */
	return &weir_coro_thread;
#elif defined(__aarch64__)
	uintptr_t thread, offset;

	/* The same without volatile, or by the compiler itself, is worked out once and kept. */
	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(thread));
	/* The offset is the same in all threads. */
	__asm__("adrp %0, :gottprel:weir_coro_thread\n\t"
		"ldr %0, [%0, #:gottprel_lo12:weir_coro_thread]"
		: "=r"(offset));
	return (struct weir_coro_thread *)(thread + offset);
#else
	return weir_coro_thread_address();
#endif
}

/** The same as an address that may be kept, until a switch: where there is more than one access. */
static inline __attribute__((always_inline)) struct weir_coro_thread *
weir_coro_thread_here(void)
{
#if defined(__x86_64__)
	struct weir_coro_thread *thread;

	/*
	 * Without volatile a compiler may take it for the same after a switch. The thread's base is read by a register that is 0: so it is told
	 * apart from an address that a compiler works out, and may keep (tests/build/test_tls.py).
	 */
	__asm__ volatile("xor %k0, %k0\n\t"
			 "mov %%fs:(%0), %0\n\t"
			 "add weir_coro_thread@gottpoff(%%rip), %0"
			 : "=r"(thread)
			 :
			 : "cc");
	return thread;
#else
	return weir_coro_thread_now();
#endif
}

/** Library internal: refuse and count. */
void weir_coro_refuse(enum weir_coro_misuse what, const void *handle);

/** Library internal: refuse a resumption. */
void weir_coro_resume_refused(struct weir_coro *coro);

/** Library internal: has the slice come to its end with one more check? Decides when to ask again. */
bool weir_coro_slice_over(struct weir_coro_block *block);

/** Library internal: the same where that check was counted, and looked at the clock, which showed @p now. */
bool weir_coro_slice_looked(struct weir_coro_block *block, uint64_t now);

/** Library internal: it is resumed, and its slice begins with a look at the clock. */
void weir_coro_slice_begin(struct weir_coro_block *block);

/** Library internal: it resumes another one, in its slice. */
void weir_coro_slice_waits(struct weir_coro_block *block);

/** Library internal: yield, out of line. */
bool weir_coro_yield_slowly(void);

/** Library internal: a resumption in a build with checks or tools, which want more to be done. */
void weir_coro_resume_checked(struct weir_coro *coro);

/** A handle's generation and the state that is asked for. */
static inline uint32_t
weir_coro_word(const struct weir_coro *coro, enum weir_coro_state state)
{
	return (uint32_t)((uintptr_t)coro >> 48) << 16 | (uint32_t)state;
}

/** What a handle stands for, if it is not stale. */
static inline struct weir_coro_block *
weir_coro_block_of(const struct weir_coro *coro)
{
	return (struct weir_coro_block *)((uintptr_t)coro & (((uintptr_t)1 << 48) - 1));
}

/**
 * What checks are left of a coroutine whose next slice is to begin with a look at the clock. That of one with even fewer does so, too: it yielded by
 * itself, and each of its checks looks.
 */
#define WEIR_CORO_LOOK UINT32_MAX

/** A slice begins: who runs now? */
static inline __attribute__((always_inline)) void
weir_coro_slice_enter(struct weir_coro_block *block, struct weir_coro_thread *thread)
{
	struct weir_coro_block *outer = thread->current;

	if (__builtin_expect(outer != NULL, 0))
		weir_coro_slice_waits(outer);
	if (__builtin_expect((int32_t)block->checks_left < 0, 0))
		weir_coro_slice_begin(block);
	block->checks_begin = block->checks_left;
	block->outer = outer;
	thread->current = block;
}

static inline bool
weir_coro_is_shown(const struct weir_coro_block *block)
{
	return (block->extra & WEIR_CORO_EXTRA_SHOWN) != 0;
}

/** Of a coroutine and those that wait for it: the innermost one that is shown, or NULL. */
static inline struct weir_coro_block *
weir_coro_next_shown(struct weir_coro_block *block)
{
	while (block != NULL && !weir_coro_is_shown(block))
		block = block->outer;
	return block;
}

/** More to be done when a coroutine is resumed; block->extra says that there may be. */
static inline void
weir_coro_resume_extra(struct weir_coro *coro, struct weir_coro_block *block)
{
	if ((block->extra & WEIR_CORO_EXTRA_FP) != 0)
		weir_coro_fp_exchange(&block->fp_resumer, &block->fp_own);
	if (__builtin_expect(weir_coro_is_shown(block), 0)) {
		weir_coro_thread_now()->shown.outer = weir_coro_next_shown(block->outer);
		weir_coro_thread_now()->shown.resumed = coro;
		weir_coro_thread_now()->shown.resumes = block->resumes;
		weir_coro_thread_now()->shown.current = block;
	}
}

/** And when it leaves. */
static inline void
weir_coro_leave_extra(struct weir_coro_block *block)
{
	if ((block->extra & WEIR_CORO_EXTRA_FP) != 0)
		weir_coro_fp_exchange(&block->fp_own, &block->fp_resumer);
	if (__builtin_expect(weir_coro_is_shown(block), 0))
		weir_coro_thread_now()->shown.current = weir_coro_next_shown(block->outer);
}

/** Back from a coroutine: note where it goes on, and who runs now. */
static inline __attribute__((always_inline)) void
weir_coro_slice_left(struct weir_coro_block *block, struct weir_coro_arrival arrival)
{
	struct weir_coro_block *outer = block->outer;

	block->contexts.own = arrival.left;
	arrival.thread->current = outer;
	/* It was written over when that one resumed this one. */
	if (__builtin_expect(outer != NULL, 0))
		arrival.thread->resumer = outer->contexts.resumer;
}

/**
 * Run a coroutine until it yields or ends. From a coroutine too: that one waits meanwhile, and its
 * time slice runs on. A coroutine that has exited, runs, or was destroyed is refused and counted.
 * Two threads that resume the same coroutine at the same instant may both get through here: the checks build
 * (-Dcoro_checks=true) tells them apart.
 */
static inline void
weir_coro_resume(struct weir_coro *coro)
{
#if defined(WEIR_CORO_CHECKS)
	weir_coro_resume_checked(coro);
#else
	struct weir_coro_block *block = weir_coro_block_of(coro);
	const uint32_t suspended = weir_coro_word(coro, WEIR_CORO_STATE_SUSPENDED);
	struct weir_coro_thread *thread = weir_coro_thread_here();
	struct weir_coro_arrival arrival;

	if (__builtin_expect(
		    coro == NULL || __atomic_load_n(&block->word, __ATOMIC_ACQUIRE) != suspended,
		    0)) {
		weir_coro_resume_refused(coro);
		return;
	}
	__atomic_store_n(
		&block->word, weir_coro_word(coro, WEIR_CORO_STATE_RUNNING), __ATOMIC_RELAXED);
	block->resumes++;
	weir_coro_slice_enter(block, thread);
	if (__builtin_expect(block->extra, 0))
		weir_coro_resume_extra(coro, block);
	arrival = weir_coro_switch_in(&block->contexts, thread);
	block = weir_coro_block_of(coro);
	weir_coro_slice_left(block, arrival);
	/* Only now may it go on elsewhere. */
	__atomic_store_n(&block->word, block->word_after, __ATOMIC_RELEASE);
#endif
}

/** Library internal: weir_coro_yield() of the one that runs here, or NULL. */
static inline __attribute__((always_inline)) bool
weir_coro_yield_of(struct weir_coro_block *block)
{
#if defined(WEIR_CORO_CHECKS)
	(void)block;
	return weir_coro_yield_slowly();
#else
	if (__builtin_expect(block == NULL, 0))
		return weir_coro_yield_slowly();
	if (__builtin_expect(block->extra, 0)) {
		if ((block->extra & WEIR_CORO_EXTRA_HELD) != 0)
			return weir_coro_yield_slowly();
		weir_coro_leave_extra(block);
	}
	block = (struct weir_coro_block *)(void *)weir_coro_switch_out(
		&block->contexts, weir_coro_thread_here());
	return __atomic_load_n(&block->cancelled, __ATOMIC_RELAXED);
#endif
}

/**
 * Give the core back to who resumed the calling coroutine; return when it is resumed.
 *
 * @return true when the coroutine is to end (weir_coro_cancel())
 */
static inline bool
weir_coro_yield(void)
{
	return weir_coro_yield_of(weir_coro_thread_now()->current);
}

/**
 * Library internal: do regular checks end this slice by their number, with nothing else to attend to? So most of them end, and inline it
 * costs half. After the last one it is looked at the clock. (Of a cancellation attention tells, at the first check after it.)
 */
static inline __attribute__((always_inline)) bool
weir_coro_slice_counted(struct weir_coro_block *block)
{
	const uint32_t given = block->checks_given;

	if (block->blind == 0 || block->checks_begin != given || block->held != 0)
		return false;
	block->checks += given;
	block->blind--;
	block->checks_given = block->checks_left = block->blind > 0 ? given : WEIR_CORO_LOOK;
	return true;
}

/**
 * Library internal: a check. Is the slice over? What is loaded comes first, then the clock, then what is stored: a read of the
 * clock waits for stores before it.
 */
static inline __attribute__((always_inline)) bool
weir_coro_slice_check(struct weir_coro_block *block)
{
	const int32_t left = (int32_t)block->checks_left;
	const uint32_t attention = __atomic_load_n(&block->attention, __ATOMIC_RELAXED);
	uint64_t now;

	if (__builtin_expect(left > 1 && attention == 0, 1)) {
		block->checks_left = (uint32_t)left - 1;
		return false;
	}
	if (attention != 0)
		return weir_coro_slice_over(block);
	if (left > 0)
		return weir_coro_slice_counted(block) || weir_coro_slice_over(block);
	now = weir_base_cycles();
	__asm__ volatile("" : : : "memory");
	block->checks_left = (uint32_t)left - 1;
	return __builtin_expect((int64_t)(block->soon - now) <= 0, 0) &&
	       weir_coro_slice_looked(block, now);
}

/**
 * Yield if the time slice is up. To be called often: it counts, and looks at the clock as rarely as what it has
 * learned of the time between calls (the spacing) allows; or each time, where that costs less: irregular calls that are few in a slice.
 *
 * Where spacings are alike, a slice ends with the call next to its end, before it or after. Else it ends at most an eighth of
 * it early, and at most the longest spacing (of late) late, as who reads the clock at each call is late by so much at most; but
 * not always with the first call after its end. That is so for nearly all slices, not for each: with independent spacings
 * for all but 2 of 1000, for all but 15 where one of 20 spacings is 20 times as long as the others. Slices
 * are longer where spacings change, until that is known. A ticker (weir_coro_ticker_start()) needs to know nothing.
 *
 * Outside of a coroutine it does nothing, so that the same code runs in both.
 *
 * @return true when the coroutine is to end
 */
static inline bool
weir_coro_maybe_yield(void)
{
	struct weir_coro_block *block = weir_coro_thread_now()->current;

	if (__builtin_expect(block == NULL, 0))
		return false;
	if (!weir_coro_slice_check(block))
		return false;
	return weir_coro_yield_of(block);
}

/**
 * The calling coroutine takes a spinlock, or enters a read section: it must not yield until weir_coro_release(). Nests, 254 deep:
 * deeper it may never yield again. Outside of coroutines it does nothing. weir_coro_lock.h does so around DPDK's locks.
 */
static inline void
weir_coro_hold(void)
{
	struct weir_coro_block *block = weir_coro_thread_now()->current;

	if (block != NULL && block->held < UINT8_MAX) {
		block->held++;
		block->extra |= WEIR_CORO_EXTRA_HELD;
	}
}

/** The last weir_coro_hold() is over. */
static inline void
weir_coro_release(void)
{
	struct weir_coro_block *block = weir_coro_thread_now()->current;

	if (block != NULL && block->held > 0 && block->held < UINT8_MAX) {
		block->held--;
		if (block->held == 0)
			block->extra &= (uint8_t)~WEIR_CORO_EXTRA_HELD;
	}
}

#ifdef __cplusplus
}
#endif

#endif
