/* SPDX-License-Identifier: BSD-3-Clause */
/* Models made of parts: parts in files, and what is wrong, which is told with its place in the part and one of its instances. */
#include "sim_util.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct weir_base_doc *
load(const char *text)
{
	return weir_base_doc_load_text(text, strlen(text), "m.yaml", &weir_sim_doc_root);
}

#define BLADE(queue) "models: {b: {parameters: {p: 1}, application: {queues: {q: " queue "}}}}\n"

static void
errors_in_a_part_are_told_where_it_stands(void **state)
{
	/* Once, with an instance and its parameters. */
	expect_errors(
		BLADE("{type: \"${p}\"}") "instances: {b: {count: 3, parameters: {p: odd}}}\n",
		"m.yaml:1:67: 'odd' is not known for 'type'; expected one of: atomic, parallel, "
		"ordered (in b.0: p = odd)\n");
	/* Twice where they differ. */
	expect_errors(
		BLADE("{priority: \"${p}\"}") "instances: {b: {count: 2, each: {p: [8, 9]}}}\n",
		"m.yaml:1:71: '8' is out of range; expected an integer from 0 to 7 (in b.0: p = "
		"8)\n"
		"m.yaml:1:71: '9' is out of range; expected an integer from 0 to 7 (in b.1: p = "
		"9)\n");
	/* Of the model as a whole, which calls them by their names. */
	expect_errors(BLADE("{}") "instances: {b: {count: 2}}\n"
				  "application: {queues: {r: {}}, objects: {o: {queues: r, steps: "
				  "[{cpu: 1cycles}]}}}\n"
				  "platform: {cores: {c: {clock: 1GHz}}}\n"
				  "traffic: {streams: {s: {to: r, rate: 1pps}}}\n",
		"m.yaml:1:57: queue 'b.0.q' is never served: it belongs to no object; expected it "
		"among the 'queues' of one (in b.0: p = 1)\n"
		"m.yaml:1:57: nothing is sent to queue 'b.0.q'; expected a stream or an object "
		"whose 'to' it is (in b.0: p = 1)\n");
}

static void
parameters_that_are_wrong_are_told(void **state)
{
	expect_errors(BLADE("{group: \"x ${pp}\"}") "instances: {b: {}}\n",
		"m.yaml:1:68: unknown parameter 'pp', did you mean 'p'? expected one of: index, "
		"count, instance, p (in b: p = 1)\n");
	expect_errors(BLADE("{group: '${p'}") "instances: {b: {}}\n",
		"m.yaml:1:68: '${' without '}'; expected a parameter such as '${name}', or '$${' "
		"for these signs (in b: p = 1)\n");
	expect_errors(BLADE("{group: \"x ${p}\"}") "instances: {b: {parameters: {p: [1, 2]}}}\n",
		"m.yaml:1:68: parameter 'p' is a map or list; expected a single value within a "
		"text (in b: p = [1, 2])\n");
	expect_errors(BLADE("{}") "instances: {b: {count: 2, parameters: {q: 1}, each: {r: [1, "
				  "2], p: [1, 2, 3]}}}\n",
		"m.yaml:2:40: unknown parameter 'q'; expected one of: p\n"
		"m.yaml:2:54: unknown parameter 'r'; expected one of: p\n"
		"m.yaml:2:65: 'p' is no list of 2; expected a value for each instance\n");
	expect_errors("models: {b: {application: {queues: {q: {}}}}}\n"
		      "instances: {b: {parameters: {q: 1}}}\n",
		"m.yaml:2:30: unknown parameter 'q'; expected none, as the part has no "
		"'parameters'\n");
	expect_errors(BLADE("{}") "instances: {b: {parameters: {p: 1}, each: {p: [1]}}}\n",
		"m.yaml:2:44: 'p' stands among the 'parameters' too; expected it once\n");
	expect_errors("models: {b: {parameters: {p: , count: 1}}}\ninstances: {b: {}}\n",
		"m.yaml:1:32: every instance has a parameter 'count'; expected another name\n"
		"m.yaml:2:13: parameter 'p' has no value; expected it among the 'parameters'\n");
	expect_errors(BLADE("{}") "instances: {b: {parameters: {p: \"${q}\"}}}\n",
		"m.yaml:2:33: '${q}' is no parameter; expected a text without: only parts have "
		"some\n");
}

