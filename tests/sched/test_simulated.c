/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lib/sim says of this scheduler, beside what it does: a port alone is called for event after event, or burst after burst, a core or a
 * worker alone is simulated with the same packets, and the order in which these are served is to be the same.
 *
 * All of them are there when the first one is served: in the simulation they come while it works on something else.
 */
#include "sched_test.h"

#include <math.h>

#include "weir_base_doc.h"
#include "weir_sim.h"

#define NB_EVENTS 120
#define NB_QUEUES 12
#define NB_BOUNDS 5
#define COME_NS   1000    /* when the first one comes */
#define FIRST_NS  1000000 /* what it works on meanwhile */
#define WORK_NS   1000

/* A queue has one flow: of an atomic one an event waits for those before it. */
struct scenario {
	unsigned int bound, slack_ns, burst;
	uint8_t types[NB_QUEUES], priorities[NB_QUEUES];
	uint8_t queues[NB_EVENTS]; /* of the events, as they come */
};

enum with { WITHOUT_ATOMIC, WITH_ATOMIC };

static struct scenario
draw(unsigned int seed, unsigned int burst, enum with with)
{
	static const unsigned int bounds[NB_BOUNDS] = {0, 1, 2, 3, 8};
	struct scenario scenario = {.bound = bounds[seed % NB_BOUNDS], .burst = burst};

	srand(seed);
	scenario.slack_ns = seed % 3 == 0 ? 5000 : 0;
	for (unsigned int i = 0; i < NB_QUEUES; i++) {
		scenario.types[i] = (uint8_t)(rand() % 3);
		if (with == WITHOUT_ATOMIC && scenario.types[i] == ATOMIC)
			scenario.types[i] = PARALLEL;
		scenario.priorities[i] = (uint8_t)(rand() % 4 * 2);
	}
	for (unsigned int i = 0; i < NB_EVENTS; i++)
		scenario.queues[i] = (uint8_t)(rand() % NB_QUEUES);
	return scenario;
}

/* The order in which a port gets them. */
static void
schedule(const struct scenario *scenario, unsigned int *order)
{
	struct weir_sched_config config = st_config(1, NB_QUEUES);
	struct rte_event events[32];

	config.starvation_bound = scenario->bound;
	config.priority_slack_ns = scenario->slack_ns;
	st_make(config);
	for (unsigned int i = 0; i < NB_QUEUES; i++)
		st_queue(i, scenario->types[i], scenario->priorities[i], 0);
	st_start();
	for (unsigned int i = 0; i < NB_EVENTS; i++)
		st_new(0, scenario->queues[i], 0, i);
	for (unsigned int nb = 0; nb < NB_EVENTS;) {
		uint16_t got = weir_sched_dequeue(st_port(0), events, (uint16_t)scenario->burst);

		for (uint16_t i = 0; i < got; i++)
			order[nb++] = (unsigned int)events[i].u64;
	}
	st_teardown(NULL);
}

static void
write_model(const struct scenario *scenario, FILE *out)
{
	static const char *const types[] = {
		[ORDERED] = "ordered", [ATOMIC] = "atomic", [PARALLEL] = "parallel"};

	fprintf(out,
		"traffic:\n  streams:\n    first: {to: first, arrivals: deterministic, interval: "
		"1ps, count: 1}\n");
	for (unsigned int i = 0; i < NB_EVENTS; i++)
		fprintf(out,
			"    e%u: {to: q%u, arrivals: deterministic, interval: %uns, count: 1}\n",
			i, scenario->queues[i], COME_NS + i);
	fprintf(out, "application:\n  queues:\n    first: {}\n");
	for (unsigned int i = 0; i < NB_QUEUES; i++)
		fprintf(out, "    q%u: {type: %s, priority: %u}\n", i, types[scenario->types[i]],
			scenario->priorities[i]);
	fprintf(out,
		"  objects:\n    first: {queues: [first], steps: [{cpu: %ucycles}]}\n"
		"    work: {steps: [{cpu: %ucycles}], queues: [",
		FIRST_NS, WORK_NS);
	for (unsigned int i = 0; i < NB_QUEUES; i++)
		fprintf(out, "%sq%u", i > 0 ? ", " : "", i);
	fprintf(out, "]}\nplatform:\n  cores: {c: {clock: 1GHz}}\n");
	fprintf(out, "  scheduler: {starvation_bound: %u, priority_slack: %uns}\n", scenario->bound,
		scenario->slack_ns);
	if (scenario->burst > 1)
		fprintf(out,
			"  burst: %u\n  workers: [{}]\n  costs: {dispatch: 1cycles, walk: "
			"1cycles}\n",
			scenario->burst);
	fprintf(out, "run: {simulation: {duration: 10ms}}\n");
}

