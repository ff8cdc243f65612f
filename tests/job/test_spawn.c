/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs begin, run in slices, and end; what they are given, what they leave. */

#include "job_test.h"

static uint64_t nb_runs;

static void
nothing(void *in, void *out)
{
	jt_add(&nb_runs, 1);
}

static void
begins_at_once(void **state)
{
	struct weir_job_stats stats;
	weir_job job;

	nb_runs = 0;
	jt_make(1);
	job = jt_spawn(nothing, NULL, 0, NULL);
	assert_int_equal(nb_runs, 1);
	assert_false(weir_job_is_alive(jt_service, job));
	assert_int_equal(weir_job_join(jt_service, job, NULL), 0);
	stats = jt_stats();
	assert_int_equal(stats.nb_spawned, 1);
	assert_int_equal(stats.nb_finished, 1);
	assert_int_equal(stats.nb_at_once, 1);
	assert_int_equal(stats.nb_slices, 1);
}

static void
later(void **state)
{
	const struct weir_job_options options = {.flags = WEIR_JOB_LATER};
	weir_job job;

	nb_runs = 0;
	jt_make(1);
	job = jt_spawn(nothing, NULL, 0, &options);
	assert_int_equal(nb_runs, 0);
	assert_true(weir_job_is_alive(jt_service, job));
	jt_finish();
	assert_int_equal(nb_runs, 1);
	assert_int_equal(jt_stats().nb_at_once, 0);
}

static void
many_slices(void *in, void *out)
{
	for (int i = 0; i < 10; i++)
		assert_int_equal(weir_job_yield(), 0);
	jt_add(&nb_runs, 1);
}

static void
slices(void **state)
{
	nb_runs = 0;
	jt_make(1);
	for (int i = 0; i < 20; i++)
		jt_spawn(many_slices, NULL, 0, NULL);
	jt_finish();
	assert_int_equal(nb_runs, 20);
	assert_int_equal(jt_stats().nb_slices, 220);
}

static void
sleeps(void *in, void *out)
{
	uint64_t begun = weir_base_time_ns();

	assert_int_equal(weir_job_sleep(2000000), 0);
	assert_true(weir_base_time_ns() - begun >= 2000000);
	jt_add(&nb_runs, 1);
}

static void
sleep_test(void **state)
{
	nb_runs = 0;
	jt_make(1);
	for (int i = 0; i < 100; i++)
		jt_spawn(sleeps, NULL, 0, NULL);
	assert_int_equal(nb_runs, 0);
	jt_finish();
	assert_int_equal(nb_runs, 100);
}

/* A job, or who is told of its end: the core that it runs on is still needed. */
static void
core_is_kept(void)
{
	struct weir_em_core *core = weir_job_core() != NULL ? weir_job_core() : et_core;
	uint64_t nb_errors = et_stats().nb_errors;

	assert_int_equal(weir_em_core_detach(core), -EBUSY);
	rte_errno = 0;
	assert_int_equal(
		weir_em_dispatch(core, &(struct weir_em_dispatch_options){.nb_rounds = 1}), 0);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(et_stats().nb_errors, nb_errors + 1);
}

static void
told_of_the_end(void *arg, weir_job job, enum weir_job_end end, void *out)
{
	core_is_kept();
	jt_add(&nb_runs, 1);
}

static void
wants_its_core_gone(void *in, void *out)
{
	const struct weir_job_options options = {.done = told_of_the_end};
	bool first = *(const bool *)in, no = false;

	core_is_kept();
	if (first)
		jt_spawn(wants_its_core_gone, &no, sizeof(no), &options);
	core_is_kept();
	assert_int_equal(weir_job_yield(), 0);
	core_is_kept();
}

/* The first slice runs at once, outside of dispatch; the others within. */
static void
its_core_is_kept(void **state)
{
	const struct weir_job_options options = {.done = told_of_the_end};
	const bool yes = true;

	nb_runs = 0;
	jt_make(1);
	jt_spawn(wants_its_core_gone, &yes, sizeof(yes), &options);
	assert_int_equal(jt_stats().nb_at_once, 2);
	jt_finish();
	assert_int_equal(nb_runs, 2);
	/* Nobody needs it any more. */
	assert_int_equal(weir_em_core_detach(et_core), 0);
	et_core = weir_em_core_attach(et_em, 0);
	assert_non_null(et_core);
}

static void
told_outside_of_dispatch(void **state)
{
	const struct weir_job_options options = {.done = told_of_the_end};

	nb_runs = 0;
	jt_make(1);
	jt_spawn(nothing, NULL, 0, &options);
	assert_int_equal(nb_runs, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JT_TEST(begins_at_once),
		JT_TEST(later),
		JT_TEST(slices),
		JT_TEST(sleep_test),
		JT_TEST(its_core_is_kept),
		JT_TEST(told_outside_of_dispatch),
	};

	return ST_RUN("job-spawn", tests);
}
