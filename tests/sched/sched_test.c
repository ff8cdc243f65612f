/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <unistd.h>

#include <rte_eal.h>

#include "sched_test.h"

#include "../base/eal_lcores.h"
#include "../base/log_last.h"

/* Dequeues that get nothing until it is taken that there is nothing; and for devices, how long. */
#define PATIENCE    2048
#define PATIENCE_NS 20000000

struct weir_sched *st_sched;

static unsigned int nb_skipped;

unsigned int
st_log_count(void)
{
	return log_count();
}

const char *
st_log_last(void)
{
	return log_message;
}

void
st_log_clear(void)
{
	log_forget();
}

const char *
st_backend(void)
{
	const char *backend = getenv("WEIR_SCHED_BACKEND");

	return backend != NULL && *backend != '\0' ? backend : "builtin";
}

bool
st_is_builtin(void)
{
	return strcmp(st_backend(), "builtin") == 0;
}

bool
st_is_driver(const char *driver)
{
	const char *device = strchr(st_backend(), ':');

	return device != NULL && strncmp(device + 1, driver, strlen(driver)) == 0;
}

void
st_skip(const char *format, ...)
{
	va_list args;

	nb_skipped++;
	print_message("skipped: ");
	va_start(args, format);
	vprint_message(format, args);
	va_end(args);
	print_message("\n");
	skip();
}

void
st_builtin_only(void)
{
	if (!st_is_builtin())
		st_skip("which port gets an event, and when, is up to the device");
}

double
st_seconds(double seconds)
{
	const char *wish = getenv("WEIR_TEST_LONG");

	return wish != NULL && atoi(wish) > 0 ? 10 * seconds * atoi(wish) : seconds;
}

int
st_run(const char *name, const struct CMUnitTest *tests, size_t nb)
{
	int rc;

	st_eal_init(name);
	/* cmocka's macro wants an array's size */
	rc = _cmocka_run_group_tests(name, tests, nb, NULL, NULL);
	rte_eal_cleanup();
	return rc == 0 && nb_skipped == nb ? 77 : rc;
}

void
st_eal_init(const char *program)
{
	const char *device = strchr(st_backend(), ':');
	char map[1024], prefix[64];
	const char *args[] = {program, "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry",
		"--log-level=lib.eal:4", "-m", "256", "--lcores", map, "--file-prefix", prefix,
		"--vdev", device};

	eal_lcores(map, sizeof(map), 1);
	snprintf(prefix, sizeof(prefix), "sched-test-%ld", (long)getpid());
	if (device != NULL)
		args[RTE_DIM(args) - 1]++;
	if (rte_eal_init((int)RTE_DIM(args) - (device == NULL ? 2 : 0), (char **)(uintptr_t)args) <
		0) {
		fprintf(stderr, "no EAL: %s\n", rte_strerror(rte_errno));
		exit(1);
	}
	/* EAL makes a directory even when it shares nothing. Tests may abort, so not at the end. */
	rmdir(rte_eal_get_runtime_dir());
	log_listen();
}

void
st_make(struct weir_sched_config config)
{
	config.backend = st_backend();
	if (config.socket_id == 0)
		config.socket_id = -1;
	st_sched = weir_sched_create("test", &config);
	if (st_sched == NULL && rte_errno == ENOTSUP)
		st_skip("%s", log_message);
	if (st_sched == NULL)
		fail_msg("not made: %s", rte_strerror(rte_errno));
}

static void
done(int rc)
{
	if (rc == -ENOTSUP)
		st_skip("%s", log_message);
	assert_int_equal(rc, 0);
}

struct weir_sched_config
st_config(unsigned int nb_ports, unsigned int nb_queues)
{
	return (struct weir_sched_config){
		.nb_ports = nb_ports, .nb_queues = nb_queues, .nb_events = 4096, .nb_flows = 64};
}

void
st_make_two(unsigned int nb_ports, uint8_t first, uint8_t second)
{
	struct weir_sched_config config = st_config(nb_ports, 2);

	config.nb_events = 256;
	st_make(config);
	st_queue(0, first, 0, 0);
	st_queue(1, second, 0, 0);
	st_keep_if_possible();
	st_start();
}

void
st_make_credits(unsigned int nb_ports, unsigned int nb_queues, uint32_t events, uint32_t reserved,
	uint32_t threshold)
{
	st_make((struct weir_sched_config){.nb_ports = nb_ports,
		.nb_queues = nb_queues,
		.nb_events = events,
		.nb_flows = 64,
		.nb_reserved = reserved,
		.new_threshold = threshold});
	st_keep_if_possible();
}

void
st_queue(unsigned int queue, uint8_t type, uint8_t priority, uint8_t group)
{
	const struct weir_sched_queue_config config = {
		.type = type, .priority = priority, .group = group};

	done(weir_sched_queue_setup(st_sched, queue, &config));
}

void
st_group(unsigned int group, uint64_t ports)
{
	done(weir_sched_group_set(st_sched, group, ports));
}

void
st_keep(unsigned int port)
{
	const struct weir_sched_port_config config = {.no_implicit_release = true};

	done(weir_sched_port_setup(st_sched, port, &config));
}

void
st_keep_all(void)
{
	for (unsigned int port = 0; weir_sched_port(st_sched, port) != NULL; port++)
		st_keep(port);
}

bool
st_keep_if_possible(void)
{
	const struct weir_sched_port_config config = {.no_implicit_release = true};

	if (weir_sched_port_setup(st_sched, 0, &config) < 0)
		return false;
	st_keep_all();
	return true;
}

