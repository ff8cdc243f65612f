/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EAL's arguments, worked out from the description file.
 *
 * Workers that poll devices get a CPU of their own while there are enough; those that
 * read files, and the main thread, which sleeps nearly all the time, may run
 * on any. When CPUs are too few, workers
 * share them (--lcores ID@CPU), and what would spin for a preempted thread must
 * not: the pool uses a ring in RTS mode, and idle workers yield.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include <weir_base.h>
#include <weir_base_eal.h>
#include <weir_base_pool.h>
#include <weir_node_route.h>

#include "eal.h"
#include "eal_log.h"
#include "eal_memory.h"

#define MAX_ARGS 128

/* EAL keeps pointers to its arguments. */
struct arguments {
	char *list[MAX_ARGS];
	int nb;
	bool failed;
};

static void add(struct arguments *args, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void
add(struct arguments *args, const char *format, ...)
{
	va_list list;
	char *text = NULL;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0 || args->nb >= MAX_ARGS - 1) {
		free(text);
		text = NULL;
	}
	va_end(list);
	if (text == NULL) {
		args->failed = true;
		return;
	}
	args->list[args->nb++] = text;
	args->list[args->nb] = NULL;
}

static unsigned int
list_cpus(unsigned int *cpus, unsigned int max_cpus)
{
	cpu_set_t set;
	unsigned int nb_cpus = 0, cpu;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		for (cpu = 0; cpu < CPU_SETSIZE && nb_cpus < max_cpus; cpu++)
			if (CPU_ISSET(cpu, &set))
				cpus[nb_cpus++] = cpu;
	if (nb_cpus == 0)
		cpus[nb_cpus++] = 0;
	return nb_cpus;
}

static bool
is_among(const unsigned int *list, unsigned int nb, unsigned int value)
{
	while (nb > 0)
		if (list[--nb] == value)
			return true;
	return false;
}

/* Does a worker read files only? Then it has no queue to lose packets from while it waits for a CPU. */
static bool
reads_files_only(const struct config *config, const struct config_worker *worker)
{
	unsigned int i;

	for (i = 0; i < worker->nb_rx; i++)
		if (config->ports[worker->rx[i].port].device != NULL)
			return false;
	return true;
}

/*
 * The CPU of each worker: the one it asks for; any (-1) when it asks for none and
 * reads files; else the next that nobody asked for, the first one last, for there is most else to do.
 */
static void
place_workers(struct eal *eal, const struct config *config, const unsigned int *cpus, int *cpu_of,
	bool small)
{
	bool taken[CPU_SETSIZE] = {false};
	unsigned int i, next = 1, tries;

	for (i = 0; i < config->nb_workers; i++) {
		cpu_of[i] = config->workers[i].lcore;
		if (cpu_of[i] >= 0 && !is_among(cpus, eal->nb_cpus, (unsigned int)cpu_of[i])) {
			if (!small)
				weir_base_log(WEIR_BASE_LOG_WARNING, "app",
					"CPU %d is not there or not ours: worker %u runs on "
					"another",
					cpu_of[i], i);
			cpu_of[i] = -1;
		}
		if (cpu_of[i] >= 0)
			taken[cpu_of[i]] = true;
	}
	for (i = 0; i < config->nb_workers; i++) {
		if (cpu_of[i] >= 0 || reads_files_only(config, &config->workers[i]))
			continue;
		for (tries = 0; tries < eal->nb_cpus && taken[cpus[next % eal->nb_cpus]]; tries++)
			next++;
		cpu_of[i] = (int)cpus[next++ % eal->nb_cpus];
		taken[cpu_of[i]] = true;
	}
	eal->crowded = config->nb_workers > eal->nb_cpus;
}

/* A growing text that is cut at its end. */
struct text {
	char bytes[16 * CPU_SETSIZE];
	size_t used;
};

