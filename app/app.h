/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_H
#define WEIR_APP_H

/**
 * @file
 * The weir program: subcommands and what they share.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/** Exit codes of every subcommand. */
enum app_exit {
	APP_OK = 0,     /**< done */
	APP_FAILED = 1, /**< could not be done, or its result is not as it should be */
	APP_USAGE = 2,  /**< wrong use: an option, an argument or a description file */
};

/** A subcommand. */
struct app_command {
	const char *name;      /**< as typed */
	const char *arguments; /**< what follows it, for the usage line */
	const char *summary;   /**< one line for `weir help` */
	const char *help;      /**< what `--help` says below the usage line */
	int (*run)(int argc,
		char **argv); /**< argv[0] is the subcommand's name; returns enum app_exit */
};

/** All subcommands, in the order of `weir help`; the last has no name. */
extern const struct app_command *const app_commands[];

extern const struct app_command cmd_run;       /**< weir run */
extern const struct app_command cmd_check;     /**< weir check */
extern const struct app_command cmd_graph;     /**< weir graph */
extern const struct app_command cmd_stats;     /**< weir stats */
extern const struct app_command cmd_em;        /**< weir em */
extern const struct app_command cmd_jobs;      /**< weir jobs */
extern const struct app_command cmd_readout;   /**< weir readout */
extern const struct app_command cmd_route;     /**< weir route */
extern const struct app_command cmd_neighbour; /**< weir neighbour */
extern const struct app_command cmd_schema;    /**< weir schema */
extern const struct app_command cmd_sim;       /**< weir sim */
extern const struct app_command cmd_bench;     /**< weir bench */
extern const struct app_command cmd_version;   /**< weir version */
extern const struct app_command cmd_help;      /**< weir help */

/** Kinds of options. */
enum app_option_kind {
	APP_OPTION_FLAG, /**< no value; bool */
	APP_OPTION_TEXT, /**< a text; const char * */
	APP_OPTION_LIST, /**< a text, any number of times; an array of JSON's, of the caller */
};

/** An option of a subcommand, always long: "--name" or "--name VALUE" or "--name=VALUE". */
struct app_option {
	const char *name;          /**< without dashes; NULL ends the table */
	enum app_option_kind kind; /**< what it takes */
	void *value;               /**< bool *, const char ** or json_t * */
};

/**
 * Take options out of argv, in any place; "--" ends them. `--help` prints the help.
 *
 * @param[in,out] argc  left with the arguments that are not options; argv likewise, argv[0] kept
 * @param max_args  most arguments allowed
 * @return -1: go on; otherwise the exit code
 */
int app_options(const struct app_command *command, int *argc, char **argv,
	const struct app_option *options, int min_args, int max_args);

/**
 * Read a time such as "10s" or "500ms", as description files have it.
 *
 * @param min_s  least, in seconds
 * @param max_s  most
 * @return 0, -EINVAL, -ENOMEM
 */
int app_duration(const char *text, double min_s, double max_s, uint64_t *ns);

/** Print "weir COMMAND: what is wrong" with where to find help. @return APP_USAGE */
int app_usage_error(const struct app_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Print "weir COMMAND: what is wrong"; NULL: "weir: ...", of what several commands do. The first one is told in JSON, too. @return APP_FAILED */
int app_error(const struct app_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Print the beginning of JSON that is printed in pieces: an error on the way is told on standard error alone. */
void app_begin_json(const char *text);

/** Print JSON and a newline, and free it. @return APP_OK, or APP_FAILED when standard output failed. */
int app_print_json(json_t *json);

/**
 * At the end of the program: where JSON was asked for and none was printed, as a command failed before it had any,
 * print {"ok": false, "error": TEXT} with what the first of the above said.
 *
 * @return @p code
 */
int app_end(int code, bool json);

/** Was everything printed to standard output? A full disk is a failure. @return @p code or APP_FAILED */
int app_finish(int code);

#endif
