/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows on request, over the control socket. */
#include "ctl_fixture.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "weir_readout_fragment.h"

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

static size_t refused_size; /* atomic: there is no memory for so many bytes; 0: there is for all */

static void
set_refused_size(size_t size)
{
	__atomic_store_n(&refused_size, size, __ATOMIC_RELAXED);
}

void *
__wrap_malloc(size_t size)
{
	const size_t refused = __atomic_load_n(&refused_size, __ATOMIC_RELAXED);

	return refused != 0 && size == refused ? NULL : __real_malloc(size);
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

/* The last frames, where the timestamp has wrapped among them. */
static void
wrapped(void **state)
{
	const json_t *fragment;
	json_t *answer;

	begin_at(16, 65536 - 50 * STEP);
	run_to(NB_FRAMES);
	answer = ask("readout/request", "{'last_ms': 640, 'links': ['clean']}", 0);
	fragment = fragment_of(answer);
	assert_string_equal(text(fragment, "answer"), "complete");
	assert_int_equal(number(fragment, "frames"), 80);
	assert_int_equal(ticks(fragment, "begin"), 65536 - 30 * STEP);
	assert_int_equal(ticks(fragment, "end"), 50 * STEP);
	json_decref(answer);
	expect_answer("{'last_ms': 10000, 'links': ['clean']}", "complete", 100, 0);
	expect_answer("{'begin': 65528, 'end': 8, 'links': ['clean']}", "complete", 2, 0);
	answer = status("{'link': 'clean'}");
	assert_int_equal(ticks(part(item(answer, "links", 0), "buffer"), "newest"), 50 * STEP);
	assert_true(
		json_real_value(part(part(item(answer, "links", 0), "buffer"), "history_s")) < 2);
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

/* An answer of the only link, as it is called "refused"; @return whether it has this text */
static bool
is_refused(const char *why)
{
	json_t *answer = ask("readout/request",
		"{'begin': 8080, 'end': 8160, 'frames': true, 'links': ['clean']}", 0);
	const json_t *refused = json_object_get(fragment_of(answer), "refused");
	const bool has = refused != NULL && strstr(json_string_value(refused), why) != NULL;

	assert_int_equal(refused == NULL, json_object_get(fragment_of(answer), "data") != NULL);
	json_decref(answer);
	return has;
}

/* Frames that were asked for and that there is no memory for are not left out silently. */
static void
short_of_memory(void **state)
{
	json_t *answer;
	size_t nb;

	begin();
	run_to(NB_FRAMES);
	answer = ask("readout/request",
		"{'begin': 8080, 'end': 8160, 'frames': true, 'links': ['clean']}", 0);
	free(weir_base_ctl_bytes(part(fragment_of(answer), "data"), &nb));
	json_decref(answer);
	set_refused_size(nb);
	assert_true(is_refused("no memory for the answer"));
	set_refused_size((nb + 2) / 3 * 4 + 1); /* as text */
	assert_true(is_refused("no memory for the answer"));
	set_refused_size(0);
	assert_false(is_refused(""));
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
	json_decref(ask("readout/request", "{'begin': 1, 'end': 2, 'links': [5]}", -EINVAL));
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

/* A client that goes keeps nothing from others: the clock stands still, so no timeout is over. */
static void
gone(void **state)
{
	static const char question[] =
		"{\"command\": \"readout/request\", \"args\": " TO_COME "}\n";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct weir_readout_service_stats stats;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	begin();
	run_to(60);
	assert_int_equal(
		weir_base_ctl_path(ctl_name, address.sun_path, sizeof(address.sun_path)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(write(fd, question, strlen(question)), strlen(question));
	wait_for_fragments(2);
	close(fd);
	wait_for_fragments(0);
	weir_readout_service_stats(t.service, &stats);
	assert_int_equal(stats.outstanding + stats.held, 0);
	assert_int_equal(stats.answered[WEIR_READOUT_ANSWER_TIMED_OUT], 2);
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
	assert_string_equal(answer_of(end_asker(&asker, 0), 0), "stopped");
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(windows, end),
		cmocka_unit_test_teardown(wrapped, end),
		cmocka_unit_test_teardown(frames, end),
		cmocka_unit_test_teardown(short_of_memory, end),
		cmocka_unit_test_teardown(bad_requests, end),
		cmocka_unit_test_teardown(waiting, end),
		cmocka_unit_test_teardown(gone, end),
		cmocka_unit_test_teardown(stopped, end),
		cmocka_unit_test_teardown(taken_back, end),
		cmocka_unit_test_teardown(nothing_to_ask, end),
	};

	return run_on_eal(1, tests);
}
