/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOB_PRIVATE_H
#define JOB_PRIVATE_H

/*
 * What the files of this library share.
 *
 *   service.c  made, started, stopped, ended      worker.c   cores come and go, what each does in a round
 *   slot.c     places of jobs, handles            spawn.c    a job begins
 *   run.c      a slice; what comes after it       end.c      a job ends, who is told
 *   ready.c    woken jobs get to a core           wait.c     completions, threads that wait
 *   lane.c     sleep, timeouts                    waiters.c  lists of those who wait; groups of jobs
 *   deadline.c deadlines that are missed          rate.c     what is not to fill the log
 *   key.c      one job of a key at a time         route.c    a queue for each priority and core group
 *   control.c  cancel, join, set                  self.c     of the calling job
 *   look.c     counters, what is known of jobs    ctl.c      for programs
 *   dispatcher.c  events of rte_dispatcher
 *
 * A job is a place in an array, for as long as the service is there; its coroutine's stack and its buffer for results are taken when it begins, so
 * that nothing can be missing later.
 *
 * Where a job is. At each moment one owns it, who alone may resume it; its word (job_state.h) says who:
 *   - a thread that runs it;
 *   - an event, with the job as its payload. There is never more than one;
 *   - the list of ready jobs (ready.c), or that of those who wait for a key (key.c);
 *   - nobody: it waits. Whoever wakes it owns it then: completion, timeout, cancellation; the word says who was first.
 * So no event can be stale, and none has to be looked for.
 *
 * Credits. The slice is up: the event that it came with is forwarded, which is never refused. It began in weir_job_spawn(), or was woken:
 * a new event is sent, which may be refused. Then, and when a plain thread woke it, it goes to the list of ready jobs, which
 * has no limit, as each job has its own link. Cores look at the list in each round (weir_em_poll_add()), and send the events;
 * if one is refused even there, the core runs that job without an event. So woken jobs go on whatever is inside the scheduler: no
 * credit has to be reserved for a job that waits, and 100,000 of them may. What a job sends may take the credit of the event of its slice
 * (weir_job_send()): jobs that are ready take all credits there are, and would keep each other's results from leaving.
 *
 * Contexts. Queues of jobs are parallel: a running job has no context of its own to give up. Where its function was called first in a
 * receive function, it has the caller's, for as long as that has it.
 *
 * Keys are a table of this library's and not atomic flows: an atomic flow belongs to one queue, thus to one priority and core
 * group, which jobs may change, and flows share numbers. The event of a job whose key is busy is let go, and the job waits in the key's list.
 *
 * Handles: generation (40 bits), place (24). A place whose generations are used up is not used any more. Who has a handle and wants to
 * do something to the job does it under the job's lock, in which also ends it.
 *
 * Sleeping jobs and timeouts are in a wheel of the core on which they began to wait (lane.c), not in timers of the event machine: these
 * reserve a credit each. Deadlines are in a second wheel there: whoever takes one out of it, the core for which it is due or the end of the job,
 * counts it or does not, so each is counted once.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_errno.h>
#include <rte_pause.h>

#include "weir_base.h"
#include "weir_base_wheel.h"
#include "weir_coro.h"
#include "weir_em_timer.h"
#include "weir_job.h"

#include "job_state.h"

#define JOB_LOG(level, ...) weir_base_log(WEIR_BASE_LOG_##level, "job", __VA_ARGS__)

#define JOB_LINE __attribute__((aligned(64)))

/* Tests of races stall here. */
#ifdef JOB_STALLS
void job_stall(const char *where);
#define JOB_STALL(where) job_stall(where)
#else
#define JOB_STALL(where)
#endif

#define JOB_GROUPS 64 /* core groups of an event machine, at most */

struct job_worker;

/* What a job did when it left its stack, if it has not ended. */
enum job_action { JOB_ACTION_SLICE, JOB_ACTION_WAIT };

