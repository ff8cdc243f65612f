/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_FORMAT_H
#define WEIR_BASE_FORMAT_H

/**
 * @file
 * Frame formats of links as one describes them, and what of that contradicts itself: for those who read frames, and for those who
 * simulate them.
 *
 * Constants and functions of their arguments, of which a document is for one thread at a time: any thread may use them. Needs no DPDK.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_base_doc;
struct weir_base_doc_value;

/** Bytes of a format's name, its end included. */
#define WEIR_BASE_FORMAT_NAME_MAX 32

/** What the frames of a format are: what begins at offset 0. */
enum weir_base_layer {
	WEIR_BASE_LAYER_UDP,      /**< the payload of a UDP datagram */
	WEIR_BASE_LAYER_ETHERNET, /**< the whole Ethernet frame, without its check sequence */
};

/** What a field of a frame means. */
enum weir_base_field {
	WEIR_BASE_FIELD_STREAM,    /**< which stream, of those that share a port */
	WEIR_BASE_FIELD_SEQUENCE,  /**< +1 a frame of the stream */
	WEIR_BASE_FIELD_TIMESTAMP, /**< in ticks of the format's clock */
	WEIR_BASE_FIELD_LENGTH,    /**< of the frame, or of a part of it */
	WEIR_BASE_NB_FIELDS,       /**< their number */
};

/** Where a field is. */
struct weir_base_field_place {
	uint32_t offset_bits; /**< from the beginning of the frame */
	uint32_t width_bits;  /**< 1 up to 64; 0: frames have no such field */
};

/** A format as one describes it. All zero: UDP datagrams of any size, without fields. */
struct weir_base_format {
	const char *name;           /**< shorter than WEIR_BASE_FORMAT_NAME_MAX */
	enum weir_base_layer layer; /**< what a frame is */
	bool big_endian;            /**< order of bytes, and of bits: see weir_readout_format.h */
	struct weir_base_field_place fields[WEIR_BASE_NB_FIELDS]; /**< by kind */
	uint64_t
		sequence_modulus; /**< it counts from 0 to this - 1; 0: as many as its width has values */
	uint32_t length_unit_bytes; /**< what the length field counts; 0: bytes */
	uint32_t length_plus_bytes; /**< what it does not count: frame = value * unit + this */
	uint32_t size_min_bytes;    /**< of a frame; raised to where its last field ends */
	uint32_t size_max_bytes;    /**< of a frame; 0: no limit of the format's */
	uint64_t
		step_ticks; /**< of the timestamp, from frame to frame; 0: irregular. Needs the timestamp */
	uint64_t
		clock_hz; /**< ticks a second; 0: not known. Without a timestamp: 10^9, for frames are told by the time of their arrival in ns */
};

/**
 * Does a description contradict itself, or is it out of limits?
 *
 * @param[out] field  the field that is wrong, or WEIR_BASE_NB_FIELDS: something else; NULL is allowed
 * @param[out] why    what is wrong, what was expected, one line; NULL is allowed
 * @param why_bytes   room there
 * @return 0; -EINVAL: it does
 */
int weir_base_format_check(const struct weir_base_format *format, enum weir_base_field *field,
	char *why, size_t why_bytes);

/** The highest number that @p width_bits, up to 64, can hold. */
uint64_t weir_base_field_mask(uint32_t width_bits);

/** All fields are in the first so many bytes of a frame. */
uint32_t weir_base_format_fields_bytes(const struct weir_base_format *format);

/** No frame is smaller: as described, or where its last field ends. */
uint32_t weir_base_format_size_min(const struct weir_base_format *format);

/** No frame is larger; UINT32_MAX: there is no limit. */
uint32_t weir_base_format_size_max(const struct weir_base_format *format);

/** Ticks a second of what a frame's time is counted in: of its timestamp, or the ns of its arrival; 0: not known. */
uint64_t weir_base_format_clock_hz(const struct weir_base_format *format);

/** Bits of a frame's time, after which it wraps: of its timestamp, or those of the time of its arrival. */
uint32_t weir_base_format_time_bits(const struct weir_base_format *format);

/** Formats that are built in: "wibeth", "srs-vmm3a", "hit", "udp", "ethernet". */
#define WEIR_BASE_NB_FORMATS 5

/** Format @p index of those that are built in, from 0; NULL beyond the last. */
const struct weir_base_format *weir_base_format_builtin(unsigned int index);

/**
 * What @p value, a map of `application.formats`, describes. Its name is the one under which a map holds it.
 *
 * @return 0; -EINVAL: an error was added to @p doc, at the line and column of what is wrong
 */
int weir_base_format_read(struct weir_base_doc *doc, const struct weir_base_doc_value *value,
	struct weir_base_format *format);

/** The errors of all formats, items of `application.formats`; one that is called as one that is built in is an error, too. */
void weir_base_formats_check(struct weir_base_doc *doc, const struct weir_base_doc_value *formats);

/**
 * The format of that name: one that is built in, or one of @p formats, which is in order.
 *
 * @return 0; -ENOENT: there is none
 */
int weir_base_format_find(const struct weir_base_doc_value *formats, const char *name,
	struct weir_base_format *format);

/** What a latency buffer for frames of a format is asked for. */
struct weir_base_buffer {
	const char *format;      /**< the format's name */
	uint64_t clock_hz;       /**< see weir_base_format_clock_hz(); not 0 */
	uint64_t step_ticks;     /**< of the format */
	uint32_t timestamp_bits; /**< see weir_base_format_time_bits() */
	uint32_t size_min_bytes; /**< of the format's frames */
	uint32_t size_max_bytes; /**< likewise; UINT32_MAX: no limit */
	double history_s;        /**< how long frames can be found, at least */
	double rate_hz;          /**< frames a second; where the format has no step, above 0 */
	double jump_s; /**< further off than this a frame is doubted; 0: a sixteenth of the history, at least 16 frames */
	uint32_t spare_frames; /**< beyond the history's; 0: an eighth of the history's */
	uint32_t frame_bytes;  /**< largest frame; 0: the format's */
};

/** What that comes to. */
struct weir_base_buffer_sizes {
	uint64_t
		live_ticks; /**< the newest frame's time is less than so much after that of any that is found */
	uint64_t jump_ticks;  /**< further off, a frame is doubted */
	uint64_t nb_index;    /**< slots, or entries of the ordered index */
	uint32_t nb_cells;    /**< frames that there is room for */
	uint32_t nb_spare;    /**< of these, beyond those of the history */
	uint32_t frame_bytes; /**< room for one */
};

/**
 * How large is it?
 *
 * @param[out] why  on error: what is wrong, what was expected, one line
 * @return 0; -EINVAL: there can be none such
 */
int weir_base_buffer_size(const struct weir_base_buffer *buffer,
	struct weir_base_buffer_sizes *sizes, char *why, size_t why_bytes);

#ifdef __cplusplus
}
#endif

#endif
