/* SPDX-License-Identifier: BSD-3-Clause */
/* A document's memory and its list of errors. */
#include "doc_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 16384
#define SHOWN      60 /* bytes of a user's text in a message */

struct doc_block {
	struct doc_block *next;
	size_t used, size;
	_Alignas(16) unsigned char data[];
};

void *
weir_base_doc_alloc(struct weir_base_doc *doc, size_t size)
{
	struct doc_block *block = doc->blocks;
	void *memory;

	size = (size + 15) & ~(size_t)15;
	if (block == NULL || block->size - block->used < size) {
		size_t room = size > BLOCK_SIZE / 4 ? size : BLOCK_SIZE;

		block = calloc(1, sizeof(*block) + room);
		if (block == NULL) {
			doc->out_of_memory = true;
			return NULL;
		}
		block->size = room;
		/* A block made for one large thing is full: keep filling the one before it. */
		if (room == size && doc->blocks != NULL) {
			block->next = doc->blocks->next;
			doc->blocks->next = block;
		} else {
			block->next = doc->blocks;
			doc->blocks = block;
		}
	}
	memory = block->data + block->used;
	block->used += size;
	return memory;
}

char *
weir_base_doc_copy(struct weir_base_doc *doc, const char *text, size_t length)
{
	char *copy = weir_base_doc_alloc(doc, length + 1);

	if (copy != NULL && length > 0)
		memcpy(copy, text, length);
	return copy;
}

size_t
weir_base_doc_utf8(const unsigned char *text)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length, i;
	uint32_t code;

	if (text[0] < 0x80)
		return 1;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	length = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	code = text[0] & (0x7fu >> length);
	for (i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return length;
}

/* Messages go to terminals and into JSON: no control characters, valid UTF-8. */
static void
make_printable(char *text)
{
	unsigned char *at = (unsigned char *)text;

	while (*at != '\0') {
		size_t length = weir_base_doc_utf8(at);

		if (length == 0 || *at < 0x20 || *at == 0x7f) {
			*at = '?';
			length = 1;
		}
		at += length;
	}
}

static const char *
vformat(struct weir_base_doc *doc, const char *format, va_list args)
{
	va_list again;
	char *text;
	int length;

	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length < 0)
		return format;
	text = weir_base_doc_alloc(doc, (size_t)length + 1);
	if (text == NULL)
		return "out of memory";
	vsnprintf(text, (size_t)length + 1, format, args);
	make_printable(text);
	return text;
}

const char *
weir_base_doc_format(struct weir_base_doc *doc, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = vformat(doc, format, args);
	va_end(args);
	return text;
}

const char *
weir_base_doc_shown(struct weir_base_doc *doc, const char *text)
{
	size_t length = strlen(text), keep = SHOWN;

	if (length <= SHOWN)
		return weir_base_doc_format(doc, "%s", text);
	/* Do not cut a character in two. */
	while (keep > SHOWN - 4 && ((unsigned char)text[keep] & 0xc0) == 0x80)
		keep--;
	return weir_base_doc_format(doc, "%.*s...", (int)keep, text);
}

const char *
weir_base_doc_file(struct weir_base_doc *doc, const char *name)
{
	const char **more, *copy;
	unsigned int i;

	for (i = 0; i < doc->nb_files; i++) {
		if (strcmp(doc->files[i], name) == 0)
			return doc->files[i];
	}
	copy = weir_base_doc_copy(doc, name, strlen(name));
	more = realloc(doc->files, (doc->nb_files + 1) * sizeof(*more));
	if (more != NULL)
		doc->files = more;
	if (copy == NULL || more == NULL) {
		doc->out_of_memory = true;
		return "?";
	}
	doc->files[doc->nb_files++] = copy;
	return copy;
}

static unsigned int
file_rank(const struct weir_base_doc *doc, const char *file)
{
	unsigned int i;

	for (i = 0; i < doc->nb_files && doc->files[i] != file; i++)
		;
	return i;
}

