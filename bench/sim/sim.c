/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * `weir bench sim`: the simulator beside SimPy and Ciw, on models that all of them have.
 *
 * A slice simulates so many customers from an empty system on, with random numbers of its own. Ours counts all that it always
 * counts; what the peers count is told in sim_peers.py. They take turns on one CPU: the peers in a process that waits meanwhile, and
 * reads the clock itself. All sides must find the same time inside, so that they can be said to do the same.
 */

#include <math.h>
#include <signal.h>
#include <string.h>

#include <weir_base.h>
#include <weir_base_doc.h>

#include "sim_bench.h"

#define CUSTOMERS 10000 /* in a slice */
#define SECONDS   2
#define MEGABYTES 64
#define MOST_DIFFERENT                                                                             \
	0.25 /* of times inside: some 7 standard deviations of M/M/1's in three slices */
#define SERVICE_NS 1000.0

struct sim_case {
	const char *name;
	const char *library, *peer; /* the peer: its module's name, and its own */
	const char *model;          /* its name for the peer */
	const char *text;           /* for the simulator: the mean service is 1 us */
	double target;
};

#define ONE_CLASS(rate, count)                                                                     \
	"traffic: {streams: {s: {to: q, arrivals: poisson, rate: " rate "}}}\n"                    \
	"application:\n"                                                                           \
	"  queues: {q: {type: parallel}}\n"                                                        \
	"  objects: {o: {queues: [q], steps: [{cpu: 1000cycles, distribution: exponential}]}}\n"   \
	"platform: {cores: {c: {count: " count ", clock: 1GHz}}}\n"

#define TWO_CLASSES                                                                                \
	"traffic:\n"                                                                               \
	"  streams:\n"                                                                             \
	"    s: {to: q, arrivals: poisson, rate: 9.6Mpps}\n"                                       \
	"    t: {to: r, arrivals: poisson, rate: 19.2Mpps}\n"                                      \
	"application:\n"                                                                           \
	"  queues: {q: {type: parallel, priority: 0}, r: {type: parallel, priority: 1}}\n"         \
	"  objects: {o: {queues: [q, r], steps: [{cpu: 1000cycles, distribution: "                 \
	"exponential}]}}\n"                                                                        \
	"platform: {cores: {c: {count: 32, clock: 1GHz}}}\n"

static const struct sim_case cases[] = {
	{"mm1-simpy", "simpy", "SimPy", "mm1", ONE_CLASS("0.7Mpps", "1"), 60},
	{"mm1-ciw", "ciw", "Ciw", "mm1", ONE_CLASS("0.7Mpps", "1"), 80},
	{"mm32-simpy", "simpy", "SimPy", "mm32", ONE_CLASS("28.8Mpps", "32"), 60},
	{"npu-simpy", "simpy", "SimPy", "npu", TWO_CLASSES, 60},
};

#define NB_CASES (sizeof(cases) / sizeof(cases[0]))

/* Both sides of a case. */
struct sides {
	const struct sim_case *what;
	struct sim_given given;
	struct sim_peer *peer;
	uint64_t ours_seed, peer_seed, events, customers, peer_ns;
	struct sim_class ours[SIM_CLASSES_MAX], theirs[SIM_CLASSES_MAX];
	const char *wrong; /* with ours; NULL: nothing */
	bool peer_failed;
};

static double
value_of(const struct sides *sides, const struct weir_sim_result *result, const char *stream,
	const char *quantity)
{
	int column =
		weir_sim_model_metric_find(sides->given.model, WEIR_SIM_STREAM, stream, quantity);

	return column >= 0 ? result->values[column] : NAN;
}

