/* SPDX-License-Identifier: BSD-3-Clause */
/* When packets come, how large they are, and of which flows. The first argument is the folder of captures. */
#include "sim_util.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim.h"

#define US UINT64_C(1000000) /* ps */

static const char *data_dir;

/* A model of one stream, whose packets all stay inside: the simulation keeps each in the order in which it came. */
struct made {
	struct given given;
	struct sim *sim;
	const struct sim_packet *packets;
	uint32_t nb;
};

static struct made __attribute__((format(printf, 2, 3)))
make(uint64_t end_ps, const char *format, ...)
{
	char stream[512], text[1024];
	struct made made;
	va_list args;

	va_start(args, format);
	vsnprintf(stream, sizeof(stream), format, args);
	va_end(args);
	snprintf(text, sizeof(text),
		"traffic: {streams: {s: {to: q, %s}}}\n"
		"application:\n"
		"  queues: {q: {type: atomic}}\n"
		"  objects: {o: {queues: [q], steps: [{cpu: 1000000Mcycles}]}}\n"
		"platform: {cores: {c: {clock: 1Hz}}}\n",
		stream);
	made.given = given_model(text);
	made.sim = sim_new(made.given.model, 1, 0);
	assert_non_null(made.sim);
	assert_false(sim_engine_run(made.sim, end_ps, UINT64_MAX / 2));
	assert_int_equal(made.sim->error, 0);
	made.packets = made.sim->packets.all;
	made.nb = made.sim->packets.nb;
	assert_int_equal(made.nb, made.sim->streams[0].made);
	return made;
}

static void
made_free(struct made *made)
{
	sim_free(made->sim);
	given_free(&made->given);
}

static void
even_ones(void **state)
{
	struct made made =
		make(1000 * US, "arrivals: deterministic, interval: 3us, start: 5us, stop: 26us");
	struct made counted = make(1000 * US, "arrivals: deterministic, interval: 3us, count: 4");
	uint32_t i;

	assert_int_equal(counted.nb, 4);
	assert_int_equal(counted.packets[3].created_ps, 12 * US);
	made_free(&counted);

	assert_int_equal(made.nb, 6);
	for (i = 0; i < made.nb; i++)
		assert_int_equal(made.packets[i].created_ps, (8 + 3 * i) * US);
	made_free(&made);
}

/* The clock stands still while it is off: what is left of an interval goes on in the next phase. */
static void
on_and_off(void **state)
{
	struct made made = make(4000 * US,
		"arrivals: deterministic, interval: 3us, on: 10us, off: 30us, phases: constant, "
		"start: 7us");
	uint64_t on_us;
	uint32_t i;

	assert_int_equal(made.nb, 333); /* 100 phases, of which the last ends at 3977 us */
	for (i = 0; i < made.nb; i++) {
		on_us = 3 * (i + 1);
		assert_int_equal(made.packets[i].created_ps,
			(7 + (on_us - 1) / 10 * 40 + (on_us - 1) % 10 + 1) * US);
	}
	made_free(&made);
}

/* Squared coefficient of variation of the times between packets, and their mean. */
static double
variation(const struct made *made, double *mean_ps)
{
	double sum = 0, squares = 0, ps;
	uint32_t i;

	for (i = 1; i < made->nb; i++) {
		ps = (double)(made->packets[i].created_ps - made->packets[i - 1].created_ps);
		sum += ps;
		squares += ps * ps;
	}
	*mean_ps = sum / (made->nb - 1);
	return squares / (made->nb - 1) / (*mean_ps * *mean_ps) - 1;
}

/*
 * An interrupted Poisson process: with the rates l of packets, a of going off, b of going on, the mean rate is l b / (a + b) and
 * the squared coefficient of variation 1 + 2 l a / (a + b)^2 (Kuczura, 1973). Here l = 1, a = 1/20, b = 1/60 a us.
 */
