/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control socket tells of coroutines: asked as any client does. */
#include "coro_test.h"

#include <pthread.h>

#include "coro_private.h"
#include "ctl_ask.h"
#include "weir_coro_ctl.h"

static long long
bucket_sum(const json_t *distribution)
{
	const json_t *list = part(distribution, "buckets");
	long long sum = 0, above = -1;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *bucket = json_array_get(list, i);

		assert_int_equal(json_array_size(bucket), 3);
		assert_true(json_integer_value(json_array_get(bucket, 0)) > above);
		above = json_integer_value(json_array_get(bucket, 1));
		sum += json_integer_value(json_array_get(bucket, 2));
	}
	return sum;
}

static void
yields_on(void)
{
	while (!weir_coro_yield())
		;
}

static void
nothing(void)
{
}

static void
no_classes_yet(void **state)
{
	json_t *answer = ask("coro/stats", NULL, 0);

	assert_int_equal(json_array_size(part(answer, "classes")), 0);
	json_decref(answer);
	json_decref(ask("coro/stats", "{'class': 0}", -ENOENT));
	answer = ask("coro/trim", NULL, 0);
	assert_int_equal(number(answer, "bytes"), 0);
	json_decref(answer);
}

/* Two classes: 5 live, of 7 created, 1 exited in the second one. */
static void
work(void)
{
	const struct weir_coro_class_param param = {.stack_size = 2 * STACK,
		.max_coroutines = 20,
		.time_slice = weir_base_ns_to_cycles(10000),
		.cache_size = 4,
		.socket_id = -1,
		.guard = WEIR_CORO_GUARD_CANARY};
	struct weir_coro *coros[7];

	start(10, 0, 0);
	assert_int_equal(weir_coro_class_add(&param), 1);
	for (size_t i = 0; i < LENGTH(coros); i++) {
		coros[i] = weir_coro_create_in(1, i == 0 ? nothing : yields_on);
		for (size_t turn = 0; turn < (i == 0 ? 1 : i); turn++)
			weir_coro_resume(coros[i]);
	}
	assert_int_equal(weir_coro_destroy(coros[0]), 0);
	assert_int_equal(weir_coro_destroy(coros[1]), 0);
	for (uint64_t us = 1; us <= 100; us++)
		coro_counts_slice(&coro_cache_of(&coro_classes[1])->counts,
			param.time_slice * us / 10, param.time_slice);
}

static void
all_is_told(void **state)
{
	json_t *answer;
	const json_t *class, *stack, *slices;

	work();
	weir_base_log_set_sink(NULL, NULL);
	weir_coro_resume(NULL);
	answer = ask("coro/stats", NULL, 0);
	assert_int_equal(json_array_size(part(answer, "classes")), 2);
	assert_int_equal(number(json_array_get(part(answer, "classes"), 0), "max"), 10);
	assert_int_equal(number(json_array_get(part(answer, "classes"), 0), "created"), 0);
	class = json_array_get(part(answer, "classes"), 1);
	assert_int_equal(number(class, "class"), 1);
	assert_string_equal(json_string_value(part(class, "guard")), "canary");
	assert_int_equal(number(class, "max"), 20);
	assert_int_equal(number(class, "live"), 5);
	assert_int_equal(number(class, "peak"), 7);
	assert_int_equal(number(class, "created"), 7);
	assert_int_equal(number(class, "exited"), 1);
	assert_int_equal(number(class, "destroyed"), 2);
	assert_int_equal(number(class, "switches"), 1 + 1 + 2 + 3 + 4 + 5 + 6);
	assert_int_equal(number(class, "overruns"), 80);

	stack = part(class, "stack_bytes");
	assert_int_equal(number(stack, "count"), 7);
	assert_int_equal(bucket_sum(stack), 7);
	assert_true(number(stack, "size") >= 2 * STACK);
	assert_true(number(stack, "p50") > 0 && number(stack, "p50") <= number(stack, "p99"));
	assert_true(number(stack, "max") == number(stack, "high_water"));
	assert_true(number(stack, "high_water") <= number(stack, "size"));
	assert_true(number(stack, "resident") >= 7 * number(stack, "p50"));

	slices = part(class, "slices");
	assert_int_equal(number(slices, "count"), 100);
	assert_int_equal(bucket_sum(slices), 100);
	assert_in_range(number(part(slices, "configured"), "ns"), 9990, 10010);
	assert_in_range(number(part(slices, "p50"), "ns"), 49900, 52000);
	assert_in_range(number(part(slices, "p99"), "ns"), 98900, 100100);
	assert_in_range(number(part(slices, "max"), "ns"), 99900, 100100);
	assert_int_equal(number(part(slices, "max"), "cycles"),
		10 * number(part(slices, "configured"), "cycles"));
	assert_int_equal(number(part(answer, "misuse"), "stale"), 1);
	assert_int_equal(number(part(answer, "misuse"), "running"), 0);
	json_decref(answer);
}

/* As good as none, and told as what is taken for it: no number below 0. */
static void
long_slices_are_told(void **state)
{
	static const uint64_t slices[] = {UINT64_MAX, INT64_MAX, INT64_MAX / 2};

	for (size_t i = 0; i < LENGTH(slices); i++) {
		const json_t *configured;
		json_t *answer;

		start(10, slices[i], 0);
		answer = ask("coro/stats", NULL, 0);
		configured = part(
			part(json_array_get(part(answer, "classes"), 0), "slices"), "configured");
		assert_true(number(configured, "cycles") == INT64_MAX / 2);
		assert_true(number(configured, "ns") > 0);
		json_decref(answer);
		weir_coro_cleanup();
	}
}

