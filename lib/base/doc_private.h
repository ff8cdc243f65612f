/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_DOC_PRIVATE_H
#define WEIR_BASE_DOC_PRIVATE_H

/*
 * What the parts of the description file share.
 *
 *   doc.c          memory and errors of a document
 *   doc_parse.c    YAML text to a tree of values
 *   doc_text.c     the text that the YAML parser reads
 *   doc_fault.c    what the YAML parser complains about
 *   doc_tree.c     the tree itself
 *   doc_load.c     files, includes, merging
 *   doc_parts.c    parts and their instances
 *   doc_instance.c what instances are called, and their parameters
 *   doc_copy.c     copies of a part, with parameters put in
 *   doc_check.c    the tree against the schema
 *   doc_number.c   numbers and their units
 *   doc_address.c  IP and MAC addresses
 *   doc_value.c    the accessors
 *   doc_unread.c   what nobody has asked for
 *   doc_schema.c   JSON Schema
 *   doc_markdown.c reference documentation
 */

#include <stdarg.h>

#include "weir_base_doc.h"

#pragma GCC visibility push(hidden)

#define DOC_MAX_DEPTH   64          /* levels of maps and lists */
#define DOC_MAX_VALUES  1000000     /* values of a document, with its includes */
#define DOC_MAX_SIZE    (16u << 20) /* bytes of a file */
#define DOC_MAX_ERRORS  1000        /* listed; the rest is only counted */
#define DOC_MAX_INCLUDE 32          /* files including each other */

#define DOC_MAX_INSTANCES 65536 /* of parts, in all */
#define DOC_MAX_NESTED    16    /* instances within each other */

enum doc_form {
	DOC_SCALAR,
	DOC_MAP,
	DOC_LIST,
};

/* One of those that `instances` asks for; the document itself is the outermost. */
struct doc_instance {
	const struct doc_instance *outer;         /* NULL: the document */
	const char *name;                         /* in full, rack.1.blade.3 */
	const char *array;                        /* likewise, with stars in it: rack.*.blade.* */
	bool in_array;                            /* there are stars */
	const struct weir_base_doc_value *part;   /* what it is of */
	const struct weir_base_doc_value *models; /* parts that this one defines, or NULL */
	const struct weir_base_doc_value **parameters; /* values, by name */
	unsigned int nb_parameters, nb_own; /* the first nb_own are what every instance has */
	unsigned int depth;
};

struct weir_base_doc_value {
	struct weir_base_doc *doc;
	const char *file;
	const struct doc_instance *instance; /* that it is a part of; NULL: of the document */
	const char *origin; /* of a parameter: the file that its text stands in; else NULL */
	const char *name;   /* the key that holds it, NULL in a list */
	const char *text;   /* scalars */
	const char *path;   /* FILE: resolved */
	unsigned int line, column;
	unsigned int name_line, name_column;
	uint8_t form;
	bool plain;     /* a scalar without quotes: may stand for a number, true, null */
	bool defaulted; /* stands in the schema, not in the file */
	bool is_read;   /* somebody has asked for it */
	unsigned int nb_items, max_items;
	struct weir_base_doc_value **items;
	struct weir_base_doc_value **by_name; /* maps: items in order of names */
	unsigned int nb_by_name;
	const struct weir_base_doc_section *section; /* MAP */
	struct weir_base_doc_value **defaults;       /* MAP: by row of the section */
	enum weir_base_doc_kind kind;
	uint64_t u64;
	int64_t i64;
	double f64;
	uint8_t bytes[16];
	unsigned int length;
};

struct doc_block;
struct doc_told;

struct weir_base_doc {
	struct doc_block *blocks;
	const char **files; /* in the order they were opened: the order of errors */
	unsigned int nb_files;
	struct weir_base_doc_error *errors;
	unsigned int nb_errors, max_errors;
	struct weir_base_doc_error spare; /* tells of the failure to tell */
	struct doc_told *told;            /* errors in instances, to tell alike ones once */
	struct weir_base_doc_value *root;
	unsigned int nb_values;
	unsigned int default_depth; /* defaults within defaults */
	bool out_of_memory;
	bool is_looked_at; /* what is asked for does not count as read */
	bool incomplete;   /* a part could not be read: what is missing may stand there */
};

/* An empty document; name is the first of its files. NULL when out of memory. */
struct weir_base_doc *weir_base_doc_new(const char *name);

/* An allocation that lives as long as the document, zeroed; NULL (and out_of_memory) when there is none. */
void *weir_base_doc_alloc(struct weir_base_doc *doc, size_t size);

/* A copy of length bytes, zero-terminated. */
char *weir_base_doc_copy(struct weir_base_doc *doc, const char *text, size_t length);

