/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_DATAGRAM_H
#define WEIR_BASE_DATAGRAM_H

/**
 * @file
 * The payload of a UDP datagram in an Ethernet frame: for those who receive packets, and for those who read them from
 * captures where there is no DPDK.
 *
 * A function of its arguments: any thread may call it. Needs no DPDK.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a packet is. */
enum weir_base_datagram {
	WEIR_BASE_DATAGRAM_FOUND,     /**< a whole UDP datagram */
	WEIR_BASE_DATAGRAM_OTHER,     /**< something else, or a fragment of one */
	WEIR_BASE_DATAGRAM_TRUNCATED, /**< shorter than its headers say, or than they are */
};

/**
 * Find the payload: behind Ethernet, up to two VLAN tags, IPv4 with its options or IPv6 without extensions, and UDP.
 * What the packet has beyond the datagram's length, as short frames have, does not count.
 *
 * @param packet      its first bytes
 * @param there_bytes how many are there; where the headers are not among them, it is truncated
 * @param total_bytes how many it has, there or, in further segments, elsewhere
 * @param[out] offset of the payload in the packet; where there is none, of what was looked at last
 * @param[out] bytes  of the payload, in all; where there is none, of what is left
 */
enum weir_base_datagram weir_base_datagram_find(const uint8_t *packet, uint32_t there_bytes,
	uint32_t total_bytes, uint32_t *offset, uint32_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
