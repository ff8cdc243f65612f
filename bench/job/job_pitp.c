/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * pi on all cores, as published for coroutines on eventdev: with plain calls and as many of them for each core; and as jobs, which the
 * scheduler moves between cores. The two take turns of some milliseconds. Jobs live on while the others have the cores, so that each turn sees them
 * as they are in the long run: neither the first slices of all of them at once, nor a tail in which they run out.
 *
 * Both are asked how many pieces of work they did in a time. What the same work takes by plain calls is what there must be; all that the cores
 * spend beyond it is overhead:
 *
 *     time of all cores = idle       rounds in which there was nothing
 *                       + application  what this program does about a job: takes the end of one, begins the next
 *                       + slices     from resuming a job until it is back, as the library's own histogram has it
 *                       + scheduler  the rest: dequeue, dispatch, what the library does about a slice, enqueue
 *
 * Of slices, what the work does not take is the coroutine's: switches, considerations to yield, caches.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "job_pitp.h"
#include "pi.h"

#define NB_PIECES        UINT64_C(300) /* of a calculation, as published; more where slices are short */
#define CALL_NS          1000000
#define PIECES_PER_SLICE 8
#define TURN_NS          UINT64_C(5000000) /* or so many slices */
#define TURN_SLICES      50
#define SETTLE_NS        1000000
#define ROUNDS_MIN       9
#define JOBS_MAX         1024
#define SWEEP_JOBS       32
#define SWEEP_SLICE_US   25.0
#define MOST_PERCENT     1.0
#define PASS             16 /* pieces between looks whether the turn is over */

/* A place for a job: one at a time. */
struct place {
	uint64_t nb_pieces; /* its jobs', one at a time; any thread reads */
	uint64_t begun;     /* cycles: its latest job's first instruction */
	uint64_t nb_wrong;
} JOBS_LINE;

struct pitp {
	const struct pitp_point *point;
	struct jobs_stand stand;
	weir_em_object object;
	weir_em_queue ended; /* where jobs tell that they are over */
	uint64_t terms, nb_pieces;
	double width, pi; /* what every calculation must find */
	bool over;        /* no more jobs. Any thread */
	uint64_t nb_ended, nb_refused;
	struct place places[JOBS_MAX];
};

/* What all cores have done up to a moment. */
struct pitp_count {
	uint64_t at, pieces, idle, application, nb_slices, slices, ended;
};

struct input {
	struct pitp *pitp;
	struct place *place;
};

static void
pi_job(void *in, void *out)
{
	const struct input *input = in;
	const struct pitp *pitp = input->pitp;
	struct place *place = input->place;
	double sum = 0;

	(void)out;
	place->begun = weir_base_cycles();
	for (uint64_t i = 0; i < pitp->nb_pieces; i++) {
		sum += bench_pi_piece(i * pitp->terms, pitp->terms, pitp->width);
		jobs_count(&place->nb_pieces, 1);
		if (weir_coro_maybe_yield())
			return;
	}
	if (sum * pitp->width != pitp->pi)
		jobs_count(&place->nb_wrong, 1);
}

static bool
spawn(struct pitp *pitp, struct place *place)
{
	const struct input input = {pitp, place};
	const struct weir_job_options options = {
		.name = "pi",
		.slice_ns = (uint64_t)(pitp->point->slice_us * 1e3),
		.done_queue = pitp->ended,
		.done_arg = place,
	};

	return weir_job_spawn(pitp->stand.service, pi_job, &input, sizeof(input), &options) !=
	       WEIR_JOB_NONE;
}

/* A job is over: the next one, whose first slice is run here. */
static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct pitp *pitp = context;
	struct jobs_core *own = &pitp->stand.cores[weir_em_core_id(core)];

	for (uint16_t i = 0; i < nb; i++) {
		struct place *place = (struct place *)(uintptr_t)events[i].u64;
		uint64_t begun = weir_base_cycles();

		__atomic_fetch_add(&pitp->nb_ended, 1, __ATOMIC_RELAXED);
		if (__atomic_load_n(&pitp->over, __ATOMIC_RELAXED))
			continue;
		place->begun = begun;
		if (!spawn(pitp, place) && rte_errno != ESHUTDOWN)
			__atomic_fetch_add(&pitp->nb_refused, 1, __ATOMIC_RELAXED);
		jobs_count(&own->application, place->begun - begun);
	}
}

/* A calculation by plain calls, with the same pieces. */
static double
calculate(const struct pitp *pitp, uint64_t *nb_pieces)
{
	double sum = 0;

	for (uint64_t i = 0; i < pitp->nb_pieces; i++) {
		sum += bench_pi_piece(i * pitp->terms, pitp->terms, pitp->width);
		jobs_count(nb_pieces, 1);
	}
	return sum * pitp->width;
}

