/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_LINKS_CLOCK_H
#define WEIR_APP_LINKS_CLOCK_H

/**
 * @file
 * What time it is, by the frames of several links, whose clocks have one rate: that of the newest frame of the link in the lead. The first link is,
 * until it stands still while another one goes on for half of its history: then that one is. So a link that is dead does not stop the time of others, and
 * one whose clock is wrong does not set it.
 */

#include <stdbool.h>
#include <stdint.h>

struct weir_readout_buffer;
struct weir_readout_handler;

/** One of the links, as it was when it was looked at last. */
struct links_clock_link {
	const char *name;
	const struct weir_readout_buffer *buffer;
	uint64_t history_ticks;
	bool marked;
	uint64_t at;      /**< its newest frame */
	uint64_t lead_at; /**< that of the link in the lead */
};

/** Of one request. One thread reads it. */
struct links_clock {
	struct links_clock_link *links;
	unsigned int nb;
	unsigned int unused_bits; /**< of timestamps: 64 less their width, the same of all links */
	unsigned int lead;        /**< index into links */
	unsigned int next;        /**< to be looked at */
};

/** Make it. @param numbers  of links, 1 or more. @return 0 or -ENOMEM */
int links_clock_open(struct links_clock *clock, struct weir_readout_handler *const *handlers,
	const uint32_t *numbers, unsigned int nb);

/** By how much @p a is after @p b, taken for the shorter way. */
static inline int64_t
links_clock_after(const struct links_clock *clock, uint64_t a, uint64_t b)
{
	return (int64_t)((a - b) << clock->unused_bits) >> clock->unused_bits;
}

/**
 * Read it. Looks at two links, however many there are; while there is none in the lead that ever had a frame, at all.
 *
 * @param[out] begin  the oldest frame of the link in the lead
 * @param[out] now    the newest
 * @return false: there is none yet
 */
bool links_clock_read(struct links_clock *clock, uint64_t *begin, uint64_t *now);

/** Free it; also one that is all zero. */
void links_clock_close(struct links_clock *clock);

#endif
