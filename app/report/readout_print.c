/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of links, of what is around them, and of fragments. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "answer.h"
#include "readout_print.h"
#include "report_text.h"

#define NB_MISSING_MAX 8 /* intervals that are listed of a fragment */

/* jansson iterates over what may change only */
static json_t *
all_of(const json_t *json, const char *key)
{
	return key != NULL ? json_object_get(json, key) : (json_t *)(uintptr_t)json;
}

/* " no_memory 5, evicted 3": those that are not 0. @param before  printed once, before the first one */
static bool
print_counts(const char *before, const json_t *counts, FILE *out)
{
	const char *key, *separator = before;
	json_t *value;

	json_object_foreach (all_of(counts, NULL), key, value) {
		if (!json_is_integer(value) || json_integer_value(value) == 0)
			continue;
		fprintf(out, "%s%s %" JSON_INTEGER_FORMAT, separator, key,
			json_integer_value(value));
		separator = ", ";
	}
	return separator != before;
}

/* The link of this name in another answer. */
static const json_t *
find_link(const json_t *answer, const char *name)
{
	const json_t *link;
	size_t index;

	json_array_foreach (json_object_get(answer, "links"), index, link) {
		if (strcmp(answer_text(link, "link"), name) == 0)
			return link;
	}
	return NULL;
}

/* Frames a second between two answers. */
static void
print_rate(const json_t *before, const json_t *answer, const json_t *link, FILE *out)
{
	const json_t *then = find_link(before, answer_text(link, "link"));
	const json_int_t ns = report_int(answer, "time_ns") - report_int(before, "time_ns");
	const json_int_t nb = report_int(link, "received") - report_int(then, "received");

	if (then == NULL || ns <= 0)
		fprintf(out, " %12s", "-");
	else
		fprintf(out, " %12.0f", (double)nb * 1e9 / (double)ns);
}

static void
print_link(const json_t *before, const json_t *answer, const json_t *link, FILE *out)
{
	const json_t *buffer = json_object_get(link, "buffer");
	const json_t *history = json_object_get(buffer, "history_s");

	fprintf(out,
		"%-20s %14" JSON_INTEGER_FORMAT " %12" JSON_INTEGER_FORMAT " %8" JSON_INTEGER_FORMAT
		" %14" JSON_INTEGER_FORMAT " %10" JSON_INTEGER_FORMAT " %10" JSON_INTEGER_FORMAT,
		answer_text(link, "link"), report_int(link, "received"),
		report_int(link, "buffered"), report_int(link, "held"),
		report_int(link, "delivered"), report_sum(json_object_get(link, "dropped")),
		report_int(json_object_get(link, "checks"), "missing"));
	if (before != NULL)
		print_rate(before, answer, link, out);
	if (history != NULL)
		fprintf(out, " %8.3f s  %s .. %s", json_real_value(history),
			answer_text(buffer, "oldest"), answer_text(buffer, "newest"));
	fprintf(out, "\n");
}

/* How often, when last, how long after the one before. */
static void
print_faults(const json_t *link, FILE *out)
{
	const char *key, *separator = "  checks: ";
	const json_t *last;
	json_t *fault;

	json_object_foreach (all_of(link, "checks"), key, fault) {
		if (!json_is_object(fault))
			continue;
		last = json_object_get(fault, "last");
		fprintf(out,
			"%s%s %" JSON_INTEGER_FORMAT " (last: frame %" JSON_INTEGER_FORMAT
			", timestamp %s",
			separator, key, report_int(fault, "count"), report_int(last, "number"),
			answer_text(last, "timestamp"));
		if (report_int(fault, "interval_ns") > 0)
			fprintf(out, ", after %s",
				answer_duration(report_int(fault, "interval_ns")));
		fprintf(out, ")");
		separator = "\n          ";
	}
	if (separator[0] == '\n')
		fprintf(out, "\n");
}

static void
print_details(const json_t *link, FILE *out)
{
	const json_t *queue = json_object_get(link, "queue");

	if (queue != NULL)
		fprintf(out,
			"  queue: %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " frames\n",
			report_int(queue, "queued"), report_int(queue, "size"));
	if (print_counts("  dropped: ", json_object_get(link, "dropped"), out)) {
		print_counts("; of these processed: ", json_object_get(link, "processed"), out);
		fprintf(out, "\n");
	}
	print_faults(link, out);
}

