/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong is told once: nothing that only follows from it stands beside it. */
#include "sim_util.h"

/* What comes there, or what steps use, may be what is meant by the wrong name. */
static void
one_wrong_name_is_one_error(void **state)
{
	static const char port[] =
		"platform: {cores: {c: {clock: 1GHz}}, ports: {p: {device: a}, out: {pcap_out: "
		"b}}, "
		"workers: [{receive: [%s]}], costs: {walk: 9cycles, nodes: {ethdev_rx: {}, "
		"classify: {next: {drop: 1}}, drop: {}}}}\n"
		"traffic: {streams: {s: {to: %s, rate: 1kpps}}}\n";
	static const char steps[] =
		"application: {queues: {q: {}}, objects: {o: {queues: [q], %s}}}\n"
		"platform: {cores: {c: {clock: 1GHz}}, units: {u: {delay: 1ns}}, memories: {m: "
		"{levels: {l: {latency: 1ns}}}}}\n"
		"traffic: {streams: {s: {to: q, rate: 1kpps}}}\n";
	char text[1024];

	snprintf(text, sizeof(text), port, "x", "p");
	expect_errors(text, "m.yaml:1:105: unknown port 'x'; expected p or out\n");
	snprintf(text, sizeof(text), port, "p", "x");
	expect_errors(text, "m.yaml:2:29: unknown queue or port 'x'; expected one of: p\n");
	snprintf(text, sizeof(text), steps, "steps: [{use: x}, {memory: m}]");
	expect_errors(text, "m.yaml:1:73: unknown unit 'x'; expected one of platform.units: u\n");
	snprintf(text, sizeof(text), steps, "steps: [{use: u}, {memory: x}]");
	expect_errors(
		text, "m.yaml:1:86: unknown memory 'x'; expected one of platform.memories: m\n");
	snprintf(text, sizeof(text), steps, "steps: [{use: u}, {probability: 0.5}]");
	expect_errors(text,
		"m.yaml:1:77: a step that does nothing; expected a key 'cpu', 'per_byte', "
		"'memory', 'use', 'set', 'fork', 'join', 'switch', 'jump', 'send', 'drop' or "
		"'output'\n");
	expect_errors("application: {queues: {q: {}, r: {}}, objects: {o: {queues: [q], steps: "
		      "[{cpu: 9cycles}, {send: []}]}, p: {queues: [r], steps: [{cpu: "
		      "9cycles}]}}}\n"
		      "platform: {cores: {c: {clock: 1GHz}}}\n"
		      "traffic: {streams: {s: {to: q, rate: 1kpps}}}\n",
		"m.yaml:1:91: a step that sends nowhere; expected a queue\n");
	snprintf(text, sizeof(text), steps, "steps: []");
	expect_errors(text,
		"m.yaml:1:59: object 'o' has no steps; expected one that says what its work costs, "
		"such as 'cpu: 700cycles'\n");
}

/* Packets are sorted: some go to a queue, whose packets another node brings back. */
#define EVENTS(types, to, brought, edge, ports, receive, cores)                                    \
	"application:\n"                                                                           \
	"  queues: {q: {group: g}}\n"                                                              \
	"  nodes:\n"                                                                               \
	"    to_q: {type: " types ", queue: " to "}\n"                                             \
	"    of_q: {type: sched_rx, queues: " brought "}\n"                                        \
	"  edges: [\"classify." edge " -> to_q\", \"of_q.q -> out\"]\n"                            \
	"platform:\n"                                                                              \
	"  ports: {up: {device: a}, out: {" ports "}}\n"                                           \
	"  workers: [{receive: " receive ", groups: [g]}]\n"                                       \
	"  cores: {c: {clock: 1GHz" cores "}}\n"                                                   \
	"  costs:\n"                                                                               \
	"    walk: 9cycles\n"                                                                      \
	"    dispatch: 9cycles\n"                                                                  \
	"    nodes: {ethdev_rx: {}, classify: {next: {ip4: 1}}, sched_tx: {}, sched_rx: {}, "      \
	"ip4_rewrite: {next: {out: 1}}, pcap_tx: {}, drop: {}}\n"                                  \
	"traffic: {streams: {s: {to: up, rate: 1Mpps}}}\n"                                         \
	"run: {simulation: {duration: 1ms}}\n"

static void
the_good_one_is_good(void **state)
{
	struct given given =
		given_model(EVENTS("sched_tx", "q", "[q]", "ip4", "pcap_out: b", "[up]", ""));
	struct weir_sim_result result = given_run(&given);

	assert_true(given_value(&given, &result, 0, WEIR_SIM_NODE, "pcap_tx-out", "packets") > 0);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Neither that a queue gets nothing then, nor that nobody serves it. */
static void
one_wrong_node_is_one_error(void **state)
{
	expect_errors(EVENTS("x", "q", "[q]", "ip4", "pcap_out: b", "[up]", ""),
		"m.yaml:4:18: unknown node type 'x'; expected one of: link_rx, sched_rx, classify, "
		"ip4_lookup, ip6_lookup, ip4_rewrite, ip6_rewrite, ip4_frag, sched_tx, job, punt, "
		"drop, null\n");
	expect_errors(EVENTS("sched_tx", "x", "[q]", "ip4", "pcap_out: b", "[up]", ""),
		"m.yaml:4:35: unknown queue 'x'; expected q\n");
	expect_errors(EVENTS("sched_tx", "q", "[x]", "ip4", "pcap_out: b", "[up]", ""),
		"m.yaml:5:37: unknown queue 'x'; expected q\n");
	expect_errors(EVENTS("sched_tx", "q", "[]", "ip4", "pcap_out: b", "[up]", ""),
		"m.yaml:5:5: node 'of_q' has nothing to bring in; expected a key 'queues'\n");
	expect_errors(EVENTS("sched_tx", "q", "[q]", "ip7", "pcap_out: b", "[up]", ""),
		"m.yaml:6:11: unknown edge 'ip7' of node 'classify'; expected one of: drop, punt, "
		"ip4_lookup, ip6_lookup\n");
	expect_errors(EVENTS("sched_tx", "q", "[q]", "ip4", "pcap_out: b", "[x]", ""),
		"m.yaml:9:24: unknown port 'x'; expected up or out\n");
	expect_errors(EVENTS("sched_tx", "q", "[q]", "ip4", "pcap_out: b", "[up]", ", count: 0"),
		"m.yaml:10:35: '0' is out of range; expected an integer from 1 to 4096\n");
	expect_errors(EVENTS("sched_tx", "q", "[q]", "ip4", "pcap_out: b", "[up], cores: x", ""),
		"m.yaml:9:36: worker-0 has no core to run on: there is no such kind; expected one "
		"of platform.cores: c\n");
}

/* A queue of nobody's is told to be one, not that its group has no cores. */
static void
queues_of_nobody(void **state)
{
	expect_errors("application: {queues: {q: {}, lost: {group: g}}, objects: {o: {queues: "
		      "[q], steps: [{cpu: 9cycles}, {send: lost, when: size > 9}]}}}\n"
		      "platform: {cores: {c: {clock: 1GHz}}}\n"
		      "traffic: {streams: {s: {to: q, rate: 1kpps}}}\n",
		"m.yaml:1:31: queue 'lost' is never served: it belongs to no object; expected it "
		"among the 'queues' of one\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_wrong_name_is_one_error),
		cmocka_unit_test(the_good_one_is_good),
		cmocka_unit_test(one_wrong_node_is_one_error),
		cmocka_unit_test(queues_of_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
