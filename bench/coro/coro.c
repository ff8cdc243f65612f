/* SPDX-License-Identifier: BSD-3-Clause */

/* `weir bench coro`: lib/coro beside Boost.Context's fcontext and the C library's ucontext. */

#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <weir_base.h>
#include <weir_coro.h>

#include "coro_bench.h"

#define PARAM_BYTES    64 /* of input, and of output: zeroed at each creation */
#define NB_COROUTINES  256
#define CREATE_MOST_NS 50

enum work {
	WORK_ROUNDS,  /* resume, yield */
	WORK_CREATES, /* create, destroy */
	WORK_RUNS,    /* create, run to its end, destroy */
};

struct coro_case {
	const char *name;
	enum work work;
	bool fp_control;
	double target[2];     /* ratio to reach beside fcontext, ucontext; 0: any */
	unsigned int most_ns; /* that ours may take; 0: any */
};

static const struct coro_case cases[] = {
	{"switch", WORK_ROUNDS, false, {2.0, 1.0}, 0},
	{"switch-fp", WORK_ROUNDS, true, {1.0, 1.0}, 0},
	{"create-destroy", WORK_CREATES, false, {0, 0}, CREATE_MOST_NS},
	{"create-run-destroy", WORK_RUNS, false, {0, 0}, 0},
};

#define NB_CASES (sizeof(cases) / sizeof(cases[0]))

static const struct {
	const char *name;
	void (*run)(const struct bench_options *options, struct bench_report *report);
} others[] = {{"maybe-yield", coro_maybe_run}, {"pi", coro_pi_run}};

#define NB_OTHERS (sizeof(others) / sizeof(others[0]))

/* Our side of a case. */
struct ours {
	unsigned int class_id;
	struct weir_coro *coro; /* the one that yields for ever */
};

static unsigned int fp_class;
static struct coro_counter yields;
static uint64_t nb_ended; /* counted on the coroutines' stacks */

static void
yield_for_ever(void)
{
	uint64_t nb = 0;

	coro_count_by(&yields, &nb);
	for (;; weir_coro_yield())
		nb++;
}

static void
end_at_once(void)
{
	nb_ended++;
}

static void
slice_rounds(void *arg, uint64_t nb)
{
	struct weir_coro *coro = ((struct ours *)arg)->coro;

	for (uint64_t i = 0; i < nb; i++)
		weir_coro_resume(coro);
}

static void
slice_creates(void *arg, uint64_t nb)
{
	const struct ours *ours = arg;

	for (uint64_t i = 0; i < nb; i++)
		weir_coro_destroy(weir_coro_create_in(ours->class_id, end_at_once));
}

static void
slice_runs(void *arg, uint64_t nb)
{
	const struct ours *ours = arg;

	for (uint64_t i = 0; i < nb; i++) {
		struct weir_coro *coro = weir_coro_create_in(ours->class_id, end_at_once);

		weir_coro_resume(coro);
		if (weir_coro_has_exited(coro))
			weir_coro_destroy(coro);
	}
}

/* What both sides have done of a kind of work, by what they counted where it was done. */
struct done {
	uint64_t ours, peer;
};

static struct done
count_done(const struct coro_case *cc, const struct ours *ours, const struct coro_peer *peer)
{
	struct weir_coro_class_stats stats = {0};

	switch (cc->work) {
	case WORK_ROUNDS:
		return (struct done){
			RTE_MIN(coro_count(&yields), weir_coro_resume_count(ours->coro)),
			coro_count(&coro_peer_yields)};
	case WORK_CREATES:
		weir_coro_class_look(ours->class_id, &stats);
		return (struct done){RTE_MIN(stats.created, stats.destroyed), peer->nb_created};
	default:
		weir_coro_class_look(ours->class_id, &stats);
		return (struct done){RTE_MIN(nb_ended, stats.destroyed),
			RTE_MIN(coro_peer_ended, peer->nb_created)};
	}
}

static bool
check_done(struct bench_report *report, const struct coro_case *cc, struct done before,
	struct done after, uint64_t total)
{
	if (after.ours - before.ours == total && after.peer - before.peer == total)
		return true;
	bench_report_failure(report, cc->name,
		"ours did %" PRIu64 " of %" PRIu64 " pieces of work, %s %" PRIu64,
		after.ours - before.ours, total, report->peer, after.peer - before.peer);
	return false;
}

static bool fp_kept;

static void
round_upward(void)
{
	fesetround(FE_UPWARD);
	weir_coro_yield();
	fp_kept = fegetround() == FE_UPWARD;
}

