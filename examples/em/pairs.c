/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs: how fast do events go from queue to queue?
 *
 *     queue A 0 <--> queue B 0        64 pairs of atomic queues, 16 events each, which go to and fro: all cores
 *     queue A 1 <--> queue B 1        find work everywhere
 *        ...
 *
 * Prints how many events were received a second, and what each cost a core: cycles of all cores, divided by events. Every event
 * has a number, of its queue; that none is lost and none overtakes is checked all the time, and is part of the cost.
 *
 * What to learn from it: a receive function takes several events at a time where its object allows it, and forwards them in
 * one call; what a queue needs is in its context; one priority, said beforehand, is cheaper than eight.
 */
#include <inttypes.h>
#include <stdio.h>

#include <rte_common.h>

#include "example.h"

#define NB_PAIRS  64
#define NB_EVENTS 16 /* of each */
#define BURST     32
#define NEW       UINT64_MAX /* an event that has no number yet */

/* Of one queue: nobody else touches it while its events are received. */
struct side {
	weir_em_queue queue, other;
	uint64_t nb_received; /* of those with numbers */
	uint64_t nb_sent;
} __rte_cache_aligned;

static struct side sides[2 * NB_PAIRS];

static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct side *side = queue_context;

	for (uint16_t i = 0; i < nb; i++) {
		if (events[i].u64 != NEW) {
			example_expect(events[i].u64 == side->nb_received,
				"event %" PRIu64 " where %" PRIu64 " is next", events[i].u64,
				side->nb_received);
			side->nb_received++;
		}
		events[i].u64 = side->nb_sent + i;
	}
	if (example_over())
		return;
	side->nb_sent += nb;
	weir_em_forward_burst(core, side->other, events, nb);
}

static void
make(struct example *ex)
{
	weir_em_object object = weir_em_object_create(
		ex->em, &(struct weir_em_object_config){
				.name = "pairs", .receive = receive, .burst = BURST});

	for (unsigned int i = 0; i < 2 * NB_PAIRS; i++) {
		sides[i].queue = weir_em_queue_create(
			ex->em, &(struct weir_em_queue_config){
					.type = WEIR_EM_QUEUE_ATOMIC, .context = &sides[i]});
		example_must(
			weir_em_object_add_queue(ex->em, object, sides[i].queue) == 0, "a queue");
	}
	for (unsigned int i = 0; i < 2 * NB_PAIRS; i++)
		sides[i].other = sides[i ^ 1].queue;
	example_must(weir_em_object_start(ex->em, ex->core, object, NULL) == 0, "pairs");
	for (unsigned int i = 0; i < NB_PAIRS * NB_EVENTS; i++) {
		struct rte_event event = weir_em_event_u64(NEW);

		example_must(
			weir_em_send(ex->core, sides[2 * (i % NB_PAIRS)].queue, &event, 1) == 1,
			"an event");
	}
}

int
main(int argc, char **argv)
{
	struct example ex = {
		.about = "how fast do events go from queue to queue?",
		.burst = BURST,
	};
	char what[32];

	example_begin(&ex, argc, argv,
		(struct weir_em_config){.nb_queues = 2 * NB_PAIRS,
			.types = 1u << WEIR_EM_QUEUE_ATOMIC,
			.priorities = 1u << 0});
	make(&ex);
	for (unsigned int i = 1; i <= 4; i++) {
		snprintf(what, sizeof(what), "pairs, %u cores, %u of 4", ex.nb_cores, i);
		example_measure(&ex, ex.seconds / 4, what);
	}
	example_stop(&ex);
	for (unsigned int i = 0; i < 2 * NB_PAIRS; i++)
		example_expect(sides[i].nb_received == sides[i ^ 1].nb_sent,
			"%" PRIu64 " of %" PRIu64 " came", sides[i].nb_received,
			sides[i ^ 1].nb_sent);
	return example_end(&ex);
}
