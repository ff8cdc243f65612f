/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_JOB_H
#define WEIR_JOB_H

/**
 * @file
 * Jobs: long work in time slices, on the cores of an event machine, between its events.
 *
 * A job is a coroutine (weir_coro.h) whose resumptions are events (weir_em.h). When its time slice is up, its event goes to the
 * end of its queue, and the core looks for what else there is; some core dequeues it later and goes on with it:
 *
 *     weir_job_spawn()                                        .--- slice up: forwarded ---.
 *          |          first slice, where the caller is a core |                           |
 *          '-------------------------------------------> runs on a core <--- dequeued --- queue of its priority and core group
 *                                                         |      |                           ^
 *                                   function returned <---'      '---> waits ----- woken ----'
 *
 * While it waits, it has no event: no credit of the scheduler, no atomic or ordered context, nothing but its stack. Whoever wakes
 * it needs no credit either: where the scheduler takes no new events, cores go on with woken jobs without one.
 *
 * A job looks at its slice by weir_coro_maybe_yield(), and may use all of weir_coro.h but weir_coro_cancel() and weir_coro_join(), which are
 * for bare coroutines. It must not block its thread, and must not wait or yield with a lock (see weir_coro_hold()). Nothing that belongs to
 * a thread lasts over a wait or a yield; weir_job_core() and weir_coro_errno() are asked anew.
 *
 * Coroutines are the program's: weir_coro_init() comes before a service is made, with room for stacks and input parameters, and
 * weir_coro_cleanup() after it was destroyed.
 *
 * Where cores run jobs, they should dispatch few events in a round (weir_em_dispatch_options::burst, 1 for the least
 * latency): a core that dequeued a burst of jobs runs a slice of each before it looks for events again.
 *
 * Handles are numbers that their service never uses again. Of a job that has ended, functions say so, whatever came in its place. Jobs
 * of different services have the same numbers: a handle means nothing without its service.
 *
 * Threads: functions that take a service may be called by any thread at any time, by receive functions and jobs too, unless
 * stated otherwise; not before weir_job_service_create() has returned, nor once weir_job_service_destroy() was called. Functions
 * without one that are about the calling job are for jobs, and say -EPERM elsewhere: also on a coroutine that a job resumed.
 *
 * Errors: 0 or a negative errno; pointers and handles: NULL or WEIR_JOB_NONE, with rte_errno. The log says why, but
 * not where it would be per job (no room).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir_base_hist.h"
#include "weir_coro.h"
#include "weir_em.h"
#include "weir_job_wait.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Jobs on the cores of an event machine. */
struct weir_job_service;

/** A job. */
typedef uint64_t weir_job;

/** No job. */
#define WEIR_JOB_NONE UINT64_C(0)

/** Most jobs of a service at a time. */
#define WEIR_JOB_JOBS_MAX ((1u << 24) - 1)

/** Characters of a name, its end included; longer ones are refused. */
#define WEIR_JOB_NAME_SIZE 32

/** What a service is to be. Numbers that are 0 have the default. */
struct weir_job_service_config {
	const char *
		name; /**< for logs and as its object's and queues' names in the event machine; copied; NULL: "jobs" */
	unsigned int
		max_jobs; /**< that can be alive at a time, never more; up to WEIR_JOB_JOBS_MAX / 2: 1,024 */
	uint64_t slice_ns;        /**< time slice of jobs that name none: 25,000 */
	unsigned int stack_class; /**< of weir_coro.h, for jobs that name none: 0 */
	unsigned int
		cache; /**< places for jobs that each core keeps for itself at most, of max_jobs, all together up to a quarter; others take them where there are no more: 64 */
};

/** What a job does. Returning ends it. @param in  a copy of what was given; @param out  for results, zeroed; both until it ends */
typedef void (*weir_job_fn_t)(void *in, void *out);

/** How a job ended. */
enum weir_job_end {
	WEIR_JOB_FINISHED,  /**< its function returned, and nobody had cancelled it */
	WEIR_JOB_CANCELLED, /**< it was cancelled before, whether it heeded that or not */
};

