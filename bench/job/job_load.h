/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOB_LOAD_H
#define JOB_LOAD_H

/*
 * Something that comes at times of its own, at high priority, while all cores have long work to do at the lowest one: how long does
 * it take? From when it was to be sent, whether it could be or not, until it is done with.
 */

#include "job_bench.h"

#define LOAD_ROUNDS_MAX 1000u

/* The long work: calculations of pi that take a millisecond each, one after the other, for ever. */
enum load_work {
	LOAD_ALONE,    /* there is none */
	LOAD_JOBS,     /* each of the calculations is a job */
	LOAD_HANDLERS, /* each is an event, whose handler runs to completion */
	LOAD_WORKS
};

extern const char *const load_work_names[LOAD_WORKS];

struct jobs_load {
	struct jobs_stand *stand;
	struct weir_em_core *producer; /* the calling thread */
	double per_s;
	/* One that was to be sent at so many cycles. False: refused. */
	bool (*send)(struct jobs_load *load, uint64_t due);
	void *arg;
	uint64_t nb_sent, nb_refused; /* in a turn */

	/* The work. */
	weir_em_object worker;
	weir_em_queue work, ended;
	uint64_t terms;                /* of a piece */
	bool over;                     /* no more work. Any thread */
	uint64_t nb_inside, nb_failed; /* any thread */
};

/* What came of a side, by medians of its turns. */
struct load_figures {
	double p50, p99, p999; /* cycles */
	double per_s, refused; /* done with a second; share that was refused */
	double work; /* cores that did long work, of all cores' time, as plain calls take */
	unsigned int nb_rounds;
};

/* Objects and queues of the work. 0 or negative errno. */
int jobs_load_init(struct jobs_load *load);
void jobs_load_fini(struct jobs_load *load);

/* The sides in turns. False: failed, reported. */
bool jobs_load_run(struct jobs_load *load, const struct bench_options *options,
	struct bench_report *report, const char *name, struct load_figures *figures);

/* One that was to be sent at so many cycles is done with, on this core. */
void jobs_load_done(struct jobs_core *core, uint64_t due);

void jobs_load_say(struct bench_report *report, const struct load_figures *figures);
json_t *jobs_load_json(const struct load_figures *figures);

#endif
