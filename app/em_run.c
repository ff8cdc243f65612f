/* SPDX-License-Identifier: BSD-3-Clause */
/* The event machine of a run, as the description has it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_eventdev.h>

#include <weir_base.h>
#include <weir_em.h>
#include <weir_em_pool.h>

#include "config.h"
#include "eal_log.h"
#include "em_run.h"
#include "reason_log.h"

static const enum weir_em_queue_type types[] = {
	[SCHEMA_QUEUE_ATOMIC] = WEIR_EM_QUEUE_ATOMIC,
	[SCHEMA_QUEUE_PARALLEL] = WEIR_EM_QUEUE_PARALLEL,
	[SCHEMA_QUEUE_ORDERED] = WEIR_EM_QUEUE_ORDERED,
};

static const struct weir_base_doc_value *
scheduler_value(const struct config *config)
{
	return weir_base_doc_get(config->platform, "scheduler");
}

/* A virtual event device is made, unless EAL's arguments did. */
static int
make_device(struct config *config, const char *name)
{
	int error;

	if (rte_event_dev_get_dev_id(name) >= 0)
		return 0;
	eal_log_forget();
	eal_log_show_errors(false);
	error = rte_dev_probe(name);
	eal_log_show_errors(true);
	if (error == 0 && rte_event_dev_get_dev_id(name) >= 0)
		return 0;
	weir_base_doc_error_add(config->doc, scheduler_value(config),
		"event device '%s' could not be made: %s; expected a driver of DPDK's and a "
		"number, for example event_sw0",
		name,
		error == 0         ? "it is no event device"
		: error == -EFAULT ? "no driver of DPDK has that name"
				   : rte_strerror(-error));
	return error < 0 ? error : -ENODEV;
}

static bool
has_plugins(const struct config_em *em)
{
	unsigned int i;

	for (i = 0; i < em->nb_objects; i++)
		if (em->objects[i].plugin != NULL)
			return true;
	return false;
}

/* What jobs use of it. */
static void
add_jobs(const struct config *config, struct weir_em_config *param)
{
	const struct config_em *em = &config->em;
	unsigned int i;

	if (config_nb_jobs(config) > 0)
		param->types |= 1u << WEIR_EM_QUEUE_PARALLEL | 1u << WEIR_EM_QUEUE_ATOMIC;
	for (i = 0; i < em->nb_nodes; i++)
		if (em->nodes[i].is_job && config_job_has_priority(config, &em->nodes[i].job))
			param->priorities |= (uint8_t)(1u << em->nodes[i].job.priority);
	for (i = 0; i < config->links.nb_processes; i++)
		if (config->links.processes[i].jobs.has_priority)
			param->priorities |=
				(uint8_t)(1u << config->links.processes[i].jobs.priority);
}

static bool
tell_lack(struct config *config, const struct weir_base_doc_value *value, const char *key,
	const char *what)
{
	const char *device = strchr(config->em.backend, ':') + 1;

	weir_base_doc_error_add(config->doc,
		weir_base_doc_given(value, key) ? weir_base_doc_get(value, key) : value,
		"%.*s has no %s, or another 'backend' of platform.scheduler",
		(int)strcspn(device, "0123456789"), device, what);
	return true;
}

/* What an event device cannot, is told where it is wanted: one that does with what it has, says what that is. False: it is something else. */
static bool
tell_lacks(struct config *config, struct weir_em_config param)
{
	static const char no_priorities[] = "priorities; expected 0";
	const struct config_em *em = &config->em;
	struct weir_em_config has;
	struct weir_em *machine;
	bool told = false;
	unsigned int i;

	param.types = param.priorities = 0;
	machine = weir_em_create(config->name, &param);
	if (weir_em_config_get(machine, &has) < 0)
		return false;
	weir_em_destroy(machine, NULL, NULL);
	for (i = 0; i < em->nb_queues; i++) {
		const struct config_queue *queue = &em->queues[i];

		if ((has.types >> types[queue->type] & 1) == 0)
			told = tell_lack(config, queue->value, "type",
				"ordered queues; expected atomic, parallel");
		if ((has.priorities >> queue->priority & 1) == 0)
			told = tell_lack(config, queue->value, "priority", no_priorities);
	}
	for (i = 0; i < em->nb_nodes; i++)
		if (em->nodes[i].is_job && config_job_has_priority(config, &em->nodes[i].job) &&
			(has.priorities >> em->nodes[i].job.priority & 1) == 0)
			told = tell_lack(config, em->nodes[i].value, "priority", no_priorities);
	return told;
}

