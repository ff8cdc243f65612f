/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything at once: cores receive and send, while other threads make, change and delete whatever there is, by handles that may have
 * been deleted meanwhile. What is asked for may be refused; at the end every event and every buffer is accounted for.
 */
#include <sched.h>

#include <rte_random.h>

#include "em_test.h"

#include "weir_em_event_group.h"
#include "weir_em_timer.h"

#define NB          12 /* of each kind, or what is left of them */
#define NB_BUFFERS  1023
#define NB_TIMEOUTS 64
#define WORKERS     2
#define SECONDS     1.5

enum kind { OBJECT, QUEUE, QUEUE_GROUP, EVENT_GROUP, TIMER, TIMEOUT, KINDS };

static uint64_t handles[KINDS][NB];
static weir_em_pool pool;
static uint64_t nb_done[2];
static bool over;

static uint32_t
draw(uint32_t below)
{
	return (uint32_t)rte_rand_max(below);
}

static uint64_t
any(enum kind kind)
{
	return __atomic_load_n(&handles[kind][draw(NB)], __ATOMIC_RELAXED);
}

/* In place of another one, which is the caller's to delete. */
static uint64_t
keep(enum kind kind, uint64_t handle)
{
	return __atomic_exchange_n(&handles[kind][draw(NB)], handle, __ATOMIC_RELAXED);
}

/* ---- on cores ---- */

static bool
send_some(struct weir_em_core *core)
{
	struct rte_mbuf *mbuf = weir_em_alloc(core, pool, 8);
	struct rte_event event;
	uint16_t nb;

	if (mbuf == NULL)
		return false;
	event = weir_em_event_buffer(mbuf);
	if (draw(2) == 0)
		nb = weir_em_send(core, any(QUEUE), &event, 1);
	else
		nb = weir_em_event_group_send(core, any(QUEUE), &event, 1, any(EVENT_GROUP));
	if (nb == 0)
		weir_em_free(et_em, core, mbuf);
	return nb > 0;
}

static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	switch (draw(8)) {
	case 0:
		weir_em_event_group_assign(core, any(EVENT_GROUP));
		break;
	case 1:
		weir_em_event_group_increment(core, 1);
		break;
	case 2:
		weir_em_event_group_processing_end(core);
		break;
	case 3:
		weir_em_atomic_end(core);
		weir_em_order_end(core);
		break;
	case 4:
		weir_em_queue_disable(et_em, core, any(QUEUE));
		break;
	default:
		break;
	}
	for (uint16_t i = 0; i < nb; i++) {
		bool gone = false;

		if (events[i].event_type != WEIR_EM_EVENT_BUFFER)
			continue; /* a notification */
		if (draw(4) > 0)
			gone = weir_em_forward(core, any(QUEUE), &events[i]) == 0;
		else if (draw(2) > 0)
			gone = weir_em_event_group_forward(
				       core, any(QUEUE), &events[i], 1, any(EVENT_GROUP)) == 1;
		if (!gone)
			weir_em_free(et_em, core, events[i].mbuf);
	}
}

static uint16_t
output(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue)
{
	uint16_t taken = (uint16_t)draw(nb + 1u);

	for (uint16_t i = 0; i < taken; i++)
		if (events[i].event_type == WEIR_EM_EVENT_BUFFER)
			weir_em_free(et_em, core, events[i].mbuf);
	return taken;
}

/* ---- beside them ---- */

static void
change_objects(void)
{
	weir_em_object object;

	switch (draw(4)) {
	case 0:
		object = keep(OBJECT, weir_em_object_create(et_em,
					      &(struct weir_em_object_config){.name = "object",
						      .receive = receive,
						      .burst = (uint16_t)(1 + draw(40))}));
		weir_em_object_stop(et_em, NULL, object, NULL);
		weir_em_object_delete(et_em, NULL, object, WEIR_EM_REMOVE_QUEUES);
		break;
	case 1:
		weir_em_object_stop(et_em, NULL, any(OBJECT), NULL);
		break;
	default:
		weir_em_object_start(et_em, NULL, any(OBJECT), NULL);
		break;
	}
}

static void
delete_queue(weir_em_queue queue)
{
	weir_em_object_remove_queue(et_em, NULL, queue);
	weir_em_queue_delete(et_em, queue);
}

