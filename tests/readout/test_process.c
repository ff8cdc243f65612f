/* SPDX-License-Identifier: BSD-3-Clause */

/* An application's functions before the buffer: what they see, what they drop and how it is counted. */

#include "link_fixture.h"

#include <errno.h>

#include <rte_errno.h>

#include "weir_readout_handler.h"
#include "weir_readout_process.h"

#include "../base/log_last.h"

static const char *const parities[] = {"odd", "large"};

/* Numbers that a function has seen. */
static uint64_t seen[2][64];
static uint32_t nb_seen[2];

static void
note(uint32_t by, const struct weir_readout_item *item)
{
	assert_ptr_equal(item->link, frames_link);
	assert_int_equal(((const uint8_t *)item->data)[0], item->frame.sequence);
	seen[by][nb_seen[by]++] = item->frame.sequence;
}

static int
drop_odd(void *arg, const struct weir_readout_item *item)
{
	assert_ptr_equal(arg, parities);
	note(0, item);
	if (item->frame.sequence >= 20)
		return 1;
	return item->frame.sequence % 2 == 1 ? 0 : WEIR_READOUT_PASS;
}

static int
drop_tens(void *arg, const struct weir_readout_item *item)
{
	note(1, item);
	return item->frame.sequence % 10 == 0 ? 0 : WEIR_READOUT_PASS;
}

static const struct weir_readout_process processes[] = {
	{.name = "parity",
		.run = drop_odd,
		.arg = (void *)(uintptr_t)parities,
		.drops = parities,
		.nb_drops = 2},
	{.name = "tens", .run = drop_tens},
};

static void
make_processed(const struct weir_readout_process *list, uint32_t nb)
{
	memset(nb_seen, 0, sizeof(nb_seen));
	make_of(spec, (struct weir_readout_link_config){.processes = list, .nb_processes = nb});
}

static struct weir_readout_link_stats
look(void)
{
	struct weir_readout_link_stats stats;
	uint64_t processed = 0;

	weir_readout_link_stats(frames_link, &stats);
	expect_sums(&stats);
	for (uint32_t i = 0; i < WEIR_READOUT_PROCESS_DROPS_MAX; i++)
		processed += stats.processed[i];
	assert_int_equal(processed, stats.dropped[WEIR_READOUT_DROP_PROCESSED]);
	return stats;
}

