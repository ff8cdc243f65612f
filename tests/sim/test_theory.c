/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue and its servers whose theory is known, compared as theory.h says.
 */
#include "theory.h"

#define NO_LIMIT UINT32_MAX

/* The mean service takes 1 us, of 1000 cycles. */
static const char model[] =
	"traffic: {streams: {s: {to: q, arrivals: poisson, rate: %.17gMpps}}}\n"
	"application:\n"
	"  queues: {q: {type: parallel%s}}\n"
	"  objects: {o: {queues: [q], steps: [{cpu: 1000cycles, distribution: %s}]}}\n"
	"platform: {cores: {c: {count: %u, clock: 1GHz}}}\n"
	"run: {simulation: {seed: 1, warmup: %gms, duration: %gms}}\n";

/* @param load  of each server; capacity: of what waits, or NO_LIMIT */
static struct run
run_queue(const char *service, unsigned int servers, double load, unsigned int capacity)
{
	char text[1024], room[32] = "";
	/* So that each replication has 50,000 packets after a tenth of that. */
	const double ms = 50 / (load * servers);
	struct run run;

	if (capacity != NO_LIMIT)
		snprintf(room, sizeof(room), ", capacity: %u", capacity);
	snprintf(text, sizeof(text), model, load * servers, room, service, servers, ms / 10,
		ms * 1.1);
	run.given = given_model(text);
	run.given.param.nb_replications = REPLICATIONS;
	run.result = given_run(&run.given);
	return run;
}

/* Probability that all servers are busy (Erlang C), by the recursion of Erlang B. */
static double
erlang_c(unsigned int servers, double load)
{
	double b = 1;
	unsigned int i;

	for (i = 1; i <= servers; i++)
		b = load * servers * b / (i + load * servers * b);
	return b / (1 - load * (1 - b));
}

/* All that is known of M/M/c. */
static void
expect_mmc(unsigned int servers, double load)
{
	struct run run = run_queue("exponential", servers, load, NO_LIMIT);
	const double wait_ns = erlang_c(servers, load) / (servers * (1 - load)) * 1000;

	expect(&run, WEIR_SIM_QUEUE, "q", "wait_mean_ns", wait_ns);
	expect(&run, WEIR_SIM_QUEUE, "q", "length_mean", wait_ns / 1000 * load * servers);
	expect(&run, WEIR_SIM_STREAM, "s", "latency_mean_ns", wait_ns + 1000);
	expect(&run, WEIR_SIM_STREAM, "s", "inside_mean", (wait_ns / 1000 + 1) * load * servers);
	expect(&run, WEIR_SIM_STREAM, "s", "service_mean_ns", 1000);
	expect(&run, WEIR_SIM_STREAM, "s", "offered_pps", load * servers * 1e6);
	expect(&run, WEIR_SIM_CORES, "c", "utilisation", load);
	run_free(&run);
}

/* The time inside is exponential: its spread is its mean, and its percentiles follow. */
static void
mm1_spread_and_percentiles(void **state)
{
	struct run run = run_queue("exponential", 1, 0.7, NO_LIMIT);
	const struct {
		const char *quantity;
		double beyond;
	} all[] = {{"latency_p50_ns", 0.5}, {"latency_p90_ns", 0.1}, {"latency_p99_ns", 0.01},
		{"latency_p999_ns", 0.001}};
	unsigned int i;

	expect(&run, WEIR_SIM_STREAM, "s", "latency_sd_ns", 1000 / 0.3);
	for (i = 0; i < 4; i++) {
		const double known = -log(all[i].beyond) * 1000 / 0.3;
		const struct weir_sim_estimate estimate = weir_sim_result_estimate(&run.result,
			given_column(&run.given, WEIR_SIM_STREAM, "s", all[i].quantity),
			CONFIDENCE);

		/* They are upper ends of a histogram's classes: too large by up to 1/32. */
		assert_true(known >= (estimate.mean - estimate.half_width) / (1 + 1.0 / 32));
		assert_true(known <= estimate.mean + estimate.half_width);
	}
	run_free(&run);
}

static void
mm1(void **state)
{
	expect_mmc(1, 0.7);
}

static void
mm4(void **state)
{
	expect_mmc(4, 0.8);
}

static void
mm8(void **state)
{
	expect_mmc(8, 0.85);
}

static void
mm32(void **state)
{
	expect_mmc(32, 0.9);
}

/* Constant service: half the wait. */
static void
md1(void **state)
{
	struct run run = run_queue("constant", 1, 0.8, NO_LIMIT);

	expect(&run, WEIR_SIM_QUEUE, "q", "wait_mean_ns", 0.8 / (2 * 0.2) * 1000);
	expect(&run, WEIR_SIM_QUEUE, "q", "length_mean", 0.8 * 0.8 / (2 * 0.2));
	expect(&run, WEIR_SIM_CORES, "c", "utilisation", 0.8);
	run_free(&run);
}

