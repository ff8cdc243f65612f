/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Requests for random windows of an emulated link with random faults, beside the model of its buffer: each fragment has the frames and the list of what
 * is missing that the model has at that moment, and its answer; what is outstanding may be. The link's counters agree with the model's at each
 * step.
 */

#include "chain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/random.h"

#include "weir_base_sanitizer.h"
#include "weir_readout_emulator.h"
#include "weir_readout_handler.h"
#include "weir_readout_request.h"

#include "model.h"

#define FRAME_BYTES   24u
#define STEP          8u
#define FRAGMENTS     24u
#define MAX_FRAMES    64u
#define FRAME_NS      8000000u /* a tick is 1 ms */
#define BURST         32u
#define DELIVERED_MAX 4u

/* Sanitizers see the same code. */
#if defined(WEIR_BASE_ASAN) || defined(WEIR_BASE_TSAN)
#define NB_FRAMES 5000u
#else
#define NB_FRAMES 60000u
#endif

struct asked {
	bool outstanding;
	uint64_t begin, ns, timeout_ns;
	int64_t ticks;
};

static struct {
	uint64_t random, now_ns;
	bool stopped;
	struct weir_readout_format format;
	struct weir_readout_handler *handler;
	struct weir_readout_service *service;
	struct model model;
	struct model_window expected;
	struct asked asked[4 * NB_FRAMES];
	uint64_t nb_asked, nb_refused;
	struct weir_readout_fragment *held[FRAGMENTS];
	uint32_t nb_held;
} t;

static uint64_t
any(uint64_t below)
{
	return random_below(&t.random, below);
}

/* The model sees what the buffer sees. */
static void
watch(void *arg, const void *messages, uint32_t nb)
{
	const struct weir_readout_item *items = messages;

	for (uint32_t i = 0; i < nb; i++)
		model_put(&t.model, &items[i].frame, 0);
	weir_readout_handler_receive(t.handler, messages, nb);
}

/* What the model has in a window now. */
static void
look(const struct asked *one)
{
	if (t.model.started) {
		model_find(&t.model, one->begin, one->ticks, &t.expected);
		return;
	}
	t.expected.parts = one->ticks > 0 ? WEIR_READOUT_PART_NOT_YET : 0;
	t.expected.nb_frames = 0;
	t.expected.nb_missing = one->ticks > 0;
	t.expected.missing[0] =
		(struct weir_readout_interval){one->begin, one->begin + (uint64_t)one->ticks};
}

static bool
is_over(const struct asked *one)
{
	return t.now_ns - one->ns >= one->timeout_ns;
}

static enum weir_readout_answer
expected_answer(const struct asked *one)
{
	uint32_t parts = t.expected.parts;

	if (t.expected.nb_frames > MAX_FRAMES)
		return WEIR_READOUT_ANSWER_TOO_LARGE;
	if ((parts & WEIR_READOUT_PART_NOT_YET) != 0)
		return one->timeout_ns == 0 ? WEIR_READOUT_ANSWER_NOT_YET
		       : is_over(one)       ? WEIR_READOUT_ANSWER_TIMED_OUT
					    : WEIR_READOUT_ANSWER_STOPPED;
	if (parts == WEIR_READOUT_PART_TOO_OLD)
		return WEIR_READOUT_ANSWER_TOO_OLD;
	return (parts & ~(uint32_t)WEIR_READOUT_PART_FRAMES) != 0 ? WEIR_READOUT_ANSWER_PARTIAL
								  : WEIR_READOUT_ANSWER_COMPLETE;
}

static void
check_window(const struct weir_readout_window *window)
{
	assert_int_equal(window->nb_frames, t.expected.nb_frames);
	assert_int_equal(window->nb_missing, t.expected.nb_missing);
	assert_int_equal(window->parts, t.expected.parts);
	for (uint32_t i = 0; i < window->nb_frames; i++)
		assert_true(window->timestamps[i] == t.expected.frames[i].timestamp);
	for (uint32_t i = 0; i < window->nb_missing; i++) {
		assert_true(window->missing[i].begin == t.expected.missing[i].begin);
		assert_true(window->missing[i].end == t.expected.missing[i].end);
	}
}

