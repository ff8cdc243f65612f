/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes on edges between the nodes of a graph: what passes is what the walk counts itself, and looking changes nothing. */
#include "sim_util.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Of ten packets that come before the first look eight are received at once, then two; they are sent in vectors of four.
 * A cycle takes a nanosecond: the looks that find them are at 110 and 250, and the first vector goes on at 240.
 */
#define PLAIN(probes)                                                                              \
	"application:\n"                                                                           \
	"  nodes: {mid: {type: classify}}\n"                                                       \
	"  edges: ['uplink.classify -> mid', 'mid.ip4 -> north']\n"                                \
	"platform:\n"                                                                              \
	"  burst: 4\n"                                                                             \
	"  ports: {uplink: {device: a, rx_burst: 8}, north: {device: b}}\n"                        \
	"  workers: [{receive: [uplink]}]\n"                                                       \
	"  cores: {c: {clock: 1GHz}}\n"                                                            \
	"  costs:\n"                                                                               \
	"    walk: 100cycles\n"                                                                    \
	"    poll: 10cycles\n"                                                                     \
	"    nodes:\n"                                                                             \
	"      ethdev_rx: {vector: 50cycles, packet: 10cycles}\n"                                  \
	"      mid: {vector: 20cycles, next: {ip4: 1}}\n"                                          \
	"      ethdev_tx: {vector: 30cycles, packet: 5cycles}\n"                                   \
	"      drop: {}\n"                                                                         \
	"traffic: {streams: {s: {to: uplink, size: 100B, arrivals: deterministic, interval: 1ns, " \
	"count: 10}}}\n"                                                                           \
	"run: {simulation: {duration: 2us, probes: {" probes "}}}\n"

#define PROBE(name, quantity) given_value(&given, &result, 0, WEIR_SIM_PROBE, name, quantity)

/* Of two numbers, as a sample. */
static double
sd_of(double a, double b)
{
	return fabs(a - b) / sqrt(2);
}

static void
vectors_of_known_times(void **state)
{
	struct given given =
		given_model(PLAIN("in: {from: uplink, to: mid}, through: {from: mid, to: "
				  "north}, out: {from: ethdev_tx-north}, as_told: {from: "
				  "classify-mid, to: ethdev_tx-north}, ring: {ring: "
				  "uplink.0.rx_ring}"));
	struct weir_sim_result result = given_run(&given);

	assert_true(PROBE("in", "n") == 10 && PROBE("in", "vectors") == 2);
	assert_true(PROBE("in", "vector_mean") == 5 && PROBE("in", "vector_sd") == sd_of(8, 2));
	assert_true(PROBE("in", "vector_min") == 2 && PROBE("in", "vector_max") == 8);
	/* The first eight at 110 + 140; with these two visits of 20 and 50 pending, the others after them and a walk. */
	assert_true(PROBE("in", "min") == 0);
	assert_true(fabs(PROBE("in", "mean") - PROBE("in", "max") / 9) < 1e-9);
	assert_true(PROBE("through", "n") == 10 && PROBE("through", "vectors") == 3);
	assert_true(PROBE("through", "vector_min") == 2 && PROBE("through", "vector_max") == 4);
	assert_true(PROBE("out", "n") == 10 && PROBE("out", "vectors") == 3);
	assert_true(PROBE("as_told", "n") == 10);
	assert_true(PROBE("as_told", "mean") == PROBE("through", "mean"));
	assert_true(isnan(PROBE("ring", "vectors")) && isnan(PROBE("ring", "vector_mean")));
	weir_sim_result_free(&result);
	given_free(&given);
}

/* All of a file; to be freed. */
static char *
contents(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1000000);

	assert_non_null(file);
	assert_true(fread(text, 1, 999999, file) < 999999);
	fclose(file);
	return text;
}

static unsigned int
lines_of(const char *text)
{
	unsigned int nb = 0;

	for (; *text != '\0'; text++)
		nb += *text == '\n';
	return nb;
}

