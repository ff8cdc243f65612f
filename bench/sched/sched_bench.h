/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_BENCH_H
#define SCHED_BENCH_H

/*
 * What `weir bench sched` is made of: threads, schedulers behind which they meet, and slices of work in turns.
 *
 *     sched.c            the cases
 *     sched_open.c       those in which events come at their times, and wait
 *     sched_scaling.c    those with one worker, two, and so on
 *     sched_idle.c       those with ports that nobody calls
 *     sched_uneven.c     those with a slower worker
 *     sched_turns.c      sides in turns
 *     sched_device.c     schedulers: ours, and DPDK's event devices as they are
 *     sched_free.c       a scheduler that costs nothing, in thought
 *     sched_threads.c    workers on CPUs of their own, slices
 *     sched_lines.c      how long lines take between their CPUs
 *     sched_loop.c       what producer and workers do in a slice
 *     sched_arrivals.c   what comes when
 *
 * An event's 64 bits say what it is:
 *
 *     stamp   40 bits: its number in its flow, or when it was to be sent
 *     flow    16 bits
 *     class    8 bits: how long it takes, or its priority
 *
 * Of some flows each event's number is looked at where the flow is atomic for the last time: it is the one after the last one
 * that was seen. What goes round is numbered there anew. How many events went in and came out is counted for all.
 */

#include <stdbool.h>
#include <stdint.h>

#include <pthread.h>
#include <sched.h>

#include <rte_eventdev.h>

#include <weir_base.h>
#include <weir_base_hist.h>
#include <weir_sched.h>

#include "harness.h"

#define SCHED_WORKERS     3 /* unless told */
#define SCHED_WORKERS_MAX BENCH_WORKERS_MAX
#define SCHED_THREADS     (SCHED_WORKERS_MAX + 1) /* and a device's service */
#define SCHED_QUEUES      8
#define SCHED_FLOWS       1024
#define SCHED_FLOW_SAMPLE 64   /* the order of one flow in so many is looked at */
#define SCHED_EVENTS      4096 /* credits */
#define SCHED_POPULATION  2048 /* that goes round for ever */
#define SCHED_BURST       16
#define SCHED_SLACK_NS    5000 /* of priorities, ours: see struct weir_sched_config */
#define SCHED_CLASSES     8
#define SCHED_SIDES       (4 * SCHED_WORKERS_MAX)

#define SCHED_STAMP_BITS 40
#define SCHED_STAMP_MASK ((UINT64_C(1) << SCHED_STAMP_BITS) - 1)

static inline uint32_t
sched_flow_of(uint64_t what)
{
	return (uint32_t)(what >> SCHED_STAMP_BITS) & 0xffff;
}

static inline unsigned int
sched_class_of(uint64_t what)
{
	return (unsigned int)(what >> (SCHED_STAMP_BITS + 16));
}

static inline uint64_t
sched_describe(uint64_t stamp, uint32_t flow, unsigned int class)
{
	return (stamp & SCHED_STAMP_MASK) | (uint64_t)flow << SCHED_STAMP_BITS |
	       (uint64_t) class << (SCHED_STAMP_BITS + 16);
}

enum sched_kind {
	SCHED_OURS,
	SCHED_ATOMIC, /* ours, beside ours that is ordered */
	SCHED_APART,  /* ours, one for each worker: what the machine allows */
	SCHED_LAYER,  /* our layer over event_dsw */
	SCHED_DSW,    /* the rest: devices as they are */
	SCHED_SW,
	SCHED_OPDL,
	SCHED_FREE, /* none: what waits would be if scheduling cost nothing */
};

enum sched_mode {
	SCHED_PRODUCED, /* from a producer through all queues, and out */
	SCHED_INSIDE,   /* round and round */
	SCHED_OWN,      /* workers produce one for each that they see out */
	SCHED_OPEN,     /* a producer at a rate of its own, events that take their time */
	SCHED_MODES,
};

enum sched_phase {
	SCHED_RUN,
	SCHED_DRAIN, /* nothing comes in any more, everything goes out */
	SCHED_STOP,  /* nothing is inside */
};

