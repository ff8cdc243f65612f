/* SPDX-License-Identifier: BSD-3-Clause */

/* Event groups: forks that join, by one thread; what is refused; what is handed back. */

#include "em_test.h"

#include "weir_em_event_group.h"

#define VALUE(mbuf) (*rte_pktmbuf_mtod(mbuf, uint64_t *))

static struct et_sink joined; /* gets notifications */
static weir_em_pool pool;
static weir_em_queue work_queue;
static weir_em_event_group group;

/* What the object that works does with each call, and has seen. */
static void (*at_work)(struct weir_em_core *core, struct rte_event *events, uint16_t nb);
static unsigned int nb_worked;
static weir_em_event_group seen[256];

static void
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

static void
make(uint16_t burst)
{
	weir_em_object object;

	et_make((struct weir_em_config){
		.nb_queues = 64, .nb_reserved = 16, .nb_events = 1024, .nb_event_groups = 4});
	pool = weir_em_pool_create(
		et_em, &(struct weir_em_pool_config){
			       .name = "em-groups", .nb = 511, .data_room = 256, .socket_id = -1});
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
}

static struct rte_event
buffer(uint64_t value)
{
	struct rte_mbuf *mbuf = weir_em_alloc(et_core, pool, sizeof(value));

	assert_non_null(mbuf);
	VALUE(mbuf) = value;
	return weir_em_event_buffer(mbuf);
}

static void
send_to(weir_em_event_group to, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		struct rte_event event = buffer(i);

		assert_int_equal(weir_em_event_group_send(et_core, work_queue, &event, 1, to), 1);
	}
}

static struct weir_em_notification
tell(uint64_t value)
{
	return (struct weir_em_notification){
		.queue = joined.queue, .event = weir_em_event_u64(value)};
}

static void
apply(uint32_t count, uint64_t value)
{
	struct weir_em_notification notification = tell(value);

	assert_int_equal(weir_em_event_group_apply(et_em, group, count, &notification, 1), 0);
}

static struct weir_em_event_group_stats
stats_now(void)
{
	struct weir_em_event_group_stats stats;

	weir_em_event_group_stats(et_em, &stats);
	return stats;
}

/* What there was is gone, and accounted for. */
static void
all_quiet(void)
{
	struct weir_em_event_group_stats stats = stats_now();
	struct weir_em_pool_info info;

	assert_int_equal(stats.nb_applied, stats.nb_completed + stats.nb_aborted);
	assert_int_equal(weir_em_pool_info(et_em, pool, &info), 0);
	assert_int_equal(info.nb_free, info.nb);
	assert_int_equal(weir_sched_reserve(weir_em_sched(et_em), 100), 16);
	weir_sched_unreserve(weir_em_sched(et_em), 16);
	/* what never was in a queue is in no queue's sums */
	if (stats.nb_undeliverable == 0)
		et_check_sums();
}

static void
joins(void **state)
{
	make(1);
	for (unsigned int cycle = 1; cycle <= 10; cycle++) {
		apply(5, cycle);
		send_to(group, 4);
		et_run();
		assert_int_equal(joined.nb, cycle - 1);
		send_to(group, 1);
		et_run();
		assert_int_equal(joined.nb, cycle);
		assert_int_equal(joined.values[cycle - 1], cycle);
	}
	for (unsigned int i = 0; i < nb_worked; i++)
		assert_int_equal(seen[i], group);
	assert_int_equal(stats_now().nb_events, 50);
	assert_int_equal(stats_now().nb_notifications, 10);
	all_quiet();
}

static void
joins_batches(void **state)
{
	weir_em_event_group others;

	make(32);
	others = weir_em_event_group_create(et_em);
	apply(20, 1);
	struct weir_em_notification two = tell(2);
	assert_int_equal(weir_em_event_group_apply(et_em, others, 20, &two, 1), 0);
	for (unsigned int i = 0; i < 10; i++) {
		struct rte_event none = buffer(0), number = weir_em_event_u64(0);

		send_to(group, 2);
		send_to(others, 2);
		assert_int_equal(weir_em_send(et_core, work_queue, &none, 1), 1);
		assert_int_equal(weir_em_send(et_core, work_queue, &number, 1), 1);
	}
	et_run();
	assert_int_equal(joined.nb, 2);
	assert_int_equal(nb_worked, 60);
	for (unsigned int i = 0; i < 60; i++)
		assert_int_equal(seen[i], i % 6 < 2 ? group : (i % 6 < 4 ? others : WEIR_EM_NONE));
	all_quiet();
}

