/* SPDX-License-Identifier: BSD-3-Clause */

/* One routing table, for our nodes and for the peers. */

#include <errno.h>
#include <stdlib.h>

#include <weir_node_route.h>

#include "forward_bench.h"
#include "harness.h"

static void
report_line(
	void *arg, const char *file, unsigned int line, unsigned int column, const char *message)
{
	fprintf(stderr, "%s:%u:%u: %s\n", file, line, column, message);
}

static int
read_file(const char *path)
{
	struct weir_node_route_batch *batch = weir_node_route_batch_begin();
	int64_t nb;

	if (batch == NULL)
		return -ENOMEM;
	nb = weir_node_route_file_read(path, 0, batch, report_line, NULL);
	if (nb < 0) {
		weir_node_route_batch_abort(batch);
		return (int)nb;
	}
	return weir_node_route_batch_commit(batch);
}

static int
set_hops(const struct forward *forward)
{
	int rc = 0;

	for (uint32_t hop = 0; hop < FORWARD_HOPS && rc == 0; hop++) {
		/* All of them through one port: ids of one device with different bursts are interchangeable here. */
		struct weir_node_hop h = {
			.kind = WEIR_NODE_HOP_FORWARD,
			.port = forward->port[0],
			.mac = forward_hop_mac(hop),
		};

		rc = weir_node_hop_set(hop, &h);
	}
	return rc;
}

struct collection {
	struct forward_route *routes;
	uint32_t nb;
};

static int
collect_route(void *arg, const struct weir_node_prefix *prefix, uint32_t hop)
{
	struct collection *c = arg;
	const uint8_t *a = prefix->address;

	c->routes[c->nb++] = (struct forward_route){
		.address = (uint32_t)a[0] << 24 | (uint32_t)a[1] << 16 | (uint32_t)a[2] << 8 | a[3],
		.length = prefix->length,
		.hop = (uint8_t)hop,
	};
	return 0;
}

/* Load a file into lib/node's tables, and list its routes for the others. */
int
forward_routes_load(struct forward *forward, const char *path)
{
	const struct weir_node_route_limits limits = {.socket_id = -1};
	struct weir_node_route_info info;
	struct collection c = {0};
	int rc;

	rc = weir_node_route_init(&limits);
	if (rc == 0)
		rc = set_hops(forward);
	if (rc == 0)
		rc = read_file(path);
	if (rc < 0)
		return rc;
	weir_node_route_info(&info);
	c.routes = calloc(info.ip4_routes + 1, sizeof(*c.routes));
	if (c.routes == NULL)
		return -ENOMEM;
	weir_node_route_foreach(4, collect_route, &c);
	forward->routes = c.routes;
	forward->nb_routes = c.nb;
	return c.nb > 0 ? 0 : -ENOENT;
}
