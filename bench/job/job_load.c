/* SPDX-License-Identifier: BSD-3-Clause */

/* What comes at times of its own, while there is long work. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "job_load.h"
#include "pi.h"

#define TURN_NS    30000000
#define SETTLE_NS  3000000
#define ROUNDS_MIN 9
#define NB_WORK    32   /* calculations at a time */
#define NB_PIECES  1000 /* of one: after each, a job looks at its slice */
#define CALL_NS    1000000

const char *const load_work_names[LOAD_WORKS] = {
	[LOAD_ALONE] = "without work",
	[LOAD_JOBS] = "with jobs",
	[LOAD_HANDLERS] = "with handlers",
};

/* A core counts what was done on it. */
static double
piece(const struct jobs_load *load, uint64_t i)
{
	double sum =
		bench_pi_piece(i * load->terms, load->terms, 1 / (double)(load->terms * NB_PIECES));

	return sum;
}

static void
finish(struct jobs_load *load, double sum)
{
	if (fabs(sum / (double)(load->terms * NB_PIECES) - M_PI) > 1e-6)
		__atomic_fetch_add(&load->nb_failed, 1, __ATOMIC_RELAXED);
}

static void
work_job(void *in, void *out)
{
	struct jobs_load *load = *(struct jobs_load **)in;
	double sum = 0;

	(void)out;
	for (uint64_t i = 0; i < NB_PIECES; i++) {
		sum += piece(load, i);
		jobs_count(&load->stand->cores[weir_em_core_id(weir_job_core())].nb_pieces, 1);
		if (weir_coro_maybe_yield())
			return;
	}
	finish(load, sum);
}

static bool
spawn(struct jobs_load *load)
{
	const struct weir_job_options options = {.name = "work", .done_queue = load->ended};

	if (weir_job_spawn(load->stand->service, work_job, &load, sizeof(load), &options) !=
		WEIR_JOB_NONE)
		return true;
	__atomic_fetch_sub(&load->nb_inside, 1, __ATOMIC_RELEASE);
	return false;
}

static void
receive_work(struct jobs_load *load, struct jobs_core *core, struct rte_event *event)
{
	double sum = 0;

	for (uint64_t i = 0; i < NB_PIECES; i++) {
		sum += piece(load, i);
		jobs_count(&core->nb_pieces, 1);
	}
	finish(load, sum);
	if (__atomic_load_n(&load->over, __ATOMIC_RELAXED))
		__atomic_fetch_sub(&load->nb_inside, 1, __ATOMIC_RELEASE);
	else
		weir_em_forward(core->em, load->work, event);
}

/* Work that handlers do; or jobs that have ended: the next one. */
static void
receive(struct weir_em_core *em_core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct jobs_load *load = context;
	struct jobs_core *core = &load->stand->cores[weir_em_core_id(em_core)];

	for (uint16_t i = 0; i < nb; i++) {
		if (queue == load->work)
			receive_work(load, core, &events[i]);
		else if (__atomic_load_n(&load->over, __ATOMIC_RELAXED))
			__atomic_fetch_sub(&load->nb_inside, 1, __ATOMIC_RELEASE);
		else if (!spawn(load) && rte_errno != ESHUTDOWN)
			__atomic_fetch_add(&load->nb_failed, 1, __ATOMIC_RELAXED);
	}
}

static uint64_t
time_call(const struct jobs_load *load)
{
	uint64_t best = UINT64_MAX, begun, took;

	for (unsigned int try = 0; try < 5; try++) {
		begun = weir_base_cycles();
		for (uint64_t i = 0; i < NB_PIECES; i++)
			piece(load, i);
		took = weir_base_cycles() - begun;
		best = RTE_MIN(best, took);
	}
	return best;
}

int
jobs_load_init(struct jobs_load *load)
{
	const uint8_t lowest = WEIR_EM_PRIORITIES - 1;
	const struct weir_em_object_config object = {
		.name = "work", .context = load, .receive = receive};
	struct weir_em_queue_config queue = {
		.name = "work", .type = WEIR_EM_QUEUE_PARALLEL, .priority = lowest};
	struct weir_em *em = load->stand->em;
	int rc;

	load->terms = 100;
	load->terms = RTE_MAX(
		load->terms * weir_base_ns_to_cycles(CALL_NS) / time_call(load), UINT64_C(1));
	load->worker = weir_em_object_create(em, &object);
	load->work = weir_em_queue_create(em, &queue);
	queue.name = "ended";
	load->ended = weir_em_queue_create(em, &queue);
	load->producer = weir_em_producer_attach(em);
	if (load->producer == NULL)
		return -rte_errno;
	rc = weir_em_object_add_queue(em, load->worker, load->work);
	if (rc == 0)
		rc = weir_em_object_add_queue(em, load->worker, load->ended);
	if (rc == 0)
		rc = weir_em_object_start(em, load->producer, load->worker, NULL);
	return rc;
}

