/* SPDX-License-Identifier: BSD-3-Clause */

/* A lock that is biased: who has it, and for how long; and that two threads never have it at once. */

#include "sched_test.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <rte_pause.h>

#include "../../lib/sched/fence.h"
#include "../../lib/sched/short_way.c"

#include "one_by_one_stand.h"

static struct rte_event
take_any(void)
{
	struct rte_event event;

	assert_int_equal(weir_sched_dequeue(st_port(WORKER), &event, 1), 1);
	return event;
}

static void
take_all(void)
{
	struct rte_event event;

	while (weir_sched_dequeue(st_port(WORKER), &event, 1) == 1)
		;
}

static uint64_t
nb_ended(void)
{
	return st_xstat(WEIR_SCHED_PART_PORT, WORKER, "bias_ended");
}

static bool
is_mine(void)
{
	return port->bias.mine == &shard->bias && bias_holder(&shard->bias) == port->bias.number;
}

/* It has taken the first one, and the bias. */
static void
begin(void)
{
	send(OF_ALL);
	take(0);
	if (!port->builtin->may_fence)
		st_skip("the kernel has no fence for all threads");
	assert_true(is_mine());
}

/* As if another one had it, and had not yet ended the bias: it is not asked for. */
static void
no_lock_for_what_comes_next(void **state)
{
	begin();
	assert_true(shard->at_once > 2);
	for (unsigned int i = 1; shard->at_once > 1; i++) {
		shard->lock = 1;
		take(i);
		assert_int_equal(shard->lock, 1);
		assert_int_equal(port->bias.is_inside, 0);
		assert_true(is_mine());
	}
	shard->lock = 0;
}

/* Who does not wait for the lock does not wait for who is inside, either, who may have lost its CPU. */
static void
not_waited_for(void **state)
{
	begin();
	__atomic_store_n(&port->bias.is_inside, 1, __ATOMIC_RELAXED);
	assert_false(shard_trylock(shard));
	assert_true(is_mine() && shard->lock == 0);
	__atomic_store_n(&port->bias.is_inside, 0, __ATOMIC_RELAXED);
	assert_true(shard_trylock(shard));
	shard_unlock(shard);
	take_any();
}

/* It does not know what comes next: there is nothing that others would have to wait for. */
static void
not_for_the_last_one(void **state)
{
	begin();
	for (unsigned int i = 1; i < NB_EVENTS; i++)
		take(i);
	assert_int_equal(bias_holder(&shard->bias), 0);
	assert_int_equal(nb_ended(), 0);
}

static void
ended_by_others(void **state)
{
	begin();
	others_come();
	assert_int_equal(bias_holder(&shard->bias), 0);
	assert_int_equal(shard->at_once, 0);
	for (unsigned int i = 1; i < NB_EVENTS; i++)
		take(i);
	assert_int_equal(nb_ended(), 1);
	assert_null(port->bias.mine);
	assert_true(port->bias.pause == BIAS_PAUSE_LEAST && port->bias.left > 0);
}

/* It goes on until it has the bias anew. @return how often all was taken before */
static unsigned int
nb_until_mine(void)
{
	unsigned int nb = 0;

	for (;; nb++) {
		send(OF_ALL);
		for (unsigned int i = 0; i < NB_EVENTS; i++) {
			take(i);
			if (is_mine())
				return nb;
		}
		assert_true(nb < 100000);
	}
}

static void
the_more_others_come_the_less(void **state)
{
	unsigned int before = 0;

	begin();
	for (unsigned int i = 0; i < 5; i++) {
		unsigned int nb;

		others_come();
		take_any();
		assert_null(port->bias.mine);
		assert_int_equal(port->bias.pause, (uint32_t)BIAS_PAUSE_LEAST << i);
		take_all();
		nb = nb_until_mine();
		assert_true(nb > before);
		before = nb;
	}
	assert_int_equal(nb_ended(), 5);
}

static void
pause_shortens(void **state)
{
	struct port_bias mine = {.number = 1, .pause = 4};
	unsigned int nb;

	for (nb = 0; mine.pause > 0; nb++)
		assert_true(bias_may_begin(&mine));
	assert_int_equal(nb, 4 * BIAS_QUIET + 1 + 2 * BIAS_QUIET + 1 + 1 * BIAS_QUIET + 1);
	for (unsigned int i = 0; i < 100; i++) {
		mine.mine = &(struct bias){0};
		bias_give_up(&mine);
	}
	assert_int_equal(mine.pause, BIAS_PAUSE_MOST);
}

