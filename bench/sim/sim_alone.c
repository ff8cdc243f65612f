/* SPDX-License-Identifier: BSD-3-Clause */

/* The simulator alone: events per second of M/M/1, and what an event costs with a million packets queued beside a thousand. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <weir_base.h>

#include "sim_bench.h"

#define CUSTOMERS         100000 /* in a slice of events */
#define EVENTS_PER_SECOND 1e7    /* to reach */
#define DEPTHS            2
#define ROUNDS            3   /* of each depth */
#define SKIPPED           2   /* looks at the clock while the queue is filled */
#define LOOKS             8   /* in a run, at most */
#define LEAST_RATIO       0.5 /* log 1,000 / log 1,000,000 */

const char *const sim_alone_names[] = {"events", "queued"};
const size_t sim_alone_nb_names = sizeof(sim_alone_names) / sizeof(sim_alone_names[0]);

static const char mm1[] =
	"traffic: {streams: {s: {to: q, arrivals: poisson, rate: 0.7Mpps}}}\n"
	"application:\n"
	"  queues: {q: {type: parallel}}\n"
	"  objects: {o: {queues: [q], steps: [{cpu: 1000cycles, distribution: exponential}]}}\n"
	"platform: {cores: {c: {clock: 1GHz}}}\n";

/*
 * A queue that is filled at once, and stays full as more come than are served: what finds no room is dropped, which is an event
 * as well. The filling is over with the warm-up, and with the events of the first two looks at the clock.
 */
static const char full[] =
	"traffic:\n"
	"  streams:\n"
	"    fill: {to: q, arrivals: deterministic, rate: 1000000Mpps, count: %u}\n"
	"    s: {to: q, arrivals: poisson, rate: 1.1Mpps}\n"
	"application:\n"
	"  queues: {q: {type: parallel, capacity: %u}}\n"
	"  objects: {o: {queues: [q], steps: [{cpu: 1000cycles, distribution: exponential}]}}\n"
	"platform: {cores: {c: {clock: 1GHz}}}\n"
	"run: {simulation: {warmup: 10ms, duration: 2700ms}}\n";

/* ---- events ---- */

struct events {
	struct sim_given given;
	uint64_t events; /* of the last slice */
	bool failed;
};

static void
events_slice(void *arg, uint64_t nb)
{
	struct events *events = arg;
	struct weir_sim_result result;

	events->given.param.nb_packets = nb;
	events->given.param.seed++;
	events->failed |= weir_sim_run(events->given.model, &events->given.param, &result) < 0 ||
			  result.nb_replications != 1 || result.replications[0].broken != NULL;
	events->events = result.events;
	weir_sim_result_free(&result);
}

static void
tell_events(struct bench_report *report, const struct bench_figure *cycles, double per_customer)
{
	const double rate = (double)weir_base_cycles_hz() * per_customer;
	const bool reached = rate / cycles->median >= EVENTS_PER_SECOND;

	json_array_append_new(report->cases,
		json_pack("{s:s, s:{s:f, s:f, s:f}, s:f, s:b}", "name", "events", "ours",
			"events_per_second", rate / cycles->median, "events_per_second_p10",
			rate / cycles->high, "events_per_second_p90", rate / cycles->low,
			"target_events_per_second", EVENTS_PER_SECOND, "reached", reached));
	report->nb_rows++;
	report->nb_targets++;
	report->nb_missed += !reached;
	bench_say(report,
		"\nevents: M/M/1 on one core, %d customers at a time: %.2f million events/s (10th "
		"to 90th percentile: %.2f to %.2f); to reach: %.1f%s\n",
		CUSTOMERS, rate / cycles->median / 1e6, rate / cycles->high / 1e6,
		rate / cycles->low / 1e6, EVENTS_PER_SECOND / 1e6, reached ? "" : "  not reached");
}

static void
run_events(const struct bench_options *options, struct bench_report *report)
{
	struct events events = {.failed = false};
	const struct bench_side side = {.name = "ours", .slice = events_slice, .arg = &events};
	struct bench_figure cycles;
	uint64_t total;

	if (!sim_given_open(&events.given, mm1) ||
		bench_compare(options, &side, 1, CUSTOMERS, &cycles, &total) < 0)
		bench_report_failure(report, "events", "not enough memory");
	else if (events.failed)
		bench_report_failure(report, "events", "a run has failed");
	else
		tell_events(report, &cycles, (double)events.events / CUSTOMERS);
	sim_given_close(&events.given);
}

