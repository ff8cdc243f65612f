/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model and a seed make one run: its fingerprints are pinned. They are the same with every compiler and its flags, on
 * every machine. Where one changes on purpose (another order of draws, say), all runs that anybody has kept change too.
 */
#include "sim_util.h"

/* All that the simulator has: arrivals, sizes, distributions, queues, kinds of cores, priorities, drops. */
static const char all[] =
	"traffic:\n"
	"  streams:\n"
	"    poisson: {to: first, arrivals: poisson, rate: 1Mpps, sizes: imix, flows: 100}\n"
	"    even: {to: second, arrivals: deterministic, rate: 700kpps, sizes: uniform, size: 64B, "
	"size_max: "
	"1500B}\n"
	"    uniform: {to: second, arrivals: uniform, interval: 3us, spread: 0.5, start: 1us, "
	"flows: 7}\n"
	"application:\n"
	"  queues:\n"
	"    first: {type: ordered, priority: 1, capacity: 20}\n"
	"    second: {type: parallel, capacity: 20}\n"
	"    third: {type: atomic, flows: 16, priority: 2, capacity: 100}\n"
	"  objects:\n"
	"    one: {queues: [first, second], to: third, steps: [{cpu: 300cycles, distribution: "
	"exponential}]}\n"
	"    two:\n"
	"      queues: [third]\n"
	"      steps:\n"
	"        - {cpu: 900cycles, distribution: lognormal, sigma: 0.7}\n"
	"        - {cpu: 100cycles, distribution: uniform, per_byte: 0.6cycles/B}\n"
	"platform:\n"
	"  cores: {big: {count: 2, clock: 1.2GHz}, little: {clock: 700MHz}}\n"
	"run: {simulation: {duration: 20ms, warmup: 1ms, replications: 3, seed: 42}}\n";

static void
pinned(void **state)
{
	struct given given = given_model(all);
	struct weir_sim_result result = given_run(&given);

	assert_int_equal(result.events, 429601);
	assert_int_equal(result.fingerprint, 0xc0ca861a244f9589);
	assert_int_equal(result.replications[0].fingerprint, 0x9cf3c22c6c4e5e6d);
	/* Not only what happened, also what was counted of it. */
	assert_true(given_value(&given, &result, 0, WEIR_SIM_QUEUE, "third", "dropped_packets") ==
		    8980);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_STREAM, "even", "latency_max_ns") ==
		    206665.654);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* A graph: two workers, rings that overflow, nodes by chance. */
static void
pinned_graph(void **state)
{
	struct given given = given_model(
		"traffic:\n"
		"  streams:\n"
		"    a: {to: uplink, rate: 5Mpps, sizes: imix, flows: 100}\n"
		"    b: {to: uplink, rate: 9Mpps, bursts: {interval: 50us, lifetime: 10us}, flows: "
		"9}\n"
		"platform:\n"
		"  ports:\n"
		"    uplink: {device: a, rx_ring: 64, rx_burst: 32}\n"
		"    north: {device: b, tx_ring: 64, bandwidth: 10Gb/s}\n"
		"    east: {device: c, on_full: wait, bandwidth: 10Gb/s}\n"
		"  workers: [{receive: [uplink.0]}, {receive: [uplink.1], cores: slow}]\n"
		"  burst: 16\n"
		"  cores: {fast: {clock: 2GHz}, slow: {clock: 1.3GHz}}\n"
		"  costs:\n"
		"    walk: 60cycles\n"
		"    poll: 7cycles\n"
		"    nodes:\n"
		"      ethdev_rx: {vector: 40cycles, packet: 20cycles}\n"
		"      classify: {vector: 40cycles, packet: 12cycles, next: {ip4: 0.9, ip6: 0.1}}\n"
		"      ip4_lookup: {vector: 40cycles, packet: 12cycles, per_byte: 0.1cycles/B}\n"
		"      ip6_lookup: {packet: 30cycles, next: {ip6_rewrite: 3, drop: 1}}\n"
		"      ip4_rewrite: {packet: 15cycles, next: {north: 3, east: 1}}\n"
		"      ip6_rewrite: {packet: 15cycles, next: {north: 3, east: 1}}\n"
		"      ethdev_tx: {vector: 400cycles, packet: 15cycles}\n"
		"      drop: {packet: 10cycles}\n"
		"run: {simulation: {duration: 5ms, warmup: 1ms, replications: 2, seed: 42}}\n");
	struct weir_sim_result result = given_run(&given);

	assert_int_equal(result.events, 324065);
	assert_int_equal(result.fingerprint, 0xf3b73e6e2607cddc);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_RING, "uplink.1.rx_ring",
			    "dropped_packets") == 483);
	assert_true(given_value(&given, &result, 1, WEIR_SIM_WORKER, "worker-0", "empty_walks") ==
		    32669);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* All ways in which packets come. */
