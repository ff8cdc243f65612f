/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The read-only commands of a control server, mirrored to rte_telemetry.
 *
 * What 22.11's telemetry cannot carry is rewritten: names with other signs than
 * letters, digits, '_' and '/', lists of maps or of mixed things (they become
 * maps), real numbers and booleans (texts). It cuts long answers without a
 * word, so that they are no JSON any more: here the answer ends before, and
 * "weir_cut" tells how many values are missing.
 */
#include "ctl_private.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_telemetry.h>
#include <rte_version.h>

/* 23.03 gave them another name and took the old one away later. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
#define UNSIGNED_VAL       RTE_TEL_UINT_VAL
#define add_array_unsigned rte_tel_data_add_array_uint
#define add_dict_unsigned  rte_tel_data_add_dict_uint
#else
#define UNSIGNED_VAL       RTE_TEL_U64_VAL
#define add_array_unsigned rte_tel_data_add_array_u64
#define add_dict_unsigned  rte_tel_data_add_dict_u64
#endif

#define PREFIX     "/weir/"
#define CUT        "weir_cut"
#define ROOM       14000 /* bytes of JSON; telemetry's own limit is 16 KiB with the command's name */
#define MAX_LEVELS 6     /* telemetry takes a buffer of the whole answer per level from its stack */
#define MAX_HELP   128   /* telemetry refuses longer ones */
#define MAX_NAME   (RTE_TEL_MAX_STRING_LEN - 1)

/* A command that telemetry knows; telemetry cannot forget it, so neither can we. */
struct mirrored {
	struct mirrored *next;
	char *path;                /* as telemetry knows it */
	char *command;             /* as the server does; they differ in signs */
	struct weir_base_ctl *ctl; /* NULL: closed */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static struct mirrored *mirror;
static unsigned int nb_running; /* handlers that use a server now */

/* An answer in the making. */
struct answer {
	size_t room;             /* bytes that are left */
	unsigned int nb_missing; /* values that found no place */
};

/* Values in a JSON tree: what is counted as missing. */
static unsigned int
count_values(const json_t *json)
{
	unsigned int nb = 0;
	const char *key;
	json_t *value;
	size_t i;

	if (json_is_object(json)) {
		json_object_foreach ((json_t *)(uintptr_t)json, key, value)
			nb += count_values(value);
	} else if (json_is_array(json)) {
		json_array_foreach (json, i, value)
			nb += count_values(value);
	} else {
		nb = 1;
	}
	return nb;
}

/* Bytes that a text takes between its quotes, at worst. */
static size_t
text_size(const char *text, size_t length)
{
	size_t size = 0, i;

	for (i = 0; i < length; i++)
		size += text[i] == '"' || text[i] == '\\' ? 2
			: (unsigned char)text[i] < 0x20   ? 6
							  : 1;
	return size;
}

static bool
take_room(struct answer *answer, size_t size)
{
	if (answer->room < size)
		return false;
	answer->room -= size;
	return true;
}

/* A name that telemetry accepts. */
static void
spell(char *name, const char *text)
{
	size_t i;

	for (i = 0; i < MAX_NAME && text[i] != '\0'; i++)
		name[i] = isalnum((unsigned char)text[i]) || text[i] == '/' ? text[i] : '_';
	if (i == 0)
		name[i++] = '_';
	name[i] = '\0';
}

bool
weir_base_ctl_is_shown_as(const char *name, const char *shown)
{
	char spelled[MAX_NAME + 1];

	spell(spelled, name);
	return strcmp(spelled, shown) == 0;
}

/* A scalar other than an integer that fits, as text. */
static void
scalar_text(const json_t *json, char *text, size_t size)
{
	switch (json_typeof(json)) {
	case JSON_STRING:
		snprintf(text, size, "%s", json_string_value(json));
		break;
	case JSON_INTEGER:
		snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(json));
		break;
	case JSON_REAL:
		snprintf(text, size, "%.6g", json_real_value(json));
		break;
	default:
		snprintf(text, size, "%s",
			json_is_true(json)    ? "true"
			: json_is_false(json) ? "false"
					      : "null");
		break;
	}
}

