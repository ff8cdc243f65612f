/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs and threads wait for a time, for each other, for groups; until they are cancelled. */

#include <sched.h>

#include "job_private.h"

#include "wait_test.h"

/* ---- sleep ---- */

static void
sleeps(void *in, void *out)
{
	uint64_t ns = *(const uint64_t *)in, begun = weir_base_time_ns();

	assert_int_equal(weir_job_sleep(ns), 0);
	assert_true(weir_base_time_ns() - begun >= ns);
	jt_add(&nb_done, 1);
}

static void
sleep_test(void **state)
{
	reset();
	jt_make(1);
	for (uint64_t i = 0; i < 500; i++) {
		uint64_t ns = i % 7 == 0 ? 0 : i * 10000;

		jt_spawn(sleeps, &ns, sizeof(ns), NULL);
	}
	jt_finish();
	assert_int_equal(nb_done, 500);
}

static void
sleeps_long(void *in, void *out)
{
	assert_int_equal(weir_job_sleep(WEIR_EM_TIMEOUT_NS_MAX + 1), -EINVAL);
	result = weir_job_sleep(WEIR_EM_TIMEOUT_NS_MAX);
	assert_true(weir_job_self_cancelled());
	assert_int_equal(weir_job_sleep(1), -ECANCELED);
	assert_int_equal(weir_job_yield(), -ECANCELED);
}

static void
sleep_is_cancelled(void **state)
{
	weir_job job;

	reset();
	jt_make(1);
	job = jt_spawn(sleeps_long, NULL, 0, NULL);
	jt_rounds(10);
	assert_int_equal(result, 1);
	weir_job_cancel(jt_service, job);
	jt_finish();
	assert_int_equal(result, -ECANCELED);
}

/* ---- other jobs ---- */

static void
joins(void *in, void *out)
{
	int rc = weir_job_join(jt_service, *(const weir_job *)in, NULL);

	assert_int_equal(rc, 0);
	assert_false(weir_job_is_alive(jt_service, *(const weir_job *)in));
	jt_add(&nb_done, 1);
}

static void
join_test(void **state)
{
	weir_job job;

	reset();
	jt_make(1);
	job = spawn_wait(NULL);
	for (int i = 0; i < 10; i++)
		jt_spawn(joins, &job, sizeof(job), NULL);
	jt_rounds(100);
	assert_int_equal(nb_done, 0);
	weir_job_complete(&completion);
	jt_finish();
	assert_int_equal(nb_done, 11);
	jt_spawn(joins, &job, sizeof(job), NULL); /* it has ended long ago */
	assert_int_equal(nb_done, 12);
}

static void
joins_itself(void *in, void *out)
{
	assert_int_equal(weir_job_join(jt_service, weir_job_self(), NULL), -EDEADLK);
	jt_add(&nb_done, 1);
}

struct join {
	weir_job job;
	struct weir_job_wait how;
};

static void
joins_for_a_time(void *in, void *out)
{
	const struct join *join = in;

	result = weir_job_join(jt_service, join->job, &join->how);
	jt_add(&nb_done, 1);
}

static void
join_ends_early(void **state)
{
	struct join join = {.how = {.flags = WEIR_JOB_TIMEOUT, .timeout_ns = MS}};
	weir_job job;

	reset();
	jt_make(1);
	jt_spawn(joins_itself, NULL, 0, NULL);
	assert_int_equal(nb_done, 1);
	join.job = spawn_wait(NULL);
	jt_spawn(joins_for_a_time, &join, sizeof(join), NULL);
	jt_until(&nb_done, 2, "the timeout");
	assert_int_equal(result, -ETIMEDOUT);
	join.how.flags = 0;
	job = jt_spawn(joins_for_a_time, &join, sizeof(join), NULL);
	assert_int_equal(weir_job_cancel(jt_service, job), 0);
	jt_until(&nb_done, 3, "the cancellation");
	assert_int_equal(result, -ECANCELED);
	/* a core may not, and there is no such job */
	assert_int_equal(weir_job_join(jt_service, join.job, NULL), -EDEADLK);
	assert_int_equal(weir_job_join(jt_service, WEIR_JOB_NONE, NULL), -EINVAL);
	assert_int_equal(weir_job_join(jt_service, UINT64_MAX, NULL), -EINVAL);
	assert_int_equal(weir_job_join(jt_service, join.job + (1u << 24), NULL), -EINVAL);
	assert_int_equal(weir_job_join(NULL, join.job, NULL), -EINVAL);
	weir_job_complete(&completion);
}

