/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices that links' frames come from. Names and defaults are those of the DUNE readout's published configuration. */

#include "doc_schema.h"

static const struct weir_base_doc_key source_keys[] = {
	{
		.name = "source_ip",
		.kind = WEIR_BASE_DOC_IP4_ADDRESS,
		.help = "Datagrams from this address.",
	},
	{
		.name = "udp_port",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 65535,
		.help = "Datagrams to this UDP port.",
	},
	{
		.name = "queue",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1023,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "Which queue they go to.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section source_section = {
	.name = "source",
	.help = "Whose datagrams go to which queue: `source_ip`, `udp_port`, or both, the same of "
		"these in all of a receiver's.",
	.keys = source_keys,
};

static const struct weir_base_doc_key keys[] = {
	{
		.name = "device",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "As of `ports`: a PCI address, or a virtual device to make.",
	},
	{
		.name = "pci_addr",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "Instead of `device`: a PCI address.",
	},
	{
		.name = "ip_addr",
		.kind = WEIR_BASE_DOC_IP4_ADDRESS,
		.help = "Senders find the device by it: ARP is answered, and it is announced. "
			"Without it ARP is left to others.",
	},
	{
		.name = "mac_addr",
		.kind = WEIR_BASE_DOC_MAC_ADDRESS,
		.help = "The device's own, or one for it to take. By default its own.",
	},
	{
		.name = "nb_queues",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1024,
		.def = "1",
		.help = "Receive queues.",
	},
	{
		.name = "sources",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_MAP,
		.section = &source_section,
		.help = "Whose datagrams go to which queue. Without it the device spreads them as "
			"it likes.",
	},
	{
		.name = "burst_size",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 65535,
		.def = "2048",
		.help = "Packets asked for at once.",
	},
	{
		.name = "burst_adaptive",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "false",
		.help = "Ask for as many as come, up to `burst_size`.",
	},
	{
		.name = "lcore_sleep_us",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1000000,
		.def = "10",
		.help = "Microseconds of sleep after a round in which no burst was full; 0: none. "
			"Where several have one thread, the least.",
	},
	{
		.name = "mbuf_cache_size",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 512,
		.def = "0",
		.help = "Packet buffers that the thread keeps for itself.",
	},
	{
		.name = "num_mbufs",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 67108864,
		.def = "16384",
		.help = "Packet buffers of each queue.",
	},
	{
		.name = "rx_ring_size",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 65535,
		.def = "4096",
		.help = "Descriptors of each receive queue.",
	},
	{
		.name = "tx_ring_size",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 65535,
		.def = "4096",
		.help = "Descriptors of each transmit queue.",
	},
	{
		.name = "mtu",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 68,
		.max = 65535,
		.def = "9000B",
		.help = "Largest IP packet.",
	},
	{
		.name = "mbuf_data_bytes",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 64,
		.max = 65535,
		.help = "Room for data in a packet buffer, where the device scatters frames over "
			"several. By default as large as a frame.",
	},
	{
		.name = "promiscuous_mode",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "false",
		.help = "Take frames to any address. Some virtual devices cannot do without.",
	},
	{
		.name = "with_flow_control",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "true",
		.help = "Steer sources by rules of the device, if it takes any.",
	},
	{
		.name = "announce_interval_ms",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 86400000,
		.def = "1000",
		.help = "Announce `ip_addr` so often; 0: once, at the beginning.",
	},
	{
		.name = "cpus",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1023,
		.help = "Threads of its own that poll it, up to one for each queue: the CPU of "
			"each. "
			"Queue 0 is the first one's, and so on, around. By default one thread, on "
			"any CPU, polls all receivers without, and whatever else feeds links.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_receiver = {
	.name = "receiver",
	.help = "A DPDK device that links' frames come from. What is configured is applied, or "
		"refused. `weir check` warns of what will not keep up.",
	.keys = keys,
};
