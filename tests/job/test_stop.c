/* SPDX-License-Identifier: BSD-3-Clause */

/* A service is started and stopped, with jobs in every state; cores come and go. */

#include <sched.h>

#include "job_test.h"
#include "weir_em_timer.h"

#define MS UINT64_C(1000000)

static uint64_t nb_begun, nb_done, nb_cleaned, nb_told, nb_cancelled;
static struct weir_job_completion never[64];
static bool obstinate_over;

static void
reset(void)
{
	nb_begun = nb_done = nb_cleaned = nb_told = nb_cancelled = 0;
	memset(never, 0, sizeof(never));
	obstinate_over = false;
}

static void
cleans(void *arg)
{
	jt_add(&nb_cleaned, 1);
}

static void
told(void *arg, weir_job job, enum weir_job_end end, void *out)
{
	jt_add(&nb_told, 1);
	if (end == WEIR_JOB_CANCELLED)
		jt_add(&nb_cancelled, 1);
}

/* One of each kind; each is told to end, and does. */
static void
kinds(void *in, void *out)
{
	struct weir_coro_cleanup_entry entry = {.run = cleans};
	uint64_t number = *(const uint64_t *)in;
	struct weir_job_group *group = NULL;
	int rc = 0;

	jt_add(&nb_begun, 1);
	weir_coro_cleanup_push(&entry);
	switch (number % 6) {
	case 0:
		rc = weir_job_sleep(WEIR_EM_TIMEOUT_NS_MAX);
		break;
	case 1:
		rc = weir_job_completion_wait(&never[number], NULL);
		break;
	case 2:
		while (!weir_coro_maybe_yield())
			;
		rc = -ECANCELED;
		break;
	case 3:
		while (rc == 0)
			rc = weir_job_yield();
		break;
	case 4:
		rc = weir_job_join(jt_service, weir_job_self() ^ 1, NULL);
		rc = rc == 0 || rc == -EINVAL ? -ECANCELED
					      : rc; /* there may be none, or it has ended */
		break;
	default:
		rc = weir_job_group_wait(group, NULL);
		while (rc != -ECANCELED)
			rc = weir_job_sleep(1000);
		break;
	}
	CHECK(rc == -ECANCELED);
	jt_add(&nb_done, 1);
	weir_coro_exit();
}

static void
all_are_told(unsigned int nb_cores)
{
	struct weir_job_options options = {.done = told};
	struct weir_job_stats stats;

	reset();
	jt_make(nb_cores);
	for (uint64_t i = 0; i < 60; i++) {
		options.flags = i % 5 == 0 ? WEIR_JOB_LATER : 0;
		options.flags |= i % 7 == 0 ? WEIR_JOB_KEY : 0;
		jt_spawn(kinds, &i, sizeof(i), &options);
	}
	jt_until(&nb_begun, 60, "jobs begun");
	jt_rounds(200);
	/* some that do not begin */
	options.flags = WEIR_JOB_LATER;
	for (uint64_t i = 60; i < 64; i++)
		jt_spawn(kinds, &i, sizeof(i), &options);
	assert_int_equal(weir_job_service_destroy(jt_service, et_core), -EBUSY);
	assert_int_equal(weir_job_service_stop(jt_service, et_core, 60000 * MS), 0);
	stats = jt_stats();
	assert_int_equal(stats.nb_live, 0);
	assert_int_equal(stats.nb_spawned, 64);
	assert_int_equal(stats.nb_finished + stats.nb_cancelled, 64);
	assert_int_equal(nb_told, 64);
	assert_int_equal(nb_cancelled, stats.nb_cancelled);
	assert_int_equal(nb_cleaned, nb_done);
	assert_in_range(nb_done, 60, 64);
	assert_int_equal(weir_job_spawn(jt_service, kinds, never, 8, NULL), WEIR_JOB_NONE);
	assert_int_equal(rte_errno, ESHUTDOWN);
	assert_int_equal(weir_job_service_stop(jt_service, et_core, 0), -EINVAL);
}

