/* SPDX-License-Identifier: BSD-3-Clause */
/* Models made of parts: what comes of them, and packets that are spread over an array. */
#include "sim_util.h"

#define TRAFFIC "traffic: {streams: {s: {to: in, arrivals: poisson, rate: 3Mpps, flows: 64}}}\n"
#define RUN     "run: {simulation: {duration: 2ms, warmup: 100us, replications: 2, seed: 7}}\n"

/* Two models run alike, and tell the same of the same things. */
static void
equal_runs(const char *one, const char *other)
{
	struct given a = given_model(one), b = given_model(other);
	struct weir_sim_result of_a = given_run(&a), of_b = given_run(&b);
	const struct weir_sim_metric *metrics;
	unsigned int nb, row, i;

	assert_true(of_a.events > 1000);
	assert_int_equal(of_a.fingerprint, of_b.fingerprint);
	metrics = weir_sim_model_metrics(b.model, &nb);
	for (row = 0; row < of_b.nb_rows; row++)
		for (i = 0; i < nb; i++) {
			const double there = of_b.values[(size_t)row * of_b.nb_metrics + i];
			const double here = given_value(&a, &of_a, row, metrics[i].scope,
				metrics[i].name, metrics[i].quantity);

			if (here != there && !(isnan(here) && isnan(there)))
				fail_msg("%s of %s is %.17g here, %.17g there", metrics[i].quantity,
					metrics[i].name, here, there);
		}
	weir_sim_result_free(&of_a);
	weir_sim_result_free(&of_b);
	given_free(&a);
	given_free(&b);
}

static void
an_array_equals_what_is_written_by_hand(void **state)
{
	equal_runs(
		"models:\n"
		"  blade:\n"
		"    parameters: {clock: 1GHz, work: , seen: \"blade ${index}\"}\n"
		"    application:\n"
		"      queues: {work: {type: parallel, capacity: 5}}\n"
		"      objects:\n"
		"        serve:\n"
		"          queues: work\n"
		"          to: done\n"
		"          steps:\n"
		"            - {cpu: \"${work}\", distribution: exponential}\n"
		"            - {use: nic, when: \"number == ${index}\"}\n"
		"            - {memory: packets, accesses: 2}\n"
		"            - {drop: \"${seen}\", probability: 0.1}\n"
		"    platform:\n"
		"      cores: {cpu: {clock: \"${clock}\"}}\n"
		"      memories: {packets: {levels: {l1: {latency: 10ns}}}}\n"
		"      units: {nic: {delay: 50ns}}\n"
		"    traffic: {streams: {own: {to: work, rate: 100kpps}}}\n"
		"    run: {simulation: {probes: {backlog: {queue: work}, out: {from: serve, to: "
		"done}}}}\n"
		"instances:\n"
		"  blade: {count: 2, parameters: {work: 600cycles}, each: {clock: [1GHz, 2GHz]}}\n"
		"application:\n"
		"  queues: {in: {}, done: {}}\n"
		"  objects:\n"
		"    switch: {queues: in, steps: [{set: number, weights: [1, 1]}, {send: "
		"blade.0.work, when: number == 0}, {send: blade.1.work}]}\n"
		"    leave: {queues: done, steps: [{cpu: 10cycles}]}\n"
		"platform: {cores: {own: {clock: 3GHz}}}\n" TRAFFIC RUN,
		"application:\n"
		"  queues:\n"
		"    in: {}\n"
		"    done: {}\n"
		"    blade.0.work: {type: parallel, capacity: 5, group: first}\n"
		"    blade.1.work: {type: parallel, capacity: 5, group: second}\n"
		"  objects:\n"
		"    switch: {queues: in, steps: [{set: number, weights: [1, 1]}, {send: "
		"blade.0.work, when: number == 0}, {send: blade.1.work}]}\n"
		"    leave: {queues: done, steps: [{cpu: 10cycles}]}\n"
		"    blade.0.serve: {queues: blade.0.work, to: done, steps: [{cpu: 600cycles, "
		"distribution: exponential}, {use: blade.0.nic, when: number == 0}, {memory: "
		"blade.0.packets, accesses: 2}, {drop: blade 0, probability: 0.1}]}\n"
		"    blade.1.serve: {queues: blade.1.work, to: done, steps: [{cpu: 600cycles, "
		"distribution: exponential}, {use: blade.1.nic, when: number == 1}, {memory: "
		"blade.1.packets, accesses: 2}, {drop: blade 1, probability: 0.1}]}\n"
		"platform:\n"
		"  cores: {own: {clock: 3GHz}, blade.0.cpu: {clock: 1GHz, groups: first}, "
		"blade.1.cpu: {clock: 2GHz, groups: second}}\n"
		"  memories: {blade.0.packets: {levels: {l1: {latency: 10ns}}}, blade.1.packets: "
		"{levels: {l1: {latency: 10ns}}}}\n"
		"  units: {blade.0.nic: {delay: 50ns}, blade.1.nic: {delay: 50ns}}\n"
		"traffic:\n"
		"  streams:\n"
		"    s: {to: in, arrivals: poisson, rate: 3Mpps, flows: 64}\n"
		"    blade.0.own: {to: blade.0.work, rate: 100kpps}\n"
		"    blade.1.own: {to: blade.1.work, rate: 100kpps}\n"
		"run:\n"
		"  simulation:\n"
		"    duration: 2ms\n"
		"    warmup: 100us\n"
		"    replications: 2\n"
		"    seed: 7\n"
		"    probes:\n"
		"      blade.0.backlog: {queue: blade.0.work}\n"
		"      blade.0.out: {from: blade.0.serve, to: done}\n"
		"      blade.1.backlog: {queue: blade.1.work}\n"
		"      blade.1.out: {from: blade.1.serve, to: done}\n");
}

