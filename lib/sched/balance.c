/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Short events of flows are left to their owner as long as it comes (help.c): taken over they cost more than they are. But where one port
 * does not get through its flows, as its core is slower, or as it has more of them, and another one has nothing to do for a good part of the
 * time, some of these flows are to be the other one's.
 *
 * So each port tells for how long it has had nothing to do. Who finds nothing compares once a period: much waits in a shard whose owner was idle
 * for less of it by far than this port. If that goes on, it takes some events over, one by one, and asks for the classes of their flows, which are to
 * fill half of the difference, as long as events take here and there. A class that has more than that by itself, of what waits, stays: so
 * classes that are few do not go round, and a flow that is much of all does not go to a core that is slow. When others have flows moved meanwhile,
 * it is not known any more who has how much, until the next period.
 */

#include "balance.h"
#include "look.h"
#include "move.h"
#include "owner.h"

/* A period, in those of move_when.c: who is idle now and then is so for a millisecond and longer. */
#define PERIOD 4

/* It was idle longer than the other one by this part of a period, or more, */
#define IDLE_PART 16
/* so many events wait there, */
#define WAITING_LEAST 64
/* and it was so for so many periods in a row; twice as many for each time that nothing came of it, up to so many times. */
#define PERIODS  2
#define VAIN_MAX 6

/* Events take longer than this part of slow ones: what waits is looked at when flows go, and takes as long as that more. */
#define SHORTEST_PART 5

/* Events that are taken over for that are so many gaps apart; after so many whose classes have too much it is left for now. */
#define GAPS        8
#define REFUSED_MAX 4

/* So many of what waits tell how much a class has of it; fewer than the least do not: then it may have so many times its part. */
#define SAMPLE       256
#define SAMPLE_LEAST 32
#define PARTS        2

/* Nothing was had since it found nothing before. Between the two its thread may have had other things to do. */
static void
note_idle_time(struct builtin_port *port, uint64_t now)
{
	struct port_balance *balance = &port->balance;
	const uint64_t nb = port->counts.nb_dequeued;
	const int64_t since = (int64_t)(now - balance->empty_at);

	if (since <= 0) /* the clock was read for another shard of its own since */
		return;
	if (nb == balance->nb_dequeued)
		count(&port->idle_time, RTE_MIN((uint64_t)since, port->builtin->gap));
	balance->nb_dequeued = nb;
	balance->empty_at = now;
}

static bool
is_after(uint64_t now, uint64_t at, uint64_t cycles)
{
	return (int64_t)(now - at) >= (int64_t)cycles;
}

bool
balance_is_due(struct builtin_port *port)
{
	const struct builtin *builtin = port->builtin;
	const uint64_t now = __atomic_load_n(&port->own->now, __ATOMIC_RELAXED);

	note_idle_time(port, now);
	if (!builtin->may_move || has_several_priorities(builtin))
		return false;
	return is_after(now, port->balance.at, PERIOD * builtin->move_period) ||
	       (port->balance.part > 0 &&
		       is_after(now, port->balance.acted_at, GAPS * (uint64_t)builtin->gap));
}

/* What a port did in a period. */
struct did {
	double busy, nb_events; /* cycles; that it had in these */
	double own;             /* cycles with events that nobody but itself had to do */
};

/* A shard's owner. @return false: it is not known, or did nothing, or was too fast, or another one was it before */
static bool
owner_did(struct builtin_port *port, const struct shard *shard, uint64_t since, struct did *did)
{
	const uint32_t owner = shard_owner(shard);
	struct compared *compared = &port->seen[shard->id].compared;
	const struct compared before = *compared;
	uint64_t idle;

	*compared = (struct compared){
		.idle_time =
			__atomic_load_n(&port->builtin->ports[owner].idle_time, __ATOMIC_RELAXED),
		.nb_taken = __atomic_load_n(&shard->nb_taken, __ATOMIC_RELAXED),
		.nb = port->balance.nb,
		.owner = owner,
	};
	idle = compared->idle_time - before.idle_time;
	did->busy = did->own = (double)(since - RTE_MIN(idle, since));
	did->nb_events = compared->nb_taken - before.nb_taken;
	return before.nb > 0 && before.nb + 1 == compared->nb && before.owner == owner &&
	       did->busy * SHORTEST_PART > did->nb_events * (double)port->builtin->slow &&
	       did->nb_events > 0;
}

/* The port itself. Others' events, which it took over, are about as much of its time as they are of all events. */
static struct did
port_did(struct builtin_port *port, uint64_t since)
{
	struct port_balance *balance = &port->balance;
	const uint64_t idle = port->idle_time - balance->idle_time;
	const uint64_t nb = port->counts.nb_dequeued - balance->nb_all;
	const uint64_t nb_stolen = port->counts.nb_stolen - balance->nb_stolen;
	struct did did = {.busy = (double)(since - RTE_MIN(idle, since)), .nb_events = (double)nb};

	balance->idle_time = port->idle_time;
	balance->nb_all = port->counts.nb_dequeued;
	balance->nb_stolen = port->counts.nb_stolen;
	if (nb > nb_stolen)
		did.own = did.busy * (double)(nb - nb_stolen) / (double)nb;
	return did;
}

/* Does much wait there, some of it for the port? What is in rings only is for whoever, as far as can be told. */
static bool
has_much_for(const struct shard *shard, uint64_t groups)
{
	return __atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) >= WAITING_LEAST &&
	       ((shard->all_groups & ~groups) == 0 || seem_ready(shard, groups) != 0);
}

