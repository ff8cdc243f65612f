/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_SANITIZER_H
#define WEIR_BASE_SANITIZER_H

/**
 * @file
 * What sanitizers must be told, because they cannot see into DPDK as packaged.
 * All of it costs nothing in builds without them. Any thread. Needs no DPDK.
 */

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define WEIR_BASE_ASAN 1 /**< This is built with the address sanitizer. */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEIR_BASE_ASAN 1 /**< This is built with the address sanitizer. */
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define WEIR_BASE_TSAN 1 /**< This is built with the thread sanitizer. */
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEIR_BASE_TSAN 1 /**< This is built with the thread sanitizer. */
#endif
#endif

#ifdef WEIR_BASE_ASAN
#include <sanitizer/asan_interface.h>
#endif
#ifdef WEIR_BASE_TSAN
#include <pthread.h>
#include <sanitizer/tsan_interface.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Touching these bytes is an error from now on. (Exact to the byte at their beginning, to 8 bytes at their end.) */
static inline void
weir_base_asan_poison(const volatile void *start, size_t bytes)
{
#ifdef WEIR_BASE_ASAN
	__asan_poison_memory_region(start, bytes);
#else
	(void)start;
	(void)bytes;
#endif
}

/** Touching these bytes is fine again. */
static inline void
weir_base_asan_unpoison(const volatile void *start, size_t bytes)
{
#ifdef WEIR_BASE_ASAN
	__asan_unpoison_memory_region(start, bytes);
#else
	(void)start;
	(void)bytes;
#endif
}

/**
 * What this thread did so far happens before what another one does after
 * weir_base_happens_after() with the same @p token: say so where EAL or a driver makes it true,
 * and only there. Before rte_eal_remote_launch(), and at the end of what was launched; a fence
 * is not made by this.
 */
static inline void
weir_base_happens_before(const void *token)
{
#ifdef WEIR_BASE_TSAN
	__tsan_release((void *)(size_t)token);
#else
	(void)token;
#endif
}

/** The other half: at the beginning of what was launched, and after rte_eal_wait_lcore(). */
static inline void
weir_base_happens_after(const void *token)
{
#ifdef WEIR_BASE_TSAN
	__tsan_acquire((void *)(size_t)token);
#else
	(void)token;
#endif
}

#ifdef WEIR_BASE_TSAN
/** The lock of weir_base_ring_begin(): each source file has its own. */
static inline pthread_mutex_t *
weir_base_ring_lock(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	return &lock;
}
#endif

/**
 * The thread sanitizer does not see the order that DPDK's rings of several senders or receivers make. To it, it is made by a lock, from
 * here to weir_base_ring_end(): around each operation on such a ring. Those on one ring are in one source file.
 */
static inline void
weir_base_ring_begin(void)
{
#ifdef WEIR_BASE_TSAN
	pthread_mutex_lock(weir_base_ring_lock());
#endif
}

/** The operation is over. */
static inline void
weir_base_ring_end(void)
{
#ifdef WEIR_BASE_TSAN
	pthread_mutex_unlock(weir_base_ring_lock());
#endif
}

#ifdef __cplusplus
}
#endif

#endif
