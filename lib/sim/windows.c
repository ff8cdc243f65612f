/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of time: asked for when the time of the link that leads has come, the first one at first, answered when each link's has come to their end,
 * or when they have waited for long enough. Neither takes any time.
 */
#include <stdlib.h>

#include "sim.h"

#define NS_PER_S        UINT64_C(1000000000)
#define FRAGMENTS_FIRST 64

static uint64_t
ticks_of(const struct model_request *request, uint64_t number, uint64_t ns)
{
	return (uint64_t)((weir_sim_u128)number * ns * request->clock_hz / NS_PER_S);
}

/* Frames up to there are here, but for late ones; as a timestamp. */
static uint64_t
horizon_of(const struct sim *sim, uint32_t link)
{
	const struct sim_link *const of = &sim->links[link];

	if (of->timed != NULL)
		return sim_timed_now(sim, link);
	if (!of->has_begun)
		return 0;
	return sim_link_ticks(sim, link, of->newest + sim->model->links[link].has_step);
}

static uint64_t
oldest_of(const struct sim *sim, uint32_t link)
{
	return sim->links[link].timed != NULL
		       ? sim_timed_oldest(sim, link)
		       : sim_link_ticks(sim, link, sim_link_oldest(sim, link));
}

static bool
has_begun(const struct sim *sim, uint32_t link)
{
	const struct sim_link *const of = &sim->links[link];

	return of->timed != NULL ? of->timed->newest_at != 0 : of->has_begun;
}

static bool
has_reached(const struct sim *sim, uint32_t link, uint64_t timestamp)
{
	return sim->links[link].timed != NULL ? sim_timed_reached(sim, link, timestamp)
					      : timestamp <= horizon_of(sim, link);
}

/* What a buffer keeps of the past. */
static uint64_t
history_of(const struct sim *sim, uint32_t link)
{
	const struct model_link *const model = &sim->model->links[link];

	if (!model->has_fields)
		return sim_link_ticks(sim, link, model->held - 1);
	return model->fields.live_ticks - (model->has_step ? model->ticks : 0);
}

/* How much later one timestamp is than another, by the clock of a request's links. */
static int64_t
after(const struct sim *sim, uint32_t request, uint64_t timestamp, uint64_t than)
{
	const struct model_link *const first =
		&sim->model->links[sim->model->asked[sim->model->requests[request].first_link]];
	const unsigned int unused = first->has_fields ? 64 - first->fields.line.timestamp_bits : 0;

	return (int64_t)((timestamp - than) << unused) >> unused;
}

/* The least number whose timestamp is at @p tick or later. */
static uint64_t
number_at(const struct model_link *link, uint64_t tick)
{
	return (uint64_t)(((weir_sim_u128)tick * link->per + link->ticks - 1) / link->ticks);
}

/* Numbers that a window has frames of: those that begin in it, and, where frames last a step, the one that it begins in. */
static void
numbers_of(const struct sim_fragment *fragment, const struct model_link *link, uint64_t *begin,
	uint64_t *end)
{
	*begin = link->has_step ? fragment->begin / link->ticks : number_at(link, fragment->begin);
	*end = number_at(link, fragment->end);
}

/* What a link has of a window, now. */
static enum sim_answer
look_up(struct sim *sim, const struct sim_fragment *fragment, struct sim_found *found)
{
	const struct model_link *const link = &sim->model->links[fragment->link];
	const struct sim_link *const of = &sim->links[fragment->link];
	uint64_t begin, end, from, to, oldest;

	*found = (struct sim_found){0};
	if (!has_begun(sim, fragment->link))
		return SIM_ANSWER_NOT_YET;
	if (of->timed != NULL)
		return sim_timed_look_up(sim, fragment->link, fragment->begin,
			fragment->end - fragment->begin, found);
	oldest = sim_link_oldest(sim, fragment->link);
	numbers_of(fragment, link, &begin, &end);
	from = begin > oldest ? begin : oldest;
	to = end <= of->newest ? end : of->newest + 1;
	if (from < to)
		found->frames = sim_link_count(sim, fragment->link, from, to);
	found->bytes = found->frames * sim->model->streams[link->stream].size_min_bytes;
	if (fragment->end > horizon_of(sim, fragment->link))
		return SIM_ANSWER_NOT_YET;
	if (fragment->begin < sim_link_ticks(sim, fragment->link, oldest))
		return from >= to || (!link->has_step && found->frames == 0) ? SIM_ANSWER_TOO_OLD
									     : SIM_ANSWER_PARTIAL;
	return !link->has_step || found->frames == end - begin ? SIM_ANSWER_COMPLETE
							       : SIM_ANSWER_PARTIAL;
}

