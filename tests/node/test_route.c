/* SPDX-License-Identifier: BSD-3-Clause */

/* Routes and next hops, call by call. */

#include <errno.h>

#include "test_route_util.h"

static int
teardown(void **state)
{
	(void)state;
	weir_node_route_fini();
	return 0;
}

static void
test_before_init(void **state)
{
	struct weir_node_hop hop = {.kind = WEIR_NODE_HOP_BLACKHOLE};
	struct weir_node_route_info info;
	uint8_t address[16] = {0};

	(void)state;
	weir_base_log_set_sink(test_log_sink, NULL);
	assert_int_equal(test_lookup("10.0.0.1"), WEIR_NODE_NO_ROUTE);
	assert_int_equal(test_lookup("2001:db8::1"), WEIR_NODE_NO_ROUTE);
	assert_int_equal(weir_node_hop_count(), 0);
	assert_int_equal(weir_node_hop_at(weir_node_hops(), 0, 7)->kind, WEIR_NODE_HOP_NONE);
	assert_int_equal(weir_node_hop_set(0, &hop), -EINVAL);
	assert_int_equal(weir_node_hop_delete(0), -ENOENT);
	assert_int_equal(weir_node_hop_get(0, &hop), -ENOENT);
	assert_int_equal(test_add("10.0.0.0/8", 0), -EINVAL);
	assert_int_equal(weir_node_route_lookup(4, address, NULL, NULL), -ENOENT);
	weir_node_route_info(&info);
	assert_int_equal(info.ip4_routes, 0);
	weir_node_route_fini();
}

static void
test_init(void **state)
{
	struct weir_node_route_limits limits = {.next_hops = (1 << 20) + 1, .socket_id = -1};
	struct weir_node_route_info info;
	uint64_t bytes;

	(void)state;
	weir_base_log_set_sink(test_log_sink, NULL);
	assert_int_equal(weir_node_route_init(&limits), -EINVAL);
	assert_non_null(strstr(test_log, "1048576 next hops"));
	assert_int_equal(weir_node_route_memory_bytes(&limits), 0);
	limits.next_hops = 1 << 20;
	assert_int_equal(weir_node_route_init(&limits), 0);
	assert_int_equal(weir_node_route_init(&limits), -EEXIST);
	weir_node_route_info(&info);
	assert_int_equal(info.limits.ip4_routes, 1 << 20);
	assert_int_equal(info.limits.ip4_long_groups, 32767);
	assert_int_equal(info.limits.ip6_routes, 1 << 18);
	assert_int_equal(info.limits.ip6_groups, 1 << 20);
	assert_int_equal(info.limits.next_hops, 1 << 20);
	weir_node_route_fini();
	/* Slots are narrow as long as next hops and groups fit. */
	limits.next_hops = 32767;
	bytes = weir_node_route_memory_bytes(&limits);
	limits.next_hops = 32768;
	assert_true(weir_node_route_memory_bytes(&limits) > bytes + (64 << 20));
	limits.next_hops = 16;
	limits.ip4_long_groups = 32769;
	assert_true(weir_node_route_memory_bytes(&limits) > bytes + (64 << 20));
	assert_true(weir_node_route_memory_bytes(NULL) > bytes - (4 << 20));
	assert_int_equal(weir_node_route_init(NULL), 0);
	weir_node_route_info(&info);
	assert_int_equal(info.limits.next_hops, 4096);
	assert_int_equal(info.limits.socket_id, -1);
}