/* Names are looked for from the inside to the outside, also by what parameters hold. */
static void
parts_within_parts_equal_what_is_written_by_hand(void **state)
{
	equal_runs("models:\n"
		   "  rack:\n"
		   "    parameters: {cost: 100cycles, next: }\n"
		   "    models:\n"
		   "      blade:\n"
		   "        parameters: {cost: }\n"
		   "        application:\n"
		   "          queues: {work: {}}\n"
		   "          objects: {serve: {queues: work, to: gather, steps: [{cpu: "
		   "\"${cost}\"}]}}\n"
		   "    instances: {blade: {names: [left, right], parameters: {cost: "
		   "\"${cost}\"}}}\n"
		   "    application:\n"
		   "      queues: {in: {}, gather: {}}\n"
		   "      objects:\n"
		   "        deal: {queues: in, steps: [{send: blade.left.work, probability: 0.5}, "
		   "{send: blade.right.work}]}\n"
		   "        collect: {queues: gather, to: \"${next}\", steps: [{cpu: 20cycles}]}\n"
		   "    platform: {cores: {cpu: {clock: 1GHz, count: 2}}}\n"
		   "instances: {rack: {parameters: {next: done, cost: 150cycles}}}\n"
		   "application:\n"
		   "  queues: {in: {}, done: {}, gather: {}}\n"
		   "  objects:\n"
		   "    enter: {queues: in, to: rack.in, steps: [{cpu: 1cycles}]}\n"
		   "    leave: {queues: [done, gather], steps: [{cpu: 1cycles}]}\n"
		   "platform: {cores: {own: {clock: 1GHz}}}\n"
		   "traffic: {streams: {s: {to: in, arrivals: poisson, rate: 3Mpps}, t: {to: "
		   "gather, rate: 1kpps}}}\n" RUN,
		"application:\n"
		"  queues:\n"
		"    in: {}\n"
		"    done: {}\n"
		"    gather: {}\n"
		"    rack.in: {group: rack}\n"
		"    rack.gather: {group: rack}\n"
		"    rack.blade.left.work: {group: rack}\n"
		"    rack.blade.right.work: {group: rack}\n"
		"  objects:\n"
		"    enter: {queues: in, to: rack.in, steps: [{cpu: 1cycles}]}\n"
		"    leave: {queues: [done, gather], steps: [{cpu: 1cycles}]}\n"
		"    rack.deal: {queues: rack.in, steps: [{send: rack.blade.left.work, "
		"probability: 0.5}, {send: rack.blade.right.work}]}\n"
		"    rack.collect: {queues: rack.gather, to: done, steps: [{cpu: 20cycles}]}\n"
		"    rack.blade.left.serve: {queues: rack.blade.left.work, to: rack.gather, steps: "
		"[{cpu: 150cycles}]}\n"
		"    rack.blade.right.serve: {queues: rack.blade.right.work, to: rack.gather, "
		"steps: [{cpu: 150cycles}]}\n"
		"platform: {cores: {own: {clock: 1GHz}, rack.cpu: {clock: 1GHz, count: 2, groups: "
		"rack}}}\n"
		"traffic: {streams: {s: {to: in, arrivals: poisson, rate: 3Mpps}, t: {to: gather, "
		"rate: 1kpps}}}\n" RUN);
}

