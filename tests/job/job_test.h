/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOB_TEST_H
#define JOB_TEST_H

/*
 * What the tests of lib/job share: a service on an event machine as in em_test.h, whose core 0 is the test's own thread; coroutines with
 * stacks of 32 KB, 256 bytes in and out.
 */

#include "../em/em_test.h"

#include "weir_coro.h"
#include "weir_job.h"

extern struct weir_job_service *jt_service;

#define JT_TEST(name) cmocka_unit_test_teardown(name, jt_teardown)

#define JT_STACKS 1024

/* An event machine that is as large as a job's test wants; to be changed, and made. */
struct weir_em_config jt_em_config(unsigned int nb_cores);
/* Made of these, and started by core 0. */
void jt_make_of(
	struct weir_em_config em, struct weir_job_service_config config, size_t max_coroutines);
/* Of so many cores; 0 is the test's own thread, the others dispatch. */
void jt_make(unsigned int nb_cores);
/* Stops, which must do for all jobs to end; nothing may be left. */
int jt_teardown(void **state);

/* The calling thread dispatches until no job is alive. */
void jt_finish(void);
/* And until *value is so. */
void jt_until(const uint64_t *value, uint64_t wanted, const char *what);
/* So many rounds. */
void jt_rounds(unsigned int nb);

struct weir_job_stats jt_stats(void);

/* It must be taken. */
weir_job jt_spawn(
	weir_job_fn_t fn, const void *in, size_t size, const struct weir_job_options *options);

/* More than one of these may be at work at once. */
static inline void
jt_add(uint64_t *counter, uint64_t nb)
{
	__atomic_fetch_add(counter, nb, __ATOMIC_SEQ_CST);
}

static inline uint64_t
jt_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

#endif
