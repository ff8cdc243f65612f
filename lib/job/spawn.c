/* SPDX-License-Identifier: BSD-3-Clause */

/* A job begins. */

#include "weir_em_pool.h"

#include "job_private.h"

#define DEPTH_MAX 2 /* jobs within each other, that began at once */

static const struct weir_job_options no_options;

/* @return 0 or a negative errno */
static int
check(const struct weir_job_service *service, weir_job_fn_t fn, const void *in, size_t size,
	const struct weir_job_options *options)
{
	const char *wrong = NULL;

	if (unlikely(fn == NULL || (in == NULL && size > 0)))
		wrong = "a function, and input parameters if they have a size";
	else if (unlikely((options->flags & ~(unsigned int)(WEIR_JOB_PRIORITY | WEIR_JOB_KEY |
							    WEIR_JOB_LATER)) != 0))
		wrong = "flags that there are";
	else if (unlikely(options->name != NULL) && strlen(options->name) >= WEIR_JOB_NAME_SIZE)
		wrong = "a shorter name";
	else if (unlikely(options->done != NULL && options->done_queue != WEIR_EM_NONE))
		wrong = "a function or a queue that is told when it ends, not both";
	else if (unlikely(options->done_queue != WEIR_EM_NONE &&
			  options->done_pool == WEIR_EM_NONE && options->out_size > 0))
		wrong = "a pool for its results";
	else if (unlikely(
			 options->done_queue == WEIR_EM_NONE && options->done_pool != WEIR_EM_NONE))
		wrong = "a queue for its results";
	else if (unlikely(options->deadline_ns > WEIR_EM_TIMEOUT_NS_MAX ||
			  options->slice_ns > WEIR_EM_TIMEOUT_NS_MAX))
		wrong = "times below 36 years";
	if (likely(wrong == NULL))
		return 0;
	JOB_LOG(ERROR, "%s: a job cannot be spawned: expected %s", service->name, wrong);
	return -EINVAL;
}

/* @return 0 or a negative errno */
static int
take_buffer(struct weir_job_service *service, struct job_worker *worker, struct job *job,
	const struct weir_job_options *options)
{
	const size_t size = sizeof(struct weir_job_result) + options->out_size;
	struct weir_em_pool_info info;
	int rc;

	if (options->out_size > UINT16_MAX - sizeof(struct weir_job_result))
		return -EINVAL;
	if (worker != NULL) {
		job->buffer = weir_em_alloc(worker->core, options->done_pool, (uint16_t)size);
		return job->buffer != NULL ? 0 : rte_errno == EMSGSIZE ? -EINVAL : -rte_errno;
	}
	rc = weir_em_pool_info(service->em, options->done_pool, &info);
	if (rc < 0)
		return rc;
	job->buffer = rte_pktmbuf_alloc(info.mempool);
	if (job->buffer == NULL)
		return -ENOMEM;
	weir_em_event_from_mbuf(service->em, job->buffer);
	if (rte_pktmbuf_append(job->buffer, (uint16_t)size) == NULL) {
		weir_em_free(service->em, NULL, job->buffer);
		return -EINVAL;
	}
	return 0;
}

/* Where it leaves its results. @return 0 or a negative errno */
static int
take_out(struct weir_job_service *service, struct job_worker *worker, struct job *job,
	const struct weir_job_options *options)
{
	struct weir_job_result *result;
	int rc;

	job->out = NULL;
	job->buffer = NULL;
	if (options->done_pool == WEIR_EM_NONE) {
		if (options->out_size > 0)
			job->out = weir_coro_out_param(job->coro, options->out_size);
		return options->out_size > 0 && job->out == NULL ? -EINVAL : 0;
	}
	rc = take_buffer(service, worker, job, options);
	if (rc < 0)
		return rc;
	result = rte_pktmbuf_mtod(job->buffer, struct weir_job_result *);
	*result = (struct weir_job_result){.job = job_handle(job),
		.arg = (uintptr_t)options->done_arg,
		.out_size = options->out_size};
	job->out = weir_job_result_out(result);
	memset(job->out, 0, options->out_size);
	return 0;
}

/* Stack, parameters, buffer. @return 0 or a negative errno */
static int
take(struct weir_job_service *service, struct job_worker *worker, struct job *job, const void *in,
	size_t size, const struct weir_job_options *options)
{
	int rc = 0;

	job->stack_class =
		options->stack_class == 0 ? service->config.stack_class : options->stack_class - 1;
	job->coro = weir_coro_create_in(job->stack_class, job_main);
	if (unlikely(job->coro == NULL))
		return -*weir_coro_errno();
	job->in = NULL;
	if (size > 0) {
		job->in = weir_coro_in_param(job->coro, size);
		if (job->in != NULL)
			memcpy(job->in, in, size);
		else
			rc = -EINVAL;
	}
	if (likely(rc == 0))
		rc = take_out(service, worker, job, options);
	if (unlikely(rc < 0))
		weir_coro_destroy(job->coro);
	if (unlikely(rc == -EINVAL))
		JOB_LOG(ERROR, "%s: a job cannot be spawned: %zu bytes in, %zu out are too many",
			service->name, size, options->out_size);
	return rc;
}

