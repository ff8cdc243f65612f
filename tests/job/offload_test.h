/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OFFLOAD_TEST_H
#define OFFLOAD_TEST_H

/* What the tests of blocking calls share: a pool, whose counters always add up; and calls of all lengths and times, at once. */

#include <unistd.h>

#include "job_test.h"

#include "weir_job_offload.h"

static struct weir_job_offload_pool *pool;
static uint64_t nb_abandoned;

static inline struct weir_job_offload_stats
look(void)
{
	struct weir_job_offload_stats stats;

	weir_job_offload_stats(pool, &stats);
	assert_int_equal(stats.nb_accepted, stats.nb_done + stats.nb_abandoned +
						    stats.nb_withdrawn + stats.nb_returned +
						    stats.nb_queued + stats.nb_running);
	assert_int_equal(stats.nb_abandoned, stats.nb_ended + stats.nb_hanging);
	return stats;
}

static inline void
abandoned(void *arg)
{
	jt_add(&nb_abandoned, 1);
}

#define CHAOS_CALLS 50 /* of a job */

static uint64_t chaos_jobs, nb_in_time, nb_given_up, nb_refused;

static inline void
nap(void *arg)
{
	uint64_t *number = arg;

	if (*number % 3 != 1)
		usleep((useconds_t)(*number % 7 * 20));
	*number += 1000000;
}

/* Each call has its answer, or nothing of it. */
static inline void
many(void *in, void *out)
{
	uint64_t number = *(uint64_t *)in;

	for (unsigned int i = 0; i < CHAOS_CALLS; i++) {
		const struct weir_job_offload_options options = {
			.wait = {.flags = WEIR_JOB_TIMEOUT,
				.timeout_ns = (number + 1) * i * 977 % 300000},
			.abandoned = abandoned};
		uint64_t argument = number;
		int rc = weir_job_offload(pool, nap, &argument, sizeof(argument), &options);

		CHECK(argument == number + (rc == 0 ? 1000000 : 0));
		CHECK(rc == 0 || rc == -ETIMEDOUT || rc == -EAGAIN || rc == -ECANCELED);
		jt_add(rc == 0 ? &nb_in_time : rc == -EAGAIN ? &nb_refused : &nb_given_up, 1);
	}
}

/* So many jobs make calls, and one in five is cancelled; all have ended when this returns. The pool is to be stopped then. */
static inline void
chaos_begin(uint64_t nb)
{
	weir_job jobs[64];

	assert_in_range(nb, 1, RTE_DIM(jobs));
	chaos_jobs = nb;
	nb_in_time = nb_given_up = nb_refused = 0;
	for (uint64_t i = 0; i < nb; i++)
		jobs[i] = jt_spawn(many, &i, sizeof(i), NULL);
	for (uint64_t i = 0; i < nb; i += 5) {
		weir_job_cancel(jt_service, jobs[i]);
		jt_rounds(50);
	}
	jt_finish();
}

/* Each was told once what became of it. */
static inline void
chaos_check(void)
{
	assert_int_equal(nb_in_time + nb_given_up + nb_refused, CHAOS_CALLS * chaos_jobs);
	assert_int_equal(look().nb_done, nb_in_time);
	assert_int_equal(look().nb_refused, nb_refused);
	assert_int_equal(nb_abandoned, nb_given_up);
	assert_int_equal(look().nb_hanging, 0);
}

#endif
