/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines: long options only, unknown ones refused, help from the command's own table. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <weir_base_doc.h>

#include "app.h"

static void
print_help(const struct app_command *command)
{
	printf("Usage: weir %s%s%s\n\n%s\n\n%s", command->name, command->arguments[0] ? " " : "",
		command->arguments, command->summary, command->help);
	printf("\nExit code: 0 done, 1 failed, 2 wrong use or bad description file.\n");
}

/* The first error, for app_end(); and whether JSON was printed, which then tells of it. */
static char first_error[1024];
static bool json_printed;

static void __attribute__((format(printf, 2, 0)))
print_error(const struct app_command *command, const char *format, va_list args)
{
	char text[sizeof(first_error)];

	vsnprintf(text, sizeof(text), format, args);
	if (command == NULL)
		fprintf(stderr, "weir: %s\n", text);
	else
		fprintf(stderr, "weir %s: %s\n", command->name, text);
	if (first_error[0] == '\0')
		memcpy(first_error, text, sizeof(text));
}

int
app_usage_error(const struct app_command *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_error(command, format, args);
	va_end(args);
	fprintf(stderr, "Usage: weir %s%s%s (`weir %s --help` tells more)\n", command->name,
		command->arguments[0] ? " " : "", command->arguments, command->name);
	return APP_USAGE;
}

int
app_error(const struct app_command *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_error(command, format, args);
	va_end(args);
	return APP_FAILED;
}

int
app_end(int code, bool json)
{
	json_t *object;

	if (code == APP_OK || !json || json_printed || first_error[0] == '\0')
		return code;
	object = json_pack("{s:b, s:s}", "ok", 0, "error", first_error);
	if (object != NULL)
		app_print_json(object);
	return code;
}

/* Set the option that `text` (after its dashes) names. Returns how many arguments it took, 0 on error. */
static int
take_option(
	const struct app_command *command, const struct app_option *options, char *text, char *next)
{
	const struct app_option *option;
	char *equals = strchr(text, '=');
	size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);

	for (option = options; option != NULL && option->name != NULL; option++)
		if (strlen(option->name) == length && memcmp(option->name, text, length) == 0)
			break;
	if (option == NULL || option->name == NULL) {
		app_usage_error(command, "unknown option --%.*s", (int)length, text);
		return 0;
	}
	if (option->kind == APP_OPTION_FLAG) {
		if (equals != NULL) {
			app_usage_error(command, "option --%s takes no value", option->name);
			return 0;
		}
		*(bool *)option->value = true;
		return 1;
	}
	if (equals == NULL && next == NULL) {
		app_usage_error(command, "option --%s needs a value", option->name);
		return 0;
	}
	text = equals != NULL ? equals + 1 : next;
	if (option->kind == APP_OPTION_TEXT) {
		*(const char **)option->value = text;
	} else if (json_array_append_new(option->value, json_string(text)) < 0) {
		app_usage_error(command, "the value of --%s is no text in UTF-8", option->name);
		return 0;
	}
	return equals != NULL ? 1 : 2;
}

int
app_duration(const char *text, double min_s, double max_s, uint64_t *ns)
{
	const struct weir_base_doc_key keys[] = {
		{.name = "duration", .kind = WEIR_BASE_DOC_DURATION, .min = min_s, .max = max_s},
		{.name = NULL},
	};
	const struct weir_base_doc_section section = {.name = "command line", .keys = keys};
	char yaml[128];
	struct weir_base_doc *doc;
	unsigned int nb_errors;

	snprintf(yaml, sizeof(yaml), "{duration: \"%s\"}",
		strpbrk(text, "\"\\") == NULL ? text : "?");
	doc = weir_base_doc_load_text(yaml, strlen(yaml), "command line", &section);
	if (doc == NULL)
		return -ENOMEM;
	weir_base_doc_errors(doc, &nb_errors);
	*ns = weir_base_doc_u64(weir_base_doc_get(weir_base_doc_root(doc), "duration"));
	weir_base_doc_free(doc);
	return nb_errors == 0 ? 0 : -EINVAL;
}

int
app_options(const struct app_command *command, int *argc, char **argv,
	const struct app_option *options, int min_args, int max_args)
{
	int nb_args = 0, taken, i;

	for (i = 1; i < *argc;) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			print_help(command);
			return app_finish(APP_OK);
		}
		if (strcmp(argv[i], "--") == 0) {
			for (i++; i < *argc; i++)
				argv[1 + nb_args++] = argv[i];
			break;
		}
		if (strncmp(argv[i], "--", 2) == 0) {
			taken = take_option(
				command, options, argv[i] + 2, i + 1 < *argc ? argv[i + 1] : NULL);
			if (taken == 0)
				return APP_USAGE;
			i += taken;
		} else if (argv[i][0] == '-' && argv[i][1] != '\0') {
			return app_usage_error(command, "unknown option %s", argv[i]);
		} else {
			argv[1 + nb_args++] = argv[i++];
		}
	}
	if (nb_args < min_args)
		return app_usage_error(command, "something is missing");
	if (nb_args > max_args)
		return app_usage_error(command, "'%s' is too much", argv[1 + max_args]);
	*argc = nb_args + 1;
	argv[*argc] = NULL;
	return -1;
}

int
app_finish(int code)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "weir: cannot write to standard output: %s\n", strerror(errno));
		return code == APP_OK ? APP_FAILED : code;
	}
	return code;
}

void
app_begin_json(const char *text)
{
	json_printed = true;
	fputs(text, stdout);
}

int
app_print_json(json_t *json)
{
	int failed = json == NULL ||
		     json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) < 0;

	json_decref(json);
	json_printed = true;
	if (failed && ferror(stdout))
		return app_finish(APP_FAILED);
	if (failed) {
		fprintf(stderr, "weir: cannot print JSON\n");
		return APP_FAILED;
	}
	putchar('\n');
	return app_finish(APP_OK);
}
