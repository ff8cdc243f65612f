/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: ports, the workers that poll them, and the rings between. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"
#include "weir_base_rules.h"

#define BITS_OF_BYTE 8
#define PS_PER_S     1e12
#define SLEEP_MIN_PS UINT64_C(50000000) /* as a worker of a program sleeps that finds nothing */
#define SLEEP_MAX_PS UINT64_C(1000000000)
#define WALK_MAX_PS  (SIM_TIME_END_PS / 4)
#define WORKERS_MAX  64 /* as of a program that is run */

uint32_t
sim_doc_port(const struct weir_sim_model *model, const char *name)
{
	uint32_t i;

	for (i = 0; i < model->graph.nb_ports; i++)
		if (strcmp(model->graph.ports[i].name, name) == 0)
			return i;
	return SIM_NONE;
}

static void
read_port(const struct weir_base_doc_value *value, struct model_port *port)
{
	const struct weir_base_doc_value *bandwidth = weir_base_doc_get(value, "bandwidth");
	const struct weir_base_doc_value *on_full = weir_base_doc_get(value, "on_full");
	const bool is_device = weir_base_doc_given(value, "device");

	*port = (struct model_port){
		.value = value,
		.name = weir_base_doc_name(value),
		.is_device = is_device,
		.receives = is_device || weir_base_doc_given(value, "pcap_in"),
		.transmits = is_device || weir_base_doc_given(value, "pcap_out"),
		.nb_rx = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "rx_queues")),
		.rx_burst = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "rx_burst")),
		.rx_ring = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "rx_ring")),
		.tx_ring = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "tx_ring")),
		.per_byte = bandwidth != NULL ? sim_coarse(BITS_OF_BYTE * PS_PER_S /
							   weir_base_doc_f64(bandwidth))
					      : 0,
		.overhead_bytes = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "overhead")),
		.waits = on_full != NULL ? weir_base_doc_u64(on_full) != 0 : !is_device,
	};
}

static int
read_ports(struct weir_sim_model *model, const struct weir_base_doc_value *ports)
{
	struct model_graph *graph = &model->graph;
	uint32_t i;

	graph->nb_ports = weir_base_doc_count(ports);
	graph->ports = calloc(graph->nb_ports + 1, sizeof(*graph->ports));
	graph->rx_nodes = calloc(graph->nb_ports + 1, sizeof(*graph->rx_nodes));
	if (graph->ports == NULL || graph->rx_nodes == NULL)
		return -ENOMEM;
	for (i = 0; i < graph->nb_ports; i++) {
		read_port(weir_base_doc_at(ports, i), &graph->ports[i]);
		graph->rx_nodes[i] = SIM_NONE;
	}
	return 0;
}

/* Queue SIM_NONE stands for all. @return index of the port, or SIM_NONE with an error */
static uint32_t
read_receive(struct weir_sim_model *model, const struct weir_base_doc_value *value, uint32_t *queue)
{
	struct weir_base_receive receive;
	const bool has_queue = weir_base_receive_read(weir_base_doc_str(value), &receive);
	const uint32_t port = sim_doc_port(model, receive.port);

	*queue = receive.queue == WEIR_BASE_RECEIVE_ALL ? SIM_NONE : (uint32_t)receive.queue;
	if (port == SIM_NONE || !model->graph.ports[port].receives) {
		model->has_refused_graph = true;
		weir_base_doc_error_add(model->doc, value,
			"%s '%s'; expected one of platform.ports with 'pcap_in' or 'device'",
			port == SIM_NONE ? "unknown port" : "nothing to receive from on port",
			receive.port);
		return SIM_NONE;
	}
	if (!has_queue) {
		weir_base_doc_error_add(model->doc, value,
			"bad queue '%s'; expected PORT.QUEUE with a queue of 0 to 255",
			strchr(weir_base_doc_str(value), '.') + 1);
		return SIM_NONE;
	}
	return port;
}

