/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * classify: is the frame for us, and what is in it?
 *
 * Uses:  m->port, the Ethernet header, up to two VLAN tags (0x8100, 0x88a8)
 * Sets:  weir_node_l3(), or the reason
 * Next:  ip4_lookup  ip6_lookup  punt (ARP)  drop
 */

#include <rte_ether.h>

#include "node_private.h"

#define MAX_TAGS 2
/* What the nodes may want to read of a frame: tags and the longest IPv4 header. */
#define HEADERS_MAX (RTE_ETHER_HDR_LEN + MAX_TAGS * RTE_VLAN_HLEN + 60)
/* Below this even the headers of the plainest frame may not be there; no frame on a wire is. */
#define PLAIN_MIN (RTE_ETHER_HDR_LEN + 40)

/* Lowest bit of an address' first byte, as is_for_others() sees it. */
#define GROUP_BIT RTE_LE64(UINT64_C(1))

/* A bit that IPv6's type, 0x86dd, has in memory order on either kind of machine, and IPv4's, 0x0800, has not. */
#define PLAIN_TYPE_BIT 2

enum {
	EDGE_IP4 = NODE_EDGE_FIRST,
	EDGE_IP6,
	NB_EDGES,
};

/* Does the frame's destination address differ from the port's own, as far as the port cares? */
static inline bool
is_for_others(const uint8_t *frame, const struct weir_node_port_fast *port)
{
	return (node_load64(frame) ^ port->mac) & port->mac_mask;
}

static inline bool
is_tag(uint16_t type)
{
	return type == RTE_BE16(RTE_ETHER_TYPE_VLAN) || type == RTE_BE16(RTE_ETHER_TYPE_QINQ);
}

/* Every frame but the plainest: in the order that doc/forwarding.md tells. */
static __rte_noinline uint16_t
classify_any(struct rte_mbuf *m, const struct weir_node_port_fast *port)
{
	const uint8_t *frame;
	uint16_t at = 2 * RTE_ETHER_ADDR_LEN; /* of the type field */
	uint16_t group;

	if (m->data_len < HEADERS_MAX && m->nb_segs > 1)
		node_mbuf_pull(m, HEADERS_MAX);
	if (m->data_len < RTE_ETHER_HDR_LEN)
		return node_refuse(m, WEIR_NODE_REASON_TRUNCATED);
	frame = rte_pktmbuf_mtod(m, const uint8_t *);
	group = frame[0] & 1 ? WEIR_NODE_L3_GROUP : 0;
	if (!group && is_for_others(frame, port))
		return node_refuse(m, WEIR_NODE_REASON_NOT_FOR_US);
	for (int tags = 0; is_tag(node_load16(frame + at)); tags++) {
		if (tags == MAX_TAGS)
			return node_refuse(m, WEIR_NODE_REASON_VLAN_DEPTH);
		at += RTE_VLAN_HLEN;
		if (m->data_len < at + 2)
			return node_refuse(m, WEIR_NODE_REASON_TRUNCATED);
	}
	weir_node_l3_set(m, (at + 2) | group);
	switch (node_load16(frame + at)) {
	case RTE_BE16(RTE_ETHER_TYPE_IPV4):
		return EDGE_IP4;
	case RTE_BE16(RTE_ETHER_TYPE_IPV6):
		return EDGE_IP6;
	case RTE_BE16(RTE_ETHER_TYPE_ARP):
		return node_refuse(m, WEIR_NODE_REASON_ARP);
	default:
		return node_refuse(m, WEIR_NODE_REASON_UNKNOWN_TYPE);
	}
}

/* What the frames of one port have in common; as long as they come from it. */
struct port_constants {
	struct weir_node_port_fast port;
	uint64_t
		rearm; /* upper 48 bits of rearm_data of a packet in one segment, held by us alone, from that port */
};

static inline struct port_constants
port_constants_of(const struct rte_mbuf *m)
{
	const struct rte_mbuf plain = {.refcnt = 1, .nb_segs = 1, .port = m->port};
	struct port_constants constants = {.port = *weir_node_port_of(m)};

	memcpy(&constants.rearm, &plain.rearm_data, sizeof(constants.rearm));
	/* A group address is a reason to look closer even where any other is taken. */
	constants.port.mac_mask |= GROUP_BIT;
	return constants;
}

/* One comparison instead of three; data_off, which differs, is the first two bytes in memory. */
static __rte_always_inline bool
is_rearm_plain(const struct rte_mbuf *m, const struct port_constants *constants)
{
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
	return (node_load64(&m->rearm_data) ^ constants->rearm) >> 16 == 0;
#else
	return (node_load64(&m->rearm_data) ^ constants->rearm) << 16 == 0;
#endif
}

/*
 * The types of plain frames, in memory order, and where they go. A bit that differs tells which of the
 * two it must be, without a branch: those are mispredicted where both come mixed.
 */
static const uint16_t plain_types[2] = {
	RTE_BE16(RTE_ETHER_TYPE_IPV4), RTE_BE16(RTE_ETHER_TYPE_IPV6)};
static const uint16_t plain_edges[2] = {EDGE_IP4, EDGE_IP6};

static __rte_always_inline uint16_t
plain_type_index(uint16_t type)
{
	return type >> PLAIN_TYPE_BIT & 1;
}

static __rte_always_inline bool
classify_is_plain(struct rte_mbuf *m, const struct port_constants *constants, uint16_t *next)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint16_t type, version;

	if (unlikely(m->data_len < PLAIN_MIN || !is_rearm_plain(m, constants) ||
		     is_for_others(frame, &constants->port)))
		return false;
	type = node_load16(frame + 12);
	version = plain_type_index(type);
	if (unlikely(type != plain_types[version]))
		return false;
	weir_node_l3_set(m, RTE_ETHER_HDR_LEN);
	*next = plain_edges[version];
	return true;
}

static __rte_always_inline void
prefetch_frame(const struct rte_mbuf *m)
{
	rte_prefetch0(rte_pktmbuf_mtod(m, const void *));
}

/*
 * The receive nodes have brought the mbufs near, but not the frames: both at once are more than a core fetches in
 * the time that receiving takes. Those of a port come in a row.
 */
static uint16_t
classify_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	struct port_constants constants = port_constants_of(objs[0]);
	const uint32_t ahead = RTE_MIN((uint32_t)nb_objs, (uint32_t)WEIR_GRAPH_PREFETCH_AHEAD);
	uint16_t *nexts = weir_graph_nexts(graph);
	uint16_t port = ((struct rte_mbuf *)objs[0])->port;

	for (uint32_t i = 0; i < ahead; i++)
		prefetch_frame(objs[i]);
	for (uint32_t i = 0; i < nb_objs; i++) {
		struct rte_mbuf *m = objs[i];

		if (i + ahead < nb_objs)
			prefetch_frame(objs[i + ahead]);
		if (likely(classify_is_plain(m, &constants, &nexts[i])))
			continue;
		if (m->port != port) {
			port = m->port;
			constants = port_constants_of(m);
		}
		nexts[i] = classify_any(m, weir_node_port_of(m));
	}
	weir_graph_enqueue_nexts(graph, node, objs, nexts, nb_objs);
	return nb_objs;
}

static struct weir_graph_node_register classify = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_CLASSIFY,
	.process = classify_process,
	.nb_edges = NB_EDGES,
	.next_nodes = (const char *const[]){WEIR_BASE_NODE_CLASSIFY_EDGES},
};
WEIR_GRAPH_NODE_REGISTER(classify);
