/* SPDX-License-Identifier: BSD-3-Clause */

/* What the control socket tells of jobs, and how they are cancelled there. */

#include <unistd.h>

#include "job_test.h"

#include "../base/ctl_ask.h"

#include "weir_job_channel.h"
#include "weir_job_ctl.h"
#include "weir_job_offload.h"

static int result;
static bool leave; /* atomic */

static void
sleeps(void *in, void *out)
{
	result = weir_job_sleep(1000000000000);
}

static void
nothing(void *in, void *out)
{
}

static void
begin(void)
{
	jt_make(1);
	assert_true(ctl_up("job"));
	assert_int_equal(weir_job_ctl_register(jt_service, ctl), 0);
}

static int
end(void **state)
{
	weir_job_ctl_unregister(jt_service, ctl);
	ctl_down();
	return jt_teardown(state);
}

static void
counters(void **state)
{
	json_t *stats, *slices;

	begin();
	for (int i = 0; i < 5; i++)
		jt_spawn(nothing, NULL, 0, NULL);
	jt_spawn(sleeps, NULL, 0, NULL);
	stats = ask("job/stats", NULL, 0);
	assert_string_equal(text(stats, "service"), "jobs");
	assert_int_equal(number(stats, "spawned"), 6);
	assert_int_equal(number(stats, "finished"), 5);
	assert_int_equal(number(stats, "cancelled"), 0);
	assert_int_equal(number(stats, "live"), 1);
	assert_int_equal(number(stats, "waits"), 1);
	assert_int_equal(number(stats, "max"), JT_STACKS);
	slices = json_object_get(json_object_get(stats, "histograms"), "slice");
	assert_int_equal(number(slices, "count"), 6);
	assert_true(number(slices, "max_ns") >= number(slices, "p50_ns"));
	json_decref(stats);
}

static void
list(void **state)
{
	struct weir_job_options options = {.flags = WEIR_JOB_KEY, .key = 5, .name = "sleeper"};
	json_t *answer, *job;
	char args[64];

	begin();
	jt_spawn(sleeps, NULL, 0, &options);
	options.flags = 0;
	options.name = "other";
	jt_spawn(sleeps, NULL, 0, &options);
	answer = ask("job/list", NULL, 0);
	assert_int_equal(json_array_size(json_object_get(answer, "jobs")), 2);
	assert_int_equal(number(answer, "left"), 0);
	json_decref(answer);
	answer = ask("job/list", "{\"max\": 1}", 0);
	assert_int_equal(json_array_size(json_object_get(answer, "jobs")), 1);
	assert_int_equal(number(answer, "left"), 1);
	json_decref(answer);
	json_decref(ask("job/list", "{\"max\": -1}", -EINVAL));
	json_decref(ask("job/list", "{\"name\": 1}", -EINVAL));
	answer = ask("job/list", "{\"name\": \"sleeper\"}", 0);
	assert_int_equal(json_array_size(json_object_get(answer, "jobs")), 1);
	job = json_array_get(json_object_get(answer, "jobs"), 0);
	assert_string_equal(text(job, "name"), "sleeper");
	assert_string_equal(text(job, "state"), "waiting");
	assert_string_equal(text(job, "waits_for"), "sleep");
	assert_string_equal(text(job, "key"), "0x5");
	assert_int_equal(number(job, "slices"), 1);
	assert_int_equal(number(job, "core"), 0);
	assert_int_equal(json_array_size(json_object_get(job, "cores")), 1);
	/* it is cancelled by its handle, as shown */
	snprintf(args, sizeof(args), "{\"job\": \"%s\"}", text(job, "job"));
	json_decref(ask("job/cancel", args, 0));
	json_decref(ask("job/cancel", args, -EALREADY));
	while (jt_stats().nb_cancelled == 0)
		jt_rounds(1);
	assert_int_equal(result, -ECANCELED);
	json_decref(ask("job/cancel", args, -ESTALE));
	json_decref(ask("job/cancel", "{\"job\": \"0x1z\"}", -EINVAL));
	json_decref(ask("job/cancel", NULL, -EINVAL));
	json_decref(answer);
}

/* Keys are any 64 bits, JSON's integers are not. */
static void
large_keys(void **state)
{
	static const uint64_t keys[] = {0, (UINT64_C(1) << 63) - 1, UINT64_C(1) << 63, UINT64_MAX};
	static const char *const told[] = {
		"0", "0x7fffffffffffffff", "0x8000000000000000", "0xffffffffffffffff"};
	struct weir_job_options options = {.flags = WEIR_JOB_KEY};

	begin();
	for (unsigned int i = 0; i < RTE_DIM(keys); i++) {
		char args[64];
		json_t *answer;

		options.key = keys[i];
		snprintf(args, sizeof(args), "key-%u", i);
		options.name = args;
		jt_spawn(sleeps, NULL, 0, &options);
		snprintf(args, sizeof(args), "{\"name\": \"key-%u\"}", i);
		answer = ask("job/list", args, 0);
		assert_string_equal(
			text(json_array_get(json_object_get(answer, "jobs"), 0), "key"), told[i]);
		json_decref(answer);
	}
}

static void
blocks(void *arg)
{
	while (!__atomic_load_n(&leave, __ATOMIC_ACQUIRE))
		usleep(100);
}

