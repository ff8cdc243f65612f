/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: how many hits functions find in frames of links, and whose frames these are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

/* Are there costs of a process by this name that say how many hits a frame has? */
static bool
has_costs(const struct weir_base_doc_value *root, const char *name)
{
	const struct weir_base_doc_value *costs =
		weir_base_doc_get(weir_base_doc_get(root, "platform"), "costs");
	const struct weir_base_doc_value *of =
		weir_base_doc_get(weir_base_doc_get(costs, "processes"), name);

	return weir_base_doc_given(of, "hits");
}

static bool
sends_to(const struct weir_base_doc_value *process, const char *link)
{
	const struct weir_base_doc_value *to = weir_base_doc_get(process, "to");

	return to != NULL && strcmp(weir_base_doc_str(to), link) == 0;
}

bool
sim_doc_has_hits(const struct weir_base_doc_value *root, const struct weir_base_doc_value *link)
{
	const struct weir_base_doc_value *application = weir_base_doc_get(root, "application");
	const struct weir_base_doc_value *processes = weir_base_doc_get(application, "processes");
	const struct weir_base_doc_value *links = weir_base_doc_get(application, "links");
	const char *name = weir_base_doc_name(link);
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(processes); i++)
		if (sends_to(weir_base_doc_at(processes, i), name) &&
			has_costs(root, weir_base_doc_name(weir_base_doc_at(processes, i))))
			return true;
	for (i = 0; i < weir_base_doc_count(links); i++)
		if (sends_to(weir_base_doc_get(weir_base_doc_at(links, i), WEIR_BASE_PROCESS_HITS),
			    name) &&
			has_costs(root, WEIR_BASE_PROCESS_HITS))
			return true;
	return false;
}

/* The link of hits that a process sends to; NULL: none is simulated. */
static const struct model_link *
find_target(const struct weir_sim_model *model, const struct weir_base_doc_value *to)
{
	uint32_t i;

	for (i = 0; to != NULL && i < model->nb_links; i++)
		if (model->links[i].is_of_hits && strcmp(weir_base_doc_name(model->links[i].value),
							  weir_base_doc_str(to)) == 0)
			return &model->links[i];
	return NULL;
}

int
sim_doc_read_finder(struct weir_sim_model *model, const struct weir_base_doc_value *process,
	const char *name, const struct weir_base_doc_value *costs, uint32_t link, uint32_t *finder)
{
	const struct weir_base_doc_value *hits = weir_base_doc_get(costs, "hits");
	const struct weir_base_doc_value *to = weir_base_doc_get(process, "to");
	const struct model_link *target = find_target(model, to);
	struct model_finder *finders;

	*finder = SIM_NONE;
	if (hits == NULL && target != NULL)
		weir_base_doc_error_add(model->doc, to,
			"how many hits of process '%s' come to link '%s' is not said, but of "
			"others; expected 'hits' of it in 'processes' of 'costs', too",
			name, weir_base_doc_str(to));
	if (hits != NULL && to == NULL)
		weir_base_doc_error_add(model->doc, hits,
			"the hits of process '%s' go nowhere; expected a key 'to' of it", name);
	if (hits == NULL || target == NULL)
		return 0;
	finders = realloc(model->finders, (model->nb_finders + 1) * sizeof(*finders));
	if (finders == NULL)
		return -ENOMEM;
	model->finders = finders;
	finders[model->nb_finders] = (struct model_finder){
		.stream = target->stream,
	};
	if (asprintf(&finders[model->nb_finders].name, "%s %s", model->links[link].name, name) < 0)
		return -ENOMEM;
	*finder = model->nb_finders++;
	return sim_doc_read_value(model, hits, &finders[*finder].hits);
}