static void
all_are_told_by_one(void **state)
{
	all_are_told(1);
}

static void
all_are_told_by_three(void **state)
{
	all_are_told(3);
}

static void
nothing(void *in, void *out)
{
	jt_add(&nb_done, 1);
}

static void
started_again(void **state)
{
	reset();
	jt_make(1);
	assert_int_equal(weir_job_service_start(jt_service, et_core), -EALREADY);
	assert_int_equal(weir_job_service_stop(jt_service, et_core, 0), 0);
	assert_int_equal(weir_job_service_start(jt_service, et_core), 0);
	jt_spawn(nothing, NULL, 0, NULL);
	assert_int_equal(nb_done, 1);
	assert_int_equal(weir_job_service_start(NULL, et_core), -EINVAL);
	assert_int_equal(weir_job_service_stop(NULL, et_core, 0), -EINVAL);
	assert_int_equal(weir_job_service_destroy(NULL, et_core), 0);
	assert_string_equal(weir_job_service_name(jt_service), "jobs");
	assert_ptr_equal(weir_job_service_em(jt_service), et_em);
}

static void
does_not_heed(void *in, void *out)
{
	while (!__atomic_load_n(&obstinate_over, __ATOMIC_ACQUIRE))
		weir_job_yield();
}

static void
stop_times_out(void **state)
{
	struct weir_job_options options = {.name = "mule"};

	reset();
	jt_make(1);
	jt_spawn(does_not_heed, NULL, 0, &options);
	st_log_clear();
	assert_int_equal(weir_job_service_stop(jt_service, et_core, 5 * MS), -ETIMEDOUT);
	assert_non_null(strstr(st_log_last(), "'mule'"));
	assert_int_equal(weir_job_service_destroy(jt_service, et_core), -EBUSY);
	assert_int_equal(weir_job_service_stop(jt_service, et_core, 0), -ETIMEDOUT);
	assert_int_equal(weir_job_spawn(jt_service, nothing, NULL, 0, NULL), WEIR_JOB_NONE);
	__atomic_store_n(&obstinate_over, true, __ATOMIC_RELEASE);
	assert_int_equal(weir_job_service_stop(jt_service, et_core, WEIR_JOB_FOREVER), 0);
}

/* ---- a job that neither yields nor waits, on a core that does nothing else ---- */

#define HANG_NS (UINT64_C(60000) * MS) /* it is over all the same */

static uint64_t hog_runs, nb_stops;
static int hog_stop_result;

static void
hogs_until_stop_has_returned(void *in, void *out)
{
	uint64_t begun = weir_base_time_ns();

	jt_add(&hog_runs, 1);
	while (jt_read(&nb_stops) == 0 && weir_base_time_ns() - begun < HANG_NS)
		sched_yield();
}

static void *
stops_soon(void *arg)
{
	while (jt_read(&hog_runs) == 0)
		sched_yield();
	hog_stop_result = weir_job_service_stop(jt_service, NULL, MS);
	jt_add(&nb_stops, 1);
	return NULL;
}

/* The test's own core has the job: in weir_job_spawn(), or resumed from its queue. */
static void
stop_while_one_hogs(unsigned int flags)
{
	const struct weir_job_options options = {.name = "hog", .flags = flags};
	pthread_t thread;

	reset();
	hog_runs = nb_stops = 0;
	jt_make(1);
	st_log_clear();
	assert_int_equal(pthread_create(&thread, NULL, stops_soon, NULL), 0);
	jt_spawn(hogs_until_stop_has_returned, NULL, 0, &options);
	jt_until(&nb_stops, 1, "a stop that returns");
	pthread_join(thread, NULL);
	assert_int_equal(hog_stop_result, -ETIMEDOUT);
	assert_non_null(strstr(st_log_last(), "'hog'"));
	assert_int_equal(weir_job_service_stop(jt_service, et_core, WEIR_JOB_FOREVER), 0);
	assert_int_equal(jt_stats().nb_live, 0);
}

static void
stop_times_out_while_one_hogs(void **state)
{
	stop_while_one_hogs(WEIR_JOB_LATER);
}

