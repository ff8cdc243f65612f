/* SPDX-License-Identifier: BSD-3-Clause */
/* weir sim FILE: what would come of it, on a machine that one need not have. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir_base.h>
#include <weir_base_doc.h>

#include "app.h"
#include "schema.h"
#include "sim_report.h"

#define NS_PER_S 1e9
#define SEED_MAX UINT64_C(9000000000000000) /* as in a file: a number of JSON holds it */

struct sim_options {
	bool json;
	bool csv;
	bool progress;
	const char *seed;
	const char *replications;
	const char *duration;
	const char *threads;
};

/* When to speak again, if at all. */
struct teller {
	bool speaks;
	uint64_t start_ns, next_ns;
};

static volatile sig_atomic_t is_stopped;

static void
on_signal(int number)
{
	(void)number;
	is_stopped = 1;
}

/* The first one ends the run, with what is done so far; the second one the program. */
static void
catch_signals(void)
{
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* A limit on the size of files does not end the run: what exceeds it could not be written, as on a full disk. */
	signal(SIGXFSZ, SIG_IGN);
}

static bool
tell_progress(void *arg, const struct weir_sim_progress *progress)
{
	struct teller *teller = arg;
	const uint64_t now_ns = weir_base_time_ns();
	const double seconds = (double)(now_ns - teller->start_ns) / NS_PER_S;

	if (is_stopped)
		return false;
	if (!teller->speaks || now_ns < teller->next_ns || seconds <= 0 || progress->events == 0)
		return true;
	teller->next_ns = now_ns + (uint64_t)NS_PER_S;
	fprintf(stderr, "weir sim: %u of %u replications, one at %.6g s, %.3g million events/s",
		progress->replication, progress->nb_replications, (double)progress->now_ps / 1e12,
		(double)progress->events / seconds / 1e6);
	if (progress->done > 0)
		fprintf(stderr, ", %.3g s left", seconds / progress->done - seconds);
	fprintf(stderr, "\n");
	return true;
}

/* A whole number in decimal. */
static bool
read_number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno == 0 && end != text && *end == '\0' && strchr(text, '-') == NULL &&
	       *value <= max;
}

/* Options count more than the file. @return -1 or an exit code */
static int
apply_options(const struct sim_options *options, struct weir_sim_param *param)
{
	uint64_t value;

	if (options->seed != NULL) {
		if (!read_number(options->seed, SEED_MAX, &param->seed))
			return app_usage_error(&cmd_sim,
				"'%s' is no seed; expected an integer from 0 to %" PRIu64,
				options->seed, SEED_MAX);
	}
	if (options->replications != NULL) {
		if (!read_number(options->replications, 100000, &value) || value == 0)
			return app_usage_error(&cmd_sim,
				"'%s' replications; expected an integer from 1 to 100000",
				options->replications);
		param->nb_replications = (unsigned int)value;
	}
	if (options->threads != NULL) {
		if (!read_number(options->threads, 4096, &value) || value == 0)
			return app_usage_error(&cmd_sim,
				"'%s' threads; expected an integer from 1 to 4096",
				options->threads);
		param->nb_threads = (unsigned int)value;
	}
	if (options->duration != NULL) {
		if (app_duration(options->duration, 1e-9, 4e6, &value) < 0)
			return app_usage_error(&cmd_sim,
				"'%s' is no duration; expected a time such as 10ms, up to 4e6 s",
				options->duration);
		param->duration_ps = value * 1000;
		if (param->duration_ps <= param->warmup_ps)
			return app_usage_error(&cmd_sim,
				"'%s' ends with the warm-up; expected more than "
				"run.simulation.warmup",
				options->duration);
	}
	return -1;
}

static int
print(const struct sim_report *report, const struct sim_options *options)
{
	if (options->json)
		return app_print_json(sim_report_json(report));
	if (options->csv) {
		sim_report_csv(report);
		sim_report_left_aside(report->left_aside, stderr);
	} else {
		sim_report_print(report);
	}
	return app_finish(APP_OK);
}

/* What is not as it should be with a result, to be freed; NULL: nothing. @return false: no memory */
static bool
judge(const struct sim_report *report, char **words)
{
	const struct weir_sim_replication *broken = sim_report_broken(report);
	const unsigned int nb = report->result->nb_replications;
	int length = 0;

	*words = NULL;
	if (broken != NULL && broken->is_models_fault)
		length = asprintf(words, "'%s' does not hold at %.12g s: a fault of the model",
			broken->broken, (double)broken->end_ps / 1e12);
	else if (broken != NULL)
		length = asprintf(words,
			"%s is broken: a fault of the simulator, please tell its authors",
			broken->broken);
	else if (report->result->interrupted)
		length = asprintf(words, "interrupted: %u replications were run to their end%s", nb,
			nb == 0 ? ", so that there are no results" : "");
	return length >= 0;
}

/* @param code  of the program where it is the file that is at fault. @return it, having told what is wrong with the file */
static int
refuse(const struct weir_base_doc *doc, bool json, int code)
{
	unsigned int nb_errors;

	weir_base_doc_errors(doc, &nb_errors);
	if (nb_errors == 0)
		return app_error(&cmd_sim, "out of memory");
	if (json)
		app_print_json(
			json_pack("{s:b, s:o}", "ok", 0, "errors", weir_base_doc_errors_json(doc)));
	else
		weir_base_doc_errors_print(doc, stderr);
	return code;
}

