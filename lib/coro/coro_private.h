/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CORO_PRIVATE_H
#define CORO_PRIVATE_H

/*
 * What the files of this library share.
 *
 *   coro.c      create, destroy, exit, parameters     slice.c     when a time slice is over
 *   class.c     classes of blocks                      memory.c    stacks: mappings, guards
 *   cache.c     which thread has which free ones       pace.c      how far apart checks are
 *   stats.c     what a class is like                   touched.c   high water, trimming
 *   always.c    each check yields, for tests           ctl.c       what a class is like, for the control socket
 *   cancel.c    cancel, join, clean-ups               overflow.c  what the SIGSEGV handler asks
 *   threads.c   threads that coroutines run on        ticker.c    a clock for all of them
 *   watchdog.c  who does not yield                    report.c    what signal handlers write
 *   self.c      the calling coroutine, its locals     misuse.c    what is refused
 *   entry_*.S   the bottom of every stack             tool.c      what sanitizers and valgrind are told
 *
 * A class is one mapping of equal slots. A slot is, from low to high: guard, stack, parameters. Blocks are an array
 * beside it, so that a stale handle can be looked at, and a bare stack overflow cannot reach them.
 */

#include <inttypes.h>
#include <pthread.h>
#include <unistd.h>

#include "weir_base.h"
#include "weir_base_hist.h"
#include "weir_coro.h"

#define CORO_LOG(level, ...) weir_base_log(WEIR_BASE_LOG_##level, "coro", __VA_ARGS__)

#define CORO_CLASSES_MAX 16

/* Memory of a class: stacks and parameters. */
struct coro_memory {
	char *slots;       /* nb of slot_bytes each */
	size_t bytes;      /* of all */
	size_t slot_bytes; /* guard + stack + parameters, whole pages */
	size_t guard_bytes;
	size_t stack_bytes;
	size_t param_bytes; /* in + out, each rounded up to 64 */
	size_t nb;
	enum weir_coro_guard guard; /* what it is, never BEST */
	/* Of memory that was locked later: */
	enum weir_coro_guard weakest; /* that any slot has */
	unsigned int weaker;          /* a bit for each guard that is to be told of */
	size_t canaries_from; /* this slot and those after it have canaries, whatever the guard is */
	size_t pages_left; /* protected pages for which there were mappings when that was looked at last */
	int socket_id;
	size_t high_water; /* the highest that was seen, of all time */
};

static inline size_t
coro_page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static inline uintptr_t
coro_round_up(uintptr_t value, size_t multiple)
{
	return (value + multiple - 1) / multiple * multiple;
}

/*
 * Reserve address space for @nb slots. Nothing is committed: pages come as they are touched.
 * memory->guard says what guard there is; one that was asked for by name and cannot be had is an error.
 */
int coro_memory_init(struct coro_memory *memory, size_t stack_size, size_t param_bytes, size_t nb,
	enum weir_coro_guard guard, int socket_id);
void coro_memory_fini(struct coro_memory *memory);

/* Before slot @index is used for the first time: put its guard up. One thread at a time, one slot after the other. 0 or negative errno */
int coro_memory_prepare(struct coro_memory *memory, size_t index);

/* Tell of weaker guards, without a lock. */
void coro_memory_tell(unsigned int weaker);

/* Lowest usable byte of the stack of a slot; one past its last byte, aligned to 64; its parameters. */
static inline char *
coro_memory_stack(const struct coro_memory *memory, size_t index)
{
	return memory->slots + index * memory->slot_bytes + memory->guard_bytes;
}
static inline char *
coro_memory_top(const struct coro_memory *memory, size_t index)
{
	return coro_memory_stack(memory, index) + memory->stack_bytes;
}
static inline char *
coro_memory_params(const struct coro_memory *memory, size_t index)
{
	return coro_memory_top(memory, index);
}

/* Has it a canary only? */
static inline bool
coro_memory_has_canary(const struct coro_memory *memory, size_t index)
{
	return index >= __atomic_load_n(&memory->canaries_from, __ATOMIC_RELAXED);
}

