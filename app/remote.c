/* SPDX-License-Identifier: BSD-3-Clause */
/* Talking to a running instance through its control socket. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weir_base_ctl.h>

#include "app.h"
#include "remote.h"

#define TIMEOUT_MS 10000

const char *
remote_instance(const struct app_command *command, const char *name)
{
	static char found[128];
	json_t *instances, *item;
	size_t index;

	if (name != NULL)
		return name;
	instances = weir_base_ctl_instances();
	if (json_array_size(instances) == 1) {
		snprintf(found, sizeof(found), "%s",
			json_string_value(json_array_get(instances, 0)));
		json_decref(instances);
		return found;
	}
	if (json_array_size(instances) == 0) {
		app_error(command,
			"no instance is running (of this user); `weir run FILE` starts one");
	} else {
		fprintf(stderr, "weir %s: several instances are running; name one with --instance:",
			command->name);
		json_array_foreach (instances, index, item) {
			fprintf(stderr, " %s", json_string_value(item));
		}
		fprintf(stderr, "\n");
	}
	json_decref(instances);
	return NULL;
}

json_t *
remote_ask(const struct app_command *command, const char *instance, const char *subject,
	const char *question, json_t *args)
{
	return remote_ask_for(command, instance, subject, question, args, 0);
}

json_t *
remote_ask_for(const struct app_command *command, const char *instance, const char *subject,
	const char *question, json_t *args, int wait_ms)
{
	json_t *answer = NULL;
	int error = weir_base_ctl_call(instance, question, args, TIMEOUT_MS + wait_ms, &answer);

	json_decref(args);
	if (error == 0)
		return answer;
	if (json_is_string(answer) && strncmp(json_string_value(answer), "no command", 10) == 0)
		app_error(command,
			"'%s' is not a run of this program, or just begins or ends: it does not "
			"know "
			"'%s'",
			instance, question);
	else if (json_is_string(answer) &&
		 strncmp(json_string_value(answer), "no instance", 11) == 0)
		app_error(command, "%s", json_string_value(answer)); /* whatever it was about */
	else if (json_is_string(answer))
		app_error(command, "%s%s%s", subject != NULL ? subject : "",
			subject != NULL ? ": " : "", json_string_value(answer));
	else if (error == -ENOENT || error == -ECONNREFUSED)
		app_error(command, "no instance '%s' is running", instance);
	else
		app_error(command, "'%s' did not answer: %s", instance, strerror(-error));
	json_decref(answer);
	return NULL;
}

bool
remote_parse_number(const char *text, json_int_t *number)
{
	char *end;

	if (text[0] < '0' || text[0] > '9' || strlen(text) > 10)
		return false;
	*number = strtoll(text, &end, 10);
	return *end == '\0';
}

/* The verb that the arguments name; NULL: none. */
static const struct remote_verb *
find_verb(const struct remote_verb *verbs, int argc, char **argv)
{
	for (; verbs->name != NULL; verbs++)
		if (strcmp(verbs->name, argv[1]) == 0)
			return verbs;
	return NULL;
}

static int
most_arguments(const struct remote_verb *verbs)
{
	int most = 0;

	for (; verbs->name != NULL; verbs++)
		if (verbs->max_args > most)
			most = verbs->max_args;
	return 1 + most;
}

/* What comes in parts is put together. */
static json_t *
ask_whole(const struct app_command *command, const char *instance, const char *subject,
	const struct remote_verb *verb, json_t *args)
{
	json_t *whole, *part, *wish = args != NULL ? args : json_object();
	size_t nb_before = 0;

	whole = remote_ask(command, instance, subject, verb->question, json_incref(wish));
	while (json_integer_value(json_object_get(whole, "left")) > 0 &&
		json_array_size(json_object_get(whole, verb->list)) > nb_before) {
		nb_before = json_array_size(json_object_get(whole, verb->list));
		json_object_set_new(wish, "first", json_integer((json_int_t)nb_before));
		part = remote_ask(command, instance, subject, verb->question, json_incref(wish));
		json_array_extend(
			json_object_get(whole, verb->list), json_object_get(part, verb->list));
		json_object_set(whole, "left", json_object_get(part, "left"));
		if (part == NULL) {
			json_decref(whole);
			whole = NULL;
		}
		json_decref(part);
	}
	json_decref(wish);
	return whole;
}

int
remote_run_verb(const struct app_command *command, const struct remote_verb *verbs,
	const char *expected, int argc, char **argv)
{
	bool json = false;
	const char *instance = NULL;
	const struct app_option options[] = {{"json", APP_OPTION_FLAG, &json},
		{"instance", APP_OPTION_TEXT, &instance}, {.name = NULL}};
	const struct remote_verb *verb;
	json_t *args = NULL, *answer;
	int code = app_options(command, &argc, argv, options, 1, most_arguments(verbs));

	if (code >= 0)
		return code;
	verb = find_verb(verbs, argc, argv);
	if (verb == NULL)
		return app_usage_error(
			command, "'%s' is not known; expected %s", argv[1], expected);
	if (argc - 2 < verb->min_args)
		return app_usage_error(command, "something is missing behind '%s'; expected %s",
			argv[1], expected);
	if (argc - 2 > verb->max_args)
		return app_usage_error(
			command, "'%s' is too much behind '%s'", argv[2 + verb->max_args], argv[1]);
	/* What is wrong with the arguments is told whether or not an instance runs. */
	code = verb->arguments != NULL ? verb->arguments(argc, argv, &args) : APP_OK;
	if (code != APP_OK)
		return code;
	if (args == NULL && argc > 2)
		return app_usage_error(command, "an argument is no text in UTF-8");
	instance = remote_instance(command, instance);
	if (instance == NULL) {
		json_decref(args);
		return APP_FAILED;
	}
	if (verb->run != NULL)
		return verb->run(instance, args, json);
	answer = verb->list != NULL ? ask_whole(command, instance, argv[2], verb, args)
				    : remote_ask(command, instance, argv[2], verb->question, args);
	if (answer == NULL)
		return APP_FAILED;
	if (json)
		return app_print_json(answer);
	if (verb->print != NULL)
		verb->print(answer);
	json_decref(answer);
	return app_finish(APP_OK);
}
