/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as tables. */
#include <inttypes.h>
#include <string.h>

#include "report.h"

static json_int_t
get_int(const json_t *json, const char *key)
{
	return json_integer_value(json_object_get(json, key));
}

static double
get_real(const json_t *json, const char *key)
{
	return json_number_value(json_object_get(json, key));
}

static const char *
get_text(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text != NULL ? text : "";
}

/* 1234567 as 1,234,567. Four results are kept, so that one printf() can have several. */
static const char *
grouped(json_int_t value)
{
	static __thread char texts[4][32];
	static __thread unsigned int next;
	char digits[24], *text = texts[next++ % 4];
	size_t length, i, used = 0;

	snprintf(digits, sizeof(digits), "%" JSON_INTEGER_FORMAT, value);
	length = strlen(digits);
	for (i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
			text[used++] = ',';
		text[used++] = digits[i];
	}
	text[used] = '\0';
	return text;
}

static const char *
rate_text(double pps)
{
	static __thread char texts[4][32];
	static __thread unsigned int next;
	char *text = texts[next++ % 4];

	if (pps >= 1e6)
		snprintf(text, sizeof(texts[0]), "%.2f Mpps", pps / 1e6);
	else if (pps >= 1e3)
		snprintf(text, sizeof(texts[0]), "%.1f kpps", pps / 1e3);
	else
		snprintf(text, sizeof(texts[0]), "%.1f pps", pps);
	return text;
}

static const char *
time_text(double seconds)
{
	static __thread char text[32];

	if (seconds < 1)
		snprintf(text, sizeof(text), "%.1f ms", seconds * 1e3);
	else
		snprintf(text, sizeof(text), "%.1f s", seconds);
	return text;
}

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
			if (get_int(port, troubles[i].key) != 0)
				fprintf(out, "  note      %-24s %12s  %s\n", get_text(port, "name"),
					grouped(get_int(port, troubles[i].key)),
					troubles[i].meaning);
		if (strcmp(get_text(port, "input"), "damaged") == 0)
			fprintf(out,
				"  note      %-24s %12s  its capture is damaged: what could be "
				"read was used\n",
				get_text(port, "name"), "");
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
		fprintf(out, "  %-9s %-24s %12s  %s bytes\n", label, get_text(port, "name"),
			grouped(get_int(port, packets)), grouped(get_int(port, bytes)));
	}
}

static void
print_reasons(const json_t *reasons, const char *label, FILE *out)
{
	const json_t *reason;
	size_t index;

	json_array_foreach (reasons, index, reason) {
		fprintf(out, "  %-9s %-24s %12s  %s\n", label, get_text(reason, "reason"),
			grouped(get_int(reason, "packets")), get_text(reason, "meaning"));
	}
}

static void
print_sum(const json_t *packets, FILE *out)
{
	fprintf(out, "\n  %s in", grouped(get_int(packets, "in")));
	if (get_int(packets, "fragmented") != 0)
		fprintf(out, " + %s fragments of %s cut", grouped(get_int(packets, "fragments")),
			grouped(get_int(packets, "fragmented")));
	fprintf(out, " %s %s out + %s dropped + %s punted",
		json_is_true(json_object_get(packets, "adds_up")) ? "=" : "is NOT",
		grouped(get_int(packets, "out")), grouped(get_int(packets, "dropped")),
		grouped(get_int(packets, "punted")));
	if (get_int(packets, "discarded") != 0)
		fprintf(out, " + %s discarded", grouped(get_int(packets, "discarded")));
	if (get_int(packets, "taken") != 0)
		fprintf(out, " + %s taken by objects", grouped(get_int(packets, "taken")));
	if (get_int(packets, "queued") != 0)
		fprintf(out, " + %s in queues", grouped(get_int(packets, "queued")));
	if (!json_is_true(json_object_get(packets, "adds_up")))
		fprintf(out, ": %s packets are unaccounted for",
			grouped(get_int(packets, "difference")));
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
		fprintf(out, "  %-30s %-9s %12s %14s %14s\n", get_text(item, "name"),
			get_text(item, "work"), grouped(get_int(item, "packets")),
			grouped(get_int(item, "passed")), grouped(get_int(item, "refused")));
	}
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
		fprintf(out, "  %-30s %-9s %12s %14s %14s\n", get_text(item, "name"),
			get_text(item, "type"), grouped(get_int(item, "sent")),
			grouped(get_int(item, "received")), grouped(get_int(item, "queued")));
	}
	if (json_array_size(objects) > 0)
		fprintf(out, "\n  %-30s %-9s %12s %14s %14s\n", "object", "receive", "packets",
			"forwarded", "bytes");
	json_array_foreach (objects, index, item) {
		fprintf(out, "  %-30s %-9s %12s %14s %14s\n", get_text(item, "name"),
			get_text(item, "receive"), grouped(get_int(item, "packets")),
			grouped(get_int(item, "forwarded")), grouped(get_int(item, "bytes")));
	}
	print_jobs(json_object_get(report, "jobs"), out);
	if (json_array_size(cores) > 0)
		fprintf(out, "\n  %-40s %12s %14s\n", "worker", "events", "events/call");
	json_array_foreach (cores, index, item) {
		fprintf(out, "  %-40" JSON_INTEGER_FORMAT " %12s %14.1f\n", get_int(item, "worker"),
			grouped(get_int(item, "received")),
			get_int(item, "calls") == 0 ? 0
						    : (double)get_int(item, "received") /
							      (double)get_int(item, "calls"));
	}
}

