/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of buffers; and in builds with -Dem_checks=true, what is done with buffers that are not one's own. */
#include <rte_mempool.h>

#include "em_test.h"
#include "weir_base_pool.h"
#include "weir_base_sanitizer.h"
#include "weir_em_event_group.h"
#include "weir_em_timer.h"

#define NB_RESERVED 8

static weir_em_pool pool;

static void
make(void)
{
	et_make((struct weir_em_config){.nb_queues = 64, .nb_reserved = NB_RESERVED});
	pool = weir_em_pool_create(et_em,
		&(struct weir_em_pool_config){.name = "buffers", .nb = 63, .data_room = 512});
	assert_int_not_equal(pool, WEIR_EM_NONE);
}

static void
buffers_come_and_go(void **state)
{
	struct rte_mbuf *buffers[64];
	struct weir_em_pool_info info;

	make();
	assert_int_equal(weir_em_pool_find(et_em, "buffers"), pool);
	assert_int_equal(weir_em_pool_find(et_em, "none"), WEIR_EM_NONE);
	buffers[0] = weir_em_alloc(et_core, pool, 100);
	assert_non_null(buffers[0]);
	assert_int_equal(rte_pktmbuf_pkt_len(buffers[0]), 100);
	assert_int_equal(rte_pktmbuf_data_len(buffers[0]), 100);
	assert_int_equal(weir_em_pool_delete(et_em, pool), -EBUSY);
	assert_null(weir_em_alloc(et_core, pool, 512 - RTE_PKTMBUF_HEADROOM + 1));
	assert_int_equal(rte_errno, EMSGSIZE);
	assert_int_equal(weir_em_alloc_burst(et_core, pool, 1, buffers + 1, 63), -ENOMEM);
	assert_int_equal(weir_em_alloc_burst(et_core, pool, 1, buffers + 1, 62), 0);
	assert_null(weir_em_alloc(et_core, pool, 1));
	assert_int_equal(rte_errno, ENOMEM);
	assert_int_equal(weir_em_pool_info(et_em, pool, &info), 0);
	assert_string_equal(info.name, "buffers");
	assert_false(info.adopted);
	assert_int_equal(info.nb, 63);
	assert_int_equal(info.nb_free, 0);
	assert_int_equal(info.nb_allocated, 63);
	assert_int_equal(info.nb_failed, 2);
	for (int i = 0; i < 63; i++)
		weir_em_free(et_em, i % 2 == 0 ? et_core : NULL, buffers[i]);
	weir_em_free(et_em, et_core, NULL);
	assert_int_equal(weir_em_pool_delete(et_em, pool), 0);
	assert_int_equal(weir_em_pool_delete(et_em, pool), -ESTALE);
	assert_int_equal(weir_em_pool_info(et_em, pool, &info), -ESTALE);
	assert_null(weir_em_alloc(et_core, pool, 1));
	assert_int_equal(rte_errno, ESTALE);
	assert_int_equal(et_stats().nb_errors, 0);
}

static void
wrong_arguments(void **state)
{
	struct weir_em_pool_config config = {.name = "buffers", .nb = 10};
	char name[RTE_MEMPOOL_NAMESIZE + 1];

	make();
	assert_int_equal(weir_em_pool_create(et_em, &config), WEIR_EM_NONE);
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(weir_em_pool_create(NULL, &config), WEIR_EM_NONE);
	assert_int_equal(weir_em_pool_create(et_em, NULL), WEIR_EM_NONE);
	config.name = NULL;
	assert_int_equal(weir_em_pool_create(et_em, &config), WEIR_EM_NONE);
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	config.name = name;
	assert_int_equal(weir_em_pool_create(et_em, &config), WEIR_EM_NONE);
	assert_int_equal(rte_errno, EINVAL);
	config = (struct weir_em_pool_config){.name = "others"};
	assert_int_equal(weir_em_pool_create(et_em, &config), WEIR_EM_NONE);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(weir_em_pool_delete(et_em, 0), -EINVAL);
	assert_int_equal(weir_em_pool_delete(et_em, UINT64_MAX), -EINVAL);
	assert_int_equal(weir_em_pool_adopt(et_em, NULL), WEIR_EM_NONE);
	assert_null(weir_em_alloc(et_core, 0, 1));
	assert_int_equal(rte_errno, EINVAL);
}

