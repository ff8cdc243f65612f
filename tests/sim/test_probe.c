/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes: what they tell, what they write, and that they change nothing. */
#include "sim_util.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Packets of 250 B at 100, 200, 300 ... ns; a core takes 150 ns for each. So they wait: of the six that come up to 600 ns,
 * the core begins with them at 100, 250, 400, 550 ...
 */
#define MODEL(probes)                                                                              \
	"traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 100ns, size: 250B, "    \
	"count: 6}}}\n"                                                                            \
	"application:\n"                                                                           \
	"  queues: {q: {type: parallel}, r: {type: parallel, group: b}}\n"                         \
	"  objects:\n"                                                                             \
	"    o: {queues: [q], to: r, steps: [{cpu: 150cycles}, {output: true, when: size == "      \
	"1}]}\n"                                                                                   \
	"    p: {queues: [r], steps: [{cpu: 0cycles}]}\n"                                          \
	"platform: {cores: {c: {clock: 1GHz}, d: {clock: 1GHz, groups: [b]}}}\n"                   \
	"run: {simulation: {duration: 2us" probes "}}\n"

#define PROBE(name, quantity) given_value(&given, &result, 0, WEIR_SIM_PROBE, name, quantity)

/* Waiting: 1 from 200 to 250 and 300 to 400; 1, 2 and so on, as is written beside. */
static void
levels_and_edges(void **state)
{
	struct given given = given_model(
		MODEL(", probes: {length: {queue: q}, busy: {cores: c}, inside: {stream: s}, "
		      "in: {from: s, to: q}, between: {from: o, to: r}, out: {from: p}, none: "
		      "{from: o}}"));
	struct weir_sim_result result = given_run(&given);
	/* How many wait from each of these times on, in ns. The first is taken as it comes. */
	const double times[] = {0, 200, 250, 300, 400, 400, 500, 550, 600, 700, 850, 2000};
	const double levels[] = {0, 1, 0, 1, 1, 1, 2, 1, 2, 1, 0};
	double area = 0, squares = 0;
	unsigned int i;

	for (i = 0; i < 11; i++) {
		area += levels[i] * (times[i + 1] - times[i]);
		squares += levels[i] * levels[i] * (times[i + 1] - times[i]);
	}
	area /= 2000;
	assert_true(fabs(PROBE("length", "mean") - area) < 1e-12);
	assert_true(fabs(PROBE("length", "sd") - sqrt(squares / 2000 - area * area)) < 1e-12);
	assert_true(PROBE("length", "min") == 0 && PROBE("length", "max") == 2);
	assert_true(fabs(PROBE("length", "mean") - given_value(&given, &result, 0, WEIR_SIM_QUEUE,
							   "q", "length_mean")) < 1e-12);
	assert_true(fabs(PROBE("busy", "mean") - 900.0 / 2000) < 1e-12);
	assert_true(fabs(PROBE("busy", "sd") - sqrt(0.45 * 0.55)) < 1e-12);
	assert_true(PROBE("busy", "n") == 2 && PROBE("busy", "max") == 1);
	assert_true(fabs(PROBE("inside", "mean") - given_value(&given, &result, 0, WEIR_SIM_STREAM,
							   "s", "inside_mean")) < 1e-12);
	assert_true(PROBE("in", "n") == 6 && PROBE("in", "mean") == 100);
	assert_true(PROBE("in", "min") == 100 && PROBE("in", "max") == 100);
	assert_true(PROBE("between", "n") == 6 && PROBE("between", "mean") == 150);
	assert_true(PROBE("out", "n") == 6 && PROBE("out", "sd") == 0);
	assert_true(PROBE("none", "n") == 0 && isnan(PROBE("none", "mean")));
	weir_sim_result_free(&result);
	given_free(&given);
}

/* What was before does not count, but a level is still what it was. */
static void
after_the_warm_up(void **state)
{
	struct given given = given_model(MODEL(", warmup: 520ns, probes: {length: {queue: q}, "
					       "between: {from: o, to: r}}"));
	struct weir_sim_result result = given_run(&given);

	assert_true(fabs(PROBE("length", "mean") - given_value(&given, &result, 0, WEIR_SIM_QUEUE,
							   "q", "length_mean")) < 1e-12);
	assert_true(PROBE("length", "max") == 2 && PROBE("length", "mean") > 0.1);
	/* At 550, 700, 850 and 1000; the first one's interval began before. */
	assert_true(PROBE("between", "n") == 4 && PROBE("between", "mean") == 150);
	weir_sim_result_free(&result);
	/* Two wait from 500 to 550, then one. */
	given.param.duration_ps = 590000;
	result = given_run(&given);
	assert_true(PROBE("length", "min") == 1 && PROBE("length", "max") == 2);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* All of a file; to be freed. */
static char *
contents(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 100000);

	assert_non_null(file);
	assert_true(fread(text, 1, 99999, file) < 99999);
	fclose(file);
	return text;
}

