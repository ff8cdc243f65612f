/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats that are built in, described as a user would. */
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "weir_base_nodes.h"
#include "weir_readout_hit_finder.h"

#include "wibeth.h"

_Static_assert(sizeof(struct weir_readout_hit) == WEIR_BASE_FORMAT_HIT_BYTES, "a frame is a hit");
_Static_assert(WIBETH_TIMES == WEIR_BASE_FORMAT_WIBETH_TIMES, "samples are as many as all say");

static const struct weir_readout_format_spec specs[] = {
	{
		/* DUNE: 64 samples of 64 channels, behind two headers of 16 bytes. A word of 64 bits has version (6), detector (6), crate
		 * (10), slot (4), stream (8), reserved (6), sequence (12) and length in words behind the first header (12); the next one
		 * is the timestamp. A stream is detector, crate, slot and stream. */
		.name = WEIR_BASE_FORMAT_WIBETH,
		.fields =
			{
				[WEIR_READOUT_FIELD_STREAM] = WEIR_BASE_FORMAT_WIBETH_STREAM,
				[WEIR_READOUT_FIELD_SEQUENCE] = WEIR_BASE_FORMAT_WIBETH_SEQUENCE,
				[WEIR_READOUT_FIELD_TIMESTAMP] = WEIR_BASE_FORMAT_WIBETH_TIMESTAMP,
				[WEIR_READOUT_FIELD_LENGTH] = WEIR_BASE_FORMAT_WIBETH_LENGTH,
			},
		.length_unit_bytes = WEIR_BASE_FORMAT_WIBETH_LENGTH_UNIT,
		.length_plus_bytes = WEIR_BASE_FORMAT_WIBETH_LENGTH_PLUS,
		.size_min_bytes = WEIR_BASE_FORMAT_WIBETH_BYTES,
		.size_max_bytes = WEIR_BASE_FORMAT_WIBETH_BYTES,
		.step_ticks = WEIR_BASE_FORMAT_WIBETH_STEP,
		.clock_hz = WEIR_BASE_FORMAT_WIBETH_HZ,
	},
	{
		/* SRS with VMM3a: counter of frames, "VM3" and the number of the card in 4 bits, time of sending, overflow of offsets; then
		 * records of 6 bytes. The clock is that of the captures known, 22.5 ns a tick. */
		.name = WEIR_BASE_FORMAT_VMM3A,
		.big_endian = true,
		.fields =
			{
				[WEIR_READOUT_FIELD_STREAM] = WEIR_BASE_FORMAT_VMM3A_STREAM,
				[WEIR_READOUT_FIELD_SEQUENCE] = WEIR_BASE_FORMAT_VMM3A_SEQUENCE,
				[WEIR_READOUT_FIELD_TIMESTAMP] = WEIR_BASE_FORMAT_VMM3A_TIMESTAMP,
			},
		.size_min_bytes = WEIR_BASE_FORMAT_VMM3A_BYTES_MIN,
		.size_max_bytes = WEIR_BASE_FORMAT_VMM3A_BYTES,
		.clock_hz = WEIR_BASE_FORMAT_VMM3A_HZ,
	},
	{
		/* struct weir_readout_hit: what hit finders make. Hits of many streams in one link come at any time. */
		.name = WEIR_BASE_FORMAT_HIT,
		.big_endian = RTE_BYTE_ORDER == RTE_BIG_ENDIAN,
		.fields = {[WEIR_READOUT_FIELD_TIMESTAMP] = WEIR_BASE_FORMAT_HIT_TIMESTAMP},
		.size_min_bytes = WEIR_BASE_FORMAT_HIT_BYTES,
		.size_max_bytes = WEIR_BASE_FORMAT_HIT_BYTES,
		.clock_hz = WEIR_BASE_FORMAT_HIT_HZ,
	},
	{
		.name = "udp",
		.layer = WEIR_READOUT_LAYER_UDP,
		.size_max_bytes = 65507,
	},
	{
		.name = "ethernet",
		.layer = WEIR_READOUT_LAYER_ETHERNET,
		.size_min_bytes = 14,
	},
};

static struct weir_readout_format formats[RTE_DIM(specs)];

RTE_INIT(compile_formats)
{
	for (unsigned int i = 0; i < RTE_DIM(specs); i++)
		if (weir_readout_format_compile(&specs[i], &formats[i], NULL, NULL, 0) < 0)
			abort();
}

const struct weir_readout_format *
weir_readout_format_builtin(const char *name)
{
	for (unsigned int i = 0; i < RTE_DIM(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

const char *
weir_readout_format_builtin_name(unsigned int index)
{
	return index < RTE_DIM(formats) ? formats[index].name : NULL;
}
