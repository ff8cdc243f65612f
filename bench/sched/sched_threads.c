/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Workers on CPUs of their own, and slices of work for them. Where there are too few CPUs, workers have main's, too, in slices in which main only
 * waits, and the first ones have one each.
 */

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_lcore.h>
#include <rte_pause.h>

#include "sched_bench.h"

#define WARM_PART   4           /* of a slice, before it is measured */
#define PATIENCE_NS 10000000000 /* that what is inside has to come out */
#define NAP_US      50          /* of main, while it waits */
#define LONG_NAP_US 1000        /* where a worker has its CPU */

unsigned int sched_nb_workers = SCHED_WORKERS;

static struct {
	pthread_t threads[SCHED_THREADS];
	unsigned int nb, nb_spare;
	int cpus[CPU_SETSIZE]; /* of workers; where there are too few, main's is the last one */
	unsigned int nb_cpus;
	struct sched_side *side;
	bool main_waits;              /* in this slice, while workers work */
	void (*run)(unsigned int id); /* NULL: end */
	pthread_mutex_t lock;         /* of turn, where threads sleep until it is theirs */
	pthread_cond_t begun;
	unsigned int turn __attribute__((aligned(64)));
	unsigned int nb_done __attribute__((aligned(64)));
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .begun = PTHREAD_COND_INITIALIZER};

static void
relax(void)
{
	if (sched_crowded)
		sched_yield();
	else
		rte_pause();
}

static void
sleep_until_turn(unsigned int turn)
{
	pthread_mutex_lock(&pool.lock);
	while (pool.turn == turn)
		pthread_cond_wait(&pool.begun, &pool.lock);
	pthread_mutex_unlock(&pool.lock);
}

/* Until there is another turn than that. Where workers have a CPU each, who has nothing to do in a slice takes no time of theirs. */
static void
wait_for_turn(unsigned int turn)
{
	while (__atomic_load_n(&pool.turn, __ATOMIC_ACQUIRE) == turn)
		if (sched_crowded && __atomic_load_n(&pool.main_waits, __ATOMIC_RELAXED))
			sleep_until_turn(turn);
		else
			relax();
}

static void *
thread_main(void *arg)
{
	const unsigned int id = (unsigned int)(uintptr_t)arg;
	unsigned int turn = 0;

	rte_thread_register();
	for (;;) {
		wait_for_turn(turn++);
		if (pool.run == NULL)
			break;
		pool.run(id);
		__atomic_fetch_add(&pool.nb_done, 1, __ATOMIC_RELEASE);
	}
	rte_thread_unregister();
	return NULL;
}

/* Of the first @nb CPUs; main's, if there are no others. */
static cpu_set_t
cpu_of(unsigned int id, unsigned int nb)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(pool.cpus[nb > 0 ? id % nb : 0], &set);
	return set;
}

static int
start_thread(unsigned int id)
{
	const cpu_set_t set = cpu_of(id, pool.nb_cpus);
	pthread_attr_t attr;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	rc = pthread_create(&pool.threads[id], &attr, thread_main, (void *)(uintptr_t)id);
	pthread_attr_destroy(&attr);
	if (rc != 0)
		fprintf(stderr, "weir bench sched: no thread: %s\n", strerror(rc));
	else
		pool.nb++;
	return -rc;
}

int
sched_threads_start(const cpu_set_t *allowed)
{
	const int own = sched_getcpu();
	unsigned int nb = 0;
	int rc = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (cpu != own && CPU_ISSET(cpu, allowed))
			pool.cpus[nb++] = cpu;
	sched_crowded = nb < sched_nb_workers;
	pool.nb_spare = nb > sched_nb_workers ? nb - sched_nb_workers : 0;
	if (sched_crowded)
		pool.cpus[nb++] = own;
	pool.nb_cpus = nb;
	for (unsigned int i = 0; i < sched_nb_workers + (pool.nb_spare > 0) && rc == 0; i++)
		rc = start_thread(i);
	if (rc < 0)
		sched_threads_stop();
	return rc;
}

unsigned int
sched_threads_spare(void)
{
	return pool.nb_spare;
}

static bool
main_waits(enum sched_mode mode)
{
	return mode == SCHED_INSIDE || mode == SCHED_OWN;
}

unsigned int
sched_threads_cpus(enum sched_mode mode)
{
	const unsigned int nb = pool.nb_cpus - (sched_crowded && !main_waits(mode));

	return RTE_MIN(nb, sched_nb_workers);
}

