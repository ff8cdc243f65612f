/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports: what comes waits in receive rings for workers, what they send waits in transmit rings for the port's link,
 * which takes of one ring after the other. A descriptor is in use until its packet is sent.
 */
#include "sim.h"

static inline struct sim_queue *
counts_of(struct sim *sim, uint32_t ring)
{
	return &sim->queues[sim->model->nb_queues + ring];
}

static inline bool
is_full(struct sim *sim, uint32_t ring)
{
	return counts_of(sim, ring)->length.value >= sim->model->graph.rings[ring].capacity;
}

static void
add(struct sim *sim, uint32_t ring, uint32_t packet)
{
	struct sim_queue *const counts = counts_of(sim, ring);

	counts->arrived++;
	sim->packets.all[packet].entered_ps = sim->now_ps;
	weir_sim_level_set(&counts->length, sim->now_ps, counts->length.value + 1);
	packet_list_add(&sim->packets, &sim->graph.rings[ring], packet);
}

/* What a ring has first leaves it. */
static uint32_t
take(struct sim *sim, uint32_t ring)
{
	struct sim_queue *const counts = counts_of(sim, ring);
	const uint32_t packet = packet_list_take(&sim->packets, &sim->graph.rings[ring]);
	const uint64_t entered_ps = sim->packets.all[packet].entered_ps;

	counts->taken++;
	sim_times_add(&counts->wait, sim->now_ps - entered_ps);
	counts->waited_ps += sim_counted_ps(sim, entered_ps);
	weir_sim_level_set(&counts->length, sim->now_ps, counts->length.value - 1);
	return packet;
}

static void
refuse(struct sim *sim, uint32_t ring)
{
	counts_of(sim, ring)->arrived++;
	counts_of(sim, ring)->dropped++;
}

void
sim_ring_receive(struct sim *sim, uint32_t ring, uint32_t packet)
{
	if (is_full(sim, ring)) {
		refuse(sim, ring);
		sim_packet_dropped(sim, packet, sim->model->graph.rings[ring].reason);
		return;
	}
	add(sim, ring, packet);
	if (counts_of(sim, ring)->length.value == 1)
		sim_worker_wake(sim, ring);
}

void
sim_port_receive(struct sim *sim, uint32_t index, uint32_t packet)
{
	const struct model_port *const port = &sim->model->graph.ports[index];

	sim_ring_receive(sim, port->first_rx + sim->packets.all[packet].flow % port->nb_rx, packet);
}

/* As receivers do it: a full burst makes the next one twice as large, several small ones in a row half. */
void
sim_ring_adapt(struct sim *sim, uint32_t ring, uint32_t nb, uint64_t nb_looks)
{
	const uint32_t most = sim->model->graph.ports[sim->model->graph.rings[ring].port].rx_burst;
	const uint32_t least =
		most < WEIR_BASE_ADAPTIVE_BURST_MIN ? most : WEIR_BASE_ADAPTIVE_BURST_MIN;
	struct sim_burst *const burst = &sim->graph.bursts[ring];

	if (nb >= burst->nb / 2 && nb > 0) {
		if (nb == burst->nb)
			burst->nb = 2 * burst->nb < most ? 2 * burst->nb : most;
		burst->nb_small = 0;
		return;
	}
	nb_looks += burst->nb_small;
	for (; nb_looks >= WEIR_BASE_ADAPTIVE_BURST_SMALL && burst->nb > least;
		nb_looks -= WEIR_BASE_ADAPTIVE_BURST_SMALL)
		burst->nb = burst->nb / 2 > least ? burst->nb / 2 : least;
	burst->nb_small = (uint32_t)(nb_looks % WEIR_BASE_ADAPTIVE_BURST_SMALL);
}

void
sim_ring_take(struct sim *sim, uint32_t ring, uint32_t nb, struct sim_vector *vector)
{
	uint32_t packet;

	for (; nb > 0 && sim->graph.rings[ring].head != SIM_NONE; nb--) {
		packet = take(sim, ring);
		sim_vector_add(sim, vector, packet);
	}
}

/* The link, which is free, begins with the first packet of a ring. */
static void
transmit(struct sim *sim, uint32_t index, uint32_t ring)
{
	const struct model_port *const model = &sim->model->graph.ports[index];
	struct sim_port *const port = &sim->graph.ports[index];
	const double bytes = (double)sim->packets.all[sim->graph.rings[ring].head].size_bytes +
			     model->overhead_bytes;

	port->packet = sim->graph.rings[ring].head;
	port->ring = ring;
	sim_schedule(sim, sim->now_ps + sim_round_ps(bytes * model->per_byte), EVENT_PRIORITY_DONE,
		EVENT_TARGET(EVENT_PORT, index));
}

bool
sim_port_has_room(struct sim *sim, uint32_t index, uint32_t worker)
{
	const struct model_port *const model = &sim->model->graph.ports[index];

	return model->nb_tx == 0 || !is_full(sim, model->first_tx + worker);
}

void
sim_port_refuse(struct sim *sim, uint32_t index, uint32_t worker, uint32_t packet)
{
	const uint32_t ring = sim->model->graph.ports[index].first_tx + worker;

	refuse(sim, ring);
	sim->packets.all[packet].to = SIM_TO_DROP | sim->model->graph.rings[ring].reason;
}

void
sim_port_send(struct sim *sim, uint32_t index, uint32_t worker, uint32_t packet)
{
	const struct model_port *const model = &sim->model->graph.ports[index];
	const uint32_t ring = model->first_tx + worker;

	if (model->nb_tx == 0) {
		sim_packet_delivered(sim, packet);
		return;
	}
	add(sim, ring, packet);
	if (sim->graph.ports[index].packet == SIM_NONE)
		transmit(sim, index, ring);
}

void
sim_port_event(struct sim *sim, uint32_t index)
{
	const struct model_port *const model = &sim->model->graph.ports[index];
	struct sim_port *const port = &sim->graph.ports[index];
	const uint32_t sent = port->ring, packet = take(sim, sent);
	const double bytes = (double)sim->packets.all[packet].size_bytes + model->overhead_bytes;
	uint32_t ring, i;

	sim->packets.all[packet].service_ps += sim_round_ps(bytes * model->per_byte);
	port->packet = SIM_NONE;
	for (i = 1; i <= model->nb_tx; i++) {
		ring = model->first_tx + (sent - model->first_tx + i) % model->nb_tx;
		if (sim->graph.rings[ring].head != SIM_NONE) {
			transmit(sim, index, ring);
			break;
		}
	}
	sim_packet_delivered(sim, packet);
	sim_worker_unblock(sim, sim->model->graph.rings[sent].worker);
}
