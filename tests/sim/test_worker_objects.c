/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects that workers serve: to the nanosecond where all is constant, against theory, and what is refused of them. */
#include "theory.h"

#include <stdlib.h>

/*
 * Workers that have nothing to do ask every 200 ns, from 0 on. What comes before that is taken at 200, and begun at 400. Where
 * there are two workers the first one goes before the other; with a burst of 1 each takes one packet.
 */
#define MODEL(nb, queues, objects, platform, streams, run)                                         \
	"application:\n"                                                                           \
	"  queues: {" queues "}\n"                                                                 \
	"  objects: {" objects "}\n"                                                               \
	"platform:\n"                                                                              \
	"  cores: {c: {count: " nb ", clock: 1GHz}}\n"                                             \
	"  costs: {walk: 100cycles, dispatch: 200cycles}\n"                                        \
	"  " platform "\n"                                                                         \
	"traffic: {streams: {" streams "}}\n"                                                      \
	"run: {simulation: {seed: 1, " run "}}\n"

#define ONE(queues, objects, streams)                                                              \
	MODEL("1", queues, objects, "workers: [{}]", streams, "duration: 100us")
#define TWO(queues, objects, streams)                                                              \
	MODEL("2", queues, objects, "workers: [{}, {}]\n  burst: 1", streams, "duration: 100us")

#define OBJECT "o: {queues: [q], steps: [{cpu: 1000cycles}]}"
#define STREAM_TO(queue, name, start, more)                                                        \
	name ": {to: " queue ", size: 100B, arrivals: deterministic, interval: 1ns, "              \
	     "start: " start ", " more "}"
#define STREAM(name, start, more) STREAM_TO("q", name, start, more)

/* The steps of one after the other, each of which is gone when its own are done; of a round, which is asked for once. */
static void
packets_of_a_round(void **state)
{
	EXPECT(ONE("q: {}", OBJECT, STREAM("s", "0ns", "count: 3")),
		{WEIR_SIM_STREAM, "s", "delivered_packets", 3},
		{WEIR_SIM_STREAM, "s", "latency_min_ns", 1400 - 1},
		{WEIR_SIM_STREAM, "s", "latency_max_ns", 3400 - 3},
		{WEIR_SIM_STREAM, "s", "service_mean_ns", 1000},
		{WEIR_SIM_QUEUE, "q", "wait_mean_ns", 198},
		{WEIR_SIM_WORKER, "worker-0", "utilisation", 3200 / 1e5},
		/* At 0, then the one that finds them, then from 3400 on. */
		{WEIR_SIM_WORKER, "worker-0", "walks", 2 + (100000 - 3400) / 200},
		{WEIR_SIM_WORKER, "worker-0", "empty_walks", 1 + (100000 - 3400) / 200});
}

/* Of an atomic queue another worker has nothing before all that one has of it is done; of a parallel one it has. */
static void
flows_have_one_worker(void **state)
{
	EXPECT(TWO("q: {type: parallel}", OBJECT, STREAM("s", "0ns", "count: 2")),
		{WEIR_SIM_STREAM, "s", "latency_min_ns", 1400 - 2},
		{WEIR_SIM_STREAM, "s", "latency_max_ns", 1400 - 1},
		{WEIR_SIM_WORKER, "worker-1", "utilisation", 1200 / 1e5});
	/* Who is done at 1400 asks at once, the other one at 1600. */
	EXPECT(TWO("q: {type: atomic}", OBJECT, STREAM("s", "0ns", "count: 2")),
		{WEIR_SIM_STREAM, "s", "latency_min_ns", 1400 - 1},
		{WEIR_SIM_STREAM, "s", "latency_max_ns", 2600 - 2},
		{WEIR_SIM_WORKER, "worker-0", "utilisation", 2400 / 1e5},
		{WEIR_SIM_WORKER, "worker-1", "utilisation", 0});
}

#define SLOW_FIRST                                                                                 \
	STREAM("a", "0ns", "count: 1, attributes: {n: {value: 3000}}")                             \
	", " STREAM("b", "1ns", "count: 1, attributes: {n: {value: 1000}}")

