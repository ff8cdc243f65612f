/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Promises about time, of threads that do nothing: an event is where others can get it when the enqueue returns, whoever is idle
 * takes it within microseconds, and who does not come delays nobody. Times are tried until a try had the machine to itself.
 */

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <rte_lcore.h>
#include <rte_pause.h>

#include "sched_test.h"
#include "weir_base_sanitizer.h"

#define TRIES        200000
#define ENOUGH       100   /* good tries are enough */
#define SOON_NS      50000 /* "within microseconds" */
#define GIVE_UP_NS   5000000000
#define NB_RESERVERS 3
#define NB_RESERVED  4000

static bool quit;
static uint64_t seen_at; /* when the consumer had the last event */
static uint64_t nb_seen;

/* Dequeues and releases; yields now and then, for CPUs may be fewer than threads. */
static void *
consume(void *arg)
{
	unsigned int port = (unsigned int)(uintptr_t)arg, idle = 0;
	bool registered = rte_thread_register() == 0;
	struct rte_event events[8];

	while (!__atomic_load_n(&quit, __ATOMIC_RELAXED)) {
		uint16_t nb = weir_sched_dequeue(st_port(port), events, RTE_DIM(events));

		if (nb == 0) {
			if (++idle % 256 == 0)
				sched_yield();
			continue;
		}
		__atomic_store_n(&seen_at, weir_base_time_ns(), __ATOMIC_RELAXED);
		__atomic_fetch_add(&nb_seen, nb, __ATOMIC_RELEASE);
		for (uint16_t i = 0; i < nb; i++)
			events[i].op = RTE_EVENT_OP_RELEASE;
		CHECK(weir_sched_enqueue(st_port(port), events, nb) == nb);
	}
	if (registered)
		rte_thread_unregister();
	return NULL;
}

static void
start_consumer(pthread_t *thread, unsigned int port)
{
	__atomic_store_n(&quit, false, __ATOMIC_RELAXED);
	__atomic_store_n(&nb_seen, 0, __ATOMIC_RELAXED);
	assert_int_equal(pthread_create(thread, NULL, consume, (void *)(uintptr_t)port), 0);
}

