/* SPDX-License-Identifier: BSD-3-Clause */

/* A shard: what comes in, what is ready, who holds what. All under its lock. */

#include <string.h>

#include "owner.h"
#include "places.h"
#include "spin.h"

/* Events of one flow that a shard's owner goes on with, before others have their turn. */
#define NEXT_MAX 64

#define PREFETCH_MAX (12 * EVENTS_PER_LINE)

void
shard_wait(struct shard *shard)
{
	unsigned int spins = 0;

	do {
		spin(&spins);
	} while (!shard_trylock(shard));
}

static inline void
mark_atomic(struct shard *shard, const struct held *held, uint32_t owner)
{
	struct lane *lane = event_lane(shard->builtin, held->word, RTE_SCHED_TYPE_ATOMIC);

	lane->state = lane_held_by(owner);
	lane->nb_held++;
	shard->nb_marked++;
}

/* It has its place from now on, behind those that were handed out before: its port finds it there. */
static inline void
mark_ordered(struct shard *shard, struct held *held)
{
	held->lane = event_lane(shard->builtin, held->word, RTE_SCHED_TYPE_ORDERED);
	held->place = place_get(shard, held->lane);
}

/*
 * So many are held without marks from the first one on that was handed out last: who gives some back has both right before anything that may mark.
 *
 * What is read of the owner's was written under the lock, and is so again while there are some; after that it may be written without: port_mark().
 */
void
shard_mark(struct shard *shard)
{
	const uint32_t owner = shard_owner(shard);
	struct builtin_port *port = &shard->builtin->ports[owner];
	uint8_t at = port->first_handed_out;

	while (shard->nb_unmarked > 0) {
		struct held *held = &port->held[port->handed_out[at++]];
		const uint32_t how = __atomic_load_n(&held->how, __ATOMIC_RELAXED);

		if (how == held_how(HELD_ATOMIC, shard->id, HELD_BY_WORD))
			mark_atomic(shard, held, owner);
		else if (how == held_how(HELD_ORDERED, shard->id, HELD_BY_WORD))
			mark_ordered(shard, held);
		else
			continue;
		__atomic_store_n(&shard->nb_unmarked, shard->nb_unmarked - 1, __ATOMIC_RELEASE);
	}
}

static void
publish_sent_by_levels(struct shard *shard, unsigned int to, uint32_t levels)
{
	for (; levels != 0; levels &= levels - 1) {
		const unsigned int level = (unsigned int)__builtin_ctz(levels);

		if (!ring_is_published(shard->rings_out[level][to]))
			shard_publish(shard, to, level);
	}
}

/* What this shard sent can be seen by those it was sent to. */
static __rte_noinline void
publish_sent(struct shard *shard)
{
	const uint32_t sent = shard->sent, levels = sent >> SENT_LEVELS;

	for (; shard->sent_to != 0; shard->sent_to &= shard->sent_to - 1) {
		const unsigned int to = (unsigned int)__builtin_ctzll(shard->sent_to);

		if (likely(levels == 1))
			shard_publish(shard, to, 0);
		else
			publish_sent_by_levels(shard, to, levels);
		announce(shard->builtin, to, sent & UINT8_MAX);
	}
	shard->sent = 0;
}

/* What was taken from the rings is in the lists, or known to be left there, of these priorities. */
static inline void
tell_ready(struct shard *shard, uint32_t in_rings)
{
	if (shard->priorities_hint != shard->ready_priorities) {
		__atomic_store_n(
			&shard->priorities_hint, shard->ready_priorities, __ATOMIC_RELAXED);
		if (shard->ready_priorities != 0)
			tell_announced(shard->builtin, shard->id);
	}
	if (shard->being_taken != in_rings)
		__atomic_store_n(&shard->being_taken, in_rings, __ATOMIC_RELEASE);
}

