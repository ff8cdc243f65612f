/* SPDX-License-Identifier: BSD-3-Clause */

#include <arpa/inet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ip.h>

#include "node_test.h"
#include "weir_base.h"
#include "weir_base_eal.h"

struct test_router router;
char test_log[512];
unsigned int test_log_count;

static const char *const port_names[TEST_NB_PORTS] = {"left", "right", "tagged", "narrow", "any"};
static uint64_t reasons_before[WEIR_NODE_REASON_COUNT];

static void
log_sink(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	if (level > WEIR_BASE_LOG_WARNING)
		return;
	snprintf(test_log, sizeof(test_log), "%s", message);
	test_log_count++;
}

int
test_main(const char *name, int (*run)(void))
{
	char lcores[32], prefix[64];
	char *args[] = {(char *)(uintptr_t)name, "--no-huge", "--no-pci", "--no-telemetry",
		"--no-shconf", "-m", "256", "--log-level=lib.eal:4", "--lcores", lcores,
		"--file-prefix", prefix};
	int rc;

	snprintf(lcores, sizeof(lcores), "0@%d", sched_getcpu());
	snprintf(prefix, sizeof(prefix), "weir-test-%d", (int)getpid());
	weir_base_eal_clean_up_at_exit();
	if (rte_eal_init(RTE_DIM(args), args) < 0) {
		fprintf(stderr, "no EAL: %s\n", rte_strerror(rte_errno));
		return 1;
	}
	weir_base_log_set_sink(log_sink, NULL);
	rc = run();
	rte_eal_cleanup();
	return rc;
}

/* A ring for each direction of a cable, and a device between them and the router. */
static int
add_port(enum test_port port, uint16_t mtu, uint16_t vlan, bool any)
{
	struct weir_node_port_param param = {
		.name = port_names[port],
		.mtu = mtu,
		.vlan = vlan,
		.accept_any = any,
		.mac_given = true,
		.mac = {{0x02, 0xaa, 0, 0, 0, (uint8_t)port}},
		.pool = router.pool,
	};
	char name[64], device[64];
	int ethdev;

	snprintf(name, sizeof(name), "in-%s", port_names[port]);
	router.in[port] = rte_ring_create(name, 4096, SOCKET_ID_ANY, 0);
	snprintf(name, sizeof(name), "out-%s", port_names[port]);
	router.out[port] = rte_ring_create(name, 4096, SOCKET_ID_ANY, 0);
	if (router.in[port] == NULL || router.out[port] == NULL)
		return -1;
	ethdev = rte_eth_from_rings(port_names[port], &router.in[port], 1, &router.out[port], 1, 0);
	if (ethdev < 0 || rte_eth_dev_get_name_by_port((uint16_t)ethdev, device) < 0)
		return -1;
	param.device = device;
	router.port[port] = weir_node_port_add(&param);
	return router.port[port] == WEIR_NODE_PORT_INVALID ? -1 : 0;
}

