/* SPDX-License-Identifier: BSD-3-Clause */
/* Before a document is read: is all in order that a program which runs it would refuse otherwise? */
#include "doc_read.h"
#include "weir_base_rules.h"

static bool
has_errors(const struct weir_sim_model *model)
{
	unsigned int nb_errors;

	weir_base_doc_errors(model->doc, &nb_errors);
	return nb_errors > 0;
}

/* What is said of something that is not as it should be itself, is not to be trusted. */
static void
check_links(struct weir_sim_model *model, const struct weir_base_doc_value *application)
{
	weir_base_rules_links(model->doc, application);
	if (has_errors(model))
		return;
	weir_base_rules_frames(model->doc, application);
	weir_base_rules_traffic(model->doc, application);
	weir_base_rules_requests(model->doc, application);
}

bool
sim_doc_is_in_order(struct weir_sim_model *model)
{
	const struct weir_base_doc_value *root = weir_base_doc_root(model->doc);

	/* It is read, or left aside, by others. */
	weir_base_doc_look(model->doc, true);
	check_links(model, weir_base_doc_get(root, "application"));
	weir_base_doc_look(model->doc, false);
	return !has_errors(model);
}