static void *
thread_joins(void *arg)
{
	const weir_job *job = arg;

	result = weir_job_join(jt_service, *job, NULL);
	jt_add(&nb_done, 1);
	return NULL;
}

/* Somebody is in the list of those who wait for it. */
static void
until_joined(weir_job handle)
{
	const uint64_t begun = weir_base_time_ns();
	struct job *job = &jt_service->jobs[handle & 0xffffff];
	bool joined = false;

	while (!joined && weir_base_time_ns() - begun < 60000 * MS) {
		job_lock(&job->joiners.lock);
		joined = job->joiners.nb > 0;
		job_unlock(&job->joiners.lock);
		sched_yield();
	}
	assert_true(joined);
}

static void
threads_join(void **state)
{
	pthread_t thread;
	weir_job job;

	reset();
	jt_make(1);
	job = spawn_wait(NULL);
	assert_int_equal(pthread_create(&thread, NULL, thread_joins, &job), 0);
	until_joined(job);
	assert_int_equal(jt_read(&nb_done), 0);
	weir_job_complete(&completion);
	jt_until(&nb_done, 2, "both");
	pthread_join(thread, NULL);
	assert_int_equal(result, 0);
}

/* ---- groups ---- */

static void
waits_for_group(void *in, void *out)
{
	struct weir_job_group *group = *(struct weir_job_group **)in;

	result = weir_job_group_wait(group, NULL);
	jt_add(&nb_done, 1);
}

static void
group_test(void **state)
{
	struct weir_job_group group, *pointer = &group;
	struct weir_job_options options = {.group = &group};
	struct weir_job_completion completions[10] = {0};
	int results[10];

	reset();
	jt_make(1);
	weir_job_group_init(&group);
	assert_int_equal(weir_job_group_wait(&group, NULL), 0); /* none */
	for (int i = 0; i < 10; i++) {
		struct wait wait = {&completions[i], NULL, &results[i]};

		jt_spawn(waits, &wait, sizeof(wait), &options);
	}
	assert_int_equal(weir_job_group_nb(&group), 10);
	for (int i = 0; i < 3; i++)
		jt_spawn(waits_for_group, &pointer, sizeof(pointer), NULL);
	for (int i = 0; i < 9; i++)
		weir_job_complete(&completions[i]);
	jt_until(&nb_done, 9, "nine jobs end");
	jt_rounds(100);
	assert_int_equal(weir_job_group_nb(&group), 1);
	assert_int_equal(nb_done, 9);
	weir_job_complete(&completions[9]);
	jt_finish();
	assert_int_equal(nb_done, 13);
	assert_int_equal(result, 0);
	assert_int_equal(weir_job_group_nb(&group), 0);
	assert_int_equal(weir_job_group_nb(NULL), 0);
	assert_int_equal(weir_job_group_wait(NULL, NULL), -EINVAL);
}

static void
group_is_cancelled(void **state)
{
	struct weir_job_group group, other;
	struct weir_job_options options = {.group = &group};
	uint64_t ns = 1000000 * MS;

	reset();
	jt_make(1);
	weir_job_group_init(&group);
	weir_job_group_init(&other);
	for (int i = 0; i < 10; i++)
		jt_spawn(sleeps_long, &ns, sizeof(ns), &options);
	options.group = &other;
	spawn_wait(NULL);
	assert_int_equal(weir_job_group_cancel(jt_service, &other), 0);
	assert_int_equal(weir_job_group_cancel(jt_service, &group), 10);
	assert_int_equal(weir_job_group_cancel(jt_service, &group), 0);
	weir_job_complete(&completion);
	jt_finish();
	assert_int_equal(jt_stats().nb_cancelled, 10);
	assert_int_equal(jt_stats().nb_finished, 1);
	assert_int_equal(weir_job_group_cancel(NULL, &group), 0);
}

static void
waits_for_own_group(void *in, void *out)
{
	const struct weir_job_wait how = {.flags = WEIR_JOB_TIMEOUT, .timeout_ns = 1000 * MS};
	struct weir_job_group *group = *(struct weir_job_group **)in;

	assert_int_equal(weir_job_group_wait(group, &how), -EDEADLK);
	assert_int_equal(weir_job_group_wait(group, NULL), -EDEADLK);
	jt_add(&nb_done, 1);
}

