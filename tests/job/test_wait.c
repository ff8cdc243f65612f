/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs and threads wait for completions, until they are cancelled; where they may not. */

#include <sched.h>

#include "job_state.h"

#include "wait_test.h"

/* ---- completions ---- */

static void
completed_before(void **state)
{
	reset();
	jt_make(1);
	assert_false(weir_job_completion_is_done(&completion));
	assert_int_equal(weir_job_complete(&completion), 0);
	assert_true(weir_job_completion_is_done(&completion));
	assert_int_equal(weir_job_complete(&completion), -EALREADY);
	spawn_wait(NULL);
	assert_int_equal(nb_done, 1);
	assert_int_equal(result, 0);
	assert_int_equal(jt_stats().nb_waits, 0);
}

static void
completed_after(void **state)
{
	struct weir_job_info info;
	weir_job job;

	reset();
	jt_make(1);
	job = spawn_wait(&(struct weir_job_wait){.what = "godot"});
	jt_rounds(100);
	assert_int_equal(nb_done, 0);
	assert_int_equal(weir_job_look(jt_service, job, &info), 0);
	assert_int_equal(info.state, WEIR_JOB_WAITING);
	assert_string_equal(info.waits_for, "godot");
	assert_int_equal(weir_job_complete(&completion), 0);
	jt_finish();
	assert_int_equal(nb_done, 1);
	assert_int_equal(result, 0);
	assert_int_equal(weir_job_complete(&completion), -EALREADY);
	assert_int_equal(weir_job_look(jt_service, job, &info), -ESTALE);
}

static void
only_one_waits(void **state)
{
	reset();
	jt_make(1);
	spawn_wait(NULL);
	{
		int second = 1;
		struct wait wait = {&completion, NULL, &second};

		jt_spawn(waits, &wait, sizeof(wait), NULL);
		assert_int_equal(second, -EBUSY);
	}
	weir_job_complete(&completion);
	jt_finish();
	assert_int_equal(result, 0);
}

static void
timeout_passes(void **state)
{
	const struct weir_job_wait how = {.flags = WEIR_JOB_TIMEOUT, .timeout_ns = 2 * MS};
	uint64_t begun = weir_base_time_ns();

	reset();
	jt_make(1);
	begun = weir_base_time_ns();
	spawn_wait(&how);
	jt_finish();
	assert_int_equal(result, -ETIMEDOUT);
	assert_true(weir_base_time_ns() - begun >= 2 * MS);
	/* it can be waited for anew */
	assert_int_equal(weir_job_complete(&completion), 0);
	spawn_wait(&how);
	assert_int_equal(result, 0);
}

static void
timeouts(void **state)
{
	struct weir_job_wait how = {.flags = WEIR_JOB_TIMEOUT};

	reset();
	jt_make(1);
	spawn_wait(&how); /* just look */
	assert_int_equal(result, -ETIMEDOUT);
	how.timeout_ns = WEIR_EM_TIMEOUT_NS_MAX + 1;
	spawn_wait(&how);
	assert_int_equal(result, -EINVAL);
	how.timeout_ns = WEIR_EM_TIMEOUT_NS_MAX;
	result = 1;
	spawn_wait(&how);
	jt_rounds(10);
	weir_job_complete(&completion);
	jt_finish();
	assert_int_equal(result, 0);
	reset();
	how.timeout_ns = WEIR_JOB_FOREVER;
	spawn_wait(&how);
	jt_rounds(10);
	assert_int_equal(result, 1);
	weir_job_complete(&completion);
	jt_finish();
	assert_int_equal(result, 0);
}

static void
cancelled(void **state)
{
	weir_job job;

	reset();
	jt_make(1);
	job = spawn_wait(NULL);
	assert_int_equal(weir_job_cancel(jt_service, job), 0);
	assert_int_equal(weir_job_cancel(jt_service, job), -EALREADY);
	jt_finish();
	assert_int_equal(result, -ECANCELED);
	assert_int_equal(weir_job_cancel(jt_service, job), -ESTALE);
	assert_int_equal(jt_stats().nb_cancelled, 1);
	assert_int_equal(weir_job_complete(&completion), 0); /* nobody waits any more */
}

static void
uncancellable(void **state)
{
	const struct weir_job_wait how = {.flags = WEIR_JOB_UNCANCELLABLE};
	weir_job job;

	reset();
	jt_make(1);
	job = spawn_wait(&how);
	assert_int_equal(weir_job_cancel(jt_service, job), 0);
	jt_rounds(100);
	assert_int_equal(result, 1);
	weir_job_complete(&completion);
	jt_finish();
	assert_int_equal(result, 0);
	assert_int_equal(jt_stats().nb_cancelled, 1);
}

/* After a wait that could not be cancelled, others can. */
static void
two_waits(void *in, void *out)
{
	const struct weir_job_wait how = {.flags = WEIR_JOB_UNCANCELLABLE};

	assert_int_equal(weir_job_completion_wait(&completion, &how), 0);
	jt_add(&nb_begun, 1);
	result = weir_job_sleep(1000000 * MS);
}

