/* SPDX-License-Identifier: BSD-3-Clause */

/* Semaphores, mutexes, conditions: who gets what, in which order, and who gives up. */

#include "job_test.h"

#include "weir_job_sync.h"

#define NB 8

static struct weir_job_sem sem;
static struct weir_job_mutex mutex;
static struct weir_job_cond cond;

/* What jobs did, in order: their numbers, and what came of it. */
static struct {
	unsigned int number;
	int rc;
} done[256];
static uint64_t nb_noted, nb_done;

static void
note(unsigned int number, int rc)
{
	uint64_t i = __atomic_fetch_add(&nb_noted, 1, __ATOMIC_SEQ_CST);

	CHECK(i < RTE_DIM(done));
	done[i].number = number;
	done[i].rc = rc;
	jt_add(&nb_done, 1);
}

static void
make(unsigned int nb_cores)
{
	jt_make(nb_cores);
	nb_noted = nb_done = 0;
	weir_job_sem_init(&sem, 0);
	weir_job_mutex_init(&mutex);
	weir_job_cond_init(&cond);
}

static struct weir_job_wait
within(uint64_t ns)
{
	return (struct weir_job_wait){.flags = WEIR_JOB_TIMEOUT, .timeout_ns = ns};
}

static void
take(void *in, void *out)
{
	note(*(unsigned int *)in, weir_job_sem_wait(&sem, NULL));
}

static void
take_in_time(void *in, void *out)
{
	const struct weir_job_wait how = within(30000000);

	note(*(unsigned int *)in, weir_job_sem_wait(&sem, &how));
}

static weir_job
spawn(weir_job_fn_t fn, unsigned int number)
{
	return jt_spawn(fn, &number, sizeof(number), NULL);
}

static void
numbers(void **state)
{
	make(1);
	weir_job_sem_init(&sem, 2);
	assert_int_equal(weir_job_sem_count(&sem), 2);
	assert_int_equal(weir_job_sem_try(&sem), 0);
	assert_int_equal(weir_job_sem_wait(&sem, NULL), 0); /* there is one: no wait */
	assert_int_equal(weir_job_sem_try(&sem), -EAGAIN);
	assert_int_equal(weir_job_sem_post(&sem, 0), 0);
	assert_int_equal(weir_job_sem_count(&sem), 0);
	assert_int_equal(weir_job_sem_post(&sem, UINT64_MAX), 0);
	assert_int_equal(weir_job_sem_post(&sem, 1), -EOVERFLOW);
	assert_int_equal(weir_job_sem_count(&sem), UINT64_MAX);
	assert_int_equal(weir_job_sem_wait(NULL, NULL), -EINVAL);
	assert_int_equal(weir_job_sem_try(NULL), -EINVAL);
	assert_int_equal(weir_job_sem_post(NULL, 1), -EINVAL);
	assert_int_equal(weir_job_sem_count(NULL), 0);
}

/* First come, first served; and nobody who comes later gets in between. */
static void
in_order(void **state)
{
	make(1);
	for (unsigned int i = 0; i < NB; i++)
		spawn(take, i);
	jt_rounds(20);
	assert_int_equal(nb_done, 0);
	assert_int_equal(weir_job_sem_post(&sem, 1), 0);
	/* it is job 0's, which has not run yet */
	assert_int_equal(weir_job_sem_try(&sem), -EAGAIN);
	spawn(take, NB);
	jt_until(&nb_done, 1, "one has it");
	assert_int_equal(weir_job_sem_post(&sem, NB + 3), 0);
	jt_finish();
	assert_int_equal(nb_done, NB + 1);
	for (unsigned int i = 0; i <= NB; i++) {
		assert_int_equal(done[i].number, i);
		assert_int_equal(done[i].rc, 0);
	}
	assert_int_equal(weir_job_sem_count(&sem), 3);
}

static void
given_up(void **state)
{
	weir_job job;

	make(1);
	spawn(take_in_time, 0);
	job = spawn(take, 1);
	spawn(take, 2);
	jt_until(&nb_done, 1, "time is over");
	assert_int_equal(done[0].number, 0);
	assert_int_equal(done[0].rc, -ETIMEDOUT);
	assert_int_equal(weir_job_cancel(jt_service, job), 0);
	jt_until(&nb_done, 2, "cancelled");
	assert_int_equal(done[1].number, 1);
	assert_int_equal(done[1].rc, -ECANCELED);
	/* nothing is for those who have given up */
	assert_int_equal(weir_job_sem_post(&sem, 1), 0);
	jt_finish();
	assert_int_equal(done[2].number, 2);
	assert_int_equal(done[2].rc, 0);
	assert_int_equal(weir_job_sem_count(&sem), 0);
}