static bool
is_unsigned(const json_t *json)
{
	return json_is_integer(json) && json_integer_value(json) >= 0;
}

/* The one type of all items: UNSIGNED_VAL, RTE_TEL_STRING_VAL, or RTE_TEL_CONTAINER for all else. */
static enum rte_tel_value_type
item_type(const json_t *list)
{
	enum rte_tel_value_type type = RTE_TEL_CONTAINER;
	const json_t *item;
	size_t i;

	json_array_foreach (list, i, item) {
		enum rte_tel_value_type one = is_unsigned(item)      ? UNSIGNED_VAL
					      : json_is_string(item) ? RTE_TEL_STRING_VAL
								     : RTE_TEL_CONTAINER;

		if (i > 0 && one != type)
			return RTE_TEL_CONTAINER;
		type = one;
	}
	return json_array_size(list) == 0 ? UNSIGNED_VAL : type;
}

static bool
is_plain_list(const json_t *json)
{
	return json_is_array(json) && item_type(json) != RTE_TEL_CONTAINER;
}

static bool
add_item(struct answer *answer, struct rte_tel_data *data, const json_t *item)
{
	char text[RTE_TEL_MAX_STRING_LEN];

	if (is_unsigned(item))
		return take_room(answer, 21) &&
		       add_array_unsigned(data, (uint64_t)json_integer_value(item)) == 0;
	scalar_text(item, text, sizeof(text));
	if (!take_room(answer, text_size(text, strlen(text)) + 3) ||
		rte_tel_data_add_array_string(data, text) != 0)
		return false;
	/* Its end is missing. */
	answer->nb_missing += json_string_length(item) >= sizeof(text);
	return true;
}

/* A list whose items are of one plain type. */
static void
fill_list(struct answer *answer, struct rte_tel_data *data, const json_t *list)
{
	const json_t *item;
	size_t i;

	rte_tel_data_start_array(data, item_type(list));
	json_array_foreach (list, i, item) {
		if (!add_item(answer, data, item)) {
			answer->nb_missing += (unsigned int)(json_array_size(list) - i);
			return;
		}
	}
}

static void fill_map(struct answer *answer, struct rte_tel_data *data, const json_t *json,
	unsigned int level, unsigned int max_entries);

static bool
add_container(struct answer *answer, struct rte_tel_data *data, const char *name,
	const json_t *value, unsigned int level)
{
	struct rte_tel_data *inner;

	if (level == MAX_LEVELS || !take_room(answer, strlen(name) + 6))
		return false;
	inner = rte_tel_data_alloc();
	if (inner == NULL)
		return false;
	if (is_plain_list(value))
		fill_list(answer, inner, value);
	else
		fill_map(answer, inner, value, level + 1, RTE_TEL_MAX_DICT_ENTRIES);
	if (rte_tel_data_add_dict_container(data, name, inner, 0) == 0)
		return true;
	rte_tel_data_free(inner);
	return false;
}

/* Add one value to a map; false when there is no place for it. */
static bool
add_entry(struct answer *answer, struct rte_tel_data *data, const char *name, const json_t *value,
	unsigned int level)
{
	char text[RTE_TEL_MAX_STRING_LEN];

	if (json_is_object(value) || json_is_array(value))
		return add_container(answer, data, name, value, level);
	if (is_unsigned(value))
		return take_room(answer, strlen(name) + 25) &&
		       add_dict_unsigned(data, name, (uint64_t)json_integer_value(value)) == 0;
	scalar_text(value, text, sizeof(text));
	if (!take_room(answer, strlen(name) + text_size(text, strlen(text)) + 7) ||
		rte_tel_data_add_dict_string(data, name, text) != 0)
		return false;
	answer->nb_missing += json_is_string(value) && json_string_length(value) >= sizeof(text);
	return true;
}

/*
 * Names that were used in a map, as spelled: two that differ in signs only, or
 * two items of one name, get a number behind them.
 */
static void
make_unique(json_t *used, char *name)
{
	size_t length = strlen(name);
	unsigned int n;

	for (n = 2; json_object_get(used, name) != NULL; n++) {
		if (length > MAX_NAME - 12)
			length = MAX_NAME - 12;
		snprintf(name + length, 12, "_%u", n);
	}
	json_object_set_new(used, name, json_true());
}