/* Constant service and several servers: the number inside, seen every service time, is a chain (Crommelin). */
static double
mdc_wait_ns(unsigned int servers, double load)
{
	enum { STATES = 150 };
	static double now[STATES], next[STATES], poisson[STATES];
	const double mean = load * servers;
	double waiting = 0;
	unsigned int round, i, j;

	poisson[0] = exp(-mean);
	for (i = 1; i < STATES; i++)
		poisson[i] = poisson[i - 1] * mean / i;
	memset(now, 0, sizeof(now));
	now[0] = 1;
	for (round = 0; round < 150; round++) {
		for (i = 0; i < STATES; i++)
			for (next[i] = 0, j = 0; j < STATES && j <= i + servers; j++)
				next[i] += now[j] * poisson[j <= servers ? i : i + servers - j];
		memcpy(now, next, sizeof(now));
	}
	for (i = servers; i < STATES; i++)
		waiting += now[i] * (i - servers);
	return waiting / mean * 1000;
}

static void
expect_mdc(unsigned int servers, double load)
{
	struct run run = run_queue("constant", servers, load, NO_LIMIT);
	const double wait_ns = mdc_wait_ns(servers, load);

	expect(&run, WEIR_SIM_QUEUE, "q", "wait_mean_ns", wait_ns);
	expect(&run, WEIR_SIM_QUEUE, "q", "latency_mean_ns", wait_ns + 1000);
	expect(&run, WEIR_SIM_CORES, "c", "utilisation", load);
	run_free(&run);
}

static void
md4(void **state)
{
	expect_mdc(4, 0.8);
}

static void
md8(void **state)
{
	expect_mdc(8, 0.85);
}

static void
md32(void **state)
{
	expect_mdc(32, 0.9);
}

/* Any service: by its second moment (Pollaczek and Khinchine). Uniform from 0 to 2: 4/3. Lognormal: e^(sigma^2). */
static void
mg1(void **state)
{
	struct run run = run_queue("uniform", 1, 0.7, NO_LIMIT);

	expect(&run, WEIR_SIM_QUEUE, "q", "wait_mean_ns", 0.7 * 4 / 3 / (2 * 0.3) * 1000);
	run_free(&run);
	run = run_queue("lognormal, sigma: 0.5", 1, 0.7, NO_LIMIT);
	expect(&run, WEIR_SIM_QUEUE, "q", "wait_mean_ns", 0.7 * exp(0.25) / (2 * 0.3) * 1000);
	run_free(&run);
}

/* A lognormal service by the mean of its logarithm: in units of 1000 cycles, with a mean of exp(mu + sigma^2 / 2). */
static void
lognormal_by_mu(void **state)
{
	struct run run = run_queue("lognormal, sigma: 0.5, mu: -0.125", 1, 0.7, NO_LIMIT);

	expect(&run, WEIR_SIM_STREAM, "s", "service_mean_ns", 1000);
	expect(&run, WEIR_SIM_QUEUE, "q", "wait_mean_ns", 0.7 * exp(0.25) / (2 * 0.3) * 1000);
	run_free(&run);
	run = run_queue("lognormal, sigma: 0.5, mu: 0.1", 1, 0.7, NO_LIMIT);
	expect(&run, WEIR_SIM_STREAM, "s", "service_mean_ns", 1000 * exp(0.1 + 0.125));
	run_free(&run);
}

/* Room for 5: one is served, 4 wait. */
static void
mm1k(void **state)
{
	struct run run = run_queue("exponential", 1, 0.9, 4);
	const double loss = 0.1 * pow(0.9, 5) / (1 - pow(0.9, 6));

	expect(&run, WEIR_SIM_STREAM, "s", "loss", loss);
	expect(&run, WEIR_SIM_QUEUE, "q", "loss", loss);
	expect(&run, WEIR_SIM_CORES, "c", "utilisation", 0.9 * (1 - loss));
	expect(&run, WEIR_SIM_STREAM, "s", "delivered_pps", 0.9e6 * (1 - loss));
	run_free(&run);
}

/* No room to wait (Erlang B). */
static void
erlang_b(void **state)
{
	struct run run = run_queue("exponential", 4, 0.75, 0);
	const double offered = 3;
	double loss = 1;
	unsigned int i;

	for (i = 1; i <= 4; i++)
		loss = offered * loss / (i + offered * loss);
	expect(&run, WEIR_SIM_STREAM, "s", "loss", loss);
	expect(&run, WEIR_SIM_CORES, "c", "busy_mean", offered * (1 - loss));
	run_free(&run);
	/* Whatever the service is. */
	run = run_queue("constant", 4, 0.75, 0);
	expect(&run, WEIR_SIM_STREAM, "s", "loss", loss);
	run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mm1),
		cmocka_unit_test(mm1_spread_and_percentiles),
		cmocka_unit_test(mm4),
		cmocka_unit_test(mm8),
		cmocka_unit_test(mm32),
		cmocka_unit_test(md1),
		cmocka_unit_test(md4),
		cmocka_unit_test(md8),
		cmocka_unit_test(md32),
		cmocka_unit_test(mg1),
		cmocka_unit_test(lognormal_by_mu),
		cmocka_unit_test(mm1k),
		cmocka_unit_test(erlang_b),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
