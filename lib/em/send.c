/* SPDX-License-Identifier: BSD-3-Clause */

/* Per event: send, forward, release early. */

#include "check.h"

/* Of an event's first word, what is the application's. */
static inline uint64_t
kept_bits(void)
{
	struct rte_event event = {.event = 0};

	event.event_type = 0xf;
	event.sub_event_type = 0xff;
	return event.event;
}

/* Of one that is forwarded, also which one it is. */
static inline uint64_t
kept_bits_forward(void)
{
	struct rte_event event = {.event = kept_bits()};

	event.impl_opaque = 0xff;
	return event.event;
}

/* As lead, which is that of a new one. */
static inline uint64_t
lead_forward(uint64_t lead)
{
	struct rte_event event = {.event = lead};

	event.op = RTE_EVENT_OP_FORWARD;
	return event.event;
}

static inline bool
is_scheduled(const struct em_queue *queue)
{
	return queue->type <= WEIR_EM_QUEUE_ORDERED;
}

/* The events are in a group from now on, or in none. False: they cannot be in one. */
static __rte_noinline bool
set_group(const struct weir_em *em, struct rte_event *events, uint16_t nb, uint64_t group)
{
	for (uint16_t i = 0; i < nb && group != WEIR_EM_NONE; i++)
		if (!em_is_buffer(&events[i]))
			return false;
	for (uint16_t i = 0; i < nb; i++)
		if (em_is_buffer(&events[i]))
			em_meta(em, events[i].mbuf)->group = group;
	return true;
}

/*
 * Count what is about to be sent to a queue, and look whether it is there: in this order, see em_private.h. NULL: it is not,
 * nothing is counted, error handlers were told.
 */
static inline struct em_queue *
enter(struct weir_em_core *core, weir_em_queue handle, uint16_t nb, struct rte_event *event,
	const char *where)
{
	struct em_queue *queue = em_queue_at(core->em, handle);
	uint64_t *sent;
	int error;

	if (likely(queue != NULL && handle != WEIR_EM_NONE)) {
		sent = &core->queues[em_handle_number(handle)].sent;
		em_count(sent, nb);
		em_light_fence(core->em);
		if (likely(em_queue_is(queue, handle)))
			return queue;
		em_count(sent, -(uint64_t)nb);
	}
	error = em_error_argument(core->em, core,
		em_handle_errno(handle, EM_KIND_QUEUE, core->em->nb_queues), handle, event, where);
	rte_errno = error < 0 ? -error : EINVAL;
	return NULL;
}

/* Not all that was counted went. */
static void
uncount(struct weir_em_core *core, weir_em_queue handle, struct rte_event *events, uint16_t nb)
{
	em_count(&core->queues[em_handle_number(handle)].sent, -(uint64_t)nb);
	em_check_own_events(core->em, events, nb);
}

static uint16_t
output_now(struct weir_em_core *core, struct em_queue *queue, weir_em_queue handle,
	struct rte_event *events, uint16_t nb)
{
	uint16_t n;

	em_check_own_events(core->em, events, nb);
	n = queue->output(
		core, __atomic_load_n(&queue->context, __ATOMIC_ACQUIRE), events, nb, handle);
	n = RTE_MIN(n, nb);
	em_count(&core->stats.nb_received, n);
	em_count(&core->queues[em_handle_number(handle)].received, n);
	return n;
}

/* As new ones. The queue is there, and they are counted. @return how many went; fewer with rte_errno ENOSPC */
static inline uint16_t
give(struct weir_em_core *core, struct em_queue *queue, weir_em_queue handle,
	struct rte_event *events, uint16_t nb)
{
	uint16_t n;

