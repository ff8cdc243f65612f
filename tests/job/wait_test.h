/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WAIT_TEST_H
#define WAIT_TEST_H

/* What the tests of waiting share: a completion, and jobs that wait for it. */

#include "job_test.h"
#include "weir_em_timer.h"

#define MS UINT64_C(1000000)

static uint64_t nb_done, nb_begun;
static struct weir_job_completion completion;
static int result;

static inline void
reset(void)
{
	nb_done = nb_begun = 0;
	result = 1;
	weir_job_completion_init(&completion);
}

struct wait {
	struct weir_job_completion *completion;
	const struct weir_job_wait *how;
	int *result;
};

static inline void
waits(void *in, void *out)
{
	const struct wait *wait = in;

	jt_add(&nb_begun, 1);
	*wait->result = weir_job_completion_wait(wait->completion, wait->how);
	jt_add(&nb_done, 1);
}

static inline weir_job
spawn_wait(const struct weir_job_wait *how)
{
	struct wait wait = {&completion, how, &result};

	return jt_spawn(waits, &wait, sizeof(wait), NULL);
}

#endif
