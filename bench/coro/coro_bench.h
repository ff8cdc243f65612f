/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CORO_BENCH_H
#define CORO_BENCH_H

/*
 * What the files of `weir bench coro` share.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir_base.h>

#include "harness.h"

#define CORO_STACK_BYTES ((size_t)16 << 10) /* of each coroutine, on all sides */
#define CORO_POOL        64                 /* stacks in a peer's pool */
#define CORO_SLICE_NS    10000              /* time slice, as published */
#define CORO_SECONDS     1.0                /* per case, unless told */

/* Another way to have coroutines, with a pool of stacks. Its slices are those of struct bench_side; arg is itself. */
struct coro_peer {
	const char *name;
	int (*init)(struct coro_peer *peer); /* 0 or negative errno */
	void (*fini)(struct coro_peer *peer);
	void (*prepare)(
		void *peer); /* before slices of rounds: one coroutine that yields for ever */
	void (*slice_rounds)(void *peer, uint64_t nb);  /* resume, yield */
	void (*slice_creates)(void *peer, uint64_t nb); /* create, destroy */
	void (*slice_runs)(void *peer, uint64_t nb);    /* create, run to its end, destroy */

	char *stacks;
	void *free[CORO_POOL]; /* last in, first out: the one that is warm */
	unsigned int nb_free;
	uint64_t nb_created;
	void *own; /* what else it needs */
};

/*
 * What a coroutine that yields for ever counts, by all sides in the same way: on its stack, as a static
 * counter may share the lower 12 bits of its address with what a switch reads, by accident of the link: the CPU
 * then takes the one for the other, and holds the read up (a tenth of a round).
 */
struct coro_counter {
	const uint64_t *nb; /* NULL: not begun */
};

/* Begin to count; @nb is on the stack of a function that never returns. */
static inline void
coro_count_by(struct coro_counter *counter, const uint64_t *nb)
{
	counter->nb = nb;
}

static inline uint64_t
coro_count(const struct coro_counter *counter)
{
	return counter->nb == NULL ? 0 : __atomic_load_n(counter->nb, __ATOMIC_RELAXED);
}

extern struct coro_counter coro_peer_yields;
extern uint64_t coro_peer_ended; /* counted on the coroutines' stacks */

/* Boost.Context's fcontext, or NULL: not there when this was built. */
struct coro_peer *coro_peer_fcontext(void);

/* The C library's ucontext. */
struct coro_peer *coro_peer_ucontext(void);

/* Another CPU than the one that is measured; -1: there is none. */
int coro_other_cpu(void);

/* `maybe-yield` and `pi`. */
void coro_maybe_run(const struct bench_options *options, struct bench_report *report);
void coro_pi_run(const struct bench_options *options, struct bench_report *report);

/* How far apart pieces of work are checked. */
enum coro_pattern {
	CORO_PATTERN_REGULAR,
	CORO_PATTERN_EXPONENTIAL,
	CORO_PATTERN_BIMODAL, /* one or the other, at random */
	CORO_PATTERN_PHASES,  /* one for some slices, then the other for some */
};

struct coro_spacing {
	const char *name;
	enum coro_pattern pattern;
	double ns, other_ns;
};

extern const struct coro_spacing coro_spacings[];
extern const size_t coro_nb_spacings;

/* The one after piece @i, in ns. */
double coro_spacing_next(const struct coro_spacing *spacing, uint32_t i, uint64_t *state);

/* What a read of the clock costs on average, in cycles: several in a row, as a loop that looks at the time has them. */
double coro_clock_read(void);

static inline double
coro_ns(double cycles)
{
	return cycles * 1e9 / (double)weir_base_cycles_hz();
}

#endif
