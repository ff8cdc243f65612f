/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads keep is there for all, and what is told of classes is so, also while they are in use. */
#include "coro_test.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/random.h"
#include "coro_private.h"
#include "weir_base_hist.h"

#define NB      64
#define THREADS 4

static struct weir_coro_class_stats
look(unsigned int class_id)
{
	struct weir_coro_class_stats stats;

	CHECK(weir_coro_class_look(class_id, &stats) == 0);
	return stats;
}

static void
nothing(void)
{
}

static void
yields_on(void)
{
	while (!weir_coro_yield())
		;
}

static pthread_barrier_t meet;

static void *
keeps_them(void *arg)
{
	struct weir_coro *coros[NB];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < NB; i++)
			coros[i] = made(nothing);
		for (int i = 0; i < NB; i++)
			CHECK(weir_coro_destroy(coros[i]) == 0);
		pthread_barrier_wait(&meet); /* it keeps all of them */
		pthread_barrier_wait(
			&meet); /* they were taken away, used, and given back elsewhere */
	}
	return NULL;
}

/* Exactly as many as promised, whoever keeps free ones; and back again. */
static void
idle_threads_keep_none_from_others(void **state)
{
	struct weir_coro *coros[NB];
	pthread_t thread;

	start(NB, 0, NB);
	pthread_barrier_init(&meet, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, keeps_them, NULL), 0);
	for (int round = 0; round < 2; round++) {
		pthread_barrier_wait(&meet);
		assert_int_equal(coro_classes[0].free.nb, 0);
		for (int i = 0; i < NB; i++)
			coros[i] = made(yields_on);
		for (int i = 0; i < 3; i++) {
			errno = 0;
			assert_null(weir_coro_create(nothing));
			assert_int_equal(errno, EAGAIN);
		}
		assert_int_equal(look(0).live, NB);
		assert_int_equal(look(0).peak, NB);
		for (int i = 0; i < NB; i++) {
			weir_coro_resume(coros[i]);
			assert_int_equal(weir_coro_destroy(coros[i]), 0);
		}
		pthread_barrier_wait(&meet);
	}
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&meet);
}

static struct weir_coro *handed[NB];
static bool owned[NB];
static int64_t nb_alive, nb_most;
static unsigned int nb_at_work;

