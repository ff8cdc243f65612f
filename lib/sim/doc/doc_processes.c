/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: functions that look at frames of links: in the thread that receives these, or after their buffers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

static enum weir_base_where
where_of(const struct weir_base_doc_value *process)
{
	return (enum weir_base_where)weir_base_doc_u64(weir_base_doc_get(process, "where"));
}

/* Is it not one of Weir's? What it does is for it to say; what that takes, for the costs. */
static bool
is_own(const struct weir_base_doc_value *process)
{
	const struct weir_base_doc_value *function = weir_base_doc_get(process, "function");

	return function != NULL && strcmp(weir_base_doc_str(function), WEIR_BASE_PROCESS_HITS) != 0;
}

/* Does it look for hits, or do its costs say that what it makes is such? */
static bool
makes_hits(const struct weir_base_doc_value *process, const struct weir_base_doc_value *costs)
{
	return !is_own(process) || weir_base_doc_given(costs, "hits");
}

/* Is it what functions send to, by a process or `hits` of a link? */
static bool
is_target(const struct weir_base_doc_value *process, const char *link)
{
	const struct weir_base_doc_value *to = weir_base_doc_get(process, "to");

	return to != NULL && strcmp(weir_base_doc_str(to), link) == 0;
}

bool
sim_doc_is_made(
	const struct weir_base_doc_value *application, const struct weir_base_doc_value *link)
{
	const struct weir_base_doc_value *processes = weir_base_doc_get(application, "processes");
	const struct weir_base_doc_value *links = weir_base_doc_get(application, "links");
	const char *name = weir_base_doc_name(link);
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(processes); i++)
		if (is_target(weir_base_doc_at(processes, i), name))
			return true;
	for (i = 0; i < weir_base_doc_count(links); i++)
		if (is_target(weir_base_doc_get(weir_base_doc_at(links, i), WEIR_BASE_PROCESS_HITS),
			    name))
			return true;
	return false;
}

/* What is sent to a link as hits is simulated where these are its frames. */
static void
check_target(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	const struct weir_base_doc_value *process, const struct weir_base_doc_value *costs)
{
	const struct weir_base_doc_value *to = weir_base_doc_get(process, "to"), *link;

	if (to == NULL || !makes_hits(process, costs))
		return;
	link = weir_base_doc_get(weir_base_doc_get(weir_base_doc_get(root, "application"), "links"),
		weir_base_doc_str(to));
	if (strcmp(weir_base_doc_str(weir_base_doc_get(link, "format")), WEIR_BASE_FORMAT_HIT) != 0)
		weir_base_doc_error_add(model->doc, to,
			"'%s' is not one link of format '%s'; expected such a link",
			weir_base_doc_str(to), WEIR_BASE_FORMAT_HIT);
}

/* What a function costs; NULL: nothing is said. It may be so of the search for hits where nothing has costs. */
static const struct weir_base_doc_value *
find_costs(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	const struct weir_base_doc_value *process, const char *name)
{
	const struct weir_base_doc_value *costs =
		weir_base_doc_get(weir_base_doc_get(root, "platform"), "costs");
	const struct weir_base_doc_value *all = weir_base_doc_get(costs, "processes");
	const struct weir_base_doc_value *found = weir_base_doc_get(all, name);

	if (found == NULL && (costs != NULL || is_own(process)))
		weir_base_doc_error_add(model->doc, process,
			"process '%s' has no costs; expected a key '%s' in 'processes' of "
			"platform.costs, such as {packet: 500cycles}",
			name, name);
	if (!is_own(process) && weir_base_doc_given(found, "drops"))
		weir_base_doc_error_add(model->doc, weir_base_doc_get(found, "drops"),
			"the search for hits drops no frames; expected 'drops' of functions of "
			"one's own");
	return found;
}

static double
cycles_of(const struct weir_base_doc_value *costs, const char *key)
{
	return sim_coarse(weir_base_doc_f64(weir_base_doc_get(costs, key)));
}

/* It is behind the link's others. */
static void
append(struct weir_sim_model *model, struct model_link *link)
{
	uint32_t *last = &link->functions;

	while (*last != SIM_NONE)
		last = &model->functions[*last].next;
	*last = model->nb_functions++;
}

/* The thread that receives a link's frames works on each for so much longer, where no function before it drops that. */
static int
add_function(struct weir_sim_model *model, struct model_link *link, const char *name,
	const struct weir_base_doc_value *costs, uint32_t finder)
{
	const uint32_t to = model->streams[link->stream].queue;
	struct model_function *function, *functions = realloc(model->functions,
						 (model->nb_functions + 1) * sizeof(*functions));

	if (functions == NULL)
		return -ENOMEM;
	model->functions = functions;
	function = &functions[model->nb_functions];
	*function = (struct model_function){
		.packet = cycles_of(costs, "packet"),
		.per_byte = cycles_of(costs, "per_byte"),
		.drops = sim_coarse(weir_base_doc_f64(weir_base_doc_get(costs, "drops"))),
		.finder = finder,
		.next = SIM_NONE,
	};
	if (asprintf(&function->name, "%s %s", link->name, name) < 0)
		return -ENOMEM;
	append(model, link);
	if ((to & SIM_TO_PORT) != 0)
		model->graph.ports[to & ~SIM_TO_PORT].has_functions = true;
	return function->drops > 0 ? sim_doc_reason(model, &function->reason, "%s", name) : 0;
}

