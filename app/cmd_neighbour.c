/* SPDX-License-Identifier: BSD-3-Clause */
/* weir neighbour: next hops of a running instance. */
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "remote.h"

static int
finish(json_t *answer, bool json)
{
	if (answer == NULL)
		return APP_FAILED;
	if (json)
		return app_print_json(answer);
	json_decref(answer);
	return APP_OK;
}

static int
parse_id(const char *text, json_int_t *id)
{
	char *end;

	if (text[0] < '0' || text[0] > '9' || strlen(text) > 10)
		return -1;
	*id = strtoll(text, &end, 10);
	return *end == '\0' ? 0 : -1;
}

/* What `add ID` is followed by, as arguments of the command; NULL: not understood. */
static json_t *
add_arguments(json_int_t id, int argc, char **argv)
{
	if (argc == 4 && (strcmp(argv[3], "blackhole") == 0 || strcmp(argv[3], "local") == 0))
		return json_pack("{s:I, s:s}", "id", id, "kind", argv[3]);
	if (argc == 4)
		return json_pack(
			"{s:I, s:s, s:s}", "id", id, "kind", "incomplete", "port", argv[3]);
	return json_pack("{s:I, s:s, s:s}", "id", id, "port", argv[3], "mac", argv[4]);
}

static void
print_list(const json_t *answer)
{
	const json_t *hop, *port, *mac;
	size_t index;

	json_array_foreach (json_object_get(answer, "neighbours"), index, hop) {
		port = json_object_get(hop, "port");
		mac = json_object_get(hop, "mac");
		printf("%-8" JSON_INTEGER_FORMAT " %-12s %-16s %s\n",
			json_integer_value(json_object_get(hop, "id")),
			json_is_string(json_object_get(hop, "kind"))
				? json_string_value(json_object_get(hop, "kind"))
				: "",
			json_is_string(port) ? json_string_value(port) : "",
			json_is_string(mac) ? json_string_value(mac) : "");
	}
}

static int
neighbour_run(int argc, char **argv)
{
	bool json = false;
	const char *instance = NULL;
	const struct app_option options[] = {{"json", APP_OPTION_FLAG, &json},
		{"instance", APP_OPTION_TEXT, &instance}, {.name = NULL}};
	json_int_t id = 0;
	json_t *answer;
	int code = app_options(&cmd_neighbour, &argc, argv, options, 1, 4);

	if (code >= 0)
		return code;
	if (!(strcmp(argv[1], "add") == 0 && argc >= 4) &&
		!(strcmp(argv[1], "delete") == 0 && argc == 3) &&
		!(strcmp(argv[1], "list") == 0 && argc == 2))
		return app_usage_error(&cmd_neighbour,
			"expected 'add ID PORT [MAC]', 'add ID blackhole', 'add ID "
			"local', 'delete ID' or 'list'");
	if (argc > 2 && parse_id(argv[2], &id) < 0)
		return app_usage_error(&cmd_neighbour, "bad id '%s'; expected a number", argv[2]);
	instance = remote_instance(&cmd_neighbour, instance);
	if (instance == NULL)
		return APP_FAILED;
	if (strcmp(argv[1], "add") == 0)
		return finish(remote_ask(&cmd_neighbour, instance, argv[2], "neighbour/add",
				      add_arguments(id, argc, argv)),
			json);
	if (strcmp(argv[1], "delete") == 0)
		return finish(remote_ask(&cmd_neighbour, instance, argv[2], "neighbour/delete",
				      json_pack("{s:I}", "id", id)),
			json);
	answer = remote_ask(&cmd_neighbour, instance, NULL, "neighbour/list", NULL);
	if (answer == NULL || json)
		return finish(answer, json);
	print_list(answer);
	json_decref(answer);
	return app_finish(APP_OK);
}

const struct app_command cmd_neighbour = {
	.name = "neighbour",
	.arguments = "add ID PORT [MAC] | add ID blackhole|local | delete ID | list  [--instance "
		     "NAME] [--json]",
	.summary = "Add, delete and list next hops of a running instance.",
	.help = "  weir neighbour add 3 north 02:10:00:00:00:01   (or replace it: its routes "
		"follow)\n"
		"  weir neighbour delete 3                        (refused while routes lead to "
		"it)\n",
	.run = neighbour_run,
};
