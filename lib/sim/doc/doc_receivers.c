/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: receivers, emulators of links, and the threads that poll them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

#define PS_PER_US UINT64_C(1000000)
#define PS_PER_NS UINT64_C(1000)

/* Is there a link that comes by a port of receivers? */
static bool
is_used(const struct weir_base_doc_value *links, const char *receiver)
{
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(links); i++) {
		const struct weir_base_doc_value *port =
			weir_base_doc_get(weir_base_doc_at(links, i), "port");

		if (port != NULL && strcmp(weir_base_doc_str(port), receiver) == 0)
			return true;
	}
	return false;
}

static void
read_receiver(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	struct model_graph *graph = &model->graph;

	graph->ports[graph->nb_ports] = (struct model_port){
		.value = value,
		.name = weir_base_doc_name(value),
		.is_device = true,
		.is_receiver = true,
		.is_polled = true,
		.receives = true,
		.nb_rx = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "nb_queues")),
		.rx_burst = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "burst_size")),
		.rx_ring = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "rx_ring_size")),
		.adapts = weir_base_doc_bool(weir_base_doc_get(value, "burst_adaptive")),
	};
	graph->rx_nodes[graph->nb_ports++] = SIM_NONE;
}

/* How many threads a receiver has for itself, or an emulator. */
static uint32_t
threads_of(const struct model_port *port)
{
	return weir_base_doc_count(weir_base_doc_get(port->value, "cpus"));
}

const struct weir_base_doc_value *
sim_doc_emulated(const struct weir_base_doc_value *root, const struct weir_base_doc_value *link)
{
	return weir_base_doc_get(weir_base_doc_get(weir_base_doc_get(root, "traffic"), "emulated"),
		weir_base_doc_name(link));
}

const struct weir_base_doc_value *
sim_doc_replayed(const struct weir_base_doc_value *root, const struct weir_base_doc_value *link)
{
	return weir_base_doc_get(weir_base_doc_get(weir_base_doc_get(root, "traffic"), "replayed"),
		weir_base_doc_name(link));
}

/* Something that is polled as a receiver is, called `prefix.NAME`. */
static int
add_port(struct weir_sim_model *model, const struct model_port *port, const char *prefix)
{
	struct model_graph *graph = &model->graph;
	struct model_port *added = &graph->ports[graph->nb_ports];

	*added = *port;
	added->is_device = added->is_receiver = added->is_polled = added->receives = true;
	added->is_feed = true;
	if (asprintf(&added->made_name, "%s.%s", prefix, weir_base_doc_name(port->value)) < 0) {
		added->made_name = NULL;
		return -ENOMEM;
	}
	added->name = added->made_name;
	graph->rx_nodes[graph->nb_ports++] = SIM_NONE;
	graph->nb_receivers++;
	return 0;
}

/* Frames that are made wait for a thread, any number of them, which takes so many at once as it has in hand. */
static int
add_feed(struct weir_sim_model *model, const struct weir_base_doc_value *emulated)
{
	const uint32_t nb_cpus = weir_base_doc_count(weir_base_doc_get(emulated, "cpus"));
	const struct model_port port = {
		.value = emulated,
		.nb_rx = nb_cpus > 0 ? nb_cpus : 1,
		/* The last two have no room for a duplicate and one that is late. */
		.rx_burst = WEIR_BASE_FEED_BURST - 2,
		.rx_ring = SIM_NONE,
	};

	model->graph.nb_threads += nb_cpus;
	return add_port(model, &port, "emulated");
}

/* So do those of a file. */
static int
add_replay(struct weir_sim_model *model, const struct weir_base_doc_value *replayed)
{
	const struct model_port port = {
		.value = replayed,
		.nb_rx = 1,
		.rx_burst = WEIR_BASE_FEED_BURST,
		.rx_ring = SIM_NONE,
	};

	return add_port(model, &port, "replayed");
}

/* What makes a link's frames, if anything does. @param[out] has_common  set where the thread of all that has none of its own polls it */
static int
add_made(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	const struct weir_base_doc_value *link, bool *has_common)
{
	const struct weir_base_doc_value *emulated = sim_doc_emulated(root, link);
	const struct weir_base_doc_value *replayed = sim_doc_replayed(root, link);

	if (emulated == NULL && replayed == NULL)
		return 0;
	*has_common = *has_common || emulated == NULL ||
		      weir_base_doc_count(weir_base_doc_get(emulated, "cpus")) == 0;
	return emulated != NULL ? add_feed(model, emulated) : add_replay(model, replayed);
}

/* Links of one name have a queue each, and a thread together that empties them. */
static int
add_delivery(struct weir_sim_model *model, const struct weir_base_doc_value *link)
{
	const struct weir_base_doc_value *delivery = weir_base_doc_get(link, "delivery");
	const struct weir_base_doc_value *count = weir_base_doc_get(link, "count");
	const struct model_port port = {
		.value = link,
		.is_delivery = true,
		.nb_rx = count != NULL ? (uint32_t)weir_base_doc_u64(count) : 1,
		.rx_burst = WEIR_BASE_DELIVERY_BURST,
		.rx_ring = (uint32_t)weir_base_doc_u64(weir_base_doc_get(delivery, "capacity")),
	};

	if (weir_base_doc_u64(weir_base_doc_get(delivery, "by")) != WEIR_BASE_DELIVERY_QUEUE)
		return 0;
	model->graph.nb_threads++;
	return add_port(model, &port, "delivery");
}

