/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_PLAIN_H
#define SCHED_PLAIN_H

/* Where a port's events go, and what most of them are like. */

#include "held.h"
#include "level.h"
#include "tell.h"

/* Parallel events stay on their core, where idle ones find them; flows go where they belong. */
static __rte_always_inline unsigned int
destination(const struct builtin_port *port, const struct queue_info *queue, uint8_t type,
	uint64_t word)
{
	if (type == RTE_SCHED_TYPE_PARALLEL && port->own != NULL)
		return port->own_id;
	return queue_shard(port->builtin, queue, word);
}

/* What was put into its ring in a shard, which is of this level. */
static inline void
publish_ring(struct builtin_port *port, unsigned int shard, unsigned int level, struct ring *ring)
{
	shard_know(port->builtin, shard, ring, &port->known[level]);
	if (&port->builtin->shards[shard] == port->own)
		ring_publish(ring);
	else
		ring_publish_far(ring);
}

/* What was published, of these priorities. */
static inline void
tell(struct builtin_port *port, unsigned int shard, uint32_t priorities)
{
	if (likely(has_short_ways(port->builtin)))
		tell_waiting(port->builtin, shard);
	else
		announce(port->builtin, shard, priorities);
}

/* All that was put into rings, which is told of later: others may have to be woken for it, which is not done under a lock. */
static inline void
publish_untold(struct builtin_port *port)
{
	for (uint64_t left = port->touched; left != 0; left &= left - 1) {
		const unsigned int shard = (unsigned int)__builtin_ctzll(left);

		for (uint32_t levels = port->sent[shard] >> SENT_LEVELS; levels != 0;
			levels &= levels - 1) {
			const unsigned int level = (unsigned int)__builtin_ctz(levels);

			publish_ring(port, shard, level, port->rings[level][shard]);
		}
	}
}

/* No lock is held. */
static inline void
tell_published(struct builtin_port *port)
{
	for (; port->touched != 0; port->touched &= port->touched - 1) {
		const unsigned int shard = (unsigned int)__builtin_ctzll(port->touched);

		tell(port, shard, port->sent[shard] & UINT8_MAX);
		port->sent[shard] = 0;
	}
}

static inline void
publish(struct builtin_port *port)
{
	publish_untold(port);
	tell_published(port);
}

/*
 * Most events go to queues that are in use, have one type and one priority, which is known to be used: nothing has to be asked of these
 * events themselves.
 */
static __rte_always_inline bool
is_plain(const struct queue_info *queue)
{
	return __atomic_load_n(&queue->is_plain, __ATOMIC_ACQUIRE);
}

/* Where a plain queue's events go, as destination() has it. */
struct way {
	const uint8_t *shard_of; /* by class */
	struct ring **rings;     /* by shard */
	uint32_t flow_mask, class_bits, class_mask;
};

static __rte_always_inline struct way
way_of(struct builtin_port *port, const struct queue_info *queue)
{
	const struct builtin *builtin = port->builtin;
	const bool stays = port->own != NULL && queue->type == RTE_SCHED_TYPE_PARALLEL;

	return (struct way){
		.shard_of = stays ? &port->own_id : queue->shard_of,
		.rings = port->rings[queue_level(queue)],
		.flow_mask = builtin->flow_mask,
		.class_bits = builtin->class_bits,
		.class_mask = stays ? 0 : builtin->class_mask,
	};
}

/* And that of what follows from a shard's ordered events. */
static __rte_always_inline struct way
way_from(struct shard *shard, const struct queue_info *queue)
{
	const struct builtin *builtin = shard->builtin;

	return (struct way){
		.shard_of = queue->shard_of,
		.rings = shard->rings_out[queue_level(queue)],
		.flow_mask = builtin->flow_mask,
		.class_bits = builtin->class_bits,
		.class_mask = builtin->class_mask,
	};
}

static __rte_always_inline unsigned int
way_to(const struct way *way, uint64_t word)
{
	const uint32_t flow = (uint32_t)word & way->flow_mask;

	return way->shard_of[(flow ^ flow >> way->class_bits) & way->class_mask];
}

/* It is held, and its credit is not reserved, nor is it an atomic one of another sender's shard, or held by word? */
static __rte_always_inline bool
is_held_plainly(uint32_t how)
{
	const struct held held = {.how = how};

	return held.kind != HELD_NOT && held.flags == 0;
}

#endif
