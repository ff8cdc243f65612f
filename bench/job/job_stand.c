/* SPDX-License-Identifier: BSD-3-Clause */

/* An event machine with jobs, and a thread for each of its cores, on CPUs of their own. */

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "job_bench.h"

#define ROUNDS 16 /* that are not looked at one by one */
#define STREAK 16 /* of rounds with something, before that */

static cpu_set_t allowed;
static int cpus[CPU_SETSIZE];
static unsigned int nb_cpus, nb_devices;
static bool crowded;

void
jobs_cpus_init(void)
{
	sched_getaffinity(0, sizeof(allowed), &allowed);
}

/* The calling thread has been pinned to its own meanwhile. */
static void
find_cpus(void)
{
	int own = sched_getcpu();

	for (int cpu = 0; cpu < CPU_SETSIZE && nb_cpus < JOBS_CORES_MAX; cpu++)
		if (cpu != own && CPU_ISSET(cpu, &allowed))
			cpus[nb_cpus++] = cpu;
	crowded = nb_cpus == 0;
	if (crowded)
		cpus[nb_cpus++] = own;
}

unsigned int
jobs_nb_cores(void)
{
	if (nb_cpus == 0)
		find_cpus();
	return nb_cpus;
}

bool
jobs_crowded(void)
{
	return jobs_nb_cores() > 0 && crowded;
}

void
jobs_relax(void)
{
	if (crowded)
		sched_yield();
	else
		rte_pause();
}

void
jobs_step_rest(struct jobs_core *core)
{
	(void)core;
	jobs_relax();
}

/*
 * Rounds with nothing are timed, one by one. After some with something in each, rounds are not looked at any more, several at a time: that costs less. If
 * there was nothing in some of these, they took about what those did that were timed.
 */
void
jobs_step_dispatch(struct jobs_core *core)
{
	const unsigned int nb_rounds = core->streak < STREAK ? 1 : ROUNDS;
	const struct weir_em_dispatch_options options = {.nb_rounds = nb_rounds, .burst = 1};
	uint64_t begun = core->idle_since != 0 ? core->idle_since : weir_base_cycles(), now;
	uint64_t nb = weir_em_dispatch(core->em, &options);

	core->idle_since = 0;
	core->streak = nb < nb_rounds ? 0 : core->streak + 1;
	if (nb == 0) {
		now = weir_base_cycles();
		core->empty_round = (now - begun) / nb_rounds;
		core->idle_since = now;
		jobs_count(&core->idle, now - begun);
		if (crowded)
			sched_yield();
	} else if (nb < nb_rounds) {
		jobs_count(&core->idle, (nb_rounds - nb) * core->empty_round);
	}
}

static void *
thread_main(void *arg)
{
	struct jobs_core *core = arg;
	struct jobs_stand *stand = core->stand;
	uint64_t turn = 0;
	jobs_step_t step = jobs_step_rest;

	rte_thread_register();
	core->em = weir_em_core_attach(stand->em, core->id);
	__atomic_store_n(&core->attached, true, __ATOMIC_RELEASE);
	while (core->em != NULL && step != NULL) {
		if (unlikely(__atomic_load_n(&stand->turn, __ATOMIC_ACQUIRE) != turn)) {
			step = __atomic_load_n(&stand->step, __ATOMIC_RELAXED);
			core->idle_since = 0;
			__atomic_store_n(&core->turn, ++turn, __ATOMIC_RELEASE);
			continue;
		}
		step(core);
	}
	if (core->em != NULL)
		weir_em_core_detach(core->em);
	rte_thread_unregister();
	return NULL;
}

void
jobs_stand_do(struct jobs_stand *stand, jobs_step_t step)
{
	__atomic_store_n(&stand->step, step, __ATOMIC_RELAXED);
	__atomic_store_n(&stand->turn, stand->turn + 1, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < stand->nb_cores; i++)
		while (__atomic_load_n(&stand->cores[i].turn, __ATOMIC_ACQUIRE) != stand->turn)
			jobs_relax();
}

static int
fail(const char *what, int error)
{
	fprintf(stderr, "weir bench job: %s: %s\n", what, rte_strerror(abs(error)));
	return error < 0 ? error : -error;
}

static int
start_thread(struct jobs_stand *stand, unsigned int id)
{
	struct jobs_core *core = &stand->cores[id];
	pthread_attr_t attr;
	cpu_set_t set;
	int rc;

	core->stand = stand;
	core->id = id;
	CPU_ZERO(&set);
	CPU_SET(cpus[id], &set);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	rc = pthread_create(&core->thread, &attr, thread_main, core);
	pthread_attr_destroy(&attr);
	if (rc != 0)
		return fail("no thread", rc);
	while (!__atomic_load_n(&core->attached, __ATOMIC_ACQUIRE))
		jobs_relax();
	if (core->em == NULL) {
		pthread_join(core->thread, NULL);
		return fail("a thread is no core", -EBUSY);
	}
	stand->nb_cores++;
	return 0;
}

