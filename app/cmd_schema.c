/* SPDX-License-Identifier: BSD-3-Clause */
/* weir schema: the vocabulary of description files. */
#include "app.h"
#include "schema.h"

static int
schema_run_command(int argc, char **argv)
{
	bool markdown = false, json = false;
	const struct app_option options[] = {{"markdown", APP_OPTION_FLAG, &markdown},
		{"json", APP_OPTION_FLAG, &json}, {.name = NULL}};
	int code = app_options(&cmd_schema, &argc, argv, options, 0, 0);

	if (code >= 0)
		return code;
	if (markdown && json)
		return app_usage_error(&cmd_schema, "--markdown or --json, not both");
	if (!markdown)
		return app_print_json(
			weir_base_doc_schema_json(&schema_root, "Weir description file"));
	printf("# Description files\n\n"
	       "This reference is made by `weir schema --markdown`; do not edit it.\n\n");
	weir_base_doc_schema_markdown(&schema_root, stdout);
	return app_finish(APP_OK);
}

const struct app_command cmd_schema = {
	.name = "schema",
	.arguments = "[--json | --markdown]",
	.summary = "Print the JSON Schema of description files, or their reference as Markdown.",
	.help = "An editor that knows JSON Schema for YAML completes and checks description files "
		"with it:\n"
		"  weir schema > weir.schema.json\n",
	.run = schema_run_command,
};