static void
cancellable_again(void **state)
{
	weir_job job;

	reset();
	jt_make(1);
	job = jt_spawn(two_waits, NULL, 0, NULL);
	weir_job_complete(&completion);
	jt_until(&nb_begun, 1, "it goes on");
	jt_rounds(10);
	assert_int_equal(result, 1);
	assert_int_equal(weir_job_cancel(jt_service, job), 0);
	jt_finish();
	assert_int_equal(result, -ECANCELED);
}

/* ---- outside of jobs ---- */

static void *
thread_waits(void *arg)
{
	const struct weir_job_wait *how = arg;

	jt_add(&nb_begun, 1);
	result = weir_job_completion_wait(&completion, how);
	jt_add(&nb_done, 1);
	return NULL;
}

static void
completes(void *in, void *out)
{
	assert_int_equal(weir_job_complete(&completion), 0);
}

static void
threads_wait(void **state)
{
	const struct weir_job_wait how = {.flags = WEIR_JOB_TIMEOUT, .timeout_ns = 3 * MS};
	uint64_t begun;
	pthread_t thread;

	reset();
	jt_make(1);
	/* woken by a job */
	assert_int_equal(pthread_create(&thread, NULL, thread_waits, NULL), 0);
	jt_until(&nb_begun, 1, "the thread begins");
	while (job_completion_word(&completion.word) != JOB_THREAD) /* else this hangs */
		jt_rounds(1);
	jt_spawn(completes, NULL, 0, NULL);
	pthread_join(thread, NULL);
	assert_int_equal(result, 0);
	/* not woken */
	reset();
	begun = weir_base_time_ns();
	assert_int_equal(pthread_create(&thread, NULL, thread_waits, (void *)(uintptr_t)&how), 0);
	pthread_join(thread, NULL);
	assert_int_equal(result, -ETIMEDOUT);
	assert_true(weir_base_time_ns() - begun >= 3 * MS);
	/* a core would stand still */
	assert_int_equal(weir_job_completion_wait(&completion, NULL), -EDEADLK);
	assert_int_equal(weir_job_complete(&completion), 0);
	assert_int_equal(weir_job_completion_wait(&completion, NULL), 0);
}

static void
bare_coroutine(void)
{
	assert_int_equal(weir_job_completion_wait(&completion, NULL), -EPERM);
	assert_int_equal(weir_job_sleep(1), -EPERM);
	assert_int_equal(weir_job_yield(), -EPERM);
	assert_int_equal(weir_job_self(), WEIR_JOB_NONE);
}

static void
has_a_coroutine(void *in, void *out)
{
	struct weir_coro *coro = weir_coro_create(bare_coroutine);

	weir_coro_resume(coro);
	assert_true(weir_coro_has_exited(coro));
	weir_coro_destroy(coro);
	assert_int_not_equal(weir_job_self(), WEIR_JOB_NONE);
	assert_ptr_equal(weir_job_self_service(), jt_service);
	assert_ptr_equal(weir_job_core(), et_core);
	assert_false(weir_job_self_cancelled());
	jt_add(&nb_done, 1);
}

static void
with_a_lock(void *in, void *out)
{
	weir_coro_hold();
	assert_int_equal(weir_job_completion_wait(&completion, NULL), -EDEADLK);
	assert_int_equal(weir_job_sleep(1), -EDEADLK);
	assert_int_equal(weir_job_yield(), -EDEADLK);
	weir_coro_release();
	jt_add(&nb_done, 1);
}

static void
where_it_is_not_allowed(void **state)
{
	reset();
	jt_make(1);
	assert_int_equal(weir_job_sleep(1), -EPERM);
	assert_int_equal(weir_job_yield(), -EPERM);
	assert_int_equal(weir_job_self(), WEIR_JOB_NONE);
	assert_null(weir_job_self_service());
	assert_null(weir_job_core());
	assert_false(weir_job_self_cancelled());
	jt_spawn(has_a_coroutine, NULL, 0, NULL);
	jt_spawn(with_a_lock, NULL, 0, NULL);
	assert_int_equal(nb_done, 2);
	assert_int_equal(weir_job_completion_wait(NULL, NULL), -EINVAL);
	assert_int_equal(weir_job_complete(NULL), -EINVAL);
	assert_false(weir_job_completion_is_done(NULL));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JT_TEST(completed_before),
		JT_TEST(completed_after),
		JT_TEST(only_one_waits),
		JT_TEST(timeout_passes),
		JT_TEST(timeouts),
		JT_TEST(cancelled),
		JT_TEST(uncancellable),
		JT_TEST(cancellable_again),
		JT_TEST(threads_wait),
		JT_TEST(where_it_is_not_allowed),
	};

	return ST_RUN("job-wait", tests);
}
