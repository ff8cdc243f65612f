/* SPDX-License-Identifier: BSD-3-Clause */

/* The loop of a core: events go to receive functions. */

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include <rte_pause.h>

#include "check.h"

#define BURST        32
#define SLEEP_US     50
#define AWAKE_ROUNDS 64 /* with nothing to do, before a core sleeps */
#define PAUSES       16
#define CARE_ROUNDS  64

/* What events have to know while they are received. */
static inline void
begin(struct weir_em_core *core, struct em_queue *queue, weir_em_object object,
	struct rte_event *events, uint16_t nb, const uint8_t *slots)
{
	if (unlikely(++core->serial == EM_GONE)) {
		memset(core->held, 0, sizeof(core->held));
		core->serial = 1;
	}
	core->queue = queue;
	core->object = object;
	core->slots = slots;
	core->nb_batch = nb;
	core->has_context = slots != NULL;
	core->ended = false;
	for (uint16_t i = 0; i < nb && slots != NULL; i++)
		core->held[slots[i]] = core->serial;
	em_check_own_events(core->em, events, nb);
}

static inline void
end(struct weir_em_core *core)
{
	core->queue = NULL;
	core->object = WEIR_EM_NONE;
	core->nb_batch = 0;
}

static __rte_noinline void
call_back(struct weir_em_core *core, const struct em_callbacks *callbacks, weir_em_object object,
	weir_em_queue queue, struct rte_event *events, uint16_t nb)
{
	for (unsigned int i = 0; i < callbacks->nb; i++)
		callbacks->list[i].function(
			core, object, queue, events, nb, callbacks->list[i].arg);
}

/* A group of events that belong together: to an object, a queue, an event group. */
static inline void
receive(struct weir_em_core *core, struct em_queue *queue, struct em_object *object,
	struct rte_event *events, uint16_t nb, const uint8_t *slots)
{
	struct weir_em *em = core->em;
	const struct em_callbacks *enter = __atomic_load_n(&em->callbacks[0], __ATOMIC_ACQUIRE);
	const struct em_callbacks *leave = __atomic_load_n(&em->callbacks[1], __ATOMIC_ACQUIRE);
	struct em_count *count = &core->objects[object->number];
	weir_em_object self = __atomic_load_n(&object->handle, __ATOMIC_RELAXED);
	weir_em_receive_t function = object->receive;
	void *context = object->context;
	weir_em_queue handle = queue->last_handle;
	weir_em_event_group group = WEIR_EM_NONE;

	if (unlikely(em_uses_groups(em)))
		group = em_event_group(em, &events[0]);
	/* from here on it may be deleted by what is called, and another one made in its place */
	begin(core, queue, self, events, nb, slots);
	core->event_group = group;
	if (unlikely(enter != NULL))
		call_back(core, enter, self, handle, events, nb);
	function(core, context, events, nb, handle,
		__atomic_load_n(&queue->context, __ATOMIC_ACQUIRE));
	if (unlikely(leave != NULL))
		call_back(core, leave, self, handle, events, nb);
	if (likely(__atomic_load_n(&object->handle, __ATOMIC_RELAXED) == self)) {
		em_count(&count->received, nb);
		em_count(&count->sent, 1);
	}
	em_count(&core->stats.nb_received, nb);
	em_count(&core->stats.nb_calls, 1);
	end(core);
	group = core->event_group; /* it may have been assigned, or ended */
	core->event_group = WEIR_EM_NONE;
	if (unlikely(group != WEIR_EM_NONE) && em->group_processed != NULL)
		em->group_processed(em, core, group, nb);
	em_count(&core->queues[queue - em->queues].received, nb);
}