/* Can it find hits in such frames, if it looks for these? @return false: this was refused */
static bool
check_link(struct weir_sim_model *model, const struct weir_base_doc_value *at,
	const struct weir_base_doc_value *link, bool has_hits)
{
	const char *format = weir_base_doc_str(weir_base_doc_get(link, "format"));

	if (!has_hits || strcmp(format, WEIR_BASE_FORMAT_WIBETH) == 0)
		return true;
	weir_base_doc_error_add(model->doc, at,
		"no hits are found in frames of format '%s'; expected it with '%s'", format,
		WEIR_BASE_FORMAT_WIBETH);
	return false;
}

/* Is it of that name, which may be that of several with a number? */
static bool
is_called(const struct model_link *link, const struct weir_base_doc_value *name)
{
	return strcmp(weir_base_doc_name(link->value), weir_base_doc_str(name)) == 0 ||
	       strcmp(link->name, weir_base_doc_str(name)) == 0;
}

/* The links that an entry of a process' list names. */
static int
look_at(struct weir_sim_model *model, const struct weir_base_doc_value *process, uint32_t entry,
	const struct weir_base_doc_value *costs)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(process, "links");
	const struct weir_base_doc_value *at = weir_base_doc_at(list, entry);
	const enum weir_base_where where = where_of(process);
	bool is_known = false;
	uint32_t i, finder;

	for (i = 0; i < model->nb_links; i++) {
		struct model_link *link = &model->links[i];

		if (!is_called(link, at))
			continue;
		if (!is_known && !check_link(model, at, link->value, makes_hits(process, costs)))
			return 0;
		is_known = true;
		if (sim_doc_read_finder(
			    model, process, weir_base_doc_name(process), costs, i, &finder) < 0)
			return -ENOMEM;
		if (where == WEIR_BASE_WHERE_INLINE) {
			if (add_function(model, link, weir_base_doc_name(process), costs, finder) <
				0)
				return -ENOMEM;
		} else if (sim_doc_follow(model, i, costs, finder) < 0) {
			return -ENOMEM;
		}
	}
	if (!is_known)
		weir_base_doc_error_add(model->doc, at,
			"unknown link '%s'; expected one of application.links whose frames no "
			"function makes",
			weir_base_doc_str(at));
	return 0;
}

static int
read_process(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	const struct weir_base_doc_value *process)
{
	const struct weir_base_doc_value *links = weir_base_doc_get(process, "links");
	const struct weir_base_doc_value *costs;
	uint32_t i;

	costs = find_costs(model, root, process, weir_base_doc_name(process));
	check_target(model, root, process, costs);
	if (where_of(process) != WEIR_BASE_WHERE_INLINE && sim_doc_add_follower(model, process) < 0)
		return -ENOMEM;
	for (i = 0; i < weir_base_doc_count(links); i++)
		if (look_at(model, process, i, costs) < 0)
			return -ENOMEM;
	return 0;
}

/* The short form, in a link. */
static int
read_hits(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	const struct weir_base_doc_value *link)
{
	const struct weir_base_doc_value *hits = weir_base_doc_get(link, WEIR_BASE_PROCESS_HITS);
	const struct weir_base_doc_value *costs;
	uint32_t i, finder;

	if (hits == NULL)
		return 0;
	costs = find_costs(model, root, hits, WEIR_BASE_PROCESS_HITS);
	check_target(model, root, hits, costs);
	for (i = 0; i < model->nb_links; i++) {
		if (model->links[i].value != link)
			continue;
		if (sim_doc_read_finder(model, hits, WEIR_BASE_PROCESS_HITS, costs, i, &finder) < 0)
			return -ENOMEM;
		if (add_function(model, &model->links[i], WEIR_BASE_PROCESS_HITS, costs, finder) <
			0)
			return -ENOMEM;
	}
	return 0;
}

int
sim_doc_read_processes(struct weir_sim_model *model, const struct weir_base_doc_value *root)
{
	const struct weir_base_doc_value *application = weir_base_doc_get(root, "application");
	const struct weir_base_doc_value *processes = weir_base_doc_get(application, "processes");
	const struct weir_base_doc_value *links = weir_base_doc_get(application, "links");
	const struct weir_base_doc_value *costs = weir_base_doc_get(
		weir_base_doc_get(weir_base_doc_get(root, "platform"), "costs"), "processes");
	unsigned int nb_errors;
	uint32_t i;

	/* Links that are refused would be told again as unknown. */
	weir_base_doc_errors(model->doc, &nb_errors);
	if (nb_errors > 0)
		return 0;
	/* Of a frame the short form comes first, as in a program that runs. */
	for (i = 0; i < weir_base_doc_count(links); i++)
		if (read_hits(model, root, weir_base_doc_at(links, i)) < 0)
			return -ENOMEM;
	for (i = 0; i < weir_base_doc_count(processes); i++)
		if (read_process(model, root, weir_base_doc_at(processes, i)) < 0)
			return -ENOMEM;
	for (i = 0; i < weir_base_doc_count(costs); i++) {
		const char *name = weir_base_doc_name(weir_base_doc_at(costs, i));

		if (weir_base_doc_get(processes, name) == NULL &&
			strcmp(name, WEIR_BASE_PROCESS_HITS) != 0)
			weir_base_doc_error_add(model->doc, weir_base_doc_at(costs, i),
				"unknown process '%s'; expected one of application.processes, or "
				"'%s'",
				name, WEIR_BASE_PROCESS_HITS);
	}
	return 0;
}
