/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_SHARD_H
#define SCHED_SHARD_H

/* What is done with a shard: by who has its lock, unless it says anybody. What is asked for with each event is inline. */

#include "level.h"
#include "tell.h"

/* shard.c: which flows its owner has is written into their lanes, as for all others; see unmarked.h */
void shard_mark(struct shard *shard);

/* Who has it by bias, when somebody does. */
static inline struct port_bias *
shard_bias_holder(const struct shard *shard, uint32_t number)
{
	return &shard->builtin->ports[number - 1].bias;
}

/* Under the lock: this one has it not by bias any more. */
static inline void
shard_unbias(struct shard *shard, uint32_t holder)
{
	bias_end(&shard->bias, shard_bias_holder(shard, holder));
}

/* Anybody: is a port inside that has it by bias, or about to be? */
static inline bool
shard_holder_is_inside(const struct shard *shard)
{
	const uint32_t holder = bias_holder(&shard->bias);

	return holder != 0 && bias_is_inside(shard_bias_holder(shard, holder));
}

/* What its owner knew, and others could not; and that it has the lock by bias, before anything else. */
static inline void
shard_forget(struct shard *shard)
{
	const uint32_t holder = bias_holder(&shard->bias);

	if (unlikely(holder != 0))
		shard_unbias(shard, holder);
	shard->at_once = 0;
	if (unlikely(shard->nb_unmarked > 0))
		shard_mark(shard);
}

/* What was known when the lock was left still holds, if nobody else had it since: shard::at_once. Does not wait for who is inside by bias. */
static inline bool
shard_trylock_again(struct shard *shard)
{
	return __atomic_load_n(&shard->lock, __ATOMIC_RELAXED) == 0 &&
	       !shard_holder_is_inside(shard) &&
	       __atomic_exchange_n(&shard->lock, 1, __ATOMIC_ACQUIRE) == 0;
}

static inline bool
shard_trylock(struct shard *shard)
{
	if (!shard_trylock_again(shard))
		return false;
	shard_forget(shard);
	return true;
}

/* shard.c, all but the first one under the lock */
void shard_wait(struct shard *shard); /* until it has the lock, which another one has */
void shard_unlock(struct shard *shard);
void shard_tell(struct shard *shard); /* others of what it has, as shard_unlock() does */
/* No lock is held. The shard of this event's flow: locked, and what is in its rings goes to the lists. */
struct shard *shard_lock_drained(struct builtin *builtin, uint64_t word);
void shard_take_back_some(struct shard *shard, bool by_owner);
void shard_make_ready(
	struct shard *shard, uint32_t node); /* of a flow that nobody holds, or has none */
void shard_arrive(struct shard *shard, const struct rte_event *event);
uint32_t shard_look_at_ring(struct shard *shard, struct ring *ring); /* how many more there are */
uint32_t shard_look(struct shard *shard); /* at all rings: how many more there are */
/* At those that have less than a turn's. @found: by that. @return how many there are besides: of others, a turn's */
uint32_t shard_look_for_more(struct shard *shard, uint32_t *found);
void shard_drain_some(struct shard *shard, uint32_t most); /* of the ring whose turn it is */
void shard_drain(struct shard *shard,
	uint32_t most); /* of each ring so many that were seen go to the lists */
void shard_drain_ring(struct shard *shard, struct ring *ring, uint32_t most);
void shard_drain_rings(struct shard *shard); /* look, and drain */
void shard_drain_all(struct shard *shard);   /* take back, look, and drain */
void shard_lane_goes_on(struct shard *shard, struct lane *lane, bool by_owner);
void shard_share_next(struct shard *shard); /* it can go to others, too */
void shard_empty_ready(
	struct shard *shard, void (*drain)(void *arg, const struct rte_event *event), void *arg);
void shard_empty_lane(struct shard *shard, struct lane *lane,
	void (*drain)(void *arg, const struct rte_event *event), void *arg);
void shard_reset(struct shard *shard);

/* By who changes nothing of what the owner can have next, or forgets that (shard::at_once): it may add to rings, but not to lists. */
static inline void
shard_lock_again(struct shard *shard)
{
	if (unlikely(!shard_trylock_again(shard)))
		shard_wait(shard);
}

static inline void
shard_lock(struct shard *shard)
{
	if (unlikely(!shard_trylock(shard)))
		shard_wait(shard);
}

