/* SPDX-License-Identifier: BSD-3-Clause */

/* A timeout's word and its lanes: every interleaving of a few threads at once. */

#include "../base/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>

#define INTERLEAVE_BY_HAND
#include "../base/interleave.h"
#define EM_STEP() interleave_point()
#define EM_WAIT() interleave_pause()

#include "timer_lane.h"

#define GENERATION 7

static struct timer_lane lanes[2];
static struct timeout timeout;

/* How often each event, 1 up to 3, was sent, and handed back. */
static unsigned int sent[4], back[4];
static int arm_rc, ack_rc, cancel_rc[2], delete_rc;
static unsigned int nb_armed; /* after the first time */
static unsigned int overtaken;

static void
arm(struct timer_lane *lane, uint64_t event, uint64_t tick)
{
	enum timeout_state had;

	arm_rc = timeout_claim(&timeout, GENERATION, TIMEOUT_BIT(IDLE), &had);
	if (arm_rc < 0)
		return;
	timeout.event.u64 = event;
	timeout_launch(&timeout, GENERATION, lane, tick, 0, 0);
	nb_armed++;
}

static void
begin(void)
{
	memset(lanes, 0, sizeof(lanes));
	memset(&timeout, 0, sizeof(timeout));
	memset(sent, 0, sizeof(sent));
	memset(back, 0, sizeof(back));
	timer_lane_reset(&lanes[0], 0, 0);
	timer_lane_reset(&lanes[1], 0, 0);
	timeout_store(&timeout, GENERATION, TIMEOUT_IDLE);
	arm(&lanes[0], 1, 5);
	assert_int_equal(arm_rc, 0);
	arm_rc = ack_rc = cancel_rc[0] = cancel_rc[1] = delete_rc = 1;
	nb_armed = 0;
}

static void
begin_periodic(void)
{
	begin();
	timeout.period_ns = 10;
}

static void
poll(struct timer_lane *lane)
{
	unsigned int steps = 8;
	struct timeout *due;

	if (!timer_lane_trylock(lane))
		return;
	while ((due = timer_lane_pop(lane, 5, &steps)) != NULL) {
		assert_ptr_equal(due, &timeout);
		assert_in_range(due->event.u64, 1, 3);
		sent[due->event.u64]++;
		timeout_fired(due);
	}
	timer_lane_next(lane);
	timer_lane_unlock(lane);
}

static void
poll_first(void)
{
	poll(&lanes[0]);
}

static void
poll_both(void)
{
	poll(&lanes[0]);
	poll(&lanes[1]);
}

static void
cancel(unsigned int which)
{
	struct rte_event event = {0};

	cancel_rc[which] = timeout_cancel(&timeout, GENERATION, &event);
	if (cancel_rc[which] == 0)
		back[event.u64]++;
}

static void
a_cancel(void)
{
	cancel(0);
}

static void
another_cancel(void)
{
	cancel(1);
}

/* Anew, with event 2, where it is not armed; elsewhere. */
static void
an_arm(void)
{
	arm(&lanes[1], 2, 5);
}

static void
an_ack(void)
{
	enum timeout_state had;

	ack_rc = timeout_claim(&timeout, GENERATION, TIMEOUT_BIT(ACK), &had);
	if (ack_rc == -EBUSY && had == TIMEOUT_CANCELLED)
		timeout_came_back(&timeout, GENERATION);
	if (ack_rc < 0)
		return;
	timeout.event.u64 = 2;
	timeout_launch(&timeout, GENERATION, &lanes[1], 15, 0, 0);
	nb_armed++;
}

static void
a_deletion(void)
{
	enum timeout_state had;

	delete_rc = timeout_claim(&timeout, GENERATION, TIMEOUT_BIT(IDLE) | TIMEOUT_BIT(ACK), &had);
	if (delete_rc < 0)
		return;
	timeout_store(&timeout, GENERATION, TIMEOUT_FREE);
	/* and created anew in the same place, and armed */
	timeout_store(&timeout, GENERATION + 1, TIMEOUT_SETUP);
	timeout.event.u64 = 2;
	timeout_launch(&timeout, GENERATION + 1, &lanes[1], 15, 0, 0);
	nb_armed++;
}

static void
explore(uint64_t least, void (*start)(void), void (*end)(void), unsigned int most_interruptions,
	unsigned int nb, void (*const *threads)(void))
{
	struct interleave interleave = {.nb_actors = nb,
		.init = start,
		.check = end,
		.most_interruptions = most_interruptions,
		.least = least};

	memcpy(interleave.actors, threads, nb * sizeof(*threads));
	interleave_all(&interleave);
}

#define EXPLORE(least, begin, end, most, ...)                                                      \
	explore(least, begin, end, most,                                                           \
		sizeof((void (*[])(void)){__VA_ARGS__}) / sizeof(void (*)(void)),                  \
		(void (*[])(void)){__VA_ARGS__})

/* Whatever came of it: what was armed is in one wheel, or was sent or handed back, once. */
static void
accounted(void)
{
	unsigned int armed = lanes[0].wheel.nb + lanes[1].wheel.nb, nb = 0;

	for (unsigned int event = 1; event <= 3; event++) {
		assert_true(sent[event] + back[event] <= 1);
		nb += sent[event] + back[event];
	}
	assert_int_equal(nb + armed, 1 + nb_armed);
	assert_int_equal(timeout_state(timeout.word) == TIMEOUT_ARMED, armed == 1);
	assert_true(timeout_state(timeout.word) != TIMEOUT_SETUP);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(lanes[i].lock, 0);
		assert_int_equal(lanes[i].nb_armed,
			lanes[i].nb_fired + lanes[i].nb_cancelled + lanes[i].wheel.nb);
		assert_true((lanes[i].next == UINT64_MAX) == (lanes[i].wheel.nb == 0));
	}
	if (armed == 1 && timeout.lane != NULL)
		assert_int_equal(timeout.lane->wheel.nb, 1);
}

