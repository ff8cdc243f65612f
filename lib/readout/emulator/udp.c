/* SPDX-License-Identifier: BSD-3-Clause */
/* Emulated or replayed packets, out by a port. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include "port/device.h"
#include "emulator_private.h"
#include "registry_private.h"
#include "tally.h"
#include "weir_readout_udp.h"

#define BURST_DEFAULT 64
/* What an emulator needs: room for all that comes with one frame. */
#define BURST_MIN 3

struct weir_readout_udp {
	struct weir_readout_udp_config config;
	uint32_t first, nb; /* of mbufs: not taken by the device yet */
	struct weir_readout_udp_stats own;
	OWN_LINE uint64_t version;
	struct weir_readout_udp_stats published;
	struct rte_mbuf *mbufs[];
};

static uint32_t
packet_bytes_max(const struct weir_readout_emulator *emulator)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < emulator->nb_streams; i++) {
		const struct packet *packet = &emulator->streams[i].packet;

		most = RTE_MAX(most, packet->header_bytes + packet->frame_bytes);
	}
	return most;
}

/* A device loses, or refuses for ever, what is larger than its MTU, or the one it could have. @return 0, -EINVAL: said in the log */
static int
check_mtu(const struct weir_readout_udp_config *config, const struct rte_eth_dev_info *info)
{
	uint32_t bytes = config->emulator == NULL ? 0 : packet_bytes_max(config->emulator);
	uint16_t mtu;

	if (rte_eth_dev_get_mtu(config->port_id, &mtu) < 0 ||
		bytes <= (uint32_t)mtu + RTE_ETHER_HDR_LEN ||
		mtu >= device_mtu(info, (uint16_t)(bytes - RTE_ETHER_HDR_LEN)))
		return 0;
	READOUT_LOG(ERROR,
		"port %u has an MTU of %u bytes; emulated packets need one of %" PRIu32
		", without their Ethernet headers",
		config->port_id, mtu, bytes - RTE_ETHER_HDR_LEN);
	return -EINVAL;
}

/* @return 0, -EINVAL, -ENODEV: said in the log */
static int
check_config(const struct weir_readout_udp_config *config)
{
	struct rte_eth_dev_info info;

	if ((config->emulator == NULL) == (config->replay == NULL)) {
		READOUT_LOG(ERROR, "a sender needs an emulator or a replay, and one of them only");
		return -EINVAL;
	}
	if (config->burst != 0 &&
		(config->burst < BURST_MIN || config->burst > WEIR_READOUT_UDP_BURST_MAX)) {
		READOUT_LOG(ERROR, "a sender's bursts of %" PRIu32 " packets, expected %u up to %u",
			config->burst, BURST_MIN, WEIR_READOUT_UDP_BURST_MAX);
		return -EINVAL;
	}
	if (!rte_eth_dev_is_valid_port(config->port_id) ||
		rte_eth_dev_info_get(config->port_id, &info) < 0) {
		READOUT_LOG(ERROR, "a sender's port %u is not there", config->port_id);
		return -ENODEV;
	}
	if (config->queue_id >= info.nb_tx_queues) {
		READOUT_LOG(ERROR, "a sender's queue %u: port %u has %u to transmit",
			config->queue_id, config->port_id, info.nb_tx_queues);
		return -EINVAL;
	}
	return check_mtu(config, &info);
}

struct weir_readout_udp *
weir_readout_udp_create(const struct weir_readout_udp_config *config)
{
	uint32_t burst = config->burst == 0 ? BURST_DEFAULT : config->burst;
	struct weir_readout_udp *udp;
	size_t bytes;
	int rc = check_config(config);

	if (rc < 0) {
		rte_errno = -rc;
		return NULL;
	}
	bytes = RTE_ALIGN_CEIL(
		sizeof(*udp) + burst * sizeof(udp->mbufs[0]), __alignof__(struct weir_readout_udp));
	udp = aligned_alloc(__alignof__(struct weir_readout_udp), bytes);
	if (udp == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	memset(udp, 0, bytes);
	udp->config = *config;
	udp->config.burst = burst;
	return udp;
}

static void
free_held(struct weir_readout_udp *udp)
{
	rte_pktmbuf_free_bulk(&udp->mbufs[udp->first], udp->nb);
	udp->nb = 0;
}

void
weir_readout_udp_free(struct weir_readout_udp *udp)
{
	if (udp == NULL)
		return;
	free_held(udp);
	free(udp);
}

static void
take_due(struct weir_readout_udp *udp, uint64_t now_ns)
{
	const struct weir_readout_udp_config *config = &udp->config;

	udp->first = 0;
	udp->nb = config->emulator != NULL ? weir_readout_emulator_poll(config->emulator, now_ns,
						     udp->mbufs, config->burst)
					   : weir_readout_replay_poll(config->replay, now_ns,
						     udp->mbufs, config->burst);
	udp->own.taken += udp->nb;
}

static uint64_t
bytes_of(struct rte_mbuf *const *mbufs, uint32_t nb)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < nb; i++)
		bytes += mbufs[i]->pkt_len;
	return bytes;
}

/* Once the device has them they are not ours to look at: their bytes are counted before, and those of the rest taken back. @return how many */
static uint32_t
offer(struct weir_readout_udp *udp)
{
	struct rte_mbuf **mbufs = &udp->mbufs[udp->first];
	uint64_t bytes = bytes_of(mbufs, udp->nb);
	uint32_t nb_sent = rte_eth_tx_burst(
		udp->config.port_id, udp->config.queue_id, mbufs, (uint16_t)udp->nb);

	udp->first += nb_sent;
	udp->nb -= nb_sent;
	udp->own.sent += nb_sent;
	udp->own.sent_bytes += bytes - bytes_of(&mbufs[nb_sent], udp->nb);
	return nb_sent;
}

uint32_t
weir_readout_udp_poll(struct weir_readout_udp *udp, uint64_t now_ns)
{
	uint32_t nb_sent;

	if (udp->nb == 0)
		take_due(udp, now_ns);
	if (udp->nb == 0)
		return 0;
	nb_sent = offer(udp);
	if (udp->nb > 0) {
		udp->own.refusals++;
		if (udp->config.refused == WEIR_READOUT_UDP_DROP) {
			udp->own.dropped += udp->nb;
			free_held(udp);
		}
	}
	udp->own.held = udp->nb;
	tally_publish(&udp->version, (uint64_t *)&udp->published, (const uint64_t *)&udp->own,
		TALLY_WORDS(udp->own));
	return nb_sent;
}

void
weir_readout_udp_stats(const struct weir_readout_udp *udp, struct weir_readout_udp_stats *stats)
{
	tally_read(&udp->version, (const uint64_t *)&udp->published, (uint64_t *)stats,
		TALLY_WORDS(*stats));
}
