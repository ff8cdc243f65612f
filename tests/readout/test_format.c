/* SPDX-License-Identifier: BSD-3-Clause */

/* Frame formats, compiled: every position of a field, truncated frames, those built in, and real frames. */

#include "../base/cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "weir_base.h"
#include "weir_readout_format_fast.h"
#include "weir_readout_link.h"

#include "capture.h"

#define FRAME_BYTES 40u

/* Bit @p bit of a frame, as the header counts them. */
static unsigned int
bit_of(const uint8_t *frame, uint32_t bit, bool big_endian)
{
	return frame[bit / 8] >> (big_endian ? 7 - bit % 8 : bit % 8) & 1;
}

/* A field bit by bit: what the compiled one must say. */
static uint64_t
naive(const uint8_t *frame, const struct weir_base_field_place *spec, bool big_endian)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < spec->width_bits; i++) {
		uint64_t bit = bit_of(frame, spec->offset_bits + i, big_endian);

		value |= bit << (big_endian ? spec->width_bits - 1 - i : i);
	}
	return value;
}

/* In memory of exactly its size, so that a sanitizer sees what is read beyond. */
static uint8_t *
make_frame(uint32_t bytes)
{
	uint8_t *frame = malloc(bytes);

	assert_non_null(frame);
	for (uint32_t i = 0; i < bytes; i++)
		frame[i] = (uint8_t)(0x9d + 0x37 * i + i * i);
	return frame;
}

static bool
fits(uint32_t offset_bits, uint32_t width_bits)
{
	return offset_bits % 8 + width_bits <= 64;
}

/* Many at once, some of them truncated, say what each of them says alone. */
static void
check_batch(const struct weir_readout_format *format, const uint8_t *frame, uint32_t bytes)
{
	const struct weir_readout_item items[] = {
		{.data = frame, .data_bytes = bytes},
		{.data = frame, .data_bytes = bytes - 1},
		{.data = frame, .data_bytes = 0},
		{.data = frame, .data_bytes = bytes},
	};
	struct weir_readout_header headers[RTE_DIM(items)];

	memset(headers, 0xff, sizeof(headers));
	weir_readout_item_headers(format, items, RTE_DIM(items), headers);
	for (unsigned int i = 0; i < RTE_DIM(items); i++) {
		struct weir_readout_header alone = {0};

		weir_readout_format_get(format, frame, items[i].data_bytes, &alone);
		assert_memory_equal(&headers[i], &alone, sizeof(alone));
	}
}

/* One field, in a frame that ends with it. */
static void
check_position(uint32_t offset_bits, uint32_t width_bits, bool big_endian)
{
	struct weir_base_format spec = {.name = "t", .big_endian = big_endian};
	struct weir_base_field_place *field = &spec.fields[WEIR_BASE_FIELD_STREAM];
	uint32_t bytes = (offset_bits + width_bits + 7) / 8;
	struct weir_readout_format format;
	struct weir_readout_header header = {0};
	uint8_t *frame;

	*field = (struct weir_base_field_place){offset_bits, width_bits};
	if (!fits(offset_bits, width_bits)) {
		assert_int_equal(
			weir_readout_format_compile(&spec, &format, NULL, NULL, 0), -EINVAL);
		return;
	}
	assert_int_equal(weir_readout_format_compile(&spec, &format, NULL, NULL, 0), 0);
	assert_int_equal(format.size_min_bytes, bytes);
	frame = make_frame(bytes);
	assert_true(weir_readout_format_get(&format, frame, bytes, &header));
	assert_true(header.stream == naive(frame, field, big_endian));
	assert_true(header.sequence == 0 && header.timestamp == 0 && header.length == 0);
	assert_false(weir_readout_format_get(&format, frame, bytes - 1, &header));
	check_batch(&format, frame, bytes);
	free(frame);
	/* All kinds, some bytes apart, in a frame that goes on behind them. */
	for (unsigned int i = 0; i < WEIR_BASE_NB_FIELDS; i++)
		spec.fields[i] = (struct weir_base_field_place){
			offset_bits + 16 * ((i + 1) % WEIR_BASE_NB_FIELDS), width_bits};
	assert_int_equal(weir_readout_format_compile(&spec, &format, NULL, NULL, 0), 0);
	bytes += 24;
	frame = make_frame(bytes);
	check_batch(&format, frame, bytes);
	free(frame);
}

static void
positions(void **state)
{
	for (uint32_t offset = 0; offset < 8 * FRAME_BYTES - 64; offset++)
		for (uint32_t width = 1; width <= 64; width++)
			for (unsigned int big = 0; big < 2; big++)
				check_position(offset, width, big != 0);
}

