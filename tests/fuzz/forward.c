/* SPDX-License-Identifier: BSD-3-Clause */

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>

#include "forward.h"
#include "node_private.h"
#include "weir_base_eal.h"
#include "weir_node_route.h"

#define MAX_FRAMES 64
#define MISSING    1000

/* A frame's bytes outside of the mbuf. */
struct block {
	struct rte_mbuf_ext_shared_info info;
	uint8_t *bytes;
	uint8_t *before; /* copy of shared ones */
	uint32_t length;
};

static struct {
	struct rte_mempool *pool;
	struct weir_graph *graph;
	uint16_t port;
	struct rte_mbuf *frames[MAX_FRAMES];
	uint16_t nb_frames;
	struct block blocks[2 * MAX_FRAMES];
	uint32_t nb_blocks;
	uint32_t nb_freed;
} fuzz;

#define REQUIRE(what)                                                                              \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);         \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static uint16_t
source_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	uint16_t nb = fuzz.nb_frames;
	void **to;

	RTE_SET_USED(objs);
	RTE_SET_USED(nb_objs);
	if (nb == 0)
		return 0;
	to = weir_graph_stream_get(graph, node, 0, nb);
	REQUIRE(to != NULL);
	memcpy(to, fuzz.frames, nb * sizeof(*to));
	fuzz.nb_frames = 0;
	weir_graph_stream_put(graph, node, 0, nb);
	return nb;
}

static struct weir_graph_node_register fuzz_source = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "fuzz_source",
	.flags = WEIR_GRAPH_NODE_SOURCE,
	.process = source_process,
	.nb_edges = 1,
	.next_nodes = (const char *const[]){"classify"},
};
WEIR_GRAPH_NODE_REGISTER(fuzz_source);

static void
log_sink(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
}

static uint16_t
add_port(const char *name, uint16_t mtu, uint16_t vlan)
{
	/* A file, so that every byte sent is read. */
	uint16_t id = weir_node_port_add(&(struct weir_node_port_param){
		.name = name, .pcap_out = "/dev/null", .mtu = mtu, .vlan = vlan});

	REQUIRE(id != WEIR_NODE_PORT_INVALID);
	return id;
}

static void
add_routes(void)
{
	static const struct weir_node_route_limits limits = {.ip4_routes = 64,
		.ip4_long_groups = 4,
		.ip6_routes = 64,
		.ip6_groups = 64,
		.next_hops = 16,
		.socket_id = -1};
	static const char *const prefixes[] = {"0.0.0.0/2", "2000::/4", "64.0.0.0/2", "3000::/4",
		"128.0.0.0/2", "4000::/4", "192.0.0.0/4", "5000::/4", "208.0.0.0/5", "6000::/4",
		"216.0.0.0/8", "7000::/4"};
	const struct weir_node_hop hops[] = {
		{WEIR_NODE_HOP_FORWARD, add_port("wide", 1500, 0), {{2}}},
		{WEIR_NODE_HOP_FORWARD, add_port("narrow", WEIR_NODE_MTU_MIN, 0), {{2}}},
		{WEIR_NODE_HOP_FORWARD, add_port("tagged", 100, 9), {{2}}},
		{.kind = WEIR_NODE_HOP_LOCAL},
		{.kind = WEIR_NODE_HOP_BLACKHOLE},
		{.kind = WEIR_NODE_HOP_INCOMPLETE},
	};
	struct weir_node_prefix prefix;

	REQUIRE(weir_node_route_init(&limits) == 0);
	for (uint32_t i = 0; i < RTE_DIM(hops); i++)
		REQUIRE(weir_node_hop_set(i, &hops[i]) == 0);
	for (uint32_t i = 0; i < RTE_DIM(prefixes); i++) {
		REQUIRE(weir_node_prefix_parse(prefixes[i], &prefix, NULL) == 0);
		REQUIRE(weir_node_route_add(&prefix, i / 2) == 0);
	}
}

