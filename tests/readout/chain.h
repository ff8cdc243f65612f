/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_READOUT_CHAIN_H
#define WEIR_TESTS_READOUT_CHAIN_H

/* Links behind a queue of packets, as an application has them, whose consumer counts and lets go. One test's at a time. */

#include "../coro/eal.h"

#include "weir_readout_dispatch.h"

#define CHAIN_LINKS_MAX 8
#define CHAIN_MBUFS     256
#define CHAIN_ROOM      (7242 + 128)

struct chain {
	struct rte_mempool *pool;
	struct weir_readout_registry *registry;
	struct weir_readout_dispatch *dispatch;
	struct weir_readout_link *links[CHAIN_LINKS_MAX];
	uint32_t nb_links;
	uint64_t nb_consumed;
};

extern struct chain chain;

/* The pool, a queue, a consumer; no link yet. */
void chain_make(void);
/* All mbufs must have come back. */
void chain_free(void);
/* A link of this key, bound to the consumer. */
struct weir_readout_link *chain_add(struct weir_readout_link_config config);

/* Counters, whose sums must agree. */
struct weir_readout_link_stats chain_link(uint32_t link);
struct weir_readout_dispatch_stats chain_queue(void);

#endif
