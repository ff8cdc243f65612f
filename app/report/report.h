/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_REPORT_H
#define WEIR_APP_REPORT_H

/**
 * @file
 * What an instance has done so far. It is collected as JSON in one place; `weir run` and
 * `weir stats` print that or make a table of it.
 */

#include <stdio.h>

#include <jansson.h>

struct instance;

/** Look at an instance. Any thread. @return 0 and the report, which the caller owns; or a negative errno */
int report_collect(struct instance *instance, json_t **report);

/** Do the sums of a report add up: all that came in went somewhere? */
int report_adds_up(const json_t *report);

/** Print a report for people. */
void report_print(const json_t *report, FILE *out);

/** Print what "coro/stats" answers, see weir_coro_ctl.h, for people. */
void report_print_coro(const json_t *answer, FILE *out);

/**
 * Print what happened between two reports of one instance, as rates.
 *
 * @param before  the earlier one; NULL: since the start
 */
void report_print_rates(const json_t *before, const json_t *report, FILE *out);

#endif