/* All fields at once, each from where it is, in a frame of the smallest size and in a larger one. */
static void
kinds(void **state)
{
	struct weir_base_format spec = {.name = "t",
		.fields = {
			[WEIR_BASE_FIELD_STREAM] = {3, 17},
			[WEIR_BASE_FIELD_SEQUENCE] = {20, 44},
			[WEIR_BASE_FIELD_TIMESTAMP] = {64, 64},
			[WEIR_BASE_FIELD_LENGTH] = {300, 9},
		}};
	struct weir_readout_format format;
	uint8_t *frame = make_frame(FRAME_BYTES);

	for (unsigned int big = 0; big < 2; big++) {
		struct weir_readout_header header = {0};

		spec.big_endian = big != 0;
		assert_int_equal(weir_readout_format_compile(&spec, &format, NULL, NULL, 0), 0);
		assert_int_equal(format.size_min_bytes, 39);
		assert_int_equal(format.timestamp_bits, 64);
		assert_true(format.sequence_modulus == UINT64_C(1) << 44);
		for (uint32_t bytes = 39; bytes <= FRAME_BYTES; bytes++) {
			assert_true(weir_readout_format_get(&format, frame, bytes, &header));
			assert_true(header.stream == naive(frame, &spec.fields[0], big != 0));
			assert_true(header.sequence == naive(frame, &spec.fields[1], big != 0));
			assert_true(header.timestamp == naive(frame, &spec.fields[2], big != 0));
			assert_true(header.length == naive(frame, &spec.fields[3], big != 0));
			check_batch(&format, frame, bytes);
		}
	}
	free(frame);
}

/* What has no fields takes frames without a byte. */
static void
none(void **state)
{
	const struct weir_readout_format *udp = weir_readout_format_builtin("udp");
	struct weir_readout_header header = {1, 2, 3, 4};

	assert_non_null(udp);
	assert_true(weir_readout_format_get(udp, NULL, 0, &header));
	assert_true(header.stream == 0 && header.sequence == 0 && header.timestamp == 0 &&
		    header.length == 0);
	check_batch(udp, &(const uint8_t){7}, 1);
	assert_true(weir_readout_format_length_agrees(udp, &header, 12345));
	assert_true(weir_readout_format_size_allowed(udp, 0));
	assert_true(weir_readout_format_size_allowed(udp, 65507));
	assert_false(weir_readout_format_size_allowed(udp, 65508));
	assert_int_equal(udp->clock_hz, 1000000000);
	assert_int_equal(udp->timestamp_bits, 64);
}

static void
wibeth(void **state)
{
	const struct weir_readout_format *format = weir_readout_format_builtin("wibeth");
	/* det_id 3, crate 5, slot 7, stream 0xa5, reserved bits set, seq 4095, length 898, behind version 1 */
	const uint64_t word = 1ull | 3ull << 6 | 5ull << 12 | 7ull << 22 | 0xa5ull << 26 |
			      0x3full << 34 | 4095ull << 40 | 898ull << 52;
	uint8_t *frame = make_frame(7200);
	struct weir_readout_header header = {0};

	for (unsigned int i = 0; i < 8; i++) {
		frame[i] = (uint8_t)(word >> 8 * i);
		frame[8 + i] = (uint8_t)(UINT64_C(0x0123456789abcdef) >> 8 * i);
	}
	assert_non_null(format);
	assert_true(weir_readout_format_get(format, frame, 7200, &header));
	assert_true(header.stream == (3ull | 5ull << 6 | 7ull << 16 | 0xa5ull << 20));
	assert_int_equal(header.sequence, 4095);
	assert_true(header.timestamp == UINT64_C(0x0123456789abcdef));
	assert_int_equal(header.length, 898);
	assert_true(weir_readout_format_length_agrees(format, &header, 7200));
	assert_false(weir_readout_format_length_agrees(format, &header, 7192));
	assert_false(weir_readout_format_length_agrees(format, &header, 8));
	header.length = UINT64_MAX / 8 + 1 + 898; /* 898 * 8 modulo 2^64 */
	assert_false(weir_readout_format_length_agrees(format, &header, 7200));
	assert_true(weir_readout_format_size_allowed(format, 7200));
	assert_false(weir_readout_format_size_allowed(format, 7199));
	assert_false(weir_readout_format_size_allowed(format, 7201));
	assert_int_equal(weir_readout_format_sequence_next(format, 4095), 0);
	assert_int_equal(weir_readout_format_sequence_next(format, 4094), 4095);
	assert_int_equal(format->step_ticks, 2048);
	assert_int_equal(format->clock_hz, 62500000);
	free(frame);
}

