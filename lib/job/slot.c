/* SPDX-License-Identifier: BSD-3-Clause */

/* Places of jobs: free ones, of the service and of each core; handles, by which jobs are found. */

#include "job_private.h"

#define REFILL 16 /* places that a core takes at a time */

#define PLACE_BITS      24
#define PLACE_MASK      ((UINT64_C(1) << PLACE_BITS) - 1)
#define GENERATIONS_MAX (UINT64_MAX >> PLACE_BITS)

/* Under the service's lock. */
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

static void
refill(struct weir_job_service *service, struct job_worker *worker)
{
	struct job *job;

	pthread_mutex_lock(&service->lock);
	while (worker->nb_free < RTE_MIN(REFILL, service->config.cache) &&
		(job = get_shared(service)) != NULL) {
		job->next = worker->free;
		worker->free = job;
		worker->nb_free++;
	}
	pthread_mutex_unlock(&service->lock);
}

struct job *
job_slot_get(struct weir_job_service *service, struct job_worker *worker)
{
	struct job *job;

	if (worker == NULL) {
		pthread_mutex_lock(&service->lock);
		job = get_shared(service);
		pthread_mutex_unlock(&service->lock);
	} else {
		if (unlikely(worker->free == NULL))
			refill(service, worker);
		job = worker->free;
		if (likely(job != NULL)) {
			worker->free = job->next;
			worker->nb_free--;
		}
	}
	/* Its handle is not told before it is complete. */
	return job;
}

/* To the service, as long as there are more than @left. */
static void
give_back(struct job_worker *worker, unsigned int left)
{
	struct weir_job_service *service = worker->service;

	pthread_mutex_lock(&service->lock);
	while (worker->nb_free > left) {
		struct job *job = worker->free;

		worker->free = job->next;
		worker->nb_free--;
		job->next = service->free;
		service->free = job;
	}
	pthread_mutex_unlock(&service->lock);
}

void
job_slots_flush(struct job_worker *worker)
{
	give_back(worker, 0);
}

void
job_slot_put(struct weir_job_service *service, struct job_worker *worker, struct job *job)
{
	if (unlikely(job->generation > GENERATIONS_MAX)) {
		JOB_LOG(WARNING, "%s: all handles of place %zu were used: it is not used any more",
			service->name, (size_t)(job - service->jobs));
		return;
	}
	if (worker == NULL) {
		pthread_mutex_lock(&service->lock);
		job->next = service->free;
		service->free = job;
		pthread_mutex_unlock(&service->lock);
		return;
	}
	job->next = worker->free;
	worker->free = job;
	if (unlikely(++worker->nb_free > service->config.cache))
		give_back(worker, service->config.cache / 2);
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
