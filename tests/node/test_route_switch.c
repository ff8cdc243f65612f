/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The switch, step by step, seen from within the grace period: readers are on
 * the new copy already, and nothing has touched the one that they may still hold.
 */

#include <errno.h>

#include "test_route_util.h"

static unsigned int nb_graces;
static int grace_result;

static const void *held4, *held6; /* what a reader took before the change */
static const uint32_t probe4[] = {0x0a000000, 0x0a010101, 0x0a010180, 0x0b000000};
static const uint8_t probe6[][16] = {
	{0x20, 1}, {0x20, 1, 0xd, 0xb8}, {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 1}, {0x30}};
static uint32_t before4[4], before6[4], after4[4], after6[4];

static void
look(const void *slots4, const void *slots6, uint32_t *hops4, uint32_t *hops6)
{
	weir_node_lookup4_select(WEIR_NODE_LOOKUP_BEST, weir_node_route_state.table[0].fib[0].wide)(
		slots4, probe4, hops4, RTE_DIM(probe4));
	weir_node_lookup6_select(WEIR_NODE_LOOKUP_BEST, weir_node_route_state.table[1].fib[0].wide)(
		slots6, probe6, hops6, RTE_DIM(probe6));
}

static void
hold(void)
{
	held4 = weir_node_lookup_slots(4);
	held6 = weir_node_lookup_slots(6);
	look(held4, held6, before4, before6);
}

/* In place of weir_graph_synchronize(). */
static int
grace(uint64_t timeout_ns)
{
	uint32_t hops4[4], hops6[4];

	assert_int_equal(timeout_ns, weir_node_route_grace_timeout_ns);
	nb_graces++;
	look(held4, held6, hops4, hops6);
	assert_memory_equal(hops4, before4, sizeof(hops4));
	assert_memory_equal(hops6, before6, sizeof(hops6));
	weir_node_route_lookup4(probe4, after4, RTE_DIM(probe4));
	weir_node_route_lookup6(probe6, after6, RTE_DIM(probe6));
	return grace_result;
}

static void
start(void)
{
	test_tables(&(struct weir_node_route_limits){.next_hops = 16, .ip6_groups = 100}, 8);
	weir_node_route_grace = grace;
	nb_graces = 0;
	grace_result = 0;
}

static int
teardown(void **state)
{
	(void)state;
	weir_node_route_fini();
	return 0;
}

static int
change(const char *const *adds, uint32_t hop, const char *const *deletes)
{
	struct weir_node_route_batch *batch = weir_node_route_batch_begin();
	struct weir_node_prefix prefix;

	for (; *adds != NULL; adds++) {
		prefix = test_prefix(*adds);
		assert_int_equal(weir_node_route_batch_add(batch, &prefix, hop), 0);
	}
	for (; *deletes != NULL; deletes++) {
		prefix = test_prefix(*deletes);
		assert_int_equal(weir_node_route_batch_delete(batch, &prefix), 0);
	}
	return weir_node_route_batch_commit(batch);
}

static void
assert_copies_agree(void)
{
	uint32_t hops4[2][4], hops6[2][4];
	int copy;

	for (copy = 0; copy < 2; copy++)
		look(weir_node_route_state.table[0].fib[copy].slots,
			weir_node_route_state.table[1].fib[copy].slots, hops4[copy], hops6[copy]);
	assert_memory_equal(hops4[0], hops4[1], sizeof(hops4[0]));
	assert_memory_equal(hops6[0], hops6[1], sizeof(hops6[0]));
}

static void
test_order(void **state)
{
	static const char *const first[] = {
		"10.0.0.0/8", "10.1.1.0/24", "2001::/16", "2001:db8::/32", NULL};
	static const char *const second[] = {
		"10.1.1.128/25", "11.0.0.0/8", "2001:db8:0:0:100::/72", "::/0", NULL};
	static const char *const third[] = {"0.0.0.0/0", "2001:db8::/32", NULL};
	static const char *const none[] = {NULL};
	struct weir_node_route_info before, after;

	(void)state;
	start();
	hold();
	assert_int_equal(change(first, 1, none), 0);
	assert_int_equal(nb_graces, 1); /* one for both IP versions */
	assert_int_equal(after4[2], 1);
	assert_int_equal(after6[1], 1);
	assert_copies_agree();
	hold();
	weir_node_route_info(&before);
	assert_int_equal(change(second, 2, none), 0);
	weir_node_route_info(&after);
	assert_int_equal(after.switches, before.switches + 2);
	assert_int_equal(after4[1], 1);
	assert_int_equal(after4[2], 2);
	assert_int_equal(after6[2], 2);
	assert_int_equal(after6[3], 2);
	assert_copies_agree();
	hold();
	assert_int_equal(change(third, 3, second), 0);
	assert_int_equal(nb_graces, 3);
	assert_int_equal(after4[3], 3);
	assert_int_equal(after6[2], 3);
	assert_int_equal(after6[3], WEIR_NODE_NO_ROUTE);
	assert_copies_agree();
	/* Refused: nobody is asked to move, nothing changes. */
	hold();
	assert_int_equal(change(first, 15, none), -ENOENT);
	assert_int_equal(nb_graces, 3);
	assert_ptr_equal(held4, weir_node_lookup_slots(4));
	assert_copies_agree();
}

