/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_READOUT_RING_PORT_H
#define WEIR_TESTS_READOUT_RING_PORT_H

/* A DPDK port that receives what it sends: a ring. */

#include <rte_bus_vdev.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

struct ring_port {
	uint16_t id;
	struct rte_ring *ring;
};

/* It holds up to @p size - 1 packets; a power of two. */
static inline struct ring_port
ring_port_make(uint32_t size, uint32_t mtu, struct rte_mempool *pool)
{
	const struct rte_eth_conf conf = {.rxmode.mtu = mtu};
	struct ring_port port;
	int id;

	port.ring = rte_ring_create("wire", size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	assert_non_null(port.ring);
	id = rte_eth_from_ring(port.ring);
	assert_true(id >= 0);
	port.id = (uint16_t)id;
	assert_int_equal(rte_eth_dev_configure(port.id, 1, 1, &conf), 0);
	assert_int_equal(rte_eth_rx_queue_setup(port.id, 0, 64, 0, NULL, pool), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port.id, 0, 64, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port.id), 0);
	return port;
}

/* Nothing is in it any more. */
static inline void
ring_port_free(const struct ring_port *port)
{
	char name[RTE_ETH_NAME_MAX_LEN];

	assert_int_equal(rte_ring_count(port->ring), 0);
	assert_int_equal(rte_eth_dev_get_name_by_port(port->id, name), 0);
	assert_int_equal(rte_eth_dev_stop(port->id), 0);
	assert_int_equal(rte_vdev_uninit(name), 0);
	rte_ring_free(port->ring);
}

#endif
