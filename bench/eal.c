/* SPDX-License-Identifier: BSD-3-Clause */

/* DPDK's environment on one pinned core. */

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_malloc.h>

#include <weir_base_eal.h>

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

static void
stop_eal(void)
{
	rte_eal_cleanup();
}

/* A benchmark holds nothing else that would outlive it. Others wait until this returns: a terminal that is closed says so twice. */
static void
on_signal(int number)
{
	rmdir(rte_eal_get_runtime_dir());
	signal(number, SIG_DFL);
	raise(number);
}

/* Ended by a signal as without this, but the directory goes, too. What is ignored stays so. */
static void
take_signals(sigset_t *set)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal}, before;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < RTE_DIM(numbers); i++)
		sigaddset(&action.sa_mask, numbers[i]);
	sigemptyset(set);
	for (size_t i = 0; i < RTE_DIM(numbers); i++)
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
			sigaction(numbers[i], &action, NULL);
			sigaddset(set, numbers[i]);
		}
}

/* Signals wait meanwhile: the directory is there before EAL can tell its name. */
static int
init_eal(int argc, char **argv)
{
	sigset_t taken, before;
	int code;

	weir_base_eal_clean_up_at_exit();
	take_signals(&taken);
	pthread_sigmask(SIG_BLOCK, &taken, &before);
	code = rte_eal_init(argc, argv);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

int
bench_eal_start(const struct bench_options *options, unsigned int megabytes, unsigned int heap)
{
	bool huge = huge_free_megabytes() >= megabytes + heap;
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
	if (init_eal(argc, argv) < 0) {
		fprintf(stderr, "weir bench: cannot start DPDK's environment: %s\n",
			rte_strerror(rte_errno));
		return -rte_errno;
	}
	atexit(stop_eal);
	return 0;
}

#define HUGE_PAGE ((size_t)2 << 20)

int
bench_memory_socket(unsigned int megabytes)
{
	static const char *name = "weir-bench";
	const size_t size = RTE_ALIGN_CEIL((size_t)megabytes << 20, HUGE_PAGE);
	void *area;

	if (rte_eal_has_hugepages())
		return 0;
	area = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED) {
		fprintf(stderr, "weir bench: no %u MB of memory: %s\n", megabytes, strerror(errno));
		return -errno;
	}
	area = RTE_PTR_ALIGN_CEIL(area, HUGE_PAGE);
	madvise(area, size,
		MADV_HUGEPAGE); /* a wish: without it this works, slower, on both sides */
	if (rte_malloc_heap_create(name) != 0 ||
		rte_malloc_heap_memory_add(
			name, area, size, NULL, (unsigned int)(size / HUGE_PAGE), HUGE_PAGE) != 0) {
		fprintf(stderr, "weir bench: cannot make a heap: %s\n", rte_strerror(rte_errno));
		return -rte_errno;
	}
	return rte_malloc_heap_get_socket(name);
}

const char *
bench_memory_kind(void)
{
	static char text[64];
	unsigned long kilobytes = 0;
	char line[128];
	FILE *file;

	if (rte_eal_has_hugepages())
		return "hugepages";
	file = fopen("/proc/self/smaps_rollup", "r");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "AnonHugePages: %lu kB", &kilobytes) == 1)
			break;
	if (file != NULL)
		fclose(file);
	if (kilobytes == 0)
		return "4 KB pages";
	snprintf(text, sizeof(text), "4 KB pages and %lu MB on transparent hugepages",
		kilobytes / 1024);
	return text;
}
