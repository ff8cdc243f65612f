/* SPDX-License-Identifier: BSD-3-Clause */

/* Requests: windows of links become fragments, at all edges of what is there; time is the test's. */

#include "request_fixture.h"

#include <errno.h>

#define MS 1000000u

static void
make(void)
{
	rq_make(RQ_STEP, 64, (struct weir_readout_service_config){.nb_fragments = 8});
}

static void
from_link_to_fragment(void **state)
{
	const struct weir_readout_fragment *fragment;

	make();
	rq_give_all(1, 5000, 5500);
	fragment = rq_look(1, 5100, 5200);
	rq_expect(fragment, WEIR_READOUT_ANSWER_COMPLETE, 10, 0);
	assert_int_equal(fragment->run, 7);
	assert_int_equal(fragment->trigger, 6100);
	assert_int_equal(fragment->link, 1);
	assert_int_equal(fragment->key, 101);
	assert_string_equal(fragment->link_name, "link1");
	assert_int_equal(fragment->window->begin, 5100);
	assert_int_equal(fragment->window->end, 5200);
	assert_int_equal(rq_stats().held, 1);
	assert_int_equal(rq_stats().frames, 10);
	assert_int_equal(rq_stats().bytes, 10 * RQ_BYTES);
	rq_release_all();
	assert_int_equal(rq_stats().held, 0);
	assert_int_equal(rq_handler(1).buffered, 50);
	rq_free();
}

static void
edges(void **state)
{
	make();
	/* no frame yet */
	rq_expect(rq_look(0, 100, 200), WEIR_READOUT_ANSWER_NOT_YET, 0, 1);
	rq_give_all(0, 5000, 6500);
	rq_release_all();
	/* empty, wherever it is */
	rq_expect(rq_look(0, 6000, 6000), WEIR_READOUT_ANSWER_COMPLETE, 0, 0);
	rq_expect(rq_look(0, 0, 0), WEIR_READOUT_ANSWER_COMPLETE, 0, 0);
	rq_expect(rq_look(0, 9000, 9000), WEIR_READOUT_ANSWER_COMPLETE, 0, 0);
	/* one tick: the frame around it */
	rq_expect(rq_look(0, 6000, 6001), WEIR_READOUT_ANSWER_COMPLETE, 1, 0);
	rq_expect(rq_look(0, 6009, 6010), WEIR_READOUT_ANSWER_COMPLETE, 1, 0);
	rq_expect(rq_look(0, 6009, 6011), WEIR_READOUT_ANSWER_COMPLETE, 2, 0);
	assert_int_equal(rq.got[5]->window->timestamps[0], 6000);
	rq_release_all();
	/* the newest tick, and the one after it */
	rq_expect(rq_look(0, 6490, 6500), WEIR_READOUT_ANSWER_COMPLETE, 1, 0);
	rq_expect(rq_look(0, 6490, 6501), WEIR_READOUT_ANSWER_NOT_YET, 1, 1);
	rq_expect_missing(rq.got[1], 0, 6500, 6501);
	rq_expect(rq_look(0, 6500, 6501), WEIR_READOUT_ANSWER_NOT_YET, 0, 1);
	rq_free();
}

static void
reclaim_edge(void **state)
{
	uint64_t begin, end;

	make();
	rq_give_all(0, 5000, 6500);
	assert_true(weir_readout_buffer_range(
		weir_readout_handler_buffer(rq.handlers[0]), &begin, &end));
	assert_int_equal(end, 6500);
	assert_true(begin <= 6490 - RQ_HISTORY);
	rq_expect(rq_look(0, begin, begin + 20), WEIR_READOUT_ANSWER_COMPLETE, 2, 0);
	rq_expect(rq_look(0, begin - 1, begin), WEIR_READOUT_ANSWER_TOO_OLD, 0, 1);
	rq_expect(rq_look(0, begin - 1, begin + 1), WEIR_READOUT_ANSWER_PARTIAL, 1, 1);
	rq_expect_missing(rq.got[2], 0, begin - 1, begin);
	rq_expect(rq_look(0, 5000, 5100), WEIR_READOUT_ANSWER_TOO_OLD, 0, 1);
	rq_expect_missing(rq.got[3], 0, 5000, 5100);
	/* a step later the first one is gone, though it stays with who holds it */
	rq_give(0, 6500);
	rq_expect(rq.got[0], WEIR_READOUT_ANSWER_COMPLETE, 2, 0);
	rq_expect(rq_look(0, begin, begin + 20), WEIR_READOUT_ANSWER_PARTIAL, 1, 1);
	rq_free();
}

static void
gaps(void **state)
{
	const struct weir_readout_fragment *fragment;

	make();
	rq_give_all(0, 5000, 5100);
	rq_give_all(0, 5130, 5200);
	rq_give_all(0, 5210, 5300);
	fragment = rq_look(0, 5095, 5215);
	rq_expect(fragment, WEIR_READOUT_ANSWER_PARTIAL, 9, 2);
	rq_expect_missing(fragment, 0, 5100, 5130);
	rq_expect_missing(fragment, 1, 5200, 5210);
	/* within one: nothing is there */
	rq_expect(rq_look(0, 5105, 5106), WEIR_READOUT_ANSWER_PARTIAL, 0, 1);
	rq_expect_missing(rq.got[1], 0, 5105, 5106);
	rq_expect(rq_look(0, 5120, 5131), WEIR_READOUT_ANSWER_PARTIAL, 1, 1);
	/* a frame that comes late fills it */
	rq_give(0, 5200);
	rq_expect(rq_look(0, 5190, 5220), WEIR_READOUT_ANSWER_COMPLETE, 3, 0);
	assert_int_equal(rq_stats().answered[WEIR_READOUT_ANSWER_PARTIAL], 3);
	rq_free();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_link_to_fragment),
		cmocka_unit_test(edges),
		cmocka_unit_test(reclaim_edge),
		cmocka_unit_test(gaps),
	};

	return cmocka_run_group_tests_name("readout-request", tests, NULL, NULL);
}
