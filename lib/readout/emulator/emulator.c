/* SPDX-License-Identifier: BSD-3-Clause */
/* Emulated streams, and when their frames are due. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "emulator_private.h"
#include "buffer/memory.h"
#include "tally.h"

#define SECOND_NS      UINT64_C(1000000000)
#define SIZE_MAX_BYTES 65000u
/* A frame, its duplicate, and one that was withheld. */
#define PACKETS_PER_FRAME 3

typedef unsigned __int128 wide;

static uint64_t
due_ns(const struct stream *stream, uint64_t number)
{
	return (uint64_t)((wide)number * stream->config.rate_seconds * SECOND_NS /
			  stream->config.rate_frames);
}

/* Without a step: as the clock goes meanwhile. */
static uint64_t
ticks_of(const struct stream *stream, uint64_t number)
{
	if (stream->format.step_ticks > 0)
		return number * stream->format.step_ticks;
	return (uint64_t)((wide)number * stream->config.rate_seconds * stream->format.clock_hz /
			  stream->config.rate_frames);
}

uint64_t
weir_readout_emulator_due_ns(
	const struct weir_readout_emulator *emulator, uint32_t stream, uint64_t number)
{
	return due_ns(&emulator->streams[stream], number);
}

static uint32_t
default_size(const struct weir_readout_format *format)
{
	return format->size_max_bytes <= WEIR_BASE_EMULATED_BYTES_MAX ? format->size_max_bytes
								      : format->size_min_bytes;
}

/* @return 0, -EINVAL: said in the log */
static int
check_stream(const struct stream *stream, const struct rte_mempool *pool)
{
	const uint32_t bytes = stream->packet.frame_bytes;
	const uint32_t room = rte_pktmbuf_data_room_size((struct rte_mempool *)(uintptr_t)pool) -
			      RTE_PKTMBUF_HEADROOM;

	if (stream->config.rate_frames == 0) {
		READOUT_LOG(ERROR,
			"emulated stream %" PRIu32 " needs a rate: format '%s' does not say it",
			stream->number, stream->format.name);
		return -EINVAL;
	}
	if (bytes < stream->format.size_min_bytes || bytes > SIZE_MAX_BYTES ||
		bytes < stream->format.length_plus_bytes || bytes + PACKET_HEADER_BYTES > room) {
		READOUT_LOG(ERROR,
			"emulated stream %" PRIu32 ": frames of %" PRIu32
			" bytes, expected %" PRIu32
			" or more, and %u for headers; mbufs have room for %" PRIu32,
			stream->number, bytes, stream->format.size_min_bytes, PACKET_HEADER_BYTES,
			room);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < stream->config.nb_faults; i++)
		if (fault_check(stream, &stream->config.faults[i]) < 0)
			return -EINVAL;
	return 0;
}

static int
init_stream(struct stream *stream, const struct weir_readout_emulator_stream *config,
	const struct rte_mempool *pool)
{
	struct weir_readout_emulator_fault_config *faults;
	int rc;

	if (config->format == NULL) {
		READOUT_LOG(ERROR, "emulated stream %" PRIu32 " needs a format", stream->number);
		return -EINVAL;
	}
	stream->config = *config;
	stream->format = *config->format;
	stream->config.payload = NULL;
	if (config->rate_frames == 0 && stream->format.step_ticks > 0) {
		stream->config.rate_frames = stream->format.clock_hz;
		stream->config.rate_seconds = stream->format.step_ticks;
	} else if (config->rate_seconds == 0) {
		stream->config.rate_seconds = 1;
	}
	stream->packet.frame_bytes =
		config->size_bytes > 0 ? config->size_bytes : default_size(&stream->format);
	faults = calloc((size_t)config->nb_faults + 1, sizeof(*faults));
	stream->config.faults = faults;
	if (faults == NULL)
		return -ENOMEM;
	if (config->nb_faults > 0)
		memcpy(faults, config->faults, config->nb_faults * sizeof(*faults));
	rc = check_stream(stream, pool);
	return rc < 0 ? rc : packet_init(&stream->packet, stream, config->payload);
}

/* @return how many: 1, or 0 without an mbuf */
static uint32_t
send_packet(struct weir_readout_emulator *emulator, struct stream *stream,
	const struct emulated *emulated, struct rte_mbuf **mbuf)
{
	*mbuf = packet_make(&stream->packet, stream, emulated, emulator->pool);
	if (*mbuf == NULL) {
		stream->stats.no_mbuf++;
		return 0;
	}
	stream->stats.sent++;
	return 1;
}

/* What is done to the frame itself. @return a bit 1 << fault for each that is done to it */
static uint32_t
distort(const struct weir_readout_emulator *emulator, struct stream *stream,
	struct emulated *emulated)
{
	const uint32_t dropped = 1u << WEIR_READOUT_EMULATE_DROP;
	const uint32_t reordered = 1u << WEIR_READOUT_EMULATE_REORDER;
	uint32_t done = 0;

