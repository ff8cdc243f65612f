/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_LINKS_SHARE_H
#define WEIR_APP_LINKS_SHARE_H

/**
 * @file
 * Ports that links share with a graph. Their nodes are made before graphs, and gone after these; links come in between.
 */

#include <stdbool.h>
#include <stdint.h>

#include "links_feed.h"

struct config;

/** A node that receives from a port, and hands links their frames. */
struct links_shared {
	struct weir_readout_dispatch *dispatch;
	uint32_t node; /**< of the graph library */
};

/** All of them, by number in the description. */
struct links_share {
	struct links_shared *list;
	unsigned int nb;
	bool over; /**< workers have ended: links get no frames from them any more; atomic */
};

/**
 * Make nodes, whose links are still to come; before graphs are created.
 *
 * @param port_ids  per port of the configuration
 * @return 0, or a negative errno with the reason in the document
 */
int links_share_open(struct links_share *share, struct config *config, const uint16_t *port_ids);

/** Free them; when graphs are gone. */
void links_share_close(struct links_share *share);

/**
 * Hand links their frames. Workers do that: the feed only counts.
 *
 * @param number  of the node in the description
 * @param links   those of the whole description
 * @return 0, or a negative errno with the reason in the log
 */
int links_feed_share(struct links_feed *feed, const struct config *config, unsigned int number,
	const struct links_share *share, struct weir_readout_link *const *links);

#endif