/* Does the class that is said to keep FP control words do so, to both sides? */
static bool
check_fp(struct bench_report *report, const struct coro_case *cc)
{
	struct weir_coro *coro = weir_coro_create_in(fp_class, round_upward);
	bool nearest;

	fp_kept = false;
	weir_coro_resume(coro);
	nearest = fegetround() == FE_TONEAREST;
	weir_coro_resume(coro);
	nearest &= fegetround() == FE_TONEAREST;
	weir_coro_destroy(coro);
	fesetround(FE_TONEAREST);
	if (!fp_kept || !nearest)
		bench_report_failure(
			report, cc->name, "rounding modes of coroutine and resumer got mixed");
	return fp_kept && nearest;
}

static bool
measure(const struct bench_options *options, struct bench_report *report,
	const struct coro_case *cc, struct ours *ours, struct coro_peer *peer,
	struct bench_figure *figures)
{
	struct bench_side sides[2] = {{.name = "ours", .arg = ours}, {.name = "peer", .arg = peer}};
	struct done before, after;
	uint64_t total;

	switch (cc->work) {
	case WORK_ROUNDS:
		sides[0].slice = slice_rounds;
		sides[1].slice = peer->slice_rounds;
		sides[1].prepare = peer->prepare;
		break;
	case WORK_CREATES:
		sides[0].slice = slice_creates;
		sides[1].slice = peer->slice_creates;
		break;
	case WORK_RUNS:
		sides[0].slice = slice_runs;
		sides[1].slice = peer->slice_runs;
		break;
	}
	yields.nb = coro_peer_yields.nb = NULL; /* new coroutines count */
	before = count_done(cc, ours, peer);
	if (bench_compare(options, sides, 2, 0, figures, &total) < 0) {
		bench_report_failure(report, cc->name, "not enough memory");
		return false;
	}
	after = count_done(cc, ours, peer);
	return check_done(report, cc, before, after, total);
}

static void
run_case(const struct bench_options *options, struct bench_report *report,
	const struct coro_case *cc, struct coro_peer *peer, unsigned int peer_index)
{
	struct ours ours = {.class_id = cc->fp_control ? fp_class : 0};
	struct bench_figure figures[2];
	struct bench_row row = {
		.name = cc->name,
		.target = cc->target[peer_index],
		.most_per_object = cc->most_ns * (double)weir_base_cycles_hz() / 1e9,
		.objects = cc->work == WORK_ROUNDS ? 2 : 1,
	};
	int rc;

	if (cc->fp_control && !check_fp(report, cc))
		return;
	ours.coro = weir_coro_create_in(ours.class_id, yield_for_ever);
	rc = peer->init(peer);
	if (ours.coro == NULL || rc < 0)
		bench_report_failure(
			report, cc->name, "no stacks: %s", strerror(rc < 0 ? -rc : errno));
	else if (measure(options, report, cc, &ours, peer, figures)) {
		row.ours = figures[0];
		row.theirs = figures[1];
		bench_report_row(report, &row);
	}
	if (ours.coro != NULL)
		weir_coro_destroy(ours.coro);
	peer->fini(peer);
}

/* The cases beside one peer: a table of switches, one of creations. */
static void
run_peer(const struct bench_options *options, struct bench_report *report, struct coro_peer *peer,
	unsigned int peer_index)
{
	const char *array = peer_index == 0 ? "cases" : peer->name;
	int table = -1;

	report->peer = peer->name;
	for (size_t i = 0; i < NB_CASES; i++) {
		bool switches = cases[i].work == WORK_ROUNDS;

		if (!bench_wanted(options, cases[i].name))
			continue;
		if (table != switches) {
			report->work = switches ? "round" : "coro";
			report->object = switches ? "switch" : "coro";
			bench_report_table(report, array,
				switches ? "Switches: a round is a resumption and a yield"
					 : "Creation and destruction, from and to a pool");
		}
		table = switches;
		run_case(options, report, &cases[i], peer, peer_index);
	}
}

static void
run_peers(const struct bench_options *options, struct bench_report *report)
{
	struct coro_peer *fcontext = coro_peer_fcontext();
	bool any = false;

	for (size_t i = 0; i < NB_CASES; i++)
		any |= bench_wanted(options, cases[i].name);
	if (!any)
		return;
	if (fcontext != NULL) {
		run_peer(options, report, fcontext, 0);
	} else {
		bench_say(report,
			"\nLeft out: what is beside Boost.Context's fcontext, whose package "
			"libboost-context-dev was not there when this was built.\n");
		json_object_set_new(report->root, "left_out",
			json_pack("[{s:s, s:s}]", "peer", "fcontext", "package",
				"libboost-context-dev"));
	}
	run_peer(options, report, coro_peer_ucontext(), 1);
}