static void
change_queues(void)
{
	struct weir_em_queue_config config = {.name = "queue",
		.type = (enum weir_em_queue_type)draw(WEIR_EM_QUEUE_TYPES),
		.priority = (uint8_t)draw(8),
		.output = output,
		.size = 64,
		.group = any(QUEUE_GROUP)};
	struct rte_event event;
	weir_em_queue queue;

	switch (draw(5)) {
	case 0:
		queue = weir_em_queue_create(et_em, &config);
		delete_queue(keep(QUEUE, queue));
		weir_em_object_add_queue(et_em, any(OBJECT), queue);
		break;
	case 1:
		weir_em_object_remove_queue(et_em, NULL, any(QUEUE));
		break;
	case 2:
		if (weir_em_queue_dequeue(et_em, any(QUEUE), &event, 1) == 1 &&
			event.event_type == WEIR_EM_EVENT_BUFFER)
			weir_em_free(et_em, NULL, event.mbuf);
		break;
	default:
		weir_em_object_add_queue(et_em, any(OBJECT), any(QUEUE));
		weir_em_queue_enable(et_em, any(QUEUE));
		break;
	}
}

/* Core 0 is in all queue groups: what is in them when nobody has their handles any more comes out. */
static void
change_groups(void)
{
	const struct weir_em_notification notification = {
		.queue = any(QUEUE), .event = weir_em_event_u64(1)};
	weir_em_event_group group;

	switch (draw(5)) {
	case 0:
		weir_em_queue_group_delete(et_em,
			keep(QUEUE_GROUP, weir_em_queue_group_create(et_em, "group", 1 | draw(8))));
		break;
	case 1:
		weir_em_queue_group_modify(et_em, NULL, any(QUEUE_GROUP), 1 | draw(8));
		break;
	case 2:
		group = keep(EVENT_GROUP, weir_em_event_group_create(et_em));
		weir_em_event_group_abort(et_em, group, NULL, 0, NULL);
		weir_em_event_group_delete(et_em, group);
		break;
	case 3:
		weir_em_event_group_abort(et_em, any(EVENT_GROUP), NULL, 0, NULL);
		break;
	default:
		weir_em_event_group_apply(
			et_em, any(EVENT_GROUP), 1 + draw(3), &notification, draw(2));
		break;
	}
}

static void
change_timers(void)
{
	const struct rte_event event = weir_em_event_u64(2);

	switch (draw(5)) {
	case 0:
		weir_em_timer_delete(et_em,
			keep(TIMER, weir_em_timer_create(et_em,
					    &(struct weir_em_timer_config){.name = "timer"})),
			NULL, NULL);
		break;
	case 1:
		weir_em_timeout_delete(et_em,
			keep(TIMEOUT, weir_em_timeout_create(et_em, any(TIMER), any(QUEUE))));
		break;
	case 2:
		weir_em_timeout_cancel(et_em, any(TIMEOUT), NULL);
		break;
	case 3:
		weir_em_timeout_arm_periodic(
			et_em, NULL, any(TIMEOUT), 0, 1 + draw(100000), &event);
		weir_em_timeout_ack(et_em, NULL, any(TIMEOUT), &event, NULL);
		break;
	default:
		weir_em_timeout_arm_in(et_em, NULL, any(TIMEOUT), draw(100000), &event);
		break;
	}
}

static void
look(FILE *nowhere)
{
	struct weir_em_queue_info info;

	weir_em_dump(et_em, nowhere, 100);
	weir_em_queue_info(et_em, any(QUEUE), &info);
	weir_em_object_find(et_em, "object");
}

static void *
change(void *arg)
{
	uint64_t *done = arg;
	FILE *nowhere = fopen("/dev/null", "w");

	CHECK(nowhere != NULL);
	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
		switch (draw(16)) {
		case 0:
			change_objects();
			break;
		case 1:
			look(nowhere);
			break;
		default:
			(draw(3) == 0          ? change_queues
				: draw(2) == 0 ? change_groups
					       : change_timers)();
			break;
		}
		++*done;
	}
	fclose(nowhere);
	return NULL;
}

static int
silent(struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	return error->code;
}

