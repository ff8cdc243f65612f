/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_PROCESS_H
#define WEIR_READOUT_PROCESS_H

/**
 * @file
 * An application's own functions on the frames of a link, before they are in its latency buffer, and after.
 *
 * A function looks at one frame. It lets the frame pass, or drops it for a reason that it has a name for; functions in a row get what those
 * before them let pass. Where they run is the configuration's:
 *
 *  - before: a link's functions (weir_readout_link_config), in the receiver's thread, on the packet itself, each frame whose fields are right, in
 *    the order of arrival. What they drop goes no further. Receiving waits for them.
 *  - after: a follower's functions, in any other thread, on the frame in the buffer, which is pinned for the time of the call: it stays as
 *    it is however long that takes. Frames come in the order in which they came to the buffer, each once. Nothing waits for a follower:
 *    frames whose memory is used again before it gets to them are counted as missed. What its functions drop stays in
 *    the buffer, and is not seen by the functions behind.
 *
 * @code{.c}
 * static int
 * reject_calibration(void *arg, const struct weir_readout_item *item)
 * {
 * 	return is_calibration(item->data) ? 0 : WEIR_READOUT_PASS;
 * }
 *
 * static const char *const reasons[] = {"calibration"};
 * const struct weir_readout_process process = {.name = "reject", .run = reject_calibration, .drops = reasons, .nb_drops = 1};
 * @endcode
 *
 * A follower is polled: from a thread of its own, beside others' in one, or by a job, which gives way between polls. A follower whose functions
 * run as jobs, which may wait, is made of this one: weir_bridge_follower.h.
 */

#include <stdint.h>

#include "weir_base_nodes.h"
#include "weir_readout_buffer.h"
#include "weir_readout_link.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_READOUT_PROCESSES_MAX WEIR_BASE_PROCESSES_MAX /**< functions in a row */

#define WEIR_READOUT_PASS (-1) /**< a function lets a frame pass */

/**
 * Look at a frame. Before: never wait, nor allocate, for the link's frames come no sooner.
 *
 * @param arg   as configured
 * @param item  the frame, which is not to be changed, released, or touched after the call; after: mbuf is NULL, and all of it is
 *              there in a row
 * @return WEIR_READOUT_PASS, or the number of the reason to drop it, less than nb_drops; any other number is taken for the last one
 */
typedef int (*weir_readout_process_t)(void *arg, const struct weir_readout_item *item);

/** A function. */
struct weir_readout_process {
	const char *name;           /**< for statistics, shorter than WEIR_READOUT_NAME_MAX */
	weir_readout_process_t run; /**< what it does */
	void *arg;                  /**< for it */
	const char *const *
		drops; /**< names of its reasons to drop a frame, each shorter than WEIR_READOUT_NAME_MAX; of one without, statistics show its name only */
	uint32_t
		nb_drops; /**< their number; 0: one reason, which has the function's name. Of a row together: up to WEIR_READOUT_PROCESS_DROPS_MAX */
};

struct weir_readout_follower;

/**
 * A frame in a buffer that somebody keeps: it stays as it is until it is given back. It takes one of the buffer's spare_frames when its
 * time is over. All zero: none.
 */
struct weir_readout_kept {
	struct weir_readout_item item; /**< as functions get it; its data until it is given back */
	const struct weir_readout_buffer *buffer; /**< the library's; NULL: nothing is kept */
	uint32_t cell;                            /**< the library's */
};

/** A follower. */
struct weir_readout_follower_config {
	const char *name;                         /**< for the log */
	const struct weir_readout_buffer *buffer; /**< whose frames it gets, from now on */
	struct weir_readout_link
		*link; /**< what item->link is for its functions; NULL is allowed */
	const struct weir_readout_process *processes; /**< its functions; copied */
	uint32_t nb_processes;                        /**< how many: 1 or more */
	uint32_t burst;                               /**< frames of a poll, at most; 0: 32 */
};

/** Counters of a follower, of one moment: 64 bits, never reset. received = passed + missed + waiting + sum of dropped. */
struct weir_readout_follower_stats {
	uint64_t received; /**< frames that came to the buffer since it was made */
	uint64_t passed;   /**< its functions have seen them, and let them pass */
	uint64_t missed;   /**< they were not in the buffer any more: it was too slow */
	uint64_t waiting;  /**< not looked at yet, or just now */
	uint64_t dropped[WEIR_READOUT_PROCESS_DROPS_MAX]; /**< by its functions, by reason */
};

/**
 * Make a follower, which begins with the next frame. Beside the buffer's writer; any thread.
 *
 * @return to be freed with weir_readout_follower_free(), before the buffer; NULL with rte_errno EINVAL, ENOMEM; the log says why
 */
struct weir_readout_follower *weir_readout_follower_create(
	const struct weir_readout_follower_config *config);

/** Free it. NULL is allowed. */
void weir_readout_follower_free(struct weir_readout_follower *follower);

/**
 * Run its functions on the next frames, up to a burst. One frame is pinned at a time. Never waits, allocates nothing. One thread at a
 * time per follower; any number of followers per buffer.
 *
 * @return how many frames were looked at, missed ones included; 0: there was none
 */
uint32_t weir_readout_follower_poll(struct weir_readout_follower *follower);

/**
 * Keep the frame that the follower's functions look at now after they have returned. For a function, in its call.
 *
 * @param[out] kept  to be given back with weir_readout_kept_release(), before the buffer is freed
 * @return 0; -ENOENT: they look at none
 */
int weir_readout_follower_keep(
	const struct weir_readout_follower *follower, struct weir_readout_kept *kept);

/** Keep a frame once more, for somebody else, who gives it back at another time: a call in a helper thread that may outlast its caller. Any thread. */
void weir_readout_kept_share(const struct weir_readout_kept *kept, struct weir_readout_kept *other);

/** Give a frame back: it must not be touched any more. Any thread, also where the follower is gone. Nothing to do where nothing is kept. */
void weir_readout_kept_release(struct weir_readout_kept *kept);

/** Name of reason @p number, from 0, to drop a frame ("reject.calibration"); NULL beyond the last. Any thread. */
const char *weir_readout_follower_drop_name(
	const struct weir_readout_follower *follower, uint32_t number);

/** Counters at one moment. Any thread; looks again while the follower is at them. */
void weir_readout_follower_stats(
	const struct weir_readout_follower *follower, struct weir_readout_follower_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
