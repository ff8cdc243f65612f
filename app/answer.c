/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading answers of a running instance. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"

const char *
answer_text(const json_t *item, const char *key)
{
	const char *value = json_string_value(json_object_get(item, key));

	return value != NULL && value[0] != '\0' ? value : "-";
}

/* Names are the application's: what would do something to a terminal is '?'. jansson has seen to it that they are UTF-8. @return to be freed; NULL: no memory */
static char *
printable(const char *from)
{
	char *copy = strdup(from), *to = copy;

	for (; copy != NULL && *from != '\0'; from++) {
		const unsigned char *at = (const unsigned char *)from;
		const bool c1 = at[0] == 0xc2 && at[1] < 0xa0; /* U+0080 to U+009F */

		*to++ = c1 || at[0] < 0x20 || at[0] == 0x7f ? '?' : *from;
		from += c1;
	}
	if (copy != NULL)
		*to = '\0';
	return copy;
}

static void
make_text_printable(json_t *string)
{
	char *copy = printable(json_string_value(string));

	json_string_set(string, copy != NULL ? copy : "?");
	free(copy);
}

static void
make_key_printable(json_t *object, const char *key, json_t *value)
{
	char *copy = printable(key);

	if (copy == NULL || strcmp(copy, key) != 0) {
		json_object_set(object, copy != NULL ? copy : "?", value);
		json_object_del(object, key);
	}
	free(copy);
}

void
answer_make_printable(json_t *answer)
{
	const char *key;
	json_t *value;
	size_t index;
	void *next;

	if (json_is_string(answer))
		make_text_printable(answer);
	json_array_foreach (answer, index, value) {
		answer_make_printable(value);
	}
	json_object_foreach_safe(answer, next, key, value)
	{
		answer_make_printable(value);
		make_key_printable(answer, key, value);
	}
}

const char *
answer_duration(json_int_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	static char buffer[32];
	double value = (double)ns;
	unsigned int i = 0;

	while (value >= 1000 && i < 3) {
		value /= 1000;
		i++;
	}
	snprintf(buffer, sizeof(buffer), i == 0 ? "%.0f%s" : "%.1f%s", value, units[i]);
	return buffer;
}
