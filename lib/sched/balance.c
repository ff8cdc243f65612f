/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When do flows go to another port's shard because of load? A port that has nothing to do takes events over (help.c), and one that has nothing of
 * so high a priority (higher.c); but each costs both of them lines of the other one's cache, and short events of flows are left to their owner as
 * long as it comes, as they cost less than that. So where one port does not get through its flows, as its core is slower, or as it has more of them,
 * while another one has time left, some of these flows are to be the other one's.
 *
 * Each port tells for how long it has had nothing to do. What is left, less what it spent on others' events, it had to do of its own. Who finds
 * nothing, or takes events over, compares once a period: had a shard's owner more to do by far, and does much wait there, or was much taken over?
 * If that goes on, classes of flows are to come that fill half of the difference, as long as events take here and there: one by one, each that of
 * an event that is taken over. A class that has more than that by itself, of what waits, or of what its owner had lately, stays: so
 * classes that are few do not go round, and a flow that is much of all does not go to a core that is slow. When others have flows moved meanwhile,
 * it is not known any more who has how much, until the next period.
 */

#include <math.h>

#include "balance.h"
#include "look.h"
#include "move.h"
#include "owner.h"

/* It had less to do of its own than the other one by this part of a period, or more, */
#define IDLE_PART 16
/* so many events wait there, */
#define WAITING_LEAST 64
/* or events were taken over so often, and it is more by so many standard deviations, too, if they come by chance, */
#define HELPED     16
#define DEVIATIONS 2
/* and it was so for so many periods in a row. Each time that nothing came of it, it has to wait for twice as many, up to so many times. */
#define PERIODS  2
#define VAIN_MAX 6

/* Events take longer than this part of slow ones: what waits is looked at when flows go, and takes as long as that more. */
#define SHORTEST_PART 5

/*
 * Classes are asked for so many gaps apart. After so many that have too much, or cannot be had, it is left for now: where events are taken over anyway,
 * one counts once; where they are for that alone, so many times.
 */
#define GAPS           8
#define REFUSED_MAX    16
#define REFUSED_STOLEN 4

/* It is looked at the time, and at how things are, when events were taken over so often. */
#define TAKEN_PER_LOOK 8

/* So many of what is in rings tell how much a class has of it; fewer than the least do not: then it may have so many times its part. */
#define SAMPLE       256
#define SAMPLE_LEAST 32
#define PARTS        2

/* Of the last events that its owner had, so many of a class are not there by chance. */
#define OFTEN 3

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
	if (!builtin->may_move)
		return false;
	return is_after(now, port->balance.at, builtin->balance_period) ||
	       (port->balance.part > 0 &&
		       is_after(now, port->balance.acted_at, GAPS * (uint64_t)builtin->gap));
}

/* What a port did in a period. */
struct did {
	double busy, nb_events; /* cycles; that it had in these */
	double own;             /* cycles with events that nobody but itself had to do */
};

static struct done
done_by(const struct builtin_port *port)
{
	return (struct done){
		.idle_time = __atomic_load_n(&port->idle_time, __ATOMIC_RELAXED),
		.nb_dequeued = __atomic_load_n(&port->counts.nb_dequeued, __ATOMIC_RELAXED),
		.nb_stolen = __atomic_load_n(&port->counts.nb_stolen, __ATOMIC_RELAXED),
	};
}

/* Others' events, which it took over, are about as much of its time as they are of all events. */
static struct did
did_between(const struct done *from, const struct done *to, uint64_t since)
{
	const uint64_t idle = to->idle_time - from->idle_time;
	const uint64_t nb = to->nb_dequeued - from->nb_dequeued;
	const uint64_t nb_stolen = to->nb_stolen - from->nb_stolen;
	struct did did = {.busy = (double)(since - RTE_MIN(idle, since)), .nb_events = (double)nb};

	if (nb > nb_stolen)
		did.own = did.busy * (double)(nb - nb_stolen) / (double)nb;
	return did;
}

/* A shard's owner. @return false: it is not known, or did nothing, or was too fast, or another one was it before */
static bool
owner_did(struct builtin_port *port, const struct shard *shard, uint64_t since, struct did *did)
{
	const uint32_t owner = shard_owner(shard);
	struct compared *compared = &port->seen[shard->id].compared;
	const struct compared before = *compared;

	compared->done = done_by(&port->builtin->ports[owner]);
	compared->nb = port->balance.nb;
	compared->owner = owner;
	*did = did_between(&before.done, &compared->done, since);
	return before.nb > 0 && before.nb + 1 == compared->nb && before.owner == owner &&
	       did->busy * SHORTEST_PART > did->nb_events * (double)port->builtin->slow &&
	       did->own > 0;
}

