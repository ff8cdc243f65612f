/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event group chain: when all of some events have been processed, the next ones are sent. Here: sort a million numbers.
 *
 *     64 blocks are sorted --> 32 pairs are merged --> 16 ... --> 1: sorted
 *                         |                       |
 *                a notification, when the last one of the group is done
 *
 * Each link of the chain is a cycle of an event group: it is begun with a count, its events are spread over all cores, and at
 * 0 the group sends a notification to whoever begins the next link.
 *
 * What to learn from it: nobody waits, and nobody counts; what the events of a group wrote can be read by who gets the notification;
 * a group is ready for its next cycle before the notification is sent; notifications need reserved credits, two here, as the next
 * cycle begins while the last one's notification is still held.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include <weir_em_event_group.h>
#include <weir_em_pool.h>

#include "example.h"

#define NB        (1u << 20) /* numbers */
#define NB_BLOCKS 64u

/* A piece of work, in a buffer: events of groups carry their group there. */
struct job {
	const uint32_t *from;
	uint32_t *to;
	uint32_t nb; /* numbers: two sorted halves, or one unsorted block in place */
	bool merge;
};

static uint32_t arrays[2][NB];
static weir_em_queue work_queue, link_queue;
static weir_em_event_group group;
static weir_em_pool pool;
static uint64_t sum, nb_sorted, nb_links;

static int
compare(const void *a, const void *b)
{
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static void
merge(const uint32_t *from, uint32_t *to, uint32_t nb)
{
	uint32_t left = 0, right = nb / 2;

	for (uint32_t i = 0; i < nb; i++)
		if (right == nb || (left < nb / 2 && from[left] <= from[right]))
			to[i] = from[left++];
		else
			to[i] = from[right++];
}

static void
work(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	const struct job *job = rte_pktmbuf_mtod(events[0].mbuf, const struct job *);

	if (job->merge)
		merge(job->from, job->to, job->nb);
	else
		qsort(job->to, job->nb, sizeof(*job->to), compare);
	weir_em_free(weir_em_core_em(core), core, events[0].mbuf);
	/* It counts when this returns. */
}

/* Link 0 sorts blocks, all others merge twice as much at a time as the one before, from one array to the other. */
static void
begin_link(struct weir_em_core *core, unsigned int link)
{
	const struct weir_em_notification next = {
		.queue = link_queue, .event = weir_em_event_u64(link + 1)};
	uint32_t nb_jobs = NB_BLOCKS >> link, nb = NB / nb_jobs;
	struct rte_mbuf *buffers[NB_BLOCKS];
	struct rte_event events[NB_BLOCKS];

	example_must(weir_em_alloc_burst(
			     core, pool, sizeof(struct job), buffers, (uint16_t)nb_jobs) == 0,
		"buffers");
	for (uint32_t i = 0; i < nb_jobs; i++) {
		*rte_pktmbuf_mtod(buffers[i], struct job *) = (struct job){
			.from = &arrays[(link + 1) % 2][i * nb],
			.to = &arrays[link % 2][i * nb],
			.nb = nb,
			.merge = link > 0,
		};
		events[i] = weir_em_event_buffer(buffers[i]);
	}
	example_must(
		weir_em_event_group_apply(weir_em_core_em(core), group, nb_jobs, &next, 1) == 0,
		"a cycle");
	example_must(weir_em_event_group_send(core, work_queue, events, (uint16_t)nb_jobs, group) ==
			     nb_jobs,
		"events");
	nb_links++;
}

static void
fill(void)
{
	static uint64_t seed = 1;

	sum = 0;
	for (uint32_t i = 0; i < NB; i++) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		arrays[0][i] = (uint32_t)(seed >> 32);
		sum += arrays[0][i];
	}
}

static void
look_at(const uint32_t *sorted)
{
	uint64_t now = sorted[0];

	for (uint32_t i = 1; i < NB; i++) {
		example_expect(sorted[i - 1] <= sorted[i], "not sorted at %u", i);
		now += sorted[i];
	}
	example_expect(now == sum, "not the same numbers");
	nb_sorted++;
}

/* Notified: a link is complete. It is the only event in this atomic queue. */
static void
next_link(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	unsigned int link = (unsigned int)events[0].u64;

	if (link > 0 && NB_BLOCKS >> link == 0) { /* that was the last one */
		look_at(arrays[(link - 1) % 2]);
		link = 0;
	}
	if (link == 0) {
		if (example_over() && nb_sorted > 0)
			return;
		fill();
	}
	begin_link(core, link);
}

int
main(int argc, char **argv)
{
	struct rte_event first = weir_em_event_u64(0);
	struct example ex = {
		.about = "a parallel sort: when all events of a step have been processed, the next "
			 "is begun.",
		.burst = 1, /* what a core has taken, idle ones cannot have */
	};

	example_begin(&ex, argc, argv,
		(struct weir_em_config){.nb_queues = 2, .nb_reserved = 2, .nb_event_groups = 1});
	link_queue = example_serve(&ex,
		(struct weir_em_queue_config){.name = "links", .type = WEIR_EM_QUEUE_ATOMIC},
		(struct weir_em_object_config){.receive = next_link});
	work_queue = example_serve(&ex,
		(struct weir_em_queue_config){.name = "work", .type = WEIR_EM_QUEUE_PARALLEL},
		(struct weir_em_object_config){.receive = work});
	pool = weir_em_pool_create(
		ex.em, &(struct weir_em_pool_config){
			       .name = "jobs", .nb = 4 * NB_BLOCKS - 1, .socket_id = -1});
	group = weir_em_event_group_create(ex.em);
	example_must(pool != WEIR_EM_NONE && group != WEIR_EM_NONE, "a pool and a group");
	example_must(weir_em_send(ex.core, link_queue, &first, 1) == 1, "an event");
	example_run(&ex);
	printf("%" PRIu64 " times %u numbers sorted, in %" PRIu64 " links\n", nb_sorted, NB,
		nb_links);
	example_expect(nb_sorted > 0 && nb_links == 7 * nb_sorted, "some links are missing");
	return example_end(&ex);
}
