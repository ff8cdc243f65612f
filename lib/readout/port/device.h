/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_DEVICE_H
#define READOUT_DEVICE_H

/* What DPDK's devices say of the largest frame, and what of it is so. */

#include <stdint.h>

#include <rte_ethdev.h>

/*
 * The MTU to configure a device with, so that packets of @p mtu bytes pass.
 *
 * Drivers of some virtual devices (memif, af_packet, tap) name frames of 1518 bytes as their largest, so that DPDK refuses any
 * larger MTU, and carry whatever the other side of them does: such a device is configured with what it takes. Others are with
 * @p mtu, which is for them to take or to refuse.
 */
uint16_t device_mtu(const struct rte_eth_dev_info *info, uint16_t mtu);

#endif
