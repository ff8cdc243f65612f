/* SPDX-License-Identifier: BSD-3-Clause */

/* What a job is told to be, and is told later: keys, priorities, core groups, slices, deadlines. */

#include <sched.h>
#include <unistd.h>

#include "job_test.h"
#include "weir_em_timer.h"

#define MS UINT64_C(1000000)

static uint64_t nb_done, nb_inside, nb_most;

static void
reset(void)
{
	nb_done = nb_inside = nb_most = 0;
}

/* ---- keys ---- */

/* Others come meanwhile, as there are others, and cores for them. Not in a first slice, where the test's own core may be. */
static void
wait_until_found_busy(void)
{
	const uint64_t begun = weir_base_time_ns();

	while (jt_stats().nb_keys_busy == 0 && weir_base_time_ns() - begun < 60000 * MS)
		sched_yield();
}

static void
alone(void *in, void *out)
{
	for (int i = 0; i < 20; i++) {
		uint64_t nb = __atomic_add_fetch(&nb_inside, 1, __ATOMIC_SEQ_CST);

		if (nb > 1)
			jt_add(&nb_most, 1);
		/* a device may hand them out one after the other: then none is found busy */
		if (i == 1 && st_is_builtin())
			wait_until_found_busy();
		for (volatile int spin = 0; spin < 200; spin++)
			;
		jt_add(&nb_inside, -(uint64_t)1);
		if (i % 5 == 4)
			weir_job_sleep(10000);
		else
			weir_job_yield();
	}
	jt_add(&nb_done, 1);
}

static void
one_of_a_key_runs(void **state)
{
	struct weir_job_options options = {.flags = WEIR_JOB_KEY | WEIR_JOB_PRIORITY, .key = 0};
	uint8_t nb_priorities = st_is_builtin() ? 8 : 1;

	reset();
	jt_make(3);
	for (unsigned int i = 0; i < 200; i++) {
		options.priority = (uint8_t)(i % nb_priorities);
		jt_spawn(alone, NULL, 0, &options);
	}
	jt_finish();
	assert_int_equal(nb_done, 200);
	assert_int_equal(nb_most, 0);
	assert_true(jt_stats().nb_keys_busy > 0 || !st_is_builtin());
}

static uint64_t order[64];

static void
notes_order(void *in, void *out)
{
	order[__atomic_fetch_add(&nb_done, 1, __ATOMIC_SEQ_CST)] = *(const uint64_t *)in;
}

struct key_holder {
	struct weir_job_options *options;
	weir_job waiting;
};

/* Runs with a key, and spawns others with it, which have to wait. */
static void
holds_key(void *in, void *out)
{
	struct key_holder *holder = *(struct key_holder **)in;

	for (uint64_t i = 0; i < 20; i++) {
		weir_job job = jt_spawn(notes_order, &i, sizeof(i), holder->options);

		if (i == 7)
			holder->waiting = job;
	}
	assert_int_equal(nb_done, 0);
	weir_job_yield();
}

static void
keys_are_fair(void **state)
{
	struct weir_job_options options = {.flags = WEIR_JOB_KEY, .key = 12345};
	struct key_holder holder = {&options, WEIR_JOB_NONE}, *pointer = &holder;
	struct weir_job_info info;

	reset();
	jt_make(1);
	jt_spawn(holds_key, &pointer, sizeof(pointer), &options);
	assert_int_equal(weir_job_look(jt_service, holder.waiting, &info), 0);
	assert_true(info.has_key);
	assert_int_equal(info.key, 12345);
	/* it is cancelled where it waits for its key, and then does not run */
	assert_int_equal(weir_job_cancel(jt_service, holder.waiting), 0);
	jt_finish();
	assert_int_equal(nb_done, 19);
	for (uint64_t i = 0; i < 19; i++)
		assert_int_equal(order[i], i + (i >= 7));
	assert_int_equal(jt_stats().nb_cancelled, 1);
}

static uint64_t nb_holding, nb_ran;
static bool leave; /* atomic */

