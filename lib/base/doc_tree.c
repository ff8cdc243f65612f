/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of values: making it, and finding what is in it. */
#include "doc_private.h"

#include <stdlib.h>
#include <string.h>

struct weir_base_doc_value *
weir_base_doc_value_new(struct weir_base_doc *doc, const char *file, unsigned int line,
	unsigned int column, enum doc_form form)
{
	struct weir_base_doc_value *value;

	if (doc->nb_values >= DOC_MAX_VALUES)
		return NULL;
	value = weir_base_doc_alloc(doc, sizeof(*value));
	if (value == NULL)
		return NULL;
	doc->nb_values++;
	value->doc = doc;
	value->file = file;
	value->line = line;
	value->column = column;
	value->form = (uint8_t)form;
	value->kind = WEIR_BASE_DOC_ANY;
	return value;
}

int
weir_base_doc_append(struct weir_base_doc_value *parent, struct weir_base_doc_value *item)
{
	if (parent->nb_items == parent->max_items) {
		unsigned int more = parent->max_items == 0 ? 4 : 2 * parent->max_items;
		struct weir_base_doc_value **items = weir_base_doc_alloc(
			parent->doc, more * sizeof(struct weir_base_doc_value *));

		if (items == NULL)
			return -1;
		if (parent->nb_items > 0)
			memcpy(items, parent->items, parent->nb_items * sizeof(*items));
		parent->items = items;
		parent->max_items = more;
	}
	parent->items[parent->nb_items++] = item;
	return 0;
}

static int
compare_names(const void *a, const void *b)
{
	const struct weir_base_doc_value *x = *(struct weir_base_doc_value *const *)a;
	const struct weir_base_doc_value *y = *(struct weir_base_doc_value *const *)b;
	int order = strcmp(x->name, y->name);

	/* Of one name the one that came first: length numbers them meanwhile. */
	return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

int
weir_base_doc_index(struct weir_base_doc_value *map,
	void (*twice)(struct weir_base_doc_value *first, struct weir_base_doc_value *again))
{
	unsigned int i, kept = 0, nb_items = 0;

	map->nb_by_name = 0;
	if (map->nb_items == 0)
		return 0;
	map->by_name =
		weir_base_doc_alloc(map->doc, map->nb_items * sizeof(struct weir_base_doc_value *));
	if (map->by_name == NULL)
		return -1;
	for (i = 0; i < map->nb_items; i++) {
		map->items[i]->length = i;
		map->by_name[i] = map->items[i];
	}
	qsort(map->by_name, map->nb_items, sizeof(struct weir_base_doc_value *), compare_names);
	for (i = 0; i < map->nb_items; i++) {
		struct weir_base_doc_value *value = map->by_name[i];

		if (kept > 0 && strcmp(map->by_name[kept - 1]->name, value->name) == 0) {
			twice(map->by_name[kept - 1], value);
			map->items[value->length] = NULL;
		} else {
			map->by_name[kept++] = value;
		}
	}
	for (i = 0; i < map->nb_items; i++) {
		if (map->items[i] != NULL) {
			map->items[i]->length = 0;
			map->items[nb_items++] = map->items[i];
		}
	}
	map->nb_items = nb_items;
	map->nb_by_name = kept;
	return 0;
}

static int
compare_to_name(const void *name, const void *item)
{
	return strcmp(name, (*(struct weir_base_doc_value *const *)item)->name);
}

struct weir_base_doc_value *
weir_base_doc_find(const struct weir_base_doc_value *map, const char *name)
{
	struct weir_base_doc_value **found;

	if (map->form != DOC_MAP || map->nb_by_name == 0)
		return NULL;
	found = bsearch(name, map->by_name, map->nb_by_name, sizeof(struct weir_base_doc_value *),
		compare_to_name);
	return found != NULL ? *found : NULL;
}

int
weir_base_doc_wrap(struct weir_base_doc_value *value)
{
	struct weir_base_doc_value *item = weir_base_doc_value_new(
		value->doc, value->file, value->line, value->column, DOC_SCALAR);

	if (item == NULL)
		return -1;
	item->text = value->text;
	item->plain = value->plain;
	item->instance = value->instance;
	item->origin = value->origin;
	value->form = DOC_LIST;
	value->text = NULL;
	return weir_base_doc_append(value, item);
}