/* A text of the document, by the keys that lead to it. */
static const char *
text_at(const struct weir_base_doc *doc, const char *const *keys)
{
	const struct weir_base_doc_value *value = weir_base_doc_root(doc);

	for (; *keys != NULL; keys++)
		value = weir_base_doc_get(value, *keys);
	return weir_base_doc_str(value);
}

static struct weir_base_doc *
load(const char *text)
{
	return weir_base_doc_load_text(text, strlen(text), "m.yaml", &weir_sim_doc_root);
}

static void
parameters_are_put_in(void **state)
{
	static const struct {
		const char *queue, *key, *text;
	} expected[] = {
		{"a.0.q", "group", "a of 2: number 0, a.0 ${b}"},
		{"a.1.q", "group", "a of 2: number 1, a.1 ${b}"},
		{"a.0.q", "priority", "3"},
		{"a.1.q", "priority", "4"},
		{"a.1.q", "type", "ordered"},
		{"one.q", "group", "a of 1: number 0, one ${b}"},
		{"one.q", "priority", "7"},
		{"one.q", "type", "atomic"},
		{"one.q", "discipline", "${x}"},
	};
	struct weir_base_doc *doc = load(
		"models:\n"
		"  a:\n"
		"    parameters: {letter: a, priority: 7, raw: \"$${x}\", text: \"${letter} of "
		"${count}\", "
		"type: }\n"
		"    application:\n"
		"      queues:\n"
		"        q:\n"
		"          group: \"${text}: number ${index}, ${instance} $${b}\"\n"
		"          priority: ${priority}\n"
		"          type: ${type}\n"
		"          discipline: ${raw}\n"
		"instances:\n"
		"  a: {count: 2, parameters: {type: ordered}, each: {priority: [3, 4]}}\n"
		"  one: {model: a, parameters: {type: atomic}}\n");
	const struct weir_base_doc_value *queues;
	unsigned int nb_errors, i;

	weir_base_doc_errors(doc, &nb_errors);
	if (nb_errors > 0)
		weir_base_doc_errors_print(doc, stderr);
	assert_int_equal(nb_errors, 0);
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_string_equal(text_at(doc, (const char *const[]){"application", "queues",
							 expected[i].queue, expected[i].key, NULL}),
			expected[i].text);
	queues = weir_base_doc_get(
		weir_base_doc_get(weir_base_doc_root(doc), "application"), "queues");
	assert_int_equal(weir_base_doc_count(queues), 3);
	/* What was a text is a number, and what was none is no array. */
	assert_int_equal(weir_base_doc_u64(
				 weir_base_doc_get(weir_base_doc_get(queues, "a.1.q"), "priority")),
		4);
	assert_string_equal(weir_base_doc_array_name(weir_base_doc_get(queues, "a.1.q")), "a.*.q");
	assert_null(weir_base_doc_array_name(weir_base_doc_get(queues, "one.q")));
	weir_base_doc_free(doc);
}

