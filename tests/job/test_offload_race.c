/* SPDX-License-Identifier: BSD-3-Clause */

/* Races of blocking calls that end with those who give them up, and with the pool's end, forced. */

#include <unistd.h>

#include "stall.h"

#include "offload_private.h"
#include "offload_test.h"

#define IN_TIME_NS UINT64_C(20000000)
#define FOREVER_NS UINT64_C(60000000000)

static uint64_t in_time_ns; /* of calls */
static uint64_t nb_done, nb_called, may_return;
static int rc_call, rc_stop;
static uint64_t result;

static void
make(void)
{
	jt_make(1);
	pool = weir_job_offload_create(&(struct weir_job_offload_config){.nb_threads = 1});
	assert_non_null(pool);
	nb_done = nb_abandoned = nb_called = result = 0;
	may_return = 1;
	in_time_ns = IN_TIME_NS;
	rc_call = rc_stop = 1;
}

static void *
stop(void *arg)
{
	__atomic_store_n(&rc_stop, weir_job_offload_stop(pool, *(uint64_t *)arg), __ATOMIC_SEQ_CST);
	return NULL;
}

static void
stop_pool(uint64_t timeout_ns)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, stop, &timeout_ns), 0);
	pthread_join(thread, NULL);
}

static int
teardown(void **state)
{
	stall_let_go();
	__atomic_store_n(&may_return, 1, __ATOMIC_SEQ_CST);
	jt_finish();
	stop_pool(FOREVER_NS);
	if (rc_stop != 0 || weir_job_offload_destroy(pool) != 0)
		return -1;
	pool = NULL;
	return jt_teardown(state);
}

static void
call(void *arg)
{
	jt_add(&nb_called, 1);
	while (jt_read(&may_return) == 0)
		usleep(100);
	*(uint64_t *)arg += 1000;
}

static void
caller(void *in, void *out)
{
	const struct weir_job_offload_options options = {
		.wait = {.flags = WEIR_JOB_TIMEOUT, .timeout_ns = in_time_ns},
		.abandoned = abandoned};
	uint64_t arg = 7;
	int rc;

	rc = weir_job_offload(pool, call, &arg, sizeof(arg), &options);
	__atomic_store_n(&rc_call, rc, __ATOMIC_SEQ_CST);
	__atomic_store_n(&result, arg, __ATOMIC_SEQ_CST);
	jt_add(&nb_done, 1);
}

static void *
calling_thread(void *arg)
{
	caller(NULL, NULL);
	return NULL;
}

static pthread_t
begin(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, calling_thread, NULL), 0);
	return thread;
}

/*
 * A job's call, in which its helper stands still at the place. On a busy machine the time may be over before it comes there: then there is to be
 * twice as much, and all of it once more. @waiting: the job must be waiting still
 */
static void
call_until_stalled(const char *where, bool waiting)
{
	uint64_t time_ns = IN_TIME_NS;

	for (;; time_ns *= 2) {
		make();
		in_time_ns = time_ns;
		stall_at(where);
		jt_spawn(caller, NULL, 0, NULL);
		while (jt_read(&stall_nb) == 0 && jt_read(&nb_done) == 0)
			jt_rounds(1);
		if (jt_read(&stall_nb) == 1 && (!waiting || jt_read(&nb_done) == 0))
			return;
		assert_int_equal(teardown(NULL), 0);
	}
}

static void
let_time_pass(void)
{
	uint64_t begun = weir_base_time_ns();

	while (weir_base_time_ns() - begun < 2 * in_time_ns)
		jt_rounds(1);
}

/* The call has returned, which nobody knows yet, when its caller gives up: it is abandoned all the same, and ends so. */
static void
returned_then_given_up(void **state)
{
	call_until_stalled("returned", false);
	jt_finish();
	assert_int_equal(rc_call, -ETIMEDOUT);
	assert_int_equal(result, 7);
	assert_int_equal(look().nb_hanging, 1);
	assert_int_equal(nb_abandoned, 0);
	stall_let_go();
	jt_until(&nb_abandoned, 1, "it has ended");
	stop_pool(FOREVER_NS);
	assert_int_equal(look().nb_ended, 1);
	assert_int_equal(nb_abandoned, 1);
}

/* It is known to be over, but the caller has not been told when its time is: it has its result. */
static void
over_then_late(void **state)
{
	call_until_stalled("parted", true);
	let_time_pass();
	assert_int_equal(nb_done, 0);
	stall_let_go();
	jt_finish();
	assert_int_equal(rc_call, 0);
	assert_int_equal(result, 1007);
	assert_int_equal(look().nb_done, 1);
	assert_int_equal(nb_abandoned, 0);
}

