/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Stalled readers and a busy writer, on graphs that walk. A reader takes the tables, stalls in the middle of its
 * walk while routes around its addresses change, and then looks up: no address may lead to a
 * next hop that it never had, and a table that a walk holds may not change at all.
 *
 * The last test leaves the grace period out, and wants the readers to notice.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include <rte_eal.h>

#include "test_route_util.h"
#include "weir_base_eal.h"
#include "weir_graph.h"
#include "weir_graph_fast.h"

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#endif
#endif

#define NB_READERS     2
#define STEPS_AT_LEAST 10
#define WALKS_AT_LEAST 10
#define NB_PROBES      8

/*
 * Routes that stay: 10.1.2.0/24 -> 2, 10.9.0.0/16 -> 5; that come and go: 10.0.0.0/8 -> 1 or 3, 10.9.1.1/32 -> 4,
 * 10.1.0.0/16 -> 6. What an address may lead to follows, as a bit per next hop, bit 31 for no route.
 * The IPv6 routes are the same, with prefixes 24 bits longer.
 */
#define NONE UINT32_C(0x80000000)
static const uint32_t probe[NB_PROBES] = {0x0a010203, 0x0a010303, 0x0a090101, 0x0a090102,
	0x0a000001, 0x0a090201, 0x0b000000, 0x0a0102ff};
static const uint32_t allowed[NB_PROBES] = {1 << 2, NONE | 1 << 1 | 1 << 3 | 1 << 6,
	1 << 4 | 1 << 5, 1 << 5, NONE | 1 << 1 | 1 << 3, 1 << 5, NONE, 1 << 2};

static volatile bool stalling;
static uint64_t nb_steps; /* of the writer */
static uint64_t nb_walks; /* that looked */
static uint64_t nb_wrong; /* next hops that an address never had */
static uint64_t nb_moved; /* tables that changed in the middle of a walk */
static uint64_t nb_mixed; /* next hops of which a part was old */
static bool stop;

static struct weir_node_prefix
prefix_of(uint8_t version, uint32_t address, uint8_t length)
{
	struct weir_node_prefix prefix = {.version = version, .length = length};
	unsigned int at = version == 4 ? 0 : 3;

	if (version == 6) {
		prefix.address[0] = 0x20;
		prefix.length = (uint8_t)(length + 24);
	}
	address = __builtin_bswap32(address);
	memcpy(prefix.address + at, &address, 4);
	return prefix;
}

static void
look(const void *slots4, const void *slots6, uint32_t *hops4, uint32_t *hops6)
{
	uint8_t addresses6[NB_PROBES][16];
	uint32_t i;

	for (i = 0; i < NB_PROBES; i++)
		memcpy(addresses6[i], prefix_of(6, probe[i], 32).address, 16);
	weir_node_lookup4_select(WEIR_NODE_LOOKUP_BEST, false)(slots4, probe, hops4, NB_PROBES);
	weir_node_lookup6_select(WEIR_NODE_LOOKUP_BEST, false)(
		slots6, (const uint8_t(*)[16])addresses6, hops6, NB_PROBES);
}

static void
judge(const uint32_t *hops)
{
	uint32_t i;

	for (i = 0; i < NB_PROBES; i++)
		if ((allowed[i] &
			    (hops[i] == WEIR_NODE_NO_ROUTE ? NONE
							   : UINT32_C(1) << (hops[i] & 31))) == 0)
			__atomic_fetch_add(&nb_wrong, 1, __ATOMIC_RELAXED);
}

/* The writer gives all six bytes of the address the same value. */
static void
judge_hop(const struct weir_node_hop_fast *hop)
{
	unsigned int i;

	for (i = 1; i < 6; i++)
		if (hop->header[i] != hop->header[0])
			__atomic_fetch_add(&nb_mixed, 1, __ATOMIC_RELAXED);
}

/* Until the writer has gone on by some steps, or cannot. */
static void
stall(void)
{
	uint64_t from = __atomic_load_n(&nb_steps, __ATOMIC_RELAXED), begin = weir_base_time_ns();

	while (__atomic_load_n(&nb_steps, __ATOMIC_RELAXED) < from + 5 &&
		weir_base_time_ns() < begin + 1000 * 1000)
		sched_yield();
}

static uint16_t
reader_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const void *slots4 = weir_node_lookup_slots(4), *slots6 = weir_node_lookup_slots(6);
	const struct weir_node_hop_fast *hops = weir_node_hops();
	uint32_t first4[NB_PROBES], first6[NB_PROBES], now4[NB_PROBES], now6[NB_PROBES], round;

	(void)graph;
	(void)node;
	(void)objs;
	(void)nb_objs;
	look(slots4, slots6, first4, first6);
	if (stalling)
		stall();
	for (round = 0; round < 20; round++) {
		look(slots4, slots6, now4, now6);
		judge(now4);
		judge(now6);
		judge_hop(&hops[7]);
		if (memcmp(now4, first4, sizeof(now4)) != 0 ||
			memcmp(now6, first6, sizeof(now6)) != 0)
			__atomic_fetch_add(&nb_moved, 1, __ATOMIC_RELAXED);
		weir_node_route_lookup4(
			probe, now4, NB_PROBES); /* by the public way: perhaps another copy */
		judge(now4);
	}
	__atomic_fetch_add(&nb_walks, 1, __ATOMIC_RELAXED);
	return 0;
}

static struct weir_graph_node_register reader_node = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "route_reader",
	.flags = WEIR_GRAPH_NODE_SOURCE,
	.process = reader_process,
};
WEIR_GRAPH_NODE_REGISTER(reader_node);

static void *
walk(void *arg)
{
	struct weir_graph *graph = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		weir_graph_walk(graph);
		sched_yield();
	}
	return NULL;
}

