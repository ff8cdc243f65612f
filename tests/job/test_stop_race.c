/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Races of those who stop a service, forced: one of them stands still between two steps, and is late: others have stopped it meanwhile, and
 * it was started again.
 */

#include "stall.h"

#include "job_private.h"

#define MS UINT64_C(1000000)

static pthread_t late;
static bool late_is_there;
static uint64_t late_over;
static int late_result;

static struct weir_job_completion completion;
static uint64_t nb_begun;
static int wait_result;

static void *
stops(void *arg)
{
	late_result = weir_job_service_stop(jt_service, NULL, WEIR_JOB_FOREVER);
	jt_add(&late_over, 1);
	return NULL;
}

static void
nothing(void *in, void *out)
{
	weir_job_yield();
}

static void
waits(void *in, void *out)
{
	jt_add(&nb_begun, 1);
	wait_result =
		weir_job_completion_wait(&completion, *(const struct weir_job_wait *const *)in);
}

/* One who stops it stands at the place; another one has stopped it, and started it again. */
static void
restart_while_one_stands(const char *place)
{
	jt_make(2);
	weir_job_completion_init(&completion);
	late_result = wait_result = 1;
	nb_begun = late_over = 0;
	stall_at(place);
	assert_int_equal(pthread_create(&late, NULL, stops, NULL), 0);
	late_is_there = true;
	stall_reached();
	assert_int_equal(weir_job_service_stop(jt_service, et_core, WEIR_JOB_FOREVER), 0);
	assert_int_equal(weir_job_service_start(jt_service, et_core), 0);
}

/* A job that waits belongs to that second run. */
static weir_job
spawn_one_that_waits(const struct weir_job_wait *how)
{
	weir_job job = jt_spawn(waits, &how, sizeof(how), NULL);

	jt_until(&nb_begun, 1, "the job waits");
	return job;
}

static void
let_late_one_end(void)
{
	stall_let_go();
	pthread_join(late, NULL);
	late_is_there = false;
	assert_int_equal(late_result, 0);
}

/* Where a test has failed who is late stops the service yet, and what runs must end for that. */
static int
teardown(void **state)
{
	stall_let_go();
	if (late_is_there) {
		weir_job_complete(&completion);
		jt_until(&late_over, 1, "who is late has stopped it");
		pthread_join(late, NULL);
		late_is_there = false;
	}
	return stall_teardown(state);
}

static void
does_not_stop_the_next_run(void **state)
{
	restart_while_one_stands("none is left");
	let_late_one_end();
	jt_spawn(nothing, NULL, 0, NULL);
	jt_finish();
}

/* The next run is being stopped already, but has not come to its end: who is late does not say that it has. */
static void
does_not_end_the_next_run(void **state)
{
	static const struct weir_job_wait uncancellable = {.flags = WEIR_JOB_UNCANCELLABLE};

	restart_while_one_stands("none is left");
	spawn_one_that_waits(&uncancellable);
	assert_int_equal(weir_job_service_stop(jt_service, et_core, MS), -ETIMEDOUT);
	let_late_one_end();
	assert_int_equal(jt_stats().nb_live, 1);
	assert_int_equal(job_phase(jt_service), JOB_STOPPING);
	assert_int_equal(weir_job_service_start(jt_service, et_core), -EALREADY);
	weir_job_complete(&completion);
	assert_int_equal(weir_job_service_stop(jt_service, et_core, WEIR_JOB_FOREVER), 0);
	assert_int_equal(jt_stats().nb_live, 0);
}

/* Nor are its jobs cancelled, or waited for. */
static void
does_not_cancel_the_next_run(void **state)
{
	struct weir_job_info info;
	weir_job job;

	restart_while_one_stands("cancel all");
	job = spawn_one_that_waits(NULL);
	let_late_one_end();
	assert_int_equal(jt_stats().nb_live, 1);
	/* looked at before it is completed, which would go first */
	assert_int_equal(weir_job_look(jt_service, job, &info), 0);
	assert_false(info.cancelled);
	weir_job_complete(&completion);
	jt_finish();
	assert_int_equal(wait_result, 0);
}

static struct weir_job_group group;

/* A job ends on another core, which stands still where the job is counted as ended, but is in its group yet. */
static void
waits_for_who_leaves_a_group(void **state)
{
	struct weir_job_options options = {.flags = 0};
	uint64_t begun;

	st_builtin_only();
	jt_make(2);
	weir_job_group_init(&group);
	options.group = &group;
	options.core_group = weir_em_queue_group_create(et_em, "other", 0x2);
	stall_at("leaving");
	jt_spawn(nothing, NULL, 0, &options);
	begun = weir_base_time_ns();
	while (jt_read(&stall_nb) == 0 && weir_base_time_ns() - begun < 10000 * MS)
		sched_yield();
	assert_int_equal(jt_read(&stall_nb), 1);
	assert_int_equal(jt_stats().nb_live, 0);
	assert_int_equal(weir_job_service_stop(jt_service, NULL, 20 * MS), -ETIMEDOUT);
	assert_int_equal(weir_job_group_nb(&group), 1);
	stall_let_go();
	assert_int_equal(weir_job_service_stop(jt_service, NULL, WEIR_JOB_FOREVER), 0);
	assert_int_equal(weir_job_group_nb(&group), 0);
}

#define RACE_TEST(name) cmocka_unit_test_teardown(name, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RACE_TEST(does_not_stop_the_next_run),
		RACE_TEST(does_not_end_the_next_run),
		RACE_TEST(does_not_cancel_the_next_run),
		RACE_TEST(waits_for_who_leaves_a_group),
	};

	return ST_RUN("job-stop-race", tests);
}
