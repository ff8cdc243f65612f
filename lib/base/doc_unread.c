/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file says that nobody has asked for: its readers have left it aside. */
#include "doc_private.h"

#include <stdio.h>

struct unread {
	json_t *list;
	json_t *places; /* where those stand that are in the list: instances of a part have one place in common */
	bool out_of_memory;
};

static void
add(struct unread *unread, const struct weir_base_doc_value *value, const char *path)
{
	unsigned int line, column;
	/* A path may be any bytes; JSON may not. */
	const char *file =
		weir_base_doc_format(value->doc, "%s", weir_base_doc_where(value, &line, &column));
	const char *place = weir_base_doc_format(value->doc, "%s:%u:%u", file, line, column);

	if (json_object_get(unread->places, place) != NULL)
		return;
	if (json_object_set_new(unread->places, place, json_true()) < 0 ||
		json_array_append_new(
			unread->list, json_pack("{s:s, s:s, s:i, s:i}", "key", path, "file", file,
					      "line", (int)line, "column", (int)column)) < 0)
		unread->out_of_memory = true;
}

static bool
was_any_read(const struct weir_base_doc_value *value)
{
	unsigned int i;

	for (i = 0; i < value->nb_items; i++)
		if (value->items[i]->is_read)
			return true;
	return value->nb_items == 0;
}

static void
find_unread(struct unread *unread, const struct weir_base_doc_value *value, const char *path)
{
	const struct weir_base_doc_value *item;
	const char *name;
	unsigned int i;

	for (i = 0; i < value->nb_items; i++) {
		item = value->items[i];
		name = item->name != NULL ? item->name : weir_base_doc_format(value->doc, "%u", i);
		if (path[0] != '\0')
			name = weir_base_doc_format(value->doc, "%s.%s", path, name);
		if (item->is_read && (value == value->doc->root || was_any_read(item)))
			find_unread(unread, item, name);
		else
			add(unread, item, name);
	}
}

void
weir_base_doc_leave(const struct weir_base_doc_value *map, const char *key)
{
	struct weir_base_doc_value *value = weir_base_doc_find(map, key);

	if (value != NULL)
		value->is_read = false;
}

void
weir_base_doc_look(struct weir_base_doc *doc, bool looks)
{
	doc->is_looked_at = looks;
}

json_t *
weir_base_doc_unread_json(const struct weir_base_doc *doc)
{
	struct unread unread = {.list = json_array(), .places = json_object()};

	if (unread.list == NULL || unread.places == NULL)
		unread.out_of_memory = true;
	else if (doc->root != NULL)
		find_unread(&unread, doc->root, "");
	json_decref(unread.places);
	if (unread.out_of_memory) {
		json_decref(unread.list);
		return NULL;
	}
	return unread.list;
}
