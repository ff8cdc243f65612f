/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_LINKS_FEEDER_H
#define WEIR_APP_LINKS_FEEDER_H

/**
 * @file
 * Threads that poll feeds: the first one all those that have none of their own, and each of the others its queues of a receiver, or its
 * share of emulated links alike. A link is of the feeder that gives it frames, which copies its counters together with those of the feed, between
 * two polls.
 */

#include <stdbool.h>
#include <stdint.h>

#include "links_thread.h"

struct config;
struct links_feed;
struct links_run;

/** One. */
struct links_feeder {
	struct links_thread thread;
	struct links_run *run;
	struct links_feed *feed; /**< that has feeders of its own; NULL: all those that have none */
	uint16_t poller;         /**< which one of the feed's */
	const struct weir_base_doc_value *cpu; /**< that it runs on; NULL: any */
	uint64_t rest_ns;                      /**< that it rests when nothing came */
	bool stopped; /**< polls no more, and the first one shows its counters; atomic */
};

/** Make them, when the feeds are there. @return 0, or -ENOMEM */
int links_feeders_open(struct links_run *run, const struct config *config);

/** Begin. @return 0, or a negative errno, with the reason in the document where it is a CPU: those that have begun are stopped by links_run_stop() */
int links_feeders_start(struct links_run *run, struct config *config);

/** Those that were not started never will be. By who starts them. */
void links_feeders_abandon(struct links_run *run);

/** Did any begin? After links_feeders_start(), or where this was not called. */
bool links_feeders_have_begun(const struct links_run *run);

/** Have all come to their end? */
bool links_feeders_are_finished(const struct links_run *run);

/** Wait for them. */
void links_feeders_join(struct links_run *run);

/** As links_thread_look(), at all of them. */
void links_feeders_look(struct links_run *run, bool begun);

/** Seen. */
void links_feeders_release(struct links_run *run);

/** Free them; they have ended. */
void links_feeders_close(struct links_run *run);

#endif
