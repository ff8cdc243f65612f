/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs at the scheduler's limit: they have events only as far as it takes them, lose nothing, and try again to send what it refuses. */
#include "theory.h"

/*
 * One worker receives, another one works, and asks every 200 ns. Streams are of a flow each. To begin with a job takes 200 ns to ask, and 300 to switch
 * to it; a packet that is brought back and transmitted another 245.
 */
#define JOBS(scheduler, job, streams)                                                              \
	"application:\n"                                                                           \
	"  queues: {done: {type: atomic}}\n"                                                       \
	"  nodes:\n"                                                                               \
	"    work: {type: job, queue: done, " job "}\n"                                            \
	"    back: {type: sched_rx, queues: [done]}\n"                                             \
	"  edges: ['uplink.classify -> work', 'back.done -> north']\n"                             \
	"platform:\n"                                                                              \
	"  scheduler: {" scheduler "}\n"                                                           \
	"  ports: {uplink: {device: a}, north: {pcap_out: b}}\n"                                   \
	"  workers: [{receive: [uplink], groups: []}, {}]\n"                                       \
	"  cores: {c: {count: 2, clock: 1GHz}}\n"                                                  \
	"  costs:\n"                                                                               \
	"    walk: 100cycles\n"                                                                    \
	"    poll: 10cycles\n"                                                                     \
	"    dispatch: 200cycles\n"                                                                \
	"    switch: 300cycles\n"                                                                  \
	"    nodes:\n"                                                                             \
	"      ethdev_rx: {vector: 50cycles, packet: 10cycles}\n"                                  \
	"      job: {vector: 20cycles, packet: 5cycles}\n"                                         \
	"      sched_rx: {vector: 7cycles, packet: 3cycles}\n"                                     \
	"      pcap_tx: {vector: 30cycles, packet: 5cycles}\n"                                     \
	"      drop: {}\n"                                                                         \
	"traffic: {streams: {" streams "}}\n"                                                      \
	"run: {simulation: {seed: 1, duration: 200us}}\n"

#define STREAM(name, start, more)                                                                  \
	name ": {to: uplink, arrivals: deterministic, interval: 1ns, start: " start ", " more "}"

/*
 * Of three packets of a flow the first one has the other credit, beside the job's, when it is done at 10900. The second one goes by the job's, at
 * 20900; so the job has no event when its slice is over at 25900, and is run without one, for 5400 ns. The third packet is refused at 31400, and the
 * job sleeps for 20 us, while the others are brought back.
 */
static void
refused_packet_is_sent_later(void **state)
{
	EXPECT(JOBS("threshold: 2", "work: compute, time: 10us", STREAM("s", "0ns", "count: 3")),
		{WEIR_SIM_JOB, "work", "slices", 3}, {WEIR_SIM_JOB, "work", "packets", 3},
		/* One by one, as each event may be a slice. */
		{WEIR_SIM_STREAM, "s", "latency_min_ns", 31400 + 45 - 1},
		/* The second one was brought at 31790, after which it asks from 31890 on; found at 51490. */
		{WEIR_SIM_STREAM, "s", "latency_max_ns", 51490 + 500 + 245 - 3});
}

/* Three jobs, and two credits: the third one is run first, as it has no event, and sends when others have given theirs back. */
static void
job_without_event_runs_at_once(void **state)
{
	EXPECT(JOBS("threshold: 2", "work: compute, time: 10us",
		       STREAM("a", "0ns", "count: 1, flows: 9999999") ", " STREAM(
			       "b", "1ns", "count: 1, flows: 9999999") ", " STREAM("c", "2ns",
			       "count: 1, flows: 9999999")),
		{WEIR_SIM_JOB, "work", "slices", 4}, {WEIR_SIM_JOB, "work", "packets", 3},
		/* Of the others, which came together, this one's lane is first: run at 11200, sent by its event's credit at 21200. */
		{WEIR_SIM_STREAM, "b", "latency_mean_ns", 21200 + 245 - 2},
		/* After the walk with that one, in a round of its own: run at 22045, and sent so, too. */
		{WEIR_SIM_STREAM, "a", "latency_mean_ns", 32045 + 245 - 1},
		/* Run at 900, refused at 10900, woken at 30900 with an event, and run after the walk with the last one, at 32390. */
		{WEIR_SIM_STREAM, "c", "latency_mean_ns", 32390 + 500 + 245 - 3});
}

