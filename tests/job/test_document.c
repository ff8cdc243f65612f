/* SPDX-License-Identifier: BSD-3-Clause */

/* The code in doc/jobs.md does what the document says. */

#include "job_test.h"

uint64_t sum_up(const char *backend);
#include "job_document.h"

/* A whole program. */
static void
numbers_are_summed_up(void **state)
{
	assert_int_equal(sum_up(NULL), UINT64_C(99999) * 100000 / 2);
	assert_int_equal(sum_up("nothing"), 0);
}

/* Coroutines are those of the document. */
static void
make(unsigned int nb_cores)
{
	et_make(jt_em_config(nb_cores));
	jt_service = begin_jobs(et_em, et_core);
	assert_non_null(jt_service);
	if (nb_cores > 1)
		et_workers_begin(nb_cores - 1);
}

static int
teardown(void **state)
{
	int rc = jt_teardown(state);

	weir_coro_cleanup();
	return rc;
}

/* ---- the question and the answer: no plumbing ---- */

static void
plumbing(void **state)
{
	struct questions questions = {.nb_refused = 0};
	weir_em_queue queue;

	make(2);
	questions.jobs = jt_service;
	questions.buffers = weir_em_pool_create(et_em,
		&(struct weir_em_pool_config){.name = "answers", .nb = 511, .socket_id = -1});
	assert_int_not_equal(questions.buffers, WEIR_EM_NONE);
	questions.answers = et_serve("answers", WEIR_EM_QUEUE_ATOMIC, answered, &questions);
	queue = et_serve("questions", WEIR_EM_QUEUE_ATOMIC, asked, &questions);
	for (unsigned int i = 0; i < 20; i++)
		et_send(queue, 1000 * i);
	jt_until(&questions.nb_answered, 20, "answers");
	assert_int_equal(questions.nb_refused, 0);
	/* primes below 0, 1000 ... 19000, together */
	assert_int_equal(questions.nb_primes, 22926);
	jt_finish();
}

static uint64_t sum, nb_told;

static void
keep_sum(void *arg, weir_job job, enum weir_job_end end, void *out)
{
	__atomic_store_n(&sum, *(uint64_t *)out, __ATOMIC_SEQ_CST);
	jt_add(&nb_told, 1);
}

static void
parts(void **state)
{
	const struct range range = {0, 10000};
	const struct weir_job_options options = {.out_size = sizeof(uint64_t), .done = keep_sum};

	make(2);
	sum = nb_told = 0;
	jt_spawn(count_in_parts, &range, sizeof(range), &options);
	jt_until(&nb_told, 1, "the sum");
	assert_int_equal(sum, 1229);
}

static void
lent_cores(void **state)
{
	weir_em_queue_group group;
	uint64_t cores;

	make(2);
	group = weir_em_queue_group_create(et_em, "long", 1);
	assert_int_equal(lend_core(et_em, et_core, group, 1, true), 0);
	assert_int_equal(weir_em_queue_group_mask(et_em, group, &cores), 0);
	assert_int_equal(cores, 3);
	assert_int_equal(lend_core(et_em, et_core, group, 1, false), 0);
	assert_int_equal(weir_em_queue_group_mask(et_em, group, &cores), 0);
	assert_int_equal(cores, 1);
}

/* ---- waiting ---- */

static struct database database;
static uint64_t nb_queries, nb_seen;

static void
query_job(void *in, void *out)
{
	CHECK(query(&database) == 0);
	jt_add(&nb_queries, 1);
}

static void
version_job(void *in, void *out)
{
	CHECK(wait_for_version(&database, 20) == 0);
	jt_add(&nb_seen, 1);
}

static void
databases(void **state)
{
	make(2);
	memset(&database, 0, sizeof(database));
	weir_job_sem_init(&database.free, 3);
	nb_queries = nb_seen = 0;
	jt_spawn(version_job, NULL, 0, NULL);
	for (unsigned int i = 0; i < 30; i++)
		jt_spawn(query_job, NULL, 0, NULL);
	jt_until(&nb_queries, 30, "queries");
	jt_until(&nb_seen, 1, "the version");
	jt_finish();
	assert_int_equal(database.most_used, 3);
	assert_int_equal(database.nb_used, 0);
}

static void
conversation(void **state)
{
	const struct weir_job_options options = {.out_size = sizeof(uint64_t), .done = keep_sum};
	struct weir_job_channel *events = weir_job_channel_create(NULL);
	weir_em_queue queue;

	make(1);
	assert_non_null(events);
	queue = et_queue("peer", WEIR_EM_QUEUE_ATOMIC, 0);
	assert_int_not_equal(serve_by_job(et_em, et_core, queue, events), WEIR_EM_NONE);
	sum = 0;
	jt_spawn(converse, &events, sizeof(events), &options);
	for (unsigned int i = 1; i <= 40; i++)
		et_send(queue, i);
	jt_finish();
	assert_int_equal(sum, 820);
	assert_int_equal(weir_job_channel_destroy(events), 0);
}

/* ---- the limits ---- */

static struct weir_job_offload_pool *helpers;
static char text[32];
static int nb_read;
static uint64_t nb_events, may_go;

static void
reads(void *in, void *out)
{
	nb_read = first_bytes(helpers, (const char *)in, text, sizeof(text));
}

static void
blocks(void *arg)
{
	while (jt_read(&may_go) == 0)
		usleep(100);
}

static void
blocks_in_job(void *in, void *out)
{
	CHECK(weir_job_offload(helpers, blocks, NULL, 0, NULL) == 0);
}

static void
count(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	nb_events += nb;
}

static void *
end_helpers(void *arg)
{
	CHECK(weir_job_offload_stop(helpers, WEIR_JOB_FOREVER) == 0);
	return NULL;
}

