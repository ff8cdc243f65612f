/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * `weir bench em`: what the event machine's dispatch costs beside a loop over lib/sched that does the same.
 *
 * On one core, a population of events goes round through some atomic queues, each from one queue to the next. Ours: an object
 * receives them, singly or in batches, and forwards them by the call of that kind. The peer: a loop dequeues as many at a time
 * from a scheduler of the same configuration, and enqueues them one by one, or, beside batches, those of one queue that came in a row.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include <weir_base.h>
#include <weir_em.h>

#include "harness.h"

#define POPULATION 1024
#define EVENTS     4096 /* credits */
#define BURST      32
#define MOST_NS    15.0 /* that em may add to an event */
#define QUEUES_MAX 64
#define SECONDS    0.5
#define MEGABYTES  128

struct em_case {
	const char *name;
	unsigned int nb_queues;
	bool batch;
};

static const struct em_case cases[] = {
	{"dispatch-1", 1, false},
	{"dispatch-8", 8, false},
	{"dispatch-64", 64, false},
	{"dispatch-1-batch", 1, true},
	{"dispatch-8-batch", 8, true},
	{"dispatch-64-batch", 64, true},
};

#define NB_CASES (sizeof(cases) / sizeof(cases[0]))

/* A queue's context. */
struct stop {
	weir_em_queue next;
};

struct ours {
	const struct em_case *what;
	struct weir_em *em;
	struct weir_em_core *core;
	weir_em_queue queues[QUEUES_MAX];
	struct stop stops[QUEUES_MAX];
};

struct peer {
	const struct em_case *what;
	struct weir_sched *sched;
	struct weir_sched_port *port;
	uint64_t nb; /* events that went on */
	bool failed;
};

/* ---- ours ---- */

static void
receive_one(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	const struct stop *stop = queue_context;

	weir_em_forward(core, stop->next, &events[0]);
}

static void
receive_batch(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	const struct stop *stop = queue_context;

	weir_em_forward_burst(core, stop->next, events, nb);
}

/* Each queue's event goes to the next one. */
static bool
make_queues(struct ours *ours)
{
	const struct em_case *what = ours->what;
	weir_em_object object = weir_em_object_create(
		ours->em, &(struct weir_em_object_config){.name = "round",
				  .receive = what->batch ? receive_batch : receive_one,
				  .burst = what->batch ? BURST : 1});

	if (object == WEIR_EM_NONE)
		return false;
	for (unsigned int i = 0; i < what->nb_queues; i++) {
		ours->queues[i] = weir_em_queue_create(
			ours->em, &(struct weir_em_queue_config){.type = WEIR_EM_QUEUE_ATOMIC,
					  .context = &ours->stops[i]});
		if (ours->queues[i] == WEIR_EM_NONE ||
			weir_em_object_add_queue(ours->em, object, ours->queues[i]) < 0)
			return false;
	}
	for (unsigned int i = 0; i < what->nb_queues; i++)
		ours->stops[i].next = ours->queues[(i + 1) % what->nb_queues];
	return weir_em_object_start(ours->em, ours->core, object, NULL) == 0;
}

static bool
ours_open(struct ours *ours, const struct em_case *what)
{
	*ours = (struct ours){.what = what};
	ours->em = weir_em_create("bench", &(struct weir_em_config){.nb_queues = QUEUES_MAX,
						   .types = 1u << WEIR_EM_QUEUE_ATOMIC,
						   .priorities = 1,
						   .nb_queue_groups = 1,
						   .nb_events = EVENTS,
						   .socket_id = -1});
	if (ours->em == NULL)
		return false;
	ours->core = weir_em_core_attach(ours->em, 0);
	if (ours->core == NULL || !make_queues(ours))
		return false;
	for (unsigned int i = 0; i < POPULATION; i++) {
		struct rte_event event = weir_em_event_u64(i);

		if (weir_em_send(ours->core, ours->queues[i % what->nb_queues], &event, 1) != 1)
			return false;
	}
	return true;
}

static void
ours_slice(void *arg, uint64_t nb)
{
	const struct weir_em_dispatch_options options = {.nb_events = nb, .burst = BURST};
	struct ours *ours = arg;

	weir_em_dispatch(ours->core, &options);
}

static void
drop(void *arg, weir_em_queue queue, struct rte_event *event)
{
}

