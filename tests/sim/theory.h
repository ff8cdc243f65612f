/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_SIM_THEORY_H
#define WEIR_TESTS_SIM_THEORY_H

/*
 * Comparing with theory: each statistic is told in advance, the seed is pinned, and the known value must lie in the
 * confidence interval of 99 % that 20 replications give; which must be narrow enough to tell anything.
 */
#include "sim_util.h"

#define REPLICATIONS 20
#define CONFIDENCE   0.99

struct run {
	struct given given;
	struct weir_sim_result result;
};

static inline void
run_free(struct run *run)
{
	weir_sim_result_free(&run->result);
	given_free(&run->given);
}

static inline void
expect(const struct run *run, enum weir_sim_scope scope, const char *name, const char *quantity,
	double known)
{
	const struct weir_sim_estimate estimate = weir_sim_result_estimate(
		&run->result, given_column(&run->given, scope, name, quantity), CONFIDENCE);

	if (fabs(estimate.mean - known) > estimate.half_width)
		fail_msg("%s of %s: %.8g +- %.3g; expected %.8g", quantity, name, estimate.mean,
			estimate.half_width, known);
	if (estimate.half_width > 0.1 * known)
		fail_msg("%s of %s: %.8g +- %.3g tells nothing", quantity, name, estimate.mean,
			estimate.half_width);
}

static inline struct run
run_text(const char *text)
{
	struct run run = {.given = given_model(text)};

	run.result = given_run(&run.given);
	return run;
}

#endif
