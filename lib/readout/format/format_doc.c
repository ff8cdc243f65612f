/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame formats in description files. */
#include <errno.h>

#include "weir_base_nodes.h"
#include "weir_readout_format.h"

static const struct weir_base_doc_key format_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_base_format_rows),
	{.name = NULL},
};

const struct weir_base_doc_section weir_readout_format_section = {
	"readout format", "Layout of a detector's or capture's frames.", format_keys};

int
weir_readout_format_read(struct weir_base_doc *doc, const struct weir_base_doc_value *value,
	struct weir_readout_format *format)
{
	struct weir_base_format described;

	if (weir_base_format_read(doc, value, &described) < 0)
		return -EINVAL;
	return weir_readout_format_compile(&described, format, NULL, NULL, 0);
}
