/* SPDX-License-Identifier: BSD-3-Clause */

/* From packets to links: what is before a frame, and whose it is. */

#include "chain.h"

#include <errno.h>
#include <string.h>

#include <rte_byteorder.h>

#include "weir_base_pool.h"

#include "../base/log_last.h"

#define PAYLOAD 4u

/* A format of a byte: its key. */
static struct weir_readout_format
small(enum weir_base_layer layer)
{
	const struct weir_base_format spec = {
		.name = "small", .layer = layer, .fields = {[WEIR_BASE_FIELD_STREAM] = {0, 8}}};
	struct weir_readout_format format;

	assert_int_equal(weir_readout_format_compile(&spec, &format, NULL, NULL, 0), 0);
	return format;
}

/* In segments of so many bytes each. */
static void
give(const uint8_t *bytes, uint32_t nb, uint32_t segment)
{
	struct rte_mbuf *head = NULL;

	for (uint32_t at = 0; at < nb || head == NULL; at += segment) {
		uint16_t part = (uint16_t)RTE_MIN(segment, nb - at);
		struct rte_mbuf *m = rte_pktmbuf_alloc(chain.pool);

		assert_non_null(m);
		memcpy(rte_pktmbuf_append(m, part), bytes + at, part);
		weir_base_mbuf_guard(m);
		if (head == NULL)
			head = m;
		else
			assert_int_equal(rte_pktmbuf_chain(head, m), 0);
	}
	weir_readout_dispatch_receive(chain.dispatch, 0, &head, 1, 1000);
}

/* Ethernet, tags, IPv4 with options of so many bytes, UDP, a payload that begins with the key, and padding. @return bytes */
static uint32_t
make_ip4(uint8_t *bytes, unsigned int nb_tags, uint32_t options, uint8_t key, uint32_t padding)
{
	uint8_t *at = bytes;

	memset(bytes, 0xee, 200);
	for (at += 12; nb_tags > 0; nb_tags--, at += 4) {
		at[0] = nb_tags == 1 ? 0x81 : 0x88;
		at[1] = nb_tags == 1 ? 0x00 : 0xa8;
	}
	at[0] = 0x08;
	at[1] = 0x00;
	at += 2;
	at[0] = (uint8_t)(0x40 | (20 + options) / 4);
	at[2] = 0;
	at[3] = (uint8_t)(20 + options + 8 + PAYLOAD);
	at[6] = 0x40; /* do not fragment */
	at[7] = 0;
	at[9] = 17;
	at += 20 + options;
	at[4] = 0;
	at[5] = 8 + PAYLOAD;
	at[8] = key;
	return (uint32_t)(at - bytes) + 8 + PAYLOAD + padding;
}

static uint32_t
make_ip6(uint8_t *bytes, uint8_t key)
{
	memset(bytes, 0, 200);
	bytes[12] = 0x86;
	bytes[13] = 0xdd;
	bytes[14] = 0x60;
	bytes[19] = 8 + PAYLOAD;
	bytes[20] = 17;
	bytes[14 + 40 + 5] = 8 + PAYLOAD;
	bytes[14 + 40 + 8] = key;
	return 14 + 40 + 8 + PAYLOAD;
}

static void
headers(void **state)
{
	const struct weir_readout_format format = small(WEIR_BASE_LAYER_UDP);
	uint8_t bytes[200];
	uint32_t nb = 0, length;

	chain_make();
	chain_add((struct weir_readout_link_config){.format = &format, .key = 7});
	for (unsigned int tags = 0; tags <= 2; tags++)
		for (uint32_t options = 0; options <= 40; options += 4)
			for (uint32_t padding = 0; padding < 20; padding += 6) {
				length = make_ip4(bytes, tags, options, 7, padding);
				give(bytes, length, 200);
				assert_int_equal(chain_link(0).received, ++nb);
			}
	length = make_ip6(bytes, 7);
	give(bytes, length, 200);
	assert_int_equal(chain_link(0).received, ++nb);
	/* Padding and headers are not the frame's. */
	assert_int_equal(chain_link(0).received_bytes, nb * PAYLOAD);
	assert_int_equal(chain_queue().links, nb);
	chain_free();
}

