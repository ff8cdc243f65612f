/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_REMOTE_H
#define WEIR_APP_REMOTE_H

#include <jansson.h>

struct app_command;

/**
 * The instance to talk to: the one that was named, or the only one that runs.
 *
 * @param name  or NULL
 * @return a name valid until the program ends; NULL: the reason was printed
 */
const char *remote_instance(const struct app_command *command, const char *name);

/**
 * Ask an instance; a failure is printed.
 *
 * @param subject  what it is about, for the error: a prefix, an id; NULL: nothing in particular
 * @param args  stolen; NULL: none
 * @return the answer, owned by the caller, or NULL
 */
json_t *remote_ask(const struct app_command *command, const char *instance, const char *subject,
	const char *question, json_t *args);

#endif