/*
 * The job's own event has the only credit, by which the first packet goes at 10900; the second one is refused at 20900. The job is woken at 40900, and
 * found at 41045: that goes by its event's credit, and the third one, refused at 51545, when it is found again, at 71690.
 */
static void
one_credit_is_enough(void **state)
{
	EXPECT(JOBS("threshold: 1", "work: compute, time: 10us", STREAM("s", "0ns", "count: 3")),
		{WEIR_SIM_STREAM, "s", "delivered_packets", 3},
		{WEIR_SIM_STREAM, "s", "held_packets", 0}, {WEIR_SIM_JOB, "work", "slices", 3},
		{WEIR_SIM_STREAM, "s", "latency_min_ns", 20900 + 245 - 1},
		{WEIR_SIM_STREAM, "s", "latency_max_ns", 71690 + 500 + 245 - 3});
}

/* Jobs that wait have no credits: more of them do than there are. */
static void
waiting_jobs_have_no_credits(void **state)
{
	EXPECT(JOBS("threshold: 3", "work: wait, time: 50us, flows: 4096",
		       STREAM("s", "0ns", "count: 20, flows: 9999999")),
		{WEIR_SIM_STREAM, "s", "delivered_packets", 20},
		{WEIR_SIM_STREAM, "s", "held_packets", 0});
}

/*
 * Before its own job in the backlog there are many of a group that it does not serve, which it passes over, though it finds no room: for
 * what it sends, too, it waits meanwhile.
 */
static void
jobs_of_others_are_passed_over(void **state)
{
	EXPECT("application:\n"
	       "  queues: {q: {}, done: {}}\n"
	       "  nodes:\n"
	       "    others: {type: job, queue: done, work: wait, time: 1s, flows: 40000, "
	       "packets: 40000, group: y}\n"
	       "    own: {type: job, queue: done, work: compute, time: 1us}\n"
	       "    first: {type: sched_tx, queue: q, on_full: wait}\n"
	       "    back: {type: sched_rx, queues: [q, done]}\n"
	       "  edges: ['a.classify -> others', 'b.classify -> own', 'c.classify -> first', "
	       "'back.q -> north', 'back.done -> north']\n"
	       "platform:\n"
	       "  scheduler: {threshold: 3}\n"
	       "  ports: {a: {device: a, rx_ring: 32768}, b: {device: b}, c: {device: c}, north: "
	       "{pcap_out: b}}\n"
	       "  workers: [{receive: [a, b, c]}, {groups: [y]}]\n"
	       "  cores: {c: {count: 2, clock: 1GHz}}\n"
	       "  costs:\n"
	       "    walk: 100cycles\n"
	       "    dispatch: 100cycles\n"
	       "    nodes: {ethdev_rx: {}, sched_tx: {}, sched_rx: {}, job: {}, pcap_tx: {packet: "
	       "100cycles}, drop: {}}\n"
	       "traffic:\n"
	       "  streams:\n"
	       "    s: {to: a, arrivals: deterministic, interval: 1ns, count: 30000, flows: "
	       "999983}\n"
	       "    t: {to: b, arrivals: deterministic, interval: 1us, start: 3us, count: 50}\n"
	       "    u: {to: c, arrivals: deterministic, interval: 2us, start: 5us, count: 50}\n"
	       "run: {simulation: {seed: 1, duration: 20ms}}\n",
		{WEIR_SIM_STREAM, "s", "held_packets", 30000},
		{WEIR_SIM_STREAM, "t", "delivered_packets", 50},
		{WEIR_SIM_STREAM, "u", "delivered_packets", 50},
		{WEIR_SIM_STREAM, "t", "held_packets", 0},
		{WEIR_SIM_STREAM, "u", "held_packets", 0});
}

/*
 * One that receives, and asks for 10 us after each walk, would sleep after its 32nd ask, at 323520. A packet comes for a job meanwhile, to which the
 * scheduler gives no event, as a slow worker has the only credit. The job has a slice then, without one.
 */
