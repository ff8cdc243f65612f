/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheduler's limit: what comes from outside while so many packets are inside is refused, what is sent on never is. */
#include "theory.h"

/* Two queues of cores of their own, under one threshold. */
static const char model[] =
	"traffic:\n"
	"  streams:\n"
	"    s: {to: q, arrivals: poisson, rate: %gMpps}\n"
	"%s"
	"application:\n"
	"  queues: {q: {type: parallel, group: q}%s}\n"
	"  objects:\n"
	"    o: {queues: [q], steps: [{cpu: 1kcycles, distribution: exponential}]%s}\n"
	"%s"
	"platform:\n"
	"  scheduler: {%s}\n"
	"  cores: {c: {count: %u, clock: 1GHz, groups: [q]}%s}\n"
	"run: {simulation: {seed: 1, warmup: 3ms, duration: 33ms}}\n";

#define SECOND_QUEUE  ", r: {type: parallel, group: r}"
#define SECOND_OBJECT "    p: {queues: [r], steps: [{cpu: 1kcycles, distribution: exponential}]}\n"
#define SECOND_CORE   ", d: {clock: 1GHz, groups: [r]}"

static struct run
run_model(const char *text)
{
	struct run run = {.given = given_model(text)};

	run.given.param.nb_replications = REPLICATIONS;
	run.result = given_run(&run.given);
	return run;
}

/* M/M/c/K: c are served, all that are inside count. */
static void
mmck(void **state)
{
	static const struct {
		const char *limit;
		unsigned int servers, room;
		double offered;
	} cases[] = {
		{"threshold: 6", 1, 6, 0.9},
		{"events: 64, threshold: 10", 4, 10, 3.6},
		{"events: 64, reserved: 59", 3, 5, 2.4},
	};
	double p, sum, loss;
	char text[1024];
	struct run run;
	unsigned int i, n;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (p = sum = 1, n = 1; n <= cases[i].room; n++) {
			p *= cases[i].offered / fmin(n, cases[i].servers);
			sum += p;
		}
		loss = p / sum;
		snprintf(text, sizeof(text), model, cases[i].offered, "", "", "", "",
			cases[i].limit, cases[i].servers, "");
		run = run_model(text);
		expect(&run, WEIR_SIM_STREAM, "s", "loss", loss);
		expect(&run, WEIR_SIM_CORES, "c", "busy_mean", cases[i].offered * (1 - loss));
		run_free(&run);
	}
}

/*
 * Two queues of one core each, where at most K are inside together: p(n, m) is as a^n b^m. So it is of two that share the threshold, and of two in a
 * row; what finds it reached is lost, and that is only what comes from outside.
 */
static double
both_full(double a, double b, unsigned int room)
{
	double sum = 0, full = 0;
	unsigned int n, m;

	for (n = 0; n <= room; n++)
		for (m = 0; n + m <= room; m++) {
			sum += pow(a, n) * pow(b, m);
			full += n + m == room ? pow(a, n) * pow(b, m) : 0;
		}
	return full / sum;
}

static void
shared_threshold(void **state)
{
	const double loss = both_full(0.8, 0.5, 5);
	char text[1024];
	struct run run;

	snprintf(text, sizeof(text), model, 0.8,
		"    t: {to: r, arrivals: poisson, rate: 0.5Mpps}\n", SECOND_QUEUE, "",
		SECOND_OBJECT, "threshold: 5", 1, SECOND_CORE);
	run = run_model(text);
	expect(&run, WEIR_SIM_STREAM, "s", "loss", loss);
	expect(&run, WEIR_SIM_STREAM, "t", "loss", loss);
	run_free(&run);
}

static void
tandem_loses_at_its_entry(void **state)
{
	const double loss = both_full(0.8, 0.8, 5);
	char text[1024];
	struct run run;
	unsigned int i;

	snprintf(text, sizeof(text), model, 0.8, "", SECOND_QUEUE, ", to: r", SECOND_OBJECT,
		"threshold: 5", 1, SECOND_CORE);
	run = run_model(text);
	expect(&run, WEIR_SIM_STREAM, "s", "loss", loss);
	expect(&run, WEIR_SIM_CORES, "c", "utilisation", 0.8 * (1 - loss));
	expect(&run, WEIR_SIM_CORES, "d", "utilisation", 0.8 * (1 - loss));
	for (i = 0; i < REPLICATIONS; i++)
		assert_true(given_value(&run.given, &run.result, i, WEIR_SIM_DROP, "s: sched_full",
				    "packets") == given_value(&run.given, &run.result, i,
							  WEIR_SIM_STREAM, "s", "dropped_packets"));
	run_free(&run);
}

