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

/* @return index of its port, or CONFIG_NONE with an error */
static int
find_port(struct config *config, const struct config_shared *shared)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(shared->value, "port");
	const char *name = weir_base_doc_str(value);
	const struct config_shared *other;
	int port;

	if (value == NULL) {
		weir_base_doc_error_add(config->doc, shared->value,
			"node '%s' has nothing to receive from; expected a key 'port'",
			shared->name);
		return CONFIG_NONE;
	}
	port = config_port_find(config, name);
	if (port < 0) {
		weir_base_doc_error_add(config->doc, value, "unknown port '%s'; expected %s", name,
			config_port_names(config));
		return CONFIG_NONE;
	}
	if (config->ports[port].device == NULL)
		weir_base_doc_error_add(config->doc, value,
			"port '%s' is files, which links do not share; expected one with a "
			"'device', for example \"net_pcap0,rx_pcap=FILE\"",
			name);
	other = config_shared_of_port(config, port);
	if (other == NULL)
		return port;
	weir_base_doc_error_add(config->doc, value,
		"node '%s' receives from port '%s' already; expected one such node for each port",
		other->name, name);
	return CONFIG_NONE;
}

static void
take_link(struct config *config, unsigned int index, const struct weir_base_doc_value *value)
{
	struct config_shared *shared = &config->links.shared[index];
	const char *name = weir_base_doc_str(value);
	int found = config_link_find(config, name);
	struct config_link *link;

	if (found == CONFIG_NONE) {
		weir_base_doc_error_add(config->doc, value, "unknown link '%s'; expected %s", name,
			config_link_names(config));
		return;
	}
	link = &config->links.list[found];
	config_link_feed(config, link, value);
	link->shared = (int)index;
	if (shared->link == NULL)
		shared->link = link;
	if (strcmp(shared->link->format.name, link->format.name) != 0)
		weir_base_doc_error_add(config->doc, value,
			"frames of node '%s' are of format '%s', by link '%s', and those of '%s' "
			"of format '%s'; expected one format",
			shared->name, shared->link->format.name, shared->link->name, name,
			link->format.name);
}

static void
read_node(struct config *config, const struct weir_base_doc_value *value)
{
	const struct weir_base_doc_value *links = weir_base_doc_get(value, "links");
	const unsigned int index = config->links.nb_shared;
	struct config_shared *shared = &config->links.shared[index];
	unsigned int i;

	*shared = (struct config_shared){.value = value,
		.name = weir_base_doc_name(value),
		.port = CONFIG_NONE,
		.burst = (uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "burst"))};
	shared->port = find_port(config, shared);
	config->links.nb_shared++;
	if (weir_base_doc_count(links) == 0)
		weir_base_doc_error_add(config->doc, links != NULL ? links : value,
			"node '%s' has no links to hand frames to; expected a key 'links'",
			shared->name);
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
