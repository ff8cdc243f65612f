/* SPDX-License-Identifier: BSD-3-Clause */

/* A thread of no port enqueues what it reserved while the scheduler is stopped: in every order of steps, what is accepted is drained. */

#include <sched.h>

#include "sched_test.h"

#include "../base/interleave.h"

#define sched_yield() interleave_pause()

#undef fail /* cmocka's */

#include "../../lib/sched/sched.c"

#define NB_ENQUEUED 2

static unsigned int nb_inside, nb_accepted, nb_drained;
static bool is_stopping;

/* Between its steps the scheduler may be stopped; beside a stop it would spoil what that walks. */
static int
enqueue(struct weir_sched *sched, const struct rte_event *event)
{
	CHECK(!is_stopping);
	interleave_point();
	CHECK(!is_stopping);
	nb_inside++;
	return 0;
}

static uint32_t
reserve(struct weir_sched *sched, uint32_t nb)
{
	CHECK(!is_stopping);
	interleave_point();
	CHECK(!is_stopping);
	return nb;
}

static void
stop(struct weir_sched *sched, void (*drain)(void *arg, const struct rte_event *event), void *arg)
{
	const struct rte_event event = {.queue_id = 0};

	is_stopping = true;
	interleave_point();
	for (; nb_inside > 0; nb_inside--)
		drain(arg, &event);
	interleave_point();
	is_stopping = false;
}

static const struct sched_backend backend = {
	.enqueue_reserved = enqueue, .reserve = reserve, .stop = stop};
static struct weir_sched_port port;
static struct weir_sched stopped;

static void
init(void)
{
	nb_inside = nb_accepted = nb_drained = 0;
	memset(&stopped, 0, sizeof(stopped));
	stopped.backend = &backend;
	stopped.config.nb_ports = stopped.config.nb_queues = 1;
	stopped.ports[0] = &port;
	stopped.running = stopped.started = true;
}

static void
enqueues(void)
{
	const struct rte_event event = {.op = RTE_EVENT_OP_NEW};

	for (unsigned int i = 0; i < NB_ENQUEUED; i++)
		if (weir_sched_reserve(&stopped, 1) == 1)
			nb_accepted += weir_sched_enqueue_reserved(&stopped, &event) == 0;
}

static void
drains(void *arg, const struct rte_event *event)
{
	nb_drained++;
}

static void
stops(void)
{
	CHECK(weir_sched_stop(&stopped, drains, NULL) == 0);
	CHECK(weir_sched_stop(&stopped, drains, NULL) == -EALREADY);
}

static void
all_are_drained(void)
{
	CHECK(nb_inside == 0 && nb_drained == nb_accepted);
}

static void
what_is_accepted_is_drained(void **state)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {enqueues, stops},
		.check = all_are_drained,
		.least = 20};

	interleave_all(&interleave);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_accepted_is_drained),
	};

	return cmocka_run_group_tests_name("sched-interleave-stop", tests, NULL, NULL);
}
