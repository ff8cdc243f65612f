/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of a description file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <pcap/pcap.h>

#include <weir_base_rules.h>
#include <weir_node.h>

#include "config.h"

/* 0000:01:00.0 or 01:00.0 */
bool
config_device_is_pci(const char *text)
{
	unsigned int domain, bus, device, function;
	int used = 0;

	if (sscanf(text, "%4x:%2x:%2x.%1u%n", &domain, &bus, &device, &function, &used) == 4 &&
		text[used] == '\0')
		return true;
	return sscanf(text, "%2x:%2x.%1u%n", &bus, &device, &function, &used) == 3 &&
	       text[used] == '\0';
}

/* Virtual devices are called after their driver and a number: net_tap0, net_af_packet1. */
static bool
looks_like_vdev(const char *text)
{
	size_t length = strcspn(text, ",");

	return strncmp(text, "net_", 4) == 0 && length > 4 && length < 60;
}

/* Does libpcap take it? Damage further in is for the run to tell, which forwards what it could read. */
void
config_check_capture(
	struct config *config, const struct weir_base_doc_value *value, const char *path)
{
	char why[PCAP_ERRBUF_SIZE];
	struct stat status;
	pcap_t *pcap;
	int type;

	/* What is read from a pipe is gone. */
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return;
	pcap = pcap_open_offline(path, why);
	if (pcap == NULL) {
		weir_base_doc_error_add(
			config->doc, value, "%s; expected a pcap or pcapng capture file", why);
		return;
	}
	type = pcap_datalink(pcap);
	if (type != DLT_EN10MB)
		weir_base_doc_error_add(config->doc, value,
			"'%s' holds frames of type %s; expected Ethernet (EN10MB)", path,
			pcap_datalink_val_to_name(type) != NULL ? pcap_datalink_val_to_name(type)
								: "unknown");
	pcap_close(pcap);
}

void
config_check_device(struct config *config, const struct weir_base_doc_value *at, const char *device)
{
	if (!config_device_is_pci(device) && !looks_like_vdev(device))
		weir_base_doc_error_add(config->doc, at,
			"unknown device '%s'; expected a PCI address such as 0000:01:00.0, or a "
			"virtual device "
			"and a number, such as net_tap0 or \"net_af_packet0,iface=eth1\"",
			device);
}

static void
read_port(struct config_port *port, const struct weir_base_doc_value *value)
{
	const struct weir_base_doc_value *on_full = weir_base_doc_get(value, "on_full");

	port->value = value;
	port->name = weir_base_doc_name(value);
	port->device = weir_base_doc_str(weir_base_doc_get(value, "device"));
	port->is_pci = port->device != NULL && config_device_is_pci(port->device);
	port->pcap_in = weir_base_doc_str(weir_base_doc_get(value, "pcap_in"));
	port->pcap_out = weir_base_doc_str(weir_base_doc_get(value, "pcap_out"));
	port->repeat = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "repeat"));
	port->mac = weir_base_doc_bytes(weir_base_doc_get(value, "mac"));
	port->accept = (enum schema_accept)weir_base_doc_u64(weir_base_doc_get(value, "accept"));
	port->on_full = port->device == NULL ? SCHEMA_ON_FULL_WAIT : SCHEMA_ON_FULL_DROP;
	if (on_full != NULL)
		port->on_full = (enum schema_on_full)weir_base_doc_u64(on_full);
	port->promiscuous = weir_base_doc_bool(weir_base_doc_get(value, "promiscuous"));
	port->offloads = weir_base_doc_bool(weir_base_doc_get(value, "offloads"));
	port->mtu = (uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "mtu"));
	port->vlan = (uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "vlan"));
	port->rx_ring = (uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "rx_ring"));
	port->tx_ring = (uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "tx_ring"));
	port->rx_burst = (uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "rx_burst"));
	/* Workers and the queues that they name may raise these, see config_workers.c. */
	port->nb_rx_queues = (uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "rx_queues"));
	port->nb_tx_queues = (uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "tx_queues"));
}

int
config_read_ports(struct config *config, const struct weir_base_doc_value *platform)
{
	const struct weir_base_doc_value *ports = weir_base_doc_get(platform, "ports");
	unsigned int nb_ports = weir_base_doc_count(ports), i;

	if (nb_ports > WEIR_NODE_PORT_MAX) {
		weir_base_doc_error_add(config->doc, ports,
			"%u ports are too many; expected at most %u", nb_ports, WEIR_NODE_PORT_MAX);
		nb_ports = WEIR_NODE_PORT_MAX;
	}
	weir_base_rules_ports(config->doc);
	config->ports = calloc(nb_ports + 1, sizeof(*config->ports));
	if (config->ports == NULL)
		return -ENOMEM;
	for (i = 0; i < nb_ports; i++) {
		struct config_port *port = &config->ports[i];

		read_port(port, weir_base_doc_at(ports, i));
		config->nb_ports = i + 1;
		if (port->device != NULL)
			config_check_device(
				config, weir_base_doc_get(port->value, "device"), port->device);
		if (port->pcap_in != NULL)
			config_check_capture(
				config, weir_base_doc_get(port->value, "pcap_in"), port->pcap_in);
	}
	return 0;
}
