/* SPDX-License-Identifier: BSD-3-Clause */

/* Registered nodes: names, edges by name, clones. Plain memory, because constructors run before EAL does. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "graph_private.h"

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static struct node_reg **nodes; /* by id; NULL: free */
static uint32_t nb_ids;

void
graph_lock(void)
{
	pthread_mutex_lock(&lock);
}

void
graph_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

struct node_reg *
node_reg_get(uint32_t id)
{
	return id < nb_ids ? nodes[id] : NULL;
}

struct node_reg *
node_reg_find(const char *name)
{
	for (uint32_t id = 0; id < nb_ids; id++)
		if (nodes[id] != NULL && strcmp(nodes[id]->name, name) == 0)
			return nodes[id];
	return NULL;
}

bool
graph_name_valid(const char *name)
{
	size_t length = name == NULL ? 0 : strlen(name);

	if (length == 0 || length >= WEIR_GRAPH_NAME_SIZE)
		return false;
	for (const char *c = name; *c != '\0'; c++)
		if (!isalnum((unsigned char)*c) && strchr("_-.", *c) == NULL)
			return false;
	return true;
}

void
graph_names_free(char **names, uint32_t nb)
{
	if (names == NULL)
		return;
	for (uint32_t i = 0; i < nb; i++)
		free(names[i]);
	free(names);
}

char **
graph_names_copy(const char *const *names, uint32_t nb)
{
	char **copy = calloc((size_t)nb + 1, sizeof(*copy));

	if (copy == NULL)
		return NULL;
	for (uint32_t i = 0; i < nb; i++) {
		copy[i] = strdup(names[i]);
		if (copy[i] == NULL) {
			graph_names_free(copy, i);
			return NULL;
		}
	}
	return copy;
}

static void
node_reg_free(struct node_reg *node)
{
	graph_names_free(node->edges, node->nb_edges);
	graph_names_free(node->xstats, node->nb_xstats);
	free(node);
}

/* Give a node the lowest free id. */
static uint32_t
node_reg_insert(struct node_reg *node)
{
	struct node_reg **grown;
	uint32_t id = 0;

	while (id < nb_ids && nodes[id] != NULL)
		id++;
	if (id == nb_ids) {
		grown = realloc(nodes, (nb_ids + 1) * sizeof(*nodes));
		if (grown == NULL)
			return WEIR_GRAPH_NODE_INVALID;
		nodes = grown;
		nb_ids++;
	}
	nodes[id] = node;
	node->id = id;
	return id;
}

static uint32_t
refuse(int error, const char *name, const char *why)
{
	GRAPH_LOG(ERROR, "node '%s' is not registered: %s", name == NULL ? "" : name, why);
	rte_errno = error;
	return WEIR_GRAPH_NODE_INVALID;
}

static const char *
names_fault(const char *const *names, uint32_t nb)
{
	if (nb > 0 && names == NULL)
		return "a count without its array of names";
	for (uint32_t i = 0; i < nb; i++)
		if (!graph_name_valid(names[i]))
			return "a name in it is empty, too long, or has a sign other than letters, "
			       "digits, '_', '-', '.'";
	return NULL;
}

/* What is wrong with a registration; NULL when nothing is. */
static const char *
register_fault(const struct weir_graph_node_register *reg)
{
	const char *fault;

	if (reg == NULL)
		return "nothing is given";
	if (reg->abi_version != WEIR_GRAPH_ABI_VERSION)
		return "built for another ABI version of this library";
	if (reg->struct_size != sizeof(*reg))
		return "struct_size differs: built with another version of the header";
	if (!graph_name_valid(reg->name))
		return "its name is empty, too long, or has a sign other than letters, digits, "
		       "'_', '-', '.'";
	if (reg->process == NULL)
		return "it has no process()";
	if (reg->flags & ~(uint32_t)WEIR_GRAPH_NODE_SOURCE)
		return "it has a flag that this library does not know";
	if (reg->nb_edges > WEIR_GRAPH_EDGE_INVALID - 1)
		return "it has more edges than a decision can name";
	fault = names_fault(reg->next_nodes, reg->nb_edges);
	return fault != NULL ? fault : names_fault(reg->xstats, reg->nb_xstats);
}

static struct node_reg *
node_reg_new(const struct weir_graph_node_register *reg)
{
	struct node_reg *node = calloc(1, sizeof(*node));

	if (node == NULL)
		return NULL;
	node->parent = WEIR_GRAPH_NODE_INVALID;
	node->flags = reg->flags;
	node->state_size = reg->state_size;
	node->process = reg->process;
	node->init = reg->init;
	node->fini = reg->fini;
	node->adopt = reg->adopt;
	node->edges = graph_names_copy(reg->next_nodes, reg->nb_edges);
	node->xstats = graph_names_copy(reg->xstats, reg->nb_xstats);
	if (node->edges == NULL || node->xstats == NULL) {
		graph_names_free(node->edges, reg->nb_edges);
		graph_names_free(node->xstats, reg->nb_xstats);
		free(node);
		return NULL;
	}
	node->nb_edges = reg->nb_edges;
	node->nb_xstats = reg->nb_xstats;
	strcpy(node->name, reg->name); /* its length was checked */
	return node;
}

