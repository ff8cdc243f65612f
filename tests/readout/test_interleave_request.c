/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Requests served beside the writer, stopped at each step of either: a fragment has all that was there when it was asked for, or says that it is missing;
 * what it holds stays as it is while time passes over it; what waits is answered when its end has come, or its timeout is over.
 */

#include "interleave_buffer.h"

#include "../../lib/readout/request/request.c"
#include "../../lib/readout/request/request_service.c"

#define NB_FIRST 8u
/* With sanitizers each takes a hundred times as long. */
#if defined(WEIR_BASE_ASAN) || defined(WEIR_BASE_TSAN)
#define INTERRUPTIONS 1
#define ORDERS        50
#else
#define INTERRUPTIONS 2
#define ORDERS        2000
#endif
#define POLLS 4u

static struct {
	struct weir_readout_service *service;
	struct weir_readout_fragment *fragment;
	unsigned int answers[WEIR_READOUT_NB_ANSWERS];
} t;

static void
put_first(void)
{
	for (uint64_t n = 0; n < NB_FIRST; n++)
		put(FIRST + n * STEP);
}

static void
restore(void)
{
	restore_buffer();
	t.fragment = NULL;
}

/* All is released, and counted. */
static void
check_counts(void)
{
	struct weir_readout_service_stats stats;
	uint64_t sum = 0;

	assert_null(t.fragment);
	weir_readout_service_stats(t.service, &stats);
	for (unsigned int i = 0; i < WEIR_READOUT_NB_ANSWERS; i++)
		sum += stats.answered[i];
	assert_int_equal(stats.asked, sum);
	assert_int_equal(stats.outstanding + stats.held, 0);
	check_pins();
}

static void
take(void *arg, struct weir_readout_fragment *fragment)
{
	t.fragment = fragment;
}

/* Ask, and poll until there is an answer, by the time of as many polls as the timeout says; hold it for a while. */
static void
serve(uint64_t begin, uint64_t end, uint64_t timeout_ns)
{
	const struct weir_readout_request request = {
		.begin = begin, .end = end, .timeout_ns = timeout_ns, .deliver = take};
	unsigned int nb_shown = written.nb_shown;

	assert_int_equal(weir_readout_service_ask(t.service, &request, 0), 0);
	for (uint64_t now_ns = 0; t.fragment == NULL; now_ns++) {
		assert_true(now_ns <= timeout_ns);
		weir_readout_service_poll(t.service, now_ns);
		interleave_point();
	}
	t.answers[t.fragment->answer]++;
	if (t.fragment->answer == WEIR_READOUT_ANSWER_TIMED_OUT)
		assert_int_equal(t.fragment->answered_ns, timeout_ns);
	if (t.fragment->answer == WEIR_READOUT_ANSWER_COMPLETE)
		assert_int_equal(t.fragment->window->nb_frames, (end - begin + STEP - 1) / STEP);
	check_window(t.fragment->window, nb_shown);
	interleave_point();
	check_frames(t.fragment->window);
	weir_readout_fragment_release(t.fragment);
	t.fragment = NULL;
}

static void
run(void (*writer)(void), void (*server)(void))
{
	const struct interleave interleave = {.init = restore,
		.nb_actors = 2,
		.actors = {writer, server},
		.check = check_counts,
		.most_interruptions = INTERRUPTIONS,
		.least = ORDERS};

	memset(&t, 0, sizeof(t));
	make_buffer(STEP, &(struct weir_readout_buffer_config){
				  .history_s = NB_FIRST * STEP / 1000.0, .spare_frames = 2});
	t.service = weir_readout_service_create(&(struct weir_readout_service_config){
		.links = &(struct weir_readout_service_link){.name = "t", .buffer = written.buffer},
		.nb_links = 1,
		.nb_fragments = 2,
		.max_frames = FRAMES_MAX});
	assert_non_null(t.service);
	put_first();
	save_buffer();
	interleave_all(&interleave);
	weir_readout_service_free(t.service);
	weir_readout_buffer_free(written.buffer);
}

/* Of what is asked for the beginning goes meanwhile, and its cells are wanted. */
static void
write_on(void)
{
	for (uint64_t n = NB_FIRST; n < NB_FIRST + 7; n++)
		put(FIRST + n * STEP);
}

static void
serve_oldest(void)
{
	serve(FIRST, FIRST + 4 * STEP, 0);
}

static void
reclaim(void **state)
{
	run(write_on, serve_oldest);
	assert_true(t.answers[WEIR_READOUT_ANSWER_COMPLETE] > 0);
	assert_true(t.answers[WEIR_READOUT_ANSWER_PARTIAL] > 0);
}

static void
write_next(void)
{
	for (uint64_t n = NB_FIRST; n < NB_FIRST + 3; n++)
		put(FIRST + n * STEP);
}

static void
serve_next(void)
{
	serve(FIRST + (NB_FIRST - 1) * STEP, FIRST + (NB_FIRST + 2) * STEP, POLLS);
}

static void
arrival(void **state)
{
	run(write_next, serve_next);
	assert_true(t.answers[WEIR_READOUT_ANSWER_COMPLETE] > 0);
	assert_true(t.answers[WEIR_READOUT_ANSWER_TIMED_OUT] > 0);
	assert_int_equal(t.answers[WEIR_READOUT_ANSWER_NOT_YET], 0);
}

/* Time comes to the window's end, and the clock is set back at once: what is to come then is waited for. */
static void
write_and_set_back(void)
{
	put(FIRST + NB_FIRST * STEP);
	for (uint64_t n = 0; n < 3; n++)
		put(100 + n * STEP);
}

static void
serve_last(void)
{
	serve(FIRST + (NB_FIRST - 1) * STEP, FIRST + (NB_FIRST + 1) * STEP, POLLS);
}

static void
set_back(void **state)
{
	run(write_and_set_back, serve_last);
	assert_true(t.answers[WEIR_READOUT_ANSWER_COMPLETE] > 0);
	assert_true(t.answers[WEIR_READOUT_ANSWER_TIMED_OUT] > 0);
	assert_int_equal(t.answers[WEIR_READOUT_ANSWER_NOT_YET], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reclaim),
		cmocka_unit_test(arrival),
		cmocka_unit_test(set_back),
	};

	return cmocka_run_group_tests_name("readout-interleave-request", tests, NULL, NULL);
}
