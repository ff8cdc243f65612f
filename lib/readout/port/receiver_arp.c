/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP (RFC 826), so that senders find us, and gratuitous (RFC 5227), so that they and switches keep finding us. */
#include <errno.h>
#include <string.h>

#include <rte_arp.h>
#include <rte_byteorder.h>

#include "receiver_private.h"
#include "weir_base_pool.h"

/* An Ethernet frame is not shorter, without its checksum. */
#define FRAME_BYTES_MIN 60u

#define NS_PER_MS UINT64_C(1000000)

struct arp_frame {
	struct rte_ether_hdr ether;
	struct rte_arp_hdr arp;
};

static bool
is_request(const struct arp_frame *frame)
{
	return frame->arp.arp_hardware == RTE_BE16(RTE_ARP_HRD_ETHER) &&
	       frame->arp.arp_protocol == RTE_BE16(RTE_ETHER_TYPE_IPV4) &&
	       frame->arp.arp_hlen == RTE_ETHER_ADDR_LEN &&
	       frame->arp.arp_plen == sizeof(frame->arp.arp_data.arp_tip) &&
	       frame->arp.arp_opcode == RTE_BE16(RTE_ARP_OP_REQUEST);
}

/* Turned around where it is. */
static void
make_reply(const struct receiver_port *port, struct arp_frame *frame)
{
	struct rte_arp_ipv4 *data = &frame->arp.arp_data;

	data->arp_tha = data->arp_sha;
	data->arp_tip = data->arp_sip;
	data->arp_sha = port->mac;
	data->arp_sip = rte_cpu_to_be_32(port->config.ip_addr);
	frame->arp.arp_opcode = RTE_BE16(RTE_ARP_OP_REPLY);
	frame->ether.dst_addr = data->arp_tha;
	frame->ether.src_addr = port->mac;
}

enum arp
receiver_arp_answer(const struct receiver_port *port, struct rte_mbuf *m)
{
	struct arp_frame *frame = rte_pktmbuf_mtod(m, struct arp_frame *);
	const rte_be32_t ip = rte_cpu_to_be_32(port->config.ip_addr);

	if (m->data_len < sizeof(*frame) ||
		frame->ether.ether_type != RTE_BE16(RTE_ETHER_TYPE_ARP) || !is_request(frame) ||
		frame->arp.arp_data.arp_tip != ip)
		return ARP_OTHER;
	if (frame->arp.arp_data.arp_sip == ip)
		return rte_is_same_ether_addr(&frame->arp.arp_data.arp_sha, &port->mac)
			       ? ARP_OTHER
			       : ARP_CONFLICT;
	make_reply(port, frame);
	m->ol_flags = 0;
	return ARP_REPLY;
}

static struct rte_mbuf *
make_announcement(const struct receiver_port *port, struct rte_mempool *pool)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct arp_frame *frame;

	if (m == NULL)
		return NULL;
	m->data_len = FRAME_BYTES_MIN;
	m->pkt_len = FRAME_BYTES_MIN;
	frame = rte_pktmbuf_mtod(m, struct arp_frame *);
	memset(frame, 0, FRAME_BYTES_MIN);
	memset(&frame->ether.dst_addr, 0xff, sizeof(frame->ether.dst_addr));
	frame->ether.src_addr = port->mac;
	frame->ether.ether_type = RTE_BE16(RTE_ETHER_TYPE_ARP);
	frame->arp.arp_hardware = RTE_BE16(RTE_ARP_HRD_ETHER);
	frame->arp.arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	frame->arp.arp_hlen = RTE_ETHER_ADDR_LEN;
	frame->arp.arp_plen = sizeof(frame->arp.arp_data.arp_tip);
	frame->arp.arp_opcode = RTE_BE16(RTE_ARP_OP_REQUEST);
	frame->arp.arp_data.arp_sha = port->mac;
	frame->arp.arp_data.arp_sip = rte_cpu_to_be_32(port->config.ip_addr);
	frame->arp.arp_data.arp_tip = frame->arp.arp_data.arp_sip;
	weir_base_mbuf_guard(m);
	return m;
}

void
receiver_arp_announce(struct receiver_queue *queue, uint64_t now_ns)
{
	const struct receiver_port *port = queue->port;
	const uint64_t interval_ns = port->config.announce_interval_ms * NS_PER_MS;
	struct rte_mbuf *m;

	if (queue->announced && (interval_ns == 0 || now_ns - queue->announce_ns < interval_ns))
		return;
	queue->announced = true;
	queue->announce_ns = now_ns;
	m = make_announcement(port, queue->pool);
	if (m != NULL && rte_eth_tx_burst(port->ethdev, queue->number, &m, 1) == 1) {
		queue->own.announced++;
		return;
	}
	queue->own.not_announced++;
	rte_pktmbuf_free(m);
}