static void
write_step(uint64_t step)
{
	static const struct {
		uint32_t address;
		uint8_t length;
		uint32_t hop;
	} changes[] = {
		{0x0a000000, 8, 1},
		{0x0a090101, 32, 4},
		{0x0a000000, 8, 3},
		{0x0a010000, 16, 6},
		{0x0a090101, 32, WEIR_NODE_HOP_INVALID},
		{0x0a010000, 16, WEIR_NODE_HOP_INVALID},
		{0x0a000000, 8, WEIR_NODE_HOP_INVALID},
	};
	struct weir_node_hop hop = {.kind = WEIR_NODE_HOP_FORWARD};
	uint32_t i = (uint32_t)(step % RTE_DIM(changes));
	struct weir_node_prefix prefix;
	uint8_t version;

	for (version = 4; version <= 6; version += 2) {
		prefix = prefix_of(version, changes[i].address, changes[i].length);
		assert_int_equal(changes[i].hop == WEIR_NODE_HOP_INVALID
					 ? weir_node_route_delete(&prefix)
					 : weir_node_route_add(&prefix, changes[i].hop),
			0);
	}
	memset(&hop.mac, (int)(step * 4 + 2) & 0xfe, sizeof(hop.mac));
	assert_int_equal(weir_node_hop_set(7, &hop), 0);
	__atomic_fetch_add(&nb_steps, 1, __ATOMIC_RELAXED);
}

/* Write for @p duration_ms and long enough that all took part, or until the readers have seen what must not be. */
static void
run(bool with_stalls, int (*grace)(uint64_t timeout_ns), unsigned int duration_ms)
{
	static const char *const patterns[] = {"route_reader"};
	const struct weir_graph_param param = {
		.socket_id = -1, .nb_node_patterns = 1, .node_patterns = patterns};
	struct weir_node_prefix prefix;
	pthread_t threads[NB_READERS];
	uint32_t graphs[NB_READERS], i;
	uint64_t begin, step = 0;
	char name[32];

	nb_steps = nb_walks = nb_wrong = nb_moved = nb_mixed = 0;
	stalling = with_stalls;
	stop = false;
	test_tables(&(struct weir_node_route_limits){.next_hops = 16, .ip6_groups = 100}, 7);
	for (i = 4; i <= 6; i += 2) {
		prefix = prefix_of((uint8_t)i, 0x0a010200, 24);
		assert_int_equal(weir_node_route_add(&prefix, 2), 0);
		prefix = prefix_of((uint8_t)i, 0x0a090000, 16);
		assert_int_equal(weir_node_route_add(&prefix, 5), 0);
	}
	weir_node_route_grace = grace;
	for (i = 0; i < NB_READERS; i++) {
		snprintf(name, sizeof(name), "race-%u", i);
		graphs[i] = weir_graph_create(name, &param);
		assert_int_not_equal(graphs[i], WEIR_GRAPH_ID_INVALID);
		assert_int_equal(
			pthread_create(&threads[i], NULL, walk, weir_graph_get(graphs[i])), 0);
	}
	begin = weir_base_time_ns();
	while ((weir_base_time_ns() < begin + duration_ms * UINT64_C(1000000) ||
		       step < STEPS_AT_LEAST ||
		       __atomic_load_n(&nb_walks, __ATOMIC_RELAXED) < WALKS_AT_LEAST) &&
		(__atomic_load_n(&nb_wrong, __ATOMIC_RELAXED) == 0 ||
			__atomic_load_n(&nb_moved, __ATOMIC_RELAXED) == 0))
		write_step(step++);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < NB_READERS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(weir_graph_destroy(graphs[i]), 0);
	}
	weir_node_route_fini();
	print_message("%llu changes, %llu walks: %llu wrong, %llu moved, %llu mixed\n",
		(unsigned long long)nb_steps, (unsigned long long)nb_walks,
		(unsigned long long)nb_wrong, (unsigned long long)nb_moved,
		(unsigned long long)nb_mixed);
}

static void
test_stalled_readers(void **state)
{
	(void)state;
	run(true, weir_graph_synchronize, 700);
	assert_int_equal(nb_wrong, 0);
	assert_int_equal(nb_moved, 0);
	assert_int_equal(nb_mixed, 0);
}

static void
test_busy_readers(void **state)
{
	(void)state;
	run(false, weir_graph_synchronize, 700);
	assert_int_equal(nb_wrong, 0);
	assert_int_equal(nb_moved, 0);
	assert_int_equal(nb_mixed, 0);
}

/* Without grace periods the same readers must notice, or they prove nothing. */
static void
test_readers_would_notice(void **state)
{
	(void)state;
#ifdef THREAD_SANITIZER
	skip(); /* it would notice too, and end the program */
#endif
	run(true, test_no_grace, 10000);
	assert_true(nb_wrong > 0);
	assert_true(nb_moved > 0);
}

int
main(void)
{
	char program[] = "test_route_race", no_huge[] = "--no-huge", no_pci[] = "--no-pci",
	     memory[] = "-m", mb[] = "64", shconf[] = "--no-shconf", telemetry[] = "--no-telemetry",
	     level[] = "--log-level=4";
	char *argv[] = {program, no_huge, no_pci, memory, mb, shconf, telemetry, level, NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stalled_readers),
		cmocka_unit_test(test_busy_readers),
		cmocka_unit_test(test_readers_would_notice),
	};

	weir_base_eal_clean_up_at_exit();
	if (rte_eal_init(RTE_DIM(argv) - 1, argv) < 0)
		return 1;
	return cmocka_run_group_tests_name("route race", tests, NULL, NULL);
}
