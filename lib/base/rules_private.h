/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_RULES_PRIVATE_H
#define WEIR_BASE_RULES_PRIVATE_H

/* What the rules of links have in common. */

#include "weir_base_doc.h"
#include "weir_base_format.h"
#include "weir_base_nodes.h"
#include "weir_base_rules.h"

#pragma GCC visibility push(hidden)

/* Names of all links, for an error that says what was expected. */
const char *rules_link_names(
	struct weir_base_doc *doc, const struct weir_base_doc_value *application);

/* The links that @p name means; of none an error is told. */
struct weir_base_links rules_find_links(struct weir_base_doc *doc,
	const struct weir_base_doc_value *application, const struct weir_base_doc_value *name);

/* A link's format, which is known. */
struct weir_base_format rules_format_of(
	const struct weir_base_doc_value *application, const struct weir_base_doc_value *link);

/* Is any of the first @p nb entries of a list of links, some of which there are not, one of these, too? */
bool rules_lists(const struct weir_base_doc_value *application,
	const struct weir_base_doc_value *list, unsigned int nb, struct weir_base_links links);

/* A function on frames; the short form is of one link, in which it stands. */
struct rules_function {
	const struct weir_base_doc_value *value, *of;
	const struct weir_base_doc_value
		*to; /* the link that it sends to, where that is in order */
};

struct rules_functions {
	struct weir_base_doc *doc;
	const struct weir_base_doc_value *application, *links;
	struct rules_function *list;
	unsigned int nb;
};

/* Is it one that hands frames of a port to links? */
bool rules_is_link_rx(const struct weir_base_doc_value *node);

/* The ports and links of such nodes. */
void rules_check_shared(struct weir_base_doc *doc, const struct weir_base_doc_value *application);

/* Receivers of the platform, and their links. */
void rules_check_receivers(struct weir_base_doc *doc);

/* Where do frames of links come from, beside those that functions make? */
void rules_check_feeds(const struct rules_functions *functions);

#pragma GCC visibility pop

#endif
