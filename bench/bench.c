/* SPDX-License-Identifier: BSD-3-Clause */

/* The command line of `weir bench`. */

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_common.h>

#include "bench.h"
#include "harness.h"

static const struct bench *const benches[] = {&bench_graph, &bench_forward, &bench_coro,
	&bench_sched, &bench_em, &bench_job, &bench_readout, &bench_sim};

#define NB_BENCHES (sizeof(benches) / sizeof(benches[0]))

static void
print_usage(FILE *out, const struct bench *bench)
{
	fprintf(out,
		"Usage: weir bench %s [--case PATTERN] [--burst N] [--seconds S] [--rounds N] "
		"[--cpu N] [--routes FILE] [--workers N] [--ours] [--json] [--list]\n",
		bench != NULL ? bench->name : "[NAME]");
}

static void
print_help(const struct bench *bench)
{
	print_usage(stdout, bench);
	if (bench != NULL) {
		printf("\n%s\n\n%s", bench->summary, bench->help);
	} else {
		printf("\nRun Weir beside a named peer, in turns, on one core. Without a "
		       "name all benchmarks run, one after the other.\n\n");
		for (size_t i = 0; i < NB_BENCHES; i++)
			printf("  %-10s %s\n", benches[i]->name, benches[i]->summary);
	}
	printf("\n  --case PATTERN  only cases whose name matches (as in a shell)\n"
	       "  --burst N       of graph, forward and readout: objects that each source brings "
	       "in "
	       "at a time\n"
	       "  --seconds S     time per case, all sides together\n"
	       "  --rounds N      slices of each side per case, instead\n"
	       "  --cpu N         run on this CPU (default: the last one allowed); sched, readout: "
	       "the main thread\n"
	       "  --routes FILE   of forward: routing table to forward by\n"
	       "  --workers N     of sched: so many, each on a CPU of its own where there are as "
	       "many and one more\n"
	       "  --ours          of sched and job: without peers, for a profiler to look at\n"
	       "  --json          one JSON object instead of tables\n"
	       "  --list          name the cases\n"
	       "\nExit code: 0 done, 1 failed, 2 wrong use.\n");
}

static int
usage_error(const struct bench *bench, const char *what, const char *text)
{
	fprintf(stderr, "weir bench: %s '%s'\n", what, text);
	print_usage(stderr, bench);
	return 2;
}

_Static_assert(BENCH_WORKERS_MAX == 8, "what is said of --workers");

static bool
take_number(const char *text, long min, long max, long *value)
{
	char *end;

	errno = 0;
	*value = strtol(text, &end, 10);
	return errno == 0 && end != text && *end == '\0' && *value >= min && *value <= max;
}

enum {
	OPTION_CASE = 1,
	OPTION_BURST,
	OPTION_SECONDS,
	OPTION_ROUNDS,
	OPTION_CPU,
	OPTION_ROUTES,
	OPTION_WORKERS,
	OPTION_OURS,
	OPTION_JSON,
	OPTION_LIST,
	OPTION_HELP,
};

/* Returns -1: go on; otherwise the exit code. */
static int
take_option(const struct bench *bench, struct bench_options *options, int option)
{
	char *end;
	long n;

	switch (option) {
	case OPTION_CASE:
		options->case_pattern = optarg;
		return -1;
	case OPTION_BURST:
		if (!take_number(optarg, 1, 256, &n))
			return usage_error(bench, "--burst takes 1 to 256, not", optarg);
		options->burst = (unsigned int)n;
		return -1;
	case OPTION_SECONDS:
		options->seconds = strtod(optarg, &end);
		if (end == optarg || *end != '\0' ||
			!(options->seconds > 0 && options->seconds <= 3600))
			return usage_error(
				bench, "--seconds takes a number up to 3600, not", optarg);
		return -1;
	case OPTION_ROUNDS:
		if (!take_number(optarg, 1, 100000, &n))
			return usage_error(bench, "--rounds takes 1 to 100000, not", optarg);
		options->rounds = (unsigned int)n;
		return -1;
	case OPTION_CPU:
		if (!take_number(optarg, 0, INT_MAX, &n))
			return usage_error(bench, "--cpu takes a CPU's number, not", optarg);
		options->cpu = (int)n;
		return -1;
	case OPTION_ROUTES:
		options->routes = optarg;
		return -1;
	case OPTION_WORKERS:
		if (!take_number(optarg, 1, BENCH_WORKERS_MAX, &n))
			return usage_error(bench, "--workers takes 1 to 8, not", optarg);
		options->workers = (unsigned int)n;
		return -1;
	case OPTION_OURS:
		options->ours = true;
		return -1;
	case OPTION_JSON:
		options->json = true;
		return -1;
	case OPTION_LIST:
		options->list = true;
		return -1;
	case OPTION_HELP:
		print_help(bench);
		return 0;
	default:
		print_usage(stderr, bench);
		return 2;
	}
}

