/* SPDX-License-Identifier: BSD-3-Clause */

/* The model: enqueue, dequeue, switch. See model.h. */

#include <stdlib.h>

#include <rte_errno.h>

#include "model.h"

static struct lane *
lane_of(struct weir_sched *sched, const struct rte_event *event, uint8_t type)
{
	struct model *model = sched->own;
	size_t flow = event->flow_id & (sched->config.nb_flows - 1);
	struct lane *lane;

	if (model->bug == BUG_FLOW_MASK)
		flow = event->flow_id % RTE_MAX(1u, sched->config.nb_flows - 1);
	if (type == RTE_SCHED_TYPE_PARALLEL)
		return NULL;
	lane = &model->lanes[((size_t)event->queue_id * 2 + (type == RTE_SCHED_TYPE_ORDERED)) *
				     sched->config.nb_flows +
			     flow];
	if (!lane->used) {
		lane->used = true;
		TAILQ_INIT(&lane->places);
	}
	return lane;
}

bool
model_is_valid(struct weir_sched *sched, const struct rte_event *event)
{
	return event->queue_id < sched->config.nb_queues &&
	       (sched->queues[event->queue_id].type != WEIR_SCHED_TYPE_BY_EVENT ||
		       event->sched_type <= RTE_SCHED_TYPE_PARALLEL);
}

static uint8_t
type_of(struct weir_sched *sched, const struct rte_event *event)
{
	uint8_t type = sched->queues[event->queue_id].type;

	return type == WEIR_SCHED_TYPE_BY_EVENT ? event->sched_type : type;
}

static void
wait_for_port(struct weir_sched *sched, struct item *item)
{
	struct model *model = sched->own;
	uint8_t priority = sched->queues[item->event.queue_id].priority;

	item->type = type_of(sched, &item->event);
	item->priority =
		priority == WEIR_SCHED_PRIORITY_BY_EVENT ? item->event.priority / 32 : priority;
	if (model->bug == BUG_FIFO_PRIORITY)
		item->priority = 0;
	item->lane = lane_of(sched, &item->event, item->type);
	if (item->lane != NULL)
		item->lane->nb_waiting++;
	if (model->bug == BUG_LIFO && random() % 8 == 0)
		TAILQ_INSERT_HEAD(&model->waiting[item->priority], item, next);
	else
		TAILQ_INSERT_TAIL(&model->waiting[item->priority], item, next);
}

void
model_enter(struct weir_sched *sched, const struct rte_event *event, bool reserved)
{
	struct model *model = sched->own;
	struct item *item = calloc(1, sizeof(*item));

	item->event = *event;
	item->reserved = reserved;
	model->stats.nb_new++;
	model->queues[event->queue_id].nb_enqueued++;
	if (reserved)
		model->nb_reserved_inside++;
	else
		model->inside++;
	wait_for_port(sched, item);
}

static void
leave(struct model *model, struct item *item)
{
	if (item->reserved)
		model->nb_reserved_inside--;
	else if (model->bug != BUG_CREDIT_LEAK || random() % 16 != 0)
		model->inside--;
	free(item);
}

/* Those at the front that are complete go on. */
static void
advance(struct weir_sched *sched, struct lane *lane)
{
	struct place *place;

	while ((place = TAILQ_FIRST(&lane->places)) != NULL && !place->out) {
		TAILQ_REMOVE(&lane->places, place, next);
		if (place->item != NULL)
			wait_for_port(sched, place->item);
		free(place);
	}
}

/* A held event's context ends; it goes on as @item, or not. */
static void
give_up(struct weir_sched *sched, struct model_port *port, uint8_t number, struct item *item)
{
	struct model *model = sched->own;
	struct held *held = &port->held[number];
	struct lane *lane = held->item->lane;
	struct place *place = held->place;

	held->item = NULL;
	port->nb_held--;
	if (place != NULL) {
		place->item = item;
		place->out = false;
		if (model->bug == BUG_RELEASE_NO_FILL && item == NULL)
			place->out = true;
		if (model->bug == BUG_NO_RESTORE && item != NULL) {
			place->item = NULL;
			wait_for_port(sched, item);
		}
		advance(sched, lane);
		return;
	}
	if (lane != NULL)
		lane->nb_held--;
	if (item != NULL)
		wait_for_port(sched, item);
}

