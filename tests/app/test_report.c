/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as tables: numbers are grouped, a wrong sum is told; and the verdict on a run whose sums are wrong. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config.h"
#include "links_report.h"
#include "links_run.h"
#include "report.h"
#include "verdict.h"

static json_t *
make_report(json_int_t in, json_int_t out, double elapsed_s)
{
	return json_pack(
		"{s:s, s:s, s:f, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b},"
		" s:[{s:s, s:b, s:b, s:I, s:I, s:I, s:I}], s:[], s:[{s:s, s:I, s:s}],"
		" s:[{s:s, s:I, s:I, s:f, s:f, s:I}], s:{s:f, s:b, s:i, s:f, s:f, s:f}, s:{s:f},"
		" s:{s:i, s:i, s:f}}",
		"instance", "test", "state", "finished", "elapsed_s", elapsed_s, "packets", "in",
		in, "out", out, "dropped", (json_int_t)0, "punted", (json_int_t)1, "discarded",
		(json_int_t)0, "fragmented", (json_int_t)0, "fragments", (json_int_t)0,
		"difference", in - out - 1, "adds_up", in == out + 1, "ports", "name", "north",
		"receives", 1, "transmits", 1, "rx_packets", in, "rx_bytes", (json_int_t)12,
		"tx_packets", out, "tx_bytes", (json_int_t)1000, "dropped", "punted", "reason",
		"arp", "packets", (json_int_t)1, "meaning", "ARP", "nodes", "name", "classify",
		"calls", (json_int_t)10, "packets", in, "packets_per_call", 2.5,
		"cycles_per_packet", 30.25, "cycles", (json_int_t)7, "cycles", "hz", 2e9, "counted",
		1, "clock_period", 64, "budget_cycles", 13.44, "budget_ns", 6.72, "used_cycles",
		99.5, "rate", "in_pps", 2.5e6, "routes", "ip4", 901899, "ip6", 0, "load_s", 0.5);
}

static char *
printed(const json_t *before, const json_t *report, bool rates)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	if (rates)
		report_print_rates(before, report, stream);
	else
		report_print(report, stream);
	fclose(stream);
	return text;
}

static char *
printed_readout(const json_t *of)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	links_report_print(of, stream);
	fclose(stream);
	return text;
}

static void
assert_contains(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("no '%s' in:\n%s", part, text);
}

static void
table(void **state)
{
	json_t *report = make_report(1234567, 1234566, 0.25);
	char *text;

	(void)state;
	assert_non_null(report);
	assert_true(report_adds_up(report));
	text = printed(NULL, report, false);
	assert_contains(text, "1,234,567 packets in 250.0 ms, 2.50 Mpps");
	assert_contains(text, "1,234,567 in = 1,234,566 out + 0 dropped + 1 punted");
	assert_contains(text, "901,899 IPv4 and 0 IPv6 routes");
	assert_contains(text, "6.72");
	assert_contains(text, "one of 64 walks");
	assert_contains(text, "arp");
	free(text);
	json_decref(report);
}

static void
wrong_sum(void **state)
{
	json_t *report = make_report(100, 90, 1);
	char *text;

	(void)state;
	assert_false(report_adds_up(report));
	text = printed(NULL, report, false);
	assert_contains(text, "is NOT");
	assert_contains(text, "9 packets are unaccounted for");
	free(text);
	json_decref(report);
}

static void
rates(void **state)
{
	json_t *before = make_report(1000, 999, 1), *now = make_report(3000, 2999, 2);
	char *text;

	(void)state;
	text = printed(before, now, true);
	assert_contains(text, "in 2.0 kpps, out 2.0 kpps");
	free(text);
	text = printed(NULL, now, true);
	assert_contains(text, "in 1.5 kpps, out 1.5 kpps");
	free(text);
	json_decref(before);
	json_decref(now);
}