/* What an object sends on leaves an ordered queue in its turn; its worker does not wait for that. */
static void
ordered_egress(void **state)
{
#define BY_ATTRIBUTE                                                                               \
	"o: {queues: [q], steps: [{cpu: 1cycles, times: n}], to: r}, "                             \
	"p: {queues: [r], steps: [{cpu: 100cycles}]}"
	EXPECT(TWO("q: {type: ordered}, r: {type: parallel}", BY_ATTRIBUTE, SLOW_FIRST),
		{WEIR_SIM_QUEUE, "q", "latency_min_ns", 3400 - 2},
		{WEIR_SIM_QUEUE, "q", "latency_max_ns", 3400 - 1},
		/* One by who is done with the first one at 3400, the other one by who asks then, every 200 ns. */
		{WEIR_SIM_STREAM, "a", "latency_mean_ns", 3700 - 1},
		{WEIR_SIM_CORES, "worker-1", "served_packets", 2});
	EXPECT(TWO("q: {type: parallel}, r: {type: parallel}", BY_ATTRIBUTE, SLOW_FIRST),
		{WEIR_SIM_QUEUE, "q", "latency_min_ns", 1400 - 2},
		{WEIR_SIM_QUEUE, "q", "latency_max_ns", 3400 - 1},
		/* At 1400 it asks again. */
		{WEIR_SIM_STREAM, "b", "latency_mean_ns", 1700 - 2});
}

/* What is sent to the next queue waits for the next round. */
static void
next_queue(void **state)
{
	EXPECT(ONE("q: {}, r: {}",
		       "o: {queues: [q], steps: [{cpu: 1000cycles}], to: r}, "
		       "p: {queues: [r], steps: [{cpu: 500cycles, per_byte: 2cycles/B}]}",
		       STREAM("s", "0ns", "count: 2")),
		{WEIR_SIM_QUEUE, "q", "latency_max_ns", 2400 - 2},
		{WEIR_SIM_QUEUE, "r", "wait_mean_ns", 500},
		{WEIR_SIM_STREAM, "s", "latency_min_ns", 2600 + 700 - 1},
		{WEIR_SIM_STREAM, "s", "latency_max_ns", 2600 + 1400 - 2},
		{WEIR_SIM_STREAM, "s", "service_mean_ns", 1700});
}

/* In a round, too, the queue of the highest priority goes first, whatever came first. */
static void
priorities(void **state)
{
	EXPECT(ONE("q: {priority: 1}, h: {priority: 0}",
		       "o: {queues: [q, h], steps: [{cpu: 1000cycles}]}",
		       STREAM("low", "0ns", "count: 1") ", " STREAM_TO(
			       "h", "high", "1ns", "count: 1")),
		{WEIR_SIM_STREAM, "high", "latency_mean_ns", 1400 - 2},
		{WEIR_SIM_STREAM, "low", "latency_mean_ns", 2400 - 1});
}

/* Steps that take no time: a packet may be dropped, or go one of several ways, by what it is. */
static void
steps_of_no_time(void **state)
{
	EXPECT(ONE("q: {type: ordered}, r: {}",
		       "o: {queues: [q], steps: [{drop: bad, when: 'n == 1'}, {set: n, value: 4}, "
		       "{jump: out, when: 'size < 64'}, {send: r}, {label: out, output: true}]}, "
		       "p: {queues: [r], steps: [{cpu: 10cycles, times: n}]}",
		       STREAM("s", "0ns", "count: 3, attributes: {n: {value: 1}}") ", " STREAM(
			       "t", "0ns", "count: 3") ", "
						       "u: {to: q, size: 60B, arrivals: "
						       "deterministic, interval: 1ns, count: 3}"),
		{WEIR_SIM_DROP, "s: bad", "packets", 3},
		{WEIR_SIM_STREAM, "u", "latency_min_ns", 400 - 3},
		{WEIR_SIM_STREAM, "u", "latency_max_ns", 400 - 1},
		{WEIR_SIM_STREAM, "t", "latency_min_ns", 600 + 40 - 1},
		{WEIR_SIM_STREAM, "t", "latency_max_ns", 600 + 3 * 40 - 3},
		{WEIR_SIM_CORES, "worker-0", "served_packets", 12});
}

static void
full_queue(void **state)
{
	EXPECT(ONE("q: {capacity: 2}", OBJECT, STREAM("s", "0ns", "count: 5")),
		{WEIR_SIM_STREAM, "s", "delivered_packets", 2},
		{WEIR_SIM_QUEUE, "q", "dropped_packets", 3});
}

