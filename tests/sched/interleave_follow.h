/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_SCHED_INTERLEAVE_FOLLOW_H
#define TESTS_SCHED_INTERLEAVE_FOLLOW_H

/* What follows from a flow of queue 0 goes to one of queue 1, where it has to come in order. After interleave_stand.h. */

static uint32_t to_flow;

/* One that is ready, or is what the owner would go on with. */
static bool
take_from(struct shard *from, struct builtin_port *port, struct rte_event *event)
{
	uint16_t got = 0;

	shard_lock(from);
	shard_share_next(from);
	if (from->nb_ready > 0)
		got = shard_take(from, port, event, 1, UINT32_MAX);
	shard_unlock(from);
	return got == 1;
}

static void
send_on(struct builtin_port *port, struct rte_event event)
{
	event.op = RTE_EVENT_OP_FORWARD;
	event.queue_id = 1;
	event.flow_id = to_flow & 0xfffff;
	CHECK(weir_sched_enqueue(&port->base, &event, 1) == 1);
}

/* One event that is ready goes on, or out. @return how many came out before it, or with it */
static unsigned int
go_on(struct shard *from, unsigned int nb_out)
{
	struct rte_event event;

	shard_lock(from);
	shard_drain_all(from);
	shard_unlock(from);
	if (!take_from(from, ports[0], &event))
		return nb_out;
	if (event.queue_id == 0) {
		send_on(ports[0], event);
		return nb_out;
	}
	CHECK(event.u64 == nb_out);
	event.op = RTE_EVENT_OP_RELEASE;
	CHECK(weir_sched_enqueue(&ports[0]->base, &event, 1) == 1);
	return nb_out + 1;
}

#endif
