/* SPDX-License-Identifier: BSD-3-Clause */

/* What is told of a job that waits, in each kind of wait: for what, which one, until when. And each of them is cancelled. */

#include <sched.h>
#include <unistd.h>

#include "job_test.h"

#include "../base/ctl_ask.h"

#include "weir_job_channel.h"
#include "weir_job_ctl.h"
#include "weir_job_offload.h"
#include "weir_job_sync.h"

#define HOUR_NS     UINT64_C(3600000000000)
#define PATIENCE_NS UINT64_C(60000000000)

static const struct weir_job_wait an_hour = {.flags = WEIR_JOB_TIMEOUT, .timeout_ns = HOUR_NS};

static struct weir_job_completion completion, numbered;
static struct weir_job_sem sem;
static struct weir_job_mutex mutex;
static struct weir_job_cond cond;
static struct weir_job_group group;
static struct weir_job_channel *empty, *full;
static struct weir_job_offload_pool *pool;
static weir_job sleeper;
static uint64_t leave, nb_done;

static int
sleeps(void)
{
	return weir_job_sleep(HOUR_NS);
}

static int
completes(void)
{
	return weir_job_completion_wait(&completion, NULL);
}

static int
request(void)
{
	const struct weir_job_wait how = {.flags = WEIR_JOB_TIMEOUT,
		.timeout_ns = HOUR_NS,
		.what = "answer",
		.which = "a server with a name that is much too long",
		.id = 4711};

	return weir_job_completion_wait(&numbered, &how);
}

static int
takes_unit(void)
{
	return weir_job_sem_wait(&sem, &an_hour);
}

static int
locks(void)
{
	return weir_job_mutex_lock(&mutex, NULL);
}

static int
waits_for_change(void)
{
	static struct weir_job_mutex own;
	int rc = weir_job_mutex_lock(&own, NULL);

	rc = rc == 0 ? weir_job_cond_wait(&cond, &own, NULL) : rc;
	weir_job_mutex_unlock(&own);
	return rc;
}

static int
receives(void)
{
	uint64_t message;

	return weir_job_channel_recv(empty, &message, &an_hour);
}

static int
sends(void)
{
	uint64_t message = 1;

	return weir_job_channel_send(full, &message, NULL);
}

static int
joins(void)
{
	return weir_job_join(jt_service, sleeper, NULL);
}

static int
waits_for_group(void)
{
	return weir_job_group_wait(&group, NULL);
}

static void
blocks(void *arg)
{
	while (jt_read(&leave) == 0)
		usleep(100);
}

static int
calls(void)
{
	return weir_job_offload(pool, blocks, NULL, 0, NULL);
}

static const struct kind {
	const char *what, *which;
	const void *id; /* its address; NULL: none, or another number */
	int (*wait)(void);
	bool ends; /* by itself, after an hour */
} kinds[] = {
	{"sleep", "", NULL, sleeps, true},
	{"completion", "", &completion, completes, false},
	{"answer", "a server with a name that is mu", NULL, request, true},
	{"semaphore", "connections", &sem, takes_unit, true},
	{"mutex", "", &mutex, locks, false},
	{"condition", "version", &cond, waits_for_change, false},
	{"channel, to receive", "orders", NULL, receives, true},
	{"channel, to send", "parcels", NULL, sends, false},
	{"job", "sleeper", NULL, joins, false},
	{"group", "parts", &group, waits_for_group, false},
	{"offload", "db", NULL, calls, false},
};

static bool
	all_stop; /* what some wait for ends then, too: their waits may have come to their end before they are cancelled */

static void
waits(void *in, void *out)
{
	const struct kind *kind = *(const struct kind **)in;
	int rc = kind->wait();
	bool may_have_come = all_stop && (kind->wait == joins || kind->wait == waits_for_group);

	CHECK(rc == -ECANCELED || (rc == 0 && may_have_come));
	jt_add(&nb_done, 1);
}

static void
sleeps_on(void *in, void *out)
{
	CHECK(weir_job_sleep(HOUR_NS) == -ECANCELED);
}

static void
begin(void)
{
	const struct weir_job_options options = {.name = "sleeper", .group = &group};
	const struct weir_job_channel_config one = {
		.name = "orders", .nb_messages = 1, .size = sizeof(uint64_t)};
	const struct weir_job_channel_config other = {
		.name = "parcels", .nb_messages = 1, .size = sizeof(uint64_t)};
	uint64_t message = 1;

	jt_make(1);
	assert_true(ctl_up("job-told"));
	assert_int_equal(weir_job_ctl_register(jt_service, ctl), 0);
	leave = nb_done = 0;
	all_stop = false;
	weir_job_completion_init(&completion);
	weir_job_completion_init(&numbered);
	weir_job_sem_init(&sem, 0);
	weir_job_waiters_set_name(&sem.waiters, "connections");
	weir_job_mutex_init(&mutex);
	assert_int_equal(weir_job_mutex_lock(&mutex, NULL), 0);
	weir_job_cond_init(&cond);
	weir_job_waiters_set_name(&cond.waiters, "version");
	weir_job_group_init(&group);
	weir_job_waiters_set_name(&group.waiters, "parts");
	empty = weir_job_channel_create(&one);
	full = weir_job_channel_create(&other);
	assert_int_equal(weir_job_channel_try_send(full, &message), 0);
	pool = weir_job_offload_create(
		&(struct weir_job_offload_config){.name = "db", .nb_threads = 1});
	sleeper = jt_spawn(sleeps_on, NULL, 0, &options);
}

