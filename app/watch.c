/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking a running instance the same again and again. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weir_base_ctl.h>

#include "app.h"
#include "remote.h"
#include "watch.h"

#define TIMEOUT_MS 5000 /* for an answer */

static volatile sig_atomic_t interrupted;

static void
on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

/* An instance that ends while it is watched is no failure; one that does not answer may be there still. @return NULL: there is no answer */
static json_t *
ask_again(const struct watch *watch, int *code)
{
	json_t *answer = NULL;
	const int error = weir_base_ctl_call(
		watch->instance, watch->question, watch->args, TIMEOUT_MS, &answer);

	if (error == 0)
		return answer;
	/* The command was taken back, the socket is gone, or was closed just now. */
	if (error != -ENOENT && error != -EPROTO)
		*code = app_error(watch->command, "'%s' is watched no longer: %s", watch->instance,
			json_is_string(answer) ? json_string_value(answer) : strerror(-error));
	json_decref(answer);
	return NULL;
}

static void
show(const struct watch *watch, const json_t *before, const json_t *report)
{
	const bool terminal = isatty(STDOUT_FILENO) != 0;

	if (watch->json) {
		json_dumpf(report, stdout, JSON_COMPACT);
		putchar('\n');
		return;
	}
	/* Home and clear: the table stays in its place. */
	fputs(terminal ? "\033[H\033[2J" : "", stdout);
	watch->print(before, report, stdout);
	fputs(terminal ? "" : "\n", stdout);
}

int
watch(const struct watch *watch)
{
	const struct timespec second = {.tv_sec = 1};
	struct sigaction action = {.sa_handler = on_signal};
	json_t *before = NULL, *report = remote_ask(watch->command, watch->instance, NULL,
				       watch->question, json_incref(watch->args));
	int code = APP_OK, failed = APP_OK;

	if (report == NULL)
		return APP_FAILED;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (report != NULL && code == APP_OK && !interrupted) {
		show(watch, before, report);
		if (watch->is_good != NULL && !watch->is_good(report))
			failed = APP_FAILED;
		code = app_finish(APP_OK);
		json_decref(before);
		before = report;
		report = NULL;
		if (code == APP_OK && nanosleep(&second, NULL) == 0)
			report = ask_again(watch, &code);
	}
	if (!watch->json && !interrupted && code == APP_OK)
		printf("%s has ended\n", watch->instance);
	json_decref(before);
	json_decref(report);
	return code != APP_OK ? code : failed;
}