void
sched_threads_begin(void (*run)(unsigned int id))
{
	pool.run = run;
	__atomic_store_n(&pool.nb_done, 0, __ATOMIC_RELAXED);
	pthread_mutex_lock(&pool.lock);
	__atomic_fetch_add(&pool.turn, 1, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&pool.begun);
	pthread_mutex_unlock(&pool.lock);
}

void
sched_threads_join(void)
{
	while (__atomic_load_n(&pool.nb_done, __ATOMIC_ACQUIRE) < pool.nb)
		relax();
}

static void
run_side(unsigned int id)
{
	const struct sched_side *side = pool.side;
	cpu_set_t set;

	if (sched_crowded) {
		set = cpu_of(id, sched_threads_cpus(side->shape.mode));
		pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	}
	sched_worker_run(&pool.side->workers[id]);
}

void
sched_threads_stop(void)
{
	sched_threads_begin(NULL);
	for (unsigned int i = 0; i < pool.nb; i++)
		pthread_join(pool.threads[i], NULL);
	pool.nb = 0;
}

struct counts {
	uint64_t in, out, hops, polls, empty, refused, disorder, at;
};

/* First what is out: what came in meanwhile is not missed then. */
static struct counts
count(const struct sched_side *side)
{
	struct counts counts = {.in = side->producer.nb_in, .at = weir_base_cycles()};

	for (unsigned int i = 0; i < SCHED_THREADS; i++) {
		counts.out += __atomic_load_n(&side->workers[i].nb_out, __ATOMIC_ACQUIRE);
		counts.hops += __atomic_load_n(&side->workers[i].nb_hops, __ATOMIC_RELAXED);
	}
	for (unsigned int i = 0; i < SCHED_THREADS; i++)
		counts.in += __atomic_load_n(&side->workers[i].nb_in, __ATOMIC_ACQUIRE);
	return counts;
}

/* A thread may be late, where others have its CPU. */
static void
wait_for_all(const struct sched_side *side)
{
	const uint64_t all = SCHED_POPULATION / side->shape.nb_workers;

	for (unsigned int i = 0; i < SCHED_THREADS; i++)
		while (side->workers[i].works &&
			__atomic_load_n(&side->workers[i].nb_in, __ATOMIC_RELAXED) < all)
			relax();
}

/* What workers may be asked only when they are done. */
static void
count_rest(const struct sched_side *side, struct counts *counts)
{
	for (unsigned int i = 0; i < SCHED_THREADS; i++) {
		counts->polls += side->workers[i].nb_polls;
		counts->empty += side->workers[i].nb_empty;
		counts->disorder += side->workers[i].nb_disorder;
	}
	counts->refused = side->producer.nb_refused;
}

static void
begin(struct sched_side *side)
{
	for (unsigned int i = 0; i < SCHED_THREADS; i++) {
		struct sched_worker *worker = &side->workers[i];

		worker->nb_polls = worker->nb_empty = worker->nb_disorder = worker->nb_refused = 0;
		worker->nb_in = worker->nb_out = worker->nb_hops = 0;
		if (side->shape.mode == SCHED_OPEN)
			memset(worker->waits, 0, sizeof(worker->waits));
	}
	side->producer.nb_in = side->producer.nb_refused = 0;
	if (side->shape.mode == SCHED_INSIDE || side->shape.mode == SCHED_OPEN)
		memset(side->flows, 0, sizeof(side->flows));
	side->base = weir_base_cycles();
	side->phase = SCHED_RUN;
}

/* Let time pass: with events from outside, or without. */
static uint64_t
pass(struct sched_side *side, uint64_t cycles)
{
	uint64_t end = weir_base_cycles() + cycles;

	if (!main_waits(side->shape.mode))
		return sched_producer_run(side, end);
	while (weir_base_cycles() < end) {
		sched_producer_flush(side);
		usleep(sched_crowded ? LONG_NAP_US : NAP_US);
	}
	return 0;
}

/* Everything out, workers back. */
static bool
drain(struct sched_side *side)
{
	const uint64_t patience = weir_base_ns_to_cycles(PATIENCE_NS);
	uint64_t end = weir_base_cycles() + patience;
	struct counts counts;

	__atomic_store_n(&side->phase, SCHED_DRAIN, __ATOMIC_RELAXED);
	do {
		sched_producer_flush(side);
		relax();
		counts = count(side);
	} while (counts.in != counts.out && counts.at < end);
	/* once more: what was seen out last is given up by the next dequeue, and nothing may come twice */
	usleep(50);
	__atomic_store_n(&side->phase, SCHED_STOP, __ATOMIC_RELAXED);
	sched_threads_join();
	counts = count(side);
	return counts.in == counts.out;
}