/* A call blocks for as long as a thousand events take, on the one core that there is. */
static void
blocking_calls(void **state)
{
	weir_em_queue queue;
	pthread_t thread;

	make(1);
	helpers = weir_job_offload_create(NULL);
	assert_non_null(helpers);
	jt_spawn(reads, "/proc/self/comm", 16, NULL);
	jt_finish();
	assert_int_equal(nb_read, strlen(text));
	assert_true(nb_read > 1);
	jt_spawn(reads, "/nowhere/at/all", 16, NULL);
	jt_finish();
	assert_int_equal(nb_read, -ENOENT);
	nb_events = may_go = 0;
	queue = et_serve("events", WEIR_EM_QUEUE_ATOMIC, count, NULL);
	jt_spawn(blocks_in_job, NULL, 0, NULL);
	for (unsigned int i = 0; i < 1000; i++) {
		et_send(queue, i);
		jt_rounds(1);
	}
	et_run();
	assert_int_equal(nb_events, 1000);
	assert_int_equal(jt_stats().nb_live, 1);
	jt_add(&may_go, 1);
	jt_finish();
	assert_int_equal(pthread_create(&thread, NULL, end_helpers, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(weir_job_offload_destroy(helpers), 0);
}

static rte_spinlock_t spinlock = RTE_SPINLOCK_INITIALIZER;
static struct weir_job_mutex mutex;
static int careless_rc;
static uint64_t nb_careful;

static void
careless_job(void *in, void *out)
{
	careless_rc = careless(&spinlock);
	jt_add(&nb_told, 1);
}

static void
careful_job(void *in, void *out)
{
	CHECK(careful(&mutex) == 0);
	jt_add(&nb_careful, 1);
}

static void
locks_across_yields(void **state)
{
	make(2);
	careless_rc = 1;
	nb_careful = nb_told = 0;
	jt_spawn(careless_job, NULL, 0, NULL);
	jt_until(&nb_told, 1, "its error");
	assert_int_equal(careless_rc, -EDEADLK);
	assert_false(rte_spinlock_is_locked(&spinlock));
	weir_job_mutex_init(&mutex);
	for (unsigned int i = 0; i < 10; i++)
		jt_spawn(careful_job, NULL, 0, NULL);
	jt_until(&nb_careful, 10, "all were careful");
}

static struct request seen;

static void
keep_request(void *arg, weir_job job, enum weir_job_end end, void *out)
{
	seen = *(struct request *)out;
	jt_add(&nb_told, 1);
}

static void
thread_locals(void **state)
{
	const struct weir_job_options options = {
		.out_size = sizeof(struct request), .done = keep_request};
	weir_em_queue_group group;

	make(2);
	if (request_slot < 0)
		request_slot = weir_coro_local_alloc();
	assert_true(request_slot >= 0);
	group = weir_em_queue_group_create(et_em, "other", 2);
	assert_int_not_equal(group, WEIR_EM_NONE);
	nb_told = 0;
	jt_spawn(follow, &group, sizeof(group), &options);
	jt_until(&nb_told, 1, "where it was");
	assert_int_equal(seen.cores[0], 0);
	assert_int_equal(seen.cores[1], 1);
	assert_true(seen.kept);
}

static void
sleeps_long(void *in, void *out)
{
	weir_job_sleep(UINT64_C(3600) * 1000000000);
}

static void
uses_much(void *in, void *out)
{
	char large[20000];

	memset(large, 1, sizeof(large));
	__asm__ volatile("" : : "r"(large) : "memory");
	weir_job_yield();
}

/* 256 stacks of 32 KB; memory is behind what is used of them. */
static void
memory_per_stack(void **state)
{
	struct weir_coro_class_stats stats;
	size_t shallow;

	make(1);
	assert_int_equal(bytes_per_job(0), 0);
	for (unsigned int i = 0; i < 256; i++)
		jt_spawn(sleeps_long, NULL, 0, NULL);
	jt_rounds(10);
	assert_int_equal(jt_stats().nb_live, 256);
	assert_int_equal(weir_job_spawn(jt_service, sleeps_long, NULL, 0, NULL), WEIR_JOB_NONE);
	assert_int_equal(rte_errno, EAGAIN);
	shallow = bytes_per_job(0);
	print_message("  %zu bytes for a job that sleeps\n", shallow);
#ifndef __SANITIZE_ADDRESS__
	assert_in_range(shallow, 1, 16384);
#endif
	assert_int_equal(weir_job_service_stop(jt_service, et_core, UINT64_C(60000000000)), 0);
	assert_int_equal(weir_job_service_start(jt_service, et_core), 0);
	for (unsigned int i = 0; i < 100; i++)
		jt_spawn(uses_much, NULL, 0, NULL);
	jt_finish();
	assert_int_equal(weir_coro_class_look(0, &stats), 0);
	assert_in_range(stats.high_water, 20000, 32768);
	assert_true(weir_coro_trim(0) > 0);
	assert_int_equal(weir_coro_class_look(0, &stats), 0);
	print_message("  %zu bytes are resident when none is alive\n", stats.resident);
	assert_true(stats.resident < 256 * 4096);
}

#define DOC_TEST(name) cmocka_unit_test_teardown(name, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_summed_up),
		DOC_TEST(plumbing),
		DOC_TEST(parts),
		DOC_TEST(lent_cores),
		DOC_TEST(databases),
		DOC_TEST(conversation),
		DOC_TEST(blocking_calls),
		DOC_TEST(locks_across_yields),
		DOC_TEST(thread_locals),
		DOC_TEST(memory_per_stack),
	};

	return ST_RUN("job-document", tests);
}