/**
 * Called when a job has ended, before anybody who waits for it is woken. On the core where it ended, in no coroutine (or that of another job,
 * which spawned it): it must be short, and not wait.
 *
 * @param arg  weir_job_options::done_arg
 * @param out  what the job left there, valid during the call; NULL if weir_job_options::out_size was 0
 */
typedef void (*weir_job_done_t)(void *arg, weir_job job, enum weir_job_end end, void *out);

/** At the beginning of the buffer that is sent when a job has ended; what it left as results follows, aligned to 16 bytes. */
struct weir_job_result {
	weir_job job;      /**< which; it has ended */
	uint64_t end;      /**< enum weir_job_end */
	uint64_t arg;      /**< weir_job_options::done_arg */
	uint64_t out_size; /**< bytes of results */
};

/** What the job left, in a buffer that was sent. */
static inline void *
weir_job_result_out(struct weir_job_result *result)
{
	return result + 1;
}

/** Bits of weir_job_options::flags: fields whose 0 means something else than "not given". */
enum {
	WEIR_JOB_PRIORITY =
		1 << 0, /**< weir_job_options::priority is given; else the event machine's lowest */
	WEIR_JOB_KEY = 1 << 1,   /**< weir_job_options::key is given */
	WEIR_JOB_LATER = 1 << 2, /**< do not run its first slice at once */
};

/**
 * What a job is to be. All zero, or NULL for a pointer to it: lowest priority, the service's slice and stack class, any core, nobody is told
 * when it ends.
 */
struct weir_job_options {
	unsigned int flags;       /**< WEIR_JOB_PRIORITY ... */
	const char *name;         /**< copied; NULL: "" */
	uint8_t priority;         /**< 0 to 7, with WEIR_JOB_PRIORITY */
	uint64_t slice_ns;        /**< time slice; 0: the service's */
	unsigned int stack_class; /**< 1 + the number of a class; 0: the service's */
	/**
	 * Whose cores it runs on; WEIR_EM_NONE: any core. Its first slice is an event then. While there is no core in the group the job stands
	 * still, and does not end when it is cancelled, nor the service when it is stopped: not before the group is given a core. The service keeps a
	 * queue in each core group that a job was ever given: it cannot be deleted (-EBUSY) until the service is destroyed.
	 */
	weir_em_queue_group core_group;
	uint64_t
		key; /**< with WEIR_JOB_KEY: of jobs of the service with one key one runs at a time, until its slice is up or it waits; first come, first served */
	uint64_t
		deadline_ns; /**< it is to have ended in so long; 0: whenever. Missed ones are counted when that is over, whatever it does */
	struct weir_job_group *
		group; /**< it is waited for with others; NULL: not. To be kept until it has ended */
	size_t out_size;      /**< bytes of results */
	weir_job_done_t done; /**< called when it has ended; NULL: nothing is */
	/**
	 * Where an event is sent when it has ended; WEIR_EM_NONE: nowhere. The event is never lost: while it is refused, the job is
	 * not over. A queue that is deleted, or never was there, is not found out before that: then nobody is told, which is counted
	 * (weir_job_stats::nb_undeliverable) and logged, once a second at most. Not together with done.
	 */
	weir_em_queue done_queue;
	/**
	 * Where the buffer of that event is from: struct weir_job_result and the results; it is taken when the job is spawned. WEIR_EM_NONE:
	 * the event has no buffer, but done_arg as its u64, and out_size must be 0.
	 */
	weir_em_pool done_pool;
	void *done_arg; /**< for done, or in the event */
};

/**
 * Make a service: its object and queues in an event machine. Not on the fast path.
 *
 * @param em      stays the caller's; one service at least fits beside its timers (see weir_em_poll_add())
 * @return NULL with rte_errno: EINVAL (also: no such stack class, as before weir_coro_init()), ENOMEM, ENOSPC (objects, queues, or polls of the event
 *   machine), ENOTSUP (no parallel queues)
 */
