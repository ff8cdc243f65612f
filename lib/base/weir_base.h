/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_H
#define WEIR_BASE_H

/**
 * @file
 * Time, log, NUMA nodes: the ground that every module stands on. Needs no DPDK.
 *
 * Errors: control functions return 0 or a negative errno (pointers: NULL with
 * errno set) and say why through the log.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Weight of a log message; the log shows those up to its level. */
enum weir_base_log_level {
	WEIR_BASE_LOG_ERROR,   /**< Something asked for was not done. */
	WEIR_BASE_LOG_WARNING, /**< Done, but not as one would expect. */
	WEIR_BASE_LOG_INFO,    /**< What a user may want to read (the default level). */
	WEIR_BASE_LOG_DEBUG,   /**< What a developer of Weir may want to read. */
};

/**
 * Where log messages go.
 *
 * It may log, which goes to standard error then, and fork. It must not wait for another thread, which may be waiting to log; nor call
 * functions of this toolkit, which may log while they hold a lock, but for those that are said to be fit for it. A fork() of another
 * thread waits until it returns, so that the child's log is free and what a sink keeps is whole; not for longer than a second, though.
 *
 * @param arg      as given to weir_base_log_set_sink()
 * @param level    weight of the message
 * @param module   who speaks: "graph", "node" ...
 * @param message  one line without its newline; valid during the call
 */
typedef void (*weir_base_log_sink_t)(
	void *arg, enum weir_base_log_level level, const char *module, const char *message);

/**
 * Say something, printf fashion, one line without a newline at its end.
 * Any thread may call it; not for the fast path.
 */
void weir_base_log(enum weir_base_log_level level, const char *module, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** Show messages up to @p level only. Any thread. */
void weir_base_log_set_level(enum weir_base_log_level level);

/**
 * Send messages to @p sink instead of standard error; NULL: standard error
 * again, each line as "weir: MODULE: error: MESSAGE" (or "warning:", nothing for info).
 * Calls of the sink are serialised by the log. Any thread.
 */
void weir_base_log_set_sink(weir_base_log_sink_t sink, void *arg);

/**
 * The time base: a counter of constant rate that costs one instruction to
 * read (x86: TSC, AArch64: CNTVCT_EL0, elsewhere CLOCK_MONOTONIC in ns).
 *
 * @return cycles of weir_base_cycles_hz()
 */
static inline uint64_t
weir_base_cycles(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t cycles;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(cycles));
	return cycles;
#else
	extern uint64_t weir_base_time_ns(void);

	return weir_base_time_ns();
#endif
}

/**
 * Rate of weir_base_cycles(), in Hz: what CPUID or CNTFRQ_EL0 state, else
 * measured against CLOCK_MONOTONIC_RAW once (takes 20 ms). Any thread.
 */
uint64_t weir_base_cycles_hz(void);

/** What one read of weir_base_cycles() costs, in cycles: the least of many reads, measured once. Any thread. */
uint64_t weir_base_cycles_read_cost(void);

/** Nanoseconds since some point in the past, CLOCK_MONOTONIC. Any thread. */
uint64_t weir_base_time_ns(void);

/**
 * Convert between cycles of the time base and nanoseconds, without overflow
 * for 500 years. Any thread.
 */
uint64_t weir_base_cycles_to_ns(uint64_t cycles);

/** The inverse of weir_base_cycles_to_ns(). Any thread. */
uint64_t weir_base_ns_to_cycles(uint64_t ns);

/**
 * Have pages that are not touched yet come from a NUMA node; from any, when it has no room. Any thread; a system call.
 *
 * @param start      begin of a page
 * @param bytes      of a mapping, from there on
 * @param socket_id  the node; -1: any, nothing is done
 * @return 0; -EINVAL: there is no such node; -ENOSYS and others as of mbind(2): they come from any node
 */
int weir_base_prefer_node(void *start, size_t bytes, int socket_id);

#ifdef __cplusplus
}
#endif

#endif
