/* SPDX-License-Identifier: BSD-3-Clause */

/* A model that a benchmark runs. */

#include <string.h>

#include <weir_base_doc.h>

#include "sim_bench.h"

bool
sim_given_open(struct sim_given *given, const char *text)
{
	*given = (struct sim_given){
		.doc = weir_base_doc_load_text(text, strlen(text), "model", &weir_sim_doc_root)};
	if (given->doc != NULL)
		given->model = weir_sim_model_read(given->doc);
	if (given->model == NULL) {
		if (given->doc != NULL)
			weir_base_doc_errors_print(given->doc, stderr);
		sim_given_close(given);
		return false;
	}
	weir_sim_model_param(given->model, &given->param);
	return true;
}

void
sim_given_close(struct sim_given *given)
{
	weir_sim_model_free(given->model);
	weir_base_doc_free(given->doc);
	*given = (struct sim_given){.doc = NULL};
}
