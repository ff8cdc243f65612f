/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * sched_tx-NAME: packets become events.
 *
 * Uses:  the device's RSS hash, or headers
 * Next:  drop what is refused
 */

#include "nodes.h"

/* Those of one vector with the same flow, in a chain. */
static inline uint16_t
chain_flows(const struct bridge_tx *tx, struct bridge_tx_state *state, struct rte_mbuf **mbufs,
	uint16_t nb)
{
	uint16_t nb_flows = 0;

	for (uint16_t i = 0; i < nb; i++) {
		uint32_t hash = bridge_flow_hash(mbufs[i], tx->flow);
		struct bridge_chain *chain = &state->chains[(uint64_t)hash * tx->nb_queues >> 32];

		if (chain->nb++ == 0) {
			chain->first = i;
			state->touched[nb_flows++] = (uint16_t)(chain - state->chains);
		} else {
			state->next[chain->last] = i;
		}
		chain->last = i;
	}
	return nb_flows;
}

/* Is it one of those that this walk began with, and not forwarded yet? */
static inline bool
is_held(const struct bridge_graph *bound, const struct rte_mbuf *m)
{
	uint8_t place = bridge_mark(m)->place;

	return place < bound->nb && bound->held[place] == m;
}

static void
refuse(struct weir_graph *graph, struct weir_graph_node *node, struct bridge_graph *bound,
	struct rte_event *events, uint16_t nb, int error)
{
	bool full = error == ENOSPC;

	for (uint16_t i = 0; i < nb; i++) {
		if (bound != NULL)
			weir_em_event_to_mbuf(bound->em, events[i].mbuf);
		weir_node_reason_set(events[i].mbuf,
			full ? WEIR_NODE_REASON_SCHED_FULL : WEIR_NODE_REASON_SCHED_CLOSED);
		weir_graph_enqueue_x1(graph, node, 0, events[i].mbuf);
	}
	weir_graph_count(node, full ? BRIDGE_TX_FULL : BRIDGE_TX_CLOSED, nb);
}

static void
forward(struct weir_graph *graph, struct weir_graph_node *node, struct bridge_graph *bound,
	weir_em_queue queue, struct rte_event *events, uint16_t nb)
{
	uint16_t n = weir_em_forward_burst(bound->core, queue, events, nb);

	if (unlikely(n < nb))
		refuse(graph, node, bound, events + n, (uint16_t)(nb - n), rte_errno);
	weir_graph_count(node, BRIDGE_TX_FORWARDED, n);
	weir_graph_count(node, BRIDGE_TX_PACKETS, n);
}

static void
send_new(struct weir_graph *graph, struct weir_graph_node *node, const struct bridge_tx *tx,
	struct bridge_graph *bound, weir_em_queue queue, struct rte_event *events, uint16_t nb)
{
	uint16_t n = weir_em_send(bound->core, queue, events, nb);
	uint32_t spins = 0;

	while (unlikely(n < nb) && rte_errno == ENOSPC && tx->wait && bridge_may_wait(bound)) {
		bridge_make_room(bound, &spins);
		n += weir_em_send(bound->core, queue, events + n, (uint16_t)(nb - n));
	}
	if (unlikely(n < nb))
		refuse(graph, node, bound, events + n, (uint16_t)(nb - n), rte_errno);
	weir_graph_count(node, BRIDGE_TX_PACKETS, n);
}

/* A chain's packets, in order: runs of what is held and what is new. */
static void
send_chain(struct weir_graph *graph, struct weir_graph_node *node, const struct bridge_tx *tx,
	struct bridge_graph *bound, struct rte_mbuf **mbufs, const struct bridge_chain *chain,
	const uint16_t *next)
{
	weir_em_queue queue = tx->queues[chain - ((struct bridge_tx_state *)node->state)->chains];
	struct rte_event events[WEIR_EM_BURST_MAX];
	uint16_t i = chain->first, left = chain->nb, nb;

	while (left > 0) {
		const bool held = is_held(bound, mbufs[i]);

		for (nb = 0; nb < WEIR_EM_BURST_MAX && left > 0 && is_held(bound, mbufs[i]) == held;
			nb++, left--) {
			events[nb] = weir_em_event_from_mbuf(bound->em, mbufs[i]);
			if (held) {
				uint8_t place = bridge_mark(mbufs[i])->place;

				events[nb].impl_opaque = bound->slots[place];
				bound->held[place] = NULL;
			}
			i = next[i];
		}
		if (held)
			forward(graph, node, bound, queue, events, nb);
		else
			send_new(graph, node, tx, bound, queue, events, nb);
	}
}

/* A vector, or a piece of it. */
static void
send_some(struct weir_graph *graph, struct weir_graph_node *node, struct rte_mbuf **mbufs,
	uint16_t nb)
{
	const struct bridge_tx *tx = ((const struct bridge_tx_ctx *)(const void *)node->ctx)->tx;
	struct bridge_tx_state *state = node->state;
	uint16_t nb_flows = chain_flows(tx, state, mbufs, nb);

	for (uint16_t i = 0; i < nb_flows; i++) {
		/* a walk of another graph may come in between, but not of this one */
		struct bridge_chain *chain = &state->chains[state->touched[i]];

		send_chain(graph, node, tx, state->head.bound, mbufs, chain, state->next);
		chain->nb = 0;
	}
}

uint16_t
bridge_tx_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const struct bridge_tx_state *state = node->state;
	uint16_t nb;

	if (unlikely(state->head.bound == NULL)) {
		for (uint16_t i = 0; i < nb_objs; i++) {
			struct rte_event event = {.mbuf = objs[i]};

			refuse(graph, node, NULL, &event, 1, ESTALE);
		}
		return nb_objs;
	}
	for (uint16_t i = 0; i < nb_objs; i += nb) {
		nb = RTE_MIN((uint16_t)(nb_objs - i), (uint16_t)BRIDGE_TX_PIECE);
		send_some(graph, node, (struct rte_mbuf **)objs + i, nb);
	}
	return nb_objs;
}
