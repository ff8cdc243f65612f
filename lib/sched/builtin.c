/* SPDX-License-Identifier: BSD-3-Clause */

/* The builtin scheduler is made, configured, started, stopped. See builtin.h. */

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fence.h"
#include "level.h"
#include "move.h"
#include "owner.h"
#include "places.h"

/* Rings that give much are looked at so far apart. */
#define GAP_NS 2000

/* Beside events that take so long it costs little when another port takes over what is ready behind them. */
#define SLOW_NS 500

/* How long a move of flows may take before it is given up. */
#define MOVE_PATIENCE_NS 1000000

/* Ports compare themselves with others so far apart: who has nothing to do now and then has so for a millisecond and longer. */
#define BALANCE_NS 1000000

/*
 * Flows of a port that has not come for so long go to who serves them. With a shorter time, who is often away has them go to and fro; with
 * a longer one, who serves many shards does so slowly the longer.
 */
#define GATHER_NS 50000000

/* Who puts nothing in need not answer after so long. */
#define FENCE_AFTER_NS 10000

/* Memory that is there when it is touched, zeroed. Its node is preferred, not bound: memory on another one is slower, none is the end. */
static void *
reserve_memory(struct builtin *builtin, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int rc;

	if (memory == MAP_FAILED)
		return NULL;
	rc = weir_base_prefer_node(memory, bytes, builtin->socket_id);
	if (rc < 0) {
		SCHED_LOG(WARNING, "%s: memory on NUMA node %d: %s; it comes from any node",
			builtin->sched->name, builtin->socket_id, strerror(-rc));
		builtin->socket_id = -1; /* told once */
	}
	return memory;
}

static void
free_memory(void *memory, size_t bytes)
{
	if (memory != NULL)
		munmap(memory, bytes);
}

/* Whole cache lines, zeroed. */
static void *
allocate(size_t bytes)
{
	void *memory;

	return posix_memalign(&memory, 64, bytes) == 0 ? memset(memory, 0, bytes) : NULL;
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
	size_t slots = events_of(shard->builtin), nb = slots + 1;

	if (shard->rings != NULL)
		free_memory(
			shard->rings[0].slots, shard->nb_rings * slots * sizeof(struct rte_event));
	free(shard->rings);
	free_memory(shard->events, nb * sizeof(*shard->events));
	free_memory(shard->next, nb * sizeof(*shard->next));
	free_memory(shard->places, nb * sizeof(*shard->places));
}

static int
rings_init(struct shard *shard)
{
	const size_t nb = events_of(shard->builtin);
	struct rte_event *slots =
		reserve_memory(shard->builtin, shard->nb_rings * nb * sizeof(*slots));

	shard->rings = allocate(shard->nb_rings * sizeof(*shard->rings));
	if (slots == NULL || shard->rings == NULL) {
		free_memory(slots, shard->nb_rings * nb * sizeof(*slots));
		free(shard->rings);
		shard->rings = NULL;
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < shard->nb_rings; i++) {
		ring_init(&shard->rings[i], &slots[i * nb], (uint32_t)nb);
		shard->rings[i].level = (uint8_t)(i / shard->nb_senders);
		shard->rings[i].sender = (uint8_t)(i % shard->nb_senders);
	}
	return 0;
}

