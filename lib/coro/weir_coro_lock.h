/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_CORO_LOCK_H
#define WEIR_CORO_LOCK_H

/**
 * @file
 * DPDK's locks and read sections, for code that may run on a coroutine: weir_coro_X() does what rte_X() does, and has the
 * calling coroutine weir_coro_hold() until the lock is given back. A yield meanwhile is refused and counted
 * (WEIR_CORO_MISUSE_HOLDING): it would leave the lock taken until somebody resumes the coroutine, while others spin for it, among
 * them perhaps the one who should; a read section might be left on another thread than the one it was entered on.
 *
 * Refused is weir_coro_yield(), weir_coro_join(), and that weir_coro_maybe_yield() whose time slice is over: the
 * coroutine runs on, until the first one after it gave the lock back. A maybe_yield within a slice costs no more than elsewhere, and is not seen:
 * weir_coro_always_yield() finds each one that is called with a lock, so have it on in tests. It is misuse although nothing came of it: a
 * lock's time must be bounded by the code that it is around. What must look at its slice is done before the lock, or after it.
 *
 * Give back what was taken on the same coroutine, in any order. Outside of a coroutine nothing is noted, so the same code runs in
 * both; locks taken there and given back in a coroutine, or the other way round, are beyond this. A coroutine that
 * ends with a lock has lost it.
 *
 * Noting it is inline, and next to nothing beside a lock.
 */

#include <rte_rcu_qsbr.h>
#include <rte_rwlock.h>
#include <rte_seqlock.h>
#include <rte_spinlock.h>

#include "weir_coro.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Spinlocks */

/** rte_spinlock_lock() */
static inline void
weir_coro_spinlock_lock(rte_spinlock_t *lock)
{
	weir_coro_hold();
	rte_spinlock_lock(lock);
}

/** rte_spinlock_trylock(). @return 1: taken, 0: not */
static inline int
weir_coro_spinlock_trylock(rte_spinlock_t *lock)
{
	int taken = rte_spinlock_trylock(lock);

	if (taken)
		weir_coro_hold();
	return taken;
}

/** rte_spinlock_unlock() */
static inline void
weir_coro_spinlock_unlock(rte_spinlock_t *lock)
{
	rte_spinlock_unlock(lock);
	weir_coro_release();
}

/** rte_spinlock_recursive_lock(): whose it is, is a thread's number; another coroutine that the holder resumes gets in, too. */
static inline void
weir_coro_spinlock_recursive_lock(rte_spinlock_recursive_t *lock)
{
	weir_coro_hold();
	rte_spinlock_recursive_lock(lock);
}

/** rte_spinlock_recursive_trylock(). @return 1: taken, 0: not */
static inline int
weir_coro_spinlock_recursive_trylock(rte_spinlock_recursive_t *lock)
{
	int taken = rte_spinlock_recursive_trylock(lock);

	if (taken)
		weir_coro_hold();
	return taken;
}

/** rte_spinlock_recursive_unlock() */
static inline void
weir_coro_spinlock_recursive_unlock(rte_spinlock_recursive_t *lock)
{
	rte_spinlock_recursive_unlock(lock);
	weir_coro_release();
}

/* Read-write locks */

/** rte_rwlock_read_lock() */
static inline void
weir_coro_rwlock_read_lock(rte_rwlock_t *lock)
{
	weir_coro_hold();
	rte_rwlock_read_lock(lock);
}

/** rte_rwlock_read_trylock(). @return 0: taken, -EBUSY */
static inline int
weir_coro_rwlock_read_trylock(rte_rwlock_t *lock)
{
	int rc = rte_rwlock_read_trylock(lock);

	if (rc == 0)
		weir_coro_hold();
	return rc;
}

/** rte_rwlock_read_unlock() */
static inline void
weir_coro_rwlock_read_unlock(rte_rwlock_t *lock)
{
	rte_rwlock_read_unlock(lock);
	weir_coro_release();
}

