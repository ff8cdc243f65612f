/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* CPU sets */
#endif

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include <weir_base.h>
#include <weir_base_eal.h>

#include "example.h"

#define CORES_MAX  32
#define RUN_DRY_NS UINT64_C(60000000000)
#define FAILED_MAX 5 /* messages */

static const char *backend = "builtin";
static pthread_t threads[CORES_MAX];
static struct weir_em_core *cores[CORES_MAX];
static unsigned int nb_ready;
static bool over;
static unsigned int nb_failed;

/* ---- the command line ---- */

/* What it is called, without the folder. */
static const char *
name_of(const char *program)
{
	const char *slash = strrchr(program, '/');

	return slash == NULL ? program : slash + 1;
}

static void
help(const struct example *ex, const char *program)
{
	printf("%s: %s\n\n"
	       "usage: %s [--seconds N] [--cores N] [--backend BACKEND]%s [-- OPTIONS]\n\n"
	       "  --seconds N        how long to run (default: 2)\n"
	       "  --cores N          threads that are cores, up to %d (default: %u, by CPUs)\n"
	       "  --backend BACKEND  scheduler: builtin (default), or a device of DPDK's, as\n"
	       "                     eventdev:event_dsw0 or eventdev:event_sw0\n",
		program, ex->about, program, ex->file != NULL ? " [FILE]" : "", CORES_MAX,
		ex->nb_cores);
	if (ex->file != NULL)
		printf("  FILE               where the result goes (default: %s)\n", ex->file);
	printf("  -- OPTIONS         EAL's, instead of --no-huge --no-pci -m 256 and the like\n");
	exit(0);
}

static void refuse(const char *program, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

static void
refuse(const char *program, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "; see %s --help\n", program);
	exit(2);
}

/* What comes behind an option. */
static double
number(const char *program, char *const *option, double least, double most)
{
	const char *text = option[1] != NULL ? option[1] : "";
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value >= least && value <= most))
		refuse(program, "%s: '%s' is not a number from %g to %g", option[0], text, least,
			most);
	return value;
}

/* CPUs that this process may use. */
static unsigned int
cpus(void)
{
	cpu_set_t allowed;

	return sched_getaffinity(0, sizeof(allowed), &allowed) == 0
		       ? (unsigned int)CPU_COUNT(&allowed)
		       : 1;
}

/* @return where EAL's own options begin, or argc */
static int
read_arguments(struct example *ex, int argc, char **argv)
{
	const char *program = name_of(argv[0]);
	bool has_file = ex->file == NULL; /* or none is wanted */

	/* Two at least, or there would be nothing to see. */
	ex->nb_cores = RTE_MAX(2u, RTE_MIN(4u, cpus()));
	ex->seconds = 2;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			return i;
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			help(ex, program);
		if (strcmp(argv[i], "--seconds") == 0) {
			ex->seconds = number(program, &argv[i++], 0.01, 1e6);
		} else if (strcmp(argv[i], "--cores") == 0) {
			ex->nb_cores = (unsigned int)number(program, &argv[i++], 1, CORES_MAX);
		} else if (strcmp(argv[i], "--backend") == 0) {
			if (argv[++i] == NULL)
				refuse(program,
					"--backend: builtin or eventdev:DEVICE is expected");
			backend = argv[i];
		} else if (argv[i][0] != '-' && !has_file) {
			ex->file = argv[i];
			has_file = true;
		} else {
			refuse(program, "'%s' was not expected", argv[i]);
		}
	}
	return argc;
}

/* EAL's options: those behind "--", or what makes it start anywhere: no hugepages, no devices, any CPU. */
static void
start_eal(char *program, int argc, char **argv)
{
	char prefix[32], lcores[16 + CPU_SETSIZE * 5] = "0@(";
	char *args[24] = {program, "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m",
		"256", "--log-level=lib.eal:error", "--file-prefix", prefix, "--lcores", lcores};
	int nb = 12;
	cpu_set_t allowed;

	snprintf(prefix, sizeof(prefix), "example-%ld", (long)getpid());
	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			sprintf(lcores + strlen(lcores), "%d,", cpu);
	lcores[strlen(lcores) - 1] = ')';
	if (strncmp(backend, "eventdev:", 9) == 0) {
		args[nb++] = "--vdev";
		args[nb++] = strchr(backend, ':') + 1;
	}
	if (argc > 0)
		argv[0] = program; /* instead of "--" */
	weir_base_eal_clean_up_at_exit();
	if (rte_eal_init(argc > 0 ? argc : nb, argc > 0 ? argv : args) < 0) {
		fprintf(stderr, "EAL does not start: %s\n", rte_strerror(rte_errno));
		exit(1);
	}
}

/* ---- cores ---- */

/* A thread that is a core until the instance is stopped. */
static void *
work(void *arg)
{
	struct example *ex = arg;
	unsigned int id = __atomic_add_fetch(&nb_ready, 1, __ATOMIC_RELAXED);
	struct weir_em_core *core;

	/* An lcore of EAL's: caches of buffers belong to these. */
	example_must(rte_thread_register() == 0, "a thread for EAL");
	core = weir_em_core_attach(ex->em, id);
	example_must(core != NULL, "a core");
	__atomic_store_n(&cores[id], core, __ATOMIC_RELEASE);
	weir_em_dispatch(core,
		&(struct weir_em_dispatch_options){.burst = ex->burst, .idle = WEIR_EM_IDLE_YIELD});
	weir_em_core_detach(core);
	rte_thread_unregister();
	return NULL;
}

