/* SPDX-License-Identifier: BSD-3-Clause */

/* What is told of a scheduler: its configuration as it is in force, links, xstats, dump. */

#include <pthread.h>

#include "sched_test.h"

static void
configuration(void **state)
{
	struct weir_sched_config config;

	st_make((struct weir_sched_config){.nb_ports = 3, .nb_queues = 2, .nb_events = 512});
	memset(&config, 0xff, sizeof(config));
	assert_int_equal(weir_sched_config_get(st_sched, &config), 0);
	assert_string_equal(config.backend, st_backend());
	assert_int_equal(config.nb_ports, 3);
	assert_int_equal(config.nb_queues, 2);
	assert_int_equal(config.nb_flows, 1024);
	assert_int_equal(config.nb_events, 512);
	assert_int_equal(config.nb_reserved, 0);
	assert_int_equal(config.new_threshold, 512);
	assert_int_equal(config.starvation_bound, 0);
}

static void
queues_and_ports(void **state)
{
	struct weir_sched_queue_config queue;
	struct weir_sched_port_config port;

	st_make((struct weir_sched_config){.nb_ports = 3, .nb_queues = 2});
	assert_int_equal(weir_sched_queue_get(st_sched, 1, &queue), 0);
	assert_int_equal(queue.type, ATOMIC);
	assert_int_equal(queue.priority, 0);
	assert_int_equal(queue.group, 0);
	assert_int_equal(weir_sched_port_get(st_sched, 2, &port), 0);
	assert_false(port.producer);
	assert_false(port.no_implicit_release);
	assert_int_equal(port.nb_held, 128);
	st_queue(1, PARALLEL, 0, 3);
	assert_int_equal(weir_sched_queue_get(st_sched, 1, &queue), 0);
	assert_int_equal(queue.type, PARALLEL);
	assert_int_equal(queue.group, 3);
	/* what is refused is not in force */
	assert_int_equal(weir_sched_queue_setup(st_sched, 1,
				 &(struct weir_sched_queue_config){.type = ATOMIC, .group = 64}),
		-EINVAL);
	assert_int_equal(weir_sched_queue_get(st_sched, 1, &queue), 0);
	assert_int_equal(queue.type, PARALLEL);
	assert_int_equal(weir_sched_port_setup(st_sched, 2,
				 &(struct weir_sched_port_config){.producer = true, .nb_held = 7}),
		0);
	assert_int_equal(weir_sched_port_get(st_sched, 2, &port), 0);
	assert_true(port.producer);
	assert_int_equal(port.nb_held, 7);
}

static void
links(void **state)
{
	uint64_t ports = 99;

	st_make((struct weir_sched_config){.nb_ports = 3, .nb_queues = 2});
	st_queue(1, ATOMIC, 0, 3);
	assert_int_equal(weir_sched_group_get(st_sched, 0, &ports), 0);
	assert_int_equal(ports, 7);
	assert_int_equal(weir_sched_group_get(st_sched, 3, &ports), 0);
	assert_int_equal(ports, 0);
	assert_int_equal(weir_sched_queue_ports(st_sched, 0), 7);
	assert_int_equal(weir_sched_queue_ports(st_sched, 1), 0);
	st_group(3, 6);
	assert_int_equal(weir_sched_group_get(st_sched, 3, &ports), 0);
	assert_int_equal(ports, 6);
	assert_int_equal(weir_sched_queue_ports(st_sched, 1), 6);
	/* nothing goes to a producer */
	assert_int_equal(weir_sched_port_setup(
				 st_sched, 2, &(struct weir_sched_port_config){.producer = true}),
		0);
	assert_int_equal(weir_sched_queue_ports(st_sched, 0), 3);
	assert_int_equal(weir_sched_queue_ports(st_sched, 1), 2);
	assert_int_equal(weir_sched_group_get(st_sched, 3, &ports), 0);
	assert_int_equal(ports, 6);
}

static void
running(void **state)
{
	assert_false(weir_sched_running(NULL));
	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 1});
	st_producer_on_device(1);
	assert_false(weir_sched_running(st_sched));
	st_start();
	assert_true(weir_sched_running(st_sched));
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	assert_false(weir_sched_running(st_sched));
}

