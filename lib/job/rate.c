/* SPDX-License-Identifier: BSD-3-Clause */

/* What may happen often is told of once a second. */

#include "job_private.h"

#define PERIOD_NS 1000000000

bool
job_may_tell(struct job_rate *rate, uint64_t now, uint64_t *nb_untold)
{
	uint64_t told = job_get(rate->told);

	if ((told != 0 && now < told + weir_base_ns_to_cycles(PERIOD_NS)) ||
		!__atomic_compare_exchange_n(
			&rate->told, &told, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(&rate->nb_untold, 1, __ATOMIC_RELAXED);
		return false;
	}
	*nb_untold = __atomic_exchange_n(&rate->nb_untold, 0, __ATOMIC_RELAXED);
	return true;
}
