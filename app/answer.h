/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_ANSWER_H
#define WEIR_APP_ANSWER_H

/**
 * @file
 * Reading answers of a running instance, for people.
 */

#include <jansson.h>

/** A text of an object, "-" where there is none, or an empty one. */
const char *answer_text(const json_t *item, const char *key);

/** Make all texts of an answer such that a terminal may have them: names are the application's. */
void answer_make_printable(json_t *answer);

/** Nanoseconds as "12.3us". Valid until the next call. */
const char *answer_duration(json_int_t ns);

#endif
