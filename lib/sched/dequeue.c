/* SPDX-License-Identifier: BSD-3-Clause */

/* What a port's thread gets the long way: dequeue, where the short one does not do (short_way.c). */

#include "balance.h"
#include "ending.h"
#include "gather.h"
#include "look.h"
#include "move.h"
#include "one_by_one.h"

/* What is held alike ends, from there on. @return where it is otherwise */
static inline uint8_t
end_alike(struct builtin_port *port, uint8_t at)
{
	const uint32_t how = port->held[port->handed_out[at]].how;
	const uint16_t left = port->nb_held - port->ending.nb;
	const uint8_t free_at = ending_at(port, port->ending.nb);
	uint16_t nb;

	for (nb = 0; nb < left; nb++) {
		const uint8_t number = port->handed_out[(uint8_t)(at + nb)];

		if (port->held[number].how != how)
			break;
		held_end(&port->held[number]);
		port->free[(uint8_t)(free_at + nb)] = number;
	}
	ending_note(&port->ending, how, nb);
	return (uint8_t)(at + nb);
}

/* All that is held is given up. @locked: a shard that is, or NULL. @return which one is then */
static struct shard *
release_all(struct builtin_port *port, struct shard *locked)
{
	uint8_t at = port->first_handed_out;

	count(&port->counts.nb_released, port->nb_held);
	while (port->ending.nb < port->nb_held)
		if (port->held[port->handed_out[at]].kind != HELD_NOT)
			at = end_alike(port, at);
		else
			at++;
	return ending_give_up(port, locked);
}

/*
 * Under the lock of its own shard, which was looked at: a burst has nothing of lower priority than what others have, or what has been announced since;
 * unless that could not be had.
 */
static inline uint32_t
not_below_others(const struct builtin_port *port)
{
	uint32_t arrived = __atomic_load_n(&port->own->arrived, __ATOMIC_RELAXED);
	uint32_t highest = port->elsewhere_highest;

	if (highest < port->own_highest || port->builtin->sched->config.starvation_bound != 0)
		return UINT32_MAX;
	if (arrived != 0)
		highest = RTE_MIN(highest, arrived & -arrived);
	return 2 * highest - 1;
}

/* What came first first. */
static __rte_always_inline uint16_t
take_ready(struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	const uint32_t priorities = not_below_others(port);
	uint16_t got = 0;

	if (shard->next_of_owner != NONE)
		got = take_next_of_owner(shard, port, events, nb);
	if (has_several_priorities(port->builtin)) {
		got += take_by_priority(
			shard, port, &events[got], (uint16_t)(nb - got), priorities);
	} else {
		if (got < nb && shard->nb_ready > 0)
			got += shard_take(
				shard, port, &events[got], (uint16_t)(nb - got), UINT32_MAX);
		if (got < nb && shard->in_rings[0] > 0)
			got += take_from_rings(shard, port, &events[got], (uint16_t)(nb - got));
	}
	shard->nb_since_look += got;
	return got;
}

/* All that is ready is for others, or not urgent enough. */
static __rte_noinline uint16_t
take_after_look(
	struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	look_at_rings(shard, UINT16_MAX);
	return take_ready(shard, port, events, nb);
}

/* Of its own shard, which may be locked. */
static uint16_t
take_own(struct builtin_port *port, struct shard *locked, struct rte_event *events, uint16_t nb)
{
	struct shard *shard = shard_lock_instead(locked, port->own);
	uint16_t got;

	shard_take_back(shard, true);
	if (unlikely(may_have_missed(port))) {
		shard_unlock(shard);
		return 0;
	}
	if (look_at_rings(shard, nb))
		note_quick_calls(port);
	if (port->nb_elsewhere > 0)
		shard_passed(shard, port->nb_elsewhere);
	port->nb_elsewhere = 0;
	got = take_ready(shard, port, events, nb);
	if (unlikely(got == 0 && shard_waiting(shard) > 0))
		got = take_after_look(shard, port, events, nb);
	if (has_several_priorities(port->builtin))
		port->own_passed = shard_most_passed(shard, port->groups);
	shard_polled(shard);
	shard_taken(shard, got);
	if (got > 0)
		note_lately(shard, events, 1);
	if (got > 0 && has_short_ways(port->builtin)) {
		shard_note_next(port, shard, got);
		/* Of bursts it begins with the next one, if that holds nothing before. */
		if (port->knows_next == KNOWS_SINGLE)
			port_note_bias(port, shard);
	}
	shard_unlock(shard);
	return got;
}

