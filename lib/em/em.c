/* SPDX-License-Identifier: BSD-3-Clause */

/* An instance is made and ended. */

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/membarrier.h>
#endif

#include <rte_common.h>

#include "event.h"
#include "weir_em_event_group.h"
#include "weir_em_timer.h"

#define NB_QUEUES       1024
#define NB_OBJECTS      256
#define NB_GROUPS       8
#define NB_POOLS        16
#define NB_EVENT_GROUPS 1024
#define NB_TIMERS       8
#define NB_TIMEOUTS     1024
#define NB_LOCAL        1024

#define ALL_TYPES                                                                                  \
	(1u << WEIR_EM_QUEUE_ATOMIC | 1u << WEIR_EM_QUEUE_PARALLEL | 1u << WEIR_EM_QUEUE_ORDERED)

/* Can em_barrier() do its work? Else senders have a fence of their own. */
static bool
register_barrier(void)
{
#ifdef SYS_membarrier
	return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0) == 0;
#else
	return false;
#endif
}

void
em_barrier(const struct weir_em *em)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#ifdef SYS_membarrier
	if (!em->needs_fence)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0);
#endif
}

/* 0: not so many. */
static int
check_limit(const char *name, const char *what, unsigned int value, unsigned int most)
{
	if (value >= 1 && value <= most)
		return 0;
	EM_LOG(ERROR, "%s: %u %s; there may be 1 to %u", name, value, what, most);
	return -EINVAL;
}

