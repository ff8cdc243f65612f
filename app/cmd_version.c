/* SPDX-License-Identifier: BSD-3-Clause */
/* weir version: of the program, and of the DPDK it runs on. */
#ifndef WEIR_APP_SIM_ONLY
#include <rte_version.h>
#endif

#include "app.h"

/* Of the DPDK it runs on; it need not be there. */
static const char *
dpdk_version(void)
{
#ifndef WEIR_APP_SIM_ONLY
	return rte_version();
#else
	return NULL;
#endif
}

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
			json_pack("{s:s, s:s?}", "weir", WEIR_VERSION, "dpdk", dpdk_version()));
	printf("weir %s, %s\n", WEIR_VERSION,
		dpdk_version() != NULL ? dpdk_version() : "the simulator, without DPDK");
	return app_finish(APP_OK);
}

const struct app_command cmd_version = {
	.name = "version",
	.arguments = "[--json]",
	.summary = "Show the versions of Weir and of DPDK.",
	.help = "",
	.run = version_run,
};
