/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of nodes in descriptions, each of which means something for some types alone. */
#include <stddef.h>
#include <string.h>

#include "weir_base_doc.h"
#include "weir_base_nodes.h"

static const struct {
	const char *key, *type;
} keys[] = {
	{"port", WEIR_BASE_NODE_LINK_RX},
	{"links", WEIR_BASE_NODE_LINK_RX},
	{"burst", WEIR_BASE_NODE_LINK_RX},
	{"queues", WEIR_BASE_NODE_SCHED_RX},
	{"queue", WEIR_BASE_NODE_SCHED_TX},
	{"flow", WEIR_BASE_NODE_SCHED_TX},
	{"on_full", WEIR_BASE_NODE_SCHED_TX},
	{"work", WEIR_BASE_NODE_JOB},
	{"time", WEIR_BASE_NODE_JOB},
	{"argument", WEIR_BASE_NODE_JOB},
	{"flows", WEIR_BASE_NODE_JOB},
	{"packets", WEIR_BASE_NODE_JOB},
	{"priority", WEIR_BASE_NODE_JOB},
	{"slice", WEIR_BASE_NODE_JOB},
	{"group", WEIR_BASE_NODE_JOB},
};

static bool
is_one_of(const char *type, const char *one, const char *other)
{
	return strcmp(type, one) == 0 || strcmp(type, other) == 0;
}

/* A job sends to a queue, too. */
static bool
has_key_of(const char *type, const char *of)
{
	return strcmp(type, of) == 0 ||
	       (strcmp(of, WEIR_BASE_NODE_SCHED_TX) == 0 && strcmp(type, WEIR_BASE_NODE_JOB) == 0);
}

/* Of those that have to do with queues the other direction's keys are easily mistaken. */
static void
refuse(struct weir_base_doc *doc, const struct weir_base_doc_value *value, const char *type,
	const char *of)
{
	const char *key = weir_base_doc_name(value);

	if (strcmp(of, WEIR_BASE_NODE_SCHED_RX) == 0 &&
		is_one_of(type, WEIR_BASE_NODE_SCHED_TX, WEIR_BASE_NODE_JOB))
		weir_base_doc_error_add(
			doc, value, "'%s' means nothing for %s; expected 'queue'", key, type);
	else if (strcmp(of, WEIR_BASE_NODE_SCHED_TX) == 0 &&
		 strcmp(type, WEIR_BASE_NODE_SCHED_RX) == 0)
		weir_base_doc_error_add(
			doc, value, "'%s' means nothing for %s; expected 'queues'", key, type);
	else
		weir_base_doc_error_add(doc, value,
			"'%s' means nothing for nodes of type '%s'; expected it with %s only", key,
			type, of);
}

void
weir_base_node_check_keys(struct weir_base_doc *doc, const struct weir_base_doc_value *node)
{
	const char *type = weir_base_doc_str(weir_base_doc_get(node, "type"));
	size_t i;

	/* Of none that there is they mean what they like: that was told. */
	if (weir_base_node_type_find(type) == NULL)
		return;
	/* Its own are not asked for: one that nobody reads is told as left aside. */
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!has_key_of(type, keys[i].type) && weir_base_doc_given(node, keys[i].key))
			refuse(doc, weir_base_doc_get(node, keys[i].key), type, keys[i].type);
}
