/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Beside the schedulers: how long would events wait if scheduling cost nothing? The same events come to as many workers. Whoever has nothing to do
 * takes at once what is first of what may be had: of the highest priority, and of that the oldest; an atomic flow's events one after the
 * other. Nothing is run: time is what the events say.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched_bench.h"

#define NONE  UINT32_MAX
#define NEVER UINT64_MAX
#define BARELY                                                                                     \
	1.3 /* more events come in a slice than on average: no more than so many times as many */
#define AT_LEAST 1000

/* An event, by its number in the order in which they come. */
struct coming {
	uint64_t what;
	uint32_t next; /* of its flow */
};

struct flow {
	uint32_t first, last; /* that wait */
	bool busy;            /* the first one may be had, or one is worked on */
};

struct server {
	uint64_t until; /* NEVER: it has nothing to do */
	uint32_t flow;
};

struct free_run {
	struct sched_side *side;
	struct coming *events;
	uint32_t *heap; /* that may be had */
	uint32_t nb_heap, nb_events, nb_max;
	struct flow flows[SCHED_FLOWS];
	struct server servers[SCHED_WORKERS];
};

static bool
goes_before(const struct free_run *run, uint32_t a, uint32_t b)
{
	const unsigned int class_a = sched_class_of(run->events[a].what);
	const unsigned int class_b = sched_class_of(run->events[b].what);

	if (run->side->shape.priorities && class_a != class_b)
		return class_a < class_b;
	return a < b;
}

static void
heap_push(struct free_run *run, uint32_t event)
{
	uint32_t at = run->nb_heap++;

	for (; at > 0 && goes_before(run, event, run->heap[(at - 1) / 2]); at = (at - 1) / 2)
		run->heap[at] = run->heap[(at - 1) / 2];
	run->heap[at] = event;
}

static uint32_t
heap_pop(struct free_run *run)
{
	const uint32_t first = run->heap[0], last = run->heap[--run->nb_heap];
	uint32_t at = 0, below;

	while ((below = 2 * at + 1) < run->nb_heap) {
		if (below + 1 < run->nb_heap &&
			goes_before(run, run->heap[below + 1], run->heap[below]))
			below++;
		if (!goes_before(run, run->heap[below], last))
			break;
		run->heap[at] = run->heap[below];
		at = below;
	}
	run->heap[at] = last;
	return first;
}

/* Whoever has nothing to do begins. */
static void
begin(struct free_run *run, uint64_t now)
{
	struct sched_worker *noted = &run->side->workers[0];

	for (unsigned int i = 0; i < run->side->shape.nb_workers && run->nb_heap > 0; i++) {
		struct server *server = &run->servers[i];
		uint64_t what;

		if (server->until != NEVER)
			continue;
		what = run->events[heap_pop(run)].what;
		server->flow = sched_flow_of(what);
		server->until = now + noted->service_cycles[sched_class_of(what)];
		weir_base_hist_add(
			&noted->waits[sched_class_of(what)], now - (what & SCHED_STAMP_MASK));
	}
}

static void
arrive(struct free_run *run, uint32_t event)
{
	struct flow *flow = &run->flows[sched_flow_of(run->events[event].what)];

	if (!flow->busy) {
		flow->busy = true;
		heap_push(run, event);
		return;
	}
	if (flow->first == NONE)
		flow->first = event;
	else
		run->events[flow->last].next = event;
	flow->last = event;
}

static void
end(struct free_run *run, struct server *server)
{
	struct flow *flow = &run->flows[server->flow];
	const uint32_t next = flow->first;

	server->until = NEVER;
	if (next == NONE) {
		flow->busy = false;
		return;
	}
	flow->first = run->events[next].next;
	heap_push(run, next);
}

static struct server *
first_to_end(struct free_run *run)
{
	struct server *first = &run->servers[0];

	for (unsigned int i = 1; i < run->side->shape.nb_workers; i++)
		if (run->servers[i].until < first->until)
			first = &run->servers[i];
	return first;
}

/* All that ends before that time. */
static void
work_until(struct free_run *run, uint64_t time)
{
	struct server *server;

	while ((server = first_to_end(run))->until < time) {
		const uint64_t now = server->until;

		end(run, server);
		begin(run, now);
	}
}

static bool
make_run(struct free_run *run, struct sched_side *side, uint64_t ns)
{
	*run = (struct free_run){.side = side};
	run->nb_max = (uint32_t)(side->shape.events_per_s * (double)ns * 1e-9 * BARELY) + AT_LEAST;
	run->events = calloc(run->nb_max, sizeof(*run->events));
	run->heap = calloc(run->nb_max, sizeof(*run->heap));
	for (unsigned int i = 0; i < SCHED_FLOWS; i++)
		run->flows[i].first = NONE;
	for (unsigned int i = 0; i < SCHED_WORKERS; i++)
		run->servers[i].until = NEVER;
	return run->events != NULL && run->heap != NULL;
}

/* As for a slice of a scheduler, nothing is inside when it begins, and all comes out. */
static void
run_slice(struct free_run *run, uint64_t cycles)
{
	struct sched_arrivals arrivals;

	sched_arrivals_begin(&arrivals, &run->side->shape, &run->side->random, 1);
	for (uint32_t i = 0; i < run->nb_max && arrivals.due < cycles; i++) {
		const uint64_t what = sched_arrivals_next(&arrivals);

		run->events[i] = (struct coming){what, NONE};
		work_until(run, what & SCHED_STAMP_MASK);
		arrive(run, i);
		begin(run, what & SCHED_STAMP_MASK);
		run->nb_events++;
	}
	work_until(run, NEVER);
}

int
sched_free_run(struct sched_side *side, uint64_t ns, struct sched_slice *slice)
{
	struct free_run run;
	int rc = -ENOMEM;

	if (make_run(&run, side, ns)) {
		for (unsigned int i = 0; i < SCHED_WORKERS; i++)
			memset(side->workers[i].waits, 0, sizeof(side->workers[i].waits));
		run_slice(&run, weir_base_ns_to_cycles(ns));
		*slice = (struct sched_slice){.rate = run.nb_events * 1e9 / (double)ns};
		sched_slice_waits(side, slice);
		rc = 0;
	}
	free(run.events);
	free(run.heap);
	return rc;
}
