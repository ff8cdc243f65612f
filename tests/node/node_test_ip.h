/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_TEST_IP_H
#define NODE_TEST_IP_H

/*
 * Checks that IPv4 and IPv6 have in common, on the router of node_test.h; what differs is in a description.
 */

#include "node_test.h"

/* A version, as these checks need to know it. */
struct ip_version {
	uint8_t number;
	uint8_t first_byte; /* what stands beside the version number */
	uint8_t ttl_at;     /* byte of the time to live, or hop limit */
	bool has_checksum;
	void (*make)(struct frame *frame, enum test_port port, const char *source,
		const char *destination, uint32_t payload);
	const char *from; /* a good source */
	/* Destinations: by the port that packets leave through, or what becomes of them. */
	const char *right, *tagged, *own, *blackhole, *incomplete, *unrouted;
	struct {
		enum weir_node_reason version, martian_source, martian_destination, no_route,
			blackhole, own, expired, no_neighbour;
	} reason;
};

/* The frame that is tried. */
extern struct frame ip_frame;

/* Make it a packet with 26 bytes behind its header. @return its header, to be spoilt */
uint8_t *ip_plain(const struct ip_version *ip, const char *source, const char *destination);

/* After changes of the header. */
void ip_repair(const struct ip_version *ip);

/* Send it into the left port and expect it to be refused, or to leave. */
void ip_expect(enum weir_node_reason reason);
void ip_expect_out(enum test_port port);

/* All version numbers but its own are refused. */
void ip_check_versions(const struct ip_version *ip);

/*
 * Martian sources and destinations are refused; addresses beside them are not: as sources they are forwarded,
 * as destinations there is no route. Each list ends with NULL.
 */
void ip_check_martians(const struct ip_version *ip, const char *const *sources,
	const char *const *destinations, const char *const *fine);

/* What becomes of packets by next hop, for times to live of 0 to 2. */
void ip_check_hops(const struct ip_version *ip);

#endif