/* Give all back, so that the leak detector sees what is lost otherwise. */
static void
fini(void)
{
	weir_node_punt_capture(NULL);
	weir_graph_destroy(weir_graph_from_name("fuzz"));
	weir_node_route_fini();
	for (uint16_t id = 0; id < weir_node_port_max_count(); id++)
		weir_node_port_remove(id);
	rte_mempool_free(fuzz.pool);
	rte_eal_cleanup();
}

void
forward_init(const char *name)
{
	char lcores[32], file_prefix[64];
	char *args[] = {(char *)(uintptr_t)name, "--no-huge", "--no-pci", "--no-telemetry",
		"--no-shconf", "-m", "128", "--log-level=lib.eal:4", "--lcores", lcores,
		"--file-prefix", file_prefix};
	const char *pattern = "fuzz_source";
	uint32_t graph;

	snprintf(lcores, sizeof(lcores), "0@%d", sched_getcpu());
	snprintf(file_prefix, sizeof(file_prefix), "weir-fuzz-%d", (int)getpid());
	weir_base_eal_clean_up_at_exit();
	REQUIRE(rte_eal_init(RTE_DIM(args), args) >= 0);
	weir_base_log_set_sink(log_sink, NULL);
	fuzz.pool = rte_pktmbuf_pool_create(
		"fuzz", 8191, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	REQUIRE(fuzz.pool != NULL);
	REQUIRE(node_dyn_register() == 0);
	fuzz.port = add_port("in", 0, 0);
	weir_node_ports_fast[fuzz.port].pool = fuzz.pool;
	add_routes();
	REQUIRE(weir_node_punt_capture("/dev/null") == 0);
	REQUIRE(weir_node_prepare() == 0);
	graph = weir_graph_create("fuzz", &(struct weir_graph_param){.socket_id = SOCKET_ID_ANY,
						  .nb_node_patterns = 1,
						  .node_patterns = &pattern,
						  .burst = 16});
	REQUIRE(graph != WEIR_GRAPH_ID_INVALID);
	fuzz.graph = weir_graph_get(graph);
	atexit(fini);
}

static void
free_block(void *address, void *opaque)
{
	struct block *block = opaque;

	REQUIRE(address == block->bytes);
	free(block->bytes);
	block->bytes = NULL;
	fuzz.nb_freed++;
}

/* An mbuf around a block of exactly these bytes. */
static struct rte_mbuf *
make_mbuf(const uint8_t *bytes, uint32_t length, unsigned int flags)
{
	struct block *block = &fuzz.blocks[fuzz.nb_blocks];
	struct rte_mbuf *m = rte_pktmbuf_alloc(fuzz.pool);

	REQUIRE(m != NULL);
	if (flags & FORWARD_COPY && length <= rte_pktmbuf_tailroom(m)) {
		memcpy(rte_pktmbuf_append(m, (uint16_t)length), bytes, length);
		return m;
	}
	fuzz.nb_blocks++;
	*block = (struct block){.length = length, .bytes = malloc(length)};
	REQUIRE(block->bytes != NULL);
	memcpy(block->bytes, bytes, length);
	block->info.free_cb = free_block;
	block->info.fcb_opaque = block;
	rte_mbuf_ext_refcnt_set(&block->info, flags & FORWARD_SHARED ? 2 : 1);
	if (flags & FORWARD_SHARED) {
		block->before = malloc(length);
		REQUIRE(block->before != NULL);
		memcpy(block->before, bytes, length);
	}
	rte_pktmbuf_attach_extbuf(m, block->bytes, (rte_iova_t)(uintptr_t)block->bytes,
		(uint16_t)length, &block->info);
	m->data_off = 0;
	REQUIRE(rte_pktmbuf_append(m, (uint16_t)length) != NULL);
	return m;
}

/* Where the IP header of a frame would be. */
static uint32_t
find_ip(const uint8_t *frame, uint32_t length)
{
	uint32_t at = 12;

	while (at + 4 <= length && ((frame[at] == 0x81 && frame[at + 1] == 0) ||
					   (frame[at] == 0x88 && frame[at + 1] == 0xa8)))
		at += 4;
	return at + 2;
}

/* Help random bytes past the first checks, as the flags say. */
static void
repair(uint8_t *frame, uint32_t length, unsigned int flags)
{
	uint32_t l3 = find_ip(frame, length);
	uint8_t *ip = frame + l3;

	if (flags & FORWARD_OWN_MAC && length >= 6)
		memcpy(frame, &weir_node_ports_fast[fuzz.port].mac, 6);
	if (l3 + 20 > length)
		return;
	if (flags & FORWARD_ROUTED && ip[0] >> 4 == 4)
		ip[16] = (uint8_t)((ip[16] & 0xc0) | 1);
	if (flags & FORWARD_ROUTED && ip[0] >> 4 == 6 && l3 + 40 <= length)
		ip[24] = (uint8_t)(0x20 + (ip[24] & 0x50));
	if (flags & FORWARD_CHECKSUM && ip[0] >> 4 == 4 && l3 + (ip[0] & 0xfu) * 4 <= length) {
		uint32_t sum = 0;

		ip[10] = ip[11] = 0;
		for (uint32_t i = 0; i < (ip[0] & 0xfu) * 4; i += 2)
			sum += (uint32_t)ip[i] << 8 | ip[i + 1];
		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		ip[10] = (uint8_t)(~sum >> 8);
		ip[11] = (uint8_t)~sum;
	}
}

static void
add_frame(const uint8_t *bytes, uint32_t length, unsigned int flags)
{
	uint32_t split = flags & FORWARD_SPLIT && length > 1 ? bytes[length - 1] % length : length;
	uint8_t *copy = malloc(length + 1);
	struct rte_mbuf *m;

	REQUIRE(copy != NULL);
	memcpy(copy, bytes, length);
	repair(copy, length, flags);
	m = make_mbuf(copy, split, flags);
	if (split < length) {
		m->next = make_mbuf(copy + split, length - split, flags);
		m->nb_segs = 2;
		m->pkt_len = length;
	}
	free(copy);
	if (flags & FORWARD_MISSING)
		node_mbuf_set_wire_length(m, length + MISSING);
	m->port = fuzz.port;
	fuzz.frames[fuzz.nb_frames++] = m;
}

/* What somebody else holds must be as it was; all else must be free. */
static void
check_blocks(void)
{
	for (uint32_t i = 0; i < fuzz.nb_blocks; i++) {
		struct block *block = &fuzz.blocks[i];

		if (block->before == NULL)
			continue;
		REQUIRE(block->bytes != NULL && rte_mbuf_ext_refcnt_read(&block->info) == 1);
		REQUIRE(memcmp(block->before, block->bytes, block->length) == 0);
		free(block->before);
		free_block(block->bytes, block);
	}
	REQUIRE(fuzz.nb_freed == fuzz.nb_blocks);
	REQUIRE(rte_mempool_in_use_count(fuzz.pool) == 0);
	fuzz.nb_blocks = 0;
	fuzz.nb_freed = 0;
}

unsigned int
forward_input(const uint8_t *bytes, size_t size)
{
	struct weir_node_totals before, after;
	size_t at = 0;
	uint16_t nb;

	while (at + 3 <= size && fuzz.nb_frames < MAX_FRAMES) {
		unsigned int flags = bytes[at];
		size_t length =
			RTE_MIN((size_t)(bytes[at + 1] | bytes[at + 2] << 8), size - at - 3);

		add_frame(bytes + at + 3, (uint32_t)length, flags);
		at += 3 + length;
	}
	nb = fuzz.nb_frames;
	if (nb == 0)
		return 0;
	REQUIRE(weir_node_totals(&before) == 0);
	weir_graph_walk(fuzz.graph);
	REQUIRE(weir_node_totals(&after) == 0);
	REQUIRE(nb + (after.fragments - before.fragments) -
			(after.fragmented - before.fragmented) ==
		after.sent - before.sent + after.dropped - before.dropped + after.punted -
			before.punted);
	REQUIRE(after.discarded == before.discarded);
	check_blocks();
	return nb;
}
