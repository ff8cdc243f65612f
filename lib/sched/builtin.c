/* SPDX-License-Identifier: BSD-3-Clause */

/* The builtin scheduler is made, started, stopped; threads without a port. See builtin.h. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "builtin.h"

#define QUANTUM_MAX 32

/* Memory that is there when it is touched. */
static void *
reserve_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory != MAP_FAILED ? memory : NULL;
}

static void
free_memory(void *memory, size_t bytes)
{
	if (memory != NULL)
		munmap(memory, bytes);
}

static size_t
events_of(const struct builtin *builtin)
{
	return builtin->sched->config.nb_events;
}

static size_t
lanes_of(const struct builtin *builtin)
{
	return (size_t)builtin->sched->config.nb_queues * 2 * builtin->sched->config.nb_flows;
}

static void
shard_fini(struct shard *shard)
{
	size_t nb = events_of(shard->builtin);

	for (unsigned int i = 0; shard->rings != NULL && i < shard->nb_rings; i++)
		free_memory(shard->rings[i].slots, nb * sizeof(*shard->rings[i].slots));
	free(shard->rings);
	free_memory(shard->events, nb * sizeof(*shard->events));
	free_memory(shard->next, nb * sizeof(*shard->next));
	free_memory(shard->places, nb * sizeof(*shard->places));
}

static int
shard_init(struct shard *shard)
{
	size_t nb = events_of(shard->builtin);

	shard->free = shard->free_place = NONE;
	for (unsigned int p = 0; p < WEIR_SCHED_PRIORITIES; p++)
		for (unsigned int g = 0; g < WEIR_SCHED_GROUPS_MAX; g++)
			shard->ready[p][g].first = NONE;
	if (posix_memalign((void **)&shard->rings, 64, shard->nb_rings * sizeof(*shard->rings)) !=
		0) {
		shard->rings = NULL;
		return -ENOMEM;
	}
	memset(shard->rings, 0, shard->nb_rings * sizeof(*shard->rings));
	for (unsigned int i = 0; i < shard->nb_rings; i++) {
		shard->rings[i].slots = reserve_memory(nb * sizeof(*shard->rings[i].slots));
		if (shard->rings[i].slots == NULL)
			return -ENOMEM;
	}
	shard->events = reserve_memory(nb * sizeof(*shard->events));
	shard->next = reserve_memory(nb * sizeof(*shard->next));
	shard->places = reserve_memory(nb * sizeof(*shard->places));
	return shard->events != NULL && shard->next != NULL && shard->places != NULL ? 0 : -ENOMEM;
}

static void
shards_fini(struct builtin *builtin)
{
	for (unsigned int i = 0; builtin->shards != NULL && i < builtin->nb_shards; i++)
		shard_fini(&builtin->shards[i]);
	free(builtin->shards);
	builtin->shards = NULL;
}

/* One for each port that dequeues. */
static int
shards_init(struct builtin *builtin)
{
	unsigned int nb_ports = builtin->sched->config.nb_ports, nb = 0;
	int rc = 0;

	for (unsigned int i = 0; i < nb_ports; i++)
		nb += !builtin->sched->ports_config[i].producer;
	if (nb == 0) {
		SCHED_LOG(ERROR, "%s: all ports are producers, nobody would dequeue",
			builtin->sched->name);
		return -EINVAL;
	}
	if (posix_memalign((void **)&builtin->shards, 64, nb * sizeof(*builtin->shards)) != 0) {
		builtin->shards = NULL;
		return -ENOMEM;
	}
	memset(builtin->shards, 0, nb * sizeof(*builtin->shards));
	builtin->nb_shards = nb;
	for (unsigned int i = 0; i < nb; i++) {
		builtin->shards[i].builtin = builtin;
		builtin->shards[i].id = i;
		builtin->shards[i].nb_rings = nb_ports + nb;
	}
	for (unsigned int i = 0; i < nb && rc == 0; i++)
		rc = shard_init(&builtin->shards[i]);
	if (rc < 0)
		shards_fini(builtin);
	return rc;
}

