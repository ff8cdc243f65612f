/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_PRIVATE_H
#define NODE_PRIVATE_H

/*
 * What the files of this library share.
 *
 * Locks: ports change under node_port_lock(), which may be held when the graph
 * library's lock is taken; so init() and fini() of nodes, which run under that
 * one, never take it. They may read a port that has nodes: it cannot go away.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "weir_base.h"
#include "weir_graph.h"
#include "weir_graph_fast.h"
#include "weir_node.h"
#include "weir_node_fast.h"
#include "weir_node_reason.h"

#define NODE_LOG(level, ...) weir_base_log(WEIR_BASE_LOG_##level, "node", __VA_ARGS__)

/* Edges that every node of this library which refuses packets begins with. */
enum {
	NODE_EDGE_DROP,
	NODE_EDGE_PUNT,
	NODE_EDGE_FIRST, /* the node's own */
};

extern const char *const weir_node_reason_xstats[WEIR_NODE_REASON_COUNT];

/* Note why, and return the edge: a constant reason costs one store. */
static __rte_always_inline uint16_t
node_refuse(struct rte_mbuf *m, enum weir_node_reason reason)
{
	weir_node_reason_set(m, reason);
	switch (reason) {
#define REASON_EDGE(constant, text, letter, sentence)                                              \
	case WEIR_NODE_REASON_##constant:                                                          \
		return letter == 'p' ? NODE_EDGE_PUNT : NODE_EDGE_DROP;
		WEIR_NODE_REASONS(REASON_EDGE)
#undef REASON_EDGE
	default:
		return NODE_EDGE_DROP;
	}
}

/* Unaligned loads and stores. */
#define NODE_LOAD_STORE(bits)                                                                      \
	static __rte_always_inline uint##bits##_t node_load##bits(const void *from)                \
	{                                                                                          \
		uint##bits##_t value;                                                              \
		memcpy(&value, from, sizeof(value));                                               \
		return value;                                                                      \
	}                                                                                          \
	static __rte_always_inline void node_store##bits(void *to, uint##bits##_t value)           \
	{                                                                                          \
		memcpy(to, &value, sizeof(value));                                                 \
	}
NODE_LOAD_STORE(16)
NODE_LOAD_STORE(32)
NODE_LOAD_STORE(64)
#undef NODE_LOAD_STORE

/* Fields in network byte order. Compiler's built-ins: DPDK's swaps are assembly, which it cannot fold. */
static __rte_always_inline uint16_t
node_load_be16(const void *from)
{
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
	return __builtin_bswap16(node_load16(from));
#else
	return node_load16(from);
#endif
}
static __rte_always_inline uint32_t
node_load_be32(const void *from)
{
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
	return __builtin_bswap32(node_load32(from));
#else
	return node_load32(from);
#endif
}

/* Fields of packets that came from a file; flags are 0 until the first such port. */
struct node_dyn {
	uint64_t timestamp_flag; /* the field below is valid */
	uint64_t missing_flag;   /* the field below is valid and not 0 */
	int timestamp;           /* offset of uint64_t: ns since 1970 */
	int missing; /* offset of uint32_t: bytes of the frame that the capture left out */
};
extern struct node_dyn weir_node_dyn;
int node_dyn_register(void);

/* Bytes of the frame that were on the wire but are not in the mbuf. */
static __rte_always_inline uint32_t
node_missing(const struct rte_mbuf *m)
{
	if (likely((m->ol_flags & weir_node_dyn.missing_flag) == 0))
		return 0;
	return *RTE_MBUF_DYNFIELD(m, weir_node_dyn.missing, const uint32_t *);
}

/* mbuf.c */
int node_mbuf_pull(struct rte_mbuf *m, uint32_t length);
void node_mbuf_set_wire_length(struct rte_mbuf *m, uint32_t length);
struct rte_mbuf *node_mbuf_own(struct rte_mbuf *m, int32_t growth, uint32_t length);

/* pcap_in.c: a file to receive from. One reader at a time, others get nothing. */
struct node_pcap_in;
int node_pcap_in_open(struct node_pcap_in **in, const char *path, uint32_t repeat,
	struct rte_mempool *pool, const char *port_name);
void node_pcap_in_close(struct node_pcap_in *in);
uint16_t node_pcap_in_burst(
	struct node_pcap_in *in, struct rte_mbuf **mbufs, uint16_t nb, uint64_t *nb_truncated);
int node_pcap_in_ended(const struct node_pcap_in *in);
bool node_pcap_in_is(const struct node_pcap_in *in, const struct stat *st);

/* pcap_out.c: a file to transmit to, for any number of threads. */
struct node_pcap_out;
int node_pcap_out_open(struct node_pcap_out **out, const char *path);
int node_pcap_out_close(struct node_pcap_out *out);
uint16_t node_pcap_out_write(struct node_pcap_out *out, struct rte_mbuf *const *mbufs, uint16_t nb);
int node_pcap_out_flush(struct node_pcap_out *out);
uint64_t node_pcap_out_lost(struct node_pcap_out *out);
bool node_pcap_out_is(const struct node_pcap_out *out, const struct stat *st);

