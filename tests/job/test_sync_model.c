/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Semaphores, mutexes, conditions and channels in every order that their steps can have: a step is all that is done under a lock, a look
 * whether one has been woken, or a wake-up. Completions are a model: a wait with a timeout looks once, so that its time is over at each moment
 * that there is; one without looks until it is woken. That the lock and the true completions are what they should be is for other tests.
 */

#include "../base/cmocka_all.h"

#include <stdlib.h>

#define INTERLEAVE_BY_HAND
#include "../base/interleave.h"

#include "weir_em_pool.h"
#include "weir_em_timer.h"

#include "job_private.h"

static void
model_lock(struct weir_job_waiters *waiters)
{
	interleave_point();
	while (waiters->lock != 0)
		interleave_pause();
	waiters->lock = 1;
}

static void
model_unlock(struct weir_job_waiters *waiters)
{
	assert_int_equal(waiters->lock, 1);
	waiters->lock = 0;
}

#define job_waiters_lock(waiters)   model_lock(waiters)
#define job_waiters_unlock(waiters) model_unlock(waiters)

#include "../../lib/job/waiters.c"
#include "../../lib/job/sem.c"
#include "../../lib/job/mutex.c"
#include "../../lib/job/cond.c"
#undef lock
#include "../../lib/job/channel.c"

/* ---- the model of what they stand on ---- */

#define WAITS   UINT64_C(4)
#define IS_DONE UINT64_C(1)
#define NOBODYS UINT64_C(0xdead)

int
weir_job_completion_wait(struct weir_job_completion *completion, const struct weir_job_wait *how)
{
	bool once = (how->flags & WEIR_JOB_TIMEOUT) != 0;

	interleave_point();
	for (;;) {
		assert_int_not_equal(completion->word, NOBODYS);
		if (completion->word == IS_DONE) {
			completion->word = NOBODYS; /* the waiter's stack, from here on */
			return 0;
		}
		if (once)
			return -ETIMEDOUT;
		interleave_pause();
	}
}

int
weir_job_complete(struct weir_job_completion *completion)
{
	interleave_point();
	assert_int_equal(completion->word, 0); /* once, and to somebody who is there */
	completion->word = IS_DONE;
	return 0;
}

/* Actors are the jobs. */
static struct job jobs[INTERLEAVE_ACTORS_MAX];

struct job *
job_self(void)
{
	return weir_coro_self() != NULL ? &jobs[interleave_actor] : NULL;
}

weir_job
weir_job_self(void)
{
	return weir_coro_self() != NULL ? interleave_actor + 1 : WEIR_JOB_NONE;
}

int
job_may_wait(void)
{
	return 0;
}

struct job_thread *
job_thread(void)
{
	static struct job_thread none;

	return &none;
}

unsigned int
job_cancel_all(struct weir_job_service *service, const struct weir_job_group *group)
{
	return 0;
}

static const struct weir_job_wait in_time = {.flags = WEIR_JOB_TIMEOUT, .timeout_ns = 1};

static unsigned int nb_actors;

static void
run_all(unsigned int nb, void (*const *run)(void), void (*begin)(void), void (*end)(void),
	uint64_t least)
{
	struct interleave all = {
		.init = begin,
		.nb_actors = nb,
		.check = end,
		.most_interruptions = nb > 2 ? 3 : 0, /* all would be millions */
		.least = least,
	};

	memcpy(all.actors, run, nb * sizeof(*run));
	nb_actors = nb;
	interleave_all(&all);
}

#define RUN(begin, end, least, ...)                                                                \
	do {                                                                                       \
		void (*actors[])(void) = {__VA_ARGS__};                                            \
		run_all(RTE_DIM(actors), actors, begin, end, least);                               \
	} while (0)

/* ---- semaphores ---- */

static struct weir_job_sem sem;
static unsigned int nb_taken, nb_late;

static void
sem_begin(void)
{
	weir_job_sem_init(&sem, 0);
	nb_taken = nb_late = 0;
}

static void
sem_take(void)
{
	assert_int_equal(weir_job_sem_wait(&sem, NULL), 0);
	nb_taken++;
}

static void
sem_take_in_time(void)
{
	int rc = weir_job_sem_wait(&sem, &in_time);

	assert_true(rc == 0 || rc == -ETIMEDOUT);
	nb_taken += rc == 0;
	nb_late += rc != 0;
}

