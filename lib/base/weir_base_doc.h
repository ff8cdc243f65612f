/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_DOC_H
#define WEIR_BASE_DOC_H

/**
 * @file
 * Description files: YAML (or JSON, which is YAML) checked against a schema.
 *
 * A schema is one table per section. The same tables make the checks, the
 * reference documentation and the JSON Schema, so that they cannot differ.
 * Every value knows its file, line and column; every key is known or refused.
 *
 * A file may hold `include:` at its top level (a file name or a list of them,
 * relative to the including file): maps are merged key by key, lists are
 * appended, and a scalar given twice is refused with both places named.
 *
 * Quantities are a number and a unit without or with one blank between them:
 * `1.2GHz`, `50us`, `9000B`, `10Gb/s`. A unit is required except where the
 * number is 0; SI prefixes are powers of 1000, KiB/MiB/GiB powers of 1024.
 *
 * Where the root's section has them (WEIR_BASE_DOC_PARTS_ROWS), `models:` are
 * parts that are written once, here or in files of their own, and `instances:`
 * puts them in, as often as it says, before anything is checked: what a part
 * holds under a name is then held under the instance's name, a point and that
 * name. In a part `${name}` is its parameter; `index`, `count` and `instance`
 * (the number in an array, how many, the full name) are parameters of each.
 * `$${` stands for `${`. An error in a part has the part's place, and names
 * one of the instances and its parameters. Limits: 65536 instances, 16 within
 * each other.
 *
 * Nothing behind a key is an empty map or list where one is wanted. A key is
 * given once; tags, aliases and second documents are refused. Limits: 16 MiB a
 * file, a million values, 64 levels, 1000 errors listed. A file that several others
 * include is taken once; what is included comes before what the file itself says.
 *
 * A value that was refused reads as 0.
 *
 * Threads: a document is used by one thread at a time. Needs no DPDK.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a value must be. Comments name the accessor that reads it. */
enum weir_base_doc_kind {
	WEIR_BASE_DOC_STRING, /**< any scalar; weir_base_doc_str() */
	WEIR_BASE_DOC_FILE, /**< a path, relative to the file that names it; weir_base_doc_str() gives it resolved */
	WEIR_BASE_DOC_BOOL,     /**< true/false, yes/no, on/off; weir_base_doc_u64() 0 or 1 */
	WEIR_BASE_DOC_INT,      /**< integer, min..max; weir_base_doc_i64(), _u64() */
	WEIR_BASE_DOC_NUMBER,   /**< number; weir_base_doc_f64() */
	WEIR_BASE_DOC_ENUM,     /**< one of choices; weir_base_doc_u64() is its index */
	WEIR_BASE_DOC_DURATION, /**< ps ns us ms s min h; _u64() in ns (rounded), _f64() in seconds */
	WEIR_BASE_DOC_BYTES,    /**< B kB MB GB KiB MiB GiB; _u64() in bytes */
	WEIR_BASE_DOC_BIT_RATE,        /**< b/s kb/s Mb/s Gb/s Tb/s; _u64() in bit/s */
	WEIR_BASE_DOC_PACKET_RATE,     /**< pps kpps Mpps Gpps; _f64() in packets/s */
	WEIR_BASE_DOC_FREQUENCY,       /**< Hz kHz MHz GHz; _f64() in Hz, _u64() rounded */
	WEIR_BASE_DOC_CYCLES,          /**< cycles kcycles Mcycles; _f64(), _u64() */
	WEIR_BASE_DOC_CYCLES_PER_BYTE, /**< cycles/B; _f64() */
	WEIR_BASE_DOC_IP4_ADDRESS,     /**< a.b.c.d; _bytes(), 4 in network order */
	WEIR_BASE_DOC_IP6_ADDRESS,     /**< RFC 4291 text; _bytes(), 16 */
	WEIR_BASE_DOC_IP_ADDRESS,      /**< either; _bytes(), _length() 4 or 16 */
	WEIR_BASE_DOC_IP_PREFIX, /**< either with /length, host bits zero; _bytes(), _length(), _u64() the prefix length */
	WEIR_BASE_DOC_MAC_ADDRESS, /**< 00:11:22:33:44:55; _bytes(), 6 */
	WEIR_BASE_DOC_MAP,         /**< a map with the keys of a section */
	WEIR_BASE_DOC_NAMED, /**< a map from names of the user's choice to items; weir_base_doc_name() of an item */
	WEIR_BASE_DOC_LIST, /**< a list of items; one scalar alone counts as a list of one */
	WEIR_BASE_DOC_ANY,  /**< whatever it is, unchecked; weir_base_doc_json() */
};

