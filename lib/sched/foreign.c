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

/* More than so many events are not looked through. */
#define LOOKED_THROUGH_MAX 1024

/* The flows of some events, and a filter that tells nearly all others at once. */
struct flows {
	uint32_t keys[FOREIGN_MAX];
	unsigned int nb;
	uint64_t filter[4];
	uint32_t levels; /* of rings that they go by */
};

static inline uint32_t
flow_key(const struct builtin *builtin, uint64_t word)
{
	return (uint32_t)word_queue(word) << 20 | (word_flow(word) & builtin->flow_mask);
}

/* Queues, of which there are few, are told apart by other bits than neighbouring flows. */
static inline uint32_t
filter_bit(uint32_t key)
{
	return (key ^ key >> 20 << 5) & 255;
}

static void
flows_of(const struct builtin *builtin, const struct rte_event *events, unsigned int nb,
	struct flows *flows)
{
	*flows = (struct flows){.nb = nb};
	for (unsigned int i = 0; i < nb; i++) {
		const uint32_t key = flow_key(builtin, events[i].event), bit = filter_bit(key);

		flows->levels |= 1u << queue_level(&builtin->queues[word_queue(events[i].event)]);
		flows->keys[i] = key;
		flows->filter[bit / 64] |= UINT64_C(1) << bit % 64;
	}
}

static inline bool
is_among(const struct flows *flows, uint32_t key)
{
	const uint32_t bit = filter_bit(key);

	if ((flows->filter[bit / 64] >> bit % 64 & 1) == 0)
		return false;
	for (unsigned int i = 0; i < flows->nb; i++)
		if (flows->keys[i] == key)
			return true;
	return false;
}

/* How many events there are in a ring up to the last one of these flows; if there are very many, all. */
static uint32_t
nb_up_to_last(const struct builtin *builtin, const struct ring *ring, const struct flows *flows)
{
	uint32_t nb = ring_count(ring);

	if (nb > LOOKED_THROUGH_MAX)
		return nb;
	while (nb > 0 && !is_among(flows, flow_key(builtin, ring_peek(ring, nb - 1)->event)))
		nb--;
	return nb;
}

/*
 * Under the lock: what ports that may be senders sent of these flows goes to the lists, and what is in front of that. All else stays where it is:
 * it would have to be fetched from there, and its owner would have to fetch what lists are made of.
 */
static void
drain_flows(struct shard *shard, const struct flows *flows)
{
	shard_take_back(shard, false);
	for (unsigned int i = shard_ring_from(shard, 0); i < shard->nb_rings;
		i = shard_ring_from(shard, i + 1)) {
		struct ring *ring = &shard->rings[i];

		if ((flows->levels >> ring->level & 1) == 0 ||
			ring->sender >= WEIR_SCHED_PORTS_MAX ||
			(shard->builtin->senders >> ring->sender & 1) == 0)
			continue;
		shard_look_at_ring(shard, ring);
		shard_drain_ring(shard, ring, nb_up_to_last(shard->builtin, ring, flows));
	}
}

/*
 * What follows from atomic events that another port could have sent, of one shard, after all that it may have sent of their flows. Where
 * the parallel ones among them go was looked up, and may be another one by now: other flows do not change to another shard meanwhile.
 */
static void
insert_run(struct builtin *builtin, struct shard *shard, const struct rte_event *events,
	unsigned int nb)
{
	struct flows flows;

	flows_of(builtin, events, nb, &flows);
	shard_lock(shard);
	drain_flows(shard, &flows);
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
	unsigned int end;

	port->nb_foreign = 0;
	for (unsigned int first = 0; first < nb; first = end) {
		const unsigned int shard = event_shard(builtin, port->foreign[first].event);

		end = first + 1;
		while (end < nb && event_shard(builtin, port->foreign[end].event) == shard)
			end++;
		insert_run(builtin, &builtin->shards[shard], &port->foreign[first], end - first);
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
