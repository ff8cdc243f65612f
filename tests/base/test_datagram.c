/* SPDX-License-Identifier: BSD-3-Clause */
/* Payloads of datagrams: where they are, and packets that have none, or not all of it. Each in a block of just its size. */
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "random.h"
#include "weir_base_datagram.h"

#define ETHER    14u
#define TAG      4u
#define IP4      20u
#define IP6      40u
#define UDP      8u
#define PAYLOAD  5u
#define BYTES    200u
#define TYPE_IP4 0x0800
#define TYPE_IP6 0x86dd

/* A packet as it is made: where its headers are. */
struct packet {
	uint8_t bytes[BYTES];
	uint32_t nb, ip, udp;
};

static void
put16(uint8_t *at, unsigned int value)
{
	at[0] = value >> 8;
	at[1] = value & UINT8_MAX;
}

static void
put_udp(struct packet *packet)
{
	packet->udp = packet->nb;
	put16(packet->bytes + packet->udp + 4, UDP + PAYLOAD);
	packet->nb += UDP + PAYLOAD;
}

static struct packet
with_tags(const uint16_t *tags, unsigned int nb, uint16_t type)
{
	struct packet packet = {.nb = ETHER};

	for (unsigned int i = 0; i < nb; i++) {
		put16(packet.bytes + packet.nb - 2, tags[i]);
		packet.nb += TAG;
	}
	put16(packet.bytes + packet.nb - 2, type);
	packet.ip = packet.nb;
	return packet;
}

static struct packet
ip4_behind(const uint16_t *tags, unsigned int nb, unsigned int options)
{
	struct packet packet = with_tags(tags, nb, TYPE_IP4);
	uint8_t *ip = packet.bytes + packet.ip;

	ip[0] = 0x40 | (IP4 + options) / 4;
	put16(ip + 2, IP4 + options + UDP + PAYLOAD);
	put16(ip + 6, 0x4000); /* must not be cut, which is no fragment */
	ip[9] = 17;
	packet.nb += IP4 + options;
	put_udp(&packet);
	return packet;
}

static struct packet
ip6(void)
{
	struct packet packet = with_tags(NULL, 0, TYPE_IP6);
	uint8_t *ip = packet.bytes + packet.ip;

	ip[0] = 0x60;
	put16(ip + 4, UDP + PAYLOAD);
	ip[6] = 17;
	packet.nb += IP6;
	put_udp(&packet);
	return packet;
}

/* So many bytes of it are there, of so many in all. */
static enum weir_base_datagram
find(const struct packet *packet, uint32_t there, uint32_t total, uint32_t *offset, uint32_t *bytes)
{
	uint8_t *exact = malloc(there > 0 ? there : 1);
	enum weir_base_datagram found;

	assert_non_null(exact);
	memcpy(exact, packet->bytes, there);
	found = weir_base_datagram_find(exact, there, total, offset, bytes);
	assert_true(*offset <= there);
	assert_true(*bytes <= total - *offset);
	free(exact);
	return found;
}

static enum weir_base_datagram
kind_of(const struct packet *packet)
{
	uint32_t offset, bytes;

	return find(packet, packet->nb, packet->nb, &offset, &bytes);
}

/* It is found, with bytes behind it or without, as soon as its headers are there; what is shorter is truncated. */
static void
is_found(const struct packet *packet)
{
	const uint32_t start = packet->nb - PAYLOAD;
	uint32_t offset, bytes;

	for (uint32_t more = 0; more < 20; more++) {
		const uint32_t nb = packet->nb + more;

		assert_int_equal(find(packet, nb, nb, &offset, &bytes), WEIR_BASE_DATAGRAM_FOUND);
		assert_int_equal(offset, start);
		assert_int_equal(bytes, PAYLOAD);
	}
	for (uint32_t there = 0; there < packet->nb; there++) {
		assert_int_equal(
			find(packet, there, there, &offset, &bytes), WEIR_BASE_DATAGRAM_TRUNCATED);
		assert_int_equal(find(packet, there, packet->nb, &offset, &bytes),
			there < start ? WEIR_BASE_DATAGRAM_TRUNCATED : WEIR_BASE_DATAGRAM_FOUND);
		if (there >= start)
			assert_int_equal(bytes, PAYLOAD);
	}
}

