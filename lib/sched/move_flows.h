/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_MOVE_FLOWS_H
#define SCHED_MOVE_FLOWS_H

/* A move under way, once all have answered (move_flows.c), and what waits for flows that move (move_waiting.c). */

#include "move.h"
#include "shard.h"

/* A move: from a shard, to a port's home one. */
struct moving {
	struct builtin *builtin;
	const struct builtin_port *port;
	const struct move_flows *flows;
	uint64_t groups; /* that the port serves: what is of others stays */
	struct shard *from;
	uint64_t going[NB_CLASSES / 64]; /* classes that leave it */
	uint64_t others;                 /* shards, but for that one, whose locks it has, too */
	struct ready aside;              /* what was ready of those that go: that shard's nodes */
	uint32_t last[WEIR_SCHED_PRIORITIES]
		     [WEIR_SCHED_GROUPS_MAX]; /* in its lists, of what was gone through */
	uint32_t nb_lanes, nb_classes;
	uint64_t longest; /* cycles that others may have had to wait, at most */
	bool is_left;
};

/* Is a queue in use, so that it is known where its flows are, and does a port that serves these groups have them? */
static inline bool
is_usable(const struct builtin *builtin, unsigned int queue, uint64_t groups)
{
	return __atomic_load_n(&builtin->queues[queue].state, __ATOMIC_ACQUIRE) == QUEUE_USED &&
	       (groups >> builtin->queues[queue].group & 1) != 0;
}

/* Of such a queue: where its flows of a class are. */
static inline unsigned int
where(const struct builtin *builtin, unsigned int queue, uint32_t class)
{
	return __atomic_load_n(&builtin->shard_of[queue][class], __ATOMIC_RELAXED);
}

/* Likewise: do those that are in this shard go? */
static inline bool
is_of(const struct builtin *builtin, const struct move_flows *flows, unsigned int queue,
	uint32_t class, unsigned int shard)
{
	return flows->of == MOVE_OF_ANY ? class == flows->class && shard == flows->from
					: builtin->divided[queue][class] == flows->of;
}

/* Are a queue's flows of a class among those that move, and in the shard that they leave? */
static inline bool
is_leaving(const struct moving *moving, unsigned int queue, uint32_t class)
{
	const struct builtin *builtin = moving->builtin;

	return is_usable(builtin, queue, moving->groups) &&
	       where(builtin, queue, class) == moving->from->id &&
	       is_of(builtin, moving->flows, queue, class, moving->from->id);
}

static inline bool
goes(const struct moving *moving, unsigned int queue, uint32_t class)
{
	return (moving->going[class / 64] >> class % 64 & 1) != 0 &&
	       is_leaving(moving, queue, class);
}

/* move_waiting.c: under the lock of the shard that they leave */
void move_set_aside(struct moving *moving);
void move_put_back(struct moving *moving);
/* And of that where they go. */
void move_take_along(struct moving *moving);
void move_clear_empty(struct moving *moving);

#endif