/* ---- queued ---- */

/* So many packets are queued. */
struct depth {
	unsigned int packets;
	struct sim_given given;
	uint64_t last_cycles, last_events;
	unsigned int nb_looks;
	double *samples; /* cycles of an event */
	unsigned int nb;
	double length; /* of the queue, mean */
};

/* The simulator tells how far it is, every million events: how long did those take? */
static bool
look(void *arg, const struct weir_sim_progress *progress)
{
	struct depth *depth = arg;
	const uint64_t cycles = weir_base_cycles();

	if (++depth->nb_looks > SKIPPED && depth->nb_looks <= LOOKS)
		depth->samples[depth->nb++] = (double)(cycles - depth->last_cycles) /
					      (double)(progress->events - depth->last_events);
	depth->last_events = progress->events;
	depth->last_cycles = weir_base_cycles();
	return true;
}

static bool
depth_open(struct depth *depth, unsigned int packets, unsigned int rounds)
{
	char text[1024];

	*depth = (struct depth){.packets = packets,
		.samples = calloc((size_t)rounds * LOOKS, sizeof(*depth->samples))};
	snprintf(text, sizeof(text), full, packets, packets);
	if (!sim_given_open(&depth->given, text) || depth->samples == NULL)
		return false;
	depth->given.param.progress = look;
	depth->given.param.arg = depth;
	return true;
}

static void
depth_close(struct depth *depth)
{
	sim_given_close(&depth->given);
	free(depth->samples);
}

/* @return whether it was run, and the queue was as long as it is to be */
static bool
depth_run(struct depth *depth)
{
	const int column =
		weir_sim_model_metric_find(depth->given.model, WEIR_SIM_QUEUE, "q", "length_mean");
	struct weir_sim_result result;
	bool good;

	depth->nb_looks = 0;
	depth->given.param.seed++;
	good = weir_sim_run(depth->given.model, &depth->given.param, &result) == 0 && column >= 0 &&
	       result.nb_replications == 1 && result.replications[0].broken == NULL;
	if (good)
		depth->length = result.values[column];
	weir_sim_result_free(&result);
	return good && depth->nb > 0 && fabs(depth->length / depth->packets - 1) < 0.05;
}

static void
tell_queued(struct bench_report *report, struct depth *depths)
{
	struct bench_row row = {.name = "queued",
		.peer = "a thousand queued",
		.ours = bench_figure_of(depths[1].samples, depths[1].nb),
		.theirs = bench_figure_of(depths[0].samples, depths[0].nb),
		.objects = 1,
		.target = LEAST_RATIO,
		.quiet = true,
		.ours_extra = json_pack("{s:f}", "queue_length", depths[1].length),
		.peer_extra = json_pack("{s:f}", "queue_length", depths[0].length)};
	const double ratio = row.theirs.median / row.ours.median,
		     ns = 1e9 / (double)weir_base_cycles_hz();

	report->work = report->object = "event";
	bench_report_row(report, &row);
	bench_say(report,
		"\nqueued: %.1f ns an event with %.0f packets queued, %.1f ns with %.0f: ratio "
		"%.2f; to reach: %.1f, as logarithms are%s\n",
		ns * row.ours.median, depths[1].length, ns * row.theirs.median, depths[0].length,
		ratio, LEAST_RATIO, ratio >= LEAST_RATIO ? "" : "  not reached");
}

static void
run_queued(const struct bench_options *options, struct bench_report *report)
{
	const unsigned int rounds = options->rounds != 0 ? options->rounds : ROUNDS;
	struct depth depths[DEPTHS];
	const bool few = depth_open(&depths[0], 1000, rounds),
		   many = depth_open(&depths[1], 1000000, rounds);
	bool good = few && many;

	for (unsigned int i = 0; i < rounds * DEPTHS && good; i++)
		good = depth_run(&depths[(i + 1) / 2 % DEPTHS]); /* forth and back */
	if (good)
		tell_queued(report, depths);
	else
		bench_report_failure(report, "queued", "%s",
			few && many ? "a run has failed, or its queue was not full"
				    : "not enough memory");
	depth_close(&depths[0]);
	depth_close(&depths[1]);
}

void
sim_alone_run(const struct bench_options *options, struct bench_report *report)
{
	if (bench_wanted(options, "events"))
		run_events(options, report);
	if (bench_wanted(options, "queued"))
		run_queued(options, report);
}
