/* SPDX-License-Identifier: BSD-3-Clause */
#include "receiver_fixture.h"

#include <rte_byteorder.h>

#include "weir_base_pool.h"

#include "../base/log_last.h"

struct rx rx;
struct rx_planted rx_planted;

int __real_rte_eth_dev_info_get(uint16_t port, struct rte_eth_dev_info *info);
int __wrap_rte_eth_dev_info_get(uint16_t port, struct rte_eth_dev_info *info);
int __real_rte_eth_dev_configure(
	uint16_t port, uint16_t nb_rx, uint16_t nb_tx, const struct rte_eth_conf *conf);
int __wrap_rte_eth_dev_configure(
	uint16_t port, uint16_t nb_rx, uint16_t nb_tx, const struct rte_eth_conf *conf);
int __wrap_rte_eth_dev_adjust_nb_rx_tx_desc(uint16_t port, uint16_t *nb_rx, uint16_t *nb_tx);
int __real_rte_eth_dev_set_mtu(uint16_t port, uint16_t mtu);
int __wrap_rte_eth_dev_set_mtu(uint16_t port, uint16_t mtu);
int __real_rte_eth_promiscuous_get(uint16_t port);
int __wrap_rte_eth_promiscuous_get(uint16_t port);
int __real_rte_eth_stats_get(uint16_t port, struct rte_eth_stats *stats);
int __wrap_rte_eth_stats_get(uint16_t port, struct rte_eth_stats *stats);
int __wrap_rte_flow_validate(uint16_t port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error);
struct rte_flow *__wrap_rte_flow_create(uint16_t port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error);
int __wrap_rte_flow_flush(uint16_t port, struct rte_flow_error *error);

int
__wrap_rte_eth_dev_info_get(uint16_t port, struct rte_eth_dev_info *info)
{
	int rc = __real_rte_eth_dev_info_get(port, info);

	info->rx_offload_capa &= ~rx_planted.no_offloads;
	info->flow_type_rss_offloads |= rx_planted.rss;
	if (rx_planted.max_mtu != 0)
		info->max_mtu = rx_planted.max_mtu;
	if (rx_planted.max_rx_pktlen != 0)
		info->max_rx_pktlen = rx_planted.max_rx_pktlen;
	if (rx_planted.physical)
		info->device = NULL;
	if (rx_planted.ring_max != 0)
		info->rx_desc_lim.nb_max = rx_planted.ring_max;
	return rc;
}

int
__wrap_rte_eth_dev_configure(
	uint16_t port, uint16_t nb_rx, uint16_t nb_tx, const struct rte_eth_conf *conf)
{
	struct rte_eth_conf known = *conf;

	rx_planted.conf = *conf;
	if (rx_planted.rss != 0) {
		known.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
		known.rx_adv_conf.rss_conf.rss_hf = 0;
	}
	return __real_rte_eth_dev_configure(port, nb_rx, nb_tx, &known);
}

int
__wrap_rte_eth_dev_adjust_nb_rx_tx_desc(uint16_t port, uint16_t *nb_rx, uint16_t *nb_tx)
{
	if (rx_planted.ring_max != 0) {
		*nb_rx = RTE_MIN(*nb_rx, rx_planted.ring_max);
		*nb_tx = RTE_MIN(*nb_tx, rx_planted.ring_max);
	}
	return 0;
}

int
__wrap_rte_eth_dev_set_mtu(uint16_t port, uint16_t mtu)
{
	return rx_planted.mtu_rc != 0 ? rx_planted.mtu_rc : __real_rte_eth_dev_set_mtu(port, mtu);
}

int
__wrap_rte_eth_promiscuous_get(uint16_t port)
{
	return rx_planted.promiscuous || __real_rte_eth_promiscuous_get(port) == 1;
}

int
__wrap_rte_eth_stats_get(uint16_t port, struct rte_eth_stats *stats)
{
	int rc = __real_rte_eth_stats_get(port, stats);

	stats->imissed += rx_planted.stats.imissed;
	stats->rx_nombuf += rx_planted.stats.rx_nombuf;
	stats->ierrors += rx_planted.stats.ierrors;
	return rc;
}

int
__wrap_rte_flow_validate(uint16_t port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	error->message = "not planted";
	rte_errno = ENOTSUP;
	return rx_planted.flow ? 0 : -ENOTSUP;
}