static void
pools_of_others(void **state)
{
	struct rte_mempool *mempool =
		weir_base_pool_create("theirs", 31, 0, 2048, SOCKET_ID_ANY, NULL);
	struct rte_mempool *no_mbufs =
		rte_mempool_create("no_mbufs", 31, 64, 0, 0, NULL, NULL, NULL, NULL, -1, 0);
	struct rte_mbuf *buffer;
	struct weir_em_pool_info info;
	weir_em_pool theirs;

	et_make_small();
	assert_non_null(mempool);
	assert_int_equal(weir_em_pool_adopt(et_em, no_mbufs), WEIR_EM_NONE);
	theirs = weir_em_pool_adopt(et_em, mempool);
	assert_int_not_equal(theirs, WEIR_EM_NONE);
	buffer = weir_em_alloc(et_core, theirs, 1);
	assert_non_null(buffer);
	assert_int_equal(weir_em_pool_info(et_em, theirs, &info), 0);
	assert_true(info.adopted);
	assert_ptr_equal(info.mempool, mempool);
	assert_int_equal(weir_em_pool_delete(et_em, theirs), 0);
	weir_em_free(et_em, et_core, buffer);
	assert_int_equal(rte_mempool_avail_count(mempool), 31);
	weir_base_pool_free(mempool);
	rte_mempool_free(no_mbufs);
}

/* What nobody gets is freed, wherever it is. */
static void
dropped_buffers_are_freed(void **state)
{
	struct rte_mempool *mempool =
		weir_base_pool_create("theirs", 31, 0, 2048, SOCKET_ID_ANY, NULL);
	weir_em_queue queues[3];
	weir_em_pool theirs;

	et_make_small();
	theirs = weir_em_pool_adopt(et_em, mempool);
	queues[0] = et_queue("nobody's", WEIR_EM_QUEUE_ATOMIC, 0);
	queues[1] = et_queue("local", WEIR_EM_QUEUE_LOCAL, 0);
	queues[2] = et_queue("ring", WEIR_EM_QUEUE_UNSCHEDULED, 0);
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < 3; i++) {
			struct rte_event event =
				weir_em_event_buffer(weir_em_alloc(et_core, theirs, 8));

			assert_int_equal(weir_em_send(et_core, queues[i], &event, 1), 1);
		}
		if (turn == 0) {
			et_run();
			assert_int_equal(rte_mempool_avail_count(mempool), 30);
		}
	}
	assert_int_equal(rte_mempool_avail_count(mempool), 27);
	assert_int_equal(et_teardown(NULL), 0);
	assert_int_equal(rte_mempool_avail_count(mempool), 31);
	weir_base_pool_free(mempool);
}

/* The queue that was to be told is gone when it is time. */
static void
buffer_of_done_is_not_lost(void **state)
{
	struct weir_em_notification done;
	weir_em_object object;

	make();
	object = et_object("late", et_sink_receive, NULL);
	done.queue = et_queue("told", WEIR_EM_QUEUE_ATOMIC, 0);
	done.event = weir_em_event_buffer(weir_em_alloc(et_core, pool, 8));
	assert_int_equal(weir_em_object_start_async(et_em, et_core, object, NULL, &done), 0);
	assert_int_equal(weir_em_queue_delete(et_em, done.queue), 0);
	et_run();
	assert_int_equal(weir_em_pool_delete(et_em, pool), 0);
	assert_int_equal(et_stats().nb_dropped[WEIR_EM_DROP_DELETED], 1);
}