/* A parameter may be a list, where it is all of a text. */
static void
parameters_may_be_lists(void **state)
{
	equal_runs("models:\n"
		   "  p:\n"
		   "    parameters: {weights: , steps: [{cpu: 10cycles}]}\n"
		   "    application: {queues: {q: {}}, objects: {o: {queues: q, steps: "
		   "\"${steps}\"}}}\n"
		   "    traffic: {streams: {s: {to: q, rate: 1Mpps, attributes: {a: {weights: "
		   "\"${weights}\"}}}}}\n"
		   "instances: {p: {parameters: {weights: [1, 2]}}}\n"
		   "platform: {cores: {c: {clock: 1GHz}}}\n" RUN,
		"application: {queues: {p.q: {}}, objects: {o: {queues: p.q, steps: [{cpu: "
		"10cycles}]}}}\n"
		"traffic: {streams: {p.s: {to: p.q, rate: 1Mpps, attributes: {a: {weights: [1, "
		"2]}}}}}\n"
		"platform: {cores: {c: {clock: 1GHz}}}\n" RUN);
}

/* Eight blades behind a switch, which sends to one of them. */
#define BLADES(count, send)                                                                        \
	"models:\n"                                                                                \
	"  b:\n"                                                                                   \
	"    application: {queues: {q: {}}, objects: {o: {queues: q, steps: [{cpu: "               \
	"100cycles}]}}}\n"                                                                         \
	"    platform: {cores: {c: {clock: 1GHz}}}\n"                                              \
	"instances: {b: {count: " count "}}\n"                                                     \
	"application: {queues: {in: {}, spare: {}}, objects: {switch: {queues: in, steps: [" send  \
	"]}, o: {queues: spare, steps: [{cpu: 1cycles}]}}}\n"                                      \
	"platform: {cores: {own: {clock: 3GHz}}}\n"                                                \
	"traffic: {streams: {s: {to: in, arrivals: poisson, rate: 4Mpps, flows: 4096, "            \
	"attributes: {kind: {weights: [1, 1, 2]}}}, t: {to: spare, rate: 1kpps}}}\n"               \
	"run: {simulation: {duration: 10ms}}\n"

/* How many packets come to blade i, as a part of all; several runs obey the laws besides. */
static void
shares(const char *text, unsigned int nb, double *share)
{
	struct given given = given_model(text);
	struct weir_sim_result result = given_run(&given);
	double sum = 0;
	char name[16];
	unsigned int i;

	for (i = 0; i < nb; i++) {
		snprintf(name, sizeof(name), "b.%u.q", i);
		share[i] = given_value(&given, &result, 0, WEIR_SIM_QUEUE, name, "arrived_packets");
		sum += share[i];
	}
	assert_true(sum > 30000);
	assert_true(given_value(&given, &result, 0, WEIR_SIM_STREAM, "s", "arrived_packets") - sum <
		    10);
	for (i = 0; i < nb; i++)
		share[i] /= sum;
	weir_sim_result_free(&result);
	given_free(&given);
}

static void
packets_are_spread_over_an_array(void **state)
{
	/* By chance: some 40,000 packets, of which the share of one has a standard deviation of 0.17 %. */
	static const double heavy[] = {1, 3, 1, 1, 1, 1, 1, 1};
	double share[8];
	unsigned int i;

	shares(BLADES("8", "{send: b.*.q, by: chance}"), 8, share);
	for (i = 0; i < 8; i++)
		assert_true(fabs(share[i] - 0.125) < 0.01);
	shares(BLADES("8", "{send: b.*.q, weights: [1, 3, 1, 1, 1, 1, 1, 1]}"), 8, share);
	for (i = 0; i < 8; i++)
		assert_true(fabs(share[i] - heavy[i] / 10) < 0.01);
	/* By an attribute, which is 0, 1 or 2, modulo two blades: 0 and 2 come to the first. */
	shares(BLADES("2", "{send: b.*.q, by: kind}"), 2, share);
	assert_true(fabs(share[0] - 0.75) < 0.01);
	/* By flow: each blade gets nearly the same number of the flows. */
	shares(BLADES("8", "{send: b.*.q, by: flow}"), 8, share);
	for (i = 0; i < 8; i++)
		assert_true(fabs(share[i] - 0.125) < 0.01);
	/* Of a list, in its order; an array may be of one. */
	shares(BLADES("2", "{send: [b.1.q, b.0.q], weights: [3, 1]}"), 2, share);
	assert_true(fabs(share[1] - 0.75) < 0.01);
	shares(BLADES("1", "{send: b.*.q, by: flow}"), 1, share);
}

