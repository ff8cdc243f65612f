/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_PORTS_H
#define WEIR_APP_PORTS_H

#include <stdint.h>

#include <rte_mempool.h>

#include "config.h"

/**
 * Start every port of a configuration.
 *
 * @param stand_ins  for a look at the graph: devices become null devices, and no file is written
 * @param[out] port_ids  per port of the configuration
 * @return 0, or a negative errno with errors in the document
 */
int ports_start(
	struct config *config, struct rte_mempool *pool, bool stand_ins, uint16_t *port_ids);

/**
 * Make a virtual device, or see that there is a physical one.
 *
 * @param at  where the description names it
 * @return 0, or a negative errno with an error in the document
 */
int ports_make_device(struct config *config, const struct weir_base_doc_value *at,
	const char *device, bool is_pci);

/** Stop those that were started; files are complete afterwards. @return 0, or -EIO when one could not be written */
int ports_stop(struct config *config, const uint16_t *port_ids);

#endif