/* What a list's item is called in the map that the list becomes. */
static void
item_name(char *name, const json_t *item, size_t index)
{
	const char *own = json_string_value(json_object_get(item, "name"));

	if (own != NULL)
		spell(name, own);
	else
		snprintf(name, MAX_NAME + 1, "%zu", index);
}

/* A map, or a list that has to become one. */
static void
fill_map(struct answer *answer, struct rte_tel_data *data, const json_t *json, unsigned int level,
	unsigned int max_entries)
{
	json_t *map = (json_t *)(uintptr_t)json, *used = json_object(), *value;
	char name[MAX_NAME + 1];
	unsigned int nb = 0;
	const char *key;
	size_t i;

	rte_tel_data_start_dict(data);
	if (json_is_object(json)) {
		json_object_foreach (map, key, value) {
			spell(name, key);
			make_unique(used, name);
			if (nb++ >= max_entries || !add_entry(answer, data, name, value, level))
				answer->nb_missing += count_values(value);
		}
	} else {
		json_array_foreach (json, i, value) {
			item_name(name, value, i);
			make_unique(used, name);
			if (nb++ >= max_entries || !add_entry(answer, data, name, value, level))
				answer->nb_missing += count_values(value);
		}
	}
	json_decref(used);
}

/* A text too long for one string, as a list of its lines. */
static json_t *
split_lines(const char *text)
{
	json_t *lines = json_array();

	while (*text != '\0') {
		size_t length = strcspn(text, "\n");

		json_array_append_new(lines, json_stringn(text, length));
		text += length + (text[length] == '\n');
	}
	return lines;
}

static void
add_cut(const struct answer *answer, struct rte_tel_data *data)
{
	if (answer->nb_missing > 0)
		add_dict_unsigned(data, CUT, answer->nb_missing);
}

/* Put what is not a map of its own under one name of a map, that it can be told what is missing. */
static void
fill_wrapped(struct rte_tel_data *data, const char *name, const json_t *json)
{
	struct answer answer = {.room = ROOM};

	rte_tel_data_start_dict(data);
	if (!add_entry(&answer, data, name, json, 0))
		answer.nb_missing += count_values(json);
	add_cut(&answer, data);
}

static void
fill_text(struct rte_tel_data *data, const json_t *json)
{
	const char *text = json_string_value(json);
	size_t length = json_string_length(json);
	json_t *lines;

	if (length < RTE_TEL_MAX_SINGLE_STRING_LEN && text_size(text, length) < ROOM) {
		rte_tel_data_string(data, text);
		return;
	}
	lines = split_lines(text);
	fill_wrapped(data, "lines", lines);
	json_decref(lines);
}

/* A whole answer. */
static void
fill(struct rte_tel_data *data, const json_t *json)
{
	struct answer answer = {.room = ROOM};

	if (json_is_string(json)) {
		fill_text(data, json);
	} else if (is_plain_list(json)) {
		fill_list(&answer, data, json);
		if (answer.nb_missing > 0)
			fill_wrapped(data, "values", json);
	} else if (json_is_object(json) || json_is_array(json)) {
		fill_map(&answer, data, json, 0, RTE_TEL_MAX_DICT_ENTRIES - 1);
		add_cut(&answer, data);
	} else {
		fill_wrapped(data, "value", json);
	}
}

static struct mirrored *
find(const char *path)
{
	struct mirrored *entry;

	for (entry = mirror; entry != NULL; entry = entry->next) {
		if (strcmp(entry->path, path) == 0)
			break;
	}
	return entry;
}

static void
fill_error(struct rte_tel_data *data, int error, const json_t *why)
{
	json_t *answer = json_pack(
		"{s:s}", "error", json_is_string(why) ? json_string_value(why) : strerror(-error));

	fill(data, answer);
	json_decref(answer);
}

