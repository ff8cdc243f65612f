/* SPDX-License-Identifier: BSD-3-Clause */
/* Links, and the frames that their buffers hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static inline uint64_t
words_of(const struct model_link *link)
{
	return (link->held + 63) / 64;
}

bool
sim_links_init(struct sim *sim, uint64_t seed, unsigned int replication)
{
	const struct weir_sim_model *const model = sim->model;
	uint32_t i;

	sim->fragments.free = SIM_NONE;
	sim->links = calloc(model->nb_links + 1, sizeof(*sim->links));
	sim->requests = calloc(model->nb_requests + 1, sizeof(*sim->requests));
	sim->marks = calloc(model->nb_asked + 1, sizeof(*sim->marks));
	if (sim->links == NULL || sim->requests == NULL || sim->marks == NULL ||
		!sim_followers_init(sim, seed, replication) ||
		!sim_functions_init(sim, seed, replication) ||
		!sim_hits_init(sim, seed, replication))
		return false;
	for (i = 0; i < model->nb_links; i++) {
		struct sim_link *const link = &sim->links[i];
		char *name;

		link->withheld = link->waiting = link->waiting_last = SIM_NONE;
		if (model->links[i].has_fields) {
			weir_base_line_init(&link->line, &model->links[i].fields.line);
			if (!sim_timed_init(sim, i))
				return false;
		} else {
			link->there = calloc(words_of(&model->links[i]), sizeof(*link->there));
			if (link->there == NULL)
				return false;
		}
		if (model->links[i].followers != SIM_NONE) {
			link->log = calloc(model->links[i].log_mask + 1, sizeof(*link->log));
			if (link->log == NULL)
				return false;
		}
		if (asprintf(&name, "link/%s/faults", model->links[i].name) < 0)
			return false;
		weir_sim_random_init(&link->faults, seed, replication, name);
		free(name);
	}
	return true;
}

void
sim_links_free(struct sim *sim)
{
	uint32_t i;

	for (i = 0; sim->links != NULL && i < sim->model->nb_links; i++) {
		free(sim->links[i].there);
		free(sim->links[i].log);
		sim_timed_free(&sim->links[i]);
	}
	sim_followers_free(sim);
	free(sim->function_random);
	free(sim->finders);
	free(sim->links);
	free(sim->requests);
	free(sim->marks);
	free(sim->fragments.all);
}

uint64_t
sim_link_ticks(const struct sim *sim, uint32_t link, uint64_t number)
{
	const struct model_link *const model = &sim->model->links[link];

	return (uint64_t)((weir_sim_u128)number * model->ticks / model->per);
}

uint64_t
sim_link_oldest(const struct sim *sim, uint32_t link)
{
	const struct sim_link *const of = &sim->links[link];
	const uint64_t held = sim->model->links[link].held;

	return of->newest >= of->first + held ? of->newest - held + 1 : of->first;
}

/* The bit of a number. */
static inline uint64_t *
word_of(const struct sim *sim, uint32_t link, uint64_t number, uint64_t *bit)
{
	const uint64_t slot = number % sim->model->links[link].held;

	*bit = UINT64_C(1) << slot % 64;
	return &sim->links[link].there[slot / 64];
}

static bool
is_there(const struct sim *sim, uint32_t link, uint64_t number)
{
	uint64_t bit;
	const uint64_t *const word = word_of(sim, link, number, &bit);

	return (*word & bit) != 0;
}

uint64_t
sim_link_count(const struct sim *sim, uint32_t link, uint64_t begin, uint64_t end)
{
	uint64_t nb = 0, number;

	for (number = begin; number < end; number++)
		nb += is_there(sim, link, number);
	return nb;
}

uint64_t
sim_link_timestamp(const struct sim *sim, uint32_t link, uint64_t number)
{
	const struct sim_timed *const timed = sim->links[link].timed;

	return timed != NULL ? number + timed->origin : sim_link_ticks(sim, link, number);
}

bool
sim_link_has(const struct sim *sim, uint32_t link, uint64_t number)
{
	if (sim->links[link].timed != NULL)
		return sim_timed_has(sim, link, number);
	return sim->links[link].newest - number < sim->model->links[link].held &&
	       is_there(sim, link, number);
}

