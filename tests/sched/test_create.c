/* SPDX-License-Identifier: BSD-3-Clause */

/* Schedulers that are made: what is refused, and what is taken. */

#include "sched_test.h"

#define GOOD                                                                                       \
	{                                                                                          \
		.backend = st_backend(), .nb_ports = 2, .nb_queues = 2, .socket_id = -1            \
	}

static void
refused(const char *name, const struct weir_sched_config *config, int error)
{
	struct weir_sched *sched;

	st_log_clear();
	rte_errno = 0;
	sched = weir_sched_create(name, config);
	assert_null(sched);
	assert_int_equal(rte_errno, error);
	assert_int_not_equal(st_log_count(), 0);
}

static void
taken(const char *name, const struct weir_sched_config *config)
{
	st_log_clear();
	st_sched = weir_sched_create(name, config);
	if (st_sched == NULL && rte_errno == ENOTSUP)
		st_skip("%s", st_log_last());
	assert_non_null(st_sched);
	assert_int_equal(st_log_count(), 0);
	st_teardown(NULL);
}

static void
create_without(void **state)
{
	const struct weir_sched_config config = GOOD, empty = {.socket_id = -1};

	refused(NULL, &config, EINVAL);
	refused("test", NULL, EINVAL);
	refused(NULL, NULL, EINVAL);
	refused("test", &empty, EINVAL);
}

static void
create_name(void **state)
{
	const struct weir_sched_config config = GOOD;
	char name[65];

	memset(name, 'n', sizeof(name));
	name[64] = '\0';
	refused(name, &config, EINVAL);
	name[63] = '\0';
	taken(name, &config);
	taken("", &config);
}

/* One number that is wrong at a time. */
static void
create_numbers(void **state)
{
	static const uint32_t ports[] = {0, 65, 1000, UINT32_MAX};
	static const uint32_t queues[] = {0, 256, 257, UINT32_MAX};
	static const uint32_t flows[] = {3, 1000, 1025, 1 << 21, 1u << 31, UINT32_MAX};
	static const uint32_t events[] = {3, 5, 4095, 1 << 23, 1u << 31, UINT32_MAX};

	for (unsigned int i = 0; i < RTE_DIM(ports); i++) {
		struct weir_sched_config config = GOOD;

		config.nb_ports = ports[i];
		refused("test", &config, EINVAL);
	}
	for (unsigned int i = 0; i < RTE_DIM(queues); i++) {
		struct weir_sched_config config = GOOD;

		config.nb_queues = queues[i];
		refused("test", &config, EINVAL);
	}
	for (unsigned int i = 0; i < RTE_DIM(flows); i++) {
		struct weir_sched_config config = GOOD;

		config.nb_flows = flows[i];
		refused("test", &config, EINVAL);
	}
	for (unsigned int i = 0; i < RTE_DIM(events); i++) {
		struct weir_sched_config config = GOOD;

		config.nb_events = events[i];
		refused("test", &config, EINVAL);
	}
}

static void
create_credits(void **state)
{
	static const struct {
		uint32_t events, reserved, threshold;
	} bad[] = {
		{64, 64, 0},
		{64, 65, 0},
		{64, UINT32_MAX, 0},
		{64, 0, 65},
		{64, 0, UINT32_MAX},
		{64, 1, 64},
		{64, 63, 2},
		{0, 4096, 0},
		{0, 0, 4097},
		{64, UINT32_MAX, 1},
		{1, 1, 1},
	};

	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		struct weir_sched_config config = GOOD;

		config.nb_events = bad[i].events;
		config.nb_reserved = bad[i].reserved;
		config.new_threshold = bad[i].threshold;
		refused("test", &config, EINVAL);
	}
}

static void
create_backend(void **state)
{
	static const struct {
		const char *name;
		int error;
	} bad[] = {
		{"", EINVAL},
		{"built", EINVAL},
		{"builtin ", EINVAL},
		{"builtins", EINVAL},
		{"builtin:", EINVAL},
		{"builtin:0", EINVAL},
		{"BUILTIN", EINVAL},
		{":", EINVAL},
		{":builtin", EINVAL},
		{"event", EINVAL},
		{"eventdevs:event_sw0", EINVAL},
		{"event_sw0", EINVAL},
		{"eventdev:there_is_no_such_device", ENODEV},
		{"eventdev::", ENODEV},
	};

	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		struct weir_sched_config config = GOOD;

		config.backend = bad[i].name;
		refused("test", &config, bad[i].error);
	}
}