static void
pinned_traffic(void **state)
{
	struct given given = given_model(
		"traffic:\n"
		"  streams:\n"
		"    phases: {to: q, rate: 1Mpps, on: 10us, off: 20us, flows: 100, popularity: "
		"zipf}\n"
		"    bursts: {to: q, rate: 2Mpps, bursts: {interval: 50us, lifetime: 10us}, flows: "
		"9}\n"
		"    even: {to: q, arrivals: deterministic, rate: 1Mpps, phases: uniform, on: 5us, "
		"off: "
		"50us, flows: 4294967295, popularity: zipf, skew: 1.3}\n"
		"application:\n"
		"  queues: {q: {type: atomic, flows: 32}}\n"
		"  objects: {o: {queues: [q], steps: [{cpu: 700cycles, distribution: "
		"exponential}]}}\n"
		"platform: {cores: {c: {count: 2, clock: 1GHz}}}\n"
		"run: {simulation: {duration: 20ms, warmup: 1ms, replications: 2, seed: 42}}\n");
	struct weir_sim_result result = given_run(&given);

	assert_int_equal(result.events, 0x1039c);
	assert_int_equal(result.fingerprint, 0x9db9af414c9159e6);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* What steps, units, memories, disciplines and the scheduler do. */
static const char programs[] =
	"traffic:\n"
	"  streams:\n"
	"    s: {to: q, through: link, rate: 1Mpps, sizes: imix, flows: 10, attributes: {class: "
	"{weights: [3, 1]}, n: {value: 2, distribution: exponential}}}\n"
	"    t: {to: r, rate: 300kpps, sizes: imix}\n"
	"    u: {to: p, rate: 200kpps}\n"
	"application:\n"
	"  queues:\n"
	"    q: {type: atomic, flows: 4, priority: 1}\n"
	"    r: {type: parallel, discipline: shortest, capacity: 50}\n"
	"    h: {type: ordered, priority: 2, capacity: 50}\n"
	"    p: {type: parallel, group: poll}\n"
	"    a: {type: atomic}\n"
	"  objects:\n"
	"    o:\n"
	"      queues: [q]\n"
	"      steps:\n"
	"        - {cpu: 200cycles, times: n}\n"
	"        - {drop: policed, probability: 0.02}\n"
	"        - {use: unit, deschedule: true, when: class == 1}\n"
	"        - {memory: m, accesses: 3}\n"
	"        - {fork: p, probability: 0.1}\n"
	"        - {join: true}\n"
	"        - {send: h, probability: 0.3}\n"
	"        - {output: true, through: link}\n"
	"    l: {queues: [r], steps: [{cpu: 500cycles, distribution: exponential}]}\n"
	"    v: {queues: [h], steps: [{cpu: 100cycles, distribution: exponential}, {switch: a}, "
	"{cpu: "
	"50cycles}]}\n"
	"    w: {queues: [p], steps: [{cpu: 300cycles}]}\n"
	"platform:\n"
	"  cores:\n"
	"    c: {count: 2, clock: 1.5GHz}\n"
	"    d: {clock: 1GHz, groups: [poll], polling: {switch: 50cycles, burst: 4}}\n"
	"  units:\n"
	"    link: {bandwidth: 10Gb/s}\n"
	"    unit: {delay: 300ns, outliers: 0.01, outlier: 5us}\n"
	"  memories: {m: {header: 128B, levels: {l2: {capacity: 4kB, latency: 5ns, contention: "
	"0.3}, "
	"ram: {latency: 80ns, bandwidth: 100Gb/s}}}}\n"
	"  dispatch: {preemptive: true, latency: 20ns, interval: 5ns}\n"
	"run: {simulation: {duration: 20ms, warmup: 1ms, replications: 2, seed: 42}}\n";

static void
programs_are_pinned(void **state)
{
	struct given given = given_model(programs);
	struct weir_sim_result result = given_run(&given);

	assert_int_equal(result.events, 1081985);
	assert_int_equal(result.fingerprint, 0x955fdd41a8b187f2);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Many flows, of which many wait at a time, some equally long: pinned when they were still looked at one by one. */
static void
pinned_flows(void **state)
{
	struct given given = given_model(
		"traffic:\n"
		"  streams:\n"
		"    a: {to: q, arrivals: deterministic, rate: 1Mpps, flows: 1000, sizes: imix}\n"
		"    b: {to: q, arrivals: deterministic, rate: 1Mpps, flows: 1000, sizes: imix}\n"
		"    c: {to: r, rate: 1Mpps, flows: 5000, popularity: zipf, sizes: imix}\n"
		"application:\n"
		"  queues:\n"
		"    q: {type: ordered, flows: 100, capacity: 400}\n"
		"    r: {type: atomic, flows: 1000, capacity: 900}\n"
		"  objects: {o: {queues: [q, r], steps: [{cpu: 900cycles, per_byte: 1cycles/B}]}}\n"
		"platform: {cores: {c: {count: 3, clock: 1GHz}}}\n"
		"run: {simulation: {duration: 5ms, replications: 1, seed: 42}}\n");
	struct weir_sim_result result = given_run(&given);

	assert_int_equal(result.events, 26969);
	assert_int_equal(result.fingerprint, 0x21d5b50e55d9e0ed);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_QUEUE, "q", "length_max") == 400);
	weir_sim_result_free(&result);
	given_free(&given);
}

