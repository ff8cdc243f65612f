/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * YAML text to a tree of values. The parser's events are followed, not its
 * document tree: so that depth, size and duplicate keys are ours to judge, and
 * an error does not lose what stands before it.
 *
 * It is libyaml's rather than libfyaml's: Debian 12's (0.7.12) crashes on damaged files, such as tests/fuzz/corpus/fuzz_doc/colons, and
 * misreads some good ones. Of what both read well, tests/base/test_doc_fyaml.c compares values and places.
 */
#include "doc_private.h"

#include <stdlib.h>
#include <string.h>

#include <yaml.h>

/* A map or list that is open. */
struct level {
	struct weir_base_doc_value *value;
	const char *key; /* maps: key that waits for its value, NULL: a key is next */
	unsigned int key_line, key_column;
	bool skip; /* the key was refused, and its value with it */
	bool flow; /* in brackets */
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
	struct doc_text text;
	bool failed; /* an error that makes the tree unusable */
};

static void say(struct builder *builder, unsigned int line, unsigned int column, const char *format,
	...) __attribute__((format(printf, 4, 5)));

/* Nothing behind a key, or behind the dash of a list. */
static bool
is_not_written(const yaml_event_t *event)
{
	return event->type == YAML_SCALAR_EVENT && event->start_mark.index == event->end_mark.index;
}

/*
 * Where an event begins: libyaml counts from 0. A value that is not written
 * stands where its key is, or on the dash or question mark that it is missing
 * behind.
 */
static struct place
place_of(const struct builder *builder, const yaml_event_t *event)
{
	const struct level *level =
		builder->depth > 0 ? &builder->levels[builder->depth - 1] : NULL;
	struct place place = {(unsigned int)event->start_mark.line + 1,
		(unsigned int)event->start_mark.column + 1};

	if (level == NULL || !is_not_written(event))
		return place;
	if (level->key != NULL)
		return (struct place){level->key_line, level->key_column};
	if (!level->flow && place.column > 1)
		place.column--;
	return place;
}

static void
say(struct builder *builder, unsigned int line, unsigned int column, const char *format, ...)
{
	struct doc_place place = {.file = builder->file, .line = line, .column = column};
	va_list args;

	if (builder->place != NULL) {
		place.file = weir_base_doc_where(builder->place, &place.line, &place.column);
		place.instance = builder->place->instance;
	}
	va_start(args, format);
	weir_base_doc_error_place(builder->doc, &place, format, args);
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
	value->instance = builder->place != NULL ? builder->place->instance : NULL;
	return value;
}

/* Anchors do no harm, but tags change what a value means. */
static void
refuse_tag(struct builder *builder, struct place at, const yaml_char_t *tag)
{
	if (tag == NULL)
		return;
	say(builder, at.line, at.column, "tag '%s' is not supported; expected the value alone",
		weir_base_doc_shown(builder->doc, (const char *)tag));
}

static void
open_level(struct builder *builder, struct place at, enum doc_form form, bool flow)
{
	struct weir_base_doc_value *value = new_value(builder, at, form);

	if (value == NULL)
		return;
	if (builder->depth == DOC_MAX_DEPTH) {
		say(builder, at.line, at.column,
			"nested too deeply; expected at most %u levels of maps and lists",
			DOC_MAX_DEPTH);
		builder->failed = true;
		return;
	}
	builder->levels[builder->depth] = (struct level){.value = value, .flow = flow};
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
add_scalar(struct builder *builder, const yaml_event_t *event, struct place at)
{
	struct level *level = builder->depth > 0 ? &builder->levels[builder->depth - 1] : NULL;
	size_t length = event->data.scalar.length;
	struct weir_base_doc_value *value;
	char *copy;

	copy = weir_base_doc_copy(builder->doc, (const char *)event->data.scalar.value, length);
	if (copy == NULL) {
		builder->failed = true;
		return;
	}
	length = weir_base_doc_text_restore(copy, length);
	if (memchr(copy, '\0', length) != NULL)
		say(builder, at.line, at.column, "the text holds a NUL character; expected none");
	refuse_tag(builder, at, event->data.scalar.tag);
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
	value->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
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
follow(struct builder *builder, const yaml_event_t *event)
{
	struct place at = place_of(builder, event);

	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (++builder->nb_documents > 1) {
			say(builder, at.line, at.column,
				"a second document begins here; expected one in a file");
			builder->failed = true;
		}
		break;
	case YAML_MAPPING_START_EVENT:
		refuse_tag(builder, at, event->data.mapping_start.tag);
		open_level(builder, at, DOC_MAP,
			event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE);
		break;
	case YAML_SEQUENCE_START_EVENT:
		refuse_tag(builder, at, event->data.sequence_start.tag);
		open_level(builder, at, DOC_LIST,
			event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE);
		break;
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		close_level(builder);
		break;
	case YAML_SCALAR_EVENT:
		add_scalar(builder, event, at);
		break;
	case YAML_ALIAS_EVENT:
		add_alias(builder, at);
		break;
	default:
		break;
	}
}

static void
take_error(struct builder *builder, const yaml_parser_t *parser)
{
	unsigned int line, column;
	const char *fault;

	builder->failed = true;
	if (parser->error == YAML_MEMORY_ERROR) {
		builder->doc->out_of_memory = true;
		return;
	}
	fault = weir_base_doc_fault(builder->doc, parser, &builder->text, &line, &column);
	say(builder, line, column, "%s", fault);
}

static int
read_text(void *text, unsigned char *buffer, size_t size, size_t *length)
{
	*length = weir_base_doc_text_read(text, buffer, size);
	return 1;
}

static void
run_parser(struct builder *builder)
{
	yaml_parser_t parser;
	bool ended = false;

	if (yaml_parser_initialize(&parser) == 0) {
		builder->doc->out_of_memory = true;
		builder->failed = true;
		return;
	}
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input(&parser, read_text, &builder->text);
	while (!builder->failed && !ended) {
		yaml_event_t event;

		if (yaml_parser_parse(&parser, &event) == 0) {
			take_error(builder, &parser);
			break;
		}
		follow(builder, &event);
		ended = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
}

struct weir_base_doc_value *
weir_base_doc_parse(struct weir_base_doc *doc, const char *file, const char *text, size_t size,
	const struct weir_base_doc_value *place)
{
	struct builder builder = {.doc = doc, .file = file, .place = place};
	const char *fault;

	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		size -= 3;
	}
	if (size == 0)
		return NULL;
	builder.text.start = text;
	builder.text.size = size;
	fault = weir_base_doc_text_check(doc, &builder.text);
	if (fault == NULL) {
		run_parser(&builder);
	} else {
		say(&builder, builder.text.line, builder.text.column, "%s", fault);
		builder.failed = true;
	}
	if (builder.failed) {
		doc->incomplete = true;
		return NULL;
	}
	return builder.root;
}
