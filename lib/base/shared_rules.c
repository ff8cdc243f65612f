/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of ports that a graph shares with links: nodes of type link_rx. */
#include <string.h>

#include "rules_private.h"

/* A node that is being looked at, of several. */
struct subject {
	struct weir_base_doc *doc;
	const struct weir_base_doc_value *application, *nodes, *node, *ports;
};

bool
rules_is_link_rx(const struct weir_base_doc_value *node)
{
	return strcmp(weir_base_doc_str(weir_base_doc_get(node, "type")), WEIR_BASE_NODE_LINK_RX) ==
	       0;
}

/* A node before it that receives from a port, too; NULL: there is none. */
static const struct weir_base_doc_value *
find_other(const struct subject *subject, const char *port)
{
	const struct weir_base_doc_value *node, *other;
	unsigned int i;

	for (i = 0; (node = weir_base_doc_at(subject->nodes, i)) != subject->node; i++) {
		other = rules_is_link_rx(node) ? weir_base_doc_get(node, "port") : NULL;
		if (other != NULL && strcmp(weir_base_doc_str(other), port) == 0)
			return node;
	}
	return NULL;
}

static void
check_port(const struct subject *subject)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(subject->node, "port"), *port;
	const char *name = weir_base_doc_str(value);
	const struct weir_base_doc_value *other;

	if (value == NULL) {
		weir_base_doc_error_add(subject->doc, subject->node,
			"node '%s' has nothing to receive from; expected a key 'port'",
			weir_base_doc_name(subject->node));
		return;
	}
	port = weir_base_doc_get(subject->ports, name);
	if (port == NULL) {
		weir_base_doc_error_add(subject->doc, value, "unknown port '%s'; expected %s", name,
			weir_base_doc_names(subject->doc, subject->ports,
				"a port of platform.ports, which has none"));
		return;
	}
	if (!weir_base_doc_given(port, "device"))
		weir_base_doc_error_add(subject->doc, value,
			"port '%s' is files, which links do not share; expected one with a "
			"'device', for example \"net_pcap0,rx_pcap=FILE\"",
			name);
	other = find_other(subject, name);
	if (other != NULL)
		weir_base_doc_error_add(subject->doc, value,
			"node '%s' receives from port '%s' already; expected one such node for "
			"each port",
			weir_base_doc_name(other), name);
}

static const char *
format_of(const struct weir_base_doc_value *link)
{
	return weir_base_doc_str(weir_base_doc_get(link, "format"));
}

/* There are some, of one format. */
static void
check_links(const struct subject *subject)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(subject->node, "links");
	const struct weir_base_doc_value *links = weir_base_doc_get(subject->application, "links");
	const struct weir_base_doc_value *first = NULL, *link, *value;
	const char *name = weir_base_doc_name(subject->node);
	unsigned int i;

	if (weir_base_doc_count(list) == 0)
		weir_base_doc_error_add(subject->doc, list != NULL ? list : subject->node,
			"node '%s' has no links to hand frames to; expected a key 'links'", name);
	for (i = 0; i < weir_base_doc_count(list); i++) {
		value = weir_base_doc_at(list, i);
		link = weir_base_doc_get(links, weir_base_doc_str(value));
		if (link == NULL)
			weir_base_doc_error_add(subject->doc, value,
				"unknown link '%s'; expected %s", weir_base_doc_str(value),
				rules_link_names(subject->doc, subject->application));
		else if (first == NULL)
			first = link;
		else if (strcmp(format_of(first), format_of(link)) != 0)
			weir_base_doc_error_add(subject->doc, value,
				"frames of node '%s' are of format '%s', by link '%s', and those "
				"of '%s' of format '%s'; expected one format",
				name, format_of(first), weir_base_doc_name(first),
				weir_base_doc_name(link), format_of(link));
	}
}

void
rules_check_shared(struct weir_base_doc *doc, const struct weir_base_doc_value *application)
{
	const struct weir_base_doc_value *platform =
		weir_base_doc_get(weir_base_doc_root(doc), "platform");
	const struct weir_base_doc_value *nodes = weir_base_doc_get(application, "nodes");
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(nodes); i++) {
		const struct subject subject = {doc, application, nodes, weir_base_doc_at(nodes, i),
			weir_base_doc_get(platform, "ports")};

		if (!rules_is_link_rx(subject.node))
			continue;
		check_port(&subject);
		check_links(&subject);
	}
}
