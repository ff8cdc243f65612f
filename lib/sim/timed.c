/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of frames that say what they are: by their timestamps, which may jump. What becomes of a frame is what weir run does with it. */
#include <stdlib.h>

#include "sim.h"

#define EXPIRE_LOOKS 32
#define FIRST_AT     (UINT64_C(1) << 62)

static inline const struct model_fields *
fields_of(const struct sim *sim, uint32_t link)
{
	return &sim->model->links[link].fields;
}

bool
sim_timed_init(struct sim *sim, uint32_t link)
{
	const struct model_fields *const fields = fields_of(sim, link);
	struct sim_timed *const timed = calloc(1, sizeof(*timed));

	sim->links[link].timed = timed;
	if (timed == NULL)
		return false;
	timed->ats = calloc(fields->nb_index, sizeof(*timed->ats));
	timed->bytes = calloc(fields->nb_index, sizeof(*timed->bytes));
	if (fields->is_ordered)
		timed->sequences = calloc(fields->nb_index, sizeof(*timed->sequences));
	return timed->ats != NULL && timed->bytes != NULL &&
	       (!fields->is_ordered || timed->sequences != NULL);
}

void
sim_timed_free(struct sim_link *link)
{
	if (link->timed == NULL)
		return;
	free(link->timed->ats);
	free(link->timed->bytes);
	free(link->timed->sequences);
	free(link->timed);
}

uint64_t
sim_timed_count(const struct sim *sim, uint32_t link)
{
	uint64_t nb = 0, i;

	for (i = 0; i < fields_of(sim, link)->nb_index; i++)
		nb += sim->links[link].timed->ats[i] != 0;
	return nb;
}

static inline uint64_t *
at_of(const struct sim_timed *timed, const struct model_fields *fields, uint64_t position)
{
	return &timed->ats[position & (fields->nb_index - 1)];
}

static inline uint64_t
mask_of(const struct model_fields *fields)
{
	return UINT64_MAX >> (64 - fields->line.timestamp_bits);
}

