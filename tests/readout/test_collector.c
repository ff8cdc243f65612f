/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Many links, one link: hits planted in emulated links are found before their buffers or after, collected in a link of hits, and
 * asked for by time.
 */

#include "chain.h"
#include "hit_frames.h"

#include <errno.h>
#include <string.h>

#include <rte_mbuf.h>

#include "weir_readout_collector.h"
#include "weir_readout_emulator.h"
#include "weir_readout_handler.h"

#include "../base/log_last.h"

#define NB_FRAMES  20u
#define NB_LINKS   6u
#define FIRST_TICK UINT64_C(1000000)

/* Emulated links, in each of which a pulse per frame is planted, and one link with what is found in all of them. */
static struct {
	uint8_t payloads[NB_LINKS][FRAME_BYTES];
	struct weir_readout_hit_finder *finders[NB_LINKS];
	struct weir_readout_handler *handlers[NB_LINKS]; /* where hits are found after the buffer */
	struct weir_readout_follower *followers[NB_LINKS];
	struct weir_readout_collector *collector;
	struct weir_readout_link *hits;
	struct weir_readout_handler *hits_handler;
} all;

static bool
is_after(uint32_t link)
{
	return link % 2 == 1;
}

/* Three samples, in a channel and at a time of its own. */
static void
plant(uint32_t link)
{
	static uint16_t samples[TIMES][CHANNELS];
	unsigned int channel = 10 * link + 3, time = 5 * link + 7;

	flat(samples, (uint16_t)(900 + link));
	for (unsigned int i = 0; i < 3; i++)
		samples[time + i][channel] = (uint16_t)(900 + link + (i == 1 ? 400 : 100) + link);
	pack(all.payloads[link], samples);
}

static void
expect_planted(const struct weir_readout_hit *hit, uint32_t link, uint64_t frame)
{
	const struct weir_readout_hit planted = {
		.timestamp = FIRST_TICK + STEP * frame + TICKS * (5 * link + 7),
		.stream = link,
		.sum = 600 + 3 * link,
		.channel = (uint16_t)(10 * link + 3),
		.samples = 3,
		.peak = (uint16_t)(400 + link),
		.peak_sample = 1,
	};

	assert_memory_equal(hit, &planted, sizeof(planted));
}

static void
make_hits_link(uint32_t queue_size)
{
	all.hits = weir_readout_link_create(
		chain.registry, &(struct weir_readout_link_config){.name = "hits-link",
					.sink = "hits-buffer",
					.format = weir_readout_format_builtin("hit")});
	assert_non_null(all.hits);
	all.hits_handler = weir_readout_handler_create(
		chain.registry, &(struct weir_readout_handler_config){.link = all.hits,
					.sink = "hits-buffer",
					.buffer = {.history_s = 0.01,
						.rate_hz = 200000,
						.no_hugepages = true,
						.socket_id = -1}});
	assert_non_null(all.hits_handler);
	all.collector = weir_readout_collector_create(
		chain.registry, &(struct weir_readout_collector_config){.sink = "hits",
					.type = &weir_readout_hit_type,
					.queue_size = queue_size,
					.link = all.hits});
	assert_non_null(all.collector);
}

static void
make_finding_link(uint32_t i)
{
	struct weir_readout_link_config config = {
		.format = weir_readout_format_builtin("wibeth"), .key = i};
	struct weir_readout_process process = {.name = "hits", .run = weir_readout_hit_finder_run};
	char name[32];

	snprintf(name, sizeof(name), "finder%u", i);
	all.finders[i] = weir_readout_hit_finder_create(chain.registry,
		&(struct weir_readout_hit_finder_config){
			.name = name, .sink = "hits", .stream = i, .threshold = THRESHOLD});
	assert_non_null(all.finders[i]);
	process.arg = all.finders[i];
	config.processes = &process;
	config.nb_processes = is_after(i) ? 0 : 1;
	chain_add(config);
	if (!is_after(i))
		return;
	snprintf(name, sizeof(name), "buffer%u", i);
	all.handlers[i] = weir_readout_handler_create(chain.registry,
		&(struct weir_readout_handler_config){.link = chain.links[i],
			.sink = name,
			.buffer = {.history_s = 0.001, .no_hugepages = true, .socket_id = -1}});
	assert_non_null(all.handlers[i]);
	assert_int_equal(
		weir_readout_source_bind(weir_readout_link_source(chain.links[i]), name), 0);
	all.followers[i] =
		weir_readout_follower_create(&(struct weir_readout_follower_config){.name = name,
			.buffer = weir_readout_handler_buffer(all.handlers[i]),
			.processes = &process,
			.nb_processes = 1});
	assert_non_null(all.followers[i]);
}

