/* SPDX-License-Identifier: BSD-3-Clause */
/* An instance of a part: its names and its parameters. */
#include "doc_private.h"

#include <stdlib.h>
#include <string.h>

#define INSTANCES_IN_ARRAY 4096

static const struct weir_base_doc_key instance_keys[] = {
	{
		.name = "model",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "What it is an instance of, one of `models`; by default what has its name.",
	},
	{
		.name = "count",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = INSTANCES_IN_ARRAY,
		.help = "An array of so many, called `NAME.0`, `NAME.1` and so on. Without it, and "
			"without `names`, there is one, called `NAME`.",
	},
	{
		.name = "names",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.help = "An array of one for each of these, called `NAME.` and what stands here.",
	},
	{
		.name = "parameters",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_ANY,
		.help = "Values of parameters; those that are not named have their defaults.",
	},
	{
		.name = "each",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_ANY,
		.help = "Values of parameters that differ in an array: of each a list, one for "
			"each "
			"instance.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_base_doc_instance = {
	.name = "instance",
	.help = "A part of the description that is made of one of `models`, or an array of them. "
		"What the part calls `work` is called `NAME.work` outside of it, `NAME.3.work` "
		"where it is number 3 of an array.",
	.keys = instance_keys,
};

/* What every instance has as a parameter, before those of its part. */
static const char *const own_names[] = {"index", "count", "instance"};

#define NB_OWN_NAMES (sizeof(own_names) / sizeof(own_names[0]))

static const char *
item_name_at(const void *arg, unsigned int index)
{
	const struct weir_base_doc_value *map = arg;

	return map != NULL && index < map->nb_items ? map->items[index]->name : NULL;
}

void
weir_base_doc_instance_given(
	const struct weir_base_doc_value *given, const struct weir_base_doc_value *part)
{
	const struct weir_base_doc_value *parameters = weir_base_doc_find(part, "parameters");
	unsigned int i;

	for (i = 0; given != NULL && i < given->nb_items; i++)
		if (parameters == NULL ||
			weir_base_doc_find(parameters, given->items[i]->name) == NULL)
			weir_base_doc_error_name(given->doc, given->items[i],
				"unknown parameter '%s'; expected %s%s",
				weir_base_doc_shown(given->doc, given->items[i]->name),
				item_name_at(parameters, 0) != NULL
					? "one of: "
					: "none, as the part has no 'parameters'",
				weir_base_doc_list_names(given->doc, item_name_at, parameters));
}

void
weir_base_doc_instance_each(const struct weir_base_doc_value *instance, unsigned int count)
{
	const struct weir_base_doc_value *each = weir_base_doc_find(instance, "each");
	const struct weir_base_doc_value *all = weir_base_doc_find(instance, "parameters");
	unsigned int i;

	for (i = 0; each != NULL && i < each->nb_items; i++) {
		const struct weir_base_doc_value *values = each->items[i];

		if (values->form != DOC_LIST || values->nb_items != count)
			weir_base_doc_error_name(values->doc, values,
				"'%s' is no list of %u; expected a value for each instance",
				weir_base_doc_shown(values->doc, values->name), count);
		if (all != NULL && weir_base_doc_find(all, values->name) != NULL)
			weir_base_doc_error_name(values->doc, values,
				"'%s' stands among the 'parameters' too; expected it once",
				weir_base_doc_shown(values->doc, values->name));
	}
}

void
weir_base_doc_instance_reserved(const struct weir_base_doc_value *parameters)
{
	unsigned int i;

	for (i = 0; parameters != NULL && i < NB_OWN_NAMES; i++) {
		const struct weir_base_doc_value *value =
			weir_base_doc_find(parameters, own_names[i]);

		if (value != NULL)
			weir_base_doc_error_name(value->doc, value,
				"every instance has a parameter '%s'; expected another name",
				own_names[i]);
	}
}

/* A parameter that every instance has. */
static struct weir_base_doc_value *
own_parameter(const struct weir_base_doc_value *at, const char *name, const char *text)
{
	struct weir_base_doc_value *value =
		weir_base_doc_value_new(at->doc, at->file, at->line, at->column, DOC_SCALAR);

	if (value == NULL)
		return NULL;
	value->name = name;
	value->text = text;
	value->plain = true;
	return value;
}

/* What an instance gives a parameter: for all of an array, or one by one. NULL: nothing. */
static const struct weir_base_doc_value *
given_value(const struct weir_base_doc_value *instance, const char *name, unsigned int index)
{
	const struct weir_base_doc_value *all = weir_base_doc_find(instance, "parameters");
	const struct weir_base_doc_value *each = weir_base_doc_find(instance, "each");
	const struct weir_base_doc_value *value = NULL;

	if (each != NULL)
		value = weir_base_doc_find(each, name);
	if (value != NULL)
		return index < value->nb_items ? value->items[index] : NULL;
	value = all != NULL ? weir_base_doc_find(all, name) : NULL;
	return value != NULL && !weir_base_doc_is_null(value) ? value : NULL;
}

/* The value of a parameter under its name; its default may hold those before it. NULL: an error, which was told. */
static struct weir_base_doc_value *
bind_parameter(const struct weir_base_doc_value *parameter,
	const struct weir_base_doc_value *instance, const struct doc_instance *of,
	unsigned int index)
{
	const struct weir_base_doc_value *given = given_value(instance, parameter->name, index);
	struct weir_base_doc_value *value = NULL;

	if (given != NULL) {
		/* Its own parameters were put in when it was copied. */
		value = weir_base_doc_alloc(given->doc, sizeof(*value));
		if (value != NULL)
			*value = *given;
	} else if (weir_base_doc_is_null(parameter)) {
		weir_base_doc_error_add(parameter->doc, instance,
			"parameter '%s' has no value; expected it among the 'parameters'",
			parameter->name);
	} else {
		value = weir_base_doc_copy_value(parameter, of);
	}
	if (value != NULL)
		value->name = parameter->name;
	return value;
}

bool
weir_base_doc_instance_bind(struct doc_instance *of, const struct weir_base_doc_value *instance,
	unsigned int index, unsigned int count)
{
	const struct weir_base_doc_value *parameters = weir_base_doc_find(of->part, "parameters");
	struct weir_base_doc *doc = instance->doc;
	const char *const texts[NB_OWN_NAMES] = {weir_base_doc_format(doc, "%u", index),
		weir_base_doc_format(doc, "%u", count), of->name};
	const unsigned int nb = parameters != NULL ? parameters->nb_items : 0;
	const struct weir_base_doc_value **all;
	struct weir_base_doc_value *value;
	unsigned int i;

	all = weir_base_doc_alloc(doc, (nb + NB_OWN_NAMES) * sizeof(*all));
	if (all == NULL)
		return false;
	of->parameters = all;
	of->nb_own = NB_OWN_NAMES;
	for (i = 0; i < NB_OWN_NAMES; i++, of->nb_parameters++)
		if ((all[i] = own_parameter(instance, own_names[i], texts[i])) == NULL)
			return false;
	for (i = 0; i < nb; i++) {
		value = bind_parameter(parameters->items[i], instance, of, index);
		if (value == NULL)
			return false;
		all[of->nb_parameters++] = value;
	}
	return true;
}

void
weir_base_doc_instance_name(
	struct doc_instance *of, const struct weir_base_doc_value *instance, const char *item)
{
	const char *dot = of->outer->outer != NULL ? "." : "";

	of->name = weir_base_doc_format(instance->doc, "%s%s%s%s%s", of->outer->name, dot,
		instance->name, item != NULL ? "." : "", item != NULL ? item : "");
	of->array = weir_base_doc_format(instance->doc, "%s%s%s%s", of->outer->array, dot,
		instance->name, item != NULL ? ".*" : "");
	of->in_array = of->outer->in_array || item != NULL;
}

const char *
weir_base_doc_instance_told(struct weir_base_doc *doc, const struct doc_instance *instance)
{
	const char *text = instance->name;
	unsigned int i;

	for (i = instance->nb_own; i < instance->nb_parameters; i++) {
		const struct weir_base_doc_value *value = instance->parameters[i];
		json_t *json = value->form == DOC_SCALAR ? NULL : weir_base_doc_json(value);
		char *dumped = json != NULL ? json_dumps(json, 0) : NULL;
		const char *shown = dumped != NULL              ? dumped
				    : value->form == DOC_SCALAR ? value->text
								: "?";

		text = weir_base_doc_format(doc, "%s%s%s = %s", text,
			i == instance->nb_own ? ": " : ", ", value->name,
			weir_base_doc_shown(doc, shown));
		free(dumped);
		json_decref(json);
	}
	return text;
}

const char *
weir_base_doc_meaning(const struct weir_base_doc_value *value, unsigned int level)
{
	const struct doc_instance *around;

	if (value == NULL || value->form != DOC_SCALAR)
		return NULL;
	for (around = value->instance; around != NULL && around->outer != NULL && level > 0;
		level--)
		around = around->outer;
	if (level > 0)
		return NULL;
	return around == NULL || around->outer == NULL
		       ? value->text
		       : weir_base_doc_format(value->doc, "%s.%s", around->name, value->text);
}

const char *
weir_base_doc_array_name(const struct weir_base_doc_value *value)
{
	const struct doc_instance *instance = value != NULL ? value->instance : NULL;

	if (instance == NULL || !instance->in_array || value->name == NULL ||
		strncmp(value->name, instance->name, strlen(instance->name)) != 0)
		return NULL;
	return weir_base_doc_format(
		value->doc, "%s%s", instance->array, value->name + strlen(instance->name));
}
