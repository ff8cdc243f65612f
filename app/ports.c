/* SPDX-License-Identifier: BSD-3-Clause */
/* From a configured port to a running one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include <weir_node.h>

#include "eal_log.h"
#include "files.h"
#include "ports.h"
#include "reason_log.h"

/* Name of a device without its parameters. */
static void
device_name(const char *device, char *name, size_t size)
{
	snprintf(name, size, "%.*s", (int)strcspn(device, ","), device);
}

/* Virtual devices are made here rather than by EAL's arguments: a failure then has a line and a column. */
int
ports_make_device(struct config *config, const struct weir_base_doc_value *value,
	const char *device, bool is_pci)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	const char *why;
	uint16_t id;
	int error;

	device_name(device, name, sizeof(name));
	if (is_pci) {
		if (rte_eth_dev_get_port_by_name(name, &id) == 0)
			return 0;
		weir_base_doc_error_add(config->doc, value,
			"no DPDK driver took device '%s'; expected a network device bound to "
			"vfio-pci or to its "
			"driver's liking (dpdk-devbind.py --status shows them)",
			name);
		return -ENODEV;
	}
	eal_log_forget();
	eal_log_show_errors(false);
	error = rte_dev_probe(device);
	eal_log_show_errors(true);
	if (error == 0 && rte_eth_dev_get_port_by_name(name, &id) == 0)
		return 0;
	why = error == 0 ? "it is no network port" : eal_log_first_error();
	if (error == -EFAULT)
		why = "no driver of DPDK has that name";
	if (why == NULL)
		why = rte_strerror(-error);
	weir_base_doc_error_add(config->doc, value,
		"device '%s' could not be made: %s; expected a driver and its parameters, and %s",
		device, why,
		strstr(why, strerror(EADDRINUSE)) != NULL
			? "a socket that is not there yet: one that was killed leaves its own, "
			  "which is then to be removed"
			: "the right to use them");
	return error < 0 ? error : -ENODEV;
}

static void
fill_param(const struct config_port *port, struct weir_node_port_param *param)
{
	param->name = port->name;
	param->pcap_in = port->pcap_in;
	param->pcap_out = port->pcap_out;
	param->pcap_repeat = port->repeat;
	if (port->mac != NULL) {
		param->mac_given = true;
		memcpy(&param->mac, port->mac, sizeof(param->mac));
	}
	param->accept_any = port->accept == SCHEMA_ACCEPT_ANY;
	param->promiscuous = port->promiscuous;
	param->mtu = port->mtu;
	param->vlan = port->vlan;
	param->nb_rx_queues = port->nb_rx_queues;
	param->nb_tx_queues = port->nb_tx_queues;
	param->rx_ring_size = port->rx_ring;
	param->tx_ring_size = port->tx_ring;
	param->rx_burst = port->rx_burst;
	param->no_offloads = !port->offloads;
	param->on_full = port->on_full == SCHEMA_ON_FULL_WAIT ? WEIR_NODE_ON_FULL_WAIT
							      : WEIR_NODE_ON_FULL_DROP;
}

static int
start_port(struct config *config, const struct config_port *port, unsigned int index, bool stand_in,
	struct rte_mempool *pool, uint16_t *id)
{
	struct weir_node_port_param param = {.pool = pool};
	struct config_port null_port = *port;
	char name[RTE_ETH_NAME_MAX_LEN], null_device[32];
	const char *why;
	int error;

	if (stand_in && port->device != NULL) {
		snprintf(null_device, sizeof(null_device), "net_null%u", index);
		null_port.device = null_device;
		null_port.is_pci = false;
		null_port.mtu = RTE_ETHER_MTU; /* the null driver knows no other */
		port = &null_port;
	}
	fill_param(port, &param);
	if (stand_in)
		param.pcap_out = NULL;
	if (param.pcap_out != NULL && (error = files_make_directories(param.pcap_out)) < 0) {
		weir_base_doc_error_add(config->doc, weir_base_doc_get(port->value, "pcap_out"),
			"cannot make the directory of '%s': %s", param.pcap_out, strerror(-error));
		return error;
	}
	if (port->device != NULL) {
		device_name(port->device, name, sizeof(name));
		error = ports_make_device(config, weir_base_doc_get(port->value, "device"),
			port->device, port->is_pci);
		if (error < 0)
			return error;
		param.device = name;
	}
	/* Some drivers call errors what is none, for example that there is no secondary process. */
	eal_log_forget();
	eal_log_show_errors(false);
	reason_log_begin();
	*id = weir_node_port_add(&param);
	error = rte_errno;
	why = reason_log_end(rte_strerror(error));
	eal_log_show_errors(true);
	if (*id == WEIR_NODE_PORT_INVALID) {
		eal_log_print(stderr);
		weir_base_doc_error_add(config->doc, port->value,
			"port '%s' could not be started: %s", port->name, why);
		return error > 0 ? -error : -EIO;
	}
	return 0;
}

int
ports_start(struct config *config, struct rte_mempool *pool, bool stand_ins, uint16_t *port_ids)
{
	unsigned int i;
	int error;

	for (i = 0; i < config->nb_ports; i++)
		port_ids[i] = WEIR_NODE_PORT_INVALID;
	for (i = 0; i < config->nb_ports; i++) {
		error = start_port(config, &config->ports[i], i, stand_ins, pool, &port_ids[i]);
		if (error < 0)
			return error;
	}
	return 0;
}

/* All of them: also those that became no port. Until then they may hold buffers, of a pool that is freed next. */
static void
close_devices(void)
{
	uint16_t id;

	RTE_ETH_FOREACH_DEV (id)
		rte_eth_dev_close(id);
}

int
ports_stop(struct config *config, const uint16_t *port_ids)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < config->nb_ports; i++) {
		if (port_ids[i] == WEIR_NODE_PORT_INVALID)
			continue;
		if (weir_node_port_flush(port_ids[i]) < 0)
			error = -EIO;
		if (weir_node_port_remove(port_ids[i]) < 0)
			error = -EIO;
	}
	eal_log_show_errors(false);
	close_devices();
	return error;
}
