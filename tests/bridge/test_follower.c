/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Frames of a latency buffer in jobs: each is seen as it was, however long its job sleeps, and however much comes to the buffer meanwhile, or
 * is counted by name. But for the last case all is done by one thread, which is the only core: so nothing depends on time.
 */

#include <pthread.h>
#include <sched.h>

#include "follower_fixture.h"
#include "weir_base_sanitizer.h"
#include "weir_em_timer.h"

#define FOREVER WEIR_EM_TIMEOUT_NS_MAX

#if defined(WEIR_BASE_ASAN) || defined(WEIR_BASE_TSAN)
#define RACE_FRAMES 1000u
#else
#define RACE_FRAMES 4000u
#endif

static const char *const drops[] = {"fives", "sevens"};

static int
see_in_order(void *arg, const struct weir_readout_item *item)
{
	bf_expect_frame(item);
	CHECK(item->frame.timestamp == bf.last + RT_STEP);
	bf.last = item->frame.timestamp;
	bf.seen++;
	return WEIR_READOUT_PASS;
}

static int
drop_some(void *arg, const struct weir_readout_item *item)
{
	if (item->frame.timestamp / RT_STEP % 5 == 0)
		return 0;
	return item->frame.timestamp / RT_STEP % 7 == 0 ? 1 : WEIR_READOUT_PASS;
}

/* Sleeps until the test says so. */
static int
sleep_at_gate(void *arg, const struct weir_readout_item *item)
{
	bf_expect_frame(item);
	bf.begun++;
	while (!__atomic_load_n(&bf.gate, __ATOMIC_ACQUIRE) && weir_job_sleep(1000) == 0)
		;
	bf_expect_frame(item);
	__atomic_fetch_add(&bf.seen, 1, __ATOMIC_RELAXED);
	return WEIR_READOUT_PASS;
}

/* Once cancelled, it has much come to the buffer before it looks at its frame again. */
static int
sleep_until_cancelled(void *arg, const struct weir_readout_item *item)
{
	bf_expect_frame(item);
	bf.begun++;
	while (weir_job_sleep(FOREVER) == 0)
		;
	bf_put(BF_MANY);
	bf_expect_frame(item);
	bf.seen++;
	return WEIR_READOUT_PASS;
}

/* Of the third frame of each job. */
static int
exit_at_third(void *arg, const struct weir_readout_item *item)
{
	weir_job_yield();
	bf_expect_frame(item);
	if (++bf.seen % 3 == 0)
		weir_coro_exit();
	return WEIR_READOUT_PASS;
}

static void
call(void *arg)
{
	__atomic_store_n(&bf.call_began, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&bf.call_goes_on, __ATOMIC_ACQUIRE))
		sched_yield();
	bf_expect_frame(&((struct weir_readout_kept *)arg)->item);
}

static void
call_abandoned(void *arg)
{
	weir_readout_kept_release(arg);
	__atomic_store_n(&bf.call_ended, true, __ATOMIC_RELEASE);
}

/* A helper thread looks at the frame, for longer than the job does. */
static int
offload(void *arg, const struct weir_readout_item *item)
{
	const struct weir_job_offload_options options = {.abandoned = call_abandoned};

	weir_bridge_follower_share(item, &bf.shared);
	CHECK(weir_job_offload(bf.helpers, call, &bf.shared, 0, &options) == -ECANCELED);
	return WEIR_READOUT_PASS;
}

static const struct weir_readout_process seeing = {.name = "see", .run = see_in_order},
					 gated = {.name = "gate", .run = sleep_at_gate};

/* A job of many frames does not keep its core from others for all of them. */
static void
test_gives_way(void **state)
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 1, .burst = 1};
	struct weir_bridge_follower_config config;
	uint64_t before;

	bf_make(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST, 1);
	bf_be_core();
	config = bf_config(&seeing);
	config.nb_jobs = 1;
	bf_follow(&config);
	weir_coro_always_yield(true);
	bf_put(BF_FRAMES);
	assert_int_equal(weir_bridge_follower_poll(bf.follower), BF_FRAMES);
	do {
		before = bf.seen;
		weir_em_dispatch(bf.core, &once);
		assert_true(bf.seen - before <= 1);
		assert_int_equal(bf_look().inside, bf_look().jobs_out > 0 ? BF_FRAMES : 0);
	} while (bf_look().jobs_out > 0);
	weir_coro_always_yield(false);
	assert_int_equal(bf.seen, BF_FRAMES);
	bf_end();
}

