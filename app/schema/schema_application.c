/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with packets: the graph, next hops, routes. */
#include <weir_base_nodes.h>
#include <weir_readout_format.h>
#include <weir_sim.h>

#include "hops.h"
#include "schema.h"

static bool
check_hop_ids(const char *text)
{
	uint32_t first, last;

	return hops_parse_ids(text, &first, &last) == 0;
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

static const struct weir_base_doc_key keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_application_rows),
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
		.name = "processes",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &schema_process,
		.help = "What is done with the frames of links, by name: before their buffers, in "
			"the order that they have here, and after these.",
	},
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_window_rows),
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
