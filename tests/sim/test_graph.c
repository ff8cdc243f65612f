/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers that walk a graph: to the nanosecond where all is constant, else beside theory as theory.h says. */
#include "theory.h"

/*
 * A port's packets go straight to another port, or to a node of their own. A cycle takes a nanosecond. With nothing to
 * do a worker looks at its rings every 110 ns; a packet takes 10 + 50 + 10 ns to receive and 30 + 5 + 10 to transmit.
 */
#define GRAPH(edges, uplink, north, platform, stream, run)                                         \
	"application:\n"                                                                           \
	"  edges: [" edges "]\n"                                                                   \
	"platform:\n"                                                                              \
	"  ports: {uplink: {device: a" uplink "}, north: {device: b" north "}}\n"                  \
	"  cores: {c: {count: 2, clock: 1GHz}}\n" platform "  costs:\n"                            \
	"    walk: 100cycles\n"                                                                    \
	"    poll: 10cycles\n"                                                                     \
	"    nodes:\n"                                                                             \
	"      ethdev_rx: {vector: 50cycles, packet: 10cycles}\n"                                  \
	"      ethdev_tx: {vector: 30cycles, packet: 5cycles, per_byte: 0.1cycles/B}\n"            \
	"      'null': {vector: 30cycles}\n"                                                       \
	"      drop: {}\n"                                                                         \
	"traffic: {streams: {s: {to: uplink, size: 100B, arrivals: deterministic, " stream "}}}\n" \
	"run: {simulation: {" run "}}\n"

#define TO_NORTH "'uplink.classify -> north'"
#define ONE      "  workers: [{receive: [uplink]}]\n"

/* It comes at 1000 ns, is found by the look at 1100, and is gone at 1215; the walk ends at 1315. */
static void
one_packet(void **state)
{
	EXPECT(GRAPH(TO_NORTH, "", "", ONE, "interval: 1us, count: 1", "duration: 2us"),
		{WEIR_SIM_STREAM, "s", "latency_mean_ns", 215},
		{WEIR_SIM_STREAM, "s", "service_mean_ns", 115},
		{WEIR_SIM_RING, "uplink.0.rx_ring", "wait_mean_ns", 100},
		{WEIR_SIM_RING, "uplink.0.rx_ring", "length_mean", 0.05},
		{WEIR_SIM_WORKER, "worker-0", "walks", 10 + 1 + 6},
		{WEIR_SIM_WORKER, "worker-0", "empty_walks", 10 + 6},
		{WEIR_SIM_WORKER, "worker-0", "received_packets", 1},
		{WEIR_SIM_WORKER, "worker-0", "packets_per_walk", 1},
		{WEIR_SIM_WORKER, "worker-0", "utilisation", 0.1075},
		{WEIR_SIM_CORES, "worker-0", "utilisation", 0.1075},
		{WEIR_SIM_CORES, "worker-0", "served_packets", 1},
		{WEIR_SIM_CORES, "c", "utilisation", 0},
		{WEIR_SIM_NODE, "ethdev_rx-uplink", "cycles", 60},
		{WEIR_SIM_NODE, "ethdev_tx-north", "cycles", 45},
		{WEIR_SIM_NODE, "ethdev_tx-north", "vectors", 1});
}

/* One that comes when the worker has just looked, at the end of the walk that took the one before, is found by the next look. */
static void
packet_at_a_look(void **state)
{
	EXPECT(GRAPH(TO_NORTH, "", "", ONE, "interval: 217500ps, count: 2", "duration: 2us"),
		{WEIR_SIM_RING, "uplink.0.rx_ring", "wait_max_ns", 110},
		{WEIR_SIM_RING, "uplink.0.rx_ring", "wait_mean_ns", (2.5 + 110) / 2});
}

/* What two workers send is all sent, though nothing more comes. */
static void
link_takes_turns(void **state)
{
	EXPECT(GRAPH(TO_NORTH, "", ", bandwidth: 80Mb/s",
		       "  workers: [{receive: [uplink.0]}, {receive: [uplink.1]}]\n",
		       "interval: 1ns, count: 64, flows: 64", "duration: 1ms"),
		{WEIR_SIM_STREAM, "s", "delivered_packets", 64});
}

