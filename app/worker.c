/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop that every worker runs. */
#include <sched.h>
#include <time.h>

#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_pause.h>

#include <weir_base.h>
#include <weir_bridge.h>
#include <weir_graph_fast.h>
#include <weir_node.h>

#include "worker.h"

#define SLEEP_MIN_NS 50000
#define SLEEP_MAX_NS 1000000

/* Each walk drains all that it brought in: when the files have ended, and a walk after that was idle, nothing is left. */
static bool
input_ended(const struct worker *worker)
{
	unsigned int i;

	for (i = 0; i < worker->nb_rx_ports; i++)
		if (weir_node_port_input_ended(worker->rx_ports[i]) == 0)
			return false;
	return true;
}

/* Nothing came: wait as configured. Sleeps grow, so that a worker soon wakes for a burst and seldom for nothing. */
static void
rest(const struct worker *worker, uint64_t *sleep_ns)
{
	struct timespec time;

	if (worker->idle == SCHEMA_IDLE_SLEEP) {
		time = (struct timespec){.tv_nsec = (long)*sleep_ns};
		nanosleep(&time, NULL);
		*sleep_ns = *sleep_ns * 2 < SLEEP_MAX_NS ? *sleep_ns * 2 : SLEEP_MAX_NS;
	} else if (worker->crowded) {
		sched_yield();
	} else if (worker->idle == SCHEMA_IDLE_PAUSE) {
		rte_pause();
	}
}

/* Become a core of the event machine, and have graphs send and receive as that one. */
static int
join(struct worker *worker, struct weir_em_core **core)
{
	int error = 0;

	*core = NULL;
	if (worker->em == NULL)
		return 0;
	*core = worker->em_core >= 0
			? weir_em_core_attach(worker->em, (unsigned int)worker->em_core)
			: weir_em_producer_attach(worker->em);
	if (*core == NULL)
		return -rte_errno;
	if (worker->graph != NULL)
		error = weir_bridge_bind(worker->graph, *core);
	if (error == 0 && worker->event_graph != NULL)
		error = weir_bridge_bind(worker->event_graph, *core);
	return error;
}

static void
leave(struct worker *worker, struct weir_em_core *core)
{
	if (core == NULL)
		return;
	weir_em_core_detach(core); /* what is on its way to it comes now */
	weir_bridge_unbind(worker->graph);
	weir_bridge_unbind(worker->event_graph);
}

/* Nothing more comes from its ports, or is to. @busy: the last walk brought something in */
static bool
has_received(struct worker *worker, bool busy)
{
	if (likely(!__atomic_load_n(&worker->quiet, __ATOMIC_RELAXED) &&
		    (busy || !worker->ends || !input_ended(worker))))
		return false;
	/* what it sent before is seen by who sees this */
	__atomic_store_n(&worker->received, true, __ATOMIC_RELEASE);
	return true;
}

/* One walk. @return whether it brought anything in */
static bool
walk(struct weir_graph *graph)
{
	uint64_t idle_walks = graph->nb_idle_walks;

	weir_graph_walk(graph);
	return graph->nb_idle_walks == idle_walks;
}

static void
loop(struct worker *worker, struct weir_em_core *core)
{
	const struct weir_em_dispatch_options round = {.nb_rounds = 1, .burst = worker->burst};
	const bool dispatches = worker->em_core >= 0;
	bool receives = true, busy;
	uint64_t sleep_ns = SLEEP_MIN_NS;

	while (!__atomic_load_n(&worker->stop, __ATOMIC_RELAXED)) {
		busy = receives && worker->graph != NULL && walk(worker->graph);
		if (receives && has_received(worker, busy))
			receives = false;
		if (dispatches)
			busy |= weir_em_dispatch(core, &round) > 0;
		else if (!receives)
			break;
		else if (core != NULL)
			weir_em_producer_tend(core);
		if (likely(busy))
			sleep_ns = SLEEP_MIN_NS;
		else
			rest(worker, &sleep_ns);
	}
}

static int
worker_main(void *arg)
{
	struct worker *worker = arg;
	struct weir_em_core *core;
	int error = join(worker, &core);

	worker->start_ns = weir_base_time_ns();
	if (error == 0)
		loop(worker, core);
	worker->failed = error < 0;
	leave(worker, core);
	worker->end_ns = weir_base_time_ns();
	__atomic_store_n(&worker->received, true, __ATOMIC_RELEASE);
	__atomic_store_n(&worker->finished, true, __ATOMIC_RELEASE);
	return error;
}

int
worker_start(struct worker *worker)
{
	return rte_eal_remote_launch(worker_main, worker, worker->lcore);
}

void
worker_stop(struct worker *worker)
{
	__atomic_store_n(&worker->stop, true, __ATOMIC_RELAXED);
}

void
worker_quiet(struct worker *worker)
{
	__atomic_store_n(&worker->quiet, true, __ATOMIC_RELAXED);
}

bool
worker_has_received(const struct worker *worker)
{
	return __atomic_load_n(&worker->received, __ATOMIC_ACQUIRE);
}

bool
worker_is_finished(const struct worker *worker)
{
	return __atomic_load_n(&worker->finished, __ATOMIC_ACQUIRE);
}

void
worker_join(struct worker *worker)
{
	rte_eal_wait_lcore(worker->lcore);
}
