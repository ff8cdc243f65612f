/* SPDX-License-Identifier: BSD-3-Clause */

/* Objects are started and stopped: once, and on every core. */

#include <stdlib.h>

#include "em_private.h"

/* Events that a start function sends are kept until its queues are there. @return how many */
uint16_t
em_op_send(struct em_op *op, weir_em_queue queue, const struct rte_event *events, uint16_t nb,
	weir_em_event_group group)
{
	uint16_t i;

	pthread_mutex_lock(&op->lock);
	for (i = 0; i < nb; i++)
		if (em_defer(&op->list, queue, &events[i], group) < 0) {
			rte_errno = ENOMEM;
			break;
		}
	pthread_mutex_unlock(&op->lock);
	return i;
}

static struct em_op *
make_op(struct weir_em *em)
{
	struct em_op *op = calloc(1, sizeof(*op));

	if (op == NULL)
		return NULL;
	op->em = em;
	op->list.end = &op->list.first;
	pthread_mutex_init(&op->lock, NULL);
	return op;
}

static void
free_op(struct em_op *op)
{
	if (op == NULL)
		return;
	pthread_mutex_destroy(&op->lock);
	free(op);
}

/* The core may be in a receive function, which waits. */
static int
run(struct weir_em_core *core, struct em_object *object, weir_em_start_t function, void *arg,
	struct em_op *op)
{
	struct em_op *op_before = core->op;
	const struct em_frame frame = {.object = core->object, .outer = core->outer};
	struct em_queue *queue_before = core->queue;
	const uint64_t group_before = core->event_group;
	uint16_t nb_before = core->nb_batch;
	char name[WEIR_EM_NAME_SIZE];
	int rc;

	if (function == NULL)
		return 0;
	strcpy(name, object->name); /* that of a core may delete the object */
	core->op = op;
	core->outer = &frame;
	core->object = object->handle;
	core->queue = NULL;
	core->event_group = WEIR_EM_NONE;
	core->nb_batch = 0;
	rc = function(core, object->context, object->handle, arg);
	core->nb_batch = nb_before;
	core->event_group = group_before;
	core->queue = queue_before;
	core->object = frame.object;
	core->outer = frame.outer;
	core->op = op_before;
	if (rc < 0)
		EM_LOG(WARNING, "%s: core %u: a start or stop function of object '%s' failed: %s",
			core->em->name, core->id, name, strerror(-rc));
	return rc < 0 ? rc : 0;
}

static int
start_here(struct weir_em_core *core, struct em_object *object, void *arg, struct em_op *op)
{
	if (core->started[object->number] == object->start)
		return 0;
	core->started[object->number] = object->start;
	return run(core, object, object->config.core_start, arg, op);
}

static int
stop_here(struct weir_em_core *core, struct em_object *object, void *arg)
{
	if (core->started[object->number] != object->start)
		return 0;
	core->started[object->number] = 0;
	return run(core, object, object->config.core_stop, arg, NULL);
}

/* ---- start ---- */

static int
start_on_core(struct weir_em_core *core, struct em_call *call)
{
	return core->leaving ? 0 : start_here(core, call->object, call->arg, call->op);
}

/* Under the lock. */
static void
set_phase(struct em_object *object, enum em_object_phase phase)
{
	object->phase = phase;
	for (struct em_queue *queue = object->queues; queue != NULL; queue = queue->next)
		em_queue_retarget(queue);
}

static void
end_start(struct weir_em *em, struct weir_em_core *core, struct em_object *object, int rc,
	struct em_op *op)
{
	em_lock(em);
	set_phase(object, rc < 0 ? EM_OBJECT_CREATED : EM_OBJECT_RUNNING);
	em_unlock(em);
	if (rc < 0)
		em_deferred_drop(em, core, &op->list);
	else
		em_deferred_move(em, core, &op->list);
	free_op(op);
}

static void
start_done(struct weir_em *em, struct weir_em_core *core, struct em_call *call)
{
	end_start(
		em, core, call->object, __atomic_load_n(&call->result, __ATOMIC_RELAXED), call->op);
}

/* NULL: *error. Else its start function is the caller's to run. */
static struct em_object *
begin_start(struct weir_em *em, weir_em_object handle, int *error)
{
	struct em_object *object;

	em_lock(em);
	object = em_object_of(em, handle, error);
	if (object != NULL && object->phase != EM_OBJECT_CREATED) {
		*error = object->phase == EM_OBJECT_DELETING ? -ESTALE : -EBUSY;
		object = NULL;
	}
	if (object != NULL) {
		object->phase = EM_OBJECT_STARTING;
		object->start = ++em->nb_starts;
	}
	em_unlock(em);
	return object;
}

/* @call: what cores do then; NULL with *error */
static struct em_call *
start(struct weir_em *em, struct weir_em_core *core, weir_em_object handle, void *arg,
	const struct weir_em_notification *done, int *error)
{
	struct em_call *call = em_call_make(em, done);
	struct em_op *op = make_op(em);
	struct em_object *object = NULL;

	*error = call == NULL || op == NULL ? -ENOMEM : 0;
	if (*error == 0)
		object = begin_start(em, handle, error);
	if (object == NULL) {
		free_op(op);
		free(call);
		return NULL;
	}
	*error = run(em_control_get(em, core), object, object->config.start, arg, op);
	em_control_put(em, core);
	if (*error < 0) {
		end_start(em, core, object, *error, op);
		free(call);
		return NULL;
	}
	call->run = start_on_core;
	call->done = start_done;
	call->object = object;
	call->arg = arg;
	call->op = op;
	em_lock(em);
	object->phase = EM_OBJECT_STARTING_CORES;
	em_call_post(call);
	em_unlock(em);
	em_call_start(call, core);
	return call;
}