static void
create_default_backend(void **state)
{
	struct weir_sched_config config = GOOD;

	config.backend = NULL;
	taken("test", &config);
	config.backend = "builtin";
	taken("test", &config);
}

static void
create_least(void **state)
{
	struct weir_sched_config config = {.backend = st_backend(),
		.nb_ports = 1,
		.nb_queues = 1,
		.nb_flows = 1,
		.nb_events = 1,
		.socket_id = -1};

	taken("test", &config);
	config.nb_events = 2;
	config.nb_reserved = 1;
	config.new_threshold = 1;
	taken("test", &config);
}

static void
create_most(void **state)
{
	struct weir_sched_config config = {.backend = st_backend(),
		.nb_ports = 64,
		.nb_queues = 255,
		.nb_flows = 1024,
		.nb_events = 4096,
		.socket_id = -1};

	st_builtin_only();
	taken("test", &config);
	config.nb_queues = 1;
	config.nb_flows = 1 << 20;
	taken("test", &config);
	config.nb_flows = 1;
	config.nb_ports = 1;
	config.nb_events = 1 << 22;
	taken("test", &config);
}

static void
two_of_a_name(void **state)
{
	struct weir_sched_config config = GOOD;
	struct weir_sched *other;

	config.backend = "builtin";
	st_sched = weir_sched_create("test", &config);
	other = weir_sched_create("test", &config);
	assert_non_null(st_sched);
	assert_non_null(other);
	assert_ptr_not_equal(st_sched, other);
	weir_sched_destroy(other);
}

/* A device has one scheduler at a time. */
static void
device_of_another(void **state)
{
	struct weir_sched_config config = GOOD;

	if (st_is_builtin())
		st_skip("builtin is no device");
	st_sched = weir_sched_create("test", &config);
	assert_non_null(st_sched);
	refused("other", &config, EBUSY);
	assert_non_null(strstr(st_log_last(), "another scheduler has"));
	st_teardown(NULL);
	st_sched = weir_sched_create("test", &config);
	assert_non_null(st_sched);
}

/* Mappings of this process that prefer a node. */
static unsigned int
nb_preferring(void)
{
	FILE *maps = fopen("/proc/self/numa_maps", "r");
	char line[4096];
	unsigned int nb = 0;

	if (maps == NULL) {
		st_skip("no /proc/self/numa_maps");
		return 0;
	}
	while (fgets(line, sizeof(line), maps) != NULL)
		nb += strstr(line, " prefer") != NULL;
	fclose(maps);
	return nb;
}

/* The node that is asked for is preferred; one that is not there is told, and any is taken. */
static void
create_on_node(void **state)
{
	struct weir_sched_config config = GOOD;
	unsigned int before;

	st_builtin_only();
	before = nb_preferring();
	st_log_clear();
	config.socket_id = 0;
	st_sched = weir_sched_create("test", &config);
	assert_non_null(st_sched);
	if (weir_sched_xstats(st_sched, WEIR_SCHED_PART_PORT, 0, NULL, 0) == 0)
		st_skip("the model has no memory of its own");
	if (st_log_count() > 0)
		st_skip("%s", st_log_last());
	st_start();
	assert_true(nb_preferring() > before);
	st_teardown(NULL);
	st_log_clear();
	config.socket_id = 1000;
	st_sched = weir_sched_create("test", &config);
	assert_non_null(st_sched);
	st_start();
	assert_int_equal(st_log_count(), 1);
	assert_non_null(strstr(st_log_last(), "NUMA node 1000"));
	st_new(0, 0, 1, 2);
	st_release(0, st_get_one(0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(create_without),
		TEST(create_name),
		TEST(create_numbers),
		TEST(create_credits),
		TEST(create_backend),
		TEST(create_default_backend),
		TEST(create_least),
		TEST(create_most),
		TEST(two_of_a_name),
		TEST(device_of_another),
		TEST(create_on_node),
	};

	return ST_RUN("sched-create", tests);
}
