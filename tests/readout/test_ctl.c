/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the control socket tells of a readout, and windows on request: emulated links with faults, of which two have buffers, a service of requests that
 * a thread polls. The clock is the test's: a tick is 1 ms, a frame lasts 8.
 */

#include "chain.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "../base/ctl_ask.h"

#include "weir_base_sanitizer.h"
#include "weir_readout_ctl.h"
#include "weir_readout_fragment.h"
#include "weir_readout_process.h"

#define BYTES     24u
#define STEP      8u
#define FRAME_NS  8000000u
#define NB_FRAMES 100u
#define BUFFERS   2u
#define LINKS     3u /* the last one has no buffer */
#define FRAGMENTS 8u

#if defined(WEIR_BASE_ASAN) || defined(WEIR_BASE_TSAN)
#define ROUNDS 50u
#else
#define ROUNDS 300u
#endif

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

static uint64_t
test_clock(void)
{
	return __atomic_load_n(&t.now_ns, __ATOMIC_ACQUIRE);
}

static void *
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
static void
rest(bool rests)
{
	__atomic_store_n(&t.resting, rests, __ATOMIC_RELEASE);
	while (__atomic_load_n(&t.rested, __ATOMIC_ACQUIRE) != rests)
		sched_yield();
}

static int
drop_some(void *arg, const struct weir_readout_item *item)
{
	return item->frame.timestamp % (64 * STEP) == 0 ? 1 : WEIR_READOUT_PASS;
}

static void
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

static struct weir_readout_ctl *
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