/* Parts of each packet go to all of an array, two to each, and it waits for them. */
static void
parts_are_sent_to_all_of_an_array(void **state)
{
	EXPECT("models: {b: {application: {queues: {q: {}}, objects: {o: {queues: q, steps: [{cpu: "
	       "100cycles}]}}}, platform: {cores: {c: {clock: 1GHz}}}}}\n"
	       "instances: {b: {count: 3}}\n"
	       "application: {queues: {in: {}}, objects: {o: {queues: in, steps: [{fork: b.*.q, "
	       "count: 2}, {join: true}]}}}\n"
	       "platform: {cores: {own: {clock: 1GHz}}}\n"
	       "traffic: {streams: {s: {to: in, arrivals: deterministic, rate: 1Mpps, count: "
	       "10}}}\n"
	       "run: {simulation: {duration: 1ms}}\n",
		{WEIR_SIM_QUEUE, "b.0.q", "arrived_packets", 20},
		{WEIR_SIM_QUEUE, "b.2.q", "arrived_packets", 20},
		{WEIR_SIM_QUEUE, "b.*.q", "arrived_packets", 60},
		{WEIR_SIM_STREAM, "s", "forked_packets", 60},
		{WEIR_SIM_STREAM, "s", "latency_max_ns", 200});
}

/* All packets of a flow go one way: none overtakes another, however different the ways are. */
static void
flows_are_kept_together(void **state)
{
	static const char text[] =
		"models: {b: {parameters: {cost: }, application: {queues: {q: {}}, objects: {o: "
		"{queues: q, steps: [{cpu: \"${cost}\"}]}}}, platform: {cores: {c: {clock: "
		"1GHz}}}}}\n"
		"instances: {b: {count: 2, each: {cost: [10cycles, 400cycles]}}}\n"
		"application: {queues: {in: {}}, objects: {o: {queues: in, steps: [{send: b.*.q, "
		"by: %s}]}}}\n"
		"platform: {cores: {own: {clock: 3GHz}}}\n"
		"traffic: {streams: {s: {to: in, arrivals: poisson, rate: 2Mpps, flows: 4}}}\n" RUN;
	static const char *const ways[] = {"flow", "chance"};
	double reordered[2];
	char filled[sizeof(text) + 16];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct given given;
		struct weir_sim_result result;

		snprintf(filled, sizeof(filled), text, ways[i]);
		given = given_model(filled);
		result = given_run(&given);
		reordered[i] =
			given_value(&given, &result, 0, WEIR_SIM_STREAM, "s", "reordered_packets");
		weir_sim_result_free(&result);
		given_free(&given);
	}
	assert_true(reordered[0] == 0);
	assert_true(reordered[1] > 0);
}

/* The random numbers of an instance are its own: others beside it change nothing. */
static void
an_instance_draws_the_same_numbers_beside_others(void **state)
{
	static const char text[] =
		"models:\n"
		"  b:\n"
		"    application: {queues: {q: {}}, objects: {o: {queues: q, steps: [{cpu: "
		"100cycles, distribution: exponential}]}}}\n"
		"    platform: {cores: {c: {clock: 1GHz}}}\n"
		"    traffic: {streams: {s: {to: q, arrivals: poisson, rate: 5Mpps}}}\n"
		"instances: {b: {count: %u}}\n" RUN;
	double latency[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		char filled[sizeof(text)];
		struct given given;
		struct weir_sim_result result;

		snprintf(filled, sizeof(filled), text, 2 + i);
		given = given_model(filled);
		result = given_run(&given);
		latency[i] = given_value(
			&given, &result, 0, WEIR_SIM_STREAM, "b.1.s", "latency_mean_ns");
		assert_true(latency[i] != given_value(&given, &result, 0, WEIR_SIM_STREAM, "b.0.s",
						  "latency_mean_ns"));
		weir_sim_result_free(&result);
		given_free(&given);
	}
	assert_true(latency[0] == latency[1]);
}