/* ---- checks ---- */

#ifdef WEIR_EM_CHECKS

static enum weir_em_error_kind last_kind;
static unsigned int nb_errors;
static char object_name[32], queue_name[32];

static int
note(struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	last_kind = error->kind;
	nb_errors++;
	snprintf(object_name, sizeof(object_name), "%s", error->object_name);
	snprintf(queue_name, sizeof(queue_name), "%s", error->queue_name);
	return error->code;
}

static void
expect(enum weir_em_error_kind kind, const char *object, const char *queue)
{
	assert_int_equal(nb_errors, 1);
	assert_int_equal(last_kind, kind);
	assert_string_equal(object_name, object);
	assert_string_equal(queue_name, queue);
	nb_errors = 0;
}

#ifndef WEIR_BASE_ASAN /* it ends programs that look at what is freed */

static int what;

static void
misbehave(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	weir_em_queue other = *(weir_em_queue *)context;
	struct rte_event copy = events[0];

	switch (what) {
	case 0: /* twice */
		weir_em_free(et_em, core, copy.mbuf);
		weir_em_free(et_em, core, copy.mbuf);
		break;
	case 1: /* freed before */
		weir_em_free(et_em, core, copy.mbuf);
		assert_int_equal(weir_em_forward(core, other, &copy), -EFAULT);
		break;
	case 2: /* sent before */
		assert_int_equal(weir_em_forward(core, other, &events[0]), 0);
		assert_int_equal(weir_em_send(core, other, &copy, 1), 0);
		assert_int_equal(rte_errno, EFAULT);
		break;
	default: /* sent before */
		assert_int_equal(weir_em_send(core, other, &copy, 1), 1);
		weir_em_free(et_em, core, copy.mbuf);
		break;
	}
}

static void
misuse_is_told(void **state)
{
	static const enum weir_em_error_kind kinds[] = {WEIR_EM_ERROR_DOUBLE_FREE,
		WEIR_EM_ERROR_SEND_FREED, WEIR_EM_ERROR_SEND_TWICE, WEIR_EM_ERROR_FREE_SENT};
	static const char *const names[] = {"first", "ring", "ring", "ring"};
	weir_em_queue ring, queue;
	struct rte_event event;

	make();
	weir_em_error_handler_set(et_em, note, NULL);
	ring = et_queue("ring", WEIR_EM_QUEUE_UNSCHEDULED, 0);
	queue = et_queue("first", WEIR_EM_QUEUE_ATOMIC, 0);
	{
		weir_em_object object = et_object("clumsy", misbehave, &ring);

		assert_int_equal(weir_em_object_add_queue(et_em, object, queue), 0);
		assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
	}
	for (what = 0; what < 4; what++) {
		event = weir_em_event_buffer(weir_em_alloc(et_core, pool, 8));
		assert_int_equal(weir_em_send(et_core, queue, &event, 1), 1);
		et_run();
		expect(kinds[what], "clumsy", names[what]);
		if (weir_em_queue_dequeue(et_em, ring, &event, 1) == 1)
			weir_em_free(et_em, et_core, event.mbuf);
		assert_int_equal(nb_errors, 0);
	}
	assert_int_equal(weir_em_pool_delete(et_em, pool), 0); /* all are back */
	et_check_sums();
}

#endif

