/* SPDX-License-Identifier: BSD-3-Clause */
/* weir route: routes of a running instance. */
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

/* A next hop is a small number; anything else must not turn into 0 on its way. */
static int
parse_number(const char *text, json_int_t *number)
{
	char *end;

	if (text[0] < '0' || text[0] > '9' || strlen(text) > 10)
		return -1;
	*number = strtoll(text, &end, 10);
	return *end == '\0' ? 0 : -1;
}

static int
list(const char *instance, const char *filter, bool json)
{
	json_t *answer = remote_ask(&cmd_route, instance, filter, "route/list",
		filter != NULL ? json_pack("{s:s}", "name", filter) : NULL);
	const json_t *route;
	size_t index;

	if (answer == NULL)
		return APP_FAILED;
	if (json)
		return app_print_json(answer);
	json_array_foreach (json_object_get(answer, "routes"), index, route) {
		printf("%-44s %" JSON_INTEGER_FORMAT "\n",
			json_string_value(json_object_get(route, "prefix")),
			json_integer_value(json_object_get(route, "next_hop")));
	}
	if (json_integer_value(json_object_get(answer, "more")) != 0)
		printf("... and %" JSON_INTEGER_FORMAT
		       " more; `weir route list PREFIX` lists those within a prefix\n",
			json_integer_value(json_object_get(answer, "more")));
	json_decref(answer);
	return app_finish(APP_OK);
}

static int
route_run(int argc, char **argv)
{
	bool json = false;
	const char *instance = NULL;
	const struct app_option options[] = {{"json", APP_OPTION_FLAG, &json},
		{"instance", APP_OPTION_TEXT, &instance}, {.name = NULL}};
	json_int_t hop = 0;
	int code = app_options(&cmd_route, &argc, argv, options, 1, 3);

	if (code >= 0)
		return code;
	if (!(strcmp(argv[1], "add") == 0 && argc == 4) &&
		!(strcmp(argv[1], "delete") == 0 && argc == 3) &&
		!(strcmp(argv[1], "list") == 0 && argc <= 3))
		return app_usage_error(&cmd_route,
			"expected 'add PREFIX NEXT_HOP', 'delete PREFIX' or 'list [PREFIX]'");
	if (argc == 4 && parse_number(argv[3], &hop) < 0)
		return app_usage_error(&cmd_route,
			"bad next hop '%s'; expected the number of a neighbour", argv[3]);
	instance = remote_instance(&cmd_route, instance);
	if (instance == NULL)
		return APP_FAILED;
	if (strcmp(argv[1], "add") == 0)
		return finish(remote_ask(&cmd_route, instance, argv[2], "route/add",
				      json_pack("{s:s, s:I}", "prefix", argv[2], "hop", hop)),
			json);
	if (strcmp(argv[1], "delete") == 0)
		return finish(remote_ask(&cmd_route, instance, argv[2], "route/delete",
				      json_pack("{s:s}", "prefix", argv[2])),
			json);
	return list(instance, argc == 3 ? argv[2] : NULL, json);
}

const struct app_command cmd_route = {
	.name = "route",
	.arguments =
		"add PREFIX NEXT_HOP | delete PREFIX | list [PREFIX]  [--instance NAME] [--json]",
	.summary = "Add, delete and list routes of a running instance.",
	.help = "  weir route add 192.0.2.0/24 3      (or replace it)\n"
		"  weir route delete 192.0.2.0/24\n"
		"\n"
		"Packets keep flowing meanwhile; each sees the routes before or after the "
		"change.\n",
	.run = route_run,
};
