/* SPDX-License-Identifier: BSD-3-Clause */
/* A readout's report as tables. */
#include <string.h>

#include "answer.h"
#include "links_report.h"
#include "report_text.h"

#define LATE_NS 1000000 /* emulated frames that are later are told of */

/* ", 3 gap, 1 late": counters by name, where there are any. */
static void
print_counts(const json_t *counts, const char *before, FILE *out)
{
	const json_t *value;
	const char *name, *between = before;

	/* jansson iterates over what may change only */
	json_object_foreach ((json_t *)(uintptr_t)counts, name, value) {
		fprintf(out, "%s%s %s", between, report_grouped(json_integer_value(value)), name);
		between = ", ";
	}
}

static void
print_queue(const json_t *queue, FILE *out)
{
	if (queue != NULL)
		fprintf(out, "  queue: %s of %s", report_grouped(report_int(queue, "queued")),
			report_grouped(report_int(queue, "size")));
}

static void
print_links(const json_t *links, FILE *out)
{
	const json_t *link;
	size_t index;

	fprintf(out, "\n  %-20s %-10s %12s %12s %8s %12s %10s %8s\n", "link", "format", "received",
		"buffered", "held", "delivered", "dropped", "missing");
	json_array_foreach (links, index, link) {
		fprintf(out, "  %-20s %-10s %12s %12s", report_text(link, "name"),
			report_text(link, "format"), report_grouped(report_int(link, "received")),
			report_grouped(report_int(link, "buffered")));
		fprintf(out, " %8s %12s %10s %8s", report_grouped(report_int(link, "held")),
			report_grouped(report_int(link, "delivered")),
			report_grouped(report_sum(json_object_get(link, "dropped"))),
			report_grouped(report_int(link, "missing")));
		print_counts(json_object_get(link, "dropped"), "  dropped: ", out);
		print_counts(json_object_get(link, "faults"), "  seen: ", out);
		print_queue(json_object_get(link, "queue"), out);
		fprintf(out, "\n");
	}
}

/* Of buffers, and for how many of their links there were hugepages. */
static void
print_memory(const json_t *links, FILE *out)
{
	json_int_t bytes = 0;
	size_t index, huge = 0;
	const json_t *link;

	json_array_foreach (links, index, link) {
		const json_t *buffer = json_object_get(link, "buffer");

		bytes += report_int(buffer, "memory_bytes");
		huge += json_is_true(json_object_get(buffer, "hugepages"));
	}
	fprintf(out, "  memory of buffers: %s MiB, in hugepages of %zu of %zu links\n",
		report_grouped(bytes >> 20), huge, json_array_size(links));
}

/* A receiver's queues, and what its device lost. */
static void
print_receiver(const json_t *feed, FILE *out)
{
	const json_t *device = json_object_get(feed, "device"), *queue;
	size_t index;

	json_array_foreach (json_object_get(feed, "queues"), index, queue) {
		fprintf(out,
			"  %-20s queue %-4zu %12s packets from the device, %s ARP replies, %s ",
			report_text(feed, "port"), index,
			report_grouped(report_int(queue, "received")),
			report_grouped(report_int(queue, "arp_replied")),
			report_grouped(report_int(queue, "full_bursts")));
		fprintf(out, "full bursts");
		print_counts(json_object_get(queue, "dropped"), "  dropped: ", out);
		fprintf(out, "\n");
	}
	if (device != NULL)
		fprintf(out,
			"  %-20s steering by %s; lost by the device: %s missed, %s for want of "
			"mbufs\n",
			report_text(feed, "port"), report_text(feed, "steering"),
			report_grouped(report_int(device, "imissed")),
			report_grouped(report_int(device, "rx_nombuf")));
}

static void
print_finders(const json_t *feed, FILE *out)
{
	const json_t *finder;
	size_t index;

	json_array_foreach (json_object_get(feed, "finders"), index, finder) {
		fprintf(out, "  %-20s %-10s %12s in %s frames, %s refused\n",
			report_text(finder, "link"), report_text(feed, "feed"),
			report_grouped(report_int(finder, "hits")),
			report_grouped(report_int(finder, "frames")),
			report_grouped(report_int(finder, "refused")));
	}
}