/* An event device of its own; -ENOTSUP: DPDK was built without. */
static int
make_device(struct jobs_stand *stand, const char *driver)
{
	snprintf(stand->device, sizeof(stand->device), "%s%u", driver, 100 + nb_devices++);
	if (rte_eal_hotplug_add("vdev", stand->device, "") == 0)
		return 0;
	stand->device[0] = '\0';
	return -ENOTSUP;
}

static int
make_machine(struct jobs_stand *stand, const struct jobs_stand_config *config)
{
	char backend[64] = "builtin";
	struct weir_em_config param = {
		.backend = backend,
		.nb_cores = jobs_nb_cores(),
		.nb_producers = 2,
		.nb_queues = config->nb_queues != 0 ? config->nb_queues : 64,
		.nb_objects = 16,
		.types = config->types,
		.priorities = config->priorities,
		.nb_events = config->nb_events,
		.socket_id = -1,
	};
	int rc = 0;

	if (strcmp(config->backend, "builtin") != 0) {
		rc = make_device(stand, config->backend);
		snprintf(backend, sizeof(backend), "eventdev:%s", stand->device);
	}
	if (rc < 0)
		return rc;
	stand->em = weir_em_create("bench", &param);
	return stand->em != NULL ? 0 : fail("no event machine", -rte_errno);
}

static int
make_service(struct jobs_stand *stand, const struct jobs_stand_config *config)
{
	const struct weir_job_service_config param = {
		.name = "bench", .max_jobs = config->max_jobs, .slice_ns = JOBS_SLICE_NS};
	int rc;

	if (config->max_jobs == 0)
		return 0;
	rc = weir_coro_init(config->stack_bytes != 0 ? config->stack_bytes : JOBS_STACK_BYTES,
		config->in_bytes, 0, config->max_jobs, weir_base_ns_to_cycles(JOBS_SLICE_NS), 64,
		-1);
	if (rc < 0)
		return fail("no coroutines", rc);
	stand->coro = true;
	stand->service = weir_job_service_create(stand->em, &param);
	if (stand->service == NULL)
		return fail("no jobs", -rte_errno);
	rc = weir_job_service_start(stand->service, NULL);
	if (rc < 0)
		return fail("jobs could not be started", rc);
	stand->started = true;
	return 0;
}

int
jobs_stand_create(struct jobs_stand *stand, const struct jobs_stand_config *config)
{
	const unsigned int nb = jobs_nb_cores();
	int rc;

	memset(stand, 0, sizeof(*stand));
	stand->step = jobs_step_rest;
	stand->cores = aligned_alloc(64, nb * sizeof(*stand->cores));
	if (stand->cores == NULL)
		return fail("no memory", -ENOMEM);
	memset(stand->cores, 0, nb * sizeof(*stand->cores));
	rc = make_machine(stand, config);
	for (unsigned int i = 0; i < nb && rc == 0; i++)
		rc = start_thread(stand, i);
	if (rc == 0) {
		jobs_stand_do(stand, jobs_step_dispatch);
		rc = make_service(stand, config);
	}
	if (rc < 0)
		jobs_stand_destroy(stand);
	return rc;
}

bool
jobs_stop(struct jobs_stand *stand)
{
	int rc;

	jobs_stand_do(stand, jobs_step_dispatch);
	if (!stand->started)
		return true;
	rc = weir_job_service_stop(stand->service, NULL, JOBS_PATIENCE_NS);
	if (rc < 0)
		fail("jobs do not end", rc);
	stand->started = rc < 0;
	return rc == 0;
}

static void
drop(void *arg, weir_em_queue queue, struct rte_event *event)
{
	(void)arg;
	(void)queue;
	if (event->event_type == WEIR_EM_EVENT_BUFFER)
		rte_pktmbuf_free(event->mbuf);
}

bool
jobs_stand_destroy(struct jobs_stand *stand)
{
	bool ok = jobs_stop(stand);

	if (ok && stand->service != NULL)
		ok = weir_job_service_destroy(stand->service, NULL) == 0;
	jobs_stand_do(stand, NULL);
	for (unsigned int i = 0; i < stand->nb_cores; i++)
		pthread_join(stand->cores[i].thread, NULL);
	if (stand->em != NULL)
		weir_em_destroy(stand->em, drop, NULL);
	if (stand->coro)
		weir_coro_cleanup();
	if (stand->device[0] != '\0')
		rte_eal_hotplug_remove("vdev", stand->device);
	free(stand->cores);
	memset(stand, 0, sizeof(*stand));
	return ok;
}
