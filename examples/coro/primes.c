/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long work on a core that has other things to do:
 *
 *     cc -O2 primes.c -o primes $(pkg-config --cflags --libs weir)
 */
#include <inttypes.h>
#include <stdio.h>

#include <weir_base.h>
#include <weir_coro.h>

struct range {
	uint64_t from, to;
};

/* How many primes are there? Gives the core back when its time slice is up. */
static void
count_primes(void)
{
	const struct range *range = weir_coro_self_in_param(sizeof(*range));
	uint64_t *nb_primes = weir_coro_self_out_param(sizeof(*nb_primes));

	for (uint64_t number = range->from; number < range->to; number++) {
		uint64_t divisor = 2;

		while (divisor * divisor <= number && number % divisor != 0)
			divisor++;
		if (divisor * divisor > number)
			(*nb_primes)++;
		if (weir_coro_maybe_yield()) /* somebody wants it to end */
			return;
	}
}

int
main(void)
{
	const uint64_t slice = weir_base_cycles_hz() / 100000; /* 10 us */
	struct weir_coro *coro;
	struct range *range;
	uint64_t turns = 0;

	if (weir_coro_init(16384, sizeof(*range), sizeof(uint64_t), 100, slice, 10, -1) < 0)
		return 1;
	coro = weir_coro_create(count_primes);
	if (coro == NULL)
		return 1;
	range = weir_coro_in_param(coro, sizeof(*range));
	range->from = 2;
	range->to = 200000;

	while (!weir_coro_has_exited(coro)) {
		turns++; /* here packets are received, worked on and sent */
		weir_coro_resume(coro);
	}
	printf("%" PRIu64 " primes, and %s\n",
		*(uint64_t *)weir_coro_out_param(coro, sizeof(uint64_t)),
		turns > 100 ? "packets were moved all the time" : "no packets were moved");
	weir_coro_destroy(coro);
	weir_coro_cleanup();
	return 0;
}
