/* SPDX-License-Identifier: BSD-3-Clause */

/* Queues are made, changed, deleted; their numbers are used again when nothing of them is left. */

#include <stdlib.h>

#include "event.h"

#define NB_FREED     64   /* numbers, when one is needed */
#define NB_DYING_MAX 1024 /* then it is looked whether their numbers are free */

static bool
is_scheduled(enum weir_em_queue_type type)
{
	return type <= WEIR_EM_QUEUE_ORDERED;
}

struct em_queue *
em_queue_of(struct weir_em *em, weir_em_queue handle, int *error)
{
	struct em_queue *queue = em_queue_at(em, handle);

	if (handle != WEIR_EM_NONE && queue != NULL && queue->handle == handle)
		return queue;
	*error = em_handle_errno(handle, EM_KIND_QUEUE, em->nb_queues);
	return NULL;
}

void
em_queue_retarget(struct em_queue *queue)
{
	struct em_object *object = queue->object;

	if (object != NULL && (!queue->enabled || object->phase != EM_OBJECT_RUNNING))
		object = NULL;
	__atomic_store_n(&queue->target, object, __ATOMIC_RELEASE);
}

void
em_queue_link(struct em_queue *queue, struct em_object *object)
{
	__atomic_store_n(&queue->object, object, __ATOMIC_RELAXED);
	queue->previous = NULL;
	queue->next = object->queues;
	if (object->queues != NULL)
		object->queues->previous = queue;
	object->queues = queue;
	object->nb_queues++;
	em_queue_retarget(queue);
}

void
em_queue_unlink(struct em_queue *queue)
{
	if (queue->previous != NULL)
		queue->previous->next = queue->next;
	else
		queue->object->queues = queue->next;
	if (queue->next != NULL)
		queue->next->previous = queue->previous;
	queue->object->nb_queues--;
	__atomic_store_n(&queue->object, NULL, __ATOMIC_RELAXED);
	em_queue_retarget(queue);
}

void
em_queue_sums(
	const struct weir_em *em, const struct em_queue *queue, struct weir_em_queue_stats *sums)
{
	size_t number = (size_t)(queue - em->queues);

	/* What was sent is read last: whoever received an event, it was counted as sent before. */
	sums->nb_received = em_read(&queue->foreign_received);
	sums->nb_dropped = em_read(&queue->dropped);
	for (unsigned int id = 0; id < em->nb_ports; id++)
		sums->nb_received += em_read(&em->cores[id].queues[number].received);
	sums->nb_sent = em_read(&queue->foreign_sent);
	for (unsigned int id = 0; id < em->nb_ports; id++)
		sums->nb_sent += em_read(&em->cores[id].queues[number].sent);
}

/* ---- numbers of queues that were deleted ---- */

static void
set_alias(struct weir_em *em, const struct em_queue *queue, uint32_t value)
{
	struct rte_event lead = {.event = queue->lead};

	__atomic_store_n(&em->aliases[lead.queue_id][queue->alias], value, __ATOMIC_RELEASE);
}

static bool
has_alias(const struct weir_em *em, const struct em_queue *queue)
{
	return em->aliases != NULL && queue->type == WEIR_EM_QUEUE_PARALLEL;
}

/* Nothing of it is left: its number is free. */
static void
bury(struct weir_em *em, struct em_queue *queue, const struct weir_em_queue_stats *sums)
{
	struct weir_em_queue_stats *retired = &em->retired[queue->type];

	retired->nb_sent += sums->nb_sent - queue->before.nb_sent;
	retired->nb_received += sums->nb_received - queue->before.nb_received;
	retired->nb_dropped += sums->nb_dropped - queue->before.nb_dropped;
	queue->before =
		*sums; /* later, somebody may be counting what he finds that he may not send */
	if (has_alias(em, queue))
		set_alias(em, queue, 0);
	em_ring_free(queue->ring);
	queue->ring = NULL;
	queue->dying = false;
	em->nb_dying--;
	if (is_scheduled((enum weir_em_queue_type)queue->type))
		em_group_forget_queue(em, queue->group);
	em_numbers_put(&em->queue_numbers, (uint32_t)(queue - em->queues));
}

/* What came to a ring after it had been emptied, by who was about to send. */
static void
empty_ring(struct weir_em *em, struct em_queue *queue)
{
	struct rte_event event;

	while (em_ring_get(queue->ring, &event, 1) == 1)
		em_drop(em, NULL, queue, &event, 1, WEIR_EM_DROP_DELETED);
}

