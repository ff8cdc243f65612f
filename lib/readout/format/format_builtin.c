/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats that are built in, compiled. */
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "weir_base_nodes.h"
#include "weir_readout_hit_finder.h"

#include "wibeth.h"

_Static_assert(sizeof(struct weir_readout_hit) == WEIR_BASE_FORMAT_HIT_BYTES, "a frame is a hit");
_Static_assert(WIBETH_TIMES == WEIR_BASE_FORMAT_WIBETH_TIMES, "samples are as many as all say");

static struct weir_readout_format formats[WEIR_BASE_NB_FORMATS];

RTE_INIT(compile_formats)
{
	for (unsigned int i = 0; i < RTE_DIM(formats); i++)
		if (weir_readout_format_compile(
			    weir_base_format_builtin(i), &formats[i], NULL, NULL, 0) < 0)
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
