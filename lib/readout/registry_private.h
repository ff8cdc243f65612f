/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_REGISTRY_PRIVATE_H
#define READOUT_REGISTRY_PRIVATE_H

/*
 * registry.c: who there is, and who is bound to whom, under the lock; send.c: messages, without one.
 *
 * A source's sends counter is odd while it is in a send. Who binds it to another sink stores the new one, and waits until a send that
 * was under way is over; both sides have a full barrier between what they store and what they load:
 *
 *     sender   sends = odd  | barrier | sink                    binder   sink = new | barrier | sends
 *
 * So either the sender sees the new sink, or the binder sees that it is in a send.
 */

#include <pthread.h>
#include <sys/queue.h>

#include <rte_ring.h>

#include <weir_base.h>

#include "weir_readout_registry.h"

#define OWN_LINE __attribute__((aligned(64)))

#define READOUT_LOG(level, ...) weir_base_log(WEIR_BASE_LOG_##level, "readout", __VA_ARGS__)

/* A name or a type, copied. */
struct registry_type {
	char name[WEIR_READOUT_NAME_MAX];
	uint32_t size_bytes;
	uint32_t version;
};

struct weir_readout_sink {
	TAILQ_ENTRY(weir_readout_sink) entry;
	struct weir_readout_registry *registry;
	char name[WEIR_READOUT_NAME_MAX];
	struct registry_type type;
	bool shared;
	weir_readout_receive_t receive, discard;
	void *arg;
	struct rte_ring *ring;      /* NULL: a callback */
	uint32_t nb_sources;        /* bound; under the lock, read without it */
	OWN_LINE uint64_t received; /* by the queue's consumer */
};

struct weir_readout_source {
	TAILQ_ENTRY(weir_readout_source) entry;
	struct weir_readout_registry *registry;
	char name[WEIR_READOUT_NAME_MAX];
	char wanted[WEIR_READOUT_NAME_MAX]; /* name of its sink; "": none */
	struct registry_type type;
	struct weir_readout_sink *sink; /* atomic; NULL: unbound */
	OWN_LINE uint64_t sends;        /* odd: in one */
	struct weir_readout_source_stats own;
	OWN_LINE uint64_t version;
	struct weir_readout_source_stats published;
};

struct weir_readout_registry {
	pthread_mutex_t lock;
	TAILQ_HEAD(, weir_readout_sink) sinks;
	TAILQ_HEAD(, weir_readout_source) sources;
};

/* registry.c: is it a name, that has 1 up to WEIR_READOUT_NAME_MAX - 1 bytes? */
bool registry_is_name(const char *name);

/* send.c: from now on the source sends to @p sink; when this returns, to none else. */
void source_switch(struct weir_readout_source *source, struct weir_readout_sink *sink);

#endif
