/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_BASE_DOC_UTIL_H
#define WEIR_TESTS_BASE_DOC_UTIL_H

/* Loading texts and looking at their errors. Include after cmocka.h. */

#include <stdlib.h>

#include "doc_fixture.h"

static inline struct weir_base_doc *
load(const char *text)
{
	struct weir_base_doc *doc =
		weir_base_doc_load_text(text, strlen(text), "t.yaml", &fixture_root);

	assert_non_null(doc);
	return doc;
}

static inline unsigned int
nb_errors(const struct weir_base_doc *doc)
{
	unsigned int nb;

	weir_base_doc_errors(doc, &nb);
	return nb;
}

/* All errors as weir_base_doc_errors_print() shows them, to be freed. */
static inline char *
print_errors(const struct weir_base_doc *doc)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	weir_base_doc_errors_print(doc, out);
	fclose(out);
	return text;
}

static inline struct weir_base_doc *
load_good(const char *text)
{
	struct weir_base_doc *doc = load(text);

	if (nb_errors(doc) != 0) {
		weir_base_doc_errors_print(doc, stderr);
		fail_msg("refused: %s", text);
	}
	return doc;
}

/* The text has exactly these errors: lines as printed, each ending in a newline. */
static inline void
check_errors(const char *text, const char *expected)
{
	struct weir_base_doc *doc = load(text);
	char *errors = print_errors(doc);

	assert_string_equal(errors, expected);
	free(errors);
	weir_base_doc_free(doc);
}

/* The text has one error, at this place, and its message holds these words. */
static inline void
check_error(const char *text, unsigned int line, unsigned int column, const char *words)
{
	struct weir_base_doc *doc = load(text);
	const struct weir_base_doc_error *errors;
	unsigned int nb;

	errors = weir_base_doc_errors(doc, &nb);
	if (nb != 1 || errors[0].line != line || errors[0].column != column ||
		strstr(errors[0].message, words) == NULL) {
		weir_base_doc_errors_print(doc, stderr);
		fail_msg("expected one error at %u:%u with '%s' in: %s", line, column, words, text);
	}
	assert_string_equal(errors[0].file, "t.yaml");
	weir_base_doc_free(doc);
}

static inline const struct weir_base_doc_value *
value_of(const struct weir_base_doc *doc, const char *key)
{
	return weir_base_doc_get(weir_base_doc_root(doc), key);
}

#endif
