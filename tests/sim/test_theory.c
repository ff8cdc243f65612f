/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues whose theory is known. Each statistic is told in advance, the seed is pinned, and the known value must lie in
 * the confidence interval of 99 % that 20 replications give; which must be narrow enough to tell anything.
 */
#include "sim_util.h"

#include <math.h>

#define REPLICATIONS 20
#define CONFIDENCE   0.99
#define NO_LIMIT     UINT32_MAX

/* The mean service takes 1 us, of 1000 cycles. */
static const char model[] =
	"traffic: {streams: {s: {to: q, arrivals: poisson, rate: %.17gMpps}}}\n"
	"application:\n"
	"  queues: {q: {type: parallel%s}}\n"
	"  objects: {o: {queues: [q], steps: [{cpu: 1000cycles, distribution: %s}]}}\n"
	"platform: {cores: {c: {count: %u, clock: 1GHz}}}\n"
	"run: {simulation: {seed: 1, warmup: %gms, duration: %gms}}\n";

struct run {
	struct given given;
	struct weir_sim_result result;
};

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

static void
run_free(struct run *run)
{
	weir_sim_result_free(&run->result);
	given_free(&run->given);
}

static void
expect(const struct run *run, enum weir_sim_scope scope, const char *name, const char *quantity,
	double known)
{
	const struct weir_sim_estimate estimate = weir_sim_result_estimate(
		&run->result, given_column(&run->given, scope, name, quantity), CONFIDENCE);

	if (fabs(estimate.mean - known) > estimate.half_width)
		fail_msg("%s of %s: %.8g +- %.3g; expected %.8g", quantity, name, estimate.mean,
			estimate.half_width, known);
	if (estimate.half_width > 0.1 * known)
		fail_msg("%s of %s: %.8g +- %.3g tells nothing", quantity, name, estimate.mean,
			estimate.half_width);
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

/* Any service: by its second moment (Pollaczek and Khinchine). Uniform from 0 to 2: 4/3. Lognormal of sigma 1: e. */
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

static struct run
run_text(const char *text)
{
	struct run run = {.given = given_model(text)};

	run.result = given_run(&run.given);
	return run;
}

/* Two queues in a row, each as if alone (Burke, Jackson). */
static void
tandem(void **state)
{
	struct run run = run_text(
		"traffic: {streams: {s: {to: q, rate: 0.7Mpps}}}\n"
		"application:\n"
		"  queues: {q: {type: parallel, group: first}, r: {type: parallel, group: "
		"second}}\n"
		"  objects:\n"
		"    o: {queues: [q], to: r, steps: [{cpu: 1000cycles, distribution: "
		"exponential}]}\n"
		"    p: {queues: [r], steps: [{cpu: 800cycles, distribution: exponential}]}\n"
		"platform:\n"
		"  cores: {c: {clock: 1GHz, groups: [first]}, d: {clock: 1GHz, groups: [second]}}\n"
		"run: {simulation: {seed: 1, warmup: 10ms, duration: 100ms, replications: 20}}\n");

	expect(&run, WEIR_SIM_QUEUE, "q", "wait_mean_ns", 0.7 / 0.3 * 1000);
	expect(&run, WEIR_SIM_QUEUE, "r", "wait_mean_ns", 0.56 / 0.44 * 800);
	expect(&run, WEIR_SIM_STREAM, "s", "latency_mean_ns", 1000 / 0.3 + 800 / 0.44);
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
md4(void **state)
{
	struct run run = run_queue("constant", 4, 0.8, NO_LIMIT);

	expect(&run, WEIR_SIM_QUEUE, "q", "wait_mean_ns", mdc_wait_ns(4, 0.8));
	expect(&run, WEIR_SIM_CORES, "c", "utilisation", 0.8);
	run_free(&run);
}

/* A network with feedback (Jackson): of what leaves the first node a quarter goes to the second, and comes back. */
static void
network(void **state)
{
	struct run run = run_text(
		"traffic: {streams: {s: {to: q, rate: 0.4Mpps}}}\n"
		"application:\n"
		"  queues: {q: {type: parallel, group: one}, r: {type: parallel, group: two}}\n"
		"  objects:\n"
		"    o:\n"
		"      queues: [q]\n"
		"      steps: [{cpu: 1000cycles, distribution: exponential}, {send: r, "
		"probability: "
		"0.25}]\n"
		"    p: {queues: [r], to: q, steps: [{cpu: 4000cycles, distribution: "
		"exponential}]}\n"
		"platform: {cores: {c: {clock: 1GHz, groups: [one]}, d: {clock: 1GHz, groups: "
		"[two]}}}\n"
		"run: {simulation: {seed: 1, warmup: 3ms, duration: 35ms, replications: 20}}\n");
	const double load = 0.4 / 0.75, each = load / (1 - load);

	expect(&run, WEIR_SIM_CORES, "c", "utilisation", load);
	expect(&run, WEIR_SIM_CORES, "d", "utilisation", load);
	expect(&run, WEIR_SIM_QUEUE, "q", "length_mean", each * load);
	expect(&run, WEIR_SIM_QUEUE, "r", "length_mean", each * load);
	expect(&run, WEIR_SIM_STREAM, "s", "inside_mean", 2 * each);
	expect(&run, WEIR_SIM_STREAM, "s", "latency_mean_ns", 2 * each / 0.4 * 1000);
	run_free(&run);
}

/*
 * An ordered queue with cores for all: who comes leaves when it is done and all before it are. Of those the number that
 * is not done a time t later is Poisson with mean n exp(-t): P(leaves within t) = (1 - exp(-t)) exp(-n exp(-t)).
 */
static void
ordered_queue(void **state)
{
	struct run run = run_text(
		"traffic: {streams: {s: {to: q, rate: 4Mpps}}}\n"
		"application:\n"
		"  queues: {q: {type: ordered}}\n"
		"  objects: {o: {queues: [q], steps: [{cpu: 1000cycles, distribution: "
		"exponential}]}}\n"
		"platform: {cores: {c: {clock: 1GHz, count: 64}}}\n"
		"run: {simulation: {seed: 1, warmup: 500us, duration: 5ms, replications: 20}}\n");
	const double n = 4, step = 1e-3;
	double mean = 0, t;

	for (t = step / 2; t < 40; t += step)
		mean += step * (1 - (1 - exp(-t)) * exp(-n * exp(-t)));
	expect(&run, WEIR_SIM_STREAM, "s", "latency_mean_ns", mean * 1000);
	expect(&run, WEIR_SIM_STREAM, "s", "service_mean_ns", 1000);
	run_free(&run);
}

/* A unit on the way in whose delay has an outlier tail (Pollaczek and Khinchine), then one of several servers. */
static void
units(void **state)
{
	struct run run = run_text(
		"traffic: {streams: {s: {to: q, through: u, rate: 0.5Mpps, size: 100B}}}\n"
		"application:\n"
		"  queues: {q: {type: parallel}}\n"
		"  objects: {o: {queues: [q], steps: [{use: v, deschedule: true}]}}\n"
		"platform:\n"
		"  cores: {c: {clock: 1GHz, count: 64}}\n"
		"  units:\n"
		"    u: {delay: 200ns, bandwidth: 1Gb/s, outliers: 0.1, outlier: 3us}\n"
		"    v: {servers: 2, delay: 3us, distribution: exponential}\n"
		"run: {simulation: {seed: 1, warmup: 3ms, duration: 35ms, replications: 20}}\n");
	const double usual = 1, outlier = 3, p = 0.1, load = 0.5 * (usual + p * outlier);
	const double second = usual * usual + 2 * usual * p * outlier + 2 * p * outlier * outlier;
	const double wait = 0.5 * second / (2 * (1 - load));

	expect(&run, WEIR_SIM_UNIT, "u", "utilisation", load);
	expect(&run, WEIR_SIM_UNIT, "u", "wait_mean_ns", wait * 1000);
	expect(&run, WEIR_SIM_UNIT, "u", "length_mean", wait * 0.5);
	expect(&run, WEIR_SIM_UNIT, "v", "utilisation", 0.75);
	expect(&run, WEIR_SIM_STREAM, "s", "service_mean_ns", 1000 + 300 + 3000);
	run_free(&run);
}

/* Two classes, the first not interrupted by the second nor the other way round (Cobham). */
static void
priorities(void **state)
{
	struct run run = run_text(
		"traffic: {streams: {s: {to: q, rate: 0.3Mpps}, t: {to: r, rate: 0.4Mpps}}}\n"
		"application:\n"
		"  queues: {q: {type: parallel, priority: 0}, r: {type: parallel, priority: 1}}\n"
		"  objects:\n"
		"    o: {queues: [q, r], steps: [{cpu: 1000cycles, distribution: exponential}]}\n"
		"platform: {cores: {c: {clock: 1GHz}}}\n"
		"run: {simulation: {seed: 1, warmup: 10ms, duration: 100ms, replications: 20}}\n");
	const double residual_ns = 700; /* 0.7 busy, of which 1 us is left in the mean */

	expect(&run, WEIR_SIM_QUEUE, "q", "wait_mean_ns", residual_ns / 0.7);
	expect(&run, WEIR_SIM_QUEUE, "r", "wait_mean_ns", residual_ns / 0.7 / 0.3);
	run_free(&run);
}

/* As above, but the first interrupts the second. */
static void
preemptive_priorities(void **state)
{
	struct run run = run_text(
		"traffic: {streams: {s: {to: q, rate: 0.3Mpps}, t: {to: r, rate: 0.4Mpps}}}\n"
		"application:\n"
		"  queues: {q: {type: parallel, priority: 0}, r: {type: parallel, priority: 1}}\n"
		"  objects:\n"
		"    o: {queues: [q, r], steps: [{cpu: 1000cycles, distribution: exponential}]}\n"
		"platform: {cores: {c: {clock: 1GHz}}, dispatch: {preemptive: true}}\n"
		"run: {simulation: {seed: 1, warmup: 3ms, duration: 35ms, replications: 20}}\n");

	expect(&run, WEIR_SIM_STREAM, "s", "latency_mean_ns", 1000 / 0.7);
	expect(&run, WEIR_SIM_STREAM, "t", "latency_mean_ns", 1000 / 0.7 + 700 / (0.7 * 0.3));
	expect(&run, WEIR_SIM_STREAM, "t", "service_mean_ns", 1000);
	expect(&run, WEIR_SIM_CORES, "c", "utilisation", 0.7);
	run_free(&run);
}

/* M/M/1 with another discipline, and perhaps preemption. */
static struct run
run_discipline(const char *discipline, bool preemptive)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"traffic: {streams: {s: {to: q, rate: 0.7Mpps}}}\n"
		"application:\n"
		"  queues: {q: {type: parallel, discipline: %s}}\n"
		"  objects: {o: {queues: [q], steps: [{cpu: 1000cycles, distribution: "
		"exponential}]}}\n"
		"platform: {cores: {c: {clock: 1GHz}}, dispatch: {preemptive: %s}}\n"
		"run: {simulation: {seed: 1, warmup: 3ms, duration: 35ms, replications: 20}}\n",
		discipline, preemptive ? "true" : "false");
	return run_text(text);
}

