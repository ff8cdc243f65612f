/* SPDX-License-Identifier: BSD-3-Clause */
/* weir run FILE: sets up, waits for the end, reports. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weir_base.h>

#include "app.h"
#include "ending.h"
#include "files.h"
#include "instance.h"
#include "report.h"
#include "report_text.h"
#include "svg.h"
#include "verdict.h"

#define POLL_NS      1000000ull    /* how soon an end is noticed */
#define PROGRESS_NS  1000000000ull /* how often a terminal is told */
#define KILL_GRACE_S 1             /* how long anything may, once a second signal has come */

/** Options of the command line. */
struct run_options {
	bool json;
	bool verbose;
	bool quiet;
	const char *name;
	const char *duration;
};

static volatile sig_atomic_t nb_signals;
static volatile sig_atomic_t files_done; /* nothing that could wait for others is left to do */

/*
 * A worker, or this thread as it completes a file, may hang in a system call that never comes back:
 * a pipe that nobody reads. Only a handler gets past that.
 */
static void
on_alarm(int number)
{
	static const char message[] = "weir run: ended at once by a second signal: something did "
				      "not come to an end; the totals are not known\n";

	(void)number;
	if (files_done)
		return;
	if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		_exit(APP_FAILED);
	_exit(APP_FAILED);
}

static void
on_signal(int number)
{
	/* A terminal that closes tells it twice, once by its shell and once by itself: nobody is impatient. */
	if (number == SIGHUP && nb_signals > 0)
		return;
	nb_signals++;
	if (nb_signals == 2)
		alarm(KILL_GRACE_S);
}

static void
catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct sigaction alarm_action = {.sa_handler = on_alarm}, before;

	sigaction(SIGALRM, &alarm_action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* The terminal is gone: likewise, unless that is not to matter, as below nohup. */
	if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
	/* A reader that goes away (`weir run ... | head`) must not keep files from being completed. */
	signal(SIGPIPE, SIG_IGN);
	/* Nor must a limit on the size of files end the run: what exceeds it could not be written, as on a full disk. */
	signal(SIGXFSZ, SIG_IGN);
}

