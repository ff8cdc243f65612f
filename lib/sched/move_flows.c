/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All have answered (move.c): flows go to the home shard of who moves, with what waits for them:
 *
 *     lock of the shard that they leave     what is ready of them is set aside; all that is ready there is gone through for that
 *     and those of all others               what is in rings goes to the lists; from now on what comes is for the new shard
 *     of both shards, no others             what was set aside goes there, and what waits behind it
 *
 * Here alone locks nest: others never wait for a second one, so who moves gets them all; or gives up, for now, when it takes long: somebody may
 * have lost the CPU with one of them.
 */

#include <string.h>

#include <rte_pause.h>

#include "look.h"
#include "move_flows.h"

/* Another lock is waited for so long. */
#define LOCK_SPINS 200

static uint32_t
lanes_in_class(const struct builtin *builtin)
{
	return 1u << builtin->in_class_bits;
}

/* Of a type: atomic, or ordered. */
static struct lane *
lanes_of_class(const struct builtin *builtin, unsigned int queue, uint32_t class, uint8_t type)
{
	return queue_lanes(builtin, &builtin->queues[queue], type).first +
	       ((size_t) class << builtin->in_class_bits);
}

/* Are there, or may there be, events of a type in a queue? */
static bool
has_type(const struct builtin *builtin, unsigned int queue, uint8_t type)
{
	return builtin->queues[queue].type == type ||
	       builtin->queues[queue].type == WEIR_SCHED_TYPE_BY_EVENT;
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

/* So many are those of a class that leave, in all queues. */
static uint32_t
lanes_leaving(const struct moving *moving, uint32_t class)
{
	uint32_t nb = 0;

	for (unsigned int q = 0; q < moving->builtin->sched->config.nb_queues; q++)
		if (is_leaving(moving, q, class))
			nb += lanes_in_class(moving->builtin);
	return nb;
}

/* Under the lock: nobody has anything of those of a class that leave, in any queue. */
static bool
can_class_go(const struct moving *moving, uint32_t class)
{
	for (unsigned int q = 0; q < moving->builtin->sched->config.nb_queues; q++)
		if (is_leaving(moving, q, class) && !can_go(moving->builtin, q, class))
			return false;
	return true;
}

/* Under the lock: does a class go, and now? In all of these queues, or not at all. */
static void
choose_class(struct moving *moving, uint32_t class)
{
	const uint32_t nb_lanes = lanes_leaving(moving, class);

	if (nb_lanes == 0)
		return;
	if (moving->nb_lanes + nb_lanes > MOVE_LANES_MAX || !can_class_go(moving, class)) {
		moving->is_left = true;
		return;
	}
	moving->nb_lanes += nb_lanes;
	moving->going[class / 64] |= (uint64_t)1 << class % 64;
}

/* Under the lock. @return how many do */
static uint32_t
choose(struct moving *moving)
{
	const struct move_flows *flows = moving->flows;
	const bool all = flows->of != MOVE_OF_ANY;
	const uint32_t last = all ? moving->builtin->class_mask : flows->class;
	uint32_t nb = 0;

	memset(moving->going, 0, sizeof(moving->going));
	moving->nb_lanes = 0;
	for (uint32_t class = all ? 0 : flows->class; class <= last; class ++)
		choose_class(moving, class);
	for (unsigned int i = 0; i < RTE_DIM(moving->going); i++)
		nb += (uint32_t)__builtin_popcountll(moving->going[i]);
	return nb;
}

/* What comes from now on is for the other shard. */
static void
hand_over(struct moving *moving, unsigned int queue, uint32_t class)
{
	struct builtin *builtin = moving->builtin;
	struct shard *to = moving->port->home;

	__atomic_fetch_or(
		&to->groups, (uint64_t)1 << builtin->queues[queue].group, __ATOMIC_RELAXED);
	__atomic_store_n(&builtin->shard_of[queue][class], (uint8_t)to->id, __ATOMIC_RELEASE);
}

static void
hand_over_class(struct moving *moving, uint32_t class)
{
	for (unsigned int q = 0; q < moving->builtin->sched->config.nb_queues; q++)
		if (is_leaving(moving, q, class))
			hand_over(moving, q, class);
}

/* Only those that go are gone through: all ports wait. */
static void
hand_over_all(struct moving *moving)
{
	for (unsigned int i = 0; i < RTE_DIM(moving->going); i++)
		for (uint64_t left = moving->going[i]; left != 0; left &= left - 1)
			hand_over_class(moving, 64 * i + (uint32_t)__builtin_ctzll(left));
}

/* Beside a lock that it has: others never wait for a second one, so that most leave theirs soon. */
static bool
lock_soon(struct shard *shard)
{
	for (unsigned int spins = 0; !shard_trylock(shard); spins++) {
		if (spins == LOCK_SPINS)
			return false;
		rte_pause();
	}
	return true;
}

static void
unlock(struct moving *moving, uint64_t shards)
{
	for (; shards != 0; shards &= shards - 1)
		shard_unlock(&moving->builtin->shards[__builtin_ctzll(shards)]);
}

/* All but the one that they leave, which it has. @return false: it has none of them */
static bool
lock_others(struct moving *moving)
{
	struct builtin *builtin = moving->builtin;
	uint64_t locked = 0;

	for (unsigned int i = 0; i < builtin->nb_shards; i++) {
		if (i == moving->from->id)
			continue;
		if (!lock_soon(&builtin->shards[i])) {
			unlock(moving, locked);
			return false;
		}
		locked |= (uint64_t)1 << i;
	}
	moving->others = locked;
	return true;
}

/* Most of what has to go to the lists, and aside, does so while others wait for two locks at most. @return false: as lock_others() */
static bool
drain_others(struct moving *moving)
{
	struct builtin *builtin = moving->builtin;

	for (unsigned int i = 0; i < builtin->nb_shards; i++) {
		struct shard *shard = &builtin->shards[i];

		if (i == moving->from->id || rings_seem_empty(shard))
			continue;
		if (!lock_soon(shard))
			return false;
		shard_drain_rings(shard);
		shard_unlock(shard);
	}
	shard_drain_rings(moving->from);
	move_set_aside(moving);
	return true;
}

/* Of any priority, ready or on its way there. */
static bool
has_something(const struct shard *shard)
{
	return highest(shard, UINT64_MAX) != 1u << WEIR_SCHED_PRIORITIES;
}

/*
 * All locks are had, and all has been told of. Shards that have nothing are not looked at any more for what is of high priority, until somebody
 * tells of something there. Who does so now, from outside, sees that the word was cleared, or what he put into a ring is seen here.
 */
static void
forget_empty(struct builtin *builtin)
{
	uint64_t empty = 0;

	for (unsigned int i = 0; i < builtin->nb_shards; i++)
		if (!has_something(&builtin->shards[i]))
			empty |= (uint64_t)1 << i;
	__atomic_fetch_and(&builtin->announced, ~empty, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (; empty != 0; empty &= empty - 1) {
		const unsigned int i = (unsigned int)__builtin_ctzll(empty);

		if (has_something(&builtin->shards[i]) || !rings_seem_empty(&builtin->shards[i]))
			tell_announced(builtin, i);
	}
}

/*
 * Who looks for what is of high priority in one shard after the other, without locks, may miss what goes from one of these to another
 * meanwhile: under the lock of what it takes something else from, it sees by the number that flows have moved (look.h). So the number changes
 * before anything that it missed by can be seen there; or all locks are had.
 */
static void
tell_moved(struct builtin *builtin)
{
	__atomic_store_n(&builtin->nb_moves, builtin->nb_moves + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* All locks are had. The shard that they leave goes on telling what it had. */
static void
hand_over_now(struct moving *moving)
{
	struct builtin *builtin = moving->builtin;

	for (unsigned int i = 0; i < builtin->nb_shards; i++)
		shard_drain_rings(&builtin->shards[i]);
	move_set_aside(moving);
	hand_over_all(moving);
	for (unsigned int i = 0; i < builtin->nb_shards; i++)
		shard_tell(&builtin->shards[i]);
	forget_empty(builtin);
	tell_moved(builtin);
}

/*
 * The locks of both shards are had; when this is over, of the one that they leave. Others see what goes there first, then that it is not here any
 * more; who has seen it here after that, and not there as it was of no higher priority than what is here, must not have the lock of this one
 * before the number changed once more.
 */
static void
bring_over(struct moving *moving)
{
	struct shard *to = moving->port->home;

	move_take_along(moving);
	shard_tell(to);
	tell_moved(moving->builtin);
	move_clear_empty(moving);
	shard_tell(moving->from);
	tell_moved(moving->builtin);
	shard_unlock(to);
}

/* @return false: as lock_others() */
static bool
hand_over_soon(struct moving *moving)
{
	const uint64_t begin = weir_base_cycles();

	if (!lock_others(moving))
		return false;
	hand_over_now(moving);
	unlock(moving, moving->others & ~moving->port->home_bit);
	moving->longest = RTE_MAX(moving->longest, weir_base_cycles() - begin);
	return true;
}

/* Under the lock: what was chosen. @return false: not now */
static bool
leave(struct moving *moving)
{
	moving->aside = (struct ready){0};
	memset(moving->last, 0, sizeof(moving->last));
	move_set_aside(moving);
	if (!drain_others(moving) || !hand_over_soon(moving)) {
		move_put_back(moving);
		return false;
	}
	bring_over(moving);
	return true;
}

/* What can of a shard's. No lock is held. */
static void
leave_shard(struct moving *moving)
{
	uint32_t nb_going;

	if (!shard_trylock(moving->from)) {
		moving->is_left = true;
		return;
	}
	shard_take_back(moving->from, false);
	shard_drain_rings(moving->from);
	nb_going = choose(moving);
	if (nb_going > 0 && leave(moving))
		moving->nb_classes += nb_going;
	else if (nb_going > 0)
		moving->is_left = true;
	shard_unlock(moving->from);
}

enum moved
move_now(struct builtin_port *port, const struct move_flows *flows)
{
	struct builtin *builtin = port->builtin;
	const uint32_t nb_moves = builtin->nb_moves;
	struct moving moving = {
		.builtin = builtin, .port = port, .flows = flows, .groups = groups_of(port)};

	for (uint64_t left = shards_with(port, flows); left != 0; left &= left - 1) {
		moving.from = &builtin->shards[__builtin_ctzll(left)];
		leave_shard(&moving);
	}
	if (moving.nb_classes == 0)
		return moving.is_left ? MOVED_NONE : MOVED_ALL;
	count(&port->nb_moved, moving.nb_classes);
	port->balance.nb_moves += builtin->nb_moves - nb_moves; /* its own is known */
	__atomic_store_n(
		&port->longest_move, RTE_MAX(port->longest_move, moving.longest), __ATOMIC_RELAXED);
	return moving.is_left ? MOVED_SOME : MOVED_ALL;
}
