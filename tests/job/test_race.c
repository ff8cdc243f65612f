/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Races, forced: the library is compiled with places to stall at, and while a thread stands at one of them, another one does what may be
 * done at that moment. Each place with each deed; whatever comes of it must be one of the results that may be.
 */

#include <sched.h>
#include <unistd.h>

#include "job_private.h"

#include "job_test.h"

#define MS          UINT64_C(1000000)
#define PATIENCE_MS 20 /* for deeds that cannot be done before the one who stands goes on */
#define LONG_MS     60000

/* What is done, in a thread of its own, while another one stands at the place. */
struct deed {
	const char *name;
	void (*does)(void);
	bool cancels, completes;
	bool (*enough)(void); /* done far enough; NULL: when it is over */
	bool waits;           /* it may wait for who stands */
};

static const char *place; /* where; NULL: nowhere (any more) */
static const struct deed *deed;
static uint64_t nb_stalled, nb_done;
static bool in_time; /* the deed was done while it stood there */
static pthread_t doer;

static struct weir_job_completion completion;
static weir_job waiter;
static int result, complete_result;

static void *
do_it(void *arg)
{
	deed->does();
	jt_add(&nb_done, 1);
	return NULL;
}

/* Who stands there has a lock, that the deed may want. */
static bool
holds_lock(const char *where)
{
	return strcmp(where, "timeout") == 0 || strcmp(where, "cancel") == 0 ||
	       strcmp(where, "join") == 0;
}