/* Reads the rule as a device does: Ethernet, IPv4, UDP; to a queue. */
struct rte_flow *
__wrap_rte_flow_create(uint16_t port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	const struct rte_flow_item_ipv4 *ip = pattern[1].spec, *ip_mask = pattern[1].mask;
	const struct rte_flow_item_udp *udp = pattern[2].spec, *udp_mask = pattern[2].mask;
	uint32_t i = rx_planted.nb_rules;

	if (++rx_planted.nb_created == rx_planted.flow_fails) {
		error->message = "no room for it";
		return NULL;
	}
	assert_true(attr->ingress && !attr->egress);
	assert_int_equal(pattern[0].type, RTE_FLOW_ITEM_TYPE_ETH);
	assert_int_equal(pattern[1].type, RTE_FLOW_ITEM_TYPE_IPV4);
	assert_int_equal(pattern[2].type, RTE_FLOW_ITEM_TYPE_UDP);
	assert_int_equal(pattern[3].type, RTE_FLOW_ITEM_TYPE_END);
	assert_int_equal(actions[0].type, RTE_FLOW_ACTION_TYPE_QUEUE);
	assert_int_equal(actions[1].type, RTE_FLOW_ACTION_TYPE_END);
	assert_true((ip == NULL) == (ip_mask == NULL) && (udp == NULL) == (udp_mask == NULL));
	rx_planted.rules[i].source_ip = ip == NULL ? 0 : ip->hdr.src_addr & ip_mask->hdr.src_addr;
	rx_planted.rules[i].udp_port = udp == NULL ? 0 : udp->hdr.dst_port & udp_mask->hdr.dst_port;
	rx_planted.rules[i].queue = ((const struct rte_flow_action_queue *)actions[0].conf)->index;
	rx_planted.nb_rules++;
	return (struct rte_flow *)&rx_planted.rules[i];
}

int
__wrap_rte_flow_flush(uint16_t port, struct rte_flow_error *error)
{
	rx_planted.nb_rules = 0;
	return 0;
}

void
rx_log_listen(void)
{
	log_listen();
}

const char *
rx_log(void)
{
	return log_message;
}

uint32_t
rx_log_count(void)
{
	return log_count();
}

static struct rte_ring *
make_ring(const char *kind, uint16_t port, uint16_t queue)
{
	char name[32];
	struct rte_ring *ring;

	snprintf(name, sizeof(name), "%s%u_%u", kind, port, queue);
	ring = rte_ring_create(name, 256, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	assert_non_null(ring);
	return ring;
}

static void
consume(void *arg, const void *messages, uint32_t nb)
{
	const struct weir_readout_item *items = messages;

	for (uint32_t i = 0; i < nb; i++)
		if (rx.nb_held < rx.nb_hold)
			rx.held[rx.nb_held++] = items[i];
		else
			weir_readout_item_release(&items[i], 1);
	if (__atomic_add_fetch(&rx.nb_frames, nb, __ATOMIC_ACQ_REL) >= rx.stop_at &&
		rx.stop_at_frames != NULL)
		__atomic_store_n((bool *)(uintptr_t)rx.stop_at_frames, true, __ATOMIC_RELEASE);
}

void
rx_begin(uint16_t nb_ports, uint16_t nb_queues)
{
	static unsigned int nb_begun;

	rx = (struct rx){.nb_ports = nb_ports, .nb_queues = nb_queues};
	rx_planted = (struct rx_planted){0};
	log_forget();
	nb_begun++;
	for (uint16_t p = 0; p < nb_ports; p++) {
		char name[16];

		for (uint16_t q = 0; q < nb_queues; q++) {
			rx.in[p][q] = make_ring("in", p, q);
			rx.out[p][q] = make_ring("out", p, q);
		}
		snprintf(name, sizeof(name), "rx%u_%u", nb_begun, p);
		snprintf(rx.names[p], sizeof(rx.names[p]), "net_ring_%s", name);
		assert_true(rte_eth_from_rings(
				    name, rx.in[p], nb_queues, rx.out[p], nb_queues, 0) >= 0);
		weir_readout_receiver_port_defaults(&rx.ports[p]);
		rx.ports[p].pci_addr = rx.names[p];
		rx.ports[p].nb_queues = nb_queues;
		rx.ports[p].burst_size = 32;
		rx.ports[p].rx_ring_size = rx.ports[p].tx_ring_size = RX_RING;
		rx.ports[p].num_mbufs = 128;
	}
	rx.config = (struct weir_readout_receiver_config){
		.ports = rx.ports, .nb_ports = nb_ports, .nb_pollers = 1};
	rx.pool = weir_base_pool_create("senders", RX_MBUFS, 0, 2048, SOCKET_ID_ANY, NULL);
	assert_non_null(rx.pool);
	rx.registry = weir_readout_registry_create();
	assert_non_null(rx.registry);
	assert_non_null(weir_readout_sink_create(
		rx.registry, &(struct weir_readout_sink_config){.name = "consumer",
				     .type = &weir_readout_item_type,
				     .shared = true,
				     .receive = consume}));
}

static void
empty(struct rte_ring *ring)
{
	void *m;

	while (rte_ring_dequeue(ring, &m) == 0)
		rte_pktmbuf_free(m);
}

void
rx_end(void)
{
	for (uint16_t p = 0; p < rx.nb_ports; p++)
		for (uint16_t q = 0; q < rx.nb_queues; q++) {
			empty(rx.in[p][q]);
			empty(rx.out[p][q]);
		}
	assert_int_equal(weir_readout_receiver_free(rx.receiver), 0);
	for (uint16_t p = 0; p < rx.nb_ports; p++) {
		uint16_t ethdev;

		if (rte_eth_dev_get_port_by_name(rx.names[p], &ethdev) == 0)
			assert_int_equal(rte_eth_dev_close(ethdev), 0);
		for (uint16_t q = 0; q < rx.nb_queues; q++) {
			rte_ring_free(rx.in[p][q]);
			rte_ring_free(rx.out[p][q]);
		}
	}
	for (uint32_t i = 0; i < rx.nb_links; i++)
		weir_readout_link_free(rx.links[i]);
	weir_readout_registry_free(rx.registry);
	assert_int_equal(rte_mempool_avail_count(rx.pool), RX_MBUFS);
	weir_base_pool_free(rx.pool);
}

void
rx_create(void)
{
	rx.receiver = weir_readout_receiver_create(&rx.config);
	if (rx.receiver == NULL)
		fail_msg("%s: %s", rte_strerror(rte_errno), log_message);
}

void
rx_refused(int rc, const char *message)
{
	log_forget();
	rte_errno = 0;
	assert_null(weir_readout_receiver_create(&rx.config));
	assert_int_equal(rte_errno, rc);
	if (strstr(log_message, message) == NULL)
		fail_msg("'%s' does not say '%s'", log_message, message);
}

struct weir_readout_link *
rx_link(uint16_t queue, uint8_t key, enum weir_base_layer layer)
{
	const struct weir_base_format spec = {
		.name = "small", .layer = layer, .fields = {[WEIR_BASE_FIELD_STREAM] = {0, 8}}};
	struct weir_readout_format format;
	struct weir_readout_link *link;
	char name[16];

	assert_int_equal(weir_readout_format_compile(&spec, &format, NULL, NULL, 0), 0);
	snprintf(name, sizeof(name), "link%u", rx.nb_links);
	link = weir_readout_link_create(rx.registry,
		&(struct weir_readout_link_config){
			.name = name, .sink = "consumer", .format = &format, .key = key});
	assert_non_null(link);
	assert_int_equal(weir_readout_registry_bind(rx.registry), 0);
	assert_int_equal(
		weir_readout_dispatch_add(weir_readout_receiver_dispatch(rx.receiver), queue, link),
		0);
	rx.links[rx.nb_links++] = link;
	return link;
}

void
rx_give(uint16_t port, uint16_t queue, const void *bytes, uint32_t nb)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(rx.pool);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)nb), bytes, nb);
	assert_int_equal(rte_ring_enqueue(rx.in[port][queue], m), 0);
}

