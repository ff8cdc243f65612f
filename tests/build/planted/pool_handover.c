/* SPDX-License-Identifier: BSD-3-Clause */
/* No bug: threads take mbufs from one pool, write and free them; the thread sanitizer must see the order. */
#include <pthread.h>

#include "mbuf.h"

static int failed;

static void *
use(void *arg)
{
	for (int i = 0; i < 20000; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		if (m == NULL) {
			__atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
			break;
		}
		memset(rte_pktmbuf_append(m, DATA_BYTES), i, DATA_BYTES);
		rte_pktmbuf_free(m);
	}
	return arg;
}

int
main(int argc, char **argv)
{
	struct rte_mbuf *m = mbuf_make(argv[argc - 1]);
	pthread_t threads[2];

	rte_pktmbuf_free(m);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, use, NULL) != 0)
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	weir_base_pool_free(pool);
	return failed;
}