/* What the nodes of a port count. */
struct node_port_counts {
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t rx_truncated;
	uint64_t tx_packets;
	uint64_t tx_bytes;
	uint64_t tx_full_dropped;
};

/* A port. */
struct node_port {
	char name[WEIR_NODE_NAME_SIZE];
	struct weir_node_port_info info;
	uint16_t id;
	uint16_t rx_burst;
	enum weir_node_on_full on_full;
	struct rte_mempool *pool;
	bool multi_segs;               /* the device sends packets of several segments */
	bool rx_checksum;              /* the device checks IPv4 headers */
	struct rte_eth_stats eth_base; /* the device's counters when it was added */
	bool *tx_queue_used;           /* under the graph library's lock: init() and fini() only */
	struct node_pcap_in *in;
	struct node_pcap_out *out;
	struct node_port_counts base; /* what nodes of its names had counted before it was added */
};

/* port.c */
void node_port_lock(void);
void node_port_unlock(void);
struct node_port *node_port_get(uint16_t id);
const char *node_port_of_file(const struct stat *st, bool outputs_only);
int node_punt_capture_is(const struct stat *st);

/* port_ethdev.c */
int node_ethdev_open(struct node_port *port, const struct weir_node_port_param *param);
void node_ethdev_close(struct node_port *port);
void node_ethdev_stats(const struct node_port *port, struct weir_node_port_stats *stats);

/* Context memory of receive and transmit nodes: the template that tells clones apart, the rest by init(). */
struct node_rx_ctx {
	uint16_t port;
	uint16_t queue;
	uint16_t ethdev;
	uint16_t burst;
	struct node_port *p;
};
struct node_tx_ctx {
	uint16_t port;
	uint16_t queue;
	uint16_t ethdev;
	uint8_t wait;       /* on_full */
	uint8_t multi_segs; /* as of struct node_port */
	struct node_port *p;
};
_Static_assert(sizeof(struct node_rx_ctx) <= WEIR_GRAPH_CTX_SIZE, "context memory");
_Static_assert(sizeof(struct node_tx_ctx) <= WEIR_GRAPH_CTX_SIZE, "context memory");

/* Counters of receive and transmit nodes. */
enum {
	NODE_RX_BYTES,
	NODE_RX_TRUNCATED,
	NODE_RX_NB_XSTATS,
};
enum {
	NODE_TX_PACKETS,
	NODE_TX_BYTES,
	NODE_TX_FULL,
	NODE_TX_NB_XSTATS,
};
extern const char *const weir_node_rx_xstats[NODE_RX_NB_XSTATS];
extern const char *const weir_node_tx_xstats[NODE_TX_NB_XSTATS];
enum {
	NODE_FRAG_PACKETS,
	NODE_FRAG_FRAGMENTS,
	NODE_FRAG_NB_XSTATS,
};

/* stats.c */
int node_port_counts(uint16_t id, struct node_port_counts *counts);

/* Transmit nodes that wait give up. */
extern bool weir_node_waiting_stopped;

/* Edges of the nodes that lead to all transmit nodes, by port id; EDGE_DROP where there is none. */
struct node_tx_edges {
	uint16_t edge[WEIR_NODE_PORT_MAX];
};
struct node_port *node_port_of_node(
	const struct weir_graph *graph, struct weir_graph_node *node, uint16_t id, int queue);
int node_tx_edges_init(
	const struct weir_graph *graph, struct weir_graph_node *node, uint16_t nb_own_edges);

/* How many edges these have before those to transmit nodes, which weir_node_prepare() appends. */
enum {
	NODE_IP4_REWRITE_NB_EDGES = NODE_EDGE_FIRST + 1, /* ip4_frag */
	NODE_IP6_REWRITE_NB_EDGES = NODE_EDGE_FIRST,
	NODE_IP4_FRAG_NB_EDGES = NODE_EDGE_FIRST,
};

static __rte_always_inline uint32_t
node_rx_stamp_one(struct rte_mbuf *m, uint16_t port)
{
	m->port = port;
	return m->pkt_len;
}

/* Stamp received frames with their port; their mbufs come near by it. @return their bytes */
static __rte_always_inline uint64_t
node_rx_stamp(struct rte_mbuf **mbufs, uint16_t nb, uint16_t port)
{
	const uint32_t ahead = RTE_MIN(nb, (uint16_t)WEIR_GRAPH_PREFETCH_AHEAD);
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < ahead; i++)
		rte_prefetch0(mbufs[i]);
	for (i = 0; i + ahead < nb; i++) {
		rte_prefetch0(mbufs[i + ahead]);
		bytes += node_rx_stamp_one(mbufs[i], port);
	}
	for (; i < nb; i++)
		bytes += node_rx_stamp_one(mbufs[i], port);
	return bytes;
}

#endif