/* A queue's flows are divided among the shards of ports that it is for; of all, if it is for none yet. */
static void
divide_flows(struct builtin *builtin, unsigned int queue)
{
	uint64_t ports = sched_queue_ports(builtin->sched, queue);
	size_t nb_flows = builtin->sched->config.nb_flows;
	uint8_t ids[WEIR_SCHED_PORTS_MAX];
	unsigned int nb = 0;

	for (int all = 0; all < 2 && nb == 0; all++)
		for (unsigned int i = 0; i < builtin->sched->config.nb_ports; i++)
			if (builtin->ports[i].own != NULL && (all || (ports >> i & 1)))
				ids[nb++] = (uint8_t)builtin->ports[i].own->id;
	for (size_t flow = 0; flow < nb_flows; flow++)
		builtin->shard_of[queue * nb_flows + flow] = ids[(flow + queue) % nb];
}

static void
builtin_destroy(struct weir_sched *sched)
{
	struct builtin *builtin = sched->own;
	size_t flows = (size_t)sched->config.nb_queues * sched->config.nb_flows;

	if (builtin == NULL)
		return;
	shards_fini(builtin);
	free_memory(builtin->lanes, lanes_of(builtin) * sizeof(*builtin->lanes));
	free_memory(builtin->shard_of, flows);
	free(builtin->port_groups);
	free(builtin->ports);
	free(builtin);
	sched->own = NULL;
}

static int
builtin_create(struct weir_sched *sched, const char *device)
{
	size_t flows = (size_t)sched->config.nb_queues * sched->config.nb_flows;
	struct builtin *builtin;
	void *memory;

	if (device != NULL) {
		SCHED_LOG(ERROR, "%s: builtin has no devices: '%s'", sched->name, device);
		return -EINVAL;
	}
	if (posix_memalign(&memory, 64, sizeof(*builtin)) != 0)
		return -ENOMEM;
	builtin = memset(memory, 0, sizeof(*builtin));
	sched->own = builtin;
	builtin->sched = sched;
	builtin->flow_mask = sched->config.nb_flows - 1;
	builtin->event_mask = sched->config.nb_events - 1;
	builtin->lanes = reserve_memory(lanes_of(builtin) * sizeof(*builtin->lanes));
	builtin->shard_of = reserve_memory(flows);
	builtin->port_groups = calloc(sched->config.nb_ports, sizeof(*builtin->port_groups));
	if (posix_memalign(&memory, 64, sched->config.nb_ports * sizeof(*builtin->ports)) == 0)
		builtin->ports =
			memset(memory, 0, sched->config.nb_ports * sizeof(*builtin->ports));
	if (builtin->lanes == NULL || builtin->shard_of == NULL || builtin->port_groups == NULL ||
		builtin->ports == NULL) {
		builtin_destroy(sched);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		builtin->ports[i].base = (struct weir_sched_port){&builtin_ops, sched, i};
		builtin->ports[i].builtin = builtin;
		sched->ports[i] = &builtin->ports[i].base;
	}
	return 0;
}

static int
builtin_setup(struct weir_sched *sched, unsigned int number)
{
	return 0; /* all is done when it is started */
}

/* A port takes what it may under a shard's lock: who has had all locks since knows that nobody goes by the old ones. */
static int
builtin_group_set(struct weir_sched *sched, unsigned int group)
{
	struct builtin *builtin = sched->own;
	uint64_t ports = sched->groups[group];

	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		if (ports >> i & 1)
			__atomic_fetch_or(
				&builtin->port_groups[i], (uint64_t)1 << group, __ATOMIC_RELAXED);
		else
			__atomic_fetch_and(&builtin->port_groups[i], ~((uint64_t)1 << group),
				__ATOMIC_RELAXED);
	}
	for (unsigned int i = 0; i < builtin->nb_shards; i++) {
		shard_lock(&builtin->shards[i]);
		shard_unlock(&builtin->shards[i]);
	}
	return 0;
}

