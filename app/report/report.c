/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the counters of an instance into one JSON object. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir_base.h>
#include <weir_graph.h>
#include <weir_node.h>

#include "dot.h"
#include "instance.h"
#include "report.h"
#include "report_counts.h"
#include "report_text.h"

/*
 * The least time between two packets of a full link: a frame of 64 bytes has
 * 8 bytes of preamble before it and a gap of 12 after it.
 */
#define BUDGET_LINK_BPS   100e9
#define BUDGET_WIRE_BYTES (64 + 8 + 12)

static double
per(double value, uint64_t count)
{
	return count > 0 ? value / (double)count : 0;
}

/* Nodes that bring packets in or take them out, rather than decide where they go. */
static bool
is_io_node(const char *name)
{
	static const char *const io[] = {"ethdev_rx", "ethdev_tx", "pcap_rx", "pcap_tx", "link_rx",
		"sched_rx", "sched_tx", "job", "punt", "drop", "null"};
	size_t length, i;

	for (i = 0; i < sizeof(io) / sizeof(io[0]); i++) {
		length = strlen(io[i]);
		if (strncmp(name, io[i], length) == 0 &&
			(name[length] == '\0' || name[length] == '-'))
			return true;
	}
	return false;
}

/* What went from graph to graph as events is one of these: em_report_add() looks into that. */
static json_t *
totals_json(const struct report_counts *counts)
{
	const struct weir_node_totals *totals = &counts->totals;
	int64_t difference =
		(int64_t)(totals->received + totals->fragments - totals->fragmented - totals->sent -
			  totals->dropped - totals->punted - totals->discarded) -
		(int64_t)(counts->to_queues - counts->from_queues) - (int64_t)counts->to_links;

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "in",
		report_counter(totals->received), "out", report_counter(totals->sent), "dropped",
		report_counter(totals->dropped), "punted", report_counter(totals->punted),
		"discarded", report_counter(totals->discarded), "fragmented",
		report_counter(totals->fragmented), "fragments", report_counter(totals->fragments),
		"links", report_counter(counts->to_links), "difference", (json_int_t)difference,
		"adds_up", difference == 0);
}

static bool
is_polled(const struct config_port *port)
{
	uint16_t queue;

	for (queue = 0; queue < port->nb_rx_queues; queue++)
		if (port->polled[queue])
			return true;
	return false;
}

/* What went through is from the snapshot; what the device lost is asked of it now. */
static json_t *
port_json(const struct instance *instance, unsigned int index, const struct report_counts *counts)
{
	const struct config_port *port = &instance->config->ports[index];
	uint16_t id = instance->port_ids[index];
	const struct report_port_counts *count = &counts->ports[id];
	struct weir_node_port_stats device = {0};
	int ended;
	json_t *json;

	weir_node_port_stats(id, &device);
	json = json_pack("{s:s, s:s, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		"name", port->name, "device", port->device != NULL ? port->device : "pcap",
		"receives", is_polled(port), "transmits",
		port->device != NULL || port->pcap_out != NULL, "rx_packets",
		report_counter(count->rx_packets), "rx_bytes", report_counter(count->rx_bytes),
		"rx_missed", report_counter(device.rx_missed), "rx_no_mbuf",
		report_counter(device.rx_no_mbuf), "rx_errors", report_counter(device.rx_errors),
		"rx_truncated", report_counter(count->rx_truncated), "tx_packets",
		report_counter(count->tx_packets), "tx_bytes", report_counter(count->tx_bytes),
		"tx_errors", report_counter(device.tx_errors), "tx_full_dropped",
		report_counter(count->tx_full));
	if (port->pcap_in != NULL) {
		ended = weir_node_port_input_ended(id);
		json_object_set_new(json, "input",
			json_string(ended == 0  ? "open"
				    : ended > 0 ? "ended"
						: "damaged"));
	}
	return json;
}

static json_t *
ports_json(const struct instance *instance, const struct report_counts *counts)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < instance->config->nb_ports; i++)
		json_array_append_new(list, port_json(instance, i, counts));
	return list;
}

static json_t *
reasons_json(const uint64_t *packets)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < WEIR_NODE_REASON_COUNT; i++)
		if (packets[i] != 0)
			json_array_append_new(
				list, json_pack("{s:s, s:I, s:s}", "reason",
					      weir_node_reason_name((enum weir_node_reason)i),
					      "packets", report_counter(packets[i]), "meaning",
					      weir_node_reason_help((enum weir_node_reason)i)));
	return list;
}

static json_t *
node_json(const struct instance *instance, const struct weir_graph_node_stats *node)
{
	const char *port = dot_port_of_node(instance, node->name);
	json_t *json = json_pack("{s:s, s:b, s:I, s:I, s:f, s:I, s:f, s:I}", "name", node->name,
		"io", is_io_node(node->name), "calls", report_counter(node->calls), "packets",
		report_counter(node->objs), "packets_per_call",
		per((double)node->objs, node->calls), "cycles", report_counter(node->cycles),
		"cycles_per_packet", per((double)node->cycles, node->objs), "overflow",
		report_counter(node->overflow));

	if (port != NULL)
		json_object_set_new(json, "port", json_string(port));
	return json;
}

static json_t *
nodes_json(const struct instance *instance, const struct weir_graph_cluster_stats *stats,
	uint64_t *forwarding_cycles)
{
	json_t *list = json_array();
	uint32_t i;

	*forwarding_cycles = 0;
	for (i = 0; i < stats->nb_nodes; i++) {
		if (!is_io_node(stats->nodes[i].name))
			*forwarding_cycles += stats->nodes[i].cycles;
		json_array_append_new(list, node_json(instance, &stats->nodes[i]));
	}
	return list;
}