static bool
is_power_of_two(uint32_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

/* What the scheduler has. Of an event device its own queues are to be had one by one. */
struct ability {
	bool by_event, changes_flows;
	bool is_pipeline; /* each port has one queue: no core can serve all */
	unsigned int types, priorities, nb_queues;
};

static struct ability
ability_of(const char *backend)
{
	struct ability ability = {.by_event = true,
		.types = ALL_TYPES,
		.priorities = 0xff,
		.nb_queues = WEIR_SCHED_QUEUES_MAX};
	struct rte_event_dev_info info;
	int device;

	if (backend == NULL || strncmp(backend, "eventdev:", 9) != 0)
		return ability;
	ability.by_event = false;
	device = rte_event_dev_get_dev_id(backend + 9);
	if (device < 0 || rte_event_dev_info_get((uint8_t)device, &info) < 0)
		return ability; /* the scheduler says so */
	ability.nb_queues = RTE_MIN(info.max_event_queues, WEIR_SCHED_QUEUES_MAX);
	if ((info.event_dev_cap & RTE_EVENT_DEV_CAP_QUEUE_QOS) == 0)
		ability.priorities = 1;
	if (strcmp(info.driver_name, "event_dsw") == 0) {
		ability.types &= ~(1u << WEIR_EM_QUEUE_ORDERED);
		ability.changes_flows = true;
	}
	ability.is_pipeline = strcmp(info.driver_name, "event_opdl") == 0;
	return ability;
}

static void
set_default(unsigned int *value, unsigned int normal)
{
	if (*value == 0)
		*value = normal;
}

static void
fill_in(struct weir_em_config *config, const struct ability *ability)
{
	unsigned int per_group;

	set_default(&config->nb_cores, 1);
	set_default(&config->nb_queues, NB_QUEUES);
	set_default(&config->nb_objects, NB_OBJECTS);
	set_default(&config->nb_pools, NB_POOLS);
	set_default(&config->nb_event_groups, NB_EVENT_GROUPS);
	set_default(&config->nb_timers, NB_TIMERS);
	set_default(&config->nb_timeouts, NB_TIMEOUTS);
	set_default(&config->nb_local_events, NB_LOCAL);
	if (config->types == 0)
		config->types = (uint8_t)ability->types;
	if (config->priorities == 0)
		config->priorities = (uint8_t)ability->priorities;
	per_group = ability->by_event ? 1
				      : (unsigned int)(__builtin_popcount(config->types) *
						       __builtin_popcount(config->priorities));
	set_default(&config->nb_queue_groups,
		RTE_MAX(1u, RTE_MIN((unsigned int)NB_GROUPS, ability->nb_queues / per_group)));
}

static int
check(const char *name, const struct weir_em_config *config)
{
	if (check_limit(name, "cores", config->nb_cores, WEIR_EM_CORES_MAX) < 0 ||
		check_limit(name, "queues", config->nb_queues, WEIR_EM_QUEUES_MAX) < 0 ||
		check_limit(name, "objects", config->nb_objects, EM_NUMBER_MAX) < 0 ||
		check_limit(name, "queue groups", config->nb_queue_groups,
			WEIR_SCHED_GROUPS_MAX - 1) < 0 ||
		check_limit(name, "pools", config->nb_pools, 1u << 16) < 0 ||
		check_limit(name, "event groups", config->nb_event_groups,
			WEIR_EM_EVENT_GROUPS_MAX) < 0 ||
		check_limit(name, "timers", config->nb_timers, WEIR_EM_TIMERS_MAX) < 0 ||
		check_limit(name, "timeouts", config->nb_timeouts, WEIR_EM_TIMEOUTS_MAX) < 0)
		return -EINVAL;
	if (config->nb_producers > WEIR_EM_CORES_MAX - config->nb_cores) {
		EM_LOG(ERROR, "%s: %u cores and %u producers; there may be %u together", name,
			config->nb_cores, config->nb_producers, WEIR_EM_CORES_MAX);
		return -EINVAL;
	}
	if (!is_power_of_two(config->nb_local_events) || config->nb_local_events > 1u << 24) {
		EM_LOG(ERROR, "%s: %u local events; a power of two up to 2^24 is expected", name,
			config->nb_local_events);
		return -EINVAL;
	}
	if ((config->types & ~ALL_TYPES) != 0) {
		EM_LOG(ERROR, "%s: types %#x: only atomic, parallel and ordered are scheduled",
			name, config->types);
		return -EINVAL;
	}
	return 0;
}

/* Queues of the scheduler, for groups from 1 on: its group 0 is that of all ports, attached or not. */
static int
setup_queues(struct weir_em *em)
{
	struct weir_sched_queue_config config = {0};
	int rc = 0;

	for (unsigned int group = 0; group < em->config.nb_queue_groups; group++) {
		config.group = (uint8_t)(group + 1);
		if (em->by_event) {
			config.type = WEIR_SCHED_TYPE_BY_EVENT;
			config.priority = WEIR_SCHED_PRIORITY_BY_EVENT;
			/* What all events have, the scheduler need not ask each of them: it has a shorter way for those. */
			if (em->nb_types == 1)
				config.type = em_sched_type(
					(enum weir_em_queue_type)__builtin_ctz(em->config.types));
			if (em->nb_priorities == 1)
				config.priority = (uint8_t)__builtin_ctz(em->config.priorities);
			rc = weir_sched_queue_setup(em->sched, group, &config);
		}
		for (unsigned int type = 0; !em->by_event && type <= WEIR_EM_QUEUE_ORDERED; type++)
			for (unsigned int priority = 0; priority < WEIR_EM_PRIORITIES; priority++) {
				if ((em->config.types >> type & 1) == 0 ||
					(em->config.priorities >> priority & 1) == 0 || rc < 0)
					continue;
				config.type = em_sched_type((enum weir_em_queue_type)type);
				config.priority = (uint8_t)priority;
				rc = weir_sched_queue_setup(em->sched,
					em_sched_queue(em, (enum weir_em_queue_type)type,
						(uint8_t)priority, (uint8_t)group),
					&config);
			}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int
make_sched(struct weir_em *em, const struct ability *ability)
{
	const struct weir_em_config *config = &em->config;
	unsigned int nb_queues = config->nb_queue_groups;
	int rc;

	if (ability->is_pipeline) {
		EM_LOG(ERROR,
			"%s: an event machine cannot be had on event_opdl, whose ports get events "
			"of one queue each; expected 'builtin', or a device whose ports serve any "
			"queues, as event_dsw and event_sw",
			em->name);
		return -ENOTSUP;
	}
	em->nb_types = (unsigned int)__builtin_popcount(config->types);
	em->nb_priorities = (unsigned int)__builtin_popcount(config->priorities);
	em->by_event = ability->by_event;
	if (!em->by_event)
		nb_queues *= em->nb_types * em->nb_priorities;
	if (nb_queues > ability->nb_queues) {
		EM_LOG(ERROR,
			"%s: %u groups of %u types and %u priorities are %u queues of the "
			"scheduler, which has %u",
			em->name, config->nb_queue_groups, em->nb_types, em->nb_priorities,
			nb_queues, ability->nb_queues);
		return -EINVAL;
	}
	em->sched = weir_sched_create(
		em->name, &(struct weir_sched_config){
				  .backend = config->backend,
				  .nb_ports = em->nb_ports,
				  .nb_queues = nb_queues,
				  .nb_flows = RTE_MAX(64u, rte_align32pow2(config->nb_queues)),
				  .nb_events = config->nb_events,
				  .nb_reserved = config->nb_reserved,
				  .new_threshold = config->new_threshold,
				  .starvation_bound = config->starvation_bound,
				  .priority_slack_ns = config->priority_slack_ns,
				  .idle_sleep_us = config->idle_sleep_us,
				  .socket_id = config->socket_id,
			  });
	if (em->sched == NULL)
		return -rte_errno;
	if (ability->changes_flows) {
		em->aliases = calloc(nb_queues, sizeof(*em->aliases));
		if (em->aliases == NULL)
			return -ENOMEM;
	}
	rc = setup_queues(em);
	for (unsigned int port = config->nb_cores; port < em->nb_ports && rc == 0; port++)
		rc = weir_sched_port_setup(
			em->sched, port, &(struct weir_sched_port_config){.producer = true});
	for (unsigned int port = 0; port < config->nb_cores && rc == 0; port++)
		rc = weir_sched_port_setup(em->sched, port,
			&(struct weir_sched_port_config){.nb_held = WEIR_EM_BURST_MAX});
	return rc;
}

static int
make_core(struct weir_em *em, unsigned int id)
{
	struct weir_em_core *core = &em->cores[id];

	core->em = em;
	core->id = id;
	core->producer = id >= em->nb_cores;
	core->attached = id == em->nb_ports - 1; /* to all */
	core->port = weir_sched_port(em->sched, id);
	core->calls_end = &core->calls;
	core->queues = calloc(em->nb_queues, sizeof(*core->queues));
	core->objects = calloc(em->config.nb_objects, sizeof(*core->objects));
	core->pools = calloc(em->config.nb_pools, sizeof(*core->pools));
	core->started = calloc(em->config.nb_objects, sizeof(*core->started));
	if (core->queues == NULL || core->objects == NULL || core->pools == NULL ||
		core->started == NULL)
		return -ENOMEM;
	return core->producer ? 0 : em_local_init(core);
}

static void *
make_array(size_t nb, size_t size)
{
	void *array;

	if (posix_memalign(&array, 64, nb * size) != 0)
		return NULL;
	return memset(array, 0, nb * size);
}

static int
make_arrays(struct weir_em *em)
{
	const struct weir_em_config *config = &em->config;

	em->nb_queues = config->nb_queues;
	em->queues = make_array(config->nb_queues, sizeof(*em->queues));
	em->objects = make_array(config->nb_objects, sizeof(*em->objects));
	em->cores = make_array(em->nb_ports, sizeof(*em->cores));
	em->groups = calloc(config->nb_queue_groups, sizeof(*em->groups));
	em->pools = calloc(config->nb_pools, sizeof(*em->pools));
	if (em->queues == NULL || em->objects == NULL || em->cores == NULL || em->groups == NULL ||
		em->pools == NULL)
		return -ENOMEM;
	for (unsigned int id = 0; id < em->nb_ports; id++)
		if (make_core(em, id) < 0)
			return -ENOMEM;
	if (em_numbers_init(&em->object_numbers, EM_KIND_OBJECT, config->nb_objects, em->instance) <
			0 ||
		em_numbers_init(
			&em->queue_numbers, EM_KIND_QUEUE, config->nb_queues, em->instance) < 0 ||
		em_numbers_init(&em->group_numbers, EM_KIND_QUEUE_GROUP, config->nb_queue_groups,
			em->instance) < 0 ||
		em_numbers_init(&em->pool_numbers, EM_KIND_POOL, config->nb_pools, em->instance) <
			0)
		return -ENOMEM;
	return 0;
}

static void
free_all(struct weir_em *em)
{
	for (unsigned int id = 0; em->cores != NULL && id < em->nb_ports; id++) {
		struct weir_em_core *core = &em->cores[id];

		em_local_fini(core);
		free(core->queues);
		free(core->objects);
		free(core->pools);
		free(core->started);
	}
	if (em->pools != NULL)
		em_pools_fini(em);
	if (em->queues != NULL)
		em_queues_fini(em);
	em_numbers_fini(&em->object_numbers);
	em_numbers_fini(&em->queue_numbers);
	em_numbers_fini(&em->group_numbers);
	em_numbers_fini(&em->pool_numbers);
	weir_sched_destroy(em->sched);
	while (em->callback_lists != NULL) {
		struct em_callbacks *older = em->callback_lists->older;

		free(em->callback_lists);
		em->callback_lists = older;
	}
	for (int i = 0; i < EM_POLLS; i++)
		free(em->polls[i]);
	free(em->aliases);
	free(em->queues);
	free(em->objects);
	free(em->cores);
	free(em->groups);
	free(em->pools);
	pthread_mutex_destroy(&em->lock);
	pthread_mutex_destroy(&em->control_lock);
	free(em);
}

static void
init_locks(struct weir_em *em)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&em->control_lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	pthread_mutex_init(&em->lock, NULL);
}

static int
build(struct weir_em *em)
{
	struct ability ability = ability_of(em->config.backend);
	int rc;

	fill_in(&em->config, &ability);
	rc = check(em->name, &em->config);
	if (rc < 0)
		return rc;
	em->nb_cores = em->config.nb_cores;
	em->nb_producers = em->config.nb_producers;
	em->nb_ports = em->nb_cores + em->nb_producers + 1;
	em->deferred.end = &em->deferred.first;
	em->needs_fence = !register_barrier();
	rc = em_meta_register(em);
	if (rc == 0)
		rc = make_sched(em, &ability);
	if (rc == 0)
		rc = make_arrays(em);
	if (rc == 0)
		rc = em_groups_init(em);
	return rc < 0 ? rc : weir_sched_start(em->sched);
}

struct weir_em *
weir_em_create(const char *name, const struct weir_em_config *config)
{
	struct weir_em *em;
	int rc;

	if (name == NULL || config == NULL || strlen(name) >= sizeof(em->name)) {
		EM_LOG(ERROR,
			"an event machine wants a name of up to %zu characters, and a "
			"configuration",
			sizeof(em->name) - 1);
		rte_errno = EINVAL;
		return NULL;
	}
	em = make_array(1, sizeof(*em));
	if (em == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	strcpy(em->name, name);
	em->config = *config;
	em->instance = em_instance_number();
	init_locks(em);
	rc = build(em);
	if (rc < 0) {
		if (rc == -ENOMEM)
			EM_LOG(ERROR, "%s: there is not enough memory for what was asked for",
				em->name);
		free_all(em);
		rte_errno = -rc;
		return NULL;
	}
	em->config.backend = NULL; /* the caller's string */
	return em;
}

/* Who takes what is left. */
struct taker {
	struct weir_em *em;
	void (*drain)(void *arg, weir_em_queue queue, struct rte_event *event);
	void *arg;
};

static void
take(const struct taker *taker, struct em_queue *queue, struct rte_event *event)
{
	struct weir_em *em = taker->em;

	if (queue != NULL)
		em_add(&queue->dropped, 1);
	em_add(&em->foreign_dropped[WEIR_EM_DROP_STOPPED], 1);
	if (taker->drain != NULL)
		taker->drain(taker->arg, queue == NULL ? WEIR_EM_NONE : queue->last_handle, event);
	else
		em_event_free(em, NULL, event);
}

static void
take_scheduled(void *arg, const struct rte_event *event)
{
	const struct taker *taker = arg;
	struct rte_event copy = *event;

	take(taker, em_event_queue(taker->em, event), &copy);
}

/* What is not in the scheduler. */
static void
take_others(const struct taker *taker)
{
	struct weir_em *em = taker->em;
	struct em_deferred *deferred;
	struct rte_event event;

	for (unsigned int i = 0; i < em->nb_queues; i++)
		while (em->queues[i].ring != NULL &&
			em_ring_get(em->queues[i].ring, &event, 1) == 1)
			take(taker, &em->queues[i], &event);
	while ((deferred = em->deferred.first) != NULL) {
		em->deferred.first = deferred->next;
		take(taker, em_queue_at(em, deferred->queue), &deferred->event);
		free(deferred);
	}
}

int
weir_em_destroy(struct weir_em *em,
	void (*drain)(void *arg, weir_em_queue queue, struct rte_event *event), void *arg)
{
	struct taker taker = {.em = em, .drain = drain, .arg = arg};

	if (em == NULL)
		return -EINVAL;
	em_lock(em);
	for (unsigned int id = 0; id < em->nb_cores + em->nb_producers; id++)
		if (em->cores[id].attached) {
			em_unlock(em);
			EM_LOG(ERROR, "%s: core %u is attached still", em->name, id);
			return -EBUSY;
		}
	em_unlock(em);
	em->drain = drain;
	em->drain_arg = arg;
	if (em->timers_fini != NULL)
		em->timers_fini(em);
	weir_sched_stop(em->sched, take_scheduled, &taker);
	take_others(&taker);
	if (em->event_groups_fini != NULL)
		em->event_groups_fini(em);
	if (drain == NULL && em->foreign_dropped[WEIR_EM_DROP_STOPPED] > 0)
		EM_LOG(WARNING, "%s: %" PRIu64 " events were inside when it ended, and are gone",
			em->name, em->foreign_dropped[WEIR_EM_DROP_STOPPED]);
	free_all(em);
	return 0;
}

const char *
weir_em_name(const struct weir_em *em)
{
	return em != NULL ? em->name : "";
}

struct weir_sched *
weir_em_sched(struct weir_em *em)
{
	return em != NULL ? em->sched : NULL;
}

int
weir_em_config_get(const struct weir_em *em, struct weir_em_config *config)
{
	if (em == NULL || config == NULL)
		return -EINVAL;
	*config = em->config;
	return 0;
}

int
em_copy_name(char *to, const char *name, const char *what)
{
	if (name == NULL)
		name = "";
	if (strlen(name) >= WEIR_EM_NAME_SIZE) {
		EM_LOG(ERROR, "the name of %s has up to %d characters: '%s'", what,
			WEIR_EM_NAME_SIZE - 1, name);
		return -EINVAL;
	}
	strcpy(to, name);
	return 0;
}