static void
stop_times_out_while_a_first_slice_hogs(void **state)
{
	stop_while_one_hogs(0);
}

static int stop_result;

static void
stops(void *in, void *out)
{
	stop_result = weir_job_service_stop(jt_service, et_core, 0);
}

static void
stop_received(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	stop_result = weir_job_service_stop(jt_service, core, 0);
}

static void
not_from_within(void **state)
{
	reset();
	jt_make(1);
	jt_spawn(stops, NULL, 0, NULL);
	assert_int_equal(stop_result, -EBUSY);
	stop_result = 0;
	et_send(et_serve("stops", WEIR_EM_QUEUE_ATOMIC, stop_received, NULL), 1);
	et_run();
	assert_int_equal(stop_result, -EBUSY);
	jt_spawn(nothing, NULL, 0, NULL);
	assert_int_equal(nb_done, 1);
}

/* Nothing is dispatched while somebody holds the core: who is waited for would not end. */
static void
not_while_it_is_held(void **state)
{
	uint32_t *holds;
	int with_core, without;

	reset();
	jt_make(1);
	holds = weir_em_core_holds(et_core);
	jt_spawn(nothing, NULL, 0, &(struct weir_job_options){.flags = WEIR_JOB_LATER});
	++*holds;
	with_core = weir_job_service_stop(jt_service, et_core, 100 * MS);
	without = weir_job_service_stop(jt_service, NULL, 100 * MS);
	--*holds;
	assert_int_equal(with_core, -EBUSY);
	assert_int_equal(without, -EBUSY);
	jt_until(&nb_done, 1, "one that is spawned yet");
	assert_int_equal(weir_job_service_stop(jt_service, et_core, WEIR_JOB_FOREVER), 0);
}

/* Plain threads spawn all the while. */
static bool spawners_over;
static uint64_t nb_spawned;

static void *
spawner(void *arg)
{
	uint64_t number = (uintptr_t)arg;

	while (!__atomic_load_n(&spawners_over, __ATOMIC_ACQUIRE)) {
		if (weir_job_spawn(jt_service, kinds, &number, sizeof(number), NULL) !=
			WEIR_JOB_NONE)
			jt_add(&nb_spawned, 1);
		else
			sched_yield();
	}
	return NULL;
}

static void
stopped_while_threads_spawn(void **state)
{
	pthread_t threads[2];

	reset();
	nb_spawned = 0;
	jt_make(2);
	for (int round = 0; round < 20; round++) {
		__atomic_store_n(&spawners_over, false, __ATOMIC_RELEASE);
		for (uintptr_t i = 0; i < 2; i++)
			assert_int_equal(
				pthread_create(&threads[i], NULL, spawner, (void *)(i * 3)), 0);
		jt_rounds(20);
		assert_int_equal(weir_job_service_stop(jt_service, et_core, 60000 * MS), 0);
		assert_int_equal(jt_stats().nb_live, 0);
		jt_rounds(20);
		assert_int_equal(jt_stats().nb_live, 0);
		__atomic_store_n(&spawners_over, true, __ATOMIC_RELEASE);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		assert_int_equal(jt_stats().nb_spawned, nb_spawned);
		assert_int_equal(weir_job_service_start(jt_service, et_core), 0);
	}
}

/* Sleepers of a core that is gone are woken by others; its free places are others'. */
static void
a_core_goes(void **state)
{
	const struct weir_job_options later = {.flags = WEIR_JOB_LATER};
	uint64_t zero = 0, begun = weir_base_time_ns();

	reset();
	st_builtin_only(); /* devices go on giving events to ports of cores that have gone */
	jt_make_of(jt_em_config(3), (struct weir_job_service_config){.max_jobs = 100, .cache = 100},
		JT_STACKS);
	for (int i = 0; i < 60; i++)
		jt_spawn(kinds, &zero, sizeof(zero), &later);
	for (int i = 0; i < 40; i++)
		jt_spawn(nothing, NULL, 0, &later);
	/* this core stands still: others take some of both */
	while ((jt_read(&nb_begun) == 0 || jt_read(&nb_done) == 0) &&
		weir_base_time_ns() - begun < HANG_NS)
		sched_yield();
	assert_int_not_equal(jt_read(&nb_begun), 0);
	assert_int_not_equal(jt_read(&nb_done), 0);
	et_workers_end();
	jt_until(&nb_done, 40, "those that end");
	for (int i = 0; i < 40; i++)
		jt_spawn(kinds, &zero, sizeof(zero), NULL);
	jt_until(&nb_begun, 100, "all sleep");
	assert_int_equal(jt_stats().nb_live, 100);
	assert_int_equal(weir_job_service_stop(jt_service, et_core, 60000 * MS), 0);
}