void
rx_give_udp(uint16_t port, uint16_t queue, uint32_t source_ip, uint16_t udp_port, uint8_t key)
{
	const rte_be32_t ip = rte_cpu_to_be_32(source_ip);
	const rte_be16_t udp = rte_cpu_to_be_16(udp_port);
	uint8_t bytes[43] = {[12] = 0x08, [14] = 0x45, [17] = 29, [23] = 17, [39] = 9, [42] = key};

	memcpy(bytes + 26, &ip, sizeof(ip));
	memcpy(bytes + 36, &udp, sizeof(udp));
	rx_give(port, queue, bytes, sizeof(bytes));
}

uint32_t
rx_sent(uint16_t port, uint16_t queue, uint8_t *bytes)
{
	struct rte_mbuf *m;
	uint32_t nb;

	if (rte_ring_dequeue(rx.out[port][queue], (void **)&m) != 0)
		return 0;
	nb = m->pkt_len;
	memcpy(bytes, rte_pktmbuf_mtod(m, const void *), nb);
	rte_pktmbuf_free(m);
	return nb;
}

struct weir_readout_receiver_queue_stats
rx_stats(uint16_t queue)
{
	struct weir_readout_receiver_queue_stats stats;
	const struct weir_readout_dispatch_stats *dispatch = &stats.dispatch;
	uint64_t sum;

	assert_int_equal(weir_readout_receiver_queue_stats(rx.receiver, queue, &stats), 0);
	sum = dispatch->received + stats.arp_replied + stats.handed_over;
	for (unsigned int i = 0; i < WEIR_READOUT_RECEIVER_NB_DROPS; i++)
		sum += stats.dropped[i];
	assert_int_equal(stats.received + stats.taken_over, sum);
	assert_int_equal(dispatch->received, dispatch->links + dispatch->not_udp +
						     dispatch->truncated +
						     dispatch->unknown_stream);
	assert_int_equal(stats.bursts.sum, stats.received);
	return stats;
}

struct weir_readout_receiver_port_stats
rx_port(uint16_t port)
{
	struct weir_readout_receiver_port_stats stats;

	assert_int_equal(weir_readout_receiver_port_stats(rx.receiver, port, &stats), 0);
	return stats;
}

uint64_t
rx_link_received(uint32_t link)
{
	struct weir_readout_link_stats stats;

	weir_readout_link_stats(rx.links[link], &stats);
	return stats.received;
}