/* Empty walks are counted in the part of the time in which they end: of 18 in 2 us those from 1 us on. */
static void
idle_over_batches(void **state)
{
	EXPECT(GRAPH(TO_NORTH, "", "", ONE, "interval: 1s", "warmup: 1us, duration: 2us"),
		{WEIR_SIM_WORKER, "worker-0", "empty_walks", 18 - 9},
		{WEIR_SIM_WORKER, "worker-0", "walks", 18 - 9},
		{WEIR_SIM_WORKER, "worker-0", "utilisation", 0});
}

/* It looks at 0, sleeps for 50 us, looks at 50110 ns, where it finds the packet; then it sleeps for 50 us again. */
static void
sleep_between_walks(void **state)
{
	EXPECT(GRAPH(TO_NORTH, "", "", ONE "  idle: sleep\n", "interval: 1us, count: 1",
		       "duration: 200us"),
		{WEIR_SIM_STREAM, "s", "latency_mean_ns", 50110 - 1000 + 115},
		{WEIR_SIM_WORKER, "worker-0", "walks", 3},
		{WEIR_SIM_WORKER, "worker-0", "empty_walks", 2});
	/* 50, 100, 200, 400, 800 us, then 1 ms each: looks at 0, .05, .15, .35, .75, 1.55, 2.55 ms ... */
	EXPECT(GRAPH(TO_NORTH, "", "", ONE "  idle: sleep\n", "interval: 3ms, count: 1",
		       "duration: 3600us"),
		{WEIR_SIM_STREAM, "s", "latency_mean_ns", 3550770 - 3000000 + 115},
		{WEIR_SIM_WORKER, "worker-0", "empty_walks", 7});
}

/* Of ten packets eight are received at once, and sent as two vectors. */
static void
vectors(void **state)
{
	EXPECT(GRAPH(TO_NORTH, ", rx_burst: 8", "", ONE "  burst: 4\n", "interval: 1ns, count: 10",
		       "duration: 2us"),
		{WEIR_SIM_NODE, "ethdev_rx-uplink", "vectors", 2},
		{WEIR_SIM_NODE, "ethdev_rx-uplink", "packets", 10},
		{WEIR_SIM_NODE, "ethdev_rx-uplink", "packets_per_vector", 5},
		{WEIR_SIM_NODE, "ethdev_tx-north", "vectors", 3},
		{WEIR_SIM_WORKER, "worker-0", "packets_per_walk", 5},
		/* From 110: 140 + 110 + 110 + 100 + 80 + 60. */
		{WEIR_SIM_STREAM, "s", "latency_max_ns", 110 + 140 + 90 + 90 + 100 + 80 + 60 - 9});
}

/* A hundred packets come before the first look. */
static void
full_receive_ring(void **state)
{
	EXPECT(GRAPH(TO_NORTH, ", rx_ring: 32", "", ONE, "interval: 1ns, count: 100",
		       "duration: 10us"),
		{WEIR_SIM_DROP, "s: rx_ring of uplink is full", "packets", 68},
		{WEIR_SIM_RING, "uplink.0.rx_ring", "dropped_packets", 68},
		{WEIR_SIM_RING, "uplink.0.rx_ring", "length_max", 32},
		{WEIR_SIM_STREAM, "s", "delivered_packets", 32});
}

/* They are sent at once, to a link that takes 12 us for one of 100 B, and 20 for what Ethernet adds. */
#define SLOW ", tx_ring: 32, bandwidth: 80Mb/s"

static void
full_transmit_ring(void **state)
{
	EXPECT(GRAPH(TO_NORTH, "", SLOW, ONE, "interval: 1ns, count: 100", "duration: 1ms"),
		{WEIR_SIM_DROP, "s: tx_ring of north is full", "packets", 68},
		{WEIR_SIM_RING, "north.0.tx_ring", "dropped_packets", 68},
		{WEIR_SIM_RING, "north.0.tx_ring", "length_max", 32},
		{WEIR_SIM_NODE, "drop", "packets", 68},
		{WEIR_SIM_STREAM, "s", "delivered_packets", 32},
		/* 110, the reception of 100 packets, their transmission, the link 32 times; the last one of those came at 32. */
		{WEIR_SIM_STREAM, "s", "latency_max_ns",
			110 + 60 + 1000 + 30 + 500 + 1000 + 32 * 12000 - 32});
}