/* Queues that are named exist, unless rx_queues says otherwise. */
static void
count_queues(struct weir_sim_model *model, const struct weir_base_doc_value *workers)
{
	const struct weir_base_doc_value *list;
	struct model_port *port;
	uint32_t i, j, index, queue;

	for (i = 0; i < weir_base_doc_count(workers); i++) {
		list = weir_base_doc_get(weir_base_doc_at(workers, i), "receive");
		for (j = 0; j < weir_base_doc_count(list); j++) {
			index = read_receive(model, weir_base_doc_at(list, j), &queue);
			if (index == SIM_NONE)
				continue;
			port = &model->graph.ports[index];
			port->is_polled = true;
			if (queue == SIM_NONE || queue < port->nb_rx)
				continue;
			if (weir_base_doc_given(port->value, "rx_queues"))
				weir_base_doc_error_add(model->doc, weir_base_doc_at(list, j),
					"port '%s' has no queue %u; expected 0 to %u", port->name,
					queue, port->nb_rx - 1);
			else
				port->nb_rx = queue + 1;
		}
	}
	for (i = 0; i < model->graph.nb_ports; i++) {
		port = &model->graph.ports[i];
		if (port->per_byte > 0 && !port->transmits)
			weir_base_doc_error_add(model->doc,
				weir_base_doc_get(port->value, "bandwidth"),
				"port '%s' does not transmit; expected 'bandwidth' of one with "
				"'pcap_out' or 'device'",
				port->name);
		if (port->nb_rx == 0)
			port->nb_rx = 1;
		if (weir_base_doc_count(workers) == 0)
			port->is_polled = port->receives || port->is_polled;
	}
}

static int
name_ring(struct model_ring *ring, const struct model_port *port, uint32_t queue, const char *kind)
{
	return asprintf(&ring->name, "%s.%u.%s", port->name, queue, kind) < 0 ? -ENOMEM : 0;
}

/* Rings of a port's queues to receive from, or of the workers that send through it. */
static int
make_rings(struct weir_sim_model *model, struct model_port *port, bool is_rx)
{
	struct model_graph *graph = &model->graph;
	const uint32_t nb = is_rx ? port->nb_rx : port->nb_tx;
	const char *kind = is_rx ? "rx_ring" : "tx_ring";
	struct model_ring *rings, *ring;
	uint32_t reason = 0, i;

	if (nb == 0)
		return 0;
	if (is_rx && port->is_delivery) {
		kind = "queue";
		if (sim_doc_reason(model, &reason, "queue_full") < 0)
			return -ENOMEM;
	} else if (is_rx && port->is_of_hits) {
		kind = "queue";
		if (sim_doc_reason(model, &reason, "refused") < 0)
			return -ENOMEM;
	} else if (!port->is_feed &&
		   sim_doc_reason(model, &reason, "%s of %s is full", kind, port->name) < 0)
		return -ENOMEM;
	rings = realloc(graph->rings, (graph->nb_rings + nb) * sizeof(*rings));
	if (rings == NULL)
		return -ENOMEM;
	graph->rings = rings;
	for (i = 0; i < nb; i++) {
		ring = &rings[graph->nb_rings];
		*ring = (struct model_ring){
			.port = (uint32_t)(port - graph->ports),
			.capacity = is_rx ? port->rx_ring : port->tx_ring,
			.reason = reason,
			.worker = is_rx ? SIM_NONE : i,
		};
		if (name_ring(ring, port, i, kind) < 0)
			return -ENOMEM;
		graph->nb_rings++;
	}
	return 0;
}

static int
make_all_rings(struct weir_sim_model *model)
{
	struct model_graph *graph = &model->graph;
	uint32_t i;

	for (i = 0; i < graph->nb_ports; i++) {
		graph->ports[i].first_rx = graph->nb_rings;
		if (graph->ports[i].is_polled && make_rings(model, &graph->ports[i], true) < 0)
			return -ENOMEM;
	}
	for (i = 0; i < graph->nb_ports; i++) {
		graph->ports[i].first_tx = graph->nb_rings;
		if (graph->ports[i].transmits && graph->ports[i].per_byte > 0)
			graph->ports[i].nb_tx = graph->nb_workers;
		if (make_rings(model, &graph->ports[i], false) < 0)
			return -ENOMEM;
	}
	graph->polled = calloc(graph->nb_rings + 1, sizeof(*graph->polled));
	return graph->polled != NULL ? 0 : -ENOMEM;
}

/* A worker takes a queue; @p value is NULL where none is named. */
static void
take_ring(struct weir_sim_model *model, struct model_worker *worker,
	const struct weir_base_doc_value *value, uint32_t index)
{
	struct model_graph *graph = &model->graph;
	struct model_ring *ring = &graph->rings[index];

	if (ring->worker != SIM_NONE) {
		weir_base_doc_error_add(model->doc, value,
			"queue %u of port '%s' is polled already; expected one worker for each "
			"queue",
			index - graph->ports[ring->port].first_rx, graph->ports[ring->port].name);
		return;
	}
	ring->worker = (uint32_t)(worker - graph->workers);
	ring->place = worker->nb_polled++;
	graph->polled[graph->nb_polled++] = index;
}

