/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Coroutines that do not yield. A thread looks at others' now and then: the same resumption, seen at two looks that are further
 * apart than it may take, is an overrun. Who is looked at has nothing to do for that.
 *
 *      looks      |     |     |     |     |     |
 *      resumed  1 |  2    3   |  4                       4 was seen four times
 *
 * What is read is being written to meanwhile, by plain stores: numbers only. Its block may be another's by then, but it is memory:
 * blocks are unmapped by weir_coro_cleanup(), which stops the watchdog first. Whoever is found runs at some moment of the look.
 * Numbers of resumptions grow, and are read after that moment: who has the one that it had at an earlier look has not left
 * meanwhile. So the innermost ones may come and go while they are read. What must not have changed is the outermost one, or some
 * between may have been overlooked: then it is looked once more. Who was seen before and is not found is remembered for a while.
 *
 * Time is taken after the first look, and before the second, so that what the watchdog itself takes is not counted.
 *
 * Only its own thread can tell where a coroutine is, in a signal handler of the program's. What is asked of it
 * is in the thread's own memory. It asks under the lock that the thread takes to end, so that it is there to be asked.
 * By the time it gets to answer, the coroutine may be gone: the resumption is compared again.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "coro_private.h"
#include "report.h"

#define FACTOR      10
#define LEAST_NS    1000000
#define PERIOD_NS   1000000
#define INTERVAL_NS 1000000000

/* Coroutines that wait for each other on a thread, as far as looked at: the innermost ones. */
#define DEPTH 8

/* Of a thread that are remembered. */
#define SEEN (2 * DEPTH)

/* At a thread where the outermost one was changing: it has no overrun, as a rule. */
#define LOOKS_MAX 8

/* Told of at a look, however many threads there are. */
#define TOLD_MAX 16

/* A resumption. */
struct seen {
	const struct weir_coro_block *block;
	uint32_t
		generation; /* of its coroutine: the next one is at its first resumption soon, too */
	uint64_t resumes;
	uint64_t slice;
	uint64_t since;    /* cycles: after the first look that saw it */
	uint64_t earliest; /* when it may have begun: the look before that */
	bool known;        /* it was found to overrun */
};

/* What the handler is to tell. */
struct request {
	bool asked; /* and not answered; the rest is the handler's then */
	struct seen seen;
	struct weir_coro_overrun overrun;
};

/* Of each thread, in its own memory. All but the request is looked at under the threads' lock. */
struct coro_watched {
	struct seen seen[SEEN]; /* last seen first */
	uint64_t looked;        /* cycles: the last look */
	struct request request;
};

static __thread struct coro_watched self;

/* Under the threads' lock. */
static bool stopping;
static struct weir_coro_watchdog_param config;
static uint64_t last_told; /* cycles; 0: none */
static uint64_t untold;

static pthread_mutex_t control =
	PTHREAD_MUTEX_INITIALIZER; /* of starting and stopping; taken first */
static bool running;
static pthread_t watchdog;
static __thread bool is_watchdog;
static pthread_cond_t wake;

static uint64_t overruns;

/* Nobody looked before. */
struct coro_watched *
coro_watched_self(void)
{
	self.looked = weir_base_cycles();
	return &self;
}

void
coro_watchdog_forked(void)
{
	pthread_mutex_init(&control, NULL);
	running = false;
	is_watchdog = false; /* though report() forked */
	self.looked = weir_base_cycles();
}

LOOK_ANYWAY static const struct weir_coro_block *
current_of(const struct weir_coro_thread *thread)
{
	return *(const struct weir_coro_block *const volatile *)&thread->current;
}

/* @return who resumed it, or NULL */
LOOK_ANYWAY static const struct weir_coro_block *
read_block(const volatile struct weir_coro_block *block, struct seen *seen)
{
	*seen = (struct seen){
		.block = (const struct weir_coro_block *)block, .generation = block->word >> 16};
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	seen->resumes = block->resumes;
	seen->slice = block->slice;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return block->outer;
}

/* Is it what it was when it was read, and runs? */
LOOK_ANYWAY static bool
is_running(const struct seen *seen)
{
	const volatile struct weir_coro_block *block = seen->block;

	return block->word == (seen->generation << 16 | WEIR_CORO_STATE_RUNNING) &&
	       block->resumes == seen->resumes;
}

LOOK_ANYWAY static const struct weir_coro_block *
outer_of(const struct seen *seen)
{
	return *(const struct weir_coro_block *const volatile *)&seen->block->outer;
}

