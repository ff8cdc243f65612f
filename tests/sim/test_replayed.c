/* SPDX-License-Identifier: BSD-3-Clause */
/* Links whose frames are a file's: when each comes, which link it is of, and what becomes of it in a buffer whose time goes by what frames say. */
#include "sim_util.h"

#include <stdlib.h>
#include <unistd.h>

#define FRAME_BYTES  16
#define HEADER_BYTES 42 /* of Ethernet, IPv4 and UDP */

static char path[] = "/tmp/weir-replayed-XXXXXX";

/* A frame: its stream key, its number, its time in us. */
struct frame {
	uint8_t key, sequence;
	uint64_t timestamp;
	uint64_t time_ns; /* of a capture */
	uint16_t bytes;   /* 0: FRAME_BYTES */
};

static void
fill(const struct frame *frame, uint8_t *bytes, uint16_t nb)
{
	memset(bytes, 0, nb);
	bytes[0] = frame->key;
	bytes[1] = frame->sequence;
	memcpy(bytes + 2, &nb, sizeof(nb)); /* little endian */
	memcpy(bytes + 8, &frame->timestamp, sizeof(frame->timestamp));
}

static uint16_t
bytes_of(const struct frame *frame)
{
	return frame->bytes != 0 ? frame->bytes : FRAME_BYTES;
}

static FILE *
make_file(void)
{
	FILE *file;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	file = fdopen(mkstemp(path), "wb");
	assert_non_null(file);
	return file;
}

static void
write_frames(const struct frame *frames, uint32_t nb)
{
	FILE *file = make_file();
	uint8_t bytes[1024];
	uint32_t i;

	for (i = 0; i < nb; i++) {
		fill(&frames[i], bytes, bytes_of(&frames[i]));
		assert_int_equal(fwrite(bytes, bytes_of(&frames[i]), 1, file), 1);
	}
	assert_int_equal(fclose(file), 0);
}