/* Two are inside, and give their credits back at the end of the round, at 2400: until then nothing new is. */
static void
credits_are_returned_at_the_end_of_a_round(void **state)
{
	EXPECT(MODEL("1", "q: {}", OBJECT, "workers: [{}]\n  scheduler: {threshold: 2}",
		       STREAM("s", "0ns", "count: 5") ", " STREAM("in", "2398ns",
			       "count: 1") ", " STREAM("after", "2400ns", "count: 1"),
		       "duration: 100us"),
		{WEIR_SIM_STREAM, "s", "delivered_packets", 2},
		{WEIR_SIM_DROP, "s: sched_full", "packets", 3},
		{WEIR_SIM_DROP, "in: sched_full", "packets", 1},
		{WEIR_SIM_STREAM, "after", "delivered_packets", 1});
	/* What is sent on keeps its own: with one all come through. */
	EXPECT(MODEL("1", "q: {type: ordered}, r: {}",
		       "o: {queues: [q], steps: [{cpu: 100cycles}], to: r}, "
		       "p: {queues: [r], steps: [{cpu: 100cycles}]}",
		       "workers: [{}]\n  scheduler: {threshold: 1}",
		       "s: {to: q, arrivals: deterministic, interval: 2us, count: 20}",
		       "duration: 100us"),
		{WEIR_SIM_STREAM, "s", "delivered_packets", 20});
}

/* Packets one by one, each with a round of its own: M/D/1, with holidays of 200 ns. */
static void
md1_of_rounds(void **state)
{
	const double service = 2000, load = 0.7;
	struct run run = run_text(MODEL("1", "q: {}",
		"o: {queues: [q], steps: [{cpu: 1800cycles}]}", "workers: [{}]\n  burst: 1",
		"s: {to: q, rate: 350kpps}", "replications: 20, warmup: 5ms, duration: 105ms"));

	expect(&run, WEIR_SIM_QUEUE, "q", "wait_mean_ns",
		load / (2 * (1 - load)) * service + 200 / 2);
	expect(&run, WEIR_SIM_WORKER, "worker-0", "utilisation", load);
	run_free(&run);
}

#define STEP(step)                                                                                 \
	ONE("q: {}", "o: {queues: [q], steps: [{" step "}, {cpu: 1cycles}]}",                      \
		"s: {to: q, rate: 1kpps}")
#define REFUSED(column, key)                                                                       \
	"m.yaml:3:" column ": '" key                                                               \
	"' is not simulated on workers, which serve queue 'q'; expected "                          \
	"'cpu', 'set', 'jump', 'send', 'drop' or 'output', or its group among those of "           \
	"platform.cores\n"

static void
other_steps_are_refused(void **state)
{
	expect_errors(STEP("fork: q, count: 2"), REFUSED("39", "fork"));
	expect_errors(STEP("switch: q"), REFUSED("47", "switch"));
	expect_errors(ONE("q: {discipline: lcfs}", OBJECT, "s: {to: q, rate: 1kpps}"),
		"m.yaml:2:28: queue 'q' has another discipline, which is not simulated where "
		"workers serve it; expected 'fcfs'\n");
	expect_errors(MODEL("1", "q: {}", OBJECT, "workers: [{}]\n  dispatch: {latency: 1ns}",
			      "s: {to: q, rate: 1kpps}", "duration: 1ms"),
		"m.yaml:8:3: workers serve queue 'q', which 'dispatch' means nothing to; expected "
		"it only where all queues are those of other cores\n");
	expect_errors(ONE("q: {}", "o: {queues: [q], receive: count}", "s: {to: q, rate: 1kpps}"),
		"m.yaml:3:13: object 'o' does not say what its work costs; expected a key "
		"'steps'\n");
	expect_errors(
		ONE("q: {group: g}, r: {}", OBJECT ", p: {queues: [r], steps: [{cpu: 1cycles}]}",
			"s: {to: q, rate: 1kpps}, t: {to: r, rate: 1kpps}"),
		"m.yaml:2:23: queue 'q' is never served: group 'g' has no cores or workers; "
		"expected a group of platform.cores or platform.workers\n");
}

/* A core cannot hold a flow of a queue that rounds take packets of: what it held was lost. */
static void
cores_do_not_switch_to_them(void **state)
{
	expect_errors(
		MODEL("2", "q: {}, w: {group: io}",
			"o: {queues: [q], steps: [{cpu: 9cycles}, {switch: w}]}, "
			"p: {queues: [w], to: q, steps: [{cpu: 9cycles}]}",
			"workers: [{groups: [io]}]", "s: {to: w, rate: 1kpps}", "duration: 1ms"),
		"m.yaml:3:63: workers serve queue 'w', whose flows no other cores can hold; "
		"expected a queue of the cores of these steps, or 'send'\n");
}

/* Cores that no worker takes serve the queues of their groups, as before. */
static void
other_cores_have_their_own(void **state)
{
	EXPECT(MODEL("2", "q: {}, w: {group: io}",
		       "o: {queues: [q], steps: [{cpu: 1000cycles}], to: w}, "
		       "p: {queues: [w], steps: [{cpu: 100cycles}]}",
		       "workers: [{groups: [io]}]", STREAM("s", "0ns", "count: 1"),
		       "duration: 100us"),
		{WEIR_SIM_QUEUE, "q", "wait_mean_ns", 0},
		/* At 1001; who asks every 200 ns. */
		{WEIR_SIM_QUEUE, "w", "wait_mean_ns", 199},
		{WEIR_SIM_STREAM, "s", "latency_mean_ns", 1200 + 300 - 1});
}

