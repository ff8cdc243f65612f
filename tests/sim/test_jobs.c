/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers that serve queues of events, and the jobs of a graph: to the nanosecond where all is constant. */
#include "theory.h"

/*
 * One worker receives, another one works. A packet that comes at 1000 ns is with the jobs at 1195: looks at 1100, 70 to
 * receive, 25 to begin a job. Who works asks every 200 ns.
 */
#define JOBS(job, queue, workers, stream, run) JOBS_COST("", job, queue, workers, stream, run)
#define JOBS_COST(cost, job, queue, workers, stream, run)                                          \
	"application:\n"                                                                           \
	"  queues: {done: {type: atomic" queue "}}\n"                                              \
	"  nodes:\n"                                                                               \
	"    work: {type: job, queue: done, " job "}\n"                                            \
	"    back: {type: sched_rx, queues: [done]}\n"                                             \
	"  edges: ['uplink.classify -> work', 'back.done -> north']\n"                             \
	"platform:\n"                                                                              \
	"  ports: {uplink: {device: a}, north: {pcap_out: b}}\n"                                   \
	"  workers: [" workers "]\n"                                                               \
	"  cores: {c: {count: 2, clock: 1GHz}}\n"                                                  \
	"  costs:\n"                                                                               \
	"    walk: 100cycles\n"                                                                    \
	"    poll: 10cycles\n"                                                                     \
	"    dispatch: 200cycles\n"                                                                \
	"    switch: 300cycles\n"                                                                  \
	"    nodes:\n"                                                                             \
	"      ethdev_rx: {vector: 50cycles, packet: 10cycles}\n"                                  \
	"      job: {vector: 20cycles, packet: 5cycles" cost "}\n"                                 \
	"      sched_rx: {vector: 7cycles, packet: 3cycles}\n"                                     \
	"      pcap_tx: {vector: 30cycles, packet: 5cycles}\n"                                     \
	"      drop: {}\n"                                                                         \
	"traffic: {streams: {s: {to: uplink, size: 100B, " stream "}}}\n"                          \
	"run: {simulation: {seed: 1, " run "}}\n"

#define TWO "{receive: [uplink], groups: []}, {}"

/* 60 us in slices of 25, each of which is asked for and switched to: 1200, 26700, 52200 and done at 62700. */
static void
job_in_slices(void **state)
{
	EXPECT(JOBS("work: compute, time: 60us, slice: 25us", "", TWO,
		       "arrivals: deterministic, interval: 1us, count: 1", "duration: 100us"),
		{WEIR_SIM_JOB, "work", "slices", 3}, {WEIR_SIM_JOB, "work", "packets", 1},
		{WEIR_SIM_QUEUE, "work", "wait_mean_ns", 5},
		{WEIR_SIM_QUEUE, "work", "latency_mean_ns", 62700 - 1195},
		/* Asked for again, brought in, transmitted. */
		{WEIR_SIM_STREAM, "s", "latency_mean_ns", 62700 + 200 + 10 + 35 - 1000},
		{WEIR_SIM_STREAM, "s", "service_mean_ns", 70 + 25 + 60000 + 210 + 35},
		{WEIR_SIM_WORKER, "worker-1", "utilisation", (62700 + 345 - 1200) / 1e5},
		{WEIR_SIM_WORKER, "worker-1", "empty_walks", 6 + (100000 - 63045) / 200},
		/* Three slices and a vector. */
		{WEIR_SIM_WORKER, "worker-1", "walks", 6 + (100000 - 63045) / 200 + 4});
}