	if (likely(is_scheduled(queue))) {
		for (uint16_t i = 0; i < nb; i++)
			events[i].event = (events[i].event & kept_bits()) | queue->lead;
		n = weir_sched_enqueue(core->port, events, nb);
	} else if (queue->type == WEIR_EM_QUEUE_LOCAL) {
		n = em_local_send(core, queue, events, nb);
	} else if (queue->type == WEIR_EM_QUEUE_UNSCHEDULED) {
		n = em_ring_put(queue->ring, events, nb);
	} else {
		n = output_now(core, queue, handle, events, nb);
	}
	if (unlikely(n < nb))
		rte_errno = ENOSPC;
	return n;
}

/* Those that never were sent, and are not to be. */
static __rte_noinline uint16_t
refuse(struct weir_em_core *core, weir_em_queue handle, struct rte_event *events, uint16_t nb,
	int code, const char *where)
{
	em_count(&core->queues[em_handle_number(handle)].sent, -(uint64_t)nb);
	code = em_error_argument(core->em, core, code, handle, events, where);
	rte_errno = code < 0 ? -code : EINVAL;
	return 0;
}

/* No core, one that was detached, or no events. */
static __rte_noinline uint16_t
refuse_caller(struct weir_em_core *core, weir_em_queue handle, const char *where)
{
	if (core != NULL)
		em_error_argument(
			core->em, core->attached ? core : NULL, -EINVAL, handle, NULL, where);
	rte_errno = EINVAL;
	return 0;
}

uint16_t
em_send(struct weir_em_core *core, weir_em_queue handle, struct rte_event *events, uint16_t nb,
	weir_em_event_group group)
{
	struct em_queue *queue;
	struct weir_em *em;
	uint16_t n, good;

	if (unlikely(nb == 0))
		return 0;
	if (unlikely(core == NULL || events == NULL || !core->attached))
		return refuse_caller(core, handle, "weir_em_send");
	em = core->em;
	queue = enter(core, handle, nb, events, "weir_em_send");
	if (unlikely(queue == NULL))
		return 0;
	if (unlikely(core->producer && queue->type == WEIR_EM_QUEUE_LOCAL && core->op == NULL))
		return refuse(core, handle, events, nb, -EINVAL, "weir_em_send");
	if (unlikely(em_uses_groups(em) || group != WEIR_EM_NONE) &&
		!set_group(em, events, nb, group))
		return refuse(core, handle, events, nb, -EINVAL, "weir_em_send");
	good = em_check_send(core, handle, events, nb, "weir_em_send");
	if (unlikely(core->op != NULL)) {
		n = em_op_send(core->op, handle, events, good, group);
		em_count(&core->queues[em_handle_number(handle)].sent, -(uint64_t)nb);
		em_check_own_events(em, events + n, (uint16_t)(good - n));
		return n;
	}
	n = give(core, queue, handle, events, good);
	em_count(&core->stats.nb_sent, n);
	if (unlikely(n < nb)) {
		uncount(core, handle, events + n, (uint16_t)(good - n));
		em_count(&core->queues[em_handle_number(handle)].sent, -(uint64_t)(nb - good));
		em_count(&core->stats.nb_refused, (uint64_t)(nb - n));
	}
	return n;
}

uint16_t
weir_em_send(struct weir_em_core *core, weir_em_queue handle, struct rte_event *events, uint16_t nb)
{
	return em_send(core, handle, events, nb, WEIR_EM_NONE);
}

int
em_resend(struct weir_em_core *core, const struct em_deferred *deferred)
{
	struct em_queue *queue = em_queue_at(core->em, deferred->queue);
	struct rte_event event = deferred->event;
	uint64_t *sent = &core->queues[em_handle_number(deferred->queue)].sent;

	em_count(sent, 1);
	em_light_fence(core->em);
	if (!em_queue_is(queue, deferred->queue)) {
		em_count(sent, -(uint64_t)1);
		return -ESTALE;
	}
	if (core->producer && queue->type == WEIR_EM_QUEUE_LOCAL) {
		em_count(sent, -(uint64_t)1);
		return -EAGAIN;
	}
	if (em_is_buffer(&event))
		em_meta(core->em, event.mbuf)->group = deferred->group;
	if (give(core, queue, deferred->queue, &event, 1) == 0) {
		em_count(sent, -(uint64_t)1);
		return -ENOSPC;
	}
	em_count(&core->stats.nb_sent, 1);
	return 0;
}

