/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

/*
 * What all benchmarks share: options, one pinned core, slices in turns, medians,
 * the table and the JSON.
 *
 * A case has two or more sides. A side does the same work nb times when asked; sides
 * take turns in slices of about a millisecond, forth and back (ABBA), so that what
 * disturbs the machine disturbs all of them. A side's figure is the median of
 * its slices. A ratio is peer / ours in time: above 1 is better for us.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/* What every benchmark takes. */
struct bench_options {
	const char *case_pattern; /* fnmatch(3); NULL: all */
	const char *routes;       /* file; NULL: the benchmark's own */
	double seconds;           /* per case; all sides together */
	unsigned int rounds;      /* slices of each side; 0: as many as fit into seconds */
	unsigned int burst;       /* 0: the benchmark's own */
	unsigned int workers;     /* 0: the benchmark's own */
	int cpu;                  /* to pin to; -1: the last one allowed */
	bool ours;                /* without peers, where a benchmark can */
	bool json;
	bool list;
};

/* RTE_EVENT_MAX_DEVS is 16: scaling has two devices for any number up to this. */
#define BENCH_WORKERS_MAX 8

/* A benchmark. */
struct bench {
	const char *name;
	const char *summary; /* one line */
	const char *help;    /* a paragraph, ends with a newline */
	double seconds;      /* per case, unless told */
	/* Why an option is refused; NULL: it is taken. */
	const char *no_burst, *no_routes, *no_ours;
	bool has_workers; /* as many as are asked for */
	int (*run)(const struct bench *bench, const struct bench_options *options); /* exit code */
};

extern const struct bench bench_graph;
extern const struct bench bench_forward;
extern const struct bench bench_coro;
extern const struct bench bench_sched;
extern const struct bench bench_em;
extern const struct bench bench_job;
extern const struct bench bench_readout;
extern const struct bench bench_sim;

/* One side of a case. */
struct bench_side {
	const char *name;
	void (*prepare)(void *arg);            /* before each slice, not timed; or NULL */
	void (*slice)(void *arg, uint64_t nb); /* does the work nb times */
	uint64_t (*cycles)(
		void *arg); /* that the last slice took; NULL: the time that passed meanwhile */
	void *arg;
};

/* What a side took, in cycles of the time base per piece of work. */
struct bench_figure {
	double median;
	double low;  /* 10th percentile of the slices */
	double high; /* 90th */
};

/*
 * Run all sides in turns.
 *
 * nb: pieces of work in a slice; 0: as many as take the slowest side a millisecond.
 * figures: one per side. total: how often each side did its work in all, warming up
 * included. Returns 0 or -ENOMEM.
 */
int bench_compare(const struct bench_options *options, const struct bench_side *sides,
	unsigned int nb_sides, uint64_t nb, struct bench_figure *figures, uint64_t *total);

/* Median and percentiles of samples, which are sorted. */
struct bench_figure bench_figure_of(double *samples, unsigned int nb);

/* Targets that a case looks after itself. */
enum bench_verdict {
	BENCH_VERDICT_NONE, /* there are none */
	BENCH_VERDICT_REACHED,
	BENCH_VERDICT_MISSED,
};

/* A line of the table. */
struct bench_row {
	const char *name;
	const char *peer; /* NULL: the report's peer */
	struct bench_figure ours, theirs;
	double objects;            /* in one piece of work */
	double target;             /* smallest ratio to reach; 0: any */
	double most_per_object;    /* cycles that ours may take per object; 0: any number */
	enum bench_verdict others; /* further targets, told in extra */
	bool quiet;                /* for the JSON only: the case prints its own words */
	json_t *ours_extra, *peer_extra, *extra; /* more for the JSON (taken over), or NULL */
};

/* A report under way: a table on standard output as it grows, or one JSON object at the end. */
struct bench_report {
	const struct bench *bench;
	const struct bench_options *options;
	const char *work,
		*object; /* what a piece of work and an object are called: "walk", "object" */
	const char *peer;
	const char *cores; /* on how many it all runs; NULL: one */
	json_t *root, *cases;
	unsigned int nb_rows, nb_targets, nb_missed;
	bool failed; /* a case could not be run or its check did not hold */
};

void bench_report_begin(struct bench_report *report, const struct bench *bench,
	const struct bench_options *options, const char *work, const char *object,
	const char *peer);

/* Print for people only. */
void bench_say(const struct bench_report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Head of a table; its rows become elements of the array of that name in the JSON ("cases" is the first). */
void bench_report_table(struct bench_report *report, const char *array, const char *title);

/* Rows to come become elements of the array of that name, without a table. */
void bench_report_array(struct bench_report *report, const char *array);

void bench_report_row(struct bench_report *report, const struct bench_row *row);

/* A case that failed: said on standard error, and in the JSON. */
void bench_report_failure(struct bench_report *report, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Print what is left; returns the exit code. */
int bench_report_end(struct bench_report *report);

/* Is the case asked for? */
bool bench_wanted(const struct bench_options *options, const char *name);

/* Is any of them? @first: name of the first one, in a table whose entries are so many bytes long. */
bool bench_any_wanted(
	const struct bench_options *options, const char *const *first, size_t size, size_t nb);

#define BENCH_ANY_WANTED(options, cases)                                                           \
	bench_any_wanted(                                                                          \
		options, &(cases)[0].name, sizeof((cases)[0]), sizeof(cases) / sizeof((cases)[0]))

/* Print their names, for --list. Likewise. */
void bench_list(const char *const *first, size_t size, size_t nb);

#define BENCH_LIST(cases)                                                                          \
	bench_list(&(cases)[0].name, sizeof((cases)[0]), sizeof(cases) / sizeof((cases)[0]))

/** Say that the pattern matches no case. @return 2 */
int bench_no_case(const struct bench *bench, const struct bench_options *options);

/* "avx512" and the like are nice to know beside figures: the CPU's name, the rate of the time base. */
void bench_report_machine(struct bench_report *report);

/*
 * Start DPDK's environment, pinned to one CPU, on hugepages when there are enough
 * free ones; megabytes: what it begins with; heap: what bench_memory_socket() is asked for then, or 0.
 * 0 or negative errno, told.
 */
int bench_eal_start(const struct bench_options *options, unsigned int megabytes, unsigned int heap);

/*
 * A NUMA socket to allocate from so that no side suffers from 4 KB pages: EAL's own
 * memory where it lies on hugepages, else a heap of so many megabytes on transparent ones.
 * Negative errno, told.
 */
int bench_memory_socket(unsigned int megabytes);

/* In words, what kind of pages the process is on by now. */
const char *bench_memory_kind(void);

/* A step of work that takes a core its time, whatever others do meanwhile, as the next one waits for what it gives. */
static inline uint64_t
bench_step(uint64_t x)
{
	x = x * UINT64_C(6364136223846793005) + 1;
	__asm__ volatile("" : "+r"(x));
	return x;
}

/* A sequence of 64 random bits each (SplitMix64), the same for the same seed. */
static inline uint64_t
bench_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

#endif
