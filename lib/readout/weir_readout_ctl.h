/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_CTL_H
#define WEIR_READOUT_CTL_H

/**
 * @file
 * A readout over the control socket: what became of every frame, and windows of time on request.
 *
 * "readout/status", read-only; {"link": NAME} (or "name"): of that link only; where no link is called so, of all that are
 * called NAME-0, NAME-1 and so on. An answer has
 *
 *  - "agree": whether all sums in it do, as said with each; "time_ns": when it was made, by the service's clock;
 *  - "links": of each link its counters at one moment: "received" = "buffered" + "held" + "delivered" + the sum of "dropped", by reason;
 *    "processed": a part of these, by the reasons that the application's functions have; "checks": "missing", and each fault that was
 *    seen with its count, its first and last occurrence, and the time between the last two; "buffer": what can be asked for now
 *    ("oldest", "newest", "history_s"), and its state;
 *  - "requests": those of the service: "asked" = "outstanding" + the sum of "answered" + the sum of "refused"; "latency_ns": histograms;
 *  - "dispatches", "receivers" (with bursts of each queue, and the device's own counters since it was made), "emulators", "replays",
 *    "senders", "finders" ("hits" = "delivered" + "refused"), "followers" ("received" = "passed" + "missed" + "waiting" + the sum of "dropped", or what the program
 *    tells of its own, see struct weir_readout_ctl_part), "collectors" ("received" + "queued": what its producers delivered): each by name.
 *
 * "readout/request": {"begin": T, "end": T}, in ticks, of links of one clock, or {"last_ms": N}: the last that each link has. Further arguments, none of which is
 * required: "links": names, each as "link" above, all else; "timeout_ms": so long to wait for what is still to come, up to WEIR_READOUT_CTL_TIMEOUT_MAX_MS, 0
 * else; "run", "trigger": for the fragments' headers; "frames": true: with the frames. The answer's "fragments" have per link
 * its "answer" (as weir_readout_answer_name(); of one that is too large "why": how large, and what to raise), how many "frames" and "bytes", the intervals that are "missing", and with "frames" all of it as
 * bytes ("data", in base64; weir_readout_fragment.h has the layout); where it was "refused", or there was no memory for it: why. It comes when the last one is there; other requests and
 * commands are served meanwhile. Frames are pinned only where they were asked for, until the answer is made.
 *
 * Numbers of 64 bits (ticks, keys) are texts, as JSON's integers have less room; arguments may be either.
 *
 * Threads: control functions from any, one at a time. What is configured is there until the commands are taken back.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "weir_readout_collector.h"
#include "weir_readout_emulator.h"
#include "weir_readout_handler.h"
#include "weir_readout_hit_finder.h"
#include "weir_readout_process.h"
#include "weir_readout_receiver.h"
#include "weir_readout_replay.h"
#include "weir_readout_request.h"
#include "weir_readout_sender.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_READOUT_CTL_TIMEOUT_MAX_MS 10000 /**< a request waits so long at most */
#define WEIR_READOUT_CTL_BYTES_MAX                                                                 \
	(UINT64_C(64) << 20) /**< of the fragments in an answer that has frames: more are refused */

struct weir_base_ctl;
struct weir_readout_ctl;

/** Something that has a name and counters: one of these is not NULL. */
struct weir_readout_ctl_part {
	const char *name; /**< copied */
	const struct weir_readout_dispatch
		*dispatch; /**< not one of a receiver's, which tells of its own */
	const struct weir_readout_receiver
		*receiver; /**< its ports are asked for their counters: by nobody else meanwhile */
	const struct weir_readout_emulator *emulator;   /**< likewise */
	const struct weir_readout_replay *replay;       /**< likewise */
	struct weir_readout_sender *sender;             /**< likewise */
	const struct weir_readout_hit_finder *finder;   /**< likewise */
	const struct weir_readout_follower *follower;   /**< likewise */
	const struct weir_readout_collector *collector; /**< likewise */
	/**
	 * Tells of something that this library does not know, which follows frames: one of "followers".
	 *
	 * @param arg         as below
	 * @param[out] agree  set to false where its sums do not
	 * @return its counters, an object, which is given its name by the caller
	 */
	json_t *(*tell)(void *arg, bool *agree);
	void *arg; /**< for tell */
};

/** What there is. 0 in a member: none, or its default. */
struct weir_readout_ctl_config {
	const struct weir_readout_handler *const *handlers; /**< links with buffers; copied */
	uint32_t nb_handlers;                               /**< how many */
	const struct weir_readout_link *const *links;       /**< links that have none; copied */
	uint32_t nb_links;                                  /**< how many */
	const struct weir_readout_ctl_part *parts;          /**< copied */
	uint32_t nb_parts;                                  /**< how many */
	struct weir_readout_service *service;               /**< of requests; someone polls it */
	uint64_t (*clock)(void); /**< ns, of who polls the service; default: weir_base_time_ns() */
	uint32_t
		max_fragments; /**< of the service's, that requests over the socket have at once; default: half of them */
	const char *
		fragments_key; /**< what a user is told to raise where fragments are too few, as it is called in the program's configuration; default: the service's nb_fragments */
	const char *
		frames_key; /**< likewise where a fragment has too little room; default: max_frames */
};

/**
 * Offer the commands.
 *
 * @return to be taken back; NULL with rte_errno: EINVAL, EEXIST: another readout has them, ENOMEM; the log says why
 */
struct weir_readout_ctl *weir_readout_ctl_register(
	struct weir_base_ctl *ctl, const struct weir_readout_ctl_config *config);

/**
 * Take the commands back; before anything that was configured is freed. Clients that wait for fragments are told that there are no more. NULL is
 * allowed.
 *
 * @return 0: all is freed; -EBUSY: the service has requests for them still: poll it, and call again. After weir_readout_service_stop() and a poll there
 *         are none
 */
int weir_readout_ctl_unregister(struct weir_readout_ctl *readout);

#ifdef __cplusplus
}
#endif

#endif