static void
answer(struct sim *sim, const struct sim_fragment *fragment, bool is_over)
{
	struct sim_request *const request = &sim->requests[fragment->request];
	struct sim_found found;
	enum sim_answer what = look_up(sim, fragment, &found);

	if (what == SIM_ANSWER_NOT_YET && is_over)
		what = SIM_ANSWER_TIMED_OUT;
	request->answered[what]++;
	request->frames += found.frames;
	request->bytes += found.bytes;
	weir_sim_tally_add(&request->latency_ps, sim->now_ps - fragment->asked_ps);
}

/* @return SIM_NONE: no memory, sim->error says so */
static uint32_t
take_fragment(struct sim *sim)
{
	struct sim_fragments *const fragments = &sim->fragments;
	const uint32_t room = fragments->room == 0 ? FRAGMENTS_FIRST : fragments->room * 2;
	uint32_t index = fragments->free;
	struct sim_fragment *all;

	if (index != SIM_NONE) {
		fragments->free = fragments->all[index].next;
		return index;
	}
	if (fragments->nb == fragments->room) {
		all = room <= UINT32_C(1) << EVENT_INDEX_BITS
			      ? realloc(fragments->all, room * sizeof(*all))
			      : NULL;
		if (all == NULL) {
			sim->error = -ENOMEM;
			return SIM_NONE;
		}
		fragments->all = all;
		fragments->room = room;
	}
	return fragments->nb++;
}

/* What is still to come is waited for. */
static void
wait_for(struct sim *sim, const struct sim_fragment *fragment)
{
	struct sim_link *const link = &sim->links[fragment->link];
	const uint64_t timeout_ps = sim->model->requests[fragment->request].timeout_ps;
	const uint32_t index = take_fragment(sim);

	if (index == SIM_NONE)
		return;
	sim->fragments.all[index] = *fragment;
	sim->fragments.all[index].next = SIM_NONE;
	sim->fragments.all[index].waits = true;
	if (link->waiting == SIM_NONE)
		link->waiting = index;
	else
		sim->fragments.all[link->waiting_last].next = index;
	link->waiting_last = index;
	sim->fragments.waiting++;
	sim->requests[fragment->request].waiting++;
	sim_schedule(sim, sim->now_ps + timeout_ps, EVENT_PRIORITY_ARRIVAL,
		EVENT_TARGET(EVENT_TIMEOUT, index));
}

/* A window of all links of a request. */
static void
ask(struct sim *sim, uint32_t index, uint64_t begin)
{
	const struct model_request *const model = &sim->model->requests[index];
	struct sim_request *const request = &sim->requests[index];
	const uint32_t most = sim->model->nb_fragments;
	uint32_t i;

	request->windows++;
	request->asked += model->nb_links;
	if (most != 0 && model->nb_links > most - sim->fragments.waiting) {
		request->refused += model->nb_links;
		return;
	}
	for (i = 0; i < model->nb_links; i++) {
		const struct sim_fragment fragment = {
			.begin = begin,
			.end = begin + ticks_of(model, 1, model->window_ns),
			.asked_ps = sim->now_ps,
			.request = index,
			.link = sim->model->asked[model->first_link + i],
		};

		if (model->timeout_ps == 0 || has_reached(sim, fragment.link, fragment.end))
			answer(sim, &fragment, false);
		else
			wait_for(sim, &fragment);
	}
}

/* The clock of the links was set: forth, and windows were over before one could ask; or back, and begins anew. */
static void
follow_clock(struct sim *sim, uint32_t index, uint64_t now)
{
	const struct model_request *const model = &sim->model->requests[index];
	struct sim_request *const request = &sim->requests[index];
	const uint64_t history = history_of(sim, sim->model->asked[model->first_link]);
	const uint64_t every = ticks_of(model, 1, model->every_ns);
	const uint64_t delay = ticks_of(model, 1, model->delay_ns);
	const uint64_t next = request->first + ticks_of(model, request->number, model->every_ns);
	const int64_t behind = after(sim, index, now, next + delay);
	uint64_t skipped;

	if (behind > (int64_t)history) {
		skipped = (uint64_t)behind / every;
		request->number += skipped;
		request->skipped += skipped;
	} else if (behind < -(int64_t)(history + every + delay)) {
		request->first = now;
		request->number = 0;
		request->restarts++;
	}
}

