/* SPDX-License-Identifier: BSD-3-Clause */

/* Requests: windows of links become fragments, at all edges of what is there; time is the test's. */

#include "request_fixture.h"

#include <errno.h>

#include <rte_errno.h>

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

/* Timestamps of 16 bits: what is asked for begins before they wrap, and ends after. */
static void
wrap(void **state)
{
	rq_make(RQ_STEP, 16, (struct weir_readout_service_config){.nb_fragments = 8});
	for (uint64_t n = 0; n < 100; n++)
		if (n != 53)
			rq_give(0, (UINT16_MAX - 499 + n * RQ_STEP) & UINT16_MAX);
	rq_expect(rq_look(0, UINT16_MAX - 99, 10), WEIR_READOUT_ANSWER_COMPLETE, 11, 0);
	rq_expect(rq_look(0, UINT16_MAX - 99, 60), WEIR_READOUT_ANSWER_PARTIAL, 15, 1);
	rq_expect_missing(rq.got[1], 0, 30, 40);
	rq_expect(rq_look(0, UINT16_MAX, 0), WEIR_READOUT_ANSWER_COMPLETE, 1, 0);
	/* waits over the wrap, in its units */
	assert_int_equal(rq_ask(0, 490, 520, MS, 0), 0);
	assert_int_equal(weir_readout_service_poll(rq.service, 1), 0);
	rq_give_all(0, 500, 520);
	assert_int_equal(weir_readout_service_poll(rq.service, 2), 1);
	rq_expect(rq.got[3], WEIR_READOUT_ANSWER_COMPLETE, 3, 0);
	/* further than half of the range ahead is behind */
	assert_int_equal(rq_ask(0, 0, 0x8001, 0, 0), -EINVAL);
	rq_free();
}

/* Without a step frames are at one tick, and what is between them is not missing. */
static void
irregular(void **state)
{
	rq_make(0, 64, (struct weir_readout_service_config){0});
	rq_give(0, 5000);
	rq_give(0, 5003);
	rq_give(0, 5100);
	rq_expect(rq_look(0, 5000, 5100), WEIR_READOUT_ANSWER_COMPLETE, 2, 0);
	rq_expect(rq_look(0, 5001, 5003), WEIR_READOUT_ANSWER_COMPLETE, 0, 0);
	rq_expect(rq_look(0, 5003, 5101), WEIR_READOUT_ANSWER_NOT_YET, 2, 1);
	rq_expect_missing(rq.got[2], 0, 5100, 5101);
	rq_free();
}

static void
several_links(void **state)
{
	const uint32_t some[] = {2, 0};
	struct weir_readout_request request = rq_request(5500, 5600, 0);
	struct weir_readout_service_stats stats;

	make();
	rq_give_all(0, 5000, 5700);
	rq_give_all(1, 5000, 5550);
	rq_give_all(2, 5600, 7000); /* began later */
	assert_int_equal(weir_readout_service_ask(rq.service, &request, 0), 0);
	assert_int_equal(rq_stats().outstanding, 3);
	assert_int_equal(weir_readout_service_poll(rq.service, 0), 3);
	rq_expect(rq.got[0], WEIR_READOUT_ANSWER_COMPLETE, 10, 0);
	rq_expect(rq.got[1], WEIR_READOUT_ANSWER_NOT_YET, 5, 1);
	rq_expect(rq.got[2], WEIR_READOUT_ANSWER_TOO_OLD, 0, 1);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(rq.got[i]->link, i);
	/* some of them, one answers later */
	rq_give_all(2, 7000, 7100);
	request = rq_request(7000, 7100, MS);
	request.links = some;
	request.nb_links = 2;
	assert_int_equal(weir_readout_service_ask(rq.service, &request, 0), 0);
	assert_int_equal(weir_readout_service_poll(rq.service, 1), 1);
	assert_int_equal(rq.got[3]->link, 2);
	assert_int_equal(weir_readout_service_poll(rq.service, MS), 1);
	rq_expect(rq.got[4], WEIR_READOUT_ANSWER_TIMED_OUT, 0, 1);
	assert_int_equal(rq.got[4]->link, 0);
	stats = rq_stats();
	assert_int_equal(stats.requests, 2);
	assert_int_equal(stats.asked, 5);
	assert_int_equal(stats.answered[WEIR_READOUT_ANSWER_COMPLETE], 2);
	rq_free();
}

