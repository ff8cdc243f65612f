/* SPDX-License-Identifier: BSD-3-Clause */

/* Event groups: forks that join, by one thread. */

#include "event_group_fixture.h"

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

/* A start function has no events: the group is that of the receive function which starts its object. */
static int
start_ends(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	assert_int_equal(weir_em_event_group_current(core), WEIR_EM_NONE);
	weir_em_event_group_processing_end(core);
	assert_int_equal(weir_em_event_group_increment(core, 1), -ENOENT);
	return 0;
}

static void
starts(struct weir_em_core *core, struct rte_event *events, uint16_t nb)
{
	weir_em_object other = weir_em_object_create(et_em,
		&(struct weir_em_object_config){.receive = et_sink_receive, .start = start_ends});

	assert_int_equal(weir_em_object_start(et_em, core, other, NULL), 0);
	assert_int_equal(weir_em_event_group_current(core), group);
	assert_int_equal(joined.nb, 0);
}

static void
start_functions_have_no_group(void **state)
{
	make(1);
	apply(1, 8);
	at_work = starts;
	send_to(group, 1);
	et_run();
	assert_int_equal(joined.nb, 1);
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

/* A chain of cycles: the receive function of a notification begins the next one. */
static uint64_t nb_cycles, nb_without_credit;

static void
begins_again(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	const struct weir_em_notification next = {.queue = queue, .event = weir_em_event_u64(0)};
	int rc;

	if (++nb_cycles == 5)
		return;
	rc = weir_em_event_group_apply(et_em, group, 1, &next, 1);
	if (rc == 0)
		send_to(group, 1);
	else if (rc == -ENOSPC)
		nb_without_credit++;
	assert_true(rc == 0 || rc == -ENOSPC);
}

/* The notification at hand has its credit still: another one is needed. */
static void
chain(uint32_t nb_reserved)
{
	struct weir_em_notification first = {.event = weir_em_event_u64(0)};

	make_with(1, nb_reserved);
	nb_cycles = nb_without_credit = 0;
	first.queue = et_serve("chain", WEIR_EM_QUEUE_ATOMIC, begins_again, NULL);
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, &first, 1), 0);
	send_to(group, 1);
	et_run();
}

static void
a_chain_takes_two_credits(void **state)
{
	chain(2);
	assert_int_equal(nb_cycles, 5);
	assert_int_equal(nb_without_credit, 0);
	all_quiet();
}

static void
a_chain_with_one_credit_is_refused(void **state)
{
	st_builtin_only(); /* over devices, others' credits will do */
	chain(1);
	assert_int_equal(nb_cycles, 1);
	assert_int_equal(nb_without_credit, 1);
	all_quiet();
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
		ET_TEST(start_functions_have_no_group),
		ET_TEST(increments),
		ET_TEST(forwards),
		ET_TEST(aborted_events_count_nothing),
		ET_TEST(aborted_buffers_are_freed),
		ET_TEST(too_many_events),
		ET_TEST(a_tag_is_used_once),
		ET_TEST(dropped_events_count),
		ET_TEST(queue_of_a_notification_is_deleted),
		ET_TEST(notifications_are_not_refused),
		ET_TEST(a_chain_takes_two_credits),
		ET_TEST(a_chain_with_one_credit_is_refused),
	};

	return ST_RUN("em-event_group", tests);
}