/* The first one who comes to the place stands there until the deed is done, or cannot be done before it goes on. */
void
job_stall(const char *where)
{
	const char *there = __atomic_load_n(&place, __ATOMIC_ACQUIRE);
	uint64_t begun;

	if (there == NULL || strcmp(there, where) != 0 ||
		!__atomic_compare_exchange_n(
			&place, &there, NULL, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	jt_add(&nb_stalled, 1);
	CHECK(pthread_create(&doer, NULL, do_it, NULL) == 0);
	begun = weir_base_time_ns();
	while (jt_read(&nb_done) == 0 && (deed->enough == NULL || !deed->enough()) &&
		weir_base_time_ns() - begun <
			(deed->waits || holds_lock(where) ? PATIENCE_MS : LONG_MS) * MS)
		sched_yield();
	in_time = jt_read(&nb_done) > 0;
}

static void
does_complete(void)
{
	complete_result = weir_job_complete(&completion);
}

static void
does_cancel(void)
{
	weir_job_cancel(jt_service, __atomic_load_n(&waiter, __ATOMIC_ACQUIRE));
}

static void
does_both(void)
{
	does_cancel();
	does_complete();
}

static void
does_both_turned(void)
{
	does_complete();
	does_cancel();
}

/* Timeouts come, others run. */
static void
does_wait(void)
{
	usleep(4000);
}

static void
does_look(void)
{
	struct weir_job_info info;
	weir_job job = __atomic_load_n(&waiter, __ATOMIC_ACQUIRE);

	if (weir_job_look(jt_service, job, &info) == 0)
		CHECK(info.job == job);
	weir_job_set_slice(jt_service, job, 1000);
	weir_job_set_priority(jt_service, job, 0);
}

static void
does_join(void)
{
	const struct weir_job_wait how = {.flags = WEIR_JOB_TIMEOUT, .timeout_ns = LONG_MS * MS};
	weir_job job = __atomic_load_n(&waiter, __ATOMIC_ACQUIRE);

	if (job != WEIR_JOB_NONE)
		CHECK(weir_job_join(jt_service, job, &how) == 0);
}

static const struct deed deeds[] = {
	{.name = "complete", .does = does_complete, .completes = true},
	{.name = "cancel", .does = does_cancel, .cancels = true},
	{.name = "cancel, complete", .does = does_both, .cancels = true, .completes = true},
	{.name = "complete, cancel", .does = does_both_turned, .cancels = true, .completes = true},
	{.name = "wait", .does = does_wait},
	{.name = "look", .does = does_look},
	{.name = "join", .does = does_join, .waits = true},
};

/* The job knows its own handle before spawn has told it. */
static void
waits(void *in, void *out)
{
	struct weir_job_completion *own = &completion;

	__atomic_store_n(&waiter, weir_job_self(), __ATOMIC_RELEASE);
	result = weir_job_completion_wait(own, *(const struct weir_job_wait *const *)in);
	/* its memory is the waiter's now */
	if (result == 0)
		CHECK(weir_job_completion_is_done(own));
	weir_job_yield();
	weir_job_yield();
}

static void
begin(const char *where, const struct deed *what)
{
	weir_job_completion_init(&completion);
	nb_stalled = nb_done = 0;
	result = complete_result = 1;
	waiter = WEIR_JOB_NONE;
	deed = what;
	__atomic_store_n(&place, where, __ATOMIC_RELEASE);
}

/* All has ended; if nobody came to the place, nothing was done. */
static bool
end(void)
{
	bool stalled;

	jt_finish();
	stalled = jt_read(&nb_stalled) > 0;
	__atomic_store_n(&place, NULL, __ATOMIC_RELEASE);
	if (stalled)
		pthread_join(doer, NULL);
	jt_finish();
	return stalled;
}

static void
check(const char *where, bool stalled, bool timeout)
{
	bool may_cancel = stalled && deed->cancels;
	bool fine = result == 0 || (result == -ETIMEDOUT && timeout) ||
		    (result == -ECANCELED && may_cancel);

	/* before it left the stack nothing else can have come first */
	if (stalled && deed->completes && !deed->cancels && !timeout)
		fine &= result == 0;
	if (result == 0)
		fine &= weir_job_completion_is_done(&completion);
	if (!fine)
		fail_msg("%s, %s: %d", where, deed->name, result);
}

/* One job waits, with or without a timeout, and is woken in the end if need be. */
static bool
one(const char *where, const struct deed *what, const struct weir_job_wait *how, bool later)
{
	const struct weir_job_options options = {.flags = later ? WEIR_JOB_LATER : 0};
	bool timeout = how != NULL && (how->flags & WEIR_JOB_TIMEOUT) != 0;
	uint64_t begun = weir_base_time_ns();
	bool stalled;

	begin(where, what);
	jt_spawn(waits, &how, sizeof(how), &options);
	while (!timeout && jt_stats().nb_live > 0) {
		jt_rounds(1);
		if (weir_base_time_ns() - begun > MS)
			weir_job_complete(&completion);
		sched_yield();
	}
	stalled = end();
	check(where, stalled, timeout);
	return stalled;
}

static const char *const places[] = {"prepared", "listening", "armed", "leave", "woken", "timeout",
	"waking", "claimed", "make ready", "forward", "ended", "over", "cancel"};

static void
every_place_with_every_deed(void **state)
{
	static const struct weir_job_wait with_timeout = {
		.flags = WEIR_JOB_TIMEOUT, .timeout_ns = MS};
	static const struct weir_job_wait uncancellable = {.flags = WEIR_JOB_UNCANCELLABLE};
	static const struct weir_job_wait *const hows[] = {NULL, &with_timeout, &uncancellable};
	bool seen[RTE_DIM(places)] = {false};

	jt_make(2);
	for (size_t i = 0; i < RTE_DIM(places); i++)
		for (size_t j = 0; j < RTE_DIM(deeds); j++)
			for (size_t k = 0; k < RTE_DIM(hows); k++)
				for (int later = 0; later < 2; later++)
					seen[i] |= one(places[i], &deeds[j], hows[k], later);
	for (size_t i = 0; i < RTE_DIM(places); i++)
		if (!seen[i] && strcmp(places[i], "cancel") != 0)
			fail_msg("nobody came to '%s'", places[i]);
}

/* ---- who completes is between two steps, and something else wakes the job: its stack must stay ---- */

/* Its time is over: the timer has fired, and has woken it unless who completes has. */
static void
does_wait_for_timer(void)
{
	const uint64_t begun = weir_base_time_ns();
	struct job *job = &jt_service->jobs[waiter & 0xffffff];
	struct job_lane *lane = &jt_service->workers[0].lane; /* where it began to wait */
	bool fired = false;

	while (!fired && weir_base_time_ns() - begun < LONG_MS * MS) {
		job_lock(&lane->lock);
		fired = job->entry.next == NULL;
		job_unlock(&lane->lock);
		sched_yield();
	}
	CHECK(fired);
}

static void
completer_stands_still(void **state)
{
	static const struct weir_job_wait with_timeout = {
		.flags = WEIR_JOB_TIMEOUT, .timeout_ns = MS};
	static const struct deed wait = {.name = "timer", .does = does_wait_for_timer};
	static const char *const where[] = {"waking", "claimed"};
	const struct weir_job_wait *how = &with_timeout;

	jt_make(2);
	for (int round = 0; round < 20; round++) {
		begin(where[round % 2], &wait);
		jt_spawn(waits, &how, sizeof(how), NULL);
		/* stands there until the time is over */
		complete_result = weir_job_complete(&completion);
		assert_int_equal(complete_result, 0);
		assert_true(end());
		assert_int_equal(result, 0);
	}
}

/* ---- a job ends while somebody joins it ---- */

static uint64_t nb_joined;

static void
joins(void *in, void *out)
{
	CHECK(weir_job_join(jt_service, *(const weir_job *)in, NULL) == 0);
	jt_add(&nb_joined, 1);
}

static void
joined_while_it_ends(void **state)
{
	static const char *const where[] = {"join", "over", "ended", "make ready"};

	jt_make(2);
	nb_joined = 0;
	for (size_t i = 0; i < RTE_DIM(where); i++) {
		const struct weir_job_wait *how = NULL;
		weir_job job;

		begin(where[i], &deeds[0]);
		job = jt_spawn(waits, &how, sizeof(how), NULL);
		for (int j = 0; j < 3; j++)
			jt_spawn(joins, &job, sizeof(job), NULL);
		weir_job_complete(&completion);
		assert_true(end());
	}
	assert_int_equal(nb_joined, 12);
}

static bool has_ended,
	of_group; /* of_group: not the job is waited for, but the group whose only one it is */
static struct weir_job_group group;

static void
does_end(void)
{
	uint64_t begun = weir_base_time_ns();

	weir_job_complete(&completion);
	do
		has_ended = of_group ? weir_job_group_nb(&group) == 0
				     : !weir_job_is_alive(jt_service, waiter);
	while (!has_ended && weir_base_time_ns() - begun < PATIENCE_MS * MS);
}

static int join_result;

static void
joins_in_vain(void *in, void *out)
{
	if (of_group)
		join_result = weir_job_group_wait(&group, NULL);
	else
		join_result = weir_job_join(jt_service, *(const weir_job *)in, NULL);
}

/* One side gives up, the other one wakes it. */
static void
gives_up(bool group_is_waited_for)
{
	static const struct deed ends = {.name = "end", .does = does_end, .completes = true};
	const struct weir_job_options options = {.group = group_is_waited_for ? &group : NULL};
	unsigned int nb_ended = 0;

	jt_make(2);
	of_group = group_is_waited_for;
	weir_job_group_init(&group);
	for (int round = 0; round < 1000 && nb_ended < 3; round++) {
		const struct weir_job_wait *how = NULL;
		weir_job job, joiner;

		begin("give up", &ends);
		has_ended = false;
		job = jt_spawn(waits, &how, sizeof(how), &options);
		joiner = jt_spawn(joins_in_vain, &job, sizeof(job), NULL);
		/* the joiner's wait is cancelled; while it gives up, the job ends, and wakes it */
		weir_job_cancel(jt_service, joiner);
		assert_true(end());
		/* if it has not ended then, it may have before the joiner went on */
		if ((has_ended && in_time) || join_result != -ECANCELED)
			assert_int_equal(join_result, 0);
		nb_ended += has_ended && in_time;
	}
	assert_int_equal(nb_ended, 3);
}

static void
joiner_gives_up(void **state)
{
	gives_up(false);
}

static void
who_waits_for_a_group_gives_up(void **state)
{
	gives_up(true);
}

/* ---- a deadline passes while the job ends: it is counted once, by either ---- */

static uint64_t late_before;

static void
does_wait_until_late(void)
{
	uint64_t begun = weir_base_time_ns();

	while (jt_stats().nb_late == late_before && weir_base_time_ns() - begun < LONG_MS * MS)
		sched_yield();
}

static void
returns_at_once(void *in, void *out)
{
}

static void
deadline_while_it_ends(void **state)
{
	static const struct deed end_job = {.name = "end", .does = does_complete};
	static const struct deed miss = {.name = "miss", .does = does_wait_until_late};
	static const struct {
		const char *place;
		const struct deed *what;
	} cases[] = {{"deadline", &end_job}, {"over", &miss}};
	const struct weir_job_options options = {.deadline_ns = 1};

	jt_make(2);
	for (unsigned int i = 0; i < 20; i++) {
		const struct weir_job_wait *how = NULL;

		late_before = i;
		begin(cases[i % 2].place, cases[i % 2].what);
		if (i % 2 == 0) {
			jt_spawn(waits, &how, sizeof(how), &options);
			jt_until(&nb_stalled, 1, "a core stands there");
		} else {
			/* its end comes before any core looks, but stands still before it does */
			jt_spawn(returns_at_once, NULL, 0, &options);
		}
		weir_job_complete(&completion);
		assert_true(end());
		assert_true(in_time);
		assert_int_equal(jt_stats().nb_late, i + 1);
	}
}

/* ---- stop comes while others spawn ---- */

static int stop_result;

static void
does_stop(void)
{
	stop_result = weir_job_service_stop(jt_service, NULL, LONG_MS * MS);
}

/* Who spawns stands there for as long as that lasts. */
static void
does_stop_soon(void)
{
	stop_result = weir_job_service_stop(jt_service, NULL, MS);
}

static bool
is_stopping(void)
{
	return job_phase(jt_service) != JOB_STARTED;
}

static void
nothing(void *in, void *out)
{
	weir_job_yield();
}

static void *
spawns(void *arg)
{
	*(weir_job *)arg = weir_job_spawn(jt_service, nothing, NULL, 0, NULL);
	return NULL;
}

static void
stopped_while_one_spawns(void **state)
{
	static const struct deed stop = {
		.name = "stop", .does = does_stop, .cancels = true, .enough = is_stopping};
	pthread_t thread;
	weir_job job;

	jt_make(2);
	for (int round = 0; round < 4; round++) {
		begin("spawn", &stop);
		stop_result = 1;
		if (round % 2 == 0) {
			assert_int_equal(pthread_create(&thread, NULL, spawns, &job), 0);
			while (jt_read(&nb_done) == 0)
				jt_rounds(1);
			pthread_join(thread, NULL);
		} else {
			job = weir_job_spawn(jt_service, nothing, NULL, 0, NULL);
			while (jt_read(&nb_done) == 0)
				jt_rounds(1);
		}
		pthread_join(doer, NULL);
		assert_int_equal(stop_result, 0);
		assert_int_equal(job, WEIR_JOB_NONE); /* it came too late */
		assert_int_equal(jt_stats().nb_live, 0);
		assert_int_equal(weir_job_service_start(jt_service, et_core), 0);
	}
}

static void
stop_times_out_while_one_spawns(void **state)
{
	static const struct deed stop = {.name = "stop soon", .does = does_stop_soon};
	weir_job job;

	jt_make(2);
	begin("spawn", &stop);
	stop_result = 1;
	st_log_clear();
	job = weir_job_spawn(jt_service, nothing, NULL, 0, NULL);
	pthread_join(doer, NULL);
	assert_true(in_time);
	assert_int_equal(stop_result, -ETIMEDOUT);
	assert_non_null(strstr(st_log_last(), "weir_job_spawn()"));
	assert_int_equal(job, WEIR_JOB_NONE);
	assert_int_equal(weir_job_service_stop(jt_service, et_core, WEIR_JOB_FOREVER), 0);
	assert_int_equal(weir_job_service_start(jt_service, et_core), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JT_TEST(every_place_with_every_deed),
		JT_TEST(completer_stands_still),
		JT_TEST(joined_while_it_ends),
		JT_TEST(joiner_gives_up),
		JT_TEST(who_waits_for_a_group_gives_up),
		JT_TEST(deadline_while_it_ends),
		JT_TEST(stopped_while_one_spawns),
		JT_TEST(stop_times_out_while_one_spawns),
	};

	return ST_RUN("job-race", tests);
}
