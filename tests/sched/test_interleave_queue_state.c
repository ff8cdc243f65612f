/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A queue's flows are divided anew when its group changes, until it is used: in every order of steps, with who uses it first. And it is plain
 * once it is in use, and its priority is.
 */

#include <sched.h>

#include "sched_test.h"

#include "../base/interleave.h"

#include "builtin.h"

/* Who waits for the division. */
#define sched_yield() interleave_pause()

#include "../../lib/sched/builtin.c"
#include "../../lib/sched/look.c"

#define NB_PORTS 2
#define QUEUE    0
#define PRIORITY 3

static struct builtin builtin;
static struct weir_sched sched = {.own = &builtin};
static struct builtin_port ports[NB_PORTS];
static struct shard shards[NB_PORTS];
static uint8_t shard_of_queue[2][NB_CLASSES], divided[2][NB_CLASSES];
static uint64_t port_groups[NB_PORTS];
static uint8_t seen[NB_CLASSES]; /* by who used it */
static bool has_seen;

static void
init(void)
{
	memset(&builtin, 0, sizeof(builtin));
	memset(shards, 0, sizeof(shards));
	has_seen = false;
	memset(port_groups, 0, sizeof(port_groups));
	sched.config.nb_ports = NB_PORTS;
	sched.config.nb_queues = 1;
	sched.queues[QUEUE].group = 1;
	sched.groups[1] = 1;
	builtin.sched = &sched;
	builtin.ports = ports;
	builtin.shards = shards;
	builtin.nb_shards = NB_PORTS;
	builtin.shard_of = shard_of_queue;
	builtin.divided = divided;
	builtin.port_groups = port_groups;
	for (unsigned int i = 0; i < NB_PORTS; i++) {
		shards[i].builtin = &builtin;
		shards[i].id = i;
		ports[i].own = ports[i].home = &shards[i];
	}
	builtin.queues[QUEUE] =
		(struct queue_info){.state = QUEUE_UNUSED, .shard_of = shard_of_queue[QUEUE]};
	divide_flows(&builtin, QUEUE);
}

/* As the first event does: from then on it may rely on where its flow is. */
static void
use(void)
{
	CHECK(queue_use(&builtin, QUEUE));
	interleave_point();
	memcpy(seen, shard_of_queue[QUEUE], NB_CLASSES);
	has_seen = true;
}

static void
change_group(void)
{
	__atomic_store_n(&sched.groups[1], 2, __ATOMIC_RELAXED);
	CHECK(builtin_group_set(&sched, 1) == 0);
}

static void
change_group_twice(void)
{
	change_group();
	__atomic_store_n(&sched.groups[1], 3, __ATOMIC_RELAXED);
	CHECK(builtin_group_set(&sched, 1) == 0);
}

/* What was seen has stayed; and a division is of one group's ports, not of two's. */
static void
check(void)
{
	const uint8_t *now = shard_of_queue[QUEUE];
	unsigned int nb[NB_PORTS] = {0};

	CHECK(has_seen && memcmp(seen, now, NB_CLASSES) == 0);
	CHECK(builtin.queues[QUEUE].state == QUEUE_USED);
	for (unsigned int class = 0; class < NB_CLASSES; class ++)
		nb[now[class]]++;
	CHECK(nb[0] == NB_CLASSES || nb[1] == NB_CLASSES || nb[0] == nb[1]);
	CHECK(port_groups[1] == 2);
}

static void
run(void (*begin)(void), void (*one)(void), void (*other)(void), void (*end)(void))
{
	const struct interleave interleave = {
		.init = begin, .nb_actors = 2, .actors = {one, other}, .check = end, .least = 20};

	interleave_all(&interleave);
}

static void
group_changes(void **state)
{
	run(init, change_group, use, check);
}

static void
group_changes_twice(void **state)
{
	run(init, change_group_twice, use, check);
}

static void
init_plain(void)
{
	init();
	builtin.queues[QUEUE].is_fixed = true;
	builtin.queues[QUEUE].priority = PRIORITY;
}

/* What is plain may be taken for it: it is in use, and who comes later knows of its priority. */
static void
see_plain(void)
{
	if (!__atomic_load_n(&builtin.queues[QUEUE].is_plain, __ATOMIC_ACQUIRE))
		return;
	CHECK(builtin.queues[QUEUE].state == QUEUE_USED);
	CHECK((builtin.priorities_used >> PRIORITY & 1) != 0);
}

static void
use_queue(void)
{
	CHECK(queue_use(&builtin, QUEUE));
	interleave_point();
	see_plain();
}

static void
use_priority(void)
{
	note_priority(&builtin, PRIORITY);
	interleave_point();
	see_plain();
}

/* Of two priorities that come into use at once, each by its own, both are known as several before either can be relied on. */
static void
use_other_priority(void)
{
	note_priority(&builtin, PRIORITY + 1);
	interleave_point();
	CHECK((builtin.priorities_used & ~USED_SEVERAL) == 1u << (PRIORITY + 1) ||
		has_several_priorities(&builtin));
}

static void
check_plain(void)
{
	see_plain();
	CHECK(builtin.queues[QUEUE].is_plain);
}

static void
check_several(void)
{
	CHECK(has_several_priorities(&builtin) && !has_short_ways(&builtin));
	CHECK((builtin.announced & 3) == 3 && shards[0].arrived == UINT8_MAX);
}

static void
becomes_plain(void **state)
{
	run(init_plain, use_queue, use_priority, check_plain);
}

static void
priorities_become_several(void **state)
{
	run(init_plain, use_priority, use_other_priority, check_several);
}

/* Not in steps: at which ports a flow is in two queues, where its class is one of so many. */
static void
check_two_queues(uint32_t nb_classes, bool same)
{
	init();
	sched.groups[1] = (1u << NB_PORTS) - 1;
	builtin.class_mask = nb_classes - 1;
	divide_flows(&builtin, 0);
	divide_flows(&builtin, 1);
	for (unsigned int class = 0; class < nb_classes; class ++)
		CHECK((shard_of_queue[0][class] == shard_of_queue[1][class]) == same);
}

static void
flows_of_two_queues(void **state)
{
	check_two_queues(NB_PORTS, true);
	check_two_queues(NB_CLASSES, true);
	check_two_queues(NB_PORTS - 1, false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(group_changes),
		cmocka_unit_test(group_changes_twice), cmocka_unit_test(becomes_plain),
		cmocka_unit_test(priorities_become_several), cmocka_unit_test(flows_of_two_queues)};

	return cmocka_run_group_tests_name("sched-interleave-queue-state", tests, NULL, NULL);
}
