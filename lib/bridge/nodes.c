/* SPDX-License-Identifier: BSD-3-Clause */

/* All kinds of nodes: made, and forgotten. */

#include <pthread.h>
#include <stdlib.h>

#include "job.h"
#include "link_rx.h"
#include "nodes.h"

static const char *const tx_xstats[BRIDGE_TX_NB_XSTATS] = {
	[BRIDGE_TX_PACKETS] = "packets",
	[BRIDGE_TX_FORWARDED] = "forwarded",
	[BRIDGE_TX_FULL] = "full",
	[BRIDGE_TX_CLOSED] = "closed",
};

static int
refuse_parent(const struct weir_graph *graph, const struct weir_graph_node *node)
{
	BRIDGE_LOG(ERROR,
		"node '%s' belongs to no queue; weir_bridge_tx_create() and _rx_create() make "
		"those that do",
		weir_graph_node_name_of(graph, node));
	return -ENODEV;
}

static int
tx_init(const struct weir_graph *graph, struct weir_graph_node *node)
{
	const struct bridge_tx *tx = ((const struct bridge_tx_ctx *)(const void *)node->ctx)->tx;
	struct bridge_tx_state *state = node->state;

	if (tx == NULL)
		return refuse_parent(graph, node);
	state->chains = calloc(tx->nb_queues, sizeof(*state->chains));
	return state->chains != NULL ? 0 : -ENOMEM;
}

static void
tx_fini(const struct weir_graph *graph, struct weir_graph_node *node)
{
	struct bridge_tx_state *state = node->state;

	free(state->chains);
	state->chains = NULL;
}

static int
rx_init(const struct weir_graph *graph, struct weir_graph_node *node)
{
	const struct bridge_rx_ctx *ctx = (const void *)node->ctx;

	return ctx->rx == NULL ? refuse_parent(graph, node) : 0;
}

static struct weir_graph_node_register sched_tx = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_SCHED_TX,
	.process = bridge_tx_process,
	.init = tx_init,
	.fini = tx_fini,
	.state_size = sizeof(struct bridge_tx_state),
	.nb_edges = 1,
	.next_nodes = (const char *const[]){WEIR_BASE_NODE_TX_EDGES},
	.nb_xstats = BRIDGE_TX_NB_XSTATS,
	.xstats = tx_xstats,
};
WEIR_GRAPH_NODE_REGISTER(sched_tx);

static struct weir_graph_node_register sched_rx = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_SCHED_RX,
	.flags = WEIR_GRAPH_NODE_SOURCE,
	.process = bridge_rx_process,
	.init = rx_init,
	.state_size = sizeof(struct bridge_state),
};
WEIR_GRAPH_NODE_REGISTER(sched_rx);

/* Nodes that were made, for those that forget them. Under a lock, as looks may come from any thread. */
struct made {
	struct made *next;
	uint32_t node;
	struct bridge_tx *tx; /* one of these */
	struct bridge_rx *rx;
	struct bridge_job *job;
	struct bridge_link *link;
};

static struct made *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Clone a node whose context is a pointer to @thing; WEIR_GRAPH_NODE_INVALID with rte_errno. */
static uint32_t
make(const char *parent, const char *name, const void *thing, const struct made *as)
{
	struct made *made = calloc(1, sizeof(*made));
	uint32_t id;
	int error;

	if (made == NULL) {
		rte_errno = ENOMEM;
		return WEIR_GRAPH_NODE_INVALID;
	}
	id = weir_graph_node_clone(weir_graph_node_from_name(parent), name);
	error = id == WEIR_GRAPH_NODE_INVALID ? -rte_errno
					      : weir_graph_node_ctx_set(id, &thing, sizeof(thing));
	if (error < 0) {
		BRIDGE_LOG(ERROR, "node '%s-%s' could not be made: %s", parent, name,
			strerror(-error));
		if (id != WEIR_GRAPH_NODE_INVALID)
			weir_graph_node_free(id);
		free(made);
		rte_errno = -error;
		return WEIR_GRAPH_NODE_INVALID;
	}
	*made = *as;
	made->node = id;
	pthread_mutex_lock(&lock);
	made->next = all;
	all = made;
	pthread_mutex_unlock(&lock);
	return id;
}

uint32_t
bridge_make_job(const char *name, struct bridge_job *job)
{
	return make("job", name, job, &(struct made){.job = job});
}

uint32_t
bridge_make_link(const char *name, struct bridge_link *link)
{
	return make("link_rx", name, link, &(struct made){.link = link});
}

/* Under the lock. */
static struct made **
find(uint32_t node)
{
	struct made **at = &all;

	while (*at != NULL && (*at)->node != node)
		at = &(*at)->next;
	return at;
}

static uint32_t
fail(int error)
{
	rte_errno = error;
	return WEIR_GRAPH_NODE_INVALID;
}

uint32_t
weir_bridge_tx_create(const struct weir_bridge_tx_param *param)
{
	struct bridge_tx *tx;
	uint32_t id;

	if (param == NULL || param->name == NULL || param->em == NULL || param->queues == NULL ||
		param->nb_queues == 0 || param->nb_queues > WEIR_BRIDGE_FLOWS_MAX ||
		(unsigned int)param->flow >= WEIR_BRIDGE_FLOWS) {
		BRIDGE_LOG(ERROR,
			"a sched_tx node needs a name, an event machine, 1 to %u queues, and a "
			"kind of flow that there is",
			WEIR_BRIDGE_FLOWS_MAX);
		return fail(EINVAL);
	}
	if (bridge_mark_register() < 0)
		return fail(ENOMEM);
	tx = calloc(1, sizeof(*tx) + param->nb_queues * sizeof(tx->queues[0]));
	if (tx == NULL)
		return fail(ENOMEM);
	tx->em = param->em;
	tx->flow = param->flow;
	tx->wait = param->wait;
	tx->nb_queues = param->nb_queues;
	memcpy(tx->queues, param->queues, param->nb_queues * sizeof(tx->queues[0]));
	id = make("sched_tx", param->name, tx, &(struct made){.tx = tx});
	if (id == WEIR_GRAPH_NODE_INVALID)
		free(tx);
	return id;
}

