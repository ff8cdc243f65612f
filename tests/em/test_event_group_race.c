/* SPDX-License-Identifier: BSD-3-Clause */

/* Event groups on several cores: cycles that end, and are aborted, while events of theirs are received. */

#include <sched.h>

#include <rte_pause.h>

#include "em_test.h"

#include "weir_em_event_group.h"

#define NB_WORKERS  3
#define NB_GROUPS   8
#define VALUE(mbuf) (rte_pktmbuf_mtod(mbuf, uint64_t *))

static weir_em_pool pool;
static weir_em_queue work_queue, notify_queue;
static weir_em_event_group groups[NB_GROUPS];

/* By number of the cycle, over all groups: how often its notification was received, or handed back. */
#define NB_CYCLES       60000
#define CYCLES_AT_LEAST 100
static uint8_t told[NB_CYCLES], handed_back[NB_CYCLES];
static uint64_t nb_told, nb_worked;

/* Receive functions stall here while it is set. */
static uint64_t stalled, nb_stalled;

static void
stall(uint64_t seed)
{
	if (seed % 7 == 0)
		sched_yield();
	for (uint64_t i = seed % 50; i > 0; i--)
		rte_pause();
}

static void
work(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	for (uint16_t i = 0; i < nb; i++) {
		uint64_t seed = *VALUE(events[i].mbuf);

		stall(seed);
		if (__atomic_load_n(&stalled, __ATOMIC_ACQUIRE) != 0) {
			__atomic_fetch_add(&nb_stalled, 1, __ATOMIC_RELEASE);
			while (__atomic_load_n(&stalled, __ATOMIC_ACQUIRE) != 0)
				sched_yield();
		}
		if (seed % 5 == 0 && i == nb - 1)
			weir_em_event_group_processing_end(core);
		weir_em_free(et_em, core, events[i].mbuf);
	}
	__atomic_fetch_add(&nb_worked, nb, __ATOMIC_RELEASE);
}

static void
notified(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	for (uint16_t i = 0; i < nb; i++) {
		CHECK(events[i].u64 < NB_CYCLES);
		__atomic_fetch_add(&told[events[i].u64], 1, __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&nb_told, nb, __ATOMIC_RELEASE);
}

static void
make(void)
{
	weir_em_object object;

	/* core 0 is not the test's: it only sends, as a producer */
	et_make_detached((struct weir_em_config){.nb_queues = 64,
		.nb_cores = NB_WORKERS + 1,
		.nb_reserved = 64,
		.nb_producers = 1,
		.nb_events = 4096});
	et_core = weir_em_core_attach(et_em, 0);
	assert_non_null(et_core);
	pool = weir_em_pool_create(et_em, &(struct weir_em_pool_config){.name = "em-race",
						  .nb = 4095,
						  .data_room = 256,
						  .socket_id = -1,
						  .ops = "ring_mt_rts"});
	assert_int_not_equal(pool, WEIR_EM_NONE);
	notify_queue = et_serve("notify", WEIR_EM_QUEUE_PARALLEL, notified, NULL);
	work_queue = et_queue("work", WEIR_EM_QUEUE_PARALLEL, 0);
	object = weir_em_object_create(et_em,
		&(struct weir_em_object_config){.name = "work", .receive = work, .burst = 4});
	assert_int_equal(weir_em_object_add_queue(et_em, object, work_queue), 0);
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
	for (unsigned int i = 0; i < NB_GROUPS; i++) {
		groups[i] = weir_em_event_group_create(et_em);
		assert_int_not_equal(groups[i], WEIR_EM_NONE);
	}
	memset(told, 0, sizeof(told));
	memset(handed_back, 0, sizeof(handed_back));
	nb_told = nb_worked = stalled = nb_stalled = 0;
	et_workers_begin(NB_WORKERS);
}

static void
step(void)
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 1};

	weir_em_dispatch(et_core, &once);
}

static void
send(weir_em_event_group group, unsigned int nb, uint64_t seed)
{
	for (unsigned int i = 0; i < nb; i++) {
		struct rte_event event;
		struct rte_mbuf *mbuf;

		while ((mbuf = weir_em_alloc(et_core, pool, 8)) == NULL)
			step();
		*VALUE(mbuf) = seed * 2654435761u % 1009 + i;
		event = weir_em_event_buffer(mbuf);
		while (weir_em_event_group_send(et_core, work_queue, &event, 1, group) != 1) {
			assert_int_equal(rte_errno, ENOSPC);
			step();
		}
	}
}

static void
apply(unsigned int group, uint32_t nb, uint64_t cycle)
{
	struct weir_em_notification notification = {
		.queue = notify_queue, .event = weir_em_event_u64(cycle)};
	int rc;

	while ((rc = weir_em_event_group_apply(et_em, groups[group], nb, &notification, 1)) != 0) {
		assert_true(rc == -EBUSY || rc == -ENOSPC);
		step();
	}
}

