/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ordered: work is done anywhere, in parallel, and what comes of it is in order again.
 *
 *     search (ordered, all cores at a time) --> collect (atomic, in order) --.
 *        ^                                                                   |
 *        '------------------ the item, for the next block -------------------'
 *
 * Which number below N has the longest Collatz chain (n/2 if even, else 3n+1, until it is 1)? Some blocks of numbers take
 * longer than others, so later ones are done first; those who collect never notice.
 *
 * What to learn from it: an ordered queue takes no care of its own: an event that is forwarded waits for those before it, no core
 * does; events may carry pointers to anything.
 */
#include <inttypes.h>
#include <stdio.h>

#include <rte_common.h>

#include "example.h"

#define NB_ITEMS 64 /* on their way at a time */
#define BLOCK    64 /* numbers of each */
#define NEW      UINT64_MAX

struct item {
	uint64_t block;             /* its number: the order; NEW: it has none yet */
	uint64_t longest, nb_steps; /* what was found */
};

static weir_em_queue search_queue, collect_queue;
static struct item items[NB_ITEMS];
static uint64_t last_done, nb_overtaken;                /* all cores */
static uint64_t nb_begun, nb_blocks, longest, nb_steps; /* of collect() alone */

static unsigned int
chain(uint64_t number)
{
	unsigned int steps = 0;

	for (; number > 1; number = number % 2 == 0 ? number / 2 : 3 * number + 1)
		steps++;
	return steps;
}

static void
search(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct item *item = events[0].event_ptr;
	uint64_t number = item->block * BLOCK + 1;

	item->nb_steps = 0;
	item->longest = number;
	for (uint64_t end = number + BLOCK; number < end; number++) {
		unsigned int steps = chain(number);

		if (steps > item->nb_steps) {
			item->nb_steps = steps;
			item->longest = number;
		}
	}
	/* Has a later one been done? To show that there is something to put in order. */
	if (__atomic_exchange_n(&last_done, item->block, __ATOMIC_RELAXED) > item->block)
		__atomic_fetch_add(&nb_overtaken, 1, __ATOMIC_RELAXED);
	weir_em_forward(core, collect_queue, &events[0]);
}

static void
keep(const struct item *item)
{
	example_expect(item->block == nb_blocks, "block %" PRIu64 " where %" PRIu64 " is next",
		item->block, nb_blocks);
	nb_blocks++;
	if (item->nb_steps > nb_steps) { /* the first of them: the order matters */
		nb_steps = item->nb_steps;
		longest = item->longest;
	}
}

static void
collect(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct item *item = events[0].event_ptr;

	if (item->block != NEW)
		keep(item);
	if (example_over())
		return; /* an event that is not sent on is released */
	item->block = nb_begun++;
	weir_em_forward(core, search_queue, &events[0]);
}

int
main(int argc, char **argv)
{
	struct example ex = {
		.about = "work is done anywhere, in parallel, and what comes of it is in order "
			 "again.",
		.burst = 1, /* what a core has taken, idle ones cannot have */
	};

	example_begin(&ex, argc, argv, (struct weir_em_config){.nb_queues = 2});
	collect_queue = example_serve(&ex,
		(struct weir_em_queue_config){.name = "collect", .type = WEIR_EM_QUEUE_ATOMIC},
		(struct weir_em_object_config){.receive = collect});
	search_queue = example_serve(&ex,
		(struct weir_em_queue_config){.name = "search", .type = WEIR_EM_QUEUE_ORDERED},
		(struct weir_em_object_config){.receive = search});
	for (unsigned int i = 0; i < NB_ITEMS; i++) {
		struct rte_event event = weir_em_event_ptr(&items[i]);

		items[i].block = NEW;
		example_must(weir_em_send(ex.core, collect_queue, &event, 1) == 1, "an event");
	}
	example_run(&ex);
	example_expect(nb_blocks > 0 && nb_blocks == nb_begun, "not all came");
	printf("%" PRIu64 " blocks, all in order, though %" PRIu64 " were done after a later one\n"
	       "longest chain up to %" PRIu64 ": from %" PRIu64 ", %" PRIu64 " steps\n",
		nb_blocks, nb_overtaken, nb_blocks * BLOCK, longest, nb_steps);
	return example_end(&ex);
}
