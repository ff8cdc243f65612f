/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_READOUT_REQUEST_FIXTURE_H
#define WEIR_TESTS_READOUT_REQUEST_FIXTURE_H

/* Links with buffers behind them and a service of requests, and the fragments that it delivered. Frames have 16 bytes; a tick is 1 ms. */

#include "../base/cmocka_all.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "weir_readout_handler.h"
#include "weir_readout_request.h"

#define RQ_LINKS   3u
#define RQ_BYTES   16u
#define RQ_STEP    10u
#define RQ_HISTORY 1000u /* ticks */
#define RQ_GOT_MAX 64u

static struct {
	struct weir_readout_format format;
	struct weir_readout_registry *registry;
	struct weir_readout_link *links[RQ_LINKS];
	struct weir_readout_handler *handlers[RQ_LINKS];
	struct weir_readout_service *service;
	struct weir_readout_fragment *got[RQ_GOT_MAX];
	uint32_t nb_got;
	uint64_t arrival_ns;
} rq;

static inline void
rq_make(uint64_t step, unsigned int timestamp_bits, struct weir_readout_service_config config)
{
	const struct weir_base_format spec = {.name = "request",
		.fields = {[WEIR_BASE_FIELD_TIMESTAMP] = {0, timestamp_bits},
			[WEIR_BASE_FIELD_SEQUENCE] = {64, 64}},
		.size_max_bytes = RQ_BYTES,
		.step_ticks = step,
		.clock_hz = 1000};
	struct weir_readout_service_link links[RQ_LINKS];

	memset(&rq, 0, sizeof(rq));
	assert_int_equal(weir_readout_format_compile(&spec, &rq.format, NULL, NULL, 0), 0);
	rq.registry = weir_readout_registry_create();
	assert_non_null(rq.registry);
	for (uint32_t i = 0; i < RQ_LINKS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "link%u", (unsigned int)i);
		rq.links[i] = weir_readout_link_create(rq.registry,
			&(struct weir_readout_link_config){
				.name = name, .sink = name, .format = &rq.format, .key = i});
		assert_non_null(rq.links[i]);
		rq.handlers[i] = weir_readout_handler_create(
			rq.registry, &(struct weir_readout_handler_config){.link = rq.links[i],
					     .buffer = {.history_s = RQ_HISTORY / 1000.0,
						     .rate_hz = 100,
						     .jump_s = 0.2,
						     .spare_frames = 8,
						     .socket_id = -1,
						     .no_hugepages = true}});
		assert_non_null(rq.handlers[i]);
		links[i] = (struct weir_readout_service_link){weir_readout_link_name(rq.links[i]),
			i + 100, weir_readout_handler_buffer(rq.handlers[i])};
	}
	assert_int_equal(weir_readout_registry_bind(rq.registry), 0);
	config.links = links;
	config.nb_links = RQ_LINKS;
	rq.service = weir_readout_service_create(&config);
	assert_non_null(rq.service);
}

static inline struct weir_readout_handler_stats
rq_handler(uint32_t link)
{
	struct weir_readout_handler_stats stats;
	uint64_t sum;

	weir_readout_handler_stats(rq.handlers[link], &stats);
	sum = stats.buffered + stats.held + stats.delivered;
	for (unsigned int i = 0; i < WEIR_READOUT_HANDLER_NB_DROPS; i++)
		sum += stats.dropped[i];
	assert_int_equal(stats.received, sum);
	return stats;
}

/* The service's counters, which must agree. */
static inline struct weir_readout_service_stats
rq_stats(void)
{
	struct weir_readout_service_stats stats;
	uint64_t sum;

	weir_readout_service_stats(rq.service, &stats);
	sum = stats.outstanding;
	for (unsigned int i = 0; i < WEIR_READOUT_NB_ANSWERS; i++)
		sum += stats.answered[i];
	for (unsigned int i = 0; i < WEIR_READOUT_NB_REFUSALS; i++)
		sum += stats.refused[i];
	assert_int_equal(stats.asked, sum);
	return stats;
}

