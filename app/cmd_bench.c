/* SPDX-License-Identifier: BSD-3-Clause */
/* weir bench NAME: measurements beside a peer. */
#include "app.h"
#ifdef WEIR_APP_WITH_BENCH
#include "bench.h"
#endif

static int
bench_run(int argc, char **argv)
{
#ifdef WEIR_APP_WITH_BENCH
	return weir_bench_main(argc, argv);
#else
	int code = app_options(&cmd_bench, &argc, argv, NULL, 0, 1);

	return code >= 0 ? code
			 : app_error(&cmd_bench, "this program was built without benchmarks");
#endif
}

const struct app_command cmd_bench = {
	.name = "bench",
	.arguments = "[NAME] [OPTIONS]",
	.summary = "Measure Weir beside a named peer, in one run.",
	.help = "Without a name all benchmarks run; `weir bench --list` names them.\n",
	.run = bench_run,
};