static void
take_port(struct weir_sim_model *model, struct model_worker *worker,
	const struct weir_base_doc_value *value, uint32_t port_index, uint32_t queue)
{
	const struct model_port *port = &model->graph.ports[port_index];
	uint32_t i;

	for (i = 0; i < port->nb_rx; i++)
		if (queue == SIM_NONE || queue == i)
			take_ring(model, worker, value, port->first_rx + i);
}

/* @param costs  by which there is one where the file names none */
static void
take_queues(struct weir_sim_model *model, struct model_worker *worker,
	const struct weir_base_doc_value *costs)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(worker->value, "receive");
	uint32_t i, port, queue;

	worker->first_polled = model->graph.nb_polled;
	for (i = 0; worker->value == NULL && i < model->graph.nb_ports; i++)
		if (model->graph.ports[i].receives && !model->graph.ports[i].is_receiver)
			take_port(model, worker, NULL, i, SIM_NONE);
	for (i = 0; i < weir_base_doc_count(list); i++) {
		port = read_receive(model, weir_base_doc_at(list, i), &queue);
		if (port == SIM_NONE)
			return;
		take_port(model, worker, weir_base_doc_at(list, i), port, queue);
	}
	/* Of a list of which nothing is left all was told. */
	if (worker->nb_polled == 0 && !worker->asks && !worker->is_receiver && i == 0)
		sim_doc_tell_idle(model, worker, worker->value != NULL ? worker->value : costs);
}

uint32_t
sim_doc_kind_of(
	const struct weir_sim_model *model, const struct model_worker *worker, uint32_t nb_kinds)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(worker->value, "cores");
	uint32_t i;

	for (i = 0; i < nb_kinds; i++)
		if (value == NULL || strcmp(model->cores[i].name, weir_base_doc_str(value)) == 0)
			break;
	return i;
}

/* The kind of cores that a worker runs on. */
static struct model_cores *
find_cores(struct weir_sim_model *model, const struct model_worker *worker, uint32_t nb_kinds,
	const struct weir_base_doc_value *costs)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(worker->value, "cores");
	const uint32_t i = sim_doc_kind_of(model, worker, nb_kinds);
	struct sim_doc_names names = {.used = 0};

	if (i < nb_kinds && model->cores[i].count > 0)
		return &model->cores[i];
	sim_doc_add_kinds(&names, model, nb_kinds);
	weir_base_doc_error_add(model->doc,
		value != NULL           ? value
		: worker->value != NULL ? worker->value
		: i < nb_kinds          ? model->cores[i].value
					: costs,
		"%s has no core to run on: %s; expected %s%s", worker->name,
		i < nb_kinds    ? "others have them all"
		: value != NULL ? "there is no such kind"
				: "there are none",
		i < nb_kinds     ? "a 'count' of one for each worker"
		: names.used > 0 ? "one of platform.cores: "
				 : "'cores' in 'platform'",
		i < nb_kinds ? "" : names.text);
	return NULL;
}

/* The groups of queues that a worker serves, where there are queues. @return false: there are too many, which was told */
static bool
read_groups(
	struct weir_sim_model *model, const struct model_worker *worker, struct model_cores *cores)
{
	const struct weir_base_doc_value *groups = weir_base_doc_get(worker->value, "groups");
	const uint32_t nb = groups != NULL ? weir_base_doc_count(groups) : 1;
	uint32_t i, group;

	for (i = 0; worker->asks && i < nb; i++) {
		group = groups != NULL ? sim_doc_cores_group(model, weir_base_doc_at(groups, i))
				       : sim_doc_group(model, NULL, "default");
		if (group == SIM_NONE)
			return false;
		cores->groups[group / 64] |= UINT64_C(1) << group % 64;
	}
	return true;
}

/* Walks that find nothing are counted by division, and by sums that must not go round. */
static void
check_walk(struct weir_sim_model *model, const struct model_worker *worker,
	const struct weir_base_doc_value *walk)
{
	const double ps = (double)worker->walk_ps + (double)worker->dispatch_ps +
			  (double)worker->poll_ps * worker->nb_polled;

	if (worker->walk_ps == 0)
		weir_base_doc_error_add(model->doc, walk,
			"a walk of %s takes no time; expected 1 ps or more", worker->name);
	if (ps > (double)WALK_MAX_PS)
		weir_base_doc_error_add(model->doc, walk,
			"a walk of %s that finds nothing takes %.3g s; expected at most %.3g s",
			worker->name, ps / PS_PER_S, (double)WALK_MAX_PS / PS_PER_S);
}

