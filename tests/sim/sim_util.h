/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_SIM_UTIL_H
#define WEIR_TESTS_SIM_UTIL_H

/* What the simulator's tests share: models from text, and running them. */
#include "../base/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir_base_doc.h"
#include "weir_sim.h"

/* A model that was read, and its document. */
struct given {
	struct weir_base_doc *doc;
	struct weir_sim_model *model;
	struct weir_sim_param param;
};

static inline struct given
given_model(const char *text)
{
	struct given given = {
		.doc = weir_base_doc_load_text(text, strlen(text), "model", &weir_sim_doc_root)};

	assert_non_null(given.doc);
	given.model = weir_sim_model_read(given.doc);
	if (given.model == NULL)
		weir_base_doc_errors_print(given.doc, stderr);
	assert_non_null(given.model);
	weir_sim_model_param(given.model, &given.param);
	return given;
}

static inline void
given_free(struct given *given)
{
	weir_sim_model_free(given->model);
	weir_base_doc_free(given->doc);
}

/* Run it; every replication obeys the laws. */
static inline struct weir_sim_result
given_run(const struct given *given)
{
	struct weir_sim_result result;
	unsigned int i;

	assert_int_equal(weir_sim_run(given->model, &given->param, &result), 0);
	assert_int_equal(result.nb_replications, given->param.nb_replications);
	for (i = 0; i < result.nb_replications; i++)
		if (result.replications[i].broken != NULL)
			fail_msg("%s", result.replications[i].broken);
	return result;
}

static inline unsigned int
given_column(const struct given *given, enum weir_sim_scope scope, const char *name,
	const char *quantity)
{
	int column = weir_sim_model_metric_find(given->model, scope, name, quantity);

	if (column < 0)
		fail_msg("no %s of %s", quantity, name);
	return (unsigned int)column;
}

/* A quantity in a replication. */
static inline double
given_value(const struct given *given, const struct weir_sim_result *result,
	unsigned int replication, enum weir_sim_scope scope, const char *name, const char *quantity)
{
	return result->values[(size_t)replication * result->nb_metrics +
			      given_column(given, scope, name, quantity)];
}

/* What a quantity is in the first replication of a model. */
struct expected {
	enum weir_sim_scope scope;
	const char *name, *quantity;
	double value;
};

static inline void
expect_exactly(const char *text, const struct expected *expected, unsigned int nb)
{
	struct given given = given_model(text);
	struct weir_sim_result result = given_run(&given);
	unsigned int i;

	for (i = 0; i < nb; i++) {
		const double value = given_value(&given, &result, 0, expected[i].scope,
			expected[i].name, expected[i].quantity);

		if (!(fabs(value - expected[i].value) <= 1e-9 * fabs(expected[i].value)))
			fail_msg("%s of %s is %.12g; expected %.12g", expected[i].quantity,
				expected[i].name, value, expected[i].value);
	}
	weir_sim_result_free(&result);
	given_free(&given);
}

/* All errors of a text that is no model, as they are printed of a file "m.yaml". */
static inline void
expect_errors(const char *text, const char *expected)
{
	struct weir_base_doc *doc =
		weir_base_doc_load_text(text, strlen(text), "m.yaml", &weir_sim_doc_root);
	char *printed = NULL;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	assert_non_null(out);
	assert_null(weir_sim_model_read(doc));
	weir_base_doc_errors_print(doc, out);
	fclose(out);
	assert_string_equal(printed, expected);
	free(printed);
	weir_base_doc_free(doc);
}

#define EXPECT(text, ...)                                                                          \
	do {                                                                                       \
		const struct expected expected_[] = {__VA_ARGS__};                                 \
		expect_exactly(text, expected_, sizeof(expected_) / sizeof(expected_[0]));         \
	} while (0)

#endif