/* @return how many of @chain were read; 0 also when that has to be done again */
LOOK_ANYWAY static unsigned int
read_chain(const struct weir_coro_block *block, struct seen *chain)
{
	const struct weir_coro_block *outer = NULL;
	unsigned int nb = 0;

	for (; block != NULL && nb < DEPTH; block = outer) {
		outer = read_block(block, &chain[nb]);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		/* Another one in its place has begun to count anew. */
		if (*(const volatile uint32_t *)&block->word >> 16 != chain[nb++].generation)
			return 0;
	}
	return is_running(&chain[nb - 1]) && outer_of(&chain[nb - 1]) == outer ? nb : 0;
}

/* What runs on a thread, innermost first. @return false: it was changing all the time */
static bool
look(const struct weir_coro_thread *thread, struct seen *chain, unsigned int *nb)
{
	const struct weir_coro_block *block;

	for (unsigned int looks = 0; looks < LOOKS_MAX; looks++) {
		block = current_of(thread);
		*nb = block != NULL ? read_chain(block, chain) : 0;
		if (block == NULL || *nb > 0)
			return true;
	}
	return false;
}

static bool
is_same(const struct seen *one, const struct seen *other)
{
	return one->block == other->block && one->resumes == other->resumes &&
	       one->generation == other->generation;
}

/* Since when is it known? */
static void
recognize(struct seen *found, const struct coro_watched *watched, uint64_t now)
{
	const struct seen *before = watched->seen;

	found->since = now;
	found->earliest = watched->looked;
	for (unsigned int i = 0; i < SEEN && before[i].block != NULL; i++) {
		if (!is_same(&before[i], found))
			continue;
		found->since = before[i].since;
		found->earliest = before[i].earliest;
		found->known = before[i].known;
	}
}

/* Those that were found, and of the others as many as there is room for. */
static void
remember(struct coro_watched *watched, const struct seen *chain, unsigned int nb)
{
	struct seen before[SEEN];
	unsigned int found;

	memcpy(before, watched->seen, sizeof(before));
	memcpy(watched->seen, chain, nb * sizeof(chain[0]));
	for (unsigned int i = 0; i < SEEN && before[i].block != NULL && nb < SEEN; i++) {
		for (found = 0; found < nb && !is_same(&watched->seen[found], &before[i]); found++)
			;
		if (found == nb)
			watched->seen[nb++] = before[i];
	}
	if (nb < SEEN)
		watched->seen[nb].block = NULL;
}

static uint64_t
ran(const struct seen *seen, uint64_t now)
{
	return now > seen->since ? now - seen->since : 0;
}

static bool
is_over(const struct seen *seen, uint64_t now)
{
	double limit = (double)seen->slice * config.factor;
	uint64_t least = weir_base_ns_to_cycles(config.least_ns);

	limit = limit > (double)least ? limit : (double)least;
	return (double)ran(seen, now) >= limit;
}

LOOK_ANYWAY static void
describe(struct weir_coro_overrun *overrun, const struct coro_thread *thread,
	const struct seen *seen, uint64_t now)
{
	const volatile struct weir_coro_block *block = seen->block;

	*overrun = (struct weir_coro_overrun){
		.id = block->id,
		.class_id = block->class_id,
		.run = block->run,
		.slice_ns = weir_base_cycles_to_ns(seen->slice),
		.ran_ns = weir_base_cycles_to_ns(ran(seen, now)),
		.resumes = seen->resumes,
		.thread = thread->tid,
		.untold = untold,
	};
}

/*
 * Its thread is to tell where it is. One that still has the last question to answer has the signal blocked, or it was
 * lost: it is reminded, and the next overrun is asked about once it has answered.
 */
static void
ask(struct coro_thread *thread, const struct seen *seen, const struct weir_coro_overrun *overrun)
{
	struct request *request = &thread->watched->request;

	if (config.signal == 0)
		return;
	if (!__atomic_load_n(&request->asked, __ATOMIC_ACQUIRE)) {
		request->seen = *seen;
		request->overrun = *overrun;
		__atomic_store_n(&request->asked, true, __ATOMIC_RELEASE);
	}
	(void)pthread_kill(thread->pthread, config.signal);
}

/* Is it time to tell of another one? */
static bool
may_tell(uint64_t now, unsigned int nb_told)
{
	return nb_told < TOLD_MAX &&
	       (last_told == 0 || now - last_told >= weir_base_ns_to_cycles(config.interval_ns));
}

/*
 * May most of its time have gone to one that it resumed? One that is new has had a period at most; and to wait for what becomes of
 * it, and then of the next one, would be to find who waits too late.
 */
static bool
may_wait(const struct seen *seen, const struct seen *inner, uint64_t now)
{
	return inner->since < now && 2 * (now - inner->earliest) >= ran(seen, now);
}