static void
ours_slice(void *arg, uint64_t nb)
{
	static const char *const streams[SIM_CLASSES_MAX] = {"s", "t"};
	struct sides *sides = arg;
	struct weir_sim_result result;

	sides->given.param.nb_packets = nb;
	sides->given.param.seed = ++sides->ours_seed;
	if (weir_sim_run(sides->given.model, &sides->given.param, &result) < 0 ||
		result.nb_replications != 1)
		sides->wrong = "it could not be run";
	else if (result.replications[0].broken != NULL)
		sides->wrong = result.replications[0].broken;
	for (unsigned int i = 0; i < SIM_CLASSES_MAX && sides->wrong == NULL; i++) {
		const double customers = value_of(sides, &result, streams[i], "delivered_packets");

		if (isnan(customers))
			break;
		sides->ours[i].customers += customers;
		sides->ours[i].latency += customers *
					  value_of(sides, &result, streams[i], "latency_mean_ns") /
					  SERVICE_NS;
	}
	sides->events += result.events;
	sides->customers += nb;
	weir_sim_result_free(&result);
}

static void
peer_slice(void *arg, uint64_t nb)
{
	struct sides *sides = arg;

	if (!sides->peer_failed)
		sides->peer_ns = sim_peer_run(sides->peer, sides->what->library, sides->what->model,
			nb, ++sides->peer_seed, sides->theirs);
	sides->peer_failed |= sides->peer_ns == 0;
}

static uint64_t
peer_cycles(void *arg)
{
	return weir_base_ns_to_cycles(((const struct sides *)arg)->peer_ns);
}

/* Have both done the same? @return false, told */
static bool
check(struct bench_report *report, const struct sides *sides)
{
	const char *name = sides->what->name;
	double ours = 0, theirs = 0;

	if (sides->wrong != NULL || sides->peer_failed) {
		bench_report_failure(report, name, "%s",
			sides->peer_failed ? "the peer has failed" : sides->wrong);
		return false;
	}
	for (unsigned int i = 0; i < SIM_CLASSES_MAX; i++) {
		const struct sim_class *a = &sides->ours[i], *b = &sides->theirs[i];

		ours += a->customers;
		theirs += b->customers;
		if (a->customers == 0 && b->customers == 0)
			continue;
		if (!(fabs(a->latency / a->customers * b->customers / b->latency - 1) <
			    MOST_DIFFERENT)) {
			bench_report_failure(report, name,
				"class %u is inside for %.3f services by ours, %.3f by the peer's",
				i, a->latency / a->customers, b->latency / b->customers);
			return false;
		}
	}
	if (ours != (double)sides->customers || theirs != ours) {
		bench_report_failure(
			report, name, "%.0f customers by ours, %.0f by the peer's", ours, theirs);
		return false;
	}
	return true;
}

static json_t *
latencies_json(const struct sim_class *classes)
{
	json_t *json = json_array();

	for (unsigned int i = 0; i < SIM_CLASSES_MAX && classes[i].customers > 0; i++)
		json_array_append_new(json, json_real(classes[i].latency / classes[i].customers));
	return json;
}

static double
per_second(const struct bench_figure *cycles)
{
	return (double)weir_base_cycles_hz() / cycles->median;
}

static void
tell(struct bench_report *report, const struct sides *sides, const struct bench_figure *figures)
{
	const struct sim_case *what = sides->what;
	const double ours = per_second(&figures[0]), theirs = per_second(&figures[1]);
	const double events = (double)sides->events / (double)sides->customers;

	bench_report_row(report,
		&(struct bench_row){.name = what->name,
			.peer = what->peer,
			.ours = figures[0],
			.theirs = figures[1],
			.objects = 1,
			.target = what->target,
			.quiet = true,
			.ours_extra = json_pack("{s:f, s:f, s:f, s:o}", "customers_per_second",
				ours, "events_per_customer", events, "events_per_second",
				ours * events, "latency", latencies_json(sides->ours)),
			.peer_extra = json_pack("{s:s, s:s, s:f, s:o}", "version",
				sim_peer_version(sides->peer, what->library), "python",
				sim_peer_version(sides->peer, "python"), "customers_per_second",
				theirs, "latency", latencies_json(sides->theirs))});
	bench_say(report, "%-12s |%12.0f%9.1f%12.2f |%12.0f%9.1f  %-6s %-6s|%8.1f  %7.1f%s\n",
		what->name, ours, 1e9 / ours, ours * events / 1e6, theirs, 1e9 / theirs, what->peer,
		sim_peer_version(sides->peer, what->library), ours / theirs, what->target,
		ours / theirs >= what->target ? "" : "  not reached");
	if (!report->options->json)
		fflush(stdout);
}

