/* SPDX-License-Identifier: BSD-3-Clause */

/* Timers on several cores: many timeouts, cancelled about when they fire, armed by all. */

#include <sched.h>

#include "em_test.h"

#include "weir_em_timer.h"

#define MS         UINT64_C(1000000)
#define NB_WORKERS 3
#define NB_MANY    100000

static weir_em_timer timer;
static weir_em_queue queue;
static weir_em_timeout *timeouts;

/* Of each timeout: when it is due; how often it was received. */
static uint64_t *due;
static uint8_t *received;
static uint64_t nb_received, nb_early;

static void
receive(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue from, void *queue_context)
{
	uint64_t now = weir_em_timer_now_ns();

	for (uint16_t i = 0; i < nb; i++) {
		uint64_t number = events[i].u64;

		CHECK(number < NB_MANY);
		__atomic_fetch_add(&received[number], 1, __ATOMIC_RELAXED);
		if (now < __atomic_load_n(&due[number], __ATOMIC_RELAXED))
			__atomic_fetch_add(&nb_early, 1, __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&nb_received, nb, __ATOMIC_RELEASE);
}

static void
make(weir_em_receive_t function, uint32_t nb)
{
	et_make((struct weir_em_config){.nb_queues = 64,
		.nb_cores = NB_WORKERS + 1,
		.nb_events = nb > 1000 ? 1 << 18 : 4096,
		.nb_reserved = nb > 1000 ? 1 << 17 : 2048,
		.nb_timeouts = nb});
	timer = weir_em_timer_create(et_em, &(struct weir_em_timer_config){.name = "test"});
	assert_int_not_equal(timer, WEIR_EM_NONE);
	queue = et_serve("timeouts", WEIR_EM_QUEUE_PARALLEL, function, NULL);
	for (uint32_t i = 0; i < nb; i++) {
		timeouts[i] = weir_em_timeout_create(et_em, timer, queue);
		assert_int_not_equal(timeouts[i], WEIR_EM_NONE);
	}
	memset(received, 0, NB_MANY);
	memset(due, 0, NB_MANY * sizeof(*due));
	nb_received = nb_early = 0;
}

static void
step(void)
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 1};

	weir_em_dispatch(et_core, &once);
}

static struct weir_em_timer_stats
stats_now(void)
{
	struct weir_em_timer_stats stats;

	assert_int_equal(weir_em_timer_stats(et_em, timer, &stats), 0);
	return stats;
}

static int
arm(uint32_t number, uint64_t when_ns)
{
	struct rte_event event = weir_em_event_u64(number);

	__atomic_store_n(&due[number], when_ns, __ATOMIC_RELAXED);
	return weir_em_timeout_arm_at(
		et_em, number % 2 ? et_core : NULL, timeouts[number], when_ns, &event);
}

/* All are armed before the first is due; a third of them, of any time, is cancelled. */
static void
many(void **state)
{
	uint64_t start, nb_cancelled = 0, span = 500 * MS;
	struct weir_em_timer_stats stats;
	struct rte_event event;

	st_builtin_only();
	make(receive, NB_MANY);
	start = weir_em_timer_now_ns() + 100 * MS;
	for (uint32_t i = 0; i < NB_MANY; i++)
		assert_int_equal(arm(i, start + i * UINT64_C(2654435761) % span), 0);
	assert_true(stats_now().nb_armed == NB_MANY);
	et_workers_begin(NB_WORKERS);
	for (uint32_t i = 0; i < NB_MANY; i += 3) {
		int rc = weir_em_timeout_cancel(et_em, timeouts[i], &event);

		assert_true(rc == 0 || rc == -EALREADY);
		if (rc == 0) {
			assert_int_equal(event.u64, i);
			assert_int_equal(__atomic_fetch_add(&received[i], 1, __ATOMIC_RELAXED), 0);
			nb_cancelled++;
		}
	}
	et_wait(&nb_received, NB_MANY - nb_cancelled, "timeouts");
	et_workers_end();
	for (uint32_t i = 0; i < NB_MANY; i++)
		assert_int_equal(received[i], 1);
	assert_int_equal(nb_early, 0);
	stats = stats_now();
	assert_int_equal(stats.nb_fired, NB_MANY - nb_cancelled);
	assert_int_equal(stats.nb_cancelled, nb_cancelled);
	assert_int_equal(stats.late_ns.count, stats.nb_fired);
	et_check_sums();
}