static void
step_plain(struct jobs_core *core)
{
	const struct pitp *pitp = core->stand->arg;

	if (calculate(pitp, &core->nb_pieces) != pitp->pi)
		jobs_count(&core->nb_wrong, 1);
}

static void
set_terms(struct pitp *pitp, uint64_t terms)
{
	pitp->terms = RTE_MAX(terms, UINT64_C(1));
	pitp->width = 1 / (double)(pitp->terms * pitp->nb_pieces);
}

/* How many terms take a millisecond? The quickest of some calls tells. */
static void
calibrate(struct pitp *pitp)
{
	const double piece_us = pitp->point->slice_us / PIECES_PER_SLICE;
	uint64_t best, took, begun, unused = 0;

	pitp->nb_pieces = RTE_MAX(NB_PIECES, (uint64_t)(CALL_NS / 1e3 / piece_us));
	set_terms(pitp, 150000 / pitp->nb_pieces);
	for (unsigned int round = 0; round < 3; round++) {
		best = UINT64_MAX;
		for (unsigned int i = 0; i < 5; i++) {
			begun = weir_base_cycles();
			pitp->pi = calculate(pitp, &unused);
			took = weir_base_cycles() - begun;
			best = RTE_MIN(best, took);
		}
		set_terms(pitp, pitp->terms * weir_base_ns_to_cycles(CALL_NS) / best);
	}
	pitp->pi = calculate(pitp, &unused);
}

static struct pitp_count
count(const struct pitp *pitp, bool jobs)
{
	static struct weir_base_hist hist;
	struct pitp_count count = {0};
	uint64_t begun;

	if (jobs) {
		weir_job_hist(pitp->stand.service, WEIR_JOB_HIST_SLICE, &hist);
		count.nb_slices = hist.count;
		count.slices = hist.sum;
	}
	begun = weir_base_cycles();
	for (unsigned int i = 0; i < pitp->stand.nb_cores; i++) {
		const struct jobs_core *core = &pitp->stand.cores[i];

		count.idle += jobs_read(&core->idle);
		count.application += jobs_read(&core->application);
		count.pieces += jobs ? 0 : jobs_read(&core->nb_pieces);
	}
	for (unsigned int i = 0; jobs && i < pitp->point->nb_jobs; i++)
		count.pieces += jobs_read(&pitp->places[i].nb_pieces);
	count.ended = jobs_read(&pitp->nb_ended);
	count.at = begun + (weir_base_cycles() - begun) / 2;
	return count;
}

static void
pass(uint64_t ns)
{
	const struct timespec time = {.tv_nsec = (long)ns};

	nanosleep(&time, NULL);
}

/* What all cores did in a turn. */
static struct pitp_count
take_turn(struct pitp *pitp, bool jobs)
{
	const uint64_t slices_ns = (uint64_t)(pitp->point->slice_us * 1e3 * TURN_SLICES);
	struct pitp_count from, to;

	jobs_stand_do(&pitp->stand, jobs ? jobs_step_dispatch : step_plain);
	pass(SETTLE_NS);
	from = count(pitp, jobs);
	do
		pass(RTE_MAX(TURN_NS, slices_ns));
	while (to = count(pitp, jobs),
		to.pieces == from.pieces || (jobs && to.nb_slices == from.nb_slices));
	return (struct pitp_count){
		.at = to.at - from.at,
		.pieces = to.pieces - from.pieces,
		.idle = to.idle - from.idle,
		.application = to.application - from.application,
		.nb_slices = to.nb_slices - from.nb_slices,
		.slices = to.slices - from.slices,
		.ended = to.ended - from.ended,
	};
}

/* A round: what the work would have taken by plain calls, and where the rest went. */
static void
work_out(const struct pitp *pitp, const struct pitp_count *plain, const struct pitp_count *jobs,
	double *percent)
{
	const double nb_cores = pitp->stand.nb_cores;
	double per_piece = (double)plain->at * nb_cores / (double)plain->pieces;
	double work = per_piece * (double)jobs->pieces, all = (double)jobs->at * nb_cores;
	double slices = (double)jobs->slices;

	percent[PITP_TOTAL] = (all - work) / work * 100;
	percent[PITP_IDLE] = (double)jobs->idle / work * 100;
	percent[PITP_APP] = (double)jobs->application / work * 100;
	percent[PITP_CORO] = (slices - work) / work * 100;
	percent[PITP_SCHED] =
		(all - slices - (double)(jobs->idle + jobs->application)) / work * 100;
}

