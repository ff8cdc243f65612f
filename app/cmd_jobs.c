/* SPDX-License-Identifier: BSD-3-Clause */
/* weir jobs: long work of a running instance. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "answer.h"
#include "app.h"
#include "remote.h"
#include "report_text.h"

#define NB_MAX   1000000000 /* jobs to ask for: all */
#define EXPECTED "'list [NAME]', 'cancel JOB' or 'stats'"

/* "0-2,5" */
static const char *
core_list(const json_t *cores)
{
	static char buffer[256];
	json_int_t first, last;
	size_t used = 0, i = 0, nb = json_array_size(cores);

	snprintf(buffer, sizeof(buffer), "-");
	while (i < nb && used < sizeof(buffer) - 64) {
		first = last = json_integer_value(json_array_get(cores, i++));
		while (i < nb && json_integer_value(json_array_get(cores, i)) == last + 1) {
			last++;
			i++;
		}
		used += (size_t)snprintf(buffer + used, sizeof(buffer) - used,
			"%s%" JSON_INTEGER_FORMAT, used > 0 ? "," : "", first);
		if (last > first)
			used += (size_t)snprintf(buffer + used, sizeof(buffer) - used,
				"-%" JSON_INTEGER_FORMAT, last);
	}
	return buffer;
}

/* "channel, to send: orders"; without a name by its number: "job 0x1000001", with both where the number is another job's. */
static const char *
wait_of(const json_t *job)
{
	static char buffer[160];
	const char *what = answer_text(job, "waits_for"), *which = answer_text(job, "which");
	const bool is_named = strcmp(which, "-") != 0, is_job = strcmp(what, "job") == 0;
	const bool has_id = (!is_named || is_job) && json_object_get(job, "which_id") != NULL;

	int length = snprintf(buffer, sizeof(buffer), "%s%s%s%s%s", what, has_id ? " " : "",
		has_id ? answer_text(job, "which_id") : "", is_named ? ": " : "",
		is_named ? which : "");
	size_t end = sizeof(buffer) - 1;

	if (length < 0 || (size_t)length <= end)
		return buffer;
	/* cut, but not within a character, of which the first byte is not 10xxxxxx */
	while (end > 0 && (buffer[end - 1] & 0xc0) == 0x80)
		end--;
	buffer[end > 0 ? end - 1 : 0] = '\0';
	return buffer;
}

static void
print_job(const json_t *job)
{
	const json_t *left = json_object_get(job, "left_ns");

	printf("%-16s %-20s %-10s %-32s %9s ", answer_text(job, "job"), answer_text(job, "name"),
		answer_text(job, "state"), wait_of(job),
		left != NULL ? answer_duration(json_integer_value(left)) : "-");
	printf("%4" JSON_INTEGER_FORMAT " %10" JSON_INTEGER_FORMAT " %8" JSON_INTEGER_FORMAT
	       " %8" JSON_INTEGER_FORMAT " ",
		report_int(job, "priority"), report_int(job, "slices"), report_int(job, "waits"),
		report_int(job, "overruns"));
	printf("%9s ", answer_duration(report_int(job, "age_ns")));
	printf("%9s ", answer_duration(report_int(job, "ran_ns")));
	printf("%-10s", core_list(json_object_get(job, "cores")));
	if (json_is_true(json_object_get(job, "cancelled")))
		printf(" cancelled");
	if (json_is_true(json_object_get(job, "late")))
		printf(" late");
	printf("\n");
}

static void
print_list(const json_t *answer)
{
	const json_t *job;
	size_t index;

	answer_make_printable((json_t *)(uintptr_t)answer);
	printf("%-16s %-20s %-10s %-32s %9s %4s %10s %8s %8s %9s %9s %s\n", "job", "name", "state",
		"waits for", "at most", "prio", "slices", "waits", "overruns", "age", "ran",
		"cores");
	json_array_foreach (json_object_get(answer, "jobs"), index, job) {
		print_job(job);
	}
	if (report_int(answer, "left") > 0)
		printf("and %" JSON_INTEGER_FORMAT " more\n", report_int(answer, "left"));
}