/* Canary guards: is the pattern below the stack whole? Always true of other guards. */
bool coro_memory_intact(const struct coro_memory *memory, size_t index);

/* touched.c */

/*
 * Bytes from the top down to the lowest page of the stack that was ever touched (/proc/self/pagemap or mincore(2); 0:
 * unknown). The most that was seen is kept in memory->high_water.
 */
size_t coro_memory_high_water(struct coro_memory *memory, size_t index);

/*
 * The same of each of the first @nb slots whose stack was touched. Quick: reads of many pages at a time.
 * @return bytes of stacks and parameters that are present
 */
size_t coro_memory_scan(struct coro_memory *memory, size_t nb, struct weir_base_hist *stacks);

/* Give the pages of an idle slot's stack back. @return bytes that were committed and no longer are */
size_t coro_memory_trim(struct coro_memory *memory, size_t index);
size_t coro_memory_trim_some(struct coro_memory *memory, const size_t *indices, size_t nb);

/* Whose guard is this address in? @return slot, or SIZE_MAX; async-signal-safe */
size_t coro_memory_guard_of(const struct coro_memory *memory, const void *address);

/* For those who look at what another thread may be writing to just now, or the address sanitizer has marked: a stack. */
#define LOOK_ANYWAY __attribute__((no_sanitize("address", "thread", "undefined")))

/* What is counted, by one thread for itself; others read it meanwhile. */
struct coro_counts {
	uint64_t created, destroyed, exited;
	uint64_t most;     /* by which creations were ahead of destructions */
	uint64_t switches; /* of those destroyed */
	uint64_t overruns; /* slices longer than CORO_OVERRUN times what was configured */
	struct weir_base_hist
		slices; /* cycles, of those whose end was looked at; min and count are not kept */
};

#define CORO_OVERRUN 2

/* Only one thread writes: no need of an instruction that locks. Released: who reads what was counted later finds this too. */
static inline void
coro_count(uint64_t *counter, uint64_t more)
{
	__atomic_store_n(
		counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + more, __ATOMIC_RELEASE);
}

static inline void
coro_counts_created(struct coro_counts *counts)
{
	int64_t ahead;

	coro_count(&counts->created, 1);
	/* Threads that destroy what others create are far behind. */
	ahead = (int64_t)(counts->created - counts->destroyed);
	if (__builtin_expect(ahead > (int64_t)counts->most, 0))
		__atomic_store_n(&counts->most, (uint64_t)ahead, __ATOMIC_RELAXED);
}

/* A slice took @cycles of @configured ones. The calling thread's counts. */
static inline void
coro_counts_slice(struct coro_counts *counts, uint64_t cycles, uint64_t configured)
{
	coro_count(&counts->slices.bucket[weir_base_hist_index(cycles)], 1);
	coro_count(&counts->slices.sum, cycles);
	if (__builtin_expect(cycles > counts->slices.max, 0))
		__atomic_store_n(&counts->slices.max, cycles, __ATOMIC_RELAXED);
	if (__builtin_expect(cycles > CORO_OVERRUN * configured, 0))
		coro_count(&counts->overruns, 1);
}

/* Free blocks. */
struct coro_list {
	struct weir_coro_block *first;
	unsigned int nb;
};

/* What a thread keeps of a class. */
struct coro_cache {
	struct coro_list free;
	bool busy;   /* its owner is at the list */
	bool raided; /* another thread is, or is about to be: its owner goes by the class' lock */
	struct coro_counts counts;
	struct coro_cache *next; /* of the class, under its lock */
};

/*
 * Nothing is logged under a lock of this library: what is called then, the program's sink, may ask how a class is, create
 * coroutines or fork.
 */
struct coro_news {
	unsigned int weaker; /* see struct coro_memory */
	int refused;         /* errno: a stack got no guard */
	size_t index;        /* this one */
};

