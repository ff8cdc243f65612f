/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_EMULATOR_PRIVATE_H
#define READOUT_EMULATOR_PRIVATE_H

/* emulator.c: streams, and when their frames are due; fault.c: what is done to which frame; packet.c: frames as packets. */

#include <rte_mbuf.h>

#include "registry_private.h"
#include "weir_readout_emulator.h"

/* Ethernet, IPv4 and UDP before a frame. */
#define PACKET_HEADER_BYTES 42u

/* Header and frame of a stream, with room behind it to write a field by words. */
struct packet {
	uint8_t *bytes;
	uint32_t header_bytes; /* 0: the frame is the packet */
	uint32_t frame_bytes;
};

/* What a frame says. */
struct emulated {
	uint64_t key, sequence, timestamp;
	uint32_t bytes; /* sent of it */
};

/* On lines of its own: threads have some each. */
struct stream {
	OWN_LINE struct weir_readout_emulator_stream config; /* faults: a copy; payload: none */
	struct weir_readout_format format;
	uint32_t number;
	struct packet packet;
	uint64_t next;        /* frame */
	uint64_t next_due_ns; /* its time */
	uint64_t jumped_ticks;
	bool withholds;
	uint64_t withheld_until; /* the frame after which it is sent */
	struct emulated withheld;
	struct weir_readout_emulator_stats stats, published; /* own; for readers */
	uint64_t version;                                    /* of these */
};

/* Makes the packets of its first stream, and of each nb_pollers'th after it. */
struct poller {
	OWN_LINE uint32_t first; /* its first stream */
	uint32_t turn;           /* the stream whose packets come next */
};

struct weir_readout_emulator {
	uint32_t nb_streams, nb_pollers;
	uint64_t seed;
	struct rte_mempool *pool;
	struct stream *streams;
	struct poller *pollers;
};

/* fault.c: is it done to this frame? */
bool fault_is_due(uint64_t seed, const struct stream *stream, uint32_t fault, uint64_t number);
/* @return 0, -EINVAL: said in the log */
int fault_check(
	const struct stream *stream, const struct weir_readout_emulator_fault_config *fault);

/* packet.c: Ethernet, IPv4 and UDP, PACKET_HEADER_BYTES before a frame, but for what depends on the frame. */
void packet_set_header(uint8_t *bytes, const struct weir_readout_emulator_stream *config);
/* Lengths and checksums, of a packet with so many bytes of a frame, which says all that it will. */
void packet_set_lengths(uint8_t *bytes, uint32_t frame_bytes, bool udp_checksum);
/* @return 0, -ENOMEM */
int packet_init(struct packet *packet, const struct stream *stream, const void *payload);
/* @return NULL: the pool is empty */
struct rte_mbuf *packet_make(const struct packet *packet, const struct stream *stream,
	const struct emulated *emulated, struct rte_mempool *pool);

#endif