/* On their way in and out, through units, packets are outside. One at a time is served; two of each three that come are refused. */
static void
units_are_outside(void **state)
{
	EXPECT("traffic: {streams: {s: {to: q, through: in, arrivals: deterministic, "
	       "interval: 100ns, count: 9}}}\n"
	       "application:\n"
	       "  queues: {q: {type: ordered}}\n"
	       "  objects: {o: {queues: [q], steps: [{cpu: 250cycles}, {output: true, through: "
	       "out}]}}\n"
	       "platform:\n"
	       "  scheduler: {threshold: 1}\n"
	       "  cores: {c: {count: 4, clock: 1GHz}}\n"
	       "  units: {in: {delay: 5us, servers: 9}, out: {delay: 7us, servers: 9}}\n"
	       "run: {simulation: {duration: 1ms}}\n",
		{WEIR_SIM_STREAM, "s", "delivered_packets", 3},
		{WEIR_SIM_DROP, "s: sched_full", "packets", 6});
}

/* What is refused by a queue that is full gives its credit back. Parts are new: of five, which are worked on for long, two find room. */
static void
parts_are_new(void **state)
{
	EXPECT("traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1us, count: "
	       "2}}}\n"
	       "application:\n"
	       "  queues: {q: {type: parallel}, r: {type: parallel, capacity: 0}}\n"
	       "  objects:\n"
	       "    o: {queues: [q], steps: [{cpu: 100cycles}, {fork: r, count: 5}, {join: "
	       "true}]}\n"
	       "    p: {queues: [r], steps: [{cpu: 300cycles}]}\n"
	       "platform:\n"
	       "  scheduler: {threshold: 3}\n"
	       "  cores: {c: {count: 9, clock: 1GHz}}\n"
	       "run: {simulation: {duration: 1ms}}\n",
		{WEIR_SIM_STREAM, "s", "delivered_packets", 2},
		{WEIR_SIM_STREAM, "s", "forked_packets", 10},
		{WEIR_SIM_DROP, "s: sched_full", "packets", 6});
}

/*
 * Of three packets that a worker sends together one finds room, is sent on from the first queue to the second, and comes
 * to a slow link: it is outside then, and so is the first of those that come next.
 */
static void
nodes_send_on(void **state)
{
	static const char format[] =
		"application:\n"
		"  queues: {q: {type: %s}, r: {}}\n"
		"  nodes:\n"
		"    first: {type: sched_tx, queue: q}\n"
		"    from_q: {type: sched_rx, queues: [q]}\n"
		"    second: {type: sched_tx, queue: r}\n"
		"    from_r: {type: sched_rx, queues: [r]}\n"
		"  edges: ['uplink.classify -> first', 'from_q.q -> second', 'from_r.r -> north']\n"
		"platform:\n"
		"  scheduler: {threshold: 1}\n"
		"  ports: {uplink: {device: a}, north: {pcap_out: b, bandwidth: 1Mb/s}}\n"
		"  workers: [{receive: [uplink], groups: []}, {}]\n"
		"  cores: {c: {count: 2, clock: 1GHz}}\n"
		"  costs:\n"
		"    walk: 100cycles\n"
		"    dispatch: 100cycles\n"
		"    nodes: {ethdev_rx: {}, sched_tx: {}, sched_rx: {}, pcap_tx: {}, drop: "
		"{packet: 9cycles}}\n"
		"traffic:\n"
		"  streams:\n"
		"    s: {to: uplink, arrivals: deterministic, interval: 1ns, count: 3}\n"
		"    t: {to: uplink, arrivals: deterministic, interval: 1ns, count: 2, start: "
		"50us}\n"
		"run: {simulation: {duration: 9ms}}\n";
	static const char *const types[] = {"atomic", "parallel", "ordered"};
	char text[2048];
	unsigned int i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		snprintf(text, sizeof(text), format, types[i]);
		EXPECT(text, {WEIR_SIM_STREAM, "s", "delivered_packets", 1},
			{WEIR_SIM_STREAM, "t", "delivered_packets", 1},
			{WEIR_SIM_DROP, "s: sched_full", "packets", 2},
			{WEIR_SIM_DROP, "t: sched_full", "packets", 1},
			{WEIR_SIM_QUEUE, "r", "served_packets", 2},
			{WEIR_SIM_NODE, "drop", "cycles", 27});
	}
}