bool
sched_slice_waits(const struct sched_side *side, struct sched_slice *slice)
{
	static struct weir_base_hist all, one;
	bool seen = true;

	memset(&all, 0, sizeof(all));
	for (unsigned int c = 0; c <= SCHED_CLASSES; c++) {
		memset(&one, 0, sizeof(one));
		for (unsigned int i = 0; i < SCHED_THREADS && c < SCHED_CLASSES; i++)
			weir_base_hist_merge(&one, &side->workers[i].waits[c]);
		weir_base_hist_merge(&all, &one);
		if (c == SCHED_CLASSES)
			one = all;
		seen &= one.count > 0 || (c < SCHED_CLASSES && side->shape.class_share[c] == 0);
		slice->p50[c] = (double)weir_base_hist_percentile(&one, 50);
		slice->p99[c] = (double)weir_base_hist_percentile(&one, 99);
		slice->p999[c] = (double)weir_base_hist_percentile(&one, 99.9);
	}
	return seen;
}

/* Events that left, or, where none does, hops. */
static uint64_t
progress(const struct sched_side *side, const struct counts *from, const struct counts *to)
{
	return side->shape.mode == SCHED_INSIDE ? to->hops - from->hops : to->out - from->out;
}

/* @param[out] seen  something of each class went through */
static bool
run_once(struct sched_side *side, uint64_t ns, struct sched_slice *slice, bool *seen, char *why,
	size_t size)
{
	const uint64_t cycles = weir_base_ns_to_cycles(ns);
	const uint64_t patience = weir_base_ns_to_cycles(PATIENCE_NS);
	struct counts first, last, end;
	uint64_t behind;
	double nb, took;
	bool ok;

	begin(side);
	/* before anybody works: those that go round must not meet those that come in */
	if (side->shape.mode == SCHED_INSIDE)
		sched_producer_fill(side);
	pool.side = side;
	__atomic_store_n(&pool.main_waits, main_waits(side->shape.mode), __ATOMIC_RELAXED);
	sched_threads_begin(run_side);
	if (side->shape.mode == SCHED_OWN)
		wait_for_all(side);
	if (side->shape.mode != SCHED_OPEN)
		pass(side, cycles / WARM_PART);
	first = count(side);
	do { /* longer, while others have all the workers' CPUs */
		behind = pass(side, cycles);
		last = count(side);
	} while (progress(side, &first, &last) == 0 && last.at - first.at < patience);
	ok = drain(side);
	end = count(side);
	count_rest(side, &end);
	nb = (double)progress(side, &first, &last);
	took = (double)(last.at - first.at);
	*slice = (struct sched_slice){
		.cycles = took * side->nb_cpus / nb,
		.rate = nb * (double)weir_base_cycles_hz() / took,
		.empty = (double)end.empty / (double)end.polls,
		.refused = (double)end.refused / (double)end.in,
		.behind_ns = (double)weir_base_cycles_to_ns(behind),
	};
	*seen = side->shape.mode != SCHED_OPEN || sched_slice_waits(side, slice);
	if (!ok)
		snprintf(why, size, "%s: %" PRIu64 " events went in, %" PRIu64 " came out",
			side->name, end.in, end.out);
	else if (end.disorder > 0)
		snprintf(why, size, "%s: %" PRIu64 " events out of order in the flows looked at",
			side->name, end.disorder);
	else if (nb == 0)
		snprintf(why, size, "%s: nothing came out", side->name);
	return ok && end.disorder == 0 && nb > 0;
}

bool
sched_slice_run(
	struct sched_side *side, uint64_t ns, struct sched_slice *slice, char *why, size_t size)
{
	const uint64_t end = weir_base_cycles() + weir_base_ns_to_cycles(PATIENCE_NS);
	bool ok, seen;
	int rc;

	if (side->kind == SCHED_FREE) {
		rc = sched_free_run(side, ns, slice);
		if (rc < 0)
			snprintf(why, size, "%s: %s", side->name, strerror(-rc));
		return rc == 0;
	}
	/* Again, where others had the CPUs for nearly all of it. */
	do
		ok = run_once(side, ns, slice, &seen, why, size);
	while (ok && !seen && weir_base_cycles() < end);
	if (ok && !seen)
		snprintf(why, size, "%s: nothing of some class came out", side->name);
	return ok && seen;
}
