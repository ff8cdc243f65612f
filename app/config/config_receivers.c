/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the devices that links' frames come from. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "config.h"
#include "reason_log.h"

int
config_receiver_find(const struct config *config, const char *name)
{
	unsigned int i;

	for (i = 0; i < config->receivers.nb; i++)
		if (strcmp(config->receivers.list[i].name, name) == 0)
			return (int)i;
	return CONFIG_NONE;
}

struct weir_readout_receiver_config
config_receiver_param(const struct config_receiver *receiver)
{
	return (struct weir_readout_receiver_config){.ports = &receiver->port,
		.nb_ports = 1,
		.nb_pollers = RTE_MAX(receiver->nb_cpus, (uint16_t)1),
		.lcore_sleep_us = receiver->lcore_sleep_us};
}

/* In the machine's order of bytes; 0: not given. */
static uint32_t
read_ip4(const struct weir_base_doc_value *map, const char *key)
{
	const uint8_t *bytes = weir_base_doc_bytes(weir_base_doc_get(map, key));
	uint32_t address = 0;

	if (bytes != NULL)
		memcpy(&address, bytes, sizeof(address));
	return ntohl(address);
}

static int
read_sources(struct config_receiver *receiver)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(receiver->value, "sources");
	unsigned int nb = weir_base_doc_count(list), i;

	receiver->sources = calloc(nb + 1, sizeof(*receiver->sources));
	if (receiver->sources == NULL)
		return -ENOMEM;
	for (i = 0; i < nb; i++) {
		const struct weir_base_doc_value *value = weir_base_doc_at(list, i);

		receiver->sources[i] = (struct weir_readout_receiver_source){
			.source_ip = read_ip4(value, "source_ip"),
			.udp_port =
				(uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "udp_port")),
			.queue = (uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "queue")),
		};
	}
	receiver->port.sources = nb > 0 ? receiver->sources : NULL;
	receiver->port.nb_sources = nb;
	return 0;
}

static void
read_port(struct config_receiver *receiver)
{
	const struct weir_base_doc_value *value = receiver->value;
	const uint8_t *mac = weir_base_doc_bytes(weir_base_doc_get(value, "mac_addr"));
	struct weir_readout_receiver_port_config *port = &receiver->port;

#define NUMBER(key) weir_base_doc_u64(weir_base_doc_get(value, key))
	*port = (struct weir_readout_receiver_port_config){
		.pci_addr = receiver->device_name,
		.ip_addr = read_ip4(value, "ip_addr"),
		.mac_given = mac != NULL,
		.nb_queues = (uint16_t)NUMBER("nb_queues"),
		.burst_size = (uint16_t)NUMBER("burst_size"),
		.burst_adaptive = NUMBER("burst_adaptive") != 0,
		.mbuf_cache_size = (uint16_t)NUMBER("mbuf_cache_size"),
		.num_mbufs = (uint32_t)NUMBER("num_mbufs"),
		.rx_ring_size = (uint16_t)NUMBER("rx_ring_size"),
		.tx_ring_size = (uint16_t)NUMBER("tx_ring_size"),
		.mtu = (uint16_t)NUMBER("mtu"),
		.mbuf_data_bytes = (uint16_t)NUMBER("mbuf_data_bytes"),
		.promiscuous_mode = NUMBER("promiscuous_mode") != 0,
		.with_flow_control = NUMBER("with_flow_control") != 0,
		.announce_interval_ms = (uint32_t)NUMBER("announce_interval_ms"),
	};
	if (mac != NULL)
		memcpy(port->mac_addr, mac, sizeof(port->mac_addr));
	receiver->lcore_sleep_us = (uint32_t)NUMBER("lcore_sleep_us");
#undef NUMBER
}

/* @return whether it has one */
static bool
read_device(struct config *config, struct config_receiver *receiver)
{
	const struct weir_base_doc_value *device = weir_base_doc_get(receiver->value, "device");
	const struct weir_base_doc_value *pci_addr = weir_base_doc_get(receiver->value, "pci_addr");

	receiver->at = device != NULL ? device : pci_addr;
	receiver->device = weir_base_doc_str(receiver->at);
	if ((device == NULL) == (pci_addr == NULL))
		return false;
	config_check_device(config, receiver->at, receiver->device);
	receiver->is_pci = config_device_is_pci(receiver->device);
	snprintf(receiver->device_name, sizeof(receiver->device_name), "%.*s",
		(int)strcspn(receiver->device, ","), receiver->device);
	return true;
}

/* What the library says of it. */
static void
check_param(struct config *config, const struct config_receiver *receiver)
{
	const struct weir_readout_receiver_config param = config_receiver_param(receiver);
	const char *why;
	int error;

	reason_log_begin();
	error = weir_readout_receiver_config_check(&param);
	why = reason_log_end(strerror(-error));
	if (error < 0)
		weir_base_doc_error_add(config->doc, receiver->value,
			"this cannot be: %s; expected other values here", why);
}

/* Threads of its own, of which each has a queue to poll. */
static int
read_cpus(struct config_receiver *receiver)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(receiver->value, "cpus");
	const unsigned int nb = weir_base_doc_count(list);
	unsigned int i;

	receiver->cpus = calloc(nb + 1, sizeof(*receiver->cpus));
	if (receiver->cpus == NULL)
		return -ENOMEM;
	receiver->cpus[0] = -1; /* that of all feeds */
	for (i = 0; i < nb; i++)
		receiver->cpus[i] = (int)weir_base_doc_u64(weir_base_doc_at(list, i));
	if (nb <= receiver->port.nb_queues)
		receiver->nb_cpus = (uint16_t)nb;
	return 0;
}

int
config_read_receivers(struct config *config, const struct weir_base_doc_value *platform)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(platform, "receivers");
	struct config_receivers *receivers = &config->receivers;
	unsigned int nb = weir_base_doc_count(list), i;

	receivers->list = calloc(nb + 1, sizeof(*receivers->list));
	if (receivers->list == NULL)
		return -ENOMEM;
	for (i = 0; i < nb; i++) {
		struct config_receiver *receiver = &receivers->list[i];
		unsigned int before = config_nb_errors(config);
		bool has_device;

		receiver->value = weir_base_doc_at(list, i);
		receiver->name = weir_base_doc_name(receiver->value);
		receivers->nb = i + 1;
		has_device = read_device(config, receiver);
		read_port(receiver);
		if (read_sources(receiver) < 0 || read_cpus(receiver) < 0)
			return -ENOMEM;
		if (!has_device || config_nb_errors(config) > before)
			continue;
		check_param(config, receiver);
	}
	return 0;
}

void
config_free_receivers(struct config_receivers *receivers)
{
	unsigned int i;

	for (i = 0; i < receivers->nb; i++) {
		free(receivers->list[i].sources);
		free(receivers->list[i].cpus);
	}
	free(receivers->list);
}