/*
 * Nothing is lost by who waits: another worker makes room, or the one that waits, which serves queues meanwhile. Its port's ring is full by then, if
 * that is short: who waits receives nothing.
 */
static void
senders_wait(void **state)
{
	static const char format[] =
		"application:\n"
		"  queues: {q: {type: %s}, r: {}}\n"
		"  nodes:\n"
		"    first: {type: sched_tx, queue: q, on_full: wait}\n"
		"    from_q: {type: sched_rx, queues: [q]}\n"
		"    second: {type: sched_tx, queue: r}\n"
		"    from_r: {type: sched_rx, queues: [r]}\n"
		"  edges: ['uplink.classify -> first', 'from_q.q -> second', 'from_r.r -> north']\n"
		"platform:\n"
		"  scheduler: {threshold: %u}\n"
		"  ports: {uplink: {device: a}, north: {pcap_out: b}}\n"
		"  workers: [%s]\n"
		"  cores: {c: {count: 2, clock: 1GHz}}\n"
		"  costs:\n"
		"    walk: 100cycles\n"
		"    dispatch: 100cycles\n"
		"    nodes: {ethdev_rx: {packet: 10cycles}, sched_tx: {packet: 10cycles}, "
		"sched_rx: {packet: 10cycles}, pcap_tx: {packet: 1000cycles}, "
		"drop: {}}\n"
		"traffic:\n"
		"  streams: {s: {to: uplink, arrivals: poisson, rate: 0.5Mpps, count: 400}}\n"
		"run: {simulation: {duration: 90ms}}\n";
	static const char *const types[] = {"atomic", "parallel", "ordered"};
	static const char *const workers[] = {"{receive: [uplink]}",
		"{receive: [uplink], groups: []}, {}", "{receive: [uplink]}, {}"};
	static const unsigned int thresholds[] = {1, 3, 64};
	char text[2048];
	unsigned int i, j, k;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		for (j = 0; j < sizeof(workers) / sizeof(workers[0]); j++)
			for (k = 0; k < sizeof(thresholds) / sizeof(thresholds[0]); k++) {
				snprintf(text, sizeof(text), format, types[i], thresholds[k],
					workers[j]);
				EXPECT(text, {WEIR_SIM_STREAM, "s", "delivered_packets", 400},
					{WEIR_SIM_STREAM, "s", "dropped_packets", 0},
					{WEIR_SIM_STREAM, "s", "held_packets", 0},
					{WEIR_SIM_QUEUE, "r", "served_packets", 400});
			}
}