/* A class. */
struct coro_class {
	struct weir_coro_class_param param;
	struct coro_memory memory;
	struct weir_coro_block *blocks; /* memory.nb of them */
	unsigned int id;
	uint32_t first_id; /* of its coroutines */

	pthread_mutex_t trim_lock; /* of who trims, to be taken before the other one */
	pthread_mutex_t lock;      /* of what follows */
	size_t nb_fresh;           /* blocks that were ever used */
	struct coro_news news;     /* to be told by who has the lock, after it */
	bool told;                 /* that the next one got no guard */
	struct coro_list free;     /* others were used since, as a rule: their pages are there */
	struct coro_list trimming; /* whose stacks are being given back: none without trim_lock */
	struct coro_list trimmed;  /* not used since their stacks were given back */
	struct coro_cache *caches; /* of all threads */
	struct coro_counts ended;  /* of threads that ended */
	uint64_t most_out;         /* blocks in use, or free in threads' caches */
	uint64_t switches;         /* as told last */
};

/* Bytes of parameters, each kind for itself. */
#define CORO_PARAM_MAX (1u << 30)

static inline size_t
coro_param_round(size_t size)
{
	return (size + 63) & ~(size_t)63;
}

/* class.c */
extern struct coro_class coro_classes[CORO_CLASSES_MAX];
extern unsigned int coro_nb_classes;
/* For those who ask from other threads, whatever becomes of the classes: none comes or goes meanwhile. */
void coro_classes_lock(void);
void coro_classes_before_fork(void);
void coro_classes_after_fork(void);
void coro_classes_unlock(void);
struct weir_coro *coro_handle(const struct weir_coro_block *block);
struct weir_coro_block *coro_block_checked(const struct weir_coro *coro); /* NULL when stale */
/* One that no coroutine has had yet, under the class' lock. NULL: there is none, or it has no guard */
struct weir_coro_block *coro_block_fresh(struct coro_class *class);
/* What has come up, under the class' lock; then it is told without. */
void coro_news_take(struct coro_class *class, struct coro_news *news);
void coro_news_tell(const struct coro_class *class, const struct coro_news *news);

/* cache.c */
int coro_caches_init(void);
void coro_caches_fini(struct coro_class *class);
struct weir_coro_block *coro_block_get(struct coro_class *class); /* NULL with errno */
void coro_block_put(struct coro_class *class, struct weir_coro_block *block);
struct coro_cache *coro_cache_of(
	struct coro_class *class); /* the calling thread's; NULL: no memory */
/* All that threads keep becomes the class', if the kernel helps. */
void coro_caches_empty(struct coro_class *class);
/* Up to @nb blocks from one list to another. @return how many */
unsigned int coro_list_move(struct coro_list *to, struct coro_list *from, unsigned int nb);

/* coro.c */
void coro_main(void) __attribute__((noreturn));
void coro_leave(struct weir_coro_block *block); /* to who resumed it; returns when resumed */

/* stats.c: of a thread that ends, under the class' lock */
void coro_counts_add(struct coro_counts *into, const struct coro_counts *from);
/* What is counted, but for high water and memory. @return blocks that were ever used */
size_t coro_class_count(struct coro_class *class, struct weir_coro_class_stats *stats);
/* Of all of a class; how deep each stack was used. */
void coro_class_look(struct coro_class *class, struct weir_coro_class_stats *stats,
	struct weir_base_hist *stacks);

/* misuse.c */
void coro_misuse_reset(void);
/* After a resumption in a build with checks: did it leave things as it should? */
void coro_check_left(const struct weir_coro_block *block, const struct weir_coro_fp *before,
	const struct weir_coro_fp *after);

/* Was the canary below its stack overwritten? Then it is told. */
void coro_check_canary(const struct weir_coro_block *block);

/* threads.c: a thread that coroutines run on, in its own memory */
struct coro_thread {
	struct weir_coro_thread *fast;
	pthread_t pthread;
	int tid;
	bool listed;
	bool ends;                    /* for good: destructors may still create coroutines */
	struct coro_watched *watched; /* the watchdog's */
	struct coro_ticked *ticked;   /* the ticker's */
	struct coro_thread *next, **link;
};
extern pthread_mutex_t coro_threads_lock;
extern struct coro_thread
	*coro_threads; /* under the lock; whoever is listed does not end meanwhile */