/* All of one moment: a core has them in pieces, other work goes on in between. */
static void
all_at_once(void **state)
{
	uint64_t when, other = 0;

	st_builtin_only();
	make(receive, NB_MANY);
	when = weir_em_timer_now_ns() + 50 * MS;
	for (uint32_t i = 0; i < NB_MANY; i++)
		assert_int_equal(arm(i, when), 0);
	while (nb_received < NB_MANY) {
		uint64_t before = nb_received;

		step();
		assert_true(nb_received - before <= 64);
		other++;
	}
	assert_true(other >= NB_MANY / 64);
	assert_int_equal(nb_early, 0);
}

/* Cancelled about when they fire; armed again at once. What is said is what comes. */
static void
cancelled_when_due(void **state)
{
	uint64_t nb_rounds = 0, nb_cancelled = 0, nb_too_late = 0, until;
	unsigned int tries = 0;

	make(receive, 8);
	et_workers_begin(NB_WORKERS);
	/* until both have been seen, in number */
	do {
		until = weir_base_time_ns() + (uint64_t)(st_seconds(0.3) * 1e9);
		while (weir_base_time_ns() < until) {
			uint32_t number = nb_rounds % 8;
			uint64_t when = weir_em_timer_now_ns() + nb_rounds % 40 * 100;
			struct rte_event event;
			int rc;

			assert_int_equal(arm(number, when), 0);
			while (weir_em_timer_now_ns() < when)
				;
			rc = weir_em_timeout_cancel(et_em, timeouts[number], &event);
			assert_true(rc == 0 || rc == -EALREADY);
			if (rc == 0) {
				assert_int_equal(event.u64, number);
				nb_cancelled++;
			} else {
				nb_too_late++;
				et_wait(&nb_received, nb_too_late, "timeouts that had fired");
			}
			nb_rounds++;
			assert_int_equal(
				__atomic_load_n(&nb_received, __ATOMIC_ACQUIRE), nb_too_late);
		}
	} while ((nb_cancelled < 10 || nb_too_late < 10) && ++tries < 50);
	assert_true(nb_cancelled >= 10 && nb_too_late >= 10);
	et_run();
	et_workers_end();
	assert_int_equal(nb_received, nb_too_late);
	assert_int_equal(nb_early, 0);
	assert_int_equal(stats_now().nb_armed, nb_rounds);
	assert_int_equal(stats_now().nb_fired, nb_too_late);
	assert_int_equal(stats_now().nb_cancelled, nb_cancelled);
}

/* ---- several threads at the same timeouts ---- */

#define NB_SHARED 4

static uint64_t nb_armed, nb_taken;
static bool over;

static void *
meddle(void *arg)
{
	uint64_t seed = (uintptr_t)arg;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		uint32_t number =
			(uint32_t)((seed = seed * 6364136223846793005u + 1) >> 33) % NB_SHARED;
		struct rte_event event = weir_em_event_u64(number);
		int rc;

		if ((seed >> 40) % 3 != 0) {
			rc = weir_em_timeout_arm_in(
				et_em, NULL, timeouts[number], (seed >> 45) % 20000, &event);
			CHECK(rc == 0 || rc == -EBUSY || rc == -ENOSPC);
			__atomic_fetch_add(&nb_armed, rc == 0, __ATOMIC_RELAXED);
		} else {
			rc = weir_em_timeout_cancel(et_em, timeouts[number], &event);
			CHECK(rc == 0 || rc == -EALREADY);
			CHECK(rc != 0 || event.u64 == number);
			__atomic_fetch_add(&nb_taken, rc == 0, __ATOMIC_RELAXED);
		}
		if ((seed >> 50) % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static void
all_at_the_same(void **state)
{
	const struct weir_em_dispatch_options options = {
		.duration_ns = (uint64_t)(st_seconds(0.4) * 1e9), .idle = WEIR_EM_IDLE_YIELD};
	pthread_t threads[2];
	struct weir_em_timer_stats stats;

	make(receive, NB_SHARED);
	nb_armed = nb_taken = 0;
	over = false;
	et_workers_begin(NB_WORKERS);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, meddle, (void *)(uintptr_t)(i + 1)), 0);
	/* for a while, and until each of the three has happened */
	do
		weir_em_dispatch(et_core, &options);
	while (__atomic_load_n(&nb_armed, __ATOMIC_RELAXED) == 0 ||
		__atomic_load_n(&nb_taken, __ATOMIC_RELAXED) == 0 ||
		__atomic_load_n(&nb_received, __ATOMIC_RELAXED) == 0);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	et_wait(&nb_received, nb_armed - nb_taken, "timeouts");
	et_run();
	et_workers_end();
	stats = stats_now();
	assert_int_equal(stats.nb_armed, nb_armed);
	assert_int_equal(stats.nb_cancelled, nb_taken);
	assert_int_equal(stats.nb_fired, nb_received);
}