struct weir_job_service *weir_job_service_create(
	struct weir_em *em, const struct weir_job_service_config *config);

/**
 * Jobs may be spawned from now on, and cores run them. Waits for all cores that are attached, as weir_em_object_start().
 *
 * @param core  the caller's, or NULL (never, if it is a core: it would wait for itself)
 * @return 0; -EALREADY: it was started, and not stopped since; -EINVAL
 */
int weir_job_service_start(struct weir_job_service *service, struct weir_em_core *core);

/**
 * No more jobs: spawning is refused with ESHUTDOWN. All that are alive are cancelled, which ends what they wait for, and waited
 * for. It can be called again after it timed out, and be started again after it returned 0. Not from a receive function or a job, nor on
 * a core that is held (weir_em_core_holds()).
 * Several threads may call it at a time: each returns when what ran as it was called has ended, whether it was started again since
 * or not.
 *
 * A job that neither yields nor waits is waited for until the deadline, too, where it runs on another core; one that the caller's own core
 * resumes meanwhile has it for as long as its slice lasts.
 *
 * @param core        the caller's, which dispatches meanwhile; or NULL: others must
 * @param timeout_ns  how long to wait; WEIR_JOB_FOREVER
 * @return 0: none is left, in no group either; -ETIMEDOUT: the log names some of those that go on; -EINVAL, also: it was not started; -EBUSY: from where it may not be called
 */
int weir_job_service_stop(
	struct weir_job_service *service, struct weir_em_core *core, uint64_t timeout_ns);

/**
 * Give everything back. Cores that are attached must be in weir_em_dispatch(), or come there.
 *
 * @param core  the caller's, or NULL
 * @return 0; -EBUSY: it was not stopped; NULL is allowed
 */
int weir_job_service_destroy(struct weir_job_service *service, struct weir_em_core *core);

/** Its event machine. */
struct weir_em *weir_job_service_em(const struct weir_job_service *service);

/** Its name. */
const char *weir_job_service_name(const struct weir_job_service *service);

/**
 * Begin a job. Where the calling thread is a core of the event machine, in a receive function or in a job, its first slice has
 * been run when this returns, without any event: it may have ended. It is an event instead with WEIR_JOB_LATER, for a core group, while another
 * job with its key runs, and where jobs that spawn jobs would be more than two deep.
 *
 * @param fn       what it does
 * @param in       input parameters, copied, at most the stack class' max_in_param_size; may be NULL if @p size is 0
 * @param size     bytes of these
 * @param options  NULL: all zero
 * @return WEIR_JOB_NONE with rte_errno: EAGAIN: max_jobs are alive, or all stacks of the class in use; ENOMEM: no memory, or no buffer for
 *   the results; ESHUTDOWN: not started, or stopping; EINVAL, ENOTSUP (no such priority), ESTALE (core_group), ENOSPC (no queue for another
 *   priority or core group). Nothing was begun then
 */
weir_job weir_job_spawn(struct weir_job_service *service, weir_job_fn_t fn, const void *in,
	size_t size, const struct weir_job_options *options);

/**
 * Ask a job to end. What it waits for ends with -ECANCELED, so does each wait after that, unless it is WEIR_JOB_UNCANCELLABLE; from its next slice on
 * weir_coro_maybe_yield() returns true when it yields. A job that has not begun ends without running. Clean-ups run
 * (weir_coro_cleanup_push()).
 *
 * @return 0; -EALREADY: it was cancelled before; -ESTALE: it has ended; -EINVAL
 */
int weir_job_cancel(struct weir_job_service *service, weir_job job);

/**
 * Wait until a job has ended: from a job, or from a plain thread, which is blocked meanwhile. A core must not, but in a job.
 *
 * @param how  NULL: for as long as it takes
 * @return 0: it has; -ETIMEDOUT, -ECANCELED: the caller was cancelled; -EDEADLK: the caller itself, a core outside of a job, or with a lock; -EINVAL
 */
