/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of functions on frames of links: which links they get, where what they make goes, and what may be said of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rules_private.h"

/* Keys that mean something in one place, or with one kind of function, only. */
static const char *const hits_keys[] = {"threshold", "max_samples", NULL};
static const char *const plugin_keys[] = {"argument", NULL};
static const char *const thread_keys[] = {"cpu", NULL};
static const char *const jobs_keys[] = {
	"jobs", "frames", "on_full", "priority", "slice", "group", NULL};

static bool
finds_hits(const struct rules_function *function)
{
	const char *text = weir_base_doc_str(weir_base_doc_get(function->value, "function"));

	return function->of != NULL || strcmp(text, WEIR_BASE_PROCESS_HITS) == 0;
}

/* Before buffers. */
static bool
is_inline(const struct rules_function *function)
{
	return function->of != NULL || weir_base_doc_u64(weir_base_doc_get(
					       function->value, "where")) == WEIR_BASE_WHERE_INLINE;
}

static void
refuse_keys(const struct rules_functions *functions, const struct weir_base_doc_value *process,
	const char *const *keys, const char *expected)
{
	for (; *keys != NULL; keys++)
		if (weir_base_doc_given(process, *keys))
			weir_base_doc_error_add(functions->doc, weir_base_doc_get(process, *keys),
				"'%s' means nothing for process '%s'; expected it with '%s' only",
				*keys, weir_base_doc_name(process), expected);
}

/* Does it get frames of any of these links? */
static bool
has_some(const struct rules_functions *functions, const struct rules_function *function,
	const struct weir_base_doc_value *link)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(function->value, "links");
	unsigned int i;

	if (function->of != NULL)
		return function->of == link;
	for (i = 0; i < weir_base_doc_count(list); i++)
		if (weir_base_links_find(
			    functions->links, weir_base_doc_str(weir_base_doc_at(list, i)))
				.link == link)
			return true;
	return false;
}

/* ---- which links ---- */

static void
check_format(const struct rules_functions *functions, const struct rules_function *function,
	const struct weir_base_doc_value *link, const struct weir_base_doc_value *at)
{
	const char *format = weir_base_doc_str(weir_base_doc_get(link, "format"));

	if (finds_hits(function) && strcmp(format, WEIR_BASE_FORMAT_WIBETH) != 0)
		weir_base_doc_error_add(functions->doc, at,
			"no hits are found in frames of format '%s'; expected it with '%s'", format,
			WEIR_BASE_FORMAT_WIBETH);
}

static void
check_links(const struct rules_functions *functions, const struct rules_function *function)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(function->value, "links");
	unsigned int i;

	if (weir_base_doc_count(list) == 0)
		weir_base_doc_error_add(functions->doc, list,
			"no links whose frames process '%s' gets; expected %s",
			weir_base_doc_name(function->value),
			rules_link_names(functions->doc, functions->application));
	for (i = 0; i < weir_base_doc_count(list); i++) {
		const struct weir_base_doc_value *at = weir_base_doc_at(list, i);
		const struct weir_base_links found =
			rules_find_links(functions->doc, functions->application, at);

		if (found.link == NULL)
			continue;
		check_format(functions, function, found.link, at);
		if (rules_lists(functions->application, list, i, found))
			weir_base_doc_error_add(functions->doc, at,
				"process '%s' has link '%s' already; expected each once",
				weir_base_doc_name(function->value), weir_base_doc_str(at));
	}
}

/* ---- where what they make goes ---- */

/* @return NULL: there is an error */
static const struct weir_base_doc_value *
find_target(const struct rules_functions *functions, const struct rules_function *function,
	const struct weir_base_doc_value *to)
{
	const char *name = weir_base_doc_str(to), *format;
	const struct weir_base_doc_value *link = weir_base_doc_get(functions->links, name);
	const bool has_hits = finds_hits(function);
	uint32_t nb;

	if (link == NULL) {
		weir_base_doc_error_add(functions->doc, to, "unknown link '%s'; expected %s", name,
			rules_link_names(functions->doc, functions->application));
		return NULL;
	}
	nb = weir_base_links_find(functions->links, name).nb;
	format = weir_base_doc_str(weir_base_doc_get(link, "format"));
	if (nb == 1 && (!has_hits || strcmp(format, WEIR_BASE_FORMAT_HIT) == 0))
		return link;
	weir_base_doc_error_add(functions->doc, to,
		"'%s' is %u links of format '%s'; expected one link%s", name, nb, format,
		has_hits ? " of format 'hit'" : "");
	return NULL;
}