static bool
stands_after(const struct weir_base_doc *doc, const struct weir_base_doc_error *a,
	const struct weir_base_doc_error *b)
{
	if (a->file != b->file)
		return file_rank(doc, a->file) > file_rank(doc, b->file);
	if (a->line != b->line)
		return a->line > b->line;
	return a->column > b->column;
}

static bool
grow_errors(struct weir_base_doc *doc)
{
	unsigned int more = doc->max_errors == 0 ? 16 : 2 * doc->max_errors;
	struct weir_base_doc_error *errors;

	if (doc->nb_errors < doc->max_errors)
		return true;
	errors = realloc(doc->errors, more * sizeof(*errors));
	if (errors == NULL) {
		doc->out_of_memory = true;
		return false;
	}
	doc->errors = errors;
	doc->max_errors = more;
	return true;
}

/* An error that was told of an instance. */
struct doc_told {
	struct doc_told *next;
	struct doc_place place;
	const char *message;
};

/* Are two messages the same, but for the names of the instances that they are of? */
static bool
is_alike(const struct doc_told *a, const struct doc_told *b)
{
	const char *x = a->message, *y = b->message;
	const size_t x_length = strlen(a->place.instance->name);
	const size_t y_length = strlen(b->place.instance->name);

	if (a->place.file != b->place.file || a->place.line != b->place.line ||
		a->place.column != b->place.column)
		return false;
	while (*x != '\0' && *y != '\0') {
		if (strncmp(x, a->place.instance->name, x_length) == 0 &&
			strncmp(y, b->place.instance->name, y_length) == 0) {
			x += x_length;
			y += y_length;
		} else if (*x++ != *y++) {
			return false;
		}
	}
	return *x == *y;
}

/* The message, with the instance that it is of; NULL: the same was told of another one. */
static const char *
tell_once(struct weir_base_doc *doc, const struct doc_place *place, const char *message)
{
	struct doc_told *told, *other;

	if (place->instance == NULL)
		return message;
	told = weir_base_doc_alloc(doc, sizeof(*told));
	if (told == NULL)
		return NULL;
	*told = (struct doc_told){doc->told, *place, message};
	for (other = doc->told; other != NULL; other = other->next)
		if (is_alike(told, other))
			return NULL;
	doc->told = told;
	return weir_base_doc_format(
		doc, "%s (in %s)", message, weir_base_doc_instance_told(doc, place->instance));
}

/* Several instances read one table: what is wrong with it is told once. */
static bool
is_listed(const struct weir_base_doc *doc, const struct weir_base_doc_error *error)
{
	unsigned int i;

	for (i = 0; i < doc->nb_errors; i++)
		if (doc->errors[i].file == error->file && doc->errors[i].line == error->line &&
			doc->errors[i].column == error->column &&
			strcmp(doc->errors[i].message, error->message) == 0)
			return true;
	return false;
}

void
weir_base_doc_error_place(
	struct weir_base_doc *doc, const struct doc_place *place, const char *format, va_list args)
{
	struct weir_base_doc_error error = {
		.file = place->file, .line = place->line, .column = place->column};
	unsigned int i;

	if (doc->nb_errors > DOC_MAX_ERRORS || !grow_errors(doc))
		return;
	if (doc->nb_errors == DOC_MAX_ERRORS) {
		/* Behind all others, wherever the one stood that was too many. */
		error.file = doc->errors[doc->nb_errors - 1].file;
		error.line = doc->errors[doc->nb_errors - 1].line;
		error.column = doc->errors[doc->nb_errors - 1].column;
		error.message = "too many errors: the rest is not listed";
		doc->errors[doc->nb_errors++] = error;
		return;
	}
	error.message = tell_once(doc, place, vformat(doc, format, args));
	if (error.message == NULL || is_listed(doc, &error))
		return;
	for (i = doc->nb_errors; i > 0 && stands_after(doc, &doc->errors[i - 1], &error); i--)
		doc->errors[i] = doc->errors[i - 1];
	doc->errors[i] = error;
	doc->nb_errors++;
}

