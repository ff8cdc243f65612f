/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages from sources to sinks, and the switch of a source from one sink to another meanwhile. */
#include <rte_ring_elem.h>

#include "again.h"
#include "registry_private.h"
#include "tally.h"
#include "weir_base_sanitizer.h"

void
source_switch(struct weir_readout_source *source, struct weir_readout_sink *sink)
{
	uint32_t looks = 0;
	uint64_t sends;

	__atomic_store_n(&source->sink, sink, __ATOMIC_SEQ_CST);
	sends = __atomic_load_n(&source->sends, __ATOMIC_SEQ_CST);
	if ((sends & 1) == 0)
		return;
	while (__atomic_load_n(&source->sends, __ATOMIC_ACQUIRE) == sends)
		look_again(&looks);
}

static uint32_t
deliver(struct weir_readout_sink *sink, const void *messages, uint32_t nb)
{
	if (sink->ring == NULL) {
		sink->receive(sink->arg, messages, nb);
		return nb;
	}
	weir_base_ring_begin();
	nb = rte_ring_enqueue_burst_elem(sink->ring, messages, sink->type.size_bytes, nb, NULL);
	weir_base_ring_end();
	return nb;
}

uint32_t
weir_readout_source_send(struct weir_readout_source *source, const void *messages, uint32_t nb)
{
	struct weir_readout_source_stats *own = &source->own;
	uint64_t sends = source->sends;
	struct weir_readout_sink *sink;
	uint32_t nb_delivered = 0;
	bool queue;

	if (nb == 0)
		return 0;
	__atomic_store_n(&source->sends, sends + 1, __ATOMIC_SEQ_CST);
	sink = __atomic_load_n(&source->sink, __ATOMIC_SEQ_CST);
	/* Who has seen a message in a queue, and then reads counters, finds it there: it waits until it is counted. */
	queue = sink != NULL && sink->ring != NULL;
	if (queue)
		tally_open(&source->version);
	if (sink != NULL)
		nb_delivered = deliver(sink, messages, nb);
	else
		own->unbound += nb;
	__atomic_store_n(&source->sends, sends + 2, __ATOMIC_RELEASE);
	own->sent += nb;
	own->delivered += nb_delivered;
	if (sink != NULL)
		own->queue_full += nb - nb_delivered;
	if (!queue)
		tally_open(&source->version);
	tally_store((uint64_t *)&source->published, (const uint64_t *)own, TALLY_WORDS(*own));
	tally_close(&source->version);
	return nb_delivered;
}

void
weir_readout_source_stats(
	const struct weir_readout_source *source, struct weir_readout_source_stats *stats)
{
	tally_read(&source->version, (const uint64_t *)&source->published, (uint64_t *)stats,
		TALLY_WORDS(*stats));
}

uint32_t
weir_readout_sink_receive(struct weir_readout_sink *sink, void *messages, uint32_t nb)
{
	uint32_t nb_received;

	if (sink->ring == NULL)
		return 0;
	weir_base_ring_begin();
	nb_received =
		rte_ring_dequeue_burst_elem(sink->ring, messages, sink->type.size_bytes, nb, NULL);
	weir_base_ring_end();
	__atomic_store_n(&sink->received, sink->received + nb_received, __ATOMIC_RELEASE);
	return nb_received;
}

/*
 * By the ring's own ends, which count messages modulo 2^32: one that is taken leaves the queue at once, and is counted by its consumer a moment
 * later.
 */
static void
look_at_ring(const struct weir_readout_sink *sink, struct weir_readout_sink_stats *stats)
{
	const struct rte_ring *ring = sink->ring;
	const uint64_t counted = __atomic_load_n(&sink->received, __ATOMIC_ACQUIRE);
	uint32_t taken = __atomic_load_n(&ring->cons.tail, __ATOMIC_ACQUIRE), put, again, looks = 0;

	for (;; look_again(&looks)) {
		put = __atomic_load_n(&ring->prod.tail, __ATOMIC_ACQUIRE);
		again = __atomic_load_n(&ring->cons.tail, __ATOMIC_ACQUIRE);
		if (again == taken)
			break;
		taken = again;
	}
	stats->received = counted + (taken - (uint32_t)counted);
	stats->queued = put - taken;
}

void
weir_readout_sink_stats(const struct weir_readout_sink *sink, struct weir_readout_sink_stats *stats)
{
	*stats = (struct weir_readout_sink_stats){
		.sources = __atomic_load_n(&sink->nb_sources, __ATOMIC_ACQUIRE)};
	if (sink->ring != NULL)
		look_at_ring(sink, stats);
}