/* Those of plug-ins. */
static void
print_sources(const json_t *feed, FILE *out)
{
	const json_t *source;
	size_t index;

	json_array_foreach (json_object_get(feed, "sources"), index, source) {
		fprintf(out, "  %-20s %-10s %12s by %s, %s refused\n", report_text(source, "link"),
			report_text(feed, "feed"), report_grouped(report_int(source, "sent")),
			report_text(source, "process"),
			report_grouped(report_int(source, "refused")));
	}
}

static void
print_feed(const json_t *feed, FILE *out)
{
	const json_t *packets = json_object_get(feed, "packets"), *stream;
	size_t index;

	json_array_foreach (json_object_get(feed, "streams"), index, stream) {
		fprintf(out, "  %-20s %-10s %12s made, %s sent", report_text(stream, "link"),
			report_text(feed, "feed"), report_grouped(report_int(stream, "made")),
			report_grouped(report_int(stream, "sent")));
		if (report_int(stream, "no_mbuf") != 0)
			fprintf(out, ", %s lost for want of mbufs",
				report_grouped(report_int(stream, "no_mbuf")));
		if (report_int(stream, "late_ns") >= LATE_NS)
			fprintf(out, ", up to %s late",
				answer_duration(report_int(stream, "late_ns")));
		print_counts(json_object_get(stream, "faults"), "; faults: ", out);
		fprintf(out, "\n");
	}
	print_finders(feed, out);
	print_sources(feed, out);
	if (json_object_get(feed, "queued") != NULL)
		fprintf(out, "  %-20s %-10s %12s received, %s queued\n", report_text(feed, "to"),
			report_text(feed, "feed"), report_grouped(report_int(feed, "received")),
			report_grouped(report_int(feed, "queued")));
	if (json_object_get(feed, "input") != NULL)
		fprintf(out, "  %-20s %-10s %12s sent, input %s\n", report_text(feed, "to"),
			report_text(feed, "feed"), report_grouped(report_int(feed, "sent")),
			report_text(feed, "input"));
	print_receiver(feed, out);
	if (report_int(packets, "received") != report_int(packets, "links"))
		fprintf(out, "  %-20s %12s packets = %s of links + %s not UDP + %s truncated + ",
			report_text(feed, json_object_get(feed, "to") != NULL ? "to" : "port"),
			report_grouped(report_int(packets, "received")),
			report_grouped(report_int(packets, "links")),
			report_grouped(report_int(packets, "not_udp")),
			report_grouped(report_int(packets, "truncated")));
	if (report_int(packets, "received") != report_int(packets, "links"))
		fprintf(out, "%s of unknown streams\n",
			report_grouped(report_int(packets, "unknown_stream")));
}

/* Of functions before the buffer, what they dropped is all that is counted. */
static void
print_processes(const json_t *processes, FILE *out)
{
	const json_t *process;
	size_t index;

	if (json_array_size(processes) > 0)
		fprintf(out, "\n  %-20s %-20s %-8s %12s %12s %10s %10s\n", "process", "link",
			"where", "received", "passed", "missed", "waiting");
	json_array_foreach (processes, index, process) {
		fprintf(out, "  %-20s %-20s %s", report_text(process, "process"),
			report_text(process, "link"), report_text(process, "where"));
		if (json_object_get(process, "received") != NULL)
			fprintf(out, "%*s %12s %12s %10s %10s",
				8 - (int)strlen(report_text(process, "where")), "",
				report_grouped(report_int(process, "received")),
				report_grouped(report_int(process, "passed")),
				report_grouped(report_int(process, "missed")),
				report_grouped(report_int(process, "waiting")));
		print_counts(json_object_get(process, "dropped"), "  dropped: ", out);
		print_counts(json_object_get(process, "refused"), "  refused: ", out);
		if (report_int(process, "cancelled") + report_int(process, "exited") +
				report_int(process, "inside") !=
			0)
			fprintf(out, "  %s cancelled, %s exited, %s in jobs",
				report_grouped(report_int(process, "cancelled")),
				report_grouped(report_int(process, "exited")),
				report_grouped(report_int(process, "inside")));
		fprintf(out, "\n");
	}
}

