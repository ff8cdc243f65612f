/* SPDX-License-Identifier: BSD-3-Clause */

/* A lock that is biased, to one port and then to another one, beside who comes for it otherwise: in every order of steps, one has it at a time. */

#include "sched_test.h"

#include "../base/interleave.h"

#include "bias.h"

/* All memory is seen in one order here: test_bias.c is what shows that there is a fence. */
static inline bool
fence_all(void)
{
	interleave_point();
	return true;
}
#define SCHED_FENCE_H

#include "../../lib/sched/bias.c"

#define NB_PORTS 2

static struct bias bias;
static struct port_bias ports[NB_PORTS];
static uint32_t lock, nb_within, nb_done;

static void
init(void)
{
	bias = (struct bias){0};
	for (unsigned int i = 0; i < NB_PORTS; i++)
		ports[i] = (struct port_bias){.number = i + 1};
	lock = nb_within = nb_done = 0;
}

/* It has the lock, either way. */
static void
work(void)
{
	CHECK(nb_within++ == 0);
	interleave_point();
	nb_within--;
	nb_done++;
}

static void
take(uint32_t number)
{
	uint32_t holder;

	/* To look is no step: two who wait would go on for ever. */
	do {
		while (lock != 0)
			interleave_pause();
	} while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0);
	holder = bias_holder(&bias);
	if (holder != 0 && holder != number)
		bias_end(&bias, &ports[holder - 1]);
}

static void
leave(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static void
work_by_bias(struct port_bias *port)
{
	if (bias_enter(&bias, port)) {
		work();
		bias_leave(port);
	}
}

/* It takes it, works by bias, gives it up, and tries once more. */
static void
be_owner(struct port_bias *port)
{
	take(port->number);
	work();
	bias_begin(&bias, port);
	leave();
	work_by_bias(port);
	bias_give_up(port);
	work_by_bias(port);
}

static void
first_owner(void)
{
	be_owner(&ports[0]);
}

static void
second_owner(void)
{
	be_owner(&ports[1]);
}

static void
other(void)
{
	take(0);
	work();
	leave();
}

static void
check(void)
{
	CHECK(lock == 0 && bias.holder == 0);
	CHECK(ports[0].is_inside == 0 && ports[1].is_inside == 0);
	CHECK(nb_done >= 2);
}

static void
run(unsigned int nb_actors, unsigned int most_interruptions, uint64_t least)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = nb_actors,
		.actors = {first_owner, other, second_owner},
		.check = check,
		.most_interruptions = most_interruptions,
		.least = least};

	interleave_all(&interleave);
}

static void
one_and_another(void **state)
{
	run(2, 6, 100);
}

static void
two_and_another(void **state)
{
	run(3, 3, 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_and_another),
		cmocka_unit_test(two_and_another),
	};

	return cmocka_run_group_tests_name("sched-interleave-bias", tests, NULL, NULL);
}
