/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of queues of events: who gets their packets, and who sends some; and what may be said of these. */
#include <string.h>

#include "graph_private.h"
#include "weir_base_rules.h"

#define BUILTIN_FORWARD "forward"
#define BUILTIN_DROP    "drop"

static bool
is_queue_of(const struct graph *graph, const struct weir_base_doc_value *value)
{
	if (weir_base_doc_get(graph->queues, weir_base_doc_str(value)) != NULL)
		return true;
	weir_base_doc_error_add(graph->doc, value, "unknown queue '%s'; expected %s",
		weir_base_doc_str(value),
		weir_base_doc_names(graph->doc, graph->queues,
			"a queue of application.queues, which has none"));
	return false;
}

static void
check_name(const struct graph *graph, const struct weir_base_doc_value *value, const char *what)
{
	if (!weir_base_is_name(weir_base_doc_name(value), WEIR_BASE_NAMED_MAX))
		weir_base_doc_error_add(graph->doc, value,
			"%s name '%s' cannot be used; expected 1 to %d letters, digits or '_'",
			what, weir_base_doc_name(value), WEIR_BASE_NAMED_MAX);
}

/* ---- owners: each queue has one ---- */

/* Is it in a list before entry @p nb? */
static bool
is_listed(const struct weir_base_doc_value *list, unsigned int nb, const char *queue)
{
	unsigned int i;

	for (i = 0; i < nb && i < weir_base_doc_count(list); i++)
		if (strcmp(weir_base_doc_str(weir_base_doc_at(list, i)), queue) == 0)
			return true;
	return false;
}

/* Who has a queue before entry @p entry of @p owner does; objects come before nodes. NULL: nobody has */
static const struct weir_base_doc_value *
find_owner(const struct graph *graph, const char *queue, const struct weir_base_doc_value *owner,
	unsigned int entry, bool *is_object)
{
	const struct weir_base_doc_value *const maps[] = {graph->objects, graph->nodes};
	unsigned int i, j;

	for (i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		for (j = 0; j < weir_base_doc_count(maps[i]); j++) {
			const struct weir_base_doc_value *one = weir_base_doc_at(maps[i], j);
			const struct weir_base_doc_value *list = weir_base_doc_get(one, "queues");

			*is_object = i == 0;
			if (is_listed(list, one == owner ? entry : UINT32_MAX, queue))
				return one;
			if (one == owner)
				return NULL;
		}
	return NULL;
}

static void
check_queues(struct graph *graph, const struct weir_base_doc_value *owner)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(owner, "queues"), *other;
	unsigned int i;
	bool is_object;

	for (i = 0; i < weir_base_doc_count(list); i++) {
		const struct weir_base_doc_value *value = weir_base_doc_at(list, i);

		if (!is_queue_of(graph, value)) {
			graph->has_queues = false;
			continue;
		}
		other = find_owner(graph, weir_base_doc_str(value), owner, i, &is_object);
		if (other != NULL)
			weir_base_doc_error_add(graph->doc, value,
				"queue '%s' belongs to %s '%s' already; expected each queue once",
				weir_base_doc_str(value), is_object ? "object" : "node",
				weir_base_doc_name(other));
	}
}

/* ---- objects ---- */

static void
check_builtin(const struct graph *graph, const struct weir_base_doc_value *object)
{
	const struct weir_base_doc_value *receive = weir_base_doc_get(object, "receive");
	const struct weir_base_doc_value *to = weir_base_doc_get(object, "to");
	const char *text = weir_base_doc_str(receive);

	if (text == NULL || strchr(text, ':') != NULL)
		return;
	if (weir_base_doc_given(object, "argument"))
		weir_base_doc_error_add(graph->doc, weir_base_doc_get(object, "argument"),
			"'argument' means nothing for '%s'; expected it with a plug-in only", text);
	if (strcmp(text, BUILTIN_FORWARD) == 0 && to == NULL)
		weir_base_doc_error_add(graph->doc, receive,
			"object '%s' forwards to nowhere; expected a key 'to'",
			weir_base_doc_name(object));
	if (strcmp(text, BUILTIN_DROP) == 0 && to != NULL)
		weir_base_doc_error_add(graph->doc, to, "'to' means nothing for 'drop'");
	if (weir_base_doc_count(weir_base_doc_get(object, "queues")) == 0)
		weir_base_doc_error_add(graph->doc, object,
			"object '%s' never gets anything; expected a key 'queues'",
			weir_base_doc_name(object));
}

static void
check_object(struct graph *graph, const struct weir_base_doc_value *object)
{
	const struct weir_base_doc_value *to = weir_base_doc_get(object, "to"), *node;

	check_name(graph, object, "object");
	node = weir_base_doc_get(graph->nodes, weir_base_doc_name(object));
	if (node != NULL && graph_has_queues(graph_type_of(node)))
		weir_base_doc_error_add(graph->doc, object,
			"'%s' is the name of a node; expected another one",
			weir_base_doc_name(object));
	if (to != NULL)
		is_queue_of(graph, to);
	check_builtin(graph, object);
	check_queues(graph, object);
}