/* What is found in frames waits in a queue for the thread that all links have in common. */
static int
add_hits(struct weir_sim_model *model, const struct weir_base_doc_value *link)
{
	const struct model_port port = {
		.value = link,
		.is_of_hits = true,
		.nb_rx = 1,
		.rx_burst = WEIR_BASE_HITS_BURST,
		.rx_ring = WEIR_BASE_HITS_QUEUE,
	};

	return add_port(model, &port, "hits");
}

int
sim_doc_read_receivers(struct weir_sim_model *model, const struct weir_base_doc_value *root)
{
	const struct weir_base_doc_value *receivers =
		weir_base_doc_get(weir_base_doc_get(root, "platform"), "receivers");
	const struct weir_base_doc_value *links =
		weir_base_doc_get(weir_base_doc_get(root, "application"), "links");
	struct model_graph *graph = &model->graph;
	const size_t nb = graph->nb_ports + weir_base_doc_count(receivers) +
			  3 * (size_t)weir_base_doc_count(links) + 1;
	struct model_port *ports = realloc(graph->ports, nb * sizeof(*ports));
	uint32_t *rx_nodes = realloc(graph->rx_nodes, nb * sizeof(*rx_nodes));
	bool has_common = false;
	uint32_t i;

	graph->ports = ports != NULL ? ports : graph->ports;
	graph->rx_nodes = rx_nodes != NULL ? rx_nodes : graph->rx_nodes;
	if (ports == NULL || rx_nodes == NULL)
		return -ENOMEM;
	for (i = 0; i < weir_base_doc_count(receivers); i++) {
		const struct weir_base_doc_value *value = weir_base_doc_at(receivers, i);

		if (!is_used(links, weir_base_doc_name(value)))
			continue;
		read_receiver(model, value);
		graph->nb_receivers++;
		graph->nb_threads += threads_of(&graph->ports[graph->nb_ports - 1]);
		has_common = has_common || threads_of(&graph->ports[graph->nb_ports - 1]) == 0;
	}
	for (i = 0; i < weir_base_doc_count(links); i++)
		if (add_made(model, root, weir_base_doc_at(links, i), &has_common) < 0 ||
			add_delivery(model, weir_base_doc_at(links, i)) < 0)
			return -ENOMEM;
	for (i = 0; i < weir_base_doc_count(links); i++) {
		if (!sim_doc_has_hits(root, weir_base_doc_at(links, i)))
			continue;
		if (add_hits(model, weir_base_doc_at(links, i)) < 0)
			return -ENOMEM;
		has_common = true;
	}
	graph->nb_threads += has_common + sim_doc_count_followers(root);
	return 0;
}

/* One of a port's rings, of which every step-th is a thread's. */
static void
take_rings(struct weir_sim_model *model, struct model_worker *worker, const struct model_port *port,
	uint32_t first, uint32_t step)
{
	struct model_graph *graph = &model->graph;
	const uint64_t sleep_ps =
		port->is_feed
			? WEIR_BASE_LINKS_REST_NS * PS_PER_NS
			: weir_base_doc_u64(weir_base_doc_get(port->value, "lcore_sleep_us")) *
				  PS_PER_US;
	uint32_t i;

	/* Where several receivers have one thread, the least; those come before what is made. */
	if (worker->nb_polled == 0 || (!port->is_feed && sleep_ps < worker->sleep_min_ps))
		worker->sleep_min_ps = worker->sleep_max_ps = sleep_ps;
	for (i = first; i < port->nb_rx; i += step) {
		struct model_ring *ring = &graph->rings[port->first_rx + i];

		ring->worker = (uint32_t)(worker - graph->workers);
		ring->place = worker->nb_polled++;
		graph->polled[graph->nb_polled++] = port->first_rx + i;
	}
}

/* It is called after what it polls. */
static int
name_thread(struct model_worker *worker, const struct model_port *port)
{
	free(worker->name);
	worker->name = strdup(port->name);
	return worker->name != NULL ? 0 : -ENOMEM;
}

struct model_worker *
sim_doc_take_receivers(struct weir_sim_model *model)
{
	struct model_graph *graph = &model->graph;
	struct model_worker *worker = graph->workers + graph->nb_workers - graph->nb_threads;
	const uint32_t first = graph->nb_ports - graph->nb_receivers;
	uint32_t i, j;

	for (i = first; i < graph->nb_ports; i++)
		for (j = 0; j < threads_of(&graph->ports[i]); j++, worker++) {
			worker->first_polled = graph->nb_polled;
			take_rings(
				model, worker, &graph->ports[i], j, threads_of(&graph->ports[i]));
		}
	worker->first_polled = graph->nb_polled;
	for (i = first; i < graph->nb_ports; i++)
		if (threads_of(&graph->ports[i]) == 0 && !graph->ports[i].is_delivery)
			take_rings(model, worker, &graph->ports[i], 0, 1);
	worker += worker->nb_polled > 0;
	for (i = first; i < graph->nb_ports; i++)
		if (graph->ports[i].is_delivery) {
			worker->first_polled = graph->nb_polled;
			if (name_thread(worker, &graph->ports[i]) < 0)
				return NULL;
			take_rings(model, worker++, &graph->ports[i], 0, 1);
		}
	return worker;
}
