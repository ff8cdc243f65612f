/* SPDX-License-Identifier: BSD-3-Clause */

/* Control functions: what they refuse, and what they take. */

#include "sched_test.h"

#define GOOD                                                                                       \
	{                                                                                          \
		.backend = st_backend(), .nb_ports = 2, .nb_queues = 2, .socket_id = -1            \
	}

static bool
dump_has(const char *text)
{
	char *dump = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&dump, &size);
	bool has;

	weir_sched_dump(st_sched, file);
	fclose(file);
	has = strstr(dump, text) != NULL;
	free(dump);
	return has;
}

/* Neither the name nor that of the backend need stay where they were. */
static void
names_are_copied(void **state)
{
	char name[] = "a-certain-name", *backend = strdup(st_backend());
	struct weir_sched_config config = GOOD;

	config.backend = backend;
	st_sched = weir_sched_create(name, &config);
	memset(name, 'x', strlen(name));
	memset(backend, 'x', strlen(backend));
	free(backend);
	memset(&config, 0xff, sizeof(config));
	if (st_sched == NULL && rte_errno == ENOTSUP)
		st_skip("%s", st_log_last());
	assert_non_null(st_sched);
	assert_true(dump_has("a-certain-name"));
	st_start();
	assert_true(dump_has("a-certain-name"));
	st_new(0, 0, 1, 2);
	assert_true(dump_has("a-certain-name"));
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	assert_true(dump_has("a-certain-name"));
}

static void
make_good(void)
{
	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 2});
}

/* A control function that failed so has said why: one error, in which these words are. */
static void
told(int rc, int expected, const char *words)
{
	assert_int_equal(rc, expected);
	assert_int_equal(st_log_count(), 1);
	if (strstr(st_log_last(), words) == NULL)
		fail_msg("'%s' is not in '%s'", words, st_log_last());
	st_log_clear();
}

/* What is wrong, and what is expected. */
static void
errors_are_told(void **state)
{
	const struct weir_sched_queue_config type = {.type = 3}, priority = {.priority = 8},
					     group = {.group = 64}, queue = {0};
	const struct weir_sched_port_config held = {.nb_held = 256}, port = {0};

	make_good();
	st_log_clear();
	told(weir_sched_queue_setup(NULL, 0, &queue), -EINVAL, "weir_sched_queue_setup()");
	told(weir_sched_queue_setup(st_sched, 0, NULL), -EINVAL, "weir_sched_queue_setup()");
	told(weir_sched_queue_setup(st_sched, 2, &queue), -EINVAL,
		"no queue 2; it has 2, numbered from 0");
	told(weir_sched_queue_setup(st_sched, 0, &type), -EINVAL, "queue 0: type 3; ");
	told(weir_sched_queue_setup(st_sched, 1, &priority), -EINVAL,
		"queue 1: priority 8; 0 to 7 ");
	told(weir_sched_queue_setup(st_sched, 0, &group), -EINVAL, "group 64; 0 to 63 ");
	told(weir_sched_port_setup(NULL, 0, &port), -EINVAL, "weir_sched_port_setup()");
	told(weir_sched_port_setup(st_sched, 7, &port), -EINVAL, "no port 7; it has 2");
	told(weir_sched_port_setup(st_sched, 1, &held), -EINVAL, "256 events; up to 255");
	told(weir_sched_group_set(NULL, 1, 1), -EINVAL, "weir_sched_group_set()");
	told(weir_sched_group_set(st_sched, 0, 1), -EINVAL, "group 0 is all ports");
	told(weir_sched_group_set(st_sched, 64, 1), -EINVAL, "1 to 63");
	told(weir_sched_group_set(st_sched, 1, 4), -EINVAL, "ports 0x4; there are 0x3");
	st_start();
	st_log_clear();
	told(weir_sched_queue_setup(st_sched, 0, &queue), -EBUSY, "queue 0 is configured too late");
	told(weir_sched_port_setup(st_sched, 1, &port), -EBUSY, "port 1 is configured too late");
}

static void
queue_arguments(void **state)
{
	static const struct weir_sched_queue_config bad[] = {
		{.type = 3},
		{.type = 4},
		{.type = 0xfe},
		{.priority = 8},
		{.priority = 0xfe},
		{.priority = 32},
		{.group = 64},
		{.group = 255},
	};
	const struct weir_sched_queue_config good = {.type = ATOMIC};

	make_good();
	assert_int_equal(weir_sched_queue_setup(NULL, 0, &good), -EINVAL);
	assert_int_equal(weir_sched_queue_setup(st_sched, 0, NULL), -EINVAL);
	assert_int_equal(weir_sched_queue_setup(st_sched, 2, &good), -EINVAL);
	assert_int_equal(weir_sched_queue_setup(st_sched, 255, &good), -EINVAL);
	assert_int_equal(weir_sched_queue_setup(st_sched, UINT32_MAX, &good), -EINVAL);
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		assert_int_equal(weir_sched_queue_setup(st_sched, 0, &bad[i]), -EINVAL);
	assert_int_equal(weir_sched_queue_setup(st_sched, 1, &good), 0);
	assert_int_equal(weir_sched_queue_setup(st_sched, 1, &good), 0);
}

