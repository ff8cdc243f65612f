/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Who serves which shard. Each is at home with a port. When that does not come any more (it may not be called, or have lost its CPU), or
 * may not have what is there, as groups have changed, a port that comes adopts the shard: from then on it is its own like its home one,
 * in turn with it. Who comes back takes its home one back. Those that were adopted are spread over the ports that come.
 *
 * What follows from atomic events of a shard is sent by the rings of one port, its sender, in the order in which it has them; by others
 * under the destination's lock (builtin.h). So between two senders there is a while in which all are others:
 *
 *     under the lock     nobody is the sender any more; what the one before had sent by then can be seen
 *     without it         what is in the rings of the one before goes to the lists that it is for
 *     under the lock     the new owner is the sender
 *
 * The one before may hold events yet, and send what follows by its rings. When it gives up such a context it sees that it is not the
 * sender any more, and empties its rings first: nobody else can have the flow before that. Without the lock (shard->returned), which only
 * the port at home there does, it does not see that: then who takes the context back empties them.
 */

#include "gather.h"
#include "look.h"
#include "owner.h"

/* Who did not come for so long, and in so many looks, does not come: also when whoever looks does so seldom, or was away itself. */
#define ADOPT_NS    50000
#define ADOPT_LOOKS 3

/*
 * From who adopted it, a shard is adopted after so many times that: who lost its CPU comes back, mostly, and others help with its events
 * meanwhile (help.c). What went to and fro would take the flows along (gather.c).
 */
#define ADOPT_AGAIN 200

/* Shards whose flows have gone are looked at so often: by who has something to do, and by who has not. */
#define REST_NS      100000
#define REST_IDLE_NS 20000

uint64_t
owner_patience(void)
{
	return weir_base_ns_to_cycles(ADOPT_NS);
}

/* The shards of a queue's flows hold events of its group from now on. */
void
owner_note_queue(struct builtin *builtin, uint8_t queue)
{
	const uint64_t bit = (uint64_t)1 << builtin->queues[queue].group;

	for (unsigned int class = 0; class < NB_CLASSES; class ++) {
		const uint8_t shard =
			__atomic_load_n(&builtin->shard_of[queue][class], __ATOMIC_RELAXED);
		uint64_t *groups = &builtin->shards[shard].groups;

		if ((__atomic_load_n(groups, __ATOMIC_RELAXED) & bit) == 0)
			__atomic_fetch_or(groups, bit, __ATOMIC_RELAXED);
	}
}

/* Those of a sender, or of all. */
static bool
rings_are_empty(const struct shard *shard, uint32_t sender)
{
	for (unsigned int i = shard_ring_from(shard, 0); i < shard->nb_rings;
		i = shard_ring_from(shard, i + 1))
		if ((sender == NO_SENDER || shard->rings[i].sender == sender) &&
			!ring_is_empty(&shard->rings[i]))
			return false;
	return true;
}

/* What a port's rings hold, or those of all, goes to the lists. No lock is held. */
void
owner_empty_rings(struct builtin *builtin, uint32_t sender)
{
	for (unsigned int i = 0; i < builtin->nb_shards; i++) {
		struct shard *shard = &builtin->shards[i];

		if (rings_are_empty(shard, sender))
			continue;
		shard_lock(shard);
		shard_drain_rings(shard);
		shard_unlock(shard);
	}
}

static void
set_served(struct builtin_port *port, uint64_t served, uint64_t resting)
{
	port->served = served;
	port->resting = resting;
	__atomic_store_n(&port->builtin->nb_served[port->base.id],
		(uint8_t)__builtin_popcountll(served | resting), __ATOMIC_RELAXED);
}

/* From the owner that it had when that was decided: its home port does not come, or not that one. No lock is held. */
static bool
take_over(struct builtin_port *port, struct shard *shard, uint32_t from, bool deserted)
{
	const uint64_t bit = (uint64_t)1 << shard->id;
	const uint32_t id = port->base.id;
	uint32_t before;
	bool still;

	if (!shard_trylock(shard))
		return false;
	still = shard_owner(shard) == from;
	before = shard->sender;
	if (still) {
		shard_share_next(shard);
		__atomic_store_n(&shard->owner, id, __ATOMIC_RELAXED);
		shard->sender = NO_SENDER;
		gather_after(port, shard, deserted);
		shard_polled(shard); /* others see that it comes */
	}
	shard_unlock(shard);
	if (!still)
		return false;
	set_served(port, port->served | bit, port->resting & ~bit);
	count(&port->nb_taken_over, 1);
	owner_empty_rings(port->builtin, before);
	shard_lock(shard);
	if (shard_owner(shard) == id)
		shard->sender = id;
	shard_unlock(shard);
	return true;
}

/* How much of what is there a port may have: groups. */
static int
nb_groups(const struct shard *shard, uint32_t port)
{
	return __builtin_popcountll(
		__atomic_load_n(&shard->groups, __ATOMIC_RELAXED) &
		__atomic_load_n(&shard->builtin->port_groups[port], __ATOMIC_RELAXED));
}