/* What a job waits for. Who owns the job writes, whoever looks reads: what was changed meanwhile is read once more. */
struct job_told {
	uint64_t nb;      /* changes; odd: one is under way */
	const char *what; /* "": nothing */
	uint64_t which[WEIR_JOB_NAME_SIZE /
		       sizeof(uint64_t)]; /* a name, its end and zeros behind it */
	uint64_t id, until;               /* cycles; 0: for ever */
};

struct job {
	/* What a resumption touches. */
	uint32_t word;  /* job_state.h */
	uint8_t action; /* enum job_action */
	bool has_key;   /* has a key */
	bool holds_key; /* its turn has come */
	bool queued;    /* its slice is up: RUNNING, but not on a core */
	bool cancelled; /* as its end was told */
	struct weir_coro *coro;
	struct job_worker *worker; /* where it runs, or did last; NULL: nowhere yet */
	struct weir_job_service *service;
	struct job *next; /* in the list of ready ones, of a key, of free ones */
	uint64_t since;   /* cycles: when it came to its state, about */
	uint64_t slice;   /* cycles, as is wanted */
	uint16_t route;   /* any thread, atomically: its queue, as is wanted */
	uint16_t pad;
	uint32_t nb_overruns;

	uint64_t slice_set JOB_LINE; /* cycles, as the coroutine knows */
	uint64_t nb_slices, nb_waits, ran, cores;
	struct job_lane *lane;   /* a timeout is armed there */
	struct rte_event *event; /* of the slice that runs; NULL: it has none, or none any more */

	struct job_told told JOB_LINE;

	struct weir_base_wheel_entry entry JOB_LINE; /* under the lane's lock */
	/* Its key: job->next links those who wait. Under the bucket's lock. */
	uint64_t key;
	struct job *key_next, *key_first, *key_last;

	uint64_t deadline; /* cycles; 0: none */
	struct job_lane *deadline_lane;
	struct weir_base_wheel_entry deadline_entry; /* under that lane's lock */

	/* Of control functions. */
	struct weir_job_waiters joiners JOB_LINE; /* its lock is the job's */
	weir_job handle;     /* 0: free. Set when all else is; erased under the lock */
	uint64_t generation; /* of its next handle. Of who owns the place */
	uint64_t begun, deadline_ns;
	weir_job_fn_t fn;
	void *in, *out;

	weir_job_done_t done JOB_LINE;
	void *done_arg;
	weir_em_queue done_queue;
	struct rte_mbuf *buffer;
	struct weir_job_group *group;
	unsigned int stack_class;
	char name[WEIR_JOB_NAME_SIZE];
} JOB_LINE;

struct job_lane {
	uint64_t next; /* cycles: nothing to do before. Any thread */
	uint32_t lock;
	uint32_t shift;                   /* a tick is so many cycles, log2 */
	struct weir_base_wheel wheel;     /* under the lock: who sleeps, or has a timeout */
	struct weir_base_wheel deadlines; /* likewise: of jobs that are alive, and not late */
} JOB_LINE;

/* A core. Counters have one writer. */
struct job_worker {
	struct weir_job_service *service;
	struct weir_em_core *core;
	struct job_worker *next; /* of the thread's: cores of other event machines */
	uint32_t *holds;         /* of the core */
	unsigned int id, depth;  /* depth: jobs that run here, one within the other */
	bool attached;           /* any thread */
	bool spawning; /* any thread: it is in weir_job_spawn(), and has not run anything there */
	bool leaving;  /* any thread: a job that is counted as ended is still in its group */
	unsigned int nb_polls, helped;
	bool at_places;              /* it is at these two: others must not */
	bool raided;                 /* others are, or will be: it must not */
	struct job *free;            /* places; see slot.c */
	unsigned int nb_free;        /* any thread may look */
	struct weir_job_stats stats; /* any thread reads; no nb_live, max_jobs */

	struct job_lane lane;

