/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments as bytes, of one order on all machines. */
#include <errno.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "weir_readout_fragment.h"

#define MAGIC       "WFRG"
#define ENTRY_BYTES 16u /* of an interval, and of a frame in the table */

enum {
	AT_MAGIC = 0,
	AT_VERSION = 4,
	AT_HEADER_BYTES = 6,
	AT_TOTAL_BYTES = 8,
	AT_RUN = 16,
	AT_TRIGGER = 24,
	AT_BEGIN = 32,
	AT_END = 40,
	AT_KEY = 48,
	AT_PAYLOAD_BYTES = 56,
	AT_LINK = 64,
	AT_ANSWER = 68,
	AT_PARTS = 72,
	AT_NB_MISSING = 76,
	AT_NB_FRAMES = 80,
	AT_NAME_BYTES = 84,
};

static void
put16(uint8_t *to, uint16_t value)
{
	value = rte_cpu_to_le_16(value);
	memcpy(to, &value, sizeof(value));
}

static void
put32(uint8_t *to, uint32_t value)
{
	value = rte_cpu_to_le_32(value);
	memcpy(to, &value, sizeof(value));
}

static void
put64(uint8_t *to, uint64_t value)
{
	value = rte_cpu_to_le_64(value);
	memcpy(to, &value, sizeof(value));
}

static uint16_t
get16(const uint8_t *from)
{
	uint16_t value;

	memcpy(&value, from, sizeof(value));
	return rte_le_to_cpu_16(value);
}

static uint32_t
get32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return rte_le_to_cpu_32(value);
}

static uint64_t
get64(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return rte_le_to_cpu_64(value);
}

/* Between the fixed header and the frames. */
static uint64_t
lists_bytes(uint32_t nb_missing, uint32_t nb_frames, uint32_t name_bytes)
{
	return ((uint64_t)nb_missing + nb_frames) * ENTRY_BYTES +
	       RTE_ALIGN_CEIL((uint64_t)name_bytes, 8);
}

uint64_t
weir_readout_fragment_head_bytes(const struct weir_readout_fragment *fragment)
{
	return WEIR_READOUT_FRAGMENT_HEADER_BYTES + lists_bytes(fragment->window->nb_missing,
							    fragment->window->nb_frames,
							    (uint32_t)strlen(fragment->link_name));
}

uint64_t
weir_readout_fragment_bytes(const struct weir_readout_fragment *fragment)
{
	return weir_readout_fragment_head_bytes(fragment) + fragment->window->bytes;
}

static void
put_header(const struct weir_readout_fragment *fragment, uint8_t *to)
{
	const struct weir_readout_window *window = fragment->window;

	memcpy(to + AT_MAGIC, MAGIC, 4);
	put16(to + AT_VERSION, WEIR_READOUT_FRAGMENT_VERSION);
	put16(to + AT_HEADER_BYTES, WEIR_READOUT_FRAGMENT_HEADER_BYTES);
	put64(to + AT_TOTAL_BYTES, weir_readout_fragment_bytes(fragment));
	put64(to + AT_RUN, fragment->run);
	put64(to + AT_TRIGGER, fragment->trigger);
	put64(to + AT_BEGIN, window->begin);
	put64(to + AT_END, window->end);
	put64(to + AT_KEY, fragment->key);
	put64(to + AT_PAYLOAD_BYTES, window->bytes);
	put32(to + AT_LINK, fragment->link);
	put32(to + AT_ANSWER, fragment->answer);
	put32(to + AT_PARTS, window->parts);
	put32(to + AT_NB_MISSING, window->nb_missing);
	put32(to + AT_NB_FRAMES, window->nb_frames);
	put32(to + AT_NAME_BYTES, (uint32_t)strlen(fragment->link_name));
}

