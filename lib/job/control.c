/* SPDX-License-Identifier: BSD-3-Clause */

/* What is done to a job from outside. */

#include "sync_private.h"

int
job_cancel_locked(struct job *job, bool *claimed)
{
	JOB_STALL("cancel");
	return job_state_cancel(&job->word, claimed);
}

int
weir_job_cancel(struct weir_job_service *service, weir_job handle)
{
	bool claimed = false;
	int rc;
	struct job *job = job_find(service, handle, &rc);

	if (job == NULL)
		return rc;
	rc = job_cancel_locked(job, &claimed);
	job_release(job);
	/* claimed: it is ours, whoever else has its handle */
	if (claimed)
		job_make_ready(job_worker_here(service), job);
	return rc;
}

unsigned int
job_cancel_all(struct weir_job_service *service, const struct weir_job_group *group)
{
	uint32_t nb = __atomic_load_n(&service->nb_fresh, __ATOMIC_ACQUIRE);
	unsigned int nb_cancelled = 0;

	for (uint32_t i = 0; i < nb; i++) {
		struct job *job = &service->jobs[i];
		bool claimed = false;

		job_lock(&job->joiners.lock);
		if (job_read(&job->handle) != WEIR_JOB_NONE &&
			(group == NULL || job->group == group))
			nb_cancelled += job_cancel_locked(job, &claimed) == 0;
		job_release(job);
		if (claimed)
			job_make_ready(job_worker_here(service), job);
	}
	return nb_cancelled;
}

int
weir_job_join(struct weir_job_service *service, weir_job handle, const struct weir_job_wait *how)
{
	char name[WEIR_JOB_NAME_SIZE];
	struct weir_job_waiter waiter;
	struct weir_job_wait as;
	struct job *job;
	int rc;

	job = job_find(service, handle, &rc);
	if (job == NULL)
		return rc == -ESTALE ? 0 : rc;
	if (job == job_self()) {
		job_release(job);
		return -EDEADLK;
	}
	strcpy(name, job->name);
	as = job_wait_for(how, "job", name, handle);
	JOB_STALL("join");
	return job_waiters_wait(&job->joiners, &waiter, &as);
}

bool
weir_job_is_alive(struct weir_job_service *service, weir_job handle)
{
	int rc;
	struct job *job = job_find(service, handle, &rc);

	if (job == NULL)
		return false;
	job_release(job);
	return true;
}

/* Under the job's lock. */
static int
set_route(struct weir_job_service *service, struct job *job, weir_em_queue_group group,
	uint8_t priority)
{
	int route = job_route(service, group, priority);

	if (route < 0)
		return route;
	job_put(job->route, (uint16_t)route);
	return 0;
}

int
weir_job_set_priority(struct weir_job_service *service, weir_job handle, uint8_t priority)
{
	int rc;
	struct job *job = job_find(service, handle, &rc);

	if (job == NULL)
		return rc;
	rc = set_route(service, job, service->groups[job->route / WEIR_EM_PRIORITIES], priority);
	job_release(job);
	return rc;
}

int
weir_job_set_core_group(
	struct weir_job_service *service, weir_job handle, weir_em_queue_group core_group)
{
	int rc;
	struct job *job = job_find(service, handle, &rc);

	if (job == NULL)
		return rc;
	rc = set_route(service, job, core_group, job->route % WEIR_EM_PRIORITIES);
	job_release(job);
	return rc;
}

int
weir_job_set_slice(struct weir_job_service *service, weir_job handle, uint64_t slice_ns)
{
	struct job *job;
	int rc;

	if (slice_ns == 0 || slice_ns > WEIR_EM_TIMEOUT_NS_MAX)
		return -EINVAL;
	job = job_find(service, handle, &rc);
	if (job == NULL)
		return rc;
	job_put(job->slice, weir_base_ns_to_cycles(slice_ns));
	job_release(job);
	return 0;
}
