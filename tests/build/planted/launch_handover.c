/* SPDX-License-Identifier: BSD-3-Clause */
/* No bug: main sets up what a launched lcore counts on, and reads what it left; both are told to the sanitizer. */
#include <rte_launch.h>
#include <rte_lcore.h>

#include "mbuf.h"

static int given, returned;

static int
work(void *arg)
{
	weir_base_happens_after(arg);
	returned = given + 1;
	weir_base_happens_before(arg);
	return 0;
}

int
main(int argc, char **argv)
{
	unsigned int lcore;

	mbuf_make(argv[argc - 1]);
	lcore = rte_get_next_lcore(-1, 1, 0);
	if (lcore >= RTE_MAX_LCORE)
		return 2;
	for (int i = 0; i < 1000; i++) {
		given = i;
		weir_base_happens_before(&given);
		if (rte_eal_remote_launch(work, &given, lcore) != 0)
			return 3;
		rte_eal_wait_lcore(lcore);
		weir_base_happens_after(&given);
		if (returned != i + 1)
			return 4;
	}
	return 0;
}