/* A burst goes up to the one that is wrong; what was refused is the caller's still. */
static void
bursts_end_at_misuse(void **state)
{
	struct rte_mbuf *buffers[4];
	struct rte_event events[4];
	weir_em_queue ring;

	make();
	weir_em_error_handler_set(et_em, note, NULL);
	ring = weir_em_queue_create(et_em,
		&(struct weir_em_queue_config){.type = WEIR_EM_QUEUE_UNSCHEDULED, .size = 2});
	assert_int_equal(weir_em_alloc_burst(et_core, pool, 8, buffers, 4), 0);
	for (int i = 0; i < 4; i++)
		events[i] = weir_em_event_buffer(buffers[i]);
	events[1] = events[0];
	assert_int_equal(weir_em_send(et_core, ring, events, 4), 1);
	assert_int_equal(rte_errno, EFAULT);
	expect(WEIR_EM_ERROR_SEND_TWICE, "", "");
	events[1] = weir_em_event_buffer(buffers[1]);
	assert_int_equal(weir_em_send(et_core, ring, events + 1, 3), 1);
	assert_int_equal(rte_errno, ENOSPC);
	weir_em_free(et_em, et_core, buffers[2]);
	weir_em_free(et_em, et_core, buffers[3]);
	assert_int_equal(nb_errors, 0);
	assert_int_equal(weir_em_queue_delete(et_em, ring), 0);
	assert_int_equal(weir_em_pool_delete(et_em, pool), 0);
}

/* What timers and event groups are to send later belongs to them; so it must be the caller's before. */
static void
kept_buffers_are_checked(void **state)
{
	struct weir_em_notification notifications[2] = {{.queue = WEIR_EM_NONE}};
	weir_em_event_group group;
	weir_em_timeout timeout;
	weir_em_timer timer;
	struct rte_event event, sent;
	weir_em_queue ring, queue;

	make();
	nb_errors = 0;
	weir_em_error_handler_set(et_em, note, NULL);
	ring = et_queue("ring", WEIR_EM_QUEUE_UNSCHEDULED, 0);
	queue = et_queue("later", WEIR_EM_QUEUE_ATOMIC, 0);
	timer = weir_em_timer_create(et_em, &(struct weir_em_timer_config){.name = "timer"});
	timeout = weir_em_timeout_create(et_em, timer, queue);
	group = weir_em_event_group_create(et_em);
	sent = weir_em_event_buffer(weir_em_alloc(et_core, pool, 8));
	event = weir_em_event_buffer(weir_em_alloc(et_core, pool, 8));
	assert_int_equal(weir_em_send(et_core, ring, &sent, 1), 1);
	assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, timeout, 1000, &sent), -EFAULT);
	expect(WEIR_EM_ERROR_SEND_TWICE, "", "later");
	notifications[0] = (struct weir_em_notification){.queue = queue, .event = event};
	notifications[1] = (struct weir_em_notification){.queue = queue, .event = sent};
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, notifications, 2), -EFAULT);
	expect(WEIR_EM_ERROR_SEND_TWICE, "", "later");
	/* the good one stays the caller's, until it is armed */
	assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, timeout, 1000000000, &event), 0);
	weir_em_free(et_em, et_core, event.mbuf);
	expect(WEIR_EM_ERROR_FREE_SENT, "", "later");
	assert_int_equal(weir_em_timeout_cancel(et_em, timeout, &event), 0);
	/* nothing of those that were refused is left behind: with one more than is reserved it would be */
	for (int i = 0; i < NB_RESERVED; i++) {
		assert_int_equal(
			weir_em_timeout_arm_in(et_em, et_core, timeout, 1000, &sent), -EFAULT);
		nb_errors = 0;
	}
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, notifications, 1), 0);
	assert_int_equal(weir_em_event_group_abort(et_em, group, NULL, 0, NULL), 0);
	assert_int_equal(weir_em_queue_dequeue(et_em, ring, &sent, 1), 1);
	weir_em_free(et_em, et_core, sent.mbuf);
	assert_int_equal(nb_errors, 0);
	assert_int_equal(weir_em_pool_delete(et_em, pool), 0);
}

/* The handler is asked about what is to be armed, and cancels that. */
static int
cancel_it(
	struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	assert_int_equal(weir_em_timeout_cancel(em, *(weir_em_timeout *)arg, NULL), -EALREADY);
	nb_errors++;
	return error->code;
}