/* @locked: a shard that is locked, or NULL. @return @shard, which is then, instead */
static inline struct shard *
shard_lock_instead(struct shard *locked, struct shard *shard)
{
	if (shard != locked) {
		if (locked != NULL)
			shard_unlock(locked);
		shard_lock(shard);
	}
	return shard;
}

/* Another power of two? A line that is written with each event is expensive to write where others look at it. */
static inline bool
differs_much(uint32_t was, uint32_t is)
{
	return (was ^ is) > (was & is);
}

/*
 * As shard_unlock(), where all is of one priority, no port sleeps, and no event of the flow that the owner had last waits: mostly nothing is in the lists
 * either, and others know that, and about how much is in the rings.
 */
static inline void
shard_unlock_rings(struct shard *shard)
{
	if (unlikely((shard->sent_to | shard->nb_ready | shard->priorities_hint | shard->next_hint |
			     shard->being_taken | shard->more_levels) != 0 ||
		     differs_much(shard->nb_hint, shard->in_rings[0])))
		shard_unlock(shard);
	else
		__atomic_store_n(&shard->lock, 0, __ATOMIC_RELEASE);
}

/* By who has it by bias, or only sent something: others know about how much is in the rings. */
static inline void
shard_tell_more(struct shard *shard)
{
	if (unlikely(differs_much(shard->nb_hint, shard->in_rings[0])))
		shard_tell(shard);
}

/* Anybody. */
static inline uint32_t
shard_owner(const struct shard *shard)
{
	return __atomic_load_n(&shard->owner, __ATOMIC_RELAXED);
}

/* By who serves it: the lock keeps others from writing, but not from reading. */
static inline bool
shard_is_busy(const struct shard *shard)
{
	return __atomic_load_n(&shard->is_busy, __ATOMIC_RELAXED);
}

static inline void
shard_polled(struct shard *shard)
{
	__atomic_store_n(&shard->nb_polls, __atomic_load_n(&shard->nb_polls, __ATOMIC_RELAXED) + 1,
		__ATOMIC_RELAXED);
}

/* Likewise, under the lock: and took some events. */
static inline void
shard_taken(struct shard *shard, uint16_t nb)
{
	__atomic_store_n(&shard->nb_taken, shard->nb_taken + nb, __ATOMIC_RELAXED);
}

static inline uint32_t
node_get(struct shard *shard, const struct rte_event *event)
{
	uint32_t node = shard->free;

	if (node != NONE)
		shard->free = shard->next[node];
	else
		node = ++shard->nb_used;
	event_write(&shard->events[node], event_load(event));
	shard->next[node] = NONE;
	return node;
}

static inline void
node_put(struct shard *shard, uint32_t node)
{
	shard->next[node] = shard->free;
	shard->free = node;
}

/* A list that goes on by the shard's nodes. */
static inline void
ready_append(struct shard *shard, struct ready *ready, uint32_t node)
{
	if (ready->first == NONE)
		ready->first = node;
	else
		shard->next[ready->last] = node;
	ready->last = node;
}

/* A flow's atomic context is given back, by one event of those that were handed out with it. */
static inline void
shard_release(struct shard *shard, struct lane *lane, bool by_owner)
{
	shard->nb_marked--;
	if (--lane->nb_held > 0)
		return;
	if (likely(lane->first == NONE))
		lane->state = LANE_IDLE;
	else
		shard_lane_goes_on(shard, lane, by_owner);
}

/* What its home port has returned, mostly one; may leave the lock meanwhile. */
static inline void
shard_take_back(struct shard *shard, bool by_owner)
{
	struct returned *returned = &shard->returned;
	const uint32_t nb = returned_count(returned);

	if (nb == 1 && likely(shard->sender == shard->home)) {
		shard_release(shard, returned_peek(returned, 0), by_owner);
		returned_take(returned, 1);
	} else if (nb > 0) {
		shard_take_back_some(shard, by_owner);
	}
}

/* As far as they were looked at. */
static inline uint32_t
shard_nb_in_rings(const struct shard *shard)
{
	return shard->in_rings[0] + shard->in_more_levels;
}

static inline uint32_t
shard_waiting(const struct shard *shard)
{
	return shard->nb_ready + shard_nb_in_rings(shard) + (shard->next_of_owner != NONE);
}

static inline struct ring *
shard_ring(const struct shard *shard, unsigned int level, unsigned int sender)
{
	return &shard->rings[level * shard->nb_senders + sender];
}

