/* SPDX-License-Identifier: BSD-3-Clause */
/* Arbitrary bytes as a description file, against a schema with all kinds of values. */
#include <stdlib.h>
#include <string.h>

#include "../base/doc_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
look_at_all(const struct weir_base_doc_value *value)
{
	const char *text = weir_base_doc_str(value);
	unsigned int line, column, i;

	weir_base_doc_where(value, &line, &column);
	if (line == 0 || column == 0 || (text != NULL && strlen(text) > 1u << 20))
		abort();
	for (i = 0; i < weir_base_doc_count(value); i++)
		look_at_all(weir_base_doc_at(value, i));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weir_base_doc *doc;
	unsigned int nb_errors;
	json_t *json;

	/* Files that exist on this machine are none of the fuzzer's business. */
	if (memmem(data, size, "include", 7) != NULL)
		return 0;
	doc = weir_base_doc_load_text((const char *)data, size, "fuzz.yaml", &fixture_root);
	if (doc == NULL)
		return 0;
	weir_base_doc_errors(doc, &nb_errors);
	if (weir_base_doc_root(doc) != NULL)
		look_at_all(weir_base_doc_root(doc));
	else if (nb_errors == 0)
		abort();
	json = weir_base_doc_errors_json(doc);
	if (json_array_size(json) != nb_errors)
		abort();
	json_decref(json);
	json = weir_base_doc_json(weir_base_doc_root(doc));
	if (json == NULL)
		abort();
	json_decref(json);
	weir_base_doc_free(doc);
	return 0;
}