/* Of two that have the same one at a time, one notices. */
static struct weir_coro *
make_own(void)
{
	struct weir_coro *coro = made(nothing); /* never refused */
	int64_t alive = __atomic_add_fetch(&nb_alive, 1, __ATOMIC_RELAXED);
	int64_t most = __atomic_load_n(&nb_most, __ATOMIC_RELAXED);

	CHECK(!__atomic_exchange_n(&owned[weir_coro_id(coro)], true, __ATOMIC_RELAXED));
	while (alive > most && !__atomic_compare_exchange_n(&nb_most, &most, alive, true,
				       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return coro;
}

static void
destroy_own(struct weir_coro *coro)
{
	if (coro == NULL)
		return;
	__atomic_sub_fetch(&nb_alive, 1, __ATOMIC_RELAXED);
	CHECK(__atomic_exchange_n(&owned[weir_coro_id(coro)], false, __ATOMIC_RELAXED));
	CHECK(weir_coro_destroy(coro) == 0);
}

/* Half of the threads create more than they destroy, the others only destroy, and keep what they get. */
static void *
takes_its_share(void *arg)
{
	size_t t = (size_t)arg;
	uint64_t random = 88172645463325252u + t;

	for (int i = 0; t % 2 == 0 && i < (WITH_SANITIZER ? 20000 : 200000); i++) {
		size_t slot = random_next(&random) % (NB / 2);

		destroy_own(__atomic_exchange_n(&handed[slot], make_own(), __ATOMIC_ACQ_REL));
		if (i % 64 == 0)
			sched_yield();
	}
	if (t % 2 == 0)
		__atomic_sub_fetch(&nb_at_work, 1, __ATOMIC_RELEASE);
	for (unsigned int i = 1; __atomic_load_n(&nb_at_work, __ATOMIC_ACQUIRE) > 0; i++) {
		destroy_own(__atomic_exchange_n(
			&handed[random_next(&random) % (NB / 2)], NULL, __ATOMIC_ACQUIRE));
		if (i % 64 == 0) /* those at work may need this CPU */
			sched_yield();
	}
	return NULL;
}

/* Each may keep all of them, and together they need half: they take them from each other all the time, and none is lost. */
static void
threads_take_from_each_other(void **state)
{
	struct weir_coro *coros[NB];
	pthread_t threads[THREADS];
	bool seen[NB] = {false};

	nb_alive = nb_most = 0;
	nb_at_work = THREADS / 2;
	memset(handed, 0, sizeof(handed));
	memset(owned, 0, sizeof(owned));
	start(NB, 0, NB);
	for (uintptr_t t = 0; t < THREADS; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, takes_its_share, (void *)t), 0);
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (int i = 0; i < NB; i++)
		destroy_own(handed[i]);
	assert_int_equal(look(0).live, 0);
	assert_in_range(look(0).peak, nb_most, NB);
	for (int i = 0; i < NB; i++) {
		coros[i] = made(nothing);
		assert_false(seen[weir_coro_id(coros[i])]);
		seen[weir_coro_id(coros[i])] = true;
	}
	assert_null(weir_coro_create(nothing));
}

/* However much threads keep: what was alive counts. */
static void
peak_is_what_was_alive(void **state)
{
	static const unsigned int caches[] = {0, 1, 7, NB};
	struct weir_coro *coros[NB];

	for (size_t c = 0; c < LENGTH(caches); c++) {
		start(NB, 0, caches[c]);
		for (unsigned int most = 1; most <= 40; most += 13) {
			for (unsigned int i = 0; i < most; i++)
				coros[i] = made(nothing);
			for (unsigned int i = 0; i < most; i++)
				weir_coro_destroy(coros[i]);
			assert_int_equal(look(0).peak, most);
		}
		weir_coro_cleanup();
	}
	start(1, 0, 0); /* for the teardown */
}

static void *
creates_ten(void *arg)
{
	struct weir_coro *coros[10];

	for (size_t i = 0; i < LENGTH(coros); i++)
		coros[i] = made(nothing);
	for (size_t i = 0; i < LENGTH(coros); i++)
		weir_coro_destroy(coros[i]);
	return NULL;
}

/* One after the other: not all that they had together. */
static void
peak_does_not_add_up(void **state)
{
	pthread_t thread;

	start(NB, 0, 12);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(pthread_create(&thread, NULL, creates_ten, NULL), 0);
		pthread_join(thread, NULL);
	}
	assert_in_range(look(0).peak, 10, 10 + 12);
}

static pthread_key_t at_end;

/* A destructor, which comes again until @times is down to 0. */
static void
creates_one(void *times)
{
	CHECK(weir_coro_destroy(made(nothing)) == 0);
	pthread_setspecific(at_end, (void *)((uintptr_t)times - 1));
}

static void *
creates_at_its_end(void *arg)
{
	creates_one((void *)3);
	return NULL;
}

/* Destructors come in any order, several times: what the library keeps of the thread is gone after the last one. */
static void
threads_leave_nothing(void **state)
{
	pthread_t thread;

	start(NB, 0, 8);
	assert_int_equal(pthread_key_create(&at_end, creates_one), 0);
	for (uint64_t nb = 1; nb <= 10; nb++) {
		assert_int_equal(pthread_create(&thread, NULL, creates_at_its_end, NULL), 0);
		pthread_join(thread, NULL);
		assert_null(coro_classes[0].caches);
		assert_int_equal(look(0).created, 3 * nb);
		assert_int_equal(look(0).live, 0);
	}
	pthread_key_delete(at_end);
}

