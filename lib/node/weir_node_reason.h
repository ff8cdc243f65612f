/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_NODE_REASON_H
#define WEIR_NODE_REASON_H

/**
 * @file
 * Why a packet did not go on: every packet that is not transmitted carries one
 * of these to the drop or the punt node, who counts it. The names are constants: any thread may ask for them.
 */

#ifdef __cplusplus
extern "C" {
#endif

/** X(constant, name in counters and outputs, 'd' dropped or 'p' punted, sentence) */
#define WEIR_NODE_REASONS(X)                                                                       \
	X(NONE, "none", 'd', "led there by the graph's own wiring, without a reason")              \
	X(NOT_FOR_US, "not_for_us", 'd', "destination MAC address is not this port's")             \
	X(TRUNCATED, "truncated", 'd', "frame ends before its headers do")                         \
	X(UNKNOWN_TYPE, "unknown_type", 'd', "Ethernet type (or LLC length) that no node handles") \
	X(VLAN_DEPTH, "vlan_depth", 'd', "more than two VLAN tags")                                \
	X(NO_MEMORY, "no_memory", 'd', "no mbuf left for a copy or a fragment")                    \
	X(TX_FULL, "tx_full", 'd', "the transmitting device took no more")                         \
	X(TX_CLOSED, "tx_closed", 'd', "the transmitting port is gone or failed")                  \
	X(IP4_VERSION, "ip4_version", 'd', "version is not 4")                                     \
	X(IP4_HEADER_LENGTH, "ip4_header_length", 'd',                                             \
		"header length below 20 bytes or past the frame")                                  \
	X(IP4_TOTAL_LENGTH, "ip4_total_length", 'd',                                               \
		"total length below the header's or past the frame")                               \
	X(IP4_CHECKSUM, "ip4_checksum", 'd', "wrong header checksum")                              \
	X(IP4_MARTIAN_SOURCE, "ip4_martian_source", 'd',                                           \
		"source address that no host may send from")                                       \
	X(IP4_MARTIAN_DESTINATION, "ip4_martian_destination", 'd',                                 \
		"destination that is never forwarded")                                             \
	X(IP4_NO_ROUTE, "ip4_no_route", 'd', "no prefix matches the destination")                  \
	X(IP4_NO_NEIGHBOUR, "ip4_no_neighbour", 'p', "the next hop's MAC address is not known")    \
	X(IP4_BLACKHOLE, "ip4_blackhole", 'd', "route says drop")                                  \
	X(IP4_OPTIONS, "ip4_options", 'p', "IPv4 options")                                         \
	X(IP4_OWN, "ip4_own", 'p', "destination is an address of this router")                     \
	X(IP4_MULTICAST, "ip4_multicast", 'p', "multicast destination")                            \
	X(IP4_BROADCAST, "ip4_broadcast", 'p', "limited broadcast, or sent to all on the link")    \
	X(IP4_TTL, "ip4_ttl", 'p', "TTL would reach zero")                                         \
	X(IP4_TOO_BIG_DF, "ip4_too_big_df", 'p', "over the egress MTU with don't-fragment set")    \
	X(IP4_FRAGMENT, "ip4_fragment", 'd', "to be cut, but ends past the largest datagram")      \
	X(IP6_VERSION, "ip6_version", 'd', "version is not 6")                                     \
	X(IP6_LENGTH, "ip6_length", 'd', "payload length past the frame")                          \
	X(IP6_MARTIAN_SOURCE, "ip6_martian_source", 'd',                                           \
		"source address that no host may send from")                                       \
	X(IP6_MARTIAN_DESTINATION, "ip6_martian_destination", 'd',                                 \
		"destination that is never forwarded")                                             \
	X(IP6_NO_ROUTE, "ip6_no_route", 'd', "no prefix matches the destination")                  \
	X(IP6_NO_NEIGHBOUR, "ip6_no_neighbour", 'p', "the next hop's MAC address is not known")    \
	X(IP6_BLACKHOLE, "ip6_blackhole", 'd', "route says drop")                                  \
	X(IP6_HOP_BY_HOP, "ip6_hop_by_hop", 'p', "hop-by-hop options header")                      \
	X(IP6_LINK_LOCAL, "ip6_link_local", 'p', "link-local source or destination")               \
	X(IP6_OWN, "ip6_own", 'p', "destination is an address of this router")                     \
	X(IP6_MULTICAST, "ip6_multicast", 'p', "multicast destination")                            \
	X(IP6_HOP_LIMIT, "ip6_hop_limit", 'p', "hop limit would reach zero")                       \
	X(IP6_TOO_BIG, "ip6_too_big", 'p', "over the egress MTU (routers do not fragment IPv6)")   \
	X(ARP, "arp", 'p', "ARP")                                                                  \
	X(SCHED_FULL, "sched_full", 'd', "the scheduler took no more new events")                  \
	X(SCHED_CLOSED, "sched_closed", 'd', "the queue of events is gone, or not this graph's")   \
	X(JOBS_FULL, "jobs_full", 'd',                                                             \
		"as many packets are in jobs as there may be, or no job could be begun")

/** Reasons, in the order of WEIR_NODE_REASONS(). */
enum weir_node_reason {
#define WEIR_NODE_REASON_ENUM(constant, name, kind, help) WEIR_NODE_REASON_##constant, /**< help */
	WEIR_NODE_REASONS(WEIR_NODE_REASON_ENUM)
#undef WEIR_NODE_REASON_ENUM
		WEIR_NODE_REASON_COUNT, /**< number of reasons */
};

/** Name of a reason in counters and outputs ("ip4_ttl"); NULL beyond the last. */
const char *weir_node_reason_name(enum weir_node_reason reason);

/** A sentence for people; NULL beyond the last. */
const char *weir_node_reason_help(enum weir_node_reason reason);

/** 1 when packets with this reason are punted, 0 when dropped. */
int weir_node_reason_is_punt(enum weir_node_reason reason);

#ifdef __cplusplus
}
#endif

#endif
