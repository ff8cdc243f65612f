/* SPDX-License-Identifier: BSD-3-Clause */

/* A queue of the event machine for each priority and core group, made when a job first wants it. */

#include <stdio.h>

#include "job_private.h"

/* Its place in the table; -1: none so far. */
static int
find_group(const struct weir_job_service *service, weir_em_queue_group group)
{
	for (int i = 0; i < JOB_GROUPS; i++) {
		weir_em_queue_group there = job_read(&service->groups[i]);

		if (there == group)
			return i;
		if (there == WEIR_EM_NONE)
			break;
	}
	return -1;
}

/* Under the lock. */
static int
add_group(struct weir_job_service *service, weir_em_queue_group group)
{
	int i = find_group(service, group);

	if (i >= 0)
		return i;
	for (i = 0; i < JOB_GROUPS; i++) {
		if (service->groups[i] == WEIR_EM_NONE) {
			__atomic_store_n(&service->groups[i], group, __ATOMIC_RELEASE);
			return i;
		}
	}
	JOB_LOG(ERROR, "%s: jobs of %d core groups; there are no more", service->name, JOB_GROUPS);
	return -ENOSPC;
}

/* Under the lock. */
static int
make_queue(struct weir_job_service *service, unsigned int i, uint8_t priority)
{
	struct weir_em_queue_config config = {
		.type = WEIR_EM_QUEUE_PARALLEL, .priority = priority, .group = service->groups[i]};
	char name[WEIR_EM_NAME_SIZE + 16];
	weir_em_queue queue;
	int rc;

	snprintf(name, sizeof(name), "%s.%u.%u", service->name, i, priority);
	name[WEIR_EM_NAME_SIZE - 1] = '\0';
	config.name = name;
	queue = weir_em_queue_create(service->em, &config);
	if (queue == WEIR_EM_NONE)
		return -rte_errno;
	rc = weir_em_object_add_queue(service->em, service->object, queue);
	if (rc < 0) {
		weir_em_queue_delete(service->em, queue);
		return rc;
	}
	__atomic_store_n(&service->queues[i][priority], queue, __ATOMIC_RELEASE);
	return 0;
}

int
job_route(struct weir_job_service *service, weir_em_queue_group group, uint8_t priority)
{
	uint64_t cores;
	int i, rc;

	if (priority >= WEIR_EM_PRIORITIES) {
		JOB_LOG(ERROR, "%s: priority %u; 0 to %d are expected", service->name, priority,
			WEIR_EM_PRIORITIES - 1);
		return -EINVAL;
	}
	i = group == WEIR_EM_NONE ? 0 : find_group(service, group);
	if (likely(i >= 0 && job_read(&service->queues[i][priority]) != WEIR_EM_NONE))
		return i * WEIR_EM_PRIORITIES + priority;
	if (group != WEIR_EM_NONE) {
		rc = weir_em_queue_group_mask(service->em, group, &cores);
		if (rc < 0)
			return rc;
	}
	pthread_mutex_lock(&service->lock);
	i = group == WEIR_EM_NONE ? 0 : add_group(service, group);
	rc = i < 0 ? i : 0;
	if (rc == 0 && service->queues[i][priority] == WEIR_EM_NONE)
		rc = make_queue(service, (unsigned int)i, priority);
	pthread_mutex_unlock(&service->lock);
	return rc < 0 ? rc : i * WEIR_EM_PRIORITIES + priority;
}