/* What is asked of a scheduler. */
struct sched_shape {
	unsigned int nb_workers, burst, nb_queues;
	unsigned int nb_idle; /* ports besides that nobody calls; ours only */
	uint8_t types[SCHED_QUEUES];
	bool priorities; /* queues have one each, the first one the highest, where the scheduler can */
	unsigned int slack_ns; /* of these, ours */
	enum sched_mode mode;
	uint32_t
		work_steps; /* that a worker computes for each event in each queue; not SCHED_OPEN */
	uint32_t slower;    /* the second worker computes so many times as much; 0: as much */
	/* SCHED_OPEN */
	double events_per_s;
	double hot_share;                  /* of events that are of flow 0 */
	double class_share[SCHED_CLASSES]; /* the last one has the rest */
	double class_ns[SCHED_CLASSES];    /* how long it takes */
	bool class_queues;                 /* a class has its own queue */
};

/* One flow that is looked at. */
struct sched_flow {
	uint64_t last __attribute__((aligned(64))); /* number that was seen */
	uint64_t given;                             /* what goes round: last number */
};

struct sched_side;

/* What a thread does, and what it has done in this slice. */
struct sched_worker {
	struct sched_side *side;
	unsigned int id;
	struct weir_sched_port *port;    /* ours */
	uint8_t device;                  /* theirs */
	uint8_t ports[SCHED_QUEUES + 1]; /* of the device; one, unless a port has one queue only */
	unsigned int nb_ports;
	bool works, serves;  /* has ports; runs the device's service */
	bool maintains;      /* a port wants to be called, whether there is something or not */
	uint32_t work_steps; /* shape.work_steps, or more */
	uint32_t flow;       /* SCHED_OWN: next */
	uint64_t numbers[SCHED_FLOWS]; /* of the events that it makes, by flow */
	uint64_t service_cycles[SCHED_CLASSES];
	struct weir_base_hist waits[SCHED_CLASSES];
	uint64_t nb_polls, nb_empty, nb_disorder, nb_refused;

	/* read by others */
	uint64_t nb_in __attribute__((aligned(64))); /* that it made itself */
	uint64_t nb_out, nb_hops;
} __attribute__((aligned(64)));

/* A scheduler, in the shape that a case wants it. */
struct sched_side {
	enum sched_kind kind;
	const char *name;
	char service[64]; /* how its service is run, if it has one */
	struct sched_shape shape;
	struct weir_sched *sched;                    /* ours */
	struct weir_sched *apart[SCHED_WORKERS_MAX]; /* SCHED_APART */
	int device;                                  /* theirs; -1 */
	char device_name[32];
	uint32_t service_id;
	unsigned int nb_consumers; /* that work: a service may take one's CPU */
	unsigned int nb_cpus;      /* of workers and service */
	struct sched_worker workers[SCHED_THREADS];
	struct sched_worker producer;
	struct sched_flow flows[SCHED_FLOWS / SCHED_FLOW_SAMPLE];
	uint64_t base;        /* cycles at which stamps begin */
	uint32_t check_queue; /* where order is looked at */
	bool checks;
	bool crowded; /* its workers have no CPU each: who has nothing to do lets another one run */
	uint64_t random __attribute__((aligned(64))); /* the producer writes it for each event */
	enum sched_phase phase __attribute__((aligned(64)));
};

/* What came of a slice. */
struct sched_slice {
	double cycles;  /* of all workers, per event that went out, or hop where none does */
	double rate;    /* events a second */
	double empty;   /* share of dequeues that got nothing */
	double refused; /* NEW that was refused, per event */
	double p50[SCHED_CLASSES + 1], p99[SCHED_CLASSES + 1],
		p999[SCHED_CLASSES + 1]; /* cycles; the last one: all */
	double behind_ns;                /* by which the producer was late at the end */
};

/* So many workers there are; in scaling, at most. */
extern unsigned int sched_nb_workers;

/* Start the workers' threads on the CPUs that main does not have; sched_crowded: there are too few, they have main's as well. 0 or negative errno, told. */
int sched_threads_start(const cpu_set_t *allowed);
void sched_threads_stop(void);

/* Each of them runs this, with its number; main does what it likes, and waits for them. */
void sched_threads_begin(void (*run)(unsigned int id));
void sched_threads_join(void);

/* CPUs that no thread has yet. */
unsigned int sched_threads_spare(void);

/* So many workers have a CPU for themselves in this mode. */
unsigned int sched_threads_cpus(enum sched_mode mode);

/* A scheduler as it is asked for; -ENOTSUP: it cannot do it. Negative errno: told. */
int sched_side_create(
	struct sched_side *side, enum sched_kind kind, const struct sched_shape *shape);
void sched_side_destroy(struct sched_side *side);
const char *sched_kind_name(enum sched_kind kind);

