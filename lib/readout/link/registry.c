/* SPDX-License-Identifier: BSD-3-Clause */
/* The typed registry: sinks, sources, and who is bound to whom. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ring_elem.h>

#include "registry_private.h"

#define QUEUE_SIZE_MAX (1u << 24)

/*
 * Of several senders none waits for one that lost its processor. But where loads may overtake each other, rings that are made so
 * want an acquiring load that many versions of DPDK do not have.
 */
#ifdef RTE_ARCH_X86
#define MANY_SENDERS RING_F_MP_RTS_ENQ
#else
#define MANY_SENDERS 0u
#endif

bool
registry_is_name(const char *name)
{
	return name != NULL && name[0] != '\0' &&
	       strnlen(name, WEIR_READOUT_NAME_MAX) < WEIR_READOUT_NAME_MAX;
}

static void
copy_name(char *to, const char *from)
{
	snprintf(to, WEIR_READOUT_NAME_MAX, "%s", from == NULL ? "" : from);
}

/* @return 0, -EINVAL: said in the log; @p what: "sink" or "source" */
static int
check_name_and_type(const char *what, const char *name, const struct weir_readout_type *type)
{
	if (!registry_is_name(name)) {
		READOUT_LOG(ERROR, "a %s needs a name of 1 up to %u bytes", what,
			WEIR_READOUT_NAME_MAX - 1);
		return -EINVAL;
	}
	if (type == NULL || !registry_is_name(type->name)) {
		READOUT_LOG(ERROR, "%s '%s': its type needs a name of 1 up to %u bytes", what, name,
			WEIR_READOUT_NAME_MAX - 1);
		return -EINVAL;
	}
	if (type->size_bytes == 0 || type->size_bytes % 4 != 0) {
		READOUT_LOG(ERROR,
			"%s '%s': messages of type '%s' have %" PRIu32
			" bytes, expected a multiple of 4",
			what, name, type->name, type->size_bytes);
		return -EINVAL;
	}
	return 0;
}

static void
copy_type(struct registry_type *to, const struct weir_readout_type *from)
{
	copy_name(to->name, from->name);
	to->size_bytes = from->size_bytes;
	to->version = from->version;
}

