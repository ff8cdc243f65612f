/* SPDX-License-Identifier: BSD-3-Clause */

/* A lock that is biased, by others: see bias.h. */

#include <unistd.h>

#include "bias.h"
#include "fence.h"
#include "spin.h"

/*
 * The kernel had no memory for the fence: it is tried again. Or it does not allow it any more: no CPU keeps a store to itself for as long as all
 * of these attempts take.
 */
#define FENCE_ATTEMPTS 1000
#define FENCE_PAUSE_US 10

static void
fence_surely(void)
{
	for (unsigned int i = 0; i < FENCE_ATTEMPTS && !fence_all(); i++)
		usleep(FENCE_PAUSE_US);
}

void
bias_end(struct bias *bias, const struct port_bias *holder)
{
	unsigned int spins = 0;

	__atomic_store_n(&bias->holder, 0, __ATOMIC_RELAXED);
	fence_surely();
	while (__atomic_load_n(&holder->is_inside, __ATOMIC_ACQUIRE) != 0)
		spin(&spins);
}
