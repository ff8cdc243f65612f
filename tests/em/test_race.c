/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Under load, by the test's thread and three workers: order and atomicity of queues while groups change, objects start and stop, are
 * deleted with their queues, and numbers are used again. Each event is told from all others.
 */
#include <sched.h>
#include <unistd.h>

#include "em_test.h"

#define FLOWS   16
#define WORKERS 3

/* Of queues that come and go. */
#define ROUNDS          600
#define ROUNDS_AT_LEAST 60

/* An event's number in its flow, and its flow. */
static uint64_t
token(uint64_t flow, uint64_t number)
{
	return flow << 48 | number;
}

static weir_em_queue first[FLOWS], last[FLOWS];
static uint64_t expected_first[FLOWS], expected_last[FLOWS];
static uint32_t inside_first[FLOWS], inside_last[FLOWS];
static uint64_t nb_last, nb_wrong;

static void
wrong(const char *what, uint64_t flow, uint64_t value, uint64_t expected)
{
	if (__atomic_fetch_add(&nb_wrong, 1, __ATOMIC_RELAXED) < 5)
		fprintf(stderr, "flow %ju: %s: %ju, not %ju\n", (uintmax_t)flow, what,
			(uintmax_t)(value & 0xffffffffffff), (uintmax_t)expected);
}

static void
delay(void)
{
	static __thread unsigned int seed = 1;
	unsigned int n;

	seed = seed * 1103515245 + 12345;
	n = seed >> 16 & 63;
	if (n == 0)
		sched_yield();
	for (volatile unsigned int i = 0; i < n * 4; i++)
		;
}

/* One core at a time has a flow, and its events are in order. */
static void
check_atomic(
	uint32_t *inside, uint64_t *expected, uint64_t flow, struct rte_event *events, uint16_t nb)
{
	if (__atomic_fetch_add(&inside[flow], 1, __ATOMIC_ACQUIRE) != 0)
		wrong("two cores", flow, 2, 1);
	delay();
	for (uint16_t i = 0; i < nb; i++) {
		if (events[i].u64 != token(flow, expected[flow]))
			wrong("order", flow, events[i].u64, expected[flow]);
		expected[flow] = (events[i].u64 & 0xffffffffffff) + 1;
	}
	__atomic_fetch_sub(&inside[flow], 1, __ATOMIC_RELEASE);
}

static void
first_atomic(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	uint64_t flow = (uint64_t)(uintptr_t)queue_context;

	check_atomic(inside_first, expected_first, flow, events, nb);
	CHECK(weir_em_forward_burst(core, last[flow], events, nb) == nb);
}

static void
first_ordered(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	uint64_t flow = (uint64_t)(uintptr_t)queue_context;

	for (uint16_t i = 0; i < nb; i++) {
		delay();
		CHECK(weir_em_forward(core, last[flow], &events[i]) == 0);
	}
}

static void
at_last(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	check_atomic(inside_last, expected_last, (uint64_t)(uintptr_t)queue_context, events, nb);
	__atomic_fetch_add(&nb_last, nb, __ATOMIC_RELEASE);
}

static uint16_t
output_last(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue)
{
	at_last(core, NULL, events, nb, queue, context);
	return nb;
}

static weir_em_object
make_stage(const char *name, weir_em_receive_t receive, uint16_t burst)
{
	weir_em_object object = weir_em_object_create(et_em,
		&(struct weir_em_object_config){.name = name, .receive = receive, .burst = burst});

	assert_int_not_equal(object, WEIR_EM_NONE);
	return object;
}

static weir_em_queue
make_queue(weir_em_object object, enum weir_em_queue_type type, uint64_t flow,
	weir_em_queue_group group)
{
	weir_em_queue queue = weir_em_queue_create(
		et_em, &(struct weir_em_queue_config){.type = type,
			       .priority = st_is_driver("event_dsw") ? 0 : (uint8_t)(flow % 8),
			       .group = group,
			       .context = (void *)(uintptr_t)flow,
			       .output = output_last});

	assert_int_not_equal(queue, WEIR_EM_NONE);
	if (object != WEIR_EM_NONE)
		assert_int_equal(weir_em_object_add_queue(et_em, object, queue), 0);
	return queue;
}

