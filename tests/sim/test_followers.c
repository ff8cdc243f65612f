/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that look at frames of links after these came to their buffers. */
#include "sim_util.h"

/* Frames that are there after 110 ns at most; a buffer holds 20 steps of history, 16 of jumps, and 2. */
#define LINKS(count, emulated, process, costs, run)                                                \
	"application:\n"                                                                           \
	"  links:\n"                                                                               \
	"    w: {format: wibeth, count: " count ", buffer: {history: 655360ns}}\n"                 \
	"    tp: {format: hit, buffer: {history: 1s, rate: 1MHz}}\n"                               \
	"  processes: {p: {function: hits, threshold: 60, to: tp, links: [w], " process "}}\n"     \
	"traffic: {emulated: {w: {" emulated "}}}\n" costs "run: {simulation: {" run "}}\n"

#define HELD (20 + 16 + 2)

#define COSTS(packet)                                                                              \
	"platform:\n"                                                                              \
	"  cores: {c: {clock: 1GHz, count: 2}}\n"                                                  \
	"  costs:\n"                                                                               \
	"    walk: 100cycles\n"                                                                    \
	"    poll: 50cycles\n"                                                                     \
	"    nodes: {link_rx: {packet: 10cycles}}\n"                                               \
	"    processes: {p: {" packet "}}\n"

#define THREAD "where: thread"

#define WORKER_COSTS(packet)                                                                       \
	"platform:\n"                                                                              \
	"  cores: {c: {clock: 1GHz, count: 3}}\n"                                                  \
	"  costs:\n"                                                                               \
	"    walk: 100cycles\n"                                                                    \
	"    poll: 50cycles\n"                                                                     \
	"    dispatch: 100cycles\n"                                                                \
	"    switch: 40cycles\n"                                                                   \
	"    nodes: {link_rx: {packet: 10cycles}}\n"                                               \
	"    processes: {p: {" packet "}}\n"

static double
busy_ns(const struct given *given, const struct weir_sim_result *result, double duration_ns)
{
	return given_value(given, result, 0, WEIR_SIM_WORKER, "process.p", "utilisation") *
	       duration_ns;
}

/* Each frame alone: a look at one buffer, 1000 cycles and one for each of 7200 B, and the round's own. */
static void
thread_of_its_own(void **state)
{
	struct given given = given_model(LINKS("1", "frames: 100, rate: 1kHz", THREAD,
		COSTS("packet: 1kcycles, per_byte: 1cycles/B"), "duration: 200ms"));
	struct weir_sim_result result = given_run(&given);

	assert_true(given_value(&given, &result, 0, WEIR_SIM_PROCESS, "w-0 p", "passed") == 100);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_PROCESS, "w-0 p", "waiting_max") == 1);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_WORKER, "process.p",
			    "received_packets") == 100);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_WORKER, "process.p", "walks") -
			    given_value(&given, &result, 0, WEIR_SIM_WORKER, "process.p",
				    "empty_walks") ==
		    100);
	assert_true(fabs(busy_ns(&given, &result, 200e6) - 100 * (50 + 8200 + 100)) < 1e-3);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Without costs nothing takes any time. */
static void
in_no_time(void **state)
{
	EXPECT(LINKS("2", "frames: 100, rate: 10kHz, faults: [{fault: duplicate, length: 5}]",
		       THREAD, "", "duration: 20ms"),
		{WEIR_SIM_PROCESS, "w-1 p", "received", 100},
		{WEIR_SIM_PROCESS, "w-1 p", "passed", 100},
		{WEIR_SIM_PROCESS, "w-1 p", "waiting_mean", 0},
		{WEIR_SIM_PROCESS, "w-0 p", "missed", 0});
}

/*
 * It has 1 ms for each of the frames that come each 100 us. It finds the first one after 50 us, so that 99 are done in 100 ms. When the last
 * ones have come, at 89.9 ms, those that the buffer holds wait, but for that which it looks at since it was there; of these 9 are done until
 * the end.
 */
static void
too_slow(void **state)
{
	EXPECT(LINKS("1", "frames: 900, rate: 10kHz", THREAD, COSTS("packet: 1Mcycles"),
		       "duration: 100ms"),
		{WEIR_SIM_PROCESS, "w-0 p", "received", 900},
		{WEIR_SIM_PROCESS, "w-0 p", "passed", 99},
		{WEIR_SIM_PROCESS, "w-0 p", "waiting", HELD - 9},
		{WEIR_SIM_PROCESS, "w-0 p", "missed", 900 - 99 - (HELD - 9)});
	/* What waits at the end of a warm-up is looked at after it. */
	EXPECT(LINKS("1", "frames: 900, rate: 10kHz", THREAD, COSTS("packet: 1Mcycles"),
		       "duration: 200ms, warmup: 100ms"),
		{WEIR_SIM_PROCESS, "w-0 p", "received", 0},
		{WEIR_SIM_PROCESS, "w-0 p", "passed", HELD - 9},
		{WEIR_SIM_PROCESS, "w-0 p", "missed", 0},
		{WEIR_SIM_PROCESS, "w-0 p", "waiting", 0});
}

