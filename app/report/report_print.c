/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as tables. */
#include <inttypes.h>
#include <string.h>

#include "links_report.h"
#include "report.h"
#include "report_text.h"

static void
print_port_lines(const json_t *ports, FILE *out)
{
	static const struct {
		const char *key;
		const char *meaning;
	} troubles[] = {
		{"rx_missed", "lost by the device for want of descriptors"},
		{"rx_no_mbuf", "lost by the device for want of mbufs"},
		{"rx_errors", "damaged, lost by the device"},
		{"rx_truncated", "cut short in the capture"},
		{"tx_errors", "accepted by the device but not sent"},
	};
	const json_t *port;
	size_t index, i;

	json_array_foreach (ports, index, port) {
		for (i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++)
			if (report_int(port, troubles[i].key) != 0)
				fprintf(out, "  note      %-24s %12s  %s\n",
					report_text(port, "name"),
					report_grouped(report_int(port, troubles[i].key)),
					troubles[i].meaning);
		if (strcmp(report_text(port, "input"), "damaged") == 0)
			fprintf(out,
				"  note      %-24s %12s  its capture is damaged: what could be "
				"read was used\n",
				report_text(port, "name"), "");
	}
}

static void
print_ports(const json_t *ports, const char *label, const char *which, const char *packets,
	const char *bytes, FILE *out)
{
	const json_t *port;
	size_t index;

	json_array_foreach (ports, index, port) {
		if (!json_is_true(json_object_get(port, which)))
			continue;
		fprintf(out, "  %-9s %-24s %12s  %s bytes\n", label, report_text(port, "name"),
			report_grouped(report_int(port, packets)),
			report_grouped(report_int(port, bytes)));
	}
}

static void
print_reasons(const json_t *reasons, const char *label, FILE *out)
{
	const json_t *reason;
	size_t index;

	json_array_foreach (reasons, index, reason) {
		fprintf(out, "  %-9s %-24s %12s  %s\n", label, report_text(reason, "reason"),
			report_grouped(report_int(reason, "packets")),
			report_text(reason, "meaning"));
	}
}

static void
print_sum(const json_t *packets, FILE *out)
{
	fprintf(out, "\n  %s in", report_grouped(report_int(packets, "in")));
	if (report_int(packets, "fragmented") != 0)
		fprintf(out, " + %s fragments of %s cut",
			report_grouped(report_int(packets, "fragments")),
			report_grouped(report_int(packets, "fragmented")));
	fprintf(out, " %s %s out + %s dropped + %s punted",
		json_is_true(json_object_get(packets, "adds_up")) ? "=" : "is NOT",
		report_grouped(report_int(packets, "out")),
		report_grouped(report_int(packets, "dropped")),
		report_grouped(report_int(packets, "punted")));
	if (report_int(packets, "links") != 0)
		fprintf(out, " + %s to links", report_grouped(report_int(packets, "links")));
	if (report_int(packets, "discarded") != 0)
		fprintf(out, " + %s discarded", report_grouped(report_int(packets, "discarded")));
	if (report_int(packets, "taken") != 0)
		fprintf(out, " + %s taken by objects",
			report_grouped(report_int(packets, "taken")));
	if (report_int(packets, "queued") != 0)
		fprintf(out, " + %s in queues", report_grouped(report_int(packets, "queued")));
	if (!json_is_true(json_object_get(packets, "adds_up")))
		fprintf(out, ": %s packets are unaccounted for",
			report_grouped(report_int(packets, "difference")));
	fprintf(out, "\n");
}

static void
print_jobs(const json_t *jobs, FILE *out)
{
	const json_t *item;
	size_t index;

	if (json_array_size(jobs) > 0)
		fprintf(out, "\n  %-30s %-9s %12s %14s %14s\n", "jobs of", "work", "packets",
			"passed", "refused");
	json_array_foreach (jobs, index, item) {
		fprintf(out, "  %-30s %-9s %12s %14s %14s\n", report_text(item, "name"),
			report_text(item, "work"), report_grouped(report_int(item, "packets")),
			report_grouped(report_int(item, "passed")),
			report_grouped(report_int(item, "refused")));
	}
}

/* What plug-ins do with what they got is not known. */
static const char *
if_known(const json_t *item, const char *key)
{
	return json_object_get(item, key) != NULL ? report_grouped(report_int(item, key)) : "-";
}