/* Posted to one that was cancelled but has not run since: it has it, or who comes after it, but not nobody. */
static void
cancelled_and_posted(void **state)
{
	weir_job job;

	make(1);
	job = spawn(take, 0);
	spawn(take, 1);
	jt_rounds(5);
	assert_int_equal(weir_job_cancel(jt_service, job), 0);
	assert_int_equal(weir_job_sem_post(&sem, 1), 0);
	jt_until(&nb_done, 1, "it ends");
	assert_int_equal(done[0].number, 0);
	if (done[0].rc == 0)
		assert_int_equal(weir_job_sem_post(&sem, 1), 0);
	else
		assert_int_equal(done[0].rc, -ECANCELED);
	jt_finish();
	assert_int_equal(done[1].number, 1);
	assert_int_equal(done[1].rc, 0);
	assert_int_equal(weir_job_sem_count(&sem), 0);
}

/* ---- receive functions and threads ---- */

static int wait_rc, try_rc;

static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	wait_rc = weir_job_sem_wait(&sem, NULL);
	try_rc = weir_job_sem_try(&sem);
	weir_job_sem_post(&sem, events[0].u64);
}

static void
receive_functions(void **state)
{
	weir_em_queue queue;

	make(1);
	queue = et_serve("posts", WEIR_EM_QUEUE_PARALLEL, receive, NULL);
	wait_rc = try_rc = 1;
	et_send(queue, 2); /* none there, and none waits */
	et_run();
	assert_int_equal(wait_rc, -EDEADLK);
	assert_int_equal(try_rc, -EAGAIN);
	assert_int_equal(weir_job_sem_count(&sem), 2);
	et_send(queue, 0);
	et_run();
	assert_int_equal(wait_rc, 0);
	assert_int_equal(try_rc, 0);
	spawn(take, 0);
	jt_rounds(5);
	assert_int_equal(nb_done, 0);
	et_send(queue, 1);
	jt_finish();
	assert_int_equal(wait_rc, -EDEADLK);
	assert_int_equal(done[0].rc, 0);
}

static void *
thread_takes(void *arg)
{
	const struct weir_job_wait shortly = within(1000000);

	note(0, weir_job_sem_wait(&sem, &shortly));
	note(1, weir_job_sem_wait(&sem, NULL));
	CHECK(weir_job_sem_post(&sem, 1) == 0);
	return NULL;
}

static void
post_then_take(void *in, void *out)
{
	CHECK(weir_job_sem_post(&sem, 1) == 0);
	note(2, weir_job_sleep(1000000));
	note(3, weir_job_sem_wait(&sem, NULL));
}

static void
threads(void **state)
{
	pthread_t thread;

	make(1);
	assert_int_equal(pthread_create(&thread, NULL, thread_takes, NULL), 0);
	jt_until(&nb_done, 1, "time is over");
	assert_int_equal(done[0].rc, -ETIMEDOUT);
	spawn(post_then_take, 0);
	jt_finish();
	pthread_join(thread, NULL);
	assert_int_equal(nb_done, 4);
	for (unsigned int i = 1; i < 4; i++)
		assert_int_equal(done[i].rc, 0);
}

/* ---- mutexes ---- */

static uint64_t inside;

static void
work_inside(void *in, void *out)
{
	for (unsigned int i = 0; i < 30; i++) {
		CHECK(weir_job_mutex_lock(&mutex, NULL) == 0);
		CHECK(weir_job_mutex_is_mine(&mutex));
		CHECK(__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) == 1);
		/* held over a yield, a wait, and on whichever cores */
		if (i % 3 == 0)
			weir_job_yield();
		else if (i % 3 == 1)
			CHECK(weir_job_sleep(1000) == 0);
		jt_add(&inside, -(uint64_t)1);
		CHECK(weir_job_mutex_unlock(&mutex) == 0);
	}
	note(0, 0);
}

static void
exclusion(void **state)
{
	make(3);
	inside = 0;
	for (unsigned int i = 0; i < NB; i++)
		spawn(work_inside, i);
	jt_finish();
	assert_int_equal(nb_done, NB);
	assert_int_equal(weir_job_mutex_try(&mutex), 0);
}