/* All is there still, and nothing went wrong. */
static bool
ours_close(struct ours *ours, uint64_t least, double *events_per_call)
{
	struct weir_em_stats stats;
	bool good;

	if (ours->em == NULL)
		return false;
	weir_em_stats(ours->em, &stats);
	*events_per_call = (double)stats.nb_received / (double)RTE_MAX(stats.nb_calls, 1u);
	good = stats.nb_sent == POPULATION && stats.nb_forwarded == stats.nb_received &&
	       stats.nb_received >= least && stats.nb_errors == 0;
	if (ours->core != NULL)
		weir_em_core_detach(ours->core);
	weir_em_destroy(ours->em, drop, NULL);
	return good;
}

/* ---- the peer ---- */

static struct rte_event
peer_event(const struct em_case *what, unsigned int i)
{
	return (struct rte_event){.op = RTE_EVENT_OP_NEW,
		.flow_id = i % what->nb_queues,
		.event_type = RTE_EVENT_TYPE_CPU,
		.u64 = i};
}

/* As weir_em_create() makes its own. */
static bool
peer_open(struct peer *peer, const struct em_case *what)
{
	*peer = (struct peer){.what = what};
	peer->sched = weir_sched_create("bench-peer", &(struct weir_sched_config){.nb_ports = 2,
							      .nb_queues = 1,
							      .nb_flows = QUEUES_MAX,
							      .nb_events = EVENTS,
							      .socket_id = -1});
	if (peer->sched == NULL ||
		weir_sched_queue_setup(peer->sched, 0,
			&(struct weir_sched_queue_config){
				.type = WEIR_SCHED_TYPE_BY_EVENT, .group = 1}) < 0 ||
		weir_sched_port_setup(
			peer->sched, 1, &(struct weir_sched_port_config){.producer = true}) < 0 ||
		weir_sched_group_set(peer->sched, 1, 1) < 0 || weir_sched_start(peer->sched) < 0)
		return false;
	peer->port = weir_sched_port(peer->sched, 0);
	for (unsigned int i = 0; i < POPULATION; i++) {
		struct rte_event event = peer_event(what, i);

		if (weir_sched_enqueue(peer->port, &event, 1) != 1)
			return false;
	}
	return true;
}

/* How many from the first one on go together: one, or those of one queue that came in a row. */
static __rte_always_inline uint16_t
run_of(const struct rte_event *events, uint16_t nb, bool batch)
{
	uint16_t n = 1;

	while (batch && n < nb && events[n].flow_id == events[0].flow_id)
		n++;
	return n;
}

static __rte_always_inline void
peer_run(struct peer *peer, uint64_t nb, bool batch, uint32_t nb_queues)
{
	struct rte_event events[BURST];
	uint64_t done = 0;
	uint16_t got, run;

	while (done < nb) {
		got = weir_sched_dequeue(peer->port, events, BURST);
		for (uint16_t i = 0; i < got; i += run) {
			uint32_t next = events[i].flow_id + 1u;

			run = run_of(&events[i], got - i, batch);
			for (uint16_t k = i; k < i + run; k++) {
				events[k].op = RTE_EVENT_OP_FORWARD;
				events[k].flow_id = next < nb_queues ? next : 0;
			}
			peer->failed |= weir_sched_enqueue(peer->port, &events[i], run) != run;
		}
		done += got;
	}
	weir_sched_dequeue(peer->port, events, 0);
	peer->nb += done;
}

static void
peer_slice(void *arg, uint64_t nb)
{
	struct peer *peer = arg;

	if (peer->what->batch)
		peer_run(peer, nb, true, peer->what->nb_queues);
	else
		peer_run(peer, nb, false, peer->what->nb_queues);
}

static void
forget(void *arg, const struct rte_event *event)
{
}

static bool
peer_close(struct peer *peer, uint64_t least)
{
	struct weir_sched_stats stats;
	bool good;

	if (peer->sched == NULL)
		return false;
	weir_sched_stats(peer->sched, &stats);
	good = !peer->failed && stats.nb_new == POPULATION && stats.nb_forwarded == peer->nb &&
	       peer->nb >= least && stats.nb_invalid == 0;
	if (weir_sched_running(peer->sched))
		weir_sched_stop(peer->sched, forget, NULL);
	weir_sched_destroy(peer->sched);
	return good;
}