static void
print_links(const json_t *before, const json_t *answer, FILE *out)
{
	const json_t *link;
	size_t index;

	fprintf(out, "%-20s %14s %12s %8s %14s %10s %10s%s %10s  %s\n", "link", "received",
		"buffered", "held", "delivered", "dropped", "missing",
		before != NULL ? "     frames/s" : "", "history", "oldest .. newest");
	json_array_foreach (json_object_get(answer, "links"), index, link) {
		print_link(before, answer, link, out);
		print_details(link, out);
	}
}

static void
print_latency(const char *name, const json_t *hist, FILE *out)
{
	static const char *const points[] = {"p50", "p99", "p99.9", "max"};

	if (report_int(hist, "count") == 0)
		return;
	fprintf(out, "  %-8s %10" JSON_INTEGER_FORMAT ":", name, report_int(hist, "count"));
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		fprintf(out, "  %s %s", points[i], answer_duration(report_int(hist, points[i])));
	fprintf(out, "\n");
}

static void
print_requests(const json_t *requests, FILE *out)
{
	const json_t *latency = json_object_get(requests, "latency_ns");

	if (requests == NULL)
		return;
	fprintf(out,
		"\nrequests: %" JSON_INTEGER_FORMAT " for %" JSON_INTEGER_FORMAT
		" fragments; outstanding %" JSON_INTEGER_FORMAT ", held %" JSON_INTEGER_FORMAT "\n",
		report_int(requests, "requests"), report_int(requests, "asked"),
		report_int(requests, "outstanding"), report_int(requests, "held"));
	if (print_counts("  answered: ", json_object_get(requests, "answered"), out))
		fprintf(out, "\n");
	if (print_counts("  refused:  ", json_object_get(requests, "refused"), out))
		fprintf(out, "\n");
	print_latency("at once", json_object_get(latency, "at_once"), out);
	print_latency("waited", json_object_get(latency, "waited"), out);
}

static void
print_queue(const json_t *queue, size_t number, FILE *out)
{
	const json_t *bursts = json_object_get(queue, "bursts");
	const json_t *dispatch = json_object_get(queue, "dispatch");

	fprintf(out, "  queue %zu: received %" JSON_INTEGER_FORMAT, number,
		report_int(queue, "received"));
	if (bursts != NULL)
		fprintf(out,
			", full bursts %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
			" (packets: 50%% %" JSON_INTEGER_FORMAT ", 99%% %" JSON_INTEGER_FORMAT
			", max %" JSON_INTEGER_FORMAT ")",
			report_int(queue, "full_bursts"), report_int(bursts, "count"),
			report_int(bursts, "p50"), report_int(bursts, "p99"),
			report_int(bursts, "max"));
	print_counts("; dropped: ", json_object_get(queue, "dropped"), out);
	print_counts("; no link's: ", json_object_get(dispatch, "dropped"), out);
	fprintf(out, "\n");
}

static void
print_port(const json_t *port, FILE *out)
{
	fprintf(out,
		"  port %" JSON_INTEGER_FORMAT ": %s, MTU %" JSON_INTEGER_FORMAT
		", steering %s; device: received %" JSON_INTEGER_FORMAT
		", imissed %" JSON_INTEGER_FORMAT ", rx_nombuf %" JSON_INTEGER_FORMAT
		", errors %" JSON_INTEGER_FORMAT "\n",
		report_int(port, "ethdev"), answer_text(port, "mac_addr"), report_int(port, "mtu"),
		answer_text(port, "steering"), report_int(port, "ipackets"),
		report_int(port, "imissed"), report_int(port, "rx_nombuf"),
		report_int(port, "ierrors"));
}

static void
print_stream(const json_t *stream, size_t number, FILE *out)
{
	fprintf(out, "  stream %zu: made %" JSON_INTEGER_FORMAT ", sent %" JSON_INTEGER_FORMAT,
		number, report_int(stream, "made"), report_int(stream, "sent"));
	if (report_int(stream, "no_mbuf") > 0)
		fprintf(out, ", no_mbuf %" JSON_INTEGER_FORMAT, report_int(stream, "no_mbuf"));
	fprintf(out, ", up to %s late", answer_duration(report_int(stream, "late_ns")));
	print_counts("; faults: ", json_object_get(stream, "faults"), out);
	fprintf(out, "\n");
}

