/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a section, where some of them may be those of another one. */
#include "doc_private.h"

#include <string.h>

const struct weir_base_doc_key *
weir_base_doc_next_row(struct doc_rows *rows)
{
	/* The end of what was put in, or something that is put in. */
	while (rows->next->name == NULL || rows->next->name[0] == '\0') {
		if (rows->next->name != NULL) {
			rows->behind = rows->next + 1;
			rows->next = rows->next->section->keys;
		} else if (rows->behind != NULL) {
			rows->next = rows->behind;
			rows->behind = NULL;
		} else {
			return NULL;
		}
	}
	return rows->next++;
}

const struct weir_base_doc_key *
weir_base_doc_row(const struct weir_base_doc_section *section, const char *name)
{
	const struct weir_base_doc_key *row;
	struct doc_rows rows;

	if (section == NULL)
		return NULL;
	rows = (struct doc_rows)DOC_ROWS(section);
	while ((row = weir_base_doc_next_row(&rows)) != NULL) {
		if (strcmp(row->name, name) == 0)
			return row;
	}
	return NULL;
}
