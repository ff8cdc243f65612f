/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports that a graph shares with links: frames of links come to these, all else goes on through the graph. */
#include "sim_util.h"

/* A frame each ms, of 100 B; of what is no frame a packet each ms, too, half a ms apart. */
#define SHARED(node, port, costs, traffic, run)                                                    \
	"application:\n"                                                                           \
	"  formats: {f: {size: 100B, clock: 1MHz, step: 1000, stream: {offset: 0, width: 16}, "    \
	"timestamp: {offset: 64, width: 64}}}\n"                                                   \
	"  links: {w: {format: f, count: 2, buffer: {history: 1s}}}\n"                             \
	"  nodes: {in: {type: link_rx, port: cable, links: [w]" node "}}\n"                        \
	"  edges: [\"in.classify -> out\"]\n"                                                      \
	"platform:\n"                                                                              \
	"  ports: {cable: {device: a" port "}, out: {pcap_out: b}}\n"                              \
	"  cores: {c: {clock: 1GHz, count: 2}}\n"                                                  \
	"  costs:\n"                                                                               \
	"    walk: 100cycles\n"                                                                    \
	"    poll: 50cycles\n"                                                                     \
	"    nodes:\n"                                                                             \
	"      in: {vector: 1kcycles, packet: 100cycles, per_byte: 1cycles/B}\n"                   \
	"      pcap_tx: {vector: 500cycles, packet: 10cycles}\n" costs "traffic:\n"                \
	"  streams: {else: {to: cable, size: 60B, " traffic "}}\n"                                 \
	"run: {simulation: {duration: 100ms" run "}}\n"

#define NODE(name, quantity) given_value(&given, &result, 0, WEIR_SIM_NODE, name, quantity)
#define LINK(name, quantity) given_value(&given, &result, 0, WEIR_SIM_LINK, name, quantity)
#define RING(quantity)       given_value(&given, &result, 0, WEIR_SIM_RING, "cable.0.rx_ring", quantity)
#define STREAM(quantity)     given_value(&given, &result, 0, WEIR_SIM_STREAM, "else", quantity)

static double
busy_ns(const struct given *given, const struct weir_sim_result *result)
{
	return given_value(given, result, 0, WEIR_SIM_WORKER, "worker-0", "utilisation") * 100e6;
}

