/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOB_BENCH_H
#define JOB_BENCH_H

/*
 * What `weir bench job` is made of.
 *
 *     job.c               the cases
 *     job_stand.c         an event machine with jobs, and a thread for each of its cores
 *     job_spawn.c         spawn to end of an empty job
 *     job_pitp.c          pi on all cores, by plain calls and by jobs; job_pitp_report.c tells what came of it
 *     job_load.c          something that comes at times of its own, beside work that saturates all cores
 *     job_packets.c       packets that are forwarded
 *     job_short.c         short events
 *     job_sleepers.c      very many jobs asleep at once
 *
 * The calling thread has a CPU for itself, if there are two; cores of the event machine have the others.
 */

#include <stdbool.h>
#include <stdint.h>

#include <pthread.h>

#include <weir_base.h>
#include <weir_base_hist.h>
#include <weir_coro.h>
#include <weir_em.h>
#include <weir_job.h>

#include "harness.h"

#define JOBS_CORES_MAX   16
#define JOBS_STACK_BYTES ((size_t)16 << 10)
#define JOBS_SLICE_NS    25000
#define JOBS_PATIENCE_NS UINT64_C(20000000000) /* for anything that should take no time */

#define JOBS_LINE __attribute__((aligned(64)))

struct jobs_stand;

/* A core of the event machine, and its thread. */
struct jobs_core {
	struct jobs_stand *stand;
	unsigned int id;
	pthread_t thread;
	struct weir_em_core *em;
	uint64_t turn; /* any thread: of what it does */
	bool attached; /* any thread */
	/* Of the thread; any thread reads. */
	uint64_t nb_pieces JOBS_LINE; /* of work, done by plain calls */
	uint64_t idle, application;   /* cycles */
	uint64_t nb_wrong;            /* calls that found something else than pi */
	uint64_t nb_done;             /* events */
	unsigned int streak;          /* rounds with something, one after the other */
	uint64_t empty_round;         /* cycles: the last one with nothing */
	uint64_t idle_since;          /* cycles: there has been nothing; 0: something */
	struct weir_base_hist waits;  /* cycles; only who stopped it reads */
} JOBS_LINE;

/* What cores do, again and again, until they are told to do something else. */
typedef void (*jobs_step_t)(struct jobs_core *core);

struct jobs_stand_config {
	const char *backend;       /* "builtin", or a driver of event devices */
	uint8_t types, priorities; /* as in struct weir_em_config */
	uint32_t nb_events;        /* likewise */
	unsigned int nb_queues;    /* likewise; 0: 64 */
	unsigned int max_jobs;     /* 0: no jobs */
	size_t stack_bytes;        /* 0: JOBS_STACK_BYTES */
	size_t in_bytes;           /* of a job's parameters */
};

struct jobs_stand {
	struct weir_em *em;
	struct weir_job_service *service;
	struct jobs_core *cores;
	unsigned int nb_cores;
	char device[32];
	bool coro, started;
	void *arg;        /* of the case */
	jobs_step_t step; /* any thread; NULL: leave */
	uint64_t turn;    /* any thread: of step */
} JOBS_LINE;

/* CPUs for cores: those that the calling thread has not. To be told before EAL pins it. */
void jobs_cpus_init(void);
unsigned int jobs_nb_cores(void);
/* Threads share CPUs. */
bool jobs_crowded(void);

/* Made, and cores dispatch. 0 or negative errno, told; -ENOTSUP: there is no such device. */
int jobs_stand_create(struct jobs_stand *stand, const struct jobs_stand_config *config);
/* Jobs are stopped first. False: they could not be. */
bool jobs_stand_destroy(struct jobs_stand *stand);

/* All cores do this from now on; when it returns, none does anything else any more. */
void jobs_stand_do(struct jobs_stand *stand, jobs_step_t step);

/* Steps: events, one at a time, or a moment of nothing. */
void jobs_step_dispatch(struct jobs_core *core);
void jobs_step_rest(struct jobs_core *core);

/* Jobs of the stand are cancelled, and over. */
bool jobs_stop(struct jobs_stand *stand);

/* Let others run. */
void jobs_relax(void);

static inline uint64_t
jobs_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* One writer. */
static inline void
jobs_count(uint64_t *counter, uint64_t nb)
{
	__atomic_store_n(counter, *counter + nb, __ATOMIC_RELAXED);
}

static inline double
jobs_ns(double cycles)
{
	return cycles * 1e9 / (double)weir_base_cycles_hz();
}

/* The cases. */
void jobs_spawn_run(const struct bench_options *options, struct bench_report *report);
void jobs_pitp_run(const struct bench_options *options, struct bench_report *report);
void jobs_packets_run(const struct bench_options *options, struct bench_report *report);
void jobs_short_run(const struct bench_options *options, struct bench_report *report);
void jobs_sleepers_run(const struct bench_options *options, struct bench_report *report);

#endif
