/* SPDX-License-Identifier: BSD-3-Clause */
/* Links as commands name them: one, or all that are called NAME-0, NAME-1 and so on. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ctl_private.h"

#define NAMES_SHOWN 8 /* of those that there are, to whom asks for another one */

/* Is it @p family with a dash and a number? */
static bool
is_of_family(const char *name, const char *family)
{
	const size_t length = strlen(family);

	return strncmp(name, family, length) == 0 && name[length] == '-' &&
	       name[length + 1] != '\0' &&
	       strspn(name + length + 1, "0123456789") == strlen(name + length + 1);
}

static json_t *
tell_others(const struct ctl_names *names, const char *wanted)
{
	json_t *text = json_sprintf("no link '%.100s'; there %s", wanted,
		names->nb == 0   ? "are none"
		: names->nb == 1 ? "is"
				 : "are");

	for (uint32_t i = 0; i < names->nb && text != NULL; i++) {
		const bool is_last = i == NAMES_SHOWN && names->nb > NAMES_SHOWN + 1;
		json_t *longer = is_last ? json_sprintf("%s and %" PRIu32 " more",
						   json_string_value(text), names->nb - i)
					 : json_sprintf("%s%s %.100s", json_string_value(text),
						   i > 0 ? "," : "", names->name(names->arg, i));

		json_decref(text);
		text = longer;
		if (is_last)
			break;
	}
	return text;
}

int
ctl_names_find(const struct ctl_names *names, const json_t *wanted,
	void (*found)(void *arg, uint32_t number), json_t **result)
{
	const char *name = json_string_value(wanted);
	uint32_t nb = 0;

	if (name == NULL) {
		*result = json_string("expected the name of a link as text");
		return -EINVAL;
	}
	/* one that is called so, before those that have it in common */
	for (uint32_t i = 0; i < names->nb; i++)
		if (strcmp(names->name(names->arg, i), name) == 0) {
			found(names->arg, i);
			return 0;
		}
	for (uint32_t i = 0; i < names->nb; i++)
		if (is_of_family(names->name(names->arg, i), name)) {
			found(names->arg, i);
			nb++;
		}
	if (nb > 0)
		return 0;
	*result = tell_others(names, name);
	return -ENOENT;
}