void
st_needs_keep(void)
{
	struct weir_sched_port_config config;

	assert_int_equal(weir_sched_port_get(st_sched, 0, &config), 0);
	if (!config.no_implicit_release)
		st_skip("the device cannot do without implicit release");
}

unsigned int
st_threshold(void)
{
	struct weir_sched_config config;

	assert_int_equal(weir_sched_config_get(st_sched, &config), 0);
	return config.new_threshold;
}

void
st_producer_on_device(unsigned int port)
{
	const struct weir_sched_port_config config = {.producer = true};

	if (!st_is_builtin())
		done(weir_sched_port_setup(st_sched, port, &config));
}

void
st_start(void)
{
	struct weir_sched_port_config config;
	bool produced = false;

	for (unsigned int port = 0; weir_sched_port_get(st_sched, port, &config) == 0; port++)
		produced |= config.producer;
	if (!produced && st_is_driver("event_opdl"))
		st_skip("event_opdl takes NEW of producers only");
	done(weir_sched_start(st_sched));
}

int
st_teardown(void **state)
{
	if (st_sched != NULL) {
		weir_sched_stop(st_sched, NULL, NULL);
		weir_sched_destroy(st_sched);
	}
	st_sched = NULL;
	return 0;
}

void
st_abort(void)
{
	if (st_sched != NULL)
		weir_sched_dump(st_sched, stderr);
	abort();
}

bool
st_try_new(unsigned int port, uint8_t queue, uint32_t flow, uint64_t value)
{
	const struct rte_event event = st_event(RTE_EVENT_OP_NEW, queue, flow, value);

	return weir_sched_enqueue(st_port(port), &event, 1) == 1;
}

void
st_new(unsigned int port, uint8_t queue, uint32_t flow, uint64_t value)
{
	assert_true(st_try_new(port, queue, flow, value));
}

unsigned int
st_get(unsigned int port, struct rte_event *events, unsigned int nb)
{
	uint64_t until = weir_base_time_ns() + PATIENCE_NS;
	unsigned int got = 0, idle = 0;

	while (got < nb && (idle < PATIENCE || (!st_is_builtin() && weir_base_time_ns() < until))) {
		uint16_t more =
			weir_sched_dequeue(st_port(port), &events[got], (uint16_t)(nb - got));

		got += more;
		idle = more > 0 ? 0 : idle + 1;
		if (more > 0)
			until = weir_base_time_ns() + PATIENCE_NS;
	}
	return got;
}

struct rte_event
st_get_one(unsigned int port)
{
	struct rte_event event = {.u64 = UINT64_MAX};

	assert_int_equal(st_get(port, &event, 1), 1);
	return event;
}

void
st_get_none(unsigned int port)
{
	struct rte_event events[4];

	assert_int_equal(st_get(port, events, RTE_DIM(events)), 0);
}

void
st_forward(unsigned int port, struct rte_event event, uint8_t queue)
{
	event.op = RTE_EVENT_OP_FORWARD;
	event.queue_id = queue;
	assert_int_equal(weir_sched_enqueue(st_port(port), &event, 1), 1);
}

void
st_release(unsigned int port, struct rte_event event)
{
	event.op = RTE_EVENT_OP_RELEASE;
	assert_int_equal(weir_sched_enqueue(st_port(port), &event, 1), 1);
}

void
st_idle(unsigned int port)
{
	struct rte_event event;

	assert_int_equal(weir_sched_dequeue(st_port(port), &event, 1), 0);
}

struct weir_sched_stats
st_stats(void)
{
	struct weir_sched_stats stats;

	memset(&stats, 0xff, sizeof(stats));
	weir_sched_stats(st_sched, &stats);
	return stats;
}

uint64_t
st_xstat(enum weir_sched_part part, unsigned int which, const char *name)
{
	int nb = weir_sched_xstats(st_sched, part, which, NULL, 0);
	struct weir_sched_xstat *xstats;
	uint64_t value;
	bool is_there = false;

	CHECK(nb > 0);
	xstats = calloc((size_t)nb + 1, sizeof(*xstats));
	CHECK(weir_sched_xstats(st_sched, part, which, xstats, (unsigned int)nb) == nb);
	CHECK(xstats[nb].name[0] == '\0');
	for (int i = 0; i < nb; i++) {
		CHECK(xstats[i].name[0] != '\0');
		for (int k = 0; k < i; k++)
			CHECK(strcmp(xstats[i].name, xstats[k].name) != 0);
		is_there |= strcmp(xstats[i].name, name) == 0;
	}
	free(xstats);
	CHECK(is_there);
	CHECK(weir_sched_xstat_by_name(st_sched, part, which, name, &value) == 0);
	return value;
}

unsigned int
st_fill(unsigned int port, uint8_t queue, unsigned int most)
{
	unsigned int nb = 0;

	while (nb < most && st_try_new(port, queue, nb, nb))
		nb++;
	return nb;
}

void
st_drain(void *arg, const struct rte_event *event)
{
	struct st_drained *drained = arg;

	if (drained->nb < drained->max)
		drained->events[drained->nb] = *event;
	drained->nb++;
}

void
st_empty(unsigned int nb_ports)
{
	bool again = true;

	while (again) {
		again = false;
		for (unsigned int port = 0; port < nb_ports; port++) {
			struct rte_event events[16];
			unsigned int nb;

			while ((nb = st_get(port, events, 1)) > 0) {
				st_release(port, events[0]);
				again = true;
			}
		}
	}
}