/* One of a group would wait for itself. */
static void
not_for_its_own_group(void **state)
{
	struct weir_job_group group, *pointer = &group;

	reset();
	jt_make(1);
	weir_job_group_init(&group);
	jt_spawn(waits_for_own_group, &pointer, sizeof(pointer),
		&(struct weir_job_options){.group = &group});
	jt_finish();
	assert_int_equal(nb_done, 1);
	assert_int_equal(weir_job_group_nb(&group), 0);
}

/* ---- no credits ---- */

#define SLEEPERS 500

static void
goes_on(void *in, void *out)
{
	assert_int_equal(weir_job_completion_wait(*(struct weir_job_completion **)in, NULL), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(weir_job_yield(), 0);
	jt_add(&nb_done, 1);
}

static void
nothing_is_received(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
}

/* Fill the scheduler with events for a core group that has no cores. @return how many */
static unsigned int
fill_up(weir_em_queue queue)
{
	unsigned int nb = 0;

	for (struct rte_event event; nb < 1000000; nb++) {
		event = weir_em_event_u64(nb);
		if (weir_em_send(et_core, queue, &event, 1) == 0)
			break;
	}
	return nb;
}

static weir_em_queue stuck;

/* There is room for 1024 events, and a queue that nobody takes any from. */
static void
make_with_stuck_queue(unsigned int nb_cores)
{
	struct weir_em_config em = jt_em_config(nb_cores);
	weir_em_queue_group nobody;
	weir_em_object object;

	em.nb_events = 1024;
	jt_make_of(em, (struct weir_job_service_config){.max_jobs = JT_STACKS}, JT_STACKS);
	nobody = weir_em_queue_group_create(et_em, "nobody", 0);
	assert_int_not_equal(nobody, WEIR_EM_NONE);
	stuck = weir_em_queue_create(
		et_em, &(struct weir_em_queue_config){.name = "stuck", .group = nobody});
	object = et_object("stuck", nothing_is_received, NULL);
	assert_int_equal(weir_em_object_add_queue(et_em, object, stuck), 0);
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
}

static void
no_credit_is_needed(void **state)
{
	struct weir_job_completion completions[SLEEPERS] = {0}, *pointer;

	reset();
	st_builtin_only(); /* the device would not let cores be taken away from queues, or has no room */
	make_with_stuck_queue(1);
	for (unsigned int i = 0; i < SLEEPERS; i++) {
		pointer = &completions[i];
		jt_spawn(goes_on, &pointer, sizeof(pointer), NULL);
	}
	assert_true(fill_up(stuck) >= 900);
	for (unsigned int i = 0; i < SLEEPERS; i++)
		assert_int_equal(weir_job_complete(&completions[i]), 0);
	jt_finish();
	assert_int_equal(nb_done, SLEEPERS);
	assert_true(jt_stats().nb_unpaid > 0);
	/* and new jobs */
	for (unsigned int i = 0; i < 10; i++) {
		pointer = &completions[i];
		jt_spawn(goes_on, &pointer, sizeof(pointer), NULL);
	}
	jt_finish();
	assert_int_equal(nb_done, SLEEPERS + 10);
}

static bool circle_over; /* atomic */

/* They stay inside, however many are received. */
static void
goes_round(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	for (uint16_t i = 0; i < nb && !__atomic_load_n(&circle_over, __ATOMIC_ACQUIRE); i++)
		assert_int_equal(weir_em_forward(core, queue, &events[i]), 0);
}

/* Whatever the backend, and while it has work: no new event is taken, from before the first wake-up until after the last. */
static void
no_credit_while_events_circulate(void **state)
{
	struct weir_job_completion completions[SLEEPERS] = {0}, *pointer;
	weir_em_queue circle;

	reset();
	__atomic_store_n(&circle_over, false, __ATOMIC_RELEASE);
	jt_make(1);
	circle = et_serve("circle", WEIR_EM_QUEUE_ATOMIC, goes_round, NULL);
	for (unsigned int i = 0; i < SLEEPERS; i++) {
		pointer = &completions[i];
		jt_spawn(goes_on, &pointer, sizeof(pointer), NULL);
	}
	assert_int_equal(jt_stats().nb_waits, SLEEPERS);
	assert_true(fill_up(circle) > 0);
	for (unsigned int i = 0; i < SLEEPERS; i++)
		assert_int_equal(weir_job_complete(&completions[i]), 0);
	jt_finish();
	assert_int_equal(nb_done, SLEEPERS);
	assert_int_equal(fill_up(circle), 0); /* it is full still */
	/* no slice but the first was with an event */
	assert_int_equal(jt_stats().nb_unpaid, jt_stats().nb_slices - SLEEPERS);
	assert_int_equal(jt_stats().nb_forwarded, 0);
	__atomic_store_n(&circle_over, true, __ATOMIC_RELEASE);
	et_run();
}

static weir_em_queue told;

/* No new event is taken: in place of its own it can send one. */
static void
tells(void *in, void *out)
{
	const struct rte_event event = weir_em_event_u64(*(const uint64_t *)in);
	struct rte_event new = event;

	assert_int_equal(weir_em_send(weir_job_core(), told, &new, 1), 0);
	assert_int_equal(weir_job_send(told, &event), 0);
	assert_int_equal(weir_job_send(told, &event), -ENOSPC);
	jt_add(&nb_done, 1);
	assert_int_equal(weir_job_yield(), 0); /* it goes on without one */
	jt_add(&nb_done, 1);
}

/* What jobs send by their own events' credits is taken where nothing else is. */
static void
no_credit_but_their_own(void **state)
{
	static struct et_sink sink;
	const uint64_t number = 7;

	reset();
	st_builtin_only();
	make_with_stuck_queue(1);
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 0);
	told = sink.queue;
	jt_spawn(tells, &number, sizeof(number),
		&(struct weir_job_options){.flags = WEIR_JOB_LATER});
	assert_true(fill_up(stuck) >= 900);
	jt_finish();
	et_run();
	assert_int_equal(nb_done, 2);
	assert_int_equal(sink.nb, 1);
	assert_int_equal(sink.values[0], number);
	assert_int_equal(weir_job_send(told, &(struct rte_event){.event = 0}), -EPERM);
}

