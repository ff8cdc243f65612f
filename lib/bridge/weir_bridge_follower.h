/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BRIDGE_FOLLOWER_H
#define WEIR_BRIDGE_FOLLOWER_H

/**
 * @file
 * Where a latency buffer meets jobs: an application's function on the frames of a link, after they came to the buffer, which may wait.
 *
 *     receiver --> buffer of a link (weir_readout_buffer.h)          cores of the event machine
 *                      |
 *                  weir_bridge_follower_poll() -- frames, pinned --> a job --> the function, frame by frame
 *                      |                                              '--> its frames are given back when it has ended
 *                      '--> refused: jobs_full, no_job
 *
 * The function is one of weir_readout_process.h. It runs in a job (weir_job.h): it may yield, sleep, wait, and have blocking calls made by helper
 * threads. Between two frames the job gives way to other events where its time slice is over. All frames of a job are pinned from before it begins until it has ended, however it ends: by returning, by weir_coro_exit(), cancelled
 * before it ran, while it ran or while it waited, or as its service is stopped. So the function cannot touch memory that was used again, whatever the
 * buffer's writer does meanwhile; nothing but the pins is asked of the writer, which waits for nobody.
 *
 * A call in a helper thread may outlast the job that waited for it (weir_job_offload.h): it keeps a frame of its own, by
 * weir_bridge_follower_share(), and gives it back when it has returned or is abandoned.
 *
 * Frames come in the order in which they came to the buffer. Jobs run beside each other, so the function may run on several cores at
 * a time; with nb_jobs of 1 it does not, and sees frames in their order.
 *
 * Each frame is accounted for, see struct weir_bridge_follower_stats.
 *
 * Threads: one at a time polls a follower; it needs no core. Others may look at counters.
 * Errors: 0 or a negative errno with a reason in the log under "bridge".
 */

#include <stdbool.h>
#include <stdint.h>

#include "weir_job.h"
#include "weir_readout_process.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most jobs of a follower at a time. */
#define WEIR_BRIDGE_FOLLOWER_JOBS_MAX 4096

/** Most frames of a job. */
#define WEIR_BRIDGE_FOLLOWER_FRAMES_MAX 4096

/** A follower whose function runs in jobs. */
struct weir_bridge_follower;

/** What it is to be. Numbers that are 0 have the default. */
struct weir_bridge_follower_config {
	const char *name; /**< of its jobs, shorter than WEIR_JOB_NAME_SIZE; copied */
	const struct weir_readout_buffer *buffer; /**< whose frames it gets, from now on */
	struct weir_readout_link *link;           /**< what item->link is; NULL is allowed */
	struct weir_readout_process
		process; /**< the function, in jobs; its reasons to drop a frame are counted; what it points to is kept by the caller */
	struct weir_job_service *service; /**< its jobs; kept until it is freed */
	/**
	 * Most jobs at a time: 4. Together with nb_frames: so many frames may be pinned, for which the buffer needs spare_frames, or creating it
	 * is refused. Other readers of the buffer need theirs beside these.
	 */
	uint32_t nb_jobs;
	uint32_t nb_frames; /**< most frames of a job: 32 */
	/**
	 * While as many jobs are out as there may be: leave frames in the buffer until one has ended; those whose time is over before
	 * that are missed. Without, they are refused at once, as jobs_full.
	 */
	bool wait;
	bool has_priority;              /**< priority is given; else the event machine's lowest */
	uint8_t priority;               /**< of its jobs */
	uint64_t slice_ns;              /**< their time slice; 0: the service's */
	weir_em_queue_group core_group; /**< whose cores they run on; WEIR_EM_NONE: any */
};

/** Why frames were not given to a job. */
enum weir_bridge_follower_refusal {
	WEIR_BRIDGE_FOLLOWER_JOBS_FULL, /**< as many jobs were out as there may be */
	WEIR_BRIDGE_FOLLOWER_NO_JOB, /**< none could be begun: the service has no room, or is stopped */
	WEIR_BRIDGE_FOLLOWER_NB_REFUSALS, /**< their number */
};

/** Name of a refusal ("jobs_full"); NULL: no such. Any thread. */
const char *weir_bridge_follower_refusal_name(enum weir_bridge_follower_refusal refusal);

/**
 * Counters, in frames but where it says jobs: 64 bits, never reset.
 * received = missed + waiting + sum of refused + taken; taken = passed + sum of dropped + cancelled + exited + inside.
 */
struct weir_bridge_follower_stats {
	uint64_t received; /**< that came to the buffer since it was made */
	uint64_t missed;   /**< were not in the buffer any more: it was too slow */
	uint64_t waiting;  /**< in the buffer, not taken yet */
	uint64_t refused[WEIR_BRIDGE_FOLLOWER_NB_REFUSALS]; /**< not given to a job, by reason */
	uint64_t taken;                                     /**< given to jobs */
	uint64_t passed;                                    /**< the function let them pass */
	uint64_t
		dropped[WEIR_READOUT_PROCESS_DROPS_MAX]; /**< the function did not, by its reason */
	uint64_t cancelled; /**< their job was cancelled before the function was done with them */
	uint64_t exited;    /**< the function ended the job that they were of */
	uint64_t inside;    /**< pinned, for a job that has not ended */
	uint64_t jobs;      /**< jobs begun */
	uint64_t jobs_out;  /**< jobs that have not ended: gauge, of a moment after the others' */
};

/**
 * Make one. Beside the buffer's writer; not on the fast path. It has its jobs' memory: none is allocated later but for the jobs themselves.
 *
 * @return to be freed with weir_bridge_follower_free(), before the buffer; NULL with rte_errno EINVAL (also: the buffer has too few spare
 *   frames), ENOMEM; the log says why
 */
struct weir_bridge_follower *weir_bridge_follower_create(
	const struct weir_bridge_follower_config *config);

/** Free it. NULL is allowed. @return 0; -EBUSY: jobs of it are alive: stop their service first, or wait for them */
int weir_bridge_follower_free(struct weir_bridge_follower *follower);

/**
 * Begin a job with the next frames, if there are any, and a job may begin. Never waits.
 *
 * @return how many frames were looked at, missed and refused ones included; 0: there was none, or with wait: all jobs are out
 */
uint32_t weir_bridge_follower_poll(struct weir_bridge_follower *follower);

/**
 * Keep a frame beyond the function's return, for somebody else. From within the function.
 *
 * @param item       as the function got it
 * @param[out] kept  to be given back with weir_readout_kept_release(), from any thread, before the buffer is freed. It takes another spare frame
 */
void weir_bridge_follower_share(
	const struct weir_readout_item *item, struct weir_readout_kept *kept);

/** Counters, for which the sums hold. Any thread. */
void weir_bridge_follower_stats(
	struct weir_bridge_follower *follower, struct weir_bridge_follower_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