static void
found(void **state)
{
	const uint16_t tags[] = {0x88a8, 0x8100};
	struct packet packet;

	for (unsigned int nb = 0; nb <= 2; nb++) {
		for (unsigned int options = 0; options <= 40; options += 4) {
			packet = ip4_behind(tags, nb, options);
			is_found(&packet);
		}
	}
	packet = ip6();
	is_found(&packet);
}

static void
others(void **state)
{
	const uint16_t tags[] = {0x8100, 0x8100, 0x8100};
	struct packet packet = ip4_behind(tags, 3, 0);

	assert_int_equal(kind_of(&packet), WEIR_BASE_DATAGRAM_OTHER);
	packet = with_tags(NULL, 0, 0x0806);
	assert_int_equal(kind_of(&packet), WEIR_BASE_DATAGRAM_OTHER);
	packet = ip4_behind(NULL, 0, 0);
	packet.bytes[packet.ip] = 0x65;
	assert_int_equal(kind_of(&packet), WEIR_BASE_DATAGRAM_OTHER);
	packet = ip4_behind(NULL, 0, 0);
	packet.bytes[packet.ip + 9] = 6;
	assert_int_equal(kind_of(&packet), WEIR_BASE_DATAGRAM_OTHER);
	packet = ip4_behind(NULL, 0, 0);
	put16(packet.bytes + packet.ip + 6, 0x2000); /* more of them */
	assert_int_equal(kind_of(&packet), WEIR_BASE_DATAGRAM_OTHER);
	put16(packet.bytes + packet.ip + 6, 1); /* not the first one */
	assert_int_equal(kind_of(&packet), WEIR_BASE_DATAGRAM_OTHER);
	packet = ip6();
	packet.bytes[packet.ip + 6] = 44;
	assert_int_equal(kind_of(&packet), WEIR_BASE_DATAGRAM_OTHER);
}

/* Lengths that do not fit together, or that the packet has not. */
static void
wrong_lengths(void **state)
{
	const struct packet right[] = {ip4_behind(NULL, 0, 0), ip6()};
	struct packet packet = right[0];

	packet.bytes[packet.ip] = 0x44;
	put16(packet.bytes + packet.udp, UDP); /* what would be UDP's length */
	assert_int_equal(kind_of(&packet), WEIR_BASE_DATAGRAM_TRUNCATED);
	packet = right[0];
	put16(packet.bytes + packet.ip + 2, IP4 - 1);
	assert_int_equal(kind_of(&packet), WEIR_BASE_DATAGRAM_TRUNCATED);
	for (size_t i = 0; i < 2; i++) {
		uint8_t *length = packet.bytes + right[i].ip + (i == 0 ? 2 : 4);

		packet = right[i];
		put16(length, (unsigned int)(length[0] << 8 | length[1]) + 1);
		assert_int_equal(kind_of(&packet), WEIR_BASE_DATAGRAM_TRUNCATED);
		packet = right[i];
		put16(packet.bytes + packet.udp + 4, UDP - 1);
		assert_int_equal(kind_of(&packet), WEIR_BASE_DATAGRAM_TRUNCATED);
		/* More than IP has, though there are more bytes. */
		packet = right[i];
		put16(packet.bytes + packet.udp + 4, UDP + PAYLOAD + 1);
		packet.nb++;
		assert_int_equal(kind_of(&packet), WEIR_BASE_DATAGRAM_TRUNCATED);
		/* None. */
		packet = right[i];
		put16(packet.bytes + packet.udp + 4, UDP);
		assert_int_equal(kind_of(&packet), WEIR_BASE_DATAGRAM_FOUND);
	}
}

/* Whatever comes: nothing beyond its bytes is read, and what is told lies within. */
static void
garbage(void **state)
{
	const uint16_t tags[] = {0x8100, 0x88a8};
	uint64_t random = 88172645463325252u;
	uint32_t offset, bytes;

	for (int i = 0; i < 200000; i++) {
		struct packet packet = random_below(&random, 4) == 0
					       ? ip6()
					       : ip4_behind(tags, random_below(&random, 3),
							 random_below(&random, 11) * 4);
		uint32_t total = random_below(&random, BYTES + 1);

		for (uint64_t nb = random_below(&random, 4); nb > 0; nb--)
			packet.bytes[random_below(&random, 100)] = random_next(&random);
		find(&packet, random_below(&random, total + 1), total, &offset, &bytes);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found),
		cmocka_unit_test(others),
		cmocka_unit_test(wrong_lengths),
		cmocka_unit_test(garbage),
	};

	return cmocka_run_group_tests_name("datagram", tests, NULL, NULL);
}