static void
test_hops(void **state)
{
	struct weir_node_hop hop = {.kind = WEIR_NODE_HOP_FORWARD,
				     .port = 1,
				     .mac = {{2, 1, 2, 3, 4, 5}}},
			     back;
	static const uint8_t plain[] = {2, 1, 2, 3, 4, 5, 2, 0, 0, 0, 0, 1, 8, 0};
	static const uint8_t tagged[] = {
		2, 1, 2, 3, 4, 5, 2, 0, 0, 0, 0, 3, 0x81, 0, 0x01, 0x23, 8, 0};
	const struct weir_node_hop_fast *fast;
	struct weir_node_route_info info;
	int copy;

	(void)state;
	test_tables(&(struct weir_node_route_limits){.next_hops = 8, .socket_id = 0}, 0);
	assert_int_equal(sizeof(*fast), 32);
	assert_int_equal(weir_node_hop_set(8, &hop), -EINVAL);
	assert_non_null(strstr(test_log, "expected a number below 8"));
	assert_int_equal(weir_node_hop_get(7, &back), -ENOENT);
	assert_int_equal(weir_node_hop_get(8, &back), -ENOENT);
	assert_int_equal(weir_node_hop_set(7, &hop), 0);
	assert_int_equal(weir_node_hop_get(7, &back), 0);
	assert_memory_equal(&back, &hop, sizeof(hop));
	for (copy = 0; copy < 2; copy++) { /* each change switches: both copies are true */
		fast = &weir_node_hops()[7];
		assert_int_equal(fast->kind, WEIR_NODE_HOP_FORWARD);
		assert_int_equal(fast->port, 1);
		assert_int_equal(fast->mtu, 1501);
		assert_int_equal(fast->header_length, 14);
		assert_memory_equal(fast->header, plain, sizeof(plain));
		assert_int_equal(weir_node_hop_set(copy, &hop), 0);
	}
	hop.port = 3;
	assert_int_equal(weir_node_hop_set(7, &hop), 0);
	fast = &weir_node_hops()[7];
	assert_int_equal(fast->header_length, 18);
	assert_int_equal(fast->mtu, 1503);
	assert_memory_equal(fast->header, tagged, sizeof(tagged));
	weir_node_route_info(&info);
	assert_int_equal(info.next_hops, 3);

	hop.port = 4;
	assert_int_equal(weir_node_hop_set(7, &hop), -ENOENT);
	assert_int_equal(weir_node_hops()[7].port, 3);
	hop.port = 0;
	hop.mac.addr_bytes[0] = 1;
	assert_int_equal(weir_node_hop_set(7, &hop), -EINVAL);
	memset(&hop.mac, 0, sizeof(hop.mac));
	assert_int_equal(weir_node_hop_set(7, &hop), -EINVAL);
	hop.kind = 99;
	assert_int_equal(weir_node_hop_set(7, &hop), -EINVAL);
	for (hop.kind = WEIR_NODE_HOP_INCOMPLETE; hop.kind <= WEIR_NODE_HOP_LOCAL; hop.kind++) {
		assert_int_equal(weir_node_hop_set(7, &hop), 0);
		assert_int_equal(weir_node_hops()[7].kind, hop.kind);
	}
}

static void
test_hop_references(void **state)
{
	struct weir_node_hop hop;

	(void)state;
	test_tables(NULL, 3);
	assert_int_equal(test_add("10.0.0.0/8", 1), 0);
	assert_int_equal(test_add("2001:db8::/32", 1), 0);
	assert_int_equal(weir_node_hop_delete(1), -EBUSY);
	assert_non_null(strstr(test_log, "2 routes"));
	assert_int_equal(test_add("10.0.0.0/8", 2), 0); /* replaced: one reference moves */
	assert_int_equal(test_add("10.0.0.0/8", 2), 0);
	assert_int_equal(weir_node_hop_delete(1), -EBUSY);
	assert_int_equal(test_delete("2001:db8::/32"), 0);
	assert_int_equal(weir_node_hop_delete(1), 0);
	assert_int_equal(weir_node_hop_delete(1), -ENOENT);
	assert_int_equal(weir_node_hop_get(1, &hop), -ENOENT);
	assert_int_equal(weir_node_hops()[1].kind, WEIR_NODE_HOP_BLACKHOLE);
	assert_int_equal(test_add("10.1.0.0/16", 1), -ENOENT);
	assert_non_null(strstr(test_log, "10.1.0.0/16"));
	assert_int_equal(test_add("10.1.0.0/16", 4096), -ENOENT);
	assert_int_equal(test_add("10.1.0.0/16", WEIR_NODE_HOP_INVALID), -EINVAL);
	assert_int_equal(weir_node_hop_delete(2), -EBUSY);
	assert_int_equal(test_delete("10.0.0.0/8"), 0);
	assert_int_equal(weir_node_hop_delete(2), 0);
}

