/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_REPORT_TEXT_H
#define WEIR_APP_REPORT_TEXT_H

/**
 * @file
 * Members of a report, and numbers as people read them.
 */

#include <stdio.h>

#include <jansson.h>

/** A member that is an integer; 0: there is none. */
json_int_t report_int(const json_t *json, const char *key);

/** A member that is a number; 0: there is none. */
double report_real(const json_t *json, const char *key);

/** A member that is a text; empty: there is none. */
const char *report_text(const json_t *json, const char *key);

/** 1234567 as 1,234,567. Four results are kept, so that one printf() can have several. */
const char *report_grouped(json_int_t value);

/** Packets a second. */
const char *report_rate(double pps);

/** Seconds. One result is kept. */
const char *report_time(double seconds);

#endif
