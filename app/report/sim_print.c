/* SPDX-License-Identifier: BSD-3-Clause */
/* What a simulation found, as a table. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_text.h"
#include "sim_report.h"

#define DROP_LINES_MAX       20
#define CORE_LINES_MAX       64
#define LEFT_ASIDE_LINES_MAX 12

/* What a column shows of a quantity. */
enum form {
	FORM_COUNT,
	FORM_TIME,
	FORM_RATE,
	FORM_SHARE,
	FORM_NUMBER,
	FORM_PARTS, /* of a time: its wait and its service */
};

struct column {
	const char *head;
	const char *quantity;
	enum form form;
	bool interval; /* with its confidence interval */
};

static const struct column stream_columns[] = {
	{"packets", "arrived_packets", FORM_COUNT, false},
	{"dropped", "loss", FORM_SHARE, true},
	{"delivered", "delivered_pps", FORM_RATE, true},
	{"latency", "latency_mean_ns", FORM_TIME, true},
	{"p50", "latency_p50_ns", FORM_TIME, false},
	{"p99", "latency_p99_ns", FORM_TIME, false},
	{"p99.9", "latency_p999_ns", FORM_TIME, false},
	{"p99.99", "latency_p9999_ns", FORM_TIME, false},
	{"wait", "wait_mean_ns", FORM_TIME, false},
	{"service", "service_mean_ns", FORM_TIME, false},
	{"reordered", "reordering", FORM_SHARE, false},
	{.head = NULL},
};

static const struct column queue_columns[] = {
	{"packets", "arrived_packets", FORM_COUNT, false},
	{"dropped", "loss", FORM_SHARE, true},
	{"length", "length_mean", FORM_NUMBER, true},
	{"most", "length_max", FORM_NUMBER, false},
	{"wait", "wait_mean_ns", FORM_TIME, true},
	{"longest", "wait_max_ns", FORM_TIME, false},
	{.head = NULL},
};

/* From a queue on, until its object is done. */
static const struct column stage_columns[] = {
	{"packets", "served_packets", FORM_COUNT, false},
	{"per second", "served_pps", FORM_RATE, true},
	{"latency", "latency_mean_ns", FORM_TIME, true},
	{"p50", "latency_p50_ns", FORM_TIME, false},
	{"p99", "latency_p99_ns", FORM_TIME, false},
	{"p99.9", "latency_p999_ns", FORM_TIME, false},
	{"p99.99", "latency_p9999_ns", FORM_TIME, false},
	{"service", "service_mean_ns", FORM_TIME, false},
	{"reordered", "reordering", FORM_SHARE, false},
	{.head = NULL},
};

static const struct column part_columns[] = {
	{"p50", "latency_p50", FORM_PARTS, false},
	{"p90", "latency_p90", FORM_PARTS, false},
	{"p99", "latency_p99", FORM_PARTS, false},
	{"p99.9", "latency_p999", FORM_PARTS, false},
	{"p99.99", "latency_p9999", FORM_PARTS, false},
	{.head = NULL},
};

static const struct column core_columns[] = {
	{"packets", "served_packets", FORM_COUNT, false},
	{"used", "utilisation", FORM_SHARE, true},
	{.head = NULL},
};

static const struct column cores_columns[] = {
	{"packets", "served_packets", FORM_COUNT, false},
	{"busy", "busy_mean", FORM_NUMBER, true},
	{"used", "utilisation", FORM_SHARE, true},
	{.head = NULL},
};

static const struct column unit_columns[] = {
	{"packets", "arrived_packets", FORM_COUNT, false},
	{"dropped", "loss", FORM_SHARE, true},
	{"length", "length_mean", FORM_NUMBER, true},
	{"wait", "wait_mean_ns", FORM_TIME, true},
	{"used", "utilisation", FORM_SHARE, true},
	{.head = NULL},
};

static const struct column worker_columns[] = {
	{"walks", "walks", FORM_COUNT, false},
	{"empty", "empty_walks", FORM_COUNT, false},
	{"packets", "received_packets", FORM_COUNT, false},
	{"per walk", "packets_per_walk", FORM_NUMBER, true},
	{"busy", "utilisation", FORM_SHARE, true},
	{.head = NULL},
};

static const struct column node_columns[] = {
	{"packets", "packets", FORM_COUNT, false},
	{"vectors", "vectors", FORM_COUNT, false},
	{"per vector", "packets_per_vector", FORM_NUMBER, true},
	{"cycles", "cycles_per_packet", FORM_NUMBER, true},
	{.head = NULL},
};