static void
trace_of_known_times(void **state)
{
	char path[] = "/tmp/weir-test-edge-XXXXXX", text[2048], *found;
	struct weir_sim_result result;
	struct given given;

	close(mkstemp(path));
	snprintf(text, sizeof(text), PLAIN("in: {from: uplink, to: mid, trace: %s}"), path);
	given = given_model(text);
	result = given_run(&given);
	found = contents(path);
	assert_int_equal(lines_of(found), 1 + 10);
	assert_ptr_equal(strstr(found, "time_ps,stream,flow,size_B,age_ps\n"
				       "250000,s,0,100,249000\n"
				       "250000,s,0,100,248000\n"),
		found);
	free(found);
	unlink(path);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Two workers, ways by chance, a ring that overflows, and a scheduler that refuses. */
#define BUSY(probes)                                                                               \
	"application:\n"                                                                           \
	"  queues: {q: {type: atomic, flows: 8}}\n"                                                \
	"  nodes: {to_q: {type: sched_tx, queue: q}, of_q: {type: sched_rx, queues: [q]}}\n"       \
	"  edges: ['classify.ip6 -> to_q', 'of_q.q -> north']\n"                                   \
	"platform:\n"                                                                              \
	"  scheduler: {threshold: 3}\n"                                                            \
	"  ports: {uplink: {device: a}, north: {device: b, tx_ring: 32, bandwidth: 3Gb/s}}\n"      \
	"  workers: [{receive: [uplink.0]}, {receive: [uplink.1]}]\n"                              \
	"  cores: {c: {count: 2, clock: 1GHz}}\n"                                                  \
	"  costs:\n"                                                                               \
	"    walk: 100cycles\n"                                                                    \
	"    poll: 10cycles\n"                                                                     \
	"    dispatch: 50cycles\n"                                                                 \
	"    nodes:\n"                                                                             \
	"      ethdev_rx: {vector: 50cycles, packet: 10cycles}\n"                                  \
	"      classify: {packet: 20cycles, next: {ip4: 6, ip6: 3, punt: 1}}\n"                    \
	"      ip4_lookup: {packet: 20cycles}\n"                                                   \
	"      ip4_rewrite: {packet: 20cycles, next: {north: 5, drop: 1}}\n"                       \
	"      sched_tx: {packet: 20cycles}\n"                                                     \
	"      sched_rx: {packet: 20cycles}\n"                                                     \
	"      ethdev_tx: {vector: 30cycles, packet: 5cycles}\n"                                   \
	"      punt: {packet: 5cycles}\n"                                                          \
	"      drop: {packet: 5cycles}\n"                                                          \
	"traffic: {streams: {s: {to: uplink, size: 100B, rate: 8Mpps, flows: 99}}}\n"              \
	"run: {simulation: {duration: 2ms, warmup: 1ms, replications: 2" probes "}}\n"

#define BUSY_PROBES(trace)                                                                         \
	", probes: {rx: {from: uplink, to: classify}, ip4: {from: classify, to: ip4_lookup" trace  \
	"}, ip6: {from: classify, to: to_q}, punt: {from: classify, to: punt}, rewrite: {from: "   \
	"ip4_lookup, to: ip4_rewrite}, north: {from: ip4_rewrite, to: north}, drop: {from: "       \
	"ip4_rewrite, to: drop}, queue: {from: to_q, to: q}, refused: {from: to_q, to: drop}, "    \
	"back: {from: of_q, to: north}, sent: {from: ethdev_tx-north}, full: {from: "              \
	"ethdev_tx-north, to: drop}, freed: {from: drop}, punted: {from: punt}}"

#define NODE(name, quantity) given_value(&given, &result, 0, WEIR_SIM_NODE, name, quantity)

/* About a vector of each worker is on its way when counting begins and ends. */
static void
assert_near(double a, double b)
{
	if (!(fabs(a - b) <= 2 * 256) || b < 10)
		fail_msg("%g beside %g", a, b);
}

static void
edges_beside_nodes(void **state)
{
	struct given given = given_model(BUSY(BUSY_PROBES("")));
	struct weir_sim_result result = given_run(&given);

	/* What comes to a node comes by its edges, and leaves by them; a visit counts as it begins, edges as it ends. */
	assert_near(PROBE("rx", "n"), NODE("ethdev_rx-uplink", "packets"));
	assert_near(PROBE("ip4", "n") + PROBE("ip6", "n") + PROBE("punt", "n"),
		NODE("classify", "packets"));
	assert_near(PROBE("ip4", "n"), NODE("ip4_lookup", "packets"));
	assert_near(PROBE("rewrite", "n"), NODE("ip4_lookup", "packets"));
	assert_near(PROBE("rewrite", "vectors"), NODE("ip4_lookup", "vectors"));
	assert_near(PROBE("north", "n") + PROBE("drop", "n"), NODE("ip4_rewrite", "packets"));
	assert_near(PROBE("queue", "n") + PROBE("refused", "n"), NODE("sched_tx-to_q", "packets"));
	assert_near(PROBE("queue", "n"),
		given_value(&given, &result, 0, WEIR_SIM_QUEUE, "q", "arrived_packets"));
	assert_near(PROBE("back", "n"), NODE("sched_rx-of_q", "packets"));
	assert_near(PROBE("north", "n") + PROBE("back", "n"), NODE("ethdev_tx-north", "packets"));
	assert_near(PROBE("sent", "n"),
		given_value(&given, &result, 0, WEIR_SIM_STREAM, "s", "delivered_packets"));
	assert_near(PROBE("full", "n"), given_value(&given, &result, 0, WEIR_SIM_DROP,
						"s: tx_ring of north is full", "packets"));
	assert_near(PROBE("drop", "n") + PROBE("refused", "n") + PROBE("full", "n"),
		NODE("drop", "packets"));
	assert_near(PROBE("freed", "n"), NODE("drop", "packets"));
	/* To the packet: one that is freed leaves the model with it. */
	assert_true(PROBE("punted", "n") ==
		    given_value(&given, &result, 0, WEIR_SIM_DROP, "s: node punt", "packets"));
	assert_true(PROBE("refused", "n") > 10 && PROBE("full", "n") > 10);
	assert_true(fabs(PROBE("rewrite", "vector_mean") * PROBE("rewrite", "vectors") -
			    PROBE("rewrite", "n")) < 1e-6);
	assert_true(fabs(PROBE("rewrite", "mean") * PROBE("rewrite", "n") / 1e6 - 1) < 0.01);
	weir_sim_result_free(&result);
	given_free(&given);
}

static void
nothing_is_changed(void **state)
{
	char path[] = "/tmp/weir-test-edge-XXXXXX", text[4096], *trace;
	struct given plain = given_model(BUSY("")), watched;
	struct weir_sim_result without = given_run(&plain), with;
	const struct weir_sim_metric *metrics;
	unsigned int i, nb;

	close(mkstemp(path));
	snprintf(text, sizeof(text), BUSY(BUSY_PROBES(", trace: %s")), path);
	watched = given_model(text);
	with = given_run(&watched);
	assert_int_equal(with.fingerprint, without.fingerprint);
	assert_int_equal(with.events, without.events);
	metrics = weir_sim_model_metrics(plain.model, &nb);
	for (i = 0; i < nb; i++) {
		const double value = given_value(
			&watched, &with, 0, metrics[i].scope, metrics[i].name, metrics[i].quantity);

		assert_true(
			value == without.values[i] || (isnan(value) && isnan(without.values[i])));
	}
	/* What is written is more than what is counted, by the warm-up. */
	trace = contents(path);
	assert_true(lines_of(trace) >
		    1.5 * given_value(&watched, &with, 0, WEIR_SIM_PROBE, "ip4", "n"));
	free(trace);
	unlink(path);
	weir_sim_result_free(&without);
	weir_sim_result_free(&with);
	given_free(&plain);
	given_free(&watched);
}

/* What a job has done goes to its queue: one packet at a time. */
static void
edges_of_jobs(void **state)
{
	struct given given = given_model(
		"application:\n"
		"  queues: {done: {type: atomic}}\n"
		"  nodes:\n"
		"    work: {type: job, queue: done, work: compute, time: 3us, packets: 4}\n"
		"    back: {type: sched_rx, queues: [done]}\n"
		"  edges: ['uplink.classify -> work', 'back.done -> north']\n"
		"platform:\n"
		"  ports: {uplink: {device: a}, north: {pcap_out: b}}\n"
		"  workers: [{receive: [uplink]}]\n"
		"  cores: {c: {clock: 1GHz}}\n"
		"  costs: {walk: 100cycles, dispatch: 9cycles, nodes: {ethdev_rx: {}, job: {}, "
		"sched_rx: {}, pcap_tx: {}, drop: {}}}\n"
		"traffic: {streams: {s: {to: uplink, arrivals: deterministic, interval: 1ns, "
		"count: "
		"50}}}\n"
		"run: {simulation: {duration: 1ms, probes: {done: {from: work, to: done}, full: "
		"{from: work, to: drop}, in: {from: uplink, to: work}}}}\n");
	struct weir_sim_result result = given_run(&given);

	assert_true(PROBE("in", "n") == 50);
	assert_true(PROBE("done", "n") ==
		    given_value(&given, &result, 0, WEIR_SIM_JOB, "work", "packets"));
	assert_true(PROBE("done", "n") > 3 && PROBE("done", "vectors") == PROBE("done", "n"));
	assert_true(PROBE("full", "n") == 50 - PROBE("done", "n"));
	assert_true(PROBE("full", "n") == given_value(&given, &result, 0, WEIR_SIM_DROP,
						  "s: jobs_full of work", "packets"));
	assert_true(PROBE("full", "vector_max") > 10);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* There is one error, in the line of `run` where the mark stands. */
static void
expect_error(char *text, const char *mark, const char *words)
{
	struct weir_base_doc *doc =
		weir_base_doc_load_text(text, strlen(text), "model", &weir_sim_doc_root);
	const char *line = strstr(text, "run: {"), *at = strstr(line, mark);
	const struct weir_base_doc_error *errors;
	unsigned int nb_errors;

	assert_non_null(at);
	assert_null(weir_sim_model_read(doc));
	errors = weir_base_doc_errors(doc, &nb_errors);
	if (nb_errors != 1 || errors[0].column != (unsigned int)(at - line) + 1 ||
		strstr(errors[0].message, words) == NULL) {
		weir_base_doc_errors_print(doc, stderr);
		fail_msg("expected '%s' at '%s'", words, mark);
	}
	weir_base_doc_free(doc);
}

/* Errors stand at the end that is wrong, and name those that there are. */
static void
edges_that_are_not(void **state)
{
	const struct {
		const char *probe, *mark, *words;
	} wrong[] = {
		{"x: {from: north, to: drop}", "north, to",
			"a node that packets come to, one of: of_q, uplink, classify, "},
		{"x: {from: ip6_lookup}", "ip6_lookup}",
			"unknown beginning of an edge 'ip6_lookup'"},
		{"x: {from: classify}", "classify}",
			"packets do not leave at node 'classify'; expected a key 'to' with one of: "
			"punt, ip4_lookup, to_q"},
		{"x: {from: classify, to: drop}", "drop}",
			"no packets go from node 'classify' to 'drop'; expected one of: punt, "
			"ip4_lookup, to_q"},
		{"x: {from: classify, to: q}", "q}", "no packets go from node 'classify' to 'q'"},
		{"x: {from: to_q, to: of_q}", "of_q}", "expected one of: drop, q"},
		{"x: {from: punt, to: drop}", "drop}", "expected no 'to', as they leave there"},
		{"x: {from: ethdev_tx-north, to: punt}", "punt}",
			"one of: drop, or no 'to', for those that leave"},
		{"x: {from: uplink, to: uplink}", "uplink}}", "one of: classify"},
	};
	char text[4096];
	unsigned int i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), BUSY(", probes: {%s}"), wrong[i].probe);
		expect_error(text, wrong[i].mark, wrong[i].words);
	}
}

