/* SPDX-License-Identifier: BSD-3-Clause */
/* What feeds have in common: packets that they give to their links. */
#include <errno.h>
#include <stdlib.h>

#include "links_feed.h"

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
	feed->dispatch = weir_readout_dispatch_create(1);
	if (feed->counted == NULL || feed->dispatch == NULL)
		return -ENOMEM;
	for (i = 0; i < link->nb; i++) {
		error = weir_readout_dispatch_add(feed->dispatch, 0, links[link->first + i]);
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
