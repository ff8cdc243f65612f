/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of commands. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_private.h"

/* "123", "0x7b" */
static bool
parse_u64(const char *text, uint64_t *value)
{
	const bool is_hex = strncmp(text, "0x", 2) == 0;
	const char *digits = is_hex ? text + 2 : text;
	const char *signs = is_hex ? "0123456789abcdefABCDEF" : "0123456789";

	if (digits[0] == '\0' || strspn(digits, signs) != strlen(digits))
		return false;
	errno = 0;
	*value = strtoull(digits, NULL, is_hex ? 16 : 10);
	return errno == 0;
}

int
ctl_args_u64(const json_t *args, const char *key, uint64_t *value, json_t **result)
{
	const json_t *given = json_object_get(args, key);

	if (given == NULL)
		return 0;
	if (json_is_integer(given) && json_integer_value(given) >= 0)
		*value = (uint64_t)json_integer_value(given);
	else if (!json_is_string(given) || !parse_u64(json_string_value(given), value)) {
		*result = json_sprintf("expected \"%s\": a number from 0 up to 2^64 - 1; as text, "
				       "if it is 2^63 or more",
			key);
		return -EINVAL;
	}
	return 0;
}
