/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ethdev_tx-PORT: frames to a device, through a transmit queue of this graph's own.
 *
 * Next:  out; drop what the device does not take, unless the port waits for it
 */

#include <sched.h>

#include "node_private.h"

#define SPINS_BEFORE_YIELD 1024

const char *const weir_node_tx_xstats[NODE_TX_NB_XSTATS] = {
	[NODE_TX_PACKETS] = "packets",
	[NODE_TX_BYTES] = "bytes",
	[NODE_TX_FULL] = "full",
};

/* Send until the device takes no more, or, where the port waits, all. @return packets sent */
static inline uint16_t
send_burst(const struct node_tx_ctx *ctx, struct rte_mbuf **mbufs, uint16_t nb)
{
	uint16_t sent = 0;
	uint32_t spins = 0;

	for (;;) {
		uint16_t n = rte_eth_tx_burst(ctx->ethdev, ctx->queue, &mbufs[sent], nb - sent);

		sent += n;
		if (likely(sent == nb))
			return sent;
		if (n > 0)
			continue;
		if (!ctx->wait || __atomic_load_n(&weir_node_waiting_stopped, __ATOMIC_RELAXED))
			return sent;
		/* Whoever drains the device may need this CPU. */
		if (++spins % SPINS_BEFORE_YIELD == 0)
			sched_yield();
		else
			rte_pause();
	}
}

/* The device takes packets of one segment only: join them, drop what cannot be. @return packets left */
static __rte_noinline uint16_t
join_segments(struct weir_graph *graph, struct weir_graph_node *node, struct rte_mbuf **mbufs,
	uint16_t nb)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = mbufs[i];

		if (m->nb_segs == 1 || rte_pktmbuf_linearize(m) == 0)
			mbufs[kept++] = m;
		else
			weir_graph_enqueue_x1(
				graph, node, node_refuse(m, WEIR_NODE_REASON_NO_MEMORY), m);
	}
	return kept;
}

static uint16_t
ethdev_tx_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const struct node_tx_ctx *ctx = (const struct node_tx_ctx *)node->ctx;
	struct rte_mbuf **mbufs = (struct rte_mbuf **)objs;
	uint64_t bytes = 0, unsent_bytes = 0;
	uint32_t segments = 0;
	uint16_t nb = nb_objs;
	uint16_t sent;

	/* Before they are sent: afterwards they are the device's. */
	for (uint16_t i = 0; i < nb; i++) {
		bytes += mbufs[i]->pkt_len;
		segments += mbufs[i]->nb_segs;
	}
	if (unlikely(segments != nb && !ctx->multi_segs)) {
		nb = join_segments(graph, node, mbufs, nb);
		bytes = 0;
		for (uint16_t i = 0; i < nb; i++)
			bytes += mbufs[i]->pkt_len;
	}
	sent = send_burst(ctx, mbufs, nb);
	if (unlikely(sent < nb)) {
		for (uint16_t i = sent; i < nb; i++) {
			unsent_bytes += mbufs[i]->pkt_len;
			weir_node_reason_set(mbufs[i], WEIR_NODE_REASON_TX_FULL);
		}
		weir_graph_count(node, NODE_TX_FULL, nb - sent);
		weir_graph_enqueue(graph, node, NODE_EDGE_DROP, &objs[sent], nb - sent);
	}
	weir_graph_count(node, NODE_TX_PACKETS, sent);
	weir_graph_count(node, NODE_TX_BYTES, bytes - unsent_bytes);
	return nb_objs;
}

/* A graph's own transmit queue: the first that no other graph has. */
static int
ethdev_tx_init(const struct weir_graph *graph, struct weir_graph_node *node)
{
	struct node_tx_ctx *ctx = (struct node_tx_ctx *)node->ctx;
	struct node_port *port = node_port_of_node(graph, node, ctx->port, -1);
	uint16_t queue;

	if (port == NULL)
		return -ENODEV;
	for (queue = 0; queue < port->info.nb_tx_queues && port->tx_queue_used[queue]; queue++)
		;
	if (queue == port->info.nb_tx_queues) {
		NODE_LOG(ERROR,
			"port '%s' has %u transmit queues and as many graphs that send: give it "
			"one more for this one",
			port->name, port->info.nb_tx_queues);
		return -ENOSPC;
	}
	port->tx_queue_used[queue] = true;
	ctx->p = port;
	ctx->queue = queue;
	ctx->ethdev = port->info.ethdev;
	ctx->wait = port->on_full == WEIR_NODE_ON_FULL_WAIT;
	ctx->multi_segs = port->multi_segs;
	return 0;
}

static void
ethdev_tx_fini(const struct weir_graph *graph, struct weir_graph_node *node)
{
	struct node_tx_ctx *ctx = (struct node_tx_ctx *)node->ctx;

	ctx->p->tx_queue_used[ctx->queue] = false;
}

static struct weir_graph_node_register ethdev_tx = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_ETHDEV_TX,
	.process = ethdev_tx_process,
	.init = ethdev_tx_init,
	.fini = ethdev_tx_fini,
	.nb_edges = 1,
	.next_nodes = (const char *const[]){WEIR_BASE_NODE_TX_EDGES},
	.nb_xstats = NODE_TX_NB_XSTATS,
	.xstats = weir_node_tx_xstats,
};
WEIR_GRAPH_NODE_REGISTER(ethdev_tx);
