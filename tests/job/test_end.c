/* SPDX-License-Identifier: BSD-3-Clause */

/* How a job ends, and who is told; limits, what is refused, what is known of jobs, handles. */

#include <sched.h>

#include "job_private.h" /* of handles */

#include "job_test.h"

#define MS UINT64_C(1000000)

static uint64_t nb_done;

static void
reset(void)
{
	nb_done = 0;
}

static void
nothing(void *in, void *out)
{
}

/* ---- what is given, and what is left ---- */

static void
adds(void *in, void *out)
{
	const uint64_t *numbers = in;
	uint64_t *sum = out;

	assert_int_equal(*sum, 0);
	weir_job_yield();
	*sum = numbers[0] + numbers[1];
}

static weir_job done_job;
static enum weir_job_end done_end;
static uint64_t done_sum;

static void
is_done(void *arg, weir_job job, enum weir_job_end end, void *out)
{
	assert_ptr_equal(arg, &done_sum);
	assert_true(weir_job_is_alive(jt_service, job));
	assert_int_equal(weir_job_cancel(jt_service, job), -ESTALE); /* too late */
	done_job = job;
	done_end = end;
	done_sum = out != NULL ? *(uint64_t *)out : 0;
	jt_add(&nb_done, 1);
}

static void
callbacks(void **state)
{
	const uint64_t numbers[2] = {40, 2};
	struct weir_job_options options = {
		.out_size = sizeof(uint64_t), .done = is_done, .done_arg = &done_sum};
	weir_job job;

	reset();
	jt_make(1);
	job = jt_spawn(adds, numbers, sizeof(numbers), &options);
	assert_int_equal(nb_done, 0);
	jt_finish();
	assert_int_equal(nb_done, 1);
	assert_int_equal(done_job, job);
	assert_int_equal(done_end, WEIR_JOB_FINISHED);
	assert_int_equal(done_sum, 42);
	/* cancelled before it began: it does not run, but that is told */
	options.flags = WEIR_JOB_LATER;
	job = jt_spawn(adds, numbers, sizeof(numbers), &options);
	weir_job_cancel(jt_service, job);
	jt_finish();
	assert_int_equal(nb_done, 2);
	assert_int_equal(done_job, job);
	assert_int_equal(done_end, WEIR_JOB_CANCELLED);
	assert_int_equal(done_sum, 0);
}

static weir_em_pool pool;
static uint64_t nb_results;

static void
results_receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	for (uint16_t i = 0; i < nb; i++) {
		if (events[i].event_type == WEIR_EM_EVENT_BUFFER) {
			struct weir_job_result *result =
				rte_pktmbuf_mtod(events[i].mbuf, struct weir_job_result *);

			assert_int_equal(result->arg, (uintptr_t)&done_sum);
			assert_int_equal(result->end, WEIR_JOB_FINISHED);
			assert_int_equal(result->out_size, sizeof(uint64_t));
			assert_int_equal(*(uint64_t *)weir_job_result_out(result), 42);
			weir_em_free(et_em, core, events[i].mbuf);
		} else {
			assert_int_equal(events[i].u64, (uintptr_t)&done_sum);
		}
		jt_add(&nb_results, 1);
	}
}

