/* SPDX-License-Identifier: BSD-3-Clause */

/* What a port's thread gets: dequeue, as most calls have it. All others take the long way: dequeue.c. */

#include "give_up.h"
#include "hand_out.h"
#include "look.h"

/* Who wants so many at most takes them the short way: of more, what the long way does besides is a small part. */
#define LITTLE 4

/*
 * Can be taken from the ring whose turn it is the short way? If it is an own one, or has what is wanted, if that is little. If it has nothing, the
 * turn goes to the next one of all rings: those between two own ones would have none otherwise.
 */
static inline bool
ring_of_turn_is_enough(struct shard *shard, uint16_t wanted)
{
	/* It may be that no ring was ever used: none has a turn. */
	if (shard->nb_in_rings == 0)
		return false;
	if (shard->turn_is_own && ring_count(shard->turn) == 0)
		shard_took(shard, 0);
	return shard->turn_is_own || (wanted <= LITTLE && ring_count(shard->turn) >= wanted);
}

/* The number of the event that it was handed last. */
static inline uint8_t
handed_last(const struct builtin_port *port)
{
	return port->handed_out[(uint8_t)(port->next_free - 1)];
}

/* It gives up all that it holds with this dequeue, which is one event, and of its own shard. */
static inline bool
gives_up_one(const struct builtin_port *port, const struct held *held)
{
	return port->nb_held == 1 && port->implicit && held->kind != HELD_NOT &&
	       held->shard == port->own_id;
}

/* Of the ring whose turn it is, what can be handed out at once. */
static inline uint16_t
take_first_of_ring(
	struct shard *shard, struct builtin_port *port, struct rte_event *events, uint32_t most)
{
	const uint64_t groups =
		__atomic_load_n(&shard->builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	uint16_t got = 0;

	while (got < most &&
		hand_out_if(shard, port, ring_peek(shard->turn, got), groups, &events[got]))
		got++;
	return got;
}

/*
 * What a worker does most: it holds nothing, or one event, which it gives up; nothing is in its lists, nothing else is to be looked at yet, and what is
 * next is in the ring whose turn it is. The long way does the same.
 *
 * @param locked  its shard, if it had to be locked to see that it takes the long way
 * @return 0: the long way
 */
static __rte_always_inline uint16_t
take_of_ring(
	struct builtin_port *port, struct shard **locked, struct rte_event *events, uint16_t nb)
{
	struct shard *shard = port->own;
	const uint8_t last = handed_last(port);
	uint16_t got = 0;
	bool was_own;

	if (port->nb_calls + 1 >= port->nb_calls_max || has_several_priorities(shard->builtin) ||
		shard->builtin->may_sleep)
		return 0;
	if (port->nb_held > 0 ? !gives_up_one(port, &port->held[last])
			      : ring_seems_empty(&shard->rings[port->base.id]) &&
					ring_seems_empty(shard->rings_out[shard->id]))
		return 0;
	if (!shard_trylock(shard))
		return 0;
	*locked = shard;
	if (port->nb_held > 0) {
		count(&port->counts.nb_released, 1);
		give_up(port, last, shard);
	}
	port->first_handed_out = port->next_free;
	shard_take_back(shard, true);
	shard_look_at_own(shard);
	if (shard->nb_ready == 0 && shard->next_of_owner == NONE &&
		shard->nb_since_look < EVENTS_PER_LOOK && ring_of_turn_is_enough(shard, nb))
		got = take_first_of_ring(shard, port, events, RTE_MIN(shard_turn(shard), nb));
	if (got == 0)
		return 0;
	was_own = shard->turn_is_own;
	shard_took(shard, got);
	if (!was_own)
		shard_drain_few(shard);
	shard->nb_since_look += got;
	port->nb_calls++;
	shard_polled(shard);
	shard_taken(shard, got);
	shard_unlock(shard);
	return got;
}

static uint16_t
builtin_dequeue(struct weir_sched_port *base, struct rte_event *events, uint16_t nb)
{
	struct builtin_port *port = (struct builtin_port *)base;
	struct shard *locked = NULL;
	uint16_t got = 0;

	if (port->own != NULL && likely(owner_stays(port)))
		got = take_of_ring(port, &locked, events, RTE_MIN(nb, port->nb_max));
	if (got == 0)
		return dequeue_anywhere(port, locked, events, nb);
	owner_count_turn(port, got);
	port->nb_idle = 0;
	count(&port->counts.nb_dequeued, got);
	return got;
}

const struct weir_sched_port_ops builtin_ops = {
	.enqueue = builtin_enqueue,
	.dequeue = builtin_dequeue,
	.tag_switch = builtin_switch,
};
