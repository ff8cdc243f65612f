/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the values of a document. */
#include "doc_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct weir_base_doc_value *
weir_base_doc_root(const struct weir_base_doc *doc)
{
	return doc != NULL ? doc->root : NULL;
}

const char *
weir_base_doc_file_at(const struct weir_base_doc *doc, unsigned int index)
{
	return index < doc->nb_files ? doc->files[index] : NULL;
}

/* As in the file, for somebody who asks for it. */
static struct weir_base_doc_value *
read_key(const struct weir_base_doc_value *map, const char *key)
{
	struct weir_base_doc_value *value = weir_base_doc_find(map, key);

	if (value != NULL && !value->doc->is_looked_at)
		value->is_read = true;
	return value;
}

const struct weir_base_doc_value *
weir_base_doc_get(const struct weir_base_doc_value *map, const char *key)
{
	const struct weir_base_doc_value *value;
	const struct weir_base_doc_key *row;
	struct doc_rows rows;
	unsigned int i;

	if (map == NULL)
		return NULL;
	value = read_key(map, key);
	if (value != NULL || map->section == NULL || map->defaults == NULL)
		return value;
	rows = (struct doc_rows)DOC_ROWS(map->section);
	for (i = 0; (row = weir_base_doc_next_row(&rows)) != NULL; i++) {
		if (strcmp(row->name, key) == 0)
			return map->defaults[i];
	}
	return NULL;
}

bool
weir_base_doc_given(const struct weir_base_doc_value *map, const char *key)
{
	const struct weir_base_doc_value *value;

	value = map != NULL ? read_key(map, key) : NULL;
	return value != NULL && !value->defaulted;
}

unsigned int
weir_base_doc_count(const struct weir_base_doc_value *value)
{
	return value != NULL ? value->nb_items : 0;
}

/* A file may have any number of them, and of errors. */
#define NAMES_SIZE 512
#define AND_MORE   " ..."

const char *
weir_base_doc_names(
	struct weir_base_doc *doc, const struct weir_base_doc_value *map, const char *none)
{
	const unsigned int nb = weir_base_doc_count(map);
	char text[NAMES_SIZE];
	size_t used = 0;
	unsigned int i;

	if (nb == 0)
		return none;
	for (i = 0; i < nb; i++) {
		const char *separator = i == 0 ? "" : i + 1 < nb ? ", " : " or ";
		const char *name = map->items[i]->name;

		if (used + strlen(separator) + strlen(name) + sizeof(AND_MORE) > sizeof(text)) {
			strcpy(text + used, AND_MORE);
			break;
		}
		used += (size_t)sprintf(text + used, "%s%s", separator, name);
	}
	return weir_base_doc_format(doc, "%s", text);
}

const struct weir_base_doc_value *
weir_base_doc_at(const struct weir_base_doc_value *value, unsigned int index)
{
	if (value == NULL || index >= value->nb_items)
		return NULL;
	if (!value->doc->is_looked_at)
		value->items[index]->is_read = true;
	return value->items[index];
}

const char *
weir_base_doc_name(const struct weir_base_doc_value *value)
{
	return value != NULL ? value->name : NULL;
}

const char *
weir_base_doc_str(const struct weir_base_doc_value *value)
{
	if (value == NULL || value->form != DOC_SCALAR)
		return NULL;
	return value->path != NULL ? value->path : value->text;
}

uint64_t
weir_base_doc_u64(const struct weir_base_doc_value *value)
{
	return value != NULL ? value->u64 : 0;
}

int64_t
weir_base_doc_i64(const struct weir_base_doc_value *value)
{
	return value != NULL ? value->i64 : 0;
}

double
weir_base_doc_f64(const struct weir_base_doc_value *value)
{
	return value != NULL ? value->f64 : 0;
}

bool
weir_base_doc_bool(const struct weir_base_doc_value *value)
{
	return value != NULL && value->kind == WEIR_BASE_DOC_BOOL && value->u64 != 0;
}

const uint8_t *
weir_base_doc_bytes(const struct weir_base_doc_value *value)
{
	return value != NULL && value->form == DOC_SCALAR && value->length != 0 ? value->bytes
										: NULL;
}

unsigned int
weir_base_doc_length(const struct weir_base_doc_value *value)
{
	return value != NULL && value->form == DOC_SCALAR ? value->length : 0;
}

const char *
weir_base_doc_where(
	const struct weir_base_doc_value *value, unsigned int *line, unsigned int *column)
{
	/* A map or list under a key stands where its key is: there a reader looks for it. */
	bool at_name = value->name != NULL && value->form != DOC_SCALAR && value->name_line != 0;

	*line = at_name ? value->name_line : value->line;
	*column = at_name ? value->name_column : value->column;
	return value->file;
}

json_t *
weir_base_doc_scalar_json(const char *text, bool plain)
{
	bool integer;
	long long number;

	if (!plain)
		return json_string(text);
	if (text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0)
		return json_null();
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return json_boolean(text[0] == 't');
	if (!weir_base_doc_is_number(text, &integer))
		return json_string(text);
	if (integer) {
		errno = 0;
		number = strtoll(text, NULL, 10);
		if (errno == 0)
			return json_integer(number);
	}
	/* Beyond 64 bits, or of a size that no double has: as it was written. */
	return json_real(weir_base_doc_to_double(text)) ?: json_string(text);
}

static json_t *
scalar_json(const struct weir_base_doc_value *value)
{
	switch (value->kind) {
	case WEIR_BASE_DOC_BOOL:
		if (weir_base_doc_to_bool(value->text) >= 0)
			return json_boolean(weir_base_doc_to_bool(value->text));
		break;
	case WEIR_BASE_DOC_STRING:
	case WEIR_BASE_DOC_FILE:
	case WEIR_BASE_DOC_ENUM:
		return json_string(weir_base_doc_str(value));
	case WEIR_BASE_DOC_INT:
		/* May be written as hexadecimal, which JSON does not know. */
		if (value->i64 != 0 && value->i64 != INT64_MAX)
			return json_integer(value->i64);
		break;
	default:
		break;
	}
	return weir_base_doc_scalar_json(value->text, value->plain);
}

json_t *
weir_base_doc_json(const struct weir_base_doc_value *value)
{
	json_t *json;
	unsigned int i;

	if (value == NULL)
		return json_null();
	if (value->form == DOC_SCALAR)
		return scalar_json(value);
	json = value->form == DOC_MAP ? json_object() : json_array();
	for (i = 0; i < value->nb_items; i++) {
		json_t *item = weir_base_doc_json(value->items[i]);

		if (value->form == DOC_MAP)
			json_object_set_new(json, value->items[i]->name, item);
		else
			json_array_append_new(json, item);
	}
	return json;
}