static void
several_notifications(void **state)
{
	struct weir_em_notification eight[WEIR_EM_NOTIFICATIONS_MAX];
	uint64_t sum = 0;

	make(1);
	for (unsigned int i = 0; i < 8; i++)
		eight[i] = tell(1 << i);
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, eight, 8), 0);
	send_to(group, 1);
	et_run();
	for (unsigned int i = 0; i < joined.nb; i++)
		sum += joined.values[i];
	assert_int_equal(joined.nb, 8);
	assert_int_equal(sum, 255);
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, NULL, 0), 0);
	send_to(group, 1);
	et_run();
	assert_int_equal(joined.nb, 8);
	all_quiet();
}

/* ---- within receive functions ---- */

static void
assigns(struct weir_em_core *core, struct rte_event *events, uint16_t nb)
{
	assert_int_equal(weir_em_event_group_current(core), WEIR_EM_NONE);
	assert_int_equal(weir_em_event_group_increment(core, 1), -ENOENT);
	assert_int_equal(weir_em_event_group_assign(core, group), 0);
	assert_int_equal(weir_em_event_group_assign(core, group), -EBUSY);
	assert_int_equal(weir_em_event_group_current(core), group);
}

static void
assigned_events_count(void **state)
{
	make(1);
	apply(3, 7);
	at_work = assigns;
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(joined.nb, 0);
		et_send(work_queue, i);
		et_run();
	}
	assert_int_equal(joined.nb, 1);
	assert_int_equal(weir_em_event_group_assign(et_core, group), -EINVAL);
	assert_int_equal(weir_em_event_group_assign(NULL, group), -EINVAL);
	all_quiet();
}

static void
ends(struct weir_em_core *core, struct rte_event *events, uint16_t nb)
{
	struct weir_em_event_group_info info;

	assert_int_equal(weir_em_event_group_info(et_em, group, &info), 0);
	assert_int_equal(info.count, 1);
	weir_em_event_group_processing_end(core);
	assert_int_equal(weir_em_event_group_current(core), WEIR_EM_NONE);
	assert_int_equal(weir_em_event_group_info(et_em, group, &info), 0);
	assert_int_equal(info.count, 0);
	weir_em_event_group_processing_end(core);
	/* ready for another cycle, in the same call */
	apply(1, 9);
	assert_int_equal(weir_em_event_group_assign(core, group), 0);
}

static void
processing_ends_early(void **state)
{
	make(1);
	apply(1, 8);
	at_work = ends;
	send_to(group, 1);
	et_run();
	assert_int_equal(joined.nb, 2);
	assert_int_equal(joined.values[0], 8);
	assert_int_equal(joined.values[1], 9);
	weir_em_event_group_processing_end(NULL);
	all_quiet();
}

/* Each event makes two more, until there are 63. */
static void
forks(struct weir_em_core *core, struct rte_event *events, uint16_t nb)
{
	uint64_t value = VALUE(events[0].mbuf);

	if (value >= 32)
		return;
	assert_int_equal(weir_em_event_group_increment(core, 2), 0);
	for (uint64_t i = 0; i < 2; i++) {
		struct rte_event event = buffer(2 * value + i);

		assert_int_equal(weir_em_event_group_send(core, work_queue, &event, 1,
					 weir_em_event_group_current(core)),
			1);
	}
}

static void
increments(void **state)
{
	struct rte_event event;

	make(1);
	apply(1, 1);
	at_work = forks;
	event = buffer(1);
	assert_int_equal(weir_em_event_group_send(et_core, work_queue, &event, 1, group), 1);
	et_run();
	assert_int_equal(nb_worked, 63);
	assert_int_equal(joined.nb, 1);
	assert_int_equal(weir_em_event_group_increment(et_core, 1), -ENOENT);
	assert_int_equal(weir_em_event_group_increment(et_core, 0), -EINVAL);
	assert_int_equal(weir_em_event_group_increment(NULL, 1), -EINVAL);
	all_quiet();
}

/* The first goes on to the same queue, in the group; the second time it comes it is done. */
static void
goes_on(struct weir_em_core *core, struct rte_event *events, uint16_t nb)
{
	weir_em_event_group to = WEIR_EM_NONE;

	if (VALUE(events[0].mbuf)-- == 0)
		return;
	if (VALUE(events[0].mbuf) > 0)
		to = weir_em_event_group_current(core);
	if (to == WEIR_EM_NONE) {
		assert_int_equal(weir_em_forward(core, work_queue, &events[0]), 0);
	} else {
		assert_int_equal(weir_em_event_group_increment(core, 1), 0);
		assert_int_equal(
			weir_em_event_group_forward(core, work_queue, &events[0], 1, to), 1);
	}
	events[0].event_type = RTE_EVENT_TYPE_CPU; /* not freed by work() */
}