	struct weir_base_hist hists[WEIR_JOB_HISTS]; /* one writer, who stores by job_put() */
} JOB_LINE;

struct job_bucket {
	uint32_t lock;
	struct job *first; /* of those who hold keys, by key_next */
};

/* Any thread. */
struct job_rate {
	uint64_t told, nb_untold; /* cycles: when; how many since */
};

enum job_phase { JOB_STOPPED, JOB_STARTED, JOB_STOPPING };

/* In a service's run: the phase, and above it how often it was started, so that who is late sees that it is another run. */
#define JOB_PHASE     UINT32_C(3)
#define JOB_RUN_FIRST (JOB_PHASE + 1)

struct weir_job_service {
	/* Read per slice. */
	struct weir_em *em;
	struct job *jobs;
	uint32_t nb_jobs; /* places */
	uint32_t run;     /* any thread: enum job_phase, and which run it is */
	struct job_worker *workers;
	unsigned int nb_workers;
	uint64_t slice; /* default, cycles */
	struct job_bucket *buckets;
	uint32_t bucket_mask;
	uint8_t priority;   /* default */
	bool needs_fence;   /* there is no job_barrier() */
	unsigned int cache; /* places that a core keeps at most */
	/* Any thread: [core group][priority]; 0: not there yet. */
	weir_em_queue queues[JOB_GROUPS][WEIR_EM_PRIORITIES];
	weir_em_queue_group groups[JOB_GROUPS]; /* any thread; 0: the first that is free */

	/* Ready jobs: put at the top by anybody; taken, and turned round, by who has the lock. */
	struct job *ready JOB_LINE;
	uint32_t feeding JOB_LINE; /* the lock */
	uint64_t nb_backlog;       /* any thread */
	struct job *backlog, *backlog_last;

	pthread_mutex_t cancelling JOB_LINE; /* all are cancelled; no other run begins meanwhile */
	pthread_mutex_t lock;                /* of what is below */
	struct job *free;                    /* places */
	uint32_t nb_fresh;                   /* places from there on were never used */
	weir_em_object object;
	bool object_started;
	struct weir_job_service_config config;
	char name[WEIR_EM_NAME_SIZE];
	void *memory, *memory_of_jobs, *memory_of_workers; /* as they were allocated */

	/* Of plain threads. */
	uint64_t nb_foreign_spawned JOB_LINE;
	uint64_t nb_foreign_refused;
	uint64_t nb_spawning; /* are at it in weir_job_spawn(), as job_worker::spawning */
	struct job_rate late, undeliverable;
} JOB_LINE;

static inline enum job_phase
job_phase(const struct weir_job_service *service)
{
	return (enum job_phase)(__atomic_load_n(&service->run, __ATOMIC_SEQ_CST) & JOB_PHASE);
}

/* Of the calling thread. */
struct job_thread {
	struct job_worker *workers;
	struct job *starting; /* the job whose coroutine is resumed for the first time */
};

/* Asked for anew at each use: a job may have moved to another thread. worker.c */
struct job_thread *job_thread(void);

/* The calling thread's core of the service; NULL: it is none. */
static inline struct job_worker *
job_worker_here(const struct weir_job_service *service)
{
	struct job_worker *worker = job_thread()->workers;

	while (worker != NULL && worker->service != service)
		worker = worker->next;
	return worker;
}

/* One writer, any readers. */
static inline void
job_count(uint64_t *counter, uint64_t nb)
{
	__atomic_store_n(counter, *counter + nb, __ATOMIC_RELEASE);
}

static inline uint64_t
job_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

/*
 * The calling core begins something short that others must be able to see the end of. A plain store: who looks pays for the order, by job_barrier()
 * between what it has changed and its look. Either that change is seen here, or *doing is seen there.
 */
