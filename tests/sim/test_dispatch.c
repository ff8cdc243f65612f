/* SPDX-License-Identifier: BSD-3-Clause */
/* How cores get packets, in models that can be followed by hand: all times are exact. */
#include "sim_util.h"

#define LOW   WEIR_SIM_STREAM, "low"
#define HIGH  WEIR_SIM_STREAM, "high"
#define CORES WEIR_SIM_CORES, "c"

/* A stream of each of two priorities; a core of 1 GHz unless more are asked for: a cycle is a ns. */
#define MODEL(low, high, steps, cores, dispatch)                                                   \
	"traffic:\n"                                                                               \
	"  streams:\n"                                                                             \
	"    low: {to: l, arrivals: deterministic, " low "}\n"                                     \
	"    high: {to: h, arrivals: deterministic, " high "}\n"                                   \
	"application:\n"                                                                           \
	"  queues: {l: {type: parallel, priority: 5}, h: {type: parallel, priority: 2}}\n"         \
	"  objects: {o: {queues: [l], steps: [" steps "]}, p: {queues: [h], steps: [{cpu: "        \
	"100cycles}]}}\n"                                                                          \
	"platform: {cores: {c: {clock: 1GHz" cores "}}, dispatch: {" dispatch "}}\n"               \
	"run: {simulation: {duration: 100us}}\n"

/* The low one begins at 1000, and has done 400 when the high one comes. */
static void
a_high_priority_interrupts(void **state)
{
	EXPECT(MODEL("interval: 1us, count: 1", "interval: 1400ns, count: 1", "{cpu: 1000cycles}",
		       "", ""),
		{HIGH, "latency_mean_ns", 700}, {LOW, "latency_mean_ns", 1000});
	EXPECT(MODEL("interval: 1us, count: 1", "interval: 1400ns, count: 1", "{cpu: 1000cycles}",
		       "", "preemptive: true"),
		{HIGH, "latency_mean_ns", 100}, {LOW, "latency_mean_ns", 1100},
		{LOW, "service_mean_ns", 1000}, {LOW, "wait_mean_ns", 100},
		{CORES, "busy_mean", 0.011}, {CORES, "busy_max", 1}, {CORES, "served_packets", 2},
		{WEIR_SIM_QUEUE, "l", "wait_max_ns", 0});
}

/* Again and again: at 1200, 1500, 1800, 2100; at 2400 it is done. */
static void
what_is_interrupted_goes_on_where_it_was(void **state)
{
	EXPECT(MODEL("interval: 1us, count: 1", "interval: 300ns, count: 9",
		       "{cpu: 500cycles}, {cpu: 500cycles}", "", "preemptive: true"),
		{HIGH, "latency_max_ns", 100}, {LOW, "latency_mean_ns", 1400},
		{LOW, "service_mean_ns", 1000});
}

/* Not one of its own priority; of several the lowest; and not one that waits for a unit. */
static void
who_is_interrupted(void **state)
{
	EXPECT(MODEL("interval: 1us, count: 1", "interval: 350ns, count: 5", "{cpu: 1000cycles}",
		       ", count: 2", "preemptive: true"),
		{HIGH, "latency_max_ns", 100}, {LOW, "latency_max_ns", 1000});
	EXPECT("traffic:\n"
	       "  streams:\n"
	       "    low: {to: l, arrivals: deterministic, interval: 1us, count: 1}\n"
	       "    high: {to: h, arrivals: deterministic, interval: 1400ns, count: 1}\n"
	       "application:\n"
	       "  queues: {l: {priority: 5}, h: {priority: 2}}\n"
	       "  objects:\n"
	       "    o: {queues: [l], steps: [{use: u}]}\n"
	       "    p: {queues: [h], steps: [{cpu: 100cycles}]}\n"
	       "platform:\n"
	       "  cores: {c: {clock: 1GHz}}\n"
	       "  units: {u: {delay: 1us}}\n"
	       "  dispatch: {preemptive: true}\n"
	       "run: {simulation: {duration: 100us}}\n",
		{HIGH, "latency_mean_ns", 700}, {LOW, "latency_mean_ns", 1000});
}