/* Options that only some benchmarks take. Returns -1: go on; otherwise the exit code. */
static int
check_options(const struct bench *bench, const struct bench_options *options)
{
	const struct {
		const char *name, *refused;
		bool given;
	} some[] = {
		{"--burst", bench->no_burst, options->burst != 0},
		{"--routes", bench->no_routes, options->routes != NULL},
		{"--workers", bench->has_workers ? NULL : "sched has workers",
			options->workers != 0},
		{"--ours", bench->no_ours, options->ours},
	};

	for (size_t i = 0; i < RTE_DIM(some); i++) {
		if (!some[i].given || some[i].refused == NULL)
			continue;
		fprintf(stderr, "weir bench %s: no %s: %s\n", bench->name, some[i].name,
			some[i].refused);
		print_usage(stderr, bench);
		return 2;
	}
	return -1;
}

/* Of all benchmarks, or of one. Returns -1: go on; otherwise the exit code. */
static int
take_options(const struct bench *bench, struct bench_options *options, int argc, char **argv)
{
	static const struct option table[] = {{"case", required_argument, NULL, OPTION_CASE},
		{"burst", required_argument, NULL, OPTION_BURST},
		{"seconds", required_argument, NULL, OPTION_SECONDS},
		{"rounds", required_argument, NULL, OPTION_ROUNDS},
		{"cpu", required_argument, NULL, OPTION_CPU},
		{"routes", required_argument, NULL, OPTION_ROUTES},
		{"workers", required_argument, NULL, OPTION_WORKERS},
		{"ours", no_argument, NULL, OPTION_OURS}, {"json", no_argument, NULL, OPTION_JSON},
		{"list", no_argument, NULL, OPTION_LIST}, {"help", no_argument, NULL, OPTION_HELP},
		{NULL, 0, NULL, 0}};
	int option, code;

	optind = 1;
	while ((option = getopt_long(argc, argv, "", table, NULL)) != -1) {
		code = take_option(bench, options, option);
		if (code >= 0)
			return code;
	}
	return optind < argc ? usage_error(bench, "nothing is known of", argv[optind]) : -1;
}

static int
run_bench(const struct bench *bench, int argc, char **argv)
{
	struct bench_options options = {.seconds = bench->seconds, .cpu = -1};
	int code = take_options(bench, &options, argc, argv);

	if (code < 0)
		code = check_options(bench, &options);
	return code >= 0 ? code : bench->run(bench, &options);
}

/* DPDK's environment starts once in a process: each benchmark gets one of its own, that ends with this one. */
static int
run_apart(const struct bench *bench, int argc, char **argv)
{
	pid_t pid, parent = getpid();
	int status;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent)
			_exit(1);
		exit(run_bench(bench, argc, argv));
	}
	if (pid > 0)
		while (waitpid(pid, &status, 0) < 0)
			if (errno != EINTR)
				pid = -1;
	if (pid < 0) {
		fprintf(stderr, "weir bench %s: %s\n", bench->name, strerror(errno));
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* All of them, one after the other, with the same options. */
static int
run_all(int argc, char **argv)
{
	struct bench_options options = {.cpu = -1};
	int code = take_options(NULL, &options, argc, argv);
	const char *name = options.case_pattern != NULL ? "--case"
			   : options.burst != 0         ? "--burst"
			   : options.routes != NULL     ? "--routes"
			   : options.workers != 0       ? "--workers"
			   : options.ours               ? "--ours"
							: NULL;

	if (code >= 0)
		return code;
	if (name != NULL) {
		fprintf(stderr, "weir bench: %s wants the benchmark's name before it\n", name);
		print_usage(stderr, NULL);
		return 2;
	}
	code = 0;
	for (size_t i = 0; i < NB_BENCHES && code != 2; i++) {
		int its_code = run_apart(benches[i], argc, argv);

		code = RTE_MAX(code, its_code);
	}
	return code;
}

int
weir_bench_main(int argc, char **argv)
{
	if (argc < 2)
		return run_all(argc, argv);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_help(NULL);
		return 0;
	}
	for (size_t i = 0; i < NB_BENCHES; i++)
		if (strcmp(argv[1], benches[i]->name) == 0)
			return run_bench(benches[i], argc - 1, argv + 1);
	if (strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < NB_BENCHES; i++)
			printf("%-10s %s\n", benches[i]->name, benches[i]->summary);
		return 0;
	}
	if (strncmp(argv[1], "--", 2) == 0)
		return run_all(argc, argv);
	return usage_error(NULL, "no benchmark is called", argv[1]);
}
