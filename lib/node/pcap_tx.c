/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * pcap_tx-PORT: frames to a capture file, with the times they came with. A port
 * without a file counts and frees them.
 *
 * Next:  out; drop what a file that failed does not take
 */

#include "node_private.h"

static uint16_t
pcap_tx_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const struct node_tx_ctx *ctx = (const struct node_tx_ctx *)node->ctx;
	struct rte_mbuf **mbufs = (struct rte_mbuf **)objs;
	uint64_t bytes = 0;
	uint16_t sent = nb_objs;

	if (ctx->p->out != NULL)
		sent = node_pcap_out_write(ctx->p->out, mbufs, nb_objs);
	for (uint16_t i = 0; i < sent; i++)
		bytes += mbufs[i]->pkt_len;
	for (uint16_t i = sent; i < nb_objs; i++)
		weir_node_reason_set(mbufs[i], WEIR_NODE_REASON_TX_CLOSED);
	rte_pktmbuf_free_bulk(mbufs, sent);
	weir_graph_enqueue(graph, node, NODE_EDGE_DROP, &objs[sent], nb_objs - sent);
	weir_graph_count(node, NODE_TX_PACKETS, sent);
	weir_graph_count(node, NODE_TX_BYTES, bytes);
	return nb_objs;
}

static int
pcap_tx_init(const struct weir_graph *graph, struct weir_graph_node *node)
{
	struct node_tx_ctx *ctx = (struct node_tx_ctx *)node->ctx;

	ctx->p = node_port_of_node(graph, node, ctx->port, -1);
	if (ctx->p == NULL)
		return -ENODEV;
	return 0;
}

static struct weir_graph_node_register pcap_tx = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_PCAP_TX,
	.process = pcap_tx_process,
	.init = pcap_tx_init,
	.nb_edges = 1,
	.next_nodes = (const char *const[]){WEIR_BASE_NODE_TX_EDGES},
	.nb_xstats = NODE_TX_NB_XSTATS,
	.xstats = weir_node_tx_xstats,
};
WEIR_GRAPH_NODE_REGISTER(pcap_tx);
