/* SPDX-License-Identifier: BSD-3-Clause */

/* Execution objects, and the queues that belong to them. */

#include "em_private.h"

struct em_object *
em_object_of(struct weir_em *em, weir_em_object handle, int *error)
{
	uint32_t number = em_handle_number(handle);

	if (handle != WEIR_EM_NONE && number < em->config.nb_objects &&
		em->objects[number].handle == handle)
		return &em->objects[number];
	*error = em_handle_errno(handle, EM_KIND_OBJECT, em->config.nb_objects);
	return NULL;
}

/* Events and calls on all cores, ever. */
static struct weir_em_queue_stats
count_object(const struct weir_em *em, uint32_t number)
{
	struct weir_em_queue_stats sums = {0};

	for (unsigned int id = 0; id < em->nb_ports; id++) {
		sums.nb_received += em_read(&em->cores[id].objects[number].received);
		sums.nb_sent += em_read(&em->cores[id].objects[number].sent);
	}
	return sums;
}

static void
fill_in(struct em_object *object, const struct weir_em_object_config *config)
{
	object->config = *config;
	object->config.name = object->name;
	object->receive = config->receive;
	object->context = config->context;
	object->burst = config->burst == 0 ? 1 : config->burst;
	object->error_handler = config->error_handler;
	object->error_arg = config->error_arg;
	object->phase = EM_OBJECT_CREATED;
	object->queues = NULL;
	object->nb_queues = 0;
}

weir_em_object
weir_em_object_create(struct weir_em *em, const struct weir_em_object_config *config)
{
	struct em_object *object;
	weir_em_object handle;
	char name[WEIR_EM_NAME_SIZE];

	if (em == NULL || config == NULL || em_copy_name(name, config->name, "an object") < 0)
		return em_fail(EINVAL);
	if (config->receive == NULL || config->burst > WEIR_EM_BURST_MAX) {
		EM_LOG(ERROR,
			"%s: object '%s': it must have a receive function, and a burst of at most "
			"%d events",
			em->name, name, WEIR_EM_BURST_MAX);
		return em_fail(EINVAL);
	}
	em_lock(em);
	handle = em_numbers_get(&em->object_numbers);
	if (handle == WEIR_EM_NONE) {
		em_unlock(em);
		EM_LOG(ERROR, "%s: there are %u objects already", em->name, em->config.nb_objects);
		return em_fail(ENOSPC);
	}
	object = &em->objects[em_handle_number(handle)];
	object->number = em_handle_number(handle);
	strcpy(object->name, name);
	fill_in(object, config);
	object->before = count_object(em, object->number);
	__atomic_store_n(&object->handle, handle, __ATOMIC_RELEASE);
	em_unlock(em);
	return handle;
}

/* Under the lock: may it go? Then nobody else uses it any more. */
static int
begin_delete(struct em_object *object, unsigned int flags)
{
	if (object->phase != EM_OBJECT_CREATED)
		return -EBUSY;
	if (object->nb_queues > 0 && (flags & WEIR_EM_REMOVE_QUEUES) == 0)
		return -EBUSY;
	object->phase = EM_OBJECT_DELETING;
	while (object->queues != NULL)
		em_queue_unlink(object->queues);
	return 0;
}

int
weir_em_object_delete(
	struct weir_em *em, struct weir_em_core *core, weir_em_object handle, unsigned int flags)
{
	struct em_object *object;
	int rc = 0;

	if (em == NULL || (core != NULL && core->em != em) || (flags & ~WEIR_EM_REMOVE_QUEUES) != 0)
		return -EINVAL;
	em_lock(em);
	object = em_object_of(em, handle, &rc);
	if (object != NULL)
		rc = begin_delete(object, flags);
	em_unlock(em);
	if (rc < 0)
		return rc;
	rc = em_quiesce(em, core, object);
	em_lock(em);
	if (rc < 0) { /* no memory to wait: it is there still, without queues */
		object->phase = EM_OBJECT_CREATED;
	} else {
		__atomic_store_n(&object->handle, WEIR_EM_NONE, __ATOMIC_RELEASE);
		em_numbers_put(&em->object_numbers, object->number);
	}
	em_unlock(em);
	return rc;
}