/* With one job at a time: each frame once, in order. */
static void
test_in_order(void **state)
{
	struct weir_bridge_follower_config config;

	bf_make(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST, 1);
	bf_be_core();
	config = bf_config(&seeing);
	config.nb_jobs = 1;
	config.wait = true;
	bf_follow(&config);
	for (unsigned int i = 0; i < 20; i++) {
		bf_put(50);
		for (unsigned int left = 50; left > 0;) {
			const uint32_t nb = weir_bridge_follower_poll(bf.follower);

			assert_int_equal(nb, RTE_MIN(left, BF_FRAMES));
			assert_int_equal(bf_look().inside, nb);
			assert_int_equal(weir_bridge_follower_poll(bf.follower), 0);
			bf_run_jobs();
			left -= nb;
		}
	}
	assert_int_equal(bf.seen, 1000);
	assert_int_equal(bf_look().passed, 1000);
	assert_int_equal(bf_look().jobs, 20 * 7);
	bf_end();
}

static void
test_reasons(void **state)
{
	const struct weir_readout_process some = {
		.name = "some", .run = drop_some, .drops = drops, .nb_drops = 2};
	struct weir_bridge_follower_config config;

	bf_make(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST, 1);
	bf_be_core();
	config = bf_config(&some);
	bf_follow(&config);
	bf.clock = 0;
	bf_put(30);
	bf_poll_all();
	bf_run_jobs();
	assert_int_equal(bf_look().dropped[0], 6);
	assert_int_equal(bf_look().dropped[1], 4); /* four sevenths, but for 0 */
	assert_int_equal(bf_look().passed, 20);
	bf_end();
}

/* Jobs sleep with all that they may hold, while so much comes that each cell not pinned is used again, and again. */
static void
check_asleep(uint64_t step, enum weir_readout_full when_full)
{
	const uint32_t held = BF_JOBS * BF_FRAMES;
	struct weir_bridge_follower_config config;

	bf_make(step, when_full, 1);
	bf_be_core();
	config = bf_config(&gated);
	bf_follow(&config);
	for (unsigned int i = 0; i < 3; i++) {
		bf.seen = bf.begun = 0;
		bf.gate = false;
		bf_put(held);
		bf_poll_all();
		bf_run_until_begun(BF_JOBS);
		assert_int_equal(bf_look().inside, held);
		assert_int_equal(bf_look().jobs_out, BF_JOBS);
		bf_put(BF_MANY);
		/* Their time is over, and their cells are not free. */
		assert_int_equal(rt_stats(bf.buffer).detained, held);
		assert_int_equal(DROPPED(rt_stats(bf.buffer), NO_MEMORY), 0);
		assert_int_equal(weir_bridge_follower_free(bf.follower), -EBUSY);
		bf.gate = true;
		bf_run_jobs();
		assert_int_equal(bf.seen, held);
		bf_expect_unpinned();
		bf_drain();
	}
	assert_int_equal(bf_look().received, 3 * (2 * held + BF_MANY));
	assert_true(bf_look().missed > 0);
	bf_end();
}

static void
test_asleep(void **state)
{
	check_asleep(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST);
	bt_teardown(state);
	check_asleep(RT_STEP, WEIR_READOUT_FULL_DROP_NEWEST);
	bt_teardown(state);
	check_asleep(0, WEIR_READOUT_FULL_EVICT_OLDEST);
}

/* More than jobs may hold is refused by name; or stays in the buffer, for as long as that has it. */
static void
test_full(void **state)
{
	const uint32_t held = BF_JOBS * BF_FRAMES;
	struct weir_bridge_follower_config config;

	bf_make(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST, 1);
	bf_be_core();
	config = bf_config(&gated);
	bf_follow(&config);
	bf_put(100);
	bf_poll_all();
	assert_int_equal(bf_look().taken, held);
	assert_int_equal(bf_look().refused[WEIR_BRIDGE_FOLLOWER_JOBS_FULL], 100 - held);
	bf.gate = true;
	bf_run_jobs();
	assert_int_equal(bf_look().passed, held);
	assert_int_equal(weir_bridge_follower_free(bf.follower), 0);
	bf.gate = false;
	config.wait = true;
	bf_follow(&config);
	bf_put(100);
	bf_poll_all();
	assert_int_equal(bf_look().taken, held);
	assert_int_equal(bf_look().waiting, 100 - held);
	bf_put(BF_MANY);
	bf.gate = true;
	bf_run_jobs();
	bf_poll_all();
	assert_true(bf_look().missed >= 100 - held);
	assert_int_equal(bf_look().refused[WEIR_BRIDGE_FOLLOWER_JOBS_FULL], 0);
	bf_end();
}

