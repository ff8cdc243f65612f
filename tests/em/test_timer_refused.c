/* SPDX-License-Identifier: BSD-3-Clause */

/* Timers: their end, what is handed back then; what is refused. */

#include "timer_fixture.h"

static unsigned int nb_back;
static uint64_t back_sum;
static weir_em_timeout back_timeouts[64];

static void
take_back(void *arg, weir_em_timeout timeout, struct rte_event *event)
{
	assert_ptr_equal(arg, &nb_back);
	back_timeouts[nb_back++] = timeout;
	back_sum += event->u64;
}

static void
a_timer_ends(void **state)
{
	weir_em_timeout timeouts[30];
	weir_em_timer other;

	make();
	nb_back = 0;
	back_sum = 0;
	other = weir_em_timer_create(et_em, &(struct weir_em_timer_config){.name = "other"});
	for (unsigned int i = 0; i < 30; i++) {
		timeouts[i] = i == 29 ? weir_em_timeout_create(et_em, other, fired.queue)
				      : timeout_make();
		if (i % 3 == 0 || i == 29)
			arm(timeouts[i], (i == 29 ? 30 : 100000) * MS, i);
	}
	assert_int_equal(weir_em_timer_delete(et_em, timer, take_back, &nb_back), 0);
	assert_int_equal(nb_back, 10);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(back_timeouts[i], timeouts[3 * i]);
	assert_int_equal(back_sum, 3 * 45);
	assert_int_equal(weir_em_timer_delete(et_em, timer, NULL, NULL), -ESTALE);
	for (unsigned int i = 0; i < 29; i++)
		assert_int_equal(weir_em_timeout_cancel(et_em, timeouts[i], NULL), -ESTALE);
	assert_int_equal(weir_em_timeout_create(et_em, timer, fired.queue), WEIR_EM_NONE);
	assert_int_equal(rte_errno, ESTALE);
	/* others go on */
	until(1);
	assert_int_equal(fired.values[0], 29);
	timer = other;
	all_quiet(0);
	assert_int_equal(weir_em_timer_next(et_em, WEIR_EM_NONE), other);
	assert_int_equal(weir_em_timer_next(et_em, other), WEIR_EM_NONE);
}

static void
drain(void *arg, weir_em_queue queue, struct rte_event *event)
{
	assert_int_equal(queue, fired.queue);
	nb_back++;
	back_sum += event->u64;
}

static void
the_machine_ends(void **state)
{
	make();
	nb_back = 0;
	back_sum = 0;
	for (unsigned int i = 0; i < 20; i++)
		arm(timeout_make(), 100000 * MS, i);
	assert_int_equal(weir_em_core_detach(et_core), 0);
	et_core = NULL;
	assert_int_equal(weir_em_destroy(et_em, drain, NULL), 0);
	et_em = NULL;
	assert_int_equal(nb_back, 20);
	assert_int_equal(back_sum, 190);
}

static void
buffers_are_freed(void **state)
{
	weir_em_pool pool;
	struct weir_em_pool_info info;
	weir_em_timeout timeouts[3];

	make();
	pool = weir_em_pool_create(
		et_em, &(struct weir_em_pool_config){
			       .name = "em-timers", .nb = 63, .data_room = 256, .socket_id = -1});
	for (unsigned int i = 0; i < 3; i++) {
		struct rte_event event = weir_em_event_buffer(weir_em_alloc(et_core, pool, 8));

		timeouts[i] = timeout_make();
		assert_int_equal(
			weir_em_timeout_arm_in(et_em, et_core, timeouts[i], 100000 * MS, &event),
			0);
	}
	assert_int_equal(weir_em_timeout_cancel(et_em, timeouts[0], NULL), 0);
	assert_int_equal(weir_em_timer_delete(et_em, timer, NULL, NULL), 0);
	assert_int_equal(weir_em_pool_info(et_em, pool, &info), 0);
	assert_int_equal(info.nb_free, 63);
}

/* ---- what is refused ---- */

static void
bad_handles(void **state)
{
	static const uint64_t bad[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, 0x123456789abcdef0};
	struct rte_event event = weir_em_event_u64(0);
	struct weir_em_timeout_info info;
	struct weir_em_timer_info timer_info;
	struct weir_em_timer_stats *stats = calloc(1, sizeof(*stats));
	weir_em_timeout stale;

	make();
	stale = timeout_make();
	assert_int_equal(weir_em_timeout_delete(et_em, stale), 0);
	for (unsigned int i = 0; i < RTE_DIM(bad) + 2; i++) {
		uint64_t none = i < RTE_DIM(bad) ? bad[i] : i == RTE_DIM(bad) ? timer : stale;
		int wanted = none == stale ? -ESTALE : -EINVAL;

		assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, none, 1, &event), wanted);
		assert_int_equal(weir_em_timeout_arm_at(et_em, et_core, none, 1, &event), wanted);
		assert_int_equal(
			weir_em_timeout_arm_periodic(et_em, et_core, none, 1, 1, &event), wanted);
		assert_int_equal(weir_em_timeout_ack(et_em, et_core, none, &event, NULL), wanted);
		assert_int_equal(weir_em_timeout_cancel(et_em, none, &event), wanted);
		assert_int_equal(weir_em_timeout_delete(et_em, none), wanted);
		assert_int_equal(weir_em_timeout_info(et_em, none, &info), wanted);
		if (none == timer)
			continue;
		assert_int_equal(weir_em_timer_delete(et_em, none, NULL, NULL), -EINVAL);
		assert_int_equal(weir_em_timer_info(et_em, none, &timer_info), -EINVAL);
		assert_int_equal(weir_em_timer_stats(et_em, none, stats), -EINVAL);
		assert_int_equal(weir_em_timeout_create(et_em, none, fired.queue), WEIR_EM_NONE);
		assert_int_equal(rte_errno, EINVAL);
		assert_int_equal(weir_em_timeout_create(et_em, timer, none), WEIR_EM_NONE);
		assert_int_equal(rte_errno, EINVAL);
	}
	assert_int_equal(weir_em_timer_create(NULL, NULL), WEIR_EM_NONE);
	assert_int_equal(weir_em_timer_delete(NULL, timer, NULL, NULL), -EINVAL);
	assert_int_equal(weir_em_timeout_cancel(NULL, timer, NULL), -EINVAL);
	assert_int_equal(weir_em_timeout_create(NULL, timer, fired.queue), WEIR_EM_NONE);
	assert_int_equal(weir_em_timer_next(NULL, timer), WEIR_EM_NONE);
	all_quiet(0);
	free(stats);
}

