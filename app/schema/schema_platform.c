/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run uses: ports, workers, memory. */

#include <weir_sim.h>

#include "schema.h"

static const char *const huge_choices[] = {"auto", "yes", "no", NULL};

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
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_platform_rows),
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
