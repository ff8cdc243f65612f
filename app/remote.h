/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_REMOTE_H
#define WEIR_APP_REMOTE_H

#include <stdbool.h>

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

/** As remote_ask(), a question that waits itself for so long at most. */
json_t *remote_ask_for(const struct app_command *command, const char *instance, const char *subject,
	const char *question, json_t *args, int wait_ms);

/** What a command can be told to do, as its first argument: `weir COMMAND NAME ...`. */
struct remote_verb {
	const char *name;     /**< as typed; NULL ends the table */
	int min_args;         /**< fewest arguments behind it */
	int max_args;         /**< most of them */
	const char *question; /**< command of the control socket */
	/**
	 * Make the question's arguments; NULL: it has none.
	 *
	 * @param argv  argv[1] is the verb, argv[argc] is NULL
	 * @param[out] args  NULL before
	 * @return APP_OK, or APP_USAGE when the reason was printed
	 */
	int (*arguments)(int argc, char **argv, json_t **args);
	void (*print)(const json_t *answer); /**< for people; NULL: there is nothing to say */
	/**
	 * Instead: ask, several times, and print what comes as it comes; NULL: there is one answer.
	 *
	 * @param args  stolen; NULL: none
	 * @return the exit code
	 */
	int (*run)(const char *instance, json_t *args, bool json);
	/** A list of the answer's, of which it tells a part from "first" on, and how many are "left": all are asked for; NULL: none */
	const char *list;
};

/**
 * Run a command that has verbs: options, the arguments, the question, its answer.
 *
 * @param expected  what to type, for the error when it is something else
 * @return the exit code
 */
int remote_run_verb(const struct app_command *command, const struct remote_verb *verbs,
	const char *expected, int argc, char **argv);

/** Read a small number: anything else must not turn into 0 on its way. @return whether it is one */
bool remote_parse_number(const char *text, json_int_t *number);

#endif