/* Whoever asks, while it is started and stopped: no counter goes back. */
static void *
ask(void *arg)
{
	const bool *ended = arg;
	struct weir_sched_stats before = {0}, stats;

	while (!__atomic_load_n(ended, __ATOMIC_ACQUIRE)) {
		weir_sched_running(st_sched);
		weir_sched_stats(st_sched, &stats);
		CHECK(stats.nb_new >= before.nb_new);
		CHECK(stats.nb_drained >= before.nb_drained);
		CHECK(stats.nb_drained <= stats.nb_new);
		if (st_is_builtin())
			CHECK(stats.nb_dequeued == before.nb_dequeued);
		before = stats;
	}
	return NULL;
}

static void
asked_beside_stop(void **state)
{
	const unsigned int nb_rounds = st_is_builtin() ? 200 : 5;
	bool ended = false;
	pthread_t asker;

	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 1});
	if (weir_sched_xstats(st_sched, WEIR_SCHED_PART_PORT, 0, NULL, 0) == 0)
		st_skip("the model is not asked while it stops");
	st_producer_on_device(1);
	assert_int_equal(pthread_create(&asker, NULL, ask, &ended), 0);
	for (unsigned int round = 1; round <= nb_rounds; round++) {
		struct rte_event events[16];
		struct st_drained drained = {.max = 16, .events = events};

		st_start();
		for (unsigned int i = 0; i < 10; i++)
			st_new(1, 0, i, i);
		assert_int_equal(weir_sched_stop(st_sched, st_drain, &drained), 0);
		assert_int_equal(drained.nb, 10);
		assert_int_equal(st_stats().nb_drained, 10 * round);
	}
	__atomic_store_n(&ended, true, __ATOMIC_RELEASE);
	pthread_join(asker, NULL);
}

static void
arguments(void **state)
{
	struct weir_sched_config config;
	struct weir_sched_queue_config queue;
	struct weir_sched_port_config port;
	struct weir_sched_xstat xstat;
	uint64_t ports, value = 7;

	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 1});
	assert_int_equal(weir_sched_config_get(NULL, &config), -EINVAL);
	assert_int_equal(weir_sched_config_get(st_sched, NULL), -EINVAL);
	assert_int_equal(weir_sched_queue_get(NULL, 0, &queue), -EINVAL);
	assert_int_equal(weir_sched_queue_get(st_sched, 0, NULL), -EINVAL);
	assert_int_equal(weir_sched_queue_get(st_sched, 1, &queue), -EINVAL);
	assert_int_equal(weir_sched_port_get(NULL, 0, &port), -EINVAL);
	assert_int_equal(weir_sched_port_get(st_sched, 0, NULL), -EINVAL);
	assert_int_equal(weir_sched_port_get(st_sched, 2, &port), -EINVAL);
	assert_int_equal(weir_sched_group_get(NULL, 0, &ports), -EINVAL);
	assert_int_equal(weir_sched_group_get(st_sched, 0, NULL), -EINVAL);
	assert_int_equal(weir_sched_group_get(st_sched, 64, &ports), -EINVAL);
	assert_int_equal(weir_sched_queue_ports(NULL, 0), 0);
	assert_int_equal(weir_sched_queue_ports(st_sched, 1), 0);
	assert_int_equal(weir_sched_xstats(NULL, WEIR_SCHED_PART_ALL, 0, &xstat, 1), -EINVAL);
	assert_int_equal(weir_sched_xstats(st_sched, WEIR_SCHED_PART_ALL, 0, NULL, 1), -EINVAL);
	assert_int_equal(weir_sched_xstats(st_sched, WEIR_SCHED_PART_ALL, 1, &xstat, 1), -EINVAL);
	assert_int_equal(weir_sched_xstats(st_sched, WEIR_SCHED_PART_PORT, 2, &xstat, 1), -EINVAL);
	assert_int_equal(weir_sched_xstats(st_sched, WEIR_SCHED_PART_QUEUE, 1, &xstat, 1), -EINVAL);
	assert_int_equal(
		weir_sched_xstats(st_sched, (enum weir_sched_part)3, 0, &xstat, 1), -EINVAL);
	assert_int_equal(
		weir_sched_xstat_by_name(NULL, WEIR_SCHED_PART_ALL, 0, "new", &value), -EINVAL);
	assert_int_equal(
		weir_sched_xstat_by_name(st_sched, WEIR_SCHED_PART_ALL, 1, "new", &value), -EINVAL);
	assert_int_equal(
		weir_sched_xstat_by_name(st_sched, WEIR_SCHED_PART_ALL, 0, NULL, &value), -EINVAL);
	assert_int_equal(
		weir_sched_xstat_by_name(st_sched, WEIR_SCHED_PART_ALL, 0, "new", NULL), -EINVAL);
	assert_int_equal(
		weir_sched_xstat_by_name(st_sched, WEIR_SCHED_PART_ALL, 0, "ne", &value), -ENOENT);
	assert_int_equal(value, 7);
}