static void
reset(void)
{
	memset(expected_first, 0, sizeof(expected_first));
	memset(expected_last, 0, sizeof(expected_last));
	nb_last = nb_wrong = 0;
}

/* Send @each events of each flow, as there is room. */
static void
send_all(uint64_t each, void (*meanwhile)(uint64_t number))
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 1};

	for (uint64_t number = 0; number < each; number++) {
		for (uint64_t flow = 0; flow < FLOWS; flow++) {
			struct rte_event event = weir_em_event_u64(token(flow, number));

			while (weir_em_send(et_core, first[flow], &event, 1) == 0) {
				weir_em_dispatch(et_core, &once);
				sched_yield();
			}
		}
		if (meanwhile != NULL)
			meanwhile(number);
		if (number % 8 == 0)
			weir_em_dispatch(et_core, &once);
	}
	et_wait(&nb_last, each * FLOWS, "events came out");
	assert_int_equal(nb_wrong, 0);
}

static weir_em_queue_group groups[2];

static void
two_stages(enum weir_em_queue_type from, enum weir_em_queue_type to, void (*meanwhile)(uint64_t),
	uint64_t each)
{
	weir_em_object objects[2];

	/* event_sw cannot change groups of ordered queues */
	et_make((struct weir_em_config){.nb_cores = WORKERS + 1,
		.nb_events = 1024,
		.types = !st_is_builtin() && from == to ? 1 << WEIR_EM_QUEUE_ATOMIC : 0});
	if (st_is_driver("event_dsw") && from == WEIR_EM_QUEUE_ORDERED)
		st_skip("event_dsw has no ordered queues");
	reset();
	for (int i = 0; i < 2; i++)
		groups[i] = weir_em_queue_group_create(et_em, "group", 15);
	if (groups[1] == WEIR_EM_NONE)
		st_skip("%s", st_log_last());
	objects[0] = make_stage(
		"first", from == WEIR_EM_QUEUE_ORDERED ? first_ordered : first_atomic, 8);
	objects[1] = make_stage("last", at_last, 4);
	for (uint64_t flow = 0; flow < FLOWS; flow++) {
		first[flow] = make_queue(objects[0], from, flow, groups[0]);
		last[flow] = make_queue(to == WEIR_EM_QUEUE_OUTPUT ? WEIR_EM_NONE : objects[1], to,
			flow, groups[1]);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(weir_em_object_start(et_em, et_core, objects[i], NULL), 0);
	et_workers_begin(WORKERS);
	send_all(each, meanwhile);
	et_workers_end();
	et_run();
	et_check_sums();
}

static void
atomic_to_atomic(void **state)
{
	two_stages(WEIR_EM_QUEUE_ATOMIC, WEIR_EM_QUEUE_ATOMIC, NULL, 2000);
}

static void
ordered_to_atomic(void **state)
{
	two_stages(WEIR_EM_QUEUE_ORDERED, WEIR_EM_QUEUE_ATOMIC, NULL, 2000);
}

static void
ordered_to_output(void **state)
{
	two_stages(WEIR_EM_QUEUE_ORDERED, WEIR_EM_QUEUE_OUTPUT, NULL, 2000);
}

/* Any cores, but never none of those that are there for good. */
static void
change_groups(uint64_t number)
{
	uint64_t mask = (number * 2654435761u >> 8 & 15) | (number % 2 + 1);
	int rc;

	if (number % 8 != 0)
		return;
	rc = weir_em_queue_group_modify(et_em, et_core, groups[number / 8 % 2], mask);
	if (rc == -ENOTSUP)
		st_skip("%s", st_log_last());
	assert_int_equal(rc, 0);
}

static void
groups_change_atomic(void **state)
{
	two_stages(WEIR_EM_QUEUE_ATOMIC, WEIR_EM_QUEUE_ATOMIC, change_groups, 2000);
}

static void
groups_change_ordered(void **state)
{
	two_stages(WEIR_EM_QUEUE_ORDERED, WEIR_EM_QUEUE_ATOMIC, change_groups, 2000);
}

static void
cores_come_and_go(uint64_t number)
{
	if (number % 250 != 125)
		return;
	et_workers_end();
	et_workers_begin((unsigned int)(number / 250 % WORKERS + 1));
}

static void
cores_leave(void **state)
{
	st_builtin_only(); /* devices want all ports to be looked after */
	two_stages(WEIR_EM_QUEUE_ATOMIC, WEIR_EM_QUEUE_ATOMIC, cores_come_and_go, 2000);
}

static void
cores_leave_ordered(void **state)
{
	st_builtin_only();
	two_stages(WEIR_EM_QUEUE_ORDERED, WEIR_EM_QUEUE_ATOMIC, cores_come_and_go, 2000);
}

/* ---- objects that go while events come ---- */

struct victim {
	weir_em_object object;
	weir_em_queue queues[4];
	uint32_t alive;
	uint64_t nb_received;
};

static uint64_t nb_received, nb_dropped, nb_sent;

static void
receive_alive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct victim *victim = context;

	CHECK(__atomic_load_n(&victim->alive, __ATOMIC_ACQUIRE) == 1);
	delay();
	for (uint16_t i = 0; i < nb; i++)
		CHECK(events[i].u64 == victim->object);
	__atomic_fetch_add(&nb_received, nb, __ATOMIC_RELAXED);
	CHECK(__atomic_load_n(&victim->alive, __ATOMIC_ACQUIRE) == 1);
}