static void
one_class_is_named(void **state)
{
	static const char *const second[] = {"{'class': 1}", "{'name': '1'}", "{'class': '1'}"};
	static const struct {
		const char *args;
		int rc;
	} wrong[] = {
		{"{'class': 2}", -ENOENT},
		{"{'class': -1}", -ENOENT},
		{"{'class': 4294967296}", -ENOENT},
		{"{'class': 9223372036854775807}", -ENOENT},
		{"{'name': '99999999999999999999'}", -EINVAL},
		{"{'name': 'x'}", -EINVAL},
		{"{'name': '-1'}", -EINVAL},
		{"{'name': ' 1'}", -EINVAL},
		{"{'class': 1.0}", -EINVAL},
		{"{'class': null}", -EINVAL},
		{"{'class': [1]}", -EINVAL},
	};
	json_t *answer;

	work();
	for (size_t i = 0; i < LENGTH(second); i++) {
		answer = ask("coro/stats", second[i], 0);
		assert_int_equal(json_array_size(part(answer, "classes")), 1);
		assert_int_equal(number(json_array_get(part(answer, "classes"), 0), "class"), 1);
		json_decref(answer);
	}
	answer = ask("coro/stats", "{'name': ''}", 0);
	assert_int_equal(json_array_size(part(answer, "classes")), 2);
	json_decref(answer);
	for (size_t i = 0; i < LENGTH(wrong); i++) {
		json_decref(ask("coro/stats", wrong[i].args, wrong[i].rc));
		json_decref(ask("coro/trim", wrong[i].args, wrong[i].rc));
	}
}

static void
memory_is_given_back(void **state)
{
	json_t *answer;

	work();
	answer = ask("coro/trim", "{'class': 0}", 0);
	assert_int_equal(number(answer, "bytes"), 0);
	json_decref(answer);
	/* Two are idle, in this thread's cache. */
	answer = ask("coro/trim", NULL, 0);
	assert_true(number(answer, "bytes") >= 2 * sysconf(_SC_PAGESIZE));
	json_decref(answer);
	answer = ask("coro/trim", "{'class': 1}", 0);
	assert_int_equal(number(answer, "bytes"), 0);
	json_decref(answer);
}

static void
seen(void *arg, const char *command, const char *help, uint32_t flags)
{
	unsigned int *found = arg;

	if (strcmp(command, "coro/stats") == 0)
		*found |= flags & WEIR_BASE_CTL_READ_ONLY ? 1 : 4;
	if (strcmp(command, "coro/trim") == 0)
		*found |= flags & WEIR_BASE_CTL_READ_ONLY ? 4 : 2;
}

/* What only asks is mirrored to telemetry, what does something is not. */
static void
asking_is_read_only(void **state)
{
	unsigned int found = 0;

	weir_base_ctl_foreach(ctl, seen, &found);
	assert_int_equal(found, 3);
	assert_int_equal(weir_coro_ctl_register(ctl), -EEXIST);
}

static bool stop;
static unsigned int nb_asked;

static void *
asks_on(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		json_t *answer = NULL;

		CHECK(weir_base_ctl_call(ctl_name, nb_asked % 4 == 0 ? "coro/trim" : "coro/stats",
			      NULL, 10000, &answer) == 0);
		json_decref(answer);
		__atomic_fetch_add(&nb_asked, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Classes come and go while they are asked for. */
static void
begins_and_ends_meanwhile(void **state)
{
	pthread_t thread;

	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, asks_on, NULL), 0);
	for (unsigned int i = 0; i < 200 || __atomic_load_n(&nb_asked, __ATOMIC_RELAXED) < 1000;
		i++) {
		work();
		weir_coro_cleanup();
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

#define LIFE 10 /* switches of each */

/* Each switch is followed by a slice that is counted, as where the clock is looked at in each. */
static void *
switches_on(void *arg)
{
	const uint64_t slice = coro_classes[0].param.time_slice;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		struct weir_coro *coro = made(yields_on);

		for (unsigned int i = 0; i < LIFE; i++) {
			weir_coro_resume(coro);
			coro_counts_slice(&coro_cache_of(&coro_classes[0])->counts, slice, slice);
		}
		CHECK(weir_coro_destroy(coro) == 0);
	}
	return NULL;
}

static void
no_slice_without_its_switch(void **state)
{
	pthread_t thread;

	start(10, 0, 4);
	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, switches_on, NULL), 0);
	for (unsigned int i = 0; i < 500; i++) {
		json_t *answer = ask("coro/stats", NULL, 0);
		const json_t *class = json_array_get(part(answer, "classes"), 0);

		/* But for one that is being destroyed. */
		CHECK(number(part(class, "slices"), "count") <= number(class, "switches") + LIFE);
		json_decref(answer);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

static int
open_it(void **state)
{
	return ctl_up("coro") ? weir_coro_ctl_register(ctl) : -1;
}

static int
close_it(void **state)
{
	ctl_down();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(no_classes_yet, finish),
		cmocka_unit_test_teardown(long_slices_are_told, finish),
		cmocka_unit_test_teardown(all_is_told, finish),
		cmocka_unit_test_teardown(one_class_is_named, finish),
		cmocka_unit_test_teardown(memory_is_given_back, finish),
		cmocka_unit_test_teardown(asking_is_read_only, finish),
		cmocka_unit_test_teardown(begins_and_ends_meanwhile, finish),
		cmocka_unit_test_teardown(no_slice_without_its_switch, finish),
	};

	return cmocka_run_group_tests(tests, open_it, close_it);
}
