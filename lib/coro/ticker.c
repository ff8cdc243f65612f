/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A clock for all: one thread, on a CPU of its own, watches who runs on the others, and tells a coroutine that its slice is
 * over by a word that its checks read anyway. Nobody else looks at the clock then, and it does not matter how checks are spaced.
 *
 *     worker   | resumed 7         check  check check  check: yields
 *     ticker    ..7..7..7..7..7..7..7..7..7..7..7!
 *
 * What is read all the time is what a thread shows of itself (struct weir_coro_shown): it writes that line when it switches, and does not read
 * it. The line that a worker waits for, once in a slice, is that in which it is told. From all others that it writes the ticker stays
 * away, but where coroutines resume each other: a line that another core has read is to be fetched back as soon as it is written and read again.
 * Of the slice's length both only read. Blocks are never unmapped while the ticker runs, see
 * weir_coro_cleanup(); one may be another coroutine's by the time that it is told, which knows that it was not meant.
 */

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "coro_private.h"

#define PERIOD_NS 200
#define LEAD_NS   400
#define LEAD_PART 16 /* of a slice, at most */

/* Nobody ran for so many looks: sleep between them. */
#define IDLE_LOOKS 10000
#define IDLE_NS    50000

/* Coroutines that resumed each other on a thread, as far as they are told: the innermost ones. */
#define DEPTH 4

/* A slice. */
struct slice {
	struct weir_coro_block *block;
	uint32_t word; /* its generation: the next one is at its first resumption soon, too */
	uint64_t resumes;
	uint64_t slice; /* cycles: its length */
	uint64_t end;   /* cycles; 0: it was told, or never is */
};

/* Of each thread, in its own memory: the ticker's, under the threads' lock. */
struct coro_ticked {
	struct slice slices[DEPTH]; /* each resumed the next one */
	unsigned int nb;
	struct weir_coro_shown seen; /* at the last look */
	uint64_t looked;             /* cycles */
};

static __thread struct coro_ticked self;

static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER; /* of starting and stopping */
static bool running;
static bool stopping;
static pthread_t ticker;
static uint64_t period, lead;                      /* cycles */
static uint64_t told __attribute__((aligned(64))); /* not beside what workers read */

struct coro_ticked *
coro_ticked_self(void)
{
	return &self;
}

/* When to tell, so that it is seen in time. */
static uint64_t
end_of(uint64_t begin, uint64_t slice)
{
	uint64_t early = slice / LEAD_PART;

	return slice == 0 ? 0 : begin + slice - (early < lead ? early : lead);
}

LOOK_ANYWAY static uint32_t
word_of(const struct weir_coro_block *block)
{
	return *(const volatile uint32_t *)&block->word;
}

/* Is it the same coroutine? */
LOOK_ANYWAY static bool
is_same(const struct slice *slice, const struct weir_coro_block *block)
{
	return slice->block == block && slice->word >> 16 == word_of(block) >> 16;
}

/* And in the same resumption? All that is asked for is in one line. */
LOOK_ANYWAY static bool
goes_on(const struct slice *slice, const struct weir_coro_block *block)
{
	return is_same(slice, block) &&
	       slice->resumes == *(const volatile uint64_t *)&block->resumes;
}

/* It has begun since the last look. */
LOOK_ANYWAY static struct slice
new_slice(const struct coro_ticked *ticked, struct weir_coro_block *block, uint32_t word,
	uint64_t resumes, uint64_t now)
{
	uint64_t slice = *(volatile uint64_t *)&block->slice;
	uint64_t since = (now - ticked->looked) / 2; /* between two looks */

	if (since > slice / LEAD_PART)
		since = slice / LEAD_PART; /* it slept */
	return (struct slice){block, word, resumes, slice, end_of(now - since, slice)};
}

/* A slice that is known goes on, another one has begun since the last look. */
LOOK_ANYWAY static struct slice
recognize(const struct coro_ticked *ticked, struct weir_coro_block *block, uint64_t now)
{
	for (unsigned int i = 0; i < ticked->nb; i++)
		if (goes_on(&ticked->slices[i], block))
			return ticked->slices[i];
	return new_slice(ticked, block, word_of(block), *(volatile uint64_t *)&block->resumes, now);
}

