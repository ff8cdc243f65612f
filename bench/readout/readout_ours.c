/* SPDX-License-Identifier: BSD-3-Clause */

/* Ours: the library's receiver, links with all checks, and latency buffers. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include <weir_readout_handler.h>
#include <weir_readout_receiver.h>

#include "readout_bench.h"

#define RX_RING 512

struct ours {
	struct readout_side side; /* first */
	struct weir_readout_receiver *receiver;
	struct weir_readout_registry *registry;
	struct weir_readout_link *links[READOUT_LINKS_MAX];
	struct weir_readout_handler *handlers[READOUT_LINKS_MAX];
	struct weir_readout_window *window;
	struct weir_readout_buffer_info info;
	uint64_t nb_released; /* without buffers */
};

/* ---- turns ---- */

static void
receive_all(struct ours *ours)
{
	while (!rte_ring_empty(ours->side.ring))
		weir_readout_receiver_poll(ours->receiver, 0, weir_base_time_ns());
}

static void
run_callback(struct readout_side *side, struct readout_turn *turn)
{
	const uint64_t begin = weir_base_cycles();

	receive_all((struct ours *)side);
	turn->receive = weir_base_cycles() - begin;
	turn->consume = 0;
}

/* Once around all queues. @return frames */
static uint32_t
sweep(void *arg)
{
	struct ours *ours = arg;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < ours->side.traffic->nb_links; i++)
		sum += weir_readout_handler_poll(ours->handlers[i]);
	return sum;
}

/* Queues have room for all frames of a turn: the receiver never waits. */
static void
run_queue(struct readout_side *side, struct readout_turn *turn)
{
	uint64_t begin;

	readout_consumer_begin(sweep, side);
	begin = weir_base_cycles();
	receive_all((struct ours *)side);
	turn->receive = weir_base_cycles() - begin;
	turn->consume = readout_consumer_end();
}

/* ---- what came of them ---- */

static void
look_at_link(struct ours *ours, uint32_t link)
{
	struct readout_side *side = &ours->side;
	struct weir_readout_handler_stats stats;
	uint64_t dropped = 0, faults = 0;

	weir_readout_handler_stats(ours->handlers[link], &stats);
	for (unsigned int i = 0; i < WEIR_READOUT_HANDLER_NB_DROPS; i++)
		dropped += stats.dropped[i];
	for (unsigned int i = 0; i < WEIR_READOUT_NB_FAULTS; i++)
		faults += stats.link.faults[i].count;
	if (stats.received != side->nb_frames || dropped + faults + stats.held > 0 ||
		stats.buffered + stats.delivered != side->nb_frames)
		readout_wrong(side,
			"link %" PRIu32 ": of %" PRIu64 " frames %" PRIu64
			" were received, %" PRIu64 " dropped, %" PRIu64 " have faults, %" PRIu64
			" are or were in the buffer",
			link, side->nb_frames, stats.received, dropped, faults,
			stats.buffered + stats.delivered);
	side->bytes_copied += stats.buffer.received_bytes;
}

static void
look_at_receiver(struct ours *ours)
{
	struct weir_readout_receiver_queue_stats stats;
	const uint64_t given = ours->side.nb_frames * ours->side.traffic->nb_links;

	if (weir_readout_receiver_queue_stats(ours->receiver, 0, &stats) < 0 ||
		stats.received != given || stats.dispatch.links != given)
		readout_wrong(&ours->side,
			"of %" PRIu64 " packets %" PRIu64 " were received, %" PRIu64
			" given to links",
			given, stats.received, stats.dispatch.links);
}

/* Without buffers the links' checks say whether frames came as they were sent. */
static uint64_t
look_at_released(struct readout_side *side, uint64_t first)
{
	struct ours *ours = (struct ours *)side;
	const struct readout_traffic *traffic = side->traffic;
	struct weir_readout_link_stats stats;
	uint64_t nb = 0;

	look_at_receiver(ours);
	for (uint32_t link = 0; link < traffic->nb_links; link++) {
		uint64_t faults = 0;

		weir_readout_link_stats(ours->links[link], &stats);
		for (unsigned int i = 0; i < WEIR_READOUT_NB_FAULTS; i++)
			faults += stats.faults[i].count;
		if (stats.delivered != side->nb_frames || faults > 0)
			readout_wrong(side,
				"link %" PRIu32 ": of %" PRIu64 " frames %" PRIu64
				" were released, %" PRIu64 " have faults",
				link, side->nb_frames, stats.delivered, faults);
		nb += stats.delivered;
	}
	if (nb != ours->nb_released)
		readout_wrong(side, "%" PRIu64 " frames came to the callback", ours->nb_released);
	return nb - first * traffic->nb_links;
}

static uint64_t
look(struct readout_side *side, uint64_t first)
{
	struct ours *ours = (struct ours *)side;
	const struct readout_traffic *traffic = side->traffic;
	struct weir_readout_window *window = ours->window;
	uint64_t kept = 0;

	look_at_receiver(ours);
	side->bytes_copied = 0;
	for (uint32_t link = 0; link < traffic->nb_links; link++) {
		look_at_link(ours, link);
		if (weir_readout_window_find(weir_readout_handler_buffer(ours->handlers[link]),
			    readout_timestamp(traffic, first),
			    readout_timestamp(traffic, side->nb_frames), window) < 0)
			continue;
		for (uint32_t i = 0; i < window->nb_frames; i++)
			kept += readout_is_frame(
				traffic, link, first + i, window->frames[i].iov_base);
		weir_readout_window_release(window);
	}
	return kept;
}