static void
test_nesting(void **state)
{
	static const char *const chain4[] = {"0.0.0.0/0", "10.0.0.0/7", "10.0.0.0/8",
		"10.20.0.0/16", "10.20.30.0/23", "10.20.30.0/24", "10.20.30.0/25", "10.20.30.40/29",
		"10.20.30.40/31", "10.20.30.40/32"};
	static const char *const chain6[] = {"::/0", "2000::/3", "2001:d00::/24", "2001:db8::/32",
		"2001:db8::/33", "2001:db8::/48", "2001:db8::/63", "2001:db8::/64",
		"2001:db8::/127", "2001:db8::/128"};
	const uint32_t nb = RTE_DIM(chain4);
	uint32_t i, round;

	(void)state;
	test_tables(NULL, nb);
	for (round = 0; round < 2; round++) {
		/* Longest first, then shortest first. */
		for (i = 0; i < nb; i++) {
			assert_int_equal(
				test_add(chain4[round ? i : nb - 1 - i], round ? i : nb - 1 - i),
				0);
			assert_int_equal(test_lookup("10.20.30.40"), round ? i : nb - 1);
			assert_int_equal(
				test_add(chain6[round ? i : nb - 1 - i], round ? i : nb - 1 - i),
				0);
			assert_int_equal(test_lookup("2001:db8::"), round ? i : nb - 1);
		}
		/* What is deleted exposes what covers it. */
		for (i = nb; i-- > 0;) {
			assert_int_equal(test_lookup("10.20.30.40"), i);
			assert_int_equal(test_delete(chain4[i]), 0);
			assert_int_equal(
				test_lookup("10.20.30.40"), i == 0 ? WEIR_NODE_NO_ROUTE : i - 1);
			assert_int_equal(test_delete(chain4[i]), -ENOENT);
		}
		assert_int_equal(test_lookup("2001:db8::"), nb - 1);
		assert_int_equal(test_lookup("2001:db8::1"), nb - 2);
		assert_int_equal(test_lookup("2001:db8::2"), nb - 3);
		assert_int_equal(test_lookup("fe80::2"), 0);
		for (i = nb; i-- > 0;)
			assert_int_equal(test_delete(chain6[i]), 0);
		assert_int_equal(test_lookup("2001:db8::"), WEIR_NODE_NO_ROUTE);
	}
	assert_int_equal(weir_node_route_state.table[0].fib[0].used_groups, 0);
	assert_int_equal(weir_node_route_state.table[1].fib[1].used_groups, 0);
}

static void
test_bad_prefixes(void **state)
{
	struct weir_node_prefix prefix = {.version = 4, .length = 8, .address = {10, 1}};

	(void)state;
	test_tables(NULL, 1);
	assert_int_equal(weir_node_route_add(&prefix, 0), -EINVAL);
	assert_non_null(strstr(test_log, "beyond its prefix length"));
	assert_int_equal(weir_node_route_delete(&prefix), -EINVAL);
	prefix.length = 33;
	assert_int_equal(weir_node_route_add(&prefix, 0), -EINVAL);
	prefix.version = 6;
	prefix.length = 129;
	assert_int_equal(weir_node_route_add(&prefix, 0), -EINVAL);
	prefix.version = 5;
	assert_int_equal(weir_node_route_add(&prefix, 0), -EINVAL);
	assert_int_equal(weir_node_route_lookup(5, prefix.address, NULL, NULL), -EINVAL);
	assert_int_equal(weir_node_route_foreach(5, NULL, NULL), -EINVAL);
}

static void
test_control_lookup(void **state)
{
	struct weir_node_prefix prefix, want = test_prefix("10.20.0.0/16");
	const uint8_t inside[16] = {10, 20, 255, 1}, outside[16] = {11};
	uint32_t hop = 99;

	(void)state;
	test_tables(NULL, 4);
	assert_int_equal(test_add("10.0.0.0/8", 1), 0);
	assert_int_equal(test_add("10.20.0.0/16", 2), 0);
	assert_int_equal(weir_node_route_lookup(4, inside, &hop, &prefix), 0);
	assert_int_equal(hop, 2);
	assert_memory_equal(&prefix, &want, sizeof(want));
	assert_int_equal(weir_node_route_lookup(4, outside, &hop, &prefix), -ENOENT);
	assert_int_equal(weir_node_route_lookup(6, inside, &hop, &prefix), -ENOENT);
	assert_int_equal(test_add("a14::/16", 3), 0);
	assert_int_equal(weir_node_route_lookup(6, inside, &hop, &prefix), 0);
	assert_int_equal(hop, 3);
	assert_int_equal(prefix.version, 6);
}

struct seen {
	unsigned int nb;
	unsigned int stop_at;
	char text[256];
};