static void
release(struct weir_sched *sched, struct model_port *port, uint8_t number)
{
	struct model *model = sched->own;
	struct item *item = port->held[number].item;

	give_up(sched, port, number, NULL);
	if (model->bug != BUG_STATS || model->stats.nb_released % 64 != 63)
		model->stats.nb_released++;
	else
		model->stats.nb_released += 2;
	leave(model, item);
}

/* NULL: the port does not hold it. */
static struct item *
item_of(const struct model_port *port, const struct rte_event *event)
{
	const struct model *model = port->base.sched->own;

	if (!word_is_of(event->event, event_holder(port->base.id)) && model->bug != BUG_ANY_PORT)
		return NULL;
	return port->held[event->impl_opaque].item;
}

static uint16_t
model_enqueue(struct weir_sched_port *base, const struct rte_event *events, uint16_t nb)
{
	struct model_port *port = (struct model_port *)base;
	struct weir_sched *sched = base->sched;
	struct model *model = sched->own;
	uint32_t threshold = sched->config.new_threshold + (model->bug == BUG_THRESHOLD);
	uint16_t i;

	pthread_mutex_lock(&model->lock);
	for (i = 0; i < nb; i++) {
		const struct rte_event *event = &events[i];
		struct item *item = item_of(port, event);

		if (event->op == RTE_EVENT_OP_NEW && model_is_valid(sched, event)) {
			if (model->inside >= threshold) {
				model->stats.nb_refused += nb - i;
				rte_errno = ENOSPC;
				break;
			}
			model_enter(sched, event, false);
		} else if (event->op == RTE_EVENT_OP_FORWARD && item != NULL &&
			   model_is_valid(sched, event)) {
			if (model->bug == BUG_FORWARD_REFUSED && model->inside >= threshold) {
				rte_errno = ENOSPC;
				break;
			}
			model->stats.nb_forwarded++;
			model->queues[event->queue_id].nb_enqueued++;
			item->event = *event;
			give_up(sched, port, event->impl_opaque, item);
		} else if (event->op == RTE_EVENT_OP_RELEASE && item != NULL) {
			release(sched, port, event->impl_opaque);
		} else if (model->bug == BUG_NOT_HELD && event->op == RTE_EVENT_OP_RELEASE) {
			continue;
		} else {
			model->stats.nb_invalid++;
			rte_errno = EINVAL;
			break;
		}
	}
	pthread_mutex_unlock(&model->lock);
	return i;
}

static bool
may_have(struct weir_sched *sched, const struct model_port *port, const struct item *item)
{
	struct model *model = sched->own;

	if (model->bug != BUG_NO_GROUP &&
		(model->groups[sched->queues[item->event.queue_id].group] >> port->base.id & 1) ==
			0)
		return false;
	return item->type != RTE_SCHED_TYPE_ATOMIC || item->lane->nb_held == 0 ||
	       item->lane->owner == port->base.id ||
	       (model->bug == BUG_NO_EXCLUSION && random() % 16 == 0);
}

static struct item *
first_of(struct weir_sched *sched, const struct model_port *port, unsigned int priority)
{
	struct model *model = sched->own;
	struct item *item;

	TAILQ_FOREACH (item, &model->waiting[priority], next)
		if (may_have(sched, port, item))
			return item;
	return NULL;
}

static struct item *
choose(struct weir_sched *sched, const struct model_port *port)
{
	unsigned int bound = sched->config.starvation_bound;
	struct model *model = sched->own;
	struct item *items[WEIR_SCHED_PRIORITIES], *best = NULL;

	if (bound == 0) { /* no need to look further */
		for (unsigned int p = 0; p < WEIR_SCHED_PRIORITIES && best == NULL; p++)
			best = first_of(sched, port, p);
		return best;
	}
	for (unsigned int p = 0; p < WEIR_SCHED_PRIORITIES; p++) {
		items[p] = first_of(sched, port, p);
		if (items[p] == NULL)
			continue;
		if (best == NULL || (model->passed[p] >= bound && model->bug != BUG_NO_BOUND))
			best = items[p];
	}
	if (best == NULL)
		return NULL;
	for (unsigned int p = best->priority + 1; p < WEIR_SCHED_PRIORITIES; p++)
		model->passed[p] += items[p] != NULL;
	model->passed[best->priority] = 0;
	return best;
}

