/* SPDX-License-Identifier: BSD-3-Clause */

/* Credits: how many events may be inside. Ports take and return some at a time. */

#include "builtin.h"

/*
 * How many at a time. To a producer none come back: it takes what others keep at most; where there are so few that none can lie with a port, what it
 * uses.
 */
static int32_t
most_to_take(const struct builtin_port *port)
{
	const int32_t quantum = port->builtin->quantum;

	return port->own == NULL && quantum > 1 ? 2 * quantum : quantum;
}

/* For a NEW event, by a port that has none left. */
bool
credit_take(struct builtin_port *port)
{
	struct builtin *builtin = port->builtin;
	const int32_t most = most_to_take(port);
	int32_t limit = (int32_t)builtin->sched->config.new_threshold;
	int32_t inside, want;

	inside = __atomic_load_n(&builtin->inside, __ATOMIC_RELAXED);
	do {
		want = RTE_MIN(limit - inside, most);
		if (want <= 0)
			return false;
	} while (!__atomic_compare_exchange_n(&builtin->inside, &inside, inside + want, true,
		__ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	port_set_credits(port, want - 1);
	return true;
}

static void
give_back(struct builtin_port *port, int32_t nb)
{
	__atomic_fetch_sub(&port->builtin->inside, nb, __ATOMIC_RELEASE);
	port_set_credits(port, port->credits - nb);
}

/* Likewise, but it does not stay with the port, or not alone. */
void
credit_put_back(struct builtin_port *port, bool reserved)
{
	struct builtin *builtin = port->builtin;

	if (reserved) {
		__atomic_fetch_add(&builtin->reserved, 1, __ATOMIC_RELEASE);
		return;
	}
	port_set_credits(port, port->credits + 1);
	if (builtin->quantum == 1)
		give_back(port, 1); /* there are so few that none can lie with a port */
	else if (port->credits >= 2 * builtin->quantum)
		give_back(port, builtin->quantum);
}

/* Nothing to do: others may want them. */
void
credit_flush(struct builtin_port *port)
{
	if (port->credits > 0)
		give_back(port, port->credits);
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