/* Each sees what those before it let pass; each reason is counted, the consumer gets the rest. */
static void
before(void **state)
{
	struct weir_readout_link_stats stats;

	make_processed(processes, 2);
	hold = true;
	give_all(0, 22);
	stats = look();
	assert_int_equal(nb_seen[0], 22);
	assert_int_equal(nb_seen[1], 10);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(seen[1][i], 2 * i);
	assert_int_equal(stats.processed[0], 10);
	assert_int_equal(stats.processed[1], 2);
	assert_int_equal(stats.processed[2], 2);
	assert_int_equal(stats.held, 8);
	assert_int_equal(nb_held, 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(held[i].frame.sequence, i < 4 ? 2 * i + 2 : 2 * i + 4);
	weir_readout_item_release(held, nb_held);
	assert_string_equal(weir_readout_link_process_drop_name(frames_link, 0), "parity.odd");
	assert_string_equal(weir_readout_link_process_drop_name(frames_link, 1), "parity.large");
	assert_string_equal(weir_readout_link_process_drop_name(frames_link, 2), "tens");
	assert_null(weir_readout_link_process_drop_name(frames_link, 3));
	assert_string_equal(weir_readout_drop_name(WEIR_READOUT_DROP_PROCESSED), "processed");
	free_all();
}

/* They see no frame of a wrong size, and no duplicate that is dropped; one that is not dropped, and a frame after a gap, they do. */
static void
what_they_see(void **state)
{
	for (unsigned int dropped = 0; dropped < 2; dropped++) {
		memset(nb_seen, 0, sizeof(nb_seen));
		make_of(spec, (struct weir_readout_link_config){.processes = &processes[1],
				      .nb_processes = 1,
				      .drop_duplicates = dropped == 1});
		give(1, STEP);
		give(1, STEP);
		expect(WEIR_READOUT_FAULT_DUPLICATE, 0);
		assert_int_equal(nb_seen[1], 2 - dropped);
		give_bytes((const uint8_t[FRAME_BYTES]){3}, FRAME_BYTES - 1);
		expect(WEIR_READOUT_FAULT_WRONG_SIZE, 0);
		assert_int_equal(nb_seen[1], 2 - dropped);
		give(4, 4 * STEP);
		expect(WEIR_READOUT_FAULT_GAP, 2);
		assert_int_equal(nb_seen[1], 3 - dropped);
		/* What a function drops was there: no gap. */
		give_all(5, 15);
		assert_int_equal(look().processed[0], 1);
		free_all();
	}
}

static int
any_number(void *arg, const struct weir_readout_item *item)
{
	return *(const int *)arg;
}

/* A number that means nothing is the function's last reason. */
static void
any_reason(void **state)
{
	static const int none = WEIR_READOUT_PASS, answers[] = {-2, 2, 16, INT32_MAX, INT32_MIN};
	struct weir_readout_process row[3], *any = &row[1];

	for (unsigned int i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		row[0] = row[1] = (struct weir_readout_process){
			.name = "any", .run = any_number, .drops = parities, .nb_drops = 2};
		row[0].arg = (void *)(uintptr_t)&none;
		any->arg = (void *)(uintptr_t)&answers[i];
		row[2] = processes[1];
		make_processed(row, 3);
		give_all(1, 4);
		assert_int_equal(look().processed[3], 3);
		assert_int_equal(nb_seen[1], 0);
		free_all();
	}
}

/* Before a buffer: the counters of both together agree, and tell why. */
static void
with_handler(void **state)
{
	struct weir_readout_handler_stats stats;
	struct weir_readout_handler *handler;
	uint64_t sum;

	make_processed(processes, 2);
	handler = weir_readout_handler_create(registry,
		&(struct weir_readout_handler_config){.link = frames_link,
			.sink = "handler",
			.buffer = {.history_s = 0.01, .no_hugepages = true, .socket_id = -1}});
	assert_non_null(handler);
	assert_int_equal(
		weir_readout_source_bind(weir_readout_link_source(frames_link), "handler"), 0);
	give_all(0, 22);
	weir_readout_handler_stats(handler, &stats);
	sum = stats.buffered + stats.held + stats.delivered;
	for (unsigned int i = 0; i < WEIR_READOUT_HANDLER_NB_DROPS; i++)
		sum += stats.dropped[i];
	assert_int_equal(stats.received, 22);
	assert_int_equal(sum, 22);
	assert_int_equal(stats.held, 0);
	assert_int_equal(stats.buffered, 8);
	assert_int_equal(stats.dropped[WEIR_READOUT_HANDLER_PROCESSED], 14);
	assert_string_equal(
		weir_readout_handler_drop_name(WEIR_READOUT_HANDLER_PROCESSED), "processed");
	assert_int_equal(
		weir_readout_source_bind(weir_readout_link_source(frames_link), "frames"), 0);
	assert_int_equal(weir_readout_handler_free(handler), 0);
	free_all();
}

static void
add_up(const struct weir_readout_handler *handler, uint64_t queued, uint64_t buffered,
	uint64_t queue_full)
{
	struct weir_readout_handler_stats stats;
	uint64_t sum;

	weir_readout_handler_stats(handler, &stats);
	sum = stats.buffered + stats.held + stats.delivered;
	for (unsigned int i = 0; i < WEIR_READOUT_HANDLER_NB_DROPS; i++)
		sum += stats.dropped[i];
	assert_int_equal(stats.received, sum);
	assert_int_equal(stats.queued, queued);
	assert_int_equal(stats.held, queued);
	assert_int_equal(stats.buffered, buffered);
	assert_int_equal(stats.dropped[WEIR_READOUT_HANDLER_QUEUE_FULL], queue_full);
}

/* Frames wait in a handler's queue until somebody polls it; what it has no room for is dropped, by name. */
static void
by_queue(void **state)
{
	struct weir_readout_item items[100];
	uint8_t bytes[100][FRAME_BYTES];
	struct weir_readout_handler *handler;

	make_processed(NULL, 0);
	handler = weir_readout_handler_create(registry,
		&(struct weir_readout_handler_config){.link = frames_link,
			.sink = "handler",
			.queue_size = 90,
			.buffer = {.history_s = 0.1, .no_hugepages = true, .socket_id = -1}});
	assert_non_null(handler);
	assert_int_equal(weir_readout_handler_queue_size(handler), 90);
	assert_int_equal(
		weir_readout_source_bind(weir_readout_link_source(frames_link), "handler"), 0);
	for (unsigned int i = 0; i < 100; i++) {
		make_frame(bytes[i], i, i * STEP);
		items[i] = (struct weir_readout_item){.data = bytes[i],
			.data_bytes = FRAME_BYTES,
			.frame.size_bytes = FRAME_BYTES};
	}
	weir_readout_link_receive(frames_link, items, 100, 1);
	add_up(handler, 90, 0, 10);
	assert_int_equal(weir_readout_handler_poll(handler), 64);
	add_up(handler, 26, 64, 10);
	assert_int_equal(weir_readout_handler_poll(handler), 26);
	assert_int_equal(weir_readout_handler_poll(handler), 0);
	add_up(handler, 0, 90, 10);
	/* What is in it when it is freed is released. */
	weir_readout_link_receive(frames_link, items, 5, 2);
	received = 105;
	faults[WEIR_READOUT_FAULT_DUPLICATE] = 5;
	assert_int_equal(
		weir_readout_source_bind(weir_readout_link_source(frames_link), "frames"), 0);
	assert_int_equal(weir_readout_handler_free(handler), 0);
	assert_int_equal(look().held, 0);
	free_all();
}

static void
expect_refused(const struct weir_readout_process *list, uint32_t nb, const char *why)
{
	const struct weir_readout_link_config config = {.name = "other",
		.format = weir_readout_format_builtin("wibeth"),
		.processes = list,
		.nb_processes = nb};

	assert_null(weir_readout_link_create(registry, &config));
	assert_int_equal(rte_errno, EINVAL);
	assert_string_equal(log_message, why);
	assert_null(weir_readout_source_find(registry, "other"));
}

static void
refused(void **state)
{
	static const char *const names[20] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
		"l", "m", "n", "o", "p", "q", ""};
	struct weir_readout_process list[9];

	make_processed(NULL, 0);
	for (unsigned int i = 0; i < 9; i++)
		list[i] = processes[1];
	expect_refused(list, 9, "'other': 9 functions, expected up to 8");
	list[0].drops = names;
	list[0].nb_drops = 17;
	expect_refused(list, 1,
		"'other': with function 'tens' there are more reasons to drop frames than 16");
	list[0].nb_drops = 16;
	expect_refused(list, 2,
		"'other': with function 'tens' there are more reasons to drop frames than 16");
	list[0].drops = &names[17];
	list[0].nb_drops = 1;
	expect_refused(list, 1,
		"'other': function 0 needs something to run, and names of 1 up to 63 bytes for "
		"itself and its reasons to drop frames");
	list[1].run = NULL;
	expect_refused(&list[1], 1,
		"'other': function 0 needs something to run, and names of 1 up to 63 bytes for "
		"itself and its reasons to drop frames");
	list[1] = processes[0];
	list[1].drops = NULL;
	expect_refused(&list[1], 1,
		"'other': function 0 needs something to run, and names of 1 up to 63 bytes for "
		"itself and its reasons to drop frames");
	free_all();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before),
		cmocka_unit_test(what_they_see),
		cmocka_unit_test(any_reason),
		cmocka_unit_test(with_handler),
		cmocka_unit_test(by_queue),
		cmocka_unit_test(refused),
	};

	log_listen();
	return cmocka_run_group_tests_name("readout-process", tests, NULL, NULL);
}
