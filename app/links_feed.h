/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_LINKS_FEED_H
#define WEIR_APP_LINKS_FEED_H

/**
 * @file
 * What feeds links: something that is polled, and gives them the frames that have come.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <weir_readout_ctl.h>
#include <weir_readout_dispatch.h>

#include "config_links.h"

#define LINKS_FEED_BURST 256 /**< packets that a feed has in hand at once */
#define LINKS_FEED_PARTS 2   /**< that the control socket shows of one, at most */

struct links_feed;
struct rte_mempool;

/** A kind of feed. All but report by the thread that polls. */
struct links_feed_type {
	const char *name; /**< for reports */
	/** Give links what is due. @return how many packets that were; 0: there was nothing to do */
	uint32_t (*poll)(struct links_feed *feed, uint64_t now_ns);
	/** Has it come to its end? @return 0, 1, or a negative errno: before all of it was there */
	int (*ended)(const struct links_feed *feed);
	/** Copy counters, for report. */
	void (*look)(struct links_feed *feed);
	/**
	 * What was counted, of the last look.
	 *
	 * @param received      by all links that it feeds, at that moment
	 * @param[out] adds_up  does it agree with that, and with itself?
	 */
	json_t *(*report)(const struct links_feed *feed, uint64_t received, bool *adds_up);
	/** What the control socket shows of it. @return how many, up to LINKS_FEED_PARTS */
	unsigned int (*parts)(const struct links_feed *feed, struct weir_readout_ctl_part *parts);
	/** Free it. Also after it could be made in part only. */
	void (*close)(struct links_feed *feed);
};

/** A feed. */
struct links_feed {
	const struct links_feed_type *type; /**< NULL: not made */
	const struct config_link *link;     /**< whom it feeds */
	struct weir_readout_dispatch *dispatch;
	struct weir_readout_dispatch_stats dispatched; /**< of the last look */
	void *source;                                  /**< where packets come from */
	void *counted;                                 /**< its counters, of the last look */
};

/**
 * Make frames for links.
 *
 * @param links  those of the whole description
 * @return 0, or a negative errno with the reason in the log
 */
int links_feed_emulate(struct links_feed *feed, const struct config_emulated *emulated,
	const struct config_link *link, struct weir_readout_link *const *links,
	struct rte_mempool *pool);

#endif
