/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking a running instance the same again and again. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <weir_base_ctl.h>

#include "app.h"
#include "remote.h"
#include "watch.h"

static volatile sig_atomic_t interrupted;

static void
on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

/* An instance that ends while it is watched is no failure. */
static json_t *
ask_again(const struct watch *watch)
{
	json_t *answer = NULL;

	if (weir_base_ctl_call(watch->instance, watch->question, watch->args, 5000, &answer) == 0)
		return answer;
	json_decref(answer);
	return NULL;
}

int
watch(const struct watch *watch)
{
	const struct timespec second = {.tv_sec = 1};
	const bool terminal = isatty(STDOUT_FILENO) != 0;
	struct sigaction action = {.sa_handler = on_signal};
	json_t *before = NULL, *report = remote_ask(watch->command, watch->instance, NULL,
				       watch->question, json_incref(watch->args));
	int code = APP_OK;

	if (report == NULL)
		return APP_FAILED;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (report != NULL && code == APP_OK && !interrupted) {
		if (watch->json) {
			json_dumpf(report, stdout, JSON_COMPACT);
			putchar('\n');
		} else {
			/* Home and clear: the table stays in its place. */
			fputs(terminal ? "\033[H\033[2J" : "", stdout);
			watch->print(before, report, stdout);
			fputs(terminal ? "" : "\n", stdout);
		}
		code = app_finish(APP_OK);
		json_decref(before);
		before = report;
		report = NULL;
		if (code == APP_OK && nanosleep(&second, NULL) == 0)
			report = ask_again(watch);
	}
	if (!watch->json && !interrupted && code == APP_OK)
		printf("%s has ended\n", watch->instance);
	json_decref(before);
	json_decref(report);
	return code;
}
