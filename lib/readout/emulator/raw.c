/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of frames alone. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator_private.h"
#include "raw.h"
#include "weir_readout_format_fast.h"

#define FRAME_BYTES_MAX 65507u /* of a UDP datagram */
#define SECOND_NS       UINT64_C(1000000000)

struct raw {
	FILE *file;
	char *path;
	struct weir_readout_format format;
	bool udp_checksum;
	uint32_t header_bytes;
	uint64_t frames; /* read */
	uint64_t ticks;  /* of the latest frame, since the first */
	uint64_t newest; /* its timestamp */
	uint8_t packet[PACKET_HEADER_BYTES + FRAME_BYTES_MAX];
};

static bool
has_one_size(const struct weir_readout_format *format)
{
	return format->size_min_bytes == format->size_max_bytes;
}

bool
raw_has_times(const struct weir_readout_emulator_stream *stream)
{
	return stream->format != NULL && stream->format->clock_hz > 0 &&
	       weir_readout_format_has(stream->format, WEIR_BASE_FIELD_TIMESTAMP);
}

/* @return 0, -EINVAL */
static int
check_format(
	const char *path, const struct weir_readout_format *format, char *why, size_t why_bytes)
{
	if (format == NULL) {
		snprintf(why, why_bytes, "frames in '%s' need a format", path);
		return -EINVAL;
	}
	if ((has_one_size(format) || weir_readout_format_has(format, WEIR_BASE_FIELD_LENGTH)) &&
		format->size_min_bytes > 0 && format->size_min_bytes <= FRAME_BYTES_MAX)
		return 0;
	snprintf(why, why_bytes,
		"'%s': format '%s' does not tell where a frame ends; expected one size, or a "
		"length "
		"field, and up to %u bytes",
		path, format->name, FRAME_BYTES_MAX);
	return -EINVAL;
}

int
raw_open(const char *path, const struct weir_readout_emulator_stream *stream, struct raw **file,
	char *why, size_t why_bytes)
{
	struct raw *raw;
	int rc = check_format(path, stream->format, why, why_bytes);

	if (rc < 0)
		return rc;
	raw = calloc(1, sizeof(*raw));
	if (raw != NULL)
		raw->path = strdup(path);
	if (raw == NULL || raw->path == NULL) {
		snprintf(why, why_bytes, "'%s': no memory", path);
		raw_close(raw);
		return -ENOMEM;
	}
	raw->file = fopen(path, "rb");
	if (raw->file == NULL) {
		rc = -errno;
		snprintf(why, why_bytes, "'%s': %s", path, strerror(-rc));
		raw_close(raw);
		return rc;
	}
	raw->format = *stream->format;
	raw->udp_checksum = stream->udp_checksum;
	if (raw->format.layer == WEIR_BASE_LAYER_UDP) {
		raw->header_bytes = PACKET_HEADER_BYTES;
		packet_set_header(raw->packet, stream);
	}
	*file = raw;
	return 0;
}

void
raw_close(struct raw *raw)
{
	if (raw == NULL)
		return;
	if (raw->file != NULL)
		fclose(raw->file);
	free(raw->path);
	free(raw);
}

/* More of a frame, of which @p from bytes are there. @return 1, -EBADMSG; 0: there is nothing of it */
static int
read_up_to(struct raw *raw, uint32_t from, uint32_t to, char *why, size_t why_bytes)
{
	uint8_t *frame = raw->packet + raw->header_bytes;
	size_t nb = fread(frame + from, 1, to - from, raw->file);

	if (nb == to - from)
		return 1;
	if (nb == 0 && from == 0 && ferror(raw->file) == 0)
		return 0;
	snprintf(why, why_bytes, "'%s' %s within frame %" PRIu64, raw->path,
		ferror(raw->file) != 0 ? "cannot be read" : "ends", raw->frames);
	return -EBADMSG;
}

/* The size that a frame says, by its first bytes. @return 1, -EBADMSG */
static int
get_size(const struct raw *raw, uint32_t *bytes, char *why, size_t why_bytes)
{
	const struct weir_readout_format *format = &raw->format;
	struct weir_readout_header header = {0};
	uint64_t size = format->size_min_bytes;

	weir_readout_format_get(
		format, raw->packet + raw->header_bytes, format->size_min_bytes, &header);
	if (!has_one_size(format))
		size = header.length > FRAME_BYTES_MAX ? header.length
						       : header.length * format->length_unit_bytes +
								 format->length_plus_bytes;
	*bytes = (uint32_t)size;
	if (size <= FRAME_BYTES_MAX && weir_readout_format_size_allowed(format, (uint32_t)size))
		return 1;
	snprintf(why, why_bytes,
		"'%s': frame %" PRIu64 " says that it has %" PRIu64 " bytes; expected %" PRIu32
		" to %" PRIu32 ", as format '%s' has them",
		raw->path, raw->frames, size, format->size_min_bytes,
		RTE_MIN(format->size_max_bytes, FRAME_BYTES_MAX), format->name);
	return -EBADMSG;
}

/* Ticks since the first frame, which timestamps say modulo their width. */
static void
go_on(struct raw *raw, uint32_t bytes)
{
	const unsigned int unused = 64 - raw->format.timestamp_bits;
	struct weir_readout_header header = {0};
	int64_t ahead;

	weir_readout_format_get(&raw->format, raw->packet + raw->header_bytes, bytes, &header);
	ahead = (int64_t)((header.timestamp - raw->newest) << unused) >> unused;
	if (raw->frames > 0 && ahead > 0)
		raw->ticks += (uint64_t)ahead;
	if (raw->frames == 0 || ahead > 0)
		raw->newest = header.timestamp;
}

int
raw_next(struct raw *raw, struct weir_base_pcap_record *record, char *why, size_t why_bytes)
{
	const struct weir_readout_format *format = &raw->format;
	uint32_t bytes;
	int rc = read_up_to(raw, 0, format->size_min_bytes, why, why_bytes);

	if (rc == 1)
		rc = get_size(raw, &bytes, why, why_bytes);
	if (rc == 1 && bytes > format->size_min_bytes)
		rc = read_up_to(raw, format->size_min_bytes, bytes, why, why_bytes);
	if (rc != 1)
		return rc;
	go_on(raw, bytes);
	raw->frames++;
	if (raw->header_bytes > 0)
		packet_set_lengths(raw->packet, bytes, raw->udp_checksum);
	record->bytes = raw->packet;
	record->captured_bytes = record->wire_bytes = raw->header_bytes + bytes;
	record->time_ns =
		format->clock_hz == 0
			? 0
			: (uint64_t)((unsigned __int128)raw->ticks * SECOND_NS / format->clock_hz);
	return 1;
}