/* All rounds of a point, and their medians. */
static void
take_rounds(struct pitp *pitp, const struct bench_options *options, struct pitp_figures *figures)
{
	static double samples[PITP_PARTS][PITP_ROUNDS_MAX];
	const uint64_t begun_ns = weir_base_time_ns();
	const unsigned int most =
		options->rounds != 0 ? RTE_MIN(options->rounds, PITP_ROUNDS_MAX) : PITP_ROUNDS_MAX;
	struct pitp_count plain, jobs, all = {0};
	double percent[PITP_PARTS], plain_at = 0, plain_pieces = 0;
	unsigned int r;

	take_turn(pitp, true);
	for (r = 0; r < most; r++) {
		if (options->rounds == 0 && r >= ROUNDS_MIN &&
			(double)(weir_base_time_ns() - begun_ns) > options->seconds * 1e9)
			break;
		if (r % 2 == 0)
			plain = take_turn(pitp, false);
		jobs = take_turn(pitp, true);
		if (r % 2 != 0)
			plain = take_turn(pitp, false);
		work_out(pitp, &plain, &jobs, percent);
		for (int part = 0; part < PITP_PARTS; part++)
			samples[part][r] = percent[part];
		all.nb_slices += jobs.nb_slices;
		all.slices += jobs.slices;
		all.pieces += jobs.pieces;
		plain_at += (double)plain.at * pitp->stand.nb_cores;
		plain_pieces += (double)plain.pieces;
	}
	for (int part = 0; part < PITP_PARTS; part++) {
		struct bench_figure figure = bench_figure_of(samples[part], r);

		figures->percent[part] = figure.median;
		if (part == PITP_TOTAL) {
			figures->low = figure.low;
			figures->high = figure.high;
		}
	}
	figures->nb_rounds = r;
	figures->nb_slices = all.nb_slices;
	figures->nb_pi = all.pieces / pitp->nb_pieces;
	if (all.nb_slices > 0)
		figures->slice_us = jobs_ns((double)all.slices / (double)all.nb_slices) / 1e3;
	figures->pi_us = jobs_ns(plain_at / plain_pieces) * (double)pitp->nb_pieces / 1e3;
	figures->per_slice_ns = (figures->percent[PITP_TOTAL] - figures->percent[PITP_IDLE]) / 100 *
				figures->slice_us * 1e3;
}

/* Was all of it done, and rightly? */
static bool
check(struct pitp *pitp, struct bench_report *report)
{
	struct weir_job_stats stats;
	uint64_t nb_wrong = 0;

	for (unsigned int i = 0; i < JOBS_MAX; i++)
		nb_wrong += pitp->places[i].nb_wrong;
	for (unsigned int i = 0; i < pitp->stand.nb_cores; i++)
		nb_wrong += pitp->stand.cores[i].nb_wrong;
	weir_job_stats(pitp->stand.service, &stats);
	if (nb_wrong == 0 && fabs(pitp->pi - M_PI) < 1e-6 && pitp->nb_refused == 0 &&
		stats.nb_live == 0 && stats.nb_spawned == stats.nb_finished + stats.nb_cancelled)
		return true;
	bench_report_failure(report, "pitp",
		"%s: %" PRIu64 " calculations did not find %.12f, %" PRIu64
		" jobs were refused; of %" PRIu64 " spawned %" PRIu64 " finished, %" PRIu64
		" were cancelled",
		pitp->point->backend, nb_wrong, pitp->pi, pitp->nb_refused, stats.nb_spawned,
		stats.nb_finished, stats.nb_cancelled);
	return false;
}

/* What jobs told when they ended has been heard. */
static bool
wait_for_ends(const struct pitp *pitp)
{
	const uint64_t patience = weir_base_time_ns() + JOBS_PATIENCE_NS;
	struct weir_job_stats stats;

	weir_job_stats(pitp->stand.service, &stats);
	while (jobs_read(&pitp->nb_ended) < stats.nb_spawned && weir_base_time_ns() < patience)
		pass(100000);
	return jobs_read(&pitp->nb_ended) == stats.nb_spawned;
}

static bool
run_point(struct pitp *pitp, const struct pitp_point *point, const struct bench_options *options,
	struct bench_report *report, struct pitp_figures *figures)
{
	pitp->point = point;
	memset(pitp->places, 0, sizeof(pitp->places));
	pitp->over = false;
	memset(figures, 0, sizeof(*figures));
	calibrate(pitp);
	if (!pitp->stand.started && weir_job_service_start(pitp->stand.service, NULL) < 0)
		return false;
	pitp->stand.started = true;
	for (unsigned int i = 0; i < point->nb_jobs; i++)
		if (!spawn(pitp, &pitp->places[i]))
			pitp->nb_refused++;
	take_rounds(pitp, options, figures);
	__atomic_store_n(&pitp->over, true, __ATOMIC_RELAXED);
	return jobs_stop(&pitp->stand) && wait_for_ends(pitp) && check(pitp, report);
}

