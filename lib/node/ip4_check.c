/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * May IPv4 packets be forwarded, as far as their headers tell (RFC 1812, 5.2.2 and 5.3.7)?
 *
 * The plainest packets are found many at a time: their headers are gathered into
 * arrays of words, a loop without branches over these, which compilers turn into vector instructions,
 * tells which are odd in any way, and only those are looked at one by one.
 */

#include "node_ip4_check.h"
#include "node_route.h"

/* Headers of a step's packets, in memory order; one array per field. */
struct headers {
	uint64_t low[NODE_IP4_STEP];  /* version .. fragment offset */
	uint64_t high[NODE_IP4_STEP]; /* TTL .. source address */
	uint64_t last[NODE_IP4_STEP]; /* destination address */
	uint64_t room[NODE_IP4_STEP]; /* bytes of the frame from the header on */
	uint64_t odd[NODE_IP4_STEP];  /* not 0: look closer */
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

/* The device's word counts, where it was asked for it. */
static inline bool
is_checksum_wrong(const struct rte_mbuf *m, const uint8_t *ip, uint32_t header)
{
	uint64_t said = m->ol_flags & weir_node_port_of(m)->checksum_mask;

	if (said == RTE_MBUF_F_RX_IP_CKSUM_GOOD)
		return false;
	return said == RTE_MBUF_F_RX_IP_CKSUM_BAD || node_ip4_sum(ip, header) != 0xffff;
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
	if (is_checksum_wrong(m, ip, header))
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
	return NODE_IP4_EDGE_REWRITE;
}

/*
 * Is the checksum of a header without options wrong? It is right when the one's complement sum of its
 * 16-bit words is a multiple of 0xffff, and larger words with their carries brought around
 * leave the same remainder (RFC 1071, 2). A 64-bit number is a multiple of an odd d when its
 * product with the inverse of d modulo 2^64 is at most (2^64 - 1) / d (Granlund and Montgomery,
 * 1994, 9): for 0xffff, the one is minus the other. All zeros would pass, but are no header.
 */
static inline uint64_t
is_sum_wrong(uint64_t low, uint64_t high, uint64_t last)
{
	const uint64_t ones = UINT64_C(0x0001000100010001);
	uint64_t sum = node_add_carry(node_add_carry(low, high), last);

	return 0 - sum * ones > ones;
}

/* First octets of addresses that want a closer look: is_special(), and 169. */
static inline uint64_t
is_odd_octet(uint64_t octet)
{
	return (octet - 1 >= 223) | (octet == 127) | (octet == 169);
}

static inline void
gather_one(struct headers *headers, uint32_t i, struct rte_mbuf *m, uint64_t odd_flags)
{
	uint32_t l3 = weir_node_l3_unchecked(m);
	const uint8_t *ip;

	if (unlikely(m->data_len < l3 + IP4_HEADER)) {
		headers->low[i] = headers->high[i] = headers->last[i] = headers->room[i] = 0;
		headers->odd[i] = 1;
		return;
	}
	ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, l3);
	headers->low[i] = node_load64(ip);
	headers->high[i] = node_load64(ip + 8);
	headers->last[i] = node_load32(ip + 16);
	headers->room[i] = m->pkt_len - l3;
	headers->odd[i] = m->ol_flags & odd_flags;
}

/* Total length and first octets, of words in memory order. */
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
#define TOTAL(low)         (((low) >> 24 & 0xff) | ((low) >> 8 & 0xff00))
#define VERSION_IHL(low)   ((low)&0xff)
#define SOURCE_OCTET(high) ((high) >> 32 & 0xff)
#define OCTET(last)        ((last)&0xff)
#else
#define TOTAL(low)         ((low) >> 32 & 0xffff)
#define VERSION_IHL(low)   ((low) >> 56)
#define SOURCE_OCTET(high) ((high) >> 24 & 0xff)
#define OCTET(last)        ((last) >> 24)
#endif

/* Which packets are odd? @return 1 for any odd one, 2 for any with padding behind it */
static inline uint64_t
find_odd(struct headers *headers, uint32_t nb)
{
	uint64_t any_odd = 0, any_padded = 0;

	for (uint32_t i = 0; i < nb; i++) {
		uint64_t low = headers->low[i], high = headers->high[i], last = headers->last[i];
		uint64_t room = headers->room[i], total = TOTAL(low);
		/* The second: total is below a header's length or above room, which is not below it. */
		uint64_t odd = (VERSION_IHL(low) != 0x45) |
			       (total - IP4_HEADER > room - IP4_HEADER) |
			       is_odd_octet(SOURCE_OCTET(high)) | is_odd_octet(OCTET(last)) |
			       is_sum_wrong(low, high, last) | headers->odd[i];

		headers->odd[i] = odd;
		any_odd |= odd;
		any_padded |= total ^ room;
	}
	return (any_odd != 0) | (uint64_t)(any_padded != 0) << 1;
}

/* @return packets refused */
static __rte_noinline uint32_t
check_odd(const struct headers *headers, void **objs, uint16_t *nexts, uint32_t nb)
{
	uint32_t nb_refused = 0;

	for (uint32_t i = 0; i < nb; i++) {
		if (headers->odd[i] == 0)
			continue;
		nexts[i] = check_any(objs[i]);
		nb_refused += nexts[i] != NODE_IP4_EDGE_REWRITE;
	}
	return nb_refused;
}

static inline void
trim_padding(const struct headers *headers, void **objs, uint32_t nb)
{
	for (uint32_t i = 0; i < nb; i++) {
		uint32_t total = (uint32_t)TOTAL(headers->low[i]);
		struct rte_mbuf *m = objs[i];

		if (headers->odd[i] == 0 && total != headers->room[i])
			node_mbuf_trim(m, weir_node_l3(m) + total);
	}
}

uint32_t
node_ip4_check(void **objs, uint16_t *nexts, uint32_t *addresses, uint32_t nb)
{
	const struct node_route_prefetch prefetch = node_route_prefetch4_begin();
	/* Where the device vouches for a checksum, to compute it costs less than to ask: only its doubts count. */
	const uint64_t odd_flags = weir_node_dyn.missing_flag |
				   (__atomic_load_n(&weir_node_checksum_mask, __ATOMIC_RELAXED) &
					   RTE_MBUF_F_RX_IP_CKSUM_BAD);
	struct headers headers;
	uint32_t nb_refused = 0;
	uint64_t found;

	for (uint32_t i = 0; i < nb; i++) {
		gather_one(&headers, i, objs[i], odd_flags);
		addresses[i] = rte_be_to_cpu_32((uint32_t)headers.last[i]);
		node_route_prefetch4(&prefetch, addresses[i]);
		nexts[i] = NODE_IP4_EDGE_REWRITE;
	}
	found = find_odd(&headers, nb);
	if (unlikely(found & 1))
		nb_refused = check_odd(&headers, objs, nexts, nb);
	if (found & 2)
		trim_padding(&headers, objs, nb);
	return nb_refused;
}
