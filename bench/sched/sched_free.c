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

/* Room for what comes in a slice: so many times what comes on average, and so many more. */
#define ROOM      1.3
#define ROOM_MORE 1000

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
	uint32_t *ready; /* those that may be had, in no order: at such a load they are few */
	uint32_t nb_ready, nb_max;
	struct flow flows[SCHED_FLOWS];
	struct server servers[SCHED_WORKERS_MAX];
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

static uint32_t
take_first(struct free_run *run)
{
	uint32_t first = 0, event;

	for (uint32_t i = 1; i < run->nb_ready; i++)
		if (goes_before(run, run->ready[i], run->ready[first]))
			first = i;
	event = run->ready[first];
	run->ready[first] = run->ready[--run->nb_ready];
	return event;
}

/* Whoever has nothing to do begins. */
static void
begin(struct free_run *run, uint64_t now)
{
	struct sched_worker *noted = &run->side->workers[0];

	for (unsigned int i = 0; i < run->side->shape.nb_workers && run->nb_ready > 0; i++) {
		struct server *server = &run->servers[i];
		uint64_t what;

		if (server->until != NEVER)
			continue;
		what = run->events[take_first(run)].what;
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
		run->ready[run->nb_ready++] = event;
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
	run->ready[run->nb_ready++] = next;
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
	run->nb_max = (uint32_t)(side->shape.events_per_s * (double)ns * 1e-9 * ROOM) + ROOM_MORE;
	run->events = calloc(run->nb_max, sizeof(*run->events));
	run->ready = calloc(run->nb_max, sizeof(*run->ready));
	for (unsigned int i = 0; i < SCHED_FLOWS; i++)
		run->flows[i].first = NONE;
	for (unsigned int i = 0; i < SCHED_WORKERS_MAX; i++)
		run->servers[i].until = NEVER;
	return run->events != NULL && run->ready != NULL;
}

/* As for a slice of a scheduler, nothing is inside when it begins, and all comes out. @return how many came */
static uint32_t
run_slice(struct free_run *run, uint64_t cycles)
{
	struct sched_arrivals arrivals;
	uint32_t i;

	sched_arrivals_begin(&arrivals, &run->side->shape, &run->side->random, 1);
	for (i = 0; i < run->nb_max && arrivals.due < cycles; i++) {
		const uint64_t what = sched_arrivals_next(&arrivals);

		run->events[i] = (struct coming){what, NONE};
		work_until(run, what & SCHED_STAMP_MASK);
		arrive(run, i);
		begin(run, what & SCHED_STAMP_MASK);
	}
	work_until(run, NEVER);
	return i;
}

int
sched_free_run(struct sched_side *side, uint64_t ns, struct sched_slice *slice)
{
	struct free_run run;
	int rc = -ENOMEM;

	if (make_run(&run, side, ns)) {
		/* begin() notes them all with the first worker. */
		memset(side->workers[0].waits, 0, sizeof(side->workers[0].waits));
		*slice = (struct sched_slice){
			.rate = run_slice(&run, weir_base_ns_to_cycles(ns)) * 1e9 / (double)ns};
		rc = sched_slice_waits(side, slice) ? 0 : -ENODATA;
	}
	free(run.events);
	free(run.ready);
	return rc;
}
