/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: reading them, what they include, and merging it all into one tree. */
#include "doc_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that is being loaded, and who includes it. */
struct opening {
	const struct opening *by;
	const char *name;
	dev_t device;
	ino_t inode;
	unsigned int depth;
};

/* Files that were loaded: one that two others include is taken once. */
struct seen {
	dev_t device;
	ino_t inode;
};

struct loader {
	struct weir_base_doc *doc;
	const struct weir_base_doc_section *section;
	struct seen *seen;
	unsigned int nb_seen;
};

const char *
weir_base_doc_resolve(struct weir_base_doc *doc, const char *file, const char *path)
{
	const char *slash = strrchr(file, '/');

	if (path[0] == '/' || slash == NULL)
		return path;
	return weir_base_doc_format(doc, "%.*s%s", (int)(slash + 1 - file), file, path);
}

bool
weir_base_doc_is_null(const struct weir_base_doc_value *value)
{
	return value->form == DOC_SCALAR && value->plain &&
	       (value->text[0] == '\0' || strcmp(value->text, "~") == 0 ||
		       strcmp(value->text, "null") == 0);
}

/* All of a file, or NULL with an error added at the value that names it. */
static char *
read_all(struct weir_base_doc *doc, int fd, size_t *size, const char *name,
	const struct weir_base_doc_value *at)
{
	size_t room = 0, used = 0;
	char *text = NULL;

	for (;;) {
		ssize_t got;

		if (used == room) {
			char *more;

			room = room == 0 ? 65536 : 2 * room;
			more = realloc(text, room);
			if (more == NULL) {
				doc->out_of_memory = true;
				break;
			}
			text = more;
		}
		got = read(fd, text + used, room - used);
		if (got == 0) {
			*size = used;
			return text;
		}
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			weir_base_doc_error_add(
				doc, at, "cannot read '%s': %s", name, strerror(errno));
			break;
		}
		used += (size_t)got;
		if (used > DOC_MAX_SIZE) {
			weir_base_doc_error_add(doc, at,
				"'%s' is too large; expected at most %u MiB", name,
				DOC_MAX_SIZE >> 20);
			break;
		}
	}
	free(text);
	return NULL;
}

