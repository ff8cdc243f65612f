/* SPDX-License-Identifier: BSD-3-Clause */

/* Configuration of schedulers: arguments are checked here, once for all backends. */

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "sched_private.h"

#define NB_FLOWS  1024
#define NB_EVENTS 4096
#define NB_HELD   128
#define HELD_MOST 255 /* rte_event::impl_opaque has 8 bits */

static const struct sched_backend *const backends[] = {&sched_builtin, &sched_eventdev};

static bool
is_power_of_two(uint32_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

/* NULL: there is none of this name. @device: what follows the colon, or NULL */
static const struct sched_backend *
find_backend(const char *wish, const char **device)
{
	size_t length = strcspn(wish, ":");

	*device = wish[length] == ':' ? wish + length + 1 : NULL;
	for (size_t i = 0; i < RTE_DIM(backends); i++)
		if (strlen(backends[i]->name) == length &&
			strncmp(backends[i]->name, wish, length) == 0)
			return backends[i];
	return NULL;
}

static void
fill_in(struct weir_sched_config *config)
{
	if (config->backend == NULL)
		config->backend = "builtin";
	if (config->nb_flows == 0)
		config->nb_flows = NB_FLOWS;
	if (config->nb_events == 0)
		config->nb_events = NB_EVENTS;
	if (config->new_threshold == 0 && config->nb_reserved < config->nb_events)
		config->new_threshold = config->nb_events - config->nb_reserved;
}

static int
check(const char *name, const struct weir_sched_config *config)
{
	if (config->nb_ports < 1 || config->nb_ports > WEIR_SCHED_PORTS_MAX) {
		SCHED_LOG(ERROR, "%s: %u ports; there may be 1 to %u", name, config->nb_ports,
			WEIR_SCHED_PORTS_MAX);
		return -EINVAL;
	}
	if (config->nb_queues < 1 || config->nb_queues > WEIR_SCHED_QUEUES_MAX) {
		SCHED_LOG(ERROR, "%s: %u queues; there may be 1 to %u", name, config->nb_queues,
			WEIR_SCHED_QUEUES_MAX);
		return -EINVAL;
	}
	if (!is_power_of_two(config->nb_flows) || config->nb_flows > 1 << 20) {
		SCHED_LOG(ERROR, "%s: %u flows; a power of two up to 2^20 is expected", name,
			config->nb_flows);
		return -EINVAL;
	}
	if (!is_power_of_two(config->nb_events) || config->nb_events > 1 << 22) {
		SCHED_LOG(ERROR, "%s: %u events; a power of two up to 2^22 is expected", name,
			config->nb_events);
		return -EINVAL;
	}
	if (config->nb_reserved >= config->nb_events ||
		config->new_threshold > config->nb_events - config->nb_reserved) {
		SCHED_LOG(ERROR,
			"%s: %u of %u events are reserved, and NEW is to be refused from %u on: "
			"too many",
			name, config->nb_reserved, config->nb_events, config->new_threshold);
		return -EINVAL;
	}
	return 0;
}

/* Somebody must dequeue. */
static int
check_consumers(const struct weir_sched *sched)
{
	for (unsigned int i = 0; i < sched->config.nb_ports; i++)
		if (!sched->ports_config[i].producer)
			return 0;
	SCHED_LOG(ERROR, "%s: all ports are producers, nobody would dequeue", sched->name);
	return -EINVAL;
}

static struct weir_sched *
fail(struct weir_sched *sched, int error)
{
	free(sched);
	rte_errno = error;
	return NULL;
}

struct weir_sched *
weir_sched_create(const char *name, const struct weir_sched_config *config)
{
	struct weir_sched *sched;
	const char *device;
	int rc;

	if (name == NULL || config == NULL || strlen(name) >= sizeof(sched->name)) {
		SCHED_LOG(ERROR,
			"a scheduler wants a name of up to %zu characters, and a configuration",
			sizeof(sched->name) - 1);
		return fail(NULL, EINVAL);
	}
	sched = calloc(1, sizeof(*sched));
	if (sched == NULL)
		return fail(NULL, ENOMEM);
	strcpy(sched->name, name);
	sched->config = *config;
	fill_in(&sched->config);
	if (check(name, &sched->config) < 0)
		return fail(sched, EINVAL);
	sched->backend = find_backend(sched->config.backend, &device);
	if (sched->backend == NULL) {
		SCHED_LOG(ERROR, "%s: no backend '%s'; expected builtin, or eventdev:NAME", name,
			sched->config.backend);
		return fail(sched, EINVAL);
	}
	snprintf(sched->backend_name, sizeof(sched->backend_name), "%s", sched->config.backend);
	sched->config.backend = sched->backend_name;
	for (unsigned int group = 0; group < WEIR_SCHED_GROUPS_MAX; group++)
		sched->groups[group] = group == 0 ? UINT64_MAX >> (64 - config->nb_ports) : 0;
	for (unsigned int queue = 0; queue < config->nb_queues; queue++)
		sched->queues[queue].type = RTE_SCHED_TYPE_ATOMIC;
	for (unsigned int port = 0; port < config->nb_ports; port++)
		sched->ports_config[port].nb_held = NB_HELD;
	rc = sched->backend->create(sched, device);
	return rc < 0 ? fail(sched, -rc) : sched;
}

void
weir_sched_destroy(struct weir_sched *sched)
{
	if (sched == NULL)
		return;
	if (sched->running) {
		SCHED_LOG(ERROR, "%s: destroyed while it runs: stopped", sched->name);
		weir_sched_stop(sched, NULL, NULL);
	}
	sched->backend->destroy(sched);
	free(sched);
}

static int
wrong_call(const char *function)
{
	SCHED_LOG(ERROR, "%s() without a scheduler, or what it is to be", function);
	return -EINVAL;
}

static int
check_number(const struct weir_sched *sched, const char *what, unsigned int number, unsigned int nb)
{
	if (number < nb)
		return 0;
	SCHED_LOG(ERROR, "%s: there is no %s %u; it has %u, numbered from 0", sched->name, what,
		number, nb);
	return -EINVAL;
}

/* Queues and ports are configured before the first start. */
static int
check_not_started(const struct weir_sched *sched, const char *what, unsigned int number)
{
	if (!sched->started)
		return 0;
	SCHED_LOG(ERROR, "%s: %s %u is configured too late: the scheduler was started already",
		sched->name, what, number);
	return -EBUSY;
}

static int
check_queue(const struct weir_sched *sched, unsigned int queue,
	const struct weir_sched_queue_config *config)
{
	if (config->type > RTE_SCHED_TYPE_PARALLEL && config->type != WEIR_SCHED_TYPE_BY_EVENT) {
		SCHED_LOG(ERROR,
			"%s: queue %u: type %u; RTE_SCHED_TYPE_ATOMIC, _ORDERED, _PARALLEL or "
			"WEIR_SCHED_TYPE_BY_EVENT is expected",
			sched->name, queue, config->type);
		return -EINVAL;
	}
	if (config->priority >= WEIR_SCHED_PRIORITIES &&
		config->priority != WEIR_SCHED_PRIORITY_BY_EVENT) {
		SCHED_LOG(ERROR,
			"%s: queue %u: priority %u; 0 to %u or WEIR_SCHED_PRIORITY_BY_EVENT is "
			"expected",
			sched->name, queue, config->priority, WEIR_SCHED_PRIORITIES - 1);
		return -EINVAL;
	}
	if (config->group >= WEIR_SCHED_GROUPS_MAX) {
		SCHED_LOG(ERROR, "%s: queue %u: group %u; 0 to %u is expected", sched->name, queue,
			config->group, WEIR_SCHED_GROUPS_MAX - 1);
		return -EINVAL;
	}
	return check_not_started(sched, "queue", queue);
}

int
weir_sched_queue_setup(
	struct weir_sched *sched, unsigned int queue, const struct weir_sched_queue_config *config)
{
	struct weir_sched_queue_config before;
	int rc;

	if (sched == NULL || config == NULL)
		return wrong_call(__func__);
	rc = check_number(sched, "queue", queue, sched->config.nb_queues);
	if (rc == 0)
		rc = check_queue(sched, queue, config);
	if (rc < 0)
		return rc;
	before = sched->queues[queue];
	sched->queues[queue] = *config;
	rc = sched->backend->queue_setup(sched, queue);
	if (rc < 0)
		sched->queues[queue] = before;
	return rc;
}

static int
check_port(const struct weir_sched *sched, unsigned int port,
	const struct weir_sched_port_config *config)
{
	if (config->nb_held > HELD_MOST) {
		SCHED_LOG(ERROR, "%s: port %u: is to hold %u events; up to %u is possible",
			sched->name, port, config->nb_held, HELD_MOST);
		return -EINVAL;
	}
	return check_not_started(sched, "port", port);
}

int
weir_sched_port_setup(
	struct weir_sched *sched, unsigned int port, const struct weir_sched_port_config *config)
{
	struct weir_sched_port_config before;
	int rc;

	if (sched == NULL || config == NULL)
		return wrong_call(__func__);
	rc = check_number(sched, "port", port, sched->config.nb_ports);
	if (rc == 0)
		rc = check_port(sched, port, config);
	if (rc < 0)
		return rc;
	before = sched->ports_config[port];
	sched->ports_config[port] = *config;
	if (config->nb_held == 0)
		sched->ports_config[port].nb_held = NB_HELD;
	rc = sched->backend->port_setup(sched, port);
	if (rc < 0)
		sched->ports_config[port] = before;
	return rc;
}

struct weir_sched_port *
weir_sched_port(struct weir_sched *sched, unsigned int port)
{
	return sched != NULL && port < sched->config.nb_ports ? sched->ports[port] : NULL;
}

static int
check_group(const struct weir_sched *sched, unsigned int group, uint64_t ports)
{
	if (group < 1 || group >= WEIR_SCHED_GROUPS_MAX) {
		SCHED_LOG(ERROR, "%s: group %u: 1 to %u can be set; group 0 is all ports",
			sched->name, group, WEIR_SCHED_GROUPS_MAX - 1);
		return -EINVAL;
	}
	if ((ports & ~sched->groups[0]) != 0) {
		SCHED_LOG(ERROR, "%s: group %u: ports %#" PRIx64 "; there are %#" PRIx64,
			sched->name, group, ports, sched->groups[0]);
		return -EINVAL;
	}
	return 0;
}

int
weir_sched_group_set(struct weir_sched *sched, unsigned int group, uint64_t ports)
{
	uint64_t before;
	int rc;

	if (sched == NULL)
		return wrong_call(__func__);
	rc = check_group(sched, group, ports);
	if (rc < 0)
		return rc;
	before = sched->groups[group];
	__atomic_store_n(&sched->groups[group], ports, __ATOMIC_RELAXED);
	rc = sched->backend->group_set(sched, group);
	if (rc < 0)
		__atomic_store_n(&sched->groups[group], before, __ATOMIC_RELAXED);
	return rc;
}

static void
set_port_ops(struct weir_sched *sched, const struct weir_sched_port_ops *ops)
{
	for (unsigned int i = 0; i < sched->config.nb_ports; i++)
		sched->ports[i]->ops = ops;
}

int
weir_sched_start(struct weir_sched *sched)
{
	int rc;

	if (sched == NULL)
		return -EINVAL;
	if (sched->running)
		return -EALREADY;
	if (sched->stopping)
		return -EBUSY;
	rc = check_consumers(sched);
	if (rc == 0)
		rc = sched->backend->start(sched);
	if (rc < 0)
		return rc;
	set_port_ops(sched, sched->backend->port_ops);
	__atomic_store_n(&sched->started, true, __ATOMIC_RELEASE);
	__atomic_store_n(&sched->running, true, __ATOMIC_RELEASE);
	return 0;
}

/* What is drained is counted, whoever takes it. */
struct drained {
	struct weir_sched *sched;
	void (*drain)(void *arg, const struct rte_event *event);
	void *arg;
};

static void
count_drained(void *arg, const struct rte_event *event)
{
	struct drained *drained = arg;

	__atomic_store_n(
		&drained->sched->nb_drained, drained->sched->nb_drained + 1, __ATOMIC_RELEASE);
	if (event->queue_id < drained->sched->config.nb_queues)
		count(&drained->sched->nb_drained_of[event->queue_id], 1);
	if (drained->drain != NULL)
		drained->drain(drained->arg, event);
}

/*
 * Threads of no port may enqueue while it is stopped: who has seen that it runs is waited for. Either such a thread sees that it does not
 * run any more, or it is seen here.
 */
static void
end_running(struct weir_sched *sched)
{
	__atomic_store_n(&sched->running, false, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&sched->nb_without_port, __ATOMIC_SEQ_CST) != 0)
		sched_yield();
}

