/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The words by which a job waits and is woken: every interleaving of who waits, who completes, whose timeout is over, who cancels, and
 * who runs the job.
 */

#include "../base/interleave.h"

#include "job_state.h"

#define JOB UINT64_C(64) /* stands for the pointer */

static uint32_t word;
static uint64_t completion;
static uint32_t flag;

/* The timeout: armed by the job, taken by who comes first, under the lock of the wheel. */
static bool armed, fired;
static uint32_t lock;

static void
lane_lock(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0)
		interleave_pause();
}

static void
lane_unlock(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static int result, cancel_result, complete_result[2];
static unsigned int nb_wakes; /* somebody got the job, to be resumed */
static unsigned int nb_resumed, nb_waits;
static bool ended;
static bool completion_is_gone;
static bool listened; /* it was completed while the job listened */

static void
begin(void)
{
	word = JOB_RUNNING;
	completion = 0;
	lock = 0;
	armed = fired = ended = completion_is_gone = listened = false;
	result = cancel_result = complete_result[0] = complete_result[1] = 1;
	nb_wakes = nb_resumed = nb_waits = 0;
}

/* What wait.c does after the job has been prepared, and before it leaves its stack. @return leaves it? */
static bool
job_leaves(bool timeout)
{
	if (timeout) {
		lane_lock();
		armed = true;
		lane_unlock();
	}
	if (flag == 0 && (job_word(&word) & JOB_CANCELLED) != 0) {
		job_state_back(&word);
		return false;
	}
	return true;
}

/* And after it was resumed, or did not leave. */
static void
job_after(bool timeout)
{
	int rc = 0;

	if (timeout) {
		lane_lock();
		armed = false;
		lane_unlock();
	}
	if (fired)
		rc = -ETIMEDOUT;
	if (flag != 0)
		job_state_back(&word);
	if (flag == 0 && (job_word(&word) & JOB_CANCELLED) != 0)
		rc = -ECANCELED;
	if (rc < 0 && !job_completion_give_up(&completion, JOB))
		rc = 0;
	while (rc == 0 && job_completion_word(&completion) != JOB_DONE)
		interleave_pause();
	result = rc;
	completion_is_gone = true; /* the stack is used for something else */
	ended = true;
}

/* The job, and who runs it: one after the other, as they do. Resumed by who claimed it. */
static void
runner(bool timeout)
{
	job_state_prepare(&word, flag);
	if (job_completion_listen(&completion, JOB) == -EALREADY) {
		job_state_back(&word);
		result = 0;
		completion_is_gone = true;
		ended = true;
		return;
	}
	if (job_leaves(timeout)) {
		nb_waits++;
		if (job_state_leave(&word)) {
			/* others wake it */
			while (__atomic_load_n(&nb_wakes, __ATOMIC_ACQUIRE) == 0)
				interleave_pause();
		} else {
			nb_wakes++;
		}
		assert_int_equal(nb_wakes, 1);
		assert_int_equal(job_state(word), JOB_READY);
		job_state_begin(&word);
		nb_resumed++;
		if (flag != 0)
			assert_int_not_equal(completion, JOB); /* nothing else wakes it */
	}
	job_after(timeout);
}

static void
waits(void)
{
	runner(false);
}

static void
waits_with_timeout(void)
{
	runner(true);
}

/* Who claims the job owns it. */
static void
got(bool claimed)
{
	if (claimed) {
		assert_int_equal(job_state(word), JOB_READY);
		nb_wakes++;
	}
}

static void
complete(unsigned int which)
{
	uint64_t who;
	bool claimed;

	interleave_point();
	if (completion_is_gone) /* in truth a list under a lock tells this */
		return;
	complete_result[which] = job_completion_complete(&completion, &who);
	if (complete_result[which] < 0 || who == 0)
		return;
	listened = true;
	assert_int_equal(who, JOB);
	claimed = job_state_claim(&word);
	assert_false(completion_is_gone);
	job_completion_done(&completion);
	got(claimed);
}

static void
completes(void)
{
	complete(0);
}

static void
completes_too(void)
{
	complete(1);
}

static void
times_out(void)
{
	bool claimed = false;

	lane_lock();
	if (armed) {
		armed = false;
		fired = true;
		claimed = job_state_claim(&word);
	}
	lane_unlock();
	got(claimed);
}

static void
cancels(void)
{
	bool claimed;

	cancel_result = job_state_cancel(&word, &claimed);
	got(claimed);
}

static void
is_well(void)
{
	assert_true(ended);
	assert_int_equal(job_state(word), JOB_RUNNING);
	assert_int_equal(word & JOB_UNCANCELLABLE, 0);
	assert_int_equal(nb_wakes, nb_waits);
	assert_int_equal(nb_resumed, nb_waits);
	if (complete_result[0] == 0 || complete_result[1] == 0) {
		assert_int_equal(completion, JOB_DONE);
		assert_true(complete_result[0] != complete_result[1]);
	}
	/* what came while it listened it knows of; what came after it gave up is there */
	if (listened)
		assert_int_equal(result, 0);
	if (result == 0)
		assert_int_equal(completion, JOB_DONE);
	if (result == -ETIMEDOUT)
		assert_true(fired);
	if (result == -ECANCELED)
		assert_int_equal(cancel_result, 0);
}

static void
explore(uint64_t least, uint32_t flags, void (*check)(void), unsigned int most_interruptions,
	unsigned int nb, void (*const *actors)(void))
{
	struct interleave interleave = {.nb_actors = nb,
		.init = begin,
		.check = check,
		.most_interruptions = most_interruptions,
		.least = least};

	flag = flags;
	memcpy(interleave.actors, actors, nb * sizeof(*actors));
	interleave_all(&interleave);
}

#define EXPLORE(least, flags, check, most, ...)                                                    \
	explore(least, flags, check, most,                                                         \
		sizeof((void (*[])(void)){__VA_ARGS__}) / sizeof(void (*)(void)),                  \
		(void (*[])(void)){__VA_ARGS__})

static void
wake_test(void **state)
{
	EXPLORE(50, 0, is_well, 0, waits, completes);
}

static void
wake_twice_test(void **state)
{
	EXPLORE(1000, 0, is_well, 4, waits, completes, completes_too);
}

static void
never_cancelled(void)
{
	is_well();
	assert_int_equal(result, 0);
	assert_int_equal(cancel_result, 0);
	assert_int_not_equal(word & JOB_CANCELLED, 0);
}

static void
uncancellable_test(void **state)
{
	EXPLORE(1000, JOB_UNCANCELLABLE, never_cancelled, 4, waits, completes, cancels);
}

static void
cancel_test(void **state)
{
	EXPLORE(50, 0, is_well, 0, waits, cancels);
}

static void
wake_or_cancel_test(void **state)
{
	EXPLORE(1000, 0, is_well, 4, waits, completes, cancels);
}

static void
wake_or_timeout_test(void **state)
{
	EXPLORE(1000, 0, is_well, 4, waits_with_timeout, completes, times_out);
}

static void
all_test(void **state)
{
	EXPLORE(10000, 0, is_well, 3, waits_with_timeout, completes, times_out, cancels);
}

static void
cancelled_once(void **state)
{
	uint32_t job = JOB_RUNNING;
	bool claimed = true;

	assert_int_equal(job_state_cancel(&job, &claimed), 0);
	assert_false(claimed);
	assert_int_equal(job_state_cancel(&job, &claimed), -EALREADY);
	job = JOB_DELIVERING;
	assert_int_equal(job_state_cancel(&job, &claimed), -ESTALE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wake_test),
		cmocka_unit_test(wake_twice_test),
		cmocka_unit_test(uncancellable_test),
		cmocka_unit_test(cancel_test),
		cmocka_unit_test(wake_or_cancel_test),
		cmocka_unit_test(wake_or_timeout_test),
		cmocka_unit_test(all_test),
		cmocka_unit_test(cancelled_once),
	};

	return cmocka_run_group_tests_name("job-state", tests, NULL, NULL);
}