static void
begin(void)
{
	const struct weir_readout_format_spec spec = {.name = "ctl",
		.fields = {[WEIR_READOUT_FIELD_STREAM] = {0, 8},
			[WEIR_READOUT_FIELD_SEQUENCE] = {16, 16},
			[WEIR_READOUT_FIELD_TIMESTAMP] = {64, 64}},
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
			.first_timestamp = 1000 * STEP,
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

/* Frames up to number @p nb of each link, less one, in time. */
static void
run_to(uint64_t nb)
{
	struct rte_mbuf *mbufs[32];
	uint64_t now_ns = (nb - 1) * FRAME_NS;
	uint32_t nb_mbufs;

	while ((nb_mbufs = weir_readout_emulator_poll(t.emulator, now_ns, mbufs, 32)) > 0)
		weir_readout_dispatch_receive(chain.dispatch, 0, mbufs, nb_mbufs, now_ns);
	__atomic_store_n(&t.now_ns, now_ns, __ATOMIC_RELEASE);
}

static int
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

static const json_t *
item(const json_t *object, const char *list, size_t index)
{
	const json_t *found = json_array_get(part(object, list), index);

	assert_non_null(found);
	return found;
}

static uint64_t
ticks(const json_t *object, const char *key)
{
	return strtoull(text(object, key), NULL, 10);
}

static json_int_t
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
static json_t *
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

static void
check_faulty(const json_t *link)
{
	const json_t *checks = part(link, "checks"), *gap = part(checks, "gap");

	assert_string_equal(text(link, "link"), "faulty");
	assert_string_equal(text(link, "format"), "ctl");
	/* 9 were not sent, one has another key, one came twice; of these one is too short, and the function rejects two */
	assert_int_equal(number(link, "received"), NB_FRAMES - 9 - 1 + 1);
	assert_int_equal(number(part(link, "dropped"), "wrong_size"), 1);
	assert_int_equal(number(part(link, "dropped"), "duplicate"), 1);
	assert_int_equal(number(part(link, "processed"), "reject.empty"), 2);
	assert_int_equal(number(part(link, "processed"), "reject.calibration"), 0);
	assert_int_equal(number(link, "buffered"), NB_FRAMES - 9 - 1 - 1 - 2);
	/* before 13, 43, 51, 56, 61, 73 */
	assert_int_equal(number(gap, "count"), 6);
	assert_int_equal(ticks(part(gap, "first"), "sequence"), 13);
	assert_int_equal(ticks(part(gap, "first"), "timestamp"), 1013 * STEP);
	assert_int_equal(number(part(gap, "first"), "number"), 10);
	assert_int_equal(ticks(part(gap, "last"), "sequence"), 73);
	assert_int_equal(number(checks, "missing"), 9 + 1 + 1 + 1);
	assert_int_equal(number(part(checks, "reordered"), "count"), 1);
	assert_null(json_object_get(checks, "timestamp_jump"));
}

static void
counters(void **state)
{
	const json_t *link, *stream, *queue;
	json_t *answer;

	begin();
	answer = status(NULL);
	assert_int_equal(json_array_size(part(answer, "links")), LINKS);
	assert_null(json_object_get(part(item(answer, "links", 0), "buffer"), "oldest"));
	json_decref(answer);
	run_to(NB_FRAMES);
	answer = status(NULL);
	link = item(answer, "links", 0);
	assert_int_equal(number(link, "buffered"), NB_FRAMES);
	assert_int_equal(number(link, "received_bytes"), NB_FRAMES * BYTES);
	assert_int_equal(json_object_size(part(link, "checks")), 1); /* missing: 0 */
	assert_int_equal(ticks(part(link, "buffer"), "newest"), (1000 + NB_FRAMES) * STEP);
	assert_true(json_real_value(part(part(link, "buffer"), "history_s")) >=
		    NB_FRAMES * STEP / 1000.0);
	check_faulty(item(answer, "links", 1));
	link = item(answer, "links", 2);
	assert_string_equal(text(link, "link"), "link0");
	assert_int_equal(number(link, "delivered"), NB_FRAMES);
	assert_null(json_object_get(link, "buffer"));
	stream = item(item(answer, "emulators", 0), "streams", 1);
	assert_string_equal(text(item(answer, "emulators", 0), "name"), "front");
	assert_int_equal(number(stream, "made"), NB_FRAMES);
	assert_int_equal(number(part(stream, "faults"), "drop"), 9);
	queue = item(item(answer, "dispatches", 0), "queues", 0);
	assert_int_equal(number(part(queue, "dropped"), "unknown_stream"), 1);
	assert_int_equal(ticks(part(queue, "unknown_streams"), "first_key"), 101);
	assert_int_equal(number(part(answer, "requests"), "asked"), 0);
	json_decref(answer);
}

static void
one_link(void **state)
{
	json_t *answer;

	begin();
	run_to(NB_FRAMES);
	for (int i = 0; i < 2; i++) {
		answer = status(i == 0 ? "{'link': 'faulty'}" : "{'name': 'faulty'}");
		assert_int_equal(json_array_size(part(answer, "links")), 1);
		assert_null(json_object_get(answer, "requests"));
		check_faulty(item(answer, "links", 0));
		json_decref(answer);
	}
	json_decref(ask("readout/status", "{'link': 'other'}", -ENOENT));
	json_decref(ask("readout/status", "{'link': 5}", -EINVAL));
	json_decref(ask("readout/status", "{'links': 'clean'}", -EINVAL));
}

/* The only fragment of an answer. */
static const json_t *
fragment_of(const json_t *answer)
{
	assert_int_equal(json_array_size(part(answer, "fragments")), 1);
	return item(answer, "fragments", 0);
}

static void
expect_answer(
	const char *args, const char *expected, unsigned int nb_frames, unsigned int nb_missing)
{
	json_t *answer = ask("readout/request", args, 0);
	const json_t *fragment = fragment_of(answer);

	assert_string_equal(text(fragment, "answer"), expected);
	assert_int_equal(number(fragment, "frames"), nb_frames);
	assert_int_equal(number(fragment, "bytes"), nb_frames * BYTES);
	assert_int_equal(json_array_size(part(fragment, "missing")), nb_missing);
	assert_null(json_object_get(fragment, "data"));
	json_decref(answer);
}

static void
windows(void **state)
{
	json_t *answer;
	const json_t *missing;

	begin();
	json_decref(ask("readout/request", "{'last_ms': 5}", -ENODATA));
	expect_answer("{'begin': 8000, 'end': 8800, 'links': ['clean']}", "not_yet", 0, 1);
	run_to(NB_FRAMES);
	expect_answer("{'begin': 8000, 'end': 8800, 'links': ['clean']}", "complete", 100, 0);
	expect_answer("{'begin': '8000', 'end': '0x1f48', 'links': ['clean']}", "complete", 1, 0);
	expect_answer("{'begin': 8000, 'end': 8000, 'links': ['clean']}", "complete", 0, 0);
	expect_answer("{'begin': 8700, 'end': 8808, 'links': ['clean']}", "not_yet", 13, 1);
	expect_answer("{'last_ms': 80, 'links': ['clean']}", "complete", 10, 0);
	expect_answer("{'last_ms': 1000000000000, 'links': ['clean']}", "complete", 100, 0);
	answer = ask("readout/request", "{'begin': 8080, 'end': 8112, 'trigger': 5, 'run': 7}", 0);
	assert_string_equal(text(answer, "trigger"), "5");
	assert_string_equal(text(answer, "run"), "7");
	assert_int_equal(json_array_size(part(answer, "fragments")), 2);
	assert_string_equal(text(item(answer, "fragments", 0), "answer"), "complete");
	assert_string_equal(text(item(answer, "fragments", 1), "answer"), "partial");
	assert_string_equal(text(item(answer, "fragments", 1), "key"), "1");
	missing = item(item(answer, "fragments", 1), "missing", 0);
	assert_string_equal(json_string_value(json_array_get(missing, 0)), "8080");
	assert_string_equal(json_string_value(json_array_get(missing, 1)), "8104");
	json_decref(answer);
	run_to(10 * NB_FRAMES);
	expect_answer("{'begin': 8000, 'end': 8800, 'links': ['clean']}", "too_old", 0, 1);
	answer = status(NULL);
	assert_int_equal(number(part(answer, "requests"), "asked"), 10);
	assert_int_equal(number(part(answer, "requests"), "held"), 0);
	assert_int_equal(number(part(part(answer, "requests"), "control"), "fragments"), 0);
	json_decref(answer);
}

/* With frames: as bytes that are a fragment, with what the frames held. */
static void
frames(void **state)
{
	struct weir_readout_fragment_view view;
	json_t *answer;
	size_t nb;
	void *data;

	begin();
	run_to(NB_FRAMES);
	answer = ask("readout/request",
		"{'begin': 8080, 'end': 8160, 'frames': true, 'links': ['clean'], 'trigger': 9}",
		0);
	data = weir_base_ctl_bytes(part(fragment_of(answer), "data"), &nb);
	assert_non_null(data);
	assert_int_equal(weir_readout_fragment_view(data, nb, &view), 0);
	assert_int_equal(view.total_bytes, nb);
	assert_int_equal(view.trigger, 9);
	assert_int_equal(view.nb_frames, 10);
	for (uint32_t i = 0; i < view.nb_frames; i++) {
		uint64_t timestamp;

		memcpy(&timestamp, view.frames + i * BYTES + 8, sizeof(timestamp));
		assert_int_equal(timestamp, 8080 + i * STEP);
	}
	free(data);
	json_decref(answer);
}

static void
bad_requests(void **state)
{
	static const char *const bad[] = {"{}", "{'begin': 1}", "{'end': 1}",
		"{'begin': 1, 'end': 2, 'last_ms': 1}", "{'begin': 1, 'last_ms': 1}",
		"{'last_ms': 0}", "{'last_ms': -1}", "{'begin': 9, 'end': 8}",
		"{'begin': 1.5, 'end': 2}", "{'begin': '', 'end': 2}", "{'begin': '0x', 'end': 2}",
		"{'begin': '1 ', 'end': 2}", "{'begin': '18446744073709551616', 'end': 2}",
		"{'begin': 1, 'end': 2, 'timeout_ms': 10001}",
		"{'begin': 1, 'end': 2, 'frames': 1}", "{'begin': 1, 'end': 2, 'links': []}",
		"{'begin': 1, 'end': 2, 'links': 'clean'}", "{'begin': 1, 'end': 2, 'unknown': 0}",
		"{'begin': 1, 'end': 2, 'run': 'x'}"};

	begin();
	json_decref(ask("readout/request", NULL, -EINVAL));
	for (size_t i = 0; i < RTE_DIM(bad); i++)
		json_decref(ask("readout/request", bad[i], -EINVAL));
	json_decref(ask("readout/request", "{'begin': 1, 'end': 2, 'links': ['x']}", -ENOENT));
	json_decref(ask("readout/request", "{'begin': 1, 'end': 2, 'links': [5]}", -ENOENT));
	assert_null(
		weir_readout_ctl_register(NULL, &(struct weir_readout_ctl_config){.links = NULL}));
	assert_int_equal(rte_errno, EINVAL);
	assert_null(register_readout());
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(weir_readout_ctl_unregister(NULL), 0);
}

/* A request by a thread of its own. */
struct asker {
	pthread_t thread;
	const char *args;
	int rc;
	json_t *answer;
};

static void *
ask_alone(void *arg)
{
	struct asker *asker = arg;
	json_t *args = json_loads(asker->args, 0, NULL);

	asker->rc = weir_base_ctl_call(ctl_name, "readout/request", args, -1, &asker->answer);
	json_decref(args);
	return NULL;
}

/* Until so many fragments of requests over the socket are outstanding: which other commands tell meanwhile. */
static void
wait_for_fragments(long long nb)
{
	long long now;

	do {
		json_t *answer = status(NULL);

		now = number(part(part(answer, "requests"), "control"), "fragments");
		json_decref(answer);
	} while (now != nb);
}

static void
start_asker(struct asker *asker, const char *args, long long nb)
{
	*asker = (struct asker){.args = args};
	assert_int_equal(pthread_create(&asker->thread, NULL, ask_alone, asker), 0);
	wait_for_fragments(nb);
}

static const json_t *
end_asker(struct asker *asker, int rc)
{
	pthread_join(asker->thread, NULL);
	assert_int_equal(asker->rc, rc);
	return asker->answer;
}

static const char *
answer_of(const json_t *answer, size_t index)
{
	return text(item(answer, "fragments", index), "answer");
}

#define TO_COME "{\"begin\": 8400, \"end\": 8800, \"timeout_ms\": 10000}"

/* Whoever waits keeps nobody else waiting; and not for ever. */
static void
waiting(void **state)
{
	struct asker first, second, third;

	begin();
	run_to(60);
	start_asker(&first, TO_COME, 2);
	start_asker(&second, "{\"begin\": 8400, \"end\": 99999, \"timeout_ms\": 10000}", 4);
	expect_answer("{'begin': 8000, 'end': 8080, 'links': ['clean']}", "complete", 10, 0);
	start_asker(&third, TO_COME, 6);
	/* there are no more for the socket, though the service has some */
	json_decref(ask(
		"readout/request", "{'begin': 8000, 'end': 8080, 'links': ['clean']}", -ENOBUFS));
	run_to(NB_FRAMES);
	assert_string_equal(answer_of(end_asker(&first, 0), 0), "complete");
	assert_string_equal(answer_of(first.answer, 1), "partial");
	assert_string_equal(answer_of(end_asker(&third, 0), 0), "complete");
	wait_for_fragments(2);
	__atomic_store_n(&t.now_ns, t.now_ns + UINT64_C(11000000000), __ATOMIC_RELEASE);
	assert_string_equal(answer_of(end_asker(&second, 0), 0), "timed_out");
	assert_int_equal(number(item(second.answer, "fragments", 0), "frames"), 50);
	json_decref(first.answer);
	json_decref(second.answer);
	json_decref(third.answer);
}

/* A run that ends answers, with what is there; then refuses. */
static void
stopped(void **state)
{
	struct asker asker;

	begin();
	run_to(60);
	start_asker(&asker, TO_COME, 2);
	weir_readout_service_stop(t.service);
	assert_string_equal(answer_of(end_asker(&asker, 0), 0), "timed_out");
	json_decref(asker.answer);
	json_decref(ask("readout/request", "{'begin': 8000, 'end': 8080}", -ESHUTDOWN));
	json_decref(ask("readout/request", "{'last_ms': 1}", -ESHUTDOWN));
}

/* Commands taken back while a client waits, before the service has answered: it is told; what comes then is released. */
static void
taken_back(void **state)
{
	struct weir_readout_service_stats stats;
	struct asker asker;
	json_t *result;

	begin();
	run_to(60);
	rest(true);
	start_asker(&asker, "{\"begin\": 8000, \"end\": 8080, \"frames\": true}", 2);
	assert_int_equal(weir_readout_ctl_unregister(t.readout), -EBUSY);
	end_asker(&asker, -ECANCELED);
	json_decref(asker.answer);
	assert_int_equal(weir_base_ctl_run(ctl, "readout/status", NULL, &result), -ENOENT);
	json_decref(result);
	assert_int_equal(weir_readout_ctl_unregister(t.readout), -EBUSY);
	weir_readout_service_stats(t.service, &stats);
	assert_int_equal(stats.outstanding, 2);
	rest(false);
	while (weir_readout_ctl_unregister(t.readout) < 0)
		sched_yield();
	weir_readout_service_stats(t.service, &stats);
	assert_int_equal(stats.outstanding + stats.held, 0);
	t.readout = register_readout();
	assert_non_null(t.readout);
}

static void
nothing_to_ask(void **state)
{
	begin();
	assert_int_equal(weir_readout_ctl_unregister(t.readout), 0);
	t.readout =
		weir_readout_ctl_register(ctl, &(struct weir_readout_ctl_config){.links = NULL});
	assert_non_null(t.readout);
	json_decref(status(NULL));
	json_decref(ask("readout/request", "{'last_ms': 1}", -ENOTSUP));
}

/* Clients of commands that come and go while frames flow. */
static struct {
	bool over;              /* atomic */
	uint32_t nb_told;       /* atomic: answers of either kind */
	uint32_t nb_fragments;  /* atomic */
	uint32_t nb_unexpected; /* atomic */
} race;

static void
ask_for_status(void)
{
	json_t *answer = NULL;
	int rc = weir_base_ctl_call(ctl_name, "readout/status", NULL, -1, &answer);

	if (rc == 0)
		__atomic_fetch_add(&race.nb_told, 1, __ATOMIC_RELAXED);
	if (rc == 0 ? !json_is_true(json_object_get(answer, "agree")) : rc != -ENOENT)
		__atomic_fetch_add(&race.nb_unexpected, 1, __ATOMIC_RELAXED);
	json_decref(answer);
}

static void
ask_for_frames(bool waits)
{
	json_t *answer = NULL, *args = json_pack("{s:i, s:b}", "last_ms", 80, "frames", !waits);
	const int allowed[] = {0, -ENOENT, -ECANCELED, -ENOBUFS, -ENODATA};
	bool is_allowed = false;
	int rc;

	if (waits)
		json_object_set_new(args, "timeout_ms", json_integer(1));
	rc = weir_base_ctl_call(ctl_name, "readout/request", args, -1, &answer);
	for (size_t i = 0; i < RTE_DIM(allowed); i++)
		is_allowed |= rc == allowed[i];
	if (!is_allowed)
		__atomic_fetch_add(&race.nb_unexpected, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&race.nb_fragments,
		json_array_size(json_object_get(answer, "fragments")), __ATOMIC_RELAXED);
	json_decref(answer);
	json_decref(args);
}

static void *
ask_often(void *arg)
{
	for (uint32_t i = 0; !__atomic_load_n(&race.over, __ATOMIC_ACQUIRE); i++)
		if (i % 2 == 0)
			ask_for_status();
		else
			ask_for_frames(i % 4 == 1);
	return NULL;
}

static void
asked_beside_all(void **state)
{
	pthread_t askers[2];
	uint64_t nb = 50;

	begin();
	memset(&race, 0, sizeof(race));
	for (size_t i = 0; i < RTE_DIM(askers); i++)
		assert_int_equal(pthread_create(&askers[i], NULL, ask_often, NULL), 0);
	for (uint32_t round = 0; __atomic_load_n(&race.nb_told, __ATOMIC_ACQUIRE) < ROUNDS ||
				 __atomic_load_n(&race.nb_fragments, __ATOMIC_ACQUIRE) < ROUNDS;
		round++) {
		run_to(nb += 5);
		sched_yield();
		if (round % 16 != 0)
			continue;
		while (weir_readout_ctl_unregister(t.readout) == -EBUSY)
			sched_yield();
		t.readout = register_readout();
		assert_non_null(t.readout);
	}
	__atomic_store_n(&race.over, true, __ATOMIC_RELEASE);
	for (size_t i = 0; i < RTE_DIM(askers); i++)
		pthread_join(askers[i], NULL);
	assert_int_equal(race.nb_unexpected, 0);
}

/* Hundreds of links are one answer. */
static void
many_links(void **state)
{
	const struct weir_readout_link *links[500];
	json_t *answer;

	begin();
	assert_int_equal(weir_readout_ctl_unregister(t.readout), 0);
	for (size_t i = 0; i < RTE_DIM(links); i++) {
		char name[32];

		snprintf(name, sizeof(name), "many%zu", i);
		links[i] = weir_readout_link_create(chain.registry,
			&(struct weir_readout_link_config){.name = name, .format = &t.format});
		assert_non_null(links[i]);
	}
	t.readout = weir_readout_ctl_register(
		ctl, &(struct weir_readout_ctl_config){.links = links, .nb_links = RTE_DIM(links)});
	assert_non_null(t.readout);
	answer = status(NULL);
	assert_int_equal(json_array_size(part(answer, "links")), RTE_DIM(links));
	assert_string_equal(text(item(answer, "links", 499), "link"), "many499");
	json_decref(answer);
	assert_int_equal(weir_readout_ctl_unregister(t.readout), 0);
	for (size_t i = 0; i < RTE_DIM(links); i++)
		weir_readout_link_free((struct weir_readout_link *)(uintptr_t)links[i]);
	t.readout = register_readout();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(counters, end),
		cmocka_unit_test_teardown(one_link, end),
		cmocka_unit_test_teardown(windows, end),
		cmocka_unit_test_teardown(frames, end),
		cmocka_unit_test_teardown(bad_requests, end),
		cmocka_unit_test_teardown(waiting, end),
		cmocka_unit_test_teardown(stopped, end),
		cmocka_unit_test_teardown(taken_back, end),
		cmocka_unit_test_teardown(nothing_to_ask, end),
		cmocka_unit_test_teardown(asked_beside_all, end),
		cmocka_unit_test_teardown(many_links, end),
	};

	return run_on_eal(1, tests);
}
