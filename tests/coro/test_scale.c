/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many may be alive: small ones, a million of them where there is time (WEIR_TEST_LONG); with guards, more than mappings are allowed.
 * What they cost is told.
 */
#include "coro_test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "coro_private.h"
#include "mappings.h"

/* Memory of each besides its stack: its block, page tables of stack and block, the test's own. */
#define BESIDES 512

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The first number after @key in a file; @otherwise when there is none. */
static size_t
number_in(const char *path, const char *key, size_t otherwise)
{
	FILE *file = fopen(path, "re");
	size_t number = otherwise;
	char line[256];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, key, strlen(key)) == 0 &&
			sscanf(line + strlen(key), " %zu", &number) == 1)
			break;
	if (file != NULL)
		fclose(file);
	return number;
}

static size_t
available_bytes(void)
{
	size_t all = number_in("/proc/meminfo", "MemAvailable:", SIZE_MAX >> 10) << 10;
	size_t limit = number_in("/sys/fs/cgroup/memory.max", "", SIZE_MAX);
	size_t used = number_in("/sys/fs/cgroup/memory.current", "", 0);

	limit = limit > used ? limit - used : 0;
	return limit < all ? limit : all;
}

static size_t
used_bytes(void)
{
	return number_in("/proc/self/status", "VmRSS:", 0) << 10;
}

static size_t nb_sums;

/* Some of its stack is in use while it does not run, and still there when it goes on. */
static void
remembers(void)
{
	volatile uint32_t own[16];
	uint32_t id = weir_coro_self_id();

	for (uint32_t i = 0; i < LENGTH(own); i++)
		own[i] = id ^ i;
	CHECK(!weir_coro_yield());
	for (uint32_t i = 0; i < LENGTH(own); i++)
		CHECK(own[i] == (id ^ i));
	nb_sums++;
}

static void
class_of(const struct weir_coro_class_param *param)
{
	start(1, 0, 0);
	assert_int_equal(weir_coro_class_add(param), 1);
}

/* Of the class that was added: create, resume, look, resume again, destroy. */
static void
live(struct weir_coro **coros, size_t nb, const char *what)
{
	size_t before = used_bytes();
	struct weir_coro_class_stats stats;
	double begin = seconds(), looked;

	nb_sums = 0;
	for (size_t i = 0; i < nb; i++) {
		coros[i] = weir_coro_create_in(1, remembers);
		assert_non_null(coros[i]);
	}
	assert_null(weir_coro_create_in(1, remembers));
	print_message("%zu %s: created in %.2f s", nb, what, seconds() - begin);
	begin = seconds();
	for (size_t i = 0; i < nb; i++)
		weir_coro_resume(coros[i]);
	print_message(
		", run in %.2f s, then %zu MB", seconds() - begin, (used_bytes() - before) >> 20);
	begin = seconds();
	assert_int_equal(weir_coro_class_look(1, &stats), 0);
	looked = seconds() - begin;
	assert_int_equal(stats.live, nb);
	assert_int_equal(stats.switches, nb);
	assert_true(stats.resident >= nb * coro_page_bytes());
	assert_true(stats.resident <= nb * (stats.high_water + coro_page_bytes()));
	begin = seconds();
	for (size_t i = nb; i-- > 0;) {
		weir_coro_resume(coros[i]);
		assert_int_equal(weir_coro_destroy(coros[i]), 0);
	}
	assert_int_equal(nb_sums, nb);
	print_message(
		", looked at in %.3f s, run and destroyed in %.2f s", looked, seconds() - begin);
	begin = seconds();
	assert_true(weir_coro_trim(1) >= nb * coro_page_bytes());
	print_message(", given back in %.2f s\n", seconds() - begin);
	assert_int_equal(weir_coro_class_look(1, &stats), 0);
	/* A canary's page stays. */
	assert_int_equal(
		stats.resident, stats.guard == WEIR_CORO_GUARD_CANARY ? nb * coro_page_bytes() : 0);
	/* A question over the control socket. */
	if (!WITH_SANITIZER)
		assert_true(looked < 1);
}

static size_t
small_ones(void)
{
	if (WITH_SANITIZER || emulated())
		return 10000;
	return getenv("WEIR_TEST_LONG") != NULL ? 1000000 : 100000;
}

static void
many_small_ones(void **state)
{
	const struct weir_coro_class_param param = {
		.stack_size = WITH_SANITIZER ? STACK : WEIR_CORO_STACK_MIN,
		.max_coroutines = small_ones(),
		.cache_size = 32,
		.socket_id = -1,
		.guard = WEIR_CORO_GUARD_BEST,
	};
	const size_t nb = param.max_coroutines;
	size_t need;
	struct weir_coro **coros;

	class_of(&param);
	/* A canary takes a page of its own. */
	need = coro_classes[1].memory.guard == WEIR_CORO_GUARD_CANARY ? 2 : 1;
	need = nb * (need * coro_page_bytes() + sizeof(struct weir_coro_block) + BESIDES);
	if (!WITH_SANITIZER && available_bytes() < need + need / 4) {
		print_message("skipped: %zu MB of memory are available, it takes %zu MB and a "
			      "quarter more\n",
			available_bytes() >> 20, need >> 20);
		skip();
	}
	coros = calloc(nb, sizeof(coros[0]));
	assert_non_null(coros);
	live(coros, nb, "small ones");
	free(coros);
}

static bool
faults(volatile char *address)
{
	const struct rlimit no_core = {0};
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGSEGV, SIG_DFL);
		*address = 1;
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

static void
more_guards_than_mappings(void **state)
{
	struct weir_coro_class_param param = {
		.stack_size = STACK,
		.max_coroutines = WITH_SANITIZER ? 10000 : 100000,
		.cache_size = 32,
		.socket_id = -1,
		.guard = WEIR_CORO_GUARD_REGION,
	};
	const size_t limit = number_in("/proc/sys/vm/max_map_count", "", 65530);
	const size_t nb = param.max_coroutines;
	size_t before, need = nb * (coro_page_bytes() + sizeof(struct weir_coro_block) + BESIDES);
	struct weir_coro **coros;

	start(1, 0, 0);
	if (weir_coro_class_add(&param) != 1) {
		print_message("skipped: the kernel has no guard regions\n");
		skip();
	}
	if (!WITH_SANITIZER && available_bytes() < need + need / 4) {
		print_message("skipped: %zu MB of memory are available, it takes %zu MB and a "
			      "quarter more\n",
			available_bytes() >> 20, need >> 20);
		skip();
	}
	/* Protected pages would take two mappings each. */
	if (2 * nb <= limit)
		print_message("(this machine allows %zu mappings: it would bear as many protected "
			      "pages)\n",
			limit);
	coros = calloc(nb, sizeof(coros[0]));
	assert_non_null(coros);
	before = mappings();
	live(coros, nb, "with guards");
	assert_true(mappings() < before + 100);
	for (size_t i = 0; i < nb; i += nb / 4 - 1)
		assert_true(faults(coro_memory_stack(&coro_classes[1].memory, i) - 1));
	free(coros);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(many_small_ones, finish),
		cmocka_unit_test_teardown(more_guards_than_mappings, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