static struct em_queue *
first_dying(struct weir_em *em)
{
	struct em_queue *queue = em->dying;

	em->dying = queue->next;
	if (em->dying == NULL)
		em->dying_last = NULL;
	return queue;
}

static void
append_dying(struct weir_em *em, struct em_queue *queue)
{
	queue->next = NULL;
	if (em->dying_last != NULL)
		em->dying_last->next = queue;
	else
		em->dying = queue;
	em->dying_last = queue;
}

/* All that was sent to it is out, and nobody is about to send: for sure only after a barrier. */
static bool
is_left(const struct weir_em *em, const struct em_queue *queue, struct weir_em_queue_stats *sums)
{
	em_queue_sums(em, queue, sums);
	return sums->nb_sent == sums->nb_received + sums->nb_dropped &&
	       em_read(&queue->foreign_users) == 0;
}

static bool
any_seems_left(const struct weir_em *em)
{
	struct weir_em_queue_stats sums;

	for (const struct em_queue *queue = em->dying; queue != NULL; queue = queue->next)
		if (is_left(em, queue, &sums))
			return true;
	return false;
}

/*
 * Under the lock. Some numbers become free, if there are; it is not looked at all of them each time. Who waits for one calls this over and
 * over: all cores are disturbed only if that will be of use.
 */
void
em_queue_reclaim(struct weir_em *em)
{
	unsigned int nb_freed = 0;

	if (!any_seems_left(em))
		return;
	em_barrier(em);
	for (unsigned int left = em->nb_dying; left > 0 && nb_freed < NB_FREED; left--) {
		struct em_queue *queue = first_dying(em);
		struct weir_em_queue_stats sums;

		if (is_left(em, queue, &sums)) {
			bury(em, queue, &sums);
			nb_freed++;
		} else {
			append_dying(em, queue);
		}
	}
}

void
em_queues_fini(struct weir_em *em)
{
	for (unsigned int i = 0; i < em->nb_queues; i++)
		em_ring_free(em->queues[i].ring);
}

/* Under the lock: what came late to one of those that have a ring. It is in use then. */
static struct em_queue *
take_late(struct weir_em *em, struct rte_event *event)
{
	for (struct em_queue *queue = em->dying; queue != NULL; queue = queue->next)
		if (queue->ring != NULL && em_ring_get(queue->ring, event, 1) == 1) {
			em_add(&queue->foreign_users, 1);
			return queue;
		}
	return NULL;
}

/* Without the lock. */
static void
drop_late(struct weir_em *em)
{
	struct em_queue *queue;
	struct rte_event event;

	do {
		em_lock(em);
		queue = take_late(em, &event);
		em_unlock(em);
		if (queue != NULL) {
			em_drop(em, NULL, queue, &event, 1, WEIR_EM_DROP_DELETED);
			em_add(&queue->foreign_users, -(uint64_t)1);
		}
	} while (queue != NULL);
}

/* ---- create, delete ---- */

static int
check(struct weir_em *em, const char *name, const struct weir_em_queue_config *config)
{
	const char *lack = NULL;

	if ((unsigned int)config->type >= WEIR_EM_QUEUE_TYPES ||
		config->priority >= WEIR_EM_PRIORITIES) {
		EM_LOG(ERROR, "%s: queue '%s': there is no type %d, or no priority %u", em->name,
			name, (int)config->type, config->priority);
		return -EINVAL;
	}
	if (config->type == WEIR_EM_QUEUE_OUTPUT && config->output == NULL) {
		EM_LOG(ERROR, "%s: queue '%s': an output queue must have a function", em->name,
			name);
		return -EINVAL;
	}
	if (config->type == WEIR_EM_QUEUE_UNSCHEDULED && config->size > 1u << 30) {
		EM_LOG(ERROR, "%s: queue '%s': too large", em->name, name);
		return -EINVAL;
	}
	if (is_scheduled(config->type) && (em->config.types >> config->type & 1) == 0)
		lack = weir_em_queue_type_name(config->type);
	if (config->type == WEIR_EM_QUEUE_OUTPUT &&
		(em->config.types >> WEIR_EM_QUEUE_ATOMIC & 1) == 0)
		lack = "atomic (which output needs)";
	if (lack != NULL) {
		EM_LOG(ERROR, "%s: queue '%s': there are no %s queues", em->name, name, lack);
		return -ENOTSUP;
	}
	if (is_scheduled(config->type) && (em->config.priorities >> config->priority & 1) == 0) {
		EM_LOG(ERROR, "%s: queue '%s': there is no priority %u", em->name, name,
			config->priority);
		return -ENOTSUP;
	}
	return 0;
}