static void
delete_all(void)
{
	for (unsigned int i = 0; i < NB; i++) {
		weir_em_timer_delete(et_em, handles[TIMER][i], NULL, NULL);
		weir_em_event_group_abort(et_em, handles[EVENT_GROUP][i], NULL, 0, NULL);
		weir_em_event_group_delete(et_em, handles[EVENT_GROUP][i]);
		weir_em_object_stop(et_em, et_core, handles[OBJECT][i], NULL);
		weir_em_object_delete(et_em, et_core, handles[OBJECT][i], WEIR_EM_REMOVE_QUEUES);
		delete_queue(handles[QUEUE][i]);
	}
}

/* Nobody sends any more: what is inside comes out, of a device when it likes. */
static void
settle(void)
{
	uint64_t end = weir_base_time_ns() + 60000000000, nb_dropped;
	struct weir_em_stats stats;

	do {
		et_run();
		stats = et_stats();
		nb_dropped = 0;
		for (int i = 0; i < WEIR_EM_DROPS; i++)
			nb_dropped += stats.nb_dropped[i];
	} while (stats.nb_sent + stats.nb_forwarded != stats.nb_received + nb_dropped &&
		 weir_base_time_ns() < end);
}

/* As et_check_sums(), but what found its queue deleted never was in one. */
static void
check_sums(void)
{
	struct weir_em_stats stats = et_stats();
	uint64_t nb_dropped = 0, nb_sent = 0, nb_received = 0, nb_left = 0;
	struct weir_em_queue_stats sums;

	for (int type = 0; type < WEIR_EM_QUEUE_TYPES; type++) {
		weir_em_type_stats(et_em, (enum weir_em_queue_type)type, &sums);
		assert_int_equal(sums.nb_sent, sums.nb_received + sums.nb_dropped);
		nb_sent += sums.nb_sent;
		nb_received += sums.nb_received;
		nb_left += sums.nb_dropped;
	}
	for (int i = 0; i < WEIR_EM_DROPS; i++)
		nb_dropped += stats.nb_dropped[i];
	assert_int_equal(nb_received, stats.nb_received);
	assert_int_equal(stats.nb_sent + stats.nb_forwarded, stats.nb_received + nb_dropped);
	assert_int_equal(stats.nb_sent + stats.nb_forwarded - nb_sent, nb_dropped - nb_left);
}

static void
everything_at_once(void **state)
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 1};
	uint64_t end, nb_sent = 0;
	struct weir_em_pool_info info;
	pthread_t threads[2];

	et_make((struct weir_em_config){.nb_cores = WORKERS + 1,
		.nb_queues = 64,
		.nb_reserved = 64,
		.nb_objects = 32,
		.nb_event_groups = 32,
		.nb_timeouts = NB_TIMEOUTS});
	pool = weir_em_pool_create(
		et_em, &(struct weir_em_pool_config){
			       .name = "chaos", .nb = NB_BUFFERS, .ops = "ring_mt_rts"});
	weir_em_error_handler_set(et_em, silent, NULL);
	memset(handles, 0, sizeof(handles));
	memset(nb_done, 0, sizeof(nb_done));
	weir_base_log_set_level(WEIR_BASE_LOG_ERROR); /* what is refused, would be told */
	over = false;
	et_workers_begin(WORKERS);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, change, &nb_done[i]), 0);
	end = weir_base_time_ns() + (uint64_t)(st_seconds(SECONDS) * 1e9);
	/* longer, where other things are to do */
	while (weir_base_time_ns() < end || nb_sent < 1000 || et_stats().nb_received <= 100) {
		nb_sent += send_some(et_core);
		weir_em_dispatch(et_core, &once);
	}
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < 2; i++) {
		/* it may wait for this core */
		while (pthread_tryjoin_np(threads[i], NULL) != 0)
			weir_em_dispatch(et_core, &once);
	}
	/* A device keeps what it gave to cores that have left since. */
	if (st_is_builtin())
		et_workers_end();
	delete_all();
	settle();
	et_workers_end();
	weir_base_log_set_level(WEIR_BASE_LOG_INFO);
	print_message("  %ju events, %ju and %ju changes\n", (uintmax_t)et_stats().nb_received,
		(uintmax_t)nb_done[0], (uintmax_t)nb_done[1]);
	assert_true(et_stats().nb_received > 100);
	assert_int_equal(weir_em_pool_info(et_em, pool, &info), 0);
	assert_int_equal(info.nb_free, info.nb);
	check_sums();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {ET_TEST(everything_at_once)};

	return ST_RUN("em-chaos", tests);
}