/* Others see about how much is left; it is written only when that changes. */
static inline void
tell_left(struct shard *shard)
{
	const uint32_t waiting = shard_waiting(shard);

	if (differs_much(shard->nb_hint, waiting)) {
		__atomic_store_n(&shard->nb_hint, waiting, __ATOMIC_RELAXED);
		tell_waiting(shard->builtin, shard->id);
	}
	if (shard->next_hint != (shard->next_of_owner != NONE))
		__atomic_store_n(&shard->next_hint, shard->next_of_owner != NONE, __ATOMIC_RELAXED);
}

static __rte_noinline void
tell_levels(struct shard *shard)
{
	shard_list_mixed(shard);
	tell_left(shard);
	tell_ready(shard, shard_in_rings(shard));
}

void
shard_tell(struct shard *shard)
{
	if (unlikely(has_several_priorities(shard->builtin))) {
		tell_levels(shard);
		return;
	}
	tell_left(shard);
	tell_ready(shard, 0);
}

void
shard_unlock(struct shard *shard)
{
	bool left;

	if (shard->sent_to != 0)
		publish_sent(shard);
	shard_tell(shard);
	left = may_sleep(shard->builtin) && shard_waiting(shard) > 0;
	__atomic_store_n(&shard->lock, 0, __ATOMIC_RELEASE);
	if (unlikely(left))
		shard_wake_helper(shard);
}

void
shard_make_ready(struct shard *shard, uint32_t node)
{
	struct builtin *builtin = shard->builtin;
	uint64_t word = shard->events[node].event;
	uint8_t priority = event_priority(builtin, word);
	uint8_t group = builtin->queues[word_queue(word)].group;
	struct ready *ready = &shard->ready[priority][group];

	ready_append(shard, ready, node);
	set_ready_groups(shard, priority, shard->ready_groups[priority] | (uint64_t)1 << group);
	shard->ready_priorities |= 1u << priority;
	shard->nb_ready++;
}

void
shard_arrive(struct shard *shard, const struct rte_event *event)
{
	uint8_t type = event_type(shard->builtin, event->event);
	uint32_t node = node_get(shard, event);
	struct lane *lane;

	if (type != RTE_SCHED_TYPE_ATOMIC) {
		shard_make_ready(shard, node);
		return;
	}
	if (unlikely(shard->nb_unmarked > 0))
		shard_mark(shard);
	lane = event_lane(shard->builtin, event->event, type);
	if (lane->state == LANE_IDLE) {
		lane->state = LANE_READY;
		shard_make_ready(shard, node);
		return;
	}
	if (lane->first == NONE)
		lane->first = node;
	else
		shard->next[lane->last] = node;
	lane->last = node;
}

/* Inline where each look calls it, and there is nothing new as a rule. */
inline uint32_t
shard_look_at_ring(struct shard *shard, struct ring *ring)
{
	uint32_t more = ring_look(ring);

	if (more > 0) {
		/* To ask for several lines at a time takes little more than for one. */
		ring_prefetch_events(ring, 0, PREFETCH_MAX);
		shard_found(shard, ring->level, more);
	}
	return more;
}

/* @found: so many more. @return so many are known without a look: it has enough */
static inline uint32_t
look_at_ring_below(struct shard *shard, unsigned int i, uint32_t enough, uint32_t *found)
{
	struct ring *ring = &shard->rings[i];
	const bool known = ring_count(ring) >= enough;
	const uint32_t more = known ? 0 : shard_look_at_ring(shard, ring);

	if ((known || more > 0) && shard->gave != i)
		__atomic_store_n(&shard->gave, i, __ATOMIC_RELAXED);
	*found += more;
	return known ? enough : 0;
}

