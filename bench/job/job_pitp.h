/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOB_PITP_H
#define JOB_PITP_H

/* What a point of a sweep is, and what came of it. */

#include "job_bench.h"

#define PITP_ROUNDS_MAX 1000u

enum pitp_sweep { PITP_SLICES, PITP_JOBS };

struct pitp_point {
	enum pitp_sweep sweep;
	const char *backend;
	double slice_us;
	unsigned int nb_jobs; /* at a time */
	double target;        /* percent of overhead, at most; 0: any */
};

/* Where the time of all cores went, in percent of what the work takes by plain calls. The first is all of the others. */
enum pitp_part { PITP_TOTAL, PITP_SCHED, PITP_IDLE, PITP_CORO, PITP_APP, PITP_PARTS };

extern const char *const pitp_part_names[PITP_PARTS];

struct pitp_figures {
	double percent[PITP_PARTS]; /* medians of the rounds */
	double low, high;           /* 10th and 90th percentile of the total */
	double slice_us;            /* as it was, on average */
	double per_slice_ns;        /* overhead of a slice but for idling */
	double pi_us;               /* a calculation by plain calls */
	uint64_t nb_slices, nb_pi;  /* in all rounds */
	unsigned int nb_rounds;
};

/* job_pitp_report.c */
void pitp_say_head(struct bench_report *report, const struct pitp_point *point);
void pitp_report(struct bench_report *report, const struct pitp_point *point,
	const struct pitp_figures *figures);
/* Ours beside event_dsw at the point that has a target. */
void pitp_report_pair(struct bench_report *report, const struct pitp_point *point,
	const struct pitp_figures *ours, const struct pitp_figures *dsw);

#endif