static void
done_events(void **state)
{
	const uint64_t numbers[2] = {40, 2};
	struct weir_job_options options = {.done_arg = &done_sum};
	struct weir_em_pool_info info;

	reset();
	nb_results = 0;
	jt_make(1);
	options.done_queue = et_serve("results", WEIR_EM_QUEUE_ATOMIC, results_receive, NULL);
	jt_spawn(nothing, NULL, 0, &options); /* at once: a new event */
	jt_until(&nb_results, 1, "an event");
	options.flags = WEIR_JOB_LATER; /* by its own event */
	jt_spawn(nothing, NULL, 0, &options);
	jt_until(&nb_results, 2, "an event");
	pool = weir_em_pool_create(
		et_em, &(struct weir_em_pool_config){.name = "results", .nb = 15});
	assert_int_not_equal(pool, WEIR_EM_NONE);
	options.done_pool = pool;
	options.out_size = sizeof(uint64_t);
	for (int i = 0; i < 15; i++)
		jt_spawn(adds, numbers, sizeof(numbers), &options);
	/* buffers are taken first: there is no job that could not tell its results */
	assert_int_equal(weir_job_spawn(jt_service, adds, numbers, sizeof(numbers), &options),
		WEIR_JOB_NONE);
	assert_int_equal(rte_errno, ENOMEM);
	jt_until(&nb_results, 17, "fifteen events");
	jt_finish();
	assert_int_equal(weir_em_pool_info(et_em, pool, &info), 0);
	assert_int_equal(info.nb_free, 15);
	/* nobody is there to be told */
	options.done_queue =
		weir_em_queue_create(et_em, &(struct weir_em_queue_config){.name = "gone"});
	jt_spawn(adds, numbers, sizeof(numbers), &options);
	assert_int_equal(weir_em_queue_delete(et_em, options.done_queue), 0);
	jt_finish();
	assert_int_equal(jt_stats().nb_undeliverable, 1);
	assert_int_equal(weir_em_pool_info(et_em, pool, &info), 0);
	assert_int_equal(info.nb_free, 15);
}

/* A queue that never was there: counted each time, told once a second; buffers go back. */
static void
no_queue_to_tell(void **state)
{
	const uint64_t numbers[2] = {40, 2};
	struct weir_job_options options = {.name = "in vain",
		.done_arg = &done_sum,
		.out_size = sizeof(uint64_t),
		.done_queue = UINT64_C(1) << 40 | 4711};
	struct weir_em_pool_info info;
	uint64_t begun, nb = 0;

	reset();
	jt_make(1);
	pool = weir_em_pool_create(
		et_em, &(struct weir_em_pool_config){.name = "results", .nb = 15});
	options.done_pool = pool;
	/* where the machine let no second pass meanwhile */
	do {
		begun = weir_base_time_ns();
		st_log_clear();
		for (unsigned int i = 0; i < 20; i++) {
			jt_spawn(adds, numbers, sizeof(numbers), &options);
			jt_finish();
		}
		nb += 20;
		assert_int_equal(jt_stats().nb_undeliverable, nb);
		if (nb == 20)
			assert_true(st_log_count() > 0);
	} while (weir_base_time_ns() - begun >= 1000 * MS && nb < 2000);
	/* the event machine has something to say, too */
	assert_in_range(st_log_count(), 0, 2);
	assert_int_equal(weir_em_pool_info(et_em, pool, &info), 0);
	assert_int_equal(info.nb_free, 15);
}

/* The events that tell of ends are refused at first: an unscheduled queue that is full. */
static void
done_events_wait(void **state)
{
	struct weir_job_options options = {.done_arg = &done_sum};
	struct rte_event events[16];
	struct weir_job_info info;
	unsigned int nb = 0;
	weir_job job = 0;

	reset();
	jt_make(1);
	options.done_queue = weir_em_queue_create(
		et_em, &(struct weir_em_queue_config){
			       .name = "full", .type = WEIR_EM_QUEUE_UNSCHEDULED, .size = 8});
	for (int i = 0; i < 40; i++)
		job = jt_spawn(nothing, NULL, 0, &options);
	jt_rounds(100);
	assert_in_range(jt_stats().nb_live, 1, 39);
	assert_int_equal(weir_job_look(jt_service, job, &info), 0);
	assert_int_equal(info.state, WEIR_JOB_DELIVERING);
	while (nb < 40) {
		uint16_t got = weir_em_queue_dequeue(et_em, options.done_queue, events, 16);

		for (uint16_t i = 0; i < got; i++)
			assert_int_equal(events[i].u64, (uintptr_t)&done_sum);
		nb += got;
		jt_rounds(10);
	}
	jt_finish();
	assert_int_equal(nb, 40);
	assert_int_equal(weir_em_queue_dequeue(et_em, options.done_queue, events, 16), 0);
}

