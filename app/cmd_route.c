/* SPDX-License-Identifier: BSD-3-Clause */
/* weir route: routes of a running instance. */
#include "app.h"
#include "remote.h"

static int
add_arguments(int argc, char **argv, json_t **args)
{
	json_int_t hop;

	if (!remote_parse_number(argv[3], &hop))
		return app_usage_error(&cmd_route,
			"bad next hop '%s'; expected the number of a neighbour", argv[3]);
	*args = json_pack("{s:s, s:I}", "prefix", argv[2], "hop", hop);
	return APP_OK;
}

static int
delete_arguments(int argc, char **argv, json_t **args)
{
	*args = json_pack("{s:s}", "prefix", argv[2]);
	return APP_OK;
}

static int
list_arguments(int argc, char **argv, json_t **args)
{
	if (argv[2] != NULL)
		*args = json_pack("{s:s}", "name", argv[2]);
	return APP_OK;
}

static void
print_list(const json_t *answer)
{
	const json_t *route;
	size_t index;

	json_array_foreach (json_object_get(answer, "routes"), index, route) {
		printf("%-44s %" JSON_INTEGER_FORMAT "\n",
			json_string_value(json_object_get(route, "prefix")),
			json_integer_value(json_object_get(route, "next_hop")));
	}
	if (json_integer_value(json_object_get(answer, "more")) != 0)
		printf("... and %" JSON_INTEGER_FORMAT
		       " more; `weir route list PREFIX` lists those within a prefix\n",
			json_integer_value(json_object_get(answer, "more")));
}

static int
route_run(int argc, char **argv)
{
	static const struct remote_verb verbs[] = {
		{"add", 2, 2, "route/add", add_arguments, NULL},
		{"delete", 1, 1, "route/delete", delete_arguments, NULL},
		{"list", 0, 1, "route/list", list_arguments, print_list},
		{.name = NULL},
	};

	return remote_run_verb(&cmd_route, verbs,
		"'add PREFIX NEXT_HOP', 'delete PREFIX' or 'list [PREFIX]'", argc, argv);
}

const struct app_command cmd_route = {
	.name = "route",
	.arguments =
		"add PREFIX NEXT_HOP | delete PREFIX | list [PREFIX]  [--instance NAME] [--json]",
	.summary = "Add, delete and list routes of a running instance.",
	.help = "  weir route add 192.0.2.0/24 3      (or replace it)\n"
		"  weir route delete 192.0.2.0/24\n"
		"  weir route list 192.0.0.0/16       (those within; 10,000 at most, it tells how "
		"many more)\n"
		"\n"
		"Packets keep flowing meanwhile; each sees the routes before or after the "
		"change.\n",
	.run = route_run,
};
