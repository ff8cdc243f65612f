/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_SINGLE_H
#define SCHED_SINGLE_H

/* The ways in which events are enqueued. Each is called between move_enter() and move_leave(), which it does. */

#include "own_lock.h"

/* burst.c: more than one */
uint16_t enqueue_alike(struct builtin_port *port, const struct rte_event *events, uint16_t nb);
/* enqueue.c: whatever they are */
uint16_t enqueue_burst(struct builtin_port *port, const struct rte_event *events, uint16_t nb);

#endif