static void
on_and_off_at_random(void **state)
{
	struct made made = make(1000000 * US, "rate: 1Mpps, on: 20us, off: 60us");
	double mean_ps, found = variation(&made, &mean_ps);

	assert_true(fabs(mean_ps / (double)US - 4) < 0.1);
	assert_true(fabs(found - (1 + 2 * (1.0 / 20) / (1.0 / 15 * 1.0 / 15))) < 1);
	made_free(&made);
}

static void
phases_may_be_uniform(void **state)
{
	struct made made = make(1000000 * US,
		"arrivals: deterministic, interval: 1us, on: 20us, off: 60us, phases: uniform");
	double mean_ps;
	uint32_t i, pauses = 0;

	variation(&made, &mean_ps);
	assert_true(fabs(mean_ps / (double)US - 4) < 0.1);
	for (i = 1; i < made.nb; i++)
		pauses += made.packets[i].created_ps - made.packets[i - 1].created_ps > 2 * US;
	assert_true(abs((int)pauses - 1000000 / 80) < 600); /* less those that are shorter */
	made_free(&made);
}

static void
bursts_one_after_the_other(void **state)
{
	struct made made = make(1050 * US,
		"arrivals: deterministic, interval: 1us, flows: 1000000, "
		"bursts: {interval: 100us, intervals: constant, lifetime: 10us, lifetimes: "
		"constant}");
	uint32_t i, differ = 0;

	assert_int_equal(made.nb, 100);
	for (i = 0; i < made.nb; i++) {
		assert_int_equal(
			made.packets[i].created_ps, (100 * (1 + i / 10) + 1 + i % 10) * US);
		if (i % 10 != 0)
			assert_int_equal(made.packets[i].flow, made.packets[i - 1].flow);
		else if (i > 0)
			differ += made.packets[i].flow != made.packets[i - 1].flow;
	}
	assert_true(differ >= 8);
	assert_int_equal(made.sim->bursts.nb, 1); /* its place was used again and again */
	made_free(&made);
}

/* Five at a time: those of one burst come between those of others. */
static void
bursts_beside_each_other(void **state)
{
	struct made made = make(1050 * US,
		"arrivals: deterministic, interval: 10us, flows: 1000000, "
		"bursts: {interval: 20us, intervals: constant, lifetime: 100us, lifetimes: "
		"constant}");
	uint32_t i, expected = 0, when_us, began_us;

	for (when_us = 0; when_us <= 1050; when_us++)
		for (began_us = 20; began_us < when_us; began_us += 20)
			expected += when_us - began_us <= 100 && (when_us - began_us) % 10 == 0;
	assert_int_equal(made.nb, expected);
	assert_true(made.sim->bursts.nb >= 5 && made.sim->bursts.nb <= 7);
	for (i = 1; i < made.nb; i++)
		assert_true(made.packets[i].created_ps >= made.packets[i - 1].created_ps);
	made_free(&made);
}

/*
 * Poisson triggers, exponential lives, Poisson packets: a burst has a geometric number N of packets, of mean m, here 5; over times
 * that are long beside a life the variance of counts is E[N^2] / E[N] = 1 + 2 m times their mean.
 */
static void
bursts_at_random(void **state)
{
	enum { WINDOWS = 2000 };
	struct made made =
		make(WINDOWS * 1000 * US, "rate: 1Mpps, bursts: {interval: 20us, lifetime: 5us}");
	double counts[WINDOWS] = {0}, mean, squares = 0;
	uint32_t i;

	for (i = 0; i < made.nb; i++)
		counts[(made.packets[i].created_ps - 1) / (1000 * US)]++;
	mean = (double)made.nb / WINDOWS;
	for (i = 0; i < WINDOWS; i++)
		squares += (counts[i] - mean) * (counts[i] - mean);
	assert_true(fabs(mean - 250) < 6);
	assert_true(fabs(squares / (WINDOWS - 1) / mean - 11) < 1.8);
	made_free(&made);
}

