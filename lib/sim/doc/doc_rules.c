/* SPDX-License-Identifier: BSD-3-Clause */
/* Before a document is read: is all in order that a program which runs it would refuse otherwise? */
#include "doc_read.h"
#include "weir_base_rules.h"

static unsigned int
count_errors(const struct weir_sim_model *model)
{
	unsigned int nb_errors;

	weir_base_doc_errors(model->doc, &nb_errors);
	return nb_errors;
}

/* What is said of something that is not as it should be itself, is not to be trusted. */
static void
check_links(struct weir_sim_model *model, const struct weir_base_doc_value *application)
{
	weir_base_rules_links(model->doc, application);
	if (count_errors(model) > 0)
		return;
	weir_base_rules_frames(model->doc, application);
	weir_base_rules_traffic(model->doc, application);
	weir_base_rules_requests(model->doc, application);
}

/* Without costs it is left aside. In parts, which no program runs, names are not what they seem. */
static void
check_graph(struct weir_sim_model *model, const struct weir_base_doc_value *root)
{
	const struct weir_base_doc_value *platform = weir_base_doc_get(root, "platform");
	unsigned int before;

	if (weir_base_doc_get(platform, "costs") == NULL ||
		weir_base_doc_count(weir_base_doc_get(root, "instances")) > 0)
		return;
	weir_base_rules_ports(model->doc);
	weir_base_rules_workers(model->doc);
	before = count_errors(model);
	weir_base_rules_events(model->doc, true);
	weir_base_rules_graph(model->doc, count_errors(model) == before, true);
}

bool
sim_doc_is_in_order(struct weir_sim_model *model)
{
	const struct weir_base_doc_value *root = weir_base_doc_root(model->doc);

	/* It is read, or left aside, by others. */
	weir_base_doc_look(model->doc, true);
	check_links(model, weir_base_doc_get(root, "application"));
	check_graph(model, root);
	weir_base_doc_look(model->doc, false);
	return count_errors(model) == 0;
}
