/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK's locks and read sections through our wrappers: they lock, and a yield meanwhile is refused and counted. */
#define RTE_LIBRTE_RCU_DEBUG /* or rte_rcu_qsbr_lock() does nothing that could be seen */

#include "coro_test.h"

#include "weir_coro_lock.h"

#define READER 1 /* the number of a reader, to RCU */

static rte_spinlock_t spin;
static rte_spinlock_recursive_t recursive;
static rte_rwlock_t rw;
static rte_seqlock_t seq;
static struct rte_rcu_qsbr *rcu;
static uint32_t begun;

static bool
spin_is_free(void)
{
	return !rte_spinlock_is_locked(&spin);
}

static bool
try_spin(void)
{
	return weir_coro_spinlock_trylock(&spin) == 1;
}

static void
take_spin(void)
{
	weir_coro_spinlock_lock(&spin);
}

static void
give_spin(void)
{
	weir_coro_spinlock_unlock(&spin);
}

static bool
recursive_is_free(void)
{
	return recursive.count == 0 && !rte_spinlock_is_locked(&recursive.sl);
}

static bool
try_recursive(void)
{
	return weir_coro_spinlock_recursive_trylock(&recursive) == 1;
}

static void
take_recursive(void)
{
	weir_coro_spinlock_recursive_lock(&recursive);
}

static void
give_recursive(void)
{
	weir_coro_spinlock_recursive_unlock(&recursive);
}

static bool
rw_is_free(void)
{
	if (rte_rwlock_write_trylock(&rw) != 0)
		return false;
	rte_rwlock_write_unlock(&rw);
	return true;
}

static bool
try_read(void)
{
	return weir_coro_rwlock_read_trylock(&rw) == 0;
}

static void
take_read(void)
{
	weir_coro_rwlock_read_lock(&rw);
}

static void
give_read(void)
{
	weir_coro_rwlock_read_unlock(&rw);
}

static bool
try_write(void)
{
	return weir_coro_rwlock_write_trylock(&rw) == 0;
}

static void
take_write(void)
{
	weir_coro_rwlock_write_lock(&rw);
}

static void
give_write(void)
{
	weir_coro_rwlock_write_unlock(&rw);
}

static bool
seq_is_free(void)
{
	return !rte_spinlock_is_locked(&seq.lock) && seq.count.sn % 2 == 0;
}

static void
take_seq(void)
{
	weir_coro_seqlock_write_lock(&seq);
}

static void
give_seq(void)
{
	weir_coro_seqlock_write_unlock(&seq);
}

static void
begin_seq(void)
{
	begun = weir_coro_seqlock_read_begin(&seq);
}

/* Something is written meanwhile, or not: the section is over either way. */
static void
end_seq(void)
{
	static bool write;

	write = !write;
	if (write) {
		rte_seqlock_write_lock(&seq);
		rte_seqlock_write_unlock(&seq);
	}
	/* Odd: it began while something was written. */
	CHECK(weir_coro_seqlock_read_retry(&seq, begun) == (write || begun % 2 != 0));
}

/* A reader that is not waited for: it is offline, or was quiescent since. */
static bool
rcu_is_free(void)
{
	return rte_rcu_qsbr_check(rcu, rte_rcu_qsbr_start(rcu), false) == 1;
}

static bool
rcu_is_unlocked(void)
{
	return rcu->qsbr_cnt[READER].lock_cnt == 0;
}

static void
enter_rcu(void)
{
	weir_coro_rcu_qsbr_lock(rcu, READER);
}

static void
leave_rcu(void)
{
	weir_coro_rcu_qsbr_unlock(rcu, READER);
}

static void
go_online(void)
{
	weir_coro_rcu_qsbr_thread_online(rcu, READER);
}

static void
go_offline(void)
{
	weir_coro_rcu_qsbr_thread_offline(rcu, READER);
}