static void
builtin(void **state)
{
	static const char *const names[] = {"wibeth", "srs-vmm3a", "hit", "udp", "ethernet"};
	unsigned int i;

	for (i = 0; weir_readout_format_builtin_name(i) != NULL; i++) {
		assert_true(i < sizeof(names) / sizeof(names[0]));
		assert_string_equal(weir_readout_format_builtin_name(i), names[i]);
		assert_string_equal(weir_readout_format_builtin(names[i])->name, names[i]);
	}
	assert_int_equal(i, sizeof(names) / sizeof(names[0]));
	assert_null(weir_readout_format_builtin("wib"));
	assert_null(weir_readout_format_builtin(""));
	assert_int_equal(weir_readout_format_builtin("ethernet")->layer, WEIR_BASE_LAYER_ETHERNET);
	assert_false(weir_readout_format_size_allowed(weir_readout_format_builtin("ethernet"), 13));
	assert_true(weir_readout_format_size_allowed(weir_readout_format_builtin("ethernet"), 14));
}

static void
sequence(void **state)
{
	struct weir_base_format spec = {.name = "t",
		.fields = {[WEIR_BASE_FIELD_SEQUENCE] = {0, 64}},
		.sequence_modulus = 1000};
	struct weir_readout_format format;

	assert_int_equal(weir_readout_format_compile(&spec, &format, NULL, NULL, 0), 0);
	assert_int_equal(weir_readout_format_sequence_next(&format, 999), 0);
	assert_int_equal(weir_readout_format_sequence_next(&format, 0), 1);
	spec.sequence_modulus = 0;
	assert_int_equal(weir_readout_format_compile(&spec, &format, NULL, NULL, 0), 0);
	assert_true(weir_readout_format_sequence_next(&format, UINT64_MAX) == 0);
	assert_int_equal(weir_readout_format_sequence_next(&format, 999), 1000);
}

/* What a description may not be. */
static void
refused(void **state)
{
	static const struct {
		struct weir_base_format spec;
		enum weir_base_field field;
		const char *why;
	} cases[] = {
		{{.name = NULL}, WEIR_BASE_NB_FIELDS, "a format has a name"},
		{{.name = ""}, WEIR_BASE_NB_FIELDS, "a format has a name"},
		{{.name = "a2345678901234567890123456789012"}, WEIR_BASE_NB_FIELDS,
			"'a2345678901234567890123456789012': a name has up to 31 bytes"},
		{{.name = "t", .fields = {[WEIR_BASE_FIELD_LENGTH] = {0, 65}}},
			WEIR_BASE_FIELD_LENGTH, "65 bits; a field has 1 up to 64"},
		{{.name = "t", .fields = {[WEIR_BASE_FIELD_STREAM] = {1048577, 1}}},
			WEIR_BASE_FIELD_STREAM, "offset 1048577; expected up to 1048576 bits"},
		{{.name = "t", .fields = {[WEIR_BASE_FIELD_SEQUENCE] = {9, 64}}},
			WEIR_BASE_FIELD_SEQUENCE,
			"64 bits from bit 1 of a byte on are in 9 bytes; expected within 8"},
		{{.name = "t", .sequence_modulus = 2}, WEIR_BASE_FIELD_SEQUENCE,
			"a modulus without a sequence number"},
		{{.name = "t",
			 .fields = {[WEIR_BASE_FIELD_SEQUENCE] = {0, 8}},
			 .sequence_modulus = 257},
			WEIR_BASE_FIELD_SEQUENCE,
			"modulus 257 of a sequence number of 8 bits; expected 2 up to 2^8"},
		{{.name = "t",
			 .fields = {[WEIR_BASE_FIELD_SEQUENCE] = {0, 8}},
			 .sequence_modulus = 1},
			WEIR_BASE_FIELD_SEQUENCE,
			"modulus 1 of a sequence number of 8 bits; expected 2 up to 2^8"},
		{{.name = "t", .step_ticks = 1}, WEIR_BASE_FIELD_TIMESTAMP,
			"a step without a timestamp; expected a field of it"},
		{{.name = "t", .clock_hz = 1}, WEIR_BASE_FIELD_TIMESTAMP,
			"a clock without a timestamp; expected a field of it"},
		{{.name = "t", .fields = {[WEIR_BASE_FIELD_TIMESTAMP] = {0, 8}}, .step_ticks = 64},
			WEIR_BASE_FIELD_TIMESTAMP,
			"step 64 of a timestamp of 8 bits; expected up to a fourth of its values"},
		{{.name = "t", .fields = {[WEIR_BASE_FIELD_STREAM] = {64, 8}}, .size_max_bytes = 8},
			WEIR_BASE_FIELD_STREAM,
			"it ends 9 bytes from the beginning of frames of 8; expected within these"},
		{{.name = "t", .size_min_bytes = 10, .size_max_bytes = 9}, WEIR_BASE_NB_FIELDS,
			"at most 9 bytes, and at least 10; expected as many or more at most"},
		{{.name = "t",
			 .fields = {[WEIR_BASE_FIELD_LENGTH] = {0, 8}},
			 .length_plus_bytes = 41,
			 .size_min_bytes = 40,
			 .size_max_bytes = 40},
			WEIR_BASE_FIELD_LENGTH,
			"no number of 8 bits, times 1 and plus 41, is a size of 40 to 40 bytes; "
			"expected one that is"},
		{{.name = "t",
			 .fields = {[WEIR_BASE_FIELD_LENGTH] = {0, 3}},
			 .length_unit_bytes = 8,
			 .size_min_bytes = 57,
			 .size_max_bytes = 100},
			WEIR_BASE_FIELD_LENGTH,
			"no number of 3 bits, times 8 and plus 0, is a size of 57 to 100 bytes; "
			"expected one that is"},
		{{.name = "t",
			 .fields = {[WEIR_BASE_FIELD_LENGTH] = {0, 16}},
			 .length_unit_bytes = 8,
			 .size_min_bytes = 41,
			 .size_max_bytes = 47},
			WEIR_BASE_FIELD_LENGTH,
			"no number of 16 bits, times 8 and plus 0, is a size of 41 to 47 bytes; "
			"expected one that is"},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weir_readout_format format = {.name = "unchanged"};
		enum weir_base_field field;
		char why[160];

		assert_int_equal(weir_readout_format_compile(
					 &cases[i].spec, &format, &field, why, sizeof(why)),
			-EINVAL);
		assert_string_equal(why, cases[i].why);
		assert_int_equal(field, cases[i].field);
		assert_string_equal(format.name, "unchanged");
	}
}

