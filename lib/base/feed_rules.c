/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of what frames of links come from: each link has one source, and each source a link. */
#include <string.h>

#include "rules_private.h"

/* Links of one name, and the first source of their frames. */
struct fed {
	const struct rules_functions *functions;
	const struct weir_base_doc_value *link, *from;
	bool is_made; /* by functions, of which there may be several */
};

/* One more source. */
static void
feed(struct fed *fed, const struct weir_base_doc_value *value)
{
	unsigned int line, column;
	const char *file;

	if (fed->from == NULL) {
		fed->from = value;
		return;
	}
	file = weir_base_doc_where(fed->from, &line, &column);
	weir_base_doc_error_add(fed->functions->doc, value,
		"frames come to link '%s' already, from %s:%u:%u; expected one that sends them",
		weir_base_doc_name(fed->link), file, line, column);
}

static void
feed_by_port(struct fed *fed, const struct weir_base_doc_value *receivers)
{
	const struct weir_base_doc_value *port = weir_base_doc_get(fed->link, "port");

	if (port == NULL)
		return;
	if (weir_base_doc_get(receivers, weir_base_doc_str(port)) != NULL)
		feed(fed, port);
	else
		weir_base_doc_error_add(fed->functions->doc, port,
			"unknown port '%s'; expected one of platform.receivers",
			weir_base_doc_str(port));
}

/* What several functions make may go there, but nothing else. */
static void
feed_by_functions(struct fed *fed)
{
	unsigned int i;

	for (i = 0; i < fed->functions->nb; i++) {
		if (fed->functions->list[i].to != fed->link)
			continue;
		if (!fed->is_made)
			feed(fed, fed->functions->list[i].value);
		fed->is_made = true;
	}
}

/* Nodes that hand frames of a port to links. */
static void
feed_by_nodes(struct fed *fed, const struct weir_base_doc_value *nodes)
{
	unsigned int i, j;

	for (i = 0; i < weir_base_doc_count(nodes); i++) {
		const struct weir_base_doc_value *node = weir_base_doc_at(nodes, i), *list;

		if (!rules_is_link_rx(node))
			continue;
		list = weir_base_doc_get(node, "links");
		for (j = 0; j < weir_base_doc_count(list); j++)
			if (strcmp(weir_base_doc_str(weir_base_doc_at(list, j)),
				    weir_base_doc_name(fed->link)) == 0)
				feed(fed, weir_base_doc_at(list, j));
	}
}

static void
feed_by(struct fed *fed, const struct weir_base_doc_value *made)
{
	const struct weir_base_doc_value *value =
		weir_base_doc_get(made, weir_base_doc_name(fed->link));

	if (value != NULL)
		feed(fed, value);
}

/* Such frames are in no packet that could wait. */
static void
check_delivery(const struct fed *fed)
{
	const struct weir_base_doc_value *delivery = weir_base_doc_get(fed->link, "delivery");
	const struct weir_base_doc_value *by = weir_base_doc_get(delivery, "by");

	if (fed->is_made && by != NULL && weir_base_doc_u64(by) == WEIR_BASE_DELIVERY_QUEUE)
		weir_base_doc_error_add(fed->functions->doc, by,
			"what processes make becomes frames of link '%s' in the thread that "
			"receives, and is in "
			"no packet that could wait; expected 'callback'",
			weir_base_doc_name(fed->link));
}

/* Links that are fed are there. */
static void
check_names(const struct rules_functions *functions, const struct weir_base_doc_value *made)
{
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(made); i++) {
		const struct weir_base_doc_value *value = weir_base_doc_at(made, i);

		if (weir_base_doc_get(functions->links, weir_base_doc_name(value)) == NULL)
			weir_base_doc_error_add(functions->doc, value,
				"unknown link '%s'; expected %s", weir_base_doc_name(value),
				rules_link_names(functions->doc, functions->application));
	}
}

void
rules_check_feeds(const struct rules_functions *functions)
{
	const struct weir_base_doc_value *root = weir_base_doc_root(functions->doc);
	const struct weir_base_doc_value *traffic = weir_base_doc_get(root, "traffic");
	const struct weir_base_doc_value *emulated = weir_base_doc_get(traffic, "emulated");
	const struct weir_base_doc_value *replayed = weir_base_doc_get(traffic, "replayed");
	const struct weir_base_doc_value *receivers =
		weir_base_doc_get(weir_base_doc_get(root, "platform"), "receivers");
	unsigned int i;

	check_names(functions, emulated);
	check_names(functions, replayed);
	for (i = 0; i < weir_base_doc_count(functions->links); i++) {
		struct fed fed = {functions, weir_base_doc_at(functions->links, i), NULL, false};

		feed_by_port(&fed, receivers);
		feed_by_functions(&fed);
		feed_by_nodes(&fed, weir_base_doc_get(functions->application, "nodes"));
		feed_by(&fed, emulated);
		feed_by(&fed, replayed);
		check_delivery(&fed);
		if (fed.from == NULL && !weir_base_doc_given(fed.link, "port"))
			weir_base_doc_error_add(functions->doc, fed.link,
				"no frames come to link '%s'; expected it in traffic.emulated or "
				"traffic.replayed, in a node of type link_rx, or a key 'port'",
				weir_base_doc_name(fed.link));
	}
}