/* Time goes on to a number: places of those before it are of others now. */
static void
advance(struct sim *sim, uint32_t link, uint64_t number)
{
	struct sim_link *const of = &sim->links[link];
	const uint64_t held = sim->model->links[link].held;
	uint64_t expired = 0, at, bit, *word;

	for (at = number - of->newest > held ? number - held + 1 : of->newest + 1; at <= number;
		at++) {
		word = word_of(sim, link, at, &bit);
		expired += (*word & bit) != 0;
		*word &= ~bit;
	}
	of->newest = number;
	of->expired += expired;
	if (expired > 0)
		weir_sim_level_set(&of->buffered, sim->now_ps, of->buffered.value - expired);
}

/* Frames of later numbers that are there. */
static bool
is_too_late(const struct sim *sim, uint32_t link, uint64_t number)
{
	const struct model_link *const model = &sim->model->links[link];
	const uint64_t newest = sim->links[link].newest;

	if (newest >= number && newest - number >= model->held)
		return true;
	return !model->has_step && newest > number && newest - number > model->reorder &&
	       sim_link_count(sim, link, number + 1, newest + 1) > model->reorder;
}

/* It gets its place. */
static void
store(struct sim *sim, uint32_t link, uint64_t number)
{
	struct sim_link *const of = &sim->links[link];
	uint64_t bit, *const word = word_of(sim, link, number, &bit);

	*word |= bit;
	of->stored++;
	of->late += number < of->newest;
	if (number < of->first)
		of->first = number; /* the first one was not the first */
	weir_sim_level_set(&of->buffered, sim->now_ps, of->buffered.value + 1);
}

/* The reason that a frame of a file is dropped for before its link's buffer, or SIM_NONE. */
static inline uint32_t
reason_of(const struct sim *sim, uint32_t packet)
{
	const struct sim_packet *const frame = &sim->packets.all[packet];
	const struct model_frame *const frames = sim->model->streams[frame->stream].capture.frames;

	return frames != NULL ? frames[frame->number].reason : SIM_NONE;
}

bool
sim_link_size_fits(const struct sim *sim, uint32_t link, uint32_t packet)
{
	const struct model_link *const model = &sim->model->links[link];
	const uint32_t bytes = sim->packets.all[packet].size_bytes;

	if (model->has_fields &&
		(bytes < model->fields.bytes_min || bytes > model->fields.bytes_max))
		return false;
	return (model->bytes == 0 || bytes == model->bytes) && reason_of(sim, packet) == SIM_NONE;
}

void
sim_link_drop(struct sim *sim, uint32_t link, uint32_t packet, enum sim_link_drop why)
{
	const struct model_link *const model = &sim->model->links[link];
	const uint32_t reasons[SIM_LINK_DROPS] = {
		[SIM_LINK_WRONG_SIZE] = model->wrong_size,
		[SIM_LINK_DUPLICATE] = model->duplicate,
		[SIM_LINK_SLOT_TAKEN] = model->fields.slot_taken,
		[SIM_LINK_TOO_LATE] = model->too_late,
		[SIM_LINK_FAR_OFF] = model->fields.far_off,
		[SIM_LINK_NO_MEMORY] = model->fields.no_memory,
	};

	sim->links[link].dropped[why]++;
	sim_packet_dropped(sim, packet, reasons[why]);
}

/* A packet of no link leaves, or is dropped for it. */
static void
put_nowhere(struct sim *sim, uint32_t packet)
{
	const uint32_t reason = reason_of(sim, packet);

	if (reason == SIM_NONE)
		sim_packet_delivered(sim, packet);
	else
		sim_packet_dropped(sim, packet, reason);
}

