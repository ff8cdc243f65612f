/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree against the schema: kinds, ranges, unknown and missing keys, defaults. */
#include "doc_private.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEAR_LENGTH 40 /* names longer than this are not guessed at */

static void check_kind(struct weir_base_doc_value *value, const struct weir_base_doc_key *row,
	enum weir_base_doc_kind kind);

/* Edit distance, a swap of two neighbours counting once, letters of either case alike. */
static unsigned int
distance(const char *a, const char *b)
{
	unsigned int rows[3][NEAR_LENGTH + 1], i, j;
	unsigned int length = (unsigned int)strlen(b);

	for (j = 0; j <= length; j++)
		rows[0][j] = j;
	for (i = 1; a[i - 1] != '\0'; i++) {
		unsigned int *now = rows[i % 3], *above = rows[(i + 2) % 3];
		unsigned int *before = rows[(i + 1) % 3];

		now[0] = i;
		for (j = 1; j <= length; j++) {
			int x = tolower((unsigned char)a[i - 1]);
			int y = tolower((unsigned char)b[j - 1]);
			unsigned int best = above[j - 1] + (x != y);

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
				y == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
	}
	return rows[(i - 1) % 3][length];
}

const char *
weir_base_doc_nearest(
	const char *name, const char *(*get)(const void *arg, unsigned int index), const void *arg)
{
	unsigned int best = 1 + (unsigned int)strlen(name) / 4, i;
	const char *nearest = NULL, *other;

	if (name[0] == '\0' || strlen(name) > NEAR_LENGTH)
		return NULL;
	for (i = 0; (other = get(arg, i)) != NULL; i++) {
		unsigned int far;

		if (strlen(other) > NEAR_LENGTH)
			continue;
		far = distance(name, other);
		/* Half of a short word being wrong is no likeness. */
		if (far <= best && 2 * far < strlen(name) + 1) {
			best = far == 0 ? 0 : far - 1;
			nearest = other;
			if (far == 0)
				break;
		}
	}
	return nearest;
}

const char *
weir_base_doc_kind_noun(enum weir_base_doc_kind kind)
{
	const struct doc_quantity *quantity = weir_base_doc_quantity(kind);

	if (quantity != NULL)
		return quantity->noun;
	switch (kind) {
	case WEIR_BASE_DOC_STRING:
		return "a text";
	case WEIR_BASE_DOC_FILE:
		return "a file name";
	case WEIR_BASE_DOC_BOOL:
		return "true or false";
	case WEIR_BASE_DOC_INT:
		return "an integer";
	case WEIR_BASE_DOC_NUMBER:
		return "a number";
	case WEIR_BASE_DOC_IP4_ADDRESS:
		return "an IPv4 address";
	case WEIR_BASE_DOC_IP6_ADDRESS:
		return "an IPv6 address";
	case WEIR_BASE_DOC_IP_ADDRESS:
		return "an IP address";
	case WEIR_BASE_DOC_IP_PREFIX:
		return "an IP prefix";
	case WEIR_BASE_DOC_MAC_ADDRESS:
		return "a MAC address";
	case WEIR_BASE_DOC_MAP:
		return "a map";
	case WEIR_BASE_DOC_NAMED:
		return "a map from names";
	case WEIR_BASE_DOC_LIST:
		return "a list";
	default:
		return "a value";
	}
}

static const char *
row_at(const void *arg, unsigned int index)
{
	struct doc_rows rows = DOC_ROWS((const struct weir_base_doc_section *)arg);
	const struct weir_base_doc_key *row = weir_base_doc_next_row(&rows);

	while (row != NULL && index-- > 0)
		row = weir_base_doc_next_row(&rows);
	return row != NULL ? row->name : NULL;
}

static const char *
choice_at(const void *arg, unsigned int index)
{
	return ((const char *const *)arg)[index];
}

const char *
weir_base_doc_list_names(struct weir_base_doc *doc,
	const char *(*get)(const void *arg, unsigned int index), const void *arg)
{
	const char *name;
	unsigned int i;
	char *text, *at;
	size_t size = 1;

	for (i = 0; (name = get(arg, i)) != NULL; i++)
		size += strlen(name) + 2;
	text = weir_base_doc_alloc(doc, size);
	if (text == NULL)
		return "";
	at = text;
	for (i = 0; (name = get(arg, i)) != NULL; i++)
		at += sprintf(at, "%s%s", i == 0 ? "" : ", ", name);
	return text;
}

/* What a row wants, in words. */
static const char *
expectation(struct weir_base_doc *doc, const struct weir_base_doc_key *row,
	enum weir_base_doc_kind kind)
{
	const struct doc_quantity *quantity = weir_base_doc_quantity(kind);

	if (kind == WEIR_BASE_DOC_ENUM && row->choices != NULL)
		return weir_base_doc_format(
			doc, "one of: %s", weir_base_doc_list_names(doc, choice_at, row->choices));
	if (quantity != NULL)
		return weir_base_doc_format(
			doc, "%s such as %s", quantity->noun, quantity->example);
	if (kind == WEIR_BASE_DOC_MAP && row->section != NULL)
		return weir_base_doc_format(doc, "a map with keys of: %s",
			weir_base_doc_list_names(doc, row_at, row->section));
	if (row->expected != NULL && kind < WEIR_BASE_DOC_MAP)
		return row->expected;
	return weir_base_doc_kind_noun(kind);
}

/* "'key' in 'section'" as far as it is known. */
static const char *
holder(struct weir_base_doc *doc, const struct weir_base_doc_value *map)
{
	if (map->name == NULL)
		return "";
	return weir_base_doc_format(doc, " in '%s'", weir_base_doc_shown(doc, map->name));
}

static void
unknown_key(const struct weir_base_doc_value *map, const struct weir_base_doc_value *item,
	const struct weir_base_doc_section *section)
{
	struct weir_base_doc *doc = map->doc;
	const char *nearest = weir_base_doc_nearest(item->name, row_at, section);
	const char *guess = "";

	if (nearest != NULL)
		guess = weir_base_doc_format(doc, ", did you mean '%s'?", nearest);
	weir_base_doc_error_name(doc, item, "unknown key '%s'%s%s%s expected one of: %s%s",
		weir_base_doc_shown(doc, item->name), holder(doc, map), guess,
		nearest != NULL ? "" : ";", weir_base_doc_list_names(doc, row_at, section),
		map == doc->root ? ", include" : "");
}

static bool
wrong_form(struct weir_base_doc_value *value, const struct weir_base_doc_key *row,
	enum weir_base_doc_kind kind)
{
	static const char *const forms[] = {"a single value", "a map", "a list"};
	const char *name = value->name != NULL ? value->name : row->name;

	if (weir_base_doc_is_null(value))
		weir_base_doc_error_add(value->doc, value, "'%s' has no value; expected %s",
			weir_base_doc_shown(value->doc, name), expectation(value->doc, row, kind));
	else
		weir_base_doc_error_add(value->doc, value, "'%s' is %s; expected %s",
			weir_base_doc_shown(value->doc, name), forms[value->form],
			expectation(value->doc, row, kind));
	return false;
}

/* The value of a row that was not given, or NULL when there is none. */
static struct weir_base_doc_value *
make_default(const struct weir_base_doc_value *map, const struct weir_base_doc_key *row)
{
	struct weir_base_doc *doc = map->doc;
	struct weir_base_doc_value *value;

	if (row->def == NULL)
		return NULL;
	/* A section whose defaults hold the section itself would have no end. */
	if (doc->default_depth == DOC_MAX_DEPTH) {
		weir_base_doc_error_add(doc, map, "the default of '%s' has no end", row->name);
		return NULL;
	}
	if (row->kind < WEIR_BASE_DOC_MAP) {
		unsigned int line, column;
		const char *file = weir_base_doc_where(map, &line, &column);

		value = weir_base_doc_value_new(doc, file, line, column, DOC_SCALAR);
		if (value == NULL) {
			doc->out_of_memory = true;
			return NULL;
		}
		value->text = row->def;
		value->plain = true;
		value->defaulted = true;
		value->instance = map->instance;
	} else {
		value = weir_base_doc_parse(doc, map->file, row->def, strlen(row->def), map);
		if (value == NULL)
			return NULL;
	}
	value->name = row->name;
	weir_base_doc_where(map, &value->name_line, &value->name_column);
	doc->default_depth++;
	check_kind(value, row, row->kind);
	doc->default_depth--;
	return value;
}

static void
complete(struct weir_base_doc_value *map, const struct weir_base_doc_section *section)
{
	struct doc_rows rows = DOC_ROWS(section);
	const struct weir_base_doc_key *row;
	struct weir_base_doc *doc = map->doc;
	unsigned int nb_rows = 0, i;

	while (weir_base_doc_next_row(&rows) != NULL)
		nb_rows++;
	map->defaults =
		weir_base_doc_alloc(doc, (nb_rows + 1) * sizeof(struct weir_base_doc_value *));
	if (map->defaults == NULL)
		return;
	rows = (struct doc_rows)DOC_ROWS(section);
	for (i = 0; (row = weir_base_doc_next_row(&rows)) != NULL; i++) {
		if (weir_base_doc_find(map, row->name) != NULL)
			continue;
		map->defaults[i] = make_default(map, row);
		if ((row->flags & WEIR_BASE_DOC_REQUIRED) && !doc->incomplete)
			weir_base_doc_error_add(doc, map, "key '%s' is missing%s; expected %s",
				row->name, holder(doc, map), expectation(doc, row, row->kind));
	}
}

void
weir_base_doc_check_map(
	struct weir_base_doc_value *map, const struct weir_base_doc_section *section)
{
	const struct weir_base_doc_key *row;
	unsigned int i;

	map->kind = WEIR_BASE_DOC_MAP;
	map->section = section;
	for (i = 0; i < map->nb_items; i++) {
		struct weir_base_doc_value *item = map->items[i];

		row = weir_base_doc_row(section, item->name);
		if (row != NULL)
			check_kind(item, row, row->kind);
		else
			unknown_key(map, item, section);
	}
	complete(map, section);
}

void
weir_base_doc_empty_from_null(struct weir_base_doc_value *value, enum doc_form form)
{
	if (!weir_base_doc_is_null(value))
		return;
	value->form = (uint8_t)form;
	value->text = NULL;
}

static bool
check_section(struct weir_base_doc_value *value, const struct weir_base_doc_key *row,
	enum weir_base_doc_kind kind)
{
	weir_base_doc_empty_from_null(value, DOC_MAP);
	if (value->form != DOC_MAP)
		return wrong_form(value, row, kind);
	if (row->section != NULL)
		weir_base_doc_check_map(value, row->section);
	return true;
}

static bool
check_named(struct weir_base_doc_value *value, const struct weir_base_doc_key *row)
{
	unsigned int i;

	weir_base_doc_empty_from_null(value, DOC_MAP);
	if (value->form != DOC_MAP)
		return wrong_form(value, row, WEIR_BASE_DOC_NAMED);
	for (i = 0; i < value->nb_items; i++) {
		if (value->items[i]->name[0] == '\0')
			weir_base_doc_error_name(value->doc, value->items[i],
				"an empty name; expected a name of at least one character");
		check_kind(value->items[i], row, row->item);
	}
	return true;
}

static bool
check_list(struct weir_base_doc_value *value, const struct weir_base_doc_key *row)
{
	unsigned int i;

	weir_base_doc_empty_from_null(value, DOC_LIST);
	if (value->form == DOC_MAP)
		return wrong_form(value, row, WEIR_BASE_DOC_LIST);
	if (value->form == DOC_SCALAR && weir_base_doc_wrap(value) != 0)
		return false;
	for (i = 0; i < value->nb_items; i++)
		check_kind(value->items[i], row, row->item);
	return true;
}

static bool
check_file(struct weir_base_doc_value *value, const struct weir_base_doc_key *row)
{
	struct weir_base_doc *doc = value->doc;
	struct stat status;

	if (value->text[0] == '\0') {
		weir_base_doc_error_add(doc, value, "an empty file name; expected %s",
			expectation(doc, row, WEIR_BASE_DOC_FILE));
		return false;
	}
	value->path = weir_base_doc_resolve(
		doc, value->origin != NULL ? value->origin : value->file, value->text);
	if (!(row->flags & WEIR_BASE_DOC_MUST_EXIST))
		return true;
	if (stat(value->path, &status) != 0 || access(value->path, R_OK) != 0)
		weir_base_doc_error_add(doc, value,
			"cannot open '%s': %s; expected a file that can be read", value->path,
			strerror(errno));
	else if (S_ISDIR(status.st_mode))
		weir_base_doc_error_add(
			doc, value, "'%s' is a directory; expected a file", value->path);
	else
		return true;
	return false;
}

static bool
check_enum(struct weir_base_doc_value *value, const struct weir_base_doc_key *row)
{
	const char *nearest;
	unsigned int i;

	for (i = 0; row->choices[i] != NULL; i++) {
		if (strcmp(row->choices[i], value->text) == 0) {
			value->u64 = i;
			value->i64 = i;
			value->f64 = i;
			return true;
		}
	}
	nearest = weir_base_doc_nearest(value->text, choice_at, row->choices);
	weir_base_doc_error_add(value->doc, value,
		"'%s' is not known for '%s'%s expected one of: %s",
		weir_base_doc_shown(value->doc, value->text), row->name,
		nearest == NULL ? ";"
				: weir_base_doc_format(value->doc, ", did you mean '%s'?", nearest),
		weir_base_doc_list_names(value->doc, choice_at, row->choices));
	return false;
}

int
weir_base_doc_to_bool(const char *text)
{
	static const char *const names[] = {"false", "true", "no", "yes", "off", "on"};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcasecmp(text, names[i]) == 0)
			return (int)(i & 1);
	}
	return -1;
}

