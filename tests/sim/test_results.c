/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run tells of latencies, their parts, and order. */
#include "sim_util.h"

#include <math.h>

#define MODEL(stream, queue, step, cores)                                                          \
	"traffic: {streams: {s: {to: q, arrivals: deterministic, " stream "}}}\n"                  \
	"application:\n"                                                                           \
	"  queues: {q: {type: " queue "}}\n"                                                       \
	"  objects: {o: {queues: [q], steps: [{" step "}]}}\n"                                     \
	"platform: {cores: {" cores "}}\n"                                                         \
	"run: {simulation: {duration: 1ms}}\n"

#define VALUE(scope, name, quantity)                                                               \
	given_value(&given, &result, 0, WEIR_SIM_##scope, name, quantity)

/* A percentile is the upper end of a class, which is 1/32 of its value wide. */
static void
assert_class(double found, double expected)
{
	assert_true(found >= expected && found <= expected * (1 + 1.0 / 32));
}

/* Nobody waits: it takes 1 ns a byte, of 64, 570 and 1518 as 7 to 4 to 1. */
static void
parts_of_percentiles(void **state)
{
	struct given given = given_model(MODEL("interval: 100ns, sizes: imix", "parallel",
		"per_byte: 1cycles/B", "c: {clock: 1GHz, count: 99}"));
	struct weir_sim_result result = given_run(&given);

	assert_true(VALUE(STREAM, "s", "latency_p50_service_ns") == 64);
	assert_true(VALUE(STREAM, "s", "latency_p90_service_ns") == 570);
	assert_true(VALUE(STREAM, "s", "latency_p99_service_ns") == 1518);
	assert_true(VALUE(STREAM, "s", "latency_p9999_service_ns") == 1518);
	assert_class(VALUE(STREAM, "s", "latency_p90_ns"), 570);
	assert_true(VALUE(STREAM, "s", "latency_p90_wait_ns") ==
		    VALUE(STREAM, "s", "latency_p90_ns") - 570);
	assert_true(VALUE(QUEUE, "q", "wait_p9999_ns") == 0);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* A hundred come at 10, 20, 30 ... ns, each takes 100: the nth waits for 90 (n - 1). */
static void
waits(void **state)
{
	struct given given = given_model(MODEL(
		"interval: 10ns, count: 100", "parallel", "cpu: 100cycles", "c: {clock: 1GHz}"));
	struct weir_sim_result result = given_run(&given);

	assert_class(VALUE(QUEUE, "q", "wait_p50_ns"), 90 * 49);
	assert_class(VALUE(QUEUE, "q", "wait_p90_ns"), 90 * 89);
	assert_class(VALUE(QUEUE, "q", "wait_p99_ns"), 90 * 98);
	assert_true(VALUE(QUEUE, "q", "wait_p999_ns") == 90 * 99);
	assert_true(VALUE(QUEUE, "q", "wait_p9999_ns") == 90 * 99);
	assert_true(VALUE(STREAM, "s", "latency_p999_service_ns") == 100);
	assert_true(VALUE(STREAM, "s", "latency_p999_wait_ns") == 90 * 99);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* The first one takes a slow core, and all others overtake it on a fast one: one is out of order, not four. */
#define SLOW_AND_FAST "slow: {clock: 100MHz}, fast: {clock: 1GHz}"

static void
who_was_overtaken(void **state)
{
	const struct {
		const char *model;
		double reordered;
	} cases[] = {
		{MODEL("interval: 150ns, count: 5", "parallel", "cpu: 100cycles", SLOW_AND_FAST),
			1},
		{MODEL("interval: 150ns, count: 5", "ordered", "cpu: 100cycles", SLOW_AND_FAST), 0},
		/* Each of a flow of its own. */
		{MODEL("interval: 150ns, count: 5, flows: 1000000", "parallel", "cpu: 100cycles",
			 SLOW_AND_FAST),
			0},
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct given given = given_model(cases[i].model);
		struct weir_sim_result result = given_run(&given);

		assert_true(VALUE(STREAM, "s", "delivered_packets") == 5);
		assert_true(VALUE(STREAM, "s", "reordered_packets") == cases[i].reordered);
		assert_true(VALUE(STREAM, "s", "reordering") == cases[i].reordered / 5);
		weir_sim_result_free(&result);
		given_free(&given);
	}
}

/* What was before the warm-up's end does not count, but what is overtaken then was so by what came before. */
static void
after_the_warm_up(void **state)
{
	struct given given = given_model(
		MODEL("interval: 150ns, count: 5", "parallel", "cpu: 100cycles", SLOW_AND_FAST));
	struct weir_sim_result result;

	given.param.warmup_ps = 1000000;
	result = given_run(&given);
	assert_true(VALUE(STREAM, "s", "delivered_packets") == 1);
	assert_true(VALUE(STREAM, "s", "reordered_packets") == 1);
	weir_sim_result_free(&result);
	given.param.warmup_ps = 2000000;
	result = given_run(&given);
	assert_true(VALUE(STREAM, "s", "reordered_packets") == 0);
	assert_true(isnan(VALUE(STREAM, "s", "latency_p99_service_ns")));
	assert_true(isnan(VALUE(QUEUE, "q", "wait_p99_ns")));
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Nor does what was in the batch before. */
static void
after_a_batch(void **state)
{
	struct given given = given_model(MODEL(
		"interval: 100ns", "parallel", "cpu: 64cycles", "c: {clock: 1GHz, count: 2}"));
	struct weir_sim_result result;

	given.param.nb_batches = 2;
	result = given_run(&given);
	assert_true(given_value(&given, &result, 1, WEIR_SIM_STREAM, "s",
			    "latency_p50_service_ns") == 64);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* The stream is over after the second of ten batches: in eight no packet has a latency, and it is not 0. */
static void
what_was_not_measured_does_not_count(void **state)
{
	struct given given = given_model(
		"traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1us, stop: "
		"2ms}, "
		"none: {to: q, rate: 1Mpps, start: 20ms}}}\n"
		"application:\n"
		"  queues: {q: {}}\n"
		"  objects: {o: {queues: [q], steps: [{use: u}, {cpu: 300cycles}]}}\n"
		"platform: {cores: {c: {clock: 1GHz}}, units: {u: {delay: 200ns}}}\n"
		"run: {simulation: {duration: 10ms, batches: 10, probes: {p: {from: o}}}}\n");
	struct weir_sim_result result = given_run(&given);
	const struct {
		enum weir_sim_scope scope;
		const char *name, *quantity;
		double mean;
	} expected[] = {{WEIR_SIM_STREAM, "s", "latency_mean_ns", 500},
		{WEIR_SIM_STREAM, "s", "latency_min_ns", 500},
		{WEIR_SIM_STREAM, "s", "service_mean_ns", 500},
		{WEIR_SIM_STREAM, "s", "arrived_packets", 199.9},
		{WEIR_SIM_PROBE, "p", "mean", 1000}};
	struct weir_sim_estimate estimate;
	unsigned int i;

	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		estimate = weir_sim_result_estimate(&result,
			given_column(
				&given, expected[i].scope, expected[i].name, expected[i].quantity),
			0.95);
		if (!(fabs(estimate.mean - expected[i].mean) <= 1e-9 * expected[i].mean))
			fail_msg("%s of %s is %.12g; expected %.12g", expected[i].quantity,
				expected[i].name, estimate.mean, expected[i].mean);
	}
	assert_true(
		isnan(given_value(&given, &result, 9, WEIR_SIM_STREAM, "s", "latency_mean_ns")));
	estimate = weir_sim_result_estimate(
		&result, given_column(&given, WEIR_SIM_STREAM, "none", "latency_mean_ns"), 0.95);
	assert_true(isnan(estimate.mean) && isinf(estimate.half_width));
	weir_sim_result_free(&result);
	given_free(&given);
}

/*
 * q's packets come at 100, 200 and 300, and its core has them until 250, 400 and 550. Of r's each takes 40 of a core, 300 of
 * the unit, which is free at 290, 590 and 890, and 10 of a core: until 600, 900 and 1200. The first one comes back at 590,
 * before the third one's core is free, and gets the other one.
 */
static void
stages(void **state)
{
#define STAGE(name, quantity, value) {WEIR_SIM_QUEUE, name, quantity, value}
	EXPECT("traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 100ns, count: "
	       "3}}}\n"
	       "application:\n"
	       "  queues: {q: {}, r: {type: parallel, group: b}}\n"
	       "  objects:\n"
	       "    o: {queues: [q], to: r, steps: [{cpu: 150cycles}]}\n"
	       "    p: {queues: [r], steps: [{cpu: 40cycles}, {use: u, deschedule: true}, {cpu: "
	       "10cycles}]}\n"
	       "platform:\n"
	       "  cores: {c: {clock: 1GHz}, d: {clock: 1GHz, count: 2, groups: [b]}}\n"
	       "  units: {u: {delay: 300ns}}\n"
	       "run: {simulation: {duration: 2us}}\n",
		STAGE("q", "latency_mean_ns", 200), STAGE("q", "latency_min_ns", 150),
		STAGE("q", "latency_max_ns", 250), STAGE("q", "latency_sd_ns", 50),
		STAGE("q", "service_mean_ns", 150), STAGE("q", "served_packets", 3),
		STAGE("q", "served_pps", 1.5e6), STAGE("q", "latency_p9999_ns", 250),
		STAGE("q", "latency_p9999_wait_ns", 100),
		STAGE("q", "latency_p9999_service_ns", 150), STAGE("q", "wait_mean_ns", 50),
		STAGE("r", "latency_mean_ns", 500), STAGE("r", "service_mean_ns", 350),
		STAGE("r", "latency_max_ns", 650), STAGE("r", "latency_p9999_wait_ns", 300),
		STAGE("r", "latency_p9999_service_ns", 350), STAGE("r", "wait_mean_ns", 0),
		{WEIR_SIM_CORE, "c.0", "utilisation", 0.225},
		{WEIR_SIM_CORE, "c.0", "served_packets", 3},
		{WEIR_SIM_CORE, "d.0", "utilisation", 0.07},
		{WEIR_SIM_CORE, "d.1", "utilisation", 0.005},
		{WEIR_SIM_CORE, "d.0", "served_packets", 2},
		{WEIR_SIM_CORE, "d.1", "served_packets", 1});
#undef STAGE
}

/*
 * Two cores, packets of 300 and 100 B in turns, 100 ns between them, at 1 ns a byte: the first of each two is overtaken, but
 * not in an ordered queue, nor where a flow is served one after the other; from the last stage they leave as they came to it.
 */
static void
who_is_overtaken_in_a_stage(void **state)
{
#define TWO_SIZES(type)                                                                            \
	"traffic:\n"                                                                               \
	"  streams:\n"                                                                             \
	"    a: {to: q, arrivals: deterministic, interval: 1us, count: 5, size: 300B}\n"           \
	"    b: {to: q, arrivals: deterministic, interval: 1us, start: 100ns, count: 5, size: "    \
	"100B}\n"                                                                                  \
	"application:\n"                                                                           \
	"  queues: {q: {type: " type "}, r: {}}\n"                                                 \
	"  objects:\n"                                                                             \
	"    o: {queues: [q], to: r, steps: [{per_byte: 1cycles/B}]}\n"                            \
	"    p: {queues: [r], steps: [{cpu: 1cycles}]}\n"                                          \
	"platform: {cores: {c: {clock: 1GHz, count: 2}}}\n"                                        \
	"run: {simulation: {duration: 10us}}\n"
	EXPECT(TWO_SIZES("parallel"), {WEIR_SIM_QUEUE, "q", "reordered_packets", 5},
		{WEIR_SIM_QUEUE, "q", "reordering", 0.5},
		{WEIR_SIM_QUEUE, "r", "reordered_packets", 0},
		{WEIR_SIM_QUEUE, "r", "served_packets", 10});
	EXPECT(TWO_SIZES("ordered"), {WEIR_SIM_QUEUE, "q", "reordered_packets", 0});
	EXPECT(TWO_SIZES("atomic"), {WEIR_SIM_QUEUE, "q", "reordering", 0});
#undef TWO_SIZES
}

/* A packet that changes its flow begins another stage, which it waits for with its core; what nobody leaves tells nothing. */
static void
a_tag_switch_begins_a_stage(void **state)
{
	EXPECT("traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 100ns, count: "
	       "2}}}\n"
	       "application:\n"
	       "  queues: {q: {type: parallel}, r: {}}\n"
	       "  objects: {o: {queues: [q], steps: [{cpu: 50cycles}, {switch: r}, {cpu: "
	       "300cycles}]}}\n"
	       "platform: {cores: {c: {clock: 1GHz, count: 2}}}\n"
	       "run: {simulation: {duration: 1us}}\n",
		/* 100-150, then to 450; 200-250, then from 450 to 750 */
		{WEIR_SIM_QUEUE, "q", "latency_max_ns", 50},
		{WEIR_SIM_QUEUE, "r", "latency_min_ns", 300},
		{WEIR_SIM_QUEUE, "r", "latency_max_ns", 500},
		{WEIR_SIM_QUEUE, "r", "service_mean_ns", 300},
		{WEIR_SIM_CORE, "c.1", "utilisation", 0.55});
}

/* Squares of half a million seconds, which all are away from the mean, have more than 128 bits in all. */
static void
the_spread_of_an_array(void **state)
{
	EXPECT("models:\n"
	       "  b:\n"
	       "    parameters: {delay: }\n"
	       "    traffic: {streams: {s: {to: w, arrivals: deterministic, interval: 1s, count: "
	       "1000}}}\n"
	       "    application:\n"
	       "      queues: {w: {type: parallel}}\n"
	       "      objects: {o: {queues: w, steps: [{use: u, deschedule: true}]}}\n"
	       "    platform:\n"
	       "      cores: {c: {clock: 1GHz}}\n"
	       "      units: {u: {delay: \"${delay}\", servers: 1000}}\n"
	       "instances: {b: {count: 2, each: {delay: [1000000s, 2s]}}}\n"
	       "run: {simulation: {duration: 2000000s}}\n",
		{WEIR_SIM_STREAM, "b.0.s", "latency_sd_ns", 0},
		{WEIR_SIM_STREAM, "b.*.s", "latency_sd_ns", 999998e9 / 2 * sqrt(2000.0 / 1999)});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_percentiles),
		cmocka_unit_test(waits),
		cmocka_unit_test(who_was_overtaken),
		cmocka_unit_test(after_the_warm_up),
		cmocka_unit_test(stages),
		cmocka_unit_test(who_is_overtaken_in_a_stage),
		cmocka_unit_test(a_tag_switch_begins_a_stage),
		cmocka_unit_test(after_a_batch),
		cmocka_unit_test(what_was_not_measured_does_not_count),
		cmocka_unit_test(the_spread_of_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