/** Flags of a key. */
enum {
	WEIR_BASE_DOC_REQUIRED = 1 << 0,   /**< must be given */
	WEIR_BASE_DOC_MUST_EXIST = 1 << 1, /**< FILE: must be there and readable */
};

struct weir_base_doc;       /* a loaded file, with what it includes */
struct weir_base_doc_value; /* one value of it, owned by the document */
struct weir_base_doc_section;

/**
 * One key of a section: a row of a schema table. A row whose name is NULL ends the table; one whose name is "" stands for the
 * rows of its section, see WEIR_BASE_DOC_ROWS_OF().
 */
struct weir_base_doc_key {
	const char *name;             /**< the key */
	enum weir_base_doc_kind kind; /**< what its value must be */
	uint32_t flags;               /**< WEIR_BASE_DOC_REQUIRED ... */
	const char *def;  /**< value when not given, as one would write it; NULL: none */
	const char *help; /**< one or two sentences for the reference documentation */
	double min;       /**< smallest number allowed, when max > min, in the kind's own base unit
				       * (seconds, bytes, bit/s, packets/s, Hz, cycles) */
	double max;       /**< largest number allowed */
	const char *const *choices; /**< ENUM: NULL-terminated */
	enum weir_base_doc_kind
		item; /**< LIST, NAMED: kind of the items (with choices, min, max, section as above) */
	const struct weir_base_doc_section *section; /**< MAP, or items that are MAP */
	bool (*check)(const char *text);             /**< scalars: a further test, or NULL */
	const char *expected; /**< what check() wants, in words: "expected ..." */
};

/** A section: a map with known keys. */
struct weir_base_doc_section {
	const char *
		name; /**< its title in the documentation, and its name in the JSON Schema's $defs: unique */
	const char *help;                     /**< what the section is for */
	const struct weir_base_doc_key *keys; /**< rows, the last with name NULL */
};

/**
 * In a table: the rows of @p other, a section that several have in common, stand here. Those are keys only, and not rows of
 * yet another one.
 */
#define WEIR_BASE_DOC_ROWS_OF(other)                                                               \
	{                                                                                          \
		.name = "", .section = &(other)                                                    \
	}

/** One of the root's `instances`: weir_base_doc_load() puts it in, no one else needs to read it. */
extern const struct weir_base_doc_section weir_base_doc_instance;

/**
 * Rows of a root section that make it know parts. @p part is the section of a
 * part: keys of the root's own, MAP down to what is NAMED, of which the items
 * are ANY, as parameters may stand there for anything; and
 * WEIR_BASE_DOC_PART_ROWS.
 */
#define WEIR_BASE_DOC_PARTS_ROWS(part)                                                             \
	{.name = "models",                                                                         \
		.kind = WEIR_BASE_DOC_NAMED,                                                       \
		.item = WEIR_BASE_DOC_MAP,                                                         \
		.section = &(part),                                                                \
		.help = "Parts that are written once and may stand in it several times, by "       \
			"name."},                                                                  \
	{                                                                                          \
		.name = "instances", .kind = WEIR_BASE_DOC_NAMED, .item = WEIR_BASE_DOC_MAP,       \
		.section = &weir_base_doc_instance, .help = "What is made of `models`, by name.",  \
	}

