/* SPDX-License-Identifier: BSD-3-Clause */
/* No bug: packets are made, cut, joined, freed, pools as well; the guard must not mind. */
#include "mbuf.h"

static int
fill_and_free(struct rte_mempool *from)
{
	struct rte_mbuf *mbufs[255];

	for (int round = 0; round < 3; round++) {
		if (rte_pktmbuf_alloc_bulk(from, mbufs, RTE_DIM(mbufs)) != 0)
			return -1;
		if (rte_pktmbuf_alloc(from) != NULL)
			return -1;
		for (unsigned int i = 0; i < RTE_DIM(mbufs); i++) {
			char *data = rte_pktmbuf_append(mbufs[i], (uint16_t)(i + 1));

			memset(data, 1, i + 1);
			weir_base_mbuf_guard(mbufs[i]);
			if (rte_pktmbuf_prepend(mbufs[i], 14) == NULL)
				return -1;
			memset(rte_pktmbuf_mtod(mbufs[i], void *), 2, 14 + i + 1);
		}
		rte_pktmbuf_free_bulk(mbufs, RTE_DIM(mbufs));
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct rte_mbuf *m = mbuf_make(argv[argc - 1]);
	struct rte_mbuf *clone;

	if (rte_pktmbuf_mtod(m, uint8_t *)[DATA_BYTES - 1] != 7)
		return 1;
	clone = rte_pktmbuf_clone(m, pool);
	weir_base_mbuf_guard(clone); /* not its own buffer */
	rte_pktmbuf_free(m);
	if (rte_pktmbuf_mtod(clone, uint8_t *)[0] != 7)
		return 2;
	rte_pktmbuf_free(clone);
	for (int i = 0; i < 3; i++) {
		if (fill_and_free(pool) != 0)
			return 3;
		weir_base_pool_free(pool);
		pool = weir_base_pool_create("planted", 255, 32, 2048, SOCKET_ID_ANY, NULL);
		if (pool == NULL)
			return 4;
	}
	weir_base_pool_free(pool);
	weir_base_pool_free(NULL);
	return 0;
}