/* Before any thread takes a lock: from here on, who forks takes all of them. 0 or negative errno */
int coro_threads_init(void);

/* A thread of the library's own, which handles no signals: these are for others. @cpu: where, or -1. 0 or negative errno */
int coro_thread_start(pthread_t *thread, const char *name, void *(*run)(void *arg), int cpu);

/* watchdog.c: the calling thread's; and in a child of fork(2) */
struct coro_watched *coro_watched_self(void);
void coro_watchdog_forked(void);

/* ticker.c: likewise; and a thread was listed */
struct coro_ticked *coro_ticked_self(void);
void coro_ticker_forked(void);
void coro_ticker_greets(struct coro_thread *thread);

/*
 * What attention is when the ticker saw the end of the slice in this resumption, of the coroutine with this word: the next one in the same
 * place is soon at the same resumption, and the ticker may be late.
 */
static inline uint32_t
coro_slice_mark(uint32_t word, uint64_t resumes)
{
	return (word & ~0xffffu) | ((uint32_t)resumes << 1 & 0xffff) | 1;
}

/* And what it is when somebody cancelled it, or gave it another slice: no mark is even. */
#define CORO_CANCELLED     2
#define CORO_SLICE_CHANGED 4

/* Cycles: what coroutines have that are given a longer slice, as times are compared by their difference. */
#define CORO_SLICE_MAX ((uint64_t)INT64_MAX / 2)

/* always.c: each check is to yield, whatever the time is. Read with each of them. */
extern bool coro_always __attribute__((visibility("hidden")));
void coro_always_init(void);

/* slice.c */
void coro_slice_reset(struct weir_coro_block *block, uint64_t slice); /* a new coroutine's */
void coro_slice_change(
	struct weir_coro_block *block, uint64_t slice); /* at once, or at its next check */

/* Others may change it. */
static inline uint64_t
coro_slice_of(const struct weir_coro_block *block)
{
	return __atomic_load_n(&block->slice, __ATOMIC_RELAXED);
}

/* Is each check to yield, whatever the time is? */
static inline bool
coro_each_yields(const struct weir_coro_block *block)
{
	return __atomic_load_n(&coro_always, __ATOMIC_RELAXED) || coro_slice_of(block) == 0;
}

/* pace.c */
bool coro_pace_recall(
	struct weir_coro_block *block); /* a new coroutine's; @return is it known not to check? */
void coro_pace_remember(struct weir_coro_block *block); /* it exits */
void coro_pace_learn(struct weir_coro_block *block, uint32_t nb,
	uint64_t cycles); /* so many checks took so long */
/* Nothing is known yet, nor do so many checks by now tell anything: those after them may, if each is looked at. */
void coro_pace_survey_anew(struct weir_coro_block *block, uint64_t checks);
/* So many checks by now: those of that slice are learned from, if it was one. */
void coro_pace_survey(struct weir_coro_block *block, uint64_t checks);
void coro_pace_draw(struct weir_coro_block *block); /* its slice is another one */

/* Deviations: seldom so much; or the kernel ran something else. */
#define CORO_PACE_SURPRISE 4.0f

/* Confirmed so often in a row: checks are regular. */
#define CORO_PACE_REGULAR 3

static inline bool
coro_pace_is_regular(const struct weir_coro_block *block)
{
	return block->trust >= CORO_PACE_REGULAR;
}

/* Slices that end by count before the clock is looked at, once all came out as expected for long: so many, and this much more or less. */
#define CORO_PACE_BLIND        15
#define CORO_PACE_BLIND_SPREAD 2

/*
 * How many slices may end by count? At last not always as many: what comes once in so many slices might come in these alone, and never in one that is
 * looked at.
 */