/* What was interrupted moves to another core as soon as one is idle, here a slower one. */
static void
what_is_interrupted_goes_on_anywhere(void **state)
{
	EXPECT("traffic:\n"
	       "  streams:\n"
	       "    low: {to: l, arrivals: deterministic, interval: 1us, count: 1}\n"
	       "    high: {to: h, arrivals: deterministic, interval: 1400ns, count: 1}\n"
	       "application:\n"
	       "  queues: {l: {priority: 5, group: all}, h: {priority: 2, group: fast}}\n"
	       "  objects: {o: {queues: [l, h], steps: [{cpu: 1000cycles}]}}\n"
	       "platform:\n"
	       "  cores: {c: {clock: 1GHz, groups: [all, fast]}, d: {clock: 500MHz, groups: "
	       "[all]}}\n"
	       "  dispatch: {preemptive: true}\n"
	       "run: {simulation: {duration: 100us}}\n",
		{HIGH, "latency_mean_ns", 1000}, {LOW, "latency_mean_ns", 400 + 1200},
		{WEIR_SIM_CORES, "d", "busy_mean", 0.012});
}

/* An atomic flow that is interrupted is not begun by another core. */
static void
an_interrupted_packet_keeps_its_flow(void **state)
{
	EXPECT("traffic:\n"
	       "  streams:\n"
	       "    low: {to: l, arrivals: deterministic, interval: 1us, count: 2}\n"
	       "    high: {to: h, arrivals: deterministic, interval: 1400ns, count: 1}\n"
	       "application:\n"
	       "  queues: {l: {priority: 5}, h: {priority: 2}}\n"
	       "  objects: {o: {queues: [l, h], steps: [{cpu: 1500cycles}]}}\n"
	       "platform: {cores: {c: {clock: 1GHz}}, dispatch: {preemptive: true}}\n"
	       "run: {simulation: {duration: 100us}}\n",
		/* 1000-1400, 2900-4000; then the second one, which came at 2000: 4000-5500 */
		{LOW, "latency_min_ns", 3000}, {LOW, "latency_max_ns", 3500});
}

/* Every decision 50 ns, then 30 ns in between: the first begins 50 ns after it came. */
static void
decisions_take_time(void **state)
{
	EXPECT(MODEL("interval: 1us, count: 3", "interval: 50us, count: 1", "{cpu: 200cycles}", "",
		       "latency: 50ns"),
		{LOW, "latency_max_ns", 250}, {LOW, "wait_mean_ns", 50},
		{CORES, "busy_mean", 3 * 0.0025 + 0.0015});
	/* Both at 1000, two cores: the second decision is 30 later. */
	EXPECT(MODEL("interval: 1us, count: 1", "interval: 1us, count: 1", "{cpu: 200cycles}",
		       ", count: 2", "latency: 50ns, interval: 30ns"),
		{LOW, "latency_mean_ns", 250}, {HIGH, "latency_mean_ns", 180});
}

/* Of 60 packets, each of which finds an idle core, those are begun whose turn comes before the end of all times. */
static void
decisions_that_never_come(void **state)
{
	EXPECT("traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1ps, count: "
	       "60}}}\n"
	       "application:\n"
	       "  queues: {q: {type: parallel}}\n"
	       "  objects: {o: {queues: [q], steps: [{cpu: 1cycles}]}}\n"
	       "platform: {cores: {c: {clock: 1GHz, count: 60}}, dispatch: {interval: 1000000s}}\n"
	       "run: {simulation: {duration: 4000000s}}\n",
		{WEIR_SIM_STREAM, "s", "delivered_packets", 4},
		{WEIR_SIM_STREAM, "s", "held_packets", 56}, {CORES, "busy_max", 60});
}

/* All come at once; low ones weigh 3, high ones 1. */
static void
weights_share_cores(void **state)
{
	EXPECT(MODEL("interval: 1ps, count: 300", "interval: 1ps, count: 300", "{cpu: 100cycles}",
		       "", "weights: [1, 1, 1, 1, 1, 3]"),
		/* The last low one is the 400th, the last high one the 600th; both came 299 ps after the first. */
		{LOW, "latency_max_ns", 39999.701}, {HIGH, "latency_max_ns", 59999.701});
}