static void
two_services(void **state)
{
	struct weir_job_service *other;
	struct weir_job_stats stats;

	reset();
	jt_make(1);
	other = weir_job_service_create(et_em, &(struct weir_job_service_config){.name = "other"});
	assert_non_null(other);
	assert_int_equal(weir_job_spawn(other, nothing, NULL, 0, NULL), WEIR_JOB_NONE);
	assert_int_equal(rte_errno, ESHUTDOWN);
	assert_int_equal(weir_job_service_start(other, et_core), 0);
	assert_int_not_equal(weir_job_spawn(other, nothing, NULL, 0, NULL), WEIR_JOB_NONE);
	jt_spawn(nothing, NULL, 0, NULL);
	assert_int_equal(nb_done, 2);
	weir_job_stats(other, &stats);
	assert_int_equal(stats.nb_spawned, 1);
	assert_int_equal(weir_job_service_stop(other, et_core, 0), 0);
	assert_int_equal(weir_job_service_destroy(other, et_core), 0);
	jt_spawn(nothing, NULL, 0, NULL);
	assert_int_equal(nb_done, 3);
}

static void
wrong_services(void **state)
{
	struct weir_job_service_config config = {.max_jobs = WEIR_JOB_JOBS_MAX};

	reset();
	jt_make(1);
	assert_null(weir_job_service_create(NULL, NULL));
	assert_int_equal(rte_errno, EINVAL);
	assert_null(weir_job_service_create(et_em, &config));
	assert_int_equal(rte_errno, EINVAL);
	config =
		(struct weir_job_service_config){.name = "a name that has more than 31 characters"};
	assert_null(weir_job_service_create(et_em, &config));
	config = (struct weir_job_service_config){.slice_ns = UINT64_MAX};
	assert_null(weir_job_service_create(et_em, &config));
	config = (struct weir_job_service_config){.name = "other", .stack_class = 1};
	assert_null(weir_job_service_create(et_em, &config));
	assert_int_equal(rte_errno, EINVAL);
}

/* Without coroutines there can be no jobs, which is told before one is wanted. */
static void
no_coroutines(void **state)
{
	et_make(jt_em_config(1));
	assert_null(weir_job_service_create(et_em, NULL));
	assert_int_equal(rte_errno, EINVAL);
}

static void
no_parallel_queues(void **state)
{
	et_make((struct weir_em_config){.types = 1 << WEIR_EM_QUEUE_ATOMIC});
	st_log_clear();
	assert_null(weir_job_service_create(et_em, NULL));
	assert_int_equal(rte_errno, ENOTSUP);
	assert_non_null(strstr(st_log_last(), "service"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JT_TEST(all_are_told_by_one),
		JT_TEST(all_are_told_by_three),
		JT_TEST(started_again),
		JT_TEST(stop_times_out),
		JT_TEST(stop_times_out_while_one_hogs),
		JT_TEST(stop_times_out_while_a_first_slice_hogs),
		JT_TEST(not_from_within),
		JT_TEST(not_while_it_is_held),
		JT_TEST(stopped_while_threads_spawn),
		JT_TEST(a_core_goes),
		JT_TEST(two_services),
		JT_TEST(wrong_services),
		JT_TEST(no_coroutines),
		JT_TEST(no_parallel_queues),
	};

	return ST_RUN("job-stop", tests);
}
