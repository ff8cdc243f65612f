/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>

#include "job_test.h"

#define PATIENCE_NS 60000000000

struct weir_job_service *jt_service;

static bool coroutines;

struct weir_em_config
jt_em_config(unsigned int nb_cores)
{
	return (struct weir_em_config){
		.nb_cores = nb_cores, .nb_producers = 1, .nb_queues = 64, .nb_reserved = 64};
}

void
jt_make_of(struct weir_em_config em, struct weir_job_service_config config, size_t max_coroutines)
{
	assert_int_equal(weir_coro_init(32768, 256, 256, max_coroutines,
				 weir_base_ns_to_cycles(25000), max_coroutines < 64 ? 0 : 32, -1),
		0);
	coroutines = true;
	et_make(em);
	jt_service = weir_job_service_create(et_em, &config);
	if (jt_service == NULL)
		fail_msg("no service: %s: %s", rte_strerror(rte_errno), st_log_last());
	if (em.nb_cores > 1)
		et_workers_begin(em.nb_cores - 1);
	assert_int_equal(weir_job_service_start(jt_service, et_core), 0);
}

void
jt_make(unsigned int nb_cores)
{
	jt_make_of(jt_em_config(nb_cores), (struct weir_job_service_config){.max_jobs = JT_STACKS},
		JT_STACKS);
}

static void
check_nothing_is_left(void)
{
	struct weir_job_stats stats = jt_stats();
	struct weir_coro_class_stats coro;

	assert_int_equal(stats.nb_live, 0);
	assert_int_equal(stats.nb_spawned, stats.nb_finished + stats.nb_cancelled);
	assert_int_equal(weir_coro_class_look(0, &coro), 0);
	assert_int_equal(coro.live, 0);
	for (int i = 0; i < WEIR_CORO_MISUSE_COUNT; i++)
		assert_int_equal(weir_coro_misuse((enum weir_coro_misuse)i), 0);
}

int
jt_teardown(void **state)
{
	int rc = 0;

	if (jt_service != NULL) {
		rc = weir_job_service_stop(jt_service, et_core, PATIENCE_NS);
		if (rc == 0 || rc == -EINVAL) {
			check_nothing_is_left();
			rc = weir_job_service_destroy(jt_service, et_core);
		}
	}
	jt_service = NULL;
	if (rc == 0)
		rc = et_teardown(state);
	if (coroutines)
		weir_coro_cleanup();
	coroutines = false;
	return rc;
}

struct weir_job_stats
jt_stats(void)
{
	struct weir_job_stats stats;

	weir_job_stats(jt_service, &stats);
	return stats;
}

void
jt_rounds(unsigned int nb)
{
	const struct weir_em_dispatch_options options = {.nb_rounds = nb};

	weir_em_dispatch(et_core, &options);
}

static bool
show(void *arg, const struct weir_job_info *info)
{
	print_message("  job %jx '%s': %s %s, core %u, %ju slices\n", (uintmax_t)info->job,
		info->name, weir_job_state_name(info->state), info->waits_for, info->core,
		(uintmax_t)info->nb_slices);
	return true;
}

static void
patience(uint64_t begun, const char *what)
{
	sched_yield();
	if (weir_base_time_ns() - begun < PATIENCE_NS)
		return;
	weir_job_foreach(jt_service, show, NULL);
	weir_sched_dump(weir_em_sched(et_em), stderr);
	fail_msg("%s: never", what);
}

void
jt_finish(void)
{
	uint64_t begun = weir_base_time_ns();

	while (jt_stats().nb_live > 0) {
		jt_rounds(1);
		patience(begun, "all jobs end");
	}
}

void
jt_until(const uint64_t *value, uint64_t wanted, const char *what)
{
	uint64_t begun = weir_base_time_ns();

	while (jt_read(value) != wanted) {
		jt_rounds(1);
		patience(begun, what);
	}
}

weir_job
jt_spawn(weir_job_fn_t fn, const void *in, size_t size, const struct weir_job_options *options)
{
	weir_job job = weir_job_spawn(jt_service, fn, in, size, options);

	if (job == WEIR_JOB_NONE)
		fail_msg("not spawned: %s: %s", rte_strerror(rte_errno), st_log_last());
	return job;
}