struct weir_readout_registry *
weir_readout_registry_create(void)
{
	struct weir_readout_registry *registry = calloc(1, sizeof(*registry));

	if (registry == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	pthread_mutex_init(&registry->lock, NULL);
	TAILQ_INIT(&registry->sinks);
	TAILQ_INIT(&registry->sources);
	return registry;
}

static struct weir_readout_sink *
find_sink(struct weir_readout_registry *registry, const char *name)
{
	struct weir_readout_sink *sink;

	TAILQ_FOREACH (sink, &registry->sinks, entry)
		if (strcmp(sink->name, name) == 0)
			break;
	return sink;
}

static struct weir_readout_source *
find_source(struct weir_readout_registry *registry, const char *name)
{
	struct weir_readout_source *source;

	TAILQ_FOREACH (source, &registry->sources, entry)
		if (strcmp(source->name, name) == 0)
			break;
	return source;
}

struct weir_readout_sink *
weir_readout_sink_find(struct weir_readout_registry *registry, const char *name)
{
	struct weir_readout_sink *sink;

	pthread_mutex_lock(&registry->lock);
	sink = find_sink(registry, name);
	pthread_mutex_unlock(&registry->lock);
	return sink;
}

struct weir_readout_source *
weir_readout_source_find(struct weir_readout_registry *registry, const char *name)
{
	struct weir_readout_source *source;

	pthread_mutex_lock(&registry->lock);
	source = find_source(registry, name);
	pthread_mutex_unlock(&registry->lock);
	return source;
}

/* In memory of its own: the names of DPDK's rings are everybody's. */
static struct rte_ring *
create_ring(const char *name, const struct weir_readout_sink_config *config)
{
	const unsigned int flags =
		RING_F_EXACT_SZ | RING_F_SC_DEQ | (config->shared ? MANY_SENDERS : RING_F_SP_ENQ);
	const uint32_t slots = rte_align32pow2(config->queue_size + 1);
	ssize_t bytes = rte_ring_get_memsize_elem(config->type->size_bytes, slots);
	void *ring = NULL;

	if (bytes > 0)
		ring = aligned_alloc(
			RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL((size_t)bytes, RTE_CACHE_LINE_SIZE));
	if (ring == NULL || rte_ring_init(ring, "sink", config->queue_size, flags) != 0) {
		READOUT_LOG(ERROR, "sink '%s': no memory for a queue of %" PRIu32 " messages", name,
			config->queue_size);
		free(ring);
		return NULL;
	}
	return ring;
}

static int
check_sink(const struct weir_readout_sink_config *config)
{
	int rc = check_name_and_type("sink", config->name, config->type);

	if (rc < 0)
		return rc;
	if (config->receive != NULL && config->queue_size != 0) {
		READOUT_LOG(ERROR, "sink '%s' has a callback and a queue, expected one of them",
			config->name);
		return -EINVAL;
	}
	if (config->receive == NULL &&
		(config->queue_size == 0 || config->queue_size > QUEUE_SIZE_MAX)) {
		READOUT_LOG(ERROR,
			"sink '%s': a queue of %" PRIu32 " messages, expected 1 up to %u",
			config->name, config->queue_size, QUEUE_SIZE_MAX);
		return -EINVAL;
	}
	return 0;
}

static struct weir_readout_sink *
make_sink(struct weir_readout_registry *registry, const struct weir_readout_sink_config *config)
{
	struct weir_readout_sink *sink =
		aligned_alloc(__alignof__(struct weir_readout_sink), sizeof(*sink));

	if (sink == NULL)
		return NULL;
	memset(sink, 0, sizeof(*sink));
	sink->registry = registry;
	copy_name(sink->name, config->name);
	copy_type(&sink->type, config->type);
	sink->shared = config->shared;
	sink->receive = config->receive;
	sink->discard = config->discard;
	sink->arg = config->arg;
	if (config->receive != NULL)
		return sink;
	sink->ring = create_ring(config->name, config);
	if (sink->ring != NULL)
		return sink;
	free(sink);
	return NULL;
}

struct weir_readout_sink *
weir_readout_sink_create(
	struct weir_readout_registry *registry, const struct weir_readout_sink_config *config)
{
	struct weir_readout_sink *sink = NULL;
	int rc = check_sink(config);

	if (rc < 0) {
		rte_errno = -rc;
		return NULL;
	}
	pthread_mutex_lock(&registry->lock);
	if (find_sink(registry, config->name) != NULL) {
		READOUT_LOG(ERROR, "there is a sink '%s' already", config->name);
		rte_errno = EEXIST;
	} else {
		sink = make_sink(registry, config);
		if (sink != NULL)
			TAILQ_INSERT_TAIL(&registry->sinks, sink, entry);
		else
			rte_errno = ENOMEM;
	}
	pthread_mutex_unlock(&registry->lock);
	return sink;
}

/* What is in its queue, one by one: a message may be of any size. */
static void
discard_queued(struct weir_readout_sink *sink)
{
	void *message;

	if (sink->ring == NULL || sink->discard == NULL)
		return;
	message = malloc(sink->type.size_bytes);
	if (message == NULL)
		return;
	while (rte_ring_dequeue_elem(sink->ring, message, sink->type.size_bytes) == 0)
		sink->discard(sink->arg, message, 1);
	free(message);
}

static void
destroy_sink(struct weir_readout_sink *sink)
{
	TAILQ_REMOVE(&sink->registry->sinks, sink, entry);
	discard_queued(sink);
	free(sink->ring);
	free(sink);
}

static struct weir_readout_source *
any_source_of(const struct weir_readout_sink *sink)
{
	struct weir_readout_source *source;

	TAILQ_FOREACH (source, &sink->registry->sources, entry)
		if (source->sink == sink)
			break;
	return source;
}

int
weir_readout_sink_free(struct weir_readout_sink *sink)
{
	struct weir_readout_registry *registry = sink->registry;
	const struct weir_readout_source *source;

	pthread_mutex_lock(&registry->lock);
	source = any_source_of(sink);
	if (source != NULL)
		READOUT_LOG(ERROR, "sink '%s' cannot be removed: source '%s' is bound to it",
			sink->name, source->name);
	else
		destroy_sink(sink);
	pthread_mutex_unlock(&registry->lock);
	return source != NULL ? -EBUSY : 0;
}

struct weir_readout_source *
weir_readout_source_create(
	struct weir_readout_registry *registry, const struct weir_readout_source_config *config)
{
	struct weir_readout_source *source = NULL;
	int rc = check_name_and_type("source", config->name, config->type);

	if (rc == 0 && config->sink != NULL && !registry_is_name(config->sink)) {
		READOUT_LOG(ERROR, "source '%s': its sink's name needs 1 up to %u bytes",
			config->name, WEIR_READOUT_NAME_MAX - 1);
		rc = -EINVAL;
	}
	if (rc == 0) {
		source = aligned_alloc(__alignof__(struct weir_readout_source), sizeof(*source));
		rc = source == NULL ? -ENOMEM : 0;
	}
	if (rc < 0) {
		rte_errno = -rc;
		return NULL;
	}
	memset(source, 0, sizeof(*source));
	source->registry = registry;
	copy_name(source->name, config->name);
	copy_name(source->wanted, config->sink);
	copy_type(&source->type, config->type);
	pthread_mutex_lock(&registry->lock);
	if (find_source(registry, config->name) != NULL) {
		READOUT_LOG(ERROR, "there is a source '%s' already", config->name);
		rte_errno = EEXIST;
		free(source);
		source = NULL;
	} else {
		TAILQ_INSERT_TAIL(&registry->sources, source, entry);
	}
	pthread_mutex_unlock(&registry->lock);
	return source;
}

/* Under the lock. */
static void
change_sink(struct weir_readout_source *source, struct weir_readout_sink *sink)
{
	struct weir_readout_sink *old = source->sink;

	if (sink == old)
		return;
	if (sink != NULL)
		__atomic_store_n(&sink->nb_sources, sink->nb_sources + 1, __ATOMIC_RELEASE);
	source_switch(source, sink);
	if (old != NULL)
		__atomic_store_n(&old->nb_sources, old->nb_sources - 1, __ATOMIC_RELEASE);
}

/* Under the lock: may @p source be bound to it? @return 0, or an error, said in the log */
static int
check_binding(const struct weir_readout_source *source, const struct weir_readout_sink *sink,
	const char *name)
{
	const struct registry_type *is = &source->type;

	if (sink == NULL) {
		READOUT_LOG(ERROR, "source '%s': there is no sink '%s'", source->name, name);
		return -ENOENT;
	}
	if (strcmp(is->name, sink->type.name) != 0 || is->size_bytes != sink->type.size_bytes ||
		is->version != sink->type.version) {
		READOUT_LOG(ERROR,
			"source '%s' sends '%s' version %" PRIu32 " of %" PRIu32
			" bytes; sink '%s' expects '%s' version %" PRIu32 " of %" PRIu32 " bytes",
			source->name, is->name, is->version, is->size_bytes, sink->name,
			sink->type.name, sink->type.version, sink->type.size_bytes);
		return -EPROTOTYPE;
	}
	if (!sink->shared && sink->nb_sources > 0 && source->sink != sink) {
		READOUT_LOG(ERROR,
			"source '%s': sink '%s' is not shared, and source '%s' is bound to it",
			source->name, name, any_source_of(sink)->name);
		return -EADDRINUSE;
	}
	return 0;
}

/* Under the lock. */
static int
bind_source(struct weir_readout_source *source, const char *name)
{
	struct weir_readout_sink *sink = find_sink(source->registry, name);
	int rc = check_binding(source, sink, name);

	if (rc == 0)
		change_sink(source, sink);
	return rc;
}

int
weir_readout_registry_bind(struct weir_readout_registry *registry)
{
	struct weir_readout_source *source;
	int first = 0;

	pthread_mutex_lock(&registry->lock);
	TAILQ_FOREACH (source, &registry->sources, entry) {
		int rc = 0;

		if (source->sink == NULL && source->wanted[0] != '\0')
			rc = bind_source(source, source->wanted);
		if (first == 0)
			first = rc;
	}
	pthread_mutex_unlock(&registry->lock);
	return first;
}

int
weir_readout_source_bind(struct weir_readout_source *source, const char *sink)
{
	int rc = 0;

	pthread_mutex_lock(&source->registry->lock);
	if (sink == NULL)
		change_sink(source, NULL);
	else
		rc = bind_source(source, sink);
	if (rc == 0)
		copy_name(source->wanted, sink);
	pthread_mutex_unlock(&source->registry->lock);
	return rc;
}

static void
destroy_source(struct weir_readout_source *source)
{
	change_sink(source, NULL);
	TAILQ_REMOVE(&source->registry->sources, source, entry);
	free(source);
}

void
weir_readout_source_free(struct weir_readout_source *source)
{
	struct weir_readout_registry *registry;

	if (source == NULL)
		return;
	registry = source->registry;
	pthread_mutex_lock(&registry->lock);
	destroy_source(source);
	pthread_mutex_unlock(&registry->lock);
}

void
weir_readout_registry_free(struct weir_readout_registry *registry)
{
	if (registry == NULL)
		return;
	while (!TAILQ_EMPTY(&registry->sources))
		destroy_source(TAILQ_FIRST(&registry->sources));
	while (!TAILQ_EMPTY(&registry->sinks))
		destroy_sink(TAILQ_FIRST(&registry->sinks));
	pthread_mutex_destroy(&registry->lock);
	free(registry);
}
