/* SPDX-License-Identifier: BSD-3-Clause */

/* Completions: who waits, who completes; sleep and yield. */

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "job_private.h"

static const struct weir_job_wait no_wait;
static const char sleeping[] = "sleep";

int
job_may_wait(void)
{
	const struct weir_coro_block *block = weir_coro_thread_now()->current;

	return block != NULL && block->held != 0 ? -EDEADLK : 0;
}

/* When, in cycles; 0: never; 1: do not wait at all. @return 0 or -EINVAL */
static int
when(const struct weir_job_wait *how, uint64_t *until)
{
	*until = 0;
	if ((how->flags & WEIR_JOB_TIMEOUT) == 0 || how->timeout_ns == WEIR_JOB_FOREVER)
		return 0;
	if (how->timeout_ns > WEIR_EM_TIMEOUT_NS_MAX)
		return -EINVAL;
	*until = 1;
	if (how->timeout_ns > 0)
		*until = weir_base_cycles() + weir_base_ns_to_cycles(how->timeout_ns);
	return 0;
}

void
job_pause(struct job *job)
{
	weir_coro_yield();
}

/* ---- jobs ---- */

/* It has prepared, and listens to what wakes it. */
static void
leave(struct job *job)
{
	job->action = JOB_ACTION_WAIT;
	weir_coro_yield();
}

static bool
is_cancelled(const struct job *job, const struct weir_job_wait *how)
{
	return (how->flags & WEIR_JOB_UNCANCELLABLE) == 0 &&
	       (job_word(&job->word) & JOB_CANCELLED) != 0;
}

/* Wait in a job that listens to the completion. @return 0: it may have happened; -ETIMEDOUT, -ECANCELED: it had not then */
static int
wait_once(struct job *job, struct weir_job_completion *completion, const struct weir_job_wait *how,
	uint64_t until)
{
	int rc = 0;

	JOB_STALL("listening");
	if (until != 0)
		job_timer_arm(job, until);
	JOB_STALL("armed");
	if (is_cancelled(job, how))
		job_state_back(&job->word);
	else
		leave(job);
	if (job_timer_disarm(job))
		rc = -ETIMEDOUT;
	if (is_cancelled(job, how))
		rc = -ECANCELED;
	return rc;
}

static int
wait_in_job(struct job *job, struct weir_job_completion *completion,
	const struct weir_job_wait *how, uint64_t until)
{
	uint32_t flag = (how->flags & WEIR_JOB_UNCANCELLABLE) != 0 ? JOB_UNCANCELLABLE : 0;
	int rc;

	if (is_cancelled(job, how))
		return -ECANCELED;
	if (until == 1)
		return -ETIMEDOUT;
	/* who sleeps waits for nothing */
	job_tell_wait(job, how, how->what == sleeping ? 0 : (uintptr_t)completion, until);
	job_state_prepare(&job->word, flag);
	JOB_STALL("prepared");
	rc = job_completion_listen(&completion->word, (uintptr_t)job);
	if (rc < 0) {
		job_state_back(&job->word);
		rc = rc == -EALREADY ? 0 : rc;
	} else {
		rc = wait_once(job, completion, how, until);
		JOB_STALL("woken");
		if (flag != 0)
			job_state_back(&job->word); /* it may be cancelled again */
		if (rc < 0 && !job_completion_give_up(&completion->word, (uintptr_t)job))
			rc = 0; /* it happened at the same moment */
		/* who completes is between two steps, and will not be long */
		while (rc == 0 && job_completion_word(&completion->word) != JOB_DONE)
			job_pause(job);
	}
	job_put(job->told.what, "");
	return rc;
}

/* ---- threads ---- */

/* What a futex waits for: the half of the word that has the small numbers. */
static uint32_t *
futex_of(struct weir_job_completion *completion)
{
	return (uint32_t *)(void *)&completion->word +
	       (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 1 : 0);
}

static int
wait_in_thread(struct weir_job_completion *completion, uint64_t until)
{
	int rc = until == 1 ? -ETIMEDOUT : job_completion_listen(&completion->word, JOB_THREAD);

	if (rc < 0)
		return rc == -EALREADY ? 0 : rc;
	while (job_completion_word(&completion->word) == JOB_THREAD) {
		struct timespec timeout, *pointer = NULL;

		if (until != 0) {
			uint64_t now = weir_base_cycles();
			uint64_t ns = weir_base_cycles_to_ns(until > now ? until - now : 0);

			if (now >= until) {
				if (job_completion_give_up(&completion->word, JOB_THREAD))
					return -ETIMEDOUT;
				break;
			}
			timeout.tv_sec = (time_t)(ns / 1000000000);
			timeout.tv_nsec = (long)(ns % 1000000000);
			pointer = &timeout;
		}
		syscall(SYS_futex, futex_of(completion), FUTEX_WAIT_PRIVATE, (uint32_t)JOB_THREAD,
			pointer, NULL, 0);
	}
	return 0;
}

/* ---- both ---- */

int
weir_job_completion_wait(struct weir_job_completion *completion, const struct weir_job_wait *how)
{
	struct job *job = job_self();
	uint64_t until;
	int rc;

	if (completion == NULL)
		return -EINVAL;
	if (how == NULL)
		how = &no_wait;
	rc = when(how, &until);
	if (rc < 0)
		return rc;
	if (weir_job_completion_is_done(completion))
		return 0;
	if (job != NULL) {
		rc = job_may_wait();
		return rc < 0 ? rc : wait_in_job(job, completion, how, until);
	}
	if (weir_coro_self() != NULL)
		return -EPERM;
	if (until != 1 && job_thread()->workers != NULL)
		return -EDEADLK;
	return wait_in_thread(completion, until);
}

int
weir_job_complete(struct weir_job_completion *completion)
{
	struct job *job;
	bool claimed;
	uint64_t who;
	int rc;

	if (completion == NULL)
		return -EINVAL;
	rc = job_completion_complete(&completion->word, &who);
	if (rc < 0 || who == 0)
		return rc;
	if (who == JOB_THREAD) {
		/* the memory may be gone, but it is only its address that is looked at */
		syscall(SYS_futex, futex_of(completion), FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		return 0;
	}
	job = (struct job *)(uintptr_t)who;
	JOB_STALL("waking");
	claimed = job_state_claim(&job->word);
	JOB_STALL("claimed");
	job_completion_done(&completion->word);
	if (claimed)
		job_make_ready(job_worker_here(job->service), job);
	return 0;
}

bool
weir_job_completion_is_done(const struct weir_job_completion *completion)
{
	return completion != NULL && job_completion_word(&completion->word) == JOB_DONE;
}

int
weir_job_yield(void)
{
	struct job *job = job_self();

	if (job == NULL)
		return -EPERM;
	if (job_may_wait() < 0)
		return -EDEADLK;
	job_pause(job);
	return (job_word(&job->word) & JOB_CANCELLED) != 0 ? -ECANCELED : 0;
}

int
weir_job_sleep(uint64_t ns)
{
	const struct weir_job_wait how = {
		.flags = WEIR_JOB_TIMEOUT, .timeout_ns = ns, .what = sleeping};
	struct weir_job_completion never = {0};
	int rc;

	if (ns == 0)
		return weir_job_yield();
	if (ns > WEIR_EM_TIMEOUT_NS_MAX)
		return -EINVAL;
	if (job_self() == NULL)
		return -EPERM;
	rc = weir_job_completion_wait(&never, &how);
	return rc == -ETIMEDOUT ? 0 : rc;
}