/*
 * The innermost coroutine is another one, or resumed again: who waits for it? The one that waited before, if it is the same
 * coroutine: to ask it would take the line of its checks.
 */
LOOK_ANYWAY static void
begin_slice(struct coro_ticked *ticked, struct weir_coro_block *block, uint64_t now)
{
	struct coro_ticked fresh = {.looked = ticked->looked, .seen = ticked->seen};
	struct weir_coro_block *chain[DEPTH];
	unsigned int nb = 0;

	if (ticked->nb > 0 && is_same(&ticked->slices[ticked->nb - 1], block)) {
		while (nb < ticked->nb) {
			chain[nb] = ticked->slices[ticked->nb - 1 - nb].block;
			nb++;
		}
	} else {
		for (; block != NULL && nb < DEPTH;
			block = *(struct weir_coro_block *volatile *)&block->outer)
			if ((*(const volatile uint8_t *)&block->extra & WEIR_CORO_EXTRA_SHOWN) != 0)
				chain[nb++] = block;
	}
	while (nb > 0)
		fresh.slices[fresh.nb++] = recognize(ticked, chain[--nb], now);
	*ticked = fresh;
}

/*
 * Another core reads this next: it is to go where that takes less time than from this one. CLDEMOTE, where there is that; elsewhere these bytes do
 * nothing (Intel SDM, volume 2).
 */
static inline void
hand_over(const void *line)
{
#if defined(__x86_64__)
	__asm__ volatile(".byte 0x0f, 0x1c, 0x07" : : "D"(line) : "memory");
#else
	(void)line;
#endif
}

