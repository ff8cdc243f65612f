/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: windows that links are asked for. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

#define NS_PER_S 1e9

static uint64_t
ns_of(const struct weir_base_doc_value *map, const char *key)
{
	return (uint64_t)llround(weir_base_doc_f64(weir_base_doc_get(map, key)) * NS_PER_S);
}

/* A link of that name, or all that have it with a number. */
static void
take_links(struct weir_sim_model *model, struct model_request *request,
	const struct weir_base_doc_value *value)
{
	const char *name = weir_base_doc_str(value);
	bool is_known = false;
	uint32_t i;

	for (i = 0; i < model->nb_links; i++) {
		const struct model_link *link = &model->links[i];

		if (strcmp(weir_base_doc_name(link->value), name) != 0 &&
			strcmp(link->name, name) != 0)
			continue;
		is_known = true;
		request->clock_hz = link->clock_hz;
		model->asked[model->nb_asked++] = i;
		request->nb_links++;
	}
	if (!is_known)
		weir_base_doc_error_add(model->doc, value,
			"how many hits come to link '%s' is not said; expected other links, or "
			"'hits' of the functions that find them in 'processes' of 'costs'",
			name);
}

static void
read_request(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(value, "links");
	struct model_request *request = &model->requests[model->nb_requests];
	uint32_t i;

	*request = (struct model_request){
		.value = value,
		.name = weir_base_doc_name(value),
		.first_link = model->nb_asked,
		.every_ns = ns_of(value, "every"),
		.window_ns = ns_of(value, "window"),
		.delay_ns = ns_of(value, "delay"),
		.timeout_ps = sim_doc_ps(weir_base_doc_get(value, "timeout")),
	};
	for (i = 0; i < weir_base_doc_count(list); i++)
		take_links(model, request, weir_base_doc_at(list, i));
	if (request->nb_links > 0)
		model->nb_requests++;
}

int
sim_doc_read_requests(struct weir_sim_model *model, const struct weir_base_doc_value *application)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(application, "requests");
	const struct weir_base_doc_value *room = weir_base_doc_get(application, "fragments");
	const uint32_t nb = weir_base_doc_count(list);
	unsigned int nb_errors;
	uint32_t i;

	model->requests = calloc(nb + 1, sizeof(*model->requests));
	model->asked = calloc((size_t)nb * model->nb_links + 1, sizeof(*model->asked));
	if (model->requests == NULL || model->asked == NULL)
		return -ENOMEM;
	/* Links that are refused would be told again as unknown. */
	weir_base_doc_errors(model->doc, &nb_errors);
	for (i = 0; nb_errors == 0 && i < nb; i++)
		read_request(model, weir_base_doc_at(list, i));
	model->nb_fragments = (uint32_t)weir_base_doc_u64(weir_base_doc_get(room, "count"));
	return 0;
}
