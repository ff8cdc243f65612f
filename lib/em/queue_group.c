/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Queue groups: which cores serve queues. With the builtin scheduler, a core is in the scheduler's groups while it is attached. Event
 * devices want queues to have ports from the beginning, and some cannot change them: there it always is.
 */

#include "em_private.h"

uint8_t
em_sched_type(enum weir_em_queue_type type)
{
	static const uint8_t types[] = {
		[WEIR_EM_QUEUE_ATOMIC] = RTE_SCHED_TYPE_ATOMIC,
		[WEIR_EM_QUEUE_PARALLEL] = RTE_SCHED_TYPE_PARALLEL,
		[WEIR_EM_QUEUE_ORDERED] = RTE_SCHED_TYPE_ORDERED,
	};

	return types[type];
}

/* How many bits are below one. */
static unsigned int
rank(unsigned int mask, unsigned int bit)
{
	return (unsigned int)__builtin_popcount(mask & ((1u << bit) - 1));
}

uint8_t
em_sched_queue(
	const struct weir_em *em, enum weir_em_queue_type type, uint8_t priority, uint8_t group)
{
	if (em->by_event)
		return group;
	return (uint8_t)((group * em->nb_types + rank(em->config.types, type)) * em->nb_priorities +
			 rank(em->config.priorities, priority));
}

static uint64_t
all_cores(const struct weir_em *em)
{
	return UINT64_MAX >> (64 - em->nb_cores);
}

int
em_group_apply(struct weir_em *em, unsigned int group)
{
	uint64_t cores = em->groups[group].cores;
	int rc;

	/* of a group that is gone, events of deleted queues may be there: anybody may have them */
	if (em->groups[group].handle == WEIR_EM_NONE)
		cores = all_cores(em);
	if (em->by_event)
		cores &= em->attached;
	if (cores == em->groups[group].applied)
		return 0;
	rc = weir_sched_group_set(em->sched, group + 1, cores);
	if (rc == 0)
		em->groups[group].applied = cores;
	return rc;
}

int
em_groups_apply(struct weir_em *em)
{
	int result = 0;

	for (unsigned int group = 0; group < em->config.nb_queue_groups; group++) {
		int rc = em_group_apply(em, group);

		if (rc < 0 && result == 0)
			result = rc;
	}
	return result;
}

int
em_groups_init(struct weir_em *em)
{
	weir_em_queue_group group = weir_em_queue_group_create(em, "default", all_cores(em));

	return group == WEIR_EM_NONE ? -rte_errno : em_groups_apply(em);
}

struct em_queue_group *
em_group_of(struct weir_em *em, weir_em_queue_group handle, int *error)
{
	uint32_t number = em_handle_number(handle);

	if (handle != WEIR_EM_NONE && number < em->config.nb_queue_groups &&
		em->groups[number].handle == handle)
		return &em->groups[number];
	*error = em_handle_errno(handle, EM_KIND_QUEUE_GROUP, em->config.nb_queue_groups);
	return NULL;
}

weir_em_queue_group
weir_em_queue_group_default(const struct weir_em *em)
{
	return em != NULL ? em->groups[0].handle : WEIR_EM_NONE;
}

/* Nobody's events are there that the next group with this number would have, for other cores, or none. */
static void
free_number(struct weir_em *em, struct em_queue_group *group)
{
	if (!group->is_deleted || group->nb_dying > 0)
		return;
	group->is_deleted = false;
	em_numbers_put(&em->group_numbers, (uint32_t)(group - em->groups));
}

void
em_group_forget_queue(struct weir_em *em, unsigned int group)
{
	em->groups[group].nb_dying--;
	free_number(em, &em->groups[group]);
}

static unsigned int
nb_deleted(const struct weir_em *em)
{
	unsigned int nb = 0;

	for (unsigned int group = 0; group < em->config.nb_queue_groups; group++)
		nb += em->groups[group].is_deleted;
	return nb;
}

