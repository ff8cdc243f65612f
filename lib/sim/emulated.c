/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of emulated links: number n is due after n / rate, computed from n, so that there is no drift; and what is done
 * to some of them, in the order in which the emulator does it.
 */
#include "sim.h"

#define PS_PER_S UINT64_C(1000000000000)

static inline struct sim_link *
link_of(struct sim *sim, uint32_t stream)
{
	return &sim->links[sim->model->streams[stream].link];
}

static uint64_t
due_ps(const struct model_frames *frames, uint64_t number)
{
	if (number > frames->last)
		return SIM_TIME_END_PS;
	return (uint64_t)((weir_sim_u128)number * frames->seconds * PS_PER_S / frames->frames);
}

static bool
is_due(const struct model_fault *fault, struct sim_link *link)
{
	uint64_t after = link->next - fault->first;

	if (link->next < fault->first)
		return false;
	if (fault->chance > 0)
		return weir_sim_random_open(&link->faults) < fault->chance;
	if (fault->period > 0)
		after %= fault->period;
	return after < fault->length;
}

static inline void
wait_until(struct sim_link *link, uint64_t ps)
{
	if (ps > link->due_ps)
		link->due_ps = ps;
}

/* When the next frame comes: when it is due, or when a stall is over that begins with it, or began before. */
static void
schedule(struct sim *sim, uint32_t index)
{
	const struct model_stream *const model = &sim->model->streams[index];
	const struct model_fault *const faults = sim->model->faults + model->frames.first_fault;
	struct sim_link *const link = link_of(sim, index);
	uint32_t i;

	if (model->count != 0 && link->next == model->count)
		return;
	wait_until(link, due_ps(&model->frames, link->next));
	for (i = 0; i < model->frames.nb_faults; i++)
		if (faults[i].kind == WEIR_BASE_FAULT_STALL && is_due(&faults[i], link))
			wait_until(link, due_ps(&model->frames, link->next + faults[i].amount));
	if (link->due_ps < SIM_TIME_END_PS)
		sim_schedule(sim, link->due_ps, EVENT_PRIORITY_ARRIVAL,
			EVENT_TARGET(EVENT_ARRIVAL, index));
}

void
sim_frames_start(struct sim *sim, uint32_t index)
{
	schedule(sim, index);
}

/* What is done to the next frame. @param[out] bytes  of it that are sent. @return a bit for each kind of fault */
static uint32_t
distort(struct sim *sim, uint32_t index, uint32_t *bytes, struct sim_frame *frame)
{
	const struct model_frames *const frames = &sim->model->streams[index].frames;
	const uint32_t dropped = 1u << WEIR_BASE_FAULT_DROP;
	const uint32_t reordered = 1u << WEIR_BASE_FAULT_REORDER;
	struct sim_link *const link = link_of(sim, index);
	uint32_t done = 0, i;

	for (i = 0; i < frames->nb_faults; i++) {
		const struct model_fault *const fault =
			&sim->model->faults[frames->first_fault + i];

		if (fault->kind == WEIR_BASE_FAULT_STALL || !is_due(fault, link))
			continue;
		/* One that is not sent cannot be late, and one is late at a time. */
		if ((fault->kind == WEIR_BASE_FAULT_DROP && (done & reordered) != 0) ||
			(fault->kind == WEIR_BASE_FAULT_REORDER &&
				((done & (dropped | reordered)) != 0 ||
					link->withheld != SIM_NONE)))
			continue;
		if (fault->kind == WEIR_BASE_FAULT_REORDER)
			link->withheld_until = link->next + fault->amount;
		if (fault->kind == WEIR_BASE_FAULT_TRUNCATE)
			*bytes = (uint32_t)fault->amount;
		sim_fields_distort(
			sim, sim->model->streams[index].link, fault->kind, fault->amount, frame);
		done |= 1u << fault->kind;
	}
	return done;
}

/* @return SIM_NONE: no room */
static uint32_t
make(struct sim *sim, uint32_t index, uint32_t bytes, const struct sim_frame *frame)
{
	const uint32_t packet = sim_traffic_make(sim, index, sim->model->streams[index].first_flow);

	if (packet != SIM_NONE) {
		sim->packets.all[packet].number = link_of(sim, index)->next;
		sim->packets.all[packet].size_bytes = bytes;
		if (sim->model->has_fields)
			sim->frames[packet] = *frame;
	}
	return packet;
}

void
sim_frames_arrive(struct sim *sim, uint32_t index)
{
	const struct model_stream *const model = &sim->model->streams[index];
	struct sim_link *const link = link_of(sim, index);
	uint32_t bytes = model->size_min_bytes, packet, withheld;
	struct sim_frame frame = {0};
	uint32_t done;

	if (sim->model->links[model->link].has_fields)
		frame = sim_fields_make(sim, model->link);
	done = distort(sim, index, &bytes, &frame);
	packet = make(sim, index, bytes, &frame);
	if (packet == SIM_NONE)
		return;
	if ((done & 1u << WEIR_BASE_FAULT_REORDER) != 0)
		link->withheld = packet;
	else if ((done & 1u << WEIR_BASE_FAULT_DROP) != 0)
		sim_packet_dropped(sim, packet, model->frames.dropped);
	else
		sim_traffic_send(sim, index, packet);
	if ((done & 1u << WEIR_BASE_FAULT_DUPLICATE) != 0) {
		packet = make(sim, index, bytes, &frame);
		if (packet == SIM_NONE)
			return;
		sim_traffic_send(sim, index, packet);
	}
	withheld = link->withheld;
	if (withheld != SIM_NONE &&
		(link->withheld_until == link->next || link->next + 1 == model->count)) {
		link->withheld = SIM_NONE;
		sim_traffic_send(sim, index, withheld);
	}
	link->next++;
	schedule(sim, index);
}
