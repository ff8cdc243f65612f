/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of a scalar. libfyaml's own fy_token_get_text() loses memory on
 * quoted texts with many escapes, and with '' twice in a row in single quotes
 * gives a quote too many (0.7.12). So the pieces of a text are put together
 * here, and single quotes are read from the file itself.
 */
#include "doc_private.h"

#include <string.h>
#include <sys/types.h>

#include <libfyaml.h>

/* Length of the line break at text, 0: none. */
static size_t
break_length(const char *text, const char *end)
{
	if (text == end || (*text != '\n' && *text != '\r'))
		return 0;
	return *text == '\r' && text + 1 < end && text[1] == '\n' ? 2 : 1;
}

static const char *
skip_blanks(const char *text, const char *end)
{
	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	return text;
}

/*
 * A line break between single quotes, with the blanks around it, is a blank; one
 * with empty lines after it is as many breaks as there are empty lines. Moves
 * *text on, returns the new end of what was written.
 */
static char *
fold(const char **text, const char *end, char *line, char *out)
{
	unsigned int nb_breaks = 0;
	size_t length;

	while (out > line && (out[-1] == ' ' || out[-1] == '\t'))
		out--;
	while ((length = break_length(*text, end)) != 0) {
		*text = skip_blanks(*text + length, end);
		nb_breaks++;
	}
	if (nb_breaks == 1)
		*out++ = ' ';
	for (; nb_breaks > 1; nb_breaks--)
		*out++ = '\n';
	return out;
}

/* What stands between single quotes, which is never longer than it is written. */
static char *
single_quoted(struct weir_base_doc *doc, const char *text, size_t size, size_t *length)
{
	const char *end = text + size;
	char *copy = weir_base_doc_alloc(doc, size + 1);
	char *out = copy, *line = copy;

	if (copy == NULL)
		return NULL;
	while (text < end) {
		if (break_length(text, end) != 0) {
			out = fold(&text, end, line, out);
			line = out;
		} else {
			/* A quote is written twice. */
			text += *text == '\'' && text + 1 < end && text[1] == '\'';
			*out++ = *text++;
		}
	}
	*out = '\0';
	*length = (size_t)(out - copy);
	return copy;
}

/* A text in pieces, copied where copy is not NULL; its length, or -1. */
static ssize_t
gather(struct fy_token *token, char *copy)
{
	struct fy_token_iter *iter = fy_token_iter_create(token);
	const struct fy_iter_chunk *chunk = NULL;
	size_t length = 0;
	int error = 0;

	if (iter == NULL)
		return -1;
	while ((chunk = fy_token_iter_chunk_next(iter, chunk, &error)) != NULL) {
		if (copy != NULL)
			memcpy(copy + length, chunk->str, chunk->len);
		length += chunk->len;
	}
	fy_token_iter_destroy(iter);
	/* An empty block at the end of a file is an error to the iterator, and an empty text to YAML. */
	return error == 0 || length == 0 ? (ssize_t)length : -1;
}

char *
weir_base_doc_scalar_text(struct weir_base_doc *doc, const char *input, size_t size,
	struct fy_token *token, size_t *length)
{
	const struct fy_mark *start = fy_token_start_mark(token);
	const struct fy_mark *end = fy_token_end_mark(token);
	ssize_t gathered;
	char *copy;

	if (fy_token_scalar_style(token) == FYSS_SINGLE_QUOTED && start != NULL && end != NULL &&
		start->input_pos <= end->input_pos && end->input_pos <= size)
		return single_quoted(
			doc, input + start->input_pos, end->input_pos - start->input_pos, length);
	gathered = gather(token, NULL);
	copy = gathered < 0 ? NULL : weir_base_doc_alloc(doc, (size_t)gathered + 1);
	if (copy == NULL || gather(token, copy) != gathered) {
		doc->out_of_memory = true;
		return NULL;
	}
	*length = (size_t)gathered;
	return copy;
}
