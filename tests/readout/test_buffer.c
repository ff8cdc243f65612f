/* SPDX-License-Identifier: BSD-3-Clause */

/* A latency buffer: what its configuration comes to, jumps and corrupt timestamps, what is dropped, real frames. */

#include "../base/cmocka_all.h"

#include <errno.h>
#include <math.h>

#include <rte_errno.h>

#include "weir_base.h"
#include "weir_readout_format_fast.h"

#include "capture.h"
#include "readout_test.h"

static char last_log[256];

static void
keep_log(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	snprintf(last_log, sizeof(last_log), "%s: %s", module, message);
}

static void
check_refused(const struct weir_readout_buffer_config *config, const char *why)
{
	struct weir_readout_buffer_info info;

	weir_base_log_set_sink(keep_log, NULL);
	last_log[0] = '\0';
	assert_int_equal(weir_readout_buffer_plan(config, &info), -EINVAL);
	assert_string_equal(last_log, why);
	last_log[0] = '\0';
	rte_errno = 0;
	assert_null(weir_readout_buffer_create(config));
	weir_base_log_set_sink(NULL, NULL);
	assert_int_equal(rte_errno, EINVAL);
	assert_string_equal(last_log, why);
}

#define REFUSED(change, why)                                                                       \
	do {                                                                                       \
		struct weir_readout_buffer_config config = rt_config(&format);                     \
                                                                                                   \
		change;                                                                            \
		check_refused(&config, "readout: buffer of " why);                                 \
	} while (0)

static void
refused(void **state)
{
	struct weir_readout_format format = rt_format(0, 32), no_clock = format;

	no_clock.clock_hz = 0;
	REFUSED(config.name = NULL, "?: it has no name, or no format");
	REFUSED(config.format = NULL, "test: it has no name, or no format");
	REFUSED(config.format = &no_clock, "test: the clock of format test is not known");
	REFUSED(config.history_s = 0, "test: a history of 0 s");
	REFUSED(config.history_s = -1, "test: a history of -1 s");
	REFUSED(config.history_s = NAN, "test: a history of nan s");
	REFUSED(config.rate_hz = 0, "test: 0 frames a second of format test, which has no step");
	REFUSED(config.jump_s = -1, "test: jumps from -1 s on");
	REFUSED(config.confirm_frames = 17,
		"test: jumps confirmed by 17 frames; expected up to 16");
	REFUSED(config.when_full = (enum weir_readout_full)2,
		"test: what to do when it is full: 2");
	REFUSED(config.frame_bytes = (1 << 24) + 1,
		"test: frame_bytes is 16777217; expected up to 16777216, and a number where format "
		"test has no limit");
	REFUSED(config.frame_bytes = 15, "test: frame_bytes is 15; frames have at least 16");
	REFUSED(config.history_s = 1074000,
		"test: 1.074e+06 s of history, and jumps from 0.2 s on: more than a quarter of a "
		"timestamp's 32 bits");
	REFUSED(config.rate_hz = 1e12, "test: 1200000000009 frames; expected up to 1073741824");
}

/* It comes to what was planned. */
static void
check_planned(const struct weir_readout_buffer_config *config,
	const struct weir_readout_buffer_info *info)
{
	struct weir_readout_buffer_info plan;

	assert_int_equal(weir_readout_buffer_plan(config, &plan), 0);
	assert_int_equal(plan.nb_cells, info->nb_cells);
	assert_int_equal(plan.nb_spare, info->nb_spare);
	assert_int_equal(plan.cell_bytes, info->cell_bytes);
	assert_int_equal(plan.nb_index, info->nb_index);
	assert_int_equal(plan.history_ticks, info->history_ticks);
	assert_int_equal(plan.jump_ticks, info->jump_ticks);
	assert_int_equal(plan.socket_id, info->socket_id);
	assert_false(plan.hugepages);
	/* memory is mapped by pages */
	assert_in_range(info->memory_bytes, plan.memory_bytes, plan.memory_bytes + (1 << 30));
}

