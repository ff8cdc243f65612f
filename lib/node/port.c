/* SPDX-License-Identifier: BSD-3-Clause */

/* The table of ports, and the nodes that belong to each. */

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>

#include <rte_errno.h>

#include "node_private.h"

#define MTU_DEFAULT 1500

struct weir_node_port_fast weir_node_ports_fast[WEIR_NODE_PORT_MAX];
uint64_t weir_node_checksum_mask;
bool weir_node_waiting_stopped;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node_port *ports[WEIR_NODE_PORT_MAX];
static uint16_t max_count;

/* Nobody accepts frames for a port that is not there. */
__attribute__((constructor)) static void
ports_fast_init(void)
{
	for (uint32_t i = 0; i < WEIR_NODE_PORT_MAX; i++)
		memset(&weir_node_ports_fast[i].mac_mask, 0xff, RTE_ETHER_ADDR_LEN);
}

void
node_port_lock(void)
{
	pthread_mutex_lock(&lock);
}

void
node_port_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

struct node_port *
node_port_get(uint16_t id)
{
	return id < WEIR_NODE_PORT_MAX ? ports[id] : NULL;
}

/* Who uses a file: "port 'north'", valid until the next call; NULL: nobody. Under the lock. */
const char *
node_port_of_file(const struct stat *st, bool outputs_only)
{
	static char who[WEIR_NODE_NAME_SIZE + 16];

	for (uint16_t id = 0; id < max_count; id++) {
		const struct node_port *port = ports[id];

		if (port == NULL)
			continue;
		if ((port->out != NULL && node_pcap_out_is(port->out, st)) ||
			(!outputs_only && port->in != NULL && node_pcap_in_is(port->in, st))) {
			snprintf(who, sizeof(who), "port '%s'", port->name);
			return who;
		}
	}
	return node_punt_capture_is(st) ? "the capture of punted packets" : NULL;
}

static bool
name_is_valid(const char *name)
{
	size_t length = name == NULL ? 0 : strlen(name);

	if (length == 0 || length >= WEIR_NODE_NAME_SIZE)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return true;
}

static int
check_pool(const struct weir_node_port_param *param)
{
	if (param->device == NULL && param->pcap_in == NULL)
		return 0;
	if (param->pool == NULL) {
		NODE_LOG(ERROR, "port '%s' receives, so it needs a pool of mbufs", param->name);
		return -EINVAL;
	}
	if (rte_pktmbuf_data_room_size(param->pool) < RTE_PKTMBUF_HEADROOM + 128) {
		NODE_LOG(ERROR, "port '%s': mbufs have room for %u bytes, expected at least %u",
			param->name, rte_pktmbuf_data_room_size(param->pool),
			RTE_PKTMBUF_HEADROOM + 128);
		return -EINVAL;
	}
	return 0;
}

static int
check_param(const struct weir_node_port_param *param)
{
	if (param == NULL || !name_is_valid(param->name)) {
		NODE_LOG(ERROR, "a port's name is 1 to %d letters, digits and '_'",
			WEIR_NODE_NAME_SIZE - 1);
		return -EINVAL;
	}
	if (param->device != NULL && (param->pcap_in != NULL || param->pcap_out != NULL)) {
		NODE_LOG(ERROR, "port '%s' is either a device or files", param->name);
		return -EINVAL;
	}
	if (param->mtu != 0 && param->mtu < WEIR_NODE_MTU_MIN) {
		NODE_LOG(ERROR, "port '%s': MTU %u is below %d", param->name, param->mtu,
			WEIR_NODE_MTU_MIN);
		return -EINVAL;
	}
	if (param->vlan > 4094) {
		NODE_LOG(ERROR, "port '%s': VLAN %u is not one of 1 to 4094", param->name,
			param->vlan);
		return -EINVAL;
	}
	if (param->rx_burst > WEIR_NODE_RX_BURST_MAX) {
		NODE_LOG(ERROR, "port '%s': receive burst %u is above %d", param->name,
			param->rx_burst, WEIR_NODE_RX_BURST_MAX);
		return -EINVAL;
	}
	if (param->mac_given && !rte_is_valid_assigned_ether_addr(&param->mac)) {
		NODE_LOG(ERROR, "port '%s': its own MAC address cannot be a group address or zero",
			param->name);
		return -EINVAL;
	}
	if ((unsigned int)param->on_full > WEIR_NODE_ON_FULL_WAIT)
		return -EINVAL;
	if (param->device == NULL && (param->nb_rx_queues > 1)) {
		NODE_LOG(ERROR, "port '%s': a file has one receive queue, not %u", param->name,
			param->nb_rx_queues);
		return -EINVAL;
	}
	return check_pool(param);
}

