/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Jobs that do anything, on several cores, and threads that spawn, complete, cancel, join, and change them: for some seconds on each kind of
 * scheduler (ten times as many with WEIR_TEST_LONG=1), or as many as the first argument says. Spawned = finished + cancelled + live at every snapshot, and what was counted is what happened.
 */

#include <sched.h>
#include <unistd.h>

#include "../base/random.h"
#include "job_test.h"
#include "weir_em_pool.h"

#define SECONDS    4
#define NB_CORES   3
#define NB_THREADS 2
#define MAX_JOBS   400
#define NB_KEYS    8
#define NB_MEETS   16
#define NB_RECENT  64

static double seconds;
static bool over; /* no new ones */
static uint64_t nb_begun, nb_ended, nb_told, nb_told_cancelled, nb_events;
static uint64_t nb_in_key[NB_KEYS], nb_met;
static weir_job recent[NB_RECENT];

/* Completions where one waits and another one completes: with a lock, that there is one that waits. */
static struct {
	uint32_t lock;
	struct weir_job_completion *waits;
} meets[NB_MEETS];

static struct weir_job_group group;
static weir_em_queue told_queue;
static weir_em_queue_group some_cores;

static void
meet_lock(unsigned int i)
{
	while (__atomic_exchange_n(&meets[i].lock, 1, __ATOMIC_ACQUIRE) != 0)
		sched_yield();
}

static void
meet_unlock(unsigned int i)
{
	__atomic_store_n(&meets[i].lock, 0, __ATOMIC_RELEASE);
}

/* Somebody waits here until somebody comes. */
static int
wait_to_meet(unsigned int i, const struct weir_job_wait *how)
{
	struct weir_job_completion completion = {0};
	bool waits, taken;
	int rc;

	meet_lock(i);
	waits = meets[i].waits == NULL;
	if (waits)
		meets[i].waits = &completion;
	meet_unlock(i);
	if (!waits)
		return 0;
	rc = weir_job_completion_wait(&completion, how);
	if (rc == 0)
		return 0;
	meet_lock(i);
	taken = meets[i].waits != &completion;
	if (!taken)
		meets[i].waits = NULL;
	meet_unlock(i);
	/* somebody is about to complete it */
	while (taken && weir_job_completion_wait(&completion,
				&(struct weir_job_wait){.flags = WEIR_JOB_UNCANCELLABLE}) < 0)
		;
	return taken ? 0 : rc;
}

static bool
meet(unsigned int i)
{
	struct weir_job_completion *completion;

	meet_lock(i);
	completion = meets[i].waits;
	meets[i].waits = NULL;
	meet_unlock(i);
	if (completion == NULL)
		return false;
	CHECK(weir_job_complete(completion) == 0);
	jt_add(&nb_met, 1);
	return true;
}

struct what {
	uint64_t seed;
	int key; /* -1: none */
	unsigned int depth;
};

static bool try_spawn(uint64_t seed, unsigned int depth);

/* A job that began lately, and may have ended. */
static weir_job
any_recent(uint64_t *state)
{
	return __atomic_load_n(&recent[random_next(state) % NB_RECENT], __ATOMIC_RELAXED);
}

/* With a key one is here at a time: until it gives its core back. */
static int
step(struct what *what, uint64_t *state)
{
	struct weir_job_wait how = {
		.flags = WEIR_JOB_TIMEOUT, .timeout_ns = random_next(state) % 300000};
	uint64_t in_key = 0;
	int rc = 0;

	if (what->key >= 0)
		in_key = __atomic_fetch_add(&nb_in_key[what->key], 1, __ATOMIC_SEQ_CST);
	CHECK(in_key == 0);
	for (uint64_t n = random_next(state) % 500; n > 0; n--)
		__asm__ volatile("");
	if (what->key >= 0)
		jt_add(&nb_in_key[what->key], -(uint64_t)1);
	if (random_next(state) % 4 == 0)
		how.flags |= WEIR_JOB_UNCANCELLABLE;
	switch (random_next(state) % 10) {
	case 0:
		rc = weir_job_sleep(random_next(state) % 200000);
		break;
	case 1:
		rc = wait_to_meet(random_next(state) % NB_MEETS, &how);
		break;
	case 2:
		meet(random_next(state) % NB_MEETS);
		break;
	case 3:
		if (what->depth < 3)
			try_spawn(random_next(state), what->depth + 1);
		break;
	case 4:
		rc = weir_job_join(jt_service, any_recent(state), &how);
		break;
	case 5:
		weir_job_cancel(jt_service, any_recent(state));
		break;
	case 6:
		rc = weir_coro_maybe_yield() ? -ECANCELED : 0;
		break;
	case 7:
		weir_job_set_priority(jt_service, any_recent(state),
			st_is_builtin() ? random_next(state) % 8 : 0);
		break;
	default:
		rc = weir_job_yield();
		break;
	}
	CHECK(rc == 0 || rc == -ECANCELED || rc == -ETIMEDOUT || rc == -EDEADLK || rc == -EINVAL);
	return rc;
}

