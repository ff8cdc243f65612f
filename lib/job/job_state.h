/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOB_STATE_H
#define JOB_STATE_H

/*
 * The words by which those who wait and those who wake agree: a job's, and a completion's.
 *
 * A job's word. Left of it is who runs the job (or the job itself), right of it who wakes it:
 *
 *     READY ----- begin ----> RUNNING ---- prepare ---> PREPARED ------- claim ----.
 *       ^                        ^  ^                    |    |                    v
 *       |                        |  '------ back --------'    |                  WOKEN
 *       |                        '--------- back -------------+--------------------|
 *       |                                                   leave                leave
 *       |                                                     v                    |
 *       '------------------- claim ----------------------- WAITING                 |
 *       '--------------------------------------------------------------------------'
 *
 * PREPARED: it is about to wait, and still on its stack: who wakes it now only says so. When the coroutine has left its stack, who ran it
 * publishes that (leave): only from then on may others resume it. Who brings a job to READY owns it, and puts it where a core finds it.
 * There is one such transition for each wait, whoever wakes at the same time. A job whose slice is up stays RUNNING: that it has an event is
 * known by who has it, and told by a flag of its own (queued); two atomic operations of each slice are spared so.
 *
 * A completion's word: 0, DONE, or who waits.
 *
 *     0 ---- listen ---> job or THREAD ---- complete ---> WAKING ----> DONE
 *     | <--- give up ---------'                                         ^
 *     '----------------------- complete --------------------------------'
 *
 * The last thing done to it is to make it DONE; only then may its memory be used for something else. While it is WAKING the job is
 * claimed: it has been woken by somebody else, or is made ready after DONE is there.
 *
 * Tests run every interleaving of the atomic operations of these functions.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

enum job_state {
	JOB_FREE,
	JOB_READY,
	JOB_RUNNING,
	JOB_PREPARED,
	JOB_WAITING,
	JOB_WOKEN,
	JOB_DELIVERING, /* it has ended, and is about to say so */
};

#define JOB_STATE         7u
#define JOB_CANCELLED     8u  /* it was asked to end */
#define JOB_UNCANCELLABLE 16u /* the wait that it prepared goes on all the same */

static inline enum job_state
job_state(uint32_t word)
{
	return (enum job_state)(word & JOB_STATE);
}

static inline uint32_t
job_word(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* By who owns it, before it is resumed; others may set JOB_CANCELLED. @return the word */
static inline uint32_t
job_state_begin(uint32_t *word)
{
	uint32_t now = job_word(word);

	if (job_state(now) != JOB_READY)
		return now; /* its slice was up before */
	return __atomic_fetch_add(
		word, (uint32_t)JOB_RUNNING - (uint32_t)JOB_READY, __ATOMIC_SEQ_CST);
}

/* By the job: it is about to wait. @flag: 0 or JOB_UNCANCELLABLE. @return the word before */
static inline uint32_t
job_state_prepare(uint32_t *word, uint32_t flag)
{
	return __atomic_fetch_add(
		word, (uint32_t)JOB_PREPARED - (uint32_t)JOB_RUNNING + flag, __ATOMIC_SEQ_CST);
}

static inline bool
job_state_swap(uint32_t *word, uint32_t *old, uint32_t new)
{
	return __atomic_compare_exchange_n(
		word, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
}

/* By the job: it does not wait after all. */
static inline void
job_state_back(uint32_t *word)
{
	uint32_t old = job_word(word), new;

	do
		new = (old & JOB_CANCELLED) | JOB_RUNNING;
	while (!job_state_swap(word, &old, new));
}

/* By who ran it: it has left its stack. @return false: it was woken before, and is READY, and the caller's */
static inline bool
job_state_leave(uint32_t *word)
{
	uint32_t old = job_word(word), new;

	do
		new = (old & ~JOB_STATE) |
		      (job_state(old) == JOB_PREPARED ? JOB_WAITING : JOB_READY);
	while (!job_state_swap(word, &old, new));
	return job_state(new) == JOB_WAITING;
}

/* What a word becomes when the job is woken; the same if it is not to be. */
static inline uint32_t
job_woken(uint32_t word)
{
	if (job_state(word) == JOB_PREPARED)
		return (word & ~JOB_STATE) | JOB_WOKEN;
	if (job_state(word) == JOB_WAITING)
		return (word & ~JOB_STATE) | JOB_READY;
	return word;
}

/* Wake it. @return true: it is READY, and the caller's to put where a core finds it */
static inline bool
job_state_claim(uint32_t *word)
{
	uint32_t old = job_word(word), new;

	do {
		new = job_woken(old);
		if (new == old)
			return false;
	} while (!job_state_swap(word, &old, new));
	return job_state(new) == JOB_READY;
}

/* Ask it to end. @return 0; -EALREADY; -ESTALE: it has ended. *claimed: as job_state_claim() */
static inline int
job_state_cancel(uint32_t *word, bool *claimed)
{
	uint32_t old = job_word(word), new;

	do {
		*claimed = false;
		if (job_state(old) == JOB_DELIVERING)
			return -ESTALE;
		if ((old & JOB_CANCELLED) != 0)
			return -EALREADY;
		new = old;
		if ((old & JOB_UNCANCELLABLE) == 0)
			new = job_woken(old);
		*claimed = new != old &&job_state(new) == JOB_READY;
		new |= JOB_CANCELLED;
	} while (!job_state_swap(word, &old, new));
	return 0;
}

/* ---- completions ---- */

#define JOB_DONE   UINT64_C(1)
#define JOB_THREAD UINT64_C(2) /* a thread waits, by a futex of the word's lower half */
#define JOB_WAKING UINT64_C(3)

static inline uint64_t
job_completion_word(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* From now on @who is woken. @return 0; -EALREADY: it is done; -EBUSY: another one listens */
static inline int
job_completion_listen(uint64_t *word, uint64_t who)
{
	uint64_t old = 0;

	if (__atomic_compare_exchange_n(word, &old, who, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE))
		return 0;
	return old == JOB_DONE ? -EALREADY : -EBUSY;
}

/* No more. @return false: it is done, or will be in a moment (WAKING) */
static inline bool
job_completion_give_up(uint64_t *word, uint64_t who)
{
	uint64_t old = who;

	return __atomic_compare_exchange_n(
		word, &old, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
}

/*
 * It has happened.
 *
 * @return 0; -EALREADY. *who: 0, JOB_THREAD, who is to be woken by the futex; or a job: WAKING, to be claimed, then job_completion_done()
 */
static inline int
job_completion_complete(uint64_t *word, uint64_t *who)
{
	uint64_t old = job_completion_word(word), new;

	do {
		if (old == JOB_DONE || old == JOB_WAKING)
			return -EALREADY;
		new = old == 0 || old == JOB_THREAD ? JOB_DONE : JOB_WAKING;
	} while (!__atomic_compare_exchange_n(
		word, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE));
	*who = old;
	return 0;
}

/* Its memory is the waiter's from now on. */
static inline void
job_completion_done(uint64_t *word)
{
	__atomic_store_n(word, JOB_DONE, __ATOMIC_RELEASE);
}

#endif