static int
count_drop(
	struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	if (error->kind == WEIR_EM_ERROR_DROP)
		__atomic_fetch_add(&nb_dropped, 1, __ATOMIC_RELAXED);
	return error->code;
}

static enum weir_em_queue_type
some_type(unsigned int i)
{
	static const enum weir_em_queue_type types[] = {WEIR_EM_QUEUE_ATOMIC,
		WEIR_EM_QUEUE_PARALLEL, WEIR_EM_QUEUE_ORDERED, WEIR_EM_QUEUE_LOCAL};

	if (st_is_driver("event_dsw") && types[i % 4] == WEIR_EM_QUEUE_ORDERED)
		return WEIR_EM_QUEUE_ATOMIC;
	return types[i % 4];
}

/* What devices have given to a port is for its worker, who must not leave before. */
static void
wait_for_all(const uint64_t *sent)
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 1};
	uint64_t begun = weir_base_time_ns();

	while (__atomic_load_n(&nb_received, __ATOMIC_ACQUIRE) +
			__atomic_load_n(&nb_dropped, __ATOMIC_ACQUIRE) <
		*sent) {
		weir_em_dispatch(et_core, &once);
		sched_yield();
		if (weir_base_time_ns() - begun > UINT64_C(60000000000))
			fail_msg("%ju received, %ju dropped of %ju", (uintmax_t)nb_received,
				(uintmax_t)nb_dropped, (uintmax_t)*sent);
	}
}