static int
apply_options(struct config *config, const struct run_options *options)
{
	if (options->name != NULL) {
		if (strlen(options->name) > 48 ||
			strspn(options->name, "abcdefghijklmnopqrstuvwxyz"
					      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") !=
				strlen(options->name) ||
			options->name[0] == '\0' || options->name[0] == '.' ||
			options->name[0] == '-')
			return app_usage_error(&cmd_run,
				"bad name '%s'; expected 1 to 48 letters, digits, '_', '-' or '.'",
				options->name);
		snprintf(config->name, sizeof(config->name), "%s", options->name);
		config->name_given = true;
	}
	if (options->duration != NULL &&
		app_duration(options->duration, 1e-3, 1e9, &config->duration_ns) < 0)
		return app_usage_error(&cmd_run,
			"bad duration '%s'; expected a time such as 10s or 500ms",
			options->duration);
	return APP_OK;
}

static void
show_progress(struct instance *instance)
{
	json_t *report, *packets, *rate, *frames;

	if (report_collect(instance, &report) < 0)
		return;
	frames = json_object_get(json_object_get(report, "readout"), "frames");
	packets = json_object_get(report, "packets");
	rate = json_object_get(report, "rate");
	fprintf(stderr, "\r%.0f s:", json_number_value(json_object_get(report, "elapsed_s")));
	if (packets != NULL)
		fprintf(stderr,
			" %" JSON_INTEGER_FORMAT " packets in, %" JSON_INTEGER_FORMAT
			" out, %.3f Mpps",
			json_integer_value(json_object_get(packets, "in")),
			json_integer_value(json_object_get(packets, "out")),
			json_number_value(json_object_get(rate, "in_pps")) / 1e6);
	if (frames != NULL)
		fprintf(stderr,
			" %" JSON_INTEGER_FORMAT " frames of links, %" JSON_INTEGER_FORMAT
			" dropped",
			json_integer_value(json_object_get(frames, "received")),
			json_integer_value(json_object_get(frames, "dropped")));
	fprintf(stderr, "\033[K");
	json_decref(report);
}

/* Wait for the end: of the input, of the time, or by a signal. */
static void
wait_for_end(struct instance *instance, bool progress)
{
	const struct timespec poll = {.tv_nsec = POLL_NS};
	uint64_t now, shown = instance->start_ns;
	struct ending ending = {0};
	unsigned int todo;
	uint64_t duration = instance->config->duration_ns;

	while (!instance_is_finished(instance)) {
		nanosleep(&poll, NULL);
		now = weir_base_time_ns();
		todo = ending_step(&ending, now,
			__atomic_load_n(&instance->stop_asked, __ATOMIC_RELAXED) ||
				(duration != 0 && now - instance->start_ns >= duration),
			nb_signals);
		if ((todo & ENDING_STOP) != 0)
			instance_stop(instance);
		if ((todo & ENDING_STOP_WAITING) != 0) {
			weir_node_stop_waiting(true);
			instance_stop_workers(instance);
		}
		if ((todo & ENDING_STOP_NOW) != 0)
			instance_stop_now(instance);
		if (progress && now - shown >= PROGRESS_NS) {
			show_progress(instance);
			shown = now;
		}
	}
	if (progress)
		fprintf(stderr, "\r\033[K");
}

static int
write_stats(struct instance *instance, const json_t *report)
{
	const char *path = instance->config->outputs.stats_json;
	int error = files_make_directories(path);
	FILE *file;

	if (error == 0) {
		file = fopen(path, "w");
		error = file == NULL ? -errno : 0;
	}
	if (error == 0) {
		if (json_dumpf(report, file, JSON_INDENT(2)) < 0 || fputc('\n', file) == EOF)
			error = -EIO;
		if (fclose(file) != 0)
			error = -errno;
	}
	if (error < 0)
		weir_base_log(WEIR_BASE_LOG_ERROR, "app", "cannot write '%s': %s", path,
			strerror(-error));
	return error;
}

/* Names of what was written, for the reader to open. */
static void
list_outputs(const struct instance *instance, json_t *written)
{
	const struct config *config = instance->config;
	unsigned int i;

	for (i = 0; i < config->nb_ports; i++)
		if (config->ports[i].pcap_out != NULL)
			json_array_append_new(written, json_string(config->ports[i].pcap_out));
	for (i = 0; i < instance->links.requests.nb; i++)
		if (config->links.requests[i].to != NULL &&
			links_request_is_written(&instance->links.requests.list[i]))
			json_array_append_new(written, json_string(config->links.requests[i].to));
	if (config->outputs.punt_pcap != NULL)
		json_array_append_new(written, json_string(config->outputs.punt_pcap));
	if (config->outputs.stats_json != NULL)
		json_array_append_new(written, json_string(config->outputs.stats_json));
}

static void
print_outputs(const json_t *written)
{
	const json_t *name;
	size_t index;

	if (json_array_size(written) == 0)
		return;
	printf("\n  Written:");
	json_array_foreach (written, index, name) {
		printf(" %s", json_string_value(name));
	}
	printf("\n");
}

/* " peer_gone 3, queue_full 1" */
static const char *
list_failures(const json_t *to, char *text, size_t size)
{
	const json_t *count;
	const char *name;
	size_t used = 0;

	json_object_foreach (json_object_get(to, "failed"), name, count) {
		used += (size_t)snprintf(text + used, size - used, "%s %s %" JSON_INTEGER_FORMAT,
			used > 0 ? "," : "", name, json_integer_value(count));
		if (used >= size)
			break;
	}
	return text;
}

/* What readers of fragments, or files, did not take. @return whether all is there that was to be */
static bool
tell_unwritten(const struct instance *instance, const json_t *report)
{
	const json_t *requests = json_object_get(json_object_get(report, "readout"), "requests");
	const struct links_requests *all = &instance->links.requests;
	char why[256];
	unsigned int i;
	bool whole = true;

	for (i = 0; i < all->nb; i++) {
		const json_t *to =
			json_object_get(json_array_get(json_object_get(requests, "list"), i), "to");

		if (links_request_is_written(&all->list[i]))
			continue;
		whole = false;
		app_error(&cmd_run,
			"'%s' has only %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
			" fragments:%s",
			report_text(to, "path"), report_int(to, "sent"), report_int(to, "taken"),
			list_failures(to, why, sizeof(why)));
	}
	return whole;
}

/* After the last walk: pictures, report, exit code. */
static int
finish(struct instance *instance, const struct run_options *options)
{
	json_t *written = json_array(), *report = NULL;
	int code = APP_OK, error;

	if (instance_join(instance) < 0)
		code = APP_FAILED;
	files_done = 1;
	error = report_collect(instance, &report);
	if (error < 0) {
		json_decref(written);
		return app_error(&cmd_run, "no counters: %s", strerror(-error));
	}
	if (svg_write(instance, written) < 0)
		code = APP_FAILED;
	list_outputs(instance, written);
	json_object_set(report, "written", written);
	if (instance->config->outputs.stats_json != NULL && write_stats(instance, report) < 0)
		code = APP_FAILED;
	if (!tell_unwritten(instance, report))
		code = APP_FAILED;
	if (verdict_tell(&cmd_run, report) != APP_OK)
		code = APP_FAILED;
	if (options->json) {
		if (app_print_json(report) != APP_OK)
			code = APP_FAILED;
		json_decref(written);
		return code;
	}
	if (!options->quiet) {
		report_print(report, stdout);
		print_outputs(written);
	}
	json_decref(report);
	json_decref(written);
	return app_finish(code);
}

static int
run_config(struct config *config, const struct run_options *options)
{
	const bool progress = isatty(STDERR_FILENO) && !options->quiet;
	const struct instance_options setup = {.verbose = options->verbose, .progress = progress};
	struct instance instance;
	int code = APP_OK, error;

	config_open_outputs(config);
	if (config_print_errors(config, options->json))
		return APP_USAGE;
	catch_signals();
	error = instance_open(&instance, config, &setup);
	if (error == 0 && nb_signals == 0) {
		error = instance_start(&instance);
		if (error < 0)
			instance_stop(&instance);
		wait_for_end(&instance, progress);
		/* What is wrong in the file is all there is to tell of a run that did not begin. */
		code = error < 0 && config_nb_errors(config) > 0 ? instance_join(&instance)
								 : finish(&instance, options);
	}
	if (config_print_errors(config, options->json))
		code = APP_USAGE;
	else if (error < 0)
		code = app_error(&cmd_run, "could not start: %s", strerror(-error));
	else if (instance.start_ns == 0)
		code = app_error(&cmd_run, "stopped by a signal before it began");
	if (instance_close(&instance) < 0 && code == APP_OK)
		code = app_error(&cmd_run, "a file could not be written completely");
	return code;
}

static int
run_run(int argc, char **argv)
{
	struct run_options options = {0};
	const struct app_option table[] = {
		{"json", APP_OPTION_FLAG, &options.json},
		{"verbose", APP_OPTION_FLAG, &options.verbose},
		{"quiet", APP_OPTION_FLAG, &options.quiet},
		{"name", APP_OPTION_TEXT, &options.name},
		{"duration", APP_OPTION_TEXT, &options.duration},
		{.name = NULL},
	};
	struct config *config;
	int code = app_options(&cmd_run, &argc, argv, table, 1, 1);

	if (code >= 0)
		return code;
	config = config_load(argv[1], true);
	if (config == NULL)
		return app_error(&cmd_run, "out of memory");
	if (config_print_errors(config, options.json))
		code = APP_USAGE;
	else
		code = apply_options(config, &options);
	if (code == APP_OK)
		code = run_config(config, &options);
	config_free(config);
	return code;
}

const struct app_command cmd_run = {
	.name = "run",
	.arguments = "FILE [--duration TIME] [--name NAME] [--json] [--quiet] [--verbose]",
	.summary = "Run what a description file describes, and report.",
	.help = "  --duration TIME  stop after so long, for example 10s; the file's run.duration "
		"otherwise\n"
		"  --name NAME      call the instance so, for `weir stats`; by default the file's "
		"name\n"
		"  --json           print the report as one JSON object\n"
		"  --quiet          print errors only\n"
		"  --verbose        show what DPDK says\n"
		"\n"
		"Captures and route tables are looked for beside the description file, outputs go "
		"below the\n"
		"current directory. SIGINT, SIGTERM and, unless it is ignored as below nohup, "
		"SIGHUP end a run:\n"
		"what was received is forwarded, files are completed, and the report is printed. "
		"A second signal\n"
		"ends it at once: what does not take packets is waited for no longer, and what has "
		"not ended a\n"
		"second later is left as it is, without a report.\n",
	.run = run_run,
};
