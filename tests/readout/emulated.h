/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_READOUT_EMULATED_H
#define WEIR_TESTS_READOUT_EMULATED_H

/* A stream that tests of the emulator send. */

#include "weir_readout_emulator.h"
#include "weir_readout_format.h"

#define NB_FRAMES 5000u
#define KEY       0x0a5u

static inline struct weir_readout_emulator_stream
wibeth(uint64_t key)
{
	return (struct weir_readout_emulator_stream){
		.format = weir_readout_format_builtin("wibeth"),
		.key = key,
		.first_sequence = 4000, /* it wraps soon */
		.first_timestamp = UINT64_MAX - 100 * 2048,
		.nb_frames = NB_FRAMES,
		.source_ip = 0x0a000001,
		.destination_ip = 0x0a000002,
		.destination_port = 17476,
	};
}

#endif
