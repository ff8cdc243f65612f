/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_CORO_H
#define WEIR_CORO_H

/**
 * @file
 * Stackful coroutines for the data plane: code that cannot be cut into short
 * pieces runs on the cores that move packets, on a stack of its own, and gives the core back at
 * yield points and when its time slice is up.
 *
 * The functions, their types and their meaning are those of the rte_coro prototype ("Threading on
 * Eventdev", Ericsson, 2024); what goes beyond it is marked so. Time slices are in cycles of the
 * time base, weir_base_cycles().
 *
 *      caller's stack                    coroutine's stack
 *     +---------------+                 +-----------------+  <- top
 *     | main          |   resume        | coro_entry      |     the resumer's frame is found from here
 *     |  loop         | --------------> |  run()          |
 *     |   resume()    | <-------------- |   parse()       |
 *     +---------------+   yield, exit   |    maybe_yield()|
 *                                       +-----------------+
 *                                       | never touched   |     not backed by memory
 *                                       +-----------------+
 *                                       | guard           |     a touch is an overflow
 *                                       +-----------------+
 *
 * Threads: a coroutine belongs to nobody; any thread may resume one that is suspended, also another thread than the last
 * time, but only one at a time. weir_coro_init(), _cleanup() and weir_coro_class_add() are called by one
 * thread while no other one uses the library; questions over the control socket (weir_coro_ctl.h) may be
 * asked even then, and threads that used it may end. All else may be called by any thread, EAL's or not, in or outside
 * of a coroutine. Who destroys one sees to it that nobody else uses its handle in that moment: what is meant for it then may reach
 * the next one in its place.
 *
 * Machines: x86-64 and AArch64 have a switch of their own. On others (PPC64LE and RISC-V are compiled, PPC64LE is tested in an emulator)
 * Boost.Context switches, and so it does where the library was built with -Dcoro_switch=fcontext, which weir.pc tells the
 * compiler. That is slower; backtraces end at the bottom of a coroutine's stack; and each coroutine keeps a rounding mode of its own,
 * whether its class has fp_control or not.
 *
 * Errors: functions that return a pointer return NULL and set errno; the log says why where it is not the caller's
 * loop that will see it again and again (an empty pool does not log). No lock is held while something is logged: a log sink
 * (weir_base_log_set_sink()) may call all of these functions, but must not yield. Misuse that would corrupt memory (resuming a coroutine that
 * runs, has exited, or was destroyed; yielding outside of one) is refused and counted, see weir_coro_misuse().
 *
 * A struct weir_coro is a handle, not memory: it carries the generation of what it stands for, so that one of a coroutine that
 * was destroyed is told from one that got its place. Never dereference it. The generation has 16 bits: after 65,536 more
 * coroutines in the same place, which takes a busy thread milliseconds, a stale handle is valid again, and means another one. So
 * this finds mistakes, it does not make them harmless. No handle outlives weir_coro_cleanup(), not even to be asked about: what
 * it stands for is not mapped any more. (After another weir_coro_init() generations begin elsewhere.)
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A coroutine: an opaque handle. */
struct weir_coro;

struct weir_base_hist;

/**
 * What a coroutine runs. It has no parameters: see weir_coro_in_param(). Returning from it is weir_coro_exit(). An exception that
 * leaves it ends the process, by std::terminate() where it was thrown; so does pthread_exit() in it, by abort().
 */
typedef void (*weir_coro_run_t)(void);

/**
 * Make ready for coroutines, with one class of stacks, number 0.
 *
 * @param stack_size          bytes of stack of each, rounded up to pages; at least WEIR_CORO_STACK_MIN
 * @param max_in_param_size   bytes of input parameters of each, may be 0
 * @param max_out_param_size  bytes of output parameters of each, may be 0
 * @param max_coroutines      how many may be alive at a time
 * @param default_time_slice  cycles of the time base; 0: weir_coro_maybe_yield() always yields
 * @param mempool_cache_size  up to max_coroutines: that each thread keeps for itself at most, so that most creations touch nothing shared.
 *   They count as free: who finds none left takes some from there, which costs it some microseconds and a barrier in each
 *   running thread (membarrier(2); where the kernel has none, those of other threads stay out of reach)
 * @param socket_id           NUMA node of the memory, -1: wherever it is first touched
 * @return 0; -EINVAL, -EALREADY, -ENOMEM, -EAGAIN (the process has no more of pthread_key_create()'s keys)
 */
