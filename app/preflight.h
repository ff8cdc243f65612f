/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_PREFLIGHT_H
#define WEIR_APP_PREFLIGHT_H

/**
 * @file
 * What `weir check` warns of: receivers that will not keep up with what is expected of them on this machine.
 */

#include <jansson.h>

#include "config.h"

/**
 * Judge all receivers of a description without errors.
 *
 * @return a list of {"file", "line", "column", "kind", "message"}, to be freed; NULL: out of memory
 */
json_t *preflight_warnings(const struct config *config);

/** Print it to standard error: "file:line:column: warning: what to change". */
void preflight_print(const json_t *warnings);

#endif
