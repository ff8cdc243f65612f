/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events that become jobs, by the function that an rte_dispatcher calls: a thread of the test calls it as its lcores do, by a pointer of the same
 * type. Where the installed DPDK has the dispatcher itself (from 23.11 on), that calls it, too.
 */

#include <sched.h>

#include "job_test.h"

#include "weir_job_dispatcher.h"

#if __has_include(<rte_dispatcher.h>)
#define HAS_DISPATCHER
/* All of it is experimental, up to 26.11 at least. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <rte_dev.h>
#include <rte_dispatcher.h>
#include <rte_lcore.h>
#include <rte_service.h>
#include <rte_service_component.h>
#endif

#define NB 64

static void (*const process)(uint8_t event_dev_id, uint8_t event_port_id, struct rte_event *events,
	uint16_t num, void *cb_data) = weir_job_dispatcher_process;

static struct weir_job_dispatcher_handler handler;
static uint64_t nb_done, sum, nb_inside[4], nb_together, nb_refused, sum_refused, leave;

static void
adds(void *in, void *out)
{
	const struct rte_event *event = in;
	unsigned int flow = event->flow_id % 4;

	if (__atomic_add_fetch(&nb_inside[flow], 1, __ATOMIC_SEQ_CST) > 1)
		jt_add(&nb_together, 1);
	for (int i = 0; i < 20; i++)
		sched_yield();
	jt_add(&nb_inside[flow], -(uint64_t)1);
	jt_add(&sum, event->u64);
	jt_add(&nb_done, 1);
}

static void
stays(void *in, void *out)
{
	while (jt_read(&leave) == 0)
		if (weir_job_yield() < 0)
			break;
	jt_add(&nb_done, 1);
}

static void
is_refused(void *arg, const struct rte_event *event)
{
	assert_ptr_equal(arg, &handler);
	jt_add(&nb_refused, 1);
	jt_add(&sum_refused, event->u64);
}

static void *
dispatch(void *arg)
{
	struct rte_event events[NB];

	for (uint64_t i = 0; i < NB; i++)
		events[i] = (struct rte_event){
			.queue_id = 3, .flow_id = (uint32_t)(i % 4), .u64 = i + 1};
	process(0, 1, events, NB / 2, &handler);
	process(0, 2, &events[NB / 2], NB / 2, &handler);
	process(0, 1, events, 0, &handler);
	return NULL;
}

static void
let_dispatch(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, dispatch, NULL), 0);
	pthread_join(thread, NULL);
}

static void
begin(weir_job_fn_t fn, unsigned int max_jobs)
{
	nb_done = sum = nb_together = nb_refused = sum_refused = leave = 0;
	jt_make_of(jt_em_config(3),
		(struct weir_job_service_config){.max_jobs = max_jobs, .cache = 1}, 2 * NB);
	handler = (struct weir_job_dispatcher_handler){
		.service = jt_service, .fn = fn, .refused = is_refused, .refused_arg = &handler};
}

static void
each_event_is_a_job(void **state)
{
	begin(adds, 2 * NB);
	let_dispatch();
	jt_finish();
	assert_int_equal(handler.nb_begun, NB);
	assert_int_equal(handler.nb_refused, 0);
	assert_int_equal(nb_done, NB);
	assert_int_equal(sum, NB * (NB + 1) / 2);
}

static void
one_of_a_flow(void **state)
{
	begin(adds, 2 * NB);
	handler.by_flow = true;
	let_dispatch();
	jt_finish();
	assert_int_equal(nb_done, NB);
	assert_int_equal(nb_together, 0);
}

/* What does not fit is counted, and given back, one by one. */
static void
too_many(void **state)
{
	begin(stays, 10);
	let_dispatch();
	assert_int_equal(handler.nb_begun + handler.nb_refused, NB);
	assert_int_equal(handler.nb_begun, 10);
	assert_int_equal(nb_refused, handler.nb_refused);
	/* the first ones were begun */
	assert_int_equal(
		sum_refused, NB * (NB + 1) / 2 - handler.nb_begun * (handler.nb_begun + 1) / 2);
	__atomic_store_n(&leave, 1, __ATOMIC_SEQ_CST);
	jt_finish();
	assert_int_equal(nb_done, handler.nb_begun);
	/* nor after it was stopped, without anybody who is told */
	assert_int_equal(weir_job_service_stop(jt_service, et_core, WEIR_JOB_FOREVER), 0);
	handler.refused = NULL;
	handler.nb_refused = 0;
	let_dispatch();
	assert_int_equal(handler.nb_refused, NB);
}

static void
wrong_arguments(void **state)
{
	struct rte_event event = {.u64 = 1};

	begin(adds, 10);
	process(0, 1, &event, 1, NULL);
	process(0, 1, NULL, 1, &handler);
	assert_int_equal(handler.nb_begun + handler.nb_refused, 0);
	/* without a service each event is refused, and told */
	handler.service = NULL;
	process(0, 1, &event, 1, &handler);
	assert_int_equal(handler.nb_refused, 1);
	assert_int_equal(nb_refused, 1);
}

#ifdef HAS_DISPATCHER
#define DEVICE  "event_dsw9"
#define QUEUE   0
#define SENDER  0 /* ports */
#define TAKER   1
#define PATIENT 1000000 /* rounds of the dispatcher */

