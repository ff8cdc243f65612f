/* SPDX-License-Identifier: BSD-3-Clause */

/* Credits: how many events may be inside. Ports take and return some at a time. */

#include "builtin.h"

/*
 * Of the credits a quarter may lie with ports. Half of that each has its part of, for good, if that is not too little or too much; the rest is
 * for those that take any, so that others cost them nothing.
 */
#define LIE_SHARE 4

/* That may lie with a port, at most; if there are fewer for each than the least, none. */
#define LIE_MOST  512
#define LIE_LEAST 4

/* So many at first, and twice as many each time, if there are: who used a few only, and does not come any more, keeps little. */
#define LIE_FIRST 8

/* Of those that it has. */
static void
keep_only(struct builtin_port *port, int32_t have, int32_t kept)
{
	__atomic_fetch_sub(&port->builtin->inside, have - kept, __ATOMIC_RELEASE);
	port_set_credits(port, kept);
}

/* Nothing is inside, and no port has any. */
void
credit_reset(struct builtin *builtin)
{
	const int32_t nb_ports = (int32_t)builtin->sched->config.nb_ports;
	const int32_t may_lie = (int32_t)builtin->sched->config.new_threshold / LIE_SHARE;
	const int32_t least = RTE_MIN(may_lie / 2 / nb_ports, LIE_MOST);

	builtin->lie_least = least < LIE_LEAST ? 0 : least;
	builtin->may_lie = builtin->may_lie_left = may_lie - builtin->lie_least * nb_ports;
	builtin->nb_takers = 0;
	builtin->inside = 0;
	for (int32_t i = 0; i < nb_ports; i++) {
		builtin->ports[i].credits = 0;
		builtin->ports[i].most_credits = builtin->lie_least;
		builtin->ports[i].takes_credits = false;
	}
}

/* Its own, and as much of the rest as each other one has that takes any. */
static int32_t
fair_part(struct builtin_port *port)
{
	struct builtin *builtin = port->builtin;
	int32_t part;

	if (!port->takes_credits)
		__atomic_fetch_add(&builtin->nb_takers, 1, __ATOMIC_RELAXED);
	port->takes_credits = true;
	part = builtin->lie_least +
	       builtin->may_lie / (int32_t)__atomic_load_n(&builtin->nb_takers, __ATOMIC_RELAXED);
	if (part < LIE_LEAST)
		return 0;
	return RTE_MIN(RTE_MIN(part, LIE_MOST), RTE_MAX(2 * port->most_credits, LIE_FIRST));
}

/*
 * The port's part becomes a fair one: less is given up, for more it may have to wait until others have come here. So no more lies with ports
 * than may, whichever of them do not come any more. After their common line was written for another reason: it is here then.
 */
static void
share(struct builtin_port *port)
{
	struct builtin *builtin = port->builtin;
	const int32_t more = fair_part(port) - port->most_credits;
	int32_t left, taken;

	if (more < 0) {
		const int32_t most = port->most_credits + more;

		if (port->credits > most)
			keep_only(port, port->credits, most);
		port->most_credits = most;
		__atomic_fetch_add(&builtin->may_lie_left, -more, __ATOMIC_RELEASE);
		return;
	}
	left = __atomic_load_n(&builtin->may_lie_left, __ATOMIC_RELAXED);
	do {
		taken = RTE_MIN(more, left);
		if (taken == 0)
			return;
	} while (!__atomic_compare_exchange_n(&builtin->may_lie_left, &left, left - taken, true,
		__ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	port->most_credits += taken;
}

/* At a time. To a producer none come back: it takes what may lie with it. */
static int32_t
most_to_take(const struct builtin_port *port)
{
	return RTE_MAX(1, port->own == NULL ? port->most_credits : port->most_credits / 2);
}

/* For a NEW event, by a port that has none left. */
bool
credit_take(struct builtin_port *port)
{
	struct builtin *builtin = port->builtin;
	int32_t limit = (int32_t)builtin->sched->config.new_threshold;
	const int32_t most = most_to_take(port);
	int32_t inside, want;

	inside = __atomic_load_n(&builtin->inside, __ATOMIC_RELAXED);
	do {
		want = RTE_MIN(limit - inside, most);
		if (want <= 0)
			return false;
	} while (!__atomic_compare_exchange_n(&builtin->inside, &inside, inside + want, true,
		__ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	port_set_credits(port, want - 1);
	share(port);
	return true;
}

/* Likewise, but they do not stay with the port, or not all of them. */
void
credit_put_back(struct builtin_port *port, int32_t nb, bool reserved)
{
	if (reserved) {
		__atomic_fetch_add(&port->builtin->reserved, nb, __ATOMIC_RELEASE);
		return;
	}
	keep_only(port, port->credits + nb, port->most_credits / 2);
	share(port);
}

/* Nothing to do: others may want them. */
void
credit_flush(struct builtin_port *port)
{
	if (port->credits > 0)
		keep_only(port, port->credits, 0);
}

/* Take up to @nb of the reserved ones that are counted from bit @from on; to bits @to each is added. @return how many */
static uint32_t
take_reserved(struct builtin *builtin, unsigned int from, uint32_t nb, uint64_t to)
{
	uint64_t before = __atomic_load_n(&builtin->reserved, __ATOMIC_RELAXED), after;
	uint32_t taken;

	do {
		taken = RTE_MIN(nb, (uint32_t)(before >> from));
		if (taken == 0)
			return 0;
		after = before - ((uint64_t)taken << from) + taken * to;
	} while (!__atomic_compare_exchange_n(
		&builtin->reserved, &before, after, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	return taken;
}

uint32_t
builtin_reserve(struct weir_sched *sched, uint32_t nb)
{
	return take_reserved(sched->own, 0, nb, (uint64_t)1 << CREDITS_GRANTED);
}

/* No more than were granted. */
void
builtin_unreserve(struct weir_sched *sched, uint32_t nb)
{
	take_reserved(sched->own, CREDITS_GRANTED, nb, 1);
}

/* One that was granted goes in. */
bool
credit_use_reserved(struct builtin *builtin)
{
	return take_reserved(builtin, CREDITS_GRANTED, 1, 0) == 1;
}

void
credit_reset_reserved(struct builtin *builtin)
{
	uint64_t before = __atomic_load_n(&builtin->reserved, __ATOMIC_RELAXED), granted;

	do
		granted = before >> CREDITS_GRANTED;
	while (!__atomic_compare_exchange_n(&builtin->reserved, &before,
		granted << CREDITS_GRANTED | (builtin->sched->config.nb_reserved - granted), true,
		__ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}