static inline uint8_t
coro_pace_blind(const struct weir_coro_block *block)
{
	/* Not any number will do: the mean is to stay, and nothing to be left out (test_pace.c). */
	const uint32_t mixed = (uint32_t)block->resumes * UINT32_C(3266489917) >> 16;
	uint32_t nb;

	if (!coro_pace_is_regular(block))
		return 0;
	nb = (1u << (block->trust - CORO_PACE_REGULAR)) - 1;
	if (nb < CORO_PACE_BLIND)
		return (uint8_t)nb;
	return (uint8_t)(CORO_PACE_BLIND - CORO_PACE_BLIND_SPREAD +
			 mixed % (2 * CORO_PACE_BLIND_SPREAD + 1));
}

/*
 * Is each check looked at in this slice, as nothing is known? It is the first one, or those before had too few checks to tell anything: until
 * spacing is known, "learned" is how many there were before it.
 */
static inline bool
coro_pace_surveys(const struct weir_coro_block *block, uint64_t resumption)
{
	return block->spacing == 0 && (resumption == 1 || (resumption > 1 && block->learned > 0));
}

/* Checks are counted in 32 bits. */
#define CORO_PACE_CHECKS_MAX 1000000000.0f

/* Checks until the next look, when @left cycles are left. */
static inline uint32_t
coro_pace_skip(const struct weir_coro_block *block, float left)
{
	float nb = block->skip_least + block->skip_rate * left;

	if (!(nb >= 1))
		return 1;
	return nb < CORO_PACE_CHECKS_MAX ? (uint32_t)nb : (uint32_t)CORO_PACE_CHECKS_MAX;
}

/*
 * There were so many cycles between two checks. If that is more than the longest time known, this approaches it: once, the kernel may
 * have run something else. Where nothing is known yet it is the longest, and the one before the second longest, for coro_pace_survey().
 */
static inline void
coro_pace_was(struct weir_coro_block *block, float spacing)
{
	float more = spacing - block->longest;

	if (block->spacing > 0) {
		if (more > 0)
			block->longest += 0.25f * (more < block->longest ? more : block->longest);
	} else if (more > 0) {
		block->variance = block->longest;
		block->longest = spacing;
	} else if (spacing > block->variance) {
		block->variance = spacing;
	}
}

/* Irregular checks: are @cycles for @nb of them no surprise? */
static inline bool
coro_pace_expects(const struct weir_coro_block *block, float nb, float cycles)
{
	float off = cycles - nb * block->spacing;

	return !block->surprised &&
	       off * off <= CORO_PACE_SURPRISE * CORO_PACE_SURPRISE * block->variance * nb;
}

/* tool.c: nothing in builds without them. A coroutine is made, ends, is entered, was entered, is left, was left. */
int coro_tool_create(struct weir_coro_block *block);
void coro_tool_destroy(struct weir_coro_block *block);
void *coro_tool_enter(struct weir_coro_block *block); /* @return for coro_tool_switch() */
void coro_tool_entered(struct weir_coro_block *block);
void *coro_tool_leave(struct weir_coro_block *block); /* likewise */
void coro_tool_left(struct weir_coro_block *block);
void coro_tools_forget(struct coro_class *class); /* of all that are alive */

/*
 * Right before a switch, and in the same function: TSan keeps a stack of calls for each fiber, to which a function's
 * beginning and end must both be told on the same one.
 */
static inline __attribute__((always_inline)) void
coro_tool_switch(void *fiber)
{
#ifdef WEIR_BASE_TSAN
	__tsan_switch_to_fiber(fiber, 0);
#else
	(void)fiber;
#endif
}

/* cancel.c */
void coro_run_cleanups(struct weir_coro_block *block);

/* unwind.c: forced unwinding has come to the bottom of a coroutine's stack. */
void coro_thread_ends(void) __attribute__((noreturn));

/* Where a coroutine begins: entry_*.S, which calls coro_main(), or fcontext. */
void coro_entry(void);

/* Have a coroutine begin at coro_entry() when it is resumed next. */
void coro_context_init(struct weir_coro_block *block);

#endif
