/* SPDX-License-Identifier: BSD-3-Clause */

/* A service is made, started, stopped, ended. */

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "job_private.h"

#define MAX_JOBS    1024
#define SLICE_NS    25000
#define CACHE       64
#define CACHE_MAX   65536
#define KEPT_PART   4 /* of all places, what cores keep together is one in so many */
#define BUCKETS_MAX 65536
#define PAUSE_NS    50000 /* between two looks whether all jobs have ended */
#define TOLD_MAX    5     /* jobs that are named when they do not end */

/* Zeroed, by cache lines; memory that is not touched costs nothing. @all: what is to be freed */
static void *
lines(void **all, size_t nb, size_t size)
{
	char *memory = calloc(1, nb * size + 64);

	*all = memory;
	return memory != NULL ? memory + (-(uintptr_t)memory & 63) : NULL;
}

static void
free_all(struct weir_job_service *service)
{
	if (service == NULL)
		return;
	free(service->memory_of_jobs);
	free(service->memory_of_workers);
	free(service->buckets);
	pthread_mutex_destroy(&service->lock);
	pthread_mutex_destroy(&service->cancelling);
	free(service->memory);
}

/* @return 0 or a negative errno */
static int
fill_in(struct weir_job_service *service, const struct weir_job_service_config *config)
{
	struct weir_job_service_config *own = &service->config;
	const char *name;

	*own = *config;
	name = own->name != NULL ? own->name : "jobs";
	if (strlen(name) >= sizeof(service->name)) {
		JOB_LOG(ERROR, "the name of a service has up to %zu characters: '%s'",
			sizeof(service->name) - 1, name);
		return -EINVAL;
	}
	strcpy(service->name, name);
	own->name = service->name;
	own->max_jobs = own->max_jobs == 0 ? MAX_JOBS : own->max_jobs;
	own->slice_ns = own->slice_ns == 0 ? SLICE_NS : own->slice_ns;
	own->cache = own->cache == 0 ? CACHE : own->cache;
	if (own->max_jobs > WEIR_JOB_JOBS_MAX / 2 || own->cache > CACHE_MAX ||
		own->slice_ns > WEIR_EM_TIMEOUT_NS_MAX) {
		JOB_LOG(ERROR,
			"%s: up to %u jobs, %u of them kept by a core, and slices of up to %" PRIu64
			" ns are expected, not %u, %u, and %" PRIu64,
			service->name, WEIR_JOB_JOBS_MAX / 2, CACHE_MAX, WEIR_EM_TIMEOUT_NS_MAX,
			own->max_jobs, own->cache, own->slice_ns);
		return -EINVAL;
	}
	service->slice = weir_base_ns_to_cycles(own->slice_ns);
	return 0;
}

static int
make_arrays(struct weir_job_service *service)
{
	uint32_t nb_buckets = 64;

	while (nb_buckets < service->config.max_jobs && nb_buckets < BUCKETS_MAX)
		nb_buckets *= 2;
	service->bucket_mask = nb_buckets - 1;
	service->nb_jobs = service->config.max_jobs;
	/* not so many that they would have to be taken away from cores all the time */
	service->cache = RTE_MIN(service->config.cache,
		service->config.max_jobs / (KEPT_PART * service->nb_workers));
	service->jobs = lines(&service->memory_of_jobs, service->nb_jobs, sizeof(*service->jobs));
	service->workers =
		lines(&service->memory_of_workers, service->nb_workers, sizeof(*service->workers));
	service->buckets = calloc(nb_buckets, sizeof(*service->buckets));
	if (service->jobs == NULL || service->workers == NULL || service->buckets == NULL)
		return -ENOMEM;
	for (unsigned int id = 0; id < service->nb_workers; id++) {
		service->workers[id].service = service;
		service->workers[id].id = id;
		job_lane_init(&service->workers[id].lane);
	}
	return 0;
}

/* Jobs that name no stack class must find one: not each of them is to be refused later. */
static int
check_stacks(const struct weir_job_service *service)
{
	struct weir_base_hist unused; /* the quickest to be asked whether there is such a class */
	int rc = weir_coro_class_slices(service->config.stack_class, &unused);

	if (rc < 0)
		JOB_LOG(ERROR,
			"%s: there is no stack class %u; weir_coro_init() comes before a service",
			service->name, service->config.stack_class);
	return rc;
}

