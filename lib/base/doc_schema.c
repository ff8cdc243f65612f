/* SPDX-License-Identifier: BSD-3-Clause */
/* The schema tables as a JSON Schema (draft 2020-12), for editors. */
#include "doc_private.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number as weir_base_doc_read_quantity() takes it. */
#define NUMBER_PATTERN "\\+?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?"
#define OCTET_PATTERN  "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
#define IP4_PATTERN    "(" OCTET_PATTERN "\\.){3}" OCTET_PATTERN
/* Not all that RFC 4291 rules out: an editor's help, the loader is the judge. */
#define IP6_PATTERN "[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*"
#define MAC_PATTERN "([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}"

static json_t *kind_schema(
	const struct weir_base_doc_key *row, enum weir_base_doc_kind kind, json_t *defs);

static json_t *
pattern_schema(const char *pattern)
{
	return json_pack(
		"{s:s, s:o}", "type", "string", "pattern", json_sprintf("^(%s)$", pattern));
}

static json_t *
quantity_schema(const struct doc_quantity *quantity)
{
	const struct doc_unit *unit;
	char units[80] = "";
	size_t used = 0;

	for (unit = quantity->units; unit->name != NULL; unit++)
		used += (size_t)snprintf(units + used, sizeof(units) - used, "%s%s",
			unit == quantity->units ? "" : "|", unit->name);
	return json_pack("{s:[o, {s:i}], s:[s]}", "anyOf",
		json_pack("{s:s, s:o}", "type", "string", "pattern",
			json_sprintf("^(%s ?(%s)|[-+]?0+(\\.0*)?)$", NUMBER_PATTERN, units)),
		"const", 0, "examples", quantity->example);
}

/* Whole numbers without a point, as far as a double holds them. */
static json_t *
bound(double number)
{
	if (number == floor(number) && fabs(number) < 9007199254740992.0)
		return json_integer((json_int_t)number);
	return json_real(number);
}

static json_t *
number_schema(const struct weir_base_doc_key *row, const char *type)
{
	json_t *schema = json_pack("{s:s}", "type", type);

	if (row->max > row->min) {
		json_object_set_new(schema, "minimum", bound(row->min));
		json_object_set_new(schema, "maximum", bound(row->max));
	}
	return schema;
}

/* Choices such as 1 or on may be read as numbers or booleans before a schema sees them. */
static json_t *
enum_schema(const struct weir_base_doc_key *row)
{
	json_t *choices = json_array();
	unsigned int i;

	for (i = 0; row->choices != NULL && row->choices[i] != NULL; i++) {
		json_t *typed = weir_base_doc_scalar_json(row->choices[i], true);

		json_array_append_new(choices, json_string(row->choices[i]));
		if (!json_is_string(typed))
			json_array_append(choices, typed);
		json_decref(typed);
	}
	return json_pack("{s:o}", "enum", choices);
}

/* "#/$defs/NAME" as a URI fragment that holds a JSON pointer. */
static json_t *
pointer(const char *name)
{
	char text[200] = "#/$defs/";
	size_t used = strlen(text);

	for (; *name != '\0' && used + 4 < sizeof(text); name++) {
		unsigned char c = (unsigned char)*name;

		if (isalnum(c) || strchr("-._", c) != NULL)
			used += (size_t)sprintf(text + used, "%c", c);
		else if (c == '~' || c == '/')
			used += (size_t)sprintf(text + used, "~%c", c == '~' ? '0' : '1');
		else
			used += (size_t)sprintf(text + used, "%%%02X", c);
	}
	return json_string(text);
}

/* A section by reference: its schema goes to $defs the first time. */
static json_t *section_schema(const struct weir_base_doc_section *section, json_t *defs);

static json_t *
reference(const struct weir_base_doc_section *section, json_t *defs)
{
	struct doc_rows rows = DOC_ROWS(section);
	const struct weir_base_doc_key *row;
	json_t *schema;

	if (json_object_get(defs, section->name) == NULL) {
		/* Taken before it is made, for sections that hold themselves. */
		json_object_set_new(defs, section->name, json_object());
		json_object_set_new(defs, section->name, section_schema(section, defs));
	}
	schema = json_pack("{s:o}", "$ref", pointer(section->name));
	while ((row = weir_base_doc_next_row(&rows)) != NULL) {
		if ((row->flags & WEIR_BASE_DOC_REQUIRED) != 0)
			return schema;
	}
	/* Nothing behind the key stands for an empty map. */
	return json_pack("{s:[o, {s:s}]}", "anyOf", schema, "type", "null");
}

static json_t *
list_schema(const struct weir_base_doc_key *row, json_t *defs)
{
	json_t *item = kind_schema(row, row->item, defs);
	json_t *forms =
		json_pack("[{s:s, s:O}, {s:s}]", "type", "array", "items", item, "type", "null");

	if (row->item < WEIR_BASE_DOC_MAP)
		json_array_append(forms, item);
	json_decref(item);
	return json_pack("{s:o}", "anyOf", forms);
}

