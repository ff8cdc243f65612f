/* SPDX-License-Identifier: BSD-3-Clause */
/* Small models whose every packet can be followed by hand: all times are exact. */
#include "sim_util.h"

#include <errno.h>

#define STREAM WEIR_SIM_STREAM, "s"
#define QUEUE  WEIR_SIM_QUEUE, "q"
#define CORES  WEIR_SIM_CORES, "c"

/* One stream, one queue, one object, cores of 1 GHz: a cycle is a ns. */
#define MODEL(stream, queue, step, cores, simulation)                                              \
	"traffic: {streams: {s: {to: q, arrivals: deterministic, " stream "}}}\n"                  \
	"application:\n"                                                                           \
	"  queues: {q: {" queue "}}\n"                                                             \
	"  objects: {o: {queues: [q], steps: [{" step "}]}}\n"                                     \
	"platform: {cores: {c: {clock: 1GHz" cores "}}}\n"                                         \
	"run: {simulation: {" simulation "}}\n"

/* Every 100 ns one that takes 60: nobody waits. They come at 100 ... 1000; the last one is still worked on. */
static void
nobody_waits(void **state)
{
	EXPECT(MODEL("interval: 100ns", "type: parallel", "cpu: 60cycles", "", "duration: 1us"),
		{STREAM, "arrived_packets", 10}, {STREAM, "delivered_packets", 9},
		{STREAM, "held_packets", 1}, {STREAM, "latency_mean_ns", 60},
		{STREAM, "latency_sd_ns", 0}, {STREAM, "wait_mean_ns", 0},
		{STREAM, "service_mean_ns", 60}, {QUEUE, "length_max", 0},
		{CORES, "utilisation", 0.54}, {CORES, "busy_max", 1}, {STREAM, "inside_mean", 0.54},
		{STREAM, "offered_pps", 1e7}, {STREAM, "delivered_pps", 9e6},
		{STREAM, "delivered_bps", 9e6 * 64 * 8});
}

/* Every 100 ns one that takes 150: number n waits 50 n. */
static void
a_queue_grows(void **state)
{
	EXPECT(MODEL("interval: 100ns, count: 4", "type: parallel", "cpu: 150cycles", "",
		       "duration: 1us"),
		{STREAM, "delivered_packets", 4}, {STREAM, "wait_mean_ns", 75},
		{STREAM, "latency_max_ns", 300}, {STREAM, "latency_min_ns", 150},
		{QUEUE, "wait_max_ns", 150}, {QUEUE, "length_mean", 0.3}, {QUEUE, "length_max", 1},
		{CORES, "busy_mean", 0.6}, {CORES, "served_packets", 4});
}

/* One is worked on, one may wait. Completions come before arrivals of the same time. */
static void
what_finds_no_room_is_dropped(void **state)
{
	EXPECT(MODEL("interval: 100ns, count: 9", "type: parallel, capacity: 1", "cpu: 300cycles",
		       "", "duration: 10us"),
		{STREAM, "arrived_packets", 9}, {STREAM, "dropped_packets", 5},
		{STREAM, "delivered_packets", 4}, {STREAM, "loss", 5.0 / 9},
		{QUEUE, "dropped_packets", 5}, {QUEUE, "loss", 5.0 / 9}, {QUEUE, "length_max", 1});
}

static void
costs_per_byte_and_of_several_steps(void **state)
{
	EXPECT(MODEL("interval: 1us, size: 500B, count: 1", "type: parallel",
		       "cpu: 100cycles, per_byte: 0.6cycles/B}, {cpu: 50cycles", "",
		       "duration: 3us"),
		{STREAM, "service_mean_ns", 450}, {STREAM, "latency_mean_ns", 450});
}

/* Two cores: those of a parallel queue work side by side, those of an atomic one after the other. */
static void
atomic_is_one_at_a_time(void **state)
{
	EXPECT(MODEL("interval: 100ns, count: 4", "type: parallel", "cpu: 200cycles", ", count: 2",
		       "duration: 1us"),
		{STREAM, "wait_mean_ns", 0}, {CORES, "busy_max", 2}, {CORES, "utilisation", 0.4});
	EXPECT(MODEL("interval: 100ns, count: 4", "type: atomic", "cpu: 200cycles", ", count: 2",
		       "duration: 1us"),
		{STREAM, "wait_mean_ns", 150}, {CORES, "busy_max", 1}, {CORES, "utilisation", 0.4});
}

