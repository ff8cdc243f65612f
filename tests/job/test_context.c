/* SPDX-License-Identifier: BSD-3-Clause */

/* What a job that waits does not have: the atomic or ordered context of the event in whose receive function it began, a credit. */

#include "job_test.h"

#define NB_WAITING 100

static struct weir_job_completion completions[NB_WAITING];
static uint64_t nb_received, nb_done;
static weir_em_queue onward;

static void
waits(void *in, void *out)
{
	assert_int_equal(weir_job_completion_wait(*(struct weir_job_completion **)in, NULL), 0);
	jt_add(&nb_done, 1);
}

static weir_job
spawn_waiting(unsigned int i, unsigned int flags)
{
	struct weir_job_completion *completion = &completions[i];

	return jt_spawn(
		waits, &completion, sizeof(completion), &(struct weir_job_options){.flags = flags});
}

/* Event 1 becomes a job, which waits when this returns; all others go on, if there is somewhere to go. */
static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	for (uint16_t i = 0; i < nb; i++) {
		if (events[i].u64 == 1) {
			spawn_waiting(0, 0);
			assert_int_equal(jt_stats().nb_waits, 1);
		} else if (onward != WEIR_EM_NONE) {
			assert_int_equal(weir_em_forward(core, onward, &events[i]), 0);
		}
		jt_add(&nb_received, 1);
	}
}

static struct et_sink sink;

static weir_em_queue
begin(enum weir_em_queue_type type, unsigned int nb_cores)
{
	memset(completions, 0, sizeof(completions));
	nb_received = nb_done = 0;
	onward = WEIR_EM_NONE;
	jt_make(nb_cores);
	return et_serve("flow", type, receive, NULL);
}

/* Events in the scheduler: each has a credit. */
static uint64_t
nb_inside(void)
{
	struct weir_sched_stats stats;

	weir_sched_stats(weir_em_sched(et_em), &stats);
	return stats.nb_new - stats.nb_released;
}

/* Cores give up what they had with their next look for events. */
static void
until_none_is_inside(void)
{
	const uint64_t begun = weir_base_time_ns();

	while (nb_inside() > 0 && weir_base_time_ns() - begun < UINT64_C(60000000000))
		jt_rounds(1);
	assert_int_equal(nb_inside(), 0);
}

static void
complete_all(unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++)
		assert_int_equal(weir_job_complete(&completions[i]), 0);
	jt_finish();
	assert_int_equal(nb_done, nb);
}

/* The flow goes on while the job that began in it waits: on this core, or any other. */
static void
atomic(unsigned int nb_cores)
{
	weir_em_queue queue = begin(WEIR_EM_QUEUE_ATOMIC, nb_cores);

	et_send(queue, 1);
	jt_until(&nb_received, 1, "the event that begins a job");
	for (uint64_t i = 2; i <= 50; i++) {
		et_send(queue, i);
		jt_until(&nb_received, i, "another one of its flow");
	}
	assert_int_equal(jt_stats().nb_live, 1);
	assert_int_equal(nb_done, 0);
	until_none_is_inside();
	complete_all(1);
}

static void
no_atomic_context_on_one_core(void **state)
{
	atomic(1);
}

static void
no_atomic_context_on_three_cores(void **state)
{
	atomic(3);
}

/* What comes behind it in an ordered queue is not kept back for what it might send. */
static void
no_ordered_context(void **state)
{
	weir_em_queue queue = begin(WEIR_EM_QUEUE_ORDERED, 1);

	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 0);
	onward = sink.queue;
	et_send(queue, 1);
	for (uint64_t i = 2; i <= 50; i++)
		et_send(queue, i);
	jt_until(&nb_received, 50, "all of the flow");
	while (__atomic_load_n(&sink.nb, __ATOMIC_ACQUIRE) < 49)
		jt_rounds(1);
	for (uint64_t i = 0; i < 49; i++)
		assert_int_equal(sink.values[i], i + 2);
	assert_int_equal(jt_stats().nb_live, 1);
	assert_int_equal(nb_done, 0);
	until_none_is_inside();
	complete_all(1);
}

/* Those that came by an event of their own, which has a credit, have given that up, too. */
static void
no_credits(void **state)
{
	begin(WEIR_EM_QUEUE_ATOMIC, 1);
	until_none_is_inside();
	for (unsigned int i = 0; i < NB_WAITING; i++)
		spawn_waiting(i, WEIR_JOB_LATER);
	assert_int_equal(nb_inside(), NB_WAITING);
	while (jt_stats().nb_waits < NB_WAITING)
		jt_rounds(1);
	assert_int_equal(jt_stats().nb_live, NB_WAITING);
	until_none_is_inside();
	complete_all(NB_WAITING);
	until_none_is_inside();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JT_TEST(no_atomic_context_on_one_core),
		JT_TEST(no_atomic_context_on_three_cores),
		JT_TEST(no_ordered_context),
		JT_TEST(no_credits),
	};

	return ST_RUN("job-context", tests);
}