int weir_coro_init(size_t stack_size, size_t max_in_param_size, size_t max_out_param_size,
	size_t max_coroutines, uint64_t default_time_slice, unsigned int mempool_cache_size,
	int socket_id);

/** Smallest stack, in bytes. */
#define WEIR_CORO_STACK_MIN 4096

/** Give everything back. Coroutines still alive are gone: how many is told in the log. All handles end here, see above. */
void weir_coro_cleanup(void);

/**
 * A new coroutine, suspended before its first instruction.
 *
 * Parameter memory is zeroed; the stack is not (see weir_coro_class_param::zero).
 *
 * @return its handle, to be given to weir_coro_destroy(); NULL with errno EAGAIN when all are in use, ENOMEM
 */
struct weir_coro *weir_coro_create(weir_coro_run_t run);

/**
 * Give a coroutine's memory back. One that has not exited is abandoned where it stands: what it holds
 * is lost, unless it was cancelled before and came to its end; see weir_coro_cancel().
 *
 * @return 0; -EBUSY when it runs or waits for one that it resumed, -EINVAL when the handle is stale (the prototype returns
 *   nothing)
 */
int weir_coro_destroy(struct weir_coro *coro);

/** Its number, from 0: unique among those alive. UINT32_MAX of a stale handle. */
uint32_t weir_coro_id(const struct weir_coro *coro);

/** Has it come to its end? Also true of a stale handle. */
bool weir_coro_has_exited(const struct weir_coro *coro);

/**
 * Its input parameters: written by who creates it, read by itself with weir_coro_self_in_param().
 *
 * @param size  what the caller is going to use
 * @return memory of the coroutine, aligned to 64 bytes; NULL with errno EINVAL when @p size is above the maximum, or the handle stale
 */
void *weir_coro_in_param(struct weir_coro *coro, size_t size);

/** Likewise its output parameters: written by itself, valid until it is destroyed. */
void *weir_coro_out_param(struct weir_coro *coro, size_t size);

/**
 * Give it another time slice, in cycles: from its next resumption on. One that runs just now has one that begins with its next
 * weir_coro_maybe_yield(). INT64_MAX / 2 and more is as good as none. Any thread.
 */
void weir_coro_set_time_slice(struct weir_coro *coro, uint64_t time_slice);

/** How often it was resumed. */
uint64_t weir_coro_resume_count(struct weir_coro *coro);

/**
 * How often it called weir_coro_maybe_yield(). Where it runs on another thread just now, about so often: those since it last looked
 * at the clock may be counted twice, or not yet.
 */
uint64_t weir_coro_maybe_yield_count(struct weir_coro *coro);

/** End the calling coroutine. Its clean-ups run, last registered first. Outside of a coroutine it ends the process. */
void weir_coro_exit(void) __attribute__((noreturn));

/** The calling coroutine; NULL outside of one. Correct also after a yield that moved it to another thread. */
struct weir_coro *weir_coro_self(void);

/** weir_coro_id() of the calling coroutine; UINT32_MAX outside of one. */
uint32_t weir_coro_self_id(void);

/** weir_coro_in_param() of the calling coroutine. */
void *weir_coro_self_in_param(size_t size);

/** weir_coro_out_param() of the calling coroutine. */
void *weir_coro_self_out_param(size_t size);

/* Beyond the prototype: classes of stacks */

/** What guards the end of a stack. */
enum weir_coro_guard {
	WEIR_CORO_GUARD_BEST, /**< the first of the following that the kernel has */
	/**
	 * A guard region (MADV_GUARD_INSTALL, Linux 6.13): costs no mapping of its own. Where memory is locked after the class was made
	 * stacks that are new get protected pages, and canaries when mappings become few: told in the log.
	 */
	WEIR_CORO_GUARD_REGION,
	WEIR_CORO_GUARD_PAGE, /**< a protected page: costs two of the mappings that a process may have (vm.max_map_count) */
	/** A pattern, looked at when a coroutine ends or is destroyed (checks build: and when it yields): tells too late, but tells. */
	WEIR_CORO_GUARD_CANARY,
};

/** A class of stacks. */
struct weir_coro_class_param {
	size_t stack_size;         /**< bytes, rounded up to pages, the guard not included */
	size_t max_in_param_size;  /**< bytes */
	size_t max_out_param_size; /**< bytes */
	size_t max_coroutines;     /**< of this class alive at a time */
	uint64_t time_slice;       /**< default, cycles */
	unsigned int cache_size;   /**< coroutines that a thread keeps for itself at most */
	int socket_id;             /**< NUMA node, -1: any */
	enum weir_coro_guard
		guard; /**< what is asked for: weir_coro_class_stats tells what it became */
	bool zero;     /**< a new coroutine's stack reads as zeros: nothing of its last user */
	/**
	 * Save and restore FP control words (rounding, exceptions) at each switch; on x86 also which exceptions SSE has raised. Without it
	 * all of this is the thread's, in builds with checks too: what a coroutine has raised, its resumer finds raised.
	 */
	bool fp_control;
};

