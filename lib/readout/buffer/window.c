/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of time, for readers: frames found and held, and what is missing between them. */
#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>

#include "again.h"
#include "buffer_private.h"

struct weir_readout_window *
weir_readout_window_create(uint32_t max_frames, uint32_t max_missing)
{
	struct weir_readout_window *window = calloc(1, sizeof(*window));

	if (max_frames == 0 || max_missing < 2) {
		free(window);
		rte_errno = EINVAL;
		return NULL;
	}
	if (window != NULL) {
		window->max_frames = max_frames;
		window->max_missing = max_missing;
		window->range = RANGE_NONE;
		window->frames = calloc(max_frames, sizeof(*window->frames));
		window->timestamps = calloc(max_frames, sizeof(*window->timestamps));
		window->cells = calloc(max_frames, sizeof(*window->cells));
		window->missing = calloc(max_missing, sizeof(*window->missing));
	}
	if (window == NULL || window->frames == NULL || window->timestamps == NULL ||
		window->cells == NULL || window->missing == NULL) {
		weir_readout_window_free(window);
		rte_errno = ENOMEM;
		return NULL;
	}
	return window;
}

void
weir_readout_window_free(struct weir_readout_window *window)
{
	if (window == NULL)
		return;
	free(window->frames);
	free(window->timestamps);
	free(window->cells);
	free(window->missing);
	free(window);
}

void
weir_readout_window_release(struct weir_readout_window *window)
{
	const struct weir_readout_buffer *buffer = window->buffer;

	if (buffer == NULL)
		return;
	if (window->range != RANGE_NONE)
		ranges_release(buffer->ranges, window->range);
	else
		for (uint32_t i = 0; i < window->nb_frames; i++)
			pin_release(&buffer->store.cells[window->cells[i]].pin);
	/* Eviction may find what it passed over. */
	__atomic_fetch_add(&buffer->ranges->releases, 1, __ATOMIC_RELEASE);
	window->range = RANGE_NONE;
	window->nb_frames = 0;
	window->bytes = 0;
	window->buffer = NULL;
}

/* The timeline as it was at one moment: jumps are few and short. @return false: there was no frame yet */
static bool
look_at_timeline(const struct weir_readout_buffer *buffer, struct timeline *timeline)
{
	const struct timeline *now = &buffer->timeline;

	for (uint32_t looks = 0;; look_again(&looks)) {
		timeline->jumps = __atomic_load_n(&now->jumps, __ATOMIC_ACQUIRE);
		if ((timeline->jumps & 1) != 0)
			continue;
		timeline->origin = __atomic_load_n(&now->origin, __ATOMIC_ACQUIRE);
		timeline->newest_at = __atomic_load_n(&now->newest_at, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&now->jumps, __ATOMIC_RELAXED) == timeline->jumps)
			return timeline->jumps > 0;
	}
}

/* Where frames that begin before are here, but for those out of order. */
static uint64_t
horizon_of(const struct weir_readout_buffer *buffer, const struct timeline *timeline)
{
	return timeline->newest_at + (buffer->ordered ? 0 : buffer->step_ticks);
}

/*
 * The time that is @p ticks, up to INT64_MAX, later than what @p timestamp says. Far before all frames (then it is no later than @p ticks),
 * and far after them, it does not matter how far.
 */
static uint64_t
time_of(const struct weir_readout_buffer *buffer, const struct timeline *timeline,
	uint64_t timestamp, uint64_t ticks)
{
	const uint64_t newest_at = timeline->newest_at;
	int64_t from_newest = timestamp_difference(
		buffer, timestamp, timestamp_of(buffer, timeline->origin, newest_at));
	uint64_t at = newest_at + (uint64_t)from_newest;

	if (from_newest >= 0)
		return at + ticks >= at ? at + ticks : UINT64_MAX;
	from_newest += (int64_t)ticks;
	if (from_newest < 0 && (uint64_t)0 - (uint64_t)from_newest > newest_at)
		return ticks > 0;
	return newest_at + (uint64_t)from_newest;
}

bool
weir_readout_buffer_reached(const struct weir_readout_buffer *buffer, uint64_t timestamp)
{
	struct timeline timeline;

	return look_at_timeline(buffer, &timeline) &&
	       time_of(buffer, &timeline, timestamp, 0) <= horizon_of(buffer, &timeline);
}

bool
weir_readout_buffer_range(const struct weir_readout_buffer *buffer, uint64_t *begin, uint64_t *end)
{
	struct timeline timeline;
	uint64_t gone_at;

	/* Both of the same time, between two jumps. */
	do {
		if (!look_at_timeline(buffer, &timeline))
			return false;
		gone_at = __atomic_load_n(&buffer->gone_at, __ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&buffer->timeline.jumps, __ATOMIC_RELAXED) != timeline.jumps);
	*begin = timestamp_of(buffer, timeline.origin, gone_at);
	*end = timestamp_of(buffer, timeline.origin, horizon_of(buffer, &timeline));
	return true;
}

/* [begin, end) is not there; as times. */
static void
add_missing(struct weir_readout_window *window, uint64_t begin, uint64_t end)
{
	uint32_t nb = window->nb_missing;

	if (begin >= end)
		return;
	if (nb > 0 && window->missing[nb - 1].end == begin) {
		window->missing[nb - 1].end = end;
	} else if (nb == window->max_missing) {
		window->missing[nb - 1].end = end;
		window->parts |= WEIR_READOUT_PART_CUT;
	} else {
		window->missing[nb] = (struct weir_readout_interval){begin, end};
		window->nb_missing++;
	}
}