/* A string, printf fashion, owned by the document; never NULL. */
const char *weir_base_doc_format(struct weir_base_doc *doc, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A user's text, cut short and without control characters, for a message. */
const char *weir_base_doc_shown(struct weir_base_doc *doc, const char *text);

/* Length of the UTF-8 character at text, 0 when it is not one. Reads up to the first byte that does not fit. */
size_t weir_base_doc_utf8(const unsigned char *text);

/* Name of a file, the same pointer for the same name. */
const char *weir_base_doc_file(struct weir_base_doc *doc, const char *name);

/* Where an error is, and in which instance of a part (or NULL). */
struct doc_place {
	const char *file;
	unsigned int line, column;
	const struct doc_instance *instance;
};

/* Add an error at a place. Alike ones of several instances are told of the first. */
void weir_base_doc_error_place(
	struct weir_base_doc *doc, const struct doc_place *place, const char *format, va_list args);

/* A value's name (unknown keys). */
void weir_base_doc_error_name(struct weir_base_doc *doc, const struct weir_base_doc_value *value,
	const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A new value at a place; NULL when out of memory or of DOC_MAX_VALUES. */
struct weir_base_doc_value *weir_base_doc_value_new(struct weir_base_doc *doc, const char *file,
	unsigned int line, unsigned int column, enum doc_form form);

/* A copy of a value and all below it, in an instance, with its parameters put in. NULL: an error, which was told. */
struct weir_base_doc_value *weir_base_doc_copy_value(
	const struct weir_base_doc_value *value, const struct doc_instance *instance);

/* Parameters of a part are not called as those that every instance has. @p parameters  or NULL */
void weir_base_doc_instance_reserved(const struct weir_base_doc_value *parameters);

/* What an instance gives, or NULL, are parameters of its part. */
void weir_base_doc_instance_given(
	const struct weir_base_doc_value *given, const struct weir_base_doc_value *part);

/* What `each` gives is as many values as there are instances, and not given to all besides. */
void weir_base_doc_instance_each(const struct weir_base_doc_value *instance, unsigned int count);

/* Its full name, and that of the array. @p item  in an array: what it is called there, else NULL */
void weir_base_doc_instance_name(
	struct doc_instance *of, const struct weir_base_doc_value *instance, const char *item);

/* All parameters of an instance that has its name. @return false: an error, which was told */
bool weir_base_doc_instance_bind(struct doc_instance *of,
	const struct weir_base_doc_value *instance, unsigned int index, unsigned int count);

/* "blade.3: clock = 1GHz, cores = 4" */
const char *weir_base_doc_instance_told(
	struct weir_base_doc *doc, const struct doc_instance *instance);

/* Put the parts that `instances` asks for into the tree, if its section knows them. */
void weir_base_doc_expand(
	struct weir_base_doc_value *root, const struct weir_base_doc_section *section);

/* Append an item to a map or list. */
int weir_base_doc_append(struct weir_base_doc_value *parent, struct weir_base_doc_value *item);

/*
 * Put a map's items in order of names. Of several with one name the first
 * stays; for each other one twice() is called, and it leaves the map.
 */
int weir_base_doc_index(struct weir_base_doc_value *map,
	void (*twice)(struct weir_base_doc_value *first, struct weir_base_doc_value *again));

/* An item of a map by name, as given in the file. */
struct weir_base_doc_value *weir_base_doc_find(
	const struct weir_base_doc_value *map, const char *name);

/*
 * Parse text. With place not NULL every value stands where place stands (a default of the schema).
 * NULL when the text has no value at all, or an error (then one was added).
 */
struct weir_base_doc_value *weir_base_doc_parse(struct weir_base_doc *doc, const char *file,
	const char *text, size_t size, const struct weir_base_doc_value *place);

/* A text on its way to the YAML parser. */
struct doc_text {
	const char *start;
	size_t size;
	size_t at;                 /* what was handed over */
	unsigned int part;         /* bytes handed over of what stands for the next one */
	unsigned int line, column; /* found by the check: place of the fault, or of the end */
};

/* What is wrong with the text, at its line and column; NULL: nothing. */
const char *weir_base_doc_text_check(struct weir_base_doc *doc, struct doc_text *text);

/* Hand over the next bytes, at most room of them, for the parser; their number, 0 at the end. */
size_t weir_base_doc_text_read(struct doc_text *text, unsigned char *buffer, size_t room);

/* The character at a place of a text that was checked; the last one when there is none. */
const char *weir_base_doc_text_at(
	const struct doc_text *text, unsigned int line, unsigned int column);

/* The parser's error as a message, and where. */
struct yaml_parser_s;
const char *weir_base_doc_fault(struct weir_base_doc *doc, const struct yaml_parser_s *parser,
	const struct doc_text *text, unsigned int *line, unsigned int *column);

/* Make of a scalar that came of the parser what was written, in place; its length. */
size_t weir_base_doc_text_restore(char *scalar, size_t length);

/* The empty plain scalar, ~ or null: nothing is given. */
bool weir_base_doc_is_null(const struct weir_base_doc_value *value);

/* A path relative to the directory of the file that names it. */
const char *weir_base_doc_resolve(struct weir_base_doc *doc, const char *file, const char *path);

/* A file's tree, with what it includes, not checked yet. NULL: an error at the value that names it. */
struct weir_base_doc_value *weir_base_doc_load_tree(struct weir_base_doc *doc, const char *path,
	const struct weir_base_doc_value *at, const struct weir_base_doc_section *section);

/* Where one is in the rows of a section. */
struct doc_rows {
	const struct weir_base_doc_key *next;
	const struct weir_base_doc_key *behind; /* those of another section; NULL: one is in none */
};

#define DOC_ROWS(section)                                                                          \
	{                                                                                          \
		(section)->keys, NULL                                                              \
	}

/* The next row, also of the sections whose rows stand there; NULL beyond the last. */
const struct weir_base_doc_key *weir_base_doc_next_row(struct doc_rows *rows);

/* Row of a section; NULL: there is none. */
const struct weir_base_doc_key *weir_base_doc_row(
	const struct weir_base_doc_section *section, const char *name);

/* One scalar where a list may stand becomes a list of one. */
int weir_base_doc_wrap(struct weir_base_doc_value *value);

/* Check a map, and all below it, against a section. */
void weir_base_doc_check_map(
	struct weir_base_doc_value *map, const struct weir_base_doc_section *section);

/* Check what a row's key holds. That may be done again: what is wrong is told once. */
void weir_base_doc_check_value(
	struct weir_base_doc_value *value, const struct weir_base_doc_key *row);

/* Nothing behind a key becomes an empty map or list. */
void weir_base_doc_empty_from_null(struct weir_base_doc_value *value, enum doc_form form);

/* "a, b, c" of get(), which returns NULL beyond the last. */
const char *weir_base_doc_list_names(struct weir_base_doc *doc,
	const char *(*get)(const void *arg, unsigned int index), const void *arg);

/* The name most like the given one, NULL when none is near. get() returns NULL beyond the last. */
const char *weir_base_doc_nearest(
	const char *name, const char *(*get)(const void *arg, unsigned int index), const void *arg);

/* Numbers. */
struct doc_unit {
	const char *name;
	uint64_t multiply, divide; /* to the base unit */
};

struct doc_quantity {
	enum weir_base_doc_kind kind;
	const char *noun; /* "a duration" */
	const char *base; /* name of the base unit of min, max and _f64() */
	const char *example;
	uint64_t per_base;            /* _u64() counts this many in one base unit */
	bool whole;                   /* a fraction of what _u64() counts is an error */
	const struct doc_unit *units; /* the last with name NULL */
};

/* NULL for kinds that are no quantity. */
const struct doc_quantity *weir_base_doc_quantity(enum weir_base_doc_kind kind);

/* "ps, ns, us ... or h". */
const char *weir_base_doc_unit_list(const struct doc_quantity *quantity, char *text, size_t size);

/* Convert value->text; errors are added. */
bool weir_base_doc_read_quantity(struct weir_base_doc_value *value,
	const struct weir_base_doc_key *row, const struct doc_quantity *quantity);
bool weir_base_doc_read_number(
	struct weir_base_doc_value *value, const struct weir_base_doc_key *row);
bool weir_base_doc_read_int(struct weir_base_doc_value *value, const struct weir_base_doc_key *row);

/* Does the text read as a decimal number (JSON's idea of it, with a leading + or dot allowed)? */
bool weir_base_doc_is_number(const char *text, bool *integer);

/* A plain text as a double; 0 when it is none. */
double weir_base_doc_to_double(const char *text);

/* Addresses. */
bool weir_base_doc_read_address(struct weir_base_doc_value *value, enum weir_base_doc_kind kind);

/* true/false, yes/no, on/off: 1 or 0; -1 for others. */
int weir_base_doc_to_bool(const char *text);

/* A plain scalar's JSON type by YAML's core schema. */
json_t *weir_base_doc_scalar_json(const char *text, bool plain);

/* What a kind is called in messages and documentation: "an integer". */
const char *weir_base_doc_kind_noun(enum weir_base_doc_kind kind);

#pragma GCC visibility pop

#endif
