/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_WIRING_H
#define WEIR_APP_WIRING_H

/**
 * @file
 * application.nodes and application.edges: the graph as the user changed it.
 */

#include <stdint.h>

struct config;

/**
 * Make the nodes and change the edges, after weir_node_prepare() and before graphs are created.
 *
 * @param port_ids  per port of the configuration
 * @return 0, or -EINVAL with errors in the document
 */
int wiring_apply(struct config *config, const uint16_t *port_ids);

#endif