/* Each packet alone: a frame takes a look, a visit and the walk's own cycles; another one a visit of the other node, too. */
static void
each_goes_its_way(void **state)
{
	struct given given =
		given_model(SHARED("", "", "", "rate: 1kpps, start: 250us, count: 70", ""));
	struct weir_sim_result result = given_run(&given);
	const double frames = LINK("w-0", "received_frames") + LINK("w-1", "received_frames");

	assert_true(frames >= 198 && frames <= 200 && STREAM("delivered_packets") == 70);
	assert_true(LINK("w-0", "stored_frames") == LINK("w-0", "received_frames"));
	assert_true(LINK("w-1", "stored_frames") == LINK("w-1", "received_frames"));
	assert_true(NODE("link_rx-in", "packets") == frames + 70);
	assert_true(NODE("pcap_tx-out", "packets") == 70);
	assert_true(fabs(NODE("link_rx-in", "cycles_per_packet") * (frames + 70) -
			    (frames * 1200 + 70 * 1160)) < 1e-3);
	assert_true(fabs(busy_ns(&given, &result) -
			    (frames * (50 + 1200 + 100) + 70 * (50 + 1160 + 510 + 100))) < 1400);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* There are always more than a burst of 4: nearly all walks take 50 + 1000 + 4 x 160 + 500 + 4 x 10 + 100 = 2330 ns, for 4 packets. */
static void
a_ring_that_overflows(void **state)
{
	struct given given =
		given_model(SHARED(", burst: 4", ", rx_ring: 32", "", "rate: 4Mpps", ""));
	struct weir_sim_result result = given_run(&given);
	const double received = NODE("link_rx-in", "packets");
	const double frames = LINK("w-0", "received_frames") + LINK("w-1", "received_frames");
	const double lost = given_value(&given, &result, 0, WEIR_SIM_DROP,
				    "w-0: rx_ring of cable is full", "packets") +
			    given_value(&given, &result, 0, WEIR_SIM_DROP,
				    "w-1: rx_ring of cable is full", "packets");

	assert_true(fabs(received / (4 * 100e6 / 2330) - 1) < 0.001);
	assert_true(NODE("link_rx-in", "vectors") * 4 - received <= 4);
	assert_true(RING("length_max") == 32);
	/* Frames find the ring as full as all else does. */
	assert_true(lost > 0 && frames > 0 && frames + lost >= 198 && frames + lost <= 200);
	assert_true(STREAM("dropped_packets") + STREAM("delivered_packets") + frames >
		    STREAM("arrived_packets"));
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Its queue is a link's own, which another thread empties. */
static void
by_a_queue(void **state)
{
	struct given given = given_model(
		"application:\n"
		"  formats: {f: {size: 100B, clock: 1MHz, step: 1000, timestamp: {offset: 0, "
		"width: 64}}}\n"
		"  links: {w: {format: f, buffer: {history: 1s}, delivery: {by: queue}}}\n"
		"  processes: {p: {function: own.so:own, links: [w], where: inline}}\n"
		"  nodes: {in: {type: link_rx, port: cable, links: [w]}}\n"
		"  edges: [\"in.classify -> drop\"]\n"
		"platform:\n"
		"  ports: {cable: {device: a}}\n"
		"  cores: {c: {clock: 1GHz, count: 2}}\n"
		"  costs:\n"
		"    walk: 100cycles\n"
		"    nodes: {in: {packet: 100cycles}, link_rx: {packet: 700cycles}, drop: {}}\n"
		"    processes: {p: {packet: 5kcycles, drops: 1}}\n"
		"run: {simulation: {duration: 100ms}}\n");
	struct weir_sim_result result = given_run(&given);

	/* The function is worked on by who receives, and lets none come to the queue. */
	assert_true(LINK("w", "received_frames") >= 99);
	assert_true(LINK("w", "dropped_processed") == LINK("w", "received_frames"));
	assert_true(NODE("link_rx-in", "cycles_per_packet") == 5100);
	assert_true(NODE("link_rx-delivery.w", "packets") == 0);
	weir_sim_result_free(&result);
	given_free(&given);
}

#define WRONG(port, receive)                                                                       \
	"application:\n"                                                                           \
	"  formats: {f: {size: 100B, clock: 1MHz, step: 1000, timestamp: {offset: 0, width: 64}}}" \
	"\n"                                                                                       \
	"  links: {w: {format: f, buffer: {history: 1s}}}\n"                                       \
	"  nodes: {in: {type: link_rx, port: " port ", links: [w]}}\n"                             \
	"  edges: [\"in.classify -> drop\"]\n"                                                     \
	"platform:\n"                                                                              \
	"  ports: {cable: {device: a}, file: {pcap_out: c}}\n"                                     \
	"  workers: [{receive: [" receive "]}]\n"                                                  \
	"  cores: {c: {clock: 1GHz}}\n"                                                            \
	"  costs: {walk: 100cycles, nodes: {in: {packet: 100cycles}, drop: {}}}\n"                 \
	"run: {simulation: {duration: 100ms}}\n"

/* Neither that no frames come to its links then, nor what the port's own node would cost. */
static void
one_wrong_port_is_one_error(void **state)
{
	expect_errors(WRONG("nope", "cable"),
		"m.yaml:4:37: unknown port 'nope'; expected cable or file\n");
	expect_errors(WRONG("file", "cable"),
		"m.yaml:4:37: port 'file' is files, which links do not share; expected one with a "
		"'device', for example \"net_pcap0,rx_pcap=FILE\"\n");
	expect_errors(WRONG("cable", "cabel"),
		"m.yaml:8:24: unknown port 'cabel'; expected cable or file\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_goes_its_way),
		cmocka_unit_test(a_ring_that_overflows),
		cmocka_unit_test(by_a_queue),
		cmocka_unit_test(one_wrong_port_is_one_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