/* Each worker is a core of its own, which is taken from its kind. */
static int
take_cores(struct weir_sim_model *model, const struct weir_base_doc_value *costs)
{
	struct model_graph *graph = &model->graph;
	const double walk = sim_coarse(weir_base_doc_f64(weir_base_doc_get(costs, "walk")));
	const double poll = sim_coarse(weir_base_doc_f64(weir_base_doc_get(costs, "poll")));
	const uint32_t nb_kinds = model->nb_kinds;
	struct model_cores *cores, *kind;
	uint32_t i;

	cores = realloc(model->cores, (nb_kinds + graph->nb_workers + 1) * sizeof(*cores));
	if (cores == NULL)
		return -ENOMEM;
	model->cores = cores;
	for (i = 0; i < graph->nb_workers; i++) {
		struct model_worker *worker = &graph->workers[i];

		kind = find_cores(model, worker, nb_kinds, costs);
		if (kind == NULL)
			return 0;
		kind->count--;
		model->cores[model->nb_kinds++] = (struct model_cores){
			.value = worker->value != NULL ? worker->value : kind->value,
			.name = worker->name,
			.count = 1,
			.ps_per_cycle = kind->ps_per_cycle,
			.worker = i,
		};
		if (!read_groups(model, worker, &model->cores[model->nb_kinds - 1]))
			return 0;
		if (model->graph.idle == MODEL_IDLE_SLEEP && !worker->is_receiver) {
			worker->sleep_min_ps = SLEEP_MIN_PS;
			worker->sleep_max_ps = SLEEP_MAX_PS;
		}
		worker->walk_ps = sim_round_ps(walk * kind->ps_per_cycle);
		worker->dispatch_ps = sim_round_ps(
			sim_coarse(weir_base_doc_f64(weir_base_doc_get(costs, "dispatch"))) *
			kind->ps_per_cycle);
		worker->switch_ps = sim_round_ps(
			sim_coarse(weir_base_doc_f64(weir_base_doc_get(costs, "switch"))) *
			kind->ps_per_cycle);
		if (worker->asks && worker->dispatch_ps == 0)
			weir_base_doc_error_add(model->doc, costs,
				"%s serves queues, and takes no time to ask for something of "
				"them; expected 'dispatch' of 1 ps or more",
				worker->name);
		worker->poll_ps = sim_round_ps(poll * kind->ps_per_cycle);
		check_walk(model, worker, weir_base_doc_get(costs, "walk"));
	}
	return 0;
}

/* What is said of cores that all are workers' would be overlooked. */
static void
check_unused(struct weir_sim_model *model, const struct model_cores *kind)
{
	static const char *const keys[] = {"groups", "polling"};
	unsigned int i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (weir_base_doc_given(kind->value, keys[i]))
			weir_base_doc_error_add(model->doc, weir_base_doc_get(kind->value, keys[i]),
				"'%s' means nothing to workers, which have all cores of '%s'; "
				"expected a 'count' of more",
				keys[i], kind->name);
}

/* Kinds whose cores are all workers' are gone; the cores of the others are numbered anew. */
static void
number_cores(struct weir_sim_model *model)
{
	uint32_t i, nb = 0;

	model->nb_cores = 0;
	for (i = 0; i < model->nb_kinds; i++) {
		if (model->cores[i].count == 0) {
			check_unused(model, &model->cores[i]);
			continue;
		}
		model->cores[nb] = model->cores[i];
		model->cores[nb].first = model->nb_cores;
		if (model->cores[nb].worker != SIM_NONE)
			model->graph.workers[model->cores[nb].worker].core = model->nb_cores;
		model->nb_cores += model->cores[nb++].count;
	}
	model->nb_kinds = nb;
}

/* Is there a queue of its groups that workers serve, or are there jobs? As of a program that is run, one for which there is none does not ask. */
static bool
has_events(const struct weir_sim_model *model, const struct weir_base_doc_value *application,
	const struct model_worker *worker)
{
	const struct weir_base_doc_value *groups = weir_base_doc_get(worker->value, "groups");
	const struct weir_base_doc_value *nodes = weir_base_doc_get(application, "nodes");
	const uint32_t nb = groups != NULL ? weir_base_doc_count(groups) : 1;
	uint32_t i;

	for (i = 0; i < nb; i++) {
		const char *group =
			groups != NULL ? weir_base_doc_str(weir_base_doc_at(groups, i)) : "default";

		if (sim_doc_has_events(model, nodes, group) || sim_doc_has_jobs(application, group))
			return true;
	}
	return false;
}