static void
emulate(void)
{
	struct weir_readout_emulator_stream streams[NB_LINKS];
	const struct weir_readout_emulator_config config = {
		.streams = streams, .nb_streams = NB_LINKS, .pool = chain.pool};
	struct weir_readout_emulator *emulator;
	struct rte_mbuf *mbufs[32];
	uint32_t nb;

	for (uint32_t i = 0; i < NB_LINKS; i++) {
		plant(i);
		streams[i] = (struct weir_readout_emulator_stream){
			.format = weir_readout_format_builtin("wibeth"),
			.key = i,
			.first_timestamp = FIRST_TICK,
			.nb_frames = NB_FRAMES,
			.payload = all.payloads[i]};
	}
	emulator = weir_readout_emulator_create(&config);
	assert_non_null(emulator);
	while ((nb = weir_readout_emulator_poll(emulator, UINT64_MAX - 1, mbufs, 32)) > 0)
		weir_readout_dispatch_receive(chain.dispatch, 0, mbufs, nb, 1000);
	for (uint32_t i = 0; i < NB_LINKS; i++)
		while (is_after(i) && weir_readout_follower_poll(all.followers[i]) > 0)
			;
	weir_readout_emulator_free(emulator);
}

static void
make_all(uint32_t queue_size)
{
	memset(&all, 0, sizeof(all));
	chain_make();
	make_hits_link(queue_size);
	for (uint32_t i = 0; i < NB_LINKS; i++)
		make_finding_link(i);
	assert_int_equal(weir_readout_registry_bind(chain.registry), 0);
	emulate();
}

static void
free_finding(void)
{
	for (uint32_t i = 0; i < NB_LINKS; i++) {
		weir_readout_hit_finder_free(all.finders[i]);
		weir_readout_follower_free(all.followers[i]);
		weir_readout_source_bind(weir_readout_link_source(chain.links[i]), NULL);
		assert_int_equal(weir_readout_handler_free(all.handlers[i]), 0);
	}
	assert_int_equal(weir_readout_collector_free(all.collector), 0);
	weir_readout_link_free(all.hits);
	assert_int_equal(weir_readout_handler_free(all.hits_handler), 0);
	chain_free();
}

/* A pulse has ended within its frame, so all of them are there. They are asked for by time, of all links at once. */
static void
planted(void **state)
{
	struct weir_readout_window *window = weir_readout_window_create(256, 8);
	struct weir_readout_handler_stats stats;
	struct weir_readout_sink_stats queue;

	make_all(256);
	while (weir_readout_collector_poll(all.collector, 2000) > 0)
		;
	for (uint32_t i = 0; i < NB_LINKS; i++) {
		assert_int_equal(count(all.finders[i]).frames, NB_FRAMES);
		assert_int_equal(count(all.finders[i]).gaps, 0);
		assert_int_equal(count(all.finders[i]).delivered, NB_FRAMES);
		assert_int_equal(chain_link(i).received, NB_FRAMES);
	}
	weir_readout_collector_stats(all.collector, &queue);
	assert_int_equal(queue.received, NB_LINKS * NB_FRAMES);
	assert_int_equal(queue.sources, NB_LINKS);
	weir_readout_handler_stats(all.hits_handler, &stats);
	assert_int_equal(stats.received, NB_LINKS * NB_FRAMES);
	assert_int_equal(stats.buffered, NB_LINKS * NB_FRAMES);
	assert_int_equal(weir_readout_window_find(weir_readout_handler_buffer(all.hits_handler),
				 FIRST_TICK, FIRST_TICK + NB_FRAMES * STEP, window),
		0);
	assert_int_equal(window->nb_frames, NB_LINKS * NB_FRAMES);
	for (uint32_t i = 0; i < window->nb_frames; i++) {
		assert_int_equal(window->frames[i].iov_len, sizeof(struct weir_readout_hit));
		expect_planted(window->frames[i].iov_base, i % NB_LINKS, i / NB_LINKS);
	}
	weir_readout_window_release(window);
	weir_readout_window_free(window);
	free_finding();
}

/* The queue has room for a few: the rest is refused, and counted where it was found. */
static void
overflow(void **state)
{
	uint64_t delivered = 0, refused_ones = 0;
	uint32_t nb = 0, some;

	make_all(50);
	for (uint32_t i = 0; i < NB_LINKS; i++) {
		delivered += count(all.finders[i]).delivered;
		refused_ones += count(all.finders[i]).refused;
	}
	assert_int_equal(delivered, 50);
	assert_int_equal(refused_ones, NB_LINKS * NB_FRAMES - 50);
	while ((some = weir_readout_collector_poll(all.collector, 2000)) > 0)
		nb += some;
	assert_int_equal(nb, 50);
	free_finding();
}

static void
refused(void **state)
{
	struct weir_readout_collector_config collect = {
		.sink = "c", .type = &weir_readout_item_type, .queue_size = 8};
	struct weir_readout_registry *registry = weir_readout_registry_create();
	struct weir_readout_link *link;

	assert_null(weir_readout_collector_create(registry, &collect));
	assert_int_equal(rte_errno, EINVAL);
	assert_string_equal(log_message, "collector 'c' needs a link, and a type of messages");
	link = weir_readout_link_create(
		registry, &(struct weir_readout_link_config){
				  .name = "link", .format = weir_readout_format_builtin("hit")});
	collect.link = link;
	assert_null(weir_readout_collector_create(registry, &collect));
	assert_string_equal(
		log_message, "collector 'c': messages of 56 bytes are no frames of link 'link'");
	weir_readout_link_free(link);
	weir_readout_registry_free(registry);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(planted),
		cmocka_unit_test(overflow),
		cmocka_unit_test(refused),
	};

	log_listen();
	return run_on_eal(1, tests);
}
