/* SPDX-License-Identifier: BSD-3-Clause */

/* Pools of helper threads: made, stopped, ended. */

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_lcore.h>

#include "offload_private.h"

#define DEFAULT_THREADS 4
#define DEFAULT_QUEUED  64
#define DEFAULT_SIZE    256
#define QUEUED_MAX      (1u << 20)
#define SIZE_MAX_COPIED (1u << 24)

/* All that the kernel allows, but the lcores'. */
static void
default_cpus(cpu_set_t *cpus)
{
	cpu_set_t lcores;
	unsigned int lcore;

	CPU_ZERO(&lcores);
	for (lcore = 0; lcore < RTE_MAX_LCORE; lcore++) {
		if (rte_eal_lcore_role(lcore) == ROLE_RTE) {
			const rte_cpuset_t its = rte_lcore_cpuset(lcore);

			CPU_OR(&lcores, &lcores, &its);
		}
	}
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (!CPU_ISSET(cpu, &lcores))
			CPU_SET(cpu, cpus);
}

/* The kernel refuses a set with no CPU that it allows. */
static int
set_cpus(pthread_t thread, const struct weir_job_offload_config *config)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (unsigned int i = 0; i < config->nb_cpus; i++)
		CPU_SET(config->cpus[i], &cpus);
	if (config->cpus != NULL)
		return -pthread_setaffinity_np(thread, sizeof(cpus), &cpus);
	default_cpus(&cpus);
	if (pthread_setaffinity_np(thread, sizeof(cpus), &cpus) == 0)
		return 0;
	memset(&cpus, 0xff, sizeof(cpus));
	return -pthread_setaffinity_np(thread, sizeof(cpus), &cpus);
}

static int
start_helper(struct weir_job_offload_pool *pool, unsigned int i,
	const struct weir_job_offload_config *config)
{
	char name[16];
	pthread_t thread;
	int rc;

	pool->helpers[i].pool = pool;
	__atomic_fetch_add(&pool->nb_users, 1, __ATOMIC_RELAXED);
	job_group_enter(&pool->threads);
	rc = -pthread_create(&thread, NULL, offload_help, &pool->helpers[i]);
	if (rc < 0) {
		offload_leave(pool);
		job_group_leave(&pool->threads);
		return rc;
	}
	snprintf(name, sizeof(name), "%s-%u", pool->name, i % 1000);
	pthread_setname_np(thread, name);
	rc = set_cpus(thread, config);
	pthread_detach(thread);
	return rc;
}

static int
start_helpers(struct weir_job_offload_pool *pool, const struct weir_job_offload_config *config)
{
	sigset_t all, before;
	int rc = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (unsigned int i = 0; i < pool->nb_helpers && rc == 0; i++)
		rc = start_helper(pool, i, config);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc < 0)
		JOB_LOG(ERROR, "offload %s: threads: %s", pool->name, rte_strerror(-rc));
	return rc;
}

static int
check(const struct weir_job_offload_config *config)
{
	const char *what = NULL;

	if (config->nb_threads > WEIR_JOB_OFFLOAD_THREADS_MAX)
		what = "threads";
	if (config->nb_queued > QUEUED_MAX)
		what = "queued calls";
	if (config->max_size > SIZE_MAX_COPIED)
		what = "bytes of an argument";
	if ((config->cpus == NULL) != (config->nb_cpus == 0))
		what = "CPUs";
	for (unsigned int i = 0; what == NULL && i < config->nb_cpus; i++)
		if (config->cpus[i] >= CPU_SETSIZE)
			what = "CPUs";
	if (what == NULL)
		return 0;
	JOB_LOG(ERROR, "offload: that many %s cannot be", what);
	return -EINVAL;
}

static struct weir_job_offload_pool *
make(const struct weir_job_offload_config *config)
{
	struct weir_job_offload_pool *pool = calloc(1, sizeof(*pool));
	unsigned int nb_calls;

	if (pool == NULL)
		return NULL;
	pool->nb_users = 1;
	pool->nb_helpers = config->nb_threads != 0 ? config->nb_threads : DEFAULT_THREADS;
	pool->nb_queued_max = config->nb_queued != 0 ? config->nb_queued : DEFAULT_QUEUED;
	pool->size_max = config->max_size != 0 ? config->max_size : DEFAULT_SIZE;
	pool->size_max = RTE_ALIGN_CEIL(pool->size_max, sizeof(max_align_t));
	job_copy_name(
		pool->name, sizeof(pool->name), config->name != NULL ? config->name : "offload");
	nb_calls = pool->nb_queued_max + pool->nb_helpers;
	pool->calls = calloc(nb_calls, sizeof(*pool->calls));
	pool->copies = calloc(nb_calls, pool->size_max);
	pool->helpers = calloc(pool->nb_helpers, sizeof(*pool->helpers));
	if (pool->calls == NULL || pool->copies == NULL || pool->helpers == NULL) {
		offload_leave(pool);
		return NULL;
	}
	for (unsigned int i = nb_calls; i > 0; i--)
		offload_put_back(pool, &pool->calls[i - 1]);
	return pool;
}