/* ---- limits, errors ---- */

static void
waits_for_ever(void *in, void *out)
{
	struct weir_job_completion never = {0};

	assert_int_equal(weir_job_completion_wait(&never, NULL), -ECANCELED);
	jt_add(&nb_done, 1);
}

static void
limits(void **state)
{
	struct weir_em_config em = jt_em_config(1);
	unsigned int nb = 0;

	reset();
	jt_make_of(em, (struct weir_job_service_config){.max_jobs = 20, .cache = 1}, 15);
	while (weir_job_spawn(jt_service, waits_for_ever, NULL, 0, NULL) != WEIR_JOB_NONE)
		nb++;
	assert_int_equal(rte_errno, EAGAIN);
	assert_int_equal(nb, 15); /* stacks */
	assert_int_equal(jt_stats().nb_refused, 1);
	assert_int_equal(jt_stats().nb_live, 15);
	jt_teardown(state);
	assert_int_equal(nb_done, 15);
	jt_make_of(em, (struct weir_job_service_config){.max_jobs = 20, .cache = 1}, 100);
	for (nb = 0; weir_job_spawn(jt_service, waits_for_ever, NULL, 0, NULL) != WEIR_JOB_NONE;)
		nb++;
	assert_int_equal(nb, 20);
	assert_int_equal(jt_stats().max_jobs, 20);
}

/* As many as there may be, whichever cores the places were on before; and not one more. */
static void
fill_up(unsigned int max_jobs)
{
	uint64_t begun = weir_base_time_ns();

	while (jt_stats().nb_live < max_jobs && weir_base_time_ns() - begun < 60000 * MS) {
		/* a job that has just ended may still be on its way out */
		if (weir_job_spawn(jt_service, waits_for_ever, NULL, 0, NULL) == WEIR_JOB_NONE)
			assert_int_equal(rte_errno, EAGAIN);
		sched_yield();
	}
	for (unsigned int i = 0; i < 300; i++) {
		assert_int_equal(
			weir_job_spawn(jt_service, waits_for_ever, NULL, 0, NULL), WEIR_JOB_NONE);
		assert_int_equal(rte_errno, EAGAIN);
	}
	assert_int_equal(jt_stats().nb_live, max_jobs);
}

static uint64_t nb_alive, most_alive;

/* Begins others like it. */
static void
is_one_of(void *in, void *out)
{
	uint64_t generation = *(const uint64_t *)in, nb;

	nb = __atomic_add_fetch(&nb_alive, 1, __ATOMIC_SEQ_CST);
	if (nb > jt_read(&most_alive))
		__atomic_store_n(&most_alive, nb, __ATOMIC_SEQ_CST);
	if (generation++ < 400)
		for (int i = 0; i < 2; i++)
			weir_job_spawn(jt_service, is_one_of, &generation, sizeof(generation),
				&(struct weir_job_options){.flags = i == 0 ? WEIR_JOB_LATER : 0});
	weir_job_yield();
	jt_add(&nb_alive, -(uint64_t)1);
}

static void
max_jobs_is_a_bound(void **state)
{
	static const unsigned int bounds[] = {1, 4, 40, 100};

	for (unsigned int i = 0; i < RTE_DIM(bounds); i++) {
		uint64_t generation = 0;

		reset();
		nb_alive = most_alive = 0;
		jt_make_of(jt_em_config(3), (struct weir_job_service_config){.max_jobs = bounds[i]},
			JT_STACKS);
		jt_spawn(is_one_of, &generation, sizeof(generation), NULL);
		jt_finish();
		assert_in_range(most_alive, 1, bounds[i]);
		assert_true(bounds[i] == 1 || jt_stats().nb_refused > 0);
		fill_up(bounds[i]);
		jt_teardown(state);
	}
}