/* Each cycle ends in one way, once; and so do all events. */
static void
ended(uint64_t nb_cycles, uint64_t nb_sent, uint64_t nb_back)
{
	struct weir_em_event_group_stats stats;

	et_wait(&nb_told, nb_cycles - nb_back, "notifications");
	et_wait(&nb_worked, nb_sent, "events");
	et_run();
	for (uint64_t cycle = 0; cycle < nb_cycles; cycle++)
		assert_int_equal(told[cycle] + handed_back[cycle], 1);
	et_workers_end();
	weir_em_event_group_stats(et_em, &stats);
	assert_int_equal(stats.nb_applied, nb_cycles);
	assert_int_equal(stats.nb_completed, nb_cycles - nb_back);
	assert_int_equal(stats.nb_aborted, nb_back);
	assert_int_equal(stats.nb_notifications, nb_cycles - nb_back);
	assert_int_equal(stats.nb_events + stats.nb_stale + stats.nb_excess, nb_sent);
	et_check_sums();
}

/* A thread that gets no time makes some cycles all the same. */
static bool
has_time(uint64_t cycle, uint64_t until)
{
	return cycle < NB_CYCLES && (cycle < CYCLES_AT_LEAST || weir_base_time_ns() < until);
}

static void
cycles_end_once(void **state)
{
	uint64_t cycle = 0, nb_sent = 0, until = 0;

	make();
	until = weir_base_time_ns() + (uint64_t)(st_seconds(0.3) * 1e9);
	for (; has_time(cycle, until); cycle++) {
		unsigned int nb = 1 + cycle % 13;

		apply(cycle % NB_GROUPS, nb, cycle);
		send(groups[cycle % NB_GROUPS], nb, cycle);
		nb_sent += nb;
	}
	ended(cycle, nb_sent, 0);
}

/* One event less than is counted, or one more, or none less: then an abort, which comes at any time. */
static void
aborts_beside_the_last_event(void **state)
{
	uint64_t cycle = 0, nb_sent = 0, nb_back = 0, until;

	make();
	until = weir_base_time_ns() + (uint64_t)(st_seconds(0.5) * 1e9);
	for (; has_time(cycle, until); cycle++) {
		unsigned int group = cycle % 3, nb = 1 + cycle / 3 % 4;
		struct weir_em_notification back;
		int rc;

		apply(group, nb, cycle);
		if (cycle % 4 == 0)
			nb--;
		send(groups[group], nb, cycle);
		nb_sent += nb;
		stall(cycle * 31);
		rc = weir_em_event_group_abort(et_em, groups[group], &back, 1, NULL);
		if (cycle % 4 == 0)
			assert_int_equal(rc, 0);
		assert_true(rc == 0 || rc == -EALREADY);
		if (rc == 0) {
			assert_int_equal(back.queue, notify_queue);
			assert_int_equal(back.event.u64, cycle);
			handed_back[cycle]++;
			nb_back++;
		}
		if (cycle % 64 == 0)
			step();
	}
	assert_true(nb_back > 0);
	ended(cycle, nb_sent, nb_back);
}

/* Workers are held in the middle of receiving while their cycle is aborted, and another one begins. */
static void
stalled_over_an_abort(void **state)
{
	uint64_t nb_back = 0, cycle = 0, nb_sent = 0;

	st_builtin_only();
	make();
	for (unsigned int round = 0; round < 50; round++) {
		uint64_t begun = __atomic_load_n(&nb_stalled, __ATOMIC_ACQUIRE);
		struct weir_em_notification back;
		struct weir_em_event_group_info info;

		__atomic_store_n(&stalled, 1, __ATOMIC_RELEASE);
		apply(0, 2, cycle);
		send(groups[0], 2, round);
		/* the test's own core does not dispatch meanwhile */
		while (__atomic_load_n(&nb_stalled, __ATOMIC_ACQUIRE) == begun)
			sched_yield();
		assert_int_equal(weir_em_event_group_abort(et_em, groups[0], &back, 1, NULL), 0);
		assert_int_equal(back.event.u64, cycle);
		handed_back[cycle++]++;
		nb_back++;
		apply(0, 2, cycle);
		__atomic_store_n(&stalled, 0, __ATOMIC_RELEASE);
		nb_sent += 2;
		et_wait(&nb_worked, nb_sent, "events of the cycle that was aborted");
		assert_int_equal(weir_em_event_group_info(et_em, groups[0], &info), 0);
		assert_int_equal(info.count, 2);
		send(groups[0], 2, round);
		nb_sent += 2;
		cycle++;
		et_wait(&nb_told, cycle - nb_back, "notifications");
	}
	ended(cycle, nb_sent, nb_back);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(cycles_end_once),
		ET_TEST(aborts_beside_the_last_event),
		ET_TEST(stalled_over_an_abort),
	};

	return ST_RUN("em-event_group_race", tests);
}
