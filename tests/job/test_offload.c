/* SPDX-License-Identifier: BSD-3-Clause */

/* Blocking calls in helper threads: their ends, those that hang, bounds, stopping. */

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include "offload_test.h"

static uint64_t nb_done, nb_begun, nb_over;
static int rcs[64];
/* Calls that hang do so until it is 0. */
static uint64_t hangs;

struct arg {
	uint64_t number, answer;
	pthread_t thread;
};

static void
make_of(unsigned int nb_cores, struct weir_job_offload_config config)
{
	jt_make(nb_cores);
	pool = weir_job_offload_create(&config);
	assert_non_null(pool);
	nb_done = nb_abandoned = nb_begun = nb_over = 0;
	hangs = 1;
}

/* From a thread that may be blocked. */
static void *
stop(void *arg)
{
	CHECK(weir_job_offload_stop(pool, UINT64_C(60000000000)) == 0);
	return NULL;
}

static void
stop_pool(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, stop, NULL), 0);
	pthread_join(thread, NULL);
}

static int
teardown(void **state)
{
	__atomic_store_n(&hangs, 0, __ATOMIC_SEQ_CST);
	if (pool != NULL) {
		stop_pool();
		jt_finish();
		look();
		if (weir_job_offload_destroy(pool) != 0)
			return -1;
	}
	pool = NULL;
	return jt_teardown(state);
}

static void
answer(void *arg)
{
	struct arg *self = arg;

	self->thread = pthread_self();
	usleep(1000);
	self->answer = self->number * 2;
}

static void
hang(void *arg)
{
	jt_add(&nb_begun, 1);
	while (jt_read(&hangs) != 0)
		usleep(100);
	jt_add(&nb_over, 1);
}

static void
ask(void *in, void *out)
{
	struct arg arg = {.number = *(uint64_t *)in};

	CHECK(weir_job_offload(pool, answer, &arg, sizeof(arg), NULL) == 0);
	CHECK(arg.answer == 2 * arg.number);
	arg.answer = 0;
	CHECK(weir_job_offload(pool, answer, &arg, 0, NULL) == 0);
	CHECK(arg.answer == 2 * arg.number);
	jt_add(&nb_done, 1);
}

static void
answers(void **state)
{
	struct weir_job_offload_stats stats;

	make_of(2, (struct weir_job_offload_config){.nb_threads = 3});
	for (uint64_t i = 0; i < 30; i++)
		jt_spawn(ask, &i, sizeof(i), NULL);
	jt_until(&nb_done, 30, "all answered");
	jt_finish();
	stats = look();
	assert_int_equal(stats.nb_done, 60);
	assert_int_equal(stats.nb_refused, 0);
	assert_int_equal(stats.nb_threads, 3);
	assert_true(stats.longest_ns >= 1000000);
}

static void
from_threads(void **state)
{
	struct arg arg = {.number = 4};

	make_of(1, (struct weir_job_offload_config){.nb_threads = 1});
	/* this thread is a core */
	assert_int_equal(weir_job_offload(pool, answer, &arg, sizeof(arg), NULL), -EDEADLK);
	assert_int_equal(weir_job_offload_stop(pool, 0), -EDEADLK);
	assert_int_equal(weir_job_offload_destroy(pool), -EBUSY);
	assert_int_equal(look().nb_accepted, 0);
}

static void
stops_pool(void *in, void *out)
{
	rcs[0] = weir_job_offload_stop(pool, 0);
	rcs[1] = weir_job_offload_stop(pool, WEIR_JOB_FOREVER);
	jt_add(&nb_done, 1);
}

/* A job must not, whether it would wait or not; and nothing has happened to the pool then. */
static void
not_from_a_job(void **state)
{
	uint64_t number = 4;

	make_of(1, (struct weir_job_offload_config){.nb_threads = 1});
	rcs[0] = rcs[1] = 0;
	jt_spawn(stops_pool, NULL, 0, NULL);
	jt_until(&nb_done, 1, "it returns");
	assert_int_equal(rcs[0], -EDEADLK);
	assert_int_equal(rcs[1], -EDEADLK);
	jt_spawn(ask, &number, sizeof(number), NULL);
	jt_until(&nb_done, 2, "it is answered");
	assert_int_equal(look().nb_done, 2);
}