static void
forwards(void **state)
{
	struct rte_event event;

	make(1);
	apply(1, 1);
	at_work = goes_on;
	event = buffer(3);
	assert_int_equal(weir_em_event_group_send(et_core, work_queue, &event, 1, group), 1);
	et_run();
	/* received four times, the last one without the group */
	assert_int_equal(nb_worked, 4);
	assert_int_equal(seen[2], group);
	assert_int_equal(seen[3], WEIR_EM_NONE);
	assert_int_equal(stats_now().nb_events, 3);
	assert_int_equal(joined.nb, 1);
	all_quiet();
}

/* ---- abort, too many, too late ---- */

static void
aborted_events_count_nothing(void **state)
{
	struct weir_em_notification back[2];
	unsigned int nb = 0;

	make(1);
	apply(3, 11);
	send_to(group, 3);
	assert_int_equal(weir_em_event_group_abort(et_em, group, back, 0, &nb), -ENOSPC);
	assert_int_equal(weir_em_event_group_abort(et_em, group, back, 2, &nb), 0);
	assert_int_equal(nb, 1);
	assert_int_equal(back[0].queue, joined.queue);
	assert_int_equal(back[0].event.u64, 11);
	assert_int_equal(weir_em_event_group_abort(et_em, group, back, 2, &nb), -EALREADY);
	/* three of the old cycle pass, and do not end the new one */
	apply(3, 12);
	et_run();
	assert_int_equal(nb_worked, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(seen[i], WEIR_EM_NONE);
	assert_int_equal(joined.nb, 0);
	assert_int_equal(stats_now().nb_stale, 3);
	send_to(group, 3);
	et_run();
	assert_int_equal(joined.nb, 1);
	assert_int_equal(joined.values[0], 12);
	all_quiet();
}

static void
aborted_buffers_are_freed(void **state)
{
	struct weir_em_notification notification = {.queue = 0};

	make(1);
	notification = (struct weir_em_notification){joined.queue, buffer(1)};
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, &notification, 1), 0);
	assert_int_equal(weir_em_event_group_abort(et_em, group, NULL, 0, NULL), 0);
	all_quiet();
}

static void
too_many_events(void **state)
{
	make(1);
	apply(2, 1);
	send_to(group, 5);
	et_run();
	assert_int_equal(nb_worked, 5);
	assert_int_equal(joined.nb, 1);
	assert_int_equal(stats_now().nb_excess, 3);
	assert_int_equal(stats_now().nb_events, 2);
	assert_int_equal(seen[4], WEIR_EM_NONE);
	all_quiet();
}

static void
a_tag_is_used_once(void **state)
{
	struct rte_event event;
	struct weir_em_notification notification;

	make(1);
	apply(2, 1);
	/* a notification that was in a group before is in none */
	event = buffer(0);
	assert_int_equal(weir_em_event_group_send(et_core, joined.queue, &event, 1, group), 1);
	et_run();
	assert_int_equal(joined.nb, 1);
	send_to(group, 1);
	notification = (struct weir_em_notification){work_queue, event};
	weir_em_event_group_abort(et_em, group, NULL, 0, NULL);
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, &notification, 1), 0);
	send_to(group, 1);
	et_run();
	assert_int_equal(nb_worked, 3);
	assert_int_equal(seen[2], WEIR_EM_NONE);
	assert_int_equal(stats_now().nb_stale, 1);
	all_quiet();
}

static void
dropped_events_count(void **state)
{
	make(1);
	apply(3, 1);
	send_to(group, 3);
	assert_int_equal(weir_em_queue_disable(et_em, et_core, work_queue), 0);
	et_run();
	assert_int_equal(nb_worked, 0);
	assert_int_equal(joined.nb, 1);
	all_quiet();
}

static void
queue_of_a_notification_is_deleted(void **state)
{
	struct weir_em_notification notification;

	make(1);
	notification =
		(struct weir_em_notification){et_queue("gone", WEIR_EM_QUEUE_ATOMIC, 0), buffer(1)};
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, &notification, 1), 0);
	assert_int_equal(weir_em_queue_delete(et_em, notification.queue), 0);
	send_to(group, 1);
	et_run();
	assert_int_equal(stats_now().nb_undeliverable, 1);
	assert_int_equal(stats_now().nb_completed, 1);
	assert_int_equal(et_stats().nb_dropped[WEIR_EM_DROP_DELETED], 1);
	/* and the group is not the worse for it */
	apply(1, 5);
	send_to(group, 1);
	et_run();
	assert_int_equal(joined.nb, 1);
	all_quiet();
}

