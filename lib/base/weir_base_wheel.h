/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_WHEEL_H
#define WEIR_BASE_WHEEL_H

/**
 * @file
 * A hierarchical timing wheel (Varghese and Lauck, 1987): what is due at which tick. No memory of its own, no locks, no clock: its user has those.
 *
 * Threads: one at a time. Entries are the user's memory, and stay linked from weir_base_wheel_add() until
 * weir_base_wheel_advance() returns them or weir_base_wheel_remove(). A tick is as long as the user likes. Nothing here can fail.
 *
 * Why not rte_timer, which DPDK has: its poll calls back all that is due at once, however much that is, and takes all of it from
 * its list under one lock, so that 100,000 timeouts of one moment keep a core from its events for as long as they take, and
 * everybody who arms from arming there; here a poll does a bounded piece. Its rte_timer_stop() does not tell one that has fired from one
 * that it stopped, and both it and rte_timer_reset() fail while another core is at that timer, so that a state machine and a
 * wait for that core would come on top. It has delays, but no points in time. It wants an lcore id of whoever polls, and there are
 * 128. What it would save is this file.
 *
 * Time is a number of ticks, cut into digits of 6 bits. An entry is on the level of the highest digit in which its tick differs
 * from the wheel's time, in that digit's slot:
 *
 *     level 2   | | | | |e| ...   64 slots of 4,096 ticks
 *     level 1   | |e| | | | ...   64 slots of 64 ticks
 *     level 0   | | | |e|e| ...   64 slots of one tick
 *
 * So all of a level is due before anything on a higher one; the lowest level's first slot, found by a bit mask, is where time goes
 * next. On level 0 its entries are due. Those of a higher level move down when time gets to the slot's beginning.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_BASE_WHEEL_BITS  6                            /**< of a tick that a level stands for */
#define WEIR_BASE_WHEEL_SLOTS (1u << WEIR_BASE_WHEEL_BITS) /**< of a level */
/** Levels: enough for any tick. */
#define WEIR_BASE_WHEEL_LEVELS ((64 + WEIR_BASE_WHEEL_BITS - 1) / WEIR_BASE_WHEEL_BITS)

/** Part of what is to be due. */
struct weir_base_wheel_entry {
	uint64_t tick;                      /**< when it is due */
	struct weir_base_wheel_entry *next; /**< a ring; NULL: in no wheel */
	struct weir_base_wheel_entry *prev; /**< likewise */
	uint8_t level;                      /**< where it is */
	uint8_t slot;                       /**< likewise */
};

/** What is due when. All zero: nothing. */
struct weir_base_wheel {
	uint64_t now;                          /**< ticks before this one are over */
	uint32_t nb;                           /**< entries */
	uint64_t bits[WEIR_BASE_WHEEL_LEVELS]; /**< slots with entries */
	struct weir_base_wheel_entry *moving;  /**< to lower levels, first of a ring */
	/** Likewise. */
	struct weir_base_wheel_entry *slots[WEIR_BASE_WHEEL_LEVELS][WEIR_BASE_WHEEL_SLOTS];
};

/** At the end of a ring. */
static inline void
weir_base_wheel_append(struct weir_base_wheel_entry **ring, struct weir_base_wheel_entry *entry)
{
	struct weir_base_wheel_entry *first = *ring;

	if (first == NULL) {
		*ring = entry->next = entry->prev = entry;
		return;
	}
	entry->next = first;
	entry->prev = first->prev;
	first->prev->next = entry;
	first->prev = entry;
}

static inline void
weir_base_wheel_unlink(struct weir_base_wheel_entry **ring, struct weir_base_wheel_entry *entry)
{
	if (*ring == entry)
		*ring = entry->next != entry ? entry->next : NULL;
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
	entry->next = entry->prev = NULL;
}

/** Where it belongs, as of now. */
static inline void
weir_base_wheel_place(struct weir_base_wheel *wheel, struct weir_base_wheel_entry *entry)
{
	uint64_t tick = entry->tick > wheel->now ? entry->tick : wheel->now;
	uint64_t differs = tick ^ wheel->now;
	unsigned int level =
		differs != 0 ? (63u - (unsigned int)__builtin_clzll(differs)) / WEIR_BASE_WHEEL_BITS
			     : 0;
	unsigned int slot = tick >> (level * WEIR_BASE_WHEEL_BITS) & (WEIR_BASE_WHEEL_SLOTS - 1);

	entry->level = (uint8_t)level;
	entry->slot = (uint8_t)slot;
	weir_base_wheel_append(&wheel->slots[level][slot], entry);
	wheel->bits[level] |= UINT64_C(1) << slot;
}