void
jobs_load_fini(struct jobs_load *load)
{
	if (load->worker != WEIR_EM_NONE)
		weir_em_object_stop(load->stand->em, load->producer, load->worker, NULL);
	if (load->producer != NULL)
		weir_em_core_detach(load->producer);
	load->producer = NULL;
}

void
jobs_load_done(struct jobs_core *core, uint64_t due)
{
	uint64_t now = weir_base_cycles();

	weir_base_hist_add(&core->waits, now > due ? now - due : 0);
	jobs_count(&core->nb_done, 1);
}

static bool
begin_work(struct jobs_load *load, enum load_work work)
{
	load->over = false;
	load->nb_inside = work == LOAD_ALONE ? 0 : NB_WORK;
	if (work == LOAD_JOBS && !load->stand->started) {
		if (weir_job_service_start(load->stand->service, NULL) < 0)
			return false;
		load->stand->started = true;
	}
	for (unsigned int i = 0; work != LOAD_ALONE && i < NB_WORK; i++) {
		struct rte_event event = weir_em_event_u64(0);

		if (work == LOAD_JOBS ? !spawn(load)
				      : weir_em_send(load->producer, load->work, &event, 1) != 1)
			return false;
	}
	return true;
}

static bool
end_work(struct jobs_load *load, enum load_work work)
{
	const uint64_t patience = weir_base_time_ns() + JOBS_PATIENCE_NS;

	__atomic_store_n(&load->over, true, __ATOMIC_RELAXED);
	if (work == LOAD_JOBS && !jobs_stop(load->stand))
		return false;
	while (__atomic_load_n(&load->nb_inside, __ATOMIC_ACQUIRE) > 0)
		if (weir_base_time_ns() > patience)
			return false;
	return true;
}

static uint64_t
sum(const struct jobs_load *load, size_t offset)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < load->stand->nb_cores; i++)
		all += jobs_read(
			(const uint64_t *)(const void *)((const char *)&load->stand->cores[i] +
							 offset));
	return all;
}

#define SUM(load, member) sum(load, offsetof(struct jobs_core, member))

/* Poisson: times between two of them. */
static double
next_gap(const struct jobs_load *load, uint64_t *random)
{
	double u = (double)(bench_random(random) >> 11) / (double)(UINT64_C(1) << 53);

	return -log(1 - u) * (double)weir_base_cycles_hz() / load->per_s;
}

/* They are sent at their times, and all are done with when this returns. */
static bool
send_all(struct jobs_load *load, uint64_t *random)
{
	const uint64_t begun = weir_base_cycles(), length = weir_base_ns_to_cycles(TURN_NS);
	const uint64_t patience = weir_base_time_ns() + JOBS_PATIENCE_NS;
	const uint64_t before = SUM(load, nb_done);
	double due = 0;

	load->nb_sent = load->nb_refused = 0;
	for (due = next_gap(load, random); due < (double)length; due += next_gap(load, random)) {
		while (weir_base_cycles() - begun < (uint64_t)due)
			;
		if (load->send(load, begun + (uint64_t)due))
			load->nb_sent++;
		else
			load->nb_refused++;
	}
	while (SUM(load, nb_done) - before < load->nb_sent)
		if (weir_base_time_ns() > patience)
			return false;
	return true;
}

struct sample {
	double p50, p99, p999, per_s, refused, work;
};

static void
percentiles(const struct jobs_load *load, struct sample *sample)
{
	static struct weir_base_hist all;

	memset(&all, 0, sizeof(all));
	for (unsigned int i = 0; i < load->stand->nb_cores; i++)
		weir_base_hist_merge(&all, &load->stand->cores[i].waits);
	sample->p50 = (double)weir_base_hist_percentile(&all, 50);
	sample->p99 = (double)weir_base_hist_percentile(&all, 99);
	sample->p999 = (double)weir_base_hist_percentile(&all, 99.9);
}