static int
lead_edges(uint32_t id, const struct weir_bridge_rx_param *param)
{
	int error = 0;

	for (unsigned int i = 0; error == 0 && i < param->nb_queues; i++) {
		const char *next = param->queues[i].next != NULL ? param->queues[i].next : "drop";

		error = weir_graph_node_edge_update(id, (uint16_t)i, &next, 1);
	}
	return error;
}

/* Queues know their edge; they belong to the object. */
static int
take_queues(struct bridge_rx *rx, const struct weir_bridge_rx_param *param)
{
	int error = 0;

	for (unsigned int i = 0; i < param->nb_queues; i++)
		for (unsigned int j = 0; error == 0 && j < param->queues[i].nb_queues; j++) {
			error = weir_em_queue_set_context(
				rx->em, param->queues[i].queues[j], (void *)(uintptr_t)i);
			if (error == 0)
				error = weir_em_object_add_queue(
					rx->em, rx->object, param->queues[i].queues[j]);
		}
	return error;
}

static int
make_object(struct bridge_rx *rx, const struct weir_bridge_rx_param *param)
{
	int error;

	rx->object = weir_em_object_create(
		rx->em, &(struct weir_em_object_config){.name = param->name,
				.context = rx,
				.receive = bridge_rx_receive,
				.burst = param->burst != 0 ? param->burst : WEIR_EM_BURST_MAX});
	if (rx->object == WEIR_EM_NONE)
		return -rte_errno;
	error = take_queues(rx, param);
	if (error == 0)
		error = weir_em_object_start(rx->em, NULL, rx->object, NULL);
	if (error < 0) {
		BRIDGE_LOG(ERROR, "the execution object of node 'sched_rx-%s': %s", param->name,
			strerror(-error));
		weir_em_object_delete(rx->em, NULL, rx->object, WEIR_EM_REMOVE_QUEUES);
	}
	return error;
}

uint32_t
weir_bridge_rx_create(const struct weir_bridge_rx_param *param)
{
	struct bridge_rx *rx;
	uint32_t id;
	int error;

	if (param == NULL || param->name == NULL || param->em == NULL || param->queues == NULL ||
		param->nb_queues == 0 || param->nb_queues >= WEIR_GRAPH_EDGE_INVALID) {
		BRIDGE_LOG(ERROR, "a sched_rx node needs a name, an event machine and queues");
		return fail(EINVAL);
	}
	if (bridge_mark_register() < 0)
		return fail(ENOMEM);
	rx = calloc(1, sizeof(*rx));
	if (rx == NULL)
		return fail(ENOMEM);
	rx->em = param->em;
	id = make("sched_rx", param->name, rx, &(struct made){.rx = rx});
	if (id == WEIR_GRAPH_NODE_INVALID) {
		free(rx);
		return id;
	}
	error = lead_edges(id, param);
	if (error == 0)
		error = make_object(rx, param);
	if (error == 0)
		return id;
	rx->object = WEIR_EM_NONE;
	weir_bridge_node_delete(id);
	return fail(-error);
}

int
weir_bridge_node_delete(uint32_t node)
{
	struct made **at, *made;
	int error;

	pthread_mutex_lock(&lock);
	at = find(node);
	made = *at;
	error = made == NULL ? -ENOENT : 0;
	if (error == 0 && made->job != NULL && weir_job_group_nb(&made->job->group) > 0)
		error = -EBUSY;
	if (error == 0)
		error = weir_graph_node_free(node);
	if (error == 0)
		*at = made->next;
	pthread_mutex_unlock(&lock);
	if (error < 0)
		return error;
	if (made->rx != NULL && made->rx->object != WEIR_EM_NONE) {
		weir_em_object_stop(made->rx->em, NULL, made->rx->object, NULL);
		weir_em_object_delete(made->rx->em, NULL, made->rx->object, WEIR_EM_REMOVE_QUEUES);
	}
	bridge_job_free(made->job);
	free(made->tx);
	free(made->rx);
	free(made->link);
	free(made);
	return 0;
}

int
weir_bridge_rx_stats(uint32_t node, struct weir_bridge_rx_stats *stats)
{
	const struct made *made;

	pthread_mutex_lock(&lock);
	made = *find(node);
	if (made != NULL && made->rx != NULL)
		*stats = (struct weir_bridge_rx_stats){
			.nb_unbound = __atomic_load_n(&made->rx->nb_unbound, __ATOMIC_RELAXED),
			.nb_foreign = __atomic_load_n(&made->rx->nb_foreign, __ATOMIC_RELAXED),
		};
	pthread_mutex_unlock(&lock);
	return made != NULL && made->rx != NULL ? 0 : -ENOENT;
}

int
weir_bridge_job_stats(uint32_t node, struct weir_bridge_job_stats *stats)
{
	const struct made *made;
	bool found;

	pthread_mutex_lock(&lock);
	made = *find(node);
	found = made != NULL && made->job != NULL;
	if (found)
		bridge_job_look(made->job, stats);
	pthread_mutex_unlock(&lock);
	return found ? 0 : -ENOENT;
}
