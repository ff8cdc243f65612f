/* SPDX-License-Identifier: BSD-3-Clause */

/* What is told of pi on all cores. */

#include "job_pitp.h"

const char *const pitp_part_names[PITP_PARTS] = {
	[PITP_TOTAL] = "total",
	[PITP_SCHED] = "scheduler",
	[PITP_IDLE] = "idle",
	[PITP_CORO] = "coroutine",
	[PITP_APP] = "application",
};

void
pitp_say_head(struct bench_report *report, const struct pitp_point *point)
{
	if (point->sweep == PITP_SLICES)
		bench_say(report, "\npitp on %s, %u jobs at a time: overhead by time slice\n\n",
			point->backend, point->nb_jobs);
	else
		bench_say(report,
			"\npitp on %s, slices of %.0f us: overhead by the number of jobs at a "
			"time\n\n",
			point->backend, point->slice_us);
	bench_say(report, "%8s%6s |%9s%18s%11s |%10s%8s%11s%13s |%8s%10s\n", "slice us", "jobs",
		"total %", "p10 - p90", "without", "scheduler", "idle", "coroutine", "application",
		"was us", "ns/slice");
	bench_say(report, "%8s%6s |%9s%18s%11s |%10s%8s%11s%13s |%8s%10s\n", "", "", "", "", "idle",
		"%", "%", "%", "%", "", "");
}

static void
say_point(struct bench_report *report, const struct pitp_point *point, const struct pitp_figures *f)
{
	char range[32];

	snprintf(range, sizeof(range), "%.3f - %.3f", f->low, f->high);
	bench_say(report, "%8.0f%6u |%9.3f%18s%11.3f |%10.3f%8.3f%11.3f%13.3f |%8.2f%10.1f\n",
		point->slice_us, point->nb_jobs, f->percent[PITP_TOTAL], range,
		f->percent[PITP_TOTAL] - f->percent[PITP_IDLE], f->percent[PITP_SCHED],
		f->percent[PITP_IDLE], f->percent[PITP_CORO], f->percent[PITP_APP], f->slice_us,
		f->per_slice_ns);
	if (!report->options->json)
		fflush(stdout);
}

void
pitp_report(struct bench_report *report, const struct pitp_point *point,
	const struct pitp_figures *figures)
{
	json_t *percent = json_object();

	for (int part = 0; part < PITP_PARTS; part++)
		json_object_set_new(
			percent, pitp_part_names[part], json_real(figures->percent[part]));
	json_array_append_new(report->cases,
		json_pack("{s:s, s:s, s:s, s:f, s:i, s:o, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:i}",
			"name", "pitp", "sweep", point->sweep == PITP_SLICES ? "slice" : "jobs",
			"backend", point->backend, "slice_us", point->slice_us, "jobs",
			(int)point->nb_jobs, "overhead_percent", percent, "total_percent_p10",
			figures->low, "total_percent_p90", figures->high, "actual_slice_us",
			figures->slice_us, "overhead_ns_per_slice", figures->per_slice_ns,
			"pi_us_plain", figures->pi_us, "slices", (json_int_t)figures->nb_slices,
			"calculations", (json_int_t)figures->nb_pi, "rounds",
			(int)figures->nb_rounds));
	report->nb_rows++;
	say_point(report, point, figures);
}

static void
take_verdict(struct bench_report *report, bool reached)
{
	report->nb_targets++;
	report->nb_missed += !reached;
}

void
pitp_report_pair(struct bench_report *report, const struct pitp_point *point,
	const struct pitp_figures *ours, const struct pitp_figures *dsw)
{
	const double total = ours->percent[PITP_TOTAL];
	bool reached = total <= point->target;
	json_t *json = json_pack("{s:s, s:f, s:i, s:f, s:f, s:b}", "name", "pitp", "slice_us",
		point->slice_us, "jobs", (int)point->nb_jobs, "total_percent", total,
		"target_percent", point->target, "reached", reached);

	bench_say(report,
		"\nOverhead of slices of %.0f us with %u jobs: %.3f %% on builtin; to reach: %.1f "
		"%%  %s\n",
		point->slice_us, point->nb_jobs, total, point->target,
		reached ? "reached" : "short");
	take_verdict(report, reached);
	if (dsw != NULL) {
		const double theirs = dsw->percent[PITP_TOTAL];

		bench_say(report, "On event_dsw: %.3f %%; to reach: more than on builtin  %s\n",
			theirs, total < theirs ? "reached" : "short");
		json_object_set_new(json, "total_percent_event_dsw", json_real(theirs));
		json_object_set_new(json, "less_than_event_dsw", json_boolean(total < theirs));
		take_verdict(report, total < theirs);
	}
	bench_report_array(report, "pitp_targets");
	json_array_append_new(report->cases, json);
}