/* The limits themselves are allowed. */
static void
limits(void **state)
{
	struct weir_base_format spec = {.name = "a234567890123456789012345678901",
		.fields =
			{
				[WEIR_BASE_FIELD_STREAM] = {1048576, 64},
				[WEIR_BASE_FIELD_SEQUENCE] = {0, 8},
				[WEIR_BASE_FIELD_TIMESTAMP] = {8, 8},
			},
		.sequence_modulus = 256,
		.step_ticks = 63};
	struct weir_readout_format format;

	assert_int_equal(weir_readout_format_compile(&spec, &format, NULL, NULL, 0), 0);
	assert_int_equal(format.size_min_bytes, 1048576 / 8 + 8);
	assert_int_equal(format.size_max_bytes, UINT32_MAX);
	assert_int_equal(format.clock_hz, 0);
	assert_string_equal(format.name, spec.name);
}

#define PACE_FRAMES 256u
#define PACE_BYTES  64u /* of each, in the cache */
#define PACE_ROUNDS 4000u

/* The fields of a WIBEth frame, by a hand that knows them. */
static inline uint64_t
by_hand(const uint8_t *frame)
{
	uint64_t word, timestamp;

	memcpy(&word, frame, sizeof(word));
	memcpy(&timestamp, frame + sizeof(word), sizeof(timestamp));
	return (word >> 6 & 0xfffffff) + (word >> 40 & 0xfff) + timestamp + (word >> 52);
}

static inline uint64_t
compiled(const struct weir_readout_format *format, const uint8_t *frame)
{
	struct weir_readout_header header = {0};

	weir_readout_format_get(format, frame, 7200, &header);
	return header.stream + header.sequence + header.timestamp + header.length;
}