static void
sizes(void **state)
{
	struct weir_readout_format ordered = rt_format(0, 32);
	struct weir_readout_buffer_config config = {.name = "w",
		.format = weir_readout_format_builtin("wibeth"),
		.history_s = 0.001,
		.socket_id = -1};
	struct weir_readout_buffer *buffer = rt_open(&config);
	struct weir_readout_buffer_info info;

	/* 62,500 ticks and 16 frames more; a frame at either end. */
	weir_readout_buffer_info(buffer, &info);
	assert_int_equal(info.jump_ticks, 16 * 2048);
	assert_int_equal(info.history_ticks, 47 * 2048);
	assert_true(info.history_ticks >= 62500 + info.jump_ticks);
	assert_int_equal(info.nb_cells, 48 + 48 / 8 + 16);
	assert_int_equal(info.nb_spare, 48 / 8);
	assert_int_equal(info.nb_index, 64);
	assert_int_equal(info.cell_bytes, 7232);
	assert_true(info.memory_bytes >= (uint64_t)info.nb_cells * info.cell_bytes);
	assert_int_equal(info.socket_id, -1);
	check_planned(&config, &info);
	weir_readout_buffer_free(buffer);
	config.history_s = 0.1; /* 3,052 frames, and a sixteenth more that may be wrong */
	config.no_hugepages = true;
	config.frame_bytes = 7200;
	buffer = rt_open(&config);
	weir_readout_buffer_info(buffer, &info);
	assert_int_equal(info.jump_ticks, 6250000 / 16);
	assert_in_range(
		info.history_ticks, 6250000 + 6250000 / 16, 6250000 + 6250000 / 16 + 2 * 2048);
	assert_false(info.hugepages);
	check_planned(&config, &info);
	weir_readout_buffer_free(buffer);
	config.format = &ordered;
	config.rate_hz = 1000;
	buffer = rt_open(&config);
	weir_readout_buffer_info(buffer, &info);
	check_planned(&config, &info);
	weir_readout_buffer_free(buffer);
	weir_readout_buffer_free(NULL);
}

/* On a node that there is, and on one that there is not: then from any. */
static void
nodes(void **state)
{
	struct weir_readout_format format = rt_format(RT_STEP, 64);
	struct weir_readout_buffer_config config = rt_config(&format);

	config.socket_id = 0;
	weir_readout_buffer_free(rt_open(&config));
	weir_base_log_set_sink(keep_log, NULL);
	config.socket_id = 4096;
	weir_readout_buffer_free(rt_open(&config));
	weir_base_log_set_sink(NULL, NULL);
	assert_string_equal(last_log,
		"readout: frames on NUMA node 4096: Invalid argument; they come from any node");
}

/* What was within the history of any frame can be found with it, whatever its rate; also with a timestamp that is wrong by the most. */
static void
check_history(uint64_t step)
{
	struct weir_readout_format format = rt_format(step, 32);
	struct weir_readout_buffer_config config = rt_config(&format);
	struct weir_readout_buffer *buffer = rt_open(&config);
	struct weir_readout_window *window = rt_window();

	rt_put_all(buffer, 5000, 6000);
	for (uint64_t at = 6000; at < 12000; at += RT_STEP) {
		assert_true(rt_put(buffer, at));
		rt_find(buffer, at - 1000, at, window, 100, 0, WEIR_READOUT_STATUS_COMPLETE);
		weir_readout_window_release(window);
	}
	assert_true(rt_put(buffer, 11990 + 200));
	rt_find(buffer, 10990, 12000, window, 101, 0, WEIR_READOUT_STATUS_COMPLETE);
	weir_readout_window_release(window);
	weir_readout_window_free(window);
	weir_readout_buffer_free(buffer);
}

static void
history(void **state)
{
	check_history(RT_STEP);
	check_history(0);
}

