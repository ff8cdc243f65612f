/* SPDX-License-Identifier: BSD-3-Clause */
/* weir readout: links of a running instance, and windows of their frames. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weir_base_ctl.h>

#include "answer.h"
#include "app.h"
#include "readout_print.h"
#include "remote.h"
#include "watch.h"

#define TIMEOUT_MAX_S 10.0 /* of a request: more is refused */
#define LAST_MAX_S    86400.0
#define NS_PER_MS     1000000u

struct readout_options {
	bool json, watch;
	const char *instance, *begin, *end, *last, *timeout, *run, *trigger, *out;
	json_t *links;
};

/* "123", "0x7b": the instance knows how large it may be. */
static bool
is_number(const char *text)
{
	const char *digits = strncmp(text, "0x", 2) == 0 ? text + 2 : text;
	const char *signs = digits != text ? "0123456789abcdefABCDEF" : "0123456789";

	return digits[0] != '\0' && strspn(digits, signs) == strlen(digits);
}

/* An option that is a number, if there is one. @return APP_OK, or APP_USAGE: said */
static int
add_number(json_t *args, const char *key, const char *text)
{
	if (text == NULL)
		return APP_OK;
	if (!is_number(text))
		return app_usage_error(&cmd_readout, "--%s is '%s'; expected a number", key, text);
	json_object_set_new(args, key, json_string(text));
	return APP_OK;
}

/* The window: @return APP_OK, or APP_USAGE: said */
static int
add_window(json_t *args, const struct readout_options *options)
{
	uint64_t ns;

	if (options->last == NULL) {
		if (options->begin == NULL || options->end == NULL)
			return app_usage_error(&cmd_readout,
				"which window? expected --begin and --end, or --last");
		if (add_number(args, "begin", options->begin) != APP_OK)
			return APP_USAGE;
		return add_number(args, "end", options->end);
	}
	if (options->begin != NULL || options->end != NULL)
		return app_usage_error(
			&cmd_readout, "expected either --begin and --end, or --last");
	if (app_duration(options->last, 1e-3, LAST_MAX_S, &ns) < 0 || ns % NS_PER_MS != 0)
		return app_usage_error(&cmd_readout,
			"--last is '%s'; expected whole milliseconds, such as 10ms or 1s",
			options->last);
	json_object_set_new(args, "last_ms", json_integer((json_int_t)(ns / NS_PER_MS)));
	return APP_OK;
}

/* @return APP_OK, or APP_USAGE: said */
static int
make_request(const struct readout_options *options, json_t *args, int *timeout_ms)
{
	uint64_t ns = 0;

	if (add_window(args, options) != APP_OK ||
		add_number(args, "run", options->run) != APP_OK ||
		add_number(args, "trigger", options->trigger) != APP_OK)
		return APP_USAGE;
	if (options->timeout != NULL && app_duration(options->timeout, 0, TIMEOUT_MAX_S, &ns) < 0)
		return app_usage_error(&cmd_readout,
			"--timeout is '%s'; expected a time up to %.0fs, such as 500ms",
			options->timeout, TIMEOUT_MAX_S);
	*timeout_ms = (int)((ns + NS_PER_MS - 1) / NS_PER_MS);
	json_object_set_new(args, "timeout_ms", json_integer(*timeout_ms));
	json_object_set_new(args, "frames", json_boolean(options->out != NULL));
	if (json_array_size(options->links) > 0)
		json_object_set(args, "links", options->links);
	return APP_OK;
}

/* Fragments as bytes, taken out of the answer. @return APP_OK, or APP_FAILED: said */
static int
write_fragments(const json_t *answer, const char *path)
{
	FILE *file = fopen(path, "wb");
	bool good = file != NULL;
	json_t *fragment;
	size_t index;

	json_array_foreach (json_object_get(answer, "fragments"), index, fragment) {
		size_t nb = 0;
		void *bytes = weir_base_ctl_bytes(json_object_get(fragment, "data"), &nb);

		good = good && (bytes == NULL || fwrite(bytes, 1, nb, file) == nb);
		free(bytes);
		json_object_del(fragment, "data");
	}
	if (file != NULL)
		good = fclose(file) == 0 && good;
	return good ? APP_OK
		    : app_error(&cmd_readout, "cannot write '%s': %s", path, strerror(errno));
}

/* Is there a link that gives no frames, though it could? */
static bool
has_refused(const json_t *answer)
{
	const json_t *fragment;
	size_t index;

	json_array_foreach (json_object_get(answer, "fragments"), index, fragment) {
		if (json_object_get(fragment, "refused") != NULL ||
			strcmp(answer_text(fragment, "answer"), "too_large") == 0)
			return true;
	}
	return false;
}

static int
request(const struct readout_options *options)
{
	const char *instance;
	json_t *args = json_object(), *answer;
	int code, timeout_ms = 0;

	code = make_request(options, args, &timeout_ms);
	instance = code == APP_OK ? remote_instance(&cmd_readout, options->instance) : NULL;
	if (instance == NULL) {
		json_decref(args);
		return code == APP_OK ? APP_FAILED : code;
	}
	answer = remote_ask_for(&cmd_readout, instance, NULL, "readout/request", args, timeout_ms);
	if (answer == NULL)
		return APP_FAILED;
	if (options->out != NULL)
		code = write_fragments(answer, options->out);
	if (code == APP_OK && has_refused(answer))
		code = APP_FAILED;
	if (options->json) {
		const int printed = app_print_json(answer);

		return code == APP_OK ? printed : code;
	}
	readout_print_fragments(answer, stdout);
	json_decref(answer);
	return app_finish(code);
}