static int
shard_init(struct shard *shard)
{
	size_t nb = events_of(shard->builtin) + 1;

	if (rings_init(shard) < 0)
		return -ENOMEM;
	shard->events = reserve_memory(shard->builtin, nb * sizeof(*shard->events));
	shard->next = reserve_memory(shard->builtin, nb * sizeof(*shard->next));
	shard->places = reserve_memory(shard->builtin, nb * sizeof(*shard->places));
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

/* Those of a sender. */
static void
find_rings(const struct builtin *builtin, unsigned int sender,
	struct ring *rings[LEVELS_MAX][WEIR_SCHED_PORTS_MAX])
{
	for (unsigned int to = 0; to < builtin->nb_shards; to++) {
		const struct shard *shard = &builtin->shards[to];

		for (unsigned int level = 0; level < builtin->nb_levels; level++)
			rings[level][to] = shard_ring(shard, level, sender);
	}
}

/* One for each port that dequeues. */
static int
shards_init(struct builtin *builtin)
{
	unsigned int nb_ports = builtin->sched->config.nb_ports, nb = 0;
	int rc = 0;

	for (unsigned int i = 0; i < nb_ports; i++)
		nb += !builtin->sched->ports_config[i].producer;
	builtin->shards = allocate(nb * sizeof(*builtin->shards));
	if (builtin->shards == NULL)
		return -ENOMEM;
	builtin->nb_shards = nb;
	for (unsigned int i = 0; i < nb; i++) {
		builtin->shards[i].builtin = builtin;
		builtin->shards[i].id = (uint16_t)i;
		builtin->shards[i].sender_id = (uint8_t)(nb_ports + i);
		builtin->shards[i].nb_senders = (uint8_t)(nb_ports + nb);
		builtin->shards[i].nb_rings = (uint16_t)(builtin->nb_levels * (nb_ports + nb));
	}
	for (unsigned int i = 0; i < nb && rc == 0; i++)
		rc = shard_init(&builtin->shards[i]);
	for (unsigned int i = 0; i < nb && rc == 0; i++)
		find_rings(builtin, nb_ports + i, builtin->shards[i].rings_out);
	if (rc < 0)
		shards_fini(builtin);
	return rc;
}

/*
 * A queue's flows are divided among the shards of ports that it is for; of all, if it is for none yet.
 *
 * A flow is at the same port in all queues: what is forwarded is found in that one's cache. Where there are fewer classes than ports, queues are
 * at different ones instead: else some would have nothing.
 */
static void
divide_flows(struct builtin *builtin, unsigned int queue)
{
	uint64_t ports = sched_queue_ports(builtin->sched, queue);
	uint8_t ids[WEIR_SCHED_PORTS_MAX];
	unsigned int nb = 0;
	bool few;

	for (int all = 0; all < 2 && nb == 0; all++)
		for (unsigned int i = 0; i < builtin->sched->config.nb_ports; i++)
			if (builtin->ports[i].home != NULL && (all || (ports >> i & 1)))
				ids[nb++] = (uint8_t)builtin->ports[i].home->id;
	few = builtin->class_mask + 1 < nb;
	for (unsigned int class = 0; class < NB_CLASSES; class ++)
		builtin->divided[queue][class] = builtin->shard_of[queue][class] =
			ids[(class + (few ? queue : 0)) % nb];
}

/* Whoever puts the first event in waits until its flows are divided; from then on only classes of them move (move.c). */
bool
queue_use(struct builtin *builtin, uint8_t queue)
{
	struct queue_info *info = &builtin->queues[queue];
	uint8_t *state = &info->state, unused = QUEUE_UNUSED;

	if (__atomic_load_n(state, __ATOMIC_ACQUIRE) == QUEUE_NONE)
		return false;
	level_use(builtin, info);
	while (!__atomic_compare_exchange_n(
		state, &unused, QUEUE_USED, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)) {
		if (unused == QUEUE_USED)
			return true;
		unused = QUEUE_UNUSED;
		sched_yield();
	}
	owner_note_queue(builtin, queue);
	queue_note_plain(builtin, queue);
	return true;
}

/* By who changes one of both, after that: who is the later one sees what the other one did. */
void
queue_note_plain(struct builtin *builtin, uint8_t queue)
{
	struct queue_info *info = &builtin->queues[queue];

	if (info->is_fixed && __atomic_load_n(&info->state, __ATOMIC_SEQ_CST) == QUEUE_USED &&
		(__atomic_load_n(&builtin->priorities_used, __ATOMIC_SEQ_CST) >> info->priority &
			1) != 0)
		__atomic_store_n(&info->is_plain, true, __ATOMIC_RELEASE);
}

/* Nobody has used it yet: its ports may be others than they were. */
static void
divide_again(struct builtin *builtin, unsigned int queue)
{
	uint8_t *state = &builtin->queues[queue].state, unused = QUEUE_UNUSED;

	if (!__atomic_compare_exchange_n(
		    state, &unused, QUEUE_DIVIDED, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	divide_flows(builtin, queue);
	__atomic_store_n(state, QUEUE_UNUSED, __ATOMIC_RELEASE);
}

static void
builtin_destroy(struct weir_sched *sched)
{
	struct builtin *builtin = sched->own;

	if (builtin == NULL)
		return;
	shards_fini(builtin);
	free_memory(builtin->lanes, lanes_of(builtin) * sizeof(*builtin->lanes));
	free(builtin->shard_of);
	free(builtin->divided);
	free(builtin->port_groups);
	free(builtin->ports);
	free(builtin);
	sched->own = NULL;
}

static void
divide_into_classes(struct builtin *builtin)
{
	uint32_t nb_flows = builtin->sched->config.nb_flows;
	uint32_t nb_classes =
		RTE_MIN(RTE_MAX(nb_flows / LANES_PER_CLASS, 1u), (uint32_t)NB_CLASSES);

	builtin->flow_mask = nb_flows - 1;
	builtin->class_mask = nb_classes - 1;
	builtin->class_bits = (uint32_t)__builtin_ctz(nb_classes);
	builtin->in_class_bits = (uint32_t)__builtin_ctz(nb_flows) - builtin->class_bits;
}

static int
builtin_create(struct weir_sched *sched, const char *device)
{
	struct builtin *builtin;

	if (device != NULL) {
		SCHED_LOG(ERROR, "%s: builtin has no devices: '%s'", sched->name, device);
		return -EINVAL;
	}
	builtin = allocate(sizeof(*builtin));
	if (builtin == NULL)
		return -ENOMEM;
	sched->own = builtin;
	builtin->sched = sched;
	divide_into_classes(builtin);
	builtin->socket_id = sched->config.socket_id;
	builtin->lanes = reserve_memory(builtin, lanes_of(builtin) * sizeof(*builtin->lanes));
	builtin->shard_of = calloc(sched->config.nb_queues, sizeof(*builtin->shard_of));
	builtin->divided = calloc(sched->config.nb_queues, sizeof(*builtin->divided));
	builtin->port_groups = calloc(sched->config.nb_ports, sizeof(*builtin->port_groups));
	builtin->ports = allocate(sched->config.nb_ports * sizeof(*builtin->ports));
	if (builtin->lanes == NULL || builtin->shard_of == NULL || builtin->divided == NULL ||
		builtin->port_groups == NULL || builtin->ports == NULL) {
		builtin_destroy(sched);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		builtin->ports[i].base = (struct weir_sched_port){&sched_resting_ops, sched, i};
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

	/* What was enqueued before is before what those that have it from now on make of it. */
	__atomic_store_n(&builtin->may_stay, false, __ATOMIC_RELAXED);
	owner_empty_rings(builtin, NO_SENDER);
	for (unsigned int i = 0; i < sched->config.nb_ports; i++) {
		if (ports >> i & 1)
			__atomic_fetch_or(
				&builtin->port_groups[i], (uint64_t)1 << group, __ATOMIC_RELAXED);
		else
			__atomic_fetch_and(&builtin->port_groups[i], ~((uint64_t)1 << group),
				__ATOMIC_RELAXED);
	}
	__atomic_store_n(&builtin->may_stay, levels_may_stay(builtin), __ATOMIC_RELAXED);
	for (unsigned int queue = 0; queue < sched->config.nb_queues; queue++)
		if (sched->queues[queue].group == group)
			divide_again(builtin, queue);
	for (unsigned int i = 0; i < builtin->nb_shards; i++) {
		shard_lock(&builtin->shards[i]);
		shard_unlock(&builtin->shards[i]);
	}
	wake_all(builtin);
	return 0;
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

		port->own = config->producer ? NULL : &builtin->shards[shard];
		port->own_id = config->producer ? NO_SHARD : (uint8_t)shard;
		port->home = port->own;
		port->home_bit = port->served = (uint64_t)1 << shard;
		port->resting = port->rest_at = 0;
		port->gather = (struct port_gather){0};
		port->balance = (struct port_balance){0};
		builtin->nb_served[i] = 1;
		if (port->own != NULL) {
			port->own->home = (uint16_t)i;
			port->own->owner = port->own->sender = i;
			shard_set_turn(port->own, &port->own->rings[0]);
			builtin->senders |= (uint64_t)1 << i;
			shard++;
		}
		port->last_shard = port->unasked = port->unasked_for_higher = 0;
		port->nb_calls = 0;
		port->nb_calls_max = CALLS_PER_LOOK;
		memset(port->known, 0, sizeof(port->known));
		find_rings(builtin, i, port->rings);
		for (unsigned int to = 0; to < builtin->nb_shards; to++) {
			/* The first look does not tell who has not come since the one before. */
			port->seen[to].polls_for_higher = builtin->shards[to].nb_polls - 1;
			port->seen[to].compared = (struct compared){0};
			port->seen[to].nb_helped = 0;
		}
		port->implicit = !config->no_implicit_release;
		port->knows_next = KNOWS_NOT;
		port->bias = (struct port_bias){.number = i + 1};
		port->before.type = NO_TYPE;
		port->unmarked_after = 0;
		port->nb_max = config->nb_held;
		port->nb_held = port->ending.nb = port->ending.nb_runs = 0;
		port->nb_elsewhere = port->own_passed = 0;
		memset(port->held, 0, sizeof(port->held));
		port->holder = event_holder(i);
		port->claims = claims_forwarded(port->holder);
		port->next_free = port->first_handed_out = 0;
		for (unsigned int n = 0; n < RTE_DIM(port->free); n++)
			port->free[n] = (uint8_t)n;
		builtin->port_groups[i] |= 1;
	}
	builtin->waiting = 0;
	credit_reset(builtin);
	credit_reset_reserved(builtin);
	builtin->priorities_used = sched->config.idle_sleep_us != 0 ? USED_SLEEP : 0;
	levels_reset(builtin);
	builtin->announced = 0;
	move_reset(builtin);
}

static int
builtin_start(struct weir_sched *sched)
{
	struct builtin *builtin = sched->own;
	uint64_t all_groups = 0;
	int rc;

	builtin->gap = (uint32_t)weir_base_ns_to_cycles(GAP_NS);
	builtin->slack = weir_base_ns_to_cycles(sched->config.priority_slack_ns);
	builtin->slow = (uint32_t)weir_base_ns_to_cycles(SLOW_NS);
	builtin->away = (uint32_t)weir_base_ns_to_cycles(WEIR_BASE_SCHED_AWAY_NS);
	builtin->patience = owner_patience();
	builtin->balance_period = weir_base_ns_to_cycles(BALANCE_NS);
	builtin->move_patience = weir_base_ns_to_cycles(MOVE_PATIENCE_NS);
	builtin->gather_after = weir_base_ns_to_cycles(GATHER_NS);
	builtin->fence_after = weir_base_ns_to_cycles(FENCE_AFTER_NS);
	if (builtin->shards == NULL) {
		builtin->nb_levels = levels_of_queues(sched);
		rc = shards_init(builtin);
		if (rc < 0)
			return rc;
	}
	reset_ports(builtin);
	for (unsigned int queue = 0; queue < sched->config.nb_queues; queue++) {
		const struct weir_sched_queue_config *config = &sched->queues[queue];

		divide_flows(builtin, queue);
		builtin->queues[queue] = (struct queue_info){.type = config->type,
			.priority = config->priority,
			.group = config->group,
			.state = QUEUE_UNUSED,
			.is_fixed = config->type != WEIR_SCHED_TYPE_BY_EVENT &&
				    config->priority != WEIR_SCHED_PRIORITY_BY_EVENT,
			.lanes = &builtin->lanes[(size_t)queue * 2 * sched->config.nb_flows],
			.shard_of = builtin->shard_of[queue]};
		all_groups |= (uint64_t)1 << config->group;
	}
	for (unsigned int i = 0; i < builtin->nb_shards; i++)
		builtin->shards[i].all_groups = all_groups;
	builtin->may_stay = levels_may_stay(builtin);
	builtin->may_move = move_may(builtin);
	builtin->may_fence = fence_prepare();
	return 0;
}

/* Of all flows, what waits in their lanes. */
static void
empty_lanes(struct builtin *builtin, uint8_t type,
	void (*empty)(struct shard *shard, struct lane *lane,
		void (*drain)(void *arg, const struct rte_event *event), void *arg),
	void (*drain)(void *arg, const struct rte_event *event), void *arg)
{
	for (unsigned int queue = 0; queue < builtin->sched->config.nb_queues; queue++)
		for (uint32_t flow = 0; flow <= builtin->flow_mask; flow++) {
			struct rte_event event = {
				.queue_id = (uint8_t)queue, .flow_id = flow & 0xfffff};

			empty(&builtin->shards[event_shard(builtin, event.event)],
				event_lane(builtin, event.event, type), drain, arg);
		}
}

/*
 * Of a flow, what is ready was before what waits in its lane. What waits for its turn in an ordered flow would have gone to some shard
 * after all that is there.
 */
static void
builtin_stop(struct weir_sched *sched, void (*drain)(void *arg, const struct rte_event *event),
	void *arg)
{
	struct builtin *builtin = sched->own;

	for (unsigned int i = 0; i < sched->config.nb_ports; i++)
		count(&builtin->ports[i].counts.nb_released, builtin->ports[i].nb_held);
	for (unsigned int i = 0; i < builtin->nb_shards; i++) {
		/* Nobody else is there, but who takes back leaves the lock meanwhile, and has it again then. */
		shard_lock(&builtin->shards[i]);
		shard_drain_all(&builtin->shards[i]);
		shard_unlock(&builtin->shards[i]);
	}
	for (unsigned int i = 0; i < builtin->nb_shards; i++)
		shard_empty_ready(&builtin->shards[i], drain, arg);
	empty_lanes(builtin, RTE_SCHED_TYPE_ATOMIC, shard_empty_lane, drain, arg);
	empty_lanes(builtin, RTE_SCHED_TYPE_ORDERED, places_empty, drain, arg);
	for (unsigned int i = 0; i < builtin->nb_shards; i++)
		shard_reset(&builtin->shards[i]);
	reset_ports(builtin); /* what is told until the next start is so */
}

static int
builtin_enqueue_reserved(struct weir_sched *sched, const struct rte_event *wish)
{
	struct builtin *builtin = sched->own;
	struct rte_event event = *wish;

	if (wish->op != RTE_EVENT_OP_NEW || !is_valid(builtin, wish->event) ||
		!credit_use_reserved(builtin)) {
		__atomic_fetch_add(&builtin->nb_invalid, 1, __ATOMIC_RELAXED);
		return -EINVAL;
	}
	event.event = word_mark(event.event, true);
	note_priority(builtin, event_priority(builtin, event.event));
	__atomic_fetch_add(&builtin->nb_new[wish->queue_id], 1, __ATOMIC_RELAXED);
	builtin_insert(builtin, &event);
	return 0;
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
	.wake = builtin_wake,
	.stats = builtin_stats,
	.queue_counts = builtin_queue_counts,
	.xstats = builtin_xstats,
	.dump = builtin_dump,
	.port_ops = &builtin_ops,
};