static json_t *
cycles_json(
	const struct weir_graph_cluster_stats *stats, uint64_t received, uint64_t forwarding_cycles)
{
	double hz = (double)weir_base_cycles_hz();
	double budget_s = BUDGET_WIRE_BYTES * 8 / BUDGET_LINK_BPS;
	double used = per((double)stats->busy_cycles, received);
	double forwarding = per((double)forwarding_cycles, received);
	bool timed = stats->clock_period != UINT16_MAX;

	return json_pack("{s:f, s:b, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I}", "hz",
		hz, "counted", timed, "clock_period", (int)stats->clock_period, "budget_ns",
		budget_s * 1e9, "budget_cycles", budget_s * hz, "used_cycles", used, "used_ns",
		used / hz * 1e9, "forwarding_cycles", forwarding, "forwarding_ns",
		forwarding / hz * 1e9, "busy", report_counter(stats->busy_cycles), "idle",
		report_counter(stats->idle_cycles), "walks", report_counter(stats->walks),
		"idle_walks", report_counter(stats->idle_walks));
}

/* All from one look: each worker's counters as they were between two of its walks. */
static int
add_packets(struct instance *instance, json_t *report)
{
	const struct config_links *shared = &instance->config->links;
	const struct weir_graph_cluster_stats *stats;
	struct report_counts *counts = malloc(sizeof(*counts));
	uint64_t forwarding_cycles;
	unsigned int i;
	int error;

	if (counts == NULL)
		return -ENOMEM;
	error = weir_graph_cluster_get(instance->cluster, &stats);
	if (error == 0) {
		report_counts_sum(stats, counts);
		for (i = 0; i < shared->nb_shared; i++)
			report_counts_add_shared(stats, shared->shared[i].name,
				instance->port_ids[shared->shared[i].port], counts);
		json_object_set_new(report, "packets", totals_json(counts));
		json_object_set_new(
			report, "nodes", nodes_json(instance, stats, &forwarding_cycles));
		json_object_set_new(report, "cycles",
			cycles_json(stats, counts->totals.received, forwarding_cycles));
		json_object_set_new(report, "ports", ports_json(instance, counts));
		json_object_set_new(report, "dropped", reasons_json(counts->dropped));
		json_object_set_new(report, "punted", reasons_json(counts->punted));
		if (instance->em.em != NULL)
			em_report_add(&instance->em, instance->config, counts,
				__atomic_load_n(&instance->end_ns, __ATOMIC_RELAXED) != 0, report);
	}
	free(counts);
	return error;
}

static int
add_counters(struct instance *instance, json_t *report)
{
	int error = 0;

	pthread_mutex_lock(&instance->look_lock);
	if (instance->cluster != NULL)
		error = add_packets(instance, report);
	if (error == 0 && instance->links.registry != NULL)
		links_report_add(&instance->links, instance->config,
			__atomic_load_n(&instance->start_ns, __ATOMIC_RELAXED) != 0,
			__atomic_load_n(&instance->end_ns, __ATOMIC_RELAXED) != 0, report);
	pthread_mutex_unlock(&instance->look_lock);
	return error;
}

static void
add_rates(json_t *report, uint64_t elapsed_ns)
{
	json_t *packets = json_object_get(report, "packets");
	double seconds = (double)elapsed_ns / 1e9;
	double in = (double)json_integer_value(json_object_get(packets, "in"));
	double out = (double)json_integer_value(json_object_get(packets, "out"));

	json_object_set_new(report, "rate",
		json_pack("{s:f, s:f, s:f}", "in_pps", seconds > 0 ? in / seconds : 0, "out_pps",
			seconds > 0 ? out / seconds : 0, "ns_per_packet",
			in > 0 ? (double)elapsed_ns / in : 0));
}

int
report_collect(struct instance *instance, json_t **report)
{
	uint64_t start_ns = __atomic_load_n(&instance->start_ns, __ATOMIC_RELAXED);
	uint64_t end_ns = __atomic_load_n(&instance->end_ns, __ATOMIC_RELAXED);
	uint64_t elapsed_ns =
		start_ns == 0 ? 0 : (end_ns != 0 ? end_ns : weir_base_time_ns()) - start_ns;
	json_t *json;
	int error;

	json = json_pack("{s:s, s:s, s:i, s:s, s:f, s:i, s:i, s:b, s:b, s:{s:i, s:i, s:f}}",
		"instance", instance->config->name, "file", instance->config->path, "pid",
		(int)getpid(), "state", __atomic_load_n(&instance->state, __ATOMIC_RELAXED),
		"elapsed_s", (double)elapsed_ns / 1e9, "workers", (int)instance->config->nb_workers,
		"cpus", (int)instance->eal.nb_cpus, "crowded", instance->eal.crowded, "hugepages",
		instance->eal.huge, "routes", "ip4", (int)instance->routes.ip4_routes, "ip6",
		(int)instance->routes.ip6_routes, "load_s", (double)instance->routes.time_ns / 1e9);
	if (json == NULL)
		return -ENOMEM;
	error = add_counters(instance, json);
	if (error < 0) {
		json_decref(json);
		return error;
	}
	if (instance->cluster != NULL)
		add_rates(json, elapsed_ns);
	*report = json;
	return 0;
}

int
report_adds_up(const json_t *report)
{
	const json_t *packets = json_object_get(report, "packets");
	const json_t *readout = json_object_get(report, "readout");

	return (packets == NULL || json_is_true(json_object_get(packets, "adds_up"))) &&
	       (readout == NULL || json_is_true(json_object_get(readout, "adds_up"))) &&
	       (packets != NULL || readout != NULL);
}
