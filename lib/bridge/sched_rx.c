/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * sched_rx-NAME: packets that came as events, to the core that walks this graph.
 *
 * Next:  an edge for each of its queues
 *
 * The event machine calls the receive function; that notes which packets these are, and walks the graph; and the node brings them in.
 */

#include "bridge_private.h"

int bridge_mark_offset = -1;

int
bridge_mark_register(void)
{
	static const struct rte_mbuf_dynfield field = {
		.name = "weir_bridge",
		.size = sizeof(union bridge_mark),
		.align = __alignof__(union bridge_mark),
	};

	if (bridge_mark_offset >= 0)
		return 0;
	bridge_mark_offset = rte_mbuf_dynfield_register(&field);
	if (bridge_mark_offset >= 0)
		return 0;
	BRIDGE_LOG(
		ERROR, "mbufs have no room for %zu bytes: %s", field.size, rte_strerror(rte_errno));
	return -rte_errno;
}

/* Events that no graph can take: nobody else has them. */
static void
give_up(struct bridge_rx *rx, struct weir_em_core *core, struct rte_event *events, uint16_t nb,
	uint64_t *count)
{
	__atomic_fetch_add(count, nb, __ATOMIC_RELAXED);
	for (uint16_t i = 0; i < nb; i++)
		if (events[i].event_type == WEIR_EM_EVENT_BUFFER)
			weir_em_free(rx->em, core, events[i].mbuf);
}

void
bridge_rx_receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct bridge_rx *rx = context;
	struct bridge_graph *bound = rx->bound[weir_em_core_id(core)];
	uint16_t n = 0;

	if (unlikely(bound == NULL)) {
		give_up(rx, core, events, nb, &rx->nb_unbound);
		return;
	}
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = events[i].mbuf;

		if (unlikely(events[i].event_type != WEIR_EM_EVENT_BUFFER || m == NULL)) {
			give_up(rx, core, &events[i], 1, &rx->nb_foreign);
			continue;
		}
		weir_em_event_to_mbuf(rx->em, m);
		bridge_mark(m)->place = (uint8_t)n;
		bound->slots[n] = events[i].impl_opaque;
		bound->held[n++] = m;
	}
	bound->source = rx;
	bound->edge = (uint16_t)(uintptr_t)queue_context;
	bound->nb = n;
	weir_graph_walk(bound->graph);
	bound->nb = 0;
}

uint16_t
bridge_rx_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const struct bridge_rx_ctx *ctx = (const void *)node->ctx;
	struct bridge_graph *bound = ((const struct bridge_state *)node->state)->bound;

	if (bound == NULL || bound->source != ctx->rx)
		return 0;
	bound->source = NULL;
	weir_graph_enqueue(graph, node, bound->edge, (void **)bound->held, bound->nb);
	return bound->nb;
}