static void
run_case(const struct bench_options *options, struct bench_report *report, struct sim_peer *peer,
	const struct sim_case *what)
{
	struct sides sides = {.what = what, .peer = peer};
	const struct bench_side both[2] = {
		{.name = "ours", .slice = ours_slice, .arg = &sides},
		{.name = "peer", .slice = peer_slice, .cycles = peer_cycles, .arg = &sides},
	};
	struct bench_figure figures[2];
	uint64_t total;

	if (peer->pid == 0 || sim_peer_version(peer, what->library) == NULL) {
		bench_report_failure(report, what->name,
			"no Python with %s; run scripts/bench-peers, or name one in "
			"WEIR_BENCH_PYTHON",
			what->peer);
		return;
	}
	if (!sim_given_open(&sides.given, what->text) ||
		bench_compare(options, both, 2, CUSTOMERS, figures, &total) < 0)
		bench_report_failure(report, what->name, "not enough memory");
	else if (check(report, &sides))
		tell(report, &sides, figures);
	sim_given_close(&sides.given);
}

static void
run_cases(const struct bench_options *options, struct bench_report *report)
{
	struct sim_peer peer;

	if (!BENCH_ANY_WANTED(options, cases))
		return;
	sim_peer_open(&peer);
	bench_report_array(report, "cases");
	bench_say(report,
		"\nCustomers from an empty system on, %d at a time, in turns with a Python "
		"process (%s)\n\n%-12s |%33s |%35s |\n%-12s |%12s%9s%12s |%12s%9s  %-13s|%8s  "
		"%s\n",
		CUSTOMERS, peer.pid != 0 ? sim_peer_version(&peer, "python") : "none", "", "ours",
		"peer", "case", "customers/s", "ns each", "M events/s", "customers/s", "ns each",
		"", "ratio", "to reach");
	for (size_t i = 0; i < NB_CASES; i++)
		if (bench_wanted(options, cases[i].name))
			run_case(options, report, &peer, &cases[i]);
	sim_peer_close(&peer);
}

static int
run_sim(const struct bench *bench, const struct bench_options *options)
{
	struct bench_report report;
	bool wanted = BENCH_ANY_WANTED(options, cases);

	if (options->list)
		BENCH_LIST(cases);
	for (size_t i = 0; i < sim_alone_nb_names; i++) {
		if (options->list)
			printf("%s\n", sim_alone_names[i]);
		wanted |= bench_wanted(options, sim_alone_names[i]);
	}
	if (options->list)
		return 0;
	if (!wanted)
		return bench_no_case(bench, options);
	if (bench_eal_start(options, MEGABYTES, 0) < 0)
		return 1;
	signal(SIGPIPE, SIG_IGN); /* a peer that has died is a case that failed */
	bench_report_begin(&report, bench, options, "customer", "customer", "SimPy");
	bench_report_array(&report, "cases");
	bench_report_machine(&report);
	run_cases(options, &report);
	sim_alone_run(options, &report);
	return bench_report_end(&report);
}

const struct bench bench_sim = {
	.name = "sim",
	.summary = "The simulator beside SimPy and Ciw",
	.help = "M/M/1, M/M/32 and 32 cores with two classes of which one has priority, by ours "
		"with all of its statistics and by a\n"
		"Python process with those that its user would keep: customers per second of "
		"both. scripts/bench-peers installs the\n"
		"peers' libraries; another Python that has them can be named in "
		"WEIR_BENCH_PYTHON. events: the simulator alone.\n"
		"queued: what an event costs with a million packets queued, beside a thousand.\n",
	.seconds = SECONDS,
	.no_burst = "packets come one at a time in models",
	.no_routes = "it forwards nothing by routes; forward does",
	.no_ours = "events is the case without a peer",
	.run = run_sim,
};
