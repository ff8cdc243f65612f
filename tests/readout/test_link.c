/* SPDX-License-Identifier: BSD-3-Clause */

/* What a link says of frames that are as they should be, and of others. */

#include "link_fixture.h"

#include <errno.h>

#include <rte_errno.h>

#include "../base/log_last.h"

static void
in_order(void **state)
{
	make_of(spec, (struct weir_readout_link_config){0});
	/* The sequence number wraps often, the timestamp once. */
	for (uint64_t n = 0; n < 1000; n++)
		give(n, UINT32_MAX - 5000 + n * STEP);
	free_all();
}

static void
gaps(void **state)
{
	make_of(spec, (struct weir_readout_link_config){0});
	give_all(0, 10);
	give(11, 110);
	expect(WEIR_READOUT_FAULT_GAP, 1);
	give_all(12, 20);
	expect_all();
	give(25, 250);
	expect(WEIR_READOUT_FAULT_GAP, 5);
	/* More than the sequence number can tell, also more than those remembered; it comes to the same number once. */
	give(25 + 256, (25 + 256) * STEP);
	expect(WEIR_READOUT_FAULT_GAP, 255);
	give(281 + 1025, (281 + 1025) * STEP);
	expect(WEIR_READOUT_FAULT_GAP, 1024);
	give(1305, 1305 * STEP);
	expect(WEIR_READOUT_FAULT_REORDERED, 0);
	free_all();
}

static void
duplicates(void **state)
{
	make_of(spec, (struct weir_readout_link_config){0});
	give_all(0, 1200);
	give(1199, 1199 * STEP);
	expect(WEIR_READOUT_FAULT_DUPLICATE, 0);
	give(1200 - 1024, (1200 - 1024) * STEP);
	expect(WEIR_READOUT_FAULT_DUPLICATE, 0);
	/* Too long ago to know. */
	give(1199 - 1024, (1199 - 1024) * STEP);
	faults[WEIR_READOUT_FAULT_LATE]++;
	expect(WEIR_READOUT_FAULT_SEQUENCE_JUMP, 0);
	give_all(1200, 1210);
	give(1202, 12020);
	expect(WEIR_READOUT_FAULT_DUPLICATE, 0);
	give_all(1210, 1220);
	free_all();
}

static void
duplicates_dropped(void **state)
{
	struct weir_readout_link_stats stats;

	make_of(spec, (struct weir_readout_link_config){.drop_duplicates = true});
	give_all(0, 3);
	give(2, 20);
	expect(WEIR_READOUT_FAULT_DUPLICATE, 0);
	give_all(3, 5);
	weir_readout_link_stats(frames_link, &stats);
	assert_int_equal(stats.dropped[WEIR_READOUT_DROP_DUPLICATE], 1);
	assert_int_equal(stats.delivered, 5);
	free_all();
}

static void
reordered(void **state)
{
	make_of(spec, (struct weir_readout_link_config){0});
	give_all(5, 10);
	give(12, 120);
	expect(WEIR_READOUT_FAULT_GAP, 2);
	give(11, 110);
	expect(WEIR_READOUT_FAULT_REORDERED, 0);
	give(11, 110);
	expect(WEIR_READOUT_FAULT_DUPLICATE, 0);
	give(10, 100);
	expect(WEIR_READOUT_FAULT_REORDERED, 0);
	give_all(13, 15);
	expect_all();
	/* One from before the first: missing when it came, as it turns out. */
	give(4, 40);
	expect(WEIR_READOUT_FAULT_REORDERED, 1);
	free_all();
}

static void
corrupt_fields(void **state)
{
	make_of(spec, (struct weir_readout_link_config){0});
	give_all(0, 10);
	give(77, 100);
	expect(WEIR_READOUT_FAULT_SEQUENCE_JUMP, 0);
	give_all(11, 20);
	expect_all();
	give(20, 203);
	expect(WEIR_READOUT_FAULT_EARLY, 0);
	give_all(21, 30);
	expect_all();
	give(30, 293);
	expect(WEIR_READOUT_FAULT_LATE, 0);
	give_all(31, 40);
	expect_all();
	give(40, 400 + 1000001);
	expect(WEIR_READOUT_FAULT_TIMESTAMP_JUMP, 0);
	give_all(41, 50);
	expect_all();
	/* Neither: it is nowhere in the stream, and its place is empty. */
	give(99, 0x70000000);
	faults[WEIR_READOUT_FAULT_TIMESTAMP_JUMP]++;
	expect(WEIR_READOUT_FAULT_SEQUENCE_JUMP, 0);
	give(51, 510);
	expect(WEIR_READOUT_FAULT_GAP, 1);
	give_all(52, 60);
	free_all();
}

