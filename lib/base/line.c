/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that are not simply the next ones: gaps, duplicates, jumps. */
#include <string.h>

#include "weir_base_line.h"

/* Of numbers without a step of time to confirm them: further on is a jump, not a gap. */
#define GAP_MAX 65536

#define FAULT(name) (1u << WEIR_BASE_LINE_##name)

/* From where on a difference is a jump: no more than a quarter of what timestamps can tell. */
static uint64_t
jump_ticks(const struct weir_base_line_config *config)
{
	const uint64_t most = UINT64_MAX >> (64 - config->timestamp_bits) >> 2;
	double ticks = config->jump_s * (double)config->clock_hz;

	if (config->jump_s == 0 && config->step_ticks == 0)
		return UINT64_MAX;
	if (config->jump_s == 0)
		ticks = (double)config->clock_hz;
	if (ticks < (double)config->step_ticks)
		ticks = (double)config->step_ticks;
	return ticks < (double)most ? (uint64_t)ticks : most;
}

void
weir_base_line_init(struct weir_base_line *line, const struct weir_base_line_config *config)
{
	memset(line, 0, sizeof(*line));
	line->step_ticks = config->step_ticks;
	line->sequence_modulus = config->sequence_modulus;
	line->timestamp_bits = config->timestamp_bits;
	line->has_sequence = config->has_sequence;
	line->has_timestamp = config->has_timestamp;
	line->jump_ticks = jump_ticks(config);
}

/* By the shorter way round. */
static int64_t
ticks_from(const struct weir_base_line *line, const struct weir_base_line_point *from,
	const struct weir_base_line_point *to)
{
	unsigned int unused = 64 - line->timestamp_bits;

	return (int64_t)((to->timestamp - from->timestamp) << unused) >> unused;
}

static int64_t
numbers_from(const struct weir_base_line *line, const struct weir_base_line_point *from,
	const struct weir_base_line_point *to)
{
	uint64_t modulus = line->sequence_modulus, forwards;

	if (modulus == 0)
		return (int64_t)(to->sequence - from->sequence);
	forwards = to->sequence >= from->sequence
			   ? (to->sequence - from->sequence) % modulus
			   : modulus - (from->sequence - to->sequence) % modulus;
	return forwards > modulus / 2 ? (int64_t)(forwards - modulus) : (int64_t)forwards;
}

/* Do so many numbers on, and so many times around, come to the same? */
static bool
same_number(const struct weir_base_line *line, int64_t numbers, int64_t distance)
{
	uint64_t modulus = line->sequence_modulus;
	uint64_t apart = numbers > distance ? (uint64_t)numbers - (uint64_t)distance
					    : (uint64_t)distance - (uint64_t)numbers;

	return modulus == 0 ? apart == 0 : apart % modulus == 0;
}

static bool
within_jump(const struct weir_base_line *line, int64_t ticks)
{
	uint64_t size = ticks < 0 ? (uint64_t)0 - (uint64_t)ticks : (uint64_t)ticks;

	return size <= line->jump_ticks;
}

/* With a step: time says the distance, and the number must agree. */
static bool
on_line_by_time(const struct weir_base_line *line, const struct weir_base_line_point *from,
	const struct weir_base_line_point *to, int64_t *distance)
{
	int64_t ticks = ticks_from(line, from, to), step = (int64_t)line->step_ticks;

	*distance = ticks / step;
	return ticks % step == 0 && *distance > -WEIR_BASE_LINE_WINDOW &&
	       within_jump(line, ticks) &&
	       (!line->has_sequence || same_number(line, numbers_from(line, from, to), *distance));
}

/* Without a step: the number says the distance, and time must go the same way. */
static bool
on_line_by_number(const struct weir_base_line *line, const struct weir_base_line_point *from,
	const struct weir_base_line_point *to, int64_t *distance)
{
	int64_t ticks = line->has_timestamp ? ticks_from(line, from, to) : 0;

	*distance = line->has_sequence ? numbers_from(line, from, to) : 1;
	if (*distance <= -WEIR_BASE_LINE_WINDOW || *distance > GAP_MAX || !within_jump(line, ticks))
		return false;
	if (!line->has_timestamp)
		return true;
	if (*distance == 0)
		return ticks == 0;
	return *distance > 0 ? ticks >= 0 : ticks <= 0;
}

static bool
on_line(const struct weir_base_line *line, const struct weir_base_line_point *from,
	const struct weir_base_line_point *to, int64_t *distance)
{
	return line->step_ticks > 0 ? on_line_by_time(line, from, to, distance)
				    : on_line_by_number(line, from, to, distance);
}

static void
set_newest(struct weir_base_line *line, uint64_t sequence, uint64_t timestamp)
{
	uint64_t mask = UINT64_MAX >> (64 - line->timestamp_bits);

	if (line->sequence_modulus > 0)
		sequence %= line->sequence_modulus;
	line->newest = (struct weir_base_line_point){sequence, timestamp & mask};
	line->next.timestamp = (timestamp + line->step_ticks) & mask;
	line->next.sequence = line->has_sequence ? sequence + 1 : 0;
	if (line->next.sequence == line->sequence_modulus)
		line->next.sequence = 0;
	line->has_newest = true;
}