/* Each is taken, or the device says that it cannot. */
static void
queue_extremes(void **state)
{
	static const struct weir_sched_queue_config configs[] = {
		{.type = ORDERED},
		{.type = ATOMIC},
		{.type = PARALLEL},
		{.type = WEIR_SCHED_TYPE_BY_EVENT},
		{.type = ATOMIC, .priority = 7},
		{.type = ATOMIC, .priority = WEIR_SCHED_PRIORITY_BY_EVENT},
		{.type = ATOMIC, .group = 63},
		{.type = ATOMIC, .group = 1},
	};

	make_good();
	for (unsigned int i = 0; i < RTE_DIM(configs); i++) {
		int rc = weir_sched_queue_setup(st_sched, 0, &configs[i]);

		if (st_is_builtin() || rc != -ENOTSUP)
			assert_int_equal(rc, 0);
	}
}

static void
port_arguments(void **state)
{
	const struct weir_sched_port_config good = {.nb_held = 1}, bad = {.nb_held = 256},
					    worse = {.nb_held = 65535};

	make_good();
	assert_int_equal(weir_sched_port_setup(NULL, 0, &good), -EINVAL);
	assert_int_equal(weir_sched_port_setup(st_sched, 0, NULL), -EINVAL);
	assert_int_equal(weir_sched_port_setup(st_sched, 2, &good), -EINVAL);
	assert_int_equal(weir_sched_port_setup(st_sched, 64, &good), -EINVAL);
	assert_int_equal(weir_sched_port_setup(st_sched, UINT32_MAX, &good), -EINVAL);
	assert_int_equal(weir_sched_port_setup(st_sched, 0, &bad), -EINVAL);
	assert_int_equal(weir_sched_port_setup(st_sched, 0, &worse), -EINVAL);
	assert_int_equal(weir_sched_port_setup(st_sched, 1, &good), 0);
	assert_int_equal(weir_sched_port_setup(st_sched, 1, &good), 0);
}

static void
ports(void **state)
{
	struct weir_sched_port *first, *second;

	make_good();
	assert_null(weir_sched_port(NULL, 0));
	assert_null(weir_sched_port(st_sched, 2));
	assert_null(weir_sched_port(st_sched, 64));
	assert_null(weir_sched_port(st_sched, UINT32_MAX));
	first = weir_sched_port(st_sched, 0);
	second = weir_sched_port(st_sched, 1);
	assert_non_null(first);
	assert_non_null(second);
	assert_ptr_not_equal(first, second);
	assert_int_equal(first->id, 0);
	assert_int_equal(second->id, 1);
	assert_ptr_equal(first->sched, st_sched);
	st_start();
	assert_ptr_equal(weir_sched_port(st_sched, 0), first);
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	assert_ptr_equal(weir_sched_port(st_sched, 1), second);
}

static void
group_arguments(void **state)
{
	make_good();
	assert_int_equal(weir_sched_group_set(NULL, 1, 1), -EINVAL);
	assert_int_equal(weir_sched_group_set(st_sched, 0, 1), -EINVAL);
	assert_int_equal(weir_sched_group_set(st_sched, 0, 3), -EINVAL);
	assert_int_equal(weir_sched_group_set(st_sched, 64, 1), -EINVAL);
	assert_int_equal(weir_sched_group_set(st_sched, UINT32_MAX, 1), -EINVAL);
	assert_int_equal(weir_sched_group_set(st_sched, 1, 4), -EINVAL);
	assert_int_equal(weir_sched_group_set(st_sched, 1, 7), -EINVAL);
	assert_int_equal(weir_sched_group_set(st_sched, 1, UINT64_MAX), -EINVAL);
	st_group(63, 3);
	st_group(1, 0);
	st_group(1, 2);
	st_start();
	st_group(1, 3);
	assert_int_equal(weir_sched_group_set(st_sched, 1, 4), -EINVAL);
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	st_group(1, 1);
}

