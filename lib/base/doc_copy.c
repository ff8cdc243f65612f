/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of a part's values, for its instances: `${name}` in a text is replaced by the parameter of that name, `$${` stands for
 * itself. A text that is nothing but a parameter becomes what that is: a number, a list, a map.
 */
#include "doc_private.h"

#include <string.h>

/* A copy being made. Errors stand where the text is. */
struct copying {
	struct weir_base_doc *doc;
	const struct doc_instance *instance;
	const struct weir_base_doc_value
		*place; /* of what is copied as a parameter; NULL: its own */
};

static struct weir_base_doc_value *copy_value(
	const struct copying *copying, const struct weir_base_doc_value *value);

static const char *
parameter_at(const void *arg, unsigned int index)
{
	const struct doc_instance *instance = arg;

	return index < instance->nb_parameters ? instance->parameters[index]->name : NULL;
}

/* Value of the parameter that a text of so many characters names. NULL: there is none, which was told. */
static const struct weir_base_doc_value *
find_parameter(const struct copying *copying, const struct weir_base_doc_value *at,
	const char *text, size_t length)
{
	const struct doc_instance *instance = copying->instance;
	const char *name, *nearest, *guess = "";
	unsigned int i;

	for (i = 0; i < instance->nb_parameters; i++) {
		name = instance->parameters[i]->name;
		if (strlen(name) == length && memcmp(name, text, length) == 0)
			return instance->parameters[i];
	}
	name = weir_base_doc_shown(
		copying->doc, weir_base_doc_format(copying->doc, "%.*s", (int)length, text));
	nearest = weir_base_doc_nearest(name, parameter_at, instance);
	if (nearest != NULL)
		guess = weir_base_doc_format(copying->doc, ", did you mean '%s'?", nearest);
	if (instance->nb_parameters == 0)
		weir_base_doc_error_add(copying->doc, at,
			"'${%s}' is no parameter; expected a text without: only parts have some",
			name);
	else
		weir_base_doc_error_add(copying->doc, at,
			"unknown parameter '%s'%s expected one of: %s", name,
			nearest != NULL ? guess : ";",
			weir_base_doc_list_names(copying->doc, parameter_at, instance));
	return NULL;
}

/* A text that is made piece by piece. */
struct filling {
	char *text; /* NULL: only its length is wanted */
	size_t length;
};

static void
fill(struct filling *filling, const char *text, size_t length)
{
	if (filling->text != NULL)
		memcpy(filling->text + filling->length, text, length);
	filling->length += length;
}

/* All of a text, its parameters replaced. @return false: one cannot be, which was told */
static bool
fill_all(const struct copying *copying, const struct weir_base_doc_value *value,
	struct filling *filling)
{
	const struct weir_base_doc_value *parameter;
	const char *at = value->text, *begin, *end;

	for (; (begin = strstr(at, "${")) != NULL; at = end + 1) {
		if (begin > at && begin[-1] == '$') {
			fill(filling, at, (size_t)(begin - at) - 1);
			fill(filling, "${", 2);
			end = begin + 1;
			continue;
		}
		fill(filling, at, (size_t)(begin - at));
		end = strchr(begin, '}');
		if (end == NULL) {
			weir_base_doc_error_add(copying->doc, value,
				"'${' without '}'; expected a parameter such as '${name}', or "
				"'$${' for these signs");
			return false;
		}
		parameter = find_parameter(copying, value, begin + 2, (size_t)(end - begin) - 2);
		if (parameter == NULL)
			return false;
		if (parameter->form != DOC_SCALAR) {
			weir_base_doc_error_add(copying->doc, value,
				"parameter '%s' is a map or list; expected a single value within a "
				"text",
				parameter->name);
			return false;
		}
		fill(filling, parameter->text, strlen(parameter->text));
	}
	fill(filling, at, strlen(at));
	return true;
}

/* The parameter that is all of a text, else NULL. */
static const struct weir_base_doc_value *
sole_parameter(const struct copying *copying, const struct weir_base_doc_value *value)
{
	const size_t length = strlen(value->text);

	if (length < 3 || memcmp(value->text, "${", 2) != 0 ||
		strchr(value->text, '}') != value->text + length - 1)
		return NULL;
	return find_parameter(copying, value, value->text + 2, length - 3);
}

/* Of a copy that has the place of what it is of already. */
static struct weir_base_doc_value *
copy_text(const struct copying *copying, const struct weir_base_doc_value *value,
	struct weir_base_doc_value *copy)
{
	const struct weir_base_doc_value *sole;
	struct filling filling = {NULL, 0};

	copy->text = value->text;
	copy->plain = value->plain;
	/* What parameters hold is final. */
	if (copying->place != NULL || strstr(value->text, "${") == NULL)
		return copy;
	sole = sole_parameter(copying, copy);
	if (sole != NULL) {
		const struct copying whole = {copying->doc, copying->instance, copy};

		return copy_value(&whole, sole);
	}
	if (!fill_all(copying, copy, &filling))
		return NULL;
	filling.text = weir_base_doc_alloc(copying->doc, filling.length + 1);
	if (filling.text == NULL)
		return NULL;
	filling.length = 0;
	fill_all(copying, copy, &filling);
	copy->text = filling.text;
	return copy;
}

static void
never_twice(struct weir_base_doc_value *first, struct weir_base_doc_value *again)
{
	/* What is copied has each name once. */
}

static struct weir_base_doc_value *
new_copy(const struct copying *copying, const struct weir_base_doc_value *value)
{
	const struct weir_base_doc_value *place = copying->place != NULL ? copying->place : value;
	struct weir_base_doc_value *copy = weir_base_doc_value_new(
		copying->doc, place->file, place->line, place->column, (enum doc_form)value->form);

	if (copy == NULL) {
		if (!copying->doc->out_of_memory)
			weir_base_doc_error_add(copying->doc, place,
				"too large: more than %u values", DOC_MAX_VALUES);
		copying->doc->incomplete = true;
		return NULL;
	}
	copy->name = value->name;
	copy->name_line = copying->place != NULL ? place->line : value->name_line;
	copy->name_column = copying->place != NULL ? place->column : value->name_column;
	copy->instance = copying->instance->outer != NULL ? copying->instance : NULL;
	copy->origin = value->origin != NULL    ? value->origin
		       : copying->place != NULL ? value->file
						: NULL;
	return copy;
}

static struct weir_base_doc_value *
copy_value(const struct copying *copying, const struct weir_base_doc_value *value)
{
	struct weir_base_doc_value *copy = new_copy(copying, value), *item;
	const char *name = value->name;
	unsigned int i;

	if (copy == NULL)
		return NULL;
	if (value->form == DOC_SCALAR) {
		copy = copy_text(copying, value, copy);
		if (copy != NULL)
			copy->name = name;
		return copy;
	}
	for (i = 0; i < value->nb_items; i++) {
		item = copy_value(copying, value->items[i]);
		if (item == NULL || weir_base_doc_append(copy, item) != 0)
			return NULL;
	}
	if (value->form == DOC_MAP && weir_base_doc_index(copy, never_twice) != 0)
		return NULL;
	return copy;
}

struct weir_base_doc_value *
weir_base_doc_copy_value(
	const struct weir_base_doc_value *value, const struct doc_instance *instance)
{
	const struct copying copying = {value->doc, instance, NULL};

	return copy_value(&copying, value);
}