#ifdef SIM_WITH_PCAP
static void
put16(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

static void
write_capture(const struct frame *frames, uint32_t nb)
{
	static const uint32_t header[] = {0xa1b23c4d, 0x00040002, 0, 0, 65535, 1};
	uint8_t bytes[1024];
	FILE *file = make_file();
	uint32_t i;

	assert_int_equal(fwrite(header, sizeof(header), 1, file), 1);
	for (i = 0; i < nb; i++) {
		const uint32_t size = bytes_of(&frames[i]), all = HEADER_BYTES + size;
		const uint32_t record[] = {1000 + (uint32_t)(frames[i].time_ns / 1000000000),
			(uint32_t)(frames[i].time_ns % 1000000000), all, all};

		memset(bytes, 0, HEADER_BYTES);
		put16(bytes + 12, 0x0800);
		bytes[14] = 0x45;
		put16(bytes + 16, 28 + size);
		bytes[23] = 17;
		put16(bytes + 38, 8 + size);
		fill(&frames[i], bytes + HEADER_BYTES, (uint16_t)size);
		assert_int_equal(fwrite(record, sizeof(record), 1, file), 1);
		assert_int_equal(fwrite(bytes, all, 1, file), 1);
	}
	assert_int_equal(fclose(file), 0);
}
#endif

/* A model of the file. */
static const char *
model(const char *format, const char *link, const char *application, const char *source,
	const char *run)
{
	static char text[2048];

	assert_true(snprintf(text, sizeof(text),
			    "application:\n"
			    "  formats: {f: {clock: 1MHz, stream: {offset: 0, width: 8}, sequence: "
			    "{offset: 8, width: 8}, timestamp: {offset: 64, width: 64}, %s}}\n"
			    "  links: {l: {format: f, %s}}\n"
			    "  %s\n"
			    "traffic: {replayed: {l: {%s%s}}}\n"
			    "run: {simulation: {%s}}\n",
			    format, link, application, source, path, run) < (int)sizeof(text));
	return text;
}

#define SIZE   "size: 16B"
#define STEP   "size: 16B, step: 10"
#define BUFFER "buffer: {history: 1ms, rate: 10kHz}"
#define RAW    "frames: "
#define PCAP   "pcap: "

static void
expect_frames(const char *format, const char *source, const char *duration, double nb)
{
	char run[64];

	snprintf(run, sizeof(run), "duration: %s", duration);
	EXPECT(model(format, BUFFER, "", source, run),
		{WEIR_SIM_STREAM, "l", "arrived_packets", nb},
		{WEIR_SIM_LINK, "l", "received_frames", nb});
}

/* Packet n is due n / rate after the first one, in whole ns: a third of a second is cut off. */
static void
rate_to_the_ns(void **state)
{
	static const struct frame frames[] = {
		{.timestamp = 5}, {.timestamp = 7}, {.timestamp = 8}, {.timestamp = 9}};

	write_frames(frames, 4);
	expect_frames(SIZE, "rate: 3Hz, " RAW, "333333332ns", 1);
	expect_frames(SIZE, "rate: 3Hz, " RAW, "333333333ns", 2);
	expect_frames(SIZE, "rate: 3Hz, " RAW, "666666665ns", 2);
	expect_frames(SIZE, "rate: 3Hz, " RAW, "666666666ns", 3);
	expect_frames(SIZE, "rate: 3Hz, " RAW, "999999999ns", 3);
	expect_frames(SIZE, "rate: 3Hz, " RAW, "1s", 4);
	expect_frames(SIZE, "rate: 3Hz, " RAW, "100s", 4);
	unlink(path);
}

/* Since the first one, by the format's clock; one that goes back comes with the one before it. */
static void
times_that_frames_say(void **state)
{
	static const struct frame frames[] = {
		{.timestamp = 100}, {.timestamp = 110}, {.timestamp = 105}, {.timestamp = 130}};

	write_frames(frames, 4);
	expect_frames(SIZE, RAW, "9999ns", 1);
	expect_frames(SIZE, RAW, "10us", 3);
	expect_frames(SIZE, RAW, "29999ns", 3);
	expect_frames(SIZE, RAW, "30us", 4);
	unlink(path);
}

/* Time goes on where timestamps begin again: of 16 bits, 65530 is 10 before 4. */
static void
times_that_begin_again(void **state)
{
	static const struct frame frames[] = {
		{.timestamp = 65530}, {.timestamp = 4}, {.timestamp = 14}};

	write_frames(frames, 3);
#define BITS_16                                                                                    \
	"application:\n"                                                                           \
	"  formats: {f: {size: 16B, clock: 1MHz, step: 10, timestamp: {offset: 64, width: 16}}}\n" \
	"  links: {l: {format: f, buffer: {history: 1ms}}}\n"                                      \
	"  requests: {r: {links: [l], every: 10us, window: 10us, delay: 10us}}\n"                  \
	"traffic: {replayed: {l: {frames: %s}}}\n"                                                 \
	"run: {simulation: {duration: %s}}\n"
	char text[1024];

	snprintf(text, sizeof(text), BITS_16, path, "9999ns");
	EXPECT(text, {WEIR_SIM_LINK, "l", "stored_frames", 1});
	snprintf(text, sizeof(text), BITS_16, path, "20us");
	EXPECT(text, {WEIR_SIM_LINK, "l", "stored_frames", 3},
		{WEIR_SIM_REQUEST, "r", "complete", 3}, {WEIR_SIM_REQUEST, "r", "frames", 3},
		{WEIR_SIM_REQUEST, "r", "bytes", 3 * FRAME_BYTES});
	unlink(path);
}

#ifdef SIM_WITH_PCAP
static void
times_of_a_capture(void **state)
{
	static const struct frame frames[] = {{.time_ns = 5}, {.timestamp = 1, .time_ns = 1005},
		{.timestamp = 2, .time_ns = 600}, {.timestamp = 3, .time_ns = 2000000006}};

	write_capture(frames, 4);
	expect_frames(SIZE, PCAP, "999ns", 1);
	expect_frames(SIZE, PCAP, "1us", 3);
	expect_frames(SIZE, PCAP, "2s", 3);
	expect_frames(SIZE, PCAP, "2000000001ns", 4);
	expect_frames(SIZE, "rate: 100MHz, " PCAP, "20ns", 3);
	unlink(path);
}
#endif

/* Each to its link by its key; the others, in time, to none. */
static void
links_by_key(void **state)
{
	static const struct frame frames[] = {{.key = 6}, {.key = 7}, {.key = 5},
		{.key = 6, .timestamp = 1}, {.key = 8}, {.key = 4}, {.key = 255}};

	write_frames(frames, 7);
	EXPECT(model(SIZE, "count: 3, stream: 5, " BUFFER, "", "rate: 1kHz, " RAW, "duration: 1s"),
		{WEIR_SIM_STREAM, "l-0", "arrived_packets", 1},
		{WEIR_SIM_STREAM, "l-1", "arrived_packets", 2},
		{WEIR_SIM_STREAM, "l-2", "arrived_packets", 1},
		{WEIR_SIM_STREAM, "replayed.l", "arrived_packets", 3},
		{WEIR_SIM_DROP, "replayed.l: unknown_stream", "packets", 3});
	EXPECT(model(SIZE, "count: 3, stream: 5, " BUFFER, "", "rate: 1kHz, " RAW, "duration: 4ms"),
		{WEIR_SIM_STREAM, "replayed.l", "arrived_packets", 1});
	unlink(path);
}

/* 100 us, 160 us of jumps, and 2 steps are kept: 28 steps of 10 us. */
#define FIXED "buffer: {history: 100us, jump: 160us, confirm: 3}"

static void
reasons_of_fixed_rate(void **state)
{
	static const struct frame frames[] = {
		{.timestamp = 1000}, {.timestamp = 1000},                      /* duplicate */
		{.timestamp = 1003},                                           /* slot taken */
		{.timestamp = 1160}, {.timestamp = 1320}, {.timestamp = 1050}, /* late */
		{.timestamp = 1040}, /* too late: 28 steps back */
		{.timestamp = 9000}, /* far off: the next one does not confirm it */
		{.timestamp = 1330}, {.timestamp = 500}, /* too late, as it was behind */
		{.timestamp = 5000}, {.timestamp = 5010},
		{.timestamp = 5020}, /* all three, whose time is another one now */
	};

	write_frames(frames, 13);
	EXPECT(model(STEP, FIXED, "", "rate: 1kHz, " RAW, "duration: 1s"),
		{WEIR_SIM_LINK, "l", "received_frames", 13},
		{WEIR_SIM_DROP, "l: duplicate", "packets", 1},
		{WEIR_SIM_DROP, "l: slot_taken", "packets", 1},
		{WEIR_SIM_DROP, "l: too_late", "packets", 2},
		{WEIR_SIM_DROP, "l: far_off", "packets", 1}, {WEIR_SIM_LINK, "l", "late_frames", 1},
		{WEIR_SIM_LINK, "l", "stored_frames", 8}, {WEIR_SIM_LINK, "l", "expired_frames", 5},
		{WEIR_SIM_LINK, "l", "buffered_frames", 3});
	/* Those that are doubted have not left, and have a place; later they are stored when they are confirmed. */
	EXPECT(model(STEP, FIXED, "", "rate: 1kHz, " RAW, "duration: 11ms"),
		{WEIR_SIM_LINK, "l", "stored_frames", 5}, {WEIR_SIM_STREAM, "l", "held_packets", 2},
		{WEIR_SIM_LINK, "l", "expired_frames", 2},
		{WEIR_SIM_LINK, "l", "buffered_frames", 5 - 2 + 2});
	EXPECT(model(STEP, FIXED, "", "rate: 1kHz, " RAW, "duration: 20ms, warmup: 11500us"),
		{WEIR_SIM_LINK, "l", "stored_frames", 3},
		{WEIR_SIM_STREAM, "l", "latency_max_ns", 2e6});
	unlink(path);
}

/* In order: 100 us at 10 kHz are 1 frame, 160 us of jumps 2, and 1; 1 to spare, and 16 that may be doubted. */
#define ORDERED(keys) "buffer: {history: 100us, jump: 160us, rate: 10kHz, spare: 1, " keys "}"

static void
reasons_in_order(void **state)
{
	static const struct frame frames[] = {
		{.timestamp = 100, .sequence = 1}, {.timestamp = 100, .sequence = 2},
		{.timestamp = 100, .sequence = 1}, /* duplicate */
		{.timestamp = 120, .sequence = 3},
		{.timestamp = 110, .sequence = 4}, /* before one */
		{.timestamp = 105, .sequence = 5}, /* before two */
	};
	struct frame many[40];
	uint32_t i;

	write_frames(frames, 6);
	EXPECT(model(SIZE, ORDERED("reorder: 2"), "", "rate: 1kHz, " RAW, "duration: 1s"),
		{WEIR_SIM_DROP, "l: duplicate", "packets", 1},
		{WEIR_SIM_LINK, "l", "late_frames", 2}, {WEIR_SIM_LINK, "l", "stored_frames", 5});
	EXPECT(model(SIZE, ORDERED("reorder: 1"), "", "rate: 1kHz, " RAW, "duration: 1s"),
		{WEIR_SIM_DROP, "l: too_late", "packets", 1},
		{WEIR_SIM_DROP, "l: duplicate", "packets", 0}, /* which is looked for as far */
		{WEIR_SIM_LINK, "l", "stored_frames", 5});
	unlink(path);
	for (i = 0; i < 40; i++)
		many[i] = (struct frame){.timestamp = i, .sequence = (uint8_t)i};
	write_frames(many, 40);
	EXPECT(model(SIZE, ORDERED(""), "", "rate: 1kHz, " RAW, "duration: 1s"),
		{WEIR_SIM_LINK, "l", "evicted_frames", 40 - 4 - 1 - 16},
		{WEIR_SIM_LINK, "l", "buffered_frames", 4 + 1 + 16});
	EXPECT(model(SIZE, ORDERED("when_full: drop_newest"), "", "rate: 1kHz, " RAW,
		       "duration: 1s"),
		{WEIR_SIM_DROP, "l: no_memory", "packets", 40 - 4 - 1 - 16},
		{WEIR_SIM_LINK, "l", "evicted_frames", 0});
	unlink(path);
}

/* What is over leaves in pieces: 32 places are looked at for each frame that comes. */
static void
what_is_over_leaves(void **state)
{
	const char *const link = "buffer: {history: 2ms, confirm: 1, rate: 100kHz}";
	struct frame frames[103] = {0};
	uint32_t i;

	for (i = 0; i < 103; i++)
		frames[i].timestamp = i * 10 + (i < 100 ? 0 : 50000);
	write_frames(frames, 103);
	EXPECT(model("size: 16B", link, "", "rate: 1kHz, " RAW, "duration: 100ms"),
		{WEIR_SIM_LINK, "l", "expired_frames", 32},
		{WEIR_SIM_LINK, "l", "buffered_frames", 101 - 32});
	EXPECT(model("size: 16B", link, "", "rate: 1kHz, " RAW, "duration: 101ms"),
		{WEIR_SIM_LINK, "l", "expired_frames", 64});
	/* Of fixed rate the first one finds one in its own place, and looks for no others: its time was beyond all places. */
	EXPECT(model(STEP, "buffer: {history: 2ms, confirm: 1}", "", "rate: 1kHz, " RAW,
		       "duration: 100ms"),
		{WEIR_SIM_LINK, "l", "expired_frames", 1});
	EXPECT(model(STEP, "buffer: {history: 2ms, confirm: 1}", "", "rate: 1kHz, " RAW,
		       "duration: 101ms"),
		{WEIR_SIM_LINK, "l", "expired_frames", 1 + 31});
	unlink(path);
}

/* Windows have the bytes of the frames that are in them. */
static void
sizes(void **state)
{
	static const struct frame frames[] = {{.timestamp = 0, .bytes = 20},
		{.timestamp = 10, .bytes = 300}, {.timestamp = 20, .bytes = 301},
		{.timestamp = 30, .bytes = 70}, {.timestamp = 200}};
#define LENGTH "size_max: 301B, length: {offset: 16, width: 16}"
#define ASK    "requests: {r: {links: [l], every: 20us, window: 20us, delay: 100us}}"

	write_frames(frames, 5);
	EXPECT(model(LENGTH, BUFFER, ASK, RAW, "duration: 1s"),
		{WEIR_SIM_REQUEST, "r", "windows", 6}, {WEIR_SIM_REQUEST, "r", "complete", 6},
		{WEIR_SIM_REQUEST, "r", "frames", 4},
		{WEIR_SIM_REQUEST, "r", "bytes", 20 + 300 + 301 + 70});
	/* What the buffer has no room for is not there. */
	EXPECT(model(LENGTH, "buffer: {history: 1ms, rate: 10kHz, frame_size: 300B}", ASK, RAW,
		       "duration: 1s"),
		{WEIR_SIM_DROP, "l: wrong_size", "packets", 1},
		{WEIR_SIM_REQUEST, "r", "bytes", 20 + 300 + 70});
	unlink(path);
}

/* Frames that are not at the beginnings of steps reach into the next one; what is between them is missing. */
static void
windows_off_steps(void **state)
{
	static const struct frame frames[] = {{.timestamp = 1000}, {.timestamp = 1010},
		{.timestamp = 1025}, {.timestamp = 1035}, {.timestamp = 1040}, {.timestamp = 1050},
		{.timestamp = 1060}};

	write_frames(frames, 7);
	/* [1000, 1010), [1010, 1020): whole ones; [1020, 1030): 5 us are missing; [1030, 1040): two frames have parts of it; the others are whole. */
	EXPECT(model(STEP, FIXED,
		       "requests: {r: {links: [l], every: 10us, window: 10us, delay: 20us}}",
		       "rate: 1kHz, " RAW, "duration: 1s"),
		{WEIR_SIM_REQUEST, "r", "windows", 6}, {WEIR_SIM_REQUEST, "r", "complete", 5},
		{WEIR_SIM_REQUEST, "r", "partial", 1}, {WEIR_SIM_REQUEST, "r", "frames", 8});
	unlink(path);
}

/*
 * The clock is set forth by more than the history when three frames say so: the windows of the 10,020 us up to there are skipped. When it is set back
 * they begin anew, where time is then.
 */
#define SET                                                                                        \
	"requests: {r: {links: [l], every: 10us, window: 10us, delay: 20us}}", "rate: 1kHz, " RAW

static void
windows_of_a_clock_that_is_set(void **state)
{
	struct frame frames[60] = {0};
	uint32_t i;

	for (i = 0; i < 60; i++)
		frames[i].timestamp = 100000 + i * 10 + (i < 20 ? 0 : i < 40 ? 10000 : -50000);
	write_frames(frames, 60);
	EXPECT(model(STEP, FIXED, SET, "duration: 39500us"),
		{WEIR_SIM_LINK, "l", "stored_frames", 40},
		{WEIR_SIM_REQUEST, "r", "skipped_windows", 1002},
		{WEIR_SIM_REQUEST, "r", "windows", 19 + 18});
	EXPECT(model(STEP, FIXED, SET, "duration: 1s"), {WEIR_SIM_LINK, "l", "stored_frames", 60},
		{WEIR_SIM_REQUEST, "r", "skipped_windows", 1002},
		{WEIR_SIM_REQUEST, "r", "windows", 19 + 18 + 16});
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_to_the_ns),
		cmocka_unit_test(times_that_frames_say),
		cmocka_unit_test(times_that_begin_again),
#ifdef SIM_WITH_PCAP
		cmocka_unit_test(times_of_a_capture),
#endif
		cmocka_unit_test(links_by_key),
		cmocka_unit_test(reasons_of_fixed_rate),
		cmocka_unit_test(reasons_in_order),
		cmocka_unit_test(what_is_over_leaves),
		cmocka_unit_test(sizes),
		cmocka_unit_test(windows_off_steps),
		cmocka_unit_test(windows_of_a_clock_that_is_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