static void
instances_that_are_wrong_are_told(void **state)
{
	expect_errors("instances: {b: {}, c: {model: d}}\n",
		"m.yaml:1:13: unknown model 'b'; expected one of 'models', of which there are "
		"none\n"
		"m.yaml:1:31: unknown model 'd'; expected one of 'models', of which there are "
		"none\n");
	expect_errors("models: {b: {instances: {x: {model: y}}}, c: {models: {i: {}}, instances: "
		      "{x: {}}}}\ninstances: {b: {}, c: {}}\n",
		"m.yaml:1:37: unknown model 'y'; expected b or c (in b)\n"
		"m.yaml:1:76: unknown model 'x'; expected i (in c)\n");
	expect_errors(BLADE("{}") "instances: {b: {names: []}, c: {model: b, names: [x, y, x]}}\n",
		"m.yaml:2:17: 'names' has none; expected one for each instance\n"
		"m.yaml:2:57: 'x' stands among the 'names' twice; expected each name once\n");
	expect_errors(BLADE("{}") "instances: {b.1: {model: b}, c: {model: b, names: [x, y.z]}, "
				  "d: {model: b, names: [x], count: 1}}\n",
		"m.yaml:2:13: 'b.1' has '.' or '*' in it, or is empty; expected a name without\n"
		"m.yaml:2:55: a name with '.' or '*', or none; expected one without\n"
		"m.yaml:2:76: 'names' beside 'count'; expected one of them\n");
	expect_errors(BLADE("{}") "instances: {b: {count: 2}}\napplication: {queues: {b.1.q: "
				  "{}}}\n",
		"m.yaml:1:57: the name 'b.1.q' is taken, at m.yaml:3:24; expected each name once "
		"(in b.1: p = 1)\n");
	expect_errors("models:\n  a: {instances: {x: {model: b}}}\n  b: {instances: {y: {model: "
		      "a}}}\ninstances: {a: {}}\n",
		"m.yaml:3:30: model 'a' is a part of itself; expected no circle (in a.x)\n");
	expect_errors("models: {b: {run: {seed: 1}, platform: {dispatch: {}}}}\ninstances: {b: "
		      "{}}\n",
		"m.yaml:1:20: unknown key 'seed' in 'run'; expected one of: simulation\n"
		"m.yaml:1:41: unknown key 'dispatch' in 'platform'; expected one of: cores, "
		"memories, units\n");
	expect_errors("models: {a: {instances: {x: {model: b, count: 4096}}}, b: {}}\ninstances: "
		      "{a: {count: 4096}}\n",
		"m.yaml:1:26: too many instances; expected at most 65536 (in a.15)\n");
}

/* Each part holds the next one. */
static void
depth_is_bounded(void **state)
{
	char text[2000] = "models:\n", *at = text + strlen(text);
	struct weir_base_doc *doc;
	const struct weir_base_doc_error *errors;
	unsigned int nb_errors, i;

	for (i = 0; i < 20; i++)
		at += sprintf(at, "  p%u: {instances: {p%u: {}}}\n", i, i + 1);
	sprintf(at, "  p20: {}\ninstances: {p0: {}}\n");
	doc = load(text);
	errors = weir_base_doc_errors(doc, &nb_errors);
	assert_int_equal(nb_errors, 1);
	assert_string_equal(errors[0].message,
		"instances within instances, more than 16 deep (in "
		"p0.p1.p2.p3.p4.p5.p6.p7.p8.p9.p10.p11.p12.p13.p14.p15)");
	weir_base_doc_free(doc);
}

/* Parts in files, in a directory of their own. */
static char folder[] = "/tmp/weir-test-parts-XXXXXX";