/* All that a part can have, so many times. */
#define FULL(count)                                                                                \
	"models:\n"                                                                                \
	"  b:\n"                                                                                   \
	"    parameters: {cores: 3}\n"                                                             \
	"    application:\n"                                                                       \
	"      queues: {q: {type: parallel, capacity: 3}}\n"                                       \
	"      objects: {o: {queues: q, to: out, steps: [{cpu: 100cycles, distribution: "          \
	"exponential}, {memory: m, accesses: 1}, {use: u}, {fork: out, probability: 0.1}]}}\n"     \
	"    platform:\n"                                                                          \
	"      cores: {c: {clock: 1GHz, count: \"${cores}\"}, spare: {clock: 1GHz, groups: "       \
	"[none]}}\n"                                                                               \
	"      memories: {m: {levels: {l1: {capacity: 500B, latency: 10ns}, l2: {latency: "        \
	"30ns}}}}\n"                                                                               \
	"      units: {u: {delay: 100ns, distribution: exponential, servers: 2, capacity: 1}}\n"   \
	"    traffic: {streams: {s: {to: q, arrivals: poisson, rate: 5Mpps, size: 200B, flows: "   \
	"4}}}\n"                                                                                   \
	"instances: {b: {" count "}}\n"                                                            \
	"application: {queues: {out: {type: parallel}}, objects: {o: {queues: out, steps: [{cpu: " \
	"10cycles}]}}}\n"                                                                          \
	"platform: {cores: {own: {clock: 1GHz}}}\n"                                                \
	"run: {simulation: {duration: 3ms, warmup: 100us, batches: 2, replications: 2}}\n"

static unsigned int
nb_stars(const char *text)
{
	unsigned int nb = 0;

	for (; *text != '\0'; text++)
		nb += *text == '*';
	return nb;
}

/* An array of one is told of as its only one is: no quantity is forgotten. */
static void
an_array_of_one_is_told_of_as_that_one(void **state)
{
	struct given given = given_model(FULL("count: 1"));
	struct weir_sim_result result = given_run(&given);
	const struct weir_sim_metric *metrics;
	unsigned int nb, row, i, nb_seen = 0;
	char name[64];

	metrics = weir_sim_model_metrics(given.model, &nb);
	assert_int_equal(result.nb_rows, 4);
	for (row = 0; row < result.nb_rows; row++)
		for (i = 0; i < nb; i++) {
			const double all = result.values[(size_t)row * nb + i];
			double one;

			if (nb_stars(metrics[i].name) == 0)
				continue;
			snprintf(name, sizeof(name), "%s", metrics[i].name);
			*strchr(name, '*') = '0';
			one = given_value(
				&given, &result, row, metrics[i].scope, name, metrics[i].quantity);
			if (all != one && !(isnan(all) && isnan(one)))
				fail_msg("%s of %s is %g, but %g of all", metrics[i].quantity, name,
					one, all);
			nb_seen += one > 0;
		}
	/* Streams, queues, two kinds of cores, units, two levels. */
	assert_true(nb_seen > 4 * 60);
	weir_sim_result_free(&result);
	given_free(&given);
}

static double
of(const struct given *given, const struct weir_sim_result *result, enum weir_sim_scope scope,
	const char *name, const char *quantity)
{
	return given_value(given, result, 1, scope, name, quantity);
}