/* Who waited for calls that are not waited for any more. */
static void
tell(struct offload_waiting *waiting)
{
	struct offload_waiting *next;

	for (; waiting != NULL; waiting = next) {
		next = waiting->next; /* it may be gone after that */
		weir_job_complete(&waiting->done);
	}
}

/* No calls any more; helpers with nothing to do end. */
static void
shut(struct weir_job_offload_pool *pool)
{
	struct offload_waiting *returned = NULL;
	struct weir_job_waiter *idle;
	struct offload_call *call;

	offload_lock(pool);
	pool->stopped = true;
	while ((call = pool->first) != NULL) {
		struct offload_waiting *waiting = offload_part(call, -ESHUTDOWN);

		offload_dequeue(pool, call);
		pool->stats.nb_returned++;
		offload_put_back(pool, call);
		waiting->next = returned;
		returned = waiting;
	}
	idle = job_waiters_take(&pool->idle);
	offload_unlock(pool);
	tell(returned);
	job_waiters_wake(idle);
}

/* @return how many calls hang */
static unsigned int
abandon_all(struct weir_job_offload_pool *pool)
{
	struct offload_waiting *abandoned = NULL;
	unsigned int nb;

	offload_lock(pool);
	for (unsigned int i = 0; i < pool->nb_helpers; i++) {
		struct offload_call *call = pool->helpers[i].call;
		struct offload_waiting *waiting =
			call != NULL ? offload_part(call, -ETIMEDOUT) : NULL;

		if (waiting == NULL)
			continue;
		offload_abandon(pool);
		waiting->next = abandoned;
		abandoned = waiting;
	}
	nb = pool->stats.nb_hanging;
	offload_unlock(pool);
	tell(abandoned);
	return nb;
}

struct weir_job_offload_pool *
weir_job_offload_create(const struct weir_job_offload_config *config)
{
	const struct weir_job_offload_config none = {.name = NULL};
	struct weir_job_offload_pool *pool;
	int rc;

	config = config != NULL ? config : &none;
	if (check(config) < 0) {
		rte_errno = EINVAL;
		return NULL;
	}
	pool = make(config);
	if (pool == NULL) {
		JOB_LOG(ERROR, "offload: no memory for a pool");
		rte_errno = ENOMEM;
		return NULL;
	}
	rc = start_helpers(pool, config);
	if (rc < 0) {
		/* Not stopped as others are: a core must not wait. Helpers that have begun end by themselves. */
		shut(pool);
		offload_leave(pool);
		rte_errno = -rc;
		return NULL;
	}
	job_listed_add(JOB_LISTED_OFFLOAD, &pool->listed, pool);
	return pool;
}

int
weir_job_offload_stop(struct weir_job_offload_pool *pool, uint64_t timeout_ns)
{
	const struct weir_job_wait how = {
		.flags = WEIR_JOB_TIMEOUT, .timeout_ns = timeout_ns, .what = "offload's end"};
	int rc;

	if (pool == NULL)
		return -EINVAL;
	/* a job could wait, but for helpers that wait for it to take their results; a call, for itself */
	if (job_self() != NULL || offload_is_helper(pool))
		return -EDEADLK;
	rc = job_wait_check(&how);
	if (rc < 0)
		return rc;
	shut(pool);
	rc = weir_job_group_wait(&pool->threads, &how);
	if (rc == -ETIMEDOUT)
		JOB_LOG(WARNING, "offload %s: stopped, but %u calls hang", pool->name,
			abandon_all(pool));
	return rc;
}

int
weir_job_offload_destroy(struct weir_job_offload_pool *pool)
{
	bool busy;

	if (pool == NULL)
		return 0;
	offload_lock(pool);
	busy = !pool->stopped || pool->stats.nb_running > 0;
	offload_unlock(pool);
	if (busy) {
		JOB_LOG(ERROR, "offload %s: not destroyed: not stopped", pool->name);
		return -EBUSY;
	}
	job_listed_remove(&pool->listed);
	offload_leave(pool);
	return 0;
}

const char *
job_offload_name(const struct weir_job_offload_pool *pool)
{
	return pool->name;
}

void
weir_job_offload_stats(struct weir_job_offload_pool *pool, struct weir_job_offload_stats *stats)
{
	uint64_t longest, now;

	if (pool == NULL || stats == NULL)
		return;
	offload_lock(pool);
	now = weir_base_cycles();
	longest = pool->longest;
	for (unsigned int i = 0; i < pool->nb_helpers; i++) {
		const struct offload_call *call = pool->helpers[i].call;

		if (call != NULL && now > call->since)
			longest = RTE_MAX(longest, now - call->since);
	}
	*stats = pool->stats;
	stats->longest_ns = weir_base_cycles_to_ns(longest);
	stats->longest_queued_ns = weir_base_cycles_to_ns(pool->longest_queued);
	offload_unlock(pool);
	stats->nb_threads = (unsigned int)weir_job_group_nb(&pool->threads);
}
