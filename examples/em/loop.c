/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loop: what does each type of queue cost?
 *
 * 64 queues with 16 events each, which are forwarded to the queue that they came from: first atomic queues, then parallel ones, ordered
 * ones, local ones. The shortest receive function there can be: what is measured is the machine.
 *
 * What to learn from it: what to pay for exclusion, for order, for scheduling at all.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <rte_errno.h>

#include "example.h"

#define NB_QUEUES 64
#define NB_EVENTS 16 /* of each */
#define BURST     32

static const enum weir_em_queue_type types[] = {
	WEIR_EM_QUEUE_ATOMIC, WEIR_EM_QUEUE_PARALLEL, WEIR_EM_QUEUE_ORDERED, WEIR_EM_QUEUE_LOCAL};
static bool is_over;

static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	if (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		weir_em_forward_burst(core, queue, events, nb);
}

/* A start function: once, or on every core, as local queues are each core's own. */
static int
fill(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	const weir_em_queue *queues = context;
	struct rte_event events[NB_EVENTS];

	for (unsigned int i = 0; i < NB_QUEUES; i++) {
		for (unsigned int k = 0; k < NB_EVENTS; k++)
			events[k] = weir_em_event_u64(k);
		if (weir_em_send(core, queues[i], events, NB_EVENTS) != NB_EVENTS)
			return -rte_errno;
	}
	return 0;
}

static void
measure(struct example *ex, enum weir_em_queue_type type)
{
	weir_em_queue queues[NB_QUEUES];
	weir_em_object object = weir_em_object_create(
		ex->em, &(struct weir_em_object_config){.name = weir_em_queue_type_name(type),
				.receive = receive,
				.burst = BURST,
				.context = queues,
				.start = type == WEIR_EM_QUEUE_LOCAL ? NULL : fill,
				.core_start = type == WEIR_EM_QUEUE_LOCAL ? fill : NULL});
	const struct weir_em_queue_config config = {.type = type};

	for (unsigned int i = 0; i < NB_QUEUES; i++) {
		queues[i] = weir_em_queue_create(ex->em, &config);
		if (queues[i] == WEIR_EM_NONE && rte_errno == ENOTSUP)
			return; /* event_dsw has no ordered ones; the log says so */
		example_must(weir_em_object_add_queue(ex->em, object, queues[i]) == 0, "a queue");
	}
	__atomic_store_n(&is_over, false, __ATOMIC_RELAXED);
	example_must(weir_em_object_start(ex->em, ex->core, object, NULL) == 0, "a start");
	example_expect(example_measure(ex, ex->seconds / 4, weir_em_queue_type_name(type)) > 0,
		"nothing came");
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	example_rest(ex);
	weir_em_object_stop(ex->em, ex->core, object, NULL);
	weir_em_object_delete(ex->em, ex->core, object, WEIR_EM_REMOVE_QUEUES);
	for (unsigned int i = 0; i < NB_QUEUES; i++)
		example_expect(weir_em_queue_delete(ex->em, queues[i]) == 0, "no end of a queue");
}

int
main(int argc, char **argv)
{
	struct example ex = {
		.about = "what does each type of queue cost?",
		.burst = BURST,
	};

	example_begin(&ex, argc, argv,
		(struct weir_em_config){.nb_queues = NB_QUEUES * 2, .priorities = 1u << 0});
	for (unsigned int i = 0; i < RTE_DIM(types); i++)
		measure(&ex, types[i]);
	return example_end(&ex);
}