int weir_job_join(struct weir_job_service *service, weir_job job, const struct weir_job_wait *how);

/** Is it alive: spawned and not ended? */
bool weir_job_is_alive(struct weir_job_service *service, weir_job job);

/**
 * Change a job's priority: from its next resumption on, in its turn there. @return 0; -ESTALE: it has ended; -ENOTSUP, -ENOSPC, -EINVAL
 */
int weir_job_set_priority(struct weir_job_service *service, weir_job job, uint8_t priority);

/**
 * Change the cores that a job may run on: from its next resumption on. @return 0; -ESTALE: it has ended, or the core group has; -ENOSPC, -EINVAL
 */
int weir_job_set_core_group(
	struct weir_job_service *service, weir_job job, weir_em_queue_group core_group);

/** Change a job's time slice: from its next resumption on. @return 0; -ESTALE: it has ended; -EINVAL: 0 */
int weir_job_set_slice(struct weir_job_service *service, weir_job job, uint64_t slice_ns);

/* Of the calling job */

/** The calling job; WEIR_JOB_NONE outside of one. */
weir_job weir_job_self(void);

/** Its service; NULL outside of a job. */
struct weir_job_service *weir_job_self_service(void);

/** The core that it runs on now, to send events by; to dispatch or detach it is refused. NULL outside of a job. Not to be kept over a wait or a yield. */
struct weir_em_core *weir_job_core(void);

/** Was it cancelled? */
bool weir_job_self_cancelled(void);

/**
 * Send an event, as by weir_em_send(). Where the scheduler takes no new one it goes in the place of the job's own, with its credit: that is
 * never refused. The job goes on without an event then, as one that was woken where there are no credits. So jobs that send, and nobody
 * else, cannot keep each other from it, however few credits there are.
 *
 * @param event  what is sent is the receiver's
 * @return 0; -ENOSPC: there is no room, and this slice has no event, or none any more: try again after a wait; what weir_em_send() says; -EPERM
 */
int weir_job_send(weir_em_queue queue, const struct rte_event *event);

/**
 * Let others run, whether the slice is up or not: it goes to the end of its queue.
 *
 * @return 0; -ECANCELED: it is to end; -EDEADLK: with a lock; -EPERM
 */
int weir_job_yield(void);

/**
 * Wait for a time. It is never too short; it is late by a microsecond or so, and then until a core comes to it.
 *
 * @param ns  0: as weir_job_yield()
 * @return 0; -ECANCELED, maybe earlier; -EDEADLK: with a lock; -EPERM; -EINVAL: above WEIR_EM_TIMEOUT_NS_MAX
 */
int weir_job_sleep(uint64_t ns);

/* Looking at them */

/** What a job is doing. */
enum weir_job_state {
	WEIR_JOB_READY,      /**< it waits for a core: in a queue, or on its way there */
	WEIR_JOB_RUNNING,    /**< on a core */
	WEIR_JOB_WAITING,    /**< for what weir_job_info::waits_for says */
	WEIR_JOB_DELIVERING, /**< its function has returned, its event was refused so far */
	WEIR_JOB_STATES
};

