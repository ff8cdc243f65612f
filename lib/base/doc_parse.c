/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * YAML text to a tree of values. The parser's events are followed, not its
 * document tree: so that depth, size and duplicate keys are ours to judge, and
 * an error does not lose what stands before it.
 */
#include "doc_private.h"

#include <stdlib.h>
#include <string.h>

#include <libfyaml.h>

/* More brackets than closing ones, in quotes or not: no text of sense has as many. */
#define MAX_OPEN 10000

/* A map or list that is open. */
struct level {
	struct weir_base_doc_value *value;
	const char *key; /* maps: key that waits for its value, NULL: a key is next */
	unsigned int key_line, key_column;
	bool skip; /* the key was refused, and its value with it */
};

/* Where something stands, from 1. */
struct place {
	unsigned int line, column;
};

struct builder {
	struct weir_base_doc *doc;
	const char *file;
	const struct weir_base_doc_value *place;
	struct weir_base_doc_value *root;
	struct level levels[DOC_MAX_DEPTH];
	unsigned int depth;
	unsigned int nb_documents;
	const char *text;
	size_t size;
	struct place end; /* of the text */
	bool failed;      /* an error that makes the tree unusable */
};

static void say(struct builder *builder, unsigned int line, unsigned int column, const char *format,
	...) __attribute__((format(printf, 4, 5)));

/*
 * Where an event's token begins: libfyaml counts from 0, and from behind a
 * quote or a star. What is not written at all (nothing behind a key) stands
 * where its key is.
 */
static struct place
place_of(const struct builder *builder, struct fy_event *event)
{
	const struct level *level = &builder->levels[builder->depth > 0 ? builder->depth - 1 : 0];
	const struct fy_mark *mark = fy_event_start_mark(event);
	enum fy_scalar_style style = FYSS_PLAIN;
	struct place place = {1, 1};

	if (event->type == FYET_SCALAR && event->scalar.value != NULL)
		style = fy_token_scalar_style(event->scalar.value);
	if (mark != NULL) {
		place.line = (unsigned int)mark->line + 1;
		place.column = (unsigned int)mark->column + 1;
		if (place.column > 1 &&
			(style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED ||
				event->type == FYET_ALIAS))
			place.column--;
	} else if (builder->depth > 0 && level->key != NULL) {
		place.line = level->key_line;
		place.column = level->key_column;
	} else if (builder->depth > 0) {
		place.line = level->value->line;
		place.column = level->value->column;
	}
	return place;
}

static void
say(struct builder *builder, unsigned int line, unsigned int column, const char *format, ...)
{
	va_list args;

	if (builder->place != NULL)
		builder->file = weir_base_doc_where(builder->place, &line, &column);
	va_start(args, format);
	weir_base_doc_error_place(builder->doc, builder->file, line, column, format, args);
	va_end(args);
}

static void
duplicate_key(struct weir_base_doc_value *first, struct weir_base_doc_value *again)
{
	weir_base_doc_error_name(again->doc, again,
		"key '%s' is given twice, first on line %u; expected each key once",
		weir_base_doc_shown(again->doc, again->name), first->name_line);
}

/* Put a finished value where it belongs; false when there is no memory. */
static bool
attach(struct builder *builder, struct weir_base_doc_value *value)
{
	struct level *level;

	if (builder->depth == 0) {
		builder->root = value;
		return true;
	}
	level = &builder->levels[builder->depth - 1];
	if (level->value->form == DOC_MAP) {
		if (level->key == NULL) {
			/* A map or list in the place of a key. */
			say(builder, value->line, value->column,
				"a map or list cannot be a key; expected a name");
			level->key = "?";
			level->skip = true;
			return true;
		}
		value->name = level->key;
		value->name_line = level->key_line;
		value->name_column = level->key_column;
		level->key = NULL;
		if (level->skip)
			return true;
	}
	return weir_base_doc_append(level->value, value) == 0;
}

static struct weir_base_doc_value *
new_value(struct builder *builder, struct place at, enum doc_form form)
{
	unsigned int line = at.line, column = at.column;
	struct weir_base_doc_value *value;
	const char *file = builder->file;

	if (builder->place != NULL)
		file = weir_base_doc_where(builder->place, &line, &column);
	value = weir_base_doc_value_new(builder->doc, file, line, column, form);
	if (value == NULL) {
		builder->failed = true;
		if (!builder->doc->out_of_memory)
			say(builder, line, column, "too large: more than %u values",
				DOC_MAX_VALUES);
		return NULL;
	}
	value->defaulted = builder->place != NULL;
	return value;
}

