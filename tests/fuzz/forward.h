/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FUZZ_FORWARD_H
#define FUZZ_FORWARD_H

/*
 * Arbitrary bytes as frames through the packet nodes, classify to transmit.
 * Each frame lies in a block of exactly its size, so that the address sanitizer sees
 * every access beyond it. Every packet must be accounted for, and no buffer lost.
 *
 * Input: frames, one after the other, each as
 *
 *     flags     1 byte, FORWARD_*
 *     length    2 bytes, low byte first; the input's end ends the last frame
 *     bytes
 */

#include <stddef.h>
#include <stdint.h>

enum {
	FORWARD_OWN_MAC = 1 << 0,  /* overwrite the destination: the port's own */
	FORWARD_CHECKSUM = 1 << 1, /* repair the checksum of what looks like IPv4 */
	FORWARD_SPLIT = 1 << 2,    /* two segments; where, says the frame's last byte */
	FORWARD_SHARED = 1 << 3,   /* somebody else holds the bytes */
	FORWARD_MISSING = 1 << 4,  /* the capture left out 1,000 bytes */
	FORWARD_ROUTED =
		1 << 5, /* overwrite the destination of what looks like IP: one that has a route */
	FORWARD_COPY = 1 << 6, /* into a buffer with room around it instead */
};

/* EAL, ports, routes, graph. Exits when that fails. */
void forward_init(const char *name);

/* Send the frames of one input through the graph, and abort() if anything is wrong afterwards. @return frames */
unsigned int forward_input(const uint8_t *bytes, size_t size);

#endif