static void
cleans_up(void *arg)
{
	jt_add(&nb_ended, 1);
}

static void
anything(void *in, void *out)
{
	struct weir_coro_cleanup_entry entry = {.run = cleans_up};
	struct what what = *(const struct what *)in;
	uint64_t state = what.seed | 1;

	jt_add(&nb_begun, 1);
	weir_coro_cleanup_push(&entry);
	for (uint64_t n = random_next(&state) % 20; n > 0; n--)
		if (step(&what, &state) == -ECANCELED && random_next(&state) % 2 == 0)
			break;
	if (random_next(&state) % 8 == 0)
		weir_coro_exit();
	weir_coro_cleanup_pop(true);
}

static void
told(void *arg, weir_job job, enum weir_job_end end, void *out)
{
	jt_add(&nb_told, 1);
	if (end == WEIR_JOB_CANCELLED)
		jt_add(&nb_told_cancelled, 1);
}

static void
told_receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	jt_add(&nb_events, nb);
}

static uint64_t nb_spawned, nb_to_tell, nb_to_send;

static bool
try_spawn(uint64_t seed, unsigned int depth)
{
	uint64_t state = seed | 1;
	struct what what = {random_next(&state), -1, depth};
	struct weir_job_options options = {
		.flags = random_next(&state) % 3 == 0 ? WEIR_JOB_LATER : 0};
	weir_job job;

	if (random_next(&state) % 3 == 0) {
		what.key = (int)(random_next(&state) % NB_KEYS);
		options.flags |= WEIR_JOB_KEY;
		options.key = (uint64_t)what.key;
	}
	if (st_is_builtin() && random_next(&state) % 2 == 0) {
		options.flags |= WEIR_JOB_PRIORITY;
		options.priority = random_next(&state) % 8;
	}
	if (some_cores != WEIR_EM_NONE && random_next(&state) % 5 == 0)
		options.core_group = some_cores;
	if (random_next(&state) % 4 == 0)
		options.group = &group;
	if (random_next(&state) % 4 == 0)
		options.done = told;
	else if (random_next(&state) % 4 == 0)
		options.done_queue = told_queue;
	if (random_next(&state) % 16 == 0)
		options.deadline_ns = 1000000000000;
	job = weir_job_spawn(jt_service, anything, &what, sizeof(what), &options);
	if (job == WEIR_JOB_NONE) {
		CHECK(rte_errno == EAGAIN || rte_errno == ESHUTDOWN);
		return false;
	}
	__atomic_store_n(&recent[random_next(&state) % NB_RECENT], job, __ATOMIC_RELAXED);
	jt_add(&nb_spawned, 1);
	if (options.done != NULL)
		jt_add(&nb_to_tell, 1);
	if (options.done_queue != WEIR_EM_NONE)
		jt_add(&nb_to_send, 1);
	return true;
}

/* What a thread does, also one that is a core. */
static void
disturb(uint64_t *state, bool is_core)
{
	const struct weir_job_wait how = {.flags = WEIR_JOB_TIMEOUT, .timeout_ns = 50000};
	weir_job job = any_recent(state);
	struct weir_job_info info;

	switch (random_next(state) % 8) {
	case 0:
		weir_job_cancel(jt_service, job);
		break;
	case 1:
		meet(random_next(state) % NB_MEETS);
		break;
	case 2:
		if (!is_core)
			weir_job_join(jt_service, job, &how);
		break;
	case 3:
		if (some_cores != WEIR_EM_NONE)
			weir_job_set_core_group(jt_service, job,
				random_next(state) % 2 == 0 ? some_cores : WEIR_EM_NONE);
		break;
	case 4:
		weir_job_look(jt_service, job, &info);
		break;
	case 5:
		if (!is_core)
			weir_job_group_wait(&group, &how);
		break;
	case 6:
		if (random_next(state) % 64 == 0)
			weir_job_group_cancel(jt_service, &group);
		break;
	default:
		try_spawn(random_next(state), 0);
		break;
	}
}

