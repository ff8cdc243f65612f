/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has nothing to do sleeps in the scheduler: when, for how long, and what that costs those who come. */
#include "theory.h"

/* One worker sends what it receives to a queue that the other one serves, which asks every 200 ns and sleeps. */
#define SLEEPS(sleep, workers, stream, run)                                                        \
	"application:\n"                                                                           \
	"  queues: {q: {group: g}}\n"                                                              \
	"  nodes: {first: {type: sched_tx, queue: q}, from: {type: sched_rx, queues: [q]}}\n"      \
	"  edges: ['uplink.classify -> first', 'from.q -> north']\n"                               \
	"platform:\n"                                                                              \
	"  scheduler: {idle_sleep: " sleep ", wake: 7us}\n"                                        \
	"  ports: {uplink: {device: a}, north: {pcap_out: b}}\n"                                   \
	"  workers: [" workers "]\n"                                                               \
	"  cores: {c: {count: 4, clock: 1GHz}}\n"                                                  \
	"  costs:\n"                                                                               \
	"    walk: 100cycles\n"                                                                    \
	"    poll: 10cycles\n"                                                                     \
	"    dispatch: 200cycles\n"                                                                \
	"    nodes: {ethdev_rx: {packet: 10cycles}, sched_tx: {packet: 5cycles}, sched_rx: "       \
	"{packet: 10cycles}, pcap_tx: {packet: 20cycles}}\n"                                       \
	"traffic: {streams: {s: {to: uplink, arrivals: deterministic, " stream "}}}\n"             \
	"run: {simulation: {seed: 1, " run "}}\n"

#define TWO "{receive: [uplink], groups: []}, {groups: [g]}"

/*
 * It has asked 16 times at 3200, and sleeps after the ask of each 16 that is over 20 us later or more: at 25600, until 125600. It is back at 132600,
 * and sleeps again after 16 more. Each time takes 110200.
 */
static void
sleeps_again_and_again(void **state)
{
	EXPECT(SLEEPS("100us", TWO, "interval: 1s", "duration: 1ms"),
		{WEIR_SIM_WORKER, "worker-1", "sleeps", 9},
		{WEIR_SIM_WORKER, "worker-1", "asleep",
			(8 * 107000 + 1e6 - 25600 - 8 * 110200) / 1e6},
		{WEIR_SIM_WORKER, "worker-1", "walks", 25600 / 200 + 8 * 16},
		{WEIR_SIM_WORKER, "worker-1", "utilisation", 0},
		/* It asks for nothing. */
		{WEIR_SIM_WORKER, "worker-0", "sleeps", 0});
	EXPECT(SLEEPS("0us", TWO, "interval: 1s", "duration: 1ms"),
		{WEIR_SIM_WORKER, "worker-1", "sleeps", 0},
		{WEIR_SIM_WORKER, "worker-1", "walks", 1000000 / 200});
}

/* A packet comes at 50000, is looked for at 50050, and is in the queue at 50075. After 7 us more it is asked for. Then it is awake for as long again. */
static void
woken_by_an_event(void **state)
{
	EXPECT(SLEEPS("1ms", TWO, "interval: 1us, start: 49us, count: 1", "duration: 100us"),
		{WEIR_SIM_STREAM, "s", "latency_mean_ns", 50075 + 7000 + 200 + 10 + 20 - 50000},
		{WEIR_SIM_WORKER, "worker-1", "sleeps", 2});
	/* At 25500 it is awake. */
	EXPECT(SLEEPS("1ms", TWO, "interval: 1us, start: 24us, count: 1", "duration: 100us"),
		{WEIR_SIM_STREAM, "s", "latency_mean_ns", 25200 + 200 + 10 + 20 - 25000},
		{WEIR_SIM_WORKER, "worker-1", "sleeps", 1});
}

/* A walk takes 110, and to ask 200: it sleeps at 29760, until 129760, and a packet in its port's ring waits until it is back at 136760. */
static void
ports_wait(void **state)
{
	EXPECT(SLEEPS("100us", "{receive: [uplink], groups: [g]}",
		       "interval: 1us, start: 49us, count: 1", "duration: 200us"),
		/* Looked at, received, sent; then the walk's own cycles, and it asks. */
		{WEIR_SIM_STREAM, "s", "latency_mean_ns",
			136760 + 10 + 10 + 5 + 100 + 200 + 10 + 20 - 50000},
		{WEIR_SIM_RING, "uplink.0.rx_ring", "wait_max_ns", 136760 - 50000});
}