/* The service is stopped while jobs sleep, wait for a core, and before there are any. */
static void
test_stopped(void **state)
{
	const struct weir_readout_process process = {.name = "sleep", .run = sleep_until_cancelled};
	struct weir_bridge_follower_config config;
	struct weir_bridge_follower_stats stats;

	bf_make(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST, 1);
	bf_be_core();
	config = bf_config(&process);
	bf_follow(&config);
	bf_put(2 * BF_FRAMES);
	bf_poll_all();
	bf_run_until_begun(2); /* two sleep */
	bf_put(2 * BF_FRAMES);
	bf_poll_all(); /* two have not run */
	assert_int_equal(bf_look().jobs_out, 4);
	bf_stop();
	stats = bf_look();
	assert_int_equal(bf.seen, 2);
	assert_int_equal(stats.passed, 2); /* of each that slept, the frame that it had */
	assert_int_equal(stats.cancelled, 4 * BF_FRAMES - 2);
	bf_poll_all();
	stats = bf_look();
	assert_true(stats.refused[WEIR_BRIDGE_FOLLOWER_NO_JOB] > 0);
	assert_int_equal(stats.taken, 4 * BF_FRAMES);
	bf_expect_unpinned();
	assert_int_equal(weir_job_service_start(bf.service, bf.core), 0);
	bf_end();
}

static void
test_exited(void **state)
{
	const struct weir_readout_process process = {.name = "exit", .run = exit_at_third};
	struct weir_bridge_follower_config config;

	bf_make(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST, 1);
	bf_be_core();
	config = bf_config(&process);
	config.nb_jobs = 1;
	config.wait = true;
	bf_follow(&config);
	for (unsigned int i = 0; i < 10; i++) {
		bf_put(BF_FRAMES);
		assert_int_equal(weir_bridge_follower_poll(bf.follower), BF_FRAMES);
		bf_run_jobs();
	}
	assert_int_equal(bf_look().passed, 20);
	assert_int_equal(bf_look().exited, 10 * (BF_FRAMES - 2));
	bf_end();
}

/* A helper's call that outlasts its job keeps its frame. */
static void
test_shared(void **state)
{
	const struct weir_readout_process process = {.name = "offload", .run = offload};
	const uint64_t until = weir_base_time_ns() + BT_PATIENCE_NS;
	struct weir_bridge_follower_config config;

	bf_make(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST, 1);
	bf_be_core();
	bf.helpers = weir_job_offload_create(&(struct weir_job_offload_config){.nb_threads = 1});
	assert_non_null(bf.helpers);
	config = bf_config(&process);
	bf_follow(&config);
	bf_put(1);
	bf_poll_all();
	while (!__atomic_load_n(&bf.call_began, __ATOMIC_ACQUIRE) && weir_base_time_ns() < until)
		bf_dispatch();
	bf_stop();
	assert_int_equal(bf_look().passed, 1);
	bf_put(BF_MANY);
	assert_int_equal(rt_stats(bf.buffer).detained, 1);
	__atomic_store_n(&bf.call_goes_on, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&bf.call_ended, __ATOMIC_ACQUIRE) && weir_base_time_ns() < until)
		sched_yield();
	assert_true(bf.call_ended);
	bf_expect_unpinned();
	assert_int_equal(weir_job_service_start(bf.service, bf.core), 0);
	bf_end();
	assert_int_equal(weir_job_offload_stop(bf.helpers, BT_PATIENCE_NS), 0);
	assert_int_equal(weir_job_offload_destroy(bf.helpers), 0);
}

static void
expect_refused(const struct weir_bridge_follower_config *config, const char *message)
{
	st_log_clear();
	assert_null(weir_bridge_follower_create(config));
	assert_int_equal(rte_errno, EINVAL);
	if (strstr(st_log_last(), message) == NULL)
		fail_msg("'%s' does not say '%s'", st_log_last(), message);
}

