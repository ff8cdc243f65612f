/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An empty job, from spawn to its end, on one core, in a receive function; beside a plain call, and beside a coroutine that is created, resumed and destroyed there.
 * All of them count on the stack that they run on.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>

#include "job_bench.h"

#define MOST_NS  200
#define NB_SIDES 3

/* What is measured, and where. */
struct spawner {
	struct weir_em *em;
	struct weir_em_core *core;
	struct weir_job_service *service;
	weir_em_object object;
	weir_em_queue queue;
	void (*repeat)(struct spawner *spawner, uint64_t nb);
	uint64_t nb;
};

static uint64_t nb_jobs, nb_coros, nb_calls, nb_refused;

static void
job(void *in, void *out)
{
	(void)in;
	(void)out;
	nb_jobs++;
}

static void
coro(void)
{
	nb_coros++;
}

static __attribute__((noinline)) void
call(void)
{
	nb_calls++;
	__asm__ volatile("" ::: "memory");
}

static void
repeat_jobs(struct spawner *spawner, uint64_t nb)
{
	for (uint64_t i = 0; i < nb; i++)
		if (weir_job_spawn(spawner->service, job, NULL, 0, NULL) == WEIR_JOB_NONE)
			nb_refused++;
}

static void
repeat_coros(struct spawner *spawner, uint64_t nb)
{
	(void)spawner;
	for (uint64_t i = 0; i < nb; i++) {
		struct weir_coro *one = weir_coro_create(coro);

		weir_coro_resume(one);
		if (weir_coro_has_exited(one))
			weir_coro_destroy(one);
	}
}

static void
repeat_calls(struct spawner *spawner, uint64_t nb)
{
	(void)spawner;
	for (uint64_t i = 0; i < nb; i++)
		call();
}

static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct spawner *spawner = context;

	spawner->repeat(spawner, spawner->nb);
}

/* A side's work is done in a receive function: one event, for thousands of them. */
static void
slice(struct spawner *spawner, void (*repeat)(struct spawner *spawner, uint64_t nb), uint64_t nb)
{
	static const struct weir_em_dispatch_options until_one = {.nb_events = 1, .burst = 1};
	struct rte_event event = weir_em_event_u64(0);

	spawner->repeat = repeat;
	spawner->nb = nb;
	if (weir_em_send(spawner->core, spawner->queue, &event, 1) == 1)
		weir_em_dispatch(spawner->core, &until_one);
}

static void
slice_jobs(void *arg, uint64_t nb)
{
	slice(arg, repeat_jobs, nb);
}

static void
slice_coros(void *arg, uint64_t nb)
{
	slice(arg, repeat_coros, nb);
}

static void
slice_calls(void *arg, uint64_t nb)
{
	slice(arg, repeat_calls, nb);
}

static int
make(struct spawner *spawner)
{
	const struct weir_em_config config = {.nb_queues = 64, .nb_objects = 8, .socket_id = -1};
	const struct weir_em_queue_config queue = {
		.name = "spawner", .type = WEIR_EM_QUEUE_PARALLEL};
	const struct weir_em_object_config object = {
		.name = "spawner", .context = spawner, .receive = receive};
	int rc;

	rc = weir_coro_init(
		JOBS_STACK_BYTES, 0, 0, 256, weir_base_ns_to_cycles(JOBS_SLICE_NS), 64, -1);
	if (rc < 0)
		return rc;
	spawner->em = weir_em_create("spawn", &config);
	if (spawner->em == NULL)
		return -rte_errno;
	spawner->core = weir_em_core_attach(spawner->em, 0);
	spawner->service = weir_job_service_create(spawner->em, NULL);
	if (spawner->core == NULL || spawner->service == NULL)
		return -rte_errno;
	rc = weir_job_service_start(spawner->service, spawner->core);
	spawner->object = weir_em_object_create(spawner->em, &object);
	spawner->queue = weir_em_queue_create(spawner->em, &queue);
	if (rc == 0)
		rc = weir_em_object_add_queue(spawner->em, spawner->object, spawner->queue);
	if (rc == 0)
		rc = weir_em_object_start(spawner->em, spawner->core, spawner->object, NULL);
	return rc;
}

static void
unmake(struct spawner *spawner)
{
	if (spawner->service != NULL) {
		weir_job_service_stop(spawner->service, spawner->core, JOBS_PATIENCE_NS);
		weir_job_service_destroy(spawner->service, spawner->core);
	}
	if (spawner->core != NULL) {
		weir_em_object_stop(spawner->em, spawner->core, spawner->object, NULL);
		weir_em_core_detach(spawner->core);
	}
	if (spawner->em != NULL)
		weir_em_destroy(spawner->em, NULL, NULL);
	weir_coro_cleanup();
}

/* All sides did their work as often as they were asked to, and the library counted the same. */
static bool
check(const struct spawner *spawner, struct bench_report *report, uint64_t total)
{
	struct weir_job_stats stats;

	weir_job_stats(spawner->service, &stats);
	if (nb_jobs == total && nb_coros == total && nb_calls == total && nb_refused == 0 &&
		stats.nb_finished == total && stats.nb_live == 0)
		return true;
	bench_report_failure(report, "spawn",
		"of %" PRIu64 " each, %" PRIu64 " jobs (%" PRIu64 " finished, %" PRIu64
		" refused), %" PRIu64 " coroutines and %" PRIu64 " calls came to their end",
		total, nb_jobs, stats.nb_finished, nb_refused, nb_coros, nb_calls);
	return false;
}

static void
measure(struct spawner *spawner, const struct bench_options *options, struct bench_report *report)
{
	const struct bench_side sides[NB_SIDES] = {
		{.name = "job", .slice = slice_jobs, .arg = spawner},
		{.name = "coroutine", .slice = slice_coros, .arg = spawner},
		{.name = "plain call", .slice = slice_calls, .arg = spawner},
	};
	struct bench_figure figures[NB_SIDES];
	struct bench_row row = {
		.name = "spawn",
		.objects = 1,
		.most_per_object = (double)weir_base_ns_to_cycles(MOST_NS),
	};
	uint64_t total;

	if (bench_compare(options, sides, NB_SIDES, 0, figures, &total) < 0) {
		bench_report_failure(report, "spawn", "not enough memory");
		return;
	}
	if (!check(spawner, report, total))
		return;
	report->peer = sides[1].name;
	bench_report_table(report, "cases",
		"An empty job, from spawn to its end, on one core; a coroutine that is created, "
		"resumed, destroyed; a plain call");
	row.ours = figures[0];
	row.theirs = figures[1];
	bench_report_row(report, &row);
	row.peer = sides[2].name;
	row.name = "spawn, plain call";
	row.theirs = figures[2];
	row.most_per_object = 0;
	bench_report_array(report, "other_peers");
	bench_report_row(report, &row);
}

void
jobs_spawn_run(const struct bench_options *options, struct bench_report *report)
{
	struct spawner spawner = {0};
	int rc = make(&spawner);

	report->work = report->object = "job";
	bench_report_array(report, "cases");
	if (rc < 0)
		bench_report_failure(report, "spawn", "%s", strerror(-rc));
	else
		measure(&spawner, options, report);
	unmake(&spawner);
}
