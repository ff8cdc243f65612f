/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timer hello: events that come at their time.
 *
 *   tick     every 50 ms: the receiver gives its event back by weir_em_timeout_ack(), which tells how many times were missed
 *   once     after 120 ms, once
 *   never    after 120 ms, too, but cancelled by the first tick
 *
 * What to learn from it: a timeout is made once, and armed as often as needed; times of a period do not drift; nothing is ever
 * early; who cancels is told who won: after 0 it will not come, after -EALREADY it will, or did.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <weir_em_timer.h>

#include "example.h"

#define MS        UINT64_C(1000000)
#define PERIOD_NS (50 * MS)
#define DELAY_NS  (120 * MS)

enum { TICK, ONCE, NEVER, NB_TIMEOUTS };

static weir_em_timeout timeouts[NB_TIMEOUTS];
static uint64_t start_ns;
static uint64_t nb[NB_TIMEOUTS], nb_missed;
static uint64_t nb_counted; /* ticks that came or were missed, for other cores to see */
static int cancelled;

/* How late it is, for people and for the check. */
static double
late_ms(struct weir_em *em, weir_em_timeout timeout)
{
	uint64_t now_ns = weir_em_timer_now_ns();
	struct weir_em_timeout_info info;

	weir_em_timeout_info(em, timeout, &info);
	example_expect(now_ns >= info.due_ns, "%" PRIu64 " ns early", info.due_ns - now_ns);
	return (double)(int64_t)(now_ns - info.due_ns) / 1e6;
}

static void
tick(struct weir_em_core *core, struct rte_event *event)
{
	struct weir_em *em = weir_em_core_em(core);
	uint64_t overruns = 0, number = nb[TICK]++ + nb_missed;
	int rc;

	printf("tick %" PRIu64 " on core %u, %.3f ms late\n", number, weir_em_core_id(core),
		late_ms(em, timeouts[TICK]));
	if (number == 0)
		cancelled = weir_em_timeout_cancel(em, timeouts[NEVER], NULL);
	rc = weir_em_timeout_ack(em, core, timeouts[TICK], event, &overruns);
	example_expect(rc == 0 || (rc == -ECANCELED && example_over()), "ack: %d", rc);
	nb_missed += overruns;
	__atomic_store_n(&nb_counted, nb[TICK] + nb_missed, __ATOMIC_RELAXED);
}

/* All of them send to one atomic queue: these functions are alone. */
static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb_events,
	weir_em_queue queue, void *queue_context)
{
	unsigned int which = (unsigned int)events[0].u64;

	if (which == TICK) {
		tick(core, &events[0]);
		return;
	}
	nb[which]++;
	printf("%s, %.3f ms late\n", which == ONCE ? "hello, once" : "this should not be",
		late_ms(weir_em_core_em(core), timeouts[which]));
}

static void
arm(struct example *ex)
{
	struct rte_event events[NB_TIMEOUTS];

	for (unsigned int i = 0; i < NB_TIMEOUTS; i++)
		events[i] = weir_em_event_u64(i);
	start_ns = weir_em_timer_now_ns();
	example_must(weir_em_timeout_arm_periodic(ex->em, ex->core, timeouts[TICK],
			     start_ns + PERIOD_NS, PERIOD_NS, &events[TICK]) == 0,
		"ticks");
	example_must(weir_em_timeout_arm_in(
			     ex->em, ex->core, timeouts[ONCE], DELAY_NS, &events[ONCE]) == 0,
		"a timeout");
	example_must(weir_em_timeout_arm_in(
			     ex->em, ex->core, timeouts[NEVER], DELAY_NS, &events[NEVER]) == 0,
		"a timeout");
}

int
main(int argc, char **argv)
{
	struct weir_em_timer_stats stats;
	struct example ex = {
		.about = "events that come at their time: once, periodically, cancelled."};
	weir_em_queue queue;
	weir_em_timer timer;
	uint64_t nb_periods;
	int rc;

	/* A reserved credit for each that is armed, and one for a tick that is armed anew while its event is still here. */
	example_begin(&ex, argc, argv,
		(struct weir_em_config){.nb_queues = 1, .nb_reserved = NB_TIMEOUTS + 1});
	queue = example_serve(&ex,
		(struct weir_em_queue_config){.name = "hello", .type = WEIR_EM_QUEUE_ATOMIC},
		(struct weir_em_object_config){.receive = receive});
	timer = weir_em_timer_create(
		ex.em, &(struct weir_em_timer_config){.name = "hello", .resolution_ns = 10000});
	for (unsigned int i = 0; i < NB_TIMEOUTS; i++) {
		timeouts[i] = weir_em_timeout_create(ex.em, timer, queue);
		example_must(timeouts[i] != WEIR_EM_NONE, "a timeout");
	}
	arm(&ex);
	example_dispatch(&ex, ex.seconds);
	/* One may just be due; who is to receive more of them may be waiting for a CPU. */
	nb_periods = (weir_em_timer_now_ns() - start_ns) / PERIOD_NS;
	while (__atomic_load_n(&nb_counted, __ATOMIC_RELAXED) + 1 < nb_periods)
		example_dispatch(&ex, 0.001);
	rc = weir_em_timeout_cancel(ex.em, timeouts[TICK], NULL);
	example_expect(rc == 0 || rc == -EALREADY, "cancel: %d", rc);
	example_stop(&ex);

	weir_em_timer_stats(ex.em, timer, &stats);
	printf("%" PRIu64 " ticks, %" PRIu64 " missed, in %" PRIu64
	       " periods; fired %.3f ms late at most\n",
		nb[TICK], nb_missed, nb_periods, (double)stats.late_ns.max / 1e6);
	example_expect(nb[TICK] > 0 && nb[TICK] + nb_missed <=
					       (weir_em_timer_now_ns() - start_ns) / PERIOD_NS,
		"there are more ticks than periods");
	example_expect(ex.seconds < 0.2 || nb[ONCE] == 1, "hello came %" PRIu64 " times", nb[ONCE]);
	example_expect(nb[NEVER] == (cancelled == 0 ? 0 : 1), "the cancelled one came");
	return example_end(&ex);
}