/* ---- making it ---- */

static int
make_receiver(struct ours *ours)
{
	struct weir_readout_receiver_port_config port;
	const struct weir_readout_receiver_config config = {
		.ports = &port, .nb_ports = 1, .nb_pollers = 1};

	weir_readout_receiver_port_defaults(&port);
	port.pci_addr = ours->side.device;
	port.burst_size = (uint16_t)ours->side.traffic->burst;
	port.rx_ring_size = port.tx_ring_size = RX_RING;
	port.num_mbufs = 2 * RX_RING; /* that the port has no use for */
	ours->receiver = weir_readout_receiver_create(&config);
	return ours->receiver == NULL ? -rte_errno : 0;
}

static void
release(void *arg, const void *items, uint32_t nb)
{
	((struct ours *)arg)->nb_released += nb;
	weir_readout_item_release(items, nb);
}

static int
make_sink(struct ours *ours, const char *name)
{
	const struct weir_readout_sink_config sink = {
		.name = name, .type = &weir_readout_item_type, .receive = release, .arg = ours};

	return weir_readout_sink_create(ours->registry, &sink) == NULL ? -rte_errno : 0;
}

static int
make_handler(struct ours *ours, uint32_t i, enum readout_way way, double history_s)
{
	const uint32_t queue_size = way == READOUT_QUEUE ? ours->side.traffic->slice : 0;

	ours->handlers[i] = weir_readout_handler_create(
		ours->registry, &(struct weir_readout_handler_config){.link = ours->links[i],
					.queue_size = queue_size,
					.buffer.history_s = history_s});
	return ours->handlers[i] == NULL ? -rte_errno : 0;
}

static int
make_link(struct ours *ours, uint32_t i, enum readout_way way, double history_s)
{
	const struct readout_traffic *traffic = ours->side.traffic;
	char name[32];
	int rc;

	snprintf(name, sizeof(name), "link%" PRIu32, i);
	ours->links[i] = weir_readout_link_create(
		ours->registry, &(struct weir_readout_link_config){.name = name,
					.sink = name,
					.format = &traffic->format,
					.key = readout_key(i)});
	if (ours->links[i] == NULL)
		return -rte_errno;
	rc = way == READOUT_RELEASED ? make_sink(ours, name)
				     : make_handler(ours, i, way, history_s);
	if (rc < 0)
		return rc;
	return weir_readout_dispatch_add(
		weir_readout_receiver_dispatch(ours->receiver), 0, ours->links[i]);
}

static int
make(struct ours *ours, enum readout_way way, uint64_t buffer_bytes)
{
	const struct readout_traffic *traffic = ours->side.traffic;
	const uint64_t frames = buffer_bytes / traffic->nb_links / traffic->frame_bytes;
	const double history_s =
		(double)(frames * traffic->format.step_ticks) / (double)traffic->format.clock_hz;
	int rc;

	ours->registry = weir_readout_registry_create();
	ours->window = weir_readout_window_create(traffic->slice, 2);
	if (ours->registry == NULL || ours->window == NULL)
		return -ENOMEM;
	rc = make_receiver(ours);
	for (uint32_t i = 0; i < traffic->nb_links && rc == 0; i++)
		rc = make_link(ours, i, way, history_s);
	if (rc < 0)
		return rc;
	if (way != READOUT_RELEASED)
		weir_readout_buffer_info(
			weir_readout_handler_buffer(ours->handlers[0]), &ours->info);
	return weir_readout_registry_bind(ours->registry);
}

struct readout_side *
readout_ours_create(struct readout_traffic *traffic, enum readout_way way, uint64_t buffer_bytes)
{
	struct ours *ours = calloc(1, sizeof(*ours));
	int rc;

	if (ours == NULL)
		return NULL;
	ours->side = (struct readout_side){
		.traffic = traffic,
		.name = "ours",
		.nb_threads = way == READOUT_QUEUE ? 2 : 1,
		.run = way == READOUT_QUEUE ? run_queue : run_callback,
		.look = way == READOUT_RELEASED ? look_at_released : look,
	};
	rc = readout_port_open(&ours->side, "ours");
	if (rc == 0)
		rc = make(ours, way, buffer_bytes);
	if (rc == 0)
		return &ours->side;
	readout_ours_free(&ours->side);
	rte_errno = -rc;
	return NULL;
}

void
readout_ours_free(struct readout_side *side)
{
	struct ours *ours = (struct ours *)side;

	if (side == NULL)
		return;
	if (ours->receiver != NULL)
		weir_readout_receiver_free(ours->receiver);
	for (uint32_t i = 0; i < READOUT_LINKS_MAX; i++)
		weir_readout_link_free(ours->links[i]);
	for (uint32_t i = 0; i < READOUT_LINKS_MAX; i++)
		weir_readout_handler_free(ours->handlers[i]);
	weir_readout_registry_free(ours->registry);
	weir_readout_window_free(ours->window);
	readout_port_close(side);
	free(ours);
}

const struct weir_readout_buffer *
readout_ours_buffer(const struct readout_side *side, uint32_t link)
{
	return weir_readout_handler_buffer(((const struct ours *)side)->handlers[link]);
}

uint32_t
readout_ours_cells(const struct readout_side *side)
{
	return ((const struct ours *)side)->info.nb_cells;
}

uint32_t
readout_ours_history(const struct readout_side *side)
{
	const struct ours *ours = (const struct ours *)side;

	return (uint32_t)(ours->info.history_ticks / side->traffic->format.step_ticks);
}
