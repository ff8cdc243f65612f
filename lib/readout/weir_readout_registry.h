/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_REGISTRY_H
#define WEIR_READOUT_REGISTRY_H

/**
 * @file
 * A typed registry: binds producers of messages to consumers, by name.
 *
 * A consumer is a *sink*, a producer a *source*. A sink takes messages in one of two ways: by a callback, in the thread that sends, in
 * batches, without a copy; or by a bounded queue, which another thread empties. Frames of links are one type of message
 * (weir_readout_link.h); any struct can be another.
 *
 * @code{.c}
 * static const struct weir_readout_type hit_type = {"hit", sizeof(struct hit), 1};
 *
 * sink = weir_readout_sink_create(registry, &(struct weir_readout_sink_config){.name = "hits", .type = &hit_type,
 * 	.receive = take_hits});
 * source = weir_readout_source_create(registry, &(struct weir_readout_source_config){.name = "finder0", .sink = "hits",
 * 	.type = &hit_type});
 * if (weir_readout_registry_bind(registry) < 0)
 * 	return -1;                           // the log said which names, and why
 * weir_readout_source_send(source, hits, nb);
 * @endcode
 *
 * Sources can be bound to other sinks while messages flow: who sends never waits; who binds waits until the last send to the old
 * sink is over.
 *
 * Threads: control functions from any thread, one at a time per registry (they take its lock); what may run beside them stands with
 * each. Not from a callback of a sink.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_READOUT_NAME_MAX                                                                      \
	64 /**< bytes of a source's, a sink's or a type's name, its end included */

struct weir_readout_registry;
struct weir_readout_sink;
struct weir_readout_source;

/** What a message is. Two types are the same if all members are. */
struct weir_readout_type {
	const char *name;    /**< shorter than WEIR_READOUT_NAME_MAX */
	uint32_t size_bytes; /**< of one message: a multiple of 4, 4 or more */
	uint32_t version;    /**< of its layout and meaning: to be changed with them */
};

/**
 * Messages for a consumer, in its sender's thread: of several senders at once, where several are bound to it.
 *
 * @param arg       as configured
 * @param messages  an array, valid during the call
 * @param nb        how many, 1 or more
 */
typedef void (*weir_readout_receive_t)(void *arg, const void *messages, uint32_t nb);

/** A consumer. */
struct weir_readout_sink_config {
	const char *name;                     /**< no other sink has it; copied */
	const struct weir_readout_type *type; /**< of its messages; copied */
	bool shared;                          /**< several sources may be bound to it at once */
	weir_readout_receive_t receive;       /**< callback; NULL: a queue */
	void *arg;                            /**< for receive and discard */
	uint32_t
		queue_size; /**< messages that the queue holds; 0 with a callback, 1 up to 2^24 with a queue */
	weir_readout_receive_t
		discard; /**< what becomes of messages in the queue when the sink is freed; NULL: nothing */
};

/** A producer. */
struct weir_readout_source_config {
	const char *name; /**< no other source has it; copied */
	const char *sink; /**< name of its consumer; NULL: to none yet; copied */
	const struct weir_readout_type *type; /**< of its messages; copied */
};

/** Counters of a source: sent = delivered + the rest. Each 64 bits, never reset. */
struct weir_readout_source_stats {
	uint64_t sent;       /**< messages that were to be sent */
	uint64_t delivered;  /**< to a callback, or into a queue */
	uint64_t queue_full; /**< refused: the queue had no room */
	uint64_t unbound;    /**< refused: the source was bound to no sink */
};

/** State of a sink. */
struct weir_readout_sink_stats {
	uint64_t
		received; /**< messages taken by its queue's consumer; callbacks: 0, sources count them */
	uint32_t queued;  /**< now, in its queue */
	uint32_t sources; /**< bound to it */
};

/** Make an empty registry. @return to be freed with weir_readout_registry_free(); NULL with rte_errno */
struct weir_readout_registry *weir_readout_registry_create(void);

/** Free it, and all of its sources and sinks; nobody sends or receives any more. NULL is allowed. */
void weir_readout_registry_free(struct weir_readout_registry *registry);

/**
 * Add a consumer. Beside running sources.
 *
 * @return NULL with rte_errno: EINVAL, EEXIST: there is one of this name, ENOMEM; the log says why
 */
struct weir_readout_sink *weir_readout_sink_create(
	struct weir_readout_registry *registry, const struct weir_readout_sink_config *config);

/**
 * Remove a consumer, to which no source is bound; nobody receives from its queue any more. What is in its queue goes to discard().
 *
 * @return 0; -EBUSY: sources are bound to it; the log names one
 */
int weir_readout_sink_free(struct weir_readout_sink *sink);

/**
 * Add a producer, not bound yet: see weir_readout_registry_bind(). Beside running sources.
 *
 * @return NULL with rte_errno: EINVAL, EEXIST: there is one of this name, ENOMEM; the log says why
 */
struct weir_readout_source *weir_readout_source_create(
	struct weir_readout_registry *registry, const struct weir_readout_source_config *config);

/** Remove a producer, bound or not; it does not send any more. NULL is allowed. */
void weir_readout_source_free(struct weir_readout_source *source);

/**
 * Bind all sources that are not bound to the sinks they name. Each one that cannot be is told in the log; the others are bound.
 *
 * @return 0; else what was wrong with the first one: -ENOENT: no sink has this name; -EPROTOTYPE: the types differ; -EADDRINUSE: another
 *         source is bound to the sink, which is not shared
 */
int weir_readout_registry_bind(struct weir_readout_registry *registry);

/**
 * Bind a source to another sink, or to none, beside its sending. When this returns, no message goes to the old one any more. Waits
 * until a send that is under way is over; not from within one.
 *
 * @param sink  a name; NULL: unbind: what is sent is refused, and counted
 * @return 0; an error as of weir_readout_registry_bind(): the source is bound as it was
 */
int weir_readout_source_bind(struct weir_readout_source *source, const char *sink);

/**
 * The counters of a source at one moment: they agree. Any thread; looks again while the sender is at them. What was in a queue, or received from
 * it, before this is called is among those delivered.
 */
void weir_readout_source_stats(
	const struct weir_readout_source *source, struct weir_readout_source_stats *stats);

/**
 * State of a sink at one moment: what sources have delivered to its queue is received or queued. Any thread; looks again while the consumer
 * takes messages.
 */
void weir_readout_sink_stats(
	const struct weir_readout_sink *sink, struct weir_readout_sink_stats *stats);

/** A sink by its name; NULL: no such. Any thread; not beside its removal. */
struct weir_readout_sink *weir_readout_sink_find(
	struct weir_readout_registry *registry, const char *name);

/** A source by its name; NULL: no such. Any thread; not beside its removal. */
struct weir_readout_source *weir_readout_source_find(
	struct weir_readout_registry *registry, const char *name);

/**
 * Send messages to the sink that the source is bound to. Never waits, allocates nothing. One thread at a time per source; not from
 * within a callback that this calls.
 *
 * @param messages  an array of the type's size; copied by a queue
 * @return how many were delivered, the first ones; the rest was refused, and counted
 */
uint32_t weir_readout_source_send(
	struct weir_readout_source *source, const void *messages, uint32_t nb);

/**
 * Take messages from a sink's queue, in order per source. One thread at a time per sink; never waits.
 *
 * @param[out] messages  room for @p nb of them
 * @return how many; 0: none were there, or the sink has a callback
 */
uint32_t weir_readout_sink_receive(struct weir_readout_sink *sink, void *messages, uint32_t nb);

#ifdef __cplusplus
}
#endif

#endif
