/* SPDX-License-Identifier: BSD-3-Clause */

/* A hundred thousand jobs sleep at once, and none has a credit, of which there are far fewer. */

#include "weir_base_sanitizer.h"

#include "job_test.h"

#ifdef WEIR_BASE_TSAN
#define NB 2000 /* it has room for 8,000 fibers */
#else
#define NB 100000
#endif

static uint64_t nb_begun, nb_done, nb_cancelled;

static void
sleeps(void *in, void *out)
{
	int rc;

	jt_add(&nb_begun, 1);
	rc = weir_job_sleep(*(const uint64_t *)in);
	CHECK(rc == 0 || rc == -ECANCELED);
	jt_add(rc == 0 ? &nb_done : &nb_cancelled, 1);
}

static void
begin(uint64_t ns)
{
	jt_make_of(jt_em_config(1), (struct weir_job_service_config){.max_jobs = NB}, NB);
	nb_begun = nb_done = nb_cancelled = 0;
	for (unsigned int i = 0; i < NB; i++)
		jt_spawn(sleeps, &ns, sizeof(ns), NULL);
	assert_int_equal(nb_begun, NB);
}

static void
all_sleep_at_once(void **state)
{
	struct weir_sched_stats stats;
	uint64_t begun;

	begin(1000000000); /* longer than it takes to spawn them, as a rule */
	weir_sched_stats(weir_em_sched(et_em), &stats);
	assert_int_equal(stats.nb_new, 0); /* nothing was sent so far */
	assert_int_equal(nb_done, 0);
	begun = weir_base_time_ns();
	jt_finish();
	print_message("  all were awake after %.3f s more\n",
		(double)(weir_base_time_ns() - begun) * 1e-9);
	assert_int_equal(nb_done, NB);
}

static void
all_are_cancelled(void **state)
{
	begin(1000000000000);
	assert_int_equal(jt_stats().nb_live, NB);
	assert_int_equal(weir_job_service_stop(jt_service, et_core, WEIR_JOB_FOREVER), 0);
	assert_int_equal(nb_cancelled, NB);
	assert_int_equal(jt_stats().nb_cancelled, NB);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JT_TEST(all_sleep_at_once),
		JT_TEST(all_are_cancelled),
	};

	return ST_RUN("job-many", tests);
}
