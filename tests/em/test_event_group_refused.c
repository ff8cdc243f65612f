/* SPDX-License-Identifier: BSD-3-Clause */

/* Event groups: what is refused, what is handed back. */

#include "event_group_fixture.h"

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
		ET_TEST(bad_handles),
		ET_TEST(bad_arguments),
		ET_TEST(handles_are_not_used_again),
		ET_TEST(the_end_hands_back),
	};

	return ST_RUN("em-event_group_refused", tests);
}