/* Its core does nothing else until there is room. */
static void
who_waits_is_busy(void **state)
{
	struct given given = given_model(
		"application:\n"
		"  queues: {q: {group: g}}\n"
		"  nodes: {first: {type: sched_tx, queue: q, on_full: wait}, from: {type: "
		"sched_rx, queues: [q]}}\n"
		"  edges: ['uplink.classify -> first', 'from.q -> drop']\n"
		"platform:\n"
		"  scheduler: {threshold: 1}\n"
		"  ports: {uplink: {device: a, rx_ring: 64}}\n"
		"  workers: [{receive: [uplink]}, {groups: [g]}]\n"
		"  cores: {c: {count: 2, clock: 1GHz}}\n"
		"  costs:\n"
		"    walk: 100cycles\n"
		"    dispatch: 100cycles\n"
		"    nodes: {ethdev_rx: {}, sched_tx: {packet: 1000cycles}, sched_rx: {}, drop: "
		"{packet: 100kcycles}}\n"
		"traffic: {streams: {s: {to: uplink, arrivals: deterministic, interval: 1ns, "
		"count: 10}}}\n"
		"run: {simulation: {duration: 2ms}}\n");
	struct weir_sim_result result = given_run(&given);
	const double busy =
		given_value(&given, &result, 0, WEIR_SIM_WORKER, "worker-0", "utilisation");

	assert_true(
		given_value(&given, &result, 0, WEIR_SIM_DROP, "s: node drop", "packets") == 10);
	/* 10 us for ten packets, then 100 us of each of nine that the last one waits for, and what finding them takes. */
	assert_true(busy > (10 + 9 * 100) / 2e3 && busy < (10 + 9 * 101) / 2e3);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Without a word of it the limit is that of a program that runs, 4096, where there is one; not of queues that are no scheduler's. */
#define MANY "arrivals: deterministic, interval: 1ns, count: 5000"
#define SENDS(costs)                                                                               \
	"application:\n"                                                                           \
	"  queues: {q: {group: g}}\n"                                                              \
	"  nodes: {first: {type: sched_tx, queue: q}, from: {type: sched_rx, queues: [q]}}\n"      \
	"  edges: ['uplink.classify -> first', 'from.q -> north']\n"                               \
	"platform:\n"                                                                              \
	"  ports: {uplink: {device: a, rx_ring: 8192}, north: {pcap_out: b}}\n"                    \
	"  workers: [{receive: [uplink]}, {groups: [g]}]\n"                                        \
	"  cores: {c: {count: 2, clock: 1GHz}}\n"                                                  \
	"  costs:\n"                                                                               \
	"    walk: 100cycles\n"                                                                    \
	"    dispatch: 100cycles\n"                                                                \
	"    nodes: {ethdev_rx: {}, sched_tx: {}, sched_rx: {vector: 1e9cycles}, pcap_tx: "        \
	"{}" costs "}\n"                                                                           \
	"traffic: {streams: {s: {to: uplink, " MANY "}}}\n"                                        \
	"run: {simulation: {duration: 1ms}}\n"
#define QUEUES(platform)                                                                           \
	"application:\n"                                                                           \
	"  queues: {q: {}}\n"                                                                      \
	"  objects: {o: {queues: [q], steps: [{cpu: 1e9cycles}]}}\n"                               \
	"platform:\n"                                                                              \
	"  cores: {c: {clock: 1GHz}}\n" platform "traffic: {streams: {s: {to: q, " MANY "}}}\n"    \
	"run: {simulation: {duration: 1ms}}\n"

static void
default_limit(void **state)
{
	EXPECT(SENDS(", drop: {packet: 1cycles}"),
		{WEIR_SIM_DROP, "s: sched_full", "packets", 5000 - 4096},
		{WEIR_SIM_NODE, "drop", "packets", 5000 - 4096});
	EXPECT(SENDS(""), {WEIR_SIM_DROP, "s: sched_full", "packets", 5000 - 4096});
	EXPECT(QUEUES("  scheduler: {flows: 64}\n"),
		{WEIR_SIM_DROP, "s: sched_full", "packets", 5000 - 4096});
	EXPECT(QUEUES(""), {WEIR_SIM_STREAM, "s", "dropped_packets", 0},
		{WEIR_SIM_QUEUE, "q", "length_max", 5000 - 1});
}

/* Of the room of an event device its ports, of two workers and the machine, may have credits on loan: 96 each with event_sw. */
static void
room_of_a_device(void **state)
{
	EXPECT(SENDS(", drop: {packet: 1cycles}}\n  scheduler: {backend: 'eventdev:event_sw0'"),
		{WEIR_SIM_DROP, "s: sched_full", "packets", 5000 - (4096 - 3 * 96)});
	EXPECT(SENDS(", drop: {packet: 1cycles}}\n  scheduler: {backend: 'eventdev:event_sw0', "
		     "events: 4096, reserved: 96"),
		{WEIR_SIM_DROP, "s: sched_full", "packets", 5000 - (4096 - 4 * 96 - 96)});
	EXPECT(SENDS(", drop: {packet: 1cycles}}\n  scheduler: {backend: 'eventdev:event_sw0', "
		     "threshold: 100"),
		{WEIR_SIM_DROP, "s: sched_full", "packets", 5000 - 100});
	EXPECT(SENDS(", drop: {packet: 1cycles}}\n  scheduler: {backend: 'eventdev:event_dsw0'"),
		{WEIR_SIM_DROP, "s: sched_full", "packets", 5000 - 4096});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mmck),
		cmocka_unit_test(shared_threshold),
		cmocka_unit_test(tandem_loses_at_its_entry),
		cmocka_unit_test(units_are_outside),
		cmocka_unit_test(parts_are_new),
		cmocka_unit_test(nodes_send_on),
		cmocka_unit_test(default_limit),
		cmocka_unit_test(room_of_a_device),
		cmocka_unit_test(senders_wait),
		cmocka_unit_test(who_waits_is_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
