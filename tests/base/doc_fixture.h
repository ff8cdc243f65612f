/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_BASE_DOC_FIXTURE_H
#define WEIR_TESTS_BASE_DOC_FIXTURE_H

/* A schema with a key of each kind, for the tests of description files. */

#include <string.h>

#include "weir_base_doc.h"

static const char *const fixture_full[] = {"drop", "wait", "on", "2", NULL};

static inline bool
fixture_is_even_length(const char *text)
{
	return strlen(text) % 2 == 0;
}

/* Rows that stand between others, and rows that are all there is. */
static const struct weir_base_doc_key fixture_port_common_keys[] = {
	{.name = "queues",
		.kind = WEIR_BASE_DOC_INT,
		.def = "1",
		.min = 1,
		.max = 64,
		.help = "Queues."},
	{.name = "on_full",
		.kind = WEIR_BASE_DOC_ENUM,
		.def = "drop",
		.choices = fixture_full,
		.help = "When full."},
	{.name = NULL},
};

static const struct weir_base_doc_section fixture_port_common = {.keys = fixture_port_common_keys};

static const struct weir_base_doc_key fixture_port_keys[] = {
	{.name = "file",
		.kind = WEIR_BASE_DOC_FILE,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "A capture | file."},
	WEIR_BASE_DOC_ROWS_OF(fixture_port_common),
	{.name = "tags",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.def = "[a, b]",
		.help = "Tags."},
	{.name = NULL},
};

static const struct weir_base_doc_section fixture_port = {"port", "One port.", fixture_port_keys};

static const struct weir_base_doc_key fixture_limit_common_keys[] = {
	{.name = "depth", .kind = WEIR_BASE_DOC_INT, .def = "3", .help = "How deep."},
	{.name = "wait", .kind = WEIR_BASE_DOC_DURATION, .def = "10us", .help = "How long."},
	{.name = NULL},
};

static const struct weir_base_doc_section fixture_limit_common = {
	.keys = fixture_limit_common_keys};

static const struct weir_base_doc_key fixture_limit_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(fixture_limit_common),
	{.name = NULL},
};

static const struct weir_base_doc_section fixture_limit = {
	"limits of it", "Limits.", fixture_limit_keys};

extern const struct weir_base_doc_section fixture_tree;

static const struct weir_base_doc_key fixture_tree_keys[] = {
	{.name = "leaf", .kind = WEIR_BASE_DOC_STRING, .help = "A leaf."},
	{.name = "trees",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_MAP,
		.section = &fixture_tree,
		.help = "More."},
	{.name = NULL},
};

const struct weir_base_doc_section fixture_tree = {"tree", "Holds itself.", fixture_tree_keys};

static const struct weir_base_doc_key fixture_root_keys[] = {
	{.name = "text", .kind = WEIR_BASE_DOC_STRING, .help = "Any text."},
	{.name = "even",
		.kind = WEIR_BASE_DOC_STRING,
		.check = fixture_is_even_length,
		.expected = "a text of even length",
		.help = "Checked."},
	{.name = "file",
		.kind = WEIR_BASE_DOC_FILE,
		.flags = WEIR_BASE_DOC_MUST_EXIST,
		.help = "A file."},
	{.name = "flag", .kind = WEIR_BASE_DOC_BOOL, .def = "yes", .help = "A flag."},
	{.name = "int", .kind = WEIR_BASE_DOC_INT, .help = "An integer."},
	{.name = "small",
		.kind = WEIR_BASE_DOC_INT,
		.min = -5,
		.max = 5,
		.help = "A small integer."},
	{.name = "number", .kind = WEIR_BASE_DOC_NUMBER, .help = "A number."},
	{.name = "ratio", .kind = WEIR_BASE_DOC_NUMBER, .min = 0, .max = 1, .help = "A ratio."},
	{.name = "full", .kind = WEIR_BASE_DOC_ENUM, .choices = fixture_full, .help = "A choice."},
	{.name = "duration", .kind = WEIR_BASE_DOC_DURATION, .help = "A duration."},
	{.name = "soon",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 1e-6,
		.max = 1,
		.help = "A short one."},
	{.name = "bytes", .kind = WEIR_BASE_DOC_BYTES, .help = "Bytes."},
	{.name = "mtu",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 68,
		.max = 65535,
		.help = "Some bytes."},
	{.name = "bit_rate", .kind = WEIR_BASE_DOC_BIT_RATE, .help = "A bit rate."},
	{.name = "packet_rate", .kind = WEIR_BASE_DOC_PACKET_RATE, .help = "A packet rate."},
	{.name = "frequency", .kind = WEIR_BASE_DOC_FREQUENCY, .help = "A frequency."},
	{.name = "cycles", .kind = WEIR_BASE_DOC_CYCLES, .help = "Cycles."},
	{.name = "cycles_per_byte", .kind = WEIR_BASE_DOC_CYCLES_PER_BYTE, .help = "A cost."},
	{.name = "ip4", .kind = WEIR_BASE_DOC_IP4_ADDRESS, .help = "IPv4."},
	{.name = "ip6", .kind = WEIR_BASE_DOC_IP6_ADDRESS, .help = "IPv6."},
	{.name = "ip", .kind = WEIR_BASE_DOC_IP_ADDRESS, .help = "Either."},
	{.name = "prefix", .kind = WEIR_BASE_DOC_IP_PREFIX, .help = "A prefix."},
	{.name = "mac", .kind = WEIR_BASE_DOC_MAC_ADDRESS, .help = "A MAC address."},
	{.name = "prefixes",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_IP_PREFIX,
		.help = "Prefixes."},
	{.name = "ports",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &fixture_port,
		.help = "Ports."},
	{.name = "sizes",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_BYTES,
		.help = "Sizes by name."},
	{.name = "limits",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &fixture_limit,
		.def = "{}",
		.help = "Limits."},
	{.name = "edges",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &fixture_limit,
		.def = "{depth: 9}",
		.help = "Limits with a default of their own."},
	{.name = "bounds",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &fixture_limit,
		.help = "Limits without default."},
	{.name = "tree", .kind = WEIR_BASE_DOC_MAP, .section = &fixture_tree, .help = "A tree."},
	{.name = "any", .kind = WEIR_BASE_DOC_ANY, .help = "Whatever it is."},
	{.name = NULL},
};

static const struct weir_base_doc_section fixture_root = {"root", "All kinds.", fixture_root_keys};

#endif
