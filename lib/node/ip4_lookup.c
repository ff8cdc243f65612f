/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ip4_lookup: may the packet be forwarded (RFC 1812, 5.2.2 and 5.3.7), and to which next hop?
 *
 * Uses:  weir_node_l3(), the IPv4 header, the port's checksum offload, routes
 * Sets:  weir_node_hop_id(), or the reason; cuts Ethernet padding off
 * Next:  ip4_rewrite  punt  drop
 *
 * The first pass checks every header and gathers destinations, then all are
 * looked up at once, refused ones too: leaving them out costs more.
 */

#include "node_ip4.h"
#include "weir_node_route_fast.h"
#include "node_route.h"

#define CHUNK 256 /* addresses looked up at once */

enum {
	EDGE_REWRITE = NODE_EDGE_FIRST,
	NB_EDGES,
};

/* 169.254/16 never leaves its link (RFC 3927, 7). */
static inline bool
is_link_local(uint32_t address)
{
	return address >> 16 == 0xa9fe;
}

/* Never a source or destination of what is forwarded: 0/8, 127/8, 169.254/16, 224/3. */
static inline bool
is_special(uint32_t address)
{
	uint8_t octet = (uint8_t)(address >> 24);

	return octet == 0 || octet == 127 || octet >= 224 || is_link_local(address);
}

/* First octets of these, for one load instead of many comparisons. */
static const uint8_t maybe_special[256] = {[0] = 1, [127] = 1, [169] = 1, [224 ... 255] = 1};

static inline bool
is_multicast(uint32_t address)
{
	return address >> 28 == 0xe;
}

static inline bool
is_martian_source(uint32_t source, uint32_t destination)
{
	/* A host that has no address yet asks everybody for one, or joins a group. */
	if (source == 0)
		return destination != UINT32_MAX && !is_multicast(destination);
	return is_special(source);
}

static inline bool
is_martian_destination(uint32_t destination)
{
	return is_special(destination) && !is_multicast(destination) && destination != UINT32_MAX;
}

/* Every packet but the plainest: in the order that doc/forwarding.md tells. */
static __rte_noinline uint16_t
check_any(struct rte_mbuf *m)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, weir_node_l3(m));
	uint32_t here = m->data_len - weir_node_l3(m);
	uint32_t wire = m->pkt_len - weir_node_l3(m) + node_missing(m);
	uint32_t source, destination, total, header;

	if (m->data_len < weir_node_l3(m) + IP4_HEADER)
		return node_refuse(m, WEIR_NODE_REASON_TRUNCATED);
	source = node_load_be32(ip + IP4_SOURCE);
	destination = node_load_be32(ip + IP4_DESTINATION);
	total = node_load_be16(ip + IP4_TOTAL_LENGTH);
	header = (ip[0] & 0xfu) * 4;
	if (ip[0] >> 4 != 4)
		return node_refuse(m, WEIR_NODE_REASON_IP4_VERSION);
	if (header < IP4_HEADER || header > wire)
		return node_refuse(m, WEIR_NODE_REASON_IP4_HEADER_LENGTH);
	if (header > here)
		return node_refuse(m, WEIR_NODE_REASON_TRUNCATED);
	if (total < header || total > wire)
		return node_refuse(m, WEIR_NODE_REASON_IP4_TOTAL_LENGTH);
	if (node_ip4_sum(ip, header) != 0xffff)
		return node_refuse(m, WEIR_NODE_REASON_IP4_CHECKSUM);
	if (is_martian_source(source, destination))
		return node_refuse(m, WEIR_NODE_REASON_IP4_MARTIAN_SOURCE);
	if (is_martian_destination(destination))
		return node_refuse(m, WEIR_NODE_REASON_IP4_MARTIAN_DESTINATION);
	if (is_multicast(destination))
		return node_refuse(m, WEIR_NODE_REASON_IP4_MULTICAST);
	if (destination == UINT32_MAX || weir_node_l3_is_group(m))
		return node_refuse(m, WEIR_NODE_REASON_IP4_BROADCAST);
	if (header > IP4_HEADER)
		return node_refuse(m, WEIR_NODE_REASON_IP4_OPTIONS);
	node_mbuf_set_wire_length(m, weir_node_l3(m) + total);
	return EDGE_REWRITE;
}

/* What is the same for a whole vector. */
struct vector_constants {
	uint64_t missing_flag;
	bool offload; /* some port's device checks headers */
	struct node_route_prefetch prefetch;
};

/* Does the device vouch for the checksum, or else, is it right? */
static __rte_always_inline bool
is_checksum_wrong(const struct rte_mbuf *m, const uint8_t *ip, bool offload)
{
	if (offload &&
		(m->ol_flags & weir_node_port_of(m)->checksum_mask) == RTE_MBUF_F_RX_IP_CKSUM_GOOD)
		return false;
	return node_ip4_sum20(ip) != 0xffff;
}

