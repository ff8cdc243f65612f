/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ip4_frag: cut packets that are too long for where they go (RFC 791, 3.2).
 * They come rewritten, without options, and without don't-fragment.
 *
 * Uses:  node_frag_port(), node_frag_mtu(), weir_node_l3(), the IPv4 header
 * Sets:  of each piece total length, fragment field, checksum
 * Next:  transmit nodes  drop
 *
 * Pieces are copies: the packet may be shared, and this is not the path to be fast on.
 */

#include "node_frag.h"
#include "node_ip4.h"

#define UNIT         8 /* fragment offsets count so many bytes */
#define DATAGRAM_MAX 65535
#define MAX_PIECES   (DATAGRAM_MAX / ((WEIR_NODE_MTU_MIN - IP4_HEADER) / UNIT * UNIT) + 1)

struct frag_state {
	struct node_tx_edges edges;
	struct rte_mbuf *pieces[MAX_PIECES];
};

/* One piece: @p length bytes of payload from @p offset on, of which the capture may have left out some or all. */
static struct rte_mbuf *
make_piece(const struct rte_mbuf *m, struct rte_mempool *pool, uint32_t offset, uint32_t length)
{
	uint16_t headers = weir_node_l3(m) + IP4_HEADER;
	uint32_t here = m->pkt_len - headers;
	struct rte_mbuf *piece;

	if (offset < here) {
		piece = rte_pktmbuf_copy(m, pool, headers + offset, RTE_MIN(length, here - offset));
		if (piece == NULL)
			return NULL;
		if (rte_pktmbuf_prepend(piece, headers) == NULL) {
			rte_pktmbuf_free(piece);
			return NULL;
		}
		memcpy(rte_pktmbuf_mtod(piece, void *), rte_pktmbuf_mtod(m, const void *), headers);
	} else {
		piece = rte_pktmbuf_copy(m, pool, 0, headers);
		if (piece == NULL)
			return NULL;
	}
	node_mbuf_set_wire_length(piece, headers + length);
	return piece;
}

static void
write_piece_header(struct rte_mbuf *piece, uint32_t payload, uint16_t fragment)
{
	uint8_t *ip = rte_pktmbuf_mtod_offset(piece, uint8_t *, weir_node_l3(piece));

	node_store16(ip + IP4_TOTAL_LENGTH, rte_cpu_to_be_16((uint16_t)(IP4_HEADER + payload)));
	node_store16(ip + IP4_FRAGMENT, rte_cpu_to_be_16(fragment));
	node_store16(ip + IP4_CHECKSUM, 0);
	node_store16(ip + IP4_CHECKSUM, (uint16_t)~node_ip4_sum(ip, IP4_HEADER));
}

/*
 * Can it be cut? Packets that did not come from ip4_lookup and ip4_rewrite have no MTU noted, and nobody looked at
 * their header: what it says may be more than there is.
 */
static bool
is_cuttable(const struct rte_mbuf *m)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, weir_node_l3(m));
	uint32_t total;

	if (node_frag_mtu(m) < WEIR_NODE_MTU_MIN || m->data_len < weir_node_l3(m) + IP4_HEADER)
		return false;
	total = node_load_be16(ip + IP4_TOTAL_LENGTH);
	return total > IP4_HEADER && weir_node_l3(m) + total <= m->pkt_len + node_missing(m);
}

/*
 * Cut a packet that can be. A piece of a fragment is a fragment of the whole: offsets add up, and only
 * the last piece of the last fragment has no more behind it.
 *
 * Returns the number of pieces, or the negative reason to drop the packet.
 */
static int
cut(const struct rte_mbuf *m, struct rte_mbuf **pieces)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, weir_node_l3(m));
	uint32_t total = node_load_be16(ip + IP4_TOTAL_LENGTH), payload = total - IP4_HEADER;
	uint16_t fragment = node_load_be16(ip + IP4_FRAGMENT);
	uint32_t step = ((uint32_t)node_frag_mtu(m) - IP4_HEADER) / UNIT * UNIT;
	struct rte_mempool *pool = weir_node_port_of(m)->pool;
	int nb = 0;

	if ((uint32_t)(fragment & IP4_OFFSET_MASK) * UNIT + payload > DATAGRAM_MAX - IP4_HEADER)
		return -WEIR_NODE_REASON_IP4_FRAGMENT;
	for (uint32_t offset = 0; offset < payload; offset += step) {
		uint32_t length = RTE_MIN(step, payload - offset);
		bool last = offset + length == payload;
		struct rte_mbuf *piece =
			make_piece(m, pool == NULL ? m->pool : pool, offset, length);

		if (piece == NULL) {
			rte_pktmbuf_free_bulk(pieces, (unsigned int)nb);
			return -WEIR_NODE_REASON_NO_MEMORY;
		}
		write_piece_header(piece, length,
			(uint16_t)((fragment + offset / UNIT) | (last ? 0 : IP4_MORE_FRAGMENTS)));
		pieces[nb++] = piece;
	}
	return nb;
}

static uint16_t
ip4_frag_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	struct frag_state *state = node->state;

	for (uint16_t i = 0; i < nb_objs; i++) {
		struct rte_mbuf *m = objs[i];
		uint16_t edge = state->edges.edge[node_frag_port(m) % WEIR_NODE_PORT_MAX];
		int nb = is_cuttable(m) ? cut(m, state->pieces) : -WEIR_NODE_REASON_NONE;

		if (nb <= 0) {
			weir_graph_enqueue_x1(
				graph, node, node_refuse(m, (enum weir_node_reason) - nb), m);
			continue;
		}
		weir_graph_count(node, NODE_FRAG_PACKETS, 1);
		weir_graph_count(node, NODE_FRAG_FRAGMENTS, (uint64_t)nb);
		weir_graph_enqueue(graph, node, edge, (void **)state->pieces, (uint32_t)nb);
		rte_pktmbuf_free(m);
	}
	return nb_objs;
}

static int
ip4_frag_init(const struct weir_graph *graph, struct weir_graph_node *node)
{
	return node_tx_edges_init(graph, node, NODE_IP4_FRAG_NB_EDGES);
}

static struct weir_graph_node_register ip4_frag = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_IP4_FRAG,
	.state_size = sizeof(struct frag_state),
	.process = ip4_frag_process,
	.init = ip4_frag_init,
	.nb_edges = NODE_IP4_FRAG_NB_EDGES, /* and those to transmit nodes */
	.next_nodes = (const char *const[]){WEIR_BASE_NODE_IP4_FRAG_EDGES},
	.nb_xstats = NODE_FRAG_NB_XSTATS,
	.xstats =
		(const char *const[]){
			[NODE_FRAG_PACKETS] = "fragmented",
			[NODE_FRAG_FRAGMENTS] = "fragments",
		},
};
WEIR_GRAPH_NODE_REGISTER(ip4_frag);
