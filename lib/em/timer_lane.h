/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TIMER_LANE_H
#define TIMER_LANE_H

/*
 * Timeouts, and the lanes in which they wait: a lane is a core's wheel with a lock, so that all may arm and cancel there.
 *
 * A timeout's word has its generation and a state:
 *
 *     FREE --> IDLE <-------------------------------------------.
 *               | ^                                              |
 *      claim    | | given up                                     |
 *               v |           launch            pop              |
 *              SETUP ---------------------> ARMED ---> IDLE, or ACK (with a period), which is claimed, or else
 *                                             |          '--- cancel ---> CANCELLED --- its event came back ---> IDLE
 *                                             '--- cancel ---> IDLE
 *
 * Who acknowledges says which timeout it is, not which event. So while the event of one that was cancelled is out, it is not armed.
 *
 * SETUP belongs to one thread, until it changes it. To and from ARMED it changes under the lock of the lane that it waits
 * in, and only there is it told which of pop and cancel came first.
 *
 * Which lane that is may only be read after the word, under the lock of the lane that it is taken for: it becomes that one
 * under this lock, before the word becomes ARMED. So a word that was ARMED, and a lane that is this one after that, are those
 * of one arming, which is not over.
 *
 * Tests run every interleaving of these functions: EM_STEP() is before each access that others can see, EM_WAIT() where one waits.
 */

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_pause.h>

#include "weir_base_hist.h"
#include "weir_base_wheel.h"
#include "weir_em_timer.h"

#ifndef EM_STEP
#define EM_STEP()
#define EM_WAIT() timer_wait(&nb_waits)
#endif

enum timeout_state {
	TIMEOUT_FREE,
	TIMEOUT_IDLE,
	TIMEOUT_SETUP,
	TIMEOUT_ARMED,
	TIMEOUT_ACK,
	TIMEOUT_CANCELLED
};

#define TIMEOUT_BIT(state) (1u << TIMEOUT_##state)

/* It is in no lane, and nobody is at it. */
#define TIMEOUT_BITS_AT_REST (TIMEOUT_BIT(IDLE) | TIMEOUT_BIT(ACK) | TIMEOUT_BIT(CANCELLED))

struct timeout {
	struct weir_base_wheel_entry entry; /* first; under the lane's lock */
	uint64_t word;
	struct timer_lane *lane; /* where it waits, or did */
	/* Of who claimed it; while it is armed, under the lane's lock. */
	uint64_t due_ns, due_cycles, period_ns;
	struct rte_event event;
	/* As it was created. */
	weir_em_queue queue;
	weir_em_timeout handle;
	uint64_t timer; /* number */
} __attribute__((aligned(64)));

struct timer_lane {
	uint64_t next; /* cycles: nothing to do before; any thread */
	uint32_t lock;
	/* Under the lock. */
	unsigned int shift; /* a tick is so many cycles, log2 */
	uint64_t nb_armed, nb_fired, nb_cancelled, nb_overruns;
	uint64_t nb_undeliverable; /* by atomic instructions */
	struct weir_base_wheel wheel;
	struct weir_base_hist late_ns;
} __attribute__((aligned(64)));

/* The holder may not even be running. */
static inline void
timer_wait(unsigned int *nb_waits)
{
	if (++*nb_waits % 256 == 0)
		sched_yield();
	else
		rte_pause();
}

static inline bool
timer_lane_trylock(struct timer_lane *lane)
{
	EM_STEP();
	return __atomic_load_n(&lane->lock, __ATOMIC_RELAXED) == 0 &&
	       __atomic_exchange_n(&lane->lock, 1, __ATOMIC_ACQUIRE) == 0;
}

static inline void
timer_lane_lock(struct timer_lane *lane)
{
	unsigned int nb_waits = 0;

	while (!timer_lane_trylock(lane))
		EM_WAIT();
	(void)nb_waits;
}

static inline void
timer_lane_unlock(struct timer_lane *lane)
{
	EM_STEP();
	__atomic_store_n(&lane->lock, 0, __ATOMIC_RELEASE);
}

/* For another timer: nothing waits there. */
static inline void
timer_lane_reset(struct timer_lane *lane, unsigned int shift, uint64_t now_cycles)
{
	timer_lane_lock(lane);
	lane->shift = shift;
	lane->nb_armed = lane->nb_fired = lane->nb_cancelled = lane->nb_overruns = 0;
	memset(&lane->late_ns, 0, sizeof(lane->late_ns));
	lane->wheel.now = now_cycles >> shift;
	__atomic_store_n(&lane->next, UINT64_MAX, __ATOMIC_RELAXED);
	__atomic_store_n(&lane->nb_undeliverable, 0, __ATOMIC_RELAXED);
	timer_lane_unlock(lane);
}

/* How many timeouts wait there. */
static inline uint32_t
timer_lane_nb(struct timer_lane *lane)
{
	uint32_t nb;

	timer_lane_lock(lane);
	nb = lane->wheel.nb;
	timer_lane_unlock(lane);
	return nb;
}

/* Under the lock: when to look again. */
static inline void
timer_lane_next(struct timer_lane *lane)
{
	uint64_t tick = weir_base_wheel_next(&lane->wheel);

	__atomic_store_n(&lane->next,
		tick <= UINT64_MAX >> lane->shift ? tick << lane->shift : UINT64_MAX,
		__ATOMIC_RELAXED);
}

static inline uint64_t
timeout_word(uint64_t generation, enum timeout_state state)
{
	return generation << 8 | (uint64_t)state;
}