/** What is known of a job. */
struct weir_job_info {
	weir_job job;                  /**< its handle */
	char name[WEIR_JOB_NAME_SIZE]; /**< as it was spawned */
	weir_job_fn_t fn;              /**< likewise */
	enum weir_job_state state;     /**< now */
	const char *
		waits_for; /**< "sleep", "job", "group", "key" ...; "": it does not wait. A string that stays */
	char which
		[WEIR_JOB_NAME_SIZE]; /**< its name: of the job, channel, pool, semaphore ...; "": none */
	uint64_t
		which_id; /**< the job that it waits for; the key; of others the address, or weir_job_wait::id; 0: none */
	uint64_t left_ns;               /**< until it waits no longer; WEIR_JOB_FOREVER */
	bool cancelled;                 /**< it was asked to end */
	bool has_key;                   /**< it has a key */
	uint64_t key;                   /**< that */
	uint8_t priority;               /**< now */
	weir_em_queue_group core_group; /**< now */
	unsigned int stack_class;       /**< number */
	unsigned int core;              /**< where it runs, or did last; UINT32_MAX: nowhere yet */
	uint64_t cores;                 /**< bits of the cores that it has been on */
	uint64_t nb_slices;             /**< resumptions */
	uint64_t nb_waits;              /**< times that it waited */
	uint64_t nb_overruns;           /**< slices more than twice as long as they should be */
	uint64_t age_ns;                /**< since it was spawned */
	uint64_t state_ns;              /**< since it is in its state, or about so */
	uint64_t ran_ns;                /**< time on cores, the slice that runs now not included */
	uint64_t deadline_ns;           /**< as it was spawned */
	bool late;                      /**< its deadline is over */
};

/** Counters of a service. spawned = finished + cancelled + live, whenever they are read. */
struct weir_job_stats {
	uint64_t nb_spawned;   /**< jobs begun */
	uint64_t nb_finished;  /**< ended, not cancelled */
	uint64_t nb_cancelled; /**< ended after they were cancelled */
	uint64_t nb_live;      /**< alive */
	uint64_t nb_refused;   /**< not begun: no room, no stack, no buffer, not running */
	uint64_t nb_slices;    /**< resumptions */
	uint64_t nb_at_once;   /**< of these, first ones in weir_job_spawn() */
	uint64_t nb_unpaid;    /**< of these, without an event, as the scheduler took no new one */
	uint64_t nb_forwarded; /**< slices that ended with the job's event forwarded */
	uint64_t nb_waits;     /**< slices that ended with a wait */
	uint64_t nb_migrated;  /**< resumptions on another core than the one before */
	uint64_t nb_overruns;  /**< slices more than twice as long as they should be */
	uint64_t nb_keys_busy; /**< times that a job had to wait for its key */
	uint64_t
		nb_late; /**< deadlines missed: counted once for each job, by the next core that comes to a round of dispatching, at the latest when the job ends */
	uint64_t nb_undeliverable; /**< ended, but the queue that was to be told was not there */
	uint64_t max_jobs;         /**< as configured */
};

/** What there are histograms of, all in cycles of the time base. */
enum weir_job_hist {
	WEIR_JOB_HIST_SLICE, /**< length of slices */
	WEIR_JOB_HIST_READY, /**< from being woken, or the slice being up, to being resumed; not of first slices at once */
	WEIR_JOB_HIST_RAN,  /**< time on cores of a job that ended */
	WEIR_JOB_HIST_LIFE, /**< from spawn to end */
	WEIR_JOB_HISTS
};

/** Look at a job. @return 0; -ESTALE: it has ended; -EINVAL */
int weir_job_look(struct weir_job_service *service, weir_job job, struct weir_job_info *info);

/**
 * Call @p visit for each job that is alive. Those that begin or end meanwhile may be among them or not; no job is visited twice. What is told of one
 * belongs together, but for counters of one that runs.
 *
 * @param visit  returns false to end it; may call all functions
 * @return how many were visited
 */
unsigned int weir_job_foreach(struct weir_job_service *service,
	bool (*visit)(void *arg, const struct weir_job_info *info), void *arg);

/** Counters: those of ends are read before those of beginnings, so that live jobs are never too few. */
void weir_job_stats(struct weir_job_service *service, struct weir_job_stats *stats);

/** A histogram, of all cores. @return 0, -EINVAL */
int weir_job_hist(
	struct weir_job_service *service, enum weir_job_hist which, struct weir_base_hist *hist);

/** "ready", "running" ... */
const char *weir_job_state_name(enum weir_job_state state);

/** "slice", "ready" ... */
const char *weir_job_hist_name(enum weir_job_hist which);

#ifdef __cplusplus
}
#endif

#endif
