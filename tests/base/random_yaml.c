/* SPDX-License-Identifier: BSD-3-Clause */
#include "random_yaml.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#define NB(array) (sizeof(array) / sizeof((array)[0]))

#define MAX_DEPTH 5

struct writer {
	FILE *out;
	uint64_t *state;
	unsigned int nb_keys; /* so that none comes twice */
	unsigned int nb_anchors;
	bool lf_only; /* a text in quotes ends in a line break */
};

/* Words of plain scalars: first those that may begin one and stand in brackets, then the others that may begin one. */
static const char *const plain[] = {"a", "word", "10.0.0.0/8", "::1", "2001:db8::1", "::", "x:y",
	"c#d", "-1", "-x", "1.5e3", "~", "null", "true", "it's", "say\"so\"", "\xc3\xa9t\xc3\xa9",
	"\xf0\x9f\x8c\x8a", "10Gb/s", "0.6cycles/B", "classify.ip4", "->", "$x", "a&b", "a*b",
	"a!b", "50%", "a|b", "a>b", "a@b", "a`b", "<<", "=", "http://h/p?q=r;s", "\\n",
	"02:00:00:00:00:01", "1,2", "x[0]", "f{1}", ":z", "a?b", "[x]", "&x", "*x", "!x", "%x",
	"@x", "`x", "'x'", "\"x\"", "|", ">"};
enum {
	NB_IN_BRACKETS = 36,
	NB_FIRST = 41,
};

static const char *const comments[] = {"", " text", " key: value", " [ {", " 'quote", " \"",
	" # more", " ::1 :: ", " - x", " \xc3\xa9", " ---", "! &a *a"};

/* What stands between double quotes, escaped and not. */
static const char *const doubled[] = {"a", "word", " ", "  ", ": ", " #", "::1", "[", "}", ",", "'",
	"\\\"", "\\\\", "\\n", "\\t", "\\/", "\\x41", "\\u20ac", "\\U0001F30A", "\\e", "\\_", "\\N",
	"\\L", "\\P", "\\a", "\\r", "\\ x", "\xc3\xa9", "\xf0\x9f\x8c\x8a", "&x", "- "};

static const char *const singled[] = {"a", "word", " ", "  ", ": ", " #", "::1", "{", "]", ",",
	"''", "\"", "\\", "\\n", "\xc3\xa9", "- ", "%", "@"};

static unsigned int
roll(struct writer *writer, unsigned int sides)
{
	return (unsigned int)((random_next(writer->state) >> 20) % sides);
}

static void
put(struct writer *writer, const char *text)
{
	fputs(text, writer->out);
}

static const char *
one_of(struct writer *writer, const char *const *of, unsigned int count)
{
	return of[roll(writer, count)];
}

static void
blanks(struct writer *writer, unsigned int count)
{
	fprintf(writer->out, "%*s", (int)count, "");
}

static void
comment(struct writer *writer)
{
	fprintf(writer->out, "#%s", one_of(writer, comments, NB(comments)));
}

/* The end of a line, and perhaps some that hold no value. */
static void
end_line(struct writer *writer)
{
	if (roll(writer, 6) == 0)
		blanks(writer, 1 + roll(writer, 3));
	if (roll(writer, 6) == 0) {
		put(writer, " ");
		comment(writer);
	}
	put(writer, "\n");
	while (roll(writer, 8) == 0) {
		blanks(writer, roll(writer, 9));
		if (roll(writer, 2) == 0)
			comment(writer);
		put(writer, "\n");
	}
}

/* @return there is one */
static bool
anchor(struct writer *writer)
{
	bool written = roll(writer, 12) == 0;

	if (written)
		fprintf(writer->out, "&n%u ", writer->nb_anchors++);
	return written;
}

/* A line break within a scalar, folded to a blank or to line breaks. */
static void
fold(struct writer *writer, unsigned int indent)
{
	put(writer, "\n");
	while (roll(writer, 4) == 0)
		put(writer, "\n");
	blanks(writer, indent + roll(writer, 4));
}

/* @param indent of further lines; 0: there are none */
static void
plain_scalar(struct writer *writer, unsigned int indent, bool in_brackets)
{
	unsigned int nb = 1 + roll(writer, 2) * roll(writer, 5), i;
	const char *word = one_of(writer, plain, in_brackets ? NB_IN_BRACKETS : NB_FIRST);

	for (i = 0; i < nb; i++) {
		if (i > 0 && indent > 0 && roll(writer, 4) == 0)
			fold(writer, indent);
		else if (i > 0)
			blanks(writer, 1 + roll(writer, 8) / 6);
		/* What ends in a colon is a key, or refused. */
		if (word[strlen(word) - 1] == ':')
			word = "::2";
		put(writer, word);
		word = one_of(writer, plain, in_brackets ? NB_IN_BRACKETS : NB(plain));
	}
}

