/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All have answered (move.c): flows go to the home shard of who moves, with what waits for them. Between the two locks that is in
 * builtin->moving, which is whose who moves, as a word says. To find what is ready of them all that is ready in a shard is gone through: flows
 * are moved seldom.
 *
 * Here alone locks nest: who has the others' never waits for one, so who moves gets them all, or gives up.
 */

#include <string.h>

#include <rte_pause.h>

#include "move.h"
#include "owner.h"

/* Lanes that go at a time, at most: they are gone through under a lock. */
#define LANES_MAX 4096

/* Another lock than that is waited for so long, under it. */
#define LOCK_SPINS 200

/* A move: from a shard, to a port's home one. */
struct moving {
	struct builtin *builtin;
	const struct builtin_port *port;
	const struct move_flows *flows;
	uint64_t groups; /* that the port serves: what is of others stays */
	struct shard *from;
	uint64_t going[NB_CLASSES / 64]; /* classes that leave this shard, */
	uint64_t gone[NB_CLASSES / 64];  /* or another one before */
	uint64_t locked;                 /* shards, but for the one that they leave */
	uint32_t nb_lanes, nb_classes;
	bool is_left;
};

static bool
has_class(const uint64_t *classes, uint32_t class)
{
	return (classes[class / 64] >> class % 64 & 1) != 0;
}

static void
add_class(uint64_t *classes, uint32_t class)
{
	classes[class / 64] |= (uint64_t)1 << class % 64;
}

static uint32_t
lanes_in_class(const struct builtin *builtin)
{
	return 1u << builtin->in_class_bits;
}

/* Of a type: atomic, or ordered. */
static struct lane *
lanes_of_class(const struct builtin *builtin, unsigned int queue, uint32_t class, uint8_t type)
{
	return &queue_lanes(builtin, &builtin->queues[queue], type)
			.first[(size_t) class << builtin->in_class_bits];
}

/* Are there, or may there be, events of a type in a queue? */
static bool
has_type(const struct builtin *builtin, unsigned int queue, uint8_t type)
{
	return builtin->queues[queue].type == type ||
	       builtin->queues[queue].type == WEIR_SCHED_TYPE_BY_EVENT;
}

/* Is a queue in use, so that it is known where its flows are, and does a port that serves these groups have them? */
static bool
is_usable(const struct builtin *builtin, unsigned int queue, uint64_t groups)
{
	return __atomic_load_n(&builtin->queues[queue].state, __ATOMIC_ACQUIRE) == QUEUE_USED &&
	       (groups >> builtin->queues[queue].group & 1) != 0;
}

/* Of such a queue: where its flows of a class are. */
static unsigned int
where(const struct builtin *builtin, unsigned int queue, uint32_t class)
{
	return __atomic_load_n(&builtin->shard_of[queue][class], __ATOMIC_RELAXED);
}

/* Likewise: do those that are in this shard go? */
static bool
is_of(const struct builtin *builtin, const struct move_flows *flows, unsigned int queue,
	uint32_t class, unsigned int shard)
{
	return flows->of == MOVE_OF_ANY ? class == flows->class && shard == flows->from
					: builtin->divided[queue][class] == flows->of;
}