/** What a class is like at a moment. */
struct weir_coro_class_stats {
	size_t stack_size; /**< bytes, as rounded */
	enum weir_coro_guard
		guard; /**< what it is; the weakest that a stack has where memory was locked since the class was made */
	uint64_t max; /**< coroutines that may be alive */
	/** That are. While others create and destroy an estimate, which is never more than peak. */
	uint64_t live;
	/**
	 * Most that were at a time. Exact where one thread does all creating and destroying; where several do, it may be too high, by
	 * no more than what their caches hold.
	 */
	uint64_t peak;
	uint64_t created;   /**< ever */
	uint64_t exited;    /**< that came to their end */
	uint64_t destroyed; /**< whose memory was given back */
	uint64_t switches;  /**< resumptions */
	uint64_t
		overruns; /**< slices more than twice as long as configured, of those in weir_coro_class_slices() */
	size_t high_water; /**< most bytes of a stack that any used, as far as looked at; trimming does not lower it */
	size_t resident; /**< bytes of stacks and parameters that memory stands behind now; guards and what is swapped out are not among them */
};

/**
 * Add a class of stacks. The first one is weir_coro_init()'s.
 *
 * @return its number, from 0; negative errno
 */
int weir_coro_class_add(const struct weir_coro_class_param *param);

/** weir_coro_create() of a class. */
struct weir_coro *weir_coro_create_in(unsigned int class_id, weir_coro_run_t run);

/**
 * How a class is. Counters of threads are summed, all of its coroutines, up to three times, and stacks are looked at, which takes longer the
 * more, and the larger, they are. Any thread.
 *
 * @return 0, -EINVAL, -ENOMEM
 */
int weir_coro_class_look(unsigned int class_id, struct weir_coro_class_stats *stats);

/**
 * How deep each of a class' stacks was used, in bytes, since it was trimmed last: of those that were, whoever used it. Any thread.
 *
 * @return 0, -EINVAL
 */
int weir_coro_class_stacks(unsigned int class_id, struct weir_base_hist *bytes);

/**
 * How long slices of a class' coroutines took, in cycles: of those that began and ended with a look at the clock. That is a
 * sample: about one in 16 where slices are regular, or a ticker ends them, all where they are irregular; those that end by a plain yield
 * are not among them, and when the one after that began is a guess. Counters are not of one instant: ask for these before
 * weir_coro_class_look(), and each slice's switch is among that one's, but for coroutines that are destroyed meanwhile.
 * Any thread.
 *
 * @return 0, -EINVAL
 */
int weir_coro_class_slices(unsigned int class_id, struct weir_base_hist *cycles);

/**
 * Most bytes of its stack that a coroutine has used so far, in whole pages at least: pages never touched are not counted. Those
 * that had the stack before it are, unless the class is weir_coro_class_param::zero, or trimmed meanwhile. 0 of a stale handle.
 */
size_t weir_coro_high_water(struct weir_coro *coro);

/**
 * Give memory behind idle stacks of a class back to the kernel, also of those that threads keep. 16 at a time: who creates one
 * when there are no others waits for these, as does fork(). Any thread.
 *
 * @return bytes
 */
size_t weir_coro_trim(unsigned int class_id);

/* Beyond the prototype: cancel, join, local storage */

/**
 * Ask a coroutine to end: its next weir_coro_yield(), or maybe_yield that yields, returns true, and every one after that. One
 * that has not run yet ends when it is resumed, without running. Any thread.
 *
 * @return 0, -EINVAL of a stale handle or one that has exited
 */
int weir_coro_cancel(struct weir_coro *coro);

/** Was the calling coroutine cancelled? */
bool weir_coro_self_cancelled(void);

/** A clean-up, in memory of the caller, on the coroutine's stack as a rule: one for each weir_coro_cleanup_push() not taken back. */
struct weir_coro_cleanup_entry {
	void (*run)(void *arg);               /**< what to call when the coroutine ends */
	void *arg;                            /**< with what */
	struct weir_coro_cleanup_entry *next; /**< the library's */
};

