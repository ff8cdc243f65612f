/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that are not simply the next ones: gaps, duplicates, jumps. */
#include <string.h>

#include "check.h"

/* Of numbers without a step of time to confirm them: further on is a jump, not a gap. */
#define GAP_MAX 65536

#define FAULT(name) (1u << WEIR_READOUT_FAULT_##name)

void
check_init(struct check *check, const struct weir_readout_format *format, uint64_t jump_ticks)
{
	memset(check, 0, sizeof(*check));
	check->format = format;
	check->jump_ticks = jump_ticks;
	check->has_sequence = format->fields[WEIR_READOUT_FIELD_SEQUENCE].mask != 0;
	check->has_timestamp = format->fields[WEIR_READOUT_FIELD_TIMESTAMP].mask != 0;
}

/* By the shorter way round. */
static int64_t
ticks_from(const struct check *check, const struct check_point *from, const struct check_point *to)
{
	unsigned int unused = 64 - check->format->timestamp_bits;

	return (int64_t)((to->timestamp - from->timestamp) << unused) >> unused;
}

static int64_t
numbers_from(
	const struct check *check, const struct check_point *from, const struct check_point *to)
{
	uint64_t modulus = check->format->sequence_modulus, forwards;

	if (modulus == 0)
		return (int64_t)(to->sequence - from->sequence);
	forwards = to->sequence >= from->sequence
			   ? (to->sequence - from->sequence) % modulus
			   : modulus - (from->sequence - to->sequence) % modulus;
	return forwards > modulus / 2 ? (int64_t)(forwards - modulus) : (int64_t)forwards;
}

/* Do so many numbers on, and so many times around, come to the same? */
static bool
same_number(const struct check *check, int64_t numbers, int64_t distance)
{
	uint64_t modulus = check->format->sequence_modulus;
	uint64_t apart = numbers > distance ? (uint64_t)numbers - (uint64_t)distance
					    : (uint64_t)distance - (uint64_t)numbers;

	return modulus == 0 ? apart == 0 : apart % modulus == 0;
}

static bool
within_jump(const struct check *check, int64_t ticks)
{
	uint64_t size = ticks < 0 ? (uint64_t)0 - (uint64_t)ticks : (uint64_t)ticks;

	return size <= check->jump_ticks;
}

/* With a step: time says the distance, and the number must agree. */
static bool
on_line_by_time(const struct check *check, const struct check_point *from,
	const struct check_point *to, int64_t *distance)
{
	int64_t ticks = ticks_from(check, from, to), step = (int64_t)check->format->step_ticks;

	*distance = ticks / step;
	return ticks % step == 0 && *distance > -CHECK_WINDOW && within_jump(check, ticks) &&
	       (!check->has_sequence ||
		       same_number(check, numbers_from(check, from, to), *distance));
}

/* Without a step: the number says the distance, and time must go the same way. */
static bool
on_line_by_number(const struct check *check, const struct check_point *from,
	const struct check_point *to, int64_t *distance)
{
	int64_t ticks = check->has_timestamp ? ticks_from(check, from, to) : 0;

	*distance = check->has_sequence ? numbers_from(check, from, to) : 1;
	if (*distance <= -CHECK_WINDOW || *distance > GAP_MAX || !within_jump(check, ticks))
		return false;
	if (!check->has_timestamp)
		return true;
	if (*distance == 0)
		return ticks == 0;
	return *distance > 0 ? ticks >= 0 : ticks <= 0;
}

static bool
on_line(const struct check *check, const struct check_point *from, const struct check_point *to,
	int64_t *distance)
{
	return check->format->step_ticks > 0 ? on_line_by_time(check, from, to, distance)
					     : on_line_by_number(check, from, to, distance);
}

static void
set_newest(struct check *check, uint64_t sequence, uint64_t timestamp)
{
	const struct weir_readout_format *format = check->format;
	uint64_t mask = UINT64_MAX >> (64 - format->timestamp_bits);

	if (format->sequence_modulus > 0)
		sequence %= format->sequence_modulus;
	check->newest = (struct check_point){sequence, timestamp & mask};
	check->next.timestamp = (timestamp + format->step_ticks) & mask;
	check->next.sequence = check->has_sequence ? sequence + 1 : 0;
	if (check->next.sequence == format->sequence_modulus)
		check->next.sequence = 0;
	check->has_newest = true;
}