static uint64_t
groups_of(const struct builtin_port *port)
{
	return __atomic_load_n(&port->builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
}

/* Shards that have any of these flows, but for the port's home one. */
static uint64_t
shards_with(const struct builtin_port *port, const struct move_flows *flows)
{
	const struct builtin *builtin = port->builtin;
	const uint64_t groups = groups_of(port);
	uint64_t shards = 0;

	for (unsigned int q = 0; q < builtin->sched->config.nb_queues; q++) {
		if (!is_usable(builtin, q, groups))
			continue;
		for (uint32_t class = 0; class <= builtin->class_mask; class ++) {
			const unsigned int shard = where(builtin, q, class);

			if (is_of(builtin, flows, q, class, shard))
				shards |= (uint64_t)1 << shard;
		}
	}
	return shards & ~port->home_bit;
}

bool
move_are_elsewhere(const struct builtin_port *port, const struct move_flows *flows)
{
	return shards_with(port, flows) != 0;
}

/* Are a queue's flows of a class among those that move, and in the shard that they leave? */
static bool
is_leaving(const struct moving *moving, unsigned int queue, uint32_t class)
{
	const struct builtin *builtin = moving->builtin;

	return is_usable(builtin, queue, moving->groups) &&
	       where(builtin, queue, class) == moving->from->id &&
	       is_of(builtin, moving->flows, queue, class, moving->from->id);
}

static bool
goes(const struct moving *moving, unsigned int queue, uint32_t class)
{
	return has_class(moving->going, class) && is_leaving(moving, queue, class);
}

static bool
no_flow_is_held(const struct builtin *builtin, unsigned int queue, uint32_t class)
{
	const struct lane *lanes = lanes_of_class(builtin, queue, class, RTE_SCHED_TYPE_ATOMIC);

	for (uint32_t i = 0; i < lanes_in_class(builtin); i++)
		if (lanes[i].state > LANE_READY)
			return false;
	return true;
}

static bool
no_event_is_out(const struct builtin *builtin, unsigned int queue, uint32_t class)
{
	const struct lane *lanes = lanes_of_class(builtin, queue, class, RTE_SCHED_TYPE_ORDERED);

	for (uint32_t i = 0; i < lanes_in_class(builtin); i++)
		if (lanes[i].first != NONE)
			return false;
	return true;
}

/* Under the lock: nobody has anything of the class, in a queue. */
static bool
can_go(const struct builtin *builtin, unsigned int queue, uint32_t class)
{
	return (!has_type(builtin, queue, RTE_SCHED_TYPE_ATOMIC) ||
		       no_flow_is_held(builtin, queue, class)) &&
	       (!has_type(builtin, queue, RTE_SCHED_TYPE_ORDERED) ||
		       no_event_is_out(builtin, queue, class));
}

/* Under the lock: does a class go, and now? In all of these queues, or not at all. */
static void
choose_class(struct moving *moving, uint32_t class)
{
	const struct builtin *builtin = moving->builtin;
	uint32_t nb_lanes = 0;

	for (unsigned int q = 0; q < builtin->sched->config.nb_queues; q++) {
		if (!is_leaving(moving, q, class))
			continue;
		nb_lanes += lanes_in_class(builtin);
		if (moving->nb_lanes + nb_lanes > LANES_MAX || !can_go(builtin, q, class)) {
			moving->is_left = true;
			return;
		}
	}
	if (nb_lanes == 0)
		return;
	moving->nb_lanes += nb_lanes;
	add_class(moving->going, class);
}

/* Under the lock. @return false: none does */
static bool
choose(struct moving *moving)
{
	const struct move_flows *flows = moving->flows;
	const bool all = flows->of != MOVE_OF_ANY;
	const uint32_t last = all ? moving->builtin->class_mask : flows->class;
	uint64_t any = 0;

	memset(moving->going, 0, sizeof(moving->going));
	for (uint32_t class = all ? 0 : flows->class; class <= last; class ++)
		choose_class(moving, class);
	for (unsigned int i = 0; i < RTE_DIM(moving->going); i++)
		any |= moving->going[i];
	return any != 0;
}

/* Those that were chosen are on their way. */
static void
note_gone(struct moving *moving)
{
	for (unsigned int i = 0; i < RTE_DIM(moving->going); i++) {
		moving->gone[i] |= moving->going[i];
		moving->nb_classes += (uint32_t)__builtin_popcountll(moving->going[i]);
	}
}

static void
take_out_node(struct moving *moving, uint32_t node)
{
	struct builtin *builtin = moving->builtin;

	builtin->moving[builtin->nb_moving++] = moving->from->events[node];
	node_put(moving->from, node);
}

/* An event that was ready: of an atomic flow the first one, and those behind it go along. */
static void
take_out_flow(struct moving *moving, uint32_t node)
{
	const struct shard *from = moving->from;
	const uint64_t word = from->events[node].event;
	uint32_t next = NONE;

	if (event_type(moving->builtin, word) == RTE_SCHED_TYPE_ATOMIC)
		next = event_lane(moving->builtin, word, RTE_SCHED_TYPE_ATOMIC)->first;
	take_out_node(moving, node);
	while (next != NONE) {
		node = next;
		next = from->next[node];
		take_out_node(moving, node);
	}
}

static bool
event_goes(const struct moving *moving, uint64_t word)
{
	const struct builtin *builtin = moving->builtin;

	return event_type(builtin, word) != RTE_SCHED_TYPE_PARALLEL &&
	       goes(moving, word_queue(word),
		       flow_class(builtin, word_flow(word) & builtin->flow_mask));
}

static void
take_out_ready(struct moving *moving, unsigned int priority, unsigned int group)
{
	struct shard *from = moving->from;
	struct ready *ready = &from->ready[priority][group];
	uint32_t *link = &ready->first, node;

	ready->last = NONE;
	while ((node = *link) != NONE) {
		if (!event_goes(moving, from->events[node].event)) {
			ready->last = node;
			link = &from->next[node];
			continue;
		}
		*link = from->next[node];
		from->nb_ready--;
		take_out_flow(moving, node);
	}
	if (ready->first == NONE)
		clear_ready_group(from, priority, group);
}

/* Under the lock: what waits for those that go. */
static void
take_out(struct moving *moving)
{
	struct shard *from = moving->from;

	shard_share_next(from);
	for (uint32_t p = from->ready_priorities; p != 0; p &= p - 1) {
		const unsigned int priority = (unsigned int)__builtin_ctz(p);

		for (uint64_t g = from->ready_groups[priority]; g != 0; g &= g - 1)
			take_out_ready(moving, priority, (unsigned int)__builtin_ctzll(g));
	}
}

static void
let_wait(struct builtin *builtin, unsigned int queue, uint32_t class, uint8_t type)
{
	struct lane *lanes = lanes_of_class(builtin, queue, class, type);

	if (has_type(builtin, queue, type))
		for (uint32_t i = 0; i < lanes_in_class(builtin); i++)
			lanes[i] = (struct lane){.nb_held = 1, .state = LANE_MOVED};
}

/* Under the lock. What comes from now on is for the other shard, and waits there. */
static void
hand_over(struct moving *moving, unsigned int queue, uint32_t class)
{
	struct builtin *builtin = moving->builtin;
	struct shard *to = moving->port->home;

	let_wait(builtin, queue, class, RTE_SCHED_TYPE_ATOMIC);
	let_wait(builtin, queue, class, RTE_SCHED_TYPE_ORDERED);
	__atomic_fetch_or(
		&to->groups, (uint64_t)1 << builtin->queues[queue].group, __ATOMIC_RELAXED);
	__atomic_store_n(&builtin->shard_of[queue][class], (uint8_t)to->id, __ATOMIC_RELEASE);
}

static void
hand_over_all(struct moving *moving)
{
	const struct builtin *builtin = moving->builtin;

	for (unsigned int q = 0; q < builtin->sched->config.nb_queues; q++)
		for (uint32_t class = 0; class <= builtin->class_mask; class ++)
			if (goes(moving, q, class))
				hand_over(moving, q, class);
}

static void
unlock_others(struct moving *moving)
{
	for (; moving->locked != 0; moving->locked &= moving->locked - 1)
		shard_unlock(&moving->builtin->shards[__builtin_ctzll(moving->locked)]);
}

/*
 * Under the lock: where there are ordered flows, shards send nothing until unlock_others(). @return false: somebody has lost the CPU, it
 * seems, with one of their locks
 */
static bool
lock_others(struct moving *moving)
{
	struct builtin *builtin = moving->builtin;

	for (unsigned int i = 0; builtin->has_ordered && i < builtin->nb_shards; i++) {
		struct shard *shard = &builtin->shards[i];

		if (shard == moving->from)
			continue;
		for (unsigned int spins = 0; !shard_trylock(shard); spins++) {
			if (spins == LOCK_SPINS) {
				unlock_others(moving);
				return false;
			}
			rte_pause();
		}
		moving->locked |= (uint64_t)1 << i;
	}
	return true;
}

/* Under the lock: those that were chosen, and all that waits for them. */
static void
leave_now(struct moving *moving)
{
	if (!lock_others(moving)) {
		moving->is_left = true;
		return;
	}
	shard_drain_rings(moving->from);
	take_out(moving);
	hand_over_all(moving);
	note_gone(moving);
	unlock_others(moving);
}

/* What can of a shard's. No lock is held. */
static void
leave_shard(struct moving *moving)
{
	if (!shard_trylock(moving->from)) {
		moving->is_left = true;
		return;
	}
	shard_take_back(moving->from, false);
	shard_drain_rings(moving->from);
	if (choose(moving))
		leave_now(moving);
	shard_unlock(moving->from);
}

/* Under the lock: into lanes that are LANE_MOVED. Each comes before what is in its lane by now, so the last one is the first. */
static void
put_in(struct builtin *builtin, struct shard *to)
{
	while (builtin->nb_moving > 0) {
		const struct rte_event *event = &builtin->moving[--builtin->nb_moving];
		const uint64_t word = event->event;
		struct lane *lane = event_lane(builtin, word, event_type(builtin, word));
		const uint32_t node = node_get(to, event);

		to->next[node] = lane->first;
		if (lane->first == NONE)
			lane->last = node;
		lane->first = node;
	}
}

/* Under the lock: what waits there need not wait any more. */
static void
let_go(struct builtin *builtin, struct shard *to, unsigned int queue, uint32_t class)
{
	struct lane *atomic = lanes_of_class(builtin, queue, class, RTE_SCHED_TYPE_ATOMIC);
	struct lane *ordered = lanes_of_class(builtin, queue, class, RTE_SCHED_TYPE_ORDERED);

	if (!is_usable(builtin, queue, UINT64_MAX) || where(builtin, queue, class) != to->id)
		return;
	for (uint32_t i = 0; i < lanes_in_class(builtin); i++) {
		if (atomic[i].state == LANE_MOVED)
			shard_release(to, &atomic[i], false);
		if (has_type(builtin, queue, RTE_SCHED_TYPE_ORDERED) &&
			ordered[i].state == LANE_MOVED)
			shard_lane_is_there(to, &ordered[i]);
	}
}

/* No lock is held. */
static void
enter_shard(const struct moving *moving)
{
	struct builtin *builtin = moving->builtin;
	struct shard *to = moving->port->home;

	shard_lock(to);
	put_in(builtin, to);
	for (unsigned int q = 0; q < builtin->sched->config.nb_queues; q++)
		for (uint32_t class = 0; class <= builtin->class_mask; class ++)
			if (has_class(moving->gone, class))
				let_go(builtin, to, q, class);
	shard_unlock(to);
}

enum moved
move_now(struct builtin_port *port, const struct move_flows *flows)
{
	struct builtin *builtin = port->builtin;
	struct moving moving = {
		.builtin = builtin, .port = port, .flows = flows, .groups = groups_of(port)};

	builtin->nb_moving = 0;
	for (uint64_t left = shards_with(port, flows); left != 0; left &= left - 1) {
		moving.from = &builtin->shards[__builtin_ctzll(left)];
		leave_shard(&moving);
	}
	if (moving.nb_classes == 0)
		return moving.is_left ? MOVED_NONE : MOVED_ALL;
	owner_empty_rings(builtin, NO_SENDER);
	enter_shard(&moving);
	count(&port->nb_moved, moving.nb_classes);
	return moving.is_left ? MOVED_SOME : MOVED_ALL;
}
