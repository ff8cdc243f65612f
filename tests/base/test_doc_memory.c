/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loading a description file when memory runs out: each allocation fails once,
 * and the answer is NULL with ENOMEM, never half a document. Linked so that the library's
 * calls of calloc() and realloc() come here.
 */
#include "cmocka_all.h"

#include <errno.h>

#include "doc_util.h"

/* What the linker makes of a wrapped function's two sides. */
void *__wrap_calloc(size_t nb, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__real_calloc(size_t nb, size_t size);
void *__real_realloc(void *memory, size_t size);

/* Allocations that still succeed; negative: all do. */
static int left = -1;

static bool
is_refused(void)
{
	if (left < 0)
		return false;
	/* Only one fails: what goes wrong must be remembered, not met again. */
	return left-- == 0;
}

void *
__wrap_calloc(size_t nb, size_t size)
{
	return is_refused() ? NULL : __real_calloc(nb, size);
}

void *
__wrap_realloc(void *memory, size_t size)
{
	return is_refused() ? NULL : __real_realloc(memory, size);
}

/* Fails each allocation in turn until one too many is meant; their number. */
static int
try_all(const char *text)
{
	int nb;

	for (nb = 0;; nb++) {
		struct weir_base_doc *doc;
		bool was_refused;

		left = nb;
		errno = 0;
		doc = weir_base_doc_load_text(text, strlen(text), "t.yaml", &fixture_root);
		was_refused = left < 0;
		left = -1;
		if (!was_refused) {
			assert_non_null(doc);
			weir_base_doc_free(doc);
			return nb;
		}
		assert_null(doc);
		assert_int_equal(errno, ENOMEM);
	}
}

static void
good_files(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int i;

	fprintf(out, "ports:\n");
	for (i = 0; i < 200; i++)
		fprintf(out, "  p%d: {file: f%d, tags: [a, b, c]}\n", i, i);
	fclose(out);
	assert_true(try_all(text) > 5);
	free(text);
}

static void
files_with_errors(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int i;

	for (i = 0; i < 100; i++)
		fprintf(out, "unknown%d: {a: 1}\n", i);
	fclose(out);
	assert_true(try_all(text) > 5);
	free(text);
	try_all("a: [1\n");
	try_all("");
	try_all("text: \xff\n");
}

static void
errors_that_cannot_be_kept(void **state)
{
	struct weir_base_doc *doc = load_good("text: a\n");
	const struct weir_base_doc_error *errors;
	unsigned int nb;

	left = 0;
	weir_base_doc_error_add(doc, value_of(doc, "text"), "lost");
	left = -1;
	/* That there was one is not lost. */
	errors = weir_base_doc_errors(doc, &nb);
	assert_int_equal(nb, 1);
	assert_string_equal(errors[0].message, "out of memory");
	weir_base_doc_free(doc);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_files),
		cmocka_unit_test(files_with_errors),
		cmocka_unit_test(errors_that_cannot_be_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
