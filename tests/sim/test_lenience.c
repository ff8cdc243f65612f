/* SPDX-License-Identifier: BSD-3-Clause */
/* Priorities that are not strict: so many may pass what waits, or what is urgent is left to its owner for a while. */
#include "theory.h"

#define LOW  WEIR_SIM_STREAM, "low"
#define HIGH WEIR_SIM_STREAM, "high"

/* A cycle is a ns. */
#define MODEL(scheduler, low, high, cores)                                                         \
	"traffic:\n"                                                                               \
	"  streams:\n"                                                                             \
	"    low: {to: l, arrivals: deterministic, " low "}\n"                                     \
	"    high: {to: h, arrivals: deterministic, " high "}\n"                                   \
	"application:\n"                                                                           \
	"  queues: {l: {type: parallel, priority: 5}, h: {type: parallel, priority: 2}}\n"         \
	"  objects: {o: {queues: [l], steps: [{cpu: 50cycles}]}, p: {queues: [h], steps: [{cpu: "  \
	"1000cycles}]}}\n"                                                                         \
	"platform: {cores: {c: {clock: 1GHz" cores "}}, scheduler: {" scheduler "}}\n"             \
	"run: {simulation: {duration: 100us}}\n"

/* High ones come at 10, 20 .. 100 and are done at 1010, 2010 and 3010; then it is a low one's turn, until 3060, and so on: 5060. */
static void
so_many_pass(void **state)
{
	EXPECT(MODEL("starvation_bound: 2", "interval: 15ns, count: 2", "interval: 10ns, count: 10",
		       ""),
		{LOW, "latency_min_ns", 3060 - 15}, {LOW, "latency_max_ns", 5110 - 30},
		{HIGH, "latency_max_ns", 10110 - 100});
	EXPECT(MODEL("starvation_bound: 0", "interval: 15ns, count: 2", "interval: 10ns, count: 10",
		       ""),
		{LOW, "latency_min_ns", 10060 - 15}, {LOW, "latency_max_ns", 10110 - 30 + 0});
}

/* Each core is done with two high ones at 2010, or at 2020; of these one has passed the low ones, which are next. */
static void
of_each_core(void **state)
{
	EXPECT(MODEL("starvation_bound: 1", "interval: 25ns, count: 2", "interval: 10ns, count: 10",
		       ", count: 2"),
		{LOW, "latency_max_ns", 2010 + 50 - 25}, {LOW, "latency_min_ns", 2020 + 50 - 50});
}

/* Nothing waits when the first packet, of a, is begun. Of the others each second one is of c, and of the rest each second one of b: a c b c. */
static void
three_priorities(void **state)
{
	EXPECT("traffic:\n"
	       "  streams:\n"
	       "    a: {to: a, arrivals: deterministic, interval: 1ns, count: 100}\n"
	       "    b: {to: b, arrivals: deterministic, interval: 1ns, count: 100}\n"
	       "    c: {to: c, arrivals: deterministic, interval: 1ns, count: 100}\n"
	       "application:\n"
	       "  queues: {a: {priority: 0}, b: {priority: 3}, c: {priority: 7}}\n"
	       "  objects: {o: {queues: [a, b, c], steps: [{cpu: 1000cycles}]}}\n"
	       "platform: {cores: {c: {clock: 1GHz}}, scheduler: {starvation_bound: 1}}\n"
	       "run: {simulation: {duration: 31005ns}}\n",
		{WEIR_SIM_STREAM, "a", "delivered_packets", 9},
		{WEIR_SIM_STREAM, "b", "delivered_packets", 7},
		{WEIR_SIM_STREAM, "c", "delivered_packets", 15});
}

