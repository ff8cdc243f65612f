/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_CONFIG_RECEIVERS_H
#define WEIR_APP_CONFIG_RECEIVERS_H

/**
 * @file
 * Devices of a description file that links' frames come from.
 */

#include <rte_ethdev.h>

#include <weir_readout_receiver.h>

#include "weir_base_doc.h"

struct config;

/** One. */
struct config_receiver {
	const struct weir_base_doc_value *value; /**< where it stands */
	const struct weir_base_doc_value *at;    /**< where its device stands */
	const char *name;
	const char *device; /**< with its parameters */
	bool is_pci;
	int *cpus;        /**< of threads of its own that poll it */
	uint16_t nb_cpus; /**< 0: the thread of all feeds polls it */
	uint32_t lcore_sleep_us;
	char device_name[RTE_ETH_NAME_MAX_LEN]; /**< without its parameters */
	struct weir_readout_receiver_port_config port;
	struct weir_readout_receiver_source *sources;
};

/** All of them. */
struct config_receivers {
	struct config_receiver *list;
	unsigned int nb;
};

/** Read them; errors go to the document. @return 0, or -ENOMEM */
int config_read_receivers(struct config *config, const struct weir_base_doc_value *platform);

/** Free them. */
void config_free_receivers(struct config_receivers *receivers);

/** One of that name, or CONFIG_NONE. */
int config_receiver_find(const struct config *config, const char *name);

/** As the library takes it. The result points into @p receiver. */
struct weir_readout_receiver_config config_receiver_param(const struct config_receiver *receiver);

#endif