/*
 * May the packet be forwarded as far as its header tells? Sets the address to
 * look up, and sends for what the look-up will read: there is time until then.
 */
static __rte_always_inline bool
ip4_is_plain(struct rte_mbuf *m, uint32_t *address, const struct vector_constants *constants)
{
	uint32_t l3 = weir_node_l3_unchecked(m);
	const uint8_t *ip;
	uint32_t total, frame;

	if (unlikely(m->data_len < l3 + IP4_HEADER)) {
		*address = 0;
		return false;
	}
	ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, l3);
	*address = node_load_be32(ip + IP4_DESTINATION);
	node_route_prefetch4(&constants->prefetch, *address);
	total = node_load_be16(ip + IP4_TOTAL_LENGTH);
	frame = m->pkt_len - l3;
	/* The second: total is below a header's length, or above frame, which is not. */
	if (unlikely((ip[0] != 0x45) | (total - IP4_HEADER > frame - IP4_HEADER) |
		     ((maybe_special[ip[IP4_SOURCE]] | maybe_special[ip[IP4_DESTINATION]]) != 0) |
		     ((m->ol_flags & constants->missing_flag) != 0) |
		     is_checksum_wrong(m, ip, constants->offload)))
		return false;
	if (unlikely(total != frame))
		node_mbuf_trim(m, l3 + total);
	return true;
}

/* Note the next hops of packets that are not refused yet, refuse those without. */
static __rte_noinline void
note_some(void **objs, uint16_t *nexts, const uint32_t *hops, uint32_t nb)
{
	for (uint32_t i = 0; i < nb; i++) {
		if (nexts[i] != EDGE_REWRITE)
			continue;
		if (hops[i] == WEIR_NODE_NO_ROUTE)
			nexts[i] = node_refuse(objs[i], WEIR_NODE_REASON_IP4_NO_ROUTE);
		else
			weir_node_hop_id_set(objs[i], hops[i]);
	}
}

static __rte_always_inline void
lookup_chunk(void **objs, uint16_t *nexts, uint32_t nb, const struct vector_constants *constants)
{
	uint32_t addresses[CHUNK], hops[CHUNK];
	uint32_t worst = 0;
	bool some_refused = false;

	for (uint32_t i = 0; i < nb; i++)
		nexts[i] = EDGE_REWRITE;
	for (uint32_t i = 0; i < nb; i++) {
		if (likely(ip4_is_plain(objs[i], &addresses[i], constants)))
			continue;
		nexts[i] = check_any(objs[i]);
		some_refused |= nexts[i] != EDGE_REWRITE;
	}
	weir_node_route_lookup4(addresses, hops, nb);
	for (uint32_t i = 0; i < nb; i++)
		worst = RTE_MAX(worst, hops[i]);
	if (unlikely(some_refused || worst == WEIR_NODE_NO_ROUTE)) {
		note_some(objs, nexts, hops, nb);
		return;
	}
	for (uint32_t i = 0; i < nb; i++)
		weir_node_hop_id_set(objs[i], hops[i]);
}

/* @param offload  a constant, so that there is a copy of this for either */
static __rte_always_inline void
lookup_vector(void **objs, uint16_t *nexts, uint32_t nb_objs, bool offload)
{
	const struct vector_constants constants = {
		.missing_flag = weir_node_dyn.missing_flag,
		.offload = offload,
		.prefetch = node_route_prefetch4_begin(),
	};

	for (uint32_t from = 0; from < nb_objs; from += CHUNK)
		lookup_chunk(&objs[from], &nexts[from], RTE_MIN(nb_objs - from, (uint32_t)CHUNK),
			&constants);
}

static uint16_t
ip4_lookup_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	uint16_t *nexts = weir_graph_nexts(graph);

	if (likely(__atomic_load_n(&weir_node_checksum_mask, __ATOMIC_RELAXED) == 0))
		lookup_vector(objs, nexts, nb_objs, false);
	else
		lookup_vector(objs, nexts, nb_objs, true);
	weir_graph_enqueue_nexts(graph, node, objs, nexts, nb_objs);
	return nb_objs;
}

static struct weir_graph_node_register ip4_lookup = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "ip4_lookup",
	.process = ip4_lookup_process,
	.nb_edges = NB_EDGES,
	.next_nodes =
		(const char *const[]){
			[NODE_EDGE_DROP] = "drop",
			[NODE_EDGE_PUNT] = "punt",
			[EDGE_REWRITE] = "ip4_rewrite",
		},
};
WEIR_GRAPH_NODE_REGISTER(ip4_lookup);
