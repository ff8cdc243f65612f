/* SPDX-License-Identifier: BSD-3-Clause */

/* 100,000 frames of garbage, and good ones with bytes and lengths changed: all accounted for, see ../fuzz/forward.h. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "../fuzz/forward.h"
#include "node_test.h"

#define NB_FRAMES        100000
#define FRAMES_PER_INPUT 40

static uint64_t seed = 0x9e3779b97f4a7c15;
static struct frame frame;
static uint8_t input[4 << 20];

/* xorshift64* */
static uint32_t
random_below(uint32_t limit)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (uint32_t)((seed * 0x2545f4914f6cdd1d) >> 32) % limit;
}

static void
good_frame(void)
{
	static const char *const ip4[] = {"1.0.0.1", "64.1.2.3", "130.0.0.1", "193.1.1.1",
		"209.1.1.1", "216.0.0.1", "224.0.0.1", "220.0.0.1"};
	static const char *const ip6[] = {"2001:db8::1", "3000::1", "4000::1", "5000::1", "6000::1",
		"7000::1", "ff02::1", "fe80::1", "::1"};
	uint32_t payload = random_below(8) == 0 ? random_below(3000) : random_below(120);

	switch (random_below(8)) {
	case 0:
		frame_ethernet(&frame, 0, (uint16_t)random_below(65536));
		break;
	case 1:
	case 2:
	case 3:
		frame_ip6(&frame, 0, "2001:db8::1", ip6[random_below(RTE_DIM(ip6))], payload);
		break;
	default:
		frame_ip4(&frame, 0, "192.0.2.1", ip4[random_below(RTE_DIM(ip4))], payload);
		frame.bytes[frame.l3 + 6] = (uint8_t)(random_below(4) == 0 ? random_below(256) : 0);
	}
	for (uint32_t tags = random_below(8); tags > 4; tags--)
		frame_tag(&frame, random_below(2) ? 0x8100 : 0x88a8, (uint16_t)random_below(65536));
}

static void
damage_frame(void)
{
	uint32_t header = RTE_MIN(frame.length, 80u);

	for (uint32_t n = random_below(4); n > 0; n--)
		frame.bytes[random_below(header)] = (uint8_t)random_below(256);
	if (random_below(4) == 0)
		frame.length = random_below(frame.length + 1);
	else if (random_below(4) == 0)
		frame_append(&frame, input, random_below(60));
}

static void
test_random(void **state)
{
	uint32_t nb = 0;

	while (nb < NB_FRAMES) {
		size_t size = 0;

		for (int i = 0; i < FRAMES_PER_INPUT; i++) {
			uint32_t flags =
				random_below(16) == 0
					? random_below(256)
					: random_below(256) | FORWARD_OWN_MAC | FORWARD_CHECKSUM;

			if (random_below(10) == 0) {
				frame.length = random_below(200);
				for (uint32_t b = 0; b < frame.length; b++)
					frame.bytes[b] = (uint8_t)random_below(256);
			} else {
				good_frame();
				damage_frame();
			}
			input[size++] = (uint8_t)flags;
			input[size++] = (uint8_t)frame.length;
			input[size++] = (uint8_t)(frame.length >> 8);
			memcpy(input + size, frame.bytes, frame.length);
			size += frame.length;
		}
		nb += forward_input(input, size);
	}
}

/* The garbage was not all of one kind: most reasons were met, and much was sent. */
static void
test_met(void **state)
{
	struct weir_node_reason_count counts[WEIR_NODE_REASON_COUNT];
	struct weir_node_totals totals;
	uint32_t met = 0;

	assert_int_equal(weir_node_reason_counts(counts), 0);
	for (int i = 0; i < WEIR_NODE_REASON_COUNT; i++) {
		met += counts[i].packets > 0;
		if (counts[i].packets == 0)
			print_message("not met: %s\n", weir_node_reason_name(counts[i].reason));
	}
	assert_int_equal(weir_node_totals(&totals), 0);
	print_message(
		"sent %u, cut %u\n", (unsigned int)totals.sent, (unsigned int)totals.fragmented);
	/* All but: none, no_memory, tx_full, tx_closed; sched_full, sched_closed, jobs_full: of nodes that are not in this graph. */
	assert_int_equal(met, WEIR_NODE_REASON_COUNT - 7);
	assert_true(totals.sent > NB_FRAMES / 10);
	assert_true(totals.fragmented > NB_FRAMES / 100);
}

static void
test_corpus(void **state)
{
	DIR *dir = opendir(CORPUS);
	struct dirent *entry;
	uint32_t nb = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		char path[4096];
		FILE *file;
		size_t size;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", CORPUS, entry->d_name);
		file = fopen(path, "rb");
		assert_non_null(file);
		size = fread(input, 1, sizeof(input), file);
		fclose(file);
		forward_input(input, size);
		nb++;
	}
	closedir(dir);
	assert_true(nb > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corpus),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_met),
	};

	forward_init("test_garbage");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
