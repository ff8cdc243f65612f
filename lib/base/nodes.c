/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of nodes, and edges in descriptions. */
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "weir_base_nodes.h"

#define EDGES(...)                                                                                 \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
#define NO_EDGES ((const char *const[]){NULL})

const struct weir_base_node_type weir_base_node_types[] = {
	{WEIR_BASE_NODE_ETHDEV_RX, WEIR_BASE_NODE_RECEIVES, false, EDGES(WEIR_BASE_NODE_RX_EDGES)},
	{WEIR_BASE_NODE_PCAP_RX, WEIR_BASE_NODE_RECEIVES, false, EDGES(WEIR_BASE_NODE_RX_EDGES)},
	{WEIR_BASE_NODE_LINK_RX, WEIR_BASE_NODE_LINKS, false, EDGES(WEIR_BASE_NODE_RX_EDGES)},
	{WEIR_BASE_NODE_SCHED_RX, WEIR_BASE_NODE_BRINGS, false, NO_EDGES},
	{WEIR_BASE_NODE_CLASSIFY, WEIR_BASE_NODE_PASSES, false,
		EDGES(WEIR_BASE_NODE_CLASSIFY_EDGES)},
	{WEIR_BASE_NODE_IP4_LOOKUP, WEIR_BASE_NODE_PASSES, false,
		EDGES(WEIR_BASE_NODE_IP4_LOOKUP_EDGES)},
	{WEIR_BASE_NODE_IP6_LOOKUP, WEIR_BASE_NODE_PASSES, false,
		EDGES(WEIR_BASE_NODE_IP6_LOOKUP_EDGES)},
	{WEIR_BASE_NODE_IP4_REWRITE, WEIR_BASE_NODE_PASSES, true,
		EDGES(WEIR_BASE_NODE_IP4_REWRITE_EDGES)},
	{WEIR_BASE_NODE_IP6_REWRITE, WEIR_BASE_NODE_PASSES, true,
		EDGES(WEIR_BASE_NODE_IP6_REWRITE_EDGES)},
	{WEIR_BASE_NODE_IP4_FRAG, WEIR_BASE_NODE_PASSES, true,
		EDGES(WEIR_BASE_NODE_IP4_FRAG_EDGES)},
	{WEIR_BASE_NODE_SCHED_TX, WEIR_BASE_NODE_SENDS, false, EDGES(WEIR_BASE_NODE_TX_EDGES)},
	{WEIR_BASE_NODE_JOB, WEIR_BASE_NODE_WORKS, false, EDGES(WEIR_BASE_NODE_TX_EDGES)},
	{WEIR_BASE_NODE_ETHDEV_TX, WEIR_BASE_NODE_TRANSMITS, false, EDGES(WEIR_BASE_NODE_TX_EDGES)},
	{WEIR_BASE_NODE_PCAP_TX, WEIR_BASE_NODE_TRANSMITS, false, EDGES(WEIR_BASE_NODE_TX_EDGES)},
	{WEIR_BASE_NODE_PUNT, WEIR_BASE_NODE_FREES, false, NO_EDGES},
	{WEIR_BASE_NODE_DROP, WEIR_BASE_NODE_FREES, false, NO_EDGES},
	{WEIR_BASE_NODE_NULL, WEIR_BASE_NODE_FREES, false, NO_EDGES},
	{.name = NULL},
};

const char *const weir_base_graph_names[] = {"forwarder", NULL};

const char *const weir_base_flow_names[] = {"rss", "five_tuple", "source", "destination", NULL};

const char *const weir_base_job_work_names[] = {"compute", "wait", NULL};

const char *const weir_base_fault_names[WEIR_BASE_NB_FAULTS + 1] = {
	[WEIR_BASE_FAULT_DROP] = "drop",
	[WEIR_BASE_FAULT_DUPLICATE] = "duplicate",
	[WEIR_BASE_FAULT_REORDER] = "reorder",
	[WEIR_BASE_FAULT_STREAM] = "stream",
	[WEIR_BASE_FAULT_SEQUENCE] = "sequence",
	[WEIR_BASE_FAULT_TIMESTAMP] = "timestamp",
	[WEIR_BASE_FAULT_TRUNCATE] = "truncate",
	[WEIR_BASE_FAULT_STALL] = "stall",
	[WEIR_BASE_FAULT_JUMP] = "jump",
};

const struct weir_base_node_type *
weir_base_node_type_find(const char *name)
{
	const struct weir_base_node_type *type = weir_base_node_types;

	while (type->name != NULL && strcmp(type->name, name) != 0)
		type++;
	return type->name != NULL ? type : NULL;
}

static bool
copy_name(char *name, const char *text, size_t length)
{
	while (length > 0 && isspace((unsigned char)*text)) {
		text++;
		length--;
	}
	while (length > 0 && isspace((unsigned char)text[length - 1]))
		length--;
	if (length == 0 || length >= WEIR_BASE_NODE_NAME_SIZE)
		return false;
	memcpy(name, text, length);
	name[length] = '\0';
	return strpbrk(name, " \t\n>") == NULL;
}

int
weir_base_node_edge_parse(const char *text, struct weir_base_node_edge *edge)
{
	const char *arrow = strstr(text, "->"), *dot;

	if (arrow == NULL)
		return -EINVAL;
	for (dot = arrow; dot > text && *dot != '.'; dot--)
		;
	if (*dot != '.' || !copy_name(edge->from, text, (size_t)(dot - text)) ||
		!copy_name(edge->edge, dot + 1, (size_t)(arrow - dot - 1)) ||
		!copy_name(edge->to, arrow + 2, strlen(arrow + 2)))
		return -EINVAL;
	return 0;
}

bool
weir_base_node_edge_check(const char *text)
{
	struct weir_base_node_edge edge;

	return weir_base_node_edge_parse(text, &edge) == 0;
}
