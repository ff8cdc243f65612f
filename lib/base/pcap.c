/* SPDX-License-Identifier: BSD-3-Clause */

/* Capture files: what a port receives from, what replays links, and what the simulator takes for traffic. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include "weir_base_pcap.h"

#define SECOND_NS 1000000000u

struct weir_base_pcap {
	pcap_t *pcap;
	char *path;
	struct stat st;
	uint64_t nb_read;
};

/* @return @p rc */
static int __attribute__((format(printf, 4, 5)))
fail(int rc, char *why, size_t why_bytes, const char *format, ...)
{
	va_list args;

	if (why == NULL)
		return rc;
	va_start(args, format);
	vsnprintf(why, why_bytes, format, args);
	va_end(args);
	return rc;
}

/* Takes @p stream, also on error. */
static int
open_stream(struct weir_base_pcap *file, FILE *stream, char *why, size_t why_bytes)
{
	char text[PCAP_ERRBUF_SIZE] = "";
	const char *name;
	int type;

	if (fstat(fileno(stream), &file->st) == 0 && S_ISDIR(file->st.st_mode)) {
		fclose(stream);
		return fail(-EISDIR, why, why_bytes, "'%s' is a directory, expected a capture file",
			file->path);
	}
	file->pcap =
		pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, text);
	if (file->pcap == NULL) {
		fclose(stream);
		return fail(-EBADMSG, why, why_bytes, "'%s' is not a capture file: %s", file->path,
			text);
	}
	type = pcap_datalink(file->pcap);
	if (type == DLT_EN10MB)
		return 0;
	name = pcap_datalink_val_to_name(type);
	return fail(-EPROTONOSUPPORT, why, why_bytes,
		"'%s' holds frames of type %s (%d), expected Ethernet", file->path,
		name == NULL ? "unknown" : name, type);
}

int
weir_base_pcap_open(const char *path, struct weir_base_pcap **to, char *why, size_t why_bytes)
{
	struct weir_base_pcap *file = calloc(1, sizeof(*file));
	FILE *stream;
	int rc;

	if (file != NULL)
		file->path = strdup(path);
	if (file == NULL || file->path == NULL) {
		free(file);
		return fail(-ENOMEM, why, why_bytes, "no memory to read '%s'", path);
	}
	stream = fopen(path, "rb");
	if (stream != NULL) {
		rc = open_stream(file, stream, why, why_bytes);
	} else {
		rc = -errno;
		fail(rc, why, why_bytes, "cannot read '%s': %s", path, strerror(-rc));
	}
	if (rc < 0)
		weir_base_pcap_close(file);
	else
		*to = file;
	return rc;
}

void
weir_base_pcap_close(struct weir_base_pcap *file)
{
	if (file == NULL)
		return;
	if (file->pcap != NULL)
		pcap_close(file->pcap);
	free(file->path);
	free(file);
}

/*
 * A file's seconds have 32 bits without a sign; libpcap reads them as with one, below 0 from 2038 on.
 * tv_usec counts ns: the file was opened so.
 */
static uint64_t
time_of(const struct timeval *time)
{
	uint64_t seconds = time->tv_sec < 0 ? (uint32_t)time->tv_sec : (uint64_t)time->tv_sec;

	return seconds * SECOND_NS + (uint64_t)time->tv_usec;
}

int
weir_base_pcap_next(struct weir_base_pcap *file, struct weir_base_pcap_record *record, char *why,
	size_t why_bytes)
{
	struct pcap_pkthdr *header;
	const uint8_t *bytes;
	int rc = pcap_next_ex(file->pcap, &header, &bytes);

	if (rc == PCAP_ERROR_BREAK)
		return 0;
	if (rc != 1)
		return fail(-EBADMSG, why, why_bytes,
			"'%s' is damaged after packet %" PRIu64 ": %s", file->path, file->nb_read,
			pcap_geterr(file->pcap));
	file->nb_read++;
	*record = (struct weir_base_pcap_record){
		.bytes = bytes,
		.captured_bytes = header->caplen,
		.wire_bytes = header->len,
		.time_ns = time_of(&header->ts),
	};
	return 1;
}

const struct stat *
weir_base_pcap_stat(const struct weir_base_pcap *file)
{
	return &file->st;
}