/* Events that an output queue got in order. */
static __rte_noinline void
output(struct weir_em_core *core, struct em_queue *queue, struct rte_event *events, uint16_t nb,
	const uint8_t *slots)
{
	uint16_t n;

	begin(core, queue, WEIR_EM_NONE, events, nb, slots);
	n = queue->output(core, __atomic_load_n(&queue->context, __ATOMIC_ACQUIRE), events, nb,
		queue->last_handle);
	n = RTE_MIN(n, nb);
	end(core);
	em_count(&core->stats.nb_received, n);
	em_count(&core->queues[queue - core->em->queues].received, n);
	if (n < nb)
		em_drop(core->em, core, queue, events + n, (uint16_t)(nb - n), WEIR_EM_DROP_OUTPUT);
}

static __rte_noinline void
drop(struct weir_em_core *core, struct em_queue *queue, struct rte_event *events, uint16_t nb)
{
	enum weir_em_drop reason = WEIR_EM_DROP_DISABLED;

	if (__atomic_load_n(&queue->handle, __ATOMIC_ACQUIRE) == WEIR_EM_NONE)
		reason = WEIR_EM_DROP_DELETED;
	else if (__atomic_load_n(&queue->object, __ATOMIC_RELAXED) == NULL)
		reason = WEIR_EM_DROP_DETACHED;
	em_check_own_events(core->em, events, nb);
	em_drop(core->em, core, queue, events, nb, reason);
}

/* How many of these are of the first one's event group. */
static uint16_t
same_group(const struct weir_em *em, const struct rte_event *events, uint16_t nb)
{
	weir_em_event_group group = em_event_group(em, &events[0]);
	uint16_t n = 1;

	while (n < nb && em_event_group(em, &events[n]) == group)
		n++;
	return n;
}

void
em_serve(struct weir_em_core *core, struct em_queue *queue, struct rte_event *events, uint16_t nb,
	const uint8_t *slots)
{
	const struct weir_em *em = core->em;
	uint16_t n;

	for (uint16_t i = 0; i < nb; i += n) {
		struct em_object *object = __atomic_load_n(&queue->target, __ATOMIC_ACQUIRE);
		const uint8_t *numbers = slots == NULL ? NULL : slots + i;

		n = (uint16_t)(nb - i);
		if (unlikely(object == NULL)) {
			if (queue->type == WEIR_EM_QUEUE_OUTPUT &&
				__atomic_load_n(&queue->handle, __ATOMIC_ACQUIRE) != WEIR_EM_NONE)
				output(core, queue, events + i, n, numbers);
			else
				drop(core, queue, events + i, n);
			continue;
		}
		n = RTE_MIN(n, object->burst);
		if (unlikely(em_uses_groups(em)))
			n = same_group(em, events + i, n);
		receive(core, queue, object, events + i, n, numbers);
	}
}

/*
 * Events of several queues are dequeued in any mixture. Of each queue they are received together, in their order: a batch is as
 * large as it can be. What is of higher priority is not overtaken by that: queues are put together only among neighbours that
 * have one priority.
 */
struct run {
	struct em_queue *queue;
	uint8_t at, nb; /* events of the queue, one after the other */
	uint8_t next;   /* the queue's next run: index + 1; 0: no more */
	uint8_t last;   /* of the first of them: the last one + 1; 0 in the others */
};

struct runs {
	unsigned int nb; /* below UINT8_MAX, as WEIR_EM_BURST_MAX is */
	struct run run[WEIR_EM_BURST_MAX];
	/* By the queue's number: index + 1 of its first run. Of two that share a place, the later one has it. */
	uint8_t first[64];
};

static inline uint8_t *
first_run(struct runs *runs, const struct weir_em *em, const struct em_queue *queue)
{
	return &runs->first[(size_t)(queue - em->queues) % RTE_DIM(runs->first)];
}

/* A run behind those there are: of a queue of its own, or joined to its queue's others. */
static inline void
add_run(struct runs *runs, const struct weir_em *em, struct em_queue *queue, uint16_t at,
	uint16_t nb)
{
	uint8_t *place = first_run(runs, em, queue), number = (uint8_t)++runs->nb;
	struct run *run = &runs->run[number - 1], *first;

	*run = (struct run){.queue = queue, .at = (uint8_t)at, .nb = (uint8_t)nb, .last = number};
	if (*place == 0 || runs->run[*place - 1].queue != queue) {
		*place = number;
		return;
	}
	first = &runs->run[*place - 1];
	runs->run[first->last - 1].next = number;
	first->last = number;
	run->last = 0; /* not a first one */
}