static void
write_file(const char *name, const char *text)
{
	char path[100];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static struct weir_base_doc *
load_file(const char *name)
{
	char path[100];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return weir_base_doc_load(path, &weir_sim_doc_root);
}

/* Its first error: file behind the folder's name, place and words. */
static void
expect_file_error(const char *name, const char *file, unsigned int line, unsigned int column,
	const char *words)
{
	struct weir_base_doc *doc = load_file(name);
	const struct weir_base_doc_error *errors;
	unsigned int nb_errors;

	assert_null(weir_sim_model_read(doc));
	errors = weir_base_doc_errors(doc, &nb_errors);
	if (nb_errors != 1 || strcmp(errors[0].file + strlen(folder) + 1, file) != 0 ||
		errors[0].line != line || errors[0].column != column ||
		strstr(errors[0].message, words) == NULL) {
		weir_base_doc_errors_print(doc, stderr);
		fail_msg("expected '%s' at %s:%u:%u alone", words, file, line, column);
	}
	weir_base_doc_free(doc);
}

#define REST                                                                                       \
	"application: {queues: {in: {}}, objects: {o: {queues: in, to: b.1.q, steps: [{cpu: "      \
	"10cycles}]}}}\n"                                                                          \
	"platform: {cores: {c: {clock: 1GHz}}}\n"                                                  \
	"traffic: {streams: {s: {to: in, rate: 1Mpps}}}\n"                                         \
	"run: {simulation: {duration: 1ms}}\n"

static void
parts_come_from_files(void **state)
{
	struct weir_base_doc *doc;
	struct weir_sim_model *model;
	char path[100];

	assert_non_null(mkdtemp(folder));
	/* A file that a parameter names is beside the one that gives it; the part's own are beside the part. */
	write_file("sizes.csv", "size_B\n100\n");
	write_file("main.yaml", "include: parts/library.yaml\n"
				"models: {b: {file: parts/b.yaml}}\n"
				"instances: {b: {count: 2, parameters: {sizes: sizes.csv}}, c: "
				"{parameters: {sizes: sizes.csv}}}\n" REST);
	snprintf(path, sizeof(path), "%s/parts", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	write_file("parts/library.yaml", "models: {c: {file: b.yaml}}\n");
	write_file("parts/intervals.csv", "interval_us\n3\n");
	write_file("parts/b.yaml",
		"parameters: {sizes: }\n"
		"application: {queues: {q: {}}, objects: {o: {queues: q, steps: [{cpu: "
		"1cycles}]}}}\n"
		"traffic: {streams: {s: {to: q, arrivals: empirical, intervals: intervals.csv, "
		"sizes: empirical, size_table: \"${sizes}\"}}}\n");
	doc = load_file("main.yaml");
	model = weir_sim_model_read(doc);
	if (model == NULL)
		weir_base_doc_errors_print(doc, stderr);
	assert_non_null(model);
	assert_true(weir_sim_model_metric_find(model, WEIR_SIM_QUEUE, "b.1.q", "loss") >= 0);
	assert_true(weir_sim_model_metric_find(model, WEIR_SIM_QUEUE, "c.q", "loss") >= 0);
	weir_sim_model_free(model);
	weir_base_doc_free(doc);

	/* What is wrong with a table of all is told once. */
	write_file("parts/intervals.csv", "interval_us\nx\n");
	expect_file_error("main.yaml", "parts/intervals.csv", 2, 1, "expected a number");
	write_file("parts/intervals.csv", "interval_us\n3\n");

	write_file("parts/b.yaml", "parameters: {sizes: }\napplication: {quues: {}}\n");
	expect_file_error("main.yaml", "parts/b.yaml", 2, 15, "did you mean 'queues'");
	write_file("parts/c.yaml", "{}\n");
	write_file("parts/b.yaml", "parameters: {sizes: }\nfile: c.yaml\n");
	expect_file_error("main.yaml", "parts/b.yaml", 2, 1, "in a part's own file");
	write_file("parts/b.yaml", "parameters: {sizes: }\nmodels: {b: {file: b.yaml}}\n"
				   "instances: {x: {model: b, parameters: {sizes: a}}}\n");
	expect_file_error("main.yaml", "parts/b.yaml", 3, 24, "is a part of itself");
	write_file("parts/b.yaml", "{\n");
	expect_file_error("main.yaml", "parts/b.yaml", 2, 1, "not valid YAML");
	write_file("main.yaml", "models: {b: {file: parts/d.yaml}}\ninstances: {b: {}}\n");
	expect_file_error("main.yaml", "main.yaml", 1, 20, "cannot open");
	write_file("main.yaml",
		"models: {b: {file: parts/c.yaml, run: {}}}\ninstances: {b: {}}\n" REST);
	expect_file_error("main.yaml", "main.yaml", 1, 10, "'file' beside other keys");
}

static int
remove_files(void **state)
{
	static const char *const names[] = {"sizes.csv", "main.yaml", "parts/intervals.csv",
		"parts/b.yaml", "parts/c.yaml", "parts/library.yaml", "parts", ""};
	char path[100];
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		remove(path);
	}
	return 0;
}

/* Two blades behind a switch that has these steps. */
#define SWITCH(steps)                                                                              \
	"models: {b: {application: {queues: {q: {}}, objects: {o: {queues: q, steps: [{cpu: "      \
	"1cycles}]}}}}}\n"                                                                         \
	"instances: {b: {count: 2}}\n"                                                             \
	"platform: {cores: {c: {clock: 1GHz}}}\n"                                                  \
	"traffic: {streams: {s: {to: in, rate: 1pps}}}\n"                                          \
	"application: {queues: {in: {}}, objects: {o: {queues: in, steps: [" steps "]}}}\n"

static void
spreading_that_is_wrong_is_told(void **state)
{
	expect_errors(SWITCH("{send: b.*.q}"),
		"m.yaml:5:68: nothing says to which of 2 queues; expected a key 'by' or "
		"'weights'\n");
	expect_errors(SWITCH("{send: b.*.q, weights: [1, 2, 3]}"),
		"m.yaml:5:81: 3 weights of 2 queues; expected one for each\n");
	expect_errors(SWITCH("{send: b.*.q, by: flow, weights: [1, 2]}"),
		"m.yaml:5:91: 'weights' mean nothing here; expected 'by: chance'\n");
	expect_errors(SWITCH("{send: b.*.q, by: knd}"),
		"m.yaml:5:85: nothing has an attribute 'knd'; expected one that a stream's "
		"'attributes' or a step 'set' gives, 'size' or 'flow'\n");
	expect_errors(SWITCH("{send: b.*.q, by: flow}, {cpu: 1cycles, by: flow}"),
		"m.yaml:5:111: 'by' means nothing here; expected it with 'send' to several "
		"queues\n");
	expect_errors(SWITCH("{send: [in, b.*.q, a.*.q, b.*], by: flow}, {send: []}"),
		"m.yaml:5:86: unknown queue 'a.*.q'; expected one of application.queues, or of an "
		"array such as 'blade.*.work'\n"
		"m.yaml:5:93: unknown queue 'b.*'; expected one of application.queues, or of an "
		"array such as 'blade.*.work'\n"
		"m.yaml:5:111: a step that sends nowhere; expected a queue\n");
}

/* Damaged models: reading them ends, and what is refused is told. To be run under the address sanitizer. */
static void
damage_does_no_harm(void **state)
{
	static const char good[] =
		"models:\n"
		"  r: {parameters: {c: 2}, models: {x: {}}, instances: {b: {count: \"${c}\"}, x: "
		"{}}}\n"
		"  b: {parameters: {p: 1, l: [1, 2]}, application: {queues: {q: {flows: \"${p}\", "
		"type: a$${b}}}, objects: {o: {queues: q, steps: [{send: \"b.*.q\", weights: "
		"\"${l}\"}]}}}}\n"
		"instances: {r: {names: [k, l], parameters: {c: 3}}, b: {count: 2, each: {p: [1, "
		"2]}}}\n"
		"traffic: {streams: {s: {to: b.0.q, rate: 1Mpps}}}\n";
	static const char *const pieces[] = {"", "${", "}", "$", "~", ":", " ", "[", "{", ".", "*",
		"\"", "b", "r: ", "file: ", "include: ", "-1", "99999", "\n", ",",
		"x: {model: r}, "};
	const unsigned int stride = getenv("WEIR_TEST_LONG") != NULL ? 1 : 7;
	char text[2 * sizeof(good) + 32]; /* more than is needed, which compilers cannot see */
	unsigned int at, i, nb_errors;

	for (at = 0; at < sizeof(good) - 1; at++)
		for (i = at % stride; i < sizeof(pieces) / sizeof(pieces[0]); i += stride) {
			struct weir_base_doc *doc;
			struct weir_sim_model *model;

			snprintf(text, sizeof(text), "%.*s%s%s", (int)at, good, pieces[i],
				good + at + 1);
			doc = load(text);
			assert_non_null(doc);
			model = weir_sim_model_read(doc);
			weir_base_doc_errors(doc, &nb_errors);
			assert_true((model == NULL) == (nb_errors > 0));
			weir_sim_model_free(model);
			weir_base_doc_free(doc);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_in_a_part_are_told_where_it_stands),
		cmocka_unit_test(parameters_that_are_wrong_are_told),
		cmocka_unit_test(instances_that_are_wrong_are_told),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test_teardown(parts_come_from_files, remove_files),
		cmocka_unit_test(spreading_that_is_wrong_is_told),
		cmocka_unit_test(damage_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