static void
calls(void *in, void *out)
{
	result = weir_job_offload(*(struct weir_job_offload_pool **)in, blocks, NULL, 0, NULL);
}

static void
receives(void *in, void *out)
{
	uint64_t message;

	result = weir_job_channel_recv(*(struct weir_job_channel **)in, &message, NULL);
}

/* Of a thread that may be blocked. */
static void *
stop(void *pool)
{
	CHECK(weir_job_offload_stop(pool, WEIR_JOB_FOREVER) == 0);
	return NULL;
}

static void
stop_pool(struct weir_job_offload_pool *pool)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, stop, pool), 0);
	pthread_join(thread, NULL);
}

/* Entry of an array in the counters, of so many. */
static json_t *
entry_of(json_t **stats, const char *array, size_t index, size_t nb)
{
	json_decref(*stats);
	*stats = ask("job/stats", NULL, 0);
	assert_int_equal(json_array_size(json_object_get(*stats, array)), nb);
	return nb > 0 ? json_array_get(json_object_get(*stats, array), index) : NULL;
}

static void
offload(void **state)
{
	const struct weir_job_offload_config config = {.name = "db", .nb_threads = 2};
	struct weir_job_offload_pool *pool, *other;
	json_t *stats = NULL, *entry;

	begin();
	leave = false;
	result = -1;
	entry_of(&stats, "offload", 0, 0);
	other = weir_job_offload_create(NULL);
	pool = weir_job_offload_create(&config);
	assert_non_null(pool);
	jt_spawn(calls, &pool, sizeof(pool), NULL);
	entry = entry_of(&stats, "offload", 1, 2);
	assert_string_equal(text(entry, "name"), "db");
	assert_int_equal(number(entry, "threads"), 2);
	assert_int_equal(number(entry, "accepted"), 1);
	assert_int_equal(number(entry, "queued") + number(entry, "running"), 1);
	assert_int_equal(number(entry, "done"), 0);
	assert_string_equal(text(entry_of(&stats, "offload", 0, 2), "name"), "offload");
	__atomic_store_n(&leave, true, __ATOMIC_RELEASE);
	while (jt_stats().nb_finished == 0)
		jt_rounds(1);
	assert_int_equal(result, 0);
	assert_int_equal(number(entry_of(&stats, "offload", 1, 2), "done"), 1);
	/* it is told of until it is destroyed */
	stop_pool(other);
	assert_int_equal(number(entry_of(&stats, "offload", 0, 2), "threads"), 0);
	assert_int_equal(weir_job_offload_destroy(other), 0);
	assert_string_equal(text(entry_of(&stats, "offload", 0, 1), "name"), "db");
	stop_pool(pool);
	assert_int_equal(weir_job_offload_destroy(pool), 0);
	entry_of(&stats, "offload", 0, 0);
	json_decref(stats);
}

static void
channels(void **state)
{
	const struct weir_job_channel_config config = {.name = "orders", .size = sizeof(uint64_t)};
	struct weir_job_channel *channel, *other;
	uint64_t message = 7;
	json_t *stats = NULL, *entry;

	begin();
	result = -1;
	entry_of(&stats, "channels", 0, 0);
	channel = weir_job_channel_create(&config);
	other = weir_job_channel_create(&(struct weir_job_channel_config){.name = NULL});
	jt_spawn(receives, &channel, sizeof(channel), NULL);
	entry = entry_of(&stats, "channels", 0, 2);
	assert_string_equal(text(entry, "name"), "orders");
	assert_int_equal(number(entry, "waiting"), 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(weir_job_channel_try_send(channel, &message), 0);
	entry = entry_of(&stats, "channels", 0, 2);
	assert_int_equal(number(entry, "sent"), 3);
	assert_int_equal(number(entry, "received"), 1);
	assert_int_equal(number(entry, "messages"), 2);
	assert_int_equal(number(entry, "waiting"), 0);
	assert_false(json_is_true(json_object_get(entry, "closed")));
	while (jt_stats().nb_finished == 0)
		jt_rounds(1);
	assert_int_equal(weir_job_channel_close(channel), 0);
	assert_true(json_is_true(json_object_get(entry_of(&stats, "channels", 0, 2), "closed")));
	assert_int_equal(weir_job_channel_destroy(channel), -EBUSY);
	while (weir_job_channel_try_recv(channel, &message) == 0)
		;
	assert_int_equal(weir_job_channel_destroy(channel), 0);
	assert_string_equal(text(entry_of(&stats, "channels", 0, 1), "name"), "channel");
	assert_int_equal(weir_job_channel_destroy(other), 0);
	entry_of(&stats, "channels", 0, 0);
	json_decref(stats);
}

static void
registration(void **state)
{
	begin();
	assert_int_equal(weir_job_ctl_register(jt_service, ctl), -EEXIST);
	assert_int_equal(weir_job_ctl_register(NULL, ctl), -EINVAL);
	assert_int_equal(weir_job_ctl_register(jt_service, NULL), -EINVAL);
	json_decref(ask("job/stats", NULL, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(counters, end),
		cmocka_unit_test_teardown(list, end),
		cmocka_unit_test_teardown(large_keys, end),
		cmocka_unit_test_teardown(offload, end),
		cmocka_unit_test_teardown(channels, end),
		cmocka_unit_test_teardown(registration, end),
	};

	return ST_RUN("job-ctl", tests);
}
