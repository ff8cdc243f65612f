/* SPDX-License-Identifier: BSD-3-Clause */

/* One thread: credits, and reserved ones. */

#include "sched_test.h"

/* All of a burst up to the threshold, and not one more. */
static void
new_prefix(void **state)
{
	static const unsigned int bursts[] = {1, 3, 10, 16, 64};
	struct weir_sched_stats stats;
	struct rte_event events[64];
	uint64_t asked, taken;

	for (unsigned int b = 0; b < RTE_DIM(bursts); b++) {
		st_make_credits(1, 1, 64, 0, 10);
		st_start();
		asked = taken = 0;
		for (unsigned int i = 0; i < 64; i++)
			events[i] = st_event(RTE_EVENT_OP_NEW, 0, i, i);
		rte_errno = 0;
		while (taken < 10) {
			unsigned int nb =
				weir_sched_enqueue(st_port(0), &events[taken], (uint16_t)bursts[b]);

			assert_int_equal(nb, RTE_MIN(bursts[b], 10 - taken));
			asked += bursts[b];
			taken += nb;
		}
		assert_int_equal(rte_errno, taken < asked ? ENOSPC : 0);
		rte_errno = 0;
		assert_int_equal(weir_sched_enqueue(st_port(0), events, (uint16_t)bursts[b]), 0);
		assert_int_equal(rte_errno, ENOSPC);
		stats = st_stats();
		assert_int_equal(stats.nb_new, 10);
		assert_int_equal(stats.nb_refused, asked + bursts[b] - 10);
		assert_int_equal(stats.nb_invalid, 0);
		/* They are the first ones. */
		for (unsigned int i = 0; i < 10; i++) {
			struct rte_event event = st_get_one(0);

			assert_true(event.u64 < 10);
			st_release(0, event);
		}
		st_get_none(0);
		st_teardown(NULL);
	}
}

/* At the limit FORWARD goes on; NEW before it in a burst stops it there. */
static void
forward_at_limit(void **state)
{
	struct rte_event held[3], burst[3];

	st_make_credits(1, 2, 8, 0, 8);
	st_needs_keep();
	st_queue(0, PARALLEL, 0, 0);
	st_queue(1, PARALLEL, 0, 0);
	st_start();
	assert_int_equal(st_fill(0, 0, 100), 8);
	assert_int_equal(st_get(0, held, 3), 3);
	assert_false(st_try_new(0, 0, 1, 1));
	burst[0] = held[0];
	burst[0].op = RTE_EVENT_OP_FORWARD;
	burst[0].queue_id = 1;
	burst[1] = st_event(RTE_EVENT_OP_NEW, 0, 1, 1);
	burst[2] = held[1];
	burst[2].op = RTE_EVENT_OP_FORWARD;
	burst[2].queue_id = 1;
	rte_errno = 0;
	assert_int_equal(weir_sched_enqueue(st_port(0), burst, 3), 1);
	assert_int_equal(rte_errno, ENOSPC);
	/* What was behind it is held still. */
	assert_int_equal(weir_sched_enqueue(st_port(0), &burst[2], 1), 1);
	assert_int_equal(weir_sched_enqueue(st_port(0), &burst[2], 1), 0);
	assert_int_equal(rte_errno, EINVAL);
	/* Devices see what is given up in the order in which it came. */
	if (!st_is_builtin())
		st_forward(0, held[2], 1);
	for (unsigned int i = 0; i < 1000; i++) {
		struct rte_event event = st_get_one(0);

		st_forward(0, event, (uint8_t)(i % 2));
	}
	/* Whatever leaves makes room for as much. */
	if (!st_is_builtin())
		held[2] = st_get_one(0);
	st_release(0, held[2]);
	assert_int_equal(st_fill(0, 0, 100), 1);
	assert_int_equal(st_get(0, held, 1), 1);
	st_release(0, held[0]);
	assert_int_equal(st_fill(0, 0, 100), 1);
	assert_int_equal(st_stats().nb_forwarded, st_is_builtin() ? 1002 : 1003);
}

