/* SPDX-License-Identifier: BSD-3-Clause */

/* A port that goes to sleep, and somebody who sends meanwhile: in every order of their steps. A sleeper that nobody wakes is a deadlock. */

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sched_test.h"

#include "../base/interleave.h"

#include "builtin.h"

/* The system: who waits at a word that is 1, until it is woken. There is no timeout here. */
static bool waits, woken;

static long
futex(const uint32_t *word, bool wait, const struct timespec *timeout)
{
	interleave_point();
	if (!wait) {
		woken = waits;
		return 0;
	}
	if (*word != 1)
		return -1;
	waits = true;
	woken = false;
	while (!woken)
		interleave_pause();
	waits = false;
	return 0;
}

#define syscall(number, word, operation, value, timeout, ...)                                      \
	futex(word, (operation) == FUTEX_WAIT_PRIVATE, timeout)

#include "../../lib/sched/sleep.c"

#define NB_PORTS 2
#define NB_SLOTS 4

static struct builtin builtin;
static struct weir_sched sched = {.own = &builtin};
static struct builtin_port ports[NB_PORTS];
static struct shard shards[NB_PORTS];
static struct ring rings[1];
static struct rte_event slots[NB_SLOTS];
static uint64_t port_groups[NB_PORTS];
static unsigned int sleeper, nb_events;
static uint64_t nb_sent, nb_got;

static void
init(void)
{
	memset(&builtin, 0, sizeof(builtin));
	memset(ports, 0, sizeof(ports));
	memset(shards, 0, sizeof(shards));
	sched.config.nb_ports = NB_PORTS;
	sched.config.idle_sleep_us = 1000;
	builtin.sched = &sched;
	builtin.ports = ports;
	builtin.shards = shards;
	builtin.nb_shards = NB_PORTS;
	builtin.port_groups = port_groups;
	builtin.priorities_used = USED_SLEEP;
	for (unsigned int i = 0; i < NB_PORTS; i++) {
		shards[i].builtin = &builtin;
		shards[i].id = shards[i].owner = i;
		ports[i].builtin = &builtin;
		ports[i].base.id = i;
		ports[i].own = &shards[i];
		port_groups[i] = UINT64_MAX;
	}
	ring_init(&rings[0], slots, NB_SLOTS);
	shards[0].rings = rings;
	shards[0].nb_rings = 1;
	shards[0].used[0] = 1;
	waits = woken = false;
	nb_sent = nb_got = 0;
}

/* For shard 0, whose owner sleeps or is at work. */
static void
sends(void)
{
	for (unsigned int i = 0; i < nb_events; i++) {
		ring_put(&rings[0], st_event(RTE_EVENT_OP_NEW, 0, 0, nb_sent++));
		ring_publish(&rings[0]);
		shard_wake(&shards[0]);
	}
}

static void
sleeps(void)
{
	while (nb_got < nb_events) {
		ring_look(&rings[0]);
		if (ring_count(&rings[0]) == 0) {
			port_sleep(&ports[sleeper]);
			continue;
		}
		nb_got++;
		ring_take(&rings[0], 1);
	}
}

static void
check(void)
{
	CHECK(nb_got == nb_events && ports[sleeper].asleep == 0 && builtin.asleep == 0);
}

static void
run(unsigned int port, unsigned int nb)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {sleeps, sends},
		.check = check,
		.most_interruptions = 5,
		.least = 50};

	sleeper = port;
	nb_events = nb;
	interleave_all(&interleave);
}

/* By who had the lock: in the lists of shard 0, for anybody. */
static void
leaves(void)
{
	for (unsigned int i = 0; i < nb_events; i++) {
		__atomic_store_n(&shards[0].priorities_hint, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&shards[0].nb_hint, ++nb_sent, __ATOMIC_RELAXED);
		shard_wake_helper(&shards[0]);
	}
}

static void
sleeps_until_left(void)
{
	while (__atomic_load_n(&shards[0].nb_hint, __ATOMIC_RELAXED) < nb_events)
		port_sleep(&ports[sleeper]);
	nb_got = nb_events;
}

/* By who wants it for something that is no event. */
static uint64_t nb_wanted;

static void
wants(void)
{
	for (unsigned int i = 0; i < nb_events; i++) {
		__atomic_store_n(&nb_wanted, nb_wanted + 1, __ATOMIC_RELAXED);
		builtin_wake(&sched, (uint64_t)1 << sleeper);
	}
}

static void
sleeps_until_wanted(void)
{
	while (__atomic_load_n(&nb_wanted, __ATOMIC_RELAXED) < nb_events)
		port_sleep(&ports[sleeper]);
	nb_got = nb_events;
}

static void
init_wanted(void)
{
	init();
	nb_wanted = 0;
}

static void
it_is_wanted(void **state)
{
	const struct interleave interleave = {.init = init_wanted,
		.nb_actors = 2,
		.actors = {sleeps_until_wanted, wants},
		.check = check,
		.most_interruptions = 5,
		.least = 50};

	sleeper = 1;
	for (nb_events = 1; nb_events <= 2; nb_events++)
		interleave_all(&interleave);
}

static void
something_is_left(void **state)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {sleeps_until_left, leaves},
		.check = check,
		.most_interruptions = 5,
		.least = 50};

	nb_events = 1;
	for (sleeper = 0; sleeper < NB_PORTS; sleeper++)
		interleave_all(&interleave);
}

static void
its_owner_sleeps(void **state)
{
	run(0, 1);
	run(0, 2);
}

static void
another_one_sleeps(void **state)
{
	run(1, 1);
	run(1, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(its_owner_sleeps),
		cmocka_unit_test(another_one_sleeps), cmocka_unit_test(something_is_left),
		cmocka_unit_test(it_is_wanted)};

	return cmocka_run_group_tests_name("sched-interleave-sleep", tests, NULL, NULL);
}
