/* SPDX-License-Identifier: BSD-3-Clause */

/* Error handlers: an object's own, then the instance's. Events that cannot be delivered. */

#include "check.h"

#define LOG_PERIOD_NS UINT64_C(1000000000)

const char *
weir_em_error_name(enum weir_em_error_kind kind)
{
	static const char *const names[WEIR_EM_ERRORS] = {
		[WEIR_EM_ERROR_ARGUMENT] = "invalid argument",
		[WEIR_EM_ERROR_HANDLE] = "invalid handle",
		[WEIR_EM_ERROR_NOT_HELD] = "not held",
		[WEIR_EM_ERROR_DROP] = "dropped",
		[WEIR_EM_ERROR_DOUBLE_FREE] = "double free",
		[WEIR_EM_ERROR_SEND_FREED] = "send after free",
		[WEIR_EM_ERROR_SEND_TWICE] = "sent twice",
		[WEIR_EM_ERROR_FREE_SENT] = "free after send",
		[WEIR_EM_ERROR_APPLICATION] = "application",
	};

	return (unsigned int)kind < WEIR_EM_ERRORS ? names[kind] : "unknown";
}

const char *
weir_em_drop_name(enum weir_em_drop drop)
{
	static const char *const names[WEIR_EM_DROPS] = {
		[WEIR_EM_DROP_DELETED] = "deleted",
		[WEIR_EM_DROP_DISABLED] = "disabled",
		[WEIR_EM_DROP_DETACHED] = "detached",
		[WEIR_EM_DROP_UNKNOWN] = "unknown",
		[WEIR_EM_DROP_OUTPUT] = "output",
		[WEIR_EM_DROP_STOPPED] = "stopped",
	};

	return (unsigned int)drop < WEIR_EM_DROPS ? names[drop] : "unknown";
}

/* What is looked up for an error, as it may be gone when handlers run. */
struct lookup {
	char object_name[WEIR_EM_NAME_SIZE], queue_name[WEIR_EM_NAME_SIZE];
	weir_em_error_handler_t handlers[2];
	void *args[2];
	bool log;
	uint64_t nb_unlogged;
};

/* A handler runs in this thread. */
static __thread bool telling;

/* Without handlers errors are logged, now and then. Under the lock. */
static void
plan_log(struct weir_em *em, struct lookup *lookup)
{
	uint64_t now = weir_base_time_ns();

	if (lookup->handlers[0] != NULL || lookup->handlers[1] != NULL)
		return;
	if (em->error_logged_ns != 0 && now - em->error_logged_ns < LOG_PERIOD_NS) {
		em->nb_unlogged++;
		return;
	}
	lookup->log = true;
	lookup->nb_unlogged = em->nb_unlogged;
	em->nb_unlogged = 0;
	em->error_logged_ns = now;
}

/* No handlers while one runs: what it does wrong itself would not end. */
static void
look_up(struct weir_em *em, const struct weir_em_error *error, struct lookup *lookup)
{
	struct em_queue *queue = em_queue_at(em, error->queue);
	const struct em_object *object;
	int none;

	memset(lookup, 0, sizeof(*lookup));
	em_lock(em);
	object = em_object_of(em, error->object, &none);
	if (object != NULL) {
		strcpy(lookup->object_name, object->name);
		lookup->handlers[0] = telling ? NULL : object->error_handler;
		lookup->args[0] = object->error_arg;
	}
	if (error->queue != WEIR_EM_NONE && queue != NULL && queue->last_handle == error->queue)
		strcpy(lookup->queue_name, queue->name);
	lookup->handlers[1] = telling ? NULL : em->error_handler;
	lookup->args[1] = em->error_arg;
	plan_log(em, lookup);
	em_unlock(em);
}

int
em_error(struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *wish)
{
	struct weir_em_error error = *wish;
	struct lookup lookup;

	if (core != NULL)
		em_count(&core->stats.nb_errors, 1);
	else
		em_add(&em->nb_foreign_errors, 1);
	if (error.object == WEIR_EM_NONE)
		error.object = weir_em_current_object(core);
	look_up(em, &error, &lookup);
	error.object_name = lookup.object_name;
	error.queue_name = lookup.queue_name;
	if (lookup.log)
		EM_LOG(WARNING,
			"%s: %s: %s in %s: object '%s', queue '%s' (%" PRIu64
			" more since the last message)",
			em->name, weir_em_error_name(error.kind),
			error.kind == WEIR_EM_ERROR_DROP ? weir_em_drop_name(error.drop)
							 : strerror(-error.code),
			error.where, error.object_name, error.queue_name, lookup.nb_unlogged);
	for (int i = 0; i < 2; i++) {
		if (lookup.handlers[i] == NULL)
			continue;
		telling = true;
		error.code = lookup.handlers[i](em, core, &error, lookup.args[i]);
		telling = false;
		if (error.code == 0 || error.code == WEIR_EM_TAKEN)
			break;
	}
	return error.code;
}