/* Its part of the event machine. */
static int
join(struct weir_job_service *service, const struct weir_em_config *em)
{
	int rc;

	if ((em->types >> WEIR_EM_QUEUE_PARALLEL & 1) == 0 || em->priorities == 0) {
		JOB_LOG(ERROR, "%s: jobs want parallel queues, which %s has not", service->name,
			weir_em_name(service->em));
		return -ENOTSUP;
	}
	rc = check_stacks(service);
	if (rc < 0)
		return rc;
	service->priority = (uint8_t)(31 - __builtin_clz(em->priorities));
	service->groups[0] = weir_em_queue_group_default(service->em);
	service->object = weir_em_object_create(service->em, &(struct weir_em_object_config){
								     .name = service->name,
								     .context = service,
								     .receive = job_receive,
								     .burst = WEIR_EM_BURST_MAX,
								     .core_start = job_core_start,
								     .core_stop = job_core_stop,
							     });
	if (service->object == WEIR_EM_NONE)
		return -rte_errno;
	rc = job_route(service, WEIR_EM_NONE, service->priority);
	return rc < 0 ? rc : weir_em_poll_add(service->em, job_poll, service);
}

/* The opposite. */
static void
part(struct weir_job_service *service, struct weir_em_core *core)
{
	weir_em_object_delete(service->em, core, service->object, WEIR_EM_REMOVE_QUEUES);
	for (unsigned int i = 0; i < JOB_GROUPS; i++)
		for (unsigned int priority = 0; priority < WEIR_EM_PRIORITIES; priority++)
			if (service->queues[i][priority] != WEIR_EM_NONE)
				weir_em_queue_delete(service->em, service->queues[i][priority]);
}