/* ---- periods ---- */

static uint64_t nb_periods, nb_missed, last_index[8], period_start;

#define PERIOD 200000

/* Acknowledged by whatever core received it; the grid is kept. */
static void
periodically(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue from, void *queue_context)
{
	uint64_t number = events[0].u64, overruns, index;
	struct weir_em_timeout_info info;
	int rc;

	CHECK(weir_em_timeout_info(et_em, timeouts[number], &info) == 0);
	CHECK((info.due_ns - period_start) % PERIOD == 0);
	index = (info.due_ns - period_start) / PERIOD;
	CHECK(__atomic_exchange_n(&last_index[number], index + 1, __ATOMIC_RELAXED) <= index);
	if (index % 5 == number)
		sched_yield();
	rc = weir_em_timeout_ack(et_em, core, timeouts[number], &events[0], &overruns);
	if (rc == -ECANCELED)
		return;
	CHECK(rc == 0);
	__atomic_fetch_add(&nb_missed, overruns, __ATOMIC_RELAXED);
	__atomic_fetch_add(&nb_periods, 1, __ATOMIC_RELEASE);
}

static void
periods(void **state)
{
	uint64_t wanted, sum = 0;

	make(periodically, 8);
	memset(last_index, 0, sizeof(last_index));
	nb_periods = nb_missed = 0;
	period_start = weir_em_timer_now_ns() + 10 * MS;
	for (unsigned int i = 0; i < 8; i++) {
		struct rte_event event = weir_em_event_u64(i);

		assert_int_equal(weir_em_timeout_arm_periodic(
					 et_em, NULL, timeouts[i], period_start, PERIOD, &event),
			0);
	}
	et_workers_begin(NB_WORKERS);
	/* for a while, and until the last one is where it should be by then */
	while (weir_em_timer_now_ns() < period_start + 200 * MS)
		step();
	wanted = (weir_em_timer_now_ns() - period_start) / PERIOD;
	for (unsigned int i = 0; i < 8; i++) {
		uint64_t begun = weir_base_time_ns();

		while (__atomic_load_n(&last_index[i], __ATOMIC_RELAXED) < wanted) {
			step();
			assert_true(weir_base_time_ns() - begun < 60000 * MS);
		}
	}
	et_workers_end();
	for (unsigned int i = 0; i < 8; i++) {
		struct rte_event event;
		int rc = weir_em_timeout_cancel(et_em, timeouts[i], &event);

		assert_true(rc == 0 || rc == -EALREADY);
	}
	et_run();
	/* each of its times up to the last was armed, or counted as missed */
	for (unsigned int i = 0; i < 8; i++) {
		struct weir_em_timeout_info info;

		assert_int_equal(weir_em_timeout_info(et_em, timeouts[i], &info), 0);
		sum += (info.due_ns - period_start) / PERIOD;
	}
	assert_int_equal(nb_periods + nb_missed, sum);
	assert_int_equal(stats_now().nb_overruns, nb_missed);
	assert_true(nb_periods > 0);
}

/* A core is busy for long: others see to what was armed there. */
static uint64_t busy, is_busy;

static void
be_busy(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue from, void *queue_context)
{
	struct rte_event event = weir_em_event_u64(0);

	CHECK(weir_em_timeout_arm_in(et_em, core, timeouts[0], MS, &event) == 0);
	__atomic_store_n(&is_busy, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&busy, __ATOMIC_ACQUIRE) != 0)
		sched_yield();
}

static void
others_help(void **state)
{
	weir_em_queue busy_queue;

	st_builtin_only();
	make(receive, 4);
	busy_queue = et_serve("busy", WEIR_EM_QUEUE_PARALLEL, be_busy, NULL);
	et_workers_begin(NB_WORKERS);
	__atomic_store_n(&busy, 1, __ATOMIC_RELEASE);
	is_busy = 0;
	et_send(busy_queue, 0);
	/* not this core: it would be busy itself */
	while (__atomic_load_n(&is_busy, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	et_wait(&nb_received, 1, "timeout of a core that is busy");
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
	et_run();
	et_workers_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(many),
		ET_TEST(all_at_once),
		ET_TEST(cancelled_when_due),
		ET_TEST(all_at_the_same),
		ET_TEST(periods),
		ET_TEST(others_help),
	};
	int rc;

	timeouts = calloc(NB_MANY, sizeof(*timeouts));
	due = calloc(NB_MANY, sizeof(*due));
	received = calloc(NB_MANY, sizeof(*received));
	rc = ST_RUN("em-timer_race", tests);
	free(timeouts);
	free(due);
	free(received);
	return rc;
}