/* The order in which packets are done, from when each was. */
static void
simulate(const struct scenario *scenario, unsigned int *order)
{
	struct weir_sim_param param;
	struct weir_sim_result result;
	struct weir_sim_model *model;
	struct weir_base_doc *doc;
	double done[NB_EVENTS];
	char *text = NULL, name[16];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	write_model(scenario, out);
	fclose(out);
	doc = weir_base_doc_load_text(text, size, "model", &weir_sim_doc_root);
	model = doc != NULL ? weir_sim_model_read(doc) : NULL;
	if (model == NULL) {
		if (doc != NULL)
			weir_base_doc_errors_print(doc, stderr);
		fail_msg("%s", text);
	}
	weir_sim_model_param(model, &param);
	assert_int_equal(weir_sim_run(model, &param, &result), 0);
	assert_null(result.replications[0].broken);
	for (unsigned int i = 0; i < NB_EVENTS; i++) {
		int column;

		snprintf(name, sizeof(name), "e%u", i);
		column = weir_sim_model_metric_find(model, WEIR_SIM_STREAM, name, "latency_max_ns");
		assert_true(column >= 0);
		done[i] = result.values[column] + COME_NS + i;
		assert_false(isnan(done[i]));
	}
	for (unsigned int i = 0; i < NB_EVENTS; i++) {
		unsigned int before = 0;

		for (unsigned int j = 0; j < NB_EVENTS; j++)
			before += done[j] < done[i];
		order[before] = i;
	}
	weir_sim_result_free(&result);
	weir_sim_model_free(model);
	weir_base_doc_free(doc);
	free(text);
}

static unsigned int
priority_of(const struct scenario *scenario, unsigned int event)
{
	return scenario->priorities[scenario->queues[event]];
}

/*
 * Which of several flows of one priority is next is not promised: where there are atomic ones, or vectors of one flow are simulated, that
 * is to be the priority.
 */
static void
compare(unsigned int seed, unsigned int burst, enum with with)
{
	const struct scenario scenario = draw(seed, burst, with);
	const bool exactly = with == WITHOUT_ATOMIC && (burst == 1 || scenario.bound > 0);
	unsigned int scheduled[NB_EVENTS], simulated[NB_EVENTS];

	schedule(&scenario, scheduled);
	simulate(&scenario, simulated);
	for (unsigned int i = 0; i < NB_EVENTS; i++)
		if (exactly ? scheduled[i] != simulated[i]
			    : priority_of(&scenario, scheduled[i]) !=
					priority_of(&scenario, simulated[i]))
			fail_msg("seed %u, bound %u, slack %u ns, burst %u: number %u is event %u "
				 "of priority %u; simulated %u of %u",
				seed, scenario.bound, scenario.slack_ns, burst, i, scheduled[i],
				priority_of(&scenario, scheduled[i]), simulated[i],
				priority_of(&scenario, simulated[i]));
}

static void
one_by_one(void **state)
{
	st_builtin_only();
	for (unsigned int seed = 1; seed <= 60; seed++) {
		compare(seed, 1, WITHOUT_ATOMIC);
		compare(seed, 1, WITH_ATOMIC);
	}
}

/* With a bound, which flows of a round are taken up makes a difference to how many of a priority there are in it. */
static void
in_bursts(void **state)
{
	st_builtin_only();
	for (unsigned int seed = 1; seed <= 60; seed++) {
		compare(seed, 2 + seed % 15, WITHOUT_ATOMIC);
		if (seed % NB_BOUNDS == 0)
			compare(seed, 2 + seed % 15, WITH_ATOMIC);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_by_one),
		TEST(in_bursts),
	};

	return ST_RUN("sched-simulated", tests);
}
