/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Very many jobs asleep at once: what each takes of memory, how long it takes until all of them sleep, and how late they go on. They are to
 * wake at times spread evenly over a second. Beside them some kernel threads that sleep likewise, on the same CPUs: as many as a machine may be
 * asked for.
 */

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "job_bench.h"

#define NB_JOBS     100000
#define NB_THREADS  1000
#define STACK_BYTES ((size_t)8 << 10)
#define SPREAD_NS   UINT64_C(1000000000)
#define AHEAD_NS    UINT64_C(200000000) /* all must sleep so long before the first one wakes */
#define TRIES       6

/* Who sleeps, and until when. */
struct sleepers {
	struct jobs_stand *stand;
	uint64_t nb;
	uint64_t resident; /* bytes of memory before there was anything of this */
	uint64_t first_ns; /* when the first one is to wake */
	uint64_t nb_woken; /* any thread */
	uint64_t nb_early; /* likewise */
};

struct sleep_figures {
	uint64_t nb, nb_asleep;
	double spawn_ms;               /* until all slept */
	double bytes;                  /* of memory, each */
	uint64_t p50, p99, p999, most; /* lateness, ns */
};

struct input {
	struct sleepers *sleepers;
	uint64_t number;
};

/* A time for each, in no order. */
static uint64_t
due_ns(const struct sleepers *sleepers, uint64_t number)
{
	uint64_t state = number;

	return sleepers->first_ns + bench_random(&state) % SPREAD_NS;
}

static void
note(struct sleepers *sleepers, struct weir_base_hist *lateness, uint64_t due, uint64_t now)
{
	weir_base_hist_add(lateness, now < due ? 0 : now - due);
	__atomic_fetch_add(&sleepers->nb_woken, 1, __ATOMIC_RELEASE);
}

static void
sleep_job(void *in, void *out)
{
	const struct input *input = in;
	struct sleepers *sleepers = input->sleepers;
	uint64_t due = due_ns(sleepers, input->number), now = weir_base_time_ns();
	uint64_t begun = weir_base_cycles(), cycles;

	(void)out;
	if (due <= now || weir_job_sleep(due - now) < 0)
		return;
	/* by the clock that jobs sleep by: the kernel's, which may be adjusted, goes some millionths faster or slower */
	cycles = weir_base_cycles() - begun;
	if (cycles < weir_base_ns_to_cycles(due - now))
		__atomic_fetch_add(&sleepers->nb_early, 1, __ATOMIC_RELAXED);
	now = weir_base_time_ns();
	note(sleepers, &sleepers->stand->cores[weir_em_core_id(weir_job_core())].waits, due, now);
}

static uint64_t
resident_bytes(void)
{
	unsigned long total = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file != NULL && fscanf(file, "%lu %lu", &total, &resident) != 2)
		resident = 0;
	if (file != NULL)
		fclose(file);
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool
count_asleep(void *arg, const struct weir_job_info *info)
{
	*(uint64_t *)arg +=
		info->state == WEIR_JOB_WAITING && strcmp(info->waits_for, "sleep") == 0;
	return true;
}

static uint64_t
nb_asleep(struct weir_job_service *service)
{
	uint64_t nb = 0;

	weir_job_foreach(service, count_asleep, &nb);
	return nb;
}

static void
sum_up(const struct weir_base_hist *hist, struct sleep_figures *figures)
{
	figures->p50 = weir_base_hist_percentile(hist, 50);
	figures->p99 = weir_base_hist_percentile(hist, 99);
	figures->p999 = weir_base_hist_percentile(hist, 99.9);
	figures->most = hist->max;
}