static bool
have_several_priorities(const struct weir_sched *sched)
{
	for (unsigned int i = 0; i < sched->config.nb_queues; i++)
		if (sched->queues[i].priority != sched->queues[0].priority ||
			sched->queues[i].priority == WEIR_SCHED_PRIORITY_BY_EVENT)
			return true;
	return false;
}

/* As if nobody had held anything. */
static void
reset_ports(struct builtin *builtin)
{
	struct weir_sched *sched = builtin->sched;
	unsigned int shard = 0;

	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		const struct weir_sched_port_config *config = &sched->ports_config[i];
		struct builtin_port *port = &builtin->ports[i];

		port->own = config->producer ? NULL : &builtin->shards[shard++];
		port->victim = i;
		port->implicit = !config->no_implicit_release;
		port->nb_max = config->nb_held;
		port->nb_held = 0;
		port->credits = 0;
		memset(port->held, 0, sizeof(port->held));
		port->nb_free = config->nb_held;
		/* The first ones first. */
		for (unsigned int n = 0; n < config->nb_held; n++)
			port->free[n] = (uint8_t)(config->nb_held - 1 - n);
		builtin->port_groups[i] |= 1;
	}
	builtin->inside = 0;
	builtin->reserved = (int32_t)sched->config.nb_reserved;
}

static int
builtin_start(struct weir_sched *sched)
{
	struct builtin *builtin = sched->own;
	int32_t quantum = (int32_t)(sched->config.new_threshold / (8 * sched->config.nb_ports));
	int rc;

	builtin->quantum = RTE_MAX(1, RTE_MIN(quantum, QUANTUM_MAX));
	builtin->several_priorities = have_several_priorities(sched);
	if (builtin->shards == NULL) {
		rc = shards_init(builtin);
		if (rc < 0)
			return rc;
		reset_ports(builtin);
		for (unsigned int queue = 0; queue < sched->config.nb_queues; queue++)
			divide_flows(builtin, queue);
		for (size_t i = 0; i < lanes_of(builtin); i++)
			builtin->lanes[i].first = NONE;
	}
	reset_ports(builtin);
	return 0;
}

static void
builtin_stop(struct weir_sched *sched, void (*drain)(void *arg, const struct rte_event *event),
	void *arg)
{
	struct builtin *builtin = sched->own;

	for (unsigned int i = 0; i < builtin->nb_shards; i++)
		shard_drain(&builtin->shards[i]);
	for (unsigned int i = 0; i < builtin->nb_shards; i++)
		shard_empty(&builtin->shards[i], drain, arg);
}

