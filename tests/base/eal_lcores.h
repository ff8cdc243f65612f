/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_BASE_EAL_LCORES_H
#define WEIR_TESTS_BASE_EAL_LCORES_H

#include <sched.h>
#include <stdio.h>

/* EAL's --lcores: "(0-2)@(0,1,3)": each on any of the CPUs that we may run on, for they are shared with other tests. */
static inline void
eal_lcores(char *text, size_t size, unsigned int nb)
{
	size_t at = (size_t)snprintf(text, size, "(0-%u)@(", nb - 1);
	const char *comma = "";
	cpu_set_t allowed;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE && at + 8 < size; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		at += (size_t)snprintf(text + at, size - at, "%s%d", comma, cpu);
		comma = ",";
	}
	snprintf(text + at, size - at, ")");
}

#endif
