/* SPDX-License-Identifier: BSD-3-Clause */

/* The table for people, the JSON for programs. */

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <weir_base.h>

#include "harness.h"

static double
cycles_to_ns(double cycles)
{
	return cycles * 1e9 / (double)weir_base_cycles_hz();
}

void
bench_say(const struct bench_report *report, const char *format, ...)
{
	va_list args;

	if (report->options->json)
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

void
bench_report_begin(struct bench_report *report, const struct bench *bench,
	const struct bench_options *options, const char *work, const char *object, const char *peer)
{
	*report = (struct bench_report){
		.bench = bench,
		.options = options,
		.work = work,
		.object = object,
		.peer = peer,
		.root = json_pack("{s:s}", "bench", bench->name),
	};
}

static void
read_cpu_model(char *model, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[256];

	snprintf(model, size, "unknown CPU");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		const char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || colon == NULL)
			continue;
		snprintf(model, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
		break;
	}
	if (file != NULL)
		fclose(file);
}

void
bench_report_machine(struct bench_report *report)
{
	const char *memory = bench_memory_kind();
	double hz = (double)weir_base_cycles_hz();
	char model[128];

	read_cpu_model(model, sizeof(model));
	json_object_set_new(report->root, "machine",
		json_pack("{s:s, s:f, s:s}", "cpu", model, "cycles_hz", hz, "memory", memory));
	bench_say(report, "weir bench %s: on %s of %s, cycles of %.3f GHz, %s\n",
		report->bench->name, report->cores != NULL ? report->cores : "one core", model,
		hz / 1e9, memory);
}

void
bench_report_array(struct bench_report *report, const char *array)
{
	report->cases = json_object_get(report->root, array);
	if (report->cases == NULL) {
		json_object_set_new(report->root, array, json_array());
		report->cases = json_object_get(report->root, array);
	}
}

void
bench_report_table(struct bench_report *report, const char *array, const char *title)
{
	bench_report_array(report, array);
	bench_say(report, "\n%s\n\n", title);
	bench_say(report, "%-22s |%24s |%24s |\n", "", "ours", report->peer);
	bench_say(report, "%-22s |%9s%8s%7s |%9s%8s%7s |%7s  %s\n", "", "cycles/", "ns/", "cycles/",
		"cycles/", "ns/", "cycles/", "ratio", "to reach");
	bench_say(report, "%-22s |%9s%8s%7.6s |%9s%8s%7.6s |\n", "case", report->work, report->work,
		report->object, report->work, report->work, report->object);
}

static json_t *
figure_json(const struct bench_report *report, const struct bench_figure *figure, double objects)
{
	json_t *json = json_object();
	char key[64];

	snprintf(key, sizeof(key), "cycles_per_%s", report->work);
	json_object_set_new(json, key, json_real(figure->median));
	snprintf(key, sizeof(key), "cycles_per_%s_p10", report->work);
	json_object_set_new(json, key, json_real(figure->low));
	snprintf(key, sizeof(key), "cycles_per_%s_p90", report->work);
	json_object_set_new(json, key, json_real(figure->high));
	snprintf(key, sizeof(key), "ns_per_%s", report->work);
	json_object_set_new(json, key, json_real(cycles_to_ns(figure->median)));
	snprintf(key, sizeof(key), "cycles_per_%s", report->object);
	json_object_set_new(json, key, json_real(figure->median / objects));
	snprintf(key, sizeof(key), "ns_per_%s", report->object);
	json_object_set_new(json, key, json_real(cycles_to_ns(figure->median / objects)));
	return json;
}

static void
merge_extra(json_t *into, json_t *extra)
{
	if (extra == NULL)
		return;
	json_object_update(into, extra);
	json_decref(extra);
}

static void
print_row(const struct bench_report *report, const struct bench_row *row, const char *verdict)
{
	const struct bench_figure *ours = &row->ours, *theirs = &row->theirs;

	bench_say(report, "%-22s |%9.1f%8.1f%7.2f |%9.1f%8.1f%7.2f |%7.2f  ", row->name,
		ours->median, cycles_to_ns(ours->median), ours->median / row->objects,
		theirs->median, cycles_to_ns(theirs->median), theirs->median / row->objects,
		theirs->median / ours->median);
	if (row->target > 0)
		bench_say(report, "%4.1f", row->target);
	else
		bench_say(report, "   -");
	if (row->most_per_object > 0)
		bench_say(report, ", %.1f cycles", row->most_per_object);
	bench_say(report, "%s\n", verdict);
	if (!report->options->json)
		fflush(stdout);
}

void
bench_report_row(struct bench_report *report, const struct bench_row *row)
{
	const char *peer = row->peer != NULL ? row->peer : report->peer;
	double ratio = row->theirs.median / row->ours.median;
	double per_object = row->ours.median / row->objects;
	bool too_slow = row->most_per_object > 0 && per_object > row->most_per_object;
	bool has_target =
		row->target > 0 || row->most_per_object > 0 || row->others != BENCH_VERDICT_NONE;
	bool reached = ratio >= row->target && !too_slow && row->others != BENCH_VERDICT_MISSED;
	json_t *json = json_object(), *ours, *theirs;

	ours = figure_json(report, &row->ours, row->objects);
	merge_extra(ours, row->ours_extra);
	theirs = json_pack("{s:s}", "name", peer);
	merge_extra(theirs, figure_json(report, &row->theirs, row->objects));
	merge_extra(theirs, row->peer_extra);
	json_object_set_new(json, "name", json_string(row->name));
	json_object_set_new(json, "ours", ours);
	json_object_set_new(json, "peer", theirs);
	json_object_set_new(json, "ratio", json_real(ratio));
	if (row->target > 0)
		json_object_set_new(json, "target", json_real(row->target));
	if (row->most_per_object > 0)
		json_object_set_new(json, "target_cycles", json_real(row->most_per_object));
	if (has_target)
		json_object_set_new(json, "reached", json_boolean(reached));
	merge_extra(json, row->extra);
	json_array_append_new(report->cases, json);

	report->nb_rows++;
	report->nb_targets += has_target;
	report->nb_missed += has_target && !reached;
	if (!row->quiet)
		print_row(report, row, !has_target || reached ? "" : "  not reached");
}

void
bench_report_failure(struct bench_report *report, const char *name, const char *format, ...)
{
	char why[256];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	fflush(stdout);
	fprintf(stderr, "weir bench %s: %s: %s\n", report->bench->name, name, why);
	json_array_append_new(report->cases, json_pack("{s:s, s:s}", "name", name, "failed", why));
	report->failed = true;
}

int
bench_report_end(struct bench_report *report)
{
	int code = report->failed ? 1 : 0;

	if (report->nb_rows == 0 && !report->failed) {
		fprintf(stderr, "weir bench %s: no case is called '%s'; --list names them\n",
			report->bench->name, report->options->case_pattern);
		code = 2;
	} else if (report->options->json) {
		json_dumpf(report->root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
		putchar('\n');
	} else {
		printf("\nA ratio is the peer's time over ours: above 1 is better for us. %u of %u "
		       "targets reached.\n",
			report->nb_targets - report->nb_missed, report->nb_targets);
	}
	json_decref(report->root);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "weir bench: cannot write to standard output: %s\n",
			strerror(errno));
		code = 1;
	}
	return code;
}
