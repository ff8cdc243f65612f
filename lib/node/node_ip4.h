/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_IP4_H
#define NODE_IP4_H

/* IPv4 headers: where things are, and the checksum. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_byteorder.h>

#include "node_private.h"

enum {
	IP4_HEADER = 20,      /* bytes without options */
	IP4_TOTAL_LENGTH = 2, /* offsets of fields */
	IP4_FRAGMENT = 6,
	IP4_TTL = 8,
	IP4_CHECKSUM = 10,
	IP4_SOURCE = 12,
	IP4_DESTINATION = 16,
	IP4_DONT_FRAGMENT = 0x4000, /* of the fragment field */
	IP4_MORE_FRAGMENTS = 0x2000,
	IP4_OFFSET_MASK = 0x1fff,
};

/* A one's complement sum of 64 bits in 16: adding the halves, carries come round by themselves. */
static inline uint16_t
node_fold(uint64_t sum)
{
	uint32_t half = (uint32_t)((sum + (sum << 32 | sum >> 32)) >> 32);

	return (uint16_t)((half + (half << 16 | half >> 16)) >> 16);
}

static inline uint64_t
node_add_carry(uint64_t a, uint64_t b)
{
	a += b;
	return a + (a < b);
}

/* One's complement sum of a header of any length that is a multiple of 4; 0xffff when its checksum is right. */
static inline uint16_t
node_ip4_sum(const uint8_t *ip, uint32_t length)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < length; i += 4)
		sum += node_load32(ip + i);
	return node_fold(sum);
}

/*
 * TTL - 1, and the checksum HC that follows from it. RFC 1624, equation 3, with
 * m the word that holds TTL and protocol, m' what it becomes:
 *
 *     HC' = ~(~HC + ~m + m')
 *
 * In network order m' = m - 0x0100, so ~m + m' = 0xffff - 0x0100 whatever m is, and HC' is HC + 0x0100
 * with the carry brought round, 0xffff counting as a carry too: when computed anew it is never that. The
 * sum does not depend on the byte order it is computed in, the constant does. The TTL must not be 0.
 */
static __rte_always_inline void
node_ip4_decrement_ttl(uint8_t *ip)
{
	uint32_t sum = node_load16(ip + IP4_CHECKSUM) + (uint32_t)RTE_BE16(0x0100);

	node_store16(ip + IP4_CHECKSUM, (uint16_t)(sum + ((sum + 1) >> 16)));
	ip[IP4_TTL]--;
}

#endif
