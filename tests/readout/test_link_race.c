/* SPDX-License-Identifier: BSD-3-Clause */

/* Two links send frames into one queue, which another thread empties, while a third one looks at the counters: the sums agree each time. */

#include "../base/cmocka_all.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "weir_readout_link.h"

#define NB_LINKS  2u
#define NB_FRAMES 20000u
#define BURST     8u

/* A frame is a sequence number of 8 bits; each fourth one sent is empty, of a wrong size. */
static const struct weir_base_format spec = {
	.name = "byte", .fields = {[WEIR_BASE_FIELD_SEQUENCE] = {0, 8}}};

static struct weir_readout_registry *registry;
static struct weir_readout_link *links[NB_LINKS];
static struct weir_readout_sink *sink;
static unsigned int nb_ended; /* atomic: senders */

static void *
sender(void *arg)
{
	struct weir_readout_link *link = arg;
	struct weir_readout_item items[BURST];
	static const uint8_t byte;

	for (uint32_t nb = 0; nb < NB_FRAMES; nb += BURST) {
		memset(items, 0, sizeof(items));
		for (uint32_t i = 0; i < BURST; i++) {
			items[i].data = &byte;
			items[i].data_bytes = items[i].frame.size_bytes = i % 4 != 0;
		}
		weir_readout_link_receive(link, items, BURST, nb);
		if (nb % 64 == 0)
			sched_yield();
	}
	__atomic_fetch_add(&nb_ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Until all have ended, and the queue is empty. */
static void *
consumer(void *arg)
{
	struct weir_readout_item items[3];

	for (;;) {
		bool last = __atomic_load_n(&nb_ended, __ATOMIC_ACQUIRE) == NB_LINKS;
		uint32_t nb = weir_readout_sink_receive(sink, items, 3);

		weir_readout_item_release(items, nb);
		if (nb == 0 && last)
			return NULL;
		if (nb == 0)
			sched_yield();
	}
}

static struct weir_readout_link_stats
look(const struct weir_readout_link *link)
{
	struct weir_readout_link_stats stats;
	uint64_t sum;

	weir_readout_link_stats(link, &stats);
	sum = stats.held + stats.delivered;
	for (unsigned int i = 0; i < WEIR_READOUT_NB_DROPS; i++)
		sum += stats.dropped[i];
	assert_int_equal(stats.received, sum);
	assert_true(stats.held <= NB_FRAMES); /* not less than none */
	assert_int_equal(stats.dropped[WEIR_READOUT_DROP_WRONG_SIZE],
		stats.faults[WEIR_READOUT_FAULT_WRONG_SIZE].count);
	return stats;
}

static void
make(void)
{
	struct weir_readout_format format;

	assert_int_equal(weir_readout_format_compile(&spec, &format, NULL, NULL, 0), 0);
	registry = weir_readout_registry_create();
	sink = weir_readout_sink_create(
		registry, &(struct weir_readout_sink_config){.name = "queue",
				  .type = &weir_readout_item_type,
				  .shared = true,
				  .queue_size = 32});
	assert_non_null(sink);
	for (unsigned int i = 0; i < NB_LINKS; i++) {
		links[i] = weir_readout_link_create(
			registry, &(struct weir_readout_link_config){.name = i == 0 ? "one" : "two",
					  .sink = "queue",
					  .format = &format});
		assert_non_null(links[i]);
	}
	assert_int_equal(weir_readout_registry_bind(registry), 0);
}

static void
looked_at(void **state)
{
	struct weir_readout_sink_stats queue;
	pthread_t threads[NB_LINKS + 1];

	make();
	assert_int_equal(pthread_create(&threads[NB_LINKS], NULL, consumer, NULL), 0);
	for (unsigned int i = 0; i < NB_LINKS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, sender, links[i]), 0);
	while (__atomic_load_n(&nb_ended, __ATOMIC_ACQUIRE) < NB_LINKS) {
		for (unsigned int i = 0; i < NB_LINKS; i++)
			look(links[i]);
		weir_readout_sink_stats(sink, &queue);
		assert_true(queue.queued <= 32);
		sched_yield();
	}
	for (unsigned int i = 0; i <= NB_LINKS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	weir_readout_sink_stats(sink, &queue);
	assert_int_equal(queue.queued, 0);
	for (unsigned int i = 0; i < NB_LINKS; i++) {
		struct weir_readout_link_stats stats = look(links[i]);

		assert_int_equal(stats.received, NB_FRAMES);
		assert_int_equal(stats.held, 0);
		assert_int_equal(stats.dropped[WEIR_READOUT_DROP_WRONG_SIZE], NB_FRAMES / 4);
		assert_int_equal(stats.delivered + stats.dropped[WEIR_READOUT_DROP_QUEUE_FULL],
			NB_FRAMES / 4 * 3);
		weir_readout_link_free(links[i]);
	}
	weir_readout_registry_free(registry);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looked_at),
	};

	return cmocka_run_group_tests_name("readout-link-race", tests, NULL, NULL);
}