/* Where there are several priorities there are as many times more, most of which have nothing new: a word at a time, as it comes with each look. */
static uint32_t
look_at_rings_below(struct shard *shard, uint32_t enough, uint32_t *found)
{
	uint32_t known = 0;

	*found = 0;
	for (unsigned int from = 0; from < shard->nb_rings; from += 64)
		for (uint64_t left = __atomic_load_n(&shard->used[from / 64], __ATOMIC_SEQ_CST);
			left != 0; left &= left - 1)
			known += look_at_ring_below(
				shard, from + (unsigned int)__builtin_ctzll(left), enough, found);
	return known;
}

uint32_t
shard_look(struct shard *shard)
{
	const uint32_t arrived = __atomic_load_n(&shard->arrived, __ATOMIC_RELAXED);
	uint32_t found;

	/*
	 * There is always a word that tells of it: see highest(). Who publishes after the word is cleared sets it again; what was published before
	 * is seen in its ring.
	 */
	if (arrived != 0) {
		__atomic_store_n(
			&shard->being_taken, shard->being_taken | arrived, __ATOMIC_RELAXED);
		__atomic_fetch_and(&shard->arrived, ~arrived, __ATOMIC_SEQ_CST);
	}
	look_at_rings_below(shard, UINT32_MAX, &found);
	return found;
}

/* What a ring is known to have comes before what a look at it may tell of. */
uint32_t
shard_look_for_more(struct shard *shard, uint32_t *found)
{
	return look_at_rings_below(shard, EVENTS_PER_TURN, found);
}

void
shard_drain_ring(struct shard *shard, struct ring *ring, uint32_t most)
{
	const uint32_t nb = RTE_MIN(ring_count(ring), most);

	if (nb == 0)
		return;
	for (uint32_t e = 0; e < nb; e++)
		shard_arrive(shard, ring_peek(ring, e));
	ring_take(ring, nb);
	shard_gone(shard, ring->level, nb);
}

void
shard_drain(struct shard *shard, uint32_t most)
{
	if (shard_nb_in_rings(shard) > 0)
		for (unsigned int i = shard_ring_from(shard, 0); i < shard->nb_rings;
			i = shard_ring_from(shard, i + 1))
			shard_drain_ring(shard, &shard->rings[i], most);
	/* At once: those whom it is not for would wait for the lock in vain. */
	if (shard->being_taken != 0 && shard_nb_in_rings(shard) == 0)
		tell_ready(shard, 0);
}

void
shard_next_turn(struct shard *shard)
{
	unsigned int next = shard_ring_from(shard, (unsigned int)(shard->turn - shard->rings) + 1);

	if (next == shard->nb_rings)
		next = shard_ring_from(shard, 0);
	shard_set_turn(shard, &shard->rings[next]);
}

void
shard_drain_some(struct shard *shard, uint32_t most)
{
	while (most > 0 && shard->in_rings[0] > 0) {
		const uint32_t nb = RTE_MIN(shard_turn(shard), most);

		for (uint32_t e = 0; e < nb; e++)
			shard_arrive(shard, ring_peek(shard->turn, e));
		shard_took(shard, nb);
		most -= nb;
	}
}

void
shard_drain_rings(struct shard *shard)
{
	shard_look(shard);
	shard_drain(shard, UINT32_MAX);
}

void
shard_drain_all(struct shard *shard)
{
	shard_take_back(shard, false);
	shard_drain_rings(shard);
}

/* Who had a flow and goes on with it leaves the others to those who have nothing to do; but not for ever. */
static bool
can_go_on(struct shard *shard)
{
	return shard->next_of_owner == NONE && !has_several_priorities(shard->builtin) &&
	       ++shard->nb_next % NEXT_MAX != 0;
}

/* While somebody waits for the lock, or leaves it to take back, the flow may become another one's: move.c. */
struct shard *
shard_lock_drained(struct builtin *builtin, uint64_t word)
{
	for (;;) {
		struct shard *shard = &builtin->shards[event_shard(builtin, word)];

		shard_lock(shard);
		shard_drain_all(shard);
		if (likely(event_shard(builtin, word) == shard->id))
			return shard;
		shard_unlock(shard);
	}
}