static void
bursts_end_with_count_and_stop(void **state)
{
	struct made counted = make(
		100000 * US, "rate: 1Mpps, count: 777, bursts: {interval: 1us, lifetime: 50us}");
	struct made stopped = make(
		100000 * US, "rate: 1Mpps, stop: 300us, bursts: {interval: 1us, lifetime: 50us}");

	assert_int_equal(counted.nb, 777);
	assert_int_equal(counted.sim->events.nb, 1); /* the core's */
	assert_true(stopped.nb > 1000);
	assert_true(stopped.packets[stopped.nb - 1].created_ps < 300 * US);
	assert_true(stopped.packets[stopped.nb - 1].created_ps > 290 * US);
	assert_int_equal(stopped.sim->events.nb, 1);
	made_free(&counted);
	made_free(&stopped);
}

/* A file of some bytes; its name is freed by who has it, after unlink(). */
static char *
write_bytes(const void *bytes, size_t size)
{
	char *path = strdup("/tmp/weir-test-table-XXXXXX");
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	close(fd);
	return path;
}

static char *
write_file(const char *text)
{
	return write_bytes(text, strlen(text));
}

static void
remove_file(char *path)
{
	unlink(path);
	free(path);
}

static void
times_of_a_table(void **state)
{
	char *path = write_file("interval_ns,weight\n1500,3\n2000,0\r\n0.5,1\n\n");
	struct made made = make(10000 * US, "arrivals: empirical, intervals: %s", path);
	uint32_t i, longer = 0;
	uint64_t ps;

	assert_true(made.nb > 5000);
	for (i = 1; i < made.nb; i++) {
		ps = made.packets[i].created_ps - made.packets[i - 1].created_ps;
		assert_true(ps == 1500000 || ps == 500);
		longer += ps == 1500000;
	}
	assert_true(fabs(longer - 0.75 * made.nb) < 5 * sqrt(0.75 * 0.25 * made.nb));
	made_free(&made);
	remove_file(path);
}

static void
sizes_of_a_table(void **state)
{
	char *path = write_file("size_B\n64\n1500\n9000\n64\n");
	struct made made = make(10000 * US,
		"arrivals: deterministic, rate: 1Mpps, sizes: empirical, size_table: %s", path);
	uint32_t i, small = 0;

	assert_int_equal(made.nb, 10000);
	for (i = 0; i < made.nb; i++) {
		const uint32_t size = made.packets[i].size_bytes;

		assert_true(size == 64 || size == 1500 || size == 9000);
		small += size == 64;
	}
	assert_true(fabs(small - 5000.0) < 5 * 50);
	made_free(&made);
	remove_file(path);
}

/* What is wrong with a table is told with its line and column; with a stream, where the stream's is. */
static void
refuse(const char *table, unsigned int line, unsigned int column, const char *words,
	const char *stream)
{
	char *path = write_file(table), text[1024];
	const struct weir_base_doc_error *errors;
	struct weir_base_doc *doc;
	unsigned int nb_errors;

	snprintf(text, sizeof(text), "traffic: {streams: {s: {to: q, %s %s}}}\n", stream, path);
	doc = weir_base_doc_load_text(text, strlen(text), "model", &weir_sim_doc_root);
	assert_null(weir_sim_model_read(doc));
	errors = weir_base_doc_errors(doc, &nb_errors);
	while (nb_errors > 0 && (errors->line != line || errors->column != column ||
					strstr(errors->message, words) == NULL ||
					strcmp(errors->file, line > 1 ? path : "model") != 0)) {
		nb_errors--;
		errors++;
	}
	if (nb_errors == 0)
		weir_base_doc_errors_print(doc, stderr);
	assert_true(nb_errors > 0);
	weir_base_doc_free(doc);
	remove_file(path);
}

#define INTERVALS "arrivals: empirical, intervals:"

