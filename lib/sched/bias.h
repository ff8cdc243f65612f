/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_BIAS_H
#define SCHED_BIAS_H

/*
 * A lock that one port takes again and again, without an atomic instruction each time, which waits until all stores before it are done. Who comes for the
 * lock besides, seldom, pays for both (K. Kawachiya et al., "Lock Reservation", OOPSLA 2002; here by a fence of the kernel's, fence.h):
 *
 *     the port     is inside; looks whether it holds the bias: if so, it has the lock; if not, it is not inside, and takes the lock as all others do
 *     another one  has the lock; nobody holds the bias any more; fence_all(); waits until who held it is not inside
 *
 * If the other one does not see that the port is inside, that will see that it does not hold the bias.
 *
 *   - A port holds it from when it has the lock, and says so, until it, which is not inside then, or who else has the lock says otherwise.
 *   - A port holds one at most. It may have the lock itself while it holds it; it is never inside then, and nowhere else.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_branch_prediction.h>

/* Beside the lock. */
struct bias {
	uint32_t
		holder; /* its number; 0: nobody. Set by it, under the lock; reset by it, or under the lock */
};

/* Of a port. */
struct port_bias {
	uint32_t is_inside; /* that which it holds; others read it */
	uint32_t number;    /* what it is known by, not 0 */
	struct bias *mine;  /* it held it when it looked last; NULL: none */
	uint32_t
		pause; /* so often it might have taken one and did not after others came, which is more each time they do */
	uint32_t left; /* and so often still; */
	uint32_t nb;   /* so often it was, since the pause changed */
	uint64_t nb_ended; /* by others */
};

/*
 * Others came: that took them 10 us, and interrupts all threads that run. It pays again after some thousand events, of which the port looks around after a
 * few dozen; and the pause is half as long after so many times as long in which nobody came.
 */
#define BIAS_PAUSE_LEAST 128
#define BIAS_PAUSE_MOST  (1u << 16)
#define BIAS_QUIET       16

/* bias.c: by another one that has the lock: it is waited for who held it. */
void bias_end(struct bias *bias, const struct port_bias *holder);

static inline uint32_t
bias_holder(const struct bias *bias)
{
	return __atomic_load_n(&bias->holder, __ATOMIC_ACQUIRE);
}

/* Anybody, of who holds a bias, before taking the lock: it has it just now, or is about to; it may have lost its CPU. Who comes within some nanoseconds
 * does not see it. */
static inline bool
bias_is_inside(const struct port_bias *holder)
{
	return __atomic_load_n(&holder->is_inside, __ATOMIC_RELAXED) != 0;
}

static inline void
bias_leave(struct port_bias *port)
{
	__atomic_store_n(&port->is_inside, 0, __ATOMIC_RELEASE);
}

/* By the port, which has not the lock. @return false: it does not hold it */
static inline bool
bias_enter(const struct bias *bias, struct port_bias *port)
{
	__atomic_store_n(&port->is_inside, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the fence is the other one's */
	if (likely(bias_holder(bias) == port->number))
		return true;
	bias_leave(port);
	return false;
}

/* By the port, under the lock, while nobody else holds it: it may take it, once more or not. @return it does not hold one */
static inline bool
bias_may_begin(struct port_bias *port)
{
	if (port->left > 0) {
		port->left--;
		return false;
	}
	if (++port->nb > BIAS_QUIET * port->pause) {
		port->nb = 0;
		port->pause /= 2;
	}
	return true;
}

static inline void
bias_begin(struct bias *bias, struct port_bias *port)
{
	port->mine = bias;
	__atomic_store_n(&bias->holder, port->number, __ATOMIC_RELAXED);
}

/* By the port, which holds one, or did, and is not inside. Of what it did there others know who see that. By then it may be another one's. */
static inline void
bias_give_up(struct port_bias *port)
{
	struct bias *bias = port->mine;
	uint32_t holder = port->number;

	port->mine = NULL;
	if (likely(__atomic_compare_exchange_n(
		    &bias->holder, &holder, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)))
		return;
	port->pause = port->pause < BIAS_PAUSE_LEAST  ? BIAS_PAUSE_LEAST
		      : port->pause < BIAS_PAUSE_MOST ? 2 * port->pause
						      : BIAS_PAUSE_MOST;
	port->left = port->pause;
	port->nb = 0;
	__atomic_store_n(&port->nb_ended, port->nb_ended + 1, __ATOMIC_RELAXED);
}

#endif