static void *
stop_pool(void *arg)
{
	CHECK(weir_job_offload_stop(pool, WEIR_JOB_FOREVER) == 0);
	return NULL;
}

static int
end(void **state)
{
	pthread_t thread;
	uint64_t message;

	weir_job_group_cancel(jt_service, &group);
	jt_finish();
	__atomic_store_n(&leave, 1, __ATOMIC_SEQ_CST);
	if (pthread_create(&thread, NULL, stop_pool, NULL) != 0)
		return -1;
	pthread_join(thread, NULL);
	weir_job_channel_try_recv(full, &message);
	if (weir_job_offload_destroy(pool) < 0 || weir_job_channel_destroy(empty) < 0 ||
		weir_job_channel_destroy(full) < 0)
		return -1;
	weir_job_mutex_unlock(&mutex);
	weir_job_ctl_unregister(jt_service, ctl);
	ctl_down();
	return jt_teardown(state);
}

/* The number that is told beside the name. */
static uint64_t
id_of(const struct kind *kind)
{
	if (kind->id != NULL)
		return (uintptr_t)kind->id;
	if (kind->wait == request)
		return 4711;
	if (kind->wait == joins)
		return sleeper;
	if (kind->wait == calls)
		return (uintptr_t)pool;
	if (kind->wait == sends || kind->wait == receives)
		return (uintptr_t)(kind->wait == sends ? full : empty);
	return 0;
}

static weir_job
spawn(const struct kind *kind)
{
	return jt_spawn(waits, &kind, sizeof(kind), &(struct weir_job_options){.name = "waiter"});
}

static void
each_kind(void **state)
{
	struct weir_job_info info;

	begin();
	for (size_t i = 0; i < RTE_DIM(kinds); i++) {
		const struct kind *kind = &kinds[i];
		weir_job job = spawn(kind);

		assert_int_equal(weir_job_look(jt_service, job, &info), 0);
		assert_int_equal(info.state, WEIR_JOB_WAITING);
		assert_string_equal(info.waits_for, kind->what);
		assert_string_equal(info.which, kind->which);
		assert_int_equal(info.which_id, id_of(kind));
		if (kind->ends)
			assert_in_range(info.left_ns, HOUR_NS - 60000000000, HOUR_NS);
		else
			assert_int_equal(info.left_ns, WEIR_JOB_FOREVER);
		assert_int_equal(weir_job_cancel(jt_service, job), 0);
		jt_until(&nb_done, i + 1, "it is cancelled");
	}
}

/* A stop ends them all, whatever they wait for, and no stack is left. */
static void
stopped_in_each_kind(void **state)
{
	struct weir_job_info info;
	weir_job jobs[RTE_DIM(kinds)];

	begin();
	for (size_t i = 0; i < RTE_DIM(kinds); i++)
		jobs[i] = spawn(&kinds[i]);
	for (size_t i = 0; i < RTE_DIM(kinds); i++) {
		assert_int_equal(weir_job_look(jt_service, jobs[i], &info), 0);
		assert_int_equal(info.state, WEIR_JOB_WAITING);
	}
	all_stop = true;
	assert_int_equal(weir_job_service_stop(jt_service, et_core, PATIENCE_NS), 0);
	assert_int_equal(nb_done, RTE_DIM(kinds));
	assert_int_equal(jt_stats().nb_cancelled, RTE_DIM(kinds) + 1); /* and the sleeper */
	assert_int_equal(jt_stats().nb_live, 0);
}

struct named {
	struct weir_job_completion *completion;
	const struct weir_job_wait *how;
	struct weir_job_channel *channel;
};

/* For what has a name of its own, or is given one. */
static void
waits_for_named(void *in, void *out)
{
	const struct named *named = in;
	uint64_t message;
	int rc;

	rc = named->channel != NULL ? weir_job_channel_recv(named->channel, &message, NULL)
				    : weir_job_completion_wait(named->completion, named->how);
	CHECK(rc == -ECANCELED);
	jt_add(&nb_done, 1);
}