static void
print_queues(const json_t *report, FILE *out)
{
	const json_t *queues = json_object_get(report, "queues"),
		     *objects = json_object_get(report, "objects"),
		     *cores = json_object_get(report, "cores"), *item;
	size_t index;

	if (json_array_size(queues) > 0)
		fprintf(out, "\n  %-30s %-9s %12s %14s %14s\n", "queue", "type", "packets",
			"received", "queued");
	json_array_foreach (queues, index, item) {
		fprintf(out, "  %-30s %-9s %12s %14s %14s\n", report_text(item, "name"),
			report_text(item, "type"), report_grouped(report_int(item, "sent")),
			report_grouped(report_int(item, "received")),
			report_grouped(report_int(item, "queued")));
	}
	if (json_array_size(objects) > 0)
		fprintf(out, "\n  %-30s %-9s %12s %14s %14s\n", "object", "receive", "packets",
			"forwarded", "bytes");
	json_array_foreach (objects, index, item) {
		fprintf(out, "  %-30s %-9s %12s %14s %14s\n", report_text(item, "name"),
			report_text(item, "receive"), report_grouped(report_int(item, "packets")),
			if_known(item, "forwarded"), if_known(item, "bytes"));
	}
	print_jobs(json_object_get(report, "jobs"), out);
	if (json_array_size(cores) > 0)
		fprintf(out, "\n  %-40s %12s %14s\n", "worker", "events", "events/call");
	json_array_foreach (cores, index, item) {
		fprintf(out, "  %-40" JSON_INTEGER_FORMAT " %12s %14.1f\n",
			report_int(item, "worker"), report_grouped(report_int(item, "received")),
			report_int(item, "calls") == 0 ? 0
						       : (double)report_int(item, "received") /
								 (double)report_int(item, "calls"));
	}
}

static void
print_cycles(const json_t *cycles, FILE *out)
{
	int period = (int)report_int(cycles, "clock_period");

	fprintf(out, "\n  Time per packet%32s %10s\n", "cycles", "ns");
	fprintf(out, "    budget: 100 Gb/s of 64-byte frames   %7.1f %10.2f\n",
		report_real(cycles, "budget_cycles"), report_real(cycles, "budget_ns"));
	if (!json_is_true(json_object_get(cycles, "counted"))) {
		fprintf(out, "    used: not counted (clock_period: 0)\n");
		return;
	}
	fprintf(out, "    used by the forwarding nodes         %7.1f %10.2f\n",
		report_real(cycles, "forwarding_cycles"), report_real(cycles, "forwarding_ns"));
	fprintf(out, "    used in all, with input and output   %7.1f %10.2f\n",
		report_real(cycles, "used_cycles"), report_real(cycles, "used_ns"));
	if (period > 1)
		fprintf(out, "    (cycles of %.2f GHz, counted in one of %d walks and scaled)\n",
			report_real(cycles, "hz") / 1e9, period);
	else
		fprintf(out, "    (cycles of %.2f GHz, counted in every walk)\n",
			report_real(cycles, "hz") / 1e9);
}

/* "pcap_tx-2 north": the node, and whose it is. */
static const char *
node_title(const json_t *node)
{
	static __thread char title[128];

	snprintf(title, sizeof(title), "%s %s", report_text(node, "name"),
		report_text(node, "port"));
	return title;
}

static void
print_nodes(const json_t *nodes, FILE *out)
{
	const json_t *node;
	size_t index;

	fprintf(out, "\n  %-30s %12s %14s %14s %14s\n", "node", "calls", "packets", "packets/call",
		"cycles/packet");
	json_array_foreach (nodes, index, node) {
		fprintf(out, "  %-30s %12s %14s %14.1f %14.1f\n", node_title(node),
			report_grouped(report_int(node, "calls")),
			report_grouped(report_int(node, "packets")),
			report_real(node, "packets_per_call"),
			report_real(node, "cycles_per_packet"));
	}
}

static void
print_packets(const json_t *report, FILE *out)
{
	const json_t *packets = json_object_get(report, "packets"),
		     *ports = json_object_get(report, "ports");
	const json_t *routes = json_object_get(report, "routes"),
		     *cycles = json_object_get(report, "cycles");

	fprintf(out, "  %s IPv4 and %s IPv6 routes, loaded in %.2f s\n\n",
		report_grouped(report_int(routes, "ip4")),
		report_grouped(report_int(routes, "ip6")), report_real(routes, "load_s"));
	fprintf(out, "  %-34s %12s\n", "", "packets");
	print_ports(ports, "in", "receives", "rx_packets", "rx_bytes", out);
	print_ports(ports, "out", "transmits", "tx_packets", "tx_bytes", out);
	print_reasons(json_object_get(report, "dropped"), "dropped", out);
	print_reasons(json_object_get(report, "punted"), "punted", out);
	print_port_lines(ports, out);
	print_sum(packets, out);
	print_queues(report, out);
	print_cycles(cycles, out);
	print_nodes(json_object_get(report, "nodes"), out);
	if (report_int(cycles, "idle_walks") > report_int(cycles, "walks") / 2)
		fprintf(out, "  (cycles of receive nodes are mostly those of polls that found "
			     "nothing)\n");
}