static int
make_machine(struct em_run *run, struct config *config, bool stand_ins)
{
	const struct config_em *em = &config->em;
	struct weir_em_config param = {
		.backend = stand_ins ? "builtin" : em->backend,
		.nb_queues =
			em->nb_flows + (em->nb_nodes + config->links.nb_processes) * JOBS_QUEUES,
		.nb_objects = em->nb_objects + em->nb_nodes + 16,
		.nb_queue_groups = em->nb_groups,
		.nb_events = em->nb_events,
		.nb_reserved = em->nb_reserved,
		.new_threshold = em->threshold,
		.starvation_bound = em->starvation_bound,
		.priority_slack_ns = em->priority_slack_ns,
		.idle_sleep_us = em->idle_sleep_us,
		.socket_id = -1,
	};
	const char *why;
	unsigned int i;
	bool told;
	int error;

	for (i = 0; i < config->nb_workers; i++)
		run->cores[i] = config_worker_dispatches(config, i) ? (int)param.nb_cores++ : -1;
	param.nb_producers = config->nb_workers - param.nb_cores;
	/* What is not used costs nothing. */
	for (i = 0; !has_plugins(em) && i < em->nb_queues; i++) {
		param.types |= (uint8_t)(1u << types[em->queues[i].type]);
		param.priorities |= (uint8_t)(1u << em->queues[i].priority);
	}
	if (param.types != 0)
		add_jobs(config, &param);
	if (strncmp(param.backend, "eventdev:", 9) == 0) {
		error = make_device(config, param.backend + 9);
		if (error < 0)
			return error;
	}
	reason_log_begin();
	run->em = weir_em_create(config->name, &param);
	error = rte_errno;
	told = run->em == NULL && error == ENOTSUP && tell_lacks(config, param);
	why = reason_log_end(rte_strerror(error));
	if (run->em != NULL)
		return 0;
	if (!told)
		weir_base_doc_error_add(config->doc, scheduler_value(config),
			"the scheduler could not be made: %s", why);
	return -error;
}

/* Workers to cores. */
static uint64_t
core_mask(const struct em_run *run, const struct config *config, uint64_t workers)
{
	uint64_t mask = 0;
	unsigned int i;

	for (i = 0; i < config->nb_workers; i++)
		if ((workers >> i & 1) != 0 && run->cores[i] >= 0)
			mask |= UINT64_C(1) << run->cores[i];
	return mask;
}

static uint64_t
all_cores(const struct em_run *run, const struct config *config)
{
	return core_mask(run, config, UINT64_MAX);
}

/* The first group is there; it is all cores unless the file says otherwise. */
static int
make_groups(struct em_run *run, struct config *config)
{
	const struct config_em *em = &config->em;
	uint64_t cores;
	const char *why;
	unsigned int i;
	int error = 0;

	for (i = 0; i < em->nb_groups; i++) {
		cores = core_mask(run, config, em->groups[i].workers);
		reason_log_begin();
		if (i > 0) {
			run->groups[i] =
				weir_em_queue_group_create(run->em, em->groups[i].name, cores);
			error = run->groups[i] == WEIR_EM_NONE ? -rte_errno : 0;
		} else {
			run->groups[0] = weir_em_queue_group_default(run->em);
			if (cores != all_cores(run, config))
				error = weir_em_queue_group_modify(
					run->em, NULL, run->groups[0], cores);
		}
		why = reason_log_end(rte_strerror(-error));
		if (error < 0) {
			weir_base_doc_error_add(config->doc,
				weir_base_doc_get(config->platform, "workers"),
				"group '%s' could not be made: %s", em->groups[i].name, why);
			return error;
		}
	}
	return 0;
}

static int
make_queue(struct em_run *run, struct config *config, unsigned int index)
{
	const struct config_queue *queue = &config->em.queues[index];
	struct weir_em_queue_config param = {
		.type = types[queue->type],
		.priority = queue->priority,
		.group = run->groups[queue->group],
	};
	weir_em_queue *flows = &run->flows[run->first_flow[index]];
	char name[WEIR_EM_NAME_SIZE];
	unsigned int i;
	int error;

	param.name = name;
	for (i = 0; i < queue->nb_flows; i++) {
		snprintf(name, sizeof(name), "%s", queue->name);
		if (queue->nb_flows > 1)
			snprintf(name, sizeof(name), "%.*s.%u", WEIR_BASE_NAMED_MAX, queue->name,
				(uint16_t)i);
		reason_log_begin();
		flows[i] = weir_em_queue_create(run->em, &param);
		error = rte_errno;
		if (flows[i] != WEIR_EM_NONE) {
			reason_log_end("");
			continue;
		}
		weir_base_doc_error_add(config->doc, queue->value,
			"queue '%s' could not be made: %s", queue->name,
			reason_log_end(rte_strerror(error)));
		return -error;
	}
	return 0;
}