/**
 * Have it called when the calling coroutine ends. It must be taken back before the function returns whose variable
 * @p entry is, be it the one that the coroutine runs. Outside of coroutines it is kept as well, for the calling thread, so that the same
 * code runs in both: there only weir_coro_cleanup_pop() calls it. An entry that is in use must not be pushed once more.
 */
void weir_coro_cleanup_push(struct weir_coro_cleanup_entry *entry);

/** Take the last one back, outside of coroutines the thread's; @p execute: and call it. */
void weir_coro_cleanup_pop(bool execute);

/**
 * From a coroutine: yield until another one has exited.
 *
 * @return 0; -EINVAL of a stale handle, -EDEADLK of itself, or in a weir_coro_hold(), -ECANCELED when the caller was cancelled meanwhile, -EPERM outside of a coroutine
 */
int weir_coro_join(struct weir_coro *coro);

/** Slots of local storage that each coroutine has. */
#define WEIR_CORO_LOCALS 8

/** A slot for all coroutines: its number, or -ENOSPC. Never given back. Any thread. */
int weir_coro_local_alloc(void);

/** What the calling coroutine keeps in a slot: NULL at first, and outside of coroutines. */
void *weir_coro_local_get(unsigned int slot);

/** Keep something in a slot. @return 0, -EINVAL, -EPERM outside of a coroutine */
int weir_coro_local_set(unsigned int slot, void *value);

/* Beyond the prototype: accessors that survive migration. Those of DPDK's thread-locals, and of your own: weir_coro_dpdk.h */

/** Address of the errno of the thread that runs now: compilers keep that of `errno` across a yield. */
int *weir_coro_errno(void);

/* Beyond the prototype: misuse */

/** What was refused. */
enum weir_coro_misuse {
	WEIR_CORO_MISUSE_STALE, /**< a handle of a coroutine that was destroyed */
	WEIR_CORO_MISUSE_RUNNING, /**< resume or destroy of one that runs, or waits for one that it resumed */
	WEIR_CORO_MISUSE_EXITED,  /**< resume of one that has exited */
	WEIR_CORO_MISUSE_OUTSIDE, /**< yield outside of a coroutine */
	WEIR_CORO_MISUSE_HOLDING, /**< yield, or end, while holding a lock or in a read section, see weir_coro_hold() */
	WEIR_CORO_MISUSE_FP, /**< another FP control word when it left, of a class without fp_control (found by the checks build) */
	WEIR_CORO_MISUSE_OVERFLOW, /**< a canary guard was overwritten (found by the checks build, and when one ends or is destroyed) */
	WEIR_CORO_MISUSE_COUNT
};

/** How often it was refused, since weir_coro_init(). */
uint64_t weir_coro_misuse(enum weir_coro_misuse what);

/**
 * Debug: every maybe_yield yields, so that every yield point is tested; of coroutines that run already, from their next look on. May
 * be called before weir_coro_init(), which sets it by WEIR_CORO_ALWAYS_YIELD (1: true) where that is in the environment.
 */
void weir_coro_always_yield(bool always);

/* Beyond the prototype: overflow */

/**
 * For the handler of SIGSEGV, which is the program's: was it an overflow of a coroutine's stack? Writes who did
 * it (id, entry function, backtrace) to @p fd. Async-signal-safe; the handler must run on an alternate stack.
 *
 * @param address  siginfo_t::si_addr
 * @return true when it was
 */
bool weir_coro_overflow_report(const void *address, int fd);

/** Give the calling thread an alternate signal stack, if it has none. @return 0 or negative errno */
int weir_coro_signal_stack(void);

/* Beyond the prototype: those who look from outside */

/**
 * Have the calling thread known to watchdog and ticker, until it ends. Done by itself where a thread creates or destroys a coroutine, or calls
 * weir_coro_signal_stack(). A thread that does nothing but resume others' coroutines should call it: it would not be seen.
 *
 * @return 0 or negative errno
 */
int weir_coro_attach(void);

/** Where a ticker runs, and how exact it is. Numbers that are 0 have the default. */
struct weir_coro_ticker_param {
	int cpu;            /**< a CPU that does nothing else, or -1: wherever the kernel puts it */
	uint64_t period_ns; /**< it looks at each thread so often: 200 ns */
	uint64_t
		lead_ns; /**< it tells so much ahead, as that takes until it is seen: 400 ns, but a sixteenth of a slice at most */
};

