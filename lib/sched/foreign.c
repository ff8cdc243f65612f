/* SPDX-License-Identifier: BSD-3-Clause */

/* What is put into the shard of its flow under the lock: what others may have sent before is in its lists by then. See builtin.h. */

#include "owner.h"
#include "plain.h"

/* Into its shard, after all that is in the rings there. Any thread. */
void
builtin_insert(struct builtin *builtin, const struct rte_event *event)
{
	struct shard *shard = shard_lock_drained(builtin, event->event);

	shard_arrive(shard, event);
	shard_unlock(shard);
	announce(builtin, shard->id, 0);
}

/* What follows from atomic events that another port could have sent, of one shard, after all that it may have sent. */
static void
insert_run(struct builtin *builtin, const struct rte_event *events, unsigned int nb)
{
	struct shard *shard = &builtin->shards[event_shard(builtin, events[0].event)];

	shard_lock(shard);
	shard_drain_senders(shard);
	for (unsigned int i = 0; i < nb; i++)
		shard_arrive(shard, &events[i]);
	shard_unlock(shard);
	announce(builtin, shard->id, 0);
}

/* What waits for that, in its order. */
void
foreign_insert(struct builtin_port *port)
{
	struct builtin *builtin = port->builtin;
	const unsigned int nb = port->nb_foreign;
	unsigned int first = 0;

	port->nb_foreign = 0;
	for (unsigned int i = 1; i <= nb; i++) {
		if (i < nb && event_shard(builtin, port->foreign[i].event) ==
				      event_shard(builtin, port->foreign[first].event))
			continue;
		insert_run(builtin, &port->foreign[first], i - first);
		first = i;
	}
}

/* In its turn: what was put into rings by now comes before it, what is put there later after it. */
void
foreign_forward(struct builtin_port *port, struct rte_event event)
{
	if (port->nb_foreign == FOREIGN_MAX || (port->nb_foreign > 0 && port->touched != 0))
		foreign_insert(port);
	publish(port);
	port->foreign[port->nb_foreign++] = event;
}