/* From some frame on: counted once. */
static void
jumps(void **state)
{
	make_of(spec, (struct weir_readout_link_config){0});
	give_all(0, 10);
	give(10, 0x70000000);
	expect(WEIR_READOUT_FAULT_TIMESTAMP_JUMP, 0);
	for (uint64_t n = 11; n < 30; n++)
		give(n, 0x70000000 + (n - 10) * STEP);
	expect_all();
	give(3, 0x70000000 + 20 * STEP); /* after 29 */
	expect(WEIR_READOUT_FAULT_SEQUENCE_JUMP, 0);
	for (uint64_t n = 4; n < 10; n++)
		give(n, 0x70000000 + (n + 17) * STEP);
	expect_all();
	/* It began anew. */
	give(0, 0);
	faults[WEIR_READOUT_FAULT_TIMESTAMP_JUMP]++;
	expect(WEIR_READOUT_FAULT_SEQUENCE_JUMP, 0);
	give(0, 0);
	expect(WEIR_READOUT_FAULT_DUPLICATE, 0);
	give(2, 20);
	expect(WEIR_READOUT_FAULT_GAP, 1);
	give(1, 10);
	expect(WEIR_READOUT_FAULT_REORDERED, 0);
	give_all(3, 10);
	/* And on elsewhere, where nothing that came before is known of. */
	give(10, 0x70000000);
	expect(WEIR_READOUT_FAULT_TIMESTAMP_JUMP, 0);
	give(11, 0x70000000 + STEP);
	give(9, 0x70000000 - STEP);
	expect(WEIR_READOUT_FAULT_REORDERED, 1);
	/* 10 ms of 100 kHz is as far as is allowed here. */
	free_all();
	make_of(spec, (struct weir_readout_link_config){.jump_s = 0.01});
	give_all(0, 10);
	give(10, 100 + 1000);
	expect(WEIR_READOUT_FAULT_EARLY, 0);
	give_all(11, 13);
	give(13, 130 + 1001);
	expect(WEIR_READOUT_FAULT_TIMESTAMP_JUMP, 0);
	free_all();
}

static void
wrong_sizes(void **state)
{
	uint8_t bytes[FRAME_BYTES + 1] = {0};
	struct weir_readout_link_stats stats;

	make_of(spec, (struct weir_readout_link_config){0});
	give_all(0, 2);
	make_frame(bytes, 2, 20);
	give_bytes(bytes, FRAME_BYTES - 1);
	expect(WEIR_READOUT_FAULT_WRONG_SIZE, 0);
	give_bytes(bytes, FRAME_BYTES + 1);
	expect(WEIR_READOUT_FAULT_WRONG_SIZE, 0);
	give_bytes(bytes, 0);
	expect(WEIR_READOUT_FAULT_WRONG_SIZE, 0);
	bytes[1] = 15; /* states another one */
	give_bytes(bytes, FRAME_BYTES);
	expect(WEIR_READOUT_FAULT_WRONG_SIZE, 0);
	weir_readout_link_stats(frames_link, &stats);
	assert_int_equal(stats.dropped[WEIR_READOUT_DROP_WRONG_SIZE], 4);
	assert_int_equal(stats.delivered, 2);
	assert_int_equal(stats.received_bytes, 2 * 16 + 15 + 17 + 0 + 16);
	give(3, 30);
	expect(WEIR_READOUT_FAULT_GAP, 1);
	free_all();
}

/* Those behind one that is dropped go on as they are. */
static void
dropped_among_others(void **state)
{
	struct weir_readout_item items[4];
	uint8_t bytes[4][FRAME_BYTES];

	make_of(spec, (struct weir_readout_link_config){0});
	hold = true;
	for (unsigned int i = 0; i < 4; i++) {
		make_frame(bytes[i], i, i * STEP);
		items[i] = (struct weir_readout_item){.data = bytes[i],
			.data_bytes = FRAME_BYTES,
			.frame.size_bytes = FRAME_BYTES};
	}
	bytes[1][1] = 0; /* the length */
	weir_readout_link_receive(frames_link, items, 4, 1);
	assert_int_equal(nb_held, 3);
	assert_ptr_equal(held[0].data, bytes[0]);
	assert_ptr_equal(held[1].data, bytes[2]);
	assert_ptr_equal(held[2].data, bytes[3]);
	assert_int_equal(held[2].frame.sequence, 3);
	weir_readout_item_release(held, 3);
	received = 4;
	faults[WEIR_READOUT_FAULT_WRONG_SIZE]++;
	expect(WEIR_READOUT_FAULT_GAP, 1);
	free_all();
}