/* A frame that is far off costs itself; nothing of the history. */
static void
corrupt(void **state)
{
	struct weir_readout_format format = rt_format(RT_STEP, 32);
	struct weir_readout_buffer_config config = rt_config(&format);
	struct weir_readout_buffer *buffer = rt_open(&config);
	struct weir_readout_window *window = rt_window();
	struct weir_readout_buffer_stats stats;

	rt_put_all(buffer, 1000, 2000);
	assert_true(rt_put(buffer, 1u << 30));
	assert_int_equal(rt_stats(buffer).doubted, 1);
	rt_find(buffer, 1000, 2000, window, 100, 0, WEIR_READOUT_STATUS_COMPLETE);
	weir_readout_window_release(window);
	assert_true(rt_put(buffer, 2000));
	assert_true(rt_put(buffer, 2010));
	assert_true(rt_put(buffer, 3u << 30)); /* far behind */
	assert_true(rt_put(buffer, 2020));
	/* Two in a row, which do not agree. */
	assert_true(rt_put(buffer, 1u << 30));
	assert_true(rt_put(buffer, 1u << 29));
	assert_true(rt_put(buffer, 2030));
	/* Two that do, but three are wanted. */
	assert_true(rt_put(buffer, 1u << 30));
	assert_false(rt_put(buffer, 1u << 30));
	assert_true(rt_put(buffer, (1u << 30) + 10));
	assert_true(rt_put(buffer, 2040));
	stats = rt_stats(buffer);
	assert_int_equal(DROPPED(stats, FAR_OFF), 5);
	assert_int_equal(DROPPED(stats, TOO_LATE), 1);
	assert_int_equal(DROPPED(stats, DUPLICATE), 1);
	assert_int_equal(stats.doubted, 0);
	assert_int_equal(stats.jumps, 0);
	assert_int_equal(stats.buffered, 105);
	rt_find(buffer, 1000, 2050, window, 105, 0, WEIR_READOUT_STATUS_COMPLETE);
	weir_readout_window_release(window);
	weir_readout_window_free(window);
	weir_readout_buffer_free(buffer);
}

/* A jump costs no frame, wherever it goes; what it leaves behind is over, unless it is within the history. */
static void
check_jump(uint64_t step, uint64_t to, bool over)
{
	struct weir_readout_format format = rt_format(step, 32);
	struct weir_readout_buffer_config config = rt_config(&format);
	struct weir_readout_buffer *buffer = rt_open(&config);
	struct weir_readout_window *window = rt_window();
	struct weir_readout_buffer_stats stats;
	uint64_t begin, end;

	rt_put_all(buffer, 10000, 10500);
	rt_put_all(buffer, to, to + 30);
	assert_true(rt_put(buffer, to + 30));
	stats = rt_stats(buffer);
	assert_int_equal(stats.jumps, 1);
	assert_int_equal(stats.received, stats.buffered + stats.expired);
	rt_find(buffer, to, to + 30, window, 3, 0, WEIR_READOUT_STATUS_COMPLETE);
	weir_readout_window_release(window);
	rt_find(buffer, 10000, 10500, window, over ? 0 : 50, over ? 1 : 0,
		!over        ? WEIR_READOUT_STATUS_COMPLETE
		: to > 10000 ? WEIR_READOUT_STATUS_TOO_OLD
			     : WEIR_READOUT_STATUS_NOT_YET);
	weir_readout_window_release(window);
	assert_true(weir_readout_buffer_range(buffer, &begin, &end));
	assert_true(begin == (over ? to : 10000));
	assert_true(end == to + 30 + step);
	/* 32 are taken away with a frame. */
	rt_put_all(buffer, to + 40, to + 60);
	assert_int_equal(rt_stats(buffer).expired, over ? 50 : 0);
	weir_readout_window_free(window);
	weir_readout_buffer_free(buffer);
}

static void
jumps(void **state)
{
	for (uint64_t step = 0; step <= RT_STEP; step += RT_STEP) {
		check_jump(step, 10490 + 210, false);
		check_jump(step, 1000000, true);
		check_jump(step, 1003, true);
		check_jump(step, 10490 + 5000, true);
	}
}

