/* SPDX-License-Identifier: BSD-3-Clause */
/* 100,000 queues (of devices, unless there is time, fewer): made, used by four cores, deleted and made again while events are in flight. */
#include <sched.h>
#include <stdlib.h>

#include "em_test.h"

#define NB         100000
#define NB_DEVICES 10000 /* they are slow at it; all with WEIR_TEST_LONG */
#define WORKERS    3

static uintptr_t nb_queues;
static weir_em_queue *queues;
static uint32_t *nb_of, *owner;
static uint64_t nb_received, nb_dropped, nb_wrong;

/* An event's number is that of its queue; the queue's context too. */
static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	uintptr_t number = (uintptr_t)queue_context;

	for (uint16_t i = 0; i < nb; i++)
		if (events[i].u64 != number)
			__atomic_fetch_add(&nb_wrong, 1, __ATOMIC_RELAXED);
	if (__atomic_exchange_n(&owner[number], 1, __ATOMIC_ACQUIRE) != 0)
		__atomic_fetch_add(&nb_wrong, 1, __ATOMIC_RELAXED);
	nb_of[number] += nb;
	__atomic_store_n(&owner[number], 0, __ATOMIC_RELEASE);
	__atomic_fetch_add(&nb_received, nb, __ATOMIC_RELEASE);
}

static int
count_drop(
	struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	if (error->kind == WEIR_EM_ERROR_DROP)
		__atomic_fetch_add(&nb_dropped, 1, __ATOMIC_RELEASE);
	return error->code;
}

static weir_em_queue
make_one(weir_em_object object, uintptr_t number)
{
	weir_em_queue queue = weir_em_queue_create(
		et_em, &(struct weir_em_queue_config){
			       .type = WEIR_EM_QUEUE_ATOMIC, .context = (void *)number});

	if (queue != WEIR_EM_NONE)
		assert_int_equal(weir_em_object_add_queue(et_em, object, queue), 0);
	return queue;
}

static void
send_one(uintptr_t number)
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 1};
	struct rte_event event = weir_em_event_u64(number);

	while (weir_em_send(et_core, queues[number], &event, 1) == 0) {
		assert_int_equal(rte_errno, ENOSPC);
		weir_em_dispatch(et_core, &once);
		sched_yield();
	}
}

static void
all_of_them(void **state)
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 1};
	weir_em_object object;
	uint64_t expected;

	nb_queues = st_is_builtin() || getenv("WEIR_TEST_LONG") != NULL ? NB : NB_DEVICES;
	expected = 3 * nb_queues;
	et_make((struct weir_em_config){.nb_cores = WORKERS + 1,
		.nb_queues = (uint32_t)nb_queues,
		.nb_queue_groups = 1,
		.priorities = 1});
	queues = calloc(nb_queues, sizeof(*queues));
	nb_of = calloc(nb_queues, sizeof(*nb_of));
	owner = calloc(nb_queues, sizeof(*owner));
	nb_received = nb_dropped = nb_wrong = 0;
	weir_em_error_handler_set(et_em, count_drop, NULL);
	object = weir_em_object_create(
		et_em, &(struct weir_em_object_config){.receive = receive, .burst = 8});
	assert_int_not_equal(object, WEIR_EM_NONE);
	for (uintptr_t i = 0; i < nb_queues; i++) {
		queues[i] = make_one(object, i);
		assert_int_not_equal(queues[i], WEIR_EM_NONE);
	}
	assert_int_equal(make_one(object, 0), WEIR_EM_NONE);
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
	et_workers_begin(WORKERS);
	for (int turn = 0; turn < 3; turn++)
		for (uintptr_t i = 0; i < nb_queues; i++)
			send_one(i * 7919 % nb_queues);
	et_wait(&nb_received, expected, "received");
	for (uintptr_t i = 0; i < nb_queues; i++)
		assert_int_equal(nb_of[i], 3);
	/* Half of them go with an event in each, and others come. */
	assert_int_equal(weir_em_object_stop(et_em, et_core, object, NULL), 0);
	for (uintptr_t i = 0; i < nb_queues; i++)
		send_one(i);
	et_wait(&nb_dropped, nb_queues, "dropped");
	assert_int_equal(weir_em_object_delete(et_em, et_core, object, WEIR_EM_REMOVE_QUEUES), 0);
	object = weir_em_object_create(
		et_em, &(struct weir_em_object_config){.receive = receive, .burst = 8});
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
	for (uintptr_t i = 0; i < nb_queues; i += 2) {
		weir_em_queue before = queues[i];

		send_one(i);
		assert_int_equal(weir_em_queue_delete(et_em, before), 0);
		while ((queues[i] = make_one(object, i)) == WEIR_EM_NONE) {
			weir_em_dispatch(et_core, &once);
			sched_yield();
		}
		assert_int_not_equal(queues[i], before);
		send_one(i);
	}
	et_wait(&nb_received, expected + nb_queues / 2, "received by those that came");
	et_wait(&nb_dropped, nb_queues + nb_queues / 2, "dropped of those that went");
	et_workers_end();
	et_run();
	assert_int_equal(nb_wrong, 0);
	et_check_sums();
	free(queues);
	free(nb_of);
	free(owner);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {ET_TEST(all_of_them)};

	return ST_RUN("em-many", tests);
}
