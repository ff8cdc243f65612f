/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_READOUT_CTL_FIXTURE_H
#define WEIR_TESTS_READOUT_CTL_FIXTURE_H

/*
 * Three emulated links behind a queue, "clean", "faulty" and "link0", of which the first two have buffers; a service of requests that a thread
 * polls; and a control socket that tells of all that. The clock is the test's: a tick is 1 ms, a frame lasts 8.
 */

#include "chain.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "../base/ctl_ask.h"

#include "weir_readout_ctl.h"
#include "weir_readout_process.h"

#define BYTES     24u
#define STEP      8u
#define FRAME_NS  8000000u
#define NB_FRAMES 100u
#define BUFFERS   2u
#define LINKS     3u /* the last one has no buffer */
#define FRAGMENTS 8u

static struct {
	struct weir_readout_format format;
	struct weir_readout_link *links[BUFFERS];
	struct weir_readout_handler *handlers[BUFFERS];
	struct weir_readout_service *service;
	struct weir_readout_emulator *emulator;
	struct weir_readout_ctl *readout;
	uint64_t now_ns;            /* atomic */
	bool over, resting, rested; /* atomic: the polling thread's */
	pthread_t poller;
} t;

static const struct weir_readout_emulator_fault_config faults[] = {
	{.fault = WEIR_READOUT_EMULATE_DROP, .first = 10, .period = 30, .length = 3},
	{.fault = WEIR_READOUT_EMULATE_DUPLICATE, .first = 20},
	{.fault = WEIR_READOUT_EMULATE_TRUNCATE, .amount = 20, .first = 50},
	{.fault = WEIR_READOUT_EMULATE_REORDER, .amount = 2, .first = 60},
	{.fault = WEIR_READOUT_EMULATE_STREAM, .amount = 100, .first = 55},
};

static inline uint64_t
test_clock(void)
{
	return __atomic_load_n(&t.now_ns, __ATOMIC_ACQUIRE);
}

static inline void *
poll_service(void *arg)
{
	while (!__atomic_load_n(&t.over, __ATOMIC_ACQUIRE)) {
		const bool rests = __atomic_load_n(&t.resting, __ATOMIC_ACQUIRE);

		__atomic_store_n(&t.rested, rests, __ATOMIC_RELEASE);
		if (!rests)
			weir_readout_service_poll(t.service, test_clock());
		sched_yield();
	}
	return NULL;
}

/* Nobody polls the service from now on; or somebody does again. */
static inline void
rest(bool rests)
{
	__atomic_store_n(&t.resting, rests, __ATOMIC_RELEASE);
	while (__atomic_load_n(&t.rested, __ATOMIC_ACQUIRE) != rests)
		sched_yield();
}

static inline int
drop_some(void *arg, const struct weir_readout_item *item)
{
	return item->frame.timestamp % (64 * STEP) == 0 ? 1 : WEIR_READOUT_PASS;
}

static inline void
make_buffer(uint32_t number, struct weir_readout_service_link *shown)
{
	static const char *const reasons[] = {"calibration", "empty"};
	static const struct weir_readout_process process = {
		.name = "reject", .run = drop_some, .drops = reasons, .nb_drops = 2};
	const struct weir_readout_link_config config = {.name = number == 0 ? "clean" : "faulty",
		.sink = number == 0 ? "clean" : "faulty",
		.format = &t.format,
		.key = number,
		.processes = &process,
		.nb_processes = number};

	t.links[number] = weir_readout_link_create(chain.registry, &config);
	assert_non_null(t.links[number]);
	t.handlers[number] = weir_readout_handler_create(
		chain.registry, &(struct weir_readout_handler_config){.link = t.links[number],
					.buffer = {.history_s = 1,
						.jump_s = 0.2,
						.spare_frames = 32,
						.socket_id = -1,
						.no_hugepages = true}});
	assert_non_null(t.handlers[number]);
	*shown = (struct weir_readout_service_link){
		config.name, number, weir_readout_handler_buffer(t.handlers[number])};
}

static inline struct weir_readout_ctl *
register_readout(void)
{
	const struct weir_readout_handler *const handlers[] = {t.handlers[0], t.handlers[1]};
	const struct weir_readout_link *const links[] = {chain.links[0]};
	const struct weir_readout_ctl_part parts[] = {{.name = "front", .emulator = t.emulator},
		{.name = "queue", .dispatch = chain.dispatch}};

	return weir_readout_ctl_register(
		ctl, &(struct weir_readout_ctl_config){.handlers = handlers,
			     .nb_handlers = BUFFERS,
			     .links = links,
			     .nb_links = 1,
			     .parts = parts,
			     .nb_parts = 2,
			     .service = t.service,
			     .clock = test_clock,
			     .max_fragments = FRAGMENTS - 2});
}