/* Called by telemetry, in a thread of its own per client. */
static int
handle(const char *path, const char *parameter, struct rte_tel_data *data)
{
	struct weir_base_ctl *ctl = NULL;
	json_t *args = NULL, *result = NULL;
	struct mirrored *entry;
	char *command = NULL;
	int error = -ENOTCONN;

	pthread_mutex_lock(&lock);
	entry = find(path);
	if (entry != NULL && entry->ctl != NULL) {
		command = strdup(entry->command);
		if (command != NULL)
			ctl = entry->ctl;
	}
	/* The server cannot go while handlers run; the lock is not held, as they may take long. */
	nb_running += ctl != NULL;
	pthread_mutex_unlock(&lock);
	if (ctl != NULL) {
		if (parameter != NULL && parameter[0] != '\0')
			args = json_pack("{s:s}", "name", parameter);
		error = weir_base_ctl_run(ctl, command, args, &result);
		pthread_mutex_lock(&lock);
		nb_running--;
		pthread_cond_broadcast(&idle);
		pthread_mutex_unlock(&lock);
	}
	if (error == 0)
		fill(data, result);
	else
		fill_error(data, error, result);
	json_decref(result);
	json_decref(args);
	free(command);
	return 0;
}

/* A new entry of the mirror, under the lock; NULL: out of memory. */
static struct mirrored *
add_mirrored(const char *path)
{
	struct mirrored *entry = calloc(1, sizeof(*entry));

	if (entry == NULL)
		return NULL;
	entry->path = strdup(path);
	if (entry->path == NULL) {
		free(entry);
		return NULL;
	}
	entry->next = mirror;
	mirror = entry;
	return entry;
}

static int
mirror_command(struct weir_base_ctl *ctl, const char *command, const char *help)
{
	char path[sizeof(PREFIX) + RTE_TEL_MAX_STRING_LEN] = PREFIX;
	char short_help[MAX_HELP];
	struct mirrored *entry;
	int error = 0;

	snprintf(short_help, sizeof(short_help), "%s", help);
	spell(path + strlen(PREFIX), command);
	pthread_mutex_lock(&lock);
	entry = find(path);
	if (entry == NULL) {
		error = rte_telemetry_register_cmd(path, handle, short_help);
		entry = error == 0 ? add_mirrored(path) : NULL;
		if (entry == NULL && error == 0)
			error = -ENOMEM;
	}
	if (error == 0) {
		char *copy = strdup(command);

		if (copy != NULL) {
			free(entry->command);
			entry->command = copy;
			entry->ctl = ctl;
		} else {
			error = -ENOMEM;
		}
	}
	pthread_mutex_unlock(&lock);
	if (error != 0)
		weir_base_log(WEIR_BASE_LOG_WARNING, "base", "telemetry cannot show %s: %s", path,
			strerror(-error));
	return error;
}

static void
registered(struct weir_base_ctl *ctl, const char *command, const char *help, uint32_t flags)
{
	if ((flags & WEIR_BASE_CTL_READ_ONLY) != 0)
		mirror_command(ctl, command, help);
}

static void
closing(struct weir_base_ctl *ctl)
{
	struct mirrored *entry;

	pthread_mutex_lock(&lock);
	for (entry = mirror; entry != NULL; entry = entry->next) {
		if (entry->ctl == ctl)
			entry->ctl = NULL;
	}
	while (nb_running > 0)
		pthread_cond_wait(&idle, &lock);
	pthread_mutex_unlock(&lock);
}

struct mirroring {
	struct weir_base_ctl *ctl;
	int error;
};

static void
mirror_one(void *arg, const char *command, const char *help, uint32_t flags)
{
	struct mirroring *mirroring = arg;
	int error = 0;

	if ((flags & WEIR_BASE_CTL_READ_ONLY) != 0)
		error = mirror_command(mirroring->ctl, command, help);
	if (mirroring->error == 0)
		mirroring->error = error;
}

int
weir_base_ctl_mirror_telemetry(struct weir_base_ctl *ctl)
{
	static const struct ctl_watcher watcher = {registered, closing};
	struct mirroring mirroring = {.ctl = ctl};

	/* One that is registered meanwhile is either seen below or told to the watcher. */
	weir_base_ctl_watch(ctl, &watcher);
	weir_base_ctl_foreach(ctl, mirror_one, &mirroring);
	return mirroring.error;
}