static void
fill_in(struct job *job, weir_job_fn_t fn, const struct weir_job_options *options, int route)
{
	struct weir_job_service *service = job->service;
	uint64_t slice = service->slice;

	if (unlikely(options->slice_ns != 0))
		slice = weir_base_ns_to_cycles(options->slice_ns);
	if (unlikely(options->name != NULL))
		strcpy(job->name, options->name);
	else
		job->name[0] = '\0';
	job->fn = fn;
	job->worker = NULL;
	job->lane = NULL;
	job->slice = job->slice_set = slice;
	job->route = (uint16_t)route;
	job->has_key = (options->flags & WEIR_JOB_KEY) != 0;
	job->key = options->key;
	job->holds_key = job->cancelled = job->queued = false;
	job->nb_slices = job->nb_waits = job->ran = job->cores = 0;
	job->nb_overruns = 0;
	job->told.what = "";
	job->begun = job->since = weir_base_cycles();
	job->deadline_ns = options->deadline_ns;
	job->deadline = 0;
	if (unlikely(options->deadline_ns != 0))
		job->deadline = job->begun + weir_base_ns_to_cycles(options->deadline_ns);
	job->done = options->done;
	job->done_arg = options->done_arg;
	job->done_queue = options->done_queue;
	job->group = options->group;
	weir_coro_set_time_slice(job->coro, slice);
}

/* May its first slice be now? Its key is taken, then. */
static bool
at_once(const struct job_worker *worker, struct job *job, const struct weir_job_options *options)
{
	if (worker == NULL || worker->depth >= DEPTH_MAX ||
		(options->flags & WEIR_JOB_LATER) != 0 || options->core_group != WEIR_EM_NONE ||
		job_may_wait() < 0)
		return false;
	return !job->has_key || job_key_try(job);
}

/* From here on others know of it. @return whether its first slice is now */
static bool
publish(struct weir_job_service *service, struct job_worker *worker, struct job *job,
	const struct weir_job_options *options)
{
	bool now = at_once(worker, job, options);

	if (unlikely(job->deadline != 0))
		job_deadline_begin(worker, job);
	job_put(job->word, now ? JOB_RUNNING : JOB_READY);
	if (job->group != NULL)
		job_group_enter(job->group);
	__atomic_store_n(&job->handle, job_handle(job), __ATOMIC_RELEASE);
	if (worker != NULL)
		job_count(&worker->stats.nb_spawned, 1);
	else
		__atomic_fetch_add(&service->nb_foreign_spawned, 1, __ATOMIC_SEQ_CST);
	return now;
}

/* A job that nobody knows of; NULL with rte_errno */
static struct job *
make(struct weir_job_service *service, struct job_worker *worker, weir_job_fn_t fn, const void *in,
	size_t size, const struct weir_job_options *options)
{
	uint8_t priority = service->priority;
	struct job *job = NULL;
	int rc, route;

	rc = check(service, fn, in, size, options);
	if ((options->flags & WEIR_JOB_PRIORITY) != 0)
		priority = options->priority;
	if (likely(rc == 0))
		rc = route = job_route(service, options->core_group, priority);
	if (likely(rc >= 0)) {
		job = job_slot_get(service, worker);
		rc = job != NULL ? take(service, worker, job, in, size, options) : -EAGAIN;
	}
	if (unlikely(rc < 0)) {
		if (job != NULL)
			job_slot_put(service, worker, job);
		rte_errno = -rc;
		return NULL;
	}
	fill_in(job, fn, options, route);
	return job;
}

static void
count_refused(struct weir_job_service *service, struct job_worker *worker)
{
	if (worker != NULL)
		job_count(&worker->stats.nb_refused, 1);
	else
		__atomic_fetch_add(&service->nb_foreign_refused, 1, __ATOMIC_RELAXED);
}

/*
 * Who stops the service waits for those who are between these two: what they spawn is known after that, and cancelled with the others. No
 * job runs there, so that none can keep it from being stopped.
 */
static void
enter(struct weir_job_service *service, struct job_worker *worker)
{
	if (worker != NULL)
		job_begin_doing(service, &worker->spawning);
	else
		__atomic_fetch_add(&service->nb_spawning, 1, __ATOMIC_SEQ_CST);
}

static void
leave(struct weir_job_service *service, struct job_worker *worker)
{
	if (worker != NULL)
		job_end_doing(&worker->spawning);
	else
		__atomic_fetch_sub(&service->nb_spawning, 1, __ATOMIC_SEQ_CST);
}

weir_job
weir_job_spawn(struct weir_job_service *service, weir_job_fn_t fn, const void *in, size_t size,
	const struct weir_job_options *options)
{
	weir_job handle = WEIR_JOB_NONE;
	struct job_worker *worker;
	struct job *job = NULL;
	bool now = false;

	if (service == NULL) {
		rte_errno = EINVAL;
		return WEIR_JOB_NONE;
	}
	if (options == NULL)
		options = &no_options;
	worker = job_worker_here(service);
	enter(service, worker);
	JOB_STALL("spawn");
	if (likely(job_phase(service) == JOB_STARTED))
		job = make(service, worker, fn, in, size, options);
	else
		rte_errno = ESHUTDOWN;
	if (likely(job != NULL)) {
		handle = job_handle(job);
		now = publish(service, worker, job, options);
	} else {
		count_refused(service, worker);
	}
	leave(service, worker);
	if (now)
		job_run_first(worker, job);
	else if (job != NULL)
		job_make_ready(worker, job);
	return handle;
}
