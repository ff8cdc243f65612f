/* SPDX-License-Identifier: BSD-3-Clause */
/* A planted bug: reads a packet that was freed. */
#include "mbuf.h"

int
main(int argc, char **argv)
{
	struct rte_mbuf *m = mbuf_make(argv[argc - 1]);
	const volatile uint8_t *data = rte_pktmbuf_mtod(m, const volatile uint8_t *);

	rte_pktmbuf_free(m);
	return data[0] == 255;
}
