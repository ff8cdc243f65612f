/* SPDX-License-Identifier: BSD-3-Clause */

/* `weir bench job`: jobs of lib/job beside plain calls, coroutines, handlers. */

#include <errno.h>
#include <stdio.h>

#include "job_bench.h"

#define SECONDS   1.0
#define MEGABYTES 512

static const struct {
	const char *name;
	void (*run)(const struct bench_options *options, struct bench_report *report);
} cases[] = {
	{"spawn", jobs_spawn_run},
	{"pitp", jobs_pitp_run},
	{"packets-and-jobs", jobs_packets_run},
	{"short-events", jobs_short_run},
	{"sleepers", jobs_sleepers_run},
};

#define NB_CASES (sizeof(cases) / sizeof(cases[0]))

static int
run_job(const struct bench *bench, const struct bench_options *options)
{
	struct bench_report report;

	if (options->list) {
		for (size_t i = 0; i < NB_CASES; i++)
			printf("%s\n", cases[i].name);
		return 0;
	}
	if (!BENCH_ANY_WANTED(options, cases))
		return bench_no_case(bench, options);
	jobs_cpus_init();
	if (bench_eal_start(options, MEGABYTES, 0) < 0)
		return 1;
	weir_base_log_set_level(WEIR_BASE_LOG_WARNING);
	bench_report_begin(&report, bench, options, "job", "job", "plain calls");
	report.cores = "several cores";
	bench_report_array(&report, "cases");
	bench_report_machine(&report);
	json_object_set_new(report.root, "cores", json_integer(jobs_nb_cores()));
	json_object_set_new(report.root, "crowded", json_boolean(jobs_crowded()));
	bench_say(&report, "Where it says all cores, these are %u.\n", jobs_nb_cores());
	if (jobs_crowded())
		bench_say(&report, "There are fewer CPUs than threads: the figures mean little.\n");
	for (size_t i = 0; i < NB_CASES; i++)
		if (bench_wanted(options, cases[i].name))
			cases[i].run(options, &report);
	return bench_report_end(&report);
}

const struct bench bench_job = {
	.name = "job",
	.summary = "Long work in time slices: what it costs, and what packets notice of it",
	.help = "spawn: an empty job from spawn to its end, beside a plain call and a coroutine.\n"
		"pitp: pi on all cores, as published for coroutines on eventdev: by plain calls, "
		"and as jobs that the scheduler moves between\n"
		"cores, for time slices of 1 to 200 us and for 1 to 1,024 jobs at a time, on the "
		"builtin scheduler and on event_dsw; the overhead\n"
		"and where it goes. bench/plot-job makes pictures of the JSON.\n"
		"packets-and-jobs: latencies of forwarded packets at a fixed load: without other "
		"work, while jobs saturate all cores, and while\n"
		"handlers do, that run to completion.\n"
		"short-events: the same of short events at half load, of higher priority than "
		"jobs.\n"
		"sleepers: 100,000 jobs asleep at once: memory, time, how late they wake.\n"
		"--ours leaves out event_dsw.\n",
	.seconds = SECONDS,
	.no_burst = "its events are dispatched one by one",
	.no_routes = "it forwards nothing by routes; forward does",
	.run = run_job,
};