/* Anchors do no harm, but tags change what a value means. */
static void
refuse_tag(struct builder *builder, struct fy_token *tag)
{
	const struct fy_mark *mark;
	size_t length = 0;
	const char *text;
	char *copy;

	if (tag == NULL)
		return;
	mark = fy_token_start_mark(tag);
	text = fy_token_get_text(tag, &length);
	copy = weir_base_doc_copy(
		builder->doc, text != NULL ? text : "", text != NULL ? length : 0);
	if (copy == NULL)
		return;
	say(builder, mark != NULL ? (unsigned int)mark->line + 1 : 1,
		mark != NULL ? (unsigned int)mark->column + 1 : 1,
		"tag '%s' is not supported; expected the value alone",
		weir_base_doc_shown(builder->doc, copy));
}

static void
too_deep(struct builder *builder, struct place at)
{
	say(builder, at.line, at.column,
		"nested too deeply; expected at most %u levels of maps and lists", DOC_MAX_DEPTH);
}

static void
open_level(struct builder *builder, struct place at, enum doc_form form)
{
	struct weir_base_doc_value *value = new_value(builder, at, form);

	if (value == NULL)
		return;
	if (builder->depth == DOC_MAX_DEPTH) {
		too_deep(builder, at);
		builder->failed = true;
		return;
	}
	builder->levels[builder->depth] = (struct level){.value = value};
	builder->depth++;
}

static void
close_level(struct builder *builder)
{
	struct weir_base_doc_value *value;

	if (builder->depth == 0)
		return;
	value = builder->levels[--builder->depth].value;
	if (value->form == DOC_MAP && weir_base_doc_index(value, duplicate_key) != 0)
		builder->failed = true;
	if (!attach(builder, value))
		builder->failed = true;
}

static void
add_scalar(struct builder *builder, struct fy_event *event, struct place at)
{
	struct level *level = builder->depth > 0 ? &builder->levels[builder->depth - 1] : NULL;
	struct fy_token *token = event->scalar.value;
	struct weir_base_doc_value *value;
	size_t length = 0;
	char *copy;

	/* No token: nothing is written. */
	copy = token == NULL ? weir_base_doc_copy(builder->doc, "", 0)
			     : weir_base_doc_scalar_text(
				       builder->doc, builder->text, builder->size, token, &length);
	if (copy == NULL) {
		builder->failed = true;
		return;
	}
	if (memchr(copy, '\0', length) != NULL)
		say(builder, at.line, at.column, "the text holds a NUL character; expected none");
	refuse_tag(builder, event->scalar.tag);
	if (level != NULL && level->value->form == DOC_MAP && level->key == NULL) {
		level->key = copy;
		level->key_line = at.line;
		level->key_column = at.column;
		level->skip = false;
		return;
	}
	value = new_value(builder, at, DOC_SCALAR);
	if (value == NULL)
		return;
	value->text = copy;
	value->plain = token == NULL || fy_token_scalar_style(token) == FYSS_PLAIN;
	if (!attach(builder, value))
		builder->failed = true;
}

static void
add_alias(struct builder *builder, struct place at)
{
	struct level *level = builder->depth > 0 ? &builder->levels[builder->depth - 1] : NULL;

	/* Its place is left empty, so nothing below can be relied on to be complete. */
	say(builder, at.line, at.column,
		"aliases (*name) are not supported; expected the value itself");
	builder->doc->incomplete = true;
	if (level == NULL || level->value->form != DOC_MAP)
		return;
	if (level->key == NULL) {
		level->key = "?";
		level->skip = true;
	} else {
		level->key = NULL;
	}
}

static void
follow(struct builder *builder, struct fy_event *event)
{
	struct place at = place_of(builder, event);

	switch (event->type) {
	case FYET_DOCUMENT_START:
		if (++builder->nb_documents > 1) {
			say(builder, at.line, at.column,
				"a second document begins here; expected one in a file");
			builder->failed = true;
		}
		break;
	case FYET_MAPPING_START:
		refuse_tag(builder, event->mapping_start.tag);
		open_level(builder, at, DOC_MAP);
		break;
	case FYET_SEQUENCE_START:
		refuse_tag(builder, event->sequence_start.tag);
		open_level(builder, at, DOC_LIST);
		break;
	case FYET_MAPPING_END:
	case FYET_SEQUENCE_END:
		close_level(builder);
		break;
	case FYET_SCALAR:
		add_scalar(builder, event, at);
		break;
	case FYET_ALIAS:
		add_alias(builder, at);
		break;
	default:
		break;
	}
}