/* Sums of what is counted and of levels, means over all packets or all cores, the most of any one. */
static void
an_array_is_told_of_as_a_whole(void **state)
{
	static const char *const sums[] = {
		"arrived_packets", "dropped_packets", "served_pps", "length_mean"};
	struct given given = given_model(FULL("count: 3, each: {cores: [1, 2, 5]}"));
	struct weir_sim_result result = given_run(&given);
	double sum, weight, most, value;
	char name[16];
	unsigned int i, j;

	for (j = 0; j < sizeof(sums) / sizeof(sums[0]); j++) {
		for (sum = 0, i = 0; i < 3; i++) {
			snprintf(name, sizeof(name), "b.%u.q", i);
			sum += of(&given, &result, WEIR_SIM_QUEUE, name, sums[j]);
		}
		value = of(&given, &result, WEIR_SIM_QUEUE, "b.*.q", sums[j]);
		assert_true(sum > 0 && fabs(value - sum) < 1e-9 * sum);
	}
	for (sum = weight = most = 0, i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "b.%u.q", i);
		value = of(&given, &result, WEIR_SIM_QUEUE, name, "arrived_packets") -
			of(&given, &result, WEIR_SIM_QUEUE, name, "dropped_packets");
		weight += value;
		sum += value * of(&given, &result, WEIR_SIM_QUEUE, name, "wait_mean_ns");
		most = fmax(most, of(&given, &result, WEIR_SIM_QUEUE, name, "wait_max_ns"));
	}
	/* Some that came had not been taken at the ends. */
	value = of(&given, &result, WEIR_SIM_QUEUE, "b.*.q", "wait_mean_ns");
	assert_true(fabs(value - sum / weight) < 0.01 * value);
	assert_true(of(&given, &result, WEIR_SIM_QUEUE, "b.*.q", "wait_max_ns") == most);
	for (sum = 0, i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "b.%u.c", i);
		sum += of(&given, &result, WEIR_SIM_CORES, name, "busy_mean");
	}
	value = of(&given, &result, WEIR_SIM_CORES, "b.*.c", "utilisation");
	assert_true(fabs(value - sum / 8) < 1e-9);
	assert_true(of(&given, &result, WEIR_SIM_CORES, "b.*.spare", "utilisation") == 0);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Arrays of arrays: all of all of them. */
static void
arrays_of_arrays_are_told_of_as_a_whole(void **state)
{
	struct given given = given_model(
		"models:\n"
		"  r: {models: {b: {application: {queues: {q: {}}, objects: {o: {queues: q, steps: "
		"[{cpu: 1cycles}]}}}, traffic: {streams: {s: {to: q, arrivals: deterministic, "
		"rate: 1Mpps}}}}}, instances: "
		"{b: {count: 3}, one: {model: b}}}\n"
		"instances: {r: {names: [x, y]}}\n"
		"platform: {cores: {own: {clock: 1GHz}}}\n" RUN);
	struct weir_sim_result result = given_run(&given);

	assert_true(of(&given, &result, WEIR_SIM_QUEUE, "r.*.b.*.q", "arrived_packets") ==
		    6 * of(&given, &result, WEIR_SIM_QUEUE, "r.x.b.1.q", "arrived_packets"));
	assert_true(of(&given, &result, WEIR_SIM_QUEUE, "r.*.one.q", "arrived_packets") ==
		    2 * of(&given, &result, WEIR_SIM_QUEUE, "r.y.one.q", "arrived_packets"));
	assert_int_equal(weir_sim_model_metric_find(
				 given.model, WEIR_SIM_QUEUE, "r.x.b.*.q", "arrived_packets"),
		-1);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* More groups of cores than a word has bits. */
static void
an_array_may_be_large(void **state)
{
	double share[8];

	shares(BLADES("300", "{send: b.*.q, by: kind}"), 3, share);
	assert_true(fabs(share[2] - 0.5) < 0.01);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_array_equals_what_is_written_by_hand),
		cmocka_unit_test(parts_within_parts_equal_what_is_written_by_hand),
		cmocka_unit_test(parameters_are_put_in),
		cmocka_unit_test(parameters_may_be_lists),
		cmocka_unit_test(packets_are_spread_over_an_array),
		cmocka_unit_test(parts_are_sent_to_all_of_an_array),
		cmocka_unit_test(flows_are_kept_together),
		cmocka_unit_test(an_instance_draws_the_same_numbers_beside_others),
		cmocka_unit_test(an_array_of_one_is_told_of_as_that_one),
		cmocka_unit_test(an_array_is_told_of_as_a_whole),
		cmocka_unit_test(arrays_of_arrays_are_told_of_as_a_whole),
		cmocka_unit_test(an_array_may_be_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