/**
 * Begin to tell coroutines on all attached threads when their slices are over, from a thread that does nothing but look at them and the
 * clock: weir_coro_maybe_yield() then yields at the first check after the end of its slice, however checks are spaced, and reads
 * no clock. It takes a CPU, for any number of threads, and each of these one transfer of a cache line in a slice. A coroutine that was there
 * before comes to know of it with its next slice that begins with a look at the clock: where checks are regular, after 17 at most.
 *
 * Without a ticker, or where it is late because the kernel runs something else in its place, checks are counted and the clock is looked at:
 * that it is late is known when twice as many checks have come as come in a slice. That one ends a slice later, three times as long as
 * configured where checks are regular; those after it end as without a ticker, until it tells again. So it is with a coroutine's first
 * slice on a thread that is not attached, or after the ticker has been stopped: that is up to twice as long.
 *
 * Any thread.
 *
 * @return 0; -EINVAL (also a CPU that is not there or not allowed), -EALREADY, -EAGAIN, -ENOMEM
 */
int weir_coro_ticker_start(const struct weir_coro_ticker_param *param);

/** The ticker has ended when it returns. weir_coro_cleanup() does this too. Any thread. @return 0, -EALREADY */
int weir_coro_ticker_stop(void);

/** Slices whose end the ticker told, since the process began. Any thread. */
uint64_t weir_coro_ticker_told(void);

/* Beyond the prototype: watchdog */

/** A coroutine that runs for longer than it should. */
struct weir_coro_overrun {
	uint32_t id;           /**< its number */
	unsigned int class_id; /**< of its class */
	weir_coro_run_t run;   /**< what it runs */
	uint64_t slice_ns;     /**< what it may */
	uint64_t ran_ns;       /**< what it has for sure, up to now, in this resumption */
	uint64_t resumes;      /**< how often it was resumed */
	int thread;            /**< the kernel's number of the thread */
	uint64_t untold;       /**< overruns since the last one that was told */
};

/** What the watchdog looks for, and whom it tells. What is 0 has the default. */
struct weir_coro_watchdog_param {
	double factor; /**< an overrun is a resumption that takes so many slices: 10 */
	uint64_t
		least_ns; /**< but no less than this, as the kernel's taking the CPU away counts too: 1 ms */
	uint64_t period_ns;   /**< it looks so often: 1 ms */
	uint64_t interval_ns; /**< one is told in this time, others are counted: 1 s */
	int signal; /**< sent to the thread, whose handler calls weir_coro_watchdog_report(): SIGURG, say; 0: no backtraces */
	/** Called by the watchdog's own thread. A child that it forks must not return from it. NULL: the log is told. */
	void (*report)(void *arg, const struct weir_coro_overrun *overrun);
	void *arg; /**< report's */
};

/**
 * Begin to look at the coroutines that run on watched threads, from a thread of its own. One whose resumption takes longer than
 * the limit by two periods is found for sure (as long as the kernel lets the watchdog run in time), one that stays within it
 * never. Costs those threads next to nothing: it takes some lines of their caches away for a moment.
 *
 * Coroutines that were not given a slice have the least time for one. One that waits for another that it resumed
 * runs on: who of them took most of the time is told of. So where one that it resumed may have taken half of its time, who waits is
 * found only if that one is not, and in twice that time. Of those that wait for each other the innermost eight are looked at. Each
 * resumption is told of once.
 *
 * The handler of the signal is the program's, as libraries install none. It must be there before this is called; SA_ONSTACK (with
 * weir_coro_signal_stack() in each thread) as coroutines' stacks are small, and SA_RESTART if there are system calls that should
 * not return EINTR.
 *
 * Any thread but the watchdog's own, which calls @p report.
 *
 * @return 0; -EINVAL (negative or no number, a signal without a handler), -EALREADY, -EDEADLK in @p report, -EAGAIN, -ENOMEM
 */
int weir_coro_watchdog_start(const struct weir_coro_watchdog_param *param);

/** No looks any more when it returns. weir_coro_cleanup() does this too. Any thread but the watchdog's: -EDEADLK; -EALREADY. */
int weir_coro_watchdog_stop(void);

/**
 * For the handler of the signal: write which coroutine runs here that should not, and its backtrace, to @p fd. If it has gone on
 * meanwhile, that is written instead. Async-signal-safe, as weir_coro_overflow_report(); errno is kept.
 *
 * @return false: the watchdog did not ask, nothing was written
 */
bool weir_coro_watchdog_report(int fd);

/** Overruns found since the process began, told or not. Any thread. */
uint64_t weir_coro_watchdog_overruns(void);

#ifdef __cplusplus
}
#endif

#include "weir_coro_fast.h"

#endif
