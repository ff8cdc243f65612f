/* SPDX-License-Identifier: BSD-3-Clause */

/* Route files: a million lines of text, mostly gzip'ed, read in a fraction of a second. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "weir_base.h"

#include "route_internal.h"

#define CHUNK_BYTES (256 * 1024)
#define LINE_BYTES  1024 /* the longest line, comments included */

struct reader {
	const char *path;
	struct weir_node_route_batch *batch;
	weir_node_route_file_error_t report;
	void *arg;
	uint32_t hop_base;
	uint32_t next_hops; /* next hops are below this */
	unsigned int line;
	int64_t nb_routes;
	bool bad;  /* some line was */
	bool skip; /* the rest of a line that is too long */
	int error; /* what ends the reading */
};

static void
complain(struct reader *reader, size_t offset, const char *message)
{
	reader->bad = true;
	if (reader->report != NULL)
		reader->report(
			reader->arg, reader->path, reader->line, (unsigned int)offset + 1, message);
	else
		weir_base_log(WEIR_BASE_LOG_ERROR, "node", "%s:%u:%u: %s", reader->path,
			reader->line, (unsigned int)offset + 1, message);
}

static const char *
skip_blanks(const char *p, const char *end)
{
	while (p != end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

static const char *
scan_hop(const char *p, const char *end, uint64_t *hop)
{
	for (*hop = 0; p != end && *p >= '0' && *p <= '9'; p++)
		if (*hop <= UINT32_MAX)
			*hop = *hop * 10 + (unsigned int)(*p - '0');
	return p;
}

/* One line without its end. */
static void
read_line(struct reader *reader, const char *line, const char *end)
{
	const char *p, *start, *rest, *why = NULL, *where = NULL;
	struct weir_node_prefix prefix;
	char message[128];
	uint64_t hop;

	if (end != line && end[-1] == '\r')
		end--;
	p = skip_blanks(line, end);
	if (p == end || *p == '#')
		return;
	p = weir_node_prefix_scan(p, end, &prefix, &why, &where);
	if (p == NULL) {
		complain(reader, (size_t)(where - line), why);
		return;
	}
	if (p != end && *p != ' ' && *p != '\t') {
		complain(reader, (size_t)(p - line),
			"text after the prefix, expected a blank and a next hop");
		return;
	}
	start = p = skip_blanks(p, end);
	p = scan_hop(p, end, &hop);
	if (p == start) {
		complain(reader, (size_t)(p - line),
			p == end || *p == '#' ? "no next hop, expected a number after the prefix"
					      : "not a next hop, expected a number");
		return;
	}
	rest = skip_blanks(p, end);
	if (rest != end && (rest == p || *rest != '#')) {
		complain(reader, (size_t)(rest - line),
			"text after the next hop, expected the end of the line");
		return;
	}
	hop += reader->hop_base;
	if (hop >= reader->next_hops) {
		snprintf(message, sizeof(message), "next hop out of range, expected less than %u%s",
			reader->next_hops, reader->hop_base > 0 ? " with its offset" : "");
		complain(reader, (size_t)(start - line), message);
		return;
	}
	reader->error = weir_node_route_batch_add(reader->batch, &prefix, (uint32_t)hop);
	reader->nb_routes += reader->error == 0;
}

/* The complete lines in a buffer; returns the bytes used. */
static size_t
read_lines(struct reader *reader, const char *data, size_t size)
{
	const char *p = data, *end = data + size, *newline;

	while (reader->error == 0 && (newline = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		reader->line++;
		if (newline - p > LINE_BYTES && !reader->skip)
			complain(reader, LINE_BYTES, "line too long");
		else if (!reader->skip)
			read_line(reader, p, newline);
		reader->skip = false;
		p = newline + 1;
	}
	return (size_t)(p - data);
}

/* What is left when a buffer holds no further line end: kept, or skipped when it is too long already. */
static size_t
keep_rest(struct reader *reader, const char *data, size_t size)
{
	if (!reader->skip && size <= LINE_BYTES)
		return size;
	if (!reader->skip) {
		reader->line++;
		complain(reader, LINE_BYTES, "line too long");
		reader->line--; /* counted at its end */
	}
	reader->skip = true;
	return 0;
}

static void
read_all(struct reader *reader, gzFile file, char *buffer)
{
	size_t kept = 0, size, used;
	int got;

	do {
		got = gzread(file, buffer + kept, CHUNK_BYTES - (unsigned int)kept);
		if (got < 0)
			break;
		size = kept + (size_t)got;
		used = read_lines(reader, buffer, size);
		kept = keep_rest(reader, buffer + used, size - used);
		memmove(buffer, buffer + used, kept);
	} while (got > 0 && reader->error == 0);
	if (got == 0 && kept > 0 && reader->error == 0) { /* the last line may lack its end */
		reader->line++;
		read_line(reader, buffer, buffer + kept);
	}
}

/* Was the file damaged? zlib tells partly while reading, partly at the end. */
static void
check_end(struct reader *reader, gzFile file)
{
	const char *message;
	char text[160];
	int saved = errno, error;

	message = gzerror(file, &error);
	if (error == Z_OK || error == Z_STREAM_END) {
		error = gzclose_r(file);
		message = "the compressed data ends too early";
	} else {
		snprintf(text, sizeof(text), "cannot read on: %s",
			error == Z_ERRNO       ? strerror(saved)
			: error == Z_BUF_ERROR ? "the compressed data ends too early"
					       : message);
		message = text;
		gzclose_r(file);
	}
	if (error == Z_OK || reader->error != 0)
		return;
	reader->line++;
	complain(reader, 0, message);
	reader->error = error == Z_ERRNO ? -saved : -EINVAL;
}

int64_t
weir_node_route_file_read(const char *path, uint32_t hop_base, struct weir_node_route_batch *batch,
	weir_node_route_file_error_t report, void *arg)
{
	struct reader reader = {
		.path = path,
		.batch = batch,
		.report = report,
		.arg = arg,
		.hop_base = hop_base,
	};
	struct weir_node_route_info info;
	char *buffer;
	gzFile file;
	int error;

	weir_node_route_info(&info);
	/* Those of the program itself are not for files. */
	reader.next_hops = info.limits.next_hops > 0 ? info.limits.next_hops - info.limits.own_hops
						     : UINT32_MAX;
	errno = 0;
	file = gzopen(path, "rb");
	if (file == NULL) {
		error = errno != 0 ? errno : ENOMEM;
		weir_base_log(WEIR_BASE_LOG_ERROR, "node", "cannot open route file %s: %s", path,
			strerror(error));
		return -error;
	}
	buffer = malloc(CHUNK_BYTES);
	if (buffer == NULL) {
		gzclose_r(file);
		return -ENOMEM;
	}
	gzbuffer(file, CHUNK_BYTES);
	errno = 0;
	read_all(&reader, file, buffer);
	check_end(&reader, file);
	free(buffer);
	if (reader.error != 0)
		return reader.error;
	return reader.bad ? -EINVAL : reader.nb_routes;
}