static void
refused(void **state)
{
	const uint32_t links[] = {0, RQ_LINKS};
	struct weir_readout_request request = rq_request(100, 200, 0);
	struct weir_readout_service_stats stats;

	make();
	rq_give_all(0, 5000, 5500);
	assert_int_equal(rq_ask(0, 5200, 5100, 0, 0), -EINVAL);
	request.links = links;
	request.nb_links = 2;
	assert_int_equal(weir_readout_service_ask(rq.service, &request, 0), -ENOENT);
	request.nb_links = 0;
	assert_int_equal(weir_readout_service_ask(rq.service, &request, 0), -ENOENT);
	stats = rq_stats();
	assert_int_equal(stats.requests, 3);
	assert_int_equal(stats.asked, 4);
	assert_int_equal(stats.refused[WEIR_READOUT_REFUSAL_BAD_WINDOW], 1);
	assert_int_equal(stats.refused[WEIR_READOUT_REFUSAL_UNKNOWN_LINK], 3);
	assert_int_equal(weir_readout_service_poll(rq.service, 0), 0);
	rq_free();
}

/* Who holds all fragments, keeps others from new ones until he releases some: counted, and ingest goes on. */
static void
slow_consumer(void **state)
{
	struct weir_readout_request all = rq_request(5100, 5200, 0);

	make();
	rq_give_all(0, 5000, 5500);
	for (uint32_t i = 0; i < 7; i++)
		rq_look(0, 5100, 5200);
	/* two short: none of its links is asked */
	assert_int_equal(weir_readout_service_ask(rq.service, &all, 0), -ENOBUFS);
	assert_int_equal(rq_ask(0, 5100, 5200, 0, 0), 0);
	assert_int_equal(rq_ask(0, 5100, 5200, 0, 0), -ENOBUFS);
	assert_int_equal(rq_stats().refused[WEIR_READOUT_REFUSAL_NO_FRAGMENT], 4);
	assert_int_equal(weir_readout_service_poll(rq.service, 0), 1);
	assert_int_equal(rq_stats().held, 8);
	rq_give_all(0, 5500, 6000);
	assert_int_equal(rq_handler(0).buffered, 100);
	weir_readout_fragment_release(rq.got[--rq.nb_got]);
	assert_int_equal(rq_ask(0, 5100, 5200, 0, 0), 0);
	assert_int_equal(weir_readout_service_poll(rq.service, 0), 1);
	rq_free();
}

/* Time passes over what is held; more of it than there are spare cells. */
static void
reclaim_while_held(void **state)
{
	const struct weir_readout_fragment *fragment;
	struct weir_readout_handler_stats stats;

	make();
	rq_give_all(0, 5000, 6000);
	fragment = rq_look(0, 5500, 5800);
	rq_expect(fragment, WEIR_READOUT_ANSWER_COMPLETE, 30, 0);
	rq_give_all(0, 6000, 9000);
	rq_expect(fragment, WEIR_READOUT_ANSWER_COMPLETE, 30, 0);
	stats = rq_handler(0);
	assert_true(stats.buffer.detained == 30 && stats.dropped[WEIR_READOUT_HANDLER_EVICTED] > 0);
	assert_true(stats.delivered > 0);
	rq_release_all();
	rq_give_all(0, 9000, 11000);
	assert_int_equal(rq_handler(0).buffer.detained, 0);
	assert_int_equal(rq_handler(0).dropped[WEIR_READOUT_HANDLER_EVICTED],
		stats.dropped[WEIR_READOUT_HANDLER_EVICTED]);
	rq_free();
}

static void
completes_as_data_arrives(void **state)
{
	make();
	rq_give_all(0, 5000, 5100);
	assert_int_equal(rq_ask(0, 5050, 5150, MS, 0), 0);
	assert_int_equal(rq_ask(0, 5050, 5120, MS, 0), 0);
	assert_int_equal(rq_ask(0, 5050, 5100, MS, 0), 0);
	/* what is there is not kept by what is still to come */
	assert_int_equal(weir_readout_service_poll(rq.service, 10), 1);
	rq_expect(rq.got[0], WEIR_READOUT_ANSWER_COMPLETE, 5, 0);
	rq_give(0, 5100);
	assert_int_equal(weir_readout_service_poll(rq.service, 20), 0);
	rq_give(0, 5110);
	assert_int_equal(weir_readout_service_poll(rq.service, 30), 1);
	rq_expect(rq.got[1], WEIR_READOUT_ANSWER_COMPLETE, 7, 0);
	/* its last frame is lost, the one after it tells */
	rq_give_all(0, 5120, 5140);
	assert_int_equal(weir_readout_service_poll(rq.service, 40), 0);
	rq_give(0, 5150);
	assert_int_equal(weir_readout_service_poll(rq.service, 50), 1);
	rq_expect(rq.got[2], WEIR_READOUT_ANSWER_PARTIAL, 9, 1);
	rq_expect_missing(rq.got[2], 0, 5140, 5150);
	assert_int_equal(rq.got[2]->answered_ns, 50);
	rq_free();
}