/* At once, where one is enough. */
static void
jump_at_once(void **state)
{
	struct weir_readout_format format = rt_format(RT_STEP, 32);
	struct weir_readout_buffer_config config = rt_config(&format);
	struct weir_readout_buffer *buffer;

	config.confirm_frames = 1;
	buffer = rt_open(&config);
	rt_put_all(buffer, 10000, 10500);
	assert_true(rt_put(buffer, 5));
	assert_true(rt_put(buffer, 15));
	assert_int_equal(rt_stats(buffer).jumps, 1);
	assert_int_equal(rt_stats(buffer).doubted, 0);
	weir_readout_buffer_free(buffer);
}

/* The clock wraps, and nobody sees it. */
static void
wrap(void **state)
{
	struct weir_readout_format format = rt_format(RT_STEP, 64);
	struct weir_readout_buffer_config config = rt_config(&format);
	struct weir_readout_buffer *buffer = rt_open(&config);
	struct weir_readout_window *window = rt_window();

	rt_put_all(buffer, (uint64_t)0 - 700, 500);
	assert_int_equal(rt_stats(buffer).jumps, 0);
	rt_find(buffer, (uint64_t)0 - 500, 500, window, 100, 0, WEIR_READOUT_STATUS_COMPLETE);
	weir_readout_window_release(window);
	rt_find(buffer, (uint64_t)0 - 5, 5, window, 2, 0, WEIR_READOUT_STATUS_COMPLETE);
	weir_readout_window_release(window);
	weir_readout_window_free(window);
	weir_readout_buffer_free(buffer);
}

static void
dropped(void **state)
{
	struct weir_readout_format format = rt_format(RT_STEP, 32);
	struct weir_readout_buffer_config config = rt_config(&format);
	struct weir_readout_buffer *buffer = rt_open(&config);
	struct weir_readout_frame frame = {1020, 0, RT_BYTES + 1};
	const uint8_t data[RT_BYTES + 1] = {0};
	struct weir_readout_buffer_stats stats;

	rt_put_all(buffer, 1000, 1020);
	assert_false(weir_readout_buffer_put(buffer, &frame, data));
	frame.size_bytes = RT_BYTES - 1;
	assert_false(weir_readout_buffer_put(buffer, &frame, data));
	assert_false(rt_put(buffer, 1010));
	assert_false(rt_put(buffer, 1011));
	rt_put_all(buffer, 1020, 2500);
	assert_false(rt_put(buffer, 1270)); /* the history, and the jumps: 122 steps */
	assert_false(rt_put(buffer, 1280));
	stats = rt_stats(buffer);
	assert_int_equal(DROPPED(stats, WRONG_SIZE), 2);
	assert_int_equal(DROPPED(stats, DUPLICATE), 2);
	assert_int_equal(DROPPED(stats, SLOT_TAKEN), 1);
	assert_int_equal(DROPPED(stats, TOO_LATE), 1);
	assert_int_equal(stats.received_bytes, 156 * RT_BYTES);
	assert_int_equal(stats.buffered, 122);
	assert_int_equal(stats.late, 0);
	weir_readout_buffer_free(buffer);
}