/* Of many flows: never more cores busy than flows, and they are used. */
static void
atomic_flows_work_side_by_side(void **state)
{
	EXPECT(MODEL("interval: 100ns, count: 1000, flows: 64", "type: atomic, flows: 2",
		       "cpu: 1000cycles", ", count: 8", "duration: 1ms"),
		{STREAM, "delivered_packets", 1000}, {CORES, "busy_max", 2});
}

/* A fast core overtakes a slow one; of an ordered queue packets leave in order nevertheless. */
#define TWO_KINDS(type)                                                                            \
	"traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 10ns, count: 2}}}\n"    \
	"application:\n"                                                                           \
	"  queues: {q: {type: " type "}}\n"                                                        \
	"  objects: {o: {queues: [q], steps: [{cpu: 100cycles}]}}\n"                               \
	"platform: {cores: {c: {clock: 100MHz}, fast: {clock: 1GHz}}}\n"                           \
	"run: {simulation: {duration: 2us}}\n"

static void
ordered_waits_for_those_before(void **state)
{
	EXPECT(TWO_KINDS("parallel"), {STREAM, "latency_min_ns", 100},
		{STREAM, "latency_max_ns", 1000}, {STREAM, "wait_mean_ns", 0});
	EXPECT(TWO_KINDS("ordered"), {STREAM, "latency_min_ns", 990},
		{STREAM, "latency_max_ns", 1000}, {STREAM, "wait_mean_ns", 445},
		{WEIR_SIM_CORES, "fast", "busy_mean", 0.05});
}

/* While the first one is worked on, one of each priority comes, the urgent one last. */
static void
higher_priorities_go_first(void **state)
{
	EXPECT("traffic:\n"
	       "  streams:\n"
	       "    first: {to: low, arrivals: deterministic, interval: 10ns, count: 1}\n"
	       "    s: {to: low, arrivals: deterministic, interval: 20ns, count: 1}\n"
	       "    urgent: {to: high, arrivals: deterministic, interval: 30ns, count: 1}\n"
	       "application:\n"
	       "  queues: {low: {type: parallel, priority: 3}, high: {type: parallel, priority: "
	       "1}}\n"
	       "  objects: {o: {queues: [low, high], steps: [{cpu: 100cycles}]}}\n"
	       "platform: {cores: {c: {clock: 1GHz}}}\n"
	       "run: {simulation: {duration: 1us}}\n",
		{WEIR_SIM_STREAM, "first", "latency_mean_ns", 100},
		{WEIR_SIM_STREAM, "urgent", "latency_mean_ns", 180},
		{STREAM, "latency_mean_ns", 290});
}

/* Of equal priority the one that waits longest, whatever stands first in the file. */
static void
equal_priorities_in_order_of_arrival(void **state)
{
	EXPECT("traffic:\n"
	       "  streams:\n"
	       "    first: {to: a, arrivals: deterministic, interval: 10ns, count: 1}\n"
	       "    s: {to: a, arrivals: deterministic, interval: 30ns, count: 1}\n"
	       "    other: {to: b, arrivals: deterministic, interval: 20ns, count: 1}\n"
	       "application:\n"
	       "  queues: {a: {type: parallel}, b: {type: parallel}}\n"
	       "  objects: {o: {queues: [a, b], steps: [{cpu: 100cycles}]}}\n"
	       "platform: {cores: {c: {clock: 1GHz}}}\n"
	       "run: {simulation: {duration: 1us}}\n",
		{WEIR_SIM_STREAM, "other", "latency_mean_ns", 190},
		{STREAM, "latency_mean_ns", 280});
}

/* Cores serve the queues of their groups only. */
static void
groups_keep_apart(void **state)
{
	EXPECT("traffic:\n"
	       "  streams:\n"
	       "    s: {to: q, arrivals: deterministic, interval: 100ns, count: 3}\n"
	       "application:\n"
	       "  queues: {q: {type: parallel, group: in}, r: {type: parallel, group: out}}\n"
	       "  objects:\n"
	       "    first: {queues: [q], steps: [{cpu: 150cycles}], to: r}\n"
	       "    second: {queues: [r], steps: [{cpu: 10cycles}]}\n"
	       "platform:\n"
	       "  cores:\n"
	       "    c: {clock: 1GHz, groups: [in]}\n"
	       "    d: {clock: 1GHz, groups: [out]}\n"
	       "run: {simulation: {duration: 1us}}\n",
		{CORES, "served_packets", 3}, {WEIR_SIM_CORES, "d", "served_packets", 3},
		{STREAM, "latency_max_ns", 260}, {CORES, "busy_max", 1});
}