static bool
check_bool(struct weir_base_doc_value *value)
{
	int truth = weir_base_doc_to_bool(value->text);

	if (truth < 0) {
		weir_base_doc_error_add(value->doc, value,
			"'%s' is neither true nor false; expected true or false",
			weir_base_doc_shown(value->doc, value->text));
		return false;
	}
	value->u64 = (uint64_t)truth;
	value->i64 = truth;
	value->f64 = truth;
	return true;
}

static bool
check_scalar(struct weir_base_doc_value *value, const struct weir_base_doc_key *row,
	enum weir_base_doc_kind kind)
{
	const struct doc_quantity *quantity = weir_base_doc_quantity(kind);

	if (value->form != DOC_SCALAR || weir_base_doc_is_null(value))
		return wrong_form(value, row, kind);
	if (quantity != NULL)
		return weir_base_doc_read_quantity(value, row, quantity);
	switch (kind) {
	case WEIR_BASE_DOC_FILE:
		return check_file(value, row);
	case WEIR_BASE_DOC_BOOL:
		return check_bool(value);
	case WEIR_BASE_DOC_INT:
		return weir_base_doc_read_int(value, row);
	case WEIR_BASE_DOC_NUMBER:
		return weir_base_doc_read_number(value, row);
	case WEIR_BASE_DOC_ENUM:
		return row->choices == NULL || check_enum(value, row);
	case WEIR_BASE_DOC_STRING:
		return true;
	default:
		return weir_base_doc_read_address(value, kind);
	}
}

static void
check_kind(struct weir_base_doc_value *value, const struct weir_base_doc_key *row,
	enum weir_base_doc_kind kind)
{
	bool good;

	value->kind = kind;
	switch (kind) {
	case WEIR_BASE_DOC_MAP:
		good = check_section(value, row, kind);
		break;
	case WEIR_BASE_DOC_NAMED:
		good = check_named(value, row);
		break;
	case WEIR_BASE_DOC_LIST:
		good = check_list(value, row);
		break;
	case WEIR_BASE_DOC_ANY:
		good = true;
		break;
	default:
		good = check_scalar(value, row, kind);
		if (good && row->check != NULL && !row->check(value->text)) {
			weir_base_doc_error_add(value->doc, value,
				"'%s' is not allowed here; expected %s",
				weir_base_doc_shown(value->doc, value->text),
				expectation(value->doc, row, kind));
			good = false;
		}
		break;
	}
	if (good)
		return;
	/* A value that was refused reads as zero, not as half of what stood there. */
	value->u64 = 0;
	value->i64 = 0;
	value->f64 = 0;
	value->length = 0;
}

void
weir_base_doc_check_value(struct weir_base_doc_value *value, const struct weir_base_doc_key *row)
{
	check_kind(value, row, row->kind);
}