/* First and last, and what is between. */
static void
remembered(void **state)
{
	struct weir_readout_link_stats stats;
	const struct weir_readout_fault_stats *gap = &stats.faults[WEIR_READOUT_FAULT_GAP];

	make_of(spec, (struct weir_readout_link_config){.stall_ns = 5000});
	give_all(0, 2);
	give(3, 30); /* the third, at 3000 ns */
	weir_readout_link_stats(frames_link, &stats);
	assert_int_equal(gap->count, 1);
	assert_int_equal(gap->interval_ns, 0);
	assert_memory_equal(&gap->first, &gap->last, sizeof(gap->first));
	assert_int_equal(gap->first.number, 2);
	assert_int_equal(gap->first.sequence, 3);
	assert_int_equal(gap->first.timestamp, 30);
	assert_int_equal(gap->first.arrival_ns, 3000);
	now_ns += 4000;
	give(5, 50); /* at 8000 ns: as late as is allowed */
	now_ns += 4001;
	give(7, 70);
	weir_readout_link_stats(frames_link, &stats);
	assert_int_equal(gap->count, 3);
	assert_int_equal(gap->first.number, 2);
	assert_int_equal(gap->last.number, 4);
	assert_int_equal(gap->last.sequence, 7);
	assert_int_equal(gap->last.arrival_ns, 13001);
	assert_int_equal(gap->interval_ns, 5001);
	faults[WEIR_READOUT_FAULT_GAP] = 3;
	missing = 3;
	expect(WEIR_READOUT_FAULT_STALL, 0);
	free_all();
}

/* Numbers, and timestamps at any distance. */
static void
without_step(void **state)
{
	struct weir_base_format of = spec;

	of.step_ticks = 0;
	make_of(of, (struct weir_readout_link_config){0});
	give(250, 5);
	give(251, 5);
	give(252, 0x40000000);
	give(253, 0x40000001);
	expect_all();
	give(255, 0x40000002);
	expect(WEIR_READOUT_FAULT_GAP, 1);
	give(254, 0x40000002);
	expect(WEIR_READOUT_FAULT_REORDERED, 0);
	give(255, 0x40000002);
	expect(WEIR_READOUT_FAULT_DUPLICATE, 0);
	give(0, 0x40000001);
	expect(WEIR_READOUT_FAULT_LATE, 0);
	give(1, 0x40000003);
	expect_all();
	give(1, 0x40000004);
	expect(WEIR_READOUT_FAULT_SEQUENCE_JUMP, 0);
	give(3, 0x40000005);
	expect_all();
	free_all();
	make_of(of, (struct weir_readout_link_config){.jump_s = 0.01});
	give(0, 0);
	give(1, 1000);
	expect_all();
	give(2, 2001);
	expect(WEIR_READOUT_FAULT_TIMESTAMP_JUMP, 0);
	give(3, 2002);
	give(4, 2003);
	free_all();
}

static void
without_sequence(void **state)
{
	struct weir_base_format of = spec;

	of.fields[WEIR_BASE_FIELD_SEQUENCE].width_bits = 0;
	make_of(of, (struct weir_readout_link_config){0});
	for (uint64_t n = 0; n < 5; n++)
		give(9, n * STEP);
	give(9, 70);
	expect(WEIR_READOUT_FAULT_GAP, 2);
	give(9, 60);
	expect(WEIR_READOUT_FAULT_REORDERED, 0);
	give(9, 83);
	expect(WEIR_READOUT_FAULT_EARLY, 0);
	give(9, 93); /* and so on */
	give(9, 103);
	expect_all();
	free_all();
	of.step_ticks = 0;
	make_of(of, (struct weir_readout_link_config){0});
	give(9, 0);
	give(9, 100);
	give(9, 100);
	expect_all();
	give(9, 99);
	expect(WEIR_READOUT_FAULT_LATE, 0);
	give(9, 101);
	free_all();
}

/* Nothing to be checked; the time is that of arrival. */
static void
without_fields(void **state)
{
	const struct weir_base_format of = {.name = "none"};
	static const uint8_t bytes[3];

	make_of(of, (struct weir_readout_link_config){0});
	hold = true;
	for (unsigned int i = 0; i < 3; i++)
		give_bytes(bytes, i);
	expect_all();
	assert_int_equal(nb_held, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(held[i].frame.timestamp, 1000 * (i + 1));
		assert_int_equal(held[i].frame.size_bytes, i);
		assert_ptr_equal(held[i].link, frames_link);
	}
	weir_readout_item_release(held, 3);
	free_all();
}