/* Of any thread: counters that all write. */
int
em_send_reserved(struct weir_em *em, weir_em_queue handle, struct rte_event *event)
{
	struct em_queue *queue = em_queue_at(em, handle);
	int rc = em_handle_errno(handle, EM_KIND_QUEUE, em->nb_queues);

	if (queue == NULL || handle == WEIR_EM_NONE)
		return rc;
	em_add(&queue->foreign_sent, 1); /* a fence */
	if (em_queue_is(queue, handle))
		rc = is_scheduled(queue) ? 0 : -ENOTSUP;
	if (rc == 0) {
		event->event = (event->event & kept_bits()) | queue->lead;
		rc = weir_sched_enqueue_reserved(em->sched, event);
	}
	em_add(rc == 0 ? &em->foreign_sent : &queue->foreign_sent, rc == 0 ? 1 : -(uint64_t)1);
	return rc;
}

/* ---- forward ---- */

static __rte_noinline int
not_held(struct weir_em_core *core, weir_em_queue handle, struct rte_event *event)
{
	struct weir_em_error error = {.kind = WEIR_EM_ERROR_NOT_HELD,
		.code = -EINVAL,
		.queue = handle,
		.where = "weir_em_forward",
		.event = event};
	int rc = em_error(core->em, core, &error);

	rte_errno = rc < 0 ? -rc : EINVAL;
	return rc;
}

/* How many, from the first on, may be forwarded; they are not held from now on. */
static uint16_t
let_go(struct weir_em_core *core, const struct rte_event *events, uint16_t nb)
{
	uint16_t n = 0;

	while (n < nb && core->held[events[n].impl_opaque] == core->serial)
		core->held[events[n++].impl_opaque] = 0;
	return n;
}

static __rte_noinline void
hold_again(struct weir_em_core *core, const struct rte_event *events, uint16_t nb)
{
	for (uint16_t i = 0; i < nb && core->has_context; i++)
		core->held[events[i].impl_opaque] = core->serial;
}

/* Does it go on in the scheduler? */
static inline bool
goes_on(const struct weir_em_core *core, const struct em_queue *queue)
{
	if (!core->has_context || core->ended)
		return false;
	return is_scheduled(queue) ||
	       (queue->type == WEIR_EM_QUEUE_OUTPUT && core->queue->type == WEIR_EM_QUEUE_ORDERED);
}

/*
 * What holds their places is released by weir_em_atomic_end() or weir_em_order_end(), which an output function may call already, or by the
 * scheduler at the next round: most receive functions are over soon, and one release for all that a round brought costs less.
 */
static __rte_noinline uint16_t
forward_as_new(struct weir_em_core *core, struct em_queue *queue, weir_em_queue handle,
	struct rte_event *events, uint16_t nb)
{
	uint8_t slots[WEIR_EM_BURST_MAX];
	uint16_t n;

	for (uint16_t i = 0; i < nb; i++) {
		slots[i] = events[i].impl_opaque;
		if (core->has_context)
			core->held[slots[i]] = core->serial | EM_GONE;
	}
	n = give(core, queue, handle, events, nb);
	for (uint16_t i = 0; i < nb; i++) /* of those that did not go it matters */
		events[i].impl_opaque = slots[i];
	return n;
}

static inline uint16_t
forward_some(struct weir_em_core *core, struct em_queue *queue, weir_em_queue handle,
	struct rte_event *events, uint16_t nb)
{
	uint64_t lead = lead_forward(queue->lead);
	uint16_t n;