static inline enum timeout_state
timeout_state(uint64_t word)
{
	return (enum timeout_state)(word & 0xff);
}

static inline uint64_t
timeout_load(const struct timeout *timeout)
{
	EM_STEP();
	return __atomic_load_n(&timeout->word, __ATOMIC_ACQUIRE);
}

static inline bool
timeout_swap(struct timeout *timeout, uint64_t *word, uint64_t generation, enum timeout_state state)
{
	EM_STEP();
	return __atomic_compare_exchange_n(&timeout->word, word, timeout_word(generation, state),
		false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static inline void
timeout_store(struct timeout *timeout, uint64_t generation, enum timeout_state state)
{
	EM_STEP();
	__atomic_store_n(&timeout->word, timeout_word(generation, state), __ATOMIC_RELEASE);
}

/* Of another generation, or none. */
static inline bool
timeout_is_stale(uint64_t word, uint64_t generation)
{
	return word >> 8 != generation || timeout_state(word) == TIMEOUT_FREE;
}

/*
 * It is the caller's to change, if its state is one of @states (bits).
 *
 * @return 0, and the state that it had; -ESTALE; -EBUSY, and the state that it has
 */
static inline int
timeout_claim(
	struct timeout *timeout, uint64_t generation, unsigned int states, enum timeout_state *had)
{
	uint64_t word = timeout_load(timeout);

	do {
		if (timeout_is_stale(word, generation))
			return -ESTALE;
		*had = timeout_state(word);
		if ((states >> *had & 1) == 0)
			return -EBUSY;
	} while (!timeout_swap(timeout, &word, generation, TIMEOUT_SETUP));
	return 0;
}

/* After a claim: it waits in this lane from now on. @tick: when it is due; @now: the time */
static inline void
timeout_launch(struct timeout *timeout, uint64_t generation, struct timer_lane *lane, uint64_t tick,
	uint64_t now, uint64_t overruns)
{
	timer_lane_lock(lane);
	weir_base_wheel_skip(&lane->wheel, now);
	timeout->entry.tick = tick;
	weir_base_wheel_add(&lane->wheel, &timeout->entry);
	timer_lane_next(lane);
	lane->nb_armed++;
	lane->nb_overruns += overruns;
	EM_STEP();
	__atomic_store_n(&timeout->lane, lane, __ATOMIC_RELAXED);
	timeout_store(timeout, generation, TIMEOUT_ARMED);
	timer_lane_unlock(lane);
}

/* Under the lane's lock: the next that is due by the end of tick @now, which has fired then; NULL: see weir_base_wheel_advance(). */
static inline struct timeout *
timer_lane_pop(struct timer_lane *lane, uint64_t now, unsigned int *steps)
{
	struct weir_base_wheel_entry *entry = weir_base_wheel_advance(&lane->wheel, now, steps);

	if (entry != NULL)
		lane->nb_fired++;
	return (struct timeout *)(void *)entry;
}

/* Then, when nothing of it is needed any more: it is others' again. */
static inline void
timeout_fired(struct timeout *timeout)
{
	/* nobody else changes it: it is armed in a lane that is locked */
	uint64_t word = timeout_load(timeout);

	timeout_store(timeout, word >> 8, timeout->period_ns > 0 ? TIMEOUT_ACK : TIMEOUT_IDLE);
}

/* If it waits in this lane, it does no more. False: it does not. */
static inline bool
timeout_take_out(struct timeout *timeout, uint64_t generation, struct timer_lane *lane,
	struct rte_event *event)
{
	bool armed;

	timer_lane_lock(lane);
	armed = timeout_load(timeout) == timeout_word(generation, TIMEOUT_ARMED);
	EM_STEP();
	armed &= __atomic_load_n(&timeout->lane, __ATOMIC_RELAXED) == lane;
	if (armed) {
		weir_base_wheel_remove(&lane->wheel, &timeout->entry);
		timer_lane_next(lane);
		lane->nb_cancelled++;
		*event = timeout->event;
		timeout_store(timeout, generation, TIMEOUT_IDLE);
	}
	timer_lane_unlock(lane);
	return armed;
}

/* @return 0: the event is the caller's; -EALREADY: it fired, or was not armed; -ESTALE */
static inline int
timeout_cancel(struct timeout *timeout, uint64_t generation, struct rte_event *event)
{
	unsigned int nb_waits = 0;

	for (;;) {
		uint64_t word = timeout_load(timeout);

		if (timeout_is_stale(word, generation))
			return -ESTALE;
		switch (timeout_state(word)) {
		case TIMEOUT_SETUP:
			EM_WAIT();
			break;
		case TIMEOUT_ARMED:
			EM_STEP();
			if (timeout_take_out(timeout, generation,
				    __atomic_load_n(&timeout->lane, __ATOMIC_RELAXED), event))
				return 0;
			break;
		case TIMEOUT_ACK:
			if (timeout_swap(timeout, &word, generation, TIMEOUT_CANCELLED))
				return -EALREADY;
			break;
		default:
			return -EALREADY;
		}
	}
	(void)nb_waits;
}

/* The event of one that was cancelled after it had fired: it can be armed again. */
static inline void
timeout_came_back(struct timeout *timeout, uint64_t generation)
{
	uint64_t word = timeout_word(generation, TIMEOUT_CANCELLED);

	timeout_swap(timeout, &word, generation, TIMEOUT_IDLE);
}

#endif