/* The first word of events. Output queues are atomic ones inside, of the highest priority that there is. */
static uint64_t
lead_of(const struct weir_em *em, const struct em_queue *queue, uint32_t number)
{
	enum weir_em_queue_type type = (enum weir_em_queue_type)queue->type;
	uint8_t priority = queue->priority;
	struct rte_event lead = {.event = 0};

	if (type == WEIR_EM_QUEUE_UNSCHEDULED || type == WEIR_EM_QUEUE_LOCAL)
		return 0;
	if (type == WEIR_EM_QUEUE_OUTPUT) {
		type = WEIR_EM_QUEUE_ATOMIC;
		if ((em->config.priorities >> priority & 1) == 0)
			priority = (uint8_t)__builtin_ctz(em->config.priorities);
	}
	lead.op = RTE_EVENT_OP_NEW;
	lead.sched_type = em_sched_type(type) & 3;
	lead.queue_id = em_sched_queue(em, type, priority, queue->group);
	lead.priority = (uint8_t)(priority * (256 / WEIR_EM_PRIORITIES));
	lead.flow_id = number & 0xfffff;
	return lead.event;
}

/* event_dsw gives parallel events flows of its own, but leaves the priority alone, which it does not know: 256 queues can be told by it. */
static int
choose_alias(struct weir_em *em, struct em_queue *queue, uint32_t number)
{
	struct rte_event lead = {.event = queue->lead};

	for (unsigned int i = 0; i < 256; i++)
		if (em->aliases[lead.queue_id][i] == 0) {
			queue->alias = (uint16_t)i;
			lead.priority = (uint8_t)i;
			queue->lead = lead.event;
			set_alias(em, queue, number + 1);
			return 0;
		}
	EM_LOG(ERROR, "%s: queue '%s': event_dsw can tell 256 parallel queues of a group apart",
		em->name, queue->name);
	return -ENOSPC;
}

/* Under the lock. All but its handle. */
static int
set_up(struct weir_em *em, struct em_queue *queue, const struct weir_em_queue_config *config,
	const char *name)
{
	uint32_t number = (uint32_t)(queue - em->queues), size = config->size;
	struct em_queue_group *group = &em->groups[0];
	int rc = 0;

	if (is_scheduled(config->type) && config->group != WEIR_EM_NONE)
		group = em_group_of(em, config->group, &rc);
	if (rc < 0)
		return rc;
	strcpy(queue->name, name);
	__atomic_store_n(&queue->type, (uint8_t)config->type, __ATOMIC_RELAXED);
	queue->priority = config->priority;
	queue->group = (uint8_t)(group - em->groups);
	queue->enabled = true;
	queue->object = NULL;
	queue->context = config->context;
	queue->output = config->output;
	queue->lead = lead_of(em, queue, number);
	if (config->type == WEIR_EM_QUEUE_UNSCHEDULED) {
		queue->ring = em_ring_create(size == 0 ? 1024 : size, em->config.socket_id);
		if (queue->ring == NULL)
			return -ENOMEM;
	}
	if (has_alias(em, queue))
		rc = choose_alias(em, queue, number);
	if (rc == 0)
		group->nb_queues += is_scheduled(config->type);
	return rc;
}

static weir_em_queue
create(struct weir_em *em, const struct weir_em_queue_config *config, const char *name)
{
	weir_em_queue handle;
	struct em_queue *queue;
	int rc;

	if (em->queue_numbers.nb_free == 0)
		em_queue_reclaim(em);
	handle = em_numbers_get(&em->queue_numbers);
	if (handle == WEIR_EM_NONE) {
		EM_LOG(ERROR,
			"%s: queue '%s': there are %u already, of which %u are deleted, but have "
			"events",
			em->name, name, em->nb_queues, em->nb_dying);
		return em_fail(ENOSPC);
	}
	queue = &em->queues[em_handle_number(handle)];
	rc = set_up(em, queue, config, name);
	if (rc < 0) {
		em_numbers_put(&em->queue_numbers, em_handle_number(handle));
		return em_fail(-rc);
	}
	queue->last_handle = handle;
	em_queue_retarget(queue);
	__atomic_store_n(&queue->handle, handle, __ATOMIC_RELEASE);
	return handle;
}

weir_em_queue
weir_em_queue_create(struct weir_em *em, const struct weir_em_queue_config *config)
{
	char name[WEIR_EM_NAME_SIZE];
	weir_em_queue handle;
	int rc;

	if (em == NULL || config == NULL || em_copy_name(name, config->name, "a queue") < 0)
		return em_fail(EINVAL);
	rc = check(em, name, config);
	if (rc < 0)
		return em_fail(-rc);
	em_lock(em);
	handle = create(em, config, name);
	em_unlock(em);
	return handle;
}