weir_em_queue_group
weir_em_queue_group_create(struct weir_em *em, const char *name, uint64_t cores)
{
	struct em_queue_group *group;
	weir_em_queue_group handle;
	char copy[WEIR_EM_NAME_SIZE];
	int rc;

	if (em == NULL || (cores & ~all_cores(em)) != 0 ||
		em_copy_name(copy, name, "a queue group") < 0)
		return em_fail(EINVAL);
	em_lock(em);
	if (em->group_numbers.nb_free == 0)
		em_queue_reclaim(em);
	handle = em_numbers_get(&em->group_numbers);
	if (handle == WEIR_EM_NONE) {
		EM_LOG(ERROR,
			"%s: queue group '%s': there are %u already, of which %u are deleted, but "
			"their queues have events",
			em->name, copy, em->config.nb_queue_groups, nb_deleted(em));
		em_unlock(em);
		return em_fail(ENOSPC);
	}
	group = &em->groups[em_handle_number(handle)];
	group->handle = handle;
	group->cores = cores;
	group->nb_queues = 0;
	strcpy(group->name, copy);
	rc = em_group_apply(em, em_handle_number(handle));
	if (rc < 0) {
		group->handle = WEIR_EM_NONE;
		em_numbers_put(&em->group_numbers, em_handle_number(handle));
	}
	em_unlock(em);
	return rc < 0 ? em_fail(-rc) : handle;
}

int
weir_em_queue_group_delete(struct weir_em *em, weir_em_queue_group handle)
{
	struct em_queue_group *group;
	int rc = 0;

	if (em == NULL || (handle != WEIR_EM_NONE && handle == em->groups[0].handle))
		return -EINVAL;
	em_lock(em);
	group = em_group_of(em, handle, &rc);
	if (group != NULL && group->nb_queues > 0)
		rc = -EBUSY;
	if (rc == 0) {
		group->handle = WEIR_EM_NONE;
		em_group_apply(em, em_handle_number(handle));
		group->is_deleted = true;
		free_number(em, group);
	}
	em_unlock(em);
	return rc;
}

/* @call: for those who wait until it is so */
static int
modify(struct weir_em *em, weir_em_queue_group handle, uint64_t cores, struct em_call *call)
{
	struct em_queue_group *group;
	uint64_t before;
	int rc = 0;

	if ((cores & ~all_cores(em)) != 0)
		return -EINVAL;
	em_lock(em);
	group = em_group_of(em, handle, &rc);
	if (group != NULL) {
		before = group->cores;
		group->cores = cores;
		rc = em_group_apply(em, em_handle_number(handle));
		if (rc < 0)
			group->cores = before;
		else
			em_call_post(call);
	}
	em_unlock(em);
	return rc;
}

int
weir_em_queue_group_modify(
	struct weir_em *em, struct weir_em_core *core, weir_em_queue_group handle, uint64_t cores)
{
	struct em_call *call;
	int rc;

	if (em == NULL || (core != NULL && core->em != em))
		return -EINVAL;
	call = em_call_make(em, NULL);
	if (call == NULL)
		return -ENOMEM;
	call->quiesce = true;
	rc = modify(em, handle, cores, call);
	if (rc < 0) {
		em_call_put(call);
		return rc;
	}
	em_call_start(call, core);
	return em_call_wait(call, core);
}

int
weir_em_queue_group_modify_async(struct weir_em *em, struct weir_em_core *core,
	weir_em_queue_group handle, uint64_t cores, const struct weir_em_notification *done)
{
	struct em_call *call;
	int rc;

	if (em == NULL || (core != NULL && core->em != em))
		return -EINVAL;
	rc = em_notification_keep(em, core, done, "weir_em_queue_group_modify_async");
	if (rc < 0)
		return rc;
	call = em_call_make(em, done);
	rc = call != NULL ? modify(em, handle, cores, call) : -ENOMEM;
	if (rc == 0)
		em_call_start(call, core);
	else
		em_notification_give_up(em, done);
	if (call != NULL)
		em_call_put(call);
	return rc;
}

int
weir_em_queue_group_mask(struct weir_em *em, weir_em_queue_group handle, uint64_t *cores)
{
	const struct em_queue_group *group;
	int rc = 0;

	if (em == NULL || cores == NULL)
		return -EINVAL;
	em_lock(em);
	group = em_group_of(em, handle, &rc);
	if (group != NULL)
		*cores = group->cores;
	em_unlock(em);
	return rc;
}

weir_em_queue_group
weir_em_queue_group_find(struct weir_em *em, const char *name)
{
	weir_em_queue_group found = WEIR_EM_NONE;

	if (em == NULL || name == NULL)
		return WEIR_EM_NONE;
	em_lock(em);
	for (unsigned int i = 0; i < em->config.nb_queue_groups && found == WEIR_EM_NONE; i++)
		if (em->groups[i].handle != WEIR_EM_NONE && strcmp(em->groups[i].name, name) == 0)
			found = em->groups[i].handle;
	em_unlock(em);
	return found;
}