/* @param nb  that the file names; behind them, threads of receivers */
static int
name_workers(struct weir_sim_model *model, const struct weir_base_doc_value *workers,
	const struct weir_base_doc_value *application, uint32_t nb)
{
	struct model_graph *graph = &model->graph;
	uint32_t i;

	for (i = 0; i < graph->nb_workers; i++) {
		struct model_worker *worker = &graph->workers[i];

		worker->is_receiver = i >= nb;
		worker->process = SIM_NONE;
		worker->value = i < nb ? weir_base_doc_at(workers, i) : NULL;
		if (asprintf(&worker->name, "%s-%u", i < nb ? "worker" : "receiver",
			    i < nb ? i : i - nb) < 0) {
			worker->name = NULL;
			return -ENOMEM;
		}
	}
	if (sim_doc_give_objects(model, application, nb) < 0)
		return -ENOMEM;
	for (i = 0; i < nb; i++)
		graph->workers[i].asks = has_events(model, application, &graph->workers[i]);
	return 0;
}

static int
read_workers(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	const struct weir_base_doc_value *platform)
{
	const struct weir_base_doc_value *workers = weir_base_doc_get(platform, "workers");
	const struct weir_base_doc_value *application = weir_base_doc_get(root, "application");
	struct model_graph *graph = &model->graph;
	struct model_worker *follower;
	uint32_t nb = weir_base_doc_count(workers), i;

	if (nb > WORKERS_MAX) {
		weir_base_doc_error_add(model->doc, workers,
			"%u workers are too many; expected at most %u", nb, WORKERS_MAX);
		nb = WORKERS_MAX;
	}
	/* The one that nobody names; links need none, but for jobs. */
	if (nb == 0 && (graph->nb_ports > graph->nb_receivers || graph->nb_receivers == 0 ||
			       sim_doc_has_jobs(application, "default")))
		nb = 1;
	graph->nb_workers = nb + graph->nb_threads;
	graph->workers = calloc(graph->nb_workers + 1, sizeof(*graph->workers));
	if (graph->workers == NULL || name_workers(model, workers, application, nb) < 0)
		return -ENOMEM;
	count_queues(model, workers);
	if (make_all_rings(model) < 0)
		return -ENOMEM;
	for (i = 0; i < nb; i++)
		take_queues(model, &graph->workers[i], weir_base_doc_get(platform, "costs"));
	follower = sim_doc_take_receivers(model);
	return follower != NULL ? sim_doc_take_followers(model, root, follower) : -ENOMEM;
}

/* What RSS brings there would be lost. */
static void
check_unpolled(struct weir_sim_model *model)
{
	const struct model_graph *graph = &model->graph;
	uint32_t i, j, nb_polled;

	for (i = 0; i < graph->nb_ports; i++) {
		const struct model_port *port = &graph->ports[i];

		for (nb_polled = 0, j = 0; port->is_polled && j < port->nb_rx; j++)
			nb_polled += graph->rings[port->first_rx + j].worker != SIM_NONE;
		for (j = 0; nb_polled > 0 && j < port->nb_rx; j++)
			if (graph->rings[port->first_rx + j].worker == SIM_NONE)
				weir_base_doc_error_add(model->doc, port->value,
					"queue %u of port '%s' is polled by no worker; expected "
					"'%s.%u' in a 'receive' list",
					j, port->name, port->name, j);
	}
}

static int
read_graph(struct weir_sim_model *model, const struct weir_base_doc_value *root)
{
	const struct weir_base_doc_value *platform = weir_base_doc_get(root, "platform");
	const struct weir_base_doc_value *costs = weir_base_doc_get(platform, "costs");
	const struct weir_base_doc_value *application = weir_base_doc_get(root, "application");

	if (read_ports(model, weir_base_doc_get(platform, "ports")) < 0)
		return -ENOMEM;
	if (costs == NULL)
		return 0;
	if (sim_doc_read_receivers(model, root) < 0)
		return -ENOMEM;
	sim_doc_read_shared(model, root);
	model->graph.burst = (uint32_t)weir_base_doc_u64(weir_base_doc_get(platform, "burst"));
	model->graph.idle = (enum model_idle)weir_base_doc_u64(weir_base_doc_get(platform, "idle"));
	if (read_workers(model, root, platform) < 0 || take_cores(model, costs) < 0)
		return -ENOMEM;
	number_cores(model);
	check_unpolled(model);
	sim_doc_check_shared(model);
	return sim_doc_read_nodes(model, application, costs);
}

int
sim_doc_read_graph(struct weir_sim_model *model, const struct weir_base_doc_value *root)
{
	unsigned int nb_before, nb_after;
	int error;

	weir_base_doc_errors(model->doc, &nb_before);
	error = read_graph(model, root);
	weir_base_doc_errors(model->doc, &nb_after);
	model->has_refused_graph = model->has_refused_graph || nb_after > nb_before;
	return error;
}
