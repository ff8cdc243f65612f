/* SPDX-License-Identifier: BSD-3-Clause */
/* weir stats: what a running instance does. */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weir_base_ctl.h>

#include "app.h"
#include "remote.h"
#include "report.h"

static volatile sig_atomic_t interrupted;

static void
on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

/* An instance that ends while it is watched is no failure. */
static json_t *
ask_again(const char *instance)
{
	json_t *answer = NULL;

	if (weir_base_ctl_call(instance, "run/report", NULL, 5000, &answer) == 0)
		return answer;
	json_decref(answer);
	return NULL;
}

static int
watch(const char *instance, bool json)
{
	const struct timespec second = {.tv_sec = 1};
	const bool terminal = isatty(STDOUT_FILENO) != 0;
	struct sigaction action = {.sa_handler = on_signal};
	json_t *before = NULL, *report = remote_ask(&cmd_stats, instance, NULL, "run/report", NULL);
	int code = APP_OK;

	if (report == NULL)
		return APP_FAILED;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (report != NULL && code == APP_OK && !interrupted) {
		if (json) {
			json_dumpf(report, stdout, JSON_COMPACT);
			putchar('\n');
		} else {
			/* Home and clear: the table stays in its place. */
			fputs(terminal ? "\033[H\033[2J" : "", stdout);
			report_print_rates(before, report, stdout);
			fputs(terminal ? "" : "\n", stdout);
		}
		code = app_finish(APP_OK);
		json_decref(before);
		before = report;
		report = NULL;
		if (code == APP_OK && nanosleep(&second, NULL) == 0)
			report = ask_again(instance);
	}
	if (!json && !interrupted && code == APP_OK)
		printf("%s has ended\n", instance);
	json_decref(before);
	json_decref(report);
	return code;
}

static int
stats_run(int argc, char **argv)
{
	bool json = false, watching = false;
	const char *instance = NULL;
	const struct app_option options[] = {{"json", APP_OPTION_FLAG, &json},
		{"watch", APP_OPTION_FLAG, &watching}, {"instance", APP_OPTION_TEXT, &instance},
		{.name = NULL}};
	json_t *report;
	int code = app_options(&cmd_stats, &argc, argv, options, 0, 0);

	if (code >= 0)
		return code;
	instance = remote_instance(&cmd_stats, instance);
	if (instance == NULL)
		return APP_FAILED;
	if (watching)
		return watch(instance, json);
	report = remote_ask(&cmd_stats, instance, NULL, "run/report", NULL);
	if (report == NULL)
		return APP_FAILED;
	if (json)
		return app_print_json(report);
	report_print(report, stdout);
	json_decref(report);
	return app_finish(APP_OK);
}

const struct app_command cmd_stats = {
	.name = "stats",
	.arguments = "[--watch] [--instance NAME] [--json]",
	.summary = "Show the counters of a running instance.",
	.help = "  --watch          once a second, with the rates of that second; --json: one "
		"object a line\n"
		"  --instance NAME  which one, when several are running\n",
	.run = stats_run,
};
