/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_CHAIN_H
#define READOUT_CHAIN_H

/* An application's functions in a row: which of them drops a frame, and why, as one number for all of their reasons. */

#include "weir_readout_process.h"

struct chain {
	uint32_t nb, nb_drops;
	struct {
		weir_readout_process_t run;
		void *arg;
		uint32_t first_drop, last_drop;
	} steps[WEIR_READOUT_PROCESSES_MAX];
	char drops[WEIR_READOUT_PROCESS_DROPS_MAX][2 * WEIR_READOUT_NAME_MAX]; /* names */
};

/* @p owner: for the log; @return 0, -EINVAL: said in the log */
int chain_init(struct chain *chain, const char *owner, const struct weir_readout_process *processes,
	uint32_t nb);

/* NULL beyond the last. */
const char *chain_drop_name(const struct chain *chain, uint32_t number);

/* @return the reason why it is dropped; negative: it passes */
static inline int
chain_run(const struct chain *chain, const struct weir_readout_item *item)
{
	for (uint32_t i = 0; i < chain->nb; i++) {
		int reason = chain->steps[i].run(chain->steps[i].arg, item);
		uint32_t drop = chain->steps[i].first_drop + (uint32_t)reason;

		if (reason == WEIR_READOUT_PASS)
			continue;
		return (int)(reason < 0 || drop > chain->steps[i].last_drop
				     ? chain->steps[i].last_drop
				     : drop);
	}
	return WEIR_READOUT_PASS;
}

#endif
