/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * May IPv4 packets be forwarded, as far as their headers tell (RFC 1812, 5.2.2 and 5.3.7)?
 *
 * The plainest packets are found many at a time: their headers are collected in
 * arrays of words, arithmetic on whole vectors of these, without a branch, tells
 * which are odd in any way, and only those are looked at one by one.
 */

#include "node_ip4_check.h"

/* Numbers of as many packets as a vector register holds. */
#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX2__)
#define LANES 4
#else
#define LANES 2
#endif
typedef uint64_t lanes_t __attribute__((vector_size(LANES * sizeof(uint64_t)), aligned(8)));
_Static_assert(NODE_IP4_STEP % LANES == 0, "whole vectors");

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
	return NODE_LOOKUP_EDGE_REWRITE;
}

/* Of words in memory order: total length, first octets, and a number of the same remainder by 0xffff as an address. */
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
#define TOTAL(low)         (((low) >> 24 & 0xff) | ((low) >> 8 & 0xff00))
#define VERSION_IHL(low)   ((low)&0xff)
#define SOURCE_OCTET(high) ((high) >> 32 & 0xff)
#define ADDRESS_SUM(host)  ((host) << 8) /* 256 times a word has its bytes swapped */
#else
#define TOTAL(low)         ((low) >> 32 & 0xffff)
#define VERSION_IHL(low)   ((low) >> 56)
#define SOURCE_OCTET(high) ((high) >> 24 & 0xff)
#define ADDRESS_SUM(host)  (host)
#endif

/*
 * In what follows, numbers tell by being 0, or by not being negative, that all is well, and are joined by or:
 * comparisons would cost more.
 */

/*
 * Is the checksum of a header without options right? Then the sum of its words of any width, folded to
 * 16 bits, is all ones (RFC 1071, 2), and this 0.
 */
static inline lanes_t
sum_fault(lanes_t low, lanes_t high, lanes_t address)
{
	lanes_t sum = (low & UINT32_MAX) + (low >> 32) + (high & UINT32_MAX) + (high >> 32) +
		      ADDRESS_SUM(address);

	sum = (sum & 0xffff) + (sum >> 16); /* below 0x1040000 */
	sum = (sum & 0xffff) + (sum >> 16); /* below 0x10104, and not 0 */
	return sum ^ 0xffff;
}

/* First octets of addresses that want a closer look, is_special() and 169, give a negative number. */
static inline lanes_t
octet_sign(lanes_t octet)
{
	return (octet - 1) | (223 - octet) | ((octet ^ 127) - 1) | ((octet ^ 169) - 1);
}

static inline lanes_t
lanes_load(const uint64_t *from)
{
	lanes_t lanes;

	memcpy(&lanes, from, sizeof(lanes));
	return lanes;
}

static inline bool
lanes_any(lanes_t lanes)
{
	uint64_t any = 0;

	for (unsigned int i = 0; i < LANES; i++)
		any |= lanes[i];
	return any != 0;
}

/* Not 0 for packets of a step, from number @first on, that are odd. */
static inline lanes_t
find_odd(const struct node_ip4_step *step, unsigned int first)
{
	lanes_t low = lanes_load(&step->low[first]), high = lanes_load(&step->high[first]);
	lanes_t address = lanes_load(&step->address[first]);
	lanes_t room = lanes_load(&step->room[first]), total = TOTAL(low);
	lanes_t sign = (total - IP4_HEADER) | (room - total) | octet_sign(SOURCE_OCTET(high)) |
		       octet_sign(address >> 24);

	return (VERSION_IHL(low) ^ 0x45) | sum_fault(low, high, address) | sign >> 63;
}

/* Flags of packets that are odd. Where the device vouches for a checksum, to compute it costs less than to ask: only its doubts count. */
static inline uint64_t
odd_flags(void)
{
	return weir_node_dyn.missing_flag |
	       (__atomic_load_n(&weir_node_checksum_mask, __ATOMIC_RELAXED) &
		       RTE_MBUF_F_RX_IP_CKSUM_BAD);
}

/* Some packets of a step are odd. @return packets refused */
static __rte_noinline uint32_t
check_each(const struct node_ip4_step *step, void **objs, uint16_t *nexts, uint32_t nb)
{
	lanes_t odd[NODE_IP4_STEP / LANES];
	const uint64_t flags = odd_flags();
	uint32_t nb_refused = 0;

	for (unsigned int v = 0; v < NODE_IP4_STEP / LANES; v++)
		odd[v] = find_odd(step, v * LANES);
	for (uint32_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = objs[i];

		if (odd[i / LANES][i % LANES] == 0 && !(m->ol_flags & flags))
			continue;
		nexts[i] = check_any(m);
		nb_refused += nexts[i] != NODE_LOOKUP_EDGE_REWRITE;
	}
	return nb_refused;
}

uint32_t
node_ip4_check(const struct node_ip4_step *step, void **objs, uint16_t *nexts, uint32_t nb)
{
	lanes_t any = {step->flags & odd_flags()};

	for (unsigned int first = 0; first < NODE_IP4_STEP; first += LANES)
		any |= find_odd(step, first);
	for (uint32_t i = 0; i < nb; i++)
		nexts[i] = NODE_LOOKUP_EDGE_REWRITE;
	return unlikely(lanes_any(any)) ? check_each(step, objs, nexts, nb) : 0;
}

/* @return the packet's flags */
static __rte_always_inline uint64_t
collect_one(
	struct node_ip4_step *step, uint32_t i, struct rte_mbuf *m, struct weir_node_route4 routes)
{
	uint32_t l3 = weir_node_l3_unchecked(m), address;
	const uint8_t *ip;

	if (unlikely(m->data_len < l3 + IP4_HEADER)) { /* of version 0, which is odd */
		step->low[i] = step->high[i] = step->address[i] = step->room[i] = 0;
		return 0;
	}
	ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, l3);
	address = node_load_be32(ip + IP4_DESTINATION);
	step->low[i] = node_load64(ip);
	step->high[i] = node_load64(ip + 8);
	step->address[i] = address;
	step->room[i] = m->pkt_len - l3;
	node_route4_prefetch(routes, address);
	return m->ol_flags;
}

void
node_ip4_collect(
	struct node_ip4_step *step, void **objs, uint32_t nb, struct weir_node_route4 routes)
{
	uint64_t flags = 0;

	for (uint32_t i = 0; i < nb; i++)
		flags |= collect_one(step, i, objs[i], routes);
	step->flags = flags;
	/* The rest of a step that is not full is as plain as its last packet. */
	for (uint32_t i = nb; i < NODE_IP4_STEP; i++) {
		step->low[i] = step->low[nb - 1];
		step->high[i] = step->high[nb - 1];
		step->address[i] = step->address[nb - 1];
		step->room[i] = step->room[nb - 1];
	}
}