static bool
go_on(void *arg, const struct weir_sim_progress *progress)
{
	unsigned int *calls = arg;

	assert_true(progress->done >= 0 && progress->done <= 1);
	++*calls;
	return true;
}

/* Whoever runs which replication. */
static void
threads_change_nothing(void **state)
{
	struct given given = given_model(all);
	struct weir_sim_result one, several;

	given.param.nb_replications = 7;
	one = given_run(&given);
	given.param.nb_threads = 3;
	several = given_run(&given);
	assert_int_equal(several.fingerprint, one.fingerprint);
	assert_int_equal(several.events, one.events);
	assert_memory_equal(several.values, one.values, 7 * one.nb_metrics * sizeof(*one.values));
	weir_sim_result_free(&one);
	weir_sim_result_free(&several);
	given_free(&given);
}

static bool
stop(void *arg, const struct weir_sim_progress *progress)
{
	return progress->replication == 0;
}

static void
who_looks_changes_nothing(void **state)
{
	struct given given = given_model(all);
	struct weir_sim_result plain, watched;
	unsigned int calls = 0;

	given.param.duration_ps = UINT64_C(250000000000);
	given.param.nb_replications = 1;
	plain = given_run(&given);
	given.param.progress = go_on;
	given.param.arg = &calls;
	watched = given_run(&given);
	assert_true(calls > 0);
	assert_int_equal(watched.fingerprint, plain.fingerprint);
	assert_memory_equal(watched.values, plain.values, plain.nb_metrics * sizeof(*plain.values));
	weir_sim_result_free(&plain);
	weir_sim_result_free(&watched);
	given_free(&given);
}

static void
a_run_that_is_ended_keeps_whole_replications(void **state)
{
	struct given given = given_model(all);
	struct weir_sim_result result;

	given.param.duration_ps = UINT64_C(250000000000);
	given.param.progress = stop;
	assert_int_equal(weir_sim_run(given.model, &given.param, &result), 0);
	assert_true(result.interrupted);
	assert_int_equal(result.nb_replications, 1);
	weir_sim_result_free(&result);
	given_free(&given);
}

static void
seeds_and_replications_differ(void **state)
{
	struct given given = given_model(all);
	struct weir_sim_result first = given_run(&given), second;

	assert_true(first.replications[0].fingerprint != first.replications[1].fingerprint);
	assert_true(first.replications[1].fingerprint != first.replications[2].fingerprint);
	given.param.seed++;
	second = given_run(&given);
	assert_true(first.replications[0].fingerprint != second.replications[0].fingerprint);
	weir_sim_result_free(&first);
	weir_sim_result_free(&second);
	given_free(&given);
}

/* Variants of a model draw the same numbers where they are the same: an added stream does not shift the others' arrivals. */
static void
variants_share_their_random_numbers(void **state)
{
#define VARIANT(more)                                                                              \
	"traffic: {streams: {" more "s: {to: q, rate: 1Mpps, sizes: imix}}}\n"                     \
	"application:\n"                                                                           \
	"  queues: {q: {type: parallel}}\n"                                                        \
	"  objects: {o: {queues: [q], steps: [{cpu: 100cycles}]}}\n"                               \
	"platform: {cores: {c: {clock: 1GHz, count: 64}}}\n"                                       \
	"run: {simulation: {duration: 10ms}}\n"
	struct given one = given_model(VARIANT("")),
		     two = given_model(VARIANT("t: {to: q, rate: 2Mpps}, "));
	struct weir_sim_result first = given_run(&one), second = given_run(&two);
	const char *const same[] = {"arrived_packets", "delivered_bps", "latency_mean_ns"};
	unsigned int i;

	for (i = 0; i < 3; i++)
		assert_true(given_value(&one, &first, 0, WEIR_SIM_STREAM, "s", same[i]) ==
			    given_value(&two, &second, 0, WEIR_SIM_STREAM, "s", same[i]));
	assert_true(given_value(&two, &second, 0, WEIR_SIM_STREAM, "t", "arrived_packets") > 15000);
	weir_sim_result_free(&first);
	weir_sim_result_free(&second);
	given_free(&one);
	given_free(&two);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pinned),
		cmocka_unit_test(programs_are_pinned),
		cmocka_unit_test(pinned_traffic),
		cmocka_unit_test(pinned_graph),
		cmocka_unit_test(pinned_flows),
		cmocka_unit_test(who_looks_changes_nothing),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(a_run_that_is_ended_keeps_whole_replications),
		cmocka_unit_test(seeds_and_replications_differ),
		cmocka_unit_test(variants_share_their_random_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
