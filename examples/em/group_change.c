/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Group change: the cores that serve some queues are changed all the time, under load.
 *
 * Events go round in atomic queues of a queue group. Every few milliseconds main() gives the group other cores, none at all
 * now and then. Receive functions check that they run on cores of the group only, and that each queue's order holds.
 *
 * What to learn from it: queue groups say where queues may run; when weir_em_queue_group_modify() returns, the change is complete: what a
 * core used to have for itself may be used by others. Events of a group without cores wait.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>

#include "example.h"

#define NB_QUEUES 8
#define NB_EVENTS 16         /* of each queue */
#define NEW       UINT64_MAX /* an event that has no number yet */

/* Of one queue, which is atomic: nobody else touches it meanwhile. */
struct lane {
	uint64_t next, nb_sent;
} __rte_cache_aligned;

static struct lane lanes[NB_QUEUES];
static uint64_t allowed; /* cores that may have events now */
static uint64_t nb[64];  /* events of each core */

static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb_events,
	weir_em_queue queue, void *queue_context)
{
	struct lane *lane = queue_context;
	unsigned int id = weir_em_core_id(core);

	example_expect((__atomic_load_n(&allowed, __ATOMIC_RELAXED) >> id & 1) != 0,
		"core %u is not in the group", id);
	example_expect(events[0].u64 == NEW || events[0].u64 == lane->next,
		"event %" PRIu64 " where %" PRIu64 " is next", events[0].u64, lane->next);
	lane->next += events[0].u64 != NEW;
	__atomic_fetch_add(&nb[id], 1, __ATOMIC_RELAXED);
	if (example_over())
		return;
	events[0].u64 = lane->nb_sent++;
	weir_em_forward(core, queue, &events[0]);
}

static uint64_t
total(const struct example *ex)
{
	uint64_t sum = 0;

	for (unsigned int id = 0; id < ex->nb_cores; id++)
		sum += __atomic_load_n(&nb[id], __ATOMIC_RELAXED);
	return sum;
}

/* While it is under way, cores of before and after may have events. */
static void
change(struct example *ex, weir_em_queue_group group, uint64_t cores)
{
	uint64_t before;

	__atomic_fetch_or(&allowed, cores, __ATOMIC_RELAXED);
	example_must(weir_em_queue_group_modify(ex->em, ex->core, group, cores) == 0,
		"other cores for the group");
	__atomic_store_n(&allowed, cores, __ATOMIC_RELAXED);
	before = total(ex);
	example_dispatch(ex, 0.003);
	example_expect(cores != 0 || total(ex) == before, "events without cores");
}

static weir_em_queue_group
make(struct example *ex)
{
	weir_em_queue_group group = weir_em_queue_group_create(ex->em, "changing", allowed);
	weir_em_object object = weir_em_object_create(
		ex->em, &(struct weir_em_object_config){.name = "counter", .receive = receive});

	example_must(group != WEIR_EM_NONE && object != WEIR_EM_NONE, "a group and an object");
	example_must(weir_em_object_start(ex->em, ex->core, object, NULL) == 0, "counter");
	for (unsigned int i = 0; i < NB_QUEUES; i++) {
		weir_em_queue queue = weir_em_queue_create(
			ex->em, &(struct weir_em_queue_config){.type = WEIR_EM_QUEUE_ATOMIC,
					.group = group,
					.context = &lanes[i]});

		example_must(weir_em_object_add_queue(ex->em, object, queue) == 0, "a queue");
		for (unsigned int k = 0; k < NB_EVENTS; k++) {
			struct rte_event event = weir_em_event_u64(NEW);

			example_must(weir_em_send(ex->core, queue, &event, 1) == 1, "an event");
		}
	}
	return group;
}

int
main(int argc, char **argv)
{
	struct example ex = {
		.about = "the cores that serve some queues are changed all the time, under load."};
	weir_em_queue_group group;
	unsigned int nb_changes = 0;
	uint64_t all;

	example_begin(&ex, argc, argv,
		(struct weir_em_config){
			.nb_queues = NB_QUEUES, .types = 1u << WEIR_EM_QUEUE_ATOMIC});
	all = (UINT64_C(1) << ex.nb_cores) - 1;
	allowed = all;
	group = make(&ex);
	for (double left = ex.seconds; left > 0; left -= 0.003, nb_changes++)
		change(&ex, group, (uint64_t)rand() & all);
	change(&ex, group, all); /* or they would wait for ever */
	example_stop(&ex);
	for (unsigned int id = 0; id < ex.nb_cores; id++)
		printf("core %u: %" PRIu64 " events\n", id, nb[id]);
	printf("%u changes%s\n", nb_changes,
		example_held() ? ", all in order, on cores of the group only" : "");
	for (unsigned int i = 0; i < NB_QUEUES; i++)
		example_expect(lanes[i].next > 0 && lanes[i].next == lanes[i].nb_sent,
			"%" PRIu64 " of %" PRIu64 " came", lanes[i].next, lanes[i].nb_sent);
	return example_end(&ex);
}
