/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Places of jobs: free ones, of the service and of each core; handles, by which jobs are found. There are max_jobs of them:
 *
 *      service:   places never used | free ones   under the service's lock
 *                           \        |      ^
 *                            v       v      |   some at a time
 *      core:                list of free ones     no lock: the core's own
 *
 * Where the service has none left while cores keep some, they are taken away from these, so that a job is only refused when all places
 * are in use. As in lib/coro's caches of stacks, who takes away pays for it (job_barrier()); a core that sees somebody come goes by the
 * service's lock, under which all of this happens.
 */

#include "job_private.h"

#define REFILL 16 /* places that a core takes at a time */

#define PLACE_BITS      24
#define PLACE_MASK      ((UINT64_C(1) << PLACE_BITS) - 1)
#define GENERATIONS_MAX (UINT64_MAX >> PLACE_BITS)

/* ---- a core's own ---- */

/* @return false: it must not use them, another thread is at them */
static inline bool
enter(struct job_worker *worker)
{
	job_begin_doing(worker->service, &worker->at_places);
	if (likely(!__atomic_load_n(&worker->raided, __ATOMIC_ACQUIRE)))
		return true;
	job_end_doing(&worker->at_places);
	return false;
}

static void
push(struct job_worker *worker, struct job *job)
{
	job->next = worker->free;
	worker->free = job;
	job_put(worker->nb_free, worker->nb_free + 1);
}

static struct job *
pop(struct job_worker *worker)
{
	struct job *job = worker->free;

	if (likely(job != NULL)) {
		worker->free = job->next;
		job_put(worker->nb_free, worker->nb_free - 1);
	}
	return job;
}

/* ---- under the service's lock ---- */

static void
put_shared(struct weir_job_service *service, struct job *job)
{
	job->next = service->free;
	service->free = job;
}

static struct job *
get_shared(struct weir_job_service *service)
{
	struct job *job = service->free;

	if (job != NULL) {
		service->free = job->next;
		return job;
	}
	if (service->nb_fresh == service->nb_jobs)
		return NULL;
	job = &service->jobs[service->nb_fresh];
	job->service = service;
	job->generation = 1;
	__atomic_store_n(&service->nb_fresh, service->nb_fresh + 1, __ATOMIC_RELEASE);
	return job;
}

/* What a core keeps goes to the service, until there are so many left. */
static void
give_back(struct job_worker *worker, unsigned int left)
{
	while (worker->nb_free > left)
		put_shared(worker->service, pop(worker));
}

/* What all cores keep goes to the service. They are at it for some instructions; if one lost its CPU there, until it has it again. */
static void
raid(struct weir_job_service *service)
{
	bool any = false;

	for (unsigned int id = 0; id < service->nb_workers; id++) {
		struct job_worker *worker = &service->workers[id];
		bool has = job_get(worker->nb_free) > 0;

		__atomic_store_n(&worker->raided, has, __ATOMIC_RELAXED);
		any |= has;
	}
	if (!any)
		return;
	job_barrier(service);
	for (unsigned int id = 0; id < service->nb_workers; id++) {
		struct job_worker *worker = &service->workers[id];

		if (!__atomic_load_n(&worker->raided, __ATOMIC_RELAXED))
			continue;
		while (__atomic_load_n(&worker->at_places, __ATOMIC_ACQUIRE))
			sched_yield();
		give_back(worker, 0);
		__atomic_store_n(&worker->raided, false, __ATOMIC_RELEASE);
	}
}

/* ---- both ---- */

/* @worker has none, or is NULL. */
static struct job *
get_slowly(struct weir_job_service *service, struct job_worker *worker)
{
	unsigned int more = worker != NULL ? RTE_MIN(REFILL, service->cache) : 0;
	struct job *job, *next;

	pthread_mutex_lock(&service->lock);
	job = get_shared(service);
	if (job == NULL) {
		raid(service);
		job = get_shared(service);
		more = 0; /* they are scarce */
	}
	for (; more > 1 && (next = get_shared(service)) != NULL; more--)
		push(worker, next);
	pthread_mutex_unlock(&service->lock);
	return job;
}

struct job *
job_slot_get(struct weir_job_service *service, struct job_worker *worker)
{
	struct job *job = NULL;

	if (likely(worker != NULL) && likely(enter(worker))) {
		job = pop(worker);
		job_end_doing(&worker->at_places);
	}
	/* Its handle is not told before it is complete. */
	return likely(job != NULL) ? job : get_slowly(service, worker);
}

void
job_slots_flush(struct job_worker *worker)
{
	pthread_mutex_lock(&worker->service->lock);
	give_back(worker, 0);
	pthread_mutex_unlock(&worker->service->lock);
}

static void
put_slowly(struct weir_job_service *service, struct job_worker *worker, struct job *job)
{
	pthread_mutex_lock(&service->lock);
	put_shared(service, job);
	if (worker != NULL)
		give_back(worker, service->cache / 2);
	pthread_mutex_unlock(&service->lock);
}

void
job_slot_put(struct weir_job_service *service, struct job_worker *worker, struct job *job)
{
	bool kept = false;

	if (unlikely(job->generation > GENERATIONS_MAX)) {
		JOB_LOG(WARNING, "%s: all handles of place %zu were used: it is not used any more",
			service->name, (size_t)(job - service->jobs));
		return;
	}
	if (likely(worker != NULL) && likely(enter(worker))) {
		kept = worker->nb_free < service->cache;
		if (likely(kept))
			push(worker, job);
		job_end_doing(&worker->at_places);
	}
	if (unlikely(!kept))
		put_slowly(service, worker, job);
}

weir_job
job_handle(const struct job *job)
{
	/* 0 is no job: generations begin with 1 */
	return job->generation << PLACE_BITS | (uint64_t)(job - job->service->jobs);
}

struct job *
job_find(struct weir_job_service *service, weir_job handle, int *error)
{
	struct job *job;

	*error = -EINVAL;
	if (service == NULL || (handle & PLACE_MASK) >= service->nb_jobs ||
		(handle & PLACE_MASK) >= __atomic_load_n(&service->nb_fresh, __ATOMIC_ACQUIRE) ||
		handle >> PLACE_BITS == 0)
		return NULL;
	job = &service->jobs[handle & PLACE_MASK];
	job_lock(&job->joiners.lock);
	if (job_read(&job->handle) == handle)
		return job;
	if (handle >> PLACE_BITS < job_get(job->generation))
		*error = -ESTALE;
	job_release(job);
	return NULL;
}