/*
 * Who of those on a thread is to blame, if any: one that is over and does not wait for another that is over, known to be, or will be
 * soon, as most of the time may have gone there.
 */
static const struct seen *
find_overrun(struct seen *chain, unsigned int nb, uint64_t now)
{
	const struct seen *found = NULL;

	for (unsigned int i = 0; i < nb; i++) {
		bool excused = i > 0 && chain[i - 1].known;

		if (chain[i].known || !is_over(&chain[i], now))
			continue;
		if (i > 0 && !excused && may_wait(&chain[i], &chain[i - 1], now))
			continue;
		chain[i].known = true;
		found = excused ? found : &chain[i];
	}
	return found;
}

/* One thread, under the lock. @return does @told have another one? */
static bool
look_at(struct coro_thread *thread, struct weir_coro_overrun *told, unsigned int nb_told)
{
	struct seen chain[DEPTH];
	uint64_t before = weir_base_cycles(), after;
	const struct seen *found;
	unsigned int nb;

	/* What was seen before is still what it was, if it is seen again. */
	if (!look(thread->fast, chain, &nb))
		return false;
	after = weir_base_cycles();
	for (unsigned int i = 0; i < nb; i++)
		recognize(&chain[i], thread->watched, after);
	thread->watched->looked = before;
	found = find_overrun(chain, nb, before);
	remember(thread->watched, chain, nb);
	if (found == NULL)
		return false;
	__atomic_fetch_add(&overruns, 1, __ATOMIC_RELAXED);
	if (!may_tell(before, nb_told)) {
		untold++;
		return false;
	}
	describe(told, thread, found, before);
	untold = 0;
	last_told = before;
	ask(thread, found, told);
	return true;
}

static void
tell(const struct weir_coro_overrun *overrun)
{
	struct coro_line name = {0};
	char before[64] = "";

	if (config.report != NULL) {
		config.report(config.arg, overrun);
		return;
	}
	coro_line_function(&name, (const void *)overrun->run);
	if (overrun->untold > 0)
		snprintf(before, sizeof(before), "; %" PRIu64 " before it were not told",
			overrun->untold);
	CORO_LOG(WARNING,
		"coroutine %u (class %u), entry %.*s, has run for %.1f us on thread %d, its slice "
		"is %.1f us%s",
		overrun->id, overrun->class_id, (int)name.length, name.text,
		(double)overrun->ran_ns / 1e3, overrun->thread, (double)overrun->slice_ns / 1e3,
		before);
}

/* When the next look is due. */
static struct timespec
next_look(void)
{
	struct timespec time;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &time);
	ns = (uint64_t)time.tv_nsec + config.period_ns;
	time.tv_sec += (time_t)(ns / 1000000000);
	time.tv_nsec = (long)(ns % 1000000000);
	return time;
}

static void *
watch(void *arg)
{
	struct weir_coro_overrun told[TOLD_MAX];
	struct timespec due;
	unsigned int nb;

	is_watchdog = true;
	pthread_mutex_lock(&coro_threads_lock);
	while (!stopping) {
		nb = 0;
		for (struct coro_thread *thread = coro_threads; thread != NULL;
			thread = thread->next)
			nb += look_at(thread, &told[nb], nb);
		if (nb > 0) {
			pthread_mutex_unlock(&coro_threads_lock);
			for (unsigned int i = 0; i < nb; i++)
				tell(&told[i]);
			pthread_mutex_lock(&coro_threads_lock);
		}
		due = next_look();
		while (!stopping && pthread_cond_timedwait(&wake, &coro_threads_lock, &due) == 0)
			;
	}
	pthread_mutex_unlock(&coro_threads_lock);
	return NULL;
}

/* Has the program a handler for it? If not, it would be the end of the process. */
static bool
is_caught(int signal_number)
{
	uint64_t caught = UINT64_MAX; /* nobody tells */
	char line[256];
	FILE *status;

	if (signal_number < 1 || signal_number > SIGRTMAX)
		return false;
	status = fopen("/proc/self/status", "re");
	if (status == NULL)
		return true;
	while (fgets(line, sizeof(line), status) != NULL)
		if (sscanf(line, "SigCgt: %" SCNx64, &caught) == 1)
			break;
	fclose(status);
	return (caught >> (signal_number - 1) & 1) != 0;
}

static int
param_check(const struct weir_coro_watchdog_param *param)
{
	if (param == NULL || !(param->factor >= 0) || isinf(param->factor) ||
		param->period_ns > INT64_MAX) {
		CORO_LOG(ERROR, "a watchdog needs a factor of 0 or more, and a period in range");
		return -EINVAL;
	}
	if (param->signal != 0 && !is_caught(param->signal)) {
		CORO_LOG(ERROR,
			"the program has no handler for signal %d, which the watchdog is to send",
			param->signal);
		return -EINVAL;
	}
	return 0;
}