/* The newest one is so much further on. */
static void
advance(struct weir_base_line *line, uint64_t distance)
{
	if (distance >= WEIR_BASE_LINE_WINDOW)
		memset(line->seen, 0, sizeof(line->seen));
	else
		for (uint64_t i = 1; i <= distance; i++) {
			uint64_t position = line->position + i;

			line->seen[position % WEIR_BASE_LINE_WINDOW / 64] &=
				~(UINT64_C(1) << position % 64);
		}
	line->position += distance;
	weir_base_line_mark(line, line->position);
}

/* On the line, and after the newest one. */
static struct weir_base_line_verdict
further_on(struct weir_base_line *line, const struct weir_base_line_point *point, uint64_t distance)
{
	advance(line, distance);
	set_newest(line, point->sequence, point->timestamp);
	return (struct weir_base_line_verdict){distance > 1 ? FAULT(GAP) : 0, distance - 1};
}

/* On the line, and not after the newest one. What is before the first one was not missed then: it is now. */
static struct weir_base_line_verdict
back(struct weir_base_line *line, uint64_t distance)
{
	uint64_t position = line->position - distance;
	uint64_t bit = UINT64_C(1) << position % 64;
	uint64_t *word = &line->seen[position % WEIR_BASE_LINE_WINDOW / 64];
	bool seen = (*word & bit) != 0;

	*word |= bit;
	return (struct weir_base_line_verdict){seen ? FAULT(DUPLICATE) : FAULT(REORDERED),
		!seen && position < line->first ? 1 : 0};
}

/* ticks - numbers * step, around where it does not fit. */
static int64_t
minus(int64_t ticks, int64_t numbers, int64_t step)
{
	return (int64_t)((uint64_t)ticks - (uint64_t)numbers * (uint64_t)step);
}

/* How wrong is a timestamp that is so many ticks from where it should be? */
static uint32_t
timestamp_fault(const struct weir_base_line *line, int64_t ticks)
{
	if (!within_jump(line, ticks))
		return FAULT(TIMESTAMP_JUMP);
	return ticks < 0 ? FAULT(LATE) : FAULT(EARLY);
}

/* Off the line: is it the next one by its number, or by its time? Then the line goes on as if the other one were right. */
static struct weir_base_line_verdict
off_line(struct weir_base_line *line, const struct weir_base_line_point *point)
{
	const int64_t step = (int64_t)line->step_ticks;
	int64_t numbers = line->has_sequence ? numbers_from(line, &line->newest, point) : 1;
	int64_t ticks = line->has_timestamp ? ticks_from(line, &line->newest, point) : 0;
	bool next_in_time = line->has_sequence &&
			    (step > 0 ? ticks == step : ticks >= 0 && within_jump(line, ticks));
	struct weir_base_line_verdict verdict = {0};

	line->other = *point;
	line->has_other = true;
	if (numbers == 1) {
		verdict.faults = timestamp_fault(line, minus(ticks, 1, step));
		advance(line, 1);
		set_newest(
			line, line->newest.sequence + 1, line->newest.timestamp + line->step_ticks);
	} else if (next_in_time) {
		verdict.faults = FAULT(SEQUENCE_JUMP);
		advance(line, 1);
		set_newest(line, line->newest.sequence + 1, point->timestamp);
	} else {
		verdict.faults =
			FAULT(SEQUENCE_JUMP) | timestamp_fault(line, minus(ticks, numbers, step));
	}
	return verdict;
}

/* The stream goes on where the frame before said. */
static struct weir_base_line_verdict
go_on_at_other(
	struct weir_base_line *line, const struct weir_base_line_point *point, uint64_t distance)
{
	memset(line->seen, 0, sizeof(line->seen));
	weir_base_line_mark(line, line->position);
	line->first = line->position;
	line->has_other = false;
	return further_on(line, point, distance);
}

struct weir_base_line_verdict
weir_base_line_other(struct weir_base_line *line, const struct weir_base_line_point *point)
{
	int64_t distance;

	if (!line->has_newest) {
		/* So far on that a window of positions is before it. */
		line->first = line->position = WEIR_BASE_LINE_WINDOW;
		weir_base_line_mark(line, line->position);
		set_newest(line, point->sequence, point->timestamp);
		return (struct weir_base_line_verdict){0};
	}
	if (on_line(line, &line->newest, point, &distance)) {
		line->has_other = false;
		return distance > 0 ? further_on(line, point, (uint64_t)distance)
				    : back(line, (uint64_t)-distance);
	}
	if (line->has_other && on_line(line, &line->other, point, &distance)) {
		if (distance > 0)
			return go_on_at_other(line, point, (uint64_t)distance);
		if (distance == 0)
			return (struct weir_base_line_verdict){FAULT(DUPLICATE), 0};
	}
	return off_line(line, point);
}
