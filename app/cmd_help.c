/* SPDX-License-Identifier: BSD-3-Clause */
/* weir help [COMMAND]: what there is. */
#include <string.h>

#include "app.h"

static int
help_json(void)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; app_commands[i] != NULL; i++)
		json_array_append_new(list,
			json_pack("{s:s, s:s, s:s}", "command", app_commands[i]->name, "arguments",
				app_commands[i]->arguments, "summary", app_commands[i]->summary));
	return app_print_json(json_pack("{s:o}", "commands", list));
}

static int
help_run(int argc, char **argv)
{
	bool json = false;
	const struct app_option options[] = {{"json", APP_OPTION_FLAG, &json}, {.name = NULL}};
	char help[] = "--help";
	char *help_argv[] = {NULL, help, NULL};
	unsigned int i;
	int code = app_options(&cmd_help, &argc, argv, options, 0, 1);

	if (code >= 0)
		return code;
	if (json)
		return help_json();
	if (argc == 2) {
		for (i = 0; app_commands[i] != NULL; i++) {
			if (strcmp(app_commands[i]->name, argv[1]) != 0)
				continue;
			help_argv[0] = argv[1];
			return app_commands[i]->run(2, help_argv);
		}
		return app_usage_error(&cmd_help, "unknown command '%s'", argv[1]);
	}
	printf("Usage: weir COMMAND ...\n\n"
	       "Runs, measures and draws packet applications that a description file "
	       "describes.\n\n");
	for (i = 0; app_commands[i] != NULL; i++)
		printf("  %-10s %s\n", app_commands[i]->name, app_commands[i]->summary);
	printf("\n`weir COMMAND --help` tells more; doc/description-file.md explains description "
	       "files.\n");
	return app_finish(APP_OK);
}

const struct app_command cmd_help = {
	.name = "help",
	.arguments = "[COMMAND] [--json]",
	.summary = "Show what commands there are, or how one is used.",
	.help = "",
	.run = help_run,
};