/* @return it slept, and something has come */
static bool
idle(struct builtin_port *port)
{
	if (shard_is_busy(port->own) || ++port->nb_idle % WEIR_BASE_SCHED_IDLE_CALLS != 0)
		return false;
	credit_flush(port);
	if (!may_sleep(port->builtin) || !port_may_sleep(port))
		return false;
	port->rest_at = 0; /* it may have been woken for what rests */
	return true;
}

/* There is nothing in the one whose turn it was: the others that it serves. */
static __rte_noinline uint16_t
take_others_of_own(struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	unsigned int nb_turns = 0;
	uint16_t got = 0;

	while (got == 0 && owner_turn_to_next(port, &nb_turns))
		if (!look_is_vain(port))
			got = take_own(port, NULL, events, nb);
	return got;
}

/* Before its own events: what is of higher priority elsewhere; and now and then, what nobody comes to. @locked: as look_for_higher() */
static uint16_t
look_around(struct builtin_port *port, struct shard **locked, struct rte_event *events, uint16_t nb)
{
	uint16_t got = 0;

	port->elsewhere_highest = 1u << WEIR_SCHED_PRIORITIES;
	if (has_several_priorities(port->builtin))
		got = look_for_higher(port, locked, events, nb);
	if (got > 0 || !look_is_due(port))
		return got;
	nb = may_take_elsewhere(port, nb);
	if (nb == 0)
		return 0;
	if (*locked != NULL)
		shard_unlock(*locked);
	*locked = NULL;
	got = look_elsewhere(port, events, nb, false);
	port->nb_elsewhere += got;
	return got;
}

/* No lock is held. */
static __rte_noinline void
move_own(struct builtin_port *port)
{
	if (port->move.own != 0)
		move_go_on(port);
	if (gather_is_due(port))
		gather_go_on(port);
	if (owner_visit_is_due(port))
		owner_visit_resting(port);
}

/* @locked: its own shard, if it is locked. */
__rte_noinline uint16_t
dequeue_anywhere(
	struct builtin_port *port, struct shard *locked, struct rte_event *events, uint16_t nb)
{
	uint16_t got = 0;
	bool serves = true, moves;

	if (unlikely(port->move.answered != 0 && move_is_news(port)))
		move_answer(port);
	if (port->own != NULL) {
		if (unlikely(owner_has_changed(port))) {
			if (locked != NULL)
				shard_unlock(locked);
			locked = NULL;
			serves = owner_turn(port);
		}
		look_soon(port->own);
	}
	if (port->implicit && port->nb_held > 0)
		locked = release_all(port, locked);
	port->first_handed_out = port->next_free;
	nb = RTE_MIN(nb, (uint16_t)(port->nb_max - port->nb_held));
	if (port->own == NULL || nb == 0) {
		if (port->own == NULL)
			credit_flush(port);
		if (locked != NULL)
			shard_unlock(locked);
		return 0;
	}
	moves = has_flows_to_move(port);
	if (unlikely((!serves || moves) && locked != NULL)) {
		shard_unlock(locked);
		locked = NULL;
	}
	if (unlikely(moves))
		move_own(port);
	got = look_around(port, &locked, events, nb);
	if (got == 0 && (locked != NULL || (serves && !look_is_vain(port))))
		got = take_own(port, locked, events, nb);
	if (unlikely(got == 0 && port->served != port->home_bit))
		got = take_others_of_own(port, events, nb);
	/* What was announced to it was for others, and nothing else was taken as others seemed to have more urgent things. */
	if (got == 0 && port->elsewhere_highest < 1u << WEIR_SCHED_PRIORITIES) {
		locked = NULL;
		got = look_for_higher(port, &locked, events, nb);
		if (got == 0)
			got = take_own(port, NULL, events, nb);
	}
	/* While its rings give something, if seldom, it has enough to do. What is announced was looked for already, in its order. */
	if (got == 0 && !shard_is_busy(port->own) && !tells_priorities(port->builtin))
		got = look_elsewhere(port, events, nb, true);
	if (got == 0 && unlikely(balance_is_due(port)))
		got = balance(port, events);
	if (got == 0) /* who was woken may not be called again for long: others were not */
		return idle(port) ? dequeue_anywhere(port, NULL, events, nb) : 0;
	owner_count_turn(port, got);
	port->nb_idle = 0;
	if (may_sleep(port->builtin))
		__atomic_store_n(&port->idle_at, 0, __ATOMIC_RELAXED);
	count(&port->counts.nb_dequeued, got);
	return got;
}