/* @victim is new memory each time: what is used after it is gone is noticed by sanitizers, too. */
static void
live_and_die(unsigned int round)
{
	struct victim *victim = calloc(1, sizeof(*victim));

	assert_non_null(victim);
	victim->alive = 1;
	victim->object =
		weir_em_object_create(et_em, &(struct weir_em_object_config){.name = "victim",
						     .receive = receive_alive,
						     .context = victim,
						     .burst = (uint16_t)(1 + round % 5)});
	assert_int_not_equal(victim->object, WEIR_EM_NONE);
	for (unsigned int i = 0; i < 4; i++) {
		victim->queues[i] = weir_em_queue_create(
			et_em, &(struct weir_em_queue_config){.type = some_type(i)});
		assert_int_not_equal(victim->queues[i], WEIR_EM_NONE);
		assert_int_equal(
			weir_em_object_add_queue(et_em, victim->object, victim->queues[i]), 0);
	}
	assert_int_equal(weir_em_object_start(et_em, et_core, victim->object, NULL), 0);
	for (unsigned int i = 0; i < 64; i++) {
		struct rte_event event = weir_em_event_u64(victim->object);

		nb_sent += weir_em_send(et_core, victim->queues[i % 4], &event, 1);
	}
	if (round % 3 == 0)
		assert_int_equal(weir_em_object_remove_queue(et_em, et_core, victim->queues[1]), 0);
	assert_int_equal(weir_em_object_stop(et_em, et_core, victim->object, NULL), 0);
	assert_int_equal(
		weir_em_object_delete(et_em, et_core, victim->object, WEIR_EM_REMOVE_QUEUES), 0);
	__atomic_store_n(&victim->alive, 0, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(weir_em_queue_delete(et_em, victim->queues[i]), 0);
	free(victim);
}

static void
objects_die_with_events_in_flight(void **state)
{
	const struct weir_em_dispatch_options some = {.nb_rounds = 4};

	/* few numbers: they are used again and again */
	et_make((struct weir_em_config){
		.nb_cores = WORKERS + 1, .nb_events = 1024, .nb_queues = 64, .nb_objects = 2});
	nb_received = nb_dropped = nb_sent = 0;
	weir_em_error_handler_set(et_em, count_drop, NULL);
	et_workers_begin(WORKERS);
	for (unsigned int round = 0; round < 400; round++) {
		struct weir_em_queue_config probe = {.type = WEIR_EM_QUEUE_ATOMIC};
		weir_em_queue queues[4];
		unsigned int nb = 0;

		/* room for four queues: when events of those before are gone */
		while (nb < 4) {
			queues[nb] = weir_em_queue_create(et_em, &probe);
			if (queues[nb] != WEIR_EM_NONE)
				nb++;
			else
				weir_em_dispatch(et_core, &some);
		}
		for (unsigned int i = 0; i < 4; i++)
			assert_int_equal(weir_em_queue_delete(et_em, queues[i]), 0);
		live_and_die(round);
	}
	wait_for_all(&nb_sent);
	et_workers_end();
	et_run();
	assert_true(nb_received > 0);
	assert_true(nb_dropped > 0);
	assert_int_equal(nb_received + nb_dropped, nb_sent);
	et_check_sums();
}

/* It stops itself, and stays for a while: who deletes it waits for that. */
static uint64_t has_stopped, has_left;

static void
stop_and_stay(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	CHECK(weir_em_object_stop(et_em, core, weir_em_current_object(core), NULL) == 0);
	__atomic_store_n(&has_stopped, 1, __ATOMIC_RELEASE);
	usleep(20000);
	__atomic_store_n(&has_left, 1, __ATOMIC_RELEASE);
}

static void
who_stopped_itself_is_waited_for(void **state)
{
	weir_em_queue_group group;
	weir_em_object object;
	weir_em_queue queue;
	struct rte_event event = weir_em_event_u64(0);

	st_builtin_only(); /* a group of one worker */
	et_make((struct weir_em_config){.nb_cores = WORKERS + 1});
	has_stopped = has_left = 0;
	et_workers_begin(WORKERS);
	group = weir_em_queue_group_create(et_em, "one", 2);
	object = make_stage("self", stop_and_stay, 1);
	queue = make_queue(object, WEIR_EM_QUEUE_ATOMIC, 0, group);
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
	assert_int_equal(weir_em_send(et_core, queue, &event, 1), 1);
	et_wait(&has_stopped, 1, "stopped");
	assert_int_equal(weir_em_object_delete(et_em, et_core, object, WEIR_EM_REMOVE_QUEUES), 0);
	assert_int_equal(__atomic_load_n(&has_left, __ATOMIC_ACQUIRE), 1);
	et_workers_end();
	et_check_sums();
}

/* ---- senders of queues that go ---- */

static weir_em_queue target;
static uint64_t nb_producer_sent;
static bool producers_over, producers_sent;

static void *
produce(void *arg)
{
	struct weir_em_core *core = weir_em_producer_attach(et_em);
	uint64_t nb = 0;

	CHECK(core != NULL);
	while (!__atomic_load_n(&producers_over, __ATOMIC_ACQUIRE)) {
		weir_em_queue queue = __atomic_load_n(&target, __ATOMIC_ACQUIRE);
		struct rte_event event = weir_em_event_u64(queue);

		if (weir_em_send(core, queue, &event, 1) == 1 && nb++ == 0)
			__atomic_store_n(&producers_sent, true, __ATOMIC_RELAXED);
		if (nb % 64 == 0)
			sched_yield();
	}
	__atomic_fetch_add(&nb_producer_sent, nb, __ATOMIC_RELAXED);
	CHECK(weir_em_core_detach(core) == 0);
	return NULL;
}

/* The event says which queue it was sent to: it must be none that came later. */
static void
receive_own(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	for (uint16_t i = 0; i < nb; i++)
		if (events[i].u64 != queue)
			wrong("alias", 0, events[i].u64, queue);
	__atomic_fetch_add(&nb_received, nb, __ATOMIC_RELAXED);
}

static int
count_own_drop(
	struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	if (error->kind != WEIR_EM_ERROR_DROP)
		return error->code;
	if (error->event->u64 != error->queue)
		wrong("alias of a dropped one", 0, error->event->u64, error->queue);
	__atomic_fetch_add(&nb_dropped, 1, __ATOMIC_RELAXED);
	return error->code;
}

/* Each waits for all threads in turn, which takes a busy machine's time slices: fewer there. */
static bool
has_more_rounds(unsigned int round, uint64_t until)
{
	return round < ROUNDS_AT_LEAST || (round < ROUNDS && weir_base_time_ns() < until) ||
	       !__atomic_load_n(&producers_sent, __ATOMIC_RELAXED);
}

static void
numbers_are_not_mixed_up(enum weir_em_queue_type type, bool ring)
{
	const struct weir_em_dispatch_options some = {.nb_rounds = 4};
	pthread_t threads[2];
	weir_em_object object;
	struct rte_event events[8];
	uint64_t nb_taken = 0, until;

	et_make((struct weir_em_config){
		.nb_cores = WORKERS + 1, .nb_producers = 2, .nb_events = 256, .nb_queues = 4});
	reset();
	nb_received = nb_dropped = nb_producer_sent = 0;
	producers_over = producers_sent = false;
	weir_em_error_handler_set(et_em, count_own_drop, NULL);
	object = make_stage("own", receive_own, 8);
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
	et_workers_begin(WORKERS);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, produce, NULL), 0);
	until = weir_base_time_ns() + (uint64_t)(st_seconds(2) * 1e9);
	for (unsigned int round = 0; has_more_rounds(round, until);) {
		weir_em_queue queue = weir_em_queue_create(
			et_em, &(struct weir_em_queue_config){.type = type, .size = 64});

		if (queue == WEIR_EM_NONE) {
			weir_em_dispatch(et_core, &some);
			continue;
		}
		if (!ring)
			assert_int_equal(weir_em_object_add_queue(et_em, object, queue), 0);
		__atomic_store_n(&target, queue, __ATOMIC_RELEASE);
		for (int i = 0; i < 4; i++)
			sched_yield();
		for (uint16_t n = ring ? weir_em_queue_dequeue(et_em, queue, events, 8) : 0; n > 0;
			n--, nb_taken++)
			assert_int_equal(events[n - 1].u64, queue);
		if (!ring)
			assert_int_equal(weir_em_object_remove_queue(et_em, et_core, queue), 0);
		assert_int_equal(weir_em_queue_delete(et_em, queue), 0);
		round++;
	}
	__atomic_store_n(&producers_over, true, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (!ring)
		wait_for_all(&nb_producer_sent);
	et_workers_end();
	et_run();
	/* what came to a ring late is found when one is deleted */
	if (ring)
		assert_int_equal(
			weir_em_queue_delete(et_em, et_queue("ring", WEIR_EM_QUEUE_UNSCHEDULED, 0)),
			0);
	assert_int_equal(nb_wrong, 0);
	assert_true(nb_producer_sent > 0);
	assert_int_equal(nb_received + nb_dropped + nb_taken, nb_producer_sent);
	et_check_sums();
}

static void
numbers_of_atomic_queues(void **state)
{
	numbers_are_not_mixed_up(WEIR_EM_QUEUE_ATOMIC, false);
}

static void
numbers_of_parallel_queues(void **state)
{
	numbers_are_not_mixed_up(WEIR_EM_QUEUE_PARALLEL, false);
}

static void
numbers_of_rings(void **state)
{
	numbers_are_not_mixed_up(WEIR_EM_QUEUE_UNSCHEDULED, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(atomic_to_atomic),
		ET_TEST(ordered_to_atomic),
		ET_TEST(ordered_to_output),
		ET_TEST(groups_change_atomic),
		ET_TEST(groups_change_ordered),
		ET_TEST(cores_leave),
		ET_TEST(cores_leave_ordered),
		ET_TEST(objects_die_with_events_in_flight),
		ET_TEST(who_stopped_itself_is_waited_for),
		ET_TEST(numbers_of_atomic_queues),
		ET_TEST(numbers_of_parallel_queues),
		ET_TEST(numbers_of_rings),
	};

	return ST_RUN("em-race", tests);
}