/* What goes to links' buffers goes along no edge. */
static void
edges_of_links(void **state)
{
	static const char format[] =
		"application:\n"
		"  formats: {f: {size: 64B, clock: 1MHz, step: 10, timestamp: {offset: 0, width: "
		"64}}}\n"
		"  links: {l: {format: f, buffer: {history: 2ms}}}\n"
		"platform:\n"
		"  cores: {c: {clock: 1GHz}}\n"
		"  costs: {walk: 100cycles, poll: 50cycles, nodes: {link_rx: {}}}\n"
		"traffic: {emulated: {l: {frames: 9}}}\n"
		"run: {simulation: {duration: 1ms, probes: {x: {from: link_rx-emulated.l%s}}}}\n";
	static const char *const ends[] = {"", ", to: drop", ", to: l"};
	char text[1024];
	unsigned int i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		snprintf(text, sizeof(text), format, ends[i]);
		expect_error(text, "link_rx", "to buffers of links, not along an edge");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_of_known_times),
		cmocka_unit_test(trace_of_known_times),
		cmocka_unit_test(edges_beside_nodes),
		cmocka_unit_test(nothing_is_changed),
		cmocka_unit_test(edges_of_jobs),
		cmocka_unit_test(edges_that_are_not),
		cmocka_unit_test(edges_of_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