	if (likely(goes_on(core, queue))) {
		for (uint16_t i = 0; i < nb; i++)
			events[i].event = (events[i].event & kept_bits_forward()) | lead;
		n = weir_sched_enqueue(core->port, events, nb);
	} else {
		n = forward_as_new(core, queue, handle, events, nb);
	}
	if (unlikely(n < nb))
		hold_again(core, events + n, (uint16_t)(nb - n));
	return n;
}

uint16_t
em_forward(struct weir_em_core *core, weir_em_queue handle, struct rte_event *events, uint16_t nb,
	weir_em_event_group group)
{
	struct em_queue *queue;
	struct weir_em *em;
	uint16_t n, held, good;

	if (unlikely(nb == 0))
		return 0;
	if (unlikely(core == NULL || events == NULL || !core->attached))
		return refuse_caller(core, handle, "weir_em_forward");
	em = core->em;
	if (unlikely(core->nb_batch == 0 || nb > WEIR_EM_BURST_MAX)) {
		not_held(core, handle, events);
		return 0;
	}
	queue = enter(core, handle, nb, events, "weir_em_forward");
	if (unlikely(queue == NULL))
		return 0;
	if (unlikely(core->producer && queue->type == WEIR_EM_QUEUE_LOCAL))
		return refuse(core, handle, events, nb, -EINVAL, "weir_em_forward");
	held = core->has_context ? let_go(core, events, nb) : nb;
	if (unlikely(em_uses_groups(em) || group != WEIR_EM_NONE) &&
		!set_group(em, events, held, group)) {
		hold_again(core, events, held);
		return refuse(core, handle, events, nb, -EINVAL, "weir_em_forward");
	}
	good = em_check_send(core, handle, events, held, "weir_em_forward");
	if (unlikely(good < held))
		hold_again(core, events + good, (uint16_t)(held - good));
	n = forward_some(core, queue, handle, events, good);
	em_count(&core->stats.nb_forwarded, n);
	if (unlikely(n < nb)) {
		uncount(core, handle, events + n, (uint16_t)(good - n));
		em_count(&core->queues[em_handle_number(handle)].sent, -(uint64_t)(nb - good));
		if (good < held)
			rte_errno = EFAULT;
		else if (held < nb && n == held)
			not_held(core, handle, events + held);
		else
			em_count(&core->stats.nb_refused, (uint64_t)(nb - n));
	}
	return n;
}

uint16_t
weir_em_forward_burst(
	struct weir_em_core *core, weir_em_queue handle, struct rte_event *events, uint16_t nb)
{
	return em_forward(core, handle, events, nb, WEIR_EM_NONE);
}

int
weir_em_forward(struct weir_em_core *core, weir_em_queue handle, struct rte_event *event)
{
	return em_forward(core, handle, event, 1, WEIR_EM_NONE) == 1 ? 0 : -rte_errno;
}

/* ---- release ---- */

static void
end_early(struct weir_em_core *core, uint8_t type)
{
	struct rte_event events[WEIR_EM_BURST_MAX];
	uint16_t nb = 0;

	if (core->nb_batch == 0 || !core->has_context || core->ended || core->queue->type != type)
		return;
	for (uint16_t i = 0; i < core->nb_batch; i++) {
		if ((core->held[core->slots[i]] & ~EM_GONE) != core->serial)
			continue;
		events[nb] = (struct rte_event){.event = core->queue->lead};
		events[nb].op = RTE_EVENT_OP_RELEASE;
		events[nb++].impl_opaque = core->slots[i];
	}
	if (nb > 0)
		weir_sched_enqueue(core->port, events, nb);
	core->ended = true;
	em_count(&core->stats.nb_ended, nb);
}

void
weir_em_atomic_end(struct weir_em_core *core)
{
	if (likely(core != NULL))
		end_early(core, WEIR_EM_QUEUE_ATOMIC);
}

void
weir_em_order_end(struct weir_em_core *core)
{
	if (likely(core != NULL))
		end_early(core, WEIR_EM_QUEUE_ORDERED);
}
