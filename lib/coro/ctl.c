/* SPDX-License-Identifier: BSD-3-Clause */

/* This library's commands on the control socket. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weir_base_ctl.h>

#include "coro_private.h"
#include "weir_coro_ctl.h"

#define ALL UINT32_MAX

static const char *const guards[] = {
	[WEIR_CORO_GUARD_BEST] = "best",
	[WEIR_CORO_GUARD_REGION] = "region",
	[WEIR_CORO_GUARD_PAGE] = "page",
	[WEIR_CORO_GUARD_CANARY] = "canary",
};

static const char *const misuses[WEIR_CORO_MISUSE_COUNT] = {
	[WEIR_CORO_MISUSE_STALE] = "stale",
	[WEIR_CORO_MISUSE_RUNNING] = "running",
	[WEIR_CORO_MISUSE_EXITED] = "exited",
	[WEIR_CORO_MISUSE_OUTSIDE] = "outside",
	[WEIR_CORO_MISUSE_HOLDING] = "holding",
	[WEIR_CORO_MISUSE_FP] = "fp",
	[WEIR_CORO_MISUSE_OVERFLOW] = "overflow",
};

/* "7": digits only. */
static bool
number_of(const char *text, json_int_t *number)
{
	char *end;

	if (text[0] == '\0' || strlen(text) > 9 || strspn(text, "0123456789") != strlen(text))
		return false;
	*number = strtol(text, &end, 10);
	return true;
}

/* Which class is meant? ALL: none was named. Under the lock of classes. */
static int
class_arg(const json_t *args, unsigned int *class_id, json_t **result)
{
	const json_t *class = json_object_get(args, "class"), *name = json_object_get(args, "name");
	json_int_t number;

	*class_id = ALL;
	if (class == NULL)
		class = name;
	if (class == NULL || (json_is_string(class) && json_string_length(class) == 0))
		return 0;
	if (json_is_integer(class)) {
		number = json_integer_value(class);
	} else if (!json_is_string(class) || !number_of(json_string_value(class), &number)) {
		*result = json_string("expected the number of a class, from 0");
		return -EINVAL;
	}
	if (number < 0 || number >= (json_int_t)coro_nb_classes) {
		*result = json_sprintf("no class %lld of coroutines; there are %u",
			(long long)number, coro_nb_classes);
		return -ENOENT;
	}
	*class_id = (unsigned int)number;
	return 0;
}

/* JSON's are signed. */
static json_t *
as_integer(uint64_t value)
{
	return json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static json_t *
length(uint64_t cycles)
{
	return json_pack("{s:o, s:o}", "cycles", as_integer(cycles), "ns",
		as_integer(weir_base_cycles_to_ns(cycles)));
}

static json_t *
bytes(uint64_t value)
{
	return as_integer(value);
}

static json_t *
class_stats(unsigned int class_id, struct weir_base_hist *hist)
{
	struct coro_class *class = &coro_classes[class_id];
	struct weir_coro_class_stats stats;
	json_t *object, *part, *slices;
	uint64_t slice;

	/* First, so that no slice is told whose switch is not. */
	weir_coro_class_slices(class_id, hist);
	slices = weir_base_ctl_hist(hist, length);
	slice = class->param.time_slice < CORO_SLICE_MAX ? class->param.time_slice : CORO_SLICE_MAX;
	json_object_set_new(slices, "configured", length(slice));
	coro_class_look(class, &stats, hist);
	object = json_pack("{s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "class",
		(int)class_id, "guard", guards[stats.guard], "max", as_integer(stats.max), "live",
		as_integer(stats.live), "peak", as_integer(stats.peak), "created",
		as_integer(stats.created), "exited", as_integer(stats.exited), "destroyed",
		as_integer(stats.destroyed), "switches", as_integer(stats.switches), "overruns",
		as_integer(stats.overruns));
	part = weir_base_ctl_hist(hist, bytes);
	json_object_set_new(part, "size", bytes(stats.stack_size));
	json_object_set_new(part, "high_water", bytes(stats.high_water));
	json_object_set_new(part, "resident", bytes(stats.resident));
	json_object_set_new(object, "stack_bytes", part);
	json_object_set_new(object, "slices", slices);
	return object;
}

static json_t *
misuse(void)
{
	json_t *object = json_object();

	for (int i = 0; i < WEIR_CORO_MISUSE_COUNT; i++)
		json_object_set_new(
			object, misuses[i], as_integer(weir_coro_misuse((enum weir_coro_misuse)i)));
	return object;
}

static int
ctl_stats(void *arg, const json_t *args, json_t **result)
{
	struct weir_base_hist *hist = malloc(sizeof(*hist));
	unsigned int class_id;
	json_t *list;
	int rc;

	if (hist == NULL)
		return -ENOMEM;
	coro_classes_lock();
	rc = class_arg(args, &class_id, result);
	if (rc == 0) {
		list = json_array();
		for (unsigned int c = 0; c < coro_nb_classes; c++)
			if (class_id == ALL || class_id == c)
				json_array_append_new(list, class_stats(c, hist));
		*result = json_pack("{s:o, s:o}", "classes", list, "misuse", misuse());
	}
	coro_classes_unlock();
	free(hist);
	return rc < 0 ? rc : *result == NULL ? -ENOMEM : 0;
}

static int
ctl_trim(void *arg, const json_t *args, json_t **result)
{
	unsigned int class_id;
	uint64_t trimmed = 0;
	int rc;

	coro_classes_lock();
	rc = class_arg(args, &class_id, result);
	for (unsigned int c = 0; rc == 0 && c < coro_nb_classes; c++)
		if (class_id == ALL || class_id == c)
			trimmed += weir_coro_trim(c);
	coro_classes_unlock();
	if (rc == 0)
		*result = json_pack("{s:o}", "bytes", as_integer(trimmed));
	return rc;
}

int
weir_coro_ctl_register(struct weir_base_ctl *ctl)
{
	static const struct weir_base_ctl_entry commands[] = {
		{"coro/stats",
			"coroutines: counters, lengths of slices and use of stacks, of all classes "
			"or \"class\"",
			"class name", WEIR_BASE_CTL_READ_ONLY, ctl_stats},
		{"coro/trim",
			"give memory of idle stacks back, of all classes of coroutines or "
			"\"class\"",
			"class name", 0, ctl_trim},
	};

	return weir_base_ctl_register_all(
		ctl, commands, sizeof(commands) / sizeof(commands[0]), NULL);
}