static uint64_t
or_default(uint64_t value, uint64_t otherwise)
{
	return value != 0 ? value : otherwise;
}

static int
start_thread(void)
{
	pthread_condattr_t attributes;
	int rc;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&wake, &attributes);
	pthread_condattr_destroy(&attributes);
	rc = coro_thread_start(&watchdog, "weir-watchdog", watch, -1);
	if (rc != 0)
		pthread_cond_destroy(&wake);
	return rc;
}

int
weir_coro_watchdog_start(const struct weir_coro_watchdog_param *param)
{
	int rc;

	if (is_watchdog) /* who stops it has the lock, and waits for this thread */
		return -EDEADLK;
	rc = param_check(param);
	if (rc < 0)
		return rc;
	coro_report_ready();
	(void)weir_base_cycles_hz(); /* measured now, if at all */
	pthread_mutex_lock(&control);
	if (running) {
		pthread_mutex_unlock(&control);
		return -EALREADY;
	}
	pthread_mutex_lock(&coro_threads_lock);
	config = *param;
	config.factor = param->factor > 0 ? param->factor : FACTOR;
	config.least_ns = or_default(param->least_ns, LEAST_NS);
	config.period_ns = or_default(param->period_ns, PERIOD_NS);
	config.interval_ns = or_default(param->interval_ns, INTERVAL_NS);
	stopping = false;
	last_told = untold = 0;
	/* Nobody looked for long. */
	for (struct coro_thread *thread = coro_threads; thread != NULL; thread = thread->next) {
		memset(thread->watched->seen, 0, sizeof(thread->watched->seen));
		thread->watched->looked = weir_base_cycles();
	}
	pthread_mutex_unlock(&coro_threads_lock);
	rc = start_thread();
	running = rc == 0;
	pthread_mutex_unlock(&control);
	return rc;
}

int
weir_coro_watchdog_stop(void)
{
	uint64_t left;

	if (is_watchdog)
		return -EDEADLK;
	pthread_mutex_lock(&control);
	if (!running) {
		pthread_mutex_unlock(&control);
		return -EALREADY;
	}
	pthread_mutex_lock(&coro_threads_lock);
	stopping = true;
	pthread_cond_signal(&wake);
	pthread_mutex_unlock(&coro_threads_lock);
	pthread_join(watchdog, NULL);
	pthread_cond_destroy(&wake);
	running = false;
	left = untold;
	pthread_mutex_unlock(&control);
	if (left > 0)
		CORO_LOG(WARNING, "%" PRIu64 " overruns of slices were not told", left);
	return 0;
}

uint64_t
weir_coro_watchdog_overruns(void)
{
	return __atomic_load_n(&overruns, __ATOMIC_RELAXED);
}

/* Is it, or does it wait for one that it resumed? On the calling thread, so nothing changes meanwhile. */
static bool
runs_here(const struct seen *seen)
{
	const struct weir_coro_block *block = weir_coro_thread_now()->current;

	for (; block != NULL; block = block->outer)
		if (block == seen->block && block->resumes == seen->resumes &&
			block->word >> 16 == seen->generation)
			return true;
	return false;
}

bool
weir_coro_watchdog_report(int fd)
{
	struct coro_line line = {0};
	int saved_errno = errno;
	struct request request;

	if (!__atomic_load_n(&self.request.asked, __ATOMIC_ACQUIRE))
		return false;
	request = self.request;
	__atomic_store_n(&self.request.asked, false, __ATOMIC_RELEASE);
	coro_line_text(&line, "weir: coro: coroutine ");
	coro_line_number(&line, request.overrun.id, 10);
	coro_line_text(&line, " (class ");
	coro_line_number(&line, request.overrun.class_id, 10);
	if (!runs_here(&request.seen)) {
		coro_line_text(&line, "), told to overrun its slice, has gone on meanwhile\n");
		coro_line_write(&line, fd);
		errno = saved_errno;
		return true;
	}
	coro_line_text(&line, ") has run for ");
	coro_line_number(&line, request.overrun.ran_ns, 10);
	coro_line_text(&line, " ns, its slice is ");
	coro_line_number(&line, request.overrun.slice_ns, 10);
	coro_line_text(&line, " ns: entry ");
	coro_line_write(&line, fd);
	coro_line_function(&line, (const void *)request.overrun.run);
	coro_line_text(&line, ", at:\n");
	coro_line_write(&line, fd);
	coro_report_backtrace(fd);
	errno = saved_errno;
	return true;
}