/*
 * 41 frames of each of two links come at once, after a stall. A poll is about 32 of the first one, then of the other, then about the other 9 of
 * each: all in one round after the other, without a rest.
 */
static void
links_take_turns(void **state)
{
	struct given given = given_model(
		LINKS("2", "frames: 41, rate: 1MHz, faults: [{fault: stall, amount: 1000}]", THREAD,
			COSTS("packet: 1kcycles"), "duration: 20ms"));
	struct weir_sim_result result = given_run(&given);
	const double rounds =
		given_value(&given, &result, 0, WEIR_SIM_WORKER, "process.p", "walks") -
		given_value(&given, &result, 0, WEIR_SIM_WORKER, "process.p", "empty_walks");

	/* The buffers hold less than what has come when it begins. */
	assert_true(
		given_value(&given, &result, 0, WEIR_SIM_PROCESS, "w-0 p", "missed") == 41 - HELD);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_PROCESS, "w-0 p", "passed") == HELD);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_PROCESS, "w-1 p", "passed") == HELD);
	assert_true(rounds == 2);
	assert_true(fabs(busy_ns(&given, &result, 20e6) - (2 * HELD * 1000 + 2 * (2 * 50 + 100))) <
		    1e-3);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Each frame alone: a job, which costs the worker a question, a switch, and its work. */
static void
jobs_on_a_worker(void **state)
{
	EXPECT(LINKS("1", "frames: 100, rate: 1kHz", "where: jobs",
		       WORKER_COSTS("packet: 1kcycles, per_byte: 1cycles/B"), "duration: 200ms"),
		{WEIR_SIM_PROCESS, "w-0 p", "passed", 100},
		{WEIR_SIM_PROCESS, "w-0 p", "jobs", 100}, {WEIR_SIM_JOB, "w-0 p", "packets", 100},
		{WEIR_SIM_JOB, "w-0 p", "slices", 100},
		{WEIR_SIM_STREAM, "w-0 p", "service_mean_ns", 8200},
		{WEIR_SIM_WORKER, "worker-0", "utilisation", 100 * (100 + 40 + 8200) / 200e6},
		{WEIR_SIM_WORKER, "process.p", "utilisation", 100 * (50 + 100) / 200e6});
	/* Without costs. */
	EXPECT(LINKS("1", "frames: 100, rate: 1kHz", "where: jobs", "", "duration: 200ms"),
		{WEIR_SIM_PROCESS, "w-0 p", "passed", 100},
		{WEIR_SIM_PROCESS, "w-0 p", "jobs", 100});
}

/* 33 frames at once, of which each takes 10 us; 5 ms later 100 more. */
#define WAVES(frames, process)                                                                     \
	LINKS("1",                                                                                 \
		"frames: " frames                                                                  \
		", rate: 1MHz, faults: [{fault: stall, amount: 1000}, {fault: stall, first: 33, "  \
		"amount: 5000}]",                                                                  \
		"where: jobs, " process, WORKER_COSTS("packet: 10kcycles"), "duration: 200ms")

/* A poll takes 32 of them, which are a job: it gives way after a frame that its slice has ended in. Then the last one has its own. */
static void
slices_end_between_frames(void **state)
{
	EXPECT(WAVES("33", "slice: 25us"), {WEIR_SIM_PROCESS, "w-0 p", "passed", 33},
		{WEIR_SIM_PROCESS, "w-0 p", "jobs", 2}, {WEIR_SIM_JOB, "w-0 p", "slices", 11 + 1},
		{WEIR_SIM_WORKER, "worker-0", "utilisation",
			(12 * (100 + 40) + 33 * 10e3) / 200e6});
	EXPECT(WAVES("33", "slice: 10us"), {WEIR_SIM_JOB, "w-0 p", "slices", 32 + 1});
	EXPECT(WAVES("33", "slice: 10001ns"), {WEIR_SIM_JOB, "w-0 p", "slices", 16 + 1});
	EXPECT(WAVES("33", "slice: 1s"), {WEIR_SIM_JOB, "w-0 p", "slices", 2});
	EXPECT(WAVES("33", "frames: 4"), {WEIR_SIM_PROCESS, "w-0 p", "jobs", 9},
		{WEIR_SIM_PROCESS, "w-0 p", "passed", 33});
	/* The thread looks at the last one while the first job is out. */
	EXPECT(WAVES("33", "on_full: drop"), {WEIR_SIM_PROCESS, "w-0 p", "jobs", 1},
		{WEIR_SIM_PROCESS, "w-0 p", "jobs_full", 1},
		{WEIR_SIM_PROCESS, "w-0 p", "passed", 32});
}

