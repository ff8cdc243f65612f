/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_REQUEST_H
#define WEIR_READOUT_REQUEST_H

/**
 * @file
 * Requests: windows of time, of one link or several, become fragments.
 *
 * A *service* has a number of links with their buffers, and of fragments. A request takes a fragment per link. Some thread calls
 * weir_readout_service_poll() again and again: it looks the windows up whose time has come, or whose timeout is over, and delivers the
 * fragments: a header, a list of what is missing, and the frames where they lie in the buffer, pinned, not copied. Who gets a fragment
 * releases it when he is done; then it is free for another request.
 *
 *     ask (any thread) --> outstanding --poll--> deliver --> held --release (any thread)--> free
 *
 * A fragment is asked for, and counted, per link: asked = outstanding + the sum of answered, by status + the sum of refused, by
 * reason, at every snapshot.
 *
 * Ingest knows nothing of this: it does not wait, and no cache line that it writes is written here, but for the pins of ranges and frames. What
 * limits all is the number of fragments: when none is free, a request is refused, and counted. So who delivers to a slow peer should
 * bound what may queue there (weir_readout_sender.h does).
 *
 * While a window is waited for, nothing is pinned: of one longer than the buffer's history the beginning is gone when the end has come.
 *
 * Time is the caller's: nanoseconds of any clock that does not go back.
 *
 * Threads: as said with each. Asking, polling and releasing share a lock, for a few instructions each.
 */

#include <stdbool.h>
#include <stdint.h>

#include "weir_base_hist.h"
#include "weir_readout_buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weir_readout_service;

/** What became of a request, at one link. */
enum weir_readout_answer {
	WEIR_READOUT_ANSWER_COMPLETE, /**< all of the window is there */
	WEIR_READOUT_ANSWER_PARTIAL,  /**< some of it is missing: see the window's list */
	WEIR_READOUT_ANSWER_TOO_OLD,  /**< all of it is too old */
	WEIR_READOUT_ANSWER_NOT_YET,  /**< its end is still to come, and was not to be waited for */
	WEIR_READOUT_ANSWER_TIMED_OUT, /**< its end did not come within the timeout */
	WEIR_READOUT_ANSWER_TOO_LARGE, /**< more frames than a fragment has room for: none are in it */
	WEIR_READOUT_ANSWER_STOPPED, /**< its end had not come when the service was stopped, though there was time */
	WEIR_READOUT_NB_ANSWERS, /**< their number */
};

/** Name of an answer, as statistics show it ("timed_out"); NULL: no such. Any thread. */
const char *weir_readout_answer_name(enum weir_readout_answer answer);

/** Why a request was refused, all of it. */
enum weir_readout_refusal {
	WEIR_READOUT_REFUSAL_BAD_WINDOW, /**< its end is before its begin */
	WEIR_READOUT_REFUSAL_UNKNOWN_LINK, /**< no such link, or none at all: counts as one fragment */
	WEIR_READOUT_REFUSAL_NO_FRAGMENT, /**< not enough fragments are free */
	WEIR_READOUT_REFUSAL_STOPPED,     /**< the service was stopped */
	WEIR_READOUT_NB_REFUSALS,         /**< their number */
};

/** Name of a reason, as statistics show it ("no_fragment"); NULL: no such. Any thread. */
const char *weir_readout_refusal_name(enum weir_readout_refusal reason);

/** What a link has of a window. Valid until it is released; read only. */
struct weir_readout_fragment {
	uint64_t run;                             /**< of the request */
	uint64_t trigger;                         /**< of the request */
	uint32_t link;                            /**< its number in the service */
	const char *link_name;                    /**< its name */
	uint64_t key;                             /**< its stream key */
	enum weir_readout_answer answer;          /**< what became of it */
	const struct weir_readout_window *window; /**< begin, end, frames, what is missing */
	uint64_t asked_ns;                        /**< as given to weir_readout_service_ask() */
	uint64_t answered_ns;                     /**< as given to weir_readout_service_poll() */
};

/**
 * Takes a fragment, which it owns from then on: weir_readout_fragment_release(). In the polling thread: whoever waits here, lets all requests
 * wait. It may ask, and release.
 */
typedef void (*weir_readout_deliver_t)(void *arg, struct weir_readout_fragment *fragment);

/** A link, as the service knows it. */
struct weir_readout_service_link {
	const char *name;                         /**< copied */
	uint64_t key;                             /**< its stream key, for the header */
	const struct weir_readout_buffer *buffer; /**< outlives the service */
};

