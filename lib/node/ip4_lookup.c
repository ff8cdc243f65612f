/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ip4_lookup: may the packet be forwarded (RFC 1812, 5.2.2 and 5.3.7), and to which next hop?
 *
 * Uses:  weir_node_l3(), the IPv4 header, the port's checksum offload, routes
 * Sets:  weir_node_hop_id(), or the reason; cuts Ethernet padding off
 * Next:  ip4_rewrite  punt  drop
 *
 * Packets go through in steps. A step's headers are checked and the memory that its look-up will read
 * is sent for; three steps later, when it has come, the step is looked up, refused packets too: leaving them
 * out costs more. So the memory is kept busy all the time, and nobody waits for it.
 */

#include "node_ip4_check.h"
#include "node_route.h"

/* Steps between asking for memory and using it: about 100 ns of other work. */
#define STEPS_AHEAD 3

enum {
	EDGE_REWRITE = NODE_IP4_EDGE_REWRITE,
	NB_EDGES,
};

/* Note the next hops of packets that are not refused yet, refuse those without. */
static __rte_noinline void
note_some(void **objs, uint16_t *nexts, const uint32_t *hops, uint32_t nb)
{
	for (uint32_t i = 0; i < nb; i++) {
		if (nexts[i] != EDGE_REWRITE)
			continue;
		if (hops[i] == WEIR_NODE_NO_ROUTE)
			nexts[i] = node_refuse(objs[i], WEIR_NODE_REASON_IP4_NO_ROUTE);
		else
			weir_node_hop_id_set(objs[i], hops[i]);
	}
}

/* Look up a step of packets, whose memory was asked for some steps ago. */
static __rte_always_inline void
lookup_step(
	void **objs, uint16_t *nexts, const uint32_t *addresses, uint32_t nb, uint32_t nb_refused)
{
	uint32_t hops[NODE_IP4_STEP];
	uint32_t worst = 0;

	node_route_lookup4_near(addresses, hops, nb);
	for (uint32_t i = 0; i < nb; i++)
		worst = RTE_MAX(worst, hops[i]);
	if (unlikely(nb_refused > 0 || worst == WEIR_NODE_NO_ROUTE)) {
		note_some(objs, nexts, hops, nb);
		return;
	}
	for (uint32_t i = 0; i < nb; i++)
		weir_node_hop_id_set(objs[i], hops[i]);
}

static uint16_t
ip4_lookup_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	uint16_t *nexts = weir_graph_nexts(graph);
	uint32_t addresses[STEPS_AHEAD + 1][NODE_IP4_STEP], refused[STEPS_AHEAD + 1];
	const uint32_t nb_steps = (nb_objs + NODE_IP4_STEP - 1u) / NODE_IP4_STEP;

	for (uint32_t step = 0; step < nb_steps + STEPS_AHEAD; step++) {
		uint32_t from = step * NODE_IP4_STEP, slot = step % (STEPS_AHEAD + 1);

		if (step < nb_steps)
			refused[slot] = node_ip4_check(&objs[from], &nexts[from], addresses[slot],
				RTE_MIN(nb_objs - from, (uint32_t)NODE_IP4_STEP));
		if (step < STEPS_AHEAD)
			continue;
		from -= STEPS_AHEAD * NODE_IP4_STEP;
		slot = (step - STEPS_AHEAD) % (STEPS_AHEAD + 1);
		if (from < nb_objs)
			lookup_step(&objs[from], &nexts[from], addresses[slot],
				RTE_MIN(nb_objs - from, (uint32_t)NODE_IP4_STEP), refused[slot]);
	}
	weir_graph_enqueue_nexts(graph, node, objs, nexts, nb_objs);
	return nb_objs;
}

static struct weir_graph_node_register ip4_lookup = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "ip4_lookup",
	.process = ip4_lookup_process,
	.nb_edges = NB_EDGES,
	.next_nodes =
		(const char *const[]){
			[NODE_EDGE_DROP] = "drop",
			[NODE_EDGE_PUNT] = "punt",
			[EDGE_REWRITE] = "ip4_rewrite",
		},
};
WEIR_GRAPH_NODE_REGISTER(ip4_lookup);