/* What the YAML parser complained about, in our list. */
static void
take_errors(struct builder *builder, struct fy_diag *diag)
{
	struct fy_diag_error *error;
	bool any = false;
	void *at = NULL;

	while ((error = fy_diag_errors_iterate(diag, &at)) != NULL) {
		struct place place = {1, 1};

		if (error->type < FYET_ERROR)
			continue;
		if (error->line > 0 && error->column > 0) {
			place.line = (unsigned int)error->line;
			place.column = (unsigned int)error->column;
		}
		/* Without a newline at its end, the end of a text is a line further for libfyaml. */
		if (place.line > builder->end.line)
			place = builder->end;
		say(builder, place.line, place.column, "not valid YAML: %s",
			error->msg != NULL ? error->msg : "(no reason given)");
		any = true;
	}
	if (!any)
		say(builder, 1, 1, "not valid YAML");
}

static void
run_parser(struct builder *builder)
{
	struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_DISABLE_RECYCLING};
	struct fy_parser *parser = NULL;
	struct fy_diag_cfg diag_config;
	struct fy_event *event;
	struct fy_diag *diag;

	fy_diag_cfg_default(&diag_config);
	diag_config.fp = NULL;
	diag_config.colorize = false;
	diag = fy_diag_create(&diag_config);
	if (diag != NULL) {
		fy_diag_set_collect_errors(diag, true);
		config.diag = diag;
		parser = fy_parser_create(&config);
	}
	if (parser == NULL || fy_parser_set_string(parser, builder->text, builder->size) != 0) {
		builder->doc->out_of_memory = true;
		builder->failed = true;
	} else {
		while (!builder->failed && (event = fy_parser_parse(parser)) != NULL) {
			follow(builder, event);
			fy_parser_event_free(parser, event);
		}
		if (fy_parser_get_stream_error(parser)) {
			take_errors(builder, diag);
			builder->failed = true;
		}
	}
	if (parser != NULL)
		fy_parser_destroy(parser);
	if (diag != NULL)
		fy_diag_destroy(diag);
}

/*
 * The first byte that no text file holds, as an error. So are thousands of open
 * brackets: the parser would keep them all in memory before it says anything.
 */
static bool
check_text(struct builder *builder)
{
	const unsigned char *at = (const unsigned char *)builder->text, *end = at + builder->size;
	struct place *place = &builder->end;
	unsigned int nb_open = 0;
	size_t length;

	for (*place = (struct place){1, 1}; at < end; at += length) {
		/* The checker looks ahead; what lies behind the end continues no character. */
		unsigned char ahead[5] = {0};

		memcpy(ahead, at, (size_t)(end - at) < 4 ? (size_t)(end - at) : 4);
		length = weir_base_doc_utf8(ahead);
		if (length == 0) {
			say(builder, place->line, place->column,
				"byte 0x%02x is not valid UTF-8; expected YAML in UTF-8", *at);
			return false;
		}
		if (*at == '\n' || (*at == '\r' && ahead[1] != '\n')) {
			place->line++;
			place->column = 1;
		} else if (*at == 0x7f || (*at < 0x20 && *at != '\t' && *at != '\r')) {
			say(builder, place->line, place->column,
				"byte 0x%02x: this is not a text file; expected YAML in UTF-8",
				*at);
			return false;
		} else {
			place->column++;
		}
		if (*at == '[' || *at == '{')
			nb_open++;
		else if (nb_open > 0 && (*at == ']' || *at == '}'))
			nb_open--;
		if (nb_open > MAX_OPEN) {
			too_deep(builder, *place);
			return false;
		}
	}
	return true;
}

struct weir_base_doc_value *
weir_base_doc_parse(struct weir_base_doc *doc, const char *file, const char *text, size_t size,
	const struct weir_base_doc_value *place)
{
	struct builder builder = {.doc = doc, .file = file, .place = place};

	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		size -= 3;
	}
	if (size == 0)
		return NULL;
	builder.text = text;
	builder.size = size;
	if (!check_text(&builder))
		builder.failed = true;
	else
		run_parser(&builder);
	if (builder.failed) {
		doc->incomplete = true;
		return NULL;
	}
	return builder.root;
}