/* All of them begin; they are to sleep for so long at least, until all of them do. */
static bool
put_to_sleep(struct sleepers *sleepers, uint64_t ahead_ns, struct sleep_figures *figures)
{
	struct weir_job_service *service = sleepers->stand->service;
	uint64_t begun = weir_base_time_ns();
	struct input input = {.sleepers = sleepers};

	sleepers->first_ns = begun + ahead_ns;
	sleepers->nb_woken = sleepers->nb_early = 0;
	for (unsigned int i = 0; i < sleepers->stand->nb_cores; i++)
		memset(&sleepers->stand->cores[i].waits, 0, sizeof(struct weir_base_hist));
	for (input.number = 0; input.number < sleepers->nb; input.number++)
		if (weir_job_spawn(service, sleep_job, &input, sizeof(input), NULL) ==
			WEIR_JOB_NONE)
			return false;
	do {
		usleep(1000);
		figures->nb_asleep = nb_asleep(service);
	} while (figures->nb_asleep < sleepers->nb && weir_base_time_ns() < sleepers->first_ns);
	figures->spawn_ms = (double)(weir_base_time_ns() - begun) / 1e6;
	figures->bytes =
		((double)resident_bytes() - (double)sleepers->resident) / (double)sleepers->nb;
	return true;
}

/* Until all have ended. */
static bool
wait_for_all(struct sleepers *sleepers)
{
	uint64_t patience = weir_base_time_ns() + JOBS_PATIENCE_NS;
	struct weir_job_stats stats;

	do {
		usleep(1000);
		weir_job_stats(sleepers->stand->service, &stats);
	} while (stats.nb_live > 0 && weir_base_time_ns() < patience);
	return stats.nb_live == 0;
}

/* A slower machine needs more time until all of them sleep. */
static bool
run_jobs(struct sleepers *sleepers, struct bench_report *report, struct sleep_figures *figures)
{
	static struct weir_base_hist all;
	uint64_t ahead_ns = AHEAD_NS;

	figures->nb = sleepers->nb;
	for (unsigned int i = 0; i < TRIES; i++, ahead_ns *= 3) {
		if (!put_to_sleep(sleepers, ahead_ns, figures)) {
			bench_report_failure(report, "sleepers", "a job could not be begun");
			return false;
		}
		if (!wait_for_all(sleepers)) {
			bench_report_failure(report, "sleepers", "some did not wake");
			return false;
		}
		if (figures->nb_asleep == sleepers->nb)
			break;
	}
	if (figures->nb_asleep != sleepers->nb || sleepers->nb_woken != sleepers->nb ||
		sleepers->nb_early > 0) {
		bench_report_failure(report, "sleepers",
			"of %" PRIu64 " jobs %" PRIu64 " slept at once, %" PRIu64 " woke, %" PRIu64
			" of them too early",
			sleepers->nb, figures->nb_asleep, sleepers->nb_woken, sleepers->nb_early);
		return false;
	}
	memset(&all, 0, sizeof(all));
	for (unsigned int i = 0; i < sleepers->stand->nb_cores; i++)
		weir_base_hist_merge(&all, &sleepers->stand->cores[i].waits);
	sum_up(&all, figures);
	return true;
}

/* The peer: threads. */

struct thread {
	struct sleepers *sleepers;
	uint64_t number, late_ns;
	pthread_t id;
	bool started;
};

static void *
sleep_thread(void *arg)
{
	struct thread *thread = arg;
	uint64_t due = due_ns(thread->sleepers, thread->number);
	struct timespec time = {
		.tv_sec = (time_t)(due / 1000000000), .tv_nsec = (long)(due % 1000000000)};
	uint64_t now;

	__atomic_fetch_add(&thread->sleepers->nb_woken, 1, __ATOMIC_RELEASE);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
	now = weir_base_time_ns();
	thread->late_ns = now < due ? 0 : now - due;
	return NULL;
}

static void
run_threads(struct sleepers *sleepers, struct sleep_figures *figures)
{
	static struct weir_base_hist all;
	struct thread *threads = calloc(sleepers->nb, sizeof(*threads));
	uint64_t begun = weir_base_time_ns(), before = resident_bytes();
	pthread_attr_t attr;

	memset(&all, 0, sizeof(all));
	figures->nb = 0;
	sleepers->first_ns = begun + AHEAD_NS;
	sleepers->nb_woken = 0;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)64 << 10);
	for (uint64_t i = 0; threads != NULL && i < sleepers->nb; i++) {
		threads[i].sleepers = sleepers;
		threads[i].number = i;
		threads[i].started =
			pthread_create(&threads[i].id, &attr, sleep_thread, &threads[i]) == 0;
		figures->nb += threads[i].started;
	}
	pthread_attr_destroy(&attr);
	while (__atomic_load_n(&sleepers->nb_woken, __ATOMIC_ACQUIRE) < figures->nb)
		usleep(100);
	figures->spawn_ms = (double)(weir_base_time_ns() - begun) / 1e6;
	figures->bytes = (double)(resident_bytes() - before) / (double)RTE_MAX(figures->nb, 1u);
	for (uint64_t i = 0; threads != NULL && i < sleepers->nb; i++) {
		if (!threads[i].started)
			continue;
		pthread_join(threads[i].id, NULL);
		weir_base_hist_add(&all, threads[i].late_ns);
	}
	sum_up(&all, figures);
	free(threads);
}