static void
end_consumer(pthread_t thread)
{
	__atomic_store_n(&quit, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/* Since @since, until @nb were seen, 0 if they had been before; UINT64_MAX: never. Meanwhile port 0 is left alone, or asked for what it may not have. */
static uint64_t
time_until_seen_beside(uint64_t since, uint64_t nb, bool asks)
{
	struct rte_event event;
	uint64_t at;

	while (__atomic_load_n(&nb_seen, __ATOMIC_ACQUIRE) < nb) {
		if (weir_base_time_ns() - since > GIVE_UP_NS)
			return UINT64_MAX;
		if (asks)
			CHECK(weir_sched_dequeue(st_port(0), &event, 1) == 0);
		rte_pause();
	}
	at = __atomic_load_n(&seen_at, __ATOMIC_RELAXED);
	return at > since ? at - since : 0;
}

static uint64_t
time_until_seen(uint64_t since, uint64_t nb)
{
	return time_until_seen_beside(since, nb, false);
}

/* One event, enqueued by port 0, which does nothing any more: an idle port has it at once. */
static void
visible(unsigned int nb_ports, uint8_t type)
{
	unsigned int good = 0, tries;
	uint64_t best = UINT64_MAX;
	pthread_t consumer;

	st_make(st_config(nb_ports, 1));
	st_queue(0, type, 0, 0);
	st_producer_on_device(0);
	st_start();
	start_consumer(&consumer, nb_ports - 1);
	for (tries = 0; tries < TRIES && good < ENOUGH; tries++) {
		uint64_t since = weir_base_time_ns(), took;

		st_new(0, 0, tries, tries);
		took = time_until_seen(since, tries + 1);
		if (took == UINT64_MAX)
			break;
		best = RTE_MIN(best, took);
		good += took < SOON_NS;
		if (took >= SOON_NS && tries > ENOUGH)
			usleep(100); /* others want to run */
	}
	end_consumer(consumer);
	if (good < ENOUGH)
		fail_msg("%u ports, type %u: %u of %u events were seen in time; the fastest after "
			 "%" PRIu64 " ns",
			nb_ports, type, good, tries, best);
	st_teardown(NULL);
}

static void
visible_at_once(void **state)
{
	for (uint8_t type = 0; type < 3; type++)
		if (type != ORDERED || st_is_builtin())
			visible(2, type);
}

/* Ports 1 to 6 are nobody's. */
static void
visible_beside_idle_ports(void **state)
{
	st_builtin_only();
	for (uint8_t type = 0; type < 3; type++)
		visible(8, type);
}

/* Forwarded ones, too. */
static void
forwarded_visible(void **state)
{
	unsigned int good = 0, tries;
	pthread_t consumer;

	st_builtin_only();
	st_make(st_config(3, 2));
	st_queue(0, ATOMIC, 0, 1);
	st_queue(1, ATOMIC, 0, 2);
	st_group(1, 1);
	st_group(2, 4);
	st_keep(0);
	st_start();
	start_consumer(&consumer, 2);
	for (tries = 0; tries < TRIES && good < ENOUGH; tries++) {
		struct rte_event event;
		uint64_t since, took;

		st_new(1, 0, tries, tries);
		event = st_get_one(0);
		since = weir_base_time_ns();
		st_forward(0, event, 1);
		took = time_until_seen(since, tries + 1);
		if (took == UINT64_MAX)
			break;
		good += took < SOON_NS;
	}
	end_consumer(consumer);
	assert_int_equal(good, ENOUGH);
}

/* Who forwards an event and does nothing any more has its flow no longer: the next event of it goes to others. */
static void
forwarded_flow_goes_on(void **state)
{
	uint64_t last_good = weir_base_time_ns();
	unsigned int good = 0, tries;
	pthread_t consumer;

	st_builtin_only();
	st_make(st_config(2, 2));
	st_start();
	start_consumer(&consumer, 1);
	/*
	 * By time: others are often quicker than port 0, all the more where a sanitizer or somebody else slows it down. When a try is over, the
	 * other thread has a CPU: it is no time to leave this one.
	 */
	for (tries = 0; good < ENOUGH; tries++) {
		struct rte_event event;
		uint64_t since, took;
		bool had;

		/* it is there: its events are left to it for a while */
		assert_int_equal(weir_sched_dequeue(st_port(0), &event, 1), 0);
		st_new(0, 0, tries % 16, 2 * tries);
		st_new(0, 0, tries % 16, 2 * tries + 1);
		had = weir_sched_dequeue(st_port(0), &event, 1) == 1;
		since = weir_base_time_ns();
		if (had)
			st_forward(0, event, 1);
		took = time_until_seen(since, 2 * (uint64_t)tries + 2);
		if (took == UINT64_MAX || since - last_good > 4 * GIVE_UP_NS)
			break;
		/* it has to be seen first that port 0 does not come */
		if (had && took < 5 * SOON_NS) {
			good++;
			last_good = since;
		}
	}
	end_consumer(consumer);
	assert_int_equal(good, ENOUGH);
}

/* @ports: those whose group the queue is for, as a mask; the first one works */
static double
pass_rate(unsigned int nb_ports, uint64_t ports)
{
	struct rte_event events[16];
	uint64_t began, best = UINT64_MAX;

	st_make(st_config(nb_ports, 1));
	st_queue(0, ATOMIC, 0, 1);
	st_group(1, ports);
	st_start();
	for (unsigned int round = 0; round < 30; round++) {
		began = weir_base_time_ns();
		for (unsigned int i = 0; i < 200; i++) {
			for (unsigned int n = 0; n < 16; n++)
				events[n] = st_event(RTE_EVENT_OP_NEW, 0, i + n, n);
			assert_int_equal(weir_sched_enqueue(st_port(0), events, 16), 16);
			for (unsigned int got = 0, idle = 0; got < 16; idle++) {
				got += weir_sched_dequeue(st_port(0), events, 16);
				assert_true(idle < 1000000);
			}
		}
		best = RTE_MIN(best, weir_base_time_ns() - began);
	}
	st_teardown(NULL);
	return 200 * 16 * 1e9 / (double)best;
}

/* Ports that have nothing to do with a queue, whatever their threads do: its own port is as fast as alone. */
static void
idle_ports_cost_nothing(void **state)
{
	double alone = 0, among = 0;

	st_builtin_only();
	for (unsigned int tries = 0; tries < 20; tries++) {
		alone = pass_rate(1, 1);
		among = pass_rate(16, 1);
		if (among > alone * 0.7)
			return;
	}
	fail_msg("%.1f Mev/s alone, %.1f with 15 idle ports", alone / 1e6, among / 1e6);
}

/* Of 16 ports one is polled: 15 of 16 flows are others', and are served all the same, if slower: each of their shards is locked for it. */
static void
one_port_does_for_all(void **state)
{
	double alone = 0, all = 0;

	st_builtin_only();
	for (unsigned int tries = 0; tries < 20; tries++) {
		alone = pass_rate(1, 1);
		all = pass_rate(16, 0xffff);
		if (all > alone / 20)
			return;
	}
	fail_msg("%.1f Mev/s alone, %.1f where 15 of 16 ports are not polled", alone / 1e6,
		all / 1e6);
}

/* UINT64_MAX: it is not counted. */
static uint64_t
port_xstat(unsigned int port, const char *name)
{
	struct weir_sched_xstat xstats[64];
	int nb = weir_sched_xstats(st_sched, WEIR_SCHED_PART_PORT, port, xstats, RTE_DIM(xstats));

	for (int i = 0; i < nb; i++)
		if (strcmp(xstats[i].name, name) == 0)
			return xstats[i].value;
	return UINT64_MAX;
}

/* Of events enqueued against reserved credits, one by one, how long each took until a thread that has nothing to do had it. */
static void
time_reserved(uint64_t *took, unsigned int nb, uint64_t *nb_sent, bool asks)
{
	for (uint32_t i = 0; i < nb; i++) {
		const struct rte_event event = st_event(RTE_EVENT_OP_NEW, 0, i, i);
		uint64_t since;

		while (weir_sched_reserve(st_sched, 1) == 0)
			rte_pause();
		since = weir_base_time_ns();
		CHECK(weir_sched_enqueue_reserved(st_sched, &event) == 0);
		took[i] = time_until_seen_beside(since, ++*nb_sent, asks);
	}
}

static int
by_time(const void *a, const void *b)
{
	const uint64_t *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

#if defined(WEIR_BASE_ASAN) || defined(WEIR_BASE_TSAN)
#define MOST_WAIT_NS SOON_NS
#else
#define MOST_WAIT_NS 10000
#endif

/*
 * They do not wait for a port that has nothing to do, also if it is theirs: of 500, nine in ten have no time to wait for anything, and no
 * more than 3 take long.
 *
 * @asks: port 0 is asked all the time. Half of the flows are its, though their group does without it by now.
 */
static void
reserved_beside(bool asks)
{
	struct weir_sched_config config = st_config(2, 1);
	uint64_t took[500], p90 = UINT64_MAX, last = UINT64_MAX, nb_sent = 0;
	pthread_t consumer;

	config.nb_reserved = 16;
	st_make(config);
	st_queue(0, ATOMIC, 0, 1);
	st_group(1, 3);
	st_start();
	if (port_xstat(1, "looks_elsewhere") == UINT64_MAX)
		st_skip("one lock for all");
	start_consumer(&consumer, 1);
	time_reserved(took, 1, &nb_sent, false);
	st_group(1, 2);
	for (unsigned int round = 0; round < 200; round++) {
		time_reserved(took, RTE_DIM(took), &nb_sent, asks);
		qsort(took, RTE_DIM(took), sizeof(took[0]), by_time);
		p90 = RTE_MIN(p90, took[RTE_DIM(took) * 9 / 10]);
		last = RTE_MIN(last, took[RTE_DIM(took) - 4]);
		if (p90 <= MOST_WAIT_NS && last <= SOON_NS)
			break;
		usleep(1000); /* others want to run */
	}
	end_consumer(consumer);
	if (p90 > MOST_WAIT_NS || last > SOON_NS)
		fail_msg("port 0 %s: at best 90 %% in %" PRIu64 " ns, all but 3 in %" PRIu64 " ns",
			asks ? "asks" : "is nobody's", p90, last);
	st_teardown(NULL);
}

static void
reserved_visible(void **state)
{
	st_builtin_only();
	reserved_beside(false);
	reserved_beside(true);
}

#define AWAKE_NS 2000000 /* a sleep would last 500 ms, */
#define SLEPT_NS 450000000
#define SLEPT_MOST                                                                                 \
	10 /* and was not ended by anybody so often: that is no loaded machine any more */

/* Was it woken at once? @nb_slept: how often it was not woken at all. */
static bool
was_woken(uint64_t took, unsigned int *nb_slept)
{
	*nb_slept += took >= SLEPT_NS;
	return took < AWAKE_NS;
}

static uint64_t nb_sleeps; /* of port 1, when it was waited for last */

/* Of two ports, of which port 1 is asked by a thread that sleeps when there is nothing. */
static void
make_sleeper(pthread_t *consumer)
{
	struct weir_sched_config config = st_config(2, 1);

	st_builtin_only();
	config.idle_sleep_us = 500000;
	st_make(config);
	st_queue(0, ATOMIC, 0, 1);
	st_group(1, 3);
	st_keep(0);
	st_start();
	if (port_xstat(1, "sleeps") == UINT64_MAX)
		st_skip("nobody sleeps here");
	nb_sleeps = 0;
	start_consumer(consumer, 1);
}

/* It has gone to sleep since this was called last, or may have several times. */
static void
wait_until_asleep(void)
{
	uint64_t since = weir_base_time_ns();

	while (port_xstat(1, "sleeps") == nb_sleeps) {
		assert_true(weir_base_time_ns() - since < GIVE_UP_NS);
		usleep(500);
	}
	usleep(2000);
	nb_sleeps = port_xstat(1, "sleeps");
}

/* Who found nothing sleeps, and is woken at once, also by what is for port 0, which is at work and does not come. */
static void
sleepers_are_woken(void **state)
{
	unsigned int good[8] = {0}, nb_good = 0, nb_slept = 0;
	pthread_t consumer;

	make_sleeper(&consumer);
	for (unsigned int tries = 0;
		tries < 4000 && nb_good < 5 * RTE_DIM(good) && nb_slept < SLEPT_MOST; tries++) {
		uint32_t flow = tries % RTE_DIM(good);
		uint64_t since;

		if (good[flow] == 5)
			flow = nb_good / 5;
		wait_until_asleep();
		since = weir_base_time_ns();
		st_new(0, 0, flow, tries);
		if (was_woken(time_until_seen(since, tries + 1), &nb_slept) && good[flow] < 5) {
			good[flow]++;
			nb_good++;
		}
	}
	end_consumer(consumer);
	for (unsigned int flow = 0; flow < RTE_DIM(good); flow++)
		if (good[flow] < 5)
			fail_msg("flow %u: woken in time %u times of 5; slept through %u times",
				flow, good[flow], nb_slept);
}

/* By what a group waited for, and by a flow that nobody holds any more, too. */
static void
sleepers_get_what_is_free(void **state)
{
	unsigned int good[2] = {0}, nb_slept[2] = {0};
	uint64_t nb = 0, since;
	pthread_t consumer;

	make_sleeper(&consumer);
	for (unsigned int tries = 0; tries < 1000 && good[0] < 5 && nb_slept[0] < SLEPT_MOST;
		tries++) {
		st_group(1, 0);
		st_new(0, 0, tries, tries);
		wait_until_asleep();
		since = weir_base_time_ns();
		st_group(1, 2);
		good[0] += was_woken(time_until_seen(since, ++nb), &nb_slept[0]);
	}
	for (unsigned int tries = 0; tries < 1000 && good[1] < 5 && nb_slept[1] < SLEPT_MOST;
		tries++) {
		struct rte_event event;

		st_group(1, 1);
		st_new(0, 0, tries, tries);
		event = st_get_one(0);
		st_new(0, 0, tries, tries);
		st_group(1, 2);
		wait_until_asleep();
		since = weir_base_time_ns();
		st_release(0, event);
		good[1] += was_woken(time_until_seen(since, ++nb), &nb_slept[1]);
	}
	end_consumer(consumer);
	if (good[0] < 5 || good[1] < 5)
		fail_msg("woken in time by a group %u, by a flow %u times of 5; slept through %u, "
			 "%u "
			 "times",
			good[0], good[1], nb_slept[0], nb_slept[1]);
}

/* 200 low ones and 16 high ones of many flows; how many high ones are among the next @nb that port 0 gets. */
static unsigned int
high_among(unsigned int slack_ns, unsigned int nb)
{
	struct weir_sched_config config = st_config(2, 2);
	unsigned int nb_high = 0;

	config.priority_slack_ns = slack_ns;
	st_make(config);
	st_queue(0, ATOMIC, 0, 0);
	st_queue(1, ATOMIC, 7, 0);
	st_start();
	for (uint32_t i = 0; i < 200; i++)
		st_new(0, 1, i, i);
	for (uint32_t i = 0; i < 16; i++)
		st_new(0, 0, i, i);
	for (unsigned int i = 0; i < nb; i++)
		nb_high += st_get_one(0).queue_id == 0;
	return nb_high;
}

/* High ones whose flows are another port's are left to it for as long as was said. */
static void
slack_is_kept(void **state)
{
	unsigned int nb_high;

	st_builtin_only();
	assert_int_equal(high_among(0, 16), 16);
	st_teardown(NULL);
	nb_high = high_among(4000000000, 32);
	if (port_xstat(0, "sleeps") == UINT64_MAX)
		st_skip("priorities have no slack here");
	assert_in_range(nb_high, 1, 15);
	for (; nb_high < 16; nb_high++)
		assert_int_equal(st_get_one(1).queue_id, 0);
	assert_int_equal(st_get_one(1).queue_id, 1);
	st_teardown(NULL);
	/* It is over before the low ones are. */
	assert_int_equal(high_among(1000, 200), 16);
}

static void *
send_reserved(void *arg)
{
	uint32_t flow = (uint32_t)(uintptr_t)arg;

	for (unsigned int sent = 0; sent < NB_RESERVED;) {
		const struct rte_event event = st_event(RTE_EVENT_OP_NEW, 0, flow, sent);

		if (weir_sched_reserve(st_sched, 1) == 0) {
			sched_yield();
			continue;
		}
		/* Whatever is inside by now: it is not refused. */
		CHECK(weir_sched_enqueue_reserved(st_sched, &event) == 0);
		sent++;
	}
	return NULL;
}

/* Of threads that have no port, while ports fill the scheduler up. */
static void
reserved_by_any_thread(void **state)
{
	uint64_t next[NB_RESERVERS] = {0}, until = weir_base_time_ns() + GIVE_UP_NS * 4;
	unsigned int got = 0, nb_ports = 2;
	pthread_t threads[NB_RESERVERS];
	struct rte_event event;

	st_make((struct weir_sched_config){.nb_ports = nb_ports,
		.nb_queues = 1,
		.nb_events = 64,
		.nb_reserved = 8,
		.nb_flows = 64});
	st_producer_on_device(0);
	st_start();
	for (uintptr_t i = 0; i < NB_RESERVERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, send_reserved, (void *)i), 0);
	while (got < NB_RESERVERS * NB_RESERVED) {
		if (weir_base_time_ns() > until)
			st_abort();
		while (st_try_new(0, 0, NB_RESERVERS, 0)) /* up to the threshold */
			;
		if (weir_sched_dequeue(st_port(1), &event, 1) == 0 || event.flow_id == NB_RESERVERS)
			continue;
		assert_int_equal(event.u64, next[event.flow_id]++);
		got++;
	}
	for (unsigned int i = 0; i < NB_RESERVERS; i++)
		pthread_join(threads[i], NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(visible_at_once),
		TEST(visible_beside_idle_ports),
		TEST(forwarded_visible),
		TEST(forwarded_flow_goes_on),
		TEST(reserved_visible),
		TEST(idle_ports_cost_nothing),
		TEST(one_port_does_for_all),
		TEST(sleepers_are_woken),
		TEST(sleepers_get_what_is_free),
		TEST(slack_is_kept),
		TEST(reserved_by_any_thread),
	};

	return ST_RUN("sched-promise", tests);
}
