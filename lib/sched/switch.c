/* SPDX-License-Identifier: BSD-3-Clause */

/* A held event changes its flow or type, as by an SSO's tag switch. */

#include "held.h"
#include "owner.h"
#include "unmarked.h"

/* The lane of the new flow, if nobody has it and nothing waits for it. @return its shard, or NULL */
static struct shard *
take_lane(const struct builtin_port *port, uint64_t word, struct lane *lane, bool *is_foreign)
{
	struct shard *shard = shard_lock_drained(port->builtin, word);
	const bool idle = lane->state == LANE_IDLE;

	if (idle) {
		lane->state = lane_held_by(port->base.id);
		lane->nb_held = 1;
		shard->nb_marked++;
		*is_foreign = shard->sender != port->base.id;
	}
	shard_unlock(shard);
	return idle ? shard : NULL;
}

static void
leave_lane(struct builtin_port *port, const struct held *held)
{
	struct shard *shard = &port->builtin->shards[held->shard];

	if (held->kind != HELD_ATOMIC)
		return;
	shard_lock(shard);
	owner_release(port, shard, held);
	shard_unlock(shard);
}

/* Without leaving the port: @return false when others are before it. */
static bool
switch_in_place(
	struct builtin_port *port, struct held *held, const struct rte_event *changed, uint8_t type)
{
	struct builtin *builtin = port->builtin;
	struct held before = *held;

	if (before.kind == HELD_ORDERED)
		return false; /* its place in the order is kept by forwarding */
	if (type == RTE_SCHED_TYPE_PARALLEL) {
		held->kind = HELD_PARALLEL;
		held->word = changed->event;
		held->flags &= (uint8_t)~HELD_FOREIGN;
	} else if (type == RTE_SCHED_TYPE_ATOMIC) {
		struct lane *lane = event_lane(builtin, changed->event, type);
		struct shard *shard;
		bool is_foreign;

		if (before.kind == HELD_ATOMIC && before.lane == lane)
			return true;
		shard = take_lane(port, changed->event, lane, &is_foreign);
		if (shard == NULL)
			return false;
		held->kind = HELD_ATOMIC;
		held->shard = (uint8_t)shard->id;
		held->flags &= (uint8_t)~HELD_FOREIGN;
		held->flags |= is_foreign ? HELD_FOREIGN : 0;
		held->lane = lane;
	} else {
		return false;
	}
	leave_lane(port, &before);
	return true;
}

/* How it is held changes without the lock: others know by then which flows the port has. */
static void
have_lane(struct builtin_port *port, struct held *held)
{
	port_mark(port);
	if ((held->flags & HELD_BY_WORD) != 0)
		held_by_lane(port->builtin, held);
}

/* Which queue it came from, whatever its user wrote into it. */
static uint8_t
queue_of(const struct builtin *builtin, const struct held *held)
{
	const size_t lanes_per_queue = 2 * ((size_t)builtin->flow_mask + 1);

	if (held->kind == HELD_PARALLEL)
		return word_queue(held->word);
	return (uint8_t)((size_t)(held->lane - builtin->lanes) / lanes_per_queue);
}

int
builtin_switch(struct weir_sched_port *base, struct rte_event *event, uint32_t flow, uint8_t type)
{
	struct builtin_port *port = (struct builtin_port *)base;
	struct held *held = &port->held[event->impl_opaque];
	const bool is_held = port_holds(port, event->event);
	struct rte_event changed = *event;

	changed.flow_id = flow & 0xfffff;
	changed.sched_type = type;
	changed.op = RTE_EVENT_OP_FORWARD;
	port_unbias(port);
	if (is_held) {
		have_lane(port, held);
		changed.queue_id = queue_of(port->builtin, held);
	}
	if (!is_held || type > RTE_SCHED_TYPE_PARALLEL ||
		event_type(port->builtin, changed.event) != type) {
		count(&port->counts.nb_invalid, 1);
		return -EINVAL;
	}
	if (switch_in_place(port, held, &changed, type)) {
		changed.op = event->op;
		*event = changed;
		return 0;
	}
	return base->ops->enqueue(base, &changed, 1) == 1 ? -EINPROGRESS : -EINVAL;
}