/* Under the lock. */
static void
begin_to_die(struct weir_em *em, struct em_queue *queue)
{
	__atomic_store_n(&queue->handle, WEIR_EM_NONE, __ATOMIC_RELEASE);
	if (is_scheduled((enum weir_em_queue_type)queue->type)) {
		em->groups[queue->group].nb_queues--;
		em->groups[queue->group].nb_dying++;
	}
	queue->dying = true;
	append_dying(em, queue);
	if (queue->ring != NULL) /* until it has been emptied */
		em_add(&queue->foreign_users, 1);
	if (++em->nb_dying % NB_DYING_MAX == 0)
		em_queue_reclaim(em);
}

int
weir_em_queue_delete(struct weir_em *em, weir_em_queue handle)
{
	struct em_queue *queue;
	bool has_ring = false;
	int rc = 0;

	if (em == NULL)
		return -EINVAL;
	em_lock(em);
	queue = em_queue_of(em, handle, &rc);
	if (queue != NULL && queue->object != NULL)
		rc = -EBUSY;
	if (rc == 0) {
		has_ring = queue->ring != NULL;
		begin_to_die(em, queue);
	}
	em_unlock(em);
	if (has_ring) {
		em_barrier(em);
		empty_ring(em, queue);
		em_add(&queue->foreign_users, -(uint64_t)1);
		drop_late(em);
	}
	return rc;
}

/* ---- change, look ---- */

static int
set_enabled(struct weir_em *em, weir_em_queue handle, bool enabled)
{
	struct em_queue *queue;
	int rc = 0;

	em_lock(em);
	queue = em_queue_of(em, handle, &rc);
	if (queue != NULL &&
		(queue->type == WEIR_EM_QUEUE_UNSCHEDULED || queue->type == WEIR_EM_QUEUE_OUTPUT)) {
		rc = -ENOTSUP;
	} else if (queue != NULL) {
		queue->enabled = enabled;
		em_queue_retarget(queue);
	}
	em_unlock(em);
	return rc;
}

int
weir_em_queue_enable(struct weir_em *em, weir_em_queue handle)
{
	return em != NULL ? set_enabled(em, handle, true) : -EINVAL;
}

int
weir_em_queue_disable(struct weir_em *em, struct weir_em_core *core, weir_em_queue handle)
{
	int rc;

	if (em == NULL || (core != NULL && core->em != em))
		return -EINVAL;
	rc = set_enabled(em, handle, false);
	return rc < 0 ? rc : em_quiesce(em, core, NULL);
}

int
weir_em_queue_set_context(struct weir_em *em, weir_em_queue handle, void *context)
{
	struct em_queue *queue;
	int rc = 0;

	if (em == NULL)
		return -EINVAL;
	em_lock(em);
	queue = em_queue_of(em, handle, &rc);
	if (queue != NULL)
		__atomic_store_n(&queue->context, context, __ATOMIC_RELEASE);
	em_unlock(em);
	return rc;
}

int
weir_em_queue_info(struct weir_em *em, weir_em_queue handle, struct weir_em_queue_info *info)
{
	const struct em_queue *queue;
	int rc = 0;

	if (em == NULL || info == NULL)
		return -EINVAL;
	em_lock(em);
	queue = em_queue_of(em, handle, &rc);
	if (queue != NULL) {
		*info = (struct weir_em_queue_info){
			.type = (enum weir_em_queue_type)queue->type,
			.priority = queue->priority,
			.enabled = queue->enabled,
			.context = queue->context,
		};
		strcpy(info->name, queue->name);
		if (is_scheduled(info->type))
			info->group = em->groups[queue->group].handle;
		if (queue->object != NULL)
			info->object = queue->object->handle;
		em_queue_sums(em, queue, &info->stats);
		info->stats.nb_sent -= queue->before.nb_sent;
		info->stats.nb_received -= queue->before.nb_received;
		info->stats.nb_dropped -= queue->before.nb_dropped;
	}
	em_unlock(em);
	return rc;
}

weir_em_queue
weir_em_queue_find(struct weir_em *em, const char *name)
{
	weir_em_queue found = WEIR_EM_NONE;

	if (em == NULL || name == NULL)
		return WEIR_EM_NONE;
	em_lock(em);
	for (unsigned int i = 0; i < em->nb_queues && found == WEIR_EM_NONE; i++)
		if (em->queues[i].handle != WEIR_EM_NONE && strcmp(em->queues[i].name, name) == 0)
			found = em->queues[i].handle;
	em_unlock(em);
	return found;
}