/* A port that is a pair of files: any number of graphs may write. */
static int
open_files(struct node_port *port, const struct weir_node_port_param *param)
{
	const char *other;
	struct stat st;
	int rc = node_dyn_register();

	if (rc == 0 && param->pcap_in != NULL) {
		if (stat(param->pcap_in, &st) == 0 &&
			(other = node_port_of_file(&st, true)) != NULL) {
			NODE_LOG(ERROR, "port '%s': %s writes to '%s'", param->name, other,
				param->pcap_in);
			return -EEXIST;
		}
		rc = node_pcap_in_open(
			&port->in, param->pcap_in, param->pcap_repeat, param->pool, param->name);
	}
	if (rc == 0 && param->pcap_out != NULL && port->in != NULL &&
		stat(param->pcap_out, &st) == 0 && node_pcap_in_is(port->in, &st)) {
		NODE_LOG(ERROR, "port '%s' cannot write to '%s': it reads this file", param->name,
			param->pcap_out);
		return -EEXIST;
	}
	if (rc == 0 && param->pcap_out != NULL)
		rc = node_pcap_out_open(&port->out, param->pcap_out);
	port->info.is_pcap = true;
	port->info.ethdev = RTE_MAX_ETHPORTS;
	port->info.nb_rx_queues = param->pcap_in != NULL;
	port->info.nb_tx_queues = 1;
	port->info.link_up = true;
	if (param->mac_given)
		port->info.mac = param->mac;
	else
		port->info.mac = (struct rte_ether_addr){{0x02, 0, 0, 0, 0, (uint8_t)port->id}};
	return rc;
}

static void
port_free(struct node_port *port)
{
	if (port->info.is_pcap) {
		node_pcap_in_close(port->in);
		node_pcap_out_close(port->out);
	} else {
		node_ethdev_close(port);
	}
	free(port->tx_queue_used);
	free(port);
}

static int
port_open(struct node_port *port, const struct weir_node_port_param *param)
{
	int rc;

	strcpy(port->name, param->name);
	port->info.name = port->name;
	port->info.mtu = param->mtu == 0 ? MTU_DEFAULT : param->mtu;
	port->info.vlan = param->vlan;
	port->info.accept_any = param->accept_any;
	port->rx_burst = param->rx_burst == 0 ? WEIR_NODE_RX_BURST_DEFAULT : param->rx_burst;
	port->on_full = param->on_full;
	port->pool = param->pool;
	port->info.is_pcap = param->device == NULL;
	port->info.ethdev = RTE_MAX_ETHPORTS;
	rc = port->info.is_pcap ? open_files(port, param) : node_ethdev_open(port, param);
	if (rc < 0)
		return rc;
	port->tx_queue_used = calloc(port->info.nb_tx_queues, sizeof(*port->tx_queue_used));
	return port->tx_queue_used == NULL ? -ENOMEM : 0;
}

/* What packets that come in find; before any does. */
static void
publish_fast(const struct node_port *port, const struct weir_node_port_param *param)
{
	struct weir_node_port_fast *fast = &weir_node_ports_fast[port->id];

	memset(fast, 0, sizeof(*fast));
	memcpy(&fast->mac, &port->info.mac, RTE_ETHER_ADDR_LEN);
	if (!param->accept_any)
		memset(&fast->mac_mask, 0xff, RTE_ETHER_ADDR_LEN);
	if (!port->info.is_pcap && port->rx_checksum)
		fast->checksum_mask = RTE_MBUF_F_RX_IP_CKSUM_MASK;
	__atomic_fetch_or(&weir_node_checksum_mask, fast->checksum_mask, __ATOMIC_RELAXED);
	fast->pool = port->pool;
}

static int
port_add(const struct weir_node_port_param *param, uint16_t *id)
{
	struct node_port *port;
	uint16_t free_id;
	int rc = check_param(param);

	if (rc < 0)
		return rc;
	if (weir_node_port_from_name(param->name) != WEIR_NODE_PORT_INVALID) {
		NODE_LOG(ERROR, "there is a port '%s' already", param->name);
		return -EEXIST;
	}
	for (free_id = 0; free_id < WEIR_NODE_PORT_MAX && ports[free_id] != NULL; free_id++)
		;
	if (free_id == WEIR_NODE_PORT_MAX) {
		NODE_LOG(ERROR, "port '%s' is one more than %d", param->name, WEIR_NODE_PORT_MAX);
		return -ENOSPC;
	}
	port = calloc(1, sizeof(*port));
	if (port == NULL)
		return -ENOMEM;
	port->id = free_id;
	rc = node_port_counts(free_id, &port->base);
	if (rc == 0)
		rc = port_open(port, param);
	if (rc < 0) {
		port_free(port);
		return rc;
	}
	publish_fast(port, param);
	ports[free_id] = port;
	max_count = RTE_MAX(max_count, (uint16_t)(free_id + 1));
	*id = free_id;
	return 0;
}

