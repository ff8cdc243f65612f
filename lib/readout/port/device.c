/* SPDX-License-Identifier: BSD-3-Clause */
/* What DPDK's devices say of the largest frame, and what of it is so. */
#include <string.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_ether.h>

#include "device.h"

static bool
is_virtual(const struct rte_eth_dev_info *info)
{
	return info->device != NULL && strcmp(rte_bus_name(rte_dev_bus(info->device)), "vdev") == 0;
}

/* As ethdev counts: what the driver's two limits differ by, where both are such. */
static uint32_t
overhead_bytes(const struct rte_eth_dev_info *info)
{
	return info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu
		       ? info->max_rx_pktlen - info->max_mtu
		       : RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
}

uint16_t
device_mtu(const struct rte_eth_dev_info *info, uint16_t mtu)
{
	const uint32_t overhead = overhead_bytes(info);

	if (!is_virtual(info) || info->max_rx_pktlen <= overhead ||
		mtu + overhead <= info->max_rx_pktlen)
		return mtu;
	return (uint16_t)(info->max_rx_pktlen - overhead);
}
