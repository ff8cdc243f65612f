/* SPDX-License-Identifier: BSD-3-Clause */

/* Lists of those who wait, and groups of jobs, which have one. */

#include "sync_private.h"

static void
append(struct weir_job_waiters *waiters, struct weir_job_waiter *waiter)
{
	weir_job_completion_init(&waiter->completion);
	waiter->next = NULL;
	waiter->prev = waiters->last;
	if (waiters->last != NULL)
		waiters->last->next = waiter;
	else
		waiters->first = waiter;
	waiters->last = waiter;
	waiter->listed = true;
	waiters->nb++;
}

static void
take_out(struct weir_job_waiters *waiters, struct weir_job_waiter *waiter)
{
	if (waiter->prev != NULL)
		waiter->prev->next = waiter->next;
	else
		waiters->first = waiter->next;
	if (waiter->next != NULL)
		waiter->next->prev = waiter->prev;
	else
		waiters->last = waiter->prev;
	waiter->listed = false;
	waiters->nb--;
}

int
job_waiters_wait(struct weir_job_waiters *waiters, struct weir_job_waiter *waiter,
	const struct weir_job_wait *how)
{
	static const struct weir_job_wait soon = {
		.flags = WEIR_JOB_UNCANCELLABLE, .what = "wake-up"};
	const struct weir_job_wait as = job_wait_for(how, NULL, waiters->name, (uintptr_t)waiters);
	bool listed;
	int rc;

	append(waiters, waiter);
	job_waiters_unlock(waiters);
	rc = weir_job_completion_wait(&waiter->completion, &as);
	if (rc == 0)
		return 0;
	JOB_STALL("give up");
	job_waiters_lock(waiters);
	listed = waiter->listed;
	if (listed)
		take_out(waiters, waiter);
	job_waiters_unlock(waiters);
	if (listed)
		return rc;
	/* Its turn had come: whoever took it out is about to say so. */
	while (weir_job_completion_wait(&waiter->completion, &soon) < 0)
		rte_pause();
	return 0;
}

struct weir_job_waiter *
job_waiters_pop(struct weir_job_waiters *waiters)
{
	struct weir_job_waiter *waiter = waiters->first;

	if (waiter != NULL)
		take_out(waiters, waiter);
	return waiter;
}

struct weir_job_waiter *
job_waiters_take(struct weir_job_waiters *waiters)
{
	struct weir_job_waiter *first = waiters->first;

	for (struct weir_job_waiter *waiter = first; waiter != NULL; waiter = waiter->next)
		waiter->listed = false;
	waiters->first = waiters->last = NULL;
	waiters->nb = 0;
	return first;
}

void
job_waiter_wake(struct weir_job_waiter *waiter)
{
	weir_job_complete(&waiter->completion);
}

void
job_waiters_wake(struct weir_job_waiter *waiter)
{
	struct weir_job_waiter *next;

	for (; waiter != NULL; waiter = next) {
		next = waiter->next; /* it may be gone after that */
		job_waiter_wake(waiter);
	}
}

/* ---- groups ---- */

void
job_group_enter(struct weir_job_group *group)
{
	job_waiters_lock(&group->waiters);
	group->nb++;
	job_waiters_unlock(&group->waiters);
}

void
job_group_leave(struct weir_job_group *group)
{
	struct weir_job_waiter *waiters = NULL;

	job_waiters_lock(&group->waiters);
	if (--group->nb == 0)
		waiters = job_waiters_take(&group->waiters);
	job_waiters_unlock(&group->waiters); /* it may be gone from here on */
	job_waiters_wake(waiters);
}

uint64_t
weir_job_group_nb(struct weir_job_group *group)
{
	uint64_t nb;

	if (group == NULL)
		return 0;
	job_waiters_lock(&group->waiters);
	nb = group->nb;
	job_waiters_unlock(&group->waiters);
	return nb;
}

int
weir_job_group_wait(struct weir_job_group *group, const struct weir_job_wait *how)
{
	const struct weir_job_wait as = job_wait_for(how, "group", NULL, 0);
	const struct job *self = job_self();
	struct weir_job_waiter waiter;

	if (group == NULL)
		return -EINVAL;
	if (self != NULL && self->group == group)
		return -EDEADLK;
	job_waiters_lock(&group->waiters);
	if (group->nb > 0)
		return job_waiters_wait(&group->waiters, &waiter, &as);
	job_waiters_unlock(&group->waiters);
	return 0;
}

unsigned int
weir_job_group_cancel(struct weir_job_service *service, struct weir_job_group *group)
{
	return service != NULL && group != NULL ? job_cancel_all(service, group) : 0;
}
