/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs that are ready, and have no event: they get one, or are run without. */

#include "job_private.h"

#define BURST 32 /* jobs that get their events in a round */

/* @return false: refused */
static bool
send(struct job_worker *worker, struct job *job)
{
	struct rte_event event = weir_em_event_ptr(job);

	return weir_em_send(worker->core, job_queue(job), &event, 1) == 1;
}

void
job_list_ready(struct weir_job_service *service, struct job *job)
{
	struct job *top = __atomic_load_n(&service->ready, __ATOMIC_RELAXED);

	do
		job->next = top;
	while (!__atomic_compare_exchange_n(
		&service->ready, &top, job, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	/* nothing of the service is touched from here on: the job may have been the last one */
}

void
job_make_ready(struct job_worker *worker, struct job *job)
{
	job_put(job->since, weir_base_cycles());
	JOB_STALL("make ready");
	if (worker != NULL && likely(send(worker, job)))
		return;
	job_list_ready(job->service, job);
}

/* Under the lock: what has been put into the list goes to the end of the backlog, first come first served. */
static void
take_ready(struct weir_job_service *service)
{
	struct job *job = __atomic_exchange_n(&service->ready, NULL, __ATOMIC_ACQUIRE);
	struct job *turned = NULL, *last = job, *next;
	uint64_t nb = 0;

	for (; job != NULL; job = next, nb++) {
		next = job->next;
		job->next = turned;
		turned = job;
	}
	if (turned == NULL)
		return;
	if (service->backlog != NULL)
		service->backlog_last->next = turned;
	else
		service->backlog = turned;
	service->backlog_last = last;
	job_count(&service->nb_backlog, nb);
}

/* Is this a core of its group? An event would be dequeued by these only. */
static bool
is_for(const struct job_worker *worker, const struct job *job)
{
	const struct weir_job_service *service = worker->service;
	const unsigned int i = job_get(job->route) / WEIR_EM_PRIORITIES;
	uint64_t cores;

	return i == 0 ||
	       weir_em_queue_group_mask(service->em, job_read(&service->groups[i]), &cores) < 0 ||
	       (cores >> worker->id & 1) != 0;
}

static struct job *
pop(struct weir_job_service *service)
{
	struct job *job = service->backlog;

	if (job != NULL) {
		service->backlog = job->next;
		job_count(&service->nb_backlog, -(uint64_t)1);
	}
	return job;
}

/*
 * Under the lock: send what can be sent.
 *
 * @return a job that the scheduler took no event for; NULL: none
 */
static struct job *
send_some(struct job_worker *worker, struct job **undelivered)
{
	struct weir_job_service *service = worker->service;
	struct job *job;

	for (unsigned int i = 0; i < BURST && (job = pop(service)) != NULL; i++) {
		if (unlikely(job_state(job_word(&job->word)) == JOB_DELIVERING)) {
			job->next = *undelivered;
			*undelivered = job;
		} else if (unlikely(!send(worker, job))) {
			if (is_for(worker, job))
				return job;
			job_list_ready(service, job); /* its cores come here, too */
		}
	}
	return NULL;
}

void
job_feed(struct job_worker *worker)
{
	struct weir_job_service *service = worker->service;
	struct job *unpaid, *undelivered = NULL, *next;

	if (job_get(service->ready) == NULL && job_get(service->nb_backlog) == 0)
		return;
	if (!job_trylock(&service->feeding))
		return; /* another core is at it */
	take_ready(service);
	unpaid = send_some(worker, &undelivered);
	job_unlock(&service->feeding);
	for (; undelivered != NULL; undelivered = next) {
		next = undelivered->next;
		if (!job_deliver(worker, undelivered, NULL))
			job_list_ready(service, undelivered);
	}
	if (unlikely(unpaid != NULL)) {
		job_count(&worker->stats.nb_unpaid, 1);
		job_run(worker, unpaid, NULL);
	}
}