/* 7 ns from queue to queue: h at 0, l at 7, h at 14 ... both packets come at 1000. */
static void
polling_takes_turns(void **state)
{
	EXPECT("traffic:\n"
	       "  streams:\n"
	       "    low: {to: l, arrivals: deterministic, interval: 1us, count: 1}\n"
	       "    high: {to: h, arrivals: deterministic, interval: 1us, count: 1}\n"
	       "application:\n"
	       "  queues: {l: {priority: 0}, h: {priority: 1}}\n"
	       "  objects: {o: {queues: [l, h], steps: [{cpu: 100cycles}]}}\n"
	       "platform: {cores: {c: {clock: 1GHz, polling: {switch: 7cycles, burst: 2}}}}\n"
	       "run: {simulation: {duration: 2us}}\n",
		/* At 994 it is at h, at 1001 at l, which it has until 1101; at 1108 at h. */
		{LOW, "latency_mean_ns", 101}, {HIGH, "latency_mean_ns", 208},
		{CORES, "busy_mean", 0.1}, {CORES, "served_packets", 2});
}

/* A visit that finds something takes 20 ns more, once for all that it finds: from 1001 on two packets, from 1235 on one. */
static void
polling_finds_vectors(void **state)
{
	EXPECT("traffic: {streams: {low: {to: l, arrivals: deterministic, interval: 1ns, start: "
	       "990ns, "
	       "count: 3}, high: {to: h, rate: 1pps, start: 1s}}}\n"
	       "application:\n"
	       "  queues: {l: {priority: 0}, h: {priority: 1}}\n"
	       "  objects: {o: {queues: [l, h], steps: [{cpu: 100cycles}]}}\n"
	       "platform: {cores: {c: {clock: 1GHz, polling: {switch: 7cycles, burst: 2, vector: "
	       "20cycles}}}}\n"
	       "run: {simulation: {duration: 5us}}\n",
		/* 991-1121, 992-1221, 993-1355 */
		{LOW, "latency_min_ns", 130}, {LOW, "latency_max_ns", 362},
		{LOW, "latency_mean_ns", (130 + 229 + 362) / 3.0}, {CORES, "busy_mean", 0.068});
}

/* It is on its way to its queue longer than there is time. */
static void
polling_that_takes_for_ever(void **state)
{
	EXPECT("traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1us, count: "
	       "9}}}\n"
	       "application:\n"
	       "  queues: {q: {type: parallel}}\n"
	       "  objects: {o: {queues: [q], steps: [{cpu: 1cycles}]}}\n"
	       "platform: {cores: {c: {clock: 1Hz, polling: {switch: 1000000000000cycles, vector: "
	       "1000000000000cycles}}}}\n"
	       "run: {simulation: {duration: 2000000s}}\n",
		{WEIR_SIM_STREAM, "s", "held_packets", 9},
		{WEIR_SIM_STREAM, "s", "delivered_packets", 0});
}

/* What a core sends to a queue of a higher priority does not interrupt that core, which is done. */
static void
nobody_interrupts_itself(void **state)
{
	EXPECT("traffic: {streams: {low: {to: l, arrivals: deterministic, interval: 1us, count: "
	       "3}}}\n"
	       "application:\n"
	       "  queues: {l: {priority: 5}, h: {priority: 2, discipline: lcfs, type: parallel}}\n"
	       "  objects:\n"
	       "    o: {queues: [l], to: h, steps: [{cpu: 1000cycles}]}\n"
	       "    p: {queues: [h], steps: [{cpu: 100cycles}]}\n"
	       "platform: {cores: {c: {clock: 1GHz}}, dispatch: {preemptive: true}}\n"
	       "run: {simulation: {duration: 100us}}\n",
		{LOW, "latency_min_ns", 1100}, {LOW, "latency_max_ns", 1300});
}

/* The last that comes interrupts another flow's; then those of its own that waited before it are not ready any more. */
static void
the_last_goes_before_its_flow(void **state)
{
	struct given given = given_model(
		"traffic: {streams: {s: {to: q, rate: 3Mpps, flows: 100}}}\n"
		"application:\n"
		"  queues: {q: {type: atomic, flows: 17, discipline: lcfs}}\n"
		"  objects: {o: {queues: [q], steps: [{cpu: 900cycles}, {use: u, deschedule: "
		"true}, "
		"{cpu: 100cycles}]}}\n"
		"platform: {cores: {c: {clock: 1GHz}}, units: {u: {delay: 500ns}}, dispatch: "
		"{preemptive: true}}\n"
		"run: {simulation: {duration: 1ms}}\n");
	struct weir_sim_result result = given_run(&given);

	weir_sim_result_free(&result);
	given_free(&given);
}