static int
make_device(void)
{
	const struct rte_event_queue_conf queue = {
		.schedule_type = RTE_SCHED_TYPE_ATOMIC, .nb_atomic_flows = 1024};
	struct rte_event_dev_info info;
	struct rte_event_dev_config config;
	const uint8_t queues[] = {QUEUE};
	int device;

	assert_int_equal(rte_eal_hotplug_add("vdev", DEVICE, ""), 0);
	device = rte_event_dev_get_dev_id(DEVICE);
	assert_true(device >= 0);
	assert_int_equal(rte_event_dev_info_get((uint8_t)device, &info), 0);
	config = (struct rte_event_dev_config){.nb_event_queues = 1,
		.nb_event_ports = 2,
		.nb_events_limit = info.max_num_events,
		.nb_event_queue_flows = 1024,
		.nb_event_port_dequeue_depth = 32,
		.nb_event_port_enqueue_depth = 32};
	assert_int_equal(rte_event_dev_configure((uint8_t)device, &config), 0);
	assert_int_equal(rte_event_queue_setup((uint8_t)device, QUEUE, &queue), 0);
	for (uint8_t port = SENDER; port <= TAKER; port++)
		assert_int_equal(rte_event_port_setup((uint8_t)device, port, NULL), 0);
	assert_int_equal(rte_event_port_link((uint8_t)device, TAKER, queues, NULL, 1), 1);
	assert_int_equal(rte_event_dev_start((uint8_t)device), 0);
	return device;
}

static bool
is_even(const struct rte_event *event, void *arg)
{
	(void)arg;
	return event->u64 % 2 == 0;
}

static void
send_new(uint8_t device)
{
	for (uint64_t i = 0; i < NB; i++) {
		const struct rte_event event = {.op = RTE_EVENT_OP_NEW,
			.queue_id = QUEUE,
			.sched_type = RTE_SCHED_TYPE_ATOMIC,
			.flow_id = (uint32_t)(i % 4),
			.u64 = i + 1};

		assert_int_equal(rte_event_enqueue_new_burst(device, SENDER, &event, 1), 1);
	}
	/* of its own, which an event_dsw port keeps until it is called again */
	rte_event_enqueue_new_burst(device, SENDER, NULL, 0);
}

/* Rounds of the service on this lcore until it has met all events. */
static struct rte_dispatcher_stats
run_dispatcher(struct rte_dispatcher *dispatcher)
{
	const uint32_t service = rte_dispatcher_service_id_get(dispatcher);
	struct rte_dispatcher_stats stats = {0};

	assert_int_equal(rte_service_component_runstate_set(service, 1), 0);
	assert_int_equal(rte_service_runstate_set(service, 1), 0);
	rte_dispatcher_start(dispatcher);
	for (unsigned int i = 0; i < PATIENT && stats.ev_dispatch_count + stats.ev_drop_count < NB;
		i++) {
		assert_int_equal(rte_service_run_iter_on_app_lcore(service, 1), 0);
		rte_dispatcher_stats_get(dispatcher, &stats);
	}
	rte_dispatcher_stop(dispatcher);
	return stats;
}

/* One of two handlers' worth of events begins jobs; what no handler wants the dispatcher drops, and says so. */
static void
called_by_the_dispatcher(void **state)
{
	struct rte_dispatcher *dispatcher;
	struct rte_dispatcher_stats stats;
	uint8_t device;
	int number;

	begin(adds, 2 * NB);
	handler.by_flow = true;
	device = (uint8_t)make_device();
	dispatcher = rte_dispatcher_create(device);
	assert_non_null(dispatcher);
	number = rte_dispatcher_register(
		dispatcher, is_even, NULL, weir_job_dispatcher_process, &handler);
	assert_true(number >= 0);
	assert_int_equal(
		rte_dispatcher_bind_port_to_lcore(dispatcher, TAKER, 32, 0, rte_lcore_id()), 0);
	send_new(device);
	stats = run_dispatcher(dispatcher);
	assert_int_equal(stats.ev_dispatch_count, NB / 2);
	assert_int_equal(stats.ev_drop_count, NB / 2);
	jt_finish();
	assert_int_equal(handler.nb_begun, NB / 2);
	assert_int_equal(handler.nb_refused, 0);
	assert_int_equal(nb_done, NB / 2);
	assert_int_equal(sum, NB / 2 * (NB / 2 + 1));
	assert_int_equal(nb_together, 0);
	assert_int_equal(
		rte_dispatcher_unbind_port_from_lcore(dispatcher, TAKER, rte_lcore_id()), 0);
	assert_int_equal(rte_dispatcher_unregister(dispatcher, number), 0);
	assert_int_equal(rte_dispatcher_free(dispatcher), 0);
	rte_event_dev_stop(device);
	assert_int_equal(rte_event_dev_close(device), 0);
	assert_int_equal(rte_eal_hotplug_remove("vdev", DEVICE), 0);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef HAS_DISPATCHER
		JT_TEST(called_by_the_dispatcher),
#endif
		JT_TEST(each_event_is_a_job),
		JT_TEST(one_of_a_flow),
		JT_TEST(too_many),
		JT_TEST(wrong_arguments),
	};

	return ST_RUN("job-dispatcher", tests);
}