/* "demo (finished): 1,000 packets in 2.0 s, 500.0 pps; 30,000 frames of links". */
static void
print_title(const json_t *report, FILE *out)
{
	const json_t *packets = json_object_get(report, "packets");
	const json_t *readout = json_object_get(report, "readout");

	fprintf(out, "%s (%s):", report_text(report, "instance"), report_text(report, "state"));
	if (packets != NULL)
		fprintf(out, " %s packets in %s, %s", report_grouped(report_int(packets, "in")),
			report_time(report_real(report, "elapsed_s")),
			report_rate(report_real(json_object_get(report, "rate"), "in_pps")));
	if (readout != NULL)
		fprintf(out, "%s %s frames of %zu links in %s", packets != NULL ? ";" : "",
			report_grouped(report_int(json_object_get(readout, "frames"), "received")),
			json_array_size(json_object_get(readout, "links")),
			report_time(report_real(report, "elapsed_s")));
	fprintf(out, "\n");
}

void
report_print(const json_t *report, FILE *out)
{
	const json_t *readout = json_object_get(report, "readout");

	print_title(report, out);
	if (json_object_get(report, "packets") != NULL)
		print_packets(report, out);
	if (readout != NULL)
		links_report_print(readout, out);
}

static double
change(const json_t *before, const json_t *now, const char *key)
{
	return (double)(report_int(now, key) - (before != NULL ? report_int(before, key) : 0));
}

/* The item of a list of objects whose `key` is `name`. */
static const json_t *
find(const json_t *list, const char *key, const char *name)
{
	const json_t *item;
	size_t index;

	json_array_foreach (list, index, item) {
		if (strcmp(report_text(item, key), name) == 0)
			return item;
	}
	return NULL;
}

static void
print_node_rates(const json_t *before, const json_t *report, double seconds, FILE *out)
{
	const json_t *nodes = json_object_get(report, "nodes"), *node, *old;
	double packets, calls;
	size_t index;

	fprintf(out, "\n  %-30s %14s %14s %14s\n", "node", "packets/s", "packets/call",
		"cycles/packet");
	json_array_foreach (nodes, index, node) {
		old = before != NULL ? find(json_object_get(before, "nodes"), "name",
					       report_text(node, "name"))
				     : NULL;
		packets = change(old, node, "packets");
		calls = change(old, node, "calls");
		fprintf(out, "  %-30s %14s %14.1f %14.1f\n", node_title(node),
			report_rate(packets / seconds), calls > 0 ? packets / calls : 0,
			packets > 0 ? change(old, node, "cycles") / packets : 0);
	}
}

static void
print_packet_rates(const json_t *before, const json_t *report, double seconds, FILE *out)
{
	const json_t *old_packets = before != NULL ? json_object_get(before, "packets") : NULL;
	const json_t *packets = json_object_get(report, "packets"),
		     *ports = json_object_get(report, "ports");
	const json_t *port, *old;
	size_t index;

	fprintf(out, "%s (%s) for %s: in %s, out %s, dropped %s, punted %s\n\n",
		report_text(report, "instance"), report_text(report, "state"),
		report_time(report_real(report, "elapsed_s")),
		report_rate(change(old_packets, packets, "in") / seconds),
		report_rate(change(old_packets, packets, "out") / seconds),
		report_rate(change(old_packets, packets, "dropped") / seconds),
		report_rate(change(old_packets, packets, "punted") / seconds));
	fprintf(out, "  %-30s %14s %14s %16s %16s\n", "port", "in", "out", "packets in",
		"packets out");
	json_array_foreach (ports, index, port) {
		old = before != NULL ? find(json_object_get(before, "ports"), "name",
					       report_text(port, "name"))
				     : NULL;
		fprintf(out, "  %-30s %14s %14s %16s %16s\n", report_text(port, "name"),
			report_rate(change(old, port, "rx_packets") / seconds),
			report_rate(change(old, port, "tx_packets") / seconds),
			report_grouped(report_int(port, "rx_packets")),
			report_grouped(report_int(port, "tx_packets")));
	}
	print_node_rates(before, report, seconds, out);
}