/* Do frames of a link become, by way of any number of functions, frames of another? Those that do so far come to an end. */
static bool
leads_to(const struct rules_functions *functions, const struct weir_base_doc_value *from,
	const struct weir_base_doc_value *target)
{
	unsigned int i;

	if (from == target)
		return true;
	for (i = 0; i < functions->nb; i++)
		if (functions->list[i].to != NULL &&
			has_some(functions, &functions->list[i], from) &&
			leads_to(functions, functions->list[i].to, target))
			return true;
	return false;
}

static void
check_target(const struct rules_functions *functions, struct rules_function *function)
{
	const struct weir_base_doc_value *to = weir_base_doc_get(function->value, "to"), *target;
	unsigned int i;

	if (to == NULL)
		return;
	target = find_target(functions, function, to);
	for (i = 0; target != NULL && i < weir_base_doc_count(functions->links); i++) {
		const struct weir_base_doc_value *link = weir_base_doc_at(functions->links, i);

		if (!has_some(functions, function, link) || !leads_to(functions, target, link))
			continue;
		weir_base_doc_error_add(functions->doc, to,
			"what becomes of frames of link '%s' would come back to it; expected "
			"another link",
			weir_base_doc_name(link));
		return;
	}
	function->to = target;
}

/* ---- what they are, and where they run ---- */

static void
check_function(const struct rules_functions *functions, const struct rules_function *function)
{
	const struct weir_base_doc_value *value = function->value;
	const char *name = weir_base_doc_name(value);

	if (!weir_base_is_name(name, WEIR_BASE_PROCESS_NAME_MAX) ||
		strcmp(name, WEIR_BASE_PROCESS_HITS) == 0)
		weir_base_doc_error_add(functions->doc, value,
			"process name '%s' cannot be used; expected 1 to %d letters, digits or "
			"'_', and not 'hits', which is what a link's key of that name makes",
			name, WEIR_BASE_PROCESS_NAME_MAX);
	if (!finds_hits(function)) {
		refuse_keys(functions, value, hits_keys, "function: hits");
		return;
	}
	refuse_keys(functions, value, plugin_keys, "function: PLUGIN.so:SYMBOL");
	if (!weir_base_doc_given(value, "threshold"))
		weir_base_doc_error_add(functions->doc, value,
			"process '%s' finds no hits; expected a key 'threshold'", name);
	if (!weir_base_doc_given(value, "to"))
		weir_base_doc_error_add(functions->doc, value,
			"the hits of process '%s' go nowhere; expected a key 'to'", name);
}

static void
check_where(const struct rules_functions *functions, const struct rules_function *function)
{
	const struct weir_base_doc_value *value = function->value;
	const uint64_t where = weir_base_doc_u64(weir_base_doc_get(value, "where"));
	const uint64_t nb_jobs = weir_base_doc_u64(weir_base_doc_get(value, "jobs"));

	if (where != WEIR_BASE_WHERE_THREAD)
		refuse_keys(functions, value, thread_keys, "where: thread");
	if (where != WEIR_BASE_WHERE_JOBS)
		refuse_keys(functions, value, jobs_keys, "where: jobs");
	else if (nb_jobs > 1 && (finds_hits(function) || weir_base_doc_given(value, "to")))
		weir_base_doc_error_add(functions->doc, weir_base_doc_get(value, "jobs"),
			"%u jobs at a time have no order; expected 1 for %s", (unsigned int)nb_jobs,
			finds_hits(function) ? "the hit finder"
					     : "a function that sends something 'to' a link");
}

