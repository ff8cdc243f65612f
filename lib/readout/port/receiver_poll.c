/* SPDX-License-Identifier: BSD-3-Clause */
/* Bursts, from devices to links. */
#include <string.h>

#include <rte_cycles.h>

#include <weir_base.h>

#include "receiver_private.h"
#include "weir_base_nodes.h"
#include "weir_base_pool.h"

static void
drop(struct receiver_queue *queue, struct rte_mbuf *m, enum weir_readout_receiver_drop reason)
{
	queue->own.dropped[reason]++;
	rte_pktmbuf_free(m);
}

/* @return whether it was ARP of our address: counted, and gone */
static bool
take_arp(struct receiver_queue *queue, struct rte_mbuf *m)
{
	switch (receiver_arp_answer(queue->port, m)) {
	case ARP_CONFLICT:
		drop(queue, m, WEIR_READOUT_RECEIVER_DROP_ADDRESS_CONFLICT);
		return true;
	case ARP_REPLY:
		if (rte_eth_tx_burst(queue->port->ethdev, queue->number, &m, 1) == 1)
			queue->own.arp_replied++;
		else
			drop(queue, m, WEIR_READOUT_RECEIVER_DROP_ARP_NOT_SENT);
		return true;
	default:
		return false;
	}
}

/* @return whether it went to the queue of its source, or would have */
static bool
hand_over(struct receiver_queue *queue, struct rte_mbuf *m)
{
	const struct receiver_port *port = queue->port;
	uint16_t target = receiver_steer_find(&port->steer, m, queue->number);

	if (target == queue->number)
		return false;
	if (rte_ring_enqueue(port->queues[target].handover[queue->number], m) == 0)
		queue->own.handed_over++;
	else
		drop(queue, m, WEIR_READOUT_RECEIVER_DROP_HANDOVER_FULL);
	return true;
}

/* Those that are for this queue's links, in front. @return how many */
static uint16_t
sort(struct receiver_queue *queue, uint16_t nb)
{
	const bool answers = queue->port->config.ip_addr != 0;
	const bool steers = queue->handover != NULL;
	struct rte_mbuf **mbufs = queue->mbufs;
	uint16_t nb_own = 0;

	for (uint16_t i = 0; i < nb; i++) {
		weir_base_mbuf_guard(mbufs[i]);
		queue->own.received_bytes += mbufs[i]->pkt_len;
		if (answers && unlikely(take_arp(queue, mbufs[i])))
			continue;
		if (steers && hand_over(queue, mbufs[i]))
			continue;
		mbufs[nb_own++] = mbufs[i];
	}
	return nb_own;
}

/* What the next burst asks for. */
static void
adapt(struct receiver_queue *queue, uint16_t nb)
{
	if (nb == queue->burst) {
		queue->burst = (uint16_t)RTE_MIN(2u * queue->burst, queue->port->config.burst_size);
		queue->nb_small = 0;
	} else if (nb >= queue->burst / 2) {
		queue->nb_small = 0;
	} else if (++queue->nb_small == WEIR_BASE_ADAPTIVE_BURST_SMALL) {
		queue->burst = (uint16_t)RTE_MAX(
			queue->burst / 2u, RTE_MIN(WEIR_BASE_ADAPTIVE_BURST_MIN,
						   (uint32_t)queue->port->config.burst_size));
		queue->nb_small = 0;
	}
	queue->own.burst_size = queue->burst;
}

/* @return whether the burst was full */
static bool
count_burst(struct receiver_queue *queue, uint16_t nb)
{
	const bool full = nb == queue->burst;

	queue->own.polls++;
	queue->own.received += nb;
	queue->own.full_bursts += full;
	if (nb > 0)
		weir_base_hist_add(&queue->own.bursts, nb);
	if (queue->port->config.burst_adaptive)
		adapt(queue, nb);
	return full;
}