/* Held until they are released; what no consumer takes is dropped. */
static void
accounted(void **state)
{
	struct weir_readout_source *source;
	struct weir_readout_sink *queue;
	struct weir_readout_link_stats stats;
	struct weir_readout_item items[4];

	make_of(spec, (struct weir_readout_link_config){.key = 5});
	source = weir_readout_link_source(frames_link);
	assert_int_equal(weir_readout_link_key(frames_link), 5);
	assert_string_equal(weir_readout_link_name(frames_link), "link");
	assert_string_equal(weir_readout_link_format(frames_link)->name, "test");
	hold = true;
	give_all(0, 3);
	weir_readout_link_stats(frames_link, &stats);
	assert_int_equal(stats.held, 3);
	weir_readout_item_release(held, 2);
	weir_readout_link_stats(frames_link, &stats);
	assert_int_equal(stats.held, 1);
	assert_int_equal(stats.delivered, 2);
	weir_readout_item_release(&held[2], 1);

	queue = weir_readout_sink_create(registry,
		&(struct weir_readout_sink_config){
			.name = "queue", .type = &weir_readout_item_type, .queue_size = 2});
	assert_int_equal(weir_readout_source_bind(source, "queue"), 0);
	give_all(3, 7);
	weir_readout_link_stats(frames_link, &stats);
	expect_sums(&stats);
	assert_int_equal(stats.held, 2);
	assert_int_equal(stats.dropped[WEIR_READOUT_DROP_QUEUE_FULL], 2);
	assert_int_equal(weir_readout_sink_receive(queue, items, 4), 2);
	assert_int_equal(items[0].frame.timestamp, 30);
	assert_int_equal(items[1].frame.sequence, 4);
	weir_readout_item_release(items, 2);
	assert_int_equal(weir_readout_source_bind(source, NULL), 0);
	give_all(7, 10);
	weir_readout_link_stats(frames_link, &stats);
	expect_sums(&stats);
	assert_int_equal(stats.held, 0);
	assert_int_equal(stats.delivered, 5);
	assert_int_equal(stats.dropped[WEIR_READOUT_DROP_QUEUE_FULL], 2);
	assert_int_equal(stats.dropped[WEIR_READOUT_DROP_UNBOUND], 3);
	free_all();
}

static void
refused(void **state)
{
	const struct weir_readout_format *udp = weir_readout_format_builtin("udp");
	struct weir_readout_format clockless = *udp;
	struct weir_readout_link_config config = {.name = "link"};

	registry = weir_readout_registry_create();
	assert_null(weir_readout_link_create(registry, &config));
	assert_int_equal(rte_errno, EINVAL);
	assert_string_equal(log_message, "link 'link' needs a format");
	config.format = udp;
	config.jump_s = -1;
	assert_null(weir_readout_link_create(registry, &config));
	assert_string_equal(log_message, "link 'link': a jump of -1 s, expected 0 up to 1000000");
	config.jump_s = 1;
	clockless.clock_hz = 0;
	config.format = &clockless;
	assert_null(weir_readout_link_create(registry, &config));
	assert_string_equal(log_message,
		"link 'link': format 'udp' has no clock, so a jump cannot be given in seconds");
	config.format = udp;
	config.name = NULL;
	assert_null(weir_readout_link_create(registry, &config));
	assert_int_equal(rte_errno, EINVAL);
	weir_readout_registry_free(registry);
	assert_null(weir_readout_fault_name(WEIR_READOUT_NB_FAULTS));
	assert_null(weir_readout_drop_name(WEIR_READOUT_NB_DROPS));
	for (unsigned int i = 0; i < WEIR_READOUT_NB_DROPS; i++)
		assert_non_null(weir_readout_drop_name((enum weir_readout_drop)i));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(gaps),
		cmocka_unit_test(duplicates),
		cmocka_unit_test(duplicates_dropped),
		cmocka_unit_test(reordered),
		cmocka_unit_test(corrupt_fields),
		cmocka_unit_test(jumps),
		cmocka_unit_test(wrong_sizes),
		cmocka_unit_test(dropped_among_others),
		cmocka_unit_test(remembered),
		cmocka_unit_test(without_step),
		cmocka_unit_test(without_sequence),
		cmocka_unit_test(without_fields),
		cmocka_unit_test(accounted),
		cmocka_unit_test(refused),
	};

	log_listen();
	return cmocka_run_group_tests_name("readout-link", tests, NULL, NULL);
}