uint16_t
weir_node_port_add(const struct weir_node_port_param *param)
{
	uint16_t id = WEIR_NODE_PORT_INVALID;
	int rc;

	node_port_lock();
	rc = port_add(param, &id);
	node_port_unlock();
	if (rc < 0) {
		rte_errno = -rc;
		return WEIR_NODE_PORT_INVALID;
	}
	return id;
}

/* Forget a node of a port; one that was never registered is fine. */
static int
free_node(const char *name)
{
	uint32_t id = weir_graph_node_from_name(name);

	return id == WEIR_GRAPH_NODE_INVALID ? 0 : weir_graph_node_free(id);
}

static int
free_nodes(uint16_t port)
{
	char name[WEIR_GRAPH_NAME_SIZE];
	int rc = 0;

	for (uint16_t queue = 0; rc == 0 && weir_node_rx_name(port, queue, name) == 0; queue++)
		rc = free_node(name);
	if (rc == 0 && weir_node_tx_name(port, name) == 0)
		rc = free_node(name);
	return rc;
}

int
weir_node_port_remove(uint16_t id)
{
	struct node_port *port;
	int rc = -ENOENT;

	node_port_lock();
	port = node_port_get(id);
	if (port != NULL) {
		rc = free_nodes(id);
		if (rc < 0) {
			NODE_LOG(ERROR, "port '%s' is not removed: %s", port->name,
				rc == -EBUSY ? "a graph uses it" : strerror(-rc));
		} else {
			ports[id] = NULL;
			memset(&weir_node_ports_fast[id], 0, sizeof(weir_node_ports_fast[id]));
			memset(&weir_node_ports_fast[id].mac_mask, 0xff, RTE_ETHER_ADDR_LEN);
			port_free(port);
		}
	}
	node_port_unlock();
	return rc;
}

uint16_t
weir_node_port_from_name(const char *name)
{
	for (uint16_t id = 0; id < max_count; id++)
		if (ports[id] != NULL && name != NULL && strcmp(ports[id]->name, name) == 0)
			return id;
	return WEIR_NODE_PORT_INVALID;
}

uint16_t
weir_node_port_max_count(void)
{
	return max_count;
}

int
weir_node_port_info(uint16_t id, struct weir_node_port_info *info)
{
	const struct node_port *port = node_port_get(id);
	struct rte_eth_link link;

	if (port == NULL)
		return -ENOENT;
	*info = port->info;
	if (!info->is_pcap)
		info->link_up = rte_eth_link_get_nowait(info->ethdev, &link) == 0 &&
				link.link_status == RTE_ETH_LINK_UP;
	return 0;
}

int
weir_node_port_input_ended(uint16_t id)
{
	const struct node_port *port = node_port_get(id);

	return port == NULL || port->in == NULL ? 0 : node_pcap_in_ended(port->in);
}

int
weir_node_port_flush(uint16_t id)
{
	const struct node_port *port = node_port_get(id);

	return port == NULL || port->out == NULL ? 0 : node_pcap_out_flush(port->out);
}

void
weir_node_stop_waiting(bool stop)
{
	__atomic_store_n(&weir_node_waiting_stopped, stop, __ATOMIC_RELAXED);
}

bool
weir_node_waiting_is_stopped(void)
{
	return __atomic_load_n(&weir_node_waiting_stopped, __ATOMIC_RELAXED);
}

int
weir_node_rx_name(uint16_t id, uint16_t queue, char *name)
{
	const struct node_port *port = node_port_get(id);

	if (port == NULL || queue >= port->info.nb_rx_queues)
		return -ENOENT;
	snprintf(name, WEIR_GRAPH_NAME_SIZE, "%s-%u-%u",
		port->info.is_pcap ? "pcap_rx" : "ethdev_rx", id, queue);
	return 0;
}

int
weir_node_tx_name(uint16_t id, char *name)
{
	const struct node_port *port = node_port_get(id);

	if (port == NULL)
		return -ENOENT;
	snprintf(name, WEIR_GRAPH_NAME_SIZE, "%s-%u", port->info.is_pcap ? "pcap_tx" : "ethdev_tx",
		id);
	return 0;
}