/* At 300 one is interrupted by one that forks at once: the part, which is more urgent than both, goes before the step after that. */
static void
what_interrupts_may_fork(void **state)
{
	EXPECT("traffic:\n"
	       "  streams:\n"
	       "    s: {to: low, arrivals: deterministic, interval: 100ns, count: 1}\n"
	       "    t: {to: high, arrivals: deterministic, interval: 300ns, count: 1}\n"
	       "application:\n"
	       "  queues: {low: {priority: 2}, high: {priority: 1}, part: {priority: 0}}\n"
	       "  objects:\n"
	       "    l: {queues: [low], steps: [{cpu: 1000cycles}]}\n"
	       "    h: {queues: [high], steps: [{fork: part}, {cpu: 100cycles}]}\n"
	       "    p: {queues: [part], steps: [{cpu: 50cycles}]}\n"
	       "platform: {cores: {c: {clock: 1GHz}}, dispatch: {preemptive: true}}\n"
	       "run: {simulation: {duration: 10us}}\n",
		{WEIR_SIM_STREAM, "s", "latency_mean_ns", 1150},
		{WEIR_SIM_STREAM, "t", "latency_mean_ns", 150},
		{WEIR_SIM_QUEUE, "part", "wait_mean_ns", 0});
}

/*
 * The core waits with the low one for the unit until 300, when the high one, which came at 200, goes before the 1000 cycles
 * that follow. Likewise of one that came while the core was given the low one.
 */
static void
what_could_not_interrupt_goes_first_then(void **state)
{
#define LATER(step, dispatch)                                                                      \
	"traffic:\n"                                                                               \
	"  streams:\n"                                                                             \
	"    low: {to: l, arrivals: deterministic, interval: 100ns, count: 1}\n"                   \
	"    high: {to: h, arrivals: deterministic, interval: 200ns, count: 1}\n"                  \
	"application:\n"                                                                           \
	"  queues: {l: {priority: 2}, h: {priority: 1}}\n"                                         \
	"  objects:\n"                                                                             \
	"    o: {queues: [l], steps: [" step "{cpu: 1000cycles}]}\n"                               \
	"    p: {queues: [h], steps: [{cpu: 100cycles}]}\n"                                        \
	"platform: {cores: {c: {clock: 1GHz}}, units: {u: {delay: 200ns}}, dispatch: "             \
	"{preemptive: true" dispatch "}}\n"                                                        \
	"run: {simulation: {duration: 10us}}\n"
	EXPECT(LATER("{use: u}, ", ""), {HIGH, "latency_mean_ns", 200},
		{LOW, "latency_mean_ns", 1300}, {LOW, "service_mean_ns", 1200},
		{CORES, "busy_mean", 0.13});
	/* Given at 300; then the high one, at 500 to 600; and the low one again, from 800. */
	EXPECT(LATER("{use: u, probability: 0}, ", ", latency: 200ns"),
		{HIGH, "latency_mean_ns", 400}, {LOW, "latency_mean_ns", 1700});
#undef LATER
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_high_priority_interrupts),
		cmocka_unit_test(what_is_interrupted_goes_on_where_it_was),
		cmocka_unit_test(who_is_interrupted),
		cmocka_unit_test(what_is_interrupted_goes_on_anywhere),
		cmocka_unit_test(an_interrupted_packet_keeps_its_flow),
		cmocka_unit_test(decisions_take_time),
		cmocka_unit_test(decisions_that_never_come),
		cmocka_unit_test(weights_share_cores),
		cmocka_unit_test(polling_takes_turns),
		cmocka_unit_test(polling_finds_vectors),
		cmocka_unit_test(polling_that_takes_for_ever),
		cmocka_unit_test(nobody_interrupts_itself),
		cmocka_unit_test(what_could_not_interrupt_goes_first_then),
		cmocka_unit_test(the_last_goes_before_its_flow),
		cmocka_unit_test(what_interrupts_may_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