void
sim_link_put(struct sim *sim, uint32_t packet)
{
	const struct sim_packet *const frame = &sim->packets.all[packet];
	const uint32_t index = sim_link_of(sim, packet);
	const uint64_t number = frame->number;
	struct sim_link *link;

	if (index == SIM_NONE) {
		put_nowhere(sim, packet);
		return;
	}
	link = &sim->links[index];
	if (link->timed != NULL) {
		if (sim->model->links[index].room != 0 &&
			frame->size_bytes > sim->model->links[index].room)
			sim_link_drop(sim, index, packet, SIM_LINK_WRONG_SIZE);
		else
			sim_timed_put(sim, index, packet);
		return;
	}
	link->received++;
	if (!sim_link_size_fits(sim, index, packet)) {
		sim_link_drop(sim, index, packet, SIM_LINK_WRONG_SIZE);
		return;
	}
	if (!link->has_begun) {
		link->has_begun = true;
		link->first = link->newest = number;
	} else if (is_too_late(sim, index, number)) {
		sim_link_drop(sim, index, packet, SIM_LINK_TOO_LATE);
		return;
	} else if (number <= link->newest && is_there(sim, index, number)) {
		sim_link_drop(sim, index, packet, SIM_LINK_DUPLICATE);
		return;
	}
	if (number > link->newest)
		advance(sim, index, number);
	store(sim, index, number);
	sim_packet_delivered(sim, packet);
	if (link->log != NULL)
		sim_followers_tell(sim, index, number);
	if (number == link->newest)
		sim_requests_look(sim, index);
}

void
sim_link_receive(struct sim *sim, uint32_t packet)
{
	const uint32_t from = sim->model->streams[sim->packets.all[packet].stream].link;
	uint32_t link;

	if (from != SIM_NONE && sim->model->links[from].has_fields &&
		!sim_fields_receive(sim, packet))
		return;
	link = sim_link_of(sim, packet);
	if (link != SIM_NONE && sim_link_size_fits(sim, link, packet) &&
		!sim_functions_pass(sim, link, packet))
		return;
	if (link != SIM_NONE && sim->model->links[link].ring != SIM_NONE)
		sim_ring_receive(sim, sim->model->links[link].ring, packet);
	else
		sim_link_put(sim, packet);
}

void
sim_link_receive_now(struct sim *sim, uint32_t packet)
{
	sim_functions_look(sim, packet);
	sim_link_receive(sim, packet);
}

void
sim_links_restart(struct sim *sim)
{
	uint32_t i;

	for (i = 0; i < sim->model->nb_links; i++) {
		struct sim_link *const link = &sim->links[i];

		weir_sim_level_restart(&link->buffered, sim->now_ps);
		link->buffered_at_start = link->buffered.value;
		link->received = link->stored = link->late = link->expired = 0;
		link->evicted = link->jumps = link->missing = 0;
		memset(link->seen, 0, sizeof(link->seen));
		memset(link->dropped, 0, sizeof(link->dropped));
	}
	for (i = 0; i < sim->model->nb_requests; i++) {
		struct sim_request *const request = &sim->requests[i];

		request->waiting_at_start = request->waiting;
		request->windows = request->asked = request->refused = 0;
		request->skipped = request->restarts = 0;
		request->frames = request->bytes = 0;
		memset(request->answered, 0, sizeof(request->answered));
		request->latency_ps = (struct weir_sim_tally){0};
	}
	sim_followers_restart(sim);
}

static uint64_t
count_there(const struct sim *sim, uint32_t link)
{
	uint64_t there = 0, word;

	for (word = 0; word < words_of(&sim->model->links[link]); word++)
		there += (uint64_t)__builtin_popcountll(sim->links[link].there[word]);
	return there;
}

void
sim_links_check(struct sim *sim)
{
	uint64_t there, answered, waiting = 0;
	uint32_t i;

	for (i = 0; i < sim->model->nb_links; i++) {
		struct sim_link *const link = &sim->links[i];

		there = link->timed != NULL ? sim_timed_count(sim, i) : count_there(sim, i);
		weir_sim_level_advance(&link->buffered, sim->now_ps);
		if (there != link->buffered.value ||
			link->buffered_at_start + link->stored !=
				link->expired + link->evicted + link->buffered.value)
			sim->broken = "flow balance of a buffer";
	}
	for (i = 0; i < sim->model->nb_requests; i++) {
		const struct sim_request *const request = &sim->requests[i];
		unsigned int answer;

		for (answered = 0, answer = 0; answer < SIM_ANSWERS; answer++)
			answered += request->answered[answer];
		if (request->waiting_at_start + request->asked !=
			answered + request->refused + request->waiting)
			sim->broken = "balance of fragments";
		waiting += request->waiting;
	}
	if (waiting != sim->fragments.waiting)
		sim->broken = "balance of fragments";
	sim_followers_check(sim);
}