/* So many more are known to be in rings of a level. */
static inline void
shard_found(struct shard *shard, unsigned int level, uint32_t nb)
{
	if (nb == 0)
		return;
	shard->in_rings[level] += nb;
	if (level == 0)
		return;
	shard->in_more_levels += nb;
	shard->more_levels |= level_bits(shard->builtin, level);
}

/* What this shard sent there. */
static __rte_always_inline void
shard_publish(struct shard *shard, unsigned int to, unsigned int level)
{
	struct ring *ring = shard->rings_out[level][to];

	shard_know(shard->builtin, to, ring, &shard->known[level]);
	if (to != shard->id) {
		ring_publish_far(ring);
		return;
	}
	ring_publish(ring);
	shard_found(shard, level, ring_look(ring));
}

/* So many of these are not there any more. */
static inline void
shard_gone(struct shard *shard, unsigned int level, uint32_t nb)
{
	shard->in_rings[level] -= nb;
	if (likely(level == 0))
		return;
	shard->in_more_levels -= nb;
	if (shard->in_rings[level] == 0)
		shard->more_levels &= ~level_bits(shard->builtin, level);
}

/* Priorities of what is known to be in rings, as bits; of which events are that have their own is not known before they are in the lists. */
static inline uint32_t
shard_in_rings(const struct shard *shard)
{
	uint32_t there = shard->more_levels;

	if (shard->in_rings[0] > 0)
		there |= level_bits(shard->builtin, 0);
	return unlikely((there >> LEVEL_MIXED & 1) != 0) ? UINT8_MAX : there;
}

/* What its owner sent to itself costs nothing to look at. */
static inline void
shard_look_at_own(struct shard *shard, unsigned int level)
{
	shard_found(shard, level, ring_look(shard_ring(shard, level, shard_owner(shard))));
}

/* A ring may give so many before others have their turn. */
#define EVENTS_PER_TURN 16

/*
 * And those of what the owner sent to itself, and of what the shard did: so many that what comes from elsewhere gets through some queues
 * before more of that is let in, and waits, if it must, in rings that nobody has to empty for the order of others. And one that is alone.
 */
#define EVENTS_PER_LONG_TURN 64

/* What its owner sent to itself, or the shard did? */
static inline bool
shard_is_own_ring(const struct shard *shard, const struct ring *ring)
{
	return ring->sender == shard_owner(shard) || ring->sender == shard->sender_id;
}

/* Was no other ring ever used? A new one comes into use seldom. */
static inline bool
shard_is_only_ring(const struct shard *shard, const struct ring *ring)
{
	const uint32_t i = (uint32_t)(ring - shard->rings);

	return shard->nb_rings <= 64 &&
	       __atomic_load_n(&shard->used[0], __ATOMIC_RELAXED) == (uint64_t)1 << i % 64;
}

/* It is the turn of this ring. */
static inline void
shard_set_turn(struct shard *shard, struct ring *ring)
{
	shard->turn = ring;
	shard->turn_is_own = shard_is_own_ring(shard, ring);
	shard->turn_is_long = shard->turn_is_own || shard_is_only_ring(shard, ring);
	shard->turn_left = shard->turn_is_long ? EVENTS_PER_LONG_TURN : EVENTS_PER_TURN;
}

/* So many can be taken from the ring whose turn it is. */
static inline uint32_t
shard_turn(const struct shard *shard)
{
	return RTE_MIN(ring_count(shard->turn), shard->turn_left);
}

/*
 * Rings are looked at after so many events at the latest; or after a long turn, while that goes on: others have theirs after it. Where one begins they are
 * looked at, too, so that both end at once from then on.
 */
#define EVENTS_PER_LOOK 16

static inline uint32_t
shard_events_per_look(const struct shard *shard)
{
	return shard->turn_is_long ? EVENTS_PER_LONG_TURN : EVENTS_PER_LOOK;
}

/* Of a turn as this one. */
static inline uint32_t
shard_looks_per_turn(const struct shard *shard)
{
	return shard->turn_is_long ? EVENTS_PER_LONG_TURN / EVENTS_PER_LOOK : 1;
}

/* Under the lock, by who wants some events. */
static inline bool
shard_look_is_due(const struct shard *shard, uint32_t wanted)
{
	if (shard->nb_since_look < EVENTS_PER_LOOK)
		return false;
	return shard->nb_since_look >= shard_events_per_look(shard) ||
	       shard->turn_left == EVENTS_PER_LONG_TURN || shard_turn(shard) < wanted ||
	       (shard->nb_ready | shard->next_of_owner) != 0;
}