/* Reserved, a frame is counted, but not there before it is committed. */
static void
reserve(void **state)
{
	struct weir_readout_format format = rt_format(RT_STEP, 32);
	struct weir_readout_buffer_config config = rt_config(&format);
	struct weir_readout_buffer *buffer = rt_open(&config);
	struct weir_readout_window *window = rt_window();
	const struct weir_readout_frame frame = {1020, 0, RT_BYTES};
	uint64_t *data, begin, end;

	assert_false(weir_readout_buffer_range(buffer, &begin, &end));
	assert_false(weir_readout_buffer_reached(buffer, 0));
	rt_put_all(buffer, 1000, 1020);
	data = weir_readout_buffer_reserve(buffer, &frame);
	assert_non_null(data);
	assert_int_equal((uintptr_t)data % 64, 0);
	assert_int_equal(rt_stats(buffer).buffered, 3);
	rt_find(buffer, 1010, 1030, window, 1, 1, WEIR_READOUT_STATUS_NOT_YET);
	weir_readout_window_release(window);
	assert_true(weir_readout_buffer_reached(buffer, 1020));
	assert_false(weir_readout_buffer_reached(buffer, 1021));
	data[0] = 1020;
	data[1] = ~data[0];
	weir_readout_buffer_commit(buffer);
	weir_readout_buffer_commit(buffer); /* nothing more to do */
	rt_find(buffer, 1010, 1030, window, 2, 0, WEIR_READOUT_STATUS_COMPLETE);
	weir_readout_window_release(window);
	assert_true(weir_readout_buffer_reached(buffer, 1030));
	assert_false(weir_readout_buffer_reached(buffer, 1031));
	weir_readout_window_free(window);
	weir_readout_buffer_free(buffer);
}

/* Out of order by as much as is allowed, and by more; of one time, and twice the same. */
static void
irregular(void **state)
{
	struct weir_readout_format format = rt_format(0, 32);
	struct weir_readout_buffer_config config = rt_config(&format);
	struct weir_readout_frame frame = {1000, 77, RT_BYTES};
	const uint64_t data[RT_BYTES / 8] = {1000, ~(uint64_t)1000};
	struct weir_readout_window *window = rt_window();
	struct weir_readout_buffer *buffer;

	config.reorder_frames = 3;
	buffer = rt_open(&config);
	rt_put_all(buffer, 1000, 1040);
	assert_true(rt_put(buffer, 1005));
	assert_false(rt_put(buffer, 1004));
	assert_int_equal(DROPPED(rt_stats(buffer), TOO_LATE), 1);
	assert_int_equal(rt_stats(buffer).late, 1);
	rt_find(buffer, 1000, 1030, window, 4, 0, WEIR_READOUT_STATUS_COMPLETE);
	assert_true(window->timestamps[1] == 1005);
	weir_readout_window_release(window);
	weir_readout_buffer_free(buffer);
	buffer = rt_open(&config);
	assert_true(rt_put(buffer, 1000));
	assert_true(weir_readout_buffer_put(buffer, &frame, data));
	assert_false(weir_readout_buffer_put(buffer, &frame, data));
	assert_false(rt_put(buffer, 1000));
	assert_int_equal(DROPPED(rt_stats(buffer), DUPLICATE), 2);
	assert_true(rt_put(buffer, 1001));
	rt_find(buffer, 1000, 1001, window, 2, 0, WEIR_READOUT_STATUS_COMPLETE);
	weir_readout_window_release(window);
	weir_readout_window_free(window);
	weir_readout_buffer_free(buffer);
}

static void
names(void **state)
{
	for (int i = 0; i < WEIR_READOUT_BUFFER_NB_REASONS; i++) {
		enum weir_readout_buffer_reason reason = (enum weir_readout_buffer_reason)i;

		assert_true(strlen(weir_readout_buffer_reason_name(reason)) > 0);
		assert_true(strlen(weir_readout_buffer_reason_text(reason)) > 0);
	}
	assert_string_equal(
		weir_readout_buffer_reason_name(WEIR_READOUT_BUFFER_FAR_OFF), "far_off");
	assert_null(weir_readout_buffer_reason_name(WEIR_READOUT_BUFFER_NB_REASONS));
	assert_null(weir_readout_buffer_reason_text(WEIR_READOUT_BUFFER_NB_REASONS));
}

/* Cards of a capture, a buffer each. */
struct cards {
	struct weir_readout_buffer *buffers[16];
	unsigned int nb[16];
	uint64_t last[16];
};

