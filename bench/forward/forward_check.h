/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FORWARD_CHECK_H
#define FORWARD_CHECK_H

/*
 * The per-packet work of the peers: the checks that our nodes make
 * (RFC 1812, 5.2.2 and 5.3.7; port's address; martians), and the rewriting. Written for
 * speed: one branch for all that is out of the ordinary. What fails is dropped.
 */

#include <stdbool.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "forward_bench.h"

#define FORWARD_MAC_MASK RTE_LE64(UINT64_C(0x0000ffffffffffff))

static __rte_always_inline uint64_t
load64(const void *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return value;
}

static __rte_always_inline void
store64(void *to, uint64_t value)
{
	memcpy(to, &value, sizeof(value));
}

static __rte_always_inline uint32_t
load32(const void *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return value;
}

/* First octets of addresses that are never forwarded: 0/8, 127/8, 224/3. */
static const uint8_t forward_special_octets[256] = {[0] = 1, [127] = 1, [224 ... 255] = 1};

/* Those, or 169.254/16. */
static __rte_always_inline uint32_t
forward_is_special(uint32_t address)
{
	return forward_special_octets[address >> 24] | (uint32_t)(address >> 16 == 0xa9fe);
}

/* Not 0 when the one's complement sum of the 20 bytes of a header is not all ones. */
static __rte_always_inline uint32_t
forward_sum_is_wrong(const uint8_t *ip)
{
	uint64_t a = load64(ip), b = load64(ip + 8), sum;
	uint32_t c = load32(ip + 16), half;

	sum = a + b;
	sum += sum < b;
	sum += c;
	sum += sum < c;
	/* Added to itself turned by half its width, the upper half is the sum of both, carry included. */
	sum += sum >> 32 | sum << 32;
	half = (uint32_t)(sum >> 32);
	half += half >> 16 | half << 16;
	return ~half >> 16;
}

/*
 * May the frame be forwarded? Sets its destination; cuts padding off.
 * mac: the port's address as load64() sees it. A frame with the TTL used up is refused here.
 */
static __rte_always_inline bool
forward_check(struct rte_mbuf *m, uint64_t mac, uint32_t *destination)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(frame + RTE_ETHER_HDR_LEN);
	uint32_t source, total, length, odd;

	if (unlikely(m->data_len < RTE_ETHER_HDR_LEN + sizeof(*ip)))
		return false;
	source = rte_be_to_cpu_32(ip->src_addr);
	*destination = rte_be_to_cpu_32(ip->dst_addr);
	total = rte_be_to_cpu_16(ip->total_length);
	length = m->pkt_len - RTE_ETHER_HDR_LEN;
	odd = (uint32_t)(((load64(frame) ^ mac) & FORWARD_MAC_MASK) != 0);
	odd |= ((const struct rte_ether_hdr *)frame)->ether_type ^ RTE_BE16(RTE_ETHER_TYPE_IPV4);
	odd |= ip->version_ihl ^ 0x45u;
	odd |= (uint32_t)(total - sizeof(*ip) > length - sizeof(*ip));
	odd |= (uint32_t)(total > FORWARD_MTU) | (uint32_t)(ip->time_to_live <= 1);
	odd |= forward_is_special(source) | forward_is_special(*destination);
	odd |= forward_sum_is_wrong((const uint8_t *)ip);
	if (unlikely(odd != 0))
		return false;
	if (unlikely(total != length)) {
		m->data_len = (uint16_t)(total + RTE_ETHER_HDR_LEN);
		m->pkt_len = total + RTE_ETHER_HDR_LEN;
	}
	return true;
}

/* TTL - 1, checksum by RFC 1624 (adding 0x0100 with carry, which 0xffff never follows), Ethernet header. */
static __rte_always_inline void
forward_rewrite(struct rte_mbuf *m, const uint8_t *header)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + RTE_ETHER_HDR_LEN);
	uint32_t sum = ip->hdr_checksum + (uint32_t)RTE_BE16(0x0100);

	ip->hdr_checksum = (uint16_t)(sum + (sum >= 0xffff));
	ip->time_to_live--;
	store64(frame, load64(header));
	store64(frame + 6, load64(header + 6));
}

#endif