static const struct column job_columns[] = {
	{"packets", "packets", FORM_COUNT, false},
	{"slices", "slices", FORM_COUNT, false},
	{"per packet", "slices_per_packet", FORM_NUMBER, true},
	{.head = NULL},
};

static const struct column link_columns[] = {
	{"received", "received_frames", FORM_COUNT, false},
	{"stored", "stored_frames", FORM_COUNT, false},
	{"expired", "expired_frames", FORM_COUNT, false},
	{"buffered", "buffered_mean", FORM_NUMBER, true},
	{"most", "buffered_max", FORM_NUMBER, false},
	{.head = NULL},
};

static const struct column request_columns[] = {
	{"windows", "windows", FORM_COUNT, false},
	{"fragments", "asked_fragments", FORM_COUNT, false},
	{"complete", "complete", FORM_COUNT, false},
	{"partial", "partial", FORM_COUNT, false},
	{"too_old", "too_old", FORM_COUNT, false},
	{"not_yet", "not_yet", FORM_COUNT, false},
	{"timed_out", "timed_out", FORM_COUNT, false},
	{"refused", "refused", FORM_COUNT, false},
	{"latency", "latency_mean_ns", FORM_TIME, true},
	{.head = NULL},
};

static const struct column process_columns[] = {
	{"received", "received", FORM_COUNT, false},
	{"passed", "passed", FORM_COUNT, false},
	{"dropped", "dropped", FORM_COUNT, false},
	{"missed", "missed", FORM_COUNT, false},
	{"jobs_full", "jobs_full", FORM_COUNT, false},
	{"waiting", "waiting_mean", FORM_NUMBER, true},
	{"most", "waiting_max", FORM_NUMBER, false},
	{"jobs", "jobs", FORM_COUNT, false},
	{.head = NULL},
};

static const struct column memory_columns[] = {
	{"accesses", "accesses", FORM_COUNT, false},
	{"users", "users_mean", FORM_NUMBER, true},
	{"bytes", "held_mean_bytes", FORM_NUMBER, true},
	{"most", "held_max_bytes", FORM_NUMBER, false},
	{.head = NULL},
};

static const struct column drop_columns[] = {
	{"packets", "packets", FORM_NUMBER, true},
	{.head = NULL},
};

static const struct column probe_columns[] = {
	{"n", "n", FORM_COUNT, false},
	{"mean", "mean", FORM_NUMBER, true},
	{"sd", "sd", FORM_NUMBER, false},
	{"min", "min", FORM_NUMBER, false},
	{"max", "max", FORM_NUMBER, false},
	{.head = NULL},
};

/* Of an edge of a graph: packets that pass it at once, those of one visit. */
static const struct column edge_columns[] = {
	{"vectors", "vectors", FORM_COUNT, false},
	{"mean", "vector_mean", FORM_NUMBER, true},
	{"sd", "vector_sd", FORM_NUMBER, false},
	{"min", "vector_min", FORM_NUMBER, false},
	{"max", "vector_max", FORM_NUMBER, false},
	{.head = NULL},
};

/* A time in the unit that suits it, four digits. */
static void
put_time(char *text, size_t size, double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	unsigned int i = 0;

	for (; fabs(ns) >= 1000 && i < 3; i++)
		ns /= 1000;
	snprintf(text, size, "%.4g%s", ns, units[i]);
}

static void
put_rate(char *text, size_t size, double pps)
{
	static const char *const units[] = {"pps", "kpps", "Mpps", "Gpps"};
	unsigned int i = 0;

	for (; fabs(pps) >= 1000 && i < 3; i++)
		pps /= 1000;
	snprintf(text, size, "%.4g%s", pps, units[i]);
}

static void
put(char *text, size_t size, enum form form, double value)
{
	if (isnan(value)) { /* nothing was measured */
		snprintf(text, size, "-");
		return;
	}
	switch (form) {
	case FORM_COUNT:
		snprintf(text, size, "%s", report_grouped((json_int_t)llround(value)));
		break;
	case FORM_TIME:
		put_time(text, size, value);
		break;
	case FORM_RATE:
		put_rate(text, size, value);
		break;
	case FORM_SHARE:
		snprintf(text, size, "%.4g%%", 100 * value);
		break;
	case FORM_NUMBER:
	case FORM_PARTS:
		snprintf(text, size, "%.4g", value);
		break;
	}
}

