/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ports that have nothing to do may sleep. Who publishes something wakes the one that it is for; or, when that is at work, another one,
 * which takes what the owner does not come to. Who leaves something in a shard wakes somebody who may have it. Who was woken stays awake
 * for a while: it has to see first that the owner does not come.
 *
 * One publishes, and then looks who sleeps; the other one says that it sleeps, and then looks what is there: with a fence between, one
 * of them sees the other.
 */

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shard.h"

/* Something that the port may have, or that nobody has looked at yet. */
static bool
has_something(const struct shard *shard, uint64_t groups)
{
	if (__atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) > 0 &&
		(seem_ready(shard, groups) != 0 ||
			__atomic_load_n(&shard->next_hint, __ATOMIC_RELAXED) != 0))
		return true;
	for (unsigned int i = shard_ring_from(shard, 0); i < shard->nb_rings;
		i = shard_ring_from(shard, i + 1))
		if (!ring_seems_empty(&shard->rings[i]))
			return true;
	return false;
}

static bool
any_has_something(const struct builtin_port *port)
{
	const struct builtin *builtin = port->builtin;
	uint64_t groups = __atomic_load_n(&builtin->port_groups[port->base.id], __ATOMIC_RELAXED);

	for (unsigned int i = 0; i < builtin->nb_shards; i++)
		if (has_something(&builtin->shards[i], groups))
			return true;
	return false;
}

/* For something that is no event: since it was asked last. */
static bool
was_wanted(struct builtin_port *port)
{
	return __atomic_load_n(&port->is_wanted, __ATOMIC_RELAXED) != 0 &&
	       __atomic_exchange_n(&port->is_wanted, 0, __ATOMIC_ACQUIRE) != 0;
}

/* @return it was woken */
static bool
port_sleep(struct builtin_port *port)
{
	struct builtin *builtin = port->builtin;
	uint64_t us = builtin->sched->config.idle_sleep_us, bit = (uint64_t)1 << port->base.id;
	struct timespec timeout = {
		.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
	bool wanted;

	__atomic_store_n(&port->asleep, 1, __ATOMIC_RELAXED);
	__atomic_fetch_or(&builtin->asleep, bit, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	wanted = was_wanted(port);
	if (!wanted && !any_has_something(port)) {
		count(&port->nb_sleeps, 1);
		syscall(SYS_futex, &port->asleep, FUTEX_WAIT_PRIVATE, 1, &timeout, NULL, 0);
		wanted = was_wanted(port);
	}
	__atomic_fetch_and(&builtin->asleep, ~bit, __ATOMIC_RELAXED);
	if (__atomic_exchange_n(&port->asleep, 0, __ATOMIC_RELAXED) != 0 && !wanted)
		return false;
	port->nb_idle = 0;
	return true;
}

/* A port that has found nothing for several times. @return it slept, and was woken */
bool
port_may_sleep(struct builtin_port *port)
{
	uint64_t now = weir_base_cycles();
	bool slept;

	if (port->nb_idle == WEIR_BASE_SCHED_IDLE_CALLS)
		port->idle_since = now;
	__atomic_store_n(&port->idle_at, now, __ATOMIC_RELAXED);
	if (now - port->idle_since < WEIR_BASE_SCHED_AWAKE * (uint64_t)port->builtin->away)
		return false;
	__atomic_store_n(&port->idle_at, 0, __ATOMIC_RELAXED);
	slept = port_sleep(port);
	count(&port->idle_time, weir_base_cycles() - now);
	return slept;
}

static void
wake(struct builtin_port *port)
{
	if (__atomic_exchange_n(&port->asleep, 0, __ATOMIC_RELAXED) == 1)
		syscall(SYS_futex, &port->asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Of these ports those that sleep. */
static void
wake_those(struct builtin *builtin, uint64_t ports)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ports &= __atomic_load_n(&builtin->asleep, __ATOMIC_RELAXED);
	for (; ports != 0; ports &= ports - 1)
		wake(&builtin->ports[__builtin_ctzll(ports)]);
}

void
wake_all(struct builtin *builtin)
{
	wake_those(builtin, UINT64_MAX);
}

/* Any thread. As above: who goes to sleep sees that it is wanted, or is seen to sleep. */
void
builtin_wake(struct weir_sched *sched, uint64_t ports)
{
	struct builtin *builtin = sched->own;

	if (!may_sleep(builtin))
		return;
	for (unsigned int i = 0; i < sched->config.nb_ports; i++)
		if (ports >> i & 1)
			__atomic_store_n(&builtin->ports[i].is_wanted, 1, __ATOMIC_RELEASE);
	wake_those(builtin, ports);
}

/* It will see what is in its shard by itself. */
static bool
is_looking(const struct builtin_port *port)
{
	uint64_t at = __atomic_load_n(&port->idle_at, __ATOMIC_RELAXED);

	return at != 0 &&
	       weir_base_cycles() - at < WEIR_BASE_SCHED_AWAKE * (uint64_t)port->builtin->away;
}

/* Something was published for a shard: its owner, or when that is at work, somebody else. */
void
shard_wake(struct shard *shard)
{
	struct builtin *builtin = shard->builtin;
	const uint32_t owner = shard_owner(shard);
	uint64_t asleep;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	asleep = __atomic_load_n(&builtin->asleep, __ATOMIC_RELAXED);
	if (asleep == 0)
		return;
	if (asleep >> owner & 1)
		wake(&builtin->ports[owner]);
	else if (!is_looking(&builtin->ports[owner]))
		wake(&builtin->ports[__builtin_ctzll(asleep)]);
}

/* Something was left in a shard's lists: somebody who may have it. */
void
shard_wake_helper(struct shard *shard)
{
	struct builtin *builtin = shard->builtin;
	uint64_t asleep;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	asleep = __atomic_load_n(&builtin->asleep, __ATOMIC_RELAXED);
	for (; asleep != 0; asleep &= asleep - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(asleep);
		uint64_t groups = __atomic_load_n(&builtin->port_groups[i], __ATOMIC_RELAXED);

		if (has_something(shard, groups)) {
			wake(&builtin->ports[i]);
			return;
		}
	}
}
