/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many coroutines, resumed in random order by several threads: each one moves between them all the time and
 * looks after all that is its own. Compiled twice: for plain threads, and with ON_LCORES for EAL's.
 */
#include "../base/random.h"
#include "coro_test.h"

#include <pthread.h>
#include <sched.h>

#if defined(WITH_VALGRIND)
#include <valgrind/valgrind.h>
#endif

#if defined(ON_LCORES)
#include "eal.h"
#include "weir_coro_dpdk.h"
#endif

#define THREADS 4
#define TURNS   60

/*
 * ASan holds all of them, and takes ten times as long. To TSan each is a fiber: clang's has no limit but memory and time, and takes 60 KB for each, 6 GB
 * and a minute for all; gcc's ends at 8128 threads and fibers that live at a time.
 * valgrind goes through a list of all stacks at switches, so its time grows with their square: half an hour for all.
 */
#define COROUTINES          100000
#define COROUTINES_QUICK    20000 /* unless there is time: WEIR_TEST_LONG */
#define COROUTINES_TSAN     16000 /* likewise */
#define COROUTINES_GCC      2000
#define COROUTINES_VALGRIND 4000

/* A thread, as coroutines see it that it resumes. */
struct worker {
	pthread_t thread;
	int *errno_address;
	int errno_value;
	unsigned int lcore; /* on lcores */
	int *rte_errno_address;
	int rte_errno_value;
	uint64_t random;
	uint64_t resumes;
};

/* A coroutine, in its own parameters. */
struct record {
	struct weir_coro *self;
	uint32_t number;
	const struct worker *worker; /* that resumes it now */
	unsigned int moves;          /* to another thread */
};

static struct worker workers[THREADS];
static struct weir_coro **slots; /* NULL while one of the threads has it */
static size_t nb_coroutines;
static size_t nb_left;
static uint64_t nb_moves;
static unsigned int slot;

/* One step of each number that a coroutine carries along: written once, for the coroutine and for the reference. */
static inline __attribute__((always_inline)) void
step(uint64_t *whole, double *real, long double *longer, unsigned int turn)
{
	for (unsigned int i = 0; i < 8; i++) {
		whole[i] = whole[i] * 6364136223846793005u + i + turn;
		real[i] = real[i] * 0.75 + 1.0 / (double)(turn + i + 1);
	}
	*longer = *longer * 0.5L + 1.0L / (long double)(turn + 3);
}

static inline __attribute__((always_inline)) void
begin(uint64_t *whole, double *real, long double *longer, uint32_t number)
{
	for (unsigned int i = 0; i < 8; i++) {
		whole[i] = number * 31u + i;
		real[i] = number + i * 0.125;
	}
	*longer = number;
}

/* What DPDK keeps for each thread. Inlined, so that a compiler can keep what it should not. */
static inline __attribute__((always_inline)) void
look_around_dpdk(const struct worker *worker)
{
#if defined(ON_LCORES)
	CHECK(weir_coro_lcore_id() == worker->lcore);
	CHECK(weir_coro_rte_errno() == worker->rte_errno_address);
	CHECK(*weir_coro_rte_errno() == worker->rte_errno_value);
#if defined(__x86_64__) /* as weir_coro_dpdk.h says */
	CHECK(rte_lcore_id() == worker->lcore && rte_errno == worker->rte_errno_value);
#endif
#endif
}

/* Where is it, and is all that a thread has that thread's? */
static inline __attribute__((always_inline)) void
look_around(struct record *record)
{
	const struct worker *worker = __atomic_load_n(&record->worker, __ATOMIC_RELAXED);

	CHECK(weir_coro_self() == record->self);
	CHECK(weir_coro_self_in_param(sizeof(*record)) == record);
	CHECK(weir_coro_self_id() == weir_coro_id(record->self));
	CHECK(weir_coro_local_get(slot) == record);
	CHECK(weir_coro_errno() == worker->errno_address);
	CHECK(*weir_coro_errno() == worker->errno_value);
	look_around_dpdk(worker);
}

static void
carries_along(void)
{
	struct record *record = weir_coro_self_in_param(sizeof(*record));
	uint64_t whole[8], whole_expected[8];
	double real[8], real_expected[8];
	long double longer, longer_expected;
	const struct worker *before;

	CHECK(weir_coro_local_set(slot, record) == 0);
	begin(whole, real, &longer, record->number);
	for (unsigned int turn = 0; turn < TURNS; turn++) {
		step(whole, real, &longer, turn);
		before = record->worker;
		look_around(record);
		CHECK(!((turn + record->number) % 3 == 0 ? weir_coro_maybe_yield()
							 : weir_coro_yield()));
		look_around(record);
		record->moves += record->worker != before;
	}
	begin(whole_expected, real_expected, &longer_expected, record->number);
	for (unsigned int turn = 0; turn < TURNS; turn++)
		step(whole_expected, real_expected, &longer_expected, turn);
	for (unsigned int i = 0; i < 8; i++)
		CHECK(whole[i] == whole_expected[i] && real[i] == real_expected[i]);
	CHECK(longer == longer_expected);
	*(uint64_t *)weir_coro_self_out_param(8) = whole[0] ^ whole[7];
}

static void
create(size_t index)
{
	struct weir_coro *coro = made(carries_along);
	struct record *record = weir_coro_in_param(coro, sizeof(*record));

	*record = (struct record){.self = coro, .number = (uint32_t)index};
	slots[index] = coro;
}

