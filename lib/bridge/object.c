/* SPDX-License-Identifier: BSD-3-Clause */

/* Execution objects that are built in, and those of plug-ins: made, started, stopped. */

#include <stdlib.h>

#include "bridge_private.h"
#include "weir_bridge_object.h"

const char *const weir_bridge_builtin_names[] = {
	[WEIR_BRIDGE_FORWARD] = "forward",
	[WEIR_BRIDGE_COUNT] = "count",
	[WEIR_BRIDGE_DROP] = "drop",
	[WEIR_BRIDGE_BUILTINS] = NULL,
};

/* What one core counts. */
struct counts {
	struct weir_bridge_object_stats stats;
} __rte_cache_aligned;

struct weir_bridge_object {
	struct weir_em *em;
	const struct weir_bridge_object_type *type; /* NULL: built in */
	void *context;                              /* the plug-in's */
	weir_em_object object;
	enum weir_bridge_builtin builtin;
	enum weir_bridge_flow flow;
	const weir_em_queue *to;
	unsigned int nb_to;
	struct counts counts[WEIR_EM_CORES_MAX];
};

/* One writer, any readers. */
static inline void
add(uint64_t *counter, uint64_t nb)
{
	__atomic_store_n(counter, *counter + nb, __ATOMIC_RELAXED);
}

static weir_em_queue
queue_of(const struct weir_bridge_object *object, const struct rte_event *event)
{
	uint32_t hash;

	if (object->nb_to == 1 || event->event_type != WEIR_EM_EVENT_BUFFER || event->mbuf == NULL)
		return object->to[0];
	hash = bridge_flow_hash(event->mbuf, object->flow);
	return object->to[(uint64_t)hash * object->nb_to >> 32];
}

static void
free_events(const struct weir_bridge_object *object, struct weir_em_core *core,
	struct rte_event *events, uint16_t nb)
{
	for (uint16_t i = 0; i < nb; i++)
		if (events[i].event_type == WEIR_EM_EVENT_BUFFER)
			weir_em_free(object->em, core, events[i].mbuf);
}

/* Runs that go to the same queue. */
static void
forward(const struct weir_bridge_object *object, struct weir_em_core *core,
	struct rte_event *events, uint16_t nb, struct weir_bridge_object_stats *stats)
{
	uint16_t n, sent;

	for (uint16_t i = 0; i < nb; i += n) {
		weir_em_queue queue = queue_of(object, &events[i]);

		for (n = 1; i + n < nb && queue_of(object, &events[i + n]) == queue;)
			n++;
		sent = weir_em_forward_burst(core, queue, &events[i], n);
		add(&stats->nb_forwarded, sent);
		if (likely(sent == n))
			continue;
		free_events(object, core, &events[i + sent], (uint16_t)(n - sent));
		add(&stats->nb_closed, (uint64_t)(n - sent));
	}
}

static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct weir_bridge_object *object = context;
	struct weir_bridge_object_stats *stats = &object->counts[weir_em_core_id(core)].stats;
	uint64_t bytes = 0;

	add(&stats->nb_events, nb);
	for (uint16_t i = 0; object->builtin == WEIR_BRIDGE_COUNT && i < nb; i++)
		if (events[i].event_type == WEIR_EM_EVENT_BUFFER && events[i].mbuf != NULL)
			bytes += events[i].mbuf->pkt_len;
	add(&stats->nb_bytes, bytes);
	if (object->builtin != WEIR_BRIDGE_DROP && object->nb_to > 0) {
		forward(object, core, events, nb, stats);
		return;
	}
	free_events(object, core, events, nb);
	add(&stats->nb_freed, nb);
}

static void
fill_in(const struct weir_bridge_object *object, const char *name,
	struct weir_em_object_config *config)
{
	const struct weir_bridge_object_type *type = object->type;

	*config = (struct weir_em_object_config){.name = name,
		.context = (void *)(uintptr_t)object,
		.receive = receive,
		.burst = WEIR_EM_BURST_MAX};
	if (type != NULL)
		*config = (struct weir_em_object_config){.name = name,
			.context = object->context,
			.receive = type->receive,
			.burst = type->burst,
			.start = type->start,
			.core_start = type->core_start,
			.core_stop = type->core_stop,
			.stop = type->stop};
}

