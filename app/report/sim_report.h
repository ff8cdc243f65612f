/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_SIM_REPORT_H
#define WEIR_APP_SIM_REPORT_H

/**
 * @file
 * What a simulation found, for programs and for people.
 */

#include <jansson.h>

#include <weir_sim.h>

/** A run that has come to its end. */
struct sim_report {
	const char *path;                     /**< the description file */
	const struct weir_sim_model *model;   /**< read from it */
	const struct weir_sim_param *param;   /**< how it was run */
	const struct weir_sim_result *result; /**< what came of it */
	double seconds;                       /**< how long that took */
};

/** The first replication of which something does not hold; NULL: all is well. */
const struct weir_sim_replication *sim_report_broken(const struct sim_report *report);

/** All of it as JSON; the caller owns it. */
json_t *sim_report_json(const struct sim_report *report);

/** All of it as CSV, to standard output: a line per result. */
void sim_report_csv(const struct sim_report *report);

/** A table of it, to standard output. */
void sim_report_print(const struct sim_report *report);

#endif
