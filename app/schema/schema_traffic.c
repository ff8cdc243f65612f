/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrives, where it is made rather than received. */
#include <weir_sim.h>

#include "schema.h"

static const struct weir_base_doc_key keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_traffic_rows),
	{.name = NULL},
};

const struct weir_base_doc_section schema_traffic = {
	.name = "traffic",
	.help = "What arrives, where it is made rather than received.",
	.keys = keys,
};