static inline void
job_begin_doing(const struct weir_job_service *service, bool *doing)
{
	__atomic_store_n(doing, true, __ATOMIC_RELAXED);
	if (unlikely(service->needs_fence))
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	else
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void
job_end_doing(bool *doing)
{
	__atomic_store_n(doing, false, __ATOMIC_RELEASE);
}

/* What others may look at meanwhile. */
#define job_put(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)
#define job_get(field)        __atomic_load_n(&(field), __ATOMIC_RELAXED)

/* As weir_base_hist_add(), but others may read meanwhile. */
static inline void
job_hist_add(struct weir_base_hist *hist, uint64_t value)
{
	uint64_t *bucket = &hist->bucket[weir_base_hist_index(value)];

	if (hist->count == 0 || value < hist->min)
		job_put(hist->min, value);
	if (value > hist->max)
		job_put(hist->max, value);
	job_put(hist->sum, hist->sum + value);
	job_put(*bucket, *bucket + 1);
	job_put(hist->count, hist->count + 1);
}

/* Locks are held for some instructions; but the holder may have lost its CPU. */
static inline bool
job_trylock(uint32_t *lock)
{
	return __atomic_load_n(lock, __ATOMIC_RELAXED) == 0 &&
	       __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) == 0;
}

static inline void
job_lock(uint32_t *lock)
{
	unsigned int nb_waits = 0;

	while (!job_trylock(lock)) {
		if (++nb_waits % 256 == 0)
			sched_yield();
		else
			rte_pause();
	}
}

static inline void
job_unlock(uint32_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* rate.c: is it to be told now? *nb_untold: how many since the last time were not. */
bool job_may_tell(struct job_rate *rate, uint64_t now, uint64_t *nb_untold);

/* slot.c. @worker: the caller's, or NULL. NULL: all are in use */
struct job *job_slot_get(struct weir_job_service *service, struct job_worker *worker);
void job_slot_put(struct weir_job_service *service, struct job_worker *worker, struct job *job);
/* All that the core kept. */
void job_slots_flush(struct job_worker *worker);
/* The job of a handle, locked; NULL with *error: -ESTALE: it has ended; -EINVAL: there never was such a job. */
weir_job job_handle(const struct job *job);
struct job *job_find(struct weir_job_service *service, weir_job handle, int *error);
static inline void
job_release(struct job *job)
{
	job_unlock(&job->joiners.lock);
}

/* run.c: the job is ready, and the caller's. @event: its own, or NULL. */
void job_run_first(struct job_worker *worker, struct job *job);
void job_run(struct job_worker *worker, struct job *job, struct rte_event *event);
void job_receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context);
/* What a job's coroutine runs. */
void job_main(void);

/* end.c: its coroutine has come to its end, @now. */
void job_ended(struct job_worker *worker, struct job *job, struct rte_event *event, uint64_t now);
/* Say so, anew. @return false: it is still refused */
bool job_deliver(struct job_worker *worker, struct job *job, struct rte_event *event);

/* ready.c: a ready job of the caller's gets to a core. @worker: the caller's, or NULL */
void job_make_ready(struct job_worker *worker, struct job *job);
/* Into the list of ready ones, by any thread. */
void job_list_ready(struct weir_job_service *service, struct job *job);
/* By a core in each round. */
void job_feed(struct job_worker *worker);

/* key.c: @return false: another one has it, and the job waits there, which is not the caller's any more. */
bool job_key_take(struct job *job);
/* @return false: another one has it */
bool job_key_try(struct job *job);
/* @return whose turn it is, ready, and the caller's; NULL: nobody's */
struct job *job_key_give(struct job *job);

/* lane.c: by the job that waits. */
void job_lane_init(struct job_lane *lane);
void job_timer_arm(struct job *job, uint64_t when);
/* @return true: its time had come */
bool job_timer_disarm(struct job *job);
/* By a core in each round. */
void job_lanes_poll(struct job_worker *worker);
/* Under the lock: when to look again. */
void job_lane_set_next(struct job_lane *lane);

