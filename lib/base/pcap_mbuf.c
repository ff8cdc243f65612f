/* SPDX-License-Identifier: BSD-3-Clause */
/* What was captured, as packets. */
#include <string.h>

#include <rte_mbuf.h>

#include "weir_base_pcap.h"

struct rte_mbuf *
weir_base_pcap_to_mbuf(struct rte_mempool *pool, const uint8_t *bytes, uint32_t nb_bytes)
{
	struct rte_mbuf *head = rte_pktmbuf_alloc(pool);
	struct rte_mbuf *tail = head;

	if (head == NULL)
		return NULL;
	for (;;) {
		uint16_t room = rte_pktmbuf_tailroom(tail);
		uint16_t take = (uint16_t)RTE_MIN(nb_bytes, (uint32_t)room);

		memcpy(rte_pktmbuf_mtod(tail, void *), bytes, take);
		tail->data_len = take;
		head->pkt_len += take;
		bytes += take;
		nb_bytes -= take;
		if (nb_bytes == 0)
			return head;
		tail->next = rte_pktmbuf_alloc(pool);
		if (tail->next == NULL || head->nb_segs == RTE_MBUF_MAX_NB_SEGS) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		tail = tail->next;
		head->nb_segs++;
	}
}
