/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_PORT_ENDING_H
#define SCHED_PORT_ENDING_H

/* What a port gives up at the end of a call, when what it became can be seen: see ending.h. */

#include <stdint.h>

/* More than a port can hold. */
#define ENDING_MAX 256

struct port_ending {
	uint16_t nb, nb_runs;
	struct {
		uint32_t how; /* struct held::how, and HELD_FORWARDED */
		uint32_t nb;  /* so many */
	} runs[ENDING_MAX];   /* of what was held in one way, and ended so */
};

#endif