static void
bad_tables(void **state)
{
	refuse("interval_us\n1\n-2\n", 3, 1, "'-2'", INTERVALS);
	refuse("interval_us\n1\n2 us\n", 3, 1, "'2 us'", INTERVALS);
	refuse("interval_us\n\nnan\n", 3, 1, "'nan'", INTERVALS);
	refuse("interval_us,weight\n1,2\n1,x\n", 3, 3, "'x'", INTERVALS);
	refuse("interval_us,weight\n1\n", 2, 1, "a comma and a weight", INTERVALS);
	refuse("size_B\n1e10\n", 2, 1, "1e+09", "rate: 1pps, sizes: empirical, size_table:");
	refuse("interval_us,weight\n1,0\n", 1, 64, "nothing to draw from", INTERVALS);
	refuse("interval_us\n0\n", 1, 64, "nothing to draw from", INTERVALS);
	refuse("", 1, 64, "nothing to draw from", INTERVALS);
}

/* Heads are on line 1, as is all of the model. */
static void
bad_heads(void **state)
{
	const char *const heads[] = {"interval", "interval_us,weights", "size_B", "1\n2\n"};
	unsigned int i;

	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		char *path = write_file(heads[i]), text[256];
		const struct weir_base_doc_error *errors;
		struct weir_base_doc *doc;
		unsigned int nb_errors;

		snprintf(text, sizeof(text), "traffic: {streams: {s: {to: q, " INTERVALS " %s}}}\n",
			path);
		doc = weir_base_doc_load_text(text, strlen(text), "model", &weir_sim_doc_root);
		assert_null(weir_sim_model_read(doc));
		errors = weir_base_doc_errors(doc, &nb_errors);
		while (nb_errors > 0 && strcmp(errors->file, path) != 0) {
			nb_errors--;
			errors++;
		}
		assert_true(nb_errors > 0 && errors->line == 1);
		assert_non_null(strstr(errors->message, "expected a head such as 'interval_us'"));
		weir_base_doc_free(doc);
		remove_file(path);
	}
}

#ifdef SIM_WITH_PCAP
/* A record of a capture file of this machine's byte order, with times in us, as its format has it. */
struct record {
	uint32_t seconds, microseconds, captured, wire;
};

/* The records of a capture, read without libpcap. @return how many */
static unsigned int
read_capture(const char *path, struct record *records, unsigned int most)
{
	FILE *file = fopen(path, "rb");
	unsigned int nb = 0;
	uint32_t magic;

	assert_non_null(file);
	assert_int_equal(fread(&magic, sizeof(magic), 1, file), 1);
	assert_int_equal(magic, 0xa1b2c3d4);
	fseek(file, 24, SEEK_SET);
	for (; nb < most && fread(&records[nb], sizeof(*records), 1, file) == 1; nb++)
		fseek(file, (long)records[nb].captured, SEEK_CUR);
	fclose(file);
	return nb;
}

/* Times and sizes of a real capture: as they were; at twice the speed; again and again. */
static void
replays(void **state)
{
	enum { ROOM = 1000 };
	static struct record records[ROOM];
	char path[512];
	uint64_t ps[ROOM] = {0}, round_ps;
	struct made once, twice;
	unsigned int nb, i;

	snprintf(path, sizeof(path), "%s/arp-web-mix.pcap", data_dir);
	nb = read_capture(path, records, ROOM);
	assert_int_equal(nb, 871);
	for (i = 0; i < nb; i++)
		ps[i] = ((uint64_t)(records[i].seconds - records[0].seconds) * 1000000 +
				records[i].microseconds - records[0].microseconds) *
			US;
	once = make(100000000 * US, "arrivals: replay, start: 1ms, capture: %s", path);
	assert_int_equal(once.nb, nb);
	for (i = 0; i < nb; i++) {
		assert_int_equal(once.packets[i].created_ps, 1000 * US + ps[i]);
		assert_int_equal(once.packets[i].size_bytes, records[i].wire);
	}
	made_free(&once);
	twice = make(100000000 * US,
		"arrivals: replay, capture: %s, speed: 2, repeat: true, count: 2000", path);
	assert_int_equal(twice.nb, 2000);
	round_ps = ps[nb - 1] / 2 + ps[nb - 1] / 2 / (nb - 1);
	for (i = 0; i < 2000; i++) {
		assert_int_equal(twice.packets[i].created_ps, i / nb * round_ps + ps[i % nb] / 2);
		assert_int_equal(twice.packets[i].size_bytes, records[i % nb].wire);
	}
	made_free(&twice);
}