/* Stands still with its key, on another core than the test's. */
static void
holds_key_elsewhere(void *in, void *out)
{
	while (weir_em_core_id(weir_job_core()) == 0)
		weir_job_yield();
	jt_add(&nb_holding, 1);
	while (!__atomic_load_n(&leave, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void
runs(void *in, void *out)
{
	jt_add(&nb_ran, 1);
}

/* One that is seen to wait for its key; which of them comes to this core's port is up to the backend. */
static weir_job
spawn_until_one_waits(const struct weir_job_options *options, unsigned int *nb)
{
	for (*nb = 1; *nb <= 500; (*nb)++) {
		weir_job job = jt_spawn(runs, NULL, 0, options);
		struct weir_job_info info;

		jt_rounds(20);
		assert_int_equal(weir_job_look(jt_service, job, &info), 0);
		if (strcmp(info.waits_for, "key") == 0)
			return job;
	}
	fail_msg("no job came to where it waits for its key");
	return WEIR_JOB_NONE;
}

/* A job that is cancelled in the list of those that wait for a key ends without running, the others run. */
static void
cancelled_while_it_waits_for_its_key(void **state)
{
	const struct weir_job_options options = {.flags = WEIR_JOB_KEY | WEIR_JOB_LATER, .key = 99};
	unsigned int nb;
	weir_job job;

	reset();
	nb_holding = nb_ran = 0;
	__atomic_store_n(&leave, false, __ATOMIC_RELEASE);
	jt_make(2);
	jt_spawn(holds_key_elsewhere, NULL, 0, &options);
	jt_until(&nb_holding, 1, "a job on the other core");
	job = spawn_until_one_waits(&options, &nb);
	assert_int_equal(weir_job_cancel(jt_service, job), 0);
	assert_int_equal(weir_job_cancel(jt_service, job), -EALREADY);
	jt_rounds(20);
	assert_true(weir_job_is_alive(jt_service, job)); /* its turn is to come */
	assert_int_equal(nb_ran, 0);
	__atomic_store_n(&leave, true, __ATOMIC_RELEASE);
	jt_finish();
	assert_int_equal(nb_ran, nb - 1);
	assert_int_equal(jt_stats().nb_cancelled, 1);
	assert_int_equal(jt_stats().nb_finished, nb);
}

static void
other_keys_run(void *in, void *out)
{
	struct weir_job_options options = {.flags = WEIR_JOB_KEY};

	for (uint64_t i = 0; i < 50; i++) {
		options.key = i;
		jt_spawn(notes_order, &i, sizeof(i), &options);
	}
	assert_int_equal(nb_done, 49); /* at once, but for that with the spawner's own key */
}

static void
keys_do_not_meet(void **state)
{
	struct weir_job_options options = {.flags = WEIR_JOB_KEY, .key = 49};

	reset();
	jt_make(1);
	jt_spawn(other_keys_run, NULL, 0, &options);
	jt_finish();
	assert_int_equal(nb_done, 50);
}

/* ---- priorities and core groups ---- */

static void
priorities(void **state)
{
	struct weir_job_options options = {.flags = WEIR_JOB_PRIORITY | WEIR_JOB_LATER};
	struct weir_job_info info;
	weir_job jobs[16];

	reset();
	st_builtin_only();
	jt_make(1);
	for (uint64_t i = 0; i < 16; i++) {
		options.priority = (uint8_t)(7 - i / 2);
		jobs[i] = jt_spawn(notes_order, &i, sizeof(i), &options);
		assert_int_equal(weir_job_look(jt_service, jobs[i], &info), 0);
		assert_int_equal(info.priority, 7 - i / 2);
		assert_int_equal(info.state, WEIR_JOB_READY);
	}
	/* it is in its queue already, and goes to another one when it comes out of that */
	assert_int_equal(weir_job_set_priority(jt_service, jobs[15], 7), 0);
	assert_int_equal(weir_job_set_priority(jt_service, jobs[15], 8), -EINVAL);
	assert_int_equal(weir_job_look(jt_service, jobs[15], &info), 0);
	assert_int_equal(info.priority, 7);
	jt_finish();
	assert_int_equal(nb_done, 16);
	assert_int_equal(order[0], 14);
	assert_int_equal(order[15], 15);
	for (unsigned int i = 1; i < 15; i++)
		assert_int_equal(order[i] / 2, 7 - (i + 1) / 2);
	assert_int_equal(weir_job_set_priority(jt_service, jobs[15], 0), -ESTALE);
}

static uint64_t cores_seen;

static void
notes_cores(void *in, void *out)
{
	uint64_t nb = *(const uint64_t *)in;

	while (jt_read(&nb_inside) == nb && !weir_job_self_cancelled()) {
		__atomic_fetch_or(&cores_seen, UINT64_C(1) << weir_em_core_id(weir_job_core()),
			__ATOMIC_SEQ_CST);
		jt_add(&nb_done, 1);
		weir_job_yield();
	}
}

/* Until they have run for some time. */
static void
runs_for_a_while(void)
{
	uint64_t until = jt_read(&nb_done) + 2000, begun = weir_base_time_ns();

	while (jt_read(&nb_done) < until) {
		jt_rounds(1);
		sched_yield();
		if (weir_base_time_ns() - begun > 60000 * MS)
			fail_msg("they do not run: %ju", (uintmax_t)jt_read(&nb_done));
	}
}

static void
core_groups(void **state)
{
	struct weir_job_options options = {.flags = 0};
	weir_em_queue_group some, one;
	struct weir_job_info info;
	uint64_t zero = 0;
	weir_job jobs[8];

	reset();
	st_builtin_only();
	jt_make(4);
	some = weir_em_queue_group_create(et_em, "some", 0x6);
	one = weir_em_queue_group_create(et_em, "one", 0x8);
	assert_int_not_equal(some, WEIR_EM_NONE);
	options.core_group = some;
	cores_seen = 0;
	for (unsigned int i = 0; i < 8; i++)
		jobs[i] = jt_spawn(notes_cores, &zero, sizeof(zero), &options);
	runs_for_a_while();
	assert_int_equal(jt_read(&cores_seen) & ~UINT64_C(0x6), 0);
	/* the group's cores change */
	assert_int_equal(weir_em_queue_group_modify(et_em, et_core, some, 0x1), 0);
	__atomic_store_n(&cores_seen, 0, __ATOMIC_SEQ_CST);
	runs_for_a_while();
	assert_int_equal(jt_read(&cores_seen), 0x1);
	/* the job's group changes */
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(weir_job_set_core_group(jt_service, jobs[i], one), 0);
	assert_int_equal(weir_job_look(jt_service, jobs[0], &info), 0);
	assert_int_equal(info.core_group, one);
	jt_rounds(100); /* those that were running here */
	runs_for_a_while();
	__atomic_store_n(&cores_seen, 0, __ATOMIC_SEQ_CST);
	runs_for_a_while();
	assert_int_equal(jt_read(&cores_seen), 0x8);
	assert_int_equal(weir_job_set_core_group(jt_service, jobs[0], UINT64_C(1) << 56), -EINVAL);
	assert_int_equal(weir_em_queue_group_delete(et_em, some), -EBUSY); /* it has a queue */
	jt_add(&nb_inside, 1);
	jt_finish();
	assert_int_equal(weir_job_set_core_group(jt_service, jobs[0], one), -ESTALE);
}

/* A cancelled job of a group without cores ends when the group has one. The group is the service's as long as that is there. */
static void
group_without_cores(void **state)
{
	struct weir_job_options options = {.flags = 0};
	weir_em_queue_group group;
	uint64_t zero = 0;
	weir_job job;

	reset();
	st_builtin_only();
	jt_make(1);
	group = weir_em_queue_group_create(et_em, "empty", 0);
	assert_int_not_equal(group, WEIR_EM_NONE);
	options.core_group = group;
	options.name = "stranded";
	job = jt_spawn(notes_cores, &zero, sizeof(zero), &options);
	assert_int_equal(weir_job_cancel(jt_service, job), 0);
	st_log_clear();
	assert_int_equal(weir_job_service_stop(jt_service, et_core, MS), -ETIMEDOUT);
	assert_non_null(strstr(st_log_last(), "'stranded'"));
	assert_true(weir_job_is_alive(jt_service, job));
	assert_int_equal(weir_em_queue_group_modify(et_em, et_core, group, 1), 0);
	assert_int_equal(weir_job_service_stop(jt_service, et_core, 60000 * MS), 0);
	assert_int_equal(jt_stats().nb_cancelled, 1);
	assert_int_equal(nb_done, 0);
	assert_int_equal(weir_em_queue_group_delete(et_em, group), -EBUSY);
	assert_int_equal(weir_job_service_destroy(jt_service, et_core), 0);
	jt_service = NULL;
	assert_int_equal(weir_em_queue_group_delete(et_em, group), 0);
}

/* ---- slices, deadlines ---- */

static void
spins(void *in, void *out)
{
	uint64_t ns = *(const uint64_t *)in, begun = weir_base_time_ns();

	while (weir_base_time_ns() - begun < ns)
		if (weir_coro_maybe_yield())
			break;
	jt_add(&nb_done, 1);
}

/* Of the next slices of a job, so many, the mean. */
static uint64_t
mean_slice_ns(weir_job job, uint64_t nb)
{
	struct weir_job_info before, after;

	assert_int_equal(weir_job_look(jt_service, job, &before), 0);
	do {
		jt_rounds(1);
		assert_int_equal(weir_job_look(jt_service, job, &after), 0);
	} while (after.nb_slices < before.nb_slices + nb);
	return (after.ran_ns - before.ran_ns) / (after.nb_slices - before.nb_slices);
}

/* A busy machine makes them longer, never shorter. */
static void
slices(void **state)
{
	struct weir_job_options options = {.slice_ns = 4 * MS};
	uint64_t ns = 20 * MS, for_ever = UINT64_MAX, begun;
	weir_job job;

	reset();
	jt_make(1);
	job = jt_spawn(spins, &for_ever, sizeof(for_ever), &options);
	assert_true(mean_slice_ns(job, 5) >= 2 * MS);
	assert_int_equal(weir_job_set_slice(jt_service, job, 0), -EINVAL);
	assert_int_equal(weir_job_set_slice(jt_service, job, 10000), 0);
	begun = weir_base_time_ns();
	while (mean_slice_ns(job, 10) >= 2 * MS)
		if (weir_base_time_ns() - begun > 60000 * MS)
			fail_msg("slices are not shorter than before");
	assert_int_equal(weir_job_cancel(jt_service, job), 0);
	jt_finish();
	assert_int_equal(weir_job_set_slice(jt_service, job, 10000), -ESTALE);
	options.slice_ns = 10000000 * MS;
	job = jt_spawn(spins, &ns, sizeof(ns), &options);
	assert_false(weir_job_is_alive(jt_service, job)); /* in one slice */
}

static void
stands_still(void *in, void *out)
{
	usleep(2000);
}

static void
overruns_are_counted(void **state)
{
	struct weir_base_hist hist;

	reset();
	jt_make(1);
	jt_spawn(stands_still, NULL, 0, NULL);
	assert_int_equal(jt_stats().nb_overruns, 1);
	for (int i = 0; i < WEIR_JOB_HISTS; i++) {
		assert_int_equal(weir_job_hist(jt_service, (enum weir_job_hist)i, &hist), 0);
		/* it was run at once: never ready */
		assert_int_equal(hist.count, i == WEIR_JOB_HIST_READY ? 0 : 1);
		assert_string_not_equal(weir_job_hist_name((enum weir_job_hist)i), "?");
	}
	assert_int_equal(weir_job_hist(jt_service, WEIR_JOB_HISTS, &hist), -EINVAL);
	assert_int_equal(weir_job_hist(jt_service, WEIR_JOB_HIST_SLICE, &hist), 0);
	assert_true(weir_base_cycles_to_ns(hist.max) >= 2 * MS);
}

/* Not every one is told of, but one a second; each is counted once. */
static void
late_ones_are_told_seldom(const struct weir_job_options *options)
{
	uint64_t nb_late = jt_stats().nb_late, begun;

	/* where the machine let no second pass meanwhile */
	do {
		begun = weir_base_time_ns();
		st_log_clear();
		for (int i = 0; i < 10; i++)
			jt_spawn(stands_still, NULL, 0, options);
		nb_late += 10;
		assert_int_equal(jt_stats().nb_late, nb_late);
	} while (weir_base_time_ns() - begun >= 1000 * MS && nb_late < 1000);
	assert_in_range(st_log_count(), 0, 1);
}

static void
deadlines(void **state)
{
	struct weir_job_options options = {.name = "slow", .deadline_ns = 1};
	struct weir_job_info info;
	uint64_t nb_late;
	weir_job job;

	reset();
	jt_make(1);
	st_log_clear();
	jt_spawn(stands_still, NULL, 0, &options);
	assert_int_equal(jt_stats().nb_late, 1);
	assert_non_null(strstr(st_log_last(), "'slow'"));
	assert_non_null(strstr(st_log_last(), "deadline"));
	late_ones_are_told_seldom(&options);
	nb_late = jt_stats().nb_late;
	options.flags = WEIR_JOB_LATER;
	job = jt_spawn(stands_still, NULL, 0, &options);
	assert_int_equal(weir_job_look(jt_service, job, &info), 0);
	assert_true(info.late);
	assert_int_equal(info.deadline_ns, 1);
	jt_finish();
	assert_int_equal(jt_stats().nb_late, nb_late + 1);
	options.deadline_ns = 3600000 * MS;
	jt_spawn(stands_still, NULL, 0, &options);
	jt_finish();
	assert_int_equal(jt_stats().nb_late, nb_late + 1);
}

static struct weir_job_completion answer;
static weir_job jobs_to_cancel[4];

static void
sleeps_for_ever(void *in, void *out)
{
	weir_job_sleep(WEIR_EM_TIMEOUT_NS_MAX);
}

static void
waits_for_answer(void *in, void *out)
{
	weir_job_completion_wait(&answer, NULL);
	jt_add(&nb_done, 1);
}

static void
until_late(uint64_t nb)
{
	uint64_t begun = weir_base_time_ns();

	while (jt_stats().nb_late < nb && weir_base_time_ns() - begun < 60000 * MS)
		jt_rounds(1);
	assert_int_equal(jt_stats().nb_late, nb);
}

/* It is counted and told when the time is over, wherever the job is then; and not once more when it ends. */
static void
deadlines_pass_while_jobs_wait(void **state)
{
	/* long enough for the first slice to be over before, as a rule: this is about what comes after that */
	struct weir_job_options options = {.name = "patient", .deadline_ns = 5 * MS};
	weir_job job;

	reset();
	weir_job_completion_init(&answer);
	jt_make(1);
	st_log_clear();
	job = jt_spawn(waits_for_answer, NULL, 0, &options);
	until_late(1);
	assert_non_null(strstr(st_log_last(), "'patient'"));
	assert_true(weir_job_is_alive(jt_service, job));
	assert_int_equal(jt_stats().nb_slices, 1); /* it was not resumed for that */
	weir_job_complete(&answer);
	jt_finish();
	assert_int_equal(nb_done, 1);
	assert_int_equal(jt_stats().nb_late, 1);
	/* many at a time, and some that are cancelled */
	weir_job_completion_init(&answer);
	for (unsigned int i = 0; i < 200; i++)
		jobs_to_cancel[i % 4] = jt_spawn(sleeps_for_ever, NULL, 0, &options);
	until_late(201);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(weir_job_cancel(jt_service, jobs_to_cancel[i]), 0);
	assert_int_equal(weir_job_service_stop(jt_service, et_core, 60000 * MS), 0);
	assert_int_equal(jt_stats().nb_late, 201);
	/* one that ends in time */
	assert_int_equal(weir_job_service_start(jt_service, et_core), 0);
	options.deadline_ns = 3600000 * MS;
	job = jt_spawn(waits_for_answer, NULL, 0, &options);
	jt_rounds(10);
	weir_job_complete(&answer);
	jt_finish();
	assert_int_equal(jt_stats().nb_late, 201);
}

static void *
spawns_late(void *arg)
{
	weir_job_spawn(jt_service, sleeps_for_ever, NULL, 0, arg);
	return NULL;
}

/* Spawned by a thread that is no core. */
static void
deadlines_of_plain_threads(void **state)
{
	struct weir_job_options options = {.deadline_ns = 1};
	pthread_t thread;

	reset();
	jt_make(1);
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(pthread_create(&thread, NULL, spawns_late, &options), 0);
		pthread_join(thread, NULL);
		until_late(i);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JT_TEST(one_of_a_key_runs),
		JT_TEST(keys_are_fair),
		JT_TEST(cancelled_while_it_waits_for_its_key),
		JT_TEST(keys_do_not_meet),
		JT_TEST(priorities),
		JT_TEST(core_groups),
		JT_TEST(group_without_cores),
		JT_TEST(slices),
		JT_TEST(overruns_are_counted),
		JT_TEST(deadlines),
		JT_TEST(deadlines_pass_while_jobs_wait),
		JT_TEST(deadlines_of_plain_threads),
	};

	return ST_RUN("job-control", tests);
}