static void
check_queue(unsigned int queue, uint64_t enqueued, uint64_t dequeued, uint64_t drained)
{
	assert_int_equal(st_xstat(WEIR_SCHED_PART_QUEUE, queue, "enqueued"), enqueued);
	assert_int_equal(st_xstat(WEIR_SCHED_PART_QUEUE, queue, "dequeued"), dequeued);
	assert_int_equal(st_xstat(WEIR_SCHED_PART_QUEUE, queue, "drained"), drained);
	assert_int_equal(
		st_xstat(WEIR_SCHED_PART_QUEUE, queue, "waiting"), enqueued - dequeued - drained);
}

static void
xstats(void **state)
{
	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 1});
	st_producer_on_device(1);
	st_start();
	for (unsigned int i = 0; i < 10; i++)
		st_new(1, 0, i, i);
	for (unsigned int i = 0; i < 8; i++)
		st_release(0, st_get_one(0));
	assert_int_equal(st_xstat(WEIR_SCHED_PART_ALL, 0, "new"), 10);
	assert_int_equal(st_xstat(WEIR_SCHED_PART_ALL, 0, "released"), 8);
	if (weir_sched_xstats(st_sched, WEIR_SCHED_PART_PORT, 0, NULL, 0) == 0)
		st_skip("the backend counts nothing by port");
	assert_int_equal(st_xstat(WEIR_SCHED_PART_PORT, 1, "new"), 10);
	assert_int_equal(st_xstat(WEIR_SCHED_PART_PORT, 1, "dequeued"), 0);
	assert_int_equal(st_xstat(WEIR_SCHED_PART_PORT, 0, "new"), 0);
	assert_int_equal(st_xstat(WEIR_SCHED_PART_PORT, 0, "released"), 8);
	check_queue(0, 10, 8, 0);
	/* the device's own, where it has some */
	if (st_is_driver("event_sw"))
		assert_int_equal(st_xstat(WEIR_SCHED_PART_QUEUE, 0, "dev_qid_0_rx"), 10);
	if (st_is_driver("event_dsw"))
		assert_true(st_xstat(WEIR_SCHED_PART_PORT, 1, "dev_port_1_new_enqueued") == 10);
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	assert_int_equal(st_xstat(WEIR_SCHED_PART_ALL, 0, "drained"), 2);
	assert_int_equal(st_xstat(WEIR_SCHED_PART_PORT, 1, "new"), 10);
	check_queue(0, 10, 8, 2);
}

/* Three queues in all mixes, of single events and bursts: each has its own, from start to start. */
static void
queue_xstats(void **state)
{
	static const unsigned int queues[] = {0, 0, 2, 0, 1, 1, 1, 0};
	struct rte_event events[RTE_DIM(queues)];

	if (st_is_driver("event_opdl"))
		st_skip("event_opdl: one way only through its queues");
	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 3});
	st_producer_on_device(1);
	for (unsigned int queue = 0; queue < 3; queue++)
		check_queue(queue, 0, 0, 0);
	st_start();
	for (unsigned int i = 0; i < RTE_DIM(queues); i++)
		events[i] = st_event(RTE_EVENT_OP_NEW, queues[i], i, i);
	assert_int_equal(weir_sched_enqueue(st_port(1), events, RTE_DIM(events)), RTE_DIM(events));
	check_queue(0, 4, 0, 0);
	check_queue(1, 3, 0, 0);
	check_queue(2, 1, 0, 0);
	/* What is refused is of no queue. */
	events[0] = st_event(RTE_EVENT_OP_NEW, 2, 0, 0);
	events[1] = st_event(RTE_EVENT_OP_NEW, 3, 0, 0);
	assert_int_equal(weir_sched_enqueue(st_port(1), events, 2), 1);
	check_queue(2, 2, 0, 0);
	/* All there is, and each on to queue 2, but for those that come from there: they go. */
	for (unsigned int left = 9 + 7; left > 0; left--) {
		struct rte_event event = st_get_one(0);

		if (event.queue_id == 2)
			st_release(0, event);
		else
			st_forward(0, event, 2);
	}
	check_queue(0, 4, 4, 0);
	check_queue(1, 3, 3, 0);
	check_queue(2, 9, 9, 0);
	st_new(1, 0, 0, 0);
	st_new(1, 2, 0, 0);
	st_new(1, 2, 1, 0);
	st_release(0, st_get_one(0));
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	assert_int_equal(st_xstat(WEIR_SCHED_PART_QUEUE, 0, "enqueued"), 5);
	assert_int_equal(st_xstat(WEIR_SCHED_PART_QUEUE, 2, "enqueued"), 11);
	for (unsigned int queue = 0; queue < 3; queue++)
		assert_int_equal(st_xstat(WEIR_SCHED_PART_QUEUE, queue, "waiting"), 0);
	assert_int_equal(st_xstat(WEIR_SCHED_PART_QUEUE, 0, "drained") +
				 st_xstat(WEIR_SCHED_PART_QUEUE, 2, "drained"),
		2);
}