/* What one port releases, another one can have: with the smallest of thresholds, too. */
static void
credits_go_round(uint32_t threshold, unsigned int nb_ports)
{
	struct rte_event event;

	st_make_credits(nb_ports, 1, 1024, 0, threshold);
	st_producer_on_device(0);
	st_start();
	for (uint64_t i = 0; i < 200; i++) {
		unsigned int out = 1 + (unsigned int)(i % (nb_ports - 1));

		if (!st_try_new(0, 0, (uint32_t)i, i))
			fail_msg("threshold %u, %u ports: nothing is inside, event %u is refused",
				threshold, nb_ports, (unsigned int)i);
		for (unsigned int tries = 0; st_get(out, &event, 1) == 0; tries++) {
			assert_true(tries < 100);
			if (!st_is_builtin())
				out = 1 + (out % (nb_ports - 1));
		}
		assert_int_equal(event.u64, i);
		st_release(out, event);
	}
	st_teardown(NULL);
}

static void
small_thresholds(void **state)
{
	for (uint32_t threshold = 1; threshold <= 256;
		threshold = threshold < 8 ? threshold + 1 : threshold * 2)
		for (unsigned int nb_ports = 2; nb_ports <= (st_is_builtin() ? 8 : 2);
			nb_ports += 3)
			credits_go_round(threshold, nb_ports);
}

/* So many are taken, wherever credits were before, once ports that released some found nothing to do; and never more. */
static void
threshold_exact_of(uint32_t threshold)
{
	for (unsigned int round = 0; round < 6; round++) {
		unsigned int in = round % 3, other = (round + 1) % 3, nb;

		nb = st_fill(in, 0, 10000);
		nb += st_fill(other, 0, 10000);
		assert_int_equal(nb, threshold);
		for (unsigned int i = 0; i < nb; i++) {
			unsigned int out = (round + i) % 3;

			st_release(out, st_get_one(out));
		}
		for (unsigned int port = 0; port < 3; port++)
			st_get_none(port);
	}
}

static void
threshold_exact(void **state)
{
	static const uint32_t thresholds[] = {1, 2, 10, 64, 100, 1000};

	st_builtin_only();
	for (unsigned int i = 0; i < RTE_DIM(thresholds); i++) {
		st_make_credits(3, 1, 1024, 0, thresholds[i]);
		st_queue(0, PARALLEL, 0, 0);
		st_start();
		threshold_exact_of(thresholds[i]);
		st_teardown(NULL);
	}
}

/* Each of them sends one; all go out by the last port, which finds nothing more then. */
static void
each_sends_one(unsigned int nb_producers)
{
	for (unsigned int i = 0; i < nb_producers; i++) {
		st_new(i, 0, i, i);
		st_release(nb_producers, st_get_one(nb_producers));
	}
	st_get_none(nb_producers);
}

/* Nothing is inside. What producers keep is little, and none once they ask for events, which they never get. */
static void
producers_keep_of(unsigned int nb_producers, uint32_t threshold)
{
	struct rte_event event;
	unsigned int nb;

	st_make_credits(nb_producers + 1, 1, 4096, 0, threshold);
	for (unsigned int i = 0; i < nb_producers; i++)
		assert_int_equal(weir_sched_port_setup(st_sched, i,
					 &(struct weir_sched_port_config){.producer = true}),
			0);
	st_start();
	each_sends_one(nb_producers);
	nb = st_fill(0, 0, 10000);
	if (nb < threshold - threshold / 4)
		fail_msg("%u producers: %u of %u credits can be had", nb_producers, nb, threshold);
	st_empty(nb_producers + 1);
	each_sends_one(nb_producers);
	for (unsigned int i = 0; i < nb_producers; i++)
		assert_int_equal(weir_sched_dequeue(st_port(i), &event, 1), 0);
	assert_int_equal(st_fill(nb_producers / 2, 0, 10000), threshold);
	st_teardown(NULL);
}

static void
producers_keep_little(void **state)
{
	static const uint32_t thresholds[] = {1, 4, 16, 63, 64, 256, 1023, 1024, 4096};

	st_builtin_only();
	for (unsigned int i = 0; i < RTE_DIM(thresholds); i++) {
		producers_keep_of(1, thresholds[i]);
		producers_keep_of(3, thresholds[i]);
		producers_keep_of(63, thresholds[i]);
	}
}

