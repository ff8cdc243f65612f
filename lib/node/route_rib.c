/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The routes as told: a Patricia tree, a node per route and per fork. Nodes
 * have numbers rather than addresses, so that the pool can move when it grows.
 */

#include <errno.h>
#include <sys/mman.h>

#include "route_internal.h"

/* Forks on one path: one for each bit of an address. */
#define MAX_DEPTH 130

int
weir_node_rib_init(struct weir_node_rib *rib, uint32_t nb_routes)
{
	memset(rib, 0, sizeof(*rib));
	/* A tree of n routes has fewer than n forks. */
	rib->capacity = 2 * nb_routes + 2;
	rib->nodes = weir_node_route_map(rib->capacity * sizeof(*rib->nodes), -1);
	if (rib->nodes == NULL)
		return -ENOMEM;
	rib->nb_nodes = 1;
	return 0;
}

void
weir_node_rib_fini(struct weir_node_rib *rib)
{
	if (rib->nodes != NULL)
		munmap(rib->nodes, rib->capacity * sizeof(*rib->nodes));
	memset(rib, 0, sizeof(*rib));
}

/*
 * Make sure that two more nodes can be had. A batch may pass through more routes than
 * the limit allows at its end, so the pool can grow beyond what the limit needs.
 */
static int
reserve(struct weir_node_rib *rib)
{
	size_t bytes = rib->capacity * sizeof(*rib->nodes);
	void *nodes;

	if (rib->nb_nodes + 2 <= rib->capacity)
		return 0;
	if (rib->free != 0 && rib->nodes[rib->free].child[0] != 0)
		return 0;
	if (rib->capacity > UINT32_MAX / 2)
		return -ENOMEM;
	nodes = mremap(rib->nodes, bytes, 2 * bytes, MREMAP_MAYMOVE);
	if (nodes == MAP_FAILED)
		return -ENOMEM;
	rib->nodes = nodes;
	rib->capacity *= 2;
	return 0;
}

static uint32_t
node_new(struct weir_node_rib *rib, struct weir_node_route_key key, uint8_t length, uint32_t hop)
{
	uint32_t number = rib->free;

	if (number != 0)
		rib->free = rib->nodes[number].child[0];
	else
		number = rib->nb_nodes++;
	rib->nodes[number] = (struct weir_node_rib_node){.key = key, .hop = hop, .length = length};
	return number;
}

static void
node_free(struct weir_node_rib *rib, uint32_t number)
{
	rib->nodes[number].child[0] = rib->free;
	rib->free = number;
}

/* Groups of a FIB lie below slots of 24, 32, 40 ... bits: how many such lengths are there up to @length? */
static unsigned int
levels(unsigned int length)
{
	if (length < WEIR_NODE_FIB_ROOT_BITS)
		return 0;
	return (length - WEIR_NODE_FIB_ROOT_BITS) / WEIR_NODE_FIB_GROUP_BITS + 1;
}

/* Groups that exist for this route alone. */
static uint32_t
own_groups(const struct weir_node_rib *rib, const struct weir_node_route_key *key, uint8_t length)
{
	unsigned int needed, shared;

	if (length <= WEIR_NODE_FIB_ROOT_BITS)
		return 0;
	needed = levels(length - 1);
	shared = levels(weir_node_rib_shared(rib, key, length));
	return needed > shared ? needed - shared : 0;
}

unsigned int
weir_node_rib_shared(
	const struct weir_node_rib *rib, const struct weir_node_route_key *key, uint8_t length)
{
	const struct weir_node_rib_node *node;
	unsigned int shared = 0, common, bit;
	uint32_t number;

	for (number = rib->root; number != 0; number = node->child[bit]) {
		node = &rib->nodes[number];
		common = RTE_MIN(weir_node_route_key_common(&node->key, key), (unsigned int)length);
		if (common < node->length) /* beside the prefix, or within it */
			return RTE_MAX(shared, common);
		if (node->length == length)
			return node->child[0] != 0 || node->child[1] != 0 ? length : shared;
		if (node->hop != WEIR_NODE_HOP_INVALID && node->length > 0)
			shared = RTE_MAX(shared, node->length - 1U);
		bit = weir_node_route_key_bit(key, node->length);
		if (node->child[!bit] != 0)
			shared = RTE_MAX(shared, (unsigned int)node->length);
	}
	return shared;
}

/* The link (rib->root or some child[]) where a prefix is, or where it would be put. */
static uint32_t *
find_link(struct weir_node_rib *rib, const struct weir_node_route_key *key, uint8_t length,
	uint32_t **parent)
{
	uint32_t *link = &rib->root;

	*parent = NULL;
	while (*link != 0) {
		struct weir_node_rib_node *node = &rib->nodes[*link];

		if (node->length >= length ||
			weir_node_route_key_common(&node->key, key) < node->length)
			break;
		*parent = link;
		link = &node->child[weir_node_route_key_bit(key, node->length)];
	}
	return link;
}

static bool
is_exact(const struct weir_node_rib_node *node, const struct weir_node_route_key *key,
	uint8_t length)
{
	return node->length == length && node->key.hi == key->hi && node->key.lo == key->lo;
}

