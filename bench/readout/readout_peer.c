/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The published starting point, written plainly: the receiver's thread looks up whose a frame is, copies it into a message, and puts this
 * into the link's queue (rte_ring); the consumer's copies it into the link's latency buffer, a ring of frames. Where it could be
 * slower, it is not: a link is found by its number, messages and packets go back in bursts, one thread empties all queues, and nothing is
 * checked of a frame but that it is a datagram of the right size.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_udp.h>

#include "readout_peer.h"

#define SWEEP   32 /* messages that the consumer takes of a queue at once */
#define RX_RING 512

/* A frame on its way. */
struct message {
	uint32_t bytes;
	uint8_t frame[] __rte_cache_aligned;
};

struct peer_link {
	struct rte_ring *queue, *unused; /* of messages */
	uint8_t *messages;
	struct readout_ring_buffer buffer;
	uint64_t nb_queued, bytes_queued;
	uint64_t nb_stored, bytes_stored;
};

struct peer {
	struct readout_side side; /* first */
	struct peer_link links[READOUT_LINKS_MAX];
	uint64_t nb_received, nb_unknown, nb_refused;
};

/* ---- turns ---- */

/* @return the frame in a packet; NULL: it is none */
static const uint8_t *
frame_of(const struct readout_traffic *traffic, const struct rte_mbuf *m)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct rte_ether_hdr *ether = (const struct rte_ether_hdr *)bytes;
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(ether + 1);

	if (m->data_len != READOUT_HEADER + traffic->frame_bytes ||
		ether->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
		ip->next_proto_id != IPPROTO_UDP)
		return NULL;
	return bytes + READOUT_HEADER;
}

static struct peer_link *
link_of(struct peer *peer, const uint8_t *frame)
{
	const struct weir_readout_format *format = &peer->side.traffic->format;
	uint64_t key;

	memcpy(&key, frame, sizeof(key));
	key = key >> format->fields[WEIR_BASE_FIELD_STREAM].shift &
	      format->fields[WEIR_BASE_FIELD_STREAM].mask;
	return key < peer->side.traffic->nb_links ? &peer->links[key] : NULL;
}

static void
receive_frame(struct peer *peer, const struct rte_mbuf *m)
{
	const uint32_t bytes = peer->side.traffic->frame_bytes;
	const uint8_t *frame = frame_of(peer->side.traffic, m);
	struct peer_link *link = frame == NULL ? NULL : link_of(peer, frame);
	struct message *message;

	if (unlikely(link == NULL)) {
		peer->nb_unknown++;
		return;
	}
	if (unlikely(rte_ring_sc_dequeue(link->unused, (void **)&message) != 0)) {
		peer->nb_refused++;
		return;
	}
	message->bytes = bytes;
	memcpy(message->frame, frame, bytes);
	link->nb_queued++;
	link->bytes_queued += bytes;
	rte_ring_sp_enqueue(link->queue, message); /* it has room for all messages */
}

static void
receive_all(struct peer *peer)
{
	struct rte_mbuf *mbufs[READOUT_BURST_MAX];
	uint16_t nb;

	while (!rte_ring_empty(peer->side.ring)) {
		nb = rte_eth_rx_burst(
			peer->side.ethdev, 0, mbufs, (uint16_t)peer->side.traffic->burst);
		for (uint16_t i = 0; i < nb; i++)
			receive_frame(peer, mbufs[i]);
		rte_pktmbuf_free_bulk(mbufs, nb);
		peer->nb_received += nb;
	}
}

static void
store(struct peer_link *link, const struct message *message)
{
	struct readout_ring_buffer *buffer = &link->buffer;

	memcpy(buffer->frames + (size_t)buffer->next * buffer->cell_bytes, message->frame,
		message->bytes);
	buffer->next = buffer->next + 1 < buffer->nb_cells ? buffer->next + 1 : 0;
	buffer->nb++;
	link->nb_stored++;
	link->bytes_stored += message->bytes;
}

/* Once around all queues. @return frames */
static uint32_t
sweep(void *arg)
{
	struct peer *peer = arg;
	struct message *messages[SWEEP];
	uint32_t nb, sum = 0;

	for (uint32_t i = 0; i < peer->side.traffic->nb_links; i++) {
		struct peer_link *link = &peer->links[i];

		nb = rte_ring_sc_dequeue_burst(link->queue, (void **)messages, SWEEP, NULL);
		if (nb == 0)
			continue;
		rte_rwlock_write_lock(&link->buffer.lock);
		for (uint32_t m = 0; m < nb; m++)
			store(link, messages[m]);
		rte_rwlock_write_unlock(&link->buffer.lock);
		rte_ring_sp_enqueue_bulk(link->unused, (void **)messages, nb, NULL);
		sum += nb;
	}
	return sum;
}

/* There are messages for all frames of a turn: the receiver never waits. */
static void
run(struct readout_side *side, struct readout_turn *turn)
{
	struct peer *peer = (struct peer *)side;
	uint64_t begin;

	readout_consumer_begin(sweep, peer);
	begin = weir_base_cycles();
	receive_all(peer);
	turn->receive = weir_base_cycles() - begin;
	turn->consume = readout_consumer_end();
}

