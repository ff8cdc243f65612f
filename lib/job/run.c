/* SPDX-License-Identifier: BSD-3-Clause */

/* A slice of a job, and what becomes of it after that. */

#include "job_private.h"

void
job_main(void)
{
	struct job *job = job_thread()->starting;

	if (job_self_set(job) == 0)
		job->fn(job->in, job->out);
}

static void
account(struct job_worker *worker, struct job *job, uint64_t begin, uint64_t end)
{
	uint64_t took = end - begin;

	job_put(job->nb_slices, job->nb_slices + 1);
	job_put(job->ran, job->ran + took);
	job_put(job->cores, job->cores | UINT64_C(1) << worker->id);
	job_count(&worker->stats.nb_slices, 1);
	if (unlikely(took > 2 * job->slice_set)) {
		job_put(job->nb_overruns, job->nb_overruns + 1);
		job_count(&worker->stats.nb_overruns, 1);
	}
	job_hist_add(&worker->hists[WEIR_JOB_HIST_SLICE], took);
}

/* It goes to the end of its queue. */
static void
requeue(struct job_worker *worker, struct job *job, struct rte_event *event)
{
	if (event != NULL) {
		JOB_STALL("forward");
		if (likely(weir_em_forward(worker->core, job_queue(job), event) == 0)) {
			job_count(&worker->stats.nb_forwarded, 1);
			return;
		}
	}
	job_make_ready(worker, job);
}

/* It has left its stack. */
static void
left(struct job_worker *worker, struct job *job, struct rte_event *event, uint64_t now)
{
	struct job *next = job->holds_key ? job_key_give(job) : NULL;
	bool waits = job->action == JOB_ACTION_WAIT;

	job_put(job->since, now);
	JOB_STALL("leave");
	if (waits) {
		job_put(job->nb_waits, job->nb_waits + 1);
		job_count(&worker->stats.nb_waits, 1);
		waits = job_state_leave(&job->word); /* true: it is not ours any more */
	} else {
		job_put(job->queued, true);
	}
	if (!waits)
		requeue(worker, job, event);
	if (unlikely(next != NULL))
		job_make_ready(worker, next);
}

/* It is RUNNING. */
static void
slice(struct job_worker *worker, struct job *job, struct rte_event *event, uint64_t begin)
{
	uint64_t now;

	job->action = JOB_ACTION_SLICE;
	job->event = event;
	worker->depth++;
	++*worker->holds; /* the first slice may be outside of dispatch, which keeps the core */
	weir_coro_resume(job->coro);
	now = weir_base_cycles();
	event = job->event; /* it may have sent something in its place */
	account(worker, job, begin, now);
	if (weir_coro_has_exited(job->coro))
		job_ended(worker, job, event, now);
	else
		left(worker, job, event, now);
	/* Only now: who is told of its end may spawn the next one, which is told, and spawns another. */
	worker->depth--;
	--*worker->holds;
}

void
job_run_first(struct job_worker *worker, struct job *job)
{
	job_put(job->worker, worker);
	job_thread()->starting = job;
	job_count(&worker->stats.nb_at_once, 1);
	slice(worker, job, NULL, job->begun);
}

void
job_run(struct job_worker *worker, struct job *job, struct rte_event *event)
{
	const struct job_worker *last = job->worker;
	uint64_t wanted = job_get(job->slice), begin;

	if (unlikely(job->has_key) && !job->holds_key) {
		job_put(job->told.what, "key");
		if (!job_key_take(job)) {
			job_count(&worker->stats.nb_keys_busy, 1);
			return;
		}
		job_put(job->told.what, "");
	}
	job_put(job->queued, false);
	if (unlikely(job_state_begin(&job->word) & JOB_CANCELLED))
		weir_coro_cancel(job->coro);
	if (unlikely(wanted != job->slice_set)) {
		job->slice_set = wanted;
		weir_coro_set_time_slice(job->coro, wanted);
	}
	if (last != worker) {
		job_count(&worker->stats.nb_migrated, last != NULL);
		job_put(job->worker, worker);
	}
	if (last == NULL)
		job_thread()->starting = job;
	begin = weir_base_cycles();
	job_hist_add(
		&worker->hists[WEIR_JOB_HIST_READY], begin > job->since ? begin - job->since : 0);
	slice(worker, job, event, begin);
}

void
job_receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct weir_job_service *service = context;
	struct job_worker *worker = &service->workers[weir_em_core_id(core)];

	for (uint16_t i = 0; i < nb; i++) {
		struct job *job = events[i].event_ptr;
		weir_em_queue wanted = job_queue(job);

		if (i + 1 < nb)
			rte_prefetch0(events[i + 1].event_ptr);
		if (likely(wanted == queue))
			job_run(worker, job, &events[i]);
		else if (weir_em_forward(core, wanted, &events[i]) != 0)
			job_make_ready(worker, job); /* somebody had it go elsewhere */
	}
}
