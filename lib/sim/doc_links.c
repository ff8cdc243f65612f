/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: receivers, the threads that poll them, and the frames of links that come by them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

#define PS_PER_US UINT64_C(1000000)

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
	};
	graph->rx_nodes[graph->nb_ports++] = SIM_NONE;
	if (weir_base_doc_bool(weir_base_doc_get(value, "burst_adaptive")))
		weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "burst_adaptive"),
			"'burst_adaptive' is not simulated; expected 'false'");
}

/* How many threads a receiver has for itself. */
static uint32_t
threads_of(const struct model_port *port)
{
	return weir_base_doc_count(weir_base_doc_get(port->value, "cpus"));
}

int
sim_doc_read_receivers(struct weir_sim_model *model, const struct weir_base_doc_value *root)
{
	const struct weir_base_doc_value *receivers =
		weir_base_doc_get(weir_base_doc_get(root, "platform"), "receivers");
	const struct weir_base_doc_value *links =
		weir_base_doc_get(weir_base_doc_get(root, "application"), "links");
	struct model_graph *graph = &model->graph;
	const size_t nb = graph->nb_ports + weir_base_doc_count(receivers) + 1;
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
	graph->nb_threads += has_common;
	return 0;
}

/* One of a port's rings, of which every step-th is a thread's. */
static void
take_rings(struct weir_sim_model *model, struct model_worker *worker, const struct model_port *port,
	uint32_t first, uint32_t step)
{
	struct model_graph *graph = &model->graph;
	const uint64_t sleep_ps =
		weir_base_doc_u64(weir_base_doc_get(port->value, "lcore_sleep_us")) * PS_PER_US;
	uint32_t i;

	/* Where several receivers have one thread, the least. */
	if (worker->nb_polled == 0 || sleep_ps < worker->sleep_min_ps)
		worker->sleep_min_ps = worker->sleep_max_ps = sleep_ps;
	for (i = first; i < port->nb_rx; i += step) {
		struct model_ring *ring = &graph->rings[port->first_rx + i];

		ring->worker = (uint32_t)(worker - graph->workers);
		ring->place = worker->nb_polled++;
		graph->polled[graph->nb_polled++] = port->first_rx + i;
	}
}

void
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
		if (threads_of(&graph->ports[i]) == 0)
			take_rings(model, worker, &graph->ports[i], 0, 1);
}

/* Frames of a link: their size, and the ps from one to the next; 0: it is not said. */
struct frames {
	uint64_t bytes;
	double interval_ps;
};

static struct frames
read_frames(const struct weir_base_doc_value *application, const struct weir_base_doc_value *link)
{
	const struct weir_base_doc_value *buffer = weir_base_doc_get(link, "buffer");
	const char *name = weir_base_doc_str(weir_base_doc_get(link, "format"));
	const struct weir_base_doc_value *format =
		weir_base_doc_get(weir_base_doc_get(application, "formats"), name);
	double clock_hz = weir_base_doc_f64(weir_base_doc_get(format, "clock"));
	uint64_t step = weir_base_doc_u64(weir_base_doc_get(format, "step"));
	struct frames frames = {.bytes = weir_base_doc_u64(weir_base_doc_get(format, "size"))};

	if (format == NULL && strcmp(name, WEIR_BASE_FORMAT_WIBETH) == 0) {
		clock_hz = WEIR_BASE_FORMAT_WIBETH_HZ;
		step = WEIR_BASE_FORMAT_WIBETH_STEP;
		frames.bytes = WEIR_BASE_FORMAT_WIBETH_BYTES;
	}
	if (weir_base_doc_given(buffer, "frame_size"))
		frames.bytes = weir_base_doc_u64(weir_base_doc_get(buffer, "frame_size"));
	if (weir_base_doc_given(buffer, "rate"))
		frames.interval_ps =
			sim_coarse(1e12 / weir_base_doc_f64(weir_base_doc_get(buffer, "rate")));
	else if (clock_hz > 0)
		frames.interval_ps = sim_coarse(1e12 * (double)step / clock_hz);
	return frames;
}

/* Links of one name: each is a stream, of which the first begins at 0 and the others follow, so that they take turns. */
static int
add_link(struct weir_sim_model *model, const struct weir_base_doc_value *link, uint32_t port,
	struct frames frames)
{
	const struct weir_base_doc_value *count = weir_base_doc_get(link, "count");
	const uint32_t nb = count != NULL ? (uint32_t)weir_base_doc_u64(count) : 1;
	struct model_stream *streams =
		realloc(model->streams, (model->nb_streams + nb + 1) * sizeof(*model->streams));
	uint32_t i;

	if (streams == NULL)
		return -ENOMEM;
	model->streams = streams;
	for (i = 0; i < nb; i++) {
		struct model_stream *stream = &streams[model->nb_streams];

		*stream = (struct model_stream){
			.value = link,
			.queue = SIM_TO_PORT | port,
			.unit = SIM_NONE,
			.interval =
				sim_doc_dist_of(WEIR_SIM_DIST_CONSTANT, frames.interval_ps, 0, 0),
			.start_ps = (uint64_t)(frames.interval_ps * i / nb),
			.stop_ps = UINT64_MAX,
			.size_min_bytes = (uint32_t)frames.bytes,
			.nb_flows = 1,
			.first_flow = (uint32_t)weir_base_doc_u64(weir_base_doc_get(link, "queue")),
		};
		if ((count != NULL ? asprintf(&stream->made_name, "%s-%u", weir_base_doc_name(link),
					     i)
				   : asprintf(&stream->made_name, "%s", weir_base_doc_name(link))) <
			0) {
			stream->made_name = NULL;
			return -ENOMEM;
		}
		stream->name = stream->made_name;
		model->nb_streams++;
	}
	return 0;
}

int
sim_doc_read_links(struct weir_sim_model *model, const struct weir_base_doc_value *application)
{
	const struct weir_base_doc_value *links = weir_base_doc_get(application, "links"), *link,
					 *value;
	struct frames frames;
	uint32_t port, i;

	for (i = 0; model->graph.nb_workers > 0 && i < weir_base_doc_count(links); i++) {
		link = weir_base_doc_at(links, i);
		value = weir_base_doc_get(link, "port");
		port = value != NULL ? sim_doc_port(model, weir_base_doc_str(value)) : SIM_NONE;
		frames = read_frames(application, link);
		if (port == SIM_NONE || !model->graph.ports[port].is_receiver)
			weir_base_doc_error_add(model->doc, value != NULL ? value : link,
				"frames of link '%s' come from no receiver; expected a 'port' of "
				"platform.receivers",
				weir_base_doc_name(link));
		else if (frames.bytes == 0 || frames.interval_ps <= 0)
			weir_base_doc_error_add(model->doc, link,
				"%s of link '%s' is not said by its format; expected '%s' in its "
				"'buffer'",
				frames.bytes == 0 ? "the size of frames" : "the rate",
				weir_base_doc_name(link),
				frames.bytes == 0 ? "frame_size" : "rate");
		else if (weir_base_doc_u64(weir_base_doc_get(link, "queue")) >=
			 model->graph.ports[port].nb_rx)
			weir_base_doc_error_add(model->doc, weir_base_doc_get(link, "queue"),
				"receiver '%s' has no such queue; expected 0 to %u",
				model->graph.ports[port].name, model->graph.ports[port].nb_rx - 1);
		else if (add_link(model, link, port, frames) < 0)
			return -ENOMEM;
	}
	return 0;
}