static void
print_cell(const struct sim_report *report, const struct column *column, unsigned int metric)
{
	const struct weir_sim_estimate estimate =
		weir_sim_result_estimate(report->result, metric, report->param->confidence);
	char text[64], around[64];

	put(text, sizeof(text), column->form, estimate.mean);
	if (!column->interval || !isfinite(estimate.half_width)) {
		printf(" %11s", text);
		if (column->interval)
			printf(" %12s", "");
		return;
	}
	put(around, sizeof(around), column->form, estimate.half_width);
	printf(" %11s +- %-9s", text, around);
}

static void
print_head(const char *of, const struct column *columns)
{
	printf("\n  %-28s", of);
	for (; columns->head != NULL; columns++)
		printf(columns->form == FORM_PARTS ? " %21s"
			: columns->interval        ? " %11s             "
						   : " %11s",
			columns->head);
	printf("\n");
}

/* The metric of a thing, of which there are all from metric `first` on, that is called so, with what follows. */
static unsigned int
find_quantity(const struct weir_sim_metric *metrics, unsigned int first, const char *name,
	const char *end)
{
	const size_t length = strlen(name);
	unsigned int i = first;

	while (strncmp(metrics[i].quantity, name, length) != 0 ||
		strcmp(metrics[i].quantity + length, end) != 0)
		i++;
	return i;
}

static void
print_parts(const struct sim_report *report, unsigned int wait, unsigned int service)
{
	const double confidence = report->param->confidence;
	char waited[64], worked[64], text[160];

	put(waited, sizeof(waited), FORM_TIME,
		weir_sim_result_estimate(report->result, wait, confidence).mean);
	put(worked, sizeof(worked), FORM_TIME,
		weir_sim_result_estimate(report->result, service, confidence).mean);
	snprintf(text, sizeof(text), "%s + %s", waited, worked);
	printf(" %21s", text);
}

/* What a thing is called and its quantities. */
static void
print_thing(const struct sim_report *report, unsigned int first, const struct column *columns)
{
	unsigned int nb_metrics;
	const struct weir_sim_metric *metrics = weir_sim_model_metrics(report->model, &nb_metrics);

	printf("  %-28s", metrics[first].name);
	for (; columns->head != NULL; columns++)
		if (columns->form == FORM_PARTS)
			print_parts(report,
				find_quantity(metrics, first, columns->quantity, "_wait_ns"),
				find_quantity(metrics, first, columns->quantity, "_service_ns"));
		else
			print_cell(report, columns,
				find_quantity(metrics, first, columns->quantity, ""));
	printf("\n");
}

static void
print_scope(const struct sim_report *report, enum weir_sim_scope scope, const char *of,
	const struct column *columns, unsigned int most)
{
	unsigned int nb_metrics, i;
	const struct weir_sim_metric *metrics = weir_sim_model_metrics(report->model, &nb_metrics);
	unsigned int nb = 0;

	for (i = 0; i < nb_metrics; i++) {
		if (metrics[i].scope != scope ||
			(nb > 0 && metrics[i].object == metrics[i - 1].object))
			continue;
		if (nb == 0)
			print_head(of, columns);
		if (nb++ < most)
			print_thing(report, i, columns);
	}
	if (nb > most)
		printf("  and %u more (--json has all)\n", nb - most);
}

/* One line per stream and reason may be too many: those of which there are any, and not more than a page of them. */
static void
print_drops(const struct sim_report *report)
{
	unsigned int nb_metrics, i, printed = 0, left = 0;
	const struct weir_sim_metric *metrics = weir_sim_model_metrics(report->model, &nb_metrics);
	double packets = 0;

	for (i = 0; i < nb_metrics; i++) {
		const double dropped =
			weir_sim_result_estimate(report->result, i, report->param->confidence).mean;

		if (metrics[i].scope != WEIR_SIM_DROP || dropped == 0)
			continue;
		if (printed == 0)
			print_head("drops", drop_columns);
		if (printed < DROP_LINES_MAX) {
			print_thing(report, i, drop_columns);
			printed++;
		} else {
			left++;
			packets += dropped;
		}
	}
	if (left > 0)
		printf("  and %u more, which have %.4g packets (--json has all)\n", left, packets);
}

/* Of probes those that look at edges of a graph, where there are any. */
static void
print_edges(const struct sim_report *report)
{
	unsigned int nb_metrics, i, nb = 0;
	const struct weir_sim_metric *metrics = weir_sim_model_metrics(report->model, &nb_metrics);

	for (i = 0; i < nb_metrics; i++) {
		if (metrics[i].scope != WEIR_SIM_PROBE ||
			(i > 0 && metrics[i - 1].scope == WEIR_SIM_PROBE &&
				metrics[i].object == metrics[i - 1].object) ||
			isnan(weir_sim_result_estimate(report->result,
				find_quantity(metrics, i, "vectors", ""), report->param->confidence)
					.mean))
			continue;
		if (nb++ == 0)
			print_head("probe: packets at once", edge_columns);
		print_thing(report, i, edge_columns);
	}
}

