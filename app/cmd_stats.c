/* SPDX-License-Identifier: BSD-3-Clause */
/* weir stats: what a running instance does. */
#include <string.h>

#include "app.h"
#include "remote.h"
#include "report.h"
#include "watch.h"

/* What can be looked at. */
struct view {
	const char *name;     /* as typed; NULL: when nothing is */
	const char *question; /* command of the control socket */
	void (*print)(const json_t *answer, FILE *out);
	void (*print_again)(const json_t *before, const json_t *answer, FILE *out);
};

static void
print_coro_again(const json_t *before, const json_t *answer, FILE *out)
{
	(void)before;
	report_print_coro(answer, out);
}

static const struct view views[] = {
	{NULL, "run/report", report_print, report_print_rates},
	{"coro", "coro/stats", report_print_coro, print_coro_again},
};

static const struct view *
find_view(const char *name)
{
	for (size_t i = 1; i < sizeof(views) / sizeof(views[0]); i++)
		if (strcmp(views[i].name, name) == 0)
			return &views[i];
	return NULL;
}

static int
stats_run(int argc, char **argv)
{
	bool json = false, watching = false;
	const char *instance = NULL;
	const struct app_option options[] = {{"json", APP_OPTION_FLAG, &json},
		{"watch", APP_OPTION_FLAG, &watching}, {"instance", APP_OPTION_TEXT, &instance},
		{.name = NULL}};
	const struct view *view = &views[0];
	json_t *report;
	int code = app_options(&cmd_stats, &argc, argv, options, 0, 1);

	if (code >= 0)
		return code;
	if (argc > 1)
		view = find_view(argv[1]);
	if (view == NULL)
		return app_usage_error(&cmd_stats, "expected 'coro' or nothing, not '%s'", argv[1]);
	instance = remote_instance(&cmd_stats, instance);
	if (instance == NULL)
		return APP_FAILED;
	if (watching)
		return watch(&(const struct watch){.command = &cmd_stats,
			.instance = instance,
			.question = view->question,
			.print = view->print_again,
			.json = json});
	report = remote_ask(&cmd_stats, instance, NULL, view->question, NULL);
	if (report == NULL)
		return APP_FAILED;
	if (json)
		return app_print_json(report);
	view->print(report, stdout);
	json_decref(report);
	return app_finish(APP_OK);
}

const struct app_command cmd_stats = {
	.name = "stats",
	.arguments = "[coro] [--watch] [--instance NAME] [--json]",
	.summary = "Show the counters of a running instance.",
	.help = "  coro             its coroutines: how many, their slices, their stacks\n"
		"  --watch          once a second, with the rates of that second; --json: one "
		"object a line\n"
		"  --instance NAME  which one, when several are running\n",
	.run = stats_run,
};