/* @param first  timestamp of the links' first frames, which wrap at so many bits */
static inline void
begin_at(unsigned int timestamp_bits, uint64_t first)
{
	const struct weir_base_format spec = {.name = "ctl",
		.fields = {[WEIR_BASE_FIELD_STREAM] = {0, 8},
			[WEIR_BASE_FIELD_SEQUENCE] = {16, 16},
			[WEIR_BASE_FIELD_TIMESTAMP] = {64, timestamp_bits}},
		.size_min_bytes = BYTES,
		.size_max_bytes = BYTES,
		.step_ticks = STEP,
		.clock_hz = 1000};
	struct weir_readout_service_link shown[BUFFERS];
	struct weir_readout_emulator_stream streams[LINKS] = {{.format = NULL}};

	memset(&t, 0, sizeof(t));
	chain_make();
	assert_true(ctl_up("readout"));
	assert_int_equal(weir_readout_format_compile(&spec, &t.format, NULL, NULL, 0), 0);
	for (uint32_t i = 0; i < BUFFERS; i++)
		make_buffer(i, &shown[i]);
	/* "link0" */
	chain_add((struct weir_readout_link_config){.format = &t.format, .key = BUFFERS});
	for (uint32_t i = 0; i < BUFFERS; i++)
		assert_int_equal(weir_readout_dispatch_add(chain.dispatch, 0, t.links[i]), 0);
	for (uint32_t i = 0; i < LINKS; i++)
		streams[i] = (struct weir_readout_emulator_stream){.format = &t.format,
			.key = i,
			.first_timestamp = first,
			.faults = faults,
			.nb_faults = i == 1 ? RTE_DIM(faults) : 0};
	t.emulator = weir_readout_emulator_create(&(struct weir_readout_emulator_config){
		.streams = streams, .nb_streams = LINKS, .pool = chain.pool});
	assert_non_null(t.emulator);
	t.service = weir_readout_service_create(&(struct weir_readout_service_config){
		.links = shown, .nb_links = BUFFERS, .nb_fragments = FRAGMENTS});
	assert_non_null(t.service);
	assert_int_equal(pthread_create(&t.poller, NULL, poll_service, NULL), 0);
	t.readout = register_readout();
	assert_non_null(t.readout);
}

static inline void
begin(void)
{
	begin_at(64, 1000 * STEP);
}

/* Frames up to number @p nb of each link, less one, in time. */
static inline void
run_to(uint64_t nb)
{
	struct rte_mbuf *mbufs[32];
	uint64_t now_ns = (nb - 1) * FRAME_NS;
	uint32_t nb_mbufs;

	while ((nb_mbufs = weir_readout_emulator_poll(t.emulator, now_ns, mbufs, 32)) > 0)
		weir_readout_dispatch_receive(chain.dispatch, 0, mbufs, nb_mbufs, now_ns);
	__atomic_store_n(&t.now_ns, now_ns, __ATOMIC_RELEASE);
}

static inline int
end(void **state)
{
	weir_readout_service_stop(t.service);
	rest(false);
	while (weir_readout_ctl_unregister(t.readout) == -EBUSY)
		sched_yield();
	__atomic_store_n(&t.over, true, __ATOMIC_RELEASE);
	pthread_join(t.poller, NULL);
	ctl_down();
	weir_readout_service_free(t.service);
	weir_readout_emulator_free(t.emulator);
	for (uint32_t i = 0; i < BUFFERS; i++) {
		weir_readout_link_free(t.links[i]);
		assert_int_equal(weir_readout_handler_free(t.handlers[i]), 0);
	}
	chain_free();
	return 0;
}

static inline const json_t *
item(const json_t *object, const char *list, size_t index)
{
	const json_t *found = json_array_get(part(object, list), index);

	assert_non_null(found);
	return found;
}

static inline uint64_t
ticks(const json_t *object, const char *key)
{
	return strtoull(text(object, key), NULL, 10);
}

static inline json_int_t
sum_of(const json_t *object)
{
	json_t *value, *all = (json_t *)(uintptr_t)object;
	json_int_t sum = 0;
	const char *key;

	json_object_foreach (all, key, value) {
		sum += json_integer_value(value);
	}
	return sum;
}

/* What an answer says of itself is so. */
static inline json_t *
status(const char *args)
{
	json_t *answer = ask("readout/status", args, 0);
	const json_t *link;
	size_t i;

	assert_true(json_is_true(part(answer, "agree")));
	json_array_foreach (part(answer, "links"), i, link) {
		assert_int_equal(number(link, "received"),
			number(link, "buffered") + number(link, "held") +
				number(link, "delivered") + sum_of(part(link, "dropped")));
	}
	return answer;
}

#endif
