/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Short events of the highest priority, which keep all cores busy half of the time, while there is long work at the lowest one. With jobs, one
 * that comes when all cores are in slices waits until the first of these is over, and for those that came before it.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_pause.h>

#include "job_load.h"

#define SHORT_NS  2000
#define LOAD      0.5
#define MOST_MORE 1.2 /* time slices that the p99 may be longer by */

struct shorts {
	struct jobs_stand stand;
	struct jobs_load load;
	weir_em_object object;
	weir_em_queue queue;
};

static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct shorts *shorts = context;
	struct jobs_core *own = &shorts->stand.cores[weir_em_core_id(core)];

	for (uint16_t i = 0; i < nb; i++) {
		uint64_t end = weir_base_cycles() + weir_base_ns_to_cycles(SHORT_NS);

		while (weir_base_cycles() < end)
			rte_pause();
		jobs_load_done(own, events[i].u64);
	}
}

static bool
send(struct jobs_load *load, uint64_t due)
{
	const struct shorts *shorts = load->arg;
	struct rte_event event = weir_em_event_u64(due);

	return weir_em_send(load->producer, shorts->queue, &event, 1) == 1;
}

static int
make(struct shorts *shorts)
{
	const struct jobs_stand_config config = {
		.backend = "builtin",
		.types = 1u << WEIR_EM_QUEUE_PARALLEL,
		.priorities = 1u | 1u << (WEIR_EM_PRIORITIES - 1),
		.nb_events = 16384,
		.max_jobs = 256,
		.in_bytes = sizeof(void *),
	};
	const struct weir_em_queue_config queue = {.name = "short", .type = WEIR_EM_QUEUE_PARALLEL};
	const struct weir_em_object_config object = {
		.name = "short", .context = shorts, .receive = receive};
	int rc = jobs_stand_create(&shorts->stand, &config);

	if (rc < 0)
		return rc;
	shorts->load = (struct jobs_load){
		.stand = &shorts->stand,
		.per_s = LOAD * shorts->stand.nb_cores * 1e9 / SHORT_NS,
		.send = send,
		.arg = shorts,
	};
	rc = jobs_load_init(&shorts->load);
	shorts->object = weir_em_object_create(shorts->stand.em, &object);
	shorts->queue = weir_em_queue_create(shorts->stand.em, &queue);
	if (rc == 0)
		rc = weir_em_object_add_queue(shorts->stand.em, shorts->object, shorts->queue);
	if (rc == 0)
		rc = weir_em_object_start(
			shorts->stand.em, shorts->load.producer, shorts->object, NULL);
	return rc;
}

/*
 * At half load half of the events wait for hardly anything. Where even that takes a slice, somebody else had the cores, and
 * a difference of two such figures says nothing, least of all that it is small.
 */
static bool
is_disturbed(const struct load_figures *figures)
{
	return jobs_ns(figures[LOAD_ALONE].p50) > JOBS_SLICE_NS;
}

static void
tell(const struct shorts *shorts, struct bench_report *report, const struct load_figures *figures)
{
	double more_us = jobs_ns(figures[LOAD_JOBS].p99 - figures[LOAD_ALONE].p99) / 1e3;
	double most_us = MOST_MORE * JOBS_SLICE_NS / 1e3;
	bool disturbed = is_disturbed(figures), reached = !disturbed && more_us <= most_us;

	bench_say(report,
		"\nshort-events: events of %u ns at %.3f M/s, %.0f %% of what all cores can do, at "
		"the highest priority; work at the lowest, jobs in slices of %u us\n\n",
		SHORT_NS, shorts->load.per_s / 1e6, LOAD * 100, JOBS_SLICE_NS / 1000);
	jobs_load_say(report, figures);
	bench_say(report,
		"  p99 with jobs is %.2f us longer than without work; to reach: at most %.1f  %s\n",
		more_us, most_us,
		reached     ? "reached"
		: disturbed ? "disturbed"
			    : "short");
	if (disturbed)
		bench_say(report,
			"  The cores were not this program's alone: half of the events waited "
			"longer than a slice without any work. Run it on a quiet machine.\n");
	json_array_append_new(report->cases,
		json_pack("{s:s, s:f, s:f, s:o, s:f, s:f, s:b, s:b}", "name", "short-events",
			"offered_per_s", shorts->load.per_s, "slice_us", JOBS_SLICE_NS / 1e3,
			"sides", jobs_load_json(figures), "p99_longer_us", more_us, "target_us",
			most_us, "disturbed", disturbed, "reached", reached));
	report->nb_rows++;
	report->nb_targets++;
	report->nb_missed += !reached;
}

void
jobs_short_run(const struct bench_options *options, struct bench_report *report)
{
	struct load_figures figures[LOAD_WORKS];
	struct shorts *shorts = aligned_alloc(64, sizeof(*shorts));
	int rc;

	bench_report_array(report, "latency");
	if (shorts == NULL) {
		bench_report_failure(report, "short-events", "not enough memory");
		return;
	}
	memset(shorts, 0, sizeof(*shorts));
	rc = make(shorts);
	if (rc < 0)
		bench_report_failure(report, "short-events", "%s", strerror(-rc));
	else if (jobs_load_run(&shorts->load, options, report, "short-events", figures))
		tell(shorts, report, figures);
	if (shorts->object != WEIR_EM_NONE)
		weir_em_object_stop(shorts->stand.em, shorts->load.producer, shorts->object, NULL);
	jobs_load_fini(&shorts->load);
	if (!jobs_stand_destroy(&shorts->stand))
		bench_report_failure(report, "short-events", "jobs could not be stopped");
	free(shorts);
}
