/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_TEST_H
#define NODE_TEST_H

/*
 * A small router to test the packet nodes in: the default graph between rings
 * that stand for cables. A test makes frames, sends them in, walks once, and looks at what comes out
 * or was counted. After each test all mbufs must be back and all accounts agree.
 *
 *     port      id  what is special
 *     left      0
 *     right     1
 *     tagged    2   sends with VLAN 100
 *     narrow    3   MTU 300
 *     any       4   accepts all destination addresses
 *
 *     route                        next hop
 *     10.0.0.0/8   2001:db8:a::/48    0  right
 *     10.1.0.0/16  2001:db8:b::/48    1  tagged
 *     10.2.0.0/16  2001:db8:c::/48    2  narrow
 *     10.3.0.0/16  2001:db8:d::/48    3  an address of the router
 *     10.4.0.0/16  2001:db8:e::/48    4  blackhole
 *     10.5.0.0/16  2001:db8:f::/48    5  incomplete: MAC address unknown
 *     (11.0.0.0/8  2001:db9::/48     no route)
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rte_mbuf.h>

#include "weir_graph.h"
#include "weir_graph_fast.h"
#include "weir_node.h"
#include "weir_node_fast.h"
#include "weir_node_route.h"

enum test_port {
	TEST_LEFT,
	TEST_RIGHT,
	TEST_TAGGED,
	TEST_NARROW,
	TEST_ANY,
	TEST_NB_PORTS,
};

#define TEST_NARROW_MTU 300
#define TEST_VLAN       100
#define TEST_POOL_SIZE  4095

/* What tests may look at. */
struct test_router {
	struct rte_mempool *pool;
	uint16_t port[TEST_NB_PORTS];
	struct rte_ring *in[TEST_NB_PORTS];
	struct rte_ring *out[TEST_NB_PORTS];
	uint32_t graph_id;
	struct weir_graph *graph;
};
extern struct test_router router;

/* The last warning or error, and how many there were. */
extern char test_log[512];
extern unsigned int test_log_count;

/* Bytes of a frame. */
struct frame {
	uint32_t length;
	uint32_t l3; /* where its IP header is */
	uint8_t bytes[65536 + 64];
};

/* Run with EAL up and the log caught: of main(). */
int test_main(const char *name, int (*run)(void));

/* cmocka's set-up and tear-down: of the group, and of each test. */
int test_router_up(void **state);
int test_router_down(void **state);
int test_begin(void **state);
int test_end(void **state);

/* Make the router's graph anew with an edge of a node led elsewhere. */
void test_rewire(const char *node, uint16_t edge, const char *next);

/* A frame to a port's own address, so far without payload type. */
void frame_ethernet(struct frame *frame, enum test_port port, uint16_t type);
void frame_append(struct frame *frame, const void *bytes, uint32_t length);
/* Put a VLAN tag in. */
void frame_tag(struct frame *frame, uint16_t tpid, uint16_t vlan);
/* A whole IPv4 packet with @payload bytes of UDP-like data, TTL 64; set_ip4() after changes repairs the checksum. */
void frame_ip4(struct frame *frame, enum test_port port, const char *source,
	const char *destination, uint32_t payload);
void frame_ip4_checksum(struct frame *frame);
void frame_ip6(struct frame *frame, enum test_port port, const char *source,
	const char *destination, uint32_t payload);

/* What a router makes of it: next hop's header, TTL and checksum computed anew. */
void frame_forwarded(struct frame *to, const struct frame *from, enum test_port out);

/* Into a port, from an mbuf per frame. */
struct rte_mbuf *frame_to_mbuf(const struct frame *frame);
void test_send(enum test_port port, const struct frame *frame);
void test_send_mbuf(enum test_port port, struct rte_mbuf *m);
void test_walk(void);
/* Next frame out of a port. @return whether there was one */
bool test_receive(enum test_port port, struct frame *frame);

/* Send, walk, and expect: these bytes there; or nothing anywhere and one more for this reason. */
void expect_out(enum test_port in, const struct frame *frame, enum test_port out,
	const struct frame *expected);
void expect_forwarded(enum test_port in, const struct frame *frame, enum test_port out);
void expect_reason(enum test_port in, const struct frame *frame, enum weir_node_reason reason);
void expect_silence(void);
uint64_t test_reason(enum weir_node_reason reason);

#endif
