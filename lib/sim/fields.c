/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that say what they are: of emulated links where something is done to some of them.
 *
 *   made --> faults --> key --> its link --> checked --> functions (inline.c) --> buffer (timed.c)
 *                        |          |
 *                        |          `-> wrong_size, duplicate
 *                        `-> unknown_stream, truncated
 */
#include "sim.h"

#define WORD_BYTES 8 /* that fields are read from */

static inline const struct model_fields *
fields_of(const struct sim *sim, uint32_t link)
{
	return &sim->model->links[link].fields;
}

struct sim_frame
sim_fields_make(const struct sim *sim, uint32_t link)
{
	const struct weir_base_line_config *const line = &fields_of(sim, link)->line;
	const uint64_t number = sim->links[link].next;

	return (struct sim_frame){
		.timestamp = (sim->links[link].jumped_ticks + sim_link_ticks(sim, link, number)) &
			     UINT64_MAX >> (64 - line->timestamp_bits),
		.sequence =
			(line->sequence_modulus > 0 ? number % line->sequence_modulus : number) &
			fields_of(sim, link)->sequence_mask,
		.key = fields_of(sim, link)->key,
		.link = link,
	};
}

/* The link that has a key, among those of the thread that makes a link's frames. */
static uint32_t
find_key(const struct sim *sim, uint32_t link, uint64_t key)
{
	const struct model_fields *const own = fields_of(sim, link);
	const uint64_t first = fields_of(sim, own->first)->key;

	if (own->key_mask == 0)
		return link;
	key &= own->key_mask;
	if (key < first || key - first >= own->nb ||
		(key - first) % own->nb_threads != (link - own->first) % own->nb_threads)
		return SIM_NONE;
	return own->first + (uint32_t)(key - first);
}

void
sim_fields_distort(struct sim *sim, uint32_t link, enum weir_base_fault kind, uint64_t amount,
	struct sim_frame *frame)
{
	const struct model_fields *const own = fields_of(sim, link);

	switch (kind) {
	case WEIR_BASE_FAULT_STREAM:
		frame->key += amount;
		frame->link = find_key(sim, link, frame->key);
		break;
	case WEIR_BASE_FAULT_SEQUENCE:
		frame->sequence = (frame->sequence + amount) & own->sequence_mask;
		break;
	case WEIR_BASE_FAULT_JUMP:
		sim->links[link].jumped_ticks += amount;
		frame->timestamp += amount;
		break;
	case WEIR_BASE_FAULT_TIMESTAMP:
		frame->timestamp += amount;
		break;
	default:
		break;
	}
	frame->timestamp &= UINT64_MAX >> (64 - own->line.timestamp_bits);
}

uint32_t
sim_link_of(const struct sim *sim, uint32_t packet)
{
	const uint32_t link = sim->model->streams[sim->packets.all[packet].stream].link;

	if (link == SIM_NONE || !sim->model->links[link].has_fields)
		return link;
	return sim->frames[packet].link;
}

/* Does it say whose it is? One that is too short for that, but long enough for a frame, has zeros there. */
static bool
has_key(const struct model_fields *fields, uint32_t bytes)
{
	return bytes >= fields->key_bytes || (bytes >= fields->bytes_min && bytes < WORD_BYTES);
}

/* What its fields say of the link's stream, whose next frame it is. */
static void
check(struct sim *sim, struct sim_frame *frame)
{
	const struct weir_base_line_point point = {frame->sequence, frame->timestamp};
	const struct weir_base_line_verdict verdict =
		weir_base_line_take(&sim->links[frame->link].line, &point);

	frame->faults = verdict.faults;
	frame->missing = verdict.missing;
}

static bool
is_dropped(const struct sim *sim, const struct sim_frame *frame)
{
	return (frame->faults & 1u << WEIR_BASE_LINE_DUPLICATE) != 0 &&
	       fields_of(sim, frame->link)->drops_duplicates;
}

bool
sim_fields_look(struct sim *sim, uint32_t packet)
{
	struct sim_frame *const frame = &sim->frames[packet];

	if (!has_key(fields_of(sim, frame->link), sim->packets.all[packet].size_bytes))
		return false;
	check(sim, frame);
	return !is_dropped(sim, frame);
}

static void
count(struct sim_link *link, const struct sim_frame *frame)
{
	uint32_t faults;

	link->missing += frame->missing;
	for (faults = frame->faults; faults != 0; faults &= faults - 1)
		link->seen[__builtin_ctz(faults)]++;
}

bool
sim_fields_receive(struct sim *sim, uint32_t packet)
{
	const uint32_t from = sim->model->streams[sim->packets.all[packet].stream].link;
	const uint32_t link = sim->frames[packet].link;

	if (!has_key(fields_of(sim, from), sim->packets.all[packet].size_bytes)) {
		sim_packet_dropped(sim, packet, fields_of(sim, from)->truncated);
		return false;
	}
	if (link == SIM_NONE) {
		sim_packet_dropped(sim, packet, fields_of(sim, from)->unknown_stream);
		return false;
	}
	sim->links[link].received++;
	if (!sim_link_size_fits(sim, link, packet)) {
		sim_link_drop(sim, link, packet, SIM_LINK_WRONG_SIZE);
		return false;
	}
	if (sim->model->links[link].functions == SIM_NONE)
		check(sim, &sim->frames[packet]);
	count(&sim->links[link], &sim->frames[packet]);
	if (!is_dropped(sim, &sim->frames[packet]))
		return true;
	sim_link_drop(sim, link, packet, SIM_LINK_DUPLICATE);
	return false;
}
