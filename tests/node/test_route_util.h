/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_ROUTE_UTIL_H
#define TEST_ROUTE_UTIL_H

/* What the tests of routes share: ports that are not there, prefixes from text, chance, and silence. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "route_internal.h"
#include "weir_base.h"

#define TEST_NB_PORTS 4

/* What the log said last. */
static char test_log[512];

static inline void
test_log_sink(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	(void)arg;
	(void)level;
	snprintf(test_log, sizeof(test_log), "%s: %s", module, message);
}

static inline int
test_port_info(uint16_t port, struct weir_node_port_info *info)
{
	if (port >= TEST_NB_PORTS)
		return -ENOENT;
	memset(info, 0, sizeof(*info));
	info->mac = (struct rte_ether_addr){{2, 0, 0, 0, 0, (uint8_t)port}};
	info->mtu = (uint16_t)(1500 + port);
	info->vlan = port == 3 ? 0x123 : 0;
	return 0;
}

static inline int
test_no_grace(uint64_t timeout_ns)
{
	(void)timeout_ns;
	return 0;
}

/* Tables with these limits, and next hops 0 .. nb_hops-1. */
static inline void
test_tables(const struct weir_node_route_limits *limits, uint32_t nb_hops)
{
	struct weir_node_hop hop = {.kind = WEIR_NODE_HOP_FORWARD, .mac = {{2, 0, 0, 0, 1, 0}}};
	uint32_t i;

	weir_base_log_set_sink(test_log_sink, NULL);
	weir_node_route_port_info = test_port_info;
	weir_node_route_grace = test_no_grace;
	assert_int_equal(weir_node_route_init(limits), 0);
	for (i = 0; i < nb_hops; i++) {
		hop.port = (uint16_t)(i % TEST_NB_PORTS);
		assert_int_equal(weir_node_hop_set(i, &hop), 0);
	}
}

static inline struct weir_node_prefix
test_prefix(const char *text)
{
	struct weir_node_prefix prefix;
	const char *why = NULL;

	if (weir_node_prefix_parse(text, &prefix, &why) < 0)
		fail_msg("%s: %s", text, why);
	return prefix;
}

static inline int
test_add(const char *text, uint32_t hop)
{
	struct weir_node_prefix prefix = test_prefix(text);

	return weir_node_route_add(&prefix, hop);
}

static inline int
test_delete(const char *text)
{
	struct weir_node_prefix prefix = test_prefix(text);

	return weir_node_route_delete(&prefix);
}

/* Where the fast path sends an address, "10.0.0.1" or "2001:db8::1". */
static inline uint32_t
test_lookup(const char *address)
{
	char text[64];
	struct weir_node_prefix prefix;
	uint8_t address6[1][16];
	uint32_t address4, hop = 12345;

	snprintf(text, sizeof(text), "%s/%d", address, strchr(address, ':') != NULL ? 128 : 32);
	prefix = test_prefix(text);
	if (prefix.version == 4) {
		memcpy(&address4, prefix.address, 4);
		address4 = __builtin_bswap32(address4);
		weir_node_route_lookup4(&address4, &hop, 1);
	} else {
		memcpy(address6[0], prefix.address, 16);
		weir_node_route_lookup6(address6, &hop, 1);
	}
	return hop;
}

/* SplitMix64 (Steele, Lea and Flood, 2014). */
static inline uint64_t
test_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* $WEIR_TEST_SEED, else a fixed one; printed, so that a failure can be had again. */
static inline uint64_t
test_seed(void)
{
	const char *text = getenv("WEIR_TEST_SEED");
	uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 1;

	print_message("WEIR_TEST_SEED=%llu\n", (unsigned long long)seed);
	return seed;
}

#endif
