/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the YAML parser complains about, in words for those who do not know
 * YAML's inside. What is not listed here is told in libyaml's own words.
 */
#include "doc_private.h"

#include <string.h>

#include <yaml.h>

struct words {
	const char *theirs, *ours;
};

static const struct words problems[] = {
	{"mapping values are not allowed in this context",
		"a ':' cannot stand here; expected one 'key: value' on a line, or quotes around a "
		"text that holds ': '"},
	{"mapping keys are not allowed in this context",
		"a '?' cannot stand here; expected 'key: value'"},
	{"block sequence entries are not allowed in this context",
		"a list cannot begin here; expected its '-' on a line of its own"},
	{"could not find expected ':'",
		"expected ':' behind this key, on its line and within 1024 characters"},
	{"did not find expected key", "expected a key"},
	{"did not find expected '-' indicator", "expected '-'"},
	{"did not find expected ',' or ']'", "expected ',' or ']'"},
	{"did not find expected ',' or '}'", "expected ',' or '}'"},
	{"did not find expected node content", "expected a value"},
	{"did not find expected <document start>",
		"this belongs to nothing before it; expected one map in a file"},
	{"found unexpected end of stream", "expected a closing quote"},
	{"found unexpected document indicator", "expected a closing quote before this"},
	{"found unknown escape character",
		"unknown escape; expected one such as \\n, \\\\ or \\u20ac"},
	{"did not find expected hexdecimal number", "expected hexadecimal digits"},
	{"found invalid Unicode character escape code",
		"this escape is no character; expected one such as \\u20ac or \\U0001f30a"},
	{"found unexpected ':'",
		"a text in brackets cannot end in ':'; expected quotes around it, or a blank "
		"behind a key's"},
	{"found a tab character that violates indentation", "a tab cannot indent; expected blanks"},
	{"found a tab character where an indentation space is expected",
		"a tab cannot indent; expected blanks"},
	{"did not find expected alphabetic or numeric character",
		"expected a name of letters and digits"},
	{"did not find expected comment or line break", "expected the end of the line"},
	{"could not find expected directive name", "unknown directive; expected %YAML 1.2 or none"},
	{"found unexpected non-alphabetical character",
		"unknown directive; expected %YAML 1.2 or none"},
	{"found unknown directive name", "unknown directive; expected %YAML 1.2 or none"},
	{"found incompatible YAML document", "unknown version; expected %YAML 1.2 or none"},
	{NULL, NULL},
};

/* What it was reading. */
static const struct words contexts[] = {
	{"while parsing a flow sequence", "list"},
	{"while parsing a flow mapping", "map"},
	{"while parsing a block collection", "list"},
	{"while parsing a block mapping", "map"},
	{"while scanning a quoted scalar", "text"},
	{"while parsing a quoted scalar", "text"},
	{"while scanning a plain scalar", "text"},
	{"while scanning a block scalar", "text"},
	{"while scanning a directive", "directive"},
	{"while scanning a %YAML directive", "directive"},
	{"while scanning a %TAG directive", "directive"},
	{NULL, NULL},
};

static const char *
translate(const struct words *words, const char *text)
{
	for (; text != NULL && words->theirs != NULL; words++) {
		if (strcmp(words->theirs, text) == 0)
			return words->ours;
	}
	return NULL;
}

/* What no value begins with: @, % and others, and a tab where a line is indented. */
static const char *
refused_beginning(struct weir_base_doc *doc, const struct doc_text *text, const yaml_mark_t *mark)
{
	char sign = *weir_base_doc_text_at(
		text, (unsigned int)mark->line + 1, (unsigned int)mark->column + 1);

	if (sign == '\t')
		return "a tab cannot indent; expected blanks";
	return weir_base_doc_format(
		doc, "a value cannot begin with '%c'; expected quotes around it", sign);
}

const char *
weir_base_doc_fault(struct weir_base_doc *doc, const struct yaml_parser_s *parser,
	const struct doc_text *text, unsigned int *line, unsigned int *column)
{
	const yaml_mark_t *mark = &parser->problem_mark, *from = &parser->context_mark;
	const char *theirs = parser->problem != NULL ? parser->problem : "(no reason given)";
	const char *ours = translate(problems, theirs);
	const char *context = translate(contexts, parser->context);

	if (strcmp(theirs, "found character that cannot start any token") == 0)
		ours = refused_beginning(doc, text, mark);
	/* Found late; what lacks it is where it begins. */
	if (strcmp(theirs, "could not find expected ':'") == 0 ||
		strcmp(theirs, "found unexpected end of stream") == 0)
		mark = from;
	*line = (unsigned int)mark->line + 1;
	*column = (unsigned int)mark->column + 1;
	/* Without a newline at its end, the end of a text is a line further for libyaml. */
	if (*line > text->line) {
		*line = text->line;
		*column = text->column;
	}
	if (ours == NULL)
		ours = theirs;
	if (context == NULL || from->index == mark->index)
		return weir_base_doc_format(doc, "not valid YAML: %s", ours);
	return weir_base_doc_format(doc,
		"not valid YAML: %s (in the %s that begins on line %zu, column %zu)", ours, context,
		from->line + 1, from->column + 1);
}