static void
busy(void **state)
{
	const struct weir_sched_queue_config queue = {.type = ATOMIC};
	const struct weir_sched_port_config port = {.nb_held = 1};

	make_good();
	st_start();
	assert_int_equal(weir_sched_queue_setup(st_sched, 0, &queue), -EBUSY);
	assert_int_equal(weir_sched_port_setup(st_sched, 0, &port), -EBUSY);
	/* What is wrong anyway is wrong first. */
	assert_int_equal(weir_sched_queue_setup(st_sched, 2, &queue), -EINVAL);
	assert_int_equal(weir_sched_port_setup(st_sched, 2, &port), -EINVAL);
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	assert_int_equal(weir_sched_queue_setup(st_sched, 0, &queue), -EBUSY);
	assert_int_equal(weir_sched_port_setup(st_sched, 0, &port), -EBUSY);
}

static void
start_and_stop(void **state)
{
	make_good();
	assert_int_equal(weir_sched_start(NULL), -EINVAL);
	assert_int_equal(weir_sched_stop(NULL, NULL, NULL), -EINVAL);
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), -EALREADY);
	st_start();
	assert_int_equal(weir_sched_start(st_sched), -EALREADY);
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), -EALREADY);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(weir_sched_start(st_sched), 0);
		assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	}
}

static void
destroy(void **state)
{
	struct weir_sched *sched;

	weir_sched_destroy(NULL);
	make_good();
	st_start();
	st_new(0, 0, 0, 0);
	sched = st_sched;
	st_sched = NULL;
	st_log_clear();
	weir_sched_destroy(sched); /* a mistake, that is told */
	assert_int_not_equal(st_log_count(), 0);
}

/* Nobody could dequeue. */
static void
only_producers(void **state)
{
	const struct weir_sched_port_config producer = {.producer = true};

	make_good();
	assert_int_equal(weir_sched_port_setup(st_sched, 0, &producer), 0);
	assert_int_equal(weir_sched_port_setup(st_sched, 1, &producer), 0);
	st_log_clear();
	assert_int_equal(weir_sched_start(st_sched), -EINVAL);
	assert_int_not_equal(st_log_count(), 0);
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), -EALREADY);
	/* It can be mended. */
	assert_int_equal(
		weir_sched_port_setup(st_sched, 1, &(struct weir_sched_port_config){.nb_held = 4}),
		0);
	st_start();
	st_new(0, 0, 0, 5);
	assert_int_equal(st_get_one(1).u64, 5);
}

/* Before it is started nothing can be reserved or enqueued. */
static void
not_running(void **state)
{
	const struct rte_event event = st_event(RTE_EVENT_OP_NEW, 0, 0, 0);

	st_make((struct weir_sched_config){
		.nb_ports = 1, .nb_queues = 1, .nb_events = 64, .nb_reserved = 8});
	assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), -EINVAL);
	assert_int_equal(weir_sched_reserve(st_sched, 8), 0);
	st_start();
	assert_int_equal(weir_sched_reserve(st_sched, 8), 8);
	assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), 0);
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), -EINVAL);
	assert_int_equal(weir_sched_reserve(st_sched, 8), 0);
}

static void
reserve_arguments(void **state)
{
	const struct rte_event event = st_event(RTE_EVENT_OP_NEW, 0, 0, 0);

	assert_int_equal(weir_sched_reserve(NULL, 1), 0);
	weir_sched_unreserve(NULL, 1);
	assert_int_equal(weir_sched_enqueue_reserved(NULL, &event), -EINVAL);
	make_good();
	st_start();
	assert_int_equal(weir_sched_reserve(st_sched, 0), 0);
	weir_sched_unreserve(st_sched, 0);
	assert_int_equal(weir_sched_enqueue_reserved(st_sched, NULL), -EINVAL);
}

static void
stats_arguments(void **state)
{
	static const struct weir_sched_stats zero;
	struct weir_sched_stats stats;

	make_good();
	stats = st_stats();
	assert_memory_equal(&stats, &zero, sizeof(stats));
	st_start();
	stats = st_stats();
	assert_memory_equal(&stats, &zero, sizeof(stats));
	weir_sched_stats(st_sched, NULL);
	memset(&stats, 0xff, sizeof(stats));
	weir_sched_stats(NULL, &stats);
	assert_memory_equal(&stats, &zero, sizeof(stats));
}

static void
dump_arguments(void **state)
{
	make_good();
	weir_sched_dump(NULL, stderr);
	weir_sched_dump(st_sched, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_are_copied),
		TEST(errors_are_told),
		TEST(queue_arguments),
		TEST(queue_extremes),
		TEST(port_arguments),
		TEST(ports),
		TEST(group_arguments),
		TEST(busy),
		TEST(start_and_stop),
		TEST(destroy),
		TEST(only_producers),
		TEST(not_running),
		TEST(reserve_arguments),
		TEST(stats_arguments),
		TEST(dump_arguments),
	};

	return ST_RUN("sched-control", tests);
}