/* Starting and stopping: what begins it, and how its caller hears of the end. */
typedef struct em_call *(*begin_fn)(struct weir_em *em, struct weir_em_core *core,
	weir_em_object handle, void *arg, const struct weir_em_notification *done, int *error);

static int
and_wait(begin_fn begin, struct weir_em *em, struct weir_em_core *core, weir_em_object handle,
	void *arg)
{
	struct em_call *call;
	int error;

	if (em == NULL || (core != NULL && core->em != em))
		return -EINVAL;
	call = begin(em, core, handle, arg, NULL, &error);
	return call == NULL ? error : em_call_wait(call, core);
}

static int
and_notify(begin_fn begin, struct weir_em *em, struct weir_em_core *core, weir_em_object handle,
	void *arg, const struct weir_em_notification *done, const char *where)
{
	struct em_call *call;
	int error;

	if (em == NULL || (core != NULL && core->em != em))
		return -EINVAL;
	error = em_notification_keep(em, core, done, where);
	if (error < 0)
		return error;
	call = begin(em, core, handle, arg, done, &error);
	if (call == NULL) {
		em_notification_give_up(em, done);
		return error;
	}
	em_call_put(call);
	return 0;
}

int
weir_em_object_start(
	struct weir_em *em, struct weir_em_core *core, weir_em_object handle, void *arg)
{
	return and_wait(start, em, core, handle, arg);
}

int
weir_em_object_start_async(struct weir_em *em, struct weir_em_core *core, weir_em_object handle,
	void *arg, const struct weir_em_notification *done)
{
	return and_notify(start, em, core, handle, arg, done, "weir_em_object_start_async");
}

/* ---- stop ---- */

static int
stop_on_core(struct weir_em_core *core, struct em_call *call)
{
	return stop_here(core, call->object, call->arg);
}

static void
stop_done(struct weir_em *em, struct weir_em_core *core, struct em_call *call)
{
	struct em_object *object = call->object;
	int rc = run(em_control_get(em, core), object, object->config.stop, call->arg, NULL);

	em_control_put(em, core);
	if (rc < 0 && call->result == 0)
		call->result = rc;
	em_lock(em);
	set_phase(object, EM_OBJECT_CREATED);
	em_unlock(em);
}

static struct em_call *
stop(struct weir_em *em, struct weir_em_core *core, weir_em_object handle, void *arg,
	const struct weir_em_notification *done, int *error)
{
	struct em_call *call = em_call_make(em, done);
	struct em_object *object;

	*error = 0;
	if (call == NULL) {
		*error = -ENOMEM;
		return NULL;
	}
	em_lock(em);
	object = em_object_of(em, handle, error);
	if (object != NULL && object->phase != EM_OBJECT_RUNNING)
		*error = object->phase == EM_OBJECT_DELETING ? -ESTALE : -EBUSY;
	if (*error == 0) {
		set_phase(object, EM_OBJECT_STOPPING);
		call->run = stop_on_core;
		call->done = stop_done;
		call->object = object;
		call->arg = arg;
		call->strict = handle;
		call->caller = done == NULL ? core : NULL;
		em_call_post(call);
	}
	em_unlock(em);
	if (*error < 0) {
		free(call);
		return NULL;
	}
	em_call_start(call, core);
	return call;
}

int
weir_em_object_stop(struct weir_em *em, struct weir_em_core *core, weir_em_object handle, void *arg)
{
	return and_wait(stop, em, core, handle, arg);
}

int
weir_em_object_stop_async(struct weir_em *em, struct weir_em_core *core, weir_em_object handle,
	void *arg, const struct weir_em_notification *done)
{
	return and_notify(stop, em, core, handle, arg, done, "weir_em_object_stop_async");
}

/* ---- cores that come and go ---- */

/* It runs; an operation that is under way is waited for. */
static bool
is_running(struct weir_em_core *core, struct em_object *object)
{
	struct weir_em *em = core->em;
	struct em_patience patience = {0};
	enum em_object_phase phase;

	for (;;) {
		em_lock(em);
		phase = object->handle == WEIR_EM_NONE ? EM_OBJECT_CREATED : object->phase;
		em_unlock(em);
		if (phase != EM_OBJECT_STARTING && phase != EM_OBJECT_STARTING_CORES)
			return phase == EM_OBJECT_RUNNING;
		em_attend(core);
		em_wait_a_little(em, &patience, weir_em_core_mask(em) & ~((uint64_t)1 << core->id),
			"a core that comes, for the start of an object,");
	}
}

/* From here on an object that runs can be stopped only with this core, which comes to that later. */
int
em_start_core(struct weir_em_core *core)
{
	int rc = 0;

	for (unsigned int i = 0; i < core->em->config.nb_objects && rc == 0; i++) {
		struct em_object *object = &core->em->objects[i];
		uint64_t start;

		if (!is_running(core, object))
			continue;
		start = object->start;
		rc = start_here(core, object, NULL, NULL);
		if (rc < 0 && core->started[i] == start)
			core->started[i] = 0; /* there is nothing to stop */
	}
	return rc;
}

void
em_stop_core(struct weir_em_core *core)
{
	struct weir_em *em = core->em;

	for (unsigned int i = 0; i < em->config.nb_objects; i++) {
		struct em_object *object = &em->objects[i];

		if (core->started[i] == 0)
			continue;
		if (is_running(core, object))
			stop_here(core, object, NULL);
	}
}