/* Frames last a step: what is between them is missing. */
static void
find_gaps(const struct search *search, uint64_t begin, uint64_t end)
{
	const struct weir_readout_window *window = search->window;

	for (uint32_t i = 0; i < window->nb_frames; i++) {
		uint64_t at = search->buffer->store.cells[window->cells[i]].at;

		add_missing(search->window, begin, at);
		begin = at + search->buffer->step_ticks;
	}
	add_missing(search->window, begin, end);
}

/* What cannot be known any more, or not yet. */
static void
find_ends(const struct search *search, uint64_t begin, uint64_t end, uint64_t horizon)
{
	add_missing(search->window, begin, search->gone_at < end ? search->gone_at : end);
	add_missing(search->window, begin > horizon ? begin : horizon, end);
}

/* What kinds of missing there are. */
static uint32_t
parts_of(const struct weir_readout_window *window, uint64_t gone_at, uint64_t horizon)
{
	uint32_t parts = window->nb_frames > 0 ? WEIR_READOUT_PART_FRAMES : 0;

	for (uint32_t i = 0; i < window->nb_missing; i++) {
		const struct weir_readout_interval *one = &window->missing[i];
		uint64_t from = one->begin > gone_at ? one->begin : gone_at;

		if (one->begin < gone_at)
			parts |= WEIR_READOUT_PART_TOO_OLD;
		if (one->end > horizon)
			parts |= WEIR_READOUT_PART_NOT_YET;
		if (from < (one->end < horizon ? one->end : horizon))
			parts |= WEIR_READOUT_PART_MISSING;
	}
	return parts;
}

/* Intervals as their users know them; the window's own ends as they were asked for. */
static void
to_timestamps(
	const struct search *search, const struct timeline *timeline, uint64_t begin, uint64_t end)
{
	struct weir_readout_window *window = search->window;

	for (uint32_t i = 0; i < window->nb_missing; i++) {
		struct weir_readout_interval *one = &window->missing[i];

		one->begin = one->begin == begin
				     ? window->begin
				     : timestamp_of(search->buffer, timeline->origin, one->begin);
		one->end = one->end == end
				   ? window->end
				   : timestamp_of(search->buffer, timeline->origin, one->end);
	}
}

/* Frames that are not at the beginnings of steps reach into the search from before it. */
static void
keep_range(const struct search *search)
{
	struct ranges *ranges = search->buffer->ranges;
	const uint64_t begin = search->begin - (search->buffer->step_ticks - 1);

	search->window->buffer = search->buffer;
	search->window->range = ranges_keep(ranges, range_word(ranges, begin, search->end));
}

/* All is found. */
static void
limit_range(const struct search *search)
{
	struct weir_readout_window *window = search->window;

	if (window->nb_frames == 0)
		weir_readout_window_release(window);
	else if (window->range != RANGE_NONE)
		ranges_limit(search->buffer->ranges, window->range, search->before);
}

/* Hold the frames of [begin, end) that are there. @return 0, -E2BIG */
static int
find_frames(struct search *search, uint64_t begin, uint64_t end, const struct timeline *timeline)
{
	const struct weir_readout_buffer *buffer = search->buffer;
	uint64_t last = timeline->newest_at + buffer->step_ticks;

	search->gone_at = __atomic_load_n(&buffer->gone_at, __ATOMIC_ACQUIRE);
	search->begin = begin > search->gone_at ? begin : search->gone_at;
	search->end = end < last ? end : last;
	if (search->begin >= search->end)
		return 0;
	keep_range(search);
	return buffer->ordered ? index_ordered_find(search) : index_fixed_find(search);
}

static int
find(struct search *search, const struct timeline *timeline, uint64_t ticks)
{
	struct weir_readout_window *window = search->window;
	uint64_t begin = time_of(search->buffer, timeline, window->begin, 0);
	uint64_t end = time_of(search->buffer, timeline, window->begin, ticks);
	uint64_t horizon = horizon_of(search->buffer, timeline), gone_at;

	if (find_frames(search, begin, end, timeline) < 0) {
		weir_readout_window_release(window);
		return -E2BIG;
	}
	limit_range(search);
	/* Later than the frames were looked for: what was over by then is so by now. */
	gone_at = __atomic_load_n(&search->buffer->gone_at, __ATOMIC_ACQUIRE);
	if (gone_at > search->gone_at)
		search->gone_at = gone_at;
	if (search->buffer->ordered)
		find_ends(search, begin, end, horizon);
	else
		find_gaps(search, begin, end);
	window->parts |= parts_of(window, search->gone_at, horizon);
	to_timestamps(search, timeline, begin, end);
	return 0;
}

int
weir_readout_window_find(const struct weir_readout_buffer *buffer, uint64_t begin, uint64_t end,
	struct weir_readout_window *window)
{
	uint64_t ticks = (end - begin) & buffer->timestamp_mask;
	struct search search = {.buffer = buffer, .window = window};
	struct timeline timeline;

	weir_readout_window_release(window);
	if (timestamp_difference(buffer, end, begin) < 0)
		return -EINVAL;
	window->begin = begin & buffer->timestamp_mask;
	window->end = end & buffer->timestamp_mask;
	window->parts = 0;
	window->nb_missing = 0;
	if (ticks == 0)
		return 0;
	if (look_at_timeline(buffer, &timeline))
		return find(&search, &timeline, ticks);
	window->parts = WEIR_READOUT_PART_NOT_YET;
	window->missing[window->nb_missing++] =
		(struct weir_readout_interval){window->begin, window->end};
	return 0;
}