/** First slot on the lowest level: nothing is due before it begins. False: the wheel is empty, but for what moves. */
static inline bool
weir_base_wheel_first(const struct weir_base_wheel *wheel, unsigned int *level, unsigned int *slot,
	uint64_t *begin)
{
	for (*level = 0; *level < WEIR_BASE_WHEEL_LEVELS; (*level)++) {
		unsigned int shift = *level * WEIR_BASE_WHEEL_BITS;
		uint64_t above = shift + WEIR_BASE_WHEEL_BITS < 64
					 ? UINT64_MAX << (shift + WEIR_BASE_WHEEL_BITS)
					 : 0;

		if (wheel->bits[*level] == 0)
			continue;
		*slot = (unsigned int)__builtin_ctzll(wheel->bits[*level]);
		*begin = (wheel->now & above) | (uint64_t)*slot << shift;
		return true;
	}
	return false;
}

/** There is nothing to do before this tick; UINT64_MAX: never. */
static inline uint64_t
weir_base_wheel_next(const struct weir_base_wheel *wheel)
{
	unsigned int level, slot;
	uint64_t begin;

	if (wheel->moving != NULL)
		return wheel->now;
	return weir_base_wheel_first(wheel, &level, &slot, &begin) ? begin : UINT64_MAX;
}

/** Let time pass over ticks in which nothing is to be done: then what is added is near, and moves less. */
static inline void
weir_base_wheel_skip(struct weir_base_wheel *wheel, uint64_t now)
{
	if (now > wheel->now && now < weir_base_wheel_next(wheel))
		wheel->now = now;
}

/** The entry, which is in no wheel, is due at entry->tick, or at once when that is over. */
static inline void
weir_base_wheel_add(struct weir_base_wheel *wheel, struct weir_base_wheel_entry *entry)
{
	wheel->nb++;
	weir_base_wheel_place(wheel, entry);
}

/** The entry, which is in this wheel, is not due any more. */
static inline void
weir_base_wheel_remove(struct weir_base_wheel *wheel, struct weir_base_wheel_entry *entry)
{
	struct weir_base_wheel_entry **ring = &wheel->slots[entry->level][entry->slot];

	/* what moves has left its slot, where others may be by now */
	weir_base_wheel_unlink(wheel->moving == entry ? &wheel->moving : ring, entry);
	if (*ring == NULL)
		wheel->bits[entry->level] &= ~(UINT64_C(1) << entry->slot);
	wheel->nb--;
}

/**
 * Let time pass until the end of tick @now.
 *
 * @param steps  how much work to do at most; one for each entry that is due or moves. What it has used is subtracted
 * @return an entry that is due, taken out; NULL: no more, or (*steps is 0) no more for now
 */
static inline struct weir_base_wheel_entry *
weir_base_wheel_advance(struct weir_base_wheel *wheel, uint64_t now, unsigned int *steps)
{
	while (*steps > 0) {
		struct weir_base_wheel_entry *entry = wheel->moving;
		unsigned int level, slot;
		uint64_t begin;

		if (entry != NULL) {
			weir_base_wheel_unlink(&wheel->moving, entry);
			weir_base_wheel_place(wheel, entry);
			(*steps)--;
			continue;
		}
		if (!weir_base_wheel_first(wheel, &level, &slot, &begin) || begin > now) {
			if (now > wheel->now)
				wheel->now = now;
			return NULL;
		}
		if (begin > wheel->now)
			wheel->now = begin;
		entry = wheel->slots[level][slot];
		if (level == 0) {
			weir_base_wheel_remove(wheel, entry);
			(*steps)--;
			return entry;
		}
		wheel->moving = entry;
		wheel->slots[level][slot] = NULL;
		wheel->bits[level] &= ~(UINT64_C(1) << slot);
	}
	return NULL;
}

#ifdef __cplusplus
}
#endif

#endif
