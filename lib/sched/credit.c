/* SPDX-License-Identifier: BSD-3-Clause */

/* Credits: how many events may be inside. Ports take and return some at a time. */

#include "builtin.h"

/* For a NEW event, by a port that has none left. To a producer none come back: it takes at a time what others keep at most. */
bool
credit_take(struct builtin_port *port)
{
	struct builtin *builtin = port->builtin;
	const int32_t most = port->own == NULL ? 2 * builtin->quantum : builtin->quantum;
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

/* Take up to @nb from a counter that must not go below zero. */
static uint32_t
take_from(int32_t *counter, uint32_t nb)
{
	int32_t left = __atomic_load_n(counter, __ATOMIC_RELAXED), taken;

	do {
		taken = (int32_t)RTE_MIN(nb, (uint32_t)RTE_MAX(left, 0));
		if (taken == 0)
			return 0;
	} while (!__atomic_compare_exchange_n(
		counter, &left, left - taken, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	return (uint32_t)taken;
}

uint32_t
builtin_reserve(struct weir_sched *sched, uint32_t nb)
{
	struct builtin *builtin = sched->own;
	uint32_t granted = take_from(&builtin->reserved, nb);

	__atomic_fetch_add(&builtin->granted, (int32_t)granted, __ATOMIC_RELEASE);
	return granted;
}

/* No more than were granted. */
void
builtin_unreserve(struct weir_sched *sched, uint32_t nb)
{
	struct builtin *builtin = sched->own;
	uint32_t given = take_from(&builtin->granted, nb);

	__atomic_fetch_add(&builtin->reserved, (int32_t)given, __ATOMIC_RELEASE);
}

/* One that was granted goes in. */
bool
credit_use_reserved(struct builtin *builtin)
{
	return take_from(&builtin->granted, 1) == 1;
}
