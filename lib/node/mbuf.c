/* SPDX-License-Identifier: BSD-3-Clause */

/* Packet buffers off the beaten track: several segments, shared, cut short. */

#include "node_private.h"

struct node_dyn weir_node_dyn;

int
node_dyn_register(void)
{
	static const struct rte_mbuf_dynfield missing_field = {
		.name = "weir_dynfield_missing",
		.size = sizeof(uint32_t),
		.align = __alignof__(uint32_t),
	};
	static const struct rte_mbuf_dynflag missing_flag = {.name = "weir_dynflag_missing"};
	struct node_dyn dyn = {0};
	int bit;

	if (weir_node_dyn.missing_flag != 0)
		return 0;
	if (rte_mbuf_dyn_rx_timestamp_register(&dyn.timestamp, &dyn.timestamp_flag) < 0 ||
		(dyn.missing = rte_mbuf_dynfield_register(&missing_field)) < 0 ||
		(bit = rte_mbuf_dynflag_register(&missing_flag)) < 0) {
		NODE_LOG(ERROR, "no room in mbufs for the timestamps of pcap files: %s",
			rte_strerror(rte_errno));
		return -rte_errno;
	}
	dyn.missing_flag = UINT64_C(1) << bit;
	weir_node_dyn = dyn;
	return 0;
}

static bool
is_exclusive(const struct rte_mbuf *m)
{
	if (rte_mbuf_refcnt_read(m) != 1 || RTE_MBUF_CLONED(m))
		return false;
	return !RTE_MBUF_HAS_EXTBUF(m) || rte_mbuf_ext_refcnt_read(m->shinfo) == 1;
}

/*
 * Move bytes from later segments into the first until it holds @p length.
 * -ENOBUFS when it has no room or somebody else uses one of the segments.
 */
int
node_mbuf_pull(struct rte_mbuf *m, uint32_t length)
{
	struct rte_mbuf *seg;
	uint32_t need;

	length = RTE_MIN(length, m->pkt_len);
	if (length <= m->data_len)
		return 0;
	need = length - m->data_len;
	if (!is_exclusive(m) || rte_pktmbuf_tailroom(m) < need)
		return -ENOBUFS;
	for (seg = m->next; seg != NULL; seg = seg->next)
		if (rte_mbuf_refcnt_read(seg) != 1)
			return -ENOBUFS;
	for (seg = m->next; need > 0; seg = seg->next) {
		uint16_t take = (uint16_t)RTE_MIN(need, (uint32_t)seg->data_len);

		memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len),
			rte_pktmbuf_mtod(seg, uint8_t *), take);
		m->data_len += take;
		seg->data_off += take;
		seg->data_len -= take;
		need -= take;
	}
	return 0;
}

/*
 * The frame is @p length bytes: cut what is beyond, or note how much of it the
 * capture left out.
 */
void
node_mbuf_set_wire_length(struct rte_mbuf *m, uint32_t length)
{
	if (length > m->pkt_len) {
		m->ol_flags |= weir_node_dyn.missing_flag;
		*RTE_MBUF_DYNFIELD(m, weir_node_dyn.missing, uint32_t *) = length - m->pkt_len;
		return;
	}
	m->ol_flags &= ~weir_node_dyn.missing_flag;
	if (m->nb_segs == 1) {
		m->data_len = (uint16_t)length;
	} else if (length < m->pkt_len) {
		struct rte_mbuf *seg = m;
		uint16_t nb_segs = 1;
		uint32_t left = length;

		while (left > seg->data_len) {
			left -= seg->data_len;
			seg = seg->next;
			nb_segs++;
		}
		seg->data_len = (uint16_t)left;
		if (seg->next != NULL)
			rte_pktmbuf_free(seg->next);
		seg->next = NULL;
		m->nb_segs = nb_segs;
	}
	m->pkt_len = length;
}

/* Is one of the segments behind the first in use elsewhere too? */
static bool
has_shared_rest(const struct rte_mbuf *m)
{
	for (const struct rte_mbuf *seg = m->next; seg != NULL; seg = seg->next)
		if (rte_mbuf_refcnt_read(seg) != 1)
			return true;
	return false;
}

/*
 * The packet itself when its first segment may be written and has room in front for
 * @p growth more bytes, and it may be cut to @p length bytes if it is longer; or else a copy, cut. NULL
 * without memory.
 */
struct rte_mbuf *
node_mbuf_own(struct rte_mbuf *m, int32_t growth, uint32_t length)
{
	struct rte_mempool *pool = weir_node_port_of(m)->pool;
	struct rte_mbuf *copy;

	if (is_exclusive(m) && (int32_t)rte_pktmbuf_headroom(m) >= growth &&
		(length >= m->pkt_len || !has_shared_rest(m)))
		return m;
	if (pool == NULL)
		pool = m->pool;
	/* A pool of indirect buffers has no room for data of its own. */
	if (rte_pktmbuf_data_room_size(pool) <= RTE_PKTMBUF_HEADROOM)
		return NULL;
	copy = rte_pktmbuf_copy(m, pool, 0, RTE_MIN(length, m->pkt_len));
	if (copy == NULL)
		return NULL;
	rte_pktmbuf_free(m);
	return copy;
}
