/* SPDX-License-Identifier: BSD-3-Clause */

#include "node_test_ip.h"

struct frame ip_frame;

uint8_t *
ip_plain(const struct ip_version *ip, const char *source, const char *destination)
{
	ip->make(&ip_frame, TEST_LEFT, source, destination, 26);
	return ip_frame.bytes + ip_frame.l3;
}

void
ip_repair(const struct ip_version *ip)
{
	if (ip->has_checksum)
		frame_ip4_checksum(&ip_frame);
}

void
ip_expect(enum weir_node_reason reason)
{
	expect_reason(TEST_LEFT, &ip_frame, reason);
}

void
ip_expect_out(enum test_port port)
{
	expect_forwarded(TEST_LEFT, &ip_frame, port);
}

void
ip_check_versions(const struct ip_version *ip)
{
	for (uint8_t number = 0; number < 16; number++) {
		if (number == ip->number)
			continue;
		ip_plain(ip, ip->from, ip->right)[0] = (uint8_t)(number << 4 | ip->first_byte);
		ip_repair(ip);
		ip_expect(ip->reason.version);
	}
}

void
ip_check_martians(const struct ip_version *ip, const char *const *sources,
	const char *const *destinations, const char *const *fine)
{
	for (; *sources != NULL; sources++) {
		ip_plain(ip, *sources, ip->right);
		ip_expect(ip->reason.martian_source);
	}
	for (; *destinations != NULL; destinations++) {
		ip_plain(ip, ip->from, *destinations);
		ip_expect(ip->reason.martian_destination);
	}
	for (; *fine != NULL; fine++) {
		ip_plain(ip, *fine, ip->right);
		ip_expect_out(TEST_RIGHT);
		ip_plain(ip, ip->from, *fine);
		ip_expect(ip->reason.no_route);
	}
}

static void
make_with(const struct ip_version *ip, const char *destination, uint8_t ttl)
{
	ip_plain(ip, ip->from, destination)[ip->ttl_at] = ttl;
	ip_repair(ip);
}

void
ip_check_hops(const struct ip_version *ip)
{
	for (uint8_t ttl = 0; ttl <= 2; ttl++) {
		make_with(ip, ip->unrouted, ttl);
		ip_expect(ip->reason.no_route);
		make_with(ip, ip->blackhole, ttl);
		ip_expect(ip->reason.blackhole);
		make_with(ip, ip->own, ttl);
		ip_expect(ip->reason.own);
		make_with(ip, ip->incomplete, ttl);
		ip_expect(ttl < 2 ? ip->reason.expired : ip->reason.no_neighbour);
		make_with(ip, ip->tagged, ttl);
		if (ttl < 2)
			ip_expect(ip->reason.expired);
		else
			ip_expect_out(TEST_TAGGED);
	}
}