/* Its owner has too many, and it is not at home there. */
static bool
is_unfair(const struct builtin_port *port, const struct shard *shard, uint32_t owner)
{
	const uint8_t *nb_served = port->builtin->nb_served;

	return owner != shard->home &&
	       __atomic_load_n(&nb_served[owner], __ATOMIC_RELAXED) >
		       __atomic_load_n(&nb_served[port->base.id], __ATOMIC_RELAXED) + 1;
}

/* By a port that looks at another one's shard: is it to be its own? */
bool
owner_adopt(struct builtin_port *port, struct shard *shard, uint64_t now)
{
	const struct seen *seen = &port->seen[shard->id];
	const uint32_t owner = shard_owner(shard);
	const int more = nb_groups(shard, port->base.id) - nb_groups(shard, owner);
	const uint64_t patience =
		port->builtin->patience * (owner == shard->home ? 1 : ADOPT_AGAIN);
	const bool absent = seen->nb_absent >= ADOPT_LOOKS && now - seen->absent_from > patience;

	if (owner == port->base.id)
		return false;
	if (more <= 0 && !absent && (more < 0 || !is_unfair(port, shard, owner)))
		return false;
	return take_over(port, shard, owner, absent && (more <= 0 || owner == shard->home));
}

/* It is this one's turn; it knows when the clock was read last. */
static void
set_own(struct builtin_port *port, unsigned int id)
{
	const uint64_t now = __atomic_load_n(&port->own->now, __ATOMIC_RELAXED);

	port->own_id = (uint8_t)id;
	port->knows_next = KNOWS_NOT;
	port->own = &port->builtin->shards[id];
	if (__atomic_load_n(&port->own->now, __ATOMIC_RELAXED) < now)
		__atomic_store_n(&port->own->now, now, __ATOMIC_RELAXED);
}

/*
 * The next one of its own that has something; if none has, the one whose turn it was, or any. The others have been looked at by that; those that
 * were taken meanwhile are not its own any more.
 */
static void
turn(struct builtin_port *port)
{
	const unsigned int last = port->own_id;
	unsigned int i = last, next = last;

	port->nb_of_turn = 0;
	for (uint64_t left = port->served; left != 0; left &= ~((uint64_t)1 << i)) {
		const uint64_t later = left & ~(((uint64_t)2 << i) - 1);
		struct shard *shard;

		i = (unsigned int)__builtin_ctzll(later != 0 ? later : left);
		shard = &port->builtin->shards[i];
		if (shard_owner(shard) != port->base.id) {
			set_served(port, port->served & ~((uint64_t)1 << i), port->resting);
			continue;
		}
		next = i;
		if (i == last || !shard_seems_empty(shard))
			break;
		shard_polled(shard);
	}
	set_own(port, next);
}

/* Its flows have all come to the home one. */
void
owner_rest(struct builtin_port *port, unsigned int id)
{
	const uint64_t bit = (uint64_t)1 << id;

	set_served(port, port->served & ~bit, port->resting | bit);
	if (port->own_id == id)
		turn(port);
	if (port->own_id == id) /* all others have been lost: its home one is taken back first */
		set_own(port, port->home->id);
}

/* Those that have something again, as a queue was not in use before, or where that came late, are served again. */
void
owner_visit_resting(struct builtin_port *port)
{
	port->rest_at = __atomic_load_n(&port->own->now, __ATOMIC_RELAXED) +
			weir_base_ns_to_cycles(port->nb_idle > 0 ? REST_IDLE_NS : REST_NS);
	for (uint64_t left = port->resting; left != 0; left &= left - 1) {
		const uint64_t bit = left & -left;
		struct shard *shard = &port->builtin->shards[__builtin_ctzll(left)];

		if (shard_owner(shard) != port->base.id) {
			set_served(port, port->served, port->resting & ~bit);
		} else if (shard_seems_empty(shard)) {
			shard_polled(shard);
		} else {
			set_served(port, port->served | bit, port->resting & ~bit);
			gather_want(port, shard);
		}
	}
}

/*
 * Before a dequeue of a port that has not just its home shard: which one is next.
 *
 * @return false: it has none
 */
bool
owner_turn(struct builtin_port *port)
{
	const uint32_t id = port->base.id, owner = shard_owner(port->home);

	if (owner != id && nb_groups(port->home, id) >= nb_groups(port->home, owner))
		take_over(port, port->home, owner, false);
	/* What waits in the next one is not counted as passed by what is taken of this one: it has its turn at once. */
	if (!owner_stays(port) || (has_several_priorities(port->builtin) &&
					  port->builtin->sched->config.starvation_bound != 0))
		turn(port);
	return shard_owner(port->own) == id;
}

/* There is nothing in the one whose turn it is. @return false: neither is there in others */
bool
owner_turn_to_next(struct builtin_port *port, unsigned int *nb_turns)
{
	const unsigned int last = port->own_id;

	if (++*nb_turns >= (unsigned int)__builtin_popcountll(port->served))
		return false;
	turn(port);
	return port->own_id != last && shard_owner(port->own) == port->base.id;
}