int
weir_sched_stop(struct weir_sched *sched, void (*drain)(void *arg, const struct rte_event *event),
	void *arg)
{
	struct drained drained = {.sched = sched, .drain = drain, .arg = arg};
	uint64_t before;

	if (sched == NULL)
		return -EINVAL;
	if (!sched->running)
		return -EALREADY;
	before = sched->nb_drained;
	sched->stopping = true;
	set_port_ops(sched, &sched_resting_ops);
	end_running(sched);
	sched->backend->stop(sched, count_drained, &drained);
	sched->stopping = false;
	if (drain == NULL && sched->nb_drained > before)
		SCHED_LOG(WARNING,
			"%s: %" PRIu64 " events were inside when it was stopped, and are gone",
			sched->name, sched->nb_drained - before);
	return 0;
}

/* By a thread that is at no port, maybe. @return false: it does not run; leave() all the same */
static bool
enter(struct weir_sched *sched)
{
	__atomic_fetch_add(&sched->nb_without_port, 1, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&sched->running, __ATOMIC_SEQ_CST);
}

static void
leave(struct weir_sched *sched)
{
	__atomic_fetch_sub(&sched->nb_without_port, 1, __ATOMIC_RELEASE);
}

uint32_t
weir_sched_reserve(struct weir_sched *sched, uint32_t nb)
{
	uint32_t granted = 0;

	if (sched == NULL)
		return 0;
	if (enter(sched))
		granted = sched->backend->reserve(sched, nb);
	leave(sched);
	return granted;
}

void
weir_sched_unreserve(struct weir_sched *sched, uint32_t nb)
{
	if (sched != NULL && __atomic_load_n(&sched->started, __ATOMIC_ACQUIRE))
		sched->backend->unreserve(sched, nb);
}

void
weir_sched_wake(struct weir_sched *sched, uint64_t ports)
{
	if (sched != NULL && sched->backend->wake != NULL)
		sched->backend->wake(sched, ports);
}

int
weir_sched_enqueue_reserved(struct weir_sched *sched, const struct rte_event *event)
{
	int rc = -EINVAL;

	if (sched == NULL || event == NULL)
		return -EINVAL;
	if (enter(sched))
		rc = sched->backend->enqueue_reserved(sched, event);
	leave(sched);
	return rc;
}