static void
sem_post_one(void)
{
	assert_int_equal(weir_job_sem_post(&sem, 1), 0);
}

static void
sem_post_twice(void)
{
	sem_post_one();
	sem_post_one();
}

static void
sem_post_two(void)
{
	assert_int_equal(weir_job_sem_post(&sem, 2), 0);
}

static void
sem_end_one(void)
{
	assert_int_equal(nb_taken + sem.count, 1);
	assert_int_equal(sem.waiters.nb, 0);
	assert_null(sem.waiters.first);
}

static void
sem_end_two(void)
{
	assert_int_equal(nb_taken + sem.count, 2);
	assert_int_equal(sem.waiters.nb, 0);
	assert_true(nb_taken > 0);
}

static void
sem_test(void **state)
{
	RUN(sem_begin, sem_end_one, 5, sem_take_in_time, sem_post_one);
	RUN(sem_begin, sem_end_one, 50, sem_take_in_time, sem_take_in_time, sem_post_one);
	/* who has time enough gets one, whatever the other one does */
	RUN(sem_begin, sem_end_two, 50, sem_take, sem_take_in_time, sem_post_twice);
	RUN(sem_begin, sem_end_two, 50, sem_take_in_time, sem_take, sem_post_two);
	RUN(sem_begin, sem_end_two, 100, sem_take_in_time, sem_take, sem_post_one, sem_post_one);
}

/* ---- mutexes ---- */

static struct weir_job_mutex mutex;
static unsigned int inside;

static void
mutex_begin(void)
{
	for (unsigned int i = 0; i < INTERLEAVE_ACTORS_MAX; i++)
		jobs[i].service = (struct weir_job_service *)jobs;
	weir_job_mutex_init(&mutex);
	inside = nb_taken = nb_late = 0;
}

static void
work_inside(void)
{
	assert_int_equal(inside++, 0);
	interleave_point();
	assert_true(weir_job_mutex_is_mine(&mutex));
	assert_int_equal(inside--, 1);
	assert_int_equal(weir_job_mutex_unlock(&mutex), 0);
	nb_taken++;
}

static void
mutex_lock(void)
{
	assert_int_equal(weir_job_mutex_lock(&mutex, NULL), 0);
	work_inside();
}

static void
mutex_lock_in_time(void)
{
	int rc = weir_job_mutex_lock(&mutex, &in_time);

	assert_true(rc == 0 || rc == -ETIMEDOUT);
	if (rc == 0)
		work_inside();
	nb_late += rc != 0;
}

static void
mutex_end(void)
{
	assert_int_equal(mutex.holder, 0);
	assert_int_equal(mutex.waiters.nb, 0);
	assert_int_equal(nb_taken + nb_late, nb_actors);
	assert_true(nb_taken > 0);
}

static void
mutex_test(void **state)
{
	RUN(mutex_begin, mutex_end, 10, mutex_lock, mutex_lock_in_time);
	RUN(mutex_begin, mutex_end, 100, mutex_lock, mutex_lock_in_time, mutex_lock_in_time);
	RUN(mutex_begin, mutex_end, 100, mutex_lock, mutex_lock_in_time, mutex_lock);
}

/* ---- conditions ---- */

static struct weir_job_cond cond;
static bool there;
static unsigned int nb_signals;

static void
cond_begin(void)
{
	mutex_begin();
	weir_job_cond_init(&cond);
	there = false;
	nb_signals = 0;
}

static void
cond_wait(void)
{
	assert_int_equal(weir_job_mutex_lock(&mutex, NULL), 0);
	while (!there)
		assert_int_equal(weir_job_cond_wait(&cond, &mutex, NULL), 0);
	assert_int_equal(weir_job_mutex_unlock(&mutex), 0);
}

static void
cond_set_inside(void)
{
	assert_int_equal(weir_job_mutex_lock(&mutex, NULL), 0);
	there = true;
	weir_job_cond_broadcast(&cond);
	assert_int_equal(weir_job_mutex_unlock(&mutex), 0);
}

static void
cond_set_outside(void)
{
	assert_int_equal(weir_job_mutex_lock(&mutex, NULL), 0);
	there = true;
	assert_int_equal(weir_job_mutex_unlock(&mutex), 0);
	weir_job_cond_broadcast(&cond);
}