/* A queue of its group that other cores serve is none that the worker asks for: its walks are those of one_packet(). */
static void
queues_of_others(void **state)
{
	EXPECT("application:\n"
	       "  nodes: {sink: {type: 'null'}}\n"
	       "  edges: ['uplink.classify -> sink']\n"
	       "  queues: {q: {}}\n"
	       "  objects: {o: {queues: [q], steps: [{cpu: 10cycles}]}}\n"
	       "platform:\n"
	       "  ports: {uplink: {device: a}}\n"
	       "  cores: {c: {count: 2, clock: 1GHz}}\n"
	       "  workers: [{receive: [uplink]}]\n"
	       "  costs: {walk: 100cycles, poll: 10cycles, nodes: {ethdev_rx: {}, 'null': {}}}\n"
	       "traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1us}}}\n"
	       "run: {simulation: {duration: 2us}}\n",
		{WEIR_SIM_WORKER, "worker-0", "empty_walks", 18},
		{WEIR_SIM_CORES, "c", "served_packets", 1});
}

/* The worker waits, with its core, until all but those that have room are sent. */
static void
wait_for_transmit_ring(void **state)
{
	EXPECT(GRAPH(TO_NORTH, "", SLOW ", on_full: wait", ONE, "interval: 1ns, count: 100",
		       "duration: 2ms"),
		{WEIR_SIM_STREAM, "s", "delivered_packets", 100},
		{WEIR_SIM_STREAM, "s", "dropped_packets", 0},
		{WEIR_SIM_RING, "north.0.tx_ring", "arrived_packets", 100},
		{WEIR_SIM_STREAM, "s", "latency_max_ns",
			110 + 60 + 1000 + 30 + 500 + 1000 + 100 * 12000 - 100},
		/* Busy from 110 until 68 are sent, and the walk's own 100. */
		{WEIR_SIM_WORKER, "worker-0", "utilisation",
			(60 + 1000 + 30 + 500 + 1000 + 68 * 12000 + 100) / 2e6});
}

/* A flow's queue is that of one worker; each looks at a ring of its own. */
static void
queues_of_workers(void **state)
{
	struct given given = given_model(GRAPH(TO_NORTH, "", "",
		"  workers: [{receive: [uplink.0]}, {receive: [uplink.1]}]\n",
		"interval: 1us, flows: 64", "duration: 10ms"));
	struct weir_sim_result result = given_run(&given);
	const double first = given_value(
			     &given, &result, 0, WEIR_SIM_WORKER, "worker-0", "received_packets"),
		     second = given_value(
			     &given, &result, 0, WEIR_SIM_WORKER, "worker-1", "received_packets");

	assert_true(first + second >= 9999 && first > 4700 && second > 4700);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_RING, "uplink.1.rx_ring",
			    "arrived_packets") >= second);
	assert_true(
		given_value(&given, &result, 0, WEIR_SIM_STREAM, "s", "reordered_packets") == 0);
	/* Its worker takes both cores of the kind. */
	assert_int_equal(
		weir_sim_model_metric_find(given.model, WEIR_SIM_CORES, "c", "utilisation"), -1);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* The look at the second port's ring comes 10 ns after that at the first one's. */
static void
rings_in_turn(void **state)
{
	EXPECT(GRAPH("'uplink.classify -> north', 'north.classify -> null'", "", "",
		       "  workers: [{receive: [north, uplink]}]\n", "interval: 1us, count: 1",
		       "duration: 2us"),
		/* Walks of 120 ns: the tenth begins at 1080. It ends at 1305. */
		{WEIR_SIM_RING, "uplink.0.rx_ring", "wait_mean_ns", 90},
		{WEIR_SIM_WORKER, "worker-0", "empty_walks", 9 + 5},
		{WEIR_SIM_STREAM, "s", "latency_mean_ns", 90 + 115});
}