/* A slice of so many nanoseconds, in which something of each class comes out. False: events were lost, doubled or out of order, which why says. */
bool sched_slice_run(
	struct sched_side *side, uint64_t ns, struct sched_slice *slice, char *why, size_t size);

/* The same of SCHED_FREE, without a thread: rate and waits of SCHED_OPEN, with one atomic queue or one for each class. 0, -ENOMEM, or -ENODATA: of some class nothing came. */
int sched_free_run(struct sched_side *side, uint64_t ns, struct sched_slice *slice);
/* From what the workers have noted. False: of some class nothing came out, and its waits would be 0. */
bool sched_slice_waits(const struct sched_side *side, struct sched_slice *slice);

/* How long a cache line takes between the CPUs of producer and workers, once more; and what was seen. */
void sched_lines_look(void);
void sched_lines_report(struct bench_report *report);

/* How long so many steps of work take on this thread, the least of many times. */
double sched_work_ns(uint32_t steps);

/* Events of SCHED_OPEN, one after the other. */
struct sched_arrivals {
	const struct sched_shape *shape;
	uint64_t *random;
	uint64_t due;  /* cycles: when the next one comes */
	uint64_t mean; /* cycles between two, in 1/1024 */
	uint64_t fraction, last;
	unsigned int gap;
};

void sched_arrivals_begin(struct sched_arrivals *arrivals, const struct sched_shape *shape,
	uint64_t *random, uint64_t due);
uint64_t sched_arrivals_next(struct sched_arrivals *arrivals);

/* What a thread runs in a slice. */
void sched_worker_run(struct sched_worker *worker);
/* What main runs until the time: events from outside. Returns by how many cycles it is behind. */
uint64_t sched_producer_run(struct sched_side *side, uint64_t end);
/* SCHED_INSIDE: the population goes in. */
void sched_producer_fill(struct sched_side *side);
/* Meanwhile: a port that is not called would hold others up. */
void sched_producer_flush(struct sched_side *side);

/* Not all threads have a CPU of their own. */
extern bool sched_crowded;

/* Sides that take turns, and what came of their slices. */
struct sched_turns {
	const struct bench_options *options;
	struct bench_report *report;
	const char *name; /* of the case */
	struct sched_side *sides[SCHED_SIDES];
	struct sched_slice *slices[SCHED_SIDES];
	unsigned int nb_sides, nb_rounds;
	struct bench_figure figures[SCHED_SIDES]; /* cycles */
};

/* A further side, if it can do it. Its number, or negative errno. */
int sched_turns_add(
	struct sched_turns *turns, enum sched_kind kind, const struct sched_shape *shape);
/* Ours, and every device that can do it, unless ours is wanted alone. False: failed, reported. */
bool sched_turns_add_all(struct sched_turns *turns, const struct sched_shape *shape);
/* All of them in turns, in slices of so many ns. False: failed, reported. */
bool sched_turns_run(struct sched_turns *turns, uint64_t slice_ns, unsigned int rounds_min);
/* Median over a side's slices of one of their numbers. */
double sched_turns_median(const struct sched_turns *turns, unsigned int side, size_t offset);
void sched_turns_end(struct sched_turns *turns);

/* How a case is run, by its number in its file's table. */
struct sched_plan {
	bool (*add_sides)(struct sched_turns *turns, size_t number); /* false: failed, reported */
	void (*report)(struct sched_turns *turns, size_t number);
	uint64_t slice_ns;
	unsigned int rounds_min;
};

/* If it is wanted. */
void sched_turns_case(const struct bench_options *options, struct bench_report *report,
	const struct sched_plan *plan, const char *name, size_t number);

/* The cases of sched_open.c, of sched_scaling.c, of sched_uneven.c, and of sched_idle.c. */
void sched_open_list(void);
bool sched_open_wanted(const struct bench_options *options);
void sched_open_run(const struct bench_options *options, struct bench_report *report);
void sched_scaling_list(void);
bool sched_scaling_wanted(const struct bench_options *options);
void sched_scaling_run(const struct bench_options *options, struct bench_report *report);
void sched_uneven_list(void);
bool sched_uneven_wanted(const struct bench_options *options);
void sched_uneven_run(const struct bench_options *options, struct bench_report *report);
void sched_idle_list(void);
bool sched_idle_wanted(const struct bench_options *options);
void sched_idle_run(const struct bench_options *options, struct bench_report *report);

#define SCHED_MEDIAN(turns, side, member)                                                          \
	sched_turns_median(turns, side, offsetof(struct sched_slice, member))

#endif
