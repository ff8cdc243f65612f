/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Races of those who hand something over with those who give up, forced: one of them stands still between its steps while the other one
 * takes all of its own.
 */

#include <rte_pause.h>

#include "stall.h"

#include "weir_job_channel.h"
#include "weir_job_sync.h"

#define IN_TIME_NS 80000000

static struct weir_job_sem sem;
static struct weir_job_mutex mutex;
static struct weir_job_cond cond;
static struct weir_job_channel *channel;
static uint64_t number; /* received */
static int rcs[3];
static uint64_t nb_done;

static void
make(unsigned int nb_cores)
{
	jt_make(nb_cores);
	weir_job_sem_init(&sem, 0);
	weir_job_mutex_init(&mutex);
	weir_job_cond_init(&cond);
	channel = weir_job_channel_create(
		&(struct weir_job_channel_config){.nb_messages = 2, .size = sizeof(uint64_t)});
	assert_non_null(channel);
	memset(rcs, 1, sizeof(rcs));
	nb_done = number = 0;
}

static int
teardown(void **state)
{
	stall_let_go();
	__atomic_store_n(&stall_randomly, false, __ATOMIC_SEQ_CST);
	weir_job_channel_close(channel);
	while (weir_job_channel_try_recv(channel, &number) == 0)
		;
	if (weir_job_channel_destroy(channel) != 0)
		return -1;
	return jt_teardown(state);
}

static struct weir_job_wait in_time = {.flags = WEIR_JOB_TIMEOUT, .timeout_ns = IN_TIME_NS};

static void
finished(int i, int rc)
{
	__atomic_store_n(&rcs[i], rc, __ATOMIC_SEQ_CST);
	jt_add(&nb_done, 1);
}

static void
sem_job(void *in, void *out)
{
	finished(0, weir_job_sem_wait(&sem, &in_time));
}

static void *
sem_thread(void *arg)
{
	sem_job(NULL, NULL);
	return NULL;
}

static void *
poster(void *arg)
{
	CHECK(weir_job_sem_post(&sem, 1) == 0);
	return NULL;
}

static pthread_t
begin(void *(*run)(void *))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
	return thread;
}

/* Dispatch for longer than the waits are. */
static void
let_time_pass(void)
{
	uint64_t begun = weir_base_time_ns();

	while (weir_base_time_ns() - begun < 2 * in_time.timeout_ns)
		jt_rounds(1);
}

/*
 * Dispatch until it was handed what it waits for, by a thread that stands still there. On a busy machine its time may be over before that
 * (more are done than @nb): then there is to be twice as much, and all of it once more.
 */
static bool
handed_in_time(pthread_t thread, uint64_t nb)
{
	while (jt_read(&stall_nb) == 0 && jt_read(&nb_done) == nb)
		jt_rounds(1);
	if (jt_read(&nb_done) == nb)
		return true;
	stall_let_go();
	pthread_join(thread, NULL);
	jt_finish();
	assert_int_equal(teardown(NULL), 0);
	in_time.timeout_ns *= 2;
	return false;
}

/* A job waits, and a thread that hands it something stands still when that is done. */
static pthread_t
hand_over(weir_job_fn_t wait, void *(*give)(void *), const char *place, weir_job *job)
{
	pthread_t thread;

	do {
		make(1);
		*job = jt_spawn(wait, NULL, 0, NULL);
		stall_at(place);
		thread = begin(give);
	} while (!handed_in_time(thread, 0));
	return thread;
}

/* It has been handed a unit; its time is over before it is woken. */
static void
handed_then_late(void **state)
{
	weir_job job;
	pthread_t thread;

	thread = hand_over(sem_job, poster, "handed", &job);
	let_time_pass();
	assert_int_equal(nb_done, 0); /* it has the unit, and waits to be told */
	stall_let_go();
	jt_finish();
	pthread_join(thread, NULL);
	assert_int_equal(rcs[0], 0);
	assert_int_equal(weir_job_sem_count(&sem), 0);
}