/* What others ask is more than that: they may have given it another slice. */
static void
tell(struct slice *slice)
{
	const uint32_t mark = coro_slice_mark(slice->word, slice->resumes);
	uint32_t before = 0;

	/* To look first would take the line twice: between the two the worker takes it back. */
	while (!__atomic_compare_exchange_n(
		&slice->block->attention, &before, mark, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		if (before != 0 && before % 2 == 0)
			break;
	hand_over(&slice->block->attention);
	slice->end = 0;
	__atomic_store_n(&told, told + 1, __ATOMIC_RELAXED);
}

/*
 * Its time is over, unless it was given another slice meanwhile, which is asked only now: when it was is not known, so that one ends
 * a bit later, or by the coroutine's own clock. A shorter one has come to that already.
 */
LOOK_ANYWAY static void
end_slice(struct slice *slice, uint64_t now)
{
	const uint64_t length = *(volatile uint64_t *)&slice->block->slice;

	if (length == slice->slice) {
		tell(slice);
		return;
	}
	slice->slice = length;
	slice->end = end_of(now, length);
}

/*
 * Part of it may be older than the rest. That is put right at the next look, as something differs then; and whoever was taken for another one is not
 * told what its own mark does not say.
 */
LOOK_ANYWAY static struct weir_coro_shown
look(const struct weir_coro_thread *thread)
{
	const volatile struct weir_coro_shown *now = &thread->shown;
	struct weir_coro_shown shown;

	shown.current = now->current;
	shown.outer = now->outer;
	shown.resumed = now->resumed;
	shown.resumes = now->resumes;
	return shown;
}

/* It was resumed from outside, and resumed nobody who is shown. */
static bool
is_alone(const struct weir_coro_shown *shown)
{
	return shown->outer == NULL && weir_coro_block_of(shown->resumed) == shown->current;
}

/* It is another one than at the last look, or was resumed since. */
LOOK_ANYWAY static void
note_change(struct coro_ticked *ticked, const struct weir_coro_shown *shown, uint64_t now)
{
	unsigned int i;

	if (is_alone(shown)) {
		ticked->nb = 1;
		ticked->slices[0] = new_slice(ticked, shown->current,
			weir_coro_word(shown->resumed, WEIR_CORO_STATE_RUNNING), shown->resumes,
			now);
		return;
	}
	for (i = ticked->nb; i > 0; i--)
		if (goes_on(&ticked->slices[i - 1], shown->current))
			break;
	if (i > 0)
		ticked->nb = i; /* those within have left */
	else
		begin_slice(ticked, shown->current, now);
}

/* @return does a coroutine run there? */
LOOK_ANYWAY static bool
look_at(const struct coro_thread *thread, struct coro_ticked *ticked)
{
	const struct weir_coro_shown shown = look(thread->fast), *seen = &ticked->seen;
	const uint64_t now = weir_base_cycles();

	if (shown.current == NULL)
		ticked->nb = 0;
	else if (shown.current != seen->current || shown.outer != seen->outer ||
		 shown.resumed != seen->resumed || shown.resumes != seen->resumes)
		note_change(ticked, &shown, now);
	for (unsigned int i = 0; i < ticked->nb; i++)
		if (ticked->slices[i].end != 0 && (int64_t)(now - ticked->slices[i].end) >= 0)
			end_slice(&ticked->slices[i], now);
	ticked->looked = now;
	ticked->seen = shown;
	return shown.current != NULL;
}

static void
wait_until(uint64_t due)
{
	while ((int64_t)(due - weir_base_cycles()) > 0) {
#if defined(__x86_64__)
		__builtin_ia32_pause();
#elif defined(__aarch64__)
		__asm__ volatile("yield");
#endif
	}
}

static void *
tick(void *arg)
{
	const struct timespec nap = {.tv_nsec = IDLE_NS};
	unsigned int idle = 0;
	uint64_t due;

	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		due = weir_base_cycles() + period;
		idle++;
		pthread_mutex_lock(&coro_threads_lock);
		for (struct coro_thread *thread = coro_threads; thread != NULL;
			thread = thread->next)
			if (look_at(thread, thread->ticked))
				idle = 0;
		pthread_mutex_unlock(&coro_threads_lock);
		if (idle < IDLE_LOOKS)
			wait_until(due);
		else
			nanosleep(&nap, NULL);
	}
	return NULL;
}

void
coro_ticker_greets(struct coro_thread *thread)
{
	*thread->ticked = (struct coro_ticked){.looked = weir_base_cycles()};
	__atomic_store_n(&thread->fast->ticked, running, __ATOMIC_RELAXED);
}

static void
greet_all(bool runs)
{
	pthread_mutex_lock(&coro_threads_lock);
	running = runs;
	for (struct coro_thread *thread = coro_threads; thread != NULL; thread = thread->next)
		coro_ticker_greets(thread);
	pthread_mutex_unlock(&coro_threads_lock);
}

void
coro_ticker_forked(void)
{
	pthread_mutex_init(&control, NULL);
	running = false;
	if (coro_threads != NULL)
		coro_ticker_greets(coro_threads);
}

static int
start_ticking(const struct weir_coro_ticker_param *param)
{
	int rc;

	period = weir_base_ns_to_cycles(param->period_ns != 0 ? param->period_ns : PERIOD_NS);
	lead = weir_base_ns_to_cycles(param->lead_ns != 0 ? param->lead_ns : LEAD_NS);
	stopping = false;
	rc = coro_thread_start(&ticker, "weir-ticker", tick, param->cpu);
	if (rc == 0)
		greet_all(true);
	return rc;
}

int
weir_coro_ticker_start(const struct weir_coro_ticker_param *param)
{
	int rc;

	if (param == NULL || param->cpu < -1 || param->cpu >= CPU_SETSIZE ||
		param->period_ns > 1000000000 || param->lead_ns > 1000000000) {
		CORO_LOG(ERROR,
			"a ticker needs a CPU, or -1, and a period and a lead of at most 1 s");
		return -EINVAL;
	}
	pthread_mutex_lock(&control);
	rc = running ? -EALREADY : start_ticking(param);
	pthread_mutex_unlock(&control);
	if (rc < 0 && rc != -EALREADY)
		CORO_LOG(ERROR, "no ticker on CPU %d: %s", param->cpu, strerror(-rc));
	return rc;
}

int
weir_coro_ticker_stop(void)
{
	pthread_mutex_lock(&control);
	if (!running) {
		pthread_mutex_unlock(&control);
		return -EALREADY;
	}
	greet_all(false);
	__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	pthread_join(ticker, NULL);
	pthread_mutex_unlock(&control);
	return 0;
}

uint64_t
weir_coro_ticker_told(void)
{
	return __atomic_load_n(&told, __ATOMIC_RELAXED);
}