/* The runs of one queue. */
static void
serve_joined(struct weir_em_core *core, const struct runs *runs, const struct run *run)
{
	struct rte_event events[WEIR_EM_BURST_MAX];
	uint8_t slots[WEIR_EM_BURST_MAX];
	struct em_queue *queue = run->queue;
	uint16_t nb = 0;

	for (;; run = &runs->run[run->next - 1]) {
		memcpy(&events[nb], &core->events[run->at], run->nb * sizeof(events[0]));
		memcpy(&slots[nb], &core->event_slots[run->at], run->nb);
		nb += run->nb;
		if (run->next == 0)
			break;
	}
	em_serve(core, queue, events, nb, slots);
}

/* They are of one priority. */
static void
serve_runs(struct weir_em_core *core, struct runs *runs)
{
	memset(runs->first, 0, sizeof(runs->first));
	for (unsigned int i = 0; i < runs->nb; i++) {
		const struct run *run = &runs->run[i];

		if (run->last == i + 1)
			em_serve(core, run->queue, core->events + run->at, run->nb,
				core->event_slots + run->at);
		else if (run->last != 0)
			serve_joined(core, runs, run);
	}
	runs->nb = 0;
}

static inline bool
is_known(const struct em_queue *queue)
{
	return queue != NULL && queue->last_handle != WEIR_EM_NONE;
}

/* How many, from the first on, are of one queue? */
static inline uint16_t
same_queue(struct em_queue *const *queues, uint16_t nb)
{
	uint16_t n = 1;

	while (n < nb && queues[n] == queues[0])
		n++;
	return n;
}

/* From the scheduler. */
static void
serve_all(struct weir_em_core *core, uint16_t nb)
{
	struct weir_em *em = core->em;
	struct em_queue *queues[WEIR_EM_BURST_MAX];
	struct rte_event *events = core->events;
	struct runs runs;
	uint16_t run;

	for (uint16_t i = 0; i < nb; i++) {
		core->event_slots[i] = events[i].impl_opaque;
		queues[i] = em_event_queue(em, &events[i]);
		rte_prefetch0(queues[i]);
	}
	runs.nb = 0;
	memset(runs.first, 0, sizeof(runs.first));
	for (uint16_t i = 0; i < nb; i += run) {
		struct em_queue *queue = queues[i];

		run = 1;
		if (unlikely(!is_known(queue))) {
			em_drop(em, core, NULL, &events[i], 1, WEIR_EM_DROP_UNKNOWN);
			continue;
		}
		run = same_queue(&queues[i], (uint16_t)(nb - i));
		if (run == nb) { /* as a single event always is */
			em_serve(core, queue, events, nb, core->event_slots);
			return;
		}
		if (runs.nb > 0 && runs.run[0].queue->priority != queue->priority)
			serve_runs(core, &runs);
		add_run(&runs, em, queue, i, run);
	}
	serve_runs(core, &runs);
}

uint16_t
em_round(struct weir_em_core *core, uint16_t burst)
{
	struct weir_em *em = core->em;
	unsigned int nb_polls = __atomic_load_n(&em->nb_polls, __ATOMIC_ACQUIRE);
	uint16_t nb = 0, got;

	if (unlikely(__atomic_load_n(&core->attention, __ATOMIC_RELAXED) != 0))
		em_attend(core);
	for (unsigned int i = 0; i < nb_polls; i++) {
		const struct em_poll *poll = __atomic_load_n(&em->polls[i], __ATOMIC_ACQUIRE);

		if (likely(poll != NULL))
			poll->function(core, poll->arg);
	}
	if (unlikely(!em->by_event) && core->stats.nb_rounds % CARE_ROUNDS == 0)
		em_look_after_ports(core);
	if (core->local_priorities != 0)
		nb = em_local_dispatch(core, burst);
	got = weir_sched_dequeue(core->port, core->events, burst);
	if (got > 0)
		serve_all(core, got);
	nb += got;
	em_count(&core->stats.nb_rounds, 1);
	if (nb == 0)
		em_count(&core->stats.nb_idle, 1);
	return nb;
}