static void
take(void *arg, struct weir_readout_fragment *fragment)
{
	struct asked *one = &t.asked[fragment->trigger];

	assert_true(one->outstanding);
	one->outstanding = false;
	look(one);
	assert_string_equal(weir_readout_answer_name(fragment->answer),
		weir_readout_answer_name(expected_answer(one)));
	if (fragment->answer == WEIR_READOUT_ANSWER_NOT_YET ||
		fragment->answer == WEIR_READOUT_ANSWER_TIMED_OUT)
		assert_true(is_over(one));
	if (fragment->answer == WEIR_READOUT_ANSWER_STOPPED)
		assert_true(t.stopped);
	if (fragment->answer != WEIR_READOUT_ANSWER_TOO_LARGE)
		check_window(fragment->window);
	t.held[t.nb_held++] = fragment;
}

/* Somewhere about the history, or still to come; some of them will never be answered in time. */
static void
ask(void)
{
	struct asked *one = &t.asked[t.nb_asked];
	int rc;

	*one = (struct asked){.outstanding = true,
		.begin = t.model.newest_timestamp + 100 - any((uint64_t)t.model.live + 300),
		.ns = t.now_ns,
		.timeout_ns = any(3) == 0 ? 0 : any(40) * FRAME_NS,
		.ticks = (int64_t)any(any(8) == 0 ? (uint64_t)t.model.live + 300 : 100)};
	rc = weir_readout_service_ask(t.service,
		&(struct weir_readout_request){.trigger = t.nb_asked,
			.begin = one->begin,
			.end = one->begin + (uint64_t)one->ticks,
			.timeout_ns = one->timeout_ns,
			.deliver = take},
		t.now_ns);
	if (rc == 0) {
		t.nb_asked++;
		return;
	}
	assert_int_equal(rc, -ENOBUFS);
	t.nb_refused++;
}

/* What was not answered waits for a reason. */
static void
check_outstanding(void)
{
	struct weir_readout_service_stats stats;
	uint64_t nb = 0, first = t.nb_asked > 1000 ? t.nb_asked - 1000 : 0;

	for (uint64_t i = first; i < t.nb_asked; i++) {
		if (!t.asked[i].outstanding)
			continue;
		nb++;
		look(&t.asked[i]);
		assert_true(!is_over(&t.asked[i]));
		assert_true((t.expected.parts & WEIR_READOUT_PART_NOT_YET) != 0);
	}
	weir_readout_service_stats(t.service, &stats);
	assert_int_equal(stats.outstanding, nb);
	assert_int_equal(stats.held, t.nb_held);
	assert_int_equal(stats.asked, t.nb_asked + t.nb_refused);
}

static void
check_handler(void)
{
	struct weir_readout_handler_stats stats;
	uint64_t sum;

	weir_readout_handler_stats(t.handler, &stats);
	sum = stats.buffered + stats.held + stats.delivered;
	for (unsigned int i = 0; i < WEIR_READOUT_HANDLER_NB_DROPS; i++)
		sum += stats.dropped[i];
	assert_int_equal(stats.received, sum);
	assert_int_equal(stats.held, 0);
	assert_int_equal(stats.buffer.received, t.model.stats.received);
	assert_memory_equal(
		stats.buffer.dropped, t.model.stats.dropped, sizeof(stats.buffer.dropped));
	assert_int_equal(stats.dropped[WEIR_READOUT_HANDLER_EVICTED], 0);
}

static void
serve(void)
{
	if (any(2) == 0)
		ask();
	if (any(3) == 0) {
		weir_readout_service_poll(t.service, t.now_ns);
		check_outstanding();
	}
	while (t.nb_held > DELIVERED_MAX || (t.nb_held > 0 && any(4) == 0)) {
		uint32_t i = (uint32_t)any(t.nb_held);

		weir_readout_fragment_release(t.held[i]);
		t.held[i] = t.held[--t.nb_held];
	}
	check_handler();
}