static void
bad_arguments(void **state)
{
	struct rte_event event = weir_em_event_u64(0);
	weir_em_timeout timeout;
	unsigned int nb;

	make();
	timeout = timeout_make();
	assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, timeout, 1, NULL), -EINVAL);
	assert_int_equal(
		weir_em_timeout_arm_in(et_em, et_core, timeout, UINT64_MAX, &event), -EINVAL);
	assert_int_equal(
		weir_em_timeout_arm_at(et_em, et_core, timeout, UINT64_MAX, &event), -EINVAL);
	assert_int_equal(
		weir_em_timeout_arm_periodic(et_em, et_core, timeout, 1, 0, &event), -EINVAL);
	assert_int_equal(
		weir_em_timeout_arm_periodic(et_em, et_core, timeout, 1, UINT64_MAX, &event),
		-EINVAL);
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, NULL, NULL), -EINVAL);
	assert_int_equal(weir_em_timeout_info(et_em, timeout, NULL), -EINVAL);
	assert_int_equal(weir_em_timer_info(et_em, timer, NULL), -EINVAL);
	assert_int_equal(weir_em_timer_stats(et_em, timer, NULL), -EINVAL);
	/* as far ahead as it can be */
	arm(timeout, WEIR_EM_TIMEOUT_NS_MAX, 0);
	et_run();
	assert_int_equal(weir_em_timeout_cancel(et_em, timeout, NULL), 0);
	assert_int_equal(weir_em_timeout_create(
				 et_em, timer, et_queue("ring", WEIR_EM_QUEUE_UNSCHEDULED, 0)),
		WEIR_EM_NONE);
	assert_int_equal(rte_errno, ENOTSUP);
	assert_int_equal(weir_em_timer_create(et_em,
				 &(struct weir_em_timer_config){.resolution_ns = 1000 * MS + 1}),
		WEIR_EM_NONE);
	assert_int_equal(weir_em_timer_create(et_em,
				 &(struct weir_em_timer_config){
					 .name = "a name that is longer than names are"}),
		WEIR_EM_NONE);
	for (nb = 1; weir_em_timer_create(et_em, &(struct weir_em_timer_config){0}) != 0; nb++)
		;
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(nb, 4);
	for (nb = 1; weir_em_timeout_create(et_em, timer, fired.queue) != 0; nb++)
		;
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(nb, 64);
	all_quiet(0);
}

static void
handles_are_not_used_again(void **state)
{
	weir_em_timeout timeout, old;

	make();
	timeout = timeout_make();
	for (unsigned int i = 0; i < 1000; i++) {
		old = timeout;
		assert_int_equal(weir_em_timeout_delete(et_em, old), 0);
		assert_int_equal(weir_em_timeout_delete(et_em, old), -ESTALE);
		timeout = timeout_make();
		assert_int_not_equal(timeout, old);
		arm(timeout, 100000 * MS, 0);
		assert_int_equal(weir_em_timeout_cancel(et_em, old, NULL), -ESTALE);
		assert_int_equal(weir_em_timeout_cancel(et_em, timeout, NULL), 0);
	}
	all_quiet(0);
}

static void
look(struct weir_em_core *core, void *arg)
{
}

/* As long as there is no room for what looks after timers, there are none; then there are. */
static void
no_room_among_polls(void **state)
{
	static char args[4];

	et_make((struct weir_em_config){.nb_queues = 64, .nb_reserved = NB_RESERVED});
	et_sink_make(&fired, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(weir_em_poll_add(et_em, look, &args[i]), 0);
	for (int i = 0; i < 2; i++) {
		st_log_clear();
		assert_int_equal(weir_em_timer_create(et_em, &(struct weir_em_timer_config){0}),
			WEIR_EM_NONE);
		assert_int_equal(rte_errno, ENOSPC);
		assert_non_null(strstr(st_log_last(), "nobody would look after timers"));
	}
	assert_int_equal(weir_em_poll_remove(et_em, et_core, look, &args[1]), 0);
	timer = weir_em_timer_create(et_em, &(struct weir_em_timer_config){0});
	assert_int_not_equal(timer, WEIR_EM_NONE);
	arm(timeout_make(), 1, 5);
	until(1);
	assert_int_equal(fired.values[0], 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(a_timer_ends),
		ET_TEST(the_machine_ends),
		ET_TEST(buffers_are_freed),
		ET_TEST(bad_handles),
		ET_TEST(bad_arguments),
		ET_TEST(handles_are_not_used_again),
		ET_TEST(no_room_among_polls),
	};

	return ST_RUN("em-timer_refused", tests);
}