static bool stop;

/* So that hardly any are alive, and one that is counted on one side only is noticed. */
#define FEW 2

/* Half of the threads create, the others resume and destroy what these have created. */
static void *
hands_over(void *arg)
{
	size_t t = (size_t)arg;
	struct weir_coro *coro;

	for (size_t i = t; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		if (t % 2 == 0) {
			coro = weir_coro_create(i % 3 == 0 ? nothing : yields_on);
			if (coro != NULL)
				coro = __atomic_exchange_n(
					&handed[i % FEW], coro, __ATOMIC_ACQ_REL);
		} else {
			coro = __atomic_exchange_n(&handed[i % FEW], NULL, __ATOMIC_ACQUIRE);
		}
		if (coro == NULL)
			continue;
		weir_coro_resume(coro);
		CHECK(weir_coro_destroy(coro) == 0);
		if (i % 16 == 0)
			sched_yield();
	}
	return NULL;
}

/* Sums that are read while they are written to agree as far as they can. */
static void
a_look_at_any_time(void **state)
{
	struct weir_coro_class_stats last = {0}, now;
	struct timespec until, clock;
	pthread_t threads[THREADS];
	unsigned int nb = 0;

	start(2 * NB, 0, 8);
	memset(handed, 0, sizeof(handed));
	stop = false;
	for (uintptr_t t = 0; t < THREADS; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, hands_over, (void *)t), 0);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 1;
	do {
		now = look(0);
		CHECK(now.live <= now.max && now.live <= now.peak && now.peak <= now.max);
		CHECK(now.created >= now.destroyed && now.created >= now.exited);
		CHECK(now.created >= last.created && now.destroyed >= last.destroyed);
		CHECK(now.switches >= last.switches && now.exited >= last.exited);
		CHECK(now.peak >= last.peak && now.high_water >= last.high_water);
		if (nb++ % 8 == 0)
			weir_coro_trim(0);
		last = now;
		clock_gettime(CLOCK_MONOTONIC, &clock);
	} while (nb <= 2 || clock.tv_sec < until.tv_sec ||
		 (clock.tv_sec == until.tv_sec && clock.tv_nsec < until.tv_nsec));
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (int i = 0; i < NB; i++)
		if (handed[i] != NULL)
			weir_coro_destroy(handed[i]);
	now = look(0);
	assert_int_equal(now.live, 0);
	assert_true(now.switches > 0 && now.switches <= now.created);
	print_message("%u looks, %llu coroutines\n", nb, (unsigned long long)now.created);
}

static void *
counts_slices(void *arg)
{
	struct coro_counts *counts = &coro_cache_of(&coro_classes[1])->counts;

	for (uint64_t i = 1; i <= 100; i++)
		coro_counts_slice(counts, i * 1000, 30000);
	return NULL;
}

static void
slices_are_summed(void **state)
{
	struct weir_coro_class_param param = {.stack_size = STACK, .max_coroutines = 1};
	struct weir_base_hist hist;
	pthread_t thread;

	start(1, 0, 0);
	assert_int_equal(weir_coro_class_add(&param), 1);
	assert_int_equal(weir_coro_class_slices(1, &hist), 0);
	assert_int_equal(hist.count, 0);
	assert_int_equal(hist.max, 0);
	for (unsigned int nb = 1; nb <= 3; nb++) {
		if (nb == 3) {
			counts_slices(NULL); /* of one that lives on */
		} else {
			assert_int_equal(pthread_create(&thread, NULL, counts_slices, NULL), 0);
			pthread_join(thread, NULL);
		}
		assert_int_equal(weir_coro_class_slices(1, &hist), 0);
		assert_int_equal(hist.count, 100 * nb);
		assert_int_equal(hist.sum, nb * 5050000);
		assert_int_equal(hist.max, 100000);
		assert_in_range(hist.min, 960, 1000);
		assert_in_range(weir_base_hist_percentile(&hist, 50), 50000, 51600);
		assert_in_range(weir_base_hist_percentile(&hist, 99), 99000, 100000);
		assert_int_equal(look(1).overruns, 40 * nb);
	}
	assert_int_equal(look(0).overruns, 0);
	assert_int_equal(weir_coro_class_slices(0, &hist), 0);
	assert_int_equal(hist.count, 0);
	assert_int_equal(weir_coro_class_slices(2, &hist), -EINVAL);
	assert_int_equal(weir_coro_class_stacks(2, &hist), -EINVAL);
}

