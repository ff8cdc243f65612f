/* SPDX-License-Identifier: BSD-3-Clause */

/* Waiting until others make room. */

#include <sched.h>

#include "bridge_private.h"

#define SPINS_BEFORE_YIELD 64

/* Not within a receive function: it holds what others may wait for. */
bool
bridge_may_wait(const struct bridge_graph *bound)
{
	return !weir_node_waiting_is_stopped() && !bound->serves &&
	       weir_em_current_object(bound->core) == WEIR_EM_NONE;
}

/* There may be nobody else to make room: serve events here. They are of another graph than the one that is walked. */
void
bridge_make_room(const struct bridge_graph *bound, uint32_t *spins)
{
	static const struct weir_em_dispatch_options round = {.nb_rounds = 1};

	if (bound->dispatches && weir_em_dispatch(bound->core, &round) > 0)
		return;
	/* What would make room may wait for this port. */
	if (!bound->dispatches)
		weir_em_producer_tend(bound->core);
	if (++*spins % SPINS_BEFORE_YIELD == 0)
		sched_yield();
	else
		rte_pause();
}