int
em_error_argument(struct weir_em *em, struct weir_em_core *core, int code, weir_em_queue queue,
	struct rte_event *event, const char *where)
{
	struct weir_em_error error = {.kind = WEIR_EM_ERROR_ARGUMENT,
		.code = code,
		.queue = queue,
		.where = where,
		.event = event};

	if (code == -ESTALE || (queue == WEIR_EM_NONE && event != NULL))
		error.kind = WEIR_EM_ERROR_HANDLE;
	return em_error(em, core, &error);
}

int
weir_em_error_raise(struct weir_em_core *core, int code, const char *where)
{
	struct weir_em_error error = {.kind = WEIR_EM_ERROR_APPLICATION,
		.code = code,
		.queue = weir_em_current_queue(core),
		.where = where == NULL ? "" : where};

	return core == NULL ? -EINVAL : em_error(core->em, core, &error);
}

void
weir_em_error_handler_set(struct weir_em *em, weir_em_error_handler_t handler, void *arg)
{
	if (em == NULL)
		return;
	em_lock(em);
	em->error_handler = handler;
	em->error_arg = arg;
	em_unlock(em);
}

/* ---- events that are not delivered ---- */

/* As enum weir_em_drop has it. */
static int
code_of(enum weir_em_drop reason)
{
	static const int codes[WEIR_EM_DROPS] = {
		[WEIR_EM_DROP_DELETED] = -ESTALE,
		[WEIR_EM_DROP_DISABLED] = -EPERM,
		[WEIR_EM_DROP_DETACHED] = -ENOENT,
		[WEIR_EM_DROP_UNKNOWN] = -EINVAL,
		[WEIR_EM_DROP_OUTPUT] = -ENOSPC,
		[WEIR_EM_DROP_STOPPED] = -ECANCELED,
	};

	return codes[reason];
}

static void
tell(struct weir_em *em, struct weir_em_core *core, weir_em_object object, weir_em_queue queue,
	struct rte_event *event, enum weir_em_drop reason)
{
	struct weir_em_error error = {.kind = WEIR_EM_ERROR_DROP,
		.code = code_of(reason),
		.drop = reason,
		.object = object,
		.queue = queue,
		.where = "weir_em_dispatch",
		.event = event};

	if (em_error(em, core, &error) != WEIR_EM_TAKEN)
		em_event_free(em, core, event);
}

/* The event is gone after that; nobody waits for it in vain. */
static void
tell_and_count_down(struct weir_em *em, struct weir_em_core *core, weir_em_object object,
	weir_em_queue queue, struct rte_event *event, enum weir_em_drop reason)
{
	const weir_em_event_group group =
		em_uses_groups(em) ? em_event_group(em, event) : WEIR_EM_NONE;

	tell(em, core, object, queue, event, reason);
	if (group != WEIR_EM_NONE && em->group_processed != NULL)
		em->group_processed(em, core, group, 1);
}

static void
count(struct weir_em *em, struct weir_em_core *core, enum weir_em_drop reason, uint64_t nb)
{
	if (core != NULL)
		em_count(&core->stats.nb_dropped[reason], nb);
	else
		em_add(&em->foreign_dropped[reason], nb);
}

/* Whose queue it is: the object may be gone any time, its handle does not lie. */
static weir_em_object
object_of(struct weir_em *em, const struct em_queue *queue)
{
	weir_em_object handle = WEIR_EM_NONE;

	em_lock(em);
	if (queue->handle != WEIR_EM_NONE && queue->object != NULL)
		handle = queue->object->handle;
	em_unlock(em);
	return handle;
}

void
em_drop(struct weir_em *em, struct weir_em_core *core, struct em_queue *queue,
	struct rte_event *events, uint16_t nb, enum weir_em_drop reason)
{
	weir_em_object object = queue == NULL ? WEIR_EM_NONE : object_of(em, queue);
	weir_em_queue handle = queue == NULL ? WEIR_EM_NONE : queue->last_handle;

	count(em, core, reason, nb);
	for (uint16_t i = 0; i < nb; i++)
		tell_and_count_down(em, core, object, handle, &events[i], reason);
	if (queue != NULL)
		em_add(&queue->dropped, nb);
}

void
em_drop_unsent(struct weir_em *em, struct weir_em_core *core, weir_em_queue queue,
	struct rte_event *event, enum weir_em_drop reason)
{
	if (core != NULL)
		em_count(&core->stats.nb_sent, 1);
	else
		em_add(&em->foreign_sent, 1);
	count(em, core, reason, 1);
	em_check_own_events(em, event, 1);
	tell_and_count_down(em, core, WEIR_EM_NONE, queue, event, reason);
}
