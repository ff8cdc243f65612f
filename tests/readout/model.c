/* SPDX-License-Identifier: BSD-3-Clause */
#include "../base/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "weir_readout_format_fast.h"

#include "model.h"

void
model_init(struct model *model, const struct weir_readout_buffer_config *config,
	const struct weir_readout_buffer *buffer)
{
	struct weir_readout_buffer_info info;

	weir_readout_buffer_info(buffer, &info);
	memset(model, 0, sizeof(*model));
	model->bits = config->format->timestamp_bits;
	model->step = (int64_t)config->format->step_ticks;
	model->live = (int64_t)info.history_ticks + model->step;
	model->jump = (int64_t)info.jump_ticks;
	model->confirm = config->confirm_frames != 0 ? config->confirm_frames : 3;
	model->reorder = config->reorder_frames != 0 ? config->reorder_frames : 1024;
	model->size_min_bytes = config->format->size_min_bytes;
	model->size_max_bytes = config->format->size_max_bytes;
	model->has_sequence = weir_readout_format_has(config->format, WEIR_BASE_FIELD_SEQUENCE);
}

/* From one timestamp to another by the shorter way. */
static int64_t
difference(const struct model *model, uint64_t later, uint64_t earlier)
{
	__uint128_t range = (__uint128_t)1 << model->bits;
	__uint128_t forwards = ((__uint128_t)later + range - earlier % range) % range;

	return forwards < range / 2 ? (int64_t)forwards
				    : (int64_t)((__int128_t)forwards - (__int128_t)range);
}

static uint64_t
timestamp_at(const struct model *model, int64_t time)
{
	uint64_t timestamp = model->newest_timestamp + (uint64_t)(time - model->newest);

	return model->bits < 64 ? timestamp % (UINT64_C(1) << model->bits) : timestamp;
}

static int64_t
step_of(const struct model *model, int64_t time)
{
	int64_t step = time / model->step;

	return step * model->step > time ? step - 1 : step;
}

/* The earliest time that is kept. */
static int64_t
kept_from(const struct model *model)
{
	int64_t from = model->newest - model->live;

	if (model->step > 0)
		from = (step_of(model, from) + 1) * model->step;
	return from > model->start ? from : model->start;
}

static void
drop(struct model *model, enum weir_readout_buffer_reason reason)
{
	model->stats.dropped[reason]++;
}

static void
advance(struct model *model, const struct model_frame *frame)
{
	unsigned int kept = 0;
	int64_t history;

	if (frame->time > model->newest) {
		model->newest = frame->time;
		model->newest_timestamp = frame->timestamp;
	}
	history = model->newest - model->live;
	if (model->step > 0)
		history = (step_of(model, history) + 1) * model->step;
	if (frame->time < model->start && frame->time >= history)
		model->start = frame->time;
	for (unsigned int i = 0; i < model->nb; i++)
		if (model->frames[i].time >= kept_from(model))
			model->frames[kept++] = model->frames[i];
	model->stats.expired += model->nb - kept;
	model->stats.buffered -= model->nb - kept;
	model->nb = kept;
}

/* @return -1, or why there is no place for it */
static int
find_place(const struct model *model, const struct model_frame *frame)
{
	unsigned int later = 0;

	if (frame->time < kept_from(model))
		return WEIR_READOUT_BUFFER_TOO_LATE;
	for (unsigned int i = 0; i < model->nb; i++) {
		const struct model_frame *other = &model->frames[i];

		if (model->step > 0 && other->time == frame->time)
			return WEIR_READOUT_BUFFER_DUPLICATE;
		if (model->step > 0 && step_of(model, other->time) == step_of(model, frame->time))
			return WEIR_READOUT_BUFFER_SLOT_TAKEN;
		later += other->time > frame->time;
	}
	if (model->step == 0 && later > model->reorder)
		return WEIR_READOUT_BUFFER_TOO_LATE;
	for (unsigned int i = 0; i < model->nb; i++)
		if (model->has_sequence && model->frames[i].time == frame->time &&
			model->frames[i].sequence == frame->sequence)
			return WEIR_READOUT_BUFFER_DUPLICATE;
	return -1;
}

static void
take_in(struct model *model, struct model_frame frame)
{
	bool late;
	int reason;
	unsigned int i;

	frame.time = model->newest + difference(model, frame.timestamp, model->newest_timestamp);
	late = frame.time < model->newest;
	advance(model, &frame);
	reason = find_place(model, &frame);
	if (reason >= 0) {
		drop(model, (enum weir_readout_buffer_reason)reason);
		return;
	}
	model->stats.late += late;
	model->stats.buffered++;
	assert_true(model->nb < MODEL_FRAMES_MAX);
	for (i = model->nb++; i > 0 && model->frames[i - 1].time > frame.time; i--)
		model->frames[i] = model->frames[i - 1];
	model->frames[i] = frame;
}