/* Between quotes, on several lines or on one. Where there are several, no two escapes stand side by side. */
static void
quoted(struct writer *writer, unsigned int indent, char quote, const char *const *words,
	unsigned int nb_words)
{
	bool several = indent > 0 && roll(writer, 2) == 0, broken = false;
	unsigned int nb = roll(writer, 7);

	fputc(quote, writer->out);
	while (nb-- > 0) {
		const char *word = one_of(writer, words, nb_words);

		put(writer, word);
		broken &= word[0] == ' ';
		if (quote == '\'' ? word[0] == quote : several && word[0] == '\\')
			put(writer, "w");
		if (!several || roll(writer, 3) != 0)
			continue;
		if (quote == '"' && roll(writer, 3) == 0) {
			put(writer, "\\\n");
			blanks(writer, indent);
			put(writer, "w");
		} else {
			fold(writer, indent);
			broken = true;
		}
	}
	writer->lf_only |= broken;
	fputc(quote, writer->out);
}

static void
scalar(struct writer *writer, unsigned int indent, bool in_brackets)
{
	switch (roll(writer, 5)) {
	case 0:
		quoted(writer, indent, '"', doubled, NB(doubled));
		break;
	case 1:
		quoted(writer, indent, '\'', singled, NB(singled));
		break;
	default:
		plain_scalar(writer, indent, in_brackets);
		break;
	}
}

/* One line, and unlike all before it. */
static void
key(struct writer *writer, bool in_brackets)
{
	/* Before the number, and behind it. */
	static const char *const around[][2] = {{"k", ""}, {"\"k", "\""}, {"'k", "'"}, {"key ", ""},
		{"a.b-", ""}, {"\"\\u20ac: ", "\""}, {"'it''s #", "'"}, {"\xc3\xa9", ""}, {"", ""},
		{"::", ""}};
	const char *const *these = around[roll(writer, NB(around) - !in_brackets)];

	fprintf(writer->out, "%s%u%s", these[0], writer->nb_keys++, these[1]);
	if (roll(writer, 10) == 0)
		blanks(writer, 1 + roll(writer, 2));
}

static void flow(struct writer *writer, unsigned int indent, unsigned int depth);

/* Between two values in brackets. @return the next one stands on another line */
static bool
flow_gap(struct writer *writer, unsigned int indent)
{
	bool broken = roll(writer, 6) == 0;

	if (broken)
		end_line(writer);
	blanks(writer, broken ? indent + roll(writer, 4) : roll(writer, 3));
	return broken;
}

static void
flow_value(struct writer *writer, unsigned int indent, unsigned int depth, bool no_colons)
{
	no_colons |= anchor(writer);
	if (depth < MAX_DEPTH && roll(writer, 4) == 0)
		flow(writer, indent, depth + 1);
	else if (no_colons)
		quoted(writer, indent, '"', doubled, NB(doubled));
	else
		scalar(writer, indent, true);
}

static void
flow_entry(struct writer *writer, unsigned int indent, unsigned int depth)
{
	if (roll(writer, 10) == 0)
		fprintf(writer->out, "? key%u ", writer->nb_keys++);
	else
		key(writer, true);
	if (roll(writer, 8) == 0)
		return; /* a key alone */
	put(writer, ": ");
	if (roll(writer, 10) == 0)
		return; /* nothing behind it */
	flow_value(writer, indent, depth, flow_gap(writer, indent));
}

/* A map or list in brackets. */
static void
flow(struct writer *writer, unsigned int indent, unsigned int depth)
{
	bool map = roll(writer, 2) == 0;
	unsigned int nb = roll(writer, 5);

	put(writer, map ? "{" : "[");
	while (nb-- > 0) {
		flow_gap(writer, indent);
		if (map)
			flow_entry(writer, indent, depth);
		else
			flow_value(writer, indent, depth, false);
		flow_gap(writer, indent);
		if (nb > 0 || roll(writer, 6) == 0)
			put(writer, ",");
	}
	flow_gap(writer, indent);
	put(writer, map ? "}" : "]");
}

/* Behind | or >: lines of more indentation than what holds it. */
static void
block_scalar(struct writer *writer, unsigned int indent)
{
	unsigned int more = 1 + roll(writer, 4), nb = 1 + roll(writer, 4), i;
	bool told = roll(writer, 3) == 0, folded = roll(writer, 2) == 0, written = false,
	     empty = false;

	put(writer, folded ? ">" : "|");
	if (told)
		fprintf(writer->out, "%u", more);
	put(writer, one_of(writer, (const char *const[]){"", "-", "+"}, 3));
	if (roll(writer, 5) == 0) {
		put(writer, " ");
		comment(writer);
	}
	put(writer, "\n");
	for (i = 0; i < nb; i++) {
		if ((written || i + 1 < nb) && roll(writer, 5) == 0) {
			put(writer, "\n");
			empty = true;
			continue;
		}
		/* Where the indentation is not told, it is that of the first line. */
		blanks(writer, indent + more);
		if ((told || written) && !(folded && empty))
			blanks(writer, roll(writer, 5) / 3);
		written = true;
		empty = false;
		put(writer, one_of(writer, plain, NB(plain)));
		if (roll(writer, 3) == 0)
			put(writer, " # x: y  ");
		put(writer, "\n");
	}
}