int
weir_em_object_add_queue(struct weir_em *em, weir_em_object handle, weir_em_queue queue_handle)
{
	struct em_object *object;
	struct em_queue *queue;
	int rc = 0;

	if (em == NULL)
		return -EINVAL;
	em_lock(em);
	object = em_object_of(em, handle, &rc);
	queue = em_queue_of(em, queue_handle, &rc);
	if (rc < 0)
		;
	else if (object->phase == EM_OBJECT_DELETING)
		rc = -ESTALE;
	else if (queue->type == WEIR_EM_QUEUE_UNSCHEDULED || queue->type == WEIR_EM_QUEUE_OUTPUT)
		rc = -ENOTSUP;
	else if (queue->object != NULL)
		rc = -EBUSY;
	else
		em_queue_link(queue, object);
	em_unlock(em);
	return rc;
}

int
weir_em_object_remove_queue(
	struct weir_em *em, struct weir_em_core *core, weir_em_queue queue_handle)
{
	struct em_queue *queue;
	int rc = 0;

	if (em == NULL || (core != NULL && core->em != em))
		return -EINVAL;
	em_lock(em);
	queue = em_queue_of(em, queue_handle, &rc);
	if (queue != NULL && queue->object == NULL)
		rc = -ENOENT;
	if (rc == 0)
		em_queue_unlink(queue);
	em_unlock(em);
	return rc < 0 ? rc : em_quiesce(em, core, NULL);
}

static enum weir_em_object_state
state_of(const struct em_object *object)
{
	static const enum weir_em_object_state states[] = {
		[EM_OBJECT_CREATED] = WEIR_EM_OBJECT_CREATED,
		[EM_OBJECT_STARTING] = WEIR_EM_OBJECT_STARTING,
		[EM_OBJECT_STARTING_CORES] = WEIR_EM_OBJECT_STARTING,
		[EM_OBJECT_RUNNING] = WEIR_EM_OBJECT_RUNNING,
		[EM_OBJECT_STOPPING] = WEIR_EM_OBJECT_STOPPING,
		[EM_OBJECT_DELETING] = WEIR_EM_OBJECT_CREATED,
	};

	return states[object->phase];
}

int
weir_em_object_info(struct weir_em *em, weir_em_object handle, struct weir_em_object_info *info)
{
	const struct em_object *object;
	struct weir_em_queue_stats sums;
	int rc = 0;

	if (em == NULL || info == NULL)
		return -EINVAL;
	em_lock(em);
	object = em_object_of(em, handle, &rc);
	if (object != NULL) {
		sums = count_object(em, object->number);
		*info = (struct weir_em_object_info){
			.state = state_of(object),
			.context = object->context,
			.nb_queues = object->nb_queues,
			.nb_received = sums.nb_received - object->before.nb_received,
			.nb_calls = sums.nb_sent - object->before.nb_sent,
		};
		strcpy(info->name, object->name);
	}
	em_unlock(em);
	return rc;
}

weir_em_object
weir_em_object_find(struct weir_em *em, const char *name)
{
	weir_em_object found = WEIR_EM_NONE;

	if (em == NULL || name == NULL)
		return WEIR_EM_NONE;
	em_lock(em);
	for (unsigned int i = 0; i < em->config.nb_objects && found == WEIR_EM_NONE; i++)
		if (em->objects[i].handle != WEIR_EM_NONE && strcmp(em->objects[i].name, name) == 0)
			found = em->objects[i].handle;
	em_unlock(em);
	return found;
}

int
weir_em_object_error_handler_set(
	struct weir_em *em, weir_em_object handle, weir_em_error_handler_t handler, void *arg)
{
	struct em_object *object;
	int rc = 0;

	if (em == NULL)
		return -EINVAL;
	em_lock(em);
	object = em_object_of(em, handle, &rc);
	if (object != NULL) {
		object->error_handler = handler;
		object->error_arg = arg;
	}
	em_unlock(em);
	return rc;
}