static void
hold(struct model_port *port, struct item *item, struct rte_event *event)
{
	struct held *held;

	while (port->held[port->next].item != NULL)
		port->next++;
	held = &port->held[port->next];
	held->item = item;
	held->place = NULL;
	if (item->type == RTE_SCHED_TYPE_ATOMIC) {
		item->lane->owner = port->base.id;
		item->lane->nb_held++;
	} else if (item->type == RTE_SCHED_TYPE_ORDERED) {
		held->place = calloc(1, sizeof(*held->place));
		held->place->out = true;
		TAILQ_INSERT_TAIL(&item->lane->places, held->place, next);
	}
	port->nb_held++;
	*event = item->event;
	event->sched_type = item->type;
	event->impl_opaque = port->next++;
	event->rsvd = event_holder(port->base.id) & 15;
}

static uint16_t
model_dequeue(struct weir_sched_port *base, struct rte_event *events, uint16_t nb)
{
	struct model_port *port = (struct model_port *)base;
	struct weir_sched *sched = base->sched;
	const struct weir_sched_port_config *config = &sched->ports_config[base->id];
	struct model *model = sched->own;
	uint16_t got = 0;
	struct item *item;

	pthread_mutex_lock(&model->lock);
	if (!config->no_implicit_release && model->bug != BUG_NO_IMPLICIT)
		for (unsigned int n = 0; n < 256 && port->nb_held > 0; n++)
			if (port->held[n].item != NULL)
				release(sched, port, (uint8_t)n);
	if (config->producer || (model->bug == BUG_DEADLOCK && model->nb_taken > 5000))
		nb = 0;
	while (got < nb &&
		port->nb_held < config->nb_held + (model->bug == BUG_MAX_HELD ? 1u : 0) &&
		port->nb_held < 256 && (item = choose(sched, port)) != NULL) {
		TAILQ_REMOVE(&model->waiting[item->priority], item, next);
		if (item->lane != NULL)
			item->lane->nb_waiting--;
		model->nb_taken++;
		if (model->bug == BUG_LOSE && model->nb_taken % 1000 == 999) {
			leave(model, item);
			continue;
		}
		if (model->bug == BUG_TWICE && model->nb_taken % 1000 == 999)
			model_enter(sched, &item->event, true);
		model->queues[item->event.queue_id].nb_dequeued++;
		hold(port, item, &events[got++]);
	}
	model->stats.nb_dequeued += got;
	pthread_mutex_unlock(&model->lock);
	return got;
}

/* Can it be held in the other flow now? */
static bool
moves(struct model_port *port, struct held *held, struct lane *to, uint8_t type)
{
	struct lane *from = held->item->lane;

	if (held->place != NULL && TAILQ_FIRST(&from->places) != held->place)
		return false;
	if (type == RTE_SCHED_TYPE_PARALLEL)
		return true;
	if (to->nb_waiting > 0 && model_of(port->base.sched)->bug != BUG_SWITCH_JUMPS)
		return false;
	return type == RTE_SCHED_TYPE_ORDERED || to->nb_held == 0 || to->owner == port->base.id;
}

static int
model_switch(struct weir_sched_port *base, struct rte_event *event, uint32_t flow, uint8_t type)
{
	struct model_port *port = (struct model_port *)base;
	struct weir_sched *sched = base->sched;
	struct model *model = sched->own;
	struct held *held = &port->held[event->impl_opaque];
	struct rte_event changed = *event;
	struct lane *to;
	int rc = 0;

	changed.flow_id = flow & 0xfffff;
	changed.sched_type = type;
	changed.op = RTE_EVENT_OP_FORWARD;
	pthread_mutex_lock(&model->lock);
	if (item_of(port, event) != NULL)
		changed.queue_id = held->item->event.queue_id;
	if (item_of(port, event) == NULL || type > RTE_SCHED_TYPE_PARALLEL ||
		!model_is_valid(sched, &changed) || type_of(sched, &changed) != type) {
		model->stats.nb_invalid++;
		rc = -EINVAL;
	} else if (to = lane_of(sched, &changed, type), moves(port, held, to, type)) {
		struct item *item = held->item;

		if (model->bug == BUG_SWITCH_KEEPS && item->lane != NULL)
			item->lane->nb_held++;
		give_up(sched, port, event->impl_opaque, NULL);
		item->event = changed;
		item->type = type;
		item->lane = to;
		port->next = event->impl_opaque;
		hold(port, item, event);
	} else {
		model->stats.nb_forwarded++;
		model->queues[changed.queue_id].nb_enqueued++;
		held->item->event = changed;
		give_up(sched, port, event->impl_opaque, held->item);
		rc = -EINPROGRESS;
	}
	pthread_mutex_unlock(&model->lock);
	return rc;
}

const struct weir_sched_port_ops model_ops = {model_enqueue, model_dequeue, model_switch};