static void
handed_then_cancelled(void **state)
{
	pthread_t thread;
	weir_job job;

	thread = hand_over(sem_job, poster, "handed", &job);
	assert_int_equal(weir_job_cancel(jt_service, job), 0);
	jt_rounds(100);
	assert_int_equal(nb_done, 0);
	stall_let_go();
	jt_finish();
	pthread_join(thread, NULL);
	assert_int_equal(rcs[0], 0);
	assert_int_equal(weir_job_sem_count(&sem), 0);
}

/* Its time is over, it is about to say so, and is handed a unit. */
static void
late_then_handed(void **state)
{
	pthread_t thread;

	make(1);
	stall_at("give up");
	thread = begin(sem_thread);
	stall_reached();
	assert_int_equal(weir_job_sem_post(&sem, 1), 0);
	assert_int_equal(weir_job_sem_count(&sem), 0);
	stall_let_go();
	pthread_join(thread, NULL);
	assert_int_equal(rcs[0], 0);
	/* and one that nobody waits for is there for who comes */
	stall_at("give up");
	thread = begin(sem_thread);
	stall_reached();
	stall_let_go();
	pthread_join(thread, NULL);
	assert_int_equal(rcs[0], -ETIMEDOUT);
	assert_int_equal(weir_job_sem_post(&sem, 1), 0);
	assert_int_equal(weir_job_sem_count(&sem), 1);
}

/* ---- mutexes and conditions ---- */

static void
lock_job(void *in, void *out)
{
	int rc = weir_job_mutex_lock(&mutex, &in_time);

	if (rc == 0)
		CHECK(weir_job_mutex_unlock(&mutex) == 0);
	finished(0, rc);
}

static uint64_t may_unlock;

static void *
lock_and_unlock(void *arg)
{
	CHECK(weir_job_mutex_lock(&mutex, NULL) == 0);
	jt_add(&nb_done, 1);
	while (jt_read(&may_unlock) == 0)
		sched_yield();
	CHECK(weir_job_mutex_unlock(&mutex) == 0);
	return NULL;
}

static void
mutex_handed_then_late(void **state)
{
	pthread_t thread;

	do {
		make(1);
		may_unlock = 0;
		thread = begin(lock_and_unlock);
		jt_until(&nb_done, 1, "locked");
		jt_spawn(lock_job, NULL, 0, NULL);
		stall_at("handed");
		jt_add(&may_unlock, 1);
	} while (!handed_in_time(thread, 1));
	let_time_pass();
	assert_int_equal(nb_done, 1);
	assert_int_equal(weir_job_mutex_try(&mutex), -EBUSY);
	stall_let_go();
	jt_finish();
	pthread_join(thread, NULL);
	assert_int_equal(rcs[0], 0);
	assert_int_equal(weir_job_mutex_try(&mutex), 0);
}

static void *
cond_thread(void *arg)
{
	CHECK(weir_job_mutex_lock(&mutex, NULL) == 0);
	while (number == 0)
		CHECK(weir_job_cond_wait(&cond, &mutex, NULL) == 0);
	CHECK(weir_job_mutex_unlock(&mutex) == 0);
	finished(0, 0);
	return NULL;
}

static void
set_job(void *in, void *out)
{
	CHECK(weir_job_mutex_lock(&mutex, NULL) == 0);
	number = 1;
	CHECK(weir_job_mutex_unlock(&mutex) == 0);
	weir_job_cond_signal(&cond);
}

/* It stands between its look and its wait: who changes what it looked at cannot, until it waits. */
static void
cond_before_wait(void **state)
{
	pthread_t thread;

	make(1);
	stall_at("listing");
	thread = begin(cond_thread);
	stall_reached();
	jt_spawn(set_job, NULL, 0, NULL);
	jt_rounds(100);
	stall_let_go();
	jt_finish();
	jt_until(&nb_done, 1, "it is woken");
	pthread_join(thread, NULL);
}

static void
cond_job(void *in, void *out)
{
	CHECK(weir_job_mutex_lock(&mutex, NULL) == 0);
	finished(0, weir_job_cond_wait(&cond, &mutex, &in_time));
	CHECK(weir_job_mutex_unlock(&mutex) == 0);
}

static void *
signaller(void *arg)
{
	weir_job_cond_signal(&cond); /* nobody, where the machine is busy: handed_in_time() */
	return NULL;
}