static void
take_card(void *arg, const uint8_t *payload, uint32_t bytes, uint64_t time_us)
{
	const struct weir_readout_format *format = weir_readout_format_builtin("srs-vmm3a");
	struct weir_readout_header header = {0};
	struct weir_readout_frame frame;
	struct cards *cards = arg;

	assert_true(weir_readout_format_get(format, payload, bytes, &header));
	frame = (struct weir_readout_frame){header.timestamp, header.sequence, bytes};
	assert_true(weir_readout_buffer_put(cards->buffers[header.stream], &frame, payload));
	cards->nb[header.stream]++;
	cards->last[header.stream] = header.timestamp;
}

static void
open_cards(struct cards *cards, double history_s, double rate_hz)
{
	const struct weir_readout_buffer_config config = {.name = "card",
		.format = weir_readout_format_builtin("srs-vmm3a"),
		.history_s = history_s,
		.jump_s = history_s / 2,
		.rate_hz = rate_hz,
		.socket_id = -1,
		.no_hugepages = true};

	memset(cards, 0, sizeof(*cards));
	for (unsigned int i = 1; i <= 2; i++)
		cards->buffers[i] = rt_open(&config);
}

static void
close_cards(struct cards *cards)
{
	for (unsigned int i = 1; i <= 2; i++)
		weir_readout_buffer_free(cards->buffers[i]);
}

/* Real frames: all of them are found by their times. */
static void
gem(void **state)
{
	struct weir_readout_window *window = rt_window();
	struct cards cards;

	open_cards(&cards, 0.1, 7000);
	capture_payloads("srs-vmm3a-gem.pcap", 6006, take_card, &cards);
	for (unsigned int i = 1; i <= 2; i++) {
		uint64_t begin, end;

		assert_int_equal(rt_stats(cards.buffers[i]).buffered, 50);
		assert_true(weir_readout_buffer_range(cards.buffers[i], &begin, &end));
		assert_true(end == cards.last[i]);
		assert_int_equal(
			weir_readout_window_find(cards.buffers[i], begin, end + 1, window), 0);
		assert_int_equal(window->nb_frames, 50);
		assert_int_equal(window->bytes, 50 * 8968);
		assert_memory_equal((const uint8_t *)window->frames[0].iov_base + 4, "VM3", 3);
		weir_readout_window_release(window);
	}
	close_cards(&cards);
	weir_readout_window_free(window);
}

/* Of two minutes, in which the clock wraps, the last 12 s and what may be wrong. */
static void
triggered(void **state)
{
	struct weir_readout_window *window = rt_window();
	struct weir_readout_buffer_stats stats;
	struct cards cards;

	open_cards(&cards, 12, 1);
	capture_payloads("srs-vmm3a-triggered.pcap", 6006, take_card, &cards);
	stats = rt_stats(cards.buffers[2]);
	assert_int_equal(stats.received, 35);
	assert_int_equal(stats.jumps, 0);
	assert_int_equal(stats.buffered + stats.expired, 35);
	assert_int_equal(stats.buffered, 6); /* 3.5 s apart */
	assert_int_equal(rt_stats(cards.buffers[1]).received, 0);
	assert_int_equal(
		weir_readout_window_find(cards.buffers[2],
			(uint32_t)(cards.last[2] - 12u * 44444444u), cards.last[2], window),
		0);
	assert_int_equal(weir_readout_window_status(window), WEIR_READOUT_STATUS_COMPLETE);
	assert_int_equal(window->nb_frames, 3);
	weir_readout_window_release(window);
	close_cards(&cards);
	weir_readout_window_free(window);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused),
		cmocka_unit_test(sizes),
		cmocka_unit_test(nodes),
		cmocka_unit_test(history),
		cmocka_unit_test(corrupt),
		cmocka_unit_test(jumps),
		cmocka_unit_test(jump_at_once),
		cmocka_unit_test(wrap),
		cmocka_unit_test(dropped),
		cmocka_unit_test(reserve),
		cmocka_unit_test(irregular),
		cmocka_unit_test(names),
		cmocka_unit_test(gem),
		cmocka_unit_test(triggered),
	};

	assert_int_equal(argc, 2);
	capture_dir = argv[1];
	return cmocka_run_group_tests_name("readout-buffer", tests, NULL, NULL);
}