static void
stops_own_pool(void *arg)
{
	*(int *)arg = weir_job_offload_stop(pool, 60000000000);
}

static void
calls_stop(void *in, void *out)
{
	rcs[0] = weir_job_offload(pool, stops_own_pool, &rcs[1], 0, NULL);
	jt_add(&nb_done, 1);
}

/* Nor a call of its own, which would wait for itself; nothing has happened to the pool then, either. */
static void
not_from_a_call(void **state)
{
	uint64_t number = 4;

	make_of(1, (struct weir_job_offload_config){.nb_threads = 1});
	rcs[0] = rcs[1] = 0;
	jt_spawn(calls_stop, NULL, 0, NULL);
	jt_until(&nb_done, 1, "it returns");
	assert_int_equal(rcs[0], 0);
	assert_int_equal(rcs[1], -EDEADLK);
	jt_spawn(ask, &number, sizeof(number), NULL);
	jt_until(&nb_done, 2, "it is answered");
}

/* A call that hangs, and is abandoned: on a busy machine its time may be over before a helper has it, then there is to be twice as much. */
static int
hang_and_give_up(void *arg, size_t size)
{
	struct weir_job_offload_options options = {
		.wait = {.flags = WEIR_JOB_TIMEOUT, .timeout_ns = 3000000}, .abandoned = abandoned};
	const unsigned int nb_hanging = look().nb_hanging;
	int rc;

	do {
		rc = weir_job_offload(pool, hang, arg, size, &options);
		options.wait.timeout_ns *= 2;
	} while (rc == -ETIMEDOUT && look().nb_hanging == nb_hanging);
	return rc;
}

static void *
thread_asks(void *unused)
{
	struct arg arg = {.number = 4};

	rcs[0] = weir_job_offload(pool, answer, &arg, sizeof(arg), NULL);
	CHECK(arg.answer == 8);
	CHECK(!pthread_equal(arg.thread, pthread_self()));
	rcs[1] = hang_and_give_up(NULL, 0);
	jt_add(&nb_done, 1);
	return NULL;
}

