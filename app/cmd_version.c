/* SPDX-License-Identifier: BSD-3-Clause */
/* weir version: of the program, and of the DPDK it runs on. */
#include <rte_version.h>

#include "app.h"

static int
version_run(int argc, char **argv)
{
	bool json = false;
	const struct app_option options[] = {{"json", APP_OPTION_FLAG, &json}, {.name = NULL}};
	int code = app_options(&cmd_version, &argc, argv, options, 0, 0);

	if (code >= 0)
		return code;
	if (json)
		return app_print_json(
			json_pack("{s:s, s:s}", "weir", WEIR_VERSION, "dpdk", rte_version()));
	printf("weir %s, %s\n", WEIR_VERSION, rte_version());
	return app_finish(APP_OK);
}

const struct app_command cmd_version = {
	.name = "version",
	.arguments = "[--json]",
	.summary = "Show the versions of Weir and of DPDK.",
	.help = "",
	.run = version_run,
};
