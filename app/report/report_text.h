/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_REPORT_TEXT_H
#define WEIR_APP_REPORT_TEXT_H

/**
 * @file
 * Members of a report, and numbers as people read them.
 */

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/** A counter, as JSON has it. */
static inline json_int_t
report_counter(uint64_t value)
{
	return (json_int_t)value;
}

/** Add a counter to counters by name, if it is not 0. @return it */
uint64_t report_count(json_t *counts, const char *name, uint64_t count);

/** Sum of counters by name; NULL: there are none. */
json_int_t report_sum(const json_t *counts);

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