/* Nobody holds it any more, and something waits in it. */
void
shard_lane_goes_on(struct shard *shard, struct lane *lane, bool by_owner)
{
	uint32_t node = lane->first;

	lane->first = shard->next[node];
	shard->next[node] = NONE;
	lane->state = LANE_READY;
	if (by_owner && can_go_on(shard))
		shard->next_of_owner = node;
	else
		shard_make_ready(shard, node);
}

/*
 * What was returned by now. If who did that is not the sender any more, what it sent before goes to the lists that it is for
 * first, where the lock has to be left for: others who get it may take some of this back.
 */
void
shard_take_back_some(struct shard *shard, bool by_owner)
{
	struct returned *returned = &shard->returned;
	const uint32_t until = returned->head + returned_count(returned);
	int32_t nb;

	if (unlikely(shard->sender != shard->home)) {
		shard_unlock(shard);
		owner_empty_rings(shard->builtin, shard->home);
		shard_lock(shard);
	}
	nb = (int32_t)(until - returned->head);
	for (int32_t i = 0; i < nb; i++)
		shard_release(shard, returned_peek(returned, (uint32_t)i), by_owner);
	if (nb > 0)
		returned_take(returned, (uint32_t)nb);
}

void
shard_share_next(struct shard *shard)
{
	if (shard->next_of_owner != NONE)
		shard_make_ready(shard, shard->next_of_owner);
	shard->next_of_owner = NONE;
}

static void
drain_list(struct shard *shard, uint32_t node,
	void (*drain)(void *arg, const struct rte_event *event), void *arg)
{
	for (; node != NONE; node = shard->next[node])
		drain(arg, &shard->events[node]);
}

/* What waits in an atomic lane; nobody holds it any more. */
void
shard_empty_lane(struct shard *shard, struct lane *lane,
	void (*drain)(void *arg, const struct rte_event *event), void *arg)
{
	drain_list(shard, lane->first, drain, arg);
	if (lane->state != LANE_IDLE)
		*lane = (struct lane){0};
}

void
shard_empty_ready(
	struct shard *shard, void (*drain)(void *arg, const struct rte_event *event), void *arg)
{
	shard_share_next(shard);
	for (unsigned int priority = 0; priority < WEIR_SCHED_PRIORITIES; priority++)
		for (unsigned int group = 0; group < WEIR_SCHED_GROUPS_MAX; group++)
			drain_list(shard, shard->ready[priority][group].first, drain, arg);
}

/* As if nothing had ever come. */
void
shard_reset(struct shard *shard)
{
	memset(shard->ready, 0, sizeof(shard->ready));
	memset(shard->ready_groups, 0, sizeof(shard->ready_groups));
	memset(shard->nb_passed, 0, sizeof(shard->nb_passed));
	shard->free = shard->free_place = NONE;
	shard->nb_used = shard->nb_places = shard->nb_placed = 0;
	memset(shard->in_rings, 0, sizeof(shard->in_rings));
	shard->in_more_levels = shard->more_levels = 0;
	shard->nb_ready = shard->ready_priorities = 0;
	shard->nb_hint = shard->next_hint = shard->priorities_hint = shard->arrived = 0;
	shard->being_taken = 0;
	shard->next_of_owner = NONE;
	shard->returned.head = shard->returned.tail = 0;
	memset(shard->known, 0, sizeof(shard->known));
	memset(shard->used, 0, sizeof(shard->used));
	shard->groups = 0;
	shard->nb_marked = shard->nb_unmarked = 0;
	shard->bias = (struct bias){0};
	shard->deserted_at = 0;
	shard->is_gathered = false;
	shard->look_at = shard->found_at = shard->now = 0;
	shard->is_busy = false;
	shard->gave = 0;
	shard->nb_since_look = 0;
	shard->nb_noted = shard->nb_stolen = 0;
}