static int
make(struct pitp *pitp, const char *backend)
{
	/* All events wait in one place: nothing but jobs is there. */
	const struct jobs_stand_config config = {
		.backend = backend,
		.types = 1u << WEIR_EM_QUEUE_PARALLEL,
		.priorities = 1,
		.nb_events = 4096,
		.max_jobs = JOBS_MAX,
		.in_bytes = sizeof(struct input),
	};
	const struct weir_em_queue_config queue = {.name = "ended", .type = WEIR_EM_QUEUE_PARALLEL};
	const struct weir_em_object_config object = {
		.name = "ended", .context = pitp, .receive = receive};
	int rc = jobs_stand_create(&pitp->stand, &config);

	if (rc < 0)
		return rc;
	pitp->stand.arg = pitp;
	pitp->object = weir_em_object_create(pitp->stand.em, &object);
	pitp->ended = weir_em_queue_create(pitp->stand.em, &queue);
	rc = weir_em_object_add_queue(pitp->stand.em, pitp->object, pitp->ended);
	if (rc == 0)
		rc = weir_em_object_start(pitp->stand.em, NULL, pitp->object, NULL);
	return rc;
}

static bool
unmake(struct pitp *pitp)
{
	if (pitp->object != WEIR_EM_NONE)
		weir_em_object_stop(pitp->stand.em, NULL, pitp->object, NULL);
	pitp->object = WEIR_EM_NONE;
	return jobs_stand_destroy(&pitp->stand);
}

/* Both sweeps on one scheduler. */
static bool
run_backend(const char *backend, const struct bench_options *options, struct bench_report *report,
	struct pitp *pitp, struct pitp_figures *target)
{
	static const double slices[] = {1, 2, 5, 10, 25, 50, 100, 200};
	struct pitp_point point = {.sweep = PITP_SLICES, .backend = backend, .nb_jobs = SWEEP_JOBS};
	struct pitp_figures figures = {0};
	bool ok = true;

	pitp_say_head(report, &point);
	for (size_t i = 0; i < RTE_DIM(slices) && ok; i++) {
		point.slice_us = slices[i];
		point.target = slices[i] == SWEEP_SLICE_US ? MOST_PERCENT : 0;
		ok = run_point(pitp, &point, options, report, &figures);
		if (ok)
			pitp_report(report, &point, &figures);
		if (ok && point.target > 0)
			*target = figures;
	}
	point = (struct pitp_point){
		.sweep = PITP_JOBS, .backend = backend, .slice_us = SWEEP_SLICE_US};
	if (ok)
		pitp_say_head(report, &point);
	for (point.nb_jobs = 1; point.nb_jobs <= JOBS_MAX && ok; point.nb_jobs *= 2) {
		ok = run_point(pitp, &point, options, report, &figures);
		if (ok)
			pitp_report(report, &point, &figures);
	}
	return ok;
}

void
jobs_pitp_run(const struct bench_options *options, struct bench_report *report)
{
	static const char *const backends[] = {"builtin", "event_dsw"};
	const struct pitp_point point = {.sweep = PITP_SLICES,
		.slice_us = SWEEP_SLICE_US,
		.nb_jobs = SWEEP_JOBS,
		.target = MOST_PERCENT};
	struct pitp *pitp = aligned_alloc(64, sizeof(*pitp));
	struct pitp_figures targets[RTE_DIM(backends)] = {0};
	bool ok = pitp != NULL;
	int rc;

	bench_report_array(report, "pitp");
	if (pitp == NULL)
		bench_report_failure(report, "pitp", "not enough memory");
	for (size_t i = 0; i < RTE_DIM(backends) && ok && (i == 0 || !options->ours); i++) {
		memset(pitp, 0, sizeof(*pitp));
		rc = make(pitp, backends[i]);
		if (rc == 0)
			ok = run_backend(backends[i], options, report, pitp, &targets[i]);
		else if (rc != -ENOTSUP || i == 0)
			bench_report_failure(report, "pitp", "%s: %s", backends[i], strerror(-rc));
		ok = unmake(pitp) && ok && rc == 0;
	}
	if (ok && targets[0].nb_rounds > 0)
		pitp_report_pair(
			report, &point, &targets[0], targets[1].nb_rounds > 0 ? &targets[1] : NULL);
	free(pitp);
}