static void
begin_at(struct model *model, int64_t time, uint64_t timestamp)
{
	const struct model_frame first = {.time = time, .timestamp = timestamp};

	model->started = true;
	model->newest = model->start = time;
	model->newest_timestamp = timestamp;
	advance(model, &first);
}

static void
drop_doubted(struct model *model)
{
	for (unsigned int i = 0; i < model->nb_doubted; i++)
		drop(model, model->behind[i] ? WEIR_READOUT_BUFFER_TOO_LATE
					     : WEIR_READOUT_BUFFER_FAR_OFF);
	model->stats.buffered -= model->nb_doubted;
	model->nb_doubted = 0;
}

static void
confirm(struct model *model, uint64_t timestamp)
{
	int64_t far = difference(model, timestamp, model->newest_timestamp);
	int64_t later = model->newest + 4 * model->live;

	model->stats.jumps++;
	if (far < 0 || far >= 2 * model->live)
		begin_at(model, model->step > 0 ? step_of(model, later) * model->step : later,
			timestamp);
	for (unsigned int i = 0; i < model->nb_doubted; i++)
		take_in(model, model->doubted[i]);
	model->stats.buffered -= model->nb_doubted;
	model->nb_doubted = 0;
}

static void
doubt(struct model *model, const struct model_frame *frame, bool behind)
{
	if (model->nb_doubted > 0) {
		int64_t ticks = difference(
			model, frame->timestamp, model->doubted[model->nb_doubted - 1].timestamp);

		if (ticks == 0 && model->step > 0) {
			drop(model, WEIR_READOUT_BUFFER_DUPLICATE);
			return;
		}
		if (llabs(ticks) > model->jump)
			drop_doubted(model);
	}
	if (model->nb_doubted + 1 < model->confirm) {
		model->behind[model->nb_doubted] = behind;
		model->doubted[model->nb_doubted++] = *frame;
		model->stats.buffered++;
		return;
	}
	confirm(model, model->nb_doubted > 0 ? model->doubted[0].timestamp : frame->timestamp);
	take_in(model, *frame);
}

void
model_put(struct model *model, const struct weir_readout_frame *frame, uint64_t id)
{
	const struct model_frame one = {
		.timestamp = frame->timestamp, .sequence = frame->sequence, .id = id};
	int64_t far;

	model->stats.received++;
	model->stats.received_bytes += frame->size_bytes;
	if (frame->size_bytes < model->size_min_bytes ||
		frame->size_bytes > model->size_max_bytes) {
		drop(model, WEIR_READOUT_BUFFER_WRONG_SIZE);
		return;
	}
	if (!model->started)
		begin_at(model, 0, frame->timestamp);
	far = difference(model, frame->timestamp, model->newest_timestamp);
	if (far > model->jump || far < -model->live) {
		doubt(model, &one, far < 0);
		return;
	}
	drop_doubted(model);
	take_in(model, one);
}

/* Is nothing known of this tick, and why? A part, or 0. */
static uint32_t
missing_at(const struct model *model, int64_t tick)
{
	int64_t horizon = model->newest + model->step;

	if (tick >= horizon)
		return WEIR_READOUT_PART_NOT_YET;
	if (model->step == 0)
		return tick < kept_from(model) ? WEIR_READOUT_PART_TOO_OLD : 0;
	for (unsigned int i = 0; i < model->nb; i++)
		if (model->frames[i].time <= tick && tick < model->frames[i].time + model->step)
			return 0;
	return tick < kept_from(model) ? WEIR_READOUT_PART_TOO_OLD : WEIR_READOUT_PART_MISSING;
}

void
model_find(const struct model *model, uint64_t begin, int64_t ticks, struct model_window *window)
{
	int64_t from = model->newest + difference(model, begin, model->newest_timestamp);
	bool missing = false;

	window->parts = 0;
	window->nb_frames = window->nb_missing = 0;
	for (unsigned int i = 0; i < model->nb && ticks > 0; i++) {
		int64_t time = model->frames[i].time;

		/* Without a step, a frame is at one tick. */
		if (time < from + ticks && time + model->step > from - (model->step == 0))
			window->frames[window->nb_frames++] = model->frames[i];
	}
	if (window->nb_frames > 0)
		window->parts = WEIR_READOUT_PART_FRAMES;
	for (int64_t tick = from; tick < from + ticks; tick++) {
		uint32_t part = missing_at(model, tick);

		window->parts |= part;
		if (part != 0 && !missing)
			window->missing[window->nb_missing++].begin = timestamp_at(model, tick);
		if (part != 0)
			window->missing[window->nb_missing - 1].end = timestamp_at(model, tick + 1);
		missing = part != 0;
	}
}
