/* SPDX-License-Identifier: BSD-3-Clause */

/* A source sends while it is bound to another sink: in every order of their steps. No message comes after the sink was given up. */

#include <rte_ring_elem.h>

#include "../base/interleave.h"

/* One processor here: who waits for the other looks again. */
#define sched_yield() interleave_pause()

#include "../../lib/readout/link/send.c"

#define NB_SENDS 2

static struct weir_readout_sink sinks[2];
static struct weir_readout_source source;
static bool gone[2];
static uint32_t nb_received[2];

static void
receive(void *arg, const void *messages, uint32_t nb)
{
	unsigned int sink = arg == &gone[1];

	assert_false(gone[sink]);
	interleave_point(); /* it takes a while */
	assert_false(gone[sink]);
	nb_received[sink] += nb;
}

static void
init(void)
{
	memset(&source, 0, sizeof(source));
	memset(nb_received, 0, sizeof(nb_received));
	for (unsigned int i = 0; i < 2; i++) {
		gone[i] = false;
		sinks[i] = (struct weir_readout_sink){.receive = receive, .arg = &gone[i]};
	}
	source.sink = &sinks[0];
}

static void
sender(void)
{
	static const uint32_t message;

	for (unsigned int i = 0; i < NB_SENDS; i++)
		weir_readout_source_send(&source, &message, 1);
}

/* From the first one to the second, and to none: what was left is gone. */
static void
binder(void)
{
	source_switch(&source, &sinks[1]);
	gone[0] = true;
	source_switch(&source, NULL);
	gone[1] = true;
}

static void
check(void)
{
	struct weir_readout_source_stats stats;

	weir_readout_source_stats(&source, &stats);
	assert_int_equal(stats.sent, NB_SENDS);
	assert_int_equal(stats.delivered, nb_received[0] + nb_received[1]);
	assert_int_equal(stats.unbound, NB_SENDS - stats.delivered);
	assert_int_equal(stats.queue_full, 0);
}

static void
switched(void **state)
{
	const struct interleave interleave = {
		.init = init,
		.nb_actors = 2,
		.actors = {sender, binder},
		.check = check,
		.most_interruptions = 4,
		.least = 500,
	};

	interleave_all(&interleave);
}

/* Somebody looks at the counters meanwhile. */
static void
reader(void)
{
	struct weir_readout_source_stats stats;

	weir_readout_source_stats(&source, &stats);
	assert_int_equal(stats.sent, stats.delivered + stats.unbound);
	assert_true(stats.sent <= NB_SENDS);
}

static void
unbinder(void)
{
	source_switch(&source, NULL);
	gone[0] = true;
}

static void
looked_at(void **state)
{
	const struct interleave interleave = {
		.init = init,
		.nb_actors = 3,
		.actors = {sender, reader, unbinder},
		.check = check,
		.most_interruptions = 3,
		.least = 500,
	};

	interleave_all(&interleave);
}

/* A sink with a queue. */
static _Alignas(RTE_CACHE_LINE_SIZE) uint8_t memory[4096];

static void
init_queue(void)
{
	init();
	assert_true(rte_ring_get_memsize_elem(sizeof(uint32_t), 8) <= (ssize_t)sizeof(memory));
	sinks[0] = (struct weir_readout_sink){
		.type.size_bytes = sizeof(uint32_t), .ring = (struct rte_ring *)memory};
	assert_int_equal(rte_ring_init(sinks[0].ring, "queue", 8, 0), 0);
}

/* What it saw in the queue was counted when it looked at counters after that. */
static void
queue_reader(void)
{
	struct weir_readout_source_stats stats;
	uint32_t nb_queued;

	interleave_point();
	nb_queued = rte_ring_count(sinks[0].ring);
	weir_readout_source_stats(&source, &stats);
	assert_true(stats.delivered >= nb_queued);
}

static void
check_queue(void)
{
	struct weir_readout_source_stats stats;

	weir_readout_source_stats(&source, &stats);
	assert_int_equal(stats.delivered, NB_SENDS);
	assert_int_equal(rte_ring_count(sinks[0].ring), NB_SENDS);
}

static void
queued_and_counted(void **state)
{
	const struct interleave interleave = {
		.init = init_queue,
		.nb_actors = 2,
		.actors = {sender, queue_reader},
		.check = check_queue,
		.most_interruptions = 3,
		.least = 50,
	};

	interleave_all(&interleave);
}

/* All that is sent has been: the consumer takes it. */
static void
init_full_queue(void)
{
	init_queue();
	sender();
}

static void
consumer(void)
{
	uint32_t messages[NB_SENDS];

	for (unsigned int i = 0; i < NB_SENDS; i++)
		weir_readout_sink_receive(&sinks[0], messages, 1);
}

/* A message is in the queue, or received, never neither. */
static void
sink_reader(void)
{
	struct weir_readout_sink_stats stats;

	weir_readout_sink_stats(&sinks[0], &stats);
	assert_int_equal(stats.received + stats.queued, NB_SENDS);
}

static void
check_taken(void)
{
	struct weir_readout_sink_stats stats;

	weir_readout_sink_stats(&sinks[0], &stats);
	assert_int_equal(stats.received, NB_SENDS);
	assert_int_equal(stats.queued, 0);
}

static void
taken_and_counted(void **state)
{
	const struct interleave interleave = {
		.init = init_full_queue,
		.nb_actors = 2,
		.actors = {consumer, sink_reader},
		.check = check_taken,
		.least = 10,
	};

	interleave_all(&interleave);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switched),
		cmocka_unit_test(looked_at),
		cmocka_unit_test(queued_and_counted),
		cmocka_unit_test(taken_and_counted),
	};

	return cmocka_run_group_tests_name("readout-interleave-registry", tests, NULL, NULL);
}