/* So many in a row may look at a link's frames. */
static void
check_row(const struct rules_functions *functions, const struct weir_base_doc_value *link)
{
	unsigned int nb = 0, i;

	for (i = 0; i < functions->nb; i++)
		if (is_inline(&functions->list[i]) &&
			has_some(functions, &functions->list[i], link) &&
			++nb == WEIR_BASE_PROCESSES_MAX + 1)
			weir_base_doc_error_add(functions->doc, functions->list[i].value,
				"more than %d processes look at frames of link '%s' before its "
				"buffer; expected fewer",
				WEIR_BASE_PROCESSES_MAX, weir_base_doc_name(link));
}

/* Those after its buffer keep frames from being overwritten: what it has to spare is for them. By default it has more. */
static void
check_spare(const struct rules_functions *functions, const struct weir_base_doc_value *link)
{
	const struct weir_base_doc_value *spare =
		weir_base_doc_get(weir_base_doc_get(link, "buffer"), "spare");
	uint64_t pinned = 0;
	unsigned int i;

	for (i = 0; i < functions->nb; i++) {
		const struct weir_base_doc_value *value = functions->list[i].value;

		if (is_inline(&functions->list[i]) ||
			!has_some(functions, &functions->list[i], link))
			continue;
		pinned += 1;
		if (weir_base_doc_u64(weir_base_doc_get(value, "where")) == WEIR_BASE_WHERE_JOBS)
			pinned += weir_base_doc_u64(weir_base_doc_get(value, "jobs")) *
				  weir_base_doc_u64(weir_base_doc_get(value, "frames"));
	}
	if (pinned > 0 && spare != NULL && pinned >= weir_base_doc_u64(spare))
		weir_base_doc_error_add(functions->doc, spare,
			"processes keep up to %" PRIu64 " frames of link '%s' at a time, and its "
			"buffer has %" PRIu64
			" to spare; expected more 'spare', or fewer 'jobs' or 'frames' of the "
			"processes",
			pinned, weir_base_doc_name(link), weir_base_doc_u64(spare));
}

/* Before its buffer. */
static void
check_hits(struct rules_functions *functions, const struct weir_base_doc_value *link)
{
	struct rules_function *function = &functions->list[functions->nb];

	*function = (struct rules_function){
		weir_base_doc_get(link, WEIR_BASE_PROCESS_HITS), link, NULL};
	if (function->value == NULL)
		return;
	check_format(functions, function, link, function->value);
	check_target(functions, function);
	functions->nb++;
}

static void
check_process(struct rules_functions *functions, const struct weir_base_doc_value *process)
{
	struct rules_function *function = &functions->list[functions->nb];

	*function = (struct rules_function){process, NULL, NULL};
	check_function(functions, function);
	check_links(functions, function);
	check_target(functions, function);
	check_where(functions, function);
	functions->nb++;
}

void
weir_base_rules_frames(struct weir_base_doc *doc, const struct weir_base_doc_value *application)
{
	const struct weir_base_doc_value *processes = weir_base_doc_get(application, "processes");
	const struct weir_base_doc_value *links = weir_base_doc_get(application, "links");
	const unsigned int nb_processes = weir_base_doc_count(processes);
	const unsigned int nb_links = weir_base_doc_count(links);
	struct rules_functions functions = {
		.doc = doc,
		.application = application,
		.links = links,
		.list = calloc(nb_links + nb_processes + 1, sizeof(*functions.list)),
	};
	unsigned int i;

	if (functions.list == NULL) {
		weir_base_doc_error_add(doc, processes, "out of memory");
		return;
	}
	for (i = 0; i < nb_links; i++)
		check_hits(&functions, weir_base_doc_at(links, i));
	for (i = 0; i < nb_processes; i++)
		check_process(&functions, weir_base_doc_at(processes, i));
	for (i = 0; i < nb_links; i++) {
		check_row(&functions, weir_base_doc_at(links, i));
		check_spare(&functions, weir_base_doc_at(links, i));
	}
	rules_check_shared(doc, application);
	rules_check_receivers(doc);
	rules_check_feeds(&functions);
	free(functions.list);
}
