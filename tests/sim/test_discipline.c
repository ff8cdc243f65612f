/* SPDX-License-Identifier: BSD-3-Clause */
/* In which order packets of a queue are served. */
#include "sim_util.h"

#define STREAM WEIR_SIM_STREAM, "s"

/* M/M/1 with a mean service of 1 us. */
#define MODEL(discipline)                                                                          \
	"traffic: {streams: {s: {to: q, rate: 0.5Mpps}}}\n"                                        \
	"application:\n"                                                                           \
	"  queues: {q: {type: parallel, discipline: '" discipline "'}}\n"                          \
	"  objects: {o: {queues: [q], steps: [{cpu: 1000cycles, distribution: exponential}]}}\n"   \
	"platform: {cores: {c: {clock: 1GHz}}}\n"                                                  \
	"run: {simulation: {duration: 20ms, warmup: 1ms, replications: 5}}\n"

/* Four packets of 1000, 500, 200, 700 ns, which come at 100, 200, 300, 400. */
#define FOUR(discipline, dispatch)                                                                 \
	"traffic:\n"                                                                               \
	"  streams:\n"                                                                             \
	"    a: {to: q, arrivals: deterministic, interval: 100ns, count: 1, size: 1000B}\n"        \
	"    b: {to: q, arrivals: deterministic, interval: 200ns, count: 1, size: 500B}\n"         \
	"    c: {to: q, arrivals: deterministic, interval: 300ns, count: 1, size: 200B}\n"         \
	"    d: {to: q, arrivals: deterministic, interval: 400ns, count: 1, size: 700B}\n"         \
	"application:\n"                                                                           \
	"  queues: {q: {type: parallel, discipline: '" discipline "'}}\n"                          \
	"  objects: {o: {queues: [q], steps: [{per_byte: 1cycles/B}]}}\n"                          \
	"platform: {cores: {c: {clock: 1GHz}}, dispatch: {" dispatch "}}\n"                        \
	"run: {simulation: {duration: 1ms}}\n"

#define LATENCIES(text, a, b, c, d)                                                                \
	EXPECT(text, {WEIR_SIM_STREAM, "a", "latency_mean_ns", a},                                 \
		{WEIR_SIM_STREAM, "b", "latency_mean_ns", b},                                      \
		{WEIR_SIM_STREAM, "c", "latency_mean_ns", c},                                      \
		{WEIR_SIM_STREAM, "d", "latency_mean_ns", d})

static void
orders(void **state)
{
	LATENCIES(FOUR("fcfs", ""), 1000, 1400, 1500, 2100);
	LATENCIES(FOUR("lcfs", ""), 1000, 2300, 1700, 1400);
	LATENCIES(FOUR("shortest", ""), 1000, 1600, 1000, 2100);
	LATENCIES(FOUR("longest", ""), 1000, 2100, 2200, 1400);
	LATENCIES(FOUR(PLUGIN ":stack", ""), 1000, 2300, 1700, 1400);
}

/* Whose service is shorter interrupts, and what is left of the others decides who goes on. */
static void
orders_that_interrupt(void **state)
{
	LATENCIES(FOUR("fcfs", "preemptive: true"), 1000, 1400, 1500, 2100);
	/* a 100-200, b 200-300, c 300-500, b 500-900, d 900-1600, a 1600-2500 */
	LATENCIES(FOUR("shortest", "preemptive: true"), 2400, 700, 200, 1200);
	/* a 100-200, b 200-300, c 300-400, d 400-1100, c 1100-1200, b, a */
	LATENCIES(FOUR("lcfs", "preemptive: true"), 2400, 1400, 900, 700);
}

/* The same four for a unit, which takes 1 ns a byte; cores are enough. What is interrupted takes no room of those that come. */
#define FOUR_AT_UNIT(order)                                                                        \
	"traffic:\n"                                                                               \
	"  streams:\n"                                                                             \
	"    a: {to: q, arrivals: deterministic, interval: 100ns, count: 1, size: 1000B, "         \
	"attributes: {class: {value: 3}}}\n"                                                       \
	"    b: {to: q, arrivals: deterministic, interval: 200ns, count: 1, size: 500B, "          \
	"attributes: {class: {value: 2}}}\n"                                                       \
	"    c: {to: q, arrivals: deterministic, interval: 300ns, count: 1, size: 200B, "          \
	"attributes: {class: {value: 0}}}\n"                                                       \
	"    d: {to: q, arrivals: deterministic, interval: 400ns, count: 1, size: 700B, "          \
	"attributes: {class: {value: 1}}}\n"                                                       \
	"application:\n"                                                                           \
	"  queues: {q: {type: parallel}}\n"                                                        \
	"  objects: {o: {queues: [q], steps: [{use: u, deschedule: true}]}}\n"                     \
	"platform: {cores: {c: {clock: 1GHz, count: 9}}, units: {u: {bandwidth: 8Gb/s, capacity: " \
	"3, " order "}}}\n"                                                                        \
	"run: {simulation: {duration: 1ms}}\n"