/** A service as one describes it. 0 in a member: its default. */
struct weir_readout_service_config {
	const struct weir_readout_service_link *links; /**< copied; numbered from 0 */
	uint32_t nb_links;                             /**< 1 or more */
	uint32_t nb_fragments; /**< outstanding and held at once: default 256 */
	uint32_t
		max_frames; /**< in a fragment; 28 bytes of memory each: default 4096, or the largest buffer's cells where these are fewer */
	uint32_t max_missing; /**< intervals in a fragment, 2 or more: default 256 */
};

/** A request. */
struct weir_readout_request {
	uint64_t run;          /**< to find it again: for the header */
	uint64_t trigger;      /**< likewise */
	uint64_t begin;        /**< first tick */
	uint64_t end;          /**< the one after the last; the same: an empty window, complete */
	uint64_t timeout_ns;   /**< so long to wait for what is still to come; 0: not at all */
	const uint32_t *links; /**< their numbers; NULL: all */
	uint32_t nb_links;     /**< how many, where links are given */
	weir_readout_deliver_t deliver; /**< gets the fragments, one by one */
	void *arg;                      /**< for deliver */
	/**
	 * NULL, or: true when nobody waits for it any more; atomic. What is outstanding is delivered at the next poll then, as if its timeout were over.
	 * Kept until the last fragment is delivered.
	 */
	const bool *abandoned;
};

/** Counters of a service at one moment: 64 bits, never reset. asked = outstanding + sum of answered + sum of refused. */
struct weir_readout_service_stats {
	uint64_t asked;       /**< fragments: a request has one for each of its links */
	uint64_t outstanding; /**< not answered yet */
	uint64_t answered[WEIR_READOUT_NB_ANSWERS]; /**< delivered, by what became of them */
	uint64_t refused[WEIR_READOUT_NB_REFUSALS]; /**< by reason */
	uint64_t requests; /**< requests, of any number of links, refused ones too */
	uint64_t held;     /**< delivered, not released yet */
	uint64_t
		missing_cut; /**< answered with a list of what is missing that had no room for all: its last interval spans the rest */
	uint64_t frames;     /**< in the fragments answered */
	uint64_t bytes;      /**< theirs */
};

/** Times from question to answer, as the callers' clock has it. */
enum weir_readout_latency {
	WEIR_READOUT_LATENCY_AT_ONCE, /**< of what the first poll after it was asked answered */
	WEIR_READOUT_LATENCY_WAITED,  /**< of what was waited for, that time included */
	WEIR_READOUT_NB_LATENCIES,    /**< their number */
};

/** Make a service, and all of its fragments. @return to be freed with weir_readout_service_free(); NULL with rte_errno EINVAL, ENOMEM; the log says why */
struct weir_readout_service *weir_readout_service_create(
	const struct weir_readout_service_config *config);

/** Free it: nobody asks or polls any more, all fragments are released. What is outstanding is forgotten: see weir_readout_service_stop(). NULL is allowed. */
void weir_readout_service_free(struct weir_readout_service *service);

/**
 * Ask for a window: its fragments are delivered by weir_readout_service_poll(), never by this. All of its links, or none. Any thread.
 *
 * @return 0; refused: -EINVAL: a bad window, -ENOENT: an unknown link, -ENOBUFS: not enough free fragments, -ESHUTDOWN: stopped
 */
int weir_readout_service_ask(struct weir_readout_service *service,
	const struct weir_readout_request *request, uint64_t now_ns);

/**
 * Answer what can be answered: in the order of the questions, but for what has to wait. Looks at everything that is outstanding once. One
 * thread at a time.
 *
 * @return how many fragments were delivered
 */
uint32_t weir_readout_service_poll(struct weir_readout_service *service, uint64_t now_ns);

/** Refuse what is asked from now on; the next poll answers all that is outstanding, with what is there. Any thread. */
void weir_readout_service_stop(struct weir_readout_service *service);

/** Unpin its frames, which must not be touched any more; the fragment is free. Any thread. */
void weir_readout_fragment_release(struct weir_readout_fragment *fragment);

/** The counters at one moment. Any thread. */
void weir_readout_service_stats(
	struct weir_readout_service *service, struct weir_readout_service_stats *stats);

/** A histogram of latencies in ns, as of now: for p50, p99, p99.9. Any thread. */
void weir_readout_service_latency(struct weir_readout_service *service,
	enum weir_readout_latency which, struct weir_base_hist *hist);

/** How many links it has. Any thread. */
uint32_t weir_readout_service_nb_links(const struct weir_readout_service *service);

/** Number of the link of this name; -ENOENT: there is none. Any thread. */
int weir_readout_service_find(const struct weir_readout_service *service, const char *name);

#ifdef __cplusplus
}
#endif

#endif