static void
misuse_mutex(void *in, void *out)
{
	CHECK(weir_job_mutex_unlock(&mutex) == -EPERM); /* the test's thread has it */
	CHECK(weir_job_mutex_try(&mutex) == -EBUSY);
	CHECK(!weir_job_mutex_is_mine(&mutex));
	CHECK(weir_job_cond_wait(&cond, &mutex, NULL) == -EPERM);
	note(0, weir_job_mutex_lock(&mutex, NULL));
	CHECK(weir_job_mutex_try(&mutex) == -EDEADLK);
	CHECK(weir_job_mutex_lock(&mutex, NULL) == -EDEADLK);
	CHECK(weir_job_mutex_unlock(&mutex) == 0);
	CHECK(weir_job_mutex_unlock(&mutex) == -EPERM);
}

static void
bare_coroutine(void)
{
	CHECK(weir_job_mutex_try(&mutex) == -EPERM);
	CHECK(weir_job_mutex_lock(&mutex, NULL) == -EPERM);
	CHECK(weir_job_mutex_unlock(&mutex) == -EPERM);
	CHECK(!weir_job_mutex_is_mine(&mutex));
	CHECK(weir_job_sem_wait(&sem, NULL) == -EPERM);
}

static void
mutex_is_somebodys(void **state)
{
	struct weir_coro *coro;

	make(1);
	assert_int_equal(weir_job_mutex_lock(&mutex, NULL), 0);
	assert_true(weir_job_mutex_is_mine(&mutex));
	assert_int_equal(weir_job_mutex_lock(&mutex, NULL), -EDEADLK);
	spawn(misuse_mutex, 0);
	jt_rounds(10);
	assert_int_equal(nb_done, 0);
	assert_int_equal(weir_job_mutex_unlock(&mutex), 0);
	assert_false(weir_job_mutex_is_mine(&mutex));
	jt_finish();
	assert_int_equal(done[0].rc, 0);
	coro = weir_coro_create(bare_coroutine);
	weir_coro_resume(coro);
	assert_true(weir_coro_has_exited(coro));
	weir_coro_destroy(coro);
	assert_int_equal(weir_job_mutex_lock(NULL, NULL), -EINVAL);
	assert_int_equal(weir_job_mutex_try(NULL), -EINVAL);
	assert_int_equal(weir_job_mutex_unlock(NULL), -EINVAL);
}

static void
lock_and_note(void *in, void *out)
{
	const struct weir_job_wait how = within(30000000);
	unsigned int number = *(unsigned int *)in;
	int rc = weir_job_mutex_lock(&mutex, number % 3 == 2 ? &how : NULL);

	note(number, rc);
	if (rc == 0)
		CHECK(weir_job_mutex_unlock(&mutex) == 0);
}

static void
mutex_in_order(void **state)
{
	weir_job jobs[6];

	make(1);
	assert_int_equal(weir_job_mutex_lock(&mutex, NULL), 0);
	for (unsigned int i = 0; i < 6; i++)
		jobs[i] = spawn(lock_and_note, i);
	jt_rounds(5);
	weir_job_cancel(jt_service, jobs[1]);
	jt_until(&nb_done, 3, "some give up");
	assert_int_equal(done[0].number, 1);
	assert_int_equal(done[0].rc, -ECANCELED);
	assert_int_equal(done[1].rc, -ETIMEDOUT);
	assert_int_equal(done[2].rc, -ETIMEDOUT);
	assert_int_equal(weir_job_mutex_unlock(&mutex), 0);
	jt_finish();
	assert_int_equal(done[3].number, 0);
	assert_int_equal(done[4].number, 3);
	assert_int_equal(done[5].number, 4);
	for (unsigned int i = 3; i < 6; i++)
		assert_int_equal(done[i].rc, 0);
}

/* ---- conditions ---- */

static uint64_t value;

static void
wait_for_value(void *in, void *out)
{
	const struct weir_job_wait how = within(50000000);
	unsigned int number = *(unsigned int *)in;
	int rc;

	CHECK(weir_job_mutex_lock(&mutex, NULL) == 0);
	rc = weir_job_cond_wait(&cond, &mutex, number == 1 ? &how : NULL);
	CHECK(weir_job_mutex_is_mine(&mutex)); /* whatever came */
	note(number, rc);
	CHECK(weir_job_mutex_unlock(&mutex) == 0);
}