static void
fired_or_cancelled(void)
{
	accounted();
	/* who polls may find it locked, and comes again */
	assert_true(cancel_rc[0] == 0 || cancel_rc[0] == -EALREADY);
	assert_int_equal(cancel_rc[0] == 0, back[1] == 1);
	if (cancel_rc[0] == -EALREADY)
		assert_int_equal(sent[1], 1);
}

static void
cancel_test(void **state)
{
	EXPLORE(50, begin, fired_or_cancelled, 0, poll_first, a_cancel);
}

static void
one_cancel_wins(void)
{
	accounted();
	assert_true(cancel_rc[0] == 0 || cancel_rc[0] == -EALREADY);
	assert_true(cancel_rc[1] == 0 || cancel_rc[1] == -EALREADY);
	assert_int_equal(sent[1] + (cancel_rc[0] == 0) + (cancel_rc[1] == 0), 1);
}

static void
two_cancels_test(void **state)
{
	EXPLORE(100, begin, one_cancel_wins, 0, a_cancel, another_cancel);
}

static void
armed_anew(void)
{
	accounted();
	assert_true(arm_rc == 0 || arm_rc == -EBUSY);
	assert_true(cancel_rc[0] == 0 || cancel_rc[0] == -EALREADY);
	/* a cancellation says 0 for the event that it got */
	assert_int_equal(cancel_rc[0] == 0, back[1] + back[2] == 1);
	overtaken += back[2];
}

static void
rearm_test(void **state)
{
	overtaken = 0;
	EXPLORE(10000, begin, armed_anew, 6, poll_first, a_cancel, an_arm);
	/* also: the timeout that it went for had fired, and it got the next one, in the other lane */
	assert_true(overtaken > 0);
}

static void
acknowledged(void)
{
	accounted();
	assert_true(cancel_rc[0] == 0 || cancel_rc[0] == -EALREADY);
	assert_int_equal(cancel_rc[0] == 0, back[1] + back[2] == 1);
	/* it was cancelled: it is not armed, whatever came first */
	assert_int_equal(lanes[0].wheel.nb + lanes[1].wheel.nb, 0);
	assert_int_equal(timeout_state(timeout.word), TIMEOUT_IDLE);
	overtaken += nb_armed;
}

/* It fires and is armed elsewhere, and again, where it was at first. */
static void
poll_and_arm_twice(void)
{
	poll(&lanes[0]);
	arm(&lanes[1], 2, 5);
	poll(&lanes[1]);
	arm(&lanes[0], 3, 5);
}

static void
the_right_lane(void)
{
	accounted();
	assert_true(cancel_rc[0] == 0 || cancel_rc[0] == -EALREADY);
	assert_int_equal(cancel_rc[0] == 0, back[1] + back[2] + back[3] == 1);
	overtaken += back[3];
}

static void
two_lanes_test(void **state)
{
	overtaken = 0;
	EXPLORE(1000, begin, the_right_lane, 5, poll_and_arm_twice, a_cancel);
	assert_true(overtaken > 0);
}

/* Fires, and then is given back, while it is cancelled. */
static void
poll_and_ack(void)
{
	poll(&lanes[0]);
	an_ack();
}

static void
periodic_test(void **state)
{
	overtaken = 0;
	EXPLORE(100, begin_periodic, acknowledged, 8, poll_and_ack, a_cancel);
	assert_true(overtaken > 0);
}

/* What has fired is given back by who received it, while it is cancelled, armed anew, and fires again. */
static void
poll_and_ack_received(void)
{
	poll(&lanes[0]);
	if (sent[1] == 1)
		an_ack();
}

static void
cancel_and_arm_and_poll(void)
{
	cancel(0);
	arm(&lanes[0], 3, 5);
	poll(&lanes[0]);
}

static void
never_anothers(void)
{
	accounted();
	/* it was cancelled when its event had been sent: this one does not come back */
	if (cancel_rc[0] == -EALREADY)
		assert_int_not_equal(ack_rc, 0);
	overtaken += sent[3];
}

static void
late_ack_test(void **state)
{
	overtaken = 0;
	EXPLORE(1000, begin_periodic, never_anothers, 8, poll_and_ack_received,
		cancel_and_arm_and_poll);
	assert_true(overtaken > 0);
}

static void
deleted(void)
{
	accounted();
	assert_true(delete_rc == 0 || delete_rc == -EBUSY);
	assert_true(cancel_rc[0] == 0 || cancel_rc[0] == -EALREADY || cancel_rc[0] == -ESTALE);
	if (delete_rc == 0) {
		/* the next one in this place is not touched */
		assert_int_equal(timeout.word, timeout_word(GENERATION + 1, TIMEOUT_ARMED));
		assert_int_equal(lanes[1].wheel.nb, 1);
	}
}

static void
deletion_test(void **state)
{
	EXPLORE(1000, begin, deleted, 6, poll_first, a_cancel, a_deletion);
}

static void
polled_by_two(void)
{
	accounted();
	assert_true(sent[1] <= 1);
}

static void
two_polls_test(void **state)
{
	EXPLORE(10, begin, polled_by_two, 0, poll_first, poll_both);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cancel_test),
		cmocka_unit_test(two_cancels_test),
		cmocka_unit_test(two_polls_test),
		cmocka_unit_test(two_lanes_test),
		cmocka_unit_test(periodic_test),
		cmocka_unit_test(late_ack_test),
		cmocka_unit_test(deletion_test),
		cmocka_unit_test(rearm_test),
	};

	return cmocka_run_group_tests_name("em-timer_lane", tests, NULL, NULL);
}