/* Every way to cut a packet short: counted, and nothing is read beyond its end. */
static void
truncated(void **state)
{
	const struct weir_readout_format format = small(WEIR_BASE_LAYER_UDP);
	uint8_t bytes[200];
	uint32_t nb = 0;

	chain_make();
	chain_add((struct weir_readout_link_config){.format = &format, .key = 7});
	for (unsigned int i = 0; i < 2; i++) {
		uint32_t length = i == 0 ? make_ip4(bytes, 2, 8, 7, 0) : make_ip6(bytes, 7);

		for (uint32_t cut = 0; cut < length; cut++) {
			give(bytes, cut, 200);
			assert_int_equal(chain_queue().truncated, ++nb);
		}
	}
	assert_int_equal(chain_queue().received, nb);
	chain_free();
}

/* Lengths that contradict each other. */
static void
lies(void **state)
{
	const struct weir_readout_format format = small(WEIR_BASE_LAYER_UDP);
	uint8_t bytes[200];
	uint32_t length, nb = 0;

	chain_make();
	chain_add((struct weir_readout_link_config){.format = &format, .key = 7});
	for (unsigned int i = 0; i < 5; i++) {
		length = make_ip4(bytes, 0, 0, 7, 10);
		if (i == 0) {
			bytes[14] =
				0x44; /* a header of 16 bytes, and what would be UDP behind it */
			bytes[14 + 16 + 4] = 0;
			bytes[14 + 16 + 5] = 8 + PAYLOAD;
		}
		if (i == 1)
			bytes[17] = 19; /* less than the header */
		else if (i == 2)
			bytes[14 + 20 + 5] = 7; /* UDP: less than its header */
		else if (i == 3)
			bytes[14 + 20 + 5] = 8 + PAYLOAD + 1; /* more than IP has */
		else if (i == 4)
			bytes[14 + 20 + 5] = 8; /* no byte for the key */
		give(bytes, length, 200);
		assert_int_equal(chain_queue().truncated, ++nb);
	}
	chain_free();
}

static void
not_udp(void **state)
{
	const struct weir_readout_format format = small(WEIR_BASE_LAYER_UDP);
	uint8_t bytes[200];
	uint32_t length;

	chain_make();
	chain_add((struct weir_readout_link_config){.format = &format, .key = 7});
	for (unsigned int i = 0; i < 6; i++) {
		length = i < 5 ? make_ip4(bytes, 0, 0, 7, 0) : make_ip6(bytes, 7);
		if (i == 0)
			bytes[13] = 0x06; /* ARP */
		else if (i == 1)
			bytes[14 + 9] = 6; /* TCP */
		else if (i == 2)
			bytes[14 + 6] = 0x20; /* more fragments */
		else if (i == 3)
			bytes[14 + 7] = 1; /* a later fragment */
		else if (i == 4)
			bytes[14] = 0x55; /* version 5 */
		else
			bytes[20] = 6;
		give(bytes, length, 200);
		assert_int_equal(chain_queue().not_udp, i + 1);
	}
	assert_int_equal(chain_link(0).received, 0);
	chain_free();
}

static uint8_t copied[200];
static uint32_t nb_copied;

static void
copy(void *arg, const void *messages, uint32_t nb)
{
	const struct weir_readout_item *item = messages;

	assert_int_equal(nb, 1);
	nb_copied = item->frame.size_bytes;
	weir_readout_item_copy(item, copied);
	weir_readout_item_release(item, nb);
}

/* A frame in many segments, of which a copy is made in one piece. */
static void
segments(void **state)
{
	const struct weir_readout_format format = small(WEIR_BASE_LAYER_UDP);
	uint8_t bytes[200];

	chain_make();
	chain_add((struct weir_readout_link_config){.format = &format, .key = 7});
	assert_non_null(weir_readout_sink_create(chain.registry,
		&(struct weir_readout_sink_config){
			.name = "copy", .type = &weir_readout_item_type, .receive = copy}));
	assert_int_equal(
		weir_readout_source_bind(weir_readout_link_source(chain.links[0]), "copy"), 0);
	for (uint32_t segment = 43; segment < 50; segment++) {
		uint32_t length = make_ip4(bytes, 0, 0, 7, 60);

		bytes[14 + 3] = (uint8_t)(length - 14);
		bytes[14 + 20 + 5] = (uint8_t)(length - 34);
		for (uint32_t i = 43; i < length; i++)
			bytes[i] = (uint8_t)(i * 7);
		memset(copied, 0, sizeof(copied));
		give(bytes, length, segment);
		assert_int_equal(nb_copied, length - 42);
		assert_memory_equal(copied, bytes + 42, nb_copied);
	}
	chain_free();
}