/* ---- nodes ---- */

/* What is built in wants a time, what is not may want a text. */
static void
check_work(const struct graph *graph, const struct weir_base_doc_value *node)
{
	const struct weir_base_doc_value *work = weir_base_doc_get(node, "work");
	const char *text = weir_base_doc_str(work);
	unsigned int i;

	if (work == NULL) {
		weir_base_doc_error_add(graph->doc, node,
			"node '%s' has nothing to do with packets; expected a key 'work'",
			weir_base_doc_name(node));
		return;
	}
	for (i = 0; weir_base_job_work_names[i] != NULL; i++)
		if (strcmp(text, weir_base_job_work_names[i]) == 0)
			break;
	if (weir_base_job_work_names[i] == NULL) {
		if (weir_base_doc_given(node, "time"))
			weir_base_doc_error_add(graph->doc, weir_base_doc_get(node, "time"),
				"'time' means nothing for a plug-in; expected 'argument'");
		return;
	}
	if (!weir_base_doc_given(node, "time"))
		weir_base_doc_error_add(graph->doc, work,
			"'%s' of node '%s' takes no time; expected a key 'time'", text,
			weir_base_doc_name(node));
	if (weir_base_doc_given(node, "argument"))
		weir_base_doc_error_add(graph->doc, weir_base_doc_get(node, "argument"),
			"'argument' means nothing for '%s'; expected it with a plug-in only", text);
}

bool
graph_has_queues(const struct weir_base_node_type *type)
{
	return type != NULL &&
	       (type->role == WEIR_BASE_NODE_BRINGS || type->role == WEIR_BASE_NODE_SENDS ||
		       type->role == WEIR_BASE_NODE_WORKS);
}

static void
check_node(struct graph *graph, const struct weir_base_doc_value *node)
{
	const struct weir_base_node_type *type = graph_type_of(node);
	const struct weir_base_doc_value *queue;

	weir_base_node_check_keys(graph->doc, node);
	if (!graph_has_queues(type))
		return;
	check_name(graph, node, "node");
	if (type->role == WEIR_BASE_NODE_BRINGS) {
		if (weir_base_doc_count(weir_base_doc_get(node, "queues")) == 0) {
			graph->has_queues = false;
			weir_base_doc_error_add(graph->doc, node,
				"node '%s' has nothing to bring in; expected a key 'queues'",
				weir_base_doc_name(node));
		}
		check_queues(graph, node);
		return;
	}
	queue = weir_base_doc_get(node, "queue");
	if (queue != NULL)
		is_queue_of(graph, queue);
	else
		weir_base_doc_error_add(graph->doc, node,
			"node '%s' has nowhere to send to; expected a key 'queue'",
			weir_base_doc_name(node));
	if (type->role == WEIR_BASE_NODE_WORKS)
		check_work(graph, node);
}

/* In a simulation an object may switch to a queue, whose packets stay with it. */
static bool
is_switched_to(const struct graph *graph, const char *queue)
{
	unsigned int i, j;

	for (i = 0; graph->is_simulated && i < weir_base_doc_count(graph->objects); i++) {
		const struct weir_base_doc_value *steps =
			weir_base_doc_get(weir_base_doc_at(graph->objects, i), "steps");

		for (j = 0; j < weir_base_doc_count(steps); j++) {
			const char *to = weir_base_doc_str(
				weir_base_doc_get(weir_base_doc_at(steps, j), "switch"));

			if (to != NULL && strcmp(to, queue) == 0)
				return true;
		}
	}
	return false;
}

void
weir_base_rules_events(struct weir_base_doc *doc, bool is_simulated)
{
	struct graph graph = graph_of(doc, is_simulated);
	unsigned int i;
	bool is_object;

	graph.has_queues = true;
	for (i = 0; i < weir_base_doc_count(graph.objects); i++)
		check_object(&graph, weir_base_doc_at(graph.objects, i));
	for (i = 0; i < weir_base_doc_count(graph.nodes); i++)
		check_node(&graph, weir_base_doc_at(graph.nodes, i));
	for (i = 0; i < weir_base_doc_count(graph.queues); i++) {
		const struct weir_base_doc_value *queue = weir_base_doc_at(graph.queues, i);

		check_name(&graph, queue, "queue");
		/* What is brought in by a wrong name may be this one. */
		if (graph.has_queues &&
			find_owner(&graph, weir_base_doc_name(queue), NULL, 0, &is_object) ==
				NULL &&
			!is_switched_to(&graph, weir_base_doc_name(queue)))
			weir_base_doc_error_add(doc, queue,
				"nobody gets the packets of queue '%s'; expected it in the "
				"'queues' of a node of type sched_rx, or of an object",
				weir_base_doc_name(queue));
	}
}
