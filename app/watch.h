/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_WATCH_H
#define WEIR_APP_WATCH_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

struct app_command;

/** What is asked, and how its answer is shown. */
struct watch {
	const struct app_command *command; /**< for errors */
	const char *instance;              /**< its name */
	const char *question;              /**< command of the control socket */
	json_t *args;                      /**< its arguments; NULL: it has none */
	/** Print an answer. @param before  the one before it; NULL: this is the first one */
	void (*print)(const json_t *before, const json_t *answer, FILE *out);
	bool json; /**< one object a line instead */
	bool (*is_good)(
		const json_t *answer); /**< an answer that is not makes it fail; NULL: all are */
};

/** Ask once a second, until the instance ends, does not answer (which is told, and a failure), or a signal. @return the exit code */
int watch(const struct watch *watch);

#endif