/* What there is. */
static const struct lock {
	const char *name;
	void (*take)(void);
	bool (*try)(void); /* or NULL */
	void (*give)(void);
	bool (*is_free)(void); /* NULL: nothing to be seen */
} locks[] = {
	{"spinlock", take_spin, try_spin, give_spin, spin_is_free},
	{"recursive spinlock", take_recursive, try_recursive, give_recursive, recursive_is_free},
	{"rwlock, to read", take_read, try_read, give_read, rw_is_free},
	{"rwlock, to write", take_write, try_write, give_write, rw_is_free},
	{"seqlock, to write", take_seq, NULL, give_seq, seq_is_free},
	{"seqlock, to read", begin_seq, NULL, end_seq, NULL},
	{"RCU, online", enter_rcu, NULL, leave_rcu, rcu_is_unlocked},
	{"RCU, offline else", go_online, NULL, go_offline, rcu_is_free},
};

static void
no_log(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
}

static uint64_t refused;   /* so far */
static bool always_yields; /* each maybe_yield() does */

/* A slice that does not end unless told so. */
static void
begin(void)
{
	start(3, UINT64_MAX / 4, 0);
	weir_base_log_set_sink(no_log, NULL);
	rte_spinlock_init(&spin);
	rte_spinlock_recursive_init(&recursive);
	rte_rwlock_init(&rw);
	memset(&seq, 0, sizeof(seq));
	assert_int_equal(
		posix_memalign((void **)&rcu, RTE_CACHE_LINE_SIZE, rte_rcu_qsbr_get_memsize(2)), 0);
	assert_int_equal(rte_rcu_qsbr_init(rcu, 2), 0);
	assert_int_equal(rte_rcu_qsbr_thread_register(rcu, READER), 0);
}

static int
finish_lock(void **state)
{
	weir_base_log_set_sink(NULL, NULL);
	always_yields = false;
	free(rcu);
	rcu = NULL;
	return finish(state);
}

/* Yields are refused and counted; a maybe_yield within its slice is none. */
static void
must_stay(void)
{
	uint64_t resumes = weir_coro_resume_count(weir_coro_self());

	CHECK(!weir_coro_yield());
	CHECK(weir_coro_misuse(WEIR_CORO_MISUSE_HOLDING) == ++refused);
	for (int i = 0; i < 3; i++) {
		CHECK(!weir_coro_maybe_yield());
		refused += always_yields;
		CHECK(weir_coro_misuse(WEIR_CORO_MISUSE_HOLDING) == refused);
	}
	CHECK(weir_coro_resume_count(weir_coro_self()) == resumes);
}

static void
may_leave(void)
{
	uint64_t resumes = weir_coro_resume_count(weir_coro_self());

	CHECK(!weir_coro_yield());
	CHECK(weir_coro_resume_count(weir_coro_self()) == resumes + 1);
	CHECK(weir_coro_misuse(WEIR_CORO_MISUSE_HOLDING) == refused);
}

static void
holds_each(void)
{
	for (const struct lock *lock = locks; lock < locks + LENGTH(locks); lock++) {
		may_leave();
		lock->take();
		CHECK(lock->is_free == NULL || !lock->is_free());
		must_stay();
		lock->give();
		CHECK(lock->is_free == NULL || lock->is_free());
		may_leave();
		if (lock->try == NULL)
			continue;
		CHECK(lock->try());
		CHECK(!lock->is_free());
		must_stay();
		lock->give();
		CHECK(lock->is_free());
		may_leave();
	}
}

static void
hold_each(bool always, unsigned int nb_each)
{
	struct weir_coro *coro;

	begin();
	refused = 0;
	always_yields = always;
	weir_coro_always_yield(always);
	coro = made(holds_each);
	run_to_end(coro);
	/* Each of them, and those to be tried again. */
	assert_int_equal(refused, nb_each * (LENGTH(locks) + 4));
	assert_int_equal(weir_coro_destroy(coro), 0);
}

static void
each_forbids_yields(void **state)
{
	hold_each(false, 1);
}

static void
each_forbids_maybe_yields(void **state)
{
	hold_each(true, 4);
}

/* Somebody else has them: nothing is taken, nothing held. */
static void
tries_in_vain(void)
{
	CHECK(!try_spin());
	may_leave();
	CHECK(!try_write());
	may_leave();
	CHECK(!try_recursive());
	may_leave();
	rte_rwlock_read_unlock(&rw);
	rte_rwlock_write_lock(&rw);
	CHECK(!try_read());
	may_leave();
}

static void
what_was_not_got_is_not_held(void **state)
{
	struct weir_coro *coro;

	begin();
	refused = 0;
	rte_spinlock_lock(&spin);
	rte_spinlock_lock(&recursive.sl); /* as another thread would have it */
	rte_rwlock_read_lock(&rw);
	coro = made(tries_in_vain);
	assert_int_equal(run_to_end(coro), 5);
	assert_int_equal(weir_coro_destroy(coro), 0);
}

