/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run uses: ports, workers, memory. */

#include <weir_node.h>
#include <weir_sim.h>

#include "schema.h"

static const char *const accept_choices[] = {"own", "any", NULL};
static const char *const on_full_choices[] = {"drop", "wait", NULL};
static const char *const idle_choices[] = {"poll", "pause", "sleep", NULL};
static const char *const huge_choices[] = {"auto", "yes", "no", NULL};

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
		.help = "Capture file to transmit to.",
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
		.max = WEIR_NODE_RX_BURST_MAX,
		.def = RTE_STR(WEIR_NODE_RX_BURST_DEFAULT),
		.help = "Packets asked of a queue at once. The default is what `weir bench "
			"forward` found best.",
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

static const struct weir_base_doc_section port_section = {
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
	{.name = NULL},
};

static const struct weir_base_doc_section worker_section = {
	.name = "worker",
	.help = "A thread on a CPU of its own that walks graphs of its own: one for its ports, one "
		"for its queues of events.",
	.keys = worker_keys,
};

static const struct weir_base_doc_key memory_keys[] = {
	{
		.name = "size",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 64.0 * 1024 * 1024,
		.max = 1e15,
		.help = "Memory for packets and devices. By default worked out from mbufs and "
			"ports; route tables "
			"take theirs from `limits`.",
	},
	{
		.name = "huge",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = huge_choices,
		.def = "auto",
		.help = "Use hugepages: when enough are free, always, or never.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section memory_section = {
	.name = "memory",
	.help = "Where memory comes from.",
	.keys = memory_keys,
};

static const struct weir_base_doc_key mbuf_keys[] = {
	{
		.name = "count",
		.kind = WEIR_BASE_DOC_INT,
		.min = 512,
		.max = 67108864,
		.help = "Packet buffers. By default enough to fill all rings, and 8,192.",
	},
	{
		.name = "size",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 512,
		.max = 65535,
		.def = "2176B",
		.help = "Room for data in each, of which 128 B are headroom; longer frames take "
			"several.",
	},
	{
		.name = "cache",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 512,
		.def = "256",
		.help = "Buffers that each worker keeps to itself.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section mbuf_section = {
	.name = "mbufs",
	.help = "Packet buffers.",
	.keys = mbuf_keys,
};

static const struct weir_base_doc_key limit_keys[] = {
	{
		.name = "ip4_routes",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 16777216,
		.def = "1048576",
		.help = "IPv4 routes.",
	},
	{
		.name = "ip4_long_groups",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 4194304,
		.def = "32767",
		.help = "Different /24 that may hold prefixes longer than /24.",
	},
	{
		.name = "ip6_routes",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 16777216,
		.def = "262144",
		.help = "IPv6 routes.",
	},
	{
		.name = "ip6_groups",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 4194304,
		.def = "1048576",
		.help = "Groups of 256 entries of the IPv6 look-up tree. Memory is taken for those "
			"in use only.",
	},
	{
		.name = "next_hops",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1048575,
		.def = "4095",
		.help = "Next hops: ids are below this.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section limit_section = {
	.name = "limits",
	.help = "Sizes of tables; memory for them is taken at the start.",
	.keys = limit_keys,
};

static const struct weir_base_doc_key keys[] = {
	{
		.name = "ports",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &port_section,
		.help = "Ports by name: letters, digits and '_', at most 31.",
	},
	{
		.name = "receivers",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &schema_receiver,
		.help = "Devices that links' frames come from, by name.",
	},
	{
		.name = "workers",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_MAP,
		.section = &worker_section,
		.help = "Workers. Without any, one polls all ports.",
	},
	{
		.name = "cores",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_cores,
		.help = "Cores, by the name of their kind, for `weir sim`; `weir run` takes no "
			"notice of them.",
	},
	{
		.name = "dispatch",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_dispatch,
		.def = "{}",
		.help = "How cores get packets, for `weir sim`.",
	},
	{
		.name = "memories",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_memory,
		.help = "Memories that cores share, by name, for `weir sim`.",
	},
	{
		.name = "units",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_sim_doc_unit,
		.help = "Accelerators, I/O units and links, by name, for `weir sim`; `weir run` "
			"takes no notice of them.",
	},
	{
		.name = "scheduler",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &schema_scheduler,
		.def = "{}",
		.help = "What decides which worker gets which event next; of use with "
			"`application.queues`.",
	},
	{
		.name = "memory",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &memory_section,
		.def = "{}",
		.help = "Where memory comes from.",
	},
	{
		.name = "mbufs",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &mbuf_section,
		.def = "{}",
		.help = "Packet buffers.",
	},
	{
		.name = "limits",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &limit_section,
		.def = "{}",
		.help = "Sizes of tables.",
	},
	{
		.name = "idle",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = idle_choices,
		.def = "poll",
		.help = "What a worker does that finds nothing to do: poll on, pause (between "
			"polls it gives way "
			"to the other thread of its core), or sleep (50 us, growing to 1 ms). "
			"Where workers share "
			"a CPU the first two let others run.",
	},
	{
		.name = "burst",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 4096,
		.def = "256",
		.help = "Largest vector of packets handed to a node.",
	},
	{
		.name = "clock_period",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 65534,
		.help = "Cycles are counted in one walk of so many; 0: never. By default in every "
			"walk when all "
			"that is received comes from files, else in one of 64.",
	},
	{
		.name = "eal",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.help = "More arguments for DPDK's EAL, one item each.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section schema_platform = {
	.name = "platform",
	.help = "What the application runs on.",
	.keys = keys,
};