/* Whatever there is of one: its own counters, then those of its parts. */
static void
print_part(const char *kind, const json_t *part, FILE *out)
{
	const json_t *item;
	size_t index;

	fprintf(out, "\n%s %s", kind, answer_text(part, "name"));
	print_counts(": ", part, out);
	print_counts("; failed: ", json_object_get(part, "failed"), out);
	print_counts("; dropped: ", json_object_get(part, "dropped"), out);
	print_counts("; refused: ", json_object_get(part, "refused"), out);
	fprintf(out, "\n");
	json_array_foreach (json_object_get(part, "ports"), index, item) {
		print_port(item, out);
	}
	json_array_foreach (json_object_get(part, "queues"), index, item) {
		print_queue(item, index, out);
	}
	json_array_foreach (json_object_get(part, "streams"), index, item) {
		print_stream(item, index, out);
	}
}

static void
print_parts(const json_t *answer, FILE *out)
{
	static const struct {
		const char *list, *one;
	} kinds[] = {{"receivers", "receiver"}, {"dispatches", "dispatch"},
		{"emulators", "emulator"}, {"replays", "replay"}, {"senders", "sender"},
		{"finders", "finder"}, {"collectors", "collector"}, {"followers", "follower"}};
	const json_t *part;
	size_t index;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		json_array_foreach (json_object_get(answer, kinds[i].list), index, part) {
			print_part(kinds[i].one, part, out);
		}
	}
}

void
readout_print_status(const json_t *before, const json_t *answer, FILE *out)
{
	answer_make_printable(all_of(answer, NULL));
	print_links(before, answer, out);
	print_requests(json_object_get(answer, "requests"), out);
	print_parts(answer, out);
	if (!json_is_true(json_object_get(answer, "agree")))
		fprintf(out, "\nSUMS DO NOT AGREE: frames are unaccounted for\n");
}

static void
print_missing(const json_t *fragment, FILE *out)
{
	const json_t *missing = json_object_get(fragment, "missing"), *interval;
	size_t index;

	if (strcmp(answer_text(fragment, "answer"), "too_large") == 0)
		fprintf(out, "  %s\n",
			json_object_get(fragment, "why") != NULL
				? answer_text(fragment, "why")
				: "it has more frames than a fragment: ask for a shorter window");
	json_array_foreach (missing, index, interval) {
		if (index == NB_MISSING_MAX) {
			fprintf(out, "  and %zu more\n", json_array_size(missing) - index);
			break;
		}
		fprintf(out, "  missing: %s .. %s\n",
			json_string_value(json_array_get(interval, 0)),
			json_string_value(json_array_get(interval, 1)));
	}
	if (json_is_true(json_object_get(fragment, "missing_cut")))
		fprintf(out, "  the last of these spans more that are missing\n");
}

void
readout_print_fragments(const json_t *answer, FILE *out)
{
	const json_t *fragment;
	size_t index;

	answer_make_printable(all_of(answer, NULL));
	fprintf(out, "%-20s %-10s %10s %14s %10s  %s\n", "link", "answer", "frames", "bytes",
		"latency", "begin .. end");
	json_array_foreach (json_object_get(answer, "fragments"), index, fragment) {
		if (json_object_get(fragment, "refused") != NULL) {
			fprintf(out, "%-20s refused: %s\n", answer_text(fragment, "link"),
				answer_text(fragment, "refused"));
			continue;
		}
		fprintf(out,
			"%-20s %-10s %10" JSON_INTEGER_FORMAT " %14" JSON_INTEGER_FORMAT
			" %10s  %s .. %s\n",
			answer_text(fragment, "link"), answer_text(fragment, "answer"),
			report_int(fragment, "frames"), report_int(fragment, "bytes"),
			answer_duration(report_int(fragment, "latency_ns")),
			answer_text(fragment, "begin"), answer_text(fragment, "end"));
		print_missing(fragment, out);
	}
}
