/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with packets: the graph, next hops, routes. */
#include <stdlib.h>
#include <string.h>

#include <weir_bridge_job.h>
#include <weir_readout_format.h>

#include "hops.h"
#include "schema.h"
#include "wiring.h"

static bool
check_hop_ids(const char *text)
{
	uint32_t first, last;

	return hops_parse_ids(text, &first, &last) == 0;
}

static bool
check_edge(const char *text)
{
	struct wiring_edge edge;

	return wiring_parse_edge(text, &edge) == 0;
}

static const struct weir_base_doc_key neighbour_keys[] = {
	{
		.name = "id",
		.kind = WEIR_BASE_DOC_STRING,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.check = check_hop_ids,
		.expected = "a number, or a range such as 0-3",
		.help = "Number of the next hop, as routes name it; or several, `0-3`.",
	},
	{
		.name = "port",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "Port to send out of.",
	},
	{
		.name = "mac",
		.kind = WEIR_BASE_DOC_MAC_ADDRESS,
		.help = "Ethernet address to send to. Without one, packets are punted as "
			"`no_neighbour`.",
	},
	{
		.name = "blackhole",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "false",
		.help = "Drop what is routed here.",
	},
	{
		.name = "local",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "false",
		.help = "Punt what is routed here: it is addressed to this router.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section neighbour_section = {
	.name = "neighbour",
	.help = "A next hop, by number: where a route leads.",
	.keys = neighbour_keys,
};

static const struct weir_base_doc_key route_keys[] = {
	{
		.name = "prefix",
		.kind = WEIR_BASE_DOC_IP_PREFIX,
		.help = "Destination, `192.0.2.0/24` or `2001:db8::/32`.",
	},
	{
		.name = "next_hop",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1048575,
		.help = "Number of the neighbour that it leads to; with `prefix`.",
	},
	{
		.name = "file",
		.kind = WEIR_BASE_DOC_FILE,
		.flags = WEIR_BASE_DOC_MUST_EXIST,
		.help = "A table, plain or gzip'ed: lines of `prefix/length next_hop`, `#` begins "
			"a comment. "
			"Either this or `prefix`.",
	},
	{
		.name = "first_next_hop",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1048575,
		.def = "0",
		.help = "Added to each next hop of the file.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section route_section = {
	.name = "route",
	.help = "A route, or a file of them. Of routes to one prefix the last counts.",
	.keys = route_keys,
};

static bool
check_work(const char *text)
{
	const char *colon = strrchr(text, ':');
	unsigned int i;

	for (i = 0; weir_bridge_job_builtin_names[i] != NULL; i++)
		if (strcmp(text, weir_bridge_job_builtin_names[i]) == 0)
			return true;
	return colon != NULL && colon > text && colon[1] != '\0';
}

static const char *const on_full_choices[] = {"drop", "wait", NULL};

static const struct weir_base_doc_key node_keys[] = {
	{
		.name = "type",
		.kind = WEIR_BASE_DOC_STRING,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "The registered node that it is a clone of, for example `null` or "
			"`classify`. `sched_tx` makes events of packets, for other workers, and "
			"`sched_rx` packets of events; `job` has long work done on packets, in "
			"time slices, and sends them to a queue then. `link_rx` receives from a "
			"port in place of the port's own node, and hands links their frames; all "
			"other packets go along its edge.",
	},
	{
		.name = "port",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "Of `link_rx`: the one of `ports` to receive from: a device with one "
			"receive queue.",
	},
	{
		.name = "links",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.help = "Of `link_rx`: the links whose frames come by that port, all of one "
			"format.",
	},
	{
		.name = "burst",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 32768,
		.help = "Of `link_rx`: packets asked for at once. By default 2048.",
	},
	{
		.name = "queues",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.help = "Of `sched_rx`: the queues whose packets it brings in. It has an edge for "
			"each, of the queue's name; until that is led elsewhere it leads to "
			"`drop`.",
	},
	{
		.name = "queue",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "Of `sched_tx`, `job`: the queue to send to.",
	},
	{
		.name = "flow",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = weir_bridge_flow_names,
		.help = "Of `sched_tx`, `job`: what tells flows apart: the "
			"device's RSS hash (where a packet has none, as the next), `five_tuple` "
			"(addresses, protocol, ports; of other packets than IP, Ethernet addresses "
			"and type), `source` or `destination` address. By default `rss`.",
	},
	{
		.name = "on_full",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = on_full_choices,
		.help = "Of `sched_tx`: when the scheduler takes no more new events: drop and "
			"count as `sched_full`, or wait. Of `job`: when there are as many packets "
			"inside as may be: drop and count as `jobs_full`, or wait. By default "
			"`wait` when all that is "
			"received comes from files, else `drop`.",
	},
	{
		.name = "work",
		.kind = WEIR_BASE_DOC_STRING,
		.check = check_work,
		.expected = "compute, wait, or PLUGIN.so:SYMBOL",
		.help = "Of `job`: what is done with each packet. `compute` takes the core for "
			"`time`, `wait` sleeps so long, as one that asks somebody else; "
			"`PLUGIN.so:SYMBOL` is yours: the `struct weir_bridge_job_type` called "
			"SYMBOL (`weir_bridge_job.h`) in a shared object, beside this file unless "
			"its name begins with '/'. Packets of a flow are worked on one after the "
			"other, and keep their order.",
	},
	{
		.name = "time",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 3600,
		.help = "Of `job` with `compute` or `wait`: how long, for each packet.",
	},
	{
		.name = "argument",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "Of `job`: a text for a plug-in.",
	},
	{
		.name = "flows",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = WEIR_BRIDGE_JOB_FLOWS_MAX,
		.help = "Of `job`: how many flows are told apart: so many packets can be worked on "
			"at a time, at most. By default 1024.",
	},
	{
		.name = "packets",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 16777216,
		.help = "Of `job`: most packets in it, see `on_full`. By default 4096.",
	},
	{
		.name = "priority",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 7,
		.help = "Of `job`: 0 is served first. By default the lowest that the scheduler "
			"has.",
	},
	{
		.name = "slice",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 1e-6,
		.max = 1,
		.help = "Of `job`: the time slice, after which other events have their turn. By "
			"default 25us.",
	},
	{
		.name = "group",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "Of `job`: the group of workers that do the work, see "
			"`platform.workers.groups`. By default `default`.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section node_section = {
	.name = "node",
	.help = "A node of one's own: a clone of a registered one, called TYPE-NAME in statistics.",
	.keys = node_keys,
};

static const struct weir_base_doc_key keys[] = {
	{
		.name = "graph",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = wiring_bases,
		.def = "forwarder",
		.help = "The graph to begin with: `forwarder` is the built-in IPv4 and IPv6 "
			"router.",
	},
	{
		.name = "nodes",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &node_section,
		.help = "Nodes to add to the graph, by name.",
	},
	{
		.name = "edges",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.check = check_edge,
		.expected = "\"NODE.EDGE -> NODE\", for example \"classify.ip4 -> ip4_lookup\"",
		.help = "Edges to change: `NODE.EDGE -> NODE`. An edge is called by the node that "
			"it leads to "
			"in the graph to begin with, or a beginning of that name that no other "
			"edge shares; each may be changed once. A "
			"port's name on the left stands for its receive nodes, on the right for "
			"its "
			"transmit node.",
	},
	{
		.name = "queues",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &schema_queue,
		.help = "Queues of events, by name: packets on their way from worker to worker.",
	},
	{
		.name = "objects",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &schema_object,
		.help = "Execution objects, by name.",
	},
	{
		.name = "formats",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_readout_format_section,
		.help = "Frame formats of links, by name, beside those that are built in: "
			"`wibeth`, `srs-vmm3a`, `hit`, `udp` and `ethernet`.",
	},
	{
		.name = "links",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &schema_link,
		.help = "Links of a readout, by name: streams of frames, the last seconds of each "
			"in memory.",
	},
	{
		.name = "requests",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &schema_request,
		.help = "Windows of time that links are asked for again and again, by name.",
	},
	{
		.name = "fragments",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &schema_fragments,
		.help = "Room for what links have of these windows.",
	},
	{
		.name = "neighbours",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_MAP,
		.section = &neighbour_section,
		.help = "Next hops that routes lead to.",
	},
	{
		.name = "routes",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_MAP,
		.section = &route_section,
		.help = "The routing table.",
	},
	{
		.name = "addresses",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_IP_ADDRESS,
		.help = "Addresses of this router; packets to them are punted as `own`.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section schema_application = {
	.name = "application",
	.help = "What is done with packets, and with the frames of links.",
	.keys = keys,
};
