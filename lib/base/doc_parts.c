/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts: a piece of a description that is written once, with parameters, and stands in a document as often as `instances` asks for.
 *
 *   models:    {blade: {parameters: {clock: 1GHz}, platform: {cores: {cpu: {clock: "${clock}"}}}}}
 *   instances: {blade: {count: 2}}
 *
 * is, once it is expanded, what one would have written by hand:
 *
 *   platform:  {cores: {blade.0.cpu: {clock: 1GHz}, blade.1.cpu: {clock: 1GHz}}}
 *
 * This comes before the check against the schema: parameters stand for numbers and units too.
 */
#include "doc_private.h"

#include <stdlib.h>
#include <string.h>

/* A part that has a file of its own. */
struct part_file {
	const char *path;
	struct weir_base_doc_value *root; /* NULL: it could not be read */
};

struct expansion {
	struct weir_base_doc *doc;
	struct weir_base_doc_value *root;
	const struct weir_base_doc_key *row; /* of `instances` */
	const struct weir_base_doc_section *part;
	struct part_file *files;
	unsigned int nb_files;
	unsigned int nb_instances;
};

static void expand_instances(struct expansion *expansion, struct weir_base_doc_value *instances,
	const struct doc_instance *outer);

static void
never_twice(struct weir_base_doc_value *first, struct weir_base_doc_value *again)
{
	/* One key is appended, which was not there. */
}

static void
name_taken(struct weir_base_doc_value *first, struct weir_base_doc_value *again)
{
	weir_base_doc_error_name(again->doc, again,
		"the name '%s' is taken, at %s:%u:%u; expected each name once",
		weir_base_doc_shown(again->doc, again->name), first->file, first->name_line,
		first->name_column);
}

/* The map under a key, made where there is none. NULL: something else is there, which the check tells, or no memory. */
static struct weir_base_doc_value *
child_map(struct weir_base_doc_value *map, const char *name)
{
	struct weir_base_doc_value *child = weir_base_doc_find(map, name);

	if (child == NULL) {
		child = weir_base_doc_value_new(
			map->doc, map->file, map->line, map->column, DOC_MAP);
		if (child == NULL)
			return NULL;
		child->name = name;
		child->name_line = map->line;
		child->name_column = map->column;
		if (weir_base_doc_append(map, child) != 0 ||
			weir_base_doc_index(map, never_twice) != 0)
			return NULL;
	}
	weir_base_doc_empty_from_null(child, DOC_MAP);
	return child->form == DOC_MAP ? child : NULL;
}

