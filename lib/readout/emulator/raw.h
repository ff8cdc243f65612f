/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_RAW_H
#define READOUT_RAW_H

/* Files of frames alone, one behind the other, read as records of packets: as weir_base_pcap.h reads captures. */

#include "weir_base_pcap.h"
#include "weir_readout_emulator.h"

struct raw;

/* Do its frames say when they are due? */
bool raw_has_times(const struct weir_readout_emulator_stream *stream);

/*
 * Open a file of frames of the stream's format, whose packets have the stream's addresses.
 *
 * @param[out] why  what is wrong, one line
 * @return 0; -EINVAL: no format, or one that does not tell where frames end; -ENOMEM; what fopen() says
 */
int raw_open(const char *path, const struct weir_readout_emulator_stream *stream, struct raw **file,
	char *why, size_t why_bytes);

/* NULL is allowed. */
void raw_close(struct raw *file);

/*
 * The next frame as a packet, its time that of its timestamp since the first one's; one that goes back has the time of the one before it.
 *
 * @return 1; 0: the end; -EBADMSG: the file ends within a frame, or one says a size that frames of its format cannot have
 */
int raw_next(struct raw *file, struct weir_base_pcap_record *record, char *why, size_t why_bytes);

#endif
