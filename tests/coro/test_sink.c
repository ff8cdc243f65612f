/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's log sink may use the library and fork, whatever it is told: nothing is logged under a lock. */
#include "coro_test.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#include "coro_private.h"
#include "refuse_test.h"

#define GUARD_INSTALL 102 /* MADV_GUARD_INSTALL, which headers may lack */

static char heard[4096];
static bool in_sink;

static void
nothing(void)
{
}

static void
fork_one(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		struct weir_coro *coro;

		alarm(10);
		coro = weir_coro_create(nothing);
		if (coro != NULL)
			weir_coro_destroy(coro);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* What takes locks. What is logged for that is not for the sink. */
static void
use_all(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	const struct weir_coro_watchdog_param param = {0};
	struct weir_coro_class_stats stats;
	struct weir_coro *coro;
	size_t length = strlen(heard);

	CHECK(!in_sink);
	in_sink = true;
	snprintf(heard + length, sizeof(heard) - length, "%s\n", message);
	(void)weir_coro_class_look(0, &stats);
	(void)weir_coro_trim(0);
	coro = weir_coro_create(nothing);
	if (coro != NULL)
		CHECK(weir_coro_destroy(coro) == 0);
	if (weir_coro_watchdog_start(&param) == 0)
		CHECK(weir_coro_watchdog_stop() == 0);
	fork_one();
	in_sink = false;
}

/* In a process of its own, which is ended if it hangs. */
static void
in_child(void (*run)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(30);
		weir_base_log_set_sink(use_all, NULL);
		run();
		weir_base_log_set_sink(NULL, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT)
		skip();
	assert_int_equal(status, 0);
}

static void
begins_and_ends(void)
{
	const struct weir_coro_class_param canaries = {.stack_size = STACK,
						   .max_coroutines = 1,
						   .socket_id = -1,
						   .guard = WEIR_CORO_GUARD_CANARY},
					   too_many = {.stack_size = STACK,
						   .max_coroutines = UINT32_MAX / 2,
						   .socket_id = -1};

	start(10, 0, 0);
	CHECK(strstr(heard, "10 stacks of ") != NULL);
	CHECK(weir_coro_class_add(&canaries) == 1);
	CHECK(strstr(heard, "a canary, as asked for") != NULL);
	CHECK(weir_coro_class_add(&too_many) == -EINVAL);
	CHECK(strstr(heard, "more than the address space") != NULL);
	weir_coro_resume(NULL);
	CHECK(strstr(heard, "refused: NULL") != NULL);
	CHECK(weir_coro_create_in(1, nothing) != NULL);
	weir_coro_cleanup();
	CHECK(strstr(heard, "1 coroutines were alive") != NULL);
}

static void
sink_at_begin_and_end(void **state)
{
	in_child(begins_and_ends);
}

/* A class whose guards are regions; then the kernel has no more of these, as where memory is locked. */
static void
guards_weaken(void)
{
	start(10, 0, 0);
	if (coro_classes[0].memory.guard != WEIR_CORO_GUARD_REGION)
		_exit(CANNOT);
	refuse(SYS_madvise, 2, GUARD_INSTALL);
	CHECK(weir_coro_destroy(made(nothing)) == 0);
	CHECK(strstr(heard, "memory was locked") != NULL);
}

static void
sink_when_guards_weaken(void **state)
{
	in_child(guards_weaken);
}

static void
guards_are_refused(void)
{
	const struct weir_coro_class_param pages = {.stack_size = STACK,
		.max_coroutines = 1,
		.socket_id = -1,
		.guard = WEIR_CORO_GUARD_PAGE};

	start(10, 0, 0);
	CHECK(weir_coro_class_add(&pages) == 1);
	refuse(SYS_mprotect, 2, PROT_NONE);
	errno = 0;
	CHECK(weir_coro_create_in(1, nothing) == NULL && errno == ENOMEM);
	CHECK(strstr(heard, "no guard below stack 0") != NULL);
}

static void
sink_when_guards_are_refused(void **state)
{
	in_child(guards_are_refused);
}

static void
overruns_until_found(void)
{
	uint64_t before = weir_coro_watchdog_overruns();

	while (weir_coro_watchdog_overruns() == before)
		usleep(1000);
}

static void
nobody_hears(void *arg, const struct weir_coro_overrun *overrun)
{
}

/* The first overrun is told, the second one is not. */
static void
watchdog_stops(void)
{
	const struct weir_coro_watchdog_param param = {
		.report = nobody_hears, .interval_ns = 3600000000000};

	start(10, 0, 0);
	CHECK(weir_coro_watchdog_start(&param) == 0);
	for (int i = 0; i < 2; i++) {
		struct weir_coro *coro = made(overruns_until_found);

		CHECK(run_to_end(coro) == 1);
		CHECK(weir_coro_destroy(coro) == 0);
	}
	CHECK(weir_coro_watchdog_stop() == 0);
	CHECK(strstr(heard, "1 overruns of slices were not told") != NULL);
}

static void
sink_when_the_watchdog_stops(void **state)
{
	in_child(watchdog_stops);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sink_at_begin_and_end),
		cmocka_unit_test(sink_when_guards_weaken),
		cmocka_unit_test(sink_when_guards_are_refused),
		cmocka_unit_test(sink_when_the_watchdog_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
