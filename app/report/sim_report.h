/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_SIM_REPORT_H
#define WEIR_APP_SIM_REPORT_H

/**
 * @file
 * What a simulation found, for programs and for people.
 */

#include <stdio.h>

#include <jansson.h>

#include <weir_sim.h>

/** A run that has come to its end. */
struct sim_report {
	const char *path;                     /**< the description file */
	const struct weir_sim_model *model;   /**< read from it */
	const struct weir_sim_param *param;   /**< how it was run */
	const struct weir_sim_result *result; /**< what came of it */
	double seconds;                       /**< how long that took */
	const json_t
		*left_aside; /**< what the file says besides, see weir_base_doc_unread_json() */
	const char *error;   /**< what is not as it should be; NULL: all is well */
};

/** The first replication of which something does not hold; NULL: all is well. */
const struct weir_sim_replication *sim_report_broken(const struct sim_report *report);

/** All of it as JSON; the caller owns it. */
json_t *sim_report_json(const struct sim_report *report);

/** All of it as CSV, to standard output: a line per result. */
void sim_report_csv(const struct sim_report *report);

/** What stands in the file and changes nothing here, a line each, if there is anything. */
void sim_report_left_aside(const json_t *left_aside, FILE *out);

/** A table of it, to standard output. */
void sim_report_print(const struct sim_report *report);

#endif
