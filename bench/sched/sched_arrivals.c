/* SPDX-License-Identifier: BSD-3-Clause */

/* What comes when, where events come at times of their own: a Poisson process. */

#include <math.h>

#include "sched_bench.h"

#define GAPS 4096

static uint64_t gaps[GAPS]; /* between arrivals, exponential, in 1/1024 of their mean */

static void
make_gaps(void)
{
	uint64_t seed = 7, sum = 0;

	if (gaps[0] != 0)
		return;
	for (unsigned int i = 0; i < GAPS; i++) {
		double u = ((double)(bench_random(&seed) >> 11) + 1) / 9007199254740993.0;

		gaps[i] = (uint64_t)(-log(u) * 1024) + 1;
		sum += gaps[i];
	}
	for (unsigned int i = 0; i < GAPS; i++) /* their mean is exact */
		gaps[i] = gaps[i] * 1024 * GAPS / sum + 1;
}

void
sched_arrivals_begin(struct sched_arrivals *arrivals, const struct sched_shape *shape,
	uint64_t *random, uint64_t due)
{
	make_gaps();
	*arrivals = (struct sched_arrivals){
		.shape = shape,
		.random = random,
		.mean = (uint64_t)((double)weir_base_cycles_hz() / shape->events_per_s * 1024),
		.due = due,
		.gap = (unsigned int)bench_random(random) % GAPS,
	};
}

/* What comes next: its flow, its class. */
static uint64_t
draw(const struct sched_shape *shape, uint64_t *random, uint64_t stamp)
{
	uint64_t bits = bench_random(random);
	double share = (double)(bits >> 32 & 0xffff) / 65536;
	uint32_t flow = (double)(bits & 0xffff) / 65536 < shape->hot_share
				? 0
				: (uint32_t)(bits >> 16) % SCHED_FLOWS;
	unsigned int class = 0;

	while (class < SCHED_CLASSES - 1 && share >= shape->class_share[class])
		share -= shape->class_share[class ++];
	if (shape->class_queues)
		flow = flow / SCHED_CLASSES * SCHED_CLASSES + class;
	return sched_describe(stamp, flow, class);
}

/* No two have the same stamp. */
uint64_t
sched_arrivals_next(struct sched_arrivals *arrivals)
{
	const uint64_t stamp = arrivals->due > arrivals->last ? arrivals->due : arrivals->last + 1;

	arrivals->last = stamp & SCHED_STAMP_MASK;
	arrivals->fraction += arrivals->mean * gaps[arrivals->gap] / 1024;
	arrivals->gap = (arrivals->gap + 1) % GAPS;
	arrivals->due += arrivals->fraction / 1024;
	arrivals->fraction %= 1024;
	return draw(arrivals->shape, arrivals->random, stamp);
}