/* Of the histogram only what a burst of this size changes. */
static void
publish(struct receiver_queue *queue, uint16_t nb)
{
	const size_t hist = offsetof(struct weir_readout_receiver_queue_stats, bursts);
	const size_t buckets = hist + offsetof(struct weir_base_hist, bucket);
	const size_t bucket = weir_base_hist_index(nb);

	tally_open(&queue->version);
	tally_store((uint64_t *)&queue->published, (const uint64_t *)&queue->own,
		buckets / sizeof(uint64_t));
	tally_store(&queue->published.bursts.bucket[bucket], &queue->own.bursts.bucket[bucket], 1);
	tally_close(&queue->version);
}

static void
give(struct weir_readout_receiver *receiver, struct receiver_queue *queue, uint16_t nb,
	uint64_t now_ns)
{
	weir_readout_dispatch_receive(
		receiver->dispatch, (uint32_t)(queue - receiver->queues), queue->mbufs, nb, now_ns);
}

/* What the queue has counted, for everyone. @param nb  packets of its last burst */
static void
show(const struct weir_readout_receiver *receiver, struct receiver_queue *queue, uint16_t nb)
{
	weir_readout_dispatch_stats(
		receiver->dispatch, (uint32_t)(queue - receiver->queues), &queue->own.dispatch);
	publish(queue, nb);
}

/* What other queues have handed over, up to a burst of each. @return how many packets */
static uint32_t
take_over(struct weir_readout_receiver *receiver, struct receiver_queue *queue, uint64_t now_ns)
{
	const struct receiver_port *port = queue->port;
	uint32_t nb_all = 0;

	for (uint16_t from = 0; from < port->config.nb_queues; from++) {
		uint16_t nb;

		if (from == queue->number)
			continue;
		nb = (uint16_t)rte_ring_dequeue_burst(queue->handover[from], (void **)queue->mbufs,
			port->config.burst_size, NULL);
		if (nb == 0)
			continue;
		queue->own.taken_over += nb;
		nb_all += nb;
		give(receiver, queue, nb, now_ns);
	}
	return nb_all;
}

static bool
poll_queue(struct weir_readout_receiver *receiver, struct receiver_queue *queue, uint64_t now_ns)
{
	const struct receiver_port *port = queue->port;
	uint16_t nb, nb_own;
	bool full;

	if (port->config.ip_addr != 0 && queue->number == 0)
		receiver_arp_announce(queue, now_ns);
	if (queue->handover != NULL)
		take_over(receiver, queue, now_ns);
	nb = rte_eth_rx_burst(port->ethdev, queue->number, queue->mbufs, queue->burst);
	full = count_burst(queue, nb);
	nb_own = sort(queue, nb);
	give(receiver, queue, nb_own, now_ns);
	show(receiver, queue, nb);
	return full;
}

uint32_t
weir_readout_receiver_poll(struct weir_readout_receiver *receiver, uint16_t poller, uint64_t now_ns)
{
	uint32_t nb_full = 0;

	for (uint16_t q = poller; q < receiver->nb_queues; q += receiver->nb_pollers)
		nb_full += poll_queue(receiver, &receiver->queues[q], now_ns);
	return nb_full;
}

uint32_t
weir_readout_receiver_drain(
	struct weir_readout_receiver *receiver, uint16_t poller, uint64_t now_ns)
{
	uint32_t nb_all = 0, nb;

	for (uint16_t q = poller; q < receiver->nb_queues; q += receiver->nb_pollers) {
		struct receiver_queue *queue = &receiver->queues[q];

		if (queue->handover == NULL)
			continue;
		while ((nb = take_over(receiver, queue, now_ns)) > 0)
			nb_all += nb;
		show(receiver, queue, 0);
	}
	return nb_all;
}

void
weir_readout_receiver_run(struct weir_readout_receiver *receiver, uint16_t poller, const bool *stop)
{
	uint64_t *sleeps = &receiver->pollers[poller].sleeps;

	while (!__atomic_load_n(stop, __ATOMIC_ACQUIRE)) {
		if (weir_readout_receiver_poll(receiver, poller, weir_base_time_ns()) > 0 ||
			receiver->lcore_sleep_us == 0)
			continue;
		__atomic_store_n(sleeps, *sleeps + 1, __ATOMIC_RELAXED);
		rte_delay_us_sleep(receiver->lcore_sleep_us);
	}
}
