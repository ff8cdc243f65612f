/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_BALANCE_H
#define SCHED_BALANCE_H

/* Flows go from who is never through with its own to who has less to do: see balance.c. */

#include "builtin.h"

/* By a port's thread, no lock is held: it found nothing. Is it to be compared with others? */
bool balance_is_due(struct builtin_port *port);
/* Likewise. @return events that it took over, with which some flows are to come: one at most */
uint16_t balance(struct builtin_port *port, struct rte_event *event);
/* Likewise: it took events over from a shard whose owner has others to do first, this one among them. */
void balance_took(struct builtin_port *port, const struct shard *from, uint64_t word);

#endif
