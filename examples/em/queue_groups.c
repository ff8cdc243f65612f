/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue groups: does it pay to keep work on one core?
 *
 * 64 atomic queues, events that go round in them. First all cores serve all queues, then each core has a queue group with a share of
 * them of its own: nothing moves from cache to cache then, but a core that is done early cannot help others.
 *
 * What to learn from it: groups are how to lay work on cores; what balancing costs, here and now.
 */
#include <inttypes.h>
#include <stdio.h>

#include <rte_common.h>

#include "example.h"

#define NB_QUEUES 64
#define NB_EVENTS 16 /* of each */
#define BURST     32

/* Of one queue: some state that goes where its events go. */
struct account {
	uint64_t nb_events;
} __rte_cache_aligned;

static struct account accounts[NB_QUEUES];
static uint64_t nb_strangers; /* events on a core that is not in its queue's group */
static bool is_over, is_split;

static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct account *account = queue_context;
	unsigned int nb_cores = (unsigned int)(uintptr_t)context;

	account->nb_events += nb;
	if (__atomic_load_n(&is_split, __ATOMIC_RELAXED) &&
		(account - accounts) % nb_cores != weir_em_core_id(core))
		__atomic_fetch_add(&nb_strangers, nb, __ATOMIC_RELAXED);
	if (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		weir_em_forward_burst(core, queue, events, nb);
}

/* Queue i is for group i modulo their number. */
static void
measure(struct example *ex, const weir_em_queue_group *groups, unsigned int nb_groups,
	const char *what)
{
	weir_em_queue queues[NB_QUEUES];
	weir_em_object object =
		weir_em_object_create(ex->em, &(struct weir_em_object_config){.name = what,
						      .receive = receive,
						      .burst = BURST,
						      .context = (void *)(uintptr_t)ex->nb_cores});
	struct rte_event events[NB_EVENTS];

	example_must(weir_em_object_start(ex->em, ex->core, object, NULL) == 0, what);
	__atomic_store_n(&is_over, false, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < NB_QUEUES; i++) {
		queues[i] = weir_em_queue_create(
			ex->em, &(struct weir_em_queue_config){.type = WEIR_EM_QUEUE_ATOMIC,
					.group = groups[i % nb_groups],
					.context = &accounts[i]});
		example_must(weir_em_object_add_queue(ex->em, object, queues[i]) == 0, "a queue");
		for (unsigned int k = 0; k < NB_EVENTS; k++)
			events[k] = weir_em_event_u64(k);
		example_must(weir_em_send(ex->core, queues[i], events, NB_EVENTS) == NB_EVENTS,
			"events");
	}
	example_expect(example_measure(ex, ex->seconds / 2, what) > 0, "nothing came");
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	example_rest(ex);
	weir_em_object_stop(ex->em, ex->core, object, NULL);
	weir_em_object_delete(ex->em, ex->core, object, WEIR_EM_REMOVE_QUEUES);
	for (unsigned int i = 0; i < NB_QUEUES; i++)
		weir_em_queue_delete(ex->em, queues[i]);
}

int
main(int argc, char **argv)
{
	struct example ex = {
		.about = "does it pay to keep work on one core?",
		.burst = BURST,
	};
	weir_em_queue_group all,
		each[7] /* and the default one: 8, unless nb_queue_groups says otherwise */;

	example_begin(&ex, argc, argv,
		(struct weir_em_config){.nb_queues = 2 * NB_QUEUES,
			.types = 1u << WEIR_EM_QUEUE_ATOMIC,
			.priorities = 1u << 0});
	example_must(ex.nb_cores <= RTE_DIM(each), "so many groups");
	all = weir_em_queue_group_default(ex.em);
	measure(&ex, &all, 1, "one group");
	for (unsigned int id = 0; id < ex.nb_cores; id++) {
		char name[16];

		snprintf(name, sizeof(name), "core %u", id);
		each[id] = weir_em_queue_group_create(ex.em, name, UINT64_C(1) << id);
		example_must(each[id] != WEIR_EM_NONE, name);
	}
	is_split = true;
	measure(&ex, each, ex.nb_cores, "a group for each core");
	for (unsigned int id = 0; id < ex.nb_cores; id++)
		example_expect(weir_em_queue_group_delete(ex.em, each[id]) == 0,
			"a group is in use still");
	for (unsigned int i = 0; i < NB_QUEUES; i++)
		example_expect(accounts[i].nb_events > 0, "queue %u: nothing came", i);
	example_expect(nb_strangers == 0, "%" PRIu64 " on other cores", nb_strangers);
	return example_end(&ex);
}