/* The newest one is so much further on. */
static void
advance(struct check *check, uint64_t distance)
{
	if (distance >= CHECK_WINDOW)
		memset(check->seen, 0, sizeof(check->seen));
	else
		for (uint64_t i = 1; i <= distance; i++) {
			uint64_t position = check->position + i;

			check->seen[position % CHECK_WINDOW / 64] &=
				~(UINT64_C(1) << position % 64);
		}
	check->position += distance;
	check_mark(check, check->position);
}

/* On the line, and after the newest one. */
static struct verdict
further_on(struct check *check, const struct check_point *point, uint64_t distance)
{
	advance(check, distance);
	set_newest(check, point->sequence, point->timestamp);
	return (struct verdict){distance > 1 ? FAULT(GAP) : 0, distance - 1};
}

/* On the line, and not after the newest one. What is before the first one was not missed then: it is now. */
static struct verdict
back(struct check *check, uint64_t distance)
{
	uint64_t position = check->position - distance;
	uint64_t bit = UINT64_C(1) << position % 64;
	uint64_t *word = &check->seen[position % CHECK_WINDOW / 64];
	bool seen = (*word & bit) != 0;

	*word |= bit;
	return (struct verdict){seen ? FAULT(DUPLICATE) : FAULT(REORDERED),
		!seen && position < check->first ? 1 : 0};
}

/* ticks - numbers * step, around where it does not fit. */
static int64_t
minus(int64_t ticks, int64_t numbers, int64_t step)
{
	return (int64_t)((uint64_t)ticks - (uint64_t)numbers * (uint64_t)step);
}

/* How wrong is a timestamp that is so many ticks from where it should be? */
static uint32_t
timestamp_fault(const struct check *check, int64_t ticks)
{
	if (!within_jump(check, ticks))
		return FAULT(TIMESTAMP_JUMP);
	return ticks < 0 ? FAULT(LATE) : FAULT(EARLY);
}

/* Off the line: is it the next one by its number, or by its time? Then the line goes on as if the other one were right. */
static struct verdict
off_line(struct check *check, const struct check_point *point)
{
	const int64_t step = (int64_t)check->format->step_ticks;
	int64_t numbers = check->has_sequence ? numbers_from(check, &check->newest, point) : 1;
	int64_t ticks = check->has_timestamp ? ticks_from(check, &check->newest, point) : 0;
	bool next_in_time = check->has_sequence &&
			    (step > 0 ? ticks == step : ticks >= 0 && within_jump(check, ticks));
	struct verdict verdict = {0};

	check->other = *point;
	check->has_other = true;
	if (numbers == 1) {
		verdict.faults = timestamp_fault(check, minus(ticks, 1, step));
		advance(check, 1);
		set_newest(check, check->newest.sequence + 1,
			check->newest.timestamp + check->format->step_ticks);
	} else if (next_in_time) {
		verdict.faults = FAULT(SEQUENCE_JUMP);
		advance(check, 1);
		set_newest(check, check->newest.sequence + 1, point->timestamp);
	} else {
		verdict.faults =
			FAULT(SEQUENCE_JUMP) | timestamp_fault(check, minus(ticks, numbers, step));
	}
	return verdict;
}

/* The stream goes on where the frame before said. */
static struct verdict
go_on_at_other(struct check *check, const struct check_point *point, uint64_t distance)
{
	memset(check->seen, 0, sizeof(check->seen));
	check_mark(check, check->position);
	check->first = check->position;
	check->has_other = false;
	return further_on(check, point, distance);
}

struct verdict
check_other(struct check *check, const struct check_point *point)
{
	int64_t distance;

	if (!check->has_newest) {
		/* So far on that a window of positions is before it. */
		check->first = check->position = CHECK_WINDOW;
		check_mark(check, check->position);
		set_newest(check, point->sequence, point->timestamp);
		return (struct verdict){0};
	}
	if (on_line(check, &check->newest, point, &distance)) {
		check->has_other = false;
		return distance > 0 ? further_on(check, point, (uint64_t)distance)
				    : back(check, (uint64_t)-distance);
	}
	if (check->has_other && on_line(check, &check->other, point, &distance)) {
		if (distance > 0)
			return go_on_at_other(check, point, (uint64_t)distance);
		if (distance == 0)
			return (struct verdict){FAULT(DUPLICATE), 0};
	}
	return off_line(check, point);
}