static void
print_results(const struct sim_report *report)
{
	print_scope(report, WEIR_SIM_STREAM, "stream", stream_columns, UINT_MAX);
	print_scope(report, WEIR_SIM_STREAM, "stream: wait + service", part_columns, UINT_MAX);
	print_scope(report, WEIR_SIM_QUEUE, "queue", queue_columns, UINT_MAX);
	print_scope(report, WEIR_SIM_QUEUE, "stage", stage_columns, UINT_MAX);
	print_scope(report, WEIR_SIM_QUEUE, "stage: wait + service", part_columns, UINT_MAX);
	print_scope(report, WEIR_SIM_RING, "ring", queue_columns, UINT_MAX);
	print_scope(report, WEIR_SIM_WORKER, "worker", worker_columns, UINT_MAX);
	print_scope(report, WEIR_SIM_NODE, "node", node_columns, UINT_MAX);
	print_scope(report, WEIR_SIM_JOB, "job", job_columns, UINT_MAX);
	print_scope(report, WEIR_SIM_LINK, "link", link_columns, UINT_MAX);
	print_scope(report, WEIR_SIM_REQUEST, "request", request_columns, UINT_MAX);
	print_scope(report, WEIR_SIM_PROCESS, "process", process_columns, UINT_MAX);
	print_scope(report, WEIR_SIM_CORES, "cores", cores_columns, UINT_MAX);
	print_scope(report, WEIR_SIM_CORE, "each core", core_columns, CORE_LINES_MAX);
	print_scope(report, WEIR_SIM_UNIT, "unit", unit_columns, UINT_MAX);
	print_drops(report);
	print_scope(report, WEIR_SIM_MEMORY, "memory", memory_columns, UINT_MAX);
	print_scope(report, WEIR_SIM_PROBE, "probe", probe_columns, UINT_MAX);
	print_edges(report);
}

void
sim_report_left_aside(const json_t *left_aside, FILE *out)
{
	const size_t nb = json_array_size(left_aside);
	size_t i;

	for (i = 0; i < nb && i < LEFT_ASIDE_LINES_MAX; i++) {
		const json_t *one = json_array_get(left_aside, i);

		fprintf(out, "%s  %s (%s:%lld:%lld)\n",
			i == 0 ? "\n  left aside, as it is not simulated:\n  " : "  ",
			json_string_value(json_object_get(one, "key")),
			json_string_value(json_object_get(one, "file")),
			json_integer_value(json_object_get(one, "line")),
			json_integer_value(json_object_get(one, "column")));
	}
	if (nb > LEFT_ASIDE_LINES_MAX)
		fprintf(out, "    and %zu more (--json has all)\n", nb - LEFT_ASIDE_LINES_MAX);
}

void
sim_report_print(const struct sim_report *report)
{
	const struct weir_sim_result *result = report->result;
	const struct weir_sim_replication *broken = sim_report_broken(report);

	printf("%s: %u replication%s%s, %s events in %.3g s\n", report->path,
		result->nb_replications, result->nb_replications == 1 ? "" : "s",
		result->interrupted ? " (interrupted)" : "",
		report_grouped((json_int_t)result->events), report->seconds);
	if (report->param->nb_batches > 1)
		printf("  %u batches, of one of which the counts are\n", result->nb_rows);
	if (report->param->precision > 0 && !result->is_precise)
		printf("  the precision that was asked for is not reached\n");
	if (report->param->finds_warmup && result->nb_replications > 0)
		printf("  warm-up of %.4g s found%s\n", (double)result->warmup_ps / 1e12,
			result->has_no_steady_end
				? ", half of all: it may not be over, run it for longer"
				: "");
	printf("  seed %" PRIu64, report->param->seed);
	if (result->nb_replications > 0)
		printf(", fingerprint %016" PRIx64, result->fingerprint);
	if (result->nb_rows > 1)
		printf("; intervals of %.4g%% confidence", 100 * report->param->confidence);
	printf("\n");
	if (result->nb_replications == 0)
		return;
	print_results(report);
	if (broken != NULL)
		printf("\n  BROKEN: %s\n", broken->broken);
	else
		printf("\n  Flow balance, Little's law and utilisation law hold in each "
		       "replication.\n");
	sim_report_left_aside(report->left_aside, stdout);
}