int
weir_node_rib_add(struct weir_node_rib *rib, const struct weir_node_route_key *key, uint8_t length,
	uint32_t hop, uint32_t *old)
{
	struct weir_node_rib_node *node;
	uint32_t *link, *parent, number, fork;
	unsigned int common;

	if (reserve(rib) < 0)
		return -ENOMEM;
	link = find_link(rib, key, length, &parent);
	node = &rib->nodes[*link];
	if (*link != 0 && is_exact(node, key, length)) {
		*old = node->hop;
		if (*old == WEIR_NODE_HOP_INVALID) {
			rib->nb_groups += own_groups(rib, key, length);
			rib->nb_routes++;
		}
		node->hop = hop;
		return 0;
	}
	*old = WEIR_NODE_HOP_INVALID;
	rib->nb_groups += own_groups(rib, key, length);
	rib->nb_routes++;
	number = node_new(rib, *key, length, hop);
	if (*link != 0) {
		common = RTE_MIN(weir_node_route_key_common(&node->key, key), (unsigned int)length);
		if (common == length) { /* what was here lies within the new prefix */
			rib->nodes[number].child[weir_node_route_key_bit(&node->key, length)] =
				*link;
		} else {
			fork = node_new(rib, weir_node_route_key_cut(*key, common), (uint8_t)common,
				WEIR_NODE_HOP_INVALID);
			rib->nodes[fork].child[weir_node_route_key_bit(key, common)] = number;
			rib->nodes[fork].child[!weir_node_route_key_bit(key, common)] = *link;
			number = fork;
		}
	}
	*link = number;
	return 0;
}

/* Take out a node that is no route and has at most one child. */
static void
splice(struct weir_node_rib *rib, uint32_t *link)
{
	uint32_t number = *link;
	struct weir_node_rib_node *node = &rib->nodes[number];

	if (node->hop != WEIR_NODE_HOP_INVALID || (node->child[0] != 0 && node->child[1] != 0))
		return;
	*link = node->child[0] != 0 ? node->child[0] : node->child[1];
	node_free(rib, number);
}

int
weir_node_rib_delete(struct weir_node_rib *rib, const struct weir_node_route_key *key,
	uint8_t length, uint32_t *old)
{
	struct weir_node_rib_node *node;
	uint32_t *link, *parent;

	link = find_link(rib, key, length, &parent);
	node = &rib->nodes[*link];
	*old = WEIR_NODE_HOP_INVALID;
	if (*link == 0 || !is_exact(node, key, length) || node->hop == WEIR_NODE_HOP_INVALID)
		return -ENOENT;
	*old = node->hop;
	node->hop = WEIR_NODE_HOP_INVALID;
	splice(rib, link);
	if (parent != NULL)
		splice(rib, parent);
	rib->nb_routes--;
	rib->nb_groups -= own_groups(rib, key, length);
	return 0;
}

const struct weir_node_rib_node *
weir_node_rib_find(
	const struct weir_node_rib *rib, const struct weir_node_route_key *key, uint8_t length)
{
	const struct weir_node_rib_node *node = weir_node_rib_lookup(rib, key, length);

	return node != NULL && is_exact(node, key, length) ? node : NULL;
}

const struct weir_node_rib_node *
weir_node_rib_lookup(
	const struct weir_node_rib *rib, const struct weir_node_route_key *key, uint8_t length)
{
	const struct weir_node_rib_node *node, *best = NULL;
	uint32_t number = rib->root;

	while (number != 0) {
		node = &rib->nodes[number];
		if (node->length > length ||
			weir_node_route_key_common(&node->key, key) < node->length)
			break;
		if (node->hop != WEIR_NODE_HOP_INVALID)
			best = node;
		if (node->length == length)
			break;
		number = node->child[weir_node_route_key_bit(key, node->length)];
	}
	return best;
}

int
weir_node_rib_foreach(const struct weir_node_rib *rib, const struct weir_node_route_key *key,
	uint8_t length, int (*visit)(void *arg, const struct weir_node_rib_node *route), void *arg)
{
	const struct weir_node_rib_node *node;
	uint32_t stack[MAX_DEPTH], number = rib->root;
	unsigned int depth = 0;
	int ret;

	while (number != 0) {
		node = &rib->nodes[number];
		if (node->length >= length)
			break;
		if (weir_node_route_key_common(&node->key, key) < node->length)
			return 0;
		number = node->child[weir_node_route_key_bit(key, node->length)];
	}
	if (number == 0 || weir_node_route_key_common(&rib->nodes[number].key, key) < length)
		return 0;
	stack[depth++] = number;
	while (depth > 0) {
		node = &rib->nodes[stack[--depth]];
		if (node->hop != WEIR_NODE_HOP_INVALID) {
			ret = visit(arg, node);
			if (ret != 0)
				return ret;
		}
		if (node->child[1] != 0)
			stack[depth++] = node->child[1];
		if (node->child[0] != 0)
			stack[depth++] = node->child[0];
	}
	return 0;
}
