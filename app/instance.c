/* SPDX-License-Identifier: BSD-3-Clause */
/* Setting a description up, running it, and taking it down again, in one order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include <weir_base.h>
#include <weir_base_pool.h>
#include <weir_node_route.h>

#include "app.h"
#include "eal_memory.h"
#include "files.h"
#include "instance.h"
#include "ports.h"
#include "reason_log.h"
#include "wiring.h"

/*
 * Take the instance's name by opening its control socket. A name that was made
 * from the file's gets a number while another instance has it.
 */
static int
open_control(struct instance *instance)
{
	struct config *config = instance->config;
	char base[CONFIG_NAME_SIZE - 8];
	unsigned int number;

	snprintf(base, sizeof(base), "%.48s", config->name);
	for (number = 2; number < 1000; number++) {
		reason_log_begin();
		instance->ctl = control_open(config->name);
		if (instance->ctl != NULL || errno != EADDRINUSE || config->name_given)
			break;
		snprintf(config->name, sizeof(config->name), "%s-%u", base, number);
	}
	if (instance->ctl != NULL) {
		reason_log_end("");
		return 0;
	}
	if (errno == EADDRINUSE) {
		reason_log_end("");
		app_error(NULL,
			"an instance '%s' is running already; give this one another name with "
			"--name",
			config->name);
		return -EADDRINUSE;
	}
	app_error(NULL, "no control socket for '%s': %s", config->name,
		reason_log_end(strerror(errno)));
	return -EIO;
}

/* Name of what receives: the port's own node, or one that hands links their frames. */
static void
name_receive(const struct instance *instance, const struct config_rx *rx,
	char name[WEIR_GRAPH_NAME_SIZE])
{
	const struct config_shared *shared = config_shared_of_port(instance->config, (int)rx->port);

	if (shared != NULL)
		snprintf(name, WEIR_GRAPH_NAME_SIZE, "link_rx-%s", shared->name);
	else
		weir_node_rx_name(instance->port_ids[rx->port], rx->queue, name);
}

/* Names of what begins the graph of a worker's ports, or of its events. */
static unsigned int
name_sources(const struct instance *instance, unsigned int index, bool events,
	char (*names)[WEIR_GRAPH_NAME_SIZE])
{
	const struct config *config = instance->config;
	const struct config_worker *worker = &config->workers[index];
	unsigned int nb = 0, i;

	for (i = 0; !events && i < worker->nb_rx; i++)
		name_receive(instance, &worker->rx[i], names[nb++]);
	for (i = 0; events && i < config->em.nb_nodes; i++)
		if (config_worker_has_node(config, index, i))
			snprintf(names[nb++], WEIR_GRAPH_NAME_SIZE, "sched_rx-%s",
				config->em.nodes[i].name);
	return nb;
}

/* A graph, if there is anything in it. */
static int
create_graph(struct instance *instance, unsigned int index, bool events, uint32_t *id)
{
	const struct config *config = instance->config;
	const struct config_worker *worker = &config->workers[index];
	struct weir_graph_param param = {
		.socket_id = -1,
		.burst = config->burst,
		.clock_period = config->clock_period,
	};
	unsigned int most = RTE_MAX(worker->nb_rx, config->em.nb_nodes), i;
	char(*names)[WEIR_GRAPH_NAME_SIZE] = calloc(most + 1, sizeof(*names));
	const char **patterns = calloc(most + 1, sizeof(*patterns)), *why = NULL;
	char graph[WEIR_GRAPH_NAME_SIZE];

	if (names == NULL || patterns == NULL) {
		free(names);
		free(patterns);
		return -ENOMEM;
	}
	param.nb_node_patterns = name_sources(instance, index, events, names);
	for (i = 0; i < param.nb_node_patterns; i++)
		patterns[i] = names[i];
	param.node_patterns = patterns;
	snprintf(graph, sizeof(graph), "worker-%u%s", index, events ? "-events" : "");
	if (param.nb_node_patterns > 0) {
		reason_log_begin();
		*id = weir_graph_create(graph, &param);
		why = reason_log_end(rte_strerror(rte_errno));
	}
	free(names);
	free(patterns);
	if (param.nb_node_patterns == 0 || *id != WEIR_GRAPH_ID_INVALID)
		return 0;
	weir_base_doc_error_add(config->doc,
		worker->value != NULL ? worker->value : config->platform,
		"the graph of worker %u could not be made: %s", index, why);
	return -EINVAL;
}