static void
print_cycles(const json_t *cycles, FILE *out)
{
	int period = (int)get_int(cycles, "clock_period");

	fprintf(out, "\n  Time per packet%32s %10s\n", "cycles", "ns");
	fprintf(out, "    budget: 100 Gb/s of 64-byte frames   %7.1f %10.2f\n",
		get_real(cycles, "budget_cycles"), get_real(cycles, "budget_ns"));
	if (!json_is_true(json_object_get(cycles, "counted"))) {
		fprintf(out, "    used: not counted (clock_period: 0)\n");
		return;
	}
	fprintf(out, "    used by the forwarding nodes         %7.1f %10.2f\n",
		get_real(cycles, "forwarding_cycles"), get_real(cycles, "forwarding_ns"));
	fprintf(out, "    used in all, with input and output   %7.1f %10.2f\n",
		get_real(cycles, "used_cycles"), get_real(cycles, "used_ns"));
	if (period > 1)
		fprintf(out, "    (cycles of %.2f GHz, counted in one of %d walks and scaled)\n",
			get_real(cycles, "hz") / 1e9, period);
	else
		fprintf(out, "    (cycles of %.2f GHz, counted in every walk)\n",
			get_real(cycles, "hz") / 1e9);
}

/* "pcap_tx-2 north": the node, and whose it is. */
static const char *
node_title(const json_t *node)
{
	static __thread char title[128];

	snprintf(title, sizeof(title), "%s %s", get_text(node, "name"), get_text(node, "port"));
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
			grouped(get_int(node, "calls")), grouped(get_int(node, "packets")),
			get_real(node, "packets_per_call"), get_real(node, "cycles_per_packet"));
	}
}

void
report_print(const json_t *report, FILE *out)
{
	const json_t *packets = json_object_get(report, "packets"),
		     *ports = json_object_get(report, "ports");
	const json_t *routes = json_object_get(report, "routes"),
		     *rate = json_object_get(report, "rate"),
		     *cycles = json_object_get(report, "cycles");

	fprintf(out, "%s (%s): %s packets in %s, %s\n", get_text(report, "instance"),
		get_text(report, "state"), grouped(get_int(packets, "in")),
		time_text(get_real(report, "elapsed_s")), rate_text(get_real(rate, "in_pps")));
	fprintf(out, "  %s IPv4 and %s IPv6 routes, loaded in %.2f s\n\n",
		grouped(get_int(routes, "ip4")), grouped(get_int(routes, "ip6")),
		get_real(routes, "load_s"));
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
	if (get_int(cycles, "idle_walks") > get_int(cycles, "walks") / 2)
		fprintf(out, "  (cycles of receive nodes are mostly those of polls that found "
			     "nothing)\n");
}

static double
change(const json_t *before, const json_t *now, const char *key)
{
	return (double)(get_int(now, key) - (before != NULL ? get_int(before, key) : 0));
}