static int
add_routes(void)
{
	struct weir_node_route_limits limits = {.ip4_routes = 1024,
		.ip4_long_groups = 16,
		.ip6_routes = 1024,
		.ip6_groups = 256,
		/* WEIR_TEST_WIDE: so many that slots of routing tables are wide */
		.next_hops = getenv("WEIR_TEST_WIDE") != NULL ? 40000 : 64,
		.socket_id = -1};
	static const struct {
		const char *prefix;
		uint32_t hop;
	} routes[] = {{"10.0.0.0/8", 0}, {"10.1.0.0/16", 1}, {"10.2.0.0/16", 2}, {"10.3.0.0/16", 3},
		{"10.4.0.0/16", 4}, {"10.5.0.0/16", 5},
		/* where a look-up that took slots for half as wide would find 10/8 */
		{"5.0.0.0/8", 4}, {"2001:db8:a::/48", 0}, {"2001:db8:b::/48", 1},
		{"2001:db8:c::/48", 2}, {"2001:db8:d::/48", 3}, {"2001:db8:e::/48", 4},
		{"2001:db8:f::/48", 5}};
	const struct weir_node_hop hops[] = {
		{WEIR_NODE_HOP_FORWARD, router.port[TEST_RIGHT],
			{{0x02, 0xbb, 0, 0, 0, TEST_RIGHT}}},
		{WEIR_NODE_HOP_FORWARD, router.port[TEST_TAGGED],
			{{0x02, 0xbb, 0, 0, 0, TEST_TAGGED}}},
		{WEIR_NODE_HOP_FORWARD, router.port[TEST_NARROW],
			{{0x02, 0xbb, 0, 0, 0, TEST_NARROW}}},
		{.kind = WEIR_NODE_HOP_LOCAL},
		{.kind = WEIR_NODE_HOP_BLACKHOLE},
		{.kind = WEIR_NODE_HOP_INCOMPLETE, .port = router.port[TEST_RIGHT]},
	};
	struct weir_node_prefix prefix;

	if (weir_node_route_init(&limits) < 0)
		return -1;
	for (uint32_t i = 0; i < RTE_DIM(hops); i++)
		if (weir_node_hop_set(i, &hops[i]) < 0)
			return -1;
	for (size_t i = 0; i < RTE_DIM(routes); i++)
		if (weir_node_prefix_parse(routes[i].prefix, &prefix, NULL) < 0 ||
			weir_node_route_add(&prefix, routes[i].hop) < 0)
			return -1;
	return 0;
}

static int
make_graph(void)
{
	static const char *const patterns[] = {"ethdev_rx-*"};

	router.graph_id =
		weir_graph_create("router", &(struct weir_graph_param){.socket_id = SOCKET_ID_ANY,
						    .nb_node_patterns = 1,
						    .node_patterns = patterns});
	router.graph = weir_graph_get(router.graph_id);
	return router.graph == NULL ? -1 : 0;
}

void
test_rewire(const char *node, uint16_t edge, const char *next)
{
	assert_int_equal(weir_graph_destroy(router.graph_id), 0);
	assert_true(
		weir_graph_node_edge_update(weir_graph_node_from_name(node), edge, &next, 1) >= 0);
	assert_int_equal(make_graph(), 0);
}