static void
print_histogram(const char *name, const json_t *histogram)
{
	static const char *const points[] = {
		"mean_ns", "p50_ns", "p90_ns", "p99_ns", "p99.9_ns", "max_ns"};
	size_t i;

	printf("%-10s %12" JSON_INTEGER_FORMAT, name, report_int(histogram, "count"));
	for (i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		printf(" %10s", report_int(histogram, "count") > 0
					? answer_duration(report_int(histogram, points[i]))
					: "-");
	printf("\n");
}

/* Pools of helper threads, channels: a row each, if there are any. */
static void
print_rows(const json_t *rows, const char *what, const char *const *columns, size_t nb)
{
	const json_t *row;
	size_t index, i;

	if (json_array_size(rows) == 0)
		return;
	printf("\n%-16s", what);
	for (i = 0; i < nb; i++)
		printf(" %10s", columns[i]);
	printf("\n");
	json_array_foreach (rows, index, row) {
		printf("%-16s", answer_text(row, "name"));
		for (i = 0; i < nb; i++)
			printf(" %10" JSON_INTEGER_FORMAT, report_int(row, columns[i]));
		printf("%s\n", json_is_true(json_object_get(row, "closed")) ? " closed" : "");
	}
}

static void
print_stats(const json_t *answer)
{
	static const char *const offload[] = {"threads", "queued", "running", "hanging", "accepted",
		"refused", "done", "abandoned", "ended", "withdrawn", "returned"};
	static const char *const channels[] = {
		"messages", "most", "waiting", "sent", "received", "refused", "waits"};

	/* jansson iterates over what may change only */
	json_t *all = (json_t *)(uintptr_t)answer, *value;
	const char *key;

	answer_make_printable(all);
	json_object_foreach (all, key, value) {
		if (json_is_integer(value))
			printf("%-16s %16" JSON_INTEGER_FORMAT "\n", key,
				json_integer_value(value));
	}
	printf("\n%-10s %12s %10s %10s %10s %10s %10s %10s\n", "", "count", "mean", "p50", "p90",
		"p99", "p99.9", "max");
	json_object_foreach (json_object_get(all, "histograms"), key, value) {
		print_histogram(key, value);
	}
	print_rows(json_object_get(all, "offload"), "offload", offload, RTE_DIM(offload));
	print_rows(json_object_get(all, "channels"), "channel", channels, RTE_DIM(channels));
}

/* Jobs of one name, if there is one; all of them. */
static int
list_arguments(int argc, char **argv, json_t **args)
{
	*args = json_pack("{s:I}", "max", (json_int_t)NB_MAX);
	if (argc > 2)
		json_object_set_new(*args, "name", json_string(argv[2]));
	return APP_OK;
}

static int
cancel_arguments(int argc, char **argv, json_t **args)
{
	(void)argc;
	*args = json_pack("{s:s}", "job", argv[2]);
	return APP_OK;
}

static int
jobs_run(int argc, char **argv)
{
	static const struct remote_verb verbs[] = {
		{"list", 0, 1, "job/list", list_arguments, print_list, NULL, NULL},
		{"cancel", 1, 1, "job/cancel", cancel_arguments, NULL, NULL, NULL},
		{"stats", 0, 0, "job/stats", NULL, print_stats, NULL, NULL},
		{.name = NULL},
	};

	static char list[] = "list";
	char *with_verb[8] = {argv[0], list};
	int i;

	/* Without a word, those that are alive are meant. */
	if (argc > 1 && (argv[1][0] != '-' || strcmp(argv[1], "--help") == 0))
		return remote_run_verb(&cmd_jobs, verbs, EXPECTED, argc, argv);
	for (i = 1; i < argc && i < 6; i++)
		with_verb[i + 1] = argv[i];
	return remote_run_verb(&cmd_jobs, verbs, EXPECTED, i + 1, with_verb);
}

const struct app_command cmd_jobs = {
	.name = "jobs",
	.arguments = "[list [NAME] | cancel JOB | stats]  [--instance NAME] [--json]",
	.summary = "Show long work of a running instance: what it does, and where.",
	.help = "  weir jobs list [NAME]  jobs that are alive, all or those of a name: what "
		"each does,\n"
		"                         or waits for and for how long at most, its slices (times "
		"that a core went on "
		"with it), those\n"
		"                         more than twice as long as they should be, the cores "
		"that "
		"it was on\n"
		"  weir jobs cancel JOB   ask one to end, by its number in the list\n"
		"  weir jobs stats        totals, and histograms: lengths of slices, times from "
		"ready to\n"
		"                         resumed, times on cores, and from spawn to end; pools "
		"of helper\n"
		"                         threads for blocking calls, and channels\n",
	.run = jobs_run,
};