/* Beside all others: readers would wait for the writer, and RCU wants it the other way round. */
static bool
goes_with_others(const struct lock *lock)
{
	return lock->take != take_read && lock->take != enter_rcu;
}

/* All at a time, given back in the order taken, and one of them twice. */
static void
holds_all(void)
{
	for (size_t i = 0; i < LENGTH(locks); i++)
		if (goes_with_others(&locks[i]))
			locks[i].take();
	take_recursive();
	for (size_t i = 0; i < LENGTH(locks); i++) {
		must_stay();
		if (goes_with_others(&locks[i]))
			locks[i].give();
	}
	must_stay();
	give_recursive();
	may_leave();
}

static void
they_nest(void **state)
{
	struct weir_coro *coro;

	begin();
	refused = 0;
	coro = made(holds_all);
	assert_int_equal(run_to_end(coro), 2);
	assert_int_equal(weir_coro_destroy(coro), 0);
}

/* Outside of a coroutine they lock, and hold nobody. */
static void
outside(void **state)
{
	struct weir_coro *coro;

	begin();
	refused = 0;
	for (const struct lock *lock = locks; lock < locks + LENGTH(locks); lock++) {
		lock->take();
		assert_true(lock->is_free == NULL || !lock->is_free());
		coro = made(may_leave);
		assert_int_equal(run_to_end(coro), 2);
		assert_int_equal(weir_coro_destroy(coro), 0);
		lock->give();
		assert_true(lock->is_free == NULL || lock->is_free());
	}
}

static struct weir_coro *inner;

static void
resumes_another(void)
{
	take_spin();
	weir_coro_resume(inner);
	must_stay();
	CHECK(weir_coro_join(inner) == -EDEADLK);
	CHECK(weir_coro_misuse(WEIR_CORO_MISUSE_HOLDING) == ++refused);
	weir_coro_resume(inner);
	give_spin();
	may_leave();
}

/* The one that holds must stay; another one that it resumes meanwhile comes back to it. */
static void
holds_itself_only(void **state)
{
	struct weir_coro *coro;

	begin();
	refused = 0;
	inner = made(may_leave);
	coro = made(resumes_another);
	assert_int_equal(run_to_end(coro), 2);
	assert_true(weir_coro_has_exited(inner));
	assert_int_equal(weir_coro_destroy(inner), 0);
	assert_int_equal(weir_coro_destroy(coro), 0);
}

/* A slice that is over: the coroutine runs on, and has the next one before it. */
static void
overruns(void)
{
	uint64_t nb = 0;

	take_spin();
	while (weir_coro_misuse(WEIR_CORO_MISUSE_HOLDING) == 0 && nb < 100000000) {
		CHECK(!weir_coro_maybe_yield());
		nb++;
	}
	CHECK(weir_coro_misuse(WEIR_CORO_MISUSE_HOLDING) == 1 && nb > 1);
	CHECK(weir_coro_resume_count(weir_coro_self()) == 1);
	give_spin();
	while (weir_coro_resume_count(weir_coro_self()) == 1)
		CHECK(!weir_coro_maybe_yield());
	CHECK(weir_coro_misuse(WEIR_CORO_MISUSE_HOLDING) == 1);
}

static void
maybe_yield_at_the_end_of_a_slice(void **state)
{
	struct weir_coro *coro;

	begin();
	coro = made(overruns);
	weir_coro_set_time_slice(coro, weir_base_ns_to_cycles(20000));
	assert_int_equal(run_to_end(coro), 2);
	assert_int_equal(weir_coro_destroy(coro), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(each_forbids_yields, finish_lock),
		cmocka_unit_test_teardown(each_forbids_maybe_yields, finish_lock),
		cmocka_unit_test_teardown(what_was_not_got_is_not_held, finish_lock),
		cmocka_unit_test_teardown(they_nest, finish_lock),
		cmocka_unit_test_teardown(outside, finish_lock),
		cmocka_unit_test_teardown(holds_itself_only, finish_lock),
		cmocka_unit_test_teardown(maybe_yield_at_the_end_of_a_slice, finish_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