static int
open_file(struct weir_base_doc *doc, const char *path, struct stat *status,
	const struct weir_base_doc_value *at)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0 || fstat(fd, status) != 0) {
		weir_base_doc_error_add(doc, at,
			"cannot open '%s': %s; expected a file that can be read", path,
			strerror(errno));
	} else if (S_ISDIR(status->st_mode)) {
		weir_base_doc_error_add(doc, at, "'%s' is a directory; expected a file", path);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static void merge_map(struct weir_base_doc_value *into, struct weir_base_doc_value *from,
	const struct weir_base_doc_section *section, const struct weir_base_doc_key *named);

/* Given twice: neither map nor list. */
static void
refuse_twice(const struct weir_base_doc_value *first, const struct weir_base_doc_value *again)
{
	static const char *const forms[] = {"value", "map", "list"};

	if (first->form == again->form)
		weir_base_doc_error_name(again->doc, again,
			"'%s' is given twice, first at %s:%u:%u; expected it once",
			weir_base_doc_shown(again->doc, again->name), first->file, first->name_line,
			first->name_column);
	else
		weir_base_doc_error_name(again->doc, again,
			"'%s' is a %s here, but a %s at %s:%u:%u; expected the same",
			weir_base_doc_shown(again->doc, again->name), forms[again->form],
			forms[first->form], first->file, first->name_line, first->name_column);
}

static void
merge_value(struct weir_base_doc_value *into, struct weir_base_doc_value *from,
	const struct weir_base_doc_key *row, enum weir_base_doc_kind kind)
{
	unsigned int i;

	if (weir_base_doc_is_null(from))
		return;
	if (weir_base_doc_is_null(into)) {
		*into = *from;
		return;
	}
	if (kind == WEIR_BASE_DOC_LIST && into->form == DOC_SCALAR && weir_base_doc_wrap(into) != 0)
		return;
	if (kind == WEIR_BASE_DOC_LIST && from->form == DOC_SCALAR && weir_base_doc_wrap(from) != 0)
		return;
	if (into->form != from->form || into->form == DOC_SCALAR) {
		refuse_twice(into, from);
	} else if (into->form == DOC_LIST) {
		for (i = 0; i < from->nb_items; i++) {
			if (weir_base_doc_append(into, from->items[i]) != 0)
				return;
		}
	} else {
		merge_map(into, from,
			kind == WEIR_BASE_DOC_MAP && row != NULL ? row->section : NULL,
			kind == WEIR_BASE_DOC_NAMED ? row : NULL);
	}
}

static void
never_twice(struct weir_base_doc_value *first, struct weir_base_doc_value *again)
{
	/* Only keys that the other map does not have are appended. */
}

/* Merge a map into another: of a section, or of the names under a row. */
static void
merge_map(struct weir_base_doc_value *into, struct weir_base_doc_value *from,
	const struct weir_base_doc_section *section, const struct weir_base_doc_key *named)
{
	unsigned int i, had = into->nb_items;

	for (i = 0; i < from->nb_items; i++) {
		struct weir_base_doc_value *item = from->items[i];
		struct weir_base_doc_value *old = weir_base_doc_find(into, item->name);
		const struct weir_base_doc_key *row = named;
		enum weir_base_doc_kind kind = WEIR_BASE_DOC_ANY;

		if (row != NULL) {
			kind = row->item;
		} else {
			row = weir_base_doc_row(section, item->name);
			if (row != NULL)
				kind = row->kind;
		}
		if (old != NULL)
			merge_value(old, item, row, kind);
		else if (weir_base_doc_append(into, item) != 0)
			return;
	}
	if (into->nb_items != had)
		weir_base_doc_index(into, never_twice);
}

static struct weir_base_doc_value *load_file(struct loader *loader, const char *path,
	const struct weir_base_doc_value *at, const struct opening *by);

static void
load_include(struct loader *loader, const struct weir_base_doc_value *name,
	struct weir_base_doc_value **all, const struct opening *by)
{
	struct weir_base_doc_value *more;

	if (name->form != DOC_SCALAR || weir_base_doc_is_null(name) || name->text[0] == '\0') {
		weir_base_doc_error_add(
			loader->doc, name, "expected the name of a file to include");
		return;
	}
	more = load_file(
		loader, weir_base_doc_resolve(loader->doc, name->file, name->text), name, by);
	if (more == NULL)
		return;
	if (*all == NULL)
		*all = more;
	else
		merge_map(*all, more, loader->section, NULL);
}

/* Take "include:" out of the top-level map. */
static struct weir_base_doc_value *
take_include(struct weir_base_doc_value *root)
{
	struct weir_base_doc_value *include = weir_base_doc_find(root, "include");
	unsigned int i, j;

	if (include == NULL)
		return NULL;
	for (i = j = 0; i < root->nb_items; i++) {
		if (root->items[i] != include)
			root->items[j++] = root->items[i];
	}
	root->nb_items = j;
	weir_base_doc_index(root, never_twice);
	return include;
}

/* A file's tree with what it includes, whose keys come first. */
static struct weir_base_doc_value *
finish(struct loader *loader, struct weir_base_doc_value *root, const char *name,
	const struct opening *opening)
{
	struct weir_base_doc_value *include, *all = NULL;
	unsigned int i;

	if (root == NULL || weir_base_doc_is_null(root)) {
		/* A file of comments only; but not one that has been complained about. */
		if (root != NULL || !loader->doc->incomplete)
			weir_base_doc_error_add_at(
				loader->doc, name, 0, 0, "is empty; expected a map");
		loader->doc->incomplete = true;
		return NULL;
	}
	if (root->form != DOC_MAP) {
		weir_base_doc_error_add(loader->doc, root,
			"expected a map ('key: value') at the top of the file, not a %s",
			root->form == DOC_LIST ? "list" : "single value");
		loader->doc->incomplete = true;
		return NULL;
	}
	include = take_include(root);
	if (include == NULL)
		return root;
	if (include->form == DOC_SCALAR) {
		load_include(loader, include, &all, opening);
	} else if (include->form == DOC_LIST) {
		for (i = 0; i < include->nb_items; i++)
			load_include(loader, include->items[i], &all, opening);
	} else {
		weir_base_doc_error_add(loader->doc, include,
			"'include' is a map; expected a file name or a list of them");
	}
	if (all == NULL)
		return root;
	merge_map(all, root, loader->section, NULL);
	/* The top is where the including file begins. */
	all->file = root->file;
	all->line = root->line;
	all->column = root->column;
	return all;
}

/* Says so when a file includes itself, however far round; true then. */
static bool
is_cycle(struct loader *loader, const struct opening *opening, const struct weir_base_doc_value *at)
{
	const struct opening *outer;

	for (outer = opening->by; outer != NULL; outer = outer->by) {
		if (outer->device == opening->device && outer->inode == opening->inode) {
			weir_base_doc_error_add(loader->doc, at,
				"'%s' includes itself%s; expected no cycle", opening->name,
				outer == opening->by ? "" : " by way of others");
			return true;
		}
	}
	if (opening->depth > DOC_MAX_INCLUDE) {
		weir_base_doc_error_add(loader->doc, at,
			"files include each other more than %u deep", DOC_MAX_INCLUDE);
		return true;
	}
	return false;
}

static bool
was_seen(struct loader *loader, const struct opening *opening)
{
	struct seen *more;
	unsigned int i;

	for (i = 0; i < loader->nb_seen; i++) {
		if (loader->seen[i].device == opening->device &&
			loader->seen[i].inode == opening->inode)
			return true;
	}
	more = realloc(loader->seen, (loader->nb_seen + 1) * sizeof(*more));
	if (more == NULL) {
		loader->doc->out_of_memory = true;
		return false;
	}
	loader->seen = more;
	more[loader->nb_seen].device = opening->device;
	more[loader->nb_seen++].inode = opening->inode;
	return false;
}

/*
 * Load a file. NULL with an error added, or without one when the file was
 * taken already.
 */
static struct weir_base_doc_value *
load_file(struct loader *loader, const char *path, const struct weir_base_doc_value *at,
	const struct opening *by)
{
	struct opening opening = {.by = by, .name = path, .depth = by != NULL ? by->depth + 1 : 0};
	struct weir_base_doc *doc = loader->doc;
	struct weir_base_doc_value *root = NULL;
	unsigned int errors_before;
	struct stat status;
	char *text = NULL;
	size_t size = 0;
	int fd;

	fd = open_file(doc, path, &status, at);
	if (fd < 0) {
		doc->incomplete = true;
		return NULL;
	}
	opening.device = status.st_dev;
	opening.inode = status.st_ino;
	if (!is_cycle(loader, &opening, at) && !was_seen(loader, &opening)) {
		text = read_all(doc, fd, &size, path, at);
		if (text == NULL)
			doc->incomplete = true;
	}
	close(fd);
	if (text == NULL)
		return NULL;
	path = weir_base_doc_file(doc, path);
	errors_before = doc->nb_errors;
	root = weir_base_doc_parse(doc, path, text, size, NULL);
	free(text);
	if (root == NULL && (doc->nb_errors != errors_before || doc->out_of_memory))
		return NULL;
	return finish(loader, root, path, &opening);
}

struct weir_base_doc_value *
weir_base_doc_load_tree(struct weir_base_doc *doc, const char *path,
	const struct weir_base_doc_value *at, const struct weir_base_doc_section *section)
{
	struct loader loader = {.doc = doc, .section = section};
	struct weir_base_doc_value *root = load_file(&loader, path, at, NULL);

	free(loader.seen);
	return root;
}

/* The last step: check, and the only way that leads to NULL. */
static struct weir_base_doc *
check(struct weir_base_doc *doc, const struct weir_base_doc_section *section)
{
	if (doc->root != NULL && !doc->out_of_memory)
		weir_base_doc_expand(doc->root, section);
	if (doc->root != NULL && !doc->out_of_memory)
		weir_base_doc_check_map(doc->root, section);
	if (doc->out_of_memory) {
		weir_base_doc_free(doc);
		errno = ENOMEM;
		return NULL;
	}
	return doc;
}

struct weir_base_doc *
weir_base_doc_load(const char *path, const struct weir_base_doc_section *root)
{
	struct weir_base_doc *doc = weir_base_doc_new(path);

	if (doc == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	doc->root = weir_base_doc_load_tree(doc, path, NULL, root);
	return check(doc, root);
}

struct weir_base_doc *
weir_base_doc_load_text(
	const char *text, size_t size, const char *name, const struct weir_base_doc_section *root)
{
	struct weir_base_doc *doc = weir_base_doc_new(name);
	struct loader loader = {.doc = doc, .section = root};

	if (doc == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	if (size > DOC_MAX_SIZE) {
		weir_base_doc_error_add(
			doc, NULL, "is too large; expected at most %u MiB", DOC_MAX_SIZE >> 20);
		return doc;
	}
	name = weir_base_doc_file(doc, name);
	doc->root = weir_base_doc_parse(doc, name, text, size, NULL);
	if (doc->root != NULL || doc->nb_errors == 0)
		doc->root = finish(&loader, doc->root, name, NULL);
	free(loader.seen);
	return check(doc, root);
}