static void append(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void
append(struct text *text, const char *format, ...)
{
	va_list list;
	int length;

	va_start(list, format);
	length =
		vsnprintf(text->bytes + text->used, sizeof(text->bytes) - text->used, format, list);
	va_end(list);
	text->used = RTE_MIN(text->used + (size_t)length, sizeof(text->bytes) - 1);
}

/* "3@(0,1,2)": lcore 3 may run on any of the CPUs. */
static void
append_floating(
	struct text *text, unsigned int lcore, const unsigned int *cpus, unsigned int nb_cpus)
{
	unsigned int i;

	append(text, "%s%u@(", lcore > 0 ? "," : "", lcore);
	for (i = 0; i < nb_cpus; i++)
		append(text, "%s%u", i > 0 ? "," : "", cpus[i]);
	append(text, ")");
}

/* lcore 0 is the main thread, on any CPU; worker i is lcore i + 1. */
static void
add_lcores(struct eal *eal, const struct config *config, bool small, struct arguments *args)
{
	unsigned int cpus[CPU_SETSIZE], i;
	int cpu_of[EAL_WORKERS_MAX];
	struct text text = {.used = 0};

	eal->nb_cpus = list_cpus(cpus, CPU_SETSIZE);
	place_workers(eal, config, cpus, cpu_of, small);
	append_floating(&text, 0, cpus, eal->nb_cpus);
	for (i = 0; i < config->nb_workers; i++) {
		eal->lcores[i] = i + 1;
		if (cpu_of[i] < 0)
			append_floating(&text, i + 1, cpus, eal->nb_cpus);
		else
			append(&text, ",%u@%d", i + 1, cpu_of[i]);
	}
	add(args, "--lcores=%s", text.bytes);
	add(args, "--main-lcore=0");
}

static void
add_memory(struct eal *eal, const struct config *config, bool small, struct arguments *args)
{
	const struct weir_base_doc_value *memory = weir_base_doc_get(config->platform, "memory");
	enum schema_huge huge =
		(enum schema_huge)weir_base_doc_u64(weir_base_doc_get(memory, "huge"));
	uint64_t size = weir_base_doc_u64(weir_base_doc_get(memory, "size"));

	if (small || size == 0)
		size = eal_memory_needed(config, eal->nb_mbufs);
	if (!small && huge == SCHEMA_HUGE_YES && eal_memory_huge_free() < size)
		weir_base_doc_error_add(config->doc, weir_base_doc_get(memory, "huge"),
			"%llu MiB of hugepages are free, and %llu MiB are needed; expected 'auto' "
			"or 'no', or more "
			"of them (dpdk-hugepages.py --setup 1G)",
			(unsigned long long)(eal_memory_huge_free() >> 20),
			(unsigned long long)(size >> 20) + 1);
	eal->huge = !small && (huge == SCHEMA_HUGE_YES ||
				      (huge == SCHEMA_HUGE_AUTO && eal_memory_huge_free() >= size));
	if (!eal->huge) {
		add(args, "--no-huge");
		add(args, "-m");
		add(args, "%llu", (unsigned long long)((size + (1 << 20) - 1) >> 20));
	}
	/*
	 * Nothing of an instance is left in shared file systems, and instances cannot
	 * meet there. (--in-memory is the same for hugepages, and not for the others.)
	 */
	add(args, "%s", eal->huge ? "--in-memory" : "--no-shconf");
}

static void
add_devices(const struct config *config, bool small, struct arguments *args)
{
	bool pci = false;
	unsigned int i;

	for (i = 0; i < config->nb_ports && !small; i++) {
		if (config->ports[i].device == NULL || !config->ports[i].is_pci)
			continue;
		add(args, "--allow=%s", config->ports[i].device);
		pci = true;
	}
	for (i = 0; i < config->receivers.nb && !small; i++) {
		if (!config->receivers.list[i].is_pci)
			continue;
		add(args, "--allow=%s", config->receivers.list[i].device);
		pci = true;
	}
	if (!pci)
		add(args, "--no-pci");
}

static unsigned int
needed_mbufs(const struct config *config)
{
	const struct weir_base_doc_value *mbufs = weir_base_doc_get(config->platform, "mbufs");
	unsigned int count = 8192, i;

	if (config_has_links_only(config))
		return 0; /* links have a pool of their own */
	if (weir_base_doc_given(mbufs, "count"))
		return (unsigned int)weir_base_doc_u64(weir_base_doc_get(mbufs, "count"));
	for (i = 0; i < config->nb_ports; i++)
		if (config->ports[i].device != NULL)
			count += config->ports[i].nb_rx_queues * config->ports[i].rx_ring +
				 config->ports[i].nb_tx_queues * config->ports[i].tx_ring;
	if (config_has_no_graph(config))
		return config->em.nb_events; /* jobs have none, but the event machine has a pool */
	if (config->em.nb_queues > 0)
		count += config->em.nb_events;
	count += (unsigned int)config_shared_packets(config);
	return count + config->nb_workers * (512 + 4u * config->burst);
}

static void
add_user_arguments(const struct config *config, struct arguments *args)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(config->platform, "eal");
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(list); i++)
		add(args, "%s", weir_base_doc_str(weir_base_doc_at(list, i)));
}

