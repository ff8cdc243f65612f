/* SPDX-License-Identifier: BSD-3-Clause */
/* The laws that every run is checked by: each count and sum, wrong by one, is found. */
#include "sim_util.h"

#include "sim.h"

static const char model[] =
	"traffic: {streams: {s: {to: q, rate: 2Mpps, flows: 9}}}\n"
	"application:\n"
	"  queues: {q: {type: atomic, flows: 3, capacity: 5}, r: {type: ordered}}\n"
	"  objects:\n"
	"    o: {queues: [q], to: r, steps: [{cpu: 1500cycles, distribution: exponential}]}\n"
	"    p: {queues: [r], steps: [{use: u, deschedule: true}, {cpu: 500cycles, "
	"distribution: exponential}, {memory: m}]}\n"
	"platform:\n"
	"  scheduler: {events: 4096}\n"
	"  cores: {c: {clock: 1GHz, count: 2}}\n"
	"  memories: {m: {levels: {ram: {latency: 1ns}}}}\n"
	"  units: {u: {delay: 700ns, distribution: exponential}}\n"
	"run: {simulation: {duration: 1ms}}\n";

/* Up to its end, with packets inside, but not checked. */
static struct sim *
run(const struct given *given)
{
	struct sim *sim = sim_new(given->model, 1, 0);

	assert_non_null(sim);
	sim_engine_run(sim, 300000000, 1000000);
	sim_restart_statistics(sim);
	sim_engine_run(sim, 1000000000, 1000000);
	assert_true(sim->queues[0].length.value > 0 && sim->streams[0].dropped > 0);
	return sim;
}

static void
all_is_well(void **state)
{
	struct given given = given_model(model);
	struct sim *sim = run(&given);

	sim_check(sim);
	assert_null(sim->broken);
	sim_free(sim);
	given_free(&given);
}

/* Where to add 1, and the law that is broken then. */
#define WRONG(member, law)                                                                         \
	do {                                                                                       \
		struct sim *sim = run(&given);                                                     \
                                                                                                   \
		sim->member += 1;                                                                  \
		sim_check(sim);                                                                    \
		assert_non_null(sim->broken);                                                      \
		assert_string_equal(sim->broken, law);                                             \
		sim_free(sim);                                                                     \
	} while (0)

static void
what_is_wrong_is_found(void **state)
{
	struct given given = given_model(model);

	WRONG(streams[0].arrived, "flow balance of a stream");
	WRONG(streams[0].delivered, "flow balance of a stream");
	WRONG(streams[0].dropped, "flow balance of a stream");
	WRONG(streams[0].forked, "flow balance of a stream");
	WRONG(streams[0].joined, "flow balance of a stream");
	WRONG(streams[0].inside_at_start, "flow balance of a stream");
	WRONG(streams[0].inside.area, "Little's law of a stream");
	WRONG(streams[0].sojourned_ps, "Little's law of a stream");
	WRONG(queues[0].arrived, "flow balance of a queue");
	WRONG(queues[1].taken, "flow balance of a queue");
	WRONG(queues[0].dropped, "flow balance of a queue");
	WRONG(queues[0].waiting_at_start, "flow balance of a queue");
	WRONG(queues[0].length.area, "Little's law of a queue");
	WRONG(queues[1].waited_ps, "Little's law of a queue");
	WRONG(kinds[0].busy.area, "utilisation law of cores");
	WRONG(cores[1].worked_ps, "utilisation law of cores");
	WRONG(units[0].arrived, "flow balance of a unit");
	WRONG(units[0].taken, "flow balance of a unit");
	WRONG(units[0].dropped, "flow balance of a unit");
	WRONG(units[0].waiting_at_start, "flow balance of a unit");
	WRONG(units[0].length.area, "Little's law of a unit");
	WRONG(units[0].waited_ps, "Little's law of a unit");
	WRONG(units[0].busy.area, "utilisation law of a unit");
	WRONG(units[0].worked_ps, "utilisation law of a unit");
	WRONG(levels[0].held.value, "balance of memories");
	WRONG(drops[0], "a reason for each drop");
	WRONG(nb_credits, "balance of the scheduler's credits");
	given_free(&given);
}