/* To ask takes 1 ps: before each of many packets it has asked millions of times, which takes no longer to simulate. */
static void
asks_very_often(void **state)
{
	EXPECT("application:\n"
	       "  queues: {q: {group: g}}\n"
	       "  nodes: {first: {type: sched_tx, queue: q}, from: {type: sched_rx, queues: [q]}}\n"
	       "  edges: ['uplink.classify -> first', 'from.q -> drop']\n"
	       "platform:\n"
	       "  scheduler: {idle_sleep: 1ms, wake: 7us}\n"
	       "  ports: {uplink: {device: a}}\n"
	       "  workers: [{receive: [uplink], groups: []}, {groups: [g]}]\n"
	       "  cores: {c: {count: 2, clock: 1GHz}}\n"
	       "  costs:\n"
	       "    walk: 1cycles\n"
	       "    dispatch: 0.001cycles\n"
	       "    nodes: {ethdev_rx: {}, sched_tx: {}, sched_rx: {}, drop: {}}\n"
	       "traffic: {streams: {s: {to: uplink, arrivals: deterministic, interval: 100us, "
	       "count: 20000}}}\n"
	       "run: {simulation: {seed: 1, duration: 2001ms}}\n",
		{WEIR_SIM_STREAM, "s", "dropped_packets", 20000},
		/* At first, and after each of them. */
		{WEIR_SIM_WORKER, "worker-1", "sleeps", 20001});
}

/* Of several that sleep one is woken for each packet, and none where one is awake. */
static void
one_is_woken_for_each(void **state)
{
	EXPECT(SLEEPS("1ms", TWO ", {groups: [g]}, {groups: [g]}",
		       "interval: 50us, count: 3, start: 50us", "duration: 190us"),
		{WEIR_SIM_WORKER, "worker-1", "sleeps", 3},
		{WEIR_SIM_WORKER, "worker-2", "sleeps", 1},
		{WEIR_SIM_WORKER, "worker-3", "sleeps", 1});
}

/*
 * Cores of objects sleep likewise, once they have been idle for 20 us. M/M/1 with a setup that those need not wait for who come earlier (M/G/1 with an
 * exceptional first service, Welch 1964): beside the wait without a setup, (2 E[D] + l E[D^2]) / (2 (1 + l E[D])), where D is the setup, or 0.
 */
static void
mm1_with_setup(void **state)
{
	static const char format[] =
		"traffic: {streams: {s: {to: q, arrivals: poisson, rate: %gkpps}}}\n"
		"application:\n"
		"  queues: {q: {type: parallel}}\n"
		"  objects: {o: {queues: [q], steps: [{cpu: 10kcycles, distribution: "
		"exponential}]}}\n"
		"platform:\n"
		"  scheduler: {idle_sleep: 1s, wake: %gus, events: 65536}\n"
		"  cores: {c: {clock: 1GHz}}\n"
		"run: {simulation: {seed: 1, warmup: 10ms, duration: 1010ms}}\n";
	static const struct {
		double rate, setup; /* a us, us */
	} cases[] = {{0.03, 15}, {0.01, 50}, {0.07, 100}};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const double l = cases[i].rate, load = 10 * l, p = exp(-20 * l);
		const double mean = p * cases[i].setup, square = mean * cases[i].setup;
		struct run run = {0};
		char text[1024];

		snprintf(text, sizeof(text), format, 1000 * l, cases[i].setup);
		run.given = given_model(text);
		run.given.param.nb_replications = REPLICATIONS;
		run.result = given_run(&run.given);
		expect(&run, WEIR_SIM_STREAM, "s", "latency_mean_ns",
			1000 * (10 / (1 - load) + (2 * mean + l * square) / (2 * (1 + l * mean))));
		run_free(&run);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sleeps_again_and_again),
		cmocka_unit_test(woken_by_an_event),
		cmocka_unit_test(ports_wait),
		cmocka_unit_test(asks_very_often),
		cmocka_unit_test(one_is_woken_for_each),
		cmocka_unit_test(mm1_with_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