static int
tell_error(int error, struct weir_base_doc *doc, const struct weir_sim_param *param,
	const struct weir_sim_result *result, bool json)
{
	if (error == -EOVERFLOW)
		return app_error(&cmd_sim,
			"more than %" PRIu32 " packets inside, as run.simulation.packets_inside "
			"has it: more come than are served, or they fork without an end",
			param->nb_inside_max);
	if (error != -EIO || result->error == NULL)
		return app_error(&cmd_sim, "%s", strerror(-error));
	weir_base_doc_error_add(doc, result->error_at, "%s", result->error);
	return refuse(doc, json, APP_FAILED);
}

/* @param left_aside  what of the file the model is not made of */
static int
simulate(const char *path, struct weir_base_doc *doc, const struct weir_sim_model *model,
	const struct weir_sim_param *param, const struct sim_options *options,
	const json_t *left_aside)
{
	struct weir_sim_result result;
	const uint64_t start_ns = weir_base_time_ns();
	const int error = weir_sim_run(model, param, &result);
	struct sim_report report = {.path = path,
		.model = model,
		.param = param,
		.result = &result,
		.seconds = (double)(weir_base_time_ns() - start_ns) / NS_PER_S,
		.left_aside = left_aside};
	char *words = NULL;
	int code;

	if (error < 0) {
		code = tell_error(error, doc, param, &result, options->json);
	} else if (!judge(&report, &words)) {
		code = app_error(&cmd_sim, "out of memory");
	} else {
		report.error = words;
		code = print(&report, options);
		if (words != NULL)
			code = app_error(&cmd_sim, "%s", words);
		free(words);
	}
	weir_sim_result_free(&result);
	return code;
}

/* How many CPUs it may use. */
static unsigned int
usable_cpus(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (unsigned int)CPU_COUNT(&cpus) : 1;
}

static int
sim_run_command(int argc, char **argv)
{
	struct sim_options given = {.json = false};
	const struct app_option options[] = {{"json", APP_OPTION_FLAG, &given.json},
		{"csv", APP_OPTION_FLAG, &given.csv},
		{"progress", APP_OPTION_FLAG, &given.progress},
		{"seed", APP_OPTION_TEXT, &given.seed},
		{"replications", APP_OPTION_TEXT, &given.replications},
		{"duration", APP_OPTION_TEXT, &given.duration},
		{"threads", APP_OPTION_TEXT, &given.threads}, {.name = NULL}};
	struct teller teller = {.start_ns = weir_base_time_ns()};
	struct weir_sim_model *model;
	struct weir_sim_param param;
	struct weir_base_doc *doc;
	json_t *left_aside;
	int code = app_options(&cmd_sim, &argc, argv, options, 1, 1);

	if (code >= 0)
		return code;
	if (given.json && given.csv)
		return app_usage_error(&cmd_sim, "--json beside --csv; expected one of them");
	doc = weir_base_doc_load(argv[1], &schema_root);
	model = doc != NULL ? weir_sim_model_read(doc) : NULL;
	if (doc == NULL) {
		code = app_error(&cmd_sim, "out of memory");
	} else if (model == NULL) {
		code = refuse(doc, given.json, APP_USAGE);
	} else {
		left_aside = weir_base_doc_unread_json(doc);
		weir_sim_model_param(model, &param);
		param.nb_threads = usable_cpus();
		param.progress = tell_progress;
		param.arg = &teller;
		teller.speaks = given.progress || isatty(STDERR_FILENO);
		/* Who asks for it is told at least once, if there is anything to tell. */
		teller.next_ns = given.progress ? 0 : teller.start_ns + (uint64_t)NS_PER_S;
		code = apply_options(&given, &param);
		catch_signals();
		if (code < 0 && left_aside == NULL)
			code = app_error(&cmd_sim, "out of memory");
		if (code < 0)
			code = simulate(argv[1], doc, model, &param, &given, left_aside);
		json_decref(left_aside);
	}
	weir_sim_model_free(model);
	weir_base_doc_free(doc);
	return code;
}

const struct app_command cmd_sim = {
	.name = "sim",
	.arguments = "FILE [--seed N] [--replications N] [--duration TIME] [--threads N] "
		     "[--progress] [--json | --csv]",
	.summary = "Simulate what a description file describes.",
	.help = "Traffic, application and platform are those of the file; how it is run is told by "
		"its\n"
		"`run.simulation`, or by options:\n"
		"  --seed N           other random numbers; the same seed gives the same run\n"
		"  --replications N   run it so many times, for confidence intervals\n"
		"  --duration TIME    simulated time of each, such as 10ms\n"
		"  --threads N        how many run at a time; by default as many as there are "
		"CPUs\n"
		"  --progress         tell once a second how far it is, also where standard error "
		"is no\n"
		"                     terminal\n"
		"  --json             for programs\n"
		"  --csv              a line per result\n"
		"SIGINT and SIGTERM end it early: what replications that are done have found is "
		"told,\n"
		"and that it is not all (\"ok\": false).\n",
	.run = sim_run_command,
};