/* In order of time, the first position that is not before this. */
static uint64_t
lower_bound(const struct sim_timed *timed, const struct model_fields *fields, uint64_t at)
{
	uint64_t low = timed->tail, high = timed->end;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (*at_of(timed, fields, middle) < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool
sim_timed_has(const struct sim *sim, uint32_t link, uint64_t at)
{
	const struct model_fields *const fields = fields_of(sim, link);
	const struct sim_timed *const timed = sim->links[link].timed;
	uint64_t position = at / fields->step_ticks;

	if (fields->is_ordered) {
		position = lower_bound(timed, fields, at);
		if (position == timed->end)
			return false;
	}
	return *at_of(timed, fields, position) == at;
}

/* How much later a timestamp is than what a time says, by the shorter way round. */
static int64_t
after(const struct model_fields *fields, uint64_t timestamp, uint64_t than)
{
	const unsigned int unused = 64 - fields->line.timestamp_bits;

	return (int64_t)((timestamp - than) << unused) >> unused;
}

static int64_t
after_newest(const struct sim_timed *timed, const struct model_fields *fields, uint64_t timestamp)
{
	return after(fields, timestamp, timed->newest_at + timed->origin);
}

static void
count_buffered(struct sim *sim, uint32_t link, int change)
{
	struct sim_link *const of = &sim->links[link];

	of->timed->nb += (uint64_t)(int64_t)change;
	weir_sim_level_set(&of->buffered, sim->now_ps, of->timed->nb);
}

static void
take_away(struct sim *sim, uint32_t link, uint64_t position, uint64_t *counter)
{
	*at_of(sim->links[link].timed, fields_of(sim, link), position) = 0;
	++*counter;
	count_buffered(sim, link, -1);
}

static bool
is_over(const struct sim_timed *timed, const struct model_fields *fields, uint64_t position)
{
	const uint64_t at = *at_of(timed, fields, position);

	return fields->is_ordered ? at < timed->over_at
				  : position < timed->over_at / fields->step_ticks;
}

/* What is over leaves, a bounded piece for each frame. */
static void
expire(struct sim *sim, uint32_t link)
{
	const struct model_fields *const fields = fields_of(sim, link);
	struct sim_timed *const timed = sim->links[link].timed;
	const uint64_t first = timed->over_at / fields->step_ticks;
	unsigned int i;

	if (!fields->is_ordered && first > timed->tail + fields->nb_index)
		timed->tail = first - fields->nb_index;
	for (i = 0;
		i < EXPIRE_LOOKS && timed->tail < timed->end && is_over(timed, fields, timed->tail);
		i++, timed->tail++) {
		const uint64_t at = *at_of(timed, fields, timed->tail);

		if (at != 0 && at < timed->over_at)
			take_away(sim, link, timed->tail, &sim->links[link].expired);
	}
}

/* The oldest one makes room. @return false: there is none */
static bool
evict(struct sim *sim, uint32_t link)
{
	const struct model_fields *const fields = fields_of(sim, link);
	struct sim_link *const of = &sim->links[link];
	struct sim_timed *const timed = of->timed;
	uint64_t position = timed->tail, at;

	while (position < timed->end && *at_of(timed, fields, position) == 0)
		position++;
	if (position == timed->end)
		return false;
	at = *at_of(timed, fields, position);
	if (at >= timed->over_at && fields->is_ordered && at >= timed->evicted_at)
		timed->evicted_at = at + 1;
	take_away(sim, link, position, at < timed->over_at ? &of->expired : &of->evicted);
	return true;
}

/* A place among all frames. @return false: there is none */
static bool
has_room(struct sim *sim, uint32_t link)
{
	const struct model_fields *const fields = fields_of(sim, link);
	const struct sim_timed *const timed = sim->links[link].timed;

	return timed->nb + timed->nb_doubted < fields->nb_cells ||
	       (fields->evicts && evict(sim, link));
}

/* Time has come to this, if it is the latest so far. */
static void
advance(struct sim_timed *timed, const struct model_fields *fields, uint64_t at)
{
	uint64_t begin;

	if (at > timed->newest_at)
		timed->newest_at = at;
	begin = timed->newest_at - fields->live_ticks;
	if (!fields->is_ordered)
		begin = (begin / fields->step_ticks + 1) * fields->step_ticks;
	if (at < timed->start_at && at >= begin)
		timed->start_at = at; /* the first frame was not the first */
	timed->over_at = begin > timed->start_at ? begin : timed->start_at;
}

/* Time goes on at this, which is what a timestamp says now. All before is over. */
static void
begin_at(
	struct sim_timed *timed, const struct model_fields *fields, uint64_t at, uint64_t timestamp)
{
	timed->newest_at = timed->start_at = at;
	advance(timed, fields, at);
	timed->origin = timestamp - at;
}

static void
begin(struct sim_timed *timed, const struct model_fields *fields, uint64_t timestamp)
{
	const uint64_t position = FIRST_AT / fields->step_ticks;

	timed->tail = timed->end = fields->is_ordered ? 0 : position;
	begin_at(timed, fields, position * fields->step_ticks, timestamp);
}

/* Of fixed rate. @return the reason why there is no place, or SIM_LINK_DROPS */
static enum sim_link_drop
place_fixed(struct sim *sim, uint32_t link, uint64_t at)
{
	const struct model_fields *const fields = fields_of(sim, link);
	const struct sim_timed *const timed = sim->links[link].timed;
	const uint64_t position = at / fields->step_ticks;
	const uint64_t there = *at_of(timed, fields, position);

	if (there == 0)
		return SIM_LINK_DROPS;
	if (there / fields->step_ticks != position) {
		take_away(sim, link, position, &sim->links[link].expired);
		return SIM_LINK_DROPS;
	}
	return there == at ? SIM_LINK_DUPLICATE : SIM_LINK_SLOT_TAKEN;
}

/* In order of time, this frame's place is behind those that are no later. */
static uint64_t
find_ordered(const struct sim_timed *timed, const struct model_fields *fields, uint64_t at)
{
	uint64_t position = timed->end;

	while (position > timed->tail && *at_of(timed, fields, position - 1) > at)
		position--;
	return position;
}

static bool
is_duplicate(const struct sim_timed *timed, const struct model_fields *fields, uint64_t position,
	uint64_t at, uint64_t sequence, uint64_t reorder)
{
	uint64_t i;

	for (i = 0; fields->line.has_sequence && i < reorder && position > timed->tail; i++) {
		position--;
		if (*at_of(timed, fields, position) != at)
			return false;
		if (timed->sequences[position & (fields->nb_index - 1)] == sequence)
			return true;
	}
	return false;
}

static enum sim_link_drop
place_ordered(struct sim *sim, uint32_t link, uint64_t at, uint64_t sequence)
{
	const uint64_t reorder = sim->model->links[link].reorder;
	const struct model_fields *const fields = fields_of(sim, link);
	struct sim_timed *const timed = sim->links[link].timed;
	uint64_t position;

	if (at < timed->evicted_at)
		return SIM_LINK_TOO_LATE;
	position = find_ordered(timed, fields, at);
	if (timed->end - position > reorder)
		return SIM_LINK_TOO_LATE;
	if (is_duplicate(timed, fields, position, at, sequence, reorder))
		return SIM_LINK_DUPLICATE;
	if (timed->end - timed->tail >= fields->nb_index - 1) {
		evict(sim, link);
		timed->tail++;
	}
	return SIM_LINK_DROPS;
}

/* Does time allow it, and is its place free? @return the reason why not, or SIM_LINK_DROPS */
static enum sim_link_drop
find_place(struct sim *sim, uint32_t link, uint64_t at, uint64_t sequence, bool *is_late)
{
	struct sim_timed *const timed = sim->links[link].timed;

	*is_late = at < timed->newest_at;
	advance(timed, fields_of(sim, link), at);
	expire(sim, link);
	if (at < timed->over_at)
		return SIM_LINK_TOO_LATE;
	return fields_of(sim, link)->is_ordered ? place_ordered(sim, link, at, sequence)
						: place_fixed(sim, link, at);
}

static void
insert_ordered(struct sim_timed *timed, const struct model_fields *fields, uint64_t at,
	uint64_t sequence, uint32_t bytes)
{
	const uint64_t position = find_ordered(timed, fields, at), mask = fields->nb_index - 1;
	uint64_t to;

	for (to = timed->end; to > position; to--) {
		timed->ats[to & mask] = timed->ats[(to - 1) & mask];
		timed->sequences[to & mask] = timed->sequences[(to - 1) & mask];
		timed->bytes[to & mask] = timed->bytes[(to - 1) & mask];
	}
	timed->ats[position & mask] = at;
	timed->sequences[position & mask] = sequence;
	timed->bytes[position & mask] = bytes;
	timed->end++;
}

static void
insert_fixed(
	struct sim_timed *timed, const struct model_fields *fields, uint64_t at, uint32_t bytes)
{
	const uint64_t position = at / fields->step_ticks;

	*at_of(timed, fields, position) = at;
	timed->bytes[position & (fields->nb_index - 1)] = bytes;
	if (position < timed->tail)
		timed->tail = position;
	if (position >= timed->end)
		timed->end = position + 1;
}

static void
store(struct sim *sim, uint32_t link, uint64_t at, uint64_t sequence, uint32_t packet)
{
	const uint32_t bytes = sim->packets.all[packet].size_bytes;
	struct sim_link *const of = &sim->links[link];

	if (fields_of(sim, link)->is_ordered)
		insert_ordered(of->timed, fields_of(sim, link), at, sequence, bytes);
	else
		insert_fixed(of->timed, fields_of(sim, link), at, bytes);
	of->stored++;
	count_buffered(sim, link, 1);
	sim_packet_delivered(sim, packet);
	if (of->log != NULL)
		sim_followers_tell(sim, link, at);
}

/* A frame in its time. @param has_cell  it was doubted: it has its room already */
static void
take_in(struct sim *sim, uint32_t link, uint32_t packet, const struct sim_frame *frame,
	bool has_cell)
{
	const struct model_fields *const fields = fields_of(sim, link);
	struct sim_link *const of = &sim->links[link];
	const uint64_t at =
		of->timed->newest_at + (uint64_t)after_newest(of->timed, fields, frame->timestamp);
	bool is_late;
	const enum sim_link_drop why = find_place(sim, link, at, frame->sequence, &is_late);

	if (why != SIM_LINK_DROPS) {
		sim_link_drop(sim, link, packet, why);
		return;
	}
	of->late += is_late;
	if (has_cell || has_room(sim, link))
		store(sim, link, at, frame->sequence, packet);
	else
		sim_link_drop(sim, link, packet, SIM_LINK_NO_MEMORY);
}

/* The next frame did not confirm them. */
static void
drop_doubted(struct sim *sim, uint32_t link)
{
	struct sim_timed *const timed = sim->links[link].timed;
	uint32_t i;

	for (i = 0; i < timed->nb_doubted; i++)
		sim_link_drop(sim, link, timed->doubted[i].packet,
			timed->doubted[i].is_behind ? SIM_LINK_TOO_LATE : SIM_LINK_FAR_OFF);
	timed->nb_doubted = 0;
}

/* It is confirmed that time goes on at this. */
static void
jump(struct sim *sim, uint32_t link, uint64_t timestamp)
{
	const struct model_fields *const fields = fields_of(sim, link);
	struct sim_timed *const timed = sim->links[link].timed;
	const int64_t far = after_newest(timed, fields, timestamp);
	const uint64_t apart = 2 * fields->live_ticks;
	uint64_t at;

	sim->links[link].jumps++;
	if (far >= 0 && (uint64_t)far < apart)
		return;
	at = timed->newest_at + apart + fields->step_ticks - 1;
	begin_at(timed, fields, at - at % fields->step_ticks, timestamp);
}

/* A frame that may confirm those before it. */
static void
take_doubtful(struct sim *sim, uint32_t link, uint32_t packet, bool is_behind)
{
	const struct model_fields *const fields = fields_of(sim, link);
	struct sim_timed *const timed = sim->links[link].timed;
	const struct sim_frame frame = sim->frames[packet];
	const struct sim_doubted one = {frame, packet, is_behind};
	uint32_t i;

	if (timed->nb_doubted > 0) {
		const int64_t ticks = after(fields, frame.timestamp,
			timed->doubted[timed->nb_doubted - 1].frame.timestamp);

		if (ticks == 0 && !fields->is_ordered) {
			sim_link_drop(sim, link, packet, SIM_LINK_DUPLICATE);
			return;
		}
		if (ticks > (int64_t)fields->jump_ticks || ticks < -(int64_t)fields->jump_ticks)
			drop_doubted(sim, link);
	}
	if (timed->nb_doubted + 1 < fields->nb_confirm) {
		if (has_room(sim, link))
			timed->doubted[timed->nb_doubted++] = one;
		else
			sim_link_drop(sim, link, packet, SIM_LINK_NO_MEMORY);
		return;
	}
	jump(sim, link,
		timed->nb_doubted > 0 ? timed->doubted[0].frame.timestamp : frame.timestamp);
	for (i = 0; i < timed->nb_doubted; i++)
		take_in(sim, link, timed->doubted[i].packet, &timed->doubted[i].frame, true);
	timed->nb_doubted = 0;
	take_in(sim, link, packet, &frame, false);
}

void
sim_timed_put(struct sim *sim, uint32_t link, uint32_t packet)
{
	const struct model_fields *const fields = fields_of(sim, link);
	struct sim_timed *const timed = sim->links[link].timed;
	const struct sim_frame frame = sim->frames[packet];
	int64_t ticks;

	if (timed->newest_at == 0)
		begin(timed, fields, frame.timestamp);
	ticks = after_newest(timed, fields, frame.timestamp);
	if (ticks <= (int64_t)fields->jump_ticks && ticks >= -(int64_t)fields->live_ticks) {
		drop_doubted(sim, link);
		take_in(sim, link, packet, &frame, false);
	} else {
		take_doubtful(sim, link, packet, ticks < 0);
	}
	sim_requests_look(sim, link);
}

static uint64_t
horizon_of(const struct sim_timed *timed, const struct model_fields *fields)
{
	return timed->newest_at + (fields->is_ordered ? 0 : fields->step_ticks);
}

static uint64_t
gone_of(const struct sim_timed *timed)
{
	return timed->over_at > timed->evicted_at ? timed->over_at : timed->evicted_at;
}

uint64_t
sim_timed_now(const struct sim *sim, uint32_t link)
{
	const struct sim_timed *const timed = sim->links[link].timed;
	const struct model_fields *const fields = fields_of(sim, link);

	return (horizon_of(timed, fields) + timed->origin) & mask_of(fields);
}

uint64_t
sim_timed_oldest(const struct sim *sim, uint32_t link)
{
	const struct sim_timed *const timed = sim->links[link].timed;

	return (gone_of(timed) + timed->origin) & mask_of(fields_of(sim, link));
}

/* The time that is so many ticks later than what a timestamp says. */
static uint64_t
time_of(const struct sim_timed *timed, const struct model_fields *fields, uint64_t timestamp,
	uint64_t ticks)
{
	int64_t from_newest = after_newest(timed, fields, timestamp);
	const uint64_t at = timed->newest_at + (uint64_t)from_newest;

	/* Far before all frames, and far after them, it does not matter how far. */
	if (from_newest >= 0)
		return at + ticks >= at ? at + ticks : UINT64_MAX;
	from_newest += (int64_t)ticks;
	if (from_newest < 0 && (uint64_t)0 - (uint64_t)from_newest > timed->newest_at)
		return ticks > 0;
	return timed->newest_at + (uint64_t)from_newest;
}

bool
sim_timed_reached(const struct sim *sim, uint32_t link, uint64_t timestamp)
{
	const struct sim_timed *const timed = sim->links[link].timed;
	const struct model_fields *const fields = fields_of(sim, link);

	return timed->newest_at != 0 &&
	       time_of(timed, fields, timestamp, 0) <= horizon_of(timed, fields);
}

/* Frames of [begin, end), of a step each. @return whether there is a gap between them */
static bool
count_fixed(const struct sim_timed *timed, const struct model_fields *fields, uint64_t begin,
	uint64_t end, struct sim_found *found)
{
	const uint64_t step = fields->step_ticks;
	bool has_gap = false;
	uint64_t position, at, covered = begin;

	for (position = begin / step - 1; position <= (end - 1) / step; position++) {
		at = *at_of(timed, fields, position);
		if (at == 0 || at / step != position || at >= end || at + step <= begin ||
			at < gone_of(timed))
			continue;
		found->frames++;
		found->bytes += timed->bytes[position & (fields->nb_index - 1)];
		has_gap = has_gap || at > covered;
		covered = at + step;
	}
	return has_gap || covered < end;
}

static void
count_ordered(const struct sim_timed *timed, const struct model_fields *fields, uint64_t begin,
	uint64_t end, struct sim_found *found)
{
	uint64_t position = lower_bound(timed, fields, begin);

	for (; position < timed->end && *at_of(timed, fields, position) < end; position++) {
		found->frames++;
		found->bytes += timed->bytes[position & (fields->nb_index - 1)];
	}
}

enum sim_answer
sim_timed_look_up(const struct sim *sim, uint32_t link, uint64_t begin, uint64_t ticks,
	struct sim_found *found)
{
	const struct sim_timed *const timed = sim->links[link].timed;
	const struct model_fields *const fields = fields_of(sim, link);
	const uint64_t from = time_of(timed, fields, begin, 0);
	const uint64_t to = time_of(timed, fields, begin, ticks);
	const uint64_t horizon = horizon_of(timed, fields), gone = gone_of(timed);
	const uint64_t first = from > gone ? from : gone, last = to < horizon ? to : horizon;
	const uint64_t end = fields->is_ordered && to > horizon ? horizon + 1 : last;
	bool has_gap = false;

	if (first < end && fields->is_ordered)
		count_ordered(timed, fields, first, end, found);
	else if (first < end)
		has_gap = count_fixed(timed, fields, first, end, found);
	if (to > horizon)
		return SIM_ANSWER_NOT_YET;
	if (from < gone)
		return found->frames == 0 && (fields->is_ordered || first >= end)
			       ? SIM_ANSWER_TOO_OLD
			       : SIM_ANSWER_PARTIAL;
	return has_gap ? SIM_ANSWER_PARTIAL : SIM_ANSWER_COMPLETE;
}