/* The other way round: its time is over, and the call returns before it says so. */
static void
late_then_returned(void **state)
{
	pthread_t thread;

	make();
	may_return = 0;
	stall_at("giving up");
	thread = begin();
	stall_reached();
	__atomic_store_n(&may_return, 1, __ATOMIC_SEQ_CST);
	while (look().nb_done == 0)
		jt_rounds(1);
	stall_let_go();
	pthread_join(thread, NULL);
	assert_int_equal(rc_call, 0);
	assert_int_equal(result, 1007);
	assert_int_equal(nb_abandoned, 0);
}

/* It is about to be queued when the pool is stopped. */
static void
accepted_then_stopped(void **state)
{
	pthread_t thread;

	make();
	stall_at("copied");
	thread = begin();
	stall_reached();
	stop_pool(FOREVER_NS);
	assert_int_equal(rc_stop, 0);
	stall_let_go();
	pthread_join(thread, NULL);
	assert_int_equal(rc_call, -ESHUTDOWN);
	assert_int_equal(look().nb_refused, 1);
	assert_int_equal(look().nb_accepted, 0);
	assert_int_equal(nb_called, 0);
	assert_int_equal(nb_abandoned, 0);
}

static void
until(bool (*is_so)(void))
{
	const uint64_t begun = weir_base_time_ns();
	bool so = false;

	while (!so && weir_base_time_ns() - begun < FOREVER_NS) {
		offload_lock(pool);
		so = is_so();
		offload_unlock(pool);
		sched_yield();
	}
	assert_true(so);
}

/* The helper has nothing to do, and waits for that. */
static bool
is_idle(void)
{
	return pool->idle.nb == 1;
}

static bool
two_were_accepted(void)
{
	return pool->stats.nb_accepted == 2;
}

/* A helper was chosen, and not woken yet, when the pool is stopped: the deadline holds, and the call is told as abandoned. */
static void
handed_then_stopped(void **state)
{
	pthread_t thread;

	make();
	in_time_ns = FOREVER_NS;
	until(is_idle);
	stall_at("handed");
	thread = begin();
	stall_reached();
	assert_int_equal(look().nb_running, 1);
	stop_pool(1000000);
	assert_int_equal(rc_stop, -ETIMEDOUT);
	assert_int_equal(look().nb_hanging, 1);
	stall_let_go();
	pthread_join(thread, NULL);
	assert_int_equal(rc_call, -ETIMEDOUT);
	jt_until(&nb_abandoned, 1, "it has ended");
	assert_int_equal(nb_called, 1);
}

/* The caller was handed back its call while it gave up. */
static void
returned_by_stop_then_late(void **state)
{
	uint64_t soon = 1000000, time_ns = IN_TIME_NS;
	pthread_t first, second, stopper;

	for (;; time_ns *= 2) {
		make();
		in_time_ns = time_ns;
		may_return = 0;
		first = begin();
		while (jt_read(&nb_called) == 0 && jt_read(&nb_done) == 0)
			jt_rounds(1);
		if (jt_read(&nb_called) == 1)
			break;
		/* a busy machine: its time was over before it ran */
		pthread_join(first, NULL);
		assert_int_equal(teardown(NULL), 0);
	}
	stall_at("giving up");
	second = begin(); /* queued; one of both comes there first, and stands still */
	until(two_were_accepted);
	stall_reached();
	assert_int_equal(pthread_create(&stopper, NULL, stop, &soon), 0);
	pthread_join(stopper, NULL);
	assert_int_equal(rc_stop, -ETIMEDOUT);
	stall_let_go();
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	assert_int_equal(look().nb_returned + look().nb_withdrawn, 1);
	assert_int_equal(look().nb_abandoned, 1);
	__atomic_store_n(&may_return, 1, __ATOMIC_SEQ_CST);
	jt_until(&nb_abandoned, 1 + look().nb_withdrawn, "told");
	assert_int_equal(nb_called, 1);
}

/* Calls of all lengths and times, late at random places. */
static void
chaos(void **state)
{
	make();
	__atomic_store_n(&stall_randomly, true, __ATOMIC_SEQ_CST);
	chaos_begin(40);
	stop_pool(FOREVER_NS);
	__atomic_store_n(&stall_randomly, false, __ATOMIC_SEQ_CST);
	chaos_check();
}

#define RACE_TEST(name) cmocka_unit_test_teardown(name, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RACE_TEST(returned_then_given_up),
		RACE_TEST(over_then_late),
		RACE_TEST(late_then_returned),
		RACE_TEST(accepted_then_stopped),
		RACE_TEST(handed_then_stopped),
		RACE_TEST(returned_by_stop_then_late),
		RACE_TEST(chaos),
	};

	return ST_RUN("job-offload-race", tests);
}