void
report_print_rates(const json_t *before, const json_t *report, FILE *out)
{
	double seconds = report_real(report, "elapsed_s") -
			 (before != NULL ? report_real(before, "elapsed_s") : 0);

	if (json_object_get(report, "packets") == NULL) {
		report_print(report, out);
		return;
	}
	print_packet_rates(before, report, seconds > 0 ? seconds : 1e-9, out);
	if (json_object_get(report, "readout") != NULL)
		links_report_print(json_object_get(report, "readout"), out);
}

/* Buckets of [low, high, count], those below each power of two taken together. @unit: of what they count, in @name. */
static void
print_buckets(const json_t *buckets, double unit, const char *name, FILE *out)
{
	json_int_t bound = 1, count = 0, low;
	const json_t *bucket;
	size_t index;

	json_array_foreach (buckets, index, bucket) {
		low = json_integer_value(json_array_get(bucket, 0));
		if (low >= bound) {
			if (count > 0)
				fprintf(out, "    below %10.1f %-5s %14s\n", (double)bound * unit,
					name, report_grouped(count));
			count = 0;
			while (low >= bound)
				bound *= 2;
		}
		count += json_integer_value(json_array_get(bucket, 2));
	}
	if (count > 0)
		fprintf(out, "    below %10.1f %-5s %14s\n", (double)bound * unit, name,
			report_grouped(count));
}

static double
get_us(const json_t *json, const char *key)
{
	return (double)report_int(json_object_get(json, key), "ns") / 1e3;
}

/* A slice that is not to end is as long as can be. */
#define YEAR_US 31557600e6

static void
print_coro_slices(const json_t *slices, FILE *out)
{
	const json_t *most = json_object_get(slices, "max");
	json_int_t cycles = report_int(most, "cycles");
	const double us = get_us(slices, "configured");

	if (us < YEAR_US)
		fprintf(out, "  slices of %.1f us", us);
	else
		fprintf(out, "  slices without an end");
	fprintf(out, "; measured: %s", report_grouped(report_int(slices, "count")));
	if (report_int(slices, "count") > 0)
		fprintf(out, "; half of them at most %.1f us, 99 of 100 %.1f us, all %.1f us",
			get_us(slices, "p50"), get_us(slices, "p99"), get_us(slices, "max"));
	fprintf(out, "\n");
	if (cycles > 0)
		print_buckets(json_object_get(slices, "buckets"),
			get_us(slices, "max") / (double)cycles, "us", out);
}

static void
print_coro_stacks(const json_t *stacks, FILE *out)
{
	fprintf(out, "  stacks of %s bytes, %s resident in all; used: %s, at most %s bytes\n",
		report_grouped(report_int(stacks, "size")),
		report_grouped(report_int(stacks, "resident")),
		report_grouped(report_int(stacks, "count")),
		report_grouped(report_int(stacks, "high_water")));
	print_buckets(json_object_get(stacks, "buckets"), 1, "bytes", out);
}

void
report_print_coro(const json_t *answer, FILE *out)
{
	const json_t *classes = json_object_get(answer, "classes"), *class;
	const json_t *misuse = json_object_get(answer, "misuse"), *count;
	const char *kind;
	size_t index;

	if (json_array_size(classes) == 0)
		fprintf(out, "no coroutines\n");
	json_array_foreach (classes, index, class) {
		fprintf(out, "class %s: %s of %s live, %s at most; guard: %s\n",
			report_grouped(report_int(class, "class")),
			report_grouped(report_int(class, "live")),
			report_grouped(report_int(class, "max")),
			report_grouped(report_int(class, "peak")), report_text(class, "guard"));
		fprintf(out, "  created %s, exited %s, switches %s, slices twice as long %s\n",
			report_grouped(report_int(class, "created")),
			report_grouped(report_int(class, "exited")),
			report_grouped(report_int(class, "switches")),
			report_grouped(report_int(class, "overruns")));
		print_coro_slices(json_object_get(class, "slices"), out);
		print_coro_stacks(json_object_get(class, "stack_bytes"), out);
	}
	json_object_foreach ((json_t *)(uintptr_t)misuse, kind, count) {
		if (json_integer_value(count) != 0)
			fprintf(out, "refused: %s %s\n", kind,
				report_grouped(json_integer_value(count)));
	}
}
