/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_SINGLE_H
#define SCHED_SINGLE_H

/* How single events are enqueued, and what is left to bursts' way. */

#include "builtin.h"

/* enqueue.c: between move_enter() and move_leave(), which it does. */
uint16_t enqueue_burst(struct builtin_port *port, const struct rte_event *events, uint16_t nb);

#endif
