/* SPDX-License-Identifier: BSD-3-Clause */
/* How a model is run: batches, precision, progress. */
#include "sim_util.h"

#include <errno.h>
#include <math.h>

/* A packet each 100 ns, which takes 60. */
static const char even[] =
	"traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 100ns}}}\n"
	"application:\n"
	"  queues: {q: {type: parallel}}\n"
	"  objects: {o: {queues: [q], steps: [{cpu: 60cycles}]}}\n"
	"platform: {cores: {c: {clock: 1GHz}}}\n"
	"run: {simulation: {duration: 110us, warmup: 10us}}\n";

/* M/M/1, half full. */
static const char random_ones[] =
	"traffic: {streams: {s: {to: q, rate: 1Mpps}}}\n"
	"application:\n"
	"  queues: {q: {type: parallel}}\n"
	"  objects: {o: {queues: [q], steps: [{cpu: 500cycles, distribution: exponential}]}}\n"
	"platform: {cores: {c: {clock: 1GHz}}}\n"
	"run: {simulation: {duration: 2ms, warmup: 100us, replications: 3}}\n";

#define STREAM WEIR_SIM_STREAM, "s"

/* Row `row` of a result. */
#define VALUE(row, quantity) given_value(&given, &result, row, STREAM, quantity)

/* Each packet stays 1 ms, and none is inside at first: after 1 ms all is even. */
static void
the_end_of_a_warm_up(void **state)
{
	struct given given = given_model(
		"traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1us}}}\n"
		"application:\n"
		"  queues: {q: {type: parallel}}\n"
		"  objects: {o: {queues: [q], steps: [{use: u, deschedule: true}]}}\n"
		"platform: {cores: {c: {clock: 1GHz}}, units: {u: {servers: 1001, delay: 1ms}}}\n"
		"run: {simulation: {duration: 10ms, find_warmup: true, replications: 2}}\n");
	struct weir_sim_result result = given_run(&given), again;
	unsigned int i;

	assert_false(result.has_no_steady_end);
	assert_true(result.warmup_ps > 990000000 && result.warmup_ps < 1050000000);
	assert_true(VALUE(0, "inside_mean") > 999.9 && VALUE(0, "inside_mean") < 1000.1);
	/* It is left out, as one that is given would be. */
	given.param.finds_warmup = false;
	given.param.warmup_ps = result.warmup_ps;
	again = given_run(&given);
	assert_int_equal(again.fingerprint, result.fingerprint);
	assert_int_equal(again.warmup_ps, result.warmup_ps);
	for (i = 0; i < result.nb_metrics; i++)
		assert_true(again.values[i] == result.values[i] || isnan(result.values[i]));
	weir_sim_result_free(&again);
	weir_sim_result_free(&result);
	/* Ended by packets, which come to its end at 5 ms; those after the warm-up count. */
	given.param.finds_warmup = true;
	given.param.warmup_ps = 0;
	given.param.nb_packets = 4000;
	result = given_run(&given);
	assert_false(result.has_no_steady_end);
	assert_true(result.warmup_ps > 990000000 && result.warmup_ps < 1050000000);
	assert_true(VALUE(0, "delivered_packets") == 4000);
	weir_sim_result_free(&result);
	/* Not half of it is even. */
	given.param.nb_packets = 0;
	given.param.duration_ps = 1500000000;
	result = given_run(&given);
	assert_true(result.has_no_steady_end);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* An even one needs none. */
static void
no_warm_up(void **state)
{
	struct given given = given_model(even);
	struct weir_sim_result result;

	given.param.finds_warmup = true;
	result = given_run(&given);
	assert_true(!result.has_no_steady_end && result.warmup_ps < 1000000);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* A packet whose parts have parts: it ends with the first that there is no room for. */
static void
forks_without_an_end(void **state)
{
	struct given given = given_model(
		"traffic: {streams: {s: {to: q, arrivals: deterministic, interval: 1ns, count: "
		"1}}}\n"
		"application:\n"
		"  queues: {q: {type: parallel}}\n"
		"  objects: {o: {queues: [q], steps: [{cpu: 1cycles}, {fork: q, count: 3}]}}\n"
		"platform: {cores: {c: {clock: 1GHz}}}\n"
		"run: {simulation: {packets_inside: 1000}}\n");
	struct weir_sim_result result;

	assert_int_equal(weir_sim_run(given.model, &given.param, &result), -EOVERFLOW);
	weir_sim_result_free(&result);
	/* The last of 1000 is the 333rd fork's, at its end; so long it takes. */
	given.param.duration_ps = 333500;
	result = given_run(&given);
	weir_sim_result_free(&result);
	given.param.nb_inside_max = (UINT32_C(1) << 31) + 1;
	assert_int_equal(weir_sim_run(given.model, &given.param, &result), -EINVAL);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Names that differ only at their ends, however long they are, have random numbers of their own. */
static void
long_names(void **state)
{
	char name[1000], text[4096];
	struct weir_sim_result result;
	struct given given;

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text),
		"traffic: {streams: {%s1: {to: q, rate: 1Mpps}, %s2: {to: q, rate: 1Mpps}}}\n"
		"application:\n"
		"  queues: {q: {type: parallel, capacity: 0}}\n"
		"  objects: {o: {queues: [q], steps: [{cpu: 1cycles}]}}\n"
		"platform: {cores: {c: {clock: 1GHz}}}\n"
		"run: {simulation: {duration: 1ms}}\n",
		name, name);
	given = given_model(text);
	result = given_run(&given);
	/* Alike, they would come at the same times, and find the core busy. */
	assert_true(given_value(&given, &result, 0, WEIR_SIM_QUEUE, "q", "loss") < 0.1);
	weir_sim_result_free(&result);
	given_free(&given);
}

static void
batches_share_the_time(void **state)
{
	struct given given = given_model(even);
	struct weir_sim_result whole = given_run(&given), result;
	unsigned int i;

	given.param.nb_batches = 4;
	result = given_run(&given);
	assert_int_equal(whole.nb_rows, 1);
	assert_int_equal(result.nb_rows, 4);
	assert_int_equal(result.nb_replications, 1);
	assert_int_equal(result.fingerprint, whole.fingerprint);
	assert_int_equal(result.events, whole.events);
	/* What comes at the very end of one belongs to the next one; the last one has both its ends. */
	for (i = 0; i < 4; i++) {
		assert_true(VALUE(i, "arrived_packets") == (i < 3 ? 250 : 251));
		assert_true(VALUE(i, "delivered_packets") == 250);
		assert_true(VALUE(i, "latency_mean_ns") == 60);
		assert_true(
			fabs(given_value(&given, &result, i, WEIR_SIM_CORES, "c", "utilisation") -
				0.6) < 1e-12);
	}
	weir_sim_result_free(&whole);
	weir_sim_result_free(&result);
	given_free(&given);
}

static void
batches_share_the_packets(void **state)
{
	struct given given = given_model(even);
	struct weir_sim_result result;
	unsigned int i;

	given.param.nb_batches = 4;
	given.param.nb_packets = 403; /* 100 each */
	result = given_run(&given);
	assert_int_equal(result.nb_rows, 4);
	for (i = 0; i < 4; i++)
		assert_true(VALUE(i, "delivered_packets") == 100);
	/* The last one leaves 60 ns after it has come, which is at a whole 100 ns. */
	assert_int_equal(result.replications[0].end_ps, 10000000 + 399 * 100000 + 60000);
	weir_sim_result_free(&result);
	/* 1000 leave until the time is over. */
	given.param.nb_packets = 1800;
	result = given_run(&given);
	assert_int_equal(result.nb_rows, 2);
	assert_true(VALUE(1, "delivered_packets") == 450);
	weir_sim_result_free(&result);
	given.param.nb_packets = 8000;
	result = given_run(&given);
	assert_int_equal(result.nb_rows, 1);
	assert_true(VALUE(0, "delivered_packets") == 1000);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Those of several replications stand behind each other. */
static void
batches_of_replications(void **state)
{
	struct given given = given_model(random_ones);
	struct weir_sim_result whole, result;
	double sum;
	unsigned int i, j;

	given.param.duration_ps = UINT64_C(2100000000);
	whole = given_run(&given);
	given.param.nb_batches = 5;
	given.param.nb_threads = 3;
	result = given_run(&given);
	assert_int_equal(result.nb_rows, 15);
	assert_int_equal(result.fingerprint, whole.fingerprint);
	for (i = 0; i < 3; i++) {
		sum = 0;
		for (j = 0; j < 5; j++)
			sum += VALUE(i * 5 + j, "arrived_packets");
		assert_true(sum == given_value(&given, &whole, i, STREAM, "arrived_packets"));
	}
	weir_sim_result_free(&whole);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* One long run of M/M/1: mean latency is 1 us. The statistics were fixed before: 20 batches, 99 %. */
static void
batch_means_tell_the_truth(void **state)
{
	struct given given = given_model(random_ones);
	struct weir_sim_estimate estimate;
	struct weir_sim_result result;

	given.param.nb_replications = 1;
	given.param.duration_ps = UINT64_C(200000000000);
	given.param.nb_batches = 20;
	result = given_run(&given);
	estimate = weir_sim_result_estimate(
		&result, given_column(&given, STREAM, "latency_mean_ns"), 0.99);
	assert_true(fabs(estimate.mean - 1000) <= estimate.half_width);
	assert_true(estimate.half_width < 30);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* As many as it takes, looked at after 10 and then each time that there are a sixteenth more; whoever runs them. */
static void
precise_enough(void **state)
{
	struct given given = given_model(random_ones);
	const unsigned int column = given_column(&given, STREAM, "latency_mean_ns");
	struct weir_sim_estimate estimate;
	struct weir_sim_result all, result;
	unsigned int nb = 10;

	given.param.nb_replications = 200;
	all = given_run(&given);
	assert_false(all.is_precise);
	for (; nb < 200; nb += 1 + nb / 16) {
		estimate = weir_sim_estimate(
			all.values + column, all.nb_metrics, nb, given.param.confidence);
		if (estimate.half_width <= 0.02 * estimate.mean)
			break;
	}
	assert_true(nb > 20 && nb < 150);
	given.param.nb_replications = 2;
	given.param.nb_replications_max = 1000;
	given.param.precision = 0.02;
	given.param.precision_metric = column;
	for (given.param.nb_threads = 1; given.param.nb_threads <= 3; given.param.nb_threads++) {
		assert_int_equal(weir_sim_run(given.model, &given.param, &result), 0);
		assert_true(result.is_precise && !result.interrupted);
		assert_int_equal(result.nb_replications, nb);
		assert_int_equal(result.nb_rows, nb);
		assert_memory_equal(
			result.values, all.values, nb * all.nb_metrics * sizeof(*all.values));
		assert_int_equal(result.replications[nb - 1].fingerprint,
			all.replications[nb - 1].fingerprint);
		weir_sim_result_free(&result);
	}
	weir_sim_result_free(&all);
	given_free(&given);
}

static void
not_precise_enough(void **state)
{
	struct given given = given_model(random_ones);
	struct weir_sim_result result;

	given.param.nb_replications_max = 15;
	given.param.precision = 1e-6;
	given.param.precision_metric = given_column(&given, STREAM, "latency_mean_ns");
	given.param.nb_threads = 2;
	assert_int_equal(weir_sim_run(given.model, &given.param, &result), 0);
	assert_int_equal(result.nb_replications, 15);
	assert_false(result.is_precise);
	weir_sim_result_free(&result);
	/* So few that it is looked at only at the end. */
	given.param.nb_replications_max = 4;
	given.param.precision = 1;
	assert_int_equal(weir_sim_run(given.model, &given.param, &result), 0);
	assert_int_equal(result.nb_replications, 4);
	assert_true(result.is_precise);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* A result whose mean is 0 is never precise. */
static void
nothing_is_not_precise(void **state)
{
	struct given given = given_model(random_ones);
	struct weir_sim_result result;

	given.param.nb_replications_max = 12;
	given.param.precision = 1;
	given.param.precision_metric = given_column(&given, STREAM, "dropped_packets");
	assert_int_equal(weir_sim_run(given.model, &given.param, &result), 0);
	assert_int_equal(result.nb_replications, 12);
	assert_false(result.is_precise);
	weir_sim_result_free(&result);
	given_free(&given);
}

struct told {
	unsigned int calls;
	double first, last;
};

static bool
note(void *arg, const struct weir_sim_progress *progress)
{
	struct told *told = arg;

	assert_true(progress->done > told->last && progress->done < 1);
	assert_int_equal(progress->nb_replications, 1);
	assert_int_equal(progress->replication, 0);
	assert_true(progress->events > 0 && progress->now_ps > 0);
	if (told->calls++ == 0)
		told->first = progress->done;
	told->last = progress->done;
	return true;
}

/* By packets, where those end it: of 2.5 million events it is told after each million. */
static void
progress_is_told(void **state)
{
	struct given given = given_model(even);
	struct weir_sim_result result;
	struct told told = {0};

	given.param.nb_packets = 1300000;
	given.param.nb_batches = 13;
	given.param.duration_ps = UINT64_C(1) << 60;
	given.param.progress = note;
	given.param.arg = &told;
	result = given_run(&given);
	assert_int_equal(result.nb_rows, 13);
	assert_int_equal(told.calls, 2);
	assert_true(fabs(told.first - 0.4) < 0.01 && fabs(told.last - 0.8) < 0.01);
	weir_sim_result_free(&result);
	/* By time. */
	told = (struct told){0};
	given.param.nb_packets = 0;
	given.param.duration_ps = UINT64_C(130000000000);
	result = given_run(&given);
	assert_int_equal(told.calls, 2);
	assert_true(fabs(told.first - 0.4) < 0.01 && fabs(told.last - 0.8) < 0.01);
	weir_sim_result_free(&result);
	given_free(&given);
}

static bool
stop(void *arg, const struct weir_sim_progress *progress)
{
	return false;
}

/* Told by a pilot, whose pieces are much shorter than what passes between two questions. */
static bool
stop_pilot(void *arg, const struct weir_sim_progress *progress)
{
	assert_true(progress->done > 0 && progress->done < 1 && progress->now_ps > 0);
	return false;
}

static void
pilots_are_ended_too(void **state)
{
	struct given given = given_model(even);
	struct weir_sim_result result;

	given.param.finds_warmup = true;
	given.param.duration_ps = UINT64_C(1300000000000);
	given.param.progress = stop_pilot;
	assert_int_equal(weir_sim_run(given.model, &given.param, &result), 0);
	assert_true(result.interrupted);
	assert_int_equal(result.nb_replications, 0);
	weir_sim_result_free(&result);
	given_free(&given);
}

/* Batches of a replication that is not at its end do not count. */
static void
what_is_ended_is_no_sample(void **state)
{
	struct given given = given_model(even);
	struct weir_sim_result result;

	given.param.nb_batches = 13;
	given.param.duration_ps = UINT64_C(130000000000);
	given.param.progress = stop;
	assert_int_equal(weir_sim_run(given.model, &given.param, &result), 0);
	assert_true(result.interrupted);
	assert_int_equal(result.nb_rows, 0);
	assert_int_equal(result.nb_replications, 0);
	weir_sim_result_free(&result);
	given_free(&given);
}

static void
parameters_that_are_none(void **state)
{
	struct given given = given_model(even);
	const struct weir_sim_param good = given.param;
	struct weir_sim_result result;
	struct weir_sim_param bad[] = {good, good, good, good, good, good};
	unsigned int i;

	bad[0].nb_replications = 0;
	bad[1].warmup_ps = bad[1].duration_ps;
	bad[2].confidence = 1;
	bad[3].nb_packets = 3;
	bad[3].nb_batches = 4;
	bad[4].precision = -1;
	bad[5].precision = 0.1;
	weir_sim_model_metrics(given.model, &bad[5].precision_metric);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(weir_sim_run(given.model, &bad[i], &result), -EINVAL);
		weir_sim_result_free(&result);
	}
	given_free(&given);
}

/* Line 6 of the model, with another end. */
static struct weir_base_doc *
load(const char *simulation)
{
	char text[1024];

	snprintf(text, sizeof(text), "%.*srun: {simulation: {%s}}\n",
		(int)(strstr(random_ones, "run:") - random_ones), random_ones, simulation);
	return weir_base_doc_load_text(text, strlen(text), "model", &weir_sim_doc_root);
}

static void
the_file_says_how(void **state)
{
	struct weir_base_doc *doc = load(
		"batches: 7, precision: {of: cores.c.busy_mean, relative: 0.05, replications: 77}");
	struct weir_sim_model *model = weir_sim_model_read(doc);
	struct weir_sim_param param;

	assert_non_null(model);
	weir_sim_model_param(model, &param);
	assert_int_equal(param.nb_batches, 7);
	assert_int_equal(param.nb_replications_max, 77);
	assert_true(param.precision == 0.05);
	assert_int_equal(param.precision_metric,
		weir_sim_model_metric_find(model, WEIR_SIM_CORES, "c", "busy_mean"));
	weir_sim_model_free(model);
	weir_base_doc_free(doc);
}

static void
the_file_says_it_wrong(void **state)
{
	static const struct {
		const char *of, *words;
	} wrong[] = {
		{"latency_mean_ns",
			"expected one such as streams.NAME.latency_mean_ns, of: streams, queues, "},
		{"stream.s.latency_mean_ns", "of: streams, queues, "},
		{"streams.s", "of: streams, queues, "},
		{"streams.x.latency_mean_ns", "expected a name of 'streams', one of: s"},
		{"units.x.utilisation", "expected a name of 'units', of which there is none"},
		{"each_core.x.utilisation", "expected a name of 'each_core', one of: c.0"},
		{"streams.s.latency",
			"expected a quantity of 's', one of: arrived_packets, delivered_packets, "},
	};
	char text[256];
	const struct weir_base_doc_error *errors;
	struct weir_base_doc *doc;
	unsigned int i, nb_errors;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), "precision: {of: %s}", wrong[i].of);
		doc = load(text);
		assert_null(weir_sim_model_read(doc));
		errors = weir_base_doc_errors(doc, &nb_errors);
		assert_int_equal(nb_errors, 1);
		assert_int_equal(errors[0].line, 6);
		assert_int_equal(errors[0].column, 36);
		assert_non_null(strstr(errors[0].message, "unknown result"));
		assert_non_null(strstr(errors[0].message, wrong[i].words));
		weir_base_doc_free(doc);
	}
	doc = load("packets: 3, batches: 4");
	assert_null(weir_sim_model_read(doc));
	errors = weir_base_doc_errors(doc, &nb_errors);
	assert_int_equal(nb_errors, 1);
	assert_int_equal(errors[0].column, 41);
	weir_base_doc_free(doc);
}

static bool
stop_after_three(void *arg, const struct weir_sim_progress *progress)
{
	return progress->replication < 3;
}

/* They are asked between them, too: each is over before it would ask. */
static void
short_replications_are_ended(void **state)
{
	struct given given = given_model(even);
	struct weir_sim_result result;

	given.param.nb_replications = 1000;
	given.param.progress = stop_after_three;
	assert_int_equal(weir_sim_run(given.model, &given.param, &result), 0);
	assert_true(result.interrupted);
	assert_int_equal(result.nb_replications, 3);
	weir_sim_result_free(&result);
	given_free(&given);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_of_a_warm_up),
		cmocka_unit_test(no_warm_up),
		cmocka_unit_test(forks_without_an_end),
		cmocka_unit_test(long_names),
		cmocka_unit_test(batches_share_the_time),
		cmocka_unit_test(batches_share_the_packets),
		cmocka_unit_test(batches_of_replications),
		cmocka_unit_test(batch_means_tell_the_truth),
		cmocka_unit_test(precise_enough),
		cmocka_unit_test(not_precise_enough),
		cmocka_unit_test(nothing_is_not_precise),
		cmocka_unit_test(progress_is_told),
		cmocka_unit_test(what_is_ended_is_no_sample),
		cmocka_unit_test(pilots_are_ended_too),
		cmocka_unit_test(short_replications_are_ended),
		cmocka_unit_test(parameters_that_are_none),
		cmocka_unit_test(the_file_says_how),
		cmocka_unit_test(the_file_says_it_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