static void
conditions(void **state)
{
	weir_job job;

	make(1);
	assert_false(weir_job_cond_signal(&cond)); /* nobody: forgotten */
	assert_int_equal(weir_job_cond_broadcast(&cond), 0);
	job = spawn(wait_for_value, 0);
	for (unsigned int i = 1; i < 6; i++)
		spawn(wait_for_value, i);
	jt_rounds(10);
	weir_job_cancel(jt_service, job);
	jt_until(&nb_done, 2, "two give up");
	assert_int_equal(done[0].rc, -ECANCELED);
	assert_int_equal(done[1].number, 1);
	assert_int_equal(done[1].rc, -ETIMEDOUT);
	assert_true(weir_job_cond_signal(&cond));
	jt_until(&nb_done, 3, "one is woken");
	jt_rounds(20);
	assert_int_equal(nb_done, 3);
	assert_int_equal(done[2].number, 2);
	assert_int_equal(weir_job_cond_broadcast(&cond), 3);
	jt_finish();
	for (unsigned int i = 2; i < 6; i++) {
		assert_int_equal(done[i].number, i);
		assert_int_equal(done[i].rc, 0);
	}
	assert_int_equal(weir_job_cond_wait(NULL, &mutex, NULL), -EINVAL);
	assert_int_equal(weir_job_cond_wait(&cond, NULL, NULL), -EINVAL);
	assert_false(weir_job_cond_signal(NULL));
	assert_int_equal(weir_job_cond_broadcast(NULL), 0);
}

/* Who may not wait keeps the mutex, and is not in the list. */
static void
wait_with_lock(void *in, void *out)
{
	const struct weir_job_wait wrong = within(UINT64_MAX - 1);

	CHECK(weir_job_mutex_lock(&mutex, NULL) == 0);
	note(0, weir_job_cond_wait(&cond, &mutex, &wrong));
	weir_coro_hold();
	note(1, weir_job_cond_wait(&cond, &mutex, NULL));
	note(2, weir_job_sem_wait(&sem, NULL));
	weir_coro_release();
	CHECK(weir_job_mutex_is_mine(&mutex));
	CHECK(!weir_job_cond_signal(&cond));
	CHECK(weir_job_mutex_unlock(&mutex) == 0);
}

static void
no_wait_with_a_lock(void **state)
{
	make(1);
	spawn(wait_with_lock, 0);
	jt_finish();
	assert_int_equal(done[0].rc, -EINVAL);
	assert_int_equal(done[1].rc, -EDEADLK);
	assert_int_equal(done[2].rc, -EDEADLK);
	assert_int_equal(weir_job_mutex_lock(&mutex, NULL), 0);
	assert_int_equal(weir_job_cond_wait(&cond, &mutex, NULL), -EDEADLK); /* a core */
	assert_true(weir_job_mutex_is_mine(&mutex));
}

/* A number goes round: each value is one job's. Who changes it wakes all, with the mutex or after it. */
static void
round_about(void *in, void *out)
{
	unsigned int number = *(unsigned int *)in;

	for (unsigned int i = 0; i < 40; i++) {
		CHECK(weir_job_mutex_lock(&mutex, NULL) == 0);
		while (value % 4 != number)
			CHECK(weir_job_cond_wait(&cond, &mutex, NULL) == 0);
		value++;
		if (value % 8 < 4)
			weir_job_cond_broadcast(&cond);
		CHECK(weir_job_mutex_unlock(&mutex) == 0);
		weir_job_cond_broadcast(&cond);
	}
	note(number, 0);
}

static void *
thread_round_about(void *arg)
{
	round_about(arg, NULL);
	return NULL;
}

static void
conditions_on_cores(void **state)
{
	unsigned int last = 3;
	pthread_t thread;

	make(3);
	value = 0;
	for (unsigned int i = 0; i < 3; i++)
		spawn(round_about, i);
	assert_int_equal(pthread_create(&thread, NULL, thread_round_about, &last), 0);
	jt_until(&nb_done, 4, "all went round");
	pthread_join(thread, NULL);
	assert_int_equal(value, 160);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JT_TEST(numbers),
		JT_TEST(in_order),
		JT_TEST(given_up),
		JT_TEST(cancelled_and_posted),
		JT_TEST(receive_functions),
		JT_TEST(threads),
		JT_TEST(exclusion),
		JT_TEST(mutex_is_somebodys),
		JT_TEST(mutex_in_order),
		JT_TEST(conditions),
		JT_TEST(no_wait_with_a_lock),
		JT_TEST(conditions_on_cores),
	};

	return ST_RUN("job-sync", tests);
}
