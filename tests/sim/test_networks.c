/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks of queues, units, priorities and disciplines whose theory is known, compared as theory.h says. */
#include "theory.h"

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

/*
 * A server that goes round three queues, 100 ns from one to the next, of which it serves all that waits, or one packet
 * (Takagi): n queues, each with rate l and switch time r, second moment m of the service, load p of all.
 */
static void
polling(void **state)
{
	static const char format[] =
		"traffic:\n"
		"  streams:\n"
		"    s: {to: q, rate: 0.2Mpps}\n"
		"    t: {to: r, rate: 0.2Mpps}\n"
		"    u: {to: w, rate: 0.2Mpps}\n"
		"application:\n"
		"  queues: {q: {type: parallel}, r: {type: parallel}, w: {type: parallel}}\n"
		"  objects: {o: {queues: [q, r, w], steps: [{cpu: 1000cycles, distribution: "
		"exponential}]}}\n"
		"platform: {cores: {c: {clock: 1GHz, polling: {switch: 100cycles%s}}}}\n"
		"run: {simulation: {seed: 1, warmup: 3ms, duration: 43ms, replications: 20}}\n";
	const double n = 3, l = 0.2, r = 0.1, m = 2, p = 0.6;
	const double all = (n * l * m + r * (n - p)) / (2 * (1 - p));
	const double one = (n * l * m + r * (n + p)) / (2 * (1 - p - n * l * r));
	char text[1024];
	struct run run;

	snprintf(text, sizeof(text), format, "");
	run = run_text(text);
	expect(&run, WEIR_SIM_QUEUE, "q", "wait_mean_ns", all * 1000);
	expect(&run, WEIR_SIM_QUEUE, "r", "wait_mean_ns", all * 1000);
	expect(&run, WEIR_SIM_QUEUE, "w", "wait_mean_ns", all * 1000);
	expect(&run, WEIR_SIM_CORES, "c", "utilisation", p);
	run_free(&run);
	snprintf(text, sizeof(text), format, ", burst: 1");
	run = run_text(text);
	expect(&run, WEIR_SIM_QUEUE, "q", "wait_mean_ns", one * 1000);
	expect(&run, WEIR_SIM_QUEUE, "r", "wait_mean_ns", one * 1000);
	run_free(&run);
}

/* Two parts to a server each, of load p: the mean time until both are done is (12 - p) / 8 of that of one (Nelson, Tantawi). */
static void
fork_and_join(void **state)
{
	const double p = 0.6;
	struct run run = run_text(
		"traffic: {streams: {s: {to: q, rate: 0.6Mpps}}}\n"
		"application:\n"
		"  queues: {q: {type: parallel}, a: {type: parallel, group: a}, b: {type: "
		"parallel, "
		"group: b}}\n"
		"  objects:\n"
		"    o: {queues: [q], steps: [{fork: a}, {fork: b}, {join: true}]}\n"
		"    p: {queues: [a, b], steps: [{cpu: 1000cycles, distribution: exponential}]}\n"
		"platform:\n"
		"  cores:\n"
		"    c: {clock: 1GHz}\n"
		"    d: {clock: 1GHz, groups: [a]}\n"
		"    e: {clock: 1GHz, groups: [b]}\n"
		"run: {simulation: {seed: 1, warmup: 3ms, duration: 43ms, replications: 20}}\n");

	expect(&run, WEIR_SIM_STREAM, "s", "latency_mean_ns", (12 - p) / 8 / (1 - p) * 1000);
	expect(&run, WEIR_SIM_CORES, "d", "utilisation", p);
	run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tandem),
		cmocka_unit_test(network),
		cmocka_unit_test(ordered_queue),
		cmocka_unit_test(units),
		cmocka_unit_test(priorities),
		cmocka_unit_test(preemptive_priorities),
		cmocka_unit_test(polling),
		cmocka_unit_test(fork_and_join),
		cmocka_unit_test(last_come_first_served),
		cmocka_unit_test(shortest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