static json_t *
kind_schema(const struct weir_base_doc_key *row, enum weir_base_doc_kind kind, json_t *defs)
{
	const struct doc_quantity *quantity = weir_base_doc_quantity(kind);

	if (quantity != NULL)
		return quantity_schema(quantity);
	switch (kind) {
	case WEIR_BASE_DOC_STRING:
		return json_pack("{s:[s, s, s]}", "type", "string", "number", "boolean");
	case WEIR_BASE_DOC_FILE:
		return json_pack("{s:s, s:i}", "type", "string", "minLength", 1);
	case WEIR_BASE_DOC_BOOL:
		return json_pack("{s:[{s:s}, o]}", "anyOf", "type", "boolean",
			pattern_schema("[Tt]rue|[Ff]alse|[Yy]es|[Nn]o|[Oo]n|[Oo]ff|"
				       "TRUE|FALSE|YES|NO|ON|OFF"));
	case WEIR_BASE_DOC_INT:
		return json_pack("{s:[o, o]}", "anyOf", number_schema(row, "integer"),
			pattern_schema("[-+]?(0[xX][0-9A-Fa-f]+|[0-9]+)"));
	case WEIR_BASE_DOC_NUMBER:
		return number_schema(row, "number");
	case WEIR_BASE_DOC_ENUM:
		return enum_schema(row);
	case WEIR_BASE_DOC_IP4_ADDRESS:
		return pattern_schema(IP4_PATTERN);
	case WEIR_BASE_DOC_IP6_ADDRESS:
		return pattern_schema(IP6_PATTERN);
	case WEIR_BASE_DOC_IP_ADDRESS:
		return pattern_schema(IP4_PATTERN "|" IP6_PATTERN);
	case WEIR_BASE_DOC_IP_PREFIX:
		return pattern_schema(IP4_PATTERN "/[0-9]{1,2}|" IP6_PATTERN "/[0-9]{1,3}");
	case WEIR_BASE_DOC_MAC_ADDRESS:
		return pattern_schema(MAC_PATTERN);
	case WEIR_BASE_DOC_MAP:
		return row->section != NULL ? reference(row->section, defs) : json_object();
	case WEIR_BASE_DOC_NAMED:
		return json_pack("{s:[s, s], s:o, s:{s:i}}", "type", "object", "null",
			"additionalProperties", kind_schema(row, row->item, defs), "propertyNames",
			"minLength", 1);
	case WEIR_BASE_DOC_LIST:
		/* Items that are lists of their own have no row that says of what. */
		return row->item == WEIR_BASE_DOC_LIST ? json_object() : list_schema(row, defs);
	default:
		return json_object();
	}
}

/* A default as the value that it stands for. */
static json_t *
default_json(const struct weir_base_doc_key *row)
{
	struct weir_base_doc_value *value;
	struct weir_base_doc *doc;
	json_t *json;

	switch (row->kind) {
	case WEIR_BASE_DOC_BOOL:
		return json_boolean(weir_base_doc_to_bool(row->def) == 1);
	case WEIR_BASE_DOC_INT:
	case WEIR_BASE_DOC_NUMBER:
		return weir_base_doc_scalar_json(row->def, true);
	case WEIR_BASE_DOC_MAP:
	case WEIR_BASE_DOC_NAMED:
	case WEIR_BASE_DOC_LIST:
	case WEIR_BASE_DOC_ANY:
		break;
	default:
		return json_string(row->def);
	}
	doc = weir_base_doc_new("default");
	if (doc == NULL)
		return json_null();
	value = weir_base_doc_parse(doc, "default", row->def, strlen(row->def), NULL);
	json = weir_base_doc_json(value);
	weir_base_doc_free(doc);
	return json;
}

static json_t *
row_schema(const struct weir_base_doc_key *row, json_t *defs)
{
	json_t *schema = kind_schema(row, row->kind, defs);

	if (row->help != NULL && row->expected != NULL)
		json_object_set_new(schema, "description",
			json_sprintf("%s Expected: %s.", row->help, row->expected));
	else if (row->help != NULL)
		json_object_set_new(schema, "description", json_string(row->help));
	if (row->def != NULL)
		json_object_set_new(schema, "default", default_json(row));
	return schema;
}

static json_t *
section_schema(const struct weir_base_doc_section *section, json_t *defs)
{
	json_t *properties = json_object(), *required = json_array(), *schema;
	struct doc_rows rows = DOC_ROWS(section);
	const struct weir_base_doc_key *row;

	while ((row = weir_base_doc_next_row(&rows)) != NULL) {
		json_object_set_new(properties, row->name, row_schema(row, defs));
		if ((row->flags & WEIR_BASE_DOC_REQUIRED) != 0)
			json_array_append_new(required, json_string(row->name));
	}
	schema = json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
		"additionalProperties", 0);
	if (section->help != NULL)
		json_object_set_new(schema, "description", json_string(section->help));
	if (json_array_size(required) > 0)
		json_object_set(schema, "required", required);
	json_decref(required);
	return schema;
}

/* "include:" belongs to every file's top and to no table. */
static void
add_include(json_t *schema)
{
	json_t *properties = json_object_get(schema, "properties");

	if (json_object_get(properties, "include") != NULL)
		return;
	json_object_set_new(properties, "include",
		json_pack("{s:s, s:[{s:s}, {s:s, s:{s:s}}]}", "description",
			"Files to take in, relative to this one.", "anyOf", "type", "string",
			"type", "array", "items", "type", "string"));
	/* What is missing here may stand in a file that is included. */
	json_object_del(schema, "required");
}

json_t *
weir_base_doc_schema_json(const struct weir_base_doc_section *root, const char *title)
{
	json_t *defs = json_object(), *schema = section_schema(root, defs);

	add_include(schema);
	json_object_set_new(
		schema, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
	json_object_set_new(schema, "title", json_string(title));
	json_object_set_new(schema, "$defs", defs);
	return schema;
}
