/* SPDX-License-Identifier: BSD-3-Clause */
/* What feeds have in common: packets that they give to their links. */
#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>

#include "config.h"
#include "links_feed.h"

uint16_t
links_feed_nb_pollers(const struct links_feed *feed)
{
	return (uint16_t)RTE_MAX(weir_base_doc_count(feed->cpus), 1u);
}

uint16_t
links_feed_poller(
	const struct links_feed *feed, const struct config_link *link, unsigned int number)
{
	const unsigned int queue = feed->receiver != NULL ? link->queue : number;

	return (uint16_t)(queue % links_feed_nb_pollers(feed));
}

bool
links_feed_is_of(
	const struct links_feed *feed, const struct config *config, const struct config_link *link)
{
	if (feed->shared != NULL)
		return link->shared == (int)(feed->shared - config->links.shared);
	return feed->link != NULL
		       ? feed->link == link
		       : link->receiver == (int)(feed->receiver - config->receivers.list);
}

void
links_feed_add_dispatched(
	struct weir_readout_dispatch_stats *sum, const struct weir_readout_dispatch_stats *stats)
{
	sum->received += stats->received;
	sum->links += stats->links;
	sum->not_udp += stats->not_udp;
	sum->truncated += stats->truncated;
	sum->unknown_stream += stats->unknown_stream;
}

int
links_feed_open(struct links_feed *feed, const struct links_feed_type *type,
	const struct config_link *link, struct weir_readout_link *const *links,
	size_t counted_bytes)
{
	unsigned int i;
	int error;

	feed->type = type;
	feed->link = link;
	feed->counted = calloc(1, counted_bytes);
	feed->dispatch = weir_readout_dispatch_create(links_feed_nb_pollers(feed));
	if (feed->counted == NULL || feed->dispatch == NULL)
		return -ENOMEM;
	for (i = 0; i < link->nb; i++) {
		error = weir_readout_dispatch_add(
			feed->dispatch, links_feed_poller(feed, link, i), links[link->first + i]);
		if (error < 0)
			return error;
	}
	return 0;
}

void
links_feed_close(struct links_feed *feed)
{
	weir_readout_dispatch_free(feed->dispatch);
	free(feed->counted);
}