static void
signalled_then_late(void **state)
{
	weir_job job;
	pthread_t thread;

	thread = hand_over(cond_job, signaller, "handed", &job);
	let_time_pass();
	assert_int_equal(nb_done, 0);
	assert_false(weir_job_cond_signal(&cond)); /* it has had its own */
	stall_let_go();
	jt_finish();
	pthread_join(thread, NULL);
	assert_int_equal(rcs[0], 0);
}

/* ---- channels ---- */

static void
recv_job(void *in, void *out)
{
	finished(0, weir_job_channel_recv(channel, &number, &in_time));
}

static void *
send_thread(void *arg)
{
	uint64_t message = 42;

	CHECK(weir_job_channel_send(channel, &message, NULL) == 0);
	return NULL;
}

static void
message_then_late(void **state)
{
	weir_job job;
	struct weir_job_channel_stats stats;
	pthread_t thread;

	thread = hand_over(recv_job, send_thread, "handed", &job);
	let_time_pass();
	assert_int_equal(nb_done, 0);
	stall_let_go();
	jt_finish();
	pthread_join(thread, NULL);
	assert_int_equal(rcs[0], 0);
	assert_int_equal(number, 42);
	weir_job_channel_stats(channel, &stats);
	assert_int_equal(stats.nb_received, 1);
	assert_int_equal(stats.nb, 0);
}

static void *
close_thread(void *arg)
{
	CHECK(weir_job_channel_close(channel) == 0);
	return NULL;
}

static void
closed_then_late(void **state)
{
	weir_job job;
	uint64_t message = 1;
	pthread_t thread;

	thread = hand_over(recv_job, close_thread, "closed", &job);
	assert_int_equal(weir_job_channel_try_send(channel, &message), -EPIPE);
	let_time_pass();
	assert_int_equal(nb_done, 0);
	stall_let_go();
	jt_finish();
	pthread_join(thread, NULL);
	assert_int_equal(rcs[0], -EPIPE);
}

/* ---- all at once, late at random places ---- */

#define NB_JOBS   60
#define NB_ROUNDS 150

static uint64_t nb_taken, nb_posted, nb_sent, nb_received, sum_sent, sum_received, inside, nb_over;

static uint64_t
hash(uint64_t a, uint64_t b)
{
	uint64_t h = (a * NB_ROUNDS + b + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return h ^ h >> 29;
}

static struct weir_job_wait
some_time(uint64_t seed)
{
	return (struct weir_job_wait){
		.flags = WEIR_JOB_TIMEOUT, .timeout_ns = seed % 5 == 0 ? 0 : seed % 60000};
}

static void
with_mutex(const struct weir_job_wait *how, uint64_t seed)
{
	int rc = weir_job_mutex_lock(&mutex, how);

	if (rc != 0)
		return;
	CHECK(__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) == 1);
	if (seed % 3 == 0) {
		jt_add(&inside, -(uint64_t)1);
		weir_job_cond_wait(&cond, &mutex, how);
		CHECK(__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) == 1);
	}
	jt_add(&inside, -(uint64_t)1);
	CHECK(weir_job_mutex_unlock(&mutex) == 0);
}

static void
anything(void *in, void *out)
{
	uint64_t self = *(uint64_t *)in;

	for (uint64_t i = 0; i < NB_ROUNDS; i++) {
		uint64_t seed = hash(self, i), message = seed;
		const struct weir_job_wait how = some_time(seed >> 8);

		switch (seed % 7) {
		case 0:
		case 1:
			jt_add(&nb_taken, weir_job_sem_wait(&sem, &how) == 0);
			break;
		case 2:
			jt_add(&nb_posted, 1);
			CHECK(weir_job_sem_post(&sem, 1) == 0);
			break;
		case 3:
			if (weir_job_channel_send(channel, &message, &how) == 0) {
				jt_add(&nb_sent, 1);
				jt_add(&sum_sent, seed);
			}
			break;
		case 4:
			if (weir_job_channel_recv(channel, &message, &how) == 0) {
				jt_add(&nb_received, 1);
				jt_add(&sum_received, message);
			}
			break;
		case 5:
			with_mutex(&how, seed >> 16);
			break;
		default:
			weir_job_cond_signal(&cond);
			weir_job_yield();
		}
	}
	jt_add(&nb_over, 1);
}