static void *
disturbs(void *arg)
{
	uint64_t state = (uintptr_t)arg * 7919 + 1;

	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
		disturb(&state, false);
		if (random_next(&state) % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static bool
sane(void *arg, const struct weir_job_info *info)
{
	uint64_t *nb = arg;

	CHECK(info->job != WEIR_JOB_NONE);
	CHECK(info->fn == anything);
	CHECK(info->waits_for != NULL);
	CHECK((unsigned int)info->state < WEIR_JOB_STATES);
	CHECK(info->core < NB_CORES || info->core == UINT32_MAX);
	(*nb)++;
	return true;
}

static void
snapshot(void)
{
	struct weir_job_stats stats = jt_stats();
	uint64_t nb = 0;

	CHECK(stats.nb_spawned == stats.nb_finished + stats.nb_cancelled + stats.nb_live);
	CHECK(stats.nb_live <= MAX_JOBS + NB_CORES * 64);
	CHECK(weir_job_foreach(jt_service, sane, &nb) == nb);
	CHECK(nb <= MAX_JOBS + NB_CORES * 64);
}

static void
check_counts(void)
{
	struct weir_job_stats stats = jt_stats();
	uint64_t nb = 0;

	assert_int_equal(stats.nb_live, 0);
	assert_int_equal(weir_job_foreach(jt_service, sane, &nb), 0);
	assert_int_equal(stats.nb_spawned, nb_spawned);
	assert_int_equal(nb_begun, nb_ended);
	/* those that were cancelled before they began did not */
	assert_in_range(nb_begun, stats.nb_finished, nb_spawned);
	assert_int_equal(nb_told, nb_to_tell);
	assert_in_range(nb_told_cancelled, 0, stats.nb_cancelled);
	assert_int_equal(weir_job_group_nb(&group), 0);
	for (int i = 0; i < NB_MEETS; i++)
		assert_null(meets[i].waits);
	print_message(
		"  %ju jobs, %ju cancelled, %ju slices, %ju waits, %ju migrations, %ju keys busy, "
		"%ju unpaid, %ju meetings\n",
		(uintmax_t)stats.nb_spawned, (uintmax_t)stats.nb_cancelled,
		(uintmax_t)stats.nb_slices, (uintmax_t)stats.nb_waits, (uintmax_t)stats.nb_migrated,
		(uintmax_t)stats.nb_keys_busy, (uintmax_t)stats.nb_unpaid, (uintmax_t)nb_met);
	assert_true(stats.nb_cancelled > 0 && stats.nb_finished > 0 && stats.nb_waits > 0);
}

static void
anything_goes(void **state)
{
	uint64_t until = weir_base_time_ns() + (uint64_t)(seconds * 1e9), seed = 42;
	struct weir_em_config em = jt_em_config(NB_CORES);
	pthread_t threads[NB_THREADS];

	em.nb_events = 256; /* new events are refused now and then */
	jt_make_of(em, (struct weir_job_service_config){.max_jobs = MAX_JOBS}, JT_STACKS);
	told_queue = et_serve("told", WEIR_EM_QUEUE_ATOMIC, told_receive, NULL);
	if (st_is_builtin())
		some_cores = weir_em_queue_group_create(et_em, "some", 0x5);
	for (uintptr_t i = 0; i < NB_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, disturbs, (void *)(i + 1)), 0);
	while (weir_base_time_ns() < until) {
		jt_rounds(4);
		disturb(&seed, true);
		if (random_next(&seed) % 64 == 0)
			snapshot();
		if (some_cores != WEIR_EM_NONE && random_next(&seed) % 4096 == 0)
			weir_em_queue_group_modify(
				et_em, et_core, some_cores, 1 + random_next(&seed) % 7);
	}
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	for (int i = 0; i < NB_THREADS; i++) {
		/* they may wait for jobs, with a timeout */
		pthread_join(threads[i], NULL);
	}
	/* no timeout is for ever, so they come to an end by themselves */
	jt_finish();
	jt_until(&nb_events, nb_to_send, "events of ends");
	check_counts();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		JT_TEST(anything_goes),
	};

	seconds = argc > 1 ? strtod(argv[1], NULL) : st_seconds(SECONDS);
	if (argc > 2 || !(seconds > 0)) {
		fprintf(stderr, "usage: %s [SECONDS]\n", argv[0]);
		return 2;
	}
	return ST_RUN("job-random", tests);
}