static void
list(void **state)
{
	char number[32];
	json_t *answer, *job;

	begin();
	for (size_t i = 0; i < RTE_DIM(kinds); i++) {
		const struct kind *kind = &kinds[i];
		weir_job handle = spawn(kind);

		answer = ask("job/list", "{\"name\": \"waiter\"}", 0);
		assert_int_equal(json_array_size(json_object_get(answer, "jobs")), 1);
		job = json_array_get(json_object_get(answer, "jobs"), 0);
		assert_string_equal(text(job, "waits_for"), kind->what);
		assert_int_equal(json_object_get(job, "which") != NULL, kind->which[0] != '\0');
		if (kind->which[0] != '\0')
			assert_string_equal(text(job, "which"), kind->which);
		snprintf(number, sizeof(number), "%#jx", (uintmax_t)id_of(kind));
		assert_int_equal(json_object_get(job, "which_id") != NULL, id_of(kind) != 0);
		if (id_of(kind) != 0)
			assert_string_equal(text(job, "which_id"), number);
		assert_int_equal(json_object_get(job, "left_ns") != NULL, kind->ends);
		json_decref(answer);
		assert_int_equal(weir_job_cancel(jt_service, handle), 0);
		jt_until(&nb_done, i + 1, "it is cancelled");
	}
}

/* Names that are too long are cut where a character ends. Each here has 31 bytes of room. */
static void
long_names(void **state)
{
#define ASCII_28 "28 bytes that are characters"
	static const struct {
		const char *given, *told;
	} names[] = {
		{ASCII_28 "abc", ASCII_28 "abc"},
		{ASCII_28 "abcd", ASCII_28 "abc"},
		{ASCII_28 "ab\u00e9", ASCII_28 "ab"},
		{ASCII_28 "a\u00e9", ASCII_28 "a\u00e9"},
		{ASCII_28 "ab\u20ac", ASCII_28 "ab"},
		{ASCII_28 "\u20ac", ASCII_28 "\u20ac"},
		{ASCII_28 "\U0001f600", ASCII_28},
	};
	struct weir_job_info info;

	nb_done = 0;
	jt_make(1);
	for (size_t i = 0; i < RTE_DIM(names); i++) {
		struct weir_job_completion never = {0};
		const struct weir_job_wait how = {.which = names[i].given};
		struct weir_job_channel *channel =
			weir_job_channel_create(&(struct weir_job_channel_config){
				.name = names[i].given, .size = sizeof(uint64_t)});
		const struct named named[2] = {
			{.completion = &never, .how = &how}, {.channel = channel}};

		for (unsigned int j = 0; j < RTE_DIM(named); j++) {
			weir_job job = jt_spawn(waits_for_named, &named[j], sizeof(named[j]), NULL);

			assert_int_equal(weir_job_look(jt_service, job, &info), 0);
			assert_string_equal(info.which, names[i].told);
			assert_int_equal(weir_job_cancel(jt_service, job), 0);
			jt_until(&nb_done, 2 * i + j + 1, "it is cancelled");
		}
		assert_int_equal(weir_job_channel_destroy(channel), 0);
	}
}

/* The one that has the key stands still in its slice, on another core. */
static void
has_key(void *in, void *out)
{
	jt_add(&nb_done, 1);
	while (jt_read(&leave) == 0)
		sched_yield();
}

static void
keys(void **state)
{
	const struct weir_job_options options = {.flags = WEIR_JOB_KEY | WEIR_JOB_LATER, .key = 77};
	uint64_t begun = weir_base_time_ns();
	struct weir_job_info info = {.waits_for = ""};
	weir_job jobs[2];
	unsigned int i = 0;

	st_builtin_only();
	leave = nb_done = 0;
	jt_make(3); /* but this one does not dispatch */
	jobs[0] = jt_spawn(has_key, NULL, 0, &options);
	/* which another core has now, and this one only: who dequeues both would not come to the second */
	while (jt_read(&nb_done) == 0 && weir_base_time_ns() - begun < PATIENCE_NS)
		sched_yield();
	jobs[1] = jt_spawn(has_key, NULL, 0, &options);
	while (strcmp(info.waits_for, "key") != 0 && weir_base_time_ns() - begun < PATIENCE_NS) {
		assert_int_equal(weir_job_look(jt_service, jobs[i++ % 2], &info), 0);
		sched_yield();
	}
	assert_string_equal(info.waits_for, "key");
	assert_int_equal(info.state, WEIR_JOB_READY);
	assert_int_equal(info.which_id, 77);
	assert_string_equal(info.which, "");
	assert_int_equal(info.left_ns, WEIR_JOB_FOREVER);
	__atomic_store_n(&leave, 1, __ATOMIC_SEQ_CST);
	jt_finish();
	assert_int_equal(nb_done, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(each_kind, end),
		cmocka_unit_test_teardown(stopped_in_each_kind, end),
		cmocka_unit_test_teardown(list, end),
		JT_TEST(long_names),
		JT_TEST(keys),
	};

	return ST_RUN("job-told", tests);
}
