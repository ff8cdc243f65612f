/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as tables: numbers are grouped, a wrong sum is told. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table),
		cmocka_unit_test(wrong_sum),
		cmocka_unit_test(rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