/* Whatever it does itself ends nothing that would have to be waited for. */
static void
its_own_ways_cost_nothing(void **state)
{
	struct rte_event events[NB_EVENTS], event;
	unsigned int nb_mine = 0;

	begin();
	take_all();
	for (unsigned int round = 0; round < 64; round++) {
		send(OF_ALL);
		take(0);
		nb_mine += is_mine();
		event = take_any();
		switch (round % 8) {
		case 0:
			event.op = RTE_EVENT_OP_RELEASE;
			break;
		case 1:
			event.op = RTE_EVENT_OP_FORWARD;
			break;
		case 2:
			event.op = RTE_EVENT_OP_FORWARD;
			event.queue_id = OF_ORDERED;
			break;
		case 3:
			assert_int_equal(
				weir_sched_switch(st_port(WORKER), &event, own_flow(1), ATOMIC), 0);
			event.op = RTE_EVENT_OP_RELEASE;
			break;
		case 4:
			event.op = RTE_EVENT_OP_FORWARD;
			event.queue_id = OF_ANY;
			event.sched_type = PARALLEL;
			break;
		default:
			event.op = RTE_EVENT_OP_RELEASE;
			assert_int_equal(weir_sched_dequeue(st_port(WORKER), events, 3), 3);
			event = events[0];
			event.op = RTE_EVENT_OP_RELEASE;
		}
		assert_int_equal(weir_sched_enqueue(st_port(WORKER), &event, 1), 1);
		while (weir_sched_dequeue(st_port(WORKER), events, round % 3 + 1) > 0)
			;
	}
	assert_true(nb_mine > 16);
	assert_int_equal(nb_ended(), 0);
}

/* Who had the shard before takes its lock without forgetting what comes next: not that of who has it now. */
static void
not_beside_who_adopted_it(void **state)
{
	struct builtin_port *other = &port->builtin->ports[OTHER];

	begin();
	assert_true(own_trylock_again(other, shard));
	assert_int_equal(bias_holder(&shard->bias), 0);
	own_leave(other, shard, false);
	assert_int_equal(take_any().u64, 1);
	take_all();
}

/* It left the bias at the end of what it knew, and another one has taken the shard over, and has it by bias, before it has the lock. */
static void
taken_over_at_the_end(void **state)
{
	struct builtin_port *other = &port->builtin->ports[OTHER];
	struct rte_event event;

	begin();
	assert_true(own_enter(port, shard));
	bias_give_up(&port->bias);
	port->bias.left = 5; /* it does not have it anew at once */
	bias_begin(&shard->bias, &other->bias);
	event = st_event(RTE_EVENT_OP_NEW, OF_ALL, 0, 0);
	dequeued_last(port, shard, &event, 1, true);
	assert_int_equal(bias_holder(&shard->bias), 0);
	assert_int_equal(port->bias.is_inside, 0);
	assert_int_equal(shard->lock, 0);
	take_all();
}

/* Another one's is not given up by who held it before. */
static void
anothers_stays(void **state)
{
	struct bias bias = {.holder = 2};
	struct port_bias mine = {.number = 1, .mine = &bias};

	assert_false(bias_enter(&bias, &mine));
	assert_int_equal(mine.is_inside, 0);
	bias_give_up(&mine);
	assert_int_equal(bias.holder, 2);
	assert_null(mine.mine);
	assert_int_equal(mine.nb_ended, 1);
}

/* Who adopted a shard has it by bias, too, until its home port comes back. */
static void
of_who_adopted_it(void **state)
{
	struct builtin_port *other = &port->builtin->ports[OTHER];
	const uint64_t end = weir_base_time_ns() + 10000000000;
	unsigned int nb = 0, nb_adopted = 0;
	struct rte_event event;

	begin();
	take_all();
	port->builtin->gather_after = UINT64_MAX / 4; /* its flows stay there */
	while (shard_owner(other->home) != port->base.id) {
		assert_true(weir_base_time_ns() < end);
		st_idle(WORKER);
	}
	for (uint32_t flow = 0; flow < 64; flow++)
		st_new(WORKER, OF_ALL, flow, flow);
	for (nb = 0; nb < 64 || nb_adopted == 0; nb++) {
		event = take_any();
		if (port->bias.mine == &other->home->bias) {
			nb_adopted++;
			assert_true(port->own == other->home);
		}
		st_forward(WORKER, event, OF_ALL);
		assert_true(nb < 100000);
	}
	while (port->bias.mine != &other->home->bias) {
		assert_true(weir_base_time_ns() < end);
		st_forward(WORKER, take_any(), OF_ALL);
	}
	assert_int_equal(nb_ended(), 0);
	if (weir_sched_dequeue(st_port(OTHER), &event, 1) == 1)
		st_forward(OTHER, event, OF_ALL);
	assert_int_equal(shard_owner(other->home), OTHER);
	assert_int_not_equal(bias_holder(&other->home->bias), port->bias.number);
	for (nb = 0; nb < 2 * 64; nb++)
		st_forward(WORKER, take_any(), OF_ALL);
	assert_int_equal(nb_ended(), 1);
}