static int
visit(void *arg, const struct weir_node_prefix *prefix, uint32_t hop)
{
	struct seen *seen = arg;
	char text[64];

	weir_node_prefix_print(prefix, text, sizeof(text));
	snprintf(seen->text + strlen(seen->text), sizeof(seen->text) - strlen(seen->text), "%s>%u ",
		text, hop);
	return ++seen->nb == seen->stop_at ? 7 : 0;
}

static void
test_foreach(void **state)
{
	struct seen seen = {0}, some = {.stop_at = 2};

	(void)state;
	test_tables(NULL, 4);
	assert_int_equal(weir_node_route_foreach(4, visit, &seen), 0);
	assert_int_equal(seen.nb, 0);
	assert_int_equal(test_add("192.168.1.0/24", 3), 0);
	assert_int_equal(test_add("10.0.0.0/8", 1), 0);
	assert_int_equal(test_add("10.128.0.0/9", 2), 0);
	assert_int_equal(test_add("2001:db8::/32", 0), 0);
	assert_int_equal(weir_node_route_foreach(4, visit, &seen), 0);
	assert_string_equal(seen.text, "10.0.0.0/8>1 10.128.0.0/9>2 192.168.1.0/24>3 ");
	assert_int_equal(weir_node_route_foreach(4, visit, &some), 7);
	assert_int_equal(some.nb, 2);
	seen.text[0] = '\0';
	assert_int_equal(weir_node_route_foreach(6, visit, &seen), 0);
	assert_string_equal(seen.text, "2001:db8::/32>0 ");
}

static int
batch_add(struct weir_node_route_batch *batch, const char *text, uint32_t hop)
{
	struct weir_node_prefix prefix = test_prefix(text);

	return weir_node_route_batch_add(batch, &prefix, hop);
}

static int
batch_delete(struct weir_node_route_batch *batch, const char *text)
{
	struct weir_node_prefix prefix = test_prefix(text);

	return weir_node_route_batch_delete(batch, &prefix);
}

static void
test_batch(void **state)
{
	struct weir_node_route_batch *batch;
	struct weir_node_route_info before, after;

	(void)state;
	test_tables(NULL, 4);
	assert_int_equal(test_add("10.0.0.0/8", 1), 0);
	weir_node_route_info(&before);
	batch = weir_node_route_batch_begin();
	assert_int_equal(batch_add(batch, "10.1.0.0/16", 2), 0);
	assert_int_equal(batch_add(batch, "10.1.1.128/25", 3), 0);
	assert_int_equal(batch_delete(batch, "10.0.0.0/8"), 0);
	assert_int_equal(batch_add(batch, "2001:db8::/32", 2), 0);
	assert_int_equal(batch_add(batch, "2001:db8::/32", 3), 0); /* the later one counts */
	assert_int_equal(batch_add(batch, "11.0.0.0/8", 3), 0);
	assert_int_equal(batch_delete(batch, "11.0.0.0/8"), 0);
	assert_int_equal(test_lookup("10.1.1.128"), 1); /* not seen yet */
	assert_int_equal(weir_node_route_batch_commit(batch), 0);
	assert_int_equal(test_lookup("10.1.1.128"), 3);
	assert_int_equal(test_lookup("10.1.1.127"), 2);
	assert_int_equal(test_lookup("10.2.0.0"), WEIR_NODE_NO_ROUTE);
	assert_int_equal(test_lookup("11.2.0.0"), WEIR_NODE_NO_ROUTE);
	assert_int_equal(test_lookup("2001:db8::"), 3);
	weir_node_route_info(&after);
	assert_int_equal(after.switches, before.switches + 2); /* one per IP version */
	assert_int_equal(after.ip4_routes, 2);
	assert_int_equal(after.ip6_routes, 1);
	assert_int_equal(after.ip4_long_groups, 1);
	assert_int_equal(after.ip6_groups, 1);

	batch = weir_node_route_batch_begin();
	assert_int_equal(batch_add(batch, "10.1.0.0/16", 1), 0);
	weir_node_route_batch_abort(batch);
	weir_node_route_batch_abort(NULL);
	batch = weir_node_route_batch_begin();
	assert_int_equal(weir_node_route_batch_commit(batch), 0);
	weir_node_route_info(&before);
	assert_int_equal(after.switches, before.switches);
	assert_int_equal(test_lookup("10.1.0.0"), 2);
}