static bool
take_turn(struct jobs_load *load, enum load_work work, uint64_t *random, struct sample *sample)
{
	uint64_t pieces, begun, took;
	double per_piece = (double)weir_base_ns_to_cycles(CALL_NS) / NB_PIECES;
	bool ok = begin_work(load, work);

	usleep(SETTLE_NS / 1000);
	for (unsigned int i = 0; i < load->stand->nb_cores; i++) /* nothing is under way */
		memset(&load->stand->cores[i].waits, 0, sizeof(struct weir_base_hist));
	pieces = SUM(load, nb_pieces);
	begun = weir_base_cycles();
	ok = ok && send_all(load, random);
	took = weir_base_cycles() - begun;
	pieces = SUM(load, nb_pieces) - pieces;
	sample->per_s = (double)load->nb_sent * (double)weir_base_cycles_hz() / (double)took;
	sample->refused = (double)load->nb_refused / (double)(load->nb_sent + load->nb_refused);
	sample->work = (double)pieces * per_piece / (double)took / load->stand->nb_cores;
	ok = end_work(load, work) && ok;
	percentiles(load, sample);
	return ok && load->nb_failed == 0;
}

static double
median(const struct sample *samples, unsigned int nb, size_t offset)
{
	static double values[LOAD_ROUNDS_MAX];

	for (unsigned int i = 0; i < nb; i++)
		memcpy(&values[i], (const char *)&samples[i] + offset, sizeof(values[i]));
	return bench_figure_of(values, nb).median;
}

#define MEDIAN(samples, nb, member) median(samples, nb, offsetof(struct sample, member))

bool
jobs_load_run(struct jobs_load *load, const struct bench_options *options,
	struct bench_report *report, const char *name, struct load_figures *figures)
{
	static struct sample samples[LOAD_WORKS][LOAD_ROUNDS_MAX];
	const unsigned int most =
		options->rounds != 0 ? RTE_MIN(options->rounds, LOAD_ROUNDS_MAX) : LOAD_ROUNDS_MAX;
	uint64_t begun_ns = weir_base_time_ns(), random = 42;
	unsigned int nb;

	for (nb = 0; nb < most; nb++) {
		if (options->rounds == 0 && nb >= ROUNDS_MIN &&
			(double)(weir_base_time_ns() - begun_ns) > options->seconds * 1e9)
			break;
		for (unsigned int i = 0; i < LOAD_WORKS; i++) {
			unsigned int work = nb % 2 == 0 ? i : LOAD_WORKS - 1 - i;

			if (take_turn(load, (enum load_work)work, &random, &samples[work][nb]))
				continue;
			bench_report_failure(report, name,
				"%s: of %" PRIu64 " that were sent not all were done with, "
				"or the work did not come to its end, or to something else",
				load_work_names[work], load->nb_sent);
			return false;
		}
	}
	for (unsigned int work = 0; work < LOAD_WORKS; work++)
		figures[work] = (struct load_figures){
			.p50 = MEDIAN(samples[work], nb, p50),
			.p99 = MEDIAN(samples[work], nb, p99),
			.p999 = MEDIAN(samples[work], nb, p999),
			.per_s = MEDIAN(samples[work], nb, per_s),
			.refused = MEDIAN(samples[work], nb, refused),
			.work = MEDIAN(samples[work], nb, work),
			.nb_rounds = nb,
		};
	return true;
}

void
jobs_load_say(struct bench_report *report, const struct load_figures *figures)
{
	bench_say(report, "  %-16s%10s%10s%10s%12s%12s\n", "latency, us", "p50", "p99", "p99.9",
		"refused %", "work %");
	for (unsigned int work = 0; work < LOAD_WORKS; work++) {
		const struct load_figures *f = &figures[work];

		bench_say(report, "  %-16s%10.2f%10.2f%10.2f%12.3f%12.1f\n", load_work_names[work],
			jobs_ns(f->p50) / 1e3, jobs_ns(f->p99) / 1e3, jobs_ns(f->p999) / 1e3,
			f->refused * 100, f->work * 100);
	}
}

json_t *
jobs_load_json(const struct load_figures *figures)
{
	json_t *list = json_array();

	for (unsigned int work = 0; work < LOAD_WORKS; work++) {
		const struct load_figures *f = &figures[work];

		json_array_append_new(
			list, json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:i}", "name",
				      load_work_names[work], "p50_ns", jobs_ns(f->p50), "p99_ns",
				      jobs_ns(f->p99), "p999_ns", jobs_ns(f->p999), "per_s",
				      f->per_s, "refused_share", f->refused, "work_share", f->work,
				      "rounds", (int)f->nb_rounds));
	}
	return list;
}
