/* SPDX-License-Identifier: BSD-3-Clause */

/* Ports of an event device: credits, what is held, what is on its way to the device. */

#define ALLOW_EXPERIMENTAL_API /* rte_event_maintain() */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include "eventdev_private.h"
#include "weir_base_sanitizer.h"

#define DEQUEUES_PER_CARE 64 /* then a busy port looks after the reserved one */

/* Take up to @nb credits. */
static uint32_t
take_credits(struct eventdev_port *port, uint32_t nb)
{
	struct eventdev *ed = port->ed;
	uint32_t used, limit, wish;

	if (port->credits < nb) {
		used = __atomic_load_n(&ed->used, __ATOMIC_RELAXED);
		do {
			/* granted credits are in used, but no events: they are not NEW's to wait for */
			limit = ed->threshold + __atomic_load_n(&ed->granted, __ATOMIC_RELAXED);
			wish = nb - port->credits;
			if (used < limit / 2)
				wish += ed->cache_max / 2;
			wish = used >= limit ? 0 : RTE_MIN(wish, limit - used);
		} while (wish > 0 && !__atomic_compare_exchange_n(&ed->used, &used, used + wish,
					     true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
		port->credits += wish;
		nb = RTE_MIN(nb, port->credits);
	}
	port->credits -= nb;
	return nb;
}

static void
give_credits(struct eventdev_port *port, uint32_t nb)
{
	uint32_t back;

	port->credits += nb;
	if (port->credits > port->ed->cache_max) {
		back = port->credits - port->ed->cache_max / 2;
		port->credits -= back;
		__atomic_sub_fetch(&port->ed->used, back, __ATOMIC_RELAXED);
	}
}

void
eventdev_port_return_credits(struct eventdev_port *port)
{
	if (port->credits > 0)
		__atomic_sub_fetch(&port->ed->used, port->credits, __ATOMIC_RELAXED);
	port->credits = 0;
}

uint32_t
eventdev_nb_inside(const struct eventdev *ed)
{
	uint32_t nb = __atomic_load_n(&ed->used, __ATOMIC_RELAXED) -
		      __atomic_load_n(&ed->granted, __ATOMIC_RELAXED);

	for (unsigned int i = 0; i < WEIR_SCHED_PORTS_MAX && ed->ports[i] != NULL; i++)
		nb -= ed->ports[i]->credits;
	return nb;
}

/* Can it be NEW or FORWARD? Then the copy is as the device is to see it. */
static bool
prepare(const struct eventdev *ed, const struct weir_sched *sched, struct rte_event *event)
{
	const struct weir_sched_queue_config *queue;

	if (event->queue_id >= sched->config.nb_queues)
		return false;
	queue = &sched->queues[event->queue_id];
	if (queue->type != WEIR_SCHED_TYPE_BY_EVENT)
		event->sched_type = queue->type;
	else if (event->sched_type > RTE_SCHED_TYPE_PARALLEL)
		return false;
	/* within a queue that does not have priorities by event, the device must not sort by them */
	if (queue->priority != WEIR_SCHED_PRIORITY_BY_EVENT &&
		(ed->caps & RTE_EVENT_DEV_CAP_EVENT_QOS) != 0)
		event->priority = queue->priority * (256 / WEIR_SCHED_PRIORITIES);
	return true;
}

/* event_opdl has tables by lcore, and does not check. */
static bool
may_call(struct eventdev *ed)
{
	if (!ed->traits->pipeline || rte_lcore_id() != LCORE_ID_ANY)
		return true;
	if (!__atomic_exchange_n(&ed->warned, true, __ATOMIC_RELAXED))
		SCHED_LOG(WARNING,
			"device %u: event_opdl is for lcores of EAL's only; register the thread",
			ed->device);
	return false;
}

/* How many can go now, in one piece. */
static uint16_t
nb_ready(const struct eventdev_port *port)
{
	uint16_t max = RTE_MIN(port->nb_out, EVENTDEV_SLOTS - port->out_tail), nb = 0;

	max = RTE_MIN(max, EVENTDEV_BURST);
	while (nb < max && port->out_state[port->out_tail + nb] != OUT_WAITS)
		nb++;
	return nb;
}

/* The device has them: @nb from the tail on. */
static void
sent(struct eventdev_port *port, uint16_t nb)
{
	uint32_t nb_released = 0;

	for (uint16_t i = 0; i < nb; i++) {
		uint8_t place = port->out_tail++;

		nb_released += port->out_state[place] == OUT_READY &&
			       port->out[place].op == RTE_EVENT_OP_RELEASE;
		port->out_state[place] = OUT_WAITS;
	}
	port->nb_out -= nb;
	if (nb_released > 0) {
		count(&port->stats.nb_released, nb_released);
		give_credits(port, nb_released);
	}
}

/* Send what can be sent. False: the device refused. */
static bool
push(struct eventdev_port *port)
{
	uint16_t nb, taken;

	if (port->nb_out > 0 && !may_call(port->ed))
		return false;
	while (port->nb_out > 0) {
		nb = nb_ready(port);
		if (nb == 0 || (port->pipeline && !port->last && nb < port->nb_out))
			return true;
		weir_base_happens_before(port->ed);
		taken = port->last ? nb
				   : rte_event_enqueue_burst(port->device, port->id,
					     &port->out[port->out_tail], nb);
		if (taken == 0)
			return false;
		sent(port, taken);
	}
	return true;
}

/* An event is given up: it has its place among those that go to the device. */
static void
give_up(struct eventdev_port *port, uint8_t slot, const struct rte_event *event)
{
	uint8_t place = slot;

	if (!port->in_order)
		place = port->out_tail + port->nb_out++;
	port->out[place] = *event;
	port->out[place].impl_opaque = port->slots[slot].opaque;
	port->out[place].rsvd = port->slots[slot].rsvd & 15;
	port->out_state[place] = OUT_READY;
	port->slots[slot].held = false;
	port->nb_held--;
}

/* Release what is in a slot. */
static void
release_slot(struct eventdev_port *port, uint8_t slot)
{
	struct rte_event event = {
		.op = RTE_EVENT_OP_RELEASE,
		.queue_id = port->slots[slot].queue,
		.flow_id = port->slots[slot].flow,
	};

	/* event_opdl has no release: the event runs through as a dead one, by the next queue. It writes an event's first word only if the flow
	 * is another. */
	if (port->pipeline) {
		event.flow_id ^= 1;
		event.queue_id++;
	}
	give_up(port, slot, &event);
}

static int
forward(struct eventdev_port *port, uint8_t slot, const struct rte_event *event)
{
	struct rte_event copy = *event;

	if (!prepare(port->ed, port->port.sched, &copy) ||
		(port->pipeline && copy.queue_id != port->slots[slot].queue + 1))
		return EINVAL;
	give_up(port, slot, &copy);
	count(&port->stats.nb_forwarded, 1);
	count(&port->queues[copy.queue_id].nb_enqueued, 1);
	return 0;
}

static int
forward_or_release(struct eventdev_port *port, const struct rte_event *event)
{
	uint8_t slot = event->impl_opaque;
	int error = 0;

	if (!port->slots[slot].held || !word_is_of(event->event, event_holder(port->port.id)))
		error = EINVAL;
	else if (event->op == RTE_EVENT_OP_FORWARD)
		error = forward(port, slot, event);
	else if (event->op == RTE_EVENT_OP_RELEASE)
		release_slot(port, slot);
	else
		error = EINVAL;
	if (error != 0)
		count(&port->stats.nb_invalid, 1);
	return error;
}

/* Enqueue NEW events, up to the first that is none. @error: why it ended before */
static uint16_t
enqueue_new(struct eventdev_port *port, const struct rte_event *events, uint16_t nb, int *error)
{
	struct rte_event copies[EVENTDEV_BURST];
	uint16_t run = 0, admitted, taken = 0, n;

	nb = RTE_MIN(nb, EVENTDEV_BURST);
	for (; run < nb && events[run].op == RTE_EVENT_OP_NEW; run++) {
		copies[run] = events[run];
		copies[run].impl_opaque = 0;
		copies[run].rsvd = 0;
		if (!prepare(port->ed, port->port.sched, &copies[run]) ||
			(port->pipeline && copies[run].queue_id != 0))
			break;
	}
	if (run == 0 ||
		(port->pipeline && !port->port.sched->ports_config[port->port.id].producer)) {
		count(&port->stats.nb_invalid, 1);
		*error = EINVAL;
		return 0;
	}
	/* what was forwarded before is before these */
	admitted = push(port) && may_call(port->ed) ? take_credits(port, run) : 0;
	while (taken < admitted) {
		weir_base_happens_before(port->ed);
		n = rte_event_enqueue_new_burst(
			port->device, port->id, copies + taken, admitted - taken);
		if (n == 0)
			break;
		taken += n;
	}
	if (taken < admitted)
		give_credits(port, admitted - taken);
	if (taken < run)
		*error = ENOSPC;
	count(&port->stats.nb_new, taken);
	for (uint16_t i = 0; i < taken; i++)
		count(&port->queues[copies[i].queue_id].nb_enqueued, 1);
	return taken;
}

static void
flush(struct eventdev_port *port)
{
	push(port);
	if (port->maintain)
		rte_event_maintain(port->device, port->id, RTE_EVENT_DEV_MAINT_OP_FLUSH);
}

static uint16_t
enqueue(struct weir_sched_port *base, const struct rte_event *events, uint16_t nb)
{
	struct eventdev_port *port = (struct eventdev_port *)base;
	uint16_t i = 0;
	int error = 0;

	while (i < nb && error == 0) {
		if (events[i].op == RTE_EVENT_OP_NEW) {
			i += enqueue_new(port, events + i, nb - i, &error);
		} else {
			error = forward_or_release(port, events + i);
			i += error == 0;
		}
	}
	flush(port);
	if (error == ENOSPC)
		count(&port->stats.nb_refused, nb - i);
	if (error != 0)
		rte_errno = error;
	return i;
}

/* The device releases at dequeue what has not got there yet: what is forwarded goes on as a new one, with the same credit. */
static void
outlive_release(struct eventdev_port *port)
{
	uint16_t nb = port->nb_out, kept = 0, nb_released = 0;

	for (uint16_t i = 0; i < nb; i++) {
		uint8_t from = port->out_tail + i, to = port->out_tail + kept;

		if (port->out[from].op == RTE_EVENT_OP_RELEASE) {
			nb_released++;
			continue;
		}
		port->out[to] = port->out[from];
		port->out[to].op = RTE_EVENT_OP_NEW;
		port->out[to].impl_opaque = 0;
		kept++;
	}
	for (uint16_t i = kept; i < nb; i++)
		port->out_state[(uint8_t)(port->out_tail + i)] = OUT_WAITS;
	port->nb_out = kept;
	if (port->in_order)
		port->next_slot = port->out_tail + kept;
	count(&port->stats.nb_released, nb_released);
	give_credits(port, nb_released);
}

/* Release what is held in slots from @first on. */
static bool
release_slots(struct eventdev_port *port, uint8_t first, uint16_t nb)
{
	uint16_t nb_freed = 0;
	bool all;

	for (uint16_t i = 0; i < nb && port->nb_held > 0; i++) {
		uint8_t slot = first + i;

		if (!port->slots[slot].held)
			continue;
		if (port->releases && !port->in_order) {
			port->slots[slot].held = false;
			port->nb_held--;
			nb_freed++;
		} else {
			release_slot(port, slot);
		}
	}
	all = push(port);
	if (nb_freed > 0) {
		count(&port->stats.nb_released, nb_freed);
		give_credits(port, nb_freed);
	}
	if (port->releases && port->nb_out > 0)
		outlive_release(port);
	return all && port->nb_out == 0;
}

bool
eventdev_port_release(struct eventdev_port *port)
{
	bool all = release_slots(port, port->out_tail, EVENTDEV_SLOTS);

	if (port->maintain)
		rte_event_maintain(port->device, port->id, RTE_EVENT_DEV_MAINT_OP_FLUSH);
	return all;
}

/* What was dequeued gets slots. @return how many are the caller's */
static uint16_t
hold(struct eventdev_port *port, struct rte_event *events, uint16_t nb)
{
	uint16_t kept = 0;
	uint8_t queue = 0;

	if (port->pipeline) /* event_opdl tells the queue of the first only */
		queue = events[0].queue_id;
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_event *event = &events[i];
		uint8_t slot = port->next_slot;

		while (port->slots[slot].held)
			slot++;
		port->next_slot = slot + 1;
		if (i == 0)
			port->first = slot;
		if (port->in_order)
			port->nb_out++;
		if (port->pipeline) {
			if (event->op == RTE_EVENT_OP_RELEASE) {
				port->out[slot] = *event;
				port->out[slot].impl_opaque = 0;
				port->out[slot].queue_id = queue + 1;
				port->out_state[slot] = OUT_DEAD;
				continue;
			}
			event->queue_id = queue;
			event->sched_type = port->port.sched->queues[queue].type;
			event->impl_opaque = 0;
		}
		port->slots[slot] = (struct eventdev_slot){.held = true,
			.opaque = event->impl_opaque,
			.rsvd = event->rsvd,
			.queue = event->queue_id,
			.flow = event->flow_id};
		event->impl_opaque = slot;
		event->rsvd = event_holder(port->port.id) & 15;
		event->op = RTE_EVENT_OP_FORWARD;
		count(&port->queues[event->queue_id].nb_dequeued, 1);
		events[kept++] = *event;
	}
	port->nb_last = nb;
	port->nb_held += kept;
	count(&port->stats.nb_dequeued, kept);
	return kept;
}

/* How many more the port can take. */
static uint16_t
room(struct eventdev_port *port, uint16_t nb)
{
	uint16_t used = port->nb_out + (port->in_order ? 0 : port->nb_held);

	nb = RTE_MIN(nb, EVENTDEV_BURST);
	nb = RTE_MIN(nb, port->max_held - port->nb_held);
	nb = RTE_MIN(nb, EVENTDEV_SLOTS - 1 - used);
	if (port->pipeline && port->nb_out == 0)
		port->out_tail = port->next_slot = 0; /* all of a dequeue goes on in one piece */
	if (port->pipeline && (port->nb_out > 0 || !may_call(port->ed)))
		nb = 0;
	return nb;
}

static void
look_after(struct eventdev_port *port, bool idle)
{
	struct eventdev *ed = port->ed;

	if (idle)
		eventdev_port_return_credits(port);
	if (ed->nb_reserved > 0 && (idle || ++port->nb_dequeues >= DEQUEUES_PER_CARE) &&
		(port->maintain || __atomic_load_n(&ed->reserved.head, __ATOMIC_RELAXED) !=
					   __atomic_load_n(&ed->reserved.tail, __ATOMIC_RELAXED)) &&
		rte_spinlock_trylock(&ed->reserved.lock)) {
		port->nb_dequeues = 0;
		eventdev_reserved_push(ed);
		rte_spinlock_unlock(&ed->reserved.lock);
	}
}

static uint16_t
dequeue(struct weir_sched_port *base, struct rte_event *events, uint16_t nb)
{
	struct eventdev_port *port = (struct eventdev_port *)base;
	uint16_t got = 0;

	if (port->keep)
		push(port);
	else if (port->nb_held > 0 || port->nb_out > 0)
		release_slots(port, port->first, port->nb_last);
	nb = room(port, nb);
	/* The device may release what this port held: who gets it next sees what was done with it. */
	weir_base_happens_before(port->ed);
	if (nb > 0)
		got = rte_event_dequeue_burst(port->device, port->id, events, nb, 0);
	if (got == 0 && port->ed->runs_service) {
		eventdev_run_service(port->ed);
		if (nb > 0)
			got = rte_event_dequeue_burst(port->device, port->id, events, nb, 0);
	}
	look_after(port, got == 0);
	weir_base_happens_after(port->ed);
	if (got > 0)
		got = hold(port, events, got);
	if (port->maintain)
		rte_event_maintain(port->device, port->id, RTE_EVENT_DEV_MAINT_OP_FLUSH);
	return got;
}

static int
tag_switch(struct weir_sched_port *base, struct rte_event *event, uint32_t flow, uint8_t type)
{
	struct eventdev_port *port = (struct eventdev_port *)base;
	const struct eventdev_slot *slot = &port->slots[event->impl_opaque];
	struct rte_event copy = *event;
	uint8_t queue_type;

	copy.queue_id = slot->queue;
	copy.op = RTE_EVENT_OP_FORWARD;
	copy.flow_id = flow;
	copy.sched_type = type;
	queue_type = port->port.sched->queues[slot->queue].type;
	if (type > RTE_SCHED_TYPE_PARALLEL ||
		(queue_type != WEIR_SCHED_TYPE_BY_EVENT && queue_type != type)) {
		count(&port->stats.nb_invalid, 1);
		return -EINVAL;
	}
	if (forward_or_release(port, &copy) != 0)
		return -EINVAL;
	flush(port);
	return -EINPROGRESS;
}

const struct weir_sched_port_ops eventdev_port_ops = {
	.enqueue = enqueue,
	.dequeue = dequeue,
	.tag_switch = tag_switch,
};

uint32_t
eventdev_reserve(struct weir_sched *sched, uint32_t nb)
{
	struct eventdev *ed = sched->own;
	uint32_t used = __atomic_load_n(&ed->used, __ATOMIC_RELAXED), granted, more;

	/* Not more than what events that came in this way before have left. */
	do {
		nb = RTE_MIN(RTE_MIN(nb, ed->nb_reserved), ed->nb_events - used);
	} while (nb > 0 && !__atomic_compare_exchange_n(&ed->used, &used, used + nb, true,
				   __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (nb == 0)
		return 0;
	granted = __atomic_load_n(&ed->granted, __ATOMIC_RELAXED);
	do {
		more = RTE_MIN(nb, ed->nb_reserved - granted);
	} while (more > 0 && !__atomic_compare_exchange_n(&ed->granted, &granted, granted + more,
				     true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (more < nb)
		__atomic_sub_fetch(&ed->used, nb - more, __ATOMIC_RELAXED);
	return more;
}

/* Take up to @nb from what was granted. */
static uint32_t
take_granted(struct eventdev *ed, uint32_t nb)
{
	uint32_t granted = __atomic_load_n(&ed->granted, __ATOMIC_RELAXED);

	do {
		nb = RTE_MIN(nb, granted);
	} while (nb > 0 && !__atomic_compare_exchange_n(&ed->granted, &granted, granted - nb, true,
				   __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return nb;
}

void
eventdev_unreserve(struct weir_sched *sched, uint32_t nb)
{
	struct eventdev *ed = sched->own;

	nb = take_granted(ed, nb);
	if (nb > 0)
		__atomic_sub_fetch(&ed->used, nb, __ATOMIC_RELAXED);
}

void
eventdev_reserved_push(struct eventdev *ed)
{
	struct eventdev_reserved *reserved = &ed->reserved;
	uint32_t tail = reserved->tail;

	if (!may_call(ed)) /* a port that is called will */
		return;
	weir_base_happens_before(ed);
	while (tail != reserved->head && rte_event_enqueue_burst(ed->device, reserved->port,
						 &reserved->ring[tail & reserved->mask], 1) == 1)
		tail++;
	__atomic_store_n(&reserved->tail, tail, __ATOMIC_RELAXED);
	if ((ed->caps & RTE_EVENT_DEV_CAP_MAINTENANCE_FREE) == 0)
		rte_event_maintain(ed->device, reserved->port, RTE_EVENT_DEV_MAINT_OP_FLUSH);
}

int
eventdev_enqueue_reserved(struct weir_sched *sched, const struct rte_event *event)
{
	struct eventdev *ed = sched->own;
	struct eventdev_reserved *reserved = &ed->reserved;
	struct rte_event copy = *event;

	copy.op = RTE_EVENT_OP_NEW;
	copy.impl_opaque = 0;
	copy.rsvd = 0;
	if (event->op != RTE_EVENT_OP_NEW || !prepare(ed, sched, &copy) ||
		(ed->traits->pipeline && copy.queue_id != 0) || take_granted(ed, 1) == 0) {
		__atomic_add_fetch(&reserved->nb_invalid, 1, __ATOMIC_RELAXED);
		return -EINVAL;
	}
	rte_spinlock_lock(&reserved->lock);
	/* there is room: whatever waits here has a credit */
	reserved->ring[reserved->head & reserved->mask] = copy;
	__atomic_store_n(&reserved->head, reserved->head + 1, __ATOMIC_RELAXED);
	count(&reserved->nb_new[copy.queue_id], 1);
	eventdev_reserved_push(ed);
	rte_spinlock_unlock(&reserved->lock);
	return 0;
}