static void
say(struct bench_report *report, const char *name, const struct sleep_figures *f)
{
	bench_say(report, "  %-14s%10" PRIu64 "%12.1f%12.0f%12.1f%10.1f%10.1f%10.1f\n", name, f->nb,
		f->spawn_ms, f->bytes, (double)f->p50 / 1e3, (double)f->p99 / 1e3,
		(double)f->p999 / 1e3, (double)f->most / 1e3);
}

static json_t *
figures_json(const struct sleep_figures *f)
{
	return json_pack("{s:I, s:f, s:f, s:f, s:I, s:I, s:I, s:I}", "sleepers", (json_int_t)f->nb,
		"all_asleep_ms", f->spawn_ms, "ns_each",
		f->spawn_ms * 1e6 / (double)RTE_MAX(f->nb, 1u), "bytes_each", f->bytes,
		"late_p50_ns", (json_int_t)f->p50, "late_p99_ns", (json_int_t)f->p99,
		"late_p999_ns", (json_int_t)f->p999, "late_max_ns", (json_int_t)f->most);
}

static void
tell(struct bench_report *report, const struct sleep_figures *jobs,
	const struct sleep_figures *threads)
{
	json_t *peer = figures_json(threads);

	bench_say(report,
		"\nsleepers: asleep at once, to wake at times spread over a second; memory that is "
		"resident (the kernel's own not included), lateness\n\n");
	bench_say(report, "  %-14s%10s%12s%12s%12s%10s%10s%10s\n", "", "asleep", "all after ms",
		"bytes each", "p50 us", "p99", "p99.9", "longest");
	say(report, "jobs", jobs);
	say(report, "kernel threads", threads);
	bench_say(report, "  %u asleep at once; to reach: %u  reached\n",
		(unsigned int)jobs->nb_asleep, NB_JOBS);
	json_object_set_new(peer, "name", json_string("kernel threads"));
	bench_report_array(report, "sleepers");
	json_array_append_new(
		report->cases, json_pack("{s:s, s:o, s:o, s:i, s:b}", "name", "sleepers", "ours",
				       figures_json(jobs), "peer", peer, "target", NB_JOBS,
				       "reached", jobs->nb_asleep >= NB_JOBS));
	report->nb_rows++;
	report->nb_targets++;
	report->nb_missed += jobs->nb_asleep < NB_JOBS;
}

void
jobs_sleepers_run(const struct bench_options *options, struct bench_report *report)
{
	const struct jobs_stand_config config = {
		.backend = "builtin",
		.types = 1u << WEIR_EM_QUEUE_PARALLEL,
		.priorities = 1,
		.max_jobs = NB_JOBS,
		.stack_bytes = STACK_BYTES,
		.in_bytes = sizeof(struct input),
	};
	struct sleep_figures jobs = {0}, threads = {0};
	struct jobs_stand stand;
	struct sleepers sleepers = {.stand = &stand, .nb = NB_JOBS};
	int rc;
	bool ok;

	(void)options;
	bench_report_array(report, "sleepers");
	sleepers.resident = resident_bytes();
	rc = jobs_stand_create(&stand, &config);
	if (rc < 0) {
		bench_report_failure(report, "sleepers", "%s", strerror(-rc));
		return;
	}
	stand.arg = &sleepers;
	ok = run_jobs(&sleepers, report, &jobs);
	if (!jobs_stand_destroy(&stand) && ok)
		bench_report_failure(report, "sleepers", "the jobs could not be stopped");
	if (!ok)
		return;
	sleepers.nb = NB_THREADS;
	run_threads(&sleepers, &threads);
	tell(report, &jobs, &threads);
}
