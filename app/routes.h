/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_ROUTES_H
#define WEIR_APP_ROUTES_H

#include <stdint.h>

#include "config.h"

/** What was loaded. */
struct routes_loaded {
	uint32_t ip4_routes; /**< in the table */
	uint32_t ip6_routes; /**< in the table */
	uint64_t time_ns;    /**< that it took */
};

/**
 * Set the next hops and load all routes, after weir_node_route_init() and the ports.
 *
 * @param port_ids  per port of the configuration; NULL: check only, next hops lead nowhere
 * @param progress  say on standard error what is being loaded
 * @return 0, or a negative errno with errors in the document
 */
int routes_load(struct config *config, const uint16_t *port_ids, bool progress,
	struct routes_loaded *loaded);

#endif