/* A port is outside of all parts: what a part's stream names is the port, unless the part has a queue that is called so. */
static void
streams_of_parts(void **state)
{
#define PARTS(application)                                                                         \
	"models:\n"                                                                                \
	"  b:\n" application "    platform: {cores: {c: {clock: 1GHz}}}\n"                         \
	"    traffic: {streams: {t: {to: uplink, size: 100B, arrivals: deterministic, interval: "  \
	"1us, count: 1}}}\n"                                                                       \
	"instances: {b: {count: 2}}\n" GRAPH(TO_NORTH, "", "",                                     \
		"  workers: [{receive: [uplink], groups: []}]\n", "interval: 5us, count: 1",       \
		"duration: 6us")

	EXPECT(PARTS(""), {WEIR_SIM_RING, "uplink.0.rx_ring", "arrived_packets", 3},
		{WEIR_SIM_STREAM, "b.*.t", "delivered_packets", 2},
		/* Both are received, and sent, at once. */
		{WEIR_SIM_STREAM, "b.1.t", "latency_mean_ns", 215 + 10 + 15});
	EXPECT(PARTS("    application:\n"
		     "      queues: {uplink: {}}\n"
		     "      objects: {o: {queues: uplink, steps: [{cpu: 7cycles}]}}\n"),
		{WEIR_SIM_RING, "uplink.0.rx_ring", "arrived_packets", 1},
		{WEIR_SIM_STREAM, "b.1.t", "latency_mean_ns", 7});
}

/* Nobody but the worker works: what it takes for a packet is all that there is of a server. */
#define SERVER(walk, rx, rx_costs, rate, ms)                                                       \
	"application: {nodes: {sink: {type: 'null'}}, edges: ['uplink.classify -> sink']}\n"       \
	"platform:\n"                                                                              \
	"  ports: {uplink: {device: a, " rx "}}\n"                                                 \
	"  cores: {c: {clock: 1GHz}}\n"                                                            \
	"  costs: {walk: " walk ", nodes: {ethdev_rx: {" rx_costs "}, sink: {}}}\n"                \
	"traffic: {streams: {s: {to: uplink, rate: " rate "}}}\n"                                  \
	"run: {simulation: {seed: 1, replications: 20, warmup: 1ms, duration: " ms "}}\n"

/* A server of constant service that goes on holiday for a walk whenever it finds nothing: half of one more to wait. */
static void
md1_with_holidays(void **state)
{
	struct run run = run_text(SERVER("100cycles", "rx_burst: 1, rx_ring: 32768",
		"vector: 500cycles, packet: 400cycles", "800kpps", "40ms"));

	expect(&run, WEIR_SIM_RING, "uplink.0.rx_ring", "wait_mean_ns",
		0.8 / (2 * 0.2) * 1000 + 100 / 2);
	expect(&run, WEIR_SIM_RING, "uplink.0.rx_ring", "length_mean",
		0.8 * (0.8 / (2 * 0.2) + 0.05));
	expect(&run, WEIR_SIM_WORKER, "worker-0", "utilisation", 0.8);
	run_free(&run);
}

#define STATES 200

/* Of a Poisson process of that mean. */
static void
fill_poisson(double mean, double poisson[STATES])
{
	unsigned int i;

	poisson[0] = exp(-mean);
	for (i = 1; i < STATES; i++)
		poisson[i] = poisson[i - 1] * mean / i;
}

/*
 * How many packets a service leaves behind, of up to `burst` packets at a time, with room for `room` that wait: the
 * probabilities of a chain, by iteration. A service that finds none begins with the next one that comes.
 */
static void
fill_left_behind(double load, unsigned int burst, unsigned int room, double now[STATES])
{
	static double poisson[STATES], next[STATES];
	unsigned int round, i, j, stay;

	fill_poisson(load, poisson);
	memset(now, 0, STATES * sizeof(now[0]));
	now[0] = 1;
	for (round = 0; round < 3000; round++) {
		memset(next, 0, sizeof(next));
		for (i = 0; i <= room; i++) {
			stay = i > burst ? i - burst : 0;
			for (j = 0; j < STATES; j++)
				next[stay + j < room ? stay + j : room] += now[i] * poisson[j];
		}
		memcpy(now, next, sizeof(next));
	}
}