/* An error at the end of the IPv6 part takes the IPv4 part back too. */
static void
test_batch_none(void **state)
{
	struct weir_node_route_batch *batch;
	struct weir_node_route_info before, after;

	(void)state;
	test_tables(NULL, 4);
	assert_int_equal(test_add("10.0.0.0/8", 1), 0);
	assert_int_equal(test_add("10.1.1.1/32", 2), 0);
	weir_node_route_info(&before);
	batch = weir_node_route_batch_begin();
	assert_int_equal(batch_delete(batch, "10.1.1.1/32"), 0);
	assert_int_equal(batch_delete(batch, "10.0.0.0/8"), 0);
	assert_int_equal(batch_add(batch, "0.0.0.0/0", 3), 0);
	assert_int_equal(batch_add(batch, "10.1.1.0/30", 3), 0);
	assert_int_equal(batch_add(batch, "2001:db8::/64", 3), 0);
	assert_int_equal(batch_delete(batch, "2001:db8::/63"), 0);
	assert_int_equal(weir_node_route_batch_commit(batch), -ENOENT);
	weir_node_route_info(&after);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(test_lookup("10.1.1.1"), 2);
	assert_int_equal(test_lookup("10.1.1.0"), 1);
	assert_int_equal(test_lookup("11.1.1.0"), WEIR_NODE_NO_ROUTE);
	assert_int_equal(test_lookup("2001:db8::"), WEIR_NODE_NO_ROUTE);
	assert_int_equal(weir_node_hop_delete(3), 0); /* no reference was left */
	assert_int_equal(weir_node_hop_delete(2), -EBUSY);
}

static void
test_limits(void **state)
{
	const struct weir_node_route_limits limits = {.ip4_routes = 3,
		.ip4_long_groups = 1,
		.ip6_routes = 2,
		.ip6_groups = 5,
		.next_hops = 4,
		.socket_id = -1};
	struct weir_node_route_batch *batch;

	(void)state;
	test_tables(&limits, 4);
	assert_int_equal(test_add("10.0.0.0/25", 1), 0);
	assert_int_equal(test_add("10.0.0.128/26", 1), 0);
	assert_int_equal(test_add("10.0.1.0/25", 1), -ENOSPC); /* a second group */
	assert_non_null(strstr(test_log, "ip4_long_groups"));
	assert_int_equal(test_lookup("10.0.1.0"), WEIR_NODE_NO_ROUTE);
	assert_int_equal(test_add("10.0.1.0/24", 2), 0);
	assert_int_equal(test_add("10.0.2.0/24", 2), -ENOSPC);
	assert_non_null(strstr(test_log, "ip4_routes"));
	assert_int_equal(test_add("10.0.1.0/24", 3), 0); /* a replacement needs no room */
	/* What is over a limit only on the way is not over it. */
	batch = weir_node_route_batch_begin();
	assert_int_equal(batch_add(batch, "9.0.0.0/32", 2), 0);
	assert_int_equal(batch_add(batch, "10.0.2.0/24", 2), 0);
	assert_int_equal(batch_add(batch, "11.0.0.0/32", 2), 0);
	assert_int_equal(batch_delete(batch, "10.0.0.0/25"), 0);
	assert_int_equal(batch_delete(batch, "10.0.0.128/26"), 0);
	assert_int_equal(batch_delete(batch, "9.0.0.0/32"), 0);
	assert_int_equal(weir_node_route_batch_commit(batch), 0);
	assert_int_equal(test_lookup("11.0.0.0"), 2);
	assert_int_equal(test_lookup("10.0.0.0"), WEIR_NODE_NO_ROUTE);
	assert_int_equal(test_lookup("9.0.0.0"), WEIR_NODE_NO_ROUTE);
	/* The only group moves to a lower address: it comes free before it is needed. */
	batch = weir_node_route_batch_begin();
	assert_int_equal(batch_add(batch, "9.9.9.9/32", 1), 0);
	assert_int_equal(batch_delete(batch, "11.0.0.0/32"), 0);
	assert_int_equal(weir_node_route_batch_commit(batch), 0);
	assert_int_equal(test_lookup("9.9.9.9"), 1);
	assert_int_equal(test_lookup("11.0.0.0"), WEIR_NODE_NO_ROUTE);

	assert_int_equal(test_add("2001:db8::/64", 1), 0); /* below 24, 32, 40, 48 and 56 bits */
	assert_int_equal(test_add("2001:db8::/65", 1), -ENOSPC);
	assert_non_null(strstr(test_log, "ip6_groups"));
	assert_int_equal(test_add("2001:db8:0:ff::/64", 2), 0);
	assert_int_equal(test_lookup("2001:db8:0:ff::"), 2);
	assert_int_equal(test_add("3000::/8", 2), -ENOSPC);
	assert_int_equal(test_delete("2001:db8:0:ff::/64"), 0);
	assert_int_equal(test_add("3000::/8", 2), 0);
	assert_int_equal(test_lookup("3000::"), 2);
}

