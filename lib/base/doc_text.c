/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A text on its way to the YAML parser: what no description file holds is
 * refused, and what libyaml would misread is written differently.
 *
 * That is :: at the beginning of a plain scalar. In brackets libyaml takes a
 * colon there for the one behind a key (YAML 1.1), while IPv6 addresses such as
 * ::1 are values of ours. The first colon is handed over as a character that
 * Unicode sets aside for a program's own use, one for one, so that columns stay
 * what they are; scalars get their colons back.
 */
#include "doc_private.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* U+FDD0, and how it might be written between double quotes. */
#define STAND_IN        "\xef\xb7\x90"
#define STAND_IN_LENGTH 3
#define STAND_IN_CODE   0xfdd0

/* libyaml compares each %TAG with all before it. */
#define MAX_TAG_DIRECTIVES 100

static uint32_t
code_of(const unsigned char *text, size_t length)
{
	uint32_t code = length == 1 ? text[0] : text[0] & (0x7fu >> length);
	size_t i;

	for (i = 1; i < length; i++)
		code = code << 6 | (text[i] & 0x3f);
	return code;
}

/*
 * Beyond ASCII: control characters, a byte order mark in the middle, and what
 * is no character. And the line breaks of YAML 1.1 that are none in YAML 1.2,
 * nor to editors: lines would be counted differently.
 */
static bool
is_refused(uint32_t code)
{
	return (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
	       code == STAND_IN_CODE || code == 0xfeff || code == 0xfffe || code == 0xffff;
}

static bool
is_escaped_stand_in(const char *at, size_t left)
{
	return (left >= 6 && strncasecmp(at, "\\ufdd0", 6) == 0) ||
	       (left >= 10 && strncasecmp(at, "\\U0000fdd0", 10) == 0);
}

/* What is wrong with the character of this length, NULL: nothing. */
static const char *
fault_of(struct weir_base_doc *doc, const char *at, size_t left, size_t length)
{
	unsigned char byte = (unsigned char)*at;
	uint32_t code;

	if (byte >= 0x20 && byte < 0x7f && byte != '\\')
		return NULL;
	if (length == 0)
		return weir_base_doc_format(
			doc, "byte 0x%02x is not valid UTF-8; expected YAML in UTF-8", byte);
	if (byte == 0x7f || (byte < 0x20 && memchr("\t\n\r", byte, 3) == NULL))
		return weir_base_doc_format(
			doc, "byte 0x%02x: this is not a text file; expected YAML in UTF-8", byte);
	code = code_of((const unsigned char *)at, length);
	if (is_escaped_stand_in(at, left))
		code = STAND_IN_CODE;
	if (is_refused(code))
		return weir_base_doc_format(
			doc, "character U+%04X is not supported; expected it left out", code);
	return NULL;
}

const char *
weir_base_doc_text_check(struct weir_base_doc *doc, struct doc_text *text)
{
	const char *at = text->start, *end = at + text->size;
	unsigned int nb_tags = 0;
	size_t length;

	text->line = text->column = 1;
	for (; at < end; at += length) {
		/* The checker looks ahead; what lies behind the end continues no character. */
		unsigned char ahead[5] = {0};
		size_t left = (size_t)(end - at);
		const char *fault;

		memcpy(ahead, at, left < 4 ? left : 4);
		length = weir_base_doc_utf8(ahead);
		fault = fault_of(doc, at, left, length);
		if (fault != NULL)
			return fault;
		if (text->column == 1 && left > 4 && memcmp(at, "%TAG", 4) == 0 &&
			++nb_tags > MAX_TAG_DIRECTIVES)
			return "too many %TAG directives; expected none, as tags are not supported";
		if (*at == '\n' || (*at == '\r' && ahead[1] != '\n')) {
			text->line++;
			text->column = 1;
		} else {
			text->column++;
		}
	}
	return NULL;
}

const char *
weir_base_doc_text_at(const struct doc_text *text, unsigned int line, unsigned int column)
{
	const char *at = text->start, *last = at + text->size - 1;
	unsigned int here = 1;

	for (; at < last && here < line; at++)
		here += *at == '\n' || (*at == '\r' && at[1] != '\n');
	for (here = 1; at < last && here < column; here++)
		at += weir_base_doc_utf8((const unsigned char *)at);
	return at <= last ? at : last;
}

/* Does a plain scalar begin here with two colons? */
static bool
is_colons(const struct doc_text *text, size_t at)
{
	const char *here = text->start + at;

	return text->size - at > 1 && here[0] == ':' && here[1] == ':' &&
	       (at == 0 || strchr(" \t\r\n,[{", here[-1]) != NULL);
}

size_t
weir_base_doc_text_read(struct doc_text *text, unsigned char *buffer, size_t room)
{
	size_t used = 0;

	while (text->at < text->size && used < room) {
		if (!is_colons(text, text->at)) {
			buffer[used++] = (unsigned char)text->start[text->at++];
			continue;
		}
		buffer[used++] = (unsigned char)STAND_IN[text->part++];
		if (text->part == STAND_IN_LENGTH) {
			text->part = 0;
			text->at++;
		}
	}
	return used;
}

size_t
weir_base_doc_text_restore(char *scalar, size_t length)
{
	char *from = scalar, *to = scalar, *end = scalar + length;

	while (from < end) {
		char *next = memmem(from, (size_t)(end - from), STAND_IN, STAND_IN_LENGTH);
		size_t kept = (size_t)((next != NULL ? next : end) - from);

		memmove(to, from, kept);
		to += kept;
		from += kept;
		if (next != NULL) {
			*to++ = ':';
			from += STAND_IN_LENGTH;
		}
	}
	*to = '\0';
	return (size_t)(to - scalar);
}