/* However full it is: credits were reserved. */
static void
notifications_are_not_refused(void **state)
{
	struct rte_event event = weir_em_event_u64(0);
	unsigned int nb = 0;

	make(1);
	apply(1, 77);
	send_to(group, 1);
	while (weir_em_send(et_core, work_queue, &event, 1) == 1)
		nb++;
	assert_true(nb >= 256);
	et_run();
	assert_int_equal(joined.nb, 1);
	/* no more than there are */
	struct weir_em_notification eight[8];

	for (unsigned int i = 0; i < 8; i++)
		eight[i] = tell(i);
	weir_em_event_group others[3];
	for (unsigned int i = 0; i < 3; i++) {
		others[i] = weir_em_event_group_create(et_em);
		assert_int_equal(weir_em_event_group_apply(et_em, others[i], 1, eight, 8),
			i < 2 ? 0 : -ENOSPC);
	}
	assert_int_equal(weir_em_event_group_apply(et_em, others[2], 1, NULL, 0), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(weir_em_event_group_abort(et_em, others[i], NULL, 0, NULL), 0);
	all_quiet();
}

/* ---- what is refused ---- */

static void
bad_handles(void **state)
{
	static const uint64_t bad[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, 0x123456789abcdef0};
	struct weir_em_event_group_info info;
	struct weir_em_notification one;
	struct rte_event event;

	make(1);
	one = tell(1);
	event = buffer(1);
	for (unsigned int i = 0; i < RTE_DIM(bad) + 2; i++) {
		weir_em_event_group none = i < RTE_DIM(bad)    ? bad[i]
					   : i == RTE_DIM(bad) ? (uint64_t)work_queue
							       : group + (UINT64_C(1) << 24);
		int wanted = i <= RTE_DIM(bad) ? -EINVAL : -ESTALE;

		assert_int_equal(weir_em_event_group_apply(et_em, none, 1, &one, 1), wanted);
		assert_int_equal(weir_em_event_group_abort(et_em, none, NULL, 0, NULL), wanted);
		assert_int_equal(weir_em_event_group_delete(et_em, none), wanted);
		assert_int_equal(weir_em_event_group_info(et_em, none, &info), wanted);
		assert_int_equal(weir_em_event_group_send(et_core, work_queue, &event, 1, none), 0);
		assert_int_equal(rte_errno, -wanted);
		assert_int_equal(
			weir_em_event_group_forward(et_core, work_queue, &event, 1, none), 0);
		assert_int_equal(rte_errno, -wanted);
	}
	weir_em_free(et_em, et_core, event.mbuf);
	assert_int_equal(weir_em_event_group_create(NULL), WEIR_EM_NONE);
	assert_int_equal(weir_em_event_group_apply(NULL, group, 1, NULL, 0), -EINVAL);
	assert_int_equal(weir_em_event_group_abort(NULL, group, NULL, 0, NULL), -EINVAL);
	assert_int_equal(weir_em_event_group_delete(NULL, group), -EINVAL);
	assert_int_equal(weir_em_event_group_info(et_em, group, NULL), -EINVAL);
	assert_int_equal(weir_em_event_group_send(NULL, work_queue, &event, 1, group), 0);
	assert_int_equal(weir_em_event_group_current(NULL), WEIR_EM_NONE);
	weir_em_event_group_stats(et_em, NULL);
	all_quiet();
}

static void
bad_arguments(void **state)
{
	struct weir_em_notification bad[9];
	struct rte_event event = weir_em_event_u64(1);
	weir_em_queue ring;

	make(1);
	ring = et_queue("ring", WEIR_EM_QUEUE_UNSCHEDULED, 0);
	for (unsigned int i = 0; i < 9; i++)
		bad[i] = tell(1);
	assert_int_equal(weir_em_event_group_apply(et_em, group, 0, NULL, 0), -EINVAL);
	assert_int_equal(
		weir_em_event_group_apply(et_em, group, WEIR_EM_EVENT_GROUP_COUNT_MAX + 1, NULL, 0),
		-EINVAL);
	assert_int_equal(weir_em_event_group_apply(et_em, group, UINT32_MAX, NULL, 0), -EINVAL);
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, NULL, 1), -EINVAL);
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, bad, 9), -EINVAL);
	bad[1].queue = ring;
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, bad, 2), -ENOTSUP);
	bad[1].queue = 0;
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, bad, 2), -EINVAL);
	/* no cycle is under way */
	event = buffer(0);
	assert_int_equal(weir_em_event_group_send(et_core, work_queue, &event, 1, group), 0);
	assert_int_equal(rte_errno, ENOENT);
	assert_int_equal(
		weir_em_event_group_apply(et_em, group, WEIR_EM_EVENT_GROUP_COUNT_MAX, bad, 1), 0);
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, bad, 1), -EBUSY);
	assert_int_equal(weir_em_event_group_delete(et_em, group), -EBUSY);
	assert_int_equal(weir_em_event_group_send(et_core, ring, &event, 1, group), 0);
	assert_int_equal(rte_errno, ENOTSUP);
	weir_em_free(et_em, et_core, event.mbuf);
	/* no buffer */
	event = weir_em_event_u64(0);
	assert_int_equal(weir_em_event_group_send(et_core, work_queue, &event, 1, group), 0);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(weir_em_event_group_abort(et_em, group, NULL, 0, NULL), 0);
	all_quiet();
}