/* Does a key of a part hold something else than what it is made of? */
static bool
is_about_parts(const char *name)
{
	static const char *const names[] = {"file", "parameters", "models", "instances"};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* What a section's maps hold under names is put into the tree under names that begin with the instance's. */
static void
add_things(const struct weir_base_doc_value *from, struct weir_base_doc_value *into,
	const struct weir_base_doc_section *section, const struct doc_instance *instance)
{
	const struct weir_base_doc_key *row;
	struct weir_base_doc_value *child, *thing;
	unsigned int i, j;

	for (i = 0; i < from->nb_items; i++) {
		row = weir_base_doc_row(section, from->items[i]->name);
		if (row == NULL || is_about_parts(row->name) || from->items[i]->form != DOC_MAP)
			continue;
		child = child_map(into, row->name);
		if (child == NULL)
			continue;
		if (row->kind == WEIR_BASE_DOC_MAP)
			add_things(from->items[i], child, row->section, instance);
		for (j = 0; row->kind == WEIR_BASE_DOC_NAMED && j < from->items[i]->nb_items; j++) {
			thing = weir_base_doc_copy_value(from->items[i]->items[j], instance);
			if (thing == NULL)
				continue;
			thing->name = weir_base_doc_format(
				from->doc, "%s.%s", instance->name, thing->name);
			if (weir_base_doc_append(child, thing) != 0)
				return;
		}
	}
}

/* What was put under names can be found by them. */
static void
index_things(struct weir_base_doc_value *map, const struct weir_base_doc_section *section)
{
	struct doc_rows rows = DOC_ROWS(section);
	const struct weir_base_doc_key *row;
	struct weir_base_doc_value *child;

	while ((row = weir_base_doc_next_row(&rows)) != NULL) {
		child = is_about_parts(row->name) ? NULL : weir_base_doc_find(map, row->name);
		if (child == NULL || child->form != DOC_MAP)
			continue;
		if (row->kind == WEIR_BASE_DOC_MAP)
			index_things(child, row->section);
		else if (row->kind == WEIR_BASE_DOC_NAMED)
			weir_base_doc_index(child, name_taken);
	}
}

/* A part's own file, read once. */
static const struct weir_base_doc_value *
load_part(struct expansion *expansion, const struct weir_base_doc_value *part)
{
	const struct weir_base_doc_value *file = weir_base_doc_find(part, "file");
	const char *path = weir_base_doc_str(file);
	struct part_file *more;
	unsigned int nb_errors, i;

	for (i = 0; i < expansion->nb_files; i++)
		if (strcmp(expansion->files[i].path, path) == 0)
			return expansion->files[i].root;
	more = realloc(expansion->files, (i + 1) * sizeof(*more));
	if (more == NULL) {
		expansion->doc->out_of_memory = true;
		return NULL;
	}
	expansion->files = more;
	more[i].path = path;
	more[i].root = weir_base_doc_load_tree(expansion->doc, path, file, expansion->part);
	expansion->nb_files++;
	if (more[i].root == NULL)
		return NULL;
	nb_errors = expansion->doc->nb_errors;
	weir_base_doc_check_map(more[i].root, expansion->part);
	if (weir_base_doc_find(more[i].root, "file") != NULL)
		weir_base_doc_error_name(expansion->doc, weir_base_doc_find(more[i].root, "file"),
			"'file' in a part's own file; expected the part itself");
	if (expansion->doc->nb_errors > nb_errors)
		more[i].root = NULL;
	return more[i].root;
}

/* What instances that stand in another one are of: a part of that one, else of those around it. NULL: none, which was told. */
static const struct weir_base_doc_value *
find_part(struct expansion *expansion, const struct weir_base_doc_value *instance,
	const struct doc_instance *outer)
{
	const struct weir_base_doc_value *model = weir_base_doc_find(instance, "model");
	const char *name = model != NULL ? weir_base_doc_str(model) : instance->name;
	const struct weir_base_doc_value *part = NULL, *at = model != NULL ? model : instance;
	const struct doc_instance *around;

	for (around = outer; around != NULL && part == NULL; around = around->outer)
		part = around->models != NULL && name != NULL
			       ? weir_base_doc_find(around->models, name)
			       : NULL;
	if (part == NULL || part->form != DOC_MAP) {
		for (around = outer; around->models == NULL && around->outer != NULL;)
			around = around->outer;
		weir_base_doc_error_add(expansion->doc, at, "unknown model '%s'; expected %s",
			weir_base_doc_shown(expansion->doc, name != NULL ? name : ""),
			weir_base_doc_names(expansion->doc, around->models,
				"one of 'models', of which there are none"));
		return NULL;
	}
	if (weir_base_doc_find(part, "file") != NULL) {
		if (part->nb_items > 1)
			weir_base_doc_error_add(expansion->doc, part,
				"'file' beside other keys; expected all of '%s' in its file",
				part->name);
		part = load_part(expansion, part);
	}
	if (part != NULL)
		weir_base_doc_instance_reserved(weir_base_doc_find(part, "parameters"));
	for (around = outer; part != NULL && around != NULL; around = around->outer)
		if (around->part == part) {
			weir_base_doc_error_add(expansion->doc, at,
				"model '%s' is a part of itself; expected no circle", name);
			return NULL;
		}
	return part;
}

/* A name in an array or of one, in which points and stars have a meaning. */
static bool
is_plain_name(const char *name)
{
	return name != NULL && name[0] != '\0' && strpbrk(name, ".*") == NULL;
}

/* Are they some, and can all of them be told apart? */
static bool
check_names(struct weir_base_doc *doc, const struct weir_base_doc_value *names)
{
	const unsigned int nb_errors = doc->nb_errors;
	unsigned int i, j;

	if (names->nb_items == 0)
		weir_base_doc_error_add(
			doc, names, "'names' has none; expected one for each instance");
	for (i = 0; i < names->nb_items; i++) {
		const char *name = weir_base_doc_str(names->items[i]);

		if (!is_plain_name(name))
			weir_base_doc_error_add(doc, names->items[i],
				"a name with '.' or '*', or none; expected one without");
		for (j = 0; name != NULL && j < i; j++)
			if (strcmp(weir_base_doc_str(names->items[j]), name) == 0)
				break;
		if (name != NULL && j < i)
			weir_base_doc_error_add(doc, names->items[i],
				"'%s' stands among the 'names' twice; expected each name once",
				weir_base_doc_shown(doc, name));
	}
	return doc->nb_errors == nb_errors;
}

/* Instance number @p index of an array, or the only one. */
static void
expand_one(struct expansion *expansion, const struct weir_base_doc_value *instance,
	struct doc_instance *of, unsigned int index, unsigned int count)
{
	struct weir_base_doc_value *instances;

	if (++expansion->nb_instances > DOC_MAX_INSTANCES) {
		if (expansion->nb_instances == DOC_MAX_INSTANCES + 1)
			weir_base_doc_error_add(expansion->doc, instance,
				"too many instances; expected at most %u", DOC_MAX_INSTANCES);
		return;
	}
	if (!weir_base_doc_instance_bind(of, instance, index, count))
		return;
	add_things(of->part, expansion->root, expansion->part, of);
	instances = weir_base_doc_find(of->part, "instances");
	instances = instances != NULL ? weir_base_doc_copy_value(instances, of) : NULL;
	if (instances != NULL)
		expand_instances(expansion, instances, of);
}

/* All of an array, or the only one. */
static void
expand_array(struct expansion *expansion, const struct weir_base_doc_value *instance,
	const struct weir_base_doc_value *part, const struct doc_instance *outer)
{
	const struct weir_base_doc_value *names = weir_base_doc_find(instance, "names");
	const bool counted = weir_base_doc_given(instance, "count");
	const unsigned int count =
		names != NULL ? names->nb_items
		: counted ? (unsigned int)weir_base_doc_u64(weir_base_doc_find(instance, "count"))
			  : 1;
	struct weir_base_doc *doc = expansion->doc;
	struct doc_instance *all = weir_base_doc_alloc(doc, (count + 1) * sizeof(*all));
	const char *item;
	unsigned int i;

	weir_base_doc_instance_each(instance, count);
	if (names != NULL && !check_names(doc, names))
		return;
	for (i = 0; all != NULL && i < count && !doc->out_of_memory; i++) {
		item = names != NULL ? weir_base_doc_str(names->items[i])
		       : counted     ? weir_base_doc_format(doc, "%u", i)
				     : NULL;
		all[i] = (struct doc_instance){.outer = outer,
			.part = part,
			.models = weir_base_doc_find(part, "models"),
			.depth = outer->depth + 1};
		weir_base_doc_instance_name(&all[i], instance, item);
		expand_one(expansion, instance, &all[i], i, count);
	}
}

static void
expand_instance(struct expansion *expansion, const struct weir_base_doc_value *instance,
	const struct doc_instance *outer)
{
	const struct weir_base_doc_value *part = find_part(expansion, instance, outer);

	if (part == NULL)
		return;
	if (!is_plain_name(instance->name)) {
		weir_base_doc_error_name(expansion->doc, instance,
			"'%s' has '.' or '*' in it, or is empty; expected a name without",
			weir_base_doc_shown(expansion->doc, instance->name));
		return;
	}
	if (weir_base_doc_given(instance, "count") && weir_base_doc_given(instance, "names")) {
		weir_base_doc_error_add(expansion->doc, weir_base_doc_find(instance, "names"),
			"'names' beside 'count'; expected one of them");
		return;
	}
	weir_base_doc_instance_given(weir_base_doc_find(instance, "parameters"), part);
	weir_base_doc_instance_given(weir_base_doc_find(instance, "each"), part);
	expand_array(expansion, instance, part, outer);
}

/* Instances that stand in another one, or in the document. */
static void
expand_instances(struct expansion *expansion, struct weir_base_doc_value *instances,
	const struct doc_instance *outer)
{
	unsigned int nb_errors = expansion->doc->nb_errors, i;

	weir_base_doc_check_value(instances, expansion->row);
	if (expansion->doc->nb_errors > nb_errors)
		return;
	if (outer->depth == DOC_MAX_NESTED) {
		weir_base_doc_error_add(expansion->doc, instances,
			"instances within instances, more than %u deep", DOC_MAX_NESTED);
		return;
	}
	for (i = 0; i < instances->nb_items && !expansion->doc->out_of_memory; i++)
		expand_instance(expansion, instances->items[i], outer);
}

/* The document is its own outermost instance, without parameters. */
static void
expand_document(struct expansion *expansion, struct weir_base_doc_value *instances,
	const struct weir_base_doc_value *models)
{
	struct doc_instance *document = weir_base_doc_alloc(expansion->doc, sizeof(*document));
	struct weir_base_doc_value *copy;

	if (document == NULL)
		return;
	*document = (struct doc_instance){.name = "", .array = "", .models = models};
	copy = weir_base_doc_copy_value(instances, document);
	if (copy == NULL)
		return;
	expand_instances(expansion, copy, document);
	index_things(expansion->root, expansion->part);
}

/* What is made of it is to be read, in its place. */
static void
mark_read(struct weir_base_doc_value *value)
{
	unsigned int i;

	if (value == NULL)
		return;
	value->is_read = true;
	for (i = 0; i < value->nb_items; i++)
		mark_read(value->items[i]);
}

void
weir_base_doc_expand(struct weir_base_doc_value *root, const struct weir_base_doc_section *section)
{
	const struct weir_base_doc_key *of_models = weir_base_doc_row(section, "models");
	const struct weir_base_doc_key *of_instances = weir_base_doc_row(section, "instances");
	struct weir_base_doc_value *models = weir_base_doc_find(root, "models");
	struct weir_base_doc_value *instances = weir_base_doc_find(root, "instances");
	struct expansion expansion = {.doc = root->doc, .root = root, .row = of_instances};
	const unsigned int nb_errors = root->doc->nb_errors;

	if (of_models == NULL || of_instances == NULL ||
		of_instances->section != &weir_base_doc_instance)
		return;
	expansion.part = of_models->section;
	mark_read(models);
	mark_read(instances);
	if (models != NULL)
		weir_base_doc_check_value(models, of_models);
	if (instances != NULL && root->doc->nb_errors == nb_errors)
		expand_document(&expansion, instances, models);
	free(expansion.files);
}