/* deadline.c. A job with a deadline begins: before others know of it. @worker: the caller's, or NULL */
void job_deadline_begin(struct job_worker *worker, struct job *job);
/* It has ended. */
void job_deadline_end(struct job_worker *worker, struct job *job, uint64_t now);
/* A job that missed its deadline, to be told of without locks. */
struct job_late {
	weir_job job; /* WEIR_JOB_NONE: none is to be told of */
	char name[WEIR_JOB_NAME_SIZE];
	uint64_t age, deadline_ns, nb_untold;
};
/* Under the lane's lock: jobs whose deadlines are over are counted. @late: to be told of, by job_deadline_tell() */
void job_deadlines_serve(struct job_worker *worker, struct job_lane *lane, uint64_t now,
	unsigned int *steps, struct job_late *late);
void job_deadline_tell(const struct weir_job_service *service, const struct job_late *late);

/* route.c: number of a route. @return negative errno */
int job_route(struct weir_job_service *service, weir_em_queue_group group, uint8_t priority);
static inline weir_em_queue
job_queue(const struct job *job)
{
	uint16_t route = job_get(job->route);

	return job_read(
		&job->service->queues[route / WEIR_EM_PRIORITIES][route % WEIR_EM_PRIORITIES]);
}

/* look.c: by who owns the job: what it waits for. @until: cycles; 0: for ever */
void job_tell_wait(
	struct job *job, const struct weir_job_wait *how, uint64_t address, uint64_t until);

/* self.c: the calling job; NULL: none. The coroutine is the job's own, not one that it resumed. */
struct job *job_self(void);
int job_self_init(void);
int job_self_set(struct job *job);

/* wait.c: give the core back, go on in its turn. */
void job_pause(struct job *job);
/* May it leave its stack? 0, -EDEADLK */
int job_may_wait(void);

/* waiters.c: lists of those who wait. */
static inline void
job_waiters_lock(struct weir_job_waiters *waiters)
{
	job_lock(&waiters->lock);
}

static inline void
job_waiters_unlock(struct weir_job_waiters *waiters)
{
	job_unlock(&waiters->lock);
}

/*
 * Under the lock, which is given back: the caller is the last in the list, and waits to be taken out and woken.
 *
 * @return 0: it was; others, as weir_job_completion_wait(): it was not, and is not in the list any more
 */
int job_waiters_wait(struct weir_job_waiters *waiters, struct weir_job_waiter *waiter,
	const struct weir_job_wait *how);
/* Under the lock: the first one, taken out, to be woken when the lock is given back; NULL: nobody. */
struct weir_job_waiter *job_waiters_pop(struct weir_job_waiters *waiters);
/* Likewise all of them, linked by next. */
struct weir_job_waiter *job_waiters_take(struct weir_job_waiters *waiters);
/* One that was taken out; it may be gone when this returns. */
void job_waiter_wake(struct weir_job_waiter *waiter);
/* All of them. */
void job_waiters_wake(struct weir_job_waiter *waiter);

/* A job more, or less, in a group. */
void job_group_enter(struct weir_job_group *group);
void job_group_leave(struct weir_job_group *group);

/* worker.c: all threads of the process execute a fence. */
bool job_barrier_register(void);
void job_barrier(const struct weir_job_service *service);
int job_core_start(struct weir_em_core *core, void *context, weir_em_object object, void *arg);
int job_core_stop(struct weir_em_core *core, void *context, weir_em_object object, void *arg);
void job_poll(struct weir_em_core *core, void *arg);

/* control.c: the job is locked. @return as weir_job_cancel() */
int job_cancel_locked(struct job *job, bool *claimed);
/* All of them, or those of a group. @return how many had not been cancelled */
unsigned int job_cancel_all(struct weir_job_service *service, const struct weir_job_group *group);

/* look.c: alive, of all threads. */
uint64_t job_nb_live(struct weir_job_service *service);

#endif
