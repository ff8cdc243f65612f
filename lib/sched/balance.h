/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_BALANCE_H
#define SCHED_BALANCE_H

/* Flows go from who is never through with its own to who has less to do: see balance.c. */

#include "shard.h"

/* Under the lock: what the owner has by a look at its rings, some of which is remembered. @looks: as many as there would be if all turns were short */
static inline void
note_lately(struct shard *shard, const struct rte_event *events, uint32_t looks)
{
	const uint32_t nb = shard->nb_noted, part = (nb + LATELY_PART - 1) / LATELY_PART;

	if (nb + looks > part * LATELY_PART)
		__atomic_store_n(&shard->lately[part % LATELY],
			(uint8_t)event_class(shard->builtin, events[0].event), __ATOMIC_RELAXED);
	__atomic_store_n(&shard->nb_noted, nb + looks, __ATOMIC_RELAXED);
}

/* By a port's thread, no lock is held: it found nothing. Is it to be compared with others? */
bool balance_is_due(struct builtin_port *port);
/* Likewise. @return events that it took over, with which some flows are to come: one at most */
uint16_t balance(struct builtin_port *port, struct rte_event *event);
/* Likewise: it took events over from a shard whose owner has others to do first, this one among them. */
void balance_took(struct builtin_port *port, const struct shard *from, uint64_t word);

#endif
