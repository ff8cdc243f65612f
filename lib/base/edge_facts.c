/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What nodes need to be told about a packet, and what edges tell: packet nodes trust
 * what the one before them noted, and look at nothing twice. So an edge may only be led to
 * a node that it tells enough.
 */
#include <stddef.h>
#include <string.h>

#include "graph_private.h"

enum fact {
	IS_IP4 = 1 << 0,   /* where the IPv4 header is */
	IS_IP6 = 1 << 1,   /* where the IPv6 header is */
	HAS_HOP4 = 1 << 2, /* its next hop, and that the IPv4 header is sound */
	HAS_HOP6 = 1 << 3, /* the same of IPv6 */
	HAS_CUT = 1 << 4,  /* where pieces go and how long they may be */
};

static const struct {
	enum fact fact;
	const char *what;
	const char *from;
} facts[] = {
	{HAS_CUT, "the length to cut to", "ip4_rewrite.ip4_frag"},
	{HAS_HOP4, "a next hop", "ip4_lookup.ip4_rewrite"},
	{HAS_HOP6, "a next hop", "ip6_lookup.ip6_rewrite"},
	{IS_IP4, "IPv4 packets",
		"classify.ip4_lookup (or one from ip4_rewrite or ip4_frag to a port)"},
	{IS_IP6, "IPv6 packets", "classify.ip6_lookup (or one from ip6_rewrite to a port)"},
};

#define TO_PORT "" /* any edge to a transmit node */

/* Edges and node types that are not named tell nothing, and need nothing but a frame. */
static const struct {
	const char *type;
	unsigned int needs;
	struct {
		const char *edge;
		unsigned int gives;
	} edges[2];
} contracts[] = {
	{WEIR_BASE_NODE_CLASSIFY, 0,
		{{WEIR_BASE_NODE_IP4_LOOKUP, IS_IP4}, {WEIR_BASE_NODE_IP6_LOOKUP, IS_IP6}}},
	{WEIR_BASE_NODE_IP4_LOOKUP, IS_IP4, {{WEIR_BASE_NODE_IP4_REWRITE, IS_IP4 | HAS_HOP4}}},
	{WEIR_BASE_NODE_IP6_LOOKUP, IS_IP6, {{WEIR_BASE_NODE_IP6_REWRITE, IS_IP6 | HAS_HOP6}}},
	{WEIR_BASE_NODE_IP4_REWRITE, IS_IP4 | HAS_HOP4,
		{{TO_PORT, IS_IP4}, {WEIR_BASE_NODE_IP4_FRAG, IS_IP4 | HAS_CUT}}},
	{WEIR_BASE_NODE_IP6_REWRITE, IS_IP6 | HAS_HOP6, {{TO_PORT, IS_IP6}}},
	{WEIR_BASE_NODE_IP4_FRAG, IS_IP4 | HAS_CUT, {{TO_PORT, IS_IP4}}},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static unsigned int
needs_of(const char *type)
{
	for (size_t i = 0; i < COUNT(contracts); i++)
		if (strcmp(contracts[i].type, type) == 0)
			return contracts[i].needs;
	return 0;
}

static unsigned int
gives_of(const char *type, const char *edge)
{
	size_t i, j;

	for (i = 0; i < COUNT(contracts); i++)
		for (j = 0; strcmp(contracts[i].type, type) == 0 && j < COUNT(contracts[i].edges) &&
			    contracts[i].edges[j].edge != NULL;
			j++)
			if (strcmp(contracts[i].edges[j].edge, edge == NULL ? TO_PORT : edge) == 0)
				return contracts[i].edges[j].gives;
	return 0;
}

bool
graph_edge_ages(const char *type, const char *edge)
{
	return (needs_of(type) & (HAS_HOP4 | HAS_HOP6)) != 0 && gives_of(type, edge) != 0;
}

bool
graph_edge_lacks(
	const char *type, const char *edge, const char *to, const char **what, const char **from)
{
	unsigned int lacking = needs_of(to) & ~gives_of(type, edge);

	for (size_t i = 0; i < COUNT(facts); i++)
		if (lacking & facts[i].fact) {
			*what = facts[i].what;
			*from = facts[i].from;
			return true;
		}
	return false;
}
