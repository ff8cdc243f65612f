/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop that every worker runs. */
#include <sched.h>
#include <time.h>

#include <rte_launch.h>
#include <rte_pause.h>

#include <weir_base.h>
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

static int
worker_main(void *arg)
{
	struct worker *worker = arg;
	struct weir_graph *graph = worker->graph;
	uint64_t idle_walks = graph->nb_idle_walks, sleep_ns = SLEEP_MIN_NS;

	worker->start_ns = weir_base_time_ns();
	while (!__atomic_load_n(&worker->stop, __ATOMIC_RELAXED)) {
		weir_graph_walk(graph);
		if (likely(graph->nb_idle_walks == idle_walks)) {
			sleep_ns = SLEEP_MIN_NS;
			continue;
		}
		idle_walks = graph->nb_idle_walks;
		if (worker->ends && input_ended(worker))
			break;
		rest(worker, &sleep_ns);
	}
	worker->end_ns = weir_base_time_ns();
	__atomic_store_n(&worker->finished, true, __ATOMIC_RELEASE);
	return 0;
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
