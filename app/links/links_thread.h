/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_LINKS_THREAD_H
#define WEIR_APP_LINKS_THREAD_H

/**
 * @file
 * A thread of a readout, which copies its counters when it is asked to: between two rounds of its work, so that they agree with
 * each other.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "weir_base_doc.h"
#include "weir_base_nodes.h"

#define LINKS_THREAD_REST_NS WEIR_BASE_LINKS_REST_NS /**< of a rest, unless told */

/** It. */
struct links_thread {
	pthread_t id;
	bool started;
	uint64_t asked; /**< number of the latest look asked for; atomic */
	uint64_t shown; /**< number of the latest one done; atomic */
	bool finished;  /**< nothing changes any more; atomic */
	pthread_mutex_t
		lock; /**< of the counters that are copied: taken only when somebody looks, and at the end */
};

/** Make it, not started. */
void links_thread_init(struct links_thread *thread);

/** Start it. @return 0 or a negative errno */
int links_thread_start(
	struct links_thread *thread, const char *name, void *(*run)(void *arg), void *arg);

/** It was not, and will not be, started: it has finished. Nothing to do for one that was. By who starts it. */
void links_thread_abandon(struct links_thread *thread);

/** Wait until it has ended; one that was not started has. */
void links_thread_join(struct links_thread *thread);

/**
 * Wait for counters as of now, or its last ones; they stay as they are until links_thread_release(). Any other thread, one at a time.
 *
 * @param begun  it was started, or is about to be, or abandoned; else there are none
 */
void links_thread_look(struct links_thread *thread, bool begun);

/** Seen. */
void links_thread_release(struct links_thread *thread);

/** Copy counters by @p look, if they are asked for. The thread itself, between two rounds. */
void links_thread_show(struct links_thread *thread, void (*look)(void *arg), void *arg);

/** Copy its last counters; nothing changes any more. The thread itself. */
void links_thread_finish(struct links_thread *thread, void (*look)(void *arg), void *arg);

/** Has it finished? Any thread. */
bool links_thread_is_finished(const struct links_thread *thread);

/**
 * Run on one CPU only, from now on. Started.
 *
 * @param cpu         its number in the description; NULL: any
 * @param kind, name  of what runs there, for the message
 * @return 0, or a negative errno with the reason in the document
 */
int links_thread_pin(const struct links_thread *thread, struct weir_base_doc *doc,
	const struct weir_base_doc_value *cpu, const char *kind, const char *name);

/** Rest for a moment: nothing was there to do. */
void links_thread_rest(void);

/** Rest for so long; 0: not at all. */
void links_thread_rest_ns(uint64_t ns);

#endif