/* 333333.33 ps each: what is cut off adds up. */
static void
rates_are_right_in_the_long_run(void **state)
{
	EXPECT(MODEL("rate: 3Mpps", "type: parallel", "cpu: 1cycles", "", "duration: 1.0000001s"),
		{STREAM, "arrived_packets", 3000000});
}

/* From 200 ns on, each 100, none at or after 600. */
static void
streams_start_and_stop(void **state)
{
	EXPECT(MODEL("interval: 100ns, start: 200ns, stop: 600ns", "type: parallel", "cpu: 1cycles",
		       "", "duration: 1us"),
		{STREAM, "arrived_packets", 3});
}

/* What came before the warm-up's end is inside, but has not arrived; one that comes just then has. */
static void
the_warm_up_is_left_out(void **state)
{
	EXPECT(MODEL("interval: 100ns", "type: parallel", "cpu: 150cycles", "",
		       "warmup: 500ns, duration: 1us"),
		{STREAM, "arrived_packets", 6}, {STREAM, "delivered_packets", 4},
		{CORES, "utilisation", 1}, {QUEUE, "length_max", 3});
}

static void
an_end_by_packets(void **state)
{
	struct given given = given_model(MODEL("interval: 100ns", "type: parallel", "cpu: 10cycles",
		"", "packets: 7, warmup: 1us, duration: 1s"));
	struct weir_sim_result result = given_run(&given);

	assert_true(given_value(&given, &result, 0, STREAM, "delivered_packets") == 7);
	assert_int_equal(result.replications[0].end_ps, 1610000);
	weir_sim_result_free(&result);
	given_free(&given);
}

static void
wrong_parameters(void **state)
{
	struct given given =
		given_model(MODEL("interval: 100ns", "type: parallel", "cpu: 10cycles", "", ""));
	const struct weir_sim_param good = given.param;
	struct weir_sim_result result;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		struct weir_sim_param param = good;

		if (i == 0)
			param.nb_replications = 0;
		else if (i == 1)
			param.warmup_ps = param.duration_ps;
		else if (i == 2)
			param.duration_ps = UINT64_MAX;
		else if (i == 3)
			param.confidence = 1;
		else
			param.confidence = NAN;
		assert_int_equal(weir_sim_run(given.model, &param, &result), -EINVAL);
		weir_sim_result_free(&result);
	}
	given_free(&given);
}

/* What takes longer than a replication can does not end in it. */
static void
very_long_times(void **state)
{
	/* 4 of 2.5e6 s, of which none is done before 4e6 s but the first. */
	EXPECT("traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1us, count: "
	       "4}}}\n"
	       "application:\n"
	       "  queues: {q: {type: parallel}}\n"
	       "  objects: {o: {queues: [q], steps: [{cpu: 2500000cycles}]}}\n"
	       "platform: {cores: {c: {clock: 1Hz}}}\n"
	       "run: {simulation: {duration: 4000000s}}\n",
		{WEIR_SIM_STREAM, "s", "delivered_packets", 1});
	EXPECT("traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1us, count: "
	       "4}}}\n"
	       "application:\n"
	       "  queues: {q: {type: parallel}}\n"
	       "  objects: {o: {queues: [q], steps: [{cpu: 1000000Mcycles}]}}\n"
	       "platform: {cores: {c: {clock: 1Hz}}}\n"
	       "run: {simulation: {duration: 4000000s}}\n",
		{WEIR_SIM_STREAM, "s", "delivered_packets", 0});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_waits),
		cmocka_unit_test(a_queue_grows),
		cmocka_unit_test(what_finds_no_room_is_dropped),
		cmocka_unit_test(costs_per_byte_and_of_several_steps),
		cmocka_unit_test(atomic_is_one_at_a_time),
		cmocka_unit_test(atomic_flows_work_side_by_side),
		cmocka_unit_test(ordered_waits_for_those_before),
		cmocka_unit_test(higher_priorities_go_first),
		cmocka_unit_test(equal_priorities_in_order_of_arrival),
		cmocka_unit_test(groups_keep_apart),
		cmocka_unit_test(rates_are_right_in_the_long_run),
		cmocka_unit_test(streams_start_and_stop),
		cmocka_unit_test(the_warm_up_is_left_out),
		cmocka_unit_test(an_end_by_packets),
		cmocka_unit_test(wrong_parameters),
		cmocka_unit_test(very_long_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
