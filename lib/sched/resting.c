/* SPDX-License-Identifier: BSD-3-Clause */

/* Ports before the scheduler is started, and once it was stopped: nothing is taken, nothing comes, and that is counted. */

#include <errno.h>

#include <rte_errno.h>

#include "sched_private.h"

static void
count_resting(struct weir_sched_port *port, uint16_t nb)
{
	__atomic_fetch_add(&port->sched->nb_resting, nb, __ATOMIC_RELAXED);
}

static uint16_t
enqueue(struct weir_sched_port *port, const struct rte_event *events, uint16_t nb)
{
	count_resting(port, nb);
	rte_errno = EINVAL;
	return 0;
}

static uint16_t
dequeue(struct weir_sched_port *port, struct rte_event *events, uint16_t nb)
{
	return 0;
}

static int
tag_switch(struct weir_sched_port *port, struct rte_event *event, uint32_t flow, uint8_t type)
{
	count_resting(port, 1);
	return -EINVAL;
}

const struct weir_sched_port_ops sched_resting_ops = {
	.enqueue = enqueue,
	.dequeue = dequeue,
	.tag_switch = tag_switch,
};
