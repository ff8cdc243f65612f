/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls: each core does something at the beginning of a round. Deferred events: what the machine sends for others, without loss. */

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>

#include "check.h"

#define PATIENCE_NS       UINT64_C(1000000000) /* until it is said who is waited for */
#define PATIENCE_AGAIN_NS UINT64_C(10000000000)

struct em_call *
em_call_make(struct weir_em *em, const struct weir_em_notification *notification)
{
	struct em_call *call = calloc(1, sizeof(*call));

	if (call == NULL)
		return NULL;
	call->em = em;
	call->nb_users = call->nb_left = 1;
	if (notification != NULL)
		call->notification = *notification;
	return call;
}

void
em_call_put(struct em_call *call)
{
	if (__atomic_sub_fetch(&call->nb_users, 1, __ATOMIC_ACQ_REL) == 0)
		free(call);
}

void
em_attention(struct weir_em *em)
{
	for (unsigned int id = 0; id < em->nb_cores; id++)
		__atomic_store_n(&em->cores[id].attention, 1, __ATOMIC_RELEASE);
	weir_sched_wake(em->sched, UINT64_MAX);
}

void
em_call_post(struct em_call *call)
{
	struct weir_em *em = call->em;

	for (unsigned int id = 0; id < em->nb_cores; id++) {
		struct weir_em_core *core = &em->cores[id];
		struct em_call_node *node = &call->nodes[id];

		if (!core->attached)
			continue;
		call->left |= (uint64_t)1 << id;
		call->nb_left++;
		call->nb_users++;
		node->call = call;
		*core->calls_end = node;
		core->calls_end = &node->next;
		__atomic_store_n(&core->attention, 1, __ATOMIC_RELEASE);
	}
	weir_sched_wake(em->sched, call->left);
}

