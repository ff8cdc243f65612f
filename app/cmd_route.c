/* SPDX-License-Identifier: BSD-3-Clause */
/* weir route: routes of a running instance. */
#include "app.h"
#include "remote.h"

#define PIECE 50000 /* routes to ask for at a time */

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

/* @param first  nothing is printed yet */
static void
print_routes(const json_t *routes, bool json, bool first)
{
	const json_t *route;
	size_t index;

	json_array_foreach (routes, index, route) {
		const char *prefix = json_string_value(json_object_get(route, "prefix"));
		json_int_t hop = json_integer_value(json_object_get(route, "next_hop"));

		if (json) /* nothing in a prefix has to be escaped */
			printf("%s\n    {\"prefix\": \"%s\", \"next_hop\": %" JSON_INTEGER_FORMAT
			       "}",
				first && index == 0 ? "" : ",", prefix, hop);
		else
			printf("%-44s %" JSON_INTEGER_FORMAT "\n", prefix, hop);
	}
}

/* The next routes after those that were printed. @return NULL: the reason was printed */
static json_t *
next_routes(const char *instance, json_t *args)
{
	return remote_ask(&cmd_route, instance, json_string_value(json_object_get(args, "name")),
		"route/list", json_incref(args));
}

/* A piece at a time: neither side holds more of a table, which goes on changing meanwhile. */
static int
list_run(const char *instance, json_t *args, bool json)
{
	json_int_t more = 1;
	json_t *answer, *all = args != NULL ? args : json_object();
	bool first = true;

	json_object_set_new(all, "max", json_integer(PIECE));
	while (more != 0 && (answer = next_routes(instance, all)) != NULL) {
		const json_t *routes = json_object_get(answer, "routes");
		const json_t *last = json_array_get(routes, json_array_size(routes) - 1);

		if (json && first)
			app_begin_json("{\n  \"routes\": [");
		print_routes(routes, json, first);
		more = last != NULL ? json_integer_value(json_object_get(answer, "more")) : 0;
		json_object_set(all, "after", json_object_get(last, "prefix"));
		json_decref(answer);
		first = false;
	}
	json_decref(all);
	if (json && !first)
		printf("\n  ],\n  \"more\": %" JSON_INTEGER_FORMAT "\n}\n", more);
	return app_finish(more == 0 ? APP_OK : APP_FAILED);
}

static int
route_run(int argc, char **argv)
{
	static const struct remote_verb verbs[] = {
		{"add", 2, 2, "route/add", add_arguments, NULL, NULL, NULL},
		{"delete", 1, 1, "route/delete", delete_arguments, NULL, NULL, NULL},
		{.name = "list", .max_args = 1, .arguments = list_arguments, .run = list_run},
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
		"  weir route list                    (all, in order of addresses)\n"
		"  weir route list 192.0.0.0/16       (those within)\n"
		"\n"
		"Packets keep flowing meanwhile; each sees the routes before or after the "
		"change.\n",
	.run = route_run,
};