/* A worker that does not end its walk: the change is in force, the next one waits, and the copies agree in the end. */
static void
test_stuck_worker(void **state)
{
	struct weir_node_hop hop = {.kind = WEIR_NODE_HOP_BLACKHOLE};

	(void)state;
	start();
	hold();
	grace_result = -ETIMEDOUT;
	assert_int_equal(test_add("10.0.0.0/8", 1), 0);
	assert_int_equal(test_lookup("10.1.1.1"), 1);
	assert_int_equal(nb_graces, 1);
	/* What the stuck worker holds stays as it is, whatever is asked for. grace() looks. */
	assert_int_equal(test_add("10.1.1.0/24", 2), -ETIMEDOUT);
	assert_int_equal(test_delete("10.0.0.0/8"), -ETIMEDOUT);
	assert_int_equal(test_add("2001:db8::/32", 2), -ETIMEDOUT);
	assert_int_equal(weir_node_hop_set(0, &hop), -ETIMEDOUT);
	assert_int_equal(weir_node_hop_delete(3), -ETIMEDOUT);
	assert_int_equal(nb_graces, 6);
	assert_int_equal(test_lookup("10.1.1.1"), 1);
	assert_int_equal(weir_node_hops()[0].kind, WEIR_NODE_HOP_FORWARD);
	assert_int_equal(weir_node_hop_get(3, &hop), 0);
	grace_result = 0;
	assert_int_equal(weir_node_route_settle(), 0);
	assert_copies_agree();
	hold();
	assert_int_equal(test_add("10.1.1.0/24", 2), 0);
	assert_int_equal(test_lookup("10.1.1.1"), 2);
	assert_copies_agree();
}

static const struct weir_node_hop_fast *held_hops;
static struct weir_node_hop_fast held_hop;

static int
hop_grace(uint64_t timeout_ns)
{
	(void)timeout_ns;
	nb_graces++;
	assert_memory_equal(&held_hops[5], &held_hop, sizeof(held_hop));
	assert_ptr_not_equal(weir_node_hops(), held_hops);
	assert_memory_not_equal(&weir_node_hops()[5], &held_hop, sizeof(held_hop));
	return grace_result;
}

static void
test_hop_order(void **state)
{
	struct weir_node_hop hop = {
		.kind = WEIR_NODE_HOP_FORWARD, .port = 2, .mac = {{6, 6, 6, 6, 6, 6}}};

	(void)state;
	start();
	weir_node_route_grace = hop_grace;
	held_hops = weir_node_hops();
	held_hop = held_hops[5];
	assert_int_equal(weir_node_hop_set(5, &hop), 0);
	assert_int_equal(nb_graces, 1);
	assert_memory_equal(&held_hops[5], &weir_node_hops()[5], sizeof(held_hop));
	held_hops = weir_node_hops();
	held_hop = held_hops[5];
	grace_result = -ETIMEDOUT;
	assert_int_equal(weir_node_hop_delete(5), 0);
	assert_int_equal(weir_node_hops()[5].kind, WEIR_NODE_HOP_BLACKHOLE);
	grace_result = 0;
	assert_int_equal(weir_node_route_settle(), 0);
	assert_memory_equal(&held_hops[5], &weir_node_hops()[5], sizeof(held_hop));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_order, teardown),
		cmocka_unit_test_teardown(test_stuck_worker, teardown),
		cmocka_unit_test_teardown(test_hop_order, teardown),
	};

	return cmocka_run_group_tests_name("route switch", tests, NULL, NULL);
}