	for (uint32_t i = 0; i < stream->config.nb_faults; i++) {
		const struct weir_readout_emulator_fault_config *fault = &stream->config.faults[i];
		uint64_t amount = (uint64_t)fault->amount;

		if (fault->fault == WEIR_READOUT_EMULATE_STALL ||
			!fault_is_due(emulator->seed, stream, i, stream->next))
			continue;
		/* One that is not sent cannot be late. */
		if ((fault->fault == WEIR_READOUT_EMULATE_DROP && (done & reordered) != 0) ||
			(fault->fault == WEIR_READOUT_EMULATE_REORDER && (done & dropped) != 0))
			continue;
		/* Once is all that these can be done to one. */
		if ((fault->fault == WEIR_READOUT_EMULATE_DROP ||
			    fault->fault == WEIR_READOUT_EMULATE_DUPLICATE) &&
			(done & 1u << fault->fault) != 0)
			continue;
		if (fault->fault == WEIR_READOUT_EMULATE_STREAM)
			emulated->key += amount;
		else if (fault->fault == WEIR_READOUT_EMULATE_SEQUENCE)
			emulated->sequence += amount;
		else if (fault->fault == WEIR_READOUT_EMULATE_TRUNCATE)
			emulated->bytes = (uint32_t)amount;
		else if (fault->fault == WEIR_READOUT_EMULATE_TIMESTAMP ||
			 fault->fault == WEIR_READOUT_EMULATE_JUMP)
			emulated->timestamp += amount;
		if (fault->fault == WEIR_READOUT_EMULATE_JUMP)
			stream->jumped_ticks += amount;
		if (fault->fault == WEIR_READOUT_EMULATE_REORDER) {
			if (stream->withholds)
				continue; /* one at a time */
			stream->withholds = true;
			stream->stats.withheld = 1;
			stream->withheld_until = stream->next + amount;
		}
		stream->stats.faults[fault->fault]++;
		done |= 1u << fault->fault;
	}
	return done;
}

static struct emulated
make(const struct stream *stream)
{
	uint64_t modulus = stream->format.sequence_modulus;
	uint64_t sequence = stream->config.first_sequence + stream->next;

	return (struct emulated){
		.key = stream->config.key,
		.sequence = modulus > 0 ? sequence % modulus : sequence,
		.timestamp = stream->config.first_timestamp + stream->jumped_ticks +
			     ticks_of(stream, stream->next),
		.bytes = stream->packet.frame_bytes,
	};
}

/* The next frame, and what comes with it. @return packets */
static uint32_t
send_next(struct weir_readout_emulator *emulator, struct stream *stream, struct rte_mbuf **mbufs)
{
	struct emulated emulated = make(stream);
	uint32_t nb = 0, done = distort(emulator, stream, &emulated);

	stream->stats.made++;
	if ((done & 1u << WEIR_READOUT_EMULATE_REORDER) != 0)
		stream->withheld = emulated;
	else if ((done & 1u << WEIR_READOUT_EMULATE_DROP) == 0)
		nb += send_packet(emulator, stream, &emulated, mbufs);
	if ((done & 1u << WEIR_READOUT_EMULATE_DUPLICATE) != 0)
		nb += send_packet(emulator, stream, &emulated, &mbufs[nb]);
	if (stream->withholds && (stream->withheld_until == stream->next ||
					 stream->next + 1 == stream->config.nb_frames)) {
		stream->withholds = false;
		stream->stats.withheld = 0;
		nb += send_packet(emulator, stream, &stream->withheld, &mbufs[nb]);
	}
	return nb;
}

static bool
has_ended(const struct stream *stream)
{
	return stream->config.nb_frames > 0 && stream->next == stream->config.nb_frames;
}

/* From which time on the next frame is sent: when it is due, or when a stall is over that begins with it, or began before. */
static void
set_due(const struct weir_readout_emulator *emulator, struct stream *stream)
{
	uint64_t due = due_ns(stream, stream->next);

	if (has_ended(stream))
		return;
	if (due > stream->next_due_ns)
		stream->next_due_ns = due;
	for (uint32_t i = 0; i < stream->config.nb_faults; i++) {
		const struct weir_readout_emulator_fault_config *fault = &stream->config.faults[i];

		if (fault->fault != WEIR_READOUT_EMULATE_STALL ||
			!fault_is_due(emulator->seed, stream, i, stream->next))
			continue;
		stream->stats.faults[WEIR_READOUT_EMULATE_STALL]++;
		due = due_ns(stream, stream->next + (uint64_t)fault->amount);
		if (due > stream->next_due_ns)
			stream->next_due_ns = due;
	}
}

static void
publish(struct stream *stream)
{
	tally_publish(&stream->version, (uint64_t *)&stream->published, (uint64_t *)&stream->stats,
		TALLY_WORDS(stream->stats));
}

