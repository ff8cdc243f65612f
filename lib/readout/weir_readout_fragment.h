/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_FRAGMENT_H
#define WEIR_READOUT_FRAGMENT_H

/**
 * @file
 * Fragments as bytes: for files, sockets, and who reads them on another machine. All numbers are little endian, without a sign, and begin at
 * a multiple of their size.
 *
 *     offset bytes
 *          0     4  magic: "WFRG"
 *          4     2  version: 1
 *          6     2  header_bytes: where the intervals begin; 88 or, with members to come, more
 *          8     8  total_bytes: of the fragment, this header included: the next one begins there
 *         16     8  run
 *         24     8  trigger
 *         32     8  begin of the window, ticks
 *         40     8  end of it
 *         48     8  stream key of the link
 *         56     8  payload_bytes: of all frames
 *         64     4  number of the link in its service
 *         68     4  answer: 0 complete, 1 partial, 2 too old, 3 not yet, 4 timed out, 5 too large, 6 stopped
 *         72     4  parts: bits: 1 frames, 2 missing, 4 too old, 8 not yet, 16 the list of what is missing is cut
 *         76     4  nb_missing
 *         80     4  nb_frames
 *         84     4  name_bytes: of the link's name, without an end
 *     header_bytes  nb_missing times: 8 begin, 8 end: in order, apart from each other
 *       then        nb_frames times: 8 timestamp, 4 bytes of the frame, 4 reserved: 0
 *       then        the name, and zeros up to a multiple of 8
 *       then        the frames, one after the other, without gaps
 *
 * The *head* is all but the frames. A writer sends it, and then the frames from where they lie: nothing of these is copied.
 */

#include <stdint.h>

#include "weir_readout_request.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_READOUT_FRAGMENT_VERSION      1  /**< of the layout */
#define WEIR_READOUT_FRAGMENT_HEADER_BYTES 88 /**< of its fixed part in this version */

/** Bytes of a fragment before its frames. Who holds it. */
uint64_t weir_readout_fragment_head_bytes(const struct weir_readout_fragment *fragment);

/** Bytes of it, frames included. Who holds it. */
uint64_t weir_readout_fragment_bytes(const struct weir_readout_fragment *fragment);

/** Write the head to where weir_readout_fragment_head_bytes() have room. Who holds it. */
void weir_readout_fragment_head(const struct weir_readout_fragment *fragment, void *to);

/** Write all of it to where weir_readout_fragment_bytes() have room: its frames are copied. Who holds it. */
void weir_readout_fragment_write(const struct weir_readout_fragment *fragment, void *to);

/** A fragment in somebody's memory, as bytes. */
struct weir_readout_fragment_view {
	uint64_t run;           /**< as of the header */
	uint64_t trigger;       /**< likewise */
	uint64_t begin;         /**< likewise */
	uint64_t end;           /**< likewise */
	uint64_t key;           /**< likewise */
	uint64_t total_bytes;   /**< likewise */
	uint64_t payload_bytes; /**< likewise */
	uint32_t link;          /**< likewise */
	uint32_t answer;     /**< likewise: enum weir_readout_answer, or one of a later version */
	uint32_t parts;      /**< likewise: WEIR_READOUT_PART_ bits */
	uint32_t nb_missing; /**< likewise */
	uint32_t nb_frames;  /**< likewise */
	uint32_t name_bytes; /**< likewise */
	const uint8_t *missing; /**< intervals: see weir_readout_fragment_view_missing() */
	const uint8_t *table;   /**< of frames: see weir_readout_fragment_view_frame() */
	const char *name;       /**< name_bytes, without an end */
	const uint8_t *frames;  /**< payload_bytes */
};

/** A frame, as a fragment's table has it. */
struct weir_readout_fragment_frame {
	uint64_t timestamp;  /**< its own */
	uint32_t size_bytes; /**< the next one begins so much further on */
};

/**
 * Look at bytes: is there a fragment? All numbers are compared with each other and with @p nb, so that what the view shows can be
 * read. Copies nothing. Any thread.
 *
 * @param bytes  at any address
 * @param nb     how many there are, of this fragment and what follows it
 * @return 0; -EAGAIN: so far it is one, its end is missing (with 16 bytes or more, view->total_bytes is set); -EPROTO: it is none, or of a
 *         version that this code does not know
 */
int weir_readout_fragment_view(
	const void *bytes, uint64_t nb, struct weir_readout_fragment_view *view);

/** Interval @p index, less than nb_missing. */
struct weir_readout_interval weir_readout_fragment_view_missing(
	const struct weir_readout_fragment_view *view, uint32_t index);

/** Frame @p index, less than nb_frames. */
struct weir_readout_fragment_frame weir_readout_fragment_view_frame(
	const struct weir_readout_fragment_view *view, uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