void
example_begin(struct example *ex, int argc, char **argv, struct weir_em_config config)
{
	int eal;

	*ex = (struct example){.burst = ex->burst, .about = ex->about, .file = ex->file};
	eal = read_arguments(ex, argc, argv);
	start_eal(argv[0], argc - eal, argv + eal);
	config.backend = backend;
	config.nb_cores = ex->nb_cores;
	config.socket_id = -1;
	ex->em = weir_em_create(name_of(argv[0]), &config);
	example_must(ex->em != NULL, "an event machine");
	ex->core = weir_em_core_attach(ex->em, 0);
	example_must(ex->core != NULL, "core 0");
	for (unsigned int id = 1; id < ex->nb_cores; id++)
		example_must(pthread_create(&threads[id], NULL, work, ex) == 0, "a thread");
	/* Until they are all there: event devices want that. */
	for (unsigned int id = 1; id < ex->nb_cores; id++)
		while (__atomic_load_n(&cores[id], __ATOMIC_ACQUIRE) == NULL)
			sched_yield();
}

void
example_dispatch(struct example *ex, double seconds)
{
	weir_em_dispatch(ex->core, &(struct weir_em_dispatch_options){.burst = ex->burst,
					   .duration_ns = (uint64_t)(seconds * 1e9),
					   .idle = WEIR_EM_IDLE_YIELD});
}

void
example_run(struct example *ex)
{
	example_dispatch(ex, ex->seconds);
	example_stop(ex);
}

bool
example_over(void)
{
	return __atomic_load_n(&over, __ATOMIC_RELAXED);
}

double
example_measure(struct example *ex, double seconds, const char *what)
{
	struct weir_em_stats before, after;
	uint64_t begun, cycles, events;
	double rate;

	example_dispatch(ex, seconds / 10); /* caches, branch predictors, clocks */
	weir_em_stats(ex->em, &before);
	begun = weir_base_cycles();
	example_dispatch(ex, seconds * 9 / 10);
	cycles = weir_base_cycles() - begun;
	weir_em_stats(ex->em, &after);
	events = after.nb_received - before.nb_received;
	rate = (double)events / ((double)cycles / (double)weir_base_cycles_hz()) / 1e6;
	printf("%-24s %8.2f Mev/s  %8.1f cycles per event and core\n", what, rate,
		(double)cycles * ex->nb_cores / (double)RTE_MAX(events, UINT64_C(1)));
	fflush(stdout);
	return rate;
}

/* ---- the end ---- */

/* Events that were sent, in all; @inside: and have not been received. In rings they may stay: nobody is called for them. */
static uint64_t
count_sent(struct weir_em *em, uint64_t *inside)
{
	struct weir_em_queue_stats stats;
	uint64_t sent = 0;

	*inside = 0;
	for (enum weir_em_queue_type type = 0; type < WEIR_EM_QUEUE_TYPES; type++) {
		if (type == WEIR_EM_QUEUE_UNSCHEDULED || weir_em_type_stats(em, type, &stats) < 0)
			continue;
		sent += stats.nb_sent;
		*inside += stats.nb_sent - stats.nb_received - stats.nb_dropped;
	}
	return sent;
}

void
example_rest(struct example *ex)
{
	uint64_t begun = weir_base_time_ns(), sent, last = UINT64_MAX, inside = 1;

	/* Counters of several cores are not of one moment: twice the same. */
	for (;; last = inside == 0 ? sent : UINT64_MAX) {
		example_dispatch(ex, 0.002);
		sent = count_sent(ex->em, &inside);
		if (inside == 0 && sent == last)
			return;
		if (weir_base_time_ns() - begun < RUN_DRY_NS)
			continue;
		example_failed("%" PRIu64 " of %" PRIu64 " events did not come", inside, sent);
		weir_em_dump(ex->em, stderr, 20);
		return;
	}
}

void
example_stop(struct example *ex)
{
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	example_rest(ex);
}

static void
count_lost(void *arg, weir_em_queue queue, struct rte_event *event)
{
	example_failed("an event is left in queue %" PRIx64, queue);
}

bool
example_held(void)
{
	return __atomic_load_n(&nb_failed, __ATOMIC_RELAXED) == 0;
}

int
example_end(struct example *ex)
{
	unsigned int failed;

	example_rest(ex);
	weir_em_stop(ex->em);
	for (unsigned int id = 1; id < ex->nb_cores; id++)
		pthread_join(threads[id], NULL);
	weir_em_core_detach(ex->core);
	example_must(weir_em_destroy(ex->em, count_lost, NULL) == 0, "an end");
	rte_eal_cleanup();
	failed = __atomic_load_n(&nb_failed, __ATOMIC_RELAXED);
	if (failed > 0)
		fprintf(stderr, "FAILED: %u times it was not as it should be\n", failed);
	return failed > 0;
}

/* ---- what all need ---- */

weir_em_queue
example_serve(struct example *ex, struct weir_em_queue_config queue_config,
	struct weir_em_object_config config)
{
	weir_em_queue queue = weir_em_queue_create(ex->em, &queue_config);
	weir_em_object object;

	example_must(queue != WEIR_EM_NONE, queue_config.name);
	config.name = queue_config.name;
	object = weir_em_object_create(ex->em, &config);
	example_must(object != WEIR_EM_NONE, config.name);
	example_must(weir_em_object_add_queue(ex->em, object, queue) == 0, config.name);
	example_must(weir_em_object_start(ex->em, ex->core, object, NULL) == 0, config.name);
	return queue;
}

void
example_must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "cannot have %s\n", what);
	exit(1);
}

void
example_failed(const char *format, ...)
{
	va_list args;

	if (__atomic_fetch_add(&nb_failed, 1, __ATOMIC_RELAXED) >= FAILED_MAX)
		return;
	va_start(args, format);
	flockfile(stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	funlockfile(stderr);
	va_end(args);
}