static inline void
rq_give(uint32_t link, uint64_t timestamp)
{
	const uint64_t data[RQ_BYTES / 8] = {timestamp, timestamp / RQ_STEP};
	struct weir_readout_item item = {
		.data = data, .data_bytes = RQ_BYTES, .frame.size_bytes = RQ_BYTES};

	weir_readout_link_receive(rq.links[link], &item, 1, rq.arrival_ns += 1000);
}

/* Frames of [begin, end), a step apart. */
static inline void
rq_give_all(uint32_t link, uint64_t begin, uint64_t end)
{
	for (; begin != end; begin += RQ_STEP)
		rq_give(link, begin);
}

static inline void
rq_deliver(void *arg, struct weir_readout_fragment *fragment)
{
	assert_true(rq.nb_got < RQ_GOT_MAX);
	rq.got[rq.nb_got++] = fragment;
}

static inline struct weir_readout_request
rq_request(uint64_t begin, uint64_t end, uint64_t timeout_ns)
{
	return (struct weir_readout_request){.run = 7,
		.trigger = 1000 + begin,
		.begin = begin,
		.end = end,
		.timeout_ns = timeout_ns,
		.deliver = rq_deliver};
}

/* Of one link. */
static inline int
rq_ask(uint32_t link, uint64_t begin, uint64_t end, uint64_t timeout_ns, uint64_t now_ns)
{
	struct weir_readout_request request = rq_request(begin, end, timeout_ns);

	request.links = &link;
	request.nb_links = 1;
	return weir_readout_service_ask(rq.service, &request, now_ns);
}

static inline void
rq_release_all(void)
{
	for (uint32_t i = 0; i < rq.nb_got; i++)
		weir_readout_fragment_release(rq.got[i]);
	rq.nb_got = 0;
}

/* A fragment has so many frames, of the times that they say, and so many intervals missing. */
static inline void
rq_expect(const struct weir_readout_fragment *fragment, enum weir_readout_answer answer,
	uint32_t nb_frames, uint32_t nb_missing)
{
	const struct weir_readout_window *window = fragment->window;

	assert_string_equal(
		weir_readout_answer_name(fragment->answer), weir_readout_answer_name(answer));
	assert_int_equal(window->nb_frames, nb_frames);
	assert_int_equal(window->nb_missing, nb_missing);
	for (uint32_t i = 0; i < nb_frames; i++) {
		uint64_t data[RQ_BYTES / 8];

		assert_int_equal(window->frames[i].iov_len, RQ_BYTES);
		memcpy(data, window->frames[i].iov_base, RQ_BYTES);
		assert_int_equal(data[0], window->timestamps[i]);
	}
}

static inline void
rq_expect_missing(
	const struct weir_readout_fragment *fragment, uint32_t index, uint64_t begin, uint64_t end)
{
	assert_int_equal(fragment->window->missing[index].begin, begin);
	assert_int_equal(fragment->window->missing[index].end, end);
}

/* Ask a link, at once: there is the fragment, to be released. */
static inline const struct weir_readout_fragment *
rq_look(uint32_t link, uint64_t begin, uint64_t end)
{
	assert_int_equal(rq_ask(link, begin, end, 0, 0), 0);
	assert_int_equal(weir_readout_service_poll(rq.service, 0), 1);
	return rq.got[rq.nb_got - 1];
}

static inline void
rq_free(void)
{
	rq_release_all();
	rq_stats();
	weir_readout_service_free(rq.service);
	for (uint32_t i = 0; i < RQ_LINKS; i++) {
		rq_handler(i);
		weir_readout_link_free(rq.links[i]);
		assert_int_equal(weir_readout_handler_free(rq.handlers[i]), 0);
	}
	weir_readout_registry_free(rq.registry);
}

#endif