static void
refused(weir_job_fn_t fn, const void *in, size_t size, struct weir_job_options options, int error)
{
	uint64_t nb_refused = jt_stats().nb_refused;

	rte_errno = 0;
	assert_int_equal(weir_job_spawn(jt_service, fn, in, size, &options), WEIR_JOB_NONE);
	assert_int_equal(rte_errno, error);
	assert_int_equal(jt_stats().nb_refused, nb_refused + 1);
}

static void
wrong_options(void **state)
{
	char large[4096] = "";
	weir_em_queue queue;

	reset();
	jt_make(1);
	queue = et_queue("some", WEIR_EM_QUEUE_ATOMIC, 0);
	pool = weir_em_pool_create(et_em, &(struct weir_em_pool_config){.name = "wrong", .nb = 15});
#define REFUSED(error, ...) refused(adds, NULL, 0, (struct weir_job_options){__VA_ARGS__}, error)
	refused(NULL, NULL, 0, (struct weir_job_options){0}, EINVAL);
	refused(adds, NULL, 1, (struct weir_job_options){0}, EINVAL);
	refused(adds, large, 4096, (struct weir_job_options){0}, EINVAL); /* 256 fit */
	REFUSED(EINVAL, .flags = 1 << 10);
	REFUSED(EINVAL, .flags = WEIR_JOB_PRIORITY, .priority = 8);
	REFUSED(EINVAL, .name = "a name that has more than 31 characters");
	REFUSED(EINVAL, .out_size = 4096);
	REFUSED(EINVAL, .out_size = 70000, .done_queue = queue, .done_pool = pool);
	REFUSED(EINVAL, .out_size = 4000, .done_queue = queue, .done_pool = pool);
	for (size_t less = 0; less < 40; less++)
		REFUSED(EINVAL, .out_size = SIZE_MAX - less, .done_queue = queue,
			.done_pool = pool);
	REFUSED(EINVAL, .out_size = 8, .done_queue = queue);
	REFUSED(EINVAL, .done_pool = pool);
	REFUSED(EINVAL, .done_queue = queue, .done = is_done);
	REFUSED(EINVAL, .done_queue = queue, .done_pool = 4711);
	REFUSED(EINVAL, .stack_class = 2);
	REFUSED(EINVAL, .core_group = 4711);
	REFUSED(EINVAL, .slice_ns = UINT64_MAX);
	REFUSED(EINVAL, .deadline_ns = UINT64_MAX);
	if (!st_is_builtin())
		REFUSED(ENOTSUP, .flags = WEIR_JOB_PRIORITY, .priority = 5);
	assert_int_equal(weir_job_spawn(NULL, adds, NULL, 0, NULL), WEIR_JOB_NONE);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(jt_stats().nb_spawned, 0);
}

static bool
count(void *arg, const struct weir_job_info *info)
{
	uint64_t *left = arg;

	assert_string_equal(info->name, "waits");
	assert_int_equal(info->state, WEIR_JOB_WAITING);
	assert_int_equal(info->core, 0);
	assert_int_equal(info->cores, 1);
	return --*left > 0;
}

static void
looking(void **state)
{
	struct weir_job_options options = {.name = "waits"};
	struct weir_job_info info;
	uint64_t left = 1000;

	reset();
	jt_make(1);
	for (int i = 0; i < 10; i++)
		jt_spawn(waits_for_ever, NULL, 0, &options);
	assert_int_equal(weir_job_foreach(jt_service, count, &left), 10);
	assert_int_equal(left, 990);
	left = 3;
	assert_int_equal(weir_job_foreach(jt_service, count, &left), 3);
	assert_int_equal(weir_job_foreach(NULL, count, &left), 0);
	assert_int_equal(weir_job_foreach(jt_service, NULL, &left), 0);
	assert_int_equal(weir_job_look(jt_service, 1, &info), -EINVAL);
	assert_int_equal(weir_job_look(jt_service, UINT64_C(1) << 24, NULL), -EINVAL);
	assert_int_equal(weir_job_cancel(jt_service, 0), -EINVAL);
	assert_int_equal(weir_job_cancel(NULL, 0), -EINVAL);
	assert_false(weir_job_is_alive(NULL, 0));
	assert_string_equal(weir_job_state_name(WEIR_JOB_STATES), "?");
	for (int i = 0; i < WEIR_JOB_STATES; i++)
		assert_string_not_equal(weir_job_state_name((enum weir_job_state)i), "?");
}