/** Rows of the section of a part, see WEIR_BASE_DOC_PARTS_ROWS(). */
#define WEIR_BASE_DOC_PART_ROWS(part)                                                              \
	{.name = "file",                                                                           \
		.kind = WEIR_BASE_DOC_FILE,                                                        \
		.flags = WEIR_BASE_DOC_MUST_EXIST,                                                 \
		.help = "The file that all of it stands in, these keys at its top."},              \
		{.name = "parameters",                                                             \
			.kind = WEIR_BASE_DOC_NAMED,                                               \
			.item = WEIR_BASE_DOC_ANY,                                                 \
			.help = "Its parameters, by name, and what they are by default, which "    \
				"may hold "                                                        \
				"those before it; one that has nothing there must be given. "      \
				"`${NAME}` "                                                       \
				"stands for it in all texts, numbers and quantities of this "      \
				"part."},                                                          \
		{.name = "models",                                                                 \
			.kind = WEIR_BASE_DOC_NAMED,                                               \
			.item = WEIR_BASE_DOC_MAP,                                                 \
			.section = &(part),                                                        \
			.help = "Parts that only this one is made of. They have parameters of "    \
				"their own."},                                                     \
	{                                                                                          \
		.name = "instances", .kind = WEIR_BASE_DOC_NAMED, .item = WEIR_BASE_DOC_ANY,       \
		.help = "As in the file: parts that this one is made of.",                         \
	}

/** One thing wrong with a file. */
struct weir_base_doc_error {
	const char *file;    /**< as the user would name it */
	unsigned int line;   /**< from 1; 0: the file as a whole */
	unsigned int column; /**< from 1 */
	const char *message; /**< what is wrong, what was expected */
};

/**
 * Load a file, with what it includes, and check it against @p root.
 *
 * @return a document, also when there are errors (ask
 *   weir_base_doc_errors()); NULL with errno only when out of memory.
 *   Free it with weir_base_doc_free().
 */
struct weir_base_doc *weir_base_doc_load(
	const char *path, const struct weir_base_doc_section *root);

/** Like weir_base_doc_load(), from @p size bytes of text; @p name stands for the file in errors. */
struct weir_base_doc *weir_base_doc_load_text(
	const char *text, size_t size, const char *name, const struct weir_base_doc_section *root);

/** Free a document and everything that was read from it. NULL is allowed. */
void weir_base_doc_free(struct weir_base_doc *doc);

/** The top-level map; NULL when the file could not be parsed at all. */
const struct weir_base_doc_value *weir_base_doc_root(const struct weir_base_doc *doc);

/**
 * The errors found so far, in the order of files and lines.
 *
 * @param[out] nb_errors  their number
 * @return an array owned by the document, valid until the next error is added
 */
const struct weir_base_doc_error *weir_base_doc_errors(
	const struct weir_base_doc *doc, unsigned int *nb_errors);