/* Resume one of them, nobody else's at this time. @return has it exited? */
static bool
resume_one(struct worker *worker, struct weir_coro *coro)
{
	struct record *record = weir_coro_in_param(coro, sizeof(*record));
	double real = (double)worker->resumes * 1.5;

	__atomic_store_n(&record->worker, worker, __ATOMIC_RELAXED);
	errno = worker->errno_value;
#if defined(ON_LCORES)
	rte_errno = worker->rte_errno_value;
#endif
	weir_coro_resume(coro);
	/* The thread's own things, too. */
	CHECK(real == (double)worker->resumes * 1.5 && weir_coro_self() == NULL);
	worker->resumes++;
	if (!weir_coro_has_exited(coro))
		return false;
	__atomic_fetch_add(&nb_moves, record->moves, __ATOMIC_RELAXED);
	CHECK(*(uint64_t *)weir_coro_out_param(coro, 8) != 0);
	CHECK(weir_coro_resume_count(coro) == TURNS + 1);
	CHECK(weir_coro_destroy(coro) == 0);
	return true;
}

static void
work(struct worker *worker)
{
	worker->errno_address = &errno;
	while (__atomic_load_n(&nb_left, __ATOMIC_RELAXED) > 0) {
		size_t index = random_next(&worker->random) % nb_coroutines;
		struct weir_coro *coro = __atomic_exchange_n(&slots[index], NULL, __ATOMIC_ACQUIRE);

		/* Random ones until few are left: then whichever comes next. */
		for (size_t i = 0; coro == NULL && i < nb_coroutines; i++) {
			index = (index + 1) % nb_coroutines;
			if (__atomic_load_n(&slots[index], __ATOMIC_RELAXED) != NULL)
				coro = __atomic_exchange_n(&slots[index], NULL, __ATOMIC_ACQUIRE);
		}
		if (coro == NULL)
			continue;
		if (resume_one(worker, coro))
			__atomic_fetch_sub(&nb_left, 1, __ATOMIC_RELAXED);
		else
			__atomic_store_n(&slots[index], coro, __ATOMIC_RELEASE);
		if (worker->resumes % 32 ==
			0) /* with fewer CPUs than threads, others come seldom */
			sched_yield();
	}
}

#if defined(ON_LCORES)
static int
work_on_lcore(void *arg)
{
	struct worker *worker = arg;

	worker->lcore = rte_lcore_id();
	worker->rte_errno_address = &rte_errno;
	worker->rte_errno_value = 200 + (int)worker->lcore;
	weir_base_happens_after(arg);
	work(worker);
	weir_base_happens_before(arg);
	return 0;
}

/* The main lcore is one of them. */
static void
work_everywhere(void)
{
	unsigned int lcore, nb = 1;

	assert_int_equal(rte_lcore_count(), THREADS);
	RTE_LCORE_FOREACH_WORKER (lcore) {
		weir_base_happens_before(&workers[nb]);
		assert_int_equal(rte_eal_remote_launch(work_on_lcore, &workers[nb++], lcore), 0);
	}
	work_on_lcore(&workers[0]);
	rte_eal_mp_wait_lcore();
	for (unsigned int t = 0; t < THREADS; t++)
		weir_base_happens_after(&workers[t]);
}
#else
static void *
work_on_thread(void *arg)
{
	work(arg);
	return NULL;
}

static void
work_everywhere(void)
{
	for (unsigned int t = 0; t < THREADS; t++)
		assert_int_equal(
			pthread_create(&workers[t].thread, NULL, work_on_thread, &workers[t]), 0);
	for (unsigned int t = 0; t < THREADS; t++)
		pthread_join(workers[t].thread, NULL);
}
#endif

static size_t
how_many(void)
{
#if defined(WITH_VALGRIND)
	if (RUNNING_ON_VALGRIND)
		return COROUTINES_VALGRIND;
#endif
#if !defined(WEIR_BASE_TSAN)
	return getenv("WEIR_TEST_LONG") != NULL ? COROUTINES : COROUTINES_QUICK;
#elif defined(__clang__)
	return getenv("WEIR_TEST_LONG") != NULL ? COROUTINES : COROUTINES_TSAN;
#else
	return COROUTINES_GCC;
#endif
}

static void
all_of_them(void **state)
{
	struct weir_coro_class_stats stats;

	nb_coroutines = nb_left = how_many();
	slots = calloc(nb_coroutines, sizeof(slots[0]));
	assert_non_null(slots);
	assert_int_equal(weir_coro_init(WITH_SANITIZER ? STACK : 8192, sizeof(struct record), 8,
				 nb_coroutines, 0, 32, -1),
		0);
	slot = (unsigned int)weir_coro_local_alloc();
	for (size_t i = 0; i < nb_coroutines; i++)
		create(i);
	for (unsigned int t = 0; t < THREADS; t++)
		workers[t] = (struct worker){
			.errno_value = 100 + (int)t, .random = 88172645463325252u + t};
	work_everywhere();
	assert_int_equal(weir_coro_class_look(0, &stats), 0);
	assert_int_equal(stats.live, 0);
	assert_int_equal(stats.created, nb_coroutines);
	assert_int_equal(stats.exited, nb_coroutines);
	assert_int_equal(stats.switches, nb_coroutines * (TURNS + 1));
	for (int i = 0; i < WEIR_CORO_MISUSE_COUNT; i++)
		assert_int_equal(weir_coro_misuse((enum weir_coro_misuse)i), 0);
	/* Or it tested nothing: with one thread at a time there are few. */
	print_message("%zu coroutines changed threads %llu times\n", nb_coroutines,
		(unsigned long long)nb_moves);
	assert_true(nb_moves > nb_coroutines);
	free(slots);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(all_of_them, finish),
	};

#if defined(ON_LCORES)
	return run_on_eal(THREADS, tests);
#else
	return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