#define REST "traffic: {streams: {s: {to: q, rate: 1kpps}}}\n"

/* Why a worker has nothing to do is told, not what it could have had besides. */
static void
workers_without_work(void **state)
{
	static const char objects[] =
		"application: {queues: {q: {%s}}, objects: {o: {queues: [q], steps: [{cpu: "
		"9cycles}]}}}\n"
		"platform: {workers: [{%s}], costs: {walk: 9cycles, dispatch: 9cycles}, cores: {c: "
		"{count: %s clock: 1GHz}}}\n" REST;
	static const char platform[] =
		"platform: {cores: {c: {clock: 1GHz}}, costs: {walk: 9cycles}%s}\n";
	char text[1024];

	snprintf(text, sizeof(text), objects, "group: g", "groups: [g]", "2, groups: [g],");
	expect_errors(text,
		"m.yaml:2:22: worker-0 polls nothing, and leaves queue 'q' of its group 'g' to "
		"cores 'c', of which workers take 1; expected a 'count' of no more there, a port "
		"to receive from, or a group that only workers are in\n");
	snprintf(text, sizeof(text), objects, "", "", "2,");
	expect_errors(text,
		"m.yaml:2:22: worker-0 polls nothing, and leaves queue 'q' of its group 'default' "
		"to cores 'c', of which workers take 1; expected a 'count' of no more there, a "
		"port to receive from, or a group that only workers are in\n");
	snprintf(text, sizeof(text), platform, "");
	expect_errors(text,
		"m.yaml:1:1: nothing arrives; expected 'streams' in 'traffic'\n"
		"m.yaml:1:39: worker-0, the one of a file without 'workers', polls nothing, and "
		"serves no queue; expected a port to receive from, with 'pcap_in' or 'device', or "
		"a queue in its group\n");
	/* No others are in its group for want of workers. */
	expect_errors(
		"application: {queues: {q: {}}, objects: {o: {queues: [q], steps: [{cpu: "
		"9cycles}]}}}\n"
		"platform: {workers: [{cores: d}], costs: {walk: 9cycles}, cores: {c: {clock: "
		"1GHz}, d: {clock: 1GHz}}}\n" REST,
		"m.yaml:2:22: worker-0 polls nothing, and leaves queue 'q' of its group 'default' "
		"to cores 'c', of which workers take 0; expected a port to receive from, or a "
		"group that only workers are in\n");
	/* What it has is another one's: that is all. */
	snprintf(text, sizeof(text),
		"platform: {cores: {c: {count: 2, clock: 1GHz}}, costs: {walk: 9cycles, nodes: "
		"{ethdev_rx: {}, classify: {next: {drop: 1}}, drop: {}}}%s}\n"
		"traffic: {streams: {s: {to: p, rate: 1kpps}}}\n",
		", ports: {p: {device: a}}, workers: [{receive: [p]}, {receive: [p]}]");
	expect_errors(text,
		"m.yaml:1:198: queue 0 of port 'p' is polled already; expected one worker for each "
		"queue\n");
}

/* Without costs there are no workers. */
static void
workers_without_costs(void **state)
{
	expect_errors("application: {queues: {q: {group: g}}, objects: {o: {queues: [q], steps: "
		      "[{cpu: 9cycles}]}}}\n"
		      "platform: {workers: [{groups: [g]}], cores: {c: {clock: 1GHz}}}\n" REST,
		"m.yaml:1:35: queue 'q' is never served: group 'g' has workers, which are not "
		"simulated without costs; expected 'costs' in 'platform', or a group of "
		"platform.cores\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_of_a_round),
		cmocka_unit_test(flows_have_one_worker),
		cmocka_unit_test(ordered_egress),
		cmocka_unit_test(next_queue),
		cmocka_unit_test(priorities),
		cmocka_unit_test(steps_of_no_time),
		cmocka_unit_test(full_queue),
		cmocka_unit_test(credits_are_returned_at_the_end_of_a_round),
		cmocka_unit_test(md1_of_rounds),
		cmocka_unit_test(other_steps_are_refused),
		cmocka_unit_test(cores_do_not_switch_to_them),
		cmocka_unit_test(other_cores_have_their_own),
		cmocka_unit_test(workers_without_work),
		cmocka_unit_test(workers_without_costs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