/* ---- what came of them ---- */

static uint64_t
look(struct readout_side *side, uint64_t first)
{
	struct peer *peer = (struct peer *)side;
	const uint64_t given = side->nb_frames * side->traffic->nb_links;
	uint64_t kept = 0;

	if (peer->nb_received != given || peer->nb_unknown + peer->nb_refused > 0)
		readout_wrong(side,
			"of %" PRIu64 " packets %" PRIu64 " were received, %" PRIu64
			" are no link's, for %" PRIu64 " there was no message",
			given, peer->nb_received, peer->nb_unknown, peer->nb_refused);
	side->bytes_copied = 0;
	for (uint32_t i = 0; i < side->traffic->nb_links; i++) {
		struct peer_link *link = &peer->links[i];

		if (link->nb_queued != side->nb_frames || link->nb_stored != side->nb_frames)
			readout_wrong(side,
				"link %" PRIu32 ": of %" PRIu64 " frames %" PRIu64
				" were queued, %" PRIu64 " are or were in the buffer",
				i, side->nb_frames, link->nb_queued, link->nb_stored);
		side->bytes_copied += link->bytes_queued + link->bytes_stored;
		for (uint64_t n = first; n < side->nb_frames; n++)
			kept += readout_is_frame(
				side->traffic, i, n, readout_ring_buffer_at(&link->buffer, n));
	}
	return kept;
}

/* ---- making it ---- */

static int
make_port(struct peer *peer)
{
	const struct rte_eth_conf conf = {.rxmode.mtu = 9000};
	const uint16_t port = peer->side.ethdev;
	int rc = rte_eth_dev_configure(port, 1, 1, &conf);

	if (rc == 0)
		rc = rte_eth_rx_queue_setup(port, 0, RX_RING, 0, NULL, peer->side.traffic->pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(port, 0, RX_RING, 0, NULL);
	return rc == 0 ? rte_eth_dev_start(port) : rc;
}

static struct rte_ring *
make_ring(const struct peer *peer, const char *kind, uint32_t link, uint32_t nb)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "%s%" PRIu32, kind, link);
	return rte_ring_create(name, nb, peer->side.traffic->socket,
		RING_F_EXACT_SZ | RING_F_SP_ENQ | RING_F_SC_DEQ);
}

/* Memory that is there from the beginning. */
static void *
touched(const struct peer *peer, size_t bytes)
{
	void *memory =
		rte_malloc_socket(NULL, bytes, RTE_CACHE_LINE_SIZE, peer->side.traffic->socket);

	if (memory != NULL)
		memset(memory, 1, bytes);
	return memory;
}

static int
make_link(struct peer *peer, uint32_t i, uint32_t nb_cells)
{
	const struct readout_traffic *traffic = peer->side.traffic;
	const uint32_t nb = traffic->slice / traffic->nb_links;
	const uint32_t cell = RTE_ALIGN_CEIL(traffic->frame_bytes, RTE_CACHE_LINE_SIZE);
	const size_t size = sizeof(struct message) + cell;
	struct peer_link *link = &peer->links[i];

	link->queue = make_ring(peer, "queue", i, nb);
	link->unused = make_ring(peer, "unused", i, nb);
	link->messages = touched(peer, nb * size);
	link->buffer =
		(struct readout_ring_buffer){.frames = touched(peer, (size_t)nb_cells * cell),
			.nb_cells = nb_cells,
			.cell_bytes = cell};
	if (link->queue == NULL || link->unused == NULL || link->messages == NULL ||
		link->buffer.frames == NULL)
		return -ENOMEM;
	rte_rwlock_init(&link->buffer.lock);
	for (uint32_t m = 0; m < nb; m++)
		rte_ring_sp_enqueue(link->unused, link->messages + m * size);
	return 0;
}

struct readout_side *
readout_peer_create(struct readout_traffic *traffic, uint32_t nb_cells)
{
	struct peer *peer = calloc(1, sizeof(*peer));
	int rc;

	if (peer == NULL)
		return NULL;
	peer->side = (struct readout_side){.traffic = traffic,
		.name = "copy and queue",
		.nb_threads = 2,
		.run = run,
		.look = look};
	rc = readout_port_open(&peer->side, "peer");
	if (rc == 0)
		rc = make_port(peer);
	for (uint32_t i = 0; i < traffic->nb_links && rc == 0; i++)
		rc = make_link(peer, i, nb_cells);
	if (rc == 0)
		return &peer->side;
	readout_peer_free(&peer->side);
	rte_errno = -rc;
	return NULL;
}

void
readout_peer_free(struct readout_side *side)
{
	struct peer *peer = (struct peer *)side;

	if (side == NULL)
		return;
	for (uint32_t i = 0; i < side->traffic->nb_links; i++) {
		rte_ring_free(peer->links[i].queue);
		rte_ring_free(peer->links[i].unused);
		rte_free(peer->links[i].messages);
		rte_free(peer->links[i].buffer.frames);
	}
	readout_port_close(side);
	free(peer);
}

struct readout_ring_buffer *
readout_peer_buffer(struct readout_side *side, uint32_t link)
{
	return &((struct peer *)side)->links[link].buffer;
}
