/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * punt: what the fast path leaves to others. For now there are none, so packets are
 * counted by reason, written to a capture file on request, as they came in, and freed.
 *
 * Uses:  weir_node_reason_get()
 *
 * The capture is for a person who wants to look: it takes a lock, and waits for the disk.
 */

#include "node_private.h"

#define GRACE_NS UINT64_C(10000000000)

static struct node_pcap_out *capture; /* atomic */

static uint16_t
punt_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	struct node_pcap_out *out = __atomic_load_n(&capture, __ATOMIC_ACQUIRE);

	for (uint16_t i = 0; i < nb_objs; i++)
		weir_graph_count(node, weir_node_reason_get(objs[i]), 1);
	if (unlikely(out != NULL))
		node_pcap_out_write(out, (struct rte_mbuf **)objs, nb_objs);
	rte_pktmbuf_free_bulk((struct rte_mbuf **)objs, nb_objs);
	return nb_objs;
}

/* Under the lock of ports. */
int
node_punt_capture_is(const struct stat *st)
{
	return capture != NULL && node_pcap_out_is(capture, st);
}

int
weir_node_punt_capture(const char *path)
{
	struct node_pcap_out *new_one = NULL;
	struct node_pcap_out *old_one;
	int rc = 0;

	node_port_lock();
	if (path != NULL)
		rc = node_pcap_out_open(&new_one, path);
	if (rc == 0) {
		old_one = __atomic_exchange_n(&capture, new_one, __ATOMIC_ACQ_REL);
		/* A walk under way may still write to the old one; if it never ends, that stays open. */
		if (old_one != NULL)
			rc = weir_graph_synchronize(GRACE_NS);
		if (rc == 0)
			rc = node_pcap_out_close(old_one);
	}
	node_port_unlock();
	return rc;
}

static struct weir_graph_node_register punt = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_PUNT,
	.process = punt_process,
	.nb_xstats = WEIR_NODE_REASON_COUNT,
	.xstats = weir_node_reason_xstats,
};
WEIR_GRAPH_NODE_REGISTER(punt);
