/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_ENDING_H
#define WEIR_APP_ENDING_H

/**
 * @file
 * How a run comes to its end, once it is to: who may hold it up, and for how long. Time is the caller's.
 */

#include <stdbool.h>
#include <stdint.h>

#define ENDING_DEVICE_NS UINT64_C(1000000000) /**< how long a full device may hold up a stop */
#define ENDING_READER_NS                                                                           \
	UINT64_C(                                                                                  \
		30000000000) /**< how long readers of fragments may; one that takes nothing is given up sooner */

/** What is to be done now: bits. */
enum {
	ENDING_STOP = 1 << 0,         /**< nothing new comes in; once */
	ENDING_STOP_WAITING = 1 << 1, /**< nobody waits for a device any more */
	ENDING_STOP_NOW = 1 << 2,     /**< nor for readers: what is not sent by now has failed */
};

/** A run's way to its end. All zero: it goes on. */
struct ending {
	bool stopping;
	uint64_t since_ns; /**< when it was stopped */
};

/**
 * @param asked    it is to end, for whatever reason
 * @param nb_signals  how many came; the second one means: at once
 * @return what is to be done, some of ENDING_
 */
unsigned int ending_step(struct ending *ending, uint64_t now_ns, bool asked, int nb_signals);

#endif