static void
orders_at_a_unit(void **state)
{
	LATENCIES(FOUR_AT_UNIT("discipline: fcfs"), 1000, 1400, 1500, 2100);
	LATENCIES(FOUR_AT_UNIT("discipline: lcfs"), 1000, 2300, 1700, 1400);
	LATENCIES(FOUR_AT_UNIT("discipline: shortest"), 1000, 1600, 1000, 2100);
	LATENCIES(FOUR_AT_UNIT("discipline: longest"), 1000, 2100, 2200, 1400);
	/* c 1100-1300, d to 2000, b to 2500 */
	LATENCIES(FOUR_AT_UNIT("discipline: priority, by: class"), 1000, 2300, 1000, 1600);
	LATENCIES(FOUR_AT_UNIT("discipline: '" PLUGIN ":stack'"), 1000, 2300, 1700, 1400);
	/* As queues that interrupt; what goes by the longest finds that a has 700 left at 400, as d has. */
	LATENCIES(FOUR_AT_UNIT("discipline: lcfs, preemptive: true"), 2400, 1400, 900, 700);
	LATENCIES(FOUR_AT_UNIT("discipline: shortest, preemptive: true"), 2400, 700, 200, 1200);
	LATENCIES(FOUR_AT_UNIT("discipline: longest, preemptive: true"), 1000, 2100, 2200, 1400);
	/* a 100-200, b 200-300, c 300-500, d 500-1200, b 1200-1600, a 1600-2500 */
	LATENCIES(FOUR_AT_UNIT("discipline: priority, by: class, preemptive: true"), 2400, 1400,
		200, 800);
	/* a waits for 1400 in one, b from 300 to 1200. */
	EXPECT(FOUR_AT_UNIT("discipline: priority, by: class, preemptive: true"),
		{WEIR_SIM_UNIT, "u", "wait_mean_ns", (1400 + 900 + 0 + 100) / 4.0},
		{WEIR_SIM_UNIT, "u", "wait_max_ns", 1400});
	/* c makes b wait, too: again, after 100 of its 500. */
	EXPECT(FOUR_AT_UNIT("discipline: shortest, preemptive: true"),
		{WEIR_SIM_UNIT, "u", "wait_mean_ns", (1400 + 200 + 0 + 500) / 4.0},
		{WEIR_SIM_UNIT, "u", "wait_max_ns", 1400});
}

/* Two servers, packets whose cores wait, that have none, and on their way out; all laws hold (given_run() looks). */
static void
units_under_load(void **state)
{
	static const char *const orders[] = {"discipline: lcfs", "discipline: shortest",
		"discipline: longest", "discipline: priority, by: flow",
		"discipline: '" PLUGIN ":stack'", "discipline: lcfs, preemptive: true",
		"discipline: shortest, preemptive: true", "discipline: longest, preemptive: true",
		"discipline: priority, by: flow, preemptive: true"};
	static const char format[] =
		"traffic: {streams: {s: {to: q, rate: 2.2Mpps, flows: 9, sizes: imix}}}\n"
		"application:\n"
		"  queues: {q: {type: ordered}}\n"
		"  objects: {o: {queues: [q], steps: [{use: u, probability: 0.3}, {use: u, "
		"deschedule: true, probability: 0.5}, {cpu: 100cycles}, {output: true, through: "
		"u, probability: 0.3}]}}\n"
		"platform: {cores: {c: {clock: 1GHz, count: 3}}, units: {u: {servers: 2, delay: "
		"800ns, distribution: exponential, capacity: 20, %s}}}\n"
		"run: {simulation: {duration: 5ms, warmup: 1ms, batches: 3}}\n";
	struct weir_sim_result result;
	struct given given;
	char text[2048];
	unsigned int i;

	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		snprintf(text, sizeof(text), format, orders[i]);
		given = given_model(text);
		result = given_run(&given);
		assert_true(
			given_value(&given, &result, 0, WEIR_SIM_UNIT, "u", "utilisation") > 0.8);
		assert_true(given_value(&given, &result, 0, WEIR_SIM_UNIT, "u", "length_max") > 10);
		weir_sim_result_free(&result);
		given_free(&given);
	}
}