static void
make(void)
{
	const struct weir_base_format spec = {.name = "property",
		.fields = {[WEIR_BASE_FIELD_TIMESTAMP] = {64, 64},
			[WEIR_BASE_FIELD_SEQUENCE] = {128, 16},
			[WEIR_BASE_FIELD_STREAM] = {0, 16}},
		.size_min_bytes = FRAME_BYTES,
		.size_max_bytes = FRAME_BYTES,
		.step_ticks = STEP,
		.clock_hz = 1000};
	struct weir_readout_handler_config config = {.sink = "handler",
		.buffer = {.history_s = 0.6,
			.jump_s = 0.1,
			.confirm_frames = 3,
			.spare_frames = 2000,
			.socket_id = -1,
			.no_hugepages = true,
			.format = &t.format}};
	struct weir_readout_link *link;

	assert_int_equal(weir_readout_format_compile(&spec, &t.format, NULL, NULL, 0), 0);
	link = weir_readout_link_create(
		chain.registry, &(struct weir_readout_link_config){
					.name = "link", .sink = "watch", .format = &t.format});
	assert_non_null(link);
	chain.links[chain.nb_links++] = link;
	assert_non_null(weir_readout_sink_create(chain.registry,
		&(struct weir_readout_sink_config){
			.name = "watch", .type = &weir_readout_item_type, .receive = watch}));
	assert_int_equal(weir_readout_registry_bind(chain.registry), 0);
	assert_int_equal(weir_readout_dispatch_add(chain.dispatch, 0, link), 0);
	config.link = link;
	t.handler = weir_readout_handler_create(chain.registry, &config);
	assert_non_null(t.handler);
	model_init(&t.model, &config.buffer, weir_readout_handler_buffer(t.handler));
	t.service = weir_readout_service_create(&(struct weir_readout_service_config){
		.links = &(struct weir_readout_service_link){.name = "link",
			.buffer = weir_readout_handler_buffer(t.handler)},
		.nb_links = 1,
		.nb_fragments = FRAGMENTS,
		.max_frames = MAX_FRAMES});
	assert_non_null(t.service);
}

static void
end(void)
{
	struct weir_readout_service_stats stats;

	weir_readout_service_stop(t.service); /* all that wait are answered now */
	t.stopped = true;
	weir_readout_service_poll(t.service, t.now_ns);
	check_outstanding();
	while (t.nb_held > 0)
		weir_readout_fragment_release(t.held[--t.nb_held]);
	weir_readout_service_stats(t.service, &stats);
	for (unsigned int i = 0; i < WEIR_READOUT_NB_ANSWERS; i++) {
		print_message("  %s: %" PRIu64 "\n",
			weir_readout_answer_name((enum weir_readout_answer)i), stats.answered[i]);
		assert_true(stats.answered[i] > 0);
	}
	assert_int_equal(stats.outstanding, 0);
	weir_readout_service_free(t.service);
	assert_int_equal(weir_readout_handler_free(t.handler), 0);
}

/* Each kind of fault, at random. */
static void
faults(void **state)
{
	static const struct weir_readout_emulator_fault_config some[] = {
		{.fault = WEIR_READOUT_EMULATE_DROP, .random_ppm = 40000},
		{.fault = WEIR_READOUT_EMULATE_DUPLICATE, .random_ppm = 20000},
		{.fault = WEIR_READOUT_EMULATE_REORDER, .amount = 3, .random_ppm = 20000},
		{.fault = WEIR_READOUT_EMULATE_SEQUENCE, .amount = 100, .random_ppm = 1000},
		{.fault = WEIR_READOUT_EMULATE_TIMESTAMP, .amount = 5, .random_ppm = 1000},
		{.fault = WEIR_READOUT_EMULATE_TIMESTAMP, .amount = -50000, .random_ppm = 1000},
		{.fault = WEIR_READOUT_EMULATE_TRUNCATE, .amount = 20, .random_ppm = 2000},
		{.fault = WEIR_READOUT_EMULATE_STALL, .amount = 20, .random_ppm = 1000},
		{.fault = WEIR_READOUT_EMULATE_JUMP, .amount = 1000, .random_ppm = 500},
		{.fault = WEIR_READOUT_EMULATE_JUMP, .amount = -700, .random_ppm = 500},
	};
	const struct weir_readout_emulator_stream stream = {.format = &t.format,
		.first_timestamp = UINT64_MAX - 1000, /* it wraps soon */
		.nb_frames = NB_FRAMES,
		.faults = some,
		.nb_faults = RTE_DIM(some)};
	struct weir_readout_emulator *emulator;
	struct rte_mbuf *mbufs[BURST];

	t.random = 88172645463325252;
	chain_make();
	make();
	emulator = weir_readout_emulator_create(&(struct weir_readout_emulator_config){
		.streams = &stream, .nb_streams = 1, .pool = chain.pool, .seed = 7});
	assert_non_null(emulator);
	ask(); /* before anything came */
	for (uint64_t n = 0; !weir_readout_emulator_ended(emulator); n++) {
		uint32_t nb;

		assert_true(n < 2 * NB_FRAMES);
		t.now_ns = n * FRAME_NS;
		while ((nb = weir_readout_emulator_poll(emulator, t.now_ns, mbufs, BURST)) > 0)
			weir_readout_dispatch_receive(chain.dispatch, 0, mbufs, nb, t.now_ns);
		serve();
	}
	weir_readout_emulator_free(emulator);
	end();
	chain_free();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(faults)};

	return run_on_eal(1, tests);
}
