/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_SIM_DISCIPLINE_H
#define WEIR_SIM_DISCIPLINE_H

/**
 * @file
 * Queue disciplines of one's own, in shared objects: which packets get room in a queue, or to wait for a unit, and which
 * is served next.
 *
 * A model names one as `discipline: PLUGIN.so:SYMBOL` of a queue or a unit; SYMBOL is a struct weir_sim_discipline. Each
 * flow of the queue, and each unit, has a state of its own, in each replication:
 *
 *     create --> reserve, reserve, select, reserve, select ... --> destroy
 *
 * Between reserve and select packets are the discipline's: it keeps what it needs to know of them, in a data structure
 * of its choice. For a run to be the same whenever it is repeated, what it does must depend on nothing but its
 * arguments and its state.
 *
 * It is code of the program that loads it: what crashes it crashes that.
 *
 * Threads: replications run side by side, each by one thread; functions are called for several states at a time.
 * Needs no DPDK.
 */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of struct weir_sim_discipline; it grows when a member changes or is added. */
#define WEIR_SIM_DISCIPLINE_ABI 1

/** A packet that has to wait. */
struct weir_sim_waiting {
	uint64_t created_ps; /**< when its stream made it */
	uint64_t arrived_ps; /**< when it came to the queue or unit: now */
	uint32_t packet; /**< what select() calls it; free for another one once it was selected */
	uint32_t size_bytes; /**< its size */
	uint32_t flow;       /**< its flow, as the stream numbers them */
	uint32_t stream;     /**< its stream, in the order of the file, from 0 */
};

/** A discipline: what a shared object gives. All functions are needed. */
struct weir_sim_discipline {
	uint32_t abi;  /**< WEIR_SIM_DISCIPLINE_ABI */
	uint32_t size; /**< sizeof(struct weir_sim_discipline) */
	/** A state for a flow of a queue or for a unit, with nothing waiting; NULL: out of memory, which ends the run. */
	void *(*create)(void);
	/** Free a state; packets that wait in it are forgotten. */
	void (*destroy)(void *state);
	/** A packet comes that has to wait. @return whether it gets room; else it is dropped */
	bool (*reserve)(void *state, const struct weir_sim_waiting *waiting);
	/** Which packet is served next: one that waits, and waits no more. At least one does. */
	uint32_t (*select)(void *state, uint64_t now_ps);
};

#ifdef __cplusplus
}
#endif

#endif