/* The ring has room for 32 that wait; more are lost. */
static void
md1k(void **state)
{
	struct run run = run_text(SERVER("0.01cycles", "rx_burst: 1, rx_ring: 32",
		"packet: 1000cycles", "1.02Mpps", "60ms"));
	double left[STATES], loss;

	fill_left_behind(1.02, 1, 32, left);
	loss = 1 - 1 / (left[0] + 1.02);
	expect(&run, WEIR_SIM_RING, "uplink.0.rx_ring", "loss", loss);
	run_free(&run);
}

/* A vector of up to 8 takes as long as one: bulk service. What waits, seen from one service to the next. */
static void
bulk_service(void **state)
{
	const double load = 6;
	struct run run = run_text(SERVER("0.01cycles", "rx_burst: 8, rx_ring: 32768",
		"vector: 1000cycles", "6Mpps", "10ms"));
	double left[STATES], waiting = 0, time = 0, packets = 0;
	unsigned int i;

	fill_left_behind(load, 8, STATES - 1, left);
	for (i = 0; i < STATES; i++) {
		const double stay = i > 8 ? i - 8 : 0;

		waiting += left[i] * (stay + load / 2);
		time += left[i] * (i == 0 ? 1 + 1 / load : 1);
		packets += left[i] * (i == 0 ? 1 : i < 8 ? i : 8);
	}
	expect(&run, WEIR_SIM_RING, "uplink.0.rx_ring", "length_mean", waiting / time);
	expect(&run, WEIR_SIM_NODE, "ethdev_rx-uplink", "packets_per_vector", packets);
	expect(&run, WEIR_SIM_WORKER, "worker-0", "utilisation", 1 / time);
	run_free(&run);
}

/* Packets go where weights say. */
static void
next_nodes(void **state)
{
	struct run run = run_text(
		"application:\n"
		"  nodes: {a: {type: 'null'}, b: {type: 'null'}, again: {type: classify}}\n"
		"  edges: ['classify.ip4 -> a', 'classify.ip6_lookup -> again', 'again.ip6 -> b']\n"
		"platform:\n"
		"  ports: {uplink: {device: a}}\n"
		"  cores: {c: {clock: 1GHz}}\n"
		"  costs:\n"
		"    walk: 10cycles\n"
		"    nodes:\n"
		"      ethdev_rx: {}\n"
		"      classify: {packet: 1cycles, next: {ip4: 3, ip6: 6, drop: 1}}\n"
		"      again: {packet: 1cycles, next: {ip6: 1, drop: 1}}\n"
		"      'null': {packet: 1cycles}\n"
		"      drop: {packet: 1cycles}\n"
		"traffic: {streams: {s: {to: uplink, interval: 1us, arrivals: deterministic}}}\n"
		"run: {simulation: {seed: 1, duration: 10001us, replications: 20}}\n");

	expect(&run, WEIR_SIM_NODE, "null-a", "packets", 3000);
	expect(&run, WEIR_SIM_NODE, "classify-again", "packets", 6000);
	expect(&run, WEIR_SIM_NODE, "null-b", "packets", 3000);
	expect(&run, WEIR_SIM_DROP, "s: node null-b", "packets", 3000);
	expect(&run, WEIR_SIM_DROP, "s: node drop", "packets", 4000);
	run_free(&run);
}