static void
print_latency(const json_t *latency, const char *what, FILE *out)
{
	if (report_int(latency, "count") == 0)
		return;
	fprintf(out, "  %s %s: 50%% within %.1f us, 99%% %.1f us, 99.9%% %.1f us\n",
		report_grouped(report_int(latency, "count")), what,
		(double)report_int(latency, "p50") / 1e3, (double)report_int(latency, "p99") / 1e3,
		(double)report_int(latency, "p99.9") / 1e3);
}

static void
print_sender(const json_t *sender, FILE *out)
{
	if (sender == NULL)
		return;
	fprintf(out, "    to %s: %s taken = %s sent + %s queued + %s failed",
		report_text(sender, "path"), report_grouped(report_int(sender, "taken")),
		report_grouped(report_int(sender, "sent")),
		report_grouped(report_int(sender, "queued")),
		report_grouped(report_sum(json_object_get(sender, "failed"))));
	print_counts(json_object_get(sender, "failed"), ": ", out);
	fprintf(out, "; %s bytes\n", report_grouped(report_int(sender, "sent_bytes")));
}

static void
print_requests(const json_t *requests, FILE *out)
{
	const json_t *list = json_object_get(requests, "list"), *item;
	const json_t *latency = json_object_get(requests, "latency_ns");
	size_t index;

	if (report_int(requests, "requests") == 0 && json_array_size(list) == 0)
		return;
	fprintf(out, "\n  %-20s %10s %12s\n", "requests", "windows", "fragments");
	json_array_foreach (list, index, item) {
		fprintf(out, "  %-20s %10s %12s", report_text(item, "name"),
			report_grouped(report_int(item, "windows")),
			report_grouped(report_int(item, "fragments")));
		print_counts(json_object_get(item, "answered"), "  ", out);
		if (report_int(item, "skipped") != 0)
			fprintf(out, "; %s windows skipped",
				report_grouped(report_int(item, "skipped")));
		fprintf(out, "\n");
		print_sender(json_object_get(item, "to"), out);
	}
	fprintf(out, "\n  %s fragments asked for %s %s outstanding + %s answered",
		report_grouped(report_int(requests, "asked")),
		report_int(requests, "difference") == 0 ? "=" : "is NOT",
		report_grouped(report_int(requests, "outstanding")),
		report_grouped(report_sum(json_object_get(requests, "answered"))));
	fprintf(out, " + %s refused",
		report_grouped(report_sum(json_object_get(requests, "refused"))));
	print_counts(json_object_get(requests, "refused"), ": ", out);
	fprintf(out, "\n");
	print_latency(json_object_get(latency, "at_once"), "answered at once", out);
	print_latency(json_object_get(latency, "waited"), "waited for", out);
}

void
links_report_print(const json_t *readout, FILE *out)
{
	const json_t *frames = json_object_get(readout, "frames"), *feed;
	json_int_t left = report_int(frames, "received") - report_int(frames, "buffered") -
			  report_int(frames, "held") - report_int(frames, "delivered") -
			  report_int(frames, "dropped");
	size_t index;

	print_links(json_object_get(readout, "links"), out);
	fprintf(out, "\n  %s frames received %s %s buffered + %s held",
		report_grouped(report_int(frames, "received")), left == 0 ? "=" : "is NOT",
		report_grouped(report_int(frames, "buffered")),
		report_grouped(report_int(frames, "held")));
	fprintf(out, " + %s delivered + %s dropped\n",
		report_grouped(report_int(frames, "delivered")),
		report_grouped(report_int(frames, "dropped")));
	print_memory(json_object_get(readout, "links"), out);
	fprintf(out, "\n");
	json_array_foreach (json_object_get(readout, "feeds"), index, feed) {
		print_feed(feed, out);
	}
	print_processes(json_object_get(readout, "processes"), out);
	print_requests(json_object_get(readout, "requests"), out);
	if (!json_is_true(json_object_get(readout, "adds_up")))
		fprintf(out, "\n  the sums of the readout do NOT add up\n");
}