/* Of rings that nobody ever used there is nothing to look at. The first one from @from on that was; nb_rings: none. */
static inline unsigned int
shard_ring_from(const struct shard *shard, unsigned int from)
{
	for (; from < shard->nb_rings; from = (from | 63) + 1) {
		uint64_t left =
			__atomic_load_n(&shard->used[from / 64], __ATOMIC_RELAXED) >> from % 64;

		if (left != 0)
			return from + (unsigned int)__builtin_ctzll(left);
	}
	return shard->nb_rings;
}

/* shard.c: the next ring that was ever used has its turn */
void shard_next_turn(struct shard *shard);

/* So many were taken from the ring whose turn it is: the next one, if that was all that it may give now. */
static inline void
shard_took(struct shard *shard, uint32_t nb)
{
	if (nb > 0) {
		shard->turn_left -= nb;
		ring_take(shard->turn, nb);
		shard_gone(shard, shard->turn->level, nb);
	}
	if (shard->turn_left == 0 || ring_count(shard->turn) == 0)
		shard_next_turn(shard);
}

/* Events left in rings that go to the lists at once. */
#define FEW 8

/* Events seen in its rings, but for those that its owner sent to itself, or it did. Where there is one level. */
static inline uint32_t
shard_nb_of_others(const struct shard *shard)
{
	return shard->in_rings[0] - ring_count(&shard->rings[shard_owner(shard)]) -
	       ring_count(&shard->rings[shard->sender_id]);
}

/* What is left of a line that its sender goes on writing to would have to be fetched once more. */
static inline void
shard_drain_few(struct shard *shard)
{
	const uint32_t nb = shard_nb_of_others(shard);

	if (nb > 0 && nb < FEW)
		shard_drain(shard, UINT32_MAX);
}

static inline void
set_ready_groups(struct shard *shard, unsigned int priority, uint64_t groups)
{
	__atomic_store_n(&shard->ready_groups[priority], groups, __ATOMIC_RELAXED);
}

/* The last event of a priority and group was taken. */
static inline void
clear_ready_group(struct shard *shard, unsigned int priority, unsigned int group)
{
	set_ready_groups(shard, priority, shard->ready_groups[priority] & ~((uint64_t)1 << group));
	if (shard->ready_groups[priority] == 0)
		shard->ready_priorities &= ~(1u << priority);
}

/* Does the shard seem to have something ready of this priority for these groups? Anybody. */
static inline bool
seems_ready(const struct shard *shard, unsigned int priority, uint64_t groups)
{
	return (__atomic_load_n(&shard->ready_groups[priority], __ATOMIC_ACQUIRE) & groups) != 0;
}

/* The priorities of what seems to be ready for these groups, from the highest one on. Anybody. */
static inline uint32_t
seem_ready(const struct shard *shard, uint64_t groups)
{
	uint32_t left = __atomic_load_n(&shard->priorities_hint, __ATOMIC_ACQUIRE);

	/* Mostly a port serves the groups of all queues: one line less to read that the owner writes. */
	if ((shard->all_groups & ~groups) == 0)
		return left;
	if ((shard->all_groups & groups) == 0)
		return 0;
	while (left != 0 && !seems_ready(shard, (unsigned int)__builtin_ctz(left), groups))
		left &= left - 1;
	return left;
}

/* take.c, under the lock; of @priorities only */
void shard_passed(struct shard *shard, uint32_t nb);
uint32_t shard_most_passed(const struct shard *shard, uint64_t groups);
uint32_t shard_usable(const struct shard *shard, uint64_t groups); /* priorities for some groups */
uint16_t shard_take(struct shard *shard, struct builtin_port *port, struct rte_event *events,
	uint16_t nb, uint32_t priorities);

uint16_t take_next_of_owner(
	struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb);
uint16_t take_from_rings(
	struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb);

/* take_levels.c, under the lock, where there are several priorities */
void shard_list_levels(struct shard *shard); /* what must not stay in rings goes to the lists */
void shard_list_mixed(
	struct shard *shard); /* likewise, of events that have priorities of their own */
void shard_list_some(struct shard *shard, uint32_t most); /* of each ring that the lists hide */
uint16_t take_by_priority(struct shard *shard, struct builtin_port *port, struct rte_event *events,
	uint16_t nb, uint32_t priorities);

#endif