/* They say the same of many frames. What either takes is for who reads this; the compiler may not see what the format is. */
static void
pace(void **state)
{
	const struct weir_readout_format *format = weir_readout_format_builtin("wibeth");
	uint8_t *frames = make_frame(PACE_FRAMES * PACE_BYTES);
	uint64_t sums[2] = {0}, cycles[2] = {UINT64_MAX, UINT64_MAX};

	for (unsigned int i = 0; i < PACE_ROUNDS; i++) {
		uint64_t start = weir_base_cycles(), middle, end;

		__asm__ volatile("" : "+r"(format) : : "memory");
		for (unsigned int j = 0; j < PACE_FRAMES; j++)
			sums[0] += compiled(format, frames + j * PACE_BYTES);
		middle = weir_base_cycles();
		__asm__ volatile("" : : : "memory");
		for (unsigned int j = 0; j < PACE_FRAMES; j++)
			sums[1] += by_hand(frames + j * PACE_BYTES);
		end = weir_base_cycles();
		if (middle - start < cycles[0])
			cycles[0] = middle - start;
		if (end - middle < cycles[1])
			cycles[1] = end - middle;
	}
	assert_true(sums[0] == sums[1]);
	print_message("  four fields of a frame: compiled %.1f cycles, by hand %.1f\n",
		(double)cycles[0] / PACE_FRAMES, (double)cycles[1] / PACE_FRAMES);
	free(frames);
}

/* Cards of a capture. */
struct cards {
	unsigned int nb[16];
	struct weir_readout_header last[16];
	uint64_t first_timestamp[16], first_us[16], last_us[16];
	uint64_t ticks[16]; /* since the first */
	unsigned int nb_gaps[16];
	uint64_t missing[16]; /* the number before the last gap's end */
};

static void
take_card(void *arg, const uint8_t *payload, uint32_t bytes, uint64_t time_us)
{
	const struct weir_readout_format *format = weir_readout_format_builtin("srs-vmm3a");
	struct cards *cards = arg;
	struct weir_readout_header header = {0};
	uint64_t card;

	assert_true(weir_readout_format_size_allowed(format, bytes));
	assert_true(weir_readout_format_get(format, payload, bytes, &header));
	card = header.stream;
	assert_in_range(card, 1, 15);
	if (cards->nb[card]++ == 0) {
		cards->first_us[card] = time_us;
	} else {
		if (header.sequence !=
			weir_readout_format_sequence_next(format, cards->last[card].sequence)) {
			cards->nb_gaps[card]++;
			cards->missing[card] = header.sequence - 1;
		}
		cards->ticks[card] += (uint32_t)(header.timestamp - cards->last[card].timestamp);
	}
	cards->last[card] = header;
	cards->last_us[card] = time_us;
}

/* The format's clock is what the time of capture says, within a thousandth and a half of the first and last packets' delays. */
static void
check_clock(const struct cards *cards, unsigned int card)
{
	double hz = (double)weir_readout_format_builtin("srs-vmm3a")->clock_hz;
	double seconds = (double)(cards->last_us[card] - cards->first_us[card]) / 1e6;

	assert_true((double)cards->ticks[card] / hz > seconds * 0.9985);
	assert_true((double)cards->ticks[card] / hz < seconds * 1.0015);
}

/* Two cards, of each of which a frame is missing. */
static void
gem(void **state)
{
	struct cards cards = {0};

	capture_payloads("srs-vmm3a-gem.pcap", 6006, take_card, &cards);
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(cards.nb[i], i == 1 || i == 2 ? 50 : 0);
	assert_int_equal(cards.nb_gaps[1], 1);
	assert_int_equal(cards.missing[1], 11888191);
	assert_int_equal(cards.nb_gaps[2], 1);
	assert_int_equal(cards.missing[2], 11867958);
	assert_int_equal(cards.last[1].sequence, 11888221);
	assert_int_equal(cards.last[2].sequence, 11867988);
	check_clock(&cards, 1);
	check_clock(&cards, 2);
}

/* One, over two minutes, in which its clock wraps. */
static void
triggered(void **state)
{
	struct cards cards = {0};

	capture_payloads("srs-vmm3a-triggered.pcap", 6006, take_card, &cards);
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(cards.nb[i], i == 2 ? 35 : 0);
	assert_int_equal(cards.nb_gaps[2], 0);
	assert_int_equal(cards.last[2].sequence, 37);
	assert_true(cards.ticks[2] > UINT32_MAX);
	check_clock(&cards, 2);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(positions),
		cmocka_unit_test(kinds),
		cmocka_unit_test(none),
		cmocka_unit_test(wibeth),
		cmocka_unit_test(builtin),
		cmocka_unit_test(sequence),
		cmocka_unit_test(refused),
		cmocka_unit_test(limits),
		cmocka_unit_test(pace),
		cmocka_unit_test(gem),
		cmocka_unit_test(triggered),
	};

	assert_int_equal(argc, 2);
	capture_dir = argv[1];
	return cmocka_run_group_tests_name("readout-format", tests, NULL, NULL);
}