/** rte_rwlock_write_lock() */
static inline void
weir_coro_rwlock_write_lock(rte_rwlock_t *lock)
{
	weir_coro_hold();
	rte_rwlock_write_lock(lock);
}

/** rte_rwlock_write_trylock(). @return 0: taken, -EBUSY */
static inline int
weir_coro_rwlock_write_trylock(rte_rwlock_t *lock)
{
	int rc = rte_rwlock_write_trylock(lock);

	if (rc == 0)
		weir_coro_hold();
	return rc;
}

/** rte_rwlock_write_unlock() */
static inline void
weir_coro_rwlock_write_unlock(rte_rwlock_t *lock)
{
	rte_rwlock_write_unlock(lock);
	weir_coro_release();
}

/* Sequence locks: DPDK 22.11 calls them experimental, and warns of each use without ALLOW_EXPERIMENTAL_API. */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/** rte_seqlock_write_lock() */
static inline void
weir_coro_seqlock_write_lock(rte_seqlock_t *lock)
{
	weir_coro_hold();
	rte_seqlock_write_lock(lock);
}

/** rte_seqlock_write_unlock() */
static inline void
weir_coro_seqlock_write_unlock(rte_seqlock_t *lock)
{
	rte_seqlock_write_unlock(lock);
	weir_coro_release();
}

/**
 * rte_seqlock_read_begin(). Other than with DPDK's, each one is followed by one weir_coro_seqlock_read_retry(), also when what
 * was read is of no use.
 */
static inline uint32_t
weir_coro_seqlock_read_begin(const rte_seqlock_t *lock)
{
	weir_coro_hold();
	return rte_seqlock_read_begin(lock);
}

/** rte_seqlock_read_retry(): the read section is over, whatever it returns. @return true: what was read is not consistent */
static inline bool
weir_coro_seqlock_read_retry(const rte_seqlock_t *lock, uint32_t begin)
{
	bool retry = rte_seqlock_read_retry(lock, begin);

	weir_coro_release();
	return retry;
}

#pragma GCC diagnostic pop

/*
 * RCU. What ends a read section, as far as writers see, is that its thread reports a quiescent state, or goes offline; a thread
 * that resumes coroutines commonly does so between two resumptions. So a coroutine's references
 * live from one yield to the next at most, and what is around their use forbids yields.
 *
 *   weir_coro_rcu_qsbr_lock(), _unlock()                    on threads that are online all the time, and report
 *                                                           quiescent states in their loop: costs nothing but the hold
 *   weir_coro_rcu_qsbr_thread_online(), _thread_offline()   on threads that are offline else: costs a fence
 *
 * The thread's number, here as there, is that of the thread that runs now: weir_coro_lcore_id(), looked at after the last yield.
 */

/** rte_rcu_qsbr_lock(): a read section begins, on a thread that is online. */
static inline void
weir_coro_rcu_qsbr_lock(struct rte_rcu_qsbr *v, unsigned int thread_id)
{
	weir_coro_hold();
	rte_rcu_qsbr_lock(v, thread_id);
}

/** rte_rcu_qsbr_unlock(): it is over. The thread is not quiescent by this. */
static inline void
weir_coro_rcu_qsbr_unlock(struct rte_rcu_qsbr *v, unsigned int thread_id)
{
	rte_rcu_qsbr_unlock(v, thread_id);
	weir_coro_release();
}

/** rte_rcu_qsbr_thread_online(): a read section begins, on a thread that is registered and offline. Does not nest. */
static inline void
weir_coro_rcu_qsbr_thread_online(struct rte_rcu_qsbr *v, unsigned int thread_id)
{
	weir_coro_hold();
	rte_rcu_qsbr_thread_online(v, thread_id);
}

/** rte_rcu_qsbr_thread_offline(): it is over. */
static inline void
weir_coro_rcu_qsbr_thread_offline(struct rte_rcu_qsbr *v, unsigned int thread_id)
{
	rte_rcu_qsbr_thread_offline(v, thread_id);
	weir_coro_release();
}

#ifdef __cplusplus
}
#endif

#endif