static uint32_t
builtin_reserve(struct weir_sched *sched, uint32_t nb)
{
	struct builtin *builtin = sched->own;
	int32_t left = __atomic_load_n(&builtin->reserved, __ATOMIC_RELAXED), granted;

	do {
		granted = RTE_MIN(left, (int32_t)RTE_MIN(nb, (uint32_t)INT32_MAX));
		if (granted <= 0)
			return 0;
	} while (!__atomic_compare_exchange_n(&builtin->reserved, &left, left - granted, true,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return (uint32_t)granted;
}

static void
builtin_unreserve(struct weir_sched *sched, uint32_t nb)
{
	struct builtin *builtin = sched->own;

	__atomic_fetch_add(&builtin->reserved, (int32_t)nb, __ATOMIC_RELAXED);
}

static int
builtin_enqueue_reserved(struct weir_sched *sched, const struct rte_event *wish)
{
	struct builtin *builtin = sched->own;
	struct rte_event event;
	struct shard *shard;

	if (!sched->running || wish == NULL || wish->queue_id >= sched->config.nb_queues ||
		event_type(builtin, wish) > RTE_SCHED_TYPE_PARALLEL)
		return -EINVAL;
	event = *wish;
	event.rsvd = RESERVED_MARK;
	shard = event_shard(builtin, &event);
	shard_lock(shard);
	shard_drain(shard);
	shard_arrive(shard, &event);
	shard_unlock(shard);
	__atomic_fetch_add(&builtin->nb_new, 1, __ATOMIC_RELAXED);
	return 0;
}

static void
builtin_stats(const struct weir_sched *sched, struct weir_sched_stats *stats)
{
	const struct builtin *builtin = sched->own;

	*stats = (struct weir_sched_stats){
		.nb_new = __atomic_load_n(&builtin->nb_new, __ATOMIC_RELAXED)};
	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		const struct weir_sched_stats *port = &builtin->ports[i].stats;

		stats->nb_new += __atomic_load_n(&port->nb_new, __ATOMIC_RELAXED);
		stats->nb_forwarded += __atomic_load_n(&port->nb_forwarded, __ATOMIC_RELAXED);
		stats->nb_released += __atomic_load_n(&port->nb_released, __ATOMIC_RELAXED);
		stats->nb_dequeued += __atomic_load_n(&port->nb_dequeued, __ATOMIC_RELAXED);
		stats->nb_refused += __atomic_load_n(&port->nb_refused, __ATOMIC_RELAXED);
		stats->nb_invalid += __atomic_load_n(&port->nb_invalid, __ATOMIC_RELAXED);
		stats->nb_stolen += __atomic_load_n(&port->nb_stolen, __ATOMIC_RELAXED);
	}
}

static void
builtin_dump(struct weir_sched *sched, FILE *file)
{
	struct builtin *builtin = sched->own;

	fprintf(file, "%s: builtin, %u ports, %u queues, %u shards\n", sched->name,
		sched->config.nb_ports, sched->config.nb_queues, builtin->nb_shards);
	fprintf(file, "  credits: %d of %u taken, %d of %u reserved ones left\n",
		__atomic_load_n(&builtin->inside, __ATOMIC_RELAXED), sched->config.new_threshold,
		__atomic_load_n(&builtin->reserved, __ATOMIC_RELAXED), sched->config.nb_reserved);
	for (unsigned int i = 0; i < builtin->nb_shards; i++) {
		const struct shard *shard = &builtin->shards[i];
		uint32_t in_rings = 0;

		for (unsigned int r = 0; r < shard->nb_rings; r++)
			in_rings += __atomic_load_n(&shard->rings[r].tail, __ATOMIC_RELAXED) -
				    __atomic_load_n(&shard->rings[r].head, __ATOMIC_RELAXED);
		fprintf(file, "  shard %u: %u in rings, %u ready, priorities %#x\n", i, in_rings,
			__atomic_load_n(&shard->hint, __ATOMIC_RELAXED) >> 8,
			__atomic_load_n(&shard->hint, __ATOMIC_RELAXED) & 0xff);
	}
	for (unsigned int i = 0; i < sched->config.nb_ports; i++)
		fprintf(file, "  port %u: holds %u, %d credits\n", i,
			__atomic_load_n(&builtin->ports[i].nb_held, __ATOMIC_RELAXED),
			__atomic_load_n(&builtin->ports[i].credits, __ATOMIC_RELAXED));
}

const struct sched_backend sched_builtin = {
	.name = "builtin",
	.create = builtin_create,
	.destroy = builtin_destroy,
	.queue_setup = builtin_setup,
	.port_setup = builtin_setup,
	.group_set = builtin_group_set,
	.start = builtin_start,
	.stop = builtin_stop,
	.reserve = builtin_reserve,
	.unreserve = builtin_unreserve,
	.enqueue_reserved = builtin_enqueue_reserved,
	.stats = builtin_stats,
	.dump = builtin_dump,
};