/* Does much wait there, some of it for the port? What is in rings only is for whoever, as far as can be told. */
static bool
has_much_for(const struct shard *shard, uint64_t groups)
{
	return __atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) >= WAITING_LEAST &&
	       ((shard->all_groups & ~groups) == 0 || seem_ready(shard, groups) != 0);
}

/* Was much taken over from there, by whom ever, since the last comparison? */
static bool
is_helped(const struct shard *shard, struct compared *compared)
{
	const uint32_t before = compared->nb_stolen;

	compared->nb_stolen = __atomic_load_n(&shard->nb_stolen, __ATOMIC_RELAXED);
	return compared->nb_stolen - before >= HELPED;
}

/* It did so much by chance: of few events there may be more in one period than in another. */
static double
by_chance(const struct did *did)
{
	return DEVIATIONS * did->busy / sqrt(did->nb_events);
}

/* The shard whose owner had more of its own to do by far, and most of all. @param[out] its  what that did */
static struct shard *
busiest(struct builtin_port *port, uint64_t since, const struct did *own, struct did *its)
{
	struct builtin *builtin = port->builtin;
	const uint64_t groups =
		__atomic_load_n(&builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	const double least = own->own + (double)since / IDLE_PART;
	uint64_t left = __atomic_load_n(&builtin->waiting, __ATOMIC_RELAXED) & ~owner_shards(port);
	struct shard *found = NULL;

	*its = (struct did){.own = least};
	for (; left != 0; left &= left - 1) {
		struct shard *shard = &builtin->shards[__builtin_ctzll(left)];
		struct compared *compared = &port->seen[shard->id].compared;
		const bool helped = is_helped(shard, compared);
		struct did did;

		if (owner_did(port, shard, since, &did) && did.own > its->own &&
			(int32_t)(port->balance.nb - compared->vain_until) >= 0 &&
			(has_much_for(shard, groups) ||
				(helped && did.own - by_chance(&did) > least))) {
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

/* Of what its owner had lately: none comes to that often by chance. */
static double
part_of_lately(const struct shard *shard, uint32_t class)
{
	const uint32_t nb_noted = __atomic_load_n(&shard->nb_noted, __ATOMIC_RELAXED);
	const uint32_t nb = RTE_MIN(nb_noted / LATELY_PART, (uint32_t)LATELY);
	uint32_t nb_of = 0;

	for (uint32_t i = 0; i < nb; i++)
		nb_of += __atomic_load_n(&shard->lately[i], __ATOMIC_RELAXED) == class;
	return nb_of >= OFTEN ? (double)nb_of / nb : 0;
}

/* Under the lock: how many rings have something, as far as they were looked at. */
static unsigned int
nb_rings_with_any(struct shard *shard)
{
	unsigned int nb = 0;

	for (unsigned int i = shard_ring_from(shard, 0); i < shard->nb_rings;
		i = shard_ring_from(shard, i + 1))
		nb += ring_count(&shard->rings[i]) > 0;
	return nb;
}

/* Under the lock: of what is in the rings, by some of each; 0: that is too little to tell. */
static double
part_of_rings(struct shard *shard, uint32_t class)
{
	const uint32_t each = RTE_MAX(SAMPLE / RTE_MAX(nb_rings_with_any(shard), 1u), 1u);
	double nb = 0, nb_of = 0;

	for (unsigned int i = shard_ring_from(shard, 0); i < shard->nb_rings;
		i = shard_ring_from(shard, i + 1)) {
		const struct ring *ring = &shard->rings[i];
		const uint32_t count = ring_count(ring), most = RTE_MIN(count, each);
		uint32_t seen = 0;

		for (uint32_t e = 0; e < most; e++)
			seen += event_class(shard->builtin, ring_peek(ring, e)->event) == class;
		nb += count;
		nb_of += most > 0 ? (double)seen * count / most : 0;
	}
	return nb < SAMPLE_LEAST ? 0 : (nb_of + 1) / (nb + 1);
}

/* Of what a shard's owner has to do, which part is of the class of this event? */
static double
part_of_class(struct shard *shard, uint64_t word)
{
	const uint32_t class = event_class(shard->builtin, word);
	double waiting;

	if (!shard_trylock(shard))
		return 1;
	waiting = part_of_rings(shard, class);
	shard_unlock(shard);
	if (waiting == 0)
		waiting = part_of_any(shard, word);
	return RTE_MAX(waiting, part_of_lately(shard, class));
}

/* Half of the part of what its owner did of its own which would take the port so long that both were as busy. */
static double
part_to_move(const struct did *its, const struct did *own)
{
	const double per_event = its->busy / its->nb_events;
	const double slower = own->nb_events > 0 ? own->busy / own->nb_events / per_event : 1;

	return (its->own - own->own) / its->own / (1 + slower) / 2;
}

/* Has that shard's owner been the busiest for long enough? */
static bool
is_lasting(struct port_balance *balance, struct shard *from)
{
	balance->nb_periods = from != NULL && from == balance->from ? balance->nb_periods + 1 : 0;
	balance->from = from;
	return from != NULL && balance->nb_periods + 1 >= PERIODS;
}

/* What came of what was tried in the period that is over? Of a shard of which nothing can be had others are not to be hidden. */
static void
note_success(struct builtin_port *port)
{
	struct port_balance *balance = &port->balance;
	struct compared *compared;

	if (balance->has_tried && balance->from != NULL) {
		compared = &port->seen[balance->from->id].compared;
		if (port->nb_moved != balance->nb_moved) {
			compared->nb_vain = 0;
		} else {
			if (compared->nb_vain < VAIN_MAX)
				compared->nb_vain++;
			compared->vain_until = balance->nb + (PERIODS << compared->nb_vain);
		}
	}
	balance->has_tried = false;
	balance->nb_moved = port->nb_moved;
}

static void
compare(struct builtin_port *port, uint64_t now)
{
	struct port_balance *balance = &port->balance;
	const uint64_t since = now - balance->at;
	const struct done done = done_by(port);
	const struct did own = did_between(&balance->done, &done, since);
	struct did its;
	struct shard *from;

	balance->at = now;
	balance->nb++;
	balance->done = done;
	note_success(port);
	from = busiest(port, since, &own, &its);
	balance->part = is_lasting(balance, from) ? part_to_move(&its, &own) : 0;
	balance->nb_refused = 0;
	balance->nb_moves = __atomic_load_n(&port->builtin->nb_moves, __ATOMIC_RELAXED);
}

/* Are flows to come, and one that may be asked for now? */
static bool
wants_flows(struct builtin_port *port, uint64_t now)
{
	const struct builtin *builtin = port->builtin;
	struct port_balance *balance = &port->balance;

	if (is_after(now, balance->at, builtin->balance_period))
		compare(port, now);
	if (balance->nb_moves != __atomic_load_n(&builtin->nb_moves, __ATOMIC_RELAXED))
		balance->part = 0;
	return balance->part > 0 && port->move.own == 0 &&
	       is_after(now, balance->acted_at, GAPS * (uint64_t)builtin->gap);
}

/*
 * The class of an event that was taken over is to come, if it is an atomic one, and has no more than the part that may. After too many that have more,
 * others' turn comes; those weigh most for which the event was taken over.
 */
static void
ask_for_class(struct builtin_port *port, uint64_t word, uint32_t weight)
{
	const struct builtin *builtin = port->builtin;
	struct port_balance *balance = &port->balance;
	const struct move_flows flows = {
		(uint8_t)event_class(builtin, word), (uint8_t)balance->from->id, MOVE_OF_ANY};
	double part = 1;

	/* Which takes the lock there. */
	if (event_type(builtin, word) == RTE_SCHED_TYPE_ATOMIC &&
		event_shard(builtin, word) == balance->from->id)
		part = part_of_class(balance->from, word);
	if (part <= balance->part && move_ask(port, flows)) {
		balance->has_tried = true;
		balance->part -= part;
		return;
	}
	balance->nb_refused += weight;
	if (balance->nb_refused < REFUSED_MAX)
		return;
	balance->has_tried = true;
	balance->part = 0;
}

uint16_t
balance(struct builtin_port *port, struct rte_event *event)
{
	struct port_balance *balance = &port->balance;
	const uint64_t now = balance->empty_at;

	if (!wants_flows(port, now))
		return 0;
	balance->acted_at = now;
	if (steal(port, balance->from, event, 1, UINT32_MAX, HELP_SOME) == 0)
		return 0;
	ask_for_class(port, event->event, REFUSED_STOLEN);
	return 1;
}

static void
took_at(struct builtin_port *port, const struct shard *from, uint64_t word, uint64_t now)
{
	struct port_balance *balance = &port->balance;

	if (!wants_flows(port, now) || balance->from != from)
		return;
	balance->acted_at = now;
	ask_for_class(port, word, 1);
}

void
balance_took(struct builtin_port *port, const struct shard *from, uint64_t word)
{
	/* Now and then, as that takes a look at the clock. */
	if (port->builtin->may_move && ++port->seen[from->id].nb_helped % TAKEN_PER_LOOK == 0)
		took_at(port, from, word, weir_base_cycles());
}