void
weir_readout_emulator_free(struct weir_readout_emulator *emulator)
{
	if (emulator == NULL)
		return;
	for (uint32_t i = 0; i < emulator->nb_streams; i++) {
		free((void *)(uintptr_t)emulator->streams[i].config.faults);
		free(emulator->streams[i].packet.bytes);
	}
	free(emulator->streams);
	free(emulator->pollers);
	free(emulator);
}

/* @return 0, -ENOMEM */
static int
make_arrays(
	struct weir_readout_emulator *emulator, const struct weir_readout_emulator_config *config)
{
	emulator->nb_pollers = RTE_MAX(config->nb_pollers, 1u);
	emulator->pollers = memory_zeroed(emulator->nb_pollers, sizeof(*emulator->pollers));
	emulator->streams = memory_zeroed(config->nb_streams, sizeof(*emulator->streams));
	if (emulator->pollers == NULL || emulator->streams == NULL)
		return -ENOMEM;
	emulator->nb_streams = config->nb_streams;
	for (uint32_t i = 0; i < emulator->nb_pollers; i++)
		emulator->pollers[i].first = emulator->pollers[i].turn = i;
	return 0;
}

struct weir_readout_emulator *
weir_readout_emulator_create(const struct weir_readout_emulator_config *config)
{
	struct weir_readout_emulator *emulator;
	int rc = 0;

	if (config->nb_streams == 0 || config->pool == NULL ||
		config->nb_pollers > config->nb_streams) {
		READOUT_LOG(ERROR, "an emulator needs streams, one for each poller, and mbufs");
		rte_errno = EINVAL;
		return NULL;
	}
	emulator = calloc(1, sizeof(*emulator));
	if (emulator == NULL || make_arrays(emulator, config) < 0) {
		weir_readout_emulator_free(emulator);
		rte_errno = ENOMEM;
		return NULL;
	}
	emulator->seed = config->seed;
	emulator->pool = config->pool;
	for (uint32_t i = 0; i < config->nb_streams && rc == 0; i++) {
		emulator->streams[i].number = i;
		rc = init_stream(&emulator->streams[i], &config->streams[i], config->pool);
		if (rc < 0)
			break;
		set_due(emulator, &emulator->streams[i]);
		publish(&emulator->streams[i]);
	}
	if (rc == 0)
		return emulator;
	weir_readout_emulator_free(emulator);
	rte_errno = -rc;
	return NULL;
}

static void
next_turn(const struct weir_readout_emulator *emulator, struct poller *own)
{
	own->turn += emulator->nb_pollers;
	if (own->turn >= emulator->nb_streams)
		own->turn = own->first;
}

uint32_t
weir_readout_emulator_poll_share(struct weir_readout_emulator *emulator, uint32_t poller,
	uint64_t now_ns, struct rte_mbuf **mbufs, uint32_t nb)
{
	struct poller *own = &emulator->pollers[poller];
	uint32_t nb_made = 0;
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t i = poller; i < emulator->nb_streams;
			i += emulator->nb_pollers, next_turn(emulator, own)) {
			struct stream *stream = &emulator->streams[own->turn];

			if (stream->next_due_ns > now_ns || has_ended(stream))
				continue;
			if (nb - nb_made < PACKETS_PER_FRAME)
				return nb_made; /* whose turn it is has it the next time */
			stream->stats.late_ns =
				RTE_MAX(stream->stats.late_ns, now_ns - stream->next_due_ns);
			nb_made += send_next(emulator, stream, &mbufs[nb_made]);
			stream->next++;
			set_due(emulator, stream);
			publish(stream);
			more = true;
		}
	}
	own->turn = own->first;
	return nb_made;
}

uint32_t
weir_readout_emulator_poll(struct weir_readout_emulator *emulator, uint64_t now_ns,
	struct rte_mbuf **mbufs, uint32_t nb)
{
	return weir_readout_emulator_poll_share(emulator, 0, now_ns, mbufs, nb);
}

/* By what is published: others may poll. */
bool
weir_readout_emulator_ended(const struct weir_readout_emulator *emulator)
{
	for (uint32_t i = 0; i < emulator->nb_streams; i++) {
		const uint64_t nb_frames = emulator->streams[i].config.nb_frames;
		struct weir_readout_emulator_stats stats;

		weir_readout_emulator_stats(emulator, i, &stats);
		if (nb_frames == 0 || stats.made < nb_frames)
			return false;
	}
	return true;
}

uint32_t
weir_readout_emulator_nb_streams(const struct weir_readout_emulator *emulator)
{
	return emulator->nb_streams;
}

void
weir_readout_emulator_stats(const struct weir_readout_emulator *emulator, uint32_t stream,
	struct weir_readout_emulator_stats *stats)
{
	const struct stream *one = &emulator->streams[stream];

	tally_read(&one->version, (const uint64_t *)&one->published, (uint64_t *)stats,
		TALLY_WORDS(*stats));
}