/* A run of one link, one feed and one request, whose counters agree. */
static struct {
	struct config config;
	struct config_link link;
	struct config_request request;
	struct links_run run;
	struct links_feeder feeder;
	struct weir_readout_handler_stats stats;
	struct weir_readout_buffer_info buffer;
	struct links_feed feed;
	struct links_clock_link timed;
	struct links_request asked;
} readout;

static json_t *
report_feed(const struct links_feed *feed, uint64_t received, bool *adds_up)
{
	*adds_up = feed->dispatched.links == received;
	return json_pack("{s:o}", "packets", links_report_dispatched(&feed->dispatched, adds_up));
}

static void
make_readout(void)
{
	static const struct links_feed_type type = {.name = "test", .report = report_feed};

	memset(&readout, 0, sizeof(readout));
	readout.link = (struct config_link){.name = "wib", .nb = 1, .receiver = CONFIG_NONE};
	readout.config.links.list = &readout.link;
	readout.config.links.nb = readout.config.links.nb_links = 1;
	readout.request = (struct config_request){.name = "all", .nb_links = 1, .to = "file"};
	readout.stats = (struct weir_readout_handler_stats){
		.received = 100, .buffered = 60, .held = 10, .delivered = 25};
	readout.stats.dropped[WEIR_READOUT_HANDLER_TOO_LATE] = 5;
	readout.feed = (struct links_feed){.type = &type,
		.link = &readout.link,
		.dispatched = {.received = 103, .links = 100, .not_udp = 2, .truncated = 1}};
	readout.timed.name = "wib";
	readout.asked.clock = (struct links_clock){.links = &readout.timed, .nb = 1};
	readout.asked.config = &readout.request;
	readout.asked.sender = (void *)&readout; /* there is one */
	readout.asked.shown.answered[WEIR_READOUT_ANSWER_COMPLETE] = 7;
	readout.asked.shown_sender =
		(struct weir_readout_sender_stats){.taken = 7, .sent = 4, .queued = 1};
	readout.asked.shown_sender.failed[WEIR_READOUT_SEND_STALLED] = 2;
	readout.run = (struct links_run){.nb = 1,
		.stats = &readout.stats,
		.buffers = &readout.buffer,
		.feeds = &readout.feed,
		.nb_feeds = 1,
		.feeders = &readout.feeder,
		.nb_feeders = 1,
		.requests = {.list = &readout.asked, .nb = 1, .shown = {.asked = 9}}};
	readout.run.requests.shown.answered[WEIR_READOUT_ANSWER_COMPLETE] = 7;
	readout.run.requests.shown.refused[WEIR_READOUT_REFUSAL_NO_FRAGMENT] = 2;
	links_thread_init(&readout.feeder.thread);
	links_thread_init(&readout.run.requests.thread);
}

/* What is said on standard error of a report; the caller's. */
static char *
told(const json_t *report, int *code)
{
	const struct app_command command = {.name = "run"};
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	char *text = calloc(1, 1024);

	assert_non_null(file);
	assert_non_null(text);
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	*code = verdict_tell(&command, report);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	assert_true(fread(text, 1, 1023, file) < 1023);
	fclose(file);
	return text;
}

/* The verdict on the readout as it stands, and on the same in words. */
static void
expect_verdict(bool agrees)
{
	json_t *report = json_object();
	char *said, *table_text;
	int code;

	links_report_add(&readout.run, &readout.config, false, true, report);
	said = told(report, &code);
	assert_int_equal(code, agrees ? APP_OK : APP_FAILED);
	assert_string_equal(
		said, agrees ? "" : "weir run: the sums do not add up: this is a defect of Weir\n");
	free(said);
	table_text = printed_readout(json_object_get(report, "readout"));
	assert_true(agrees == (strstr(table_text, "do NOT add up") == NULL));
	free(table_text);
	json_decref(report);
}