static void
idle(const struct weir_em_dispatch_options *options, uint64_t nb_idle)
{
	uint32_t sleep_us = options->sleep_us != 0 ? options->sleep_us : SLEEP_US;
	struct timespec pause = {
		.tv_sec = sleep_us / 1000000, .tv_nsec = (long)(sleep_us % 1000000) * 1000};

	switch (options->idle) {
	case WEIR_EM_IDLE_PAUSE:
		for (unsigned int i = 0; i < PAUSES; i++)
			rte_pause();
		break;
	case WEIR_EM_IDLE_YIELD:
		sched_yield();
		break;
	case WEIR_EM_IDLE_SLEEP:
		if (nb_idle > AWAKE_ROUNDS)
			nanosleep(&pause, NULL);
		else
			rte_pause();
		break;
	case WEIR_EM_IDLE_POLL:
	default:
		break;
	}
}

/* Told to stop? */
static bool
is_over(const struct weir_em_core *core)
{
	return (__atomic_load_n(&core->em->stop, __ATOMIC_RELAXED) |
		       __atomic_load_n(&core->stop, __ATOMIC_RELAXED)) != 0;
}

static uint64_t
loop(struct weir_em_core *core, const struct weir_em_dispatch_options *options, uint16_t burst)
{
	uint64_t nb_rounds = 0, nb_idle = 0, total = 0, begun = 0, length = 0;
	uint16_t nb;

	if (options->duration_ns != 0) {
		length = weir_base_ns_to_cycles(options->duration_ns);
		begun = weir_base_cycles();
	}
	while (!is_over(core)) {
		nb = em_round(core, burst);
		total += nb;
		if (++nb_rounds == options->nb_rounds ||
			(options->nb_events != 0 && total >= options->nb_events) ||
			(length != 0 && weir_base_cycles() - begun >= length))
			break;
		nb_idle = nb > 0 ? 0 : nb_idle + 1;
		if (nb == 0)
			idle(options, nb_idle);
	}
	return total;
}

/* In dispatch, or in a start or stop function. */
static bool
is_busy(const struct weir_em_core *core)
{
	return core->dispatching || core->object != WEIR_EM_NONE || core->op != NULL;
}

uint64_t
weir_em_dispatch(struct weir_em_core *core, const struct weir_em_dispatch_options *options)
{
	static const struct weir_em_dispatch_options for_ever = {0};
	uint16_t burst = BURST;
	uint64_t nb;

	if (core == NULL) {
		rte_errno = EINVAL;
		return 0;
	}
	if (options == NULL)
		options = &for_ever;
	if (options->burst != 0)
		burst = options->burst;
	if (core->producer || !core->attached || is_busy(core) || core->nb_holds > 0 ||
		burst > WEIR_EM_BURST_MAX || (unsigned int)options->idle > WEIR_EM_IDLE_SLEEP) {
		em_error_argument(core->em, core->attached ? core : NULL, -EINVAL, WEIR_EM_NONE,
			NULL, "weir_em_dispatch");
		rte_errno = EINVAL;
		return 0;
	}
	__atomic_store_n(&core->dispatching, true, __ATOMIC_RELAXED);
	em_light_fence(core->em);
	nb = loop(core, options, burst);
	weir_sched_dequeue(core->port, core->events, 0); /* what it held */
	__atomic_store_n(&core->stop, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&core->dispatching, false, __ATOMIC_RELEASE);
	return nb;
}

