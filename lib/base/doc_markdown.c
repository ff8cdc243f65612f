/* SPDX-License-Identifier: BSD-3-Clause */
/* The schema tables as reference documentation. */
#include "doc_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Sections that were met, in depth-first order. */
struct outline {
	const struct weir_base_doc_section **sections;
	unsigned int nb, max;
};

static bool
was_met(const struct outline *outline, const struct weir_base_doc_section *section)
{
	unsigned int i;

	for (i = 0; i < outline->nb; i++) {
		if (outline->sections[i] == section)
			return true;
	}
	return false;
}

static bool
add(struct outline *outline, const struct weir_base_doc_section *section)
{
	const struct weir_base_doc_section **more;

	if (outline->nb == outline->max) {
		outline->max = outline->max == 0 ? 32 : 2 * outline->max;
		more = realloc(outline->sections, outline->max * sizeof(*more));
		if (more == NULL)
			return false;
		outline->sections = more;
	}
	outline->sections[outline->nb++] = section;
	return true;
}

static void
collect(struct outline *outline, const struct weir_base_doc_section *section)
{
	struct doc_rows rows = DOC_ROWS(section);
	const struct weir_base_doc_key *row;

	if (was_met(outline, section) || !add(outline, section))
		return;
	while ((row = weir_base_doc_next_row(&rows)) != NULL) {
		if (row->section != NULL)
			collect(outline, row->section);
	}
}

/* Text of a table's cell: a bar would end it, and so would a new line. */
static void
print_cell(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '|')
			fputc('\\', out);
		fputc(*text == '\n' ? ' ' : *text, out);
	}
}

/* The anchor that Markdown gives a title: lower case, dashes for blanks, nothing for other signs. */
static void
print_link(FILE *out, const char *title)
{
	const char *at;

	fprintf(out, "[%s](#", title);
	for (at = title; *at != '\0'; at++) {
		if (isalnum((unsigned char)*at) || *at == '_' || *at == '-')
			fputc(tolower((unsigned char)*at), out);
		else if (*at == ' ')
			fputc('-', out);
	}
	fputc(')', out);
}

static void
print_kind(FILE *out, const struct weir_base_doc_key *row, enum weir_base_doc_kind kind)
{
	const struct doc_quantity *quantity = weir_base_doc_quantity(kind);
	char units[80];
	unsigned int i;

	switch (kind) {
	case WEIR_BASE_DOC_MAP:
		if (row->section != NULL)
			print_link(out, row->section->name);
		else
			fprintf(out, "a map");
		return;
	case WEIR_BASE_DOC_NAMED:
		fprintf(out, "a map from names, each to ");
		print_kind(out, row, row->item);
		return;
	case WEIR_BASE_DOC_LIST:
		fprintf(out, "a list, each item ");
		if (row->item == WEIR_BASE_DOC_LIST)
			fprintf(out, "a list");
		else
			print_kind(out, row, row->item);
		return;
	case WEIR_BASE_DOC_ENUM:
		for (i = 0; row->choices != NULL && row->choices[i] != NULL; i++)
			fprintf(out, "%s`%s`", i == 0 ? "" : ", ", row->choices[i]);
		return;
	default:
		fprintf(out, "%s", weir_base_doc_kind_noun(kind));
	}
	if (quantity != NULL)
		fprintf(out, " (%s)", weir_base_doc_unit_list(quantity, units, sizeof(units)));
	if (row->max > row->min)
		fprintf(out, ", %.15g%s to %.15g%s", row->min,
			quantity != NULL ? quantity->base : "", row->max,
			quantity != NULL ? quantity->base : "");
	if (row->expected != NULL) {
		fprintf(out, ": ");
		print_cell(out, row->expected);
	}
}

static void
print_section(FILE *out, const struct weir_base_doc_section *section, bool is_root)
{
	struct doc_rows rows = DOC_ROWS(section);
	const struct weir_base_doc_key *row;

	fprintf(out, "## %s\n\n", section->name);
	if (section->help != NULL)
		fprintf(out, "%s\n\n", section->help);
	fprintf(out, "| key | value | default | meaning |\n|---|---|---|---|\n");
	while ((row = weir_base_doc_next_row(&rows)) != NULL) {
		fprintf(out, "| `%s` | ", row->name);
		print_kind(out, row, row->kind);
		fprintf(out, " | ");
		if ((row->flags & WEIR_BASE_DOC_REQUIRED) != 0) {
			fprintf(out, "required");
		} else if (row->def != NULL) {
			fputc('`', out);
			print_cell(out, row->def);
			fputc('`', out);
		}
		fprintf(out, " | ");
		print_cell(out, row->help != NULL ? row->help : "");
		fprintf(out, " |\n");
	}
	/* It belongs to every file's top and to no table. */
	if (is_root)
		fprintf(out, "| `include` | a file name, or a list of them |  | Files to take in, "
			     "relative to this one. |\n");
	fprintf(out, "\n");
}

void
weir_base_doc_schema_markdown(const struct weir_base_doc_section *root, FILE *out)
{
	struct outline outline = {NULL, 0, 0};
	unsigned int i;

	collect(&outline, root);
	for (i = 0; i < outline.nb; i++)
		print_section(out, outline.sections[i], i == 0);
	free(outline.sections);
}