static void
handles_are_not_used_again(void **state)
{
	weir_em_event_group groups[4], old = WEIR_EM_NONE;
	unsigned int nb = 0;

	make(1);
	groups[0] = group;
	for (unsigned int i = 1; i < 4; i++)
		groups[i] = weir_em_event_group_create(et_em);
	assert_int_equal(weir_em_event_group_create(et_em), WEIR_EM_NONE);
	assert_int_equal(rte_errno, ENOSPC);
	for (weir_em_event_group g = weir_em_event_group_next(et_em, WEIR_EM_NONE);
		g != WEIR_EM_NONE; g = weir_em_event_group_next(et_em, g))
		assert_int_equal(g, groups[nb++]);
	assert_int_equal(nb, 4);
	assert_int_equal(stats_now().nb_groups, 4);
	/* an event of the group waits while its place is given to another one */
	apply(1, 1);
	send_to(group, 1);
	assert_int_equal(weir_em_event_group_abort(et_em, group, NULL, 0, NULL), 0);
	for (unsigned int i = 0; i < 1000; i++) {
		old = group;
		assert_int_equal(weir_em_event_group_delete(et_em, group), 0);
		assert_int_equal(weir_em_event_group_delete(et_em, group), -ESTALE);
		group = weir_em_event_group_create(et_em);
		assert_int_not_equal(group, old);
		assert_int_equal(weir_em_event_group_apply(et_em, old, 1, NULL, 0), -ESTALE);
	}
	apply(1, 2);
	et_run();
	assert_int_equal(joined.nb, 0);
	assert_int_equal(stats_now().nb_stale, 1);
	send_to(group, 1);
	et_run();
	assert_int_equal(joined.nb, 1);
	all_quiet();
}

static unsigned int nb_drained;
static uint64_t drained_sum;

static void
drain(void *arg, weir_em_queue queue, struct rte_event *event)
{
	assert_int_equal(queue, joined.queue);
	nb_drained++;
	drained_sum += event->u64;
}

static void
the_end_hands_back(void **state)
{
	struct weir_em_notification two[2];

	make(1);
	two[0] = tell(40);
	two[1] = tell(2);
	nb_drained = 0;
	drained_sum = 0;
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, two, 2), 0);
	assert_int_equal(weir_em_pool_delete(et_em, pool), 0);
	assert_int_equal(weir_em_core_detach(et_core), 0);
	et_core = NULL;
	assert_int_equal(weir_em_destroy(et_em, drain, NULL), 0);
	et_em = NULL;
	assert_int_equal(nb_drained, 2);
	assert_int_equal(drained_sum, 42);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(joins),
		ET_TEST(joins_batches),
		ET_TEST(several_notifications),
		ET_TEST(assigned_events_count),
		ET_TEST(processing_ends_early),
		ET_TEST(increments),
		ET_TEST(forwards),
		ET_TEST(aborted_events_count_nothing),
		ET_TEST(aborted_buffers_are_freed),
		ET_TEST(too_many_events),
		ET_TEST(a_tag_is_used_once),
		ET_TEST(dropped_events_count),
		ET_TEST(queue_of_a_notification_is_deleted),
		ET_TEST(notifications_are_not_refused),
		ET_TEST(bad_handles),
		ET_TEST(bad_arguments),
		ET_TEST(handles_are_not_used_again),
		ET_TEST(the_end_hands_back),
	};

	return ST_RUN("em-event_group", tests);
}
