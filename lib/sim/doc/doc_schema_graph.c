/* SPDX-License-Identifier: BSD-3-Clause */
/* Vocabulary that the simulator has in common with those who run what is described: nodes, ports, workers. And what walks cost. */
#include <string.h>

#include "doc_schema.h"
#include "weir_base_nodes.h"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

static const char *const accept_choices[] = {"own", "any", NULL};
static const char *const on_full_choices[] = {"drop", "wait", NULL};

static bool
check_work(const char *text)
{
	const char *colon = strrchr(text, ':');
	unsigned int i;

	for (i = 0; weir_base_job_work_names[i] != NULL; i++)
		if (strcmp(text, weir_base_job_work_names[i]) == 0)
			return true;
	return colon != NULL && colon > text && colon[1] != '\0';
}

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
		.choices = weir_base_flow_names,
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
		.max = WEIR_BASE_JOB_FLOWS_MAX,
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

const struct weir_base_doc_section weir_sim_doc_node = {
	.name = "node",
	.help = "A node of one's own: a clone of a registered one, called TYPE-NAME in statistics.",
	.keys = node_keys,
};

static const struct weir_base_doc_key port_keys[] = {
	{
		.name = "device",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "A DPDK device: a PCI address (`0000:01:00.0`), or a virtual device to "
			"make, with its "
			"parameters (`\"net_tap0,iface=weir0\"`, `\"net_af_packet0,iface=eth1\"`). "
			"Either this "
			"or files.",
	},
	{
		.name = "pcap_in",
		.kind = WEIR_BASE_DOC_FILE,
		.flags = WEIR_BASE_DOC_MUST_EXIST,
		.help = "Capture file to receive from.",
	},
	{
		.name = "pcap_out",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "Capture file to transmit to, written anew; not one that another instance "
			"is writing.",
	},
	{
		.name = "repeat",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 4294967295.0,
		.def = "1",
		.help = "How many times `pcap_in` is read.",
	},
	{
		.name = "mac",
		.kind = WEIR_BASE_DOC_MAC_ADDRESS,
		.help = "The port's own Ethernet address. By default the device's; for files "
			"02:00:00:00:00:NN.",
	},
	{
		.name = "accept",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = accept_choices,
		.def = "own",
		.help = "Frames to take: those sent to the port's own address (and group "
			"addresses), or any, as "
			"a capture needs.",
	},
	{
		.name = "promiscuous",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "false",
		.help = "Ask the device for frames to any address.",
	},
	{
		.name = "mtu",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 68,
		.max = 65535,
		.def = "1500B",
		.help = "Largest IP packet sent; larger IPv4 packets are cut to fragments, IPv6 "
			"ones punted.",
	},
	{
		.name = "vlan",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 4094,
		.help = "VLAN tag of sent frames; without it they leave untagged.",
	},
	{
		.name = "rx_queues",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 256,
		.help = "Receive queues; RSS spreads flows over them. By default as many as "
			"workers name.",
	},
	{
		.name = "tx_queues",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 256,
		.help = "Transmit queues; each worker needs one of its own. By default as many as "
			"workers.",
	},
	{
		.name = "rx_ring",
		.kind = WEIR_BASE_DOC_INT,
		.min = 32,
		.max = 32768,
		.def = "1024",
		.help = "Descriptors of a receive queue, adjusted to what the device can do.",
	},
	{
		.name = "tx_ring",
		.kind = WEIR_BASE_DOC_INT,
		.min = 32,
		.max = 32768,
		.def = "1024",
		.help = "Descriptors of a transmit queue.",
	},
	{
		.name = "rx_burst",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = WEIR_BASE_RX_BURST_MAX,
		.def = TEXT(WEIR_BASE_RX_BURST_DEFAULT),
		.help = "Packets asked of a queue at once. The default is what `weir bench "
			"forward` found best.",
	},
	{
		.name = "bandwidth",
		.kind = WEIR_BASE_DOC_BIT_RATE,
		.min = 1,
		.max = 1e15,
		.help = "For `weir sim`: of the link that packets leave by; they wait in transmit "
			"rings for it. By default they leave at once.",
	},
	{
		.name = "overhead",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 0,
		.max = 65535,
		.def = "20B",
		.help = "For `weir sim`: what a packet takes of `bandwidth` beside its own bytes; "
			"of Ethernet preamble and gap.",
	},
	{
		.name = "offloads",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "true",
		.help = "Use the device's checksums and RSS hash where it has them.",
	},
	{
		.name = "on_full",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = on_full_choices,
		.help = "When the device takes no more: drop and count, or wait. By default files "
			"wait and "
			"devices drop.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_port = {
	.name = "port",
	.help = "A DPDK device, or capture files that stand for one: `pcap_in` is received from, "
		"`pcap_out` "
		"transmitted to; one of them is enough.",
	.keys = port_keys,
};

static const struct weir_base_doc_key worker_keys[] = {
	{
		.name = "lcore",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1023,
		.help = "CPU to run on. By default the next free one, or, for a worker that reads "
			"files "
			"only, any. Workers share CPUs when there are too few.",
	},
	{
		.name = "receive",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.help = "What it polls: a port's name (all its queues), or PORT.QUEUE. Required "
			"unless it serves queues of events.",
	},
	{
		.name = "groups",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.help = "Groups that it is in: it serves queues of events whose `group` is one of "
			"these. By default `[default]`; `[]`: it serves none.",
	},
	{
		.name = "cores",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "For `weir sim`: the kind of `platform.cores` that it runs on, by default "
			"the first one.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_worker = {
	.name = "worker",
	.help = "A thread on a CPU of its own that walks graphs of its own: one for its ports, one "
		"for its queues of events.",
	.keys = worker_keys,
};

static const struct weir_base_doc_key node_costs_keys[] = {
	{
		.name = "vector",
		.kind = WEIR_BASE_DOC_CYCLES,
		.min = 0,
		.max = 1e12,
		.def = "0",
		.help = "Cycles that a visit of the node takes, however many packets it finds.",
	},
	{
		.name = "packet",
		.kind = WEIR_BASE_DOC_CYCLES,
		.min = 0,
		.max = 1e12,
		.def = "0",
		.help = "And for each packet.",
	},
	{
		.name = "per_byte",
		.kind = WEIR_BASE_DOC_CYCLES_PER_BYTE,
		.min = 0,
		.max = 1e9,
		.def = "0",
		.help = "And for each byte of them.",
	},
	{
		.name = "work",
		.kind = WEIR_BASE_DOC_CYCLES,
		.min = 0,
		.max = 1e12,
		.help = "Of a `job` whose `work` is a plug-in's: cycles of that for each packet, "
			"beside those of the node's visit.",
	},
	{
		.name = "work_per_byte",
		.kind = WEIR_BASE_DOC_CYCLES_PER_BYTE,
		.min = 0,
		.max = 1e9,
		.help = "And for each byte of it.",
	},
	{
		.name = "wait",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 3600,
		.help = "After that work: how long it waits for each packet, for somebody else, "
			"without a core.",
	},
	{
		.name = "next",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_NUMBER,
		.min = 0,
		.max = 1e9,
		.help = "Where its packets go: its edges, called as on the left of "
			"`application.edges`, each as probable as its weight is among them all. "
			"May be left out where there is one way besides `drop`, `punt` and "
			"`ip4_frag`: all take that.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section node_costs_section = {
	.name = "node costs",
	.help = "What a visit of a node costs, and where its packets go.",
	.keys = node_costs_keys,
};

static const struct weir_base_doc_key process_costs_keys[] = {
	{
		.name = "packet",
		.kind = WEIR_BASE_DOC_CYCLES,
		.min = 0,
		.max = 1e12,
		.def = "0",
		.help = "Cycles for each frame.",
	},
	{
		.name = "per_byte",
		.kind = WEIR_BASE_DOC_CYCLES_PER_BYTE,
		.min = 0,
		.max = 1e9,
		.def = "0",
		.help = "And for each byte of it.",
	},
	{
		.name = "drops",
		.kind = WEIR_BASE_DOC_NUMBER,
		.min = 0,
		.max = 1,
		.def = "0",
		.help = "Of a function of one's own: the part of the frames that it looks at which "
			"it drops, each by chance. Before the buffer they do not come there; after "
			"it they are counted.",
	},
	{
		.name = "hits",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_attribute,
		.help = "How many hits are found in a frame, which become frames of the link that "
			"they go `to`: a `value`, which may be less than one in the mean, or drawn "
			"by `weights`. By default that link is left aside.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section process_costs_section = {
	.name = "process costs",
	.help = "What it costs that a function looks at a frame, with what it makes of that.",
	.keys = process_costs_keys,
};

static const struct weir_base_doc_key costs_keys[] = {
	{
		.name = "walk",
		.kind = WEIR_BASE_DOC_CYCLES,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.min = 1e-3,
		.max = 1e12,
		.help = "Cycles that each walk takes beside its nodes, also one that finds "
			"nothing; at least 1 ps.",
	},
	{
		.name = "poll",
		.kind = WEIR_BASE_DOC_CYCLES,
		.min = 0,
		.max = 1e12,
		.def = "0",
		.help = "Cycles to look at a receive ring, whether there is something in it or "
			"not.",
	},
	{
		.name = "dispatch",
		.kind = WEIR_BASE_DOC_CYCLES,
		.min = 1e-3,
		.max = 1e12,
		.help = "Cycles of a worker that serves queues to ask the scheduler, after each "
			"walk, whether there is something for it or not; at least 1 ps.",
	},
	{
		.name = "switch",
		.kind = WEIR_BASE_DOC_CYCLES,
		.min = 0,
		.max = 1e12,
		.def = "0",
		.help = "Cycles of a job's time slice beside its work: to begin it, or go on with "
			"it, and to leave it.",
	},
	{
		.name = "nodes",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &node_costs_section,
		.help = "Of nodes: by the names that they have in `application.nodes`, or by their "
			"types, such as `pcap_rx` or `classify`. Every node that packets come to "
			"must be among them.",
	},
	{
		.name = "processes",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &process_costs_section,
		.help = "Of functions on frames: by the names that they have in "
			"`application.processes`; `hits` for those of links' key of that name. "
			"Every one must be among them.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_costs = {
	.name = "costs",
	.help = "What walks of the graph cost, for `weir sim`: `walk`, and for each ring that is "
		"looked at `poll`, and for each visit of a node what that costs. Of a machine at "
		"hand `weir run` counts these cycles.",
	.keys = costs_keys,
};