/* Two links whose frames come every 10 us, in turns, the first at 10 us. A burst takes 250 ns, and 870 for a frame. */
#define READOUT(receiver, queue, run)                                                              \
	"application:\n"                                                                           \
	"  formats: {f: {size: 7200B, clock: 1MHz, step: 10, stream: {offset: 0, width: 8}, "      \
	"timestamp: {offset: 8, width: 56}}}\n"                                                    \
	"  links:\n"                                                                               \
	"    l: {format: f, count: 2, port: d, queue: " queue ", buffer: {history: 1s}}\n"         \
	"platform:\n"                                                                              \
	"  receivers: {d: {device: a, " receiver "}}\n"                                            \
	"  cores: {c: {count: 2, clock: 1GHz}}\n"                                                  \
	"  costs:\n"                                                                               \
	"    walk: 100cycles\n"                                                                    \
	"    poll: 50cycles\n"                                                                     \
	"    nodes: {link_rx: {vector: 200cycles, packet: 150cycles, per_byte: 0.1cycles/B}}\n"    \
	"run: {simulation: {" run "}}\n"

/*
 * It looks at 0, sleeps, looks at 30150, when there are five frames; takes four until 33880, which is a full burst; so it looks
 * at 33980, takes one until 35100, and sleeps from 35200 on.
 */
static void
links_and_bursts(void **state)
{
	EXPECT(READOUT("burst_size: 4, lcore_sleep_us: 30", "0", "duration: 36us"),
		{WEIR_SIM_STREAM, "l-0", "latency_mean_ns", (23880 + 13880 + 5100) / 3.0},
		{WEIR_SIM_STREAM, "l-1", "latency_mean_ns", (18880 + 8880) / 2.0},
		{WEIR_SIM_STREAM, "l-1", "arrived_packets", 3},
		{WEIR_SIM_WORKER, "receiver-0", "walks", 3},
		{WEIR_SIM_WORKER, "receiver-0", "empty_walks", 1},
		{WEIR_SIM_WORKER, "receiver-0", "utilisation", 5050 / 36e3},
		{WEIR_SIM_NODE, "link_rx-d", "vectors", 2});
	/* The next look: at 65200. */
	EXPECT(READOUT("burst_size: 4, lcore_sleep_us: 30", "0", "duration: 65201ns"),
		{WEIR_SIM_RING, "d.0.rx_ring", "length_max", 7},
		{WEIR_SIM_NODE, "link_rx-d", "vectors", 3});
}

/* Of the nineteen frames that come while it sleeps for 100 us eight have room. */
static void
links_overflow(void **state)
{
	EXPECT(READOUT("rx_ring_size: 8, lcore_sleep_us: 100", "0", "duration: 100160ns"),
		{WEIR_SIM_RING, "d.0.rx_ring", "dropped_packets", 11},
		{WEIR_SIM_DROP, "l-0: rx_ring of d is full", "packets", 6},
		{WEIR_SIM_DROP, "l-1: rx_ring of d is full", "packets", 5});
}

/* Two threads, of which the second has the queue that all frames come to. */
static void
links_and_threads(void **state)
{
	EXPECT(READOUT("nb_queues: 2, cpus: [0, 1], lcore_sleep_us: 0", "1", "duration: 1ms"),
		{WEIR_SIM_RING, "d.0.rx_ring", "arrived_packets", 0},
		{WEIR_SIM_RING, "d.1.rx_ring", "arrived_packets", 100 + 99},
		{WEIR_SIM_WORKER, "receiver-0", "received_packets", 0},
		{WEIR_SIM_WORKER, "receiver-0", "walks", 6666});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_packet),
		cmocka_unit_test(idle_over_batches),
		cmocka_unit_test(sleep_between_walks),
		cmocka_unit_test(vectors),
		cmocka_unit_test(full_receive_ring),
		cmocka_unit_test(full_transmit_ring),
		cmocka_unit_test(wait_for_transmit_ring),
		cmocka_unit_test(queues_of_workers),
		cmocka_unit_test(queues_of_others),
		cmocka_unit_test(rings_in_turn),
		cmocka_unit_test(md1_with_holidays),
		cmocka_unit_test(md1k),
		cmocka_unit_test(bulk_service),
		cmocka_unit_test(next_nodes),
		cmocka_unit_test(links_and_bursts),
		cmocka_unit_test(links_overflow),
		cmocka_unit_test(links_and_threads),
		cmocka_unit_test(packet_at_a_look),
		cmocka_unit_test(link_takes_turns),
		cmocka_unit_test(streams_of_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