static int
create_graphs(struct instance *instance)
{
	static const char *const pattern = "worker-*";
	unsigned int i;
	int error;

	error = weir_node_prepare();
	if (error == 0)
		error = wiring_apply(instance->config, instance->port_ids);
	/* A look takes graphs in this order: what has come out of queues by then, has gone in by the time the others are looked at. */
	for (i = 0; error == 0 && i < instance->config->nb_workers; i++)
		error = create_graph(instance, i, true, &instance->event_graph_ids[i]);
	for (i = 0; error == 0 && i < instance->config->nb_workers; i++)
		error = create_graph(instance, i, false, &instance->graph_ids[i]);
	if (error < 0)
		return error;
	instance->cluster = weir_graph_cluster_create(&pattern, 1);
	return instance->cluster != NULL ? 0 : -ENOMEM;
}

static int
prepare_workers(struct instance *instance)
{
	const struct config *config = instance->config;
	unsigned int i, j;

	for (i = 0; i < config->nb_workers; i++) {
		struct worker *worker = &instance->workers[i];
		uint16_t *ports = calloc(config->workers[i].nb_rx + 1, sizeof(*ports));

		if (ports == NULL)
			return -ENOMEM;
		worker->graph = weir_graph_get(instance->graph_ids[i]);
		worker->event_graph = weir_graph_get(instance->event_graph_ids[i]);
		worker->em = instance->em.em;
		worker->em_core = instance->em.em != NULL ? instance->em.cores[i] : -1;
		/* Where there are jobs, each event may be a time slice. */
		worker->burst = config_worker_has_jobs(config, i)
					? 1
					: RTE_MIN(config->burst, (uint16_t)WEIR_EM_BURST_MAX);
		worker->rx_ports = ports;
		worker->nb_rx_ports = config->workers[i].nb_rx;
		worker->ends = true;
		worker->crowded = instance->eal.crowded;
		worker->idle = config->idle;
		worker->lcore = instance->eal.lcores[i];
		for (j = 0; j < config->workers[i].nb_rx; j++) {
			ports[j] = instance->port_ids[config->workers[i].rx[j].port];
			if (config->ports[config->workers[i].rx[j].port].device != NULL)
				worker->ends = false;
		}
		if (config->until != SCHEMA_UNTIL_INPUT_END)
			worker->ends = false;
	}
	return 0;
}

static int
allocate(struct instance *instance)
{
	const struct config *config = instance->config;
	unsigned int i;

	instance->port_ids = calloc(config->nb_ports + 1, sizeof(*instance->port_ids));
	instance->graph_ids = calloc(config->nb_workers + 1, sizeof(*instance->graph_ids));
	instance->event_graph_ids =
		calloc(config->nb_workers + 1, sizeof(*instance->event_graph_ids));
	instance->workers = aligned_alloc(
		RTE_CACHE_LINE_SIZE, (config->nb_workers + 1) * sizeof(*instance->workers));
	if (instance->port_ids == NULL || instance->graph_ids == NULL ||
		instance->event_graph_ids == NULL || instance->workers == NULL)
		return -ENOMEM;
	memset(instance->workers, 0, config->nb_workers * sizeof(*instance->workers));
	for (i = 0; i < config->nb_ports; i++)
		instance->port_ids[i] = WEIR_NODE_PORT_INVALID;
	for (i = 0; i < config->nb_workers; i++)
		instance->graph_ids[i] = instance->event_graph_ids[i] = WEIR_GRAPH_ID_INVALID;
	return 0;
}