void
weir_base_doc_error_add(
	struct weir_base_doc *doc, const struct weir_base_doc_value *value, const char *format, ...)
{
	struct doc_place place = {.file = doc->nb_files > 0 ? doc->files[0] : "?"};
	va_list args;

	if (value != NULL) {
		place.file = weir_base_doc_where(value, &place.line, &place.column);
		place.instance = value->instance;
	}
	va_start(args, format);
	weir_base_doc_error_place(doc, &place, format, args);
	va_end(args);
}

void
weir_base_doc_error_name(
	struct weir_base_doc *doc, const struct weir_base_doc_value *value, const char *format, ...)
{
	const struct doc_place place = {
		value->file, value->name_line, value->name_column, value->instance};
	va_list args;

	va_start(args, format);
	weir_base_doc_error_place(doc, &place, format, args);
	va_end(args);
}

void
weir_base_doc_error_add_at(struct weir_base_doc *doc, const char *file, unsigned int line,
	unsigned int column, const char *format, ...)
{
	const struct doc_place place = {
		.file = weir_base_doc_file(doc, file), .line = line, .column = column};
	va_list args;

	va_start(args, format);
	weir_base_doc_error_place(doc, &place, format, args);
	va_end(args);
}

const struct weir_base_doc_error *
weir_base_doc_errors(const struct weir_base_doc *doc, unsigned int *nb_errors)
{
	/* Never say that all is well when the list could not be kept. */
	if (doc->nb_errors == 0 && doc->out_of_memory) {
		*nb_errors = 1;
		return &doc->spare;
	}
	*nb_errors = doc->nb_errors;
	return doc->errors;
}

void
weir_base_doc_errors_print(const struct weir_base_doc *doc, FILE *out)
{
	const struct weir_base_doc_error *errors;
	unsigned int nb_errors, i;

	errors = weir_base_doc_errors(doc, &nb_errors);
	for (i = 0; i < nb_errors; i++) {
		if (errors[i].line == 0)
			fprintf(out, "%s: %s\n", errors[i].file, errors[i].message);
		else
			fprintf(out, "%s:%u:%u: %s\n", errors[i].file, errors[i].line,
				errors[i].column, errors[i].message);
	}
}

json_t *
weir_base_doc_errors_json(const struct weir_base_doc *doc)
{
	const struct weir_base_doc_error *errors;
	json_t *list = json_array();
	unsigned int nb_errors, i;

	errors = weir_base_doc_errors(doc, &nb_errors);
	for (i = 0; i < nb_errors; i++) {
		char *file = strdup(errors[i].file);

		/* A path may be any bytes; JSON may not. */
		if (file != NULL)
			make_printable(file);
		json_array_append_new(
			list, json_pack("{s:s, s:I, s:I, s:s}", "file", file != NULL ? file : "?",
				      "line", (json_int_t)errors[i].line, "column",
				      (json_int_t)errors[i].column, "message", errors[i].message));
		free(file);
	}
	return list;
}

struct weir_base_doc *
weir_base_doc_new(const char *name)
{
	struct weir_base_doc *doc = calloc(1, sizeof(*doc));

	if (doc == NULL)
		return NULL;
	doc->spare.file = weir_base_doc_file(doc, name);
	doc->spare.message = "out of memory";
	return doc;
}

void
weir_base_doc_free(struct weir_base_doc *doc)
{
	if (doc == NULL)
		return;
	while (doc->blocks != NULL) {
		struct doc_block *next = doc->blocks->next;

		free(doc->blocks);
		doc->blocks = next;
	}
	free(doc->files);
	free(doc->errors);
	free(doc);
}
