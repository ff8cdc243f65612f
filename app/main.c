/* SPDX-License-Identifier: BSD-3-Clause */
/* The weir program: finds the subcommand and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "app.h"

const struct app_command *const app_commands[] = {
#ifndef WEIR_APP_SIM_ONLY
	&cmd_run,
	&cmd_check,
	&cmd_graph,
	&cmd_stats,
	&cmd_em,
	&cmd_jobs,
	&cmd_readout,
	&cmd_route,
	&cmd_neighbour,
	&cmd_bench,
#endif
	&cmd_sim,
	&cmd_schema,
	&cmd_version,
	&cmd_help,
	NULL,
};

static const struct app_command *
find_command(const char *name)
{
	unsigned int i;

	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return &cmd_help;
	if (strcmp(name, "--version") == 0)
		return &cmd_version;
	for (i = 0; app_commands[i] != NULL; i++)
		if (strcmp(app_commands[i]->name, name) == 0)
			return app_commands[i];
	return NULL;
}

static bool
wants_json(int argc, char **argv)
{
	for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}

/*
 * Where a standard stream is closed the next file that is opened gets its number, and with it what is printed: a
 * capture, say. So something else has that number, open the other way round: to use it fails as before.
 */
static void
occupy_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
}

int
main(int argc, char **argv)
{
	const struct app_command *command;
	bool json = wants_json(argc, argv);

	occupy_standard_streams();
	if (argc < 2) {
		fprintf(stderr, "weir: which command? `weir help` lists them\n");
		return APP_USAGE;
	}
	command = find_command(argv[1]);
	if (command == NULL) {
		fprintf(stderr, "weir: unknown command '%s'; `weir help` lists them\n", argv[1]);
		return APP_USAGE;
	}
	return app_end(command->run(argc - 1, argv + 1), json);
}