int
test_router_up(void **state)
{
	router.pool = rte_pktmbuf_pool_create(
		"test", TEST_POOL_SIZE, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (router.pool == NULL || add_port(TEST_LEFT, 0, 0, false) < 0 ||
		add_port(TEST_RIGHT, 0, 0, false) < 0 ||
		add_port(TEST_TAGGED, 0, TEST_VLAN, false) < 0 ||
		add_port(TEST_NARROW, TEST_NARROW_MTU, 0, false) < 0 ||
		add_port(TEST_ANY, 0, 0, true) < 0 || add_routes() < 0 || weir_node_prepare() < 0)
		return -1;
	return make_graph();
}

int
test_router_down(void **state)
{
	weir_graph_destroy(router.graph_id);
	weir_node_route_fini();
	for (int i = 0; i < TEST_NB_PORTS; i++)
		assert_int_equal(weir_node_port_remove(router.port[i]), 0);
	rte_mempool_free(router.pool);
	return 0;
}

static void
read_reasons(uint64_t *packets)
{
	struct weir_node_reason_count counts[WEIR_NODE_REASON_COUNT];

	assert_int_equal(weir_node_reason_counts(counts), 0);
	for (int i = 0; i < WEIR_NODE_REASON_COUNT; i++)
		packets[i] = counts[i].packets;
}

int
test_begin(void **state)
{
	test_log[0] = '\0';
	test_log_count = 0;
	read_reasons(reasons_before);
	return 0;
}

int
test_end(void **state)
{
	struct weir_node_totals t;

	assert_int_equal(weir_node_totals(&t), 0);
	assert_int_equal(t.received + t.fragments - t.fragmented,
		t.sent + t.dropped + t.punted + t.discarded);
	assert_int_equal(rte_mempool_in_use_count(router.pool), 0);
	return 0;
}

uint64_t
test_reason(enum weir_node_reason reason)
{
	uint64_t now[WEIR_NODE_REASON_COUNT];

	read_reasons(now);
	return now[reason] - reasons_before[reason];
}

void
frame_append(struct frame *frame, const void *bytes, uint32_t length)
{
	assert_true(frame->length + length <= sizeof(frame->bytes));
	memcpy(frame->bytes + frame->length, bytes, length);
	frame->length += length;
}

void
frame_ethernet(struct frame *frame, enum test_port port, uint16_t type)
{
	const uint8_t header[] = {0x02, 0xaa, 0, 0, 0, (uint8_t)port, 0x02, 0xcc, 0, 0, 0, 1,
		(uint8_t)(type >> 8), (uint8_t)type};

	frame->length = 0;
	frame_append(frame, header, sizeof(header));
	frame->l3 = frame->length;
}

void
frame_tag(struct frame *frame, uint16_t tpid, uint16_t vlan)
{
	const uint8_t tag[] = {
		(uint8_t)(tpid >> 8), (uint8_t)tpid, (uint8_t)(vlan >> 8), (uint8_t)vlan};

	memmove(frame->bytes + 16, frame->bytes + 12, frame->length - 12);
	memcpy(frame->bytes + 12, tag, sizeof(tag));
	frame->length += 4;
	frame->l3 += 4;
}

/* Bytes that differ from each other and from one place to the next. */
static void
append_payload(struct frame *frame, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		frame->bytes[frame->length++] = (uint8_t)(i * 7 + (i >> 8));
}

void
frame_ip4_checksum(struct frame *frame)
{
	uint8_t *ip = frame->bytes + frame->l3;
	uint32_t sum = 0;

	ip[10] = ip[11] = 0;
	for (uint32_t i = 0; i < (ip[0] & 0xfu) * 4; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	ip[10] = (uint8_t)(~sum >> 8);
	ip[11] = (uint8_t)~sum;
}

void
frame_ip4(struct frame *frame, enum test_port port, const char *source, const char *destination,
	uint32_t payload)
{
	uint8_t ip[20] = {0x45, 0, (uint8_t)((20 + payload) >> 8), (uint8_t)(20 + payload), 0x12,
		0x34, 0, 0, 64, 17};

	assert_int_equal(inet_pton(AF_INET, source, ip + 12), 1);
	assert_int_equal(inet_pton(AF_INET, destination, ip + 16), 1);
	frame_ethernet(frame, port, 0x0800);
	frame_append(frame, ip, sizeof(ip));
	append_payload(frame, payload);
	frame_ip4_checksum(frame);
}

void
frame_ip6(struct frame *frame, enum test_port port, const char *source, const char *destination,
	uint32_t payload)
{
	uint8_t ip[40] = {0x60, 0, 0, 0, (uint8_t)(payload >> 8), (uint8_t)payload, 17, 64};

	assert_int_equal(inet_pton(AF_INET6, source, ip + 8), 1);
	assert_int_equal(inet_pton(AF_INET6, destination, ip + 24), 1);
	frame_ethernet(frame, port, 0x86dd);
	frame_append(frame, ip, sizeof(ip));
	append_payload(frame, payload);
}

void
frame_forwarded(struct frame *to, const struct frame *from, enum test_port out)
{
	const uint8_t *ip = from->bytes + from->l3;
	bool is4 = ip[0] >> 4 == 4;
	uint32_t total =
		is4 ? (uint32_t)(ip[2] << 8 | ip[3]) : 40u + (uint32_t)(ip[4] << 8 | ip[5]);
	const uint8_t header[] = {0x02, 0xbb, 0, 0, 0, (uint8_t)out, 0x02, 0xaa, 0, 0, 0,
		(uint8_t)out, is4 ? 0x08 : 0x86, is4 ? 0x00 : 0xdd};

	to->length = 0;
	frame_append(to, header, sizeof(header));
	to->l3 = to->length;
	frame_append(to, ip, total);
	to->bytes[to->l3 + (is4 ? 8 : 7)]--;
	if (is4)
		frame_ip4_checksum(to);
	if (out == TEST_TAGGED)
		frame_tag(to, 0x8100, TEST_VLAN);
}

struct rte_mbuf *
frame_to_mbuf(const struct frame *frame)
{
	struct rte_mbuf *head = rte_pktmbuf_alloc(router.pool);
	uint32_t at = 0;

	assert_non_null(head);
	for (struct rte_mbuf *m = head;;) {
		uint16_t take =
			(uint16_t)RTE_MIN(frame->length - at, (uint32_t)rte_pktmbuf_tailroom(m));

		memcpy(rte_pktmbuf_mtod(m, void *), frame->bytes + at, take);
		m->data_len = take;
		head->pkt_len += take;
		at += take;
		if (at == frame->length)
			return head;
		m->next = rte_pktmbuf_alloc(router.pool);
		assert_non_null(m->next);
		m = m->next;
		head->nb_segs++;
	}
}

void
test_send_mbuf(enum test_port port, struct rte_mbuf *m)
{
	assert_int_equal(rte_ring_enqueue(router.in[port], m), 0);
}

void
test_send(enum test_port port, const struct frame *frame)
{
	test_send_mbuf(port, frame_to_mbuf(frame));
}

void
test_walk(void)
{
	weir_graph_walk(router.graph);
}

bool
test_receive(enum test_port port, struct frame *frame)
{
	struct rte_mbuf *m;
	void *obj;

	if (rte_ring_dequeue(router.out[port], &obj) < 0)
		return false;
	m = obj;
	rte_mbuf_sanity_check(m, 1);
	frame->length = 0;
	for (struct rte_mbuf *seg = m; seg != NULL; seg = seg->next)
		frame_append(frame, rte_pktmbuf_mtod(seg, void *), seg->data_len);
	assert_int_equal(frame->length, m->pkt_len);
	frame->l3 = weir_node_l3(m);
	rte_pktmbuf_free(m);
	return true;
}

void
expect_silence(void)
{
	for (int i = 0; i < TEST_NB_PORTS; i++)
		if (rte_ring_count(router.out[i]) != 0)
			fail_msg("a frame went out of port %s", port_names[i]);
}

void
expect_out(enum test_port in, const struct frame *frame, enum test_port out,
	const struct frame *expected)
{
	static struct frame got;

	test_send(in, frame);
	test_walk();
	if (!test_receive(out, &got)) {
		for (int i = 0; i < WEIR_NODE_REASON_COUNT; i++)
			if (test_reason((enum weir_node_reason)i) > 0)
				print_error("counted: %s\n",
					weir_node_reason_name((enum weir_node_reason)i));
		fail_msg("no frame went out of port %s", port_names[out]);
	}
	assert_int_equal(got.length, expected->length);
	assert_memory_equal(got.bytes, expected->bytes, expected->length);
	expect_silence();
}

void
expect_forwarded(enum test_port in, const struct frame *frame, enum test_port out)
{
	static struct frame expected;

	frame_forwarded(&expected, frame, out);
	expect_out(in, frame, out, &expected);
}

void
expect_reason(enum test_port in, const struct frame *frame, enum weir_node_reason reason)
{
	uint64_t before[WEIR_NODE_REASON_COUNT], after[WEIR_NODE_REASON_COUNT];

	read_reasons(before);
	test_send(in, frame);
	test_walk();
	expect_silence();
	read_reasons(after);
	for (int i = 0; i < WEIR_NODE_REASON_COUNT; i++)
		if (after[i] - before[i] != (i == (int)reason))
			fail_msg("counted %u as %s, expected %s",
				(unsigned int)(after[i] - before[i]),
				weir_node_reason_name((enum weir_node_reason)i),
				weir_node_reason_name(reason));
}
