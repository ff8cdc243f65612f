/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control socket tells of a readout: at rest, and while frames flow and commands come and go. */
#include "ctl_fixture.h"

#include "weir_base_sanitizer.h"

#if defined(WEIR_BASE_ASAN) || defined(WEIR_BASE_TSAN)
#define ROUNDS 50u
#else
#define ROUNDS 300u
#endif

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
	run_to(62); /* number 60 is to be sent after 62 */
	answer = status(NULL);
	assert_int_equal(number(item(item(answer, "emulators", 0), "streams", 1), "withheld"), 1);
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
	answer = ask("readout/status", "{'link': 'other'}", -ENOENT);
	assert_string_equal(
		json_string_value(answer), "no link 'other'; there are clean, faulty, link0");
	json_decref(answer);
	json_decref(ask("readout/status", "{'link': 5}", -EINVAL));
	json_decref(ask("readout/status", "{'links': 'clean'}", -EINVAL));
}
/* One that follows frames has its counters there, and they agree. */
static void
follower(void **state)
{
	static const char *const reasons[] = {"calibration", "empty"};
	const struct weir_readout_process process = {
		.name = "reject", .run = drop_some, .drops = reasons, .nb_drops = 2};
	const struct weir_readout_handler *const handlers[] = {t.handlers[0], t.handlers[1]};
	struct weir_readout_follower *behind;
	const json_t *told;
	json_t *answer;

	begin();
	behind = weir_readout_follower_create(
		&(struct weir_readout_follower_config){.name = "behind",
			.buffer = weir_readout_handler_buffer(t.handlers[0]),
			.processes = &process,
			.nb_processes = 1});
	assert_non_null(behind);
	assert_int_equal(weir_readout_ctl_unregister(t.readout), 0);
	t.readout = weir_readout_ctl_register(
		ctl, &(struct weir_readout_ctl_config){.handlers = handlers,
			     .parts = &(struct weir_readout_ctl_part){.name = "behind",
				     .follower = behind},
			     .nb_parts = 1});
	assert_non_null(t.readout);
	run_to(NB_FRAMES);
	while (weir_readout_follower_poll(behind) > 0)
		;
	run_to(NB_FRAMES + 10);
	answer = status(NULL);
	told = item(answer, "followers", 0);
	assert_string_equal(text(told, "name"), "behind");
	assert_int_equal(number(told, "received"), NB_FRAMES + 10);
	assert_int_equal(number(told, "waiting"), 10);
	assert_true(number(part(told, "dropped"), "reject.empty") > 0);
	assert_int_equal(number(told, "received"), number(told, "passed") + number(told, "missed") +
							   number(told, "waiting") +
							   sum_of(part(told, "dropped")));
	json_decref(answer);
	weir_readout_ctl_unregister(t.readout);
	t.readout = NULL;
	weir_readout_follower_free(behind);
}

/* A part of the program's own. */
static json_t *
tell(void *arg, bool *agree)
{
	const int *received = arg;

	*agree = *agree && *received == 5;
	return json_pack("{s:i}", "received", *received);
}

/* It has its place among those that follow frames, and its sums count. */
static void
own_part(void **state)
{
	const struct weir_readout_handler *handler;
	json_t *answer;
	int received;

	begin();
	handler = t.handlers[0];
	assert_int_equal(weir_readout_ctl_unregister(t.readout), 0);
	t.readout = weir_readout_ctl_register(
		ctl, &(struct weir_readout_ctl_config){.handlers = &handler,
			     .nb_handlers = 1,
			     .parts =
				     &(struct weir_readout_ctl_part){
					     .name = "own", .tell = tell, .arg = &received},
			     .nb_parts = 1});
	assert_non_null(t.readout);
	for (received = 5; received < 7; received++) {
		answer = ask("readout/status", NULL, 0);
		assert_string_equal(text(item(answer, "followers", 0), "name"), "own");
		assert_int_equal(number(item(answer, "followers", 0), "received"), received);
		assert_true(json_is_true(part(answer, "agree")) == (received == 5));
		json_decref(answer);
	}
	weir_readout_ctl_unregister(t.readout);
	t.readout = NULL;
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
		cmocka_unit_test_teardown(follower, end),
		cmocka_unit_test_teardown(own_part, end),
		cmocka_unit_test_teardown(many_links, end),
		cmocka_unit_test_teardown(asked_beside_all, end),
	};

	return run_on_eal(1, tests);
}