/* Two packets of a flow that come together share a slice; they are brought back one by one, as each event may be a slice. */
static void
jobs_of_a_flow(void **state)
{
	EXPECT(JOBS("work: compute, time: 10us, slice: 25us", "", TWO,
		       "arrivals: deterministic, interval: 1ns, count: 2", "duration: 100us"),
		{WEIR_SIM_JOB, "work", "slices", 1}, {WEIR_SIM_JOB, "work", "packets", 2},
		{WEIR_SIM_JOB, "work", "slices_per_packet", 0.5},
		/* With the jobs at 110 + 80 + 30 = 220, asked for at 400. */
		{WEIR_SIM_QUEUE, "work", "wait_max_ns", 400 + 500 + 10000 - 220},
		{WEIR_SIM_STREAM, "s", "latency_min_ns", 400 + 500 + 20000 + 200 + 10 + 35 - 1},
		{WEIR_SIM_NODE, "sched_rx-back", "vectors", 2});
}

/* Of a hundred packets of a flow four have room. */
static void
full_jobs(void **state)
{
	EXPECT(JOBS("work: compute, time: 10us, packets: 4", "", TWO,
		       "arrivals: deterministic, interval: 1ns, count: 100", "duration: 1ms"),
		{WEIR_SIM_DROP, "s: jobs_full of work", "packets", 96},
		{WEIR_SIM_STREAM, "s", "delivered_packets", 4});
}

/* A worker that has ports besides looks at them after each slice, where a round is of one. */
static void
jobs_beside_ports(void **state)
{
	struct run run = run_text(JOBS("work: compute, time: 500us, slice: 20us", "",
		"{receive: [uplink]}]\n  burst: 1 #", "rate: 1.5kpps, flows: 1000",
		"replications: 5, duration: 200ms"));
	unsigned int i;

	for (i = 0; i < 5; i++) {
		const double longest_ns = given_value(&run.given, &run.result, i, WEIR_SIM_RING,
			"uplink.0.rx_ring", "wait_max_ns");

		assert_true(longest_ns > 15000 && longest_ns < 20000 + 500 + 100 + 10 + 300);
		assert_true(given_value(&run.given, &run.result, i, WEIR_SIM_JOB, "work",
				    "slices_per_packet") > 24.5);
	}
	run_free(&run);
}

/* Where a slice is long enough jobs of many flows are served as they come: M/D/1, with holidays of 200 ns. */
static void
md1_of_jobs(void **state)
{
	const double service = 40500, load = 0.0175 * service / 1000;
	struct run run =
		run_text(JOBS("work: compute, time: 40us, slice: 50us, flows: 8192", ", group: io",
			"{receive: [uplink], groups: [io]}, {}", "rate: 17.5kpps, flows: 100000000",
			"replications: 20, warmup: 20ms, duration: 520ms"));

	expect(&run, WEIR_SIM_QUEUE, "work", "wait_mean_ns",
		load / (2 * (1 - load)) * service + 200 / 2);
	expect(&run, WEIR_SIM_WORKER, "worker-1", "utilisation", load);
	expect(&run, WEIR_SIM_JOB, "work", "slices_per_packet", 1);
	run_free(&run);
}

/*
 * Of a job that waits each packet takes two slices, of no time, with what it takes to switch to them. The next one of its flow
 * begins in the second one.
 */
static void
jobs_that_wait(void **state)
{
#define WAIT(flows, nb)                                                                            \
	JOBS("time: 50us, work: wait", "", TWO,                                                    \
		"arrivals: deterministic, interval: 1ns, count: " nb ", flows: " flows,            \
		"duration: 1ms")
	EXPECT(WAIT("1", "1"), {WEIR_SIM_JOB, "work", "slices", 2},
		{WEIR_SIM_JOB, "work", "packets", 1},
		{WEIR_SIM_STREAM, "s", "service_mean_ns", 70 + 25 + 50000 + 210 + 35});
	EXPECT(WAIT("1", "2"), {WEIR_SIM_JOB, "work", "slices", 3},
		{WEIR_SIM_STREAM, "s", "delivered_packets", 2},
		/*
		 * Asked for at 400, the first one waits from 900 to 50900, is asked for at 51100 and done at 51600, and transmitted in
		 * a walk that ends at 51945. The second one waits from 51600 to 101600, is asked for at 101745, and done 500 later.
		 */
		{WEIR_SIM_STREAM, "s", "latency_max_ns", 102245 + 200 + 10 + 35 - 2});
#undef WAIT
}

