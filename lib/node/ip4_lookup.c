/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ip4_lookup: may the packet be forwarded (RFC 1812, 5.2.2 and 5.3.7), and to which next hop?
 *
 * Uses:  weir_node_l3(), the IPv4 header, the port's checksum offload, routes
 * Sets:  weir_node_hop_id(), or the reason
 * Next:  ip4_rewrite  punt  drop
 *
 * Packets go through in steps. A step's headers are collected and the memory that its look-up will read
 * is sent for; three steps later, when it has come, the step is checked and looked up, refused packets
 * too: leaving them out costs more. So the memory is kept busy all the time, and nobody waits for it.
 */

#include "node_ip4_check.h"

/* Steps between asking for memory and using it: about 100 ns of other work. */
#define STEPS_AHEAD 3

/* Some packets of a step are refused, or have no route. */
static __rte_noinline void
note_some(const struct node_ip4_step *step, void **objs, uint16_t *nexts, uint32_t nb,
	struct weir_node_route4 routes)
{
	uint32_t hops[NODE_IP4_STEP];

	for (uint32_t i = 0; i < nb; i++)
		hops[i] = routes.slots == NULL ? WEIR_NODE_NO_ROUTE
					       : node_route4_lookup(routes.slots,
							 (uint32_t)step->address[i], routes.wide);
	node_lookup_note(objs, nexts, hops, nb, WEIR_NODE_REASON_IP4_NO_ROUTE);
}

/* Note the next hops of a step's packets. @return false when one has none */
static __rte_always_inline bool
note_all(const struct node_ip4_step *step, void **objs, uint32_t nb, const void *slots, bool wide)
{
	uint32_t worst = 0;

	for (uint32_t i = 0; i < nb; i++) {
		uint32_t hop = node_route4_lookup(slots, (uint32_t)step->address[i], wide);

		weir_node_hop_id_set(objs[i], hop);
		worst = RTE_MAX(worst, hop);
	}
	return worst != WEIR_NODE_NO_ROUTE;
}

/* Check and look up a step of packets, whose memory was asked for some steps ago. */
static __rte_always_inline void
finish_step(const struct node_ip4_step *step, void **objs, uint16_t *nexts, uint32_t nb,
	struct weir_node_route4 routes)
{
	uint32_t nb_refused = node_ip4_check(step, objs, nexts, nb);
	bool done;

	if (unlikely(nb_refused > 0 || routes.slots == NULL))
		done = false;
	else if (likely(!routes.wide))
		done = note_all(step, objs, nb, routes.slots, false);
	else
		done = note_all(step, objs, nb, routes.slots, true);
	if (unlikely(!done))
		note_some(step, objs, nexts, nb, routes);
}

static uint16_t
ip4_lookup_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	uint16_t *nexts = weir_graph_nexts(graph);
	struct node_ip4_step steps[STEPS_AHEAD + 1];
	const struct weir_node_route4 routes = node_route4();
	const uint32_t ahead = STEPS_AHEAD * NODE_IP4_STEP;

	for (uint32_t i = 0; i < nb_objs + ahead; i += NODE_IP4_STEP) {
		uint32_t done = i - ahead; /* where the step to be finished begins */

		if (i < nb_objs)
			node_ip4_collect(&steps[i / NODE_IP4_STEP % (STEPS_AHEAD + 1)], &objs[i],
				RTE_MIN(nb_objs - i, (uint32_t)NODE_IP4_STEP), routes);
		if (i >= ahead && done < nb_objs)
			finish_step(&steps[done / NODE_IP4_STEP % (STEPS_AHEAD + 1)], &objs[done],
				&nexts[done], RTE_MIN(nb_objs - done, (uint32_t)NODE_IP4_STEP),
				routes);
	}
	weir_graph_enqueue_nexts(graph, node, objs, nexts, nb_objs);
	return nb_objs;
}

static struct weir_graph_node_register ip4_lookup = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_IP4_LOOKUP,
	.process = ip4_lookup_process,
	.nb_edges = NODE_LOOKUP_NB_EDGES,
	.next_nodes = (const char *const[]){WEIR_BASE_NODE_IP4_LOOKUP_EDGES},
};
WEIR_GRAPH_NODE_REGISTER(ip4_lookup);