static uint64_t cores_seen;

static void
notes_cores(void *in, void *out)
{
	assert_int_equal(weir_job_completion_wait(*(struct weir_job_completion **)in, NULL), 0);
	for (int i = 0; i < 20; i++) {
		__atomic_fetch_or(&cores_seen, UINT64_C(1) << weir_em_core_id(weir_job_core()),
			__ATOMIC_SEQ_CST);
		assert_int_equal(weir_job_yield(), 0);
	}
	jt_add(&nb_done, 1);
}

/* Who gets no event runs without, but on the cores of its group. */
static void
no_credit_but_a_group(void **state)
{
	struct weir_job_completion completions[SLEEPERS] = {0}, *pointer;
	struct weir_job_options options = {0};

	reset();
	cores_seen = 0;
	st_builtin_only();
	make_with_stuck_queue(2);
	options.core_group = weir_em_queue_group_create(et_em, "second", 2);
	for (unsigned int i = 0; i < SLEEPERS; i++) {
		pointer = &completions[i];
		jt_spawn(notes_cores, &pointer, sizeof(pointer), &options);
	}
	while (jt_stats().nb_waits < SLEEPERS)
		jt_rounds(10);
	/* all that the other core's port may not keep, a quarter of the credits that are not reserved */
	assert_true(fill_up(stuck) >= (1024 - jt_em_config(2).nb_reserved) * 3 / 4);
	for (unsigned int i = 0; i < SLEEPERS; i++)
		assert_int_equal(weir_job_complete(&completions[i]), 0);
	jt_finish();
	assert_int_equal(nb_done, SLEEPERS);
	assert_int_equal(cores_seen, 2);
	assert_true(jt_stats().nb_unpaid > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JT_TEST(sleep_test),
		JT_TEST(sleep_is_cancelled),
		JT_TEST(join_test),
		JT_TEST(join_ends_early),
		JT_TEST(threads_join),
		JT_TEST(group_test),
		JT_TEST(group_is_cancelled),
		JT_TEST(not_for_its_own_group),
		JT_TEST(no_credit_is_needed),
		JT_TEST(no_credit_while_events_circulate),
		JT_TEST(no_credit_but_their_own),
		JT_TEST(no_credit_but_a_group),
	};

	return ST_RUN("job-join", tests);
}
