/* SPDX-License-Identifier: BSD-3-Clause */

/* DPDK's environment on one pinned core. */

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "harness.h"

/* Megabytes of free hugepages of all sizes. */
static uint64_t
huge_free_megabytes(void)
{
	const char *root = "/sys/kernel/mm/hugepages";
	DIR *dir = opendir(root);
	struct dirent *entry;
	unsigned long kilobytes, nb;
	uint64_t sum = 0;
	char path[512];
	FILE *file;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (sscanf(entry->d_name, "hugepages-%lukB", &kilobytes) != 1)
			continue;
		snprintf(path, sizeof(path), "%s/%s/free_hugepages", root, entry->d_name);
		file = fopen(path, "r");
		if (file != NULL && fscanf(file, "%lu", &nb) == 1)
			sum += (uint64_t)nb * kilobytes / 1024;
		if (file != NULL)
			fclose(file);
	}
	if (dir != NULL)
		closedir(dir);
	return sum;
}

/* The CPU asked for, or the last one allowed: the first ones take more interrupts. */
static int
choose_cpu(int wish)
{
	int cpu = -1;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return -errno;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set) && (wish < 0 || wish == i))
			cpu = i;
	return cpu < 0 ? -EINVAL : cpu;
}

/* EAL makes a directory of its own even when it shares nothing. */
static void
remove_runtime_dir(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s", rte_eal_get_runtime_dir());
	rte_eal_cleanup();
	rmdir(path);
}

int
bench_eal_start(const struct bench_options *options, unsigned int megabytes, const char **memory)
{
	bool huge = huge_free_megabytes() >= megabytes;
	char lcores[32], size[16], prefix[64];
	char *argv[] = {"weir-bench", "--no-pci", "--no-telemetry", "--log-level=error", "--lcores",
		lcores, "-m", size, "--file-prefix", prefix, huge ? "--in-memory" : "--no-shconf",
		"--no-huge", NULL};
	int argc = huge ? 11 : 12;
	int cpu = choose_cpu(options->cpu);

	if (cpu < 0) {
		fprintf(stderr, "weir bench: cannot run on CPU %d: %s\n", options->cpu,
			cpu == -EINVAL ? "not one that this process may use" : strerror(-cpu));
		return cpu;
	}
	snprintf(lcores, sizeof(lcores), "0@%d", cpu);
	snprintf(size, sizeof(size), "%u", megabytes);
	snprintf(prefix, sizeof(prefix), "weir-bench-%ld", (long)getpid());
	rte_log_set_global_level(RTE_LOG_ERR);
	if (rte_eal_init(argc, argv) < 0) {
		fprintf(stderr, "weir bench: cannot start DPDK's environment: %s\n",
			rte_strerror(rte_errno));
		return -rte_errno;
	}
	atexit(remove_runtime_dir);
	*memory = huge ? "hugepages" : "no hugepages (ordinary 4 KB pages)";
	return 0;
}