/* Signals are for the main thread: EAL's thread for telemetry ends, with an error, when it is the one that a signal interrupts. */
static int
init_beside_signals(int argc, char **argv)
{
	sigset_t ending, before;
	int result;

	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ending, &before);
	result = rte_eal_init(argc, argv);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return result;
}

/* EAL answers an argument that it does not know with two pages of help on standard output. */
static int
init_quietly(int argc, char **argv, bool verbose)
{
	int kept = verbose ? -1 : dup(STDOUT_FILENO), result;
	int null = kept < 0 ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stdout);
	if (null >= 0)
		dup2(null, STDOUT_FILENO);
	result = init_beside_signals(argc, argv);
	fflush(stdout);
	if (null >= 0) {
		dup2(kept, STDOUT_FILENO);
		close(null);
	}
	if (kept >= 0)
		close(kept);
	return result;
}

int
eal_start(struct eal *eal, const struct config *config, bool small, bool verbose)
{
	static struct arguments args; /* EAL is started once, and may keep pointers into these */
	static char *given[MAX_ARGS]; /* EAL drops pointers from its own list */
	int nb_given, result, i;

	weir_base_eal_clean_up_at_exit();
	eal->nb_mbufs = small ? 512 : needed_mbufs(config);
	add(&args, "weir");
	add_lcores(eal, config, small, &args);
	add_memory(eal, config, small, &args);
	add_devices(config, small, &args);
	add(&args, "--file-prefix=weir-%s%s", config->name, small ? "-graph" : "");
	if (small)
		add(&args, "--no-telemetry");
	add_user_arguments(config, &args);
	if (config_nb_errors(config) > 0)
		return -EINVAL;
	if (args.failed || eal_log_open(verbose) < 0) {
		weir_base_log(
			WEIR_BASE_LOG_ERROR, "app", "too many EAL arguments, or out of memory");
		return -ENOMEM;
	}
	/* EAL reorders what it is given. */
	nb_given = args.nb;
	memcpy(given, args.list, sizeof(given));
	result = init_quietly(args.nb, args.list, verbose);
	if (result < 0) {
		result = rte_errno > 0 ? -rte_errno : -EIO;
		if (weir_base_doc_given(config->platform, "eal"))
			weir_base_doc_error_add(config->doc,
				weir_base_doc_get(config->platform, "eal"),
				"DPDK did not start; expected other arguments here, or none");
		weir_base_log(WEIR_BASE_LOG_ERROR, "app",
			"DPDK did not start: %s. It was given:", rte_strerror(-result));
		fprintf(stderr, " ");
		for (i = 1; i < nb_given; i++)
			fprintf(stderr, " %s", given[i]);
		fprintf(stderr, "\n");
		eal_log_print(stderr);
	} else {
		result = 0;
		eal->started = true;
		eal_log_forget();
	}
	eal_log_show_errors(true);
	return result;
}

void
eal_stop(struct eal *eal)
{
	if (!eal->started)
		return;
	eal->started = false;
	eal_log_show_errors(false);
	rte_eal_cleanup();
}

struct rte_mempool *
eal_pool_create(const struct eal *eal, const struct config *config)
{
	const struct weir_base_doc_value *mbufs = weir_base_doc_get(config->platform, "mbufs");
	uint16_t size = (uint16_t)weir_base_doc_u64(weir_base_doc_get(mbufs, "size"));
	unsigned int cache = (unsigned int)weir_base_doc_u64(weir_base_doc_get(mbufs, "cache"));
	struct rte_mempool *pool;

	/* A pool must be able to fill all caches one and a half times (rte_mempool_create() insists for one). */
	if (cache > eal->nb_mbufs * 2 / 3)
		cache = eal->nb_mbufs * 2 / 3;
	pool = weir_base_pool_create("weir_mbufs", eal->nb_mbufs, cache, size, SOCKET_ID_ANY,
		eal->crowded ? "ring_mt_rts" : NULL);
	if (pool == NULL)
		weir_base_log(WEIR_BASE_LOG_ERROR, "app",
			"no memory for %u mbufs of %u bytes: %s; a smaller platform.mbufs.count or "
			"a larger "
			"platform.memory.size helps",
			eal->nb_mbufs, size, rte_strerror(rte_errno));
	return pool;
}