/* A lane that two cores have, and one whose packets go out of turn: found as it happens. */
static void
promises_of_queues_are_watched(void **state)
{
	struct given given = given_model(model);
	struct sim *sim = sim_new(given.model, 1, 0);
	unsigned int i;

	for (i = 0; i < 3; i++)
		sim->lanes[given.model->queues[0].first_lane + i].order_out = 7;
	sim_engine_run(sim, 1000000000, 1000000);
	assert_non_null(sim->broken);
	assert_string_equal(sim->broken, "order of what leaves a queue");
	sim_free(sim);
	given_free(&given);
}

static const char readout[] =
	"application:\n"
	"  links: {w: {format: wibeth, port: d, buffer: {history: 5ms}}}\n"
	"  requests: {r: {links: [w], every: 2ms, window: 3ms, timeout: 1s}}\n"
	"platform:\n"
	"  receivers: {d: {device: a, burst_size: 100, burst_adaptive: true}}\n"
	"  cores: {c: {clock: 1GHz}}\n"
	"  costs: {walk: 1cycles, nodes: {link_rx: {packet: 1cycles}}}\n"
	"run: {simulation: {duration: 1s}}\n";

static void
balance_of_buffers_and_fragments(void **state)
{
	struct given given = given_model(readout);
	unsigned int i;

	for (i = 0; i < 6; i++) {
		static const char *const wanted[] = {NULL, "flow balance of a buffer",
			"flow balance of a buffer", "flow balance of a buffer",
			"balance of fragments", "balance of fragments"};
		struct sim *sim = sim_new(given.model, 1, 0);

		assert_non_null(sim);
		sim_engine_run(sim, 20000000000, 10000000);
		sim_restart_statistics(sim);
		sim_engine_run(sim, 100000000000, 10000000);
		assert_true(sim->links[0].expired > 0 && sim->requests[0].waiting > 0);
		sim->links[0].expired += i == 1;
		sim->links[0].stored += i == 2;
		sim->links[0].there[0] ^= i == 3;
		sim->requests[0].answered[SIM_ANSWER_PARTIAL] += i == 4;
		sim->requests[0].waiting += i == 5;
		sim_check(sim);
		if (wanted[i] == NULL)
			assert_null(sim->broken);
		else
			assert_string_equal(sim->broken, wanted[i]);
		sim_free(sim);
	}
	given_free(&given);
}

/* What a receiver asks for next: twice as much up to its burst, half after 16 small ones, 32 at least. */
static void
bursts_that_adapt(void **state)
{
	static const struct {
		uint32_t found;
		uint64_t looks;
		uint32_t next;
	} bursts[] = {{32, 1, 64}, {64, 1, 100}, {99, 1, 100}, {49, 15, 100}, {50, 1, 100},
		{0, 15, 100}, {49, 1, 50}, {0, 10, 50}, {50, 1, 100}, {0, 31, 50}, {0, 1, 32},
		{0, 1000, 32}, {32, 1, 64}};
	struct given given = given_model(readout);
	struct sim *sim = sim_new(given.model, 1, 0);
	unsigned int i;

	assert_non_null(sim);
	assert_int_equal(sim->graph.bursts[0].nb, 32);
	for (i = 0; i < sizeof(bursts) / sizeof(bursts[0]); i++) {
		sim_ring_adapt(sim, 0, bursts[i].found, bursts[i].looks);
		assert_int_equal(sim->graph.bursts[0].nb, bursts[i].next);
	}
	sim_free(sim);
	given_free(&given);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_well),
		cmocka_unit_test(what_is_wrong_is_found),
		cmocka_unit_test(promises_of_queues_are_watched),
		cmocka_unit_test(balance_of_buffers_and_fragments),
		cmocka_unit_test(bursts_that_adapt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