static void
test_refused(void **state)
{
	const char *const needs = "a follower needs a name";
	struct weir_bridge_follower_config good, bad[7];

	bf_make(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST, 1);
	bf_be_core();
	good = bf_config(&seeing);
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		bad[i] = good;
	bad[0].name = NULL;
	bad[1].name = "a name of thirty-two characters.";
	bad[2].buffer = NULL;
	bad[3].service = NULL;
	bad[4].process.run = NULL;
	bad[5].nb_jobs = WEIR_BRIDGE_FOLLOWER_JOBS_MAX + 1;
	bad[6].nb_frames = WEIR_BRIDGE_FOLLOWER_FRAMES_MAX + 1;
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		expect_refused(&bad[i], needs);
	good.nb_jobs = 100;
	expect_refused(&good, "100 jobs of 8 frames may pin all");
	assert_string_equal(
		weir_bridge_follower_refusal_name(WEIR_BRIDGE_FOLLOWER_JOBS_FULL), "jobs_full");
	assert_string_equal(
		weir_bridge_follower_refusal_name(WEIR_BRIDGE_FOLLOWER_NO_JOB), "no_job");
	assert_null(weir_bridge_follower_refusal_name(WEIR_BRIDGE_FOLLOWER_NB_REFUSALS));
	assert_int_equal(weir_bridge_follower_free(NULL), 0);
	good.nb_jobs = 0;
	good.nb_frames = 1;
	bf_follow(&good);
	bf_end();
}

/* Jobs on several cores, beside the buffer's writer and who polls: now and then they go on only when their frame's time is long over. */
static int
race(void *arg, const struct weir_readout_item *item)
{
	const uint64_t seen = __atomic_fetch_add(&bf.seen, 1, __ATOMIC_RELAXED);
	uint64_t from;

	bf_expect_frame(item);
	if (seen % 100 != 0)
		return WEIR_READOUT_PASS;
	from = rt_stats(bf.buffer).received;
	while (rt_stats(bf.buffer).received < from + 500 &&
		!__atomic_load_n(&bf.over, __ATOMIC_ACQUIRE) && weir_job_yield() == 0)
		;
	bf_expect_frame(item);
	return WEIR_READOUT_PASS;
}

static void *
be_worker(void *arg)
{
	const struct weir_em_dispatch_options some = {
		.nb_rounds = 16, .burst = 1, .idle = WEIR_EM_IDLE_YIELD};
	struct weir_em_core *core = weir_em_core_attach(bt_em, *(unsigned int *)arg);

	CHECK(core != NULL);
	while (!__atomic_load_n(&bf.gate, __ATOMIC_ACQUIRE))
		weir_em_dispatch(core, &some);
	CHECK(weir_em_core_detach(core) == 0);
	return NULL;
}

static void *
poll_in_race(void *arg)
{
	while (__atomic_load_n(&bf.seen, __ATOMIC_RELAXED) < RACE_FRAMES) {
		if (weir_bridge_follower_poll(bf.follower) == 0)
			sched_yield();
		bf_look();
	}
	__atomic_store_n(&bf.over, true, __ATOMIC_RELEASE);
	return NULL;
}

static void
test_race(void **state)
{
	const struct weir_readout_process process = {.name = "race", .run = race};
	struct weir_bridge_follower_config config;
	pthread_t workers[2], poller;
	unsigned int ids[2] = {0, 1};

	bf_make(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST, 2);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&workers[i], NULL, be_worker, &ids[i]), 0);
	assert_int_equal(weir_job_service_start(bf.service, NULL), 0);
	config = bf_config(&process);
	config.wait = true;
	bf_follow(&config);
	assert_int_equal(pthread_create(&poller, NULL, poll_in_race, NULL), 0);
	while (!__atomic_load_n(&bf.over, __ATOMIC_ACQUIRE)) {
		bf_put(10);
		sched_yield();
	}
	assert_int_equal(pthread_join(poller, NULL), 0);
	bf_stop();
	print_message(
		"  %" PRIu64 " frames, %" PRIu64 " missed\n", bf_look().received, bf_look().missed);
	assert_int_equal(bf_look().passed, bf.seen);
	assert_int_equal(weir_job_service_start(bf.service, NULL), 0);
	bf_end();
	__atomic_store_n(&bf.gate, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(workers[i], NULL), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BT_TEST(test_in_order),
		BT_TEST(test_gives_way),
		BT_TEST(test_reasons),
		BT_TEST(test_asleep),
		BT_TEST(test_full),
		BT_TEST(test_stopped),
		BT_TEST(test_exited),
		BT_TEST(test_shared),
		BT_TEST(test_refused),
		BT_TEST(test_race),
	};

	return ST_RUN("bridge/follower", tests);
}
