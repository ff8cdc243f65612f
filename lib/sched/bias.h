/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_BIAS_H
#define SCHED_BIAS_H

/*
 * A lock that one port takes again and again, without an atomic instruction each time, which waits until all stores before it are done. Who comes for the
 * lock besides, seldom, pays for both (K. Kawachiya et al., "Lock Reservation", OOPSLA 2002; here by a fence of the kernel's, fence.h):
 *
 *     the port     is inside; looks whether the bias holds: if so, it has the lock; if not, it is not inside, and takes the lock as all others do
 *     another one  has the lock; the bias does not hold any more; fence_all(); waits until nobody is inside
 *
 * If the other one does not see that the port is inside, that will see that the bias does not hold.
 *
 *   - The bias holds from when its port has the lock, and says so, until that port, which is not inside then, or who else has the lock says otherwise.
 *   - The port may have the lock itself while it holds; it is never inside then.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>

/* Beside the lock. */
struct bias {
	uint32_t holds;     /* written under the lock, or by the port */
	uint32_t is_inside; /* by the port */
};

/* What the port knows of it. */
struct port_bias {
	bool is_mine; /* it was, when the port looked last */
	uint32_t
		pause; /* so often it was not taken after others came, which is more each time they do */
	uint32_t left;     /* and so often still; */
	uint32_t nb;       /* so often it was, since the pause changed */
	uint64_t nb_ended; /* by others */
};

/*
 * Others came: that took them 10 us, and interrupts all threads that run. It pays again after some thousand events, of which the port looks around after a
 * few dozen; and the pause is half as long after so many times as long in which nobody came.
 */
#define BIAS_PAUSE_LEAST 128
#define BIAS_PAUSE_MOST  (1u << 16)
#define BIAS_QUIET       16

/* bias.c: by another one that has the lock: it is waited for who is inside. */
void bias_end(struct bias *bias);

static inline bool
bias_holds(const struct bias *bias)
{
	return __atomic_load_n(&bias->holds, __ATOMIC_ACQUIRE) != 0;
}

/* Anybody, before taking the lock: the port has it just now, or is about to; it may have lost its CPU. Who comes within some nanoseconds does not see it. */
static inline bool
bias_is_inside(const struct bias *bias)
{
	return __atomic_load_n(&bias->is_inside, __ATOMIC_RELAXED) != 0;
}

/* By its port, which has not the lock. @return false: it does not hold any more */
static inline bool
bias_enter(struct bias *bias)
{
	__atomic_store_n(&bias->is_inside, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the fence is the other one's */
	if (likely(bias_holds(bias)))
		return true;
	__atomic_store_n(&bias->is_inside, 0, __ATOMIC_RELEASE);
	return false;
}

static inline void
bias_leave(struct bias *bias)
{
	__atomic_store_n(&bias->is_inside, 0, __ATOMIC_RELEASE);
}

/* By its port, under the lock: it may take the bias, once more or not. @return it does not hold */
static inline bool
bias_may_begin(struct port_bias *mine)
{
	if (mine->left > 0) {
		mine->left--;
		return false;
	}
	if (++mine->nb > BIAS_QUIET * mine->pause) {
		mine->nb = 0;
		mine->pause /= 2;
	}
	return true;
}

/* By its port, which is not inside. Of what it did there others know who see that. */
static inline void
bias_give_up(struct bias *bias, struct port_bias *mine)
{
	mine->is_mine = false;
	if (likely(bias_holds(bias))) {
		__atomic_store_n(&bias->holds, 0, __ATOMIC_RELEASE);
		return;
	}
	mine->pause = mine->pause < BIAS_PAUSE_LEAST  ? BIAS_PAUSE_LEAST
		      : mine->pause < BIAS_PAUSE_MOST ? 2 * mine->pause
						      : BIAS_PAUSE_MOST;
	mine->left = mine->pause;
	mine->nb = 0;
	__atomic_store_n(&mine->nb_ended, mine->nb_ended + 1, __ATOMIC_RELAXED);
}

#endif
