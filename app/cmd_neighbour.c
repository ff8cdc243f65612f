/* SPDX-License-Identifier: BSD-3-Clause */
/* weir neighbour: next hops of a running instance. */
#include <string.h>

#include "app.h"
#include "remote.h"

static int
parse_id(const char *text, json_int_t *id)
{
	return remote_parse_number(text, id)
		       ? APP_OK
		       : app_usage_error(&cmd_neighbour, "bad id '%s'; expected a number", text);
}

/* add ID PORT [MAC], add ID blackhole, add ID local */
static int
add_arguments(int argc, char **argv, json_t **args)
{
	const char *what = argv[3], *mac = argv[4];
	json_int_t id;
	int code = parse_id(argv[2], &id);

	if (code != APP_OK)
		return code;
	if (mac != NULL)
		*args = json_pack("{s:I, s:s, s:s}", "id", id, "port", what, "mac", mac);
	else if (strcmp(what, "blackhole") == 0 || strcmp(what, "local") == 0)
		*args = json_pack("{s:I, s:s}", "id", id, "kind", what);
	else
		*args = json_pack("{s:I, s:s, s:s}", "id", id, "kind", "incomplete", "port", what);
	return APP_OK;
}

static int
delete_arguments(int argc, char **argv, json_t **args)
{
	json_int_t id;
	int code = parse_id(argv[2], &id);

	if (code == APP_OK)
		*args = json_pack("{s:I}", "id", id);
	return code;
}

static const char *
text_of(const json_t *hop, const char *key)
{
	const char *text = json_string_value(json_object_get(hop, key));

	return text != NULL ? text : "";
}

static void
print_list(const json_t *answer)
{
	const json_t *hop;
	size_t index;

	json_array_foreach (json_object_get(answer, "neighbours"), index, hop) {
		printf("%-8" JSON_INTEGER_FORMAT " %-12s %-16s %s\n",
			json_integer_value(json_object_get(hop, "id")), text_of(hop, "kind"),
			text_of(hop, "port"), text_of(hop, "mac"));
	}
}

static int
neighbour_run(int argc, char **argv)
{
	static const struct remote_verb verbs[] = {
		{"add", 2, 3, "neighbour/add", add_arguments, NULL, NULL, NULL},
		{"delete", 1, 1, "neighbour/delete", delete_arguments, NULL, NULL, NULL},
		{"list", 0, 0, "neighbour/list", NULL, print_list, NULL, NULL},
		{.name = NULL},
	};

	return remote_run_verb(&cmd_neighbour, verbs,
		"'add ID PORT [MAC]', 'add ID blackhole', 'add ID local', 'delete ID' or 'list'",
		argc, argv);
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