/* A worker that asks each 200 ns, and then takes what waits in one round. */
#define WORKER(type, scheduler)                                                                    \
	"application:\n"                                                                           \
	"  queues: {l: {type: " type ", group: g, priority: 5}, h: {type: " type                   \
	", group: g, priority: 2}}\n"                                                              \
	"  nodes: {low: {type: sched_rx, queues: [l]}, high: {type: sched_rx, queues: [h]}}\n"     \
	"  edges: ['low.l -> north', 'high.h -> north']\n"                                         \
	"platform:\n"                                                                              \
	"  scheduler: {" scheduler "}\n"                                                           \
	"  ports: {north: {pcap_out: b}}\n"                                                        \
	"  workers: [{groups: [g]}]\n"                                                             \
	"  cores: {c: {clock: 1GHz}}\n"                                                            \
	"  costs:\n"                                                                               \
	"    walk: 1cycles\n"                                                                      \
	"    dispatch: 200cycles\n"                                                                \
	"    nodes: {sched_rx: {packet: 10cycles}, pcap_tx: {packet: 20cycles}}\n"                 \
	"traffic:\n"                                                                               \
	"  streams:\n"                                                                             \
	"    low: {to: l, arrivals: deterministic, interval: 1ns, count: 5}\n"                     \
	"    high: {to: h, arrivals: deterministic, interval: 1ns, count: 8}\n"                    \
	"run: {simulation: {duration: 100us}}\n"

/* It asks at 200, and has from 400 on: three high ones, a low one, three, one, two, and three that nothing passes. */
static void
in_a_round(void **state)
{
	EXPECT(WORKER("parallel", "starvation_bound: 3"),
		{WEIR_SIM_NODE, "sched_rx-high", "vectors", 3},
		{WEIR_SIM_NODE, "sched_rx-low", "vectors", 3}, {LOW, "latency_min_ns", 521 - 1},
		{LOW, "latency_max_ns", 795 - 3}, {HIGH, "latency_max_ns", 704 - 7});
	EXPECT(WORKER("parallel", ""), {WEIR_SIM_NODE, "sched_rx-high", "vectors", 1},
		{WEIR_SIM_NODE, "sched_rx-low", "vectors", 1},
		{LOW, "latency_max_ns", 400 + 13 * 30 + 1 - 1});
}

/* An atomic flow gives one packet a round then: one high, one low; the last three high ones alone. */
static void
atomic_in_a_round(void **state)
{
	EXPECT(WORKER("atomic", "starvation_bound: 3"),
		{WEIR_SIM_NODE, "sched_rx-high", "vectors", 8},
		{WEIR_SIM_NODE, "sched_rx-low", "vectors", 5}, {LOW, "latency_min_ns", 461 - 1},
		{LOW, "latency_max_ns", 461 + 4 * 262 - 5},
		{HIGH, "latency_max_ns", 1510 + 2 * 231 + 230 - 8});
	EXPECT(WORKER("atomic", ""), {WEIR_SIM_NODE, "sched_rx-high", "vectors", 1});
}

/*
 * The first core has the low ones for its own. It looks at 51, 151 and 251: then the second high one has been there for two looks, while the other
 * core is about the first one, and it takes that. In the end both take the low ones.
 */
static void
left_to_its_owner(void **state)
{
	EXPECT(MODEL("priority_slack: 100ns", "interval: 1ns, count: 20",
		       "interval: 10ns, count: 2", ", count: 2"),
		{HIGH, "latency_min_ns", 1052 - 10}, {HIGH, "latency_max_ns", 1251 - 20},
		{LOW, "latency_max_ns", 1502 - 20});
	/* It looks at 51 and 1051, when the other one has long been there again. */
	EXPECT(MODEL("priority_slack: 1us", "interval: 1ns, count: 40", "interval: 10ns, count: 2",
		       ", count: 2"),
		{HIGH, "latency_max_ns", 2052 - 20});
	EXPECT(MODEL("priority_slack: 0s", "interval: 1ns, count: 20", "interval: 10ns, count: 2",
		       ", count: 2"),
		{HIGH, "latency_min_ns", 1032 - 20 + 20}, {HIGH, "latency_max_ns", 1051 - 10});
}