/* ---- cases ---- */

static double
ns_of(double cycles)
{
	return cycles * 1e9 / (double)weir_base_cycles_hz();
}

static void
report_case(struct bench_report *report, const struct em_case *what,
	const struct bench_figure *figures, double events_per_call)
{
	double added = ns_of(figures[0].median - figures[1].median);
	bool reached = added <= MOST_NS;

	bench_report_row(report,
		&(struct bench_row){.name = what->name,
			.ours = figures[0],
			.theirs = figures[1],
			.objects = 1,
			.others = reached ? BENCH_VERDICT_REACHED : BENCH_VERDICT_MISSED,
			.quiet = true,
			.ours_extra = json_pack("{s:f}", "events_per_call", events_per_call),
			.extra = json_pack("{s:f, s:f}", "added_ns", added, "target_ns", MOST_NS)});
	bench_say(report, "%-20s |%8.1f%10.1f%9.1f |%10.1f%9.1f |%8.1f %10.1f  %s\n", what->name,
		events_per_call, figures[0].median, ns_of(figures[0].median), figures[1].median,
		ns_of(figures[1].median), added, MOST_NS, reached ? "reached" : "short");
	if (!report->options->json)
		fflush(stdout);
}

static void
run_case(const struct bench_options *options, struct bench_report *report,
	const struct em_case *what)
{
	static struct ours ours;
	static struct peer peer;
	struct bench_side sides[2] = {
		{.name = "ours", .slice = ours_slice, .arg = &ours},
		{.name = "peer", .slice = peer_slice, .arg = &peer},
	};
	struct bench_figure figures[2];
	double events_per_call = 0;
	uint64_t total = 0;
	bool opened = ours_open(&ours, what) & peer_open(&peer, what), good;
	int rc = opened ? bench_compare(options, sides, 2, 0, figures, &total) : -rte_errno;

	good = ours_close(&ours, total, &events_per_call) & peer_close(&peer, total);
	if (rc < 0)
		bench_report_failure(report, what->name, "%s", rte_strerror(-rc));
	else if (!good)
		bench_report_failure(report, what->name, "events were lost, or refused");
	else
		report_case(report, what, figures, events_per_call);
}

static int
run_em(const struct bench *bench, const struct bench_options *options)
{
	struct bench_report report;

	if (options->list) {
		BENCH_LIST(cases);
		return 0;
	}
	if (!BENCH_ANY_WANTED(options, cases))
		return bench_no_case(bench, options);
	if (bench_eal_start(options, MEGABYTES, 0) < 0)
		return 1;
	weir_base_log_set_level(WEIR_BASE_LOG_WARNING);
	bench_report_begin(&report, bench, options, "event", "event", "lib/sched");
	bench_report_array(&report, "cases");
	bench_report_machine(&report);
	bench_say(&report,
		"%d events go round through so many atomic queues, dequeued %d at a time; the "
		"peer is a loop over lib/sched.\n\n%-20s |%27s |%19s |%8s %10s\n%-20s "
		"|%8s%10s%9s |%10s%9s |%8s %10s\n",
		POPULATION, BURST, "", "lib/em", "lib/sched", "em adds", "to reach", "case",
		"ev/call", "cycles/ev", "ns/ev", "cycles/ev", "ns/ev", "ns/ev", "at most");
	for (size_t i = 0; i < NB_CASES; i++)
		if (bench_wanted(options, cases[i].name))
			run_case(options, &report, &cases[i]);
	return bench_report_end(&report);
}

const struct bench bench_em = {
	.name = "em",
	.summary = "The event machine's dispatch beside a loop over the scheduler",
	.help = "Events go round through 1, 8 or 64 atomic queues on one core, received and "
		"forwarded singly or in batches;\n"
		"the peer is a loop that dequeues and enqueues them, from a scheduler of the same "
		"configuration. What the event\n"
		"machine adds to each event is the difference. All events are counted, on both "
		"sides.\n",
	.seconds = SECONDS,
	.no_burst = "as many are dequeued at a time as its text says, on both sides",
	.no_routes = "it forwards nothing by routes; forward does",
	.no_ours = "its peer runs in turns with it, always",
	.run = run_em,
};
