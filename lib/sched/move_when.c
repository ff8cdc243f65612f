/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When is a class of flows worth moving? Who is idle takes events over from a shard whose owner has others to do first, and each costs
 * both of them lines of the other one's cache. If that goes on, and the owner is hardly ever idle, the class of such an event goes to who
 * takes it over, and the next one, until both have as much to do: a flow that keeps a core busy by itself has that for itself
 * then.
 *
 * A class that is taken over again and again is left where it is: it would be too much elsewhere, too. Where there are no more
 * classes than that, nothing is moved.
 *
 * Short events are not taken over so often: of those see balance.c.
 */

#include "move.h"

/* In a period: so many events were taken over from it, which took the owner so many times longer than a slow one takes, */
#define HELPED 4
#define LONG   2
/* and it was idle so many times less often than who helped. */
#define IDLE_TIMES 4

/* So many of the last ones that were taken over are often. */
#define OFTEN 3

/* Has it been taken over often of late? Now it has been once more. */
static bool
comes_often(struct port_move *move, uint8_t class)
{
	unsigned int nb = 0;

	for (unsigned int i = 0; i < RTE_DIM(move->taken); i++)
		nb += move->taken[i] == class;
	move->taken[move->nb_taken++ % RTE_DIM(move->taken)] = class;
	return nb >= OFTEN;
}

/* What a shard's owner did by now. */
static struct pace
pace_of(const struct shard *shard, uint64_t now)
{
	return (struct pace){
		.at = now,
		.nb_polls = __atomic_load_n(&shard->nb_polls, __ATOMIC_RELAXED),
		.nb_taken = __atomic_load_n(&shard->nb_taken, __ATOMIC_RELAXED),
	};
}

/* How often it came for nothing. Of a burst each event is one less, as if it had been busy. */
static int32_t
nb_idle(const struct pace *from, const struct pace *to)
{
	return (int32_t)(to->nb_polls - from->nb_polls - (to->nb_taken - from->nb_taken));
}

/* Did its events take long, with hardly a pause, while this port had many? */
static bool
was_busier(const struct builtin_port *port, const struct seen *seen, const struct pace *its,
	const struct pace *own)
{
	const uint32_t nb_taken = its->nb_taken - seen->its.nb_taken;

	return its->at - seen->its.at > (uint64_t)LONG * port->builtin->slow * nb_taken &&
	       nb_idle(&seen->own, own) > IDLE_TIMES * RTE_MAX(nb_idle(&seen->its, its), 1);
}

/* For a whole period, in which this port helped it all the time? It is asked once a period. */
static bool
was_overloaded(struct builtin_port *port, const struct shard *from, uint64_t now)
{
	struct seen *seen = &port->seen[from->id];
	const uint64_t since = now - seen->its.at, period = port->builtin->move_period;
	struct pace its, own;
	bool was;

	seen->nb_helped++;
	if (since < period)
		return false;
	its = pace_of(from, now);
	own = pace_of(port->home, now);
	was = since < 2 * period && seen->nb_helped > HELPED && was_busier(port, seen, &its, &own);
	seen->its = its;
	seen->own = own;
	seen->nb_helped = 0;
	return was;
}

void
move_if_worth(struct builtin_port *port, const struct shard *from, uint64_t word, uint64_t now)
{
	const struct builtin *builtin = port->builtin;
	struct move_flows flows;
	uint32_t class;
	bool often;

	if (!builtin->may_move || has_several_priorities(builtin) ||
		event_type(builtin, word) != RTE_SCHED_TYPE_ATOMIC)
		return;
	class = event_class(builtin, word);
	often = comes_often(&port->move, (uint8_t) class);
	flows = (struct move_flows){(uint8_t) class, (uint8_t)from->id, MOVE_OF_ANY};
	if (was_overloaded(port, from, now) && !often && move_are_elsewhere(port, &flows))
		move_ask(port, flows);
}