/* A stack of a shared object is one: the same run as with the one that is built in, until it refuses. */
static void
a_discipline_of_ones_own(void **state)
{
	struct given one = given_model(MODEL("lcfs")), own = given_model(MODEL(PLUGIN ":stack"));
	struct weir_sim_result first, second;

	own.param.nb_threads = 3;
	first = given_run(&one);
	second = given_run(&own);
	assert_int_equal(first.fingerprint, second.fingerprint);
	assert_true(given_value(&one, &first, 0, WEIR_SIM_QUEUE, "q", "length_max") < 100);
	assert_true(given_value(&one, &first, 0, WEIR_SIM_QUEUE, "q", "length_max") > 5);
	weir_sim_result_free(&first);
	weir_sim_result_free(&second);
	given_free(&one);
	given_free(&own);
}

/* It has room for 100; what is too large it never has room for. */
static void
what_it_refuses_is_dropped(void **state)
{
	EXPECT("traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1ns, count: "
	       "300}}}\n"
	       "application:\n"
	       "  queues: {q: {type: parallel, discipline: '" PLUGIN ":stack'}}\n"
	       "  objects: {o: {queues: [q], steps: [{cpu: 1000cycles}]}}\n"
	       "platform: {cores: {c: {clock: 1GHz}}}\n"
	       "run: {simulation: {duration: 1ms}}\n",
		{STREAM, "delivered_packets", 101}, {STREAM, "dropped_packets", 199},
		{WEIR_SIM_DROP, "s: queue q is full", "packets", 199});
	EXPECT("traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1ns, count: 300, "
	       "size: 1001B}}}\n"
	       "application:\n"
	       "  queues: {q: {type: parallel, discipline: '" PLUGIN ":stack'}}\n"
	       "  objects: {o: {queues: [q], steps: [{cpu: 1000cycles}]}}\n"
	       "platform: {cores: {c: {clock: 1GHz}}}\n"
	       "run: {simulation: {duration: 1ms}}\n",
		{STREAM, "delivered_packets", 1});
}

static void
one_that_lies_is_found(void **state)
{
	struct given given = given_model(MODEL(PLUGIN ":liar"));
	struct weir_sim_result result;

	assert_int_equal(weir_sim_run(given.model, &given.param, &result), 0);
	assert_string_equal(result.replications[0].broken, "a discipline selects what waits");
	weir_sim_result_free(&result);
	given_free(&given);
	given = given_model(FOUR_AT_UNIT("discipline: '" PLUGIN ":liar'"));
	assert_int_equal(weir_sim_run(given.model, &given.param, &result), 0);
	assert_string_equal(result.replications[0].broken, "a discipline selects what waits");
	weir_sim_result_free(&result);
	given_free(&given);
}

static void
refuse(const char *discipline, const char *words)
{
	static const char format[] =
		"traffic: {streams: {s: {to: q, rate: 1Mpps}}}\n"
		"application:\n"
		"  queues: {q: {discipline: '%s'}}\n"
		"  objects: {o: {queues: [q], steps: [{cpu: 1cycles, when: size > 1}]}}\n"
		"platform: {cores: {c: {clock: 1GHz}}}\n";
	const struct weir_base_doc_error *errors;
	struct weir_base_doc *doc;
	unsigned int nb_errors;
	char text[1024];

	snprintf(text, sizeof(text), format, discipline);
	doc = weir_base_doc_load_text(text, strlen(text), "model", &weir_sim_doc_root);
	assert_null(weir_sim_model_read(doc));
	errors = weir_base_doc_errors(doc, &nb_errors);
	assert_int_equal(nb_errors, 1);
	assert_int_equal(errors[0].line, 3);
	assert_int_equal(errors[0].column, 28);
	assert_non_null(strstr(errors[0].message, words));
	assert_non_null(strstr(errors[0].message, "expected"));
	weir_base_doc_free(doc);
}

static void
disciplines_that_are_none(void **state)
{
	refuse("random", "unknown discipline 'random'");
	refuse("x.so:", "unknown discipline");
	refuse("priority", "unknown discipline 'priority'");
	refuse("nowhere.so:stack", "nowhere.so");
	refuse(PLUGIN ":heap", "no symbol 'heap'");
	refuse(PLUGIN ":newer", "version 2");
	refuse(PLUGIN ":half", "lacks a function");
	refuse("shortest", "none that always takes cycles");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders),
		cmocka_unit_test(orders_that_interrupt),
		cmocka_unit_test(orders_at_a_unit),
		cmocka_unit_test(units_under_load),
		cmocka_unit_test(a_discipline_of_ones_own),
		cmocka_unit_test(what_it_refuses_is_dropped),
		cmocka_unit_test(one_that_lies_is_found),
		cmocka_unit_test(disciplines_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