static void
handlers_cancel(void **state)
{
	struct rte_event event, sent;
	weir_em_timeout timeout;
	weir_em_queue ring;

	make();
	nb_errors = 0;
	ring = et_queue("ring", WEIR_EM_QUEUE_UNSCHEDULED, 0);
	timeout = weir_em_timeout_create(et_em,
		weir_em_timer_create(et_em, &(struct weir_em_timer_config){.name = "timer"}),
		et_queue("later", WEIR_EM_QUEUE_ATOMIC, 0));
	weir_em_error_handler_set(et_em, cancel_it, &timeout);
	sent = weir_em_event_buffer(weir_em_alloc(et_core, pool, 8));
	event = sent;
	assert_int_equal(weir_em_send(et_core, ring, &sent, 1), 1);
	assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, timeout, 1000, &event), -EFAULT);
	assert_int_equal(nb_errors, 1);
	assert_int_equal(weir_em_queue_dequeue(et_em, ring, &sent, 1), 1);
	weir_em_free(et_em, et_core, sent.mbuf);
}

static int
refuse_to_start(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	return -EPERM;
}

/* What tells of the end of an operation belongs to that, unless it was refused. */
static void
buffers_of_done_are_checked(void **state)
{
	struct weir_em_notification done;
	weir_em_queue_group group;
	weir_em_object object, unwilling;

	make();
	nb_errors = 0;
	weir_em_error_handler_set(et_em, note, NULL);
	group = weir_em_queue_group_create(et_em, "g", 1);
	object = et_object("o", et_sink_receive, NULL);
	unwilling = weir_em_object_create(
		et_em, &(struct weir_em_object_config){
			       .receive = et_sink_receive, .start = refuse_to_start});
	done.queue = et_queue("told", WEIR_EM_QUEUE_UNSCHEDULED, 0);
	done.event = weir_em_event_buffer(weir_em_alloc(et_core, pool, 8));
	assert_int_equal(weir_em_object_stop_async(et_em, et_core, object, NULL, &done), -EBUSY);
	assert_int_equal(
		weir_em_object_start_async(et_em, et_core, unwilling, NULL, &done), -EPERM);
	assert_int_equal(
		weir_em_queue_group_modify_async(et_em, et_core, group, 1u << 20, &done), -EINVAL);
	assert_int_equal(nb_errors, 0);
	assert_int_equal(weir_em_object_start_async(et_em, et_core, object, NULL, &done), 0);
	weir_em_free(et_em, et_core, done.event.mbuf);
	expect(WEIR_EM_ERROR_FREE_SENT, "", "told");
	assert_int_equal(weir_em_object_stop_async(et_em, et_core, object, NULL, &done), -EFAULT);
	expect(WEIR_EM_ERROR_SEND_TWICE, "", "told");
	assert_int_equal(
		weir_em_queue_group_modify_async(et_em, et_core, group, 1, &done), -EFAULT);
	expect(WEIR_EM_ERROR_SEND_TWICE, "", "told");
	et_run();
	assert_int_equal(weir_em_queue_dequeue(et_em, done.queue, &done.event, 1), 1);
	weir_em_free(et_em, et_core, done.event.mbuf);
	assert_int_equal(nb_errors, 0);
	assert_int_equal(weir_em_pool_delete(et_em, pool), 0);
}

#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(buffers_come_and_go),
		ET_TEST(wrong_arguments),
		ET_TEST(pools_of_others),
		ET_TEST(dropped_buffers_are_freed),
		ET_TEST(buffer_of_done_is_not_lost),
#ifdef WEIR_EM_CHECKS
#ifndef WEIR_BASE_ASAN
		ET_TEST(misuse_is_told),
#endif
		ET_TEST(bursts_end_at_misuse),
		ET_TEST(kept_buffers_are_checked),
		ET_TEST(handlers_cancel),
		ET_TEST(buffers_of_done_are_checked),
#endif
	};

	return ST_RUN("em-pool", tests);
}