static void
timeouts(void **state)
{
	make();
	rq_give_all(0, 5000, 5100);
	assert_int_equal(rq_ask(0, 5050, 5150, 1000, 500), 0);
	assert_int_equal(rq_ask(1, 5050, 5150, 2000, 500), 0);
	/* a clock that was read before the question */
	assert_int_equal(weir_readout_service_poll(rq.service, 0), 0);
	assert_int_equal(weir_readout_service_poll(rq.service, 1499), 0);
	assert_int_equal(weir_readout_service_poll(rq.service, 1500), 1);
	rq_expect(rq.got[0], WEIR_READOUT_ANSWER_TIMED_OUT, 5, 1);
	rq_expect_missing(rq.got[0], 0, 5100, 5150);
	/* nothing ever came there */
	assert_int_equal(weir_readout_service_poll(rq.service, UINT64_MAX), 1);
	rq_expect(rq.got[1], WEIR_READOUT_ANSWER_TIMED_OUT, 0, 1);
	rq_expect_missing(rq.got[1], 0, 5050, 5150);
	/* it came in the last moment: complete, though it is late to look */
	assert_int_equal(rq_ask(0, 5050, 5150, 1000, 5000), 0);
	rq_give_all(0, 5100, 5150);
	assert_int_equal(weir_readout_service_poll(rq.service, 9000), 1);
	rq_expect(rq.got[2], WEIR_READOUT_ANSWER_COMPLETE, 10, 0);
	/* never */
	assert_int_equal(rq_ask(0, 5150, 5200, UINT64_MAX, UINT64_MAX - 5), 0);
	assert_int_equal(weir_readout_service_poll(rq.service, UINT64_MAX), 0);
	rq_free();
}

static void
stop(void **state)
{
	make();
	rq_give_all(0, 5000, 5100);
	assert_int_equal(rq_ask(0, 5050, 5150, MS, 0), 0);
	assert_int_equal(weir_readout_service_poll(rq.service, 0), 0);
	weir_readout_service_stop(rq.service);
	assert_int_equal(rq_ask(0, 5050, 5100, MS, 0), -ESHUTDOWN);
	assert_int_equal(rq_stats().refused[WEIR_READOUT_REFUSAL_STOPPED], 1);
	assert_int_equal(weir_readout_service_poll(rq.service, 0), 1);
	rq_expect(rq.got[0], WEIR_READOUT_ANSWER_STOPPED, 5, 1);
	assert_int_equal(rq_stats().outstanding, 0);
	rq_free();
}

/* What a fragment has no room for. */
static void
limits(void **state)
{
	const struct weir_readout_fragment *fragment;

	rq_make(RQ_STEP, 64,
		(struct weir_readout_service_config){.max_frames = 4, .max_missing = 2});
	rq_give_all(0, 5000, 5500);
	rq_expect(rq_look(0, 5100, 5140), WEIR_READOUT_ANSWER_COMPLETE, 4, 0);
	rq_expect(rq_look(0, 5100, 5141), WEIR_READOUT_ANSWER_TOO_LARGE, 0, 0);
	assert_int_equal(rq_stats().answered[WEIR_READOUT_ANSWER_TOO_LARGE], 1);
	for (uint64_t n = 5510; n <= 5570; n += 20)
		rq_give(0, n);
	fragment = rq_look(0, 5500, 5570);
	rq_expect(fragment, WEIR_READOUT_ANSWER_PARTIAL, 3, 2);
	rq_expect_missing(fragment, 1, 5520, 5570);
	assert_int_equal(rq_stats().missing_cut, 1);
	rq_free();
}

static void
latencies(void **state)
{
	struct weir_base_hist hist;

	make();
	rq_give_all(0, 5000, 5100);
	for (uint64_t n = 0; n < 50; n++) {
		assert_int_equal(rq_ask(0, 5000, 5100, 0, 1000), 0);
		assert_int_equal(weir_readout_service_poll(rq.service, 1000 + n), 1);
		rq_release_all();
	}
	assert_int_equal(rq_ask(0, 5000, 5110, MS, 5000), 0);
	assert_int_equal(weir_readout_service_poll(rq.service, 5000), 0);
	rq_give(0, 5100);
	assert_int_equal(weir_readout_service_poll(rq.service, 12000), 1);
	weir_readout_service_latency(rq.service, WEIR_READOUT_LATENCY_AT_ONCE, &hist);
	assert_int_equal(hist.count, 50);
	assert_int_equal(weir_base_hist_percentile(&hist, 50), 24);
	assert_int_equal(weir_base_hist_percentile(&hist, 99.9), 49);
	weir_readout_service_latency(rq.service, WEIR_READOUT_LATENCY_WAITED, &hist);
	assert_int_equal(hist.count, 1);
	assert_int_equal(hist.max, 7000);
	rq_free();
}