/* Whatever goes first, so much is inside of all: as in M/M/c, where all take equally long. */
static struct run
expect_conserved(const char *scheduler, unsigned int nb_cores, double inside)
{
	static const char format[] =
		"traffic:\n"
		"  streams:\n"
		"    low: {to: l, arrivals: poisson, rate: %gkpps, flows: 100}\n"
		"    high: {to: h, arrivals: poisson, rate: %gkpps, flows: 100}\n"
		"application:\n"
		"  queues: {l: {type: parallel, flows: 8, priority: 1}, h: {type: parallel, flows: "
		"8}}\n"
		"  objects: {o: {queues: [l, h], steps: [{cpu: 1000cycles, distribution: "
		"exponential}]}}\n"
		"platform:\n"
		"  scheduler: {%s, events: 65536}\n"
		"  cores: {c: {count: %u, clock: 1GHz}}\n"
		"run: {simulation: {seed: 1, warmup: 5ms, duration: 105ms, replications: 20}}\n";
	const double kpps = 400 * nb_cores;
	unsigned int low, high, i;
	char text[1024];
	struct run run;

	snprintf(text, sizeof(text), format, kpps, kpps, scheduler, nb_cores);
	run = run_text(text);
	low = given_column(&run.given, LOW, "inside_mean");
	high = given_column(&run.given, HIGH, "inside_mean");
	for (i = 0; i < run.result.nb_replications; i++)
		run.result.values[(size_t)i * run.result.nb_metrics + high] +=
			run.result.values[(size_t)i * run.result.nb_metrics + low];
	expect(&run, HIGH, "inside_mean", inside);
	return run;
}

static double
high_ns(const struct run *run)
{
	return weir_sim_result_estimate(
		&run->result, given_column(&run->given, HIGH, "latency_mean_ns"), CONFIDENCE)
		.mean;
}

/* M/M/1 and M/M/2 at a load of 0.8. High ones are the sooner gone the fewer rules there are, within 1.67 us where they are strict (M/M/1). */
static void
nothing_is_lost(void **state)
{
	struct run strict = expect_conserved("starvation_bound: 0", 1, 4);
	struct run some = expect_conserved("starvation_bound: 4", 1, 4);
	struct run one = expect_conserved("starvation_bound: 1", 1, 4);
	struct run slack = expect_conserved("priority_slack: 100ns", 2, 2 * 0.8 / (1 - 0.64));
	struct run both = expect_conserved(
		"priority_slack: 1us, starvation_bound: 2", 2, 2 * 0.8 / (1 - 0.64));

	expect(&strict, HIGH, "latency_mean_ns", 1000 * (1 + 0.8 / (1 - 0.4)));
	assert_true(high_ns(&strict) < high_ns(&some) && high_ns(&some) < high_ns(&one));
	assert_true(high_ns(&slack) < high_ns(&both));
	run_free(&strict);
	run_free(&some);
	run_free(&one);
	run_free(&slack);
	run_free(&both);
}

/*
 * Of what always waits a fourth is low, at each core: of 400 packets that each does 100, but of the core that begins with a high one, when nothing
 * waits, 99.
 */
static void
share_of_the_low(void **state)
{
	EXPECT("traffic:\n"
	       "  streams:\n"
	       "    low: {to: l, arrivals: deterministic, interval: 100ns}\n"
	       "    high: {to: h, arrivals: deterministic, interval: 100ns}\n"
	       "application:\n"
	       "  queues: {l: {type: parallel, priority: 1, capacity: 9}, h: {type: parallel, "
	       "capacity: 9}}\n"
	       "  objects: {o: {queues: [l, h], steps: [{cpu: 1000cycles}]}}\n"
	       "platform: {cores: {c: {count: 3, clock: 1GHz}}, scheduler: {starvation_bound: 3}}\n"
	       "run: {simulation: {duration: 401us, warmup: 1us}}\n",
		{LOW, "delivered_packets", 299}, {HIGH, "delivered_packets", 901});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(so_many_pass),
		cmocka_unit_test(of_each_core),
		cmocka_unit_test(three_priorities),
		cmocka_unit_test(in_a_round),
		cmocka_unit_test(atomic_in_a_round),
		cmocka_unit_test(left_to_its_owner),
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(share_of_the_low),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
