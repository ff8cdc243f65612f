/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_TELL_H
#define SCHED_TELL_H

/* What a shard has got is told of, in words that others look at: each is written only when it changes. */

#include "priority.h"

/* Before something is published in a ring for the first time. @known: the sender's */
static inline void
shard_know(struct builtin *builtin, unsigned int to, const struct ring *ring, uint64_t *known)
{
	struct shard *shard;
	unsigned int i;

	if (likely((*known >> to & 1) != 0))
		return;
	shard = &builtin->shards[to];
	i = (unsigned int)(ring - shard->rings);
	__atomic_fetch_or(&shard->used[i / 64], (uint64_t)1 << i % 64, __ATOMIC_RELAXED);
	*known |= (uint64_t)1 << to;
}

/* There is something in a shard: who has nothing to do finds it. The word changes seldom. */
static inline void
tell_waiting(struct builtin *builtin, unsigned int shard)
{
	if (unlikely((__atomic_load_n(&builtin->waiting, __ATOMIC_RELAXED) >> shard & 1) == 0))
		__atomic_fetch_or(&builtin->waiting, (uint64_t)1 << shard, __ATOMIC_RELAXED);
}

/* Something of some priority is in a shard, which others can see by now. */
static inline void
tell_announced(struct builtin *builtin, unsigned int shard)
{
	const uint64_t bit = (uint64_t)1 << shard;

	if (unlikely((__atomic_load_n(&builtin->announced, __ATOMIC_RELAXED) & bit) == 0))
		__atomic_fetch_or(&builtin->announced, bit, __ATOMIC_SEQ_CST);
}

/* Something was published for a shard: of which priorities. */
static inline void
announce(struct builtin *builtin, unsigned int shard, uint32_t priorities)
{
	tell_waiting(builtin, shard);
	if (tells_priorities(builtin)) {
		uint32_t *arrived = &builtin->shards[shard].arrived;

		/* Who clears the word looks at the rings then: what was published is there, or the word is set again. */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if ((__atomic_load_n(arrived, __ATOMIC_RELAXED) & priorities) != priorities)
			__atomic_fetch_or(arrived, priorities, __ATOMIC_SEQ_CST);
		tell_announced(builtin, shard);
	}
	if (may_sleep(builtin))
		shard_wake(&builtin->shards[shard]);
}

#endif