static void
traces(void **state)
{
	char level[] = "/tmp/weir-test-level-XXXXXX", edge[] = "/tmp/weir-test-edge-XXXXXX",
	     text[2048];
	struct weir_sim_result result;
	struct given given;
	char *found;

	close(mkstemp(level));
	close(mkstemp(edge));
	snprintf(text, sizeof(text),
		MODEL(", replications: 3, probes: {length: {queue: q, trace: %s}, out: {from: p, "
		      "trace: %s}}"),
		level, edge);
	given = given_model(text);
	given.param.nb_threads = 2;
	result = given_run(&given);
	found = contents(level);
	/* At 400 one is taken before another one comes: two events. */
	assert_string_equal(found, "time_ps,level\n0,0\n200000,1\n250000,0\n300000,1\n400000,0\n"
				   "400000,1\n500000,2\n550000,1\n600000,2\n700000,1\n850000,0\n");
	free(found);
	found = contents(edge);
	assert_string_equal(found, "time_ps,stream,flow,size_B,age_ps\n250000,s,0,250,150000\n"
				   "400000,s,0,250,200000\n550000,s,0,250,250000\n"
				   "700000,s,0,250,300000\n850000,s,0,250,350000\n"
				   "1000000,s,0,250,400000\n");
	free(found);
	unlink(level);
	unlink(edge);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* A stream's name may hold what has a meaning in CSV. */
static void
traces_quote_names(void **state)
{
	char edge[] = "/tmp/weir-test-edge-XXXXXX", text[1024];
	struct weir_sim_result result;
	struct given given;
	char *found;

	close(mkstemp(edge));
	snprintf(text, sizeof(text),
		"traffic: {streams: {'a,\"b\"': {to: q, arrivals: deterministic, interval: 100ns, "
		"size: 64B, count: 1}}}\n"
		"application:\n"
		"  queues: {q: {}}\n"
		"  objects: {o: {queues: [q], steps: [{cpu: 5cycles}]}}\n"
		"platform: {cores: {c: {clock: 1GHz}}}\n"
		"run: {simulation: {duration: 1us, probes: {out: {from: o, trace: %s}}}}\n",
		edge);
	given = given_model(text);
	result = given_run(&given);
	found = contents(edge);
	assert_string_equal(found, "time_ps,stream,flow,size_B,age_ps\n"
				   "105000,\"a,\"\"b\"\"\",0,64,5000\n");
	free(found);
	unlink(edge);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* A model with all that can be looked at, with and without its being so. */
#define BUSY(probes)                                                                               \
	"traffic: {streams: {s: {to: q, rate: 1Mpps, flows: 9}, t: {to: q, rate: 500kpps, on: "    \
	"9us, off: 9us}}}\n"                                                                       \
	"application:\n"                                                                           \
	"  queues: {q: {type: ordered, capacity: 30}, r: {type: atomic, flows: 4}}\n"              \
	"  objects:\n"                                                                             \
	"    o: {queues: [q], to: r, steps: [{cpu: 900cycles, distribution: exponential}]}\n"      \
	"    p: {queues: [r], steps: [{use: u, deschedule: true}, {cpu: 300cycles}]}\n"            \
	"platform: {cores: {c: {clock: 1GHz, count: 2}}, units: {u: {servers: 2, delay: 1us, "     \
	"distribution: exponential}}}\n"                                                           \
	"run: {simulation: {duration: 3ms, warmup: 1ms, replications: 2" probes "}}\n"

static void
nothing_is_changed(void **state)
{
	char path[64] = "/tmp/weir-test-trace-XXXXXX", text[2048], *trace, *again;
	struct given plain = given_model(BUSY("")), watched;
	struct weir_sim_result without = given_run(&plain), with;
	unsigned int i;

	close(mkstemp(path));
	snprintf(text, sizeof(text),
		BUSY(", probes: {a: {queue: q, trace: %s}, b: {unit: u}, c: {servers: u}, d: "
		     "{cores: "
		     "c}, e: {stream: t}, f: {from: o, to: r}, g: {from: s, to: q, trace: "
		     "%s.edge}}"),
		path, path);
	watched = given_model(text);
	with = given_run(&watched);
	assert_int_equal(with.fingerprint, without.fingerprint);
	assert_int_equal(with.events, without.events);
	for (i = 0; i < without.nb_metrics; i++)
		assert_true(with.values[i] == without.values[i]);
	/* They did look, and what is written is of the first replication. */
	trace = contents(path);
	assert_true(strlen(trace) > 1000);
	watched.param.nb_replications = 1;
	weir_sim_result_free(&with);
	with = given_run(&watched);
	again = contents(path);
	assert_string_equal(again, trace);
	free(trace);
	free(again);
	assert_true(given_value(&watched, &with, 0, WEIR_SIM_PROBE, "b", "max") > 0);
	assert_true(given_value(&watched, &with, 0, WEIR_SIM_PROBE, "c", "mean") ==
		    given_value(&watched, &with, 0, WEIR_SIM_UNIT, "u", "busy_mean"));
	assert_true(given_value(&watched, &with, 0, WEIR_SIM_PROBE, "e", "n") > 100);
	assert_true(given_value(&watched, &with, 0, WEIR_SIM_PROBE, "f", "n") > 100);
	unlink(path);
	strcat(path, ".edge");
	unlink(path);
	weir_sim_result_free(&without);
	weir_sim_result_free(&with);
	given_free(&plain);
	given_free(&watched);
}

/* Which one, and where it is named. */
static void
traces_that_cannot_be_written(void **state)
{
	static const struct {
		const char *path, *words;
	} traces[] = {
		{"/nowhere/trace.csv", "cannot write '/nowhere/trace.csv': No such file"},
		{"/tmp", "cannot write '/tmp': Is a directory"},
		{"/dev/full", "cannot write all of '/dev/full'"},
	};
	unsigned int i, line, column;
	struct weir_sim_result result;
	struct given given;
	char text[2048];

	for (i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		snprintf(text, sizeof(text),
			MODEL(", find_warmup: true, probes: {out: {from: p}, length: {queue: q, "
			      "trace: %s}}"),
			traces[i].path);
		given = given_model(text);
		assert_int_equal(weir_sim_run(given.model, &given.param, &result), -EIO);
		assert_non_null(result.error);
		assert_non_null(strstr(result.error, traces[i].words));
		assert_string_equal(weir_base_doc_where(result.error_at, &line, &column), "model");
		assert_true(line == 8 && column == 105);
		weir_sim_result_free(&result);
		assert_null(result.error);
		given_free(&given);
	}
}

/* A file that a trace goes to is not touched before its replication: what was in it stays until then. */
static void
traces_are_not_begun_too_early(void **state)
{
	char path[] = "/tmp/weir-test-trace-XXXXXX", text[2048], *found;
	struct weir_sim_result result;
	struct given given;
	const int file = mkstemp(path);

	assert_int_equal(write(file, "old", 3), 3);
	close(file);
	snprintf(text, sizeof(text),
		MODEL(", probes: {a: {queue: q, trace: %s}, b: {queue: r, trace: "
		      "/nowhere/trace.csv}}"),
		path);
	given = given_model(text);
	assert_int_equal(weir_sim_run(given.model, &given.param, &result), -EIO);
	found = contents(path);
	assert_string_equal(found, "old");
	free(found);
	unlink(path);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Errors stand where the probe, or its key, does. */
static void
probes_of_nothing(void **state)
{
	const struct {
		const char *probe;
		unsigned int column;
		const char *words;
	} wrong[] = {
		{"{x: {}}", 44, "a probe of nothing"},
		{"{x: {queue: q, stream: s}}", 44, "several things"},
		{"{x: {queue: z}}", 55, "unknown queue 'z'"},
		{"{x: {unit: z}}", 54, "unknown unit 'z'"},
		{"{x: {cores: z}}", 55, "unknown cores 'z'; expected one of: c, d"},
		{"{x: {ring: z}}", 54, "unknown ring 'z'; expected a queue or a unit"},
		{"{x: {stream: z}}", 56, "unknown stream 'z'; expected one of traffic.streams: s"},
		{"{x: {from: z}}", 54,
			"unknown beginning of an edge 'z'; expected an object (o, p) or a stream "
			"(s)"},
		{"{x: {from: o, to: z}}", 61, "unknown queue 'z'"},
		{"{x: {from: o, to: q}}", 61,
			"no packets go from object 'o' to 'q'; expected one of: r, or no 'to', for "
			"those that leave"},
		{"{x: {from: p, to: q}}", 61, "expected no 'to', as they leave there"},
		{"{x: {from: s, to: r}}", 61,
			"no packets go from stream 's' to 'r'; expected one of: q"},
		{"{x: {from: s}}", 54,
			"packets do not leave at stream 's'; expected a key 'to' with one of: q"},
		{"{x: {queue: q, to: r}}", 62, "'to' without 'from'"},
		{"{x: {queue: q, trace: t}, y: {queue: r, trace: t}}", 90,
			"written by probe 'x' already"},
	};
	const struct weir_base_doc_error *errors;
	unsigned int i, nb_errors;
	char text[2048];

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct weir_base_doc *doc;

		snprintf(text, sizeof(text), MODEL(", probes: %s"), wrong[i].probe);
		doc = weir_base_doc_load_text(text, strlen(text), "model", &weir_sim_doc_root);
		assert_null(weir_sim_model_read(doc));
		errors = weir_base_doc_errors(doc, &nb_errors);
		if (nb_errors != 1 || errors[0].column != wrong[i].column ||
			strstr(errors[0].message, wrong[i].words) == NULL) {
			weir_base_doc_errors_print(doc, stderr);
			fail_msg("expected '%s' at column %u", wrong[i].words, wrong[i].column);
		}
		weir_base_doc_free(doc);
	}
}

/* All that objects send is seen on its edge: parts too, and what has changed its flow meanwhile. */
static void
edges_of_steps(void **state)
{
	struct given given = given_model(
		"traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 100ns, count: "
		"6}}}\n"
		"application:\n"
		"  queues: {q: {flows: 2}, r: {type: parallel}, free: {}, of_p: {}, away: {}}\n"
		"  objects:\n"
		"    o: {queues: [q], steps: [{fork: r, count: 2}, {switch: free}, {cpu: 5cycles}, "
		"{switch: of_p}, {cpu: 5cycles}, {send: [r, away], weights: [1, 0], when: flow == "
		"7}]}\n"
		"    p: {queues: [r, of_p, away], steps: [{cpu: 1cycles}, {drop: all}]}\n"
		"platform: {cores: {c: {count: 4, clock: 1GHz}}}\n"
		"run: {simulation: {duration: 2us, probes: {parts: {from: o, to: r}, out: {from: "
		"o}, spread: {from: o, to: away}}}}\n");
	struct weir_sim_result result = given_run(&given);

	assert_true(PROBE("parts", "n") == 12 && PROBE("parts", "min") == 0);
	assert_true(PROBE("out", "n") == 6 && PROBE("out", "mean") == 100);
	assert_true(PROBE("spread", "n") == 0);
	weir_sim_result_free(&result);
	given_free(&given);
}

#define REFUSED(probe)                                                                             \
	"traffic: {streams: {s: {to: q, rate: 1Mpps}}}\n"                                          \
	"application:\n"                                                                           \
	"  queues: {q: {group: G}, r: {type: parallel}, free: {}}\n"                               \
	"  objects: {o: {queues: [q], to: r, steps: [{cpu: 1cycles}]}, p: {queues: [r], steps: "   \
	"[{switch: free}, {cpu: 1cycles}, {drop: all}]}}\n"                                        \
	"platform:\n"                                                                              \
	"  workers: [{groups: [G]}]\n"                                                             \
	"  cores: {cpu: {clock: 2GHz}, more: {count: 2, clock: 2GHz}}\n"                           \
	"  costs: {walk: 10cycles, dispatch: 10cycles}\n"                                          \
	"run: {simulation: {duration: 1ms, probes: {x: " probe "}}}\n"

/* Workers are cores of their own; a switch sends nothing, nor does who drops all. */
static void
probes_beside_workers(void **state)
{
	static const struct {
		const char *text, *words;
	} wrong[] = {
		{REFUSED("{cores: cpu}"),
			"workers have all cores of 'cpu'; expected one of: more, worker-0"},
		{REFUSED("{cores: gpu}"), "unknown cores 'gpu'; expected one of: more, worker-0"},
		{REFUSED("{from: p, to: free}"), "packets of object 'p' go nowhere"},
		{REFUSED("{from: p}"), "packets of object 'p' go nowhere"},
	};
	struct given given = given_model(REFUSED("{cores: worker-0}"));
	const struct weir_base_doc_error *errors;
	unsigned int i, nb_errors;

	given_free(&given);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct weir_base_doc *doc = weir_base_doc_load_text(
			wrong[i].text, strlen(wrong[i].text), "model", &weir_sim_doc_root);

		assert_null(weir_sim_model_read(doc));
		errors = weir_base_doc_errors(doc, &nb_errors);
		if (nb_errors != 1 || errors[0].line != 9 ||
			strstr(errors[0].message, wrong[i].words) == NULL) {
			weir_base_doc_errors_print(doc, stderr);
			fail_msg("expected '%s'", wrong[i].words);
		}
		weir_base_doc_free(doc);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_and_edges),
		cmocka_unit_test(after_the_warm_up),
		cmocka_unit_test(traces),
		cmocka_unit_test(traces_quote_names),
		cmocka_unit_test(nothing_is_changed),
		cmocka_unit_test(traces_that_cannot_be_written),
		cmocka_unit_test(traces_are_not_begun_too_early),
		cmocka_unit_test(probes_of_nothing),
		cmocka_unit_test(edges_of_steps),
		cmocka_unit_test(probes_beside_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
