/* SPDX-License-Identifier: BSD-3-Clause */
#include "chain.h"

#include <stdio.h>

#include "weir_base_pool.h"

struct chain chain;

static void
consume(void *arg, const void *messages, uint32_t nb)
{
	chain.nb_consumed += nb;
	weir_readout_item_release(messages, nb);
}

void
chain_make(void)
{
	chain = (struct chain){0};
	chain.pool =
		weir_base_pool_create("chain", CHAIN_MBUFS, 0, CHAIN_ROOM, SOCKET_ID_ANY, NULL);
	assert_non_null(chain.pool);
	chain.registry = weir_readout_registry_create();
	assert_non_null(chain.registry);
	chain.dispatch = weir_readout_dispatch_create(1);
	assert_non_null(chain.dispatch);
	assert_non_null(weir_readout_sink_create(
		chain.registry, &(struct weir_readout_sink_config){.name = "consumer",
					.type = &weir_readout_item_type,
					.shared = true,
					.receive = consume}));
}

void
chain_free(void)
{
	weir_readout_dispatch_free(chain.dispatch);
	for (uint32_t i = 0; i < chain.nb_links; i++)
		weir_readout_link_free(chain.links[i]);
	weir_readout_registry_free(chain.registry);
	assert_int_equal(rte_mempool_avail_count(chain.pool), CHAIN_MBUFS);
	weir_base_pool_free(chain.pool);
}

struct weir_readout_link *
chain_add(struct weir_readout_link_config config)
{
	struct weir_readout_link *link;
	char name[32];

	assert_true(chain.nb_links < CHAIN_LINKS_MAX);
	snprintf(name, sizeof(name), "link%u", chain.nb_links);
	config.name = name;
	config.sink = "consumer";
	link = weir_readout_link_create(chain.registry, &config);
	assert_non_null(link);
	assert_int_equal(weir_readout_registry_bind(chain.registry), 0);
	assert_int_equal(weir_readout_dispatch_add(chain.dispatch, 0, link), 0);
	chain.links[chain.nb_links++] = link;
	return link;
}

struct weir_readout_link_stats
chain_link(uint32_t link)
{
	struct weir_readout_link_stats stats;
	uint64_t sum;

	weir_readout_link_stats(chain.links[link], &stats);
	sum = stats.held + stats.delivered;
	for (unsigned int i = 0; i < WEIR_READOUT_NB_DROPS; i++)
		sum += stats.dropped[i];
	assert_int_equal(stats.received, sum);
	return stats;
}

struct weir_readout_dispatch_stats
chain_queue(void)
{
	struct weir_readout_dispatch_stats stats;

	assert_int_equal(weir_readout_dispatch_stats(chain.dispatch, 0, &stats), 0);
	assert_int_equal(stats.received,
		stats.links + stats.not_udp + stats.truncated + stats.unknown_stream);
	return stats;
}