/* Each counter that is one off is enough. */
static void
sums_of_a_readout(void **state)
{
	uint64_t *const counters[] = {
		&readout.stats.received,
		&readout.stats.buffered,
		&readout.stats.held,
		&readout.stats.delivered,
		&readout.stats.dropped[WEIR_READOUT_HANDLER_EVICTED],
		&readout.feed.dispatched.received,
		&readout.feed.dispatched.links,
		&readout.feed.dispatched.unknown_stream,
		&readout.run.requests.shown.asked,
		&readout.run.requests.shown.answered[WEIR_READOUT_ANSWER_PARTIAL],
		&readout.run.requests.shown.refused[WEIR_READOUT_REFUSAL_BAD_WINDOW],
		&readout.asked.shown.answered[WEIR_READOUT_ANSWER_TOO_OLD],
		&readout.asked.shown_sender.taken,
		&readout.asked.shown_sender.sent,
		&readout.asked.shown_sender.queued,
		&readout.asked.shown_sender.failed[WEIR_READOUT_SEND_PEER_GONE],
	};

	(void)state;
	make_readout();
	expect_verdict(true);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		make_readout();
		++*counters[i];
		expect_verdict(false);
	}
}

/* They agree, but something is left where nothing moves any more. */
static void
questions_left_open(void **state)
{
	(void)state;
	make_readout();
	readout.run.requests.shown.asked++;
	readout.run.requests.shown.outstanding++;
	expect_verdict(false);
}

static void
verdict_on_packets(void **state)
{
	json_t *right = make_report(100, 99, 1), *wrong = make_report(100, 90, 1),
	       *empty = json_object();
	int code;
	char *said = told(right, &code);

	(void)state;
	assert_int_equal(code, APP_OK);
	assert_string_equal(said, "");
	free(said);
	said = told(wrong, &code);
	assert_int_equal(code, APP_FAILED);
	assert_string_equal(said, "weir run: the sums do not add up: this is a defect of Weir\n");
	free(said);
	said = told(empty, &code); /* nothing was counted at all */
	assert_int_equal(code, APP_FAILED);
	free(said);
	json_decref(right);
	json_decref(wrong);
	json_decref(empty);
}

/* What buffers take, of so many links with hugepages; one of ours has them, or not. */
static void
expect_buffers(const char *line)
{
	json_t *report = json_object();
	char *text;

	links_report_add(&readout.run, &readout.config, false, true, report);
	text = printed_readout(json_object_get(report, "readout"));
	assert_contains(text, line);
	free(text);
	json_decref(report);
}

static void
memory_of_buffers(void **state)
{
	(void)state;
	make_readout();
	readout.buffer.memory_bytes = 3 << 20;
	expect_buffers("\n  memory of buffers: 3 MiB, in hugepages of 0 of 1 links\n");
	readout.buffer.memory_bytes = UINT64_C(5000) << 20;
	readout.buffer.hugepages = true;
	expect_buffers("\n  memory of buffers: 5,000 MiB, in hugepages of 1 of 1 links\n");
}

/* Of a class of coroutines whose slices are so long. */
static void
expect_slices(json_int_t ns, const char *expected)
{
	json_t *answer = json_pack("{s:[{s:s, s:{s:{s:I}}, s:{}}], s:{}}", "classes", "guard",
		"region", "slices", "configured", "ns", ns, "stack_bytes", "misuse");
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(answer);
	assert_non_null(stream);
	report_print_coro(answer, stream);
	fclose(stream);
	assert_contains(text, expected);
	free(text);
	json_decref(answer);
}

static void
slices_of_coroutines(void **state)
{
	(void)state;
	expect_slices(10000, "\n  slices of 10.0 us; measured: 0\n");
	expect_slices(INT64_MAX / 2, "\n  slices without an end; measured: 0\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table),
		cmocka_unit_test(wrong_sum),
		cmocka_unit_test(rates),
		cmocka_unit_test(verdict_on_packets),
		cmocka_unit_test(sums_of_a_readout),
		cmocka_unit_test(questions_left_open),
		cmocka_unit_test(memory_of_buffers),
		cmocka_unit_test(slices_of_coroutines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