static int
open_tables(struct instance *instance, const struct instance_options *options)
{
	struct weir_node_route_limits limits;
	int error;

	if (options->stand_ins)
		eal_memory_small_limits(&limits);
	else
		eal_memory_route_limits(instance->config, &limits);
	error = weir_node_route_init(&limits);
	if (error < 0 || options->stand_ins)
		return error;
	return routes_load(
		instance->config, instance->port_ids, options->progress, &instance->routes);
}

static int
open_punt_file(struct instance *instance)
{
	const char *path = instance->config->outputs.punt_pcap;
	int error;

	if (path == NULL)
		return 0;
	error = files_make_directories(path);
	if (error == 0)
		error = weir_node_punt_capture(path);
	if (error < 0)
		weir_base_log(WEIR_BASE_LOG_ERROR, "app", "cannot write '%s': %s", path,
			strerror(-error));
	return error;
}

/* What packets of ports need before there is an event machine. */
static int
open_ports(struct instance *instance, const struct instance_options *options)
{
	int error = ports_start(
		instance->config, instance->pool, options->stand_ins, instance->port_ids);

	return error == 0 ? open_tables(instance, options) : error;
}

/* What they need behind it. */
static int
open_graphs(struct instance *instance)
{
	int error = links_share_open(&instance->share, instance->config, instance->port_ids);

	return error == 0 ? create_graphs(instance) : error;
}

/* All that workers have to do: packets of ports, events, or nothing but jobs. */
static int
open_workers(struct instance *instance, const struct instance_options *options)
{
	struct config *config = instance->config;
	const bool graphs = !config_has_no_graph(config);
	int error = 0;

	instance->pool = eal_pool_create(&instance->eal, config);
	if (instance->pool == NULL)
		return -ENOMEM;
	if (graphs)
		error = open_ports(instance, options);
	if (error == 0)
		error = em_run_open(&instance->em, config, instance->pool, options->stand_ins);
	if (error == 0 && graphs)
		error = open_graphs(instance);
	return error == 0 ? prepare_workers(instance) : error;
}

int
instance_open(
	struct instance *instance, struct config *config, const struct instance_options *options)
{
	int error;

	memset(instance, 0, sizeof(*instance));
	instance->config = config;
	__atomic_store_n(&instance->state, "starting", __ATOMIC_RELAXED);
	pthread_mutex_init(&instance->look_lock, NULL);
	error = allocate(instance);
	if (error == 0 && !options->stand_ins)
		error = open_control(instance);
	if (error == 0)
		error = eal_start(&instance->eal, config, options->stand_ins, options->verbose);
	if (error < 0)
		return error;
	if (!config_has_links_only(config))
		error = open_workers(instance, options);
	if (error < 0 || options->stand_ins)
		return error;
	error = open_punt_file(instance);
	if (error == 0)
		error = links_run_open(&instance->links, config, &instance->share, &instance->em);
	return error < 0 ? error : control_register(instance);
}

int
instance_start(struct instance *instance)
{
	unsigned int i;
	int error;

	/* Who looked before has done so: threads of links write what it looked at. */
	pthread_mutex_lock(&instance->look_lock);
	__atomic_store_n(&instance->start_ns, weir_base_time_ns(), __ATOMIC_RELAXED);
	pthread_mutex_unlock(&instance->look_lock);
	for (i = 0; i < instance->config->nb_workers; i++) {
		error = worker_start(&instance->workers[i]);
		if (error < 0) {
			weir_base_log(WEIR_BASE_LOG_ERROR, "app", "worker %u did not start: %s", i,
				strerror(-error));
			return error;
		}
		instance->nb_started++;
	}
	error = links_run_start(&instance->links, instance->config);
	if (error < 0) {
		weir_base_log(
			WEIR_BASE_LOG_ERROR, "app", "links did not start: %s", strerror(-error));
		return error;
	}
	__atomic_store_n(&instance->state, "running", __ATOMIC_RELAXED);
	return 0;
}

static bool
nothing_comes(const struct instance *instance)
{
	unsigned int i;

	for (i = 0; i < instance->nb_started; i++)
		if (!worker_has_received(&instance->workers[i]))
			return false;
	return true;
}

