/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_EAL_MEMORY_H
#define WEIR_APP_EAL_MEMORY_H

#include <stdint.h>

#include <weir_node_route.h>

#include "config.h"

/** The limits of the routing tables that a configuration asks for. */
void eal_memory_route_limits(const struct config *config, struct weir_node_route_limits *limits);

/** Bytes that a configuration needs of DPDK's memory. */
uint64_t eal_memory_needed(const struct config *config, unsigned int nb_mbufs);

/** Limits of routing tables that stay empty. */
void eal_memory_small_limits(struct weir_node_route_limits *limits);

/** Bytes of free hugepages of the largest class. */
uint64_t eal_memory_huge_free(void);

#endif