/* One less has to do it. */
static void
one_done(struct em_call *call, struct weir_em_core *core)
{
	struct weir_em *em = call->em;
	struct weir_em_notification *done = &call->notification;

	if (__atomic_sub_fetch(&call->nb_left, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	if (call->done != NULL)
		call->done(em, core, call);
	if (done->queue != WEIR_EM_NONE &&
		em_send_deferred(em, core, done->queue, &done->event) < 0)
		em_drop_unsent(em, core, done->queue, &done->event, WEIR_EM_DROP_DELETED);
	__atomic_store_n(&call->finished, 1, __ATOMIC_RELEASE);
}

void
em_call_start(struct em_call *call, struct weir_em_core *core)
{
	one_done(call, core);
}

/* In a function of it, though others may run in that. */
static bool
is_in(const struct weir_em_core *core, weir_em_object object)
{
	const struct em_frame *frame = core->outer;

	if (core->object == object)
		return true;
	while (frame != NULL && frame->object != object)
		frame = frame->outer;
	return frame != NULL;
}

/* The first call that the core may do now. */
static struct em_call *
take_call(struct weir_em_core *core)
{
	struct em_call_node **at = &core->calls, *node;

	em_lock(core->em);
	while ((node = *at) != NULL && node->call->strict != WEIR_EM_NONE &&
		node->call->caller != core && is_in(core, node->call->strict)) {
		__atomic_store_n(&core->attention, 1, __ATOMIC_RELAXED);
		at = &node->next;
	}
	if (node != NULL) {
		*at = node->next;
		if (node->next == NULL)
			core->calls_end = at;
	}
	em_unlock(core->em);
	return node == NULL ? NULL : node->call;
}

void
em_attend(struct weir_em_core *core)
{
	struct em_call *call;

	if (__atomic_load_n(&core->attention, __ATOMIC_RELAXED) == 0 ||
		__atomic_exchange_n(&core->attention, 0, __ATOMIC_ACQUIRE) == 0)
		return;
	while ((call = take_call(core)) != NULL) {
		int none = 0;
		int rc = call->run != NULL ? call->run(core, call) : 0;

		if (rc < 0)
			__atomic_compare_exchange_n(&call->result, &none, rc, false,
				__ATOMIC_RELAXED, __ATOMIC_RELAXED);
		__atomic_fetch_and(&call->left, ~((uint64_t)1 << core->id), __ATOMIC_RELEASE);
		one_done(call, core);
		em_call_put(call);
	}
	em_deferred_flush(core->em, core);
}

/* All that have not come are in no receive function. */
static bool
rest_is_quiet(const struct em_call *call)
{
	uint64_t left = __atomic_load_n(&call->left, __ATOMIC_ACQUIRE);

	for (; left != 0; left &= left - 1)
		if (__atomic_load_n(
			    &call->em->cores[__builtin_ctzll(left)].dispatching, __ATOMIC_ACQUIRE))
			return false;
	return true;
}

void
em_wait_a_little(
	const struct weir_em *em, struct em_patience *patience, uint64_t cores, const char *what)
{
	uint64_t now = weir_base_time_ns();

	sched_yield();
	if (patience->end_ns == 0)
		patience->end_ns = now + PATIENCE_NS;
	if (now < patience->end_ns)
		return;
	patience->end_ns = now + PATIENCE_AGAIN_NS;
	EM_LOG(WARNING,
		"%s: %s waits for cores %#" PRIx64
		": each must be in weir_em_dispatch(), or come there",
		em->name, what, cores);
}

int
em_call_wait(struct em_call *call, struct weir_em_core *core)
{
	char what[WEIR_EM_NAME_SIZE + 16] = "a queue or a group";
	struct em_patience patience = {0};
	int result;

	if (call->object != NULL)
		snprintf(what, sizeof(what), "object '%s'", call->object->name);

	if (call->quiesce) {
		em_barrier(call->em);
		/* The caller's own core need not come to itself. */
		if (core != NULL && !core->producer)
			em_attend(core);
	}
	while (__atomic_load_n(&call->finished, __ATOMIC_ACQUIRE) == 0) {
		if (core != NULL && !core->producer)
			em_attend(core);
		if (call->quiesce && rest_is_quiet(call))
			break;
		em_wait_a_little(
			call->em, &patience, __atomic_load_n(&call->left, __ATOMIC_RELAXED), what);
	}
	result = __atomic_load_n(&call->result, __ATOMIC_RELAXED);
	em_call_put(call);
	return result;
}

int
em_quiesce(struct weir_em *em, struct weir_em_core *core, struct em_object *strict)
{
	struct em_call *call = em_call_make(em, NULL);

	if (call == NULL)
		return -ENOMEM;
	call->quiesce = true;
	call->object = strict;
	call->strict = strict != NULL ? strict->handle : WEIR_EM_NONE;
	em_lock(em);
	em_call_post(call);
	/* The caller may be in that object: it knows. */
	if (core != NULL && !core->producer && call->nodes[core->id].call != NULL)
		call->left &= ~((uint64_t)1 << core->id);
	em_unlock(em);
	em_call_start(call, core);
	return em_call_wait(call, core);
}

int
em_notification_keep(struct weir_em *em, struct weir_em_core *core,
	const struct weir_em_notification *notification, const char *where)
{
	int rc = 0;

	if (notification == NULL)
		return -EINVAL;
	em_lock(em);
	em_queue_of(em, notification->queue, &rc);
	em_unlock(em);
	return rc < 0 ? rc : em_keep(em, core, notification->queue, &notification->event, where);
}

void
em_notification_give_up(const struct weir_em *em, const struct weir_em_notification *notification)
{
	em_check_own_events(em, &notification->event, 1);
}

int
em_defer(struct em_deferred_list *list, weir_em_queue queue, const struct rte_event *event,
	weir_em_event_group group)
{
	struct em_deferred *deferred = malloc(sizeof(*deferred));

	if (deferred == NULL)
		return -ENOMEM;
	*deferred = (struct em_deferred){.queue = queue, .group = group, .event = *event};
	*list->end = deferred;
	list->end = &deferred->next;
	return 0;
}

static void
list_init(struct em_deferred_list *list)
{
	list->first = NULL;
	list->end = &list->first;
}

/* All of @from behind what is in @to. */
static void
list_append(struct em_deferred_list *to, struct em_deferred_list *from)
{
	if (from->first == NULL)
		return;
	*to->end = from->first;
	to->end = from->end;
	list_init(from);
}

/* Where it is noted that events wait: all scheduled queues want the same credits, others have room of their own. */
static uint64_t *
note_of(struct weir_em *em, weir_em_queue handle)
{
	struct em_queue *queue = em_queue_at(em, handle);

	return __atomic_load_n(&queue->type, __ATOMIC_RELAXED) > WEIR_EM_QUEUE_ORDERED
		       ? &queue->blocked
		       : &em->blocked;
}

/* Send what can be sent now; @rest is what cannot, and what is behind that. */
static void
send_list(struct weir_em_core *core, struct em_deferred_list *list, struct em_deferred_list *rest)
{
	uint64_t now = core->em->nb_flushes;
	struct em_deferred *deferred;

	while ((deferred = list->first) != NULL) {
		uint64_t *note = note_of(core->em, deferred->queue);
		int rc = *note == now ? -EAGAIN : em_resend(core, deferred);

		list->first = deferred->next;
		deferred->next = NULL;
		if (rc == -ENOSPC || rc == -EAGAIN) {
			*note = now;
			*rest->end = deferred;
			rest->end = &deferred->next;
			continue;
		}
		if (rc < 0)
			em_drop_unsent(core->em, core, deferred->queue, &deferred->event,
				WEIR_EM_DROP_DELETED);
		free(deferred);
	}
	list_init(list);
}

void
em_deferred_flush(struct weir_em *em, struct weir_em_core *core)
{
	struct em_deferred_list list, rest, blocked;
	bool again = true;

	list_init(&list);
	list_init(&rest);
	list_init(&blocked);
	em_lock(em);
	/* One at a time: their order is kept. */
	if (em->flushing) {
		em_unlock(em);
		return;
	}
	em->flushing = true;
	em->nb_flushes++;
	while (again && em->deferred.first != NULL) {
		list_append(&list, &em->deferred);
		em_unlock(em);
		send_list(core, &list, &rest);
		em_lock(em);
		again = rest.first == NULL;
		list_append(&blocked, &rest);
	}
	/* in front of those that have come meanwhile */
	list_append(&blocked, &em->deferred);
	list_append(&em->deferred, &blocked);
	em->flushing = false;
	if (em->deferred.first != NULL)
		em_attention(em);
	em_unlock(em);
}

void
em_deferred_move(struct weir_em *em, struct weir_em_core *core, struct em_deferred_list *list)
{
	struct weir_em_core *sender;

	if (list->first == NULL)
		return;
	em_lock(em);
	list_append(&em->deferred, list);
	em_unlock(em);
	sender = em_control_get(em, core);
	em_deferred_flush(em, sender);
	em_control_put(em, core);
}

int
em_send_deferred(struct weir_em *em, struct weir_em_core *core, weir_em_queue queue,
	const struct rte_event *event)
{
	struct em_deferred_list list;
	int rc = 0;

	list_init(&list);
	em_lock(em);
	em_queue_of(em, queue, &rc);
	em_unlock(em);
	if (rc == 0)
		rc = em_defer(&list, queue, event, WEIR_EM_NONE);
	if (rc == 0)
		em_deferred_move(em, core, &list);
	return rc;
}

void
em_deferred_drop(struct weir_em *em, struct weir_em_core *core, struct em_deferred_list *list)
{
	struct em_deferred *deferred;

	while ((deferred = list->first) != NULL) {
		list->first = deferred->next;
		em_drop_unsent(em, core, deferred->queue, &deferred->event, WEIR_EM_DROP_DISABLED);
		free(deferred);
	}
	list_init(list);
}
