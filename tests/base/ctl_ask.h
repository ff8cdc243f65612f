/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_BASE_CTL_ASK_H
#define WEIR_TESTS_BASE_CTL_ASK_H

/* A control socket of the test's own, asked as any client does. Include after cmocka.h. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "weir_base_ctl.h"

static struct weir_base_ctl *ctl;
static char ctl_name[64];

/* Under a name of this process's. @return whether it is open */
static inline bool
ctl_up(const char *module)
{
	snprintf(ctl_name, sizeof(ctl_name), "%s-test-%ld", module, (long)getpid());
	ctl = weir_base_ctl_open(ctl_name);
	return ctl != NULL;
}

static inline void
ctl_down(void)
{
	weir_base_ctl_close(ctl);
	ctl = NULL;
}

/* Ask over the socket: arguments are JSON in single quotes, or NULL. The caller owns the answer, or the text of the error. */
static inline json_t *
ask(const char *command, const char *args, int expected)
{
	char text[256] = "";
	json_t *json = NULL, *result = NULL;
	int rc;

	if (args != NULL) {
		assert_true(strlen(args) < sizeof(text));
		strcpy(text, args);
		for (char *at = text; (at = strchr(at, '\'')) != NULL;)
			*at = '"';
		json = json_loads(text, 0, NULL);
		assert_non_null(json);
	}
	rc = weir_base_ctl_call(ctl_name, command, json, 60000, &result);
	json_decref(json);
	if (rc != expected)
		fail_msg("%s %s: %d, expected %d: %s", command, text, rc, expected,
			json_is_string(result) ? json_string_value(result) : "");
	assert_non_null(result);
	if (rc < 0)
		assert_true(json_is_string(result));
	return result;
}

static inline long long
number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value))
		fail_msg("there is no number '%s'", key);
	return (long long)json_integer_value(value);
}

static inline const json_t *
part(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (value == NULL)
		fail_msg("there is no '%s'", key);
	return value;
}

static inline const char *
text(const json_t *object, const char *key)
{
	const char *value = json_string_value(part(object, key));

	assert_non_null(value);
	return value;
}

#endif