static void
plain_threads(void **state)
{
	pthread_t thread;

	make_of(1, (struct weir_job_offload_config){.nb_threads = 1});
	assert_int_equal(pthread_create(&thread, NULL, thread_asks, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(rcs[0], 0);
	assert_int_equal(rcs[1], -ETIMEDOUT);
	assert_int_equal(look().nb_hanging, 1);
	assert_int_equal(nb_abandoned, look().nb_withdrawn); /* it still has its argument */
	__atomic_store_n(&hangs, 0, __ATOMIC_SEQ_CST);
	jt_until(&nb_abandoned, 1 + look().nb_withdrawn, "it is told");
}

static void
job_hangs_and_gives_up(void *in, void *out)
{
	uint64_t number = 1;

	rcs[0] = hang_and_give_up(&number, sizeof(number));
	jt_add(&nb_done, 1);
}

/* How long calls took, or have taken so far, and how long they waited for a helper. */
static void
times_are_told(void **state)
{
	uint64_t number = 4, begun;

	make_of(1, (struct weir_job_offload_config){.nb_threads = 1});
	jt_spawn(job_hangs_and_gives_up, NULL, 0, NULL);
	jt_until(&nb_begun, 1, "it begins");
	jt_spawn(ask, &number, sizeof(number), NULL);
	while (look().nb_queued == 0)
		jt_rounds(1);
	begun = weir_base_time_ns();
	while (weir_base_time_ns() - begun < 3000000)
		jt_rounds(1);
	assert_true(look().longest_ns >= 3000000);
	assert_int_equal(nb_over, 0);
	__atomic_store_n(&hangs, 0, __ATOMIC_SEQ_CST);
	jt_until(&nb_done, 2, "all told");
	assert_true(look().longest_queued_ns >= 3000000);
}

/* Of this process. */
static unsigned int
nb_threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	unsigned int nb = 0;

	assert_non_null(folder);
	while (readdir(folder) != NULL)
		nb++;
	closedir(folder);
	return nb;
}

static void
wrong_arguments(void **state)
{
	const unsigned int cpu = 0, no_cpu = 100000;
	struct weir_job_offload_stats stats;
	uint64_t big[100];
	unsigned int nb_before;

	make_of(1, (struct weir_job_offload_config){.nb_threads = 1});
	nb_before = nb_threads();
	assert_int_equal(weir_job_offload(NULL, answer, NULL, 0, NULL), -EINVAL);
	assert_int_equal(weir_job_offload(pool, NULL, NULL, 0, NULL), -EINVAL);
	assert_int_equal(weir_job_offload(pool, answer, NULL, 8, NULL), -EINVAL);
	assert_int_equal(weir_job_offload(pool, answer, big, sizeof(big), NULL), -EINVAL);
	assert_int_equal(weir_job_offload_stop(NULL, 0), -EINVAL);
	assert_int_equal(weir_job_offload_destroy(NULL), 0);
	assert_null(
		weir_job_offload_create(&(struct weir_job_offload_config){.nb_threads = 1000000}));
	assert_int_equal(rte_errno, EINVAL);
	assert_null(weir_job_offload_create(&(struct weir_job_offload_config){.cpus = &cpu}));
	for (int i = 0; i < 5; i++)
		assert_null(weir_job_offload_create(
			&(struct weir_job_offload_config){.cpus = &no_cpu, .nb_cpus = 1}));
	while (nb_threads() > nb_before) /* those that had begun end: else this hangs */
		usleep(1000);
	weir_job_offload_stats(NULL, &stats);
	weir_job_offload_stats(pool, NULL);
}

/* ---- calls that hang ---- */

/* Even numbers until their time is over, odd ones for as long as it takes. */
static void
hang_in(void *in, void *out)
{
	const struct weir_job_offload_options options = {
		.wait = {.flags = WEIR_JOB_TIMEOUT, .timeout_ns = 10000000},
		.abandoned = abandoned};
	uint64_t number = *(uint64_t *)in, copy = number;

	rcs[number] = weir_job_offload(
		pool, hang, &copy, sizeof(copy), number % 2 == 0 ? &options : NULL);
	jt_add(&nb_done, 1);
}

static weir_job
spawn_hanging(uint64_t number)
{
	return jt_spawn(hang_in, &number, sizeof(number), NULL);
}

/* Two run, two are queued, none returns: timeouts and cancellations work, and the core goes on with other jobs. */
static void
timeout_and_cancel(void **state)
{
	weir_job running, queued;
	uint64_t nb_withdrawn;

	make_of(1, (struct weir_job_offload_config){.nb_threads = 2, .nb_queued = 2});
	jt_spawn(job_hangs_and_gives_up, NULL, 0, NULL);
	jt_finish();
	assert_int_equal(rcs[0], -ETIMEDOUT);
	nb_withdrawn = look().nb_withdrawn;
	assert_int_equal(nb_abandoned, nb_withdrawn); /* not the one that runs */
	running = spawn_hanging(1);
	jt_until(&nb_begun, 2, "it begins");
	queued = spawn_hanging(3);
	spawn_hanging(2); /* its time is over in the queue */
	jt_until(&nb_done, 2, "its time is over");
	assert_int_equal(rcs[2], -ETIMEDOUT);
	assert_int_equal(nb_abandoned, ++nb_withdrawn);
	spawn_hanging(5);
	assert_int_equal(look().nb_queued, 2);
	spawn_hanging(7); /* one too many */
	assert_int_equal(rcs[7], -EAGAIN);
	weir_job_cancel(jt_service, running);
	weir_job_cancel(jt_service, queued);
	jt_until(&nb_done, 5, "they are cancelled");
	assert_int_equal(rcs[1], -ECANCELED);
	assert_int_equal(rcs[3], -ECANCELED);
	assert_int_equal(look().nb_withdrawn, ++nb_withdrawn);
	assert_int_equal(look().nb_hanging, 2);
	assert_int_equal(look().nb_queued, 1);
	assert_int_equal(look().nb_refused, 1);
	assert_int_equal(nb_begun, 2);
	__atomic_store_n(&hangs, 0, __ATOMIC_SEQ_CST);
	jt_until(&nb_over, 3, "they return after all, and the one that is left is called");
	jt_finish();
	assert_int_equal(rcs[5], 0);
	stop_pool();
	assert_int_equal(look().nb_ended, 2);
	/* once each: those that were withdrawn but one, which had not asked for it; and the first of those that hung */
	assert_int_equal(nb_abandoned, nb_withdrawn - 1 + 1);
}

/* Events go on while jobs wait for calls, on the one core that there is. */
static uint64_t nb_events;

static void
count(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	nb_events += nb;
}

static void
data_plane_goes_on(void **state)
{
	weir_em_queue queue;

	make_of(1, (struct weir_job_offload_config){.nb_threads = 1});
	queue = et_serve("events", WEIR_EM_QUEUE_ATOMIC, count, NULL);
	nb_events = 0;
	spawn_hanging(1);
	jt_until(&nb_begun, 1, "it begins");
	for (unsigned int i = 0; i < 1000; i++) {
		et_send(queue, i);
		jt_rounds(1);
	}
	et_run();
	assert_int_equal(nb_events, 1000);
	assert_int_equal(jt_stats().nb_live, 1);
	assert_int_equal(nb_over, 0);
	__atomic_store_n(&hangs, 0, __ATOMIC_SEQ_CST);
	jt_finish();
	assert_int_equal(rcs[1], 0);
}

/* A job that was cancelled before does not begin with it. */
static void
ask_cancelled(void *in, void *out)
{
	const struct weir_job_offload_options options = {.abandoned = abandoned};

	rcs[0] = weir_job_sleep(1000000000);
	rcs[1] = weir_job_offload(pool, hang, NULL, 0, &options);
}

static void
cancelled_before(void **state)
{
	weir_job job;

	make_of(1, (struct weir_job_offload_config){.nb_threads = 1});
	job = jt_spawn(ask_cancelled, NULL, 0, NULL);
	weir_job_cancel(jt_service, job);
	jt_finish();
	assert_int_equal(rcs[0], -ECANCELED);
	assert_int_equal(rcs[1], -ECANCELED);
	assert_int_equal(nb_abandoned, 1);
	assert_int_equal(look().nb_accepted, 0);
}

/* ---- stopping ---- */

static void *
stop_shortly(void *arg)
{
	rcs[10] = weir_job_offload_stop(pool, 5000000);
	jt_add(&nb_done, 1);
	return NULL;
}

static void
stop_with_calls(void **state)
{
	pthread_t thread;

	make_of(1, (struct weir_job_offload_config){.nb_threads = 1});
	spawn_hanging(1);
	jt_until(&nb_begun, 1, "it begins");
	spawn_hanging(3);
	jt_rounds(5);
	assert_int_equal(look().nb_queued, 1);
	assert_int_equal(pthread_create(&thread, NULL, stop_shortly, NULL), 0);
	jt_until(&nb_done, 3, "all told");
	pthread_join(thread, NULL);
	jt_finish();
	assert_int_equal(rcs[10], -ETIMEDOUT);
	assert_int_equal(rcs[1], -ETIMEDOUT); /* ran, and was abandoned */
	assert_int_equal(rcs[3], -ESHUTDOWN); /* had not begun */
	assert_int_equal(look().nb_returned, 1);
	assert_int_equal(look().nb_hanging, 1);
	spawn_hanging(5);
	jt_finish();
	assert_int_equal(rcs[5], -ESHUTDOWN);
}

/* What hangs for longer than the pool is there takes what it needs with it. */
static void
destroyed_while_it_hangs(void **state)
{
	unsigned int nb_before;
	uint64_t nb_withdrawn;

	make_of(1, (struct weir_job_offload_config){.nb_threads = 2});
	nb_before = nb_threads() - 2;
	jt_spawn(job_hangs_and_gives_up, NULL, 0, NULL);
	jt_finish();
	assert_int_equal(rcs[0], -ETIMEDOUT);
	nb_withdrawn = look().nb_withdrawn;
	stop_shortly(NULL); /* a core may not */
	assert_int_equal(rcs[10], -EDEADLK);
	{
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, stop_shortly, NULL), 0);
		pthread_join(thread, NULL);
	}
	assert_int_equal(rcs[10], -ETIMEDOUT);
	assert_int_equal(weir_job_offload_destroy(pool), 0);
	pool = NULL;
	assert_int_equal(nb_abandoned, nb_withdrawn);
	__atomic_store_n(&hangs, 0, __ATOMIC_SEQ_CST);
	jt_until(&nb_abandoned, nb_withdrawn + 1, "it has returned");
	while (nb_threads() >
		nb_before) /* a leak checker sees what is left of it; else this hangs */
		usleep(1000);
}

