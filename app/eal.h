/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_EAL_H
#define WEIR_APP_EAL_H

/**
 * @file
 * Starting DPDK's environment (EAL) as a description file needs it.
 */

#include <stdbool.h>

#include <rte_mempool.h>

#include "config.h"

#define EAL_WORKERS_MAX 64 /**< as config_read_workers() allows */

/** What came of it. */
struct eal {
	unsigned int lcores[EAL_WORKERS_MAX]; /**< lcore id of each worker */
	unsigned int nb_cpus;                 /**< that this process may use */
	bool crowded;                         /**< more workers than CPUs: nobody may spin */
	bool huge;                            /**< hugepages are used */
	bool started;                         /**< EAL is up */
	unsigned int nb_mbufs;                /**< as configured or worked out */
};

/**
 * Start EAL for a configuration.
 *
 * @param small    for a look at the graph only: no devices, no telemetry, small tables
 * @param verbose  let DPDK say what it likes
 * @return 0 or a negative errno; the reason was printed
 */
int eal_start(struct eal *eal, const struct config *config, bool small, bool verbose);

/** Stop EAL. */
void eal_stop(struct eal *eal);

/** Make the pool of mbufs, of a kind that stands being shared by threads of one CPU. NULL: the reason was printed. */
struct rte_mempool *eal_pool_create(const struct eal *eal, const struct config *config);

#endif