/* The item of a list of objects whose `key` is `name`. */
static const json_t *
find(const json_t *list, const char *key, const char *name)
{
	const json_t *item;
	size_t index;

	json_array_foreach (list, index, item) {
		if (strcmp(get_text(item, key), name) == 0)
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
					       get_text(node, "name"))
				     : NULL;
		packets = change(old, node, "packets");
		calls = change(old, node, "calls");
		fprintf(out, "  %-30s %14s %14.1f %14.1f\n", node_title(node),
			rate_text(packets / seconds), calls > 0 ? packets / calls : 0,
			packets > 0 ? change(old, node, "cycles") / packets : 0);
	}
}

void
report_print_rates(const json_t *before, const json_t *report, FILE *out)
{
	const json_t *old_packets = before != NULL ? json_object_get(before, "packets") : NULL;
	const json_t *packets = json_object_get(report, "packets"),
		     *ports = json_object_get(report, "ports");
	const json_t *port, *old;
	double seconds = get_real(report, "elapsed_s") -
			 (before != NULL ? get_real(before, "elapsed_s") : 0);
	size_t index;

	if (seconds <= 0)
		seconds = 1e-9;
	fprintf(out, "%s (%s) for %s: in %s, out %s, dropped %s, punted %s\n\n",
		get_text(report, "instance"), get_text(report, "state"),
		time_text(get_real(report, "elapsed_s")),
		rate_text(change(old_packets, packets, "in") / seconds),
		rate_text(change(old_packets, packets, "out") / seconds),
		rate_text(change(old_packets, packets, "dropped") / seconds),
		rate_text(change(old_packets, packets, "punted") / seconds));
	fprintf(out, "  %-30s %14s %14s %16s %16s\n", "port", "in", "out", "packets in",
		"packets out");
	json_array_foreach (ports, index, port) {
		old = before != NULL ? find(json_object_get(before, "ports"), "name",
					       get_text(port, "name"))
				     : NULL;
		fprintf(out, "  %-30s %14s %14s %16s %16s\n", get_text(port, "name"),
			rate_text(change(old, port, "rx_packets") / seconds),
			rate_text(change(old, port, "tx_packets") / seconds),
			grouped(get_int(port, "rx_packets")), grouped(get_int(port, "tx_packets")));
	}
	print_node_rates(before, report, seconds, out);
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
					name, grouped(count));
			count = 0;
			while (low >= bound)
				bound *= 2;
		}
		count += json_integer_value(json_array_get(bucket, 2));
	}
	if (count > 0)
		fprintf(out, "    below %10.1f %-5s %14s\n", (double)bound * unit, name,
			grouped(count));
}

static double
get_us(const json_t *json, const char *key)
{
	return (double)get_int(json_object_get(json, key), "ns") / 1e3;
}

static void
print_coro_slices(const json_t *slices, FILE *out)
{
	const json_t *most = json_object_get(slices, "max");
	json_int_t cycles = get_int(most, "cycles");

	fprintf(out, "  slices of %.1f us; measured: %s", get_us(slices, "configured"),
		grouped(get_int(slices, "count")));
	if (get_int(slices, "count") > 0)
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
		grouped(get_int(stacks, "size")), grouped(get_int(stacks, "resident")),
		grouped(get_int(stacks, "count")), grouped(get_int(stacks, "high_water")));
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
			grouped(get_int(class, "class")), grouped(get_int(class, "live")),
			grouped(get_int(class, "max")), grouped(get_int(class, "peak")),
			get_text(class, "guard"));
		fprintf(out, "  created %s, exited %s, switches %s, slices twice as long %s\n",
			grouped(get_int(class, "created")), grouped(get_int(class, "exited")),
			grouped(get_int(class, "switches")), grouped(get_int(class, "overruns")));
		print_coro_slices(json_object_get(class, "slices"), out);
		print_coro_stacks(json_object_get(class, "stack_bytes"), out);
	}
	json_object_foreach ((json_t *)(uintptr_t)misuse, kind, count) {
		if (json_integer_value(count) != 0)
			fprintf(out, "refused: %s %s\n", kind, grouped(json_integer_value(count)));
	}
}