/* Of a plug-in the cost is told: 200 cycles and 1 a byte, of a core whose cycle is a ns. */
static void
jobs_of_plugins(void **state)
{
	EXPECT(JOBS_COST(", work: 200cycles, work_per_byte: 1cycles/B, wait: 5us",
		       "work: 'nowhere.so:work'", "", TWO,
		       "arrivals: deterministic, interval: 1us, count: 1", "duration: 100us"),
		{WEIR_SIM_JOB, "work", "slices", 2},
		{WEIR_SIM_STREAM, "s", "service_mean_ns", 70 + 25 + (200 + 100) + 5000 + 210 + 35});
}

/* Two workers bring in packets of an ordered queue, one at a time; the one that takes longer came first. */
#define ORDERED(type, to)                                                                          \
	"application:\n"                                                                           \
	"  queues: {q: {type: " type "}, r: {type: atomic, group: last}}\n"                        \
	"  nodes:\n"                                                                               \
	"    to_q: {type: sched_tx, queue: q}\n"                                                   \
	"    to_r: {type: sched_tx, queue: r}\n"                                                   \
	"    from_q: {type: sched_rx, queues: [q]}\n"                                              \
	"    from_r: {type: sched_rx, queues: [r]}\n"                                              \
	"    split: {type: classify}\n"                                                            \
	"  edges: ['uplink.classify -> to_q', 'from_q.q -> split', 'split.ip4 -> " to "', "        \
	"'split.ip6 -> to_r', 'from_r.r -> north']\n"                                              \
	"platform:\n"                                                                              \
	"  ports: {uplink: {device: a}, north: {device: b}}\n"                                     \
	"  burst: 1\n"                                                                             \
	"  workers: [{receive: [uplink], groups: []}, {}, {}, {groups: [last]}]\n"                 \
	"  cores: {c: {count: 4, clock: 1GHz}}\n"                                                  \
	"  costs:\n"                                                                               \
	"    walk: 10cycles\n"                                                                     \
	"    dispatch: 10cycles\n"                                                                 \
	"    nodes:\n"                                                                             \
	"      ethdev_rx: {}\n"                                                                    \
	"      sched_tx: {}\n"                                                                     \
	"      sched_rx: {per_byte: 1cycles/B}\n"                                                  \
	"      ethdev_tx: {}\n"                                                                    \
	"      classify: {next: {ip4: 0.99, ip6: 0.01}}\n"                                         \
	"      drop: {}\n"                                                                         \
	"traffic: {streams: {s: {to: uplink, sizes: uniform, size: 64B, size_max: 1500B, rate: "   \
	"1.5Mpps, arrivals: poisson}}}\n"                                                          \
	"run: {simulation: {seed: 1, duration: 2ms}}\n"

static double
reordered(const char *text)
{
	struct run run = run_text(text);
	const double nb =
		given_value(&run.given, &run.result, 0, WEIR_SIM_STREAM, "s", "reordered_packets");

	assert_true(given_value(&run.given, &run.result, 0, WEIR_SIM_STREAM, "s",
			    "delivered_packets") > 1000);
	run_free(&run);
	return nb;
}

/* What is sent on is in order again, what is sent to a port is not. */
static void
ordered_queues_of_workers(void **state)
{
	assert_true(reordered(ORDERED("parallel", "to_r")) > 100);
	assert_true(reordered(ORDERED("ordered", "to_r")) == 0);
	assert_true(reordered(ORDERED("ordered", "north")) > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(job_in_slices),
		cmocka_unit_test(jobs_of_a_flow),
		cmocka_unit_test(full_jobs),
		cmocka_unit_test(jobs_beside_ports),
		cmocka_unit_test(md1_of_jobs),
		cmocka_unit_test(jobs_that_wait),
		cmocka_unit_test(jobs_of_plugins),
		cmocka_unit_test(ordered_queues_of_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
