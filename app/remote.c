/* SPDX-License-Identifier: BSD-3-Clause */
/* Talking to a running instance through its control socket. */
#include <errno.h>
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
	json_t *answer = NULL;
	int error = weir_base_ctl_call(instance, question, args, TIMEOUT_MS, &answer);

	json_decref(args);
	if (error == 0)
		return answer;
	if (json_is_string(answer) && strncmp(json_string_value(answer), "no command", 10) == 0)
		app_error(command,
			"'%s' is not a run of this program, or just ends: it does not know "
			"'%s'",
			instance, question);
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
