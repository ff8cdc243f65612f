/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of commands, and running one. */
#include "ctl_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int
init_recursive(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attributes;
	int error;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	error = pthread_mutex_init(mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
	return -error;
}

int
weir_base_ctl_commands_init(struct ctl_commands *commands)
{
	int error = init_recursive(&commands->run);

	if (error != 0)
		return error;
	error = init_recursive(&commands->table);
	if (error != 0)
		pthread_mutex_destroy(&commands->run);
	return error;
}

static void
free_command(struct ctl_command *command)
{
	free(command->name);
	free(command->help);
	free(command->args);
}

void
weir_base_ctl_commands_fini(struct ctl_commands *commands)
{
	unsigned int i;

	for (i = 0; i < commands->nb; i++)
		free_command(&commands->sorted[i]);
	free(commands->sorted);
	pthread_mutex_destroy(&commands->table);
	pthread_mutex_destroy(&commands->run);
}

/* Index of a command, or of the place where it would stand. Under the table's lock. */
static unsigned int
find(const struct ctl_commands *commands, const char *name, bool *found)
{
	unsigned int low = 0, high = commands->nb;

	*found = false;
	while (low < high) {
		unsigned int middle = low + (high - low) / 2;
		int order = strcmp(name, commands->sorted[middle].name);

		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Under the table's lock. */
static int
insert(struct ctl_commands *commands, const struct ctl_command *command)
{
	unsigned int at;
	bool found;

	at = find(commands, command->name, &found);
	if (found)
		return -EEXIST;
	if (commands->nb == commands->max) {
		unsigned int max = commands->max == 0 ? 16 : 2 * commands->max;
		struct ctl_command *more = realloc(commands->sorted, max * sizeof(*more));

		if (more == NULL)
			return -ENOMEM;
		commands->sorted = more;
		commands->max = max;
	}
	memmove(&commands->sorted[at + 1], &commands->sorted[at],
		(commands->nb - at) * sizeof(*command));
	commands->sorted[at] = *command;
	commands->nb++;
	return 0;
}

/* @param args  its keys; NULL: any */
static int
offer(struct weir_base_ctl *ctl, const struct weir_base_ctl_entry *entry, const char *args,
	void *arg)
{
	const char *command = entry->command, *help = entry->help != NULL ? entry->help : "";
	struct ctl_command new_command = {
		.flags = entry->flags, .handler = entry->handler, .arg = arg};
	const struct ctl_watcher *watcher;
	int error;

	if (ctl == NULL || command == NULL || command[0] == '\0' || entry->handler == NULL)
		return -EINVAL;
	new_command.name = strdup(command);
	new_command.help = strdup(help);
	new_command.args = args != NULL ? strdup(args) : NULL;
	pthread_mutex_lock(&ctl->commands.table);
	error = new_command.name == NULL || new_command.help == NULL ||
				(args != NULL && new_command.args == NULL)
			? -ENOMEM
			: insert(&ctl->commands, &new_command);
	watcher = ctl->watcher;
	pthread_mutex_unlock(&ctl->commands.table);
	if (error != 0) {
		weir_base_log(WEIR_BASE_LOG_ERROR, "base", "cannot register command '%s': %s",
			command, strerror(-error));
		free_command(&new_command);
	} else if (watcher != NULL) {
		watcher->registered(ctl, command, help, entry->flags);
	}
	return error;
}

int
weir_base_ctl_register(struct weir_base_ctl *ctl, const char *command, const char *help,
	uint32_t flags, weir_base_ctl_handler_t handler, void *arg)
{
	const struct weir_base_ctl_entry entry = {
		.command = command, .help = help, .flags = flags, .handler = handler};

	return offer(ctl, &entry, NULL, arg);
}

void
weir_base_ctl_watch(struct weir_base_ctl *ctl, const struct ctl_watcher *watcher)
{
	pthread_mutex_lock(&ctl->commands.table);
	ctl->watcher = watcher;
	pthread_mutex_unlock(&ctl->commands.table);
}

int
weir_base_ctl_unregister(struct weir_base_ctl *ctl, const char *command)
{
	struct ctl_commands *commands = &ctl->commands;
	struct ctl_command taken;
	unsigned int at;
	bool found;

	pthread_mutex_lock(&commands->run);
	pthread_mutex_lock(&commands->table);
	at = find(commands, command, &found);
	if (found) {
		taken = commands->sorted[at];
		commands->nb--;
		memmove(&commands->sorted[at], &commands->sorted[at + 1],
			(commands->nb - at) * sizeof(commands->sorted[0]));
	}
	pthread_mutex_unlock(&commands->table);
	if (found) {
		weir_base_ctl_deferred_finish(ctl, &taken);
		free_command(&taken);
	}
	pthread_mutex_unlock(&commands->run);
	return found ? 0 : -ENOENT;
}

int
weir_base_ctl_register_all(
	struct weir_base_ctl *ctl, const struct weir_base_ctl_entry *entries, size_t nb, void *arg)
{
	for (size_t i = 0; i < nb; i++) {
		const char *args = entries[i].args != NULL ? entries[i].args : "";
		int rc = offer(ctl, &entries[i], args, arg);

		if (rc < 0) {
			weir_base_ctl_unregister_all(ctl, entries, i);
			return rc;
		}
	}
	return 0;
}

void
weir_base_ctl_unregister_all(
	struct weir_base_ctl *ctl, const struct weir_base_ctl_entry *entries, size_t nb)
{
	for (size_t i = 0; i < nb; i++)
		weir_base_ctl_unregister(ctl, entries[i].command);
}

/* Is this one of the words in a list? */
static bool
is_listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	while (*list != '\0') {
		size_t next = strcspn(list, " ");

		if (next == length && memcmp(list, word, length) == 0)
			return true;
		list += next + strspn(list + next, " ");
	}
	return false;
}

/* @return NULL, or what is wrong */
static json_t *
check_args(const struct ctl_command *command, const json_t *args)
{
	/* jansson iterates over what may change only */
	json_t *all = (json_t *)(uintptr_t)args, *value;
	const char *key;

	json_object_foreach (all, key, value) {
		if (command->args == NULL || is_listed(command->args, key))
			continue;
		if (command->args[0] == '\0')
			return json_sprintf("unknown argument '%.100s'; expected none", key);
		return json_sprintf(
			"unknown argument '%.100s'; expected one of: %s", key, command->args);
	}
	return NULL;
}

/* Run a handler under the lock; one may run another. @param[out] deferred  NULL: this is the answer */
static int
run_command(struct weir_base_ctl *ctl, const char *command, const json_t *args, json_t **result,
	struct weir_base_ctl_deferred **deferred)
{
	struct ctl_commands *commands = &ctl->commands;
	struct ctl_run now = {.handler = NULL}, *outer;
	int error = -ENOENT;
	unsigned int at;
	bool found;

	*result = NULL;
	pthread_mutex_lock(&commands->run);
	pthread_mutex_lock(&commands->table);
	at = find(commands, command, &found);
	if (found) {
		now.handler = commands->sorted[at].handler;
		now.arg = commands->sorted[at].arg;
		*result = check_args(&commands->sorted[at], args);
	}
	pthread_mutex_unlock(&commands->table);
	outer = commands->running;
	commands->running = &now;
	if (*result != NULL)
		error = -EINVAL;
	else if (now.handler != NULL)
		error = now.handler(now.arg, args, result);
	else
		*result = json_sprintf("no command '%.100s'; 'help' lists them", command);
	commands->running = outer;
	pthread_mutex_unlock(&commands->run);
	*deferred = now.deferred;
	return error;
}

int
weir_base_ctl_run(
	struct weir_base_ctl *ctl, const char *command, const json_t *args, json_t **result)
{
	struct weir_base_ctl_deferred *deferred;
	int error = run_command(ctl, command, args, result, &deferred);

	return deferred != NULL ? weir_base_ctl_deferred_wait(deferred, result) : error;
}

void
weir_base_ctl_foreach(struct weir_base_ctl *ctl,
	void (*visit)(void *arg, const char *command, const char *help, uint32_t flags), void *arg)
{
	unsigned int i;

	pthread_mutex_lock(&ctl->commands.table);
	for (i = 0; i < ctl->commands.nb; i++) {
		const struct ctl_command *command = &ctl->commands.sorted[i];

		visit(arg, command->name, command->help, command->flags);
	}
	pthread_mutex_unlock(&ctl->commands.table);
}

static json_t *
failure(int error, json_t *why)
{
	json_t *answer;

	if (!json_is_string(why)) {
		json_decref(why);
		why = json_string(strerror(-error));
	}
	answer = json_pack("{s:b, s:o, s:i}", "ok", 0, "error", why, "errno", -error);
	return answer;
}

/* Is a request what it has to be? NULL, or what is wrong. */
static json_t *
check_request(json_t *request)
{
	const char *key;
	json_t *value;

	if (!json_is_object(request))
		return json_string("expected an object {\"command\": ..., \"args\": {...}}");
	json_object_foreach (request, key, value) {
		if (strcmp(key, "command") == 0) {
			if (!json_is_string(value))
				return json_string("'command' is not a string");
		} else if (strcmp(key, "args") == 0) {
			if (!json_is_object(value) && !json_is_null(value))
				return json_string("'args' is not an object");
		} else {
			return json_sprintf("unknown key '%.100s'; expected command, args", key);
		}
	}
	if (json_object_get(request, "command") == NULL)
		return json_string("'command' is missing");
	return NULL;
}

/* What a handler returned. */
static json_t *
outcome(int error, json_t *result)
{
	if (error != 0)
		return failure(error < 0 ? error : -EIO, result);
	return json_pack("{s:b, s:o}", "ok", 1, "result", result != NULL ? result : json_null());
}

/* NULL: it is deferred. */
static json_t *
run_request(struct weir_base_ctl *ctl, json_t *request, struct weir_base_ctl_deferred **deferred)
{
	json_t *result = check_request(request), *args;
	int error;

	if (result != NULL)
		return failure(-EINVAL, result);
	args = json_object_get(request, "args");
	error = run_command(ctl, json_string_value(json_object_get(request, "command")),
		json_is_null(args) ? NULL : args, &result, deferred);
	return *deferred != NULL ? NULL : outcome(error, result);
}

static char *
dump(json_t *answer)
{
	char *text = json_dumps(answer, JSON_COMPACT);

	json_decref(answer);
	return text;
}

char *
weir_base_ctl_answer(struct weir_base_ctl *ctl, const char *line, size_t size,
	struct weir_base_ctl_deferred **deferred)
{
	json_error_t parse_error;
	json_t *request =
		json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &parse_error);
	json_t *answer;

	*deferred = NULL;
	if (request != NULL)
		answer = run_request(ctl, request, deferred);
	else
		answer = failure(-EINVAL, json_sprintf("not valid JSON: column %d: %s",
						  parse_error.column, parse_error.text));
	json_decref(request);
	return *deferred != NULL ? NULL : dump(answer);
}

char *
weir_base_ctl_answer_deferred(struct weir_base_ctl_deferred *deferred)
{
	json_t *answer = outcome(deferred->error, deferred->result);

	free(deferred);
	return dump(answer);
}

char *
weir_base_ctl_answer_too_long(size_t limit)
{
	return dump(failure(-EMSGSIZE,
		json_sprintf("the request is longer than the limit of %zu bytes; expected one line "
			     "of JSON that ends before",
			limit)));
}