/* Windows whose turn it is. */
static void
ask_due(struct sim *sim, uint32_t index)
{
	const struct model_request *const model = &sim->model->requests[index];
	struct sim_request *const request = &sim->requests[index];
	const uint32_t lead = sim->model->asked[model->first_link + request->lead];
	const uint64_t now = horizon_of(sim, lead);
	uint64_t begin;

	if (!request->has_begun) {
		request->has_begun = true;
		request->first = oldest_of(sim, lead);
	}
	follow_clock(sim, index, now);
	while (sim->error == 0) {
		begin = request->first + ticks_of(model, request->number, model->every_ns);
		if (after(sim, index, now, begin + ticks_of(model, 1, model->delay_ns)) < 0)
			break;
		ask(sim, index, begin);
		request->number++;
	}
}

/* It waits no longer. */
static void
end_wait(struct sim *sim, uint32_t index, bool is_over)
{
	struct sim_fragment *const fragment = &sim->fragments.all[index];

	fragment->waits = false;
	sim->fragments.waiting--;
	sim->requests[fragment->request].waiting--;
	answer(sim, fragment, is_over);
}

/* Those that wait for the link's time to come to their end, which has. */
static void
answer_due(struct sim *sim, uint32_t link)
{
	uint32_t index = sim->links[link].waiting, last = SIM_NONE, next;

	for (; index != SIM_NONE; index = next) {
		next = sim->fragments.all[index].next;
		if (!has_reached(sim, link, sim->fragments.all[index].end)) {
			last = index;
			continue;
		}
		if (last == SIM_NONE)
			sim->links[link].waiting = next;
		else
			sim->fragments.all[last].next = next;
		end_wait(sim, index, false);
	}
	sim->links[link].waiting_last = last;
}

/* Another link's time has gone on: for half of its history, while that of the one that leads stands still? Then it leads. */
static void
look_at_other(struct sim *sim, uint32_t index, uint32_t number)
{
	const struct model_request *const model = &sim->model->requests[index];
	const uint32_t link = sim->model->asked[model->first_link + number];
	const uint32_t lead = sim->model->asked[model->first_link + sim->requests[index].lead];
	const uint64_t now = horizon_of(sim, link), lead_at = horizon_of(sim, lead);
	struct sim_mark *const mark = &sim->marks[model->first_link + number];
	int64_t moved;

	moved = after(sim, index, now, mark->at);
	/* More than the history is a jump of its clock: that proves nothing. */
	if (!mark->is_set || mark->lead_at != lead_at || moved < 0 ||
		moved > (int64_t)history_of(sim, link)) {
		*mark = (struct sim_mark){.is_set = true, .at = now, .lead_at = lead_at};
		return;
	}
	if (moved <= (int64_t)(history_of(sim, link) / 2))
		return;
	sim->requests[index].lead = number;
	ask_due(sim, index);
}

void
sim_requests_look(struct sim *sim, uint32_t link)
{
	uint32_t i, j;

	for (i = 0; i < sim->model->nb_requests; i++)
		for (j = 0; j < sim->model->requests[i].nb_links; j++) {
			if (sim->model->asked[sim->model->requests[i].first_link + j] != link)
				continue;
			if (j == sim->requests[i].lead)
				ask_due(sim, i);
			else
				look_at_other(sim, i, j);
		}
	if (sim->links[link].waiting != SIM_NONE)
		answer_due(sim, link);
}

/* Out of its link's list. */
static void
remove_waiting(struct sim *sim, uint32_t index)
{
	struct sim_link *const link = &sim->links[sim->fragments.all[index].link];
	uint32_t at = link->waiting, last = SIM_NONE;

	for (; at != index; at = sim->fragments.all[at].next)
		last = at;
	if (last == SIM_NONE)
		link->waiting = sim->fragments.all[index].next;
	else
		sim->fragments.all[last].next = sim->fragments.all[index].next;
	if (link->waiting_last == index)
		link->waiting_last = last;
}

void
sim_fragment_times_out(struct sim *sim, uint32_t index)
{
	if (sim->fragments.all[index].waits) {
		remove_waiting(sim, index);
		end_wait(sim, index, true);
	}
	sim->fragments.all[index].next = sim->fragments.free;
	sim->fragments.free = index;
}
