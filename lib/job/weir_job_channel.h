/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_JOB_CHANNEL_H
#define WEIR_JOB_CHANNEL_H

/**
 * @file
 * Channels: messages of one size, to and from jobs, plain threads and receive functions; and events of the event machine, to jobs.
 *
 *     send -----> [ message | message | ...  bound ] -----> receive
 *     full: waits, or is refused                            empty: waits, or is told so
 *
 * In order, and first come, first served among senders as among receivers; each message is received once. A message to somebody who
 * waits is copied to where it is wanted, past the ring. A send that failed has not sent; a receive that failed has not taken.
 *
 * Threads: any, at any time, until weir_job_channel_destroy() is called. Functions that do not wait never block; those that do return
 * -EDEADLK on a core outside of a job if they had to wait. A channel has a lock, under which a message is copied: large ones are better
 * sent as pointers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_eventdev.h>

#include "weir_em.h"
#include "weir_job_wait.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A channel. */
struct weir_job_channel;

/** Most bytes of a message. */
#define WEIR_JOB_CHANNEL_MESSAGE_MAX 65536

/**
 * Called with an event that found a channel full, or closed, in weir_job_channel_receive(): its payload is the callee's. In a receive
 * function: it may forward it, to the queue that it came from, too, from where it comes again; but where jobs have a lower
 * priority than that queue, and there is but one core, none would run.
 */
typedef void (*weir_job_channel_refused_t)(
	void *arg, struct weir_em_core *core, struct rte_event *event, weir_em_queue queue);

/** What a channel is to be. Numbers that are 0 have the default. */
struct weir_job_channel_config {
	const char *name; /**< for who looks; copied, up to 31 characters; NULL: "channel" */
	unsigned int nb_messages; /**< bound: 64 */
	size_t size;              /**< bytes of a message: those of a struct rte_event */
	weir_job_channel_refused_t
		refused; /**< of events; NULL: their buffers (WEIR_EM_EVENT_BUFFER) are freed, other payloads are lost */
	void *refused_arg; /**< for it */
};

/** Counters of a channel. sent = received + nb, whenever they are read. */
struct weir_job_channel_stats {
	uint64_t nb_sent;     /**< messages taken */
	uint64_t nb_received; /**< messages given on */
	uint64_t nb_refused;  /**< not sent: full, and not waited for, or not any longer; closed */
	uint64_t nb_waits;    /**< sends and receives that waited */
	unsigned int nb;      /**< messages in it */
	unsigned int nb_most; /**< most that were in it */
	unsigned int nb_waiting; /**< senders, or receivers, that wait */
	bool closed;             /**< no more are sent */
};

/** Make a channel. @return NULL with rte_errno: EINVAL, ENOMEM */
struct weir_job_channel *weir_job_channel_create(const struct weir_job_channel_config *config);

/** End a channel, when nobody uses it any more. @return 0; -EBUSY: somebody waits, or it holds messages: receive them before; NULL is allowed */
int weir_job_channel_destroy(struct weir_job_channel *channel);

/**
 * Send a message; wait while it is full.
 *
 * @param message  the bytes of one; copied
 * @param how      NULL: as long as it takes, or until cancelled
 * @return 0; -EPIPE: it is closed, or was while the caller waited; errors as weir_job_completion_wait(). It was not sent then
 */
int weir_job_channel_send(
	struct weir_job_channel *channel, const void *message, const struct weir_job_wait *how);

/** Send a message if there is room. @return 0; -EAGAIN: it is full; -EPIPE: it is closed */
int weir_job_channel_try_send(struct weir_job_channel *channel, const void *message);

/**
 * Receive a message; wait while there is none.
 *
 * @param message  room for the bytes of one
 * @param how      NULL: as long as it takes, or until cancelled
 * @return 0; -EPIPE: it is closed, and was empty; errors as weir_job_completion_wait(). @p message is as it was, then
 */
int weir_job_channel_recv(
	struct weir_job_channel *channel, void *message, const struct weir_job_wait *how);

/** Receive a message if there is one. @return 0; -EAGAIN: it is empty; -EPIPE: closed, too */
int weir_job_channel_try_recv(struct weir_job_channel *channel, void *message);

/** No more are sent: who waits to send, or for what will not come, gets -EPIPE. What is in it can be received. @return 0; -EALREADY */
int weir_job_channel_close(struct weir_job_channel *channel);

/**
 * A receive function whose context is a channel of struct rte_event: an object that is made with it hands the events of its queues to
 * who receives from the channel. What they leave the event machine with is their payload, event_type and sub_event_type: their credits and
 * contexts are given back, so jobs cannot forward them, but send them (weir_em_send()). Events of an atomic queue keep
 * their order. An event that finds it full or closed is refused, and counted; so is one whose channel has messages of another size.
 */
void weir_job_channel_receive(struct weir_em_core *core, void *context, struct rte_event *events,
	uint16_t nb, weir_em_queue queue, void *queue_context);

/** Counters. NULL of either is allowed: nothing is done. */
void weir_job_channel_stats(struct weir_job_channel *channel, struct weir_job_channel_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