double
coro_clock_read(void)
{
	enum { NB_LOOPS = 51, NB_READS = 1000 };
	double samples[NB_LOOPS];

	for (unsigned int i = 0; i < NB_LOOPS; i++) {
		uint64_t last = 0, begin = weir_base_cycles();

		for (unsigned int n = 0; n < NB_READS; n++)
			last = weir_base_cycles();
		samples[i] = (double)(last - begin) / NB_READS;
	}
	return bench_figure_of(samples, NB_LOOPS).median;
}

static int
start_coroutines(void)
{
	const uint64_t slice = weir_base_ns_to_cycles(CORO_SLICE_NS);
	const struct weir_coro_class_param fp = {
		.stack_size = CORO_STACK_BYTES,
		.max_in_param_size = PARAM_BYTES,
		.max_out_param_size = PARAM_BYTES,
		.max_coroutines = NB_COROUTINES,
		.time_slice = slice,
		.cache_size = CORO_POOL,
		.socket_id = -1,
		.fp_control = true,
	};
	int rc;

	weir_base_log_set_level(WEIR_BASE_LOG_WARNING);
	rc = weir_coro_init(
		CORO_STACK_BYTES, PARAM_BYTES, PARAM_BYTES, NB_COROUTINES, slice, CORO_POOL, -1);
	if (rc == 0) {
		rc = weir_coro_class_add(&fp);
		if (rc < 0)
			weir_coro_cleanup();
	}
	if (rc < 0) {
		fprintf(stderr, "weir bench coro: cannot make ready for coroutines: %s\n",
			strerror(-rc));
		return rc;
	}
	fp_class = (unsigned int)rc;
	weir_coro_always_yield(false); /* whatever the environment says: slices are measured */
	return 0;
}

/* Nothing that was asked of the library in all of this may have been refused. */
static void
check_misuse(struct bench_report *report)
{
	for (int what = 0; what < WEIR_CORO_MISUSE_COUNT; what++) {
		uint64_t nb = weir_coro_misuse((enum weir_coro_misuse)what);

		if (nb > 0)
			bench_report_failure(report, "misuse",
				"%" PRIu64 " calls were refused, kind %d", nb, what);
	}
}

static cpu_set_t allowed; /* before this thread was pinned to one of them */

int
coro_other_cpu(void)
{
	int own = sched_getcpu();

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (cpu != own && CPU_ISSET(cpu, &allowed))
			return cpu;
	return -1;
}

static int
run_coro(const struct bench *bench, const struct bench_options *options)
{
	struct bench_report report;

	if (options->list) {
		BENCH_LIST(cases);
		BENCH_LIST(others);
		return 0;
	}
	if (!BENCH_ANY_WANTED(options, cases) && !BENCH_ANY_WANTED(options, others))
		return bench_no_case(bench, options);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	if (bench_eal_start(options, 64, 0) < 0 || start_coroutines() < 0)
		return 1;
	bench_report_begin(&report, bench, options, "round", "switch", "fcontext");
	bench_report_array(&report, "cases");
	bench_report_machine(&report);
	bench_say(&report,
		"Stacks of %zu KB from one pool, parameters of %d bytes in and out, time slice %d "
		"us.\n",
		CORO_STACK_BYTES >> 10, PARAM_BYTES, CORO_SLICE_NS / 1000);
	run_peers(options, &report);
	for (size_t i = 0; i < NB_OTHERS; i++)
		if (bench_wanted(options, others[i].name))
			others[i].run(options, &report);
	check_misuse(&report);
	weir_coro_cleanup();
	return bench_report_end(&report);
}

const struct bench bench_coro = {
	.name = "coro",
	.summary = "Coroutines beside Boost.Context and ucontext",
	.help = "Switches, creation from a pool, time slices, and pi computed in coroutines beside "
		"plain calls.\n"
		"Both sides count their work on the coroutines' stacks; a side that did not do all "
		"of it fails.\n"
		"pi takes 10,000 calls of 1 ms both ways, or --rounds, and at most 40 times "
		"--seconds.\n",
	.seconds = CORO_SECONDS,
	.no_burst = "coroutines have none",
	.no_routes = "it forwards nothing by routes; forward does",
	.no_ours = "its peer runs in turns with it, always",
	.run = run_coro,
};