static void
unknown(void **state)
{
	const struct weir_readout_format format = small(WEIR_BASE_LAYER_ETHERNET);
	struct weir_readout_dispatch_stats stats;
	uint8_t bytes[3] = {0};

	chain_make();
	give(bytes, 3, 3); /* no link at all */
	stats = chain_queue();
	assert_int_equal(stats.received, 1);
	assert_int_equal(stats.links, 0);
	chain_free();
	chain_make();
	for (uint32_t i = 0; i < CHAIN_LINKS_MAX; i++)
		chain_add((struct weir_readout_link_config){.format = &format, .key = 31 * i});
	for (unsigned int key = 0; key < 256; key++) {
		bytes[0] = (uint8_t)key;
		give(bytes, 3, 3);
	}
	stats = chain_queue();
	assert_int_equal(stats.links, CHAIN_LINKS_MAX);
	assert_int_equal(stats.unknown_stream, 256 - CHAIN_LINKS_MAX);
	assert_int_equal(stats.unknown_first_key, 1);
	assert_int_equal(stats.unknown_last_key, 255);
	assert_int_equal(stats.unknown_first_ns, 1000);
	assert_int_equal(stats.unknown_last_ns, 1000);
	for (uint32_t i = 0; i < CHAIN_LINKS_MAX; i++)
		assert_int_equal(chain_link(i).received, 1);
	chain_free();
}

/* More frames of a link in a burst than it is given at once, and others between. */
static void
batches(void **state)
{
	const struct weir_readout_format format = small(WEIR_BASE_LAYER_ETHERNET);
	struct rte_mbuf *mbufs[200];

	chain_make();
	chain_add((struct weir_readout_link_config){.format = &format, .key = 0});
	chain_add((struct weir_readout_link_config){.format = &format, .key = 1});
	for (unsigned int round = 1; round <= 3; round++) {
		assert_int_equal(rte_pktmbuf_alloc_bulk(chain.pool, mbufs, 200), 0);
		for (unsigned int i = 0; i < 200; i++)
			*rte_pktmbuf_append(mbufs[i], 1) = i % 3 == 0;
		weir_readout_dispatch_receive(chain.dispatch, 0, mbufs, 200, round);
		assert_int_equal(chain_link(0).delivered, round * 133);
		assert_int_equal(chain_link(1).delivered, round * 67);
	}
	chain_free();
}

static struct weir_readout_link *
make_link(const char *name, const struct weir_readout_format *format, uint64_t key)
{
	return weir_readout_link_create(chain.registry,
		&(struct weir_readout_link_config){.name = name, .format = format, .key = key});
}

static void
refused(void **state)
{
	const struct weir_readout_format format = small(WEIR_BASE_LAYER_UDP);
	struct weir_readout_link *link, *other;
	struct weir_readout_dispatch_stats stats;

	assert_null(weir_readout_dispatch_create(0));
	assert_int_equal(rte_errno, EINVAL);
	chain_make();
	chain_add((struct weir_readout_link_config){.format = &format, .key = 7});
	assert_int_equal(weir_readout_dispatch_stats(chain.dispatch, 1, &stats), -EINVAL);
	assert_int_equal(weir_readout_dispatch_add(chain.dispatch, 0, chain.links[0]), -EEXIST);
	link = make_link("twin", &format, 7);
	assert_int_equal(weir_readout_dispatch_add(chain.dispatch, 0, link), -EEXIST);
	assert_string_equal(
		log_message, "link 'twin': link 'link0' has stream key 7 of queue 0 already");
	assert_int_equal(weir_readout_dispatch_add(chain.dispatch, 1, link), -EINVAL);
	weir_readout_link_free(link);
	link = make_link("wide", &format, 256);
	assert_int_equal(weir_readout_dispatch_add(chain.dispatch, 0, link), -EINVAL);
	assert_string_equal(
		log_message, "link 'wide': frames of format 'small' have no stream key 256");
	weir_readout_link_free(link);
	other = make_link("other", weir_readout_format_builtin("udp"), 0);
	assert_int_equal(weir_readout_dispatch_add(chain.dispatch, 0, other), -EPROTOTYPE);
	assert_string_equal(
		log_message, "link 'other' of format 'udp': its queue's frames are 'small'");
	weir_readout_link_free(other);
	chain_free();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers),
		cmocka_unit_test(truncated),
		cmocka_unit_test(lies),
		cmocka_unit_test(not_udp),
		cmocka_unit_test(segments),
		cmocka_unit_test(unknown),
		cmocka_unit_test(batches),
		cmocka_unit_test(refused),
	};

	log_listen();
	return run_on_eal(1, tests);
}