static unsigned int
nb_flows(const struct em_run *run, int queue)
{
	return run->first_flow[queue + 1] - run->first_flow[queue];
}

static uint32_t
make_tx(const struct em_run *run, const struct config_sched_node *node)
{
	return weir_bridge_tx_create(&(struct weir_bridge_tx_param){.name = node->name,
		.em = run->em,
		.queues = &run->flows[run->first_flow[node->queue]],
		.nb_queues = nb_flows(run, node->queue),
		.flow = node->flow,
		.wait = node->wait});
}

static uint32_t
make_rx(const struct em_run *run, const struct config *config, unsigned int index)
{
	const struct config_sched_node *node = &config->em.nodes[index];
	struct weir_bridge_rx_queue *queues = calloc(config->em.nb_queues, sizeof(*queues));
	uint32_t id = WEIR_GRAPH_NODE_INVALID;
	unsigned int nb = 0, i;

	for (i = 0; queues != NULL && i < config->em.nb_queues; i++) {
		const struct config_queue *queue = &config->em.queues[i];

		if (queue->node != (int)index)
			continue;
		queues[queue->edge].queues = &run->flows[run->first_flow[i]];
		queues[queue->edge].nb_queues = nb_flows(run, (int)i);
		nb++;
	}
	if (queues != NULL)
		id = weir_bridge_rx_create(&(struct weir_bridge_rx_param){.name = node->name,
			.em = run->em,
			.queues = queues,
			.nb_queues = nb,
			.burst = RTE_MIN(config->burst, (uint16_t)WEIR_EM_BURST_MAX)});
	else
		rte_errno = ENOMEM;
	free(queues);
	return id;
}

static int
make_nodes(struct em_run *run, struct config *config, bool stand_ins)
{
	unsigned int i;
	int error;

	for (i = 0; i < config->em.nb_nodes; i++) {
		const struct config_sched_node *node = &config->em.nodes[i];

		reason_log_begin();
		run->nodes[i] = node->is_rx    ? make_rx(run, config, i)
				: node->is_job ? jobs_run_make_node(run, config, node, stand_ins)
					       : make_tx(run, node);
		error = rte_errno;
		if (run->nodes[i] != WEIR_GRAPH_NODE_INVALID) {
			reason_log_end("");
			continue;
		}
		weir_base_doc_error_add(config->doc, node->value, "node '%s' could not be made: %s",
			node->name, reason_log_end(rte_strerror(error)));
		return -error;
	}
	return 0;
}

/* Flows of the queues that an object has, one after the other. */
static weir_em_queue *
flows_of_object(
	const struct em_run *run, const struct config *config, unsigned int index, unsigned int *nb)
{
	weir_em_queue *flows = calloc(config->em.nb_flows + 1, sizeof(*flows));
	unsigned int i, j;

	*nb = 0;
	for (i = 0; flows != NULL && i < config->em.nb_queues; i++)
		for (j = run->first_flow[i];
			config->em.queues[i].object == (int)index && j < run->first_flow[i + 1];
			j++)
			flows[(*nb)++] = run->flows[j];
	return flows;
}

static int
load_type(struct config *config, const struct config_object *object,
	const struct weir_bridge_object_type **type)
{
	const char *why;

	*type = weir_bridge_object_load(object->plugin, object->symbol, &why);
	if (*type != NULL)
		return 0;
	weir_base_doc_error_add(config->doc, weir_base_doc_get(object->value, "receive"),
		"plug-in '%s' cannot be used: %s", object->plugin, why);
	return -rte_errno;
}