/* Of a place whose generations are used up. */
static void
handles_are_never_used_again(void **state)
{
	weir_job job, first;

	reset();
	jt_make_of(
		jt_em_config(1), (struct weir_job_service_config){.max_jobs = 2, .cache = 1}, 16);
	first = jt_spawn(waits_for_ever, NULL, 0, NULL);
	weir_job_cancel(jt_service, first);
	jt_finish();
	job = jt_spawn(waits_for_ever, NULL, 0, NULL);
	assert_int_not_equal(job, first);
	assert_int_equal(job & 0xffffff, first & 0xffffff); /* the same place */
	assert_int_equal(weir_job_cancel(jt_service, first), -ESTALE);
	assert_true(weir_job_is_alive(jt_service, job));
	weir_job_cancel(jt_service, job);
	jt_finish();
	jt_service->jobs[job & 0xffffff].generation = UINT64_MAX >> 24;
	job = jt_spawn(waits_for_ever, NULL, 0, NULL);
	assert_int_equal(job, UINT64_MAX << 24 | (first & 0xffffff));
	weir_job_cancel(jt_service, job);
	jt_finish();
	assert_int_equal(weir_job_cancel(jt_service, job), -ESTALE);
	for (int i = 0; i < 10; i++) {
		job = weir_job_spawn(jt_service, waits_for_ever, NULL, 0, NULL);
		if (job != WEIR_JOB_NONE)
			assert_int_not_equal(job & 0xffffff, first & 0xffffff);
	}
}

/* ---- who is told of a job's end spawns the next one, or stops the service ---- */

#define CHAIN 20000

static void
does_nothing(void *in, void *out)
{
}

static void
next_one(void *arg, weir_job job, enum weir_job_end end, void *out)
{
	const struct weir_job_options options = {.done = next_one};

	jt_add(&nb_done, 1);
	if (jt_read(&nb_done) < CHAIN)
		assert_int_not_equal(
			weir_job_spawn(jt_service, does_nothing, NULL, 0, &options), WEIR_JOB_NONE);
}

static void
begins_a_chain(void *in, void *out)
{
	next_one(NULL, WEIR_JOB_NONE, WEIR_JOB_FINISHED, NULL);
}

/* Each needs the stack of the one before no longer, but for a few: neither stacks nor this one run out. */
static void
chain(void **state)
{
	reset();
	jt_make(1);
	jt_spawn(begins_a_chain, NULL, 0, NULL);
	jt_finish();
	assert_int_equal(nb_done, CHAIN);
}

static int stop_rc;

static void
stops(void *arg, weir_job job, enum weir_job_end end, void *out)
{
	stop_rc = weir_job_service_stop(jt_service, NULL, MS);
}

static void
stopped_by_who_is_told(void **state)
{
	stop_rc = 0;
	jt_make(1);
	jt_spawn(does_nothing, NULL, 0, &(struct weir_job_options){.done = stops});
	jt_finish();
	assert_int_equal(stop_rc, -EBUSY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JT_TEST(callbacks),
		JT_TEST(done_events),
		JT_TEST(no_queue_to_tell),
		JT_TEST(done_events_wait),
		JT_TEST(limits),
		JT_TEST(max_jobs_is_a_bound),
		JT_TEST(wrong_options),
		JT_TEST(looking),
		JT_TEST(handles_are_never_used_again),
		JT_TEST(chain),
		JT_TEST(stopped_by_who_is_told),
	};

	return ST_RUN("job-end", tests);
}