/* Of 2-byte and of 4-byte slots, the highest next hop. */
static void
test_widths(void **state)
{
	static const uint32_t widths[] = {32767, 32768, 1 << 20};
	struct weir_node_hop hop = {.kind = WEIR_NODE_HOP_BLACKHOLE};
	uint32_t i, last;

	(void)state;
	for (i = 0; i < RTE_DIM(widths); i++) {
		test_tables(
			&(struct weir_node_route_limits){.next_hops = widths[i], .ip6_groups = 100},
			1);
		last = widths[i] - 1;
		assert_int_equal(weir_node_hop_set(last, &hop), 0);
		assert_int_equal(weir_node_route_state.table[0].fib[0].wide, widths[i] > 32767);
		assert_int_equal(weir_node_route_state.table[1].fib[0].wide, widths[i] > 32767);
		assert_int_equal(test_add("255.255.255.255/32", last), 0);
		assert_int_equal(test_add("255.255.255.0/24", 0), 0);
		assert_int_equal(test_add("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128", last), 0);
		assert_int_equal(test_lookup("255.255.255.255"), last);
		assert_int_equal(test_lookup("255.255.255.254"), 0);
		assert_int_equal(test_lookup("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), last);
		assert_int_equal(
			test_lookup("ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe"), WEIR_NODE_NO_ROUTE);
		weir_node_route_fini();
	}
}

/* Vectors of any length, nothing written beyond. */
static void
test_vector_lengths(void **state)
{
	uint32_t addresses[70], hops[71], nb, i;
	uint8_t addresses6[70][16];

	(void)state;
	test_tables(NULL, 4);
	assert_int_equal(test_add("10.0.0.0/8", 1), 0);
	assert_int_equal(test_add("10.0.0.32/27", 2), 0);
	assert_int_equal(test_add("a00::/16", 3), 0);
	assert_int_equal(test_add("a00::20:0:0:0/91", 0), 0);
	for (i = 0; i < 70; i++) {
		addresses[i] = UINT32_C(0x0a000000) + i;
		memset(addresses6[i], 0, 16);
		addresses6[i][0] = 10;
		addresses6[i][9] = (uint8_t)i;
	}
	for (nb = 0; nb <= 70; nb++) {
		memset(hops, 0xee, sizeof(hops));
		weir_node_route_lookup4(addresses, hops, nb);
		for (i = 0; i < nb; i++)
			assert_int_equal(hops[i], i >= 32 && i < 64 ? 2 : 1);
		assert_int_equal(hops[nb], 0xeeeeeeee);
		memset(hops, 0xee, sizeof(hops));
		weir_node_route_lookup6(addresses6, hops, nb);
		for (i = 0; i < nb; i++)
			assert_int_equal(hops[i], i == 32 ? 0 : 3);
		assert_int_equal(hops[nb], 0xeeeeeeee);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_before_init, teardown),
		cmocka_unit_test_teardown(test_init, teardown),
		cmocka_unit_test_teardown(test_hops, teardown),
		cmocka_unit_test_teardown(test_hop_references, teardown),
		cmocka_unit_test_teardown(test_nesting, teardown),
		cmocka_unit_test_teardown(test_bad_prefixes, teardown),
		cmocka_unit_test_teardown(test_control_lookup, teardown),
		cmocka_unit_test_teardown(test_foreach, teardown),
		cmocka_unit_test_teardown(test_batch, teardown),
		cmocka_unit_test_teardown(test_batch_none, teardown),
		cmocka_unit_test_teardown(test_limits, teardown),
		cmocka_unit_test_teardown(test_widths, teardown),
		cmocka_unit_test_teardown(test_vector_lengths, teardown),
	};

	return cmocka_run_group_tests_name("route", tests, NULL, NULL);
}
