/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sources send, while sinks come and go: threads, for the sanitizers. Each message has its number, which a source counts up. A sink is freed as
 * soon as its source has left it.
 */

#include "../base/cmocka_all.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "weir_readout_registry.h"

#define NB_SOURCES 2u
#define NB_REBINDS 300u
#define BURST      3u

static const struct weir_readout_type type = {"number", sizeof(uint64_t), 1};

/* What a sink has of its own; freed with it. */
struct own {
	uint64_t nb; /* atomic: two sources */
};

static struct weir_readout_registry *registry;
static struct weir_readout_source *sources[NB_SOURCES];
static bool stop; /* atomic */
static uint64_t nb_called, nb_taken, nb_discarded;

static void
receive(void *arg, const void *messages, uint32_t nb)
{
	struct own *own = arg;

	__atomic_fetch_add(&own->nb, nb, __ATOMIC_RELAXED);
	__atomic_fetch_add(&nb_called, nb, __ATOMIC_RELAXED);
}

static void
discard(void *arg, const void *messages, uint32_t nb)
{
	nb_discarded += nb;
}

static void *
sender(void *arg)
{
	struct weir_readout_source *source = arg;
	uint64_t numbers[BURST] = {0};

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		for (unsigned int i = 0; i < BURST; i++)
			numbers[i]++;
		weir_readout_source_send(source, numbers, BURST);
		sched_yield();
	}
	return NULL;
}

/* Until each source has sent something more: it had the chance to use what is bound now. */
static void
until_sent(void)
{
	for (unsigned int i = 0; i < NB_SOURCES; i++) {
		struct weir_readout_source_stats before, now;

		weir_readout_source_stats(sources[i], &before);
		do {
			sched_yield();
			weir_readout_source_stats(sources[i], &now);
			assert_int_equal(now.sent, now.delivered + now.queue_full + now.unbound);
		} while (now.sent < before.sent + 2 * BURST);
	}
}

static void
bind_all(const char *sink)
{
	for (unsigned int i = 0; i < NB_SOURCES; i++)
		assert_int_equal(weir_readout_source_bind(sources[i], sink), 0);
}

/* A consumer that lives as long as a round: a callback, or a queue. */
static void
round_of(unsigned int number)
{
	struct own *own = calloc(1, sizeof(*own));
	bool is_queue = number % 2 == 1;
	struct weir_readout_sink *sink;
	struct weir_readout_sink_stats stats;
	uint64_t taken[BURST + 1];
	char name[32];

	assert_non_null(own);
	snprintf(name, sizeof(name), "sink%u", number % 3);
	sink = weir_readout_sink_create(registry, &(struct weir_readout_sink_config){.name = name,
							  .type = &type,
							  .shared = true,
							  .receive = is_queue ? NULL : receive,
							  .arg = own,
							  .queue_size = is_queue ? 16 : 0,
							  .discard = is_queue ? discard : NULL});
	assert_non_null(sink);
	bind_all(name);
	until_sent();
	nb_taken += weir_readout_sink_receive(sink, taken, BURST + 1);
	if (number % 5 == 0) {
		bind_all(NULL);
		until_sent();
	} else {
		bind_all("last");
	}
	weir_readout_sink_stats(sink, &stats);
	assert_int_equal(stats.sources, 0);
	assert_int_equal(weir_readout_sink_free(sink), 0);
	free(own);
}

static void
come_and_go(void **state)
{
	pthread_t threads[NB_SOURCES];
	struct own last = {0};
	uint64_t nb_delivered = 0;

	registry = weir_readout_registry_create();
	assert_non_null(weir_readout_sink_create(
		registry, &(struct weir_readout_sink_config){.name = "last",
				  .type = &type,
				  .shared = true,
				  .receive = receive,
				  .arg = &last}));
	for (unsigned int i = 0; i < NB_SOURCES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "source%u", i);
		sources[i] = weir_readout_source_create(registry,
			&(struct weir_readout_source_config){.name = name, .type = &type});
		assert_non_null(sources[i]);
		assert_int_equal(pthread_create(&threads[i], NULL, sender, sources[i]), 0);
	}
	for (unsigned int i = 0; i < NB_REBINDS; i++)
		round_of(i);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < NB_SOURCES; i++) {
		struct weir_readout_source_stats stats;

		assert_int_equal(pthread_join(threads[i], NULL), 0);
		weir_readout_source_stats(sources[i], &stats);
		assert_int_equal(stats.sent, stats.delivered + stats.queue_full + stats.unbound);
		assert_true(stats.delivered > 0);
		assert_true(stats.unbound > 0);
		nb_delivered += stats.delivered;
	}
	assert_int_equal(nb_delivered, nb_called + nb_taken + nb_discarded);
	assert_true(nb_taken > 0);
	weir_readout_registry_free(registry);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(come_and_go),
	};

	return cmocka_run_group_tests_name("readout-registry-race", tests, NULL, NULL);
}