/*
 * The first job, with frames 0 to 31, takes 32 ms, in which the buffer gets others: 95 to 132. They do not touch what the job has. There are
 * places for the last 64 that came; then polls are about 69 to 100, and 101 to 132.
 */
static void
jobs_keep_their_frames(void **state)
{
	EXPECT(LINKS("1",
		       "frames: 133, rate: 1MHz, faults: [{fault: stall, amount: 1000}, {fault: "
		       "stall, first: 33, amount: 5000}]",
		       "where: jobs", WORKER_COSTS("packet: 1Mcycles"), "duration: 200ms"),
		{WEIR_SIM_PROCESS, "w-0 p", "passed", 32 + HELD},
		{WEIR_SIM_PROCESS, "w-0 p", "missed", 133 - 32 - HELD},
		{WEIR_SIM_PROCESS, "w-0 p", "jobs", 1 + 2});
	/* In the midst of the first one. */
	EXPECT(LINKS("1",
		       "frames: 133, rate: 1MHz, faults: [{fault: stall, amount: 1000}, {fault: "
		       "stall, first: 33, amount: 5000}]",
		       "where: jobs", WORKER_COSTS("packet: 1Mcycles"), "duration: 20ms"),
		{WEIR_SIM_PROCESS, "w-0 p", "passed", 0}, {WEIR_SIM_PROCESS, "w-0 p", "inside", 32},
		{WEIR_SIM_PROCESS, "w-0 p", "waiting", 101});
}

/* A function of one's own, at each of its three places. */
#define OWN(process, costs)                                                                        \
	"application:\n"                                                                           \
	"  links: {w: {format: wibeth, buffer: {history: 1ms}}}\n"                                 \
	"  processes: {" process "}\n"                                                             \
	"traffic: {emulated: {w: {frames: 10000}}}\n" costs                                        \
	"run: {simulation: {duration: 400ms}}\n"

#define OWN_PLACED(where) "p: {function: own.so:own, links: [w], " where "}"
#define PROCESS(quantity) given_value(&given, &result, 0, WEIR_SIM_PROCESS, "w p", quantity)
#define LINK(quantity)    given_value(&given, &result, 0, WEIR_SIM_LINK, "w", quantity)

/* Within five standard deviations of what is binomial. */
static void
assert_part(double nb, double of, double part)
{
	if (!(fabs(nb - part * of) <= 5 * sqrt(of * part * (1 - part))))
		fail_msg("%g of %g; expected a part of %g", nb, of, part);
}

static void
own_before_the_buffer(void **state)
{
	struct given given = given_model(OWN(OWN_PLACED("where: inline"), COSTS("packet: 1kcycles, "
										"drops: 0.3")));
	struct weir_sim_result result = given_run(&given);
	const double dropped = LINK("dropped_processed");

	assert_part(dropped, 10000, 0.3);
	assert_true(LINK("received_frames") == 10000 && LINK("stored_frames") == 10000 - dropped);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_DROP, "w: p", "packets") == dropped);
	/* Who receives works on each. */
	assert_true(given_value(&given, &result, 0, WEIR_SIM_NODE, "link_rx-emulated.w",
			    "cycles_per_packet") == 1010);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Of three, with the short form first; what they look at is what those before them let pass. */
#define IN_A_ROW(first, second, third)                                                             \
	"application:\n"                                                                           \
	"  links:\n"                                                                               \
	"    w: {format: wibeth, buffer: {history: 1ms}, hits: {threshold: 60, to: tp}}\n"         \
	"    tp: {format: hit, buffer: {history: 1s, rate: 1MHz}}\n"                               \
	"  processes:\n"                                                                           \
	"    p: {function: own.so:own, links: [w], where: inline}\n"                               \
	"    q: {function: hits, threshold: 90, to: tp, links: [w], where: inline}\n"              \
	"    r: {function: own.so:own, links: [w], where: inline}\n"                               \
	"traffic: {emulated: {w: {frames: 10000, rate: 50kHz}}}\n" COSTS(                          \
		first "}, hits: {packet: 100cycles, hits: {value: 1}}, q: {" second                \
		      "}, r: {" third) "run: {simulation: {duration: 400ms}}\n"

static double
cycles_of(const struct given *given, const struct weir_sim_result *result)
{
	return given_value(
		given, result, 0, WEIR_SIM_NODE, "link_rx-emulated.w", "cycles_per_packet");
}

