/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ports that have nothing to do may sleep. Who publishes something wakes the one that it is for; as both look without a fence one may
 * miss the other, which costs no more than the time a sleep lasts at most.
 */

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "builtin.h"

static bool
has_something(const struct shard *shard)
{
	if (__atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) > 0)
		return true;
	for (unsigned int i = 0; i < shard->nb_rings; i++)
		if (!ring_seems_empty(&shard->rings[i]))
			return true;
	return false;
}

void
port_sleep(struct builtin_port *port)
{
	struct builtin *builtin = port->builtin;
	uint64_t us = builtin->sched->config.idle_sleep_us, bit = (uint64_t)1 << port->base.id;
	struct timespec timeout = {
		.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};

	__atomic_store_n(&port->asleep, 1, __ATOMIC_RELAXED);
	__atomic_fetch_or(&builtin->asleep, bit, __ATOMIC_SEQ_CST);
	if (!has_something(port->own)) {
		count(&port->nb_sleeps, 1);
		syscall(SYS_futex, &port->asleep, FUTEX_WAIT_PRIVATE, 1, &timeout, NULL, 0);
	}
	__atomic_fetch_and(&builtin->asleep, ~bit, __ATOMIC_RELAXED);
	__atomic_store_n(&port->asleep, 0, __ATOMIC_RELAXED);
}

static void
wake(struct builtin_port *port)
{
	if (__atomic_exchange_n(&port->asleep, 0, __ATOMIC_RELAXED) == 1)
		syscall(SYS_futex, &port->asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Its owner, or when that is at work, somebody who may take what the owner does not come to. */
void
shard_wake(struct shard *shard)
{
	struct builtin *builtin = shard->builtin;
	uint64_t asleep = __atomic_load_n(&builtin->asleep, __ATOMIC_RELAXED);

	if (asleep >> shard->owner & 1)
		wake(&builtin->ports[shard->owner]);
	else if (asleep != 0 && __atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) > 0)
		wake(&builtin->ports[__builtin_ctzll(asleep)]);
}