/* The shard whose owner was busier by far, and most of all. @param[out] its  what that did */
static struct shard *
busiest(struct builtin_port *port, uint64_t since, const struct did *own, struct did *its)
{
	struct builtin *builtin = port->builtin;
	const uint64_t groups =
		__atomic_load_n(&builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	uint64_t left = __atomic_load_n(&builtin->waiting, __ATOMIC_RELAXED) & ~owner_shards(port);
	struct shard *found = NULL;

	*its = (struct did){.busy = own->own + (double)since / IDLE_PART};
	for (; left != 0; left &= left - 1) {
		struct shard *shard = &builtin->shards[__builtin_ctzll(left)];
		struct did did;

		if (owner_did(port, shard, since, &did) && did.busy > its->busy &&
			has_much_for(shard, groups)) {
			*its = did;
			found = shard;
		}
	}
	return found;
}

/* If all classes of the queue of an event that are in a shard have as much. */
static double
part_of_any(const struct shard *shard, uint64_t word)
{
	const struct builtin *builtin = shard->builtin;
	const uint8_t *shard_of = builtin->queues[word_queue(word)].shard_of;
	unsigned int nb = 0;

	for (uint32_t class = 0; class <= builtin->class_mask; class ++)
		nb += __atomic_load_n(&shard_of[class], __ATOMIC_RELAXED) == shard->id;
	return nb > PARTS ? (double)PARTS / nb : 1;
}

/* Of what waits in a shard, which part is of the class of this event? By what is in its rings. */
static double
part_of_class(struct shard *shard, uint64_t word)
{
	const struct builtin *builtin = shard->builtin;
	const uint32_t class = event_class(builtin, word);
	uint32_t nb = 0, nb_of = 0;

	if (!shard_trylock(shard))
		return 1;
	for (unsigned int i = shard_ring_from(shard, 0); i < RINGS_MAX;
		i = shard_ring_from(shard, i + 1)) {
		const struct ring *ring = &shard->rings[i];
		const uint32_t most = RTE_MIN(ring_count(ring), (uint32_t)SAMPLE - nb);

		for (uint32_t e = 0; e < most; e++)
			nb_of += event_class(builtin, ring_peek(ring, e)->event) == class;
		nb += most;
	}
	shard_unlock(shard);
	return nb < SAMPLE_LEAST ? part_of_any(shard, word) : (double)(nb_of + 1) / (nb + 1);
}

/* Half of the part of what its owner did which would take the port so long that both were as busy. */
static double
part_to_move(const struct did *its, const struct did *own)
{
	const double per_event = its->busy / its->nb_events;
	const double slower = own->nb_events > 0 ? own->busy / own->nb_events / per_event : 1;

	return (its->busy - own->own) / its->busy / (1 + slower) / 2;
}

/* Has that shard's owner been the busiest for long enough? */
static bool
is_lasting(struct port_balance *balance, struct shard *from)
{
	balance->nb_periods = from != NULL && from == balance->from ? balance->nb_periods + 1 : 0;
	balance->from = from;
	return from != NULL && balance->nb_periods + 1 >= (uint32_t)PERIODS << balance->nb_vain;
}

/* What came of what was tried in the period that is over? */
static void
note_success(struct builtin_port *port)
{
	struct port_balance *balance = &port->balance;

	if (port->nb_moved != balance->nb_moved)
		balance->nb_vain = 0;
	else if (balance->has_tried && balance->nb_vain < VAIN_MAX)
		balance->nb_vain++;
	if (balance->has_tried && balance->nb_vain > 0)
		balance->from = NULL;
	balance->has_tried = false;
	balance->nb_moved = port->nb_moved;
}

static void
compare(struct builtin_port *port)
{
	struct port_balance *balance = &port->balance;
	const uint64_t since = balance->empty_at - balance->at;
	const struct did own = port_did(port, since);
	struct did its;
	struct shard *from;

	balance->at = balance->empty_at;
	balance->nb++;
	note_success(port);
	from = busiest(port, since, &own, &its);
	balance->part = is_lasting(balance, from) ? part_to_move(&its, &own) : 0;
	balance->nb_refused = 0;
	balance->nb_moves = __atomic_load_n(&port->builtin->nb_moves, __ATOMIC_RELAXED);
}

/* The class of an event that was taken over is to come, if it is an atomic one, and has no more than the part that may. */
static void
ask_for_class(struct builtin_port *port, uint64_t word)
{
	const struct builtin *builtin = port->builtin;
	struct port_balance *balance = &port->balance;
	const struct move_flows flows = {
		(uint8_t)event_class(builtin, word), (uint8_t)balance->from->id, MOVE_OF_ANY};
	const double part = part_of_class(balance->from, word);

	balance->has_tried = true;
	if (event_type(builtin, word) == RTE_SCHED_TYPE_ATOMIC && part <= balance->part &&
		event_shard(builtin, word) == balance->from->id && move_ask(port, flows))
		balance->part -= part;
	else if (++balance->nb_refused == REFUSED_MAX)
		balance->part = 0;
}

uint16_t
balance(struct builtin_port *port, struct rte_event *event)
{
	const struct builtin *builtin = port->builtin;
	struct port_balance *balance = &port->balance;

	if (is_after(balance->empty_at, balance->at, PERIOD * builtin->move_period))
		compare(port);
	if (balance->nb_moves != __atomic_load_n(&builtin->nb_moves, __ATOMIC_RELAXED))
		balance->part = 0;
	balance->acted_at = balance->empty_at;
	if (balance->part <= 0 || port->move.own != 0 ||
		steal(port, balance->from, event, 1, UINT32_MAX, HELP_SOME) == 0)
		return 0;
	ask_for_class(port, event->event);
	return 1;
}