static void
one_drops_all(void **state)
{
	struct given given = given_model(IN_A_ROW("packet: 1kcycles, drops: 1",
		"packet: 20kcycles, hits: {value: 1}", "packet: 20kcycles, drops: 1"));
	struct weir_sim_result result = given_run(&given);

	assert_true(LINK("received_frames") == 10000 && LINK("dropped_processed") == 10000);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_DROP, "w: p", "packets") == 10000);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_DROP, "w: r", "packets") == 0);
	/* The short form's, which is first, and none of the other search. */
	assert_true(
		given_value(&given, &result, 0, WEIR_SIM_LINK, "tp", "received_frames") == 10000);
	assert_true(cycles_of(&given, &result) == 10 + 100 + 1000);
	weir_sim_result_free(&result);
	given_free(&given);
}

static void
one_after_the_other(void **state)
{
	struct given given = given_model(IN_A_ROW("packet: 1kcycles, drops: 0.3",
		"packet: 2kcycles, hits: {value: 1}", "packet: 4kcycles, drops: 0.5"));
	struct weir_sim_result result = given_run(&given);
	const double first = given_value(&given, &result, 0, WEIR_SIM_DROP, "w: p", "packets");
	const double third = given_value(&given, &result, 0, WEIR_SIM_DROP, "w: r", "packets");
	const double cycles = 10000 * (10 + 100 + 1000) + (10000 - first) * (2000 + 4000);

	assert_part(first, 10000, 0.3);
	assert_part(third, 10000 - first, 0.5);
	assert_true(LINK("dropped_processed") == first + third);
	assert_true(LINK("stored_frames") == 10000 - first - third);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_LINK, "tp", "received_frames") ==
		    10000 + 10000 - first);
	assert_true(fabs(cycles_of(&given, &result) * 10000 - cycles) < 1e-3);
	weir_sim_result_free(&result);
	given_free(&given);
}

static void
own_after_the_buffer(void **state)
{
	static const char *const models[] = {
		OWN(OWN_PLACED("where: thread"), COSTS("packet: 1kcycles, drops: 0.25")),
		OWN(OWN_PLACED("where: jobs, jobs: 3"),
			WORKER_COSTS("packet: 1kcycles, drops: 0.25")),
	};
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct given given = given_model(models[i]);
		struct weir_sim_result result = given_run(&given);

		assert_true(LINK("stored_frames") == 10000 && PROCESS("received") == 10000);
		assert_part(PROCESS("dropped"), 10000, 0.25);
		assert_true(PROCESS("passed") == 10000 - PROCESS("dropped"));
		weir_sim_result_free(&result);
		given_free(&given);
	}
	EXPECT(OWN(OWN_PLACED("where: thread"), COSTS("packet: 1kcycles")),
		{WEIR_SIM_PROCESS, "w p", "passed", 10000},
		{WEIR_SIM_PROCESS, "w p", "dropped", 0});
}

/* The place of the only error, and words of it. */
static void
refuse(const char *text, unsigned int line, const char *words)
{
	struct weir_base_doc *doc =
		weir_base_doc_load_text(text, strlen(text), "model", &weir_sim_doc_root);
	const struct weir_base_doc_error *errors;
	unsigned int nb_errors;

	assert_null(weir_sim_model_read(doc));
	errors = weir_base_doc_errors(doc, &nb_errors);
	if (nb_errors != 1 || errors[0].line != line || strstr(errors[0].message, words) == NULL) {
		weir_base_doc_errors_print(doc, stderr);
		fail_msg("expected '%s' in line %u", words, line);
	}
	weir_base_doc_free(doc);
}

static void
own_that_is_not_known(void **state)
{
	refuse(OWN(OWN_PLACED("where: thread"), ""), 3,
		"expected a key 'p' in 'processes' of platform.costs, such as {packet: 500cycles}");
#define ANOTHER(name) ", " name ": {function: own.so:own, links: [w], where: inline}"
	refuse(OWN(OWN_PLACED("where: inline") ANOTHER("a") ANOTHER("b") ANOTHER("c") ANOTHER("d")
			       ANOTHER("e") ANOTHER("f") ANOTHER("g") ANOTHER("h"),
		       COSTS("packet: 1cycles}, a: {}, b: {}, c: {}, d: {}, e: {}, f: {}, g: {}, "
			     "h: {")),
		3, "more than 8 processes look at frames of link 'w' before its buffer");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thread_of_its_own),
		cmocka_unit_test(in_no_time),
		cmocka_unit_test(too_slow),
		cmocka_unit_test(links_take_turns),
		cmocka_unit_test(jobs_on_a_worker),
		cmocka_unit_test(slices_end_between_frames),
		cmocka_unit_test(jobs_keep_their_frames),
		cmocka_unit_test(own_before_the_buffer),
		cmocka_unit_test(one_drops_all),
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(own_after_the_buffer),
		cmocka_unit_test(own_that_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