static void
reserve_at_threshold(void **state)
{
	struct rte_event event = st_event(RTE_EVENT_OP_NEW, 0, 3, 77);

	st_make_credits(1, 1, 64, 4, 0);
	st_start();
	for (unsigned int round = 0; round < 5; round++) {
		assert_int_equal(st_fill(0, 0, 1000), 60);
		assert_int_equal(weir_sched_reserve(st_sched, 3), 3);
		assert_int_equal(weir_sched_reserve(st_sched, 3), 1);
		assert_int_equal(weir_sched_reserve(st_sched, 1), 0);
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), 0);
		weir_sched_unreserve(st_sched, 1);
		assert_int_equal(weir_sched_reserve(st_sched, 5), 1);
		assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), 0);
		assert_int_equal(weir_sched_reserve(st_sched, 1), 0);
		assert_false(st_try_new(0, 0, 1, 1));
		st_empty(1);
	}
	assert_int_equal(st_stats().nb_new, 5 * 64);
	assert_int_equal(st_stats().nb_released, 5 * 64);
}

/* The credit is an event's own: it comes back when that leaves, however far it was forwarded. */
static void
reserved_forwarded(void **state)
{
	struct rte_event event = st_event(RTE_EVENT_OP_NEW, 0, 3, 77);

	st_make_credits(1, 2, 8, 1, 0);
	st_queue(0, ORDERED, 0, 0);
	st_start();
	for (unsigned int round = 0; round < 20; round++) {
		assert_int_equal(weir_sched_reserve(st_sched, 2), 1);
		event = st_event(RTE_EVENT_OP_NEW, 0, round, round);
		assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), 0);
		event = st_get_one(0);
		st_forward(0, event, 1);
		event = st_get_one(0);
		st_forward(0, event, 0);
		event = st_get_one(0);
		/* a device has room for all of them as long as others leave some */
		if (st_is_builtin())
			assert_int_equal(weir_sched_reserve(st_sched, 1), 0);
		st_release(0, event);
	}
	assert_int_equal(st_fill(0, 0, 100), 7);
}

static void
reserved_arguments(void **state)
{
	struct rte_event event = st_event(RTE_EVENT_OP_NEW, 2, 3, 77);

	st_make_credits(1, 2, 64, 4, 0);
	st_queue(1, WEIR_SCHED_TYPE_BY_EVENT, 0, 0);
	st_start();
	assert_int_equal(weir_sched_reserve(st_sched, UINT32_MAX), 4);
	assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), -EINVAL);
	event.queue_id = 255;
	assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), -EINVAL);
	event.queue_id = 1;
	event.sched_type = 3;
	assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), -EINVAL);
	assert_int_equal(weir_sched_enqueue_reserved(st_sched, NULL), -EINVAL);
	/* The credits are there still. */
	event.queue_id = 0;
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), 0);
	st_get_one(0);
}

/* Nothing was reserved, or more is given back than was: no more than nb_events are ever inside. */
static void
reserved_not(void **state)
{
	const struct rte_event event = st_event(RTE_EVENT_OP_NEW, 0, 3, 77);
	unsigned int nb = 0;

	st_make_credits(1, 1, 64, 4, 0);
	st_start();
	assert_int_equal(st_fill(0, 0, 1000), 60);
	for (unsigned int i = 0; i < 5000; i++)
		nb += weir_sched_enqueue_reserved(st_sched, &event) == 0;
	assert_in_range(nb, 0, 4);
	weir_sched_unreserve(st_sched, 1000);
	weir_sched_unreserve(st_sched, UINT32_MAX);
	assert_in_range(weir_sched_reserve(st_sched, 1000), 0, 4);
	st_empty(1);
	assert_int_equal(st_stats().nb_released, 60 + nb);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(new_prefix),
		TEST(forward_at_limit),
		TEST(small_thresholds),
		TEST(threshold_exact),
		TEST(producers_keep_little),
		TEST(reserve_at_threshold),
		TEST(reserved_forwarded),
		TEST(reserved_arguments),
		TEST(reserved_not),
	};

	return ST_RUN("sched-credit", tests);
}
