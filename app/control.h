/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_CONTROL_H
#define WEIR_APP_CONTROL_H

#include <jansson.h>

/** Answers "route/list" {"name": PREFIX that they are within, or nothing}. */
int control_route_list(void *arg, const json_t *args, json_t **result);

/** Answers "neighbour/list". */
int control_neighbour_list(void *arg, const json_t *args, json_t **result);

#endif