/* ---- where they run ---- */

static void
where(void *arg)
{
	char name[16];
	cpu_set_t cpus;
	sigset_t signals;

	CHECK(pthread_getaffinity_np(pthread_self(), sizeof(cpus), &cpus) == 0);
	CHECK(pthread_getname_np(pthread_self(), name, sizeof(name)) == 0);
	CHECK(pthread_sigmask(SIG_BLOCK, NULL, &signals) == 0);
	CHECK(sigismember(&signals, SIGINT) == 1);
	CHECK(strcmp(name, "a-very-long-0") == 0);
	*(uint64_t *)arg = (uint64_t)CPU_COUNT(&cpus) << 32 | (uint64_t)CPU_ISSET(0, &cpus);
}

static void
ask_where(void *in, void *out)
{
	uint64_t cpus = 0;

	CHECK(weir_job_offload(pool, where, &cpus, sizeof(cpus), NULL) == 0);
	CHECK(cpus == (UINT64_C(1) << 32 | 1));
	jt_add(&nb_done, 1);
}

static void
names_and_cpus(void **state)
{
	const unsigned int cpu = 0;
	cpu_set_t cpus;

	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	if (!CPU_ISSET(0, &cpus))
		st_skip("CPU 0 is not ours");
	make_of(1,
		(struct weir_job_offload_config){
			.name = "a-very-long-name", .nb_threads = 1, .cpus = &cpu, .nb_cpus = 1});
	jt_spawn(ask_where, NULL, 0, NULL);
	jt_until(&nb_done, 1, "told");
}

/* ---- all at once ---- */

static void
race(void **state)
{
	make_of(3, (struct weir_job_offload_config){.nb_threads = 3, .nb_queued = 32});
	chaos_begin(60);
	stop_pool();
	chaos_check();
}

#define OF_TEST(name) cmocka_unit_test_teardown(name, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		OF_TEST(answers),
		OF_TEST(from_threads),
		OF_TEST(not_from_a_job),
		OF_TEST(not_from_a_call),
		OF_TEST(plain_threads),
		OF_TEST(times_are_told),
		OF_TEST(wrong_arguments),
		OF_TEST(timeout_and_cancel),
		OF_TEST(data_plane_goes_on),
		OF_TEST(cancelled_before),
		OF_TEST(stop_with_calls),
		OF_TEST(destroyed_while_it_hangs),
		OF_TEST(names_and_cpus),
		OF_TEST(race),
	};

	return ST_RUN("job-offload", tests);
}