/* A burst that is of several queues counts for each. */
static void
queue_xstats_of_bursts(void **state)
{
	static const unsigned int queues[] = {0, 0, 2, 0, 1, 1, 1, 0};
	struct rte_event events[RTE_DIM(queues)];

	if (st_is_driver("event_opdl"))
		st_skip("event_opdl: a port has one queue");
	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 3});
	st_producer_on_device(1);
	st_start();
	for (unsigned int round = 1; round <= 3; round++) {
		for (unsigned int i = 0; i < RTE_DIM(queues); i++)
			st_new(1, (uint8_t)queues[i], i, i);
		assert_int_equal(st_get(0, events, RTE_DIM(events)), RTE_DIM(events));
		check_queue(0, 4 * round, 4 * round, 0);
		check_queue(1, 3 * round, 3 * round, 0);
		check_queue(2, round, round, 0);
	}
}

/* Room for some only: those, and how many there are. */
static void
xstats_room(void **state)
{
	struct weir_sched_xstat all[256], some[3];
	int nb;

	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 1});
	memset(some, 0xff, sizeof(some));
	nb = weir_sched_xstats(st_sched, WEIR_SCHED_PART_ALL, 0, all, RTE_DIM(all));
	assert_in_range(nb, 8, RTE_DIM(all));
	assert_int_equal(weir_sched_xstats(st_sched, WEIR_SCHED_PART_ALL, 0, some, 2), nb);
	for (unsigned int i = 0; i < 2; i++)
		assert_string_equal(some[i].name, all[i].name);
	assert_int_equal((unsigned char)some[2].name[0], 0xff);
}

static void
dump(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 1});
	st_producer_on_device(1);
	weir_sched_dump(st_sched, file);
	st_start();
	st_new(1, 0, 0, 0);
	weir_sched_dump(st_sched, file);
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	weir_sched_dump(st_sched, file);
	fclose(file);
	assert_non_null(strstr(text, "test"));
	assert_non_null(strstr(text, "queue 0: 1 waiting of 1 enqueued, 0 dequeued, 0 drained\n"));
	assert_non_null(strstr(text, "queue 0: 0 waiting of 1 enqueued, 0 dequeued, 1 drained\n"));
	free(text);
}

/* Ports hold nothing any more, and no credit is used: what was held went with the stop. */
static void
nothing_after_stop(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file;

	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 1});
	if (weir_sched_xstats(st_sched, WEIR_SCHED_PART_PORT, 0, NULL, 0) == 0)
		st_skip("the backend counts nothing by port");
	st_producer_on_device(1);
	st_start();
	for (unsigned int i = 0; i < 10; i++)
		st_new(1, 0, i, i);
	st_get_one(0);
	assert_true(st_xstat(WEIR_SCHED_PART_ALL, 0, "credits_used") >= 10);
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	assert_int_equal(st_xstat(WEIR_SCHED_PART_ALL, 0, "credits_used"), 0);
	assert_int_equal(st_stats().nb_new, st_stats().nb_released + st_stats().nb_drained);
	if (!st_is_builtin())
		return;
	assert_int_equal(st_xstat(WEIR_SCHED_PART_PORT, 0, "held"), 0);
	file = open_memstream(&text, &size);
	weir_sched_dump(st_sched, file);
	fclose(file);
	assert_non_null(strstr(text, "credits: 0 of 4096 taken"));
	assert_non_null(strstr(text, "port 0: holds 0, 0 credits\n"));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(configuration),
		TEST(queues_and_ports),
		TEST(links),
		TEST(running),
		TEST(asked_beside_stop),
		TEST(arguments),
		TEST(xstats),
		TEST(queue_xstats),
		TEST(queue_xstats_of_bursts),
		TEST(xstats_room),
		TEST(dump),
		TEST(nothing_after_stop),
	};

	return ST_RUN("sched-inspect", tests);
}