static void *
anything_in_thread(void *arg)
{
	uint64_t self = NB_JOBS + (uintptr_t)arg;

	anything(&self, NULL);
	return NULL;
}

static void
chaos(void **state)
{
	weir_job jobs[NB_JOBS];
	pthread_t threads[2];
	uint64_t message;

	make(3);
	nb_taken = nb_posted = nb_sent = nb_received = sum_sent = sum_received = inside = nb_over =
		0;
	__atomic_store_n(&stall_randomly, true, __ATOMIC_SEQ_CST);
	for (uintptr_t i = 0; i < RTE_DIM(threads); i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, anything_in_thread, (void *)i), 0);
	for (uint64_t i = 0; i < NB_JOBS; i++)
		jobs[i] = jt_spawn(anything, &i, sizeof(i), NULL);
	for (unsigned int i = 0; i < NB_JOBS; i += 6) {
		weir_job_cancel(jt_service, jobs[i]);
		jt_rounds(300);
	}
	jt_until(&nb_over, NB_JOBS + RTE_DIM(threads), "all are over");
	jt_finish();
	for (unsigned int i = 0; i < RTE_DIM(threads); i++)
		pthread_join(threads[i], NULL);
	/* nothing was lost, nothing came twice, nobody is left */
	assert_int_equal(nb_taken + weir_job_sem_count(&sem), nb_posted);
	while (weir_job_channel_try_recv(channel, &message) == 0) {
		nb_received++;
		sum_received += message;
	}
	assert_int_equal(nb_received, nb_sent);
	assert_int_equal(sum_received, sum_sent);
	assert_int_equal(weir_job_mutex_try(&mutex), 0);
	assert_false(weir_job_cond_signal(&cond));
	assert_true(nb_taken > 100 && nb_sent > 100);
}

#define RACE_TEST(name) cmocka_unit_test_teardown(name, teardown)

/* It goes from one wait to the next one while somebody looks what it waits for: what is told belongs together. */
static struct weir_job_completion waited[2];

static void
waits_twice(void *in, void *out)
{
	static const char *const names[] = {"first", "second"};

	for (uint64_t i = 0; i < 2; i++) {
		const struct weir_job_wait how = {.what = names[i], .which = names[i], .id = i + 1};

		CHECK(weir_job_completion_wait(&waited[i], &how) == 0);
	}
}

static void *
looks(void *arg)
{
	struct weir_job_info info;

	CHECK(weir_job_look(jt_service, *(weir_job *)arg, &info) == 0);
	CHECK(strcmp(info.waits_for, "second") == 0);
	CHECK(strcmp(info.which, "second") == 0);
	CHECK(info.which_id == 2);
	return NULL;
}

static void
told_while_it_changes(void **state)
{
	struct weir_job_info info;
	pthread_t thread;
	weir_job job;

	jt_make(1);
	weir_job_completion_init(&waited[0]);
	weir_job_completion_init(&waited[1]);
	job = jt_spawn(waits_twice, NULL, 0, NULL);
	assert_int_equal(weir_job_look(jt_service, job, &info), 0);
	assert_string_equal(info.which, "first");
	stall_at("told");
	assert_int_equal(pthread_create(&thread, NULL, looks, &job), 0);
	stall_reached();
	assert_int_equal(weir_job_complete(&waited[0]), 0);
	jt_rounds(100);
	assert_int_equal(jt_stats().nb_waits, 2);
	stall_let_go();
	pthread_join(thread, NULL);
	assert_int_equal(weir_job_complete(&waited[1]), 0);
	jt_finish();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RACE_TEST(handed_then_late),
		RACE_TEST(handed_then_cancelled),
		RACE_TEST(late_then_handed),
		RACE_TEST(mutex_handed_then_late),
		RACE_TEST(cond_before_wait),
		RACE_TEST(signalled_then_late),
		RACE_TEST(message_then_late),
		RACE_TEST(closed_then_late),
		RACE_TEST(chaos),
		STALL_TEST(told_while_it_changes),
	};

	return ST_RUN("job-sync-race", tests);
}
