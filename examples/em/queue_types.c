/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All types of queues, in one ring: what each promises, checked.
 *
 *     atomic --> ordered --> atomic --> parallel --> local --> (back to the first)
 *     number it              the same                  |  |
 *                            order?                    |  '--> unscheduled: a ring, which main() empties
 *                                                      '-----> output: a function
 *
 * What to learn from it: which type is for what.
 *   atomic       one core at a time, in order: what belongs to the queue needs no lock
 *   ordered      all cores at a time; what they forward is in order
 *   parallel     all cores at a time, no order
 *   local        the core that sent it: goes past the scheduler, so it takes no credit along, and forwarding from there may be refused
 *   output       a function is called: the way out, to a device for one
 *   unscheduled  nobody is called: who wants its events asks for them
 */
#include <inttypes.h>
#include <stdio.h>

#include <rte_errno.h>

#include "example.h"

#define NB_ITEMS 64

struct item {
	uint64_t number;
	unsigned int core;
};

enum stage { FIRST, ORDERED, CHECK, PARALLEL, LOCAL, NB_STAGES };

static const struct weir_em_queue_config stages[NB_STAGES] = {
	[FIRST] = {.name = "first", .type = WEIR_EM_QUEUE_ATOMIC},
	[ORDERED] = {.name = "ordered", .type = WEIR_EM_QUEUE_ORDERED},
	[CHECK] = {.name = "check", .type = WEIR_EM_QUEUE_ATOMIC},
	[PARALLEL] = {.name = "parallel", .type = WEIR_EM_QUEUE_PARALLEL},
	[LOCAL] = {.name = "local", .type = WEIR_EM_QUEUE_LOCAL},
};
static weir_em_queue queues[NB_STAGES], output_queue, ring;
static struct item items[NB_ITEMS];
static uint64_t nb_numbered, nb_checked;                  /* of the atomic stages */
static uint64_t nb_local, nb_output, nb_ring, nb_refused; /* all cores */

/* Only one core at a time has an atomic queue: this is no atomic operation, and TSan sees no race. */
static void
number(struct item *item)
{
	item->number = nb_numbered++;
}

static void
check(const struct item *item)
{
	example_expect(item->number == nb_checked, "number %" PRIu64 " where %" PRIu64 " is next",
		item->number, nb_checked);
	nb_checked++;
}

/* Events are copies: the number goes two ways out, the item goes on. */
static void
local(struct weir_em_core *core, const struct item *item)
{
	struct rte_event out = weir_em_event_u64(item->number);

	example_expect(item->core == weir_em_core_id(core), "from core %u to core %u: not local",
		item->core, weir_em_core_id(core));
	__atomic_fetch_add(&nb_local, 1, __ATOMIC_RELAXED);
	weir_em_send(core, output_queue, &out, 1);
	if (weir_em_send(core, ring, &out, 1) == 0) /* full: main() is late */
		__atomic_fetch_add(&nb_refused, 1, __ATOMIC_RELAXED);
}

static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	enum stage stage = (enum stage)(uintptr_t)context;
	struct item *item = events[0].event_ptr;

	if (stage == FIRST)
		number(item);
	else if (stage == CHECK)
		check(item);
	else if (stage == PARALLEL)
		item->core = weir_em_core_id(core);
	else if (stage == LOCAL)
		local(core, item);
	stage = (enum stage)((stage + 1) % NB_STAGES);
	if (queues[stage] == WEIR_EM_NONE) /* the backend has none */
		stage = CHECK;
	if (stage == FIRST && example_over())
		return;
	example_expect(weir_em_forward(core, queues[stage], &events[0]) == 0, "refused");
}

/* Called by whoever sends; from several cores at a time, as these were not forwarded from an ordered queue. */
static uint16_t
output(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue)
{
	__atomic_fetch_add(&nb_output, nb, __ATOMIC_RELAXED);
	return nb;
}

static void
empty_ring(struct weir_em *em)
{
	struct rte_event events[64];
	uint16_t nb;

	while ((nb = weir_em_queue_dequeue(em, ring, events, 64)) > 0)
		nb_ring += nb;
}

static void
make(struct example *ex)
{
	output_queue = weir_em_queue_create(
		ex->em, &(struct weir_em_queue_config){
				.name = "output", .type = WEIR_EM_QUEUE_OUTPUT, .output = output});
	ring = weir_em_queue_create(
		ex->em, &(struct weir_em_queue_config){
				.name = "ring", .type = WEIR_EM_QUEUE_UNSCHEDULED, .size = 32768});
	example_must(output_queue != WEIR_EM_NONE && ring != WEIR_EM_NONE, "queues");
	for (enum stage stage = FIRST; stage < NB_STAGES; stage++) {
		weir_em_object object = weir_em_object_create(
			ex->em, &(struct weir_em_object_config){.name = stages[stage].name,
					.receive = receive,
					.context = (void *)(uintptr_t)stage});

		queues[stage] = weir_em_queue_create(ex->em, &stages[stage]);
		if (queues[stage] == WEIR_EM_NONE && stage == ORDERED && rte_errno == ENOTSUP)
			continue; /* event_dsw; the log says so */
		example_must(queues[stage] != WEIR_EM_NONE, stages[stage].name);
		weir_em_object_add_queue(ex->em, object, queues[stage]);
		weir_em_object_start(ex->em, ex->core, object, NULL);
	}
}

int
main(int argc, char **argv)
{
	struct weir_em_queue_stats stats;
	struct example ex = {
		.about = "all types of queues in one ring, and what each promises, checked."};

	example_begin(&ex, argc, argv, (struct weir_em_config){.nb_queues = NB_STAGES + 2});
	make(&ex);
	for (unsigned int i = 0; i < NB_ITEMS; i++) {
		struct rte_event event = weir_em_event_ptr(&items[i]);

		example_must(weir_em_send(ex.core, queues[FIRST], &event, 1) == 1, "an event");
	}
	for (double left = ex.seconds; left > 0; left -= 0.001) {
		example_dispatch(&ex, 0.001);
		empty_ring(ex.em);
	}
	example_stop(&ex);
	empty_ring(ex.em);
	for (enum weir_em_queue_type type = 0; type < WEIR_EM_QUEUE_TYPES; type++) {
		weir_em_type_stats(ex.em, type, &stats);
		printf("%-12s %10" PRIu64 " events\n", weir_em_queue_type_name(type),
			stats.nb_received);
		example_expect(stats.nb_sent == stats.nb_received, "%s: some are lost",
			weir_em_queue_type_name(type));
	}
	printf("%" PRIu64 " found the ring full\n", nb_refused);
	example_expect(nb_checked == nb_numbered && nb_local == nb_checked && nb_checked > 0,
		"some are missing");
	example_expect(nb_output == nb_local, "not all came out");
	example_expect(nb_ring + nb_refused == nb_local, "the ring lost some");
	return example_end(&ex);
}