static int
make_object(struct em_run *run, struct config *config, unsigned int index)
{
	const struct config_object *object = &config->em.objects[index];
	struct weir_bridge_object_param param = {
		.name = object->name,
		.em = run->em,
		.builtin = object->builtin,
		.flow = object->flow,
		.argument = object->argument,
	};
	weir_em_queue *flows;
	int error;

	if (object->plugin != NULL && (error = load_type(config, object, &param.type)) < 0)
		return error;
	if (object->to != CONFIG_NONE) {
		param.to = &run->flows[run->first_flow[object->to]];
		param.nb_to = nb_flows(run, object->to);
	}
	flows = flows_of_object(run, config, index, &param.nb_queues);
	if (flows == NULL)
		return -ENOMEM;
	param.queues = flows;
	reason_log_begin();
	run->objects[index] = weir_bridge_object_create(&param);
	error = rte_errno;
	free(flows);
	if (run->objects[index] != NULL) {
		reason_log_end("");
		return 0;
	}
	weir_base_doc_error_add(config->doc, object->value, "object '%s' could not be started: %s",
		object->name, reason_log_end(rte_strerror(error)));
	return -error;
}

static int
allocate(struct em_run *run, const struct config *config)
{
	const struct config_em *em = &config->em;
	unsigned int i, nb = 0;

	run->first_flow = calloc(em->nb_queues + 1, sizeof(*run->first_flow));
	run->groups = calloc(em->nb_groups, sizeof(*run->groups));
	run->objects = calloc(em->nb_objects + 1, sizeof(*run->objects));
	run->nodes = calloc(em->nb_nodes + 1, sizeof(*run->nodes));
	run->cores = calloc(config->nb_workers, sizeof(*run->cores));
	for (i = 0; run->first_flow != NULL && i < em->nb_queues; i++) {
		run->first_flow[i] = nb;
		nb += em->queues[i].nb_flows;
		run->first_flow[i + 1] = nb;
	}
	run->flows = calloc(nb + 1, sizeof(*run->flows));
	for (i = 0; run->nodes != NULL && i < em->nb_nodes; i++)
		run->nodes[i] = WEIR_GRAPH_NODE_INVALID;
	return run->first_flow != NULL && run->groups != NULL && run->objects != NULL &&
			       run->nodes != NULL && run->cores != NULL && run->flows != NULL
		       ? 0
		       : -ENOMEM;
}

int
em_run_open(struct em_run *run, struct config *config, struct rte_mempool *pool, bool stand_ins)
{
	unsigned int i;
	int error;

	if (!config_has_em(config))
		return 0;
	error = allocate(run, config);
	if (error == 0)
		error = make_machine(run, config, stand_ins);
	if (error == 0 && weir_em_pool_adopt(run->em, pool) == WEIR_EM_NONE)
		error = -rte_errno;
	if (error == 0)
		error = make_groups(run, config);
	for (i = 0; error == 0 && i < config->em.nb_queues; i++)
		error = make_queue(run, config, i);
	if (error == 0)
		error = jobs_run_open(run, config);
	if (error == 0)
		error = make_nodes(run, config, stand_ins);
	for (i = 0; error == 0 && !stand_ins && i < config->em.nb_objects; i++)
		error = make_object(run, config, i);
	if (error == 0 && !stand_ins)
		error = jobs_run_start(run);
	return error;
}

/* Twice the same: nothing came in or went out in between, so these were so at one moment. */
bool
em_run_is_empty(struct em_run *run, const struct config *config)
{
	bool same = jobs_run_are_idle(run, config);
	struct weir_sched_stats stats;

	weir_sched_stats(weir_em_sched(run->em), &stats);
	same = same && stats.nb_new == run->nb_new && stats.nb_released == run->nb_released;
	run->nb_new = stats.nb_new;
	run->nb_released = stats.nb_released;
	return same && stats.nb_new == stats.nb_released;
}

void
em_run_stop(struct em_run *run, const struct config *config)
{
	unsigned int i;

	jobs_run_stop(run);
	for (i = 0; run->objects != NULL && i < config->em.nb_objects; i++) {
		weir_bridge_object_destroy(run->objects[i]);
		run->objects[i] = NULL;
	}
}

void
em_run_close(struct em_run *run, const struct config *config)
{
	unsigned int i;

	em_run_stop(run, config);
	for (i = 0; run->nodes != NULL && i < config->em.nb_nodes; i++)
		if (run->nodes[i] != WEIR_GRAPH_NODE_INVALID)
			weir_bridge_node_delete(run->nodes[i]);
	jobs_run_close(run);
	if (run->em != NULL)
		weir_em_destroy(run->em, NULL, NULL); /* frees packets that are left */
	if (run->jobs.coroutines)
		weir_coro_cleanup();
	free(run->first_flow);
	free(run->groups);
	free(run->objects);
	free(run->nodes);
	free(run->cores);
	free(run->flows);
	memset(run, 0, sizeof(*run));
}
