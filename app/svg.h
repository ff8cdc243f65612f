/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_SVG_H
#define WEIR_APP_SVG_H

#include <jansson.h>

struct instance;

/**
 * Draw the graph, with the counts of all workers, to the files that the configuration names.
 *
 * @param written  a JSON array; names of the files are added
 * @return 0, or a negative errno; the reason was printed
 */
int svg_write(struct instance *instance, json_t *written);

#endif
