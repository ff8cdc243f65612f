/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events that become jobs, by the function that an rte_dispatcher calls. The dispatcher itself is not here, which DPDK has from 23.11 on: a
 * thread of the test calls the function as its lcores do, by a pointer of the same type.
 */

#include <sched.h>

#include "job_test.h"

#include "weir_job_dispatcher.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JT_TEST(each_event_is_a_job),
		JT_TEST(one_of_a_flow),
		JT_TEST(too_many),
		JT_TEST(wrong_arguments),
	};

	return ST_RUN("job-dispatcher", tests);
}