bool
instance_is_finished(struct instance *instance)
{
	unsigned int i;

	if (nothing_comes(instance)) {
		/* From graphs; jobs may have frames of links still. */
		__atomic_store_n(&instance->share.over, true, __ATOMIC_RELEASE);
		if (instance->em.em != NULL && links_run_needs_no_jobs(&instance->links) &&
			em_run_is_empty(&instance->em, instance->config))
			instance_stop_workers(instance);
	}
	for (i = 0; i < instance->nb_started; i++)
		if (!worker_is_finished(&instance->workers[i]))
			return false;
	links_run_without_jobs(&instance->links);
	return links_run_is_finished(&instance->links);
}

void
instance_stop_workers(struct instance *instance)
{
	unsigned int i;

	for (i = 0; i < instance->nb_started; i++)
		worker_stop(&instance->workers[i]);
}

void
instance_stop_now(struct instance *instance)
{
	instance_stop_workers(instance);
	links_run_stop_now(&instance->links);
}

void
instance_stop(struct instance *instance)
{
	unsigned int i;

	__atomic_store_n(&instance->state, "stopping", __ATOMIC_RELAXED);
	for (i = 0; i < instance->nb_started; i++)
		worker_quiet(&instance->workers[i]);
	links_run_stop(&instance->links);
}

int
instance_join(struct instance *instance)
{
	uint64_t end_ns = 0;
	unsigned int i;
	int error = 0;

	for (i = 0; i < instance->nb_started; i++) {
		worker_join(&instance->workers[i]);
		end_ns = RTE_MAX(end_ns, instance->workers[i].end_ns);
	}
	__atomic_store_n(&instance->share.over, true, __ATOMIC_RELEASE);
	links_run_without_jobs(&instance->links);
	links_run_join(&instance->links);
	end_ns = RTE_MAX(end_ns, instance->links.end_ns);
	__atomic_store_n(&instance->end_ns, end_ns, __ATOMIC_RELAXED);
	for (i = 0; i < instance->nb_started; i++)
		if (instance->workers[i].failed)
			error = -EIO;
	if (end_ns != 0)
		__atomic_store_n(&instance->state, "finished", __ATOMIC_RELAXED);
	for (i = 0; i < instance->config->nb_ports; i++)
		if (instance->port_ids[i] != WEIR_NODE_PORT_INVALID &&
			weir_node_port_flush(instance->port_ids[i]) < 0)
			error = -EIO;
	return error;
}

int
instance_close(struct instance *instance)
{
	unsigned int i;
	int error = 0;

	links_run_stop_now(&instance->links);
	control_silence(instance);
	links_run_join(&instance->links);
	jobs_run_stop(&instance->em); /* jobs may keep frames of links */
	links_run_close(&instance->links);
	weir_graph_cluster_destroy(instance->cluster);
	em_run_stop(&instance->em, instance->config);
	for (i = 0; instance->event_graph_ids != NULL && i < instance->config->nb_workers; i++) {
		if (instance->graph_ids[i] != WEIR_GRAPH_ID_INVALID)
			weir_graph_destroy(instance->graph_ids[i]);
		if (instance->event_graph_ids[i] != WEIR_GRAPH_ID_INVALID)
			weir_graph_destroy(instance->event_graph_ids[i]);
	}
	em_run_close(&instance->em, instance->config);
	links_share_close(&instance->share);
	if (instance->eal.started) {
		if (weir_node_punt_capture(NULL) < 0)
			error = -EIO;
		weir_node_route_fini();
	}
	if (instance->port_ids != NULL && instance->eal.started &&
		ports_stop(instance->config, instance->port_ids) < 0)
		error = -EIO;
	for (i = 0; instance->workers != NULL && i < instance->config->nb_workers; i++)
		free((void *)(uintptr_t)instance->workers[i].rx_ports);
	weir_base_pool_free(instance->pool);
	eal_stop(&instance->eal);
	free(instance->workers);
	free(instance->graph_ids);
	free(instance->event_graph_ids);
	free(instance->port_ids);
	pthread_mutex_destroy(&instance->look_lock);
	return error;
}
