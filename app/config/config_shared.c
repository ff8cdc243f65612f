/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports that a graph shares with links: nodes of type link_rx. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <weir_base_nodes.h>
#include <weir_bridge_link.h>

#include "config.h"

const struct config_shared *
config_shared_of_port(const struct config *config, int port)
{
	const struct config_links *links = &config->links;
	unsigned int i;

	for (i = 0; i < links->nb_shared; i++)
		if (links->shared[i].port == port)
			return &links->shared[i];
	return NULL;
}

uint64_t
config_shared_packets(const struct config *config)
{
	const struct config_links *links = &config->links;
	uint64_t nb = 0;
	unsigned int i;

	for (i = 0; i < links->nb_shared; i++)
		nb += links->shared[i].burst != 0 ? links->shared[i].burst : WEIR_BRIDGE_LINK_BURST;
	for (i = 0; i < links->nb; i++)
		if (links->list[i].shared != CONFIG_NONE)
			nb += config_link_queued(&links->list[i]);
	return nb;
}

static void
take_link(struct config *config, unsigned int index, const struct weir_base_doc_value *value)
{
	struct config_shared *shared = &config->links.shared[index];
	const int found = config_link_find(config, weir_base_doc_str(value));

	if (found == CONFIG_NONE)
		return;
	config->links.list[found].shared = (int)index;
	if (shared->link == NULL)
		shared->link = &config->links.list[found];
}

static void
read_node(struct config *config, const struct weir_base_doc_value *value)
{
	const struct weir_base_doc_value *links = weir_base_doc_get(value, "links");
	const struct weir_base_doc_value *port = weir_base_doc_get(value, "port");
	const unsigned int index = config->links.nb_shared;
	struct config_shared *shared = &config->links.shared[index];
	unsigned int i;

	*shared = (struct config_shared){.value = value,
		.name = weir_base_doc_name(value),
		.port = port != NULL ? config_port_find(config, weir_base_doc_str(port))
				     : CONFIG_NONE,
		.burst = (uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "burst"))};
	config->links.nb_shared++;
	for (i = 0; i < weir_base_doc_count(links); i++)
		take_link(config, index, weir_base_doc_at(links, i));
}

int
config_read_shared(struct config *config)
{
	const struct weir_base_doc_value *nodes = weir_base_doc_get(config->application, "nodes");
	unsigned int nb = weir_base_doc_count(nodes), i;

	config->links.shared = calloc(nb + 1, sizeof(*config->links.shared));
	if (config->links.shared == NULL)
		return -ENOMEM;
	for (i = 0; i < nb; i++) {
		const struct weir_base_doc_value *node = weir_base_doc_at(nodes, i);
		const char *type = weir_base_doc_str(weir_base_doc_get(node, "type"));

		if (strcmp(type, WEIR_BASE_NODE_LINK_RX) == 0)
			read_node(config, node);
	}
	return 0;
}

void
config_check_shared(struct config *config)
{
	unsigned int i;

	for (i = 0; i < config->links.nb_shared; i++) {
		const struct config_shared *shared = &config->links.shared[i];
		const struct config_port *port;

		if (shared->port == CONFIG_NONE)
			continue;
		port = &config->ports[shared->port];
		if (port->nb_rx_queues != 1)
			weir_base_doc_error_add(config->doc,
				weir_base_doc_get(shared->value, "port"),
				"port '%s' has %u receive queues; expected 1, as links share it",
				port->name, port->nb_rx_queues);
		else if (port->polled != NULL && !port->polled[0])
			weir_base_doc_error_add(config->doc,
				weir_base_doc_get(shared->value, "port"),
				"no worker receives from port '%s'; expected it in 'receive' of "
				"one",
				port->name);
	}
}