static void block_map(struct writer *writer, unsigned int indent, unsigned int depth, bool begun);
static void block_list(
	struct writer *writer, unsigned int indent, unsigned int depth, bool begun, bool may_lack);

/*
 * What stands behind a key's colon or a list's dash, to the end of the line and beyond.
 *
 * @param indent of what holds it, in columns; -1: the document
 * @param in_list its first line may hold a map or list, too, of this many columns; 0: not
 */
static void
block_value(
	struct writer *writer, int indent, unsigned int depth, unsigned int in_list, bool may_lack)
{
	unsigned int deeper = (unsigned int)(indent + 1) + roll(writer, 4);
	unsigned int kind = roll(writer, depth < MAX_DEPTH ? 12 : 8);

	if (kind == 0 && may_lack) {
		end_line(writer);
		return;
	}
	if (kind >= 9 && in_list > 0 && roll(writer, 2) == 0) {
		unsigned int gap = 1 + roll(writer, 3);

		blanks(writer, gap);
		if (kind == 11)
			block_list(writer, in_list + gap, depth + 1, true, true);
		else
			block_map(writer, in_list + gap, depth + 1, true);
		return;
	}
	put(writer, " ");
	anchor(writer);
	switch (kind) {
	case 1:
		block_scalar(writer, (unsigned int)(indent < 0 ? 0 : indent));
		return;
	case 2:
	case 3:
		flow(writer, (unsigned int)(indent + 1), depth + 1);
		end_line(writer);
		return;
	case 9:
	case 10:
		end_line(writer);
		block_map(writer, deeper, depth + 1, false);
		return;
	case 11:
		end_line(writer);
		/* A map's list may stand where the map does. */
		if (in_list == 0 && indent >= 0 && roll(writer, 3) == 0)
			deeper = (unsigned int)indent;
		block_list(writer, deeper, depth + 1, false, (int)deeper > indent);
		return;
	default:
		scalar(writer, (unsigned int)(indent + 1), false);
		end_line(writer);
		return;
	}
}

/* @param begun the first line has its indentation */
static void
block_map(struct writer *writer, unsigned int indent, unsigned int depth, bool begun)
{
	unsigned int nb = 1 + roll(writer, 5), i;

	for (i = 0; i < nb; i++) {
		if (i > 0 || !begun)
			blanks(writer, indent);
		if (roll(writer, 12) == 0) {
			put(writer, "? ");
			key(writer, false);
			end_line(writer);
			blanks(writer, indent);
		} else {
			key(writer, false);
		}
		put(writer, ":");
		block_value(writer, (int)indent, depth, 0, true);
	}
}

static void
block_list(
	struct writer *writer, unsigned int indent, unsigned int depth, bool begun, bool may_lack)
{
	unsigned int nb = 1 + roll(writer, 5), i;

	for (i = 0; i < nb; i++) {
		if (i > 0 || !begun)
			blanks(writer, indent);
		put(writer, "-");
		block_value(writer, (int)indent, depth, indent + 1, may_lack);
	}
}

static void
document(struct writer *writer)
{
	bool begins = roll(writer, 4) == 0;

	if (roll(writer, 4) == 0) {
		comment(writer);
		put(writer, "\n");
	}
	if (begins && roll(writer, 3) == 0)
		put(writer, "%YAML 1.2\n");
	if (begins)
		put(writer, "---\n");
	switch (roll(writer, 8)) {
	case 0:
		flow(writer, 1, 1);
		end_line(writer);
		break;
	case 1:
		block_list(writer, roll(writer, 3), 1, false, true);
		break;
	default:
		block_map(writer, roll(writer, 3), 1, false);
		break;
	}
	if (begins && roll(writer, 3) == 0)
		put(writer, "...\n");
}

/* Line breaks of other systems. */
static char *
with_breaks(char *text, size_t *size, const char *line_break)
{
	char *copy = NULL, *at;
	FILE *out = open_memstream(&copy, size);

	for (at = text; *at != '\0'; at++) {
		if (*at == '\n')
			fputs(line_break, out);
		else
			fputc(*at, out);
	}
	fclose(out);
	free(text);
	return copy;
}

char *
random_yaml(uint64_t *state, size_t *size)
{
	struct writer writer = {.state = state};
	char *text = NULL;

	writer.out = open_memstream(&text, size);
	document(&writer);
	fclose(writer.out);
	switch (roll(&writer, 10)) {
	case 0:
		return writer.lf_only ? text : with_breaks(text, size, "\r\n");
	case 1:
		return with_breaks(text, size, "\r");
	default:
		return text;
	}
}