static void
nobody_sleeps_beside_the_backlog(void **state)
{
	EXPECT("application:\n"
	       "  queues: {slow: {group: z}, done: {group: z}}\n"
	       "  nodes:\n"
	       "    work: {type: job, queue: done, work: compute, time: 1us}\n"
	       "    first: {type: sched_tx, queue: slow}\n"
	       "    back: {type: sched_rx, queues: [slow, done]}\n"
	       "  edges: ['a.classify -> work', 'b.classify -> first', 'c.classify -> drop', "
	       "'back.slow -> drop', 'back.done -> drop']\n"
	       "platform:\n"
	       "  scheduler: {threshold: 1, idle_sleep: 1ms}\n"
	       "  ports: {a: {device: a}, b: {device: b}, c: {device: c}}\n"
	       "  workers: [{receive: [a, b], groups: []}, {receive: [c]}, {groups: [z]}]\n"
	       "  cores: {c: {count: 3, clock: 1GHz}}\n"
	       "  costs:\n"
	       "    walk: 100cycles\n"
	       "    poll: 10cycles\n"
	       "    dispatch: 10kcycles\n"
	       "    nodes: {ethdev_rx: {}, sched_tx: {}, sched_rx: {packet: 1e6cycles}, job: {}, "
	       "drop: {}}\n"
	       "traffic:\n"
	       "  streams:\n"
	       "    s: {to: a, arrivals: deterministic, interval: 1ns, start: 318us, count: 1}\n"
	       "    t: {to: b, arrivals: deterministic, interval: 1ns, count: 1}\n"
	       "    u: {to: c, arrivals: deterministic, interval: 1us}\n"
	       "run: {simulation: {seed: 1, duration: 340us}}\n",
		{WEIR_SIM_JOB, "work", "slices", 1}, {WEIR_SIM_WORKER, "worker-1", "sleeps", 0});
}

/* Several workers, other queues beside the jobs, what comes back to jobs: nothing is lost, whatever the limit. */
static void
nothing_is_lost(void **state)
{
	static const char format[] =
		"application:\n"
		"  queues: {before: {type: %s, group: %s}, done: {type: %s}}\n"
		"  nodes:\n"
		"    first: {type: sched_tx, queue: before, on_full: wait}\n"
		"    from: {type: sched_rx, queues: [before]}\n"
		"    work: {type: job, queue: done, on_full: wait, flows: 7, slice: 5us, group: "
		"%s, "
		"work: %s, time: 12us}\n"
		"    back: {type: sched_rx, queues: [done]}\n"
		"  edges: ['uplink.classify -> first', 'from.before -> work', 'back.done -> "
		"north']\n"
		"platform:\n"
		"  scheduler: {threshold: %u}\n"
		"  ports: {uplink: {device: a}, north: {pcap_out: b}}\n"
		"  workers: [{receive: [uplink], groups: [%s]}, {groups: [%s]}, "
		"{groups: [default]}]\n"
		"  cores: {c: {count: 3, clock: 1GHz}}\n"
		"  costs:\n"
		"    walk: 100cycles\n"
		"    dispatch: 100cycles\n"
		"    nodes: {ethdev_rx: {packet: 10cycles}, sched_tx: {packet: 10cycles}, "
		"sched_rx: "
		"{packet: 10cycles}, job: {}, pcap_tx: {packet: 1000cycles}, drop: {}}\n"
		"traffic: {streams: {s: {to: uplink, arrivals: poisson, rate: 0.2Mpps, count: 300, "
		"flows: 20}}}\n"
		"run: {simulation: {duration: 90ms}}\n";
	static const char *const types[] = {"atomic", "parallel", "ordered"};
	static const char *const groups[] = {"default", "x", "y"};
	/* All that there is something of. */
	static const char *const served[][2] = {{"default", "default, x"},
		{"default, x", "default, x, y"}, {"default, y", "default, y"}};
	static const char *const works[] = {"compute", "wait"};
	static const unsigned int thresholds[] = {2, 3, 9, 64};
	char text[2048];
	unsigned int i, j, k, l;

	for (i = 0; i < 3; i++)
		for (j = 0; j < 3; j++)
			for (k = 0; k < 2; k++)
				for (l = 0; l < 4; l++) {
					snprintf(text, sizeof(text), format, types[i], groups[j],
						types[(i + j) % 3], groups[(j + k) % 3], works[k],
						thresholds[l], j == 1 ? "default" : "",
						served[j][k]);
					EXPECT(text,
						{WEIR_SIM_STREAM, "s", "delivered_packets", 300},
						{WEIR_SIM_STREAM, "s", "held_packets", 0},
						{WEIR_SIM_JOB, "work", "packets", 300});
				}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_packet_is_sent_later),
		cmocka_unit_test(job_without_event_runs_at_once),
		cmocka_unit_test(one_credit_is_enough),
		cmocka_unit_test(waiting_jobs_have_no_credits),
		cmocka_unit_test(jobs_of_others_are_passed_over),
		cmocka_unit_test(nobody_sleeps_beside_the_backlog),
		cmocka_unit_test(nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
