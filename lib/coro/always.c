/* SPDX-License-Identifier: BSD-3-Clause */

/* For tests, which should not depend on time: each check yields. */

#include <stdlib.h>

#include "coro_private.h"

bool coro_always __attribute__((aligned(64))); /* not beside what others write */

void
weir_coro_always_yield(bool yield)
{
	__atomic_store_n(&coro_always, yield, __ATOMIC_RELAXED);
}

void
coro_always_init(void)
{
	const char *wish = getenv("WEIR_CORO_ALWAYS_YIELD");

	/* What the program said before holds. */
	if (wish != NULL)
		weir_coro_always_yield(wish[0] == '1');
}
