/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_AS_BEFORE_H
#define SCHED_AS_BEFORE_H

/*
 * Dequeue where one event follows another one of its kind, the shard is had by bias, and nobody asks for more: as in one_by_one.h, but what would change
 * for one event and back for the next one is left as it is, and all that may speak against it is asked first. So this needs hardly any room on the
 * stack, and a third fewer instructions.
 */

#include "one_by_one.h"
#include "own_lock.h"

/* Is what it was handed last all that it holds, as the next one will be, and may it be given up with this dequeue? */
static __rte_always_inline bool
holds_as_before(const struct builtin_port *port)
{
	return port->implicit && port->held[handed_last(port)].how == port->before.how &&
	       port->credits + 1 < port->most_credits;
}

/* Under the lock: may it have the next event at once? Of what was returned to the shard nothing is left to take back: it would be marked. */
static __rte_always_inline bool
comes_as_before(const struct builtin_port *port, const struct shard *shard, uint64_t word)
{
	return shard->at_once > 1 && shard->nb_marked == 0 && !word_is_reserved(word) &&
	       port->builtin->queues[word_queue(word)].type == port->before.type;
}

/* What it was handed last, but for its context, which the next one has. */
static __rte_always_inline void
give_up_as_before(struct builtin_port *port)
{
	held_end(&port->held[handed_last(port)]);
	port_set_credits(port, port->credits + 1);
	count(&port->counts.nb_released, 1);
}

static __rte_always_inline void
hand_out_as_before(struct builtin_port *port, uint64_t word, uint64_t value, struct rte_event *to)
{
	const uint8_t i = port->next_free, number = port->free[i];
	struct held *held = &port->held[number];

	held->word = word;
	held->how = port->before.how;
	event_write(to, (struct rte_event){.event = word_stamped(word, port->before.stamp, number),
				.u64 = value});
	port->handed_out[i] = number;
	port->first_handed_out = i;
	port->next_free = (uint8_t)(i + 1);
}

/* It holds nothing, or one event, which it gives up. */
static __rte_always_inline void
take_as_before(struct builtin_port *port, struct shard *shard, const struct rte_event *slot,
	struct rte_event *to, const bool gives_up)
{
	const uint64_t word = event_word(slot);

	count(&port->nb_dequeued[word_queue(word)], 1);
	if (gives_up)
		give_up_as_before(port);
	else
		port_set_held(port, 1);
	hand_out_as_before(port, word, event_value(slot), to);
	if (!gives_up && port->before.type != RTE_SCHED_TYPE_PARALLEL)
		unmarked_set(shard, 1);
	took_at_once(port, shard, 1);
}

#endif
