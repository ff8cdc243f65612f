/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CORO_TEST_EAL_H
#define CORO_TEST_EAL_H

/* Tests on EAL's threads. */

#include "coro_test.h"

#include <sched.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "weir_base_eal.h"

/* "0@2,1@5,2@2": so many lcores, on the CPUs that there are, in turns. */
static inline void
spread_lcores(unsigned int nb, char *text, size_t size)
{
	unsigned int cpu = CPU_SETSIZE - 1;
	size_t length = 0;
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		CPU_ZERO(&cpus);
	if (CPU_COUNT(&cpus) == 0)
		CPU_SET(0, &cpus);
	for (unsigned int i = 0; i < nb && length < size; i++) {
		do
			cpu = (cpu + 1) % CPU_SETSIZE;
		while (!CPU_ISSET(cpu, &cpus));
		length += (size_t)snprintf(
			text + length, size - length, "%s%u@%u", i == 0 ? "" : ",", i, cpu);
	}
}

static inline int
begin_eal(unsigned int nb_lcores)
{
	char lcores[256], prefix[32];
	char *args[] = {(char *)"test_coro", (char *)"--no-huge", (char *)"--no-pci",
		(char *)"--no-shconf", (char *)"--no-telemetry", (char *)"-m", (char *)"64",
		(char *)"--log-level=lib.eal:4", (char *)"--lcores", lcores,
		(char *)"--file-prefix", prefix};
	int rc;

	spread_lcores(nb_lcores, lcores, sizeof(lcores));
	snprintf(prefix, sizeof(prefix), "weir-test-coro-%d", (int)getpid());
	weir_base_eal_clean_up_at_exit();
	rc = rte_eal_init(RTE_DIM(args), args);
	if (rc < 0)
		fprintf(stderr, "no EAL: %s\n", rte_strerror(rte_errno));
	return rc;
}

/* cmocka_run_group_tests() with so many lcores, numbered from 0. */
#define run_on_eal(nb_lcores, tests)                                                               \
	({                                                                                         \
		int run_rc = 1;                                                                    \
                                                                                                   \
		if (begin_eal(nb_lcores) >= 0) {                                                   \
			run_rc = cmocka_run_group_tests(tests, NULL, NULL);                        \
			rte_eal_cleanup();                                                         \
		}                                                                                  \
		run_rc;                                                                            \
	})

#endif
