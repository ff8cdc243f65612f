/* SPDX-License-Identifier: BSD-3-Clause */
/* Models, checked without simulating them. */
#include <errno.h>

#include <rte_common.h>

#include <weir_sim.h>

#include "app.h"
#include "check_model.h"

/* What a model consists of, with the words for it. */
static const struct {
	const char *section, *things;
} parts[] = {
	{"traffic", "streams"},
	{"application", "queues"},
	{"application", "objects"},
	{"platform", "cores"},
	{"platform", "units"},
	{"platform", "memories"},
};

static const struct weir_base_doc_value *
things_of(const struct weir_base_doc *doc, const char *section, const char *things)
{
	return weir_base_doc_get(weir_base_doc_get(weir_base_doc_root(doc), section), things);
}

/* How many objects have @key? */
static unsigned int
objects_with(const struct weir_base_doc *doc, const char *key)
{
	const struct weir_base_doc_value *objects = things_of(doc, "application", "objects");
	unsigned int nb = 0;

	for (unsigned int i = 0; i < weir_base_doc_count(objects); i++)
		nb += weir_base_doc_given(weir_base_doc_at(objects, i), key);
	return nb;
}

bool
check_model_only(const struct weir_base_doc *doc)
{
	return objects_with(doc, "steps") > 0 && objects_with(doc, "receive") == 0;
}

static void
print_counts(const char *path, const struct weir_base_doc *doc)
{
	printf("%s: in order: a model for weir sim:", path);
	for (size_t i = 0; i < RTE_DIM(parts); i++)
		printf("%s %u %s", i > 0 ? "," : "",
			weir_base_doc_count(things_of(doc, parts[i].section, parts[i].things)),
			parts[i].things);
	printf("\n");
}

static int
print_json(const struct weir_base_doc *doc, bool ok)
{
	json_t *model = json_object();

	for (size_t i = 0; i < RTE_DIM(parts); i++)
		json_object_set_new(model, parts[i].things,
			json_integer(weir_base_doc_count(
				things_of(doc, parts[i].section, parts[i].things))));
	return app_print_json(json_pack("{s:b, s:o, s:[], s:o}", "ok", ok, "errors",
		weir_base_doc_errors_json(doc), "warnings", "model", model));
}

int
check_model(const char *path, struct weir_base_doc *doc, bool json)
{
	struct weir_sim_model *model = weir_sim_model_read(doc);
	unsigned int nb_errors;
	int code = model != NULL ? APP_OK : APP_USAGE;

	weir_base_doc_errors(doc, &nb_errors);
	if (model == NULL && nb_errors == 0)
		return -ENOMEM;
	if (json && print_json(doc, model != NULL) != APP_OK)
		code = APP_FAILED;
	else if (!json && model == NULL)
		weir_base_doc_errors_print(doc, stderr);
	else if (!json) {
		print_counts(path, doc);
		code = app_finish(code);
	}
	weir_sim_model_free(model);
	return code;
}

int
check_model_too(struct weir_base_doc *doc)
{
	struct weir_sim_model *model;
	unsigned int nb_errors;

	if (things_of(doc, "platform", "costs") == NULL ||
		(weir_base_doc_count(things_of(doc, "traffic", "streams")) == 0 &&
			weir_base_doc_count(things_of(doc, "application", "links")) == 0))
		return 0;
	model = weir_sim_model_read(doc);
	weir_base_doc_errors(doc, &nb_errors);
	if (model == NULL && nb_errors == 0)
		return -ENOMEM;
	weir_sim_model_free(model);
	return 0;
}
