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

#include <weir_base_nodes.h>
#include <weir_readout_ctl.h>
#include <weir_readout_dispatch.h>

#include "config_links.h"

#define LINKS_FEED_BURST WEIR_BASE_FEED_BURST /**< packets that a feed has in hand at once */
#define LINKS_FEED_PARTS 2                    /**< that the control socket shows of one, at most */

struct config;
struct links_feed;
struct rte_mempool;

/** A kind of feed. Where not said otherwise, by a thread that polls it: there may be several, which is what poller says. */
struct links_feed_type {
	const char *name; /**< for reports */
	/** Give links what is due. @return 0: it may rest now; else there was, or may be, more to do */
	uint32_t (*poll)(struct links_feed *feed, uint16_t poller, uint64_t now_ns);
	/** Give them what is still on its way within the feed, when nobody polls it any more, whoever did. NULL: nothing ever is */
	void (*drain)(struct links_feed *feed, uint64_t now_ns);
	/** Has it come to its end, whoever polls it? Also by others. @return 0; else it has, below 0 with something wrong, which its report says */
	int (*ended)(const struct links_feed *feed);
	/** Copy the poller's counters, for report. */
	void (*look)(struct links_feed *feed, uint16_t poller);
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
	const struct links_feed_type *type;     /**< NULL: not made */
	const struct config_link *link;         /**< whom it feeds; NULL: links of a receiver */
	const struct config_receiver *receiver; /**< NULL: it feeds link, or is shared */
	const struct config_shared *shared;     /**< NULL: it is no port that a graph has, too */
	const struct weir_base_doc_value
		*cpus; /**< of threads of its own that poll it, a list; NULL: it has none */
	struct weir_readout_dispatch *dispatch;
	struct weir_readout_dispatch_stats
		dispatched; /**< of the last look, where one thread polls it */
	void *source;       /**< where packets come from */
	void *counted;      /**< its counters, of the last look */
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

/** Give links what is in a file. @return as links_feed_emulate() */
int links_feed_replay(struct links_feed *feed, const struct config_replayed *replayed,
	const struct config_link *link, struct weir_readout_link *const *links,
	struct rte_mempool *pool);

/**
 * What these have in common: a dispatch, with a queue for each thread that polls it, and room for counters.
 *
 * @return 0, or a negative errno with the reason in the log: links_feed_close() frees what there is
 */
int links_feed_open(struct links_feed *feed, const struct links_feed_type *type,
	const struct config_link *link, struct weir_readout_link *const *links,
	size_t counted_bytes);

/** How many threads poll it. */
uint16_t links_feed_nb_pollers(const struct links_feed *feed);

/** Which of them gives this link of the feed its frames? @param number  of the link, among those alike */
uint16_t links_feed_poller(
	const struct links_feed *feed, const struct config_link *link, unsigned int number);

/** Does it feed these links? */
bool links_feed_is_of(
	const struct links_feed *feed, const struct config *config, const struct config_link *link);

/** Add what a dispatch counted of one queue to @p sum. */
void links_feed_add_dispatched(
	struct weir_readout_dispatch_stats *sum, const struct weir_readout_dispatch_stats *stats);

/** Free that. */
void links_feed_close(struct links_feed *feed);

#endif
