/* SPDX-License-Identifier: BSD-3-Clause */
/* A planted bug: reads one byte behind a packet's data. */
#include "mbuf.h"

int
main(int argc, char **argv)
{
	struct rte_mbuf *m = mbuf_make(argv[argc - 1]);
	const volatile uint8_t *data = rte_pktmbuf_mtod(m, const volatile uint8_t *);

	weir_base_mbuf_guard(m);
	return data[DATA_BYTES] == 255;
}