void
weir_readout_fragment_head(const struct weir_readout_fragment *fragment, void *to)
{
	const struct weir_readout_window *window = fragment->window;
	uint8_t *at = (uint8_t *)to + WEIR_READOUT_FRAGMENT_HEADER_BYTES;
	const size_t name_bytes = strlen(fragment->link_name);

	put_header(fragment, to);
	for (uint32_t i = 0; i < window->nb_missing; i++, at += ENTRY_BYTES) {
		put64(at, window->missing[i].begin);
		put64(at + 8, window->missing[i].end);
	}
	for (uint32_t i = 0; i < window->nb_frames; i++, at += ENTRY_BYTES) {
		put64(at, window->timestamps[i]);
		put32(at + 8, (uint32_t)window->frames[i].iov_len);
		put32(at + 12, 0);
	}
	memcpy(at, fragment->link_name, name_bytes);
	memset(at + name_bytes, 0, RTE_ALIGN_CEIL(name_bytes, 8) - name_bytes);
}

void
weir_readout_fragment_write(const struct weir_readout_fragment *fragment, void *to)
{
	const struct weir_readout_window *window = fragment->window;
	uint8_t *at = (uint8_t *)to + weir_readout_fragment_head_bytes(fragment);

	weir_readout_fragment_head(fragment, to);
	for (uint32_t i = 0; i < window->nb_frames; i++) {
		memcpy(at, window->frames[i].iov_base, window->frames[i].iov_len);
		at += window->frames[i].iov_len;
	}
}

struct weir_readout_interval
weir_readout_fragment_view_missing(const struct weir_readout_fragment_view *view, uint32_t index)
{
	const uint8_t *at = view->missing + (uint64_t)index * ENTRY_BYTES;

	return (struct weir_readout_interval){get64(at), get64(at + 8)};
}

struct weir_readout_fragment_frame
weir_readout_fragment_view_frame(const struct weir_readout_fragment_view *view, uint32_t index)
{
	const uint8_t *at = view->table + (uint64_t)index * ENTRY_BYTES;

	return (struct weir_readout_fragment_frame){get64(at), get32(at + 8)};
}

static void
get_header(const uint8_t *from, struct weir_readout_fragment_view *view)
{
	view->run = get64(from + AT_RUN);
	view->trigger = get64(from + AT_TRIGGER);
	view->begin = get64(from + AT_BEGIN);
	view->end = get64(from + AT_END);
	view->key = get64(from + AT_KEY);
	view->payload_bytes = get64(from + AT_PAYLOAD_BYTES);
	view->link = get32(from + AT_LINK);
	view->answer = get32(from + AT_ANSWER);
	view->parts = get32(from + AT_PARTS);
	view->nb_missing = get32(from + AT_NB_MISSING);
	view->nb_frames = get32(from + AT_NB_FRAMES);
	view->name_bytes = get32(from + AT_NAME_BYTES);
}

/* The frames of the table are all of the payload. */
static bool
frames_agree(const struct weir_readout_fragment_view *view)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < view->nb_frames; i++)
		bytes += weir_readout_fragment_view_frame(view, i).size_bytes;
	return bytes == view->payload_bytes;
}

int
weir_readout_fragment_view(const void *bytes, uint64_t nb, struct weir_readout_fragment_view *view)
{
	const uint8_t *from = bytes;
	uint64_t header_bytes, lists;

	*view = (struct weir_readout_fragment_view){0};
	if (memcmp(from, MAGIC, RTE_MIN(nb, 4u)) != 0)
		return -EPROTO;
	if (nb < AT_RUN)
		return -EAGAIN;
	header_bytes = get16(from + AT_HEADER_BYTES);
	view->total_bytes = get64(from + AT_TOTAL_BYTES);
	if (get16(from + AT_VERSION) != WEIR_READOUT_FRAGMENT_VERSION ||
		header_bytes < WEIR_READOUT_FRAGMENT_HEADER_BYTES ||
		view->total_bytes < header_bytes)
		return -EPROTO;
	if (nb < view->total_bytes)
		return -EAGAIN;
	get_header(from, view);
	lists = lists_bytes(view->nb_missing, view->nb_frames, view->name_bytes);
	if (lists > view->total_bytes - header_bytes ||
		view->payload_bytes != view->total_bytes - header_bytes - lists)
		return -EPROTO;
	view->missing = from + header_bytes;
	view->table = view->missing + (uint64_t)view->nb_missing * ENTRY_BYTES;
	view->name = (const char *)view->table + (uint64_t)view->nb_frames * ENTRY_BYTES;
	view->frames = from + header_bytes + lists;
	return frames_agree(view) ? 0 : -EPROTO;
}