/** Add an error at @p value, printf fashion: for rules that a table cannot state, such as "unknown port". */
void weir_base_doc_error_add(struct weir_base_doc *doc, const struct weir_base_doc_value *value,
	const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Like weir_base_doc_error_add(), at line @p line and column @p column of another file that the document names (a route table). */
void weir_base_doc_error_add_at(struct weir_base_doc *doc, const char *file, unsigned int line,
	unsigned int column, const char *format, ...) __attribute__((format(printf, 5, 6)));

/**
 * What the document says that nobody has asked for with the functions below: who has read it all has left that aside. Of a
 * map of which nothing was asked for the map, below the top; what instances of a part have in common once.
 *
 * @return a JSON array of {"key", "file", "line", "column"}, with the key's path from the top, in the order of the document; the
 *   caller owns it. NULL: out of memory
 */
json_t *weir_base_doc_unread_json(const struct weir_base_doc *doc);

/** Leave a key of a map aside, though it was asked for: who has only looked whether it can be had. A key that is not there is ignored. */
void weir_base_doc_leave(const struct weir_base_doc_value *map, const char *key);

/** From here on, until it is called with false, nothing that is asked for counts as read: for who looks whether all is in order, before it is read. */
void weir_base_doc_look(struct weir_base_doc *doc, bool looks);

/** Print every error as "file:line:column: message". */
void weir_base_doc_errors_print(const struct weir_base_doc *doc, FILE *out);

/** The errors as a JSON array of {"file", "line", "column", "message"}; the caller owns it. */
json_t *weir_base_doc_errors_json(const struct weir_base_doc *doc);

/**
 * Value of @p key in a MAP: as given, else its default, else NULL. Also NULL
 * when @p map is NULL, so that calls can be nested. A MAP section that was not
 * given but has defaults inside is NULL: read its keys' defaults from the table by giving it def "{}".
 */
const struct weir_base_doc_value *weir_base_doc_get(
	const struct weir_base_doc_value *map, const char *key);

/** Was @p key given in the file (not by default)? */
bool weir_base_doc_given(const struct weir_base_doc_value *map, const char *key);

/** Number of items of a LIST, NAMED or MAP; 0 for NULL. */
unsigned int weir_base_doc_count(const struct weir_base_doc_value *value);

/** Item @p index of a LIST, NAMED or MAP, in the file's order; NULL beyond the end. */
const struct weir_base_doc_value *weir_base_doc_at(
	const struct weir_base_doc_value *value, unsigned int index);

/** Name under which a map holds this value; NULL for a list's items. */
const char *weir_base_doc_name(const struct weir_base_doc_value *value);

/**
 * Names of the items of a NAMED or MAP, in the file's order, for an error that says what was expected: "a, b or c"; @p none where there are
 * none. They do not count as read. Owned by the document, of which nothing else may be done meanwhile.
 */
const char *weir_base_doc_names(
	struct weir_base_doc *doc, const struct weir_base_doc_value *map, const char *none);

/** The scalar as text; NULL for NULL and for maps and lists. Owned by the document. */
const char *weir_base_doc_str(const struct weir_base_doc_value *value);

/** The number, see enum weir_base_doc_kind for its unit; 0 for NULL. */
uint64_t weir_base_doc_u64(const struct weir_base_doc_value *value);

/** The number, signed. */
int64_t weir_base_doc_i64(const struct weir_base_doc_value *value);

/** The number, as a double. */
double weir_base_doc_f64(const struct weir_base_doc_value *value);

/** True for a BOOL that is true; false for NULL. */
bool weir_base_doc_bool(const struct weir_base_doc_value *value);

/** Address bytes of IP4/IP6/IP_ADDRESS, IP_PREFIX, MAC_ADDRESS; NULL for others. */
const uint8_t *weir_base_doc_bytes(const struct weir_base_doc_value *value);

/** Number of bytes at weir_base_doc_bytes(). */
unsigned int weir_base_doc_length(const struct weir_base_doc_value *value);

/**
 * What a scalar that names something may mean. In an instance of a part that
 * is something of the instance first, then of what it is in, and so on.
 *
 * @param level  0: the nearest
 * @return a full name, owned by the document; NULL beyond the last, which is
 *   the text as it stands there
 */
const char *weir_base_doc_meaning(const struct weir_base_doc_value *value, unsigned int level);

/**
 * Name of the array that a thing is of: its own full name, with a star for
 * what instances of an array are called in it: "blade.*.work". NULL for what
 * is in no array. Owned by the document.
 */
const char *weir_base_doc_array_name(const struct weir_base_doc_value *value);

/** Name of a file that was read: first the document's own, then what it takes in; NULL beyond the last. */
const char *weir_base_doc_file_at(const struct weir_base_doc *doc, unsigned int index);

/** The value as JSON, scalars as the text's own JSON type; the caller owns it. */
json_t *weir_base_doc_json(const struct weir_base_doc_value *value);

/**
 * Where a value stands: a map or list that a key holds, where the key is; a
 * default, where the map stands that lacks it.
 *
 * @param[out] line, column  from 1
 * @return the file's name
 */
const char *weir_base_doc_where(
	const struct weir_base_doc_value *value, unsigned int *line, unsigned int *column);

/** A section's JSON Schema (draft 2020-12) for editors; the caller owns it. */
json_t *weir_base_doc_schema_json(const struct weir_base_doc_section *root, const char *title);

/** A section's reference documentation as Markdown, sections in depth-first order, each once. */
void weir_base_doc_schema_markdown(const struct weir_base_doc_section *root, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