struct weir_job_service *
weir_job_service_create(struct weir_em *em, const struct weir_job_service_config *config)
{
	static const struct weir_job_service_config no_config;
	struct weir_job_service *service;
	struct weir_em_config em_config;
	void *memory;
	int rc = weir_em_config_get(em, &em_config);

	if (rc < 0) {
		rte_errno = -rc;
		return NULL;
	}
	service = lines(&memory, 1, sizeof(*service));
	if (service == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	service->memory = memory;
	service->em = em;
	service->nb_workers = em_config.nb_cores;
	service->needs_fence = !job_barrier_register();
	pthread_mutex_init(&service->lock, NULL);
	pthread_mutex_init(&service->cancelling, NULL);
	rc = fill_in(service, config != NULL ? config : &no_config);
	if (rc == 0)
		rc = job_self_init();
	if (rc == 0)
		rc = make_arrays(service);
	if (rc == 0) {
		rc = join(service, &em_config);
		if (rc < 0 && service->object != WEIR_EM_NONE)
			part(service, NULL);
	}
	if (rc < 0) {
		JOB_LOG(ERROR, "no service of jobs: %s", strerror(-rc));
		free_all(service);
		rte_errno = -rc;
		return NULL;
	}
	return service;
}

int
weir_job_service_start(struct weir_job_service *service, struct weir_em_core *core)
{
	uint32_t stopped;
	bool begun;
	int rc = 0;

	if (service == NULL)
		return -EINVAL;
	stopped = __atomic_load_n(&service->run, __ATOMIC_ACQUIRE);
	if ((stopped & JOB_PHASE) != JOB_STOPPED)
		return -EALREADY;
	if (!service->object_started)
		rc = weir_em_object_start(service->em, core, service->object, NULL);
	if (rc < 0)
		return rc;
	service->object_started = true;
	pthread_mutex_lock(&service->cancelling);
	begun = __atomic_compare_exchange_n(&service->run, &stopped,
		(stopped + JOB_RUN_FIRST) | JOB_STARTED, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&service->cancelling);
	return begun ? 0 : -EALREADY;
}

static bool
name_one(void *arg, const struct weir_job_info *info)
{
	struct weir_job_service *service = arg;

	JOB_LOG(WARNING, "%s: job '%s' (%#" PRIx64 ") goes on: %s %s %s", service->name, info->name,
		info->job, weir_job_state_name(info->state), info->waits_for, info->which);
	return true;
}

static bool
name_some(void *arg, const struct weir_job_info *info)
{
	struct {
		struct weir_job_service *service;
		unsigned int left;
	} *what = arg;

	name_one(what->service, info);
	return --what->left > 0;
}

/* Meanwhile others do something. */
static void
let_go_on(struct weir_em_core *core)
{
	const struct weir_em_dispatch_options few = {.nb_rounds = 16};
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	if (core != NULL)
		weir_em_dispatch(core, &few);
	else
		nanosleep(&pause, NULL);
}

static bool
is_over(uint64_t begun, uint64_t timeout_ns)
{
	return timeout_ns != WEIR_JOB_FOREVER && weir_base_time_ns() - begun >= timeout_ns;
}

static bool
somebody_spawns(const struct weir_job_service *service)
{
	bool spawning = __atomic_load_n(&service->nb_spawning, __ATOMIC_SEQ_CST) > 0;

	for (unsigned int id = 0; id < service->nb_workers && !spawning; id++)
		spawning = __atomic_load_n(&service->workers[id].spawning, __ATOMIC_ACQUIRE);
	return spawning;
}

/* Is a job alive, or, though it is counted as ended, still in its group? In this order. */
static bool
somebody_is_left(struct weir_job_service *service)
{
	bool left = job_nb_live(service) > 0;

	for (unsigned int id = 0; id < service->nb_workers && !left; id++)
		left = __atomic_load_n(&service->workers[id].leaving, __ATOMIC_ACQUIRE);
	return left;
}

/* What there is to be said when it takes too long. @return -ETIMEDOUT */
static int
tell_who_goes_on(struct weir_job_service *service)
{
	struct {
		struct weir_job_service *service;
		unsigned int left;
	} some = {service, TOLD_MAX};

	if (somebody_spawns(service))
		JOB_LOG(WARNING, "%s: a thread has been in weir_job_spawn() since it was stopped",
			service->name);
	weir_job_foreach(service, name_some, &some);
	return -ETIMEDOUT;
}

/* May it be called from here? Jobs, receive functions, and who is told of a job's end would wait for themselves. */
static bool
may_wait(struct weir_em_core *core, const struct job_worker *worker)
{
	return job_self() == NULL &&
	       (core == NULL || (weir_em_current_object(core) == WEIR_EM_NONE &&
					*weir_em_core_holds(core) == 0)) &&
	       (worker == NULL || worker->depth == 0);
}

/* Of a run that is stopped: is it over? Then another one who stopped it was first, and it may have been started again since. */
static bool
has_ended(const struct weir_job_service *service, uint32_t stopping)
{
	return __atomic_load_n(&service->run, __ATOMIC_SEQ_CST) != stopping;
}

/* Those of this run, and of no later one. */
static void
cancel_run(struct weir_job_service *service, uint32_t stopping)
{
	JOB_STALL("cancel all");
	pthread_mutex_lock(&service->cancelling);
	if (!has_ended(service, stopping))
		job_cancel_all(service, NULL);
	pthread_mutex_unlock(&service->cancelling);
}

int
weir_job_service_stop(
	struct weir_job_service *service, struct weir_em_core *core, uint64_t timeout_ns)
{
	const struct job_worker *worker;
	uint64_t begun = weir_base_time_ns();
	uint32_t started, stopping;

	if (service == NULL || job_phase(service) == JOB_STOPPED)
		return -EINVAL;
	worker = job_worker_here(service);
	if (core == NULL && worker != NULL)
		core = worker->core;
	if (!may_wait(core, worker))
		return -EBUSY;
	started = (__atomic_load_n(&service->run, __ATOMIC_SEQ_CST) & ~JOB_PHASE) | JOB_STARTED;
	stopping = (started & ~JOB_PHASE) | JOB_STOPPING;
	__atomic_compare_exchange_n(
		&service->run, &started, stopping, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	job_barrier(service);
	while (!has_ended(service, stopping) && somebody_spawns(service)) {
		if (is_over(begun, timeout_ns))
			return tell_who_goes_on(service);
		sched_yield();
	}
	cancel_run(service, stopping);
	while (!has_ended(service, stopping) && somebody_is_left(service)) {
		if (is_over(begun, timeout_ns))
			return tell_who_goes_on(service);
		let_go_on(core);
	}
	JOB_STALL("none is left");
	__atomic_compare_exchange_n(&service->run, &stopping, stopping & ~JOB_PHASE, false,
		__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return 0;
}

int
weir_job_service_destroy(struct weir_job_service *service, struct weir_em_core *core)
{
	const struct job_worker *worker;
	int rc;

	if (service == NULL)
		return 0;
	if (job_phase(service) != JOB_STOPPED)
		return -EBUSY;
	worker = job_worker_here(service);
	if (core == NULL && worker != NULL)
		core = worker->core;
	if (service->object_started) {
		rc = weir_em_object_stop(service->em, core, service->object, NULL);
		if (rc < 0)
			return rc;
		service->object_started = false;
	}
	weir_em_poll_remove(service->em, core, job_poll, service);
	part(service, core);
	free_all(service);
	return 0;
}

struct weir_em *
weir_job_service_em(const struct weir_job_service *service)
{
	return service != NULL ? service->em : NULL;
}

const char *
weir_job_service_name(const struct weir_job_service *service)
{
	return service != NULL ? service->name : "";
}
