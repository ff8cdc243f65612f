/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_PCAP_UTIL_H
#define TEST_PCAP_UTIL_H

/* What the tests of capture files share: files made byte by byte, and a graph from one to another. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_errno.h>

#include "node_test.h"

#define MAGIC_US 0xa1b2c3d4
#define MAGIC_NS 0xa1b23c4d

static char dir[] = "/tmp/weir-test-pcap-XXXXXX";
static struct frame frame;
static uint16_t in_port, out_port;

/* A file as bytes. */
static struct {
	uint8_t bytes[4 << 20];
	size_t size;
	bool swap; /* of the other byte order */
} file;

static char *
path_of(const char *name)
{
	static char paths[4][256];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static void
put32(uint32_t value)
{
	if (file.swap)
		value = __builtin_bswap32(value);
	memcpy(file.bytes + file.size, &value, 4);
	file.size += 4;
}

static void
begin_file(uint32_t magic, bool swap, uint32_t link_type)
{
	file.size = 0;
	file.swap = swap;
	put32(magic);
	put32(swap ? 0x00020004 : 0x00040002);
	put32(0);
	put32(0);
	put32(262144);
	put32(link_type);
	if (swap) {
		/* Two halves of 16 bits each. */
		memcpy(file.bytes + 4, "\0\2\0\4", 4);
	}
}

static void
put_record(uint32_t seconds, uint32_t fraction, const struct frame *f, uint32_t captured)
{
	put32(seconds);
	put32(fraction);
	put32(captured);
	put32(f->length);
	memcpy(file.bytes + file.size, f->bytes, captured);
	file.size += captured;
}

static void
save(const char *name)
{
	FILE *to = fopen(path_of(name), "wb");

	assert_non_null(to);
	assert_int_equal(fwrite(file.bytes, 1, file.size, to), file.size);
	assert_int_equal(fclose(to), 0);
}

/* The records of an output file, in turn. */
static struct {
	uint8_t bytes[8 << 20];
	size_t size, at;
} output;

struct record {
	uint32_t seconds, ns, captured, length;
	const uint8_t *bytes;
};

static void
load(const char *name)
{
	FILE *from = fopen(path_of(name), "rb");
	uint32_t header[6];

	assert_non_null(from);
	output.size = fread(output.bytes, 1, sizeof(output.bytes), from);
	fclose(from);
	assert_true(output.size >= 24);
	memcpy(header, output.bytes, 24);
	assert_int_equal(header[0], MAGIC_NS);
	assert_int_equal(header[1], 0x00040002);
	assert_int_equal(header[5], 1);
	output.at = 24;
}

static bool
next_record(struct record *r)
{
	uint32_t header[4];

	if (output.at == output.size)
		return false;
	assert_true(output.at + 16 <= output.size);
	memcpy(header, output.bytes + output.at, 16);
	*r = (struct record){
		header[0], header[1], header[2], header[3], output.bytes + output.at + 16};
	output.at += 16 + r->captured;
	assert_true(output.at <= output.size);
	return true;
}

/* Ports, routes to the output, a graph. */
static struct weir_graph *
open_graph(struct weir_node_port_param *in, const char *out, uint16_t mtu)
{
	struct weir_node_hop hop = {
		.kind = WEIR_NODE_HOP_FORWARD, .mac = {{0x02, 0xbb, 0, 0, 0, TEST_RIGHT}}};
	struct weir_node_prefix prefix;
	char rx[WEIR_GRAPH_NAME_SIZE];
	const char *pattern = rx;
	uint32_t id;

	in->name = "in";
	in->accept_any = true;
	if (in->pool == NULL)
		in->pool = router.pool;
	in_port = weir_node_port_add(in);
	assert_int_not_equal(in_port, WEIR_NODE_PORT_INVALID);
	out_port = weir_node_port_add(&(struct weir_node_port_param){.name = "out",
		.pcap_out = out == NULL ? NULL : path_of(out),
		.mtu = mtu,
		.mac_given = true,
		.mac = {{0x02, 0xaa, 0, 0, 0, TEST_RIGHT}}});
	assert_int_not_equal(out_port, WEIR_NODE_PORT_INVALID);
	hop.port = out_port;
	assert_int_equal(weir_node_hop_set(0, &hop), 0);
	for (int version = 4; version <= 6; version += 2) {
		assert_int_equal(
			weir_node_prefix_parse(
				version == 4 ? "10.0.0.0/8" : "2001:db8:a::/48", &prefix, NULL),
			0);
		assert_int_equal(weir_node_route_add(&prefix, 0), 0);
	}
	assert_int_equal(weir_node_prepare(), 0);
	assert_int_equal(weir_node_rx_name(in_port, 0, rx), 0);
	id = weir_graph_create("files", &(struct weir_graph_param){.socket_id = SOCKET_ID_ANY,
						.nb_node_patterns = 1,
						.node_patterns = &pattern});
	assert_int_not_equal(id, WEIR_GRAPH_ID_INVALID);
	return weir_graph_get(id);
}

static void
close_graph(void)
{
	/* Not before the graph is gone. */
	assert_int_equal(weir_node_port_remove(in_port), -EBUSY);
	assert_int_equal(weir_node_port_remove(out_port), -EBUSY);
	assert_int_equal(weir_graph_destroy(weir_graph_from_name("files")), 0);
	assert_int_equal(weir_node_port_remove(in_port), 0);
	assert_int_equal(weir_node_port_remove(out_port), 0);
	assert_int_equal(weir_node_port_remove(out_port), -ENOENT);
}

static int
run_graph(struct weir_graph *graph)
{
	for (int i = 0; i < 100000 && weir_node_port_input_ended(in_port) == 0; i++)
		weir_graph_walk(graph);
	weir_graph_walk(graph);
	return weir_node_port_input_ended(in_port);
}

static void
fill(uint32_t nb)
{
	begin_file(MAGIC_US, false, 1);
	for (uint32_t i = 0; i < nb; i++) {
		frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 100);
		put_record(i, 0, &frame, frame.length);
	}
}

static uint32_t
count_records(void)
{
	struct record r = {0};
	uint32_t nb = 0;

	while (next_record(&r))
		nb++;
	return nb;
}

static int
up(void **state)
{
	static const struct weir_node_route_limits limits = {.ip4_routes = 64,
		.ip4_long_groups = 4,
		.ip6_routes = 64,
		.ip6_groups = 64,
		.next_hops = 4,
		.socket_id = -1};

	router.pool = rte_pktmbuf_pool_create(
		"test", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	return router.pool != NULL && mkdtemp(dir) != NULL && weir_node_route_init(&limits) == 0
		       ? 0
		       : -1;
}

static int
down(void **state)
{
	char command[300];

	weir_node_route_fini();
	rte_mempool_free(router.pool);
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	return system(command);
}

#endif