/* A capture that is replayed so slowly that its end is beyond all times. */
static void
replays_as_far_as_time_goes(void **state)
{
	const struct {
		uint32_t magic;
		uint16_t major, minor;
		uint32_t zone, accuracy, length, type;
		struct record records[3];
	} file = {0xa1b2c3d4, 2, 4, 0, 0, 16, 1,
		{{100, 0, 0, 64}, {100, 20, 0, 64}, {1000100, 0, 0, 64}}};
	char *path = write_bytes(&file, sizeof(file));
	struct made made =
		make(UINT64_C(1) << 62, "arrivals: replay, capture: %s, speed: 0.000001", path);

	assert_int_equal(made.nb, 2);
	assert_int_equal(made.packets[0].created_ps, 0);
	assert_int_equal((made.packets[1].created_ps + US / 2) / US, 20 * 1000000);
	made_free(&made);
	remove_file(path);
}

/* Packets that were cut count whole; one whose time goes back comes together with the one ahead of it. */
static void
replays_what_is_odd(void **state)
{
	const struct {
		uint32_t magic;
		uint16_t major, minor;
		uint32_t zone, accuracy, length, type;
		struct {
			struct record record;
			uint8_t bytes[16];
		} packets[3];
	} file = {0xa1b2c3d4, 2, 4, 0, 0, 16, 1,
		{{{100, 999990, 16, 1500}, {0}}, {{101, 10, 16, 64}, {0}},
			{{101, 1, 16, 9000}, {0}}}};
	char *path = write_bytes(&file, sizeof(file));
	struct made made = make(1000 * US, "arrivals: replay, capture: %s", path);

	assert_int_equal(made.nb, 3);
	assert_int_equal(made.packets[0].size_bytes, 1500);
	assert_int_equal(made.packets[1].created_ps, 20 * US);
	assert_int_equal(made.packets[2].created_ps, 20 * US);
	assert_int_equal(made.packets[2].size_bytes, 9000);
	made_free(&made);
	remove_file(path);
}

static void
bad_captures(void **state)
{
	refuse("no capture", 1, 59, "is not a capture file", "arrivals: replay, capture:");
}
#endif

static void
popular_flows(void **state)
{
	struct made made = make(20000 * US, "rate: 1Mpps, flows: 4, popularity: zipf, skew: 2");
	const double all = 1 + 1.0 / 4 + 1.0 / 9 + 1.0 / 16;
	unsigned int counts[4] = {0}, i;

	for (i = 0; i < made.nb; i++)
		counts[made.packets[i].flow]++;
	for (i = 0; i < 4; i++) {
		const double p = 1 / all / (i + 1) / (i + 1);

		assert_true(fabs(counts[i] - p * made.nb) < 5 * sqrt(p * (1 - p) * made.nb));
	}
	made_free(&made);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(even_ones),
		cmocka_unit_test(on_and_off),
		cmocka_unit_test(on_and_off_at_random),
		cmocka_unit_test(phases_may_be_uniform),
		cmocka_unit_test(bursts_one_after_the_other),
		cmocka_unit_test(bursts_beside_each_other),
		cmocka_unit_test(bursts_at_random),
		cmocka_unit_test(bursts_end_with_count_and_stop),
		cmocka_unit_test(times_of_a_table),
		cmocka_unit_test(sizes_of_a_table),
		cmocka_unit_test(bad_tables),
		cmocka_unit_test(bad_heads),
#ifdef SIM_WITH_PCAP
		cmocka_unit_test(replays),
		cmocka_unit_test(replays_as_far_as_time_goes),
		cmocka_unit_test(replays_what_is_odd),
		cmocka_unit_test(bad_captures),
#endif
		cmocka_unit_test(popular_flows),
	};

	data_dir = argc > 1 ? argv[1] : "tests/data";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