static size_t depth;

static __attribute__((noinline)) void
use_stack(size_t bytes)
{
	char *low = __builtin_alloca(bytes);

	__asm__ volatile("" : "+r"(low) : : "memory");
	for (size_t i = 0; i < bytes; i += 512)
		*(volatile char *)(low + i) = 1;
}

static void
goes_down(void)
{
	use_stack(depth);
	weir_coro_yield();
}

/* Three stacks of three depths, of each kind of guard: what is told, and what remains when they are given back. */
static void
stacks_are_seen(void **state)
{
	static const size_t depths[] = {20000, 80000, 300000};
	const size_t size = 400000, page = (size_t)sysconf(_SC_PAGESIZE);
	struct weir_coro_class_param param = {.stack_size = size, .max_coroutines = 3};
	struct weir_coro_class_stats stats;
	struct weir_coro *coros[3];
	struct weir_base_hist hist;
	size_t sum;
	int class_id;

	start(1, 0, 0);
	for (int guard = WEIR_CORO_GUARD_BEST; guard <= WEIR_CORO_GUARD_CANARY; guard++) {
		param.guard = (enum weir_coro_guard)guard;
		class_id = weir_coro_class_add(&param);
		if (class_id < 0)
			continue;
		sum = 0;
		for (int i = 0; i < 3; i++) {
			coros[i] = weir_coro_create_in((unsigned int)class_id, goes_down);
			depth = depths[i];
			weir_coro_resume(coros[i]);
			assert_in_range(weir_coro_high_water(coros[i]), depth, depth + 16384);
			sum += weir_coro_high_water(coros[i]);
		}
		stats = look((unsigned int)class_id);
		assert_int_equal(stats.high_water, weir_coro_high_water(coros[2]));
		assert_int_equal(weir_coro_class_stacks((unsigned int)class_id, &hist), 0);
		assert_int_equal(hist.count, 3);
		assert_int_equal(hist.max, stats.high_water);
		assert_int_equal(hist.min, weir_coro_high_water(coros[0]));
		assert_int_equal(hist.sum, sum);
		/* Touched every 512 bytes: no page between is missing, and canaries have one of their own. */
		if (stats.guard == WEIR_CORO_GUARD_CANARY)
			assert_int_equal(stats.resident, (sum + page - 1) / page * page + 3 * page);
		else
			assert_int_equal(stats.resident, sum);
		for (int i = 0; i < 3; i++)
			weir_coro_destroy(coros[i]);
		assert_true(weir_coro_trim((unsigned int)class_id) >= sum - 3 * page);
		stats = look((unsigned int)class_id);
		assert_int_equal(stats.high_water, hist.max);
		assert_true(stats.resident <= 3 * page);
		assert_int_equal(weir_coro_class_stacks((unsigned int)class_id, &hist), 0);
		assert_int_equal(hist.count, 0);
		assert_int_equal(weir_coro_trim((unsigned int)class_id), 0);
	}
}