/* The same wait in the mean, but others wait much longer. */
static void
last_come_first_served(void **state)
{
	struct run run = run_discipline("lcfs", false);
	const double load = 0.7, free = 0.3, mean = load / free;

	expect(&run, WEIR_SIM_QUEUE, "q", "wait_mean_ns", mean * 1000);
	expect(&run, WEIR_SIM_QUEUE, "q", "wait_sd_ns",
		sqrt(2 * load / pow(free, 3) - mean * mean) * 1000);
	run_free(&run);
	run = run_discipline("lcfs", true);
	expect(&run, WEIR_SIM_STREAM, "s", "latency_mean_ns", 1000 / free);
	run_free(&run);
}

/*
 * The shortest first (Phipps), and the shortest remaining with preemption (Schrage, Miller). Of a service of x: the
 * load by shorter ones is r(x), their second moment m(x).
 */
static void
shortest_first(void **state)
{
	const double rate = 0.7, step = 1e-4;
	double waits = 0, inside = 0, lingering = 0, r = 0, m = 0, x, part;
	struct run run;

	for (x = step / 2; x < 40; x += step) {
		part = step * exp(-x);
		r += rate * x * part;
		m += x * x * part;
		lingering += step / (1 - r);
		waits += part * rate / ((1 - r) * (1 - r)); /* half the second moment, which is 2 */
		inside +=
			part * (rate * (m + x * x * exp(-x)) / (2 * (1 - r) * (1 - r)) + lingering);
	}
	run = run_discipline("shortest", false);
	expect(&run, WEIR_SIM_QUEUE, "q", "wait_mean_ns", waits * 1000);
	run_free(&run);
	run = run_discipline("shortest", true);
	expect(&run, WEIR_SIM_STREAM, "s", "latency_mean_ns", inside * 1000);
	expect(&run, WEIR_SIM_CORES, "c", "utilisation", rate);
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
		cmocka_unit_test(mg1),
		cmocka_unit_test(mm1k),
		cmocka_unit_test(erlang_b),
		cmocka_unit_test(tandem),
		cmocka_unit_test(network),
		cmocka_unit_test(ordered_queue),
		cmocka_unit_test(units),
		cmocka_unit_test(priorities),
		cmocka_unit_test(preemptive_priorities),
		cmocka_unit_test(last_come_first_served),
		cmocka_unit_test(shortest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