/* A consumer that asks for more, and releases, while it is given fragments. */
static void
deliver_and_ask(void *arg, struct weir_readout_fragment *fragment)
{
	uint32_t *left = arg;
	struct weir_readout_request request = rq_request(5100, 5200, 0);

	request.deliver = deliver_and_ask;
	request.arg = arg;
	weir_readout_fragment_release(fragment);
	if (*left == 0)
		return;
	(*left)--;
	assert_int_equal(weir_readout_service_ask(rq.service, &request, 0), 0);
}

static void
asks_while_it_is_answered(void **state)
{
	struct weir_readout_request request = rq_request(5100, 5200, 0);
	uint32_t left = 1;

	make();
	request.deliver = deliver_and_ask;
	request.arg = &left;
	assert_int_equal(weir_readout_service_ask(rq.service, &request, 0), 0);
	assert_int_equal(weir_readout_service_poll(rq.service, 0), 3);
	assert_int_equal(weir_readout_service_poll(rq.service, 0), 3);
	assert_int_equal(weir_readout_service_poll(rq.service, 0), 0);
	assert_int_equal(rq_stats().held + rq_stats().outstanding, 0);
	assert_int_equal(rq_stats().asked, 6);
	rq_free();
}

static void
names(void **state)
{
	for (int i = 0; i < WEIR_READOUT_NB_ANSWERS; i++)
		assert_non_null(weir_readout_answer_name((enum weir_readout_answer)i));
	assert_null(weir_readout_answer_name(WEIR_READOUT_NB_ANSWERS));
	for (int i = 0; i < WEIR_READOUT_NB_REFUSALS; i++)
		assert_non_null(weir_readout_refusal_name((enum weir_readout_refusal)i));
	assert_null(weir_readout_refusal_name(WEIR_READOUT_NB_REFUSALS));
	for (int i = 0; i < WEIR_READOUT_HANDLER_NB_DROPS; i++)
		assert_non_null(weir_readout_handler_drop_name((enum weir_readout_handler_drop)i));
	assert_null(weir_readout_handler_drop_name(WEIR_READOUT_HANDLER_NB_DROPS));
	make();
	assert_int_equal(weir_readout_service_find(rq.service, "link2"), 2);
	assert_int_equal(weir_readout_service_find(rq.service, "link3"), -ENOENT);
	assert_int_equal(weir_readout_service_nb_links(rq.service), RQ_LINKS);
	rq_free();
}

static void
refuse_config(struct weir_readout_service_config config)
{
	rte_errno = 0;
	assert_null(weir_readout_service_create(&config));
	assert_int_equal(rte_errno, EINVAL);
}

static void
configurations(void **state)
{
	struct weir_readout_service_link links[] = {{.name = "link"}};

	refuse_config((struct weir_readout_service_config){0});
	refuse_config((struct weir_readout_service_config){.links = links, .nb_links = 1});
	make();
	links[0].buffer = weir_readout_handler_buffer(rq.handlers[0]);
	refuse_config((struct weir_readout_service_config){
		.links = links, .nb_links = 1, .max_missing = 1});
	links[0].name = NULL;
	refuse_config((struct weir_readout_service_config){.links = links, .nb_links = 1});
	/* of handlers */
	assert_int_equal(weir_readout_handler_free(rq.handlers[0]), -EBUSY);
	assert_null(weir_readout_handler_create(rq.registry,
		&(struct weir_readout_handler_config){.link = rq.links[1],
			.buffer = {.history_s = 1, .no_hugepages = true, .socket_id = -1}}));
	assert_int_equal(rte_errno, EEXIST);
	assert_null(weir_readout_handler_create(
		rq.registry, &(struct weir_readout_handler_config){.link = rq.links[1]}));
	assert_int_equal(rte_errno, EINVAL);
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
		cmocka_unit_test(wrap),
		cmocka_unit_test(irregular),
		cmocka_unit_test(several_links),
		cmocka_unit_test(refused),
		cmocka_unit_test(slow_consumer),
		cmocka_unit_test(reclaim_while_held),
		cmocka_unit_test(completes_as_data_arrives),
		cmocka_unit_test(timeouts),
		cmocka_unit_test(stop),
		cmocka_unit_test(limits),
		cmocka_unit_test(latencies),
		cmocka_unit_test(asks_while_it_is_answered),
		cmocka_unit_test(names),
		cmocka_unit_test(configurations),
	};

	return cmocka_run_group_tests_name("readout-request", tests, NULL, NULL);
}
