/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_LINKS_REQUESTS_H
#define WEIR_APP_LINKS_REQUESTS_H

/**
 * @file
 * Windows of time that the links of a run are asked for, and where their fragments go.
 */

#include <weir_base_hist.h>
#include <weir_readout_request.h>
#include <weir_readout_sender.h>

#include "links_clock.h"
#include "links_thread.h"

struct config;
struct config_links;
struct config_request;
struct links_run;

/** Counters of one kind of request. */
struct links_request_counts {
	uint64_t asked;    /**< windows */
	uint64_t skipped;  /**< windows that were over by far when it was their turn */
	uint64_t restarts; /**< times that the clock of the links was set back */
	uint64_t refused;  /**< of those asked */
	uint64_t answered[WEIR_READOUT_NB_ANSWERS]; /**< fragments */
};

/** Windows, one after the other. */
struct links_request {
	const struct config_request *config;
	struct links_clock clock;
	uint64_t history_ticks;             /**< of the first of its links */
	bool begun;                         /**< first is known */
	uint64_t first;                     /**< where the first window begins, ticks */
	uint64_t number;                    /**< of the next window, since then */
	struct weir_readout_sender *sender; /**< NULL: nobody gets fragments */
	struct links_request_counts counts;
	struct links_request_counts shown;             /**< of the last look */
	unsigned int shown_lead;                       /**< likewise: of the clock */
	struct weir_readout_sender_stats shown_sender; /**< likewise */
};

/** All of them. */
struct links_requests {
	struct weir_readout_service *service; /**< NULL: there is none */
	struct links_request *list;
	unsigned int nb;
	struct links_thread thread;  /**< asks, and answers */
	const struct links_run *run; /**< when its feeders have finished, nothing new comes */
	bool stop_now;               /**< send no more; atomic */
	struct weir_readout_service_stats shown;                  /**< of the last look */
	struct weir_base_hist latency[WEIR_READOUT_NB_LATENCIES]; /**< likewise */
};

#define LINKS_REQUESTS_FRAME_BYTES 28 /**< of a fragment, for each frame that it has room for */

/** Fragments that may wait for their time, be on their way, or have been asked for a moment ago; as configured, or as many as requests need. */
uint32_t links_requests_fragments(const struct config_links *links);

/** Frames that a fragment has room for: as configured; or those of the longest window, and of all that a buffer has, as far as memory goes. */
uint32_t links_requests_frames(const struct config_links *links);

/** Make them, when the buffers of links are there. @return 0, or a negative errno with the reason in the document or printed */
int links_requests_open(
	struct links_requests *requests, struct config *config, const struct links_run *run);

/** Begin to ask, and to answer. @return 0 or a negative errno */
int links_requests_start(struct links_requests *requests, const struct links_run *run);

/**
 * Were all its fragments written that there was room for in its queue, if they were to be? What a reader was too slow for is a loss that is
 * allowed for; what one that left, or took nothing to the end, did not get, and a file did not take, is not. The thread has ended.
 */
bool links_request_is_written(const struct links_request *request);

/** Free everything; the thread has ended. */
void links_requests_close(struct links_requests *requests);

#endif