/* Waits once: a signal reaches one of those who wait, and who gave up did not have it. */
static void
cond_once_in_time(void)
{
	int rc;

	assert_int_equal(weir_job_mutex_lock(&mutex, NULL), 0);
	rc = weir_job_cond_wait(&cond, &mutex, &in_time);
	assert_true(rc == 0 || rc == -ETIMEDOUT);
	assert_true(weir_job_mutex_is_mine(&mutex));
	nb_taken += rc == 0;
	assert_int_equal(weir_job_mutex_unlock(&mutex), 0);
}

static void
cond_signal_once(void)
{
	nb_signals += weir_job_cond_signal(&cond);
}

static void
cond_end(void)
{
	assert_int_equal(mutex.holder, 0);
	assert_int_equal(mutex.waiters.nb, 0);
	assert_int_equal(cond.waiters.nb, 0);
	assert_int_equal(nb_taken, nb_signals);
}

static void
cond_test(void **state)
{
	RUN(cond_begin, cond_end, 5, cond_wait, cond_set_inside);
	RUN(cond_begin, cond_end, 5, cond_wait, cond_set_outside);
	RUN(cond_begin, cond_end, 100, cond_wait, cond_wait, cond_set_inside);
	RUN(cond_begin, cond_end, 100, cond_wait, cond_wait, cond_set_outside);
	RUN(cond_begin, cond_end, 5, cond_once_in_time, cond_signal_once);
	RUN(cond_begin, cond_end, 100, cond_once_in_time, cond_once_in_time, cond_signal_once);
}

/* ---- channels ---- */

static struct weir_job_channel *channel;
static unsigned int nb_sent, nb_received, nb_closed;

static void
channel_begin(void)
{
	channel = weir_job_channel_create(
		&(struct weir_job_channel_config){.nb_messages = 1, .size = sizeof(uint64_t)});
	assert_non_null(channel);
	nb_sent = nb_received = nb_closed = 0;
}

static void
send_as(const struct weir_job_wait *how)
{
	uint64_t number = 100 + interleave_actor;
	int rc = weir_job_channel_send(channel, &number, how);

	assert_true(rc == 0 || (rc == -ETIMEDOUT && how != NULL) || rc == -EPIPE);
	nb_sent += rc == 0;
	nb_closed += rc == -EPIPE;
}

static void
recv_as(const struct weir_job_wait *how)
{
	uint64_t number = 0;
	int rc = weir_job_channel_recv(channel, &number, how);

	assert_true(rc == 0 || (rc == -ETIMEDOUT && how != NULL) || rc == -EPIPE);
	assert_true(rc == 0 ? number >= 100 && number < 104 : number == 0);
	nb_received += rc == 0;
	nb_closed += rc == -EPIPE;
}

static void
send_one(void)
{
	send_as(NULL);
}

static void
send_in_time(void)
{
	send_as(&in_time);
}

static void
send_two(void)
{
	send_as(NULL);
	send_as(NULL);
}

static void
recv_one(void)
{
	recv_as(NULL);
}

static void
recv_two(void)
{
	recv_as(NULL);
	recv_as(NULL);
}

static void
recv_in_time(void)
{
	recv_as(&in_time);
}

static void
close_it(void)
{
	assert_int_equal(weir_job_channel_close(channel), 0);
}

static void
channel_end(void)
{
	uint64_t number;
	unsigned int nb = 0;

	while (weir_job_channel_try_recv(channel, &number) == 0)
		nb++;
	assert_int_equal(nb_sent, nb_received + nb);
	assert_int_equal(channel->waiters.nb, 0);
	assert_int_equal(weir_job_channel_destroy(channel), 0);
}

static void
channel_test(void **state)
{
	RUN(channel_begin, channel_end, 5, send_two, recv_two);
	RUN(channel_begin, channel_end, 5, send_in_time, recv_in_time);
	RUN(channel_begin, channel_end, 100, send_two, recv_one, recv_one);
	RUN(channel_begin, channel_end, 100, send_two, recv_two, send_in_time);
	RUN(channel_begin, channel_end, 50, send_one, recv_in_time, recv_in_time);
	RUN(channel_begin, channel_end, 50, send_two, close_it, recv_in_time);
	RUN(channel_begin, channel_end, 50, recv_one, recv_one, close_it);
	RUN(channel_begin, channel_end, 50, recv_one, send_two, close_it);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sem_test),
		cmocka_unit_test(mutex_test),
		cmocka_unit_test(cond_test),
		cmocka_unit_test(channel_test),
	};

	return cmocka_run_group_tests_name("job-sync-model", tests, NULL, NULL);
}