/* Threads with one lock. */
#define NB_HOLDERS 2

static struct {
	struct bias bias __attribute__((aligned(64)));
	uint32_t lock;
	uint64_t first __attribute__((aligned(64))), second; /* are always alike */
	uint64_t nb_by_bias, nb_by_lock, nb_others;
	uint32_t stop;
	struct {
		struct port_bias bias __attribute__((aligned(64)));
	} holders[NB_HOLDERS];
	struct {
		uint32_t word __attribute__((aligned(64)));
	} far[32];
} shared;

/* Stores that take long, as the lines are with another core: what is stored after them is seen late. */
static void
store_far(void)
{
	for (unsigned int i = 0; i < RTE_DIM(shared.far); i++)
		__atomic_store_n(&shared.far[i].word, i, __ATOMIC_RELAXED);
}

/* Nobody has it by bias any more, but for this one. */
static void
lock(uint32_t number)
{
	uint32_t holder;

	while (__atomic_exchange_n(&shared.lock, 1, __ATOMIC_ACQUIRE) != 0)
		sched_yield();
	holder = bias_holder(&shared.bias);
	if (holder != 0 && holder != number)
		bias_end(&shared.bias, &shared.holders[holder - 1].bias);
}

static void
unlock(void)
{
	__atomic_store_n(&shared.lock, 0, __ATOMIC_RELEASE);
}

static void
change(uint64_t *nb)
{
	CHECK(shared.first == shared.second);
	shared.first++;
	++*nb;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	shared.second++;
}

/* They hold it in turns: now and then one takes it from the other one, or gives it up of its own accord. */
static void *
mostly(void *arg)
{
	struct port_bias *mine = arg;

	for (unsigned int i = 0; !__atomic_load_n(&shared.stop, __ATOMIC_RELAXED); i++) {
		store_far();
		if (bias_enter(&shared.bias, mine)) {
			change(&shared.nb_by_bias);
			bias_leave(mine);
			if (i % 512 > 0)
				continue;
		}
		if (mine->mine != NULL)
			bias_give_up(mine);
		for (unsigned int p = 0; p < 8; p++)
			store_far();
		lock(mine->number);
		change(&shared.nb_by_lock);
		bias_begin(&shared.bias, mine);
		unlock();
	}
	return NULL;
}

static void *
sometimes(void *arg)
{
	while (!__atomic_load_n(&shared.stop, __ATOMIC_RELAXED)) {
		uint64_t nb;

		lock(0);
		change(&shared.nb_others);
		nb = shared.nb_others;
		unlock();
		for (unsigned int i = 0; i < nb % 64; i++)
			store_far();
	}
	return NULL;
}

static void
never_two_at_once(unsigned int nb_holders)
{
	pthread_t threads[3];

	if (!fence_prepare())
		st_skip("the kernel has no fence for all threads");
	memset(&shared, 0, sizeof(shared));
	for (unsigned int i = 0; i < NB_HOLDERS; i++)
		shared.holders[i].bias.number = i + 1;
	for (unsigned int i = 0; i < RTE_DIM(threads); i++) {
		struct port_bias *holder = &shared.holders[i % NB_HOLDERS].bias;

		assert_int_equal(pthread_create(&threads[i], NULL,
					 i < nb_holders ? mostly : sometimes, holder),
			0);
	}
	usleep((useconds_t)(st_seconds(0.5) * 1e6));
	__atomic_store_n(&shared.stop, 1, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < RTE_DIM(threads); i++)
		pthread_join(threads[i], NULL);
	print_message("  %lu by bias, %lu of others\n", (unsigned long)shared.nb_by_bias,
		(unsigned long)shared.nb_others);
	assert_true(shared.nb_by_bias > 0 && shared.nb_others > 0);
	assert_int_equal(shared.first, shared.nb_by_bias + shared.nb_by_lock + shared.nb_others);
	assert_int_equal(shared.second, shared.first);
}

static void
never_two_at_once_of_one(void **state)
{
	never_two_at_once(1);
}

static void
never_two_at_once_of_two(void **state)
{
	never_two_at_once(NB_HOLDERS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(no_lock_for_what_comes_next),
		CASE(not_waited_for),
		CASE(not_for_the_last_one),
		CASE(ended_by_others),
		CASE(the_more_others_come_the_less),
		cmocka_unit_test(pause_shortens),
		CASE(its_own_ways_cost_nothing),
		CASE(not_beside_who_adopted_it),
		CASE(taken_over_at_the_end),
		cmocka_unit_test(anothers_stays),
		CASE(of_who_adopted_it),
		cmocka_unit_test(never_two_at_once_of_one),
		cmocka_unit_test(never_two_at_once_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