weir_em_queue
weir_em_current_queue(const struct weir_em_core *core)
{
	return core != NULL && core->queue != NULL ? core->queue->last_handle : WEIR_EM_NONE;
}

weir_em_object
weir_em_current_object(const struct weir_em_core *core)
{
	return core != NULL ? core->object : WEIR_EM_NONE;
}

uint16_t
weir_em_queue_dequeue(
	struct weir_em *em, weir_em_queue handle, struct rte_event *events, uint16_t nb)
{
	struct em_queue *queue = em == NULL ? NULL : em_queue_at(em, handle);
	struct rte_ring *ring;
	uint16_t got;

	if (queue == NULL || events == NULL || handle == WEIR_EM_NONE) {
		rte_errno = EINVAL;
		return 0;
	}
	em_add(&queue->foreign_users, 1); /* a fence: from here on it is not made another one */
	if (!em_queue_is(queue, handle) || queue->type != WEIR_EM_QUEUE_UNSCHEDULED) {
		rte_errno = queue->handle == handle
				    ? EINVAL
				    : -em_handle_errno(handle, EM_KIND_QUEUE, em->nb_queues);
		em_add(&queue->foreign_users, -(uint64_t)1);
		return 0;
	}
	ring = queue->ring;
	got = em_ring_get(ring, events, nb);
	em_check_own_events(em, events, got);
	if (got > 0) {
		em_add(&em->foreign_received, got);
		em_add(&queue->foreign_received, got);
	}
	em_add(&queue->foreign_users, -(uint64_t)1);
	return got;
}

/* ---- callbacks ---- */

/* Under the lock: the same list, if there is one; or NULL. */
static struct em_callbacks *
made_before(const struct weir_em *em, const struct em_callbacks *wanted)
{
	struct em_callbacks *list = em->callback_lists;

	while (list != NULL && (list->nb != wanted->nb ||
				       memcmp(list->list, wanted->list, sizeof(list->list)) != 0))
		list = list->older;
	return list;
}

static int
replace(struct weir_em *em, int which, weir_em_dispatch_callback_t callback, void *arg, bool add)
{
	struct em_callbacks *now, *old;
	bool found = false;
	int rc = 0;

	if (em == NULL || callback == NULL)
		return -EINVAL;
	now = calloc(1, sizeof(*now));
	if (now == NULL)
		return -ENOMEM;
	em_lock(em);
	old = em->callbacks[which];
	for (unsigned int i = 0; old != NULL && i < old->nb; i++) {
		if (old->list[i].function == callback && old->list[i].arg == arg)
			found = true;
		else
			now->list[now->nb++] = old->list[i];
	}
	if (found == add)
		rc = add ? -EEXIST : -ENOENT;
	else if (add && now->nb == EM_CALLBACKS)
		rc = -ENOSPC;
	if (rc == 0) {
		if (add) {
			now->list[now->nb].function = callback;
			now->list[now->nb++].arg = arg;
		}
		old = made_before(em, now);
		if (old == NULL) {
			now->older = em->callback_lists;
			em->callback_lists = now;
		}
		__atomic_store_n(&em->callbacks[which], old != NULL ? old : now, __ATOMIC_RELEASE);
	}
	em_unlock(em);
	if (rc < 0 || old != NULL)
		free(now);
	return rc;
}

int
weir_em_dispatch_enter_add(struct weir_em *em, weir_em_dispatch_callback_t callback, void *arg)
{
	return replace(em, 0, callback, arg, true);
}

int
weir_em_dispatch_exit_add(struct weir_em *em, weir_em_dispatch_callback_t callback, void *arg)
{
	return replace(em, 1, callback, arg, true);
}

int
weir_em_dispatch_enter_remove(struct weir_em *em, weir_em_dispatch_callback_t callback, void *arg)
{
	return replace(em, 0, callback, arg, false);
}

int
weir_em_dispatch_exit_remove(struct weir_em *em, weir_em_dispatch_callback_t callback, void *arg)
{
	return replace(em, 1, callback, arg, false);
}