/* Sums that do not agree are a failure. */
static bool
agrees(const json_t *answer)
{
	return json_is_true(json_object_get(answer, "agree"));
}

static int
status_once(const char *instance, const struct readout_options *options, json_t *args)
{
	json_t *answer = remote_ask(&cmd_readout, instance, NULL, "readout/status", args);
	int code;

	if (answer == NULL)
		return APP_FAILED;
	code = agrees(answer) ? APP_OK : APP_FAILED;
	if (options->json) {
		const int printed = app_print_json(answer);

		return code == APP_OK ? printed : code;
	}
	readout_print_status(NULL, answer, stdout);
	json_decref(answer);
	return app_finish(code);
}

static int
status(const struct readout_options *options)
{
	const char *instance;
	json_t *args = NULL;
	int code;

	if (json_array_size(options->links) > 1)
		return app_usage_error(&cmd_readout, "status shows one link, or all");
	instance = remote_instance(&cmd_readout, options->instance);
	if (instance == NULL)
		return APP_FAILED;
	if (json_array_size(options->links) == 1)
		args = json_pack("{s:O}", "link", json_array_get(options->links, 0));
	if (!options->watch)
		return status_once(instance, options, args);
	code = watch(&(const struct watch){.command = &cmd_readout,
		.instance = instance,
		.question = "readout/status",
		.args = args,
		.print = readout_print_status,
		.json = options->json,
		.is_good = agrees});
	json_decref(args);
	return code;
}

/* What was given is to be of use. @return APP_OK, or APP_USAGE: said */
static int
check_use(bool is_status, const struct readout_options *options)
{
	const struct {
		const char *name;
		bool given, of_status;
	} uses[] = {
		{"watch", options->watch, true},
		{"begin", options->begin != NULL, false},
		{"end", options->end != NULL, false},
		{"last", options->last != NULL, false},
		{"timeout", options->timeout != NULL, false},
		{"run", options->run != NULL, false},
		{"trigger", options->trigger != NULL, false},
		{"out", options->out != NULL, false},
	};

	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (uses[i].given && uses[i].of_status != is_status)
			return app_usage_error(&cmd_readout, "--%s is of '%s'", uses[i].name,
				is_status ? "request" : "status");
	return APP_OK;
}

static int
run_verb(const char *verb, const struct readout_options *options)
{
	const bool is_status = strcmp(verb, "status") == 0;

	if (!is_status && strcmp(verb, "request") != 0)
		return app_usage_error(&cmd_readout, "expected 'status' or 'request'");
	if (check_use(is_status, options) != APP_OK)
		return APP_USAGE;
	return is_status ? status(options) : request(options);
}

static int
readout_run(int argc, char **argv)
{
	struct readout_options options = {.links = json_array()};
	const struct app_option table[] = {
		{"json", APP_OPTION_FLAG, &options.json},
		{"watch", APP_OPTION_FLAG, &options.watch},
		{"instance", APP_OPTION_TEXT, &options.instance},
		{"link", APP_OPTION_LIST, options.links},
		{"begin", APP_OPTION_TEXT, &options.begin},
		{"end", APP_OPTION_TEXT, &options.end},
		{"last", APP_OPTION_TEXT, &options.last},
		{"timeout", APP_OPTION_TEXT, &options.timeout},
		{"run", APP_OPTION_TEXT, &options.run},
		{"trigger", APP_OPTION_TEXT, &options.trigger},
		{"out", APP_OPTION_TEXT, &options.out},
		{.name = NULL},
	};
	int code = app_options(&cmd_readout, &argc, argv, table, 1, 1);

	if (code < 0)
		code = run_verb(argv[1], &options);
	json_decref(options.links);
	return code;
}

const struct app_command cmd_readout = {
	.name = "readout",
	.arguments = "status [--link NAME] [--watch] | request (--begin T --end T | --last TIME) "
		     "[--link NAME]... [--timeout TIME] [--out FILE]  [--instance NAME] [--json]",
	.summary = "Show links of a running instance, or get a window of their frames.",
	.help = "  weir readout status   what became of each link's frames: received = buffered + "
		"held +\n"
		"                        delivered + dropped, by reason; what its checks have "
		"seen; "
		"what its\n"
		"                        buffer has; then requests, and what feeds the links. "
		"Fails if sums\n"
		"                        do not agree\n"
		"    --link NAME         of this link only; of NAME-0, NAME-1 ... it is all of "
		"them\n"
		"    --watch             once a second, with frames a second; --json: one object a "
		"line.\n"
		"                        Fails if sums did not agree once, or it does not answer\n"
		"\n"
		"  weir readout request  frames of a window of time: what there is of them, and "
		"what is missing.\n"
		"                        Fails if a link refuses it, or it is too large\n"
		"    --begin T --end T   the window: from tick T up to, not including, another, as "
		"frames'\n"
		"                        timestamps count; status shows the oldest and the newest\n"
		"    --last TIME         or the last that each link has, such as 10ms: whole "
		"milliseconds\n"
		"    --link NAME         likewise; may be given several times; else of all\n"
		"    --timeout TIME      wait so long, 10s at most, for what is still to come; "
		"else "
		"not at all\n"
		"    --run N             for the fragments' headers\n"
		"    --trigger N         likewise\n"
		"    --out FILE          write the fragments there, frames and all, one behind the "
		"other, in the\n"
		"                        layout of weir_readout_fragment.h; 64 MiB of them at "
		"most\n"
		"\n"
		"  --instance NAME       which one, when several are running\n",
	.run = readout_run,
};