uint32_t
weir_graph_node_register(const struct weir_graph_node_register *reg)
{
	const char *fault = register_fault(reg);
	struct node_reg *node;
	uint32_t id;

	if (fault != NULL)
		return refuse(EINVAL,
			reg != NULL && reg->struct_size == sizeof(*reg) ? reg->name : NULL, fault);
	graph_lock();
	if (node_reg_find(reg->name) != NULL) {
		graph_unlock();
		return refuse(EEXIST, reg->name, "the name is taken");
	}
	node = node_reg_new(reg);
	id = node == NULL ? WEIR_GRAPH_NODE_INVALID : node_reg_insert(node);
	graph_unlock();
	if (id == WEIR_GRAPH_NODE_INVALID) {
		if (node != NULL)
			node_reg_free(node);
		return refuse(ENOMEM, reg->name, "out of memory");
	}
	return id;
}

static uint32_t
node_clone(const struct node_reg *parent, const char *name)
{
	struct weir_graph_node_register reg = {
		WEIR_GRAPH_NODE_HEADER,
		.name = name,
		.flags = parent->flags,
		.state_size = parent->state_size,
		.process = parent->process,
		.init = parent->init,
		.fini = parent->fini,
		.adopt = parent->adopt,
		.nb_edges = parent->nb_edges,
		.nb_xstats = parent->nb_xstats,
		.next_nodes = (const char *const *)parent->edges,
		.xstats = (const char *const *)parent->xstats,
	};
	uint32_t parent_id = parent->id;
	uint32_t id = weir_graph_node_register(&reg);

	if (id != WEIR_GRAPH_NODE_INVALID) {
		nodes[id]->parent = parent_id;
		memcpy(nodes[id]->ctx, nodes[parent_id]->ctx, sizeof(nodes[id]->ctx));
	}
	return id;
}

uint32_t
weir_graph_node_clone(uint32_t id, const char *suffix)
{
	char name[WEIR_GRAPH_NAME_SIZE];
	const struct node_reg *parent;
	uint32_t clone;
	int length;

	graph_lock();
	parent = node_reg_get(id);
	if (parent == NULL) {
		clone = refuse(ENOENT, suffix, "there is no node of that id to clone");
	} else if (suffix == NULL) {
		clone = refuse(EINVAL, parent->name, "no suffix is given for its clone");
	} else {
		length = snprintf(name, sizeof(name), "%s-%s", parent->name, suffix);
		clone = length < (int)sizeof(name)
				? node_clone(parent, name)
				: refuse(ENAMETOOLONG, suffix, "the name would be too long");
	}
	graph_unlock();
	return clone;
}

/* The next node of that id is nobody's parent. */
static void
forget_parent(uint32_t parent)
{
	for (uint32_t id = 0; id < nb_ids; id++)
		if (nodes[id] != NULL && nodes[id]->parent == parent)
			nodes[id]->parent = WEIR_GRAPH_NODE_INVALID;
}

int
weir_graph_node_free(uint32_t id)
{
	struct node_reg *node;
	int rc = 0;

	graph_lock();
	node = node_reg_get(id);
	if (node == NULL) {
		rc = -ENOENT;
	} else if (node->nb_graphs > 0) {
		GRAPH_LOG(ERROR, "node '%s' is not freed: %u graphs hold it", node->name,
			node->nb_graphs);
		rc = -EBUSY;
	} else {
		nodes[id] = NULL;
		forget_parent(id);
		node_reg_free(node);
	}
	graph_unlock();
	return rc;
}

uint32_t
weir_graph_node_from_name(const char *name)
{
	const struct node_reg *node;
	uint32_t id;

	graph_lock();
	node = name == NULL ? NULL : node_reg_find(name);
	id = node == NULL ? WEIR_GRAPH_NODE_INVALID : node->id;
	graph_unlock();
	return id;
}

const char *
weir_graph_node_name(uint32_t id)
{
	const struct node_reg *node;

	graph_lock();
	node = node_reg_get(id);
	graph_unlock();
	return node == NULL ? NULL : node->name;
}

uint32_t
weir_graph_node_max_count(void)
{
	uint32_t count;

	graph_lock();
	count = nb_ids;
	graph_unlock();
	return count;
}

int
weir_graph_node_ctx_set(uint32_t id, const void *ctx, size_t size)
{
	struct node_reg *node;
	int rc = 0;

	graph_lock();
	node = node_reg_get(id);
	if (node == NULL)
		rc = -ENOENT;
	else if (size > sizeof(node->ctx))
		rc = -E2BIG;
	else if (ctx == NULL && size > 0)
		rc = -EINVAL;
	else if (size > 0)
		memcpy(node->ctx, ctx, size);
	graph_unlock();
	return rc;
}
