/* SPDX-License-Identifier: BSD-3-Clause */

/* The list of graphs: create, clone, destroy, look up, and the grace period of lock-free updates. */

#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "graph_private.h"

static struct weir_graph **graphs; /* by id; NULL: free */
static uint32_t nb_ids;

struct weir_graph *
graph_at(uint32_t id)
{
	return id < nb_ids ? graphs[id] : NULL;
}

static struct weir_graph *
graph_find(const char *name)
{
	for (uint32_t id = 0; id < nb_ids; id++)
		if (graphs[id] != NULL && strcmp(graphs[id]->slow->name, name) == 0)
			return graphs[id];
	return NULL;
}

static int
graph_insert(struct weir_graph *graph)
{
	struct weir_graph **grown;
	uint32_t id = 0;

	while (id < nb_ids && graphs[id] != NULL)
		id++;
	if (id == nb_ids) {
		grown = realloc(graphs, (nb_ids + 1) * sizeof(*graphs));
		if (grown == NULL)
			return -ENOMEM;
		graphs = grown;
		nb_ids++;
	}
	graphs[id] = graph;
	graph->slow->id = id;
	return 0;
}

/* Registering for expedited barriers is needed once and harmless again. */
static bool
membarrier_available(void)
{
	return syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static void
nodes_fini(struct weir_graph *graph, uint32_t nb)
{
	struct weir_graph_slow *slow = graph->slow;

	for (uint32_t pos = nb; pos-- > 0;)
		if (slow->info[pos].fini != NULL)
			slow->info[pos].fini(graph, graph->nodes[pos]);
}

static void
nodes_hold(const struct weir_graph *graph, int change)
{
	for (uint32_t pos = 0; pos < graph->slow->nb_nodes; pos++)
		node_reg_get(graph->slow->info[pos].id)->nb_graphs += (uint32_t)change;
}

static int
nodes_init(struct weir_graph *graph)
{
	struct weir_graph_slow *slow = graph->slow;

	for (uint32_t pos = 0; pos < slow->nb_nodes; pos++) {
		const struct node_reg *reg = node_reg_get(slow->info[pos].id);
		int rc = reg->init == NULL ? 0 : reg->init(graph, graph->nodes[pos]);

		if (rc < 0) {
			GRAPH_LOG(ERROR, "graph '%s' is not created: init() of node '%s' says %s",
				slow->name, slow->info[pos].name, strerror(-rc));
			nodes_fini(graph, pos);
			return rc;
		}
	}
	return 0;
}

static const char *
param_fault(const char *name, const struct weir_graph_param *param)
{
	if (!graph_name_valid(name))
		return "its name is empty, too long, or has a sign other than letters, digits, "
		       "'_', '-', '.'";
	if (param == NULL || param->nb_node_patterns == 0 || param->node_patterns == NULL)
		return "no node patterns are given";
	for (uint32_t i = 0; i < param->nb_node_patterns; i++)
		if (param->node_patterns[i] == NULL)
			return "one of its node patterns is NULL";
	if (param->burst > WEIR_GRAPH_BURST_MAX)
		return "its burst is above WEIR_GRAPH_BURST_MAX";
	return NULL;
}

static uint32_t
refuse(int error, const char *name, const char *why)
{
	if (why != NULL)
		GRAPH_LOG(ERROR, "graph '%s' is not created: %s", name == NULL ? "" : name, why);
	rte_errno = error;
	return WEIR_GRAPH_ID_INVALID;
}

static uint32_t
graph_create(const char *name, const struct weir_graph_param *param)
{
	struct weir_graph *graph;
	int rc;

	if (graph_find(name) != NULL)
		return refuse(EEXIST, name, "the name is taken");
	graph = graph_build(name, param);
	if (graph == NULL)
		return WEIR_GRAPH_ID_INVALID;
	graph->full_fence = !membarrier_available();
	nodes_hold(graph, 1);
	rc = graph_insert(graph); /* before init(): it may ask for the graph's id */
	if (rc == 0) {
		rc = nodes_init(graph);
		if (rc < 0)
			graphs[graph->slow->id] = NULL;
	}
	if (rc < 0) {
		nodes_hold(graph, -1);
		graph_free(graph);
		return refuse(-rc, name, rc == -ENOMEM ? "out of memory" : NULL);
	}
	return graph->slow->id;
}

uint32_t
weir_graph_create(const char *name, const struct weir_graph_param *param)
{
	const char *fault = param_fault(name, param);
	uint32_t id;

	if (fault != NULL)
		return refuse(EINVAL, name, fault);
	graph_lock();
	id = graph_create(name, param);
	graph_unlock();
	return id;
}

/*
 * The parent's nodes are selected by name, not by its patterns again: nodes
 * that came later may match those. No sign of a name means anything to fnmatch(3).
 */
static uint32_t
graph_clone(const struct weir_graph *parent, const char *suffix)
{
	const struct weir_graph_slow *slow = parent->slow;
	const char **names = calloc(slow->nb_nodes, sizeof(*names));
	struct weir_graph_param param = {
		.socket_id = slow->socket_id,
		.nb_node_patterns = slow->nb_nodes,
		.node_patterns = names,
		.burst = (uint16_t)parent->burst,
		.clock_period = (uint16_t)slow->clock_period,
		.discard = slow->discard,
		.discard_arg = slow->discard_arg,
	};
	char name[WEIR_GRAPH_NAME_SIZE];
	uint32_t id;

	if (names == NULL)
		return refuse(ENOMEM, suffix, "out of memory");
	for (uint32_t pos = 0; pos < slow->nb_nodes; pos++)
		names[pos] = slow->info[pos].name;
	if (snprintf(name, sizeof(name), "%s-%s", slow->name, suffix) >= (int)sizeof(name))
		id = refuse(ENAMETOOLONG, suffix, "the name would be too long");
	else
		id = weir_graph_create(name, &param);
	free(names);
	return id;
}

uint32_t
weir_graph_clone(uint32_t id, const char *suffix)
{
	const struct weir_graph *parent;
	uint32_t clone;

	graph_lock();
	parent = graph_at(id);
	if (parent == NULL)
		clone = refuse(ENOENT, suffix, "there is no graph of that id to clone");
	else if (suffix == NULL)
		clone = refuse(EINVAL, parent->slow->name, "no suffix is given for its clone");
	else
		clone = graph_clone(parent, suffix);
	graph_unlock();
	return clone;
}

static bool
in_walk(const struct weir_graph *graph)
{
	return __atomic_load_n(&graph->seq, __ATOMIC_ACQUIRE) & 1;
}

int
weir_graph_destroy(uint32_t id)
{
	struct weir_graph *graph;
	int rc = 0;

	graph_lock();
	graph = graph_at(id);
	if (graph == NULL) {
		rc = -ENOENT;
	} else if (in_walk(graph)) {
		GRAPH_LOG(ERROR, "graph '%s' is not destroyed: a thread is walking it",
			graph->slow->name);
		rc = -EBUSY;
	} else {
		graph_cluster_retire(graph);
		nodes_fini(graph, graph->slow->nb_nodes);
		nodes_hold(graph, -1);
		graphs[id] = NULL;
		graph_free(graph);
	}
	graph_unlock();
	return rc;
}

static int
graph_adopt(struct weir_graph *old_graph, struct weir_graph *new_graph)
{
	for (uint32_t pos = 0; pos < new_graph->slow->nb_nodes; pos++) {
		const struct node_info *info = &new_graph->slow->info[pos];
		struct weir_graph_node *old_node =
			weir_graph_node_get_by_name(old_graph, info->name);
		int rc;

		if (info->adopt == NULL || old_node == NULL)
			continue;
		rc = info->adopt(old_node, new_graph->nodes[pos]);
		if (rc < 0) {
			GRAPH_LOG(ERROR, "adopt() of node '%s' says %s", info->name, strerror(-rc));
			return rc;
		}
	}
	return 0;
}

int
weir_graph_adopt(uint32_t old_id, uint32_t new_id)
{
	struct weir_graph *old_graph, *new_graph;
	int rc;

	graph_lock();
	old_graph = graph_at(old_id);
	new_graph = graph_at(new_id);
	if (old_graph == NULL || new_graph == NULL)
		rc = -ENOENT;
	else if (old_graph == new_graph)
		rc = -EINVAL;
	else if (in_walk(old_graph) || in_walk(new_graph))
		rc = -EBUSY;
	else
		rc = graph_adopt(old_graph, new_graph);
	graph_unlock();
	return rc;
}

uint32_t
weir_graph_from_name(const char *name)
{
	const struct weir_graph *graph;
	uint32_t id;

	graph_lock();
	graph = name == NULL ? NULL : graph_find(name);
	id = graph == NULL ? WEIR_GRAPH_ID_INVALID : graph->slow->id;
	graph_unlock();
	return id;
}

struct weir_graph *
weir_graph_get(uint32_t id)
{
	struct weir_graph *graph;

	graph_lock();
	graph = graph_at(id);
	graph_unlock();
	return graph;
}

const char *
weir_graph_name(uint32_t id)
{
	const struct weir_graph *graph;
	const char *name;

	graph_lock();
	graph = graph_at(id);
	name = graph == NULL ? NULL : graph->slow->name;
	graph_unlock();
	return name;
}

uint32_t
weir_graph_max_count(void)
{
	uint32_t count;

	graph_lock();
	count = nb_ids;
	graph_unlock();
	return count;
}

struct weir_graph *
weir_graph_lookup(const char *name)
{
	struct weir_graph *graph;

	graph_lock();
	graph = name == NULL ? NULL : graph_find(name);
	graph_unlock();
	return graph;
}

uint32_t
weir_graph_id(const struct weir_graph *graph)
{
	return graph->slow->id;
}

uint32_t
weir_graph_node_count(const struct weir_graph *graph)
{
	return graph->slow->nb_nodes;
}

struct weir_graph_node *
weir_graph_node_at(const struct weir_graph *graph, uint32_t index)
{
	return index < graph->slow->nb_nodes ? graph->nodes[index] : NULL;
}

struct weir_graph_node *
weir_graph_node_get(const struct weir_graph *graph, uint32_t node_id)
{
	for (uint32_t pos = 0; pos < graph->slow->nb_nodes; pos++)
		if (graph->slow->info[pos].id == node_id)
			return graph->nodes[pos];
	return NULL;
}

struct weir_graph_node *
weir_graph_node_get_by_name(const struct weir_graph *graph, const char *name)
{
	for (uint32_t pos = 0; pos < graph->slow->nb_nodes; pos++)
		if (strcmp(graph->slow->info[pos].name, name) == 0)
			return graph->nodes[pos];
	return NULL;
}

const char *
weir_graph_node_name_of(const struct weir_graph *graph, const struct weir_graph_node *node)
{
	return graph->slow->info[node->pos].name;
}

/* Wait until the walk that was under way at @seq has ended. */
static int
wait_past(const struct weir_graph *graph, uint64_t seq, uint64_t deadline_ns)
{
	for (uint32_t spins = 0;; spins++) {
		/* Before the look: time that this thread did not run is not the worker's fault. */
		bool late = spins >= 100 && weir_base_time_ns() > deadline_ns;

		if (__atomic_load_n(&graph->seq, __ATOMIC_ACQUIRE) != seq)
			return 0;
		if (spins < 100)
			continue;
		if (late) {
			GRAPH_LOG(ERROR, "graph '%s' has not reached the end of a walk in time",
				graph->slow->name);
			return -ETIMEDOUT;
		}
		sched_yield();
	}
}

/*
 * A worker marks its walk (seq becomes odd) with a plain store before it reads
 * what others update. That is enough only if no store is still in its store buffer
 * when we look: membarrier() sees to that on our side, so that walks need no fence.
 */
int
weir_graph_synchronize(uint64_t timeout_ns)
{
	uint64_t now_ns = weir_base_time_ns();
	uint64_t deadline_ns = timeout_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + timeout_ns;
	int rc = 0;

	graph_lock();
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	(void)syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	for (uint32_t id = 0; id < nb_ids && rc == 0; id++) {
		uint64_t seq;

		if (graphs[id] == NULL)
			continue;
		seq = __atomic_load_n(&graphs[id]->seq, __ATOMIC_ACQUIRE);
		if (seq & 1)
			rc = wait_past(graphs[id], seq, deadline_ns);
	}
	graph_unlock();
	return rc;
}