/* Errors leave nothing behind, but the context. */
static int
start(struct weir_bridge_object *object, const struct weir_bridge_object_param *param)
{
	struct weir_em_object_config config;
	int error = 0;

	fill_in(object, param->name, &config);
	object->object = weir_em_object_create(object->em, &config);
	if (object->object == WEIR_EM_NONE)
		return -rte_errno;
	for (unsigned int i = 0; error == 0 && i < param->nb_queues; i++)
		error = weir_em_object_add_queue(object->em, object->object, param->queues[i]);
	if (error == 0)
		error = weir_em_object_start(object->em, NULL, object->object, NULL);
	if (error != 0)
		weir_em_object_delete(object->em, NULL, object->object, WEIR_EM_REMOVE_QUEUES);
	return error;
}

static int
init(struct weir_bridge_object *object, const struct weir_bridge_object_param *param)
{
	const struct weir_bridge_object_env env = {
		.abi_version = WEIR_BRIDGE_OBJECT_ABI_VERSION,
		.struct_size = sizeof(env),
		.em = param->em,
		.name = param->name,
		.argument = param->argument,
		.to = param->to,
		.nb_to = param->nb_to,
	};

	if (object->type == NULL || object->type->init == NULL)
		return 0;
	return object->type->init(&env, &object->context);
}

static bool
is_good(const struct weir_bridge_object_param *param)
{
	return param != NULL && param->name != NULL && param->em != NULL &&
	       (param->queues != NULL || param->nb_queues == 0) &&
	       (param->to != NULL || param->nb_to == 0) &&
	       (param->type != NULL || (unsigned int)param->builtin < WEIR_BRIDGE_BUILTINS) &&
	       (unsigned int)param->flow < WEIR_BRIDGE_FLOWS &&
	       (param->type != NULL || param->builtin != WEIR_BRIDGE_FORWARD || param->nb_to > 0);
}

struct weir_bridge_object *
weir_bridge_object_create(const struct weir_bridge_object_param *param)
{
	struct weir_bridge_object *object;
	int error;

	if (!is_good(param)) {
		BRIDGE_LOG(ERROR, "an object needs a name, an event machine, a type, and "
				  "'forward' a queue to forward to");
		rte_errno = EINVAL;
		return NULL;
	}
	object = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*object));
	if (object == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	memset(object, 0, sizeof(*object));
	object->em = param->em;
	object->type = param->type;
	object->builtin = param->builtin;
	object->flow = param->flow;
	object->to = param->to;
	object->nb_to = param->nb_to;
	error = init(object, param);
	if (error == 0) {
		error = start(object, param);
		if (error != 0 && object->type != NULL && object->type->fini != NULL)
			object->type->fini(object->context);
	}
	if (error == 0)
		return object;
	BRIDGE_LOG(
		ERROR, "object '%s' could not be started: %s", param->name, strerror(abs(error)));
	free(object);
	rte_errno = abs(error);
	return NULL;
}

void
weir_bridge_object_destroy(struct weir_bridge_object *object)
{
	if (object == NULL)
		return;
	weir_em_object_stop(object->em, NULL, object->object, NULL);
	weir_em_object_delete(object->em, NULL, object->object, WEIR_EM_REMOVE_QUEUES);
	if (object->type != NULL && object->type->fini != NULL)
		object->type->fini(object->context);
	free(object);
}

void
weir_bridge_object_stats(
	const struct weir_bridge_object *object, struct weir_bridge_object_stats *stats)
{
	struct weir_em_object_info info;

	memset(stats, 0, sizeof(*stats));
	for (unsigned int i = 0; i < WEIR_EM_CORES_MAX; i++) {
		const struct weir_bridge_object_stats *core = &object->counts[i].stats;

		stats->nb_events += __atomic_load_n(&core->nb_events, __ATOMIC_RELAXED);
		stats->nb_bytes += __atomic_load_n(&core->nb_bytes, __ATOMIC_RELAXED);
		stats->nb_forwarded += __atomic_load_n(&core->nb_forwarded, __ATOMIC_RELAXED);
		stats->nb_freed += __atomic_load_n(&core->nb_freed, __ATOMIC_RELAXED);
		stats->nb_closed += __atomic_load_n(&core->nb_closed, __ATOMIC_RELAXED);
	}
	if (object->type != NULL && weir_em_object_info(object->em, object->object, &info) == 0)
		stats->nb_events = info.nb_received;
}