/* Also what was never looked at before, and what other threads keep. */
static void
trimming_reaches_all_and_remembers(void **state)
{
	struct weir_coro *coros[2];
	struct coro_cache *cache;

	start(NB, 0, NB);
	depth = 50000;
	for (int i = 0; i < 2; i++) {
		coros[i] = made(goes_down);
		weir_coro_resume(coros[i]);
	}
	for (int i = 0; i < 2; i++)
		weir_coro_destroy(coros[i]);
	cache = coro_cache_of(&coro_classes[0]);
	assert_true(cache->free.nb > 0);
	assert_true(weir_coro_trim(0) >= 2 * (50000 - 8192));
	assert_int_equal(cache->free.nb, 0);
	assert_in_range(look(0).high_water, 50000, STACK);
	assert_int_equal(look(0).resident, 0);
	/* Given back, not given away. */
	for (int i = 0; i < NB; i++)
		made(nothing);
	assert_null(weir_coro_create(nothing));
}

#define SMALL 12 /* fewer than are trimmed at a time */

static __thread bool stalls;
static bool trimming, wanted;

/* The library's calls come here too: who trims stalls, with all that it took, until somebody is about to want one, and longer. */
int
madvise(void *at, size_t bytes, int advice)
{
	if (stalls && advice == MADV_DONTNEED) {
		stalls = false;
		__atomic_store_n(&trimming, true, __ATOMIC_RELEASE);
		while (!__atomic_load_n(&wanted, __ATOMIC_ACQUIRE))
			sched_yield();
		usleep(20000);
	}
	return (int)syscall(SYS_madvise, at, bytes, advice);
}

static void *
trims(void *arg)
{
	stalls = true;
	weir_coro_trim(0);
	CHECK(!stalls);
	return NULL;
}

/* A pool, all of it idle, is being trimmed on return. */
static void
begin_to_trim(pthread_t *thread)
{
	struct weir_coro *coros[SMALL];

	start(SMALL, 0, 0);
	for (int i = 0; i < SMALL; i++)
		coros[i] = made(nothing);
	for (int i = 0; i < SMALL; i++)
		assert_int_equal(weir_coro_destroy(coros[i]), 0);
	trimming = wanted = false;
	assert_int_equal(pthread_create(thread, NULL, trims, NULL), 0);
	while (!__atomic_load_n(&trimming, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void
all_can_be_had(void)
{
	for (int i = 0; i < SMALL; i++)
		made(nothing);
	errno = 0;
	CHECK(weir_coro_create(nothing) == NULL && errno == EAGAIN);
}

static void
trimming_keeps_none_from_others(void **state)
{
	pthread_t thread;

	begin_to_trim(&thread);
	__atomic_store_n(&wanted, true, __ATOMIC_RELEASE);
	all_can_be_had();
	pthread_join(thread, NULL);
	assert_int_equal(look(0).live, SMALL);
}

/* It has not the thread that would put them back. */
static void
trimming_keeps_none_from_children(void **state)
{
	pthread_t thread;
	pid_t child;
	int status = -1;

	if (WITH_SANITIZER)
		skip(); /* of a thread that the child has not TSan says that it leaked, and ASan (gcc 12) may wait for its lock */
	begin_to_trim(&thread);
	__atomic_store_n(&wanted, true, __ATOMIC_RELEASE);
	child = fork();
	if (child == 0) {
		alarm(60);
		all_can_be_had();
		_exit(0);
	}
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	pthread_join(thread, NULL);
	assert_int_equal(status, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(idle_threads_keep_none_from_others, finish),
		cmocka_unit_test_teardown(threads_take_from_each_other, finish),
		cmocka_unit_test_teardown(peak_is_what_was_alive, finish),
		cmocka_unit_test_teardown(peak_does_not_add_up, finish),
		cmocka_unit_test_teardown(threads_leave_nothing, finish),
		cmocka_unit_test_teardown(a_look_at_any_time, finish),
		cmocka_unit_test_teardown(slices_are_summed, finish),
		cmocka_unit_test_teardown(stacks_are_seen, finish),
		cmocka_unit_test_teardown(trimming_reaches_all_and_remembers, finish),
		cmocka_unit_test_teardown(trimming_keeps_none_from_children, finish),
		cmocka_unit_test_teardown(trimming_keeps_none_from_others, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
