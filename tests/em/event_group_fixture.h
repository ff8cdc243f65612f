/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EVENT_GROUP_FIXTURE_H
#define EVENT_GROUP_FIXTURE_H

/* An event group, an object that works on its events, and one that is told when they have been processed. */

#include "em_test.h"

#include "weir_em_event_group.h"

#define VALUE(mbuf) (*rte_pktmbuf_mtod(mbuf, uint64_t *))

static struct et_sink joined; /* gets notifications */
static weir_em_pool pool;
static weir_em_queue work_queue;
static weir_em_event_group group;
static uint32_t nb_credits; /* reserved */

/* What the object that works does with each call, and has seen. */
static void (*at_work)(struct weir_em_core *core, struct rte_event *events, uint16_t nb);
static unsigned int nb_worked;
static weir_em_event_group seen[256];

static inline void
work(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	for (uint16_t i = 0; i < nb; i++)
		seen[nb_worked++ % RTE_DIM(seen)] = weir_em_event_group_current(core);
	if (at_work != NULL)
		at_work(core, events, nb);
	for (uint16_t i = 0; i < nb; i++)
		if (events[i].event_type == WEIR_EM_EVENT_BUFFER)
			weir_em_free(et_em, core, events[i].mbuf);
}

static inline void
make_with(uint16_t burst, uint32_t nb_reserved)
{
	weir_em_object object;

	et_make((struct weir_em_config){.nb_queues = 64,
		.nb_reserved = nb_reserved,
		.nb_events = 1024,
		.nb_event_groups = 4});
	pool = weir_em_pool_create(et_em, &(struct weir_em_pool_config){.name = "em-groups",
						  .nb = 511,
						  .data_room = 256,
						  .socket_id = -1,
						  .ops = "ring_mt_rts"});
	assert_int_not_equal(pool, WEIR_EM_NONE);
	et_sink_make(&joined, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	work_queue = et_queue("work", WEIR_EM_QUEUE_ATOMIC, 0);
	object = weir_em_object_create(et_em,
		&(struct weir_em_object_config){.name = "work", .receive = work, .burst = burst});
	assert_int_equal(weir_em_object_add_queue(et_em, object, work_queue), 0);
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
	group = weir_em_event_group_create(et_em);
	assert_int_not_equal(group, WEIR_EM_NONE);
	at_work = NULL;
	nb_worked = 0;
	nb_credits = nb_reserved;
}

static inline void
make(uint16_t burst)
{
	make_with(burst, 16);
}

static inline struct rte_event
buffer(uint64_t value)
{
	struct rte_mbuf *mbuf = weir_em_alloc(et_core, pool, sizeof(value));

	assert_non_null(mbuf);
	VALUE(mbuf) = value;
	return weir_em_event_buffer(mbuf);
}

static inline void
send_to(weir_em_event_group to, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		struct rte_event event = buffer(i);

		assert_int_equal(weir_em_event_group_send(et_core, work_queue, &event, 1, to), 1);
	}
}

static inline struct weir_em_notification
tell(uint64_t value)
{
	return (struct weir_em_notification){
		.queue = joined.queue, .event = weir_em_event_u64(value)};
}

static inline void
apply(uint32_t count, uint64_t value)
{
	struct weir_em_notification notification = tell(value);

	assert_int_equal(weir_em_event_group_apply(et_em, group, count, &notification, 1), 0);
}

static inline struct weir_em_event_group_stats
stats_now(void)
{
	struct weir_em_event_group_stats stats;

	weir_em_event_group_stats(et_em, &stats);
	return stats;
}

/* What there was is gone: buffers, credits. */
static inline void
nothing_is_left(void)
{
	struct weir_em_event_group_stats stats = stats_now();
	struct weir_em_pool_info info;

	assert_int_equal(stats.nb_applied, stats.nb_completed + stats.nb_aborted);
	assert_int_equal(weir_em_pool_info(et_em, pool, &info), 0);
	assert_int_equal(info.nb_free, info.nb);
	assert_int_equal(weir_sched_reserve(weir_em_sched(et_em), 100), nb_credits);
	weir_sched_unreserve(weir_em_sched(et_em), nb_credits);
}

/* And accounted for. */
static inline void
all_quiet(void)
{
	nothing_is_left();
	/* what never was in a queue is in no queue's sums */
	if (stats_now().nb_undeliverable == 0)
		et_check_sums();
}

#endif
