/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_CONTROL_H
#define WEIR_APP_CONTROL_H

#include <jansson.h>

/**
 * Answers "route/list" {"name": PREFIX that they are within, "after": PREFIX that they stand behind, "max": so many at most}, each of which may be
 * missing. In order of addresses, IPv4 first; "more": how many are left out. Who goes on after the last one gets each route that stays there once, while
 * others come and go.
 */
int control_route_list(void *arg, const json_t *args, json_t **result);

/** Answers "neighbour/list". */
int control_neighbour_list(void *arg, const json_t *args, json_t **result);

#endif
